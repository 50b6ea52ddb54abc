"""Table 1: the published facts of each policy, from its class, and measurements in the paper's worlds."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from setwise.experiments.outcome import Order, Outcome
from setwise.experiments.specs import make_policy
from setwise.paper.exhibits import regret_panels
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.policies import NAMES, POLICIES
from setwise.report.parts import Details, Section, Text, TextTable
from setwise.simulation.checks import check_pair
from setwise.simulation.result import Result
from setwise.simulation.statistics import Growth, Interval, growth, interval
from setwise.types import InputError

# The rows of the paper's table in its order; ESCB stands in both forms, and Choice Bandits is `winner-beats-all`.
PAPER = ("cucb", "comb-ucb1", "escb1", "escb2", "mnl-thompson", "mnl-ucb", "max-min-ucb", "rec-max-min-ucb",
         "winner-beats-all", "ucb")  # fmt: skip
OTHERS = tuple(name for name in NAMES if name not in PAPER)
# Measured by default: each further policy takes 5 to 15 s to compile, and one form of ESCB is enough.
MEASURED = (*(name for name in PAPER if name != "escb1"), "uniform")
HORIZON, RUNS = 10**5, 10  # for policies outside the panels
EVEN = 1e-6  # relative difference of losses by rounding alone
SHORTER = {"escb1": 10**4, "escb2": 10**4, "self-sparring": 10**4}  # horizons of policies with microseconds a round


class PolicyResult(NamedTuple):
    """Measurements of a policy in a world.

    rounds, runs: its horizon and number of runs
    regret: after the last round
    growth: over the last decade of rounds
    stuck: number of runs with a constant loss of epsilon or more per round throughout the last tenth
    """

    policy: str
    world: str
    rounds: int
    runs: int
    regret: Interval
    growth: Growth
    stuck: int


def labels_of(scale: Scale) -> tuple[str, ...]:
    """Return the rows: those of the paper, the other policies, and the variants in the panels."""
    versions = [label for label in regret_panels.labels_of(scale) if label not in NAMES]
    return (*PAPER, *OTHERS, *versions)


def order_of(label: str, world: str, scale: Scale) -> Order | None:
    """Return the runs a row needs in a world: the panels', else a shorter play of its own; None if it is not played."""
    if refusal(label, world):
        return None
    if label in regret_panels.labels_of(scale):
        play, runs = regret_panels.play_of(label, world, scale), regret_panels.runs_of(scale)
    elif label not in scale.of((), MEASURED, NAMES):
        return None
    else:
        length = SHORTER.get(label, HORIZON)
        length = length if scale.horizon is None else min(length, scale.horizon)
        play, runs = regret_panels.play_of(label, world, scale, length), scale.runs_of(RUNS, RUNS, RUNS)
    return None if play is None else Order(play, runs)


@functools.cache
def refusal(label: str, world: str) -> str:
    """Return why a policy cannot play in a world; "" if it can."""
    environment = regret_panels.world_of(world)
    try:
        check_pair(make_policy(label, environment), environment)
    except InputError as error:
        return str(error)
    return ""


def orders(scale: Scale) -> list[Order]:
    """Return the runs of every row in every world."""
    wanted = [order_of(label, world, scale) for label in labels_of(scale) for world in regret_panels.WORLDS]
    return [order for order in wanted if order is not None]


def measured(scale: Scale, outcome: Outcome) -> dict[tuple[str, str], PolicyResult]:
    """Measure all plays, by policy and world."""
    found = {}
    for label in labels_of(scale):
        for world in regret_panels.WORLDS:
            order = order_of(label, world, scale)
            if order is not None and order.play in outcome:
                result = outcome.take(order.play, order.runs)
                final = interval(result.regret[:, -1])
                found[label, world] = PolicyResult(
                    label,
                    world,
                    result.horizon,
                    result.runs,
                    final,
                    growth(result),
                    stuck_runs(result, least_gap(world)),
                )
    return found


