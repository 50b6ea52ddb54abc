"""Sums that do not drift, however many numbers are added."""


def add_up(total: float, lost: float, more: float) -> tuple[float, float]:
    """The total with one more number, and what rounding has put into it too much so far (Kahan's method).

    The sum of up to 10^15 terms is off by two roundings of the sum of their sizes, and no more.

    >>> plain, total, lost = 0.0, 0.0, 0.0
    >>> for _ in range(10):
    ...     plain += 0.1
    ...     total, lost = add_up(total, lost, 0.1)
    >>> plain == 1.0, total == 1.0
    (False, True)
    """
    more -= lost
    whole = total + more
    return whole, (whole - total) - more
