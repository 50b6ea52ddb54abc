"""Policies that count pairwise wins, written plainly: every possible set is listed.

`allowed` says whether a set can be played in the current state, for some outcome of the random ties and draws; `facts`
returns the required state of the policy. Values that differ by less than TOLERANCE are ties.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-9

Arms = frozenset[int]


def winner_of(chosen: Sequence[int], rewards: Sequence[float]) -> int | None:
    """The arm that was rewarded, None if the outside option won."""
    rewarded = [arm for arm, reward in zip(chosen, rewards, strict=True) if reward > 0]
    return int(rewarded[0]) if rewarded else None


def largest(values: Mapping[int, float]) -> list[int]:
    """The keys of the largest value."""
    most = max(values.values())
    return [key for key, value in values.items() if value >= most - TOLERANCE]


def smallest(values: Mapping[int, float]) -> list[int]:
    """The keys of the smallest value."""
    return largest({key: -value for key, value in values.items()})


def top_sets(values: Mapping[int, float], size: int) -> set[Arms]:
    """Every set that has the largest values, ties broken in every way; of fewer arms if there are not so many."""
    if size >= len(values):
        return {frozenset(values)}
    if size <= 0:
        return {frozenset()}
    border = sorted(values.values(), reverse=True)[size - 1]
    above = frozenset(arm for arm, value in values.items() if value > border + TOLERANCE)
    tied = [arm for arm, value in values.items() if arm not in above and value >= border - TOLERANCE]
    return {above | frozenset(some) for some in combinations(tied, size - len(above))}


def fill(sets: Iterable[Arms], values: Mapping[int, float], size: int) -> set[Arms]:
    """Every set with arms of the largest values added to it until it has that size."""
    return {
        short | more
        for short in sets
        for more in top_sets({arm: value for arm, value in values.items() if arm not in short}, size - len(short))
    }


class Pairwise:
    """Counts of wins within pairs: W[i, j] is how often i was recorded as beating j.

    One winner beats every other arm of its set. If the outside option wins, the round counts and nothing is learnt.
    """

    def __init__(self, n: int, k: int, horizon: int) -> None:
        self.n = n
        self.k = k
        self.horizon = horizon
        self.everyone: Arms = frozenset(range(n))
        self.wins: NDArray[np.float64] = np.zeros((n, n))
        self.rounds = 0

    @property
    def t(self) -> int:
        """The number of the round at hand."""
        return self.rounds + 1

    def upper(self, i: int, j: int, alpha: float, unseen: float) -> float:
        """W_ij / N_ij + sqrt(alpha log t / N_ij), N_ij = W_ij + W_ji."""
        compared = self.wins[i, j] + self.wins[j, i]
        if compared == 0:
            return unseen
        return float(self.wins[i, j] / compared + math.sqrt(alpha * math.log(self.t) / compared))

    def selections(self) -> set[Arms]:
        """Every set that could be played now."""
        raise NotImplementedError

    def allowed(self, chosen: Sequence[int]) -> bool:
        arms = frozenset(int(arm) for arm in chosen)
        return len(arms) == len(chosen) and arms in self.selections()

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        self.rounds += 1
        winner = winner_of(chosen, rewards)
        if winner is not None:
            for loser in chosen:
                if loser != winner:
                    self.wins[winner, loser] += 1

    def facts(self) -> dict[str, NDArray[np.float64]]:
        return {"wins": self.wins, "rounds": np.array([self.rounds])}


class MaxMinUCB(Pairwise):
    """A set of arms that are hardest to beat for each other, chosen among the potential winners.

    u_ij is the upper bound on P(i beats j), infinite for a pair never seen. The potential winners C are the arms with
    u_ij > 1/2 against every other. The first arm is the one of C with the largest least bound within C; each further
    one has the largest least bound against the arms already taken, first from C, then from the rest. A single
    potential winner is played alone (padded, if sets have to have k arms).

    Reference: Saha, Gopalan, "Combinatorial bandits with relative feedback", NeurIPS 2019, MaxMin-UCB.
    """

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 0.51, pad: bool = True) -> None:
        super().__init__(n, k, horizon)
        self.alpha = alpha
        self.pad = pad

    def u(self, i: int, j: int) -> float:
        return self.upper(i, j, self.alpha, unseen=math.inf)

    def potential_winners(self, among: Arms) -> Arms:
        """The arms that may beat every other of these."""
        return frozenset(i for i in among if all(self.u(i, j) > 0.5 for j in among - {i}))

    def anchors(self, pool: Arms) -> list[int]:
        """The arms of the pool with the largest least bound against the others of the pool."""
        return largest({c: min((self.u(c, i) for i in pool - {c}), default=math.inf) for c in pool})

    def build(self, taken: Arms, pool: Arms, size: int) -> set[Arms]:
        """Every set made by adding, one by one, the arm of the pool with the largest least bound against the set."""
        left = pool - taken
        if len(taken) >= size or not left:
            return {taken}
        if not taken:
            following = self.anchors(pool)
        else:
            following = largest({c: min(self.u(c, i) for i in taken) for c in left})
        return {done for c in following for done in self.build(taken | {c}, pool, size)}

    def build_in_turn(self, taken: Arms, pools: Sequence[Arms], size: int) -> set[Arms]:
        sets = {taken}
        for pool in pools:
            sets = {done for short in sets for done in self.build(short, pool, size)}
        return sets

    def selections(self) -> set[Arms]:
        winners = self.potential_winners(self.everyone)
        if len(winners) == 1 and not self.pad:
            return {winners}
        return self.build_from_scratch(winners)

    def build_from_scratch(self, winners: Arms) -> set[Arms]:
        starts = self.anchors(winners) if winners else list(self.everyone)
        return {
            done
            for anchor in starts
            for done in self.build_in_turn(frozenset([anchor]), [winners, self.everyone], self.k)
        }


class RecMaxMinUCB(MaxMinUCB):
    """The best arm, then the best of the rest, and so on, as far as each is certain; the others as in MaxMin-UCB.

    While exactly one of the arms left may beat all the others left, it is taken. Then the set is built up from the
    potential winners among the arms left and, if they are too few, from all left; if none was taken before, it begins
    with their anchor.

    Reference: Saha, Gopalan, "Combinatorial bandits with relative feedback", NeurIPS 2019, Rec-MaxMin-UCB.
    """

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 0.51) -> None:
        super().__init__(n, k, horizon, alpha)

    def selections(self) -> set[Arms]:
        taken: Arms = frozenset()
        left = self.everyone
        while len(taken) < self.k:
            winners = self.potential_winners(left)
            if len(winners) != 1:
                break
            taken, left = taken | winners, left - winners
        if taken:
            return self.build_in_turn(taken, [winners, left], self.k)
        return self.build_from_scratch(winners)


def divergence_from_half(p: float) -> float:
    """kl(p, 1/2) = log 2 + p log p + (1 - p) log(1 - p), with 0 log 0 = 0."""
    return math.log(2) + sum(q * math.log(q) for q in (p, 1 - p) if q > 0)


class WinnerBeatsAll(Pairwise):
    """An anchor, and the arms that it has not clearly beaten.

    I_i is the sum over j with W_ij / N_ij <= 1/2 of N_ij kl(W_ij / N_ij, 1/2): the evidence that i is beaten. The arms
    with I_i <= log t + c take turns as the anchor, in the order of a queue that goes round; if there is none, the
    anchor is the arm of least I_i. The set is the anchor and those arms whose evidence against them from duels with
    the anchor alone is at most log t + c, least compared with it first; padded with the arms of least I_i. If the
    anchor wins, it beats every other arm; if another wins, it beats the anchor.

    queue, anchor: the order of the turns and the first anchor, which are drawn before the first round

    Reference: reconstruction in the style of Agarwal, Johnson, Agarwal, "Choice bandits", NeurIPS 2020.
    """

    def __init__(
        self,
        n: int,
        k: int,
        horizon: int,
        queue: Sequence[int],
        anchor: Sequence[int],
        c: float = 1.0,
        pad: bool = True,
    ) -> None:
        super().__init__(n, k, horizon)
        self.queue = list(queue)
        (self.first,) = anchor
        self.last: int | None = None
        self.c = c
        self.pad = pad

    def evidence(self, i: int, against: Iterable[int]) -> float:
        total = 0.0
        for j in against:
            compared = self.wins[i, j] + self.wins[j, i]
            if j != i and compared > 0 and self.wins[i, j] / compared <= 0.5:
                total += compared * divergence_from_half(self.wins[i, j] / compared)
        return total

    @property
    def level(self) -> float:
        return math.log(self.t) + self.c

    def unbeaten(self) -> list[int]:
        return [i for i in self.queue if self.evidence(i, self.everyone) <= self.level]

    def anchors(self) -> list[int]:
        """The arms that can be the anchor now."""
        if not self.unbeaten():
            return smallest({i: self.evidence(i, self.everyone) for i in self.everyone})
        if self.last is None:
            return [self.first]
        place = self.queue.index(self.last) + 1
        following = self.queue[place:] + self.queue[:place]
        return [next(i for i in following if i in self.unbeaten())]

    def sets_around(self, anchor: int) -> set[Arms]:
        others = self.everyone - {anchor}
        rivals = [i for i in others if self.evidence(i, [anchor]) <= self.level]
        compared = {i: -float(self.wins[i, anchor] + self.wins[anchor, i]) for i in rivals}
        sets = fill({frozenset([anchor])}, compared, self.k)
        if self.pad:
            sets = fill(sets, {i: -self.evidence(i, self.everyone) for i in others}, self.k)
        return sets

    def allowed(self, chosen: Sequence[int]) -> bool:
        anchor = int(chosen[0])
        arms = frozenset(int(arm) for arm in chosen)
        return len(arms) == len(chosen) and anchor in self.anchors() and arms in self.sets_around(anchor)

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        anchor = int(chosen[0])
        if self.unbeaten():
            (self.last,) = self.anchors()
        self.rounds += 1
        winner = winner_of(chosen, rewards)
        if winner == anchor:
            for loser in chosen[1:]:
                self.wins[anchor, loser] += 1
        elif winner is not None:
            self.wins[winner, anchor] += 1


class RUCB(Pairwise):
    """Relative upper confidence bound: an arm that may beat all, against those that most likely beat it.

    u_ij is the upper bound of MaxMin-UCB, but x / 0 is 1 wherever it stands. C holds the arms with u_ij >= 1/2 against
    every other. B is the last arm that was alone in C, as long as it stays in C. The first arm c is drawn from C (B
    with probability 1/2, the others of C share the rest; all with the same probability if there is no B), or from all
    arms if C is empty. It meets the k - 1 others of largest u_jc.

    Reference: Zoghi, Whiteson, Munos, de Rijke, "Relative upper confidence bound", ICML 2014.
    """

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 0.51) -> None:
        super().__init__(n, k, horizon)
        self.alpha = alpha
        self.hypothesis: int | None = None

    def u(self, i: int, j: int) -> float:
        return self.upper(i, j, self.alpha, unseen=2.0)

    def champions(self) -> Arms:
        return frozenset(i for i in self.everyone if all(self.u(i, j) >= 0.5 for j in self.everyone - {i}))

    def firsts(self) -> dict[int, float]:
        """With what probability each arm comes first."""
        champions = self.champions() or self.everyone
        if self.hypothesis is None or len(champions) == 1:
            return dict.fromkeys(champions, 1 / len(champions))
        return {c: 1 / 2 if c == self.hypothesis else 1 / (2 * (len(champions) - 1)) for c in champions}

    def sets_around(self, first: int) -> set[Arms]:
        return fill({frozenset([first])}, {j: self.u(j, first) for j in self.everyone - {first}}, self.k)

    def allowed(self, chosen: Sequence[int]) -> bool:
        first = int(chosen[0])
        arms = frozenset(int(arm) for arm in chosen)
        return len(arms) == len(chosen) and first in self.firsts() and arms in self.sets_around(first)

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        super().update(chosen, rewards)
        champions = self.champions()
        if self.hypothesis not in champions:
            self.hypothesis = None
        if len(champions) == 1:
            (self.hypothesis,) = champions

    def facts(self) -> dict[str, NDArray[np.float64]]:
        return {**super().facts(), "hypothesis": np.array([-1 if self.hypothesis is None else self.hypothesis])}


class MultiDueling(Pairwise):
    """All arms that may be best, unless one alone surely is.

    u_ij is the narrow bound, with alpha log t, v_ij the wide one, with beta alpha log t; both are 1 for a pair never
    seen. E and F are the arms with u_ij >= 1/2, v_ij >= 1/2 against every other. If E is one arm, it is played,
    otherwise F, and all arms if F is empty. For sets of k: E by the least u_ij, then F by the least v_ij, then the rest
    by the least u_ij.

    Reference: Brost, Seldin, Cox, Lioma, "Multi-dueling bandits and their application to online ranker evaluation",
    CIKM 2016.
    """

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 0.51, beta: float = 1.5, pad: bool = True) -> None:
        super().__init__(n, k, horizon)
        self.alpha = alpha
        self.beta = beta
        self.pad = pad

    def least(self, i: int, alpha: float) -> float:
        return min(self.upper(i, j, alpha, unseen=1.0) for j in self.everyone - {i})

    def selections(self) -> set[Arms]:
        narrow = {i: self.least(i, self.alpha) for i in self.everyone}
        wide = {i: self.least(i, self.alpha * self.beta) for i in self.everyone}
        few = {i: narrow[i] for i in self.everyone if narrow[i] >= 0.5}
        more = {i: wide[i] for i in self.everyone if wide[i] >= 0.5}
        if len(few) == 1 and not self.pad:
            return {frozenset(few)}
        sets = fill(fill({frozenset()}, few, self.k), more, self.k)
        if self.pad or not more:
            sets = fill(sets, narrow, self.k)
        return sets
