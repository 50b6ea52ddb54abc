"""Audit real runs against the paper's lemmas: check every round, and compute both sides of every lemma.

With L = log T, on the event that all confidence bounds are valid:

    sum lemma         2 sqrt(alpha k n t_l L) >= k t_l P*_l - sum of Q(s_t) up to t_l - n P*_l
    strong sum lemma  sqrt(4 alpha k n L (t_l - (l/k) t'_l)) >= sum over i <= l of P*_i t_l + (k - l) P*_l t_l
                          - sum of Q(s_t) up to t_l - sum over i < l of delta_il (t_i - t'_i) - n P*_l
    decomposition     R(T) <= 2 sqrt(alpha k n (t_k - t'_k) L) + sum over l < k of delta_lk (t_l - t'_l) + n P*_k
    sub-optimal plays t_l - t'_l <= 40 alpha l k n L / (Delta_l + epsilon)^2, or 40 alpha l k n L / epsilon^2
"""

import dataclasses
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from setwise.environments.tabulated import can_tabulate, tabulated
from setwise.lazy_compiler import load_compiler
from setwise.seeding import stream, stream_key
from setwise.simulation.checks import check_pair, task_of
from setwise.simulation.failures import failure_of
from setwise.simulation.play import FINE, STOPPED, Record, new_record
from setwise.simulation.simulate import Interrupted, run_all
from setwise.simulation.trial import is_tested, try_out
from setwise.theory.bounds import plays_bound
from setwise.theory.dynamics import (
    INVALID,
    LOWER,
    PAIRS,
    ROUNDING,
    UNDER,
    UNSELECTED,
    UPPER,
    Trail,
    audited_play,
    new_trail,
)
from setwise.theory.gaps import Gaps, gaps
from setwise.types import Floats, InputError, Ints
from setwise.validation import check_range, number, whole_number

MOST_ROUNDS = 10**10


@dataclasses.dataclass(frozen=True)
class Violation:
    """The first violation of Lemma 1: run and arm from 0, round from 1, and the two sides."""

    run: int
    round: int
    arm: int
    half: str
    index: float
    rho: float


@dataclasses.dataclass(frozen=True, eq=False)
class Sides:
    """The two sides of an inequality, `left` <= `right`, one row per run."""

    left: Floats
    right: Floats

    @property
    def failures(self) -> int:
        """Number of entries that violate it, up to rounding."""
        scale = np.maximum(np.abs(self.left), np.abs(self.right))
        return int((self.left > self.right + 1e-9 * scale).sum())

    @property
    def tightest(self) -> float:
        """The largest left / right over entries with a positive right side."""
        positive = self.right > 0
        return float((self.left[positive] / self.right[positive]).max()) if positive.any() else math.nan


