"""Every reward model, preset and world of the paper keeps the contract."""

import math
from typing import Any

import numpy as np
import pytest
from test_choice_models import WORLDS as CHOICE_MODELS
from test_ranking_models import WORLDS as RANKING_MODELS

from setwise.environments import (
    MNL,
    MODELS,
    PRESETS,
    Independent,
    PreferenceMatrix,
    RandomUtility,
    RandomWeak,
    Scaled,
    Table,
)
from setwise.paper.instances import INSTANCES
from setwise.testing import check_environment

PAIRS = {(0, 1): (0.3, 0.3), (0, 2): (0.6, 0.4), (1, 2): (0.3, 0.4)}


def logistic(u: float) -> float:
    return math.log(u / (1 - u))


WORLDS: dict[str, Any] = {
    "multinomial logit": MNL([1.5, 0.0, 0.3, 2.0, 0.7], k=3),
    "multinomial logit, each arm by itself": MNL([1.5, 0.0, 0.3, 2.0, 0.7], k=3, outside=0.2, feedback="independent"),
    "gaussian utility": RandomUtility([0.5, -1.0, 0.5, 2.0], k=2),
    "gumbel utility": RandomUtility([0.5, -1.0, 0.5, 2.0], k=2, noise="gumbel", scale=0.5),
    "logistic utility": RandomUtility([0.5, -1.0, 2.0], k=2, noise=logistic),
    "independent": Independent([0.1, 1.0, 0.0, 0.5], k=2),
    "independent, one arm at most": Independent([0.25, 0.5, 0.0, 0.25], k=3, feedback="choice"),
    "preference matrix": PreferenceMatrix([[0, 0.3, -0.9], [-0.3, 0, 0.1], [0.9, -0.1, 0]], 0.1),
    "table": Table(PAIRS),
    "random weak": RandomWeak(6, 3, seed=2, margin=0.01, feedback="independent"),
    "prices": Scaled(MNL([1.5, 0.1, 0.3, 2.0, 0.7], k=3), [1.0, 9.0, 4.0, 0.0, 2.5]),
    **CHOICE_MODELS,
    **RANKING_MODELS,
    **{f"the paper's {name}": make() for name, make in INSTANCES.items()},
    **{name: make() for name, make in PRESETS.items()},
}


# The loop draws binary rewards from the means; where rewards have prices, it calls `draw`.
OWN_SAMPLERS = ("Mallows", "Rankings")
# Presets are models of the lists above with other parameters, so that compiling them again shows nothing new.
INTERPRETED = {*PRESETS, *OWN_SAMPLERS} - {"mallows", "rankings"}


def test_every_model_is_among_the_worlds() -> None:
    assert {type(world) for world in WORLDS.values()} == set(MODELS)


@pytest.mark.parametrize("name", WORLDS)
def test_every_model_and_every_world_of_the_paper_keeps_the_contract(name: str) -> None:
    check_environment(WORLDS[name], draws=1500, compiled=name not in INTERPRETED)


@pytest.mark.parametrize("name", [*CHOICE_MODELS, *RANKING_MODELS])
def test_the_other_kind_of_feedback_keeps_the_contract(name: str) -> None:
    world = WORLDS[name]
    other = "choice" if world.feedback == "independent" else "independent"
    check_environment(world._replace(feedback=other), draws=1000, compiled=False)


@pytest.mark.parametrize("name", OWN_SAMPLERS)
def test_samplers_of_their_own_keep_the_contract(name: str) -> None:
    check_environment(Scaled(WORLDS[name], 1.0), draws=1000)


@pytest.mark.parametrize("base", ["independent", "gaussian utility", "preference matrix", "table", "random weak"])
def test_prices_keep_the_contract_on_every_model(base: str) -> None:
    world = WORLDS[base]
    check_environment(Scaled(world, 1.0 + np.arange(world.n)), draws=1000, compiled=False)
