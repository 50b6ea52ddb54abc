"""Policies with an arm for every set: values by hand, plain references, the laws of fast-forward and of posteriors.

The tests of laws have fixed seeds. Each requires p > 1e-6 of a chi-square, binomial or Kolmogorov-Smirnov test; there
are fewer than 200, so that with other seeds all together raise a false alarm with probability below 2e-4.
"""

import copy
import itertools
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import setwise as sw
from over_sets import (
    EVERY,
    FROZEN,
    LEAST_P,
    MEANS,
    RARE,
    assert_law,
    assert_same_facts,
    policy_of,
    reference_of,
    selected,
    world_of,
)
from reference import policies_over_sets as reference
from seeded import generator
from setwise import SetKLUCB, SetThompson, SetUCB
from setwise.kernels.ranking import FEW_ARMS
from setwise.policies._sets import add_rewards
from setwise.policies.set_thompson import draw_total
from setwise.policies.set_ucb import SetsState
from setwise.types import Floats, Generator, InputError, Ints

each = pytest.mark.parametrize("kind", EVERY)
frozen = pytest.mark.parametrize("kind", FROZEN)


# Values worked out by hand.


def test_the_indices_after_three_rounds_are_those_by_hand() -> None:
    """Sets of 2 of 3 arms, T = 100: {0, 2} earned 1, 0 and 1, so that N = 3 and the mean is 2/3."""
    rng = generator(1)
    ucb, kl_ucb = (policy.init(3, 2, 100, rng) for policy in (SetUCB(), SetKLUCB()))
    for rewards in ([1.0, 0.0], [0.0, 0.0], [0.0, 1.0]):
        SetUCB().update(ucb, np.array([2, 0]), np.array(rewards), rng)
        SetKLUCB().update(kl_ucb, np.array([0, 2]), np.array(rewards), rng)
    assert ucb.sets.pulls.tolist() == [0, 3, 0] and ucb.sets.reward.tolist() == [0, 2, 0]
    assert ucb.sets.indices[1] == pytest.approx(2 / 3 + math.sqrt(math.log(100) / 6), rel=1e-15)
    # 3 kl(2/3, q) = log 100 is q^2 (1 - q) = (2/3)^2 (1/3) / 100; near 1, that is 1 - q = 0.00148148 / q^2.
    q = kl_ucb.sets.indices[1]
    assert q == pytest.approx(1 - 0.0014859, abs=5e-8) and q**2 * (1 - q) == pytest.approx(4 / 2700, rel=1e-9)
    assert ucb.sets.indices[[0, 2]].tolist() == kl_ucb.sets.indices[[0, 2]].tolist() == [math.inf, math.inf]


def test_a_larger_total_scales_the_index() -> None:
    """M = 4: totals of 3 and 1 have the mean 2, which is 1/2 of M, and kl(1/2, q) = -log(4 q (1 - q)) / 2."""
    rng = generator(1)
    ucb, kl_ucb = SetUCB(total=4.0), SetKLUCB(total=4.0)
    states = ucb.init(4, 4, 100, rng), kl_ucb.init(4, 4, 100, rng)
    for policy, state in zip((ucb, kl_ucb), states, strict=True):
        for rewards in ([1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]):
            policy.update(state, np.arange(4), np.array(rewards), rng)
    assert states[0].sets.indices[0] == pytest.approx(2 + 4 * math.sqrt(math.log(100) / 4))
    share = (1 + math.sqrt(1 - 1 / 100)) / 2  # 4 q (1 - q) = 1/100
    assert states[1].sets.indices[0] == pytest.approx(4 * share)


