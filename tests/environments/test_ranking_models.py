"""Mallows, rankings, coverage and the needle: by hand, by brute force, by other samplers; and invalid input.

The tests that compare samples raise a false alarm once in a million seeds each; the seeds are fixed.
"""

import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.sets import gaps_by_brute_force, means_of, sets_of, value_of
from setwise import InputError
from setwise.environments.coverage import Coverage
from setwise.environments.enumeration import gaps_by_enumeration
from setwise.environments.mallows import Mallows
from setwise.environments.needle import Needle
from setwise.environments.rankings import Rankings

FALSE_ALARMS = 1e-6


def first_offered(ranking: Iterable[int], offered: set[int]) -> int:
    return next(item for item in ranking if item in offered)


def with_outside(center: Sequence[int], outside: int) -> list[int]:
    """The central ranking of all items; the outside option is the number of arms."""
    return [*center[:outside], len(center), *center[outside:]]


def mallows_by_brute_force(items: Sequence[int], phi: float) -> tuple[list[tuple[int, ...]], Any]:
    """All rankings and their probabilities, from the definition."""
    rank = {item: place for place, item in enumerate(items)}
    rankings = list(itertools.permutations(items))
    inverted = [sum(rank[a] > rank[b] for a, b in itertools.combinations(ranking, 2)) for ranking in rankings]
    weights = np.array([phi**distance for distance in inverted])
    return rankings, weights / weights.sum()


def mallows_from_the_top(items: Sequence[int], phi: float, rng: np.random.Generator) -> Iterator[int]:
    """A ranking from its first item on: the j-th of the items that are left has weight phi^j."""
    left = list(items)
    levels = list(itertools.accumulate(phi**j for j in range(len(left))))
    while left:
        yield left.pop(bisect.bisect(levels, rng.random() * levels[len(left) - 1], hi=len(left) - 1))


@pytest.mark.parametrize("phi", [0.0, 0.02, 0.4, 0.85, 1.0])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_mallows_is_the_sum_over_all_rankings(n: int, phi: float) -> None:
    rng = np.random.default_rng(n)
    for outside in range(n + 1):
        center = rng.permutation(n).tolist()
        rankings, weights = mallows_by_brute_force(with_outside(center, outside), phi)
        for k in range(1, n + 1):
            world = Mallows(center, phi, k, outside)
            for chosen in rng.permuted(np.array(sets_of(world)), axis=1)[:6]:
                offered = {n, *chosen.tolist()}
                expected = np.zeros(n + 1)
                np.add.at(expected, [first_offered(ranking, offered) for ranking in rankings], weights)
                assert means_of(world, chosen) == pytest.approx(expected[chosen], rel=0, abs=1e-12)


def test_mallows_has_the_values_worked_out_by_hand() -> None:
    assert means_of(Mallows([0], 0.25, k=1), [0]) == pytest.approx([0.8])
    assert means_of(Mallows([0], 0.25, k=1, outside=0), [0]) == pytest.approx([0.2])
    # Three items, phi = 1/2: rankings 012, 021, 102, 120, 201, 210 have weights 1, 1/2, 1/2, 1/4, 1/4, 1/8 of 21/8.
    assert means_of(Mallows([0, 1], 0.5, k=2), [1, 0]) == pytest.approx([6 / 21, 12 / 21])
    assert means_of(Mallows([0, 1], 0.5, k=1), [0]) == pytest.approx([16 / 21])
    assert means_of(Mallows([3, 1, 0, 2], 0.0, k=2, outside=2), [0, 1]).tolist() == [0.0, 1.0]
    assert means_of(Mallows([3, 1, 0, 2], 0.0, k=2, outside=2), [0, 2]).tolist() == [0.0, 0.0]
    assert means_of(Mallows(range(40), 1.0, k=7, outside=11), range(3, 24, 3)) == pytest.approx([1 / 8] * 7, abs=1e-12)


