"""Assumption 1, Definition 1, the gaps and the lemmas, from the definitions by brute force.

A table says P(a|s) for every set: the keys are the sets, arms in rising order, and the values are fractions aligned
with them. Everything here tries all sets, all pairs and all triples.

Reference: Yang, Ren, Dhillon, Sanghavi, "Combinatorial Bandits without Total Order for Arms", 2021.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations

Set = tuple[int, ...]
Table = Mapping[Set, Sequence[Fraction]]


def arms(table: Table) -> list[int]:
    """All arms, in rising order."""
    return sorted({arm for s in table for arm in s})


def probability(table: Table, arm: int, s: Set) -> Fraction:
    """P(a|s)."""
    return table[s][s.index(arm)]


def value(table: Table, s: Set) -> Fraction:
    """Q(s)."""
    return sum(table[s], Fraction(0))


def best_sets(table: Table) -> list[Set]:
    """All sets with the largest Q."""
    top = max(value(table, s) for s in table)
    return [s for s in table if value(table, s) == top]


def worse_sets(table: Table) -> list[Set]:
    """The sub-optimal sets."""
    best = best_sets(table)
    return [s for s in table if s not in best]


def gaps(table: Table) -> list[Fraction]:
    """Q(s*) - Q(s) of all sub-optimal sets."""
    top = max(value(table, s) for s in table)
    return [top - value(table, s) for s in worse_sets(table)]


def epsilon(table: Table) -> Fraction:
    """The least gap of a sub-optimal set, 0 if there is none."""
    return min(gaps(table), default=Fraction(0))


def largest_gap(table: Table) -> Fraction:
    """The largest gap, 0 if all sets are optimal."""
    return max(gaps(table), default=Fraction(0))


def margins(table: Table, best: Set) -> dict[tuple[int, Set], Fraction]:
    """P(a|s) - P(a|s*) for every other set s and every arm of both.

    Reference: Assumption 1, which says that none of them is negative; where several sets are optimal, for them too.
    """
    return {
        (arm, s): probability(table, arm, s) - probability(table, arm, best)
        for s in table
        if s != best
        for arm in best
        if arm in s
    }


def least_margin(table: Table, best: Set) -> Fraction | None:
    """The least of them, or None where no other set has an arm of the best."""
    return min(margins(table, best).values(), default=None)


def violations(table: Table, best: Set) -> list[tuple[int, Set]]:
    """The pairs of arm and set that violate Assumption 1."""
    return [pair for pair, margin in margins(table, best).items() if margin < 0]


def is_consistent(table: Table) -> bool:
    """Whether Assumption 1 holds for one of the optimal sets."""
    return any(not violations(table, best) for best in best_sets(table))


def largest_least_margin(table: Table) -> Fraction | None:
    """The least margin of the optimal set for which it is largest; None if one of them has none at all."""
    found = [least_margin(table, best) for best in best_sets(table)]
    return None if None in found else max(margin for margin in found if margin is not None)


def with_both(table: Table, a: int, b: int) -> list[Set]:
    """The sets that have both arms."""
    return [s for s in table if a in s and b in s]


def at_most(table: Table, a: int, b: int) -> bool:
    """a <= b: P(a|s) <= P(b|s) in every set that has both.

    Reference: Definition 1.
    """
    return all(probability(table, a, s) <= probability(table, b, s) for s in with_both(table, a, b))


def leads(table: Table, a: int, b: int) -> list[Set]:
    """The sets in which a is strictly ahead of b."""
    return [s for s in with_both(table, a, b) if probability(table, a, s) > probability(table, b, s)]


def incomparable_pairs(table: Table) -> list[tuple[int, int]]:
    """The pairs of arms with neither a <= b nor b <= a."""
    return [(a, b) for a, b in combinations(arms(table), 2) if not at_most(table, a, b) and not at_most(table, b, a)]


def intransitive_triples(table: Table) -> list[tuple[int, int, int]]:
    """The triples of distinct arms with a <= b and b <= c but not a <= c."""
    below = {pair: at_most(table, *pair) for pair in permutations(arms(table), 2)}
    return [(a, b, c) for a, b, c in permutations(arms(table), 3) if below[a, b] and below[b, c] and not below[a, c]]


def has_total_order(table: Table) -> bool:
    """Comparability and transitivity."""
    return not incomparable_pairs(table) and not intransitive_triples(table)


def order(table: Table) -> list[set[int]]:
    """The arms from best to worst where they have a total order, those with a <= b and b <= a together."""
    left, found = set(arms(table)), []
    while left:
        first = {a for a in left if all(at_most(table, b, a) for b in left)}
        found.append(first)
        left -= first
    return found


def has_cycle(table: Table) -> bool:
    """Whether there are three arms or more, each ahead of the next in some set, and the last of the first.

    Reference: Example 1, non-transitive relative reward expectation, for cycles of any length.
    """
    ahead = {pair: bool(leads(table, *pair)) for pair in permutations(arms(table), 2)}
    return any(
        all(ahead[a, b] for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        for length in range(3, len(arms(table)) + 1)
        for cycle in permutations(arms(table), length)
        if cycle[0] == min(cycle)
    )


def example_1_cycles(table: Table, best: Set) -> list[tuple[int, int, int]]:
    """a_1, a_2 of s* and a_3 outside of it: a_1 ahead of a_2 in s*, a_2 of a_3 in some set, a_3 of a_1 in some set.

    Reference: Example 1, non-transitive relative reward expectation, as printed.
    """
    return [
        (a, b, c)
        for a, b in permutations(best, 2)
        for c in arms(table)
        if c not in best and best in leads(table, a, b) and leads(table, b, c) and leads(table, c, a)
    ]


def times_first(table: Table, arm: int) -> int:
    """In how many sets the arm is strictly ahead of all others."""
    return sum(
        all(probability(table, arm, s) > probability(table, other, s) for other in s if other != arm)
        for s in table
        if arm in s
    )


def never_behind(table: Table) -> list[int]:
    """The arms that no other arm is ahead of in any set."""
    return [a for a in arms(table) if all(at_most(table, b, a) for b in arms(table) if b != a)]


def is_set_independent(table: Table) -> bool:
    """Whether every arm has the same P(a|s) in all sets that have it."""
    return all(len({probability(table, arm, s) for s in table if arm in s}) == 1 for arm in arms(table))


def is_multinomial_logit(table: Table) -> bool:
    """Whether P(a|s) = v_a / (v_0 + sum of v over s) for some weights with v_0 > 0.

    So it is if and only if P(nothing|s) = v_0 / (v_0 + ...) is positive and P(a|s) / P(nothing|s) = v_a / v_0 the same
    in all sets.
    """
    nothing = {s: 1 - value(table, s) for s in table}
    return all(nothing.values()) and all(
        len({probability(table, arm, s) / nothing[s] for s in table if arm in s}) == 1 for arm in arms(table)
    )


def in_falling_order(table: Table, best: Set) -> list[int]:
    """a_1, ..., a_k: the arms of s* by falling P(a|s*), the least number first among equals."""
    return sorted(best, key=lambda arm: (-probability(table, arm, best), arm))


def delta(table: Table, best: Set) -> list[list[Fraction]]:
    """delta_ij = P(a_i|s*) - P(a_j|s*)."""
    own = [probability(table, arm, best) for arm in in_falling_order(table, best)]
    return [[p - q for q in own] for p in own]


def big_delta(table: Table, best: Set) -> list[Fraction]:
    """Delta_l, the sum over i from l to k of delta_li."""
    return [sum(row[rank:], Fraction(0)) for rank, row in enumerate(delta(table, best))]


@dataclass(frozen=True)
class Round:
    """One round: UCB_i(t) of all arms before it, the set that was played, and the rewards aligned with it."""

    indices: Sequence[float]
    chosen: Sequence[int]
    rewards: Sequence[float]


@dataclass(frozen=True)
class Failure:
    """An arm that was not played, and a half of Lemma 1 that it violates in a round, counted from 1."""

    round: int
    arm: int
    half: str


def indices_of_algorithm_1(
    n: int, horizon: int, rounds: Sequence[Round], alpha: float, bound: float = 1.0
) -> list[list[float]]:
    """UCB_i(t) for all t, from the sets and the rewards alone.

    Reference: Algorithm 1; section 6 for rewards in [0, B].
    """
    index, plays, total = [math.inf] * n, [0] * n, [0.0] * n
    found = []
    for played in rounds:
        found.append(list(index))
        for arm, reward in zip(played.chosen, played.rewards, strict=True):
            plays[arm] += 1
            total[arm] += reward
            index[arm] = total[arm] / plays[arm] + bound * math.sqrt(alpha * math.log(horizon) / plays[arm])
    return found


def plays_before(n: int, rounds: Sequence[Round]) -> list[list[int]]:
    """N_i(t) for all t, and after the last round."""
    plays = [[0] * n]
    for played in rounds:
        plays.append([count + (arm in played.chosen) for arm, count in enumerate(plays[-1])])
    return plays


def rho_prime(rounds: Sequence[Round]) -> list[float]:
    """rho'(t), the least UCB_i(t) over the arms of s(t)."""
    return [min(played.indices[arm] for arm in played.chosen) for played in rounds]


