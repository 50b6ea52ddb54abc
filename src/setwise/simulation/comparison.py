"""Compare the regret of policies: differences, ratios, tests with Holm's correction, and growth.

    common runs        x - y run by run: Student's paired test
    independent runs   mean(x) - mean(y): Welch's test

Common runs met the same random numbers (`simulate(common=True)`), so that their differences vary less. Others share
no randomness; pairing them by number would be valid too, but has half of the degrees of freedom.

The p-values of all pairs are adjusted together (Holm, 1979): if no two policies differ, some verdict says that they do
with a probability of at most 1 - confidence. Intervals are those of each pair alone.
"""

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.simulation.result import Result
from setwise.simulation.statistics import growth, holm, interval, paired, paired_ratio, ratio, unpaired
from setwise.types import Floats, InputError
from setwise.validation import number, suggestion, whole_number, yes_or_no


class Compared(NamedTuple):
    """One policy: mean regret with its interval, and the slope of its growth with its interval and verdict."""

    policy: str
    runs: int
    regret: float
    low: float
    high: float
    slope: float
    slope_low: float
    slope_high: float
    growth: str


class Pair(NamedTuple):
    """Two policies: difference of mean regret and ratio with their intervals, p-value, adjusted p-value, verdict."""

    policy: str
    other: str
    difference: float
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    p: float
    adjusted: float
    verdict: str


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Comparison of policies in one environment; `print` shows it as a table.

    environment: its repr
    at: the round at which regret is compared
    confidence: of the intervals; 1 - confidence is the level of the verdicts
    common: whether the runs had common random numbers, and are compared run by run
    surrogate: whether regret is by the environment's surrogate value
    baseline: the policy that all others are compared with; None if all pairs are compared
    policies, pairs: the rows
    """

    environment: str
    at: int
    confidence: float
    common: bool
    surrogate: bool
    baseline: str | None
    policies: tuple[Compared, ...]
    pairs: tuple[Pair, ...]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The pairs as plain data."""
        return [pair._asdict() for pair in self.pairs]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each pair."""
        try:
            import pandas
        except ImportError:
            raise InputError("to_frame needs pandas, which is not installed: pip install pandas") from None
        return pandas.DataFrame(self.rows, columns=list(Pair._fields))

    def __repr__(self) -> str:
        names = ", ".join(own.policy for own in self.policies)
        return f"Comparison({names} in {self.environment} at round {self.at:,}; print shows the table)"

    def __str__(self) -> str:
        head, policies, pairs = self._tables()
        level = f"{100 * (1 - self.confidence):.3g} %"
        tail = (
            f"p by {'Student' if self.common else 'Welch'}'s {'paired' if self.common else 'unpaired'} test; adjusted "
            f"for {len(pairs) - 1} by Holm's method, verdicts at {level}."
        )
        return "\n".join([head, "", *_lines(policies), "", *_lines(pairs), "", tail])

    def _tables(self) -> tuple[str, list[list[str]], list[list[str]]]:
        """Return a heading, and the rows of both tables as texts, each with a head."""
        within = f"{100 * self.confidence:.3g} % interval"
        kind = "surrogate regret" if self.surrogate else "regret"
        runs = "with common random numbers, compared run by run" if self.common else "independent"
        policies = [["policy", kind, within, "runs", "slope", within, "growth"]]
        for own in self.policies:
            slopes = f"{own.slope:.2f}", f"{own.slope_low:.2f} to {own.slope_high:.2f}", own.growth
            policies.append([own.policy, _number(own.regret), _range(own.low, own.high), f"{own.runs}", *slopes])
        pairs = [["policy", "against", "difference", within, "ratio", within, "p", "adjusted", "verdict"]]
        for pair in self.pairs:
            ratios = f"{pair.ratio:.3f}", f"{pair.ratio_low:.3f} to {pair.ratio_high:.3f}"
            chances = f"{pair.p:.2g}", f"{pair.adjusted:.2g}", pair.verdict
            bounds = _range(pair.low, pair.high)
            pairs.append([pair.policy, pair.other, _number(pair.difference), bounds, *ratios, *chances])
        return f"{kind} at round {self.at:,} in {self.environment}; runs {runs}", policies, pairs


def compare(
    results: Mapping[str, Result] | Sequence[Result],
    baseline: str | None = None,
    *,
    at: int | None = None,
    confidence: float = 0.95,
    surrogate: bool = False,
) -> Comparison:
    """Compare the regret of policies in one environment: intervals, growth, and tests of all pairs.

    results: of `simulate`, by label, or a list labelled by policy; of one environment, horizon and checkpoints; with
        common random numbers also of one seed and the same runs
    baseline: label of the policy to compare all others with; by default all pairs are compared
    at: a checkpoint; by default the horizon
    confidence: of the intervals; verdicts have the level 1 - confidence, for all pairs together
    surrogate: compare regret by the environment's surrogate value

    >>> import setwise as sw
    >>> world = sw.paper.camera()
    >>> results = [sw.simulate(policy, world, 500, 20, common=True) for policy in (sw.Uniform(), sw.Thompson())]
    >>> sw.compare(results).pairs[0].verdict
    'more regret'
    """
    named = _named(results)
    level = number("confidence", confidence)
    if not 0.0 < level < 1.0:
        raise InputError(f"confidence is {confidence!r}; it lies between 0 and 1, for example 0.95")
    surrogate = yes_or_no("surrogate", surrogate)
    _check_fit(named)
    first = next(iter(named.values()))
    if baseline is not None and baseline not in named:
        raise InputError(f"baseline is {baseline!r}; {suggestion(str(baseline), named)}")
    end = first.horizon if at is None else whole_number("at", at, 1)
    if end not in first.rounds:
        near = int(first.rounds[np.abs(first.rounds - end).argmin()])
        raise InputError(f"at is {end}, where no regret was recorded; the nearest checkpoint is {near}")
    place = int(np.flatnonzero(first.rounds == end)[0])
    curves = {label: _curves(label, result, surrogate) for label, result in named.items()}
    finals = {label: np.ascontiguousarray(curve[:, place]) for label, curve in curves.items()}
    rows = []
    for label, result in named.items():
        slope = growth(result, curves[label], end, level)
        rows.append(Compared(label, result.runs, *interval(finals[label], level), *slope, slope.verdict))
    if baseline is None:
        pairs = list(itertools.combinations(named, 2))
    else:
        pairs = [(label, baseline) for label in named if label != baseline]
    return Comparison(
        first.environment, end, level, first.common, surrogate, baseline, tuple(rows),
        tuple(_tested(finals, pairs, first.common, level)),
    )  # fmt: skip


def _tested(finals: dict[str, Floats], pairs: list[tuple[str, str]], common: bool, confidence: float) -> list[Pair]:
    """Test the pairs, with Holm's correction for all of them."""
    test, shares = (paired, paired_ratio) if common else (unpaired, ratio)
    tests = [test(finals[one], finals[other], confidence) for one, other in pairs]
    found = []
    for (one, other), result, adjusted in zip(pairs, tests, holm([result.p for result in tests]), strict=True):
        verdict = "no difference shown"
        if adjusted < 1.0 - confidence:
            verdict = "less regret" if result.difference < 0.0 else "more regret"
        rates = shares(finals[one], finals[other], confidence)
        found.append(Pair(one, other, *result[:3], *rates, result.p, adjusted, verdict))
    return found


