"""The reward models against the plain reference, hand-computed values, brute force and Monte Carlo.

The tests that compare samples raise a false alarm once in a million seeds each, and there are fewer than a hundred of
them; the seeds are fixed.
"""

import itertools
import math
import statistics
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import setwise as sw
from reference import worlds
from reference.sets import gaps_by_brute_force, means_of, sets_of, value_of
from setwise import InputError
from setwise.environments import MNL, Independent, PreferenceMatrix, RandomUtility, RandomWeak, Scaled, Table
from setwise.environments.random_weak import uniform_in_corner
from setwise.paper.instances import INSTANCES, camera_probabilities

FALSE_ALARMS = 1e-6
PAIRS = {(0, 1): (0.3, 0.3), (0, 2): (0.6, 0.4), (1, 2): (0.3, 0.4)}


def logistic(u: float) -> float:
    return math.log(u / (1 - u))


@pytest.mark.parametrize(
    ("world", "reference", "tolerance"),
    [
        (sw.paper.mnl(), worlds.mnl(), 1e-12),
        (MNL([0.3, 2.0, 0.0, 7.5, 1.0], k=3, outside=0.4), worlds.mnl([0.3, 2.0, 0.0, 7.5, 1.0], 3, 0.4), 1e-12),
        (sw.paper.random_utility(), worlds.random_utility(), 1e-9),
        (
            RandomUtility([-1.0, 0.5, 3.0, 0.5, 2.0], k=3, outside=-0.3),
            worlds.random_utility([-1.0, 0.5, 3.0, 0.5, 2.0], 3, -0.3),
            1e-9,
        ),
        (sw.paper.preference_matrix(), worlds.preference_matrix(), 1e-12),
        (sw.paper.camera(), worlds.camera(), 1e-12),
        (Independent([0.9, 0.0, 1.0, 0.25], k=2), worlds.independent([0.9, 0.0, 1.0, 0.25], 2), 1e-12),
    ],
    ids=["mnl", "small mnl", "random utility", "small random utility", "preference matrix", "camera", "independent"],
)
def test_means_are_those_of_the_reference_whatever_the_order(world: Any, reference: Any, tolerance: float) -> None:
    assert (world.n, world.k) == (reference.n, reference.k)
    assert sorted(world.best().tolist()) == sorted(reference.best())
    rng = np.random.default_rng(1)
    for _ in range(60):
        chosen = rng.permutation(world.n)[: world.k].tolist()
        assert means_of(world, chosen) == pytest.approx(reference.probabilities(chosen), rel=0, abs=tolerance)


def test_random_weak_means_belong_to_the_arms_whatever_their_order() -> None:
    world = RandomWeak(6, 3, seed=3)
    for row, chosen in enumerate(sets_of(world)):
        for order in itertools.permutations(range(3)):
            moved = means_of(world, [chosen[place] for place in order])
            assert moved.tolist() == world.probabilities[row, list(order)].tolist()


@pytest.mark.parametrize(
    ("name", "best", "value", "least", "largest"),
    [
        ("camera", [0, 1, 2], 0.90, 0.05, 0.63),
        ("mnl", list(range(10)), 0.886364, 5.189e-4, 0.094697),
        ("random-utility", list(range(5)), 0.511595, 2.308e-3, 0.191903),
        ("preference-matrix", [0, 1], 0.92, 0.02, 0.02),
    ],
)
def test_the_papers_worlds_have_the_values_worked_out_by_hand(
    name: str, best: list[int], value: float, least: float, largest: float
) -> None:
    world = INSTANCES[name]()
    assert sorted(world.best().tolist()) == best
    assert value_of(world, world.best()) == pytest.approx(value, abs=1e-6)
    assert world.gaps() == pytest.approx((least, largest), abs=5e-7)


