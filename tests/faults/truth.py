"""What follows from a journal, counted plainly from its rows in dictionaries, by none of the code that is tested."""

import hashlib
import json
import sqlite3
from collections import Counter

ARMS = [f"arm {number}" for number in range(12)]


def reward_of(arms, round):
    """A feedback that is a fixed function of the decision: 0 or 1 for each arm, more often 1 for a later arm."""
    drawn = hashlib.blake2b(f"{round} {' '.join(arms)}".encode(), digest_size=len(arms)).digest()
    return {arm: int(byte < 15 + 18 * int(arm.split()[1])) for arm, byte in zip(arms, drawn)}


def rows_at(address, name):
    """The journal of a study as the database has it: position, kind, decision, time and body of every row."""
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
    """What a journal says."""

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
                self.problems.append(f"position {position} stands where {place} should")
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
            self.problems.append(f"{decision} was told about {arms} and had {self.asked.get(decision)}")
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

    def hold(self, answers):
        """Count what was answered and is not there as it was answered, and ids that were answered to two askers."""
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
        """In what a study differs from its journal, by our count and by its own."""
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
    """The truth about a study, with all in it that is not as it should be."""
    if address is None or address == "memory":
        rows = [row[:5] for page in study.rows() for row in page]
    else:
        rows = rows_at(address, study.name)
    truth = Truth(rows).hold(answers)
    truth.problems += truth.differs(study)
    truth.problems += study.verify(decisions).problems
    return truth


def new_study(address, name="faults", arms=ARMS, k=3, **options):
    """A study with the usual arms in any storage."""
    import setwise as sw

    options = {"seed": 7, **options}
    if address == "memory":
        options.pop("timeout", None)
        return sw.Study.memory(arms, k, name=name, **options)
    return sw.Study.create(address, name, arms, k, **options)
