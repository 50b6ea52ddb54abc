"""Policies with an index per arm: hand-computed values, plain references, brute force, and Lemma 1 where it holds.

The statistical tests have fixed seeds. By Bonferroni, those of one law by fast-forward and round by round (quick and
slow together) raise a false alarm for one choice of seeds in 10,000, and so do all others together.
"""

import copy
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import setwise as sw
from reference.algorithm1 import lemma1_bounds
from seeded import generator
from setwise import UCB, InputError
from setwise.environments import MNL, Independent, Scaled, Table
from setwise.kernels.divergence import bernoulli_divergence, upper_bound
from setwise.kernels.ranking import FEW_ARMS, Sorted, Tournament
from setwise.policies.anytime_ucb import AnytimeState, AnytimeUCB
from setwise.policies.comb_ucb1 import CombUCB1
from setwise.policies.cucb import CUCB
from setwise.policies.doubling import Doubling
from setwise.policies.kl_moss import KLMOSS
from setwise.policies.kl_ucb import KLUCB, divergence_index
from setwise.policies.ucb_v import UCBV, variance_index
from setwise.testing import check_same_bits

FROZEN: list[Any] = [KLUCB(), KLMOSS(), UCBV()]
MOVING: list[Any] = [AnytimeUCB(), CUCB(), CombUCB1()]
ALL: list[Any] = [*FROZEN, *MOVING, Doubling()]
WORLD = MNL(np.linspace(0.9, 0.2, 7), k=3)  # compiled together with the world of check_policy

both_rankings = pytest.mark.parametrize(("n", "k"), [(8, 3), (500, 7)], ids=["few", "many"])


