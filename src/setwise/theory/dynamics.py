"""Check the dynamics of the indices round by round along a run, the basis of the paper's proof.

    rho'(t) = min over the arms of s_t of U_i(t),  rho(t) = min over tau <= t of rho'(tau)

with U_i(t) the index of arm i before round t, N_i(t) its plays and C_i(t) its rewards until then. For the arms of s* in
descending order of P*_l = P(a_l|s*), t_l is the last round with rho(t) >= P*_l, and t'_l the plays of s* up to it.

Lemma 1: rho(t) >= U_i(t) >= rho(t) (1 - 1 / N_i(t)) for every arm i that is not in s_t.
Arm selection: after t_l every set contains the arms a_1, ..., a_l.
Validity: |C_i(t) - sum of P(a_i|s) over its plays| < sqrt(alpha N_i(t) log T).
"""

from typing import Any, NamedTuple

import numpy as np

from setwise.kernels.draws import draw_binary
from setwise.kernels.sums import add_up
from setwise.simulation.play import STOPPED, Record, Task, enter_set, is_new
from setwise.types import Floats, Generator, Ints

ROUNDING = 1e-12  # relative tolerance in the lower half of Lemma 1, which multiplies
UPPER, LOWER, PAIRS, INVALID, UNDER, UNSELECTED, BEST_PLAYS = range(7)


class Trail(NamedTuple):
    """Statistics of an audited run, updated in place.

    rank: of every arm in s* by P(a|s*), from 0; -1 outside s*
    reference: P*_l in descending order
    floor: P(a|s*) for every arm of s*, and minus infinity for the others
    level: alpha B^2 log T
    pulls, reward, expected: N, C and the sum of P(a|s) for every arm
    counts: violations of the upper and the lower half of Lemma 1, (arm, round) pairs it was checked on, pairs with an
        invalid confidence bound, pairs of an arm of s* and a round with U < P(a|s*), rounds that lack an arm promised
        by the corollary on arm selection, and plays of s*
    first: round (from 1) and arm (from 0) of the first violation of Lemma 1, and which half
    first_values: U and rho there
    ratio: for every arm the smallest U / rho over the rounds in which it was not chosen and rho was finite
    worst: the largest (C - sum of P)^2 / (N level) over all arms and rounds
    passed: number of l whose t_l has passed
    last_round, best_plays, collected: t_l, t'_l and the sum of Q(s_t) up to t_l
    """

    rank: Ints
    reference: Floats
    floor: Floats
    level: Floats
    pulls: Floats
    reward: Floats
    expected: Floats
    counts: Ints
    first: Ints
    first_values: Floats
    ratio: Floats
    worst: Floats
    passed: Ints
    last_round: Ints
    best_plays: Ints
    collected: Floats


def new_trail(n: int, arms: Any, reference: Floats, level: float) -> Trail:
    """Return the trail before the first round."""
    k = len(arms)
    rank = np.full(n, -1, dtype=np.int64)
    rank[np.asarray(arms)] = np.arange(k)
    floor = np.full(n, -np.inf)
    floor[np.asarray(arms)] = reference
    return Trail(
        rank=rank,
        reference=reference,
        floor=floor,
        level=np.array([level]),
        pulls=np.zeros(n),
        reward=np.zeros(n),
        expected=np.zeros(n),
        counts=np.zeros(7, np.int64),
        first=np.full(3, -1, dtype=np.int64),
        first_values=np.full(2, np.nan),
        ratio=np.full(n, np.inf),
        worst=np.zeros(1),
        passed=np.zeros(1, np.int64),
        last_round=np.zeros(k, np.int64),
        best_plays=np.zeros(k, np.int64),
        collected=np.zeros(k),
    )


