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
from reference import policies_over_sets as reference
from seeded import generator
from setwise import InputError, SetKLUCB, SetThompson, SetUCB
from setwise.environments import MNL, PRESETS, FullBandit, Independent, Scaled, Table
from setwise.kernels.ranking import FEW_ARMS
from setwise.policies import _sets
from setwise.policies._sets import add_rewards
from setwise.policies.set_thompson import draw_total
from setwise.policies.set_ucb import SetsState
from setwise.testing import check_policy, check_same_bits
from setwise.types import Floats, Generator, Ints

LEAST_P = 1e-6
FROZEN = [SetUCB, SetKLUCB]
EVERY = [*FROZEN, SetThompson]
MEANS = (0.3, 0.85, 0.1, 0.5, 0.02, 0.9, 0.6)
RARE = (0.3, 0.1, 0.02, 0.0, 0.25, 0.01, 0.05)

each = pytest.mark.parametrize("kind", EVERY)
frozen = pytest.mark.parametrize("kind", FROZEN)


def world_of(feedback: str, means: Any, k: int) -> Any:
    """Arms of these means, divided by k if at most one of them is rewarded in a round; or only their totals."""
    if feedback == "choice":
        return Independent(np.array(means) / k, k=k, feedback="choice")
    world = Independent(means, k=k)
    return FullBandit(world) if feedback == "total" else world


def policy_of(kind: Any, feedback: str, k: int, **parameters: Any) -> Any:
    """The policy, told of the largest total."""
    return kind(**parameters) if kind is SetThompson else kind(total=1.0 if feedback == "choice" else k, **parameters)


def reference_of(policy: Any, n: int, k: int, horizon: int) -> Any:
    return getattr(reference, type(policy).__name__)(n, k, horizon, **policy._asdict())


def selected(policy: Any, state: Any, rng: Any) -> tuple[int, ...]:
    return tuple(int(arm) for arm in policy.select(state, rng))


def assert_same_facts(state: Any, plain: Any) -> None:
    """That the policy knows what its reference knows: counts exactly, numbers up to rounding."""
    known = getattr(state, "sets", state)
    for name, wanted in plain.facts().items():
        found = known.hits + known.misses if name == "plays" else getattr(known, name)
        exact = np.issubdtype(wanted.dtype, np.integer)
        assert np.array_equal(found, wanted) if exact else np.allclose(found, wanted, 1e-9, 1e-12), name


def assert_law(found: Counter[Any], law: dict[Any, float]) -> None:
    """That the counts are a sample of the law; what is expected less than ten times is put together."""
    draws = sum(found.values())
    usual = [outcome for outcome, chance in law.items() if chance * draws >= 10]
    counts, expected = [found[outcome] for outcome in usual], [law[outcome] * draws for outcome in usual]
    assert len(usual) > 1 and set(found) <= set(law)
    if draws - sum(expected) >= 10:
        counts, expected = [*counts, draws - sum(counts)], [*expected, draws - sum(expected)]
    expected = [value * sum(counts) / sum(expected) for value in expected]
    assert stats.chisquare(counts, expected).pvalue > LEAST_P


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
        ([0.5] * 998, 1000, 1000),  # the variance is 1/2000: c = 1000 (1/4) 2000 = 500,000, see below
    ],
)
def test_the_posterior_of_totals_between_is_narrower(totals: list[float], first: float, second: float) -> None:
    """Kolmogorov-Smirnov, against the Beta law worked out by hand."""
    rng = generator(2)
    if len(totals) > 900:
        first = second = 250_000
    square = sum(total**2 for total in totals)
    drawn = [draw_total(float(len(totals)), sum(totals), square, rng) for _ in range(4000)]
    assert stats.kstest(drawn, stats.beta(first, second).cdf).pvalue > LEAST_P


def test_shares_of_a_total_add_up_to_a_whole_number() -> None:
    off = [k for k in range(1, 60) if math.fsum([0.0]) + float(np.add.accumulate(np.full(k, 1 / k))[-1]) != 1.0]
    assert len(off) > 10
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


