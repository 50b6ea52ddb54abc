"""Figures 1 and 2 and the sensitivity analyses show the results that were played."""

import math
from fractions import Fraction

import numpy as np
import pytest

from setwise.environments.tabulated import can_tabulate
from setwise.experiments.outcome import Outcome, merged
from setwise.paper.exhibits import (
    figure_1,
    figure_2,
    sensitivity,
    sensitivity_alpha,
    sensitivity_bound,
    sensitivity_epsilon,
    sensitivity_sizes,
)
from setwise.paper.exhibits.exhibit import Scale
from setwise.paper.exhibits.sensitivity_sweep import exponent, last_decade
from setwise.paper.instances import CAMERAS, STEPS
from setwise.report.parts import Bars, Chart, Details, Grid, Section, Text, TextTable
from setwise.simulation import simulate
from setwise.simulation.result import Result

SMALL = Scale("quick", runs=3, horizon=1000)


def made(play, finals, slope=0.0):
    """A result with these regrets at the end, which grew like T^slope."""
    rounds = np.array(play.checkpoints)
    growth = (rounds / play.horizon) ** slope
    return Result(
        policy=repr(play.policy),
        environment="",
        horizon=play.horizon,
        seed=0,
        fast_forward=True,
        rounds=rounds,
        regret=np.asarray(finals, dtype=float)[:, None] * growth[None, :],
        pulls=np.zeros((len(finals), play.environment.n), np.int64),
    )


def outcome_of(sweeps, finals_of):
    """Made results for all plays of sweeps, from a function of the sweep's name, the value and the play."""
    results = {}
    for name, sweep in sweeps.items():
        for value, play in zip(sweep.values, sweep.plays, strict=True):
            found = finals_of(name, value, play)
            results[play.digest] = found if isinstance(found, Result) else made(play, found)
    return Outcome(results)


def parts_in(part):
    """All parts of a section, however deep."""
    yield part
    for inner in getattr(part, "parts", getattr(part, "charts", ())):
        yield from parts_in(inner)


def named(part, name):
    (found,) = [inner for inner in parts_in(part) if getattr(inner, "name", None) == name]
    return found


def texts_of(parts):
    return " ".join(part.text for part in parts if isinstance(part, Text))


def test_figure_2_draws_the_probabilities_of_the_paper():
    bars = named(figure_2.EXHIBIT.section(Scale(), Outcome({})), "figure-2-sets")
    assert isinstance(bars, Bars)
    values = [[bar.value for bar in group] for _, group in bars.groups]
    assert values == [[0.35, 0.3, 0.25], [0.83, 0.01, 0.01], [0.35, 0.49, 0.01], [0.25, 0.59, 0.01]]
    assert [title for title, _ in bars.groups] == [
        "#1, optimal: sum 0.9",
        "#2: sum 0.85",
        "#3: sum 0.85",
        "#4: sum 0.85",
    ]
    styles = {bar.label: bar.style for _, group in bars.groups for bar in group}
    assert styles == {
        "Nikon": "best", "Canon": "best", "Sony": "best", "Digital Camera": "arm 3", "Keyboard": "other",
        "Shoes": "other",
    }  # fmt: skip


def test_digital_camera_leads_seven_of_its_ten_sets_and_ties_in_one():
    assert figure_2.places_of("Digital Camera") == (7, 1, 2)
    assert figure_2.comparisons("Nikon", "Digital Camera") == (2, 2)
    assert figure_2.leaders(
        ("Canon", "Sony", "Digital Camera"), [Fraction(3, 10), Fraction(1, 4), Fraction(3, 10)]
    ) == (
        "Canon",
        "Digital Camera",
    )
    assert figure_2.orders(Scale()) == []
    text = texts_of(figure_2.section(Scale(), Outcome({})).parts)
    assert "7 of the 10 sets that contain it" in text and "Nikon 2 and 2, Canon 1 and 2 sets" in text


def test_figure_2_ranks_all_sets_by_their_sum():
    rows = figure_2.all_sets().rows
    assert len(rows) == 20
    assert rows[0] == ["1", "Nikon, Canon, Sony", "0.35, 0.3, 0.25", "0.9", "0", "Nikon"]
    assert [row[0] for row in rows].count("2") == 10 == sum("Digital Camera" in row[1] for row in rows)
    assert rows[-1] == ["20", "Sony, Keyboard, Shoes", "0.25, 0.01, 0.01", "0.27", "0.63", "Sony"]


