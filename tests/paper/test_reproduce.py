"""The report on the paper: it is complete, computes nothing twice, and errors are one sentence."""

import functools
import json
import re
from pathlib import Path

import numpy as np
import pytest

import chromium
import setwise as sw
from setwise.experiments.outcome import Outcome, merged
from setwise.experiments.plays import Play
from setwise.paper.claim import Answer, Claim, settle
from setwise.paper.claim_list import CLAIMS
from setwise.paper.claim_store import ClaimStore
from setwise.paper.exhibits import figure_3, regret_panels
from setwise.paper.exhibits.catalogue import EXHIBITS, choose
from setwise.paper.exhibits.exhibit import Scale
from setwise.paper.reproduce import lead, reproduce
from setwise.policies import NAMES
from setwise.report.parts import parts_of
from setwise.types import InputError
from shell import call

TINY = {"runs": 3, "horizon": 120, "jobs": 1}


@pytest.fixture
def interpreted(monkeypatch):
    """Plays are interpreted: the same bits, and nothing to compile for a few rounds."""
    run = Play.run
    monkeypatch.setattr(Play, "run", lambda self, *args, **options: run(self, *args, compiled=False, **options))


def data_of(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder, "data").iterdir())}


def test_the_exhibits_are_in_the_order_of_the_paper_whatever_the_order_they_are_named_in():
    assert list(EXHIBITS) == [
        "figure-1",
        "figure-2",
        "figure-3",
        "panels",
        "table-1",
        "sensitivity",
        "violations",
        "claims",
    ]
    assert [exhibit.name for exhibit in choose(["figure-3", "figure-1"])] == ["figure-1", "figure-3"]
    assert [exhibit.name for exhibit in choose([])] == list(EXHIBITS)
    with pytest.raises(InputError, match="the report has no 'figure-4'"):
        choose(["figure-4"])


def test_one_figure_at_a_time_and_a_rerun_plays_nothing_and_writes_the_same_bytes(interpreted, tmp_path, monkeypatch):
    monkeypatch.setattr("setwise.report.writing.write_figures", lambda part, folder, sizes: [])  # drawn elsewhere
    options = {"results": str(tmp_path / "results"), **TINY}
    first = reproduce(["figure-2", "figure-3"], str(tmp_path / "one"), **options)
    assert (first.played, first.kept, first.notes) == (36, 0, ())
    page = Path(first.page).read_text(encoding="utf-8")
    assert "Figure 3: regret in four worlds" in page and "Sensitivity" not in page
    again = reproduce(["figure-2", "figure-3"], str(tmp_path / "two"), **options)
    assert (again.played, again.kept) == (0, 36)
    assert data_of(tmp_path / "one") == data_of(tmp_path / "two")
    more = reproduce(["figure-3"], str(tmp_path / "two"), **{**options, "runs": 4})
    assert (more.played, more.kept) == (12, 36)


def test_the_first_five_of_the_runs_are_the_figure_as_published(interpreted):
    scale = Scale("quick", runs=7, horizon=120)
    play = figure_3.play("ucb", "camera", scale)
    results = {order.play.digest: order.play.run(order.runs, threads=1) for order in figure_3.orders(scale)[:3]}
    chart = figure_3.chart("mnl", scale, Outcome(results))
    own = results[figure_3.play("ucb", "mnl", scale).digest]
    assert chart.series[0].y[-1] == pytest.approx(own.regret[:5, -1].mean())
    assert chart.series[0].high[-1] - chart.series[0].y[-1] == pytest.approx(own.regret[:5, -1].std(ddof=1))
    assert play.horizon == 120


def test_the_default_panels_share_their_runs_with_figure_3():
    scale = Scale()
    ordered = {order.play.digest for order in regret_panels.orders(scale)}
    assert {order.play.digest for order in figure_3.orders(scale)} <= ordered
    assert {order.runs for order in regret_panels.orders(scale)} == {50}
    assert max(order.play.horizon for order in regret_panels.orders(scale)) == 10**6


def test_in_full_every_policy_plays_and_those_with_fast_forward_play_longest():
    scale = Scale("full")
    labels = regret_panels.labels_of(scale)
    assert set(NAMES) <= set(labels)
    assert {regret_panels.horizon_of(label, scale) for label in ("ucb", "kl-ucb", "kl-moss", "ucb-v")} == {10**8}
    played = {order.play.digest for order in regret_panels.orders(scale)}
    for label in NAMES:
        able = [world for world in regret_panels.WORLDS if regret_panels.play_of(label, world, scale) is not None]
        assert all(regret_panels.play_of(label, world, scale).digest in played for world in able)
        assert able or label == "lsb-greedy", f"{label} plays nowhere"


