"""What was measured beyond the paper: the studies run, and what is kept is what they compute."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import setwise as sw
from setwise import evidence
from setwise.cli import main
from setwise.evidence import comparison, measure
from setwise.evidence.measure import Job, growth, measure_all, ratio, world_of
from setwise.evidence.players import PLAYERS
from setwise.evidence.summary import TABLES, summary
from setwise.experiments.naming import make_policy
from setwise.policies import NAMES, POLICIES


def run(*words: str) -> Any:
    return CliRunner().invoke(main, words)


def test_every_name_leads_to_a_policy_and_every_policy_is_at_the_top() -> None:
    for name, cls in POLICIES.items():
        assert cls.__name__ == NAMES[name]
        assert getattr(sw, NAMES[name]) is cls
        assert set(cls.feedback) <= {"choice", "independent"}
        assert cls.reference and cls.assumptions and cls.title
        assert cls.original == (cls.adaptation == ""), f"{name} says what is adapted, and only if it is"
    assert set(NAMES.values()) <= set(sw.__all__)
    with pytest.raises(AttributeError):
        sw.policies.NoSuchPolicy  # noqa: B018


@pytest.mark.parametrize("label", PLAYERS)
def test_a_label_is_what_one_types(label: str) -> None:
    world = world_of("coverage" if label == "lsb-greedy" else "camera")
    made, typed = PLAYERS[label](world), make_policy(label, world)
    assert type(made) is type(typed)
    assert repr(made) == repr(typed)


def test_every_policy_is_compared_in_every_world_it_can_play_in() -> None:
    found = {(job.policy, job.world) for job in comparison.jobs(False, 0)}
    assert {policy for policy, _ in found} == set(PLAYERS)
    assert ("lsb-greedy", "coverage") in found and ("lsb-greedy", "camera") not in found
    assert ("max-min-ucb", "camera") in found and ("max-min-ucb:pad=no", "camera") not in found


def test_a_row_has_what_the_simulation_gives() -> None:
    (row,) = measure_all([Job("ucb", "camera", 500, 4, seed=2)])
    result = sw.simulate(sw.UCB(), sw.paper.camera(), 500, 4, 2, checkpoints=[250])
    final = result.regret[:, -1]
    assert row["mean"] == final.mean() and row["worst"] == final.max() and row["least"] == final.min()
    assert row["error"] == result.standard_error()[-1]
    assert row["second_half"] == pytest.approx((final - result.regret[:, 0]).mean())


def test_measuring_in_several_processes_gives_the_same_rows() -> None:
    jobs = [Job("ucb", "camera", 300, 2), Job("ucb", "camera", 400, 2, curve=5)]
    told: list[float] = []
    rows = measure_all(jobs, lambda what, share: told.append(share), processes=2)
    assert rows == measure_all(jobs, processes=1)
    assert told == sorted(told) and told[-1] == 1.0
    assert len(rows[1]["rounds"]) == len(rows[1]["curve"]) == 5


def test_a_ratio_has_its_interval_and_growth_its_slope() -> None:
    found, low, high = ratio({"mean": 10.0, "error": 1.0}, {"mean": 40.0, "error": 3.0})
    assert found == 4.0
    assert math.log(high / found) == pytest.approx(1.96 * math.hypot(0.1, 0.075))
    assert found / low == pytest.approx(high / found)
    assert growth([{"horizon": 10**p, "mean": 10.0 ** (p / 2)} for p in (4, 5, 6)]) == pytest.approx(0.5)


def test_studies_are_written_and_read_and_others_refused(tmp_path: Path) -> None:
    rows = [{"policy": "ucb", "mean": 1.5}]
    path = evidence.write("gains", rows, tmp_path, quick=True, seed=3)
    assert json.loads(path.read_text())["about"]["quick"] is True
    assert evidence.read("gains", tmp_path) == rows
    assert evidence.about("gains", tmp_path)["seed"] == 3
    assert evidence.read("horizons", tmp_path) == []
    with pytest.raises(sw.InputError, match="did you mean 'gains'"):
        evidence.read("gain")
    assert set(TABLES) == set(evidence.STUDIES)


@pytest.mark.parametrize("name", evidence.STUDIES)
def test_what_is_kept_is_whole_and_has_a_table(name: str) -> None:
    rows = evidence.read(name)
    assert rows, f"{name} was never computed: make evidence"
    assert evidence.about(name)["quick"] is False
    tables = summary(name, rows)
    assert len(tables) == len(TABLES[name])
    for caption, head, body in tables:
        assert caption and all(len(line) == len(head) for line in body)
    shown = run("evidence", name)
    assert shown.exit_code == 0 and evidence.STUDIES[name][:30] in shown.output


def assert_same_row(found, kept):
    """Equal, but for the last of six digits: where it is rounded, the last bit of a sum may decide."""
    assert found.keys() == kept.keys()
    for name, value in kept.items():
        numbers = isinstance(value, float | list)
        assert found[name] == (pytest.approx(value, rel=1e-5, abs=1e-12) if numbers else value), name


@pytest.mark.parametrize(("policy", "world"), [("ucb", "camera"), ("kl-ucb", "camera")])
def test_what_is_kept_is_what_is_computed(policy: str, world: str) -> None:
    """Equal seeds give equal rows, so a policy that has changed its ways since then is noticed."""
    kept = next(r for r in evidence.read("comparison") if (r["policy"], r["world"]) == (policy, world))
    job = Job(policy, world, kept["horizon"], kept["runs"], curve=len(kept["rounds"]))
    assert_same_row(evidence.store.rounded(measure.measure(job)), kept)


@pytest.mark.slow
@pytest.mark.parametrize("policy", PLAYERS)
def test_all_that_is_kept_on_the_camera_world_is_what_is_computed(policy: str) -> None:
    for kept in evidence.read("comparison"):
        if (kept["policy"], kept["world"]) == (policy, "camera"):
            job = Job(policy, "camera", kept["horizon"], kept["runs"], curve=len(kept["rounds"]))
            assert_same_row(evidence.store.rounded(measure.measure(job)), kept)


def test_the_command_lists_computes_and_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = run("evidence")
    assert listed.exit_code == 0 and all(name in listed.output for name in evidence.STUDIES)
    monkeypatch.setattr("setwise.engines.processes.os.cpu_count", lambda: 1)
    monkeypatch.setattr("setwise.evidence.gains.POLICIES", ("ucb",))
    computed = run("evidence", "gains", "--compute", "--quick", "--out", str(tmp_path))
    assert computed.exit_code == 0, computed.output
    assert "camera" in computed.output and (tmp_path / "gains.json").exists()
    for words, sentence in [
        (("evidence", "gian"), "there is no study 'gian'; did you mean 'gains'?"),
        (("evidence", "--quick"), "--quick says how to compute, so it needs --compute"),
    ]:
        refused = run(*words)
        assert refused.exit_code == 2 and sentence in refused.output


def test_the_list_of_policies_is_the_papers_table_from_what_the_classes_say() -> None:
    listed = run("list", "policies")
    assert listed.exit_code == 0
    lines = {line.split()[0]: line for line in listed.output.splitlines() if line.split()}
    for name, cls in POLICIES.items():
        assert name in lines
        assert (cls.regret_bound or "none known") in lines[name]
    kept = {r["world"]: r for r in evidence.read("comparison") if r["policy"] == "kl-ucb"}
    base = {r["world"]: r for r in evidence.read("comparison") if r["policy"] == "ucb"}
    assert f"{kept['mnl']['mean'] / base['mnl']['mean']:.2f}" in lines["kl-ucb"]


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
