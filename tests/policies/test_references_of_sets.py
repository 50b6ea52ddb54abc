"""Every round of index, sampling, MNL and set policies against independent plain references.

The policy plays a small world by hand, interpreted. In each round the reference must allow the set, learns the same
rewards, and must then have the same state.

The tests of laws have fixed seeds. Each requires p > 1e-6 of a chi-square, binomial or Kolmogorov-Smirnov test; with
other seeds, all together raise a false alarm with probability below 1e-4.
"""

import importlib
import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from reference import index_policies, mnl_policies, sampling_policies, set_policies
from reference.worlds import World, mnl
from seeded import generator

LEAST_P = 1e-6

COVERS = np.random.default_rng(7).random((7, 4)) * (np.random.default_rng(8).random((7, 4)) < 0.7)


def fixed_means(values: Sequence[float], k: int) -> World:
    """What an arm earns does not depend on the set."""
    return World(len(values), k, lambda chosen: [values[arm] for arm in chosen])


class Case(NamedTuple):
    """A policy and its reference.

    module, policy, parameters: where the policy is, and how it is made
    reference, options: the same of its reference
    facts: the fields that both have
    feedback: what the policy learns from; with "amounts" also rewards between 0 and `bound`
    """

    module: str
    policy: str
    parameters: dict[str, Any]
    reference: Any
    options: dict[str, Any]
    facts: tuple[str, ...]
    feedback: tuple[str, ...] = ("choice", "independent")

    def make(self) -> Any:
        return getattr(importlib.import_module(f"setwise.policies.{self.module}"), self.policy)(**self.parameters)

    def __str__(self) -> str:
        return ", ".join([self.policy, *(f"{name}={np.shape(v) or v}" for name, v in self.parameters.items())])


def same(module: str, reference: Any, facts: str, feedback: str = "choice independent", **parameters: Any) -> Case:
    """A case whose reference has the policy's name and parameters."""
    return Case(
        module, reference.__name__, parameters, reference, parameters, tuple(facts.split()), tuple(feedback.split())
    )


ANY = "choice independent amounts"
COUNTS = "pulls reward indices"

INDEX_CASES = [
    same("kl_ucb", index_policies.KLUCB, COUNTS),
    same("kl_ucb", index_policies.KLUCB, COUNTS, ANY, bound=2.5, alpha=0.3),
    same("ucb_v", index_policies.UCBV, COUNTS + " squares"),
    same("ucb_v", index_policies.UCBV, COUNTS + " squares", ANY, bound=2.5, zeta=1.2, c=0.1),
    same("kl_moss", index_policies.KLMOSS, COUNTS),
    same("kl_moss", index_policies.KLMOSS, COUNTS, ANY, bound=2.5),
    same("anytime_ucb", index_policies.AnytimeUCB, COUNTS + " rounds"),
    same("anytime_ucb", index_policies.AnytimeUCB, COUNTS + " rounds", ANY, bound=2.5, alpha=0.4),
    same("cucb", index_policies.CUCB, COUNTS + " rounds"),
    same("cucb", index_policies.CUCB, COUNTS + " rounds", ANY, bound=2.5, clip=True),
    same("comb_ucb1", index_policies.CombUCB1, COUNTS + " rounds"),
    same("comb_ucb1", index_policies.CombUCB1, COUNTS + " rounds", ANY, bound=2.5),
    same("doubling", index_policies.Doubling, COUNTS),
    same("doubling", index_policies.Doubling, COUNTS, first=5),
    same("doubling", index_policies.Doubling, COUNTS, restart=True),
]

SAMPLING_CASES = [
    same("thompson", sampling_policies.Thompson, "successes failures"),
    same("epsilon_greedy", sampling_policies.EpsilonGreedy, "pulls reward rounds"),
    same("epsilon_greedy", sampling_policies.EpsilonGreedy, "pulls reward rounds", ANY, c=0.5),
    same("uniform", sampling_policies.Uniform, ""),
]

EPOCHS = "offers purchases"

