"""The game loop: sets smaller than k, and whole epochs at once.

One statistical test: two-sample Kolmogorov-Smirnov at the level 1e-6 for each of its 4 comparisons; seeds are fixed.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import setwise as sw
from setwise import environments as models
from setwise.types import Floats, Generator, InputError, Ints


class Memory(NamedTuple):
    pulls: Ints
    rounds: Ints
    chosen: Ints


@sw.policy(fixed_size=False)
class Shrinking(NamedTuple):
    """Sets of 3, 2, 1, 3, 2, 1, ... arms; padded, always of 3."""

    pad: bool = True
    too_small: bool = False

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> Memory:
        return Memory(np.zeros(n, np.int64), np.zeros(1, np.int64), np.arange(k))

    def select(self, state: Memory, rng: Generator) -> Ints:
        size = 3
        if not self.pad:
            size = 3 - state.rounds[0] % 3
        if self.too_small:
            size -= 1
        return state.chosen[:size]

    def update(self, state: Memory, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        state.rounds[0] += 1
        for j in range(len(rewards)):
            state.pulls[chosen[j]] += 1


@sw.policy(feedback=("choice",), needs_outside_option=True, epochs=True)
class TwoEpochs(NamedTuple):
    """Arms 0 and 1 until no arm is rewarded, then arms 2 and 3, and so on in turn."""

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> Memory:
        return Memory(np.zeros(n, np.int64), np.zeros(2, np.int64), np.arange(2))

    def select(self, state: Memory, rng: Generator) -> Ints:
        return state.chosen

    def update(self, state: Memory, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        state.rounds[0] += 1
        if rewards[0] + rewards[1] == 0.0:
            state.rounds[1] += 1
            for j in range(2):
                state.chosen[j] = (state.chosen[j] + 2) % 4

    def certain_rounds(self, state: Memory, chosen: Ints) -> int:
        return 1

    def update_many(self, state: Memory, chosen: Ints, totals: Floats, rounds: int) -> None:
        state.rounds[0] += rounds


WORLD = models.MNL([1.0, 0.5, 0.25, 2.0], k=3)
PAIRS = models.MNL([1.0, 0.5, 0.25, 2.0], k=2)


@pytest.mark.parametrize("compiled", [False, True])
def test_smaller_sets_are_played_and_counted(compiled: bool) -> None:
    result = sw.simulate(Shrinking(pad=False), WORLD, 90, runs=2, checkpoints=[30], compiled=compiled)
    assert result.smaller is not None
    assert result.smaller.tolist() == [60, 60]
    assert result.pulls.tolist() == [[90, 60, 30, 0]] * 2
    best = 3.5 / 4.5
    values = [1.75 / 2.75, 1.5 / 2.5, 1.0 / 2.0]
    assert np.allclose(result.regret, [[10 * sum(best - v for v in values), 30 * sum(best - v for v in values)]] * 2)


def test_a_padded_policy_has_no_count_of_smaller_sets() -> None:
    assert sw.simulate(Shrinking(), WORLD, 10, compiled=False).smaller is None


def test_the_count_of_smaller_sets_is_saved(tmp_path) -> None:
    result = sw.simulate(Shrinking(pad=False), WORLD, 9, compiled=False)
    result.save(tmp_path / "r.npz")
    assert sw.Result.load(tmp_path / "r.npz").smaller.tolist() == [6]


def test_smaller_sets_need_a_world_that_knows_them() -> None:
    table = models.Table(np.full((4, 3), 0.2), n=4)
    with pytest.raises(InputError, match=r"Shrinking with pad=False .* Table says nothing; leave pad=False out"):
        sw.simulate(Shrinking(pad=False), table, 10)
    sw.simulate(Shrinking(), table, 10, compiled=False)


@pytest.mark.parametrize(
    ("pad", "words"), [(True, r"chose 2 arms; a set has k=3"), (False, r"0 arms; .* from 1 to k=3")]
)
def test_a_set_of_a_wrong_size_is_refused(pad: bool, words: str) -> None:
    with pytest.raises(InputError, match=words):
        sw.simulate(Shrinking(pad=pad, too_small=True), WORLD, 10, compiled=False)


@pytest.mark.parametrize("model", [m for m in models.MODELS if getattr(m, "smaller_sets", False) is True])
def test_worlds_of_smaller_sets_are_those_of_a_smaller_k(model: type) -> None:
    """The means of a set of 2 do not depend on how many arms a set may have."""
    world = SAMPLES[model.__name__]
    smaller = world._replace(k=2) if "k" in world._fields else world
    if isinstance(world, models.PositionBased):
        smaller = world._replace(examination=world.examination[:2])
    for chosen in (np.array([0, 2]), np.array([3, 1])):
        one, two = np.zeros(2), np.zeros(2)
        world.means(chosen, one)
        smaller.means(chosen, two)
        assert np.allclose(one, two, rtol=1e-12) and one.sum() > 0
    alone = np.zeros(1)
    world.means(np.array([1]), alone)
    assert 0 < alone[0] <= 1


SAMPLES = {
    "MNL": WORLD,
    "Independent": models.Independent([0.3, 0.2, 0.4, 0.1], k=3),
    "RandomUtility": models.RandomUtility([0.3, 0.2, 0.4, 0.1], k=3),
    "NestedLogit": models.NestedLogit([1.0, 0.5, 0.25, 2.0], [0, 0, 1, 1], [0.5, 0.7], k=3),
    "MixedLogit": models.MixedLogit([0.5, 0.5], [[1.0, 0.5, 0.25, 2.0], [0.1, 2.0, 1.0, 0.3]], k=3),
    "MarkovChain": models.MarkovChain.from_weights([1.0, 0.5, 0.25, 2.0], k=3),
    "UnequalNoise": models.UnequalNoise([0.3, 0.2, 0.4, 0.1], [1.0, 2.0, 0.5, 1.0], k=3),
    "Rankings": models.Rankings([[0, 1], [2, 0, 3], [1, 3]], [0.3, 0.3, 0.4], k=3, n=4),
    "Mallows": models.Mallows([2, 0, 1, 3], 0.5, k=3),
    "Duels": models.Duels([[0.5, 0.7, 0.8, 0.6], [0.3, 0.5, 0.1, 0.9], [0.2, 0.9, 0.5, 0.4], [0.4, 0.1, 0.6, 0.5]]),
    "PositionBased": models.PositionBased([0.3, 0.2, 0.4, 0.1], [1.0, 0.6, 0.3]),
    "Cascade": models.Cascade([0.3, 0.2, 0.4, 0.1], k=3),
    "Coverage": models.Coverage([0.5, 0.5], [[0.5, 0.1], [0.2, 0.7], [0.9, 0.0], [0.3, 0.3]], k=3),
}


@pytest.mark.parametrize("compiled", [False, True])
def test_whole_epochs_have_the_law_of_round_by_round(compiled: bool) -> None:
    """The regret and the plays of an arm, over many runs: the same law whether epochs are played at once or not."""
    runs = 2000 if compiled else 300
    both = [
        sw.simulate(TwoEpochs(), PAIRS, 60, runs, seed=3, fast_forward=fast, checkpoints=[7], compiled=compiled)
        for fast in (False, True)
    ]
    assert both[1].fast_forward
    assert (both[1].pulls.sum(axis=1) == 2 * 60).all()
    assert stats.ks_2samp(both[0].regret[:, 0], both[1].regret[:, 0]).pvalue > 1e-6
    assert stats.ks_2samp(both[0].pulls[:, 0], both[1].pulls[:, 0]).pvalue > 1e-6


def test_epochs_need_an_outside_option_in_every_set() -> None:
    sure = models.PreferenceMatrix(np.zeros((4, 4)), 0.0)
    with pytest.raises(InputError, match=r"TwoEpochs needs an outside option in every set; PreferenceMatrix has"):
        sw.simulate(TwoEpochs(), sure, 10)
    assert models.PreferenceMatrix(np.zeros((4, 4)), 0.1).outside_option
    assert not models.Table({(0, 1): (0.5, 0.5), (0, 2): (0.1, 0.1), (1, 2): (0.1, 0.1)}).outside_option
    assert models.Table({(0, 1): (0.5, 0.4), (0, 2): (0.1, 0.1), (1, 2): (0.1, 0.1)}).outside_option
    assert not models.Independent([0.5, 0.5, 0.1], k=2, feedback="choice").outside_option
    assert models.Independent([0.5, 0.5, 0.1], k=2).outside_option