@pytest.fixture(scope="module")
def evolution():
    """Figure 1 of a short run, and its results."""
    scale = Scale("quick", horizon=300)
    results = {}
    for order in figure_1.EXHIBIT.orders(scale):
        play = order.play
        assert order.runs == 1 and play.record
        results[play.digest] = simulate(
            play.policy, play.environment, play.horizon, 1, play.seed, checkpoints=play.checkpoints,
            record_indices=True,
            tabulate=True, compiled=False,
        )  # fmt: skip
    outcome = Outcome(results)
    own = {name: outcome[play] for name, play in figure_1.plays(scale).items()}
    return figure_1.EXHIBIT.section(scale, outcome), own


@pytest.mark.parametrize("name", ["ucb", "kl-ucb"])
def test_figure_1_shows_every_recorded_index_and_rho(evolution, name):
    section, results = evolution
    chart, result = named(section, f"figure-1-{name}"), results[name]
    assert [series.label for series in chart.series] == ["rho(t)", *CAMERAS]
    assert chart.x_log and chart.y_log
    assert chart.series[0].y.tolist() == result.rho[0].tolist()
    for arm, series in enumerate(chart.series[1:]):
        assert series.y.tolist() == result.indices[0, :, arm].tolist()
        assert series.x.tolist() == result.rounds.tolist() and series.x[0] == 100.0


def test_figure_1_counts_the_plays_of_every_arm(evolution):
    section, results = evolution
    rows = named(section, "figure-1-arms").rows
    assert [row[1] for row in rows] == [*CAMERAS, *CAMERAS]
    assert [int(row[3]) for row in rows[:6]] == results["ucb"].pulls[0].tolist()
    assert [row[2] for row in rows[6:]] == ["0.35", "0.3", "0.25", "-", "-", "-"]
    assert "stays within 5 % of rho(t) to the end" in texts_of(section.parts)


def recorded_result(last):
    """One run of the camera example with these indices in the end, and rho = 1."""
    return Result(
        policy="", environment="", horizon=10, seed=0, fast_forward=False, rounds=np.array([10]),
        regret=np.zeros((1, 1)), pulls=np.zeros((1, 6), np.int64), indices=np.array([[last]]), rho=np.array([[1.0]]),
    )  # fmt: skip


def test_digital_camera_is_called_left_behind_only_if_it_is():
    left = recorded_result([1.3, 1.1, 1.0, 1.0, 0.99, 1.0])
    nothing_yet = recorded_result([1.02, 1.0, 1.0, 1.0, 1.0, 1.0])
    ahead = recorded_result([1.3, 1.1, 1.0, 1.2, 1.0, 1.0])
    words = "stays with those of the arms left behind"
    assert words in figure_1.about_digital_camera({"ucb": left, "kl-ucb": left})
    for other in (nothing_yet, ahead):
        assert words not in figure_1.about_digital_camera({"ucb": left, "kl-ucb": other})
    text = figure_1.about_digital_camera({"ucb": left, "kl-ucb": ahead})
    assert (
        "its bound stands out from rho(t) in the end with KL-UCB. Over rho(t) it is in the end: Algorithm 1 1.0" in text
    )
    assert "stands out" not in figure_1.about_digital_camera({"ucb": left, "kl-ucb": nothing_yet})
    assert not figure_1.is_left_behind(2, left), "Sony is in the optimal set"


def test_an_arm_leaves_rho_when_its_index_is_five_percent_above_for_good():
    indices = np.array([[5.1, 9.0, 5.0], [4.1, 9.0, 4.0], [3.1, 9.0, 3.0], [4.0, 9.0, 3.0], [4.0, 9.0, 3.1]])
    result = Result(
        policy="", environment="", horizon=50, seed=0, fast_forward=False, rounds=np.array([10, 20, 30, 40, 50]),
        regret=np.zeros((1, 5)), pulls=np.zeros((1, 3), np.int64), indices=indices[None],
        rho=np.array([[5.0, 4.0, 3.0, 3.0, 3.0]]),
    )  # fmt: skip
    assert [figure_1.last_near(result, arm) for arm in range(3)] == [30, None, 50]
    assert [figure_1.last_at_least(result, p) for p in (6.0, 3.5, 3.0)] == [None, 20, 50]


