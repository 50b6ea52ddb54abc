"""Tables of measurements, and the file that stores them."""

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from setwise import Experiment
from setwise.experiments.experiment import Finished
from setwise.simulation.statistics import interval, ratio
from setwise.types import Floats

STORED = Path(__file__).with_name("results.json")

Run = Callable[[Experiment], Finished]


class Summary(NamedTuple):
    """A table of measurements.

    caption: what it shows
    columns: their names
    rows: of cells. A cell is a text, a number, [value, half] or [value, low, high], with 95 % confidence intervals
    """

    caption: str
    columns: list[str]
    rows: list[list[Any]]


def regrets(done: Finished, environment: str, policy: str) -> Floats:
    """Return the final regret of every run."""
    return np.asarray(done[environment, policy].regret[:, -1])


def mean(sample: Floats) -> list[float]:
    """Return the mean and half of its interval, by Student's t."""
    value, _, high = interval(sample)
    return [value, high - value]


def growth(before: Floats, after: Floats, decades: float) -> list[float]:
    """Return the slope of log regret over log T between two horizons, and half of its interval; 1 is linear regret."""
    found, low, high = (math.log10(end) / decades for end in ratio(after, before))
    return [found, (high - low) / 2.0]


def scientific(rounds: int) -> str:
    """Write a number of rounds in short.

    >>> scientific(10**6), scientific(200_000)
    ('1e6', '2e5')
    """
    return f"{rounds:.0e}".replace("+0", "")


def shown(cell: Any) -> str:
    """Write a cell with three digits or more.

    >>> shown(1234.5), shown([12.34, 0.56]), shown([6.084, 5.8, 6.366]), shown("-"), shown(4000)
    ('1,234', '12.3 ± 0.6', '6.08 (5.80 to 6.37)', '-', '4,000')
    """
    if isinstance(cell, str | int):
        return cell if isinstance(cell, str) else f"{cell:,}"
    values = cell if isinstance(cell, list) else [cell]
    digits = 0 if abs(values[0]) >= 100.0 else 1 if abs(values[0]) >= 10.0 else 2
    first, *others = [f"{value:z,.{digits}f}" for value in values]
    return first + (f" ± {others[0]}" if len(others) == 1 else f" ({' to '.join(others)})" if others else "")


def markdown(summaries: Iterable[Summary]) -> str:
    """Write tables in Markdown, each with its caption if there are several."""
    parts = []
    for caption, columns, rows in (several := list(summaries)):
        lines = [columns, ["---"] * len(columns), *([shown(cell) for cell in row] for row in rows)]
        above = f"*{caption}*\n\n" if len(several) > 1 else ""
        parts.append(above + "".join(f"| {' | '.join(line)} |\n" for line in lines))
    return "\n".join(parts)


def read(name: str, path: Path = STORED) -> list[Summary]:
    """Return the stored tables of a question."""
    return [Summary(**table) for table in json.loads(path.read_text(encoding="utf-8"))[name]]


def write(name: str, summaries: Iterable[Summary], path: Path = STORED) -> None:
    """Store the tables of a question beside those of the others, each number with five digits."""
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    stored[name] = [_rounded(summary._asdict()) for summary in summaries]
    text = json.dumps(dict(sorted(stored.items())), ensure_ascii=False)
    path.write_text(text.replace('], ["', '],\n["') + "\n", encoding="utf-8")  # a line for each row


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value
