"""The bounds hold for all rounds at once, and the test with its tables of sets does what a plain one does."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, special

from reference.certificate import PlainCertificate, upper
from seeded import generator
from setwise.kernels.certificate import (
    ADMITTED,
    REFUTED,
    ROUNDS,
    WAITING,
    Watch,
    clear_watch,
    new_watch,
    slot_of,
    uniform_bound,
    watch_rounds,
)
from setwise.kernels.divergence import upper_bound
from setwise.kernels.set_table import NO_SET

Bound = Callable[[float, float, float], float]
DELTAS = (0.5, 0.05, 1e-6)


def mixture(total: float, rounds: float, mu: float) -> float:
    """The supermartingale: likelihood of q over that of mu, with q uniform from 0 to mu."""
    return math.exp(log_mixture(total, rounds, mu))


def log_mixture(total: float, rounds: float, mu: float) -> float:
    a, b = total + 1.0, rounds - total + 1.0
    log = special.betaln(a, b) - a * math.log(mu) - (rounds - total) * math.log1p(-mu)
    return float(math.log(special.betainc(a, b, mu)) + log)


def test_the_mixture_is_the_mean_of_the_likelihood_ratios() -> None:
    for rounds, total, mu in [(0, 0.0, 0.3), (7, 2.0, 0.4), (20, 3.5, 0.1), (30, 30.0, 0.9), (5, 0.0, 0.7)]:
        found, _ = integrate.quad(
            lambda q, n=rounds, c=total, m=mu: (q / m) ** c * ((1.0 - q) / (1.0 - m)) ** (n - c) / m, 0.0, mu
        )
        assert mixture(total, rounds, mu) == pytest.approx(found, rel=1e-8)


def test_the_mixture_does_not_grow_on_average() -> None:
    """For rewards of 0 and 1 with mean mu it stays; for larger means and for rewards in between it falls."""
    for rounds, mu in itertools.product((0, 1, 5, 40), (0.1, 0.5, 0.8)):
        for total in range(rounds + 1):
            now, none = mixture(total, rounds, mu), mixture(total, rounds + 1, mu)
            one, half = mixture(total + 1, rounds + 1, mu), mixture(total + 0.5, rounds + 1, mu)
            assert mu * one + (1.0 - mu) * none == pytest.approx(now, rel=1e-9)
            assert 0.9 * one + 0.1 * none < now
            assert half <= 0.5 * one + 0.5 * none


def test_the_factorials_are_bounded() -> None:
    """b is a product of factorials of real numbers; a reward may be any number from 0 to 1, a number of rounds not."""

    def excess(x: float) -> float:
        """What has to be added to x in Stirling's formula sqrt(2 pi x) (x/e)^x."""
        return math.exp(2.0 * (math.lgamma(x + 1.0) - x * (math.log(x) - 1.0 if x > 0.0 else 0.0))) / (2 * math.pi) - x

    assert all(excess(x) > 0.159 for x in np.linspace(0.0, 1.0, 20_001).tolist())
    assert all(excess(x) > 0.159 for x in np.geomspace(1.0, 1e4, 2_001).tolist())
    assert all(excess(float(x)) < 0.177 for x in range(1, 2000))
    assert excess(0.3) > 0.177, "for numbers that are not whole it would be wrong"
    for rounds in (1, 2, 3, 10, 1000, 10**6):
        for total in (rounds * np.linspace(0.0, 1.0, 41)).tolist() + [min(rounds, 0.01)]:
            log_b = math.lgamma(rounds + 1.0) - math.lgamma(total + 1.0) - math.lgamma(rounds - total + 1.0)
            for part in (total, rounds - total):
                log_b += part * math.log(part / rounds) if part > 0.0 else 0.0
            stated = math.log((rounds + 0.177) / (2.0 * math.pi * (total + 0.159) * (rounds - total + 0.159))) / 2.0
            # lgamma of 10^6 has an error of 1e-9.
            assert log_b <= min(0.0, stated) + 1e-8, (rounds, total)
            assert log_b + math.log(rounds + 1.0) >= -1e-8, "the level is never below log(1/delta)"


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rounds", [1, 2, 5, 30, 1000, 10**5])
def test_a_mean_above_the_bound_is_refuted_by_the_mixture(rounds: int, delta: float) -> None:
    for total in (rounds * np.array([0.0, 0.001, 0.1, 0.25, 0.5, 0.77, 0.999, 1.0])).tolist():
        bound = uniform_bound(total, float(rounds), math.log(1.0 / delta))
        assert bound == pytest.approx(upper(total, rounds, delta), rel=1e-9)
        for mu in np.linspace(bound, 1.0, 50)[:-1].tolist():
            if mu < 1.0:
                assert log_mixture(total, rounds, mu) >= math.log(1.0 / delta) - 1e-6, (total, mu)


