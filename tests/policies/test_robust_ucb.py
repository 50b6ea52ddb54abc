"""Robust UCB: values by hand, a plain reference step by step, and what holds whatever the feedback."""

import copy
import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import robust_ucb as reference
from reference.index_policies import divergence_index, is_top
from robust import (
    KINDS,
    Recorder,
    arrays,
    assert_right,
    assert_same,
    draw,
    draw_apart,
    draw_together,
    learn_both,
    small,
)
from seeded import generator
from setwise import RobustUCB
from setwise.kernels.ranking import FEW_ARMS
from setwise.kernels.set_table import FEW_SETS, NO_SET, WINDOW, code_of, find_slot
from setwise.policies._doubt import HANDFUL, REFUTED, least_bounds
from setwise.policies._explore import draw_total, explore
from setwise.policies.robust_ucb import drop_idle, share_rounds

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


def chances(n: int, k: int, rounds: int, evidence: float, threshold: float, exploration: float = 20.0) -> Any:
    """The chances to explore and to explore every set alone, after these rounds and at this evidence."""
    state = RobustUCB().init(n, k, 100, generator())
    state.rounds[0] = rounds
    state.doubt.evidence[:] = (evidence, threshold)
    share_rounds(state, exploration)
    return state.share.tolist()


@pytest.mark.parametrize(
    ("evidence", "times"),
    [(0.0, 1.0), (3.0, 1.0), (4.0, math.e), (6.9, math.exp(3.9)), (7.9, math.exp(4.0))],
)
@pytest.mark.parametrize(("n", "k"), [(9, 4), (65, 1), (30, 5)])
def test_the_chance_to_explore_grows_with_the_evidence_up_to_refutation(
    n: int, k: int, evidence: float, times: float
) -> None:
    """20/3 of 10^6 to the -2/3 is 1/1500; the threshold of 8 is 5 above the evidence from which on doubt grows."""
    assert chances(n, k, 10**6, evidence, REFUTED + 3.0) == pytest.approx([times / 1500, 0.0])
    assert chances(n, k, 10, evidence, REFUTED + 3.0) == [1.0, 0.0]  # 20/3 of 10 to the -2/3 is 1.44


@pytest.mark.parametrize(
    ("evidence", "times"), [(0.0, 1.0), (0.5, math.e), (2.9, math.exp(5.8)), (3.0, math.exp(6.0)), (7.9, math.exp(6.0))]
)
@pytest.mark.parametrize(("n", "k"), [(4, 2), (64, 1), (8, 5)])
def test_with_a_handful_of_sets_doubt_is_twice_the_evidence_up_to_six(
    n: int, k: int, evidence: float, times: float
) -> None:
    """It does not matter how far the threshold is; 20/3 of 10^6 to the -2/3 is 1/1500."""
    assert math.comb(n, k) <= HANDFUL
    for threshold in (8.0, 9.0):
        assert chances(n, k, 10**6, evidence, threshold) == pytest.approx([times / 1500, 0.0])


@pytest.mark.parametrize(("n", "k"), [(4, 2), (64, 1), (8, 5)])
def test_the_first_eight_rounds_of_each_of_a_handful_of_sets_explore_alone(n: int, k: int) -> None:
    """After 8 rounds for each of 6 sets, 20/3 of 48 to the -2/3 is 20/3 / 13.21 = 0.505."""
    rounds = 8 * math.comb(n, k)
    for exploration in (0.0, 20.0):
        assert chances(n, k, 1, 0.0, 8.0, exploration) == [1.0, 1.0]
        assert chances(n, k, rounds - 1, 0.0, 8.0, exploration) == [1.0, 1.0]
        assert chances(n, k, rounds, 0.0, 8.0, exploration) == pytest.approx([exploration / 3 / rounds ** (2 / 3), 0.0])
    assert n != 4 or chances(n, k, rounds, 0.0, 8.0)[0] == pytest.approx(0.505, abs=1e-3)