MNL_CASES = [
    same("mnl_ucb", mnl_policies.MNLUCB, EPOCHS + " epochs indices", "choice"),
    same("mnl_ucb", mnl_policies.MNLUCB, EPOCHS + " epochs indices", "choice", alpha=0.5),
    same("mnl_ucb", mnl_policies.MNLUCB, EPOCHS + " epochs indices", "choice", alpha=0.5, cap=False),
    Case("mnl_thompson", "MNLThompson", {}, mnl_policies.MNLThompsonBeta, {}, tuple(EPOCHS.split()), ("choice",)),
    Case(
        "mnl_thompson",
        "MNLThompson",
        {"gaussian": True},
        mnl_policies.MNLThompsonGaussian,
        {},
        tuple(EPOCHS.split()),
        ("choice",),
    ),
]

STAGES = "samples sums accepted active due stage passes"

SET_CASES = [
    same("escb1", set_policies.ESCB1, "pulls reward rounds"),
    same("escb1", set_policies.ESCB1, "pulls reward rounds", ANY, bound=2.5),
    same("escb1", set_policies.ESCB1, "pulls reward rounds", theoretical=True),
    same("escb2", set_policies.ESCB2, "pulls reward rounds"),
    same("escb2", set_policies.ESCB2, "pulls reward rounds", ANY, bound=2.5),
    same("escb2", set_policies.ESCB2, "pulls reward rounds", theoretical=True),
]

STAGE_CASES = [
    same("stagewise_elimination", set_policies.StagewiseElimination, STAGES),
    same("stagewise_elimination", set_policies.StagewiseElimination, STAGES, cumulative=True),
    same("stagewise_elimination", set_policies.StagewiseElimination, STAGES, ANY, bound=2.5, delta=0.4),
    same("stagewise_elimination", set_policies.StagewiseElimination, STAGES + " squares", bernstein=True),
    same(
        "stagewise_elimination",
        set_policies.StagewiseElimination,
        STAGES + " squares",
        ANY,
        bound=2.5,
        bernstein=True,
        cumulative=True,
    ),
]

LEARNED = "inverse vector weights"

TOPIC_CASES = [
    same("lsb_greedy", set_policies.LSBGreedy, LEARNED, covers=COVERS),
    same("lsb_greedy", set_policies.LSBGreedy, LEARNED, ANY, covers=COVERS, lam=0.3, alpha=0.2),
    same("lsb_greedy", set_policies.LSBGreedy, LEARNED, covers=COVERS, theoretical=True, delta=0.1, size=2.0),
]

WEIGHTS = (0.9, 0.2, 0.7, 0.4, 1.0, 0.1, 0.5)
MEANS = (0.3, 0.85, 0.1, 0.5, 0.02, 0.9, 0.6)
RARE = (0.3, 0.1, 0.02, 0.0, 0.25, 0.01, 0.05)
EASY = (0.98, 0.02, 0.95, 0.03, 0.0, 1.0, 0.05)


def world_of(feedback: str, n: int, k: int) -> World:
    """Logit choice, or means that do not depend on the set."""
    return mnl(WEIGHTS[:n], k) if feedback == "choice" else fixed_means(MEANS[:n], k)


def draw(world: World, chosen: list[int], rng: np.random.Generator, feedback: str, bound: float) -> list[float]:
    """The rewards of one round: 0 or the bound, or in between."""
    if feedback == "amounts":
        return [bound * p * float(rng.random()) for p in world.probabilities(chosen)]
    kind = "choice" if feedback == "choice" else "independent"
    return [bound * reward for reward in world.draw(chosen, rng, kind)]


def known(policy: Any, state: Any, name: str) -> Any:
    """A field of the policy's state, or of the policy's that it plays; the indices are asked for."""
    inner = getattr(state, "base", state)
    if name == "indices" and hasattr(policy, "indices"):
        out = np.full(len(inner.indices), np.nan)
        policy.indices(state, out)
        return out
    return getattr(inner, name)


def assert_same_facts(case: Case, policy: Any, state: Any, reference: Any, t: int) -> None:
    """That the policy knows after round t what its reference knows: counts exactly, and numbers up to rounding."""
    facts = reference.facts()
    for name in case.facts:
        found, wanted = known(policy, state, name), facts[name]
        exact = np.issubdtype(wanted.dtype, np.integer)
        alike = np.array_equal(found, wanted) if exact else np.allclose(found, wanted, 1e-9, 1e-12)
        assert alike, f"round {t}: {name} is {found}, not {wanted}"


