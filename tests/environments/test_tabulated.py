"""Worlds with few sets as tables: the same means and the same runs."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise.environments import MNL, Coverage, Needle, RandomUtility, Scaled
from setwise.environments.tabulated import can_tabulate, tabulated

SMALL = {
    "mnl": MNL([0.9, 0.7, 0.5, 0.3, 0.2], k=2),
    "random utility": RandomUtility([0.5, 0.4, 0.1, 0.0], k=2),
    "preference matrix": sw.paper.preference_matrix(),
    "random weak": sw.paper.random_weak(seed=3),
    "camera": sw.paper.camera(),
    "independent": sw.environments.Independent([0.5, 0.4, 0.3, 0.2], 3),
    "mallows": sw.environments.PRESETS["mallows"](),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_table_has_the_means_of_every_set_in_any_order(name):
    world = SMALL[name]
    table = tabulated(world)
    out, expected = np.zeros(world.k), np.zeros(world.k)
    for arms in itertools.permutations(range(world.n), world.k):
        chosen = np.array(arms)
        table.means(chosen, out)
        world.means(chosen, expected)
        assert out == pytest.approx(expected, abs=1e-12)
        if hasattr(world, "surrogate"):
            assert table.surrogate(chosen) == pytest.approx(world.surrogate(chosen), abs=1e-12)
    assert sorted(table.best()) == sorted(world.best())
    assert table.feedback is world.feedback


@pytest.mark.parametrize("name", ["preference matrix", "random weak", "camera"])
def test_runs_are_the_same_bits_where_means_do_not_depend_on_the_order(name):
    plain, table = (
        sw.simulate(sw.UCB(), SMALL[name], 300, 2, seed=5, compiled=False, tabulate=tabulate)
        for tabulate in (False, True)
    )
    assert np.array_equal(plain.regret, table.regret)
    assert np.array_equal(plain.pulls, table.pulls)
    assert plain.environment == table.environment


@pytest.mark.parametrize("name", ["mnl", "random utility", "mallows"])
def test_runs_are_the_same_up_to_rounding_elsewhere(name):
    plain, table = (
        sw.simulate(sw.UCB(), SMALL[name], 300, 2, seed=5, compiled=False, tabulate=tabulate)
        for tabulate in (False, True)
    )
    assert table.regret == pytest.approx(plain.regret, abs=1e-9)
    assert np.array_equal(plain.pulls, table.pulls)
    if plain.surrogate_regret is not None:
        assert table.surrogate_regret == pytest.approx(plain.surrogate_regret, abs=1e-9)


def test_worlds_whose_means_do_not_say_all_are_left_alone():
    assert not can_tabulate(Scaled(sw.paper.camera(), [1.0, 2.0, 3.0, 1.0, 1.0, 1.0]))
    assert not can_tabulate(sw.environments.PRESETS["coverage"]())
    assert not can_tabulate(Needle(40, 10))
    assert can_tabulate(sw.paper.mnl())
    assert Coverage.ordered_sets


def test_smaller_sets_are_played_in_the_world_itself():
    world = MNL([0.9, 0.7, 0.5, 0.3, 0.2], k=3)
    plain, table = (
        sw.simulate(sw.MaxMinUCB(pad=False), world, 2000, 1, compiled=False, tabulate=tabulate)
        for tabulate in (False, True)
    )
    assert np.array_equal(plain.regret, table.regret)
    assert plain.smaller[0] > 0 and np.array_equal(plain.smaller, table.smaller)


def test_runs_can_be_added_to_those_there_are():
    world = sw.paper.camera()
    whole = sw.simulate(sw.UCB(), world, 200, 5, seed=1, compiled=False)
    first = sw.simulate(sw.UCB(), world, 200, 2, seed=1, compiled=False)
    rest = sw.simulate(sw.UCB(), world, 200, 3, seed=1, compiled=False, first_run=2)
    assert (first.first, rest.first) == (0, 2)
    assert np.array_equal(sw.Result.join([first, rest]).regret, whole.regret)
    assert np.array_equal(sw.Result.join([first, rest]).pulls, whole.pulls)
    with pytest.raises(sw.InputError, match="first_run is -1"):
        sw.simulate(sw.UCB(), world, 200, 2, first_run=-1)


def worlds_of_one_name():
    """Two worlds whose classes have the same name and the same values, and other means."""
    made = []
    for share in (1.0, 0.5):
        scope = {"__name__": "twins", "share": share, "sw": sw, "NamedTuple": NamedTuple}
        exec(TWIN, scope)
        made.append(scope["Twin"]([0.3, 0.2, 0.1]))
    return made


TWIN = """
@sw.environment(feedback="independent", rewards="binary")
class Twin(NamedTuple):
    values: object
    n: int = 3
    k: int = 2

    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = self._share(self.values[chosen[j]])

    def _share(self, value):
        return share * value

    def draw(self, chosen, rng, rewards):
        raise NotImplementedError

    def best(self):
        return sw.simulation.result.np.array([0, 1])
"""


def test_worlds_of_one_name_have_tables_of_their_own():
    one, other = worlds_of_one_name()
    assert tabulated(one).probabilities[0].tolist() == [0.3, 0.2]
    assert tabulated(other).probabilities[0].tolist() == [0.15, 0.1]
