"""The loop of one run of a policy in an environment, both interpreted and compiled."""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.kernels.certificate import Watch, clear_watch, watch_rounds
from setwise.kernels.draws import draw_binary_block, draw_epoch
from setwise.kernels.sums import add_up
from setwise.simulation.common import Common, draw_binary_round, draw_round
from setwise.simulation.observed import Observed, learn_round, new_observed
from setwise.simulation.stretch import WORTH, Stretch, new_stretch, play_stretch
from setwise.types import Feedback, Floats, Generator, Ints

EMPTY = np.iinfo(np.int64).min  # an empty slot; a number that no policy returns by mistake
FINE, WRONG_SIZE, NO_SUCH_ARM, ARM_TWICE, STOPPED, BETTER_THAN_BEST = range(6)
WRONG_MEAN, WRONG_SUM, WRONG_REWARD, WRONG_TOTAL = range(6, 10)


class Task(NamedTuple):
    """Constants of one run.

    n, k: number of arms, and arms per set
    least: minimum size of a set, k or 1
    feedback: of the environment
    binary: whether rewards are 0 or 1, so that feedback and means determine their distribution
    fast_forward: whether to play the rounds in which the set is certain at once
    epochs: whether to play the rounds up to the first without a reward at once, because the set stays until then
    record: whether to record indices and rho
    has_surrogate: whether the environment has a surrogate value
    has_value: whether the environment has a value by which regret is counted, instead of the sum of the means
    best_value, best_surrogate: of the optimal set
    tolerance: how far another set may exceed that value by rounding
    checked: whether to check means and rewards, because the environment is the user's own
    most_mean, most_value: maximum mean of an arm, and maximum sum over a set
    most_reward: maximum reward of an arm in a round
    one_reward: whether at most one arm is rewarded in a round, so that this is the maximum of a set, too
    """

    n: int
    k: int
    least: int
    feedback: Feedback
    binary: bool
    fast_forward: bool
    epochs: bool
    record: bool
    has_surrogate: bool
    has_value: bool
    best_value: float
    best_surrogate: float
    tolerance: float
    checked: bool
    most_mean: float
    most_value: float
    most_reward: float
    one_reward: bool


class Record(NamedTuple):
    """Output and buffers of one run.

    curves: at each checkpoint, regret, surrogate regret, and rho, the least index of a chosen arm so far
    pulls: number of rounds in which each arm was chosen
    smaller: number of rounds in which the set had fewer than k arms
    index_rows: index of each arm after each checkpoint, if recorded
    status: error code (or `FINE`), round and arm of the error, and number of rounds done
    stop: set by another thread to stop the run
    last, since: the arm in each slot of the set, and the round it entered
    inside: for every arm, whether it is in the set
    means, rewards, now, stretch: buffers
    nothing: the rewards of a round that rewards no arm
    common: the world's own random numbers, if they are common to all policies
    observed: buffers for the observed rewards, if some may not be
    watch: the test of weak optimal set consistency, if it is asked for
    """

    curves: Any
    pulls: Ints
    smaller: Ints
    index_rows: Any
    status: Ints
    stop: Ints
    last: Ints
    since: Ints
    inside: Any
    means: Floats
    rewards: Floats
    now: Floats
    nothing: Floats
    stretch: Stretch | None
    common: Common | None
    observed: Observed | None
    watch: Watch | None


def new_record(
    n: int, k: int, checkpoints: int, record: bool, stretches: bool, stop: Ints, common: Common | None = None,
    missing: bool = False, watch: Watch | None = None,
) -> Record:  # fmt: skip
    """Create an empty record with its buffers."""
    kept = checkpoints if record else 0
    return Record(
        curves=np.zeros((3, checkpoints)),
        pulls=np.zeros(n, np.int64),
        smaller=np.zeros(1, np.int64),
        index_rows=np.zeros((kept, n)),
        status=np.zeros(4, np.int64),
        stop=stop,
        last=np.full(k, EMPTY),
        since=np.zeros(k, np.int64),
        inside=np.zeros(n, np.int8),
        means=np.zeros(k),
        rewards=np.zeros(k),
        now=np.zeros(n if record else 0),
        nothing=np.zeros(k),
        stretch=new_stretch() if stretches else None,
        common=common,
        observed=new_observed(k) if missing else None,
        watch=watch,
    )


