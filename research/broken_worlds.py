"""Worlds that break weak optimal set consistency, besides random tables: mixed logits, drawn or fitted; real slates."""

import itertools
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import setwise as sw
from research.hard_worlds import sets_of
from setwise.environments import PRESETS, MixedLogit, Table
from setwise.types import Feedback, Floats, InputError

SLATES = Path(__file__).parents[2] / "shared" / "data" / "yc-cats-5-10-4-8.txt"  # not part of the repository
N, K = 7, 3

Log = list[tuple[list[str], list[str]]]  # what was shown, and what of it was chosen


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


def small_worlds() -> dict[str, Any]:
    """Return worlds of up to ten sets that break the assumption, in which policies keep a wrong set for long."""
    hidden = [[0.1, 0.1], *[[0.15, 0.05]] * 4, [0.15, 0.15]]  # the best set has the least popular arms
    together = [[0.5, 0.4], [0.15, 0.27], [0.15, 0.24], [0.12, 0.27], [0.12, 0.24], [0.27, 0.24]]
    presets = ("rankings", "markov-chain", "unequal-noise", "nested-logit", "mixed-logit")
    return {
        "hidden": Table(hidden),
        "together": Table(together, feedback=Feedback.independent),
        **{name: PRESETS[name]() for name in presets},
    }


def hidden_sets() -> dict[str, Table]:
    """Return worlds of 66 to 220 sets that mostly follow their arms, and in which a few sets are far better than that.

    weakest arms: every set earns what its arms do, and that of the three weakest arms, 0.06 by these, earns 0.9
    arms of nothing: the arms of the best pair earn nothing with others; these share 0.5
    better pairs: arms earn 0.1, but one pair 0.3 each, and two others 0.2 each
    """
    values = [0.2, 0.19, 0.18, 0.1, 0.09, 0.08, 0.02, 0.02, 0.02]
    weakest = [[values[arm] for arm in members] for members in itertools.combinations(range(9), 3)]
    weakest[-1] = [0.3, 0.3, 0.3]
    nothing = [[0.0, 0.5] if members[0] < 2 else [0.25, 0.25] for members in itertools.combinations(range(12), 2)]
    nothing[0] = [0.4, 0.4]
    pairs = []
    for members in itertools.combinations(range(12), 3):
        earned = dict.fromkeys(members, 0.1)
        for pair, each in (((0, 1), 0.3), ((2, 3), 0.2), ((4, 5), 0.2)):
            if set(pair) <= set(members):
                earned |= dict.fromkeys(pair, each)
        pairs.append(list(earned.values()))
    tables = {"weakest arms": (weakest, 9), "arms of nothing": (nothing, 12), "better pairs": (pairs, 12)}
    return {name: Table(rows, n=n) for name, (rows, n) in tables.items()}


def read_log(path: Path) -> Log:
    """Read a log: a line is `slate;chosen`, each a list of items."""
    lines = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [(shown.split(), chosen.split()) for shown, chosen in lines]


def most_frequent(log: Log, count: int) -> list[str]:
    """Return the items that were shown most, the most frequent one first."""
    return [item for item, _ in Counter(item for shown, _ in log for item in shown).most_common(count)]


def slates(path: Path = SLATES, n: int = N, k: int = K) -> Table:
    """Return the table of a log: how often each of the n most frequent items was chosen in each slate of k of these.

    Several may be chosen, so the feedback is independent.
    """
    log = read_log(path)
    items = sorted(most_frequent(log, n))
    number = {item: place for place, item in enumerate(items)}
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
    return Table(counts / plays[:, None], feedback=Feedback.independent, names=tuple(items))


def fitted_logit(path: Path = SLATES, classes: int = 3, n: int = N, k: int = K, steps: int = 400) -> MixedLogit:
    """Return a mixed logit fitted to a log: the most frequent item is the outside option, the next n are the arms.

    Slates of all sizes with the outside option count. Where several items were chosen, each counts as a share of one.
    The best of four starts of `steps` steps of expectation and maximisation.
    """
    log = read_log(path)
    outside, *others = most_frequent(log, n + 1)
    items = sorted(others)
    number = {outside: 0, **{item: place for place, item in enumerate(items, 1)}}
    choices: defaultdict[tuple[tuple[int, ...], int], float] = defaultdict(float)
    for shown, chosen in log:
        members = tuple(sorted({number[item] for item in shown if item in number}))
        known = [number[item] for item in set(chosen) & set(shown) if item in number]
        if outside in shown and len(members) > 1:
            for place in known:
                choices[members, place] += 1 / len(known)
    row_of = {members: row for row, members in enumerate(sorted({members for members, _ in choices}))}
    offered, counts = np.zeros((len(row_of), n + 1)), np.zeros((len(row_of), n + 1))
    for (members, place), count in choices.items():
        offered[row_of[members], list(members)] = 1.0
        counts[row_of[members], place] += count
    fits = [fit_mixture(offered, counts, classes, steps, seed) for seed in range(4)]
    _, shares, weights = max(fits, key=lambda fit: fit[0][-1])
    return MixedLogit(shares / shares.sum(), weights[:, 1:], k, names=tuple(items))


def fit_mixture(
    offered: Floats, counts: Floats, classes: int, steps: int, seed: int
) -> tuple[list[float], Floats, Floats]:
    """Fit a mixture of logits to choices; return the log likelihood after each step, the shares, and the weights.

    offered: 1 if an option is in a slate, a row for each slate; option 0 is in all of them, and its weight is 1
    counts: how often it was chosen there

    A step gives every choice to the classes by their posterior (expectation), and takes one step of Hunter's for the
    weights of each class (2004, "MM algorithms for generalized Bradley-Terry models"). Neither lowers the likelihood.
    """
    rng = np.random.default_rng([seed, 4])
    shares, weights = np.full(classes, 1 / classes), np.exp(rng.normal(0.0, 1.0, (classes, offered.shape[1])))
    weights[:, 0] = 1.0
    history = []
    for _ in range(steps):
        worth = offered @ weights.T  # of every slate, for every class
        chances = shares * offered[:, :, None] * weights.T / worth[:, None, :]
        total = chances.sum(axis=2)
        history.append(float((counts[counts > 0.0] * np.log(total[counts > 0.0])).sum()))
        given = counts[:, :, None] * np.divide(chances, total[:, :, None], where=total[:, :, None] > 0.0, out=chances)
        shares = given.sum(axis=(0, 1)) / counts.sum()
        met = (offered.T @ (given.sum(axis=1) / worth)).T  # of every class and option
        weights[:, 1:] = (given.sum(axis=0).T / np.maximum(met, 1e-300))[:, 1:]
    return history, shares, weights


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
