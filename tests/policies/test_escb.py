"""ESCB-1 and ESCB-2: hand-computed indices, the best set against brute force, ties, and the first rounds.

Statistical tests, with fixed seeds: laws of ties and of the first sets, by chi-square, 9 tests; a correct policy
fails each with probability one in a million. Convergence: the limits hold by a wide margin for each of 40 other seeds.
"""

import copy
import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from seeded import generator
from setwise import InputError, simulate
from setwise.environments import MNL, Independent
from setwise.kernels.kl_index import arm_terms, set_index
from setwise.kernels.kl_sets import WINDOW, kl_top, new_kl_sets
from setwise.kernels.pareto import ROOM, new_pareto, pareto_top
from setwise.policies._escb import exploration
from setwise.policies.escb1 import ESCB1
from setwise.policies.escb2 import ESCB2

FALSE_ALARM = 1e-6
both = pytest.mark.parametrize("kind", [ESCB1, ESCB2])


def divergence(p: float, q: float) -> float:
    """kl of Bernoulli laws, 0 log 0 = 0."""
    if p >= q:
        return 0.0
    below = p * math.log(p / q) if p > 0 else 0.0
    above = (1 - p) * math.log((1 - p) / (1 - q)) if q < 1 else math.inf
    return below + (above if p < 1 else 0.0)


def kl_index(means: Any, pulls: Any, level: float) -> float:
    """b of a set: bisection on the logarithm of the multiplier."""

    def optimum(multiplier: float) -> list[float]:
        found = []
        for mean, count in zip(means, pulls):
            x = float(multiplier * count)
            root = math.sqrt((1 - x) ** 2 + 4 * mean * x)
            found.append((1 - x + root) / 2 if x < 1 or mean == 0 else 2 * mean * x / (x - 1 + root))
        return found

    low, high = -60.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        spent = sum(n * divergence(p, q) for p, n, q in zip(means, pulls, optimum(math.exp(middle))))
        if spent > level:
            low = middle
        else:
            high = middle
    return sum(optimum(math.exp(high)))


def square_root_index(means: Any, pulls: Any, level: float) -> float:
    """c of a set."""
    return float(sum(means) + math.sqrt(level / 2 * sum(1 / n for n in pulls)))


def sets_of(n: int, k: int) -> list[list[int]]:
    return [list(arms) for arms in itertools.combinations(range(n), k)]