def test_the_upper_guide_is_what_the_bounds_say():
    world = sw.paper.camera()
    for horizon in (1000, 10**6, 10**9):
        found = sw.theory.bounds(world, horizon)
        expected = min(found.theorem_1.useful, found.theorem_2.useful)
        epsilon, largest = world.gaps()
        assert regret_panels.upper_bound(6, 3, epsilon, largest, 0.25, horizon) == pytest.approx(expected, rel=1e-9)
    upper, lower = regret_panels.guides("camera", 10**6)
    found = sw.theory.bounds(world, 10**6)
    assert upper.y[-1] == pytest.approx(min(found.theorem_1.useful, found.theorem_2.useful), rel=1e-9)
    assert lower.y[0] == pytest.approx(0.05 * lower.x[0])
    corrected = sw.theory.bounds(world, 10**6).lower_choice.corrected
    assert lower.y[-1] == pytest.approx(corrected)


def test_every_part_of_the_report_has_a_name_of_its_own_and_every_link_leads_somewhere(interpreted):
    scale = Scale("quick", runs=2, horizon=100)
    chosen = choose([])
    orders = merged([order for exhibit in chosen for order in exhibit.orders(scale)])
    zero = {order.play.digest: nothing_lost(order.play, order.runs) for order in orders}
    outcome = Outcome(zero)
    shown = {"figure-1": True, "table-1": None, "panels": False, "sensitivity-epsilon": False}
    outcome.claims = [
        settle(Claim(name, "here", "says", functools.partial(answer, as_printed, name == "panels"), name))
        for name, as_printed in shown.items()
    ]
    sections = [exhibit.section(scale, outcome) for exhibit in chosen]
    names = [part.name for part in parts_of(sections)] + [section.name for section in sections]
    assert len(names) == len(set(names))
    assert {claim.shown for claim in CLAIMS if claim.shown} <= set(names)
    links = re.findall(r"Link\(text='[^']*', to='([^']+)'\)", repr(sections))
    assert links
    assert set(shown) < set(links) <= set(names)


def curves_of(scale, curve):
    """Figure 3's plays with these curves: three runs of regret by policy, world and rounds."""
    results = {}
    for label in figure_3.LABELS:
        for world in figure_3.WORLDS:
            play = figure_3.play(label, world, scale)
            rounds = np.array(play.checkpoints)
            regret = np.array([factor * curve(label, world, rounds.astype(float)) for factor in (0.9, 1.0, 1.1)])
            own = sw.Result(label, world, play.horizon, 0, True, rounds, regret, np.ones((3, 2), np.int64))
            results[play.digest] = own
    return Outcome(results)


def made_up(label, world, rounds):
    """Square roots; linear for E-E MNL-bandit on the preference matrix; elimination ends in half of its rounds "
    "there."""
    if (label, world) == ("mnl-ucb", "preference-matrix"):
        return 10.0 * rounds
    if (label, world) == ("stagewise-elimination", "preference-matrix"):
        return 5.0 * np.sqrt(np.minimum(rounds, rounds[-1] / 2))
    return {"ucb": 1.0, "mnl-ucb": 0.1 if world == "random-weak" else 3.0, "stagewise-elimination": 4.0}[label] * (
        np.sqrt(rounds)
    )


def test_what_is_said_of_figure_3_follows_from_the_curves():
    scale = Scale("quick", runs=3, horizon=1000)
    section = figure_3.section(scale, curves_of(scale, made_up))
    text = " ".join(part.text for part in section.parts[1:4])
    assert "here it is 1,000 rounds, at which the curves of Algorithm 1 have bent." in section.parts[0].caption
    assert "grows linearly for E-E MNL-bandit in preference matrix; slower for the others" in text
    assert "in 3 of 3 runs in preference matrix; in no run in multinomial logit, random utility" in text
    assert "it has more than E-E MNL-bandit in random weak consistency." in text
    line = curves_of(scale, lambda label, world, rounds: rounds)
    section = figure_3.section(scale, line)
    text = " ".join(part.text for part in section.parts[1:4])
    assert "has not bent for certain in multinomial logit, random utility, preference" in section.parts[0].caption
    assert "grows linearly for all three in all worlds (" in text
    assert "in the last tenth of the rounds in no run in multinomial logit, random utility, preference matrix" in text
    assert "in 0 of 8 comparisons; not decided by these runs is that with E-E MNL-bandit in multinomial logit" in text
    slow = figure_3.section(scale, curves_of(scale, lambda label, world, rounds: np.sqrt(rounds)))
    assert "grows slower than linearly for all three in all worlds (" in slow.parts[2].text


