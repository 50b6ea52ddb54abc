"""Worlds that break weak optimal set consistency: tables without structure or of a chosen margin, mixed logits, slates.

The margin of a table is the largest P(a|s*) - P(a|s) over the arms a of the best set s* and the other sets s with a. At
a margin of 0 the assumption holds with equality.
"""

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import setwise as sw
from research.hard_worlds import sets_of
from setwise.environments import MixedLogit, Table
from setwise.types import Floats

SLATES = Path(__file__).parents[2] / "shared" / "data" / "yc-cats-5-10-4-8.txt"  # not part of the repository
LEAST_GAP = 0.05
N, K = 7, 3


def unstructured(seed: int, n: int = N, k: int = K) -> Table:
    """Draw a table without any structure: each set's total uniform, and divided among its arms uniformly."""
    rng = np.random.default_rng([seed, 1])
    sets = len(sets_of(n, k))
    return Table(rng.random((sets, 1)) * rng.dirichlet(np.ones(k), sets))


def broken(seed: int, margin: float, n: int = N, k: int = K) -> Table:
    """Draw a table of this margin; the seed gives the same table at all margins, but for what the margin takes.

    The best set is the first k arms and worth 0.6 to 1. In every other set, its arms earn less than in s* by the
    margin, or nothing, and the others share some of what is left below the value of s* minus the least gap.
    """
    rng = np.random.default_rng([seed, 2])
    best = LEAST_GAP + (rng.uniform(0.6, 1.0) - k * LEAST_GAP) * rng.dirichlet(np.full(k, 3.0))
    rows = np.zeros((len(sets_of(n, k)), k))
    rows[0] = best
    for row, members in list(enumerate(sets_of(n, k)))[1:]:
        own = members < k
        part, shares = rng.uniform(0.3, 1.0), rng.dirichlet(np.ones(k))
        rows[row, own] = np.maximum(best[members[own]] - margin, 0.0)
        slack = best.sum() - LEAST_GAP - best[members[own]].sum()  # as if nothing was taken: bad arms gain nothing
        rows[row, ~own] = slack * part * shares[~own] / shares[~own].sum()
    return Table(rows)


def mixed_logits(count: int, n: int = N, k: int = K) -> dict[str, MixedLogit]:
    """Draw mixed logits of three classes until so many break the assumption, as `sw.check` proves."""
    found: dict[str, MixedLogit] = {}
    for seed in itertools.count():
        rng = np.random.default_rng([seed, 3])
        world = MixedLogit(rng.dirichlet(np.ones(3)), np.exp(rng.normal(0.0, 2.5, (3, n))), k)
        if sw.check(world)["weak optimal set consistency"].holds is False:
            found[f"mixed logit {seed}"] = world
            if len(found) == count:
                return found
    raise AssertionError


def slates(path: Path = SLATES, n: int = N, k: int = K) -> Table:
    """Return the table of a log: how often each of the n most frequent items was chosen in each slate of k of these.

    A line of the log is `slate;chosen`, each a list of items. Several may be chosen, so the feedback is independent.
    """
    lines = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    log = [(shown.split(), chosen.split()) for shown, chosen in lines]
    frequent = Counter(item for shown, _ in log for item in shown).most_common(n)
    number = {item: place for place, item in enumerate(sorted(item for item, _ in frequent))}
    row_of = {members: row for row, members in enumerate(itertools.combinations(range(n), k))}
    plays, counts = np.zeros(len(row_of)), np.zeros((len(row_of), k))
    for shown, chosen in log:
        if len(shown) == k and all(item in number for item in shown):
            members = sorted(number[item] for item in shown)
            row = row_of[tuple(members)]
            plays[row] += 1.0
            for item in set(chosen) & set(shown):
                counts[row, members.index(number[item])] += 1.0
    return Table(counts / plays[:, None], feedback="independent", names=sorted(number))


def margin_of(world: Any) -> float:
    """Return the margin by which a table breaks the assumption; 0 or less if it holds."""
    table: Floats = world.probabilities
    sets = sets_of(world.n, world.k)
    best = int(table.sum(axis=1).argmax())
    earned = dict(zip(sets[best].tolist(), table[best].tolist()))
    return max(
        earned[arm] - value
        for row, members in enumerate(sets)
        for arm, value in zip(members.tolist(), table[row].tolist())
        if row != best and arm in earned
    )