def compare(case: Case, world: World, feedback: str, rounds: int, seed: int = 1) -> Any:
    """Play the rounds with the policy and its reference side by side; give the reference.

    Every set is checked, and what is known after each of the first fifty rounds, then after every tenth.
    """
    rng = generator(seed)
    policy = case.make()
    reference = case.reference(world.n, world.k, rounds, **case.options)
    state = policy.init(world.n, world.k, rounds, rng)
    bound = float(case.parameters.get("bound", 1.0))
    for t in range(1, rounds + 1):
        chosen = [int(arm) for arm in policy.select(state, rng)]
        assert reference.allowed(chosen), f"round {t}: {chosen}"
        rewards = draw(world, chosen, rng, feedback, bound)
        policy.update(state, np.array(chosen), np.array(rewards), rng)
        reference.update(chosen, rewards)
        if t <= 50 or t % 10 == 0:
            assert_same_facts(case, policy, state, reference, t)
    return reference


def both(cases: list[Case], *sizes: tuple[int, int]) -> Any:
    """Every case with every feedback that it accepts, in worlds of these sizes."""
    return pytest.mark.parametrize(
        ("case", "feedback", "n", "k"),
        [
            pytest.param(case, feedback, n, k, id=f"{case}-{feedback}-{n},{k}")
            for case in cases
            for feedback in case.feedback
            for n, k in sizes
        ],
    )


def after(reference: Any, pulls: Sequence[int], reward: Sequence[float]) -> Any:
    """The reference once its first arms were played and rewarded, by 0 or 1, so often."""
    reference.pulls[: len(pulls)] = pulls
    reference.reward[: len(reward)] = reward
    reference.squares = list(reference.reward)
    return reference


def test_references_have_the_values_worked_out_by_hand() -> None:
    horizon = 10**4
    for kind, time, expected in [
        (index_policies.KLUCB, 1, 0.5119181895),
        (index_policies.UCBV, 1, 0.7729912462),
        (index_policies.CUCB, horizon, 0.6716922189),
        (index_policies.CombUCB1, horizon + 1, 0.6716922189),
    ]:
        played = after(kind(1, 1, horizon), [100], [30.0])
        assert played.index_of(0, time) == pytest.approx(expected, abs=6e-11)
    for kind, expected in [(set_policies.ESCB1, 1.33429315), (set_policies.ESCB2, 1.37925271)]:
        played = after(kind(2, 2, horizon, theoretical=True), [100, 50], [30.0, 25.0])
        assert played.level(1000) == pytest.approx(22.36891315, abs=6e-9)
        assert played.index_of([0, 1], played.level(1000)) == pytest.approx(expected, abs=6e-9)
    gaussian = mnl_policies.MNLThompsonGaussian(20, 10, horizon)
    optimist = mnl_policies.MNLUCB(20, 10, horizon, cap=False)
    for policy in (gaussian, optimist):
        policy.offers[0], policy.purchases[0], policy.epochs = 400, 100.0, 50
    optimist.finish()
    assert gaussian.weight(0) + 1.5 * gaussian.sigma(0) == pytest.approx(1.5007645, abs=6e-8)
    assert optimist.index[0] == pytest.approx(1.302749, abs=6e-7)


@both(INDEX_CASES, (6, 3), (5, 1), (7, 4), (3, 3))
def test_index_policy_plays_as_its_reference(case: Case, feedback: str, n: int, k: int) -> None:
    compare(case, world_of(feedback, n, k), feedback, 150)


@both(SAMPLING_CASES, (6, 3), (5, 1), (3, 3))
def test_sampling_policy_counts_as_its_reference(case: Case, feedback: str, n: int, k: int) -> None:
    compare(case, world_of(feedback, n, k), feedback, 150)


@both(MNL_CASES, (6, 3), (5, 1), (7, 4), (3, 3))
def test_policy_for_logit_choice_plays_as_its_reference(case: Case, feedback: str, n: int, k: int) -> None:
    reference = compare(case, world_of(feedback, n, k), feedback, 400)
    assert reference.epochs > 80


@both(SET_CASES, (6, 3), (4, 1), (5, 4), (3, 3))
def test_policy_with_an_index_of_sets_plays_as_its_reference(case: Case, feedback: str, n: int, k: int) -> None:
    compare(case, world_of(feedback, n, k), feedback, 40 if case.policy == "ESCB1" else 100)


