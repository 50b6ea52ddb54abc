"""The k best arms and the draws: ties and rewards against their exact laws, the tournament against brute force.

The statistical tests compare with exact laws at the level `LEVEL` each, so that all of them together raise a false
alarm once in a million seeds; the seeds are fixed.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from setwise.kernels import ranking
from setwise.kernels.draws import draw_binary, draw_binary_block, draw_binary_many, draw_epoch
from setwise.kernels.normal_grid import CDF, HIGHEST, LOWEST, RATIO, STEP, on_grid
from setwise.kernels.ranking import Sorted, Tournament, new_ranking
from setwise.kernels.topk import top_k, top_k_among
from setwise.kernels.tournament import WIDTH, build_tree, tree_size
from setwise.kernels.winners import beat_all_others, winner_of
from setwise.types import Feedback

FALSE_ALARMS = 1e-6
COMPARISONS = 200  # more than there are in this file
LEVEL = FALSE_ALARMS / COMPARISONS

both_rankings = pytest.mark.parametrize("kind", [Sorted, Tournament])
both_feedbacks = pytest.mark.parametrize("feedback", [Feedback.choice, Feedback.independent])


def ranking_of(kind: type, index: Any, k: int) -> Any:
    """A ranking of that kind, however many arms there are."""
    with mock.patch.object(ranking, "FEW_ARMS", 0 if kind is Tournament else len(index)):
        made = new_ranking(index, k)
    assert type(made) is kind
    return made


def check_law(found: Iterable[Hashable], law: dict[Any, float]) -> None:
    """A chi-square test of what was found against its exact law; cells too rare for it are put together."""
    counts = Counter(found)
    draws = sum(counts.values())
    assert math.isclose(sum(law.values()), 1.0)
    assert {cell for cell in counts if law.get(cell, 0.0) == 0.0} == set()
    often = [cell for cell in law if law[cell] * draws >= 20]
    observed = [counts[cell] for cell in often]
    expected = [law[cell] * draws for cell in often]
    if draws - sum(expected) >= 20:
        observed.append(draws - sum(observed))
        expected.append(draws - sum(expected))
    else:
        expected = [value * sum(observed) / sum(expected) for value in expected]
    assert len(expected) > 1
    assert stats.chisquare(observed, expected).pvalue > LEVEL


def equally_likely(cells: Iterable[Any]) -> dict[Any, float]:
    cells = list(cells)
    return dict.fromkeys(cells, 1 / len(cells))


def as_set(chosen: Any) -> tuple[int, ...]:
    return tuple(sorted(chosen.tolist()))


@both_rankings
def test_all_sets_are_equally_likely_at_the_start(kind: type) -> None:
    rng = np.random.default_rng(1)
    index = np.full(5, np.inf)
    sets = equally_likely(itertools.combinations(range(5), 2))
    same = ranking_of(kind, index, 2)
    check_law([as_set(same.top(index, 2, rng)) for _ in range(12_000)], sets)
    check_law([as_set(ranking_of(kind, index, 2).top(index, 2, rng)) for _ in range(4000)], sets)


@both_rankings
def test_ties_are_broken_afresh_each_round(kind: type) -> None:
    rng = np.random.default_rng(2)
    index = np.full(3, 0.5)
    same = ranking_of(kind, index, 1)
    drawn = [int(same.top(index, 1, rng)[0]) for _ in range(12_000)]
    check_law(zip(drawn[::2], drawn[1::2]), equally_likely(itertools.product(range(3), repeat=2)))


@both_rankings
@pytest.mark.parametrize(
    ("index", "k", "above", "group"),
    [
        ([1.0, 3.0, 5.0, 3.0, 3.0, 0.5, 3.0], 3, [2], [1, 3, 4, 6]),
        ([0.1, 0.2, 0.2, 0.9, 0.8], 3, [3, 4], [1, 2]),
        ([7.0, 7.0, 7.0, 8.0], 3, [3], [0, 1, 2]),
    ],
)
def test_all_subsets_of_a_group_that_ties_at_the_border_are_equally_likely(
    kind: type, index: list[float], k: int, above: list[int], group: list[int]
) -> None:
    rng = np.random.default_rng(3)
    values = np.array(index)
    same = ranking_of(kind, values, k)
    subsets = itertools.combinations(group, k - len(above))
    law = equally_likely(tuple(sorted([*above, *subset])) for subset in subsets)
    check_law([as_set(same.top(values, k, rng)) for _ in range(12_000)], law)


@pytest.mark.parametrize(
    ("kind", "above", "group", "below", "taken"),
    [
        *((kind, *sizes) for kind in (Sorted, Tournament) for sizes in ((3, 20, 17, 1), (4, 12, 9, 2), (0, 31, 0, 1))),
        (Tournament, 5, 400, 500, 1),
    ],
)
def test_large_groups_are_shared_evenly_wherever_they_stand(
    kind: type, above: int, group: int, below: int, taken: int
) -> None:
    rng = np.random.default_rng(4)
    values = np.concatenate([2 + rng.random(above), np.ones(group), rng.random(below)])
    place = rng.permutation(len(values))
    index = np.empty(len(values))
    index[place] = values
    k = above + taken
    members = sorted(place[above : above + group].tolist())
    same = ranking_of(kind, index, k)
    drawn = [tuple(sorted(set(same.top(index, k, rng).tolist()) & set(members))) for _ in range(8000)]
    check_law(drawn, equally_likely(itertools.combinations(members, taken)))


@both_rankings
def test_a_newcomer_in_a_group_that_was_partly_taken_has_no_better_chance(kind: type) -> None:
    """The arm that was ahead falls into the group; the member that was taken falls out of it."""
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(4000):
        index = np.array([1.0, 1.0, 1.0, 1.0, 2.0, 1.0])
        same = ranking_of(kind, index, 2)
        chosen = same.top(index, 2, rng).copy()
        index[chosen] = np.where(chosen == 4, 1.0, 0.5)
        same.moved(index, chosen)
        group = [4] + [arm for arm in (0, 1, 2, 3, 5) if arm not in chosen]
        drawn.append(tuple(sorted(group.index(arm) for arm in same.top(index, 2, rng).tolist())))
    check_law(drawn, equally_likely(itertools.combinations(range(5), 2)))


@both_rankings
def test_a_newcomer_from_below_in_a_group_that_was_partly_taken_has_no_better_chance(kind: type) -> None:
    """Two of six members were taken and fall out; an arm that was told about late rises into the group."""
    rng = np.random.default_rng(6)
    drawn = []
    for _ in range(4000):
        index = np.array([1.0, 1.0, 0.2, 1.0, 1.0, 1.0, 1.0, 0.1])
        same = ranking_of(kind, index, 2)
        chosen = same.top(index, 2, rng).copy()
        index[chosen] = 0.5
        same.moved(index, chosen)
        same.top(index, 2, rng)
        index[[7, 2]] = [1.0, 0.3]
        same.moved(index, np.array([7, 2]))
        group = [7] + [arm for arm in (0, 1, 3, 4, 5, 6) if arm not in chosen]
        drawn.append(tuple(sorted(group.index(arm) for arm in same.top(index, 2, rng).tolist())))
    check_law(drawn, equally_likely(itertools.combinations(range(5), 2)))


def test_ties_among_available_arms_are_broken_uniformly() -> None:
    rng = np.random.default_rng(7)
    index = np.array([1.0, 3.0, 1.0, 9.0, 1.0, 1.0, 0.5])
    available = np.array([True, True, True, False, True, True, True])
    chosen, best = np.zeros(3, np.int64), np.zeros(3)
    drawn = []
    for _ in range(8000):
        assert top_k_among(index, available, chosen, best, rng) == 3
        drawn.append(as_set(chosen))
    subsets = itertools.combinations([0, 2, 4, 5], 2)
    check_law(drawn, equally_likely(tuple(sorted([1, *subset])) for subset in subsets))


few_values = st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0, math.inf])
changes = st.lists(st.tuples(st.integers(0, 10**6), few_values | st.floats(0, 1)), max_size=60)


@pytest.mark.parametrize("n", [1, 2, WIDTH, WIDTH + 1, 2 * WIDTH - 1, 2 * WIDTH, 300, 5000])
def test_a_tree_has_the_largest_indices_and_counts_who_has_them(n: int) -> None:
    rng = np.random.default_rng(9)
    for held in (np.zeros(0, np.int64), rng.permutation(n)[: n // 3], np.arange(n)):
        index = rng.integers(0, 4, n) / 4.0
        inner, size = tree_size(n)
        assert size == WIDTH * inner + 1 >= inner + n
        largest, ties = np.zeros(size), np.zeros(inner, np.int64)
        build_tree(index, held, largest, ties)
        below: list[list[float]] = [[] for _ in range(size)]
        for arm in range(n):
            below[inner + arm] = [] if arm in held else [index[arm]]
        for p in range(size - 1, 0, -1):
            below[(p - 1) // WIDTH] += below[p]
        assert largest.tolist() == [max(values, default=-math.inf) for values in below]
        counted = [values.count(max(values)) if values else -1 for values in below[:inner]]
        assert np.where(largest[:inner] > -math.inf, ties, -1).tolist() == counted


def same_tree(own: Tournament, index: Any) -> bool:
    """Whether the tree is the one that is built from the indices and the set."""
    largest, ties = np.zeros_like(own.largest), np.zeros_like(own.ties)
    build_tree(index, own.held, largest, ties)
    somebody = largest[: len(ties)] > -math.inf
    return np.array_equal(own.largest, largest) and np.array_equal(own.ties[somebody], ties[somebody])


@settings(max_examples=150, deadline=None)
@given(
    values=st.lists(few_values, min_size=1, max_size=40),
    k=st.integers(1, 40),
    changes=changes,
    seed=st.integers(0, 2**32 - 1),
)
def test_the_tree_follows_from_the_indices_and_the_set(values: list[float], k: int, changes: Any, seed: int) -> None:
    index = np.array(values)
    n = len(index)
    rng = np.random.default_rng(seed)
    own = ranking_of(Tournament, index, min(k, n))
    assert same_tree(own, index)
    for arm, value in changes:
        index[arm % n] = value
        own.moved(index, np.array([arm % n]))
        assert same_tree(own, index)
        own.top(index, min(k, n), rng)
        assert same_tree(own, index)


@both_rankings
@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(few_values, min_size=1, max_size=40),
    k=st.integers(1, 40),
    changes=changes,
    seed=st.integers(0, 2**32 - 1),
)
def test_what_is_drawn_follows_from_the_indices_and_the_generator(
    kind: type, values: list[float], k: int, changes: Any, seed: int
) -> None:
    """However the indices came to be what they are, and whatever was selected in between."""
    index = np.array(values)
    n = len(index)
    k = min(k, n)
    rng = np.random.default_rng(seed)
    own = ranking_of(kind, index, k)
    for arm, value in changes:
        index[arm % n] = value
        own.moved(index, np.array([arm % n]))
        own.top(index, k, rng)
    first, again = (own.top(index, k, np.random.default_rng(seed)).copy() for _ in range(2))
    fresh = ranking_of(kind, index, k).top(index, k, np.random.default_rng(seed))
    assert as_set(first) == as_set(again) == as_set(fresh)


@both_rankings
def test_an_index_of_minus_infinity_comes_last_and_is_still_an_arm(kind: type) -> None:
    index = np.array([-math.inf, 0.5, -math.inf, 0.25, -math.inf])
    rng = np.random.default_rng(10)
    own = ranking_of(kind, index, 3)
    drawn = []
    for _ in range(4000):
        drawn.append(as_set(own.top(index, 3, rng)))
        own.moved(index, np.array([0, 3, 4]))
    check_law(drawn, equally_likely([(0, 1, 3), (1, 2, 3), (1, 3, 4)]))


def test_the_top_of_thousands_is_that_of_brute_force() -> None:
    """Round after round of falling and rising indices, in a tree of four levels."""
    rng = np.random.default_rng(11)
    n, k = 5000, 9
    index = np.full(n, np.inf)
    own = ranking_of(Tournament, index, k)
    for turn in range(600):
        chosen = own.top(index, k, rng)
        falling = np.sort(index)[::-1]
        assert sorted(index[chosen].tolist(), reverse=True) == falling[:k].tolist()
        assert len(set(chosen.tolist())) == k
        assert own.border(index, chosen) == falling[k]
        index[chosen] = rng.integers(0, 8, k) / 8.0
        others = rng.permutation(n)[: turn % 3]
        index[others] = rng.random(len(others)) * 2
        own.moved(index, np.concatenate((chosen, others)))
    assert same_tree(own, index)


@settings(max_examples=150, deadline=None)
@given(
    values=st.lists(few_values | st.floats(0, 1), min_size=1, max_size=40),
    k=st.integers(1, 40),
    changes=changes,
    seed=st.integers(0, 2**32 - 1),
)
def test_the_top_is_that_of_brute_force(values: list[float], k: int, changes: Any, seed: int) -> None:
    index = np.array(values)
    n = len(index)
    k = min(k, n)
    rng = np.random.default_rng(seed)
    rankings = [ranking_of(kind, index, k) for kind in (Sorted, Tournament)]
    for arm, value in [(0, index[0]), *changes]:
        index[arm % n] = value
        falling = np.sort(index)[::-1]
        for own in rankings:
            own.moved(index, np.array([arm % n]))
            chosen = own.top(index, k, rng)
            assert len(set(chosen.tolist())) == k
            assert sorted(index[chosen].tolist(), reverse=True) == falling[:k].tolist()
            if k < n:
                assert own.border(index, chosen) == falling[k]


@both_rankings
def test_rankings_of_any_size_know_the_best_index_left_out(kind: type) -> None:
    rng = np.random.default_rng(8)
    for n, k in [(1, 1), (2, 1), (300, 5), (300, 299), (300, 300), (1000, 40)]:
        index = rng.integers(0, 30, n) / 4.0
        own = ranking_of(kind, index, k)
        chosen = own.top(index, k, rng)
        falling = np.sort(index)[::-1]
        assert sorted(index[chosen].tolist(), reverse=True) == falling[:k].tolist()
        if k < n:
            assert own.border(index, chosen) == falling[k]


def test_normal_laws_on_a_grid_are_those_of_scipy() -> None:
    values = np.zeros(100)
    for z in np.random.default_rng(12).uniform(LOWEST, HIGHEST - 0.01, 400):
        points = on_grid(CDF, z, values)
        at = z + STEP * np.arange(points)
        assert at[-1] < HIGHEST <= at[-1] + STEP + 1e-12
        assert values[:points] == pytest.approx(special.ndtr(at), rel=0, abs=2e-13)
        assert on_grid(RATIO, z, values) == points
        ratio = np.exp(stats.norm.logpdf(at) - special.log_ndtr(at))
        assert values[:points] == pytest.approx(ratio, rel=0, abs=2e-13)
    assert on_grid(CDF, LOWEST, values[:3]) == 3
    assert on_grid(CDF, HIGHEST, values) == on_grid(CDF, math.inf, values) == 0


Law = Callable[[list[float], int], dict[Any, float]]


def multinomial(means: list[float], rounds: int) -> dict[Any, float]:
    """The law of the totals of rounds that reward at most one arm."""
    law = stats.multinomial(rounds, [*means, max(0.0, 1 - math.fsum(means))])
    cells = [cell for cell in itertools.product(range(rounds + 1), repeat=len(means)) if sum(cell) <= rounds]
    return {cell: float(law.pmf([*cell, rounds - sum(cell)])) for cell in cells}


def binomials(means: list[float], rounds: int) -> dict[Any, float]:
    """The law of the totals of rounds that reward each arm by itself."""
    cells = itertools.product(range(rounds + 1), repeat=len(means))
    return {c: float(np.prod([stats.binom.pmf(x, rounds, p) for x, p in zip(c, means)])) for c in cells}


LAWS: dict[Feedback, Law] = {Feedback.choice: multinomial, Feedback.independent: binomials}

some_means = pytest.mark.parametrize(
    "means", [[0.2, 0.5, 0.1], [0.25, 0.5, 0.25], [0.0, 0.7, 0.0, 0.2], [0.0, 1.0, 0.0], [0.3]], ids=str
)


def totals_of(draw: Callable[..., None], means: list[float], draws: int, seed: int, *rounds: int, own: bool) -> Any:
    """Many totals, drawn into an array of their own or into that of the means."""
    rng = np.random.default_rng(seed)
    found = np.empty((draws, len(means)))
    for row in found:
        row[:] = means
        draw(row.copy() if own else row, *rounds, rng, row)
    return found


def check_totals(found: Any, law: dict[Any, float]) -> None:
    cells = [tuple(int(x) for x in row) for row in found]
    assert (found == np.array(cells)).all()
    if max(law.values()) > 1 - 1e-12:
        assert set(cells) == {max(law, key=lambda cell: law[cell])}
    else:
        check_law(cells, law)


@both_feedbacks
@some_means
def test_one_round_has_its_law(feedback: Feedback, means: list[float]) -> None:
    def draw(*arguments: Any) -> None:
        draw_binary(feedback, *arguments)

    for own in (True, False):
        check_totals(totals_of(draw, means, 6000, 11, own=own), LAWS[feedback](means, 1))


@both_feedbacks
@some_means
@pytest.mark.parametrize("rounds", [1, 3, 7])
def test_the_sum_of_rounds_has_its_law(feedback: Feedback, means: list[float], rounds: int) -> None:
    def draw(*arguments: Any) -> None:
        draw_binary_many(feedback, *arguments)

    rounds = min(rounds, 4) if len(means) > 3 else rounds
    for own in (True, False):
        check_totals(totals_of(draw, means, 3000, 12, rounds, own=own), LAWS[feedback](means, rounds))


@both_feedbacks
@pytest.mark.parametrize("rounds", [2, 6, 7, 12, 30])
def test_a_block_of_rounds_has_its_law_whichever_way_it_is_drawn(feedback: Feedback, rounds: int) -> None:
    def draw(*arguments: Any) -> None:
        draw_binary_block(feedback, *arguments)

    for means in ([0.3, 0.6], [0.5, 0.5]):  # few rounds are drawn one by one, many as binomials
        check_totals(totals_of(draw, means, 4000, 13, rounds, own=True), LAWS[feedback](means, rounds))


@both_feedbacks
@pytest.mark.parametrize("draw_sum", [draw_binary_many, draw_binary_block])
@pytest.mark.parametrize("rounds", [1000, 10**6, 10**12])
def test_many_rounds_have_the_right_mean_and_covariance(feedback: Feedback, draw_sum: Any, rounds: int) -> None:
    def draw(*arguments: Any) -> None:
        draw_sum(feedback, *arguments)

    means = np.array([0.2, 0.001, 0.5, 0.249])
    draws = 4000
    found = totals_of(draw, means.tolist(), draws, 14, rounds, own=True)
    scaled = (found - rounds * means) / math.sqrt(rounds)
    diagonal = np.diag(means * (1 - means))
    covariance = diagonal if feedback == Feedback.independent else np.diag(means) - np.outer(means, means)
    variances = np.diag(covariance)
    limit = stats.norm.isf(LEVEL / 2 / (means.size + means.size**2))
    assert (np.abs(scaled.mean(axis=0)) < limit * np.sqrt(variances / draws)).all()
    # The variance of a product is s_ii s_jj + s_ij^2 for normal variables; the last term is for the rare arm.
    spread = np.sqrt((np.outer(variances, variances) + covariance**2 + np.abs(covariance) / rounds) / draws)
    assert (np.abs(scaled.T @ scaled / draws - covariance) < limit * spread).all()


@pytest.mark.parametrize("draw_sum", [draw_binary_many, draw_binary_block])
@pytest.mark.parametrize("rounds", [1, 5, 100, 10**12])
def test_every_round_rewards_an_arm_if_the_means_add_up_to_1(draw_sum: Any, rounds: int) -> None:
    def draw(*arguments: Any) -> None:
        draw_sum(Feedback.choice, *arguments)

    found = totals_of(draw, [0.0, 0.25, 0.0, 0.5, 0.25, 0.0], 500, 15, rounds, own=True)
    assert (found.sum(axis=1) == rounds).all()
    assert (found[:, [0, 2, 5]] == 0).all()
    assert (found >= 0).all()


@both_feedbacks
@pytest.mark.parametrize("rounds", [1, 100, 10**12])
def test_no_arm_is_rewarded_too_often_if_rounding_lifts_the_means_above_1(feedback: Feedback, rounds: int) -> None:
    def draw(*arguments: Any) -> None:
        draw_binary_many(feedback, *arguments)

    above = float(np.nextafter(1.0, 2.0))
    found = totals_of(draw, [above, 0.0], 20, 16, rounds, own=True)
    assert (found == [rounds, 0]).all()
    thirds = totals_of(draw, [0.1] * 7 + [0.3, 2e-16], 20, 17, rounds, own=True)
    assert ((thirds >= 0) & (thirds <= rounds)).all()
    if feedback == Feedback.choice:
        assert (thirds.sum(axis=1) <= rounds).all()


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(st.sampled_from([0.0, 1.0, 2.0, 2.5, math.inf]), min_size=1, max_size=9), seed=st.integers(0, 99)
)
def test_the_top_of_indices_that_all_moved_is_that_of_brute_force(values: list[float], seed: int) -> None:
    index = np.array(values)
    for k in range(1, len(index) + 1):
        chosen, best = np.zeros(k, np.int64), np.zeros(k)
        top_k(index, chosen, best, np.random.default_rng(seed))
        assert len(set(chosen.tolist())) == k
        assert sorted(index[chosen].tolist()) == sorted(values)[len(values) - k :]


@pytest.mark.parametrize(("values", "k"), [([1, 1, 1, 1, 1], 2), ([3, 1, 1, 0, 1, 4], 4), ([1, 2, 1, 2, 1], 3)])
def test_the_top_of_indices_that_all_moved_breaks_ties_uniformly(values: list[float], k: int) -> None:
    index, chosen, best = np.array(values, dtype=float), np.zeros(k, np.int64), np.zeros(k)
    rng = np.random.default_rng(11)
    found = []
    for _ in range(5000):
        top_k(index, chosen, best, rng)
        found.append(tuple(sorted(chosen.tolist())))
    border = sorted(values)[-k]
    sure = [arm for arm, value in enumerate(values) if value > border]
    ties = [arm for arm, value in enumerate(values) if value == border]
    subsets = [tuple(sorted([*sure, *more])) for more in itertools.combinations(ties, k - len(sure))]
    check_law(found, dict.fromkeys(subsets, 1 / len(subsets)))


def epoch_law(means: list[float], most: int) -> dict[Any, float]:
    """The law of the sum of the rewards before the first round without one, and of whether that round came."""
    law: dict[Any, float] = {}
    nobody = 1.0 - sum(means)
    under_way: dict[tuple[int, ...], float] = {(0,) * len(means): 1.0}
    for _ in range(most):
        later: dict[tuple[int, ...], float] = {}
        for totals, chance in under_way.items():
            law[totals] = law.get(totals, 0.0) + chance * nobody
            for j, mean in enumerate(means):
                more = (*totals[:j], totals[j] + 1, *totals[j + 1 :])
                later[more] = later.get(more, 0.0) + chance * mean
        under_way = later
    for totals, chance in under_way.items():
        law[totals] = law.get(totals, 0.0) + chance
    return law


@pytest.mark.parametrize(
    ("means", "most"), [([0.5, 0.2], 4), ([0.6, 0.3], 12), ([0.1, 0.0, 0.3], 3), ([0.98], 9), ([0.3, 0.7], 8)]
)
def test_an_epoch_has_its_law_and_is_cut(means: list[float], most: int) -> None:
    rng = np.random.default_rng(12)
    totals = np.zeros(len(means))
    found = []
    for _ in range(20_000):
        rounds = draw_epoch(np.array(means), most, rng, totals)
        assert totals.sum() == rounds <= most
        found.append(tuple(int(total) for total in totals))
    check_law(found, epoch_law(means, most))


def test_an_epoch_without_a_chance_of_a_reward_is_empty() -> None:
    totals = np.ones(2)
    assert draw_epoch(np.zeros(2), 100, np.random.default_rng(0), totals) == 0
    assert totals.tolist() == [0.0, 0.0]


def test_pairs_count_the_winner_against_all_others() -> None:
    wins = np.zeros((4, 4))
    chosen = np.array([3, 0, 2])
    assert winner_of(np.zeros(3)) == -1
    winner = winner_of(np.array([0.0, 1.0, 0.0]))
    beat_all_others(wins, chosen, winner)
    assert wins.sum() == 2 and wins[0, 3] == wins[0, 2] == 1
