"""The certificate against weak optimal set consistency: what it says is true, and all ways to play say the same."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import setwise as sw
from reference.certificate import PlainCertificate
from setwise import environments as models
from setwise.compiled import DEFAULTS
from setwise.compiler.compile import compile_function
from setwise.environments.ordered import set_value
from setwise.kernels.certificate import REFUTED, ROUNDS, VALUES
from setwise.kernels.draws import draw_binary
from setwise.kernels.random_set import random_set
from setwise.simulation.certificate import Bound, refutations, watch_of
from setwise.simulation.checks import check_request
from setwise.simulation.play import play
from setwise.simulation.simulate import Runs
from setwise.types import Feedback, Floats, Generator, Ints

NAMES = ("tea", "milk", "rum", "lime", "mint")
TRAP = models.PRESETS["trap"]()


def hidden(feedback: str = "choice") -> Any:
    """A world far from the assumption: two arms earn a lot together and little in other company."""
    table = dict.fromkeys(itertools.combinations(range(5), 2), (0.15, 0.15))
    return models.Table({**table, (1, 3): (0.45, 0.4)}, feedback=feedback, names=NAMES)


BROKEN = hidden()


def request_of(policy: Any, world: Any, horizon: int, **options: Any) -> Any:
    given = {
        "checkpoints": 5, "fast_forward": None, "compiled": None, "common": False, "certificate": 0.95, **options,
    }  # fmt: skip
    return check_request(
        policy, world, horizon, 2, 0, given["checkpoints"], "log", given["fast_forward"], False, 0, False,
        given["compiled"], False, given["common"], given["certificate"],
    )  # fmt: skip


# What it says.


@pytest.mark.parametrize("fast_forward", [False, True])
@pytest.mark.parametrize("feedback", ["choice", "independent"])
@pytest.mark.parametrize("policy", [sw.UCB(), sw.Uniform()], ids=repr)
def test_the_witness_is_one(policy: Any, feedback: str, fast_forward: bool) -> None:
    """Fixed seeds: each of these 16 runs misses one of its bounds with a probability of at most 0.05."""
    world = hidden(feedback)
    assert sw.check(world).consistency.holds is False
    result = sw.simulate(policy, world, 20_000, 2, seed=3, fast_forward=fast_forward, certificate=0.95)
    assert result.refuted is not None and (result.refuted > 0).all()
    for run in range(2):
        found = result.certificate_of(run)
        assert found.refuted == result.refuted[run] <= found.rounds == 20_000 and found.confidence == 0.95
        assert found.better is not None and found.lower is not None and len(found.bounds) == world.k
        assert sum(bound.value for bound in found.bounds) < found.lower <= total_of(world, found.better)
        assert {*found.better} == {"milk", "lime"}
        assert len({bound.arm for bound in found.bounds}) == world.k
        for bound in found.bounds:
            if bound.company is not None:
                assert bound.arm in bound.company and len(set(bound.company)) == world.k
                assert bound.value >= mean_of(world, bound.arm, bound.company)


def total_of(world: Any, names: tuple[Any, ...]) -> float:
    return set_value(world, [NAMES.index(name) for name in names])


def mean_of(world: Any, name: str, names: tuple[Any, ...]) -> float:
    chosen, means = np.array([NAMES.index(other) for other in names]), np.zeros(len(names))
    world.means(chosen, means)
    return float(means[names.index(name)])


def test_a_refutation_is_told_with_its_sets() -> None:
    text = str(sw.simulate(sw.UCB(), BROKEN, 20_000, seed=3, certificate=0.95).certificate_of(0))
    first, second, *others = text.splitlines()
    assert first.startswith("Weak optimal set consistency is refuted, at confidence 0.95, in round ")
    assert "but the set {" in second and "milk" in second and "lime" in second and len(others) == 2
    assert all(" earns at most that, in " in line for line in others)
    unnamed = BROKEN._replace(names=None)
    found = sw.simulate(sw.UCB(), unnamed, 20_000, seed=3, certificate=0.95).certificate_of(0)
    assert ": arm " in str(found) and set(found.better or ()) == {1, 3}
    everywhere = sw.theory.Certificate(0.9, 70, 60, (0, 1), 0.7, (Bound(0, 0.3, None), Bound(2, 0.2, (2, 4))))
    assert str(everywhere).splitlines()[1:] == [
        "If it held, no set could earn more than 0.5 on average, but the set {0, 1} earns at least 0.7. The limit is "
        "the sum of",
        "  0.3: arm 0 earns at most that, in all company",
        "  0.2: arm 2 earns at most that, in the set {2, 4}",
    ]


def test_silence_is_told_as_such() -> None:
    result = sw.simulate(sw.UCB(), TRAP, 500, 2, certificate=0.9)
    assert str(result.certificate_of(1)) == (
        "Weak optimal set consistency was not refuted in 500 rounds at confidence 0.9. That does not prove it: only "
        "sets that were played can speak against it."
    )
    assert refutations(result) == "0 of 2"


def test_refutations_are_counted() -> None:
    result = sw.simulate(sw.Uniform(), BROKEN, 20_000, 3, certificate=0.95)
    rounds = sorted((result.refuted if result.refuted is not None else result.pulls[:, 0]).tolist())
    assert refutations(result) == f"3 of 3, median round {rounds[1]:,}"
    assert refutations(result.take(1)).startswith("1 of 1, round ")


# The same as a plain one, in all ways to play.


class Diary(NamedTuple):
    round: Ints
    chosen: Ints
    sets: Ints
    rewards: Floats


@sw.policy
class Writes(NamedTuple):
    """Plays random sets, one of them often, and writes down what it sees."""

    often: float = 0.3

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> Diary:
        return Diary(np.zeros(1, np.int64), np.arange(n), np.zeros((horizon, k), np.int64), np.zeros((horizon, k)))

    def select(self, state: Diary, rng: Generator) -> Ints:
        k = state.sets.shape[1]
        if rng.random() < self.often:
            state.chosen[0], state.chosen[1] = 3, 1
            state.chosen[2], state.chosen[3], state.chosen[4] = 0, 2, 4
        else:
            for j in range(k):
                other = j + int(rng.random() * (len(state.chosen) - j))
                kept = state.chosen[j]
                state.chosen[j] = state.chosen[other]
                state.chosen[other] = kept
        return state.chosen[:k]

    def update(self, state: Diary, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        for j in range(len(chosen)):
            state.sets[state.round[0], j] = chosen[j]
            state.rewards[state.round[0], j] = rewards[j]
        state.round[0] += 1


LIMITS = {  # bound, largest total, values that a total counts as
    "choice": (BROKEN, 1.0, 1.0, 1),
    "independent": (hidden("independent"), 1.0, 2.0, 2),
    "prices": (models.Scaled(BROKEN, [4.0, 5.0, 1.0, 5.0, 3.0]), 5.0, 5.0, 1),
    "independent prices": (models.Scaled(hidden("independent"), [4.0, 5.0, 1.0, 5.0, 3.0]), 5.0, 10.0, 1),
}


@pytest.mark.parametrize("common", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", LIMITS)
def test_a_run_has_the_certificate_of_a_plain_one_on_its_rounds(name: str, compiled: bool, common: bool) -> None:
    world, bound, most, values = LIMITS[name]
    horizon = 4000 if compiled else 1500
    request = request_of(Writes(), world, horizon, compiled=compiled, common=common, certificate=0.9)
    player = Runs(request)._tiers.new_player()
    player.play(1)
    record = player.play(0)
    plain = PlainCertificate(5, 2, bound, most, values, 0.1)
    diary = player.start[0]
    for chosen, rewards in zip(diary.sets.tolist(), diary.rewards.tolist(), strict=True):
        plain.add(chosen, rewards, 1)
    assert record.watch is not None
    assert record.watch.counts.tolist()[0] == horizon and record.watch.counts[REFUTED] == (plain.refuted or 0)
    if compiled:
        assert plain.witness is not None and set(record.watch.witness[0, 2:]) == plain.witness.better == {1, 3}
        assert record.watch.witness[0, 0] == pytest.approx(plain.witness.lower, rel=1e-9)
        found = [(value, arm) for value, arm, _ in plain.witness.bounds]
        assert record.watch.witness[1:, :2].tolist() == [pytest.approx(pair, rel=1e-9) for pair in found]


class Shown(NamedTuple):
    row: Ints
    chosen: Ints
    arms: Ints
    sets: Ints
    rewards: Floats
    rounds: Ints


@sw.policy
class Overwrites(NamedTuple):
    """Plays random sets, writes down what it sees, and then the next set into the buffer of the last one.

    epochs: whether it keeps a set until nothing is earned
    """

    epochs: bool = False

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> Shown:
        sets, rewards, rounds = np.zeros((horizon, k), np.int64), np.zeros((horizon, k)), np.zeros(horizon, np.int64)
        return Shown(np.zeros(1, np.int64), np.arange(k), np.arange(n), sets, rewards, rounds)

    def select(self, state: Shown, rng: Generator) -> Ints:
        return state.chosen

    def update(self, state: Shown, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        self.update_many(state, chosen, rewards, 1)
        state.row[0] += 1
        random_set(state.arms, state.chosen, rng)

    def certain_rounds(self, state: Shown, chosen: Ints) -> int:
        return 1

    def update_many(self, state: Shown, chosen: Ints, totals: Floats, rounds: int) -> None:
        row = state.row[0]
        state.rounds[row] += rounds
        for j in range(len(chosen)):
            state.sets[row, j] = chosen[j]
            state.rewards[row, j] += totals[j]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("epochs", [False, True])
def test_rewards_count_for_the_set_that_earned_them(epochs: bool, compiled: bool) -> None:
    """Not for the next one, which may be in the buffer of that set before the test sees the rewards."""
    horizon = 3000
    request = request_of(Overwrites(epochs), BROKEN, horizon, compiled=compiled, checkpoints=1)
    player = Runs(request)._tiers.new_player()
    watch = player.play(0).watch
    plain, state = PlainCertificate(5, 2, 1.0, 1.0, 1, 0.05), player.start[0]
    for chosen, rewards, rounds in zip(state.sets.tolist(), state.rewards, state.rounds.tolist(), strict=True):
        if rounds:
            plain.add(chosen, rewards.tolist(), rounds)
    assert (state.rounds.max() > 1) == epochs and state.rounds.sum() == horizon
    assert watch is not None and watch.counts[REFUTED] == (plain.refuted or 0)
    assert watch.pulls.tolist() == plain.pulls and watch.reward.tolist() == plain.reward


@pytest.mark.parametrize("fast_forward", [False, True])
def test_interpreted_and_compiled_runs_have_the_same_bits(fast_forward: bool) -> None:
    settings = {"runs": 2, "seed": 1, "fast_forward": fast_forward, "certificate": 0.95}
    one, two = (sw.simulate(sw.UCB(), BROKEN, 3000, compiled=compiled, **settings) for compiled in (False, True))
    assert one.refuted is not None and (one.refuted > 0).any()
    for name in ("regret", "refuted", "witnesses"):
        assert (getattr(one, name) == getattr(two, name)).all()


def test_it_compiles_without_numba() -> None:
    with_test, without = (
        compile_function(play, Runs(request_of(sw.UCB(), BROKEN, 100, certificate=level)).game.take_first(), DEFAULTS)
        for level in (0.95, None)
    )
    assert with_test.functions > without.functions, "what is not asked for is not compiled"


PLAYERS = [
    sw.UCB(), sw.KLUCB(), sw.Thompson(), sw.SetThompson(), sw.MNLUCB(), sw.MNLThompson(), sw.StagewiseElimination(),
    sw.BattlingDuel(pad=False),
]  # fmt: skip


@pytest.mark.parametrize("policy", PLAYERS, ids=repr)
def test_it_changes_nothing_else(policy: Any) -> None:
    world = models.MNL([0.9, 0.5, 0.2, 0.4, 0.8], k=2)
    plain, tested = (sw.simulate(policy, world, 3000, 3, seed=2, certificate=level) for level in (None, 0.95))
    assert (plain.regret == tested.regret).all() and (plain.pulls == tested.pulls).all()
    assert plain.fast_forward == tested.fast_forward and plain.refuted is None is plain.witnesses


@pytest.mark.parametrize("policy", [sw.MNLUCB(), sw.UCB()], ids=repr)
def test_rewards_of_rounds_played_at_once_are_seen(policy: Any) -> None:
    """With one set alone, an arm's rewards are binomial; false alarm below 1e-6 for each of four arms."""
    world = models.MNL([0.9, 0.5], k=2)
    request = request_of(policy, world, 50_000)
    assert request.fast
    watch = Runs(request)._tiers.new_player().play(0).watch
    assert watch is not None and watch.counts[ROUNDS] == 50_000 and (watch.pulls == 50_000).all()
    means = np.zeros(2)
    world.means(np.arange(2), means)
    spread = np.sqrt(50_000 * means * (1.0 - means))
    assert (np.abs(watch.reward - 50_000 * means) < 5.0 * spread).all()


