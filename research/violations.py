"""What happens where weak optimal set consistency fails, and what it costs to be ready for that where it holds."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from research.beta_quantile import share_interval
from research.broken_worlds import SLATES, fitted_logit, hidden_sets, mixed_logits, slates, small_worlds
from research.summary import Run, Summary, mean, scientific
from setwise import Experiment
from setwise.environments import MNL
from setwise.simulation import Result
from setwise.types import Floats

HOLDS = ["mnl", "random-utility", "preference-matrix", "random-weak", "camera", "trap"]
SMALL_LOGIT = MNL(np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.2, 0.1]), k=6)  # 28 sets, the best one far ahead
UNFIT = {  # what begins so would take too long, or refuse
    **dict.fromkeys(("mnl", "random-utility", "random-weak"), "set-"),  # many sets
    "real slates": "mnl-",  # several are chosen
}
POLICIES = [
    "robust-ucb", "kl-ucb", "ucb", "kl-moss", "thompson", "set-thompson", "set-ucb", "mnl-thompson", "mnl-ucb",
    "uniform",
]  # fmt: skip
WATCHED = ["robust-ucb", "kl-ucb", "set-thompson"]
MARGINS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
CONFIDENCE = 0.95


class Played(NamedTuple):
    """A finished experiment in worlds of one kind.

    name: of the kind
    worlds, policies, horizons: what was played
    results: by world, policy and horizon, where the policy can play
    """

    name: str
    worlds: list[str]
    policies: list[str]
    horizons: list[int]
    results: dict[tuple[str, str, int], Result]

    def final(self, policy: str, horizon: int) -> Floats | None:
        """Return the final regret of all runs; None if the policy cannot play in all worlds."""
        found = [self.results.get((world, policy, horizon)) for world in self.worlds]
        return np.concatenate([own.regret[:, -1] for own in found if own]) if all(found) else None

    def cells(self, policy: str) -> list[Any]:
        """Return mean regret with its interval at each horizon, or dashes."""
        samples = [self.final(policy, horizon) for horizon in self.horizons]
        return ["-" if sample is None else mean(sample) for sample in samples]


def compute(run: Run, quick: bool = False) -> list[Summary]:
    """Regret where the assumption holds, in worlds that break it, and against the margin; what the certificate said."""
    horizons = [500, 1000] if quick else [10_000, 100_000, 1_000_000]
    policies = ["robust-ucb", "kl-ucb", "set-thompson", "uniform"] if quick else POLICIES
    holds = [_play(run, name, [name], policies, horizons, 2 if quick else 200) for name in HOLDS[4 if quick else 0 :]]
    holds.append(_play(run, "small logit", {"small logit": SMALL_LOGIT}, policies, horizons, 2 if quick else 200))
    seeds = range(2 if quick else 200)
    tables = [f"random-table:seed={seed}" for seed in seeds]
    fails = [
        _play(run, "random tables", tables, policies, horizons, 1),
        _play(run, "66 sets", _tables(2 if quick else 50, 12, 2), policies, horizons, 1),
        _play(run, "190 sets", _tables(2 if quick else 50, 20, 2), policies, horizons, 1),
        _play(run, "120 sets", _tables(2 if quick else 50, 10, 3), policies, horizons, 1),
        _play(run, "680 sets", _tables(1 if quick else 20, 17, 3), policies, horizons, 1),
        _play(run, "hidden sets", hidden_sets(), policies, horizons, 1 if quick else 20),
        _play(run, "small worlds", small_worlds(), policies, horizons, 1 if quick else 20),
        _play(run, "mixed logits", mixed_logits(2 if quick else 20), policies, horizons, 1 if quick else 10),
    ]
    if SLATES.exists() and not quick:
        fails.append(_play(run, "fitted logit", {"fitted logit": fitted_logit()}, policies, horizons, 200))
        fails.append(_play(run, "real slates", {"slates": slates()}, policies, horizons, 200))
    margins = []
    for margin in MARGINS[:2] if quick else MARGINS:
        worlds = [f"broken-table:margin={margin:g},seed={seed}" for seed in seeds]
        margins.append(_play(run, f"margin {margin:g}", worlds, policies, horizons, 1))
    return [
        _compared("Regret where the assumption holds", holds, "kl-ucb"),
        _compared("Regret where the assumption fails", fails, "set-thompson"),
        _by_margin(margins),
        _certified([*holds, *fails, *margins]),
    ]


def _tables(count: int, n: int, k: int) -> list[str]:
    return [f"random-table:seed={seed},n={n},k={k}" for seed in range(count)]


def _play(run: Run, name: str, worlds: Any, policies: list[str], horizons: list[int], runs: int) -> Played:
    if name in UNFIT:
        policies = [policy for policy in policies if not policy.startswith(UNFIT[name])]
    experiment = Experiment(worlds, policies, horizons, runs, checkpoints=[min(horizons)], certificate=CONFIDENCE)
    done = run(experiment)
    results = {
        (entry.environment, entry.policy, entry.horizon): done.outcome.take(entry.play, runs)
        for entry in experiment.entries
    }
    return Played(name, list(experiment.environments), list(experiment.policies), horizons, results)


def _compared(caption: str, kinds: Sequence[Played], reference: str) -> Summary:
    """A row for each kind of world and policy; regret at the last two horizons also in multiples of the reference's."""
    rows = []
    for kind in kinds:
        own = kind.cells(reference)
        for policy in kind.policies:
            cells = kind.cells(policy)
            if cells[0] != "-":
                ratios = ["-" if base == "-" else cell[0] / base[0] for cell, base in zip(cells, own)]
                rows.append([kind.name, policy, *cells, *ratios[-2:]])
    names = [scientific(horizon) for horizon in kinds[0].horizons]
    return Summary(caption, ["worlds", "policy", *names, *(f"/ {reference}, {name}" for name in names[-2:])], rows)


def _by_margin(margins: Sequence[Played]) -> Summary:
    """A row for each policy, a column for each margin."""
    rows = [[policy, *(kind.cells(policy)[-1] for kind in margins)] for policy in margins[0].policies]
    caption = f"Regret after {scientific(margins[0].horizons[-1])} rounds against the margin of violation"
    return Summary(caption, ["policy", *(kind.name.removeprefix("margin ") for kind in margins)], rows)


def _certified(kinds: Sequence[Played]) -> Summary:
    """A row for each kind of world and watched policy: how many runs refuted the assumption, and when."""
    rows = []
    for kind in kinds:
        horizon = kind.horizons[-1]
        for policy in WATCHED:
            found = [kind.results.get((world, policy, horizon)) for world in kind.worlds]
            if all(found):
                refuted = np.concatenate([own.refuted for own in found if own and own.refuted is not None])
                share = [100.0 * end for end in share_interval(int((refuted > 0).sum()), len(refuted))]
                when = float(np.median(refuted[refuted > 0])) if refuted.any() else "-"
                rows.append([kind.name, policy, scientific(horizon), len(refuted), share, when])
    return Summary(
        f"Runs in which the certificate refuted the assumption, at confidence {CONFIDENCE:g}",
        ["worlds", "policy", "rounds", "runs", "% refuted", "median round"],
        rows,
    )
