"""The rows of a study as tables that fit a page."""

import statistics
from typing import NamedTuple

from setwise.evidence.store import Row


class Table(NamedTuple):
    """What it shows, the names of its columns, and its lines."""

    caption: str
    head: list[str]
    body: list[list[str]]


def summary(name: str, rows: list[Row]) -> list[Table]:
    """The tables of a study."""
    return [table for make in TABLES[name] for table in [make(rows)] if table.body]


def by_world(rows: list[Row]) -> dict[str, dict[str, Row]]:
    """The rows by policy, then by world."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row["policy"], {})[row["world"]] = row
    return found


def each(rows: list[Row], name: str) -> list[str]:
    """The different values of a field, in the order in which they come."""
    return list(dict.fromkeys(row[name] for row in rows))


def power(horizon: int) -> str:
    """A horizon in short.

    >>> power(10**6), power(200_000)
    ('1e6', '2e5')
    """
    return f"{horizon:.0e}".replace("+0", "")


def regret(row: Row | None) -> str:
    """Mean regret with its 95 % interval."""
    if row is None:
        return "-"
    digits = 1 if row["mean"] < 100 else 0
    error = "" if row["error"] is None else f" ± {1.96 * row['error']:,.{digits}f}"
    return f"{row['mean']:,.{digits}f}{error}"


def comparison(rows: list[Row]) -> Table:
    worlds = each(rows, "world")
    body = [[policy, *(regret(own.get(w)) for w in worlds)] for policy, own in by_world(rows).items()]
    return Table(f"regret after {power(rows[0]['horizon'])} rounds, ± 95 %", ["policy", *worlds], body)


def gains(rows: list[Row]) -> Table:
    worlds = each(rows, "world")
    body = []
    for policy, own in by_world(rows).items():
        times = [own[world]["times_less"] for world in worlds]
        cells = [f"{found:.1f} ({low:.1f} to {high:.1f})" for found, low, high in times]
        body.append([policy, *(["1"] * len(worlds) if policy == "ucb" else cells)])
    return Table("how many times less regret than ucb, with 95 %", ["policy", *worlds], body)


def horizons(rows: list[Row]) -> Table:
    lengths = sorted({row["horizon"] for row in rows})
    body = []
    for world in each(rows, "world"):
        for policy in each(rows, "policy"):
            own = {row["horizon"]: row for row in rows if (row["world"], row["policy"]) == (world, policy)}
            grown = [row["growth"] for row in own.values() if "growth" in row]
            cells = [f"{own[length]['mean']:,.0f}" if length in own else "-" for length in lengths]
            body.append([world, policy, *cells, f"{grown[0]:.2f}" if grown else "-"])
    head = ["world", "policy", *map(power, lengths), "growth"]
    return Table("regret at each horizon, and its growth over the last two decades; 1 is linear", head, body)


def weak_worlds(rows: list[Row]) -> Table:
    own = by_world(rows)
    body = []
    for policy, measured in own.items():
        shares = sorted(row["mean"] / own["ucb"][world]["mean"] for world, row in measured.items())
        tails = sorted(row["worst"] / row["mean"] for row in measured.values())
        spread = [f"{share:.3f}" for share in (shares[0], statistics.median(shares), shares[-1])]
        above = "-" if policy == "ucb" else f"{sum(share > 1.0 for share in shares)}"
        body.append([policy, f"{len(measured)}", *spread, above, f"{tails[-1]:.2f}"])
    head = ["policy", "worlds", "least", "median", "largest", "worlds above ucb", "largest worst run / mean"]
    return Table("mean regret in shares of ucb's, over all worlds; and how far a single run was off", head, body)


def searched(rows: list[Row]) -> Table:
    body = [
        [
            row["policy"],
            row["objective"],
            power(row["horizon"]),
            f"{row['median']:.2f}",
            f"{row['largest']:.2f}",
            f"{row['found']:.2f}",
        ]
        for row in rows
        if row["kind"] == "search"
    ]
    head = ["policy", "objective", "rounds", "median of all worlds", "largest", "after climbing"]
    return Table("what the search found", head, body)


def verified(rows: list[Row]) -> Table:
    rows = [row for row in rows if row["kind"] == "verified"]
    lengths = sorted({row["horizon"] for row in rows})
    body = []
    for world, n in dict.fromkeys((row["world"], row["n"]) for row in rows):
        for policy in each(rows, "policy"):
            own = {row["horizon"]: row for row in rows if (row["world"], row["n"], row["policy"]) == (world, n, policy)}
            if own:
                last = own[max(own)]
                cells = [f"{own[length]['mean']:,.0f}" if length in own else "-" for length in lengths]
                grown = f"{last['growth']:.2f} ± {1.96 * last['growth_error']:.2f}"
                body.append([f"{world}, n = {n}", policy, *cells, grown, f"{last['worst_over_mean']:.1f}"])
    head = ["world", "policy", *map(power, lengths), "growth, last decade", "worst run / mean"]
    return Table("the worst worlds played again from other seeds: regret at each horizon", head, body)


def stuck(rows: list[Row]) -> Table:
    body = [
        [
            f"{row['world']}, n = {row['n']}",
            row["policy"],
            power(row["horizon"]),
            f"{row['runs']:,}",
            f"{100 * row['stuck']:.2f} ± {196 * row['stuck_error']:.2f}",
            f"{row['mean']:,.0f}",
            f"{row['worst']:,.0f}",
        ]
        for row in rows
        if row["kind"] == "stuck"
    ]
    head = ["world", "policy", "rounds", "runs", "% of runs stuck", "mean regret", "worst run"]
    return Table("runs that hardly play the best set in their second half", head, body)


def tried_in_paper(rows: list[Row]) -> Table:
    rows = [row for row in rows if row["kind"] == "paper"]
    worlds = each(rows, "world")
    body = [[policy, *(regret(own.get(world)) for world in worlds)] for policy, own in by_world(rows).items()]
    return Table(f"regret after {power(rows[0]['horizon'])} rounds, ± 95 %", ["policy", *worlds], body)


def tried_in_hard(rows: list[Row]) -> Table:
    rows = [row for row in rows if row["kind"] == "hard" and not row["world"].startswith("searched")]
    body = []
    for world, n in dict.fromkeys((row["world"], row["n"]) for row in rows):
        for policy in each(rows, "policy"):
            own = {row["horizon"]: row for row in rows if (row["world"], row["n"], row["policy"]) == (world, n, policy)}
            if own:
                first, last = own[min(own)], own[max(own)]
                share = f"{100 * first['stuck']:.2f} ± {196 * first['stuck_error']:.2f}"
                body.append([f"{world}, n = {n}", policy, share, regret(first), regret(last), f"{last['worst']:,.0f}"])
    if not rows:
        return Table("", [], [])
    short, long = (power(length) for length in (min(r["horizon"] for r in rows), max(r["horizon"] for r in rows)))
    head = ["world", "policy", f"% of runs stuck, {short}", f"regret, {short}", f"regret, {long}", f"worst run, {long}"]
    return Table("in worlds made to be hard", head, body)


TABLES = {
    "comparison": [comparison],
    "gains": [gains],
    "horizons": [horizons],
    "weak-worlds": [weak_worlds],
    "adversary": [searched, verified, stuck],
    "candidates": [tried_in_paper, tried_in_hard],
}
