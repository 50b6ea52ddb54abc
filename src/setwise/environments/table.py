"""Any P(a|s) whatever: a table with a row for every set.

The rows stand in the order of `itertools.combinations(range(n), k)`, and the columns in the order of the arms of the
set. The row of a set c_0 < ... < c_(k-1) is

    C(n, k) - 1 - sum over i of C(n - 1 - c_i, k - i).
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import array, check_names, check_range, check_sizes, environment, whole_number
from setwise.kernels.draws import draw_binary, draw_binary_many
from setwise.types import Feedback, Floats, Generator, InputError, Ints


def check_choice(what: str, feedback: Feedback, total: float, of: str) -> None:
    """Refuse `choice` feedback where the probabilities of a set add up to more than 1."""
    if feedback == Feedback.choice and total > 1.0 + 1e-9:
        raise InputError(
            f"{what}: {of} add up to {total:.6g}, but at most one arm is rewarded with feedback='choice': "
            "give probabilities that add up to at most 1, or feedback='independent'"
        )


def binomial_table(n: int, k: int) -> Ints:
    """C(m, j) for m < n and j <= k."""
    table = np.array([[math.comb(m, j) for j in range(k + 1)] for m in range(n)], dtype=np.int64)
    table.setflags(write=False)
    return table


def row_of(choose: Ints, sets: int, chosen: Ints) -> int:
    """The row of a set, whatever the order of its arms."""
    n = len(choose)
    k = len(chosen)
    row = sets - 1
    for j in range(k):
        row -= choose[n - 1 - chosen[j], k - rank_in_set(chosen, j)]
    return row


def rank_in_set(chosen: Ints, j: int) -> int:
    """How many arms of the set have a smaller number than the j-th."""
    rank = 0
    for i in range(len(chosen)):
        if chosen[i] < chosen[j]:
            rank += 1
    return rank


def table_means(choose: Ints, probabilities: Floats, chosen: Ints, out: Floats) -> None:
    """Write the row of the set, aligned with `chosen`."""
    row = row_of(choose, len(probabilities), chosen)
    for j in range(len(chosen)):
        out[j] = probabilities[row, rank_in_set(chosen, j)]


def set_of_row(n: int, k: int, row: int) -> Ints:
    """The arms of a row, in rising order."""
    chosen: list[int] = []
    arm = 0
    while len(chosen) < k:
        here = math.comb(n - 1 - arm, k - len(chosen) - 1)
        if row < here:
            chosen.append(arm)
        else:
            row -= here
        arm += 1
    return np.array(chosen, dtype=np.int64)


def gaps_of_rows(totals: Floats) -> tuple[float, float]:
    """The least positive and the largest gap; differences of the order of rounding are ties."""
    gaps = totals.max() - totals
    positive = gaps[gaps > 1e-12]
    return (float(positive.min()), float(gaps.max())) if positive.size else (0.0, 0.0)


@environment(
    title="Table",
    derived=("k", "choose"),
    rewards="binary",
    bound=1.0,
    outside_option=True,
    total_order="sometimes",
)
class Table(NamedTuple):
    """A world given set by set.

    probabilities: a mapping from tuples of arms (numbers, or names if there are names) to their probabilities in the
        same order; or an array with a row for every set, in the order of `itertools.combinations`
    n: how many arms there are, if that does not follow from the table
    feedback: `choice`, at most one arm is rewarded; or `independent`, each by itself
    names: of the arms, if they have any

    >>> world = Table({(0, 1): (0.3, 0.3), (0, 2): (0.6, 0.4), (1, 2): (0.3, 0.4)})
    >>> world.n, world.k, world.best().tolist()
    (3, 2, [0, 2])
    """

    probabilities: Any
    n: int = 0
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None
    k: int = 0
    choose: Any = None

    def check(self) -> dict[str, Any]:
        if isinstance(self.probabilities, Mapping):
            n, k, rows = _rows_of_mapping(self.probabilities, self.n, self.names)
        else:
            rows = array("Table: probabilities", self.probabilities)
            if rows.ndim != 2:
                raise InputError(f"Table: probabilities has {rows.ndim} dimensions; give a row for every set")
            k = whole_number("Table: the number of probabilities of a set", rows.shape[1], 1)
            n = self.n or _arms_of_rows(len(rows), k)
            check_sizes(n, k)
            if math.comb(n, k) != len(rows):
                raise InputError(f"Table: there are {len(rows)} rows for the {math.comb(n, k)} sets of {k} of {n} arms")
        check_range("Table: probabilities", rows, 0.0, 1.0)
        worst = int(rows.sum(axis=1).argmax())
        check_choice("Table", self.feedback, rows[worst].sum(), f"those of the set {set_of_row(n, k, worst).tolist()}")
        return {
            "probabilities": rows,
            "n": n,
            "k": k,
            "choose": binomial_table(n, k),
            "names": check_names(self.names, n),
        }

    def means(self, chosen: Ints, out: Floats) -> None:
        table_means(self.choose, self.probabilities, chosen, out)

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        table_means(self.choose, self.probabilities, chosen, rewards)
        draw_binary(self.feedback, rewards, rng, rewards)

    def draw_many(self, chosen: Ints, rounds: int, rng: Generator, totals: Floats) -> None:
        table_means(self.choose, self.probabilities, chosen, totals)
        draw_binary_many(self.feedback, totals, rounds, rng, totals)

    def best(self) -> Ints:
        return set_of_row(self.n, self.k, int(self.probabilities.sum(axis=1).argmax()))

    def gaps(self) -> tuple[float, float]:
        return gaps_of_rows(self.probabilities.sum(axis=1))


def _arms_of_rows(rows: int, k: int) -> int:
    n = max(k, 1)
    while math.comb(n, k) < rows:
        n += 1
    return n


def _rows_of_mapping(mapping: Mapping[Any, Any], n: int, names: Any) -> tuple[int, int, Floats]:
    """n, k and the rows of a table given as a mapping."""
    if not mapping:
        raise InputError("Table: the mapping is empty; give the probabilities of every set")
    numbers = {name: arm for arm, name in enumerate(names)} if names is not None else {}
    found: dict[tuple[int, ...], dict[int, float]] = {}
    for key in mapping:
        if not isinstance(key, tuple) or not key:
            raise InputError(f"Table: {key!r} is not a set; the keys of the mapping are tuples of arms, such as (0, 1)")
    k = len(next(iter(mapping)))
    for key, given in mapping.items():
        values = array(f"Table: the probabilities of {key}", given)
        if any(isinstance(arm, str) and arm not in numbers for arm in key):
            unknown = next(arm for arm in key if isinstance(arm, str) and arm not in numbers)
            raise InputError(f"Table: the set {key} has {unknown!r}, which is not in names")
        arms = [
            numbers[arm] if isinstance(arm, str) else whole_number(f"Table: an arm of {key}", arm, 0) for arm in key
        ]
        if len(arms) != k or len(set(arms)) != k or values.shape != (k,):
            raise InputError(
                f"Table: the set {key} has {values.size} probabilities; every set is {k} distinct arms, each with one"
            )
        if tuple(sorted(arms)) in found:
            raise InputError(f"Table: the set {tuple(sorted(arms))} is given twice")
        found[tuple(sorted(arms))] = dict(zip(arms, values.tolist(), strict=True))
    largest = max(max(arms) for arms in found)
    n = n or (len(names) if names is not None else largest + 1)
    n, k = check_sizes(n, k)
    if largest >= n:
        raise InputError(f"Table: arm {largest} is in the table, but there are {n} arms, numbered from 0")
    rows = np.empty((math.comb(n, k), k))
    for row, members in enumerate(itertools.combinations(range(n), k)):
        if members not in found:
            raise InputError(f"Table: the set {members} is missing; a table has all {len(rows)} sets of {k} of {n}")
        rows[row] = [found[members][arm] for arm in members]
    rows.setflags(write=False)
    return n, k, rows
