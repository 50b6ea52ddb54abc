"""One run of one policy in one environment: the loop, written once, interpreted and compiled alike."""

from typing import Any, NamedTuple

import numpy as np

from setwise.kernels.draws import draw_binary, draw_binary_block, draw_epoch
from setwise.kernels.sums import add_up
from setwise.simulation.stretch import WORTH, Stretch, new_stretch, play_stretch
from setwise.types import Feedback, Floats, Generator, Ints

NOBODY = np.iinfo(np.int64).min  # not an arm, and not anything that a policy would return by mistake
FINE, WRONG_SIZE, NO_SUCH_ARM, ARM_TWICE, STOPPED, BETTER_THAN_BEST, WRONG_MEAN, WRONG_SUM, WRONG_REWARD = range(9)


class Task(NamedTuple):
    """What the loop has to know that does not change.

    n, k: how many arms there are, and how many a set has
    least: how many arms a set has at the least, k or 1
    feedback: of the environment
    binary: whether rewards are 0 or 1, so that feedback and means say all about them
    fast_forward: whether to play the rounds in which the set is certain at once
    epochs: whether to play the rounds up to the first without a reward at once, because the set stays until then
    record: whether to record indices and rho
    has_surrogate: whether the environment has a surrogate value
    best_value, best_surrogate: of the optimal set
    tolerance: by how much another set may be above that value, by rounding
    checked: whether to check means and rewards, as those of a user's own environment may be anything
    most_mean, most_value: how large the mean of an arm and the sum over a set can be
    most_reward: how much an arm can earn in a round
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
    best_value: float
    best_surrogate: float
    tolerance: float
    checked: bool
    most_mean: float
    most_value: float
    most_reward: float


class Record(NamedTuple):
    """What the loop writes.

    curves: at each checkpoint, regret, surrogate regret, and rho, the least index of a chosen arm so far
    pulls: how often each arm was chosen
    smaller: in how many rounds the set had fewer than k arms
    index_rows: of each arm after each checkpoint, if recorded
    status: what went wrong (or `FINE`), in which round, with which arm; and how many rounds are done
    stop: set by another thread to stop the run
    last, since: the arm in each place of the set, and the round it came there
    inside: for every arm, whether it is in the set
    means, rewards, now, stretch: buffers
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
    stretch: Stretch | None


def new_record(n: int, k: int, checkpoints: int, record: bool, stretches: bool, stop: Ints) -> Record:
    """An empty record with its buffers."""
    kept = checkpoints if record else 0
    return Record(
        curves=np.zeros((3, checkpoints)),
        pulls=np.zeros(n, np.int64),
        smaller=np.zeros(1, np.int64),
        index_rows=np.zeros((kept, n)),
        status=np.zeros(4, np.int64),
        stop=stop,
        last=np.full(k, NOBODY),
        since=np.zeros(k, np.int64),
        inside=np.zeros(n, np.int8),
        means=np.zeros(k),
        rewards=np.zeros(k),
        now=np.zeros(n if record else 0),
        stretch=new_stretch() if stretches else None,
    )


