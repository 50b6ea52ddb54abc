"""Arbitrary P(a|s): a table with a row for every set.

The rows are in the order of `itertools.combinations(range(n), k)`, the columns in the order of the arms of the set. A
table given as fractions also keeps the fractions, for exact checks.
"""

import itertools
import math
import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.kernels.draws import draw_binary
from setwise.kernels.sets import binomial_table, rank_in_set, row_of, set_of_row
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import array, check_names, check_range, check_sizes, whole_number


def check_choice(what: str, feedback: Feedback, total: float, of: str) -> None:
    """Raise an error for `choice` feedback if the probabilities of a set add up to more than 1."""
    if feedback == Feedback.choice and total > 1.0 + 1e-9:
        raise InputError(
            f"{what}: {of} add up to {total:.6g}, but at most one arm is rewarded with feedback='choice': "
            "give probabilities that add up to at most 1, or feedback='independent'"
        )


def table_means(choose: Ints, probabilities: Floats, chosen: Ints, out: Floats) -> None:
    """Write the row of the set, aligned with `chosen`."""
    row = row_of(choose, len(probabilities), chosen)
    for j in range(len(chosen)):
        out[j] = probabilities[row, rank_in_set(chosen, j)]


def gaps_of_rows(totals: Floats) -> tuple[float, float]:
    """Return the least positive and the largest gap; differences within rounding error are ties."""
    gaps = totals.max() - totals
    positive = gaps[gaps > 1e-12]
    return (float(positive.min()), float(gaps.max())) if positive.size else (0.0, 0.0)


@environment(
    title="Table",
    derived=("k", "choose", "exact"),
    rewards="binary",
)
class Table(NamedTuple):
    """A world given set by set.

    probabilities: a mapping from tuples of arms (numbers, or names if there are names) to their probabilities in the
        same order; or an array with a row for every set, in the order of `itertools.combinations`; floats, or fractions
        for exact checks
    n: the number of arms, if it does not follow from the table
    feedback: `choice`, at most one arm is rewarded; or `independent`, each independently
    names: of the arms, optional

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
    exact: Any = None

    def check(self) -> dict[str, Any]:
        if isinstance(self.probabilities, Mapping):
            n, k, rows, exact = _rows_of_mapping(self.probabilities, self.n, self.names)
        else:
            exact = _fractions(self.probabilities)
            rows = array("Table: probabilities", self.probabilities if exact is None else _floats(exact))
            if exact is None and self.exact is not None and np.array_equal(_floats(self.exact), rows):
                exact = self.exact  # made from another table
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
            "exact": exact,
            "names": check_names(self.names, n),
        }

    @property
    def outside_option(self) -> bool:
        """Whether every set may yield no reward."""
        return may_reward_none(self.feedback, self.probabilities.sum(axis=1).max())

    def means(self, chosen: Ints, out: Floats) -> None:
        table_means(self.choose, self.probabilities, chosen, out)

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        table_means(self.choose, self.probabilities, chosen, rewards)
        draw_binary(self.feedback, rewards, rng, rewards)

    def best(self) -> Ints:
        totals = self.probabilities.sum(axis=1) if self.exact is None else [sum(row) for row in self.exact]
        return set_of_row(self.n, self.k, max(range(len(totals)), key=totals.__getitem__))

    def gaps(self) -> tuple[float, float]:
        return gaps_of_rows(self.probabilities.sum(axis=1))


def may_reward_none(feedback: Feedback, largest: float) -> bool:
    """Return whether even the set with the largest sum of probabilities may yield no reward."""
    return bool(feedback == Feedback.independent or largest < 1.0 - 1e-12)


def _fractions(rows: Any) -> tuple[tuple[Any, ...], ...] | None:
    """Return the rows as fractions if all are rational and not all integers, else None."""
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        return None
    try:
        given = tuple(tuple(row) for row in rows)
    except TypeError:
        return None
    values = [value for row in given for value in row]
    if not all(isinstance(value, numbers.Rational) for value in values):
        return None
    if all(isinstance(value, numbers.Integral) for value in values):
        return None
    from fractions import Fraction

    return tuple(tuple(Fraction(value.numerator, value.denominator) for value in row) for row in given)


def _floats(exact: tuple[tuple[Any, ...], ...]) -> Any:
    return [[float(value) for value in row] for row in exact]


def _arms_of_rows(rows: int, k: int) -> int:
    n = max(k, 1)
    while math.comb(n, k) < rows:
        n += 1
    return n


def _rows_of_mapping(mapping: Mapping[Any, Any], n: int, names: Any) -> tuple[int, int, Floats, Any]:
    """Return n, k and the rows of a table given as a mapping, and the exact rows if they are fractions."""
    if not mapping:
        raise InputError("Table: the mapping is empty; give the probabilities of every set")
    arm_of = {name: arm for arm, name in enumerate(names)} if names is not None else {}
    found: dict[tuple[int, ...], dict[int, Any]] = {}
    rational = _fractions(mapping.values()) is not None
    fractions: list[tuple[Any, ...]] = []
    for key in mapping:
        if not isinstance(key, tuple) or not key:
            raise InputError(f"Table: {key!r} is not a set; the keys of the mapping are tuples of arms, such as (0, 1)")
    k = len(next(iter(mapping)))
    for key, given in mapping.items():
        exact = _fractions([given])
        values = array(f"Table: the probabilities of {key}", given if exact is None else _floats(exact)[0])
        if any(isinstance(arm, str) and arm not in arm_of for arm in key):
            unknown = next(arm for arm in key if isinstance(arm, str) and arm not in arm_of)
            raise InputError(f"Table: the set {key} has {unknown!r}, which is not in names")
        arms = [arm_of[arm] if isinstance(arm, str) else whole_number(f"Table: an arm of {key}", arm, 0) for arm in key]
        if len(arms) != k or len(set(arms)) != k or values.shape != (k,):
            raise InputError(
                f"Table: the set {key} has {values.size} probabilities; every set is {k} distinct arms, each with one"
            )
        if tuple(sorted(arms)) in found:
            raise InputError(f"Table: the set {tuple(sorted(arms))} is given twice")
        found[tuple(sorted(arms))] = dict(zip(arms, given if rational else values.tolist(), strict=True))
    largest = max(max(arms) for arms in found)
    n = n or (len(names) if names is not None else largest + 1)
    n, k = check_sizes(n, k)
    if largest >= n:
        raise InputError(f"Table: arm {largest} is in the table, but there are {n} arms, numbered from 0")
    rows = np.empty((math.comb(n, k), k))
    for row, members in enumerate(itertools.combinations(range(n), k)):
        if members not in found:
            raise InputError(f"Table: the set {members} is missing; a table has all {len(rows)} sets of {k} of {n}")
        rows[row] = [float(found[members][arm]) for arm in members]
        fractions.append(tuple(found[members][arm] for arm in members))
    rows.setflags(write=False)
    return n, k, rows, _fractions(fractions) if rational else None
