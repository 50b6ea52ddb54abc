"""The paper's bounds against hand-computed values, and their scaling."""

import math

import pytest
from scipy import stats

import setwise as sw
from setwise.environments import Independent, Scaled
from setwise.paper.instances import INSTANCES
from setwise.theory import bounds

LOG = math.log(100_000)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("camera", 8.61e5, 5.15e5),
        ("mnl", 2.89e9, 1.02e7),
        ("random-utility", 1.68e8, 2.58e6),
        ("preference-matrix", 1.64e6, 3.015e5),
    ],
)
def test_the_theorems_have_the_values_worked_out_by_hand_and_say_nothing(
    name: str, first: float, second: float
) -> None:
    world = INSTANCES[name]()
    options = {"method": "prove"} if world.proof else {}
    found = bounds(world, 100_000, **options)
    n, k, eps, last = world.n, world.k, found.gaps.epsilon, found.gaps.probabilities[-1]
    assert found.theorem_1.printed == pytest.approx(first, rel=5e-3)
    assert found.theorem_2.printed == pytest.approx(second, rel=5e-3)
    shape = 2 * n * LOG / eps
    assert found.theorem_1.printed == pytest.approx((8 * k**1.5 + 30 * k**2) * shape + n)
    assert found.theorem_1.corrected == pytest.approx((2 * math.sqrt(40) * k**1.5 + 30 * k**2) * shape + n)
    assert found.theorem_2.corrected == pytest.approx(found.theorem_2.printed + n * last)
    for bound in (found.theorem_1, found.theorem_2):
        assert bound.vacuous
        assert bound.useful == bound.limit == pytest.approx(100_000 * found.gaps.largest)
    assert found.bounded_gap.corrected == pytest.approx(found.theorem_1.corrected)
    assert found.bounded_free.corrected == pytest.approx(found.theorem_2.corrected)
    assert str(found).count("(vacuous)") >= 2


def test_a_bound_that_says_something_is_not_vacuous() -> None:
    found = bounds(Independent([0.9, 0.1], k=1), 10**12)
    assert found.theorem_1.corrected is not None
    assert not found.theorem_1.vacuous
    assert found.theorem_1.useful == found.theorem_1.corrected < 0.8e12


def test_the_lemmas_on_the_camera_have_the_values_worked_out_by_hand() -> None:
    found = bounds(sw.paper.camera(), 100_000)
    plays = [bound.corrected for bound in found.suboptimal_plays]
    assert plays == pytest.approx([1440 * LOG / 0.2**2, 2880 * LOG / 0.1**2, 4320 * LOG / 0.05**2])
    assert [bound.printed for bound in found.suboptimal_plays] == plays
    assert [bound.printed for bound in found.delta_times_t] == pytest.approx([2160 * LOG / 0.2, 3240 * LOG / 0.1])
    assert [bound.corrected for bound in found.delta_times_t] == pytest.approx([2160 * LOG / 0.1, 3240 * LOG / 0.05])
    assert found.validity.printed == pytest.approx(2e-20)
    assert found.validity.corrected == pytest.approx(12e-15)
    assert all(bound.limit is None and not bound.vacuous for bound in found.suboptimal_plays + found.delta_times_t)


def test_alpha_enters_the_bounds_as_the_formulas_say() -> None:
    two, three = bounds(sw.paper.camera(), 1000, alpha=2), bounds(sw.paper.camera(), 1000, alpha=3)
    assert three.theorem_1.printed - 6 == pytest.approx(1.5 * (two.theorem_1.printed - 6))
    assert three.theorem_2.printed == pytest.approx(math.sqrt(1.5) * two.theorem_2.printed)
    assert three.suboptimal_plays[1].corrected == pytest.approx(1.5 * two.suboptimal_plays[1].corrected)
    assert three.validity.corrected == pytest.approx(12 * 1000.0**-5)


@pytest.mark.parametrize("top", [5.0, 0.5])
def test_bounds_on_rewards_up_to_b_are_those_on_rewards_divided_by_b(top: float) -> None:
    plain, scaled = bounds(sw.paper.camera(), 100_000), bounds(Scaled(sw.paper.camera(), top), 100_000)
    assert scaled.gaps.epsilon == pytest.approx(top * 0.05)
    assert scaled.bounded_gap.corrected == pytest.approx(top * plain.theorem_1.corrected)
    assert scaled.bounded_free.corrected == pytest.approx(top * plain.theorem_2.corrected)
    assert scaled.bounded_gap.printed == pytest.approx(2 * 9 * top**2 * 6 * LOG / (top * 0.05))
    assert scaled.bounded_free.printed == pytest.approx(9 * top * math.sqrt(2 * 6 * 100_000 * LOG))
    assert scaled.bounded_gap.limit == pytest.approx(top * plain.theorem_1.limit)
    if top > 1:
        assert scaled.theorem_1.corrected is scaled.theorem_2.corrected is None
        assert (scaled.theorem_1.useful, scaled.theorem_1.vacuous) == (None, False)
        assert "corollary" in scaled.theorem_1.correction
    else:
        assert scaled.theorem_1.corrected == pytest.approx(2 * plain.theorem_1.corrected, rel=1e-5)  # half the gap


