"""Choice models without an order of arms: against their formulas, hand-computed values, and each other."""

import copy
import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from reference.sets import means_of, sets_of
from setwise import InputError
from setwise.compiled import compile_for
from setwise.digests import value_digest
from setwise.environments.best_set import check_best_set
from setwise.environments.markov_chain import MarkovChain
from setwise.environments.mixed_logit import MixedLogit
from setwise.environments.mnl import MNL
from setwise.environments.nested_logit import NestedLogit
from setwise.environments.random_utility import RandomUtility
from setwise.environments.unequal_noise import UnequalNoise

MODELS = [MarkovChain, NestedLogit, MixedLogit, UnequalNoise]
CYCLE = [[0.0, 0.7, 0.2, 0.0], [0.4, 0.0, 0.3, 0.3], [0.0, 0.5, 0.0, 0.5], [0.25, 0.25, 0.25, 0.0]]
WORLDS: dict[str, Any] = {
    "markov chain": MarkovChain([0.3, 0.1, 0.2, 0.3], CYCLE, k=2),
    "nested logit": NestedLogit([1.5, 0.0, 0.3, 2.0, 0.7], [0, 0, 2, 0, 2], [0.3, 0.5, 1.0], k=3, outside=0.6),
    "mixed logit": MixedLogit([0.2, 0.8], [[5.0, 0.0, 0.3, 1.0], [0.1, 2.0, 1.0, 0.0]], k=2, outside=0.7),
    "unequal noise": UnequalNoise([1.0, 0.5, 0.0, -0.3], [1.0, 0.2, 10.0, 0.5], k=2, outside_scale=0.5),
}
# Each breaks Assumption 1: in the set, the arm earns by so much less than in the best set.
VIOLATIONS: dict[str, tuple[Any, list[int], tuple[int, ...], int, float]] = {
    "markov chain": (
        MarkovChain([0.1, 0.45, 0.45], [[0, 0, 0], [1, 0, 0], [0, 0, 0]], k=2), [0, 2], (0, 1), 0, -0.45,
    ),
    "nested logit": (
        NestedLogit([1.0, 0.99, 0.5], [0, 0, 1], [0.05, 1.0], k=2), [0, 2], (0, 1), 0, -0.1208,
    ),
    "mixed logit": (
        MixedLogit([0.5, 0.5], [[20.0, 19.0, 0.01], [0.01, 0.01, 1.0]], k=2), [0, 2], (0, 1), 0, -0.2236,
    ),
    "unequal noise": (
        UnequalNoise([1.0, 0.5, 0.0], [1.0, 0.2, 10.0], k=2, outside_scale=0.5), [0, 1], (0, 2), 0, -0.2206,
    ),
}  # fmt: skip


def solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """x with matrix x = right, by Gauss and Jordan."""
    m = len(right)
    rows = [[*matrix[i], right[i]] for i in range(m)]
    for p in range(m):
        pivot = next(i for i in range(p, m) if rows[i][p] != 0)
        rows[p], rows[pivot] = rows[pivot], rows[p]
        rows[p] = [value / rows[p][p] for value in rows[p]]
        for i in range(m):
            if i != p:
                rows[i] = [value - rows[i][p] * own for value, own in zip(rows[i], rows[p])]
    return [row[m] for row in rows]


def markov_chain(arrivals: Any, transitions: Any, chosen: Sequence[int]) -> list[float]:
    """lambda_a + sum of z_o rho_oa with z = (I - rho_OO^T)^-1 lambda_O, in fractions."""
    start = [Fraction(value) for value in arrivals]
    step = [[Fraction(value) for value in row] for row in transitions]
    rest = [arm for arm in range(len(start)) if arm not in chosen]
    matrix = [[Fraction(int(i == j)) - step[j][i] for j in rest] for i in rest]
    visits = solve(matrix, [start[arm] for arm in rest])
    return [float(start[arm] + sum(z * step[o][arm] for z, o in zip(visits, rest))) for arm in chosen]


