"""The paper's lemmas in numbers: hand-computed values, and true and false statements on random profiles."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.environments import Needle
from setwise.theory import gaps, lemmas, lower_bound, profiles, rejection, validity
from setwise.theory.bounds import lower_plays, theorem_1
from setwise.types import InputError

CAMERA = [0.35, 0.30, 0.25]
TIES = [2.0] * 9 + [1.0]  # P*_1 = ... = P*_9 = P*_10 + epsilon for epsilon = 1


@st.composite
def worlds(draw):
    """A falling profile and an epsilon: drops over six decades, ties among them."""
    k = draw(st.integers(2, 9))
    sizes = st.one_of(st.just(0.0), st.floats(-6.0, 0.0).map(lambda power: 10.0**power))
    drops = draw(st.lists(sizes, min_size=k - 1, max_size=k - 1))
    epsilon = draw(st.floats(-6.0, 2.0).map(lambda power: 10.0**power))
    return [sum(drops[i:]) for i in range(k)], epsilon


def sigma_by_definition(profile, epsilon):
    """In fractions, by the definition."""
    values, e, k = [Fraction(p) for p in profile], Fraction(epsilon), len(profile)
    wide = [sum(values[i] - values[j] for j in range(i, k)) for i in range(k)]
    return [
        [4 * (values[i] - values[j]) * (wide[j] + e) / (wide[i] + e) ** 2 if i <= j else Fraction(0) for j in range(k)]
        for i in range(k)
    ]


# The lemma on sigma


def test_the_cameras_sigma_is_as_worked_out_by_hand():
    delta, wide = profiles.gaps_of(CAMERA)
    assert wide == pytest.approx([0.15, 0.05, 0.0])
    assert delta == pytest.approx(np.array([[0, 0.05, 0.10], [0, 0, 0.05], [0, 0, 0]]))
    # sigma_12 = 4 x .05 x .10 / .20^2, sigma_13 = 4 x .10 x .05 / .20^2, sigma_23 = 4 x .05 x .05 / .10^2
    assert lemmas.sigma(CAMERA, 0.05) == pytest.approx(np.array([[0, 0.5, 0.5], [0, 0, 1.0], [0, 0, 0]]))


def test_the_gaps_are_those_of_the_world():
    import setwise as sw

    found = gaps(sw.paper.camera())
    delta, wide = profiles.gaps_of(found.probabilities)
    assert wide == pytest.approx(found.Delta)
    assert delta == pytest.approx(np.triu(found.delta))


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_sigma_is_as_defined_and_does_not_change_with_shift_and_scale(world):
    profile, epsilon = world
    exact = np.array(sigma_by_definition(profile, epsilon), dtype=float)
    assert lemmas.sigma(profile, epsilon) == pytest.approx(exact, rel=1e-6, abs=1e-9)
    moved = lemmas.sigma([4.0 * p + 1.0 for p in profile], 4.0 * epsilon)
    assert moved == pytest.approx(exact, rel=1e-4, abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(worlds())
def test_no_sum_of_sigma_is_above_its_extreme(world):
    profile, epsilon = world
    k, sigmas = len(profile), lemmas.sigma(profile, epsilon)
    assert sigmas.sum(axis=1).max() <= lemmas.second_index_extreme(k).value + 1e-9
    assert sigmas.sum(axis=0).max() <= k - 1 + 1e-9
    assert (sigmas <= 1.0 / (k - np.arange(k)) + 1e-9).all()


@pytest.mark.parametrize("k", [2, 3, 7, 40])
def test_the_extremes_are_reached(k):
    second, first = lemmas.second_index_extreme(k), lemmas.first_index_extreme(k)
    assert lemmas.sigma(second.profile, second.epsilon).sum(axis=1).max() == pytest.approx(second.value)
    assert lemmas.sigma(first.profile, first.epsilon).sum(axis=0).max() == pytest.approx(k - 1.0)
    assert second.holds and first.holds == (k <= 3)


def test_two_is_the_best_constant_of_the_lemma_on_sigma():
    values = [lemmas.second_index_extreme(k).value for k in (2, 10, 1000, 100_000)]
    assert values == sorted(values) and values[0] == pytest.approx(1.0)
    assert 1.7 < values[-1] < 2.0


def test_the_searches_find_the_extremes():
    second, first = lemmas.largest_second_index_sum(), lemmas.largest_first_index_sum()
    assert second.value == pytest.approx(lemmas.second_index_extreme(12).value) and second.holds
    assert first.value == pytest.approx(11.0) and not first.holds
    assert second.looked_at > 50_000
    for found, axis in ((second, 1), (first, 0)):
        assert sum(found.profile) == pytest.approx(1.0) and found.profile[-1] == pytest.approx(found.epsilon)
        assert lemmas.sigma(found.profile, found.epsilon).sum(axis=axis).max() == pytest.approx(found.value)


def test_the_first_index_can_sum_to_nine_where_the_second_sums_to_one():
    sigmas = lemmas.sigma(TIES, 1.0)
    assert sigmas.sum(axis=0).max() == pytest.approx(9.0)
    assert sigmas.sum(axis=1).max() == pytest.approx(1.0)


def test_a_search_is_repeatable_and_climbs():
    assert lemmas.largest_f(4, seed=3) == lemmas.largest_f(4, seed=3)

    def off_the_shapes(values, epsilons):
        return -np.abs(values[:, 0] / epsilons.clip(1e-300) - 0.7371)

    assert (
        profiles.search(off_the_shapes, 0.0, 2, 0).value > -1e-3 > profiles.search(off_the_shapes, 0.0, 2, 0, 0).value
    )


@settings(max_examples=100, deadline=None)
@given(worlds(), st.data())
def test_the_proof_of_the_lemma_on_sigma_means_delta_jm(world, data):
    profile, epsilon = world
    j = data.draw(st.integers(2, len(profile)))
    step = lemmas.sigma_step(profile, epsilon, data.draw(st.integers(1, j)), j)
    assert step.meant <= step.limit * (1 + 1e-9)
    assert lemmas.sigma_step().printed == 2.0 > lemmas.sigma_step().limit


@pytest.mark.parametrize(
    ("profile", "epsilon"), [([0.1, 0.2], 0.1), ([], 0.1), ([math.nan], 0.1), (CAMERA, -0.1), (CAMERA, math.inf)]
)
def test_bad_profiles_are_refused(profile, epsilon):
    with pytest.raises(InputError, match=r"does not rise|0 or more"):
        lemmas.sigma(profile, epsilon)


def test_ties_without_a_gap_are_no_division_by_zero():
    assert lemmas.sigma([0.2, 0.2], 0.0).tolist() == [[0.0, 0.0], [0.0, 0.0]]


# The lemma on f


def test_the_cameras_f_is_as_worked_out_by_hand():
    # f(2, 3) = .4, f(1, 2) = .2, f(1, 3) = .4 x .5 + .4 x .5 x .4
    assert lemmas.f_of(lemmas.sigma(CAMERA, 0.05)) == pytest.approx(np.array([[0, 0.2, 0.28], [0, 0, 0.4], [0, 0, 0]]))


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_f_has_both_recursions_and_is_the_sum_over_paths(world):
    profile, epsilon = world
    sigmas = lemmas.sigma(profile, epsilon)
    found, k = lemmas.f_of(sigmas), len(profile)
    for i, j in itertools.combinations(range(k), 2):
        between = range(i + 1, j)
        assert found[i, j] == pytest.approx(
            0.4 * sigmas[i, j] + sum(0.4 * sigmas[i, m] * found[m, j] for m in between), abs=1e-12
        )
        assert found[i, j] == pytest.approx(
            0.4 * sigmas[i, j] + sum(0.4 * found[i, m] * sigmas[m, j] for m in between), abs=1e-12
        )
    assert found.max() <= 0.8
    sums = lemmas.path_sums(profile, epsilon)
    assert sums.edges == pytest.approx(sums.f, abs=1e-12)
    assert sums.printed == pytest.approx(0.4 * sums.f, abs=1e-12)


def test_the_power_of_a_path_is_the_number_of_its_edges():
    sums = lemmas.path_sums(CAMERA, 0.05)
    assert sums.f == pytest.approx(0.28) and sums.edges == pytest.approx(0.28) and sums.printed == pytest.approx(0.112)


def test_f_is_at_most_half_of_what_its_proof_gives():
    assert lemmas.largest_f().holds and lemmas.largest_f().value == pytest.approx(0.4)
    assert lemmas.largest_identity_error().holds


# The recursion, and the lemmas on sub-optimal plays and on delta times t


def test_the_recursion_is_as_worked_out_by_hand():
    plays, totals = lemmas.plays_constants(CAMERA, 0.05)
    # c_2 = 3.08 (1 + .275 x .5), c_3 = 3.08 + .275 (.5 x 3.08 + 1 x 3.5035)
    assert plays == pytest.approx([3.08, 3.5035, 4.4669625])
    assert totals == pytest.approx([0.0, 1.54, 5.0435])


def test_in_case_two_the_recursion_has_the_larger_coefficients():
    # Delta = (.06, .02, 0) with epsilon 1: all are below .1; sigma_12 = 4 x .02 x 1.02 / 1.06^2 and so on.
    plays, totals = lemmas.plays_constants([0.04, 0.02, 0.0], 1.0)
    first, second, third = 0.0816 / 1.06**2, 0.16 / 1.06**2, 0.08 / 1.02**2
    assert plays[1] == pytest.approx(3.08 + 0.34 * first * 3.08)
    assert plays[2] == pytest.approx(3.08 + 0.34 * (second * 3.08 + third * plays[1]))
    assert totals[2] == pytest.approx(1.21 * (second * 3.08 + third * plays[1]))


@settings(max_examples=200, deadline=None)
@given(worlds())
def test_the_constants_hold_as_the_repaired_proof_says(world):
    profile, epsilon = world
    sigmas = lemmas.sigma(profile, epsilon)
    plays, totals = lemmas.plays_constants(profile, epsilon)
    above = lemmas.f_of(sigmas).sum(axis=0)
    ranks = np.arange(1, len(profile) + 1)
    assert (plays <= 3.08 + 10.0 * above + 1e-9).all()
    assert (plays <= 10.0 * ranks).all()
    assert (totals <= 1.21 * 25.0 * above + 1e-9).all()
    assert (totals <= 24.2 * (ranks - 1) + 1e-9).all()


def test_the_largest_constants():
    assert lemmas.largest_plays_constant().value == pytest.approx(3.08)
    later = lemmas.largest_plays_constant(least_rank=2)
    assert later.value == pytest.approx(3.08 * 1.275 / 2) and len(later.profile) == 2
    assert lemmas.largest_repaired_sum().value == pytest.approx(3.08) and lemmas.largest_repaired_sum().holds
    assert lemmas.largest_delta_times_t().value == pytest.approx(3.08 * 11 / 12)


def test_theorem_1_holds_as_printed_with_the_repaired_constants():
    for k in range(1, 2000):
        printed, repaired = lemmas.theorem_1_constants(k)
        assert repaired < printed
    # Term by term it does not: 2 sqrt(40) is more than 8.
    printed, corrected = theorem_1(10, 4, 0.1, 7.0, 2.0)
    assert corrected > printed
    assert printed == pytest.approx(lemmas.theorem_1_constants(4)[0] * 1400 + 10)


# Case I, and log T >= 5


def test_the_printed_step_of_case_one_fails_and_the_needed_one_holds():
    case = lemmas.case_one()
    assert case.printed == pytest.approx((3.0, 0.7))
    assert case.implied == pytest.approx((8.9, 6.6))
    assert case.needed == pytest.approx((9.79, 9.9))
    assert lemmas.tightest_case_one().slack == pytest.approx(0.11)


@given(st.integers(2, 1000), st.data())
def test_what_case_one_needs_holds_from_a_tenth_of_epsilon(k, data):
    case = lemmas.case_one(k, data.draw(st.integers(1, k)), data.draw(st.floats(0.1, 1e3)))
    assert case.slack >= 0.11 * case.rank - 1e-9 * case.needed[1]


def test_what_case_one_needs_can_fail_below_a_tenth_of_epsilon():
    assert lemmas.case_one(1000, 1, 0.0999).slack < 0.11 and lemmas.case_one(1000, 1, 0.0995).slack < 0.0


def test_log_t_need_only_be_five_over_alpha():
    step = lemmas.log_step(2.0)
    assert (step.log, step.horizon) == (2.5, 13)
    assert lemmas.log_step(1.0).horizon == 149
    # For k = 12 the product of the gap and P*_l comes to k - 1, for P* = (1, 0, ..., 0).
    assert step.largest == pytest.approx(11 / 12)
    assert step.shorter == pytest.approx(148 / (80 * math.log(148))) and step.shorter < 1.0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=9), st.floats(0.0, 1.0), st.floats(2.0, 5.0))
def test_the_step_with_log_t_holds_from_there_on(values, share, alpha):
    profile = sorted(values, reverse=True)
    epsilon, k, log = share * profile[-1], len(profile), 5.0 / alpha
    for wide, value in zip(profiles.gaps_of(profile)[1], profile):
        assert 4.0 * (wide + epsilon) * value <= 0.8 * alpha * k * log * (1 + 1e-12)


# Validity of the confidence bounds


def test_the_chance_of_failure():
    found = validity.azuma_failure(2.0, 100, 10, 5)
    assert found.printed == pytest.approx(2e-8)
    assert found.corrected == pytest.approx(2 * 10 / 100**3)
    assert found.regret == pytest.approx(2 * 10 * 5 / 100**2)


def test_the_tail_of_a_coin_by_hand():
    # sqrt(alpha N L) = 1.92 for N = 4, alpha = .2 and T = 100: only 0 and 4 heads are as far from 2.
    assert validity.coin_tail(4, 0.2, 100) == 2 / 16
    assert validity.coin_tail(4, 2.0, 100) == 0.0


@pytest.mark.parametrize("alpha", [0.25, 0.5, 1.0, 2.0])
def test_azumas_inequality_holds_for_a_fixed_number_of_plays(alpha):
    found = validity.largest_coin_tail(alpha, 200)
    assert 0.0 < found.ratio <= 1.0
    assert validity.coin_tail(found.rounds, alpha, 200) == pytest.approx(found.ratio * 2.0 * 200 ** (-2.0 * alpha))


@pytest.mark.parametrize(("alpha", "horizon"), [(0.2, 10), (0.3, 12)])
def test_the_stopped_coin_is_as_counted_over_all_sequences(alpha, horizon):
    failed = 0
    for throws in itertools.product((0, 1), repeat=horizon):
        heads = itertools.accumulate(throws)
        failed += any(abs(c - m / 2) >= math.sqrt(alpha * m * math.log(horizon)) for m, c in enumerate(heads, start=1))
    assert 0 < failed < 2**horizon
    assert validity.stopped_coin(alpha, horizon).chance == pytest.approx(failed / 2**horizon)


def test_the_printed_validity_fails_for_a_policy_that_stops_and_the_corrected_holds():
    found = validity.stopped_coin(2.0, 1000)
    assert found.printed > 1.3
    assert found.corrected < 0.01
    assert found.chance <= validity.azuma_failure(2.0, 1000, 1).corrected


# The lower bound


def test_the_divergence_of_the_main_text_is_half_of_what_is_printed():
    found = lower_bound.main_text_divergence()
    assert found.exact == pytest.approx(0.2 * math.log(0.2 / 0.21) + 0.2 * math.log(0.2 / 0.19))
    assert found.exact == pytest.approx(5.006e-4, rel=1e-4)
    assert (found.printed, found.half) == pytest.approx((1e-3, 5e-4))
    errors = []
    for epsilon in (1e-2, 1e-3, 1e-4, 1e-5):
        found = lower_bound.main_text_divergence(0.1, 0.3, epsilon)
        errors.append(abs(found.exact / found.printed - 0.5))
    assert errors == sorted(errors, reverse=True) and errors[-1] < 1e-4


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=8), st.data())
def test_the_chi_square_is_above_the_divergence(weights, data):
    others = data.draw(st.lists(st.floats(0.01, 1.0), min_size=len(weights), max_size=len(weights)))
    p, q = np.array(weights) / sum(weights), np.array(others) / sum(others)
    found = lower_bound.divergence(p, q - p)
    assert found == pytest.approx(float((p * np.log(p / q)).sum()), abs=1e-9)
    assert -1e-15 <= found <= float(((p - q) ** 2 / q).sum()) + 1e-12


def test_the_steps_of_the_appendix_that_hold():
    assert 0.5 < lower_bound.largest_chi_square_ratio() <= 1.0
    assert lower_bound.least_event_slack() >= 0.0


def test_a_divergence_is_of_probabilities():
    with pytest.raises(InputError, match="sum to 0"):
        lower_bound.divergence([0.5, 0.5], [0.1, 0.1])
    with pytest.raises(InputError, match="positive"):
        lower_bound.divergence([0.5, 0.5], [0.5, -0.5])
    with pytest.raises(InputError, match=r"epsilon is 0\.3"):
        lower_bound.family_means(10, 3, 0.3)


@pytest.mark.parametrize("choice", [True, False])
def test_the_worlds_of_the_family_have_the_gap_epsilon(choice):
    n, k, epsilon = 5, 3, 0.05
    for means, optimal in (
        (lower_bound.family_means(n, k, epsilon, 2, choice), 1),
        (lower_bound.repaired_means(n, k, epsilon, 2, choice), k),
    ):
        values = sorted((sum(chosen) for chosen in itertools.combinations(means.tolist(), k)), reverse=True)
        best = [value for value in values if value > values[0] - 1e-9]
        assert len(best) == optimal
        assert values[0] - values[optimal] == pytest.approx(epsilon)
        assert not choice or values[0] < 1.0


@pytest.mark.parametrize("k", [2, 3, 10, 50])
def test_a_play_tells_of_the_order_of_k_times_more_in_m1(k):
    assert lower_bound.information_ratio(k) == pytest.approx((k + 1) / 2, rel=1e-5)
    epsilon = 0.3 / (k + 1)
    for choice, q in ((True, 1 / (k + 1)), (False, 0.5)):
        exact = 2 * epsilon * math.log((q + epsilon) / (q - epsilon))
        assert lower_bound.information(k, epsilon, choice) == pytest.approx(exact)
        assert 1.0 / exact == pytest.approx(lower_plays(k, epsilon, choice))


def test_sets_without_a_j_tell_e_1_from_e_j():
    found = lower_bound.failing_step(n=10, k=3, epsilon=0.05, horizon=100_000)
    assert found.sets == math.comb(10, 2)
    assert 0.0 < found.least <= found.best <= found.largest
    # a_1 falls from .25 to .20, and the outside option rises from .25 to .30.
    assert found.best == pytest.approx(0.25 * math.log(0.25 / 0.20) + 0.25 * math.log(0.25 / 0.30))
    assert found.total == pytest.approx(1020.55, abs=0.01)
    assert found.total > 50 * found.log
    assert found.repaired == 0.0


def test_in_the_repaired_pair_exactly_the_sets_with_a_j_tell():
    n, k, epsilon = 6, 3, 0.04
    for choice in (True, False):
        before, after = (
            lower_bound.family_means(n, k, epsilon, 1, choice),
            lower_bound.repaired_means(n, k, epsilon, 4, choice),
        )
        for chosen in itertools.combinations(range(1, n + k), k):
            found = lower_bound.set_divergence(before, after, chosen, choice)
            assert found > 0.0 if 4 in chosen else found == 0.0
            assert found <= lower_bound.information(k, epsilon, choice) * (1 + 1e-12)


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 2), (5, 4)])
def test_a_needle_takes_half_of_all_sets(n, k):
    sets = list(itertools.combinations(range(n), k))
    order = np.random.default_rng(0).permutation(len(sets)).tolist()
    tries = [order.index(needle) + 1 for needle in range(len(sets))]
    assert lower_bound.needle_tries(n, k) == Fraction(sum(tries), len(sets))
    # Whichever set is hidden, all others look the same.
    for needle, chosen in itertools.permutations(sets, 2):
        world, means = Needle(n, k, needle=needle), np.zeros(k)
        world.means(np.array(chosen), means)
        assert (means == world.base).all()


# The paper's generator of random worlds


def test_acceptance_by_hand():
    # Two uniform numbers sum to at most 1 with chance 1/2, and to at most 1/2 with chance 1/8.
    assert rejection.acceptance([0.25, 0.25], []) == 0.5
    assert rejection.acceptance([0.125, 0.125], []) == 0.125
    # One set, {a_2, a_3}: U(0, 1/2) / 2 and U(0, 1) are to sum to at most 1/4: (1/4)^2 / 2 over 1/2.
    assert rejection.acceptance([0.125, 0.25], [1]) == 0.0625
    # Where P(a_2|s*) = 1/k, U(0, 1) is to be at most 1/4.
    assert rejection.acceptance([0.125, 0.5], [1]) == 0.25


@pytest.mark.parametrize("kept", [[], [0], [1, 3], [0, 1, 2]])
def test_acceptance_is_the_share_of_draws_that_are_accepted(kept):
    rng = np.random.default_rng(1)
    optimal, k, draws = np.array([0.22, 0.17, 0.24, 0.2]), 4, 200_000
    lower = np.concatenate([optimal[kept], np.zeros(k - len(kept))])
    proposals = lower + rng.random((draws, k)) * (1 / k - lower)
    share = float((proposals.sum(axis=1) <= optimal.sum()).mean())
    chance = rejection.acceptance(optimal.tolist(), kept)
    assert share == pytest.approx(chance, abs=5.0 * math.sqrt(chance * (1 - chance) / draws))


def test_acceptance_keeps_its_digits_where_terms_cancel():
    # Nine widths of .001 and one of 1: nearly all of the box is inside, and the sum is of terms of 1e-7.
    optimal = [0.0999] * 10
    chance = rejection.acceptance(optimal, range(1, 10))
    # The sum of the narrow ones has the mean 9 x .0005, so room is left with chance .999 - .0045.
    assert chance == pytest.approx(0.9945, abs=1e-9)


def test_the_cost_of_a_world_is_that_of_all_its_sets():
    n, k = 6, 3
    levels = [3 * rejection.UNIT // 4, rejection.UNIT // 2, rejection.UNIT // 8]
    optimal = [level / rejection.UNIT / k for level in levels]
    chances = [
        rejection.acceptance(optimal, [arm for arm in chosen if arm < k])
        for chosen in itertools.combinations(range(n), k)
        if chosen != (0, 1, 2)
    ]
    least, trials = rejection._world_cost(n, levels)
    assert len(chances) == 19
    assert least == pytest.approx(min(chances)) and trials == pytest.approx(sum(1 / p for p in chances))


def test_the_generator_takes_for_ever_in_many_worlds():
    found = rejection.rejection_cost(10, 5)
    assert found == rejection.rejection_cost(10, 5, seed=0) and found.draws == 1000
    assert found.beyond_1e6 == pytest.approx(0.43, abs=0.05)
    assert found.beyond_1e9 == pytest.approx(0.13, abs=0.04)
    assert 1e-10 < found.acceptance_low < 1e-8 and 1e-5 < found.acceptance_median < 1e-4
    assert 1e5 < found.trials_median < 1e6 < 1e9 < found.trials_high


@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_the_expected_number_of_proposals_is_infinite(k):
    assert rejection.trials_exponent(k) == pytest.approx(-k)
    # r^-k has no finite integral on (0, 1) as soon as k >= 1.
    assert rejection.trials_exponent(k) <= -1.0 + 1e-9
