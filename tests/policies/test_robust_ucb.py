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
from scipy import stats

from reference import robust_ucb as reference
from reference.index_policies import divergence_index
from robust import (
    KINDS,
    arrays,
    assert_right,
    assert_same,
    choose_both,
    draw,
    draw_apart,
    draw_together,
    kept_of,
    learn_both,
    small,
)
from seeded import generator
from setwise import RobustUCB
from setwise.kernels.ranking import FEW_ARMS
from setwise.kernels.set_table import FEW_SETS, WINDOW, code_of, find_slot
from setwise.policies._budget import is_scattered, share_rounds
from setwise.policies._doubt import HANDFUL, REFUTED, assess, least_bounds, pool
from setwise.policies._explore import challenger, explore, largest_draw, learn_posterior, likeliest, mean_loss
from setwise.policies.robust_ucb import drop_idle

# Values worked out by hand.


def test_the_index_is_the_lowest_bound_in_any_company() -> None:
    """Arm 0 earned 1 beside arm 1 and nothing beside arm 2; after two and three rounds t' k / n is 8/3.

    After 0 of 1 plays f = log 8/3, and the bound is 1 - 3/8. After 1 of 2, f = log 4/3, and it is q with 4 q (1 - q) =
    3/4, q = 3/4. After 2 of 3, f = 0 and it is the mean, below the 3/4 in the company of arm 2.
    """
    policy, rng = RobustUCB(), generator()
    state = policy.init(3, 2, 100, rng)
    policy.update(state, np.array([0, 1]), np.array([1.0, 0.0]), rng)
    policy.update(state, np.array([2, 0]), np.array([0.0, 0.0]), rng)
    assert state.indices.tolist() == pytest.approx([5 / 8, 5 / 8, 5 / 8])
    policy.update(state, np.array([0, 2]), np.array([1.0, 0.0]), rng)
    assert state.indices.tolist() == pytest.approx([2 / 3, 5 / 8, 1 - math.sqrt(3) / 2])


def shares(
    n: int, k: int, rounds: int, evidence: float, threshold: float, exploration: float = 10.0, scattered: bool = False
) -> Any:
    """The chances to explore and to explore every set alone, and both budgets, after these rounds and this evidence."""
    state = RobustUCB().init(n, k, 100, generator())
    state.scattered[0] |= scattered
    state.rounds[0] = rounds
    state.doubt.evidence[:] = (evidence, threshold)
    share_rounds(state, exploration)
    return [*state.share.tolist(), *state.budget.tolist()]


@pytest.mark.parametrize(
    ("evidence", "times"),
    [(0.0, 1.0), (3.0, 1.0), (4.0, math.e), (6.9, math.exp(3.9)), (7.9, math.exp(4.0))],
)
@pytest.mark.parametrize(("n", "k", "often"), [(9, 4, 20), (65, 1, 20), (30, 5, 5)])
def test_the_chance_to_explore_and_what_it_may_cost_grow_with_the_evidence_up_to_refutation(
    n: int, k: int, often: float, evidence: float, times: float
) -> None:
    """The threshold of 8 is 5 above the evidence from which on doubt grows. Challengers have 0.8 of 10 in any doubt."""
    wanted = [min(1, often * times / 1000), 0.0, 8e-6, times / 10**5]
    assert shares(n, k, 10**6, evidence, REFUTED + 3.0) == pytest.approx(wanted)
    assert shares(n, k, 16, evidence, REFUTED + 3.0) == pytest.approx([1.0, 0.0, 8 / 16, times * 10 / 16])
    assert shares(n, k, 10**6, evidence, REFUTED + 3.0, 0.0) == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("evidence", "times"), [(0.0, 1.0), (0.5, math.e), (2.9, math.exp(5.8)), (3.0, math.exp(6.0)), (7.9, math.exp(6.0))]
)
@pytest.mark.parametrize(("n", "k"), [(4, 2), (64, 1), (8, 5)])
def test_with_a_handful_of_sets_doubt_is_twice_the_evidence_up_to_six(
    n: int, k: int, evidence: float, times: float
) -> None:
    """It does not matter how far the threshold is."""
    assert math.comb(n, k) <= HANDFUL
    for threshold in (8.0, 9.0):
        wanted = [min(1, 50 * times / 10**4), 0.0, 8e-8, times / 10**7]
        assert shares(n, k, 10**8, evidence, threshold) == pytest.approx(wanted)


