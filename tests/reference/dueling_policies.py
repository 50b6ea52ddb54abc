"""Policies made of duels or of other bandit algorithms, written plainly: every possible set is found.

`allowed` and `facts` are those of `pairwise_policies`. A reference is given the draws that its policy makes before
the first round; in the facts, nan stands for undetermined values.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from .pairwise_policies import RUCB, Arms, fill, largest, smallest, winner_of

Facts = dict[str, NDArray[np.float64]]


class Bandit:
    """A bandit algorithm for one arm a round: C / N + B sqrt(alpha log t / N), infinite for an arm never played."""

    def __init__(self, n: int, alpha: float, bound: float = 1.0) -> None:
        self.alpha = alpha
        self.bound = bound
        self.pulls: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
        self.reward: NDArray[np.float64] = np.zeros(n)

    def indices(self, t: int) -> dict[int, float]:
        values = {}
        for arm, (pulls, reward) in enumerate(zip(self.pulls.tolist(), self.reward.tolist(), strict=True)):
            values[arm] = math.inf
            if pulls:
                values[arm] = reward / pulls + self.bound * math.sqrt(self.alpha * math.log(t) / pulls)
        return values

    def learn(self, arm: int, reward: float) -> None:
        self.pulls[arm] += 1
        self.reward[arm] += reward


def without(values: Mapping[int, float], arms: Sequence[int]) -> dict[int, float]:
    return {arm: value for arm, value in values.items() if arm not in arms}


class Sparring:
    """One bandit for each place of the set; in random order each takes its best arm that is not taken yet.

    Reference: Ailon, Karnin, Joachims, "Reducing dueling bandits to cardinal bandits", ICML 2014, with k bandits in
    place of two and distinct arms.
    """

    def __init__(self, n: int, k: int, horizon: int, alpha: float = 0.51, bound: float = 1.0) -> None:
        self.k = k
        self.rounds = 0
        self.bandits = [Bandit(n, alpha, bound) for _ in range(k)]

    def allowed(self, chosen: Sequence[int]) -> bool:
        indices = [bandit.indices(self.rounds + 1) for bandit in self.bandits]
        return any(self._in_this_order(list(chosen), order, indices) for order in permutations(range(self.k)))

    @staticmethod
    def _in_this_order(chosen: list[int], order: Sequence[int], indices: list[dict[int, float]]) -> bool:
        taken: list[int] = []
        for place in order:
            if chosen[place] not in largest(without(indices[place], taken)):
                return False
            taken.append(chosen[place])
        return True

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        self.rounds += 1
        for bandit, arm, reward in zip(self.bandits, chosen, rewards, strict=True):
            bandit.learn(arm, reward)

    def facts(self) -> Facts:
        return {
            "pulls": np.array([bandit.pulls for bandit in self.bandits]),
            "reward": np.array([bandit.reward for bandit in self.bandits]),
            "rounds": np.array([self.rounds]),
        }


class SelfSparring:
    """Thompson sampling for every place: Beta(S + 1, F + 1) of all arms afresh, the largest not yet in the set.

    The winner has eta successes for each arm that it beat, each loser eta failures.

    Reference: Sui, Zhuang, Burdick, Yue, "Multi-dueling bandits with dependent arms", UAI 2017, IndSelfSparring, with
    distinct arms.
    """

    def __init__(self, n: int, k: int, horizon: int, eta: float = 1.0) -> None:
        self.n = n
        self.k = k
        self.eta = eta
        self.successes: NDArray[np.float64] = np.zeros(n)
        self.failures: NDArray[np.float64] = np.zeros(n)

    def allowed(self, chosen: Sequence[int]) -> bool:
        return len(chosen) == self.k == len(set(chosen)) and all(0 <= arm < self.n for arm in chosen)

    def sample(self, rng: np.random.Generator) -> list[int]:
        """One draw of the set, place by place."""
        chosen: list[int] = []
        for _ in range(self.k):
            theta = rng.beta(self.successes + 1, self.failures + 1)
            chosen.append(next(int(arm) for arm in np.argsort(-theta) if arm not in chosen))
        return chosen

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        winner = winner_of(chosen, rewards)
        if winner is None:
            return
        for loser in chosen:
            if loser != winner:
                self.successes[winner] += self.eta
                self.failures[loser] += self.eta

    def facts(self) -> Facts:
        return {"successes": self.successes, "failures": self.failures}


class InterleavedFilter:
    """A candidate duels all arms that are left, until it has beaten them all or one has beaten it.

    p_w is the share of duels that the candidate b won against w, c = sqrt(4 log(T n^2) / m) after m duels. Whenever all
    arms have had one more duel: an arm w with p_w - c > 1/2 is removed. If some w has p_w + c < 1/2, it becomes the
    candidate (of several, that of least p_w), after the old one was removed and, in IF2, all arms with p_w > 1/2, and
    all counts start again. For sets of k: the candidate and the k - 1 arms least compared with it; then the arms
    removed, the last one first, where those of larger p_w go first.

    candidate: the first one, which is drawn before the first round

    Reference: Yue, Broder, Kleinberg, Joachims, "The k-armed dueling bandits problem", JCSS 2012.
    """

    def __init__(self, n: int, k: int, horizon: int, candidate: Sequence[int], prune: bool = True) -> None:
        self.n = n
        self.k = k
        self.prune = prune
        self.confidence = math.log(horizon * n**2)
        self.rounds = 0
        self.candidates = list(candidate)  # one, unless lots were drawn and it was not seen yet
        self.left: set[int] = set(range(n))
        self.removed: list[list[int]] = []  # one by one, but together those between which lots were drawn
        self.start_again()

    def start_again(self) -> None:
        self.compared = dict.fromkeys(range(self.n), 0)
        self.won = dict.fromkeys(range(self.n), 0)
        self.turns = 0

    def share(self, arm: int) -> float:
        return self.won[arm] / self.compared[arm]

    def radius(self, arm: int) -> float:
        return math.sqrt(4 * self.confidence / self.compared[arm])

    def allowed(self, chosen: Sequence[int]) -> bool:
        first = int(chosen[0])
        if first not in self.candidates or len(set(chosen)) < self.k:
            return False
        sets = fill({frozenset([first])}, {arm: -self.compared[arm] for arm in self.left - {first}}, self.k)
        for together in reversed(self.removed):
            sets = fill(sets, dict.fromkeys(together, 0.0), self.k)
        return frozenset(int(arm) for arm in chosen) in sets

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        self.rounds += 1
        candidate = int(chosen[0])
        self.candidates = [candidate]
        rivals = self.left - {candidate}
        winner = winner_of(chosen, rewards)
        for arm in chosen[1:]:
            if arm in rivals and winner in (candidate, arm):
                self.compared[arm] += 1
                self.won[arm] += winner == candidate
        if rivals and min(self.compared[arm] for arm in rivals) > self.turns:
            self.turns = min(self.compared[arm] for arm in rivals)
            self.filter(candidate)

    def filter(self, candidate: int) -> None:
        rivals = self.left - {candidate}
        self.remove({arm for arm in rivals if self.share(arm) - self.radius(arm) > 0.5})
        better = {arm: self.share(arm) for arm in rivals if self.share(arm) + self.radius(arm) < 0.5}
        if better:
            if self.prune:
                self.remove({arm for arm in rivals & self.left if self.share(arm) > 0.5})
            self.left.remove(candidate)
            self.removed.append([candidate])
            self.candidates = smallest(better)
            self.start_again()

    def remove(self, arms: set[int]) -> None:
        """Remove these arms, those that the candidate beats most clearly first."""
        while arms:
            together = largest({arm: self.share(arm) for arm in arms})
            self.removed.append(together)
            self.left -= set(together)
            arms = arms - set(together)

    def facts(self) -> Facts:
        candidate = self.candidates[0] if len(self.candidates) == 1 else np.nan
        rivals = self.left - set(self.candidates)
        lost = {arm: self.won[arm] for arm in rivals}
        return {
            "candidate": np.array([candidate]),
            "active": np.array([np.nan if a in self.candidates[1:] else float(a in rivals) for a in range(self.n)]),
            "duels": known({arm: self.compared[arm] for arm in rivals}, self.n),
            "lost": known(lost, self.n),
            "gone": np.array([self.n - len(self.left)]),
            "rounds": np.array([self.rounds]),
        }


def known(values: Mapping[int, float], n: int) -> NDArray[np.float64]:
    """An array that is nan where no value is given."""
    return np.array([values.get(arm, np.nan) for arm in range(n)], dtype=float)


class BeatTheMean:
    """Every arm duels the average of the arms left; the worst goes when it is clearly below the best.

    The arm of fewest comparisons duels a random other; only its own record is kept. c = 3 gamma^2 sqrt(log(2 T n) / m)
    with m the fewest comparisons, 1 if there are none. If least share + c <= largest share - c, the worst arm is
    removed, and every comparison against it is struck from the records. For sets of more than two the others are
    those of fewest comparisons as well; then come the arms removed, the last one first.

    lots: drawn for the arms before the first round; of several worst arms the one of largest lot goes

    Reference: Yue, Joachims, "Beat the mean bandit", ICML 2011.
    """

    def __init__(self, n: int, k: int, horizon: int, lots: Sequence[float], gamma: float = 1.0) -> None:
        self.n = n
        self.lots = lots
        self.k = k
        self.gamma = gamma
        self.confidence = math.log(2 * horizon * n)
        self.rounds = 0
        self.left: Arms = frozenset(range(n))
        self.removed: list[int] = []
        self.compared: NDArray[np.float64] = np.zeros((n, n))
        self.won: NDArray[np.float64] = np.zeros((n, n))

    def allowed(self, chosen: Sequence[int]) -> bool:
        first = int(chosen[0])
        fewest = {arm: -float(self.compared[arm].sum()) for arm in self.left}
        if len(set(chosen)) < self.k or first not in largest(fewest):
            return False
        if self.k == 2:
            fewest = dict.fromkeys(fewest, 0.0)
        sets = fill({frozenset([first])}, fewest, self.k)
        sets = fill(sets, {arm: place for place, arm in enumerate(self.removed)}, self.k)
        return frozenset(int(arm) for arm in chosen) in sets

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        self.rounds += 1
        winner = winner_of(chosen, rewards)
        first = int(chosen[0])
        if winner is None or len(self.left) == 1:
            return
        for other in chosen[1:]:
            if other in self.left and winner in (first, other):
                self.compared[first, other] += 1
                self.won[first, other] += winner == first
        self.eliminate()

    def radius(self, fewest: float) -> float:
        return 3 * self.gamma**2 * math.sqrt(self.confidence / fewest)

    def eliminate(self) -> None:
        fewest = min(self.compared[arm].sum() for arm in self.left)
        if fewest == 0:
            return
        radius = self.radius(fewest)
        share = {arm: float(self.won[arm].sum() / self.compared[arm].sum()) for arm in self.left}
        if min(share.values()) + radius <= max(share.values()) - radius:
            worst = max(smallest(share), key=lambda arm: self.lots[arm])
            self.left -= {worst}
            self.removed.append(worst)
            self.compared[:, worst] = 0
            self.won[:, worst] = 0

    def facts(self) -> Facts:
        out = [arm for arm in range(self.n) if arm not in self.left]
        pair_duels, pair_wins = self.compared.copy(), self.won.copy()
        for table in (pair_duels, pair_wins):
            table[out, :] = np.nan
            table[:, out] = np.nan
        return {
            "active": np.array([float(arm in self.left) for arm in range(self.n)]),
            "pair_duels": pair_duels,
            "pair_wins": pair_wins,
            "duels": known({arm: self.compared[arm].sum() for arm in self.left}, self.n),
            "wins_of": known({arm: self.won[arm].sum() for arm in self.left}, self.n),
            "gone": np.array([len(self.removed)]),
            "rounds": np.array([self.rounds]),
        }


class BattlingDoubler:
    """A bandit plays against what it played in the epoch before; epochs have 1, 2, 4, ... steps.

    chosen[0] is the bandit's choice y. The others are drawn from L, its choices of the last epoch, as far as L has arms
    that are not in the set yet; chosen[1] is the first of them. Then come the arms of next best index. The bandit is
    told the duel of the first two, and restarts in every epoch; a round that another arm wins, or none, is no step.

    before: how often each arm is in the first L, which is drawn before the first round

    Reference: Saha, Gopalan, "Battle of bandits", UAI 2018, Battling-Doubler, with distinct arms.
    """

    def __init__(self, n: int, k: int, horizon: int, before: Sequence[int], alpha: float = 0.51) -> None:
        self.n = n
        self.k = k
        self.alpha = alpha
        self.before = list(before)
        self.length = 1
        self.bandit = Bandit(n, alpha)

    @property
    def steps(self) -> int:
        return int(self.bandit.pulls.sum())

    def allowed(self, chosen: Sequence[int]) -> bool:
        first, second = int(chosen[0]), int(chosen[1])
        indices = self.bandit.indices(self.steps + 1)
        rest = without(indices, [first])
        if first not in largest(indices) or len(set(chosen)) < self.k:
            return False
        opponents = {arm: 0.0 for arm in rest if self.before[arm] > 0}
        if second not in (opponents or largest(rest)):
            return False
        sets = fill({frozenset([first, second])}, opponents, self.k)
        return frozenset(int(arm) for arm in chosen) in fill(sets, rest, self.k)

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        first, second = int(chosen[0]), int(chosen[1])
        winner = winner_of(chosen, rewards)
        if winner in (first, second):
            self.bandit.learn(first, float(winner == first))
        if self.steps == self.length:
            self.before = self.bandit.pulls.tolist()
            self.length *= 2
            self.bandit = Bandit(self.n, self.alpha)

    def facts(self) -> Facts:
        return {
            "pulls": self.bandit.pulls,
            "reward": self.bandit.reward,
            "before": np.array(self.before),
            "steps": np.array([self.steps]),
            "length": np.array([self.length]),
        }


class BattlingMultiSBM:
    """Every arm has a bandit of its own that looks for an arm to beat it; what it finds has the next turn.

    chosen[0] is the arm x whose turn it is, chosen[1] the choice y of its bandit among the other arms, and the others
    are those of its next best indices. The bandit of x is told a duel of the two, and then it is the turn of y; a round
    that another arm wins, or none, is no step.

    current: the arm that has the first turn, which is drawn before the first round

    Reference: Saha, Gopalan, "Battle of bandits", UAI 2018, Battling-MultiSBM, with distinct arms.
    """

    def __init__(self, n: int, k: int, horizon: int, current: Sequence[int], alpha: float = 0.51) -> None:
        self.k = k
        self.bandits = [Bandit(n, alpha) for _ in range(n)]
        (self.current,) = current

    def allowed(self, chosen: Sequence[int]) -> bool:
        x, y = int(chosen[0]), int(chosen[1])
        bandit = self.bandits[self.current]
        indices = without(bandit.indices(int(bandit.pulls.sum()) + 1), [self.current])
        if x != self.current or y not in largest(indices) or len(set(chosen)) < self.k:
            return False
        return frozenset(int(arm) for arm in chosen) in fill({frozenset([x, y])}, indices, self.k)

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        x, y = int(chosen[0]), int(chosen[1])
        winner = winner_of(chosen, rewards)
        if winner in (x, y):
            self.bandits[x].learn(y, float(winner == y))
            self.current = y

    def facts(self) -> Facts:
        return {
            "pulls": np.array([bandit.pulls for bandit in self.bandits]),
            "reward": np.array([bandit.reward for bandit in self.bandits]),
            "steps": np.array([bandit.pulls.sum() for bandit in self.bandits]),
            "current": np.array([self.current]),
        }


class BattlingDuel(RUCB):
    """The duel of a dueling algorithm, here RUCB, in the first two places; only its outcome is learnt.

    The other places have the arms j of next largest u_jc.

    Reference: Saha, Gopalan, "Battle of bandits", UAI 2018, Battling-Duel, with distinct arms.
    """

    def allowed(self, chosen: Sequence[int]) -> bool:
        first, second = int(chosen[0]), int(chosen[1])
        against = {j: self.u(j, first) for j in self.everyone - {first}}
        if first not in self.firsts() or second not in largest(against):
            return False
        return frozenset(chosen) in fill({frozenset([first, second])}, against, self.k)

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        super().update(chosen[:2], rewards[:2])
