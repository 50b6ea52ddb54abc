"""Markov chain choice: a customer walks from arm to arm until one is offered, or leaves.

The walk begins at arm i with probability lambda_i and goes from arm i to arm j with probability rho_ij; the remaining
probability of either goes to the outside option. Offered arms and the outside option end the walk. Let O be the arms
not offered and z_o the expected number of visits to o. Then

    z = (I - rho_OO^T)^-1 lambda_O,  P(a|s) = lambda_a + sum of z_o rho_oa over o in O.

The system is solved by state elimination in O((n - k)^3). The pivot 1 - rho_oo is computed as the sum of the
probabilities to leave o (Grassmann, Taksar, Heyman 1985, "Regenerative analysis and steady state distributions for
Markov chains"). Without subtractions no pivoting is needed, and every component is accurate to rounding, even for very
long walks.

Blanchet, Gallego, Goyal 2016, "A Markov Chain Approximation to Choice Modeling".
"""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import environment
from setwise.environments.best_set import check_best_set, pick
from setwise.environments.enumeration import best_by_enumeration, gaps_by_enumeration
from setwise.kernels.draws import draw_binary
from setwise.types import Feedback, Floats, Generator, InputError, Ints
from setwise.validation import array, check_list, check_names, check_range, check_sizes, number, shown

ROUNDING = 1e-12  # a sum this close to 1 is meant to be 1
LEAST_WAY_OUT = 1e-300  # dividing by less may overflow
MOST_STEPS = 1000  # of a walk; the end of a longer one is drawn from its exact distribution


def absorption(transitions: Floats, leaks: Floats, arrivals: Floats, chosen: Ints, out: Floats) -> None:
    """Write the probability that the walk ends at each chosen arm."""
    n = len(arrivals)
    k = len(chosen)
    m = n - k
    offered = np.zeros(n, np.bool_)
    for j in range(k):
        offered[chosen[j]] = True
    rest = np.empty(m, np.int64)
    p = 0
    for i in range(n):
        if not offered[i]:
            rest[p] = i
            p += 1
    visits = np.empty(m)
    exits = np.empty(m)
    leaving = np.empty(m)
    between = np.empty((m, m))
    for p in range(m):
        visits[p] = arrivals[rest[p]]
        exits[p] = leaks[rest[p]]
        for j in range(k):
            exits[p] += transitions[rest[p], chosen[j]]
        for q in range(m):
            between[p, q] = transitions[rest[p], rest[q]]
    # Eliminate the states from p on: a path through them becomes one step; a path back to its start does not count.
    for p in range(m - 1, -1, -1):
        leaving[p] = exits[p]
        for q in range(p):
            leaving[p] += between[p, q]
        if leaving[p] < LEAST_WAY_OUT:
            continue
        exits[p] /= leaving[p]
        for q in range(p):
            between[p, q] /= leaving[p]
            visits[q] += visits[p] * between[p, q]
        for i in range(p):
            if between[i, p] > 0.0:
                exits[i] += between[i, p] * exits[p]
                for q in range(p):
                    between[i, q] += between[i, p] * between[p, q]
    for p in range(m):
        for i in range(p):
            visits[p] += visits[i] * between[i, p]
        visits[p] = visits[p] / leaving[p] if leaving[p] >= LEAST_WAY_OUT else 0.0
    for j in range(k):
        out[j] = arrivals[chosen[j]]
        for p in range(m):
            out[j] += visits[p] * transitions[rest[p], chosen[j]]


def walk(transitions: Floats, arrivals: Floats, chosen: Ints, rng: Generator) -> int:
    """Simulate a walk; return the arm at which it ends, n for the outside option, or its arm after `MOST_STEPS`."""
    n = len(arrivals)
    offered = np.zeros(n + 1, np.bool_)
    offered[n] = True
    for j in range(len(chosen)):
        offered[chosen[j]] = True
    at = pick(arrivals, rng.random())
    for _ in range(MOST_STEPS):
        if offered[at]:
            break
        at = pick(transitions[at], rng.random())
    return at


def closed_class(transitions: Floats, leaks: Floats) -> Ints:
    """Return the smallest set of arms that no walk ever leaves, from the reachability relation; empty if none."""
    n = len(leaks)
    reached = (transitions > 0.0) | np.eye(n, dtype=np.bool_)
    for _ in range(n.bit_length()):
        reached = reached.astype(np.float64) @ reached > 0.0
    trapped = ~reached[:, leaks > 0.0].any(axis=1)
    if not trapped.any():
        return np.zeros(0, np.int64)
    # Every arm reachable from a trapped arm is trapped and reaches no more, so the smallest reach is a closed class.
    return np.flatnonzero(reached[np.where(trapped, reached.sum(axis=1), n + 1).argmin()])


def without_rounding(what: str, shares: Floats, where: str) -> tuple[Floats, float]:
    """Return the shares and the rest of 1; raise an error if their sum is above 1, normalise it if close to 1."""
    total = math.fsum(shares)
    if total > 1.0 + ROUNDING:
        raise InputError(f"{what} adds up to {total:.10g}; give at most 1 in all, as {where} the outside option")
    if total < 1.0 - ROUNDING:
        return shares, 1.0 - total
    return (shares if abs(total - 1.0) < 1e-15 else shares / total), 0.0


