"""Table 1 and the table of claims in the report, from made-up results and claims."""

from collections.abc import Callable
from typing import Any

import numpy as np

from setwise.experiments.outcome import Outcome
from setwise.paper.claim import CORRECTED, FAILS, HOLDS, UNDECIDED, Settled
from setwise.paper.claim_list import CLAIMS
from setwise.paper.exhibits import claims, regret_panels, table_1
from setwise.paper.exhibits.exhibit import Scale
from setwise.policies import NAMES, POLICIES
from setwise.report.parts import Details, Link, Section, Text, TextTable
from setwise.simulation import Result

QUICK, DEFAULT, FULL = (Scale(size) for size in ("quick", "default", "full"))


def all_parts(part: Any) -> list[Any]:
    """The parts of a section, those behind headings too."""
    inner = part.parts if isinstance(part, Section | Details) else []
    return [part, *(found for own in inner for found in all_parts(own))]


def tables(section: Section) -> dict[str, TextTable]:
    return {part.name: part for part in all_parts(section) if isinstance(part, TextTable)}


def texts(section: Section) -> str:
    return " ".join(part.text for part in all_parts(section) if isinstance(part, Text))


def row_of(table: TextTable, first: str) -> dict[str, Any]:
    row = next(row for row in table.rows if row[0] == first)
    return dict(zip(table.head, row, strict=True))


def outcome_of(scale: Scale, regret: Callable[[str, str, Any], Any]) -> Outcome:
    """An outcome in which the curves of a policy and world are what the function says of the rounds."""
    results = {}
    for label in table_1.labels_of(scale):
        for world in regret_panels.WORLDS:
            order = table_1.order_of(label, world, scale)
            if order is not None:
                rounds = np.array(order.play.checkpoints)
                curves = np.atleast_2d(regret(label, world, rounds.astype(float)))
                nothing = np.zeros((len(curves), 2), np.int64)
                results[order.play.digest] = Result(label, world, int(rounds[-1]), 0, False, rounds, curves, nothing)
    return Outcome(results)


def three_levels(label: str, world: str, rounds: Any) -> Any:
    """Ten runs: five at 90 % and five at 110 % of a curve that is linear for mnl-ucb and a square root for others."""
    curve = 0.01 * rounds if label == "mnl-ucb" else (0.5 if label == "kl-ucb" else 1.0) * np.sqrt(rounds)
    return np.outer([0.9, 1.1] * 5, curve)


PRINTED = {  # fixed k, set-dependent reward, no total order: the ticks of the paper's Table 1
    "cucb": (True, False, False),
    "comb-ucb1": (True, False, False),
    "escb1": (True, False, False),
    "escb2": (True, False, False),
    "mnl-thompson": (True, True, False),
    "mnl-ucb": (True, True, False),
    "max-min-ucb": (False, True, False),
    "rec-max-min-ucb": (True, True, False),
    "winner-beats-all": (False, True, True),
    "ucb": (True, True, True),
}


def test_the_ticks_of_table_1_are_those_of_the_paper() -> None:
    table = tables(table_1.section(QUICK, Outcome({})))["table-1-published"]
    assert [row[0] for row in table.rows] == list(PRINTED)
    for name, ticks in PRINTED.items():
        row = row_of(table, name)
        found = tuple(row[column] != "no" for column in ("fixed k", "set-dep. reward", "no total order"))
        assert found == ticks, name
        assert row["regret"] == POLICIES[name].regret_bound


def test_every_policy_of_the_library_has_one_published_row() -> None:
    found = tables(table_1.section(QUICK, Outcome({})))
    names = [row[0] for name in ("table-1-published", "table-1-others") for row in found[name].rows]
    assert sorted(names) == sorted(NAMES)


