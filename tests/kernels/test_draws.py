"""Hypergeometric and binomial draws of any size: log probabilities, the hat of the rejection, and the laws.

The rejection is proved exact number by number: the log of the ratio of two probabilities against 40 digits, the hat
above the law, and each decision between the two. Statistical tests cover the rest. Each raises a false alarm with
probability at most `LEVEL`, all together once in a million choices of seeds; the seeds are fixed.
"""

import functools
import itertools
import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from scipy import stats

from setwise.compiled import compile_for
from setwise.kernels import binomial, hypergeometric
from setwise.kernels.binomial import draw_binomial
from setwise.kernels.draws import draw_binary_many
from setwise.kernels.hypergeometric import draw_hypergeometric
from setwise.kernels.normal_hat import draw_step, log_ratio, normal_hat, stirling_rest
from setwise.types import Feedback

LEVEL = 1e-6 / 2000  # there are fewer comparisons than that, the slow ones included
PI = Decimal("3.1415926535897932384626433832795028841971693993751058")
BERNOULLI = "1/6 -1/30 1/42 -1/30 5/66 -691/2730 7/6 -3617/510 43867/798 -174611/330"


class Hypergeometric(NamedTuple):
    good: int
    bad: int
    sample: int

    @property
    def least(self) -> int:
        return max(0, self.sample - self.bad)

    @property
    def most(self) -> int:
        return min(self.good, self.sample)

    @property
    def mode(self) -> int:
        return (self.good + 1) * (self.sample + 1) // (self.good + self.bad + 2)

    @property
    def deviation(self) -> float:
        total = self.good + self.bad
        rest = (total - self.sample) / max(total - 1, 1)
        return math.sqrt(self.sample * (self.good / total) * (self.bad / total) * rest)

    def rise(self, x: Any) -> Any:
        """p(x + 1) / p(x)."""
        return (self.good - x) * (self.sample - x) / ((x + 1) * (self.bad - self.sample + x + 1))

    def log_chance(self, x: int) -> Decimal:
        """log p(x) up to a constant."""
        cells = (x, self.good - x, self.sample - x, self.bad - self.sample + x)
        return -sum(map(log_factorial, cells), Decimal(0))

    def draw(self, rng: Any) -> int:
        return draw_hypergeometric(*self, rng)


class Binomial(NamedTuple):
    rounds: int
    chance: float

    least = 0

    @property
    def most(self) -> int:
        return self.rounds

    @property
    def mode(self) -> int:
        return math.floor((self.rounds + 1) * Fraction(self.chance))

    @property
    def deviation(self) -> float:
        return math.sqrt(self.rounds * self.chance * (1 - self.chance))

    def rise(self, x: Any) -> Any:
        """p(x + 1) / p(x)."""
        return (self.rounds - x) * (self.chance / (1 - self.chance)) / (x + 1)

    def log_chance(self, x: int) -> Decimal:
        """log p(x) up to a constant."""
        odds = Fraction(self.chance) / (1 - Fraction(self.chance))
        return x * decimal(odds).ln() - log_factorial(x) - log_factorial(self.rounds - x)

    def draw(self, rng: Any) -> int:
        return draw_binomial(*self, rng)


Law = Hypergeometric | Binomial


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


@functools.cache
def log_factorial(c: int) -> Decimal:
    """log c!, by Stirling's series in 1 / c: to 40 digits, if so many are asked for."""
    if c < 200:
        return Decimal(math.factorial(c)).ln()
    series = Decimal(0)
    for j, number in enumerate(map(Fraction, BERNOULLI.split())):
        series += decimal(number / ((2 * j + 2) * (2 * j + 1))) / Decimal(c) ** (2 * j + 1)
    return (c + Decimal("0.5")) * Decimal(c).ln() - c + (2 * PI).ln() / 2 + series


def split_totals(feedback: Feedback, totals: Any, rounds: int, first: int, rng: Any, out: Any) -> None:
    """The totals of the first rounds, given those of all: an arm's share in the rounds that the arms before left."""
    for j in range(len(totals)):
        hits = int(totals[j])
        earlier = draw_hypergeometric(hits, rounds - hits, first, rng)
        if feedback == Feedback.choice:
            rounds -= hits
            first -= earlier
        out[j] = earlier


