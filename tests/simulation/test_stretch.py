"""Long stretches have the law of single rounds: the bound, the required reward of an arm, and the draws.

Statistical tests have fixed seeds and a false-alarm rate of `LEVEL` each.
"""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import setwise as sw
from setwise.kernels.divergence import bernoulli_divergence, lower_mean
from setwise.policies import KLMOSS, KLUCB, UCB
from setwise.policies._frozen import rerank_all
from setwise.simulation import play as loop
from setwise.simulation import stretch as module
from setwise.simulation.stretch import new_stretch, play_stretch, stays_above
from setwise.types import Feedback

LEVEL = 1e-7
POLICIES = [UCB(), UCB(alpha=0.1, bound=2.0), KLUCB(), KLUCB(bound=2.0), KLMOSS()]


def chance_of_touching(line: np.ndarray, total: int) -> float:
    """How likely a random order of `total` ones among len(line) places has a sum at or below the line, by counting."""
    rounds = len(line)
    alive = np.zeros(total + 1)
    alive[0] = 1.0
    for t in range(1, rounds + 1):
        left = rounds - t + 1
        sums = np.arange(total + 1)
        up = alive * np.clip((total - sums) / left, 0.0, 1.0)
        stay = alive - up
        alive = stay
        alive[1:] += up[:-1]
        alive[sums <= line[t - 1] + 1e-9] = 0.0
    return 1.0 - float(alive.sum())


def largest_sure(a: float, b: float, total: int, rounds: int) -> float:
    """The largest level at which the arm counts as above, -1 if at none."""
    low, high = -1.0, 1e4
    if not stays_above(a, b, float(total), rounds, 0.0):
        return low
    for _ in range(60):
        middle = 0.5 * (low + high)
        if stays_above(a, b, float(total), rounds, middle):
            low = middle
        else:
            high = middle
    return low


@pytest.mark.parametrize("rounds", [2, 7, 30, 61, 200])
def test_the_bound_is_above_the_chance_of_falling_to_the_chord(rounds: int) -> None:
    rng = np.random.default_rng(rounds)
    bounded = tight = 0
    for _ in range(150):
        total = int(rng.integers(0, rounds + 1))
        a, b = rng.uniform(0.05, 1.2) * math.sqrt(rounds) * rng.uniform(0.1, 2.0, 2)
        line = -a + (total - b + a) * np.arange(1, rounds + 1) / rounds
        chance = chance_of_touching(line, total)
        sure = largest_sure(a, b, total, rounds)
        if sure >= 1e4 - 1.0:  # by the worst order, or there is only one
            assert chance == pytest.approx(0.0, abs=1e-12)
        elif sure > 0.0:
            bound = math.sqrt(2.0 * rounds) * math.exp(-sure)
            bounded += 1
            tight += 1e-3 * bound < chance
            assert chance <= bound + 1e-12, (a, b, total, chance, bound)
    assert rounds < 30 or (bounded > 20 and tight > 3)  # the comparison is one: bounds are not far from the truth


def test_a_bound_twice_as_sharp_would_be_wrong() -> None:
    rounds, total, a, b = 200, 60, 20.0, 20.0
    line = -a + (total - b + a) * np.arange(1, rounds + 1) / rounds
    sure = largest_sure(a, b, total, rounds)
    assert chance_of_touching(line, total) > math.sqrt(2.0 * rounds) * math.exp(-2.0 * sure)