def clear_record(record: Record) -> None:
    """Empty a record for another run."""
    for array in record:
        if array is record.last:
            array.fill(EMPTY)
        elif isinstance(array, np.ndarray) and array is not record.stop:
            array.fill(0)
    if record.watch is not None:
        clear_watch(record.watch)


def play(
    policy: Any, environment: Any, state: Any, rng: Generator, task: Task, checkpoints: Ints, record: Record
) -> None:
    """Play up to the last checkpoint and fill the record.

    Regret is counted from the true means, which are computed when the set changes. If policy and environment allow it,
    rounds in which the set is certain are drawn and learned at once, and so are long stretches up to where it may
    change; both end at checkpoints.
    """
    done = 0
    size = task.k
    means = record.means
    rewards = record.rewards
    gap = surrogate_gap = 0.0
    regret = surrogate_regret = 0.0
    lost = surrogate_lost = 0.0  # rounding errors of the two sums so far
    rho = np.inf
    for c in range(len(checkpoints)):
        end = checkpoints[c]
        while done < end:
            if record.stop[0] != 0:
                record.status[0] = STOPPED
                return
            chosen = policy.select(state, rng)
            if is_new(chosen, record, done):
                if not enter_set(chosen, record, task.n, task.least, done):
                    return
                if len(chosen) != size:
                    size = len(chosen)
                    means = record.means[:size]
                    rewards = record.rewards[:size]
                environment.means(chosen, means)
                if task.checked and not means_valid(chosen, means, task, record):
                    return
                gap = gap_of(environment.value(chosen) if task.has_value else sum_of(means), task)
                if gap < -task.tolerance and size == task.k:
                    record.status[0] = BETTER_THAN_BEST
                    return
                if task.has_surrogate:
                    surrogate_gap = task.best_surrogate - environment.surrogate(chosen)
            if task.record:
                policy.indices(state, record.now)
                for j in range(size):
                    rho = min(rho, record.now[chosen[j]])
            rounds = play_rounds(
                policy, environment, state, chosen, means, rewards, task, record, done, end - done, rng
            )
            if rounds == 0:
                return
            # Not `chosen`: it may be a buffer in the state, to which `update` has written the next set.
            watch_if_asked(record.watch, record.last[:size], rewards, rounds)
            regret, lost = add_up(regret, lost, gap * rounds)
            if task.has_surrogate:
                surrogate_regret, surrogate_lost = add_up(surrogate_regret, surrogate_lost, surrogate_gap * rounds)
            done += rounds
            if size < task.k:
                record.smaller[0] += rounds
        record.curves[0, c] = regret
        record.curves[1, c] = surrogate_regret
        record.curves[2, c] = rho
        record.status[3] = done
        if task.record:
            policy.indices(state, record.index_rows[c])
    for j in range(size):
        record.pulls[record.last[j]] += done - record.since[j]


def sum_of(means: Floats) -> float:
    """Return the expected reward of a set with these means."""
    value = 0.0
    for j in range(len(means)):
        value += means[j]
    return value


def watch_if_asked(watch: Watch | None, chosen: Ints, totals: Floats, rounds: int) -> None:
    """Add rounds to the test of weak optimal set consistency."""
    if watch is None:  # known at compile time
        return
    watch_rounds(watch, chosen, totals, rounds)


def gap_of(value: float, task: Task) -> float:
    """Return how much less than the optimal set a set is worth; 0 up to rounding."""
    gap = task.best_value - value
    return 0.0 if abs(gap) < 1e-14 * task.best_value else gap


