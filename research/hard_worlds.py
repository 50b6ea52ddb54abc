"""Worlds made to be hard, among those that satisfy weak optimal set consistency: drawn, changed, and made by hand.

A world is a table of probabilities with a row for every set of k of n arms, as `environments.Table` takes it, in which

- the best set s* is the first k arms, and every other set is worth less by at least the least gap;
- P(a|s) >= P(a|s*) for every set s and every arm a of both s and s*;
- no row sums to more than 1, so that at most one arm is rewarded.

So P(a|s*) is at least the least gap: a set with all of s* but a is worth at least Q(s*) - P(a|s*). The rest is the
slack of each set: its arms of s* have their P(a|s*), and the remainder, up to Q(s*) minus the gap, can go to any of its
arms. Its distribution makes a world hard: a bad arm can shine where other arms are bad as well.

Probabilities are multiples of 1/10,000, so that a table written with 4 digits is the same table.
"""

import itertools
from typing import Any

import numpy as np

from research.beta_quantile import share_interval
from setwise.environments import PRESETS, Table
from setwise.simulation import Result
from setwise.types import Floats, Generator, InputError, Ints

PARTS = 10_000
LEAST_GAP = 0.05
CONCENTRATIONS = (0.03, 0.3, 1.0, 30.0)


def sets_of(n: int, k: int) -> Ints:
    """Return the sets in the order of a table's rows."""
    return np.array(list(itertools.combinations(range(n), k)), dtype=np.int64)


def repaired(rows: Any, n: int, k: int, least_gap: float = LEAST_GAP) -> Floats:
    """Return a lawful table close to this one: raise values that are too small, then cut rows in proportion.

    >>> repaired([[0.6, 0.6], [0.2, 0.9], [0.5, 0.4]], 3, 2).tolist()
    [[0.5, 0.5], [0.5, 0.45], [0.5, 0.4]]
    """
    gap = round(least_gap * PARTS)
    if gap < 1 or k * gap > PARTS:
        raise InputError(f"least_gap is {least_gap:g}; it has to be from {1 / PARTS:g} to 1/k = {1 / k:g}")
    parts = np.rint(np.asarray(rows, dtype=np.float64) * PARTS).astype(np.int64)
    best = gap + cut(np.maximum(parts[0] - gap, 0), PARTS - k * gap)
    parts[0] = best
    floors = np.concatenate([best, np.zeros(n - k, np.int64)])
    for row, members in list(enumerate(sets_of(n, k)))[1:]:
        floor = floors[members]
        parts[row] = floor + cut(np.maximum(parts[row] - floor, 0), int(best.sum() - gap - floor.sum()))
    return parts / PARTS


def cut(amounts: Ints, most: int) -> Ints:
    """Scale whole amounts down, rounding down, if they sum to more than `most`."""
    total = int(amounts.sum())
    return amounts if total <= most else amounts * most // total


def given_slack(best: Floats, members: Ints, shares: Any, least_gap: float) -> Floats:
    """Return the row of a set that divides its slack among its arms in these shares, which sum to at most 1.

    >>> given_slack(np.array([0.5, 0.3]), np.array([0, 2]), [0.0, 1.0], 0.05).tolist()
    [0.5, 0.25]
    """
    floor = np.where(members < len(best), best[np.minimum(members, len(best) - 1)], 0.0)
    slack = max(0.0, float(best.sum() - least_gap - floor.sum()))
    return np.asarray(floor + slack * np.asarray(shares, dtype=np.float64))


