"""The certificate against weak optimal set consistency in a study, from the feedback in its journal.

`kernels.certificate` has the test and its proof. The proof needs rounds in an order in which the rewards of a set,
given all rounds before it, have the means P(a|s). In a study decisions are open at the same time:

- **Without a window** rounds count in the order of the feedback; decisions without feedback do not count. That order is
  right if a decision's rewards change neither whether nor when they are told. If clicks were told at once and their
  absence an hour later, the first feedback on a new set would be clicks only.
- **With a window** every decision is told or closed, so rounds count in the order of asking: a decision waits for all
  before it. Then delays may depend on rewards. What an arm earns is what is told within the window, as for the policy.

In both orders a set is chosen before its rewards are known. A set of fewer than k arms does not count, because the
assumption says nothing about it; its size is known before its rewards. The same holds for all that is left out: whether
a round counts is decided by what was known before it.

**Arms that are added.** The assumption is about the optimal set s* of all arms there are, retired ones included. All
bounds are of means of s*, whatever else can be played, so rounds before an arm was added count as well. A refutation
does not outlive them: the new arm may belong to s*, and nothing is known of it. So the test goes on with what it has
seen, and refutes again only if it still can. For each number of arms the chance of a wrong refutation is at most
delta, provided that s* does not depend on rewards: that arms are not added in response to the luck of others.

**Bounds.** A reward is at most the `bound` of the policy, 1 if it names none. If the policy learns from winners only,
at most one arm is rewarded. If it has a `total`, `tell` refuses more, so that this limits totals and single rewards. In
other studies a total counts as one value between 0 and k times the bound. Neither rewards told so far nor `winner=`
decide that: a test chosen by its own data does not have the stated confidence.
"""

import contextlib
import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.errors import InputError, WorkerLost
from setwise.kernels.certificate import REFUTED, ROUNDS, Watch, new_watch, slot_of, watch_rounds
from setwise.kernels.set_table import NO_SET
from setwise.lazy_compiler import load_compiler
from setwise.study.definition import Definition
from setwise.study.journal import START, Row, body_of
from setwise.study.operations import largest_rewards
from setwise.study.replica import ArmRewards, paused_gc
from setwise.types import Floats, Ints
from setwise.validation import number

if TYPE_CHECKING:
    from setwise.simulation.certificate import Certificate

COMPILE_SECONDS = 1.5  # estimated time of interpreted rounds that is worth compiling them
ROUND_SECONDS, ARM_SECONDS = 1.2e-5, 2.5e-6  # of an interpreted round, and of an arm each time the test is repeated


