"""Parser for PrefLib's strict complete orders (.soc), in the current and the older format.

Mattei, Walsh 2013, "PrefLib: a library for preferences".
"""

from typing import Any

from setwise.types import InputError
from setwise.validation import shown

VotedOrder = tuple[int, tuple[int, ...]]  # the number of voters, and the alternatives from best to worst


def parse_soc(text: Any) -> tuple[dict[int, str], list[VotedOrder]]:
    """Return the names of the alternatives, if any, and the orders."""
    if not isinstance(text, str):
        raise InputError(f"Rankings: text is {shown(text)}; give the text of a .soc file")
    if text.strip().lower().endswith(".soc") and "\n" not in text.strip():
        raise InputError(f"Rankings: text is {shown(text)}, the name of a file; Rankings.read_soc reads files")
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = [(number, line.strip()) for number, line in enumerate(plain.split("\n"), 1) if line.strip()]
    if not lines:
        raise InputError("Rankings: the text is empty; give the text of a .soc file")
    return _parse_current(lines) if lines[0][1].startswith("#") else _parse_older(lines)


def _parse_current(lines: list[tuple[int, str]]) -> tuple[dict[int, str], list[VotedOrder]]:
    """Parse lines `# NUMBER ALTERNATIVES: 4`, `# ALTERNATIVE NAME 1: Tea`, ..., then orders `5: 1,3,2,4`."""
    stated: dict[str, tuple[int, int]] = {}
    named: list[tuple[int, str, str]] = []
    data: list[tuple[int, str, str]] = []
    for number, line in lines:
        if line.startswith("#"):
            key, _, value = line[1:].partition(":")
            key, value = " ".join(key.upper().split()), value.strip()
            if key in ("NUMBER ALTERNATIVES", "NUMBER VOTERS", "NUMBER UNIQUE ORDERS"):
                stated[key] = number, _count(number, value)
            elif key.startswith("ALTERNATIVE NAME"):
                named.append((number, key.removeprefix("ALTERNATIVE NAME").strip(), value))
            elif key == "DATA TYPE" and value.lower() != "soc":
                raise InputError(
                    f"Rankings: line {number} says that the data type is {value!r}; only soc, strict complete orders, "
                    "can be read"
                )
        else:
            count, colon, order = line.partition(":")
            if not colon:
                raise InputError(
                    f"Rankings: line {number} is {shown(line)}; an order is a count, a colon and alternatives, "
                    "such as 5: 1,3,2,4"
                )
            data.append((number, count, order))
    if "NUMBER ALTERNATIVES" not in stated:
        raise InputError("Rankings: there is no line such as '# NUMBER ALTERNATIVES: 4'; give the text of a .soc file")
    n = stated["NUMBER ALTERNATIVES"][1]
    names = _names(named, n)
    if named and len(names) < n:
        missing = next(alternative for alternative in range(1, n + 1) if alternative not in names)
        raise InputError(
            f"Rankings: line {named[-1][0]} is the last with a name, and alternative {missing} has none; "
            "name all of them or none"
        )
    return names, _orders(data, n, stated.get("NUMBER VOTERS"), stated.get("NUMBER UNIQUE ORDERS"))


def _parse_older(lines: list[tuple[int, str]]) -> tuple[dict[int, str], list[VotedOrder]]:
    """Parse a line with the number of alternatives, lines `1,Tea`, `voters,sum,orders`, then orders `5,1,3,2,4`."""
    number, line = lines[0]
    if not _is_count(line):
        raise InputError(
            f"Rankings: line {number} is {shown(line)}, and no .soc file begins so; it begins with lines such as "
            "'# NUMBER ALTERNATIVES: 4', or with the number of alternatives"
        )
    n = _count(number, line)
    if len(lines) < n + 2:
        raise InputError(
            f"Rankings: line {lines[-1][0]} is the last; {n} alternatives take {n} lines with their names, and a line "
            "with the numbers of voters and orders"
        )
    named = []
    for number, line in lines[1 : n + 1]:
        alternative, comma, name = line.partition(",")
        if not comma:
            raise InputError(f"Rankings: line {number} is {shown(line)}; the name of an alternative is given as 1,Tea")
        named.append((number, alternative.strip(), name.strip()))
    names = _names(named, n)
    number, line = lines[n + 1]
    totals = [part.strip() for part in line.split(",")]
    if len(totals) != 3:
        raise InputError(
            f"Rankings: line {number} is {shown(line)}; after the names come the number of voters, the sum of the "
            "counts and the number of orders, such as 10,10,3"
        )
    _, voters, kinds = [(number, _count(number, total)) for total in totals]
    data = []
    for number, line in lines[n + 2 :]:
        count, _, order = line.partition(",")
        data.append((number, count, order))
    return names, _orders(data, n, voters, kinds)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 15 and int(text) > 0


def _count(number: int, text: str) -> int:
    if not _is_count(text):
        raise InputError(f"Rankings: line {number} has {shown(text)} for a count; it has to be a whole number from 1")
    return int(text)


def _names(named: list[tuple[int, str, str]], n: int) -> dict[int, str]:
    """Return a dictionary from alternatives to names."""
    names: dict[int, str] = {}
    for number, text, name in named:
        alternative = _alternative(number, text, n)
        if alternative in names or name in names.values():
            again = f"the name {name!r}" if name in names.values() else f"a name for alternative {alternative}"
            raise InputError(f"Rankings: line {number} has {again} again; each alternative has a name of its own")
        if not name:
            raise InputError(f"Rankings: line {number} has no name for alternative {alternative}")
        names[alternative] = name
    return names


def _alternative(number: int, text: str, n: int) -> int:
    if not _is_count(text) or int(text) > n:
        raise InputError(f"Rankings: line {number} has the alternative {shown(text)}; there are {n}, numbered from 1")
    return int(text)


def _orders(
    data: list[tuple[int, str, str]], n: int, voters: tuple[int, int] | None, kinds: tuple[int, int] | None
) -> list[VotedOrder]:
    """Return the orders with their counts; `voters` and `kinds` are (line, number) as stated in the file."""
    if not data:
        raise InputError("Rankings: the file has no orders; it needs at least one")
    orders = []
    for number, count, text in data:
        if "{" in text or "}" in text:
            raise InputError(
                f"Rankings: line {number} has a tie, {shown(text.strip())}; only strict orders can be read"
            )
        order = tuple(_alternative(number, part.strip(), n) for part in text.split(","))
        for alternative in range(1, n + 1):
            if order.count(alternative) != 1:
                times = "more than once" if alternative in order else "nowhere"
                raise InputError(
                    f"Rankings: line {number} has alternative {alternative} {times}; an order has each of the {n} once"
                )
        orders.append((_count(number, count.strip()), order))
    total = sum(count for count, _ in orders)
    if voters is not None and voters[1] != total:
        raise InputError(f"Rankings: line {voters[0]} says that there are {voters[1]} voters; the orders have {total}")
    if kinds is not None and kinds[1] != len(orders):
        raise InputError(f"Rankings: line {kinds[0]} says that there are {kinds[1]} orders; the file has {len(orders)}")
    return orders
