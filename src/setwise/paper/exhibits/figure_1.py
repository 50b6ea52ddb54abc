"""Figure 1 of the paper: the upper confidence bounds of the camera example over time, with rho(t)."""

import functools
from typing import Any

import numpy as np

from setwise.experiments.outcome import Order, Outcome
from setwise.experiments.plays import Play
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.paper.exhibits.figure_2 import DIGITAL, places_of
from setwise.paper.instances import CAMERAS, camera
from setwise.policies import POLICIES
from setwise.report.parts import Chart, Grid, Section, Series, Text, TextTable
from setwise.simulation.result import Result
from setwise.types import Floats, Ints

SHOWN = {"ucb": "Algorithm 1", "kl-ucb": "KL-UCB"}
POINTS = 300
ASIDE = 0.05  # relative to rho(t): an index this far above it stands out in the picture


@functools.cache
def plays(scale: Scale) -> dict[str, Play]:
    """Return one play of each policy, with recorded indices."""
    horizon = scale.horizon_of(10**4, 10**5, 10**6)
    rounds = np.unique(np.geomspace(min(100, horizon), horizon, POINTS).astype(np.int64))
    return {
        name: Play.of(POLICIES[name](), camera(), horizon, scale.seed, rounds.tolist(), record=True) for name in SHOWN
    }


def orders(scale: Scale) -> list[Order]:
    """Order a single run of each: the picture shows one run."""
    return [Order(play, 1) for play in plays(scale).values()]


def section(scale: Scale, outcome: Outcome) -> Section:
    """Return the two pictures, their description, and the final state of the arms."""
    results = {name: outcome.take(play, 1) for name, play in plays(scale).items()}
    horizon = results["ucb"].horizon
    grid = Grid(
        name="figure-1-indices",
        title="Upper confidence bounds of the six arms, and rho(t)",
        charts=[chart(name, result) for name, result in results.items()],
        caption=f"Camera example, one run of {horizon:,} rounds of each policy. The thick grey line is rho(t), the "
        "least index of a chosen arm so far. The optimal set is Nikon, Canon and Sony.",
    )
    texts = [Text(what_one_sees(SHOWN[name], result)) for name, result in results.items()]
    return Section("figure-1", EXHIBIT.title, [grid, *texts, Text(about_digital_camera(results)), ends(results)])


def chart(name: str, result: Result) -> Chart:
    """Plot the index of every arm and rho(t) in the first run."""
    indices, rho = recorded(result)
    series = [_curve("rho(t)", result.rounds, rho, "rho")]
    series += [_curve(arm, result.rounds, indices[:, i], f"arm {i}") for i, arm in enumerate(CAMERAS)]
    return Chart(
        name=f"figure-1-{name}",
        title=SHOWN[name] + (", recommended where the assumption holds" if name == "kl-ucb" else ""),
        x_label="round",
        y_label="upper confidence bound",
        series=series,
        x_log=True,
        y_log=True,
    )


def _curve(label: str, rounds: Ints, values: Floats, style: str) -> Series:
    """Return a curve of the finite values."""
    finite = np.isfinite(values)
    return Series(label, rounds[finite].astype(np.float64), values[finite], style=style)


def recorded(result: Result) -> tuple[Floats, Floats]:
    """Return the indices of the first run, checkpoints x arms, and rho."""
    assert result.indices is not None and result.rho is not None
    return result.indices[0], result.rho[0]


def last_near(result: Result, arm: int) -> int | None:
    """Return the last checkpoint at which an arm's index is not clearly above rho(t), or None."""
    indices, rho = recorded(result)
    return _last(result.rounds, indices[:, arm] <= rho * (1.0 + ASIDE))


def last_at_least(result: Result, probability: float) -> int | None:
    """Return t_l, the last checkpoint with rho(t) >= P(a_l|s*): the arm is in every later set if its bound is valid."""
    return _last(result.rounds, recorded(result)[1] >= probability)


def _last(rounds: Ints, where: Any) -> int | None:
    found = np.flatnonzero(where)
    return int(rounds[found[-1]]) if len(found) else None


def optimal_means() -> dict[int, float]:
    """Return P(a|s*) of the arms of the optimal set, in descending order."""
    world = camera()
    best, means = world.best(), np.zeros(world.k)
    world.means(best, means)
    return dict(sorted(zip(best.tolist(), means.tolist(), strict=True), key=lambda pair: -pair[1]))