@pytest.mark.parametrize("top", [5.0, 0.5])
def test_lemmas_on_rewards_up_to_b_are_those_on_rewards_divided_by_b(top: float) -> None:
    plain, scaled = bounds(sw.paper.camera(), 100_000), bounds(Scaled(sw.paper.camera(), top), 100_000)
    for one, other in zip(plain.suboptimal_plays, scaled.suboptimal_plays, strict=True):
        assert other.corrected == pytest.approx(one.corrected)  # numbers of rounds: prices do not matter
    for one, other in zip(plain.delta_times_t, scaled.delta_times_t, strict=True):
        assert other.corrected == pytest.approx(top * one.corrected)


def test_lower_bounds_are_those_of_the_divergence_of_the_two_worlds() -> None:
    for n, k, eps in [(6, 3, 0.05), (5, 2, 0.01), (4, 1, 0.3), (9, 4, 0.19)]:
        found = bounds(Independent([0.5] * k + [0.5 - eps] * (n - k), k), 100_000)
        q = 1 / (k + 1)
        others, low, high = [q] * (k - 1), q - eps, q + eps
        nothing = 1 - sum(others) - low
        divergence = stats.entropy([*others, low, nothing], [*others, high, nothing - 2 * eps])
        assert found.lower_choice.corrected == pytest.approx((n - k) * eps * LOG / divergence)
        divergence = stats.entropy([0.5 - eps, 0.5 + eps], [0.5 + eps, 0.5 - eps])
        assert found.lower_independent.corrected == pytest.approx((n - k) * eps * LOG / divergence)
        assert found.lower_choice.printed == pytest.approx(n * LOG / (k * eps))
        assert found.lower_independent.printed == pytest.approx(n * LOG / eps)
        assert found.lower_choice.useful is None


def test_there_is_no_lower_bound_for_a_gap_that_the_family_of_worlds_does_not_have() -> None:
    found = bounds(Independent([0.9, 0.35], k=1), 1000)
    assert (found.lower_choice.corrected, found.lower_independent.corrected) == (None, None)


def test_what_the_theorems_ask_for_and_is_not_there_is_noted() -> None:
    assert bounds(sw.paper.camera(), 149).notes == ()
    low = bounds(sw.paper.camera(), 148, alpha=1.5).notes
    assert len(low) == 2
    assert "alpha is 1.5" in low[0]
    assert "log T >= 5, that is T >= 149" in low[1]
    tied = bounds(Independent([0.5, 0.3, 0.3], k=2), 1000)
    assert tied.notes == (
        "2 sets are optimal: epsilon is the least gap to a strictly worse set",
        "the proofs take the optimal set to be the only one",
    )
    assert tied.theorem_1.corrected is not None
    assert tied.gaps.epsilon == pytest.approx(0.2)


def test_where_all_sets_are_optimal_the_gap_dependent_bounds_say_nothing() -> None:
    found = bounds(Independent([0.3, 0.3, 0.3], k=2), 1000)
    assert found.notes == ("all sets are optimal: there is nothing to learn",)
    assert (found.gaps.epsilon, found.gaps.largest) == (0.0, 0.0)
    for bound in (
        found.theorem_1,
        found.bounded_gap,
        found.lower_choice,
        *found.suboptimal_plays,
        *found.delta_times_t,
    ):
        assert (bound.printed, bound.corrected, bound.useful, bound.vacuous) == (None, None, None, False)
    assert found.theorem_2.useful == 0.0
    assert "printed -, corrected -" in str(found)


def test_lower_bounds_grow_with_the_prices() -> None:
    plain, priced = bounds(sw.paper.camera(), 1000), bounds(Scaled(sw.paper.camera(), 5.0), 1000)
    assert priced.lower_choice.corrected == pytest.approx(5 * plain.lower_choice.corrected)
    assert priced.lower_independent.corrected == pytest.approx(5 * plain.lower_independent.corrected)