def rho(rounds: Sequence[Round]) -> list[float]:
    """rho(t), the least rho' up to t."""
    each = rho_prime(rounds)
    found = each[:1]
    for now in each[1:]:
        found.append(min(found[-1], now))
    return found


def lemma_1_pairs(n: int, rounds: Sequence[Round]) -> list[tuple[int, int]]:
    """All pairs of a round, from 1, and an arm that was not played in it."""
    return [(t, arm) for t, played in enumerate(rounds, 1) for arm in range(n) if arm not in played.chosen]


def lemma_1_failures(n: int, rounds: Sequence[Round], rounding: float = 1e-12) -> list[Failure]:
    """Where rho(t) >= UCB_i(t) >= rho(t) (1 - 1 / N_i(t)) fails for an arm not in s(t).

    Reference: Lemma 1, with N_i(t) as in its proof; it says nothing below for an arm played at most once.
    """
    least, plays = rho(rounds), plays_before(n, rounds)
    found = []
    for t, arm in lemma_1_pairs(n, rounds):
        index, count = rounds[t - 1].indices[arm], plays[t - 1][arm]
        if index > least[t - 1]:
            found.append(Failure(t, arm, "upper"))
        if count > 1 and index < least[t - 1] * (1 - 1 / count) * (1 - rounding):
            found.append(Failure(t, arm, "lower"))
    return found


