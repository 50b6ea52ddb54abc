"""Robust UCB: values by hand, a plain reference step by step, and what holds whatever the feedback."""

import copy
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import robust_ucb as reference
from reference.index_policies import is_top
from seeded import generator
from setwise import RobustUCB
from setwise.kernels.divergence import upper_bound
from setwise.kernels.ranking import FEW_ARMS
from setwise.kernels.set_table import FEW_SETS, NO_SET, WINDOW, SetTable, code_of, find_slot
from setwise.policies._doubt import REFUTED
from setwise.policies._explore import draw_total, explore
from setwise.policies.robust_ucb import share_of_sets

ROUNDING = {"rel": 1e-6, "abs": 1e-7}


class Recorder:
    """A generator that remembers the parameters of the Beta laws it is asked to draw from, and draws 0."""

    def __init__(self) -> None:
        self.laws: list[tuple[float, float]] = []

    def beta(self, up: float, down: float) -> float:
        self.laws.append((float(up), float(down)))
        return 0.0


def draw(kind: str, chosen: Any, values: Any, bound: float, rng: Any) -> Any:
    """Rewards of a set: of at most one arm, of any, or amounts up to the bound; the arms of one set share `values`."""
    k = len(chosen)
    if kind == "choice":
        rewards = np.zeros(k)
        winner = int(rng.random() * k)
        rewards[winner] = bound * float(rng.random() < values[chosen[winner]])
        return rewards
    shares = rng.random(k)
    return bound * ((shares < values[chosen]) * 1.0 if kind == "independent" else shares * values[chosen])


def arrays(thing: Any) -> list[Any]:
    return [part for field in thing for part in (arrays(field) if isinstance(field, tuple) else [field])]


# Values worked out by hand.


def test_the_index_is_the_lowest_bound_in_any_company() -> None:
    """Arm 0 earned 1 beside arm 1 and nothing beside arm 2; f = log 4 after two and three rounds.

    After 0 of 1 plays the bound is 1 - 1/4. After 1 of 2 it is q with 4 q (1 - q) = 1/4, and 2 of 3 give a larger one.
    """
    policy, rng = RobustUCB(), generator()
    state = policy.init(3, 2, 100, rng)
    policy.update(state, np.array([0, 1]), np.array([1.0, 0.0]), rng)
    policy.update(state, np.array([2, 0]), np.array([0.0, 0.0]), rng)
    assert state.indices.tolist() == pytest.approx([3 / 4, 3 / 4, 3 / 4])
    policy.update(state, np.array([0, 2]), np.array([1.0, 0.0]), rng)
    half = (1 + math.sqrt(3 / 4)) / 2
    assert state.indices.tolist() == pytest.approx([half, 3 / 4, 1 / 2])
    assert 27 * half**2 * (1 - half) > 1  # so that U(2/3, 3), where this is 1, is above it


@pytest.mark.parametrize(
    ("evidence", "wanted"), [(0.0, 1 / 15), (3.0, 1 / 15), (4.0, math.e / 15), (7.999, 0.99), (8.0, 1.0), (50.0, 1.0)]
)
def test_the_chance_to_explore_grows_with_the_evidence_up_to_refutation(evidence: float, wanted: float) -> None:
    """20/3 of 1000^(-2/3) is 1/15; the threshold of 8 is 5 above the evidence from which on doubt grows."""
    found = share_of_sets(1000, 20.0, np.array([evidence, REFUTED + 3.0]))
    assert found == pytest.approx(wanted, rel=0.02 if wanted == 0.99 else 1e-12)


def known(totals: list[float], largest: float, refuted: bool = False) -> Any:
    """A state in which arms 0 and 1 have means of 1/4 and were played together, with a variance of 1/20."""
    state = RobustUCB().init(5, 2, 100, generator())
    for total in totals:
        RobustUCB().update(state, np.array([1, 0]), np.array([total / 2, total / 2]), generator())
    state.doubt.means[:] = 0.25
    state.doubt.largest[0] = largest
    state.doubt.variance[:] = 0.05
    state.doubt.evidence[:] = (9.0, 8.0) if refuted else (7.0, 8.0)
    return state


