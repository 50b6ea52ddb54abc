"""Algorithm 1 against hand-computed values, the plain reference, Lemma 1, and brute force.

No test here is statistical.
"""

import copy
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.algorithm1 import Algorithm1
from seeded import generator
from setwise import UCB, InputError
from setwise.kernels.ranking import FEW_ARMS, Sorted, Tournament
from setwise.policies.ucb import confidence_index

both_rankings = pytest.mark.parametrize(("n", "k"), [(8, 3), (500, 7)], ids=["few", "many"])


def is_top(indices: Any, chosen: Any, k: int) -> bool:
    """Whether these are k distinct arms, none with a smaller index than an arm left out."""
    arms = sorted({int(arm) for arm in chosen})
    rest = np.delete(indices, arms)
    return len(chosen) == len(arms) == k and (rest.size == 0 or indices[arms].min() >= rest.max())


def played(n: int, k: int, rounds: int, seed: int, alpha: float = 2.0) -> tuple[UCB, Any]:
    """The policy and its state after some rounds of 0/1 rewards, each arm with a probability of its own."""
    rng = generator(seed)
    policy = UCB(alpha=alpha)
    state = policy.init(n, k, 1000, rng)
    means = rng.random(n)
    for _ in range(rounds):
        chosen = policy.select(state, rng)
        policy.update(state, chosen, rng.random(k) < means[chosen], rng)
    return policy, state


@pytest.mark.parametrize(("bound", "expected"), [(1.0, 0.7291932052578695), (5.0, 3.645966026289347)])
def test_index_has_the_value_worked_out_by_hand(bound: float, expected: float) -> None:
    policy = UCB(bound=bound)
    rng = generator()
    state = policy.init(2, 1, 10**4, rng)
    for play in range(100):
        policy.update(state, [0], [bound if play < 30 else 0.0], rng)
    assert (state.pulls[0], state.reward[0]) == (100, 30 * bound)
    assert state.indices[0] == pytest.approx(expected, rel=1e-15)
    assert state.indices[1] == math.inf


@pytest.mark.parametrize(
    "wrong", [{"alpha": 0}, {"alpha": -1}, {"alpha": math.inf}, {"alpha": math.nan}, {"bound": 0}, {"bound": math.inf}]
)
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        UCB(**wrong)


def test_few_arms_are_sorted_and_many_are_in_a_tournament() -> None:
    for n, kind in [(8, Sorted), (FEW_ARMS, Sorted), (FEW_ARMS + 1, Tournament), (FEW_ARMS + 300, Tournament)]:
        assert type(UCB().init(n, 3, 10, generator()).ranking) is kind


@pytest.mark.parametrize(("n", "k"), [(20, 10), (7, 3), (5, 5), (4, 1), (500, 7), (201, 200)])
def test_every_arm_is_played_in_the_first_rounds(n: int, k: int) -> None:
    rng = generator(1)
    policy = UCB()
    state = policy.init(n, k, 100, rng)
    for _ in range(math.ceil(n / k)):
        chosen = policy.select(state, rng).copy()
        assert len(chosen) == len(set(chosen.tolist())) == k
        policy.update(state, chosen, rng.random(k) < 0.5, rng)
    assert state.pulls.min() == 1
    assert state.pulls.sum() == k * math.ceil(n / k)


@both_rankings
def test_indices_of_arms_not_chosen_do_not_move(n: int, k: int) -> None:
    rng = generator(2)
    policy, state = played(n, k, 0, seed=2)
    for turn in range(200):
        chosen = policy.select(state, rng).copy()
        rest = np.delete(np.arange(n), chosen)
        before = copy.deepcopy(state)
        if turn % 2:
            policy.update_many(state, chosen, rng.integers(0, 6, k).astype(float), 5)
        else:
            policy.update(state, chosen, rng.random(k), rng)
        for name in ("pulls", "reward", "indices"):
            assert getattr(state, name)[rest].tobytes() == getattr(before, name)[rest].tobytes()
        assert (state.indices[chosen] != before.indices[chosen]).all()


@pytest.mark.parametrize(("n", "k", "rounds"), [(8, 3, 1500), (8, 8, 50), (500, 7, 700)])
@pytest.mark.parametrize("alpha", [2.0, 0.3])
def test_every_step_is_that_of_the_reference(n: int, k: int, rounds: int, alpha: float) -> None:
    rng = generator(3)
    policy = UCB(alpha=alpha)
    state = policy.init(n, k, rounds, rng)
    reference = Algorithm1(n, k, rounds, alpha=alpha)
    means = rng.random(n)
    for _ in range(rounds):
        chosen = policy.select(state, rng).copy()
        assert is_top(reference.index, chosen, k)
        rewards = (rng.random(k) < means[chosen]).astype(float)
        policy.update(state, chosen, rewards, rng)
        reference.update(chosen.tolist(), rewards.tolist())
        assert np.array_equal(state.indices, reference.index)
        assert np.array_equal(state.pulls, reference.pulls)
        assert np.array_equal(state.reward, reference.reward)
    assert state.pulls.sum() == k * rounds


