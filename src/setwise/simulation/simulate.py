"""Play many runs of one policy in one environment, on all cores."""

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from setwise.engines import EngineLike, check_engine
from setwise.environments.tabulated import can_tabulate, tabulated
from setwise.kernels.certificate import REFUTED
from setwise.places import place_of
from setwise.simulation.checks import Request, bound_of, check_request, plays_smaller, task_of
from setwise.simulation.failures import check_returns, failure_of, index_error
from setwise.simulation.play import FINE, STOPPED, Record
from setwise.simulation.players import Game, Player
from setwise.simulation.result import Result
from setwise.simulation.tiers import Tiers
from setwise.types import InputError, Ints
from setwise.validation import whole_number

AT_ONCE = 0.02  # seconds of work that are not worth a thread

cores = functools.cache(lambda: os.cpu_count() or 1)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a simulation; `result` has the finished runs, or None.

    It has the consecutive runs from the first on, so that every run keeps its number; runs finished after a gap are
    dropped.
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
    common: bool = False,
    certificate: float | None = None,
    record_indices: bool = False,
    first_run: int = 0,
    tabulate: bool = False,
    threads: int | None = None,
    compiled: bool | None = None,
    check_bounds: bool = False,
    progress: Callable[[float], None] | None = None,
    engine: EngineLike = "threads",
    address: str | None = None,
) -> Result:
    """Play a policy in an environment and return the regret.

    horizon: rounds per run, up to 10^12; the policy knows it
    runs: number of independent runs
    seed: a run depends only on seed, policy, environment, its number, horizon, checkpoints, fast_forward and common
    checkpoints: number of rounds to record regret at, or a list of them; the horizon is always the last
    spacing: of the checkpoints, "log" or "linear"
    fast_forward: play the rounds in which the set is certain at once (exact, the same distribution); by default
        wherever policy and environment support it, except when recording
    common: common random numbers: what a set earns depends only on seed, environment, run and round, so that all
        policies that play it there earn the same; round by round, see `simulation/common.py`
    certificate: confidence, such as 0.95, of a test of weak optimal set consistency in every run, which changes nothing
        else; `Result.certificate_of` has the answer
    record_indices: also record every arm's index and rho(t), round by round
    first_run: number of the first run, to extend earlier results
    tabulate: cache the means of an environment with few sets in a table, see `environments/tabulated.py`; the same runs
    threads: runs at a time; by default one per core, here or in the cluster
    compiled: True compiles the code, False interprets it, with the same bits; by default whichever is done first. Your
        own classes are interpreted up to 1,000 rounds in all, and chosen by time once `check_policy` or
        `check_environment` has passed
    check_bounds: check every index of compiled code, which is slower; the results are the same bits. Otherwise only the
        first rounds of your own classes are checked, because they are interpreted first
    progress: callback, called with the share done
    engine: "threads", "processes", "dask", or any open executor of `concurrent.futures`, which stays open; all give the
        same bits. All but threads need classes that can be imported from a module, and a script guarded by
        `if __name__ == "__main__":`, like Python's multiprocessing
    address: of a Dask cluster, for example "tcp://192.0.2.7:8786"; by default a local one is started
    """
    check_engine(engine, address)
    request = check_request(
        policy, environment, horizon, runs, seed, checkpoints, spacing, fast_forward, record_indices, first_run,
        tabulate, compiled, check_bounds, common, certificate,
    )  # fmt: skip
    at_once = None if threads is None else whole_number("threads", threads, 1)
    if engine != "threads":
        from setwise.simulation.chunks import simulate_in_chunks

        return simulate_in_chunks(request, engine, at_once, address, progress)
    try:
        ready = Runs(request)
    except KeyboardInterrupt:
        raise Interrupted(None) from None
    return ready.play_all(at_once, progress)