@pytest.mark.parametrize(
    ("totals", "largest", "refuted", "wanted"),
    [
        ([], 1.0, False, (2.0, 2.0)),  # m = 1/2 and h = (1/4) / (1/20) - 1 = 4
        ([1.0, 1.0, 0.0], 1.0, False, (4.0, 3.0)),
        ([1.0, 1.0, 0.0], 1.0, True, (3.0, 2.0)),  # h = 2
        ([], 2.0, False, (3.5, 10.5)),  # m = 1/4 and h = (3/16) 4 / (1/20) - 1 = 14
        ([2.0, 2.0, 0.0], 2.0, False, (5.5, 11.5)),  # a coin is not scaled
        ([0.0] * 10, 2.0, False, (3.5, 20.5)),  # nor are zeros: a set that earns nothing is known to
        # With 1/2 twice, and 2 rounds of a coin of mean 1/4, m' = 3/8, v = 1/4 - 9/64 = 7/64 and 15/64 / v = 15/7.
        ([1.0, 1.0], 2.0, False, (3.5 + 15 / 7, 10.5 + 15 / 7)),
    ],
)
def test_the_posterior_is_that_by_hand(totals: list[float], largest: float, refuted: bool, wanted: Any) -> None:
    state, rng = known(totals, largest, refuted), Recorder()
    arms = np.array([0, 1])
    draw_total(state, arms, find_slot(state.table, code_of(state.table, arms)), 1.0, -math.inf, rng)  # type: ignore[arg-type]
    assert rng.laws[0] == pytest.approx(wanted)


def test_a_set_far_below_the_largest_draw_is_not_drawn() -> None:
    """Beta(2, 2) has the mean 1/2 and the variance 1/20, so that four standard deviations reach 1/2 + 4/sqrt(20)."""
    state, rng = known([], 1.0), Recorder()
    for best, drawn in ((1.39, True), (1.40, False)):
        rng.laws.clear()
        draw_total(state, np.array([0, 1]), NO_SET, 1.0, best, rng)  # type: ignore[arg-type]
        assert bool(rng.laws) is drawn


# The reference.


def kept_of(state: Any, arm: int) -> Any:
    slot = state.company[arm]
    return None if slot == NO_SET else frozenset(state.table.arms[slot].tolist())


def assert_same(state: Any, plain: Any) -> None:
    """That the policy knows what its reference knows, up to rounding."""
    indices = [plain.index_of(arm) for arm in range(plain.n)]
    assert state.indices.tolist() == pytest.approx(indices, rel=1e-12)
    assert [kept_of(state, arm) for arm in range(plain.n)] == [plain.kept.get(arm) for arm in range(plain.n)]
    assert state.pulls.tolist() == [len(rewards) for rewards in plain.rewards]
    assert state.table.sets[0] == len(plain.sets)
    doubt = state.doubt
    assert doubt.largest[0] == pytest.approx(plain.largest())
    assert doubt.share[0] == pytest.approx(plain.share(), **ROUNDING)
    assert doubt.evidence[0] == pytest.approx(plain.evidence, **ROUNDING)
    if math.isfinite(plain.threshold):
        assert doubt.evidence[1] == pytest.approx(plain.threshold)
    assert doubt.deviation[0] == pytest.approx(plain.deviation, **ROUNDING)
    assert doubt.variance.tolist() == pytest.approx([plain.variance, plain.least_variance], **ROUNDING)


def learn_both(policy: Any, state: Any, plain: Any, chosen: Any, rewards: Any, rng: Any) -> None:
    """Learn a round; where rounding decides which set is kept for an arm, the reference takes what the policy has."""
    policy.update(state, chosen, rewards, rng)
    plain.update(chosen.tolist(), rewards.tolist())
    for arm, allowed in plain.tied.items():
        kept = kept_of(state, arm)
        assert kept in allowed
        plain.kept.pop(arm, None)
        if kept is not None:
            plain.kept[arm] = kept


def earn(kind: str, chosen: Any, bound: float, rng: Any) -> Any:
    """In company of each other, arms 0 and 1 earn a lot, and elsewhere next to nothing; the others earn something."""
    values = np.array([0.05, 0.05, *np.linspace(0.6, 0.2, 8)])
    if {0, 1} <= set(chosen.tolist()):
        values = np.array([0.95, 0.95, *np.full(8, 0.5)])
    return draw(kind, chosen, values, bound, rng)


