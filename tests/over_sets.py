"""Policies over sets for tests: worlds and references for them, and comparisons of what they know and draw."""

from collections import Counter
from typing import Any

import numpy as np
from scipy import stats

from reference import policies_over_sets as reference
from setwise import SetKLUCB, SetThompson, SetUCB
from setwise.environments import FullBandit, Independent

LEAST_P = 1e-6
FROZEN: list[Any] = [SetUCB, SetKLUCB]
EVERY: list[Any] = [*FROZEN, SetThompson]
MEANS = (0.3, 0.85, 0.1, 0.5, 0.02, 0.9, 0.6)
RARE = (0.3, 0.1, 0.02, 0.0, 0.25, 0.01, 0.05)


def world_of(feedback: str, means: Any, k: int) -> Any:
    """Arms of these means, divided by k if at most one of them is rewarded in a round; or only their totals."""
    if feedback == "choice":
        return Independent(np.array(means) / k, k=k, feedback="choice")
    world = Independent(means, k=k)
    return FullBandit(world) if feedback == "total" else world


def policy_of(kind: Any, feedback: str, k: int, **parameters: Any) -> Any:
    """The policy, told of the largest total."""
    return kind(**parameters) if kind is SetThompson else kind(total=1.0 if feedback == "choice" else k, **parameters)


def reference_of(policy: Any, n: int, k: int, horizon: int) -> Any:
    return getattr(reference, type(policy).__name__)(n, k, horizon, **policy._asdict())


def selected(policy: Any, state: Any, rng: Any) -> tuple[int, ...]:
    return tuple(int(arm) for arm in policy.select(state, rng))


def assert_same_facts(state: Any, plain: Any) -> None:
    """That the policy knows what its reference knows: counts exactly, numbers up to rounding."""
    known = getattr(state, "sets", state)
    for name, wanted in plain.facts().items():
        found = known.hits + known.misses if name == "plays" else getattr(known, name)
        exact = np.issubdtype(wanted.dtype, np.integer)
        assert np.array_equal(found, wanted) if exact else np.allclose(found, wanted, 1e-9, 1e-12), name


def assert_law(found: Counter[Any], law: dict[Any, float]) -> None:
    """That the counts are a sample of the law; what is expected less than ten times is put together."""
    draws = sum(found.values())
    usual = [outcome for outcome, chance in law.items() if chance * draws >= 10]
    counts, expected = [found[outcome] for outcome in usual], [law[outcome] * draws for outcome in usual]
    assert len(usual) > 1 and set(found) <= set(law)
    if draws - sum(expected) >= 10:
        counts, expected = [*counts, draws - sum(counts)], [*expected, draws - sum(expected)]
    expected = [value * sum(counts) / sum(expected) for value in expected]
    assert stats.chisquare(counts, expected).pvalue > LEAST_P