def test_another_alpha_is_found_out() -> None:
    for kind in FROZEN:
        with pytest.raises(AssertionError):
            policy, rng = kind(), generator(3)
            plain, state = (
                reference_of(policy._replace(alpha=0.8 * policy.alpha), 5, 2, 100),
                policy.init(5, 2, 100, rng),
            )
            for _ in range(100):
                chosen = np.array(selected(policy, state, rng))
                assert plain.allowed(chosen)
                rewards = (np.arange(2) == 0) * (rng.random() < 0.4) * 1.0
                policy.update(state, chosen, rewards, rng)
                plain.update(chosen.tolist(), rewards.tolist())


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
    world, policy, rng = world_of(feedback, RARE[:n], k), policy_of(kind, feedback, k, alpha=0.1), generator(10)
    plain, state = reference_of(policy, n, k, 1500), policy.init(n, k, 1500, rng)
    rewards, played, longest = np.zeros(k), 0, 0
    while played < 1500:
        chosen = np.array(selected(policy, state, rng))
        rounds = min(policy.certain_rounds(state, chosen), 1500 - played)
        totals = np.zeros(k)
        for _ in range(rounds):
            assert plain.allowed(chosen), (played, rounds)
            world.draw(chosen, rng, rewards)
            plain.update(chosen.tolist(), rewards.tolist())
            totals += rewards
        policy.update_many(state, chosen, totals, rounds)
        assert_same_facts(state, plain)
        played, longest = played + rounds, max(longest, rounds)
    assert longest > 20


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
    row = int(state.row[0]) if np.array_equal(chosen, state.chosen) else -1
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
    Case(feedback, 5, 2, alpha, 300, 2000) for feedback in ("choice", "independent", "total") for alpha in (0.5, 0.05)
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
    case = QUICK[1]
    wrong = sample(Overstaying(SetUCB(alpha=case.alpha)), case, 1, compiled=False)
    assert least_p_value(wrong, sample(SetUCB(alpha=case.alpha), case, 2, fast_forward=False)) < LEAST_P / (1 + case.n)


# The contract, sizes and refusals.


@each
@pytest.mark.parametrize("feedback", ["independent", "total"])
def test_policies_over_sets_keep_the_contract_where_several_arms_are_rewarded(kind: Any, feedback: str) -> None:
    check_policy(policy_of(kind, feedback, 3), world_of(feedback, MEANS[:6], 3), rounds=150)


@each
@pytest.mark.parametrize(("n", "k"), [(10, 4), (12, 9), (90, 90), (70, 68)])
def test_interpreted_and_compiled_runs_have_the_same_bits_at_any_size(kind: Any, n: int, k: int) -> None:
    """Also with all arms, and where C(69, 34) is larger than any integer of 64 bits."""
    check_same_bits(kind(), MNL(np.linspace(1.0, 0.1, n), k=k), horizon=150)


@each
def test_the_best_set_of_a_table_without_structure_is_found(kind: Any) -> None:
    rng = generator(13)
    sets = list(itertools.combinations(range(5), 2))
    table = dict(zip(sets, rng.random((10, 2)) * 0.25, strict=True))
    table[1, 3] = np.array([0.4, 0.5])
    result = sw.simulate(kind(), Table(table), 20_000, runs=4, seed=1)
    assert np.argsort(-result.pulls.sum(axis=0))[:2].tolist() in ([1, 3], [3, 1])
    assert (result.pulls[:, [1, 3]] > 15_000).all()
    assert result.regret[:, -1].max() < 0.1 * sw.simulate(sw.Uniform(), Table(table), 20_000).regret[:, -1].min()


@each
def test_available_arms_are_chosen_by_the_values_of_their_sets(kind: Any) -> None:
    """Of the sets without arm 2, {0, 4} earned by far the most; with fewer arms than k, all of them are chosen."""
    policy, rng = kind(), generator(14)
    state = policy.init(6, 2, 10**6, rng)
    for arms in itertools.combinations(range(6), 2):
        best = {(0, 4): 0.6, (2, 3): 0.9}.get(arms, 0.1)
        for played in range(1000):
            policy.update(state, np.array(arms), np.array([float(played % 10 < 10 * best), 0.0]), rng)
    for available, wanted in [
        ([1, 1, 1, 1, 1, 1], [2, 3]),
        ([1, 1, 0, 1, 1, 1], [0, 4]),
        ([0, 0, 1, 1, 1, 1], [2, 3]),
        ([0, 1, 0, 0, 1, 0], [1, 4]),
        ([0, 0, 0, 0, 0, 1], [5]),
    ]:
        assert policy.select_from(state, np.array(available, np.bool_), rng).tolist() == wanted