def test_measured_cells_are_mean_interval_slope_and_verdict_worked_by_hand() -> None:
    """At 10^4 rounds kl-ucb has 45 or 55: 50, s = 5 sqrt(10 / 9), and t_9 s / sqrt(10) = 2.262157 x 5 / 3 = 3.77."""
    section = table_1.section(QUICK, outcome_of(QUICK, three_levels))
    regret, growth = tables(section)["table-1-regret"], tables(section)["table-1-growth"]
    assert row_of(regret, "kl-ucb")["camera"] == "50.0 ± 3.8"
    assert row_of(regret, "mnl-ucb")["mnl"] == "100.0 ± 7.5"
    assert row_of(growth, "kl-ucb")["camera"] == "0.500 ± 0.000 slower"
    assert row_of(growth, "mnl-ucb")["camera"] == "1.000 ± 0.000 linear"
    assert row_of(regret, "kl-ucb")["rounds"] == row_of(growth, "kl-ucb")["rounds"] == "10^4"
    assert row_of(regret, "kl-ucb")["runs"] == row_of(growth, "kl-ucb")["runs"] == "10"
    text = texts(section)
    assert "the least regret have kl-ucb in mnl (50.0 ± 3.8), kl-ucb in random-utility" in text
    assert "linearly over the last decade of rounds: mnl-ucb in mnl, random-utility, preference-matrix" in text
    rows = tables(section)["table-1-numbers"].rows
    assert len(rows) == len(regret_panels.PLAYED) * len(regret_panels.WORLDS)
    own = next(row for row in rows if row[:2] == ["kl-ucb", "camera"])
    assert own == ["kl-ucb", "camera", "10000", "10", "50", "46.2297", "53.7703", "0.5", "0.5", "0.5", "slower", "0"]


def one_in_five_is_stuck(label: str, world: str, rounds: Any) -> Any:
    """Ten runs with a square root; with kl-ucb two of them lose epsilon in every round besides, a third half of it."""
    stuck = np.array([1.0, 1.0, 0.5, *[0.0] * 7]) if label == "kl-ucb" else np.zeros(10)
    own = np.outer(stuck, table_1.least_gap(world) * rounds)
    return own + np.outer(stuck == 0.0, np.sqrt(rounds))


def test_runs_that_stay_with_a_wrong_set_are_counted_beside_the_growth_of_the_mean() -> None:
    section = table_1.section(QUICK, outcome_of(QUICK, one_in_five_is_stuck))
    growth = tables(section)["table-1-growth"]
    assert row_of(growth, "kl-ucb")["preference-matrix"].endswith("slower; 2 of 10 stuck")
    assert "stuck" not in row_of(growth, "ucb")["preference-matrix"]
    assert "stuck with a wrong set: kl-ucb in mnl (2 of 10); " in texts(section)
    rows = tables(section)["table-1-numbers"].rows
    assert {row[-1] for row in rows if row[0] == "kl-ucb"} == {"2"}
    assert {row[-1] for row in rows if row[0] == "ucb"} == {"0"}


def test_a_quick_table_has_dashes_for_the_papers_rows_that_are_not_played_and_says_so() -> None:
    section = table_1.section(QUICK, outcome_of(QUICK, three_levels))
    regret = tables(section)["table-1-regret"]
    assert set(row_of(regret, "escb2").values()) == {"escb2", "-"}
    assert "oracle" not in [row[0] for row in regret.rows]
    assert "Played only in a larger version of this report: cucb, escb1, escb2, max-min-ucb" in texts(section)
    assert "lsb-greedy is not played in mnl, random-utility, preference-matrix, random-weak, camera:" in texts(section)
    assert "LSBGreedy needs a world whose arms cover topics" in texts(section)


def test_policies_that_are_not_in_the_panels_play_shorter_by_default_and_the_panels_play_is_taken_in_full() -> None:
    def length(label: str, scale: Scale) -> int | None:
        order = table_1.order_of(label, "camera", scale)
        return None if order is None else order.play.horizon

    own = table_1.order_of("cucb", "camera", DEFAULT)
    assert own is not None
    assert (own.play.horizon, own.runs) == (10**5, 10)
    assert length("escb2", DEFAULT) == 10**4
    assert length("rucb", DEFAULT) is None
    assert length("cucb", QUICK) is None
    assert length("cucb", Scale("default", horizon=10**8)) == 10**5, "a shorter one is what it can do"
    assert length("cucb", Scale("default", horizon=500)) == 500
    for label in ("ucb", "stagewise-elimination:bernstein=yes", "rucb"):
        order, play = table_1.order_of(label, "camera", FULL), regret_panels.play_of(label, "camera", FULL)
        assert order is not None
        assert play is not None
        assert (order.play.digest, order.runs) == (play.digest, regret_panels.runs_of(FULL))


