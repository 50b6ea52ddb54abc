"""Worlds whose arms have a value each, and where a set of larger values is always better."""

from typing import Any

import numpy as np

from setwise.types import Floats, Ints


def best_by_value(values: Floats, k: int) -> Ints:
    """The k arms of largest value, in falling order; of equal ones the first."""
    candidates = np.flatnonzero(values >= largest_values(values, k)[-1])
    return candidates[np.argsort(-values[candidates], kind="stable")][:k].astype(np.int64)


def largest_values(values: Floats, k: int) -> Floats:
    """The k largest values, in falling order: not by sorting all of them, which may be a million."""
    first = len(values) - k
    return np.sort(np.partition(values, first)[first:])[::-1]


def means_of(environment: Any, chosen: Any) -> Floats:
    """P(a|s) for each arm of a set."""
    out = np.zeros(len(chosen))
    environment.means(np.asarray(chosen, dtype=np.int64), out)
    return out


def set_value(environment: Any, chosen: Any) -> float:
    """Q(s), the expected reward of a set."""
    return float(means_of(environment, chosen).sum())


def gaps_by_value(environment: Any, values: Floats) -> tuple[float, float]:
    """The least positive and the largest gap.

    Sorted by value, every other set is arm for arm no better than the best set with one arm given up for one outside
    of it; so the least positive gap is that of such an exchange at the border. The worst set has the k least values.
    """
    k = environment.k
    order = np.argsort(-values, kind="stable")
    best, others = order[:k], order[k:]
    top = set_value(environment, best)
    candidates = []
    for leaving in np.unique(values[best])[:2]:
        for entering in np.unique(values[others])[::-1][:2]:
            if leaving > entering:
                out = np.flatnonzero(values[best] == leaving)[-1]
                into = others[np.flatnonzero(values[others] == entering)[0]]
                candidates.append(top - set_value(environment, np.append(np.delete(best, out), into)))
    least = min((gap for gap in candidates if gap > 0.0), default=0.0)
    return least, max(0.0, top - set_value(environment, order[len(order) - k :]))
