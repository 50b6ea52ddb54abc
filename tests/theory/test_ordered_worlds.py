"""Answers about worlds in which the order of the arms in a set matters."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

from setwise.environments import PRESETS, Cascade, PositionBased, Scaled
from setwise.environments.ordered import means_of
from setwise.theory import check, gaps
from setwise.types import Floats, Generator, Ints

WORLDS = {
    "best in rising order": PositionBased([0.2, 0.9, 0.5, 0.4], [1.0, 0.5]),
    "best in falling order": PositionBased([0.2, 0.9, 0.5, 0.4], [0.5, 1.0]),
    "cascade": Cascade([0.4, 0.2, 0.9, 0.5], k=3),
    "prices": Scaled(Cascade([0.5, 0.4, 0.3, 0.2], k=2), [1.0, 3.0, 2.0, 1.0]),
}


class Misled(NamedTuple):
    """The last of two arms is seen best; the best set is named in the wrong order."""

    n: int = 4
    k: int = 2

    ordered_sets = True

    def means(self, chosen: Ints, out: Floats) -> None:
        for j in range(len(chosen)):
            out[j] = (0.1 + 0.6 * chosen[j] / (self.n - 1)) * (1 + j) / self.k

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)

    def best(self) -> Ints:
        return np.arange(self.n - 1, self.n - 1 - self.k, -1)


def brute_force(world: Any) -> tuple[float, float, float]:
    """Return the largest Q(s) over all orders of all sets, and the least positive and the largest gap to it."""
    orders = itertools.permutations(range(world.n), world.k)
    values = sorted(float(np.sum(means_of(world, chosen))) for chosen in orders)
    differences = [values[-1] - value for value in values]
    return values[-1], min(gap for gap in differences if gap > 1e-9), differences[0]


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS.keys())
def test_best_value_and_gaps_are_those_of_all_orders(world: Any) -> None:
    value, least, largest = brute_force(world)
    found = gaps(world)
    assert found.complete and found.how == "all orders of all sets"
    assert sum(found.probabilities) == pytest.approx(value)
    assert (found.epsilon, found.largest) == pytest.approx((least, largest))
    best = check(world)["best() is optimal"]
    assert best.holds is True
    assert best.how == "all orders of all sets"


def test_the_best_set_is_told_in_its_order() -> None:
    found = check(WORLDS["best in falling order"])
    assert found.gaps.best == (2, 1)  # 0.5 x 0.5 + 0.9 x 1.0
    assert found["best() is optimal"].witness == "{2, 1}, Q = 1.15"


def test_a_best_set_in_the_wrong_order_is_found_out() -> None:
    finding = check(Misled())["best() is optimal"]
    assert finding.holds is False
    assert gaps(Misled()).best == (2, 3) and gaps(Misled()).value == pytest.approx(0.95)
    assert finding.witness == "{3, 2}, Q = 0.85, but {2, 3} has 0.95"


def test_too_many_orders_leave_the_best_set_undecided() -> None:
    world = PositionBased(np.linspace(0.9, 0.1, 40), np.linspace(1.0, 0.1, 5))
    found = check(world)
    assert found["best() is optimal"].holds is None
    assert found["a single optimal set"].holds is None
    many = Misled(n=40, k=5)
    assert not gaps(many).complete and "best() is not the optimal set" in gaps(many).note


def test_a_search_keeps_the_order_of_the_best_set() -> None:
    found = gaps(WORLDS["best in falling order"], method="search", budget=3)
    assert found.best == (2, 1) and found.value == pytest.approx(1.15)


def test_all_arms_in_another_order_are_another_set() -> None:
    found = gaps(PositionBased([0.9, 0.5], [1.0, 0.5]))
    assert found.largest == pytest.approx(1.15 - 0.95)
    assert "there is only one set" not in found.note


def test_a_preset_in_which_positions_matter_is_answered_for() -> None:
    found = check(PRESETS["position-based"]())
    assert found["best() is optimal"].holds is True
    assert found.consistency.holds is False