@pytest.mark.parametrize("delta", [0.05, 1e-6])
def test_little_is_lost_to_the_exact_mixture(delta: float) -> None:
    """The bound is at most a sixth farther from the mean than the mu at which the mixture reaches 1/delta."""
    for rounds, share in itertools.product((100, 10_000), (0.02, 0.3, 0.5, 0.9)):
        total = rounds * share
        exact = optimize.brentq(
            lambda mu, c=total, n=rounds: log_mixture(c, n, mu) + math.log(delta), share + 1e-9, 1.0 - 1e-9
        )
        bound = uniform_bound(total, float(rounds), math.log(1.0 / delta))
        assert exact <= bound + 1e-12
        assert bound - share <= 7.0 / 6.0 * (exact - share)


def test_the_bound_of_nothing_is_trivial() -> None:
    assert uniform_bound(0.0, 0.0, 3.0) == 1.0
    assert uniform_bound(50.0, 50.0, 3.0) == 1.0
    assert uniform_bound(50.0 + 1e-12, 50.0, 3.0) == 1.0, "a sum of prices may exceed the rounds by rounding"
    assert 0.0 < uniform_bound(-1e-12, 50.0, 3.0) < 0.3


def careless(total: float, rounds: float, doubt: float) -> float:
    """A bound at a tenth of the level, and without what all rounds at once cost."""
    return 1.0 if rounds == 0.0 else upper_bound(total, rounds, 0.1 * doubt)


def chance_of_a_miss(step: list[float], values: int, mu: float, delta: float, rounds: int, bound: Bound) -> float:
    """The exact chance that mu is above the bound in some round; step[i]: of a sum of i / `unit` in one round."""
    unit = (len(step) - 1) / values
    law, missed = np.ones(1), 0.0
    for t in range(1, rounds + 1):
        law = np.convolve(law, step)
        for total in np.flatnonzero(law):
            if mu > bound(total / unit, float(t * values), math.log(1.0 / delta)):
                missed += float(law[total])
                law[total] = 0.0
    return missed


STEPS: dict[str, tuple[list[float], int, float]] = {
    "0 and 1, rarely": ([0.95, 0.05], 1, 0.05),
    "0 and 1, often": ([0.4, 0.6], 1, 0.6),
    "0, 1/2 and 1": ([0.3, 0.4, 0.3], 1, 0.5),
    "three equal arms": ([0.125, 0.375, 0.375, 0.125], 3, 0.5),
    "three unequal arms": (np.convolve(np.convolve([0.1, 0.9], [0.5, 0.5]), [0.9, 0.1]).tolist(), 3, 0.5),
}


@pytest.mark.parametrize("delta", [0.5, 0.05])
@pytest.mark.parametrize("name", STEPS)
def test_the_bound_fails_in_any_round_with_a_chance_of_at_most_delta(name: str, delta: float) -> None:
    """Computed, not simulated; and the computation tells a bound that is too small."""
    step, values, mu = STEPS[name]
    assert math.fsum(p * i for i, p in enumerate(step)) / (len(step) - 1) == pytest.approx(mu)
    sound = chance_of_a_miss(step, values, mu, delta, 250, uniform_bound)
    assert sound <= delta
    if name.startswith("0 and 1"):  # others vary less than the bound allows for
        assert sound >= delta / 6.0, "little is given away"
    assert chance_of_a_miss(step, values, mu, delta, 250, careless) > delta


