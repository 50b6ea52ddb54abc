"""Check your own classes: `check_policy(MyPolicy())`, `check_environment(MyWorld())`, `check_storage(address)`.

Each raises at the first violation of the contract, with a message of one sentence: `InputError` for wrong names and
parameters, `AssertionError` for wrong behaviour.

To add a policy to Setwise itself, write its module in `policies/`, add one line to `policies/__init__.pyi`, and test it
with `check_policy`; names, command line, tables and figures follow from the class. CONTRIBUTING.md has the details.
"""

import copy
import itertools
import math
from typing import Any

import numpy as np

from setwise.comparisons import remember_compared
from setwise.declare import check_object
from setwise.digests import classes_of, is_own, reachable
from setwise.environments.enumeration import has_order, has_value
from setwise.environments.mnl import MNL
from setwise.lazy_compiler import load_compiler
from setwise.simulation.checks import plays_smaller
from setwise.simulation.simulate import simulate
from setwise.types import Ints

FALSE_ALARMS = 1e-6  # probability that a correct environment fails the comparison of draws with means


def check_policy(policy: Any, environment: Any = None, rounds: int = 300, seed: int = 0, compiled: bool = True) -> None:
    """Check a policy against the contract, in a small environment or the given one.

    Checked: `select` returns k distinct arms in range, learns nothing, and returns the same set for the same generator;
    the state can be copied; interpreted and compiled runs give the same bits; the set stays for `certain_rounds`
    without any reward, and while its arms earn `required_reward`; `update_many` of one round equals `update`; a policy
    with epochs keeps its set after a reward; `select_from`, `recommend`, `grow` and `set_horizon` follow the contract;
    a policy that accepts missing rewards plays on with any of them. With `pad=False` sets may be smaller.
    """
    check_object(policy, "policy")
    world = environment if environment is not None else MNL(np.linspace(1.0, 0.1, 7), k=3)
    name = type(policy).__name__
    n, k = world.n, world.k
    rng = np.random.default_rng(seed)
    state = policy.init(n, k, rounds, rng)
    least = 1 if plays_smaller(policy) else k
    for played in range(rounds):
        chosen = _select_twice(policy, state, rng, name, played)
        _check_set(chosen, n, k, f"{name}.select in round {played + 1}", least)
        rewards = np.zeros(len(chosen))
        if hasattr(policy, "certain_rounds") and played % 7 == 0:
            _check_certain_rounds(policy, state, chosen, rng, name, played)
            if hasattr(policy, "required_reward"):
                _check_required_reward(policy, state, rng, name, played)
        world.draw(chosen, rng, rewards)
        seen = ~np.isnan(rewards)
        shown, rewards = chosen[seen], rewards[seen]
        if not len(shown):
            continue
        ends_epoch = getattr(policy, "epochs", False) and not rewards.any()  # `update_many` never gets such a round
        if hasattr(policy, "update_many") and played % 11 == 0 and not ends_epoch:
            _check_update_many(policy, state, shown, rewards, rng, name)
        policy.update(state, shown, rewards.copy(), rng)
        if getattr(policy, "epochs", False) and rewards.any():
            kept = policy.select(state, copy.deepcopy(rng))
            assert set(kept) == set(chosen), (
                f"{name} has epochs, but after round {played + 1}, which rewarded an arm, {sorted(chosen.tolist())} "
                f"has become {sorted(np.array(kept).tolist())}"
            )
    if hasattr(policy, "set_horizon"):
        for keep in (True, False):
            renewed = copy.deepcopy(state)
            policy.set_horizon(renewed, 10 * rounds, keep)
            _check_set(policy.select(renewed, copy.deepcopy(rng)), n, k, f"{name}.select after set_horizon", least)
    if hasattr(policy, "select_from"):
        _check_select_from(policy, state, n, k, rng, name)
    if hasattr(policy, "recommend"):
        _check_recommend(policy, state, n, k, rng, name)
    if hasattr(policy, "grow"):
        _check_grow(policy, state, n, k, rng, name)
    if getattr(policy, "missing", False):
        _check_missing(policy, state, n, k, rng, name)
    if compiled:
        check_same_bits(policy, world, horizon=max(rounds, 2), seed=seed)
        remember_compared(policy)