def counts(kind: str, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Means and plays of n arms: few plays and many ties, many plays, plays of all magnitudes, or nearly equal arms.

    Of equal bounds: mean + sqrt(0.15 / plays) is nearly the same for all arms, so that the best set is far from those
    of largest mean + p / plays, whatever p is.
    """
    if kind == "few plays":
        pulls = rng.integers(1, 4, n)
        return rng.binomial(pulls, 0.4) / pulls, pulls
    if kind == "many plays":
        pulls = rng.integers(1, 1000, n)
    elif kind == "all magnitudes":
        pulls = (10 ** rng.uniform(0, 9, n)).astype(np.int64)
    elif kind == "equal bounds":
        pulls = (10 ** rng.uniform(0, 3, n)).astype(np.int64)
        return 0.9 - np.sqrt(0.15 / pulls) + rng.uniform(0, 0.02, n), pulls
    else:
        pulls = rng.integers(50, 54, n)
        return rng.binomial(pulls, 0.5) / pulls, pulls
    means = rng.binomial(pulls, rng.random(n)) / pulls
    means[rng.random(n) < 0.15] = 0.0
    means[rng.random(n) < 0.15] = 1.0
    return means, pulls


KINDS = ["few plays", "many plays", "all magnitudes", "nearly equal", "equal bounds"]


# Values


def test_indices_have_the_values_worked_out_by_hand() -> None:
    means, pulls = np.array([0.3, 0.5]), np.array([100, 50])
    level = exploration(1000, 2, True)
    assert level == pytest.approx(22.36891315, abs=5e-9)
    assert set_index(means, pulls, level, np.arange(2), 0.01)[0] == pytest.approx(1.33429315, abs=5e-9)
    assert kl_top(means, pulls, level, np.zeros(1, np.int64), new_kl_sets(2, 1), generator()) > 0.5
    value = pareto_top(means, 1 / pulls, level / 2, np.zeros(2, np.int64), new_pareto(2, 2), generator())
    assert value == pytest.approx(1.37925271, abs=5e-9)


def test_exploration_is_the_logarithm_and_never_zero() -> None:
    assert exploration(1000, 5, False) == math.log(1000) and exploration(2, 5, False) == math.log(2)
    assert exploration(1000, 5, True) == math.log(1000) + 20 * math.log(math.log(1000))
    for theoretical in (False, True):
        levels = [exploration(t, 10, theoretical) for t in range(1, 50)]
        assert levels[0] > 0 and (np.diff(levels) >= 0).all()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(KINDS), level=st.floats(0.1, 100.0))
def test_for_one_arm_the_indices_are_kl_ucb_and_ucb(seed: int, kind: str, level: float) -> None:
    rng = generator(seed)
    means, pulls = counts(kind, 1, rng)
    index = set_index(means, pulls, level, np.array([0]), 1 / pulls[0])[0]
    low, high = float(means[0]), 1.0
    for _ in range(70):
        middle = (low + high) / 2
        if pulls[0] * divergence(means[0], middle) <= level:
            low = middle
        else:
            high = middle
    assert index == pytest.approx(high, abs=1e-9)
    value = pareto_top(means, 1 / pulls, level / 2, np.zeros(1, np.int64), new_pareto(1, 1), rng)
    assert value == pytest.approx(means[0] + math.sqrt(level / (2 * pulls[0])), rel=1e-13)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 8),
    kind=st.sampled_from(KINDS),
    level=st.floats(0.05, 200.0),
    guess=st.floats(-25.0, 5.0),
)
@example(seed=39916799, n=5, kind="few plays", level=155.0, guess=1.25)
def test_the_kl_index_is_that_of_bisection_whatever_the_guess_and_never_above_the_other(
    seed: int, n: int, kind: str, level: float, guess: float
) -> None:
    means, pulls = counts(kind, n, generator(seed))
    index, multiplier = set_index(means, pulls, level, np.arange(n), math.exp(guess))
    assert index == pytest.approx(kl_index(means, pulls, level), rel=1e-8)
    assert sum(means) - 1e-12 <= index <= n + 1e-12
    assert index <= square_root_index(means, pulls, level) + 1e-9
    spent = sum(arm_terms(mean, count, multiplier)[1] for mean, count in zip(means, pulls))
    if n > (means >= 1).sum() + (means <= 0).sum():  # what is left of the budget could not raise the index
        assert multiplier * abs(spent - level) <= 1e-6 * index


def test_terms_are_accurate_for_any_number_of_plays() -> None:
    from fractions import Fraction

    for pulls in (1, 10**3, 10**6, 10**9, 10**12):
        for scaled in (1e-6, 0.3, 1.0, 50.0, 1e6):
            mean = 0.25
            phi, cost, _ = arm_terms(mean, pulls, scaled / pulls)
            b = 1 - Fraction(scaled)
            root = Fraction(math.isqrt(int((b * b + Fraction(scaled)) * 10**80)), 10**40)  # 4 mu = 1
            q = float((b + root) / 2) if scaled < 1e5 else mean + mean * (1 - mean) / scaled
            d = q - mean if scaled < 100 else q * (1 - q) / scaled
            if scaled < 100:
                expected = pulls * divergence(mean, q)
            else:
                expected = pulls * (d * d / 2 * (1 / mean + 1 / (1 - mean)))
            assert cost == pytest.approx(expected, rel=1e-3)
            assert phi == pytest.approx(q - scaled * expected / pulls, rel=1e-6)


# The best set


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("room", [1, ROOM])
def test_the_pareto_method_finds_the_set_of_brute_force(kind: str, room: int) -> None:
    rng = generator(KINDS.index(kind))
    for _ in range(100):
        n = int(rng.integers(2, 11))
        k = int(rng.integers(1, n + 1))
        means, pulls = counts(kind, n, rng)
        level = 0.3 * k if kind == "equal bounds" else float(10 ** rng.uniform(-2, 2))
        chosen = np.zeros(k, np.int64)
        value = pareto_top(means, 1 / pulls, level / 2, chosen, new_pareto(n, k, room), rng)
        assert len(set(chosen.tolist())) == k
        best = max(square_root_index(means[arms], pulls[arms], level) for arms in sets_of(n, k))
        assert value == pytest.approx(best, rel=1e-12)
        assert square_root_index(means[chosen], pulls[chosen], level) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_branch_and_bound_finds_the_set_of_brute_force(kind: str) -> None:
    rng = generator(KINDS.index(kind))
    for _ in range(100):
        n = int(rng.integers(2, 8))
        k = int(rng.integers(1, n))
        means, pulls = counts(kind, n, rng)
        level = 0.3 * k if kind == "equal bounds" else float(10 ** rng.uniform(-1, 2))
        chosen = np.zeros(k, np.int64)
        value = kl_top(means, pulls, level, chosen, new_kl_sets(n, k), rng)
        assert len(set(chosen.tolist())) == k
        best = max(set_index(means, pulls, level, np.array(arms), 0.1)[0] for arms in sets_of(n, k))
        assert value == pytest.approx(best, rel=1e-11)
        assert kl_index(means[chosen], pulls[chosen], level) == pytest.approx(best, rel=1e-8)


def test_branch_and_bound_has_room_for_any_number_of_arms_in_question() -> None:
    rng = generator(4)
    n, level = 2 * WINDOW, 0.3
    pulls = rng.integers(1, 200, n)
    means = np.zeros(n)
    for arm in range(n):  # the mean whose index is 0.95, up to 0.001
        low, high = 0.0, 0.95
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (middle, high) if pulls[arm] * divergence(middle, 0.95) > level else (low, middle)
        means[arm] = high - 0.001 * rng.random()
    chosen = np.zeros(1, np.int64)
    value = kl_top(means, pulls, level, chosen, new_kl_sets(n, 1), rng)
    best = max(set_index(means, pulls, level, np.array([arm]), 0.1)[0] for arm in range(n))
    assert value == pytest.approx(best, rel=1e-11)
    assert kl_index(means[chosen], pulls[chosen], level) == pytest.approx(best, rel=1e-8)


def plain_pareto(xs: Any, ys: Any, level: float, k: int) -> float:
    """The best value by full Pareto frontiers, without bounds."""
    fronts = [np.zeros((0, 2)) for _ in range(k + 1)]
    fronts[0] = np.zeros((1, 2))
    for x, y in zip(xs, ys):
        for j in range(k, 0, -1):
            points = np.concatenate([fronts[j], fronts[j - 1] + [x, y]])
            points = points[np.lexsort((-points[:, 1], -points[:, 0]))]
            highest = np.maximum.accumulate(np.concatenate([[-1.0], points[:-1, 1]]))
            fronts[j] = points[points[:, 1] > highest]
    return float((fronts[k][:, 0] + np.sqrt(level * fronts[k][:, 1])).max())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("early", [False, True])
def test_many_arms_are_searched_exactly(seed: int, early: bool) -> None:
    rng = generator(seed)
    n, k = (120, 15) if early else (60, 20)
    pulls = rng.integers(1, 4, n) if early else rng.integers(1, 1000, n)
    means = rng.binomial(pulls, 0.1) / pulls if early else rng.random(n)
    chosen = np.zeros(k, np.int64)
    for level in (1.0, 6.0, 40.0):
        value = pareto_top(means, 1 / pulls, level, chosen, new_pareto(n, k), rng)
        assert square_root_index(means[chosen], pulls[chosen], 2 * level) == pytest.approx(value, rel=1e-13)
        assert value == pytest.approx(plain_pareto(means, 1 / pulls, level, k), rel=1e-12)


def test_arms_on_a_line_fill_the_room_and_the_set_is_still_the_best() -> None:
    rng = generator(3)
    n, k, slope = 16, 8, 2.0
    ys = 1 / rng.integers(10, 1000, n)
    xs = 0.5 - slope * ys  # every set has the same score at this slope: no bound tells them apart
    level = (2 * slope) ** 2 * np.sort(ys)[4:12].sum()
    chosen = np.zeros(k, np.int64)
    best = max(xs[arms].sum() + math.sqrt(level * ys[arms].sum()) for arms in sets_of(n, k))
    for room in (64, ROOM):
        value = pareto_top(xs, ys, level, chosen, new_pareto(n, k, room), rng)
        assert len(set(chosen.tolist())) == k
        assert value == pytest.approx(best, rel=1e-12)
        assert xs[chosen].sum() + math.sqrt(level * ys[chosen].sum()) == pytest.approx(best, rel=1e-12)


def test_both_searches_agree_where_the_two_indices_do() -> None:
    """With equal means of 1/2 and many plays, b is c to the second order, and both want the arms played least."""
    pulls = np.array([10**6 + 10**4 * step for step in range(30)])
    means = np.full(30, 0.5)
    one, two = np.zeros(12, np.int64), np.zeros(12, np.int64)
    kl_top(means, pulls, 5.0, one, new_kl_sets(30, 12), generator())
    pareto_top(means, 1 / pulls, 2.5, two, new_pareto(30, 12), generator())
    assert sorted(one.tolist()) == sorted(two.tolist()) == list(range(12))


@both
@pytest.mark.parametrize("theoretical", [False, True])
def test_every_set_of_a_run_is_the_best_one(kind: Any, theoretical: bool) -> None:
    rng = generator(5)
    n, k, bound = 7, 3, 2.0
    policy = kind(theoretical=theoretical, bound=bound)
    state = policy.init(n, k, 100, rng)
    index = kl_index if kind is ESCB1 else square_root_index
    truth = np.linspace(0.8, 0.1, n)
    for t in range(1, 61):
        chosen = policy.select(state, rng).copy()
        if state.pulls.min() > 0:
            means = state.reward / (bound * state.pulls)
            level = math.log(t) + (4 * k * math.log(math.log(t)) if theoretical else 0.0)
            values = {tuple(arms): index(means[arms], state.pulls[arms], level) for arms in sets_of(n, k)}
            assert values[tuple(sorted(chosen.tolist()))] >= max(values.values()) - 1e-8
        policy.update(state, chosen, bound * (rng.random(k) < truth[chosen]), rng)
    assert state.rounds[0] == 60 and state.pulls.sum() == 180


# Ties


def assert_uniform(found: Counter[Any], outcomes: int) -> None:
    """Chi-square of counts that should be equal, for so many outcomes."""
    assert len(found) == outcomes
    assert stats.chisquare(list(found.values())).pvalue > FALSE_ALARM


@both
def test_all_sets_of_alike_arms_are_equally_likely(kind: Any) -> None:
    rng = generator(6)
    policy = kind()
    state = policy.init(5, 2, 100, rng)
    policy.update(state, np.arange(5), np.full(5, 0.5), rng)
    assert_uniform(Counter(tuple(sorted(policy.select(state, rng).tolist())) for _ in range(2000)), 10)


@both
def test_alike_arms_share_the_places_that_better_arms_leave(kind: Any) -> None:
    rng = generator(7)
    policy = kind()
    state = policy.init(7, 3, 100, rng)
    for _ in range(20):
        policy.update(state, np.arange(7), np.array([1.0, 0, 0, 0.5, 0.5, 0.5, 0.5]), rng)
    found = Counter(tuple(sorted(policy.select(state, rng).tolist())) for _ in range(2000))
    assert all(arms[0] == 0 and arms[1] >= 3 for arms in found)
    assert_uniform(found, 6)


def test_sets_of_other_arms_with_the_same_sums_are_equally_likely() -> None:
    ys = np.array([0.1, 0.4, 0.2, 0.3, 0.05, 0.1, 0.1])
    xs = np.array([1.0, 1.0, 1.0, 1.0, 0.9, 1.0, 1.0]) - 0.5 * ys
    chosen, work, rng = np.zeros(2, np.int64), new_pareto(7, 2), generator(8)
    found: Counter[Any] = Counter()
    for _ in range(2000):
        pareto_top(xs, ys, 0.5, chosen, work, rng)  # the best sum of y is 0.5
        found[tuple(sorted(chosen.tolist()))] += 1
    assert set(found) == {(0, 1), (1, 5), (1, 6), (2, 3)}
    assert_uniform(found, 4)


def test_arms_of_mean_one_are_alike_for_the_kl_index_whatever_their_plays() -> None:
    rng = generator(9)
    means, pulls = np.array([1.0, 0.2, 1.0, 1.0, 0.0]), np.array([3, 4, 1, 70, 2])
    for k, sets in [(1, 3), (2, 3)]:
        chosen, work = np.zeros(k, np.int64), new_kl_sets(5, k)
        found: Counter[Any] = Counter()
        for _ in range(1000):
            assert kl_top(means, pulls, 3.0, chosen, work, rng) == k
            found[tuple(sorted(chosen.tolist()))] += 1
        assert_uniform(found, sets)


def test_arms_without_hope_are_alike_for_the_kl_index() -> None:
    """Arm 0 alone uses the budget; arms of mean 0 played so often would add nothing to the sum."""
    rng = generator(10)
    means, pulls = np.array([0.5, 0.0, 0.0, 0.0]), np.array([4, 500, 700, 900])
    chosen, work = np.zeros(2, np.int64), new_kl_sets(4, 2)
    found: Counter[Any] = Counter()
    for _ in range(1000):
        kl_top(means, pulls, 1.0, chosen, work, rng)
        found[tuple(sorted(chosen.tolist()))] += 1
    assert {arms[0] for arms in found} == {0}
    assert_uniform(found, 3)


# The policies


@both
@pytest.mark.parametrize(("n", "k"), [(20, 10), (7, 3), (5, 5), (4, 1), (11, 10)])
def test_every_arm_is_played_in_the_first_rounds(kind: Any, n: int, k: int) -> None:
    rng = generator(11)
    policy = kind()
    state = policy.init(n, k, 100, rng)
    for turn in range(math.ceil(n / k)):
        assert (state.pulls == 0).sum() == max(0, n - turn * k)
        chosen = policy.select(state, rng).copy()
        assert len(set(chosen.tolist())) == k
        policy.update(state, chosen, rng.random(k) < 0.5, rng)
    assert state.pulls.min() == 1
    assert len(set(policy.select(state, rng).tolist())) == k


def test_the_last_of_the_first_rounds_is_filled_up_at_random() -> None:
    rng = generator(12)
    policy = ESCB2()
    state = policy.init(4, 3, 100, rng)
    policy.update(state, np.array([0, 1, 2]), np.array([1.0, 0.0, 0.0]), rng)
    found = Counter(tuple(sorted(policy.select(state, rng).tolist())) for _ in range(1000))
    assert all(3 in arms for arms in found)
    assert_uniform(found, 3)


@both
def test_updates_may_come_late_and_in_any_order(kind: Any) -> None:
    rng = generator(13)
    policy = kind()
    state = policy.init(6, 2, 100, rng)
    pulls, reward = np.zeros(6), np.zeros(6)
    waiting: list[Any] = []
    for _ in range(60):
        waiting.append(rng.permutation(policy.select(state, rng)))
        while waiting and rng.random() < 0.6:
            late = waiting.pop(int(rng.integers(len(waiting))))
            rewards = (rng.random(2) < 0.4).astype(float)
            policy.update(state, late, rewards, rng)
            pulls[late] += 1
            reward[late] += rewards
    assert np.array_equal(state.pulls, pulls) and np.array_equal(state.reward, reward)


@both
def test_rewards_in_shares_of_the_bound_give_the_same_sets(kind: Any) -> None:
    one, four = kind(), kind(bound=4.0)
    rng, other = generator(14), generator(14)
    state, large = one.init(6, 2, 100, rng), four.init(6, 2, 100, other)
    draws = generator(15)
    for _ in range(60):
        chosen, same = one.select(state, rng).copy(), four.select(large, other).copy()
        assert np.array_equal(chosen, same)
        rewards = (draws.random(2) < 0.5).astype(float)
        one.update(state, chosen, rewards, rng)
        four.update(large, same, 4 * rewards, other)


@both
def test_arms_that_are_added_are_played_first_and_nothing_is_forgotten(kind: Any) -> None:
    rng = generator(16)
    policy = kind()
    state = policy.init(5, 2, 100, rng)
    for _ in range(20):
        chosen = policy.select(state, rng).copy()
        policy.update(state, chosen, rng.random(2) < 0.5, rng)
    larger = policy.grow(state, 8, rng)
    assert np.array_equal(larger.pulls, [*state.pulls, 0, 0, 0])
    assert np.array_equal(larger.reward, [*state.reward, 0, 0, 0])
    assert larger.rounds[0] == 20
    first = set(policy.select(larger, rng).tolist())
    assert first <= {5, 6, 7}
    with pytest.raises(InputError, match="n=7 is less than the 8 arms"):
        policy.grow(larger, 7, rng)


@both
def test_another_horizon_changes_nothing_unless_all_is_to_be_forgotten(kind: Any) -> None:
    rng = generator(17)
    policy = kind()
    state = policy.init(4, 2, 100, rng)
    policy.update(state, np.arange(2), np.ones(2), rng)
    before = copy.deepcopy(state)
    policy.set_horizon(state, 1000, True)
    assert np.array_equal(state.pulls, before.pulls) and state.rounds[0] == 1
    policy.set_horizon(state, 1000, False)
    assert not state.pulls.any() and not state.reward.any() and state.rounds[0] == 0


@both
@pytest.mark.parametrize("wrong", [{"bound": 0}, {"bound": math.inf}, {"bound": -1}, {"theoretical": 0.5}])
def test_parameters_that_make_no_sense_are_refused(kind: Any, wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        kind(**wrong)


@both
def test_it_finds_the_best_set_of_independent_arms(kind: Any) -> None:
    world = Independent([0.9, 0.8, 0.3, 0.2, 0.1], k=2)
    rounds = 600
    result = simulate(kind(), world, rounds, runs=2, seed=1, checkpoints=[rounds - 100], compiled=False)
    assert ((result.regret[:, -1] - result.regret[:, -2]) / 100 < 0.1).all()  # every other set costs at least 0.5


@both
def test_regret_grows_ever_more_slowly_on_a_logit_world(kind: Any) -> None:
    world = MNL(np.linspace(1.0, 0.1, 9), k=4)
    result = simulate(kind(), world, 20_000, runs=4, seed=2, checkpoints=[2000, 10_000, 20_000], threads=1)
    early, middle, late = np.diff(result.regret.mean(axis=0), prepend=0.0) / [2000, 8000, 10_000]
    assert early > 2 * max(middle, late)
