"""What can be seen of a study: its arms, the best of them, and where it stands."""

import math

import numpy as np

from setwise.study.fold import ACTIVE, STATUS, Fold
from setwise.study.names import window_text
from setwise.study.records import Arm, Summary, moment


def arms_of(fold: Fold, only: int | None = None) -> list[Arm]:
    """All arms in the order of their numbers, or one of them."""
    indices = fold.indices()
    found = []
    for number in range(fold.n) if only is None else [only]:
        pulls, reward = int(fold.pulls[number]), float(fold.reward[number])
        found.append(
            Arm(
                fold.names[number],
                number,
                STATUS[fold.status[number]],
                pulls,
                reward,
                reward / pulls if pulls else None,
                None if indices is None else float(indices[number]),
                int(fold.shown[number]),
            )
        )
    return found


def best_of(fold: Fold) -> tuple[str, ...]:
    """The k active arms that surely earn most: of largest C/N - B sqrt(log(t) / (2 N)), as known after t rounds.

    Where this is the same, as it is before anything was told, the arm that was added first comes first.
    """
    bound = float(getattr(fold.policy, "bound", 1.0))
    rounds = max(2, fold.told + fold.closed)
    with np.errstate(divide="ignore", invalid="ignore"):
        sure = fold.reward / fold.pulls - bound * np.sqrt(math.log(rounds) / (2.0 * fold.pulls))
    sure = np.where(fold.pulls == 0, -np.inf, sure)
    candidates = np.flatnonzero(fold.status == ACTIVE)
    order = candidates[np.argsort(-sure[candidates], kind="stable")]
    return tuple(fold.names[arm] for arm in order[: fold.definition.k])


def summary_of(fold: Fold, name: str, address: str) -> Summary:
    """Where a study stands."""
    definition = fold.definition
    finished = fold.told + fold.closed
    return Summary(
        name=name,
        address=address,
        policy=repr(definition.policy),
        k=definition.k,
        horizon=definition.horizon,
        seed=definition.seed,
        window=window_text(definition.window),
        created=moment(fold.created),
        last=moment(fold.time),
        arms=fold.n,
        active=fold.active,
        rounds=fold.rounds,
        told=fold.told,
        closed=fold.closed,
        open=fold.rounds - finished,
        late=fold.late,
        reward=float(fold.earned),
        mean=float(fold.earned) / finished if finished else None,
        best=best_of(fold),
        position=fold.position,
    )
