"""Regret against epsilon in the lower bound's families, and the constant c of R = c n log T / epsilon."""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.experiments.outcome import Outcome
from setwise.experiments.plays import Play
from setwise.kernels.divergence import bernoulli_divergence
from setwise.paper.exhibits.exhibit import Scale
from setwise.paper.exhibits.sensitivity_sweep import (
    BAND,
    Sweep,
    final_regret,
    guide,
    last_decade,
    number,
    played,
    span,
    with_interval,
)
from setwise.paper.instances import lower_bound_choice, lower_bound_independent
from setwise.policies import POLICIES
from setwise.report.parts import Chart, Details, Grid, Series, Text, TextTable
from setwise.simulation.statistics import interval
from setwise.theory.bounds import lower_plays
from setwise.types import Floats

EPSILONS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
N, K = 10, 3
MAKERS = {"choice": lower_bound_choice, "independent": lower_bound_independent}
PLAYED = ("ucb", "kl-ucb")
SETTLED = 0.05  # above this share of T x largest gap the horizon is too short for epsilon


class Constant(NamedTuple):
    """Measurements at one epsilon.

    regret: of the runs
    constant: c = R epsilon / (n log T), of the runs
    share: mean regret over T x largest gap
    lower: the constant of the asymptotic lower bound
    """

    epsilon: float
    regret: Floats
    constant: Floats
    share: float
    lower: float


@functools.cache
def sweeps(scale: Scale) -> dict[tuple[str, str], Sweep]:
    """Return the sweeps of both policies in both families."""
    horizon, runs = max(2, scale.horizon_of(10**5, 10**6, 10**7)), scale.runs_of(3, 10, 50)
    found = {}
    for feedback, maker in MAKERS.items():
        worlds = [maker(N, K, epsilon) for epsilon in EPSILONS]
        for name in PLAYED:
            plays = [Play.of(POLICIES[name](), world, horizon, scale.seed, last_decade(horizon)) for world in worlds]
            found[feedback, name] = Sweep(name, EPSILONS, tuple(plays), runs)
    return found


def lower_constant(epsilon: float, feedback: str) -> float:
    """Return the asymptotic lower bound, (n - k) epsilon / KL log T, in units of n log T / epsilon."""
    plays = lower_plays(K, epsilon, feedback == "choice")
    return math.nan if plays is None else (N - K) * epsilon**2 * plays / N


def limit_constant(policy: Any, epsilon: float, feedback: str) -> float:
    """Return the limit of c as T grows: an arm is dropped once its index falls to the q of the optimal arms.

    UCB drops it after alpha log T / epsilon^2 plays, KL-UCB after alpha log T / kl(q - epsilon, q).
    """
    q = 1.0 / (K + 1) if feedback == "choice" else 0.5
    per_play = epsilon**2 if isinstance(policy, POLICIES["ucb"]) else bernoulli_divergence(q - epsilon, q)
    return float((N - K) * epsilon**2 * policy.alpha / (N * per_play))


def constants(sweep: Sweep, outcome: Outcome, feedback: str) -> list[Constant]:
    """Return the measured constant at every epsilon."""
    found = []
    for epsilon, play, result in zip(sweep.values, sweep.plays, sweep.results(outcome), strict=True):
        regret = final_regret(result)
        found.append(
            Constant(
                epsilon,
                regret,
                regret * epsilon / (N * math.log(result.horizon)),
                float(regret.mean() / (result.horizon * play.environment.gaps()[1])),
                lower_constant(epsilon, feedback),
            )
        )
    return found


def parts(scale: Scale, outcome: Outcome) -> list[Grid | Text | Details]:
    """Return the charts, their description, and the numbers."""
    own = sweeps(scale)
    results = own["choice", "ucb"].results(outcome)
    found = {key: constants(sweep, outcome, key[0]) for key, sweep in own.items()}
    charts = [make(feedback, own, found, results[0].horizon) for feedback in MAKERS for make in (_regrets, _constants)]
    grid = Grid(
        name="sensitivity-epsilon",
        title="Regret against epsilon in the lower bound's families",
        charts=charts,
        caption=f"n = {N}, k = {K}, {played(results)}: regret, and the constant c of R = c n log T / epsilon. The "
        "lower bound is (n - k) epsilon log T / KL, as T grows. Beside the constants stands what they tend to as T "
        "grows: (n - k) / n times alpha for ucb, and times epsilon^2 / kl(q - epsilon, q) for kl-ucb; with independent "
        "feedback the latter is a lower bound for all policies that are good at every gap (Anantharam, Varaiya, "
        "Walrand 1987).",
    )
    texts = [Text(what_one_sees(feedback, found)) for feedback in MAKERS]
    return [grid, *texts, Details("Regret and constants for every epsilon", [_numbers(found)])]


