"""The paper's experiments with Algorithm 1: regret in its five worlds, and the evolution of the indices."""

import functools
import os
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from setwise.paper.instances import INSTANCES, camera
from setwise.policies import UCB
from setwise.report.page import figure, table, write_page
from setwise.simulation import Result, simulate
from setwise.simulation.plot import plot_indices, plot_regret, student_95

CAPTIONS = {
    "mnl": "Multinomial logit: n = 20, k = 10",
    "random-utility": "Random utility, Gaussian: n = 20, k = 5",
    "preference-matrix": "Preference matrix: n = 10, k = 2",
    "random-weak": "Random weak optimal set consistency: n = 10, k = 5",
    "camera": "The camera example: n = 6, k = 3",
}


def reproduce(
    out: str = "out/report",
    runs: int = 20,
    horizon: int = 10**6,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> str:
    """Simulate, draw the figures, write the page; return the path of the page."""
    started = time.time()
    os.makedirs(out, exist_ok=True)
    policy = UCB()
    parts, rows = [], []
    for name, make in INSTANCES.items():
        result = simulate(
            policy, make(), horizon, runs, seed, threads=threads,
            progress=functools.partial(progress, name) if progress else None,
        )  # fmt: skip
        result.save(os.path.join(out, f"{name}.npz"))
        plot_regret([result], os.path.join(out, f"{name}.png"), CAPTIONS[name], ["UCB, alpha = 2"])
        parts.append(figure(f"{name}.png", f"{CAPTIONS[name]}. Cumulative regret of Algorithm 1."))
        rows.append([CAPTIONS[name].split(":")[0], *_row(result, make())])
        if result.surrogate_regret is not None:
            surrogate = result.surrogate_regret[:, -1]
            half = student_95(result.runs - 1) * surrogate.std(ddof=1) / np.sqrt(result.runs) if result.runs > 1 else 0
            label = f"{CAPTIONS[name].split(':')[0]}, by the paper's surrogate (sum of means)"
            rows.append([label, f"{surrogate.mean():,.1f}", f"± {half:,.1f}", "", ""])
    parts.insert(0, evolution(out, seed))
    head = ["world", "regret", "95 %", "least gap", "share of the best set's arms"]
    how = (
        f"Algorithm 1 with alpha = 2; {runs} runs of {horizon:,} rounds; bands are 95 % confidence intervals of the "
        f"mean; seed {seed}; Python {platform.python_version()}, NumPy {np.__version__}; "
        f"{time.time() - started:.0f} s."
    )
    parts = [f"<p>{how}</p>", table(head, rows), *parts]
    path = os.path.join(out, "index.html")
    write_page(path, "Combinatorial bandits without total order for arms, reproduced", parts)
    return path


def evolution(out: str, seed: int) -> str:
    """Figure 1 of the paper: the upper confidence bounds of the six arms of the camera example, and rho(t)."""
    rounds = np.unique(np.geomspace(100, 100_000, 300).astype(np.int64))
    result = simulate(UCB(), camera(), 100_000, 1, seed, record=True, checkpoints=rounds)
    plot_indices(result, os.path.join(out, "figure-1.png"), title="Camera example: upper confidence bounds, and rho(t)")
    return figure(
        "figure-1.png",
        "Figure 1 of the paper: the bounds of all arms fall together at first; those of the optimal set (Nikon, Canon, "
        "Sony) separate out one after the other, but for the last, which rho(t) cannot fall below. rho(t), the least "
        "bound of a chosen arm so far, is what the arms left behind follow (Lemma 1).",
    )


def _row(result: Result, environment: Any) -> list[str]:
    mean = result.mean_regret()[-1]
    half = student_95(result.runs - 1) * result.standard_error()[-1] if result.runs > 1 else float("nan")
    share = result.pulls[:, environment.best()].sum() / result.pulls.sum()
    return [f"{mean:,.1f}", f"± {half:,.1f}", f"{environment.gaps()[0]:.3g}", f"{share:.1%}"]