# The whole test.

CASES: dict[str, dict[str, Any]] = {
    "choice": {"bound": 1.0, "most": 1.0, "values": 1},
    "independent": {"bound": 1.0, "most": 3.0, "values": 3},
    "prices": {"bound": 5.0, "most": 15.0, "values": 1},
}


def random_rounds(case: str, n: int, k: int, rounds: int, seed: int) -> list[tuple[list[int], list[float], int]]:
    """Blocks of rounds in a world with a hidden good set, whose arms are poor elsewhere."""
    rng = generator(seed)
    found = []
    good = set(range(k))
    while rounds > 0:
        arms = rng.permutation(n)[:k] if rng.random() < 0.5 else rng.permutation(k)
        mean = 0.9 if set(arms.tolist()) == good else 0.12
        block = int(min(rounds, rng.choice([1, 1, 1, 2, 9, 40])))
        if case == "choice":
            totals = rng.multinomial(block, [mean / k] * k + [1.0 - mean])[:k].astype(float)
        else:
            totals = rng.binomial(block, mean, k).astype(float)
        if case == "prices":
            totals *= rng.uniform(2.0, 5.0, k)
        found.append((arms.tolist(), totals.tolist(), block))
        rounds -= block
    return found


def watched(rounds: list[tuple[list[int], list[float], int]], n: int, k: int, delta: float, **limits: Any) -> Watch:
    watch = new_watch(n, k, delta=delta, **limits)
    for arms, totals, block in rounds:
        watch_rounds(watch, np.array(arms), np.array(totals), block)
    return watch


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("case", CASES)
def test_it_refutes_in_the_round_and_by_the_sets_of_the_plain_test(case: str, seed: int) -> None:
    n, k, delta = 6, 3, 0.05
    rounds = random_rounds(case, n, k, 3000, seed)
    plain = PlainCertificate(n, k, delta=delta, **CASES[case])
    for arms, totals, block in rounds:
        plain.add(arms, totals, block)
    watch = watched(rounds, n, k, delta, **CASES[case])
    assert plain.refuted is not None and plain.witness is not None
    assert watch.counts[[ROUNDS, ADMITTED, REFUTED]].tolist() == [3000, len(plain.number), plain.refuted]
    first, others = watch.witness[0], watch.witness[1:]
    assert first[0] == pytest.approx(plain.witness.lower, rel=1e-9) and set(first[2:]) == plain.witness.better
    assert first[1] == plain.plays[plain.witness.better]
    for row, (value, arm, company) in zip(others, plain.witness.bounds, strict=True):
        assert (row[0], row[1]) == (pytest.approx(value, rel=1e-9), arm)
        assert (set(row[2:]) == company) if company is not None else (row[2:] == -1.0).all()
    assert others[:, 0].sum() < first[0]


def test_it_is_as_silent_as_the_plain_test() -> None:
    """With so little doubt allowed, nothing is refuted; the bounds of all arms are those of the plain test."""
    rounds, limits = random_rounds("choice", 6, 3, 2000, 0), CASES["choice"]
    plain = PlainCertificate(6, 3, delta=1e-200, **limits)
    for arms, totals, block in rounds:
        plain.add(arms, totals, block)
    watch = watched(rounds, 6, 3, 1e-200, **limits)
    assert plain.refuted is None and watch.counts[REFUTED] == 0 and not watch.witness.any()


