"""The reference against hand-computed values and the paper's statements."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from reference.algorithm1 import Algorithm1, lemma1_bounds, play
from reference.worlds import (
    CAMERA_NAMES,
    PREFERENCES,
    Feedback,
    World,
    camera,
    consistency_margin,
    gaps,
    independent,
    mnl,
    preference_matrix,
    random_utility,
    random_weak,
)

NIKON, CANON, SONY, DIGITAL, KEYBOARD, SHOES = range(6)


@pytest.fixture(scope="module")
def utility_world() -> World:
    return random_utility()


def at_most(world: World, first: int, second: int) -> bool:
    """Whether first <= second in the sense of the paper's Definition 1."""
    return all(
        world.exact(s)[s.index(first)] <= world.exact(s)[s.index(second)]
        for s in world.sets()
        if first in s and second in s
    )


def order_violations(world: World) -> tuple[int, int]:
    """How many pairs cannot be compared, and how many ordered triples break transitivity."""
    arms = range(world.n)
    below = {(a, b): at_most(world, a, b) for a, b in permutations(arms, 2)}
    incomparable = sum(not below[a, b] and not below[b, a] for a in arms for b in range(a))
    intransitive = sum(below[a, b] and below[b, c] and not below[a, c] for a, b, c in permutations(arms, 3))
    return incomparable, intransitive


@pytest.mark.parametrize(
    ("bound", "reward", "expected"), [(1.0, 30.0, 0.7291932052578695), (5.0, 150.0, 3.645966026289347)]
)
def test_index_has_the_value_worked_out_by_hand(bound: float, reward: float, expected: float) -> None:
    policy = Algorithm1(n=2, k=1, horizon=10**4, bound=bound)
    for _ in range(100):
        policy.update([0], [reward / 100])
    assert policy.index[0] == pytest.approx(expected, abs=1e-12)
    assert policy.index[1] == math.inf


@pytest.mark.parametrize(("n", "k"), [(20, 10), (7, 3), (5, 5), (4, 1)])
def test_every_arm_is_played_in_the_first_rounds(n: int, k: int) -> None:
    policy = Algorithm1(n, k, horizon=100)
    rng = np.random.default_rng(1)
    for _ in range(math.ceil(n / k)):
        chosen = policy.select(rng)
        assert len(chosen) == len(set(chosen)) == k
        policy.update(chosen, [0.0] * k)
    assert policy.pulls.min() == 1
    assert policy.pulls.sum() == k * math.ceil(n / k)


def test_ties_are_broken_uniformly() -> None:
    policy = Algorithm1(n=5, k=2, horizon=100)
    rng = np.random.default_rng(2)
    counts = np.zeros(5)
    for _ in range(5000):
        counts[policy.select(rng)] += 1
    # Each count is binomial(5000, 2/5), sd 34.6: all five are within 4.5 sd but for 3 in 100,000 trials.
    assert np.abs(counts - 2000).max() < 4.5 * math.sqrt(5000 * 0.4 * 0.6)


def test_unselected_indices_do_not_move_and_lemma_1_holds_in_every_round() -> None:
    world = camera()
    policy = Algorithm1(world.n, world.k, horizon=5000)
    rng = np.random.default_rng(3)
    rho = math.inf
    for _ in range(5000):
        chosen = policy.select(rng)
        rest = [arm for arm in range(world.n) if arm not in chosen]
        before = policy.index.copy()
        rho, lower = lemma1_bounds(policy.index, policy.pulls, chosen, rho)
        assert (before[rest] <= rho + 1e-12).all()
        assert (before[rest] >= lower[rest] - 1e-12).all()
        policy.update(chosen, world.draw(chosen, rng, "choice"))
        assert (policy.index[rest] == before[rest]).all()


def test_camera_regret_at_20000_is_that_of_the_separate_measurement() -> None:
    regret, pulls = play(camera(), 20_000, seed=1)
    assert 230 < regret < 370
    assert pulls.sum() == 3 * 20_000
    assert 220 < pulls[KEYBOARD] < 300
    assert 220 < pulls[SHOES] < 300