def printed_failures(n: int, rounds: Sequence[Round]) -> set[int]:
    """The arms for which the lower half fails in some round as it is printed, with N_i(T) for N_i(t)."""
    least, last = rho(rounds), plays_before(n, rounds)[-2]
    return {
        arm
        for t, arm in lemma_1_pairs(n, rounds)
        if last[arm] > 0 and least[t - 1] < math.inf and rounds[t - 1].indices[arm] < least[t - 1] * (1 - 1 / last[arm])
    }


def last_rounds(rounds: Sequence[Round], best: Sequence[float]) -> list[int]:
    """t_l, the last round with rho(t) >= P(a_l|s*), for the P(a_l|s*) in falling order; 0 if there is none."""
    least = rho(rounds)
    return [max((t for t, now in enumerate(least, 1) if now >= p), default=0) for p in best]


def best_plays(rounds: Sequence[Round], best: Sequence[int], until: Sequence[int]) -> list[int]:
    """t'_l, how often s* was played up to t_l."""
    return [sum(set(played.chosen) == set(best) for played in rounds[:last]) for last in until]


def rounds_without_promised(rounds: Sequence[Round], in_order: Sequence[int], until: Sequence[int]) -> list[int]:
    """The rounds t, from 1, that lack an arm a_i although t > t_l for an l >= i.

    Reference: the corollary on arm selection.
    """
    return [
        t
        for t, played in enumerate(rounds, 1)
        if any(t > last and not set(in_order[: rank + 1]) <= set(played.chosen) for rank, last in enumerate(until))
    ]


