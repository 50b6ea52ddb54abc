"""Policies of pairs and duels, round by round, against plain references written from the publications.

In every round the reference must allow the set that the policy selects, and after the feedback both states must agree.
The reference must also refuse sets: in every run it refuses some random set.

Statistical tests, with fixed seeds: laws of `select` from a frozen state, by chi-square on 4,000 calls, 13 tests; a
correct policy fails each with probability one in a million. Every allowed set is selected at times: no set is rarer
than 1 in 50, so a correct policy misses one in 1,000 calls with probability below one in a million.
"""

import importlib
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from reference import dueling_policies as dueling
from reference import pairwise_policies as pairwise
from reference.worlds import Feedback, World, mnl

FALSE_ALARM = 1e-6


def by_pairs(ahead: Any, k: int, nothing: float = 0.0) -> World:
    """P(i|s) = (1 - p_0) 2 / (k (k - 1)) sum of Q_ij over the others j of the set, with Q_ij = (1 + M_ij) / 2."""
    n = len(ahead)

    def exact(chosen: Sequence[int]) -> list[float]:
        size = len(chosen)
        if size == 1:
            return [1 - nothing]
        pairs = size * (size - 1) / 2
        return [(1 - nothing) * sum((1 + ahead[i][j]) / 2 for j in chosen if j != i) / pairs for i in chosen]

    return World(n, k, exact)


def cycle(n: int, margin: float) -> Any:
    """Rock, paper, scissors of n arms: each beats the next ones round the circle, up to half of them."""
    place = np.arange(n)
    after = (place[None, :] - place[:, None]) % n
    return margin * (np.sign((after > 0) * (n / 2 - after)))


def ladder(n: int, margin: float) -> Any:
    """Each arm beats every later one by the same margin."""
    place = np.arange(n)
    return margin * np.sign(place[None, :] - place[:, None])


UNEVEN = np.array(
    [
        [0.0, 0.1, 0.4, 0.2, 0.6],
        [-0.1, 0.0, 0.5, 0.3, 0.3],
        [-0.4, -0.5, 0.0, 0.7, 0.1],
        [-0.2, -0.3, -0.7, 0.0, 0.2],
        [-0.6, -0.3, -0.1, -0.2, 0.0],
    ]
)

WORLDS = {
    "logit": mnl((2.0, 1.3, 0.9, 0.5, 0.3, 0.1), k=3),
    "logit, always a winner": mnl((2.0, 1.3, 0.9, 0.5, 0.3, 0.1), k=3, outside=0.0),
    "pairs": by_pairs(UNEVEN, k=2, nothing=0.15),
    "ladder of pairs": by_pairs(ladder(5, 0.96), k=2),
    "ladder": by_pairs(ladder(6, 0.96), k=3, nothing=0.1),
    "cycle of pairs": by_pairs(cycle(5, 0.8), k=2),
    "cycle": by_pairs(cycle(6, 0.9), k=3, nothing=0.05),
    "steep logit": mnl((1.0, 3e-2, 1e-3, 3e-5, 1e-6, 3e-8), k=3, outside=0.0),
}


class Case(NamedTuple):
    """A policy `module.name(**parameters)` and the reference of the same parameters, in some of the worlds.

    given: what the policy drew before the first round and the reference has to be told, by the name in the state
    """

    name: str
    module: str
    reference: Any
    parameters: dict[str, Any]
    worlds: tuple[str, ...]
    rounds: int = 250
    horizon: int = 250
    given: tuple[str, ...] = ()
    feedback: Feedback = "choice"

    def play(self, world_name: str) -> tuple[Any, Any, Any, Any, World]:
        """The policy, its state, the generator, the reference and the world, before the first round."""
        world = WORLDS[world_name]
        policy = getattr(importlib.import_module(f"setwise.policies.{self.module}"), self.name)(**self.parameters)
        rng = np.random.default_rng(7)
        state = policy.init(world.n, world.k, self.horizon, rng)
        drawn = {name: getattr(state, name).tolist() for name in self.given}
        reference = self.reference(world.n, world.k, self.horizon, **drawn, **self.parameters)
        return policy, state, rng, reference, world


EVERYWHERE = tuple(WORLDS)
OUTSIDE = ("logit", "pairs", "ladder", "cycle")

