"""Set the clock back, and forward and back again."""

import random
import time

from faults import Findings
from faults.truth import check, new_study, reward_of

MINUTE = 60 * 1_000_000


class Clock:
    """Freeze and set the clock: that of the process or, on a server, that of the storage."""

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
    """With a window of 30 minutes, nothing is closed too early or twice, and times never decrease."""
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
        clock.ahead = -60 * MINUTE  # one hour back
        after = ask(decisions)
        mixed = before[::2] + after[::2]
        rng.shuffle(mixed)
        found.expect(set(tell(mixed)) == {"told"}, "set back: a decision was closed, and nothing was due")
        clock.ahead = -31 * MINUTE  # half an hour later; still before the first time
        ask(1)
        found.expect("closed" not in statuses(), "half an hour after it was set back: something was closed too early")
        clock.ahead = 29 * MINUTE
        ask(1)
        found.expect("closed" not in statuses(), "at 29 minutes: something was closed too early")
        clock.ahead = 30 * MINUTE + MINUTE // 10  # exactly the decisions asked so far are due
        ask(1)
        closed = statuses().count("closed")
        left = len(before[1::2]) + len(after[1::2]) + 1
        found.expect(closed == left, f"{closed} of {left} were closed when their window was over")
        found.expect(set(tell(before[1::2])) <= {"closed"}, "a late decision was taken as told")

        clock.ahead = 24 * 60 * MINUTE  # one day forward, then back
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