@pytest.mark.parametrize(("phi", "outside"), [(0.6, 3), (0.9, 12), (0.8, 0)])
def test_mallows_of_many_arms_is_that_of_rankings_drawn_from_the_top(phi: float, outside: int) -> None:
    rng = np.random.default_rng(2)
    world = Mallows(rng.permutation(12), phi, k=4, outside=outside)
    items, draws = with_outside(world.center.tolist(), outside), 100_000
    chosen = rng.permutation(12)[:4].tolist()
    offered = {12, *chosen}
    winners = [first_offered(mallows_from_the_top(items, phi, rng), offered) for _ in range(draws)]
    found = np.bincount(winners, minlength=13)[chosen] / draws
    means = means_of(world, chosen)
    level = math.log(2 * 4 / FALSE_ALARMS)
    allowed = np.sqrt(2 * means * (1 - means) * level / draws) + level / (1.5 * draws)  # Bernstein's inequality
    assert (np.abs(found - means) <= allowed).all()


@pytest.mark.parametrize("phi", [0.0, 1e-7, 0.01, 0.5, 0.95, 1.0])
def test_the_gaps_and_the_best_set_of_mallows_are_those_of_brute_force(phi: float) -> None:
    rng = np.random.default_rng(3)
    for n, k in [(1, 1), (4, 1), (5, 2), (6, 3), (6, 5), (4, 4)]:
        for outside in range(n + 1):
            world = Mallows(rng.permutation(n), phi, k, outside)
            assert world.gaps() == pytest.approx(gaps_by_brute_force(world), rel=1e-9, abs=1e-12)
            assert world.gaps() == pytest.approx(gaps_by_enumeration(world), rel=1e-9, abs=1e-12)
            best = max(value_of(world, chosen) for chosen in sets_of(world))
            assert value_of(world, world.best()) == pytest.approx(best, abs=1e-12)


def test_mallows_knows_its_best_set_and_gaps_however_many_sets_there_are() -> None:
    center = np.random.default_rng(4).permutation(80)
    world = Mallows(center, 0.9, k=30, outside=40)
    assert world.best().tolist() == center[:30].tolist()
    least, largest = world.gaps()
    assert 0 < least < largest < 1
    assert Mallows(center, 1.0, k=30).gaps() == (0.0, 0.0)
    assert Mallows(center, 0.0, k=30, outside=10).gaps() == (1.0, 1.0)


@pytest.mark.parametrize(("phi", "outside", "open_end"), [(0.0, 4, False), (0.0, 3, True), (0.1, 6, True)])
def test_mallows_says_whether_a_round_may_reward_no_arm(phi: float, outside: int, open_end: bool) -> None:
    world = Mallows(range(6), phi, k=3, outside=outside)
    assert world.outside_option == open_end
    assert (min(value_of(world, chosen) for chosen in sets_of(world)) < 1) == open_end


def test_the_central_ranking_orders_the_arms_in_every_set() -> None:
    rng = np.random.default_rng(5)
    world = Mallows(rng.permutation(7), 0.7, k=3, outside=5)
    assert np.argsort(-world.merits).tolist() == world.center.tolist()
    for chosen in sets_of(world):
        order = sorted(chosen, key=world.center.tolist().index)
        assert (np.diff(means_of(world, order)) < 0).all()


HAND = Rankings([[0], [1, 0], [2]], [0.3, 0.3, 0.4], k=2)


def test_rankings_have_the_values_worked_out_by_hand() -> None:
    assert means_of(HAND, [0, 1]) == pytest.approx([0.3, 0.3])
    assert means_of(HAND, [0, 2]) == pytest.approx([0.6, 0.4])
    assert means_of(HAND, [2, 1]) == pytest.approx([0.4, 0.3])
    assert (HAND.n, HAND.best().tolist()) == (3, [0, 2])
    assert HAND.gaps() == pytest.approx((0.3, 0.4))
    assert HAND.positions.tolist() == [[0, 3, 3], [1, 0, 3], [3, 3, 0]]


@st.composite
def weighted_rankings(draw: Any) -> tuple[int, int, list[list[int]], list[float]]:
    n = draw(st.integers(1, 5))
    ranking = st.tuples(st.permutations(range(n)), st.integers(0, n)).map(lambda pair: pair[0][: pair[1]])
    rankings = draw(st.lists(ranking, min_size=1, max_size=8))
    weight = st.one_of(st.just(0.0), st.floats(0.01, 100.0))
    weights = draw(st.lists(weight, min_size=len(rankings), max_size=len(rankings)).filter(any))
    return n, draw(st.integers(1, n)), rankings, weights


