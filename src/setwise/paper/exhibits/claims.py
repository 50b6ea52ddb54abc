"""The paper's claims as a part of the report, by verdict, failures first."""

from collections.abc import Sequence
from typing import Any

from setwise.experiments.outcome import Order, Outcome
from setwise.paper.claim import CORRECTED, FAILS, HOLDS, UNDECIDED, Settled
from setwise.paper.claim_list import CLAIMS, counts
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.report.parts import Details, Link, Section, Text, TextTable

MEANINGS = {
    FAILS: "the computation refutes it, and there is no near form that stands",
    CORRECTED: "not as printed; a near form, which is stated, came out",
    UNDECIDED: "a statement about all algorithms or all worlds that a computation can refute but not confirm",
    HOLDS: "the computation came out as claimed: a test that it has passed, unless a proof is named",
}
NAMES = {FAILS: "claims-refuted", CORRECTED: "claims-corrected", UNDECIDED: "claims-undecided", HOLDS: "claims-holding"}
OPEN = (FAILS, CORRECTED)  # the others are folded
SHOWN_IN = {
    "figure-1": "Figure 1",
    "figure-2": "Figure 2",
    "figure-3": "Figure 3",
    "panels": "Figure 3 as it should be",
    "table-1": "Table 1",
    "sensitivity-epsilon": "Sensitivity, epsilon",
    "sensitivity-bound": "Sensitivity, B",
    "sensitivity": "Sensitivity",
}


def orders(scale: Scale) -> list[Order]:
    """Return nothing: claims run their own simulations."""
    return []


def section(scale: Scale, outcome: Outcome) -> Section:
    """Return the counts by verdict, then the claims."""
    places = {claim.name: place for place, claim in enumerate(CLAIMS)}
    settled: list[Settled] = sorted(outcome.claims, key=lambda claim: places.get(claim.name, len(places)))
    parts: list[Any] = [Text(INTRODUCTION), summary(settled)]
    missing = [claim.name for claim in CLAIMS if claim.name not in {own.name for own in settled}]
    if missing:
        parts.append(
            Text(
                f"Not computed here, because they take the longest: {', '.join(missing)}. "
                "The command setwise claims computes all of them, and so does the report in its default size."
            )
        )
    for verdict in MEANINGS:
        own = [claim for claim in settled if claim.verdict == verdict]
        if own:
            table = claims_table(verdict, own)
            parts.append(table if verdict in OPEN else Details(f"{verdict}: {len(own)} claims", [table]))
    return Section("claims", EXHIBIT.title, parts)


def summary(settled: Sequence[Settled]) -> TextTable:
    """Count the claims by verdict."""
    found = counts(settled)
    rows: list[list[Any]] = [
        [Link(verdict, NAMES[verdict]), str(found[verdict]), meaning] for verdict, meaning in MEANINGS.items()
    ]
    return TextTable(
        "claims-summary", f"{len(settled)} claims of the paper.", ["verdict", "claims", "what it means"], rows
    )


def claims_table(verdict: str, settled: Sequence[Settled]) -> TextTable:
    """List the claims of one verdict: statement, place, computation and result."""
    head = ["claim", "what it says", "where", "shown in", "what was found", "what was computed"]
    corrected = verdict == CORRECTED
    if corrected:
        head.insert(4, "what holds instead")
    rows = []
    for claim in settled:
        row: list[Any] = [claim.name, claim.says, claim.place, shown_in(claim.shown), claim.found, claim.computation]
        if corrected:
            row.insert(4, claim.correction)
        rows.append(row)
    return TextTable(NAMES[verdict], f"Claims with the verdict: {verdict}.", head, rows)


def shown_in(name: str) -> Any:
    """Return a link to the part of the report that shows a claim, with a title the reader knows."""
    if not name:
        return ""
    title = next((title for part, title in SHOWN_IN.items() if name == part or name.startswith(f"{part}-")), name)
    return Link(title, name)


INTRODUCTION = (
    "What the paper states, one claim after the other, and what a computation says of it. No verdict is typed in: each "
    "follows from figures computed for this page, by a rule that is part of the code. Where randomness is in play the "
    "seed is that of the report."
)

EXHIBIT = Exhibit("claims", "The claims", orders, section)