class Certifier:
    """The tests of a study in this process, one for each confidence. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tests: dict[float, JournalTest] = {}

    def certify(self, study: Any, confidence: Any, progress: Callable[[float], None] | None) -> "Certificate":
        """Return the certificate at the end of the journal; go on from the end of the last call."""
        stated = check_confidence(confidence)
        until = study._read(lambda replica: replica.position)
        with self._lock:
            test = self._tests.pop(stated, None)  # an error may leave it half advanced
            if test is None or not test.fits(study):
                test = JournalTest(study._definition, stated)
            test.advance(study, until, progress)
            self._tests[stated] = test
            return test.certificate()


class JournalTest:
    """The test of one confidence at a position of a journal."""

    def __init__(self, definition: Definition, confidence: float) -> None:
        bound, most = largest_rewards(definition.policy, definition.k)
        self._policy = type(definition.policy).__name__
        self._bound = bound if math.isfinite(bound) else 1.0
        self._most = most if math.isfinite(most) else definition.k * self._bound
        self._k = definition.k
        self._confidence = confidence
        self._names = list(definition.arms)
        self._watch = self._new_watch()
        self._refuted = np.zeros(1, np.int64)  # round of the first refutation with these arms, or 0
        self._witness = self._watch.witness.copy()
        self._withdrawn: int | None = None  # round of the last refutation with fewer arms
        self._windowed = definition.window is not None
        self._line: deque[str] = deque()  # decisions in the order of asking that do not count yet
        self._told: dict[str, ArmRewards] = {}  # feedback on these
        self._position = 0
        self._digest = START
        self._count: Callable[..., None] = count_rounds

    def _new_watch(self) -> Watch:
        return new_watch(len(self._names), self._k, self._bound, self._most, 1, 1.0 - self._confidence)

    def fits(self, study: Any) -> bool:
        """Whether the journal still has the rows that were read; it may have been restored from a backup."""
        rows = study._page(self._position - 1, self._position)
        return bool(rows) and rows[0].position == self._position and rows[0].digest == self._digest

    def advance(self, study: Any, until: int, progress: Callable[[float], None] | None) -> None:
        """Count the feedback up to a position."""
        self._compile_if_worth(until - self._position)
        for page in study._rows(until, self._position, self._digest):
            with paused_gc():
                self._apply(page)
            if progress is not None:
                progress(self._position / until)

    def certificate(self) -> "Certificate":
        """Return the certificate at this position."""
        from setwise.simulation.certificate import read_certificate

        refuted, withdrawn = int(self._refuted[0]), self._withdrawn
        if len(self._names) > len(self._watch.pulls):
            refuted, withdrawn = 0, refuted or withdrawn
        return read_certificate(
            self._confidence, int(self._watch.counts[ROUNDS]), refuted, self._witness, self._names, withdrawn
        )

    def _apply(self, page: Sequence[Row]) -> None:
        rounds: list[ArmRewards] = []
        for row in page:
            if row.kind == "ask":
                if self._windowed:
                    self._line.append(row.decision or "")
            elif row.kind == "tell":
                body = body_of(row)
                rounds += self._in_order(row.decision or "", (body["arms"], body["rewards"]))
            elif row.kind == "arms":
                added = body_of(row).get("add", [])
                if added:
                    self._add(rounds)
                    rounds = []
                    self._names += added
        self._add(rounds)
        self._position, self._digest = page[-1].position, page[-1].digest

    def _in_order(self, decision: str, told: ArmRewards) -> list[ArmRewards]:
        """Return the rounds that count now that a decision was told or closed."""
        if not self._windowed:
            return [told]
        self._told[decision] = told
        found = []
        while self._line and self._line[0] in self._told:
            found.append(self._told.pop(self._line.popleft()))
        return found

    def _add(self, rounds: Sequence[ArmRewards]) -> None:
        """Add the rounds of k arms to the test, which grows first if there are more arms now."""
        whole = [played for played in rounds if len(played[0]) == self._k]
        if not whole:
            return
        if len(self._names) > len(self._watch.pulls):
            larger = self._new_watch()
            copy_watch(self._watch, larger)
            self._watch = larger
            self._withdrawn = int(self._refuted[0]) or self._withdrawn
            self._refuted[0] = 0
        arms = np.array([played[0] for played in whole], np.int64)
        rewards = np.array([played[1] for played in whole], float)
        self._check_rewards(rewards)
        self._count(self._watch, self._refuted, self._witness, arms.ravel(), rewards.ravel())

    def _check_rewards(self, rewards: Floats) -> None:
        largest = float(rewards.max())
        if largest > self._bound:
            raise InputError(
                f"the certificate needs a bound of the rewards: {self._policy} names none, which is taken as 1, and a "
                f"reward of {largest:g} was told; a study with bound={largest:g} in its policy can be tested"
            )

    def _compile_if_worth(self, rows: int) -> None:
        """Compile the counting, with the same bits, if there is much of it; stay interpreted if that fails."""
        rounds, before, n = rows / 2.0, float(self._watch.counts[ROUNDS]), len(self._names)
        tests = 16.0 * math.log1p(rounds / (before + 16.0))
        if self._count is count_rounds and rounds * ROUND_SECONDS + tests * n * ARM_SECONDS > COMPILE_SECONDS:
            given = (self._watch, self._refuted, self._witness, np.zeros(0, np.int64), np.zeros(0))
            with contextlib.suppress(InputError, WorkerLost):
                self._count = load_compiler().compile_for(count_rounds, *given)


def check_confidence(confidence: Any) -> float:
    """Return the confidence; raise InputError unless it is between 0 and 1."""
    stated = number("confidence", confidence)
    if not 0.0 < stated < 1.0:
        raise InputError(f"confidence is {stated:g}; it is a probability above 0 and below 1, such as 0.95")
    return stated


def count_rounds(watch: Watch, refuted: Ints, witness: Floats, arms: Ints, rewards: Floats) -> None:
    """Add rounds of k arms each; keep the first refutation, and count on for the day on which arms are added."""
    k = len(watch.top)
    for played in range(len(arms) // k):
        start, end = played * k, played * k + k
        watch_rounds(watch, arms[start:end], rewards[start:end], 1)
        if watch.counts[REFUTED] != 0:
            if refuted[0] == 0:
                refuted[0] = watch.counts[REFUTED]
                for i in range(k + 1):
                    for j in range(k + 2):
                        witness[i, j] = watch.witness[i, j]
            watch.counts[REFUTED] = 0


def copy_watch(watch: Watch, larger: Watch) -> None:
    """Copy what a test has seen to an empty one of more arms, in which the arms have the same codes.

    A set that finds no place in the larger table is forgotten; if it is played again, it is admitted anew.
    """
    n = len(watch.pulls)
    larger.pulls[:n] = watch.pulls
    larger.reward[:n] = watch.reward
    larger.counts[:] = watch.counts
    old, new = watch.table, larger.table
    same = len(old.taken) == len(new.taken)
    for slot in np.flatnonzero(old.taken):
        place = slot if same else slot_of(larger, old.arms[slot])
        if place != NO_SET:
            new.taken[place] = old.taken[slot]
            new.arms[place] = old.arms[slot]
            new.rewards[place] = old.rewards[slot]
            new.plays[place] = old.plays[slot]
            new.totals[place] = old.totals[slot]
            larger.number[place] = watch.number[slot]
    new.sets[0] = old.sets[0]
