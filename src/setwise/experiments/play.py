"""One policy in one environment, as data: what is played, and the digest that names its results."""

import dataclasses
import functools
from typing import Any

from setwise.digests import classes_of, code_digest, value_digest
from setwise.environments.tabulated import Tabulated, can_tabulate, tabulated
from setwise.identity import class_identity, identity
from setwise.seeding import stream, stream_key
from setwise.simulation.play import new_record, play
from setwise.simulation.result import Result
from setwise.simulation.simulate import can_fast_forward, check_pair, check_points, simulate, task_of

# What runs go through besides the methods of their classes.
ROOTS = (play, stream, stream_key, task_of, new_record, can_fast_forward, can_tabulate, tabulated, Tabulated)

# Raised when results that were kept before must not be used any more. 2: before, two classes of one name were taken for
# one, and their regret was counted from the wrong set.
STORE = 2


@dataclasses.dataclass(frozen=True, eq=False)
class Play:
    """Runs of one policy in one environment; how many there are is not part of it.

    policy, environment: objects
    horizon, seed, checkpoints, fast_forward, record: as in `simulate`; the checkpoints as rounds
    """

    policy: Any
    environment: Any
    horizon: int
    seed: int = 0
    checkpoints: tuple[int, ...] = ()
    fast_forward: bool | None = None
    record: bool = False

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
    ) -> "Play":
        """A play that can be played; else a sentence that says why not."""
        check_pair(policy, environment)
        points = tuple(check_points(checkpoints, horizon, spacing).tolist())
        return cls(policy, environment, horizon, seed, points, fast_forward, record)

    @functools.cached_property
    def digest(self) -> str:
        """A name for everything that the runs follow from: values, seed, code, and the versions of the libraries."""
        parts = (
            STORE, identity(self.policy), identity(self.environment), self.horizon, self.seed, self.checkpoints,
            self.fast_forward, self.record, self.code, library_versions(),
        )  # fmt: skip
        return value_digest(parts)[:32]

    @functools.cached_property
    def code(self) -> str:
        """The digest of all code that the runs go through."""
        return code_of(*self.classes)

    @property
    def classes(self) -> list[type]:
        """The classes of the policy, the environment, and what they are made of."""
        return [*classes_of(self.policy), *classes_of(self.environment)]

    @property
    def group(self) -> str:
        """What is compiled: plays of one group share it."""
        world = Tabulated if can_tabulate(self.environment) else type(self.environment)
        return " ".join(f"{cls.__module__}.{cls.__qualname__}" for cls in (*classes_of(self.policy), world))

    def run(self, runs: int, first: int = 0, **options: Any) -> Result:
        """Play that many runs from that number on."""
        return simulate(
            self.policy, self.environment, self.horizon, runs, self.seed,
            checkpoints=self.checkpoints, fast_forward=self.fast_forward, record=self.record,
            first=first, tabulate=True, **options,
        )  # fmt: skip


def code_of(*classes: type) -> str:
    """The digest of all code that runs of these classes go through."""
    return value_digest([_code_of_the_loop(), *map(class_identity, classes)])[:32]


@functools.cache
def _code_of_the_loop() -> str:
    return code_digest(*ROOTS)


@functools.cache
def library_versions() -> tuple[str, ...]:
    """The versions of what draws the random numbers and of what compiles."""
    from importlib.metadata import version

    return tuple(f"{name} {version(name)}" for name in ("numpy", "numba", "llvmlite"))
