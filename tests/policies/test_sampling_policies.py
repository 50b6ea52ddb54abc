"""Thompson sampling, epsilon-greedy, uniform random sets and the oracle: values, laws, and their intended worlds.

The tests of laws are chi-square or binomial tests at the level 1e-6 on fixed seeds: 8 of them, so below 8e-6 all
together with other seeds. The tests of convergence run on fixed seeds with wide margins.
"""

import copy
import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from seeded import generator
from setwise import InputError, simulate
from setwise.environments import MNL, Independent
from setwise.kernels.random_set import random_set
from setwise.policies.epsilon_greedy import EpsilonGreedy, share_at_random
from setwise.policies.oracle import Oracle
from setwise.policies.thompson import Thompson
from setwise.policies.uniform import Uniform

LEVEL = 1e-6
CLEAR = MNL([1.0, 0.1, 0.9, 0.1, 0.1, 0.05], k=2)


def frozen(state: Any) -> bytes:
    """Everything that is in a state."""
    return b"".join(frozen(part) if isinstance(part, tuple) else part.tobytes() for part in state)


def assert_law(draw: Callable[[], Any], law: dict[tuple[int, ...], float], draws: int) -> None:
    """Chi-square test that sets are drawn with these probabilities; sets of probability 0 never."""
    found = Counter(tuple(int(arm) for arm in draw()) for _ in range(draws))
    assert set(found) <= {outcome for outcome, chance in law.items() if chance > 0}
    outcomes = [outcome for outcome, chance in law.items() if chance > 0]
    expected = np.array([law[outcome] for outcome in outcomes]) * draws
    assert expected.min() > 20
    observed = np.array([found[outcome] for outcome in outcomes])
    assert len(outcomes) == 1 or stats.chisquare(observed, expected).pvalue > LEVEL


def evenly(n: int, k: int) -> dict[tuple[int, ...], float]:
    return dict.fromkeys(itertools.combinations(range(n), k), 1 / math.comb(n, k))


# Thompson


def test_thompson_plays_the_arms_that_always_won() -> None:
    policy, rng = Thompson(), generator(1)
    state = policy.init(7, 3, 1000, rng)
    winners = [0, 4, 5]
    state.successes[:] = 0.0
    state.failures[:] = 10.0**6 - 1
    state.successes[winners], state.failures[winners] = 10.0**6 - 1, 0.0
    for _ in range(200):
        assert sorted(policy.select(state, rng).tolist()) == winners


def test_thompson_draws_from_beta_distributions_with_a_uniform_prior() -> None:
    policy, rng = Thompson(), generator(2)
    state = policy.init(2, 1, 1000, rng)
    state.successes[:] = [2.0, 1.0]
    state.failures[:] = [1.0, 3.0]
    first, second = stats.beta(3, 2), stats.beta(2, 4)
    chance, _ = integrate.quad(lambda x: first.pdf(x) * second.cdf(x), 0.0, 1.0)
    assert_law(lambda: policy.select(state, rng), {(0,): chance, (1,): 1 - chance}, 6000)


def test_thompson_knows_nothing_at_first_and_plays_all_sets_alike() -> None:
    policy, rng = Thompson(), generator(3)
    state = policy.init(5, 2, 1000, rng)
    assert_law(lambda: np.sort(policy.select(state, rng)), evenly(5, 2), 3000)


def test_thompson_counts_whole_rewards_without_drawing() -> None:
    policy, rng = Thompson(bound=2.5), generator(4)
    state = policy.init(4, 2, 1000, rng)
    before = copy.deepcopy(rng.bit_generator.state)
    policy.update(state, np.array([3, 1]), np.array([2.5, 0.0]), rng)
    policy.update(state, np.array([1, 3]), np.array([2.5, 2.5]), rng)
    assert rng.bit_generator.state == before
    assert state.successes.tolist() == [0.0, 1.0, 0.0, 2.0]
    assert state.failures.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_thompson_turns_a_part_of_the_bound_into_a_coin() -> None:
    policy, rng = Thompson(bound=4.0), generator(5)
    state = policy.init(2, 1, 1000, rng)
    for _ in range(3000):
        policy.update(state, np.array([0]), np.array([1.0]), rng)
    wins = int(state.successes[0])
    assert wins + state.failures[0] == 3000
    assert stats.binomtest(wins, 3000, 0.25).pvalue > LEVEL


@pytest.mark.parametrize("bound", [0.0, -1.0, math.inf, math.nan])
def test_thompson_refuses_a_bound_that_makes_no_sense(bound: float) -> None:
    with pytest.raises(InputError, match="Thompson: bound"):
        Thompson(bound=bound)


