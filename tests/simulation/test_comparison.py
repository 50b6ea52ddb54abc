"""Comparisons of results: by hand, against SciPy, in words, and with the stated rate of false alarms."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import setwise as sw
from setwise.simulation.comparison import Comparison
from setwise.simulation.statistics import growth, holm, paired_ratio, ratio, unpaired

CAMERA = sw.paper.camera()
FAMILIES = 1000
TOLERANCE = 5 * math.sqrt(0.05 * 0.95 / FAMILIES)  # five deviations of a share of 5 %: a false alarm in 3 million


def result_of(finals: Any, policy: str = "A()", **changes: Any) -> sw.Result:
    """A result with these final regrets, which grew linearly."""
    rounds = np.array([1, 10, 50, 100])
    regret = np.outer(finals, rounds / 100)
    given: dict[str, Any] = {
        "policy": policy, "environment": "World()", "horizon": 100, "seed": 0, "fast_forward": False, "rounds": rounds,
        "regret": regret, "pulls": np.zeros((len(finals), 4), np.int64),
    }  # fmt: skip
    return sw.Result(**{**given, **changes})


ONE, OTHER = [3.0, 5.0, 4.0], [1.0, 2.0, 3.0]


def test_independent_runs_are_compared_by_welch() -> None:
    """Means 4 and 2, variances 1 and 1, 3 runs each: 4 degrees of freedom, t = 2 / sqrt(2 / 3)."""
    found = sw.compare([result_of(ONE, "A()"), result_of(OTHER, "B()")])
    assert (found.common, found.at, found.baseline) == (False, 100, None)
    (pair,) = found.pairs
    expected = stats.ttest_ind(ONE, OTHER, equal_var=False)
    assert (pair.policy, pair.other, pair.difference, pair.ratio) == ("A()", "B()", 2.0, 2.0)
    assert pair.p == pytest.approx(2 * stats.t.sf(math.sqrt(6), 4)) and pair.p == pytest.approx(expected.pvalue)
    assert (pair.low, pair.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert pair[6:8] == ratio(ONE, OTHER)[1:]
    assert (pair.adjusted, pair.verdict) == (pair.p, "no difference shown")


def test_common_runs_are_compared_run_by_run() -> None:
    results = [result_of(ONE, "A()", common=True), result_of(OTHER, "B()", common=True)]
    (pair,) = sw.compare(results, confidence=0.9).pairs
    expected = stats.ttest_rel(ONE, OTHER)
    assert pair.p == pytest.approx(expected.pvalue)
    assert (pair.low, pair.high) == pytest.approx(tuple(expected.confidence_interval(0.9)))
    assert pair[6:8] == paired_ratio(ONE, OTHER, 0.9)[1:]
    assert pair.verdict == "more regret"  # p is 0.074
    assert sw.compare(results).pairs[0].verdict == "no difference shown"
    assert sw.compare(results[::-1], confidence=0.9).pairs[0].verdict == "less regret"


def test_every_policy_has_its_mean_and_growth() -> None:
    found = sw.compare({"a": result_of(ONE), "b": result_of(OTHER, seed=1)})
    expected = stats.ttest_1samp(ONE, 0.0).confidence_interval(0.95)
    first = found.policies[0]
    assert (first.policy, first.runs, first.regret) == ("a", 3, 4.0)
    assert (first.low, first.high) == pytest.approx(tuple(expected))
    assert first[5:8] == pytest.approx(growth(result_of(ONE))[:3]) and first.growth == "linear"
    assert first.slope == pytest.approx(1.0)


def test_all_pairs_or_all_against_a_baseline_are_adjusted_together() -> None:
    rng = np.random.default_rng(1)
    results = {name: result_of(rng.normal(10.0 + i, 1.0, 8), name) for i, name in enumerate("abc")}
    every, against = sw.compare(results), sw.compare(results, "b")
    assert [(pair.policy, pair.other) for pair in every.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [(pair.policy, pair.other) for pair in against.pairs] == [("a", "b"), ("c", "b")]
    for found in (every, against):
        assert [pair.adjusted for pair in found.pairs] == holm([pair.p for pair in found.pairs])
    assert every.pairs[1].adjusted == 3 * every.pairs[1].p == 3 * min(pair.p for pair in every.pairs)


def test_regret_at_a_checkpoint_and_by_the_surrogate() -> None:
    one = result_of(ONE, "A()", surrogate_regret=np.outer(OTHER, [0.1, 0.2, 0.3, 9.0]))
    two = result_of(OTHER, "B()", surrogate_regret=np.outer(ONE, [0.1, 0.2, 0.3, 9.0]))
    found = sw.compare([one, two], at=50)
    assert found.pairs[0].difference == pytest.approx(1.0)
    assert found.policies[0].slope == pytest.approx(1.0)
    found = sw.compare([one, two], surrogate=True)
    assert found.pairs[0].difference == pytest.approx(-18.0) and found.surrogate
    assert found.policies[0].slope > 1.2


def test_it_is_printed_as_a_table_and_is_plain_data(capsys: pytest.CaptureFixture[str]) -> None:
    found = sw.compare({"first": result_of(ONE, common=True), "second": result_of(OTHER, "B()", common=True)})
    print(found)
    text = capsys.readouterr().out
    for part in ("regret at round 100 in World()", "common random numbers", "first", "Student's paired test", "Holm"):
        assert part in text
    assert "4.000" in text and "2.000" in text and "0.074" in text and "no difference shown" in text
    assert max(map(len, text.splitlines())) < 130
    independent = str(sw.compare([result_of(ONE, "A()"), result_of(OTHER, "B()")]))
    assert "independent" in independent and "Welch" in independent
    assert found.rows == [dict(zip(found.pairs[0]._fields, found.pairs[0]))]
    assert "first, second" in repr(found)
    pandas = pytest.importorskip("pandas")
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame) and frame["difference"].tolist() == [2.0]


def test_other_policies_that_are_printed_alike_are_compared() -> None:
    """Such as a user's own class of the name of one of ours."""
    assert sw.compare({"mine": result_of(ONE), "theirs": result_of(OTHER)}).pairs[0].difference == 2.0


