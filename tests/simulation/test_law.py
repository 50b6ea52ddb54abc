"""Fast-forward, round by round and the plain reference have one law of regret and of every arm's plays.

Each comparison is a two-sample Kolmogorov-Smirnov test at the level `LEVEL`. By Bonferroni all of them together, quick
and slow, raise a false alarm for one choice of seeds in ten thousand; the seeds are fixed. The tests at the end show
that other laws are detected.
"""

import dataclasses
import statistics
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

import setwise as sw
from reference import worlds
from reference.algorithm1 import play
from setwise import environments as models
from setwise.kernels.ranking import FEW_ARMS
from setwise.paper.instances import INSTANCES
from setwise.policies import POLICIES, UCB
from setwise.policies.ucb import UCBState
from setwise.testing import check_same_bits
from setwise.types import Floats, Generator, Ints


class Case(NamedTuple):
    """A comparison: in which world, with which alpha, how many runs of how many rounds, and of the reference.

    With an alpha of 2 sets change nearly every round until late; with an alpha of 0.1 they soon hold for long.
    """

    world: str
    feedback: str
    alpha: float
    runs: int
    horizon: int
    reference_runs: int = 0


FEEDBACKS = ("choice", "independent")
QUICK = [
    Case(world, feedback, alpha, 300, 2000)
    for world in ("mnl", "preference-matrix", "random-weak", "camera")
    for feedback in FEEDBACKS
    for alpha in (2.0, 0.1)
]
SLOW = [
    Case(world, feedback, alpha, runs, horizon)
    for world, alpha, runs, horizon in [
        ("mnl", 2.0, 2000, 10_000),
        ("mnl", 0.1, 2000, 10_000),
        ("random-utility", 2.0, 2000, 1000),
        ("random-utility", 0.1, 2000, 1000),
        ("preference-matrix", 2.0, 2000, 8000),
        ("preference-matrix", 0.1, 2000, 8000),
        ("random-weak", 2.0, 2000, 8000),
        ("random-weak", 0.1, 2000, 8000),
        ("camera", 2.0, 2000, 8000),
        ("camera", 0.1, 2000, 8000),
    ]
    for feedback in FEEDBACKS
]
REFERENCE = [
    Case("camera", "choice", 2.0, 1000, 1000, 150),
    Case("camera", "independent", 0.1, 1000, 1000, 150),
    Case("preference-matrix", "choice", 0.1, 1000, 1000, 150),
]
SLOW_REFERENCE = [
    Case(world, feedback, alpha, 2000, 1000, runs)
    for world, alpha, runs in [("camera", 2.0, 700), ("preference-matrix", 0.1, 700), ("mnl", 2.0, 300)]
    for feedback in FEEDBACKS
] + [Case("mnl", "choice", 0.1, 2000, 1000, 300)]

FALSE_ALARMS = 1e-4
COMPARISONS = sum(
    (1 + INSTANCES[case.world]().n) * engines
    for cases, engines in ((QUICK, 1), (SLOW, 1), (REFERENCE, 2), (SLOW_REFERENCE, 2))
    for case in cases
)
LEVEL = FALSE_ALARMS / COMPARISONS


def name_of(case: Case) -> str:
    return f"{case.world}, {case.feedback}, {case.alpha}"


class Sample(NamedTuple):
    """Final regret (runs) and plays (runs x arms)."""

    regret: Any
    pulls: Any


def world_of(case: Case) -> Any:
    make = INSTANCES[case.world]
    world = make(1) if case.world == "random-weak" else make()
    return world._replace(feedback=case.feedback)


def sample(case: Case, seed: int, policy: Any = None, **options: Any) -> Sample:
    """Runs of the package."""
    policy = policy or UCB(case.alpha)
    half = [case.horizon // 2]
    result = sw.simulate(policy, world_of(case), case.horizon, case.runs, seed, checkpoints=half, **options)
    return Sample(result.regret[:, -1], result.pulls)


@cache
def reference_sample(case: Case) -> Sample:
    """Runs of the reference, with the probabilities of a set worked out once."""
    world = {"camera": worlds.camera, "preference-matrix": worlds.preference_matrix, "mnl": worlds.mnl}[case.world]()
    if case.world != "mnl":
        remembered = cache(world.exact)
        world = dataclasses.replace(world, exact=lambda chosen: remembered(tuple(chosen)))
    runs = [play(world, case.horizon, s, case.alpha, feedback=case.feedback) for s in range(case.reference_runs)]
    return Sample(np.array([regret for regret, _ in runs]), np.array([pulls for _, pulls in runs]))


def least_p_value(left: Sample, right: Sample) -> float:
    """Of the tests of regret and of each arm's plays; regret is rounded, since ties of its few values must be ties."""
    columns = [(left.regret.round(6), right.regret.round(6)), *zip(left.pulls.T, right.pulls.T)]
    return min(stats.ks_2samp(*column).pvalue for column in columns)


def check_fast_forward(case: Case) -> None:
    least = least_p_value(sample(case, 1, fast_forward=True), sample(case, 2, fast_forward=False))
    print(f"{name_of(case)}: least p {least:.3g} (level {LEVEL:.2g})")
    assert least > LEVEL


def check_reference(case: Case) -> None:
    reference = reference_sample(case)
    for fast_forward in (True, False):
        least = least_p_value(sample(case, 3, fast_forward=fast_forward), reference)
        print(f"{name_of(case)}, {fast_forward=}: least p {least:.3g} (level {LEVEL:.2g})")
        assert least > LEVEL


@pytest.mark.parametrize("case", QUICK, ids=name_of)
def test_fast_forward_has_the_law_of_round_by_round(case: Case) -> None:
    check_fast_forward(case)


def test_sets_are_held_in_these_comparisons() -> None:
    """Short blocks of `choice` feedback are drawn as rounds are, to the same bits; others are not."""
    for case in QUICK:
        if case.feedback == "independent" and case.alpha == 0.1:
            fast, slow = (sample(case._replace(runs=10), 1, fast_forward=way) for way in (True, False))
            assert not np.array_equal(fast.pulls, slow.pulls)


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW, ids=name_of)
def test_fast_forward_has_the_law_of_round_by_round_in_many_runs(case: Case) -> None:
    check_fast_forward(case)


