"""The section on worlds that break the assumption shows what was played, and says where each policy fails."""

import numpy as np
import pytest

from setwise.experiments.outcome import Outcome
from setwise.paper.exhibits import violations
from setwise.paper.exhibits.exhibit import Scale
from setwise.simulation.result import Result

SMALL = Scale("quick", runs=1, horizon=1000)
FAILS = {"kl-ucb": 0.1, "ucb": 0.15, "thompson": 0.05}


def made(play, final):
    rounds = np.array(play.checkpoints)
    return Result("", "", play.horizon, 0, True, rounds, np.full((1, len(rounds)), final), np.zeros((1, 7), np.int64))


def regret(name, margin):
    if name == "uniform":
        return 1000.0
    if name in FAILS:
        return 700.0 if margin >= FAILS[name] else 100.0
    return 110.0 if name == "robust-ucb" else 55.0


@pytest.fixture
def section():
    plays = violations.plays(SMALL)
    outcome = Outcome({play.digest: made(play, regret(*key)) for key, own in plays.items() for play in own})
    return violations.section(SMALL, outcome)


def test_the_chart_has_the_mean_of_every_policy_at_every_margin(section):
    chart = section.parts[0]
    assert [series.label for series in chart.series] == list(violations.PLAYED)
    for series in chart.series:
        assert series.x.tolist() == list(violations.MARGINS)
        assert series.y.tolist() == [regret(series.label, margin) for margin in violations.MARGINS]


def test_the_text_says_from_where_on_each_policy_fails(section):
    text = section.parts[1].text
    assert "kl-ucb from 0.1 on; ucb from 0.15 on; thompson from 0.05 on" in text
    assert "Less than that at every margin: robust-ucb, set-thompson." in text
    assert "robust-ucb has 1.1 times the regret of kl-ucb; at 0.3, 2 times that of set-thompson" in text


def test_a_policy_that_recovers_does_not_fail():
    found = {(name, margin): np.array([50.0]) for name in violations.PLAYED for margin in violations.MARGINS}
    found |= {("uniform", margin): np.array([100.0]) for margin in violations.MARGINS}
    found |= {("ucb", 0.3): np.array([24.0])}
    assert violations.failing(found, "ucb") is None and violations.failing(found, "kl-ucb") == 0.0
