"""Stagewise elimination: accept and reject arms by how they do in random company, then keep the k that are left.

At first all arms are active. In stage r = 1, 2, ..., with A the accepted arms and m = k - |A| places to give away,

1. make 2^r passes through the active arms. In a pass the active arms, in an order drawn uniformly at random, are cut
   into blocks of m. Each block is played together with A. If the last block is short, it is topped up with arms of
   the same pass drawn at random, whose rewards are ignored. So a pass counts one reward of every active arm;
2. let x(a) be the mean of the N rewards counted for arm a and c(a) its radius, one of

       Hoeffding   B sqrt(L / (2 N))                                  L = log(4 n r^2 / delta)
       Bernstein   sqrt(2 V L / N) + 8 B L / (3 (N - 1))              L = log(8 n r^2 / delta)

   with V the sample variance (of divisor N - 1) of the rewards of arm a;
3. accept the active arms with x - c above the (m+1)-th largest x + c of the active arms, reject those with x + c
   below the m-th largest x - c, and go on with the rest.

Once k arms are accepted, or no more active arms are left than there are places, these k arms are played for good.
By default the rewards are counted afresh in every stage, so that N = 2^r; `cumulative` keeps those of earlier stages,
so that N = 2^(r+1) - 2.

Simchowitz, Jamieson, Recht: Best-of-K Bandits (COLT 2016).

Adaptation: the original identifies the best arms with confidence delta; here delta is 1 / T, the rewards of the stages
count, and the set that was identified is played to the end. The radii are reconstructed in the style of the original.
"""

import math
from typing import NamedTuple

import numpy as np

from setwise.declare import check_range, policy
from setwise.policies.frozen import FOREVER
from setwise.types import Floats, Generator, Ints


class StagewiseEliminationState(NamedTuple):
    """What the elimination knows.

    samples, sums, squares: of every arm, N, the sum of the counted rewards and of their squares
    arms: all arms: the accepted ones, the active ones due in this pass, the other active ones, the rejected ones
    places: of every arm, where it is in `arms`
    accepted, due, active: how many arms are accepted, due in this pass, and active in all
    stage, passes: r, and how many passes of stage r are finished
    delta: the chance of a wrong decision that the radii allow
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
    """B sqrt(log(4 n r^2 / delta) / (2 N)).

    >>> round(hoeffding_radius(512, 9, 10, 1 / 40000, 1.0), 6)
    0.135064
    """
    return bound * math.sqrt(math.log(4.0 * n * stage * stage / delta) / (2.0 * samples))


def bernstein_radius(
    samples: int, total: float, squares: float, stage: int, n: int, delta: float, bound: float
) -> float:
    """sqrt(2 V L / N) + 8 B L / (3 (N - 1)) with L = log(8 n r^2 / delta); infinite for a single sample.

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
    feedback=("choice", "independent"),
    needs_outside_option=False,
    fixed_size=True,
    assumptions="independent arms, or a total order of the arms by their mean reward in random sets",
    regret_bound="none known",
    original=False,
    adaptation="Plays the identified set to the end, with delta = 1/T; the radii are a reconstruction.",
    set_dependent="no",
    total_order=True,
    ordered_sets=True,
)
class StagewiseElimination(NamedTuple):
    """Accept and reject arms in stages of balanced random sets, then keep k of them for good.

    cumulative: keep the rewards of earlier stages, instead of counting afresh in every stage
    bernstein: the empirical Bernstein radius, instead of Hoeffding's
    delta: the chance of a wrong decision; 0 stands for 1 / T
    bound: B, the largest reward an arm can earn in one round
    """

    cumulative: bool = False
    bernstein: bool = False
    delta: float = 0.0
    bound: float = 1.0

    def check(self) -> None:
        check_range("StagewiseElimination: delta", self.delta, 0.0, 1.0)
        check_range("StagewiseElimination: bound", self.bound, 0.0, math.inf, strict=True)

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
        self.renew(state, horizon, False)
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

    def hold(self, state: StagewiseEliminationState, chosen: Ints) -> int:
        return FOREVER if state.accepted[0] == len(chosen) else 1

    def absorb(self, state: StagewiseEliminationState, chosen: Ints, totals: Floats, rounds: int) -> None:
        count(self, state, chosen, totals)

    def renew(self, state: StagewiseEliminationState, horizon: int, keep: bool) -> None:
        state.delta[0] = self.delta if self.delta > 0.0 else 1.0 / horizon
        if not keep:
            n = len(state.arms)
            all_in = n == len(state.chosen)
            forget_rewards(state)
            state.accepted[0] = n if all_in else 0
            state.active[0] = state.due[0] = 0 if all_in else n
            state.stage[0] = 1
            state.passes[0] = 0


def draw_from(
    arms: Ints, start: int, size: int, chosen: Ints, at: int, wanted: int, swaps: Ints, rng: Generator
) -> None:
    """Write so many of the `size` arms from `start` on to `chosen` from `at` on, drawn uniformly without replacement.

    The arms change places while they are drawn, and are put back.
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
    """Let the arms in two places change places."""
    first, second = arms[one], arms[other]
    arms[one] = second
    arms[other] = first
    places[second] = one
    places[first] = other


def count(policy: StagewiseElimination, state: StagewiseEliminationState, chosen: Ints, rewards: Floats) -> None:
    """Count the rewards of the arms that are due; where that ends a pass or a stage, go on to the next.

    A set that comes late is ignored, unless it has all accepted arms and no rejected one.
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
    """Accept and reject arms, and begin the next stage."""
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
        forget_rewards(state)


def forget_rewards(state: StagewiseEliminationState) -> None:
    """Begin to count afresh."""
    for arm in range(len(state.arms)):
        state.samples[arm] = 0
        state.sums[arm] = 0.0
        state.squares[arm] = 0.0


def bounds(policy: StagewiseElimination, state: StagewiseEliminationState, arm: int, n: int) -> tuple[float, float]:
    """x - c and x + c of an active arm."""
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
    """Put a value in its place among the largest ones so far, which are kept in falling order."""
    j = size - 1
    if value <= values[j]:
        return
    while j > 0 and values[j - 1] < value:
        values[j] = values[j - 1]
        j -= 1
    values[j] = value