@pytest.mark.parametrize(("n", "k"), [(65, 1), (9, 4), (30, 5)])
def test_more_sets_are_never_explored_alone_before_refutation(n: int, k: int) -> None:
    assert chances(n, k, 1, 0.0, 8.0, 0.0) == [0.0, 0.0]


@pytest.mark.parametrize(("n", "k"), [(4, 2), (9, 4), (30, 5)])
def test_once_refuted_every_round_explores_alone(n: int, k: int) -> None:
    for exploration in (0.0, 20.0):
        assert chances(n, k, 10**6, 8.0, 8.0, exploration) == [1.0, 1.0]


@pytest.mark.parametrize(("plays", "mean", "bound"), [(7, 100 / 107, None), (8, 0.0, 1 - math.exp(-1) * 2 ** (-1 / 8))])
def test_evidence_takes_the_lowest_bound_from_sets_of_eight_plays_on(plays: int, mean: float, bound: Any) -> None:
    """Arm 0 earned 1 in 100 rounds beside arm 2, and 0 beside arm 1; f = 8 + log 2 for two sets."""
    policy, rng = RobustUCB(), generator()
    state = policy.init(3, 2, 1000, rng)
    for _ in range(100):
        policy.update(state, np.array([0, 2]), np.array([1.0, 0.0]), rng)
    for _ in range(plays):
        policy.update(state, np.array([0, 1]), np.zeros(2), rng)
    least_bounds(state.doubt, state.table, state.current, state.pulls, state.reward, 1.0)
    wanted = divergence_index(mean, 107, 8.0) if bound is None else bound
    assert (state.doubt.means[0], state.doubt.bounds[0]) == pytest.approx((mean, wanted))


def test_arms_that_are_left_out_have_no_bound_in_the_test_whatever_their_sets_earned() -> None:
    """Arm 0 earned 1 in 20 rounds beside arm 1; left out, it has none, like arm 2, which was never played."""
    policy, rng = RobustUCB(), generator()
    state = policy.init(3, 2, 1000, rng)
    for _ in range(20):
        policy.update(state, np.array([0, 1]), np.array([1.0, 0.0]), rng)
    assert state.current.tolist() == [True, True, False]
    state.current[0] = False
    least_bounds(state.doubt, state.table, state.current, state.pulls, state.reward, 1.0)
    # 20 kl(0, q) = 8 where log(1 - q) = -2/5; in a set, where 20 kl has to reach 8 + log 1, it is the same.
    assert state.doubt.means.tolist() == [0.0, 0.0, 0.0]
    assert state.doubt.bounds.tolist() == pytest.approx([0.0, 1 - math.exp(-2 / 5), 0.0])


def known(totals: list[float], largest: float, refuted: bool = False, n: int = 12) -> Any:
    """A state in which arms 0 and 1 have means of 1/4 and were played together, with a variance of 1/20.

    Of 12 arms there are 66 sets of two, more than a handful.
    """
    state = RobustUCB().init(n, 2, 100, generator())
    for total in totals:
        RobustUCB().update(state, np.array([1, 0]), np.array([total / 2, total / 2]), generator())
    state.doubt.means[:] = 0.25
    state.doubt.largest[0] = largest
    state.doubt.deviation[0] = 0.0
    state.doubt.variance[:] = 0.05
    state.doubt.evidence[:] = (9.0, 8.0) if refuted else (7.0, 8.0)
    return state


def law(state: Any, alone: bool) -> tuple[float, float]:
    """The parameters of the Beta law of arms 0 and 1."""
    rng, arms = Recorder(), np.array([0, 1])
    slot = find_slot(state.table, code_of(state.table, arms))
    draw_total(state, arms, slot, 1.0, -math.inf, alone, rng)
    return rng.laws[0]


