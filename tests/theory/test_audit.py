"""Audited runs against a plain replay of the same runs, and policies and worlds that must fail the audit."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import setwise as sw
from reference import theory as brute
from setwise import InputError
from setwise.environments import Independent, Scaled, Table
from setwise.kernels.draws import draw_binary
from setwise.kernels.topk import top_k_among
from setwise.seeding import stream, stream_key
from setwise.theory import audit, gaps
from setwise.types import Feedback, Floats, Ints

HORIZON = 2000
# Arm 0 has 0.55 in the best set {0, 2} and 0.1 beside arm 1: weak optimal set consistency does not hold.
INCONSISTENT = {(0, 1): (0.1, 0.45), (0, 2): (0.55, 0.45), (1, 2): (0.45, 0.45)}


class LogTState(NamedTuple):
    """Plays and rewards of every arm, the rounds so far, and buffers."""

    pulls: Ints
    reward: Floats
    rounds: Ints
    now: Floats
    available: Any
    chosen: Ints
    best: Floats


def anytime_indices(alpha: float, state: LogTState, out: Floats) -> None:
    """C / N + sqrt(alpha log t / N) of every arm before round t."""
    log = math.log(state.rounds[0] + 1.0)
    for arm in range(len(out)):
        out[arm] = np.inf
        if state.pulls[arm] > 0:
            out[arm] = state.reward[arm] / state.pulls[arm] + math.sqrt(alpha * log / state.pulls[arm])


@sw.policy
class LogT(NamedTuple):
    """The k arms of largest C / N + sqrt(alpha log t / N), which moves for arms that are not played too."""

    alpha: float = 2.0

    def init(self, n, k, horizon, rng):
        counts = np.zeros(n, np.int64)
        return LogTState(
            counts, np.zeros(n), np.zeros(1, np.int64), np.zeros(n), np.ones(n, np.bool_), np.arange(k), np.zeros(k)
        )

    def select(self, state, rng):
        anytime_indices(self.alpha, state, state.now)
        top_k_among(state.now, state.available, state.chosen, state.best, rng)
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        state.rounds[0] += 1
        for j in range(len(chosen)):
            state.pulls[chosen[j]] += 1
            state.reward[chosen[j]] += rewards[j]

    def indices(self, state, out):
        anytime_indices(self.alpha, state, out)


@sw.policy
class Silent(NamedTuple):
    """A policy that shows no indices."""

    def init(self, n, k, horizon, rng):
        return LogT().init(n, k, horizon, rng)

    def select(self, state, rng):
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        state.rounds[0] += 1


@sw.policy
class Sinking(NamedTuple):
    """Plays all arms in turn and shows indices that fall faster than plays allow."""

    def init(self, n, k, horizon, rng):
        return LogT().init(n, k, horizon, rng)

    def select(self, state, rng):
        n = len(state.pulls)
        for j in range(len(state.chosen)):
            state.chosen[j] = (state.rounds[0] * len(state.chosen) + j) % n
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        state.rounds[0] += 1
        for j in range(len(chosen)):
            state.pulls[chosen[j]] += 1

    def indices(self, state, out):
        for arm in range(len(out)):
            out[arm] = np.inf if state.pulls[arm] == 0 else 4.0 ** -float(state.pulls[arm])


def means_of(world: Any, chosen: Sequence[int]) -> list[float]:
    out = np.full(len(chosen), np.nan)
    world.means(np.array(chosen), out)
    return out.tolist()


def play_by_hand(policy: Any, world: Any, horizon: int, seed: int = 0, run: int = 0) -> list[brute.Round]:
    """The run that an audit of this seed audits, round by round as the contract says, with everything written down."""
    rng = stream(seed, stream_key(policy, world), run)
    state = policy.init(world.n, world.k, horizon, rng)
    rounds = []
    for _ in range(horizon):
        chosen = np.array(policy.select(state, rng))
        indices, rewards = np.zeros(world.n), np.zeros(world.k)
        policy.indices(state, indices)
        if world.rewards == "binary":
            draw_binary(Feedback(world.feedback), np.array(means_of(world, chosen)), rng, rewards)
        else:
            world.draw(chosen, rng, rewards)
        policy.update(state, chosen, rewards, rng)
        rounds.append(brute.Round(indices.tolist(), chosen.tolist(), rewards.tolist()))
    return rounds


def expectation(world: Any) -> Callable[[Sequence[int]], list[float]]:
    """P(a|s), remembered."""
    known = cache(lambda chosen: means_of(world, chosen))
    return lambda chosen: known(tuple(chosen))


def assert_same(one: Any, other: Any) -> None:
    for field in dataclasses.fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if dataclasses.is_dataclass(left):
            assert_same(left, right)
        else:
            assert np.array_equal(left, right), field.name


def assert_replayed(found: Any, policy: Any, world: Any, alpha: float, bound: float = 1.0) -> None:
    """Everything in an audit of one run is what follows from its rounds by the definitions."""
    n, k, horizon = world.n, world.k, found.horizon
    rounds = play_by_hand(policy, world, horizon, found.seed)
    means = expectation(world)
    of_world = gaps(world)
    in_order, best = of_world.arms, of_world.probabilities.tolist()

    failures = brute.lemma_1_failures(n, rounds)
    upper = [failure for failure in failures if failure.half == "upper"]
    assert (found.pairs, found.upper, found.lower) == ((n - k) * horizon, len(upper), len(failures) - len(upper))
    assert found.lemma_1 is (not failures)
    assert (found.violation is None) is (not failures)
    if failures:
        at = rounds[found.violation.round - 1]
        assert brute.Failure(found.violation.round, found.violation.arm, found.violation.half) in failures
        assert found.violation.round == failures[0].round
        assert found.violation.index == at.indices[found.violation.arm]
        assert found.violation.rho == brute.rho(rounds)[found.violation.round - 1]
        assert found.violation.arm not in at.chosen

    until = brute.last_rounds(rounds, best)
    assert found.last_rounds.tolist() == [until]
    assert found.best_plays.tolist() == [brute.best_plays(rounds, in_order, until)]
    assert found.unselected == len(brute.rounds_without_promised(rounds, in_order, until))
    assert found.under == len(brute.rounds_below(rounds, in_order, best))
    widths = brute.confidence_widths(n, horizon, rounds, means, alpha, bound)
    assert found.invalid == sum(width >= 1 for width in widths)
    assert found.invalid_runs == any(width >= 1 for width in widths)
    assert found.widest == pytest.approx(max(widths))

    divided = [brute.Round([u / bound for u in played.indices], played.chosen, played.rewards) for played in rounds]
    sides = brute.lemmas(
        n, horizon, alpha, divided, in_order, [p / bound for p in best], of_world.epsilon / bound,
        lambda chosen: math.fsum(means(chosen)) / bound,
    )  # fmt: skip
    for own, pairs in [(found.sums, sides.sums), (found.strong_sums, sides.strong_sums), (found.plays, sides.plays)]:
        assert own.left == pytest.approx(np.array([[left for left, _ in pairs]]), abs=1e-8)
        assert own.right == pytest.approx(np.array([[right for _, right in pairs]]))
        assert own.failures == sum(left > right * (1 + 1e-9) for left, right in pairs)
    assert found.decomposition.left == pytest.approx([bound * sides.decomposition[0]])
    assert found.decomposition.right == pytest.approx([bound * sides.decomposition[1]])
    assert found.regret == pytest.approx([bound * sides.decomposition[0]])
    assert found.pulls.tolist() == [brute.plays_before(n, rounds)[-1]]


@pytest.mark.parametrize("name", ["camera", "preference_matrix"])
def test_runs_of_algorithm_1_are_as_the_paper_proves(name: str) -> None:
    world = getattr(sw.paper, name)()
    found = audit(sw.UCB(), world, HORIZON, runs=2, seed=3, compiled=False)
    assert (found.lemma_1, found.holds) == (True, True)
    assert (found.pairs, found.upper, found.lower) == (2 * HORIZON * (world.n - world.k), 0, 0)
    assert (found.invalid, found.under, found.unselected, found.violation) == (0, 0, 0, None)
    assert 0 < found.widest < 1
    assert found.failure_bound == pytest.approx(2 * world.n * HORIZON**-3.0)
    # On the good event rho(t) is never below the last P(a_k|s*).
    assert found.last_rounds[:, -1].tolist() == [HORIZON, HORIZON]
    assert str(found).count(": yes (") == 9


@pytest.mark.parametrize("name", ["camera", "preference_matrix"])
def test_audited_runs_are_those_of_simulate_bit_for_bit(name: str) -> None:
    world, options = getattr(sw.paper, name)(), {"runs": 2, "seed": 3, "compiled": False}
    found = audit(sw.UCB(), world, HORIZON, **options)
    result = sw.simulate(sw.UCB(), world, HORIZON, fast_forward=False, **options)
    assert found.regret.tolist() == result.regret[:, -1].tolist()
    assert found.pulls.tolist() == result.pulls.tolist()
    assert found.pulls.sum(axis=1).tolist() == [HORIZON * world.k] * 2


def test_compiled_and_interpreted_audits_are_the_same_on_any_number_of_threads() -> None:
    world, options = sw.paper.camera(), {"runs": 3, "seed": 4}
    compiled = audit(sw.UCB(), world, HORIZON, **options)
    for other in (
        audit(sw.UCB(), world, HORIZON, compiled=False, **options),
        audit(sw.UCB(), world, HORIZON, threads=1, **options),
        audit(sw.UCB(), world, HORIZON, gaps_found=gaps(world), **options),
    ):
        assert_same(compiled, other)
    alone = audit(sw.UCB(), world, HORIZON, seed=4)
    assert alone.regret[0] == compiled.regret[0]
    assert alone.last_rounds[0].tolist() == compiled.last_rounds[0].tolist()
    assert compiled.pairs == 3 * alone.pairs


@pytest.mark.parametrize("name", ["camera", "preference_matrix"])
def test_an_audit_of_algorithm_1_is_what_a_plain_replay_finds(name: str) -> None:
    world = getattr(sw.paper, name)()
    assert_replayed(audit(sw.UCB(), world, HORIZON, seed=5, compiled=False), sw.UCB(), world, 2.0)


@pytest.mark.parametrize("policy", [sw.UCB(), sw.UCB(alpha=0.05), LogT(), Sinking()], ids=repr)
def test_audits_of_short_runs_are_what_a_plain_replay_finds(policy: Any) -> None:
    for horizon, seed in itertools.product([2, 3, 5, 9, 40], range(2)):
        for world in (sw.paper.camera(), Table(INCONSISTENT), Independent([0.5, 0.4, 0.3, 0.3], k=2)):
            found = audit(policy, world, horizon, seed=seed, compiled=False)
            assert_replayed(found, policy, world, found.alpha)


@pytest.mark.parametrize(("horizon", "seed"), [(HORIZON, 5), (9, 2), (8, 0), (40, 1)])
def test_the_lower_half_as_printed_is_counted_with_the_plays_before_the_last_round(horizon: int, seed: int) -> None:
    world = sw.paper.camera()
    rounds = play_by_hand(sw.UCB(), world, horizon, seed)
    found = audit(sw.UCB(), world, horizon, seed=seed, compiled=False)
    assert found.printed == len(brute.printed_failures(6, rounds))


def test_the_indices_that_are_audited_are_those_of_algorithm_1() -> None:
    world = sw.paper.camera()
    rounds = play_by_hand(sw.UCB(alpha=3.0), world, HORIZON)
    expected = np.array(brute.indices_of_algorithm_1(6, HORIZON, rounds, 3.0))
    assert np.array([played.indices for played in rounds]) == pytest.approx(expected, rel=1e-14)
    for played in rounds:
        others = [index for arm, index in enumerate(played.indices) if arm not in played.chosen]
        assert min(played.indices[arm] for arm in played.chosen) >= max(others)


def test_a_policy_whose_indices_grow_with_log_t_violates_the_upper_half_of_lemma_1() -> None:
    # A run has 15,500 violations on average, with a standard deviation of 3,500: five of the mean's are 3,500 here.
    runs = 25
    found = audit(LogT(), sw.paper.camera(), 20_000, runs=runs)
    assert (found.pairs, found.lower) == (runs * 60_000, 0)
    assert 12_000 < found.upper / runs < 19_000
    assert (found.lemma_1, found.holds) == (False, False)
    assert f"Lemma 1, upper half: no ({found.upper:,} of 1,500,000 pairs violate it; first in round" in str(found)
    assert "Lemma 1, lower half: yes" in str(found)


def test_an_audit_of_a_log_t_policy_is_what_a_plain_replay_finds() -> None:
    found = audit(LogT(), sw.paper.camera(), HORIZON, seed=1, compiled=False)
    assert found.upper > 100
    assert found.violation.half == "upper"
    assert_replayed(found, LogT(), sw.paper.camera(), 2.0)


def test_a_policy_whose_indices_fall_too_fast_violates_the_lower_half_of_lemma_1() -> None:
    world = Independent([0.5, 0.4, 0.3], k=1)
    found = audit(Sinking(), world, 60, compiled=False)
    assert found.lower > 0
    assert (found.lemma_1, found.holds) == (False, False)
    assert_replayed(found, Sinking(), world, 2.0)


def test_too_small_a_bonus_leaves_confidence_bounds_invalid_and_arms_unselected() -> None:
    world, policy = sw.paper.camera(), sw.UCB(alpha=0.01)
    found = audit(policy, world, HORIZON, compiled=False)
    assert (found.alpha, found.failure_bound) == (0.01, 1.0)
    assert found.lemma_1  # the dynamics do not ask for validity
    assert not found.holds
    assert min(found.invalid, found.under, found.unselected, found.decomposition.failures) > 0
    assert (found.invalid_runs, found.widest > 1) == (1, True)
    assert_replayed(found, policy, world, 0.01)


def test_alpha_of_the_audit_is_that_of_the_policy_unless_it_is_given() -> None:
    world = sw.paper.camera()
    found = audit(sw.UCB(alpha=0.01), world, 500, alpha=2.0, compiled=False)
    assert (found.alpha, found.invalid) == (2.0, 0)
    own = audit(sw.UCB(alpha=0.01), world, 500, compiled=False)
    assert found.widest == pytest.approx(own.widest * math.sqrt(0.01 / 2.0))
    assert found.regret.tolist() == own.regret.tolist()


@pytest.mark.parametrize("prices", [5.0, [5.0, 4.0, 5.0, 1.0, 2.0, 5.0]], ids=["one price", "prices"])
def test_audits_of_rewards_up_to_b_are_those_of_rewards_divided_by_b(prices: Any) -> None:
    world, policy = Scaled(sw.paper.camera(), prices), sw.UCB(bound=5.0)
    found = audit(policy, world, HORIZON, seed=2, compiled=False)
    assert found.lemma_1
    assert found.decomposition.failures == 0
    assert found.decomposition.right[0] > found.decomposition.left[0] > 0
    assert_replayed(found, policy, world, 2.0, bound=5.0)
    rounds = play_by_hand(policy, world, HORIZON, seed=2)
    expected = np.array(brute.indices_of_algorithm_1(6, HORIZON, rounds, 2.0, bound=5.0))
    assert np.array([played.indices for played in rounds]) == pytest.approx(expected, rel=1e-12)


def test_a_world_without_weak_consistency_leaves_arms_below_their_best_and_unselected() -> None:
    world = Table(INCONSISTENT)
    found = audit(sw.UCB(), world, 20_000, compiled=False)
    assert found.lemma_1  # it asks nothing of the world
    assert found.invalid == 0  # and nor does validity
    assert found.under > 10_000
    assert found.unselected > 10_000
    assert not found.holds
    assert found.regret[0] > 0.09 * 20_000  # as much in every round
    assert "arm selection after t_l: no" in str(found)


def test_an_audit_of_a_world_without_weak_consistency_is_what_a_plain_replay_finds() -> None:
    found = audit(sw.UCB(), Table(INCONSISTENT), HORIZON, seed=1, compiled=False)
    assert found.unselected > 0
    assert_replayed(found, sw.UCB(), Table(INCONSISTENT), 2.0)


def test_where_all_sets_are_optimal_nothing_fails() -> None:
    found = audit(sw.UCB(), Independent([0.3, 0.3, 0.3], k=2), 500, compiled=False)
    assert found.holds
    assert found.regret.tolist() == [0.0]
    assert np.isinf(found.plays.right).all()
    assert "sub-optimal plays" in str(found)


def test_sides_that_fail_are_counted() -> None:
    from setwise.theory.audit import Sides

    sides = Sides(np.array([[1.0, 3.0, -1.0]]), np.array([[2.0, 2.0, 0.0]]))
    assert (sides.failures, sides.tightest) == (1, 1.5)
    assert Sides(np.array([2.0 + 1e-12]), np.array([2.0])).failures == 0
    assert math.isnan(Sides(np.array([-1.0]), np.array([0.0])).tightest)


CAMERA = sw.paper.camera()
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: audit(Silent(), CAMERA, 100), r"Silent has no method indices\(state, out\), so there is nothing to audit"),
    (lambda: audit(sw.UCB, CAMERA, 100), "UCB is a class; give an object of it"),
    (lambda: audit(sw.UCB(), Table, 100), "Table is a class; give an object of it"),
    (lambda: audit(sw.UCB(), CAMERA, 1), "horizon is 1; the lemmas have log T in them, so it has to be at least 2"),
    (lambda: audit(sw.UCB(), CAMERA, 100, runs=0), "runs is 0, which is less than 1"),
    (lambda: audit(sw.UCB(), CAMERA, 100, seed=-1), "seed is -1, which is less than 0"),
    (lambda: audit(sw.UCB(), CAMERA, 10**9, runs=11), "too many to check one by one"),
    (lambda: audit(sw.UCB(), CAMERA, 100, alpha="two"), "alpha is 'two', which is not a number"),
    (lambda: audit(sw.UCB(), CAMERA, 100, alpha=0), "alpha is 0"),
    (lambda: audit(sw.UCB(), Scaled(CAMERA, 5.0), 100), r"use UCB\(bound=5\)"),
    (lambda: audit(sw.UCB(), CAMERA, 100, method="guess"), "method is 'guess'"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_wrong_input_is_refused_in_one_sentence(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as refusal:
        call()
    assert "\n" not in str(refusal.value)