def nested_logit(values: Any, nests: Any, lambdas: Any, outside: float, chosen: Sequence[int]) -> list[float]:
    """The two factors of the formula, with 60 digits and any exponent."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, 10**9, -(10**9)
        weights = {arm: Decimal(float(values[arm])) ** (1 / Decimal(float(lambdas[nests[arm]]))) for arm in chosen}
        sums = {g: sum(weights[arm] for arm in chosen if nests[arm] == g) for g in {nests[arm] for arm in chosen}}
        of_nests = {g: Decimal(total) ** Decimal(float(lambdas[g])) for g, total in sums.items()}
        whole = Decimal(outside) + sum(of_nests.values())
        return [
            float(of_nests[nests[arm]] / whole * weights[arm] / sums[nests[arm]]) if weights[arm] else 0.0
            for arm in chosen
        ]


def mixed_logit(weights: Any, values: Any, outside: float, chosen: Sequence[int]) -> list[float]:
    """In fractions."""
    rows = [[Fraction(float(value)) for value in row] for row in values]
    shares = [Fraction(float(weight)) for weight in weights]
    return [
        float(
            sum(w * row[arm] / (Fraction(outside) + sum(row[b] for b in chosen)) for w, row in zip(shares, rows))
            / sum(shares)
        )
        for arm in chosen
    ]


def unequal_noise(
    utilities: Any, scales: Any, outside: float, outside_scale: float, chosen: Sequence[int]
) -> list[float]:
    """Over the noise of the arm itself, cut into pieces in which neither it nor a rival's noise varies much."""

    def probability(arm: int) -> float:
        rivals = [(utilities[b], scales[b]) for b in chosen if b != arm] + [(outside, outside_scale)]

        def integrand(z: Any) -> Any:
            x = utilities[arm] + scales[arm] * z
            return stats.norm.pdf(z) * np.prod([special.ndtr((x - u) / s) for u, s in rivals], axis=0)

        corners = {(u + d * s - utilities[arm]) / scales[arm] for u, s in rivals for d in range(-9, 10)}
        points = sorted({corner for corner in corners if abs(corner) < 9} | set(range(-9, 10)))
        return math.fsum(integrate.fixed_quad(integrand, a, b, n=16)[0] for a, b in itertools.pairwise(points))

    return [probability(arm) for arm in chosen]


def expected(world: Any, chosen: Sequence[int]) -> list[float]:
    if isinstance(world, MarkovChain):
        return markov_chain(world.arrivals, world.transitions, chosen)
    if isinstance(world, NestedLogit):
        return nested_logit(world.values, world.nests, world.dissimilarities, world.outside, chosen)
    if isinstance(world, MixedLogit):
        return mixed_logit(world.weights, world.values, world.outside, chosen)
    return unequal_noise(world.utilities, world.scales, world.outside, world.outside_scale, chosen)


def assert_right(world: Any, chosen: Sequence[int], tolerance: float, order: Sequence[int]) -> None:
    """Probabilities of the formula, in range, and those of the arms in whatever order."""
    means = means_of(world, chosen)
    assert means == pytest.approx(expected(world, chosen), rel=0, abs=tolerance)
    assert ((means >= 0) & (means <= 1 + tolerance)).all()
    assert math.fsum(means) <= 1 + tolerance
    moved = means_of(world, [chosen[place] for place in order])
    assert moved == pytest.approx(means[list(order)], rel=1e-12, abs=1e-14)


@st.composite
def sizes(draw: Any) -> tuple[int, list[int], list[int]]:
    """How many arms there are, some of them, and an order of those."""
    n = draw(st.integers(1, 6))
    k = draw(st.integers(1, n))
    return n, draw(st.permutations(range(n)))[:k], draw(st.permutations(range(k)))


WEIGHTS = st.one_of(st.just(0.0), st.floats(0.01, 100.0), st.sampled_from([1e-300, 1e-30, 1e30, 1e300, 1.7e308]))


@given(sizes(), st.data())
@settings(max_examples=150, deadline=None)
def test_markov_chains_have_the_probabilities_of_the_formula(size: Any, data: Any) -> None:
    n, chosen, order = size
    counts = data.draw(st.lists(st.lists(st.integers(0, 9), min_size=n + 1, max_size=n + 1), min_size=n, max_size=n))
    start = data.draw(st.lists(st.integers(0, 9), min_size=n + 1, max_size=n + 1))
    rows = []
    for arm, row in enumerate(counts):
        own = [0 if other == arm else count for other, count in enumerate(row[:n])]
        rows.append([count / (sum(own) + row[n] + 1) for count in own])
    arrivals = [count / max(sum(start), 1) for count in start[:n]]
    assert_right(MarkovChain(arrivals, rows, k=len(chosen)), chosen, 1e-13, order)


