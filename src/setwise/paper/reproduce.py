"""The whole paper in one call: its experiments are played, its claims computed, and the report written."""

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

from setwise.declare import whole_number
from setwise.engines import Report
from setwise.experiments.engine import play_all
from setwise.experiments.making_of import facts
from setwise.experiments.outcome import Order, Outcome, merged
from setwise.experiments.store import Store
from setwise.paper.exhibits import figure_3
from setwise.paper.exhibits.catalogue import choose
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.paper.exhibits.panels import power
from setwise.paper.kept_claims import CLAIMS as KEPT_CLAIMS
from setwise.paper.kept_claims import ClaimStore, claim_jobs
from setwise.paper.ledger import CLAIMS, counts
from setwise.report.parts import Page
from setwise.report.writing import check_folder, write_report

TITLE = "Combinatorial bandits without total order for arms, reproduced"


class Reproduced(NamedTuple):
    """The path of the page, how many runs were played now and how many were kept, and what else is to be told."""

    page: str
    played: int
    kept: int
    notes: tuple[str, ...]


def reproduce(
    names: Sequence[str] = (),
    out: str = "out/report",
    results: str = "out/results",
    size: str = "default",
    runs: int | None = None,
    horizon: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    report: Report | None = None,
) -> Reproduced:
    """Reproduce the paper, or the parts of it that are named.

    names: of `exhibits.EXHIBITS`; all, if none are given
    out: the folder for the page, its figures and its data
    results: the folder in which results are kept; what is there is not played again
    size: "quick", "default" or "full"
    runs, horizon: instead of each exhibit's own
    jobs: how many processes; by default as many as there are cores
    report: called now and then with what is going on and the share that is done
    """
    started = time.time()
    chosen = choose(names)
    jobs = None if jobs is None else whole_number("jobs", jobs, 1)
    scale = Scale(
        size,
        whole_number("seed", seed, 0),
        None if runs is None else whole_number("runs", runs, 2),
        None if horizon is None else whole_number("horizon", horizon, 100),
    )
    check_folder(out)
    store = Store(results)
    orders = merged([order for exhibit in chosen for order in exhibit.orders(scale)])
    outcome = _outcome(chosen, scale, orders, store, jobs, _phase("playing", report))
    about = facts(seed, started, outcome)
    page = Page(TITLE, lead(scale, outcome), [exhibit.section(scale, outcome) for exhibit in chosen], about)
    path = write_report(page, out, jobs, _phase("drawing", report))
    return Reproduced(path, outcome.played, outcome.kept, tuple(store.damaged))


def _phase(name: str, report: Report | None) -> Report | None:
    return None if report is None else lambda what, share: report(name, share)


def _outcome(
    chosen: Sequence[Exhibit], scale: Scale, orders: list[Order], store: Store, jobs: int | None, report: Report | None
) -> Outcome:
    """Play what is ordered and settle the claims, side by side."""
    if all(exhibit.name != "claims" for exhibit in chosen):
        return play_all(orders, store, jobs, report)[0]
    claims = ClaimStore(os.path.join(store.folder, KEPT_CLAIMS), scale.seed)
    wanted = [claim.name for claim in CLAIMS if scale.size != "quick" or not claim.slow]
    found = {name: claims.load(name) for name in wanted}
    work = claim_jobs([name for name, claim in found.items() if claim is None], claims)
    outcome, settled = play_all(orders, store, jobs, report, work)
    store.damaged.extend(claims.damaged)
    found.update((claim.name, claim) for claim in settled)
    outcome.claims = list(found.values())
    return outcome


def lead(scale: Scale, outcome: Outcome) -> list[str]:
    """What the reader should know first, and what came out."""
    sizes = {
        "quick": "This is the quick version: short runs, few of them, and only the claims that take little time.",
        "default": "",
        "full": "This is the full version: every policy, as long as its speed permits.",
    }
    short = []
    if outcome.claims:
        verdicts = "; ".join(f"{verdict}: {count}" for verdict, count in counts(outcome.claims).items() if count)
        short.append(f"Of {len(outcome.claims)} claims of the paper: {verdicts}.")
    if all(order.play in outcome for order in figure_3.orders(scale)):
        rounds = power(figure_3.horizon_of(scale))
        short.append(f"Figure 3, after {rounds} rounds: {figure_3.order_in_words(figure_3.ordering(scale, outcome))}")
    return [
        "The paper: Yang, Ren, Dhillon and Sanghavi, Combinatorial Bandits without Total Order for Arms (2021). A "
        "policy chooses k of n arms in every round and sees what each of them earned; what an arm earns depends on the "
        "whole set, and there is no order from best to worst. Here are its figures and its table, computed anew, and "
        "each of its claims with what a computation says of it.",
        "Regret is counted from the true means. Point at a curve to read its value and interval, click on its name to "
        "hide it, and switch each axis between linear and logarithmic. Every figure is there as SVG, PDF and PNG, with "
        "the numbers behind it as CSV." + (f" {sizes[scale.size]}" if sizes[scale.size] else ""),
        *([f"What is true, in short. {' '.join(short)}"] if short else []),
    ]