MISTAKES: list[tuple[Any, dict[str, Any], str]] = [
    ([], {}, "there is no result; a comparison needs two or more"),
    ([result_of(ONE)], {}, "there is 1 result"),
    (result_of(ONE), {}, "a list of results"),
    ([result_of(ONE), "x.npz"], {}, "a result is of type str"),
    ([result_of(ONE), result_of(OTHER, seed=1)], {}, "A() is there more than once; give a mapping"),
    ({"a": result_of(ONE), "b": result_of(ONE)}, {}, "a and b are runs of one policy and one seed"),
    ([result_of(ONE), result_of(OTHER, "B()", environment="Other()")], {}, "environment=World() and B() with"),
    ([result_of(ONE), result_of(OTHER, "B()", horizon=200)], {}, "horizon=100 and B() with horizon=200"),
    ([result_of(ONE), result_of(OTHER, "B()", common=True)], {}, "common=False and B() with common=True"),
    ([result_of(ONE), result_of(OTHER, "B()", rounds=np.array([1, 2, 3, 100]))], {}, "have other checkpoints"),
    ([result_of(ONE), result_of(OTHER, "B()", pulls=np.zeros((3, 5), np.int64))], {}, "with other arms"),
    ([result_of([1.0]), result_of(OTHER, "B()")], {}, "A() has a single run"),
    (
        [result_of(ONE, common=True), result_of(OTHER, "B()", common=True, seed=4)], {},
        "the runs 0 to 2 of seed 0 and B() the runs 0 to 2 of seed 4; with common random numbers, compare the same",
    ),
    ([result_of(ONE, common=True), result_of([1.0, 2.0], "B()", common=True)], {}, "compare the same runs"),
    ([result_of(ONE), result_of(OTHER, "B()")], {"baseline": "C()"}, "baseline is 'C()'; "),
    ([result_of(ONE), result_of(OTHER, "B()")], {"at": 60}, "at is 60, where no regret was recorded; the nearest"),
    ([result_of(ONE), result_of(OTHER, "B()")], {"confidence": 95}, "confidence is 95; it lies between 0 and 1"),
    ([result_of(ONE), result_of(OTHER, "B()")], {"surrogate": True}, "A() has no surrogate regret"),
]  # fmt: skip


