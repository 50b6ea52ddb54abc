"""Preference matrix: pairs of arms, with a given margin of preference for each pair.

    P(a|{a,b}) = (1 - p_0 + M_ab) / 2

where M is antisymmetric and p_0 is the probability of the outside option, the same for all pairs or one for each.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.table import gaps_of_rows
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import array, check_names, check_range, check_sizes


@environment(
    title="Preference matrix",
    rewards="binary",
)
class PreferenceMatrix(NamedTuple):
    """Pairs of arms.

    matrix: M_ab, by how much a is preferred to b; the diagonal is ignored
    outside: p_0, a number or a symmetric matrix
    feedback: `choice`, at most one arm is rewarded; or `independent`, each independently
    names: of the arms, optional
    """

    matrix: Floats
    outside: Any
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None

    def check(self) -> dict[str, Any]:
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise InputError(f"PreferenceMatrix: matrix has the shape {self.matrix.shape}; it has to be square")
        n, _ = check_sizes(len(self.matrix), 2)
        outside = array("PreferenceMatrix: outside", np.broadcast_to(_square(self.outside, n), (n, n)))
        for a, b in itertools.combinations(range(n), 2):
            if abs(self.matrix[a, b] + self.matrix[b, a]) > 1e-12:
                raise InputError(
                    f"PreferenceMatrix: matrix is {self.matrix[a, b]:g} at ({a}, {b}) and {self.matrix[b, a]:g} at "
                    f"({b}, {a}); it has to be antisymmetric, so that the two add up to 0"
                )
            if outside[a, b] != outside[b, a]:
                raise InputError(
                    f"PreferenceMatrix: outside differs at ({a}, {b}) and ({b}, {a}); it has to be symmetric"
                )
            pair = [(1.0 - outside[a, b] + sign * self.matrix[a, b]) / 2.0 for sign in (1, -1)]
            check_range(f"PreferenceMatrix: the probability of an arm of the pair ({a}, {b})", min(pair), 0.0, 1.0)
            check_range(f"PreferenceMatrix: outside of the pair ({a}, {b})", outside[a, b], 0.0, 1.0)
        return {"outside": outside, "names": check_names(self.names, n)}

    @property
    def k(self) -> int:
        return 2

    @property
    def n(self) -> int:
        return len(self.matrix)

    @property
    def outside_option(self) -> bool:
        """Whether every pair may yield no reward."""
        return bool((self.outside[np.triu_indices(self.n, 1)] > 0.0).all())

    def means(self, chosen: Ints, out: Floats) -> None:
        a, b = chosen[0], chosen[1]
        some = 1.0 - self.outside[a, b]
        out[0] = (some + self.matrix[a, b]) / 2.0
        out[1] = (some + self.matrix[b, a]) / 2.0

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        self.means(chosen, rewards)
        draw_binary(self.feedback, rewards, rng, rewards)

    def best(self) -> Ints:
        pairs = np.argwhere(np.triu(np.ones_like(self.matrix), 1))
        return np.array(pairs[int(self.outside[pairs[:, 0], pairs[:, 1]].argmin())], dtype=np.int64)

    def gaps(self) -> tuple[float, float]:
        return gaps_of_rows(1.0 - self.outside[np.triu_indices(self.n, 1)])


def _square(outside: Any, n: int) -> Any:
    given = array("PreferenceMatrix: outside", outside)
    if given.shape not in ((), (n, n)):
        raise InputError(f"PreferenceMatrix: outside has the shape {given.shape}; give one number or {n} x {n}")
    return given
