"""A reference count of a journal in plain dictionaries, independent of the code under test."""

import hashlib
import json
import sqlite3
from collections import Counter

ARMS = [f"arm {number}" for number in range(12)]


def reward_of(arms, round):
    """Return feedback that is a function of the decision: 0 or 1 for each arm, more often 1 for a later arm."""
    drawn = hashlib.blake2b(f"{round} {' '.join(arms)}".encode(), digest_size=len(arms)).digest()
    return {arm: int(byte < 15 + 18 * int(arm.split()[1])) for arm, byte in zip(arms, drawn)}


def rows_at(address, name):
    """Read the journal from the database: position, kind, decision, time and body of every row."""
    chosen = (
        "SELECT position, kind, decision, time, body FROM setwise_journal JOIN setwise_studies ON study = id "
        "WHERE name = {} ORDER BY position"
    )
    if address.startswith("sqlite"):
        connection = sqlite3.connect(address.removeprefix("sqlite:///"), timeout=60)
        try:
            return connection.execute(chosen.format("?"), (name,)).fetchall()
        finally:
            connection.close()
    import psycopg

    with psycopg.connect(address) as connection:
        return connection.execute(chosen.format("%s"), (name,)).fetchall()


class Truth:
    """The counts that follow from a journal."""

    def __init__(self, rows):
        self.names = []
        self.pulls, self.reward, self.shown = Counter(), Counter(), Counter()
        self.asked, self.told, self.closed, self.late = {}, {}, {}, {}
        self.problems = []
        self.lost = 0
        self.doubled = 0
        before = 0
        for place, (position, kind, decision, time, body) in enumerate(rows, 1):
            if position != place:
                self.problems.append(f"position {position} is in place of {place}")
            if time < before:
                self.problems.append(f"the time goes back at position {position}")
            before = time
            self._read(kind, decision, json.loads(body))
        self.rows = len(rows)

    def _read(self, kind, decision, body):
        if kind == "create":
            self.names += body["arms"]
            return
        if kind == "arms":
            self.names += body.get("add", ())
            return
        arms = tuple(self.names[number] for number in body["arms"])
        if kind == "ask":
            self.doubled += decision in self.asked
            self.asked[decision] = arms
            self.shown.update(arms)
            if body["round"] != len(self.asked):
                self.problems.append(f"round {body['round']} is the {len(self.asked)}th")
            return
        earned = dict(zip(arms, body["rewards"], strict=True))
        if self.asked.get(decision) != arms:
            self.problems.append(f"{decision} was told for {arms}, but it had {self.asked.get(decision)}")
        if kind == "late":
            self.doubled += decision in self.late
            if decision not in self.closed:
                self.problems.append(f"{decision} was late and had not been closed")
            self.late[decision] = earned
            return
        self.doubled += decision in self.told or decision in self.closed
        (self.closed if body.get("closed") else self.told)[decision] = earned
        self.pulls.update(arms)
        for arm, amount in earned.items():
            self.reward[arm] += amount

    def compare(self, answers):
        """Count answers that are lost or changed in the journal, and ids given to two callers."""
        seen = set()
        for kind, decision, content in answers:
            if kind == "ask":
                self.doubled += decision in seen
                seen.add(decision)
                self.lost += self.asked.get(decision) != tuple(content)
            else:
                self.lost += self.told.get(decision, self.late.get(decision)) != content
        return self

    def differs(self, study):
        """Return the differences between a study and its journal."""
        arms = {arm.name: (arm.pulls, arm.reward, arm.shown) for arm in study.arms()}
        right = {name: (self.pulls[name], self.reward[name], self.shown[name]) for name in self.names}
        found = [] if arms == right else [f"arms() says {arms}, and the journal says {right}"]
        summary = study.summary()
        said = (summary.rounds, summary.told, summary.closed, summary.late, summary.position)
        counted = (len(self.asked), len(self.told), len(self.closed), len(self.late), self.rows)
        if said != counted:
            found.append(f"summary() says {said}, and the journal says {counted}")
        return found


def check(study, address=None, answers=(), decisions=True):
    """Return the counts of a study's journal, with all problems found."""
    if address is None or address == "memory":
        rows = [row[:5] for page in study._rows() for row in page]
    else:
        rows = rows_at(address, study.name)
    truth = Truth(rows).compare(answers)
    truth.problems += truth.differs(study)
    truth.problems += study.verify(decisions).problems
    return truth


def new_study(address, name="faults", arms=ARMS, k=3, **options):
    """Create a study with the usual arms in any storage."""
    import setwise as sw

    options = {"seed": 7, **options}
    if address == "memory":
        options.pop("timeout", None)
        return sw.Study.memory(arms, k, name=name, **options)
    return sw.Study.create(address, name, arms, k, **options)