@each
def test_available_sets_that_tie_are_equally_likely(kind: Any) -> None:
    policy, rng = kind(), generator(15)
    state = policy.init(6, 3, 100, rng)
    available = np.array([1, 1, 0, 1, 1, 1], np.bool_)
    found = Counter(tuple(policy.select_from(state, available, rng).tolist()) for _ in range(1500))
    assert_law(found, dict.fromkeys(itertools.combinations([0, 1, 3, 4, 5], 3), 0.1))


@each
def test_a_set_of_fewer_arms_teaches_nothing(kind: Any) -> None:
    policy, rng = kind(), generator(16)
    state = policy.init(5, 3, 100, rng)
    policy.update(state, np.array([0, 1, 2]), np.array([1.0, 0.0, 0.0]), rng)
    before = copy.deepcopy(state)
    policy.update(state, np.array([3, 1]), np.array([1.0, 0.0]), rng)
    if kind is not SetThompson:
        policy.update_many(state, np.array([3, 1]), np.array([1.0, 0.0]), 5)
        assert policy.certain_rounds(state, np.array([3, 1])) == 1
    known, wanted = (getattr(one, "sets", one) for one in (state, before))
    for name in ("pulls", "reward", "indices", "hits", "misses", "sums"):
        assert np.array_equal(getattr(known, name, 0), getattr(wanted, name, 0))


@each
@pytest.mark.parametrize(("n", "k", "more"), [(5, 2, 6), (5, 2, 20), (4, 4, 6), (12, 3, 14)])
def test_what_is_known_of_a_set_is_kept_when_arms_are_added(kind: Any, n: int, k: int, more: int) -> None:
    policy, rng = policy_of(kind, "independent", k), generator(17)
    plain, state = reference_of(policy, n, k, 100), policy.init(n, k, 100, rng)
    for _ in range(2 * math.comb(n, k)):
        chosen = np.array(selected(policy, state, rng))
        rewards = (rng.random(k) < np.linspace(0.9, 0.1, k)) * 1.0
        policy.update(state, chosen, rewards, rng)
        plain.update(chosen.tolist(), rewards.tolist())
    larger, wanted = policy.grow(state, more, rng), reference_of(policy, more, k, 100)
    wanted.totals.update(plain.totals)
    assert_same_facts(larger, wanted)
    if kind is SetThompson:
        assert_same_hits(larger, state, n, more, k)
        return
    for _ in range(math.comb(more, k) - math.comb(n, k)):
        chosen = np.array(selected(policy, larger, rng))
        assert chosen.max() >= n and wanted.allowed(chosen)
        policy.update(larger, chosen, np.zeros(k), rng)
        wanted.update(chosen.tolist(), [0.0] * k)
    for _ in range(20):
        chosen = np.array(selected(policy, larger, rng))
        assert wanted.allowed(chosen)
        policy.update(larger, chosen, np.zeros(k), rng)
        wanted.update(chosen.tolist(), [0.0] * k)


def assert_same_hits(larger: Any, state: Any, n: int, more: int, k: int) -> None:
    hits = dict(zip(itertools.combinations(range(n), k), state.hits, strict=True))
    found = dict(zip(itertools.combinations(range(more), k), larger.hits, strict=True))
    assert found == {arms: hits.get(arms, 0.0) for arms in found}


@each
def test_a_study_learns_about_sets_while_arms_come_and_go(kind: Any) -> None:
    study = sw.Study.memory(["a", "b", "c", "d"], 2, kind(), 2000, seed=1)
    rng = generator(18)

    def play(rounds: int, best: set[str]) -> Counter[frozenset[str]]:
        found: Counter[frozenset[str]] = Counter()
        for _ in range(rounds):
            decision = study.ask()
            earned = rng.random() < (0.9 if set(decision.arms) == best else 0.1)
            study.tell(decision, {decision.arms[0]: 1} if earned else {})
            found[frozenset(decision.arms)] += 1
        return found

    assert play(300, {"b", "d"}).most_common(1)[0][0] == {"b", "d"}
    study.add_arm("e")
    assert play(500, {"c", "e"}).most_common(1)[0][0] == {"c", "e"}
    study.retire_arm("c")
    assert not any("c" in arms for arms in play(100, {"a", "b"}))
    assert study.verify().ok


