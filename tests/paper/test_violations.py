"""The section on worlds that break the assumption shows what was played, and says where each policy fails."""

import itertools

import numpy as np
import pytest

import setwise as sw
from setwise.environments.random_table import MOST_SETS, broken_table, random_table
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


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("margin", [0.0, 0.04, 0.3])
def test_broken_tables_have_the_margin_asked_for(seed, margin):
    world = broken_table(seed, margin)
    best = world.probabilities[0]
    means = np.zeros(3)
    largest = -1.0
    for chosen in list(itertools.combinations(range(7), 3))[1:]:
        world.means(np.array(chosen), means)
        largest = max([largest, *(best[arm] - means[j] for j, arm in enumerate(chosen) if arm < 3)])
        assert means.sum() <= best.sum() - 0.05 + 1e-12
    assert largest == pytest.approx(min(margin, best.max()), abs=1e-12)
    assert sw.check(world)["weak optimal set consistency"].holds is (margin == 0.0)


def test_random_tables_follow_their_seed_and_have_no_structure():
    world = random_table(3)
    assert (world.probabilities == random_table(3).probabilities).all()
    assert (world.probabilities != random_table(4).probabilities).all()
    totals = np.concatenate([random_table(seed).probabilities.sum(axis=1) for seed in range(40)])
    assert abs(np.corrcoef(totals[:-1], totals[1:])[0, 1]) < 0.1 and 0.45 < totals.mean() < 0.55


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: broken_table(0, 1.5), "margin is 1.5; it lies between 0 and 1"),
        (lambda: broken_table(0, 0.1, 20, 13), "k is 13; it can be at most 12"),
        (lambda: broken_table(-1), "seed is -1"),
        (lambda: random_table(0, 30, 10), f"more than {MOST_SETS:,} sets; use fewer arms"),
        (lambda: random_table(0, 3, 4), "k=4 is more than the 3 arms there are"),
    ],
)
def test_what_cannot_be_drawn_is_told(call, sentence):
    with pytest.raises(sw.InputError, match=sentence):
        call()