def test_multinomial_logit_regret_at_10000_is_that_of_the_separate_measurement() -> None:
    regrets = [play(mnl(), 10_000, seed)[0] for seed in range(4)]
    # One run has mean 94.2 and sd 3.8, so the mean of four is within 4.5 sd but for 7 in a million trials.
    assert np.mean(regrets) == pytest.approx(94.2, abs=4.5 * 3.8 / 2)


def test_the_seed_fixes_the_run() -> None:
    first, second = (play(camera(), 300, seed=5) for _ in range(2))
    assert first[0] == second[0]
    assert (first[1] == second[1]).all()


def test_nothing_is_lost_when_all_arms_are_played() -> None:
    regret, pulls = play(independent([0.2, 0.9, 0.4], k=3), 50, seed=1, feedback="independent")
    assert regret == pytest.approx(0.0, abs=1e-12)
    assert pulls.tolist() == [50, 50, 50]


def test_camera_table_is_exact() -> None:
    world = camera()
    all_gaps = gaps(world)
    assert CAMERA_NAMES[DIGITAL] == "Digital Camera"
    assert world.best() == (NIKON, CANON, SONY)
    assert world.value(world.best()) == Fraction(90, 100)
    assert len(all_gaps) == 19
    assert min(all_gaps.values()) == Fraction(5, 100)
    assert max(all_gaps.values()) == Fraction(63, 100)
    assert consistency_margin(world) == 0
    assert order_violations(world) == (2, 0)


def test_digital_camera_ties_with_canon_in_one_set_and_is_first_in_seven() -> None:
    world = camera()
    assert world.exact([CANON, SONY, DIGITAL]) == [Fraction(30, 100), Fraction(25, 100), Fraction(30, 100)]
    assert world.exact([DIGITAL, NIKON, SHOES])[0] == Fraction(49, 100)
    tables = [dict(zip(s, world.exact(s), strict=True)) for s in world.sets() if DIGITAL in s]
    first = [all(table[DIGITAL] > p for arm, p in table.items() if arm != DIGITAL) for table in tables]
    assert (sum(first), len(first)) == (7, 10)


def test_preference_table_is_exact() -> None:
    world = preference_matrix()
    all_gaps = gaps(world)
    assert all(PREFERENCES[i][j] == -PREFERENCES[j][i] for i in range(10) for j in range(10))
    assert world.best() == (0, 1)
    assert world.exact((0, 1)) == [Fraction(47, 100), Fraction(45, 100)]
    assert world.exact((1, 0)) == [Fraction(45, 100), Fraction(47, 100)]
    assert world.value((0, 1)) == Fraction(92, 100)
    assert len(all_gaps) == 44
    assert set(all_gaps.values()) == {Fraction(2, 100)}
    assert consistency_margin(world) == Fraction(5, 1000)
    assert order_violations(world) == (0, 15)


def test_multinomial_logit_values() -> None:
    world = mnl()
    best = world.best()
    optimum = world.value(best)
    assert best == tuple(range(10))
    assert optimum == pytest.approx(1 - 1 / 8.8, abs=1e-12)
    assert optimum == pytest.approx(0.886364, abs=1e-6)
    assert world.probabilities(best)[0] == pytest.approx(0.10909, abs=1e-5)
    assert world.probabilities(best)[-1] == pytest.approx(0.06818, abs=1e-5)
    assert optimum - world.value((*range(9), 10)) == pytest.approx(1 / 8.76 - 1 / 8.8, abs=1e-12)
    assert optimum - world.value((*range(9), 10)) == pytest.approx(5.189e-4, abs=1e-7)
    assert optimum - world.value(range(10, 20)) == pytest.approx(0.094697, abs=1e-6)


