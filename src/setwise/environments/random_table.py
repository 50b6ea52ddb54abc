"""Random tables: without any structure, or breaking weak optimal set consistency by a chosen margin.

The margin of a table is the largest P(a|s*) - P(a|s) over the arms a of the best set s* and the other sets s with a. At
a margin of 0 the assumption holds, with equality.
"""

import itertools

import numpy as np

from setwise.environments.table import Table
from setwise.types import Generator, InputError, Ints
from setwise.validation import check_sizes, whole_number

LEAST_GAP = 0.05
LARGEST_SET = 12  # each of its arms earns at least the least gap, 0.6 in all
MOST_SETS = 100_000


def random_table(seed: int = 0, n: int = 7, k: int = 3) -> Table:
    """Draw a table without any structure: each set's total uniform, and divided among its arms uniformly."""
    rng, sets = _start("random_table", seed, n, k, 1)
    return Table(rng.random((len(sets), 1)) * rng.dirichlet(np.ones(k), len(sets)), n=n)


def broken_table(seed: int = 0, margin: float = 0.2, n: int = 7, k: int = 3) -> Table:
    """Draw a table of this margin; a seed gives the same table at all margins, except for what the margin takes.

    The best set is the first k arms and worth 0.6 to 1. In every other set, its arms earn less than in s* by the
    margin, or nothing, and the others share some of what is left below the value of s* minus the least gap.

    >>> broken_table(margin=0.1).best().tolist()
    [0, 1, 2]
    """
    rng, sets = _start("broken_table", seed, n, k, 2)
    if not 0.0 <= margin <= 1.0:
        raise InputError(f"broken_table: margin is {margin}; it lies between 0 and 1")
    if k > LARGEST_SET:
        raise InputError(f"broken_table: k is {k}; it can be at most {LARGEST_SET}")
    best = LEAST_GAP + (rng.uniform(0.6, 1.0) - k * LEAST_GAP) * rng.dirichlet(np.full(k, 3.0))
    rows = np.zeros((len(sets), k))
    rows[0] = best
    for row, members in list(enumerate(sets))[1:]:
        own = members < k
        part, shares = rng.uniform(0.3, 1.0), rng.dirichlet(np.ones(k))
        rows[row, own] = np.maximum(best[members[own]] - margin, 0.0)
        slack = best.sum() - LEAST_GAP - best[members[own]].sum()  # bad arms gain nothing from the margin
        rows[row, ~own] = slack * part * shares[~own] / shares[~own].sum()
    return Table(rows, n=n)


def _start(name: str, seed: int, n: int, k: int, stream: int) -> tuple[Generator, list[Ints]]:
    """Check the sizes; return a generator and the sets in the order of a table's rows."""
    seed = whole_number(f"{name}: seed", seed, 0)
    n, k = check_sizes(n, k)
    sets = list(itertools.islice(itertools.combinations(range(n), k), MOST_SETS + 1))
    if len(sets) > MOST_SETS:
        raise InputError(f"{name}: n is {n} and k is {k}, more than {MOST_SETS:,} sets; use fewer arms")
    return np.random.default_rng([seed, stream]), [np.array(members) for members in sets]
