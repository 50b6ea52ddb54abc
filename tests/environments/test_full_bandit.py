"""Full-bandit feedback: rewards add up to the total, and only policies over whole sets play."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import setwise as sw
from reference.sets import means_of
from setwise import InputError
from setwise.environments import MNL, PRESETS, Cascade, FullBandit, Independent, PositionBased, Scaled
from setwise.testing import check_environment, check_policy, check_same_bits
from setwise.types import Feedback, Floats, Ints

BASES = {
    "independent": Independent([0.9, 0.5, 0.1, 0.3], k=2),
    "choice": MNL([1.5, 0.3, 2.0, 0.7], k=3),
    "prices": Scaled(MNL([1.5, 0.3, 2.0, 0.7], k=2), [1.0, 9.0, 4.0, 2.5]),
    "positions": PositionBased([0.9, 0.5, 0.1], [0.5, 1.0]),
    "clicks": Cascade([0.9, 0.5, 0.1], k=2, missing=False),
}

TOTALS = [name for name, kind in sw.policies.POLICIES.items() if "total" in kind.feedback]


class Totals(NamedTuple):
    sets: Ints
    plays: Floats
    totals: Floats
    rounds: Ints


@sw.policy(feedback=("choice", "independent", "total"), ordered_sets=False)
class SetUCB(NamedTuple):
    """UCB with one arm for every set of k of n, which learns from totals."""

    def init(self, n: int, k: int, horizon: int, rng: Any) -> Totals:
        sets = np.array(list(itertools.combinations(range(n), k)))
        return Totals(sets, np.zeros(len(sets)), np.zeros(len(sets)), np.zeros(1, np.int64))

    def select(self, state: Totals, rng: Any) -> Ints:
        best, most = 0, -1.0
        for row in range(len(state.plays)):
            index = math.inf
            if state.plays[row] > 0.0:
                width = math.sqrt(0.5 * math.log(state.rounds[0] + 1.0) / state.plays[row])
                index = state.totals[row] / state.plays[row] + width
            if index > most:
                best, most = row, index
        return state.sets[best]

    def update(self, state: Totals, chosen: Ints, rewards: Floats, rng: Any) -> None:
        state.rounds[0] += 1
        for row in range(len(state.plays)):
            same = 0
            for j in range(len(chosen)):
                for i in range(len(chosen)):
                    same += int(state.sets[row, i] == chosen[j])
            if same == len(chosen):
                state.plays[row] += 1.0
                for j in range(len(chosen)):
                    state.totals[row] += rewards[j]


@pytest.mark.parametrize("name", BASES)
def test_rewards_are_equal_shares_of_the_total(name: str) -> None:
    base = BASES[name]
    world = FullBandit(base)
    rng, twin = np.random.default_rng(0), np.random.default_rng(0)
    rewards, parts = np.zeros(base.k), np.zeros(base.k)
    for chosen in map(np.array, itertools.permutations(range(base.n), base.k)):
        assert means_of(world, chosen) == pytest.approx(np.full(base.k, sum(means_of(base, chosen)) / base.k))
        for draw, draw_parts in ((world.draw, base.draw), (world.draw_many, base.draw_many)):
            rounds = () if draw == world.draw else (7,)
            draw(chosen, *rounds, rng, rewards)
            draw_parts(chosen, *rounds, twin, parts)
            assert (rewards == rewards[0]).all() and rewards.sum() == pytest.approx(parts.sum())


def test_the_bound_is_the_largest_share() -> None:
    assert [FullBandit(BASES[name]).bound for name in BASES] == [1.0, 1 / 3, 4.5, 1.0, 0.5]
    assert FullBandit(Independent([1.0, 1.0, 0.5], k=2)).best().tolist() == [0, 1]


@pytest.mark.parametrize("name", BASES)
def test_full_bandits_keep_the_contract(name: str) -> None:
    world = FullBandit(BASES[name])
    check_environment(world, draws=1000, compiled=name == "prices")
    assert world.gaps() == BASES[name].gaps() and world.best().tolist() == BASES[name].best().tolist()


def test_only_policies_that_learn_nothing_of_arms_accept_totals() -> None:
    assert {"uniform", "oracle"} <= set(TOTALS)
    assert not {"ucb", "thompson", "epsilon-greedy", "rucb", "mnl-ucb"} & set(TOTALS)


@pytest.mark.parametrize("name", [name for name in sw.policies.NAMES if name not in TOTALS])
def test_policies_that_learn_arm_by_arm_refuse_totals(name: str) -> None:
    policy = sw.LSBGreedy(np.eye(6)) if name == "lsb-greedy" else sw.policies.POLICIES[name]()
    with pytest.raises(InputError, match=r"learns from .*; FullBandit gives total feedback, which policies over whole"):
        sw.simulate(policy, PRESETS["full-bandit"](), 10)


def test_regret_is_that_of_the_underlying_world() -> None:
    for base in BASES.values():
        for policy in (sw.Oracle.for_world(base), sw.Oracle(np.arange(base.k))):
            one, two = (sw.simulate(policy, world, 100, compiled=False) for world in (base, FullBandit(base)))
            assert one.regret[0] == pytest.approx(two.regret[0], abs=1e-9)


def test_a_policy_over_sets_learns_from_totals() -> None:
    check_policy(SetUCB(), compiled=False)
    world = PRESETS["full-bandit"]()
    check_same_bits(SetUCB(), world)
    result = sw.simulate(SetUCB(), world, 20_000, runs=4, checkpoints=[10_000])
    late = (result.regret[:, 1] - result.regret[:, 0]).mean() / 10_000
    assert late < 0.02 < sw.simulate(sw.Uniform(), world, 1000, runs=2).regret[:, -1].mean() / 1000
    assert set(np.argsort(-result.pulls.sum(axis=0))[:3]) == {0, 1, 2}


def test_what_cannot_be_shown_as_a_total_is_refused() -> None:
    with pytest.raises(InputError, match=r"FullBandit: base is 3; it has to be an environment"):
        FullBandit(3)
    with pytest.raises(InputError, match=r"FullBandit: Cascade does not show every reward, .* use missing=False"):
        FullBandit(PRESETS["cascade"]())
    with pytest.raises(InputError, match=r"MNL: feedback is 'total'; .* put the world into FullBandit"):
        MNL([1.0, 2.0], k=1, feedback="total")
    with pytest.raises(InputError, match=r"feedback is 'sum'; did you mean|feedback is 'sum'; there are"):
        sw.policy(feedback=("sum",))(SetUCB)
    assert Feedback("total") == "total" and FullBandit.feedback == "total"