def test_random_utility_values(utility_world: World) -> None:
    best = utility_world.best()
    assert best == (0, 1, 2, 3, 4)
    expected = [0.116170, 0.108874, 0.101956, 0.095400, 0.089194]
    assert utility_world.probabilities(best) == pytest.approx(expected, abs=1e-6)
    assert utility_world.value(best) == pytest.approx(0.511595, abs=1e-6)


def test_random_utility_gaps_over_all_sets(utility_world: World) -> None:
    all_gaps = gaps(utility_world)
    assert len(all_gaps) == 15503
    assert min(all_gaps, key=lambda s: all_gaps[s]) == (0, 1, 2, 3, 5)
    assert min(all_gaps.values()) == pytest.approx(2.308e-3, abs=1e-6)
    assert max(all_gaps.values()) == pytest.approx(0.191903, abs=1e-6)
    assert consistency_margin(utility_world) == pytest.approx(6.8e-4, abs=1e-5)


def test_random_utility_of_equal_arms_is_shared_equally() -> None:
    world = random_utility([0.5] * 4, k=3, outside=0.5)
    assert world.probabilities([2, 0, 1]) == pytest.approx([1 / 4] * 3, abs=1e-12)


def test_random_utility_of_one_arm_is_a_normal_probability() -> None:
    world = random_utility([0.3, 1.1], k=1, outside=2.0)
    expected = [(1 + math.erf((mean - 2.0) / 2)) / 2 for mean in (0.3, 1.1)]
    assert [world.probabilities([arm])[0] for arm in (0, 1)] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("make", [mnl, independent])
def test_closed_form_of_the_best_set_agrees_with_brute_force(make: Callable[..., World]) -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        world = make(rng.random(6).tolist(), k=3)
        assert world.best() == max(world.sets(), key=world.value)


def test_random_weak_worlds_are_consistent_and_the_first_arms_are_best() -> None:
    rng = np.random.default_rng(6)
    for _ in range(5):
        world = random_weak(4, 2, rng)
        assert world.best() == (0, 1)
        assert consistency_margin(world) >= 0
        assert all(0 <= p <= 1 / 2 for s in world.sets() for p in world.probabilities(s))


def test_random_weak_keeps_the_margin_or_says_why_it_cannot() -> None:
    world = random_weak(4, 2, np.random.default_rng(6), margin=0.02)
    assert min(gaps(world).values()) >= 0.02 - 1e-12
    with pytest.raises(ValueError, match="no world with margin"):
        random_weak(4, 2, np.random.default_rng(6), margin=0.5)


@pytest.mark.parametrize("feedback", ["choice", "independent"])
@pytest.mark.parametrize(
    ("make", "chosen"),
    [
        (mnl, [3, 17, 0, 5, 9, 12, 19, 1, 2, 8]),
        (random_utility, [4, 0, 19, 7, 11]),
        (preference_matrix, [5, 3]),
        (camera, [SHOES, DIGITAL, SONY]),
    ],
)
def test_draws_have_the_stated_means(make: Callable[[], World], chosen: list[int], feedback: Feedback) -> None:
    world = make()
    rng = np.random.default_rng(7)
    rounds = 8000
    drawn = np.array([world.draw(chosen, rng, feedback) for _ in range(rounds)])
    means = np.array(world.probabilities(chosen))
    # At most eleven counts are compared; all are within 5 sd but for about 6 in a million trials.
    assert (np.abs(drawn.mean(axis=0) - means) < 5 * np.sqrt(means * (1 - means) / rounds)).all()
    assert set(np.unique(drawn)) == {0.0, 1.0}
    if feedback == "choice":
        assert drawn.sum(axis=1).max() == 1
        total = means.sum()
        assert abs(drawn.sum() / rounds - total) < 5 * math.sqrt(total * (1 - total) / rounds)
    else:
        assert drawn.sum(axis=1).max() > 1


def test_one_arm_cannot_be_chosen_with_more_than_certainty() -> None:
    with pytest.raises(ValueError, match="cannot be chosen"):
        independent([0.9, 0.8], k=2).draw([0, 1], np.random.default_rng(8), "choice")
