"""`setwise list policies`: the paper's Table 1 from the classes, and the measured regret beside it."""

import csv
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import setwise as sw
from setwise.cli import games, main
from setwise.policies import NAMES, POLICIES
from setwise.theory.recommendations import ARM_BY_ARM


def run(*words: str) -> Any:
    return CliRunner().invoke(main, words)


def test_every_name_leads_to_a_policy_and_every_policy_is_at_the_top() -> None:
    for name, cls in POLICIES.items():
        assert cls.__name__ == NAMES[name]
        assert getattr(sw, NAMES[name]) is cls
        assert set(cls.feedback) <= {"choice", "independent", "total"}
        assert cls.reference and cls.assumptions and cls.title
        assert cls.original == (cls.adaptation == ""), f"{name} says what is adapted, and only if it is"
    assert set(NAMES.values()) <= set(sw.__all__)
    with pytest.raises(AttributeError):
        sw.policies.NoSuchPolicy  # noqa: B018


def test_the_list_of_policies_is_the_papers_table_from_what_the_classes_say() -> None:
    listed = run("list", "policies")
    assert listed.exit_code == 0
    lines = {line.split()[0]: line for line in listed.output.splitlines() if line.split()}
    for name, cls in POLICIES.items():
        assert name in lines
        assert (cls.regret_bound or "none known") in lines[name]


def test_every_policy_says_what_happens_if_the_assumption_fails() -> None:
    lines = {line.split()[0]: line for line in run("list", "policies").output.splitlines() if line.split()}
    assert "if the assumption fails" in lines["policy"]
    for name, cls in POLICIES.items():
        assert cls.if_assumption_fails and cls.if_assumption_fails in lines[name]
        assert f"if the assumption fails  {cls.if_assumption_fails}\n" in run("list", "policies", name).output
        assert cls.over_sets == (cls.if_assumption_fails == "no effect: needs no assumption")


def test_what_learns_arm_by_arm_is_said_to_be_linear_if_the_assumption_fails() -> None:
    for name in set(ARM_BY_ARM) - {"doubling"}:
        assert POLICIES[name].if_assumption_fails == "linear regret in general"


def test_the_measured_column_is_that_of_the_file() -> None:
    with open(Path(games.__file__).with_name("measured.csv"), newline="") as file:
        measured = {row["policy"]: row for row in csv.DictReader(file)}
    lines = {line.split()[0]: line for line in run("list", "policies").output.splitlines() if line.split()}
    for name, row in measured.items():
        assert lines[name].split()[-6:] == [row[world] for world in games.MEASURED]
    about = run("list", "policies", "lsb-greedy").output
    assert f"{measured['lsb-greedy']['coverage']} coverage" in about
    assert "mnl" not in about.split("regret over ucb's:")[1]


def test_a_policy_that_was_not_measured_is_listed_with_dashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "_measured", dict)
    lines = {line.split()[0]: line for line in run("list", "policies").output.splitlines() if line.split()}
    assert lines["kl-ucb"].split()[-6:] == ["-"] * 6
    assert "regret over ucb's" not in run("list", "policies", "kl-ucb").output


TABLE_1 = {  # of the paper: regret, fixed k, set-dependent reward, no total order
    "cucb": ("O(k^2 n log T / epsilon)", True, "no", False),
    "comb-ucb1": ("O(k n log T / epsilon)", True, "no", False),
    "escb1": ("O(sqrt(k) n log T / epsilon)", True, "no", False),
    "escb2": ("O(sqrt(k) n log T / epsilon)", True, "no", False),
    "mnl-thompson": ("O(sqrt(n T) log(k T))", True, "MNL", False),
    "mnl-ucb": ("O(k n log T / epsilon)", True, "MNL", False),
    "max-min-ucb": ("O(n log T / epsilon)", False, "MNL", False),
    "rec-max-min-ucb": ("O(n log T / (k epsilon))", True, "MNL", False),
    "winner-beats-all": ("O((n^2 log n + n log T) / epsilon^2)", False, "yes", True),
    "ucb": ("O(min(alpha k^2 n B^2 log T / epsilon,", True, "yes", True),
}


@pytest.mark.parametrize("name", TABLE_1)
def test_what_the_classes_say_is_the_papers_table_1(name: str) -> None:
    cls = POLICIES[name]
    regret, *rest = TABLE_1[name]
    assert cls.regret_bound.startswith(regret)
    assert [cls.fixed_size, cls.set_dependent, not cls.total_order] == rest


def test_one_policy_is_described_whole_and_another_name_refused() -> None:
    one = run("list", "policies", "rucb")
    for part in (POLICIES["rucb"].reference, POLICIES["rucb"].adaptation, "alpha=0.51"):
        assert part in one.output
    refused = run("list", "policies", "rcub")
    assert refused.exit_code == 2 and "did you mean 'rucb'?" in refused.output
