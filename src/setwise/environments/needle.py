"""A needle in a haystack: one hidden set pays more, and other sets give no information about it.

    P(a|s) = base + bonus  if s is the hidden set,  base  otherwise

All other sets pay the same, so the arms of the hidden set look like any others until it is played. A policy that learns
arm by arm can find it among the C(n, k) sets only by chance.
"""

from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.best_set import check_best_set
from setwise.environments.table import check_choice, may_reward_none
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, Ints
from setwise.validation import array, check_names, check_range, check_sizes, number


@environment(
    title="Needle",
    derived=("hidden",),
    rewards="binary",
    total_order="always",
)
class Needle(NamedTuple):
    """One hidden set pays more.

    n, k: the number of arms, and the size of a set
    base: the probability of an arm in any other set; 1/(2k) if not given
    bonus: how much larger it is in the hidden set, more than 0; 1/(2k) if not given
    needle: the hidden set; the first k arms if not given
    feedback: `independent`, each arm is drawn independently; or `choice`, at most one is rewarded
    names: of the arms, optional
    hidden: for every arm, 1 if it is in the hidden set, else 0

    All arms of a set earn the same, so their order is total, with ties.

    >>> Needle(5, 2, needle=[1, 3]).gaps()
    (0.5, 0.5)
    """

    n: int
    k: int
    base: Any = None
    bonus: Any = None
    needle: Any = None
    feedback: Feedback = Feedback.independent
    names: tuple[str, ...] | None = None
    hidden: Any = None

    def check(self) -> dict[str, Any]:
        n, k = check_sizes(self.n, self.k)
        base = 0.5 / k if self.base is None else number("Needle: base", self.base)
        bonus = 0.5 / k if self.bonus is None else number("Needle: bonus", self.bonus)
        check_range("Needle: base", base, 0.0, 1.0)
        check_range("Needle: bonus", bonus, 0.0, 1.0, strict=True)
        check_range("Needle: base + bonus", base + bonus, 0.0, 1.0)
        check_choice("Needle", self.feedback, k * (base + bonus), "the probabilities of the hidden set")
        needle = check_best_set("Needle: needle", np.arange(k) if self.needle is None else self.needle, n, k)
        hidden = np.zeros(n, np.int64)
        hidden[needle] = 1
        return {
            "base": base,
            "bonus": bonus,
            "needle": needle,
            "names": check_names(self.names, n),
            "hidden": array("hidden", hidden, np.int64),
        }

    @property
    def outside_option(self) -> bool:
        """Whether every set may yield no reward."""
        return may_reward_none(self.feedback, self.k * (self.base + self.bonus))

    @property
    def weak_consistency(self) -> str:
        """Never: the arms of the hidden set earn less in others; always if no other set has any of them."""
        return "never" if 1 < self.k < self.n else "always"

    def means(self, chosen: Ints, out: Floats) -> None:
        found = 0
        for j in range(len(chosen)):
            found += self.hidden[chosen[j]]
        mean = self.base
        if found == len(chosen):
            mean += self.bonus
        for j in range(len(chosen)):
            out[j] = mean

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)
        draw_binary(self.feedback, rewards, rng, rewards)

    def best(self) -> Ints:
        return np.array(self.needle)

    def gaps(self) -> tuple[float, float]:
        gap = self.k * float(self.bonus) if self.k < self.n else 0.0
        return gap, gap
