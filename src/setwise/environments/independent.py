"""Independent rewards: an arm's reward does not depend on the set.

    P(a|s) = p_a

Each arm is drawn independently. With `choice` feedback at most one arm is rewarded, so the k largest p must not add up
to more than 1.
"""

from typing import Any, NamedTuple

from setwise.declare import environment
from setwise.environments.ordered import best_by_value, gaps_by_value, largest_values
from setwise.environments.table import check_choice, may_reward_none
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, Ints
from setwise.validation import check_list, check_names, check_range, check_sizes

PROOF = "P(a|s) is the same in all sets"


@environment(
    title="Independent rewards",
    rewards="binary",
    smaller_sets=True,
    weak_consistency="always",
    total_order="always",
    proof=PROOF,
)
class Independent(NamedTuple):
    """Independent rewards.

    values: the probability of every arm
    k: the size of a set
    feedback: `independent`, each arm is drawn independently; or `choice`, at most one is rewarded
    names: of the arms, optional
    """

    values: Floats
    k: int
    feedback: Feedback = Feedback.independent
    names: tuple[str, ...] | None = None

    def check(self) -> dict[str, Any]:
        check_list("Independent: values", self.values)
        check_sizes(len(self.values), self.k)
        check_range("Independent: values", self.values, 0.0, 1.0)
        check_choice("Independent", self.feedback, largest_values(self.values, self.k).sum(), "the k largest values")
        return {"names": check_names(self.names, len(self.values))}

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def outside_option(self) -> bool:
        """Whether every set may yield no reward."""
        return may_reward_none(self.feedback, largest_values(self.values, self.k).sum())

    @property
    def merits(self) -> Floats:
        """The values that order the arms: see `proof`."""
        return self.values

    def means(self, chosen: Ints, out: Floats) -> None:
        for j in range(len(chosen)):
            out[j] = self.values[chosen[j]]

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)
        draw_binary(self.feedback, rewards, rng, rewards)

    def best(self) -> Ints:
        return best_by_value(self.values, self.k)

    def gaps(self) -> tuple[float, float]:
        return gaps_by_value(self, self.values)
