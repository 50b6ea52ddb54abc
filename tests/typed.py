"""The package's types as a user's type checker sees them; `make check` checks this file, and the tests run it."""

from typing import assert_type

import setwise as sw
from setwise.policies.kl_ucb import KLUCB
from setwise.simulation.comparison import Comparison
from setwise.study.verify import Verification


def use() -> None:
    """Use what is there by its public names; every line is checked against the stub."""
    world = sw.paper.camera()
    result = sw.simulate(sw.Uniform(), world, 20, runs=2, compiled=False)
    assert_type(result, sw.Result)
    assert_type(result.horizon, int)
    other = sw.simulate(sw.KLUCB(), world, 20, runs=2, compiled=False)
    assert_type(sw.compare([result, other]), Comparison)
    assert_type(sw.KLUCB(alpha=1.0), KLUCB)
    with sw.Study.memory(["Nikon", "Canon", "Sony"], 2, sw.UCB(), seed=0) as study:
        assert_type(study, sw.Study)
        assert_type(study.ask(), sw.Decision)
        assert_type(study.arms(), list[sw.Arm])
        assert_type(study.summary(), sw.Summary)
        assert_type(study.verify(), Verification)
    assert_type(sw.check(world), sw.theory.Check)
    assert_type(sw.Experiment(["camera"], ["ucb"], horizon=10).title, str)
    trouble: list[type[sw.SetwiseError]] = [sw.InputError, sw.StorageError, sw.WorkerLost, sw.DamagedFile]
    assert_type(trouble[0]("why"), sw.SetwiseError)
    assert_type(sw.__version__, str)
    for module in (sw.environments, sw.experiments, sw.kernels, sw.policies, sw.study, sw.testing, sw.theory):
        assert module.__doc__