def test_a_policy_without_regret_is_said_to_have_none() -> None:
    section = table_1.section(QUICK, outcome_of(QUICK, lambda label, world, rounds: np.zeros((10, len(rounds)))))
    assert row_of(tables(section)["table-1-regret"], "ucb")["mnl"] == "0"
    assert row_of(tables(section)["table-1-growth"], "ucb")["mnl"] == "no regret"
    assert "linearly over the last decade of rounds: none" in texts(section)


def settled(name: str, verdict: str, shown: str = "") -> Settled:
    correction = "if so" if verdict == CORRECTED else ""
    return Settled(name, "Section 1", f"{name} is so.", "by hand", "42", correction, verdict, 0.1, shown)


SETTLED = [
    settled("theorem-1", HOLDS, "panels"),
    settled("sets-mnl", HOLDS),
    settled("camera-transitivity", FAILS),
    settled("lemma-1", CORRECTED, "figure-1"),
    settled("theorem-3", UNDECIDED, "sensitivity-epsilon"),
]


def claims_section(found: list[Settled]) -> Section:
    outcome = Outcome({})
    outcome.claims = found
    return claims.section(DEFAULT, outcome)


def test_the_replica_has_the_refuted_first_and_every_claim_once() -> None:
    section = claims_section(SETTLED)
    found = tables(section)
    assert list(found) == ["claims-summary", "claims-refuted", "claims-corrected", "claims-undecided", "claims-holding"]
    assert [row[1] for row in found["claims-summary"].rows] == ["1", "1", "1", "2"]
    assert [row[0] for row in found["claims-holding"].rows] == ["sets-mnl", "theorem-1"], "in the paper's order"
    assert row_of(found["claims-corrected"], "lemma-1")["what holds instead"] == "if so"
    open_tables = [part.name for part in section.parts if isinstance(part, TextTable)]
    assert open_tables == ["claims-summary", "claims-refuted", "claims-corrected"]
    assert claims.orders(DEFAULT) == []


def test_a_claim_links_to_what_shows_it() -> None:
    found = tables(claims_section(SETTLED))
    assert row_of(found["claims-corrected"], "lemma-1")["shown in"] == Link("Figure 1", "figure-1")
    there = row_of(found["claims-undecided"], "theorem-3")["shown in"]
    assert there == Link("Sensitivity, epsilon", "sensitivity-epsilon")
    assert row_of(found["claims-holding"], "sets-mnl")["shown in"] == ""
    assert claims.shown_in("figure-3-ordering") == Link("Figure 3", "figure-3-ordering")
    links = [row[0].to for row in found["claims-summary"].rows]
    assert links == ["claims-refuted", "claims-corrected", "claims-undecided", "claims-holding"]


def test_what_is_left_out_is_named_and_nothing_is_said_if_all_are_there() -> None:
    kept = [settled(claim.name, HOLDS) for claim in CLAIMS if not claim.slow]
    text = texts(claims_section(kept))
    slow = [claim.name for claim in CLAIMS if claim.slow]
    assert f"they take the longest: {', '.join(slow)}." in text
    whole = claims_section([settled(claim.name, HOLDS) for claim in CLAIMS])
    assert "Not computed here" not in texts(whole)
    assert len(tables(whole)["claims-holding"].rows) == len(CLAIMS)


def test_what_shows_a_claim_has_a_title_that_readers_know() -> None:
    named = {claim.shown: claims.shown_in(claim.shown).text for claim in CLAIMS if claim.shown}
    assert set(named.values()) <= set(claims.SHOWN_IN.values()), named