def test_a_cleared_test_is_a_new_one() -> None:
    rounds, limits = random_rounds("independent", 6, 3, 600, 1), CASES["independent"]
    fresh = watched(rounds, 6, 3, 0.05, **limits)
    used = watched(random_rounds("independent", 6, 3, 3000, 2), 6, 3, 0.05, **limits)
    assert used.counts[REFUTED] > 0
    clear_watch(used)
    for arms, totals, block in rounds:
        watch_rounds(used, np.array(arms), np.array(totals), block)
    for name in ("pulls", "reward", "number", "counts", "witness", "bounds"):
        assert (getattr(used, name) == getattr(fresh, name)).all(), name


def admit(watch: Watch, arms: list[int]) -> int:
    chosen = np.array(arms)
    watch_rounds(watch, chosen, np.zeros(len(arms)), WAITING)
    slot = slot_of(watch, chosen)
    assert watch.number[slot] == watch.counts[ADMITTED] and watch.table.plays[slot] == 0.0
    return slot


def test_a_set_is_admitted_after_some_rounds_and_only_later_ones_count() -> None:
    watch = new_watch(5, 2, **CASES["choice"], delta=0.05)
    chosen, rewards = np.array([3, 1]), np.array([1.0, 0.0])
    for _ in range(WAITING - 1):
        watch_rounds(watch, chosen, rewards, 1)
    slot = slot_of(watch, chosen)
    assert watch.number[slot] == 0
    watch_rounds(watch, chosen, rewards, 1)
    assert (watch.number[slot], watch.table.plays[slot], watch.table.totals[slot]) == (1, 0.0, 0.0)
    watch_rounds(watch, chosen[::-1].copy(), rewards, 1)  # in the other order, arm 1 is rewarded
    assert (watch.table.plays[slot], watch.table.totals[slot]) == (1.0, 1.0)
    assert dict(zip(watch.table.arms[slot].tolist(), watch.table.rewards[slot].tolist(), strict=True)) == {3: 0, 1: 1}
    assert (watch.pulls[[1, 3]] == WAITING + 1).all() and watch.reward[[1, 3]].tolist() == [1.0, WAITING]


def test_rounds_of_fewer_arms_do_not_count() -> None:
    watch = new_watch(5, 3, **CASES["independent"], delta=0.05)
    watch_rounds(watch, np.array([0, 4]), np.ones(2), 100)
    assert watch.counts[ROUNDS] == 100 and not watch.pulls.any() and not watch.table.taken.any()


def test_two_sets_of_one_code_are_not_confused() -> None:
    watch = new_watch(4, 2, **CASES["independent"] | {"most": 2.0, "values": 2}, delta=0.05)
    watch.table.codes[:] = [10, 20, 30, 40]  # {0, 3} and {1, 2} have the sum 50
    slot = admit(watch, [0, 3])
    watch_rounds(watch, np.array([2, 1]), np.ones(2), 50)
    assert slot_of(watch, np.array([1, 2])) == slot, "they do have one slot"
    assert watch.table.plays[slot] == 0.0 and not watch.table.rewards[slot].any()
    assert watch.pulls.tolist() == [WAITING, 50, 50, WAITING], "in all company the rounds count"


def test_admitted_sets_stay_and_others_make_way() -> None:
    rng = generator(5)
    watch = new_watch(30, 6, 1.0, 1.0, 1, 0.05)
    slots = {tuple(arms): admit(watch, list(arms)) for arms in itertools.combinations(range(9), 6)}
    for _ in range(20_000):
        watch.counts[ROUNDS] = 0  # so that it is never time for the test
        watch_rounds(watch, rng.permutation(30)[:6], np.zeros(6), 1)
    assert watch.table.taken.all(), "the table is full"
    for arms, slot in slots.items():
        assert slot_of(watch, np.array(arms)) == slot and set(watch.table.arms[slot]) == set(arms)
    watch.number[:] = 1
    before = watch.table.arms.copy()
    watch_rounds(watch, np.array([11, 13, 17, 19, 23, 29]), np.ones(6), WAITING)
    assert slot_of(watch, np.array([11, 13, 17, 19, 23, 29])) == NO_SET and (watch.table.arms == before).all()