@environment(
    title="Markov chain choice",
    derived=("leaks",),
    rewards="binary",
    smaller_sets=True,
)
class MarkovChain(NamedTuple):
    """Markov chain choice.

    arrivals: the probability that a walk begins at each arm; the rest of 1 goes to the outside option at once
    transitions: for every arm the probabilities to go from it to each arm, 0 to itself; the rest of 1 goes to the
        outside option
    k: the size of a set
    feedback: `choice`, at most one arm is rewarded; or `independent`, each independently, with the same probability
    names: of the arms, optional
    best_set: the optimal set; found by enumeration if not given

    Arms that lead only to one another would trap a walk unless one of them is offered. They raise an error if a set can
    exclude them all.

    >>> world = MarkovChain([0.1, 0.45, 0.45], [[0, 0, 0], [1, 0, 0], [0, 0, 0]], k=2)
    >>> world.best().tolist()
    [0, 2]
    """

    arrivals: Floats
    transitions: Floats
    k: int
    feedback: Feedback = Feedback.choice
    names: tuple[str, ...] | None = None
    best_set: Any = None
    leaks: Any = None

    def check(self) -> dict[str, Any]:
        check_list("MarkovChain: arrivals", self.arrivals)
        n, k = check_sizes(len(self.arrivals), self.k)
        check_range("MarkovChain: arrivals", self.arrivals, 0.0, 1.0)
        if self.transitions.shape != (n, n):
            raise InputError(
                f"MarkovChain: transitions has the shape {self.transitions.shape} for {n} arms; "
                f"give a row of {n} numbers for each of them"
            )
        check_range("MarkovChain: transitions", self.transitions, 0.0, 1.0)
        for arm in range(n):
            if self.transitions[arm, arm] > 0.0:
                raise InputError(
                    f"MarkovChain: transitions is {self.transitions[arm, arm]:g} at position {arm}, {arm}; "
                    "no arm leads to itself, so the diagonal has to be 0"
                )
        arrivals, _ = without_rounding("MarkovChain: arrivals", self.arrivals, "the rest arrives at")
        rows = [
            without_rounding(f"MarkovChain: row {arm} of transitions", row, "the rest goes to")
            for arm, row in enumerate(self.transitions)
        ]
        transitions = array("MarkovChain: transitions", [row for row, _ in rows])
        leaks = array("MarkovChain: leaks", [leak for _, leak in rows])
        closed = closed_class(transitions, leaks)
        if 0 < len(closed) <= n - k:
            raise InputError(
                f"MarkovChain: from the arms {shown(closed.tolist())} transitions lead only to one another, so a walk "
                f"among them never ends when other arms are offered; let one of their rows add up to less than 1, or "
                f"have k more than {n - len(closed)}"
            )
        return {
            "arrivals": array("MarkovChain: arrivals", arrivals),
            "transitions": transitions,
            "leaks": leaks,
            "names": check_names(self.names, n),
            "best_set": check_best_set("MarkovChain: best_set", self.best_set, n, k),
        }

    @classmethod
    def from_weights(cls, values: Any, k: int, outside: float = 1.0, **options: Any) -> "MarkovChain":
        """Return the chain with the choice probabilities of `MNL(values, k, outside)`.

        lambda_i = v_i / (v_0 + sum of all v),  rho_ij = v_j / (v_0 + sum of v_l over l != i)

        >>> MarkovChain.from_weights([1.0, 2.0], k=1).transitions.tolist()
        [[0.0, 0.6666666666666666], [0.5, 0.0]]
        """
        given, outside = array("MarkovChain: values", values), number("MarkovChain: outside", outside)
        check_list("MarkovChain: values", given)
        check_range("MarkovChain: values", given, 0.0, np.finfo(np.float64).max)
        check_range("MarkovChain: outside", outside, 0.0, np.finfo(np.float64).max, strict=True)
        largest = max(outside, given.max(initial=0.0))
        shares = given / largest
        arrivals = shares / math.fsum([outside / largest, *shares])
        transitions = np.zeros((len(shares), len(shares)))
        for arm in range(len(shares)):
            others = np.array(shares)
            others[arm] = 0.0
            total = math.fsum([outside / largest, *others])
            if total > 0.0:
                transitions[arm] = others / total
        return cls(arrivals, transitions, k, **options)

    @property
    def n(self) -> int:
        return len(self.arrivals)

    def means(self, chosen: Ints, out: Floats) -> None:
        absorption(self.transitions, self.leaks, self.arrivals, chosen, out)

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        start = self.arrivals
        if self.feedback == Feedback.choice:
            at = walk(self.transitions, self.arrivals, chosen, rng)
            ended = at == len(self.arrivals)
            for j in range(len(chosen)):
                rewards[j] = 0.0
                if chosen[j] == at:
                    rewards[j] = 1.0
                    ended = True
            if ended:
                return
            start = self.transitions[at]
        absorption(self.transitions, self.leaks, start, chosen, rewards)
        draw_binary(self.feedback, rewards, rng, rewards)

    def best(self) -> Ints:
        return best_by_enumeration(self) if self.best_set is None else np.array(self.best_set)

    def gaps(self) -> tuple[float, float]:
        return gaps_by_enumeration(self)