@pytest.mark.parametrize("kind", ["choice", "independent", "amounts"])
@pytest.mark.parametrize(
    ("n", "k", "rounds", "parameters"),
    [
        (4, 2, 500, {}),
        (5, 3, 250, {"alpha": 0.3, "exploration": 5.0, "bound": 2.5}),
        (6, 1, 120, {"bound": 1e-3}),
        (3, 3, 60, {}),
    ],
)
def test_every_round_is_that_of_the_reference(kind: str, n: int, k: int, rounds: int, parameters: Any) -> None:
    policy, rng = RobustUCB(**parameters), generator(n)
    state, plain = policy.init(n, k, 10**6, rng), reference.RobustUCB(n, k, **parameters)
    explored = refuted = 0
    for _ in range(rounds):
        twin = copy.deepcopy(rng)
        chosen = np.array(policy.select(state, rng))
        if k < n and twin.random() < plain.share():
            assert set(chosen.tolist()) == plain.explored(twin)
            assert twin.bit_generator.state == rng.bit_generator.state
            explored += 1
        else:
            assert is_top([plain.index_of(arm) for arm in range(n)], chosen, k)
        learn_both(policy, state, plain, chosen, earn(kind, chosen, policy.bound, rng), rng)
        assert_same(state, plain)
        refuted += plain.refuted
    assert explored > 10 or k == n
    assert refuted > 100 or n != 4 or kind == "amounts"


@pytest.mark.parametrize("kind", ["choice", "independent", "amounts"])
def test_with_many_sets_every_posterior_is_that_of_the_reference(kind: str) -> None:
    """Of 3,060 sets of 4 of 18 arms, played at random; those of arms 0 to 5 often, so that some are known well."""
    policy, rng = RobustUCB(bound=2.0), generator(7)
    state, plain = policy.init(18, 4, 10**6, rng), reference.RobustUCB(18, 4, bound=2.0)
    values = np.linspace(0.9, 0.1, 18)
    for played in range(300):
        chosen = rng.permutation(6 if played % 3 else 18)[:4]
        learn_both(policy, state, plain, chosen, draw(kind, chosen, values, 2.0, rng), rng)
        assert_same(state, plain)
    assert math.comb(18, 4) > FEW_SETS and state.few[0] == 0
    for refuted in (False, True):
        plain.refuted = refuted
        state.doubt.evidence[:] = (9.0, 8.0) if refuted else (7.0, 8.0)
        explore(state, 2.0, rng)  # writes the means
        for arms in itertools.combinations(range(8), 4):
            recorder, slot = Recorder(), find_slot(state.table, code_of(state.table, np.array(arms)))
            draw_total(state, np.array(arms), slot, 2.0, -math.inf, recorder)  # type: ignore[arg-type]
            assert recorder.laws[0] == pytest.approx(plain.posterior(frozenset(arms)), rel=1e-8)


def test_the_index_is_close_to_the_least_bound_over_all_sets_and_never_below_it() -> None:
    """One set is kept for every arm: that costs little, though it can cost something."""
    policy, rng = RobustUCB(), generator(3)
    state, plain = policy.init(6, 3, 10**6, rng), reference.RobustUCB(6, 3)
    above = []
    for _ in range(1500):
        chosen = np.array(policy.select(state, rng))
        learn_both(policy, state, plain, chosen, draw("choice", chosen, np.linspace(0.9, 0.4, 6), 1.0, rng), rng)
        if plain.rounds % 25 == 0:
            above += [state.indices[arm] - plain.least_of(arm) for arm in range(6)]
    assert min(above) > -1e-12 and 0 < np.mean(np.array(above) > 1e-9) < 0.5
    assert np.mean(above) < 0.01 and max(above) < 0.1


# Whatever the feedback.


def small(state: Any, slots: int) -> Any:
    """The state with a table of so few slots that sets have to give way."""
    table = state.table
    by_slot = ("taken", "arms", "rewards", "plays", "totals", "squares")
    parts = {name: getattr(table, name) for name in SetTable._fields}
    return state._replace(
        table=SetTable(**{key: v[:slots].copy() if key in by_slot else v for key, v in parts.items()})
    )


def assert_right(policy: Any, state: Any) -> None:
    """That indices follow from what the table has, and that everything is finite and in its range."""
    for arm in np.flatnonzero(state.pulls):
        level, slot = state.level[0], state.company[arm]
        index = upper_bound(state.reward[arm] / policy.bound, state.pulls[arm], level)
        if slot != NO_SET:
            place = state.table.arms[slot].tolist().index(arm)
            index = min(
                index, upper_bound(state.table.rewards[slot, place] / policy.bound, state.table.plays[slot], level)
            )
        assert state.indices[arm] == policy.bound * index and 0 <= index <= 1
    assert np.isinf(state.indices[state.pulls == 0]).all()
    doubt = state.doubt
    assert doubt.evidence[0] >= 0 and 0 <= doubt.share[0] <= 1
    assert 0 < doubt.variance[1] <= doubt.variance[0] and doubt.largest[0] >= policy.bound
    for array in (*doubt, *state.table, state.pulls, state.reward, state.level):
        assert np.isfinite(array).all()


