"""Limits of the answers: invalid worlds, searches, orders of a set, and worlds of any size."""

import itertools
from fractions import Fraction as F
from typing import Any, NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise import InputError
from setwise.environments import MNL, PRESETS, Table
from setwise.theory import bounds, check, gaps, total_order, weak_consistency
from setwise.types import Floats, Generator, Ints


def test_bounds_say_where_the_assumption_they_rest_on_does_not_hold() -> None:
    notes = bounds(PRESETS["markov-chain"](), 1000).notes
    assert "Assumption 1 does not hold here, so the upper bounds are not proved: 0 gets 0.1 in {0, 1}" in notes[0]
    assert bounds(PRESETS["trap"](), 1000).notes == ()
    searched = bounds(sw.paper.camera(), 1000, budget=5).notes
    assert "Assumption 1 is not known to hold here" in searched[0]


class Stated(NamedTuple):
    """Fixed means whatever the set, a bonus for one set, and a best set of one's own."""

    values: Floats
    bonus: float
    stated: Ints
    k: int

    @property
    def n(self) -> int:
        return len(self.values)

    def means(self, chosen: Ints, out: Floats) -> None:
        special = 0
        for j in range(len(chosen)):
            out[j] = self.values[chosen[j]]
            if chosen[j] < len(chosen):
                special += 1
        if special == len(chosen):
            for j in range(len(chosen)):
                out[j] += self.bonus

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)

    def best(self) -> Ints:
        return self.stated


def stated(n: int = 30, k: int = 3, best: Any = (0, 1, 2), **changes: Any) -> Any:
    """The first k arms are bad but for a bonus together; the last are best, and the first k are called best."""
    values = np.where(np.arange(n) < 5, 0.1, 0.5 + np.arange(n) / 1000)
    return Stated(values=values, bonus=0.1, stated=np.array(best), k=k)._replace(**changes)


def test_a_search_that_meets_a_better_set_than_best_does_not_answer_no() -> None:
    answer = weak_consistency(stated(), method="search", budget=500)
    assert answer.holds is None
    assert answer.best != (0, 1, 2)
    assert "best() is not the optimal set" in str(answer)
    assert check(stated(), method="search", budget=500)["best() is optimal"].holds is False
    assert weak_consistency(stated(n=10)).holds is True  # all sets tell the truth


@pytest.mark.parametrize(
    ("world", "sentence"),
    [
        (stated(values=np.full(6, np.nan)), r"means gives \[nan, nan, nan\] for the set \[0, 1, 2\]"),
        (stated(values=np.array([0.1, 0.2, 0.3, 1.7])), "means are numbers from 0 to 1"),
        (stated(values=np.array([0.1, 0.2, 0.3, -0.3])), "means are numbers from 0 to 1"),
        (
            stated(n=6, best=(0, 7, 1)),
            "best\\(\\) is array\\(\\[0, 7, 1\\]\\); it has to be 3 distinct arms from 0 to 5",
        ),
        (stated(n=6, best=(0, 1)), "it has to be 3 distinct arms"),
        (stated(n=6, best=(0, 1, 1)), "it has to be 3 distinct arms"),
    ],
    ids=["not a number", "too large", "negative", "no such arm", "too few", "twice"],
)
def test_a_world_that_is_none_is_refused_in_one_sentence(world: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        check(world)


def test_other_orders_of_a_set_are_not_answered_for() -> None:
    world = PRESETS["coverage"]()
    found = check(world)
    assert found.consistency.holds is None
    assert found.order.holds is None
    assert "arms in rising order only" in found.consistency.how
    assert found["best() is optimal"].holds is True  # the value of a set does not depend on the order


def test_a_large_order_is_told_in_seconds() -> None:
    answer = total_order(MNL(np.linspace(1.0, 0.1, 600), k=2), method="enumerate")
    assert (answer.holds, answer.cycle, len(answer.order)) == (True, None, 600)


def test_a_cycle_of_four_arms_is_found_where_there_is_none_of_three() -> None:
    ahead = {(0, 1), (1, 2), (2, 3), (3, 0)}
    table = {s: ((F(1, 2), F(1, 4)) if s in ahead else (F(1, 4), F(1, 4))) for s in itertools.combinations(range(4), 2)}
    table[0, 3] = (F(1, 4), F(1, 2))
    cycle = total_order(Table(table)).cycle
    assert [lead.arm for lead in cycle] in [[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]]


def test_answers_can_be_compared_and_options_are_checked() -> None:
    assert gaps(sw.paper.camera()) != gaps(sw.paper.camera())  # two computations, not an error
    with pytest.raises(InputError, match=r"there is no option 'buget'; did you mean 'budget'?"):
        check(sw.paper.camera(), buget=5)
    with pytest.raises(InputError, match="threads is -1, which is less than 1"):
        check(sw.paper.camera(), threads=-1)
    with pytest.raises(InputError, match="there is no assumption 'foo'; there are best"):
        check(sw.paper.camera())["foo"]


def test_a_world_of_one_set_has_nothing_to_compare() -> None:
    found = check(MNL([0.5, 0.2], k=2))
    assert found["a single optimal set"].holds is True
    assert found["a single optimal set"].witness == "there is only one set"
    assert found.consistency.margin is None


def test_mallows_rankings_are_answered_for_at_any_size() -> None:
    found = check(PRESETS["mallows"](n=200, k=5))
    assert found.consistency.holds is found.order.holds is True
    assert found.gaps.note == "the least gap is less than the accuracy of the means"
