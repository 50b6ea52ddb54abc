"""Worlds that satisfy weak optimal set consistency, many of them with equality, to try the certificate on."""

from typing import Any

import numpy as np

import setwise as sw
from research.hard_worlds import crafted, random_world
from setwise.environments import PRESETS, Independent, Table
from setwise.types import Feedback

PAPER = ("mnl", "random_utility", "preference_matrix", "random_weak", "camera")


def lawful_worlds() -> dict[str, Any]:
    """Return small worlds by hand, the paper's, and tables drawn or made to be hard, with either feedback."""
    rng = np.random.default_rng(4)
    hard = {f"drawn {number}": Table(random_world(5, 2, rng)) for number in range(4)}
    hard |= {name: Table(rows) for name, rows in crafted(6, 3).items()}
    return {
        "trap": PRESETS["trap"](),
        "camera": sw.paper.camera(),
        "equal arms": Independent(np.full(4, 0.3), k=2),
        "equal arms, choice": Table(np.full((6, 2), 0.4)),
        "rare": Table(crafted(4, 2)["rare"]),
        "even": Table(crafted(6, 3)["even"]),
        **{name: getattr(sw.paper, name)() for name in PAPER},
        **hard,
        **{f"{name}, independent": world._replace(feedback=Feedback.independent) for name, world in hard.items()},
    }
