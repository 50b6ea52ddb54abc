"""Cached runs of the paper's three algorithms in its worlds, shared by several claims."""

import functools

from setwise.environments.tabulated import tabulated
from setwise.experiments.plays import Play
from setwise.paper.exhibits.regret_panels import world_of
from setwise.paper.instances import camera
from setwise.policies import POLICIES, UCB
from setwise.simulation import Result, simulate

GROUP = "matches"
PLAYS_OF_UCB = Play(UCB(), camera(), 1).group  # jobs that share compiled code: Algorithm 1 in worlds with few sets
SHORT, LONG, RUNS = 100_000, 1_000_000, 10
WORLDS = ("mnl", "random-utility", "preference-matrix", "random-weak")  # of Figure 3
OURS = "ucb"
RIVALS = {"mnl-ucb": "E-E MNL-bandit", "stagewise-elimination": "Stagewise Elimination"}
TITLES = {OURS: "Algorithm 1", **RIVALS}


@functools.cache
def match(policy: str, world: str, horizon: int, seed: int) -> Result:
    """Simulate ten runs of a policy in a world of the paper."""
    return simulate(POLICIES[policy](), world_of(world), horizon, RUNS, seed, tabulate=True)


@functools.cache
def regret_of_random_sets(world: str, horizon: int) -> float:
    """Return the exact expected regret of sets drawn uniformly at random."""
    values = tabulated(world_of(world)).probabilities.sum(axis=1)
    return float(horizon * (values.max() - values.mean()))
