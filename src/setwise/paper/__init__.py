"""The paper's worlds: Combinatorial Bandits without Total Order for Arms (Yang, Ren, Dhillon, Sanghavi, 2021)."""

from setwise.paper.instances import INSTANCES, camera, mnl, preference_matrix, random_utility, random_weak

__all__ = ["INSTANCES", "camera", "mnl", "preference_matrix", "random_utility", "random_weak"]