@dataclasses.dataclass(frozen=True, eq=False)
class Audit:
    """The audit of a policy's runs in a world.

    arms: of s* in descending order of P(a|s*)
    lemma_1: whether no round of any run violates either half
    pairs: (arm, round) pairs on which it was checked; upper, lower: number of violations of each half
    violation: the first of them, or None
    printed: number of (run, arm) pairs that violate the lower half with N_i(T) for N_i(t), as the paper prints it
    invalid: number of (arm, round) pairs with an invalid confidence bound
    invalid_runs: number of runs with one; failure_bound: its probability in a run by the corrected lemma
    widest: the largest |C - sum of P| over the width of the confidence bound
    under: number of pairs of an arm of s* and a round with an index below P(a|s*)
    unselected: number of rounds after t_l that lack one of a_1, ..., a_l
    last_rounds, best_plays: t_l and t'_l, one row per run
    plays: t_l - t'_l against the lemma on sub-optimal plays
    sums, strong_sums: the sum lemma and the strong sum lemma, for every l
    decomposition: R(T) against the regret decomposition
    regret, pulls: R(T) of each run, and the plays of each arm
    """

    policy: str
    environment: str
    horizon: int
    runs: int
    seed: int
    alpha: float
    arms: tuple[int, ...]
    lemma_1: bool
    pairs: int
    upper: int
    lower: int
    violation: Violation | None
    printed: int
    invalid: int
    invalid_runs: int
    failure_bound: float
    widest: float
    under: int
    unselected: int
    last_rounds: Ints
    best_plays: Ints
    plays: Sides
    sums: Sides
    strong_sums: Sides
    decomposition: Sides
    regret: Floats
    pulls: Ints

    @property
    def holds(self) -> bool:
        """Whether the runs satisfy every statement of the proof."""
        return self.lemma_1 and not (
            self.invalid
            + self.under
            + self.unselected
            + self.plays.failures
            + self.sums.failures
            + self.strong_sums.failures
            + self.decomposition.failures
        )

    @property
    def rows(self) -> list[list[str]]:
        """Table rows: the statement, whether it holds, and the numbers."""
        at = ""
        if self.violation is not None:
            v = self.violation
            at = f"; first in round {v.round:,} of run {v.run}: arm {v.arm} has {v.index:.6g}, rho is {v.rho:.6g}"
        return [
            _row("Lemma 1, upper half", self.upper, f"{self.upper:,} of {self.pairs:,} pairs violate it{at}"),
            _row("Lemma 1, lower half", self.lower, f"{self.lower:,} of {self.pairs:,} pairs violate it"),
            _row(
                "Lemma 1 as printed, N_i(T)",
                self.printed,
                f"{self.printed:,} of {self.pulls.size:,} pairs of arm and run violate it",
            ),
            _row(
                "validity of the confidence bounds",
                self.invalid,
                f"{self.invalid_runs} of {self.runs} runs have an invalid one, expected at most "
                f"{self.failure_bound * self.runs:.2g}; at most {self.widest:.1%} of the width was used",
            ),
            _row("index of an arm of s* at least P(a|s*)", self.under, f"{self.under:,} pairs of arm and round below"),
            _row("arm selection after t_l", self.unselected, f"{self.unselected:,} rounds lack an arm"),
            _sides("sub-optimal plays, t_l - t'_l", self.plays),
            _sides("sum lemma", self.sums),
            _sides("strong sum lemma", self.strong_sums),
            _sides("regret decomposition", self.decomposition),
        ]

    def __str__(self) -> str:
        head = f"{self.policy} in {self.environment}: {self.runs} runs of {self.horizon:,} rounds, alpha {self.alpha:g}"
        return "\n".join([head, *(f"{name}: {answer} ({figures})" for name, answer, figures in self.rows)])


def _row(name: str, failures: int, figures: str) -> list[str]:
    return [name, "no" if failures else "yes", figures]


def _sides(name: str, sides: Sides) -> list[str]:
    used = "" if math.isnan(sides.tightest) else f"; at most {max(0.0, sides.tightest):.2%} of the bound was used"
    return _row(name, sides.failures, f"{sides.failures} of {sides.left.size} fail{used}")