@each
def test_more_sets_than_can_be_learned_about_are_refused(kind: Any) -> None:
    name = kind.__name__
    match = rf"{name} learns about every set by itself, at most 100,000; there are 184,756 sets of 10 of 20 arms: use "
    with pytest.raises(InputError, match=match):
        sw.simulate(kind(), MNL(np.ones(20), k=10), 10)
    with pytest.raises(InputError, match=match):
        kind().init(20, 10, 10, generator())
    with pytest.raises(InputError, match=r"there are more than 10\^15 sets of 15000 of 30000 arms"):
        sw.simulate(kind(), MNL(np.ones(30_000), k=15_000), 10)
    with pytest.raises(InputError, match="there are 170,544 sets of 7 of 22 arms"):
        kind().grow(kind().init(19, 7, 10, generator()), 22, generator())
    with pytest.raises(InputError, match="n=5 is less than the 7 arms there are"):
        kind().grow(kind().init(7, 3, 10, generator()), 5, generator())
    study = sw.Study.memory([f"arm {arm}" for arm in range(19)], 9, kind(), 100, seed=1)
    with pytest.raises(InputError, match="there are 167,960 sets of 9 of 20 arms"):
        study.add_arm("another")
    assert len(study.ask().arms) == 9 and study.verify().ok


@pytest.mark.parametrize(("n", "k"), [(20, 4), (100_000, 1), (447, 445), (19, 9)])
def test_up_to_100_000_sets_fit(n: int, k: int) -> None:
    policy, rng = SetUCB(), generator(19)
    state = policy.init(n, k, 100, rng)
    chosen = np.array(policy.select(state, rng))
    assert len(set(chosen.tolist())) == k and len(state.sets.indices) == math.comb(n, k) <= _sets.MOST_SETS
    policy.update(state, chosen, np.zeros(k), rng)
    assert state.sets.pulls.sum() == 1


@frozen
def test_a_total_that_is_too_small_for_the_world_is_refused(kind: Any) -> None:
    name = kind.__name__
    worlds: list[tuple[Any, float]] = [
        (Independent([0.5, 0.4, 0.3], k=2), 2),
        (Scaled(MNL([1.0, 0.5, 0.2], k=2), [1.0, 4.0, 2.0]), 4),
        (Scaled(Independent([0.5, 0.4, 0.3], k=2), 4.0), 8),
        (FullBandit(Independent([0.5, 0.4, 0.3], k=2)), 2),
    ]
    for world, most in worlds:
        match = rf"{name} has total=1, but a set can earn {most:g} in a round here: use {name}\(total={most:g}\)"
        with pytest.raises(InputError, match=match):
            sw.simulate(kind(), world, 10)
        sw.simulate(kind(total=most), world, 10, compiled=False)
    for k in range(1, 30):
        sw.simulate(kind(), FullBandit(MNL(np.ones(k + 1), k=k)), 2, compiled=False)


@sw.environment
class Unsaid(NamedTuple):
    """A world that does not say whether several arms are rewarded."""

    n: int = 3
    k: int = 2

    def means(self, chosen: Ints, out: Floats) -> None:
        out[:] = 0.5

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        rewards[:] = 0.5

    def best(self) -> Ints:
        return np.array([0, 1])


@frozen
def test_rewards_that_add_up_to_more_than_the_total_are_refused(kind: Any) -> None:
    name = kind.__name__
    with pytest.raises(InputError, match=r"total=2\), or say feedback='choice' if at most one arm is rewarded"):
        sw.simulate(kind(), Unsaid(), 10)
    match = rf"the rewards add up to 2; {name} has total=1, the largest total of a set: use {name}\(total=2\)"
    with pytest.raises(InputError, match=match):
        kind().update(kind().init(3, 2, 10, generator()), [0, 1], [1, 1], generator())
    study = sw.Study.memory(["a", "b", "c"], 2, kind(), 100, seed=1)
    decision = study.ask()
    with pytest.raises(InputError, match=match):
        study.tell(decision, dict.fromkeys(decision.arms, 1))
    study.tell(decision, winner=decision.arms[0])


@each
def test_worlds_that_hide_rewards_are_refused_and_so_are_arms_there_are_not(kind: Any) -> None:
    with pytest.raises(InputError, match="learns from every reward of a set; Cascade does not show all of them"):
        sw.simulate(kind(), PRESETS["cascade"](), 10)
    with pytest.raises(InputError, match="arm 7 is chosen; there are 5 arms, numbered from 0"):
        kind().update(kind().init(5, 2, 10, generator()), [0, 7], [0, 1], generator())
