"""Policies that count pairwise wins: hand-made matrices, counts, sizes and ties, and their intended worlds.

False alarms: a comparison of counts with equal probabilities (`evenly`) fails once in a million for a correct policy;
there are about thirty. The runs in worlds with a clear best arm have fixed seeds; none of 800 other runs of each
simulated test, and of 40 of each test played by hand, crossed a limit.
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
from scipy.stats import chisquare

from seeded import generator
from setwise import InputError, paper, simulate
from setwise.environments import MNL, PreferenceMatrix
from setwise.kernels.pairs import ABOVE_HALF, HALF, OPEN, TAKEN, WINNER, count_beaten, fill, largest
from setwise.policies.max_min_ucb import MaxMinUCB
from setwise.policies.multi_dueling import MultiDueling
from setwise.policies.rec_max_min_ucb import RecMaxMinUCB
from setwise.policies.rucb import NOBODY, RUCB, draw_first
from setwise.policies.winner_beats_all import WinnerBeatsAll, evidence_of_loss

PADDED = [MaxMinUCB(), RecMaxMinUCB(), WinnerBeatsAll(), RUCB(), MultiDueling()]
SMALLER = [MaxMinUCB(pad=False), WinnerBeatsAll(pad=False), MultiDueling(pad=False)]
every_policy = pytest.mark.parametrize("policy", [*PADDED, *SMALLER], ids=repr)
padded_policies = pytest.mark.parametrize("policy", PADDED, ids=repr)
smaller_policies = pytest.mark.parametrize("policy", SMALLER, ids=repr)
ROCK_PAPER_SCISSORS = np.array([[0, 90, 10], [10, 0, 90], [90, 10, 0]])


def told(policy: Any, wins: Any, k: int, t: int) -> Any:
    """The state at the start of round t after duels with these wins, the second arm of each being the anchor."""
    wins = np.asarray(wins)
    rng = generator()
    state = policy.init(len(wins), k, 1000, rng)
    for i, j in np.argwhere(wins):
        for _ in range(wins[i, j]):
            policy.update(state, [j, i], [0.0, 1.0], rng)
    state.rounds[0] = t - 2
    policy.update(state, [0, 1], [0.0, 0.0], rng)
    assert np.array_equal(state.wins, wins)
    return state


def bounds(state: Any, level: float) -> Any:
    return state.share + math.sqrt(level) * state.spread


def potential_winners(state: Any, alpha: float, t: int, border: float) -> list[int]:
    beaten = np.zeros(len(state.wins), np.int64)
    found = count_beaten(state.share, state.spread, math.sqrt(alpha * math.log(t)), border, beaten)
    arms = np.flatnonzero(beaten == 0).tolist()
    assert found == len(arms)
    return arms


def evenly(counts: Any, shares: Any = None) -> bool:
    """Whether the counts agree with equal shares, or the given ones: wrong once in a million."""
    expected = None if shares is None else np.array(shares) * np.sum(counts)
    return bool(chisquare(counts, expected).pvalue > 1e-6)


def sets_of(policy: Any, state: Any, draws: int, seed: int = 0) -> Counter[tuple[int, ...]]:
    rng = generator(seed)
    return Counter(tuple(sorted(policy.select(state, rng).tolist())) for _ in range(draws))


def play(policy: Any, world: Any, rounds: int, watched: int, seed: int = 0) -> tuple[Any, list[list[int]]]:
    """The state after some rounds, and the sets of the last of them."""
    rng = generator(seed)
    state = policy.init(world.n, world.k, rounds, rng)
    sets = []
    for _ in range(rounds):
        chosen = policy.select(state, rng).copy()
        rewards = np.zeros(len(chosen))
        world.draw(chosen, rng, rewards)
        policy.update(state, chosen, rewards, rng)
        sets.append(chosen.tolist())
    return state, sets[-watched:]


# What was worked out by hand

THREE = [[0, 80, 90], [20, 0, 60], [10, 40, 0]]


def test_bounds_and_the_potential_winner_of_max_min_ucb_are_those_worked_out_by_hand() -> None:
    state = told(MaxMinUCB(), THREE, k=2, t=300)
    u = bounds(state, 0.51 * math.log(300))
    for i, j, expected in [(0, 1, 0.9706), (1, 0, 0.3706), (2, 0, 0.2706), (2, 1, 0.5706), (1, 2, 0.7706)]:
        assert u[i, j] == pytest.approx(expected, abs=5e-5)
    assert potential_winners(state, 0.51, 300, ABOVE_HALF) == [0]
    assert MaxMinUCB().select(state, generator()).tolist() == [0, 1]
    assert MaxMinUCB(pad=False).select(state, generator()).tolist() == [0]


@pytest.mark.parametrize(("losses", "expected"), [(32, [0]), (33, [0, 1])])
def test_an_arm_is_a_potential_winner_as_long_as_its_bound_is_above_a_half(losses: int, expected: list[int]) -> None:
    policy = MaxMinUCB(pad=False)
    state = told(policy, [[0, 100 - losses], [losses, 0]], k=2, t=300)
    assert sorted(policy.select(state, generator()).tolist()) == expected


def test_rec_max_min_ucb_takes_the_certain_winner_and_then_builds_from_the_rest() -> None:
    assert RecMaxMinUCB().select(told(RecMaxMinUCB(), THREE, k=2, t=300), generator()).tolist() == [0, 1]


def test_rec_max_min_ucb_takes_one_certain_winner_after_the_other() -> None:
    wins = np.triu(np.full((5, 5), 95), 1) + np.tril(np.full((5, 5), 5), -1)
    order = [3, 0, 4, 2, 1]
    shuffled = np.zeros_like(wins)
    shuffled[np.ix_(order, order)] = wins
    for k in range(2, 6):
        state = told(RecMaxMinUCB(), shuffled, k=k, t=1000)
        assert RecMaxMinUCB().select(state, generator()).tolist() == order[:k]


def test_potential_winners_come_before_arms_with_larger_bounds() -> None:
    wins = [[0, 50, 35, 90], [50, 0, 40, 50], [65, 60, 0, 10], [10, 50, 90, 0]]
    for policy in (MaxMinUCB(), MaxMinUCB(pad=False), RecMaxMinUCB()):
        pair = told(policy, wins, k=2, t=300)
        assert potential_winners(pair, 0.51, 300, ABOVE_HALF) == [0, 1]
        assert bounds(pair, 0.51 * math.log(300))[2, 0] > bounds(pair, 0.51 * math.log(300))[1, 0]
        assert set(sets_of(policy, pair, 20)) == {(0, 1)}
        assert set(sets_of(policy, told(policy, wins, k=3, t=300), 20)) == {(0, 1, 2)}


def test_the_set_starts_with_the_potential_winner_that_is_hardest_to_beat_for_the_others() -> None:
    wins = [[0, 40, 45], [60, 0, 60], [55, 40, 0]]
    for policy in (MaxMinUCB(), RecMaxMinUCB()):
        state = told(policy, wins, k=2, t=300)
        assert potential_winners(state, 0.51, 300, ABOVE_HALF) == [0, 1, 2]
        counts = Counter(tuple(policy.select(state, generator(seed)).tolist()) for seed in range(200))
        assert set(counts) == {(1, 0), (1, 2)}
        assert evenly(list(counts.values()))


def test_evidence_of_winner_beats_all_is_that_worked_out_by_hand() -> None:
    state = told(WinnerBeatsAll(), [[0, 80], [20, 0]], k=2, t=102)
    assert state.beaten[1] == pytest.approx(19.2745, abs=5e-5)
    assert state.beaten[0] == 0.0
    assert evidence_of_loss(0.0, 10.0) == pytest.approx(10 * math.log(2))
    assert evidence_of_loss(7.0, 7.0) == 0.0


def test_only_arms_with_little_evidence_against_them_are_anchors_until_time_allows_more() -> None:
    policy = WinnerBeatsAll()
    state = told(policy, [[0, 80], [20, 0]], k=2, t=1000)
    rng = generator()
    for later, anchors in [(1000, {0}), (int(math.exp(18.2)), {0}), (int(math.exp(18.3)), {0, 1})]:
        state.rounds[0] = later
        seen = set()
        for _ in range(6):
            policy.update(state, [0, 1], [0.0, 0.0], rng)
            seen.add(int(policy.select(state, rng)[0]))
        assert seen == anchors


def test_the_anchor_goes_round() -> None:
    policy = WinnerBeatsAll()
    rng = generator(3)
    state = policy.init(6, 2, 100, rng)
    anchors = []
    for _ in range(12):
        chosen = policy.select(state, rng).copy()
        anchors.append(int(chosen[0]))
        policy.update(state, chosen, [0.0, 0.0], rng)
    assert sorted(anchors[:6]) == list(range(6))
    assert anchors[6:] == anchors[:6]
    assert anchors[:6] != sorted(anchors[:6])


def test_the_anchor_meets_arms_it_has_not_clearly_beaten_least_compared_first_and_then_the_least_beaten() -> None:
    wins = np.zeros((6, 6), int)
    wins[0, 1:] = [3, 2, 60, 90, 1]
    wins[5, 4] = 30
    policy = WinnerBeatsAll()
    for k, expected in [(2, {(0, 5)}), (3, {(0, 2, 5)}), (4, {(0, 1, 2, 5)}), (5, {(0, 1, 2, 3, 5)})]:
        state = told(policy, wins, k=k, t=200)
        state.anchor[0] = 0
        assert set(sets_of(policy, state, 10)) == expected
        assert policy.select(state, generator())[0] == 0
        alone = set(sets_of(WinnerBeatsAll(pad=False), state, 10))
        assert alone == ({(0, 1, 2, 5)} if k == 5 else expected)


def test_bounds_and_potential_winners_of_rucb_are_those_worked_out_by_hand() -> None:
    policy = RUCB()
    state = policy.init(4, 2, 100, generator())
    assert (state.share[~np.eye(4, dtype=bool)] == 2.0).all()
    assert potential_winners(state, 0.51, 1, HALF) == [0, 1, 2, 3]
    few = told(policy, [[0, 8], [2, 0]], k=2, t=10)
    assert bounds(few, 0.51 * math.log(10))[0, 1] == pytest.approx(1.1427, abs=5e-5)
    assert bounds(few, 0.51 * math.log(10))[1, 0] == pytest.approx(0.5427, abs=5e-5)
    assert few.beaten.tolist() == [0, 0]
    many = told(policy, [[0, 80], [20, 0]], k=2, t=10)
    assert bounds(many, 0.51 * math.log(10))[1, 0] == pytest.approx(0.3084, abs=5e-5)
    assert many.beaten.tolist() == [0, 1]
    assert many.hypothesis[0] == 0


def test_the_hypothesised_best_stays_while_it_is_a_potential_winner() -> None:
    policy = RUCB()
    rng = generator()
    state = told(policy, [[0, 80], [20, 0]], k=2, t=10)
    state.rounds[0] = 10**9
    policy.update(state, [0, 1], [0.0, 0.0], rng)
    assert (state.beaten == 0).all()
    assert state.hypothesis[0] == 0
    for _ in range(200):
        policy.update(state, [0, 1], [0.0, 1.0], rng)
    state.rounds[0] = 5
    policy.update(state, [0, 1], [0.0, 0.0], rng)
    assert state.hypothesis[0] == 1


def test_no_arm_is_hypothesised_once_the_best_is_beaten_and_nobody_else_stands_out() -> None:
    policy = RUCB()
    state = told(policy, ROCK_PAPER_SCISSORS, k=2, t=10)
    state.hypothesis[0] = 1
    policy.update(state, [0, 1], [0.0, 0.0], generator())
    assert (state.beaten > 0).all()
    assert state.hypothesis[0] == NOBODY


def test_the_hypothesised_best_comes_first_half_the_time_and_the_other_potential_winners_share_the_rest() -> None:
    rng = generator(1)
    beaten = np.array([0, 2, 0, 0, 1])
    for hypothesis, shares in [(2, [1 / 4, 0, 1 / 2, 1 / 4, 0]), (NOBODY, [1 / 3, 0, 1 / 3, 1 / 3, 0])]:
        counts = np.bincount([draw_first(beaten, hypothesis, rng) for _ in range(4000)], minlength=5)
        assert counts[[1, 4]].sum() == 0
        assert evenly(counts[[0, 2, 3]], np.array(shares)[[0, 2, 3]])
    assert {draw_first(np.array([1, 0, 1]), 1, rng) for _ in range(20)} == {1}
    assert evenly(np.bincount([draw_first(np.array([1, 1, 2]), NOBODY, rng) for _ in range(3000)]))


def test_the_first_arm_of_rucb_meets_those_that_most_likely_beat_it() -> None:
    wins = [[0, 90, 90, 90, 90], [10, 0, 0, 0, 0], [10, 0, 0, 0, 0], [10, 0, 0, 0, 0], [30, 0, 0, 0, 0]]
    for k, expected in [(2, {(0, 4)}), (3, {(0, 1, 4), (0, 2, 4), (0, 3, 4)})]:
        state = told(RUCB(), wins, k=k, t=10)
        assert state.hypothesis[0] == 0
        counts = sets_of(RUCB(), state, 300)
        assert set(counts) == expected
        assert evenly(list(counts.values())) or k == 2


MAY_BE_BEST = [[0, 62, 80, 90], [38, 0, 0, 0], [20, 0, 0, 0], [10, 0, 0, 0]]


def test_multi_dueling_plays_the_only_arm_of_the_narrow_bound_and_pads_by_the_wide_one() -> None:
    policy = MultiDueling()
    state = told(policy, MAY_BE_BEST, k=3, t=10)
    narrow, wide = (bounds(state, level * 0.51 * math.log(10)) for level in (1.0, 1.5))
    assert narrow[2, 0] == pytest.approx(0.3084, abs=5e-5)
    assert (narrow[1, 0], wide[1, 0]) == (pytest.approx(0.4884, abs=5e-5), pytest.approx(0.5127, abs=5e-5))
    assert narrow[1, 2] == wide[1, 2] == 1.0
    assert policy.select(state, generator()).tolist() == [0, 1, 2]
    assert MultiDueling(pad=False).select(state, generator()).tolist() == [0]
    assert policy.select(told(policy, MAY_BE_BEST, k=2, t=10), generator()).tolist() == [0, 1]


def test_multi_dueling_plays_all_arms_that_may_be_best_if_they_are_several() -> None:
    wins = np.array(MAY_BE_BEST)
    wins[0, 1], wins[1, 0], wins[0, 2], wins[2, 0] = 55, 45, 62, 38
    policy = MultiDueling(pad=False)
    assert set(sets_of(policy, told(policy, wins, k=4, t=10), 10)) == {(0, 1, 2)}
    assert set(sets_of(policy, told(policy, wins, k=2, t=10), 10)) == {(0, 1)}
    assert set(sets_of(MultiDueling(), told(policy, wins, k=4, t=10), 10)) == {(0, 1, 2, 3)}


def test_multi_dueling_ranks_by_the_narrow_bound_within_the_few_and_by_the_wide_one_within_the_many() -> None:
    policy = MultiDueling()
    few = told(policy, [[0, 208, 58], [192, 0, 0], [42, 0, 0]], k=2, t=10)
    assert potential_winners(few, 0.51, 10, HALF) == [0, 1, 2]
    assert policy.select(few, generator()).tolist() == [0, 1]
    many = told(policy, [[0, 224, 62], [176, 0, 0], [38, 0, 0]], k=2, t=10)
    assert potential_winners(many, 0.51, 10, HALF) == [0]
    assert potential_winners(many, 0.51 * 1.5, 10, HALF) == [0, 1, 2]
    assert policy.select(many, generator()).tolist() == [0, 2]


# If nobody may be best


@pytest.mark.parametrize("policy", [MaxMinUCB(), MaxMinUCB(pad=False), RecMaxMinUCB(), RUCB()], ids=repr)
def test_the_first_arm_is_any_arm_if_there_is_no_potential_winner(policy: Any) -> None:
    state = told(policy, ROCK_PAPER_SCISSORS, k=2, t=10)
    assert potential_winners(state, 0.51, 10, HALF) == []
    rng = generator(2)
    counts = Counter(tuple(policy.select(state, rng).tolist()) for _ in range(1500))
    assert set(counts) == {(0, 2), (1, 0), (2, 1)}  # each with the arm that most likely beats it
    assert evenly(list(counts.values()))


@pytest.mark.parametrize("pad", [True, False])
def test_multi_dueling_plays_any_arms_if_none_may_be_best(pad: bool) -> None:
    policy = MultiDueling(pad=pad)
    counts = sets_of(policy, told(policy, ROCK_PAPER_SCISSORS, k=2, t=10), 1500)
    assert set(counts) == set(itertools.combinations(range(3), 2))
    assert evenly(list(counts.values()))


def test_the_anchor_is_any_of_the_least_beaten_arms_if_all_are_clearly_beaten() -> None:
    policy = WinnerBeatsAll()
    wins = np.zeros((4, 4), int)
    wins[:3, :3] = ROCK_PAPER_SCISSORS
    wins[:3, 3] = 100
    state = told(policy, wins, k=2, t=10)
    rng = generator(4)
    counts: Counter[int] = Counter()
    for _ in range(1500):
        state.rounds[0] = 10
        policy.update(state, [0, 1], [0.0, 0.0], rng)
        counts[int(policy.select(state, rng)[0])] += 1
    assert set(counts) == {0, 1, 2}
    assert evenly(list(counts.values()))


@every_policy
def test_a_cycle_of_preferences_stops_nobody(policy: Any) -> None:
    margins = np.array([[0.0, 0.8, -0.8], [-0.8, 0.0, 0.8], [0.8, -0.8, 0.0]])
    world = PreferenceMatrix(margins, 0.1)
    rng = generator(5)
    state = policy.init(3, 2, 600, rng)
    plays = np.zeros(3, int)
    for _ in range(600):
        chosen = policy.select(state, rng).copy()
        assert 1 <= len(chosen) <= 2
        assert len(chosen) == 2 or not policy.pad
        plays[chosen] += 1
        rewards = np.zeros(len(chosen))
        if len(chosen) == 2:
            world.draw(chosen, rng, rewards)
        policy.update(state, chosen, rewards, rng)
    assert state.rounds[0] == 600
    assert plays.min() >= 30


@padded_policies
def test_the_papers_preference_matrix_with_its_cycle_is_played_to_the_end(policy: Any) -> None:
    result = simulate(policy, paper.preference_matrix(), horizon=500, runs=1, seed=1, compiled=False, checkpoints=2)
    assert result.pulls.sum() == 2 * 500
    assert result.pulls.min() >= 5


# What is counted


@every_policy
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 7), data=st.data())
def test_sets_are_distinct_arms_and_every_winner_is_counted_once_against_each_loser(
    policy: Any, seed: int, n: int, data: Any
) -> None:
    k = data.draw(st.integers(2, n))
    outside = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    rng = generator(seed)
    state = policy.init(n, k, 100, rng)
    weights = rng.random(n) ** 4 + 0.01
    pad = getattr(policy, "pad", True)
    for done in range(60):
        chosen = policy.select(state, rng).copy()
        size = len(chosen)
        assert size == k if pad else 1 <= size <= k
        assert len(set(chosen.tolist())) == size and chosen.min() >= 0 and chosen.max() < n
        rewards = np.zeros(size)
        before = state.wins.copy()
        winner = None
        if rng.random() >= outside:
            winner = rng.choice(size, p=weights[chosen] / weights[chosen].sum())
            rewards[winner] = 1.0
        policy.update(state, chosen, rewards, rng)
        expected = np.zeros((n, n))
        if winner is not None and type(policy) is WinnerBeatsAll and winner != 0:
            expected[chosen[winner], chosen[0]] = 1.0
        elif winner is not None:
            expected[chosen[winner], np.delete(chosen, winner)] = 1.0
            assert expected.sum() == size - 1
        assert np.array_equal(state.wins - before, expected)
        assert state.rounds[0] == done + 1
    both = state.wins + state.wins.T
    if type(policy) is WinnerBeatsAll:
        against = [[evidence_of_loss(*pair) for pair in zip(*rows)] for rows in zip(state.wins, state.wins.T)]
        assert np.array_equal(state.evidence, against)
        assert np.allclose(state.beaten, np.sum(against, axis=1), rtol=1e-12)
    else:
        seen = both > 0
        assert np.array_equal(state.share[seen], state.wins[seen] / both[seen])
        assert np.array_equal(state.spread[seen], 1 / np.sqrt(both[seen]))
        unseen = {MaxMinUCB: np.inf, RecMaxMinUCB: np.inf, RUCB: 2.0, MultiDueling: 1.0}[type(policy)]
        assert (state.share[~seen & ~np.eye(n, dtype=bool)] == unseen).all()
        assert not state.spread[~seen].any()


@every_policy
def test_feedback_may_come_late_and_in_any_order(policy: Any) -> None:
    rng = generator(8)
    world = MNL([2.0, 1.0, 0.5, 0.5, 0.2], k=3)
    state = policy.init(5, 3, 300, rng)
    waiting: list[Any] = []
    heard: list[Any] = []
    while len(heard) < 300:
        chosen = policy.select(state, rng).copy()
        assert len(set(chosen.tolist())) == len(chosen)
        rewards = np.zeros(len(chosen))
        world.draw(chosen, rng, rewards)
        waiting.append((chosen, rewards))
        while waiting and rng.random() < 0.6:
            heard.append(waiting.pop(int(rng.integers(len(waiting)))))
            policy.update(state, *heard[-1], rng)
    again = policy.init(5, 3, 300, rng)
    for chosen, rewards in reversed(heard):
        policy.update(again, chosen, rewards, rng)
    assert state.wins.sum() > 100
    assert np.array_equal(again.wins, state.wins)
    for name in ("share", "spread", "evidence"):
        assert np.array_equal(getattr(again, name, 0), getattr(state, name, 0))


@every_policy
def test_a_round_without_a_winner_changes_nothing_but_the_time(policy: Any) -> None:
    state = told(policy, THREE, k=2, t=50)
    before = copy.deepcopy(state)
    policy.update(state, [0, 2], [0.0, 0.0], generator())
    assert state.rounds[0] == before.rounds[0] + 1
    for name in ("wins", "share", "spread", "evidence"):
        assert np.array_equal(getattr(before, name, 0), getattr(state, name, 0))


# Ties


@every_policy
def test_every_set_is_equally_likely_in_the_first_round(policy: Any) -> None:
    rng = generator(6)
    counts: Counter[Any] = Counter()
    for _ in range(1500):
        chosen = policy.select(policy.init(5, 3, 100, rng), rng)
        counts[tuple(sorted(chosen.tolist()))] += 1
    assert set(counts) == set(itertools.combinations(range(5), 3))
    assert evenly(list(counts.values()))


def test_the_largest_of_equal_values_is_any_of_those_of_enough_standing() -> None:
    rng = generator(7)
    values = np.array([2.0, 5.0, 5.0, 9.0, 5.0, 5.0])
    standing = np.array([WINNER, WINNER, OPEN, TAKEN, WINNER, OPEN])
    for needed, arms in [(OPEN, [1, 2, 4, 5]), (WINNER, [1, 4])]:
        counts = Counter(largest(values, standing, needed, rng) for _ in range(2000))
        assert sorted(counts) == arms
        assert evenly(list(counts.values()))
    assert largest(values, standing, WINNER + 1, rng) == -1
    assert largest(np.full(2, -np.inf), np.full(2, OPEN), OPEN, rng) in (0, 1)


def test_filling_a_set_keeps_what_is_in_it_and_says_how_large_it_has_become() -> None:
    values = np.array([5.0, 4.0, 3.0, 2.0])
    free = np.array([False, True, False, True])
    chosen, best = np.array([0, -1, -1, -1]), np.zeros(4)
    assert fill(values, free, chosen, best, 1, generator()) == 3
    assert chosen[0] == 0 and set(chosen[1:3].tolist()) == {1, 3} and chosen[3] == -1
    assert fill(values, np.zeros(4, bool), chosen, best, 3, generator()) == 3
    assert fill(values, ~free, chosen, best, 4, generator()) == 4 and chosen[3] == -1


# What is refused


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        *[(make, {"alpha": a}) for make in (MaxMinUCB, RecMaxMinUCB, RUCB, MultiDueling) for a in (0, -1, math.inf)],
        *[(WinnerBeatsAll, {"c": c}) for c in (-0.1, math.inf, math.nan)],
        *[(MultiDueling, {"beta": beta}) for beta in (0.9, math.inf)],
    ],
)
def test_parameters_that_make_no_sense_are_refused(make: Any, wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"{make.__name__}: .*{next(iter(wrong))}"):
        make(**wrong)


@every_policy
def test_sets_of_one_arm_are_refused(policy: Any) -> None:
    with pytest.raises(InputError, match=f"{type(policy).__name__} .* needs 2 arms or more; k is 1"):
        policy.init(5, 1, 100, generator())


# In the worlds they were made for. Theirs have no outside option; multinomial logit with one is the nearest there is.


@padded_policies
def test_the_best_arm_ends_up_in_every_set(policy: Any) -> None:
    best_or_not = MNL([4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], k=3)  # sets without arm 0 have regret 6/7 - 3/4
    result = simulate(policy, best_or_not, horizon=4000, runs=20, seed=3, checkpoints=[2000, 4000])
    rounds_without = (result.regret[:, 1] - result.regret[:, 0]) / (6 / 7 - 3 / 4)
    assert rounds_without.max() <= 20
    assert result.pulls[:, 0].min() >= 2800


@smaller_policies
def test_smaller_sets_shrink_to_the_best_arm(policy: Any) -> None:
    _, sets = play(policy, MNL([4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], k=3), rounds=2000, watched=500, seed=1)
    assert sum(chosen == [0] for chosen in sets) >= 400
    assert max(len(chosen) for chosen in sets) <= 3


def test_the_anchor_becomes_the_best_arm() -> None:
    world = MNL([4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], k=3)
    state, sets = play(WinnerBeatsAll(), world, rounds=2000, watched=500, seed=2)
    assert sum(chosen[0] == 0 for chosen in sets) >= 480
    assert state.beaten[0] <= math.log(2000) + 1 < np.delete(state.beaten, 0).min()


def test_rec_max_min_ucb_settles_on_the_best_set() -> None:
    world = MNL([3.0, 2.5, 2.0, 0.5, 0.4, 0.3, 0.2], k=3)
    result = simulate(RecMaxMinUCB(), world, horizon=20_000, runs=20, seed=4, checkpoints=[10_000, 20_000])
    assert (result.regret[:, 1] - result.regret[:, 0]).max() <= 20  # the next best set all the time: 252
    assert result.pulls[:, :3].min() >= 0.9 * 20_000