@settings(max_examples=150, deadline=None)
@given(weighted_rankings(), st.randoms(use_true_random=False))
def test_rankings_are_those_of_plain_python(given: Any, random: Any) -> None:
    n, k, rankings, weights = given
    world = Rankings(rankings, weights, k, n)
    for chosen in sets_of(world):
        order = random.sample(chosen, k)
        expected = dict.fromkeys(order, 0.0)
        for ranking, weight in zip(rankings, weights):
            for arm in ranking:
                if arm in expected:
                    expected[arm] += weight / math.fsum(weights)
                    break
        assert means_of(world, order) == pytest.approx(list(expected.values()), rel=0, abs=1e-12)
    may_be_none = any(weight > 0 and len(ranking) <= n - k for ranking, weight in zip(rankings, weights))
    assert world.outside_option == may_be_none
    assert (min(value_of(world, chosen) for chosen in sets_of(world)) < 1 - 1e-9) == may_be_none
    assert world._replace(feedback="independent").weights.tolist() == world.weights.tolist()


def test_rankings_are_the_same_by_names_and_by_numbers() -> None:
    by_name = Rankings([["tea"], ["milk", "tea"], ["rum"]], [3, 3, 4], k=2, names=("tea", "milk", "rum", "ale"))
    assert by_name.n == 4
    assert by_name.rankings == HAND.rankings == ((0,), (1, 0), (2,))
    assert by_name.weights == pytest.approx(HAND.weights)
    assert means_of(by_name, [3, 0]) == pytest.approx([0.0, 0.6])


def test_rankings_are_drawn_as_often_as_they_weigh() -> None:
    world = Rankings([[3], [0], [], [1], [2], [3]], [0.0, 2.0, 1.0, 0.0, 1.0, 0.0], k=4)
    rng, rewards, total, draws = np.random.default_rng(6), np.zeros(4), np.zeros(4), 4000
    for _ in range(draws):
        world.draw(np.arange(4), rng, rewards)
        total += rewards
    assert total[[1, 3]].tolist() == [0.0, 0.0]
    allowed = math.sqrt(math.log(2 * 2 / FALSE_ALARMS) / (2 * draws))  # Hoeffding's inequality
    assert total[[0, 2]] / draws == pytest.approx([0.5, 0.25], abs=allowed)


class Fixed(NamedTuple):
    """Not a generator, but a number of one."""

    number: float

    def random(self) -> float:
        return self.number


def test_rankings_without_weight_are_never_drawn() -> None:
    world = Rankings([[1], *[[0]] * 10, [1]], [0.0, *[0.1] * 10, 0.0], k=2)
    assert np.cumsum(world.weights)[-1] < 1.0  # by rounding
    for number in (0.0, 0.1, 0.5, 1.0 - 2.0**-53):
        rewards = np.zeros(2)
        world.draw(np.arange(2), Fixed(number), rewards)
        assert rewards.tolist() == [1.0, 0.0]


def test_many_rankings_are_cut_when_they_are_printed() -> None:
    assert "rankings=((0,), (1, 0), (2,))" in repr(HAND)
    world = Rankings([[0, 1]] * 1000, np.ones(1000), k=1)
    assert "1000 rankings" in repr(world)
    assert len(repr(world)) < 200


def test_weights_may_be_as_large_as_floats_are() -> None:
    assert Rankings([[0], [1], []], [1e308, 1e308, 0.0], k=1).weights.tolist() == [0.5, 0.5, 0.0]


CURRENT = """\
# FILE NAME: 00000-00000001.soc
# TITLE: Drinks
# DATA TYPE: soc
# NUMBER ALTERNATIVES: 4
# NUMBER VOTERS: 10
# NUMBER UNIQUE ORDERS: 3
# ALTERNATIVE NAME 1: Tea
# ALTERNATIVE NAME 2: Milk, cold
# ALTERNATIVE NAME 3: Rum: old
# ALTERNATIVE NAME 4: Ale
5: 1,3,2,4
3: 4, 2, 3, 1
2: 1,3,4,2
"""
OLDER = """\
4
1,Tea
2,Milk, cold
3,Rum: old
4,Ale
10,10,3
5,1,3,2,4
3,4,2,3,1
2,1,3,4,2
"""