@pytest.mark.parametrize("case", SET_CASES, ids=str)
def test_policy_with_an_index_of_sets_finds_the_best_whatever_was_played(case: Case) -> None:
    policy, rng, n = case.make(), generator(33), 7
    for turn in range(15 if case.policy == "ESCB1" else 60):
        k = 1 + turn % (n - 1)
        state, reference = policy.init(n, k, 100, rng), case.reference(n, k, 100, **case.options)
        pulls = 1 + np.exp(rng.uniform(0, 8, n)).astype(np.int64)
        reference.pulls, reference.rounds = pulls.tolist(), int(pulls.sum())
        reference.reward = (rng.binomial(pulls, rng.random(n)) * float(case.parameters.get("bound", 1.0))).tolist()
        for name in ("pulls", "reward", "rounds"):
            getattr(state, name)[:] = reference.facts()[name]
        chosen = [int(arm) for arm in policy.select(state, rng)]
        assert reference.allowed(chosen), (reference.pulls, reference.reward, chosen)


@both(STAGE_CASES, (6, 3), (5, 1), (7, 4), (3, 3))
def test_elimination_plays_as_its_reference(case: Case, feedback: str, n: int, k: int) -> None:
    compare(case, world_of(feedback, n, k), feedback, 300)


@both([case._replace(feedback=("independent",)) for case in STAGE_CASES], (7, 2), (6, 3), (7, 4))
def test_elimination_ends_as_its_reference_in_a_world_of_wide_gaps(case: Case, feedback: str, n: int, k: int) -> None:
    reference = compare(case, fixed_means(EASY[:n], k), feedback, 1200)
    assert k < 3 or len(reference.accepted) >= 3
    assert k > 3 or len(reference.rejected) >= n - 3


