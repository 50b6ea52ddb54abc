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
from reference.index_policies import divergence_index, is_top
from robust import KINDS, Recorder, arrays, assert_right, assert_same, draw, draw_together, learn_both, small
from seeded import generator
from setwise import RobustUCB
from setwise.kernels.ranking import FEW_ARMS
from setwise.kernels.set_table import FEW_SETS, NO_SET, WINDOW, code_of, find_slot
from setwise.policies._doubt import REFUTED, least_bounds
from setwise.policies._explore import draw_total, explore
from setwise.policies.robust_ucb import share_of_sets

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
    ("evidence", "times"),
    [(0.0, 1.0), (3.0, 1.0), (4.0, math.e), (6.9, math.exp(3.9)), (7.9, math.exp(4.0)), (8.0, 1500.0)],
)
def test_the_chance_to_explore_grows_with_the_evidence_up_to_refutation(evidence: float, times: float) -> None:
    """20/3 of 10^6 to the -2/3 is 1/1500; the threshold of 8 is 5 above the evidence from which on doubt grows."""
    assert share_of_sets(10**6, 20.0, np.array([evidence, REFUTED + 3.0])) == pytest.approx(times / 1500)


@pytest.mark.parametrize(("plays", "mean", "bound"), [(7, 100 / 107, None), (8, 0.0, 1 - math.exp(-1) * 2 ** (-1 / 8))])
def test_evidence_takes_the_lowest_bound_from_sets_of_eight_plays_on(plays: int, mean: float, bound: Any) -> None:
    """Arm 0 earned 1 in 100 rounds beside arm 2, and 0 beside arm 1; f = 8 + log 2 for two sets."""
    policy, rng = RobustUCB(), generator()
    state = policy.init(3, 2, 1000, rng)
    for _ in range(100):
        policy.update(state, np.array([0, 2]), np.array([1.0, 0.0]), rng)
    for _ in range(plays):
        policy.update(state, np.array([0, 1]), np.zeros(2), rng)
    least_bounds(state.doubt, state.table, state.pulls, state.reward, 1.0)
    wanted = divergence_index(mean, 107, 8.0) if bound is None else bound
    assert (state.doubt.means[0], state.doubt.bounds[0]) == pytest.approx((mean, wanted))


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
    draw_total(state, arms, find_slot(state.table, code_of(state.table, arms)), 1.0, -math.inf, rng)
    assert rng.laws[0] == pytest.approx(wanted)


def test_a_set_far_below_the_largest_draw_is_not_drawn() -> None:
    """Beta(2, 2) has the mean 1/2 and the variance 1/20, so that four standard deviations reach 1/2 + 4/sqrt(20)."""
    state, rng = known([], 1.0), Recorder()
    for best, drawn in ((1.39, True), (1.40, False)):
        rng.laws.clear()
        draw_total(state, np.array([0, 1]), NO_SET, 1.0, best, rng)
        assert bool(rng.laws) is drawn


# The reference.


@pytest.mark.parametrize("kind", KINDS)
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
        learn_both(policy, state, plain, chosen, draw_together(kind, chosen, policy.bound, rng), rng)
        assert_same(state, plain)
        refuted += plain.refuted
    assert explored > 10 or k == n
    assert refuted > 100 or n != 4 or kind == "amounts"


@pytest.mark.parametrize("kind", KINDS)
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
            draw_total(state, np.array(arms), slot, 2.0, -math.inf, recorder)
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


@given(
    size=st.sampled_from([(5, 2), (6, 3), (4, 4), (6, 1), (12, 6), (FEW_ARMS + 3, 3)]),
    kind=st.sampled_from(KINDS),
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", [0.25, 8.0, 10.0])
def test_another_unit_of_rewards_changes_nothing(kind: str, unit: float) -> None:
    """To the last bit for powers of two, which do not round; up to rounding for others."""
    one, other, rng = RobustUCB(), RobustUCB(bound=unit), generator(11)
    state, scaled = (policy.init(5, 2, 10**6, rng) for policy in (one, other))
    exact = unit != 10.0
    for played in range(400):
        chosen = np.array(one.select(state, generator(played)))
        assert not exact or chosen.tolist() == other.select(scaled, generator(played)).tolist()
        rewards = draw_together(kind, chosen, 1.0, rng)
        one.update(state, chosen, rewards, rng)
        other.update(scaled, chosen, unit * rewards, rng)
    ratio = 0.0 if exact else 1e-7
    assert np.allclose(scaled.indices, unit * state.indices, ratio, 0)
    assert np.allclose(scaled.doubt.evidence, state.doubt.evidence, ratio, 0)
    assert np.allclose(scaled.doubt.variance, unit**2 * state.doubt.variance, ratio, 0)
    assert np.allclose(scaled.doubt.deviation, unit * state.doubt.deviation, ratio, 0)
    assert np.allclose(scaled.doubt.share, state.doubt.share, ratio, 0)
    assert state.doubt.evidence[0] > 0 or kind != "choice"