def random_shares(members: Ints, k: int, idol: int, style: int, rng: Generator) -> Floats:
    """Return how a set divides its slack.

    style 0: all to the idol, a bad arm, if it is in the set, else Dirichlet
    style 1: the same, but nothing to the idol if the set has more than a few arms of s*
    style 2: all to one random arm
    style 3 and above: Dirichlet, from nearly a corner to nearly equal
    """
    size = len(members)
    shares = np.zeros(size)
    here = np.flatnonzero(members == idol)
    if style in (0, 1) and len(here):
        shares[here[0]] = float(style == 0 or (members < k).sum() <= (size - 1) // 2)
    elif style == 2:
        shares[rng.integers(size)] = 1.0
    else:
        shares = rng.dirichlet(np.full(size, CONCENTRATIONS[style % len(CONCENTRATIONS)]))
        if rng.random() < 0.3:
            shares *= rng.random()
    return shares


def random_world(n: int, k: int, rng: Generator, least_gap: float = LEAST_GAP) -> Floats:
    """Draw a world: P(.|s*) from equal to very skewed, and the slack of each set in a random style."""
    rows = np.zeros((len(sets_of(n, k)), k))
    most = 1.0 if rng.random() < 0.5 else rng.uniform(min(1.0, 2.0 * k * least_gap), 1.0)
    concentration = CONCENTRATIONS[rng.integers(len(CONCENTRATIONS))]
    shares = np.full(k, 1.0 / k) if rng.random() < 0.3 else rng.dirichlet(np.full(k, concentration))
    rows[0] = least_gap + (most - k * least_gap) * shares
    rows = repaired(rows, n, k, least_gap)
    idol = int(rng.integers(k, n))
    style = int(rng.integers(3 + len(CONCENTRATIONS)))
    for row, members in list(enumerate(sets_of(n, k)))[1:]:
        own = style if rng.random() < 0.8 else int(rng.integers(3 + len(CONCENTRATIONS)))
        rows[row] = given_slack(rows[0], members, random_shares(members, k, idol, own, rng), least_gap)
    return repaired(rows, n, k, least_gap)


def mutate(rows: Floats, n: int, k: int, rng: Generator, least_gap: float = LEAST_GAP) -> Floats:
    """Return a world near this one: change the best set, one bad arm in most of its sets, or one or two sets."""
    new = np.array(rows)
    sets = sets_of(n, k)
    kind = rng.random()
    if kind < 0.25:
        new[0] += rng.normal(0.0, 0.1, k) * (rng.random(k) < 0.6)
    elif kind < 0.4:
        idol = int(rng.integers(k, n))
        style = int(rng.integers(2))
        for row, members in enumerate(sets):
            if idol in members and rng.random() < 0.7:
                new[row] = given_slack(new[0], members, random_shares(members, k, idol, style, rng), least_gap)
    else:
        for row in rng.integers(1, len(sets), size=1 + int(rng.integers(2))):
            style = int(rng.integers(2, 3 + len(CONCENTRATIONS)))
            shares = random_shares(sets[row], k, -1, style, rng)
            part = 1.0 if rng.random() < 0.4 else rng.random()
            new[row] = (1.0 - part) * new[row] + part * given_slack(new[0], sets[row], shares, least_gap)
    return repaired(np.maximum(new, 0.0), n, k, least_gap)


def crafted(n: int, k: int, least_gap: float = LEAST_GAP) -> dict[str, Floats]:
    """Return worlds made by hand, each for a way in which a policy could fail.

    even: all optimal arms alike, and bad arms worse by the gap alone
    rare: an optimal arm rewarded as rarely as the gap allows
    certain: an optimal arm that is nearly always rewarded, and bad arms in its place nearly as often
    unlucky: an optimal arm of mean 0.65, which a bad start is most likely to bring below a bad arm of 0.6 for good
    idol: a bad arm that has all the slack of every set
    fallen: a bad arm that shines in sets with few optimal arms, and gets nothing in sets with many
    relay: unequal optimal arms; of the bad arms in a set only the first shines
    levels: unequal optimal arms; bad arms shine only where the best optimal arm is missing, and get nothing elsewhere
    """

    def to_bad(members: Ints) -> Any:
        return (members >= k) / max(1, int((members >= k).sum()))

    def to_first_bad(members: Ints) -> Any:
        return np.arange(k) == np.argmax(members >= k)

    def to_idol(members: Ints) -> Any:
        return members == k if k in members else to_bad(members)

    def to_fallen(members: Ints) -> Any:
        few = int((members < k).sum()) <= (k - 1) // 2
        return (members == k) & few if k in members else to_bad(members)

    def where_first_is_missing(members: Ints) -> Any:
        return to_first_bad(members) & (0 not in members)

    first = np.arange(k) == 0
    spare = 1.0 - k * least_gap
    equal = np.full(k, 1.0 / k)
    halved = least_gap + spare * 0.5 ** np.arange(1, k + 1)
    plans: dict[str, tuple[Any, Any]] = {
        "even": (equal, to_bad),
        "rare": (np.where(np.arange(k) < k - 1, 0.5 / max(1, k - 1), least_gap), to_first_bad),
        "certain": (least_gap + spare * first, to_first_bad),
        "unlucky": (np.where(first, 0.65, 0.3 / max(1, k - 1)), to_first_bad),
        "idol": (equal, to_idol),
        "fallen": (equal, to_fallen),
        "relay": (halved, to_first_bad),
        "levels": (halved, where_first_is_missing),
    }
    sets = sets_of(n, k)
    worlds = {}
    for name, (best, shares) in plans.items():
        lawful = repaired(np.vstack([best, np.zeros((len(sets) - 1, k))]), n, k, least_gap)[0]
        others = [given_slack(lawful, members, shares(members), least_gap) for members in sets[1:]]
        worlds[name] = repaired(np.vstack([lawful, *others]), n, k, least_gap)
    return worlds


def chosen_worlds(quick: bool = False) -> dict[str, Any]:
    """Return the trap and the worlds made by hand in which policies are verified, by label."""
    wanted = [(4, 2, "even")] if quick else [(4, 2, "even"), (6, 3, "even"), (6, 3, "fallen")]
    by_hand = {f"crafted: {name}, n = {n}": Table(crafted(n, k)[name]) for n, k, name in wanted}
    return {"trap, n = 10": Table(PRESETS["trap"]().probabilities), **by_hand}


def stuck(result: Result, world: Any) -> list[float]:
    """Return the per cent of runs that lose, in the second half, at least half the least gap a round."""
    half = int(result.rounds[-2])
    slope = (result.regret[:, -1] - result.regret[:, -2]) / (result.horizon - half)
    count = int((slope >= world.gaps()[0] / 2.0).sum())
    return [100.0 * end for end in share_interval(count, result.runs)]
