"""The theory commands, from the user's side."""

import csv
import json
from pathlib import Path

import pytest

from setwise.cli import environments
from setwise.paper.claim_list import check_path
from shell import call

VOTES = """# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Tuna
# ALTERNATIVE NAME 2: Shrimp
# ALTERNATIVE NAME 3: Egg
# ALTERNATIVE NAME 4: Squid
# NUMBER VOTERS: 10
# NUMBER UNIQUE ORDERS: 3
5: 1,3,2,4
3: 2,1,3,4
2: 4,3,1,2
"""


def test_check_shows_the_sets_that_break_an_assumption() -> None:
    answer = call("check", "camera")
    assert answer.exit_code == 0, answer.output
    assert "Digital Camera > Nikon in {Nikon, Digital Camera, Keyboard} (0.49 > 0.35)" in answer.output
    assert "all 20 sets, exactly" in answer.output


def test_check_names_the_proof_where_there_is_one() -> None:
    assert "proof: P(a|s) is the same in all sets" in call("check", "lower-bound-choice").output


def test_check_ends_with_what_to_use() -> None:
    answer = call("check", "nested-logit")
    assert answer.exit_code == 0, answer.output
    lines = answer.output.splitlines()[-5:]
    assert lines[0].startswith("use set-thompson: guarantee, O(C(n, k) log T / epsilon)")
    assert lines[1] == "guarantee: set-thompson, set-ucb, set-kl-ucb"
    assert lines[4].startswith("linear: ucb, kl-ucb, kl-moss")


def test_check_gives_the_standing_of_every_policy_with_the_reason_if_asked() -> None:
    assert "so the best set is not kept" not in call("check", "nested-logit").output
    answer = call("check", "nested-logit", "--policies").output
    assert "arm 1 earns at least 0.22832 in every set, arm 2 only 0.2 in the best set {0, 2}" in answer
    assert "LSBGreedy needs a world whose arms cover topics" in answer


@pytest.mark.parametrize("name", sorted(environments()))
def test_every_named_world_is_made_and_described(name: str) -> None:
    world = environments()[name]()
    assert world.k <= world.n
    assert name in call("list", "environments").output


def test_a_file_of_rankings_is_a_world(tmp_path: Path) -> None:
    path = tmp_path / "votes.soc"
    path.write_text(VOTES)
    answer = call("check", f"{path}:k=2,outside=2")
    assert answer.exit_code == 0, answer.output
    assert "Tuna" in answer.output
    assert "all 6 sets" in answer.output


def test_bounds_are_printed_beside_their_corrections() -> None:
    answer = call("bounds", "camera", "--horizon", "1e5")
    assert answer.exit_code == 0, answer.output
    assert "860,904" in answer.output
    assert "927,653" in answer.output
    assert "63,000 (vacuous)" in answer.output


def test_an_audit_says_what_holds_and_fails_with_exit_code_1() -> None:
    good = call("audit", "camera", "-t", "2000", "-r", "2")
    assert good.exit_code == 0, good.output
    assert "0 of 12,000 pairs violate it" in good.output
    bad = call("audit", "camera", "-t", "2000", "-r", "2", "-p", "ucb:alpha=0.01")
    assert bad.exit_code == 1
    assert "Traceback" not in bad.output


def test_claims_are_listed_chosen_and_written(tmp_path: Path) -> None:
    assert "camera-transitivity" in call("claims", "--list").output
    path = tmp_path / "claims.json"
    answer = call("claims", "--only", "camera example violates", "--out", str(path))
    assert answer.exit_code == 0, answer.output
    assert "camera-transitivity: does not hold" in answer.output
    verdicts = {claim["name"]: claim["verdict"] for claim in json.loads(path.read_text())}
    assert verdicts == {"camera-comparability": "holds", "camera-transitivity": "does not hold"}
    table = tmp_path / "claims.csv"
    assert call("claims", "--only", "sets-", "--out", str(table)).exit_code == 0
    with open(table, newline="", encoding="utf-8") as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["holds"] * 3


@pytest.mark.parametrize(("words", "sentence"), [
    ("check camara", "did you mean 'camera'?"),
    ("check lower-bound-choice:epsilon=0.3", "epsilon is 0.3; it has to be above 0 and at most 0.25"),
    ("check lower-bound-choice:n=40,k=12 --budget 0", "budget is 0, which is less than 1"),
    ("check needle:n=60,k=20", "more than the 20,000,000 that are looked at one by one: give a budget"),
    ("check none.soc:k=2,outside=2", "No such file or directory"),
    ("check none.soc", "none.soc needs k and outside, for example none.soc:k=2,outside=1"),
    ("bounds camera", "Missing option '--horizon'"),
    ("bounds camera --horizon 1", "horizon is 1; the bounds have log T in them, so it has to be at least 2"),
    ("bounds camera --horizon 100 --alpha 0", "alpha is 0; it has to be more than 0"),
    ("audit camera --horizon 1", "horizon is 1; the lemmas have log T in them"),
    ("audit camera --horizon 1e9 --runs 100", "too many to check one by one"),
    ("claims --only zebra", "no claim has 'zebra' in it"),
    ("claims --only sets- --out claims.txt", "claims are written to .json or .csv"),
])  # fmt: skip
def test_a_mistake_is_answered_with_one_sentence_and_exit_code_2(words: str, sentence: str) -> None:
    answer = call(*words.split())
    assert answer.exit_code == 2, answer.output
    assert sentence in answer.output
    assert "Traceback" not in answer.output


def test_claims_that_were_written_before_are_kept_until_there_are_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "claims.json"
    path.write_text("of before")
    check_path(str(path))
    assert path.read_text() == "of before"

    def stopped(claim, seed):
        raise KeyboardInterrupt

    monkeypatch.setattr("setwise.paper.claim_list.settle", stopped)
    assert call("claims", "--only", "sets-", "--out", str(path)).exit_code == 130
    assert path.read_text() == "of before"