def test_the_posterior_is_that_of_a_coin_until_a_set_earns_more_than_one_arm_can() -> None:
    policy, rng = SetThompson(bound=2.0), generator(1)
    state = policy.init(3, 2, 100, rng)
    for rewards in ([2.0, 0.0], [0.0, 0.0], [0.0, 2.0]):
        policy.update(state, np.array([0, 1]), np.array(rewards), rng)
    assert (state.hits.tolist(), state.misses.tolist()) == ([2, 0, 0], [1, 0, 0])
    assert state.largest.tolist() == [1.0]
    policy.update(state, np.array([1, 2]), np.array([2.0, 1.0]), rng)
    assert state.largest.tolist() == [1.5] and state.sums.tolist() == [2, 0, 1.5] and state.squares[2] == 2.25


@pytest.mark.parametrize(
    ("totals", "first", "second"),
    [
        ([], 1, 1),
        ([1.0, 1.0, 0.0], 3, 2),
        ([0.5, 0.5], 4, 4),  # of 0, 1, 1/2, 1/2 the mean is 1/2 and the variance 1/8: c = 4 (1/4) / (1/8)
        ([0.5] * 998, 250_000, 250_000),  # the variance is 1/2000: c = 1000 (1/4) 2000
    ],
)
def test_the_posterior_of_totals_between_is_narrower(totals: list[float], first: float, second: float) -> None:
    """Kolmogorov-Smirnov, against the Beta law worked out by hand."""
    rng = generator(2)
    square = sum(total**2 for total in totals)
    drawn = [draw_total(float(len(totals)), sum(totals), square, rng) for _ in range(4000)]
    assert stats.kstest(drawn, stats.beta(first, second).cdf).pvalue > LEAST_P


def test_shares_of_a_total_add_up_to_a_whole_number() -> None:
    plain = [float(np.add.accumulate(np.full(k, 1 / k))[-1]) for k in range(1, 60)]
    assert min(plain) < 1 < max(plain)
    for k in range(1, 60):
        for total in range(k + 1):
            assert add_rewards(np.full(k, total / k), 1.0) == total
            assert add_rewards(np.full(k, 0.3 * total / k), 0.3) == total
    assert add_rewards(np.full(7, 10**12 / 7), 1.0) == 10**12
    for total in (0.3, 1 + 1e-8, 2.5, 1e300):
        assert add_rewards(np.array([total]), 1.0) == total


# Step by step as the plain references.


FORMS: list[tuple[Any, dict[str, float]]] = [
    (SetUCB, {}),
    (SetUCB, {"alpha": 0.07}),
    (SetKLUCB, {}),
    (SetKLUCB, {"alpha": 0.2}),
    (SetThompson, {}),
]
SIZES = [(5, 2), (6, 3), (4, 1), (5, 4), (3, 3)]


@pytest.mark.parametrize(("kind", "parameters"), FORMS, ids=str)
@pytest.mark.parametrize("feedback", ["choice", "independent", "total"])
@pytest.mark.parametrize(("n", "k"), SIZES)
def test_every_round_is_that_of_the_reference(kind: Any, parameters: Any, feedback: str, n: int, k: int) -> None:
    world, policy, rng = world_of(feedback, MEANS[:n], k), policy_of(kind, feedback, k, **parameters), generator(3)
    plain, state = reference_of(policy, n, k, 120), policy.init(n, k, 120, rng)
    rewards = np.zeros(k)
    for played in range(120):
        chosen = np.array(selected(policy, state, rng))
        assert plain.allowed(chosen), played
        world.draw(chosen, rng, rewards)
        turned = rng.permutation(k)
        policy.update(state, chosen[turned], rewards[turned], rng)
        plain.update(chosen.tolist(), rewards.tolist())
        if played < 20 or played % 10 == 9:
            assert_same_facts(state, plain)


@pytest.mark.parametrize(("kind", "parameters"), FORMS[:4], ids=str)
@pytest.mark.parametrize("bound", [1.0, 2.5])
def test_rewards_of_any_amount_are_learned_as_by_the_reference(kind: Any, parameters: Any, bound: float) -> None:
    policy, rng = kind(total=2 * bound, **parameters), generator(4)
    plain, state = reference_of(policy, 5, 2, 300), policy.init(5, 2, 300, rng)
    for played in range(300):
        chosen = np.array(selected(policy, state, rng))
        assert plain.allowed(chosen), played
        rewards = bound * rng.random(2) * np.array(MEANS)[chosen]
        policy.update(state, chosen, rewards, rng)
        plain.update(chosen.tolist(), rewards.tolist())
    assert_same_facts(state, plain)


