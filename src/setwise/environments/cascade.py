"""Cascading clicks: a visitor looks from the first position on, clicks the first arm that attracts, and stops.

    P(a_l|s) = w(a_l) Prod over i < l of (1 - w(a_i))

for a set in the order a_1, ..., a_k, where w is the attraction of an arm. At most one arm is clicked. The arms below
the click were not looked at, so whether they attract is not observed. The reward of an arm depends on the order, the
reward of the set does not:

    Q(s) = 1 - Prod over a in s of (1 - w(a))

Craswell, Zoeter, Taylor, Ramsey 2008, "An experimental comparison of click position-bias models"; Kveton,
Szepesvari, Wen, Ashkan 2015, "Cascading bandits: learning to rank in the cascade model".
"""

import math
from typing import Any, NamedTuple

from setwise.declare import environment
from setwise.environments.ordered import best_by_value, gaps_by_value, largest_values, set_value
from setwise.environments.table import may_reward_none
from setwise.kernels.draws import draw_binary, draw_binary_many
from setwise.types import Feedback, Floats, Generator, Ints
from setwise.validation import check_list, check_names, check_range, check_sizes


@environment(
    title="Cascading clicks",
    feedback="choice",
    rewards="binary",
    smaller_sets=True,
    ordered_sets=True,
)
class Cascade(NamedTuple):
    """At most one click, on the first arm that attracts.

    attraction: of every arm, the probability of a click if it is looked at
    k: the size of a set; its first arm is in the first position
    missing: whether the rewards below the click are not observed (NaN), as in the publication; if not, they are 0
    names: of the arms, optional

    >>> world = Cascade([0.5, 0.2, 0.1], k=2)
    >>> world.best().tolist(), world.gaps()
    ([0, 1], (0.04999999999999993, 0.31999999999999995))
    """

    attraction: Floats
    k: int
    missing: bool = True
    names: tuple[str, ...] | None = None

    def check(self) -> dict[str, Any]:
        check_list("Cascade: attraction", self.attraction)
        check_sizes(len(self.attraction), self.k)
        check_range("Cascade: attraction", self.attraction, 0.0, 1.0)
        return {"names": check_names(self.names, len(self.attraction))}

    @property
    def n(self) -> int:
        return len(self.attraction)

    @property
    def outside_option(self) -> bool:
        """Whether every set may yield no click."""
        return may_reward_none(Feedback.choice, set_value(self, self.best()))

    def means(self, chosen: Ints, out: Floats) -> None:
        looks = 1.0
        for j in range(len(chosen)):
            attraction = self.attraction[chosen[j]]
            out[j] = looks * attraction
            looks *= 1.0 - attraction

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)
        draw_binary(Feedback.choice, rewards, rng, rewards)
        if self.missing:
            clicked = False
            for j in range(len(chosen)):
                if clicked:
                    rewards[j] = math.nan
                elif rewards[j] > 0.0:
                    clicked = True

    def draw_many(self, chosen: Ints, rounds: int, rng: Generator, totals: Floats) -> None:
        """Write the number of clicks on each arm, observed or not."""
        self.means(chosen, totals)
        draw_binary_many(Feedback.choice, totals, rounds, rng, totals)

    def best(self) -> Ints:
        return best_by_value(self.attraction, self.k)

    def gaps(self) -> tuple[float, float]:
        """Return the least positive and the largest gap; an arm that is always clicked makes every set with it best."""
        least, largest = gaps_by_value(self, self.attraction)
        others = self.attraction[self.attraction < 1.0]
        if self.k <= len(others) < self.n:
            least = math.prod((1.0 - largest_values(others, self.k)).tolist())
        return least, largest