def set_up(policy, pulls, shares, horizon=10**6, k=2):
    """A state in which the arms were played so often and rewarded in these shares of the rounds."""
    rng = np.random.default_rng(0)
    state = policy.init(len(pulls), k, horizon, rng)
    for arm, (times, share) in enumerate(zip(pulls, shares, strict=True)):
        policy.update_many(state, np.array([arm]), np.array([float(round(times * share))]), times)
    rerank_all(state)
    return state, np.array(policy.select(state, rng))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(
    which=st.integers(0, len(POLICIES) - 1),
    exponents=st.lists(st.floats(2.0, 11.9), min_size=3, max_size=3),
    shares=st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3),
    ahead=st.floats(0.0, 11.0),
)
def test_an_arm_that_earns_its_demand_is_above_and_one_that_lacks_a_little_is_not(
    which, exponents, shares, ahead
) -> None:
    policy = POLICIES[which]
    state, chosen = set_up(policy, [int(10**exponent) for exponent in exponents], shares, 10**12)
    theta = policy.threshold(state, chosen)
    assume(theta < np.inf)
    rounds = int(10**ahead)
    arm = int(chosen[-1])
    required = policy.required_reward(state, arm, rounds, rounds, theta)
    assume(0.0 <= required <= rounds * policy.bound)
    index = np.zeros(3)
    for earned, above in ((required, True), (required - 1.0 - 1e-6 * (abs(required) + state.reward[arm]), False)):
        if 0.0 <= earned <= rounds * policy.bound:
            later, _ = set_up(policy, [1, 1, 1], [0.0, 0.0, 0.0], 10**12)
            later.pulls[arm] = state.pulls[arm]
            later.reward[arm] = state.reward[arm]
            later.level[:] = state.level
            policy.update_many(later, np.array([arm]), np.array([earned]), rounds)
            policy.indices(later, index)
            margin = index[arm] / theta - 1.0
            width = 1.0 / math.sqrt(float(state.pulls[arm] + rounds))
            assert margin > 0.0 if above else margin < 3e-4 * width + 1e-9, (earned, required, margin)