def play(
    policy: Any, environment: Any, state: Any, rng: Generator, task: Task, checkpoints: Ints, record: Record
) -> None:
    """Play up to the last checkpoint and fill the record.

    Regret is counted from the true means. The means are computed when the set changes. Where policy and environment
    allow it, rounds in which the set is certain are drawn and learned at once, and whole stretches up to where it may
    change; checkpoints cut both.
    """
    done = 0
    size = task.k
    means = record.means
    rewards = record.rewards
    gap = 0.0
    surrogate_gap = 0.0
    regret = 0.0
    surrogate_regret = 0.0
    lost = 0.0  # to rounding, of each of the two sums so far
    surrogate_lost = 0.0
    rho = np.inf
    for c in range(len(checkpoints)):
        end = checkpoints[c]
        while done < end:
            if record.stop[0] != 0:
                record.status[0] = STOPPED
                return
            chosen = policy.select(state, rng)
            if is_new(chosen, record, done):
                if not take_over(chosen, record, task.n, task.least, done):
                    return
                if len(chosen) != size:
                    size = len(chosen)
                    means = record.means[:size]
                    rewards = record.rewards[:size]
                environment.means(chosen, means)
                if task.checked and not right_means(chosen, means, task, record):
                    return
                value = 0.0
                for j in range(size):
                    value += means[j]
                gap = task.best_value - value
                if abs(gap) < 1e-14 * task.best_value:
                    gap = 0.0
                if gap < -task.tolerance and size == task.k:
                    record.status[0] = BETTER_THAN_BEST
                    return
                if task.has_surrogate:
                    surrogate_gap = task.best_surrogate - environment.surrogate(chosen)
            if task.record:
                policy.indices(state, record.now)
                for j in range(size):
                    rho = min(rho, record.now[chosen[j]])
            rounds = 1
            most = end - done
            if task.epochs:
                rounds = play_epoch(policy, state, chosen, means, most, rng, rewards)
            else:
                stretched = 0
                if task.fast_forward:
                    rounds = max(1, min(policy.hold(state, chosen), most))
                    if WORTH <= rounds < most:
                        stretched = play_stretch(
                            policy, state, chosen, means, task.feedback, rounds, most, rng, rewards, record.stretch
                        )
                if stretched > 0:
                    rounds = stretched
                    policy.absorb(state, chosen, rewards, rounds)
                elif rounds == 1:
                    if task.binary:
                        draw_binary(task.feedback, means, rng, rewards)
                    else:
                        environment.draw(chosen, rng, rewards)
                        if task.checked and not right_rewards(chosen, rewards, 1, task, record, done):
                            return
                    policy.update(state, chosen, rewards, rng)
                else:
                    if task.binary:
                        draw_binary_block(task.feedback, means, rounds, rng, rewards)
                    else:
                        environment.draw_many(chosen, rounds, rng, rewards)
                        if task.checked and not right_rewards(chosen, rewards, rounds, task, record, done):
                            return
                    policy.absorb(state, chosen, rewards, rounds)
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


def right_means(chosen: Ints, means: Floats, task: Task, record: Record) -> bool:
    """Whether the means can be; else note the arm, or that they are too much together. NaN is never right."""
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


def right_rewards(chosen: Ints, rewards: Floats, rounds: int, task: Task, record: Record, done: int) -> bool:
    """Whether the sums of the rewards of so many rounds can be; else note the arm. NaN is never right."""
    for j in range(len(chosen)):
        if not (rewards[j] >= 0.0 and rewards[j] <= task.most_reward * rounds * (1.0 + 1e-12)):
            record.status[0] = WRONG_REWARD
            record.status[1] = done
            record.status[2] = chosen[j]
            return False
    return True


def play_epoch(policy: Any, state: Any, chosen: Ints, means: Floats, most: int, rng: Generator, rewards: Floats) -> int:
    """Play up to the first round that rewards no arm, and no more than so many; return how many."""
    rounds = draw_epoch(means, most, rng, rewards)
    if rounds > 0:
        policy.absorb(state, chosen, rewards, rounds)
    if rounds < most:
        for j in range(len(rewards)):
            rewards[j] = 0.0
        policy.update(state, chosen, rewards, rng)
        rounds += 1
    return rounds


def is_new(chosen: Ints, record: Record, done: int) -> bool:
    """Whether the set is another than the last one; the arms that leave their places are counted and let go."""
    last = record.last
    size = len(chosen)
    if size == 0 or size > len(last):
        return True
    new = False
    for j in range(len(last)):
        if (j < size and chosen[j] != last[j]) or (j >= size and last[j] != NOBODY):
            new = True
            if last[j] != NOBODY:
                record.pulls[last[j]] += done - record.since[j]
                record.inside[last[j]] = 0
    return new


def take_over(chosen: Ints, record: Record, n: int, least: int, done: int) -> bool:
    """Put the arms of a new set in their places, if they are distinct and as many as allowed; else note what is wrong.

    A set may have `least` arms or more, up to the number of places.
    """
    last = record.last
    size = len(chosen)
    record.status[1] = done
    if size < least or size > len(last):
        record.status[0] = WRONG_SIZE
        record.status[2] = size
        return False
    for j in range(size, len(last)):
        last[j] = NOBODY
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