def each(policies: list[Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("policy", policies, ids=repr)


def few_and_many(policies: list[Any]) -> pytest.MarkDecorator:
    """Each policy with few arms, and with many if it ranks them in another way then."""
    sizes = [(policy, 8, 3) for policy in policies]
    sizes += [(policy, 500, 7) for policy in policies if hasattr(policy, "certain_rounds")]
    return pytest.mark.parametrize(("policy", "n", "k"), sizes, ids=repr)


def is_top(indices: Any, chosen: Any, k: int) -> bool:
    """Whether these are k distinct arms, none with a smaller index than an arm left out."""
    arms = sorted({int(arm) for arm in chosen})
    rest = np.delete(indices, arms)
    return len(chosen) == len(arms) == k and (rest.size == 0 or indices[arms].min() >= rest.max())


def indices_of(policy: Any, state: Any, n: int) -> Any:
    out = np.zeros(n)
    policy.indices(state, out)
    return out


def played(policy: Any, n: int, k: int, rounds: int, seed: int, horizon: int = 1000) -> Any:
    """The state after some rounds of 0/1 rewards, each arm with a probability of its own."""
    rng = generator(seed)
    state = policy.init(n, k, horizon, rng)
    means = rng.random(n)
    for _ in range(rounds):
        chosen = policy.select(state, rng)
        policy.update(state, chosen, rng.random(k) < means[chosen], rng)
    return state


# The divergence and its inverse.


def test_divergence_has_the_values_worked_out_by_hand() -> None:
    assert bernoulli_divergence(0.2, 0.5) == pytest.approx(0.192745, abs=5e-7)
    assert bernoulli_divergence(0.3, 0.3) == 0.0
    assert bernoulli_divergence(0.0, 0.25) == pytest.approx(-math.log(0.75))
    assert bernoulli_divergence(1.0, 0.25) == pytest.approx(-math.log(0.25))
    assert bernoulli_divergence(0.5, 1.0) == bernoulli_divergence(0.5, 0.0) == math.inf


def bisected(reward: Any, pulls: Any, level: Any) -> Any:
    """The upper bound by bisection, in extended precision, for arrays."""
    reward, pulls, level = (np.asarray(values, np.longdouble) for values in (reward, pulls, level))
    p, r, d = reward / pulls, (pulls - reward) / pulls, level / pulls
    low, high = np.zeros_like(p), np.minimum(r, np.sqrt(d / 2))
    with np.errstate(all="ignore"):
        for _ in range(120):
            x = (low + high) / 2
            left = np.where(p > 0, -p * np.log1p(x / p), 0)
            above = left + np.where(r > 0, -r * np.log1p(-x / r), 0) > d
            low, high = np.where(above, low, x), np.where(above, x, high)
    return p + (low + high) / 2


def test_upper_bound_agrees_with_bisection_over_wide_ranges() -> None:
    rng = generator(1)
    size = 20_000
    pulls = np.floor(10 ** rng.uniform(0, np.where(np.arange(size) % 3 == 0, 2, 12)))
    level = 10 ** rng.uniform(-3, math.log10(60), size)
    reward = np.choose(
        np.arange(size) % 5,
        [
            pulls * 10 ** rng.uniform(-18, 0, size),
            pulls * (1 - 10 ** rng.uniform(-12, 0, size)),
            np.floor(pulls * rng.random(size)),
            np.minimum(pulls, np.floor(10 ** rng.uniform(0, 5, size))),
            pulls * rng.integers(0, 2, size),
        ],
    )
    found = np.array([upper_bound(*one) for one in zip(reward.tolist(), pulls.tolist(), level.tolist(), strict=True)])
    exact = bisected(reward, pulls, level)
    assert {float(mean) for mean in reward / pulls} > {0.0, 1.0}
    assert np.max(np.abs(found - exact) / exact) < 2e-15
    assert (found <= 1.0).all() and (found >= reward / pulls).all()
    assert (found <= (reward / pulls + np.sqrt(level / (2 * pulls))) * (1 + 1e-15)).all()


@pytest.mark.parametrize("pulls", [1.0, 7.0, 1e12])
@pytest.mark.parametrize("level", [1e-3, 3.0, 60.0, 1e9])
def test_upper_bound_of_all_and_of_nothing_is_in_closed_form(pulls: float, level: float) -> None:
    assert upper_bound(0.0, pulls, level) == pytest.approx(-math.expm1(-level / pulls), rel=1e-15)
    assert upper_bound(pulls, pulls, level) == upper_bound(pulls * (1 + 1e-15), pulls, level) == 1.0
    for reward in (1e-250, 1e-190, 1e-30):
        assert upper_bound(reward, pulls, level) == pytest.approx(-math.expm1(-level / pulls), rel=1e-12)
    for nothing in (0.0, -1.0, 1e-300):
        assert upper_bound(0.3 * pulls, pulls, nothing) == pytest.approx(0.3, rel=1e-15)


def test_plays_times_the_kl_index_never_falls() -> None:
    level = math.log(1e5)
    product = [[pulls * upper_bound(c, pulls, level) for c in range(pulls + 1)] for pulls in range(1, 151)]
    rise = [
        product[pulls][c] - product[pulls - 1][c] for pulls in range(1, 150) for c in range(len(product[pulls - 1]))
    ]
    assert min(rise) == pytest.approx(0.0028, abs=5e-5)
    assert all(after > before for row in product for before, after in itertools.pairwise(row))


# The index of every policy.


def after_plays(policy: Any, n: int, k: int, horizon: int, plays: int, rewarded: int, reward: float = 1.0) -> Any:
    """The state after an arm was played that often and rewarded so many times; no other arm was."""
    rng = generator()
    state = policy.init(n, k, horizon, rng)
    for play in range(plays):
        policy.update(state, [0], [reward if play < rewarded else 0.0], rng)
    return state


@pytest.mark.parametrize(
    ("policy", "horizon", "expected"),
    [
        (KLUCB(), 10**4, 0.5119181895),
        (KLUCB(alpha=0.5), 10**8, 0.5119181895),
        (KLMOSS(), 2 * 10**6, 0.5119181895),  # T k / (n N) = 2e6 / (2 100)
        (UCBV(), 10**4, 0.7729912462),
        (UCBV(zeta=0.5), 10**8, 0.7729912462),
        (UCBV(c=0.0), 10**4, 0.7729912462 - 0.03 * math.log(10**4)),
        (Doubling(UCB(), first=10**4), 7, 0.7291932053),
    ],
    ids=repr,
)
def test_index_has_the_value_worked_out_by_hand(policy: Any, horizon: int, expected: float) -> None:
    state = after_plays(policy, 2, 1, horizon, 100, 30)
    assert indices_of(policy, state, 2)[0] == pytest.approx(expected, abs=6e-11)
    assert indices_of(policy, state, 2)[1] == math.inf


@pytest.mark.parametrize("policy", [KLUCB(bound=5.0), UCBV(bound=5.0)], ids=repr)
def test_rewards_up_to_a_bound_scale_the_index(policy: Any) -> None:
    state = after_plays(policy, 2, 1, 10**4, 100, 30, 5.0)
    expected = {"KLUCB": 0.5119181895, "UCBV": 0.7729912462}[type(policy).__name__]
    assert state.indices[0] == pytest.approx(5 * expected, abs=3e-10)


@pytest.mark.parametrize(
    ("policy", "round_at_hand", "expected"),
    [
        (CUCB(), 10**4, 0.6716922189),
        (CUCB(clip=True), 10**4, 0.6716922189),
        (CombUCB1(), 10**4 + 1, 0.6716922189),
        (AnytimeUCB(), 10**4, 0.7291932053),
        (AnytimeUCB(alpha=1.5), 10**4, 0.6716922189),
    ],
    ids=repr,
)
@pytest.mark.parametrize("bound", [1.0, 5.0])
def test_index_of_a_round_has_the_value_worked_out_by_hand(
    policy: Any, round_at_hand: int, expected: float, bound: float
) -> None:
    policy = policy._replace(bound=bound)
    state = policy.init(2, 1, 10, generator())
    state.pulls[:] = (99, 5)
    state.reward[:] = (29 * bound, 0)
    state.rounds[0] = round_at_hand - 2
    policy.update(state, [0], [bound], generator())
    assert state.rounds[0] == round_at_hand - 1
    assert indices_of(policy, state, 2)[0] == pytest.approx(expected * bound, abs=3e-10)


def test_an_arm_played_its_share_has_its_average_for_index_in_kl_moss() -> None:
    policy = KLMOSS()
    for plays in (49, 50, 51, 60):
        state = after_plays(policy, 4, 2, 100, plays, 20)
        assert (state.indices[0] > 20 / plays) == (plays < 50)
        assert state.indices[0] == pytest.approx(20 / plays) or plays < 50
    state = played(policy, 20, 2, 10, seed=1, horizon=10)
    assert np.array_equal(state.indices, state.reward / state.pulls)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (kind, {name: value})
        for kind, names in [
            (KLUCB, ("alpha", "bound")),
            (KLMOSS, ("bound",)),
            (UCBV, ("zeta", "bound")),
            (AnytimeUCB, ("alpha", "bound")),
            (CUCB, ("bound",)),
            (CombUCB1, ("bound",)),
        ]
        for name in names
        for value in (0.0, -1.0, math.inf, math.nan)
    ]
    + [(UCBV, {"c": -0.1}), (UCBV, {"c": math.inf}), (Doubling, {"first": 0}), (Doubling, {"first": 1.5})],
)
def test_parameters_that_make_no_sense_are_refused(kind: Any, wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"{kind.__name__}.*{next(iter(wrong))}"):
        kind(**wrong)


