"""Policies for duels: Sparring, self-sparring, interleaved filter, beat-the-mean, and battling ones.

Steps are compared with plain references written here, states with their sums, and choices with the intended worlds or
the nearest one: multinomial logit with a light outside option, which for two arms is Bradley-Terry with undecided
rounds.

Statistical tests have fixed seeds. With other seeds the false alarm rates are: uniform first sets, 1 in 50,000; counts
of copies, opponents and samples, below 1 in 200,000 each; the best arm of a Bradley-Terry world, as far as the policies
promise it, 1 in 1,000. Where steps are compared, the best arm remains almost surely.
"""

import copy
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seeded import generator
from setwise import InputError, simulate
from setwise.environments import MNL
from setwise.kernels.duels import remove
from setwise.policies.battling_doubler import BattlingDoubler
from setwise.policies.battling_duel import BattlingDuel
from setwise.policies.battling_multi_sbm import BattlingMultiSBM
from setwise.policies.beat_the_mean import BeatTheMean
from setwise.policies.interleaved_filter import InterleavedFilter
from setwise.policies.rucb import RUCB
from setwise.policies.self_sparring import SelfSparring
from setwise.policies.sparring import Sparring

DUELING = [InterleavedFilter, BeatTheMean, SelfSparring, BattlingDoubler, BattlingMultiSBM, BattlingDuel]
ALL = [Sparring, *DUELING]
SIGMAS = 5.2  # a normal variable is further off than so many of its own once in 5 million

every_policy = pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
explorers = pytest.mark.parametrize("cls", [InterleavedFilter, BeatTheMean], ids=lambda cls: cls.__name__)


def weighted_winner(weights: Any, chosen: Any, rng: np.random.Generator, outside: float = 0.0) -> Any:
    """Rewards with one winner, in proportion to the weights; none, in proportion to the outside weight."""
    ends = weights[chosen].cumsum()
    rewards = np.zeros(len(chosen) + 1)
    rewards[ends.searchsorted(rng.random() * (ends[-1] + outside), side="right")] = 1.0
    return rewards[:-1]


def best_of(chosen: Any) -> Any:
    """Rewards in a world where the arm of smallest number always wins."""
    return (np.asarray(chosen) == min(chosen)).astype(float)


def played_to_the_end(policy: Any, n: int, k: int) -> Any:
    """The state of an interleaved filter or beat-the-mean when one arm is left: arm 0, which hardly ever loses."""
    rng = generator(8)
    state = policy.init(n, k, 2, rng)
    weights = 1000.0 ** -np.arange(n)
    while state.gone[0] < n - 1:
        chosen = policy.select(state, rng).copy()
        policy.update(state, chosen, weighted_winner(weights, chosen, rng), rng)
    return state


def lies_near(counts: Any, rounds: int, chance: float) -> bool:
    """Whether counts are as near to their mean as binomials are but once in millions."""
    return bool((np.abs(counts - rounds * chance) < SIGMAS * math.sqrt(rounds * chance * (1 - chance))).all())


# All of them


@pytest.mark.parametrize("cls", DUELING, ids=lambda cls: cls.__name__)
def test_a_set_of_one_arm_is_refused(cls: Any) -> None:
    with pytest.raises(InputError, match=rf"{cls.__name__} .* 2 arms or more; k is 1"):
        cls().init(5, 1, 100, generator())


@pytest.mark.parametrize(
    ("cls", "wrong"),
    [
        (cls, {"alpha": value})
        for cls in (Sparring, BattlingDoubler, BattlingMultiSBM, BattlingDuel)
        for value in (0, math.inf)
    ]
    + [(Sparring, {"bound": value}) for value in (-1, math.inf)]
    + [(SelfSparring, {"eta": value}) for value in (0, -1, math.inf)]
    + [(BeatTheMean, {"gamma": value}) for value in (0.99, math.inf, math.nan)],
)
def test_parameters_that_make_no_sense_are_refused(cls: Any, wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=rf"{cls.__name__}: .*{next(iter(wrong))}"):
        cls(**wrong)


@every_policy
def test_what_differs_from_the_original_is_declared(cls: Any) -> None:
    assert cls.original is False
    assert cls.adaptation.endswith(".")
    assert cls.feedback == (("choice", "independent") if cls is Sparring else ("choice",))