def check_storage(where: Any) -> None:
    """Check a storage of studies against the contract.

    where: "memory", an address such as sqlite:///shop.db, or a function that opens your own storage; every call must
        open the same journals. Existing studies are left alone.

    Checked: studies are created, listed and deleted; rows are read as written, in order, and not after a rollback; each
    position is written once; concurrent writers take turns; a study makes the same decisions as in memory.
    """
    from setwise.study.conformance import opener, run_checks

    run_checks(opener(where))


def check_environment(environment: Any, draws: int = 4000, seed: int = 0, compiled: bool = True) -> None:
    """Check an environment against the contract.

    Checked: means are in range and, with `choice` feedback, sum to at most 1; they do not depend on the order of the
    arms; `draw` and `draw_many` agree with the means and the feedback (false alarms: one in a million); `best` returns
    k distinct arms and, if there are at most 3,000 sets, an optimal set, in the best order if that matters; interpreted
    and compiled runs give the same bits. Where rewards may be missing, the means must be possible given the others.
    """
    check_object(environment, "environment")
    name = type(environment).__name__
    n, k = environment.n, environment.k
    best = np.array(environment.best())
    smaller = getattr(environment, "smaller_sets", False)
    _check_set(best, n, k, f"{name}.best", 1 if smaller else k)
    rng = np.random.default_rng(seed)
    sets = [best] + [rng.choice(n, size=k, replace=False) for _ in range(3)]
    for chosen in sets:
        _check_means(environment, chosen, rng, name)
        _check_draws(environment, chosen, draws, rng, len(sets), name)
    ordered = has_order(environment)
    if (math.perm if ordered else math.comb)(n, k) <= 3000:
        sizes = range(1 if smaller and has_value(environment) else k, k + 1)
        listed = itertools.permutations if ordered else itertools.combinations
        every = itertools.chain.from_iterable(listed(range(n), size) for size in sizes)
        values = {chosen: _value(environment, np.array(chosen)) for chosen in every}
        top = max(values, key=lambda chosen: values[chosen])
        assert _value(environment, best) >= values[top] - 1e-9, (
            f"{name}.best says {sorted(best.tolist())} with value {_value(environment, best):.6g}, "
            f"but {list(top)} has {values[top]:.6g}"
        )
    if compiled:
        from setwise.policies.ucb import UCB
        from setwise.policies.uniform import Uniform

        total = getattr(environment, "feedback", None) == "total"
        policy = Uniform() if total else UCB(bound=getattr(environment, "bound", 1.0))
        check_same_bits(policy, environment, horizon=200, seed=seed)
        if total:  # that policy would not notice other rewards
            _check_same_draws(environment, best, seed, name)
        remember_compared(environment)


def check_same_bits(policy: Any, environment: Any, horizon: int = 300, seed: int = 0) -> None:
    """Check that interpreted and compiled runs give the same bits, with fast-forward and without.

    A policy with `required_reward` is played longer with fast-forward, so that long stretches occur.
    """
    for fast_forward in (False, True):
        options: dict[str, Any] = {
            "horizon": 10 * horizon if fast_forward and hasattr(policy, "required_reward") else horizon,
            "runs": 2,
            "seed": seed,
            "fast_forward": fast_forward,
            "checkpoints": 10,
        }
        fast = simulate(policy, environment, compiled=True, **options)
        slow = simulate(policy, environment, compiled=False, **options)
        same = np.array_equal(fast.regret, slow.regret) and np.array_equal(fast.pulls, slow.pulls)
        assert same, _difference(policy, environment, options)


def _check_same_draws(environment: Any, chosen: Ints, seed: int, name: str) -> None:
    """Check that interpreted and compiled draws of some rounds give the same bits."""
    slow, fast = np.zeros((2, 200, len(chosen)))
    draw_rounds(environment, chosen, np.random.default_rng(seed), slow)
    rng = np.random.default_rng(seed)
    load_compiler().compile_for(draw_rounds, environment, chosen, rng, fast)(environment, chosen, rng, fast)
    assert np.array_equal(slow, fast), f"{name}.draw: compiled and interpreted draws differ"


def draw_rounds(environment: Any, chosen: Ints, rng: Any, out: Any) -> None:
    """Draw a round into every row."""
    for row in range(len(out)):
        environment.draw(chosen, rng, out[row])


