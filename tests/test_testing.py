"""The test kit for users' classes: all our classes pass it, and every violation is detected."""

import dataclasses
import inspect
from typing import Any

import numpy as np
import pytest

import setwise as sw
from setwise import UCB, InputError, testing
from setwise.environments import (
    MNL,
    Independent,
    Table,
)
from setwise.testing import check_environment, check_policy

WORLDS: dict[str, Any] = {
    "multinomial logit": MNL([1.5, 0.0, 0.3, 2.0, 0.7], k=3),
    "independent": Independent([0.1, 1.0, 0.0, 0.5], k=2),
    "table": Table({(0, 1): (0.3, 0.3), (0, 2): (0.6, 0.4), (1, 2): (0.3, 0.4)}),
}


@pytest.mark.parametrize("name", WORLDS)
def test_ucb_keeps_the_contract_interpreted_whatever_the_world(name: str) -> None:
    check_policy(UCB(alpha=0.2), WORLDS[name], compiled=False)


def broken(base: type, **methods: Any) -> Any:
    """A class like the given one, with some methods exchanged."""
    own = {name: method for name, method in vars(base).items() if inspect.isfunction(method) and name[0] != "_"}
    return type("Broken", (base,), {**own, **methods})


def same_arm(self: Any, state: Any, rng: Any) -> Any:
    return np.full(len(state.chosen), 2)


def beyond_the_last(self: Any, state: Any, rng: Any) -> Any:
    return np.arange(len(state.chosen)) + len(state.pulls) - 1


def too_few(self: Any, state: Any, rng: Any) -> Any:
    return UCB.select(self, state, rng)[1:]


def fractions(self: Any, state: Any, rng: Any) -> Any:
    return UCB.select(self, state, rng).astype(float)


def one_after_another(self: Any, state: Any, rng: Any) -> Any:
    state.pulls[0] += 1
    return (state.pulls[0] + np.arange(len(state.chosen))) % len(state.pulls)


met: list[Any] = []


def by_acquaintance(self: Any, state: Any, rng: Any) -> Any:
    if all(state is not other for other in met):
        met.append(state)
    number = next(place for place, other in enumerate(met) if state is other)
    return (number + np.arange(len(state.chosen))) % len(state.pulls)


def never(self: Any, state: Any, chosen: Any) -> int:
    return 0


def for_long(self: Any, state: Any, chosen: Any) -> int:
    return 1000


def twice(self: Any, state: Any, chosen: Any, totals: Any, rounds: int) -> None:
    UCB.update_many(self, state, chosen, totals, 2 * rounds)


def from_all(self: Any, state: Any, available: Any, rng: Any) -> Any:
    return UCB.select(self, state, rng)


def from_none(self: Any, state: Any, available: Any, rng: Any) -> Any:
    return state.chosen[:0]


def unwelcoming(self: Any, state: Any, n: int, rng: Any) -> Any:
    larger = UCB.grow(self, state, n, rng)
    larger.indices[len(state.pulls) :] = 0.0
    return larger


def renamed(self: Any, state: Any, arms: Any, rewards: Any, rng: Any) -> None:
    UCB.update(self, state, arms, rewards, rng)


@pytest.mark.parametrize(
    ("methods", "sentence"),
    [
        ({"select": same_arm}, r"select in round 1: \[2, 2, 2\] has an arm twice"),
        ({"select": beyond_the_last}, r"select in round 1: \[6, 7, 8\] has an arm that is not in 0..6"),
        ({"select": too_few}, "is not an array of 3 whole numbers"),
        ({"select": fractions}, "is not an array of 3 whole numbers"),
        ({"select": one_after_another}, "select must learn nothing"),
        ({"select": by_acquaintance}, "answers otherwise from a copy of the state"),
        ({"certain_rounds": never}, "certain_rounds answers 0 in round 1"),
        ({"certain_rounds": for_long}, "is certain for 1000 rounds, but"),
        ({"update_many": twice}, "update_many of one round leaves another state than update"),
        ({"select_from": from_all}, "select_from has the arms"),
        ({"select_from": from_none}, "select_from: .* is not an array of 3"),
        ({"grow": unwelcoming}, "grow: the new arms \\[7, 8, 9\\] are not tried first"),
    ],
    ids=lambda value: next(iter(value.values())).__name__ if isinstance(value, dict) else "",
)
def test_a_policy_that_breaks_a_promise_is_refused(methods: dict[str, Any], sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_policy(broken(UCB, **methods)(), compiled=False)


def first_arms(self: Any, state: Any, available: Any) -> Any:
    return np.arange(len(state.chosen))


def an_arm_twice(self: Any, state: Any, available: Any) -> Any:
    return np.zeros(len(state.chosen), np.int64)


def forgetful(self: Any, state: Any, available: Any) -> Any:
    state.sets.reward[:] = 0.0
    return state.chosen[:0]


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        (first_arms, r"recommend has the arms \[.*\] to choose 3 from; it chose \[0, 1, 2\]"),
        (an_arm_twice, r"recommend: \[0, 0, 0\] has an arm twice"),
        (forgetful, "recommend changes the state; it must change nothing"),
    ],
)
def test_a_policy_that_recommends_no_set_of_available_arms_is_refused(method: Any, sentence: str) -> None:
    with pytest.raises(AssertionError, match=f"Broken.{sentence}"):
        check_policy(broken(sw.SetUCB, recommend=method)(), compiled=False)


