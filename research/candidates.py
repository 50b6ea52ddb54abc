"""Attempts to do better than KL-MOSS: other indices and samples, in the paper's worlds and in hard ones."""

from typing import Any

from research.hard_worlds import chosen_worlds, stuck
from research.summary import Run, Summary, mean, regrets, scientific
from research.tried_policies import CANDIDATES
from setwise import Experiment

REFERENCES = ("ucb", "kl-ucb", "kl-moss", "thompson")
PROMISING = ("kl-ucb++", "kl, half the level", "kl, smoothed", "bayes, 1/x", "bayes, 1/(x(1+log x))")
WORLDS = ["mnl", "random-utility", "preference-matrix", "random-weak", "camera"]
SEED = 2_000_003  # in hard worlds


def compute(run: Run, quick: bool = False) -> list[Summary]:
    """All candidates in the paper's worlds, and the promising ones in hard worlds."""
    tried: dict[str, Any] = {**{name: name for name in REFERENCES}, **CANDIDATES}
    if quick:
        tried = {name: tried[name] for name in ("ucb", "kl-moss", "kl-ucb++")}
    worlds, horizon, runs = (["camera"], 3000, 4) if quick else (WORLDS, 200_000, 30)
    done = run(Experiment(worlds, tried, horizon, runs, checkpoints=[horizon // 2]))
    rows = [[name, *(mean(regrets(done, world, name)) for world in worlds)] for name in tried]
    caption = f"Regret after {scientific(horizon)} rounds, ± 95 %"
    promising = {name: own for name, own in tried.items() if name in ("kl-ucb", "kl-moss", *PROMISING)}
    return [Summary(caption, ["policy", *worlds], rows), hard(run, promising, quick)]


def hard(run: Run, tried: dict[str, Any], quick: bool) -> Summary:
    """Count stuck runs at a short horizon, and measure regret at both."""
    worlds = chosen_worlds(quick)
    short, long = ((100, 20), (1000, 5)) if quick else ((10_000, 1000), (100_000, 300))
    first, last = (run(Experiment(worlds, tried, T, runs, SEED, checkpoints=[T // 2])) for T, runs in (short, long))
    rows = []
    for label, world in worlds.items():
        for name in tried:
            share = stuck(first[label, name], world)
            final = regrets(last, label, name)
            rows.append([label, name, share, mean(regrets(first, label, name)), mean(final), float(final.max())])
    at, later = scientific(short[0]), scientific(long[0])
    columns = ["world", "policy", f"% of runs stuck, {at}", f"regret, {at}", f"regret, {later}", f"worst run, {later}"]
    return Summary("In worlds made to be hard", columns, rows)