@given(sizes(), st.data())
@settings(max_examples=150, deadline=None)
def test_nested_logits_have_the_probabilities_of_the_formula_whatever_their_size(size: Any, data: Any) -> None:
    n, chosen, order = size
    lambdas = data.draw(st.lists(st.sampled_from([0.01, 0.1, 0.5, 0.9, 1.0]), min_size=1, max_size=4))
    nests = data.draw(st.lists(st.integers(0, len(lambdas) - 1), min_size=n, max_size=n))
    values = data.draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    outside = data.draw(st.sampled_from([1e-300, 0.3, 1.0, 40.0, 1e300]))
    assert_right(NestedLogit(values, nests, lambdas, k=len(chosen), outside=outside), chosen, 1e-12, order)


@given(sizes(), st.data())
@settings(max_examples=150, deadline=None)
def test_mixed_logits_have_the_probabilities_of_the_formula_whatever_their_size(size: Any, data: Any) -> None:
    n, chosen, order = size
    parts = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any))
    values = [data.draw(st.lists(WEIGHTS, min_size=n, max_size=n)) for _ in parts]
    outside = data.draw(st.sampled_from([1e-300, 0.3, 1.0, 40.0, 1e300]))
    world = MixedLogit(np.array(parts) / sum(parts), values, k=len(chosen), outside=outside)
    assert_right(world, chosen, 1e-14, order)


@given(sizes(), st.data())
@settings(max_examples=60, deadline=None)
def test_unequal_noises_have_the_probabilities_of_the_integral(size: Any, data: Any) -> None:
    n, chosen, order = size
    scale = st.floats(math.log(0.05), math.log(20.0)).map(math.exp)
    utilities = data.draw(st.lists(st.floats(-20.0, 20.0), min_size=n, max_size=n))
    scales = data.draw(st.lists(scale, min_size=n, max_size=n))
    world = UnequalNoise(utilities, scales, len(chosen), data.draw(st.floats(-9.0, 9.0)), data.draw(scale))
    assert_right(world, chosen, UnequalNoise.accuracy / 10, order)


@pytest.mark.parametrize(
    ("world", "probabilities"),
    [
        (VIOLATIONS["markov chain"][0], {(0, 1): (0.10, 0.45), (0, 2): (0.55, 0.45), (1, 2): (0.45, 0.45)}),
        (VIOLATIONS["nested logit"][0], {(0, 1): (0.2792, 0.2283), (0, 2): (0.4, 0.2), (1, 2): (0.3976, 0.2008)}),
        (VIOLATIONS["mixed logit"][0], {(0, 1): (0.2549, 0.2424), (0, 2): (0.4785, 0.2490)}),
        (VIOLATIONS["unequal noise"][0], {(0, 1): (0.6696, 0.2634), (0, 2): (0.4490, 0.4559)}),
    ],
    ids=list(VIOLATIONS),
)
def test_the_probabilities_worked_out_by_hand(world: Any, probabilities: dict[tuple[int, int], Any]) -> None:
    for chosen, values in probabilities.items():
        assert means_of(world, chosen) == pytest.approx(values, rel=0, abs=5.1e-5)
        assert means_of(world, chosen[::-1]) == pytest.approx(values[::-1], rel=0, abs=5.1e-5)


@pytest.mark.parametrize("name", VIOLATIONS)
def test_assumption_1_is_violated_by_as_much_as_worked_out_by_hand(name: str) -> None:
    world, best, chosen, arm, margin = VIOLATIONS[name]
    assert (world.weak_consistency, world.total_order) == ("sometimes", "sometimes")
    top = dict(zip(best, expected(world, best)))
    others = {other: math.fsum(expected(world, other)) for other in sets_of(world) if list(other) != best}
    assert math.fsum(top.values()) > max(others.values()) + 0.001
    found = {
        (other, own): value - top[own]
        for other in others
        for own, value in zip(other, expected(world, other))
        if own in top
    }
    assert min(found, key=lambda pair: found[pair]) == (chosen, arm)
    assert found[chosen, arm] == pytest.approx(margin, abs=5.1e-5)
    assert world.best().tolist() == best