def audit(
    policy: Any,
    environment: Any,
    horizon: int,
    runs: int = 1,
    seed: int = 0,
    *,
    alpha: float | None = None,
    gaps_found: Gaps | None = None,
    tabulate: bool = False,
    threads: int | None = None,
    compiled: bool = True,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Audit:
    """Play a policy round by round and check the paper's lemmas in every round.

    The runs equal those of `simulate(..., fast_forward=False)` bit for bit. The policy needs a method
    `indices(state, out)`.

    alpha: of the confidence bounds; by default the policy's own, or 2
    gaps_found: the gaps of the world, if already known; else they are computed with the options of `survey_sets`
    tabulate: cache the means of a world with few sets, see `environments/tabulated.py`; the runs are the same
    """
    n, k = check_pair(policy, environment)
    if not hasattr(policy, "indices"):
        raise InputError(f"{type(policy).__name__} has no method indices(state, out), so there is nothing to audit")
    if getattr(environment, "missing", False):
        raise InputError(
            f"{type(environment).__name__} does not show every reward, and the lemmas are about arms whose rewards are "
            "all observed; audit a world without missing rewards"
        )
    horizon, runs = _check_rounds(horizon, runs)
    seed = whole_number("seed", seed, 0)
    threads = None if threads is None else whole_number("threads", threads, 1)
    found = gaps(environment, threads=threads, **options) if gaps_found is None else gaps_found
    alpha = number("alpha", getattr(policy, "alpha", 2.0) if alpha is None else alpha)
    check_range("alpha", alpha, 0.0, math.inf, strict=True)
    level = alpha * float(getattr(environment, "bound", 1.0)) ** 2 * math.log(horizon)
    task = task_of(policy, environment, n, k, False, False)
    if found.value > task.best_value + 1e-9:  # the environment's own best set is not optimal
        task = task._replace(best_value=found.value)
    stop, key = np.zeros(1, np.int64), stream_key(policy, environment)

    def prepare(run: int) -> tuple[Any, Any, Record, Trail]:
        rng = stream(seed, key, run)
        record = new_record(n, k, 1, True, False, stop)
        return policy.init(n, k, horizon, rng), rng, record, new_trail(n, found.arms, found.probabilities, level)

    world = tabulated(environment) if tabulate and can_tabulate(environment) else environment
    if compiled and not is_tested(policy, world):
        own = new_record(n, k, 1, True, False, np.zeros(1, np.int64))
        try_out(policy, world, (*prepare(0)[:2], own), task, horizon)
    loop, pair = _loop(policy, world, task, horizon, prepare(0), compiled)

    def play(run: int, running: dict[int, Record]) -> tuple[Trail, Record]:
        state, rng, record, trail = prepare(run)
        running[run] = record
        loop(*pair, state, rng, task, horizon, record, trail)
        if record.status[0] not in (FINE, STOPPED):
            raise InputError(failure_of(policy, environment, record, task))
        return trail, record

    ran = _play_all(play, runs, min(runs, threads or os.cpu_count() or 1), horizon, stop, progress)
    return _audit(policy, environment, found, horizon, seed, alpha, ran)


def _check_rounds(horizon: Any, runs: Any) -> tuple[int, int]:
    horizon = whole_number("horizon", horizon)
    if horizon < 2:
        raise InputError(f"horizon is {horizon}; the lemmas have log T in them, so it has to be at least 2")
    runs = whole_number("runs", runs, 1)
    if horizon * runs > MOST_ROUNDS:
        raise InputError(f"{runs} runs of {horizon} rounds are too many to check one by one; use at most 10^10 in all")
    return horizon, runs


def _play_all(
    play: Callable[[int, dict[int, Record]], tuple[Trail, Record]],
    runs: int,
    threads: int,
    horizon: int,
    stop: Ints,
    progress: Callable[[float], None] | None,
) -> list[tuple[Trail, Record]]:
    """Play the runs on threads and report progress; raise `Interrupted` if the user stops them."""
    running: dict[int, Record] = {}
    trails: dict[int, tuple[Trail, Record]] = {}

    def one_run(run: int) -> None:
        trail, record = play(run, running)
        if record.status[0] == FINE:
            trails[run] = trail, record
        del running[run]

    def share_done() -> float:
        under_way = sum(float(own.status[3]) for own in list(running.values()))
        return (len(trails) + under_way / horizon) / runs

    if run_all(one_run, runs, threads, stop, progress and (lambda: progress(share_done()))):
        raise Interrupted(None)
    return [trails[run] for run in range(runs)]


def _loop(
    policy: Any, environment: Any, task: Any, horizon: int, run: tuple[Any, Any, Record, Trail], compiled: bool
) -> tuple[Callable[..., None], tuple[Any, Any]]:
    if not compiled:
        return audited_play, (policy, environment)
    pair = policy, environment
    state, rng, record, trail = run
    what = f"{type(policy).__name__} for {type(environment).__name__}, audited"
    return load_compiler().compile_for(audited_play, *pair, state, rng, task, horizon, record, trail, what=what), pair


def _audit(
    policy: Any, environment: Any, found: Gaps, horizon: int, seed: int, alpha: float, ran: list[tuple[Trail, Record]]
) -> Audit:
    trails = [trail for trail, _ in ran]
    counts = np.array([trail.counts for trail in trails])
    last_rounds, best_plays = np.array([t.last_round for t in trails]), np.array([t.best_plays for t in trails])
    collected, regret = np.array([t.collected for t in trails]), np.array([own.curves[0, 0] for _, own in ran])
    pulls = np.array([trail.pulls for trail in trails])
    before_last = pulls - np.array([own.inside for _, own in ran])  # N_i(T) is counted before round T
    ratios = np.array([trail.ratio for trail in trails])
    plays, sums, strong, decomposition = _lemmas(found, horizon, alpha, last_rounds, best_plays, collected, regret)
    return Audit(
        policy=repr(policy),
        environment=repr(environment),
        horizon=horizon,
        runs=len(ran),
        seed=seed,
        alpha=alpha,
        arms=found.arms,
        lemma_1=not counts[:, [UPPER, LOWER]].any(),
        pairs=int(counts[:, PAIRS].sum()),
        upper=int(counts[:, UPPER].sum()),
        lower=int(counts[:, LOWER].sum()),
        violation=_first_violation(trails),
        printed=int(((before_last > 0) & (ratios * (1 + ROUNDING) < 1 - 1 / np.maximum(before_last, 1))).sum()),
        invalid=int(counts[:, INVALID].sum()),
        invalid_runs=int((counts[:, INVALID] > 0).sum()),
        failure_bound=min(1.0, 2.0 * int(environment.n) * horizon ** (1.0 - 2.0 * alpha)),
        widest=math.sqrt(max(float(trail.worst[0]) for trail in trails)),
        under=int(counts[:, UNDER].sum()),
        unselected=int(counts[:, UNSELECTED].sum()),
        last_rounds=last_rounds,
        best_plays=best_plays,
        plays=plays,
        sums=sums,
        strong_sums=strong,
        decomposition=decomposition,
        regret=regret,
        pulls=pulls.astype(np.int64),
    )


def _first_violation(trails: list[Trail]) -> Violation | None:
    for run, trail in enumerate(trails):
        if trail.first[0] >= 0:
            half = "lower" if trail.first[2] == LOWER else "upper"
            index, rho = trail.first_values.tolist()
            return Violation(run, int(trail.first[0]), int(trail.first[1]), half, index, rho)
    return None


def _lemmas(
    found: Gaps, horizon: int, alpha: float, last_rounds: Ints, best_plays: Ints, collected: Floats, regret: Floats
) -> tuple[Sides, Sides, Sides, Sides]:
    """Compute both sides of the lemmas, with rewards divided by B so that they are in [0, 1]."""
    world = found.environment
    n, k, log = int(world.n), int(world.k), math.log(horizon)
    bound = float(getattr(world, "bound", 1.0))
    best = found.probabilities / bound
    delta, wide, epsilon = found.delta / bound, found.Delta / bound, found.epsilon / bound
    earned = collected / bound
    other_plays = (last_rounds - best_plays).astype(float)
    most = [plays_bound(wide[j], epsilon, n, k, j + 1, log, alpha) if epsilon > 0 else math.inf for j in range(k)]
    plays = Sides(other_plays, np.broadcast_to(np.array(most), other_plays.shape))
    rounds = last_rounds.astype(float)
    sums = Sides(k * rounds * best - earned - n * best, 2.0 * np.sqrt(alpha * k * n * rounds * log))
    share = np.arange(1, k + 1) / k
    spent = np.array([[float(delta[:j, j] @ row[:j]) for j in range(k)] for row in other_plays])
    ahead = np.array([best[: j + 1].sum() + (k - j - 1) * best[j] for j in range(k)])
    strong = Sides(
        ahead * rounds - earned - spent - n * best,
        np.sqrt(4.0 * alpha * k * n * log * (rounds - share * best_plays)),
    )
    total = 2.0 * np.sqrt(alpha * k * n * other_plays[:, -1] * log) + spent[:, -1] + n * best[-1]
    return plays, sums, strong, Sides(regret, bound * total)