# Functions that differ between NumPy and Numba, and what to use instead.
DIFFERENT = {
    "argsort": "argsort orders ties differently when compiled: use setwise.kernels.largest, which draws among them",
    "argpartition": "argpartition orders differently when compiled: use setwise.kernels.largest",
    "sum": "sum differs in the last bit when compiled: add up in a loop",
    "mean": "mean differs in the last bit when compiled: add up in a loop",
    "dot": "dot differs in the last bit when compiled: add up in a loop",
    "var": "var differs in the last bit when compiled: add up in a loop",
    "std": "std differs in the last bit when compiled: add up in a loop",
}


def _difference(policy: Any, environment: Any, options: dict[str, Any]) -> str:
    """Describe where interpreted and compiled runs diverge, and the likely reason."""
    pair = f"{type(policy).__name__} in {type(environment).__name__}"
    every = {**options, "checkpoints": np.arange(1, options["horizon"] + 1)}
    fast, slow = (simulate(policy, environment, **every, compiled=compiled) for compiled in (True, False))
    rounds = np.flatnonzero((fast.regret != slow.regret).any(axis=0))
    when = f" from round {rounds[0] + 1} on" if rounds.size else ""
    used = {
        name
        for function in reachable(*classes_of(policy), *classes_of(environment))
        if not is_own(function)
        for name in function.__code__.co_names
    }
    hints = [hint for name, hint in DIFFERENT.items() if name in used]
    return f"{pair}: compiled and interpreted runs differ{when}" + (f"; {'; '.join(hints)}" if hints else "")


def _check_set(chosen: Ints, n: int, k: int, what: str, least: int | None = None) -> None:
    arms = np.asarray(chosen)
    wanted = f"{k}" if least in (None, k) else f"{least} to {k}"
    right = arms.dtype.kind == "i" and arms.ndim == 1 and (k if least is None else least) <= len(arms) <= k
    assert right, f"{what}: {arms!r} is not an array of {wanted} whole numbers"
    assert len(set(arms.tolist())) == len(arms), f"{what}: {arms.tolist()} has an arm twice"
    assert arms.min() >= 0 and arms.max() < n, f"{what}: {arms.tolist()} has an arm that is not in 0..{n - 1}"


def _select_twice(policy: Any, state: Any, rng: Any, name: str, played: int) -> Ints:
    """Return the selected set, after checking that equal generators give equal sets, also from a copy of the state."""
    twin, other, again = (copy.deepcopy(rng) for _ in range(3))
    survivor = copy.deepcopy(state)
    first = np.array(policy.select(state, twin))
    other.random(3)
    policy.select(state, other)
    same = np.array(policy.select(state, copy.deepcopy(again)))
    assert set(first) == set(same), (
        f"{name}.select is asked twice in round {played + 1} with the same generator and answers "
        f"{sorted(first.tolist())}, then {sorted(same.tolist())}; select must learn nothing"
    )
    copied = np.array(policy.select(survivor, again))
    assert set(first) == set(copied), f"{name}.select answers otherwise from a copy of the state (round {played + 1})"
    return np.array(policy.select(state, rng))


def _check_certain_rounds(policy: Any, state: Any, chosen: Ints, rng: Any, name: str, played: int) -> None:
    """Check that the set stays for `certain_rounds` (at most 200) without rewards, on a copy of the state."""
    rng, state = copy.deepcopy((rng, state))
    chosen = np.array(policy.select(state, rng))
    rounds = policy.certain_rounds(state, chosen)
    assert rounds >= 1, (
        f"{name}.certain_rounds answers {rounds} in round {played + 1}; this round counts, so it is at least 1"
    )
    nothing = np.zeros(len(chosen))
    for later in range(1, min(rounds, 200)):
        policy.update(state, chosen, nothing, rng)
        now = policy.select(state, rng)
        assert set(now) == set(chosen), (
            f"{name}.certain_rounds says in round {played + 1} that {sorted(chosen.tolist())} is certain for {rounds} "
            f"rounds, but {later + 1} rounds on it is {sorted(np.array(now).tolist())}"
        )


