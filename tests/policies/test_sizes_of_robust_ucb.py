"""Robust UCB: interpreted and compiled, many sets and many arms, arms that come and go, and what is refused."""

import copy
import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import setwise as sw
from reference import robust_ucb as reference
from reference.index_policies import is_top
from robust import (
    KINDS,
    arrays,
    assert_right,
    assert_same,
    choose_both,
    draw,
    draw_apart,
    draw_together,
    learn_both,
    small,
    states,
)
from seeded import generator
from setwise import InputError, RobustUCB
from setwise.environments import MNL, PRESETS, FullBandit, Independent, Needle, Scaled, Table
from setwise.environments.random_table import broken_table, random_table
from setwise.kernels.ranking import FEW_ARMS
from setwise.kernels.set_table import FEW_SETS, NO_SET, WINDOW
from setwise.lazy_compiler import load_compiler
from setwise.policies import _budget
from setwise.policies._doubt import is_refuted
from setwise.policies._explore import explore, first_and_step, learn_seen, write_candidate
from setwise.study.policy_runner import learn_rounds
from setwise.testing import check_policy, check_same_bits
from studies import play

# Both tiers have the same bits.

WORLDS: dict[str, Any] = {
    "a table without structure": random_table(1),
    "a broken table": broken_table(1, 0.3),
    "a broken table of 126 sets": broken_table(4, 0.3, 9, 4),
    "a table of many rewards": Table(random_table(2).probabilities, feedback="independent"),
    "184,756 sets": MNL(np.linspace(2.0, 0.1, 20), k=10),
    "many sets, many rewards": Independent(np.linspace(0.9, 0.1, 16), k=5),
    "more arms than are sorted": Independent(np.linspace(0.9, 0.1, FEW_ARMS + 10), k=4),
    "prices": Scaled(random_table(3), np.linspace(1.0, 2.5, 7)),
    "prices of many rewards": Scaled(Independent(np.linspace(0.9, 0.1, 6), k=2), 0.1),
    "a needle": Needle(8, 3),
    "all arms": Independent([0.9, 0.5, 0.1], k=3),
    "one arm": Independent([0.9, 0.5, 0.1, 0.3], k=1),
}
DOUBTED_BY = {  # rounds, with a seed of 2
    "a table without structure": 1500,
    "a broken table": 1500,
    "a table of many rewards": 2500,
    "a broken table of 126 sets": 1500,
}


@pytest.mark.parametrize("name", WORLDS)
def test_interpreted_and_compiled_runs_have_the_same_bits(name: str) -> None:
    """In tables, from when a handful of sets is explored alone until every round explores for doubt, and later."""
    world, policy, rounds = WORLDS[name], RobustUCB(bound=WORLDS[name].bound), DOUBTED_BY.get(name, 300)
    check_same_bits(policy, world, horizon=rounds, seed=2)
    doubted = 0
    for state in states(policy, world, 2, rounds, 100):
        doubted += is_refuted(state.doubt) or (state.share[0] == 1 and state.share[1] == 0)
    assert np.array_equal(state.pulls, sw.simulate(policy, world, rounds, seed=2).pulls[0])
    assert doubted > 3 or name not in DOUBTED_BY


def test_interpreted_and_compiled_runs_have_the_same_bits_with_ten_thousand_arms() -> None:
    """All of them were played after 100 rounds."""
    check_same_bits(RobustUCB(), Independent(np.linspace(0.9, 0.1, 10_000), k=100), horizon=104, seed=2)


@pytest.mark.parametrize("name", ["a table of many rewards", "many sets, many rewards", "prices", "a needle"])
def test_it_keeps_the_contract(name: str) -> None:
    world = WORLDS[name]
    check_policy(RobustUCB(bound=world.bound), world, rounds=100)


# Many sets, many arms.


def learned(policy: Any, n: int, k: int, chosen: Any, rewards: Any) -> Any:
    """The state after these rounds, compiled."""
    state, rng = policy.init(n, k, 10**6, generator()), generator()
    given = (policy, state, np.full(len(chosen), k), chosen.ravel(), rewards.ravel(), rng)
    load_compiler().compile_for(learn_rounds, *given)(*given)
    return state


