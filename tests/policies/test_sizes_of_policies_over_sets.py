"""Policies over sets: the contract, arms that come and go, and what is refused in one sentence.

Three tests of ties compare with the uniform law by chi-square at p > 1e-6, on fixed seeds.
"""

import copy
import itertools
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest

import setwise as sw
from over_sets import (
    EVERY,
    FROZEN,
    MEANS,
    assert_law,
    assert_same_facts,
    policy_of,
    reference_of,
    selected,
    world_of,
)
from seeded import generator
from setwise import InputError, SetKLUCB, SetThompson, SetUCB
from setwise.cli.studies import make_study_policy
from setwise.environments import MNL, PRESETS, FullBandit, Independent, Scaled, Table
from setwise.experiments.specs import make_policy
from setwise.policies._sets import MOST_SETS
from setwise.testing import check_policy, check_same_bits
from setwise.types import Floats, Generator, Ints

each = pytest.mark.parametrize("kind", EVERY)
frozen = pytest.mark.parametrize("kind", FROZEN)


@each
@pytest.mark.parametrize("feedback", ["independent", "total"])
def test_policies_over_sets_keep_the_contract_where_several_arms_are_rewarded(kind: Any, feedback: str) -> None:
    check_policy(policy_of(kind, feedback, 3), world_of(feedback, MEANS[:6], 3), rounds=150)


@each
@pytest.mark.parametrize(("n", "k"), [(10, 4), (12, 9), (90, 90), (70, 68)])
def test_interpreted_and_compiled_runs_have_the_same_bits_at_any_size(kind: Any, n: int, k: int) -> None:
    """Also with all arms, and where C(69, 34) is larger than any integer of 64 bits."""
    check_same_bits(kind(), MNL(np.linspace(1.0, 0.1, n), k=k), horizon=150)


@each
def test_the_best_set_of_a_table_without_structure_is_found(kind: Any) -> None:
    rng = generator(13)
    sets = list(itertools.combinations(range(5), 2))
    table = dict(zip(sets, rng.random((10, 2)) * 0.25, strict=True))
    table[1, 3] = np.array([0.4, 0.5])
    result = sw.simulate(kind(), Table(table), 20_000, runs=4, seed=1)
    assert np.argsort(-result.pulls.sum(axis=0))[:2].tolist() in ([1, 3], [3, 1])
    assert (result.pulls[:, [1, 3]] > 15_000).all()
    assert result.regret[:, -1].max() < 0.1 * sw.simulate(sw.Uniform(), Table(table), 20_000).regret[:, -1].min()


@each
def test_available_arms_are_chosen_by_the_values_of_their_sets(kind: Any) -> None:
    """Of the sets without arm 2, {0, 4} earned by far the most; with fewer arms than k, all of them are chosen."""
    policy, rng = kind(), generator(14)
    state = policy.init(6, 2, 10**6, rng)
    for arms in itertools.combinations(range(6), 2):
        best = {(0, 4): 0.6, (2, 3): 0.9}.get(arms, 0.1)
        for played in range(1000):
            policy.update(state, np.array(arms), np.array([float(played % 10 < 10 * best), 0.0]), rng)
    for available, wanted in [
        ([1, 1, 1, 1, 1, 1], [2, 3]),
        ([1, 1, 0, 1, 1, 1], [0, 4]),
        ([0, 0, 1, 1, 1, 1], [2, 3]),
        ([0, 1, 0, 0, 1, 0], [1, 4]),
        ([0, 0, 0, 0, 0, 1], [5]),
    ]:
        assert policy.select_from(state, np.array(available, np.bool_), rng).tolist() == wanted


@each
def test_the_recommended_set_has_the_largest_mean_total_among_the_available_ones_that_were_played(kind: Any) -> None:
    """Ties go to the first set in the order of `itertools.combinations`; {4, 5} was never played."""
    policy, rng = kind(), generator(17)
    state = policy.init(6, 2, 1000, rng)
    assert policy.recommend(state, np.ones(6, np.bool_)).tolist() == []
    means = {(0, 4): 0.5, (1, 2): 0.75, (2, 3): 0.75}
    for arms in [*itertools.combinations(range(6), 2)][:-1]:
        for played in range(4 * (1 + arms[0])):
            policy.update(state, np.array(arms), np.array([0.0, float(played % 4 < 4 * means.get(arms, 0.25))]), rng)
    for available, wanted in [
        ([1, 1, 1, 1, 1, 1], [1, 2]),
        ([1, 0, 1, 1, 1, 1], [2, 3]),
        ([1, 1, 0, 1, 1, 1], [0, 4]),
        ([1, 1, 0, 1, 0, 1], [0, 1]),
        ([0, 0, 0, 0, 1, 1], []),
    ]:
        assert policy.recommend(state, np.array(available, np.bool_)).tolist() == wanted


