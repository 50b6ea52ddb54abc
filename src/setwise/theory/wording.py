"""Arms, sets and answers in words."""

from collections.abc import Iterable
from typing import Any


def arm_name(environment: Any, arm: int) -> str:
    """The name of an arm, or its number."""
    names = getattr(environment, "names", None)
    return str(arm) if names is None else str(names[arm])


def set_name(environment: Any, arms: Iterable[int]) -> str:
    """A set in braces; of a large one the first arms.

    >>> set_name(None, [0, 2]), set_name(None, range(20))
    ('{0, 2}', '{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... 20 arms}')
    """
    names = [arm_name(environment, arm) for arm in arms]
    shown = names if len(names) <= 12 else [*names[:10], f"... {len(names)} arms"]
    return "{" + ", ".join(shown) + "}"


def yes_no(holds: bool | None) -> str:
    """An answer in a word or two."""
    return {True: "yes", False: "no", None: "not decided"}[holds]


def amount(value: float | None) -> str:
    """A number with six digits and commas, or a dash."""
    return "-" if value is None else f"{value:,.6g}"


def figure(value: float) -> str:
    """A number with six digits."""
    return f"{float(value):.6g}"