def test_rounds_of_fewer_arms_do_not_count() -> None:
    world = models.MNL([0.9, 0.5, 0.2, 0.4], k=3)
    request = request_of(sw.BattlingDuel(pad=False), world, 5000)
    record = Runs(request)._tiers.new_player().play(0)
    assert record.watch is not None and record.watch.counts[ROUNDS] == 5000
    assert record.smaller[0] > 0, "there are such rounds"
    assert record.watch.pulls.sum() == 3 * (5000 - record.smaller[0])


def test_engines_give_the_same_bits() -> None:
    here = sw.simulate(sw.UCB(), BROKEN, 2000, 3, certificate=0.95)
    there = sw.simulate(sw.UCB(), BROKEN, 2000, 3, certificate=0.95, engine="processes", threads=2)
    assert (here.refuted == there.refuted).all() and (here.witnesses == there.witnesses).all()
    assert there.certificate == 0.95


# In results.


def test_results_keep_it(tmp_path: Any) -> None:
    result = sw.simulate(sw.Uniform(), BROKEN, 5000, 4, certificate=0.95)
    result.save(tmp_path / "tested.npz")
    read = sw.Result.load(tmp_path / "tested.npz")
    parts = [read.take(1), read.drop(1).take(2), read.drop(3)]
    joined = sw.Result.join(parts)
    for found in (read, joined):
        assert found.certificate == 0.95 and (found.refuted == result.refuted).all()
        assert [found.certificate_of(run) for run in range(4)] == [result.certificate_of(run) for run in range(4)]
    assert parts[1].certificate_of(1) == result.certificate_of(2)
    assert len({str(result.certificate_of(run)) for run in range(4)}) > 1, "the runs differ"
    again = sw.simulate(sw.Uniform(), BROKEN, 5000, 3, certificate=0.95, first_run=1)
    assert (again.witnesses == result.drop(1).witnesses).all()
    other = sw.simulate(sw.Uniform(), BROKEN, 5000, 1, certificate=0.9, first_run=1)
    with pytest.raises(sw.InputError, match="cannot be joined"):
        sw.Result.join([parts[0], other])