def test_models_that_are_a_multinomial_logit_have_its_probabilities() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        n = int(rng.integers(1, 9))
        k = int(rng.integers(1, n + 1))
        values, outside = rng.exponential(size=n) ** 2, float(rng.random() + 0.1)
        logit = MNL(values, k, outside)
        nests = rng.integers(0, 3, n)
        chosen = rng.permutation(n)[:k]
        for world, tolerance in [
            (MarkovChain.from_weights(values, k, outside), 1e-14),
            (NestedLogit(values, nests, [1.0, 1.0, 1.0], k, outside), 1e-14),
            (NestedLogit(values, np.arange(n), np.full(n, 0.2), k, outside), 1e-14),
            (MixedLogit([1.0], [values], k, outside), 1e-14),
            (MixedLogit([0.25, 0.75], [values, values], k, outside), 1e-14),
            (RandomUtility(np.log(values), k, noise="gumbel", outside=math.log(outside)), 1e-12),
        ]:
            assert means_of(world, chosen) == pytest.approx(means_of(logit, chosen), rel=0, abs=tolerance)
            assert sorted(world.best()) == sorted(logit.best())


def test_a_chain_from_weights_of_any_size_is_the_multinomial_logit() -> None:
    for values in ([1.7e308, 1.7e308, 1e308], [0.0, 0.0, 2.0], [1e-300, 2e-300, 1e-300]):
        world = MarkovChain.from_weights(values, k=2, outside=max(values))
        for chosen in sets_of(world):
            logit = means_of(MNL(np.array(values) / max(values), k=2), chosen)
            assert means_of(world, chosen) == pytest.approx(logit, rel=0, abs=1e-14)
    alone = MarkovChain.from_weights([3.0], k=1, outside=2.0, names=["tea"])
    assert means_of(alone, [0]) == pytest.approx([0.6], rel=1e-15)
    assert alone.names == ("tea",)


def test_equal_noises_are_gaussian_random_utility() -> None:
    rng = np.random.default_rng(2)
    for scale in (0.05, 1.0, 20.0):
        utilities = rng.normal(size=12) * scale
        plain_world = RandomUtility(utilities, k=5, outside=0.4 * scale, scale=scale)
        world = UnequalNoise(utilities, np.full(12, scale), 5, 0.4 * scale, scale)
        for _ in range(5):
            chosen = rng.permutation(12)[:5]
            assert means_of(world, chosen) == pytest.approx(means_of(plain_world, chosen), rel=0, abs=1e-10)


def test_many_arms_with_equal_noise_are_within_the_accuracy_that_is_stated() -> None:
    means = means_of(UnequalNoise(np.zeros(100), np.ones(100), k=100), range(100))
    assert means == pytest.approx(np.full(100, 1 / 101), rel=0, abs=UnequalNoise.accuracy)
    assert math.fsum(means) == pytest.approx(100 / 101, rel=0, abs=1e-9)


def test_one_arm_and_two_have_normal_probabilities_whatever_their_noises() -> None:
    normal = statistics.NormalDist()
    for u, s, outside, own in itertools.product([-3.0, 0.2, 50.0], [0.05, 1.0, 20.0], [0.0, 1e6], [0.05, 1.0, 20.0]):
        share = normal.cdf((u - outside) / math.hypot(s, own))
        assert means_of(UnequalNoise([u], [s], 1, outside, own), [0]) == pytest.approx([share], rel=0, abs=1e-11)
        pair = UnequalNoise([u, outside], [s, own], 2, outside=-1e9)
        assert means_of(pair, [0, 1]) == pytest.approx([share, 1 - share], rel=0, abs=1e-11)


def test_utilities_and_noises_of_any_size_are_no_trouble() -> None:
    assert means_of(UnequalNoise([1e20, 1e20], [1.0, 3.0], k=2), [0, 1]) == pytest.approx([0.5, 0.5], abs=1e-11)
    beyond_two = statistics.NormalDist().cdf(-2.0)
    means = means_of(UnequalNoise([1e100, -1e100], [1e-100, 1e100], k=2), [0, 1])
    assert means == pytest.approx([1 - beyond_two, beyond_two], abs=1e-11)
    assert means_of(UnequalNoise([-1e100], [1e-100], k=1), [0]).tolist() == [0.0]


def test_a_very_long_walk_has_its_probabilities_to_the_last_digits_and_ends() -> None:
    out = 2.0**-36
    rows = [[0.0, 1.0 - 3 * out, out], [1.0 - out, 0.0, 0.0], [0.0, 0.0, 0.0]]
    world = MarkovChain([0.125, 0.375, 0.5], rows, k=1)
    exact = markov_chain(world.arrivals, rows, [2])
    assert means_of(world, [2]) == pytest.approx(exact, rel=1e-14)
    rng = np.random.default_rng(3)
    rewards, draws, total = np.zeros(1), 400, 0.0
    for _ in range(draws):
        world.draw(np.array([2]), rng, rewards)
        total += rewards[0]
    assert stats.binomtest(int(total), draws, exact[0]).pvalue > 1e-6


