"""Intervals, bands, tests and slopes: against hand-computed values, SciPy, and their own guarantees."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from setwise import InputError
from setwise.simulation import Result
from setwise.simulation.statistics import (
    Growth,
    band,
    deviation_band,
    growth,
    holm,
    interval,
    paired,
    ratio,
    student_quantile,
    student_tail,
)
from setwise.simulation.student import incomplete_beta

DEGREES = (0.5, 1, 2, 3, 4.7, 9, 19, 49, 199, 1000, 10**6)


def result_of(regret: Any, rounds: Any) -> Result:
    """A result with these curves."""
    curves, points = np.atleast_2d(np.asarray(regret, dtype=float)), np.asarray(rounds, dtype=np.int64)
    nothing = np.zeros((len(curves), 2), np.int64)
    return Result("p", "w", int(points[-1]), 0, False, points, curves, nothing)


@pytest.mark.parametrize("degrees", DEGREES)
def test_tail_and_quantile_of_student_are_those_of_scipy(degrees: float) -> None:
    for t in (1e-6, 0.01, 0.3, 1.0, 2.0, 5.0, 30.0, 300.0):
        there = stats.t.sf(t, degrees)
        if there > 1e-290:
            assert student_tail(t, degrees) == pytest.approx(there, rel=1e-8)
        assert student_tail(-t, degrees) == pytest.approx(stats.t.sf(-t, degrees), rel=1e-8)
    for p in (1e-12, 1e-6, 0.025, 0.2, 0.3, 0.49, 0.499999, 0.5000001, 0.7, 0.975, 1 - 1e-9):
        assert student_quantile(p, degrees) == pytest.approx(stats.t.ppf(p, degrees), rel=1e-8)


def test_student_in_closed_form_for_one_and_two_degrees() -> None:
    """One: 1/2 - arctan(t) / pi. Two: (1 - t / sqrt(2 + t^2)) / 2, with quantile (2 p - 1) / sqrt(2 p (1 - p))."""
    for t in (0.25, 1.0, 3.0, 50.0):
        assert student_tail(t, 1) == pytest.approx(0.5 - math.atan(t) / math.pi, rel=1e-9)
        assert student_tail(t, 2) == pytest.approx((1 - t / math.sqrt(2 + t * t)) / 2, rel=1e-9)
    assert student_quantile(0.975, 1) == pytest.approx(math.tan(0.475 * math.pi), rel=1e-12)
    assert student_quantile(0.9, 2) == pytest.approx(0.8 / math.sqrt(0.18), rel=1e-12)
    assert student_tail(math.inf, 3) == 0.0
    assert student_tail(-math.inf, 3) == 1.0
    assert math.isnan(student_tail(math.nan, 3))


@given(st.floats(1e-9, 1 - 1e-9), st.floats(0.5, 500.0))
def test_the_quantile_undoes_the_tail(probability: float, degrees: float) -> None:
    assert student_tail(student_quantile(probability, degrees), degrees) == pytest.approx(1 - probability, abs=1e-11)


@given(st.floats(0.1, 300.0), st.floats(0.1, 300.0), st.floats(1e-6, 1 - 1e-6))
def test_the_incomplete_beta_function_is_that_of_scipy(a: float, b: float, x: float) -> None:
    assert incomplete_beta(a, b, x, 1 - x) == pytest.approx(special.betainc(a, b, x), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: student_quantile(1.0, 3), "probability is 1; a quantile is that of one between 0 and 1"),
        (lambda: student_tail(1.0, 0), "degrees is 0; degrees of freedom are a finite number above 0"),
        (lambda: paired([1.0], [1.0, 2.0]), "samples of 1 and 2 values cannot be paired: give as many of each"),
        (lambda: interval([]), r"a sample has shape \(0,\); give one row of one value or more"),
        (lambda: holm([0.1, 1.5]), "a p-value is 1.5; it lies between 0 and 1"),
        (lambda: holm([math.nan]), "a p-value is nan; it lies between 0 and 1"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(call: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call()


def test_an_interval_by_hand_and_by_scipy() -> None:
    """Of 1, 2, 3: s = 1, so 2 -+ 4.302653 / sqrt(3)."""
    mean, low, high = interval([1.0, 2.0, 3.0])
    assert (mean, low, high) == pytest.approx((2.0, 2.0 - 2.4841377118, 2.0 + 2.4841377118))
    values = np.random.default_rng(1).exponential(3.0, 17)
    there = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert interval(values)[1:] == pytest.approx((there.low, there.high), rel=1e-9)
    alone = interval([7.0])
    assert alone.value == 7.0
    assert math.isnan(alone.low)
    assert math.isnan(alone.high)


def test_an_interval_has_the_mean_in_19_of_20_cases() -> None:
    """4000 intervals of 8 normal values: 95 % cover the mean, and 93.3 % to 96.7 % are within five deviations of that
    share, so that this fails by chance once in two million seeds."""
    rng = np.random.default_rng(5)
    values = rng.normal(3.0, 2.0, (4000, 8))
    found = [interval(row) for row in values]
    covered = np.mean([one.low <= 3.0 <= one.high for one in found])
    assert abs(covered - 0.95) < 5 * math.sqrt(0.95 * 0.05 / 4000)
    ps = [paired(row, np.full(8, 3.0)).p for row in values[:1000]]
    assert abs(np.mean(np.array(ps) < 0.05) - 0.05) < 5 * math.sqrt(0.95 * 0.05 / 1000)


def test_a_band_is_the_interval_at_each_checkpoint() -> None:
    curves = np.random.default_rng(2).gamma(3.0, 10.0, (9, 4)).cumsum(axis=1)
    result = result_of(curves, [1, 10, 100, 1000])
    for place in range(4):
        assert tuple(part[place] for part in band(result)) == pytest.approx(interval(curves[:, place]))
    mean, low, high = deviation_band(result)
    assert np.allclose(high - mean, curves.std(axis=0, ddof=1))
    assert np.allclose(mean - low, high - mean)
    own = band(result, 2.0 * curves)
    assert np.allclose(own.mean, 2.0 * mean)
    single = result_of(curves[:1], [1, 10, 100, 1000])
    for ends in (band(single), deviation_band(single)):
        assert np.array_equal(ends.mean, curves[0])
        assert np.isnan(ends.low).all()
        assert np.isnan(ends.high).all()


ROUNDS = np.unique(np.rint(np.geomspace(1, 10**6, 100))).astype(np.int64)


@pytest.mark.parametrize("power", [1.0, 0.5, 2 / 3, 0.0])
def test_the_slope_of_a_power_is_the_power(power: float) -> None:
    curves = np.outer([1.0, 2.0, 5.0], ROUNDS.astype(float) ** power)
    found = growth(result_of(curves, ROUNDS))
    assert found.slope == pytest.approx(power, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((power, power), abs=1e-7)
    assert found.linear == (power == 1.0)
    assert found.verdict == ("linear" if power == 1.0 else "slower")


def test_only_the_last_decade_counts_and_its_slope_is_worked_by_hand() -> None:
    """log R = 0, 1, 3 at log10 T = 5, 5.5, 6: the slope is (3 - 0) / 1 per decade, over ln 10 in natural logarithms."""
    rounds = [10, 1000, 100_000, 316_228, 1_000_000]
    found = growth(result_of([[5.0, 5.0, 1.0, math.e, math.e**3]], rounds))
    assert found.slope == pytest.approx(3.0 / math.log(10), rel=1e-5)
    assert math.isnan(found.low)
    assert found.verdict == "unclear"


def test_the_jackknife_of_the_slope_worked_by_brute_force() -> None:
    rng = np.random.default_rng(3)
    curves = rng.gamma(4.0, 1.0, (6, len(ROUNDS))).cumsum(axis=1)
    found = growth(result_of(curves, ROUNDS))
    late = ROUNDS >= 10**5

    def fit(rows: Any) -> float:
        return float(np.polyfit(np.log(ROUNDS[late]), np.log(rows.mean(axis=0)[late]), 1)[0])

    pseudo = [6 * fit(curves) - 5 * fit(np.delete(curves, run, axis=0)) for run in range(6)]
    half = stats.t.ppf(0.975, 5) * np.std(pseudo, ddof=1) / math.sqrt(6)
    assert found.slope == pytest.approx(fit(curves))
    assert found.high - found.slope == pytest.approx(half, rel=1e-6)


def test_the_interval_of_a_slope_has_the_true_one_in_about_19_of_20_cases() -> None:
    """Runs c t^0.5 with a random c and a random start: the mean over all runs grows with a known slope. The jackknife
    is no exact method: 92 to 98 % of 1000 intervals of 20 runs are asked for, and 1000 draws scatter by 0.7 %."""
    rng = np.random.default_rng(4)
    rounds = np.rint(np.geomspace(10**3, 10**4, 12)).astype(np.int64)
    true = growth(result_of(10.0 + 2.0 * np.sqrt(rounds), rounds)).slope
    covered = 0
    for _ in range(1000):
        start, pace = rng.gamma(4.0, 2.5, (20, 1)), rng.gamma(4.0, 0.5, (20, 1))
        found = growth(result_of(start + pace * np.sqrt(rounds), rounds))
        covered += found.low <= true <= found.high
    assert 920 <= covered <= 980


def test_growth_without_regret_or_with_one_run_that_has_some() -> None:
    rounds = [100, 200, 400, 1000]
    assert growth(result_of(np.zeros((3, 4)), rounds)) == Growth(0.0, 0.0, 0.0)
    one_loses = np.zeros((4, 4))
    one_loses[2] = rounds
    found = growth(result_of(one_loses, rounds))
    assert found.slope == pytest.approx(1.0)
    assert found.verdict == "unclear", "without that run there is no regret at all"
    late_start = growth(result_of([[0.0, 0.0, 1.0, 2.5], [0.0, 0.0, 1.0, 2.5]], rounds))
    assert late_start.slope == pytest.approx(1.0), "points without regret have no logarithm"
    assert math.isnan(growth(result_of([[0.0, 0.0, 0.0, 2.5]], rounds)).slope)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.95, 1.05, "linear"), (0.2, 0.5, "slower"), (0.8, 1.0, "unclear"), (math.nan, math.nan, "unclear")],
)
def test_the_verdict_on_growth(low: float, high: float, verdict: str) -> None:
    assert Growth(0.5 * (low + high), low, high).verdict == verdict
    assert Growth(0.5 * (low + high), low, high).linear == (verdict == "linear")


def test_linear_regret_after_a_start_of_a_fiftieth_is_called_linear_and_of_a_tenth_slower() -> None:
    for share, verdict in ((0.02, "linear"), (0.1, "slower")):
        curves = np.outer([1.0, 1.0, 1.0], share * 10**6 + (1.0 - share) * ROUNDS)
        assert growth(result_of(curves, ROUNDS)).verdict == verdict


def test_a_paired_comparison_by_hand_and_by_scipy() -> None:
    """Differences 2, 3, 1: mean 2, s = 1, t = 2 sqrt(3), p = 1 - t / sqrt(2 + t^2) = 1 - sqrt(6/7)."""
    found = paired([3.0, 5.0, 4.0], [1.0, 2.0, 3.0])
    assert found.difference == 2.0
    assert found.p == pytest.approx(1 - math.sqrt(6 / 7), rel=1e-10)
    rng = np.random.default_rng(6)
    one, other = rng.normal(0.0, 1.0, 12), rng.normal(0.7, 2.0, 12)
    there = stats.ttest_rel(one, other)
    ours = paired(one, other)
    assert ours.p == pytest.approx(there.pvalue, rel=1e-8)
    assert (ours.low, ours.high) == pytest.approx(tuple(there.confidence_interval(0.95)), rel=1e-8)
    assert paired([1.0, 2.0], [1.0, 2.0]).p == 1.0
    assert paired([2.0, 3.0], [1.0, 2.0]).p == 0.0
    assert math.isnan(paired([2.0], [1.0]).p)


def test_holm_by_hand() -> None:
    """0.01 x 4, 0.015 x 3 = 0.045, 0.03 x 2 = 0.06, and 0.04 x 1 raised to 0.06."""
    assert holm([0.03, 0.01, 0.04, 0.015]) == pytest.approx([0.06, 0.04, 0.06, 0.045])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_holm_errs_in_one_family_of_twenty() -> None:
    """2000 families of 6 true hypotheses: some adjusted p is below 5 % in at most 5 % of them (five deviations)."""
    ps = np.random.default_rng(7).random((2000, 6))
    wrong = np.mean([min(holm(list(row))) < 0.05 for row in ps])
    assert wrong < 0.05 + 5 * math.sqrt(0.05 * 0.95 / 2000)


def test_a_ratio_of_means_by_hand_and_its_coverage() -> None:
    """Means 10 and 5, squared relative errors 0.01 and 0.01 with two values each: 2 exp(-+ t_2 sqrt(0.02))."""
    found = ratio([9.0, 11.0], [4.5, 5.5])
    assert found.value == 2.0
    assert found.high == pytest.approx(2.0 * math.exp(stats.t.ppf(0.975, 2) * math.sqrt(0.02)), rel=1e-9)
    assert found.low * found.high == pytest.approx(4.0)
    assert all(math.isnan(part) for part in ratio([1.0, 2.0], [0.0, 0.0]))
    assert math.isnan(ratio([4.0], [2.0, 3.0]).low)
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(1000):
        low, high = ratio(rng.normal(30.0, 3.0, 10), rng.normal(10.0, 2.0, 15))[1:]
        covered += low <= 3.0 <= high
    assert 915 <= covered <= 985, "95 % within five deviations of 0.7 %"
