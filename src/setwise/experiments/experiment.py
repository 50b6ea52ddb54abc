"""An experiment as data: policies, environments, horizons and number of runs."""

import dataclasses
import functools
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from setwise.engines import EngineLike, Progress, check_engine
from setwise.experiments.outcome import Order, Outcome
from setwise.experiments.plays import Play
from setwise.experiments.specs import ForWorld, make, policy_classes
from setwise.experiments.specs import environments as named_environments
from setwise.simulation.checks import LONGEST, check_certificate, check_confidence, check_pair
from setwise.types import InputError
from setwise.validation import shown, whole_number, yes_or_no

MOST = 10**6  # maximum number of runs and of checkpoints


class Planned(NamedTuple):
    """One play of an experiment: the labels of its environment and policy, its horizon, and the play."""

    environment: str
    policy: str
    horizon: int
    play: Play


class LeftOut(NamedTuple):
    """A policy that cannot play in an environment, and the reason."""

    environment: str
    policy: str
    reason: str


@dataclasses.dataclass(frozen=True, eq=False)
class Experiment:
    """Every policy in every environment.

    environments, policies: a mapping from labels, or a list, of objects or of names as on the command line, for example
        "random-weak:seed=3" and "ucb:alpha=0.5". A class with `for_world` is instantiated for each environment
    horizon: rounds per run; or several, to be compared
    runs, seed, checkpoints, spacing: as in `simulate`; at most 10^6 runs and 10^6 checkpoints
    title: of the report
    common: common random numbers for all policies, as in `simulate`
    certificate: confidence of a test of weak optimal set consistency in every run, as in `simulate`

    >>> experiment = Experiment(["camera"], ["ucb", "ucb:alpha=0.5"], horizon=1000, runs=2)
    >>> [(entry.environment, entry.policy, entry.horizon) for entry in experiment.entries]
    [('camera', 'ucb', 1000), ('camera', 'ucb:alpha=0.5', 1000)]
    """

    environments: Any
    policies: Any
    horizon: int | Sequence[int] = 100_000
    runs: int = 20
    seed: int = 0
    checkpoints: int | Sequence[int] = 100
    spacing: str = "log"
    title: str = ""
    common: bool = False
    certificate: float | None = None

    def __post_init__(self) -> None:
        worlds = {
            label: make(world, named_environments(), "environment") if isinstance(world, str) else world
            for label, world in _labelled("environments", self.environments).items()
        }
        if isinstance(self.horizon, str) or not isinstance(self.horizon, Iterable):
            horizons = [self.horizon]
        else:
            horizons = list(self.horizon)
        if not horizons:
            raise InputError("horizon is an empty list; give at least one number of rounds")
        lengths = tuple(whole_number("horizon", length, 1) for length in horizons)
        if max(lengths) > LONGEST:
            raise InputError(f"horizon is {max(lengths)}; it can be at most 10^12")
        if len(set(lengths)) != len(lengths):
            raise InputError(f"horizon is {list(lengths)}; each is to be there once")
        runs = whole_number("runs", self.runs, 1)
        if runs > MOST:
            raise InputError(f"runs is {runs}; it can be at most 10^6")
        _check_count(self.checkpoints)
        for name, value in {
            "environments": worlds,
            "policies": _labelled("policies", self.policies),
            "horizon": tuple(sorted(lengths)),
            "runs": runs,
            "seed": whole_number("seed", self.seed, 0),
            "common": yes_or_no("common", self.common),
            "certificate": check_confidence(self.certificate),
        }.items():
            object.__setattr__(self, name, value)
        for label in self.policies:
            if not any(entry.policy == label for entry in self.entries):
                reasons = [left.reason for left in self.left_out if left.policy == label]
                raise InputError(f"{label} can play in none of the environments: {reasons[0]}")

    @functools.cached_property
    def _found(self) -> tuple[list[Planned], list[LeftOut]]:
        entries, left_out = [], []
        for world_label, world in self.environments.items():
            for label, policy in self.policies.items():
                try:
                    player = _player(policy, world, self.certificate)
                    for length in self.horizon:  # type: ignore[union-attr]
                        play = Play.of(
                            player, world, length, self.seed, self.checkpoints, self.spacing, common=self.common,
                            certificate=self.certificate,
                        )  # fmt: skip
                        entries.append(Planned(world_label, label, length, play))
                except _CannotPlay as error:
                    left_out.append(LeftOut(world_label, label, str(error)))
        return entries, left_out

    @property
    def entries(self) -> list[Planned]:
        """The plays, environment by environment."""
        return self._found[0]

    @property
    def left_out(self) -> list[LeftOut]:
        """The pairs that cannot be played, with reasons."""
        return self._found[1]

    @property
    def orders(self) -> list[Order]:
        return [Order(entry.play, self.runs) for entry in self.entries]

    def run(
        self,
        results: str | None = None,
        jobs: int | None = None,
        progress: Progress | None = None,
        engine: EngineLike = "threads",
        address: str | None = None,
    ) -> "Finished":
        """Run the experiment.

        results: folder to store results in as they arrive; stored results are reused
        jobs: jobs at a time; by default one per core, here or in the cluster
        progress: callback, called with a label and the share done
        engine: "threads", "processes", "dask", or any open executor of `concurrent.futures`, which stays open; all give
            the same results. All but threads need classes that can be imported from a module, and a script guarded by
            `if __name__ == "__main__":`, like Python's multiprocessing
        address: of a Dask cluster, for example "tcp://192.0.2.7:8786"; by default a local one is started
        """
        from setwise.experiments.run_plays import play_all
        from setwise.experiments.store import Store

        jobs = None if jobs is None else whole_number("jobs", jobs, 1)
        check_engine(engine, address)
        store = None if results is None else Store(results)
        outcome, _ = play_all(self.orders, store, jobs, progress, engine=engine, address=address)
        return Finished(self, outcome, tuple(store.damaged) if store else ())

    def report(self, out: str, **options: Any) -> str:
        """Run the experiment and write the report; return the path of the page. Options as for `run`."""
        return self.run(**options).report(out)

    @staticmethod
    def read(path: str) -> "Experiment":
        """Read an experiment from a TOML file."""
        from setwise.experiments.toml_file import read_experiment

        return read_experiment(path)