def trapped(transitions: Any, k: int) -> bool:
    """Whether there is a set and an arm outside of it, from which a walk never ends."""
    n = len(transitions)
    for chosen in itertools.combinations(range(n), k):
        ends = {arm for arm in range(n) if arm in chosen or sum(transitions[arm]) < 1}
        for _ in range(n):
            ends |= {arm for arm in range(n) if any(transitions[arm][other] > 0 for other in ends)}
        if len(ends) < n:
            return True
    return False


@given(st.integers(2, 5), st.integers(1, 4), st.data())
@settings(max_examples=200, deadline=None)
def test_chains_are_refused_if_and_only_if_a_walk_may_never_end(n: int, k: int, data: Any) -> None:
    k = min(k, n)
    transitions = np.zeros((n, n))
    for arm in range(n):
        targets = data.draw(st.sets(st.integers(0, n - 1).filter(lambda other, arm=arm: other != arm), max_size=2))
        leaks = data.draw(st.integers(0, 3)) == 0
        for other in targets:
            transitions[arm, other] = (0.5 if leaks else 1.0) / len(targets)
    if trapped(transitions.tolist(), k):
        with pytest.raises(InputError, match="lead only to one another"):
            MarkovChain(np.full(n, 1 / n), transitions, k=k)
    else:
        world = MarkovChain(np.full(n, 1 / n), transitions, k=k)
        for chosen in sets_of(world):
            assert means_of(world, chosen) == pytest.approx(expected(world, chosen), rel=0, abs=1e-13)


def test_arms_that_keep_a_walk_are_no_trouble_if_every_set_has_one_of_them() -> None:
    rows = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]]
    world = MarkovChain([0.25, 0.25, 0.5], rows, k=2)
    assert means_of(world, [0, 1]).tolist() == [0.5, 0.25]
    assert means_of(world, [2, 0]).tolist() == [0.5, 0.5]
    assert means_of(world, [1, 2]).tolist() == [0.5, 0.5]


def test_long_ways_are_followed_to_their_end() -> None:
    onwards = np.eye(10, k=1)
    start = np.eye(10)[0]
    for arm in range(10):
        assert means_of(MarkovChain(start, onwards, k=1), [arm]).tolist() == [1.0]
    ring = onwards.copy()
    ring[8] = start
    with pytest.raises(InputError, match=r"from the arms \[0, 1, 2, 3, 4, 5, 6, 7, 8\] transitions"):
        MarkovChain(start, ring, k=1)
    assert means_of(MarkovChain(start, ring, k=2), [9, 7]).tolist() == [0.0, 1.0]


def test_the_least_dissimilarity_leaves_a_nest_to_its_largest_weights() -> None:
    world = NestedLogit([1.0, 0.01, 1.0, 2.0], [0, 0, 0, 1], [1e-308, 1.0], k=4)
    assert means_of(world, range(4)) == pytest.approx([0.125, 0.0, 0.125, 0.5], rel=1e-15)


