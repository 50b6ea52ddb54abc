"""Ranking-based choice: every customer has a ranking of the arms and chooses the first one offered.

    P(a|s) = sum of w_r over the rankings r in which a is the first of s

A ranking lists the arms preferred to the outside option, choosing nothing; if none of them is offered, the customer
chooses nothing. Every model in which preferences do not depend on the offer has this form. Data: the strict complete
orders of PrefLib, see `Rankings.from_soc`.

Farias, Jagabathula, Shah 2013, "A nonparametric approach to modeling choice with limited data"; Mattei, Walsh 2013,
"PrefLib: a library for preferences".
"""

import math
import os
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.best_set import check_best_set
from setwise.environments.enumeration import best_by_enumeration, gaps_by_enumeration
from setwise.environments.preflib import parse_soc
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import array, check_list, check_names, check_range, check_sizes, shown, whole_number


def first_of_set(positions: Ints, row: int, chosen: Ints) -> int:
    """Return the place in `chosen` of the arm that the ranking of a row has first, or -1 if it has none."""
    first = -1
    least = positions.shape[1]
    for j in range(len(chosen)):
        position = positions[row, chosen[j]]
        if position < least:
            least = position
            first = j
    return first


def draw_row(levels: Floats, rng: Generator) -> int:
    """Draw a row: the first whose level is above a random number."""
    level = rng.random()
    low = 0
    high = len(levels) - 1
    while low < high:
        middle = (low + high) // 2
        if levels[middle] > level:
            high = middle
        else:
            low = middle + 1
    return low


class Lists(tuple[tuple[int, ...], ...]):
    """The rankings; `repr` shows only the first few of many."""

    def __repr__(self) -> str:
        if len(self) <= 4:
            return super().__repr__()
        return f"({', '.join(map(repr, self[:4]))}, ... {len(self)} rankings)"