class _CannotPlay(InputError):
    """The policy cannot play in this environment."""


def _player(policy: Any, world: Any, certificate: float | None) -> Any:
    """Return the policy for this environment; raise if it cannot play there, or the world cannot be tested."""
    if isinstance(policy, str):
        policy = make(policy, policy_classes(), "policy")
    try:
        if isinstance(policy, type | ForWorld) and hasattr(policy, "for_world"):
            policy = policy.for_world(world)
    except InputError as error:
        raise _CannotPlay(str(error)) from None
    check_contract_of(policy)
    try:
        check_pair(policy, world)
        check_certificate(world, certificate)
        policy.init(int(world.n), int(world.k), 1000, np.random.default_rng(0))
    except InputError as error:
        raise _CannotPlay(str(error)) from None
    return policy


def check_contract_of(policy: Any) -> None:
    """Raise if the object is not a policy at all, in any environment."""
    from setwise.declare import check_contract

    if isinstance(policy, type):
        raise InputError(f"{policy.__name__} is a class; give an object of it, for example {policy.__name__}()")
    check_contract(type(policy), "policy")


def _check_count(checkpoints: Any) -> None:
    """Raise if there are too many checkpoints, before computing them."""
    if isinstance(checkpoints, Sequence) and not isinstance(checkpoints, str):
        if len(checkpoints) > MOST:
            raise InputError(f"checkpoints has {len(checkpoints)} rounds; it can have at most 10^6")
    elif isinstance(checkpoints, numbers.Real) and float(checkpoints) > MOST:
        raise InputError(f"checkpoints is {checkpoints}; it can be at most 10^6")


def _labelled(what: str, given: Any) -> Mapping[str, Any]:
    """Return the objects by label: as given, or derived from their names or parameters."""
    if isinstance(given, Mapping):
        named = {str(label): thing for label, thing in given.items()}
    elif isinstance(given, str) or not isinstance(given, Iterable) or hasattr(given, "_fields"):
        raise InputError(f"{what} is {shown(given)}; give a list of them, or a mapping from labels")
    else:
        things = list(given)
        labels = [thing if isinstance(thing, str) else _words(thing) for thing in things]
        for label in labels:
            if labels.count(label) > 1:
                raise InputError(f"{what} has {label} more than once; give a mapping from labels that differ")
        named = dict(zip(labels, things))
    if not named:
        raise InputError(f"{what} is empty; give at least one")
    return named


def _words(thing: Any) -> str:
    """Return a label for an object: its class and its non-default parameters."""
    if isinstance(thing, type):
        return thing.__name__
    fields, defaults = getattr(thing, "_fields", ()), getattr(thing, "_field_defaults", {})
    changed = [
        f"{name}={getattr(thing, name)}"
        for name in fields
        if isinstance(getattr(thing, name), int | float | str) and getattr(thing, name) != defaults.get(name)
    ]
    return type(thing).__name__ + (f"({', '.join(changed)})" if changed else "")


@dataclasses.dataclass(frozen=True, eq=False)
class Finished:
    """A finished experiment.

    experiment: the definition
    outcome: the results of its plays
    notes: incidents, for example that the runs of a damaged file were played again
    """

    experiment: Experiment
    outcome: Outcome
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: tuple[Any, ...]) -> Any:
        """Return the result of an environment, a policy and, if several, a horizon: `finished["camera", "ucb"]`."""
        for entry in reversed(self.experiment.entries):
            if tuple(entry[: len(key)]) == key:
                return self.outcome.take(entry.play, self.experiment.runs)
        raise KeyError(key)

    def report(self, out: str) -> str:
        """Write the page, the figures and the data to a folder; return the path of the page."""
        from setwise.experiments.experiment_report import report_experiment

        return report_experiment(self, out)
