"""The k arms of largest Beta mean, drawn with few draws: bounds hold, and sets have the law of drawing all means.

Tests of laws compare two samples by chi-square or Kolmogorov-Smirnov tests at the level 1e-6 on fixed seeds: 20 of
them, so that with other seeds all together raise a false alarm with probability 2e-5.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import special, stats

from seeded import generator
from setwise import simulate
from setwise.compiled import compile_for
from setwise.environments import MNL, Independent
from setwise.kernels.beta_tails import NONE, crossing_bound, draw_beyond, log_density
from setwise.kernels.largest_betas import (
    CENTER,
    FAR,
    NEAR,
    STRONG,
    STRONG_SUM,
    WEAK_SUM,
    border,
    count_outcome,
    draw_largest,
    end_round,
    new_largest_betas,
    split_arms,
)
from setwise.policies.thompson import Thompson

LEVEL = 1e-6
COUNTS = st.integers(0, 50) | st.integers(0, 10**6) | st.floats(0, 50)


def beyond(successes, failures, level, weak):
    """The chance that a mean is beyond a level."""
    below = special.betainc(1.0 + successes, 1.0 + failures, level)
    return special.betaincc(1.0 + successes, 1.0 + failures, level) if weak else below


@given(successes=COUNTS, failures=COUNTS, level=st.floats(0.001, 0.999), weak=st.booleans())
@settings(max_examples=400)
def test_the_bound_is_at_least_the_chance_to_cross(successes, failures, level, weak):
    assume(successes + failures == 0 or successes + failures >= 1)
    bound = crossing_bound(float(successes), float(failures), level, weak)
    assert bound >= beyond(successes, failures, level, weak) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("successes", "failures", "level"), [(3, 30, 0.3), (100, 900, 0.13), (0, 20, 0.2), (40, 2, 0.99)]
)
def test_the_bound_is_not_much_more_than_the_chance_to_cross(successes, failures, level):
    chance = beyond(successes, failures, level, weak=True)
    assert crossing_bound(float(successes), float(failures), level, True) < 4 * chance


@given(successes=COUNTS, failures=COUNTS, x=st.floats(0.001, 0.999))
def test_the_density_is_that_of_beta(successes, failures, x):
    expected = stats.beta.logpdf(x, 1.0 + successes, 1.0 + failures)
    assert log_density(float(successes), float(failures), x) == pytest.approx(expected, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize(
    ("successes", "failures", "level"), [(3.0, 30.0, 0.2), (30.0, 3.0, 0.85), (0.0, 9.0, 0.25), (0.3, 1.4, 0.8)]
)
def test_means_beyond_a_level_have_their_law(successes, failures, level):
    """A candidate is taken with the chance that makes up for the bound, and then has the density of Beta there."""
    weak, rng = successes / (successes + failures) < level, generator(1)
    bound = crossing_bound(successes, failures, level, weak)
    drawn = np.array([draw_beyond(successes, failures, level, bound, rng) for _ in range(20_000)])
    taken = drawn[drawn != NONE]
    law, chance = stats.beta(1 + successes, 1 + failures), beyond(successes, failures, level, weak)
    assert stats.binomtest(len(taken), len(drawn), chance / bound).pvalue > LEVEL
    below = law.cdf(level)
    share = (law.cdf(taken) - below) / (1 - below) if weak else law.cdf(taken) / below
    assert stats.kstest(share, "uniform").pvalue > LEVEL


@given(values=st.lists(st.integers(0, 5), min_size=1, max_size=9), data=st.data())
def test_the_border_is_that_of_the_sorted_values(values, data):
    places = data.draw(st.integers(0, len(values)))
    ranked = sorted(values, reverse=True)
    lower, upper = border(np.array(values, float), np.zeros(places))
    assert lower == (ranked[places] if places < len(values) else -np.inf)
    assert upper == (ranked[places - 1] if places else np.inf)


def draw_sets(split, successes, failures, chosen, out, rng):
    for row in range(len(out)):
        draw_largest(split, successes, failures, chosen, rng)
        for j in range(len(chosen)):
            out[row, j] = chosen[j]


def sets_drawn(split, successes, failures, k, draws, seed):
    out = np.zeros((draws, k), np.int64)
    arguments = (split, successes, failures, np.zeros(k, np.int64), out, generator(seed))
    compile_for(draw_sets, *arguments)(*arguments)
    return np.sort(out, axis=1)


def sets_by_all_means(successes, failures, k, draws, seed):
    means = generator(seed).beta(1 + successes, 1 + failures, (draws, len(successes)))
    return np.sort(np.argsort(-means, axis=1)[:, :k], axis=1)


def assert_same_law(one, other):
    """Compare how often each set was drawn, rare ones together."""
    names, place = np.unique(np.concatenate((one, other)), axis=0, return_inverse=True)
    place = place.ravel()
    table = np.array([np.bincount(part, minlength=len(names)) for part in (place[: len(one)], place[len(one) :])])
    rare = table.sum(axis=0) < 40
    table = np.column_stack((table[:, ~rare], table[:, rare].sum(axis=1)))
    table = table[:, table.sum(axis=0) > 0]
    assert table.shape[1] == 1 or stats.chi2_contingency(table).pvalue > LEVEL


STATES = {
    "nothing played": ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], 2),
    "one clear winner": ([90, 5, 4, 3, 1], [10, 95, 90, 99, 50], 1),
    "two of a kind at the border": ([50, 30, 30, 5, 2], [50, 70, 70, 95, 98], 2),
    "far apart": ([900, 800, 300, 200, 100, 5], [100, 200, 700, 800, 900, 95], 2),
    "new arms among old ones": ([500, 300, 0, 0, 20], [500, 700, 0, 1, 80], 2),
    "many failures": ([2, 1, 1, 0, 3, 1, 0, 2], [300, 280, 200, 150, 400, 90, 60, 310], 3),
    "all but one": ([9, 8, 7, 6, 5], [10, 10, 10, 10, 10], 4),
    "all": ([9, 8, 7], [1, 2, 3], 3),
    "spread out": ([40, 36, 33, 30, 26, 22, 18, 12, 8, 4], [60, 64, 67, 70, 74, 78, 82, 88, 92, 96], 4),
    "a strong arm that may fall": ([6, 30, 28, 5, 4], [1, 70, 72, 95, 96], 2),
}


@pytest.mark.parametrize("name", STATES)
def test_sets_have_the_law_of_drawing_all_means(name):
    successes, failures, k = STATES[name]
    successes, failures = np.array(successes, float), np.array(failures, float)
    split = new_largest_betas(len(successes), k)
    split_arms(split, successes, failures)
    drawn = sets_drawn(split, successes, failures, k, 60_000, seed=1)
    assert_same_law(drawn, sets_by_all_means(successes, failures, k, 60_000, seed=2))


def test_a_split_of_earlier_rounds_gives_the_same_law():
    """Between splits, outcomes are counted and bounds renewed; the law is that of the counts now."""
    rng = generator(3)
    successes, failures = np.array([50.0, 30.0, 27.0, 8.0, 5.0, 2.0]), np.array([50.0, 70.0, 73.0, 92.0, 95.0, 98.0])
    split = new_largest_betas(6, 2)
    split_arms(split, successes, failures)
    for _ in range(40):
        for arm, chance in ((0, 0.2), (3, 0.6), (5, 0.4)):
            count_outcome(split, successes, failures, arm, rng.random() < chance)
    drawn = sets_drawn(split, successes, failures, 2, 60_000, seed=4)
    assert_same_law(drawn, sets_by_all_means(successes, failures, 2, 60_000, seed=5))


def test_another_law_is_noticed():
    successes, failures = np.array([50.0, 30.0, 28.0, 5.0]), np.array([50.0, 70.0, 72.0, 95.0])
    one = sets_by_all_means(successes, failures, 2, 60_000, seed=1)
    with pytest.raises(AssertionError):
        assert_same_law(one, sets_by_all_means(successes + [0, 1, 0, 0], failures, 2, 60_000, seed=2))


@pytest.mark.parametrize("seed", range(4))
def test_the_stored_bounds_hold_in_every_round(seed):
    """Strong and weak arms have bounds, whose sums are stored; they hold at the center whatever is counted."""
    rng = generator(seed)
    n, k = 12, 4
    chances = np.linspace(0.9, 0.05, n)
    successes, failures = np.zeros(n), np.zeros(n)
    split, chosen = new_largest_betas(n, k), np.zeros(k, np.int64)
    far = 0
    for _ in range(1500):
        draw_largest(split, successes, failures, chosen, rng)
        assert len(set(chosen.tolist())) == k
        for arm in chosen:
            count_outcome(split, successes, failures, int(arm), bool(rng.random() < chances[arm]))
        end_round(split, successes, failures)
        strong, near = split.counts[STRONG], split.counts[NEAR]
        center = split.levels[CENTER]
        groups = split.order[:strong], split.order[strong + near :]
        for arms, weak, place in ((groups[0], False, STRONG_SUM), (groups[1], True, WEAK_SUM)):
            chance = beyond(successes[arms], failures[arms], center, weak)
            assert np.all(split.bounds[arms] >= chance * (1 - 1e-9))
            assert np.all(split.bounds[arms] <= FAR)
            assert split.levels[place] == pytest.approx(split.bounds[arms].sum(), abs=1e-12)
            far += len(arms)
        assert np.all(split.bounds[split.order[strong : strong + near]] == 0.0)
        assert sorted(split.order.tolist()) == list(range(n))
    assert far > 1500  # the rounds are not all without far arms, which would test nothing


def regret_of_plain_thompson(world, horizon, runs, seed):
    """Play by drawing every mean, with NumPy alone."""
    best = np.sort(world.values)[::-1][: world.k]
    at_best = best.sum() / (world.outside + best.sum())
    found = np.zeros(runs)
    rng = generator(seed)
    for run in range(runs):
        successes, failures = np.ones(world.n), np.ones(world.n)
        for _ in range(horizon):
            chosen = np.argsort(-rng.beta(successes, failures))[: world.k]
            weights = world.values[chosen]
            total = world.outside + weights.sum()
            found[run] += at_best - weights.sum() / total
            winner = np.searchsorted(np.cumsum(weights), rng.random() * total, side="right")
            failures[chosen] += 1
            if winner < world.k:
                successes[chosen[winner]] += 1
                failures[chosen[winner]] -= 1
    return found


def test_regret_has_the_law_of_thompson_sampling_as_it_is_written():
    world = MNL([1.0, 0.9, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1], k=3)
    ours = simulate(Thompson(), world, 400, runs=600, seed=1, compiled=True).regret[:, -1]
    plain = regret_of_plain_thompson(world, 400, 200, seed=2)
    assert stats.ks_2samp(ours, plain).pvalue > LEVEL


def test_far_arms_are_hardly_ever_drawn():
    """What it is for: in a clear world, few of the arms are near the border."""
    world = Independent(np.linspace(0.9, 0.1, 40), k=5)
    policy, rng = Thompson(), generator(1)
    state = policy.init(world.n, world.k, 3000, rng)
    rewards = np.zeros(world.k)
    for _ in range(3000):
        chosen = policy.select(state, rng)
        world.draw(chosen, rng, rewards)
        policy.update(state, chosen, rewards, rng)
    assert state.largest.counts[NEAR] < 25