VARIANTS = [
    KLUCB(alpha=0.3, bound=4.0),
    KLMOSS(bound=2.0),
    UCBV(zeta=1.2, c=0.1),
    CUCB(clip=True),
    Doubling(restart=True, first=5),
    Doubling(KLUCB()),
    Doubling(KLMOSS(), first=50),
    Doubling(UCBV(), restart=True),
]


@pytest.mark.slow
@each([*VARIANTS, *FROZEN])
def test_compiled_runs_have_the_bits_of_interpreted_ones_with_other_parameters_and_many_arms(policy: Any) -> None:
    check_same_bits(policy, MNL(np.linspace(1.0, 0.1, FEW_ARMS + 9), k=4), horizon=2000)
    check_same_bits(policy, Independent(np.linspace(0.1, 0.9, 6), k=2), horizon=2000)


def plain_bound(p: float, most: float) -> float:
    """The largest q with kl(p, q) at most that, by 60 bisections."""
    low, high = p, 1.0
    for _ in range(60):
        q = (low + high) / 2
        if bernoulli_divergence(p, q) <= most:
            low = q
        else:
            high = q
    return low


class Plain:
    """A policy from its formula alone: `formula(c, squares, n, t)` is an arm's index, where t is the round at hand."""

    def __init__(self, n: int, formula: Callable[[float, float, int, int], float], moving: bool) -> None:
        self.formula, self.moving = formula, moving
        self.rounds = 0
        self.pulls, self.reward, self.squares = np.zeros(n, int), np.zeros(n), np.zeros(n)
        self.index = np.full(n, math.inf)

    def update(self, chosen: Any, rewards: Any) -> None:
        self.rounds += 1
        for arm, reward in zip(chosen, rewards, strict=True):
            self.pulls[arm] += 1
            self.reward[arm] += reward
            self.squares[arm] += reward**2
        for arm in np.flatnonzero(self.pulls) if self.moving else chosen:
            numbers = self.reward[arm], self.squares[arm], self.pulls[arm], self.rounds + 1
            self.index[arm] = self.formula(*numbers)


def plain_policy(policy: Any, n: int, k: int, horizon: int) -> Plain:
    def kl(level: Callable[[int], float]) -> Callable[[float, float, int, int], float]:
        return lambda c, _s, plays, _t: plain_bound(c / plays, level(plays) / plays)

    def ucb(level: Callable[[int], float], most: float = math.inf) -> Callable[[float, float, int, int], float]:
        return lambda c, _s, plays, t: min(most, c / plays + math.sqrt(level(t) / plays))

    def ucb_v(c: float, squares: float, plays: int, _t: int) -> float:
        level = policy.zeta * math.log(horizon)
        spread = max(0.0, squares / plays - (c / plays) ** 2)
        return c / plays + math.sqrt(2 * spread * level / plays) + 3 * policy.c * level / plays

    formula = {
        "KLUCB": lambda: kl(lambda _: policy.alpha * math.log(horizon)),
        "KLMOSS": lambda: kl(lambda plays: max(0.0, math.log(horizon * k / (n * plays)))),
        "UCBV": lambda: ucb_v,
        "AnytimeUCB": lambda: ucb(lambda t: policy.alpha * math.log(t)),
        "CUCB": lambda: ucb(lambda t: 1.5 * math.log(t), 1.0 if policy.clip else math.inf),
        "CombUCB1": lambda: ucb(lambda t: 1.5 * math.log(t - 1)),
    }[type(policy).__name__]()
    return Plain(n, formula, moving=type(policy).__name__ in ("AnytimeUCB", "CUCB", "CombUCB1"))


@pytest.mark.parametrize(("n", "k", "rounds"), [(8, 3, 300), (6, 6, 30), (400, 7, 80)])
@each([*FROZEN, KLUCB(alpha=0.1), UCBV(zeta=0.1, c=0.5), *MOVING, CUCB(clip=True)])
def test_every_step_is_that_of_a_plain_reference(policy: Any, n: int, k: int, rounds: int) -> None:
    rng = generator(3)
    state = policy.init(n, k, rounds, rng)
    plain = plain_policy(policy, n, k, rounds)
    means = rng.random(n) ** 2
    for _ in range(rounds):
        chosen = policy.select(state, rng).copy()
        covering = isinstance(policy, CombUCB1) and (state.pulls == 0).any()
        now = indices_of(policy, state, n)
        expected = np.where(plain.pulls > 0, 0.0, math.inf) if covering else plain.index
        assert np.allclose(now, expected, rtol=1e-13, atol=0)
        assert is_top(now, chosen, k)
        rewards = rng.random(k) * (rng.random(k) < means[chosen])
        policy.update(state, chosen, rewards, rng)
        plain.update(chosen.tolist(), rewards.tolist())
        assert np.array_equal(state.pulls, plain.pulls)
        assert np.array_equal(state.reward, plain.reward)
    if isinstance(policy, UCBV):
        assert np.allclose(state.squares, plain.squares, rtol=1e-14)