@pytest.mark.parametrize("change", [str, lambda text: "\ufeff\n" + text.replace("\n", "\r\n")], ids=["unix", "windows"])
@pytest.mark.parametrize("text", [CURRENT, OLDER], ids=["current", "older"])
def test_both_formats_of_preflib_are_read(text: str, change: Callable[[str], str], tmp_path: Path) -> None:
    world = Rankings.from_soc(change(text), k=2, outside=2)
    assert (world.n, world.k) == (4, 2)
    assert world.names == ("Tea", "Milk, cold", "Rum: old", "Ale")
    assert world.rankings == ((0, 2), (3, 1))  # two of the orders differ only after the outside option
    assert world.weights == pytest.approx([0.7, 0.3])
    assert means_of(world, [0, 1]) == pytest.approx([0.7, 0.3])
    assert means_of(world, [2, 0]) == pytest.approx([0.0, 0.7])
    path = tmp_path / "drinks.soc"
    path.write_bytes(change(text).encode())
    read = Rankings.read_soc(path, k=2, outside=1, feedback="independent")
    assert read.rankings == ((0,), (3,))
    assert (read.feedback, read.names) == ("independent", world.names)
    assert Rankings.read_soc(str(path), k=2, outside=1, names=False).names is None


def test_a_soc_file_needs_no_names_and_may_state_no_totals() -> None:
    world = Rankings.from_soc("# NUMBER ALTERNATIVES: 3\n1: 3,1,2\n", k=1, outside=2)
    assert (world.names, world.rankings) == (None, ((2, 0),))


def test_a_missing_soc_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nothing"):
        Rankings.read_soc(tmp_path / "nothing.soc", k=1, outside=1)


