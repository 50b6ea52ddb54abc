"""Invalid input to studies: one sentence each, and nothing is written."""

import os

import numpy as np
import pytest

import setwise as sw
from studies import CAMERAS, GOOD

BAD = [
    ({"arms": ["a", "b", "a"]}, "'a' more than once"),
    ({"arms": ["a", "", "b"]}, "arm 1 is '', which is empty"),
    ({"arms": ["a", " ", "b"]}, "which is empty"),
    ({"arms": ["a" * 10_000, "b", "c"]}, "10,000 characters"),
    ({"arms": ["a\0", "b", "c"]}, "NUL"),
    ({"arms": ["\ud800", "b", "c"]}, "Unicode"),
    ({"arms": ["a", 2, "c"]}, "a name is a string"),
    ({"arms": []}, "empty"),
    ({"arms": "abc"}, "give a list"),
    ({"arms": None}, "give a list"),
    ({"k": 0}, "k is 0, which is less than 1"),
    ({"k": 7}, "k=7 is more than the 6 arms"),
    ({"k": 2.5}, "whole number"),
    ({"k": "3"}, "not a number"),
    ({"policy": sw.UCB}, "UCB is a class; give an object"),
    ({"policy": "ucb"}, "the policy is the string .ucb."),
    ({"policy": sw.Oracle([0, 1])}, "2 arms"),
    ({"horizon": 0}, "less than 1"),
    ({"horizon": "long"}, "not a number"),
    ({"horizon": None, "policy": sw.BeatTheMean()}, "give horizon="),
    ({"horizon": None, "policy": sw.SetUCB()}, r"such as RobustUCB\(\), Thompson\(\) or SetThompson\(\)"),
    ({"seed": -1}, "less than 0"),
    ({"seed": 1 << 64}, "too large"),
    ({"window": "soon"}, "give a duration"),
    ({"window": 0}, "give a duration"),
    ({"window": "-3m"}, "give a duration"),
    ({"durability": "some"}, "'full' or 'normal'"),
    ({"name": ""}, "empty"),
    ({"name": "n" * 10_000}, "10,000 characters"),
    ({"name": "a\0b"}, "NUL"),
    ({"name": None}, "a name is a string"),
]


@pytest.mark.parametrize(("change", "words"), BAD, ids=[words for _, words in BAD])
def test_invalid_definitions_are_refused_in_one_sentence_and_nothing_is_written(change, words, address):
    options = {"name": "homepage", **GOOD, **change}
    with pytest.raises(sw.InputError, match=words) as refused:
        sw.Study.create(address, **options)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
    assert not os.path.exists(address.removeprefix("sqlite:///"))


@pytest.mark.parametrize(
    ("rewards", "words"),
    [
        ({"Toaster": 1}, "'Toaster' was not shown"),
        ([0, float("nan"), 0], "nan"),
        ([0, -1, 0], "-1"),
        ([0, 2, 0], "from 0 to 1"),
        ([0, 1 + 1e-12, 0], "is 1.000000000001; for "),
        ([0, float("inf"), 0], "inf"),
        ([0, "1", 0], "not a number"),
        ([0, 1], "3 arms .* got 2 rewards"),
        ([0, 1, 0, 0], "4 rewards"),
        ("Nikon", "give a mapping"),
        (None, "give a mapping"),
        (1, "give a mapping"),
        ([10**400, 0, 0], "larger than any float"),
    ],
)
def test_invalid_feedback_is_refused_and_nothing_is_written(create, rewards, words):
    study = create()
    decision = study.ask()
    with pytest.raises(sw.InputError, match=words) as refused:
        study.tell(decision, rewards)
    assert "\n" not in str(refused.value)
    assert study.summary().position == 2
    with pytest.raises(sw.InputError, match="was not shown"):
        study.tell(decision, winner="Toaster")
    with pytest.raises(sw.InputError, match="both"):
        study.tell(decision, {}, winner=decision.arms[0])


def test_a_policy_that_learns_winners_accepts_one_winner():
    study = sw.Study.memory(CAMERAS, 3, sw.MNLUCB(), 100, seed=0)
    decision = study.ask()
    with pytest.raises(sw.InputError, match="one winner at most"):
        study.tell(decision, [1, 1, 0])
    with pytest.raises(sw.InputError, match="0 or 1"):
        study.tell(decision, [0.5, 0, 0])
    study.tell(decision, [0, 0, 1])


def test_rewards_up_to_the_bound_are_accepted():
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(bound=20.0), 100, seed=0)
    decision = study.ask()
    study.tell(decision, [19.99, True, np.float32(3)])
    assert study.summary().reward == pytest.approx(23.99)
