"""The report's final regrets against plain references, played round by round; and Figure 3's order and curves.

The golden values, in tests/data/golden.json, come from policies and worlds that share no code with the package, except
that the random world's table is the package's (see tests/reference/golden.py). The mean of the report's plays has to be
within the joint interval of both means at the level `LEVEL`. By Bonferroni all comparisons together raise a false alarm
for less than one choice of seeds in a thousand; the seeds are fixed. Other parameters and worlds are detected.
"""

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from reference import golden
from reference.golden import Golden
from setwise.experiments.outcome import Order, Outcome
from setwise.experiments.plays import Play
from setwise.experiments.run_plays import play_all
from setwise.paper.exhibits import figure_3, regret_panels
from setwise.paper.exhibits.exhibit import Scale
from setwise.policies import POLICIES
from setwise.report.parts import Series
from setwise.simulation.checks import check_points
from setwise.simulation.result import Result

KEPT = golden.kept()
BY_NAME = {(value.policy, value.world, value.measure): value for value in KEPT}
RUNS = 100
FALSE_ALARMS = 1e-3
LEVEL = FALSE_ALARMS / len(KEPT)
ROUNDING = 1e-9  # of a mean; some plays cost the same in every run


@cache
def played(policy: str, world: str, horizon: int) -> Result:
    """Runs of the package as the report plays them."""
    play = regret_panels.play_of(policy, world, Scale(size="quick"), horizon)
    assert play is not None
    return play_all([Order(play, RUNS)], jobs=1)[0][play]


def changed(policy: Any, world: Any, value: Golden) -> Result:
    """Runs of another policy or in another world than that of the golden value.

    More of them, so that what is noticed is due to the difference and not to luck.
    """
    return Play.of(policy, world, value.horizon, checkpoints=[value.horizon]).run(4 * RUNS)


def finals(result: Result, measure: str) -> Any:
    curves = result.regret if measure == "regret" else result.surrogate_regret
    assert curves is not None
    return curves[:, -1]


def differs(value: Golden, result: Result) -> bool:
    """Whether the runs are outside of the joint interval.

    It is that of Student's t with the degrees of freedom of the smaller sample, which is a little wide.
    """
    own = finals(result, value.measure)
    difference = float(own.mean()) - value.mean
    error = math.hypot(value.error, float(own.std(ddof=1)) / math.sqrt(len(own)))
    most = float(stats.t.isf(LEVEL / 2, min(value.runs, len(own)) - 1)) * error + ROUNDING * value.mean
    print(f"{name_of(value)}: {value.mean:.6g} and {own.mean():.6g}, apart by {difference:+.3g}, of at most {most:.3g}")
    return abs(difference) > most


def name_of(value: Golden) -> str:
    return f"{value.policy}, {value.world}, {value.measure}"


@pytest.mark.parametrize("value", KEPT, ids=name_of)
def test_final_regrets_are_those_of_the_plain_references(value: Golden) -> None:
    assert not differs(value, played(value.policy, value.world, value.horizon))


def test_the_three_algorithms_and_the_recommended_one_are_compared_in_all_worlds() -> None:
    policies = [*figure_3.LABELS, "kl-ucb"]
    wanted = {(policy, world, "regret") for policy in policies for world in regret_panels.WORLDS}
    wanted |= {(policy, "random-utility", "surrogate") for policy in policies}
    assert set(BY_NAME) == wanted
    assert all(value.horizon == golden.HORIZON and value.runs == golden.RUNS[value.policy] for value in KEPT)


def test_what_is_compared_is_what_the_quick_report_plays() -> None:
    ordered = {order.play.digest for order in regret_panels.orders(Scale(size="quick"))}
    for value in KEPT:
        play = regret_panels.play_of(value.policy, value.world, Scale(size="quick"), value.horizon)
        assert play is not None and play.digest in ordered


@pytest.mark.parametrize(
    ("policy", "world", "parameters"),
    [
        ("ucb", "mnl", {"alpha": 1.8}),
        ("ucb", "random-utility", {"alpha": 1.8}),
        ("ucb", "camera", {"alpha": 1.8}),
        ("kl-ucb", "random-utility", {"alpha": 0.75}),
        ("mnl-ucb", "random-utility", {"alpha": 43.2}),
        ("mnl-ucb", "random-weak", {"alpha": 43.2}),
        ("stagewise-elimination", "random-weak", {"cumulative": True}),
        ("stagewise-elimination", "camera", {"bernstein": True}),
    ],
)
def test_another_parameter_is_noticed(policy: str, world: str, parameters: dict[str, Any]) -> None:
    value = BY_NAME[policy, world, "regret"]
    assert differs(value, changed(POLICIES[policy](**parameters), regret_panels.world_of(world), value))


@pytest.mark.parametrize("policy", ["ucb", "mnl-ucb", "stagewise-elimination"])
def test_another_weight_of_the_outside_option_is_noticed(policy: str) -> None:
    value = BY_NAME[policy, "mnl", "regret"]
    assert differs(value, changed(POLICIES[policy](), regret_panels.world_of("mnl")._replace(outside=1.1), value))


@pytest.mark.parametrize("policy", ["ucb", "stagewise-elimination"])
def test_another_utility_of_the_outside_option_is_noticed(policy: str) -> None:
    value = BY_NAME[policy, "random-utility", "regret"]
    assert differs(
        value, changed(POLICIES[policy](), regret_panels.world_of("random-utility")._replace(outside=2.1), value)
    )


