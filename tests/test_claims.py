"""The ledger of the paper's claims: every verdict follows from a computation, and changes with it."""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import setwise as sw
from setwise import InputError
from setwise.paper import claims, instances, ledger
from setwise.paper.claim import Answer, Claim, settle
from setwise.paper.claims import experiments, lower, order, proofs, rivals, runs, worlds
from setwise.paper.ledger import CLAIMS, VERDICTS

CORRECTED = {
    "models-order-of-choice-models",
    "camera-most-sets",
    "preference-hardest",
    "figure-1-separation",
    "lemma-1",
    "validity",
    "f-lemma",
    "delta-times-t-step",
    "sigma-lemma-step",
    "lower-factor-k",
    "plays-case-one",
    "lower-divergence",
    "lower-only-one-arm",
    "near-optimal",
    "random-weak-rejection",
    "random-weak-regret",
    "surrogate-alike",
    "elimination-is-linear",
}
REFUTED = {"camera-transitivity", "bounds-at-the-experiments"}
UNDECIDED = {"delta-times-t-lemma", "theorem-3", "lower-plays-choice", "lower-plays-independent"}


def expected(name: str) -> str:
    if name in CORRECTED:
        return "holds with a correction"
    if name in REFUTED:
        return "does not hold"
    return "not decided by computation" if name in UNDECIDED else "holds"


@pytest.fixture
def fresh() -> Iterator[None]:
    """What the claims remember is forgotten before and after."""
    remembered = [runs.audits, lower.measured, worlds._model_instances]
    for function in remembered:
        function.cache_clear()
    yield
    for function in remembered:
        function.cache_clear()


def test_the_readme_has_the_number_of_verdicts() -> None:
    counts = [f"{verdict}: {sum(expected(claim.name) == verdict for claim in CLAIMS)}" for verdict in VERDICTS]
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    assert f"({len(CLAIMS)} claims; {'; '.join(counts)})" in " ".join(readme.split())


def by_name(name: str) -> Claim:
    return next(claim for claim in CLAIMS if claim.name == name)


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [
        (True, None, "holds"),
        (False, True, "holds with a correction"),
        (False, False, "does not hold"),
        (False, None, "does not hold"),
        (None, None, "not decided by computation"),
    ],
)
def test_the_verdict_follows_from_what_was_found(printed: Any, corrected: Any, verdict: str) -> None:
    assert Answer(printed, "", "", corrected, "so").verdict == verdict
    settled = settle(Claim("x", "", "", lambda seed: Answer(printed, "", "", corrected, "so")))
    assert settled.verdict == verdict
    assert settled.correction == ("so" if verdict == "holds with a correction" else "")
    assert verdict in VERDICTS


def test_names_are_unique_and_every_part_is_in_the_ledger() -> None:
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    parts = (worlds, order, runs, proofs, lower, experiments, rivals)
    assert sum(len(part.CLAIMS) for part in parts) == len(CLAIMS) == len(claims.CLAIMS)
    assert {claim.name for claim in CLAIMS} >= CORRECTED | REFUTED | UNDECIDED


@pytest.mark.parametrize(
    "claim", [c for c in CLAIMS if c not in (*runs.CLAIMS, *rivals.CLAIMS)], ids=lambda claim: claim.name
)
def test_claims_that_need_little_playing_come_out_as_known(claim: Claim) -> None:
    settled = settle(claim)
    assert settled.verdict == expected(claim.name), settled.text()
    assert claim.says in settled.text()
    assert settled.computation
    assert settled.found


def test_the_lemmas_along_short_runs_come_out_as_known(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "HORIZONS", {"camera": 20_000})
    monkeypatch.setattr(runs, "RUNS", 2)
    audited = ("figure-1-separation", "lemma-1", "validity", "validity-corollary", "arm-selection", "sum-lemma",
               "strong-sum-lemma", "suboptimal-plays", "regret-decomposition", "theorem-1", "theorem-2")  # fmt: skip
    for name in audited:
        settled = settle(by_name(name))
        assert settled.verdict == expected(name), settled.text()