def what_one_sees(name: str, result: Result) -> str:
    """Describe how the arms of the optimal set leave rho(t)."""
    indices, rho = recorded(result)
    start = indices[0][np.isfinite(indices[0])]
    parts = [
        f"{name}: in round {int(result.rounds[0]):,} the largest of the six bounds is "
        f"{start.max() / start.min():.2f} times the least, in the last one {indices[-1].max() / indices[-1].min():.2f} "
        "times."
    ]
    for arm in optimal_means():
        final = f"it ends at {indices[-1, arm]:.4f}"
        last = last_near(result, arm)
        if last is None:
            parts.append(
                f"{CAMERAS[arm]}'s stands out by more than {100 * ASIDE:.0f} % of rho(t) from there on; {final}."
            )
        elif last < result.horizon:
            parts.append(
                f"{CAMERAS[arm]}'s stands out by more than {100 * ASIDE:.0f} % of rho(t) after round {last:,}; {final}."
            )
        else:
            parts.append(f"{CAMERAS[arm]}'s stays within {100 * ASIDE:.0f} % of rho(t) to the end; {final}.")
    last_arm, least = list(optimal_means().items())[-1]
    share = result.pulls[0, list(optimal_means())].sum() / result.pulls[0].sum()
    parts.append(
        f"rho(t) ends at {rho[-1]:.4f}. Where the bounds are valid it cannot fall below P({CAMERAS[last_arm]}|s*) = "
        f"{least:g}, so the last arm of the optimal set has nothing to separate from. {100 * share:.1f} % of all "
        "plays are of arms of the optimal set."
    )
    return " ".join(parts)


def about_digital_camera(results: dict[str, Result]) -> str:
    """Describe whether Digital Camera, which is ahead in most of its sets, is left behind."""
    arm = CAMERAS.index(DIGITAL)
    ahead, level, behind = places_of(DIGITAL)
    ends_at = [f"{SHOWN[name]} {over_rho(result)[arm]:.4f}" for name, result in results.items()]
    if all(is_left_behind(arm, result) for result in results.values()):
        where = ", but its bound stays with those of the arms left behind"
    else:
        aside = [SHOWN[name] for name, result in results.items() if over_rho(result)[arm] > 1.0 + ASIDE]
        where = f", and its bound stands out from rho(t) in the end with {' and '.join(aside)}" if aside else ""
    return (
        f"{DIGITAL} has the highest mean in {ahead} of the {ahead + level + behind} sets that contain it (and shares "
        f"it in {level}){where}. Over rho(t) it is in the end: {', '.join(ends_at)}."
    )


def over_rho(result: Result) -> Floats:
    """Return the indices in the last round over rho(t)."""
    indices, rho = recorded(result)
    last: Floats = indices[-1] / rho[-1]
    return last


def is_left_behind(arm: int, result: Result) -> bool:
    """Whether an arm outside s* ends near rho(t), as do all others outside s*, while some arm stands out."""
    near = over_rho(result) <= 1.0 + ASIDE
    outside = [other for other in range(len(near)) if other not in optimal_means()]
    return arm in outside and bool(near[outside].all()) and not near.all()


def ends(results: dict[str, Result]) -> TextTable:
    """Tabulate the final state of the arms: plays, index, and when they left rho(t)."""
    means = optimal_means()
    rows = []
    for name, result in results.items():
        indices, _ = recorded(result)
        for arm, label in enumerate(CAMERAS):
            crossed = last_at_least(result, means[arm]) if arm in means else None
            rows.append(
                [
                    SHOWN[name],
                    label,
                    f"{means[arm]:g}" if arm in means else "-",
                    f"{int(result.pulls[0, arm]):,}",
                    f"{indices[-1, arm]:.4f}",
                    _round(last_near(result, arm), result),
                    _round(crossed, result) if arm in means else "-",
                ]
            )
    return TextTable(
        name="figure-1-arms",
        caption=f"The arms after {results['ucb'].horizon:,} rounds. Rounds are those of the picture, which are about "
        f"{100 * _spacing(results['ucb']):.1f} % apart.",
        head=[
            "policy",
            "arm",
            "P(a|s*)",
            "plays",
            "index at the end",
            f"last within {100 * ASIDE:.0f} % of rho(t)",
            "last with rho(t) >= P(a|s*)",
        ],
        rows=rows,
    )


def _spacing(result: Result) -> float:
    """Return the relative distance between the last two checkpoints."""
    return float(result.rounds[-1] / result.rounds[-2] - 1.0) if len(result.rounds) > 1 else 0.0


def _round(last: int | None, result: Result) -> str:
    if last is None:
        return f"before {int(result.rounds[0]):,}"
    return "to the end" if last == result.horizon else f"{last:,}"


EXHIBIT = Exhibit("figure-1", "Figure 1: the upper confidence bounds in the camera example", orders, section)