@pytest.mark.parametrize(("n", "k"), [(4, 2), (64, 1), (8, 5)])
def test_the_first_sixteen_rounds_for_each_of_a_handful_of_sets_explore_alone(n: int, k: int) -> None:
    rounds = 16 * math.comb(n, k)
    for exploration in (0.0, 10.0):
        assert shares(n, k, 1, 0.0, 8.0, exploration) == [1.0, 1.0, 0.0, math.inf]
        assert shares(n, k, rounds - 1, 0.0, 8.0, exploration) == [1.0, 1.0, 0.0, math.inf]
        wanted = [float(exploration > 0), 0.0, 0.8 * exploration / rounds, exploration / rounds]
        assert shares(n, k, rounds, 0.0, 8.0, exploration) == pytest.approx(wanted)


@pytest.mark.parametrize(("n", "k", "more"), [(65, 1, 195 / 64), (9, 4, 378 / 64)])
def test_more_scattered_sets_are_explored_like_a_handful_for_three_times_as_much_for_each_64(
    n: int, k: int, more: float
) -> None:
    rounds = 16 * math.comb(n, k)
    assert shares(n, k, rounds - 1, 0.0, 8.0, scattered=True) == [1.0, 1.0, 0.0, math.inf]
    wanted = [min(1.0, 50 / rounds**0.5), 0.0, 8 * more / rounds, 10 * more / rounds]
    assert shares(n, k, rounds, 0.0, 8.0, scattered=True) == pytest.approx(wanted)
    for evidence, times in ((0.5, math.e), (3.0, math.exp(6.0)), (7.9, math.exp(6.0))):
        wanted = [min(1, 50 * times / 10**4), 0.0, 8e-8 * more, times * more / 10**7]
        assert shares(n, k, 10**8, evidence, 8.0, scattered=True) == pytest.approx(wanted)


def scattered(
    plays: list[int], earned: list[float], variance: float, k: int = 2, n: int = 12, bound: float = 1.0
) -> bool:
    """Whether pairs of n arms are scattered, after so many plays of some of these totals."""
    policy, rng = RobustUCB(bound=bound), generator()
    state = policy.init(n, 2, 100, rng)
    for row, (count, total) in enumerate(zip(plays, earned, strict=True)):
        for played in range(count):
            policy.update(state, np.array([row, row + 1]), np.array([0.0, bound * (played < total)]), rng)
    state.doubt.variance[:] = variance * bound**2
    return is_scattered(state)


def test_sets_are_scattered_if_an_average_one_is_told_from_the_best_in_twelve_rounds_and_the_prior_is_loose() -> None:
    """Two sets earn 0.9 in 98 rounds, by (88 + 1) / 100 = 0.89, and next to nothing in 10.

    L = 0.89 - sqrt(2 x 0.89 x 0.11 log 2 / 98) = 0.85279 and V = 0.12554; with T = 89/108,
    A = ((88 + 4 T) / 102 + (1 + 4 T) / 14) / 2 = 0.60096, so V / (L - A)^2 = 1.979; V / 17 = 0.007385.
    """
    assert scattered([98, 10], [88, 1], 0.00739)
    assert scattered([98, 10], [88, 1], 0.00739, bound=1e-6)
    assert not scattered([98, 10], [88, 1], 0.00738)
    assert not scattered([98, 10], [88, 8], 1.0)  # L - A = 0.0175
    assert not scattered([10, 10], [1, 1], 1.0)  # L < A
    assert not scattered([98, 10], [88, 1], 1.0, n=60)  # 1,770 sets
    assert scattered([1], [0], 0.0, n=11)  # 55 sets


@pytest.mark.parametrize(("n", "k"), [(65, 1), (9, 4), (30, 5)])
def test_more_sets_are_never_explored_alone_before_refutation(n: int, k: int) -> None:
    assert shares(n, k, 1, 0.0, 8.0, 0.0) == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(("n", "k"), [(4, 2), (9, 4), (30, 5)])