def test_the_optimal_sets_of_the_paper_have_the_probabilities_worked_out_by_hand() -> None:
    utility = [0.116170, 0.108874, 0.101956, 0.095400, 0.089194]
    assert means_of(sw.paper.random_utility(), range(5)) == pytest.approx(utility, abs=1e-6)
    logit = means_of(sw.paper.mnl(), range(10))
    assert logit[[0, 9]] == pytest.approx([0.10909, 0.06818], abs=5e-6)
    assert sw.paper.mnl().gaps()[0] == pytest.approx(1 / 8.76 - 1 / 8.80, abs=1e-12)
    assert means_of(sw.paper.preference_matrix(), [0, 1]) == pytest.approx([0.47, 0.45], abs=1e-12)
    assert means_of(sw.paper.camera(), [0, 1, 2]) == pytest.approx([0.35, 0.30, 0.25], abs=1e-12)


def test_the_camera_table_is_exact_and_has_its_tie() -> None:
    table = camera_probabilities()
    reference = worlds.camera()
    for chosen in reference.sets():
        names = tuple(worlds.CAMERA_NAMES[arm] for arm in chosen)
        assert list(table[names]) == list(reference.exact(chosen))
    assert table["Canon", "Sony", "Digital Camera"] == (Fraction(3, 10), Fraction(1, 4), Fraction(3, 10))
    world = sw.paper.camera()
    assert world.names == worlds.CAMERA_NAMES
    assert means_of(world, [1, 3, 2])[0] == means_of(world, [1, 3, 2])[1]


@pytest.mark.parametrize("scale", [1.0, 0.4, 3.0])
def test_gumbel_noise_is_a_multinomial_logit(scale: float) -> None:
    rng = np.random.default_rng(2)
    utilities = rng.normal(size=8) * 3
    world = RandomUtility(utilities, k=4, noise="gumbel", outside=0.7, scale=scale)
    logit = MNL.from_utilities(utilities / scale, k=4, outside=0.7 / scale)
    for _ in range(30):
        chosen = rng.permutation(8)[:4]
        assert means_of(world, chosen) == pytest.approx(means_of(logit, chosen), rel=0, abs=1e-12)
    assert world.best().tolist() == logit.best().tolist()


def test_utilities_of_any_size_are_no_trouble_to_gumbel_noise() -> None:
    world = RandomUtility([2000.0, 1999.0, -3000.0], k=2, noise="gumbel", outside=1998.0)
    expected = np.exp([0.0, -1.0]) / np.exp([0.0, -1.0, -2.0]).sum()
    assert means_of(world, [0, 1]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 0.3, 5.0])
def test_gaussian_noise_by_its_quantiles_is_gaussian_noise(scale: float) -> None:
    rng = np.random.default_rng(3)
    gaussian = RandomUtility(rng.normal(size=7), k=4, outside=0.5, scale=scale)
    tabulated = gaussian._replace(noise=statistics.NormalDist().inv_cdf)
    for _ in range(3):
        chosen = rng.permutation(7)[:4]
        assert means_of(tabulated, chosen) == pytest.approx(means_of(gaussian, chosen), rel=0, abs=1e-9)


@pytest.mark.parametrize("noise", ["gaussian", logistic, float], ids=["gaussian", "logistic", "uniform"])
def test_random_utility_means_are_those_of_drawn_utilities(noise: Any) -> None:
    rng = np.random.default_rng(4)
    utilities, outside, scale, draws = np.array([0.2, -0.1, 0.45]), 0.1, 1.3, 400_000
    u = rng.random((draws, 4))
    noises = {"gaussian": stats.norm.ppf, logistic: stats.logistic.ppf, float: np.array}[noise](u)
    drawn = np.append(utilities, outside) + scale * noises
    shares = np.bincount(drawn.argmax(axis=1), minlength=4)[:3] / draws
    means = means_of(RandomUtility(utilities, k=3, noise=noise, outside=outside, scale=scale), range(3))
    limit = stats.norm.isf(FALSE_ALARMS / 6)
    assert (np.abs(shares - means) < limit * np.sqrt(means * (1 - means) / draws)).all()