def test_the_exponent_of_a_power_law_is_found():
    values = [1.0, 3.0, 9.0, 27.0]
    found = exponent(values, [np.array([2.0, 5.0, 7.0]) * value**1.5 for value in values])
    assert found == pytest.approx((1.5, 1.5, 1.5))
    tilted = exponent([1.0, 10.0], [np.array([1.0, 1.0, 1.0]), np.array([10.0, 100.0, 1000.0])])
    assert tilted == pytest.approx((2.0, 2.0 - 2.4841377, 2.0 + 2.4841377))
    assert math.isnan(exponent(values, [np.zeros(2)] * 4).value)


@pytest.mark.parametrize("horizon", [2, 60, 999, 1234, 10**6])
def test_checkpoints_lie_in_the_last_decade(horizon):
    points = last_decade(horizon)
    assert points[-1] == horizon
    assert (points >= horizon / 10).all() and (np.diff(points) > 0).all()


def test_alpha_of_least_regret_and_runs_that_fail_are_found():
    sweeps = sensitivity_alpha.sweeps(SMALL)

    def finals(name, alpha, play):
        if name == "preference-matrix" and alpha == 0.1:
            result = made(play, [10.0, 10.0, 1000.0], slope=0.2)
            result.regret[2] = 1000.0 * result.rounds / play.horizon
            return result
        return [100.0 * alpha - 1.0, 100.0 * alpha, 100.0 * alpha + 1.0]

    parts = sensitivity_alpha.parts(SMALL, outcome_of(sweeps, finals))
    chart = named(parts[0], "sensitivity-alpha-mnl")
    assert chart.series[0].y.tolist() == pytest.approx([100.0 * alpha for alpha in sensitivity_alpha.ALPHAS])
    assert chart.series[0].high[0] - chart.series[0].y[0] == pytest.approx(4.3026527 / math.sqrt(3.0))
    assert chart.series[1].y.tolist() == pytest.approx([200.0, 200.0])
    least = named(Section("", "", parts), "sensitivity-alpha-least").rows
    assert [row[2] for row in least] == ["0.1", "0.1", "0.2", "0.1"]
    text = texts_of(parts)
    assert "multinomial logit alpha = 0.1, 20 (" in text
    assert "preference matrix, alpha = 0.1: 1 of 3, the worst with 2.94 times the mean" in text
    numbers = named(Section("", "", parts), "sensitivity-alpha-numbers").rows
    assert [row[6] for row in numbers if row[6] != "0 of 3"] == ["1 of 3"]


@pytest.mark.parametrize(("finals", "fails"), [([0.9, 3.9, 1.1], False), ([0.9, 4.1, 1.1], True)])
def test_linear_growth_is_a_failure_if_it_costs_more_than_twice_the_mean_with_alpha_2(finals, fails):
    def result(name, alpha, play):
        return made(play, finals if alpha == 0.5 else [1.9, 2.0, 2.1], slope=1.0 if alpha == 0.5 else 0.3)

    text = texts_of(sensitivity_alpha.parts(SMALL, outcome_of(sensitivity_alpha.sweeps(SMALL), result)))
    assert ("too narrow to hold" in text) == fails
    assert ("No run with a smaller alpha has regret that is more than 2 times the mean" in text) == (not fails)
    assert text.count("alpha = 0.5: 1 of 3") == (4 if fails else 0)
    assert "chosen by the same runs" in text


