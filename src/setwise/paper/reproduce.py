"""Reproduce the whole paper in one call: run its experiments, compute its claims, and write the report."""

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

from setwise.engines import Progress
from setwise.experiments.outcome import Order, Outcome, merged
from setwise.experiments.provenance import facts
from setwise.experiments.run_plays import play_all
from setwise.experiments.store import Store
from setwise.paper.claim_list import CLAIMS, counts
from setwise.paper.claim_store import CLAIMS as CLAIMS_FOLDER
from setwise.paper.claim_store import ClaimStore, claim_jobs
from setwise.paper.exhibits import figure_3
from setwise.paper.exhibits.catalogue import choose
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.paper.exhibits.regret_panels import power
from setwise.report.parts import Page
from setwise.report.writing import check_folder, write_report
from setwise.validation import whole_number

TITLE = "Combinatorial bandits without total order for arms, reproduced"


class Reproduced(NamedTuple):
    """The path of the page, the number of runs played now and of runs taken from the cache, and warnings."""

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
    progress: Progress | None = None,
) -> Reproduced:
    """Reproduce the paper, or the named parts of it.

    names: of `exhibits.EXHIBITS`; empty for all
    out: the folder for the page, its figures and its data
    results: the folder that caches results; runs stored there are not played again
    size: "quick", "default" or "full"
    runs, horizon: override each exhibit's own
    jobs: number of processes; by default one per core
    progress: called from time to time with the current phase and the fraction done
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
    outcome = _outcome(chosen, scale, orders, store, jobs, _phase("playing", progress))
    about = facts(seed, started, outcome)
    page = Page(TITLE, lead(scale, outcome), [exhibit.section(scale, outcome) for exhibit in chosen], about)
    path = write_report(page, out, jobs, _phase("drawing", progress))
    return Reproduced(path, outcome.played, outcome.kept, tuple(store.damaged))


def _phase(name: str, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda what, share: progress(name, share)


def _outcome(
    chosen: Sequence[Exhibit],
    scale: Scale,
    orders: list[Order],
    store: Store,
    jobs: int | None,
    progress: Progress | None,
) -> Outcome:
    """Run the orders and settle the claims in parallel."""
    if all(exhibit.name != "claims" for exhibit in chosen):
        return play_all(orders, store, jobs, progress)[0]
    claims = ClaimStore(os.path.join(store.folder, CLAIMS_FOLDER), scale.seed)
    wanted = [claim.name for claim in CLAIMS if scale.size != "quick" or not claim.slow]
    found = {name: claims.load(name) for name in wanted}
    work = claim_jobs([name for name, claim in found.items() if claim is None], claims)
    outcome, settled = play_all(orders, store, jobs, progress, work)
    store.damaged.extend(claims.damaged)
    found.update((claim.name, claim) for claim in settled)
    outcome.claims = list(found.values())
    return outcome


def lead(scale: Scale, outcome: Outcome) -> list[str]:
    """Return the opening paragraphs: the paper, how to read the page, and the results in short."""
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
        "whole set, and there is no order from best to worst. Here are its figures and its table, recomputed, and "
        "each of its claims with what a computation says of it.",
        "Regret is counted from the true means. Point at a curve to read its value and interval, click on its name to "
        "hide it, and switch each axis between linear and logarithmic. Every figure is there as SVG, PDF and PNG, with "
        "the numbers behind it as CSV." + (f" {sizes[scale.size]}" if sizes[scale.size] else ""),
        *([f"What is true, in short. {' '.join(short)}"] if short else []),
    ]
