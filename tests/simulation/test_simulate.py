"""Simulation: checkpoints, recording, invalid input, interruption."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import setwise as sw
from setwise.simulation.checks import check_points

CAMERA = sw.paper.camera()


def simulate(**options):
    return sw.simulate(sw.UCB(), CAMERA, **{"horizon": 500, "runs": 3, "seed": 1, **options})


def test_a_result_has_a_row_for_each_run_and_a_column_for_each_checkpoint():
    result = simulate(checkpoints=7)
    assert result.regret.shape == (3, len(result.rounds))
    assert result.pulls.shape == (3, 6)
    assert result.rounds[-1] == 500
    assert (np.diff(result.regret, axis=1) >= -1e-12).all()


def test_every_round_chooses_k_arms():
    for fast_forward in (True, False):
        assert (simulate(fast_forward=fast_forward).pulls.sum(axis=1) == 3 * 500).all()


def test_regret_is_that_of_the_true_means():
    result = simulate(fast_forward=False, checkpoints=[1, 2, 3])
    gaps = set()
    for row in np.diff(result.regret[:, :3], axis=1, prepend=0.0):
        gaps.update(np.round(row, 9).tolist())
    possible = set()
    for row in CAMERA.probabilities:
        possible.add(round(0.9 - row.sum(), 9) + 0.0)
    assert gaps <= possible
    assert gaps != {0.0}


@pytest.mark.parametrize(("given", "spacing", "expected"), [
    (5, "linear", [100, 200, 300, 400, 500]),
    (3, "log", [1, 22, 500]),
    (1, "log", [500]),
    ([10, 200], "log", [10, 200, 500]),
    ([500], "linear", [500]),
    (10_000, "linear", list(range(1, 501))),
])  # fmt: skip
def test_checkpoints_are_spaced_as_asked_and_end_at_the_horizon(given, spacing, expected):
    assert check_points(given, 500, spacing).tolist() == expected


def test_recording_gives_the_index_of_every_arm_and_rho():
    result = simulate(record_indices=True, checkpoints=[1, 2, 3, 100, 500])
    assert result.indices.shape == (3, 5, 6)
    assert np.isinf(result.indices[:, 0]).sum() == 3 * 3
    assert (result.rho[:, 1:] <= result.rho[:, :-1]).all()
    level = 2 * np.log(500)
    assert result.indices[0, -1].min() >= np.sqrt(level / result.pulls[0].max())


def test_recording_plays_the_same_game_as_round_by_round():
    recorded, plain = simulate(record_indices=True), simulate(fast_forward=False)
    assert np.array_equal(recorded.regret, plain.regret)


def test_the_surrogate_regret_of_random_utility_is_the_sum_of_means():
    world = sw.paper.random_utility()
    result = sw.simulate(sw.UCB(), world, 400, 2, checkpoints=[1, 400], fast_forward=False)
    spent = world.utilities[:5].sum() * 400 - result.pulls @ world.utilities
    assert result.surrogate_regret[:, -1] == pytest.approx(spent)
    assert simulate().surrogate_regret is None


def test_a_horizon_of_a_trillion_rounds_is_played_to_the_end():
    world = sw.environments.Independent([1.0, 0.0], k=1)
    result = sw.simulate(sw.UCB(), world, 10**12, seed=3, checkpoints=5)
    assert result.pulls.sum() == 10**12
    assert result.pulls[0, 1] < 200


@pytest.mark.parametrize(("options", "words"), [
    ({"horizon": 0}, "horizon is 0"),
    ({"horizon": 2.5}, "horizon is 2.5, which is not a whole number"),
    ({"horizon": 10**13}, "at most 10^12"),
    ({"horizon": "many"}, "'many'"),
    ({"runs": 0}, "runs is 0"),
    ({"seed": -1}, "seed is -1"),
    ({"threads": 0}, "threads is 0"),
    ({"checkpoints": [5, 5]}, "rising order"),
    ({"checkpoints": [0, 5]}, "a checkpoint is 0"),
    ({"checkpoints": [5000]}, "beyond the horizon 500"),
    ({"checkpoints": 0}, "checkpoints is 0"),
    ({"spacing": "even"}, "'even'"),
    ({"record_indices": True, "fast_forward": True}, "record_indices needs every round"),
])  # fmt: skip
def test_a_wrong_option_is_refused_in_one_sentence(options, words):
    with pytest.raises(sw.InputError) as refusal:
        simulate(**options)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_policy_is_not_let_into_a_world_it_cannot_play_in():
    priced = sw.environments.Scaled(CAMERA, 5.0)
    with pytest.raises(sw.InputError, match=r"use UCB\(bound=5\)"):
        sw.simulate(sw.UCB(), priced, 10)
    with pytest.raises(sw.InputError, match="is a class; give an object"):
        sw.simulate(sw.UCB, CAMERA, 10)
    with pytest.raises(sw.InputError, match="not a NamedTuple"):
        sw.simulate(object(), CAMERA, 10)


def test_bounded_rewards_are_played_with_the_bound():
    priced = sw.environments.Scaled(CAMERA, 5.0)
    result = sw.simulate(sw.UCB(bound=5.0), priced, 2000, 2)
    same = sw.simulate(sw.UCB(), CAMERA, 2000, 2)
    assert 2 < result.regret[:, -1].mean() / same.regret[:, -1].mean() < 8


def test_progress_is_told_and_reaches_the_end():
    told = []
    simulate(progress=told.append)
    assert told[-1] == 1.0


def test_an_interrupted_simulation_keeps_the_finished_runs(monkeypatch):
    world = sw.environments.Independent([0.5, 0.5], k=1)
    run_all = sw.simulate.__globals__["run_all"]

    def stopped(one_run, runs, threads, stop, report):
        done = []
        interrupt = lambda: len(done) > 2 and signal.raise_signal(signal.SIGINT)  # noqa: E731
        return run_all(lambda run: done.append(one_run(run)), runs, threads, stop, interrupt)

    monkeypatch.setitem(sw.simulate.__globals__, "run_all", stopped)
    with pytest.raises(sw.Interrupted) as interruption:
        sw.simulate(sw.UCB(), world, 20_000, 10**6, threads=1, fast_forward=False)
    kept = interruption.value.result
    assert 3 <= kept.runs < 10**6
    monkeypatch.undo()
    assert np.array_equal(kept.regret[:2], sw.simulate(sw.UCB(), world, 20_000, 2, fast_forward=False).regret)


def test_an_interruption_while_the_threads_are_started_is_one_too(monkeypatch):
    submit, begun = ThreadPoolExecutor.submit, []

    def interrupted(*given):
        begun.append(given)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return submit(*given)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with pytest.raises(sw.Interrupted):
        simulate(runs=10, threads=3, compiled=True, progress=print)
    assert len(begun) == 2


def test_import_stays_light():
    code = "import setwise, sys; print([m for m in ('numba', 'matplotlib', 'rich', 'click') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("policy", [sw.RUCB(), sw.MNLUCB(), sw.MNLThompson(), sw.SelfSparring()], ids=repr)
def test_a_policy_that_sees_only_the_winner_is_not_let_into_a_world_of_prices(policy):
    prices = sw.environments.Scaled(sw.paper.mnl(), np.linspace(1.0, 2.0, 20))
    with pytest.raises(sw.InputError, match="learns only who was chosen, not what was paid"):
        sw.simulate(policy, prices, 10)


def test_the_bound_of_a_policy_inside_another_is_named():
    prices = sw.environments.Scaled(sw.paper.mnl(), np.linspace(1.0, 2.0, 20))
    with pytest.raises(sw.InputError, match="use Doubling with a policy of bound=2"):
        sw.simulate(sw.Doubling(), prices, 10)
    sw.simulate(sw.Doubling(sw.UCB(bound=2.0)), prices, 10, compiled=False)


@pytest.mark.parametrize(
    ("policy", "environment", "sentence"),
    [
        ("ucb", sw.paper.camera(), r"the policy is the string 'ucb'; give an object, such as sw\.UCB\(\)"),
        (sw.UCB(), "camera", r"the environment is the string 'camera'; give an object, such as sw\.paper\.camera\(\)"),
        (sw.UCB(), sw.paper.camera, r"the environment is the function camera; call it: camera\(\)"),
        (sw.paper.camera(), sw.UCB(), r"the policy is Table, which is an environment; give sw\.UCB\(\)"),
        (sw.UCB(), sw.KLUCB(), r"the environment is KLUCB, which is a policy; give sw\.paper\.camera\(\)"),
    ],
)
def test_things_that_are_no_policy_or_environment_are_refused(policy, environment, sentence):
    with pytest.raises(sw.InputError, match=sentence):
        sw.simulate(policy, environment, 100)
    broken = (policy, "policy") if sentence.startswith("the policy") else (environment, "environment")
    with pytest.raises(sw.InputError, match=sentence):
        getattr(sw.testing, f"check_{broken[1]}")(broken[0])
