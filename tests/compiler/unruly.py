"""Functions and policies that do what compiled code cannot do as the interpreter; pytest does not rewrite them."""

import math
from typing import Any, NamedTuple

import numpy as np

import setwise as sw
from setwise.kernels.topk import top_k

FACTOR = 2.0
TABLE = np.array([1.0, 2.0])


class Settings:
    factor = 2.0


def divides(x, y):
    return x / y


def divides_elements(values, y):
    return values[0] / values[1] + y


def divides_converted(values, y):
    return float(values[0]) / float(values[1]) + y


def divides_wholes(a, b):
    return a // b


def takes_the_rest(a, b):
    return a % b


def adds(a, b):
    return a + b


def subtracts(a, b):
    return a - b


def multiplies(a, b):
    return a * b


def squares(a, b):
    return a**2 + b


def shifts_left(a, b):
    return a << b


def shifts_right(a, b):
    return a >> b


def logarithm(x, y):
    return math.log(x) + y


def root(x, y):
    return math.sqrt(x) + y


def exponential(x, y):
    return math.exp(x) + y


def power(x, y):
    return x**y


def whole(x, y):
    return int(x) + y


def floors(x, y):
    return math.floor(x) + y


def unassigned(a, b):
    if a > 3:
        found = b
    return found


def asserts(a, b):
    assert a < b, "too large"
    return a


def raises(a, b):
    if a > 3:
        raise ValueError("too large")
    return b


def calls_one_that_raises(a, b):
    found = 0
    while found == 0:  # never ends if the error is not passed on
        found = raises(a, b)
    return found


def allocates(a, b):
    return len(np.zeros(a)) + b


def either(x, y):
    return x or y


def both(x, y):
    return x and y


def three(x, y):
    return ((x and y) or 2.5) + (x or 0.0 or y)


def counts(flags, a):
    return flags[0] + flags[1] + a


def negates(flags, a):
    return -flags[0] + a


def counts_right(flags, a):
    return int(flags[0]) + int(flags[1]) + (flags[0] & flags[1]) * a


def too_large(a):
    return a & 0xFFFFFFFFFFFFFFFF


class Weights(NamedTuple):
    values: Any


WEIGHTS = Weights(np.ones(2))


OFFSETS = np.zeros(1)


def shifted(x, offsets=OFFSETS):
    return x + offsets[0]


def refers(x):
    return shifted(x * FACTOR * Settings.factor * TABLE[1] * WEIGHTS.values[0])


class State(NamedTuple):
    rounds: Any
    scores: Any
    chosen: Any
    best: Any


def new_state(n, k, scores=None, rounds=np.int64):
    return State(np.zeros(1, rounds), np.zeros(n) if scores is None else scores, np.arange(k), np.zeros(k))


@sw.policy
class Late(NamedTuple):
    """Something goes wrong in round 300, after the rounds that are tried interpreted."""

    what: int = 0
    boost = 1.0

    def init(self, n, k, horizon, rng):
        return new_state(n, k)

    def select(self, state, rng):
        for arm in range(len(state.scores)):
            state.scores[arm] = arm * self.boost + rng.random()
        if state.rounds[0] == 300:
            late(self.what, state.scores)
        top_k(state.scores, state.chosen, state.best, rng)
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        state.rounds[0] += 1


def pick(weights):
    for weight in weights:
        if weight >= 0.0:
            raise ValueError("none of the weights is above 0")


def late(what, scores):
    if what == 1:
        scores[0] = 1.0 / float(scores[0] - scores[0])
    elif what == 2:
        pick(scores)
    elif what == 3:
        raise KeyError("late")
    elif what == 4:
        total = 1
        for _ in range(80):
            total *= 3
        scores[0] = total % 7


@sw.policy
class Fickle(NamedTuple):
    """The state has another type in another run."""

    kind: int = 0

    def init(self, n, k, horizon, rng):
        first = rng.random() < 0.5
        scores = np.zeros(n) if first or self.kind != 1 else np.zeros(n, np.int64)
        return new_state(n, k, scores if first or self.kind != 2 else np.zeros((n, 2))[:, 0])

    def select(self, state, rng):
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        state.rounds[0] += 1


@sw.policy
class Small(NamedTuple):
    """A state of small numbers."""

    def init(self, n, k, horizon, rng):
        return new_state(n, k, rounds=np.int8)

    def select(self, state, rng):
        return state.chosen

    def update(self, state, chosen, rewards, rng):
        state.rounds[0] += 1