def rounds_it_stays(policy: UCB, state: Any, chosen: Any, seed: int, most: int) -> tuple[int, bool]:
    """For how many unrewarded rounds the set is selected, and whether a tie at the border, or nearly one, was met."""
    rng = generator(seed)
    state = copy.deepcopy(state)
    theta = np.delete(state.indices, chosen).max()
    tie = False
    for rounds in range(1, most + 1):
        tie = tie or math.isclose(state.indices[chosen].min(), theta)
        policy.update(state, chosen, np.zeros(len(chosen)), rng)
        if set(policy.select(state, rng).tolist()) != set(chosen.tolist()):
            return rounds, tie or math.isclose(state.indices[chosen].min(), theta)
    return most, tie


@settings(max_examples=80, deadline=None)
@given(
    sizes=st.sampled_from([(2, 1), (5, 2), (6, 5), (250, 3)]),
    turns=st.lists(st.tuples(st.integers(1, 40), st.floats(0, 1)), min_size=1, max_size=12),
    alpha=st.floats(0.1, 4.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_hold_is_what_brute_force_counts(sizes: Any, turns: Any, alpha: float, seed: int) -> None:
    n, k = sizes
    most = 300
    rng = generator(seed)
    policy = UCB(alpha=alpha)
    state = policy.init(n, k, 1000, rng)
    policy.update_many(state, np.arange(n), rng.integers(0, 2, n).astype(float), 1)
    for rounds, share in turns:
        chosen = policy.select(state, rng).copy()
        certain = policy.certain_rounds(state, chosen)
        stays, tie = rounds_it_stays(policy, state, chosen, seed, most)
        assert 1 <= min(certain, most) <= stays
        if not tie:
            assert min(certain, most) == stays
        policy.update_many(state, chosen, rng.binomial(rounds, share, k).astype(float), rounds)


@both_rankings
@pytest.mark.parametrize("reward", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("apart", [1, 2, 3, 4, 7, 19, 60, 1000])
def test_hold_ends_before_an_exact_tie(n: int, k: int, reward: float, apart: int) -> None:
    rng = generator()
    policy = UCB()
    state = policy.init(n, k, 10**6, rng)
    policy.update_many(state, np.arange(k + 1, n), np.zeros(n - k - 1), 10**6)
    policy.update_many(state, np.arange(k - 1), np.full(k - 1, 5000.0), 5000)
    policy.update_many(state, np.array([k - 1]), np.array([reward]), 200)
    policy.update_many(state, np.array([k]), np.array([reward]), 200 + apart)
    chosen = policy.select(state, rng).copy()
    assert set(chosen.tolist()) == set(range(k))
    assert policy.certain_rounds(state, chosen) == apart
    policy.update_many(state, chosen, np.zeros(k), apart)
    assert state.indices[k - 1] == state.indices[k]


@both_rankings
def test_hold_is_one_at_a_tie_at_the_border(n: int, k: int) -> None:
    rng = generator()
    policy = UCB()
    state = policy.init(n, k, 1000, rng)
    policy.update_many(state, np.arange(n), np.zeros(n), 1000)
    policy.update_many(state, np.array([5]), np.array([1.0]), 1)
    for _ in range(5):
        chosen = policy.select(state, rng).copy()
        assert 5 in chosen
        assert policy.certain_rounds(state, chosen) == 1


@both_rankings
def test_hold_is_one_while_an_arm_outside_was_never_played(n: int, k: int) -> None:
    rng = generator()
    policy, state = played(n, k, 0, seed=1)
    for _ in range(math.ceil(n / k) - 1):
        chosen = policy.select(state, rng).copy()
        assert policy.certain_rounds(state, chosen) == 1
        policy.update(state, chosen, np.ones(k), rng)


@pytest.mark.parametrize("n", [4, 300])
def test_all_arms_are_the_set_for_good_if_k_is_n(n: int) -> None:
    policy, state = played(n, n, 20, seed=4)
    chosen = policy.select(state, generator())
    assert sorted(chosen.tolist()) == list(range(n))
    assert policy.certain_rounds(state, chosen) >= 10**12


@both_rankings
def test_absorbing_rounds_is_learning_them_one_by_one(n: int, k: int) -> None:
    rng = generator(5)
    policy, one_by_one = played(n, k, 100, seed=5)
    at_once = copy.deepcopy(one_by_one)
    for rounds in (1, 2, 9, 30):
        chosen = policy.select(one_by_one, rng).copy()
        rewards = rng.integers(0, 9, (rounds, k)) / 8.0  # eighths, whose sums are exact
        for row in rewards:
            policy.update(one_by_one, chosen, row, rng)
        policy.update_many(at_once, chosen, rewards.sum(axis=0), rounds)
        for name in ("pulls", "reward", "indices"):
            assert np.array_equal(getattr(one_by_one, name), getattr(at_once, name))
        assert set(policy.select(one_by_one, generator(6))) == set(policy.select(at_once, generator(6)))


@both_rankings
def test_updates_may_come_late_and_in_any_order(n: int, k: int) -> None:
    rng = generator(7)
    policy = UCB()
    state = policy.init(n, k, 1000, rng)
    reference = Algorithm1(n, k, 1000)
    means = rng.random(n)
    waiting: list[Any] = []
    for _ in range(600):
        chosen = policy.select(state, rng).copy()
        assert is_top(reference.index, chosen, k)
        stays, _ = rounds_it_stays(policy, state, chosen, seed=0, most=20)
        assert min(policy.certain_rounds(state, chosen), 20) <= stays
        waiting.append(rng.permutation(chosen))
        while waiting and rng.random() < 0.6:
            late = waiting.pop(int(rng.integers(len(waiting))))
            rewards = (rng.random(k) < means[late]).astype(float)
            policy.update(state, late, rewards, rng)
            reference.update(late.tolist(), rewards.tolist())
            assert np.array_equal(state.indices, reference.index)
    assert len(waiting) < 600


@both_rankings
def test_hold_is_one_for_a_set_that_is_not_the_last_selected(n: int, k: int) -> None:
    policy, state = played(n, k, 2000 // k, seed=8)
    chosen = policy.select(state, generator()).copy()
    other = np.argsort(state.indices)[:k]
    assert set(other.tolist()) != set(chosen.tolist())
    assert policy.certain_rounds(state, other) == 1


@both_rankings
def test_hold_is_one_once_a_late_update_has_lifted_an_arm_above_the_set(n: int, k: int) -> None:
    policy, state = played(n, k, 0, seed=8)
    policy.update_many(state, np.arange(n), np.zeros(n), 10**4)
    policy.update_many(state, np.arange(k), np.full(k, 100.0), 100)
    chosen = policy.select(state, generator()).copy()
    assert set(chosen.tolist()) == set(range(k))
    assert policy.certain_rounds(state, chosen) > 100
    policy.update_many(state, np.arange(k, 2 * k), np.full(k, 200.0), 200)
    assert policy.certain_rounds(state, chosen) == 1


@both_rankings
def test_select_from_gives_the_best_of_the_available_arms(n: int, k: int) -> None:
    rng = generator(9)
    policy, state = played(n, k, 300, seed=9)
    for _ in range(100):
        available = rng.random(n) < 0.6
        available[rng.choice(n, k, replace=False)] = True
        before = copy.deepcopy(state)
        chosen = policy.select_from(state, available, rng).copy()
        places = [int(np.flatnonzero(np.flatnonzero(available) == arm)[0]) for arm in chosen]
        assert is_top(state.indices[available], places, k)
        assert np.array_equal(state.indices, before.indices)
        policy.update(state, chosen, rng.random(k) < 0.5, rng)
        assert is_top(state.indices, policy.select(state, rng), k)


@both_rankings
def test_select_from_gives_all_available_arms_if_they_are_fewer_than_k(n: int, k: int) -> None:
    policy, state = played(n, k, 300, seed=10)
    for few in ([n - 1], [n - 1, 4], []):
        available = np.isin(np.arange(n), few)
        assert sorted(policy.select_from(state, available, generator()).tolist()) == sorted(few)


@pytest.mark.parametrize(("n", "larger"), [(8, 11), (FEW_ARMS - 5, FEW_ARMS + 8), (500, 507), (8, 8)])
def test_arms_that_are_added_are_played_first_and_the_others_keep_what_they_know(n: int, larger: int) -> None:
    rng = generator(11)
    k = 3
    policy = UCB(alpha=1.5)
    state = policy.init(n, k, 400, rng)
    reference = Algorithm1(larger, k, 400, alpha=1.5)
    grown = None
    for turn in range(400):
        if turn == 200:
            before = copy.deepcopy(state)
            grown = policy.grow(state, larger, rng)
            assert np.array_equal(state.indices, before.indices)
            state = grown
            assert type(state.ranking) is (Sorted if larger <= FEW_ARMS else Tournament)
            assert np.array_equal(state.pulls, reference.pulls)
            assert np.array_equal(state.indices, reference.index)
        size = n if turn < 200 else larger
        chosen = policy.select(state, rng).copy()
        assert is_top(reference.index[:size], chosen, k)
        rewards = (rng.random(k) < 0.4).astype(float)
        policy.update(state, chosen, rewards, rng)
        reference.update(chosen.tolist(), rewards.tolist())
        assert np.array_equal(state.indices, reference.index[:size])
    assert state.pulls[n:].all()


def test_arms_are_never_taken_away() -> None:
    policy, state = played(8, 3, 10, seed=12)
    with pytest.raises(InputError, match="n=7 is less than the 8 arms"):
        policy.grow(state, 7, generator())


def test_the_index_of_an_arm_falls_with_unrewarded_plays_and_its_multiple_by_the_plays_never_does() -> None:
    values = [confidence_index(4.0, plays, 2 * math.log(1000)) for plays in range(4, 400)]
    assert (np.diff(values) < 0).all()
    assert (np.diff(np.array(values) * np.arange(4, 400)) > 0).all()