def test_sums_that_are_1_up_to_rounding_are_1() -> None:
    row = [0.0, 0.5 - 2e-13, 0.5]
    for rows in ([row, [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]], [[0.0, 0.5 + 2e-13, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]):
        world = MarkovChain([1 / 3, 1 / 3, 1 / 3 + 1e-13], rows, k=1)
        assert world.leaks.tolist() == [0.0, 0.0, 0.0]
        assert means_of(world, [1]) == pytest.approx([1.0], rel=0, abs=1e-15)
    assert MarkovChain([0.0, 0.0], [[0, 0.75], [0, 0]], k=1).leaks.tolist() == [0.25, 1.0]
    weights = MixedLogit([0.3, 0.7 + 5e-10], [[1.0], [2.0]], k=1).weights
    assert math.fsum(weights) == pytest.approx(1.0, rel=0, abs=2e-16)
    assert weights[0] == pytest.approx(0.3 / (1 + 5e-10), rel=1e-15)


@pytest.mark.parametrize("name", WORLDS)
def test_every_model_rewards_each_arm_by_itself(name: str) -> None:
    world = WORLDS[name]._replace(feedback="independent")
    rng, rewards = np.random.default_rng(4), np.zeros(world.k)
    most = 0.0
    best = world.best()
    for _ in range(200):
        world.draw(best, rng, rewards)
        most = max(most, rewards.sum())
    assert most >= 2


def draw_often(world: Any, chosen: Any, rng: Any, rounds: int, rewards: Any, totals: Any) -> None:
    """Note in which rounds each place was rewarded, then draw many rounds at once."""
    for t in range(rounds):
        world.draw(chosen, rng, rewards)
        for j in range(len(chosen)):
            totals[t, j] = rewards[j]
    world.draw_many(chosen, 1000, rng, totals[rounds])


@pytest.mark.parametrize("name", WORLDS)
def test_compiled_draws_have_the_same_bits(name: str) -> None:
    world, rounds = WORLDS[name], 400
    chosen, rewards = np.arange(world.k)[::-1].copy(), np.zeros(world.k)
    totals, same = np.zeros((rounds + 1, world.k)), np.zeros((rounds + 1, world.k))
    rng = np.random.default_rng(5)
    twin = copy.deepcopy(rng)
    draw_often(world, chosen, rng, rounds, rewards, totals)
    lean = world
    compile_for(draw_often, lean, chosen, twin, rounds, rewards, same)(lean, chosen, twin, rounds, rewards, same)
    assert np.array_equal(totals, same)
    assert rng.random() == twin.random()
    assert totals[:rounds].sum() > 100


@pytest.mark.parametrize("name", WORLDS)
def test_the_best_set_and_the_gaps_are_those_of_brute_force(name: str) -> None:
    world = WORLDS[name]
    values = {chosen: math.fsum(expected(world, chosen)) for chosen in sets_of(world)}
    top = max(values.values())
    assert values[tuple(world.best())] == pytest.approx(top, abs=1e-12)
    gaps = [top - value for value in values.values()]
    assert world.gaps() == pytest.approx((min(gap for gap in gaps if gap > 1e-9), max(gaps)), abs=1e-10)


def many_arms(model: Any, **options: Any) -> Any:
    """A world with more sets than can be looked at."""
    ones = np.full(60, 1 / 60)
    arguments: dict[Any, tuple[Any, ...]] = {
        MarkovChain: (ones, np.zeros((60, 60))),
        NestedLogit: (ones, np.zeros(60, np.int64), [0.5]),
        MixedLogit: ([1.0], [ones]),
        UnequalNoise: (ones, ones),
    }
    return model(*arguments[model], k=30, **options)


@pytest.mark.parametrize("model", MODELS)
def test_a_best_set_that_is_given_is_believed_and_needed_where_there_are_too_many_sets(model: Any) -> None:
    world = many_arms(model, best_set=range(30, 60))
    assert world.best().tolist() == list(range(30, 60))
    world.best()[0] = 7
    assert world.best_set[0] == 30
    assert not world.best_set.flags.writeable
    with pytest.raises(InputError, match=r"too many to look at one by one .* or give best_set"):
        many_arms(model).best()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("wrong", [[5], range(29), range(31), [0] * 30, range(31, 61), range(-1, 29), np.eye(2)])
def test_a_wrong_best_set_is_refused_in_one_sentence(model: Any, wrong: Any) -> None:
    with pytest.raises(InputError, match=rf"^{model.__name__}: best_set is .*") as refusal:
        many_arms(model, best_set=wrong)
    assert "\n" not in str(refusal.value)


def test_the_sentence_on_a_best_set_says_what_would_do() -> None:
    with pytest.raises(InputError) as refusal:
        check_best_set("MixedLogit: best_set", (0, 3), n=3, k=2)
    assert str(refusal.value) == "MixedLogit: best_set is (0, 3); it has to be 2 distinct arms from 0 to 2"
    assert check_best_set("MixedLogit: best_set", None, n=3, k=2) is None


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_made_from_itself_is_the_same(name: str) -> None:
    world = WORLDS[name]._replace(best_set=range(WORLDS[name].k), names=[f"arm {i}" for i in range(WORLDS[name].n)])
    assert value_digest(world._replace()) == value_digest(world)
    assert world._replace().names == world.names
    assert "leaks" not in repr(world)


def test_shares_that_are_made_to_add_up_to_1_are_not_changed_again() -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        parts = rng.random(7)
        mixed = MixedLogit(parts / parts.sum() * (1 + 3e-10), np.ones((7, 2)), k=1)
        chain = MarkovChain(parts / parts.sum() * (1 + 3e-13), np.zeros((7, 7)), k=1)
        assert value_digest(mixed._replace()) == value_digest(mixed)
        assert value_digest(chain._replace()) == value_digest(chain)
        assert math.fsum(mixed.weights) == pytest.approx(1.0, rel=0, abs=1e-15)


TWO = [[0.0, 0.5], [0.5, 0.0]]
RING = [[0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.5, 0.0, 0.5], [0.0, 1.0 - 1e-14, 0.0, 0.0]]


def chain(arrivals: Any = (0.5, 0.5), transitions: Any = TWO, k: Any = 1, **options: Any) -> Any:
    return MarkovChain(arrivals, transitions, k, **options)


def nested(values: Any = (1.0, 2.0), nests: Any = (0, 1), lambdas: Any = (0.5, 1.0), k: Any = 1, **options: Any) -> Any:
    return NestedLogit(values, nests, lambdas, k, **options)


def mixed(weights: Any = (0.5, 0.5), values: Any = ((1.0, 2.0), (3.0, 0.0)), k: Any = 1, **options: Any) -> Any:
    return MixedLogit(weights, values, k, **options)


def unequal(utilities: Any = (1.0, 2.0), scales: Any = (1.0, 3.0), k: Any = 1, **options: Any) -> Any:
    return UnequalNoise(utilities, scales, k, **options)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: chain(5.0), "MarkovChain: arrivals has 0 dimensions; give a list"),
    (lambda: chain([-0.1, 0.5]), "MarkovChain: arrivals is -0.1 at position 0; it has to be from 0 to 1"),
    (lambda: chain([0.5, math.nan]), "MarkovChain: arrivals has a NaN at position 1"),
    (lambda: chain([0.7, 0.6]), "MarkovChain: arrivals adds up to 1.3; give at most 1 in all, as the rest arrives at"),
    (lambda: chain([0.5, 0.5 + 1e-11]), "MarkovChain: arrivals adds up to 1"),
    (lambda: chain(transitions=[0.0, 0.5]), r"transitions has the shape \(2,\) for 2 arms; give a row of 2 numbers"),
    (lambda: chain(transitions=np.zeros((3, 3))), r"transitions has the shape \(3, 3\) for 2 arms"),
    (lambda: chain(transitions=[[0.0, -0.5], [0.5, 0.0]]), "transitions is -0.5 at position 0, 1; it has to be from 0"),
    (lambda: chain(transitions=[[0.0, 0.5], [0.5, 0.1]]), "transitions is 0.1 at position 1, 1; no arm leads to"),
    (
        lambda: chain([0.5] * 2 + [0.0], [[0, 0.5, 0.4], [0.6, 0, 0.6], [0, 0, 0]]),
        "MarkovChain: row 1 of transitions adds up to 1.2; give at most 1 in all, as the rest goes to the outside",
    ),
    (
        lambda: chain([1.0, 0.0, 0.0], [[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
        r"from the arms \[0, 1\] transitions lead only to one another, .*; let one of their rows .* k more than 1$",
    ),
    (lambda: chain([1.0, 0.0, 0.0, 0.0], RING), r"from the arms \[1, 2, 3\] transitions lead only .* k more than 1$"),
    (lambda: chain(k=3), "k=3 is more than the 2 arms"),
    (lambda: chain(names=["tea"]), "names has 1 entries for 2 arms"),
    (lambda: chain(feedback="chioce"), "feedback is 'chioce'"),
    (lambda: chain(outside=1.0), "MarkovChain has no parameter 'outside'"),
    (lambda: MarkovChain.from_weights([1.0, -1.0], k=1), "MarkovChain: values is -1 at position 1"),
    (lambda: MarkovChain.from_weights([1.0, math.inf], k=1), "MarkovChain: values is inf at position 1"),
    (lambda: MarkovChain.from_weights(3.0, k=1), "MarkovChain: values has 0 dimensions"),
    (lambda: MarkovChain.from_weights([], k=1), "n is 0"),
    (lambda: MarkovChain.from_weights([1.0], k=1, outside=0), "MarkovChain: outside is 0; it has to be above 0"),
    (lambda: MarkovChain.from_weights([1.0], k=1, outside="much"), "MarkovChain: outside is 'much'"),
    (lambda: nested(5.0), "NestedLogit: values has 0 dimensions"),
    (lambda: nested([1.0, -2.0]), "NestedLogit: values is -2 at position 1"),
    (lambda: nested([1.0, math.inf]), "NestedLogit: values is inf at position 1"),
    (lambda: nested(outside=0.0), "NestedLogit: outside is 0; it has to be above 0"),
    (lambda: nested(k=0), "k is 0"),
    (lambda: nested(nests=[0, 2]), "NestedLogit: nests is 2 at position 1; it has to be from 0 to 1"),
    (lambda: nested(nests=[-1, 0]), "NestedLogit: nests is -1 at position 0; it has to be from 0 to 1"),
    (lambda: nested(nests=[0, 1, 1]), r"NestedLogit: nests has the shape \(3,\) for 2 arms; give a list"),
    (lambda: nested(nests=[0.0, 1.0]), r"NestedLogit: nests is \[0.0, 1.0\], which is not a list of whole numbers"),
    (lambda: nested(lambdas=[0.5, 0.0]), "dissimilarities is 0 at position 1; it has to be above 0 and at most 1"),
    (lambda: nested(lambdas=[1.5, 1.0]), "dissimilarities is 1.5 at position 0; it has to be above 0 and at most 1"),
    (lambda: nested(lambdas=0.5), r"dissimilarities has the shape \(\); give a list with a number for each nest"),
    (lambda: nested(lambdas=[]), r"dissimilarities has the shape \(0,\); give a list with a number for each nest"),
    (lambda: nested(names=["tea", "tea"]), "names has 'tea' more than once"),
    (lambda: mixed(0.5), "MixedLogit: weights has 0 dimensions; give a list with a number for each class"),
    (lambda: mixed([0.5, 0.6]), "MixedLogit: weights adds up to 1.1; the shares of the classes have to make 1"),
    (lambda: mixed([0.5, 0.5 + 2e-9]), "MixedLogit: weights adds up to 1.000000002"),
    (lambda: mixed([1.5, -0.5]), "MixedLogit: weights is 1.5 at position 0; it has to be from 0 to 1"),
    (lambda: mixed([], np.zeros((0, 2))), "MixedLogit: weights adds up to 0"),
    (lambda: mixed(values=[1.0, 2.0]), r"MixedLogit: values has the shape \(2,\) for 2 classes; give a row for each"),
    (lambda: mixed(values=[[1.0, 2.0]]), r"MixedLogit: values has the shape \(1, 2\) for 2 classes"),
    (lambda: mixed(values=[[1.0, 2.0], [-1.0, 0.0]]), "MixedLogit: values is -1 at position 1, 0"),
    (lambda: mixed(values=[[1.0, 2.0], [1.0]]), "values is .*, which is not a list of numbers"),
    (lambda: mixed(values=[[], []]), "n is 0"),
    (lambda: mixed(outside=-1), "MixedLogit: outside is -1"),
    (lambda: mixed(k=3), "k=3 is more than the 2 arms"),
    (lambda: mixed(names="ab"), "names is 'ab'"),
    (lambda: unequal(5.0), "UnequalNoise: utilities has 0 dimensions"),
    (lambda: unequal([1.0, math.inf]), r"UnequalNoise: utilities is inf at position 1; it has to be from -1e\+100 to"),
    (lambda: unequal(scales=1.0), r"UnequalNoise: scales has the shape \(\) for 2 arms; give a list with a number"),
    (lambda: unequal(scales=[1.0, 0.0]), "UnequalNoise: scales is 0 at position 1; it has to be from 1e-100 to"),
    (lambda: unequal(scales=[-1.0, 1.0]), "UnequalNoise: scales is -1 at position 0"),
    (lambda: unequal(outside=math.inf), "UnequalNoise: outside is inf"),
    (lambda: unequal(outside_scale=0), "UnequalNoise: outside_scale is 0; it has to be from 1e-100 to"),
    (lambda: unequal(k=1.5), "k is 1.5"),
    (lambda: unequal(names=5), "names is 5"),
]


@pytest.mark.parametrize(("make", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_wrong_input_is_refused_in_one_sentence(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_the_worlds_that_are_spoilt_for_refusal_are_right_themselves() -> None:
    assert [make().n for make in (chain, nested, mixed, unequal)] == [2, 2, 2, 2]
    assert chain([1.0, 0.0, 0.0, 0.0], RING, k=2).n == 4