def test_a_run_that_is_not_there_or_was_not_tested_is_told() -> None:
    tested = sw.simulate(sw.UCB(), BROKEN, 50, 2, certificate=0.95)
    for run, sentence in (
        (2, "run is 2; there are 2 runs, numbered from 0"),
        (-1, "less than 0"),
        (0.5, "not a whole"),
    ):
        with pytest.raises(sw.InputError, match=sentence):
            tested.certificate_of(run)  # type: ignore[arg-type]
    with pytest.raises(sw.InputError, match=r"these runs were not tested: play them with certificate=0\.95"):
        sw.simulate(sw.UCB(), BROKEN, 50).certificate_of(0)


@pytest.mark.parametrize(
    ("confidence", "sentence"),
    [
        (1.5, "certificate is 1.5; it is the confidence of the test, above 0 and below 1, such as 0.95"),
        (95, "certificate is 95; it is the confidence"),
        (1, "certificate is 1; it is the confidence"),
        (0, "certificate is 0; it is the confidence"),
        (-0.1, "certificate is -0.1; it is the confidence"),
        (math.nan, r"certificate is not a number \(NaN\)"),
        ("x", "certificate is 'x', which is not a number"),
        (True, "certificate is True, which is not a number"),
        ([0.95], r"certificate is \[0.95\], which is not a number"),
    ],
)
def test_what_is_no_confidence_is_told(confidence: Any, sentence: str) -> None:
    with pytest.raises(sw.InputError, match=f"^{sentence}"):
        sw.simulate(sw.UCB(), BROKEN, 10, certificate=confidence)


