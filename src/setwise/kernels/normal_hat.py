"""Exact binomial and hypergeometric draws of any size, by rejection from a normal hat, without tables.

For both, p(x) is 1 / (c1! c2! c3! c4!) up to a factor r^x, where the cells c1 and c4 grow with x and c2 and c3 shrink
(a binomial has two cells only). Write w = c + 1/2 for the cells at the mode m. By Stirling's series in w,

    log p(m + d) / p(m) = -d tilt - G(w1, d) - G(w2, -d) - G(w3, -d) - G(w4, d)
    G(w, d) = log (c + d)! - log c! - d log w = w F(d / w) - R(w + d) + R(w)
    F(u) = (1 + u) log(1 + u) - u,    R(w) = 1 / (24 w) - 7 / (2880 w^3) + 31 / (40320 w^5) - ...

and tilt = log(w1 w4 / (w2 w3)) - log r is near 0. No large terms cancel here, whereas the log-gamma function of 10^12
is 3 * 10^13, with only two digits after the point. The sum is accurate to 1e-12 for cells up to 10^12 and |d| up to 12
standard deviations.

The hat. By Bernstein's inequality, F(u) >= u^2 / (2 + 2 u / 3), the four w F sum to at least d^2 K(d / 3) / 2 with

    K(a) = 1 / (w1 + a) + 1 / (w2 - a) + 1 / (w3 - a) + 1 / (w4 + a).

Let L be a lower bound of K on the range in use, and s = tilt / L. Then log p(m + d) / p(m) is at most
-L (d + s)^2 / 2 + s tilt / 2, apart from R. A normal y is rounded to d, so that y = d + s + e with |e| <= 1/2, and

    (d + s)^2 >= (1 - h) y^2 - (1 / h - 1) / 4    for any h between 0 and 1.

So the normal law of variance 1 / (L (1 - h)), raised to L / (8 h) + s tilt / 2, is a hat, with a margin of L / 8. R
uses less than K(0) / 100 of the margin: it adds something only if a cell shrinks, and if a cell shrinks by much, the
slack in Bernstein's inequality exceeds R.

L: the first cell is the smallest, the last the largest, and K is convex, so K decreases on the right only. (If rounding
of the mode makes it decrease on the left, it is by less than K(0) / (3 w1^2), which the margin covers.) On the right,
1 / (w3 - a) + 1 / (w4 + a) increases, and 1 / (w1 + a) + 1 / (w2 - a) decreases up to a = (w2 - w1) / 2.

For large counts L is almost K(0), and h = K(0)^(1/2) / 2 almost 0, so almost every y is accepted, most of them by the
first terms of the series of F. Values more than 12 standard deviations from the mode are cut off; their probability is
below 1e-16 if w1 is 10 or more.
"""

import math

from setwise.types import Generator

REACH = 12.0  # standard deviations
ENDLESS = 1e60  # stands for the cells that a binomial does not have: they never change

# R(w) for w = 1/2, 3/2, ...
RESTS = (
    0.07236494292470008,
    0.027136195366919316,
    0.016518182330115094,
    0.011849453710405727,
    0.009232988349960452,
    0.007561297733965538,
    0.00640147105491602,
    0.005549826206244116,
    0.004898020177724066,
    0.004383139884907061,
    0.003966160345673161,
    0.0036215940766372886,
    0.0033320913959795895,
    0.003085433580430681,
    0.002872767150657649,
    0.0026875202043956914,
)


def stirling_rest(w: float) -> float:
    """Return R(w) = w log w - w + log(2 pi) / 2 - log c! for w = c + 1/2."""
    if w < 16.0:
        return RESTS[int(w)]
    x = 1.0 / w
    y = x * x
    return x * (1.0 / 24.0 - y * (7.0 / 2880.0 - y * (31.0 / 40320.0 - y * (127.0 / 215040.0))))