CASES = [
    Case("MaxMinUCB", "max_min_ucb", pairwise.MaxMinUCB, {}, EVERYWHERE),
    Case("MaxMinUCB", "max_min_ucb", pairwise.MaxMinUCB, {"alpha": 0.2, "pad": False}, EVERYWHERE),
    Case("RecMaxMinUCB", "rec_max_min_ucb", pairwise.RecMaxMinUCB, {}, EVERYWHERE),
    Case("RecMaxMinUCB", "rec_max_min_ucb", pairwise.RecMaxMinUCB, {"alpha": 0.2}, EVERYWHERE),
    Case("WinnerBeatsAll", "winner_beats_all", pairwise.WinnerBeatsAll, {}, EVERYWHERE, given=("queue", "anchor")),
    Case(
        "WinnerBeatsAll",
        "winner_beats_all",
        pairwise.WinnerBeatsAll,
        {"c": 0.1, "pad": False},
        EVERYWHERE,
        given=("queue", "anchor"),
    ),
    Case("RUCB", "rucb", pairwise.RUCB, {}, EVERYWHERE),
    Case("RUCB", "rucb", pairwise.RUCB, {"alpha": 0.1}, EVERYWHERE),
    Case("MultiDueling", "multi_dueling", pairwise.MultiDueling, {}, EVERYWHERE),
    Case("MultiDueling", "multi_dueling", pairwise.MultiDueling, {"alpha": 0.2, "beta": 2.0, "pad": False}, EVERYWHERE),
    Case("Sparring", "sparring", dueling.Sparring, {}, EVERYWHERE),
    Case("Sparring", "sparring", dueling.Sparring, {"alpha": 1.0, "bound": 2.0}, OUTSIDE, feedback="independent"),
    Case("SelfSparring", "self_sparring", dueling.SelfSparring, {}, OUTSIDE),
    Case("SelfSparring", "self_sparring", dueling.SelfSparring, {"eta": 0.5}, OUTSIDE),
    Case("InterleavedFilter", "interleaved_filter", dueling.InterleavedFilter, {}, EVERYWHERE, 700, 2, ("candidate",)),
    Case(
        "InterleavedFilter",
        "interleaved_filter",
        dueling.InterleavedFilter,
        {"prune": False},
        EVERYWHERE,
        700,
        2,
        ("candidate",),
    ),
    Case("BeatTheMean", "beat_the_mean", dueling.BeatTheMean, {}, ("logit", "pairs", "cycle"), given=("lots",)),
    Case(
        "BeatTheMean", "beat_the_mean", dueling.BeatTheMean, {}, ("ladder of pairs", "steep logit"), 1400, 2, ("lots",)
    ),
    Case("BattlingDoubler", "battling_doubler", dueling.BattlingDoubler, {}, EVERYWHERE, given=("before",)),
    Case("BattlingMultiSBM", "battling_multi_sbm", dueling.BattlingMultiSBM, {}, EVERYWHERE, given=("current",)),
    Case("BattlingDuel", "battling_duel", dueling.BattlingDuel, {}, EVERYWHERE),
    Case("BattlingDuel", "battling_duel", dueling.BattlingDuel, {"alpha": 0.1}, EVERYWHERE),
]


def same(state: Any, facts: dict[str, Any]) -> str:
    """The first fact in which the policy's state differs from the reference, or nothing; nan means unknown."""
    for name, expected in facts.items():
        found = np.asarray(getattr(state, name), dtype=float)
        wanted = np.asarray(expected, dtype=float)
        if found.shape != wanted.shape or not ((found == wanted) | np.isnan(wanted)).all():
            return f"{name} is\n{found}\nand should be\n{wanted}"
    return ""


@pytest.mark.parametrize(
    ("case", "world_name"),
    [
        pytest.param(case, world, id=f"{case.name} {' '.join(f'{k}={v}' for k, v in case.parameters.items())}, {world}")
        for case in CASES
        for world in case.worlds
    ],
)
def test_every_round_is_one_of_the_reference(case: Case, world_name: str) -> None:
    policy, state, rng, reference, world = case.play(world_name)
    others = np.random.default_rng(8)
    refused = 0
    for played in range(case.rounds):
        chosen = policy.select(state, rng).tolist()
        assert reference.allowed(chosen), f"round {played + 1}: {chosen} cannot be selected; {reference.facts()}"
        refused += not reference.allowed(others.permutation(world.n)[: len(chosen)].tolist())
        rewards = world.draw(chosen, rng, case.feedback)
        policy.update(state, np.array(chosen), np.array(rewards), rng)
        reference.update(chosen, rewards)
        difference = same(state, reference.facts())
        assert not difference, f"round {played + 1}, set {chosen}, rewards {rewards}: {difference}"
    assert refused > 0 or case.name == "SelfSparring"


