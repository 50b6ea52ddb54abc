"""Robust UCB plays nearly as well as KL-UCB where weak optimal set consistency holds, and as sets do where it fails.

All seeds are fixed. The quick tests leave wide margins: what they bound was less than three quarters of the bound. The
slow tests are the targets that the policy was made for.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest

import setwise as sw
from research.broken_worlds import SLATES, mixed_logits, slates
from robust import states
from setwise import KLUCB, RobustUCB, SetThompson, Uniform
from setwise.environments import PRESETS, Table
from setwise.environments.random_table import broken_table, random_table
from setwise.paper.instances import INSTANCES
from setwise.policies._budget import MOST_DOUBT, doubt_of
from skips import NOT_HERE

ROUNDS = 20_000
MARGIN = 0.3


def regret(policy: Any, worlds: Iterable[Any], rounds: int, runs: int) -> Any:
    """Final regret in these worlds, one row for each."""
    played = (sw.simulate(policy, world, rounds, runs=runs, seed=1, checkpoints=[rounds]) for world in worlds)
    return np.array([result.regret[:, -1] for result in played])


@cache
def broken_tables() -> dict[str, list[Table]]:
    return {
        "margin 0.3": [broken_table(seed, MARGIN) for seed in range(10)],
        "no structure": [random_table(seed) for seed in range(10)],
        "no structure, 66 sets": [random_table(seed, 12, 2) for seed in range(10)],
    }


@pytest.mark.parametrize("name", ["margin 0.3", "no structure", "no structure, 66 sets"])
def test_where_the_assumption_fails_it_is_far_better_than_kl_ucb_and_near_sets(name: str) -> None:
    robust, arms, sets = (
        regret(policy, broken_tables()[name], ROUNDS, 4).mean() for policy in (RobustUCB(), KLUCB(), SetThompson())
    )
    print(f"{name}: RobustUCB {robust:.0f}, KLUCB {arms:.0f}, SetThompson {sets:.0f}")
    assert robust < arms / 5 and robust < 4 * sets


@pytest.mark.parametrize("name", ["camera", "preference-matrix", "trap"])
def test_where_the_assumption_holds_it_is_about_as_good_as_kl_ucb(name: str) -> None:
    world = [PRESETS["trap"]() if name == "trap" else INSTANCES[name]()]
    robust, arms = (regret(policy, world, ROUNDS, 20)[0] for policy in (RobustUCB(), KLUCB()))
    error = np.hypot(robust.std(ddof=1), 1.3 * arms.std(ddof=1)) / np.sqrt(20)
    print(f"{name}: RobustUCB {robust.mean():.0f}, KLUCB {arms.mean():.0f}, error {error:.0f}")
    assert robust.mean() < 1.3 * arms.mean() + 2 * error


def evidence(world: Any, seed: int) -> Any:
    """The evidence after every block of rounds, and the evidence from which on the assumption counts as refuted."""
    return np.array([state.doubt.evidence.copy() for state in states(RobustUCB(), world, seed, ROUNDS)])


@pytest.mark.parametrize("name", ["camera", "preference-matrix", "trap", "mnl"])
def test_the_assumption_is_never_refuted_where_it_holds(name: str) -> None:
    world = PRESETS["trap"]() if name == "trap" else INSTANCES[name]()
    least = min((own[:, 1] - own[:, 0]).min() for own in (evidence(world, seed) for seed in range(5)))
    print(f"{name}: {least:.2f} from refutation")
    assert least > 1


def test_sets_of_equal_totals_are_not_taken_for_scattered_for_long() -> None:
    """Their arms earn very different things; what a set earns by few rounds, before it is given up, is too little."""
    world, found = INSTANCES["random-weak"](), []
    for seed in range(10):
        found.append([bool(state.scattered[0]) for state in states(RobustUCB(), world, seed, 10_000, 50)])
    print(np.sum(found, axis=1))
    assert np.mean(found) < 0.01


def test_a_set_that_is_known_to_be_better_than_the_indices_promise_is_played() -> None:
    """In these tables of 190 sets indices settle early on sets of 0.8, while the best one is known to be near 1.

    While the indices decided, mean regret was 1,015; now it is 378, and that of `SetThompson` 274.
    """
    worlds = [random_table(seed, 20, 2) for seed in (8, 13, 14)]
    robust = regret(RobustUCB(), worlds, ROUNDS, 4).mean()
    print(f"RobustUCB {robust:.0f}")
    assert robust < 600


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_where_the_assumption_fails_every_round_explores_soon_and_to_the_end(seed: int) -> None:
    shares = [state.share[0] for state in states(RobustUCB(), random_table(seed), seed, ROUNDS)]
    assert np.mean(shares[len(shares) // 2 :]) > 0.9


def test_sets_that_never_earn_anything_are_given_up() -> None:
    """Every other set earns nothing, and one of the others is best by far; several arms can be rewarded in a round."""
    table = np.random.default_rng(0).random((35, 3)) * 0.3
    table[::2] = 0.0
    table[34] = (0.7, 0.6, 0.5)
    world = Table(table, feedback="independent")
    robust, sets = (regret(policy, [world], ROUNDS, 10).mean() for policy in (RobustUCB(), SetThompson()))
    print(f"RobustUCB {robust:.0f}, SetThompson {sets:.0f}")
    assert robust < 2 * sets


PAIRS = [[0.5, 0.4], [0.15, 0.27], [0.15, 0.24], [0.12, 0.27], [0.12, 0.24], [0.27, 0.24]]
ONE_PAIR = [[0.1, 0.1], [0.15, 0.05], [0.15, 0.05], [0.15, 0.05], [0.15, 0.05], [0.15, 0.15]]


@pytest.mark.parametrize(
    ("world", "most"),
    [(Table(PAIRS, n=4, feedback="independent"), 300), (Table(ONE_PAIR), 700)],
    ids=["wide", "narrow"],
)
def test_a_handful_of_sets_does_not_hide_the_best_of_them(world: Any, most: float) -> None:
    """While a wrong prior hid it in a third of the runs, the regret was 2,500 and 1,300; now 130, and 270 to 530."""
    robust = regret(RobustUCB(), [world], ROUNDS, 20).mean()
    print(f"RobustUCB {robust:.0f}")
    assert robust < most


def test_the_set_that_is_played_most_is_recommended_once_sets_decide() -> None:
    """Nothing is recommended before; then the surest set, and in large doubt the best available one seen often."""
    world, found = broken_table(5, 0.2), []
    every = np.ones(world.n, np.bool_)
    for state in states(RobustUCB(), world, 2, 30_000):
        arms = RobustUCB().recommend(state, every)
        surer = np.sort(state.indices)[-world.k :].sum() < state.doubt.sure[0]
        assert len(arms) == (world.k if surer or doubt_of(state) >= MOST_DOUBT else 0)
        found.append(len(arms) > 0)
    assert not all(found) and all(found[-5:])
    most_played = state.table.arms[state.table.plays.argmax()]
    assert set(arms.tolist()) == set(most_played.tolist()) == set(world.best().tolist())
    state.doubt.evidence[0] = state.doubt.evidence[1]
    for arm in arms:
        other = RobustUCB().recommend(state, np.arange(world.n) != arm)
        assert len(other) == world.k and arm not in other
    assert RobustUCB().recommend(state, np.arange(world.n) < world.k - 1).tolist() == []


def test_a_needle_is_found() -> None:
    robust, blind = (regret(policy, [PRESETS["needle"]()], ROUNDS, 20).mean() for policy in (RobustUCB(), Uniform()))
    print(f"RobustUCB {robust:.0f}, Uniform {blind:.0f}")
    assert robust < blind / 2


# The targets, at 10^5 rounds and 200 runs.


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(12, 2), (20, 2), (40, 2), (10, 3), (17, 3)])
def test_in_larger_tables_without_structure_it_is_within_three_times_of_sets(n: int, k: int) -> None:
    """66 to 780 sets."""
    check_near_sets([random_table(seed, n, k) for seed in range(50)], 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*INSTANCES, "trap"])
def test_where_the_assumption_holds_it_costs_at_most_three_tenths_of_kl_ucb(name: str) -> None:
    world = [PRESETS["trap"]() if name == "trap" else INSTANCES[name]()]
    robust, arms = (regret(policy, world, 100_000, 200).mean() for policy in (RobustUCB(), KLUCB()))
    print(f"{name}: RobustUCB {robust:.1f}, KLUCB {arms:.1f}, ratio {robust / arms:.2f}")
    assert robust < 1.3 * arms


def check_near_sets(worlds: list[Any], runs: int) -> None:
    robust, arms, sets = (
        regret(policy, worlds, 100_000, runs).mean() for policy in (RobustUCB(), KLUCB(), SetThompson())
    )
    print(f"RobustUCB {robust:.0f}, KLUCB {arms:.0f}, SetThompson {sets:.0f}, ratio {robust / sets:.2f}")
    assert robust < 3 * sets


@pytest.mark.slow
def test_in_tables_without_structure_it_is_within_three_times_of_sets() -> None:
    check_near_sets([random_table(seed) for seed in range(200)], 1)


@pytest.mark.slow
def test_in_mixed_logits_that_break_the_assumption_it_is_within_three_times_of_sets() -> None:
    check_near_sets(list(mixed_logits(20).values()), 10)


@pytest.mark.slow
def test_with_real_slates_it_is_within_three_times_of_sets() -> None:
    if not SLATES.exists():
        pytest.skip(f"{NOT_HERE}the log of slates, which is no part of the repository")
    check_near_sets([slates()], 200)
