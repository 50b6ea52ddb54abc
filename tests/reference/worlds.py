"""The worlds of the paper's experiments, with arms numbered from 0.

Reference: Yang, Ren, Dhillon, Sanghavi, "Combinatorial Bandits without Total Order for Arms", 2021,
section 3 and the appendix on the experiment setup.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Feedback = Literal["choice", "independent"]
Number = Fraction | float

PAPER_VALUES = tuple(1 - 0.04 * i for i in range(1, 21))

CAMERA_NAMES = ("Nikon", "Canon", "Sony", "Digital Camera", "Keyboard", "Shoes")

# Percentage points by which the arm of the row is ahead of the arm of the column.
PREFERENCES = (
    (0, 2, 5, 10, 10, 20, 25, 30, 30, 30),
    (-2, 0, 5, 10, 10, 20, 25, 30, 30, 30),
    (-5, -5, 0, 45, 45, 45, 45, 45, 45, 45),
    (-10, -10, -45, 0, -30, 30, 0, 0, 0, 0),
    (-10, -10, -45, 30, 0, -30, 0, 0, 0, 0),
    (-20, -20, -45, -30, 30, 0, 0, 0, 0, 0),
    (-25, -25, -45, 0, 0, 0, 0, 0, 0, 0),
    (-30, -30, -45, 0, 0, 0, 0, 0, 0, 0),
    (-30, -30, -45, 0, 0, 0, 0, 0, 0, 0),
    (-30, -30, -45, 0, 0, 0, 0, 0, 0, 0),
)


@dataclass(frozen=True)
class World:
    """What each arm of a set earns.

    exact: P(a|s) aligned with the set, as Fractions where the world is a table written by hand.
    optimal: the best set where it is known in closed form; otherwise all sets are tried.
    winner: draws the place of the rewarded arm within the set, or None; without it P(a|s) decides.
    """

    n: int
    k: int
    exact: Callable[[Sequence[int]], Sequence[Number]]
    optimal: tuple[int, ...] | None = None
    winner: Callable[[Sequence[int], np.random.Generator], int | None] | None = None

    def probabilities(self, chosen: Sequence[int]) -> list[float]:
        """P(a|s) for every chosen arm."""
        return [float(p) for p in self.exact(chosen)]

    def value(self, chosen: Sequence[int]) -> Number:
        """Q(s), the sum of P(a|s) over the set, exact where the world is."""
        return sum(self.exact(chosen))

    def sets(self) -> list[tuple[int, ...]]:
        """All sets of k arms."""
        return list(combinations(range(self.n), self.k))

    def best(self) -> tuple[int, ...]:
        """The set with the largest Q, the first of them in case of a tie."""
        return self.optimal or max(self.sets(), key=self.value)

    def draw(self, chosen: Sequence[int], rng: np.random.Generator, feedback: Feedback) -> list[float]:
        """Rewards of one round: of at most one arm by 'choice', of each arm by itself if 'independent'."""
        if feedback == "independent":
            return [float(rng.random() < p) for p in self.probabilities(chosen)]
        if self.winner is None:
            place = categorical(self.probabilities(chosen), rng)
        else:
            place = self.winner(chosen, rng)
        return [float(i == place) for i in range(len(chosen))]


def categorical(probabilities: Sequence[float], rng: np.random.Generator) -> int | None:
    """The place drawn with these probabilities, None with what they leave of 1."""
    if sum(probabilities) > 1 + 1e-12:
        raise ValueError(f"one arm cannot be chosen when the probabilities sum to {sum(probabilities)}")
    left = rng.random()
    for place, p in enumerate(probabilities):
        left -= p
        if left < 0:
            return place
    return None


def gaps(world: World) -> dict[tuple[int, ...], Number]:
    """Q(s*) - Q(s) of every set but the best, by brute force."""
    best = world.best()
    optimum = world.value(best)
    return {s: optimum - world.value(s) for s in world.sets() if s != best}


def consistency_margin(world: World) -> Number:
    """The least P(a|s) - P(a|s*) over all other sets and the arms they share with s*, by brute force.

    Reference: Assumption 1, which holds when this is not negative.
    """
    best = world.best()
    floor = dict(zip(best, world.exact(best), strict=True))
    return min(
        p - floor[arm]
        for s in world.sets()
        if s != best
        for arm, p in zip(s, world.exact(s), strict=True)
        if arm in floor
    )


def largest(values: Sequence[float], k: int) -> tuple[int, ...]:
    """The arms of the k largest values, in increasing order."""
    return tuple(sorted(sorted(range(len(values)), key=lambda arm: -values[arm])[:k]))


def mnl(values: Sequence[float] = PAPER_VALUES, k: int = 10, outside: float = 1.0) -> World:
    """Multinomial logit, P(a|s) = v_a / (v_0 + sum of v over s); the k largest values are best.

    Reference: appendix, Multinomial Logit.
    """

    def exact(chosen: Sequence[int]) -> list[Number]:
        total = outside + sum(values[arm] for arm in chosen)
        return [values[arm] / total for arm in chosen]

    return World(len(values), k, exact, optimal=largest(values, k))


def random_utility(means: Sequence[float] = PAPER_VALUES, k: int = 5, outside: float = 2.0) -> World:
    """Gaussian random utilities, the arm with the highest is chosen unless the outside option is higher.

    P(a|s) = integral of phi(x - mu_a) Phi(x - mu_0) prod over the others b in s of Phi(x - mu_b) dx.

    Reference: appendix, Random Utility Model.
    """
    step = 0.02
    grid = np.arange(min(*means, outside) - 10, max(*means, outside) + 10, step)

    def below(mean: float) -> NDArray[np.float64]:
        return np.array([(1 + math.erf((x - mean) / math.sqrt(2))) / 2 for x in grid])

    def density(mean: float) -> NDArray[np.float64]:
        return np.array([math.exp(-((x - mean) ** 2) / 2) / math.sqrt(2 * math.pi) for x in grid])

    arm_below = [below(mean) for mean in means]
    arm_density = [density(mean) for mean in means]
    outside_below = below(outside)

    @cache
    def of_sorted(arms: tuple[int, ...]) -> dict[int, float]:
        table = {}
        for arm in arms:
            height = arm_density[arm] * outside_below
            for other in arms:
                if other != arm:
                    height = height * arm_below[other]
            # The height vanishes at both ends, where the trapezoid rule would halve it.
            table[arm] = step * float(height.sum())
        return table

    def exact(chosen: Sequence[int]) -> list[Number]:
        table = of_sorted(tuple(sorted(chosen)))
        return [table[arm] for arm in chosen]

    def winner(chosen: Sequence[int], rng: np.random.Generator) -> int | None:
        utilities = [means[arm] + rng.standard_normal() for arm in chosen]
        highest = max(range(len(chosen)), key=lambda place: utilities[place])
        return highest if utilities[highest] > outside + rng.standard_normal() else None

    return World(len(means), k, exact, winner=winner)


def preference_matrix() -> World:
    """Pairs of ten arms with a loop among the fourth, fifth and sixth.

    P(i|{i,j}) = (1 - p_0 + M_ij) / 2 with p_0 = 0.08 for the first two arms and 0.1 for any other pair.

    Reference: appendix, Preference Matrix.
    """

    def ahead(arm: int, other: int) -> Fraction:
        nothing = Fraction(8, 100) if {arm, other} == {0, 1} else Fraction(10, 100)
        return (1 - nothing + Fraction(PREFERENCES[arm][other], 100)) / 2

    def exact(chosen: Sequence[int]) -> list[Number]:
        first, second = chosen
        return [ahead(first, second), ahead(second, first)]

    return World(len(PREFERENCES), 2, exact)


def camera() -> World:
    """Three of six suggestions to a customer who looks for a camera.

    P(Digital Camera|s) = 0.85 - the sum of P over the other two; everything else has the same P in every set.

    Reference: section 3.4.
    """
    digital = CAMERA_NAMES.index("Digital Camera")
    fixed = {0: Fraction(35, 100), 1: Fraction(30, 100), 2: Fraction(25, 100)}
    fixed |= {4: Fraction(1, 100), 5: Fraction(1, 100)}

    def exact(chosen: Sequence[int]) -> list[Number]:
        others = sum(fixed[arm] for arm in chosen if arm != digital)
        return [Fraction(85, 100) - others if arm == digital else fixed[arm] for arm in chosen]

    return World(len(CAMERA_NAMES), 3, exact)


def random_weak(n: int, k: int, rng: np.random.Generator, margin: float = 0.0) -> World:
    """A random world in which the first k arms are best, by plain rejection.

    P(a|s*) ~ U(0, 1/k); in any other set P(a|s) ~ U(P(a|s*), 1/k) for an arm of s*, U(0, 1/k) for another,
    drawn again until the sum is at most Q(s*) - margin. The expected time is infinite: small cases only.

    Reference: appendix, Algorithm 2, whose loop is read as "draw first, then test".
    """
    best = tuple(range(k))
    floor = {arm: rng.uniform(0, 1 / k) for arm in best}
    if k < n and min(floor.values()) <= margin:
        raise ValueError(f"no world with margin {margin}: an arm of the best set earns {min(floor.values())}")
    table = {best: floor}
    for s in combinations(range(n), k):
        while s not in table:
            drawn = {arm: rng.uniform(floor.get(arm, 0.0), 1 / k) for arm in s}
            if sum(drawn.values()) <= sum(floor.values()) - margin:
                table[s] = drawn

    def exact(chosen: Sequence[int]) -> list[Number]:
        drawn = table[tuple(sorted(chosen))]
        return [drawn[arm] for arm in chosen]

    return World(n, k, exact)


def independent(values: Sequence[float], k: int) -> World:
    """Every arm has the same P(a|s) = v_a in every set; the k largest are best.

    Reference: section 3.3.
    """

    def exact(chosen: Sequence[int]) -> list[Number]:
        return [values[arm] for arm in chosen]

    return World(len(values), k, exact, optimal=largest(values, k))
