"""Policies tried in place of KL-MOSS: other indices that do not change while an arm is not chosen, and other samples.

None of these is recommended; `candidates` measures them. With N the plays of an arm, p its mean reward, T the horizon
and x = T k / (n N),

- KL indices max{q: N kl(p, q) <= level} with other levels than the log+(x) of KL-MOSS: that of kl-UCB++, half of
  KL-MOSS's, and those with T / N or T / (n N) in place of x;
- four fifths of KL-MOSS's level, for p and N after one more rewarded and one more unrewarded play;
- the Bernstein form p + sqrt(2 p (1 - p) level / N) + 3 level / N with the level log+(x);
- the posterior quantile exceeded with a chance of 1 / x, or 1 / (x (1 + log+ x)), but at most 1/2, from a uniform prior
  (Bayes-UCB with the level of KL-MOSS);
- KL-MOSS, but no more than the same index of the arm's recent plays. By weak optimal set consistency the recent plays
  of an optimal arm are as good as any; those of a bad arm that has shone in bad sets are not;
- a posterior sample that is drawn again only when the arm was played;
- Thompson sampling with no sample below the posterior mean.

Menard, Garivier: A Minimax and Asymptotically Optimal Algorithm for Stochastic Bandits (2017), kl-UCB++; Kaufmann,
Cappe, Garivier: On Bayesian Upper Confidence Bounds for Bandit Problems (2012); May, Korda, Lee, Leslie: Optimistic
Bayesian Sampling in Contextual-Bandit Problems (2012).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from research.beta_quantile import upper_quantile, upper_tail
from setwise import policy
from setwise.kernels import largest
from setwise.kernels.divergence import upper_bound
from setwise.kernels.ranking import Ranking, new_ranking
from setwise.types import Floats, Generator, Ints

KL, KL_PLUS_PLUS, BERNSTEIN, BAYES, BAYES_PLUS = range(5)
MANY = 1 << 40
ABOVE = 1.0 + 1e-12  # margin that covers rounding errors


class State(NamedTuple):
    """What is known of the arms.

    pulls, reward, indices: of every arm
    ranking: of the arms by index
    plays: x N, one number
    size: k
    """

    pulls: Ints
    reward: Floats
    indices: Floats
    ranking: Ranking
    plays: Floats
    size: Ints


def new_state(n: int, k: int, plays: float) -> State:
    """Return the state before the first round: every index is infinite."""
    indices = np.full(n, np.inf)
    pulls = np.zeros(n, np.int64)
    return State(pulls, np.zeros(n), indices, new_ranking(indices, k), np.array([plays]), np.array([k]))


def level_of(rule: int, factor: float, x: float) -> float:
    """Return the bound on N kl, or the logarithm of one over the chance of a quantile."""
    if x <= 1.0:
        return 0.0
    level = factor * math.log(x)
    if rule == KL_PLUS_PLUS:
        level += math.log1p(level * level)
    elif rule == BAYES_PLUS:
        level += math.log1p(level)
    return level


def frozen_index(rule: int, factor: float, prior: float, plays: float, reward: float, pulls: int) -> float:
    """Return the index of an arm by one of the rules; `plays` is x N, for example T k / n.

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
    """Whether the index is above theta after so many plays that earned at least this reward; if in doubt, False.

    A reward raises all of these indices but the Bernstein one, of which p and the last term are certain.
    """
    level = level_of(rule, factor, plays / pulls)
    if rule == BERNSTEIN:
        return reward / pulls + 3.0 * level / pulls > theta * ABOVE
    if rule >= BAYES:
        return upper_tail(prior + reward, prior + pulls - reward, theta * (1.0 + 1e-8)) > min(0.5, math.exp(-level))
    return frozen_index(rule, factor, prior, plays, reward, pulls) > theta * ABOVE