def test_failures_cannot_be_told_where_regret_is_linear_with_alpha_2_too():
    def result(name, alpha, play):
        return made(play, [0.9 * alpha, alpha, 1.1 * alpha], slope=0.3 if name == "mnl" else 1.0)

    text = texts_of(sensitivity_alpha.parts(SMALL, outcome_of(sensitivity_alpha.sweeps(SMALL), result)))
    assert "cannot be told in random utility, preference matrix, random weak consistency, where" in text
    assert "over the last decade elsewhere; but so few runs" in text
    outcome = outcome_of(
        sensitivity_alpha.sweeps(SMALL),
        lambda name, alpha, play: made(play, [0.9 * alpha, alpha, 1.1 * alpha], slope=1.0),
    )
    parts = sensitivity_alpha.parts(SMALL, outcome)
    assert "No run" not in texts_of(parts) and "can fail" not in texts_of(parts)
    numbers = named(Section("", "", parts), "sensitivity-alpha-numbers").rows
    assert {row[6] for row in numbers} == {"3 of 3"} and {row[5] for row in numbers} == {"linear"}


def test_the_families_of_sizes_are_those_of_the_text():
    worlds = {name: family.world for name, family in sensitivity_sizes.FAMILIES.items()}
    assert worlds["mnl-k"](10).values == pytest.approx(STEPS) and worlds["mnl-k"](10).k == 10
    assert worlds["mnl-n"](20).values == pytest.approx(STEPS)
    for name, epsilon in (("lower-k", 0.05), ("lower-n", 0.1)):
        for value in sensitivity_sizes.FAMILIES[name].values:
            assert worlds[name](value).gaps()[0] == pytest.approx(epsilon)


def test_regret_of_alpha_log_t_over_epsilon_for_each_arm_left_out_has_the_constant_alpha():
    sweeps = sensitivity_sizes.sweeps(SMALL)

    def finals(name, value, play):
        world = play.environment
        regret = 2.0 * (world.n - world.k) * math.log(play.horizon) / world.gaps()[0]
        return [0.9 * regret, regret, 1.1 * regret]

    outcome = outcome_of(sweeps, finals)
    for name, sweep in sweeps.items():
        found = sensitivity_sizes.measure(sweep, outcome)
        assert found.arm_constant == pytest.approx(np.full(len(sweep.values), 2.0))
        if name.startswith("lower"):
            assert exponent(found.n - found.k, found.regrets).value == pytest.approx(1.0)
    parts = sensitivity_sizes.parts(SMALL, outcome)
    chart = named(parts[0], "sensitivity-lower-k")
    assert chart.series[0].y == pytest.approx(chart.series[2].y)
    assert chart.series[1].y / chart.series[1].y[0] == pytest.approx((np.array(sensitivity_sizes.SET_SIZES) / 2.0) ** 2)
    rows = named(Section("", "", parts), "sensitivity-sizes-exponents").rows
    assert [row[3] for row in rows[2:]] == ["2", "1"]
    assert [row[4] for row in rows[2:]] == ["0", "0"]


@pytest.mark.parametrize(("share", "little"), [(0.099, True), (0.11, False)])
def test_what_is_not_told_apart_costs_little_only_below_a_tenth_of_what_there_is_to_lose(share, little):
    sweeps = sensitivity_sizes.sweeps(SMALL)
    outcome = outcome_of(sweeps, lambda name, value, play: [share * play.horizon * play.environment.gaps()[1]] * 3)
    parts = sensitivity_sizes.parts(SMALL, outcome)
    assert ("costs little" in texts_of(parts)) == little
    assert f"regret is {100 * share:.1f} % to {100 * share:.1f} % of T x largest gap" in texts_of(parts)
    assert "dashes and dots is alpha (n - k) log T / epsilon" in parts[0].caption


def test_the_constant_is_regret_times_epsilon_over_n_log_t():
    sweeps = sensitivity_epsilon.sweeps(SMALL)

    def finals(key, epsilon, play):
        return np.array([0.5, 1.0, 1.5]) * 10 * math.log(play.horizon) / epsilon

    outcome = outcome_of(sweeps, finals)
    for key, sweep in sweeps.items():
        for at in sensitivity_epsilon.constants(sweep, outcome, key[0]):
            assert at.constant == pytest.approx([0.5, 1.0, 1.5])
            assert at.share == pytest.approx(10 * math.log(1000) / at.epsilon / (1000 * 3 * at.epsilon))
    chart = named(sensitivity_epsilon.parts(SMALL, outcome)[0], "sensitivity-constant-choice")
    assert chart.series[0].y.tolist() == pytest.approx([1.0] * 6)
    assert chart.series[-1].y[4] == pytest.approx(0.7 * 0.01 / (0.2 * math.log(0.35 / 0.15)))


