"""The certificate against weak optimal set consistency: when a run refuted it, and by which sets.

`kernels.certificate` has the test and its proof.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from setwise.kernels.certificate import Watch, new_watch
from setwise.simulation.checks import Request, bound_of, is_binary
from setwise.simulation.result import Result
from setwise.types import Feedback, Floats
from setwise.validation import counted


@dataclasses.dataclass(frozen=True)
class Bound:
    """An upper bound of what an arm earns in the optimal set.

    arm: the arm
    value: the bound
    company: the set in whose company the arm earned so little; None for all company
    """

    arm: Any
    value: float
    company: tuple[Any, ...] | None


@dataclasses.dataclass(frozen=True)
class Certificate:
    """Outcome of the test of weak optimal set consistency in one run or study.

    confidence: with at least this probability, a world that satisfies the assumption is never refuted
    rounds: number of rounds seen
    refuted: round in which the assumption was refuted, or None
    better: a set that earns more than the assumption allows
    lower: lower bound of that set's expected total
    bounds: the k largest upper bounds of what arms earn in the optimal set; their sum is below `lower`
    withdrawn: in a study, round of the last refutation that does not stand any more, because arms were added later, or
        None
    """

    confidence: float
    rounds: int
    refuted: int | None
    better: tuple[Any, ...] | None = None
    lower: float | None = None
    bounds: tuple[Bound, ...] = ()
    withdrawn: int | None = None

    def __str__(self) -> str:
        if self.refuted is None and self.withdrawn is not None:
            return (
                f"Weak optimal set consistency is not refuted, in {counted(self.rounds, 'round')} at confidence "
                f"{self.confidence:g}. With fewer arms it was, in round {self.withdrawn:,}; that does not stand any "
                "more, because an arm was added, which may belong to the best set."
            )
        if self.refuted is None:
            return (
                f"Weak optimal set consistency was not refuted in {counted(self.rounds, 'round')} at confidence "
                f"{self.confidence:g}. That does not prove it: only sets that were played can speak against it."
            )
        limit = sum(bound.value for bound in self.bounds)
        lines = [
            f"Weak optimal set consistency is refuted, at confidence {self.confidence:g}, in round {self.refuted:,}.",
            f"If it held, no set could earn more than {limit:.4g} on average, but the set "
            f"{_set(self.better)} earns at least {self.lower:.4g}. The limit is the sum of",
        ]
        for bound in self.bounds:
            where = "in all company" if bound.company is None else f"in the set {_set(bound.company)}"
            who = f"arm {bound.arm}" if isinstance(bound.arm, int) else bound.arm
            lines.append(f"  {bound.value:.4g}: {who} earns at most that, {where}")
        return "\n".join(lines)


def refutations(result: Result) -> str:
    """Return in how many tested runs the assumption was refuted, and when, as `12 of 20, median round 4,310`."""
    found = [] if result.refuted is None else sorted(result.refuted[result.refuted > 0].tolist())
    when = f", {'median ' * (len(found) > 1)}round {found[(len(found) - 1) // 2]:,}" if found else ""
    return f"{len(found)} of {result.runs}{when}"


def _set(arms: Sequence[Any] | None) -> str:
    return "{" + ", ".join(map(str, arms or ())) + "}"


def watch_of(request: Request) -> Watch | None:
    """Return the test before the first round of a run, if it is asked for."""
    if request.certificate is None:
        return None
    bound = bound_of(request.environment)
    feedback = getattr(request.environment, "feedback", None)
    most = bound if feedback == Feedback.choice else request.k * bound
    # Rewards of 0 and 1 with `independent` feedback are drawn independently by the simulation; others may not be.
    drawn = feedback == Feedback.independent and is_binary(request.environment)
    return new_watch(request.n, request.k, bound, most, request.k if drawn else 1, 1.0 - request.certificate)


def read_certificate(
    confidence: float,
    rounds: int,
    refuted: int,
    witness: Floats,
    names: Sequence[Any] | None,
    withdrawn: int | None = None,
) -> Certificate:
    """Return the certificate that a watch wrote."""
    if refuted == 0:
        return Certificate(confidence, rounds, None, withdrawn=withdrawn)

    def named(arms: Floats) -> tuple[Any, ...]:
        return tuple(int(arm) if names is None else names[int(arm)] for arm in sorted(arms))

    bounds = tuple(
        Bound(named(row[1:2])[0], float(row[0]), None if row[2] < 0 else named(row[2:])) for row in witness[1:]
    )
    return Certificate(confidence, rounds, refuted, named(witness[0, 2:]), float(witness[0, 0]), bounds, withdrawn)
