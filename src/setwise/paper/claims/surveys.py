"""The paper's worlds looked over once, for all claims that ask what is in them."""

import functools

from setwise.paper.instances import INSTANCES, random_weak
from setwise.theory.survey import Survey, look_over

GROUP = "surveys"
SEEDS = 20  # random worlds that a claim about all of them is tried on


@functools.cache
def survey_of(name: str) -> Survey:
    """Of the paper's instance."""
    return look_over(INSTANCES[name]())


@functools.cache
def random_survey(seed: int) -> Survey:
    """Of a random world that satisfies Assumption 1."""
    return look_over(random_weak(seed=seed))


def surveys(name: str) -> list[Survey]:
    """Of the paper's instance, or of many where it is a random one."""
    return [random_survey(seed) for seed in range(SEEDS)] if name == "random-weak" else [survey_of(name)]
