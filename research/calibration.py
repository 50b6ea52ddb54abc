"""How often the certificate is wrong: runs that refute weak optimal set consistency in worlds that satisfy it."""

from research.beta_quantile import share_interval
from research.lawful_worlds import lawful_worlds
from research.summary import Run, Summary, scientific
from setwise import Experiment

POLICIES = ["kl-ucb", "thompson", "ucb", "robust-ucb", "uniform"]
COLUMNS = ["policy", "confidence", "worlds", "rounds", "runs", "wrong", "% wrong", "% allowed", "% in the worst world"]


def compute(run: Run, quick: bool = False) -> list[Summary]:
    """A row for each policy and confidence: wrong refutations over all worlds, and in the world that has most."""
    worlds = lawful_worlds()
    horizon, runs = (200, 2) if quick else (2000, 1000)
    if quick:
        worlds = {name: worlds[name] for name in ("trap", "camera")}
    rows = []
    for confidence in (0.5, 0.95):
        done = run(Experiment(worlds, POLICIES, horizon, runs, checkpoints=1, certificate=confidence))
        for policy in POLICIES:
            wrong = [int((done[world, policy].refuted > 0).sum()) for world in worlds]
            played = len(worlds) * runs
            share = [100.0 * end for end in share_interval(sum(wrong), played)]
            allowed, worst = 100.0 * (1.0 - confidence), 100.0 * max(wrong) / runs
            rows.append(
                [policy, confidence, len(worlds), scientific(horizon), played, sum(wrong), share, allowed, worst]
            )
    return [Summary("Wrong refutations in worlds that satisfy weak optimal set consistency", COLUMNS, rows)]
