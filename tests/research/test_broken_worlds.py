"""Worlds that break weak optimal set consistency: by the margin that was asked for, and as a log says."""

import math
from itertools import combinations, product

import numpy as np
import pytest

import setwise as sw
from research.broken_worlds import (
    SLATES,
    fit_mixture,
    fitted_logit,
    hidden_sets,
    margin_of,
    mixed_logits,
    slates,
    small_worlds,
)
from setwise import InputError
from setwise.environments import Table
from setwise.environments.random_table import broken_table, random_table
from skips import NOT_HERE

WEAK = "weak optimal set consistency"
MARGINS = [0.0, 0.02, 0.1, 0.3, 0.7]


def rows_of(world):
    """What every arm of every set earns, by the set."""
    return dict(zip(combinations(range(world.n), world.k), world.probabilities.tolist()))


def test_the_margin_of_a_table_by_hand():
    """The best set is {0, 1}; beside arm 2, arm 0 earns 0.1 less and arm 1 earns 0.05 more."""
    assert margin_of(Table([[0.5, 0.3], [0.4, 0.2], [0.35, 0.1]])) == pytest.approx(0.1)
    assert margin_of(Table([[0.5, 0.3], [0.5, 0.2], [0.35, 0.1]])) == 0
    assert margin_of(Table([[0.5, 0.3], [0.6, 0.1], [0.35, 0.1]])) == pytest.approx(-0.05)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize(("seed", "n", "k"), [(0, 7, 3), (1, 7, 3), (2, 5, 2), (3, 6, 5)])
def test_a_broken_table_has_the_margin_or_all_that_an_arm_can_lose(margin, seed, n, k):
    world = broken_table(seed, margin, n, k)
    rows = rows_of(world)
    best = rows.pop(tuple(range(k)))
    assert margin_of(world) == pytest.approx(min(margin, max(best)), abs=1e-12)
    assert 0.6 <= sum(best) <= 1 and min(best) >= 0.05
    assert max(map(sum, rows.values())) <= sum(best) - 0.05 + 1e-12
    assert world.best().tolist() == list(range(k))
    assert sw.check(world)[WEAK].holds is (margin == 0)


def test_a_seed_gives_one_table_at_all_margins_but_for_what_the_margin_takes():
    """Arms outside of the best set earn the same, and those of it what they have left."""
    whole = broken_table(4, 0.0)
    for margin in MARGINS:
        for members, (one, other) in zip(
            rows_of(whole), zip(whole.probabilities, broken_table(4, margin).probabilities)
        ):
            loss = 0.0 if members == (0, 1, 2) else margin
            wanted = [max(0.0, value - loss) if arm < 3 else value for arm, value in zip(members, one)]
            assert other == pytest.approx(wanted, abs=1e-15)
    assert not np.array_equal(whole.probabilities, broken_table(5, 0.0).probabilities)


