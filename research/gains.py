"""How many times less regret than Algorithm 1: the KL index, its falling level, the Bernstein index, Thompson."""

from research.summary import Run, Summary, regrets
from setwise import Experiment
from setwise.simulation.statistics import ratio

POLICIES = ["ucb", "kl-ucb", "ucb-v", "kl-moss", "thompson"]
WORLDS = ["mnl", "random-utility", "preference-matrix", "random-weak", "camera"]


def compute(run: Run, quick: bool = False) -> list[Summary]:
    """UCB's mean regret over the policy's, with its interval."""
    worlds, horizon, runs = (WORLDS[-1:], 2000, 5) if quick else (WORLDS, 200_000, 40)
    done = run(Experiment(worlds, POLICIES, horizon, runs, checkpoints=[horizon // 2]))
    rows = [
        [policy, *([*ratio(regrets(done, world, "ucb"), regrets(done, world, policy))] for world in worlds)]
        for policy in POLICIES
        if policy != "ucb"
    ]
    return [Summary("How many times less regret than ucb, with 95 %", ["policy", *worlds], rows)]