def test_the_lead_counts_the_verdicts_and_tells_the_order_if_they_are_there():
    scale = Scale("quick", runs=3, horizon=1000)
    assert not any("in short" in paragraph for paragraph in lead(scale, Outcome({})))
    outcome = curves_of(scale, made_up)
    outcome.claims = [
        settle(Claim("a", "", "", right)),
        settle(Claim("b", "", "", functools.partial(answer, False, True))),
    ]
    last = lead(scale, outcome)[-1]
    assert last.startswith("What is true, in short. Of 2 claims of the paper: holds: 1; holds with a correction: 1.")
    assert "Figure 3, after 1,000 rounds: Algorithm 1 has less regret than E-E MNL-bandit and Stagewise Elim" in last


def test_panels_say_how_many_runs_there_are_and_why_some_policies_play_less():
    assert "Here are 50 runs with" in regret_panels.introduction(50)
    assert "Here are 5 runs, no more than there, with" in regret_panels.introduction(5)
    assert "epsilon-greedy play 10^5 rounds. Policies that play less go round by round" in regret_panels.lengths(
        regret_panels.PLAYED, Scale()
    )
    assert "play less" not in regret_panels.lengths(regret_panels.PLAYED, Scale("quick"))


def right(seed):
    return Answer(True, "nothing", "nothing")


def answer(as_printed, corrected, seed):
    return Answer(as_printed, "nothing", "nothing", corrected, "so")


def nothing_lost(play, runs):
    """A result such as the play would give, without playing."""
    generator = np.random.default_rng(0)
    points = len(play.checkpoints)
    regret = generator.random((runs, points)).cumsum(axis=1)
    n = play.environment.n
    return sw.Result(
        repr(play.policy), repr(play.environment), play.horizon, play.seed, True, np.array(play.checkpoints), regret,
        np.ones((runs, n), np.int64),
        surrogate_regret=regret if hasattr(play.environment, "surrogate") else None,
        indices=np.ones((runs, points, n)) if play.record else None,
        rho=np.ones((runs, points)) if play.record else None,
        names=getattr(play.environment, "names", None),
    )  # fmt: skip


def test_settled_claims_are_kept_until_the_code_changes_and_a_damaged_one_is_computed_again(tmp_path, monkeypatch):
    store = ClaimStore(str(tmp_path), seed=3)
    settled = settle(Claim("a-claim", "Section 1", "It holds.", right), 3)
    assert store.load("a-claim") is None
    store.save(settled)
    assert store.load("a-claim") == settled
    assert ClaimStore(str(tmp_path), seed=4).load("a-claim") is None
    path = Path(store.path("a-claim"))
    kept = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**kept, "verdict": "does not hold"}), encoding="utf-8")
    assert store.load("a-claim") is None
    assert len(store.damaged) == 1 and str(path) in store.damaged[0]
    assert not path.exists()
    store.save(settled)
    monkeypatch.setattr("setwise.paper.claim_store.package_digest", lambda: "other code")
    assert store.load("a-claim") is None
    store.save(settled)
    assert not path.exists()
    assert store.remove_all() == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["figure-9"], "the report has no 'figure-9'; did you mean"),
        (["--quick", "--full"], "give one of them"),
        (["--runs", "1"], "runs is 1"),
        (["--horizon", "5"], "horizon is 5"),
        (["--horizon", "ten"], "'ten' is not a whole number"),
        (["--jobs", "0"], "jobs is 0"),
    ],
)
def test_mistakes_are_told_in_a_sentence_before_anything_is_played(arguments, words, tmp_path):
    done = call("reproduce", *arguments, "--out", str(tmp_path / "out"), "--results", str(tmp_path / "results"))
    assert done.exit_code == 2
    assert words in done.output
    assert "Traceback" not in done.output
    assert not list(tmp_path.glob("results/*.npz"))


def test_folders_that_cannot_be_written_are_told_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    for option in ("--out", "--results"):
        other = "--results" if option == "--out" else "--out"
        done = call("reproduce", "figure-3", option, str(tmp_path / "file" / "x"), other, str(tmp_path / "fine"))
        assert done.exit_code == 2
        assert str(tmp_path / "file" / "x") in done.output
        assert done.output.count("\n") == 1


def test_the_list_names_all_parts():
    done = call("reproduce", "--list")
    assert done.exit_code == 0
    for name, exhibit in EXHIBITS.items():
        assert name in done.output and exhibit.title in done.output


@pytest.mark.skipif(bool(chromium.missing()), reason=str(chromium.missing()))
def test_the_real_page_draws_its_charts_and_fits_a_phone(interpreted, tmp_path):
    names = ["figure-1", "figure-2", "figure-3"]
    done = reproduce(names, str(tmp_path / "out"), str(tmp_path / "results"), size="quick", **TINY)
    with chromium.Chromium() as browser:
        browser.open(done.page, 400, False)
        assert browser.console_errors == [] and len(browser.requests) == 1
        assert browser.evaluate("document.documentElement.scrollWidth") <= 400
        assert browser.evaluate("document.querySelectorAll('canvas').length") == 6
