"""Rewards that are not observed: the policy learns from the others only, and regret does not change."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import setwise as sw
from setwise import InputError
from setwise.environments import MNL, Cascade, Scaled
from setwise.simulation.checks import task_of
from setwise.simulation.observed import learn_round, new_observed
from setwise.simulation.play import new_record, play
from setwise.testing import check_environment, check_policy, check_same_bits
from setwise.types import Floats, Ints

WORLD = Cascade([0.3, 0.6, 0.1, 0.4, 0.2], k=3)
ACCEPT = [name for name, kind in sw.policies.POLICIES.items() if kind.missing]
REFUSE = [name for name, kind in sw.policies.POLICIES.items() if kind.missing is False]


def made(name: str, world: Any) -> Any:
    kind = sw.policies.POLICIES[name]
    return kind.for_world(world) if hasattr(kind, "for_world") else kind()


class Heard(NamedTuple):
    rounds: Ints
    counts: Floats
    totals: Floats


@sw.policy(missing=True)
class Listener(NamedTuple):
    """Plays the arms in turn and remembers all that it hears."""

    def init(self, n, k, horizon, rng):
        return Heard(np.zeros(1, np.int64), np.zeros(n), np.zeros(n))

    def select(self, state, rng):
        chosen = np.zeros(2, np.int64)
        chosen[0] = state.rounds[0] % len(state.counts)
        chosen[1] = (state.rounds[0] + 1) % len(state.counts)
        return chosen

    def update(self, state, chosen, rewards, rng):
        state.rounds[0] += 1
        for j in range(len(chosen)):
            state.counts[chosen[j]] += 1.0
            state.totals[chosen[j]] += rewards[j]


@sw.environment(feedback="independent", missing=True)
class OddOnly(NamedTuple):
    """Every arm earns 1; only those of odd number are observed."""

    n: int
    k: int
    shown: float = 1.0

    def means(self, chosen, out):
        for j in range(len(chosen)):
            out[j] = 1.0

    def draw(self, chosen, rng, rewards):
        for j in range(len(chosen)):
            rewards[j] = self.shown if chosen[j] % 2 == 1 else np.nan

    def best(self):
        return np.arange(self.k)


def test_which_policies_accept_missing_rewards() -> None:
    assert set(ACCEPT) - {"doubling"} == {
        "ucb", "kl-ucb", "kl-moss", "ucb-v", "anytime-ucb", "thompson", "cucb", "comb-ucb1", "escb1", "escb2",
        "epsilon-greedy", "uniform", "oracle",
    }  # fmt: skip
    assert sw.Doubling(sw.UCB()).missing


@pytest.mark.parametrize("name", REFUSE)
def test_policies_that_need_every_reward_refuse_to_play(name: str) -> None:
    policy = sw.LSBGreedy(np.eye(5)) if name == "lsb-greedy" else sw.policies.POLICIES[name]()
    with pytest.raises(
        InputError, match=rf"{type(policy).__name__} learns from every reward of a set; Cascade does not"
    ):
        sw.simulate(policy, WORLD, 10)
    sw.simulate(policy, WORLD._replace(missing=False), 10, compiled=False)


@pytest.mark.parametrize("name", ACCEPT)
def test_a_policy_learns_the_attraction_from_what_it_sees(name: str) -> None:
    """Its state after some rounds is that of `update` called by hand with the observed rewards."""
    policy = made(name, WORLD)
    rng, twin = np.random.default_rng(1), np.random.default_rng(1)
    state, by_hand = policy.init(5, 3, 60, rng), policy.init(5, 3, 60, twin)
    task = task_of(policy, WORLD, 5, 3, False, False)
    record = new_record(5, 3, 1, False, False, np.zeros(1, np.int64), missing=True)
    with np.errstate(all="ignore"):
        play(policy, WORLD, state, rng, task, np.array([60]), record)
        for _ in range(60):
            chosen, rewards = np.array(policy.select(by_hand, twin)), np.zeros(3)
            WORLD.draw(chosen, twin, rewards)
            shown = [j for j in range(3) if j == 0 or not rewards[:j].any()]
            policy.update(by_hand, chosen[shown], rewards[shown], twin)
    assert not task.binary and not task.fast_forward
    left, right = (np.concatenate([np.ravel(a) for a in sw.testing._arrays(s)]) for s in (state, by_hand))
    assert np.array_equal(left, right) and rng.random() == twin.random()


@pytest.mark.parametrize("name", ACCEPT)
def test_compiled_and_interpreted_runs_give_the_same_bits(name: str) -> None:
    check_same_bits(made(name, WORLD), WORLD, horizon=60 if name.startswith("escb") else 300)


@pytest.mark.parametrize("compiled", [False, True])
def test_unobserved_arms_count_as_chosen_but_not_as_played(compiled: bool) -> None:
    result = sw.simulate(Listener(), OddOnly(4, 2), 40, compiled=compiled)
    assert result.pulls.tolist() == [[20, 20, 20, 20]] and result.regret[0, -1] == 0.0


def test_a_policy_hears_of_observed_arms_only() -> None:
    policy, rng, buffers = Listener(), np.random.default_rng(0), new_observed(3)
    state = policy.init(4, 3, 10, rng)
    learn_round(policy, state, np.array([3, 0, 2]), np.array([0.25, np.nan, 0.5]), buffers, rng)
    assert state.counts.tolist() == [0, 0, 1, 1] and state.totals.tolist() == [0, 0, 0.5, 0.25]
    learn_round(policy, state, np.array([3, 0, 2]), np.full(3, np.nan), buffers, rng)
    assert state.counts.sum() == 2 and state.rounds[0] == 1


def test_classes_with_missing_rewards_keep_the_contract() -> None:
    check_policy(Listener(), OddOnly(4, 2), compiled=False)
    check_environment(OddOnly(4, 2), draws=200, compiled=False)


def test_nan_is_refused_where_it_was_not_declared() -> None:
    @sw.environment(feedback="independent")
    class Silent(NamedTuple):
        n: int = 3
        k: int = 2

        def means(self, chosen, out):
            for j in range(len(chosen)):
                out[j] = 0.5

        def draw(self, chosen, rng, rewards):
            for j in range(len(chosen)):
                rewards[j] = np.nan

        def best(self):
            return np.array([0, 1])

    with pytest.raises(InputError, match=r"Silent: the reward of arm \d is nan in round 1"):
        sw.simulate(sw.UCB(), Silent(), 10, compiled=False)
    with pytest.raises(AssertionError, match=r"Silent.draw: \[nan, nan\] is not within 0..1"):
        check_environment(Silent(), draws=10, compiled=False)


def test_what_is_observed_is_still_checked() -> None:
    with pytest.raises(InputError, match=r"OddOnly: the reward of arm 1 is 3 in round 1"):
        sw.simulate(sw.UCB(), OddOnly(2, 2, shown=3.0), 10, compiled=False)
    with pytest.raises(AssertionError, match=r"OddOnly.draw: an arm of mean 1 earned 0.5 on average"):
        check_environment(OddOnly(4, 2, shown=0.5), draws=200, compiled=False)


def test_fast_forward_is_off_where_rewards_are_missing() -> None:
    assert not sw.simulate(sw.UCB(), WORLD, 100, compiled=False).fast_forward
    assert sw.simulate(sw.UCB(), WORLD._replace(missing=False), 100, compiled=False).fast_forward
    assert not sw.simulate(sw.UCB(bound=2.0), Scaled(WORLD, 2.0), 100, compiled=False).fast_forward


def test_cascading_bandits_find_the_best_set_in_any_order() -> None:
    """UCB that sees nothing below the click is CascadeUCB1: every arm's mean is its attraction."""
    result = sw.simulate(sw.UCB(alpha=0.5), WORLD, 20_000, runs=8, seed=1, checkpoints=[10_000])
    first, second = result.regret[:, 0], result.regret[:, 1] - result.regret[:, 0]
    assert second.mean() < 0.5 * first.mean()
    assert set(np.argsort(-result.pulls.sum(axis=0))[:3]) == {0, 1, 3}


def test_a_world_without_missing_rewards_is_needed_to_audit() -> None:
    with pytest.raises(InputError, match=r"Cascade does not show every reward, and the lemmas are about"):
        sw.theory.audit(sw.UCB(), WORLD, 100)


def test_a_policy_that_cannot_go_on_without_a_reward_is_noticed() -> None:
    @sw.policy(missing=True)
    class Stubborn(NamedTuple):
        def init(self, n, k, horizon, rng):
            return Heard(np.zeros(1, np.int64), np.zeros(n), np.zeros(n))

        def select(self, state, rng):
            return np.arange(3 - state.rounds[0])

        def update(self, state, chosen, rewards, rng):
            state.rounds[0] = 3 - len(chosen)

    with pytest.raises(
        AssertionError, match=r"Stubborn.select after missing rewards: array\(.*\) is not an array of 3"
    ):
        check_policy(Stubborn(), MNL([1.0, 0.5, 0.25, 0.1], k=3), compiled=False)
