"""Plot a study: how often each arm was shown, and the mean reward, over time."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise.simulation.plot import COLOURS, STYLES, save_figure
from setwise.study.journal import body_of
from setwise.types import InputError

BINS = 40
MAX_LINES = 7  # arms drawn


def plot_study(study: Any, path: str | os.PathLike[str] | None) -> Any:
    """Plot two panels over the rounds: the share of sets with each of the most shown arms, and the mean reward."""
    from matplotlib.figure import Figure

    names, until, rounds = study._read(lambda replica: (list(replica.names), replica.position, replica.rounds))
    if rounds == 0:
        raise InputError(f"the study {study.name!r} has no decisions to plot yet; ask for some first")
    edges, shown, asked, earned, told = _count_by_bin(study, len(names), until, rounds)
    middle = 0.5 * (edges[:-1] + edges[1:] + 1)
    figure = Figure(figsize=(9.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    most = np.argsort(-shown.sum(axis=1), kind="stable")[:MAX_LINES]
    for place, arm in enumerate(most):
        label = names[arm] if len(names[arm]) <= 24 else f"{names[arm][:22]}..."
        left.plot(
            middle, shown[arm] / np.maximum(asked, 1), label=label, color=COLOURS[place % len(COLOURS)],
            linestyle=STYLES[place % len(STYLES)], marker="o" if len(middle) == 1 else None, linewidth=1.6,
        )  # fmt: skip
    more = "" if len(names) <= MAX_LINES else f", the {MAX_LINES} arms shown most of {len(names):,}"
    _style_axes(left, rounds, "share of sets with the arm", f"how often each arm was shown{more}")
    left.set_ylim(-0.03, 1.03)
    figure.legend(loc="outside lower center", ncols=min(4, len(most)), frameon=False, fontsize="small")
    known = told > 0
    marker = "o" if known.sum() <= 1 else None
    right.plot(middle[known], earned[known] / told[known], color=COLOURS[0], linewidth=1.6, marker=marker)
    _style_axes(right, rounds, "reward of a round", "mean reward of the rounds with feedback")
    right.set_ylim(bottom=0)
    figure.suptitle(f"{study.name}: {study.k} of {len(names):,} arms, {rounds:,} rounds", fontsize="medium")
    if path is not None:
        save_figure(figure, path)
    return figure


def _style_axes(axes: Any, rounds: int, label: str, title: str) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_xlabel("round")
    axes.set_xlim(0, rounds + 1)
    axes.set_ylabel(label)
    axes.set_title(title, fontsize="small")


def _count_by_bin(study: Any, n: int, until: int, rounds: int) -> Sequence[Any]:
    """Count in bins of rounds: sets with each arm, sets, rewards, and rounds with feedback."""
    edges = np.unique(np.linspace(0, rounds, min(BINS, rounds) + 1).astype(np.int64))
    bins = len(edges) - 1
    shown, asked, earned, told = np.zeros((n, bins)), np.zeros(bins), np.zeros(bins), np.zeros(bins)
    places: dict[str, int] = {}
    for page in study._rows(until):
        for row in page:
            body = body_of(row)
            if row.kind == "ask":
                place = min(bins - 1, int(np.searchsorted(edges, body["round"], side="left")) - 1)
                places[row.decision or ""] = place
                shown[body["arms"], place] += 1
                asked[place] += 1
            elif row.kind == "tell":
                place = places.pop(row.decision or "")
                earned[place] += sum(body["rewards"])
                told[place] += 1
    return edges, shown, asked, earned, told
