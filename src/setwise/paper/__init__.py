"""The paper's worlds: Combinatorial Bandits without Total Order for Arms (Yang, Ren, Dhillon, Sanghavi, 2021)."""

from setwise.paper.instances import (
    INSTANCES,
    LOWER_BOUNDS,
    camera,
    lower_bound_choice,
    lower_bound_independent,
    mnl,
    preference_matrix,
    random_utility,
    random_weak,
)

__all__ = [
    "INSTANCES",
    "LOWER_BOUNDS",
    "camera",
    "lower_bound_choice",
    "lower_bound_independent",
    "mnl",
    "preference_matrix",
    "random_utility",
    "random_weak",
]