def after(case: Case, world_name: str, rounds: int) -> tuple[Any, Any, Any, Any, World]:
    """The policy, its state, the generator, the reference and the world, after some rounds."""
    policy, state, rng, reference, world = case.play(world_name)
    for _ in range(rounds):
        chosen = policy.select(state, rng).tolist()
        rewards = world.draw(chosen, rng, case.feedback)
        policy.update(state, np.array(chosen), np.array(rewards), rng)
        reference.update(chosen, rewards)
    return policy, state, rng, reference, world


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=f"{place} {case.name}") for place, case in enumerate(CASES) if case.name != "SelfSparring"],
)
@pytest.mark.parametrize("rounds", [0, 3, 12])
def test_every_set_of_the_reference_is_selected(case: Case, rounds: int) -> None:
    policy, state, rng, reference, world = after(case, "pairs" if "pairs" in case.worlds else "ladder of pairs", rounds)
    sizes = (2,) if case.parameters.get("pad", True) else (1, 2)
    everything = [chosen for size in sizes for chosen in itertools.permutations(range(world.n), size)]
    allowed = {frozenset(chosen) for chosen in everything if reference.allowed(chosen)}
    selected = {frozenset(policy.select(state, rng).tolist()) for _ in range(1000)}
    assert selected == allowed


BY_SETS = {
    "MaxMinUCB",
    "RecMaxMinUCB",
    "WinnerBeatsAll",
    "RUCB",
    "MultiDueling",
    "Sparring",
    "SelfSparring",
    "BattlingDuel",
}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=f"{place} {case.name}") for place, case in enumerate(CASES) if case.name in BY_SETS],
)
def test_a_set_that_comes_back_late_is_learnt_as_any_other(case: Case) -> None:
    policy, state, rng, reference, world = case.play("logit")
    for played in range(150):
        chosen = policy.select(state, rng).tolist()
        assert reference.allowed(chosen)
        if played % 3 == 2:
            chosen = rng.permutation(world.n)[: world.k].tolist()
        rewards = world.draw(chosen, rng, case.feedback)
        policy.update(state, np.array(chosen), np.array(rewards), rng)
        reference.update(chosen, rewards)
        assert not same(state, reference.facts())


def assert_law(found: Mapping[Any, int], law: Mapping[Any, float]) -> None:
    """Chi-square of the outcomes counted with the probabilities they should have."""
    assert set(found) <= set(law)
    total = sum(found.values())
    counts = [found.get(outcome, 0) for outcome in law]
    assert stats.chisquare(counts, [total * law[outcome] for outcome in law]).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    "name", ["MaxMinUCB", "RecMaxMinUCB", "RUCB", "MultiDueling", "Sparring", "BeatTheMean", "BattlingDuel"]
)
def test_all_pairs_are_equally_likely_before_anything_is_known(name: str) -> None:
    policy, state, rng, _, world = next(case for case in CASES if case.name == name).play("pairs")
    pairs = list(itertools.combinations(range(world.n), 2))
    found = Counter(tuple(sorted(policy.select(state, rng).tolist())) for _ in range(4000))
    assert_law(found, dict.fromkeys(pairs, 1 / len(pairs)))


def test_self_sparring_draws_sets_as_the_reference_does() -> None:
    case = next(case for case in CASES if case.name == "SelfSparring")
    policy, state, rng, reference, world = after(case, "logit", 12)
    other = np.random.default_rng(11)
    found = Counter(tuple(policy.select(state, rng).tolist()) for _ in range(4000))
    wanted = Counter(tuple(reference.sample(other)) for _ in range(12000))
    outcomes = [outcome for outcome in itertools.permutations(range(world.n), world.k) if wanted[outcome] >= 15]
    assert len(outcomes) > 30
    table = [[counts[outcome] for outcome in outcomes] for counts in (found, wanted)]
    for counts, row in zip((found, wanted), table, strict=True):
        row.append(sum(counts.values()) - sum(row))
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