def test_once_refuted_every_round_explores_alone(n: int, k: int) -> None:
    for exploration in (0.0, 10.0):
        assert shares(n, k, 10**6, 8.0, 8.0, exploration) == [1.0, 1.0, 0.0, math.inf]


@pytest.mark.parametrize(("plays", "mean", "bound"), [(7, 100 / 107, None), (8, 0.0, 1 - math.exp(-1) * 2 ** (-1 / 8))])
def test_evidence_takes_the_lowest_bound_from_sets_of_eight_plays_on(plays: int, mean: float, bound: Any) -> None:
    """Arm 0 earned 1 in 100 rounds beside arm 2, and 0 beside arm 1; f = 8 + log 2 for two sets."""
    policy, rng = RobustUCB(), generator()
    state = policy.init(3, 2, 1000, rng)
    for _ in range(100):
        policy.update(state, np.array([0, 2]), np.array([1.0, 0.0]), rng)
    for _ in range(plays):
        policy.update(state, np.array([0, 1]), np.zeros(2), rng)
    pool(state.doubt, state.table, state.current, state.pulls, state.reward)
    least_bounds(state.doubt, state.table, state.current, 1.0)
    wanted = divergence_index(mean, 107, 8.0) if bound is None else bound
    assert (state.doubt.means[0], state.doubt.bounds[0]) == pytest.approx((mean, wanted))


def test_arms_that_are_left_out_have_no_bound_in_the_test_nor_do_their_sets_count_for_others() -> None:
    """Arm 0 earned 1 in 20 rounds beside arm 1, and 0 beside arm 2, as arms 1 and 2 did in 5 rounds; arm 3 is new.

    Left out, arm 0 has no bound, and all that counts is what arms 1 and 2 earned with each other.
    """
    policy, rng = RobustUCB(), generator()
    state = policy.init(4, 2, 1000, rng)
    for arms, rounds, rewards in (([0, 1], 20, [1.0, 0.0]), ([2, 0], 20, [1.0, 0.0]), ([1, 2], 5, [0.0, 0.0])):
        for _ in range(rounds):
            policy.update(state, np.array(arms), np.array(rewards), rng)
    assert state.current.tolist() == [True, True, True, False]
    state.current[0] = False
    pool(state.doubt, state.table, state.current, state.pulls, state.reward)
    least_bounds(state.doubt, state.table, state.current, 1.0)
    # 5 kl(0, q) = 8 where log(1 - q) = -8/5; five rounds are too few for a bound in one set.
    assert state.doubt.means.tolist() == [0.0, 0.0, 0.0, 0.0]
    assert state.doubt.bounds.tolist() == pytest.approx([0.0, *[1 - math.exp(-8 / 5)] * 2, 0.0])


def test_of_an_arm_that_only_met_arms_that_are_left_out_nothing_is_known() -> None:
    policy, rng = RobustUCB(), generator()
    state = policy.init(3, 2, 1000, rng)
    for _ in range(20):
        policy.update(state, np.array([0, 1]), np.array([1.0, 0.0]), rng)
    state.current[0] = False
    pool(state.doubt, state.table, state.current, state.pulls, state.reward)
    least_bounds(state.doubt, state.table, state.current, 1.0)
    assert state.doubt.means.tolist() == [0.0, 0.5, 0.0] and state.doubt.bounds.tolist() == [0.0, 1.0, 0.0]


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
    arms = np.array([0, 1])
    learn_posterior(state, arms, find_slot(state.table, code_of(state.table, arms)), 1.0, alone, 0)
    up, down = state.posteriors[0].tolist()
    return up, down