HYPERGEOMETRIC, BINOMIAL, SPLIT = 0, 1, 2


def fill(kind: int, counts: Any, feedback: Feedback, means: Any, rng: Any, totals: Any, out: Any) -> None:
    """Many draws, or totals of all rounds and of the first of them, one to a row. One function, compiled once."""
    for i in range(len(out)):
        if kind == HYPERGEOMETRIC:
            out[i, 0] = draw_hypergeometric(counts[0], counts[1], counts[2], rng)
        elif kind == BINOMIAL:
            out[i, 0] = draw_binomial(counts[0], means[0], rng)
        else:
            draw_binary_many(feedback, means, counts[0], rng, totals[i])
            split_totals(feedback, totals[i], counts[0], counts[1], rng, out[i])


@functools.cache
def compiled_fill() -> Any:
    rng = np.random.default_rng(0)
    return compile_for(fill, 0, (1, 1, 1), Feedback.choice, np.ones(1), rng, np.ones((1, 1)), np.ones((1, 1)))


def draws_of(law: Law, draws: int, rng: Any) -> Any:
    """Compiled draws."""
    out = np.empty((draws, 1))
    if isinstance(law, Hypergeometric):
        compiled_fill()(HYPERGEOMETRIC, tuple(law), Feedback.choice, np.ones(1), rng, out, out)
    else:
        compiled_fill()(BINOMIAL, (law.rounds, 0, 0), Feedback.choice, np.array([law.chance]), rng, out, out)
    return out[:, 0].astype(np.int64)


def flips(small: int, large: int, total: int) -> list[Hypergeometric]:
    """All ways to ask for one and the same table."""
    asked = [Hypergeometric(kind, total - kind, part) for kind, part in ((small, large), (large, small))]
    asked += [Hypergeometric(law.bad, law.good, law.sample) for law in asked]
    return asked + [Hypergeometric(law.good, law.bad, total - law.sample) for law in asked]


