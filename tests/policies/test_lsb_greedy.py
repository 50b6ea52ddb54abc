"""LSBGreedy: the modular case against a plain index policy, coverage gains, algebra, and its intended world.

One chi-square test at the level 1e-6 on a fixed seed. The test of convergence runs on a fixed seed with a wide margin.
"""

import copy
import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from seeded import generator
from setwise import InputError, simulate
from setwise.environments import MNL, Coverage
from setwise.environments.presets import coverage
from setwise.policies.lsb_greedy import LSBGreedy, add_gains, cover, exploration, gain_bound


def gains_in_order(covers: Any, chosen: Any) -> Any:
    """What each arm of a set adds to those before it, one row each."""
    covers, chosen = np.asarray(covers), list(chosen)
    return np.array([covers[arm] * np.prod(1 - covers[chosen[:place]], axis=0) for place, arm in enumerate(chosen)])


@pytest.mark.parametrize(("lam", "alpha"), [(1.0, 1.0), (0.3, 2.0)])
def test_arms_with_topics_of_their_own_have_an_index_each(lam: float, alpha: float) -> None:
    """C / (N + lam) + alpha / sqrt(N + lam): a top-k LinUCB with independent arms, step by step."""
    n, k, rng = 6, 3, generator(1)
    policy = LSBGreedy(np.eye(n), lam=lam, alpha=alpha)
    state = policy.init(n, k, 1000, rng)
    pulls, reward, means = np.zeros(n), np.zeros(n), np.linspace(0.9, 0.1, n)
    for _ in range(400):
        index = reward / (pulls + lam) + alpha / np.sqrt(pulls + lam)
        chosen = policy.select(state, rng).copy()
        assert len(set(chosen.tolist())) == k
        assert np.allclose(index[chosen], np.sort(index)[::-1][:k], rtol=0, atol=1e-12)
        rewards = (rng.random(k) < means[chosen]).astype(float)
        policy.update(state, chosen, rewards, rng)
        pulls[chosen] += 1
        reward[chosen] += rewards
        assert np.allclose(state.inverse, np.diag(1 / (pulls + lam)), rtol=0, atol=1e-12)
        assert np.allclose(state.weights, reward / (pulls + lam), rtol=0, atol=1e-12)
    assert pulls.min() > 0
    assert pulls[:3].sum() > pulls[3:].sum()


def test_the_second_of_two_like_arms_adds_less() -> None:
    covers = np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.3]])
    uncovered, first, second = np.ones(2), np.zeros(2), np.zeros(2)
    add_gains(covers, 0, uncovered, first)
    cover(covers, 0, uncovered)
    add_gains(covers, 1, uncovered, second)
    assert first.tolist() == [0.9, 0.1]
    assert np.allclose(second, [0.09, 0.09], rtol=1e-12)
    assert (second < first).all()