@each
def test_available_sets_that_tie_are_equally_likely(kind: Any) -> None:
    policy, rng = kind(), generator(15)
    state = policy.init(6, 3, 100, rng)
    available = np.array([1, 1, 0, 1, 1, 1], np.bool_)
    found = Counter(tuple(policy.select_from(state, available, rng).tolist()) for _ in range(1500))
    assert_law(found, dict.fromkeys(itertools.combinations([0, 1, 3, 4, 5], 3), 0.1))


@each
def test_a_set_of_fewer_arms_teaches_nothing(kind: Any) -> None:
    policy, rng = kind(), generator(16)
    state = policy.init(5, 3, 100, rng)
    policy.update(state, np.array([0, 1, 2]), np.array([1.0, 0.0, 0.0]), rng)
    before = copy.deepcopy(state)
    policy.update(state, np.array([3, 1]), np.array([1.0, 0.0]), rng)
    if kind is not SetThompson:
        policy.update_many(state, np.array([3, 1]), np.array([1.0, 0.0]), 5)
        assert policy.certain_rounds(state, np.array([3, 1])) == 1
    known, wanted = (getattr(one, "sets", one) for one in (state, before))
    for name in ("pulls", "reward", "indices", "hits", "misses", "sums"):
        assert np.array_equal(getattr(known, name, 0), getattr(wanted, name, 0))


@each
@pytest.mark.parametrize(("n", "k", "more"), [(5, 2, 6), (5, 2, 20), (4, 4, 6), (12, 3, 14)])
def test_what_is_known_of_a_set_is_kept_when_arms_are_added(kind: Any, n: int, k: int, more: int) -> None:
    policy, rng = policy_of(kind, "independent", k), generator(17)
    plain, state = reference_of(policy, n, k, 100), policy.init(n, k, 100, rng)
    for _ in range(2 * math.comb(n, k)):
        chosen = np.array(selected(policy, state, rng))
        rewards = (rng.random(k) < np.linspace(0.9, 0.1, k)) * 1.0
        policy.update(state, chosen, rewards, rng)
        plain.update(chosen.tolist(), rewards.tolist())
    larger, wanted = policy.grow(state, more, rng), reference_of(policy, more, k, 100)
    wanted.totals.update(plain.totals)
    assert_same_facts(larger, wanted)
    if kind is SetThompson:
        assert_same_hits(larger, state, n, more, k)
        return
    for _ in range(math.comb(more, k) - math.comb(n, k)):
        chosen = np.array(selected(policy, larger, rng))
        assert chosen.max() >= n and wanted.allowed(chosen)
        policy.update(larger, chosen, np.zeros(k), rng)
        wanted.update(chosen.tolist(), [0.0] * k)
    for _ in range(20):
        chosen = np.array(selected(policy, larger, rng))
        assert wanted.allowed(chosen)
        policy.update(larger, chosen, np.zeros(k), rng)
        wanted.update(chosen.tolist(), [0.0] * k)


def assert_same_hits(larger: Any, state: Any, n: int, more: int, k: int) -> None:
    hits = dict(zip(itertools.combinations(range(n), k), state.hits, strict=True))
    found = dict(zip(itertools.combinations(range(more), k), larger.hits, strict=True))
    assert found == {arms: hits.get(arms, 0.0) for arms in found}


@each
def test_a_study_learns_about_sets_while_arms_come_and_go(kind: Any) -> None:
    study = sw.Study.memory(["a", "b", "c", "d"], 2, kind(), 2000, seed=1)
    rng = generator(18)

    def play(rounds: int, best: set[str]) -> Counter[frozenset[str]]:
        found: Counter[frozenset[str]] = Counter()
        for _ in range(rounds):
            decision = study.ask()
            earned = rng.random() < (0.9 if set(decision.arms) == best else 0.1)
            study.tell(decision, {decision.arms[0]: 1} if earned else {})
            found[frozenset(decision.arms)] += 1
        return found

    assert play(300, {"b", "d"}).most_common(1)[0][0] == {"b", "d"}
    study.add_arm("e")
    assert play(500, {"c", "e"}).most_common(1)[0][0] == {"c", "e"}
    study.retire_arm("c")
    assert not any("c" in arms for arms in play(100, {"a", "b"}))
    assert study.verify().ok


@each
def test_more_sets_than_can_be_learned_about_are_refused(kind: Any) -> None:
    name = kind.__name__
    match = rf"{name} learns about every set by itself, at most 100,000; there are 184,756 sets of 10 of 20 arms: use "
    with pytest.raises(InputError, match=match):
        sw.simulate(kind(), MNL(np.ones(20), k=10), 10)
    with pytest.raises(InputError, match=match):
        kind().init(20, 10, 10, generator())
    with pytest.raises(InputError, match=r"there are more than 10\^15 sets of 15000 of 30000 arms"):
        sw.simulate(kind(), MNL(np.ones(30_000), k=15_000), 10)
    with pytest.raises(InputError, match="there are 170,544 sets of 7 of 22 arms"):
        kind().grow(kind().init(19, 7, 10, generator()), 22, generator())
    with pytest.raises(InputError, match="n=5 is less than the 7 arms there are"):
        kind().grow(kind().init(7, 3, 10, generator()), 5, generator())
    study = sw.Study.memory([f"arm {arm}" for arm in range(19)], 9, kind(), 100, seed=1)
    with pytest.raises(InputError, match="there are 167,960 sets of 9 of 20 arms"):
        study.add_arm("another")
    assert len(study.ask().arms) == 9 and study.verify().ok


