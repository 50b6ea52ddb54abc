"""A Ray cluster: processes of this machine, or any by address.

Ray's own tasks, and not joblib's back end for Ray: that is a pool of actors, which a lost process breaks. A task of a
lost process or machine is done again elsewhere, up to `RETRIES` times; so is one whose answer was lost before it was
fetched. What jobs have in common is put into Ray's store once.
"""

import contextlib
import dataclasses
import functools
import logging
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import IO, Any

from setwise.engines.connecting import Caller, check_listening, connected, listens, place_of
from setwise.engines.interrupting import interrupted_later
from setwise.engines.jobs import Engine, Forecast, Job, Queue, Report, Take
from setwise.engines.likeness import Facts, check_alike, check_here, facts, question
from setwise.engines.quiet import nothing_logged
from setwise.engines.sending import pack, pack_job, run_packed
from setwise.errors import InputError, SetwiseError, WorkerLost

WHAT = "a Ray cluster"
SCHEMES = ("", "ray")
TOKEN = (
    "wants a token that was not given; set RAY_AUTH_MODE=token, and have its token in ~/.ray/auth_token or in "
    "RAY_AUTH_TOKEN"
)
RETRIES = 3
LISTENING = 8.0  # seconds in which who listens has to answer as Ray does
PATIENCE = 20.0  # seconds to be welcomed then: a cluster starts a server of its own for every client from elsewhere
AHEAD = 2  # tasks that wait at the cluster for each one it can do
COUNT = 2.0  # seconds from one look at how many cores there are to the next
LOOK = 60.0  # seconds that a machine may take to answer
PROBE = 1.0  # seconds that a call takes before it is asked whether the head of the cluster is still there
PROBES = 3  # times that it has to be found gone
SILENCE = 15.0  # seconds that the head may take to answer; Ray would wait for a minute, and then end this process
SENDING = 300.0  # seconds that something may take to be sent or fetched
STOP = 10.0  # seconds that may pass until a lost cluster is let go
PATH = 103  # bytes of the path of a socket, at most
INSIDE = len("/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store")


