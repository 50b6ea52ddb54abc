"""One policy in one environment, as data, with the digest that keys its results."""

import dataclasses
import functools
from typing import Any

from setwise.digests import classes_of, code_digest, value_digest
from setwise.environments.tabulated import Tabulated, can_tabulate, tabulated
from setwise.identity import class_identity, identity
from setwise.seeding import stream, stream_key, world_key
from setwise.simulation.certificate import watch_of
from setwise.simulation.checks import (
    Request,
    can_fast_forward,
    check_certificate,
    check_pair,
    check_points,
    check_request,
    task_of,
)
from setwise.simulation.play import new_record, play
from setwise.simulation.result import Result
from setwise.simulation.simulate import Runs

# Code that runs use besides the methods of their classes.
ROOTS = (
    play, stream, stream_key, world_key, task_of, new_record, watch_of, can_fast_forward, can_tabulate, tabulated,
    Tabulated,
)  # fmt: skip

# Increase to invalidate stored results. 2: version 1 confused two classes of one name and counted regret from the wrong
# set.
STORE = 2


@dataclasses.dataclass(frozen=True, eq=False)
class Play:
    """Runs of one policy in one environment; their number is not part of it.

    policy, environment: objects
    horizon, seed, checkpoints, fast_forward, record, common, certificate: as in `simulate`; checkpoints are rounds
    """

    policy: Any
    environment: Any
    horizon: int
    seed: int = 0
    checkpoints: tuple[int, ...] = ()
    fast_forward: bool | None = None
    record: bool = False
    common: bool = False
    certificate: float | None = None

    @classmethod
    def of(
        cls,
        policy: Any,
        environment: Any,
        horizon: int,
        seed: int = 0,
        checkpoints: Any = 100,
        spacing: str = "log",
        fast_forward: bool | None = None,
        record: bool = False,
        common: bool = False,
        certificate: float | None = None,
    ) -> "Play":
        """Create a play; raise if the policy cannot play in the environment, or that cannot be tested."""
        check_pair(policy, environment)
        certificate = check_certificate(environment, certificate)
        points = tuple(check_points(checkpoints, horizon, spacing).tolist())
        return cls(policy, environment, horizon, seed, points, fast_forward, record, common, certificate)

    @functools.cached_property
    def digest(self) -> str:
        """Digest of all that determines the runs: values, seed, code, and library versions."""
        parts = (
            STORE, identity(self.policy), identity(self.environment), self.horizon, self.seed, self.checkpoints,
            self.fast_forward, self.record, self.common, self.certificate, self.code, library_versions(),
        )  # fmt: skip
        return value_digest(parts)[:32]

    @functools.cached_property
    def code(self) -> str:
        """Digest of all code that the runs use."""
        return code_of(*self.classes)

    @property
    def classes(self) -> list[type]:
        """The classes of the policy, the environment, and their nested named tuples."""
        return [*classes_of(self.policy), *classes_of(self.environment)]

    @property
    def group(self) -> str:
        """Key of the compiled code: plays of one group share it."""
        world = Tabulated if can_tabulate(self.environment) else type(self.environment)
        return " ".join(f"{cls.__module__}.{cls.__qualname__}" for cls in (*classes_of(self.policy), world))

    @functools.cached_property
    def request(self) -> Request:
        """The checked request for one run."""
        return check_request(
            self.policy, self.environment, self.horizon, 1, self.seed, self.checkpoints, "log", self.fast_forward,
            self.record, 0, True, None, False, self.common, self.certificate,
        )  # fmt: skip

    def run(self, runs: int, first: int = 0, threads: int | None = None, compiled: bool | None = None) -> Result:
        """Play `runs` runs, numbered from `first`, on threads of this process."""
        request = dataclasses.replace(self.request, runs=runs, first_run=first, compiled=compiled)
        return Runs(request).play_all(threads, None)


def code_of(*classes: type) -> str:
    """Return the digest of all code that runs of these classes use."""
    return value_digest([_code_of_the_loop(), *map(class_identity, classes)])[:32]


@functools.cache
def _code_of_the_loop() -> str:
    return code_digest(*ROOTS)


@functools.cache
def library_versions() -> tuple[str, ...]:
    """Return the versions of the libraries that draw random numbers and compile."""
    from importlib.metadata import version

    return tuple(f"{name} {version(name)}" for name in ("numpy", "numba", "llvmlite"))