def test_what_the_constants_tend_to():
    ucb, kl_ucb = (sensitivity_epsilon.POLICIES[name]() for name in ("ucb", "kl-ucb"))
    assert sensitivity_epsilon.limit_constant(ucb, 0.05, "choice") == pytest.approx(0.7 * 2.0)
    divergence = 0.3 * math.log(0.3 / 0.5) + 0.7 * math.log(0.7 / 0.5)
    assert sensitivity_epsilon.limit_constant(kl_ucb, 0.2, "independent") == pytest.approx(0.7 * 0.04 / divergence)


def test_where_regret_is_capped_the_horizon_is_called_too_short():
    sweeps = sensitivity_epsilon.sweeps(SMALL)

    def finals(key, epsilon, play):
        share = 0.5 if epsilon < 0.05 else 0.01
        return np.full(3, share * play.horizon * play.environment.gaps()[1])

    text = texts_of(sensitivity_epsilon.parts(SMALL, outcome_of(sweeps, finals)))
    assert text.count("For epsilon up to 0.02 the horizon is too short to tell") == 4
    assert text.count("50% to 50% of T x largest gap") == 4
    assert text.count("for epsilon from 0.05 to 0.2: a factor of 16.00") == 4


def test_prices_raise_the_gap_and_rarity_takes_it_back():
    for bound in sensitivity_bound.BOUNDS:
        assert sensitivity_bound.dearer(bound).gaps() == pytest.approx((0.3 * bound, 0.9 * bound))
        assert sensitivity_bound.rarer(bound).gaps() == pytest.approx((0.3, 0.9))
        assert sensitivity_bound.rarer(bound).bound == bound
    orders = [order for sweep in sensitivity_bound.sweeps(SMALL).values() for order in sweep.orders()]
    assert len(orders) == 6 and len(merged(orders)) == 5


def test_the_power_of_the_largest_reward_is_measured():
    sweeps = sensitivity_bound.sweeps(SMALL)
    powers = {"dearer": 1, "rarer": 2}
    outcome = outcome_of(sweeps, lambda name, bound, play: np.array([0.9, 1.0, 1.1]) * 5.0 * bound ** powers[name])
    parts = sensitivity_bound.parts(SMALL, outcome)
    text = texts_of(parts)
    assert "measured is B^1 (1 to 1)" in text and "measured is B^2 (2 to 2)" in text
    assert "in 0 runs" in text
    rows = named(Section("", "", parts), "sensitivity-bound-numbers").rows
    assert [row[4] for row in rows] == ["5", "5", "5", "5", "25", "100"]
    assert [row[5] for row in rows] == ["5", "1", "0.25", "5", "5", "5"]


def test_one_compiled_version_of_a_policy_serves_all_worlds_without_prices():
    orders = merged(sensitivity.EXHIBIT.orders(SMALL))
    priced = [order.play for order in orders if order.play.group.endswith("Scaled")]
    assert len(orders) == 89 and len(priced) == 5
    assert all(can_tabulate(order.play.environment) for order in orders if order.play not in priced)
    names = {tuple(name.rpartition(".")[2] for name in order.play.group.split()) for order in orders}
    assert names == {("UCB", "Tabulated"), ("KLUCB", "Tabulated"), ("UCB", "Scaled")}


def test_the_whole_section_has_unique_names_and_stands_on_a_single_run():
    scale = Scale("quick", runs=1, horizon=1000)
    orders = merged(sensitivity.EXHIBIT.orders(scale))
    outcome = Outcome({order.play.digest: made(order.play, [7.0]) for order in orders})
    section = sensitivity.EXHIBIT.section(scale, outcome)
    parts = [part for part in parts_in(section) if isinstance(part, Section | Grid | Chart | TextTable)]
    assert len({part.name for part in parts}) == len(parts) == 1 + 4 + 14 + 5
    charts = [part for part in parts if isinstance(part, Chart)]
    assert all(series.y.size == series.x.size > 0 for chart in charts for series in chart.series)
    assert all(chart.series[0].low is None for chart in charts)
    assert sum(isinstance(part, Details) for part in parts_in(section)) == 2