def audited_play(
    policy: Any, environment: Any, state: Any, rng: Generator, task: Task, horizon: int, record: Record, trail: Trail
) -> None:
    """Play round by round, exactly as `play` does with the same generator, and check every round."""
    k = task.k
    rho = np.inf
    value = 0.0
    collected = 0.0
    gap = 0.0
    lost = 0.0
    optimal = False
    for done in range(horizon):
        if record.stop[0] != 0:
            record.status[0] = STOPPED
            return
        chosen = policy.select(state, rng)
        if is_new(chosen, record, done):
            if not enter_set(chosen, record, task.n, k, done):
                return
            environment.means(chosen, record.means)
            value = 0.0
            optimal = True
            for j in range(k):
                value += record.means[j]
                if trail.rank[chosen[j]] < 0:
                    optimal = False
            gap = task.best_value - value
            if abs(gap) < 1e-14 * task.best_value:
                gap = 0.0
        policy.indices(state, record.now)
        for j in range(k):
            rho = min(rho, record.now[chosen[j]])
        check_dynamics(record.now, record.inside, rho, done, trail)
        check_selection(chosen, rho, done, collected, trail)
        if task.binary:
            draw_binary(task.feedback, record.means, rng, record.rewards)
        else:
            environment.draw(chosen, rng, record.rewards)
        check_validity(chosen, record.means, record.rewards, trail)
        policy.update(state, chosen, record.rewards, rng)
        collected += value
        record.curves[0, 0], lost = add_up(record.curves[0, 0], lost, gap)
        if optimal:
            trail.counts[BEST_PLAYS] += 1
        if done % 4096 == 0:
            record.status[3] = done
    record.status[3] = horizon
    for rank in range(trail.passed[0], k):
        trail.last_round[rank] = horizon
        trail.best_plays[rank] = trail.counts[BEST_PLAYS]
        trail.collected[rank] = collected


def check_dynamics(index: Floats, inside: Any, rho: float, done: int, trail: Trail) -> None:
    """Check Lemma 1 in one round, for every arm outside the chosen set."""
    upper = 0
    lower = 0
    pairs = 0
    under = 0
    for arm in range(len(index)):
        if index[arm] < trail.floor[arm]:
            under += 1
        if inside[arm] == 0:
            pairs += 1
            if index[arm] > rho:
                upper += 1
            pulls = trail.pulls[arm]
            if pulls > 1.0 and index[arm] * pulls * (1.0 + ROUNDING) < rho * (pulls - 1.0):
                lower += 1
            if pulls > 0.0 and rho < np.inf and index[arm] < trail.ratio[arm] * rho:
                trail.ratio[arm] = index[arm] / rho
    trail.counts[PAIRS] += pairs
    trail.counts[UNDER] += under
    if upper + lower > 0:
        if trail.first[0] < 0:
            record_first(index, inside, rho, done, trail)
        trail.counts[UPPER] += upper
        trail.counts[LOWER] += lower


def record_first(index: Floats, inside: Any, rho: float, done: int, trail: Trail) -> None:
    """Record the first violation of Lemma 1."""
    for arm in range(len(index)):
        pulls = trail.pulls[arm]
        low = pulls > 1.0 and index[arm] * pulls * (1.0 + ROUNDING) < rho * (pulls - 1.0)
        if inside[arm] == 0 and trail.first[0] < 0 and (index[arm] > rho or low):
            trail.first[0] = done + 1
            trail.first[1] = arm
            trail.first[2] = LOWER if low else UPPER
            trail.first_values[0] = index[arm]
            trail.first_values[1] = rho


def check_selection(chosen: Ints, rho: float, done: int, collected: float, trail: Trail) -> None:
    """Record each t_l that has passed, and check that the set contains the arms promised after it."""
    k = len(chosen)
    while trail.passed[0] < k and rho < trail.reference[trail.passed[0]]:
        rank = trail.passed[0]
        trail.last_round[rank] = done
        trail.best_plays[rank] = trail.counts[BEST_PLAYS]
        trail.collected[rank] = collected
        trail.passed[0] += 1
    promised = 0
    for j in range(k):
        rank = trail.rank[chosen[j]]
        if rank >= 0 and rank < trail.passed[0]:
            promised += 1
    if promised < trail.passed[0]:
        trail.counts[UNSELECTED] += 1


def check_validity(chosen: Ints, means: Floats, rewards: Floats, trail: Trail) -> None:
    """Update the counters of the chosen arms, and check that their confidence bounds still hold."""
    for j in range(len(chosen)):
        arm = chosen[j]
        trail.pulls[arm] += 1.0
        trail.reward[arm] += rewards[j]
        trail.expected[arm] += means[j]
        off = trail.reward[arm] - trail.expected[arm]
        allowed = trail.pulls[arm] * trail.level[0]
        if off * off > trail.worst[0] * allowed:
            trail.worst[0] = off * off / allowed
        if off * off >= allowed:
            trail.counts[INVALID] += 1