@frozen
def test_another_alpha_is_found_out(kind: Any) -> None:
    policy, rng = kind(), generator(3)
    plain, state = reference_of(policy._replace(alpha=0.8 * policy.alpha), 5, 2, 100), policy.init(5, 2, 100, rng)
    allowed = []
    for _ in range(100):
        chosen = np.array(selected(policy, state, rng))
        allowed.append(plain.allowed(chosen))
        rewards = np.array([float(rng.random() < 0.4), 0.0])
        policy.update(state, chosen, rewards, rng)
        plain.update(chosen.tolist(), rewards.tolist())
    assert not all(allowed)


def test_rewards_between_0_and_the_bound_are_tossed_for() -> None:
    policy, rng = SetThompson(bound=2.0), generator(5)
    state = policy.init(4, 2, 100, rng)
    for _ in range(2000):
        policy.update(state, np.array([3, 1]), np.array([0.4, 0.2]), rng)
        policy.update(state, np.array([0, 1]), np.array([0.7, 0.8]), rng)
    assert (state.hits + state.misses).tolist() == [2000, 0, 0, 0, 2000, 0]
    assert stats.binomtest(int(state.hits[4]), 2000, 0.3).pvalue > LEAST_P
    assert stats.binomtest(int(state.hits[0]), 2000, 0.75).pvalue > LEAST_P


# Ties.


@each
@pytest.mark.parametrize(("n", "k"), [(5, 2), (10, 4)], ids=["few", "many"])
def test_every_first_set_is_equally_likely(kind: Any, n: int, k: int) -> None:
    assert (math.comb(n, k) > FEW_ARMS) == (n == 10)
    rng = generator(6)
    state = kind().init(n, k, 100, rng)
    sets = list(itertools.combinations(range(n), k))
    found = Counter(selected(kind(), copy.deepcopy(state), rng) for _ in range(20 * len(sets)))
    assert_law(found, dict.fromkeys(sets, 1 / len(sets)))


@frozen
@pytest.mark.parametrize("feedback", ["choice", "total"])
def test_sets_that_earned_the_same_are_equally_likely_also_by_shares(kind: Any, feedback: str) -> None:
    """All ten sets of 9 of 10 arms earned 1, 2, 0 and 1 in some order; shares of ninths do not add up exactly."""
    policy, rng = kind(total=9.0), generator(7)
    state = policy.init(10, 9, 100, rng)
    sets = list(itertools.combinations(range(10), 9))
    for turn, arms in enumerate(sets):
        for total in rng.permutation([1.0, 2.0, 0.0, 1.0, 3.0]):
            rewards = np.full(9, total / 9) if feedback == "total" else np.array([total, *[0.0] * 8])
            policy.update(state, np.array(arms), rewards, rng)
        assert state.sets.pulls[turn] == 5
    assert len(set(state.sets.indices)) == 1
    found = Counter(selected(policy, copy.deepcopy(state), rng) for _ in range(1000))
    assert_law(found, dict.fromkeys(sets, 0.1))


# The law of Thompson sampling.