def stuck_runs(result: Result, epsilon: float) -> int:
    """Count the runs with a constant loss of epsilon or more per round throughout the last tenth of the rounds.

    A run that is stuck with a wrong set loses so. A run that explores rarely loses less; one that always explores loses
    unevenly between checkpoints.
    """
    losses = regret_panels.late_losses(result)
    least, most = losses.min(axis=1), losses.max(axis=1)
    return int(((least >= (1.0 - EVEN) * epsilon) & (most - least <= EVEN * most)).sum())


@functools.cache
def least_gap(world: str) -> float:
    return float(regret_panels.world_of(world).gaps()[0])


def section(scale: Scale, outcome: Outcome) -> Section:
    """Return the table as published, then the measurements."""
    found = measured(scale, outcome)
    parts: list[Any] = [
        published("table-1-published", PAPER, f"Table 1 of the paper, from the policies' own attributes. {COLUMNS}"),
        Details(
            "The other policies",
            [published("table-1-others", OTHERS, "The library's other policies, in the same columns.")],
        ),
        Text(what_one_sees(found)),
        regret_table(scale, found),
        growth_table(scale, found),
    ]
    if notes := not_played(scale, found):
        parts.append(Text(" ".join(notes)))
    parts.append(Details("All numbers", [numbers(found)]))
    return Section("table-1", EXHIBIT.title, parts)


def published(name: str, labels: Sequence[str], caption: str) -> TextTable:
    """Tabulate the published facts, from the attributes of the classes."""
    rows = []
    for label in labels:
        cls = POLICIES[label]
        rows.append(
            [
                label,
                cls.title,
                cls.regret_bound or "none known",
                "yes" if cls.fixed_size else "no",
                cls.set_dependent or "no",
                "no" if cls.total_order else "yes",
                cls.reference,
            ]
        )
    head = ["policy", "algorithm", "regret", "fixed k", "set-dep. reward", "no total order", "reference"]
    return TextTable(name, caption, head, rows)


def regret_table(scale: Scale, found: dict[tuple[str, str], PolicyResult]) -> TextTable:
    """Tabulate the final regret in each world."""
    caption = (
        "Measured: regret after the last round, mean and 95 % confidence interval over the runs. Policies are told the "
        "horizon, so rows of different length are not to be compared; a dash is a pair that was not played."
    )
    return _by_world("table-1-regret", caption, scale, found, lambda own: amount(own.regret))


def growth_table(scale: Scale, found: dict[tuple[str, str], PolicyResult]) -> TextTable:
    """Tabulate the growth of regret over the last decade."""
    caption = (
        "Measured: how regret grows over the last decade of rounds, the slope of log regret over log round with its "
        "95 % confidence interval (jackknife over the runs). 1 is linear. Linear: the interval is above 0.9; slower: "
        "it is below; unclear: 0.9 is inside. What is linear here may still be the start of something slower. Stuck: "
        "so many runs lose the same in all parts of the last tenth of the rounds, and epsilon a round or more, as one "
        "does that stays with a wrong set, even where the mean of all runs grows slower."
    )
    return _by_world("table-1-growth", caption, scale, found, _slope)


def _by_world(
    name: str, caption: str, scale: Scale, found: dict[tuple[str, str], PolicyResult], cell: Any
) -> TextTable:
    rows = []
    for label in labels_of(scale):
        own = {world: found[label, world] for world in regret_panels.WORLDS if (label, world) in found}
        if not own and label not in PAPER:
            continue
        length = {f"{regret_panels.power(one.rounds)}" for one in own.values()} or {"-"}
        row = [cell(own[world]) if world in own else "-" for world in regret_panels.WORLDS]
        runs = {str(one.runs) for one in own.values()} or {"-"}
        rows.append([label, " or ".join(sorted(length)), " or ".join(sorted(runs)), *row])
    return TextTable(name, caption, ["policy", "rounds", "runs", *regret_panels.WORLDS], rows)