@policy
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

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> State:
        return new_state(n, k, horizon * (1.0, k / n, 1.0 / n)[self.share])

    def select(self, state: State, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, state.size[0], rng)

    def update(self, state: State, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        learn(state, chosen, rewards, 1, self.rule, self.factor, self.prior)

    def update_many(self, state: State, chosen: Ints, totals: Floats, rounds: int) -> None:
        learn(state, chosen, totals, rounds, self.rule, self.factor, self.prior)

    def certain_rounds(self, state: State, chosen: Ints) -> int:
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


def learn(state: State, chosen: Ints, totals: Floats, rounds: int, rule: int, factor: float, prior: float) -> None:
    """Add the rounds of one set to its arms, and update their indices."""
    for j in range(len(chosen)):
        arm = chosen[j]
        state.pulls[arm] += rounds
        state.reward[arm] += totals[j]
        state.indices[arm] = frozen_index(rule, factor, prior, state.plays[0], state.reward[arm], state.pulls[arm])
    state.ranking.moved(state.indices, chosen)


def all_stay(state: State, chosen: Ints, rounds: int, rule: int, factor: float, prior: float, theta: float) -> bool:
    """Whether every arm of the set is above theta after so many more rounds, whatever they earn."""
    for j in range(len(chosen)):
        arm = chosen[j]
        pulls = state.pulls[arm] + rounds
        if pulls == rounds or not stays_above(rule, factor, prior, state.plays[0], state.reward[arm], pulls, theta):
            return False
    return True


class RecentState(NamedTuple):
    """What is known of the arms, and since when.

    pulls, reward, indices: of every arm
    since, turn: pulls and reward when the recent plays began, and when the plays last doubled
    plays: T k / n
    size: k
    """

    pulls: Ints
    reward: Floats
    indices: Floats
    since: Any
    turn: Any
    plays: Floats
    size: Ints


@policy
class RecentKLMOSS(NamedTuple):
    """Play the k arms of largest index, the lesser of KL-MOSS's for all plays of the arm and for its recent ones.

    Recent are the last half to three quarters of an arm's plays: whenever its plays have doubled, forget those before
    the last doubling.
    """

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> RecentState:
        counts = np.zeros(n, np.int64), np.zeros(n), np.full(n, np.inf), np.zeros((n, 2)), np.zeros((n, 2))
        return RecentState(*counts, np.array([horizon * k / n]), np.array([k]))

    def select(self, state: RecentState, rng: Generator) -> Ints:
        return largest(state.indices, state.size[0], rng)

    def update(self, state: RecentState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        plays = state.plays[0]
        for j in range(len(chosen)):
            arm = chosen[j]
            state.pulls[arm] += 1
            state.reward[arm] += rewards[j]
            pulls, reward = state.pulls[arm], state.reward[arm]
            if pulls >= max(16.0, 2.0 * state.turn[arm, 0]):
                for column in range(2):
                    state.since[arm, column] = state.turn[arm, column]
                state.turn[arm, 0] = pulls
                state.turn[arm, 1] = reward
            index = frozen_index(KL, 1.0, 0.0, plays, reward, pulls)
            if state.since[arm, 0] > 0.0:
                recent = int(pulls - state.since[arm, 0])
                index = min(index, frozen_index(KL, 1.0, 0.0, plays, reward - state.since[arm, 1], recent))
            state.indices[arm] = index


@policy
class FrozenThompson(NamedTuple):
    """Play the k arms of largest sample; draw an arm's from Beta(1 + C, 1 + N - C) only after it was played.

    An optimal arm whose sample is too low is not played, so its sample is never drawn again.
    """

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> State:
        return new_state(n, k, 0.0)

    def select(self, state: State, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, state.size[0], rng)

    def update(self, state: State, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        for j in range(len(chosen)):
            arm = chosen[j]
            state.pulls[arm] += 1
            state.reward[arm] += rewards[j]
            state.indices[arm] = rng.beta(1.0 + state.reward[arm], 1.0 + state.pulls[arm] - state.reward[arm])
        state.ranking.moved(state.indices, chosen)


@policy
class OptimisticThompson(NamedTuple):
    """Play the k arms of largest sample from Beta(1 + C, 1 + N - C), or of its mean where the sample is below it."""

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> State:
        return new_state(n, k, 0.0)

    def select(self, state: State, rng: Generator) -> Ints:
        for arm in range(len(state.indices)):
            a = 1.0 + state.reward[arm]
            b = 1.0 + state.pulls[arm] - state.reward[arm]
            state.indices[arm] = max(rng.beta(a, b), a / (a + b))
        return largest(state.indices, state.size[0], rng)

    def update(self, state: State, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        for j in range(len(chosen)):
            state.pulls[chosen[j]] += 1
            state.reward[chosen[j]] += rewards[j]


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
