"""Policies that were tried in place of KL-MOSS: other indices that stay while an arm is not chosen, and other samples.

None of these is recommended; the study `candidates` says what came of them. With N the plays of an arm, p the
average of its rewards, T the horizon and x = T k / (n N),

- KL indices max{q: N kl(p, q) <= level} with other levels than the log+(x) of KL-MOSS: that of kl-UCB++, half of
  KL-MOSS's, and those with T / N or T / (n N) in place of x;
- four fifths of KL-MOSS's level, for p and N after one more rewarded and one more unrewarded play;
- the Bernstein form p + sqrt(2 p (1 - p) level / N) + 3 level / N with the level log+(x);
- the posterior quantile that is exceeded with a chance of 1 / x, or 1 / (x (1 + log+ x)), but not more than 1/2, from a
  uniform prior (Bayes-UCB with the level of KL-MOSS);
- KL-MOSS, but no more than the same index of the arm's recent plays. By weak optimal set consistency the recent plays
  of an optimal arm are as good as any; those of a bad arm that has shone in bad sets are not;
- a sample of the posterior that is drawn anew only when the arm was played;
- Thompson sampling with no sample below the posterior's mean.

Menard, Garivier: A Minimax and Asymptotically Optimal Algorithm for Stochastic Bandits (2017), kl-UCB++; Kaufmann,
Cappe, Garivier: On Bayesian Upper Confidence Bounds for Bandit Problems (2012); May, Korda, Lee, Leslie: Optimistic
Bayesian Sampling in Contextual-Bandit Problems (2012).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from setwise.declare import check_range, policy
from setwise.evidence.beta_quantile import upper_quantile, upper_tail
from setwise.kernels.divergence import upper_bound
from setwise.kernels.topk import top_k
from setwise.policies.frozen import ABOVE, FOREVER, FrozenState, new_state
from setwise.policies.thompson import ThompsonState
from setwise.types import Floats, Generator, Ints

KL, KL_PLUS_PLUS, BERNSTEIN, BAYES, BAYES_PLUS = range(5)
MANY = 1 << 40


def level_of(rule: int, factor: float, x: float) -> float:
    """What N kl may be, or the logarithm of one over the chance that a quantile leaves."""
    if x <= 1.0:
        return 0.0
    level = factor * math.log(x)
    if rule == KL_PLUS_PLUS:
        level += math.log1p(level * level)
    elif rule == BAYES_PLUS:
        level += math.log1p(level)
    return level


def frozen_index(rule: int, factor: float, prior: float, plays: float, reward: float, pulls: int) -> float:
    """The index of an arm by one of the rules; `plays` is x times N, for example T k / n.

    >>> round(frozen_index(KL, 1.0, 0.0, 100 * 10**4, 30.0, 100), 10)
    0.5119181895
    """
    level = level_of(rule, factor, plays / pulls)
    if rule == BERNSTEIN:
        p = reward / pulls
        return p + math.sqrt(2.0 * p * max(0.0, 1.0 - p) * level / pulls) + 3.0 * level / pulls
    if rule >= BAYES:
        return upper_quantile(prior + reward, prior + pulls - reward, min(0.5, math.exp(-level)))
    return upper_bound(reward + prior, pulls + 2.0 * prior, level)


def stays_above(rule: int, factor: float, prior: float, plays: float, reward: float, pulls: int, theta: float) -> bool:
    """Whether the index is above theta after so many plays that earned this reward or more; in doubt, no.

    A reward raises all of these indices but the Bernstein one, of which p and the last term are certain.
    """
    if rule == BERNSTEIN:
        return reward / pulls + 3.0 * level_of(rule, factor, plays / pulls) / pulls > theta * ABOVE
    if rule >= BAYES:
        chance = min(0.5, math.exp(-level_of(rule, factor, plays / pulls)))
        return upper_tail(prior + reward, prior + pulls - reward, theta * (1.0 + 1e-8)) > chance
    return frozen_index(rule, factor, prior, plays, reward, pulls) > theta * ABOVE


@policy(
    title="Frozen index",
    reference="Menard, Garivier 2017; Kaufmann, Cappe, Garivier 2012",
    assumptions="each arm has a mean of its own",
    regret_bound="none known for sets",
    original=False,
    adaptation="The k best arms in place of one, and T k / n in place of T / n.",
    set_dependent="no",
    total_order=True,
)
class FrozenIndex(NamedTuple):
    """Play the k arms of largest index, by one of the rules, for rewards of 0 to 1.

    rule: 0 a KL index, 1 that of kl-UCB++, 2 a Bernstein index, 3 and 4 a posterior quantile
    factor: of the level
    prior: how many rewarded, and how many unrewarded plays are added beforehand
    share: x is T k / (n N) if it is 1, T / N if it is 0, T / (n N) if it is 2
    """

    rule: int = KL
    factor: float = 1.0
    prior: float = 0.0
    share: int = 1

    def check(self) -> None:
        check_range("FrozenIndex: rule", self.rule, KL, BAYES_PLUS)
        check_range("FrozenIndex: prior", self.prior, 1.0 if self.rule >= BAYES else 0.0, 1e6)
        check_range("FrozenIndex: factor", self.factor, 0.0, 1e6, strict=True)
        check_range("FrozenIndex: share", self.share, 0, 2)

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> FrozenState:
        return new_state(n, k, horizon * (1.0, k / n, 1.0 / n)[self.share])

    def select(self, state: FrozenState, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, len(state.chosen), rng)  # type: ignore[no-any-return]

    def update(self, state: FrozenState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_frozen(state, chosen, rewards, 1, self.rule, self.factor, self.prior)

    def hold(self, state: FrozenState, chosen: Ints) -> int:
        if len(chosen) == len(state.indices):
            return FOREVER
        theta = state.ranking.border(state.indices, chosen)
        if theta == np.inf or theta <= 0.0:
            return 1
        certain = 0
        step = 1
        while step > 0 and certain < MANY:
            if all_stay(state, chosen, certain + step, self.rule, self.factor, self.prior, theta):
                certain += step
                step *= 2
            else:
                step //= 4
        return certain + 1

    def absorb(self, state: FrozenState, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn_frozen(state, chosen, totals, rounds, self.rule, self.factor, self.prior)

    def indices(self, state: FrozenState, out: Floats) -> None:
        for arm in range(len(out)):
            out[arm] = state.indices[arm]


def learn_frozen(
    state: FrozenState, chosen: Ints, totals: Floats, rounds: int, rule: int, factor: float, prior: float
) -> None:
    """Add the rounds of one set to its arms, and set their indices anew."""
    for j in range(len(chosen)):
        arm = chosen[j]
        state.pulls[arm] += rounds
        state.reward[arm] += totals[j]
        state.indices[arm] = frozen_index(rule, factor, prior, state.level[0], state.reward[arm], state.pulls[arm])
    state.ranking.moved(state.indices, chosen)


def all_stay(
    state: FrozenState, chosen: Ints, rounds: int, rule: int, factor: float, prior: float, theta: float
) -> bool:
    """Whether every arm of the set is above theta after so many more rounds, whatever they earn."""
    plays = state.level[0]
    for j in range(len(chosen)):
        arm = chosen[j]
        pulls = state.pulls[arm] + rounds
        if pulls == rounds or not stays_above(rule, factor, prior, plays, state.reward[arm], pulls, theta):
            return False
    return True


class RecentState(NamedTuple):
    """What is known of the arms, and since when.

    pulls, reward, indices, ranking, chosen, best, level: as in a frozen state
    since, since_reward: pulls and reward at the start of the arm's recent plays
    turn, turn_reward: pulls and reward when they last doubled, where the recent plays will start next
    """

    pulls: Ints
    reward: Floats
    indices: Floats
    ranking: Any
    chosen: Ints
    best: Floats
    level: Floats
    since: Ints
    since_reward: Floats
    turn: Ints
    turn_reward: Floats


@policy(
    title="KL-MOSS of recent plays",
    reference="",
    assumptions="weak optimal set consistency",
    regret_bound="none known",
    original=False,
    adaptation="KL-MOSS, but no more than the same index of the arm's recent plays.",
    set_dependent="no",
    total_order=True,
)
class RecentKLMOSS(NamedTuple):
    """Play the k arms of largest index, the lesser of KL-MOSS's for all plays of the arm and for its recent ones.

    Recent are the last half to three quarters of an arm's plays: whenever the plays of the arm have doubled, those
    before the last doubling are let go.
    """

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> RecentState:
        return RecentState(
            *new_state(n, k, horizon * k / n),
            since=np.zeros(n, np.int64),
            since_reward=np.zeros(n),
            turn=np.zeros(n, np.int64),
            turn_reward=np.zeros(n),
        )

    def select(self, state: RecentState, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, len(state.chosen), rng)  # type: ignore[no-any-return]

    def update(self, state: RecentState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn_recent(state, chosen, rewards, 1)

    def hold(self, state: RecentState, chosen: Ints) -> int:
        most = FOREVER
        for j in range(len(chosen)):
            # `absorb` has to see every doubling, but before the 16th play there are none.
            most = min(most, max(16, 2 * state.turn[chosen[j]]) - state.pulls[chosen[j]])
        if len(chosen) == len(state.indices):
            return most
        theta = state.ranking.border(state.indices, chosen)
        if theta == np.inf or theta <= 0.0:
            return 1
        certain = 0
        step = 1
        while step > 0 and certain < most:
            if recent_stay(state, chosen, certain + step, theta):
                certain += step
                step *= 2
            else:
                step //= 4
        return min(certain + 1, most)

    def absorb(self, state: RecentState, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn_recent(state, chosen, totals, rounds)

    def indices(self, state: RecentState, out: Floats) -> None:
        for arm in range(len(out)):
            out[arm] = state.indices[arm]


def recent_index(state: RecentState, arm: int, more: int) -> float:
    """The index of an arm after so many more plays without reward."""
    plays = state.level[0]
    pulls = state.pulls[arm] + more
    index = frozen_index(KL, 1.0, 0.0, plays, state.reward[arm], pulls)
    if state.since[arm] > 0:
        reward = state.reward[arm] - state.since_reward[arm]
        index = min(index, frozen_index(KL, 1.0, 0.0, plays, reward, pulls - state.since[arm]))
    return index


def learn_recent(state: RecentState, chosen: Ints, totals: Floats, rounds: int) -> None:
    """Add the rounds of one set to its arms, let old plays go where they have doubled, and set their indices anew."""
    for j in range(len(chosen)):
        arm = chosen[j]
        state.pulls[arm] += rounds
        state.reward[arm] += totals[j]
        if state.pulls[arm] >= max(16, 2 * state.turn[arm]):
            state.since[arm] = state.turn[arm]
            state.since_reward[arm] = state.turn_reward[arm]
            state.turn[arm] = state.pulls[arm]
            state.turn_reward[arm] = state.reward[arm]
        state.indices[arm] = recent_index(state, arm, 0)
    state.ranking.moved(state.indices, chosen)


def recent_stay(state: RecentState, chosen: Ints, rounds: int, theta: float) -> bool:
    """Whether every arm of the set is above theta after so many more rounds, whatever they earn."""
    for j in range(len(chosen)):
        if state.pulls[chosen[j]] == 0 or recent_index(state, chosen[j], rounds) <= theta * ABOVE:
            return False
    return True


@policy(
    title="Frozen posterior samples",
    reference="",
    assumptions="none under which it is known to work",
    regret_bound="none: it can be linear",
    original=False,
    adaptation="Thompson sampling that draws an arm's sample anew only when the arm was played.",
    set_dependent="no",
    total_order=True,
)
class FrozenThompson(NamedTuple):
    """Play the k arms of largest sample; the sample of an arm is drawn from Beta(1 + C, 1 + N - C) when it was played.

    An optimal arm whose sample is too low is not played, and so it is not drawn again.
    """

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> FrozenState:
        return new_state(n, k, 0.0)

    def select(self, state: FrozenState, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, len(state.chosen), rng)  # type: ignore[no-any-return]

    def update(self, state: FrozenState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        for j in range(len(chosen)):
            arm = chosen[j]
            state.pulls[arm] += 1
            state.reward[arm] += rewards[j]
            state.indices[arm] = rng.beta(1.0 + state.reward[arm], 1.0 + state.pulls[arm] - state.reward[arm])
        state.ranking.moved(state.indices, chosen)


@policy(
    title="Optimistic Thompson sampling",
    reference="May, Korda, Lee, Leslie 2012",
    assumptions="each arm has a mean of its own",
    regret_bound="none known for sets",
    original=False,
    adaptation="The k best arms in place of one.",
    set_dependent="no",
    total_order=True,
)
class OptimisticThompson(NamedTuple):
    """Play the k arms of largest sample from Beta(1 + C, 1 + N - C), or of its mean where the sample is below it.

    For rewards of 0 and 1.
    """

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> ThompsonState:
        return ThompsonState(np.zeros(n), np.zeros(n), np.zeros(n), np.arange(k), np.zeros(k))

    def select(self, state: ThompsonState, rng: Generator) -> Ints:
        for arm in range(len(state.indices)):
            a = 1.0 + state.successes[arm]
            b = 1.0 + state.failures[arm]
            state.indices[arm] = max(rng.beta(a, b), a / (a + b))
        top_k(state.indices, state.chosen, state.best, rng)
        return state.chosen

    def update(self, state: ThompsonState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        for j in range(len(chosen)):
            state.successes[chosen[j]] += rewards[j]
            state.failures[chosen[j]] += 1.0 - rewards[j]


CANDIDATES: dict[str, Any] = {
    "kl-ucb++": FrozenIndex(KL_PLUS_PLUS),
    "kl, half the level": FrozenIndex(KL, factor=0.5),
    "kl, log+(T/N)": FrozenIndex(KL, share=0),
    "kl, log+(T/(nN))": FrozenIndex(KL, share=2),
    "kl, smoothed": FrozenIndex(KL, factor=0.8, prior=1.0),
    "bernstein-moss": FrozenIndex(BERNSTEIN),
    "bayes, 1/x": FrozenIndex(BAYES, prior=1.0),
    "bayes, 1/(x(1+log x))": FrozenIndex(BAYES_PLUS, prior=1.0),
    "kl-moss, recent plays": RecentKLMOSS(),
    "frozen thompson": FrozenThompson(),
    "optimistic thompson": OptimisticThompson(),
}