@every_policy
def test_the_first_set_is_uniform(cls: Any) -> None:
    rounds, n, k = 2000, 6, 3
    rng = generator(11)
    inside, first = np.zeros(n), np.zeros(n)
    for _ in range(rounds):
        chosen = cls().select(cls().init(n, k, 100, rng), rng)
        inside[chosen] += 1
        first[chosen[0]] += 1
    assert lies_near(inside, rounds, k / n)
    assert lies_near(first, rounds, 1 / n)


@every_policy
def test_it_finds_the_best_arms_of_a_bradley_terry_world(cls: Any) -> None:
    weights = np.array([3.0, 81.0, 0.3, 27.0, 1.0, 9.0])
    world = MNL(weights, k=2, outside=0.5)
    means = np.zeros(2)
    values = []
    for pair in itertools.combinations(range(6), 2):
        world.means(np.array(pair), means)
        values.append(means.sum())
    uniform = max(values) - np.mean(values)
    result = simulate(cls(), world, horizon=100_000, runs=10, seed=1, checkpoints=[90_000])
    late = (result.regret[:, 1] - result.regret[:, 0]) / 10_000
    assert (result.pulls[:, 1] >= 0.94 * 100_000).all()
    assert (late <= 0.05 * uniform).all()
    if cls is not BattlingDoubler:  # which learns about one arm: those of the epoch before are only its opponents
        assert (result.pulls[:, 3] >= 0.94 * 100_000).all()


@settings(max_examples=40, deadline=None)
@given(
    cls=st.sampled_from(ALL),
    sizes=st.sampled_from([(2, 2), (4, 2), (5, 3), (6, 5), (4, 4)]),
    seed=st.integers(0, 2**32 - 1),
    spread=st.sampled_from([1.0, 4.0, 100.0]),
    outside=st.sampled_from([0.0, 1.0]),
    late=st.booleans(),
)
def test_what_is_known_adds_up(cls: Any, sizes: Any, seed: int, spread: float, outside: float, late: bool) -> None:
    n, k = sizes
    rng = generator(seed)
    policy = cls()
    state = policy.init(n, k, 2, rng)
    weights = spread ** -np.arange(n, dtype=float)
    waiting: list[Any] = []
    decided = duelled = 0
    for turn in range(300):
        chosen = policy.select(state, rng).copy()
        assert len(set(chosen.tolist())) == len(chosen) == k
        assert 0 <= chosen.min() <= chosen.max() < n
        waiting.append(chosen)
        while waiting and (not late or rng.random() < 0.6):
            told = waiting.pop(int(rng.integers(len(waiting))))
            rewards = weighted_winner(weights, told, rng, outside)
            decided += int(rewards.any())
            duelled += int(rewards[:2].any())
            policy.update(state, told, rewards, rng)
        if turn % 20 == 0:
            check_sums(policy, state, n, k, decided, duelled, turn + 1 - len(waiting))


