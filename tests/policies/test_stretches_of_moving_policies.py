"""Fast-forward of policies whose indices move with log t: certain rounds are certain, and the law is the same.

The tests of laws are two-sample Kolmogorov-Smirnov tests at the level 1e-6 on fixed seeds: 20 of them, so that with
other seeds all together raise a false alarm with probability 2e-5.
"""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import setwise as sw
from seeded import generator
from setwise.environments import MNL, Independent
from setwise.kernels.ranking import FEW_ARMS

LEVEL = 1e-6
POLICIES = [sw.AnytimeUCB(), sw.AnytimeUCB(alpha=0.05), sw.CUCB(), sw.CUCB(clip=True), sw.CombUCB1()]
CLEAR = Independent(np.array([0.9, 0.8, 0.2, 0.1, 0.1, 0.05]), k=2)
CHOICE = MNL([1.0, 0.8, 0.3, 0.2, 0.1], k=2)
each = pytest.mark.parametrize("policy", POLICIES, ids=repr)


def played(policy: Any, world: Any, rounds: int, seed: int) -> Any:
    """The state after some rounds."""
    rng, rewards = generator(seed), np.zeros(world.k)
    state = policy.init(world.n, world.k, 10**6, rng)
    for _ in range(rounds):
        chosen = policy.select(state, rng).copy()
        world.draw(chosen, rng, rewards)
        policy.update(state, chosen, rewards, rng)
    return state


def members(policy: Any, state: Any, seed: int = 0) -> set[int]:
    return set(policy.select(state, generator(seed)).tolist())


@each
@given(rounds=st.integers(0, 3000), seed=st.integers(0, 100), rewarded=st.sampled_from([0.0, 0.02, 0.3]))
@settings(max_examples=12)
def test_in_certain_rounds_no_other_set_is_selected(policy: Any, rounds: int, seed: int, rewarded: float) -> None:
    """Whatever is earned: nothing, the worst case, or something now and then."""
    rng = generator(seed)
    state = played(policy, CLEAR, rounds, seed)
    chosen = policy.select(state, rng).copy()
    certain = policy.certain_rounds(state, chosen)
    assert certain >= 1
    for number in range(min(certain, 3000) - 1):
        policy.update(state, chosen, (rng.random(2) < rewarded).astype(float), rng)
        assert members(policy, state, number) == set(chosen.tolist()), (number, certain)


@each
def test_sets_are_certain_for_long_once_they_settle(policy: Any) -> None:
    state = played(policy, CLEAR, 20_000, seed=1)
    chosen = policy.select(state, generator()).copy()
    assert policy.certain_rounds(state, chosen) > 5
    assert policy.certain_rounds(state, np.array([4, 5])) == 1  # another set than the best one


@each
def test_a_set_that_is_not_the_only_one_is_certain_for_one_round(policy: Any) -> None:
    state = policy.init(6, 2, 1000, generator())
    assert policy.certain_rounds(state, np.array([0, 1])) == 1  # nothing was played
    for first in (0, 2, 4):
        policy.update(state, np.array([first, first + 1]), np.array([1.0, 1.0]), generator())
    assert policy.certain_rounds(state, policy.select(state, generator()).copy()) == 1  # all tie


@each
def test_all_arms_are_certain_for_ever(policy: Any) -> None:
    state = policy.init(3, 3, 1000, generator())
    assert policy.certain_rounds(state, np.arange(3)) > 10**15


@each
@pytest.mark.parametrize("rounds", [1, 7, 1000])
def test_many_rounds_learned_at_once_leave_the_same_state(policy: Any, rounds: int) -> None:
    one = played(policy, CLEAR, 200, seed=3)
    other = copy.deepcopy(one)
    chosen, rng, totals = np.array([0, 3]), generator(4), np.zeros(2)
    for _ in range(rounds):
        rewards = (rng.random(2) < 0.5).astype(float)
        policy.update(one, chosen, rewards, rng)
        totals += rewards
    policy.update_many(other, chosen, totals, rounds)
    for name in ("pulls", "reward", "indices", "rounds"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@each
def test_few_and_many_arms_have_the_same_certain_rounds(policy: Any) -> None:
    """Beyond `FEW_ARMS` there is no order to read the border from."""
    means = np.concatenate(([0.9, 0.8], np.full(FEW_ARMS - 2, 0.05)))
    state = played(policy, Independent(means, k=2), 4000, seed=5)
    larger = policy.grow(state, FEW_ARMS + 1, generator())
    larger.pulls[-1], larger.reward[-1], larger.indices[-1] = state.pulls[-1], 0.0, 0.0
    chosen = policy.select(state, generator()).copy()
    if members(policy, larger) == set(chosen.tolist()):
        assert policy.certain_rounds(larger, chosen) == policy.certain_rounds(state, chosen)


@each
@pytest.mark.parametrize("world", [CLEAR, CHOICE], ids=["independent", "choice"])
def test_regret_and_plays_have_the_law_of_single_rounds(policy: Any, world: Any) -> None:
    fast = sw.simulate(policy, world, 20_000, runs=300, seed=1, compiled=True)
    slow = sw.simulate(policy, world, 20_000, runs=300, seed=2, compiled=True, fast_forward=False)
    assert fast.fast_forward and not slow.fast_forward
    assert stats.ks_2samp(fast.regret[:, -1], slow.regret[:, -1]).pvalue > LEVEL
    middle = len(fast.rounds) * 3 // 4
    assert stats.ks_2samp(fast.regret[:, middle], slow.regret[:, middle]).pvalue > LEVEL
    for arm in (0, 2):
        assert stats.ks_2samp(fast.pulls[:, arm], slow.pulls[:, arm]).pvalue > LEVEL


@pytest.mark.slow
@each
@pytest.mark.parametrize("world", ["mnl", "camera", "preference-matrix", "random-weak"])
def test_regret_in_the_worlds_of_the_paper_has_the_law_of_single_rounds(policy: Any, world: str) -> None:
    made = getattr(sw.paper, world.replace("-", "_"))()
    fast = sw.simulate(policy, made, 100_000, runs=1000, seed=1, compiled=True)
    slow = sw.simulate(policy, made, 100_000, runs=1000, seed=2, compiled=True, fast_forward=False)
    for point in (-1, len(fast.rounds) * 3 // 4, len(fast.rounds) // 2):
        assert stats.ks_2samp(fast.regret[:, point], slow.regret[:, point]).pvalue > LEVEL