@sw.environment(rewards="binary")
class Correlated(NamedTuple):
    """Rewards of 0 and 1 without stated feedback: all arms of a set or none."""

    n: int = 4
    k: int = 2
    largest: float = 1.0

    @property
    def bound(self) -> float:
        return self.largest

    def means(self, chosen: Ints, out: Floats) -> None:
        for j in range(len(chosen)):
            out[j] = 0.5

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        both = 1.0 if rng.random() < 0.5 else 0.0
        for j in range(len(chosen)):
            rewards[j] = both

    def best(self) -> Ints:
        return np.arange(self.k)


@pytest.mark.parametrize(
    ("policy", "world", "reason"),
    [
        (sw.UCB(), models.PRESETS["cascade"](), "needs the reward of every arm, and Cascade hides some"),
        (sw.Uniform(), models.PRESETS["full-bandit"](), "needs the reward of every arm, and FullBandit gives totals"),
        (sw.UCB(), models.PRESETS["duels"](), "tests what sets earn, and Duels counts regret by a value of its own"),
        (sw.UCB(), models.PRESETS["coverage"](), "and in Coverage that depends on the order of the set"),
        (
            sw.UCB(),
            models.Cascade([0.5, 0.4, 0.3], 2, missing=False),
            "in Cascade that depends on the order of the set",
        ),
        (
            sw.Uniform(),
            Correlated(largest=math.inf),
            "needs the largest reward there can be, and Correlated has bound=inf",
        ),
    ],
)
def test_worlds_that_cannot_be_tested_are_refused(policy: Any, world: Any, reason: str) -> None:
    with pytest.raises(sw.InputError, match=f"^certificate .*{reason}; leave certificate out$"):
        sw.simulate(policy, world, 10, certificate=0.95)
    sw.simulate(policy, world, 10)