def test_two_like_arms_are_not_played_together_where_another_adds_more() -> None:
    policy, rng = LSBGreedy([[0.9, 0.0], [0.9, 0.0], [0.0, 0.5]]), generator(2)
    state = policy.init(3, 2, 1000, rng)
    assert {frozenset(policy.select(state, rng).tolist()) for _ in range(50)} == {frozenset({0, 2}), frozenset({1, 2})}


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(2, 6),
    topics=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
    lam=st.floats(0.2, 3.0),
    alpha=st.floats(0.0, 3.0),
)
def test_every_arm_is_the_best_to_add_and_every_sum_is_right(
    n: int, topics: int, seed: int, lam: float, alpha: float
) -> None:
    rng = generator(seed)
    k = int(rng.integers(1, n + 1))
    covers = rng.random((n, topics)) * (rng.random((n, topics)) < 0.7)
    policy = LSBGreedy(covers, lam=lam, alpha=alpha)
    state = policy.init(n, k, 1000, rng)
    matrix, vector = lam * np.eye(topics), np.zeros(topics)
    for turn in range(25):
        chosen = policy.select(state, rng).tolist()
        weights = np.linalg.solve(matrix, vector)
        for place in range(k):
            before = chosen[:place]
            others = [arm for arm in range(n) if arm not in before]
            gains = np.array([gains_in_order(covers, [*before, arm])[-1] for arm in others])
            widths = np.einsum("ai,ij,aj->a", gains, np.linalg.inv(matrix), gains)
            scores = gains @ weights + alpha * np.sqrt(widths.clip(0))
            assert scores[others.index(chosen[place])] >= scores.max() - 1e-9
        told = chosen if turn % 3 else rng.permutation(n)[:k].tolist()  # every third round another set, as if told late
        rewards = rng.random(k)
        policy.update(state, told, rewards, rng)
        for gain, reward in zip(gains_in_order(covers, told), rewards, strict=True):
            matrix += np.outer(gain, gain)
            vector += reward * gain
    assert np.allclose(state.inverse, np.linalg.inv(matrix), rtol=1e-9, atol=1e-12)
    assert np.allclose(state.vector, vector, rtol=1e-12)
    assert np.allclose(state.weights, np.linalg.solve(matrix, vector), rtol=1e-9, atol=1e-12)
    assert np.isclose(state.volume[0], np.linalg.slogdet(matrix)[1] - topics * math.log(lam), rtol=1e-9, atol=1e-9)


def test_the_inverse_stays_right_for_a_long_time() -> None:
    rng = generator(3)
    world = coverage()
    policy = LSBGreedy.for_world(world)
    state = policy.init(4, 2, 1000, rng)
    matrix = np.eye(3)
    for _ in range(5000):
        chosen = rng.permutation(4)[:2]
        policy.update(state, chosen, rng.random(2), rng)
        gains = gains_in_order(world.covers, chosen)
        matrix += gains.T @ gains
    assert np.allclose(state.inverse @ matrix, np.eye(3), rtol=0, atol=1e-10)
    assert np.array_equal(state.inverse, state.inverse.T)


def test_the_order_of_a_set_matters() -> None:
    rng = generator(4)
    policy = LSBGreedy.for_world(coverage())
    states = []
    for chosen, rewards in [([0, 2], [1.0, 0.0]), ([2, 0], [0.0, 1.0])]:
        state = policy.init(4, 2, 1000, rng)
        policy.update(state, chosen, rewards, rng)
        states.append(state)
    assert not np.allclose(states[0].inverse, states[1].inverse)
    assert not np.allclose(states[0].vector, states[1].vector)


def test_exploration_is_a_constant_or_what_the_analysis_asks() -> None:
    rng = generator(5)
    covers = rng.random((5, 3))
    constant = LSBGreedy(covers, alpha=0.7)
    theoretical = LSBGreedy(covers, lam=0.5, theoretical=True, delta=0.1, size=2.0)
    state = theoretical.init(5, 2, 1000, rng)
    matrix = 0.5 * np.eye(3)
    for _ in range(30):
        assert exploration(constant, state) == 0.7
        determinant = math.sqrt(np.linalg.det(matrix)) * 0.5**-1.5
        asked = math.sqrt(2 * math.log(2 * determinant / 0.1)) + 2.0 * math.sqrt(0.5)
        assert math.isclose(exploration(theoretical, state), asked, rel_tol=1e-9)
        chosen = theoretical.select(state, rng).copy()
        gains = gains_in_order(covers, chosen)
        matrix += gains.T @ gains
        theoretical.update(state, chosen, rng.random(2), rng)


def test_the_bound_on_a_gain_has_the_value_worked_out_by_hand() -> None:
    inverse = np.array([[0.5, 0.1], [0.1, 0.2]])
    assert math.isclose(
        gain_bound(np.array([1.0, -0.5]), inverse, np.array([0.6, 0.4]), 2.0),
        0.6 - 0.2 + 2 * math.sqrt(0.36 * 0.5 + 2 * 0.24 * 0.1 + 0.16 * 0.2),
    )