def test_random_utility_of_one_arm_is_a_normal_probability() -> None:
    for utility, scale in itertools.product([-8.0, -1.0, 0.0, 0.3, 4.0, 30.0], [0.5, 1.0, 4.0]):
        world = RandomUtility([utility], k=1, outside=1.0, scale=scale)
        expected = statistics.NormalDist().cdf((utility - 1.0) / scale / math.sqrt(2))
        assert means_of(world, [0]) == pytest.approx([expected], rel=0, abs=1e-12)


@pytest.mark.parametrize("noise", ["gaussian", "gumbel", logistic])
def test_an_arm_that_always_wins_can_be_drawn_any_number_of_times(noise: Any) -> None:
    rng = np.random.default_rng(5)
    totals = np.zeros(1)
    for utility in np.linspace(12.0, 40.0, 200 if isinstance(noise, str) else 5):
        world = RandomUtility([utility], k=1, noise=noise, feedback="independent")
        assert means_of(world, [0]) == pytest.approx([1.0], abs=1e-4)
        world.draw_many(np.array([0]), 1000, rng, totals)
        assert 990 <= totals[0] <= 1000


def test_a_table_is_the_same_from_a_mapping_and_from_rows() -> None:
    rng = np.random.default_rng(6)
    rows = rng.random((10, 3)) / 3
    sets = list(itertools.combinations(range(5), 3))
    mapping = {}
    for chosen, row in zip(sets, rows):
        order = rng.permutation(3)
        mapping[tuple(chosen[place] for place in order)] = tuple(row[order])
    from_rows, from_mapping = Table(rows), Table(dict(reversed(mapping.items())))
    assert (from_rows.n, from_rows.k) == (from_mapping.n, from_mapping.k) == (5, 3)
    assert np.array_equal(from_rows.probabilities, from_mapping.probabilities)
    for chosen, row in zip(sets, rows):
        assert means_of(from_mapping, chosen).tolist() == row.tolist()


def test_a_table_is_the_same_by_names_and_by_numbers() -> None:
    names = ("tea", "milk", "salt")
    by_name = Table({tuple(names[arm] for arm in key): row for key, row in PAIRS.items()}, names=names)
    assert np.array_equal(by_name.probabilities, Table(PAIRS).probabilities)
    assert means_of(by_name, [2, 0]).tolist() == [0.4, 0.6]
    assert by_name.best().tolist() == [0, 2]
    assert by_name.gaps() == pytest.approx((0.3, 0.4))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 1), (5, 5), (7, 3)])
def test_a_table_of_any_size_finds_its_rows(n: int, k: int) -> None:
    rows = np.arange(math.comb(n, k) * k, dtype=float).reshape(-1, k) / 1000
    world = Table(rows, feedback="independent", n=n)
    for row, chosen in enumerate(itertools.combinations(range(n), k)):
        assert means_of(world, chosen).tolist() == rows[row].tolist()
        assert means_of(world, chosen[::-1]).tolist() == rows[row, ::-1].tolist()


@pytest.mark.parametrize("levels", [0, 2, 3])
@pytest.mark.parametrize(
    "make",
    [
        lambda values, k: MNL(values, k, outside=0.7),
        lambda values, k: RandomUtility(2 * values, k, noise="gumbel", outside=0.5),
        lambda values, k: Independent(values, k),
        lambda values, k: Scaled(Independent(values, k), 2.5),
        lambda values, k: Scaled(MNL(values, k), np.arange(1, len(values) + 1)),
    ],
    ids=["mnl", "random utility", "independent", "one price", "prices"],
)
def test_gaps_and_the_best_set_are_those_of_brute_force(make: Callable[..., Any], levels: int) -> None:
    rng = np.random.default_rng(7)
    for n, k in itertools.product([3, 5, 6], [1, 2, 3]):
        values = rng.integers(1, levels + 1, n) / 4.0 if levels else rng.random(n)
        world = make(values, k)
        assert world.gaps() == pytest.approx(gaps_by_brute_force(world), rel=1e-9, abs=1e-12)
        best = max(value_of(world, chosen) for chosen in sets_of(world))
        assert value_of(world, world.best()) == pytest.approx(best, abs=1e-12)