class Runs:
    """The runs of a request, on threads of this process."""

    def __init__(self, request: Request) -> None:
        self.request = own = request
        task = task_of(own.policy, own.environment, own.n, own.k, own.fast, own.record_indices)
        if own.certificate is not None:  # which relies on the bound
            task = task._replace(most_reward=min(task.most_reward, bound_of(own.environment)))
        world = own.environment
        if own.tabulate and can_tabulate(world) and task.least == own.k:
            world = tabulated(world)
        self.game = Game(own, world, task)
        self._tiers = Tiers(self.game)
        self._curves = np.zeros((own.runs, 3, len(own.rounds)))
        self._pulls = np.zeros((own.runs, own.n), np.int64)
        self._smaller = np.zeros(own.runs, np.int64)
        self._index_rows = np.zeros((own.runs, len(own.rounds) if own.record_indices else 0, own.n))
        kept = own.runs if own.certificate is not None else 0
        self._refuted = np.zeros(kept, np.int64)
        self._witnesses = np.zeros((kept, own.k + 1, own.k + 2))
        self._finished = bytearray(own.runs)
        self._idle: list[Player] = []
        self._playing: dict[int, Record] = {}

    def play_all(self, at_once: int | None, progress: Callable[[float], None] | None) -> Result:
        """Play all runs, so many at a time; Ctrl-C keeps the finished ones."""
        own, tiers = self.request, self._tiers
        watch = None if progress is None else lambda: progress(self._share_done())
        done, interrupted = 0, False
        try:
            while done < own.runs and not interrupted:
                runs = tiers.advance(done)
                self._idle.clear()
                count = min(at_once or cores(), runs) if tiers.compiled else 1
                if watch is None and runs * tiers.run_seconds < AT_ONCE:
                    count = 0
                play = functools.partial(self._play_after, done)
                interrupted = run_all(play, runs, count, self.game.stop, watch)
                done += runs
        finally:
            tiers.close()
        complete = self._finished.find(0) if 0 in self._finished else own.runs
        result = self._result(complete) if complete else None
        if interrupted or result is None:
            raise Interrupted(result)
        return result

    def _play_after(self, done: int, number: int) -> None:
        self._play_one(done + number)

    def _play_one(self, number: int) -> None:
        own, run = self.request, self.request.first_run + number
        player = self._idle.pop() if self._idle else self._tiers.new_player()
        record = self._playing[number] = player.record
        try:
            player.play(run)
        except (IndexError, TypeError, ValueError) as error:
            raise self._explained(error, player, run) from error
        if record.status[0] == FINE:
            self._curves[number] = record.curves
            self._pulls[number] = record.pulls
            self._smaller[number] = record.smaller[0]
            self._index_rows[number] = record.index_rows
            if record.watch is not None:
                self._refuted[number] = record.watch.counts[REFUTED]
                self._witnesses[number] = record.watch.witness
            self._finished[number] = 1
        elif record.status[0] != STOPPED:
            raise InputError(failure_of(own.policy, own.environment, record, self.game.task))
        del self._playing[number]
        self._idle.append(player)

    def _explained(self, error: Exception, player: Player, run: int) -> Exception:
        own, compiled = self.request, self._tiers.compiled
        if isinstance(error, InputError):
            return error
        if not compiled and place_of(error) is None:
            check_returns(own.policy, *player.start)
        if not isinstance(error, IndexError) or (not compiled and place_of(error) is None):
            return error
        done = int(player.record.status[3])
        return InputError(index_error(own.policy, own.environment, error, run, done, compiled))

    def _share_done(self) -> float:
        under_way = sum(float(record.status[3]) for record in list(self._playing.values()))
        return (sum(self._finished) + under_way / float(self.request.horizon)) / self.request.runs

    def _result(self, runs: int) -> Result:
        own = self.request
        regret, surrogate_regret, rho = self._curves[:runs].transpose(1, 0, 2).copy()
        return Result(
            policy=repr(own.policy),
            environment=repr(own.environment),
            horizon=own.horizon,
            seed=own.seed,
            fast_forward=own.fast,
            rounds=own.rounds,
            regret=regret,
            pulls=self._pulls[:runs],
            surrogate_regret=surrogate_regret if hasattr(own.environment, "surrogate") else None,
            indices=self._index_rows[:runs] if own.record_indices else None,
            rho=rho if own.record_indices else None,
            names=getattr(own.environment, "names", None),
            smaller=self._smaller[:runs] if plays_smaller(own.policy) else None,
            first=own.first_run,
            common=own.common,
            certificate=own.certificate,
            refuted=None if own.certificate is None else self._refuted[:runs],
            witnesses=None if own.certificate is None else self._witnesses[:runs],
        )


def run_all(
    one_run: Callable[[int], None], runs: int, threads: int, stop: Ints, watch: Callable[[], None] | None
) -> bool:
    """Call `one_run` for every number on several threads; return whether the user pressed Ctrl-C.

    The first error or Ctrl-C stops the active runs and starts no others. With 0 threads, this one plays, where Ctrl-C
    waits for the run to end.
    """
    if threads == 0:
        try:
            for run in range(runs):
                one_run(run)
        except KeyboardInterrupt:
            return True
        return False
    from setwise.engines.threads import on_threads

    numbers = iter(range(runs))

    def stop_all() -> None:
        stop[0] = 1

    def work() -> None:
        for run in numbers:
            if stop[0] != 0:
                return
            try:
                one_run(run)
            except BaseException:
                stop_all()
                raise

    try:
        on_threads(work, threads, stop_all, watch)
    except KeyboardInterrupt:
        return True
    return False
