"""Stagewise elimination: accept and reject arms by their rewards in random sets, then play the k that are left.

At first all arms are active. In stage r = 1, 2, ..., with A the accepted arms and m = k - |A| open places,

1. make 2^r passes through the active arms. A pass splits them, in uniformly random order, into blocks of m and plays
   each block together with A. A short last block is filled up with random arms of the same pass, whose rewards are
   ignored. So a pass counts one reward of every active arm;
2. let x(a) be the mean of the N rewards counted for arm a and c(a) its radius, one of

       Hoeffding   B sqrt(L / (2 N))                                  L = log(4 n r^2 / delta)
       Bernstein   sqrt(2 V L / N) + 8 B L / (3 (N - 1))              L = log(8 n r^2 / delta)

   with V the sample variance (of divisor N - 1) of the rewards of arm a;
3. accept the active arms with x - c above the (m+1)-th largest x + c of the active arms, reject those with x + c
   below the m-th largest x - c, and continue with the rest.

Once k arms are accepted, or no more active arms remain than open places, these k arms are played forever.
By default every stage counts its rewards from 0, so that N = 2^r; `cumulative` keeps those of earlier stages, so that
N = 2^(r+1) - 2.

Simchowitz, Jamieson, Recht: Best-of-K Bandits (COLT 2016).

Adaptation: the original identifies the best arms with confidence delta; here delta is 1 / T, the rewards of the stages
count, and the identified set is played to the end. The radii are reconstructed in the style of the original.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from setwise.declare import policy
from setwise.policies._frozen import FOREVER
from setwise.types import Floats, Generator, Ints
from setwise.validation import Positive, Range


class StagewiseEliminationState(NamedTuple):
    """State of stagewise elimination.

    samples, sums, squares: of every arm, N, the sum of the counted rewards and of their squares
    arms: all arms, in the order accepted, due in this pass, other active, rejected
    places: the position of every arm in `arms`
    accepted, due, active: the number of arms accepted, due in this pass, and active in all
    stage, passes: r, and the finished passes of stage r
    delta: the probability of a wrong decision that the radii allow
    chosen, swaps: buffers for a set and for drawing it
    lower, upper: buffers for the largest bounds
    """

    samples: Ints
    sums: Floats
    squares: Floats
    arms: Ints
    places: Ints
    accepted: Ints
    due: Ints
    active: Ints
    stage: Ints
    passes: Ints
    delta: Floats
    chosen: Ints
    swaps: Ints
    lower: Floats
    upper: Floats


def hoeffding_radius(samples: int, stage: int, n: int, delta: float, bound: float) -> float:
    """Return B sqrt(log(4 n r^2 / delta) / (2 N)).

    >>> round(hoeffding_radius(512, 9, 10, 1 / 40000, 1.0), 6)
    0.135064
    """
    return bound * math.sqrt(math.log(4.0 * n * stage * stage / delta) / (2.0 * samples))


def bernstein_radius(
    samples: int, total: float, squares: float, stage: int, n: int, delta: float, bound: float
) -> float:
    """Return sqrt(2 V L / N) + 8 B L / (3 (N - 1)) with L = log(8 n r^2 / delta); infinite for a single sample.

    >>> round(bernstein_radius(512, 256.0, 256.0, 9, 10, 1 / 40000, 1.0), 6)
    0.23878
    """
    if samples < 2:
        return math.inf
    level = math.log(8.0 * n * stage * stage / delta)
    variance = max(0.0, (squares - total * total / samples) / (samples - 1))
    return math.sqrt(2.0 * variance * level / samples) + 8.0 * bound * level / (3.0 * (samples - 1))


@policy(
    title="Stagewise elimination",
    reference="Simchowitz, Jamieson, Recht 2016",
    assumptions="independent arms, or a total order of the arms by their mean reward in random sets",
    regret_bound="none known",
    if_assumption_fails="linear regret, even where it holds",
    adaptation="Plays the identified set to the end, with delta = 1/T; the radii are a reconstruction.",
    set_dependent="no",
    total_order=True,
)
class StagewiseElimination(NamedTuple):
    """Accept and reject arms in stages of balanced random sets, then play k of them forever.

    cumulative: whether to keep the rewards of earlier stages, instead of counting from 0 in every stage
    bernstein: whether to use the empirical Bernstein radius instead of Hoeffding's
    delta: the probability of a wrong decision; 0 stands for 1 / T
    bound: B, the largest reward an arm can earn in one round
    """

    cumulative: bool = False
    bernstein: bool = False
    delta: Annotated[float, Range(0.0, 1.0)] = 0.0
    bound: Positive = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> StagewiseEliminationState:
        state = StagewiseEliminationState(
            samples=np.zeros(n, np.int64),
            sums=np.zeros(n),
            squares=np.zeros(n),
            arms=np.arange(n),
            places=np.arange(n),
            accepted=np.zeros(1, np.int64),
            due=np.zeros(1, np.int64),
            active=np.zeros(1, np.int64),
            stage=np.zeros(1, np.int64),
            passes=np.zeros(1, np.int64),
            delta=np.zeros(1),
            chosen=np.arange(k),
            swaps=np.zeros(k, np.int64),
            lower=np.zeros(k),
            upper=np.zeros(k + 1),
        )
        self.set_horizon(state, horizon, False)
        return state

    def select(self, state: StagewiseEliminationState, rng: Generator) -> Ints:
        chosen = state.chosen
        accepted = state.accepted[0]
        due = state.due[0]
        for j in range(accepted):
            chosen[j] = state.arms[j]
        block = min(len(chosen) - accepted, due)
        draw_from(state.arms, accepted, due, chosen, accepted, block, state.swaps, rng)
        filled = accepted + block
        counted = state.active[0] - due
        draw_from(state.arms, accepted + due, counted, chosen, filled, len(chosen) - filled, state.swaps, rng)
        return chosen

    def update(self, state: StagewiseEliminationState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        count(self, state, chosen, rewards)

    def certain_rounds(self, state: StagewiseEliminationState, chosen: Ints) -> int:
        return FOREVER if state.accepted[0] == len(chosen) else 1

    def update_many(self, state: StagewiseEliminationState, chosen: Ints, totals: Floats, rounds: int) -> None:
        count(self, state, chosen, totals)

    def set_horizon(self, state: StagewiseEliminationState, horizon: int, keep: bool) -> None:
        state.delta[0] = self.delta if self.delta > 0.0 else 1.0 / horizon
        if not keep:
            n = len(state.arms)
            all_in = n == len(state.chosen)
            reset_rewards(state)
            state.accepted[0] = n if all_in else 0
            state.active[0] = state.due[0] = 0 if all_in else n
            state.stage[0] = 1
            state.passes[0] = 0


def draw_from(
    arms: Ints, start: int, size: int, chosen: Ints, at: int, wanted: int, swaps: Ints, rng: Generator
) -> None:
    """Draw `wanted` of the `size` arms from `start` on, uniformly without replacement, to `chosen` from `at` on.

    Swaps arms while drawing, and restores their order.
    """
    if wanted == size:
        for j in range(wanted):
            chosen[at + j] = arms[start + j]
        return
    for j in range(wanted):
        other = start + j + int(rng.random() * (size - j))
        swaps[j] = other
        arm = arms[other]
        arms[other] = arms[start + j]
        arms[start + j] = arm
        chosen[at + j] = arm
    for j in range(wanted - 1, -1, -1):
        other = swaps[j]
        arm = arms[other]
        arms[other] = arms[start + j]
        arms[start + j] = arm


def exchange(arms: Ints, places: Ints, one: int, other: int) -> None:
    """Swap the arms in two places."""
    first, second = arms[one], arms[other]
    arms[one] = second
    arms[other] = first
    places[second] = one
    places[first] = other


def count(policy: StagewiseElimination, state: StagewiseEliminationState, chosen: Ints, rewards: Floats) -> None:
    """Count the rewards of the arms that are due; at the end of a pass or a stage, start the next.

    Late feedback is ignored, unless its set has all accepted arms and no rejected one.
    """
    accepted = state.accepted[0]
    if accepted == len(state.chosen):
        return
    settled = 0
    for j in range(len(chosen)):
        place = state.places[chosen[j]]
        if place >= accepted + state.active[0]:
            return
        if place < accepted:
            settled += 1
    if settled < accepted:
        return
    due = state.due[0]
    for j in range(len(chosen)):
        arm = chosen[j]
        place = state.places[arm]
        if accepted <= place < accepted + due:
            state.samples[arm] += 1
            state.sums[arm] += rewards[j]
            state.squares[arm] += rewards[j] * rewards[j]
            due -= 1
            exchange(state.arms, state.places, place, accepted + due)
    state.due[0] = due
    if due == 0:
        state.passes[0] += 1
        state.due[0] = state.active[0]
        if state.passes[0] == 1 << state.stage[0]:
            end_stage(policy, state)


def end_stage(policy: StagewiseElimination, state: StagewiseEliminationState) -> None:
    """Accept and reject arms, and start the next stage."""
    size = len(state.chosen)
    n = len(state.arms)
    accepted = state.accepted[0]
    end = accepted + state.active[0]
    open_places = size - accepted
    for j in range(open_places + 1):
        state.upper[j] = -np.inf
    for j in range(open_places):
        state.lower[j] = -np.inf
    for place in range(accepted, end):
        low, high = bounds(policy, state, state.arms[place], n)
        keep_largest(state.lower, open_places, low)
        keep_largest(state.upper, open_places + 1, high)
    accept_above = state.upper[open_places]
    reject_below = state.lower[open_places - 1]
    place = accepted
    while place < end:
        low, high = bounds(policy, state, state.arms[place], n)
        if low > accept_above:
            exchange(state.arms, state.places, place, accepted)
            accepted += 1
            place += 1
        elif high < reject_below:
            end -= 1
            exchange(state.arms, state.places, place, end)
        else:
            place += 1
    if accepted == size or end <= size:
        accepted = size
        end = size
    state.accepted[0] = accepted
    state.active[0] = end - accepted
    state.due[0] = end - accepted
    state.stage[0] += 1
    state.passes[0] = 0
    if not policy.cumulative:
        reset_rewards(state)


def reset_rewards(state: StagewiseEliminationState) -> None:
    """Reset the counted rewards."""
    for arm in range(len(state.arms)):
        state.samples[arm] = 0
        state.sums[arm] = 0.0
        state.squares[arm] = 0.0


def bounds(policy: StagewiseElimination, state: StagewiseEliminationState, arm: int, n: int) -> tuple[float, float]:
    """Return x - c and x + c of an active arm."""
    samples = state.samples[arm]
    stage = state.stage[0]
    delta = state.delta[0]
    if policy.bernstein:
        radius = bernstein_radius(samples, state.sums[arm], state.squares[arm], stage, n, delta, policy.bound)
    else:
        radius = hoeffding_radius(samples, stage, n, delta, policy.bound)
    mean = state.sums[arm] / samples
    return mean - radius, mean + radius


def keep_largest(values: Floats, size: int, value: float) -> None:
    """Insert a value into the `size` largest ones so far, kept in decreasing order."""
    j = size - 1
    if value <= values[j]:
        return
    while j > 0 and values[j - 1] < value:
        values[j] = values[j - 1]
        j -= 1
    values[j] = value
