"""Games with up to a million arms: memory, allocations, the best set, and the same law as with fewer arms.

The statistical test raises a false alarm once in a million seeds; the seeds are fixed.
"""

from typing import Any
from unittest import mock

import numpy as np
import pytest
from scipy import special, stats

import setwise as sw
from setwise import InputError
from setwise.environments import MNL, Independent, RandomUtility
from setwise.environments.ordered import means_of
from setwise.kernels import ranking
from setwise.kernels.ranking import Sorted, Tournament, new_ranking

MANY = 10**6
FALSE_ALARMS = 1e-6
WORLDS = {
    "multinomial logit": MNL,
    "independent": Independent,
    "Gaussian utility": RandomUtility,
    "Gumbel utility": lambda values, k: RandomUtility(values, k, noise="gumbel"),
}
both_sizes = pytest.mark.parametrize("k", [10, 100])
all_worlds = pytest.mark.parametrize("make", WORLDS.values(), ids=WORLDS)


def values_of(n: int) -> Any:
    """Probabilities of n arms, not in order, and some of them equal."""
    return np.round(np.random.default_rng(1).random(n), 4)


def bytes_of(thing: Any) -> int:
    """Of all arrays in nested tuples."""
    return sum(map(bytes_of, thing)) if isinstance(thing, tuple) else thing.nbytes


@both_sizes
@pytest.mark.parametrize("policy", [sw.UCB(), sw.KLUCB(), sw.KLMOSS()], ids=repr)
def test_the_state_has_at_most_64_bytes_an_arm(policy: Any, k: int) -> None:
    state = policy.init(MANY, k, 10**6, np.random.default_rng(0))
    assert type(state.ranking) is Tournament
    assert bytes_of(state) <= 64 * MANY


@both_sizes
@all_worlds
def test_the_best_of_a_million_arms_are_the_first_of_the_sorted_ones(make: Any, k: int) -> None:
    values = values_of(MANY)
    world = make(values, k)
    falling = np.lexsort((np.arange(MANY), -values))
    assert values[falling[k - 1]] == values[falling[k]]  # which of equal ones is best is a matter of their number
    assert world.best().tolist() == falling[:k].tolist()
    assert len(repr(world)) < 200


@both_sizes
@all_worlds
def test_a_million_arms_are_played_once_each_before_any_is_played_again(make: Any, k: int) -> None:
    world, horizon = make(values_of(MANY), k), 2000
    result = sw.simulate(sw.UCB(), world, horizon, threads=1)
    assert result.pulls.shape == (1, MANY)
    assert result.pulls.sum() == k * horizon
    assert result.pulls.max() == 1
    assert 0.0 < result.regret[0, -1] < horizon * means_of(world, world.best()).sum()
    if isinstance(world, Independent):
        missed = horizon * world.values[world.best()].sum() - world.values[result.pulls[0] == 1].sum()
        assert result.regret[0, -1] == pytest.approx(missed, rel=1e-9)


@all_worlds
def test_interpreted_and_compiled_games_with_many_arms_are_the_same_bits(make: Any) -> None:
    world = make(values_of(10**5), 10)
    compiled, interpreted = (sw.simulate(sw.UCB(), world, 60, threads=1, compiled=how) for how in (True, False))
    assert compiled.regret.tobytes() == interpreted.regret.tobytes()
    assert compiled.pulls.tobytes() == interpreted.pulls.tobytes()


def test_arms_are_played_again_when_all_were_played() -> None:
    n, k, horizon = 20_000, 10, 10_000
    result = sw.simulate(sw.UCB(alpha=0.1), MNL(values_of(n), k), horizon, threads=1)
    assert result.pulls.min() >= 1
    assert result.pulls.sum() == k * horizon
    played = result.pulls[0]
    values = values_of(n)
    assert values[played > np.median(played)].mean() > values[played <= np.median(played)].mean()


def runs_of(kind: type, world: Any, horizon: int, runs: int, seed: int) -> Any:
    """Regret and plays of every arm, of so many runs of Algorithm 1 with a ranking of that kind."""
    from setwise.compiled import compile_for
    from setwise.simulation.checks import task_of
    from setwise.simulation.play import new_record, play

    policy, n, k = sw.UCB(alpha=0.5), world.n, world.k
    task, points = task_of(policy, world, n, k, fast=True, record=False), np.array([horizon])
    rows = []
    for rng in np.random.default_rng(seed).spawn(runs):
        state = policy.init(n, k, horizon, rng)
        with mock.patch.object(ranking, "FEW_ARMS", n if kind is Sorted else 0):
            state = state._replace(ranking=new_ranking(state.indices, k))
        assert type(state.ranking) is kind
        record = new_record(n, k, 1, record=False, stretches=True, stop=np.zeros(1, np.int64))
        args = policy, world, state, rng, task, points, record
        if not rows:
            loop = compile_for(play, *args)
        loop(*args)
        rows.append([*record.curves[0], *record.pulls])
    return np.array(rows)


def test_a_tournament_and_a_sorted_order_play_by_the_same_law() -> None:
    """Regret and plays of every arm, by Kolmogorov and Smirnov's test."""
    world = MNL(np.linspace(1.0, 0.2, 30), k=4)
    one, two = (runs_of(kind, world, 150, 1200, seed) for seed, kind in enumerate((Sorted, Tournament)))
    assert one.shape[1] == 31
    least = min(stats.ks_2samp(*pair).pvalue for pair in zip(one.T, two.T))
    assert least > FALSE_ALARMS / one.shape[1]


@pytest.mark.parametrize("k", [1, 2, 10, 100, 101, 1000])
@pytest.mark.parametrize("spread", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("above", [-40.0, -1.0, 2.0, 20.0])
def test_gaussian_choices_from_sets_of_any_size_are_right_to_1e_9(k: int, spread: float, above: float) -> None:
    """Against the trapezoidal rule with a step a tenth as large, in logarithms, over all that counts."""
    scale = 0.7
    utilities = scale * spread * np.random.default_rng(k).normal(size=k)
    outside = utilities.max() + scale * above
    x = np.arange(-10.0, 10.0, 0.0125)[:, np.newaxis] + max(outside, utilities.max()) / scale
    z = x - utilities / scale
    below = special.log_ndtr(z)
    product = below.sum(axis=1, keepdims=True) + special.log_ndtr(x - outside / scale)
    expected = 0.0125 * np.exp(stats.norm.logpdf(z) + product - below).sum(axis=0)
    found = means_of(RandomUtility(utilities, k, outside=outside, scale=scale), range(k))
    assert found == pytest.approx(expected, rel=0, abs=1e-9)


def test_names_of_many_arms_are_cut_where_they_are_printed_and_one_that_is_there_twice_is_found() -> None:
    names = tuple(f"arm {number}" for number in range(10**5))
    world = MNL(values_of(10**5), k=10, names=names)
    assert "names=('arm 0', 'arm 1', 'arm 2', 'arm 3', ... 100000)" in repr(world)
    with pytest.raises(InputError, match="'arm 7' more than once"):
        MNL(values_of(10**5), k=10, names=(*names[:-1], "arm 7"))