TINY = [Hypergeometric(good, n - good, sample) for n in range(1, 6) for good in range(n + 1) for sample in range(n + 1)]
SMALL = [
    Hypergeometric(9, 11, 10),
    Hypergeometric(20, 100, 60),
    *flips(21, 21, 42),
    *flips(24, 40, 100),
    *flips(25, 25, 50),
    *flips(30, 45, 100),
    Hypergeometric(21, 10**12, 10**11),
    Hypergeometric(100, 100, 100),
    Hypergeometric(60, 300, 100),
    Hypergeometric(400, 90, 200),
    Hypergeometric(1000, 1000, 999),
    Hypergeometric(2000, 10**6, 7000),
    Binomial(1, 0.3),
    Binomial(5, 0.9),
    Binomial(23, 0.5),
    Binomial(24, 0.5),
    Binomial(90, 0.6),
    Binomial(80, 0.5),
    Binomial(100, 0.12),
    Binomial(100, 0.88),
    Binomial(10**12, 5e-12),
    Binomial(10**12, 12.5e-12),
    Binomial(1000, 0.25),
]
WIDE = [
    *(
        Hypergeometric(good, total - good, max(1, round(total * share)))
        for total in (10**9, 10**11, 10**12)
        for good in (total // 10**9, total // 10**6, total // 100, total // 2, total - total // 10**6)
        for share in (1e-6, 1e-3, 0.5)
    ),
    Hypergeometric(10**12, 10**12, 10**12),
    Hypergeometric(10**12, 10**12 - 1, 5 * 10**11),
    Hypergeometric(9 * 10**11, 10**12, 10**11 + 7),
    *(
        Binomial(rounds, chance)
        for rounds in (10**9, 10**12 - 1, 10**12)
        for chance in (1e-15, 1e-12, 1e-10, 1e-9, 1e-6, 0.01, 0.5, 0.9, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12)
    ),
]
MIDDLE = [Hypergeometric(n, n + n // 7, n + n // 20) for n in (25, 30, 50, 100, 1000, 10**4, 10**6, 10**8)]
MIDDLE += [Hypergeometric(n, n * n, n * s) for n in (50, 1000, 10**5) for s in (13, 20, 50)]
MIDDLE += [Binomial(round(mean / chance), chance) for mean in (15.7, 35.9, 36.1, 300.0) for chance in (1e-7, 0.1, 0.5)]
# The mode is a rounding error away from a whole number, on either side of it.
EDGES: list[Law] = [Binomial(3 * 10**11 - 1, 1 / 3), Binomial(5 * 10**11 - 1, 0.2)]
for total, good in itertools.product((10**12 - 11, 2 * 10**12 - 1), (3 * 10**11 + 7, 5 * 10**11 - 8)):
    EDGES += [
        Hypergeometric(good, total - good, (side * pow(good + 1, -1, total + 2)) % (total + 2) - 1) for side in (1, -1)
    ]
EVEN = [Hypergeometric(n, n + i, n + i // 2) for n in range(20, 60) for i in range(3)]
EVEN += [Binomial(n, 0.5) for n in range(70, 120)]


class Cells(NamedTuple):
    """What `draw_step` is asked for."""

    w1: float
    w2: float
    w3: float
    w4: float
    tilt: float


def cells_of(law: Law) -> Cells | None:
    """The cells at the mode as the code computes them; None if it does not draw by rejection."""
    asked: list[Cells] = []

    def note(*arguments: Any) -> int:
        asked.append(Cells(*arguments[:5]))
        return 0

    with mock.patch.object(hypergeometric, "draw_step", note), mock.patch.object(binomial, "draw_step", note):
        law.draw(np.random.default_rng(0))
    return asked[0] if asked else None


def rejected(laws: list[Law]) -> Iterator[tuple[Law, Cells]]:
    """The laws that are drawn by rejection, turned so that the first cell is the least."""
    for law in laws:
        cells = cells_of(law)
        if cells is not None:
            if isinstance(law, Binomial):
                if law.chance > 0.5:
                    law = Binomial(law.rounds, 1 - law.chance)
            else:
                kind = min(law.good, law.bad)
                part = min(law.sample, law.good + law.bad - law.sample)
                law = Hypergeometric(min(kind, part), law.good + law.bad - min(kind, part), max(kind, part))
            assert law.mode == int(cells.w1)
            yield law, cells


def steps(law: Law, cells: Cells, many: int) -> list[int]:
    """Differences from the mode: small ones, up to the reach of the hat, and where it is closest to the law."""
    scale, _, _, reach, *_ = normal_hat(*cells)
    found = {
        0,
        1,
        -1,
        2,
        -3,
        round(scale),
        -round(scale),
        *np.linspace(-reach - 2, reach + 2, many).astype(int).tolist(),
    }
    return sorted(d for d in found if law.least <= law.mode + d <= law.most)


def test_the_rests_of_the_series_are_those_of_the_factorials() -> None:
    with localcontext(prec=50):
        for c in (*range(40), 100, 1000):
            w = c + Decimal("0.5")
            exact = w * w.ln() - w + (2 * PI).ln() / 2 - log_factorial(c)
            assert stirling_rest(c + 0.5) == pytest.approx(float(exact), abs=2e-14, rel=1e-15)


@pytest.mark.parametrize("laws", [MIDDLE, WIDE, EDGES], ids=["middle", "wide", "edges"])
def test_logs_of_ratios_are_right_to_twelve_digits_after_the_point(laws: list[Law]) -> None:
    """Up to 10^12, where differences of the log-gamma function are wrong in the third."""
    worst = 0.0
    with localcontext(prec=45):
        for law, cells in rejected(laws):
            mode = law.mode
            for d in steps(law, cells, 9):
                exact = law.log_chance(mode + d) - law.log_chance(mode)
                worst = max(worst, abs(float(Decimal(log_ratio(*cells, float(d))) - exact)))
    print(f"largest error {worst:.2g}")
    assert worst < 1e-12


class Scripted:
    """A generator that says what it is told, once."""

    def __init__(self, z: float, level: float) -> None:
        self.normals = iter([z])
        self.level = level

    def random(self) -> float:
        return self.level

    def standard_normal(self) -> float:
        return next(self.normals)

    def standard_exponential(self) -> float:
        return self.level


def accepted(cells: Cells, z: float, level: float) -> int | None:
    """The step that is made for these two random numbers, if any is."""
    try:
        return draw_step(*cells, Scripted(z, level))  # type: ignore[arg-type]
    except StopIteration:
        return None


def gaps_below_hat(law: Law, cells: Cells, many: int) -> Iterator[tuple[int, float, float]]:
    """Steps, normal variables that lead to them, and how far the law is below the hat there."""
    scale, shift, height, reach, *_ = normal_hat(*cells)
    for d in steps(law, cells, many):
        for edge in (-0.499999, 0.1, 0.499999):
            y = d + shift + edge
            if abs(y) < reach:
                z = y / scale
                yield d, z, height - z * z / 2 - log_ratio(*cells, float(d))


def test_every_value_is_accepted_or_not_as_the_ratio_says() -> None:
    """The bounds that spare most logarithms decide as the logarithms do."""
    for law, cells in rejected(MIDDLE + WIDE):
        for d, z, gap in gaps_below_hat(law, cells, 41):
            assert gap >= 0
            assert accepted(cells, z, gap + 1e-9) == d
            assert gap < 1e-9 or accepted(cells, z, gap - 1e-9) is None
        scale, shift, _, reach, *_ = normal_hat(*cells)
        for end in (reach, -reach):
            assert accepted(cells, end / scale * 1.000001, 1e9) is None
        assert accepted(cells, (-cells.w1 - 0.1 + shift) / scale, 1e9) is None
        assert accepted(cells, (cells.w2 + 0.1 + shift) / scale, 1e9) is None


def random_laws(many: int, seed: int) -> list[Law]:
    rng = np.random.default_rng(seed)
    laws: list[Law] = []
    for _ in range(many):
        total = round(10 ** rng.uniform(1.7, 12.3))
        good, sample = (round(total * 10 ** -rng.uniform(0.0, rng.choice([0.7, 7.0]))) for _ in range(2))
        laws.append(Hypergeometric(good, total - good, sample))
        laws.append(Binomial(round(total / 2), float(10 ** -rng.uniform(0.0, 10.0))))
    return laws


@pytest.mark.parametrize("many", [500, pytest.param(50_000, marks=pytest.mark.slow)])
def test_the_hat_is_above_the_law_wherever_it_reaches(many: int) -> None:
    looked_at = 0
    for law, cells in rejected(EVEN + random_laws(many, 1)):
        looked_at += 1
        assert cells.w1 >= 10
        assert cells.w1 <= min(cells.w2, cells.w3, cells.w4) + 1
        for d, _, gap in gaps_below_hat(law, cells, 15):
            assert gap >= 0, (law, d)
    assert looked_at > many


class Table(NamedTuple):
    """The chances of groups of so many neighbours, from a value on; all that is left out has less than 1e-17."""

    low: int
    size: int
    chances: Any


def table_of(law: Law, size: int = 0) -> Table:
    """By the ratios of neighbours, from the mode outwards.

    Groups of more than one, for laws of large deviation: the log of the ratio is next to linear, so the one halfway,
    times the number of steps, is good for all between the middles of two groups; and the sum over a group follows from
    its middle and the second difference. The error is below 1e-7.
    """
    size = size or int(law.deviation / 200) * 2 + 1
    mode = min(law.mode, law.most)
    reach = int(9 * law.deviation) + 40 * size
    up = np.arange(mode, min(law.most, mode + reach) - size + 1, size, dtype=float)
    down = np.arange(mode - size, max(law.least, mode - reach) - 1, -size, dtype=float)
    rises = [size * np.log(law.rise(x + (size - 1) / 2)) for x in (up, down)]
    middles = np.exp(np.concatenate([-np.cumsum(rises[1])[::-1], [0.0], np.cumsum(rises[0])]))
    groups = middles + (np.convolve(middles, [1, -2, 1])[1:-1] / 24 if size > 1 else 0.0)
    return Table(mode - len(down) * size - size // 2, size, groups / groups.sum())


def chi_square(observed: Any, expected: Any) -> None:
    """A chi-square test; cells too rare for it are put together."""
    assert observed[expected == 0].sum() == 0
    often = expected >= 20
    if expected[~often].sum() >= 20:
        observed = np.append(observed[often], observed[~often].sum())
        expected = np.append(expected[often], expected[~often].sum())
    else:
        observed, expected = observed[often], expected[often]
    if len(expected) > 1:
        assert stats.chisquare(observed, expected * (observed.sum() / expected.sum())).pvalue > LEVEL


def check_draws(found: Any, law: Law) -> None:
    """The distribution function at the ends of all groups (Kolmogorov, by Massart's inequality), and chi-square."""
    table = table_of(law)
    places = (found - table.low) // table.size
    assert places.min() >= 0
    assert places.max() < len(table.chances)
    counts = np.bincount(places, minlength=len(table.chances))
    below = np.cumsum(table.chances)
    apart = np.abs(np.cumsum(counts) / len(found) - below).max()
    assert apart < math.sqrt(math.log(2 / LEVEL) / (2 * len(found)))
    cells = np.minimum(below * 50, 49).astype(np.int64)
    chi_square(np.bincount(cells, counts), np.bincount(cells, table.chances) * len(found))


def test_the_table_of_a_law_is_exact() -> None:
    law = Hypergeometric(9, 7, 5)
    ways = [math.comb(9, x) * math.comb(7, 5 - x) for x in range(6)]
    assert table_of(law).chances == pytest.approx([way / math.comb(16, 5) for way in ways], rel=1e-14)
    thirds = Binomial(4, 1 / 3)
    assert table_of(thirds).chances == pytest.approx([16 / 81, 32 / 81, 24 / 81, 8 / 81, 1 / 81], rel=1e-14)


@pytest.mark.parametrize("law", [Hypergeometric(10**7, 10**12, 10**11), Binomial(10**12, 1e-5), Binomial(10**9, 0.5)])
def test_the_table_of_groups_is_as_good_as_that_of_all_values(law: Law) -> None:
    table, each = table_of(law), table_of(law, 1)
    assert table.size > 1
    below = np.cumsum(each.chances)
    ends = table.low + table.size * np.arange(1, len(table.chances) + 1) - 1 - each.low
    inside = (ends >= 0) & (ends < len(below))
    assert np.abs(np.cumsum(table.chances)[inside] - below[ends[inside]]).max() < 1e-7


def test_what_the_hat_does_not_reach_has_no_weight() -> None:
    for law, cells in rejected([law for law in MIDDLE if law.deviation < 200]):
        table = table_of(law, 1)
        _, shift, _, reach, *_ = normal_hat(*cells)
        steps = np.arange(len(table.chances)) + table.low - law.mode
        assert table.chances[np.abs(steps + shift) > reach - 0.5].sum() < 1e-16


@pytest.mark.parametrize(
    "law",
    [
        Hypergeometric(21, 10**12, 10**11),
        Hypergeometric(10**6, 10**12, 10**7),
        Hypergeometric(25, 40, 25),
        Hypergeometric(23, 23, 23),
        Binomial(10, 0.5),
        Binomial(70, 0.5),
        Binomial(10**9, 1e-10),
        Binomial(10**12, 3e-11),
    ],
)
def test_inversion_goes_up_where_the_distribution_function_says(law: Law) -> None:
    assert cells_of(law) is None
    with localcontext(prec=45):
        top = law.log_chance(law.mode)
        chances = [(law.log_chance(x) - top).exp() for x in range(min(law.most, 120) + 1)]
        below = [float(part / sum(chances)) for part in itertools.accumulate(chances)]
    assert [law.draw(Scripted(0.0, below[0] * factor)) for factor in (1 - 1e-12, 1 + 1e-12)] == [0, 1]
    for x, level in enumerate(below):
        if 1e-9 < level < 1 - 1e-9:
            assert [law.draw(Scripted(0.0, level + side)) for side in (-1e-14, 1e-14)] == [x, x + 1]


class Patient(int):
    """A number that can be subtracted from a thousand times."""

    times = 0

    def __sub__(self, other: int) -> int:
        self.times += 1
        assert self.times <= 1000
        return int(self) - other


def test_a_level_beyond_the_rounded_sum_of_all_chances_is_drawn_again_before_long() -> None:
    levels = iter([1.0 - 2.0**-53, 0.5])
    rng = SimpleNamespace(random=lambda: next(levels))
    assert draw_binomial(Patient(10**12), 2e-11, rng) == 20  # type: ignore[arg-type]
    assert next(levels, None) is None


@pytest.mark.parametrize("compiled", [False, True])
def test_nothing_is_random_about_an_empty_or_a_whole_sample(compiled: bool) -> None:
    laws = [Hypergeometric(good, bad, 0) for good in (0, 3, 10**12) for bad in (0, 5, 10**12)]
    laws += [Hypergeometric(law.good, law.bad, law.good + law.bad) for law in laws]
    laws += [Hypergeometric(0, 10**12, 5), Hypergeometric(10**12, 0, 7)]
    rng = np.random.default_rng(0)
    found = [int(draws_of(law, 1, rng)[0]) if compiled else law.draw(rng) for law in laws]
    assert found == [law.least for law in laws] == [law.most for law in laws]
    assert rng.random() == np.random.default_rng(0).random()


def test_tiny_samples_have_their_law() -> None:
    rng = np.random.default_rng(1)
    for law in TINY:
        check_draws(draws_of(law, 5000, rng), law)


@pytest.mark.parametrize("draws", [40_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_samples_of_hundreds_have_their_law(draws: int) -> None:
    rng = np.random.default_rng(2)
    for law in SMALL:
        check_draws(draws_of(law, draws, rng), law)


@pytest.mark.parametrize("draws", [40_000, pytest.param(2_000_000, marks=pytest.mark.slow)])
def test_draws_of_any_size_have_their_exact_quantiles(draws: int) -> None:
    """Counts near 10^9, 10^11 and 10^12; chances near 0 and near 1."""
    rng = np.random.default_rng(3)
    for law in MIDDLE + WIDE:
        check_draws(draws_of(law, draws, rng), law)


def test_a_chance_of_0_or_1_and_rounding_beyond_it() -> None:
    rng = np.random.default_rng(4)
    assert [draw_binomial(10**12, chance, rng) for chance in (0.0, -1e-17, 5e-324)] == [0, 0, 0]
    assert [draw_binomial(10**12, chance, rng) for chance in (1.0, 1 + 2e-16)] == [10**12, 10**12]
    assert [draw_binomial(0, chance, rng) for chance in (0.0, 0.3, 1.0)] == [0, 0, 0]


def test_interpreted_and_compiled_draws_have_the_same_bits() -> None:
    for number, law in enumerate(TINY[::7] + SMALL + MIDDLE + WIDE):
        plain, fast = np.random.default_rng(number), np.random.default_rng(number)
        assert [law.draw(plain) for _ in range(30)] == draws_of(law, 30, fast).tolist()
        assert plain.bit_generator.state == fast.bit_generator.state


def test_counts_of_numpy_do_not_overflow() -> None:
    law = Hypergeometric(9 * 10**11, 10**12, 7 * 10**11)
    own = draw_hypergeometric(*np.array(law), np.random.default_rng(5))
    assert own == law.draw(np.random.default_rng(5))
    assert draw_binomial(np.int64(10**12), np.float64(0.3), np.random.default_rng(6)) == Binomial(10**12, 0.3).draw(
        np.random.default_rng(6)
    )


def splits(feedback: Feedback, means: list[float], rounds: int, first: int, draws: int, seed: int) -> tuple[Any, Any]:
    """Totals of the first rounds and of the others, from totals of all that were drawn at once."""
    totals, out = np.empty((draws, len(means))), np.empty((draws, len(means)))
    rng = np.random.default_rng(seed)
    compiled_fill()(SPLIT, (rounds, first, 0), feedback, np.array(means), rng, totals, out)
    assert (out >= 0).all()
    assert (out <= totals).all()
    if feedback == Feedback.choice:
        assert (totals.sum(axis=1) <= rounds).all()
        assert (out.sum(axis=1) <= first).all()
        assert ((totals - out).sum(axis=1) <= rounds - first).all()
    return out, totals - out


def check_pairs(one: Any, other: Any, law: Any) -> None:
    observed = np.zeros(law.shape)
    np.add.at(observed, (one.astype(int), other.astype(int)), 1)
    chi_square(observed.ravel(), law.ravel() * len(one))


@pytest.mark.parametrize("feedback", list(Feedback))
@pytest.mark.parametrize(("rounds", "first"), [(12, 5), (100, 50), (400, 37)])
def test_the_parts_of_a_split_total_are_independent_binomials(feedback: Feedback, rounds: int, first: int) -> None:
    means = [0.3, 0.2, 0.4]
    out, rest = splits(feedback, means, rounds, first, 60_000, 7)
    for j, mean in enumerate(means):
        parts = [stats.binom.pmf(np.arange(n + 1), n, mean) for n in (first, rounds - first)]
        check_pairs(out[:, j], rest[:, j], np.outer(*parts))
    a, b = np.meshgrid(np.arange(first + 1), np.arange(first + 1), indexing="ij")
    if feedback == Feedback.choice:
        law = stats.multinomial.pmf(np.stack([a, b, first - a - b], axis=-1), first, [0.3, 0.2, 0.5])
    else:
        law = stats.binom.pmf(a, first, 0.3) * stats.binom.pmf(b, first, 0.2)
    check_pairs(out[:, 0], out[:, 1], law)


@pytest.mark.parametrize("feedback", list(Feedback))
def test_a_trillion_rounds_are_split_into_binomials(feedback: Feedback) -> None:
    """All arms, whatever the arms before them left over; rare ones and one that is almost always rewarded."""
    choice = feedback == Feedback.choice
    means = [1e-11, 0.6, 1e-9, 0.3999] if choice else [1e-11, 0.5, 1 - 1e-9, 0.3]
    rounds, first = 10**12, 3 * 10**11 + 1
    out, rest = splits(feedback, means, rounds, first, 40_000, 8)
    limit = stats.norm.isf(LEVEL / 2) / math.sqrt(len(out))
    for j, mean in enumerate(means):
        check_draws(out[:, j].astype(np.int64), Binomial(first, mean))
        check_draws(rest[:, j].astype(np.int64), Binomial(rounds - first, mean))
        assert abs(np.corrcoef(out[:, j], rest[:, j])[0, 1]) < limit
    together = -math.sqrt(0.6 * 0.3999 / (0.4 * 0.6001)) if choice else 0.0
    found = np.corrcoef(out[:, 1], out[:, 3])[0, 1]
    assert abs(math.atanh(found) - math.atanh(together)) < limit * 1.01


def test_a_split_has_the_law_of_the_first_rounds_of_all_orders() -> None:
    """Eight rounds of two arms, in all orders of their outcomes."""
    orders = set(itertools.permutations("aaabb---"))
    rng = np.random.default_rng(9)
    law = np.zeros((4, 3))
    for order in orders:
        law[order[:4].count("a"), order[:4].count("b")] += 1 / len(orders)
    found = np.array([[3.0, 2.0]] * 8000)
    for row in found:
        split_totals(Feedback.choice, row, 8, 4, rng, row)
    check_pairs(found[:, 0], found[:, 1], law)


@pytest.mark.parametrize("feedback", list(Feedback))
def test_interpreted_and_compiled_splits_have_the_same_bits(feedback: Feedback) -> None:
    for rounds in (3, 50, 10**4, 10**12):
        ways = []
        for way in (fill, compiled_fill()):
            means, totals, out = np.array([0.2, 0.01, 0.7]), np.empty((8, 3)), np.empty((8, 3))
            way(SPLIT, (rounds, rounds // 2, 0), feedback, means, np.random.default_rng(10), totals, out)
            ways.append((totals.tolist(), out.tolist()))
        assert ways[0] == ways[1]
