"""Policies for multinomial logit: hand-computed values, epochs, laws, and their intended world.

Statistical tests have fixed seeds; with others, each raises a false alarm with probability below 1e-6: 5
chi-square tests, 10 Kolmogorov-Smirnov tests, and 4 means that may be 6 standard deviations off. The tests of
convergence run on fixed seeds with wide margins.
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
from setwise.environments import MNL, Table
from setwise.policies._epochs import add_purchases, ends_epoch, is_held, new_epochs
from setwise.policies.mnl_thompson import MNLThompson, begin_epoch, gaussian_weight
from setwise.policies.mnl_ucb import MNLUCB, weight_bound

LEVEL = 1e-6
NOTHING = np.zeros(3)

POLICIES = [MNLUCB(), MNLUCB(cap=False), MNLThompson(), MNLThompson(gaussian=True)]
each_policy = pytest.mark.parametrize("policy", POLICIES, ids=repr)


def frozen(state: Any) -> bytes:
    """Everything that is in a state."""
    return b"".join(part.tobytes() for part in state)


def play_epochs(policy: Any, state: Any, world: Any, epochs: int, rng: np.random.Generator) -> list[list[int]]:
    """Play so many epochs by hand, and return their sets."""
    rewards = np.zeros(world.k)
    sets = []
    for _ in range(epochs):
        chosen = policy.select(state, rng).copy()
        sets.append(sorted(chosen.tolist()))
        over = False
        while not over:
            assert policy.select(state, rng).tolist() == chosen.tolist()
            world.draw(chosen, rng, rewards)
            over = not rewards.any()
            policy.update(state, chosen, rewards, rng)
    return sets


def test_the_indices_have_the_values_worked_out_by_hand() -> None:
    level = 48 * math.log(math.sqrt(20) * 50 + 1)
    assert round(level, 6) == 259.888863
    assert round(weight_bound(100.0, 400, level), 6) == 1.302749
    assert round(gaussian_weight(100.0, 400, math.sqrt(math.log(10**4 * 10)), 1.5), 7) == 1.5007645


@pytest.mark.parametrize(("cap", "index"), [(True, 1.0), (False, 1.302749)])
def test_mnl_ucb_works_out_the_index_of_every_arm_offered_when_an_epoch_ends(cap: bool, index: float) -> None:
    policy, rng = MNLUCB(cap=cap), generator(1)
    state = policy.init(20, 3, 1000, rng)
    other = next(arm for arm in range(20) if arm not in state.chosen)
    state.offers[other], state.purchases[other] = 400, 100.0
    state.epochs[0] = 49
    policy.update(state, state.chosen.copy(), NOTHING, rng)
    assert state.epochs[0] == 50
    assert round(state.indices[other], 6) == index
    out = np.zeros(20)
    policy.indices(state, out)
    assert np.array_equal(out, state.indices)


def test_the_constant_of_mnl_ucb_can_be_another() -> None:
    policy, rng = MNLUCB(alpha=2.0, cap=False), generator(2)
    state = policy.init(9, 3, 1000, rng)
    chosen = state.chosen.copy()
    policy.update(state, chosen, np.array([0.0, 1.0, 0.0]), rng)
    policy.update(state, chosen, NOTHING, rng)
    level = 2 * math.log(3 * 1 + 1)
    assert state.indices[chosen[1]] == 1 + math.sqrt(level) + level
    assert state.indices[chosen[0]] == level


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.inf, math.nan])
def test_mnl_ucb_refuses_an_alpha_that_makes_no_sense(alpha: float) -> None:
    with pytest.raises(InputError, match="MNLUCB: alpha"):
        MNLUCB(alpha=alpha)


@pytest.mark.parametrize("policy", [MNLUCB(), MNLThompson(gaussian=True)], ids=repr)
@pytest.mark.parametrize(("n", "k"), [(7, 3), (6, 3), (5, 5), (4, 1)])
def test_the_first_epochs_offer_every_arm(policy: Any, n: int, k: int) -> None:
    rng = generator(3)
    state = policy.init(n, k, 1000, rng)
    first = play_epochs(policy, state, MNL(np.linspace(0.8, 0.1, n), k=k), math.ceil(n / k), rng)
    assert set(itertools.chain(*first)) == set(range(n))
    assert state.offers.sum() == k * math.ceil(n / k)


def test_without_the_cap_mnl_ucb_keeps_its_first_set_for_hundreds_of_epochs() -> None:
    rng = generator(4)
    world = MNL(np.linspace(0.8, 0.1, 20), k=10)
    sets = {}
    for cap in (True, False):
        policy = MNLUCB(cap=cap)
        sets[cap] = play_epochs(policy, policy.init(20, 10, 1000, rng), world, 200, rng)
    assert len(set(map(tuple, sets[False]))) == 1
    assert len(set(map(tuple, sets[True]))) > 150


@each_policy
def test_every_epoch_counts_once_for_every_arm_of_its_set(policy: Any) -> None:
    rng = generator(5)
    state = policy.init(6, 3, 1000, rng)
    world = MNL([0.9, 0.7, 0.5, 0.4, 0.2, 0.1], k=3)
    for finished in range(1, 60):
        before = state.offers.copy()
        (offered,) = play_epochs(policy, state, world, 1, rng)
        assert np.flatnonzero(state.offers - before).tolist() == offered
        assert state.offers.sum() == 3 * finished
        assert not state.bought.any()
    if isinstance(policy, MNLUCB):
        assert state.epochs[0] == 59


@each_policy
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_feedback_that_comes_late_or_in_another_order_does_no_harm(policy: Any, seed: int) -> None:
    rng = generator(seed)
    state = policy.init(6, 3, 1000, rng)
    waiting: list[Any] = []
    finished = bought = 0
    for _ in range(60):
        waiting.append(rng.permutation(policy.select(state, rng)))
        while waiting and rng.random() < 0.6:
            late = waiting.pop(int(rng.integers(len(waiting))))
            rewards = np.zeros(3)
            place = int(rng.integers(-1, 3))
            if place >= 0:
                rewards[place] = 1.0
            fits = set(late.tolist()) == set(state.chosen.tolist())
            before = frozen(state)
            policy.update(state, late, rewards, rng)
            if fits:
                finished += place < 0
                bought += place >= 0
            else:
                assert frozen(state) == before
            assert state.offers.sum() == 3 * finished
            assert state.purchases.sum() + state.bought.sum() == bought
            assert len(set(state.chosen.tolist())) == 3


def test_a_set_is_held_whatever_the_order_of_its_arms() -> None:
    held = np.array([4, 0, 7])
    for order in itertools.permutations([4, 0, 7]):
        assert is_held(held, np.array(order))
    for other in ([4, 0, 6], [1, 0, 7], [4, 0], [4, 0, 7, 1], [99, 98, 97]):
        assert not is_held(held, np.array(other))


@each_policy
def test_absorbing_purchases_is_learning_them_one_by_one(policy: Any) -> None:
    rng = generator(6)
    one_by_one = policy.init(6, 3, 1000, rng)
    at_once = copy.deepcopy(one_by_one)
    chosen = one_by_one.chosen[::-1].copy()
    assert policy.certain_rounds(one_by_one, chosen) == 1
    for place in (0, 2, 2, 1, 2):
        policy.update(one_by_one, chosen, np.eye(3)[place], rng)
    policy.update_many(at_once, chosen, np.array([1.0, 1.0, 3.0]), 5)
    assert one_by_one.bought.sum() == 5
    assert frozen(one_by_one) == frozen(at_once)
    policy.update_many(at_once, (chosen + 1) % 6, np.array([1.0, 1.0, 3.0]), 5)
    assert frozen(one_by_one) == frozen(at_once)
    for state in (one_by_one, at_once):
        policy.update(state, chosen, NOTHING, generator(7))
    assert frozen(one_by_one) == frozen(at_once)
    assert one_by_one.purchases[chosen].tolist() == [1.0, 1.0, 3.0]


@pytest.mark.parametrize("held", [[0, 1], [0, 2]])
def test_purchases_in_an_epoch_have_the_weights_as_means_whatever_the_set(held: list[int]) -> None:
    world, rng, epochs = MNL([0.5, 0.2, 0.9], k=2), generator(8), 4000
    state = new_epochs(3, 2, 0.0)._replace(chosen=np.array(held))
    rewards = np.zeros(2)
    while state.offers[0] < epochs:
        world.draw(state.chosen, rng, rewards)
        ends_epoch(state, state.chosen, rewards)
    assert state.epochs[0] == epochs
    for arm in held:
        weight = world.values[arm]
        assert abs(state.purchases[arm] / epochs - weight) < 6 * math.sqrt(weight * (1 + weight) / epochs)


def test_only_purchases_of_the_set_that_is_held_are_added() -> None:
    state = new_epochs(4, 2, 0.0)._replace(chosen=np.array([2, 0]))
    add_purchases(state, np.array([0, 2]), np.array([3.0, 1.0]))
    add_purchases(state, np.array([0, 1]), np.array([3.0, 1.0]))
    assert state.bought.tolist() == [3.0, 0.0, 1.0, 0.0]


def assert_even(found: Counter[Any], outcomes: int) -> None:
    assert len(found) == outcomes
    assert min(found.values()) > 20
    assert stats.chisquare(list(found.values())).pvalue > LEVEL


@pytest.mark.parametrize("policy", [MNLUCB(), MNLThompson(), MNLThompson(gaussian=True)], ids=repr)
def test_the_first_set_is_any(policy: Any) -> None:
    rng = generator(9)
    found = Counter(tuple(sorted(policy.init(5, 2, 100, rng).chosen.tolist())) for _ in range(1500))
    assert_even(found, 10)


def test_equal_indices_and_fillers_are_drawn_evenly() -> None:
    """Arms 2, 3 and 4 were offered and have equal indices: beside 0 and 1, which are new, each is as likely."""
    rng = generator(10)
    for policy in (MNLUCB(), MNLThompson(gaussian=True)):
        found: Counter[Any] = Counter()
        for _ in range(600):
            state = policy.init(5, 3, 100, rng)
            state.chosen[:] = [2, 3, 4]
            policy.update(state, state.chosen.copy(), NOTHING, rng)
            found[tuple(sorted(state.chosen.tolist()))] += 1
        assert set(found) == {(0, 1, 2), (0, 1, 3), (0, 1, 4)}
        assert_even(found, 3)


def test_beta_samples_of_weights_have_their_law() -> None:
    rng = generator(11)
    state = MNLThompson().init(3, 2, 1000, rng)
    state.offers[:] = [0, 3, 8]
    state.purchases[:] = [0.0, 5.0, 2.0]
    samples = np.zeros((1500, 3))
    for row in samples:
        begin_epoch(False, state, rng)
        row[:] = state.indices
        assert set(state.chosen.tolist()) == set(np.argsort(-row)[:2].tolist())
    for arm, (a, b) in enumerate([(1, 1), (4, 6), (9, 3)]):
        assert stats.kstest(1 / (1 + samples[:, arm]), stats.beta(a, b).cdf).pvalue > LEVEL


def test_gaussian_samples_share_the_largest_of_k_normal_numbers() -> None:
    rng, k = generator(12), 4
    state = MNLThompson(gaussian=True).init(6, k, 10**4, rng)
    state.offers[:] = 10**6
    state.purchases[:] = np.linspace(1e5, 2e5, 6)
    level = math.sqrt(math.log(10**4 * k))
    assert state.level[0] == level
    largest = np.zeros(1500)
    for i in range(len(largest)):
        begin_epoch(True, state, rng)
        zero = np.array([gaussian_weight(v, 10**6, level, 0.0) for v in state.purchases])
        one = np.array([gaussian_weight(v, 10**6, level, 1.0) for v in state.purchases])
        z = (state.indices - zero) / (one - zero)
        assert np.allclose(z, z[0], atol=1e-6)
        largest[i] = z[0]
        assert set(state.chosen.tolist()) == set(np.argsort(-state.indices)[:k].tolist())
    assert stats.kstest(largest, lambda x: stats.norm.cdf(x) ** k).pvalue > LEVEL


def test_gaussian_samples_are_at_most_one() -> None:
    rng = generator(13)
    state = MNLThompson(gaussian=True).init(6, 3, 10**4, rng)
    state.offers[:] = 1
    for _ in range(20):
        begin_epoch(True, state, rng)
        assert state.indices.max() <= 1.0


@pytest.mark.parametrize("policy", [MNLUCB(), MNLThompson()], ids=repr)
def test_a_world_without_epochs_is_refused(policy: Any) -> None:
    several = MNL([1.0, 0.5, 0.2], k=2, feedback="independent")
    with pytest.raises(InputError, match="learns from choice feedback"):
        simulate(policy, several, 10)
    always = Table(np.full((3, 2), 0.5), n=3)
    assert not always.outside_option
    with pytest.raises(InputError, match="needs an outside option"):
        simulate(policy, always, 10)


@pytest.mark.parametrize("policy", [MNLUCB(alpha=0.02), MNLThompson()], ids=repr)
def test_epochs_at_once_have_the_law_of_round_by_round(policy: Any) -> None:
    world = MNL([0.9, 0.6, 0.3, 0.1], k=2)
    options: dict[str, Any] = {"horizon": 120, "runs": 500, "checkpoints": [40], "seed": 3}
    fast = simulate(policy, world, fast_forward=True, **options)
    slow = simulate(policy, world, fast_forward=False, **options)
    assert fast.fast_forward and not slow.fast_forward
    assert fast.pulls.sum() == slow.pulls.sum() == 500 * 120 * 2
    for one, two in [
        (fast.regret[:, 0], slow.regret[:, 0]),
        (fast.regret[:, 1], slow.regret[:, 1]),
        (fast.pulls[:, 0], slow.pulls[:, 0]),
    ]:
        assert len(np.unique(one)) > 20
        assert stats.ks_2samp(one, two).pvalue > LEVEL


@pytest.mark.parametrize(
    ("policy", "rounds"),
    [(MNLUCB(), 10**6), (MNLUCB(alpha=1.0), 10**5), (MNLThompson(), 10**5), (MNLThompson(gaussian=True), 10**6)],
    ids=repr,
)
def test_the_best_set_is_found(policy: Any, rounds: int) -> None:
    world = MNL([0.2, 0.9, 0.1, 0.8, 0.1], k=2)
    found = simulate(policy, world, rounds, runs=2, seed=1)
    assert (found.pulls[:, [1, 3]] > 0.9 * rounds).all()