def check_first_runs(policy: str, world: str, runs: int) -> None:
    """That the references still play the runs that are kept."""
    again = [golden.play(policy, world, golden.HORIZON, run) for run in range(runs)]
    for value in KEPT:
        if (value.policy, value.world) == (policy, world):
            assert [getattr(final, value.measure) for final in again] == pytest.approx(value.first[:runs], rel=1e-9)


@pytest.mark.parametrize("policy", [policy for policy in golden.PLAYERS if policy != "kl-ucb"])
def test_the_references_still_play_what_is_kept(policy: str) -> None:
    check_first_runs(policy, "camera", 1)


@pytest.mark.slow
@pytest.mark.parametrize("world", golden.WORLDS)
@pytest.mark.parametrize("policy", golden.PLAYERS)
def test_the_references_still_play_what_is_kept_in_every_world(policy: str, world: str) -> None:
    check_first_runs(policy, world, golden.SHOWN)


FEW = Scale(size="quick", runs=6, horizon=2000)


@cache
def few_runs() -> Outcome:
    return play_all(figure_3.orders(FEW), jobs=1)[0]


def result_of(policy: str, world: str) -> Result:
    return few_runs()[figure_3.play(policy, world, FEW)]


def adjusted_by_hand(chances: list[float]) -> list[float]:
    """Holm: the largest of (m - j) p_j over the chances p_0, p_1, ... in order of size that are not larger."""
    m = len(chances)
    ordered = sorted(chances)
    return [min(1.0, max((m - j) * ordered[j] for j in range(m) if ordered[j] <= p)) for p in chances]


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_the_ordering_printed_is_a_paired_test_of_the_same_runs() -> None:
    pairs = [(world, rival) for world in figure_3.WORLDS for rival in ("mnl-ucb", "stagewise-elimination")]
    tests = []
    for world, rival in pairs:
        own, other = (result_of(policy, world).regret[:, -1] for policy in ("ucb", rival))
        assert len(own) == 6
        tests.append((own, other, stats.ttest_rel(own, other)))
    chances = adjusted_by_hand([float(test.pvalue) for *_, test in tests])
    table = figure_3.ordering(FEW, few_runs())
    assert len(table.rows) == len(pairs) == 8
    for row, (world, rival), (own, other, test), p in zip(table.rows, pairs, tests, chances, strict=True):
        assert (row[0], row[1]) == (regret_panels.WORLDS[world], figure_3.LABELS[rival])
        assert [number(row[2]), number(row[3])] == pytest.approx([own.mean(), other.mean()], abs=0.051)
        difference, low, _, high = row[4].replace("(", "").replace(")", "").split()
        ends = test.confidence_interval(0.95)
        shown = [number(difference), number(low), number(high)]
        assert shown == pytest.approx([(own - other).mean(), ends.low, ends.high], abs=0.051)
        assert number(row[5]) == pytest.approx(p, rel=0.051)
        wins = "Algorithm 1" if own.mean() < other.mean() else "the rival"
        assert row[6] == (wins if p < 0.05 else "not decided")


def test_the_verdict_goes_either_way_or_is_left_open() -> None:
    assert figure_3.verdict(-1.0, 0.049) == "Algorithm 1"
    assert figure_3.verdict(1.0, 0.049) == "the rival"
    assert figure_3.verdict(-1.0, 0.05) == figure_3.verdict(1.0, 0.05) == "not decided"
    assert figure_3.verdict(-1.0, math.nan) == "not decided"


def curves_at(series: Series, world: str) -> Any:
    """What the paper plots, of all runs, at the rounds of the curve, which are spread evenly up to the horizon."""
    result = result_of(series.style, world)
    curves = result.surrogate_regret if world == "random-utility" else result.regret
    assert curves is not None
    assert np.array_equal(series.x, check_points(40, result.horizon, "linear"))
    return curves[:, np.searchsorted(result.rounds, series.x)]


@pytest.mark.parametrize("world", figure_3.WORLDS)
def test_the_curves_are_means_and_deviations_of_the_first_five_runs(world: str) -> None:
    chart = figure_3.chart(world, FEW, few_runs())
    assert [series.style for series in chart.series] == ["ucb", "mnl-ucb", "stagewise-elimination"]
    for series in chart.series:
        curves = curves_at(series, world)
        mean, spread = np.mean(curves[:5], axis=0), np.std(curves[:5], axis=0, ddof=1)
        assert series.y == pytest.approx(mean, rel=1e-12)
        assert series.low == pytest.approx(mean - spread, rel=1e-9, abs=1e-9)
        assert series.high == pytest.approx(mean + spread, rel=1e-9)
    assert not np.allclose(chart.series[0].y, curves_at(chart.series[0], world).mean(axis=0))  # of all six


def test_the_panel_on_random_utility_counts_as_the_paper_does() -> None:
    """The gap of a set is the sum of mu over the best set less that over the set, here counted from the plays."""
    utilities = np.array(golden.PAPER_VALUES)
    chart = figure_3.chart("random-utility", FEW, few_runs())
    assert chart.y_label == "regret, by the sum of the means"
    assert figure_3.chart("mnl", FEW, few_runs()).y_label == "cumulative regret"
    for series in chart.series:
        result = result_of(series.style, "random-utility")
        counted = result.horizon * utilities[:5].sum() - result.pulls[:5] @ utilities
        assert series.y[-1] == pytest.approx(counted.mean(), rel=1e-9)
        assert series.y[-1] > 5 * result.regret[:, -1].mean()  # the loss itself is far smaller