@pytest.mark.parametrize(("results", "options", "sentence"), MISTAKES)
def test_what_does_not_fit_together_is_told_in_one_sentence(results: Any, options: Any, sentence: str) -> None:
    with pytest.raises(sw.InputError) as told:
        sw.compare(results, **options)
    assert sentence in str(told.value) and "\n" not in str(told.value)


def test_independent_results_may_have_other_seeds_and_numbers_of_runs() -> None:
    found = sw.compare([result_of(ONE), result_of([*OTHER, 2.5], "B()", seed=8)])
    expected = stats.ttest_ind(ONE, [*OTHER, 2.5], equal_var=False)
    assert found.pairs[0].p == pytest.approx(expected.pvalue)


def false_alarms(samples: list[sw.Result], baseline: str | None = None) -> float:
    """The share of families in which some pair is said to differ; the k-th family has the k-th part of each result."""
    each = samples[0].runs // FAMILIES
    wrong = 0
    for family in range(FAMILIES):
        parts = {f"p{i}": sample.drop(family * each).take(each) for i, sample in enumerate(samples)}
        found = sw.compare(parts, baseline)
        wrong += any(pair.verdict != "no difference shown" for pair in found.pairs)
    return wrong / FAMILIES


@pytest.mark.parametrize("baseline", [None, "p0"])
def test_independent_runs_of_one_policy_are_said_to_differ_in_one_family_of_twenty(baseline: str | None) -> None:
    """Three samples of 10 runs that differ only in their seed."""
    samples = [sw.simulate(sw.UCB(), CAMERA, 100, 10 * FAMILIES, seed, checkpoints=2) for seed in range(3)]
    share = false_alarms(samples, baseline)
    print(f"false alarms in {100 * share:.1f} % of {FAMILIES} families")
    assert 0.01 < share < 0.05 + TOLERANCE


def test_common_runs_of_one_policy_are_said_to_differ_in_one_family_of_twenty() -> None:
    """Three policies that are the same but for a rounding error, and so have generators of their own."""
    policies = [sw.UCB(alpha=2.0 + i * 1e-12) for i in range(3)]
    samples = [sw.simulate(own, CAMERA, 100, 10 * FAMILIES, 0, checkpoints=2, common=True) for own in policies]
    finals = [sample.regret[:, -1] for sample in samples]
    assert all(0.1 < np.corrcoef(*pair)[0, 1] < 0.99 for pair in itertools.combinations(finals, 2))
    share = false_alarms(samples)
    print(f"false alarms in {100 * share:.1f} % of {FAMILIES} families")
    assert 0.01 < share < 0.05 + TOLERANCE


def test_common_runs_show_a_difference_with_fewer_runs() -> None:
    world = sw.paper.mnl()
    chances = []
    for common in (False, True):
        one, other = (sw.simulate(sw.UCB(alpha), world, 2000, 12, common=common) for alpha in (2.0, 1.8))
        found = sw.compare([one, other])
        assert isinstance(found, Comparison) and found.common == common
        chances.append(found.pairs[0].p)
    assert chances[1] < 0.01 < chances[0]


def test_the_interval_of_a_paired_ratio_covers_the_truth() -> None:
    """Of 1000 intervals of 95 %, within five deviations of 0.7 %."""
    rng, covered = np.random.default_rng(3), 0
    for _ in range(1000):
        shared = rng.normal(0.0, 2.0, 12)
        low, high = paired_ratio(30.0 + shared + rng.normal(0.0, 1.0, 12), 10.0 + shared)[1:]
        covered += low <= 3.0 <= high
    assert 915 <= covered <= 985
    assert all(math.isnan(part) for part in paired_ratio([1.0, 2.0], [0.0, 0.0]))


def test_unpaired_samples_without_spread() -> None:
    assert unpaired([1.0, 1.0], [1.0, 1.0]).p == 1.0 and unpaired([2.0, 2.0], [1.0, 1.0]).p == 0.0
    assert math.isnan(unpaired([2.0], [1.0, 2.0]).p)