def test_gaps_of_gaussian_utilities_are_those_of_brute_force() -> None:
    for utilities in ([0.5, 0.1, 0.5, -1.0, 0.1], [1.0, 1.0, 1.0, 0.0, 0.0], [0.3, 2.0, 1.0, 0.2, 0.1]):
        world = RandomUtility(utilities, k=2, outside=0.5)
        assert world.gaps() == pytest.approx(gaps_by_brute_force(world), abs=1e-10)


@pytest.mark.parametrize("world", [Table(PAIRS), sw.paper.preference_matrix(), RandomWeak(5, 2, seed=1)], ids=repr)
def test_gaps_of_tables_are_those_of_brute_force(world: Any) -> None:
    assert world.gaps() == pytest.approx(gaps_by_brute_force(world), abs=1e-12)


@pytest.mark.parametrize("world", [MNL([2.0] * 4, k=2), Independent([0.1, 0.2], k=2), Table([[0.4, 0.5]])], ids=repr)
def test_there_is_no_gap_where_all_sets_are_as_good(world: Any) -> None:
    assert world.gaps() == (0.0, 0.0)


def assert_consistent(world: RandomWeak) -> None:
    """Assumption 1, and that the first k arms are best."""
    k, best = world.k, world.probabilities[0]
    for chosen, row in zip(sets_of(world), world.probabilities):
        assert all(row[place] >= best[arm] for place, arm in enumerate(chosen) if arm < k)
        assert ((row >= 0) & (row <= 1 / k + 1e-15)).all()
    totals = world.probabilities.sum(axis=1)
    assert (totals[1:] <= totals[0] - world.margin + 1e-12).all()


@pytest.mark.parametrize("seed", range(20))
def test_random_worlds_are_weakly_consistent_and_keep_their_margin(seed: int) -> None:
    assert_consistent(RandomWeak(seed=seed))
    assert_consistent(RandomWeak(5, 2, seed=seed, margin=0.05))


def test_equal_seeds_give_equal_worlds_and_other_seeds_others() -> None:
    first, same, other = (RandomWeak(seed=seed).probabilities for seed in (5, 5, 6))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_hard_seeds_do_not_hang() -> None:
    hardest = min((RandomWeak(seed=seed) for seed in range(200)), key=lambda world: world.probabilities[0].min())
    assert hardest.probabilities[0].min() < 1e-3  # by rejection it would take some (k P)^-5 > 10^11 trials
    assert_consistent(hardest)


def test_the_optimal_set_of_random_worlds_is_uniform() -> None:
    drawn = np.array([RandomWeak(3, 2, seed=seed).probabilities[0] for seed in range(2000)])
    for own in drawn.T:
        assert stats.kstest(own, stats.uniform(0, 0.5).cdf).pvalue > FALSE_ALARMS / 3
    assert stats.spearmanr(*drawn.T).pvalue > FALSE_ALARMS / 3


def corners() -> list[tuple[Any, float]]:
    """The boxes, and the sums they may have, of the sets of two worlds whose optimal sets are easy for rejection."""
    found = []
    for n, optimal in [(4, [0.30, 0.41]), (5, [0.21, 0.30, 0.17])]:
        k = len(optimal)
        for chosen in list(itertools.combinations(range(n), k))[1:]:
            widths = 1 / k - np.array([optimal[arm] if arm < k else 0.0 for arm in chosen])
            found.append((widths, math.fsum(p for arm, p in enumerate(optimal) if arm not in chosen)))
    return found


def by_rejection(widths: Any, most: float, draws: int, rng: np.random.Generator) -> Any:
    points = rng.random((200 * draws, len(widths))) * widths
    return points[points.sum(axis=1) <= most][:draws]