def test_thompson_finds_the_best_set_where_it_can() -> None:
    """Among independent arms, which it was made for, and in a multinomial logit, the nearest that is compiled."""
    alone = Independent([0.9, 0.2, 0.8, 0.1, 0.3], k=2)
    few = simulate(Thompson(), alone, 1200, runs=2, seed=1, checkpoints=[600], compiled=False)
    assert (few.regret[:, -1] - few.regret[:, 0] < 0.05 * 600 * 0.5).all()
    many = simulate(Thompson(), CLEAR, 20_000, runs=4, seed=1)
    assert (many.pulls[:, [0, 2]] > 0.97 * 20_000).all()


# Epsilon-greedy


def test_the_share_of_random_sets_falls_with_the_rounds() -> None:
    assert share_at_random(5.0, 20, 10, 0) == 1.0
    assert share_at_random(5.0, 20, 10, 9) == 1.0
    assert share_at_random(5.0, 20, 10, 99) == 0.1
    assert share_at_random(0.0, 20, 10, 0) == 0.0


@pytest.mark.parametrize(("n", "k"), [(7, 3), (500, 60)], ids=["few", "many"])
def test_epsilon_greedy_without_exploration_plays_every_arm_once_and_then_the_best(n: int, k: int) -> None:
    policy, rng = EpsilonGreedy(c=0.0), generator(6)
    state = policy.init(n, k, 1000, rng)
    means = rng.random(n)
    for turn in range(60):
        chosen = policy.select(state, rng).copy()
        rest = np.delete(state.indices, chosen)
        assert len(set(chosen.tolist())) == k
        assert state.indices[chosen].min() >= rest.max()
        policy.update(state, chosen, (rng.random(k) < means[chosen]).astype(float), rng)
        if turn + 1 == math.ceil(n / k):
            assert state.pulls.min() == 1
    assert state.pulls.sum() == 60 * k
    played = state.reward / state.pulls
    assert np.array_equal(state.indices, played)


def test_epsilon_greedy_has_the_law_it_states() -> None:
    """Means 0.5, 0.5, 0.5, 1 and 0: arm 3 and one of the three, or, in a share of 0.25, any set."""
    policy, rng = EpsilonGreedy(c=0.5), generator(7)
    state = policy.init(5, 2, 1000, rng)
    for chosen, rewards in [([0, 1], [1, 1]), ([0, 1], [0, 0]), ([2, 3], [1, 1]), ([2, 4], [0, 0])]:
        policy.update(state, np.array(chosen), np.array(rewards, dtype=float), rng)
    assert state.rounds[0] == 4
    assert share_at_random(policy.c, 5, 2, 4) == 0.25
    law = {s: 0.25 / 10 + (0.75 / 3 if s in {(0, 3), (1, 3), (2, 3)} else 0.0) for s in evenly(5, 2)}
    assert_law(lambda: np.sort(policy.select(state, rng)), law, 4000)
    everything = np.ones(5, dtype=np.bool_)
    assert_law(lambda: np.sort(policy.select_from(state, everything, rng)), law, 4000)


def test_epsilon_greedy_explores_and_exploits_among_the_available_arms() -> None:
    rng = generator(8)
    available = np.array([True, False, True, True, False, True])
    few = itertools.combinations([0, 2, 3, 5], 2)
    for c, law in [(1e9, dict.fromkeys(few, 1 / 6)), (0.0, {(2, 3): 1.0})]:
        policy = EpsilonGreedy(c=c)
        state = policy.init(6, 2, 1000, rng)
        policy.update(state, np.arange(6), np.array([0.0, 1.0, 0.5, 1.0, 1.0, 0.0]), rng)
        assert_law(lambda policy=policy, state=state: np.sort(policy.select_from(state, available, rng)), law, 1500)


def test_epsilon_greedy_keeps_what_it_knows_when_arms_are_added() -> None:
    policy, rng = EpsilonGreedy(c=0.0), generator(9)
    state = policy.init(4, 2, 1000, rng)
    for _ in range(10):
        policy.update(state, policy.select(state, rng).copy(), np.array([1.0, 0.5]), rng)
    larger = policy.grow(state, 6, rng)
    for name in ("pulls", "reward", "indices"):
        assert np.array_equal(getattr(larger, name)[:4], getattr(state, name))
    assert (larger.rounds[0], larger.pulls[4:].tolist()) == (10, [0, 0])
    assert sorted(policy.select(larger, rng).tolist()) == [4, 5]


@pytest.mark.parametrize("c", [-0.1, math.inf, math.nan])
def test_epsilon_greedy_refuses_a_c_that_makes_no_sense(c: float) -> None:
    with pytest.raises(InputError, match="EpsilonGreedy: c"):
        EpsilonGreedy(c=c)