@each(ALL)
@pytest.mark.parametrize(("n", "k"), [(20, 10), (7, 3), (5, 5), (4, 1), (400, 7)])
def test_every_arm_is_played_in_the_first_rounds(policy: Any, n: int, k: int) -> None:
    rng = generator(1)
    state = policy.init(n, k, 1000, rng)
    seen: set[int] = set()
    for _ in range(math.ceil(n / k)):
        chosen = policy.select(state, rng).copy()
        assert len(set(chosen.tolist())) == k
        seen |= set(chosen.tolist())
        policy.update(state, chosen, rng.random(k) < 0.5, rng)
    assert len(seen) == n


OTHER_TESTS = len(ALL) + 2
OTHER_LEVEL = 1e-4 / OTHER_TESTS


@each(ALL)
def test_the_first_set_is_any_set_with_the_same_chance(policy: Any) -> None:
    rng = generator(5)
    counts: dict[Any, int] = {}
    for _ in range(900):
        chosen = tuple(sorted(policy.select(policy.init(4, 2, 100, rng), rng).tolist()))
        counts[chosen] = counts.get(chosen, 0) + 1
    assert len(counts) == 6
    assert stats.chisquare(list(counts.values())).pvalue > OTHER_LEVEL


def share_of_the_better(policy: Any, runs: int) -> float:
    """How often, of 3 arms by 2, the rewarded one of the first two fills up the second set."""
    rng = generator(6)
    kept = 0
    for _ in range(runs):
        state = policy.init(3, 2, 100, rng)
        first = policy.select(state, rng).copy()
        policy.update(state, first, [1.0, 0.0], rng)
        second = policy.select(state, rng)
        assert 3 - first.sum() in second
        kept += first[0] in second
    return kept / runs


def test_the_first_rounds_of_comb_ucb1_are_filled_up_at_random_and_those_of_cucb_by_index() -> None:
    share = share_of_the_better(CombUCB1(), 2000)
    assert stats.binomtest(round(2000 * share), 2000, 0.5).pvalue > OTHER_LEVEL
    assert share_of_the_better(CUCB(), 20) == 1.0


def test_clipped_indices_tie_and_the_tie_is_broken_at_random() -> None:
    policy = CUCB(clip=True)
    state = policy.init(4, 2, 100, generator())
    state.pulls[:] = 3
    state.reward[:] = (3, 2, 1, 1)
    state.rounds[0] = 50
    policy.update(state, [0], [1.0], generator())
    assert (state.indices == 1.0).all()
    rng = generator(7)
    counts = np.zeros(4)
    for _ in range(1000):
        counts[policy.select(state, rng)] += 1
    assert stats.chisquare(counts).pvalue > OTHER_LEVEL  # counts within a set are dependent the safe way


# Indices that stay, and how long a set is certain.


@both_rankings
@each(FROZEN)
def test_indices_of_arms_not_chosen_do_not_move(policy: Any, n: int, k: int) -> None:
    rng = generator(2)
    state = played(policy, n, k, 0, seed=2)
    for turn in range(150):
        chosen = policy.select(state, rng).copy()
        rest = np.delete(np.arange(n), chosen)
        before = copy.deepcopy(state)
        if turn % 2:
            policy.update_many(state, chosen, rng.integers(0, 6, k).astype(float), 5)
        else:
            policy.update(state, chosen, rng.random(k), rng)
        for name in set(state._fields) & {"pulls", "reward", "squares", "indices"}:
            assert getattr(state, name)[rest].tobytes() == getattr(before, name)[rest].tobytes()
        assert (state.pulls[chosen] != before.pulls[chosen]).all()


@each(MOVING)
def test_indices_of_arms_not_chosen_grow(policy: Any) -> None:
    state = played(policy, 8, 3, 30, seed=2)
    before = state.indices.copy()
    policy.update(state, [0, 1, 2], [0.0, 0.0, 0.0], generator())
    assert (state.indices[3:] > before[3:]).all()


@pytest.mark.parametrize(
    ("make", "lower_half"),
    [
        (lambda alpha: UCB(alpha=alpha), True),
        (lambda alpha: KLUCB(alpha=alpha), True),
        (lambda alpha: UCBV(zeta=alpha), True),
        (lambda alpha: KLMOSS(), False),
    ],
    ids=["UCB", "KLUCB", "UCBV", "KLMOSS"],
)
@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 6),
    k=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
    power=st.sampled_from([0.1, 1.0, 8.0]),
    alpha=st.floats(0.05, 4.0),
    feedback=st.sampled_from(["choice", "independent"]),
)
def test_lemma_1_holds_in_every_round(
    make: Callable[[float], Any], lower_half: bool, n: int, k: int, seed: int, power: float, alpha: float, feedback: str
) -> None:
    k = min(k, n - 1)
    rng = generator(seed)
    rows = rng.random((math.comb(n, k), k)) ** power / (k if feedback == "choice" else 1)
    world = Table(rows, n=n, feedback=feedback)
    policy = make(alpha)
    state = policy.init(n, k, 80, rng)
    rewards = np.zeros(k)
    rho = math.inf
    for _ in range(80):
        chosen = policy.select(state, rng).copy()
        rest = np.delete(np.arange(n), chosen)
        rho, lower = lemma1_bounds(state.indices, state.pulls, chosen.tolist(), rho)
        assert (state.indices[rest] <= rho).all()
        if lower_half:
            assert (state.indices[rest] >= lower[rest] * (1 - 1e-12)).all()
        world.draw(chosen, rng, rewards)
        policy.update(state, chosen, rewards, rng)