@pytest.mark.parametrize(("n", "k"), [(20, 4), (100_000, 1), (447, 445), (19, 9)])
def test_up_to_100_000_sets_fit(n: int, k: int) -> None:
    policy, rng = SetUCB(), generator(19)
    state = policy.init(n, k, 100, rng)
    chosen = np.array(policy.select(state, rng))
    assert len(set(chosen.tolist())) == k and len(state.sets.indices) == math.comb(n, k) <= MOST_SETS
    policy.update(state, chosen, np.zeros(k), rng)
    assert state.sets.pulls.sum() == 1


@frozen
def test_a_total_that_is_too_small_for_the_world_is_refused(kind: Any) -> None:
    name = kind.__name__
    worlds: list[tuple[Any, float]] = [
        (Independent([0.5, 0.4, 0.3], k=2), 2),
        (Scaled(MNL([1.0, 0.5, 0.2], k=2), [1.0, 4.0, 2.0]), 4),
        (Scaled(Independent([0.5, 0.4, 0.3], k=2), 4.0), 8),
        (FullBandit(Independent([0.5, 0.4, 0.3], k=2)), 2),
    ]
    for world, most in worlds:
        match = rf"{name} has total=1, but a set can earn {most:g} in a round here: use {name}\(total={most:g}\)"
        with pytest.raises(InputError, match=match):
            sw.simulate(kind(), world, 10)
        sw.simulate(kind(total=most), world, 10, compiled=False)
    for k in range(1, 30):
        sw.simulate(kind(), FullBandit(MNL(np.ones(k + 1), k=k)), 2, compiled=False)


@frozen
def test_by_its_name_a_policy_gets_the_largest_total_of_the_world(kind: Any) -> None:
    name = {SetUCB: "set-ucb"}.get(kind, "set-kl-ucb")
    some, one = Independent([0.5, 0.4, 0.3], k=2), Scaled(MNL([1.0, 0.5, 0.2], k=2), 3.0)
    assert make_policy(name, some) == kind.for_world(some) == kind(total=2.0)
    assert make_policy(f"{name}:alpha=0.1", one) == kind(alpha=0.1, total=3.0)
    assert make_policy(f"{name}:total=7", one) == kind(total=7.0)
    assert make_policy(name, FullBandit(some)).total == 2.0
    assert make_policy(name, FullBandit(MNL(np.ones(12), k=9))).total == pytest.approx(1.0)
    assert make_study_policy(name) == kind()
    played = sw.Experiment({"some": some, "one": one}, [name], 50, 1).entries
    assert [(entry.environment, entry.policy) for entry in played] == [("some", name), ("one", name)]


@sw.environment
class Unsaid(NamedTuple):
    """A world that does not say whether several arms are rewarded."""

    n: int = 3
    k: int = 2

    def means(self, chosen: Ints, out: Floats) -> None:
        out[:] = 0.5

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        rewards[:] = 0.5

    def best(self) -> Ints:
        return np.array([0, 1])


@frozen
def test_rewards_that_add_up_to_more_than_the_total_are_refused(kind: Any) -> None:
    name = kind.__name__
    with pytest.raises(InputError, match=r"total=2\), or say feedback='choice' if at most one arm is rewarded"):
        sw.simulate(kind(), Unsaid(), 10)
    match = rf"the rewards add up to 2; {name} has total=1, the largest total of a set: use {name}\(total=2\)"
    with pytest.raises(InputError, match=match):
        kind().update(kind().init(3, 2, 10, generator()), [0, 1], [1, 1], generator())
    study = sw.Study.memory(["a", "b", "c"], 2, kind(), 100, seed=1)
    decision = study.ask()
    with pytest.raises(InputError, match=match):
        study.tell(decision, dict.fromkeys(decision.arms, 1))
    study.tell(decision, winner=decision.arms[0])


@each
def test_worlds_that_hide_rewards_are_refused_and_so_are_arms_there_are_not(kind: Any) -> None:
    with pytest.raises(InputError, match="learns from every reward of a set; Cascade does not show all of them"):
        sw.simulate(kind(), PRESETS["cascade"](), 10)
    with pytest.raises(InputError, match="arm 7 is chosen; there are 5 arms, numbered from 0"):
        kind().update(kind().init(5, 2, 10, generator()), [0, 7], [0, 1], generator())


@pytest.mark.parametrize("policy", [SetUCB(), SetKLUCB(), SetThompson()], ids=repr)
def test_worlds_whose_regret_is_not_the_total_are_refused(policy: Any) -> None:
    with pytest.raises(InputError, match="learns how much a set earns in all; Duels counts regret by its own value"):
        sw.simulate(policy, PRESETS["duels"](), 10)
