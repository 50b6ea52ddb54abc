"""Answers that are computed once for each object, and only if the object cannot change."""

import threading
from typing import NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise.digests import code_digest
from setwise.once import KEPT, is_constant, once_per_object


class Foreign(NamedTuple):
    numbers: np.ndarray


def counted():
    calls = []

    @once_per_object
    def total(thing):
        calls.append(thing)
        return float(sum(np.ravel(thing[0])))

    return total, calls


def world(*values):
    return sw.environments.MNL(list(values), k=1)


def test_an_object_is_asked_once():
    total, calls = counted()
    first = world(1.0, 2.0)
    assert [total(first), total(first)] == [3.0, 3.0] and len(calls) == 1
    assert total(world(1.0, 2.0)) == 3.0 and len(calls) == 2  # an equal object is another one


def test_an_object_that_may_change_is_asked_every_time():
    total, calls = counted()
    for thing in (Foreign(np.ones(2)), ([1.0, 2.0],), (np.ones(2),)):
        total(thing)
        total(thing)
    assert len(calls) == 6


def test_only_the_last_few_objects_are_kept():
    total, calls = counted()
    worlds = [world(1.0, float(number)) for number in range(KEPT + 1)]
    for each in (*worlds, worlds[-1], worlds[1], worlds[0]):
        total(each)
    assert len(calls) == KEPT + 2  # the first one was dropped


def test_an_object_at_the_address_of_one_that_is_gone_is_another_one():
    total, _ = counted()
    for number in range(200):
        assert total(world(1.0, float(number))) == 1.0 + number


def test_an_error_is_not_kept():
    answers = iter([ValueError("not yet"), 3.0])

    @once_per_object
    def fickle(thing):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    thing = world(1.0, 2.0)
    with pytest.raises(ValueError, match="not yet"):
        fickle(thing)
    assert fickle(thing) == 3.0


def test_threads_get_the_same_answers():
    total, _ = counted()
    worlds = [world(1.0, float(number)) for number in range(20)]
    wrong = []

    def ask():
        for _ in range(200):
            wrong.extend(each for number, each in enumerate(worlds) if total(each) != 1.0 + number)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_can_change_is_not_constant():
    array = np.arange(3)
    assert not is_constant(array)
    array.setflags(write=False)
    assert is_constant(array) and is_constant((1, 2.5, "a", None, array))
    assert not is_constant(array[:2])  # a view: its base may be writable
    assert not is_constant(Foreign(array))  # the methods of a user's class may read anything
    assert is_constant(sw.paper.camera())


def test_a_world_whose_best_set_is_wrong_is_refused_every_time():
    class Wrong(NamedTuple):
        k: int = 1
        n: int = 2

        def means(self, chosen, out):
            out[0] = 0.5

        def draw(self, chosen, rng, rewards):
            rewards[0] = 1.0

        def best(self):
            return np.array([5])

    made = sw.environment(Wrong)()
    for _ in range(2):
        with pytest.raises(sw.InputError, match="has to be 1 distinct arms from 0 to 1"):
            sw.simulate(sw.UCB(), made, 10)


def test_what_is_remembered_does_not_count_in_digests_of_code():
    total, calls = counted()
    before = code_digest(total)
    total(world(1.0, 2.0))
    assert len(calls) == 1 and code_digest(total) == before
    assert code_digest(once_per_object(len_of)) != code_digest(once_per_object(half_of))


def len_of(thing):
    return len(thing)


def half_of(thing):
    return len(thing) / 2