def growth(w: float, d: float) -> float:
    """Return G(w, d) = log (c + d)! - log c! - d log w for w = c + 1/2; c + d is 0 or more.

    >>> round(growth(3.5, 2.0) - math.log(20.0) + 2.0 * math.log(3.5), 12)
    0.0
    """
    u = d / w
    if abs(u) < 0.2:  # by the series of log(1 + u) in s
        s = u / (2.0 + u)
        y = s * s
        tail = 1.0 / 11.0 + y * (1.0 / 13.0 + y * (1.0 / 15.0 + y * (1.0 / 17.0)))
        tail = 1.0 / 3.0 + y * (1.0 / 5.0 + y * (1.0 / 7.0 + y * (1.0 / 9.0 + y * tail)))
        f = u * s + 2.0 * (1.0 + u) * s * y * tail
    else:
        f = (1.0 + u) * math.log1p(u) - u
    return w * f - stirling_rest(w + d) + stirling_rest(w)


def log_ratio(w1: float, w2: float, w3: float, w4: float, tilt: float, d: float) -> float:
    """Return log p(m + d) / p(m), given the cells at the mode."""
    return -d * tilt - growth(w1, d) - growth(w2, -d) - growth(w3, -d) - growth(w4, d)


def normal_hat(
    w1: float, w2: float, w3: float, w4: float, tilt: float
) -> tuple[float, float, float, float, float, float]:
    """Return the hat for these cells: its standard deviation, s, its height, its reach, and K(0) and -K'(0)."""
    p = w1 * w2 * (w3 * w4)
    q = (w1 + w2) * (w3 * w4) + (w3 + w4) * (w1 * w2)
    r = 1.0 / (p * q)  # the only division; p / q is the variance of the normal law that fits at the mode
    left = r * q * (w3 * w4)
    right = r * q * (w1 * w2)
    curvature = left * (w1 + w2) + right * (w3 + w4)
    skewness = left * left * ((w2 - w1) * (w1 + w2)) - right * right * ((w4 - w3) * (w3 + w4))
    deviation = math.sqrt(p * p * r)
    reach = REACH * deviation
    a = max(min((reach + 2.0) * (1.0 / 3.0), 0.5 * (w2 - w1)), 0.0)
    more = a * (w2 - w1 - a) * left  # (w1 + a) (w2 - a) is 1 + more times w1 w2
    least = curvature - left * (w1 + w2) * (more / (1.0 + more))
    h = 0.5 * curvature * deviation
    shift = tilt / least
    return 1.0 / math.sqrt(least * (1.0 - h)), shift, 0.5 * (h + tilt * shift), reach, curvature, skewness


def draw_step(w1: float, w2: float, w3: float, w4: float, tilt: float, rng: Generator) -> int:
    """Draw the distance from the mode, given these cells; requires w1 >= 10, w1 the smallest, w2 <= w3."""
    scale, shift, height, reach, curvature, skewness = normal_hat(w1, w2, w3, w4, tilt)
    shorter = 1.0 / w1
    while True:
        z = rng.standard_normal()
        level = rng.standard_exponential()
        y = scale * z
        step = math.floor(y - shift + 0.5)
        d = float(step)
        if abs(y) < reach and w1 + d > 0.0 and w2 - d > 0.0:
            # Accept if level is at least the distance from the hat down to the law. For u < 1/2, w F(u) is
            # w (u^2 / 2 - u^3 / 6) plus at most w u^4 / 6, and R changes by at most |d| / (12 w^2).
            u = abs(d) * shorter
            square = d * d
            slack = curvature * u * (1.0 / 12.0)
            rough = height - 0.5 * z * z + d * tilt + square * (0.5 * curvature - skewness * d * (1.0 / 6.0))
            if u < 0.5:
                if level >= rough + slack + curvature * square * (u * u) * (1.0 / 6.0):
                    return step
                if level < rough - slack:
                    continue
            if level >= height - 0.5 * z * z - log_ratio(w1, w2, w3, w4, tilt, d):
                return step
