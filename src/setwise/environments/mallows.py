"""Mallows model: a random ranking around a central one decides; its first offered item is chosen.

    P(r) is proportional to phi^d(r),  P(a|s) = P(a is the first in r of s and the outside option)

for the rankings r of the n arms and the outside option, where d(r) is the number of pairs that r and the central
ranking order differently (Kendall's distance).

Repeated insertion draws such a ranking: insert the items in the order of the central ranking, the i-th at place j <= i
with probability phi^(i - j) / (1 + phi + ... + phi^(i - 1)). P(a|s) follows exactly in O(n^2) from two functions of a
place p after i insertions: the probability that the first offered item is at p, and the probability that an offered
item that is first at p stays first to the end.

Mallows 1957, "Non-null ranking models. I"; repeated insertion: Doignon, Pekec, Regenwetter 2004, "The repeated
insertion model for rankings".
"""

from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.enumeration import MOST_SETS, gaps_by_enumeration, number_of_sets, tolerance_of
from setwise.environments.ordered import set_value
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import array, check_list, check_names, check_range, check_sizes, shown, whole_number


def find_offered(places: Ints, outside: int, chosen: Ints, offered: Ints) -> None:
    """Write for every place of the central ranking the position of its arm in `chosen`, k for outside, or -1."""
    for i in range(len(offered)):
        offered[i] = -1
    for j in range(len(chosen)):
        offered[places[chosen[j]]] = j
    offered[outside] = len(chosen)


def mallows_choice(places: Ints, outside: int, powers: Floats, sums: Floats, chosen: Ints, out: Floats) -> None:
    """Write P(a|s); for the parameters see the fields of `Mallows`.

    Of i items, the last inserted one is at place p or before with probability phi^(i - p) sums[p] / sums[i], and after
    p with sums[i - p] / sums[i]. Items before the first offered one and after the last do not matter.
    """
    k = len(chosen)
    offered = np.empty(len(places) + 1, np.int64)
    find_offered(places, outside, chosen, offered)
    begin = 0
    while offered[begin] < 0:
        begin += 1
    end = len(offered) - 1
    while offered[end] < 0:
        end -= 1
    first = np.zeros(end + 3)  # at p: the probability that the first offered item is at place p
    entered = np.zeros((k + 1, end + 3))  # at [j, p]: the probability that item j is inserted at place p as the first
    for p in range(1, begin + 2):
        first[p] = powers[begin + 1 - p] / sums[begin + 1]
        entered[offered[begin], p] = first[p]
    for size in range(begin + 2, end + 2):
        item = offered[size - 1]
        if item < 0:
            for p in range(size, 0, -1):
                moved = powers[size - p + 1] * sums[p - 1] * first[p - 1]
                first[p] = (sums[size - p] * first[p] + moved) / sums[size]
        else:
            behind = 0.0
            for p in range(size - 1, 0, -1):
                behind += first[p]
                entered[item, p] = powers[size - p] * behind / sums[size]
                first[p] = sums[size - p] * first[p] / sums[size] + entered[item, p]
    stays = first  # at p: the probability that an offered item that is first at place p stays first
    for p in range(len(stays)):
        stays[p] = 1.0
    for size in range(end + 1, begin, -1):
        item = offered[size - 1]
        if item >= 0 and item < k:
            total = 0.0
            for p in range(1, size + 1):
                total += entered[item, p] * stays[p]
            out[item] = total
        for p in range(1, size):
            kept = sums[size - p] * stays[p]
            if item < 0:
                kept += powers[size - p] * sums[p] * stays[p + 1]
            stays[p] = kept / sums[size]


def first_offered(places: Ints, outside: int, powers: Floats, sums: Floats, chosen: Ints, rng: Generator) -> int:
    """Draw a ranking and return the place in `chosen` of its first offered arm, or k for the outside option."""
    offered = np.empty(len(places) + 1, np.int64)
    find_offered(places, outside, chosen, offered)
    winner = -1
    place = 0  # of the winner, among the items inserted so far
    for i in range(len(offered)):
        if offered[i] < 0 and winner < 0:
            continue
        size = i + 1
        level = rng.random() * sums[size]
        if winner >= 0 and level >= powers[size - place] * sums[place]:
            continue  # inserted after the winner
        if offered[i] < 0:
            place += 1
            continue
        if winner < 0:
            place = size
        while place > 1 and level < powers[size - place + 1] * sums[place - 1]:
            place -= 1
        winner = offered[i]
    return winner


