"""Stagewise elimination: hand-computed radii, balanced passes, accepted arms, and the trap it falls into.

Statistical tests, with fixed seeds: the law of the drawn sets, by chi-square, 3 tests; a correct policy fails each with
probability one in a million. Accepted independent arms are wrong with probability at most delta = 1 / 20,000. In the
trap world another arm is accepted first, or at another time, with probability below 1 in 10^5 per run, by the normal
approximation. The limits on the regret of UCB, and on the regret in the logit world, held for each of 20 other seeds.
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
from setwise import UCB, InputError, simulate
from setwise.environments import MNL, Independent
from setwise.environments.presets import trap
from setwise.policies.stagewise_elimination import (
    FOREVER,
    StagewiseElimination,
    bernstein_radius,
    hoeffding_radius,
)

FALSE_ALARM = 1e-6
VERSIONS = [
    {"cumulative": cumulative, "bernstein": bernstein} for cumulative in (False, True) for bernstein in (False, True)
]
every_version = pytest.mark.parametrize("version", VERSIONS, ids=str)


def accepted_of(state: Any) -> list[int]:
    return sorted(state.arms[: state.accepted[0]].tolist())


def active_of(state: Any) -> list[int]:
    start = state.accepted[0]
    return sorted(state.arms[start : start + state.active[0]].tolist())


def due_of(state: Any) -> list[int]:
    start = state.accepted[0]
    return sorted(state.arms[start : start + state.due[0]].tolist())


def test_radii_have_the_values_worked_out_by_hand() -> None:
    assert hoeffding_radius(512, 9, 10, 1 / 40000, 1.0) == pytest.approx(math.sqrt(math.log(129_600_000) / 1024))
    assert hoeffding_radius(2, 1, 4, 0.1, 3.0) == pytest.approx(3 * math.sqrt(math.log(160) / 4))
    level = math.log(8 * 10 * 81 * 40000)
    expected = math.sqrt(2 * (128 / 511) * level / 512) + 8 * level / (3 * 511)
    assert bernstein_radius(512, 256.0, 256.0, 9, 10, 1 / 40000, 1.0) == pytest.approx(expected)
    assert bernstein_radius(4, 4.0, 4.0, 1, 2, 0.5, 2.0) == pytest.approx(16 * math.log(32) / 9)  # no variance
    assert bernstein_radius(1, 1.0, 1.0, 1, 2, 0.5, 1.0) == math.inf


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 9),
    k=st.integers(1, 8),
    version=st.sampled_from(VERSIONS),
    delta=st.sampled_from([0.01, 0.9, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_passes_are_balanced_and_stages_end_as_they_should(
    n: int, k: int, version: dict[str, bool], delta: float, seed: int
) -> None:
    """Every pass counts each active arm once, stage r has 2^r passes, and the rest follows from the counted rewards."""
    k = min(k, n - 1)
    rng = generator(seed)
    policy = StagewiseElimination(**version, delta=delta)
    state = policy.init(n, k, 100, rng)
    truth = rng.random(n)
    samples: dict[int, list[float]] = {arm: [] for arm in range(n)}
    counted: set[int] = set()
    stage, passes = 1, 0
    for _ in range(700):
        accepted, active = accepted_of(state), active_of(state)
        places = k - len(accepted)
        assert sorted(state.arms.tolist()) == list(range(n))
        assert [state.arms[place] for place in state.places] == list(range(n))
        chosen = policy.select(state, rng).copy()
        arms = set(chosen.tolist())
        assert len(arms) == k and set(accepted) <= arms <= set(accepted) | set(active)
        rewards = (rng.random(k) < truth[chosen]).astype(float)
        if places == 0:
            before = copy.deepcopy(state)
            assert policy.certain_rounds(state, chosen) == FOREVER
            policy.update_many(state, chosen, 9 * rewards, 9)
            policy.update(state, chosen, rewards, rng)
            for one, other in zip(state, before):
                assert np.array_equal(one, other)
            return
        assert policy.certain_rounds(state, chosen) == 1
        new = (arms & set(active)) - counted
        assert len(new) == min(places, len(active) - len(counted))
        assert due_of(state) == sorted(set(active) - counted)
        for arm, reward in zip(chosen.tolist(), rewards.tolist()):
            if arm in new:
                samples[arm].append(reward)
        counted |= new
        policy.update(state, chosen, rewards, rng)
        if len(counted) == len(active):
            counted, passes = set(), passes + 1
        if passes == 2**stage:
            sizes = {len(samples[arm]) for arm in active}
            assert sizes == {2 ** (stage + 1) - 2 if version["cumulative"] else 2**stage}
            check_end_of_stage(policy, state, samples, accepted, active, stage, n, k)
            stage, passes = stage + 1, 0
            if not version["cumulative"]:
                samples = {arm: [] for arm in range(n)}
        for arm in active_of(state):
            assert state.samples[arm] == len(samples[arm])
            assert state.sums[arm] == sum(samples[arm])
        assert state.stage[0] == stage and state.passes[0] == passes


def check_end_of_stage(
    policy: Any, state: Any, samples: Any, accepted: list[int], active: list[int], stage: int, n: int, k: int
) -> None:
    """What was accepted and rejected is what the bounds of the active arms say."""
    places = k - len(accepted)
    bounds = {}
    for arm in active:
        x = np.array(samples[arm])
        if policy.bernstein:
            level = math.log(8 * n * stage**2 / policy.delta)
            radius = math.sqrt(2 * x.var(ddof=1) * level / len(x)) + 8 * level / (3 * (len(x) - 1))
        else:
            radius = math.sqrt(math.log(4 * n * stage**2 / policy.delta) / (2 * len(x)))
        bounds[arm] = (x.mean() - radius, x.mean() + radius)
    to_beat = sorted((high for _, high in bounds.values()), reverse=True)[places]
    to_reach = sorted((low for low, _ in bounds.values()), reverse=True)[places - 1]
    better = [arm for arm in active if bounds[arm][0] > to_beat]
    worse = [arm for arm in active if bounds[arm][1] < to_reach]
    assert len(better) <= places and len(active) - len(worse) >= places
    left = sorted(set(active) - set(better) - set(worse))
    taken = sorted(accepted + better)
    if len(taken) == k:
        left = []
    elif len(left) + len(taken) == k:
        left, taken = [], sorted(taken + left)
    assert (accepted_of(state), active_of(state)) == (taken, left)


def first_sets(n: int, k: int, rounds: int, calls: int) -> Counter[Any]:
    """How often each sequence of sets is drawn in the first rounds, whatever the arms are called."""
    rng = generator(1)
    policy = StagewiseElimination()
    found: Counter[Any] = Counter()
    for _ in range(calls):
        state = policy.init(n, k, 100, rng)
        sets = []
        for _ in range(rounds):
            chosen = policy.select(state, rng).copy()
            sets.append(tuple(sorted(chosen.tolist())))
            policy.update(state, chosen, np.zeros(k), rng)
        found[tuple(sets)] += 1
    return found


def assert_uniform(found: Counter[Any], outcomes: set[Any]) -> None:
    assert set(found) == outcomes
    assert stats.chisquare(list(found.values())).pvalue > FALSE_ALARM


def test_all_ways_to_cut_a_pass_into_blocks_are_equally_likely() -> None:
    everything = {
        (one, tuple(sorted(set(range(4)) - set(one)))) for one in itertools.combinations(range(4), 2)
    }  # the second block is what the first one leaves
    assert_uniform(first_sets(4, 2, 2, 3000), everything)


def test_a_short_block_is_topped_up_with_any_of_the_other_arms() -> None:
    everything = {
        (one, two) for one in itertools.combinations(range(3), 2) for two in itertools.combinations(range(3), 2)
    }
    everything = {(one, two) for one, two in everything if set(one) | set(two) == {0, 1, 2}}
    assert_uniform(first_sets(3, 2, 2, 3000), everything)


def test_the_order_of_a_pass_does_not_depend_on_the_one_before() -> None:
    found = first_sets(4, 2, 3, 3000)
    firsts = list(itertools.combinations(range(4), 2))
    everything = {(one, tuple(sorted(set(range(4)) - set(one))), two) for one in firsts for two in firsts}
    assert_uniform(found, everything)


def test_top_ups_are_not_counted() -> None:
    rng = generator(2)
    policy = StagewiseElimination()
    state = policy.init(3, 2, 100, rng)
    policy.update(state, np.array([0, 1]), np.zeros(2), rng)
    policy.update(state, np.array([0, 2]), np.ones(2), rng)
    assert state.samples.tolist() == [1, 1, 1] and state.sums.tolist() == [0.0, 0.0, 1.0]
    assert state.passes[0] == 1


def test_a_set_that_comes_late_is_counted_only_as_far_as_it_fits() -> None:
    rng = generator(3)
    policy = StagewiseElimination()
    state = policy.init(6, 3, 100, rng)
    policy.update(state, np.array([3, 0, 5]), np.ones(3), rng)
    policy.update(state, np.array([5, 0, 3]), np.ones(3), rng)  # the same decision twice
    assert state.samples.tolist() == [1, 0, 0, 1, 0, 1]
    policy.update(state, np.array([5, 1, 3]), np.ones(3), rng)
    assert state.samples.tolist() == [1, 1, 0, 1, 0, 1]
    state.accepted[0], state.active[0], state.due[0] = 1, 4, 4
    state.arms[:] = [2, 0, 1, 3, 4, 5]  # arm 2 accepted, arm 5 rejected
    state.places[:] = [1, 2, 0, 3, 4, 5]
    before = copy.deepcopy(state)
    for late in ([0, 1, 3], [2, 0, 5]):  # from before arm 2 was accepted, from before arm 5 was rejected
        policy.update(state, np.array(late), np.ones(3), rng)
        for one, other in zip(state, before):
            assert np.array_equal(one, other)
    policy.update(state, np.array([4, 2, 0]), np.ones(3), rng)
    assert (state.samples - before.samples).tolist() == [1, 0, 0, 0, 1, 0]


@every_version
def test_the_two_best_of_independent_arms_are_accepted(version: dict[str, bool]) -> None:
    rng = generator(4)
    horizon = 20_000
    policy = StagewiseElimination(**version)
    world = Independent([0.9, 0.7, 0.3, 0.1], k=2)
    state = policy.init(4, 2, horizon, rng)
    rewards = np.zeros(2)
    for _ in range(horizon):
        chosen = policy.select(state, rng)
        if policy.certain_rounds(state, chosen) == FOREVER:
            break
        world.draw(chosen, rng, rewards)
        policy.update(state, chosen, rewards, rng)
    assert accepted_of(state) == [0, 1]


def play_trap(policy: Any, horizon: int, seed: int) -> tuple[list[int], int, float]:
    """The first accepted arms, the round in which they are, and the regret of a round from then on."""
    world = trap()
    rng = generator(seed)
    state = policy.init(10, 2, horizon, rng)
    rewards, means = np.zeros(2), np.zeros(2)
    best = 0.9
    when, after, regret, first = 0, 0, 0.0, []
    for t in range(horizon):
        chosen = policy.select(state, rng)
        world.means(chosen, means)
        if first:
            regret += best - means.sum()
            after += 1
        world.draw(chosen, rng, rewards)
        policy.update(state, chosen, rewards, rng)
        if not first and state.accepted[0] > 0:
            first, when = accepted_of(state), t + 1
        if after == 2000:
            break
    return first, when, regret / after


@pytest.mark.parametrize(
    ("version", "rounds"),
    [
        ({}, {2550, 5110, 10_230}),
        ({"cumulative": True}, {1270, 2550, 5110}),
        ({"bernstein": True}, {10_230, 20_470}),
        ({"cumulative": True, "bernstein": True}, {5110, 10_230}),
    ],
    ids=str,
)
def test_in_the_trap_world_every_version_accepts_the_wrong_arm_and_pays_for_ever(version: Any, rounds: Any) -> None:
    """A stage ends after 5 (2^(r+1) - 2) rounds; accepting arm 2 needs radii of 0.14, any rejection ones of 0.035."""
    first, when, regret = play_trap(StagewiseElimination(**version), 40_000, seed=5)
    assert first == [2]
    assert when in rounds
    assert regret == pytest.approx(0.04, abs=1e-12)


def test_in_the_trap_world_the_regret_of_a_round_of_ucb_falls() -> None:
    checkpoints = [20_000, 36_000, 40_000]
    result = simulate(UCB(), trap(), 40_000, runs=3, seed=6, checkpoints=checkpoints, compiled=False)
    early, _, late = (np.diff(result.regret, prepend=0.0, axis=1) / [20_000, 16_000, 4000]).mean(axis=0)
    assert late < 0.03
    assert late < 0.9 * early


def test_all_arms_are_the_set_from_the_first_round_if_k_is_n() -> None:
    rng = generator(7)
    policy = StagewiseElimination()
    state = policy.init(4, 4, 100, rng)
    chosen = policy.select(state, rng)
    assert sorted(chosen.tolist()) == [0, 1, 2, 3]
    assert policy.certain_rounds(state, chosen) == FOREVER
    policy.update(state, chosen, np.ones(4), rng)
    assert sorted(policy.select(state, rng).tolist()) == [0, 1, 2, 3]


def test_rewards_in_shares_of_the_bound_give_the_same_decisions() -> None:
    for version in VERSIONS:
        one, four = StagewiseElimination(**version, delta=1.0), StagewiseElimination(**version, delta=1.0, bound=4.0)
        rng, other, draws = generator(8), generator(8), generator(9)
        state, large = one.init(5, 2, 100, rng), four.init(5, 2, 100, other)
        for _ in range(3000):
            chosen, same = one.select(state, rng).copy(), four.select(large, other).copy()
            assert np.array_equal(chosen, same)
            rewards = (draws.random(2) < np.linspace(1.0, 0.0, 5)[chosen]).astype(float)
            one.update(state, chosen, rewards, rng)
            four.update(large, same, 4 * rewards, other)
        assert state.accepted[0] > 0


def test_a_delta_of_zero_stands_for_one_over_the_horizon() -> None:
    rng = generator()
    state = StagewiseElimination().init(4, 2, 1000, rng)
    assert state.delta[0] == 1 / 1000
    assert StagewiseElimination(delta=0.1).init(4, 2, 1000, rng).delta[0] == 0.1


@pytest.mark.parametrize(("n", "k"), [(6, 2), (3, 3)])
def test_another_horizon_changes_delta_and_all_is_forgotten_if_asked(n: int, k: int) -> None:
    rng = generator(10)
    policy = StagewiseElimination()
    state = policy.init(n, k, 100, rng)
    for _ in range(30):
        chosen = policy.select(state, rng).copy()
        policy.update(state, chosen, rng.random(k), rng)
    before = copy.deepcopy(state)
    policy.set_horizon(state, 1000, True)
    assert state.delta[0] == 1 / 1000
    for name in ("samples", "sums", "arms", "stage", "passes", "due"):
        assert np.array_equal(getattr(state, name), getattr(before, name))
    policy.set_horizon(state, 50, False)
    fresh = policy.init(n, k, 50, rng)
    for name in ("samples", "sums", "squares", "accepted", "active", "due", "stage", "passes", "delta"):
        assert np.array_equal(getattr(state, name), getattr(fresh, name))
    assert policy._replace(delta=0.2).init(n, k, 50, rng).delta[0] == 0.2


@pytest.mark.parametrize(
    "wrong",
    [{"delta": -0.1}, {"delta": 1.5}, {"bound": 0}, {"bound": math.inf}, {"cumulative": 2}, {"bernstein": "no"}],
)
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        StagewiseElimination(**wrong)


def test_it_ends_with_the_best_set_of_a_logit_world() -> None:
    world = MNL(np.array([3.0, 2.5, 0.3, 0.2, 0.1]), k=2)
    checkpoints = [150_000, 200_000]
    result = simulate(StagewiseElimination(), world, 200_000, runs=4, checkpoints=checkpoints, threads=1)
    assert (result.regret[:, -1] == result.regret[:, -2]).all()
    assert (result.regret[:, -1] > 0).all()
