"""Compensated summation."""


def add_up(total: float, lost: float, more: float) -> tuple[float, float]:
    """Add a number to the total; return the new total and its accumulated rounding error (Kahan summation).

    For up to 10^15 terms, the error is at most two roundings of the sum of their absolute values.

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