def _check_required_reward(policy: Any, state: Any, rng: Any, name: str, played: int) -> None:
    """Check that the set stays if its arms earn `required_reward` in 1, 10 and 100 rounds, and that it is convex."""
    rng = copy.deepcopy(rng)
    chosen = np.array(policy.select(state, rng))
    theta = policy.threshold(state, chosen)
    if not theta < np.inf:
        return
    for rounds in (1, 10, 100):
        needed = np.array([policy.required_reward(state, arm, rounds, rounds, theta) for arm in chosen])
        if (needed <= rounds * getattr(policy, "bound", 1.0)).all():
            later = copy.deepcopy(state)
            policy.update_many(later, chosen, np.maximum(needed, 0.0), rounds)
            now = policy.select(later, rng)
            assert set(now) == set(chosen), (
                f"{name}.required_reward: the arms of {sorted(chosen.tolist())} earned what it says in {rounds} rounds "
                f"from round {played + 1} on, but then the set is {sorted(np.array(now).tolist())}"
            )
    for arm in chosen:
        for rounds in (50, 5000):
            first, middle, last = (policy.required_reward(state, arm, m * rounds, 2 * rounds, theta) for m in range(3))
            assert middle <= 0.5 * (first + last) + 0.005, (
                f"{name}.required_reward of arm {arm} in round {played + 1} is not convex: {first:g}, {middle:g}, "
                f"{last:g} after 0, {rounds} and {2 * rounds} rounds"
            )
            sooner = policy.required_reward(state, arm, rounds, rounds, theta)
            assert middle >= sooner - 0.005, (
                f"{name}.required_reward of arm {arm} in round {played + 1} falls with until: {sooner:g} after "
                f"{rounds} rounds until then, and {middle:g} until {2 * rounds}"
            )


def _check_update_many(policy: Any, state: Any, chosen: Ints, rewards: Any, rng: Any, name: str) -> None:
    one, two = copy.deepcopy(state), copy.deepcopy(state)
    policy.update(one, chosen, rewards.copy(), copy.deepcopy(rng))
    policy.update_many(two, chosen, rewards.copy(), 1)
    for left, right in zip(_arrays(one), _arrays(two), strict=True):
        assert np.array_equal(left, right), f"{name}.update_many of one round leaves another state than update"


def _check_select_from(policy: Any, state: Any, n: int, k: int, rng: Any, name: str) -> None:
    everything = np.ones(n, dtype=np.bool_)
    twin = copy.deepcopy(rng)
    _check_set(policy.select_from(copy.deepcopy(state), everything, twin), n, k, f"{name}.select_from")
    few = np.zeros(n, dtype=np.bool_)
    few[rng.choice(n, size=k, replace=False)] = True
    chosen = np.array(policy.select_from(copy.deepcopy(state), few, rng))
    assert set(chosen) == set(np.flatnonzero(few)), (
        f"{name}.select_from has the arms {np.flatnonzero(few).tolist()} to choose {k} from; it chose {chosen.tolist()}"
    )


def _check_recommend(policy: Any, state: Any, n: int, k: int, rng: Any, name: str) -> None:
    """Check that k available arms are recommended, or none, and that nothing changes by that."""
    before = copy.deepcopy(state)
    for size in (n, k):
        available = np.zeros(n, dtype=np.bool_)
        available[rng.choice(n, size=size, replace=False)] = True
        arms = np.array(policy.recommend(state, available))
        if len(arms):
            _check_set(arms, n, k, f"{name}.recommend")
            assert available[arms].all(), (
                f"{name}.recommend has the arms {np.flatnonzero(available).tolist()} to choose {k} from; it chose "
                f"{arms.tolist()}"
            )
    same = all(map(np.array_equal, _arrays(before), _arrays(state)))
    assert same, f"{name}.recommend changes the state; it must change nothing"


def _check_grow(policy: Any, state: Any, n: int, k: int, rng: Any, name: str) -> None:
    """Check that new arms are chosen at once by policies with indices, and within 100 sets by others."""
    larger = policy.grow(copy.deepcopy(state), n + k, rng)
    sets = 1 if hasattr(policy, "indices") else 100
    tried: set[int] = set()
    for _ in range(sets):
        chosen = np.array(policy.select(larger, rng))
        _check_set(chosen, n + k, k, f"{name}.select after grow")
        tried |= set(chosen.tolist())
    missing = sorted(set(range(n, n + k)) - tried)
    when = "first" if sets == 1 else f"in {sets} sets"
    assert not missing, f"{name}.grow: the new arms {missing} are not tried {when}"