def play_rounds(
    policy: Any,
    environment: Any,
    state: Any,
    chosen: Ints,
    means: Floats,
    rewards: Floats,
    task: Task,
    record: Record,
    done: int,
    most: int,
    rng: Generator,
) -> int:
    """Draw and learn one round, or up to `most` while the set stays; return how many, 0 for an invalid reward."""
    if task.epochs:
        return play_epoch(policy, state, chosen, means, most, rng, rewards, record.nothing[: len(chosen)])
    rounds = 1
    if task.fast_forward:
        rounds = max(1, min(policy.certain_rounds(state, chosen), most))
        if WORTH <= rounds < most:
            stretched = play_stretch(
                policy, state, chosen, means, task.feedback, rounds, most, rng, rewards, record.stretch
            )
            if stretched > 0:
                policy.update_many(state, chosen, rewards, stretched)
                return stretched
    if rounds == 1:
        if task.binary:
            draw_binary_round(task.feedback, chosen, means, rng, rewards, record.common)
        else:
            draw_round(environment, chosen, rng, rewards, record.common)
            if task.checked and not rewards_valid(chosen, rewards, 1, task, record, done):
                return 0
        learn_round(policy, state, chosen, rewards, record.observed, rng)
    else:
        if task.binary:
            draw_binary_block(task.feedback, means, rounds, rng, rewards)
        else:
            environment.draw_many(chosen, rounds, rng, rewards)
            if task.checked and not rewards_valid(chosen, rewards, rounds, task, record, done):
                return 0
        policy.update_many(state, chosen, rewards, rounds)
    return rounds


def means_valid(chosen: Ints, means: Floats, task: Task, record: Record) -> bool:
    """Whether the means are valid; else record the wrong arm, or that the sum is too large. NaN is invalid."""
    value = 0.0
    for j in range(len(chosen)):
        value += means[j]
        if not (means[j] >= -task.tolerance and means[j] <= task.most_mean):
            record.status[0] = WRONG_MEAN
            record.status[2] = chosen[j]
            return False
    if value > task.most_value:
        record.status[0] = WRONG_SUM
        return False
    return True


def rewards_valid(chosen: Ints, rewards: Floats, rounds: int, task: Task, record: Record, done: int) -> bool:
    """Whether the reward sums of `rounds` rounds are valid, or missing where they may be; else record what is wrong."""
    most = task.most_reward * rounds * (1.0 + 1e-12)
    total = 0.0
    for j in range(len(chosen)):
        if record.observed is not None and math.isnan(rewards[j]):
            continue
        total += rewards[j]
        if not (rewards[j] >= 0.0 and rewards[j] <= most):
            record.status[0] = WRONG_REWARD
            record.status[1] = done
            record.status[2] = chosen[j]
            return False
    if task.one_reward and total > most:
        record.status[0] = WRONG_TOTAL
        record.status[1] = done
        return False
    return True


def play_epoch(
    policy: Any, state: Any, chosen: Ints, means: Floats, most: int, rng: Generator, rewards: Floats, nothing: Floats
) -> int:
    """Play up to the first round that rewards no arm, at most `most` rounds; return their number."""
    rounds = draw_epoch(means, most, rng, rewards)
    if rounds > 0:
        policy.update_many(state, chosen, rewards, rounds)
    if rounds < most:
        policy.update(state, chosen, nothing, rng)
        rounds += 1
    return rounds


def is_new(chosen: Ints, record: Record, done: int) -> bool:
    """Whether the set changed; count the pulls of arms that leave their slots and remove them."""
    last = record.last
    size = len(chosen)
    if size == 0 or size > len(last):
        return True
    new = False
    for j in range(len(last)):
        if (j < size and chosen[j] != last[j]) or (j >= size and last[j] != EMPTY):
            new = True
            if last[j] != EMPTY:
                record.pulls[last[j]] += done - record.since[j]
                record.inside[last[j]] = 0
    return new


def enter_set(chosen: Ints, record: Record, n: int, least: int, done: int) -> bool:
    """Put the arms of a new set in their slots; record an error if they are not distinct, in range and of valid number.

    A set has `least` arms or more, up to the number of slots.
    """
    last = record.last
    size = len(chosen)
    record.status[1] = done
    if size < least or size > len(last):
        record.status[0] = WRONG_SIZE
        record.status[2] = size
        return False
    for j in range(size, len(last)):
        last[j] = EMPTY
    for j in range(size):
        arm = chosen[j]
        if arm != last[j]:
            if arm < 0 or arm >= n:
                record.status[0] = NO_SUCH_ARM
                record.status[2] = arm
                return False
            if record.inside[arm] != 0:
                record.status[0] = ARM_TWICE
                record.status[2] = arm
                return False
            record.inside[arm] = 1
            last[j] = arm
            record.since[j] = done
    return True