def test_a_soc_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.soc"
    path.write_bytes(CURRENT.replace("Ale", "Kölsch").encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.soc is not a text in UTF-8"):
        Rankings.read_soc(path, k=1, outside=1)


def soc(text: str, old: str, new: str, k: int = 2, outside: int = 2) -> Callable[[], Any]:
    assert old in text
    return lambda: Rankings.from_soc(text.replace(old, new, 1), k, outside)


BAD_FILES: list[tuple[Callable[[], Any], str]] = [
    (soc(CURRENT, "1,3,2,4", "1,{3,2},4"), r"line 11 has a tie, '1,\{3,2\},4'"),
    (soc(OLDER, "5,1,3,2,4", "5,{1,3},2,4"), r"line 7 has a tie, '\{1,3\},2,4'"),
    (soc(CURRENT, "1,3,2,4", "1,3,2"), "line 11 has alternative 4 nowhere"),
    (soc(OLDER, "4,2,3,1", "4,2,3"), "line 8 has alternative 1 nowhere"),
    (soc(CURRENT, "1,3,2,4", "1,3,2,4,3"), "line 11 has alternative 3 more than once"),
    (soc(CURRENT, "1,3,4,2", "1,3,5,2"), "line 13 has the alternative '5'; there are 4"),
    (soc(OLDER, "1,3,4,2", "0,3,4,2"), "line 9 has the alternative '0'; there are 4"),
    (soc(CURRENT, "1,3,4,2", "1,Rum,4,2"), "line 13 has the alternative 'Rum'"),
    (soc(CURRENT, "1,3,4,2", "1,3,,4,2"), "line 13 has the alternative ''"),
    (soc(CURRENT, "5: 1", "0: 1"), "line 11 has '0' for a count"),
    (soc(CURRENT, "5: 1", "-5: 1"), "line 11 has '-5' for a count"),
    (soc(CURRENT, "5: 1", "2.5: 1"), "line 11 has '2.5' for a count"),
    (soc(CURRENT, "5: 1", "5 1"), "line 11 is '5 1,3,2,4'; an order is a count, a colon"),
    (soc(CURRENT, "5: 1", f"{'9' * 5000}: 1"), "line 11 has '9999"),
    (soc(OLDER, "3,4,2,3,1", "x,4,2,3,1"), "line 8 has 'x' for a count"),
    (soc(CURRENT, CURRENT[CURRENT.index("5: ") :], ""), "has no orders"),
    (soc(OLDER, OLDER[OLDER.index("5,1") :], ""), "has no orders"),
    (soc(CURRENT, "2: 1,3,4,2\n", ""), "line 5 says that there are 10 voters; the orders have 8"),
    (soc(OLDER, "2,1,3,4,2\n", ""), "line 6 says that there are 10 voters; the orders have 8"),
    (soc(CURRENT, "ORDERS: 3", "ORDERS: 4"), "line 6 says that there are 4 orders; the file has 3"),
    (soc(OLDER, "10,10,3", "10,10,2"), "line 6 says that there are 2 orders; the file has 3"),
    (soc(OLDER, "10,10,3\n", ""), "line 6 is '5,1,3,2,4'; after the names come"),
    (soc(OLDER, "4\n1", "40\n1"), "line 9 is the last; 40 alternatives take 40 lines"),
    (soc(OLDER, "2,Milk, cold", "Milk"), "line 3 is 'Milk'; the name of an alternative is given as 1,Tea"),
    (soc(OLDER, "2,Milk", "1,Milk"), "line 3 has a name for alternative 1 again"),
    (soc(OLDER, "4,Ale", "4,Tea"), "line 5 has the name 'Tea' again"),
    (soc(CURRENT, "NAME 4: Ale", "NAME 4: Tea"), "line 10 has the name 'Tea' again"),
    (soc(CURRENT, "NAME 4: Ale", "NAME 4:"), "line 10 has no name for alternative 4"),
    (soc(CURRENT, "NAME 4: Ale", "NAME 5: Ale"), "line 10 has the alternative '5'; there are 4"),
    (soc(CURRENT, "# ALTERNATIVE NAME 2: Milk, cold\n", ""), "line 9 is the last with a name, and alternative 2 has"),
    (soc(CURRENT, "ALTERNATIVES: 4", "ALTERNATIVES: four"), "line 4 has 'four' for a count"),
    (soc(CURRENT, "# NUMBER ALTERNATIVES: 4\n", ""), "there is no line such as '# NUMBER ALTERNATIVES: 4'"),
    (soc(CURRENT, "TYPE: soc", "TYPE: toc"), "line 3 says that the data type is 'toc'"),
    (lambda: Rankings.from_soc("a,b\n1,2\n", 1, 1), "line 1 is 'a,b', and no .soc file begins so"),
    (lambda: Rankings.from_soc(" \n", 1, 1), "the text is empty"),
    (lambda: Rankings.from_soc("data/drinks.soc", 1, 1), "the name of a file; Rankings.read_soc reads files"),
    (lambda: Rankings.from_soc(5, 1, 1), "text is 5"),  # type: ignore[arg-type]
    (soc(CURRENT, "Tea", "Tea", outside=3), "outside is 3, .* all sets are alike; values from 1 to 2 would do"),
    (soc(CURRENT, "Tea", "Tea", k=4, outside=1), "no value would do unless k is less than 4"),
    (soc(CURRENT, "Tea", "Tea", outside=0), "outside is 0, which is less than 1"),
    (soc(CURRENT, "Tea", "Tea", k=5), "k=5 is more than the 4 arms"),
]


@pytest.mark.parametrize(("k", "n"), [(1, 4), (2, 4), (3, 4)])
def test_the_refused_places_of_the_outside_option_are_those_that_make_all_sets_alike(k: int, n: int) -> None:
    for outside in range(1, n + 1):
        orders = [(1, 3, 2, 4), (4, 2, 3, 1), (1, 3, 4, 2)]
        world = Rankings([[a - 1 for a in order[:outside]] for order in orders], [5, 3, 2], k, n)
        alike = min(value_of(world, chosen) for chosen in sets_of(world)) > 1 - 1e-9
        assert alike == (outside > n - k)
        if not alike:
            assert Rankings.from_soc(CURRENT, k, outside).gaps() == pytest.approx(world.gaps())


TOPICS = Coverage([0.5, 0.3], [[1.0, 0.0], [0.8, 0.5], [0.8, 0.5], [0.0, 0.5]], k=3)


def test_coverage_has_the_values_worked_out_by_hand() -> None:
    assert means_of(TOPICS, [1, 0, 3]) == pytest.approx([0.5 * 0.8 + 0.3 * 0.5, 0.5 * 0.2, 0.3 * 0.25])
    assert means_of(TOPICS, [0, 3, 1]) == pytest.approx([0.5, 0.15, 0.075])
    assert TOPICS.best().tolist() == [1, 2, 3]
    assert value_of(TOPICS, TOPICS.best()) == pytest.approx(0.5 * 0.96 + 0.3 * 0.875)


def test_a_copy_of_an_arm_earns_less_after_it() -> None:
    first, second = means_of(TOPICS, [1, 2])
    assert first == pytest.approx(0.55)
    assert second == pytest.approx(0.5 * 0.8 * 0.2 + 0.3 * 0.5 * 0.5)
    assert means_of(TOPICS, [2, 1]).tolist() == [first, second]


topics = st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32 - 1), st.sampled_from([0.3, 1.0, 5.0]))