HISTORIES: dict[str, tuple[str, int]] = {
    "nothing": ("choice", 0),
    "a few choices": ("choice", 12),
    "many choices": ("choice", 500),
    "a few totals of two arms": ("independent", 12),
    "many totals of two arms": ("independent", 400),
    "shares of totals": ("total", 60),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_sets_have_the_law_of_drawing_every_total(name: str) -> None:
    feedback, rounds = HISTORIES[name]
    world, policy, rng = world_of(feedback, MEANS[:5], 2), SetThompson(), generator(8)
    plain, state = reference_of(policy, 5, 2, 100), policy.init(5, 2, 100, rng)
    rewards = np.zeros(2)
    for _ in range(rounds):
        chosen = np.array(selected(policy, state, rng))
        world.draw(chosen, rng, rewards)
        policy.update(state, chosen, rewards, rng)
        plain.update(chosen.tolist(), rewards.tolist())
    assert (state.largest[0] > 1) == (feedback != "choice")
    law = plain.law()
    assert_law(Counter(selected(policy, state, rng) for _ in range(6000)), law)
    everything = np.ones(5, np.bool_)
    found = Counter(tuple(policy.select_from(state, everything, rng).tolist()) for _ in range(3000))
    assert_law(found, law)


def test_a_law_that_is_off_is_noticed() -> None:
    policy, plain, rng = SetThompson(), reference.SetThompson(5, 2, 100), generator(9)
    state = policy.init(5, 2, 100, rng)
    for arms in itertools.combinations(range(5), 2):
        for reward in ([1.0, 0.0], [0.0, 0.0]):
            policy.update(state, np.array(arms), np.array(reward), rng)
            plain.update(arms, reward)
    plain.update((0, 1), [1.0, 0.0])
    with pytest.raises(AssertionError):
        assert_law(Counter(selected(policy, state, rng) for _ in range(6000)), plain.law())


# Fast-forward.


@frozen
@pytest.mark.parametrize("feedback", ["choice", "independent", "total"])
@pytest.mark.parametrize(("n", "k"), [(5, 2), (7, 4)])
def test_a_set_is_held_only_as_long_as_the_reference_allows_it(kind: Any, feedback: str, n: int, k: int) -> None:
    world, policy, rng = world_of(feedback, RARE[:n], k), policy_of(kind, feedback, k, alpha=0.01), generator(10)
    plain, state = reference_of(policy, n, k, 1000), policy.init(n, k, 1000, rng)
    rewards, played, longest = np.zeros(k), 0, 0
    while played < 1000:
        chosen = np.array(selected(policy, state, rng))
        rounds = min(policy.certain_rounds(state, chosen), 1000 - played)
        totals = np.zeros(k)
        for _ in range(rounds):
            assert plain.allowed(chosen), (played, rounds)
            world.draw(chosen, rng, rewards)
            plain.update(chosen.tolist(), rewards.tolist())
            totals += rewards
        policy.update_many(state, chosen, totals, rounds)
        assert_same_facts(state, plain)
        played, longest = played + rounds, max(longest, rounds)
    assert longest > 10


@frozen
@given(
    plays=st.lists(st.integers(1, 300), min_size=10, max_size=10),
    shares=st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=10, max_size=10),
    total=st.sampled_from([1.0, 2.0, 3.7]),
    alpha=st.sampled_from([0.01, 0.1, 0.5, 2.0]),
)
@settings(max_examples=150)
def test_without_a_reward_the_set_stays_exactly_as_long_as_it_is_certain_or_longer(
    kind: Any, plays: list[int], shares: list[float], total: float, alpha: float
) -> None:
    """After all but one of these rounds its index is still above all others, as learned round by round."""
    policy, rng = kind(alpha=alpha, total=total), generator(11)
    state = policy.init(5, 2, 1000, rng)
    nothing = np.zeros(2)
    for arms, count, share in zip(itertools.combinations(range(5), 2), plays, shares, strict=True):
        policy.update_many(state, np.array(arms), np.array([count * share * total, 0.0]), count)
    chosen = np.array(selected(policy, state, rng))
    rounds = min(policy.certain_rounds(state, chosen), 3000)
    row = int(state.row[0])
    others = np.delete(state.sets.indices, row).max()
    for _ in range(rounds - 1):
        policy.update(state, chosen, nothing, rng)
        assert state.sets.indices[row] > others
    assert rounds == 1 or selected(policy, state, rng) == tuple(chosen)