@environment(
    title="Rankings",
    derived=("positions", "levels"),
    rewards="binary",
    smaller_sets=True,
)
class Rankings(NamedTuple):
    """Weighted rankings of the arms.

    rankings: for each kind of customer the arms preferred to the outside option, best first: numbers, or names if there
        are names; arms not listed are never chosen
    weights: of the rankings, 0 or more; normalised to sum 1
    k: the size of a set
    n: the number of arms, if it does not follow from the rankings or the names
    feedback: `choice`, the first of the ranking is rewarded; or `independent`, each arm independently, with the same
        probability
    names: of the arms, optional
    best_set: the optimal set; found by enumeration if not given
    positions: of every arm in every ranking, from 0; n if not listed
    levels: cumulative weights

    >>> world = Rankings([[0], [1, 0], [2]], [0.3, 0.3, 0.4], k=2)
    >>> world.best().tolist()
    [0, 2]
    """

    rankings: Any
    weights: Floats
    k: int
    n: int = 0
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None
    best_set: Any = None
    positions: Any = None
    levels: Any = None

    def check(self) -> dict[str, Any]:
        names = tuple(self.names) if np.iterable(self.names) and not isinstance(self.names, str) else self.names
        names = check_names(names, (self.n or len(names)) if isinstance(names, tuple) else 0)
        rankings = _numbers(self.rankings, names)
        largest = max((max(ranking, default=-1) for ranking in rankings), default=-1)
        n = self.n or (len(names) if names is not None else largest + 1)
        if n == 0:
            raise InputError("Rankings: no ranking has an arm; give n, the number of arms")
        n, k = check_sizes(n, self.k)
        if largest >= n:
            raise InputError(f"Rankings: arm {largest} is in a ranking, but there are {n} arms, numbered from 0")
        check_list("Rankings: weights", self.weights)
        if len(self.weights) != len(rankings):
            raise InputError(
                f"Rankings: there are {len(self.weights)} weights for {len(rankings)} rankings; give one for each"
            )
        check_range("Rankings: weights", self.weights, 0.0, np.finfo(np.float64).max)
        weights = _shares(self.weights)
        levels = np.minimum(np.cumsum(weights), 1.0)
        levels[np.flatnonzero(weights)[-1] :] = 1.0  # despite rounding, some ranking is always drawn
        positions = np.full((len(rankings), n), n)
        for row, ranking in enumerate(rankings):
            positions[row, list(ranking)] = np.arange(len(ranking))
        return {
            "rankings": rankings,
            "weights": array("weights", weights),
            "n": n,
            "names": names,
            "best_set": check_best_set("Rankings: best_set", self.best_set, n, k),
            "positions": array("positions", positions, np.int64),
            "levels": array("levels", levels),
        }

    @classmethod
    def from_soc(cls, text: str, k: int, outside: int, names: bool = True, **options: Any) -> "Rankings":
        """Return the voters of a PrefLib file of strict complete orders (.soc), in the current or the older format.

        outside: how many alternatives each voter prefers to the outside option
        names: whether to name the arms as in the file

        >>> Rankings.from_soc("3\\n1,tea\\n2,milk\\n3,rum\\n5,5,2\\n4,1,3,2\\n1,2,1,3\\n", k=1, outside=2).rankings
        ((0, 2), (1, 0))
        """
        found, orders = parse_soc(text)
        n, k = check_sizes(len(orders[0][1]), k)
        outside = whole_number("Rankings: outside", outside, 1)
        if outside > n - k:
            would_do = f"values from 1 to {n - k} would do" if k < n else f"no value would do unless k is less than {n}"
            raise InputError(
                f"Rankings: outside is {outside}, so that every set of {k} of the {n} alternatives has one that is "
                f"preferred to the outside option, and all sets are alike; {would_do}"
            )
        counts: dict[tuple[int, ...], int] = {}
        for count, order in orders:
            head = tuple(alternative - 1 for alternative in order[:outside])
            counts[head] = counts.get(head, 0) + count
        weights = np.array(list(counts.values()), dtype=np.float64)
        own = tuple(found[alternative] for alternative in sorted(found)) if names and found else None
        return cls(list(counts), weights, k, n, names=own, **options)

    @classmethod
    def read_soc(
        cls, path: "str | os.PathLike[str]", k: int, outside: int, names: bool = True, **options: Any
    ) -> "Rankings":
        """Read a file and parse it as `from_soc` does."""
        with open(path, encoding="utf-8-sig") as file:
            try:
                text = file.read()
            except UnicodeDecodeError:
                raise InputError(f"Rankings: {os.fspath(path)} is not a text in UTF-8; save it as one") from None
        return cls.from_soc(text, k, outside, names, **options)

    @property
    def outside_option(self) -> bool:
        """Whether a round may have no reward: not if every ranking is so long that each set has an arm of it."""
        return any(w > 0.0 and len(r) <= self.n - self.k for r, w in zip(self.rankings, self.weights, strict=True))

    def means(self, chosen: Ints, out: Floats) -> None:
        for j in range(len(chosen)):
            out[j] = 0.0
        for row in range(len(self.weights)):
            first = first_of_set(self.positions, row, chosen)
            if first >= 0:
                out[first] += self.weights[row]

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        if self.feedback == Feedback.independent:
            self.means(chosen, rewards)
            draw_binary(self.feedback, rewards, rng, rewards)
            return
        first = first_of_set(self.positions, draw_row(self.levels, rng), chosen)
        for j in range(len(chosen)):
            rewards[j] = 1.0 if j == first else 0.0

    def best(self) -> Ints:
        return np.array(self.best_set) if self.best_set is not None else best_by_enumeration(self)

    def gaps(self) -> tuple[float, float]:
        return gaps_by_enumeration(self)


def _numbers(rankings: Any, names: tuple[str, ...] | None) -> Lists:
    """Return the rankings as tuples of arm numbers."""
    if isinstance(rankings, str) or not np.iterable(rankings):
        raise InputError(f"Rankings: rankings is {shown(rankings)}; give a list of rankings, each a list of arms")
    arm_of = {name: arm for arm, name in enumerate(names or ())}
    result = []
    for row, ranking in enumerate(rankings):
        if isinstance(ranking, str) or not np.iterable(ranking):
            raise InputError(f"Rankings: ranking {row} is {shown(ranking)}; give a list of arms, best first, or []")
        given = tuple(ranking)
        for arm in given:
            if isinstance(arm, str) and arm not in arm_of:
                raise InputError(f"Rankings: ranking {row} has {arm!r}, which is not in names")
        arms = tuple(
            arm_of[arm] if isinstance(arm, str) else whole_number(f"Rankings: an arm of ranking {row}", arm, 0)
            for arm in given
        )
        if len(set(arms)) < len(arms):
            twice = next(arm for arm in arms if arms.count(arm) > 1)
            raise InputError(f"Rankings: ranking {row} has arm {twice} more than once; a ranking has each at most once")
        result.append(arms)
    return Lists(result)


def _shares(weights: Floats) -> Floats:
    """Normalise the weights; leave them unchanged if they add up to 1."""
    largest = weights.max(initial=0.0)
    if not largest > 0.0:
        raise InputError("Rankings: there is no weight that is more than 0; at least one has to be")
    if largest <= 1.0 and abs(math.fsum(weights) - 1.0) <= 1e-15:
        return weights
    scaled = weights / largest  # so that the sum does not overflow
    return np.asarray(scaled / math.fsum(scaled))