def test_a_table_without_structure_has_uniform_totals_and_breaks_the_assumption():
    """Of 700 uniform totals, the mean is 0.5 with a standard error of 0.011; all of ten tables break it."""
    worlds = [random_table(seed) for seed in range(20)]
    totals = np.array([world.probabilities.sum(axis=1) for world in worlds])
    assert totals.min() >= 0 and totals.max() <= 1
    assert abs(totals.mean() - 0.5) < 0.05 and abs(np.mean(totals < 0.25) - 0.25) < 0.08
    for world, own in zip(worlds[:10], totals):
        assert np.sort(own)[-1] > np.sort(own)[-2]
        assert margin_of(world) > 0 and sw.check(world)[WEAK].holds is False
        assert world.best().tolist() == list(list(combinations(range(7), 3))[own.argmax()])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: broken_table(0, 1.5), "broken_table: margin is 1.5; it lies between 0 and 1"),
        (lambda: broken_table(0, float("nan")), "broken_table: margin is nan; it lies between 0 and 1"),
        (lambda: broken_table(0, 0.1, 20, 13), "broken_table: k is 13; it can be at most 12"),
        (lambda: random_table(-1), "random_table: seed is -1"),
        (lambda: random_table(0, 3, 4), "k=4 is more than the 3 arms there are"),
        (lambda: random_table(0, 30, 15), "random_table: n is 30 and k is 15, more than 100,000 sets; use fewer arms"),
    ],
)
def test_bad_sizes_are_refused_in_one_sentence(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_all_mixed_logits_break_the_assumption():
    worlds = mixed_logits(3)
    assert len(worlds) == 3
    for name, world in worlds.items():
        assert name.startswith("mixed logit ") and (world.n, world.k) == (7, 3)
        assert sw.check(world)[WEAK].holds is False
    assert list(mixed_logits(2)) == list(worlds)[:2]


def test_hidden_sets_are_better_by_far_and_their_arms_do_not_suggest_it():
    """By what arms earn on average over all sets, another set is better, except for the pairs."""
    for name, world in hidden_sets().items():
        check = sw.check(world)
        assert check[WEAK].holds is False and check.gaps.epsilon >= 0.2 - 1e-12
        members, earned = np.array(list(combinations(range(world.n), world.k))), world.probabilities
        average = np.array([earned[members == arm].mean() for arm in range(world.n)])
        suggested = np.sort(average)[-world.k :].sum() <= average[world.best()].sum()
        assert suggested == (name == "better pairs")


def test_all_small_worlds_break_the_assumption_and_have_few_sets():
    for world in small_worlds().values():
        assert sw.check(world)[WEAK].holds is False and math.comb(world.n, world.k) <= 10


LOG = """\
b a;a
a b;a b
a b;

a c;c
b c;
c b;c b
d a;d
a b c;a
"""


def test_slates_are_counted_as_by_hand(tmp_path):
    """Of a, b, c, which are shown most, {a, b} was shown three times, {a, c} once and {b, c} twice.

    Slates of another size, or with an item that is shown rarely, do not count.
    """
    path = tmp_path / "log.txt"
    path.write_text(LOG)
    world = slates(path, n=3, k=2)
    assert world.names == ("a", "b", "c") and str(world.feedback) == "independent"
    assert world.probabilities.tolist() == [[2 / 3, 1 / 3], [0, 1], [1 / 2, 1 / 2]]


def test_one_class_is_fitted_as_by_hand(tmp_path):
    """z is outside. Of 12 choices from {z, a}, 4 were of a, and 6 of 9 from {z, b}: weights 1/2 and 2.

    A choice of both counts half for each; slates without z, or with z alone, do not count.
    """
    path = tmp_path / "log.txt"
    lines = ["z a;z"] * 7 + ["a z;a"] * 3 + ["z a;a z"] * 2 + ["b z;b"] * 6 + ["z b;z"] * 3 + ["a b;b", "z;z", "z;z"]
    path.write_text("\n".join(lines))
    world = fitted_logit(path, classes=1, n=2, k=1)
    assert world.names == ("a", "b") and np.asarray(world.values) == pytest.approx(np.array([[0.5, 2.0]]))


def test_a_mixture_is_found_again_and_no_step_lowers_the_likelihood():
    """Expected counts of 10^6 choices from every slate: the fit comes near the mixture that they come from."""
    shares, weights = np.array([0.3, 0.7]), np.array([[1.0, 8.0, 0.5, 0.2], [1.0, 0.1, 1.0, 3.0]])
    offered = np.array([[1.0, *row] for row in product([0.0, 1.0], repeat=3)][1:])
    worth = offered @ weights.T
    counts = 1e6 * (shares * offered[:, :, None] * weights.T / worth[:, None, :]).sum(axis=2)
    history, found, values = fit_mixture(offered, counts, 2, 10_000, seed=0)
    assert min(np.diff(history)) > -1e-9 * abs(history[0])
    order = np.argsort(found)
    assert found[order] == pytest.approx(shares, abs=0.02) and values[order] == pytest.approx(weights, rel=0.1)


def test_the_fitted_logit_breaks_the_assumption():
    if not SLATES.exists():
        pytest.skip(f"{NOT_HERE}the log of slates, which is no part of the repository")
    world = fitted_logit(steps=100)
    assert (world.n, world.k) == (7, 3) and sw.check(world)[WEAK].holds is False


def test_the_real_slates_break_the_assumption():
    if not SLATES.exists():
        pytest.skip(f"{NOT_HERE}the log of slates, which is no part of the repository")
    world = slates()
    assert (world.n, world.k) == (7, 3) and world.probabilities.shape == (35, 3)
    assert margin_of(world) > 0 and sw.check(world)[WEAK].holds is False
