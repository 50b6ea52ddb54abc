"""Shared by worlds with a value per arm in which larger values always make a better set."""

from typing import Any

import numpy as np

from setwise.types import Floats, Ints


def best_by_value(values: Floats, k: int) -> Ints:
    """Return the k arms of largest value, in decreasing order; ties go to the first."""
    candidates = np.flatnonzero(values >= largest_values(values, k)[-1])
    return candidates[np.argsort(-values[candidates], kind="stable")][:k].astype(np.int64)


def largest_values(values: Floats, k: int) -> Floats:
    """Return the k largest values in decreasing order, without sorting all of them: there may be a million."""
    first = len(values) - k
    return np.sort(np.partition(values, first)[first:])[::-1]


def means_of(environment: Any, chosen: Any) -> Floats:
    """Return P(a|s) for each arm of a set."""
    out = np.zeros(len(chosen))
    environment.means(np.asarray(chosen, dtype=np.int64), out)
    return out


def set_value(environment: Any, chosen: Any) -> float:
    """Return Q(s), the expected reward of a set."""
    return float(means_of(environment, chosen).sum())


def gaps_by_value(environment: Any, values: Floats) -> tuple[float, float]:
    """Return the least positive and the largest gap.

    Sorted by value, every other set is arm for arm no better than the best set with one arm replaced by one outside
    it. So the least positive gap is that of such a swap at the border. The worst set has the k least values.
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
