"""How regret grows from 10^4 to 10^8 rounds; a policy that knows its horizon plays each one from scratch."""

import numpy as np

from research.summary import Run, Summary, regrets, scientific
from setwise import Experiment

WORLDS = ["mnl", "preference-matrix", "random-weak", "camera", "trap"]
LAST = {"ucb": 8, "kl-ucb": 8, "kl-moss": 8, "thompson": 6, "robust-ucb": 6}  # the last two are not fast-forwarded


def compute(run: Run, quick: bool = False) -> list[Summary]:
    """Mean regret at each horizon; growth is the slope of log regret over log T in the last two decades."""
    worlds, runs = (["camera"], 3) if quick else (WORLDS, 20)
    powers = range(2, 5) if quick else range(4, 9)
    last = dict.fromkeys(("ucb", "kl-ucb"), 4) if quick else LAST
    done = {}
    for power in powers:
        policies = [policy for policy, most in last.items() if power <= most]
        done[power] = run(Experiment(worlds, policies, 10**power, runs, checkpoints=[10**power // 2]))
    rows = []
    for world in worlds:
        for policy, most in last.items():
            means = [float(regrets(done[power], world, policy).mean()) for power in powers if power <= most]
            slope = float(np.polyfit(np.arange(3), np.log10(means[-3:]), 1)[0])
            rows.append([world, policy, *means, *["-"] * (len(powers) - len(means)), slope])
    columns = ["world", "policy", *(scientific(10**power) for power in powers), "growth"]
    return [Summary("Regret at each horizon, and its growth over the last two decades; 1 is linear", columns, rows)]