def by_scaling(widths: Any, most: float, rng: np.random.Generator) -> Any:
    """Not the law: a point of the box, pulled into the corner if it lies outside."""
    point = rng.random(len(widths)) * widths
    return point * min(1.0, most / point.sum() * rng.random() ** (1 / len(widths)))


def least_p_value(sampler: Any, draws: int = 4000) -> tuple[float, int]:
    """Of all Kolmogorov-Smirnov tests of coordinates and sums against plain rejection, and how many those are."""
    values = []
    for number, (widths, most) in enumerate(corners()):
        own, plain = np.random.default_rng([1, number]), np.random.default_rng([2, number])
        left = np.array([sampler(widths, most, own) for _ in range(draws)])
        right = by_rejection(widths, most, draws, plain)
        assert left.shape == right.shape
        columns = [*zip(left.T, right.T), (left.sum(axis=1), right.sum(axis=1))]
        values += [stats.ks_2samp(*column, method="asymp").pvalue for column in columns]
    return min(values), len(values)


def test_random_worlds_have_the_law_of_plain_rejection() -> None:
    least, tests = least_p_value(uniform_in_corner)
    assert tests == 51
    assert least > FALSE_ALARMS / tests


def test_another_law_than_that_of_plain_rejection_is_noticed() -> None:
    least, tests = least_p_value(by_scaling)
    assert least < FALSE_ALARMS / tests


def test_prices_multiply_means_and_rewards() -> None:
    prices = np.array([4.0, 0.0, 2.5])
    base = Table(PAIRS)
    world = Scaled(base, prices)
    assert (world.n, world.k, world.bound) == (3, 2, 4.0)
    assert (world.feedback, world.rewards) == ("choice", "bounded")
    assert world.outside_option == base.outside_option
    for chosen in ([0, 2], [2, 0], [1, 2]):
        assert means_of(world, chosen).tolist() == (means_of(base, chosen) * prices[chosen]).tolist()
        own, twin = (np.random.default_rng(8) for _ in range(2))
        rewards, plain = np.zeros(2), np.zeros(2)
        for _ in range(30):
            world.draw(np.array(chosen), own, rewards)
            base.draw(np.array(chosen), twin, plain)
            assert rewards.tolist() == (plain * prices[chosen]).tolist()
        world.draw_many(np.array(chosen), 1000, own, rewards)
        base.draw_many(np.array(chosen), 1000, twin, plain)
        assert rewards.tolist() == (plain * prices[chosen]).tolist()


def test_the_best_set_with_prices_is_that_of_brute_force() -> None:
    rng = np.random.default_rng(9)
    by_price = 0
    for _ in range(100):
        n = int(rng.integers(2, 8))
        k = int(rng.integers(1, n + 1))
        values, prices = rng.random(n) ** 2 * 4, rng.integers(0, 6, n) + rng.random(n)
        for base in (MNL(values, k, outside=rng.random() + 0.1), Independent(values / 4, k)):
            world = Scaled(base, prices)
            best = max(value_of(world, chosen) for chosen in sets_of(world))
            assert len(set(world.best().tolist())) == k
            assert value_of(world, world.best()) == pytest.approx(best, rel=1e-12)
            by_price += set(world.best().tolist()) != set(base.best().tolist())
    assert by_price > 50


def test_one_price_for_all_keeps_the_best_set_and_scales_the_gaps() -> None:
    world = Scaled(sw.paper.random_utility(), 3.0)
    assert world.best().tolist() == [0, 1, 2, 3, 4]
    assert world.gaps() == pytest.approx(np.array(world.base.gaps()) * 3)
    assert world.bound == 3.0


def test_a_best_set_that_is_given_is_believed() -> None:
    world = Scaled(Independent(np.linspace(0, 1, 60), k=30), np.linspace(1, 2, 60), best_set=range(30, 60))
    assert world.best().tolist() == list(range(30, 60))


SQUARE = [[0.0, 0.1], [-0.1, 0.0]]

REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: Independent([0.5, 1.2], k=1), "values is 1.2 at position 1"),
    (lambda: Independent([-0.2, 0.5], k=1), "values is -0.2 at position 0"),
    (lambda: Independent([0.7, 0.6, 0.1], k=2, feedback="choice"), "add up to 1.3"),
    (lambda: Table([[0.5, 1.5]]), "probabilities is 1.5 at position 0, 1"),
    (lambda: Table({**PAIRS, (0, 1): (0.7, 0.6)}), r"of the set \[0, 1\] add up to 1.3"),
    (lambda: Table({(0, 1): (0.3, 0.3), (1, 2): (0.1, 0.1)}), r"the set \(0, 2\) is missing"),
    (lambda: Table({**PAIRS, (1, 0): (0.3, 0.3)}), r"the set \(0, 1\) is given twice"),
    (lambda: Table({**PAIRS, (0, 2): (0.3,)}), r"the set \(0, 2\) has 1 probabilities"),
    (lambda: Table({**PAIRS, (2, 2): (0.3, 0.3)}), r"the set \(2, 2\)"),
    (lambda: Table({**PAIRS, (0, 1, 2): (0.1, 0.1, 0.1)}), r"the set \(0, 1, 2\)"),
    (lambda: Table(PAIRS, n=2), "arm 2 is in the table, but there are 2 arms"),
    (lambda: Table({("tea", "rum"): (0.1, 0.1)}, names=("tea", "milk")), "'rum', which is not in names"),
    (lambda: Table({}), "the mapping is empty"),
    (lambda: Table({(): ()}), "set"),
    (lambda: Table({0: 0.3, 1: 0.4}), "0"),
    (lambda: Table(np.full((4, 2), 0.1)), "4 rows for the 6 sets of 2 of 4"),
    (lambda: Table(np.full((4, 2), 0.1), n=3), "4 rows for the 3 sets of 2 of 3"),
    (lambda: Table(np.full((3, 2, 1), 0.1)), "3 dimensions"),
    (lambda: PreferenceMatrix([[0.0, 0.1], [0.1, 0.0]], 0.1), r"matrix is 0.1 at \(0, 1\) and 0.1 at \(1, 0\)"),
    (lambda: PreferenceMatrix([[0.0, 0.1, 0.2], [-0.1, 0.0, 0.2]], 0.1), r"shape \(2, 3\)"),
    (lambda: PreferenceMatrix([0.0, 0.1], 0.1), r"shape \(2,\)"),
    (lambda: PreferenceMatrix([[0.0]], 0.1), "k=2 is more than the 1 arms"),
    (lambda: PreferenceMatrix([[0.0, 0.95], [-0.95, 0.0]], 0.1), r"pair \(0, 1\) is -0.025"),
    (lambda: PreferenceMatrix(SQUARE, [[0.0, 0.1], [0.2, 0.0]]), r"outside differs at \(0, 1\)"),
    (lambda: PreferenceMatrix(SQUARE, [0.1, 0.2, 0.3]), r"outside has the shape \(3,\)"),
    (lambda: PreferenceMatrix(SQUARE, -0.2), r"outside of the pair \(0, 1\) is -0.2"),
    (lambda: MNL([1.0, 2.0], k=3), "k=3 is more than the 2 arms"),
    (lambda: MNL([1.0, 2.0], k=0), "k is 0"),
    (lambda: MNL([1.0, 2.0], k=1.5), "k is 1.5"),
    (lambda: MNL([1.0, math.nan], k=1), "values has a NaN at position 1"),
    (lambda: MNL([1.0, -1.0], k=1), "values is -1 at position 1"),
    (lambda: MNL([1.0, math.inf], k=1), "values is inf at position 1"),
    (lambda: MNL([1.0, 1.0], k=1, outside=0), "outside is 0"),
    (lambda: MNL([1.0, 1.0], k=1, outside=-1), "outside is -1"),
    (lambda: MNL([1.0, 1.0], k=1, outside=math.nan), "outside is not a number"),
    (lambda: MNL([], k=1), "n is 0"),
    (lambda: MNL(5.0, k=1), "values"),
    (lambda: MNL([[1.0, 2.0], [3.0, 4.0]], k=1), "values"),
    (lambda: MNL([1.0, 2.0], k=1, names=("tea",)), "names has 1 entries for 2 arms"),
    (lambda: MNL([1.0, 2.0], k=1, names=("tea", "tea")), "names has 'tea' more than once"),
    (lambda: MNL([1.0, 2.0], k=1, names=5), "names is 5"),
    (lambda: MNL([1.0, 2.0], k=1, names="ab"), "names is 'ab'"),
    (lambda: MNL([1.0, 2.0], k=1, feedback="chioce"), "feedback is 'chioce'"),
    (lambda: MNL([1.0, 2.0], k=1, outsde=2.0), "no parameter 'outsde'; did you mean 'outside'"),
    (lambda: MNL([1.0, 2.0]), "'k'"),
    (lambda: MNL.from_utilities([1000.0, 1.0], k=1), "utilities"),
    (lambda: RandomUtility([1.0, 2.0], k=1, noise="gauss"), "noise is 'gauss'"),
    (lambda: RandomUtility([1.0, 2.0], k=1, noise=["gaussian"]), r"noise is \['gaussian'\]"),
    (lambda: RandomUtility([1.0, 2.0], k=1, noise=lambda u: -u), "noise is not a strictly increasing"),
    (lambda: RandomUtility([1.0, 2.0], k=1, noise=lambda u: 0.0), "noise is not a strictly increasing"),
    (lambda: RandomUtility([1.0, 2.0], k=1, scale=0), "scale is 0"),
    (lambda: RandomUtility([1.0, math.nan], k=1), "utilities has a NaN"),
    (lambda: RandomUtility([1.0, 2.0], k=3), "k=3 is more than the 2 arms"),
    (lambda: RandomWeak(2, 4), "k=4 is more than the 2 arms"),
    (lambda: RandomWeak(4, 2, margin=0.5), "margin is 0.5; with k=2"),
    (lambda: RandomWeak(4, 2, seed=-1), "seed is -1"),
    (lambda: RandomWeak(100, 50), "50 of 100 arms"),
    (lambda: Scaled(MNL([1.0, 2.0], k=1), [1.0, 2.0, 3.0]), r"prices has the shape \(3,\)"),
    (lambda: Scaled(MNL([1.0, 2.0], k=1), [1.0, -2.0]), "prices is -2 at position 1"),
    (lambda: Scaled(MNL([1.0, 2.0], k=1), [0.0, 0.0]), "all prices are 0"),
    (lambda: Scaled(MNL([1.0, 2.0], k=1), [math.nan, 1.0]), "prices has a NaN at position 0"),
    (lambda: Scaled(MNL([1.0, 2.0], k=1), None), "prices is None"),
    (lambda: Scaled(5, [1.0, 2.0]), "base is 5"),
    (lambda: Scaled(MNL, [1.0, 2.0]), "base is"),
    (lambda: Scaled(Scaled(MNL([1.0, 2.0], k=1), 2.0), 2.0), "base is Scaled"),
    (lambda: Scaled(MNL([1.0, 2.0], k=1), [1.0, 2.0], best_set=[5]), r"best_set is \[5\]"),
    (lambda: Scaled(Independent(np.ones(40), k=9), np.arange(40)).best(), "too many to look at one by one"),
]


@pytest.mark.parametrize(("make", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_wrong_input_is_refused_in_one_sentence(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_rows_without_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = itertools.count()
    comb = math.comb

    def counted(n: int, k: int) -> int:
        assert next(calls) < 1000, "Table never stops looking for the number of arms"
        return comb(n, k)

    monkeypatch.setattr(math, "comb", counted)
    with pytest.raises(InputError, match="probabilities"):
        Table(np.zeros((3, 0)))