@pytest.mark.parametrize("case", STAGE_CASES, ids=str)
def test_elimination_decides_at_the_end_of_any_stage_as_its_reference(case: Case) -> None:
    rng, policy, n, k = generator(32), case.make(), 6, 3
    bound, decided = float(case.parameters.get("bound", 1.0)), 0
    for _ in range(150):
        state, reference = policy.init(n, k, 50, rng), case.reference(n, k, 50, **case.options)
        stage = int(rng.integers(4, 11))
        count = 2 ** (stage + 1) - 3 if case.parameters.get("cumulative") else 2**stage - 1
        rewarded = [int(x) for x in rng.integers(0, count + 1, n)]
        reference.samples = [[bound] * often + [0.0] * (count - often) for often in rewarded]
        reference.stage, reference.passes = stage, 2**stage - 1
        facts = reference.facts()
        for name in ("samples", "sums", "squares", "stage", "passes"):
            getattr(state, name)[:] = facts[name]
        for _ in range(n // k):
            chosen = [int(arm) for arm in policy.select(state, rng)]
            rewards = draw(fixed_means(EASY[:n], k), chosen, rng, "independent", bound)
            policy.update(state, np.array(chosen), np.array(rewards), rng)
            reference.update(chosen, rewards)
        assert reference.stage == stage + 1
        assert_same_facts(case, policy, state, reference, 2)
        assert set(state.arms[: state.accepted[0]].tolist()) == reference.accepted
        decided += len(reference.accepted) + len(reference.rejected)
    assert decided > 100


@both(TOPIC_CASES, (7, 3), (7, 1), (7, 7))
def test_greedy_coverage_plays_as_its_reference(case: Case, feedback: str, n: int, k: int) -> None:
    compare(case, world_of(feedback, n, k), feedback, 40)


def test_a_policy_that_is_not_its_reference_is_found_out() -> None:
    world = world_of("choice", 6, 3)
    for case in [*INDEX_CASES[:2], INDEX_CASES[7]]:
        wrong = case._replace(options={**case.options, "alpha": 1.7})
        with pytest.raises(AssertionError, match="round"):
            compare(wrong, world, "choice", 200)
        with pytest.raises(AssertionError, match=r"round \d+: \["):
            compare(wrong._replace(facts=()), world, "choice", 200)


def assert_law(found: Counter[Any], law: dict[Any, float]) -> None:
    """That the counts are a sample of the law; what is expected less than five times is put together."""
    total = sum(found.values())
    assert set(found) <= {outcome for outcome, p in law.items() if p > 0}
    usual = [outcome for outcome, p in law.items() if p * total >= 5]
    assert len(usual) > 1
    counts = [found[outcome] for outcome in usual]
    expected = [law[outcome] * total for outcome in usual]
    rare = total - math.fsum(expected)
    if rare > 1e-9 * total:
        counts.append(total - sum(counts))
        expected.append(rare)
    assert stats.chisquare(counts, np.array(expected) * (total / math.fsum(expected))).pvalue > LEAST_P, found


def assert_same_law(found: Counter[Any], other: Counter[Any]) -> None:
    """That two counters are samples of one law; outcomes met less than ten times in all are put together."""
    usual = [outcome for outcome, count in (found + other).items() if count >= 10]
    assert len(usual) > 2
    table = np.array([[counts[outcome] for outcome in usual] for counts in (found, other)])
    rare = np.array([[sum(found.values())], [sum(other.values())]]) - table.sum(axis=1, keepdims=True)
    if rare.sum() >= 10:
        table = np.hstack([table, rare])
    assert stats.chi2_contingency(table).pvalue > LEAST_P, (found, other)


def uniform(outcomes: Any) -> dict[Any, float]:
    """The law under which all are equally likely."""
    outcomes = list(outcomes)
    return {outcome: 1 / len(outcomes) for outcome in outcomes}


def selected(policy: Any, state: Any, rng: np.random.Generator) -> tuple[int, ...]:
    """The set, in order of the arms' numbers."""
    return tuple(sorted(int(arm) for arm in policy.select(state, rng)))


EVERY_POLICY = [
    *{
        case.policy: case for case in reversed([*INDEX_CASES, *SAMPLING_CASES, *MNL_CASES, *SET_CASES, *STAGE_CASES])
    }.values(),
    MNL_CASES[-1],
    same("lsb_greedy", set_policies.LSBGreedy, "", covers=np.eye(5)),
]


@pytest.mark.parametrize("case", EVERY_POLICY, ids=str)
def test_every_first_set_is_equally_likely(case: Case) -> None:
    policy, rng = case.make(), generator(20)
    found = Counter(selected(policy, policy.init(5, 2, 100, rng), rng) for _ in range(2000))
    assert_law(found, uniform(combinations(range(5), 2)))


FILLED_UP = [MNL_CASES[-1], *(case for case in EVERY_POLICY if case.policy in ("CombUCB1", "ESCB1", "ESCB2"))]


@pytest.mark.parametrize("case", FILLED_UP, ids=str)
def test_first_rounds_are_filled_up_with_any_arm(case: Case) -> None:
    policy, rng = case.make(), generator(21)
    found: Counter[int] = Counter()
    for _ in range(1500):
        state = policy.init(5, 3, 100, rng)
        first = selected(policy, state, rng)
        policy.update(state, np.array(first), np.zeros(3), rng)
        again = set(first) & set(selected(policy, state, rng))
        assert len(again) == 1
        found[first.index(again.pop())] += 1
    assert_law(found, uniform(range(3)))


def test_elimination_tops_up_the_last_block_of_a_pass_with_any_active_arm() -> None:
    policy, rng = STAGE_CASES[0].make(), generator(22)
    state = policy.init(5, 2, 100, rng)
    counted: set[int] = set()
    for _ in range(2):
        chosen = selected(policy, state, rng)
        policy.update(state, np.array(chosen), np.array([1.0, 0.0]), rng)
        counted |= set(chosen)
    (left,) = set(range(5)) - counted
    found = Counter(selected(policy, state, rng) for _ in range(2000))
    assert_law(found, uniform(tuple(sorted((left, arm))) for arm in counted))


def frozen(case: Case, rounds: int, n: int = 6, k: int = 3) -> tuple[Any, Any, Any]:
    """The policy, its state and its reference after some rounds of choices."""
    rng, world = generator(23), mnl(WEIGHTS[:n], k)
    policy, reference = case.make(), case.reference(n, k, 1000, **case.options)
    state = policy.init(n, k, 1000, rng)
    for _ in range(rounds):
        chosen = list(selected(policy, state, rng))
        rewards = world.draw(chosen, rng, "choice")
        policy.update(state, np.array(chosen), np.array(rewards), rng)
        reference.update(chosen, rewards)
    return policy, state, reference


@pytest.mark.parametrize("rounds", [0, 2, 40])
def test_thompson_sampling_draws_its_sets_by_the_law_of_its_reference(rounds: int) -> None:
    policy, state, reference = frozen(SAMPLING_CASES[0], rounds)
    rng = generator(24)
    found = Counter(selected(policy, state, rng) for _ in range(3000))
    assert_same_law(found, Counter(reference.sample(rng) for _ in range(7500)))


@pytest.mark.parametrize("rounds", [0, 1, 3, 15])
@pytest.mark.parametrize("case", SAMPLING_CASES[1:], ids=str)
def test_sets_have_the_probabilities_of_the_reference(case: Case, rounds: int) -> None:
    policy, state, reference = frozen(case, rounds)
    rng = generator(25)
    assert_law(Counter(selected(policy, state, rng) for _ in range(4000)), reference.law())


@pytest.mark.parametrize("tied", [(), (0, 1, 2, 3), (2, 3, 4, 5)])
def test_epsilon_greedy_shares_the_last_places_among_arms_of_one_mean(tied: tuple[int, ...]) -> None:
    policy, reference = SAMPLING_CASES[2].make(), sampling_policies.EpsilonGreedy(6, 3, 100, c=0.5)
    rng = generator(26)
    state = policy.init(6, 3, 100, rng)
    for chosen in ([0, 1, 2], [3, 4, 5], [0, 1, 2], [3, 4, 5]):
        rewards = [0.5 if arm in tied else arm / 10 for arm in chosen]
        policy.update(state, np.array(chosen), np.array(rewards), rng)
        reference.update(chosen, rewards)
    assert_law(Counter(selected(policy, state, rng) for _ in range(4000)), reference.law())


def test_thompson_sampling_tosses_a_coin_for_rewards_between_0_and_the_bound() -> None:
    policy = SAMPLING_CASES[0]._replace(parameters={"bound": 2.0}).make()
    rng = generator(27)
    state = policy.init(3, 2, 100, rng)
    for _ in range(2000):
        policy.update(state, np.array([2, 0]), np.array([0.6, 1.5]), rng)
    assert (state.successes + state.failures).tolist() == [2000, 0, 2000]
    assert stats.binomtest(int(state.successes[2]), 2000, 0.3).pvalue > LEAST_P
    assert stats.binomtest(int(state.successes[0]), 2000, 0.75).pvalue > LEAST_P


# Offers and purchases: few, so that weights are wide open; many, of nearly equal weights; and of weights far apart.
HISTORIES = {
    "few": ([1, 2, 3, 1, 4, 2], [1, 0, 5, 2, 1, 1]),
    "many": ([2000000, 1000000, 500000, 200000, 300000, 800000], [602400, 300800, 150200, 60000, 89880, 239360]),
    "apart": ([40000, 10000, 20000, 5000, 9000, 30000], [32000, 100, 15000, 3900, 6900, 1000]),
}


def assert_weights(case: Case, reference: Any, weights: Any) -> None:
    """That the weights sampled before each epoch have their law: from Beta distributions, or from one normal number."""
    if "gaussian" not in case.parameters:
        for arm, column in enumerate(weights.T):
            law = stats.beta(1 + reference.offers[arm], 1 + reference.purchases[arm])
            assert stats.kstest(1 / (1 + column), law.cdf).pvalue > LEAST_P / 6
        return
    spread = np.array([reference.sigma(arm) for arm in range(6)])
    middle = np.array([reference.weight(arm) for arm in range(6)])
    least = weights.argmin(axis=1)
    z = (weights.min(axis=1) - middle[least]) / spread[least]
    open_below = weights.min(axis=1) < 1
    wanted = np.minimum(1.0, middle + z[:, None] * spread)
    assert np.allclose(weights[open_below], wanted[open_below], 1e-7)
    # Where all weights are cut off at 1, only that z is large is known.
    highest = float(((1 - middle) / spread).max())
    assert (z[open_below] < highest).all()
    share = stats.norm.cdf(highest) ** 3
    assert stats.binomtest(int(open_below.sum()), len(weights), share).pvalue > LEAST_P
    if open_below.sum() > 100:
        law = stats.kstest(z[open_below], lambda x: np.minimum(1.0, stats.norm.cdf(x) ** 3 / share))
        assert law.pvalue > LEAST_P


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("case", MNL_CASES[-2:], ids=str)
def test_sets_of_epochs_have_the_law_of_the_reference(case: Case, history: str) -> None:
    offers, purchases = HISTORIES[history]
    policy, rng = case.make(), generator(28)
    state = policy.init(6, 3, 1000, rng)
    held = list(selected(policy, state, rng))
    state.offers[:] = offers
    state.purchases[:] = purchases
    reference = case.reference(6, 3, 1000, **case.options)
    reference.offers, reference.purchases = list(offers), list(purchases)
    reference.update(held, [0.0, 0.0, 0.0])
    found: Counter[tuple[int, ...]] = Counter()
    weights: list[Any] = []
    for _ in range(2500):
        fresh = type(state)(*(field.copy() for field in state))
        policy.update(fresh, np.array(held), np.zeros(3), rng)
        found[selected(policy, fresh, rng)] += 1
        weights.append(fresh.indices)
    assert fresh.offers.tolist() == reference.offers
    assert_weights(case, reference, np.array(weights))
    assert_same_law(found, Counter(reference.sample(rng) for _ in range(7500)))


HOLDERS = ("KLUCB", "KLMOSS", "UCBV", "Doubling")
HOLDING = [case for case in INDEX_CASES if case.policy in HOLDERS]


def compare_held(case: Case, world: World, feedback: str, rounds: int) -> int:
    """As `compare`, with the policy learning at once what it holds its set for; give the longest time.

    Rewards are 0 or the bound, or 0 or 1 where the policy takes no others in blocks.
    """
    rng = generator(30)
    policy, reference = case.make(), case.reference(world.n, world.k, rounds, **case.options)
    state = policy.init(world.n, world.k, rounds, rng)
    bound = 1.0 if getattr(policy, "binary_blocks", False) else float(case.parameters.get("bound", 1.0))
    t, longest = 0, 0
    while t < rounds:
        chosen = [int(arm) for arm in policy.select(state, rng)]
        held = min(policy.certain_rounds(state, np.array(chosen)), rounds - t)
        totals = np.zeros(world.k)
        for passed in range(held):
            assert reference.allowed(chosen), f"{passed} of {held} rounds after round {t}: {chosen}"
            rewards = draw(world, chosen, rng, feedback, bound)
            reference.update(chosen, rewards)
            totals += rewards
        policy.update_many(state, np.array(chosen), totals, held)
        t, longest = t + held, max(longest, held)
        if t <= 50 or held > 1:
            assert_same_facts(case, policy, state, reference, t)
    return longest


@both([case._replace(feedback=case.feedback[:2]) for case in HOLDING], (6, 3), (7, 1))
def test_rounds_held_are_allowed_by_the_reference_and_absorbed_as_it_learns_them(
    case: Case, feedback: str, n: int, k: int
) -> None:
    assert compare_held(case, fixed_means(RARE[:n], k), feedback, 500) > 1


@pytest.mark.parametrize("case", STAGE_CASES, ids=str)
def test_elimination_holds_its_last_set_for_good(case: Case) -> None:
    assert compare_held(case, fixed_means(EASY[:6], 3), "independent", 1500) > 100


@both(MNL_CASES, (6, 3), (5, 1))
def test_epochs_are_absorbed_as_the_reference_learns_them(case: Case, feedback: str, n: int, k: int) -> None:
    rng, world = generator(31), mnl(WEIGHTS[:n], k)
    policy, reference = case.make(), case.reference(n, k, 1000, **case.options)
    state = policy.init(n, k, 1000, rng)
    for epoch in range(200):
        chosen = [int(arm) for arm in policy.select(state, rng)]
        totals, rounds = np.zeros(k), 0
        rewards = world.draw(chosen, rng, "choice")
        while sum(rewards) > 0:
            assert reference.allowed(chosen)
            reference.update(chosen, rewards)
            totals, rounds = totals + rewards, rounds + 1
            rewards = world.draw(chosen, rng, "choice")
        assert reference.allowed(chosen)
        reference.update(chosen, rewards)
        if rounds > 0:
            policy.update_many(state, np.array(chosen), totals, rounds)
        policy.update(state, np.array(chosen), np.zeros(k), rng)
        assert_same_facts(case, policy, state, reference, epoch)
