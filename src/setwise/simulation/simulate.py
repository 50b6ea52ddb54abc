"""Many runs of one policy in one environment, on all cores."""

import math
import os
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from setwise.declare import check_contract, shown, whole_number
from setwise.environments.enumeration import stated_best, tolerance_of
from setwise.environments.tabulated import can_tabulate, tabulated
from setwise.places import explained_place, out_of_bounds, place_of
from setwise.seeding import stream, stream_key
from setwise.simulation.play import (
    ARM_TWICE,
    BETTER_THAN_BEST,
    FINE,
    NO_SUCH_ARM,
    STOPPED,
    WRONG_MEAN,
    WRONG_REWARD,
    WRONG_SIZE,
    WRONG_SUM,
    Record,
    Task,
    new_record,
    play,
)
from setwise.simulation.result import Result
from setwise.simulation.trial import check_randomness, is_tested, prints, try_out
from setwise.types import Feedback, InputError, Ints

LONGEST = 10**12


class Interrupted(KeyboardInterrupt):
    """A simulation was stopped from the keyboard; `result` has the finished runs, or None.

    They are those from the first run on up to one that was not finished, so that every run has its own number. What
    was finished beyond that is left out.
    """

    def __init__(self, result: Result | None) -> None:
        super().__init__()
        self.result = result