def test_epsilon_greedy_finds_the_best_set_if_it_explores_enough() -> None:
    found = simulate(EpsilonGreedy(c=40.0), CLEAR, 50_000, runs=4, seed=1)
    assert (found.pulls[:, [0, 2]] > 0.95 * 50_000).all()
    assert (found.pulls[:, [1, 3, 4, 5]] > 100).all()


# Uniform


def test_uniform_plays_every_sequence_alike() -> None:
    policy, rng = Uniform(), generator(10)
    state = policy.init(4, 2, 1000, rng)
    law = dict.fromkeys(itertools.permutations(range(4), 2), 1 / 12)
    assert_law(lambda: policy.select(state, rng), law, 3000)


def test_uniform_plays_every_available_set_alike() -> None:
    policy, rng = Uniform(), generator(11)
    state = policy.init(6, 2, 1000, rng)
    available = np.array([True, False, True, True, False, True])
    law = dict.fromkeys(itertools.combinations([0, 2, 3, 5], 2), 1 / 6)
    assert_law(lambda: np.sort(policy.select_from(state, available, rng)), law, 2000)
    only = np.array([False, False, False, True, False, False])
    assert policy.select_from(state, only, rng).tolist() == [3]


@settings(max_examples=50, deadline=None)
@given(n=st.integers(1, 12), share=st.floats(0.0, 1.0), seed=st.integers(0, 2**32 - 1))
def test_random_sets_have_distinct_arms_and_leave_the_list_as_it_was(n: int, share: float, seed: int) -> None:
    k = 1 + int(share * (n - 1))
    arms, chosen, rng = np.arange(n), np.zeros(k, np.int64), generator(seed)
    for _ in range(5):
        random_set(arms, chosen, rng)
        assert len(set(chosen.tolist())) == k
        assert set(chosen.tolist()) <= set(range(n))
        assert arms.tolist() == list(range(n))


def test_uniform_learns_nothing() -> None:
    policy, rng = Uniform(), generator(12)
    state = policy.init(5, 2, 1000, rng)
    before = frozen(state)
    policy.update(state, np.array([0, 1]), np.array([1.0, 1.0]), rng)
    assert frozen(state) == before


# All that can grow


@pytest.mark.parametrize("policy", [Thompson(), EpsilonGreedy(), Uniform()], ids=lambda policy: type(policy).__name__)
def test_arms_are_added_and_never_taken_away(policy: Any) -> None:
    rng = generator(13)
    state = policy.init(5, 2, 1000, rng)
    for _ in range(30):
        policy.update(state, policy.select(state, rng).copy(), np.array([1.0, 0.0]), rng)
    larger = policy.grow(state, 7, rng)
    played = {arm for _ in range(300) for arm in policy.select(larger, rng).tolist()}
    assert {5, 6} <= played <= set(range(7))
    if isinstance(policy, Thompson):
        assert larger.successes.tolist() == [*state.successes.tolist(), 0.0, 0.0]
        assert larger.failures.tolist() == [*state.failures.tolist(), 0.0, 0.0]
    with pytest.raises(InputError, match="n=4 is less than the 5 arms"):
        policy.grow(state, 4, rng)


# Oracle


def test_the_oracle_plays_the_given_arms_for_ever() -> None:
    policy, rng = Oracle([4, 1]), generator(14)
    state = policy.init(5, 2, 1000, rng)
    before = frozen(state)
    for _ in range(3):
        assert policy.select(state, rng).tolist() == [4, 1]
        policy.update(state, np.array([4, 1]), np.array([1.0, 0.0]), rng)
        policy.update_many(state, np.array([4, 1]), np.array([7.0, 1.0]), 9)
    assert policy.certain_rounds(state, np.array([4, 1])) >= 10**12
    assert frozen(state) == before


def test_the_oracle_of_a_world_has_no_regret() -> None:
    policy = Oracle.for_world(CLEAR)
    assert sorted(policy.arms.tolist()) == [0, 2]
    found = simulate(policy, CLEAR, 10**9, runs=2)
    assert (found.regret == 0.0).all()
    assert found.pulls[:, [0, 2]].tolist() == [[10**9] * 2] * 2


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        ([1, 1], "arm 1 more than once"),
        ([-1, 0], "the arm -1"),
        ([], r"the shape \(0,\)"),
        ([[0, 1]], r"the shape \(1, 2\)"),
        ([0.5], "whole numbers"),
    ],
)
def test_the_oracle_refuses_what_is_no_set(arms: Any, words: str) -> None:
    with pytest.raises(InputError, match=f"Oracle: arms .*{words}"):
        Oracle(arms)


@pytest.mark.parametrize(("arms", "words"), [([0], "1 arms; a set has k=2"), ([0, 5], "the arm 5; .* from 0 to 4")])
def test_the_oracle_refuses_a_game_of_other_sizes(arms: list[int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Oracle(arms).init(5, 2, 1000, generator())