def test_a_policy_of_epochs_has_to_keep_its_set_after_a_reward() -> None:
    hasty = broken(UCB)
    hasty.epochs = True
    with pytest.raises(AssertionError, match=r"Broken has epochs, but after round \d+, which rewarded an arm"):
        check_policy(hasty(), compiled=False)


def ruinous(self: Any, state: Any, horizon: int, keep: bool) -> None:
    state.ranking.order[:] = 0


def test_a_policy_has_to_choose_a_set_after_it_was_renewed() -> None:
    with pytest.raises(AssertionError, match=r"select after set_horizon: .* has an arm twice"):
        check_policy(broken(UCB, set_horizon=ruinous)(), compiled=False)


def test_a_policy_with_other_parameters_than_those_of_the_contract_is_refused() -> None:
    with pytest.raises(InputError, match=r"Broken.update .* has the parameters \(self, state, arms, rewards, rng\)"):
        check_policy(broken(UCB, update=renamed)(), compiled=False)


def too_large(self: Any, chosen: Any, out: Any) -> None:
    out[:] = 1.5


def too_much_together(self: Any, chosen: Any, out: Any) -> None:
    out[:] = 0.6


def by_place(self: Any, chosen: Any, out: Any) -> None:
    out[:] = 0.1 * (1 + np.arange(len(out)))


def twos(self: Any, chosen: Any, rng: Any, rewards: Any) -> None:
    rewards[:] = 2.0


def nothing_written(self: Any, chosen: Any, rng: Any, rewards: Any) -> None:
    pass


def halves(self: Any, chosen: Any, rng: Any, rewards: Any) -> None:
    rewards[:] = 0.5


def one_for_each(self: Any, chosen: Any, rng: Any, rewards: Any) -> None:
    rewards[:] = 1.0


def nothing(self: Any, chosen: Any, rng: Any, rewards: Any) -> None:
    rewards[:] = 0.0


def half_of_them(self: Any, chosen: Any, rounds: int, rng: Any, totals: Any) -> None:
    MNL.draw_many(self, chosen, rounds // 2, rng, totals)


def more_than_rounds(self: Any, chosen: Any, rounds: int, rng: Any, totals: Any) -> None:
    self.means(chosen, totals)
    totals[:] = np.ceil(totals * rounds) + 100  # within chance of the means, but more rewards than rounds


def first_arm_twice(self: Any) -> Any:
    return np.array([0, 0])


def worst(self: Any) -> Any:
    return np.argsort(self.values)[: self.k]


@pytest.mark.parametrize(
    ("methods", "sentence"),
    [
        ({"means": too_large}, r"means: \[1.5, 1.5\] is not within 0..1"),
        ({"means": too_much_together}, "adds up to more than 1 with choice feedback"),
        ({"means": by_place}, "means depends on the order of the arms"),
        ({"draw": twos}, r"draw: \[2.0, 2.0\] is not within 0..1"),
        ({"draw": nothing_written}, r"draw: \[nan, nan\] is not within 0..1"),
        ({"draw": halves}, r"draw: \[0.5, 0.5\] is not 0 or 1"),
        ({"draw": one_for_each}, "rewards two arms with choice feedback"),
        ({"draw": nothing}, r"draw: an arm of mean 0.\d+ earned 0 on average"),
        ({"draw_many": half_of_them}, r"draw_many: an arm of mean"),
        ({"draw_many": more_than_rounds}, r"draw_many: "),
        ({"best": first_arm_twice}, r"best: \[0, 0\] has an arm twice"),
        ({"best": worst}, r"best says \[1, 2\] with value .*, but \[0, 3\] has"),
    ],
    ids=lambda value: next(iter(value.values())).__name__ if isinstance(value, dict) else "",
)
def test_an_environment_that_breaks_a_promise_is_refused(methods: dict[str, Any], sentence: str) -> None:
    world = broken(MNL, **methods)([3.0, 1.0, 2.0, 4.0], k=2, outside=1e-3)
    with pytest.raises(AssertionError, match=sentence):
        check_environment(world, compiled=False)


def test_other_bits_compiled_than_interpreted_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("regret", "pulls"):

        def differing(*arguments: Any, name: str = name, compiled: bool = True, **options: Any) -> Any:
            result = sw.simulate(*arguments, compiled=False, **options)
            array = getattr(result, name).copy()
            array[-1, -1] += 1e-9 if name == "regret" and compiled else int(compiled)
            return dataclasses.replace(result, **{name: array})

        monkeypatch.setattr(testing, "simulate", differing)
        with pytest.raises(AssertionError, match="UCB in MNL: compiled and interpreted runs differ"):
            testing.check_same_bits(UCB(), WORLDS["multinomial logit"], horizon=50)