@pytest.mark.parametrize("case", REFERENCE, ids=name_of)
def test_both_have_the_law_of_the_plain_reference(case: Case) -> None:
    check_reference(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW_REFERENCE, ids=name_of)
def test_both_have_the_law_of_the_plain_reference_in_many_runs(case: Case) -> None:
    check_reference(case)


def test_another_alpha_is_noticed() -> None:
    for case in QUICK:
        if case.world == "camera" and case.alpha == 2.0:
            assert least_p_value(sample(case, 1), sample(case, 2, UCB(alpha=1.8))) < LEVEL


def test_another_alpha_than_that_of_the_reference_is_noticed() -> None:
    case = REFERENCE[0]
    assert least_p_value(sample(case, 3, UCB(alpha=1.5)), reference_sample(case)) < LEVEL


@sw.policy
class Overstaying(NamedTuple):
    """Not the law: holds its set for one round longer than it is certain."""

    policy: UCB

    def init(self, n: int, k: int, horizon: int, rng: Generator) -> UCBState:
        return self.policy.init(n, k, horizon, rng)

    def select(self, state: UCBState, rng: Generator) -> Ints:
        return self.policy.select(state, rng)

    def update(self, state: UCBState, chosen: Ints, rewards: Floats, rng: Generator) -> None:
        self.policy.update(state, chosen, rewards, rng)

    def certain_rounds(self, state: UCBState, chosen: Ints) -> int:
        return self.policy.certain_rounds(state, chosen) + 1

    def update_many(self, state: UCBState, chosen: Ints, totals: Floats, rounds: int) -> None:
        self.policy.update_many(state, chosen, totals, rounds)


def test_a_hold_that_is_one_round_too_long_is_noticed() -> None:
    case = Case("camera", "choice", 0.1, 300, 2000)
    overstaying = sample(case, 1, Overstaying(UCB(case.alpha)), compiled=False)
    least = least_p_value(overstaying, sample(case, 2, fast_forward=False))
    print(f"one round too long: least p {least:.3g} (level {LEVEL:.2g})")
    assert least < LEVEL


WORLDS: dict[str, Any] = {
    **{f"the paper's {name}": make() for name, make in INSTANCES.items()},
    **{name: make() for name, make in models.PRESETS.items()},
    "multinomial logit, many arms": models.MNL(np.linspace(1.0, 0.1, FEW_ARMS + 100), k=4),
    "all arms": models.MNL([1.0, 2.0, 3.0], k=3),
    "gumbel utility": models.RandomUtility([0.5, -1.0, 0.5, 2.0], k=2, noise="gumbel", scale=0.5),
    "utility by quantiles": models.RandomUtility([0.5, -1.0, 2.0], k=2, noise=statistics.NormalDist().inv_cdf),
    "independent": models.Independent([0.25, 0.5, 0.0, 0.25, 0.1], k=3),
    "prices": models.Scaled(models.MNL([1.5, 0.1, 0.3, 2.0, 0.7], k=3), [1.0, 9.0, 4.0, 0.0, 2.5]),
    "prices in a table": models.Scaled(sw.paper.camera(), [1.0, 0.5, 2.0, 0.1, 1.0, 7.0]),
}


def test_every_model_is_among_the_worlds() -> None:
    assert {type(world) for world in WORLDS.values()} == set(models.MODELS)


def with_feedback(world: Any, feedback: str) -> Any:
    if isinstance(world, models.Scaled):
        return world._replace(base=world.base._replace(feedback=feedback))
    return world._replace(feedback=feedback) if "feedback" in world._fields else world


@pytest.mark.slow
@pytest.mark.parametrize("feedback", FEEDBACKS)
@pytest.mark.parametrize("name", WORLDS)
def test_compiled_and_interpreted_runs_give_the_same_bits_in_every_world(name: str, feedback: str) -> None:
    world = with_feedback(WORLDS[name], feedback)
    check_same_bits(sw.Uniform() if world.feedback == "total" else UCB(bound=world.bound), world)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "feedback"),
    [
        (name, fed)
        for name, kind in POLICIES.items()
        for fed in FEEDBACKS
        if name != "lsb-greedy" and fed in kind.feedback
    ],
)
def test_compiled_and_interpreted_runs_of_every_policy_give_the_same_bits(policy: str, feedback: str) -> None:
    """In a table; with prices, if the policy takes rewards that are not 0 or 1."""
    kind = POLICIES[policy]
    amounts = "independent" in kind.feedback
    world = with_feedback(WORLDS["prices in a table" if amounts else "the paper's camera"], feedback)
    made = kind.for_world(world) if hasattr(kind, "for_world") else kind()
    if policy == "doubling":
        made = kind(UCB(bound=world.bound))
    check_same_bits(made._replace(bound=world.bound) if "bound" in kind._fields else made, world)
