"""Nanoseconds per draw: our binomial and hypergeometric, compiled, against Numba's binomial and NumPy's hypergeometric.

    python benchmarks/draws.py

The counts vary a little from draw to draw, so no set-up is reused; NumPy draws all in one call. The last table shows
the error of NumPy's binomial law up to version 2.4, by its formula: the last test of its algorithm adds the remainders
of Stirling's series of the value drawn, 1/12 of 1/(x + 1) + 1/(n - x + 1), where it should subtract them.
That test runs for values more than 20 from the mode.
"""

import functools
from typing import Any

import numpy as np
from scipy import stats

from measuring import nanoseconds, seconds
from setwise.compiled import compile_for
from setwise.kernels.binomial import draw_binomial
from setwise.kernels.hypergeometric import draw_hypergeometric

DRAWS = 20_000
REPEAT = 50
SAMPLES = [(3, 4, 3), (10, 12, 11), (20, 20, 20), (30, 30, 30), (100, 900, 500), (1000, 10**6, 20_000)]
SAMPLES += [(10**4, 10**4, 10**4), (10**7, 10**8, 5 * 10**7), (10**10, 10**11, 5 * 10**10), (9 * 10**11,) * 3]
ROUNDS = [(10, 0.3), (100, 0.05), (100, 0.1), (50, 0.5), (200, 0.5), (10**4, 0.05), (10**6, 0.5), (10**12, 1e-11)]
ROUNDS += [(10**12, 0.3), (10**12, 1 - 1e-9)]


def our_samples(good: int, bad: int, sample: int, rng: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = draw_hypergeometric(good, bad + (i & 1), sample, rng)


def our_binomials(rounds: int, chance: float, rng: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = draw_binomial(rounds + (i & 1), chance, rng)


def numba_binomials(rounds: int, chance: float, rng: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = rng.binomial(rounds + (i & 1), chance)


def a_draw(work: Any) -> float:
    return seconds(work, REPEAT) / DRAWS


def distance_to_law(rounds: int, chance: float) -> float:
    """Return the total variation between the binomial law and the law with remainders of the wrong sign."""
    x = np.arange(rounds + 1)
    law = stats.binom.pmf(x, rounds, chance)
    mode = int((rounds + 1) * chance)
    far = np.abs(x - mode)
    tested = (far > 20) & (far < rounds * chance * (1 - chance) / 2 - 1)
    wrong = law * np.exp(np.where(tested, (1 / (x + 1) + 1 / (rounds - x + 1)) / 6, 0.0))
    return float(np.abs(wrong / wrong.sum() - law).sum() / 2)


def main() -> None:
    rng = np.random.default_rng(0)
    out = np.zeros(DRAWS, dtype=np.int64)
    samples = compile_for(our_samples, 1, 1, 1, rng, out)
    ours = compile_for(our_binomials, 1, 0.5, rng, out)
    numbas = compile_for(numba_binomials, 1, 0.5, rng, out)
    print("hypergeometric: good, bad, sample              ours       NumPy")
    for counts in SAMPLES:
        mine = a_draw(functools.partial(samples, *counts, rng, out))
        try:
            theirs = nanoseconds(a_draw(functools.partial(rng.hypergeometric, *counts, size=DRAWS)))
        except ValueError:
            theirs = "refuses"
        print(f"{', '.join(f'{count:g}' for count in counts):42s} {nanoseconds(mine):>10s} {theirs:>10s}")
    print("\nbinomial: rounds, chance                       ours       Numba")
    for rounds, chance in ROUNDS:
        mine, theirs = (a_draw(functools.partial(way, rounds, chance, rng, out)) for way in (ours, numbas))
        print(f"{f'{rounds:g}, {chance!r}':42s} {nanoseconds(mine):>10s} {nanoseconds(theirs):>10s}")
    print("\nbinomial of NumPy up to 2.4: rounds, chance    share drawn wrong")
    for rounds, chance in [(200, 0.5), (1000, 0.5), (10**4, 0.01), (10**4, 0.05), (10**4, 0.5), (10**6, 0.5)]:
        print(f"{f'{rounds:g}, {chance!r}':46s} {distance_to_law(rounds, chance):.1g}")


if __name__ == "__main__":
    main()
