"""Click models: means, best orders and gaps against brute force, and clicks that are not observed."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setwise as sw
from reference.sets import means_of
from setwise import InputError
from setwise.environments import PRESETS, Cascade, PositionBased, Scaled
from setwise.testing import check_environment
from setwise.types import Floats, Ints

EIGHTHS = st.integers(0, 8).map(lambda number: number / 8)


def gaps_of_orders(world: Any) -> tuple[float, float, float]:
    """The value of the best ordered set, and the least positive and the largest gap."""
    values = [sum(means_of(world, list(order))) for order in itertools.permutations(range(world.n), world.k)]
    gaps = [max(values) - value for value in values]
    return max(values), min((gap for gap in gaps if gap > 1e-12), default=0.0), max(gaps)


@st.composite
def attractions_and_size(draw: Any) -> tuple[list[float], int]:
    attraction = draw(st.lists(EIGHTHS, min_size=1, max_size=5))
    return attraction, draw(st.integers(1, len(attraction)))


def test_clicks_by_position_by_hand() -> None:
    world = PositionBased([0.2, 0.9, 0.5], [1.0, 0.5])
    assert means_of(world, [2, 1]).tolist() == [0.5, 0.45]
    assert means_of(world, [1, 2]).tolist() == [0.9, 0.25]
    assert means_of(world, [0]).tolist() == [0.2]
    assert world.best().tolist() == [1, 2] and (world.n, world.k) == (3, 2)


@pytest.mark.hypothesis
@given(attractions_and_size(), st.data())
def test_best_positions_and_gaps_are_those_of_brute_force(sizes: tuple[list[float], int], data: Any) -> None:
    attraction, k = sizes
    world = PositionBased(attraction, data.draw(st.lists(EIGHTHS, min_size=k, max_size=k)))
    value, least, largest = gaps_of_orders(world)
    assert means_of(world, world.best()).sum() == pytest.approx(value)
    assert world.gaps() == pytest.approx((least, largest), abs=1e-12)


def test_a_cascade_by_hand() -> None:
    world = Cascade([0.5, 0.2, 0.1], k=3)
    assert means_of(world, [0, 1, 2]) == pytest.approx([0.5, 0.1, 0.04])
    assert means_of(world, [2, 1, 0]) == pytest.approx([0.1, 0.18, 0.36])
    for order in itertools.permutations(range(3)):
        assert means_of(world, list(order)).sum() == pytest.approx(1 - 0.5 * 0.8 * 0.9)


@pytest.mark.hypothesis
@given(attractions_and_size())
def test_best_set_and_gaps_of_a_cascade_are_those_of_brute_force(sizes: tuple[list[float], int]) -> None:
    world = Cascade(*sizes)
    value, least, largest = gaps_of_orders(world)
    assert means_of(world, world.best()).sum() == pytest.approx(value)
    assert world.gaps() == pytest.approx((least, largest), abs=1e-12)
    assert world.outside_option == (value < 1.0)


def test_nothing_below_the_click_is_observed() -> None:
    world, rng = Cascade([0.5, 0.4, 0.3, 0.2], k=3), np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        rewards = np.zeros(3)
        world.draw(np.array([3, 0, 2]), rng, rewards)
        seen.add(tuple("?" if math.isnan(reward) else int(reward) for reward in rewards))
    assert seen == {(1, "?", "?"), (0, 1, "?"), (0, 0, 1), (0, 0, 0)}


def test_the_rate_of_clicks_on_what_is_observed_is_the_attraction() -> None:
    """At 6 standard errors, so that one seed in 10^8 fails."""
    world, rng = Cascade([0.5, 0.4, 0.3, 0.2], k=3), np.random.default_rng(1)
    shown, clicks, rewards = np.zeros(3), np.zeros(3), np.zeros(3)
    for _ in range(20_000):
        world.draw(np.array([3, 0, 2]), rng, rewards)
        shown += ~np.isnan(rewards)
        clicks += np.nan_to_num(rewards)
    wanted = np.array([0.2, 0.5, 0.3])
    assert (np.abs(clicks / shown - wanted) < 6 * np.sqrt(wanted * (1 - wanted) / shown)).all()


def test_all_rewards_of_a_cascade_can_be_observed() -> None:
    world, rng, rewards = Cascade([0.5, 0.4, 0.3], k=3, missing=False), np.random.default_rng(0), np.zeros(3)
    for _ in range(50):
        world.draw(np.array([0, 1, 2]), rng, rewards)
        assert not np.isnan(rewards).any() and rewards.sum() <= 1
    check_environment(world, draws=1000, compiled=False)


def test_prices_of_clicks_keep_the_contract() -> None:
    world = Scaled(Cascade([0.5, 0.5], k=2), [1.0, 3.0])  # first the arm that earns more
    assert world.best().tolist() == [1, 0] and world.gaps() == (0.5, 0.5)
    check_environment(Scaled(PRESETS["cascade"](), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]), draws=1000, compiled=False)
    check_environment(Scaled(PRESETS["position-based"](), 2.0), draws=1000, compiled=False)


class Looks(NamedTuple):
    clicks: Floats
    looks: Floats
    level: Floats


@sw.policy(feedback=("independent",))
class PositionUCB(NamedTuple):
    """Lagree, Vernade, Cappe 2016: the index is C / L + sqrt(log T / (2 L)), L the sum of e_l over an arm's plays."""

    examination: Floats

    def init(self, n: int, k: int, horizon: int, rng: Any) -> Looks:
        return Looks(np.zeros(n), np.zeros(n), np.array([0.5 * math.log(horizon)]))

    def select(self, state: Looks, rng: Any) -> Ints:
        index = np.full(len(state.looks), np.inf)
        for arm in range(len(index)):
            if state.looks[arm] > 0.0:
                index[arm] = (state.clicks[arm] + math.sqrt(state.level[0] * state.looks[arm])) / state.looks[arm]
        return np.argsort(-index, kind="stable")[: len(self.examination)]

    def update(self, state: Looks, chosen: Ints, rewards: Floats, rng: Any) -> None:
        for j in range(len(chosen)):
            state.clicks[chosen[j]] += rewards[j]
            state.looks[chosen[j]] += self.examination[j]