class Ray(Engine):
    """Jobs on a Ray cluster."""

    def __init__(self, at_once: int | None = None, address: str | None = None) -> None:
        self.address = address
        self.limit = at_once
        self.stack = contextlib.ExitStack()
        try:
            self.link = self.stack.enter_context(_connected(at_once, address))
            self.ray, self.own = self.link.ray, self.link.own
            self.caller = Caller()
            self.stack.callback(self.caller.close)
            cores = self._cores()
            self.at_once = min(at_once or cores, cores)
        except BaseException:
            self.stack.close()
            raise

    def close(self) -> None:
        self.stack.close()

    @property
    def where(self) -> str:
        here = "of this machine" if self.own else "that this process is connected to"
        return here if self.address is None else f"at {self.address}"

    def _cores(self) -> int:
        return max(1, int(self._call(self.ray.cluster_resources).get("CPU", 1)))

    def _call(self, function: Any, *arguments: Any, patience: float = SILENCE, **options: Any) -> Any:
        """What a function of Ray returns; a sentence, if the cluster is lost: Ray itself would wait for it."""
        from concurrent.futures import wait

        if not self.ray.is_initialized():  # Ray would start another one
            raise self._lost()
        future = self.caller.begin(functools.partial(function, *arguments, **options))
        deadline, gone = time.monotonic() + patience, 0
        while not wait([future], PROBE).done:
            gone = 0 if self._listens() else gone + 1
            if gone == PROBES or time.monotonic() > deadline:
                raise self._lost() from None
        try:
            return future.result()
        except (SetwiseError, self.ray.exceptions.RayError):
            raise
        except Exception as error:
            if isinstance(error, OSError) or any(kind.__name__ == "RpcError" for kind in type(error).__mro__):
                raise self._lost() from None
            raise

    def _listens(self) -> bool:
        return self.link.head is None or listens(self.link.head)

    def _lost(self) -> WorkerLost:
        self.link.lost = True
        return WorkerLost(f"the Ray cluster {self.where} was lost")

    def do(self, jobs: Sequence[Job], take: Take, report: Report | None = None) -> None:
        packed = [pack_job(job) for job in jobs]
        commons = {id(job.common): job.common for job in jobs}
        shared = {key: pack(common) for key, common in commons.items()}
        names = {name for part in (*packed, *shared.values()) for name in part.names}
        ours = self._put(self._check_nodes(sorted(names)))
        places = {key: self._put(part.data) for key, part in shared.items()}
        task = self.ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
        queue, forecast = Queue(jobs), Forecast(jobs)
        busy: dict[Any, int] = {}
        told = looked = -1e9
        try:
            while queue or busy:
                if time.monotonic() - looked > COUNT:  # also finds out whether the cluster is still there
                    cores, looked = self._cores(), time.monotonic()
                most = self.limit if self.limit and not self.own else AHEAD * cores
                while queue and len(busy) < most:
                    number = queue.next()
                    own = ours, places[id(jobs[number].common)], packed[number].data
                    busy[self._call(_begin, task, own, patience=SENDING)] = number
                done, _ = self._call(self.ray.wait, list(busy), num_returns=1, timeout=0.2)
                for reference in done:
                    number = busy.pop(reference)
                    answer, seconds = self._answer(reference, jobs[number])
                    forecast.note(number, seconds)
                    take(number, answer)
                if report and (time.monotonic() - told > 0.2 or not busy):
                    told = time.monotonic()
                    report(jobs[next(iter(busy.values()), -1)].label, forecast.share())
        finally:
            for reference in () if self.own else busy:  # a Ray of our own is stopped as a whole
                if not self.link.lost:
                    with contextlib.suppress(Exception):
                        self._call(self.ray.cancel, reference, force=True)

    def _put(self, thing: Any) -> Any:
        return self._call(self.ray.put, thing, patience=SENDING)

    def _check_nodes(self, names: list[str]) -> Facts:
        """Refuse machines on which results could differ; the facts they have to have in common."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        def look(text: str) -> Any:  # goes by value, since it is inside a function: it needs no package
            return eval(text)

        ours, text = facts(names), question(names)
        nodes = [node for node in self._call(self.ray.nodes) if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
        if not nodes:
            raise WorkerLost(f"the Ray cluster {self.where} has no machine with a core to work on")
        places = [NodeAffinitySchedulingStrategy(node["NodeID"], soft=False) for node in nodes]
        tasks = [self.ray.remote(num_cpus=0, scheduling_strategy=place)(look) for place in places]
        looks = [self._call(task.remote, text) for task in tasks]
        for node, answer in zip(nodes, looks):
            name = node["NodeManagerHostname"]
            try:
                theirs = self._call(self.ray.get, answer, timeout=LOOK, patience=LOOK + SILENCE)
            except self.ray.exceptions.RayError as error:
                raise WorkerLost(f"the worker {name} does not answer ({type(error).__name__}); remove it") from None
            check_alike(ours, theirs, name)
        return ours

    def _answer(self, reference: Any, job: Job) -> Any:
        errors = self.ray.exceptions
        try:
            return self._call(self.ray.get, reference, patience=SENDING)
        except errors.RayTaskError as error:
            raise error.cause from None
        except errors.RayError as error:
            if not self._listens():
                raise self._lost() from None
            raise WorkerLost(
                f"{job.label} was tried {RETRIES + 1} times on the Ray cluster {self.where}, and each time its process "
                f"was lost ({type(error).__name__}), perhaps for want of memory"
            ) from None


def _begin(task: Any, arguments: tuple[Any, ...]) -> Any:
    """Send a task; the reference to its answer, which has a hash as soon as the cluster has taken the task."""
    reference = task.remote(*arguments)
    hash(reference)
    return reference


def _work(ours: Facts, common: bytes, data: bytes) -> tuple[Any, float]:
    """Do a job, on a worker."""
    check_here(ours)
    return run_packed(common, data)


@dataclasses.dataclass
class _Link:
    """A connection to Ray.

    ray: the library
    own: whether it is a Ray of our own
    head: where the head of the cluster listens, if that is known
    lost: whether the cluster was lost
    """

    ray: Any
    own: bool
    head: tuple[str, int] | None
    lost: bool = False


@contextlib.contextmanager
def _connected(at_once: int | None, address: str | None) -> Iterator[_Link]:
    """Ray, connected to the address; or as the user has it already; or started for as long as it is needed."""
    if address is not None and address != "auto":
        check_listening(address, WHAT, "ray://192.0.2.7:10001 or 192.0.2.7:6379", SCHEMES)
    with _quiet():
        try:
            import ray
        except ImportError:
            raise InputError("engine='ray' needs Ray, which is not installed: pip install 'ray[client]'") from None
    if ray.is_initialized():
        if address is not None:
            raise InputError(
                f"Ray is connected already, so that the address {address} cannot be taken; leave it out to use that "
                "connection, or call ray.shutdown() first"
            )
        yield _Link(ray, False, _head(ray))
        return
    folder = _short_folder() if address is None else ""
    link = None
    try:
        with _quiet(), nothing_logged("ray"):
            _start(ray, at_once, address, folder)
        link = _Link(ray, address is None, _head(ray, address))
        with nothing_logged("ray"), _nothing_printed():
            yield link
    finally:
        with _quiet(), nothing_logged("ray"):
            if link is not None and link.lost:
                _let_go(ray)
            else:
                ray.shutdown()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _head(ray: Any, address: str | None = None) -> tuple[str, int] | None:
    """Where the head of the cluster listens."""
    if address is not None and "://" in address:
        return place_of(address, SCHEMES)
    with contextlib.suppress(Exception):  # a user's own connection from elsewhere does not tell
        return place_of(ray.get_runtime_context().gcs_address, SCHEMES)
    return None


def _let_go(ray: Any) -> None:
    """Close the connection to a lost cluster, for which Ray may wait in vain, also at the end of this process."""
    import atexit
    from concurrent.futures import wait

    caller = Caller()
    with _raw_lines():
        if not wait([caller.begin(ray.shutdown)], STOP).done:
            atexit.unregister(ray.shutdown)
    caller.close()


def _short_folder() -> str:
    """A new folder for Ray, whose sockets in it have paths that are not too long."""
    usual = tempfile.gettempdir()
    long = len(os.fsencode(os.path.join(usual, "setwise-12345678"))) + INSIDE > PATH
    return tempfile.mkdtemp(prefix="setwise-", dir="/tmp" if long and os.access("/tmp", os.W_OK) else usual)


def _start(ray: Any, at_once: int | None, address: str | None, folder: str) -> None:
    options: Any = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address is None:
        options |= {"num_cpus": at_once or os.cpu_count() or 1, "include_dashboard": False}
        path = os.pathsep.join(os.path.abspath(place) for place in sys.path)
        # Modules are found by the workers where they are found here.
        try:
            with interrupted_later(), _environment("PYTHONPATH", path), _raw_lines():
                ray.init("local", _temp_dir=folder, _node_ip_address="127.0.0.1", **options)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            why = " ".join(str(error).split())[:300] or type(error).__name__
            raise WorkerLost(f"Ray could not be started on this machine ({why}); use engine='processes'") from None
        return
    grace = os.environ.get("RAY_CLIENT_RECONNECT_GRACE_PERIOD", "5")
    with _raw_lines() as lines, _environment("RAY_CLIENT_RECONNECT_GRACE_PERIOD", grace):
        if address != "auto":
            _check_answering(address)
        try:
            connected(lambda: ray.init(address, **options), address, WHAT, PATIENCE)
        except InputError:
            lines.seek(0)
            if b"InvalidAuthToken" in lines.read():
                where = "of this machine" if address == "auto" else f"at {address}"
                raise InputError(f"the Ray cluster {where} {TOKEN}") from None
            if address == "auto":
                raise InputError(
                    "the address is 'auto', and no Ray is found on this machine; start one with `ray start --head`, or "
                    "leave the address out"
                ) from None
            raise


def _check_answering(address: str) -> None:
    """Refuse who does not answer as Ray does, and a cluster that wants a token: Ray would try again and again."""
    try:
        import grpc
        from ray._private.grpc_utils import init_grpc_channel
    except ImportError:
        return
    asked = "RayletDriver/ClusterInfo" if "://" in address else "NodeInfoGcsService/GetClusterId"
    channel: Any = init_grpc_channel(address.rpartition("/")[2], options=(("grpc.enable_http_proxy", 0),))
    try:
        channel.unary_unary(f"/ray.rpc.{asked}")(b"", timeout=LISTENING)
    except grpc.RpcError as error:
        code = error.code().name
        if code == "UNAUTHENTICATED":
            raise InputError(f"the Ray cluster at {address} {TOKEN}") from None
        if code in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "UNKNOWN", "INTERNAL"):
            raise InputError(
                f"something else listens at {address}, not a Ray cluster; give HOST:6379 on a machine of the cluster, "
                "and ray://HOST:10001 elsewhere"
            ) from None
    finally:
        channel.close()


@contextlib.contextmanager
def _raw_lines() -> Iterator[IO[bytes]]:
    """What the compiled parts of Ray write to standard error goes to a file in here; what Python writes does not."""
    own: Any = sys.stderr
    with tempfile.TemporaryFile() as file:
        before = os.dup(2)
        with contextlib.suppress(Exception):
            own.flush()
        os.dup2(file.fileno(), 2)
        try:
            with contextlib.suppress(Exception):  # a standard error that is no file needs no care
                if own.fileno() == 2:
                    sys.stderr = os.fdopen(before, "w", 1, own.encoding, "replace", closefd=False)
            yield file
        finally:
            sys.stderr = own
            os.dup2(before, 2)
            os.close(before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What Ray says when it starts and stops does not belong on the user's terminal."""
    level = os.environ.get("RAY_BACKEND_LOG_LEVEL", "fatal")
    variables = _environment("RAY_USAGE_STATS_ENABLED", "0"), _environment("RAY_BACKEND_LOG_LEVEL", level)
    with warnings.catch_warnings(), variables[0], variables[1]:
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """A variable of the environment has a value in here, and for the processes that are started here."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextlib.contextmanager
def _nothing_printed() -> Iterator[None]:
    """Ray prints a paragraph to standard output for every process that is lost, and has no setting for that."""
    worker = sys.modules.get("ray._private.worker")
    printing = getattr(worker, "print_to_stdstream", None)
    if printing is None:
        yield
        return
    vars(worker)["print_to_stdstream"] = lambda *args, **options: None
    try:
        yield
    finally:
        vars(worker)["print_to_stdstream"] = printing
