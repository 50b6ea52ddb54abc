"""A clock that is set back, and forward and back again."""

import random
import time

from faults import Findings
from faults.truth import check, new_study, reward_of

MINUTE = 60 * 1_000_000


class Clock:
    """A clock that stands still and can be set: that of the process, or, if the server has the time, the storage's."""

    def __init__(self, study):
        self.ahead = 0
        self._storage = study._writer.storage
        self._of_server = study.address.startswith("postgresql")
        self._real = self._storage.now if self._of_server else time.time_ns
        self._begun = self._real()

    def __enter__(self):
        if self._of_server:
            self._storage.now = lambda: self._begun + self.ahead
        else:
            time.time_ns = lambda: self._begun + 1000 * self.ahead
        return self

    def __exit__(self, *reason):
        if self._of_server:
            self._storage.now = self._real
        else:
            time.time_ns = self._real


def set_clock(address, decisions):
    """With a window of 30 minutes: nothing is closed too early or twice, and times never go back."""
    found = Findings(f"set the clock, {address.partition(':')[0]}")
    study = new_study(address, "clock", window="30m")
    rng = random.Random(5)

    def ask(number):
        return [study.ask() for _ in range(number)]

    def tell(asked):
        return [study.tell(one, reward_of(one.arms, one.round)).status for one in asked]

    def statuses():
        return [decision.status for decision in study.decisions()]

    with Clock(study) as clock:
        before = ask(decisions)
        clock.ahead = -60 * MINUTE  # set back by an hour
        after = ask(decisions)
        mixed = before[::2] + after[::2]
        rng.shuffle(mixed)
        found.expect(set(tell(mixed)) == {"told"}, "set back: a decision was closed, and nothing was due")
        clock.ahead = -31 * MINUTE  # half an hour has gone by, and the clock shows less than at first
        ask(1)
        found.expect("closed" not in statuses(), "half an hour after it was set back: something was closed too early")
        clock.ahead = 29 * MINUTE
        ask(1)
        found.expect("closed" not in statuses(), "at 29 minutes: something was closed too early")
        clock.ahead = 30 * MINUTE + MINUTE // 10  # all that was asked at first is due, and only that
        ask(1)
        closed = statuses().count("closed")
        left = len(before[1::2]) + len(after[1::2]) + 1
        found.expect(closed == left, f"{closed} of {left} were closed when their window was over")
        found.expect(set(tell(before[1::2])) <= {"closed"}, "a late decision was taken as told")

        clock.ahead = 24 * 60 * MINUTE  # set forward by a day, and back by it
        forward = ask(decisions)
        clock.ahead = 31 * MINUTE
        back = ask(decisions)
        found.expect(set(tell(forward + back)) == {"told"}, "forward and back: something was closed too early")
        later = ask(decisions)
        clock.ahead = 24 * 60 * MINUTE + 29 * MINUTE
        ask(1)
        found.expect(set(tell(later)) == {"told"}, "forward, back and on: something was closed too early")
    found.take(check(study, address))
    rounds = [decision.round for decision in study.decisions()]
    found.expect(rounds == list(range(1, len(rounds) + 1)), "rounds are not in order")
    study.close()
    return found.end(f"{len(rounds)} decisions")