def _named(results: Any) -> dict[str, Result]:
    """Return the results by label."""
    given = list(results.values()) if isinstance(results, Mapping) else results
    if isinstance(given, Result | str) or not isinstance(given, Sequence):
        raise InputError("results are to be a list of results of `simulate`, or a mapping from labels")
    for result in given:
        if not isinstance(result, Result):
            raise InputError(f"a result is of type {type(result).__name__}; give results of `simulate`")
    if len(given) < 2:
        raise InputError(f"there is {len(given) or 'no'} result; a comparison needs two or more")
    labels = [str(label) for label in results] if isinstance(results, Mapping) else [own.policy for own in given]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"{label} is there more than once; give a mapping from labels that differ")
    return dict(zip(labels, given, strict=True))


def _check_fit(named: dict[str, Result]) -> None:
    """Raise if the results cannot be compared."""
    (first, one), *others = named.items()
    for label, other in others:
        for what in ("environment", "horizon", "common"):
            if getattr(one, what) != getattr(other, what):
                raise InputError(
                    f"{first} was played with {what}={getattr(one, what)} and {label} with "
                    f"{what}={getattr(other, what)}; compare results of the same {what}"
                )
        if one.pulls.shape[1] != other.pulls.shape[1] or one.names != other.names:
            raise InputError(f"{first} and {label} were played with other arms; compare results of one environment")
        if not np.array_equal(one.rounds, other.rounds):
            raise InputError(f"{first} and {label} have other checkpoints; compare results of the same checkpoints")
        if one.common and (one.seed, one.first, one.runs) != (other.seed, other.first, other.runs):
            raise InputError(
                f"{first} has {_runs(one)} and {label} {_runs(other)}; with common random numbers, compare the same "
                "runs of the same seed"
            )
    for label, result in named.items():
        if result.runs < 2:
            raise InputError(f"{label} has a single run; a comparison needs two or more of each")
    for (label, one), (other_label, other) in itertools.combinations(named.items(), 2):
        if (one.policy, one.seed) == (other.policy, other.seed) and _overlap(one, other):
            raise InputError(f"{label} and {other_label} are runs of one policy and one seed; give another seed")


def _overlap(one: Result, other: Result) -> bool:
    """Whether some runs are the same; policies of other modules may be printed alike, but play otherwise."""
    first, end = max(one.first, other.first), min(one.first + one.runs, other.first + other.runs)
    if first >= end:
        return False
    own, others = (result.regret[first - result.first : end - result.first] for result in (one, other))
    return np.array_equal(own, others)


def _runs(result: Result) -> str:
    return f"the runs {result.first} to {result.first + result.runs - 1} of seed {result.seed}"


def _curves(label: str, result: Result, surrogate: bool) -> Floats:
    if not surrogate:
        return result.regret
    if result.surrogate_regret is None:
        raise InputError(f"{label} has no surrogate regret, because its environment has no method surrogate")
    return result.surrogate_regret


def _number(value: float) -> str:
    """Format a number with about four digits.

    >>> _number(12345.6), _number(3.14159), _number(-0.00123456)
    ('12,346', '3.142', '-0.001235')
    """
    if not math.isfinite(value) or value == 0.0:
        return f"{value:g}"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def _range(low: float, high: float) -> str:
    return f"{_number(low)} to {_number(high)}"


def _lines(rows: list[list[str]]) -> list[str]:
    """Align the columns of a table: the first to the left, numbers to the right, the last to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if place in (0, len(row) - 1) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