def rounds_below(rounds: Sequence[Round], in_order: Sequence[int], best: Sequence[float]) -> list[tuple[int, int]]:
    """The pairs of a round and an arm of s* with an index below P(a|s*)."""
    return [
        (t, arm)
        for t, played in enumerate(rounds, 1)
        for arm, p in zip(in_order, best, strict=True)
        if played.indices[arm] < p
    ]


def confidence_widths(
    n: int, horizon: int, rounds: Sequence[Round], means: Callable[[Sequence[int]], Sequence[float]], alpha: float,
    bound: float = 1.0,
) -> list[float]:  # fmt: skip
    """|C_i - sum of P(a_i|s)| over B sqrt(alpha N_i log T) for the arms of every round, after it.

    Reference: the lemma on the validity of upper confidence bounds, which says that all are below 1.
    """
    total, expected, plays = [0.0] * n, [0.0] * n, [0] * n
    found = []
    for played in rounds:
        for arm, reward, p in zip(played.chosen, played.rewards, means(played.chosen), strict=True):
            plays[arm] += 1
            total[arm] += reward
            expected[arm] += p
            width = bound * math.sqrt(alpha * plays[arm] * math.log(horizon))
            found.append(abs(total[arm] - expected[arm]) / width)
    return found


@dataclass(frozen=True)
class Lemmas:
    """The two sides of the paper's lemmas for one run, for every l: the first is said to be at most the second."""

    sums: list[tuple[float, float]]
    strong_sums: list[tuple[float, float]]
    plays: list[tuple[float, float]]
    decomposition: tuple[float, float]


def lemmas(
    n: int, horizon: int, alpha: float, rounds: Sequence[Round], in_order: Sequence[int], best: Sequence[float],
    eps: float, value_of: Callable[[Sequence[int]], float],
) -> Lemmas:  # fmt: skip
    """Both sides of the sum lemmas, of the lemma on sub-optimal plays and of the regret decomposition.

    Reference: section 4.3 and the appendix, for rewards in [0, 1].
    """
    k, log = len(best), math.log(horizon)
    t = last_rounds(rounds, best)
    of_best = best_plays(rounds, in_order, t)
    sums, strong, plays = [], [], []
    for place in range(k):
        rank, p = place + 1, best[place]
        earned = math.fsum(value_of(played.chosen) for played in rounds[: t[place]])
        sums.append((k * t[place] * p - earned - n * p, 2 * math.sqrt(alpha * k * n * t[place] * log)))
        left = sum(best[:rank]) * t[place] + (k - rank) * p * t[place] - earned - n * p
        left -= sum((best[i] - p) * (t[i] - of_best[i]) for i in range(place))
        strong.append((left, math.sqrt(4 * alpha * k * n * log * (t[place] - rank / k * of_best[place]))))
        wide = sum(p - best[i] for i in range(place, k))
        gap = wide + eps if wide >= eps / 10 else eps
        plays.append((t[place] - of_best[place], 40 * alpha * rank * k * n * log / gap**2))
    top = value_of(list(in_order))
    regret = math.fsum(top - value_of(played.chosen) for played in rounds)
    right = 2 * math.sqrt(alpha * k * n * (t[-1] - of_best[-1]) * log) + n * best[-1]
    right += sum((best[i] - best[-1]) * (t[i] - of_best[i]) for i in range(k - 1))
    return Lemmas(sums, strong, plays, (regret, right))
