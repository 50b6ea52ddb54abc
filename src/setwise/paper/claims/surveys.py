"""Cached surveys of the paper's worlds, shared by all claims about their sets."""

import functools

from setwise.paper.instances import INSTANCES, random_weak
from setwise.theory.survey import Survey, survey_sets

GROUP = "surveys"
SEEDS = 20  # random worlds per claim about all random worlds


@functools.cache
def survey_of(name: str) -> Survey:
    """Survey an instance of the paper."""
    return survey_sets(INSTANCES[name]())


@functools.cache
def random_survey(seed: int) -> Survey:
    """Survey a random world that satisfies Assumption 1."""
    return survey_sets(random_weak(seed=seed))


def surveys(name: str) -> list[Survey]:
    """Survey an instance of the paper, or many worlds if it is a random one."""
    return [random_survey(seed) for seed in range(SEEDS)] if name == "random-weak" else [survey_of(name)]