def test_the_lower_half_of_lemma_1_fails_for_kl_moss() -> None:
    policy = KLMOSS()
    state = policy.init(2, 1, 100, generator())
    policy.update_many(state, np.array([0]), np.array([1.0]), 44)
    before = 44 * state.indices[0]
    policy.update_many(state, np.array([0]), np.array([0.0]), 5)
    assert 49 * state.indices[0] < 0.9 * before


def rounds_it_stays(policy: Any, state: Any, chosen: Any, most: int, draw: Callable[[int], Any]) -> int:
    """For how many rounds, with these rewards, the set is selected."""
    rng = generator()
    state = copy.deepcopy(state)
    for rounds in range(1, most + 1):
        policy.update(state, chosen, draw(len(chosen)), rng)
        if set(policy.select(state, rng).tolist()) != set(chosen.tolist()):
            return rounds
    return most


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.sampled_from([(2, 1), (5, 2), (6, 5), (400, 3)]),
    turns=st.lists(st.tuples(st.integers(1, 40), st.floats(0, 1)), min_size=1, max_size=8),
    which=st.integers(0, 3),
    explore=st.floats(0.02, 4.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_hold_is_honest(sizes: Any, turns: Any, which: int, explore: float, seed: int) -> None:
    n, k = sizes
    policies: list[Any] = [
        KLUCB(alpha=explore),
        KLMOSS(),
        UCBV(zeta=explore, c=min(explore, 1.0)),
        Doubling(KLUCB(alpha=explore)),
    ]
    policy = policies[which]
    rng = generator(seed)
    state = policy.init(n, k, 1000 if which != 1 else int(1 + 300 * explore * n / k), rng)
    policy.update_many(state, np.arange(n), rng.integers(0, 2, n).astype(float), 1)
    for rounds, share in turns:
        chosen = policy.select(state, rng).copy()
        certain = policy.certain_rounds(state, chosen)
        most = min(certain, 120)
        assert certain >= 1
        for draw in (
            np.zeros,
            lambda size: rng.integers(0, 2, size).astype(float),
            lambda size: rng.random(size) < 0.05,
        ):
            assert rounds_it_stays(policy, state, chosen, most, draw) == most
        policy.update_many(state, chosen, rng.binomial(rounds, share, k).astype(float), rounds)


@pytest.mark.parametrize(("policy", "share"), [(KLUCB(), 0.98), (KLMOSS(), 0.98), (UCBV(), 0.8)], ids=repr)
def test_hold_is_a_good_part_of_the_rounds_that_the_set_stays_without_rewards(policy: Any, share: float) -> None:
    rng = generator(4)
    state = policy.init(8, 3, 10**5, rng)
    means = np.linspace(0.05, 0.6, 8)
    held = stayed = 0
    for turn in range(3000):
        chosen = policy.select(state, rng).copy()
        certain = policy.certain_rounds(state, chosen)
        if turn % 60 == 59:
            stays = rounds_it_stays(policy, state, chosen, 400, np.zeros)
            assert min(certain, 400) <= stays
            held, stayed = held + min(certain, 400), stayed + stays
        policy.update_many(state, chosen, rng.binomial(certain, means[chosen]).astype(float), certain)
    assert stayed > 100
    assert held >= share * stayed


@both_rankings
@each([KLUCB(), KLMOSS(), KLUCB(bound=3.7), UCBV()])
@pytest.mark.parametrize("reward", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("apart", [1, 2, 7, 60])
def test_hold_ends_before_an_exact_tie(policy: Any, n: int, k: int, reward: float, apart: int) -> None:
    rng = generator()
    state = policy.init(n, k, 10**8 * n, rng)
    policy.update_many(state, np.arange(k + 1, n), np.zeros(n - k - 1), 10**6)
    policy.update_many(state, np.arange(k - 1), np.full(k - 1, 5000.0), 5000)
    policy.update_many(state, np.array([k - 1]), np.array([reward]), 200)
    policy.update_many(state, np.array([k]), np.array([reward]), 200 + apart)
    chosen = policy.select(state, rng).copy()
    assert set(chosen.tolist()) == set(range(k))
    certain = policy.certain_rounds(state, chosen)
    assert (0.5 if isinstance(policy, UCBV) else 0.9) * apart <= certain <= apart
    policy.update_many(state, chosen, np.zeros(k), apart)
    assert state.indices[k - 1] == state.indices[k]
    assert policy.certain_rounds(state, policy.select(state, rng)) == 1


@both_rankings
@each(FROZEN)
def test_a_tie_at_the_border_is_seen_and_broken_at_random(policy: Any, n: int, k: int) -> None:
    rng = generator()
    state = policy.init(n, k, 10**6, rng)
    policy.update_many(state, np.arange(n), np.ones(n), 1000)
    policy.update_many(state, np.array([5]), np.array([1.0]), 1)
    seen = set()
    for _ in range(40):
        chosen = policy.select(state, rng).copy()
        seen |= set(chosen.tolist())
        assert 5 in chosen
        assert policy.certain_rounds(state, chosen) == 1
    assert len(seen) > min(n - 1, 5 * k)


@both_rankings
@each(FROZEN)
def test_hold_is_one_where_nothing_is_certain(policy: Any, n: int, k: int) -> None:
    rng = generator()
    state = policy.init(n, k, 1000, rng)
    for _ in range(math.ceil(n / k) - 1):  # while an arm outside was never played
        chosen = policy.select(state, rng).copy()
        assert policy.certain_rounds(state, chosen) == 1
        policy.update(state, chosen, np.ones(k), rng)
    state = played(policy, n, k, 2000 // k, seed=8)
    chosen = policy.select(state, rng).copy()
    other = np.argsort(state.indices)[:k]
    assert set(other.tolist()) != set(chosen.tolist())
    assert policy.certain_rounds(state, other) == 1
    state = policy.init(n, k, 1000, rng)
    policy.update_many(state, np.arange(n - 1), np.ones(n - 1), 10)
    chosen = policy.select(state, rng).copy()
    assert n - 1 in chosen  # an arm in the set was never played
    assert policy.certain_rounds(state, chosen) == 1
    state = policy.init(n, k, 1, rng)
    policy.update_many(state, np.arange(n), np.zeros(n), 10**6)  # every index is 0
    assert policy.certain_rounds(state, policy.select(state, rng)) == 1


@each([*FROZEN, Doubling(first=500)])
@pytest.mark.parametrize("n", [4, 400])
def test_all_arms_are_the_set_for_good_if_k_is_n(policy: Any, n: int) -> None:
    state = played(policy, n, n, 20, seed=4)
    chosen = policy.select(state, generator())
    assert sorted(chosen.tolist()) == list(range(n))
    certain = policy.certain_rounds(state, chosen)
    assert certain == 480 if isinstance(policy, Doubling) else certain >= 10**12


@both_rankings
@each([*FROZEN, KLUCB(bound=2.0), Doubling(KLMOSS()), Doubling(restart=True)])
def test_absorbing_rounds_is_learning_them_one_by_one(policy: Any, n: int, k: int) -> None:
    rng = generator(5)
    one_by_one = played(policy, n, k, 100, seed=5)
    at_once = copy.deepcopy(one_by_one)
    for rounds in (1, 2, 9, 13):
        chosen = policy.select(one_by_one, rng).copy()
        rewards = rng.integers(0, 2, (rounds, k)).astype(float)
        for row in rewards:
            policy.update(one_by_one, chosen, row, rng)
        policy.update_many(at_once, chosen, rewards.sum(axis=0), rounds)
        assert np.array_equal(indices_of(policy, one_by_one, n), indices_of(policy, at_once, n))
        assert set(policy.select(one_by_one, generator(6))) == set(policy.select(at_once, generator(6)))


@few_and_many([*FROZEN, *MOVING, Doubling(KLUCB())])
def test_updates_may_come_late_and_in_any_order(policy: Any, n: int, k: int) -> None:
    rng = generator(7)
    state = policy.init(n, k, 1000, rng)
    means = rng.random(n)
    waiting: list[Any] = []
    pulls = np.zeros(n, int)
    for _ in range(200):
        chosen = policy.select(state, rng).copy()
        assert is_top(indices_of(policy, state, n), chosen, k)
        if hasattr(policy, "certain_rounds"):
            most = min(policy.certain_rounds(state, chosen), 10)
            assert rounds_it_stays(policy, state, chosen, most, np.zeros) == most
        waiting.append(rng.permutation(chosen))
        while waiting and rng.random() < 0.6:
            late = waiting.pop(int(rng.integers(len(waiting))))
            pulls[late] += 1
            policy.update(state, late, (rng.random(k) < means[late]).astype(float), rng)
    known = state.base if isinstance(policy, Doubling) else state
    assert np.array_equal(known.pulls, pulls)
    assert len(waiting) < 200


@few_and_many(ALL)
def test_select_from_gives_the_best_of_the_available_arms(policy: Any, n: int, k: int) -> None:
    rng = generator(9)
    state = played(policy, n, k, 100, seed=9)
    for _ in range(40):
        available = rng.random(n) < 0.6
        available[rng.choice(n, k, replace=False)] = True
        before = indices_of(policy, state, n)
        chosen = policy.select_from(state, available, rng).copy()
        places = [int(np.flatnonzero(np.flatnonzero(available) == arm)[0]) for arm in chosen]
        assert is_top(before[available], places, k)
        assert np.array_equal(indices_of(policy, state, n), before)
        policy.update(state, chosen, rng.random(k) < 0.5, rng)
        assert is_top(indices_of(policy, state, n), policy.select(state, rng), k)
    for few in ([n - 1], [n - 1, 4], []):
        available = np.isin(np.arange(n), few)
        assert sorted(policy.select_from(state, available, generator()).tolist()) == sorted(few)


@pytest.mark.parametrize(
    ("policy", "n", "larger"),
    [(policy, 8, 11) for policy in ALL]
    + [(policy, FEW_ARMS - 5, FEW_ARMS + 8) for policy in (*FROZEN, *MOVING, Doubling(UCBV()))],
    ids=repr,
)
def test_arms_that_are_added_are_played_first_and_the_others_keep_what_they_know(
    policy: Any, n: int, larger: int
) -> None:
    rng = generator(11)
    state = played(policy, n, 3, 200, seed=11)
    before = copy.deepcopy(state)
    grown = policy.grow(state, larger, rng)
    old, new = ((s.base, s) if isinstance(policy, Doubling) else (s, s) for s in (before, grown))
    known = new[0]
    for name in set(old[0]._fields) & {"pulls", "reward", "squares"}:
        assert np.array_equal(getattr(known, name)[:n], getattr(old[0], name))
        assert not getattr(known, name)[n:].any()
    if isinstance(policy, CombUCB1):
        assert not known.indices[:n][known.pulls[:n] > 0].any()  # the new arms are covered first
    else:
        assert np.array_equal(known.indices[:n], old[0].indices)
    if "ranking" in known._fields:
        assert type(known.ranking) is (Sorted if larger <= FEW_ARMS or isinstance(known, AnytimeState) else Tournament)
    policy.update(grown, [0, 1, 2], [1.0, 1.0, 1.0], rng)
    assert np.array_equal(indices_of(policy, state, n), indices_of(policy, before, n))  # a copy, not a view
    seen: set[int] = set()
    for _ in range(math.ceil((larger - n) / 3) + math.ceil((known.pulls[:n] == 0).sum() / 3)):
        chosen = policy.select(grown, rng).copy()
        seen |= set(chosen.tolist())
        policy.update(grown, chosen, [0.0, 1.0, 0.0], rng)
    assert seen >= set(range(n, larger))
    with pytest.raises(InputError, match=f"n={n - 1} is less than the {n} arms"):
        policy.grow(state, n - 1, rng)


# The horizon that doubles.


@both_rankings
@pytest.mark.parametrize("first", [1, 2, 7])
def test_doubling_is_ucb_with_the_horizon_of_the_phase(n: int, k: int, first: int) -> None:
    rng = generator(12)
    policy = Doubling(UCB(alpha=1.5), first=first)
    state = policy.init(n, k, 99, rng)
    pulls, reward = np.zeros(n), np.zeros(n)
    means = rng.random(n)
    horizon, rounds = first, 0
    while rounds < (500 if n == 8 else 150):
        now = indices_of(policy, state, n)
        for arm in range(n):
            seen = pulls[arm] > 0
            index = reward[arm] / pulls[arm] + math.sqrt(1.5 * math.log(horizon) / pulls[arm]) if seen else math.inf
            assert now[arm] == pytest.approx(index, rel=1e-14)
        chosen = policy.select(state, rng).copy()
        assert is_top(now, chosen, k)
        block = policy.certain_rounds(state, chosen)
        assert 1 <= block <= horizon - rounds
        totals = rng.binomial(block, means[chosen]).astype(float)
        if block == 1:
            policy.update(state, chosen, totals, rng)
        else:
            policy.update_many(state, chosen, totals, block)
        pulls[chosen] += block
        reward[chosen] += totals
        rounds += block
        while rounds >= horizon:
            horizon *= 2
    assert state.rounds[0] == rounds
    assert np.array_equal(state.base.pulls, pulls)


@both_rankings
@each([UCB(), *FROZEN])
def test_restarting_forgets_everything(policy: Any, n: int, k: int) -> None:
    rng = generator(13)
    doubling = Doubling(policy, restart=True, first=20)
    state = doubling.init(n, k, 99, rng)
    for phase, length in enumerate((20, 40, 80)):
        fresh = policy.init(n, k, length, rng)
        for name in set(fresh._fields) - {"ranking", "chosen", "best"}:
            assert np.array_equal(getattr(state.base, name), getattr(fresh, name)), (phase, name)
        for _ in range(length):
            assert is_top(fresh.indices, doubling.select(state, copy.deepcopy(rng)), k)
            chosen = policy.select(fresh, rng).copy()
            rewards = (rng.random(k) < 0.4).astype(float)
            doubling.update(state, chosen, rewards, rng)
            policy.update(fresh, chosen, rewards, rng)
    assert state.rounds[0] == 140


@each([KLUCB(), KLMOSS(), UCBV()])
@both_rankings
def test_keeping_sets_every_index_anew_for_the_new_horizon(policy: Any, n: int, k: int) -> None:
    state = played(policy, n, k, 60, seed=14)
    assert (state.pulls == 0).any() == (n == 500)
    policy.set_horizon(state, 10**6, True)
    fresh = policy.init(n, k, 10**6, generator())
    for arm in np.flatnonzero(state.pulls):
        policy.update_many(fresh, np.array([arm]), state.reward[[arm]], int(state.pulls[arm]))
    assert np.array_equal(state.indices, fresh.indices)
    assert is_top(state.indices, policy.select(state, generator()), k)
    assert is_top(fresh.indices, policy.select(fresh, generator()), k)


def test_doubling_does_not_look_at_the_horizon_it_is_told() -> None:
    runs = [sw.simulate(Doubling(), WORLD, 700, runs=2, seed=3, checkpoints=[100, 600, 700])]
    runs.append(sw.simulate(Doubling(), WORLD, 900, runs=2, seed=3, checkpoints=[100, 600, 700]))
    assert np.array_equal(runs[0].regret, runs[1].regret[:, :3])
    assert runs[0].regret[:, -1].min() > 0


@pytest.mark.parametrize(
    ("base", "sentence"),
    [
        (AnytimeUCB(), "AnytimeUCB, which has no method set_horizon"),
        (UCB, r"the class UCB; give an object of it, UCB\(\)"),
        (3, "3, which is not a policy"),
        (None, "None, which is not a policy"),
        (Doubling(), "Doubling, which has no method set_horizon"),
    ],
)
def test_doubling_refuses_what_cannot_change_its_horizon(base: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=f"Doubling: base is {sentence}"):
        Doubling(base)


def test_doubling_has_the_bound_and_the_limits_of_its_policy() -> None:
    assert Doubling(UCBV(bound=3.0)).binary_blocks and Doubling(UCBV(bound=3.0)).bound == 3.0
    assert not Doubling(KLUCB()).binary_blocks
    with pytest.raises(InputError, match="bound"):
        sw.simulate(Doubling(), Scaled(WORLD, 2.0), 10, compiled=False)


# Whole runs.


def test_ucb_v_is_fast_forwarded_only_where_rewards_are_0_or_1() -> None:
    priced = Scaled(WORLD, np.linspace(1.0, 2.0, 7))
    for policy, fast in ((UCBV(bound=2.0), False), (Doubling(UCBV(bound=2.0)), False), (KLUCB(bound=2.0), True)):
        assert sw.simulate(policy, priced, 30, compiled=False).fast_forward is fast
        assert sw.simulate(policy, WORLD, 30, compiled=False).fast_forward


def test_rewards_of_0_and_1_are_learned_right_under_a_larger_bound() -> None:
    state = played(UCBV(bound=2.0), 8, 3, 200, seed=15)
    assert np.array_equal(state.squares, state.reward)
    again = UCBV(bound=2.0).init(8, 3, 1000, generator())
    for arm in range(8):
        UCBV(bound=2.0).update_many(again, np.array([arm]), state.reward[[arm]], int(state.pulls[arm]))
    assert np.array_equal(again.indices, state.indices)


@each(MOVING)
def test_the_best_arms_are_found_where_each_has_a_mean_of_its_own(policy: Any) -> None:
    world = Independent(np.array([0.9, 0.8, 0.2, 0.1]), k=2)
    result = sw.simulate(policy, world, 1500, seed=1, checkpoints=[1200], compiled=False)
    assert result.pulls[0, :2].min() > 0.85 * 1500
    assert result.regret[0, -1] - result.regret[0, 0] < 0.05 * 300


@each([*FROZEN, Doubling(), *MOVING])
def test_the_best_set_is_found_in_multinomial_logit(policy: Any) -> None:
    world = MNL(np.array([2.0, 1.8, 1.6, 0.5, 0.4, 0.3, 0.2]), k=3)
    result = sw.simulate(policy, world, 10_000, runs=4, seed=1, checkpoints=[5000])
    assert result.pulls[:, :3].sum() > 0.8 * result.pulls.sum()
    late = (result.regret[:, -1] - result.regret[:, 0]).mean()
    assert late < result.regret[:, 0].mean()
    assert late < 0.03 * 5000


class Case(NamedTuple):
    """A comparison of fast-forward with round by round."""

    policy: Any
    world: Any
    runs: int
    horizon: int


QUICK = [Case(policy, WORLD, 300, 2000) for policy in (*FROZEN, Doubling())]
SLOW = [
    Case(policy, world, 2000, 5000)
    for policy in (*FROZEN, KLUCB(alpha=0.2), Doubling(), Doubling(KLUCB(), restart=True), Doubling(UCBV(), first=30))
    for world in (
        WORLD,
        WORLD._replace(feedback="independent"),
        Independent(np.linspace(0.1, 0.6, 6), k=2),
        MNL(np.linspace(1.0, 0.1, FEW_ARMS + 6), k=5),
    )
]
LAW_LEVEL = 1e-4 / sum(1 + min(case.world.n, 10) for case in QUICK + SLOW)


def check_law(case: Case) -> None:
    """Kolmogorov-Smirnov tests of the regret and of the plays of (up to ten of) the arms."""
    runs = [
        sw.simulate(
            case.policy, case.world, case.horizon, case.runs, seed, checkpoints=[case.horizon // 2], fast_forward=fast
        )
        for seed, fast in ((1, True), (2, False))
    ]
    assert runs[0].fast_forward and not runs[1].fast_forward
    arms = np.unique(np.linspace(0, case.world.n - 1, 10).astype(int))
    columns = [[run.regret[:, -1].round(6) for run in runs], *([run.pulls[:, arm] for run in runs] for arm in arms)]
    least = min(stats.ks_2samp(*column).pvalue for column in columns)
    print(f"{case.policy} in {type(case.world).__name__}: least p {least:.3g} (level {LAW_LEVEL:.2g})")
    assert least > LAW_LEVEL


@pytest.mark.parametrize("case", QUICK, ids=lambda case: repr(case.policy))
def test_fast_forward_has_the_law_of_round_by_round(case: Case) -> None:
    check_law(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW, ids=lambda case: f"{case.policy!r} {case.world!r}")
def test_fast_forward_has_the_law_of_round_by_round_in_more_worlds(case: Case) -> None:
    check_law(case)


def test_formulas_are_what_the_states_hold() -> None:
    level = math.log(1000)
    state: Any = played(KLUCB(), 8, 3, 300, seed=16)
    again = [divergence_index(c, int(n), level, 0.0, 1.0) for c, n in zip(state.reward, state.pulls, strict=True)]
    assert np.array_equal(state.indices, again)
    state = played(UCBV(), 8, 3, 300, seed=16)
    again = [
        variance_index(c, s, int(n), level, 1.0)
        for c, s, n in zip(state.reward, state.squares, state.pulls, strict=True)
    ]
    assert np.array_equal(state.indices, again)


def test_an_average_within_rounding_of_1_has_the_index_1() -> None:
    nearly = 0.7 + 0.2 + 0.1
    assert nearly < 1.0
    assert upper_bound(nearly, 1.0, math.log(1e6)) == pytest.approx(1.0)
