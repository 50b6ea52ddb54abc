"""Long stretches of `UCBV` and `Doubling`: the required reward by brute force, the ends of phases, and the law.

The statistical tests have fixed seeds. By Bonferroni, all raise a false alarm for one choice of seeds in 10,000.
"""

import copy
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

import setwise as sw
from seeded import generator
from setwise import UCBV, Doubling
from setwise.compiled import compile_for
from setwise.declare import shares
from setwise.environments import MNL, Independent
from setwise.policies import KLMOSS, KLUCB, UCB, ucb_v
from setwise.policies._frozen import FrozenState, rerank_all
from setwise.policies.ucb_v import CLOSE_TO_ONE, least_reward, variance_index
from setwise.simulation import play as loop
from setwise.simulation import stretch as module
from setwise.simulation.checks import task_of
from setwise.simulation.stretch import new_stretch, play_stretch
from setwise.types import Feedback, Floats, Generator, Ints

FALSE_ALARMS = 5e-5  # of the stretches against their exact law, and as often of the games
WORLD = MNL(np.linspace(1.0, 0.1, 7), k=3)  # compiled together with the world of check_policy
ONE_OF_THREE = Independent(np.array([0.7, 0.5, 0.2]), k=1)


def each(policies: list[Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("policy", policies, ids=repr)


# The reward that UCB-V requires.

VARIANCES = [UCBV(), UCBV(zeta=1.2, c=0.5), UCBV(zeta=0.05, c=0.0), UCBV(zeta=0.3, c=0.2, bound=2.5)]


def known(policy: UCBV, pulls: int, reward: int, horizon: int) -> Any:
    """A state of three arms of which the first was played so often."""
    state = policy.init(3, 1, horizon, generator())
    policy.update_many(state, np.array([0]), np.array([float(reward)]), pulls)
    return state


def index_after(policy: UCBV, state: Any, reward: float, rounds: int) -> float:
    """The index of the first arm after it earned that much."""
    total = float(state.reward[0] + reward)
    return variance_index(total, total, int(state.pulls[0]) + rounds, state.level[0], policy.c * policy.bound)


@each(VARIANCES)
def test_an_arm_is_above_if_it_earns_more_than_required_and_not_if_it_earns_less(policy: UCBV) -> None:
    """For every reward in every number of rounds; theta is any number, or an index that the arm reaches exactly."""
    rng = generator(1)
    above = below = equal = lowered = 0
    for case in range(600):
        pulls = int(rng.integers(1, 120))
        state = known(policy, pulls, int(rng.integers(0, pulls + 1)), int(10 ** rng.uniform(0, 5)))
        theta = float(rng.uniform(0.01, CLOSE_TO_ONE))
        if case % 2:
            rounds = int(rng.integers(0, 25))
            theta = index_after(policy, state, float(rng.integers(0, rounds + 1)), rounds)
            if not 0.0 < theta <= CLOSE_TO_ONE:
                continue
        for rounds in range(25):
            required = policy.required_reward(state, 0, rounds, 30, theta)
            found = [index_after(policy, state, float(earned), rounds) for earned in range(rounds + 1)]
            for earned, index in enumerate(found):
                told = state, theta, rounds, earned, required
                assert index > theta or earned <= required, told
                assert index < theta * (1.0 + 1e-9) or earned > required - 1e-6, told
                above += index > theta
                below += index < theta
                equal += index == theta
            lowered += any(found[i] > found[i + 1] > theta for i in range(rounds))
    assert above > 20_000 and below > 20_000 and equal > 100
    assert lowered > 200 or policy.zeta < 0.1  # the index is not monotone in the reward, and still above theta


@each(VARIANCES)
def test_up_to_a_trillion_plays_the_requirement_is_right_to_a_reward(policy: UCBV) -> None:
    rng = generator(2)
    tried = 0
    for _ in range(3000):
        pulls, rounds = (int(10 ** rng.uniform(0, 11.7)) for _ in range(2))
        theta = 1.0 - 10 ** rng.uniform(math.log10(1.0 - CLOSE_TO_ONE), 0) if rng.random() < 0.5 else rng.uniform(0, 1)
        theta = min(max(float(theta), 1e-6), CLOSE_TO_ONE)
        state = known(policy, pulls, round(pulls * theta * rng.random()), 10**12)
        required = policy.required_reward(state, 0, rounds, rounds, theta)
        for earned in (required, math.floor(required) + 1.0):
            if 0.0 <= earned <= rounds:
                tried += 1
                assert index_after(policy, state, earned, rounds) > theta
        less = math.ceil(required) - 1.0
        if 0.0 <= less <= rounds:
            assert index_after(policy, state, less, rounds) < theta * (1.0 + 2e-12)
    assert tried > 1000


@each(VARIANCES)
def test_the_requirement_is_convex_in_the_rounds_but_for_rounding(policy: UCBV) -> None:
    """Between any two of many numbers of rounds it is nowhere above the chord; `until` does not matter."""
    bends = []
    for theta in (1e-5, 0.02, 0.3, 0.8, CLOSE_TO_ONE):
        for pulls in (1, 50, 10**4, 10**9, 10**11, 262_000_000_000, 9 * 10**11):
            for last in (max(2, pulls // 10**4), 100 + pulls // 10, 3 * pulls):
                if pulls + last <= 10**12:
                    state = known(policy, pulls, pulls // 3, 10**12)
                    points = np.unique(np.linspace(0, last, 60).astype(np.int64))
                    needed = np.array([policy.required_reward(state, 0, int(point), last, theta) for point in points])
                    assert (np.diff(needed) >= 0.0).all()
                    for i in range(len(points) - 2):
                        chord = np.interp(points[i:], points[[i, -1]], needed[[i, -1]])
                        bends.append((needed[i:] - chord).max())
                    sooner = policy.required_reward(state, 0, last // 2, last // 2, theta)
                    assert policy.required_reward(state, 0, last // 2, last, theta) == sooner
    assert len(bends) > 1000 and max(bends) < 0.5 * module.SLACK


def test_least_reward_has_the_values_worked_out_by_hand() -> None:
    # 20 + sqrt(2 * 5 * (20 - 400 / 100)) = 20 + sqrt(160), and 3 * 0.1 * 5 = 1.5 more, of 100.
    assert least_reward(100.0, (21.5 + math.sqrt(160.0)) / 100.0, 5.0, 0.1) == pytest.approx(20.0, rel=1e-14)
    assert least_reward(100.0, 0.3, 0.0, 1.0) == 30.0  # without exploration the index is the mean
    assert least_reward(100.0, 0.15, 5.0, 1.0) == 0.0  # the last term alone is 15 / 100
    assert 0.0 < least_reward(100.0, 0.16, 5.0, 1.0) < 0.1


def test_the_border_of_ucb_v_is_infinite_where_no_stretch_is_exact() -> None:
    policy, rng = UCBV(c=0.0), generator()
    for rewards, border in (([900, 900, 500], None), ([1000, 1000, 1000], np.inf), ([900, 0, 0], np.inf)):
        state = policy.init(3, 1, 10**4, rng)
        for arm, reward in enumerate(rewards):
            policy.update_many(state, np.array([arm]), np.array([float(reward)]), 1000)
        rerank_all(state)
        chosen = np.array(policy.select(state, rng))
        largest = np.delete(state.indices, chosen).max()
        assert policy.threshold(state, chosen) == (largest if border is None else border)
        assert policy.threshold(state, (chosen + 1) % 3) == np.inf
    everything = policy.init(3, 3, 10**4, rng)
    policy.update(everything, policy.select(everything, rng), np.array([1.0, 0.0, 1.0]), rng)
    assert policy.threshold(everything, np.array(policy.select(everything, rng))) == np.inf


# Both keep the contract.

CHECKED = [
    *VARIANCES[:2],
    Doubling(),
    Doubling(restart=True),
    Doubling(KLUCB()),
    Doubling(UCBV()),
    Doubling(UCBV(zeta=0.3, c=0.2), restart=True, first=7),
]


@each(CHECKED)
def test_the_contract_is_kept_and_compiled_runs_have_the_same_bits(policy: Any) -> None:
    sw.testing.check_policy(policy)


@each([UCBV(zeta=0.3, c=0.2), Doubling(UCB(alpha=0.3)), Doubling(KLMOSS(), restart=True)])
def test_the_contract_is_kept_by_sets_of_one_arm(policy: Any) -> None:
    sw.testing.check_policy(policy, ONE_OF_THREE)


@sw.policy
@shares(UCB, "certain_rounds", "update_many", "indices", "select_from", "grow", "set_horizon")
class Short(NamedTuple):
    """UCB without stretches."""

    bound: float = 1.0

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> FrozenState:
        return UCB(0.1).init(n, k, horizon, rng)

    def select(self, state: FrozenState, rng: Generator) -> Ints:
        return state.ranking.top(state.indices, len(state.chosen), rng)

    def update(self, state: FrozenState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        self.update_many(state, chosen, rewards, 1)  # type: ignore[attr-defined]


@pytest.fixture
def stretches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The stretches of interpreted runs: certain rounds, rounds left of the phase, most rounds, and their length."""
    found: list[Any] = []

    def watched(policy: Any, state: Any, *given: Any) -> int:
        left = state.phase[0] - state.rounds[0] if hasattr(state, "phase") else np.inf
        found.append((given[3], left, given[4], play_stretch(policy, state, *given)))
        return int(found[-1][-1])

    monkeypatch.setattr(loop, "play_stretch", watched)
    return found


def test_a_base_without_stretches_is_played_without_them(stretches: list[Any]) -> None:
    policy = Doubling(Short())
    sw.simulate(policy, WORLD, 10_000, seed=1, checkpoints=2, compiled=False)
    assert len(stretches) > 5 and not any(rounds for *_, rounds in stretches)
    state = policy.init(7, 3, 100, generator())
    assert policy.required_reward(state, 0, 1, 1, 0.5) == policy.threshold(state, np.arange(3)) == np.inf


def test_a_base_without_stretches_has_the_same_bits_compiled() -> None:
    sw.testing.check_policy(Doubling(Short()))


# A stretch and the end of its phase.


@pytest.mark.parametrize("world", [WORLD, ONE_OF_THREE], ids=["three of seven", "one of three"])
@each([Doubling(UCB(alpha=0.1)), Doubling(UCB(alpha=0.3), restart=True), Doubling(KLUCB()), Doubling(UCBV())])
def test_no_stretch_crosses_a_doubling(policy: Any, world: Any, stretches: list[Any]) -> None:
    for seed in range(3):
        sw.simulate(policy, world, 40_000, seed=seed, checkpoints=1, compiled=False)
    long = [rounds for *_, rounds in stretches if rounds]
    assert len(long) > 20 and sum(long) > 20_000
    assert all(certain <= left and rounds <= left for certain, left, _, rounds in stretches)
    assert sum(most > left for _, left, most, _ in stretches) > 20  # it was the phase that ended, not the game
    if world.k == 1:
        assert sum(left == rounds for _, left, _, rounds in stretches) > 5  # up to the last round of the phase


@each([Doubling(UCB(alpha=0.1), first=100), Doubling(UCBV()), Doubling(KLUCB(), restart=True, first=300)])
def test_nothing_is_required_within_a_phase_but_what_its_base_requires(policy: Any) -> None:
    rng = generator(3)
    state = policy.init(7, 3, 1, rng)
    for _ in range(430):
        chosen = policy.select(state, rng)
        policy.update(state, chosen, (rng.random(3) < 0.3).astype(float), rng)
    left = state.phase[0] - state.rounds[0]
    chosen = np.array(policy.select(state, rng))
    assert left > 50 and policy.threshold(state, chosen) == policy.base.threshold(state.base, chosen)
    for arm in chosen:
        for rounds, until in ((0, 1), (1, 1), (7, 20), (left - 1, left - 1)):
            own = policy.required_reward(state, arm, rounds, until, 0.6)
            assert own == policy.base.required_reward(state.base, arm, rounds, until, 0.6) < np.inf
        for rounds, until in ((0, left), (left - 1, left), (left, left), (left, 10 * left)):
            assert policy.required_reward(state, arm, rounds, until, 0.6) == np.inf


def state_after(policy: Any, world: Any, rounds: int) -> Any:
    """The state after a compiled game."""
    state, rng = policy.init(world.n, world.k, rounds, generator()), generator(rounds)
    task = task_of(policy, world, world.n, world.k, fast=True, record=False)
    record = loop.new_record(world.n, world.k, 2, False, True, np.zeros(1, np.int64))
    arguments = policy, world, state, rng, task, np.array([rounds // 2, rounds]), record
    compile_for(loop.play, *arguments)(*arguments)
    assert record.status[0] == loop.FINE and record.pulls.sum() == world.k * rounds
    if not getattr(policy, "restart", False):
        assert np.array_equal(record.pulls, state.base.pulls)
    return state


@pytest.mark.parametrize("rounds", [2**17 - 1, 2**17, 2**17 + 1, 10**6, 10**9])
@each([Doubling(), Doubling(UCBV(), restart=True), Doubling(KLUCB()), Doubling(UCBV())])
def test_after_a_long_game_the_phase_and_the_indices_are_those_of_the_rounds(policy: Any, rounds: int) -> None:
    state = state_after(policy, WORLD, rounds)
    phase, start, end = 2, 0, 2
    while end <= rounds:
        phase *= 2
        start, end = (end, end + phase) if policy.restart else (end, phase)
    assert state.rounds[0] == rounds and state.phase.tolist() == [end, phase]
    assert state.base.pulls.sum() == WORLD.k * (rounds - start if policy.restart else rounds)
    fresh = policy.base.init(7, 3, phase, generator())
    for arm in np.flatnonzero(state.base.pulls):
        one = np.array([arm])
        policy.base.update_many(fresh, one, state.base.reward[one], int(state.base.pulls[arm]))
    assert np.array_equal(fresh.indices, state.base.indices) and np.array_equal(fresh.level, state.base.level)


# The law.


def first_fall(policy: Any, state: Any, arm: int, mean: float, theta: float, most: int) -> np.ndarray:
    """The exact probability that the arm's index is first at or below theta after each number of rounds."""
    base, inner = (policy.base, state.base) if isinstance(policy, Doubling) else (policy, state)
    alive = np.zeros(most + 2)
    alive[0] = 1.0
    falls = np.zeros(most)
    for t in range(1, most + 1):
        up = alive * mean
        alive = alive - up
        alive[1:] += up[:-1]
        pulls = float(inner.pulls[arm] + t)
        average = (inner.reward[arm] + np.arange(most + 2)) / pulls
        if isinstance(base, UCBV):
            variance = np.maximum(0.0, average - average * average)
            index = average + np.sqrt(2.0 * variance * inner.level[0] / pulls) + 3.0 * base.c * inner.level[0] / pulls
        else:
            index = average + np.sqrt(inner.level[0] / pulls)
        falls[t - 1] = alive[index <= theta].sum()
        alive[index <= theta] = 0.0
    return falls


CASES = [  # policy, averages of the arms: theta is the index of the last one, and the one before is critical
    (UCBV(), [0.9, 0.5, 0.4975], 0.5, "choice", 3000),
    (UCBV(zeta=0.2, c=0.3), [0.9, 0.8, 0.797], 0.8, "independent", 3000),
    (Doubling(UCBV(), first=33_000), [0.9, 0.5, 0.4975], 0.5, "choice", 10_000),
    (Doubling(UCB(), first=21_500), [0.5, 0.4970], 0.5, "independent", 10_000),
    (Doubling(UCBV(zeta=0.3), first=21_500), [0.5, 0.4985], 0.5, "choice", 10_000),
]


@pytest.mark.parametrize(("policy", "averages", "mean", "feedback", "most"), CASES, ids=str)
def test_a_stretch_ends_when_the_critical_arm_falls_as_often_as_it_should(
    policy: Any, averages: list[float], mean: float, feedback: str, most: int
) -> None:
    """The rounds of a stretch against their exact law, up to the end of the stretch or of the phase."""
    n = len(averages)
    rng = generator(20260301)
    state = policy.init(n, n - 1, 10**6, rng)
    for arm, average in enumerate(averages):
        policy.update_many(state, np.array([arm]), np.array([round(10_000 * average)], float), 10_000)
    rerank_all(getattr(state, "base", state))
    chosen = np.array(policy.select(state, rng))
    critical = n - 2
    assert set(chosen.tolist()) == set(range(n - 1))
    theta, certain = policy.threshold(state, chosen), policy.certain_rounds(state, chosen)
    left = state.phase[0] - state.rounds[0] if isinstance(policy, Doubling) else most
    assert module.WORTH <= certain < left / 4
    law = first_fall(policy, state, critical, mean, theta, left)
    means = np.where(chosen == critical, mean, 0.3)
    buffers, totals = new_stretch(), np.zeros(n - 1)
    lengths = np.array(
        [
            play_stretch(policy, state, chosen, means, Feedback[feedback], certain, most, rng, totals, buffers)
            for _ in range(1000)
        ]
    )
    cut = lengths.max()
    assert cut <= left and (lengths == cut).sum() > 20 and (lengths > 4 * certain).sum() > 20 < (lengths < cut).sum()
    if n == 2:
        assert cut == left  # alone, an arm is played to the end of the phase
    empirical = np.searchsorted(np.sort(lengths), np.arange(1, cut), side="right") / len(lengths)
    distance = np.abs(empirical - np.cumsum(law)[: cut - 1]).max()
    # Dvoretzky, Kiefer, Wolfowitz, Massart: P(distance > e) <= 2 exp(-2 n e^2).
    assert distance < math.sqrt(math.log(2.0 * len(CASES) / FALSE_ALARMS) / (2.0 * len(lengths)))


def test_a_requirement_that_is_too_small_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ucb_v, "ABOVE", 0.9995)
    with pytest.raises(AssertionError):
        test_a_stretch_ends_when_the_critical_arm_falls_as_often_as_it_should(*CASES[0])


GAMES = [
    UCBV(),
    UCBV(zeta=1.2, c=0.5),
    Doubling(),
    Doubling(UCB(alpha=0.1), restart=True),
    Doubling(KLUCB()),
    Doubling(UCBV()),
]
ROUNDS = 15_000
LEVEL = FALSE_ALARMS / (len(GAMES) * (2 + WORLD.n))


def least_p_value(one: Any, two: Any) -> float:
    """Of two-sample Kolmogorov-Smirnov tests of the regret at half time and at the end, and of every arm's plays."""
    columns = [(a.round(6), b.round(6)) for a, b in zip(one.regret.T, two.regret.T)] + [*zip(one.pulls.T, two.pulls.T)]
    return min(stats.ks_2samp(*column).pvalue for column in columns)


def games(policy: Any, seed: int, fast: bool, runs: int = 300) -> Any:
    return sw.simulate(
        policy, WORLD, ROUNDS, runs, seed, checkpoints=2, spacing="linear", fast_forward=fast, compiled=True
    )


@each(GAMES)
def test_games_with_stretches_have_the_law_of_single_rounds(policy: Any) -> None:
    least = least_p_value(games(policy, 1, True), games(policy, 2, False))
    print(f"{policy}: least p {least:.3g} (level {LEVEL:.2g})")
    assert least > LEVEL


@each(GAMES)
def test_a_good_part_of_these_games_is_played_in_stretches(policy: Any, stretches: list[Any]) -> None:
    for seed in range(3):
        sw.simulate(policy, WORLD, ROUNDS, seed=seed, checkpoints=2, spacing="linear", compiled=False)
    long = [(certain, rounds) for certain, *_, rounds in stretches if rounds]
    assert len(long) > 30 and sum(rounds for _, rounds in long) > 0.2 * 3 * ROUNDS
    assert sum(rounds > 4 * certain for certain, rounds in long) > 10


@sw.policy(binary_blocks=True)
class Bold(NamedTuple):
    """Not the law: its arms may lack some rewards."""

    policy: UCBV = UCBV()

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> Any:
        return self.policy.init(n, k, horizon, rng)

    def select(self, state: Any, rng: Generator) -> Ints:
        return self.policy.select(state, rng)

    def update(self, state: Any, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        self.policy.update(state, chosen, rewards, rng)

    def certain_rounds(self, state: Any, chosen: Ints) -> int:
        return self.policy.certain_rounds(state, chosen)

    def update_many(self, state: Any, chosen: Ints, totals: Floats, rounds: int) -> None:
        self.policy.update_many(state, chosen, totals, rounds)

    def threshold(self, state: Any, chosen: Ints) -> float:
        return self.policy.threshold(state, chosen)

    def required_reward(self, state: Any, arm: int, rounds: int, until: int, theta: float) -> float:
        return self.policy.required_reward(state, arm, rounds, until, theta) - 50.0


def test_games_with_stretches_that_are_too_long_are_noticed() -> None:
    assert least_p_value(games(Bold(), 1, True), games(UCBV(), 2, False)) < LEVEL


def test_learning_a_stretch_at_once_leaves_the_state_of_single_rounds() -> None:
    """Also over the end of a phase: both ways have the counts and the indices of the same horizon."""
    for policy in (Doubling(UCBV(), first=64), Doubling(UCBV(), first=64, restart=True)):
        rng = generator(5)
        one_by_one = policy.init(5, 2, 1, rng)
        at_once = copy.deepcopy(one_by_one)
        for rounds in (10, 20, 34, 64, 100):
            left = one_by_one.phase[0] - one_by_one.rounds[0]
            chosen = np.array(policy.select(one_by_one, rng))
            rewards = rng.integers(0, 2, (min(rounds, left), 2)).astype(float)
            for row in rewards:
                policy.update(one_by_one, chosen, row, rng)
            policy.update_many(at_once, chosen, rewards.sum(axis=0), len(rewards))
            for name in ("pulls", "reward", "squares", "indices", "level"):
                assert np.array_equal(getattr(one_by_one.base, name), getattr(at_once.base, name)), name
            assert one_by_one.phase.tolist() == at_once.phase.tolist()
