"""Helpers for the tests of studies."""

import numpy as np

import setwise as sw
from setwise.policies import NAMES

CAMERAS = ["Nikon", "Canon", "Sony", "Digital Camera", "Keyboard", "Shoes"]
GOOD = {"arms": CAMERAS, "k": 3, "policy": sw.UCB(), "horizon": 100, "seed": 0}


def play(study, rounds, earn=lambda decision: {decision.arms[decision.round % len(decision.arms)]: 1}):
    """Play rounds and return the sets."""
    sets = []
    for _ in range(rounds):
        decision = study.ask()
        sets.append(decision.arms)
        study.tell(decision, earn(decision))
    return sets


def counted(study):
    """Return the counters of a study, and the same recomputed from its decisions."""
    pulls, reward = dict.fromkeys(CAMERAS, 0), dict.fromkeys(CAMERAS, 0.0)
    for decision in study.decisions():
        for arm, earned in (decision.rewards or {}).items():
            pulls[arm] = pulls.get(arm, 0) + 1
            reward[arm] = reward.get(arm, 0.0) + earned
    found = study.arms()
    return ({arm.name: arm.pulls for arm in found}, {arm.name: arm.reward for arm in found}), (pulls, reward)


class Clock:
    """Replace the clock of a study's storage; `at` is in microseconds."""

    def __init__(self, monkeypatch, study):
        self.at = study._writer.storage.now()
        monkeypatch.setattr(study._writer.storage, "now", lambda: self.at)

    def pass_(self, seconds):
        self.at += int(seconds * 1e6)


def new_policy(name, n=6):
    cls = getattr(sw, NAMES[name])
    if name == "oracle":
        return cls([0, 1])
    if name == "lsb-greedy":
        return cls(0.8 * np.eye(n)[:, :3] + 0.1)
    return cls()


def snapshot_of(study):
    """Take a snapshot of a study and return it."""
    study._writer.do(lambda work: study._replica.save_snapshot(), study._replica)
    return study._snapshot()
