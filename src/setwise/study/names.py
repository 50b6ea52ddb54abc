"""Validate names of studies, arms and decisions, and durations."""

import datetime
import math
import re
from collections.abc import Iterable
from typing import Any

from setwise.types import InputError
from setwise.validation import shown

MAX_LENGTH = 500  # characters in a name
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def check_name(what: str, name: Any) -> str:
    """Return the name; raise InputError if it is not a string that every storage can hold and people can read."""
    if not isinstance(name, str):
        raise InputError(f"{what} is {shown(name)}; a name is a string")
    if not name.strip():
        raise InputError(f"{what} is {name!r}, which is empty; give it a name")
    if len(name) > MAX_LENGTH:
        raise InputError(f"{what} has {len(name):,} characters ({name[:30]!r}...); at most {MAX_LENGTH} will do")
    if "\0" in name:
        raise InputError(f"{what} is {shown(name)}, which has a NUL character in it; leave it out")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} is {shown(name)}, which is not valid Unicode") from None
    return name


def check_arms(arms: Any) -> tuple[str, ...]:
    """Return the names of arms; raise InputError unless they are valid and distinct."""
    if isinstance(arms, str) or not isinstance(arms, Iterable):
        raise InputError(f"arms is {shown(arms)}; give a list with a name for each arm")
    names = tuple(check_name(f"the name of arm {number}", name) for number, name in enumerate(arms))
    if not names:
        raise InputError("arms is empty; give a list with a name for each arm")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"arms has {shown(twice)} more than once; every arm has a name of its own")
    return names


def check_available(available: Any) -> list[str]:
    """Return the names of available arms as a list; raise InputError if they are none."""
    if isinstance(available, str):
        raise InputError(f"available is {shown(available)}; give a list with names of arms")
    try:
        return list(available)
    except TypeError:
        raise InputError(f"available is {shown(available)}; give a list with names of arms") from None


def check_window(window: Any) -> int | None:
    """Return a duration in microseconds, from "45s", "30m", "2h", "7d", a number of seconds, or a timedelta.

    >>> check_window("30m"), check_window(1.5), check_window(None)
    (1800000000, 1500000, None)
    """
    if window is None:
        return None
    seconds = math.nan
    if isinstance(window, datetime.timedelta):
        seconds = window.total_seconds()
    elif isinstance(window, int | float) and not isinstance(window, bool):
        seconds = float(window)
    elif isinstance(window, str) and (found := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd])\s*", window)):
        seconds = float(found[1]) * UNITS[found[2]]
    if not 1e-3 <= seconds <= 1e10:
        raise InputError(f'window is {shown(window)}; give a duration such as "45s", "30m", "2h" or "7d"')
    return round(seconds * 1e6)


def window_text(window: int | None) -> str | None:
    """Format a duration in the largest unit that divides it.

    >>> window_text(1_800_000_000), window_text(1_500_000)
    ('30m', '1.5s')
    """
    if window is None:
        return None
    for unit in ("d", "h", "m"):
        if window % (UNITS[unit] * 1_000_000) == 0:
            return f"{window // (UNITS[unit] * 1_000_000)}{unit}"
    return f"{window / 1e6:g}s"