def test_ties_are_broken_evenly() -> None:
    policy, rng = LSBGreedy(np.eye(4)), generator(6)
    state = policy.init(4, 2, 1000, rng)
    found = Counter(tuple(policy.select(state, rng).tolist()) for _ in range(3000))
    assert set(found) == set(itertools.permutations(range(4), 2))
    assert stats.chisquare(list(found.values())).pvalue > 1e-6


def test_the_best_of_the_available_arms_are_taken() -> None:
    policy, rng = LSBGreedy(np.diag([0.9, 0.8, 0.7, 0.6])), generator(7)
    state = policy.init(4, 2, 1000, rng)
    for available, best in [([1, 1, 1, 1], [0, 1]), ([0, 1, 0, 1], [1, 3]), ([0, 0, 1, 0], [2]), ([0, 0, 0, 0], [])]:
        before = copy.deepcopy(state)
        assert policy.select_from(state, np.array(available, dtype=np.bool_), rng).tolist() == best
        assert np.array_equal(state.inverse, before.inverse)
        assert policy.select(state, rng).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"covers": [0.1, 0.2]}, r"covers has the shape \(2,\)"),
        ({"covers": np.zeros((0, 3))}, r"covers has the shape \(0, 3\)"),
        ({"covers": np.zeros((3, 0))}, r"covers has the shape \(3, 0\)"),
        ({"covers": [[0.1, 1.2]]}, "covers is 1.2 at position 0, 1"),
        ({"lam": 0.0}, "lam is 0"),
        ({"lam": math.inf}, "lam is inf; it has to be .* and finite"),
        ({"alpha": -1.0}, "alpha is -1"),
        ({"alpha": math.inf}, "alpha is inf; it has to be .* and finite"),
        ({"delta": 0.0}, "delta is 0"),
        ({"delta": 1.5}, "delta is 1.5"),
        ({"size": -1.0}, "size is -1"),
        ({"size": math.inf}, "size is inf; it has to be .* and finite"),
        ({"theoretical": 2}, "theoretical"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=f"LSBGreedy: {words}"):
        LSBGreedy(**{"covers": np.eye(3), **wrong})


def test_it_needs_a_row_for_every_arm() -> None:
    with pytest.raises(InputError, match="covers has 3 rows for 5 arms"):
        LSBGreedy(np.eye(3)).init(5, 2, 1000, generator())


def test_it_needs_a_world_whose_arms_cover_topics() -> None:
    assert np.array_equal(LSBGreedy.for_world(coverage()).covers, coverage().covers)
    with pytest.raises(
        InputError, match="LSBGreedy needs a world whose arms cover topics, like Coverage; MNL has none"
    ):
        LSBGreedy.for_world(MNL([1.0, 0.5], k=1))


def test_the_best_set_is_found() -> None:
    """In the preset the greedy set is the best, so that regret against the best set stops growing."""
    world = coverage()
    rounds = [2000, 20_000, 40_000]
    found = simulate(LSBGreedy.for_world(world), world, 40_000, runs=4, seed=1, checkpoints=rounds)
    assert (found.regret[:, 2] - found.regret[:, 1] < 20_000 * 0.0005).all()
    assert (found.regret[:, 2] < 40_000 * 0.002).all()


def test_it_comes_within_its_guarantee_where_greedy_sets_are_not_the_best() -> None:
    """Arm 0 covers a bit of both topics and is taken first, but arms 1 and 2 together are better."""
    world = Coverage([0.5, 0.5], [[0.6, 0.6], [1.0, 0.0], [0.0, 1.0], [0.0, 0.1]], k=2)
    assert sorted(world.best().tolist()) == [1, 2]
    assert 0 in world.greedy().tolist()
    best, greedy = 1.0, 0.8
    found = simulate(LSBGreedy.for_world(world), world, 20_000, runs=2, seed=1)
    earned = best - found.regret[:, -1] / 20_000
    assert (earned > (1 - 1 / math.e) * best).all()
    assert np.allclose(earned, greedy, atol=0.01)