@given(
    size=st.sampled_from([(5, 2), (6, 3), (4, 4), (6, 1), (12, 6), (FEW_ARMS + 3, 3)]),
    kind=st.sampled_from(["choice", "independent", "amounts"]),
    bound=st.sampled_from([1.0, 10.0, 1e-6, 1e6]),
    alpha=st.sampled_from([1.0, 0.01, 5.0]),
    exploration=st.sampled_from([20.0, 0.0, 1e9]),
    least=st.sampled_from([0.0, 0.5, 1.0]),
    slots=st.sampled_from([WINDOW, 64]),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=60)
def test_whatever_is_earned_it_plays_k_arms_and_all_it_knows_is_in_range(
    size: Any, kind: str, bound: float, alpha: float, exploration: float, least: float, slots: int, seed: int
) -> None:
    """Values of 0 and of 1 are among these: arms that never earn anything, and arms that always do."""
    n, k = size
    policy, rng = RobustUCB(alpha, exploration, bound), generator(seed)
    state = small(policy.init(n, k, 10**6, rng), slots)
    values = np.clip(rng.random(n) * 2 - 1 + least, 0, 1)
    for _ in range(60 + n // k):
        before = [array.copy() for array in arrays(state.table)]
        chosen = policy.select(state, rng)
        assert len(set(chosen.tolist())) == len(chosen) == k and chosen.min() >= 0 and chosen.max() < n
        assert all(np.array_equal(one, other) for one, other in zip(before, arrays(state.table), strict=True))
        again = chosen.copy()
        policy.update(state, chosen, draw(kind, chosen, values, bound, rng), rng)
        assert np.array_equal(chosen, again)  # the game reads the set after the update
        assert_right(policy, state)


@given(seed=st.integers(0, 10**6), size=st.sampled_from([(5, 2), (7, 3), (14, 5)]))
@settings(max_examples=15)
def test_select_learns_nothing_and_the_order_of_a_set_does_not_matter(seed: int, size: Any) -> None:
    n, k = size
    policy, rng = RobustUCB(), generator(seed)
    state = small(policy.init(n, k, 10**6, rng), 64)
    other, values = copy.deepcopy(state), rng.random(n)
    for played in range(80):
        chosen = np.array(policy.select(state, generator(played)))
        policy.select(state, generator(played + 1))
        assert set(policy.select(state, generator(played)).tolist()) == set(chosen.tolist())
        if state.few[0] == 1:  # of many sets, which neighbours are looked at depends on it
            assert set(policy.select(other, generator(played)).tolist()) == set(chosen.tolist())
        rewards, order = draw("amounts", chosen, values, 0.5, rng), rng.permutation(k)
        policy.update(state, chosen, rewards, rng)
        policy.update(other, chosen[order], rewards[order], rng)
        assert np.allclose(state.indices, other.indices, rtol=1e-12)
        assert np.allclose(state.doubt.evidence, other.doubt.evidence, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["choice", "independent", "amounts"])
@pytest.mark.parametrize("unit", [0.25, 8.0, 10.0])
def test_another_unit_of_rewards_changes_nothing(kind: str, unit: float) -> None:
    """To the last bit for powers of two, which do not round; up to rounding for others."""
    one, other, rng = RobustUCB(), RobustUCB(bound=unit), generator(11)
    state, scaled = (policy.init(5, 2, 10**6, rng) for policy in (one, other))
    exact = unit != 10.0
    for played in range(400):
        chosen = np.array(one.select(state, generator(played)))
        assert not exact or chosen.tolist() == other.select(scaled, generator(played)).tolist()
        rewards = earn(kind, chosen, 1.0, rng)
        one.update(state, chosen, rewards, rng)
        other.update(scaled, chosen, unit * rewards, rng)
    ratio = 0.0 if exact else 1e-7
    assert np.allclose(scaled.indices, unit * state.indices, ratio, 0)
    assert np.allclose(scaled.doubt.evidence, state.doubt.evidence, ratio, 0)
    assert np.allclose(scaled.doubt.variance, unit**2 * state.doubt.variance, ratio, 0)
    assert np.allclose(scaled.doubt.deviation, unit * state.doubt.deviation, ratio, 0)
    assert np.allclose(scaled.doubt.share, state.doubt.share, ratio, 0)
    assert state.doubt.evidence[0] > 0 or kind != "choice"