def test_the_only_set_is_certain_for_ever_and_a_tie_for_one_round() -> None:
    for kind in FROZEN:
        policy, rng = kind(), generator(12)
        state = policy.init(3, 3, 100, rng)
        policy.update(state, np.arange(3), np.zeros(3), rng)
        assert policy.certain_rounds(state, policy.select(state, rng)) >= 10**12
        state = policy.init(3, 2, 100, rng)
        assert policy.certain_rounds(state, policy.select(state, rng)) == 1
        for arms in ([0, 1], [0, 2], [1, 2]):
            policy.update(state, np.array(arms), np.zeros(2), rng)
        assert policy.certain_rounds(state, policy.select(state, rng)) == 1


class Case(NamedTuple):
    """Where fast-forward is compared with round by round: a small alpha holds sets for long."""

    feedback: str
    n: int
    k: int
    alpha: float
    runs: int
    horizon: int


QUICK = [
    Case(feedback, 5, 2, alpha, runs, horizon)
    for feedback in ("choice", "independent", "total")
    for alpha, runs, horizon in ((0.5, 300, 2000), (0.05, 300, 2000), (0.01, 2000, 100))
]
SLOW = [case._replace(n=7, k=3, runs=2000, horizon=10_000) for case in QUICK]


def sample(policy: Any, case: Case, seed: int, **options: Any) -> Any:
    world = world_of(case.feedback, RARE[: case.n], case.k)
    return sw.simulate(policy, world, case.horizon, case.runs, seed, checkpoints=[case.horizon // 2], **options)


def least_p_value(one: Any, other: Any) -> float:
    """Of Kolmogorov-Smirnov tests of regret and of every arm's plays."""
    columns = [
        (one.regret[:, -1].round(6), other.regret[:, -1].round(6)),
        *zip(one.pulls.T, other.pulls.T, strict=True),
    ]
    return min(stats.ks_2samp(*column).pvalue for column in columns)


def check_law(kind: Any, case: Case) -> None:
    policy = policy_of(kind, case.feedback, case.k, alpha=case.alpha)
    fast, slow = (sample(policy, case, seed, fast_forward=seed == 1) for seed in (1, 2))
    assert least_p_value(fast, slow) > LEAST_P / (1 + case.n)


@frozen
@pytest.mark.parametrize("case", QUICK, ids=str)
def test_fast_forward_has_the_law_of_round_by_round(kind: Any, case: Case) -> None:
    check_law(kind, case)


@pytest.mark.slow
@frozen
@pytest.mark.parametrize("case", SLOW, ids=str)
def test_fast_forward_has_the_law_of_round_by_round_in_many_runs(kind: Any, case: Case) -> None:
    check_law(kind, case)


@sw.policy
class Overstaying(NamedTuple):
    """Not the law: holds its set for one round longer than it is certain."""

    policy: SetUCB

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> SetsState:
        return self.policy.init(n, k, horizon, rng)

    def select(self, state: SetsState, rng: Generator) -> Ints:
        return self.policy.select(state, rng)

    def update(self, state: SetsState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        self.policy.update(state, chosen, rewards, rng)

    def certain_rounds(self, state: SetsState, chosen: Ints) -> int:
        return self.policy.certain_rounds(state, chosen) + 1

    def update_many(self, state: SetsState, chosen: Ints, totals: Floats, rounds: int) -> None:
        self.policy.update_many(state, chosen, totals, rounds)


def test_a_hold_that_is_one_round_too_long_is_noticed() -> None:
    case = QUICK[2]
    wrong = sample(Overstaying(SetUCB(alpha=case.alpha)), case, 1, compiled=False)
    assert least_p_value(wrong, sample(SetUCB(alpha=case.alpha), case, 2, fast_forward=False)) < LEAST_P / (1 + case.n)


@pytest.mark.parametrize("policy", [SetUCB, SetKLUCB])
def test_what_is_no_world_is_refused_in_one_sentence(policy: Any) -> None:
    with pytest.raises(InputError, match=r"None is not an environment; give an object such as setwise.paper.camera"):
        policy.for_world(None)
