"""Compile ahead of time, on all cores, what simulations and studies will need: for images, CI and demonstrations.

Machine code goes to the cache on disk. A policy is compiled for every world it can play, as `simulate` plays it, for
tabulated worlds, as experiments play them, and for studies of few arms and of many.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.engines import Job, answers
from setwise.environments.tabulated import can_tabulate
from setwise.experiments.specs import environments, make, make_policy, policy_classes
from setwise.kernels.ranking import FEW_ARMS
from setwise.lazy_compiler import load_compiler
from setwise.simulation.checks import check_request
from setwise.simulation.simulate import Runs
from setwise.study.policy_runner import can_be_compiled, learn, learn_rounds, select_from_into, select_into
from setwise.types import InputError

STUDIES = (10, FEW_ARMS + 1)  # numbers of arms, which have different rankings
K = 2


class Warmed(NamedTuple):
    """What was compiled for a policy.

    policy: its name
    loops: number of worlds for which its loop is now in the cache
    study: whether its methods are, for studies
    reason: why there is no loop, if so
    """

    policy: str
    loops: int
    study: bool
    reason: str


def warm(
    policies: Sequence[str] = (),
    worlds: Sequence[str] = (),
    at_once: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> list[Warmed]:
    """Compile policies for worlds, by default all for all, and for studies; return what was done for each policy.

    policies, worlds: as on the command line, such as "ucb:alpha=0.5" and "mnl"
    at_once: number of processes, by default one per core
    """
    names = list(dict.fromkeys(policies)) or list(policy_classes())
    worlds = list(dict.fromkeys(worlds)) or list(environments())
    for world in worlds:
        make(world, environments(), "environment")
    for name in names:
        make(name, policy_classes(), "policy")
    jobs = [Job(warm_policy, (name, tuple(worlds)), name, len(worlds), name, shares=True) for name in names]
    found: list[Warmed] = answers(jobs, at_once, progress)
    return found


def warm_policy(name: str, worlds: Sequence[str], progress: Callable[[float], None] | None = None) -> Warmed:
    """Compile one policy."""
    loops, reason, policy, table = 0, "", None, None
    for done, text in enumerate(worlds):
        world = make(text, environments(), "environment")
        try:
            policy = make_policy(name, world)
            request = check_request(policy, world, 1000, 1, 0, 2, "log", None, False, 0, False, True, False)
        except InputError as error:  # the policy cannot play in this world
            reason = str(error)
            continue
        Runs(request)
        loops += 1
        if can_tabulate(world) and (table is None or world.n < table.n):
            table = request
        if progress is not None:
            progress((done + 1) / (len(worlds) + 1))
    if table is not None:
        Runs(dataclasses.replace(table, tabulate=True))
    study = policy is not None and can_be_compiled(policy) and _warm_study(policy)
    return Warmed(name, loops, study, "" if loops else reason)


def _warm_study(policy: Any) -> bool:
    compile_for = load_compiler().compile_for
    rng = np.random.default_rng(0)
    chosen, rewards, sizes = np.arange(K), np.zeros(K), np.full(1, K)
    for n in STUDIES:
        try:
            state = policy.init(n, K, 1000, rng)
        except InputError:  # such as the oracle of a world
            return False
        compile_for(select_into, policy, state, rng, chosen)
        compile_for(learn, policy, state, chosen, rewards, rng)
        compile_for(learn_rounds, policy, state, sizes, chosen, rewards, rng)
        if hasattr(policy, "select_from"):
            compile_for(select_from_into, policy, state, rng, chosen, np.ones(n, bool))
    return True
