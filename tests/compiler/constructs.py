"""Functions that use each part of Python that the compiler takes, for `test_language`."""

import math
from typing import NamedTuple

import numpy as np

TABLE = np.array([3.5, -1.0, 2.25])
PAIR = (4, 7)
NUMBERS = (0.5, 1.5, 2.5, 3.5)


class Inner(NamedTuple):
    values: np.ndarray
    scale: float

    def scaled(self, place, times=2.0):
        return self.values[place] * self.scale * times

    @property
    def first(self):
        return self.values[0]


class Outer(NamedTuple):
    inner: Inner
    counts: np.ndarray
    name: str = "not for compiled code"


def whole_arithmetic(a, b):
    return (a + b) * 3 - (a - 7 * b) + (a & b) - (a | 5) + (a ^ b) + -a + +b


def whole_division(a, b):
    return 1000 * (a // b) + a % b


def division_by_a_constant(a, b):
    return (a // 7) * 31 + a % 7 + (b // -3) * 5 + b % -3


def real_arithmetic(x, y):
    return (x + y) * 0.25 - x / (y + 1e-3) + -y


def mixed_arithmetic(a, x):
    return a * x + a / 3 - x * 2 + (a > 0) + True


def shifts(a, b):
    return ((a & 1023) << (b & 15)) + (a >> (b & 15))


def powers(a, x):
    return a**2 + a**3 + abs(x) ** 0.5 + x**2 + 2.0 ** (a % 7)


def comparisons(a, b):
    found = 0
    if a < b:
        found += 1
    if a <= b:
        found += 2
    if a == b:
        found += 4
    if a != b:
        found += 8
    if a >= b:
        found += 16
    if a > b:
        found += 32
    return found


def chain(a, b):
    return -5 < a < b <= 9


def logic(a, b):
    return (a > 0 and b > 0) or (not a < -3 and b % 2 == 0) or a == b


def extremes(a, b):
    return min(a, b, 3) * 100 + max(a, b) * 10 + abs(a)


def real_extremes(x, y):
    return max(x, y, 0.5) * 3.0 + min(x, y) - abs(x)


def conversions(a, x):
    return int(x) + float(a) + bool(a) + int(x > 0) + float(x > 1.0) + math.floor(x) * 10 + math.ceil(x) * 100


def roots_and_logarithms(x, y):
    z = abs(x) + 0.125
    return math.sqrt(z) + math.log(z) + math.log1p(z) + math.log2(z) + math.log10(z) + math.fabs(y)


def exponentials(x, y):
    return math.exp(x / 4.0) + math.expm1(y / 4.0) + math.erf(x) + math.erfc(y) + math.tanh(x)


def trigonometry(x, y):
    return math.sin(x) + math.cos(y) + math.tan(x / 7.0) + math.atan(y)


def tests_of_numbers(x, y):
    found = 0
    for value in range(4):
        z = x if value == 0 else math.inf if value == 1 else -math.inf if value == 2 else math.nan
        found = found * 8 + math.isnan(z) * 4 + math.isinf(z) * 2 + math.isfinite(z)
    return found + (y == y)


def sum_of_range(a, b):
    total = 0
    for i in range(a % 5, abs(b) % 20, 2):
        total += i * i
    for i in range(abs(b) % 9, -1, -1):
        total -= i
    for i in range(abs(a) % 6):
        if i == 2:
            continue
        if i == 4:
            break
        total += 100
    return total


def loop_variable_after_the_loop(a, b):
    last = 0
    for i in range(3 + abs(a) % 4):
        last = i
    return last * 10 + i


def bisection(x, y):
    low, high = 0.0, 10.0 + abs(y)
    while high - low > 1e-9:
        middle = (low + high) / 2.0
        if middle * middle < abs(x):
            low = middle
        else:
            high = middle
    return low


def endless_until_return(a, b):
    i = 0
    while True:
        i += 1
        if i * i > abs(a):
            return i


def endless_until_break(a, b):
    i = 0
    while True:
        i += 3
        if i > abs(b):
            break
    return i


def number_that_becomes_real(a, x):
    total = 0
    for i in range(abs(a) % 10):
        total = total + x * i
    return total


def several_results(a, x):
    return a, x * 2.0


def swap(a, b):
    one, other = several_results(a, 0.5 * b)
    one, other = other, one
    (first, second), third = (one, other), 3
    return first * 100 + second + third


def choice(a, x):
    return (a if x > 0.0 else 2.5) + (1 if a > 0 else -1 if a < -5 else 0)


def defaults_and_keywords(a, b):
    return with_defaults(a) + with_defaults(a, third=b) + with_defaults(a, b, 1)


def with_defaults(first, second=2, third=PAIR[1]):
    return first + 10 * second + 100 * third


def global_things(a, x):
    return TABLE[a % 3] + PAIR[0] + NUMBERS[a % 4] + len(TABLE) + len(PAIR) + math.pi + np.inf * (x == np.inf)


def assigned_parameter(a, b):
    a += 3
    b = a if b > 0 else b
    a -= 1
    return a * 1000 + b


def nothing(a, b):
    if a > b:
        return
    a += 1


def elements(values, counts):
    total = 0.0
    for i in range(len(values)):
        total += values[i] * counts[i % len(counts)]
    for value in values:
        total -= value / 3.0
    for count in counts:
        total += count
    return total + values[-1] + values[len(values) - 1] + counts[-len(counts)]


def negative_indices(values, counts):
    total = 0.0
    for i in range(1, len(values) + 1):
        total = 0.5 * total + values[-i]
        counts[-1 - i % len(counts)] += i
    return total


def stores(values, counts):
    for i in range(len(values)):
        values[i] += 0.5 * i
        values[i] *= 1.25
        counts[i % len(counts)] = values[i]
        counts[0] -= 1
        counts[-1] //= 2
    return values[0]


def slices(values, counts):
    head, tail, middle, nothing = values[:3], values[-4:], values[2:-2], values[5:2]
    beyond = values[4:1000]
    head[0] = 7.5
    middle[-1] -= 0.25
    return len(head) + 10 * len(tail) + 100 * len(middle) + 1000 * len(nothing) + 10000 * len(beyond) + tail[0]


def slices_of_slices(values, counts):
    part = values[1:][1:-1][:4]
    part[1] = 9.0
    total = 0.0
    for value in part:
        total = total * 2.0 + value
    return total


def small_numbers(flags, bytes_, shorts, ints):
    total = 0
    for i in range(len(flags)):
        if flags[i]:
            total += bytes_[i] * shorts[i]
        flags[i] = bytes_[i] > 0
        bytes_[i] = i - 2
        shorts[i] += 3
        ints[i] *= -1
        total += ints[i]
    return total


def matrices(matrix, cube):
    total = 0.0
    for i in range(matrix.shape[0]):
        row = matrix[i]
        for j in range(len(row)):
            total = total * 0.5 + row[j] * matrix[-1, j]
        matrix[i, -1] += 1.0
        row[0] = total
    for page in range(len(cube)):
        total += cube[page, 1][0] + cube[page, 0, -1] + cube[page][1:][0, 0]
    return total


def named_tuples(outer, a):
    inner = outer.inner
    fresh = Inner(inner.values[1:], 0.5)
    outer.counts[0] += a
    return inner.scaled(0) + outer.inner.scaled(-1, times=3.0) + fresh.scaled(0) + fresh.first + outer.inner.first


def buffers(a, x):
    one = np.zeros(3 + abs(a) % 5)
    two = np.empty((2, 4), np.int64)
    three = np.zeros(4, np.bool_)
    for i in range(len(one)):
        one[i] += x * i
    for i in range(2):
        for j in range(4):
            two[i, j] = i * j + a
    three[1] = x > 0
    return total_of(one) + two[1, 3] + three[0] + three[1]


def total_of(values):
    total = 0.0
    for value in values:
        total += value
    return total


def draws(rng, x):
    total = rng.random() + 0.001 * rng.normal(x, 2.0) + rng.exponential(1.0 + abs(x)) + rng.standard_normal()
    for _ in range(5):
        total += rng.beta(1.0 + abs(x), 2.0) + rng.gamma(0.5 + abs(x), 2.0) + rng.standard_exponential()
        total += rng.standard_gamma(1.5) * rng.random()
    return total


def draws_only_where_they_matter(rng, x):
    total = 0.0
    for _ in range(20):
        if 0.3 < rng.random() < rng.random() < 0.9 or (rng.random() < 0.5 and x > rng.random()):
            total += rng.random()
    return total