def random_topics(n: int, d: int, seed: int, power: float) -> Coverage:
    rng = np.random.default_rng(seed)
    return Coverage(rng.dirichlet(np.ones(d)) * rng.random(), rng.random((n, d)) ** power, int(rng.integers(1, n + 1)))


@settings(max_examples=60, deadline=None)
@given(topics, st.randoms(use_true_random=False))
def test_what_a_set_covers_does_not_depend_on_its_order(sizes: Any, random: Any) -> None:
    world = random_topics(*sizes)
    chosen = random.sample(range(world.n), world.k)
    covered = world.weights @ (1 - np.prod(1 - world.covers[chosen], axis=0))
    assert value_of(world, chosen) == pytest.approx(covered, abs=1e-12)
    assert value_of(world, chosen[::-1]) == pytest.approx(covered, abs=1e-12)
    earned = [value_of(world, chosen[: place + 1]) - value_of(world, chosen[:place]) for place in range(world.k)]
    assert means_of(world, chosen) == pytest.approx(earned, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(topics)
def test_the_greedy_set_covers_its_share_of_the_best(sizes: Any) -> None:
    world = random_topics(*sizes)
    greedy = world.greedy()
    assert len(set(greedy.tolist())) == world.k
    gains = [value_of(world, [*greedy[:-1], arm]) for arm in range(world.n) if arm not in greedy[:-1]]
    assert value_of(world, greedy) == pytest.approx(max(gains), abs=1e-12)
    best = max(value_of(world, chosen) for chosen in sets_of(world))
    assert value_of(world, greedy) >= (1 - 1 / math.e) * best - 1e-12
    assert value_of(world, world.best()) == pytest.approx(best, abs=1e-12)
    assert world.gaps() == pytest.approx(gaps_by_brute_force(world), abs=1e-12)


def test_the_greedy_set_need_not_be_the_best() -> None:
    world = Coverage([0.25] * 4, [[1, 1, 0, 0], [0, 0, 1, 1], [0.9, 0.3, 0.9, 0.3]], k=2)
    assert world.greedy().tolist() == [2, 0]
    assert world.best().tolist() == [0, 1]
    many = Coverage(np.full(4, 0.25), np.random.default_rng(7).random((60, 4)), k=30)
    assert many._replace(best_set=many.greedy()).best().tolist() == many.greedy().tolist()


def test_a_sum_of_weights_that_is_1_but_for_rounding_is_1() -> None:
    world = Coverage([0.5 + 4e-10, 0.5 + 4e-10], [[1.0, 1.0]], k=1, feedback="choice")
    assert value_of(world, [0]) == pytest.approx(1.0, abs=1e-15)
    assert world._replace(k=1).weights.tolist() == world.weights.tolist()


def test_the_needle_pays_more_than_any_other_set() -> None:
    world = Needle(6, 3, base=0.1, bonus=0.2, needle=[4, 0, 2])
    for chosen in sets_of(world):
        assert means_of(world, chosen) == pytest.approx([0.3 if chosen == (0, 2, 4) else 0.1] * 3)
    assert means_of(world, [2, 4, 0]) == pytest.approx([0.3] * 3)
    assert sorted(world.best().tolist()) == [0, 2, 4]
    assert world.gaps() == pytest.approx(gaps_by_brute_force(world))


@pytest.mark.parametrize("feedback", ["choice", "independent"])
@pytest.mark.parametrize(("k", "consistent"), [(1, "always"), (2, "never"), (4, "never"), (5, "always")])
def test_a_needle_needs_only_its_sizes(k: int, consistent: str, feedback: str) -> None:
    world = Needle(5, k, feedback=feedback)
    assert sorted(world.best().tolist()) == list(range(k))
    assert value_of(world, range(k)) == pytest.approx(1.0)
    assert world.gaps() == pytest.approx(gaps_by_brute_force(world))
    best = dict(zip(range(k), means_of(world, range(k))))
    holds = all(
        mean >= best.get(arm, 0.0) for chosen in sets_of(world) for arm, mean in zip(chosen, means_of(world, chosen))
    )
    assert world.weak_consistency == consistent == ("always" if holds else "never")


WORLDS: dict[str, Any] = {
    "Mallows": Mallows(np.random.default_rng(8).permutation(9), 0.75, k=4, outside=6),
    "Rankings": Rankings([[0, 4], [1, 0, 3], [2], [], [4, 3, 2, 1, 0]], [3, 3, 4, 1, 2], k=2),
    "Needle": Needle(7, 3, base=0.05, bonus=0.25, needle=[1, 3, 6], feedback="choice"),
    "Coverage": TOPICS,
}


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: Mallows([0, 2, 2], 0.5, k=1), r"center is \[0, 2, 2\]; it has to have each arm from 0 to 2 once"),
    (lambda: Mallows([1, 2, 3], 0.5, k=1), r"center is \[1, 2, 3\]"),
    (lambda: Mallows([0.5, 1.0], 0.5, k=1), "center is .*, which is not a list of whole numbers"),
    (lambda: Mallows([[0, 1]], 0.5, k=1), "center has 2 dimensions"),
    (lambda: Mallows([], 0.5, k=1), "n is 0"),
    (lambda: Mallows([0, 1], 0.5, k=3), "k=3 is more than the 2 arms"),
    (lambda: Mallows([0, 1], 1.5, k=1), "phi is 1.5; it has to be from 0 to 1"),
    (lambda: Mallows([0, 1], -0.1, k=1), "phi is -0.1"),
    (lambda: Mallows([0, 1], math.nan, k=1), "phi is not a number"),
    (lambda: Mallows([0, 1], 0.5, k=1, outside=3), "outside is 3; from 0 to 2"),
    (lambda: Mallows([0, 1], 0.5, k=1, outside=-1), "outside is -1; from 0 to 2"),
    (lambda: Mallows([0, 1], 0.5, k=1, outside=0.5), "outside is 0.5, which is not a whole number"),
    (lambda: Mallows([0, 1], 0.5, k=1, names=["tea"]), "names has 1 entries for 2 arms"),
    (lambda: Rankings([[0], [1]], [1.0], k=1), "1 weights for 2 rankings"),
    (lambda: Rankings([[0], [1]], [1.0, -1.0], k=1), "weights is -1 at position 1"),
    (lambda: Rankings([[0], [1]], [1.0, math.inf], k=1), "weights is inf at position 1"),
    (lambda: Rankings([[0], [1]], [0.0, 0.0], k=1), "there is no weight that is more than 0"),
    (lambda: Rankings([[0], [1]], 1.0, k=1), "weights has 0 dimensions"),
    (lambda: Rankings([[], []], [1.0, 1.0], k=1), "no ranking has an arm; give n"),
    (lambda: Rankings([], [], k=1), "no ranking has an arm; give n"),
    (lambda: Rankings([], [], k=1, n=2), "there is no weight that is more than 0"),
    (lambda: Rankings([[0, 1, 0]], [1.0], k=1), "ranking 0 has arm 0 more than once"),
    (lambda: Rankings([[0], [-1]], [1.0, 1.0], k=1), "an arm of ranking 1 is -1"),
    (lambda: Rankings([[0], [0.5]], [1.0, 1.0], k=1), "an arm of ranking 1 is 0.5"),
    (lambda: Rankings([[0], 1], [1.0, 1.0], k=1), "ranking 1 is 1; give a list of arms"),
    (lambda: Rankings(["tea"], [1.0], k=1, names=["tea"]), "ranking 0 is 'tea'; give a list of arms"),
    (lambda: Rankings([["rum"]], [1.0], k=1, names=["tea"]), "ranking 0 has 'rum', which is not in names"),
    (lambda: Rankings([["rum"]], [1.0], k=1), "ranking 0 has 'rum', which is not in names"),
    (lambda: Rankings("tea", [1.0], k=1), "rankings is 'tea'"),
    (lambda: Rankings(5, [1.0], k=1), "rankings is 5"),
    (lambda: Rankings([[0, 4]], [1.0], k=1, n=3), "arm 4 is in a ranking, but there are 3 arms"),
    (lambda: Rankings([[0]], [1.0], k=1, n=-1), "n is -1"),
    (lambda: Rankings([[0]], [1.0], k=1, names=5), "names is 5"),
    (lambda: Rankings([[0]], [1.0], k=1, n=3, names=["tea"]), "names has 1 entries for 3 arms"),
    (lambda: Rankings([[0, 1]], [1.0], k=2, best_set=[0, 0]), r"best_set is \[0, 0\]"),
    (lambda: Rankings([[0, 1]], [1.0], k=15, n=60).best(), "too many .* or give best_set"),
    (lambda: Needle(3, 4), "k=4 is more than the 3 arms"),
    (lambda: Needle(4, 2, bonus=0), "bonus is 0; it has to be above 0"),
    (lambda: Needle(4, 2, base=-0.1), "base is -0.1"),
    (lambda: Needle(4, 2, base="much"), "base is 'much', which is not a number"),
    (lambda: Needle(4, 2, base=0.7, bonus=0.5), r"base \+ bonus is 1.2; it has to be from 0 to 1"),
    (lambda: Needle(4, 2, base=0.5, feedback="choice"), "the hidden set add up to 1.5"),
    (lambda: Needle(4, 2, needle=[0, 4]), r"needle is \[0, 4\]; it has to be 2 distinct arms from 0 to 3"),
    (lambda: Needle(4, 2, needle=[1, 1]), r"needle is \[1, 1\]"),
    (lambda: Coverage([0.5, 0.6], [[1.0, 0.0]], k=1), "weights add up to 1.1; their sum has to be at most 1"),
    (lambda: Coverage([0.5, -0.1], [[1.0, 0.0]], k=1), "weights is -0.1 at position 1"),
    (lambda: Coverage([0.5, 0.1], [[1.0, 1.5]], k=1), "covers is 1.5 at position 0, 1"),
    (lambda: Coverage([0.5, 0.1], [[1.0, math.nan]], k=1), "covers has a NaN at position 0, 1"),
    (lambda: Coverage([0.5, 0.1], [[1.0, 0.5, 0.5]], k=1), r"covers has the shape \(1, 3\); give a row .* with 2"),
    (lambda: Coverage([0.5, 0.1], [1.0, 0.5], k=1), r"covers has the shape \(2,\)"),
    (lambda: Coverage(0.5, [[1.0]], k=1), r"weights has the shape \(\)"),
    (lambda: Coverage([], [[]], k=1), r"weights has the shape \(0,\)"),
    (lambda: Coverage([0.5], [[1.0]], k=2), "k=2 is more than the 1 arms"),
    (lambda: Coverage([0.5], [[1.0], [0.5]], k=1, best_set=[2]), r"best_set is \[2\]"),
    (lambda: Coverage([0.5], np.ones((60, 1)), k=30).best(), "too many .* or give best_set"),
]


@pytest.mark.parametrize(
    ("make", "sentence"), REFUSED + BAD_FILES, ids=[sentence for _, sentence in REFUSED + BAD_FILES]
)
def test_wrong_input_is_refused_in_one_sentence(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as refusal:
        make()
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300