PROOF = (
    "if a is before b in the central ranking, exchanging them in a ranking that has b before a makes it more probable; "
    "so in any set the earlier arm has the larger probability, and replacing a rival by a later one never lowers that "
    "of an arm or of the outside option: the best set has the first k arms"
)


@environment(
    title="Mallows",
    derived=("places", "powers", "sums"),
    rewards="binary",
    smaller_sets=True,
    weak_consistency="always",
    total_order="always",
)
class Mallows(NamedTuple):
    """Rankings around a central one.

    center: the arms in the order of the central ranking, best first
    phi: dispersion, from 0 (always the central ranking) to 1 (all rankings equally likely)
    k: the size of a set
    outside: the number of arms before the outside option in the central ranking; all of them if not given
    feedback: `choice`, the first of the ranking is rewarded; or `independent`, each arm independently, with the same
        probability
    names: of the arms, optional
    places: of the arms in the central ranking with the outside option, from 0
    powers, sums: phi^i, and the sum of the first i powers

    >>> world = Mallows([2, 0, 1], phi=0.5, k=2, outside=1)
    >>> world.best().tolist()
    [2, 0]
    """

    center: Ints
    phi: float
    k: int
    outside: Any = None
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None
    places: Any = None
    powers: Any = None
    sums: Any = None

    def check(self) -> dict[str, Any]:
        check_list("Mallows: center", self.center)
        n, _ = check_sizes(len(self.center), self.k)
        if not np.array_equal(np.sort(self.center), np.arange(n)):
            raise InputError(
                f"Mallows: center is {shown(self.center.tolist())}; it has to have each arm from 0 to {n - 1} once"
            )
        check_range("Mallows: phi", self.phi, 0.0, 1.0)
        outside = n if self.outside is None else whole_number("Mallows: outside", self.outside)
        if not 0 <= outside <= n:
            raise InputError(
                f"Mallows: outside is {outside}; from 0 to {n} of the {n} arms can be before the outside option"
            )
        places = np.empty(n, np.int64)
        places[self.center] = np.arange(n) + (np.arange(n) >= outside)
        powers = np.array([self.phi**i for i in range(n + 2)])
        return {
            "outside": outside,
            "names": check_names(self.names, n),
            "places": array("places", places, np.int64),
            "powers": array("powers", powers),
            "sums": array("sums", np.concatenate([[0.0], np.cumsum(powers[:-1])])),
        }

    @property
    def n(self) -> int:
        return len(self.center)

    @property
    def outside_option(self) -> bool:
        """Whether a round may have no reward: not if every set surely has an arm ranked before the outside option."""
        return self.phi > 0.0 or int(self.outside) <= self.n - self.k

    @property
    def proof(self) -> str:
        """Why weak consistency and total order always hold; empty for phi = 0, where most sets tie."""
        return PROOF if self.phi > 0.0 else ""

    @property
    def merits(self) -> Floats:
        """The values that order the arms: see `proof`."""
        return np.zeros(self.n) if self.phi == 1.0 else -self.places.astype(np.float64)

    def means(self, chosen: Ints, out: Floats) -> None:
        mallows_choice(self.places, self.outside, self.powers, self.sums, chosen, out)

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        if self.feedback == Feedback.independent:
            self.means(chosen, rewards)
            draw_binary(self.feedback, rewards, rng, rewards)
            return
        winner = first_offered(self.places, self.outside, self.powers, self.sums, chosen, rng)
        for j in range(len(chosen)):
            rewards[j] = 1.0 if j == winner else 0.0

    def best(self) -> Ints:
        return np.array(self.center[: self.k])

    def gaps(self) -> tuple[float, float]:
        """Return the gaps to the second best set, whose last arm is the next in the ranking, and to the last k arms."""
        n, k, tie = self.n, self.k, tolerance_of(self)
        top = set_value(self, self.best())
        largest = top - set_value(self, self.center[n - k :])
        if largest <= tie:
            return 0.0, 0.0
        if self.phi == 0.0:
            return largest, largest  # all sets are worth 0 or 1
        least = top - set_value(self, np.append(self.center[: k - 1], self.center[k]))
        if least > tie or number_of_sets(self) > MOST_SETS:
            return (least if least > tie else 0.0), largest
        return gaps_by_enumeration(self)
