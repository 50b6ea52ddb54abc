"""Every listed policy keeps the contract, compiled and interpreted; variants, interpreted."""

from typing import Any

import numpy as np
import pytest

import setwise as sw
from setwise.environments import MNL, PRESETS, Independent
from setwise.kernels.ranking import FEW_ARMS
from setwise.testing import check_policy

SMALL = MNL(np.linspace(1.0, 0.1, 7), k=3)
TOPICS = PRESETS["coverage"]()
LISTED = sorted(sw.policies.NAMES.values())
GIVEN = {"Oracle": sw.Oracle([6, 0, 3]), "StagewiseElimination": sw.StagewiseElimination(delta=1.0)}
ROUNDS = {"ESCB1": 80, "ESCB2": 80}  # their search takes long interpreted

FORMS = [
    sw.KLUCB(alpha=0.3, bound=4.0),
    sw.KLMOSS(bound=2.0),
    sw.UCBV(zeta=1.2, c=0.1),
    sw.CUCB(clip=True),
    sw.Doubling(restart=True, first=5),
    sw.Doubling(sw.KLUCB()),
    sw.Doubling(sw.KLMOSS(), first=50),
    sw.Doubling(sw.UCBV(), restart=True),
    sw.Thompson(bound=2.0),
]
FORMS_OF_CHOICE = [
    sw.MNLUCB(cap=False, alpha=1.0),
    sw.MNLThompson(gaussian=True),
    sw.StagewiseElimination(cumulative=True, delta=1.0),
    sw.StagewiseElimination(bernstein=True, delta=1.0),
    sw.StagewiseElimination(cumulative=True, bernstein=True, delta=1.0),
    sw.MaxMinUCB(pad=False),
    sw.WinnerBeatsAll(pad=False),
    sw.MultiDueling(pad=False),
    sw.RUCB(pad=False),
    sw.SelfSparring(pad=False),
    sw.InterleavedFilter(pad=False),
    sw.BeatTheMean(pad=False),
    sw.BattlingDuel(pad=False),
    sw.BattlingDoubler(pad=False),
    sw.BattlingMultiSBM(pad=False),
    sw.ESCB1(theoretical=True),
    sw.ESCB2(theoretical=True),
]


@pytest.mark.parametrize("name", LISTED)
def test_every_policy_keeps_the_contract(name: str) -> None:
    if name == "LSBGreedy":
        check_policy(sw.LSBGreedy.for_world(TOPICS), TOPICS)
    else:
        check_policy(GIVEN.get(name) or getattr(sw, name)(), SMALL, rounds=ROUNDS.get(name, 300))


def test_algorithm_1_keeps_the_contract_with_many_arms() -> None:
    check_policy(sw.UCB(), MNL(np.linspace(1.0, 0.1, FEW_ARMS + 100), k=4))


@pytest.mark.parametrize("policy", FORMS, ids=repr)
def test_other_parameters_keep_the_contract(policy: Any) -> None:
    check_policy(policy, compiled=False, rounds=150)
    check_policy(policy, Independent(np.linspace(0.1, 0.9, 6), k=2), compiled=False, rounds=150)


@pytest.mark.parametrize("policy", FORMS_OF_CHOICE, ids=repr)
def test_other_forms_keep_the_contract(policy: Any) -> None:
    check_policy(policy, compiled=False, rounds=80 if type(policy).__name__ in ROUNDS else 300)


def test_a_wider_bound_of_topics_keeps_the_contract() -> None:
    check_policy(sw.LSBGreedy(TOPICS.covers, theoretical=True), TOPICS, compiled=False, rounds=60)


@pytest.mark.parametrize(
    "policy", [sw.InterleavedFilter(prune=False), sw.BeatTheMean(gamma=1.1), sw.Sparring(bound=2.0)], ids=repr
)
@pytest.mark.parametrize(("n", "k"), [(5, 2), (6, 5), (4, 4)])
def test_duels_keep_the_contract_at_other_sizes(policy: Any, n: int, k: int) -> None:
    check_policy(policy, MNL(np.linspace(1.0, 0.1, n), k=k), compiled=False)