@pytest.mark.parametrize(
    ("totals", "largest", "alone", "wanted"),
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
def test_the_posterior_is_that_by_hand(totals: list[float], largest: float, alone: bool, wanted: Any) -> None:
    assert law(known(totals, largest), alone) == pytest.approx(wanted)
    assert not alone or law(known(totals, largest, refuted=True), alone) == pytest.approx(wanted)


def test_the_prior_of_a_handful_of_sets_counts_for_five_rounds_at_most() -> None:
    """The variance of 1/20 and m = 1/4 of M = 2 would give 14; with m = 1/2 of M = 1 it is 4 for both."""
    assert law(known([], 2.0, n=11), False) == pytest.approx((5 / 4, 15 / 4))
    assert law(known([2.0, 2.0, 0.0], 2.0, n=11), False) == pytest.approx((5 / 4 + 2, 15 / 4 + 1))
    assert law(known([], 1.0, n=11), False) == pytest.approx((2.0, 2.0))
    assert law(known([], 2.0, n=11), True) == pytest.approx((1 / 2, 3 / 2))
    least = known([], 2.0)
    least.doubt.variance[:] = 1e-5
    assert law(least, False) == pytest.approx((500.0, 1500.0))  # for others, 2,000


def test_a_set_far_below_the_largest_draw_is_not_drawn() -> None:
    """Beta(2, 2) has the mean 1/2 and the variance 1/20, so that four standard deviations reach 1/2 + 4/sqrt(20)."""
    state, rng = known([], 1.0), Recorder()
    for best, drawn in ((1.39, True), (1.40, False)):
        rng.laws.clear()
        draw_total(state, np.array([0, 1]), NO_SET, 1.0, best, False, rng)
        assert bool(rng.laws) is drawn


@pytest.mark.parametrize(("n", "alone"), [(11, False), (11, True), (12, True)])
def test_of_a_handful_or_alone_a_set_is_not_drawn_if_its_draw_exceeds_the_largest_with_hardly_any_chance(
    n: int, alone: bool
) -> None:
    """78 coins, half of them heads, and a prior of 2 or of 4 rounds: Beta(40, 40) or Beta(41, 41).

    Its draws exceed q with a chance of exp(-80 kl(1/2, q)) at most, and kl(1/2, q) = -log(4 q (1 - q)) / 2 is 1/2 where
    4 q (1 - q) = 1/e, q = (1 + sqrt(1 - 1/e)) / 2 = 0.897. With 82 in place of 80, kl = 40/82 and q = 0.895. Four
    standard deviations would only reach 1/2 + 4 / (2 sqrt(81)) = 0.72.
    """
    state = known([1.0, 0.0] * 39, 1.0, n=n)
    rounds = 80 if alone else 82
    border = (1 + math.sqrt(1 - math.exp(-80 / rounds))) / 2
    slot, rng = find_slot(state.table, code_of(state.table, np.array([0, 1]))), Recorder()
    for best, drawn in ((0.72, True), (border - 1e-9, True), (border + 1e-9, False), (1.0, False)):
        rng.laws.clear()
        found = draw_total(state, np.array([0, 1]), slot, 1.0, best, alone, rng)
        assert bool(rng.laws) is drawn and (drawn or found == -math.inf)


# Arms that are out of reach.


def idle_state(indices: list[float], last: list[int], rounds: int = 100) -> Any:
    """A state of sets of two arms of these indices, last played in these rounds, of 100."""
    state = RobustUCB().init(len(indices), 2, 100, generator())
    state.indices[:], state.last[:], state.rounds[0] = indices, last, rounds
    state.pulls[:], state.current[:] = 10.0, True
    return state


@pytest.mark.parametrize(
    ("indices", "last", "current"),
    [
        ([0.9, 0.8, 0.3, 0.7], [70, 100, 100, 70], [False, True, True, False]),  # above 0.3
        ([0.9, 0.8, 0.3, 0.2], [70, 100, 100, 70], [False, True, True, True]),  # 0.2 is not
        ([0.9, 0.8, 0.3, 0.3], [70, 100, 100, 70], [False, True, True, True]),  # nor is a tie
        ([0.9, 0.8, 0.3, 0.7], [71, 100, 100, 72], [False, True, True, True]),  # idle for 29 rounds, and for 28
        ([0.75, 0.8, 0.3, 0.77], [70, 100, 100, 90], [True, True, True, True]),  # 0.77 is the second of the others
    ],
)
def test_idle_arms_are_left_out_if_their_index_is_above_one_that_is_played(
    indices: list[float], last: list[int], current: list[bool]
) -> None:
    """An arm of four is idle if it was not played in the last 25 + 4 of 100 rounds."""
    state = idle_state(indices, last)
    drop_idle(state)
    assert state.current.tolist() == current


def test_no_further_arm_is_left_out_while_every_round_explores() -> None:
    state = idle_state([0.9, 0.8, 0.3, 0.7], [10, 100, 100, 10])
    state.current[3] = False
    state.share[0] = 1.0
    drop_idle(state)
    assert state.current.tolist() == [True, True, True, False]


def test_an_arm_that_is_played_counts_again() -> None:
    policy, rng = RobustUCB(), generator()
    state = idle_state([0.9, 0.8, 0.3, 0.7], [10, 100, 100, 10])
    drop_idle(state)
    policy.update(state, np.array([3, 1]), np.zeros(2), rng)
    assert state.current.tolist() == [False, True, True, True]
    assert state.last.tolist() == [10, 101, 100, 101]


# The set that is recommended.


@pytest.mark.parametrize(("n", "unit"), [(4, 1.0), (4, 10.0), (12, 1.0)])
def test_where_every_round_explores_the_set_of_largest_mean_after_one_more_play_of_a_quarter_is_recommended(
    n: int, unit: float
) -> None:
    """Arms 0 and 1 earned 7 in 10 rounds, (7 + 1/4) / 11 = 0.659; arms 0 and 2 earned 1 in one, (1 + 1/4) / 2 = 0.625.

    Arms 1 and 2 earned 3 in 10; arms 2 and 3 were never played together.
    """
    policy, rng = RobustUCB(bound=unit), generator()
    state = policy.init(n, 2, 100, rng)
    for arms, plays, earned in (((1, 0), 10, 7), ((0, 2), 1, 1), ((2, 1), 10, 3), ((0, 3), 5, 0)):
        for played in range(plays):
            policy.update(state, np.array(arms), np.array([unit * float(played < earned), 0.0]), rng)
    every = np.ones(n, np.bool_)
    state.doubt.evidence[:] = (7.9, 8.0)
    for share in ((0.99, 0.0), (1.0, 1.0)):  # nor while every set is explored alone
        state.share[:] = share
        assert policy.recommend(state, every).tolist() == []
    state.share[:] = (1.0, 0.0)
    before = copy.deepcopy(state)
    for missing, wanted in ((3, {0, 1}), (1, {0, 2}), (0, {1, 2}), (2, {0, 1})):
        assert set(policy.recommend(state, np.arange(n) != missing).tolist()) == wanted
    assert set(policy.recommend(state, every).tolist()) == {0, 1}
    assert policy.recommend(state, np.arange(n) > 1).tolist() == []  # none of these was played
    assert all(np.array_equal(one, other) for one, other in zip(arrays(state), arrays(before), strict=True))
    policy.recommend(state, every)[:] = 3
    assert set(policy.recommend(state, every).tolist()) == {0, 1}  # it is no view of the table


# The reference.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n", "k", "rounds", "parameters"),
    [
        (4, 2, 500, {}),
        (5, 3, 250, {"alpha": 0.3, "exploration": 5.0, "bound": 2.5}),
        (6, 1, 120, {"bound": 1e-3}),
        (3, 3, 60, {}),
        (9, 4, 70, {"exploration": 3.0}),  # 126 sets
    ],
)
def test_every_round_is_that_of_the_reference(kind: str, n: int, k: int, rounds: int, parameters: Any) -> None:
    """One random number decides how the round is played: by arms, by sets, or by sets alone."""
    policy, rng = RobustUCB(**parameters), generator(n)
    state, plain = policy.init(n, k, 10**6, rng), reference.RobustUCB(n, k, **parameters)
    ways: Counter[str] = Counter()
    for _ in range(rounds):
        twin = copy.deepcopy(rng)
        chosen = np.array(policy.select(state, rng))
        way = plain.way(twin)
        if way == "arms":
            assert is_top([plain.index_of(arm) for arm in range(n)], chosen, k)
        else:
            assert set(chosen.tolist()) == plain.explored(twin, way == "sets alone")
            assert twin.bit_generator.state == rng.bit_generator.state
        ways[way] += 1
        learn_both(policy, state, plain, chosen, draw_together(kind, chosen, policy.bound, rng), rng)
        assert_same(state, plain)
    first = -(-n // k)  # rounds, in which every arm is played
    if k == n:
        assert ways == {"arms": rounds}
    else:
        assert ways["sets alone"] == (8 * math.comb(n, k) - first if n < 9 else 0)
        assert ways["arms"] > first and ways["sets"] > 0


@pytest.mark.parametrize("kind", ["choice", "independent"])
@pytest.mark.parametrize(("n", "k"), [(4, 2), (9, 4)])
def test_every_round_is_that_of_the_reference_also_once_refuted(kind: str, n: int, k: int) -> None:
    """The first k arms earn 0.95 each, and all arms 0.05 in other company: 150 rounds of random sets show it."""
    policy, rng = RobustUCB(), generator(n)
    state, plain = policy.init(n, k, 10**6, rng), reference.RobustUCB(n, k)
    refuted = 0
    for played in range(200):
        chosen = rng.permutation(n if played < 20 else k + 1)[:k]
        if played >= 150:
            twin = copy.deepcopy(rng)
            chosen = np.array(policy.select(state, rng))
            if plain.refuted:
                assert plain.way(twin) == "sets alone"
                assert set(chosen.tolist()) == plain.explored(twin, False)
                assert twin.bit_generator.state == rng.bit_generator.state
                refuted += 1
        values = np.full(n, 0.95 if set(chosen.tolist()) == set(range(k)) else 0.05)
        learn_both(policy, state, plain, chosen, draw(kind, chosen, values, 1.0, rng), rng)
        assert_same(state, plain)
        for missing in (0, n - 1, n):
            found = policy.recommend(state, np.arange(n) != missing).tolist()
            assert frozenset(found) in plain.recommended([arm for arm in range(n) if arm != missing])
    assert refuted > 40


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
        explore(state, 2.0, False, rng)  # writes the means
        for arms in itertools.combinations(range(8), 4):
            recorder, slot = Recorder(), find_slot(state.table, code_of(state.table, np.array(arms)))
            draw_total(state, np.array(arms), slot, 2.0, -math.inf, False, recorder)
            assert recorder.laws[0] == pytest.approx(plain.posterior(frozenset(arms)), rel=1e-8)


def test_the_index_is_close_to_the_least_bound_over_all_sets_and_never_below_it() -> None:
    """One set is kept for every arm: that costs little, though it can cost something; half of the play is random."""
    policy, rng = RobustUCB(), generator(3)
    state, plain = policy.init(6, 3, 10**6, rng), reference.RobustUCB(6, 3)
    above = []
    for _ in range(1500):
        chosen = np.array(policy.select(state, rng)) if rng.random() < 0.5 else rng.permutation(6)[:3]
        learn_both(policy, state, plain, chosen, draw_apart("choice", chosen, 6, rng), rng)
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
        if state.few[0] != 0:  # of many sets, which neighbours are looked at depends on it
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
    assert np.allclose(scaled.share, state.share, ratio, 0)
    assert state.doubt.evidence[0] > 0 or kind != "choice"
