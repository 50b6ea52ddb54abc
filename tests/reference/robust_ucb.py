"""Robust UCB from its docstring, with a dictionary of sets and no forgetting: plain and slow.

`index_of` has the index of an arm, `way` how a round is played, `posterior` the Beta law of a set's total, `explored`
the set of largest draw, `recommended` the best sets if the assumption is doubted, and `update` learns a round.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from setwise.kernels.beta_tails import crossing_bound, draw_beyond

from .index_policies import bernoulli_divergence, divergence_index

Arms = frozenset[int]
Laws = Mapping[Arms, tuple[float, float]]  # the parameters of every set's Beta law

REFUTED, HOLD, MOST_DOUBT, MOST_OF_SCATTERED = 5.0, 4.0, 4.0, 6.0
OFTEN_OF_SCATTERED, OFTEN_OF_FEW, OFTEN_OF_MANY = 50.0, 20.0, 5.0
CHALLENGES = 0.8
LEVEL = 8.0
FIRST_VARIANCE, LEAST_VARIANCE, LEAST_SPREAD, CAUTION = 0.01, 1e-5, 1e-3, 2.0
WEAKEST, STRONGEST, STRONGEST_OF_HANDFUL = 2.0, 2000.0, 5.0
HANDFUL, FEW_SETS, ALONE = 64, 1024, 16
MORE, EASY, LOOSE, AVERAGE = 3.0, 12.0, 16.0, 4.0
LEAST_MEAN = 0.02


class Seen(NamedTuple):
    """The rounds of a set: what each of its arms earned, and the total."""

    rewards: dict[int, list[float]]
    totals: list[float]


def kept(mean: float) -> float:
    """A mean, kept away from 0 and 1."""
    return min(max(mean, LEAST_MEAN), 1 - LEAST_MEAN)


class RobustUCB:
    """Play the arms of largest index, and explore sets in a share of the rounds."""

    def __init__(self, n: int, k: int, alpha: float = 1.0, exploration: float = 10.0, bound: float = 1.0) -> None:
        self.n, self.k = n, k
        self.alpha, self.exploration, self.bound = alpha, exploration, bound
        self.rounds, self.next_assessment = 0, 1
        self.chances, self.budgets = (0.0, 0.0), (0.0, 0.0)
        self.arms_of_level = n
        self.last = [0] * n
        self.out_of_reach: set[int] = set()
        self.rewards: list[list[float]] = [[] for _ in range(n)]
        self.sets: dict[Arms, Seen] = {}
        self.kept: dict[int, Arms] = {}
        self.tied: dict[int, list[Arms | None]] = {}
        self.evidence, self.threshold, self.refuted = 0.0, math.inf, False
        self.lower: dict[Arms, float] = {}
        self.sure, self.surest = 0.0, frozenset(range(k))
        self.scattered = self.handful()
        self.deviation = 0.0
        self.variance, self.least_variance = (FIRST_VARIANCE * bound**2,) * 2

    # Indices.

    def upper(self, rewards: Sequence[float], level: float) -> float:
        """The largest q with N kl(p, q) <= level for the rewards of N plays."""
        share = min(1.0, math.fsum(rewards) / (self.bound * len(rewards)))
        return self.bound * divergence_index(share, len(rewards), level)

    def optimistic(self, rewards: Sequence[float]) -> float:
        """U(p, N), with f(N) by the next power of two above the rounds played; added arms count from then on."""
        each = 2.0 ** max(self.rounds, 1).bit_length() * self.k / self.arms_of_level
        return self.upper(rewards, self.alpha * max(0.0, math.log(each / len(rewards))))

    def in_set(self, arm: int, members: Arms) -> float:
        """U of an arm in the company of one set."""
        return self.optimistic(self.sets[members].rewards[arm])

    def index_of(self, arm: int) -> float:
        """The lower of the bounds in all company and in that of the set kept for the arm."""
        if not self.rewards[arm]:
            return math.inf
        least = self.optimistic(self.rewards[arm])
        return min(least, self.in_set(arm, self.kept[arm])) if arm in self.kept else least

    def least_of(self, arm: int) -> float:
        """The least bound in all company and in any set."""
        own = [self.in_set(arm, members) for members in self.sets if arm in members]
        return min([self.optimistic(self.rewards[arm]), *own]) if own else math.inf

    # Learning.

    def update(self, chosen: Sequence[int], rewards: Sequence[float]) -> None:
        """Learn a round."""
        members = frozenset(chosen)
        if len(members) < self.k:
            return
        seen = self.sets.setdefault(members, Seen({arm: [] for arm in members}, []))
        seen.totals.append(math.fsum(rewards))
        for arm, reward in zip(chosen, rewards, strict=True):
            self.rewards[arm].append(reward)
            seen.rewards[arm].append(reward)
            self.last[arm] = self.rounds + 1
        self.out_of_reach -= members
        self.tied = {}
        for arm in members:
            self.keep(arm, members)
        assessed = self.rounds + 1 >= max(self.next_assessment, 0 if all(self.rewards) else self.n)
        if assessed and self.chances[0] < 1:
            self.leave_idle_out(self.rounds + 1)
        self.rounds += 1
        if self.rounds.bit_count() == 1:
            self.arms_of_level = self.n
        if assessed:
            self.assess()
            self.next_assessment = self.rounds + 1 + self.rounds // 32
        self.chances, self.budgets = self.share()

    def grow(self, n: int) -> None:
        """Add arms that were never played; all else is kept."""
        self.rewards += [[] for _ in range(n - self.n)]
        self.last += [0] * (n - self.n)
        self.n = n
        self.scattered = self.scattered_now()

    def leave_idle_out(self, rounds: int) -> None:
        """Leave out arms idle for a quarter of the rounds and n more, if they were to be played.

        That is, if it is above one of the k largest of the others, and they are no less than the surest set with it.
        Where they are less without it, arms of the surest set were to be played.
        """
        idle = [arm for arm in range(self.n) if rounds - self.last[arm] >= rounds // 4 + self.n]
        most = sorted(self.index_of(arm) for arm in range(self.n) if arm not in idle)[-self.k :]
        for arm in idle:
            index = self.index_of(arm)
            by_index = index > most[0] and math.fsum([*most[1:], index]) >= self.sure
            if by_index or (math.fsum(most) < self.sure and arm in self.surest):
                self.out_of_reach.add(arm)
        self.kept = {arm: members for arm, members in self.kept.items() if self.all_count(members)}

    def counts(self, arm: int) -> bool:
        """Whether an arm counts in the test."""
        return bool(self.rewards[arm]) and arm not in self.out_of_reach

    def keep(self, arm: int, members: Arms) -> None:
        """Keep the set just played for an arm, or not; `tied` has what may be kept where rounding decides."""
        kept = self.kept.pop(arm, None)
        own, least = self.in_set(arm, members), self.optimistic(self.rewards[arm])
        other = None if kept == members else kept
        if other is not None:
            least = min(least, self.in_set(arm, other))
        if abs(own - least) < 1e-12 * self.bound:
            self.tied[arm] = [members, other]
        winner = members if own < least else other
        if winner is not None:
            self.kept[arm] = winner

    def largest(self) -> float:
        """M, the largest total so far, or B."""
        most = max([self.bound, *(total for seen in self.sets.values() for total in seen.totals)])
        return most if most > self.bound * (1 + 1e-9) else self.bound

    def few(self) -> bool:
        """Whether all sets can be looked at."""
        return math.comb(self.n, self.k) <= FEW_SETS

    def handful(self) -> bool:
        """Whether there are so few sets that trying them all is cheap."""
        return math.comb(self.n, self.k) <= HANDFUL

    def doubt(self) -> float:
        """The logarithm of how much more may be spent on exploring."""
        if self.refuted:
            return math.inf
        if self.scattered:
            return min(2 * self.evidence, MOST_OF_SCATTERED)
        return min(max(self.evidence - self.threshold + REFUTED, 0.0), MOST_DOUBT)

    def share(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The chances that the next round explores and that it judges each set alone; the budgets of candidates."""
        if self.refuted or (self.scattered and self.rounds < ALONE * math.comb(self.n, self.k)):
            return (1.0, 1.0), (0.0, math.inf)
        times = math.exp(self.doubt())
        often = OFTEN_OF_SCATTERED if self.scattered else OFTEN_OF_FEW if self.few() else OFTEN_OF_MANY
        chance = min(1.0, often * times * self.rounds**-0.5) if self.exploration else 0.0
        each = self.exploration / self.rounds
        if self.scattered and not self.handful():
            each *= MORE * math.comb(self.n, self.k) / HANDFUL
        return (chance, 0.0), (CHALLENGES * each, each * times)

    def explores(self, rng: np.random.Generator, available: Sequence[int] | None = None) -> float | None:
        """The number that decides how much a candidate may cost; None if no set is explored."""
        arms = range(self.n) if available is None else available
        if len(arms) <= self.k or not all(self.rewards[arm] for arm in arms):
            return None
        drawn = float(rng.random())
        return drawn if drawn < self.chances[0] else None

    def surer(self, available: Sequence[int]) -> bool:
        """Whether the surest set can be shown, and earns more than its arms' rivals of largest index promise."""
        promised = sorted(self.index_of(arm) for arm in available)[-self.k :]
        return math.fsum(promised) < self.sure and self.surest <= set(available)

    def alone(self) -> bool:
        """Whether sets that are drawn are judged by themselves."""
        return self.chances[1] > 0.0

    def assess(self) -> None:
        """Learn the deviations and the evidence, which counts as refutation from a threshold on."""
        self.learn_deviations()
        self.evidence = self.evidence_now()
        self.threshold = REFUTED + math.log(len(self.sets)) - HOLD * self.refuted
        self.refuted = self.evidence >= self.threshold
        self.scattered = self.scattered_now()
        level = LEVEL + math.log(len(self.sets))
        self.lower = {members: self.lower_total(seen.totals, level) for members, seen in self.counted().items()}
        self.sure = max([0.0, *self.lower.values()])
        self.surest = next((members for members, low in self.lower.items() if low == self.sure), self.surest)

    def counted(self) -> dict[Arms, Seen]:
        """The sets of arms that all count in the test."""
        return {members: seen for members, seen in self.sets.items() if self.all_count(members)}

    def scattered_now(self) -> bool:
        """Whether sets are few, easily told apart, and do not follow their arms."""
        if self.handful() or not self.few():
            return self.few()
        largest, totals = self.largest(), [seen.totals for seen in self.sets.values()]
        overall = math.fsum(total for own in totals for total in own) / sum(map(len, totals))
        average = float(np.mean([(math.fsum(own) + AVERAGE * overall) / (len(own) + AVERAGE) for own in totals]))
        lower = []
        for own in totals:
            share = kept((math.fsum(own) / largest + 1) / (len(own) + 2))
            lower.append(share - math.sqrt(2 * share * (1 - share) * math.log(len(totals)) / len(own)))
        best = max([0.0, *lower])
        gap = best - average / largest
        variance = kept(best) * (1 - kept(best))
        return gap > 0 and variance <= EASY * gap**2 and variance * largest**2 <= (1 + LOOSE) * self.variance

    # Evidence.

    def least_bound(self, arm: int) -> tuple[float, float]:
        """Of all company and the sets of at least `LEVEL` plays, the least upper bound and the mean it comes from.

        Sets with arms that do not count are left out.
        """
        level = LEVEL + math.log(len(self.sets))
        around = [members for members in self.sets if arm in members and self.all_count(members)]
        counted = [self.sets[members].rewards[arm] for members in around]
        pooled = [reward for rewards in counted for reward in rewards]
        found = [(self.upper(pooled, LEVEL), float(np.mean(pooled))) if pooled else (self.bound, self.bound / 2)]
        found += [(self.upper(own, level), float(np.mean(own))) for own in counted if len(own) >= LEVEL]
        return min(found)

    def all_count(self, members: Arms) -> bool:
        """Whether all arms of a set count in the test."""
        return all(map(self.counts, members))

    def lower_total(self, totals: Sequence[float], level: float) -> float:
        """L at f = level: by the divergence, or by the empirical Bernstein bound if totals exceed B."""
        plays, mean = len(totals), math.fsum(totals) / len(totals)
        if self.largest() <= self.bound:
            return self.bound - self.upper([self.bound - total for total in totals], level)
        spread = math.sqrt(2 * float(np.var(totals)) * level / plays)
        return mean - spread - 3 * self.largest() * level / plays

    def evidence_now(self) -> float:
        """max over sets and x of 4 x (q - sum of the k largest p(a) + x v(a) - x v), or 0."""
        pairs = [self.least_bound(arm) if self.counts(arm) else (0.0, 0.0) for arm in range(self.n)]
        counted = self.counted().values()
        means = [math.fsum(seen.totals) / len(seen.totals) for seen in counted]
        lower = [self.lower_total(seen.totals, LEVEL) for seen in counted]
        found = 0.0
        for i in range(20):
            x = 1.5**i / self.bound
            values = sorted(mean + x * (upper - mean) ** 2 / LEVEL for upper, mean in pairs)
            most = math.fsum(values[-self.k :])
            for q, low in zip(means, lower, strict=True):
                found = max(found, 4 * x * (q - most - x * (q - low) ** 2 / LEVEL))
        return found

    # Deviations.

    def learn_deviations(self) -> None:
        """Weighted moments of what sets earn beyond what their arms earn in other company."""
        largest, several = self.largest(), self.largest() > self.bound
        within = self.within_sets()
        away, chance = [], []
        for members, seen in self.sets.items():
            plays = len(seen.totals)
            shares, errors = [], []
            for arm in members:
                others = len(self.rewards[arm]) - plays
                earned = math.fsum(self.rewards[arm]) - math.fsum(seen.rewards[arm])
                shares.append((earned / self.bound + 0.5) / (others + 1))
                errors.append(shares[-1] * (1 - shares[-1]) / (others + 1))
            expected = kept(sum(shares) * self.bound / largest)
            coin = expected * (1 - expected) * largest**2
            chance.append(self.bound**2 * sum(errors) + (within if several else coin) / plays)
            away.append(math.fsum(seen.totals) / plays - expected * largest)
        off, errors_of_off = np.array(away), np.array(chance)
        weights = 1 / (errors_of_off + max(self.variance, LEAST_SPREAD * self.bound**2))
        raw = float(np.average((off - self.deviation) ** 2 - errors_of_off, weights=weights**2))
        least = LEAST_VARIANCE * self.bound**2
        self.variance = max(least, raw)
        self.least_variance = max(least, raw - CAUTION * math.sqrt(2 / float((weights**2).sum())))
        self.deviation = float(np.average(off, weights=weights))

    def within_sets(self) -> float:
        """The variance of the totals of one set, pooled over the sets that were played twice; B^2 if there is none."""
        repeated = [seen.totals for seen in self.sets.values() if len(seen.totals) > 1]
        if not repeated:
            return self.bound**2
        squares = sum(len(totals) * float(np.var(totals)) for totals in repeated)
        return squares / sum(len(totals) - 1 for totals in repeated)

    # Exploring.

    def posterior(self, members: Arms, alone: bool = False) -> tuple[float, float]:
        """Both parameters of the Beta law of a set's total / M; alone if every set is judged by itself."""
        largest = self.largest()
        seen = self.sets.get(members)
        means = [(math.fsum(self.rewards[arm]) + self.bound / 2) / (len(self.rewards[arm]) + 1) for arm in members]
        expected, variance = math.fsum(means), self.variance
        if self.refuted:
            variance += self.deviation**2
        else:
            expected += self.deviation
            variance = variance if seen or self.few() else self.least_variance
        mean = kept(expected / largest)
        strongest = STRONGEST_OF_HANDFUL if self.handful() else STRONGEST
        strength = min(max(mean * (1 - mean) * largest**2 / variance - 1, WEAKEST), strongest)
        if alone or (self.refuted and self.few()):
            mean, strength = 0.5, 2.0
        plays = earned = 0.0
        if seen:
            shares = np.array(seen.totals) / largest
            plays, earned = len(shares), float(shares.sum())
            if largest > self.bound:
                first, second = (earned + 2 * mean) / (plays + 2), (float((shares**2).sum()) + 2 * mean) / (plays + 2)
                scale = first * (1 - first) / (second - first**2)
                plays, earned = plays * scale, earned * scale
        return strength * mean + earned, strength * (1 - mean) + plays - earned

    def explored(self, rng: np.random.Generator, laws: Laws, place: float) -> Arms | None:
        """The challenger of the best of few sets, or the one of largest draw, or None if both may cost too much."""
        means = {members: up / (up + down) for members, (up, down) in laws.items()}
        best = self.likeliest(rng, means)
        losses = {members: means[best] - mean for members, mean in means.items()}
        if not self.alone():
            members = self.challenger(rng, laws, best)
            if place * losses[members] <= self.budgets[0] * sum(losses.values()) / max(len(losses) - 1, 1):
                return members
        members = self.largest_draw(rng, laws, best)
        return members if place * losses[members] <= self.budgets[1] else None

    def likeliest(self, rng: np.random.Generator, means: Mapping[Arms, float]) -> Arms:
        """The set of largest mean, ties broken uniformly, in one pass."""
        tied: list[Arms] = []
        for members, mean in means.items():
            if not tied or mean > means[tied[0]] + 1e-12:
                tied, best = [members], members
            elif mean >= means[tied[0]] - 1e-12:
                tied.append(members)
                best = members if rng.random() * len(tied) < 1 else best
        return best

    def challenger(self, rng: np.random.Generator, laws: Laws, best: Arms) -> Arms:
        """Another set, in proportion to exp(-N kl(mean, mean of the best)) / N, N = up + down; or the only one."""
        highest = laws[best][0] / sum(laws[best])
        against = {
            members: (up + down) * bernoulli_divergence(up / (up + down), highest) + math.log(up + down)
            for members, (up, down) in laws.items()
            if members != best
        }
        found, total = best, 0.0
        least = min(against.values(), default=0.0)
        for members, value in against.items():  # a set takes the place of those before it with its share of the sum
            weight = math.exp(least - value)
            total += weight
            if rng.random() * total < weight:
                found = members
        return found

    def largest_draw(self, rng: np.random.Generator, laws: Laws, first: Arms) -> Arms:
        """The set of largest draw; one of the sets is drawn first, and the others in order."""
        best, found, tied = rng.beta(*laws[first]), first, 1
        for members, (up, down) in laws.items():
            value = None if members == first else self.draw_above(up, down, best, rng)
            if value is not None and value > best:
                best, found, tied = value, members, 1
            elif value == best:
                tied += 1
                found = members if rng.random() * tied < 1 else found
        return found

    def draw_above(self, up: float, down: float, best: float, rng: np.random.Generator) -> float | None:
        """A draw from this Beta law, or None if it is not above the best and that is cheaper to find out."""
        if best < 1 and min(up, down) > 1 - 1e-12 and up + down > 2.99:
            successes, failures = max(up - 1, 0), max(down - 1, 0)
            chance = crossing_bound(successes, failures, best, True)
            if chance <= 0.4:
                return draw_beyond(successes, failures, best, chance, rng) if rng.random() < chance else None
        return float(rng.beta(up, down))

    def recommended(self, available: Sequence[int]) -> list[Arms]:
        """Sets of available arms with the largest (total + M/4) / (plays + 1), if doubt is large; or the surest."""
        if self.doubt() < MOST_DOUBT and self.surer(available):
            return [self.surest]
        values = {
            members: (math.fsum(seen.totals) + self.largest() / 4) / (len(seen.totals) + 1)
            for members, seen in self.sets.items()
            if members <= set(available)
        }
        if self.doubt() < MOST_DOUBT or not values:
            return [frozenset()]
        return [members for members, value in values.items() if value > max(values.values()) - 1e-12 * self.bound]