@pytest.mark.parametrize(
    ("totals", "largest", "alone", "wanted"),
    [
        ([], 1.0, False, (2.0, 2.0)),  # m = 1/2 and h = (1/4) / (1/20) - 1 = 4
        ([1.0, 1.0, 0.0], 1.0, False, (4.0, 3.0)),
        ([1.0, 1.0, 0.0], 1.0, True, (3.0, 2.0)),  # h = 2
        # With 1/2 twice, 0, and 2 rounds of a coin of mean 1/2, m' = 2/5, v = 3/10 - 4/25 and (6/25) / v = 12/7.
        ([1.0, 1.0, 0.0], 2.0, True, (19 / 7, 31 / 7)),
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
    assert law(known([], 2.0, n=11), True) == pytest.approx((1.0, 1.0))
    least = known([], 2.0)
    least.doubt.variance[:] = 1e-5
    assert law(least, False) == pytest.approx((500.0, 1500.0))  # for others, 2,000


# Candidates.

LAWS = {  # of all sets
    "close": [(30.0, 70.0), (28.0, 72.0), (3.5, 6.5), (25.0, 75.0)],
    "little known": [(0.4, 1.6), (1.2, 0.8), (2.0, 2.0), (0.04, 1.96), (5.5, 3.2)],
    "far apart": [(900.0, 100.0), (4.0, 2.0), (80.0, 20.0), (0.9, 0.3), (1.0, 1.0), (12.5, 1.5)],
}


def laws_of(name: str) -> Any:
    return np.array(LAWS[name])


@pytest.mark.parametrize("name", LAWS)
def test_the_set_of_largest_draw_has_the_law_of_drawing_all(name: str) -> None:
    """Chi-square at the level 1e-4, against as many draws of all laws; seeds are fixed."""
    laws, draws = laws_of(name), 40_000
    rng, first = generator(1), likeliest(laws, generator())
    assert first == int((laws[:, 0] / laws.sum(axis=1)).argmax())
    found = np.bincount([largest_draw(laws, first, rng)[0] for _ in range(draws)], minlength=len(laws))
    all_drawn = np.random.default_rng(2).beta(*laws.T, (draws, len(laws))).argmax(axis=1)
    wanted = np.bincount(all_drawn, minlength=len(laws))
    often = found + wanted > 20
    assert stats.chi2_contingency([found[often], wanted[often]]).pvalue > 1e-4


def test_the_largest_draw_itself_has_its_law() -> None:
    laws, rng = laws_of("far apart"), generator(3)
    drawn = [largest_draw(laws, likeliest(laws, generator()), rng)[1] for _ in range(20_000)]
    wanted = np.random.default_rng(4).beta(*laws.T, (20_000, len(laws))).max(axis=1)
    assert stats.ks_2samp(drawn, wanted).pvalue > 1e-4


@pytest.mark.parametrize("name", LAWS)
def test_challengers_are_drawn_by_how_likely_they_are_better_and_by_how_little_is_known(name: str) -> None:
    laws, rng, draws = laws_of(name), generator(5), 40_000
    best = likeliest(laws, generator())
    counts = laws.sum(axis=1)
    means = laws[:, 0] / counts
    against = [count * reference.bernoulli_divergence(mean, means[best]) for count, mean in zip(counts, means)]
    weights = np.exp(-np.array(against)) / counts
    weights[best] = 0.0
    found = np.bincount([challenger(laws, best, rng) for _ in range(draws)], minlength=len(laws))
    others = np.arange(len(laws)) != best
    assert found[best] == 0
    assert stats.chisquare(found[others], draws * weights[others] / weights.sum()).pvalue > 1e-4


def test_a_set_of_unlucky_first_rounds_is_challenged_more_often_than_one_that_is_known_well() -> None:
    """exp(-16 kl(1/16, 0.2)) / 16 is 0.018, and 1 / 8000 is 0.000125: 145 to 1 for the set of 16 rounds."""
    laws, rng = np.array([(2000.0, 8000.0), (1600.0, 6400.0), (1.0, 15.0)]), generator(8)
    found = np.bincount([challenger(laws, 0, rng) for _ in range(10_000)], minlength=3)
    assert found[2] / found[1] == pytest.approx(145, rel=0.5)


def test_a_single_candidate_challenges_itself() -> None:
    laws = np.array([(3.0, 4.0)])
    assert (
        likeliest(laws, generator()) == challenger(laws, 0, generator()) == largest_draw(laws, 0, generator())[0] == 0
    )
    assert mean_loss(laws, 0) == 0.0


def test_of_sets_of_equal_means_each_is_best_equally_often() -> None:
    laws, rng = np.array([(3.0, 7.0), (2.0, 9.0), (0.3, 0.7), (30.0, 70.0 + 1e-13)]), generator(7)
    found = np.bincount([likeliest(laws, rng) for _ in range(30_000)], minlength=4)
    assert found[1] == 0 and stats.chisquare(found[[0, 2, 3]]).pvalue > 1e-4


def test_challengers_that_are_all_hopeless_are_still_drawn() -> None:
    """Their chances are about exp(-10^5), of which only the ratio counts, and that is 1."""
    laws = np.array([(5e5, 5e5), (1e5, 3e5), (1e5, 3e5)])
    assert {challenger(laws, 0, generator(seed)) for seed in range(20)} == {1, 2}


def played(place: float, budget: list[float], draws: int = 400) -> Counter[int]:
    """How often each arm is explored, -1 if none: means of 0.6, 0.5, 0.2 in 100 plays, so the mean loss is 0.25."""
    state = RobustUCB().init(3, 1, 100, generator())
    for arm, mean in enumerate((0.6, 0.5, 0.2)):
        for reward in np.arange(100) < 100 * mean:
            RobustUCB().update(state, np.array([arm]), np.array([float(reward)]), generator())
    state.share[:], state.budget[:] = (1.0, 0.0), budget
    rng = generator(6)
    return Counter(int(state.chosen[0]) if explore(state, 1.0, place, rng) else -1 for _ in range(draws))


def test_a_candidate_is_played_if_it_does_not_cost_too_much() -> None:
    """Arm 1 loses about 0.1, so as a challenger 0.4 of the mean loss; as the largest draw, arm 0 loses nothing."""
    assert set(played(0.5, [0.21, 0.0])) <= {1, 2} and played(0.5, [0.21, 0.0])[1] > 390
    assert set(played(0.5, [0.15, 0.0])) == {0, -1}  # the largest draw is mostly that of the best arm
    assert set(played(0.5, [0.0, 0.06])) == {0, 1}
    assert set(played(0.0, [0.0, 0.0])) == {1}  # nothing is too costly
    assert played(1.0, [0.0, 0.0])[-1] == played(1.0, [0.0, 0.03])[-1] > 0


@pytest.mark.parametrize("budget", [[0.05, 0.01], [0.3, 0.005], [0.0, 0.02], [0.9, 0.4]])
def test_a_round_is_expected_to_lose_at_most_both_budgets_by_exploring(budget: list[float]) -> None:
    """By the means of the posteriors; the challengers' budget is in multiples of the mean loss."""
    state = RobustUCB().init(3, 1, 100, generator())
    for arm, mean in enumerate((0.6, 0.5, 0.2)):
        for reward in np.arange(100) < 100 * mean:
            RobustUCB().update(state, np.array([arm]), np.array([float(reward)]), generator())
    chance, rng = 0.4, generator(7)
    state.share[:], state.budget[:] = (chance, 0.0), budget
    explore(state, 1.0, 0.0, rng)
    means = state.posteriors[:3, 0] / state.posteriors[:3].sum(axis=1)
    losses = means.max() - means
    lost = []
    for place in rng.random(20_000):
        explored = place < chance and explore(state, 1.0, place, rng)
        lost.append(losses[state.chosen[0]] if explored else 0.0)
    most = budget[0] * losses[1:].mean() + budget[1]
    assert 0.0 < np.mean(lost) < most + 4.0 * np.std(lost) / len(lost) ** 0.5


def test_draws_that_are_rounded_to_one_are_a_tie() -> None:
    """A quarter of the draws of Beta(1.96, 0.04) are 1, so mostly some are. A right law fails with a chance of 1e-4."""
    rng, laws = generator(9), np.tile([1.96, 0.04], (4, 1))
    found = Counter(largest_draw(laws, int(rng.random() * 4), rng)[0] for _ in range(20_000))
    assert stats.chisquare([found[row] for row in range(4)]).pvalue > 1e-4


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
    drop_idle(state, 1.0)
    assert state.current.tolist() == current


@pytest.mark.parametrize(
    ("share", "evidence", "left_out"),
    [
        ((1.0, 0.0), (0.0, 8.0), False),  # every round explores, without a doubt
        ((1.0, 1.0), (0.0, 8.0), False),  # a handful of sets is explored alone
        ((1.0, 1.0), (9.0, 8.0), False),  # the assumption counts as refuted
        ((1.0, 0.0), (1.0, 8.0), False),  # every round explores for doubt, as far as that is not too costly
        ((0.9, 0.0), (0.0, 8.0), True),
    ],
)
def test_no_further_arm_is_left_out_while_the_index_does_not_decide(share: Any, evidence: Any, left_out: bool) -> None:
    state = idle_state([0.9, 0.8, 0.3, 0.7], [10, 100, 100, 10])
    state.current[3] = False
    state.share[:], state.doubt.evidence[:] = share, evidence
    drop_idle(state, 1.0)
    assert state.current.tolist() == [not left_out, True, True, False]


def test_sets_of_arms_that_are_left_out_are_not_kept_for_other_arms() -> None:
    """Arm 1 earned nothing beside arm 0, and arm 2 nothing beside arm 3, and both a lot elsewhere."""
    policy, rng = RobustUCB(), generator()
    state = policy.init(4, 2, 1000, rng)
    for arms, rewards in (([2, 1], [1.0, 1.0]), ([3, 1], [0.0, 1.0]), ([0, 1], [1.0, 0.0]), ([2, 3], [0.0, 0.0])):
        for _ in range(20):
            policy.update(state, np.array(arms), np.array(rewards), rng)
    assert kept_of(state, 1) == {0, 1} and kept_of(state, 2) == {2, 3}
    assert state.indices[1] == state.company_bound[1] < 0.5
    state.last[:], state.share[:] = (10, 80, 80, 80), (0.5, 0.0)
    drop_idle(state, 1.0)
    assert state.current.tolist() == [False, True, True, True]
    assert kept_of(state, 1) is None and kept_of(state, 2) == {2, 3}
    assert state.indices[1] > 0.5
    assert_right(policy, state)


def test_an_arm_that_is_played_counts_again() -> None:
    policy, rng = RobustUCB(), generator()
    state = idle_state([0.9, 0.8, 0.3, 0.7], [10, 100, 100, 10])
    drop_idle(state, 1.0)
    policy.update(state, np.array([3, 1]), np.zeros(2), rng)
    assert state.current.tolist() == [False, True, True, True]
    assert state.last.tolist() == [10, 101, 100, 101]


# The surest set.


def surer(n: int = 3) -> Any:
    """A state without doubt, in which arms 0 and 1 always earned 1 together, in 200 rounds, and nothing with arm 2.

    The set of both is surest: 200 kl(1, q) = 8 + log 3 where q = exp(-(8 + log 3) / 200), 0.956. Beside arm 2, their
    index is that of no reward in 200 of 600 rounds: 200 kl(0, q) = log(1024 x 2 / (3 x 200)) = 1.23, so q < 0.0062.
    """
    policy, rng = RobustUCB(exploration=0.0), generator()
    state = policy.init(n, 2, 1000, rng)
    for arms, reward in (([1, 0], 1.0), ([0, 2], 0.0), ([2, 1], 0.0)):
        for played in range(200):
            policy.update(state, np.array(arms), np.array([reward * (played % 2), reward * ((played + 1) % 2)]), rng)
    assess(state.doubt, state.table, state.current, state.pulls, state.reward, 1.0)
    assert state.doubt.evidence[0] > state.doubt.evidence[1]
    state.doubt.evidence[:], state.share[:] = (0.0, 9.0), 0.0
    return state


def test_the_surest_set_has_the_largest_lower_bound_at_a_level_that_grows_with_the_sets() -> None:
    state = surer()
    assert set(state.doubt.surest.tolist()) == {0, 1}
    assert state.doubt.sure[0] == pytest.approx(math.exp(-(8 + math.log(3)) / 200))
    state.current[1] = False
    assess(state.doubt, state.table, state.current, state.pulls, state.reward, 1.0)
    assert state.doubt.sure[0] == 0.0  # the other set earned nothing


def test_the_surest_set_is_played_and_recommended_if_it_is_above_the_sum_of_the_largest_indices() -> None:
    state, rng = surer(), generator()
    assert state.indices.max() < 0.0062
    every = np.ones(3, np.bool_)
    for policy in (RobustUCB(), RobustUCB(exploration=0.0)):
        found = [policy.select(state, rng), policy.select_from(state, every, rng), policy.recommend(state, every)]
        assert [set(arms.tolist()) for arms in found] == [{0, 1}] * 3
    assert set(policy.select_from(state, np.arange(3) != 1, rng).tolist()) == {0, 2}
    assert policy.recommend(state, np.arange(3) != 1).tolist() == []
    for highest, wanted in ((state.doubt.sure[0] - 0.3, {1, 2}), (state.doubt.sure[0] - 0.31, {0, 1})):
        state.indices[:] = (0.1, 0.3, highest)
        state.ranking.moved(state.indices, np.arange(2))
        state.ranking.moved(state.indices, np.array([2, 0]))
        assert set(policy.select(state, rng).tolist()) == wanted
        assert (len(policy.recommend(state, every)) > 0) == (wanted == {0, 1})


@pytest.mark.parametrize("k", [9, 11, 20])
def test_shares_of_one_reward_that_add_up_to_a_little_more_are_one_reward(k: int) -> None:
    policy, rng = RobustUCB(), generator()
    state, shares = policy.init(k + 1, k, 100, rng), np.full(k, 1 / k)
    for _ in range(47):
        policy.update(state, np.arange(k), shares, rng)
    assert float(state.table.totals.max()) > 47.0 and state.doubt.largest[0] == 1.0
    assess(state.doubt, state.table, state.current, state.pulls, state.reward, 1.0)
    assert state.doubt.sure[0] == pytest.approx(math.exp(-8 / 47))  # 47 kl(1, q) = 8


def test_a_set_of_arms_that_were_added_is_played_before_the_surest_one() -> None:
    """Their index is infinite; what is surest is kept, and still recommended."""
    policy, rng, state = RobustUCB(exploration=0.0), generator(), surer()
    larger = policy.grow(state, 5, rng)
    assert larger.doubt.sure[0] == state.doubt.sure[0] and larger.doubt.surest.tolist() == state.doubt.surest.tolist()
    assert set(policy.select(larger, rng).tolist()) == {3, 4}
    assert set(policy.recommend(larger, np.ones(5, np.bool_)).tolist()) == {0, 1}


@pytest.mark.parametrize(
    ("sure", "indices", "idle", "left_out"),
    [
        (1.09, [0.2, 0.3, 0.8, 0.7], 3, True),  # 0.8 + 0.3 and 0.7 + 0.8, which would have been played
        (1.51, [0.2, 0.3, 0.8, 0.7], 3, False),  # the surest set would be played all the same
        (1.51, [0.2, 0.3, 0.8, 0.7], 0, True),  # as arm 0 is in it, but is not played
        (1.49, [0.2, 0.3, 0.8, 0.7], 0, False),  # the indices of arms 2 and 3 decide
    ],
)
def test_idle_arms_are_left_out_if_they_would_be_played_where_the_surest_set_competes(
    sure: float, indices: list[float], idle: int, left_out: bool
) -> None:
    state = idle_state(indices, [100 if arm != idle else 70 for arm in range(4)])
    state.doubt.surest[:], state.doubt.sure[0] = (0, 1), sure
    drop_idle(state, 1.0)
    assert state.current.tolist() == [arm != idle or not left_out for arm in range(4)]


@pytest.mark.parametrize(("kind", "rounds"), [("choice", 320), ("independent", 640)])
def test_the_surest_set_is_that_of_the_reference_and_played_when_that_says(kind: str, rounds: int) -> None:
    """Sets are not explored, and doubt is taken away after each round, so that arms or the surest set decide."""
    policy, rng = RobustUCB(exploration=0.0), generator(5)
    state, plain = policy.init(5, 2, 10**6, rng), reference.RobustUCB(5, 2, exploration=0.0)
    ways: Counter[str] = Counter()
    for played in range(rounds):
        if played % 4 or played < 60:
            chosen = np.arange(2) if played % 2 == 0 else rng.permutation(5)[:2]
        else:
            chosen, way = choose_both(policy, state, plain, rng)
            ways[way] += 1
        values = np.full(5, 0.9 if set(chosen.tolist()) == {0, 1} else 0.02)
        learn_both(policy, state, plain, chosen, draw(kind, chosen, values, 1.0, rng), rng)
        assert_same(state, plain)
        state.doubt.evidence[0] = plain.evidence = 0.0
        state.share[:] = 0.0
        plain.chances, plain.refuted = (0.0, 0.0), False
    print(ways)
    assert ways["surer"] > 10 and ways["arms"] > 0


# The set that is recommended.


@pytest.mark.parametrize(("n", "unit"), [(4, 1.0), (4, 10.0), (12, 1.0)])
def test_in_large_doubt_the_set_of_largest_mean_after_one_more_play_of_a_quarter_is_recommended(
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
    for evidence in (0.0, 1.9 if n == 4 else 6.9):  # doubt is twice the evidence, or 3 less than it
        state.doubt.evidence[:] = (evidence, 8.0)
        assert policy.recommend(state, every).tolist() == []
    state.doubt.evidence[:] = (2.1 if n == 4 else 7.1, 8.0)
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
        (5, 3, 250, {"alpha": 0.3, "exploration": 0.2, "bound": 2.5}),
        (6, 1, 180, {"exploration": 0.1, "bound": 1e-3}),
        (3, 3, 60, {}),
        (9, 4, 70, {"exploration": 0.1}),  # 126 sets
    ],
)
def test_every_round_is_that_of_the_reference(kind: str, n: int, k: int, rounds: int, parameters: Any) -> None:
    """One random number decides how the round is played: by arms, by sets, or by sets alone."""
    policy, rng = RobustUCB(**parameters), generator(n)
    state, plain = policy.init(n, k, 10**6, rng), reference.RobustUCB(n, k, **parameters)
    ways: Counter[str] = Counter()
    for _ in range(rounds):
        refuted = plain.refuted
        chosen, way = choose_both(policy, state, plain, rng)
        ways["sets, refuted" if refuted else way] += 1
        learn_both(policy, state, plain, chosen, draw_together(kind, chosen, policy.bound, rng), rng)
        assert_same(state, plain)
    first = -(-n // k)  # rounds, in which every arm is played
    if k == n:
        assert ways == {"arms": rounds}
    else:
        assert ways["sets alone"] == (16 * math.comb(n, k) - first if n < 9 else 0)
        assert ways["arms"] >= first and ways["sets"] > 0
        assert ways["too costly"] > 0 or "exploration" not in parameters


@pytest.mark.parametrize("kind", ["choice", "independent"])
@pytest.mark.parametrize(("n", "k"), [(4, 2), (9, 4)])
def test_every_round_is_that_of_the_reference_also_once_refuted(kind: str, n: int, k: int) -> None:
    """The first k arms earn 0.95 each, and all arms 0.05 in other company: 180 rounds of random sets show it."""
    policy, rng = RobustUCB(), generator(n)
    state, plain = policy.init(n, k, 10**6, rng), reference.RobustUCB(n, k)
    refuted = 0
    for played in range(260):
        chosen = rng.permutation(n if played < 20 else k + 1)[:k]
        if played >= 180:
            chosen, way = choose_both(policy, state, plain, rng)
            assert way == "sets alone" or not plain.refuted
            refuted += plain.refuted
        values = np.full(n, 0.95 if set(chosen.tolist()) == set(range(k)) else 0.05)
        learn_both(policy, state, plain, chosen, draw(kind, chosen, values, 1.0, rng), rng)
        assert_same(state, plain)
        for missing in (0, n - 1, n):
            found = policy.recommend(state, np.arange(n) != missing).tolist()
            assert frozenset(found) in plain.recommended([arm for arm in range(n) if arm != missing])
    assert refuted > 20


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
        explore(state, 2.0, 0.0, rng)  # writes the means
        for arms in itertools.combinations(range(8), 4):
            slot = find_slot(state.table, code_of(state.table, np.array(arms)))
            learn_posterior(state, np.array(arms), slot, 2.0, False, 0)
            assert state.posteriors[0].tolist() == pytest.approx(plain.posterior(frozenset(arms)), rel=1e-8)


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
    exploration=st.sampled_from([10.0, 0.0, 1e9]),
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