@pytest.mark.parametrize("policy", [*POLICIES, KLUCB(alpha=0.1)], ids=repr)
def test_what_an_arm_demands_is_convex_in_the_rounds_but_for_rounding(policy) -> None:
    """Between any two of many numbers of rounds it is nowhere above the chord; and no less for a larger `until`."""
    bends = []
    for theta in (0.02, 0.3, 0.8):
        for pulls in (50, 10**4, 10**9, 10**11, 262_000_000_000, 9 * 10**11):
            for last in (max(2, pulls // 10**4), pulls // 10, 3 * pulls):
                if pulls + last <= 10**12:
                    state, _ = set_up(policy, [pulls] * 3, [0.3] * 3, 10**12)
                    points = np.unique(np.linspace(0, last, 60).astype(np.int64))
                    demands = np.array([policy.required_reward(state, 0, int(point), last, theta) for point in points])
                    for i in range(len(points) - 2):
                        chord = np.interp(points[i:], points[[i, -1]], demands[[i, -1]])
                        bends.append((demands[i:] - chord).max())
                    assert policy.required_reward(state, 0, last // 2, last, theta) >= policy.required_reward(
                        state, 0, last // 2, last // 2, theta
                    )
    assert len(bends) > 1000 and max(bends) < 0.5 * module.SLACK


def test_an_arm_without_anything_to_spare_is_not_above() -> None:
    assert not stays_above(-1.0, 2.0, 0.0, 10, 75.0)
    assert not stays_above(1.0, 0.0, 10.0, 10, 75.0)
    # Near 10^12 plays rounding alone can make the second round worse than the chord.
    assert not stays_above(0.33154, 0.001, 1.0, 2, 75.0)


@pytest.mark.parametrize("q", [1e-6, 0.01, 0.3, 0.5, 0.9, 0.999])
def test_the_lower_mean_is_within_the_divergence_and_close(q: float) -> None:
    for d in (1e-18, 1e-13, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 5.0):
        p = lower_mean(q, d)
        assert 0.0 <= p <= q
        assert bernoulli_divergence(p, q) <= d * (1.0 + 1e-6) + 1e-22
        if p > 0.0:
            further = q - (q - p) * (1.0 + 2e-6)
            assert further < 0.0 or bernoulli_divergence(further, q) > d * (1.0 - 1e-6)


@pytest.mark.parametrize("n", [3, 200])
@pytest.mark.parametrize("policy", [UCB(), KLUCB(), KLMOSS()], ids=repr)
def test_a_set_of_all_arms_has_no_rival(policy, n: int) -> None:
    world = sw.environments.MNL(np.linspace(1.0, 0.2, n), k=n)
    sw.testing.check_policy(policy, world, rounds=30, compiled=False)
    rng = np.random.default_rng(0)
    state = policy.init(n, n, 100, rng)
    chosen = policy.select(state, rng)
    policy.update(state, chosen, np.ones(n), rng)
    assert policy.threshold(state, np.array(policy.select(state, rng))) == np.inf


def first_fall(policy, state, arm: int, mean: float, theta: float, most: int) -> np.ndarray:
    """The exact probability that the arm falls to theta in each round up to `most`, for rewards of 0 and 1."""
    alive = np.zeros(most + 2)
    alive[0] = 1.0
    sums = np.arange(most + 2)
    falls = np.zeros(most)
    for t in range(1, most + 1):
        up = alive * mean
        alive = alive - up
        alive[1:] += up[:-1]
        out = sums <= policy.required_reward(state, arm, t, t, theta)
        falls[t - 1] = alive[out].sum()
        alive[out] = 0.0
    return falls


CASES = [  # policy, average of the third arm: theta is its index; the second one is critical
    (UCB(), 0.4970, 0.5, "choice"),
    (UCB(), 0.4970, 0.5, "independent"),
    (UCB(alpha=0.02), 0.4985, 0.4995, "independent"),
    (KLUCB(), 0.4985, 0.5, "choice"),
    (KLMOSS(), 0.4985, 0.5, "independent"),
]


@pytest.mark.parametrize(("policy", "third", "mean", "feedback"), CASES, ids=str)
def test_a_stretch_ends_when_the_critical_arm_falls_as_often_as_it_should(policy, third, mean, feedback) -> None:
    """The rounds of a stretch against their exact law, and the others' totals given the rounds against a binomial's."""
    state, chosen = set_up(policy, [10_000, 10_000, 10_000], [0.9, 0.5, third], 10**6)
    assert set(chosen.tolist()) == {0, 1}
    chosen = np.array(policy.select(state, np.random.default_rng(0)))
    theta, certain = policy.threshold(state, chosen), policy.certain_rounds(state, chosen)
    most = 3000
    assert module.WORTH <= certain < most / 2
    means = np.where(chosen == 1, mean, 0.3)
    law = first_fall(policy, state, 1, mean, theta, most)
    rng = np.random.default_rng(20261116)
    buffers, totals = new_stretch(), np.zeros(2)
    lengths, standardised = [], []
    other = 0.3 / (1.0 - mean) if feedback == "choice" else 0.3
    for _ in range(1500):
        rounds = play_stretch(policy, state, chosen, means, Feedback[feedback], certain, most, rng, totals, buffers)
        lengths.append(rounds)
        critical, rest = totals[chosen == 1][0], totals[chosen == 0][0]
        if rounds < most:
            assert critical <= policy.required_reward(state, 1, rounds, rounds, theta)
        free = rounds - critical if feedback == "choice" else rounds
        standardised.append((rest - other * free) / math.sqrt(free * other * (1.0 - other)))
    assert law.sum() > 0.05
    empirical = np.searchsorted(np.sort(lengths), np.arange(1, most), side="right") / len(lengths)
    distance = np.abs(empirical - np.cumsum(law)[:-1]).max()
    # Dvoretzky, Kiefer, Wolfowitz, Massart: P(distance > e) <= 2 exp(-2 n e^2).
    assert distance < math.sqrt(math.log(2.0 / LEVEL) / (2.0 * len(lengths)))
    assert abs(np.mean(standardised)) * math.sqrt(len(lengths)) < 5.4
    assert abs(np.mean(np.square(standardised)) - 1.0) * math.sqrt(len(lengths) / 2.0) < 5.6


def test_long_pieces_are_used_and_halved_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first of these cases: pieces longer than certain ones, and pieces that had to be halved."""
    policy, third, mean, _ = CASES[0]
    state, chosen = set_up(policy, [10_000, 10_000, 10_000], [0.9, 0.5, third], 10**6)
    chosen = np.array(policy.select(state, np.random.default_rng(0)))
    halved = []
    draw = module.draw_hypergeometric
    monkeypatch.setattr(module, "draw_hypergeometric", lambda *given: halved.append(given) or draw(*given))
    certain = policy.certain_rounds(state, chosen)
    means = np.where(chosen == 1, mean, 0.3)
    rng = np.random.default_rng(1)
    for _ in range(20):
        play_stretch(policy, state, chosen, means, Feedback.choice, certain, 3000, rng, np.zeros(2), new_stretch())
    assert len(halved) > 20


def test_a_bound_that_is_too_bold_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SURE", 0.5 * -math.log(6000.0))  # with it, a chance of 1 is rare enough
    with pytest.raises(AssertionError):
        test_a_stretch_ends_when_the_critical_arm_falls_as_often_as_it_should(*CASES[0])


def test_nothing_is_drawn_where_a_stretch_is_hardly_longer_or_the_border_is_not_known() -> None:
    policy = UCB()
    state, chosen = set_up(policy, [10_000] * 3, [0.9, 0.5, 0.497])
    means, totals = np.array([0.3, 0.3]), np.zeros(2)
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state["state"]["state"]
    certain = policy.certain_rounds(state, chosen)
    rule = (policy, state, chosen, means, Feedback.choice, certain)
    assert play_stretch(*rule, 2 * certain - 1, rng, totals, new_stretch()) == 0
    assert play_stretch(*rule, 10**6, rng, totals, None) == 0
    assert (
        play_stretch(policy, state, chosen[::-1].copy(), means, Feedback.choice, 20, 10**6, rng, totals, new_stretch())
        == 0
    )
    assert rng.bit_generator.state["state"]["state"] == before


def test_a_trillion_rounds_count_every_one_and_lose_nothing_to_rounding() -> None:
    world = sw.paper.mnl()
    result = sw.simulate(sw.KLUCB(), world, 10**12, 2, seed=3, threads=1, checkpoints=25)
    assert (result.pulls.sum(axis=1) == 10 * 10**12).all()
    assert (np.diff(result.regret) >= 0.0).all()
    assert result.regret[:, -1].min() > 100.0 and result.regret[:, -1].max() < 1000.0
    # The regret follows from how often each arm was played only in sum; but it is at least what the worst arms cost.
    value = world.values
    missed = (result.pulls * (value < np.sort(value)[10])).sum(axis=1)
    assert (result.regret[:, -1] < missed).all() and (result.regret[:, -1] > 1e-4 * missed).all()


def test_regret_of_equal_gaps_is_their_sum_to_the_last_bits() -> None:
    """Ten thousand blocks of a set whose gap is 0.1 a round; added up plainly they would be off by 88 roundings."""
    world = sw.environments.Independent([0.4, 0.3, 0.2], k=1)
    policy = sw.policies.Oracle([1])
    points = sorted(set(np.geomspace(1, 10**12, 10_000).astype(np.int64).tolist()))
    result = sw.simulate(policy, world, 10**12, checkpoints=points, compiled=False)
    gap = 0.4 - 0.3
    off = max(abs(regret / (gap * point) - 1.0) for regret, point in zip(result.regret[0], result.rounds.tolist()))
    assert off <= 4.0 * 2.0**-53


@pytest.mark.parametrize("policy", [UCB(alpha=0.05), KLUCB(), KLMOSS()], ids=repr)
def test_interpreted_and_compiled_stretches_have_the_same_bits(policy, monkeypatch: pytest.MonkeyPatch) -> None:
    played = []
    plain = module.play_stretch
    monkeypatch.setattr(loop, "play_stretch", lambda *given: played.append(plain(*given)) or played[-1])
    slow = sw.simulate(policy, sw.paper.mnl(), 30_000, seed=4, compiled=False)
    monkeypatch.undo()
    fast = sw.simulate(policy, sw.paper.mnl(), 30_000, seed=4)
    assert sum(rounds > 0 for rounds in played) > 5
    assert slow.regret.tobytes() == fast.regret.tobytes() and slow.pulls.tobytes() == fast.pulls.tobytes()


@pytest.mark.parametrize("runs", [300, pytest.param(4000, marks=pytest.mark.slow)])
def test_runs_with_stretches_have_the_law_of_single_rounds(runs: int) -> None:
    """Regret at half time and at the end, and the plays of every arm: two-sample Kolmogorov-Smirnov tests."""
    world, horizon = sw.paper.mnl(), 50_000
    results = [
        sw.simulate(sw.KLUCB(), world, horizon, runs, seed, checkpoints=2, spacing="linear", fast_forward=fast)
        for seed, fast in ((1, True), (2, False))
    ]
    for column in range(2):
        one, two = (result.regret[:, column] for result in results)
        assert stats.ks_2samp(one, two).pvalue > LEVEL
    for arm in range(world.n):
        one, two = (result.pulls[:, arm] for result in results)
        assert stats.ks_2samp(one, two).pvalue > LEVEL
