"""The certificate is wrong as rarely as stated, in worlds that satisfy weak optimal set consistency."""

import math
from typing import Any

import pytest
from scipy import stats

import setwise as sw
from research.lawful_worlds import lawful_worlds
from setwise import environments as models
from setwise.kernels.certificate import DOUBT
from setwise.simulation import players
from setwise.simulation.certificate import watch_of

ALL_LAWFUL = lawful_worlds()
LAWFUL = {name: ALL_LAWFUL[name] for name in ("trap", "camera", "equal arms", "equal arms, choice", "rare", "even")}
FALSE_ALARM = 1e-6  # of a test on a correct certificate, at most


def wrong_refutations(policy: Any, world: Any, horizon: int, runs: int, confidence: float) -> int:
    result = sw.simulate(policy, world, horizon, runs, seed=17, checkpoints=1, certificate=confidence)
    assert result.refuted is not None
    return int((result.refuted > 0).sum())


def most_allowed(runs: int, confidence: float) -> int:
    """More runs are wrong with a probability below FALSE_ALARM, if each is wrong with at most 1 - confidence."""
    return int(stats.binom.isf(FALSE_ALARM, runs, 1.0 - confidence))


@pytest.mark.parametrize("name", LAWFUL)
@pytest.mark.parametrize("policy", [sw.UCB(), sw.Thompson(), sw.Uniform()], ids=repr)
def test_lawful_worlds_are_refuted_as_rarely_as_stated(policy: Any, name: str) -> None:
    world = LAWFUL[name]
    assert sw.check(world).consistency.holds
    assert wrong_refutations(policy, world, 1000, 300, 0.5) <= most_allowed(300, 0.5)


@pytest.mark.parametrize("values", [[1, 3, 20, 3], [1, 3, 3, 1]], ids=str)
@pytest.mark.parametrize("policy", [sw.MNLUCB(alpha=1.0), sw.MNLThompson(), sw.MNLThompson(gaussian=True)], ids=repr)
def test_policies_that_play_whole_epochs_at_once_refute_as_rarely_as_stated(policy: Any, values: list[int]) -> None:
    world = models.MNL(values, k=3)
    assert sw.check(world).consistency.holds
    assert wrong_refutations(policy, world, 20_000, 20, 0.95) <= most_allowed(20, 0.95) < 10


@pytest.mark.parametrize("name", ["trap", "equal arms", "equal arms, choice", "rare"])
def test_bounds_that_are_too_narrow_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(request: Any) -> Any:
        watch = watch_of(request)
        assert watch is not None
        watch.limits[DOUBT] -= math.log(300.0)  # about half of the level
        return watch

    monkeypatch.setattr(players, "watch_of", careless)
    assert wrong_refutations(sw.UCB(), LAWFUL[name], 1000, 300, 0.5) > most_allowed(300, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("name", ALL_LAWFUL)
def test_lawful_worlds_are_refuted_as_rarely_as_stated_in_many_runs(name: str, confidence: float) -> None:
    """10^4 runs in each world, 2,000 rounds each, with four policies; false alarm below 1e-6 for each world."""
    world = ALL_LAWFUL[name]
    assert sw.check(world).consistency.holds
    runs = {sw.KLUCB(): 4000, sw.Thompson(): 3000, sw.UCB(): 2500, sw.RobustUCB(): 500}
    wrong = [wrong_refutations(policy, world, 2000, many, confidence) for policy, many in runs.items()]
    assert sum(wrong) <= most_allowed(10_000, confidence), wrong