@pytest.mark.parametrize("kind", ["choice", "amounts"])
def test_with_more_sets_than_the_table_holds_all_that_is_left_is_right(kind: str) -> None:
    """Random sets of 5 of 30 arms, of which the table has 4,096 slots; half of the rounds are of sets of 8 arms."""
    policy, rng = RobustUCB(), generator(5)
    chosen = np.array([rng.permutation(30 if rng.random() < 0.5 else 8)[:5] for _ in range(12_000)])
    rewards = np.array([draw_apart(kind, arms, 30, rng) for arms in chosen])
    state = learned(policy, 30, 5, chosen, rewards)
    assert_right(policy, state)
    assert state.pulls.tolist() == np.bincount(chosen.ravel(), minlength=30).tolist()
    table = state.table
    assert table.sets[0] > len(table.taken) == 4 * FEW_SETS and np.count_nonzero(state.company != NO_SET) > 5
    totals: dict[frozenset[int], list[float]] = {}
    for arms, own in zip(chosen.tolist(), rewards.sum(axis=1), strict=True):
        totals.setdefault(frozenset(arms), []).append(own)
    assert table.plays.sum() < len(chosen)  # some were forgotten, but no set of many plays
    for slot in np.flatnonzero(table.taken):
        own = totals[frozenset(table.arms[slot].tolist())]
        plays = int(table.plays[slot])
        assert plays <= len(own) and table.totals[slot] == pytest.approx(sum(own[len(own) - plays :]))
        assert plays == len(own) or len(own) < 20


def test_many_sets_are_explored_among_those_seen_their_neighbours_and_the_best_arms() -> None:
    """Every round looks at sets, and whatever is drawn may be played."""
    policy, rng = RobustUCB(exploration=1e9), generator(6)
    state = small(policy.init(16, 4, 10**6, rng), 64)
    values = rng.random(16)
    kinds = set()
    for _ in range(200):
        state.share[0] = 1.0
        chosen = policy.select(state, rng).copy()
        if (state.pulls > 0).all():
            means = (state.reward + 0.5) / (state.pulls + 1)
            seen = [frozenset(arms.tolist()) for arms in state.table.arms[state.table.plays > 0]]
            members = frozenset(chosen.tolist())
            if members in seen:
                kinds.add("seen")
            elif any(len(members & other) == 3 for other in seen):
                kinds.add("neighbour")
            else:
                kinds.add("best arms, or a neighbour")
                assert (means[chosen] >= np.sort(means)[-4]).sum() >= 3
        policy.update(state, chosen, draw("choice", chosen, values, 1.0, rng), rng)
    assert {"seen", "neighbour"} <= kinds


def test_the_neighbours_of_a_set_differ_from_it_by_one_arm() -> None:
    """One set was seen, of the best arms of 16: challengers have three of its arms, the largest draw three or four."""
    policy, rng = RobustUCB(), generator(7)
    state = policy.init(16, 4, 10**6, rng)
    for _ in range(5):
        policy.update(state, np.arange(4), np.array([1.0, 1.0, 0.0, 0.0]), rng)
        policy.update(state, np.arange(4), np.array([0.0, 0.0, 1.0, 1.0]), rng)
    state.pulls[4:], state.reward[4:] = 10.0, 4.0
    for place, common in ((0.0, {3}), (1.0, {3, 4})):
        found = set()
        state.budget[:] = 0.0, math.inf
        for _ in range(100):
            assert explore(state, 1.0, place, rng)
            found.add(len(set(range(4)) & set(state.chosen.tolist())))
        assert found == common


def test_neighbours_were_never_seen_and_are_tried_once_in_every_place() -> None:
    """Of 16 arms, sets of 4 have 48 neighbours, fewer than are tried."""
    policy, rng = RobustUCB(exploration=1e9), generator(8)
    state = policy.init(16, 4, 10**6, rng)
    values = rng.random(16)
    slots, whole = len(state.table.taken), 0
    for _ in range(60):
        state.share[0] = 1.0
        chosen = np.array(policy.select(state, rng))
        if (state.pulls > 0).all():
            found = learn_seen(state, 1.0, rng)
            seen = {frozenset(arms.tolist()) for arms in state.table.arms[state.table.plays > 0]}
            center = state.center.tolist()
            wanted = {frozenset(center) - {out} | {arm} for out in center for arm in set(range(16)) - set(center)}
            tried = []
            for place in state.candidates[:found]:
                if place > slots:
                    write_candidate(state, place)
                    tried.append(frozenset(state.chosen.tolist()))
            assert len(tried) == len(set(tried))
            assert set(tried) == wanted - seen - {frozenset(state.best_arms.tolist())}
            whole += len(tried) > 40
        policy.update(state, chosen, draw("choice", chosen, values, 1.0, rng), rng)
    assert whole > 10