def check_sums(policy: Any, state: Any, n: int, k: int, decided: int, duelled: int, rounds: int) -> None:
    """The sums that hold after so many rounds with a winner, with one in the first two places, and in all."""
    if isinstance(policy, Sparring):
        assert (state.pulls.sum(axis=1) == rounds).all()
        assert state.reward.sum() == decided
        assert state.rounds[0] == rounds
    elif isinstance(policy, SelfSparring):
        assert state.successes.sum() == state.failures.sum() == (k - 1) * decided
    elif isinstance(policy, BattlingDoubler):
        assert state.pulls.sum() == state.steps[0] < state.length[0]
        assert state.before.sum() == max(state.length[0] // 2, 1)
        assert state.length[0] - 1 + state.steps[0] == duelled
        assert (state.reward <= state.pulls).all()
    elif isinstance(policy, BattlingMultiSBM):
        assert (state.pulls.sum(axis=1) == state.steps).all()
        assert state.steps.sum() == duelled
        assert not state.pulls.diagonal().any()
        assert (state.reward <= state.pulls).all()
    elif isinstance(policy, BattlingDuel):
        assert state.wins.sum() == duelled
        assert state.rounds[0] == rounds
    else:
        assert state.rounds[0] == rounds
        out = state.removed[: state.gone[0]].tolist()
        active = np.flatnonzero(state.active).tolist()
        rest = [state.candidate[0]] if isinstance(policy, InterleavedFilter) else []
        assert sorted(out + active + rest) == list(range(n))
    if isinstance(policy, InterleavedFilter):
        assert (state.lost <= state.duels).all()
        assert state.duels[state.candidate[0]] == 0
    if isinstance(policy, BeatTheMean):
        for matrix, row in ((state.pair_duels, state.duels), (state.pair_wins, state.wins_of)):
            assert not matrix[:, state.active == 0].any()
            assert np.array_equal(matrix.sum(axis=1), row)
        assert (state.pair_wins <= state.pair_duels).all()
        assert state.pair_duels.sum() <= (k - 1) * decided


# Sparring


def test_sparring_copies_have_the_index_worked_out_by_hand() -> None:
    policy = Sparring(alpha=0.51)
    rng = generator()
    state = policy.init(3, 2, 10, rng)
    for told, rewards in [([0, 1], [1, 0]), ([0, 2], [1, 0]), ([1, 0], [0, 1]), ([2, 0], [0, 1])]:
        policy.update(state, told, rewards, rng)
    assert state.pulls.tolist() == [[2, 1, 1], [2, 1, 1]]
    assert state.reward.tolist() == [[2.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    policy.select(state, rng)
    level = 0.51 * math.log(5)
    assert state.values.tolist() == [1 + math.sqrt(level / 2), math.sqrt(level), math.sqrt(level)]


def test_every_copy_of_sparring_takes_its_best_arm_that_is_left() -> None:
    rng = generator(1)
    policy = Sparring(alpha=0.7, bound=2.0)
    n, k = 6, 3
    state = policy.init(n, k, 10, rng)
    for turn in range(300):
        chosen = policy.select(state, rng).copy()
        with np.errstate(divide="ignore", invalid="ignore"):
            index = state.reward / state.pulls + 2.0 * np.sqrt(0.7 * math.log(turn + 1) / state.pulls)
        index[state.pulls == 0] = np.inf
        # Some order of the copies explains the set.
        assert any(
            all(index[c, chosen[c]] >= np.delete(index[c], chosen[list(order[:place])]).max() * (1 - 1e-12)
                for place, c in enumerate(order))
            for order in itertools.permutations(range(k))
        )  # fmt: skip
        policy.update(state, chosen, 2.0 * rng.random(k) * chosen / n, rng)
    assert (state.pulls > 0).all()


def test_the_copies_of_sparring_choose_in_a_random_order() -> None:
    rng = generator(2)
    policy = Sparring()
    state = policy.init(5, 3, 10, rng)
    for copy_number in range(3):
        state.pulls[copy_number] = 10
        state.reward[copy_number] = [9, 5, 1, 0, 0]
    state.rounds[0] = 50
    rounds = 3000
    taken = np.zeros((3, 5))
    for _ in range(rounds):
        taken[np.arange(3), policy.select(state, rng)] += 1
    assert lies_near(taken[:, :3], rounds, 1 / 3)


def test_sparring_copies_both_come_to_the_arm_that_always_wins() -> None:
    rng = generator(3)
    policy = Sparring()
    state = policy.init(5, 2, 3000, rng)
    there = []
    for _ in range(3000):
        chosen = policy.select(state, rng).copy()
        there.append(0 in chosen)
        policy.update(state, chosen, best_of(chosen), rng)
    assert all(there[200:])
    assert lies_near(state.pulls[:, 0], 3000, 0.5)
    assert (state.pulls.argmax(axis=1) == 0).all()


# Self-sparring


def test_self_sparring_always_chooses_arms_that_always_won() -> None:
    policy = SelfSparring()
    rng = generator(4)
    state = policy.init(7, 3, 10, rng)
    state.successes[[1, 4, 6]] = 1000
    state.failures[[0, 2, 3, 5]] = 1000
    for _ in range(500):
        assert sorted(policy.select(state, rng).tolist()) == [1, 4, 6]


def test_self_sparring_gives_the_winner_a_success_for_every_other() -> None:
    policy = SelfSparring(eta=0.5)
    rng = generator()
    state = policy.init(5, 3, 10, rng)
    policy.update(state, [4, 0, 2], [0, 1, 0], rng)
    assert state.successes.tolist() == [1.0, 0, 0, 0, 0]
    assert state.failures.tolist() == [0, 0, 0.5, 0, 0.5]
    before = copy.deepcopy(state)
    policy.update(state, [4, 0, 2], [0, 0, 0], rng)
    assert np.array_equal(state.successes, before.successes) and np.array_equal(state.failures, before.failures)


def test_self_sparring_places_follow_from_samples_of_their_own() -> None:
    policy = SelfSparring()
    rng = generator(5)
    state = policy.init(3, 2, 10, rng)
    state.successes[:] = [30, 3, 1]
    state.failures[:] = [20, 3, 2]
    rounds = 4000
    samples = generator(6).beta(state.successes + 1, state.failures + 1, size=(2, rounds, 3))
    first = samples[0].argmax(axis=1)
    samples[1][np.arange(rounds), first] = -1
    expected = np.zeros((3, 3))
    np.add.at(expected, (first, samples[1].argmax(axis=1)), 1)
    found = np.zeros((3, 3))
    for _ in range(rounds):
        found[tuple(policy.select(state, rng))] += 1
    off = np.abs(found - expected) / np.sqrt(np.maximum(found + expected, 1))
    assert off.max() < SIGMAS


# Interleaved filter


class PlainFilter:
    """The filter as its module tells it, with dictionaries; where it may choose, it goes along with the policy."""

    def __init__(self, candidate: int, n: int, horizon: int, prune: bool) -> None:
        self.candidate = candidate
        self.duels = {arm: [0, 0] for arm in range(n) if arm != candidate}  # lost by the arm, in all
        self.log = math.log(1 / (1 / (horizon * n**2)))
        self.prune = prune
        self.removed: list[int] = []
        self.least = 0
        self.changes = 0

    def allows(self, chosen: list[int]) -> bool:
        first, *rest = chosen
        met, fillers = rest[: len(self.duels)], rest[len(self.duels) :]
        others = [self.duels[arm][1] for arm in self.duels if arm not in met]
        return (
            first == self.candidate
            and all(arm in self.duels for arm in met)
            and max([self.duels[arm][1] for arm in met], default=0) <= min(others, default=math.inf)
            and fillers == self.removed[::-1][: len(fillers)]
        )

    def learn(self, chosen: list[int], winner: int | None, removed: list[int], candidate: int) -> None:
        """`removed` and `candidate` are the policy's afterwards."""
        if winner is None or not self.duels:
            return
        for arm in chosen:
            if arm in self.duels and winner in (self.candidate, arm):
                self.duels[arm][1] += 1
                self.duels[arm][0] += winner == self.candidate
        if min(m for _, m in self.duels.values()) == self.least:
            return
        self.least = min(m for _, m in self.duels.values())
        share = {arm: lost / m for arm, (lost, m) in self.duels.items()}
        radius = {arm: math.sqrt(4 * self.log / m) for arm, (_, m) in self.duels.items()}
        beaten = [arm for arm in self.duels if share[arm] - radius[arm] > 0.5]
        self.take_out(beaten, share, removed)
        better = [arm for arm in self.duels if share[arm] + radius[arm] < 0.5]
        if better:
            if self.prune:
                self.take_out([arm for arm in self.duels if share[arm] > 0.5], share, removed)
            self.removed.append(self.candidate)
            assert candidate in better and share[candidate] == min(share[arm] for arm in better)
            self.candidate = candidate
            self.duels = {arm: [0, 0] for arm in self.duels if arm != candidate}
            self.least = 0
            self.changes += 1

    def take_out(self, arms: list[int], share: dict[int, float], removed: list[int]) -> None:
        told = removed[len(self.removed) : len(self.removed) + len(arms)]
        assert sorted(told) == sorted(arms)
        assert [share[arm] for arm in told] == sorted((share[arm] for arm in arms), reverse=True)
        self.removed += told
        for arm in arms:
            del self.duels[arm]


def played_rounds(
    policy: Any, state: Any, reference: Any, weights: Any, rng: Any, rounds: int
) -> Iterator[tuple[int, list[int], int | None, list[int]]]:
    """Play sets that the reference allows; yield the round, its set, its winner if any, and the arms removed so far."""
    for turn in range(rounds):
        chosen = policy.select(state, rng).copy()
        assert reference.allows(chosen.tolist())
        rewards = weighted_winner(weights, chosen, rng, outside=0.1)
        policy.update(state, chosen, rewards, rng)
        winner = int(chosen[rewards.argmax()]) if rewards.any() else None
        yield turn, chosen.tolist(), winner, state.removed[: state.gone[0]].tolist()


@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize(("n", "k"), [(2, 2), (6, 2), (6, 3), (5, 5)])
def test_every_step_of_the_filter_is_that_of_the_reference(n: int, k: int, prune: bool) -> None:
    changes = 0
    for seed in range(4):
        rng = generator(seed)
        policy = InterleavedFilter(prune=prune)
        state = policy.init(n, k, 3, rng)
        reference = PlainFilter(int(state.candidate[0]), n, 3, prune)
        weights = rng.permutation(4.0 ** np.arange(n))
        for turn, chosen, winner, out in played_rounds(policy, state, reference, weights, rng, 6000):
            reference.learn(chosen, winner, out, int(state.candidate[0]))
            assert out == reference.removed
            assert state.candidate[0] == reference.candidate
            assert np.flatnonzero(state.active).tolist() == sorted(reference.duels)
            for arm, (lost, duels) in reference.duels.items():
                assert (state.lost[arm], state.duels[arm]) == (lost, duels)
            if k == 2 and reference.duels:
                counts = [duels for _, duels in reference.duels.values()]
                assert max(counts) - min(counts) <= 1
            assert state.rounds[0] == turn + 1
            if not reference.duels:
                break
        assert not reference.duels
        assert reference.candidate == weights.argmax()
        changes += reference.changes
    assert changes > 0


def test_the_radius_of_the_filter_is_the_one_worked_out_by_hand() -> None:
    state = InterleavedFilter().init(10, 2, 10**4, generator())
    assert math.sqrt(state.level[0] / 100) == pytest.approx(0.743384, abs=5e-7)


@pytest.mark.parametrize("prune", [True, False])
def test_a_beaten_candidate_takes_along_the_arms_it_was_ahead_of_if_it_prunes(prune: bool) -> None:
    policy = InterleavedFilter(prune=prune)
    rng = generator()
    state = policy.init(4, 2, 10, rng)
    old = int(state.candidate[0])
    ahead, behind, better = (arm for arm in range(4) if arm != old)
    duels = int(state.level[0] / 0.25) + 1  # the last one without certainty, if all are lost, is one before
    for arm, lost in [(ahead, duels // 2 + 1), (behind, duels // 2 - 1), (better, 0)]:
        state.duels[arm] = duels
        state.lost[arm] = lost
    state.duels[better] -= 1
    state.least[0] = duels - 1
    policy.update(state, [old, better], [0, 0], rng)
    assert state.candidate[0] == old and state.gone[0] == 0
    policy.update(state, [old, better], [0, 1], rng)
    assert state.candidate[0] == better
    assert state.removed[: state.gone[0]].tolist() == ([ahead, old] if prune else [old])
    assert np.flatnonzero(state.active).tolist() == sorted([behind] if prune else [ahead, behind])
    assert not state.duels.any() and not state.lost.any()


# Beat-the-mean


class PlainMean:
    """Beat-the-mean as its module tells it: every record is a list of duels."""

    def __init__(self, n: int, horizon: int, gamma: float) -> None:
        self.record: dict[int, list[tuple[int, bool]]] = {arm: [] for arm in range(n)}
        self.delta = 1 / (2 * horizon * n)
        self.gamma = gamma
        self.removed: list[int] = []

    def allows(self, chosen: list[int]) -> bool:
        met = [arm for arm in chosen if arm in self.record]
        fillers = chosen[len(met) :]
        lengths = [len(self.record[arm]) for arm in met]
        others = [len(record) for arm, record in self.record.items() if arm not in met]
        if len(chosen) == 2:
            fewest = lengths[0] == min([*lengths, *others])
        else:
            fewest = lengths[0] == min(lengths) and max(lengths) <= min(others, default=math.inf)
        return (
            fewest
            and len(met) == min(len(chosen), len(self.record))
            and met == chosen[: len(met)]
            and fillers == self.removed[::-1][: len(fillers)]
        )

    def learn(self, chosen: list[int], winner: int | None, removed: list[int]) -> None:
        if winner is None or len(self.record) == 1:
            return
        arm, *others = chosen
        for other in others:
            if other in self.record and winner in (arm, other):
                self.record[arm].append((other, winner == arm))
        fewest = min(len(record) for record in self.record.values())
        share = {a: sum(won for _, won in r) / len(r) if r else 0.5 for a, r in self.record.items()}
        radius = 3 * self.gamma**2 * math.sqrt(math.log(1 / self.delta) / fewest) if fewest else 1.0
        if min(share.values()) + radius <= max(share.values()) - radius:
            worst = removed[-1]
            assert share[worst] == min(share.values())
            self.removed.append(worst)
            del self.record[worst]
            for a in self.record:
                self.record[a] = [(other, won) for other, won in self.record[a] if other != worst]


@pytest.mark.parametrize("gamma", [1.0, 1.05])
@pytest.mark.parametrize(("n", "k"), [(2, 2), (5, 2), (6, 3), (4, 4)])
def test_every_step_of_beat_the_mean_is_that_of_the_reference(n: int, k: int, gamma: float) -> None:
    rng = generator(n + k)
    policy = BeatTheMean(gamma=gamma)
    state = policy.init(n, k, 1, rng)
    reference = PlainMean(n, 1, gamma)
    weights = rng.permutation(100.0 ** np.arange(n))
    for turn, chosen, winner, out in played_rounds(policy, state, reference, weights, rng, 5000):
        reference.learn(chosen, winner, out)
        assert out == reference.removed
        assert np.flatnonzero(state.active).tolist() == sorted(reference.record)
        for arm, record in reference.record.items():
            assert (state.duels[arm], state.wins_of[arm]) == (len(record), sum(won for _, won in record))
        assert state.rounds[0] == turn + 1
        if len(reference.record) == 1:
            break
    assert list(reference.record) == [weights.argmax()]


@pytest.mark.parametrize(("gamma", "expected"), [(1.0, 1.048116), (1.2, 1.44 * 1.048116)])
def test_the_radius_of_beat_the_mean_is_the_one_worked_out_by_hand(gamma: float, expected: float) -> None:
    state = BeatTheMean(gamma=gamma).init(10, 2, 10**4, generator())
    assert math.sqrt(state.level[0] / 100) == pytest.approx(expected, abs=1e-6)


def test_beat_the_mean_deletes_the_duels_against_an_arm_that_is_removed() -> None:
    policy = BeatTheMean()
    rng = generator()
    state = policy.init(3, 2, 5, rng)
    state.pair_duels[:] = [[0, 700, 900], [800, 0, 800], [850, 750, 0]]
    state.pair_wins[:] = [[0, 600, 899], [400, 0, 780], [1, 20, 0]]
    state.duels[:] = state.pair_duels.sum(axis=1)
    state.wins_of[:] = state.pair_wins.sum(axis=1)
    policy.update(state, [1, 0], [1, 0], rng)
    assert state.removed[: state.gone[0]].tolist() == [2]
    assert state.duels[:2].tolist() == [700, 801]
    assert state.wins_of[:2].tolist() == [600, 401]
    assert state.pair_duels[:2].tolist() == [[0, 700, 0], [801, 0, 0]]


def test_only_the_first_arm_of_a_set_gets_a_record() -> None:
    policy = BeatTheMean()
    rng = generator()
    state = policy.init(4, 3, 5, rng)
    policy.update(state, [2, 0, 3], [1, 0, 0], rng)
    policy.update(state, [2, 0, 3], [0, 0, 1], rng)
    policy.update(state, [2, 0, 3], [0, 0, 0], rng)
    assert state.pair_duels.tolist() == [[0] * 4, [0] * 4, [1, 0, 0, 2], [0] * 4]
    assert state.pair_wins.tolist() == [[0] * 4, [0] * 4, [1, 0, 0, 1], [0] * 4]


def test_the_opponent_in_a_duel_is_any_other_active_arm() -> None:
    policy = BeatTheMean()
    rng = generator(7)
    state = policy.init(6, 2, 5, rng)
    state.duels[:] = [5, 3, 2, 9, 3, 3]
    state.active[4] = 0
    rounds = 3000
    met = np.zeros(6)
    for _ in range(rounds):
        chosen = policy.select(state, rng)
        assert chosen[0] == 2
        met[chosen[1]] += 1
    assert met[2] == met[4] == 0
    assert lies_near(met[[0, 1, 3, 5]], rounds, 1 / 4)


# The end of both


@explorers
@pytest.mark.parametrize("k", [2, 4])
def test_the_best_arm_is_played_for_ever_with_those_removed_last(cls: Any, k: int) -> None:
    policy = cls()
    state = played_to_the_end(policy, 6, k)
    rng = generator()
    chosen = policy.select(state, rng).copy()
    assert chosen.tolist() == [0, *state.removed[5 - k + 1 : 5][::-1].tolist()]
    assert policy.certain_rounds(state, chosen) >= 10**12
    one_by_one, at_once = copy.deepcopy(state), copy.deepcopy(state)
    for _ in range(50):
        policy.update(one_by_one, chosen, weighted_winner(np.ones(6), chosen, rng), rng)
        assert policy.select(one_by_one, rng).tolist() == chosen.tolist()
    policy.update_many(at_once, chosen, np.full(k, 50.0 / k), 50)
    assert one_by_one.rounds[0] == at_once.rounds[0] == state.rounds[0] + 50
    for field in set(state._fields) - {"rounds", "lack", "standing"}:
        assert np.array_equal(getattr(one_by_one, field), getattr(state, field)), field
        assert np.array_equal(getattr(at_once, field), getattr(state, field)), field


@explorers
def test_nothing_is_certain_before_the_end(cls: Any) -> None:
    policy = cls()
    rng = generator()
    state = policy.init(6, 3, 1000, rng)
    for _ in range(100):
        chosen = policy.select(state, rng).copy()
        assert policy.certain_rounds(state, chosen) == 1
        policy.update(state, chosen, best_of(chosen), rng)


@explorers
def test_rounds_of_arms_that_are_out_by_now_are_ignored(cls: Any) -> None:
    policy = cls()
    rng = generator(9)
    state = policy.init(6, 2, 2, rng)
    out = np.flatnonzero(state.active)[:2]
    for arm in out:
        remove(arm, state.active, state.removed, state.gone)
    before = copy.deepcopy(state)
    policy.update(state, out, [1, 0], rng)
    policy.update(state, [out[0], np.flatnonzero(state.active)[0]], [0, 1], rng)
    assert state.rounds[0] == before.rounds[0] + 2
    for field, now, then in zip(state._fields, state, before, strict=True):
        assert np.array_equal(now, then) or field == "rounds", field


# Battling


def test_copies_of_two_arms_keep_the_better_one_better_in_the_pairwise_subset_model() -> None:
    """The formula that the original rests on, from the model itself: the winner is that of a random pair of places."""

    def chance(places: list[str], better: Fraction) -> Fraction:
        duel = {("a", "b"): better, ("b", "a"): 1 - better, ("a", "a"): Fraction(1, 2), ("b", "b"): Fraction(1, 2)}
        k = len(places)
        return sum(
            2 * duel[places[i], places[j]] / (k * (k - 1))
            for i, j in itertools.permutations(range(k), 2)
            if places[i] == "a"
        )

    assert float(chance(list("aabb"), Fraction(7, 10))) == pytest.approx(0.6333, abs=5e-5)
    for k in (2, 4, 6, 10):
        for better in (Fraction(1, 2), Fraction(7, 10), Fraction(1)):
            edge = better - Fraction(1, 2)
            assert chance(["a", "b"] * (k // 2), better) == Fraction(1, 2) + k * edge / (2 * (k - 1))


def test_battling_by_duels_of_two_arms_is_rucb() -> None:
    weights = np.array([1.0, 4.0, 2.0, 0.5])
    battling, base = BattlingDuel(alpha=0.6), RUCB(alpha=0.6)
    one, two = generator(10), generator(10)
    left, right = battling.init(4, 2, 100, one), base.init(4, 2, 100, two)
    for _ in range(1500):
        chosen = battling.select(left, one).copy()
        assert np.array_equal(chosen, base.select(right, two))
        rewards = weighted_winner(weights, chosen, one, outside=0.3)
        assert np.array_equal(rewards, weighted_winner(weights, chosen, two, outside=0.3))
        battling.update(left, chosen, rewards, one)
        base.update(right, chosen, rewards, two)
        for field in ("wins", "rounds", "hypothesis", "beaten"):
            assert np.array_equal(getattr(left, field), getattr(right, field))
    assert left.hypothesis[0] == 1


def test_battling_by_duels_plays_the_arms_of_next_largest_bound_beside_the_two() -> None:
    policy = BattlingDuel()
    rng = generator(12)
    state = policy.init(7, 4, 100, rng)
    weights = np.arange(1.0, 8.0)
    for turn in range(400):
        chosen = policy.select(state, rng).copy()
        first = chosen[0]
        both = state.wins + state.wins.T
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = (state.wins / both + np.sqrt(0.51 * math.log(turn + 1) / both))[:, first]
        bound[both[:, first] == 0] = 2.0
        rest = np.delete(bound, [first])
        assert bound[chosen[1]] >= rest.max() * (1 - 1e-12)
        assert bound[chosen[1:]].min() >= np.delete(bound, chosen).max() * (1 - 1e-12)
        wins = state.wins.copy()
        rewards = weighted_winner(weights, chosen, rng, outside=1.0)
        policy.update(state, chosen, rewards, rng)
        changed = np.argwhere(state.wins != wins).tolist()
        winner = rewards.argmax() if rewards.any() else -1
        assert changed == ([[chosen[winner], chosen[1 - winner]]] if winner in (0, 1) else [])
    assert state.rounds[0] == 400


def test_the_doubler_plays_epochs_of_doubling_length_against_the_epoch_before() -> None:
    policy = BattlingDoubler(alpha=0.51)
    rng = generator(13)
    n, k = 6, 4
    state = policy.init(n, k, 100, rng)
    weights = np.arange(1.0, 7.0)
    before = state.before.tolist()
    assert sorted(before) == [0] * (n - 1) + [1]
    length, choices, won = 1, [], np.zeros(n)
    for _ in range(1500):
        chosen = policy.select(state, rng).copy()
        plays = np.bincount(choices, minlength=n)
        with np.errstate(divide="ignore", invalid="ignore"):
            index = won / plays + np.sqrt(0.51 * math.log(len(choices) + 1) / plays)
        index[plays == 0] = np.inf
        assert index[chosen[0]] >= index.max() * (1 - 1e-12)
        drawn = [arm for arm in np.flatnonzero(before) if arm != chosen[0]]
        assert set(chosen[1 : 1 + len(drawn)].tolist()) <= set(drawn)
        padding = chosen[1 + len(drawn) :]
        if len(padding):
            assert index[padding].min() >= np.delete(index, chosen).max() * (1 - 1e-12)
        rewards = weighted_winner(weights, chosen, rng, outside=1.0)
        policy.update(state, chosen, rewards, rng)
        if rewards[:2].any():
            choices.append(int(chosen[0]))
            won[chosen[0]] += rewards[0]
            if len(choices) == length:
                before = np.bincount(choices, minlength=n).tolist()
                length, choices, won = 2 * length, [], np.zeros(n)
        assert state.length[0] == length
        assert state.before.tolist() == before
        assert state.pulls.tolist() == np.bincount(choices, minlength=n).tolist()
        assert state.reward.tolist() == won.tolist()
    assert length >= 256


def test_the_doubler_draws_opponents_as_often_as_they_were_chosen() -> None:
    policy = BattlingDoubler()
    rng = generator(14)
    state = policy.init(5, 2, 100, rng)
    state.before[:] = [8, 1, 0, 3, 4]
    state.pulls[:] = 10
    state.reward[:] = [9, 1, 1, 1, 1]
    rounds = 4000
    met = np.zeros(5)
    for _ in range(rounds):
        chosen = policy.select(state, rng)
        assert chosen[0] == 0
        met[chosen[1]] += 1
    assert met[0] == met[2] == 0
    assert all(lies_near(met[arm], rounds, share) for arm, share in [(1, 1 / 8), (3, 3 / 8), (4, 4 / 8)])


def test_the_bandit_of_the_current_arm_chooses_its_opponent_who_is_current_next() -> None:
    policy = BattlingMultiSBM(alpha=0.8)
    rng = generator(15)
    n, k = 5, 3
    state = policy.init(n, k, 100, rng)
    current = int(state.current[0])
    plays, won = np.zeros((n, n)), np.zeros((n, n))
    weights = np.arange(1.0, 6.0)
    for _ in range(1500):
        chosen = policy.select(state, rng).copy()
        assert chosen[0] == current
        with np.errstate(divide="ignore", invalid="ignore"):
            index = won[current] / plays[current] + np.sqrt(0.8 * math.log(plays[current].sum() + 1) / plays[current])
        index[plays[current] == 0] = np.inf
        others = np.delete(np.arange(n), current)
        assert index[chosen[1]] >= index[others].max() * (1 - 1e-12)
        assert index[chosen[1:]].min() >= index[np.setdiff1d(others, chosen)].max() * (1 - 1e-12)
        rewards = weighted_winner(weights, chosen, rng, outside=1.0)
        policy.update(state, chosen, rewards, rng)
        if rewards[:2].any():
            plays[current, chosen[1]] += 1
            won[current, chosen[1]] += rewards[1]
            current = int(chosen[1])
        assert state.current[0] == current
        assert np.array_equal(state.pulls, plays)
        assert np.array_equal(state.reward, won)
    assert (plays.sum(axis=1) > 0).all()
