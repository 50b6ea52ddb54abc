"""Ranking-based choice: every customer has a ranking of the arms and chooses the first that is offered.

    P(a|s) = sum of w_r over the rankings r in which a is the first of s

A ranking lists the arms that are preferred to the outside option, choosing nothing; a customer who finds none of them
offered chooses nothing. Any model in which customers prefer what they prefer whatever is offered has this form. Data:
the strict complete orders of PrefLib, see `Rankings.from_soc`.

Farias, Jagabathula, Shah 2013, "A nonparametric approach to modeling choice with limited data"; Mattei, Walsh 2013,
"PrefLib: a library for preferences".
"""

import math
import os
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import array, check_list, check_names, check_range, check_sizes, environment, shown, whole_number
from setwise.environments.best_set import check_best_set
from setwise.environments.enumeration import best_by_enumeration, gaps_by_enumeration
from setwise.environments.preflib import parse_soc
from setwise.kernels.draws import draw_binary, draw_binary_many
from setwise.types import Feedback, Floats, Generator, InputError, Ints


def first_of_set(positions: Ints, row: int, chosen: Ints) -> int:
    """Which of the chosen arms the ranking of a row has first: its place in `chosen`, or -1 if it has none."""
    first = -1
    least = positions.shape[1]
    for j in range(len(chosen)):
        position = positions[row, chosen[j]]
        if position < least:
            least = position
            first = j
    return first


def draw_row(levels: Floats, rng: Generator) -> int:
    """The first row whose level is above a random number."""
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
    """The rankings; many of them are cut when they are printed."""

    def __repr__(self) -> str:
        if len(self) <= 4:
            return super().__repr__()
        return f"({', '.join(map(repr, self[:4]))}, ... {len(self)} rankings)"


@environment(
    title="Rankings",
    derived=("positions", "levels"),
    rewards="binary",
    bound=1.0,
    smaller_sets=True,
    weak_consistency="sometimes",
    total_order="sometimes",
)
class Rankings(NamedTuple):
    """Weighted rankings of the arms.

    rankings: for each kind of customer the arms that are preferred to the outside option, best first: numbers, or names
        if there are names; arms that are left out are never chosen
    weights: of the rankings, 0 or more; they are divided by their sum
    k: how many arms a set has
    n: how many arms there are, if that does not follow from the rankings or the names
    feedback: `choice`, the first of the ranking is rewarded; or `independent`, each arm by itself with that probability
    names: of the arms, if they have any
    best_set: the optimal set; found by enumeration if it is not given
    positions: of every arm in every ranking, from 0; n if it is not listed
    levels: the sums of the weights up to every ranking

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
        levels[np.flatnonzero(weights)[-1] :] = 1.0  # whatever the rounding, some ranking is drawn
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
        """The voters of a PrefLib file of strict complete orders (.soc), in its current or its older format.

        outside: how many alternatives each voter prefers to the outside option
        names: whether to name the arms as the file does

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
        """As `from_soc`, from a file."""
        with open(path, encoding="utf-8-sig") as file:
            try:
                text = file.read()
            except UnicodeDecodeError:
                raise InputError(f"Rankings: {os.fspath(path)} is not a text in UTF-8; save it as one") from None
        return cls.from_soc(text, k, outside, names, **options)

    @property
    def outside_option(self) -> bool:
        """Whether a round may reward no arm: not if each ranking is so long that every set has an arm of it."""
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

    def draw_many(self, chosen: Ints, rounds: int, rng: Generator, totals: Floats) -> None:
        self.means(chosen, totals)
        draw_binary_many(self.feedback, totals, rounds, rng, totals)

    def best(self) -> Ints:
        return np.array(self.best_set) if self.best_set is not None else best_by_enumeration(self)

    def gaps(self) -> tuple[float, float]:
        return gaps_by_enumeration(self)


def _numbers(rankings: Any, names: tuple[str, ...] | None) -> Lists:
    """The rankings as tuples of numbers of arms."""
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
    """The weights divided by their sum; those that add up to 1 are left as they are."""
    largest = weights.max(initial=0.0)
    if not largest > 0.0:
        raise InputError("Rankings: there is no weight that is more than 0; at least one has to be")
    if largest <= 1.0 and abs(math.fsum(weights) - 1.0) <= 1e-15:
        return weights
    scaled = weights / largest  # so that the sum is a float
    return np.asarray(scaled / math.fsum(scaled))