def test_only_rewards_drawn_independently_count_one_by_one() -> None:
    """Rewards of all arms or none would count as k values each, and be refuted far too often."""
    for world, values in ((Correlated(), 1), (hidden("independent"), 2), (BROKEN, 1)):
        watch = watch_of(request_of(sw.UCB(), world, 10))
        assert watch is not None and watch.limits[VALUES] == values
    watch = watch_of(request_of(sw.UCB(), BROKEN, 10, certificate=None))
    assert watch is None


@sw.environment(feedback="independent")
class Generous(NamedTuple):
    """Rewards up to 3, though the bound is 1."""

    n: int = 3
    k: int = 2

    def means(self, chosen: Ints, out: Floats) -> None:
        for j in range(len(chosen)):
            out[j] = 0.3

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        draw_binary(Feedback.independent, np.full(len(chosen), 0.1), rng, rewards)
        for j in range(len(chosen)):
            rewards[j] *= 3.0

    def best(self) -> Ints:
        return np.arange(self.k)


@sw.environment(feedback="choice")
class Twice(NamedTuple):
    """Rewards two arms in rare rounds, though its feedback is choice."""

    n: int = 3
    k: int = 2
    largest: float = 1.0

    @property
    def bound(self) -> float:
        return self.largest

    def means(self, chosen: Ints, out: Floats) -> None:
        for j in range(len(chosen)):
            out[j] = 0.04 * self.largest

    def draw(self, chosen: Ints, rng: Generator, rewards: Floats) -> None:
        both = 0.8 * self.largest if rng.random() < 0.05 else 0.0
        for j in range(len(chosen)):
            rewards[j] = both

    def best(self) -> Ints:
        return np.arange(self.k)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_total_above_the_bound_is_told_where_one_arm_is_rewarded(compiled: bool) -> None:
    """The certificate takes such a total as at most that bound."""
    sentence = (
        r"Twice: the rewards 0.8, 0.8 of the arms \d, \d add up to 1.6 in round \d+; with choice feedback at most one "
        "arm is rewarded, with 1 at most"
    )
    for policy, certificate in ((sw.Uniform(), 0.95), (sw.UCB(), None)):
        with pytest.raises(sw.InputError, match=f"^{sentence}$"):
            sw.simulate(policy, Twice(), 2000, certificate=certificate, compiled=compiled)
    with pytest.raises(sw.InputError, match=r"add up to 4\.8 .*, with 3 at most"):
        sw.simulate(sw.Uniform(), Twice(largest=3.0), 2000, certificate=0.95, compiled=compiled)
    sw.simulate(sw.Uniform(), Twice(), 2000, compiled=compiled)


def test_a_reward_above_the_bound_is_told() -> None:
    with pytest.raises(
        sw.InputError, match=r"Generous: the reward of arm \d is 3 in round \d+; rewards are .* 0 to 1 "
    ):
        sw.simulate(sw.Uniform(), Generous(), 200, certificate=0.95)
    sw.simulate(sw.Uniform(), Generous(), 200)
