"""The normal distribution function F and the ratio f / F on a grid z, z + 1/4, z + 1/2, ..., from tables.

The tables hold Taylor polynomials of degree five around centres 1/32 apart, accurate to 2e-13. All points of a grid of
step 1/4 have the same distance to their nearest centres, and `table[term, row]` stores the centres of such a grid
contiguously, so that the loop vectorizes.

The series of f and of r = f / F follow term by term from f' = -z f and r' = -z r - r^2.
"""

import math
from typing import Any

import numpy as np

from setwise.types import Floats

STEP = 0.25
LOWEST = -8.0
COLUMNS = 70
ROWS = 8
TERMS = 6
HIGHEST = LOWEST + STEP * COLUMNS  # from here on F is 1 and f is 0 to 20 digits


def normal_cdf(x: float) -> float:
    """Return P(Z <= x) for a standard normal Z."""
    return 0.5 * math.erfc(-0.7071067811865476 * x)


def normal_density(x: float) -> float:
    """Return the standard normal density at x."""
    return 0.3989422804014327 * math.exp(-0.5 * x * x)


def make_tables() -> tuple[Any, Any]:
    """Return the coefficients of F and of f / F, each terms x rows x columns."""
    z = LOWEST + STEP * (np.arange(COLUMNS) + (np.arange(ROWS)[:, np.newaxis] + 0.5) / ROWS)
    nothing = np.zeros_like(z)
    below = np.array([[normal_cdf(x) for x in row] for row in z.tolist()])
    density = [nothing, np.array([[normal_density(x) for x in row] for row in z.tolist()])]
    ratio = [nothing, density[1] / below]
    for n in range(1, TERMS):
        density.append(-(z * density[n] + density[n - 1]) / n)
        square = sum(ratio[i] * ratio[n + 1 - i] for i in range(1, n + 1))
        ratio.append(-(z * ratio[n] + ratio[n - 1] + square) / n)
    cdf = np.array([below] + [density[n] / n for n in range(1, TERMS)])
    return cdf, np.array(ratio[1:])


CDF, RATIO = make_tables()


def on_grid(table: Any, z: float, values: Floats) -> int:
    """Write the tabulated function at z, z + 1/4, z + 1/2, ..., and return the number of values written.

    Stops at `HIGHEST` or at the end of `values`; z is `LOWEST` or more.
    """
    if not z < HIGHEST:
        return 0
    columns = (z - LOWEST) / STEP
    column = int(columns)
    row = int((columns - column) * ROWS)
    t = (columns - column - (row + 0.5) / ROWS) * STEP
    t2 = t * t
    t3 = t2 * t
    t4 = t2 * t2
    t5 = t4 * t
    size = min(len(values), COLUMNS - column)
    a = table[0, row, column : column + size]
    b = table[1, row, column : column + size]
    c = table[2, row, column : column + size]
    d = table[3, row, column : column + size]
    e = table[4, row, column : column + size]
    f = table[5, row, column : column + size]
    for i in range(size):
        values[i] = a[i] + t * b[i] + t2 * c[i] + t3 * d[i] + t4 * e[i] + t5 * f[i]
    return size
