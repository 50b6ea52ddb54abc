"""Duels: strong and weak regret by hand and by brute force, and policies that let an arm meet itself."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

import setwise as sw
from reference.sets import means_of
from setwise import InputError
from setwise.environments import PRESETS, Duels, FullBandit
from setwise.environments.tabulated import can_tabulate
from setwise.policies._pairs import NOBODY
from setwise.testing import check_environment, check_policy, check_same_bits

P = [[0.5, 0.7, 0.9], [0.3, 0.5, 0.6], [0.1, 0.4, 0.5]]
WORLD = Duels(P)
POLICIES = [
    sw.RUCB, sw.Sparring, sw.SelfSparring, sw.InterleavedFilter, sw.BeatTheMean, sw.MultiDueling, sw.MaxMinUCB,
    sw.WinnerBeatsAll, sw.BattlingDuel, sw.BattlingDoubler, sw.BattlingMultiSBM,
]  # fmt: skip


def duels_of(world: Any) -> list[tuple[int, ...]]:
    return [*itertools.combinations(range(world.n), 2), *((arm,) for arm in range(world.n))]


def test_a_duel_by_hand() -> None:
    assert means_of(WORLD, [0, 1]).tolist() == [0.7, 0.3] and means_of(WORLD, [2, 0]).tolist() == [0.1, 0.9]
    assert means_of(WORLD, [2]).tolist() == [1.0]
    assert (WORLD.n, WORLD.k, WORLD.winner, WORLD.best().tolist()) == (3, 2, 0, [0])


@pytest.mark.parametrize("world", [WORLD, PRESETS["duels"]()], ids=["small", "preset"])
def test_regret_is_that_of_the_duelling_literature(world: Any) -> None:
    """Strong: the mean of the gaps P_ci - 1/2 of both arms; weak: the smaller. An arm against itself counts twice."""
    winner = world.winner
    assert (np.delete(world.preferences[winner], winner) > 0.5).all()
    strongs = []
    for duel in duels_of(world):
        i, j = duel[0], duel[-1]
        gaps = [world.preferences[winner, arm] - 0.5 for arm in (i, j)]
        result = sw.simulate(sw.Oracle(duel, pad=False), world, 10, compiled=False, checkpoints=[1])
        assert result.regret[0] == pytest.approx([sum(gaps) / 2, 10 * sum(gaps) / 2], abs=1e-12)
        assert result.surrogate_regret[0] == pytest.approx([min(gaps), 10 * min(gaps)], abs=1e-12)
        assert result.smaller.tolist() == [10 if len(duel) == 1 else 0]
        strongs.append(sum(gaps) / 2)
    assert world.gaps() == pytest.approx((min(strong for strong in strongs if strong > 1e-12), max(strongs)))


def test_only_the_winner_against_itself_has_no_regret() -> None:
    assert sw.Oracle.for_world(WORLD).arms.tolist() == [0]
    result = sw.simulate(sw.Oracle.for_world(WORLD), WORLD, 1000)
    assert result.regret.max() == result.surrogate_regret.max() == 0.0
    assert sw.simulate(sw.Oracle([0, 1]), WORLD, 1000).regret[0, -1] == pytest.approx(100.0)
    assert sw.simulate(sw.Oracle([0, 1]), WORLD, 1000).surrogate_regret[0, -1] == 0.0


def test_duels_keep_the_contract() -> None:
    check_environment(WORLD, draws=1500)


@pytest.mark.parametrize(
    ("preferences", "words"),
    [
        ([[0.5, 0.7, 0.9], [0.3, 0.5, 0.6]], r"preferences has the shape \(2, 3\); it has to be square"),
        ([[0.5, 0.7], [0.4, 0.5]], r"preferences is 0.7 at \(0, 1\) and 0.4 at \(1, 0\); .* have to add up to 1"),
        ([[0.0, 0.7], [0.3, 0.5]], r"preferences is 0 at \(0, 0\); an arm beats itself with probability 1/2"),
        ([[0.5, 1.2], [-0.2, 0.5]], r"preferences is 1.2 at position 0, 1"),
        (
            [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]],
            r"no arm beats all of the 2 others with more than 1/2, arm 0 only 1 of them; regret is counted from",
        ),
        ([[0.5, 0.5], [0.5, 0.5]], r"no arm beats all of the 1 others"),
        ([[0.5]], r"k=2 is more than"),
    ],
)
def test_impossible_duels_are_refused(preferences: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Duels(preferences)


@pytest.mark.parametrize("kind", POLICIES)
def test_strong_regret_stops_growing_with_self_duels_and_grows_linearly_without(kind: Any) -> None:
    """The least strong regret of two distinct arms is 0.05 a round; with self-duels it is far below that in the end."""
    world, horizon = PRESETS["duels"](), 400_000
    half = horizon // 2
    alone, padded = (
        sw.simulate(kind(pad=pad), world, horizon, runs=4, seed=1, checkpoints=[half]).regret for pad in (False, True)
    )
    assert ((padded[:, 1] - padded[:, 0]) / half >= world.gaps()[0] - 1e-9).all()
    assert (alone[:, 1] - alone[:, 0]).mean() / half < 0.1 * world.gaps()[0]


def test_rucb_lets_its_best_arm_meet_itself() -> None:
    """The second half costs less than 5 % of what two distinct arms would, and nearly all duels are of one arm."""
    result = sw.simulate(sw.RUCB(pad=False), WORLD, 100_000, runs=4, checkpoints=[50_000])
    assert (result.regret[:, 1] - result.regret[:, 0]).mean() < 0.05 * 50_000 * WORLD.gaps()[0]
    assert result.smaller.min() > 90_000 and set(result.pulls.argmax(axis=1)) == {0}


def test_rucb_plays_an_arm_alone_only_if_no_other_may_beat_it() -> None:
    policy, rng = sw.RUCB(pad=False), np.random.default_rng(0)
    state = policy.init(4, 3, 100, rng)
    state.rounds[0] = 1
    assert sorted(policy.select(state, rng).tolist()) != [0] and len(policy.select(state, rng)) == 3
    state.share[:] = np.where(np.eye(4) == 1, np.inf, 0.4)  # without any spread these are the bounds
    state.share[0, 1:] = 0.6
    state.beaten[:] = [0, 1, 1, 1]
    state.hypothesis[0] = 0
    assert policy.select(state, rng).tolist() == [0]
    state.share[2, 0] = 0.5
    assert policy.select(state, rng).tolist() == [0, 2]
    assert sorted(sw.RUCB().select(state, rng).tolist())[0] == 0 and len(sw.RUCB().select(state, rng)) == 3
    assert sw.BattlingDuel(pad=False).select(state, rng).tolist() == [0, 2]
    before = state.wins.copy()
    policy.update(state, np.array([0]), np.array([1.0]), rng)
    assert np.array_equal(state.wins, before) and state.rounds[0] == 2 and state.hypothesis[0] in (0, NOBODY)


def test_copies_that_choose_the_same_arm_share_its_wins_by_a_coin() -> None:
    policy, rng = sw.Sparring(pad=False), np.random.default_rng(0)
    state = policy.init(3, 2, 100, rng)
    state.pulls[:] = 1000
    state.reward[:, 1] = 900.0
    assert policy.select(state, rng).tolist() == [1]
    for _ in range(400):
        policy.update(state, np.array([1]), np.array([1.0]), rng)
    assert state.pulls[:, 1].tolist() == [1400, 1400] and state.reward[:, 1].sum() == 2200.0
    assert abs(state.reward[0, 1] - 1100.0) < 6 * 10.0  # six standard deviations of 400 fair coins
    with pytest.raises(InputError, match=r"Sparring with pad=False plays duels, so a set has 2 arms; k is 3"):
        policy.init(5, 3, 100, rng)


def test_samples_of_the_same_arm_fill_one_place() -> None:
    policy, rng = sw.SelfSparring(pad=False), np.random.default_rng(0)
    state = policy.init(5, 3, 100, rng)
    assert {len(policy.select(state, rng)) for _ in range(100)} == {1, 2, 3}
    state.successes[4] = 10**6
    assert policy.select(state, rng).tolist() == [4]
    policy.update(state, np.array([4]), np.array([1.0]), rng)
    assert state.successes.sum() == 10**6 and state.failures.sum() == 0


def test_the_last_arm_is_played_alone() -> None:
    rng = np.random.default_rng(0)
    for policy in (sw.InterleavedFilter(pad=False), sw.BeatTheMean(pad=False)):
        state = policy.init(3, 2, 100, rng)
        assert len(policy.select(state, rng)) == 2
        winner = state.candidate[0] if hasattr(state, "candidate") else 0
        for arm in sorted({0, 1, 2} - {int(winner)}):
            state.active[arm] = 0
            state.removed[state.gone[0]] = arm
            state.gone[0] += 1
        assert policy.select(state, rng).tolist() == [winner]
        assert policy.certain_rounds(state, np.array([winner])) > 10**9
        assert len(type(policy)().select(state, rng)) == 2


def test_bandits_that_choose_their_own_opponent_learn_from_a_coin() -> None:
    rng = np.random.default_rng(0)
    doubler = sw.BattlingDoubler(pad=False)
    state = doubler.init(3, 2, 100, rng)
    state.length[0], state.pulls[:], state.before[:] = 10**6, 1000, [0, 0, 1]
    state.reward[2] = 1000.0
    assert doubler.select(state, rng).tolist() == [2]
    for _ in range(400):
        doubler.update(state, np.array([2]), np.array([1.0]), rng)
    assert state.steps[0] == 400 and state.pulls[2] == 1400 and abs(state.reward[2] - 1200.0) < 60.0
    many = sw.BattlingMultiSBM(pad=False)
    state = many.init(3, 2, 100, rng)
    state.current[0], state.pulls[:], state.reward[1, 1] = 1, 1000, 1000.0
    assert many.select(state, rng).tolist() == [1]
    for _ in range(400):
        many.update(state, np.array([1]), np.array([1.0]), rng)
    assert state.steps[1] == 400 and state.pulls[1, 1] == 1400 and abs(state.reward[1, 1] - 1200.0) < 60.0
    many.update(state, np.array([1, 2]), np.array([0.0, 1.0]), rng)
    assert state.current[0] == 2 and state.reward[1, 2] == 1.0


@pytest.mark.parametrize("kind", POLICIES)
def test_policies_with_self_duels_keep_the_contract(kind: Any) -> None:
    check_policy(kind(pad=False), WORLD, compiled=False)
    check_same_bits(kind(pad=False), WORLD)


def test_what_is_about_the_sum_of_means_refuses_duels() -> None:
    with pytest.raises(InputError, match=r"Duels counts regret by its own value, .* by playing them: setwise"):
        sw.check(WORLD)
    with pytest.raises(InputError, match=r"FullBandit: Duels counts regret by its own value"):
        FullBandit(WORLD)
    assert not can_tabulate(WORLD)
    one, two = (sw.simulate(sw.RUCB(), WORLD, 500, compiled=False, tabulate=tabulate) for tabulate in (False, True))
    assert np.array_equal(one.regret, two.regret)


def test_a_value_of_ones_own_counts_regret_and_a_field_of_that_name_does_not() -> None:
    class Base(NamedTuple):
        value: float = 0.25
        n: int = 3
        k: int = 2

        def means(self, chosen: Any, out: Any) -> None:
            for j in range(len(chosen)):
                out[j] = self.value

        def draw(self, chosen: Any, rng: Any, rewards: Any) -> None:
            for j in range(len(chosen)):
                rewards[j] = self.value

        def best(self) -> Any:
            return np.array([0, 1])

    world = sw.environment(feedback="independent")(Base)()
    assert sw.simulate(sw.Oracle([1, 2]), world, 10, compiled=False).regret[0, -1] == 0.0

    @sw.environment(feedback="independent")
    class Sized(NamedTuple):
        n: int = 3
        k: int = 2

        def means(self, chosen: Any, out: Any) -> None:
            for j in range(len(chosen)):
                out[j] = 0.5

        def draw(self, chosen: Any, rng: Any, rewards: Any) -> None:
            for j in range(len(chosen)):
                rewards[j] = 0.5

        def value(self, chosen: Any) -> float:
            return 10.0 - chosen[0] - chosen[1]

        def values(self) -> float:
            return 1.0

        def best(self) -> Any:
            return np.array([0, 1])

    for compiled in (False, True):
        assert sw.simulate(sw.Oracle([1, 2]), Sized(), 10, compiled=compiled).regret[0, -1] == 20.0
    check_environment(Sized(), draws=100, compiled=False)