def test_a_policy_that_knows_the_positions_finds_the_best_order() -> None:
    """And UCB, which does not order its sets, does not."""
    world = PRESETS["position-based"]()

    def late(policy: Any) -> float:
        result = sw.simulate(policy, world, 6000, runs=4, checkpoints=[3000], compiled=False)
        return float((result.regret[:, 1] - result.regret[:, 0]).mean()) / 3000

    aware = late(PositionUCB(world.examination))
    assert aware < 0.01 and late(sw.KLUCB()) > 3 * aware


def test_a_policy_that_does_not_order_its_set_pays_for_it() -> None:
    """Uniform plays the best two arms in the wrong order half of the time: 0.5 x (0.9 - 0.5) x (1.0 - 0.5) a round."""
    world = PositionBased([0.9, 0.5], [1.0, 0.5])
    regret = sw.simulate(sw.Uniform(), world, 10_000, runs=4, compiled=False).regret[:, -1] / 10_000
    assert np.abs(regret - 0.1).max() < 6 * 0.1 / np.sqrt(10_000)
    assert sw.simulate(sw.Oracle.for_world(world), world, 1000).regret[0, -1] == 0.0


def test_numbers_of_arms_can_hide_that_a_policy_does_not_learn_the_order() -> None:
    """`SetThompson` returns arms by number: that is the best order if attraction falls, and the worst if it rises."""
    falling = np.array([0.5, 0.4, 0.3, 0.2])
    lost = []
    for attraction in (falling, falling[::-1]):
        world = PositionBased(attraction, [1.0, 0.6, 0.3])
        regret = sw.simulate(sw.SetThompson(), world, 6000, runs=4, checkpoints=[3000], compiled=False).regret
        lost.append(float((regret[:, 1] - regret[:, 0]).mean()) / 3000)
    assert lost[0] < 0.02 and lost[1] > 3 * lost[0]


def test_too_many_orders_with_prices_are_refused() -> None:
    world = Scaled(Cascade(np.full(40, 0.1), k=5), np.arange(1.0, 41.0))
    with pytest.raises(InputError, match=r"Scaled: 5 of 40 arms have 78,960,960 orders, too many .* or give best_set"):
        world.best()
    assert world._replace(best_set=[4, 3, 2, 1, 0]).best().tolist() == [4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PositionBased([[0.5]], [1.0]), r"attraction has 2 dimensions; give a list with a number for each arm"),
        (lambda: PositionBased([0.5], [[1.0]]), r"examination has the shape \(1, 1\); give a list .* each position"),
        (lambda: PositionBased([0.5], [1.0, 0.5]), r"k=2 is more than"),
        (lambda: PositionBased([0.5, 1.5], [1.0]), r"PositionBased: attraction is 1.5 at position 1"),
        (lambda: PositionBased([0.5, 0.5], [-0.1]), r"PositionBased: examination is -0.1 at position 0"),
        (lambda: Cascade(0.5, k=1), r"Cascade: attraction has 0 dimensions"),
        (lambda: Cascade([0.5], k=2), r"k=2 is more than"),
        (lambda: Cascade([0.5, 1.5], k=2), r"Cascade: attraction is 1.5 at position 1"),
        (lambda: Cascade([0.5, 0.5], k=2, missing="some"), r"missing is 'some'; it can be True or False"),
    ],
)
def test_impossible_clicks_are_refused(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()
