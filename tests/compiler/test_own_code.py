"""All code of the package compiles without Numba, keeps what the compiler relies on, and has the same bits compiled."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setwise as sw
from setwise.compiled import DEFAULTS
from setwise.compiler.arguments import kind_of
from setwise.compiler.compile import compile_function
from setwise.compiler.program import Program
from setwise.environments import MNL, PRESETS, Scaled
from setwise.simulation.checks import check_request
from setwise.simulation.play import play
from setwise.simulation.simulate import Runs

SMALL = MNL(np.linspace(1.0, 0.1, 7), k=3)
TOPICS = PRESETS["coverage"]()
NAMES = sorted(sw.policies.NAMES.values())
SEARCHES = {"ESCB1", "ESCB2"}  # their search takes memory as it goes
PAPER = ("camera", "mnl", "preference_matrix", "random_utility", "random_weak")
WORLDS = {
    **{name: getattr(sw.paper, name) for name in PAPER if hasattr(sw.paper, name)},
    **PRESETS,
    "prices": lambda: Scaled(SMALL, np.linspace(1.0, 2.0, 7)),
}


def policy_of(name: str) -> Any:
    given = {"Oracle": lambda: sw.Oracle([6, 0, 3]), "LSBGreedy": lambda: sw.LSBGreedy.for_world(TOPICS)}
    return given.get(name, getattr(sw, name))()


def world_of(name: str) -> Any:
    return TOPICS if name == "LSBGreedy" else SMALL


def player_of(world: Any) -> Any:
    return sw.Uniform() if world.feedback == "total" else sw.UCB(bound=float(getattr(world, "bound", 1.0)))


def arguments(policy: Any, world: Any, **options: Any) -> tuple[Any, ...]:
    settings = {"fast_forward": None, "record_indices": False, "first_run": 0, "tabulate": False, **options}
    request = check_request(policy, world, 150, 1, 0, 10, "log", *settings.values(), False, False)
    return Runs(request).game.take_first()


def program_of(policy: Any, world: Any) -> Program:
    program = Program(DEFAULTS)
    program.translate(play, [kind_of(arg) for arg in arguments(policy, world)])
    return program


@pytest.mark.parametrize("name", NAMES)
def test_the_loop_of_every_policy_compiles_without_numba(name: str) -> None:
    code = compile_function(play, arguments(policy_of(name), world_of(name)), DEFAULTS)
    assert 20 < code.functions < 120 and code.size < 200_000


@pytest.mark.parametrize("name", WORLDS)
def test_the_loop_in_every_world_compiles_without_numba(name: str) -> None:
    world = WORLDS[name]()
    compile_function(play, arguments(player_of(world), world), DEFAULTS)


@pytest.mark.parametrize("name", NAMES)
def test_the_loop_takes_no_memory(name: str) -> None:
    assert ("setwise_malloc" in program_of(policy_of(name), world_of(name)).externals) == (name in SEARCHES)


class Strict(np.ndarray):
    """An array whose indices are from 0 on: compiled code of the package does not count negative ones from the end."""

    def _check(self, index: Any) -> None:
        for part in index if isinstance(index, tuple) else (index,):
            numbers = (part.start, part.stop) if isinstance(part, slice) else (part,)
            assert all(number is None or np.all(np.asarray(number) >= 0) for number in numbers), index

    def __getitem__(self, index: Any) -> Any:
        self._check(index)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check(index)
        super().__setitem__(index, value)


def strict(thing: Any) -> Any:
    if isinstance(thing, np.ndarray):
        return thing.view(Strict)
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        return tuple.__new__(type(thing), [strict(field) for field in thing])
    return thing


def test_a_negative_index_is_noticed() -> None:
    with pytest.raises(AssertionError):
        strict(np.arange(3))[-1]


@pytest.mark.parametrize("name", NAMES)
def test_no_policy_uses_a_negative_index(name: str) -> None:
    """The compiler relies on it for numbers that own code reads from arrays."""
    with np.errstate(all="ignore"):
        play(*map(strict, arguments(policy_of(name), world_of(name))))


@pytest.mark.parametrize("name", WORLDS)
def test_no_world_uses_a_negative_index(name: str) -> None:
    world = WORLDS[name]()
    with np.errstate(all="ignore"):
        play(*map(strict, arguments(player_of(world), world)))


# Both tiers have the same bits.


def outcome(compiled: bool, name: str, size: tuple[int, int], horizon: int, seed: int) -> Any:
    """Regret and plays, or why the policy does not play such a game."""
    n, k = size
    world = MNL(np.linspace(2.0, 0.1, n), k=k)
    try:
        result = sw.simulate(policy_of(name), world, horizon, runs=2, seed=seed, compiled=compiled)
    except sw.InputError as refusal:
        return str(refusal)
    return result.regret.tobytes(), result.pulls.tobytes()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("LSBGreedy", "Oracle")])
@given(size=st.sampled_from([(7, 3), (5, 2), (6, 6), (4, 1)]), horizon=st.integers(1, 120), seed=st.integers(0, 10**6))
@settings(max_examples=4)
def test_small_games_have_the_same_bits_interpreted_and_compiled(
    name: str, size: tuple[int, int], horizon: int, seed: int
) -> None:
    assert outcome(False, name, size, horizon, seed) == outcome(True, name, size, horizon, seed)