@pytest.mark.parametrize("count", [1, 2, 7, 12, 200])
def test_a_step_leads_to_all_numbers(count: int) -> None:
    rng = generator(count)
    for _ in range(50):
        first, step = first_and_step(count, rng)
        assert {(first + i * step) % count for i in range(count)} == set(range(count))


@pytest.mark.parametrize(("n", "k"), [(14, 7), (FEW_ARMS + 2, 2)])
def test_the_ranking_follows_where_a_forgotten_set_raises_an_index(n: int, k: int) -> None:
    policy, rng = RobustUCB(exploration=0.0), generator(11)
    state = small(policy.init(n, k, 10**6, rng), WINDOW)
    for _ in range(600):
        chosen = policy.select(state, rng).copy()
        assert is_top(state.indices, chosen, k)
        policy.update(state, chosen, draw_apart("choice", chosen, n, rng), rng)
    assert state.table.sets[0] > 2 * WINDOW


def test_ten_thousand_arms_take_a_bounded_state_and_every_arm_is_played() -> None:
    policy, rng = RobustUCB(), generator()
    sizes = {
        rounds: sum(array.nbytes for array in arrays(policy.init(10_000, 10, rounds, rng))) for rounds in (10, 10**9)
    }
    assert sizes[10] == sizes[10**9] < 3_000_000
    result = sw.simulate(policy, Independent(np.linspace(0.9, 0.0, 10_000), k=10), 2000, seed=1)
    assert result.pulls.min() >= 1 and result.pulls.sum() == 20_000


@pytest.mark.parametrize("kind", KINDS)
def test_all_arms_and_single_arms_are_sets_like_others(kind: str) -> None:
    for n, k in ((4, 4), (5, 1), (1, 1)):
        policy, rng = RobustUCB(), generator(8)
        state = policy.init(n, k, 100, rng)
        for _ in range(200):
            chosen = policy.select(state, rng)
            policy.update(state, chosen, draw(kind, chosen, np.linspace(0.9, 0.1, n), 1.0, rng), rng)
            assert_right(policy, state)
        assert state.pulls.argmax() == 0 and state.pulls.sum() == 200 * k
        assert state.doubt.evidence[0] == 0  # there is no company that could differ


# Arms that come and go.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "k", "more"), [(4, 2, 6), (6, 3, 7), (4, 4, 6), (8, 4, 18)])
def test_all_that_is_known_is_kept_when_arms_are_added(kind: str, n: int, k: int, more: int) -> None:
    """Also the chances to explore and the schedule of assessments; but the new arms are played first."""
    policy, rng = RobustUCB(), generator(9)
    state, plain = policy.init(n, k, 10**6, rng), reference.RobustUCB(n, k)
    for _ in range(150):
        chosen = np.array(policy.select(state, rng))
        learn_both(policy, state, plain, chosen, draw_together(kind, chosen, 1.0, rng), rng)
    before = state.indices.copy()
    state = policy.grow(state, more, rng)
    plain.grow(more)
    assert state.indices[:n].tolist() == pytest.approx(before.tolist()) and np.isinf(state.indices[n:]).all()
    assert_same(state, plain)
    assert state.few[0] == (math.comb(more, k) if math.comb(more, k) <= FEW_SETS else 0)
    ways: Counter[str] = Counter()
    for _ in range(30):  # while the new arms are not available
        refuted = plain.refuted
        if state.few[0] != 0:
            chosen, way = choose_both(policy, state, plain, rng, range(n))
            assert way == "sets alone" or not refuted or n == k
            ways[way] += 1
        else:
            chosen = np.array(policy.select_from(state, np.arange(more) < n, rng))
        learn_both(policy, state, plain, chosen, draw_together(kind, chosen, 1.0, rng), rng)
        assert_same(state, plain)
    assert ways["sets"] + ways["sets alone"] > 0 or n == k or state.few[0] == 0
    values = np.linspace(0.3, 0.9, more)
    while (state.pulls == 0).any():
        chosen = np.array(policy.select(state, rng))
        assert (state.pulls[chosen] == 0).sum() == min(k, (state.pulls == 0).sum())
        learn_both(policy, state, plain, chosen, draw(kind, chosen, values, 1.0, rng), rng)
    for _ in range(50):
        chosen = np.array(policy.select(state, rng))
        learn_both(policy, state, plain, chosen, draw(kind, chosen, values, 1.0, rng), rng)
        assert_same(state, plain)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "k"), [(6, 2), (9, 4), (4, 1)])
