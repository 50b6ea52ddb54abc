"""Worlds that break weak optimal set consistency, besides random tables: mixed logits and real slates."""

import itertools
from collections import Counter
from pathlib import Path

import numpy as np

import setwise as sw
from research.hard_worlds import sets_of
from setwise.environments import MixedLogit, Table
from setwise.types import Feedback, Floats, InputError

SLATES = Path(__file__).parents[2] / "shared" / "data" / "yc-cats-5-10-4-8.txt"  # not part of the repository
N, K = 7, 3


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
    if not plays.all():
        raise InputError(f"{path} has no slate of {(plays == 0.0).sum()} of the {len(plays)} sets; use fewer items")
    return Table(counts / plays[:, None], feedback=Feedback.independent, names=tuple(sorted(number)))


def margin_of(world: Table) -> float:
    """Return the margin by which a table breaks the assumption; 0 or less if it holds."""
    table: Floats = world.probabilities
    sets = sets_of(world.n, world.k)
    best = int(table.sum(axis=1).argmax())
    earned: dict[int, float] = dict(zip(sets[best].tolist(), table[best].tolist()))
    return max(
        earned[arm] - float(value)
        for row, members in enumerate(sets)
        for arm, value in zip(members.tolist(), table[row].tolist())
        if row != best and arm in earned
    )
