"""Report of an experiment: regret curves and final regret in every environment."""

import itertools
import re
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.engines import Progress
from setwise.experiments.provenance import facts
from setwise.policies import NAMES
from setwise.report.parts import Chart, Grid, Page, Section, Series, Text, TextTable
from setwise.report.writing import check_folder, write_report
from setwise.simulation.certificate import refutations
from setwise.simulation.result import Result
from setwise.simulation.statistics import Interval, band, growth, interval

if TYPE_CHECKING:
    from setwise.experiments.experiment import Finished, Planned

BAND = "95 % confidence interval of the mean"
LETTERS = 80  # maximum length of a name
BYTES = 200  # the same in bytes, which file systems limit
# Names of the sections and parts, except the charts, which are named after their environments.
TAKEN = ("regret", "regret-panels", "horizons", "horizon-panels", "table", "final-regret", "left-out")


def report_experiment(
    finished: "Finished", out: str, jobs: int | None = 1, progress: Progress | None = None, started: float | None = None
) -> str:
    """Write the page with its figures and data; return the path of the page."""
    check_folder(out)
    experiment = finished.experiment
    lengths: Any = experiment.horizon
    sections = [_regret(finished)]
    if len(lengths) > 1:
        sections.append(_horizons(finished))
    sections.append(_table(finished))
    lead = [
        f"{experiment.runs} runs of each policy in each environment, seed {experiment.seed}"
        f"{', with common random numbers' * experiment.common}. Regret is counted from the true means; bands and "
        "intervals are 95 % confidence intervals of the mean."
    ]
    if experiment.certificate is not None:
        lead.append(
            f"In every run, weak optimal set consistency was tested at confidence {experiment.certificate:g}: in a "
            "world that satisfies it, a run refutes it with a probability of at most "
            f"{1.0 - experiment.certificate:.3g}. Silence does not prove it."
        )
    about = facts(experiment.seed, time.time() if started is None else started, finished.outcome)
    page = Page(
        experiment.title or "Experiment", lead, sections, [*about, *(("note", note) for note in finished.notes)]
    )
    return write_report(page, out, jobs, progress)


def file_name(label: str) -> str:
    """Turn a label into part of a file name.

    >>> file_name("random-weak:seed=3"), file_name("Größe 2 / b")
    ('random-weak-seed-3', 'Größe-2-b')
    """
    return re.sub(r"[^\w.]+", "-", label).strip("-.") or "x"


def _own(finished: "Finished", environment: str, horizon: int) -> "dict[str, Result]":
    """Return the results in one environment at one horizon, by policy."""
    return {
        entry.policy: finished.outcome.take(entry.play, finished.experiment.runs)
        for entry in finished.experiment.entries
        if (entry.environment, entry.horizon) == (environment, horizon)
    }


def _names(finished: "Finished") -> dict[str, str]:
    """Return a unique file name for each environment."""
    return distinct_names(finished.experiment.environments)


def distinct_names(labels: Iterable[str]) -> dict[str, str]:
    """Return a short name for each label, unique among the report's parts after "regret-" or "horizon-".

    Names are compared without case, because many file systems ignore it.

    >>> distinct_names(["camera", "Camera", "panels"])
    {'camera': 'camera', 'Camera': 'Camera-2', 'panels': 'panels-2'}
    """
    names: dict[str, str] = {}
    taken = set(TAKEN)
    for label in labels:
        for count in itertools.count(1):
            end = f"-{count}" if count > 1 else ""
            longest = LETTERS - len("horizon-") - len(end)
            name = file_name(label).encode()[:BYTES].decode(errors="ignore")[:longest] + end
            parts = {f"{what}-{name}".casefold() for what in ("regret", "horizon")}
            if not parts & taken:
                break
        taken |= parts
        names[label] = name
    return names


def _styles(finished: "Finished") -> dict[str, str]:
    """Return the style key of each policy: its command-line name with changed parameters, else its label."""
    names = {name: label for label, name in NAMES.items()}
    styles: dict[str, str] = {}
    for entry in finished.experiment.entries:
        if entry.policy in styles:  # in another environment, or with another horizon
            continue
        policy = entry.play.policy
        own = type(policy).__module__.startswith("setwise.policies.")
        changed = [
            f"{field}={value}"
            for field, value in zip(policy._fields, policy)
            if field in policy._field_defaults and repr(value) != repr(policy._field_defaults[field])
        ]
        known = ":".join(filter(None, (names.get(type(policy).__name__, ""), ",".join(changed)))) if own else ""
        styles[entry.policy] = known if known and known not in styles.values() else entry.policy
    return styles