def simulate(
    policy: Any,
    environment: Any,
    horizon: int,
    runs: int = 1,
    seed: int = 0,
    *,
    checkpoints: int | Sequence[int] | Ints = 100,
    spacing: str = "log",
    fast_forward: bool | None = None,
    record: bool = False,
    first: int = 0,
    tabulate: bool = False,
    threads: int | None = None,
    compiled: bool = True,
    check_bounds: bool = False,
    progress: Callable[[float], None] | None = None,
    engine: str = "threads",
    address: str | None = None,
) -> Result:
    """Play a policy in an environment and return the regret.

    horizon: how many rounds a run has, up to 10^12; the policy is told
    runs: how many independent runs
    seed: a run follows from seed, policy, environment, its number, horizon, checkpoints and fast_forward alone
    checkpoints: how many rounds to record regret at, or which ones; the horizon is always the last
    spacing: of the checkpoints, "log" or "linear"
    fast_forward: play the rounds in which the set is certain at once (exact, the same law); by default wherever
        policy and environment can, except when recording
    record: also record every arm's index and rho(t), round by round
    first: the number of the first run, to add runs to those there are
    tabulate: look the means of a world of few sets up in a table, see `environments/tabulated.py`; the same runs
    threads: how many runs at a time; by default as many as there are cores, here or in the cluster
    compiled: False interprets the same code, for debugging; the results are the same bits
    check_bounds: check every index of compiled code, at some cost in speed; the results are the same bits. Otherwise
        only the first rounds of classes of your own are checked, because they are interpreted first
    progress: called now and then with the share of the work done
    engine: who plays: "threads" of this process, "processes", or a cluster, "dask" or "ray"; the same bits.
        All but threads need classes that are in a module, and a script that guards what it does by
        `if __name__ == "__main__":`, as Python's multiprocessing does
    address: of the cluster, for example "tcp://192.0.2.7:8786"; without, one is started on this machine
    """
    from setwise.engines import check_engine

    check_engine(engine, address)
    n, k = check_pair(policy, environment)
    if not is_tested(policy, environment):
        check_randomness(policy, environment)
    horizon = whole_number("horizon", horizon, 1)
    if horizon > LONGEST:
        raise InputError(f"horizon is {horizon}; it can be at most 10^12")
    runs = whole_number("runs", runs, 1)
    first = whole_number("first", first, 0)
    seed = whole_number("seed", seed, 0)
    at_once = None if threads is None else whole_number("threads", threads, 1)
    rounds = check_points(checkpoints, horizon, spacing)
    able = can_fast_forward(policy, environment)
    if record and not hasattr(policy, "indices"):
        raise InputError(
            f"{type(policy).__name__} has no method indices(state, out), so its indices cannot be recorded"
        )
    if record and fast_forward:
        raise InputError("record needs every round, so fast_forward has to be off; leave one of them out")
    fast = able and not record if fast_forward is None else able and fast_forward
    if engine != "threads":
        from setwise.simulation.pieces import simulate_in_pieces

        options = {"fast_forward": fast_forward, "record": record, "tabulate": tabulate, "compiled": compiled}
        options["check_bounds"] = check_bounds
        common = policy, environment, horizon, seed, tuple(rounds.tolist()), options
        return simulate_in_pieces(common, first, runs, engine, at_once, address, progress)

    task = task_of(policy, environment, n, k, fast, record)
    stretches = task.binary and hasattr(policy, "demand")  # also where they are not used: then the same is compiled
    stop = np.zeros(1, np.int64)
    key = stream_key(policy, environment)

    def prepare(run: int, stop: Ints = stop) -> tuple[Any, Any, Record]:
        rng = stream(seed, key, run)
        own = new_record(n, k, len(rounds), record, stretches, stop)
        return policy.init(n, k, horizon, rng), rng, own

    world = tabulated(environment) if tabulate and can_tabulate(environment) and task.least == k else environment
    loop: Callable[..., None] = play
    pair = policy, world
    prepared: dict[int, Any] = {first: prepare(first)}
    if compiled:
        trouble = None
        if not check_bounds and not is_tested(*pair):
            check_bounds = prints(*pair)
            if not check_bounds:
                trouble = try_out(*pair, prepare(first, np.zeros(1, np.int64)), task, horizon)
        loop, pair = _compiled_loop(*pair, prepared[first], task, rounds, check_bounds, trouble)
        if trouble is not None:
            raise trouble
    running: dict[int, Record] = {}
    finished: dict[int, Record] = {}

    def one_run(number: int) -> None:
        run = first + number
        state, rng, own = prepared.pop(run, None) or prepare(run)
        running[run] = own
        try:
            loop(*pair, state, rng, task, rounds, own)
        except (IndexError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            if not compiled and place_of(error) is None:
                _check_returns(policy, state, rng)
            if not isinstance(error, IndexError) or (not compiled and place_of(error) is None):
                raise
            raise InputError(_out_of_bounds(policy, environment, error, run, int(own.status[3]), compiled)) from error
        if own.status[0] == FINE:
            finished[run] = _without_buffers(own)
        elif own.status[0] != STOPPED:
            raise InputError(what_was_wrong(policy, environment, own, task))
        del running[run]

    def share_done() -> float:
        under_way = sum(float(own.status[3]) for own in list(running.values()))
        return (len(finished) + under_way / float(horizon)) / runs

    cores = at_once or os.cpu_count() or 1
    interrupted = run_all(one_run, runs, min(cores, runs), stop, progress and (lambda: progress(share_done())))
    complete = [finished[run] for run in takewhile(finished.__contains__, range(first, first + runs))]
    result = _result(policy, environment, horizon, seed, fast, rounds, first, complete) if complete else None
    if interrupted or result is None:
        raise Interrupted(result)
    return result


def run_all(
    one_run: Callable[[int], None], runs: int, threads: int, stop: Ints, report: Callable[[], None] | None
) -> bool:
    """Call `one_run` for every number on that many threads; return whether the user interrupted.

    The first error, or an interruption, stops the runs under way and starts no others.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    numbers = iter(range(runs))

    def work() -> None:
        for run in numbers:
            if stop[0] != 0:
                return
            try:
                one_run(run)
            except BaseException:
                stop[0] = 1
                raise

    interrupted = False
    workers = []
    with ThreadPoolExecutor(threads) as pool:
        try:
            for _ in range(threads):
                workers.append(pool.submit(work))
            waiting = set(workers)
            while waiting:
                _, waiting = wait(waiting, timeout=0.1)
                if report is not None:
                    report()
        except KeyboardInterrupt:
            interrupted = True
            stop[0] = 1
    for worker in workers:
        worker.result()
    return interrupted


def check_points(checkpoints: Any, horizon: int, spacing: str = "log") -> Ints:
    """The rounds to record at: so many, evenly or logarithmically spaced, or those given; the horizon is the last.

    >>> check_points(4, 1000).tolist(), check_points(4, 1000, "linear").tolist(), check_points([10, 20], 50).tolist()
    ([1, 10, 100, 1000], [250, 500, 750, 1000], [10, 20, 50])
    """
    if spacing not in ("log", "linear"):
        raise InputError(f"spacing is {spacing!r}; it can be 'log' or 'linear'")
    if np.ndim(checkpoints) == 0:
        count = whole_number("checkpoints", checkpoints, 1)
        if spacing == "log":
            points = np.rint(np.geomspace(1, horizon, count)) if count > 1 else np.array([horizon])
        else:
            points = np.rint(np.linspace(0, horizon, count + 1)[1:])
        points = np.unique(points.astype(np.int64))
        points = points[points >= 1]
    else:
        points = np.array([whole_number("a checkpoint", point, 1) for point in checkpoints], dtype=np.int64)
        if (np.diff(points) <= 0).any():
            raise InputError("checkpoints have to be in rising order, each once")
        if points.size and points[-1] > horizon:
            raise InputError(f"checkpoint {points[-1]} lies beyond the horizon {horizon}")
    if points.size == 0 or points[-1] != horizon:
        points = np.append(points, horizon)
    return points.astype(np.int64)


def check_pair(policy: Any, environment: Any) -> tuple[int, int]:
    """n and k, if the policy can play in the environment; else a sentence that says why not."""
    for thing, kind in ((policy, "policy"), (environment, "environment")):
        if isinstance(thing, type):
            raise InputError(f"{thing.__name__} is a class; give an object of it, for example {thing.__name__}()")
        check_contract(type(thing), kind)
    for size in ("n", "k"):
        with explained_place(type(environment)):
            if not hasattr(environment, size):
                raise InputError(
                    f"{type(environment).__name__} has no {size}; give it a field or a property of that name"
                )
    accepted = getattr(policy, "feedback", ("choice", "independent"))
    accepted = (accepted,) if isinstance(accepted, str) else accepted
    feedback = getattr(environment, "feedback", None)
    if feedback is not None and not any(feedback == kind for kind in accepted):
        raise InputError(
            f"{type(policy).__name__} learns from {' or '.join(accepted)} feedback; "
            f"{type(environment).__name__} gives {feedback} feedback, which UCB and others take"
        )
    if tuple(accepted) == ("choice",) and getattr(environment, "rewards", "binary") != "binary":
        raise InputError(
            f"{type(policy).__name__} learns only who was chosen, not what was paid, so rewards have to be 0 or 1; "
            f"{type(environment).__name__} does not say rewards='binary': use UCB or another that learns from amounts"
        )
    if getattr(policy, "needs_outside_option", False) and not getattr(environment, "outside_option", True):
        raise InputError(
            f"{type(policy).__name__} needs an outside option in every set; {type(environment).__name__} has a set in "
            "which an arm is rewarded in every round, so that an epoch would never end"
        )
    if plays_smaller(policy) and not getattr(environment, "smaller_sets", False):
        raise InputError(
            f"{type(policy).__name__} with pad=False plays sets of fewer than k arms, of which "
            f"{type(environment).__name__} says nothing; leave pad=False out"
        )
    most, bound = getattr(environment, "bound", 1.0), getattr(policy, "bound", None)
    if bound is not None and most > bound:
        name = type(policy).__name__
        better = f"{name}(bound={most:g})" if "bound" in policy._fields else f"{name} with a policy of bound={most:g}"
        raise InputError(f"{name} has bound={bound:g}, but a reward can be {most:g} here: use {better}")
    return int(environment.n), int(environment.k)


def plays_smaller(policy: Any) -> bool:
    """Whether the policy may play sets of fewer than k arms: its parameter `pad` is False."""
    return not getattr(policy, "pad", True)


def is_binary(environment: Any) -> bool:
    """Whether the feedback and the means say all about the rewards, by the class's own word."""
    return getattr(environment, "rewards", None) == "binary" and getattr(environment, "feedback", None) is not None


def can_fast_forward(policy: Any, environment: Any) -> bool:
    """Whether rounds in which the set is certain can be played at once."""
    return all(hasattr(policy, name) for name in ("hold", "absorb")) and (
        is_binary(environment) or (draws_many(environment) and not getattr(policy, "binary_blocks", False))
    )


def draws_many(environment: Any) -> bool:
    """Whether the sum over many rounds can be drawn, also from the environments among the fields."""
    inner = (field for field in environment if hasattr(field, "_fields") and hasattr(field, "means"))
    return hasattr(environment, "draw_many") and all(map(draws_many, inner))


def _feedback(environment: Any) -> Any:
    stated = getattr(environment, "feedback", None)
    return Feedback.choice if stated is None else stated


def task_of(policy: Any, environment: Any, n: int, k: int, fast: bool, record: bool) -> Task:
    """What the loop has to know of the pair."""
    feedback = Feedback(_feedback(environment))
    best = stated_best(environment)
    best_value = _value(environment, best)
    if not math.isfinite(best_value):
        raise InputError(f"{type(environment).__name__}.means gives {_means(environment, best)} for its best set")
    has_surrogate = hasattr(environment, "surrogate")
    binary = is_binary(environment)
    tolerance = k * tolerance_of(environment) + 1e-9 * best_value
    most = (1.0 if binary else float(getattr(environment, "bound", math.inf))) + tolerance
    return Task(
        n=n,
        k=k,
        least=1 if plays_smaller(policy) else k,
        feedback=feedback,
        binary=binary,
        fast_forward=fast,
        epochs=fast and getattr(policy, "epochs", False) and binary and feedback == Feedback.choice,
        record=record,
        has_surrogate=has_surrogate,
        best_value=best_value,
        best_surrogate=float(environment.surrogate(best)) if has_surrogate else 0.0,
        tolerance=tolerance,
        checked=not is_tested(policy, environment),
        most_mean=most,
        most_value=most if binary and feedback == Feedback.choice else math.inf,
        most_reward=float(getattr(policy, "bound", math.inf)),
    )


def _value(environment: Any, chosen: Ints) -> float:
    return float(sum(_means(environment, chosen)))


def _means(environment: Any, chosen: Ints) -> list[float]:
    means = np.zeros(len(chosen))
    environment.means(chosen, means)
    return means.tolist()


def _compiled_loop(
    policy: Any, world: Any, run: tuple[Any, Any, Record], task: Task, rounds: Ints, check_bounds: bool,
    trouble: Exception | None,
) -> tuple[Callable[..., None], tuple[Any, Any]]:  # fmt: skip
    """The loop compiled for this pair, and the pair as it takes it; trouble of the first rounds may explain why not."""
    from setwise.compiled import compile_for, plain

    pair = plain(policy), plain(world)
    state, rng, record = run
    try:
        return compile_for(play, *pair, state, rng, task, rounds, record, check_bounds=check_bounds), pair
    except InputError:
        _check_returns(policy, state, rng)
        place = trouble and place_of(trouble)
        if not place or isinstance(trouble, InputError):
            raise
        raise InputError(f"{place} raised {type(trouble).__name__}: {trouble}") from trouble


def _out_of_bounds(policy: Any, environment: Any, error: IndexError, run: int, done: int, compiled: bool) -> str:
    if not compiled:
        return out_of_bounds(error)
    return (
        f"{type(policy).__name__} in {type(environment).__name__}: {error} in run {run}, after round {done}; "
        "compiled=False shows the line"
    )


def _check_returns(policy: Any, state: Any, rng: Any) -> None:
    """Refuse what `init` and `select` return, if that is why the pair could not be compiled."""
    name = type(policy).__name__
    if not hasattr(state, "_fields"):
        raise InputError(f"{name}.init returned a {type(state).__name__}; it has to return a NamedTuple of arrays")
    try:
        chosen = policy.select(state, rng)
    except Exception:
        return
    if not isinstance(chosen, np.ndarray) or chosen.dtype.kind != "i" or chosen.ndim != 1:
        raise InputError(f"{name}.select returned {shown(chosen)}; it has to return an array of k whole numbers")


def _without_buffers(record: Record) -> Record:
    nothing: Any = np.zeros(0)
    return record._replace(
        last=nothing, since=nothing, inside=nothing, means=nothing, rewards=nothing, now=nothing, stretch=None
    )


def what_was_wrong(policy: Any, environment: Any, record: Record, task: Task) -> str:
    """One sentence for the status of a run that could not go on."""
    status, done, found, _ = record.status.tolist()
    if status == BETTER_THAN_BEST:
        played, best = record.last, stated_best(environment)
        return (
            f"{type(environment).__name__}.best() is {best.tolist()}, worth {task.best_value:.6g}, but "
            f"{type(policy).__name__} played {sorted(played.tolist())} in round {done + 1}, which is worth "
            f"{_value(environment, played):.6g}: regret would be negative, so best() has to be mended"
        )
    if status in (WRONG_MEAN, WRONG_SUM, WRONG_REWARD):
        return _what_cannot_be(environment, record, task)
    what = {
        WRONG_SIZE: f"{found} arms; a set has {'from 1 to ' if plays_smaller(policy) else ''}k={task.k}",
        NO_SUCH_ARM: f"arm {found}; arms are numbered from 0 to {task.n - 1}",
        ARM_TWICE: f"arm {found} twice; a set has distinct arms",
    }[status]
    return f"{type(policy).__name__}.select chose {what} (round {done + 1})"


def _what_cannot_be(environment: Any, record: Record, task: Task) -> str:
    """One sentence for means or rewards that cannot be."""
    status, done, arm, _ = record.status.tolist()
    name, chosen = type(environment).__name__, record.last.tolist()
    if status == WRONG_REWARD:
        reward = record.rewards[chosen.index(arm)]
        return (
            f"{name}: the reward of arm {arm} is {reward:g} in round {done + 1}; rewards are numbers from 0 to "
            f"{task.most_reward:g} a round"
        )
    means = ", ".join(f"{mean:g}" for mean in _means(environment, record.last))
    given = f"{name}.means gives {means} for the arms {', '.join(map(str, chosen))}"
    if status == WRONG_SUM:
        return f"{given}, {sum(_means(environment, record.last)):g} in all; with choice feedback it is at most 1"
    kind = "means of rewards of 0 and 1 are" if task.binary else "means are"
    most = "1" if task.binary else f"{getattr(environment, 'bound', math.inf):g}"
    return f"{given}, which is wrong for arm {arm}; {kind} numbers from 0 to {most}"


def _result(
    policy: Any, environment: Any, horizon: int, seed: int, fast: bool, rounds: Ints, first: int, records: list[Record]
) -> Result:
    recorded = len(records[0].index_rows) > 0
    regret, surrogate_regret, rho = np.array([own.curves for own in records]).transpose(1, 0, 2).copy()
    return Result(
        policy=repr(policy),
        environment=repr(environment),
        horizon=horizon,
        seed=seed,
        fast_forward=fast,
        rounds=rounds,
        regret=regret,
        pulls=np.array([own.pulls for own in records]),
        surrogate_regret=surrogate_regret if hasattr(environment, "surrogate") else None,
        indices=np.array([own.index_rows for own in records]) if recorded else None,
        rho=rho if recorded else None,
        names=getattr(environment, "names", None),
        smaller=np.array([own.smaller[0] for own in records]) if plays_smaller(policy) else None,
        first=first,
    )