def _check_missing(policy: Any, state: Any, n: int, k: int, rng: Any, name: str) -> None:
    """Check that the policy plays on after rounds in which each reward was observed with probability 1/2."""
    state = copy.deepcopy(state)
    for _ in range(50):
        chosen = np.array(policy.select(state, rng))
        _check_set(chosen, n, k, f"{name}.select after missing rewards", 1 if plays_smaller(policy) else k)
        shown = chosen[rng.random(len(chosen)) < 0.5]
        if len(shown):
            rewards = np.zeros(len(shown))
            rewards[0] = float(rng.random() < 0.5)
            policy.update(state, shown, rewards, rng)


def _arrays(state: Any) -> list[Any]:
    return [part for field in state for part in (_arrays(field) if isinstance(field, tuple) else [field])]


def _value(environment: Any, chosen: Ints) -> float:
    if has_value(environment):
        return float(environment.value(chosen))
    out = np.zeros(len(chosen))
    environment.means(chosen, out)
    return float(out.sum())


def _check_means(environment: Any, chosen: Ints, rng: Any, name: str) -> None:
    means, moved = np.zeros(len(chosen)), np.zeros(len(chosen))
    environment.means(chosen, means)
    bound = getattr(environment, "bound", 1.0)
    assert ((means >= 0) & (means <= bound + 1e-12)).all(), f"{name}.means: {means.tolist()} is not within 0..{bound:g}"
    if getattr(environment, "feedback", None) == "choice" and getattr(environment, "rewards", None) == "binary":
        assert means.sum() <= 1 + 1e-9, f"{name}.means: {means.tolist()} adds up to more than 1 with choice feedback"
    order = rng.permutation(len(chosen))
    environment.means(chosen[order], moved)
    if not has_order(environment):
        assert np.allclose(moved, means[order], rtol=1e-9, atol=1e-12), f"{name}.means depends on the order of the arms"


def _check_draws(environment: Any, chosen: Ints, draws: int, rng: Any, sets: int, name: str) -> None:
    """Compare averages with means by Bernstein's inequality; a correct environment fails once in a million."""
    k = len(chosen)
    means, rewards, total = np.zeros(k), np.zeros(k), np.zeros(k)
    environment.means(chosen, means)
    missing, unseen = getattr(environment, "missing", False), np.zeros(k)
    bound = float(getattr(environment, "bound", 1.0))
    for _ in range(draws):
        rewards[:] = -1.0 if missing else np.nan
        environment.draw(chosen, rng, rewards)
        if missing:
            unseen += np.isnan(rewards)
            rewards[np.isnan(rewards)] = 0.0
        assert ((rewards >= 0) & (rewards <= bound)).all(), (
            f"{name}.draw: {rewards.tolist()} is not within 0..{bound:g}"
        )
        if getattr(environment, "rewards", None) == "binary":
            assert set(rewards.tolist()) <= {0.0, 1.0}, f"{name}.draw: {rewards.tolist()} is not 0 or 1"
        if getattr(environment, "feedback", None) == "choice":
            assert (rewards > 0).sum() <= 1, f"{name}.draw: {rewards.tolist()} rewards two arms with choice feedback"
        total += rewards
    # What was not observed earned between nothing and the bound.
    found = means.clip(total / draws, (total + bound * unseen) / draws) if unseen.any() else total / draws
    _compare(found, means, draws, bound, sets * k * 2, f"{name}.draw")
    if hasattr(environment, "draw_many"):
        many = 100 * draws
        environment.draw_many(chosen, many, rng, rewards)
        if getattr(environment, "rewards", None) == "binary":
            most = rewards.sum() if getattr(environment, "feedback", None) == "choice" else rewards.max()
            assert most <= many, f"{name}.draw_many: {rewards.tolist()} is more than the {many} rounds"
            assert (rewards == np.rint(rewards)).all(), f"{name}.draw_many: {rewards.tolist()} are not whole numbers"
        _compare(rewards / many, means, many, bound, sets * k * 2, f"{name}.draw_many")


def _compare(found: Any, means: Any, draws: int, bound: float, comparisons: int, what: str) -> None:
    level = math.log(2 * comparisons / FALSE_ALARMS)
    allowed = np.sqrt(2 * means * (bound - means).clip(0) * level / draws) + bound * level / (1.5 * draws)
    off = int(np.argmax(np.abs(found - means) - allowed))
    assert (np.abs(found - means) <= allowed).all(), (
        f"{what}: an arm of mean {means[off]:.6g} earned {found[off]:.6g} on average over {draws} rounds"
    )