def amount(value: Interval) -> str:
    """Format a mean with half the width of its interval, to the digits that are certain.

    >>> amount(Interval(1234.5, 1200.0, 1269.0)), amount(Interval(19.412, 19.31, 19.514)), amount(Interval(0, 0, 0))
    ('1,234 ± 34', '19.41 ± 0.10', '0')
    """
    half = (value.high - value.low) / 2
    if value.value == half == 0.0:
        return "0"
    digits = 0 if not half < 10.0 else 1 if half >= 1.0 else 2
    return f"{value.value:,.{digits}f} ± {half:,.{digits}f}"


def _slope(own: PolicyResult) -> str:
    if own.regret.value == 0.0:
        return "no regret"
    half = (own.growth.high - own.growth.low) / 2
    digits = 3 if half < 0.005 else 2
    stuck = f"; {own.stuck} of {own.runs} stuck" if own.stuck else ""
    return f"{own.growth.slope:.{digits}f} ± {half:.{digits}f} {own.growth.verdict}{stuck}"


def numbers(found: dict[tuple[str, str], PolicyResult]) -> TextTable:
    """Tabulate all numbers, for programs to read."""
    rows = [
        [
            own.policy,
            own.world,
            str(own.rounds),
            str(own.runs),
            *(f"{value:.6g}" for value in (*own.regret, *own.growth)),
            own.growth.verdict,
            str(own.stuck),
        ]
        for own in found.values()
    ]
    head = ["policy", "world", "rounds", "runs", "regret", "from", "to", "slope", "from", "to", "growth"]
    head.append("runs that are stuck")
    return TextTable("table-1-numbers", "Every row and world, with both ends of the 95 % intervals.", head, rows)


def what_one_sees(found: dict[tuple[str, str], PolicyResult]) -> str:
    """Describe which policies have the least regret, and which still have linear regret."""
    best = []
    for world in regret_panels.WORLDS:
        own = [one for one in found.values() if one.world == world and one.policy != "oracle"]
        longest = max((one.rounds for one in own), default=0)
        own = [one for one in own if one.rounds == longest]
        if own:
            least = min(own, key=lambda one: one.regret.value)
            best.append(f"{least.policy} in {world} ({amount(least.regret)})")
    linear: dict[str, list[str]] = {}
    for one in found.values():
        if one.growth.linear:
            linear.setdefault(one.policy, []).append(one.world)
    grows = "; ".join(f"{policy} in {', '.join(worlds)}" for policy, worlds in linear.items()) or "none"
    some = [one for one in found.values() if one.stuck and not one.growth.linear]
    stuck = "; ".join(f"{one.policy} in {one.world} ({one.stuck} of {one.runs})" for one in some) or "none"
    return (
        f"Of the policies that played longest, the least regret have {', '.join(best) or 'none'}. Regret still grows "
        f"linearly over the last decade of rounds: {grows}. Where the mean does not, there may be runs that are stuck "
        f"with a wrong set: {stuck}."
    )


def not_played(scale: Scale, found: dict[tuple[str, str], PolicyResult]) -> list[str]:
    """Explain which pairs are not played, one sentence per reason."""
    sentences, later = [], []
    for label in labels_of(scale):
        refused = [world for world in regret_panels.WORLDS if refusal(label, world)]
        if refused:
            sentences.append(f"{label} is not played in {', '.join(refused)}: {refusal(label, refused[0])}.")
        if any((label, world) not in found and world not in refused for world in regret_panels.WORLDS):
            later.append(label)
    if later:
        sentences.append(f"Played only in a larger version of this report: {', '.join(later)}.")
    return sentences


COLUMNS = (
    "Regret is the published bound, in that publication's setting. Fixed k: sets have exactly k arms of their own "
    "accord. Set-dep. reward: rewards may depend on the set. No total order: no order of the arms is assumed."
)

EXHIBIT = Exhibit("table-1", "Table 1: algorithms, their bounds, and what is measured", orders, section)
