"""Format arms, sets and answers as text."""

from collections.abc import Iterable
from typing import Any


def arm_name(environment: Any, arm: int) -> str:
    """Return the name of an arm, or its number if it has none."""
    names = getattr(environment, "names", None)
    return str(arm) if names is None else str(names[arm])


def set_name(environment: Any, arms: Iterable[int]) -> str:
    """Return a set in braces; a large set is cut after its first arms.

    >>> set_name(None, [0, 2]), set_name(None, range(20))
    ('{0, 2}', '{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... 20 arms}')
    """
    names = [arm_name(environment, arm) for arm in arms]
    shown = names if len(names) <= 12 else [*names[:10], f"... {len(names)} arms"]
    return "{" + ", ".join(shown) + "}"


def yes_no(holds: bool | None) -> str:
    """Return "yes", "no" or "not decided"."""
    return {True: "yes", False: "no", None: "not decided"}[holds]


def amount(value: float | None) -> str:
    """Format a number with six digits and commas; None is a dash."""
    return "-" if value is None else f"{value:,.6g}"


def format_number(value: float) -> str:
    """Format a number with six digits."""
    return f"{float(value):.6g}"