def _regrets(feedback: str, own: Any, found: Any, horizon: int) -> Chart:
    series = [own[feedback, name].points([at.regret for at in found[feedback, name]]) for name in PLAYED]
    worlds = [play.environment for play in own[feedback, "ucb"].plays]
    limits = [horizon * world.gaps()[1] for world in worlds]
    lower = [at.lower * N * math.log(horizon) / at.epsilon for at in found[feedback, "ucb"]]
    series.append(guide("T x largest gap", EPSILONS, limits, "limit"))
    series.append(guide("lower bound", EPSILONS, lower, "lower-bound"))
    return _chart(f"sensitivity-epsilon-{feedback}", f"{feedback.capitalize()} feedback: regret", "regret", series)


def _constants(feedback: str, own: Any, found: Any, horizon: int) -> Chart:
    series = [own[feedback, name].points([at.constant for at in found[feedback, name]]) for name in PLAYED]
    for name in PLAYED:
        policy = own[feedback, name].plays[0].policy
        heights = [limit_constant(policy, epsilon, feedback) for epsilon in EPSILONS]
        series.append(guide(f"{name} as T grows", EPSILONS, heights, name))
    series.append(guide("lower bound", EPSILONS, [at.lower for at in found[feedback, "ucb"]], "lower-bound"))
    return _chart(
        f"sensitivity-constant-{feedback}",
        f"{feedback.capitalize()} feedback: constant",
        "R epsilon / (n log T)",
        series,
    )


def _chart(name: str, title: str, y_label: str, series: Sequence[Series]) -> Chart:
    return Chart(name, title, "epsilon", y_label, series, band=BAND, x_log=True, y_log=True)


def what_one_sees(feedback: str, found: dict[tuple[str, str], list[Constant]]) -> str:
    """Describe whether the constant is flat, and where the horizon is too short to tell."""
    sentences = []
    for name in PLAYED:
        settled = [at for at in found[feedback, name] if at.share <= SETTLED]
        early = [at for at in found[feedback, name] if at.share > SETTLED]
        if settled:
            means = [float(at.constant.mean()) for at in settled]
            over = [mean / at.lower for mean, at in zip(means, settled, strict=True)]
            sentences.append(
                f"for {name} c is {number(min(means))} to {number(max(means))} for epsilon from "
                f"{settled[0].epsilon:g} to {settled[-1].epsilon:g}: a factor of {max(means) / min(means):.2f} while "
                f"epsilon changes by one of {settled[-1].epsilon / settled[0].epsilon:.3g}; that is {span(over)} times "
                "the constant of the lower bound"
            )
        if early:
            shares = [at.share for at in early]
            sentences.append(
                f"for epsilon up to {early[-1].epsilon:g} the horizon is too short to tell: the regret of {name} is "
                f"{min(shares):.0%} to {max(shares):.0%} of T x largest gap, which caps it, and c is "
                f"{span([float(at.constant.mean()) for at in early])}"
            )
    return f"With {feedback} feedback. " + " ".join(sentence[0].upper() + sentence[1:] + "." for sentence in sentences)


def _numbers(found: dict[tuple[str, str], list[Constant]]) -> TextTable:
    rows = []
    for (feedback, name), points in found.items():
        for at in points:
            rows.append(
                [
                    feedback,
                    name,
                    f"{at.epsilon:g}",
                    with_interval(interval(at.regret)),
                    with_interval(interval(at.constant)),
                    number(at.lower),
                    number(float(np.mean(at.constant)) / at.lower),
                    f"{at.share:.1%}",
                ]
            )
    return TextTable(
        name="sensitivity-epsilon-numbers",
        caption="c = R epsilon / (n log T), with 95 % intervals; the lower bound's constant holds as T grows. Above "
        f"{SETTLED:.0%} of T x largest gap the horizon is too short for c to mean much.",
        head=["feedback", "policy", "epsilon", "regret", "c", "lower bound's c", "ratio", "R / (T x largest gap)"],
        rows=rows,
    )