def told(name: str, n: int, results: Sequence[tuple[int, int]]) -> tuple[Any, Any, Any, Any]:
    """The policy, its state, the generator and the reference after duels, the winner first; (-1, -1) has no winner."""
    case = next(case for case in CASES if case.name == name)
    policy = getattr(importlib.import_module(f"setwise.policies.{case.module}"), name)()
    rng = np.random.default_rng(5)
    state = policy.init(n, 2, 1000, rng)
    reference = case.reference(n, 2, 1000)
    for winner, loser in results:
        chosen, rewards = ([winner, loser], [1.0, 0.0]) if winner >= 0 else ([0, 1], [0.0, 0.0])
        policy.update(state, np.array(chosen), np.array(rewards), rng)
        reference.update(chosen, rewards)
    return policy, state, rng, reference


@pytest.mark.parametrize("name", ["RUCB", "BattlingDuel"])
@pytest.mark.parametrize(
    ("results", "champions", "hypothesis"),
    [
        ([(0, 1), (0, 2), (0, 3)] * 7 + [(-1, -1)] * 20, 4, 0),
        ([(0, 1), (1, 2), (2, 0)] * 8 + [(0, 3), (1, 3), (2, 3)] * 8, 0, None),
    ],
    ids=["a hypothesised best among four", "no potential winner"],
)
def test_the_first_arm_of_rucb_is_drawn_as_published(
    name: str, results: list[tuple[int, int]], champions: int, hypothesis: int | None
) -> None:
    policy, state, rng, reference = told(name, 4, results)
    assert len(reference.champions()) == champions
    assert reference.hypothesis == hypothesis
    law = reference.firsts()
    assert law == ({0: 1 / 2, 1: 1 / 6, 2: 1 / 6, 3: 1 / 6} if champions else dict.fromkeys(range(4), 1 / 4))
    assert_law(Counter(int(policy.select(state, rng)[0]) for _ in range(4000)), law)


def test_the_doubler_draws_its_opponent_from_the_epoch_before() -> None:
    case = next(case for case in CASES if case.name == "BattlingDoubler")
    policy, state, rng, reference, _ = after(case, "ladder of pairs", 35)
    before = dict(enumerate(reference.before))
    assert len(set(before.values()) - {0}) > 1
    choices = pairwise.largest(reference.bandit.indices(reference.steps + 1))
    law = {
        (y, x): count / (sum(before.values()) - before[y]) / len(choices)
        for y in choices
        for x, count in before.items()
        if x != y and count
    }
    assert_law(Counter(tuple(policy.select(state, rng).tolist()) for _ in range(4000)), law)


def test_references_have_the_values_worked_out_by_hand() -> None:
    wins = np.array([[0.0, 80.0, 90.0], [20.0, 0.0, 60.0], [10.0, 40.0, 0.0]])
    for kind, allowed in [(pairwise.MaxMinUCB, {0}), (pairwise.RecMaxMinUCB, {0, 1})]:
        reference = kind(3, 2, 1000, **({"pad": False} if kind is pairwise.MaxMinUCB else {}))
        reference.wins[:], reference.rounds = wins, 299
        bounds = [reference.u(i, j) for i, j in [(0, 1), (1, 0), (2, 0), (2, 1), (1, 2)]]
        assert bounds == pytest.approx([0.9706, 0.3706, 0.2706, 0.5706, 0.7706], abs=5e-5)
        assert reference.selections() == {frozenset(allowed)}
    beaten = pairwise.WinnerBeatsAll(2, 2, 1000, queue=[0, 1], anchor=[0])
    beaten.wins[:], beaten.rounds = [[0, 80], [20, 0]], 99
    assert [beaten.evidence(arm, [0, 1]) for arm in (0, 1)] == pytest.approx([0, 19.2745], abs=5e-5)
    assert beaten.unbeaten() == [0]
    relative = pairwise.RUCB(2, 2, 1000)
    assert relative.champions() == {0, 1}
    relative.wins[:], relative.rounds = [[0, 8], [2, 0]], 9
    assert [relative.u(0, 1), relative.u(1, 0)] == pytest.approx([1.1427, 0.5427], abs=5e-5)
    assert relative.champions() == {0, 1}
    relative.wins *= 10
    assert relative.u(1, 0) == pytest.approx(0.3084, abs=5e-5)
    assert relative.champions() == {0}
    candidate = dueling.InterleavedFilter(10, 2, 10**4, candidate=[0])
    candidate.compared[1] = 100
    assert candidate.radius(1) == pytest.approx(0.743384, abs=5e-7)
    assert dueling.BeatTheMean(10, 2, 10**4, lots=[]).radius(100) == pytest.approx(1.048116, abs=5e-7)