def test_the_claims_on_rivals_follow_from_what_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        rivals, "_smaller_share", lambda policy, seed: {"MaxMinUCB": 0.4}.get(type(policy).__name__, 0.6)
    )
    assert settle(by_name("fewer-than-k")).verdict == "holds"
    monkeypatch.setattr(rivals, "_smaller_share", lambda policy, seed: 0.4)
    assert settle(by_name("fewer-than-k")).verdict == "does not hold"
    monkeypatch.setattr(rivals, "still_losing", lambda world, horizon, seed, **options: float(world.gaps()[0] > 0.03))
    assert settle(by_name("elimination-is-linear")).verdict == "holds with a correction"
    monkeypatch.setattr(rivals, "still_losing", lambda world, horizon, seed, **options: 0.0)
    assert settle(by_name("elimination-is-linear")).verdict == "does not hold"
    monkeypatch.setattr(rivals, "_regret", lambda seed: {"mnl": {"Algorithm 1": 2.0, "E-E MNL": 1.0}})
    assert settle(by_name("algorithm-1-is-best")).verdict == "does not hold"


def test_elimination_pays_for_ever_in_the_trap_and_the_count_of_smaller_sets_is_a_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rivals, "RUNS", 3)
    assert rivals.still_losing(rivals.trap(), 60_000, 0) == 1.0
    monkeypatch.setattr(rivals, "SMALLER_HORIZON", 300)
    monkeypatch.setattr(rivals, "SMALLER_RUNS", 1)
    monkeypatch.setattr(rivals, "simulate", lambda *args: sw.simulate(*args, compiled=False))
    assert 0.0 <= rivals._smaller_share(sw.MultiDueling(pad=False), 0) < 1.0


@pytest.mark.slow
def test_every_claim_comes_out_as_known_with_another_seed_too(fresh: None) -> None:
    for claim in CLAIMS:
        for seed in (0, 1):
            settled = settle(claim, seed)
            assert settled.verdict == expected(claim.name), settled.text()


def swapped(table: dict[Any, Any]) -> dict[Any, Any]:
    """The camera example in which Sony loses to Shoes in one set that has Digital Camera between them."""
    changed = dict(table)
    from fractions import Fraction

    changed["Sony", "Digital Camera", "Shoes"] = (Fraction(1, 100), Fraction(1, 100), Fraction(2, 100))
    return changed


def test_a_verdict_changes_with_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    world = sw.environments.Table(swapped(instances.camera_probabilities()), names=instances.CAMERAS)
    monkeypatch.setitem(instances.INSTANCES, "camera", lambda: world)
    monkeypatch.setattr(order, "camera", lambda: world)
    assert settle(by_name("assumption-camera")).verdict == "does not hold"
    assert settle(by_name("camera-transitivity")).verdict == "holds"


def test_the_lemmas_fail_for_a_policy_they_do_not_cover(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "HORIZONS", {"camera": 5_000})
    monkeypatch.setattr(runs, "UCB", functools.partial(sw.UCB, alpha=0.005))
    verdicts = {name: settle(by_name(name)).verdict for name in ("validity", "validity-corollary", "arm-selection")}
    assert set(verdicts.values()) == {"does not hold"}, verdicts


def test_claims_are_chosen_by_their_words_and_written_whole(tmp_path: Path) -> None:
    assert [claim.name for claim in ledger.choose("theorem 2")] == ["theorem-2"]
    with pytest.raises(InputError, match="no claim has 'zebra' in it; `setwise claims --list` shows all"):
        ledger.choose("zebra")
    settled = [settle(claim) for claim in ledger.choose("sets-")]
    ledger.write(str(tmp_path / "c.json"), settled)
    assert [row["name"] for row in json.loads((tmp_path / "c.json").read_text())] == [c.name for c in settled]
    with pytest.raises(InputError, match=r"'c.txt' ends in '.txt'; claims are written to .json or .csv"):
        ledger.write("c.txt", settled)