def test_every_round_is_that_of_the_reference_while_arms_come_and_go(
    kind: str, n: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best k arms are not available in the middle, longer than until they count as out of reach."""
    for module in (_budget, reference):  # otherwise every round would explore
        monkeypatch.setattr(module, "OFTEN_OF_SCATTERED", 5.0)
        monkeypatch.setattr(module, "OFTEN_OF_FEW", 5.0)
    policy, rng = RobustUCB(), generator(n)
    state, plain = policy.init(n, k, 10**6, rng), reference.RobustUCB(n, k)
    ways, left_out = Counter[str](), Counter[int]()
    for played in range(320):
        usable = list(range(n - k if 150 <= played < 270 else n))
        chosen, way = choose_both(policy, state, plain, rng, usable)
        ways[way] += 1
        learn_both(policy, state, plain, chosen, draw(kind, chosen, np.linspace(0.1, 0.9, n), 1.0, rng), rng)
        assert_same(state, plain)
        left_out.update(plain.out_of_reach)
    print(kind, n, k, dict(ways), dict(left_out))
    assert set(range(n - k, n)) & set(left_out)


@pytest.mark.parametrize(("n", "more"), [(4, 5), (4, 12), (7, 60)])
def test_a_refuted_assumption_stays_refuted_while_a_new_arm_is_announced(n: int, more: int) -> None:
    """Arms 0 and 1 earn 1 together and nothing apart; a new arm is played first once it is available."""
    policy, rng = RobustUCB(), generator(15)
    state = policy.init(n, 3, 10**6, rng)
    for _ in range(400):
        chosen = rng.permutation(4)[:3] if state.rounds[0] else np.arange(n)[-3:]
        policy.update(state, chosen, np.where(chosen < 2, float({0, 1} <= set(chosen.tolist())), 0.0), rng)
    assert state.share.tolist() == [1.0, 1.0]
    larger = policy.grow(state, more, rng)
    assert larger.doubt.evidence.tolist() == state.doubt.evidence.tolist()
    assert larger.rounds.tolist() == [400, state.rounds[1], state.rounds[2] + more - n]
    found = Counter()
    for _ in range(100):
        chosen = policy.select_from(larger, np.arange(more) < 4, rng).copy()
        assert larger.share.tolist() == [1.0, 1.0]
        found[{0, 1} <= set(chosen.tolist())] += 1
        policy.update(larger, chosen, np.where(chosen < 2, float({0, 1} <= set(chosen.tolist())), 0.0), rng)
    assert found[True] > 90
    assert more - 1 in policy.select_from(larger, (np.arange(more) < 4) | (np.arange(more) == more - 1), rng)


def test_a_table_of_sets_that_is_full_is_copied_too() -> None:
    policy, rng = RobustUCB(), generator(10)
    state = small(policy.init(12, 5, 10**6, rng), WINDOW)
    for _ in range(300):
        chosen = rng.permutation(12 if rng.random() < 0.3 else 6)[:5]
        policy.update(state, chosen, draw_apart("amounts", chosen, 12, rng), rng)
    larger = policy.grow(state, 13, rng)
    assert_right(policy, larger)
    assert np.allclose(larger.indices[:12], state.indices) and (state.company != NO_SET).any()
    with pytest.raises(InputError, match="n=11 is less than the 12 arms there are"):
        policy.grow(state, 11, rng)


@pytest.mark.parametrize(("n", "k"), [(7, 3), (16, 4)])
@pytest.mark.parametrize("exploration", [0.0, 20.0, 1e9])
def test_only_available_arms_are_chosen(n: int, k: int, exploration: float) -> None:
    policy, rng = RobustUCB(exploration=exploration), generator(12)
    state = small(policy.init(n, k, 10**6, rng), 64)
    values = np.linspace(0.2, 0.9, n)
    for played in range(150):
        available = np.zeros(n, np.bool_)
        available[rng.permutation(n)[: (1, k - 1, k, k + 1, n)[played % 5]]] = True
        chosen = policy.select_from(state, available, generator(played)).copy()
        assert len(set(chosen.tolist())) == len(chosen) == min(k, available.sum()) and available[chosen].all()
        assert np.array_equal(policy.select_from(state, available, generator(played)), chosen)
        if len(chosen) == k:
            policy.update(state, chosen, draw("choice", chosen, values, 1.0, rng), rng)
    assert_right(policy, state)


def test_of_the_available_arms_the_best_set_is_found() -> None:
    """Arms 0 and 1 are best together; without one of them, the other is worth nothing, and arms 2 and 3 are best."""
    policy, rng = RobustUCB(), generator(13)
    state = policy.init(5, 2, 10**6, rng)
    for off, wanted in ((4, {0, 1}), (1, {2, 3}), (0, {2, 3}), (3, {0, 1})):
        found = []
        for _ in range(1000):
            chosen = policy.select_from(state, np.arange(5) != off, rng).copy()
            policy.update(state, chosen, draw_together("choice", chosen, 1.0, rng), rng)
            found.append(set(chosen.tolist()))
        assert found[-300:].count(wanted) > 200


def test_a_set_of_fewer_arms_teaches_nothing() -> None:
    policy, rng = RobustUCB(), generator(14)
    state = policy.init(5, 3, 100, rng)
    policy.update(state, np.array([0, 1, 2]), np.array([1.0, 0.0, 0.0]), rng)
    before = copy.deepcopy(state)
    policy.update(state, np.array([3, 1]), np.array([1.0, 0.0]), rng)
    assert all(np.array_equal(one, other) for one, other in zip(arrays(state), arrays(before), strict=True))


def test_a_study_without_a_horizon_plays_on_while_arms_come_and_go() -> None:
    study = sw.Study.memory(list("abcde"), 2, RobustUCB(), None, seed=1)
    found = play(study, 120, lambda decision: {decision.arms[0]: float({"a", "b"} == set(decision.arms))})
    assert found.count(("a", "b")) > 40
    study.add_arm("f")
    assert "f" in play(study, 1)[0]
    for name in "bcd":
        study.retire_arm(name)
    assert set(itertools.chain(*play(study, 60))) <= {"a", "e", "f"}
    study.retire_arm("a")
    assert set(play(study, 5)) == {("e", "f")}
    study.retire_arm("e")
    with pytest.raises(InputError, match="1 arm is active, which is less than k=2"):
        study.ask()
    assert study.verify().ok


ARMS = [f"a{arm}" for arm in range(7)]
BESTSELLERS = ["s0", "s1", "s2"]


def sell(study: Any, rounds: int, seed: int, available: Any = None) -> float:
    """Play in a broken table, in which one arm at most is rewarded; return the regret."""
    world, rng, regret = broken_table(3, 0.2), generator(seed), 0.0
    means: dict[tuple[str, ...], Any] = {}
    for members in itertools.combinations(range(7), 3):
        world.means(np.array(members), own := np.zeros(3))
        means[tuple(ARMS[arm] for arm in members)] = own
    most = max(own.sum() for own in means.values())
    for _ in range(rounds):
        decision = study.ask(available=available)
        arms = tuple(sorted(decision.arms))
        sold = int(np.searchsorted(np.cumsum(means[arms]), rng.random()))
        study.tell(decision, {arm: int(place == sold) for place, arm in enumerate(arms)})
        regret += most - means[arms].sum()
    return regret


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("how", ["announced", "withdrawn", "never available"])
def test_an_arm_that_cannot_be_played_does_not_hide_a_violation(how: str, seed: int) -> None:
    """When exploring waited for it, the regret was at least 1,190; now it is at most 330."""
    study = sw.Study.memory(ARMS, 3, RobustUCB(), None, seed=seed)
    study.add_arm("new", active=how != "announced")
    if how == "withdrawn":
        study.retire_arm("new")
    regret = sell(study, 5000, seed, ARMS if how == "never available" else None)
    print(f"{regret:.0f}")
    assert regret < 450


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_was_learned_goes_on_when_an_arm_is_announced(seed: int) -> None:
    """After 2,500 rounds, 5,000 more cost 56 at most, and at least 780 when exploring waited for the new arm."""
    study = sw.Study.memory(ARMS, 3, RobustUCB(), None, seed=seed)
    sell(study, 2500, seed)
    study.add_arm("new", active=False)
    regret = sell(study, 5000, 10 + seed)
    print(f"{regret:.0f}")
    assert regret < 150
    study.activate_arm("new")
    assert "new" in study.ask().arms


@pytest.mark.parametrize("retired", [True, False])
def test_bestsellers_that_are_sold_out_do_not_hide_a_violation(retired: bool) -> None:
    """Three other arms had a third of the sales each. When they still counted, the regret was at least 1,140."""
    found = []
    for seed in range(3):
        study = sw.Study.memory(ARMS + BESTSELLERS, 3, RobustUCB(), None, seed=seed)
        rng = generator(seed)
        for _ in range(1000):
            decision = study.ask()
            shares = np.cumsum([0.33 if arm in BESTSELLERS else 0.02 for arm in decision.arms])
            sold = int(np.searchsorted(shares, rng.random()))
            study.tell(decision, {arm: int(place == sold) for place, arm in enumerate(decision.arms)})
        for arm in BESTSELLERS if retired else []:
            study.retire_arm(arm)
        found.append(sell(study, 5000, seed, None if retired else ARMS))
    print(np.round(found))
    assert np.mean(found) < 800


def test_bestsellers_that_are_sold_out_refute_nothing() -> None:
    """In a multinomial logit, also of the arms that are left: KL-UCB has a regret of about 40, and this 80 on average.

    When arms were judged by what they earned beside the bestsellers, it was 160, and two of eight runs went over to
    sets.
    """
    worth = {**dict(zip(ARMS, np.linspace(0.6, 0.1, 7), strict=True)), **dict.fromkeys(BESTSELLERS, 5.0)}
    most, found = sum(sorted(worth[arm] for arm in ARMS)[-3:]), []
    for seed in range(4):
        study, rng = sw.Study.memory(list(worth), 3, RobustUCB(), None, seed=seed), generator(seed)
        regret = 0.0
        for played in range(6000):
            if played == 1000:
                for arm in BESTSELLERS:
                    study.retire_arm(arm)
            decision = study.ask()
            shares = np.cumsum([worth[arm] for arm in decision.arms])
            sold = int(np.searchsorted(shares, rng.random() * (1 + shares[-1])))
            study.tell(decision, {arm: int(place == sold) for place, arm in enumerate(decision.arms)})
            if played >= 1000:
                regret += most / (1 + most) - shares[-1] / (1 + shares[-1])
        found.append(regret)
    print(np.round(found))
    assert np.mean(found) < 150


# Bad input, in one sentence.


@pytest.mark.parametrize(
    ("world", "message"),
    [
        (
            FullBandit(MNL(np.ones(5), k=2)),
            "learns from choice or independent feedback; FullBandit gives total",
        ),
        (PRESETS["cascade"](), "learns from every reward of a set; Cascade does not show all of them"),
        (Scaled(MNL(np.ones(5), k=2), 1.2345678), r"has .* use RobustUCB\(bound=1.2345678\)"),
        (Scaled(MNL(np.ones(5), k=2), 3.0), r"has bound=1, but a reward can be 3 here: use RobustUCB\(bound=3\)"),
    ],
)
def test_worlds_it_cannot_play_in_are_refused(world: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"RobustUCB {message}"):
        sw.simulate(RobustUCB(), world, 10)


def test_wrong_parameters_and_rewards_are_refused() -> None:
    for wrong, message in (
        ({"alpha": 0.0}, "alpha is 0.*more than 0"),
        ({"exploration": -1.0}, "exploration is -1.*at least 0"),
        ({"bound": math.inf}, "bound is inf"),
    ):
        with pytest.raises(InputError, match=message):
            RobustUCB(**wrong)
    policy, rng = RobustUCB(), generator()
    state = policy.init(5, 2, 10, rng)
    with pytest.raises(InputError, match="the reward of arm 3 is nan; rewards are numbers from 0 to 1"):
        policy.update(state, [0, 3], [0.0, math.nan], rng)
    with pytest.raises(InputError, match="arm 5 is chosen; there are 5 arms"):
        policy.update(state, [0, 5], [0.0, 1.0], rng)
    assert state.rounds[0] == 0
