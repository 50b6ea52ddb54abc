"""Generators of runs: those of NumPy's SeedSequence, also when many are seeded at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setwise as sw
from setwise.seeding import first_states, stream, stream_key

SEEDS = st.integers(0, 2**32) | st.integers(0, 2**200)
KEYS = st.integers(0, 2**64 - 1) | st.integers(0, 5) | st.integers(2**32 - 2, 2**32 + 2)


def state_of(generator):
    state = generator.bit_generator.state
    assert (state["has_uint32"], state["uinteger"]) == (0, 0)
    return state["state"]["state"], state["state"]["inc"]


@given(seed=SEEDS, one=KEYS, other=KEYS, first=st.integers(0, 1000) | st.integers(2**32 - 5, 2**32 + 5))
def test_runs_seeded_at_once_have_the_generators_of_numpy(seed, one, other, first):
    runs = range(first, first + 7)
    expected = [state_of(stream(seed, (one, other), run)) for run in runs]
    assert first_states(seed, (one, other), runs) == expected


def test_a_generator_is_that_of_the_seed_the_key_and_the_run():
    expected = np.random.Generator(np.random.PCG64(np.random.SeedSequence(7, spawn_key=(1, 2, 3)))).random(5)
    assert np.array_equal(stream(7, (1, 2), 3).random(5), expected)


def test_keys_differ_by_policy_and_by_environment_and_not_by_object():
    worlds = [sw.environments.MNL([1.0, 0.5, 0.2], k=2), sw.environments.MNL([1.0, 0.5, 0.2], k=2)]
    assert stream_key(sw.UCB(), worlds[0]) == stream_key(sw.UCB(), worlds[1])
    others = [stream_key(sw.UCB(alpha=3.0), worlds[0]), stream_key(sw.UCB(), sw.environments.MNL([1.0, 0.5, 0.3], k=2))]
    assert len({stream_key(sw.UCB(), worlds[0]), *others}) == 3


@pytest.mark.parametrize("runs", [1, 2, 256, 257, 600])
def test_a_run_does_not_depend_on_how_many_are_played(runs):
    world = sw.environments.MNL([1.0, 0.5, 0.2], k=2)
    many = sw.simulate(sw.UCB(), world, 30, runs=runs, seed=3, compiled=True)
    last = sw.simulate(sw.UCB(), world, 30, runs=1, seed=3, first_run=runs - 1, compiled=True)
    assert np.array_equal(many.regret[-1], last.regret[0]) and np.array_equal(many.pulls[-1], last.pulls[0])