def _regret(finished: "Finished") -> Section:
    """Plot regret against rounds, at the longest horizon."""
    lengths: Any = finished.experiment.horizon
    styles = _styles(finished)
    charts = []
    for label, name in _names(finished).items():
        series = []
        for policy, result in _own(finished, label, lengths[-1]).items():
            mean, low, high = band(result)
            known = result.runs > 1
            x = result.rounds.astype(float)
            ends: dict[str, Any] = {"low": low, "high": high} if known else {}
            series.append(Series(policy, x, mean, style=styles[policy], **ends))
        if series:
            world = finished.experiment.environments[label]
            charts.append(
                Chart(
                    f"regret-{name}", f"{label}: n = {world.n}, k = {world.k}", "round", "cumulative regret", series,
                    band=BAND if finished.experiment.runs > 1 else "",
                    x_log=finished.experiment.spacing == "log",
                )
            )  # fmt: skip
    caption = f"Cumulative regret over {lengths[-1]:,} rounds."
    return Section("regret", "Regret", [Grid("regret-panels", "Regret against rounds", charts, caption)])


def _horizons(finished: "Finished") -> Section:
    """Plot final regret against the horizon given to the policy."""
    styles = _styles(finished)
    charts = []
    lengths: Any = finished.experiment.horizon
    for label, name in _names(finished).items():
        finals: dict[str, list[Interval]] = {}
        for length in lengths:
            for policy, result in _own(finished, label, length).items():
                finals.setdefault(policy, []).append(interval(result.regret[:, -1]))
        series = []
        for policy, rows in finals.items():
            mean, low, high = np.array(rows).T
            x = np.array(lengths, dtype=float)
            ends: dict[str, Any] = {"low": low, "high": high} if finished.experiment.runs > 1 else {}
            series.append(Series(policy, x, mean, style=styles[policy], kind="points", **ends))
        if series:
            known = BAND if finished.experiment.runs > 1 else ""
            charts.append(Chart(f"horizon-{name}", label, "horizon", "final regret", series, known, y_log=True))
    caption = "Each point is a set of runs of its own."
    grid = Grid("horizon-panels", "Final regret against the horizon", charts, caption)
    return Section("horizons", "Horizons", [grid])


def _table(finished: "Finished") -> Section:
    """Tabulate final regret with its confidence interval and growth."""
    rows = [_row(entry, finished) for entry in finished.experiment.entries]
    head = ["environment", "policy", "rounds", "runs", "final regret", "95 %", "growth", "so regret is"]
    if finished.experiment.certificate is not None:
        head.append("assumption refuted")
    caption = (
        "Growth is the slope of log regret over log round in the last decade of rounds, with its 95 % interval: 1 is "
        "linear regret, and regret of the order of log T has a slope near 0."
    )
    parts: list[Any] = [TextTable("final-regret", caption, head, rows)]
    if finished.experiment.left_out:
        reasons = [[left.environment, left.policy, left.reason] for left in finished.experiment.left_out]
        parts += [
            Text("Some policies cannot play in some environments."),
            TextTable("left-out", "What was left out", ["environment", "policy", "why"], reasons),
        ]
    return Section("table", "Final regret", parts)


def _row(entry: "Planned", finished: "Finished") -> list[str]:
    result = finished.outcome.take(entry.play, finished.experiment.runs)
    mean, low, high = interval(result.regret[:, -1])
    grown = growth(result) if result.runs > 1 and (result.rounds >= result.horizon / 10).sum() > 1 else None
    return [
        entry.environment,
        entry.policy,
        f"{entry.horizon:,}",
        f"{result.runs}",
        f"{mean:z,.1f}",
        f"{low:z,.1f} to {high:z,.1f}" if result.runs > 1 else "-",
        f"{grown.slope:z.2f} ({grown.low:z.2f} to {grown.high:z.2f})" if grown else "-",
        grown.verdict if grown else "-",
        *([refutations(result)] if result.certificate is not None else []),
    ]
