"""Every policy works in a study, with the same decisions after any restart and on any worker."""

import copy
import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import setwise as sw
from setwise.policies import NAMES
from setwise.study import replica as replicas
from setwise.study import snapshot
from setwise.study.records import arms_of, best_of, best_one_by_one
from setwise.study.replica import Replica
from studies import CAMERAS, new_policy, play


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_works_in_a_study_told_out_of_order_or_refuses_at_create(name):
    policy = new_policy(name)
    study = sw.Study.memory(CAMERAS, 2, policy, 400, seed=3)
    rng = np.random.default_rng(0)
    waiting = []
    for _ in range(60):
        waiting += [study.ask() for _ in range(int(rng.integers(0, 4)))]
        for _ in range(min(len(waiting), int(rng.integers(0, 4)))):
            decision = waiting.pop(int(rng.integers(len(waiting))))
            study.tell(decision, winner=decision.arms[0] if rng.random() < 0.5 else decision.arms[1])
    assert study.verify().ok
    if name in (
        "beat-the-mean",
        "interleaved-filter",
        "mnl-thompson",
        "stagewise-elimination",
        "set-ucb",
        "set-kl-ucb",
    ):
        with pytest.raises(sw.InputError, match="give horizon="):
            sw.Study.memory(CAMERAS, 2, policy, None, seed=3)
    else:
        play(sw.Study.memory(CAMERAS, 2, policy, None, seed=3), 5)


@pytest.mark.parametrize("name", [name for name in NAMES if not getattr(sw, NAMES[name]).ordered_sets])
def test_the_order_of_a_set_matters_only_to_policies_that_say_so(name):
    policy = new_policy(name)
    rng = np.random.default_rng(5)
    one = policy.init(6, 2, 300, np.random.default_rng(2))
    other = copy.deepcopy(one)
    mine, theirs = np.random.default_rng(3), np.random.default_rng(3)
    for played in range(150):
        first = np.array(policy.select(one, np.random.default_rng(played)))
        assert set(first) == set(policy.select(other, np.random.default_rng(played)))
        rewards = np.zeros(2)
        rewards[rng.integers(2)] = 1.0
        policy.update(one, first, rewards, mine)
        policy.update(other, first[::-1].copy(), rewards[::-1].copy(), theirs)


@pytest.mark.parametrize("name", [name for name in NAMES if getattr(sw, NAMES[name]).ordered_sets])
def test_ordered_sets_come_in_the_same_order_from_a_state_that_was_asked_before(name):
    policy = new_policy(name)
    state = policy.init(6, 2, 300, np.random.default_rng(2))
    for played in range(60):
        fresh = copy.deepcopy(state)
        for _ in range(3):
            policy.select(state, np.random.default_rng(999))
        first = np.array(policy.select(state, np.random.default_rng(played)))
        assert first.tolist() == np.array(policy.select(fresh, np.random.default_rng(played))).tolist()
        policy.update(state, first, np.array([1.0, 0.0]), np.random.default_rng(played))


def test_without_a_horizon_it_doubles_and_keeps_its_counts():
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), None, seed=0)
    play(study, 100)
    state = study._read(lambda replica: replica.state)
    assert state.phase[1] == 128 and state.base.pulls.sum() == 300
    assert sum(arm.pulls for arm in study.arms()) == 300
    assert study.horizon is None and study.policy == sw.UCB()


def test_decisions_depend_on_the_seed():
    sets = {tuple(play(sw.Study.memory(CAMERAS, 3, seed=seed), 5)) for seed in range(5)}
    assert len(sets) == 5
    assert sw.Study.memory(CAMERAS, 3).seed != sw.Study.memory(CAMERAS, 3).seed


def test_arms_come_in_the_order_of_their_numbers_unless_the_order_matters():
    study = sw.Study.memory(CAMERAS, 3, sw.UCB(), 1000, seed=0)
    for arms in play(study, 30):
        assert sorted(arms, key=CAMERAS.index) == list(arms)


@pytest.mark.parametrize("policy", [sw.KLUCB(), sw.Thompson()], ids=["frozen", "random"])
def test_restarts_do_not_change_decisions(create, policy, monkeypatch):
    monkeypatch.setattr(replicas, "SNAPSHOT_ROWS", 25)
    whole = play(sw.Study.memory(CAMERAS, 3, policy, 1000, seed=7), 120)
    study = create(policy=policy, seed=7)
    parts = []
    for _ in range(6):
        parts += play(study, 20)
        study = create.again(study)
    assert parts == whole


def test_workers_that_take_turns_decide_as_one(address):
    whole = play(sw.Study.memory(CAMERAS, 3, sw.KLUCB(), 1000, seed=7), 90)
    sw.Study.create(address, "homepage", CAMERAS, 3, sw.KLUCB(), 1000, seed=7).close()
    script = (
        "import sys, setwise as sw\n"
        "study = sw.Study.open(sys.argv[1], 'homepage')\n"
        "for line in sys.stdin:\n"
        "    d = study.ask()\n"
        "    study.tell(d, {d.arms[d.round % 3]: 1})\n"
        "    print('|'.join(d.arms), flush=True)\n"
    )
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    workers = [subprocess.Popen([sys.executable, "-c", script, address], **options) for _ in range(3)]
    sets = []
    for played in range(90):
        worker = workers[played % 3]
        worker.stdin.write("go\n")
        sets.append(tuple(worker.stdout.readline().strip().split("|")))
    for worker in workers:
        worker.communicate()
    assert sets == whole


@pytest.mark.parametrize("policy", [sw.KLUCB(), sw.Thompson()], ids=["frozen", "random"])
def test_many_rounds_are_learned_at_compiled_speed_with_the_same_bits(policy):
    """Thompson sampling draws for rewards between 0 and 1, so the learning stream is compared, too."""
    study = sw.Study.memory(CAMERAS, 3, policy, 1000, seed=0)
    play(study, 200, lambda decision: {decision.arms[decision.round % 3]: decision.round % 5 / 4})
    rows = [row for page in study._rows() for row in page]
    replicas = [Replica.of(study._read(lambda replica: replica.definition)) for _ in range(2)]
    replicas[0].apply(rows)
    replicas[1].apply(rows, compiled=True)
    for (_, one), (_, other) in zip(*(snapshot.leaves(replica.state) for replica in replicas), strict=True):
        assert np.array_equal(one, other)
    assert replicas[0].learning.random() == replicas[1].learning.random()


def test_policies_survive_a_round_trip_through_json():
    from setwise.study.definition import policy_from_json, policy_to_json

    for policy in (
        sw.UCB(alpha=0.1),
        sw.Doubling(sw.KLUCB(bound=3.0), first=7),
        new_policy("lsb-greedy"),
        sw.Oracle([2, 0]),
    ):
        kept = json.loads(json.dumps(policy_to_json(policy)))
        made = policy_from_json(kept)
        assert repr(made) == repr(policy) and policy_to_json(made) == policy_to_json(policy)


def test_the_best_arms_are_those_of_largest_lower_bound():
    """sqrt(log 200) = 2.3018, so 0.6 - 2.3018 / sqrt(20) = 0.085 is less than 0.5 - 2.3018 / sqrt(200) = 0.337."""
    study = sw.Study.memory(["often", "seldom", "better", "retired", "never"], 2, sw.UCB(), 1000, seed=0)
    study.retire_arm("retired")

    def know(replica):
        replica.told = 200
        replica.pulls[:] = [100, 10, 90, 100, 0]
        replica.reward[:] = [50, 6, 63, 100, 0]
        return best_of(replica), [arm.mean for arm in arms_of(replica)]

    assert study._read(know) == (("better", "often"), [0.5, 0.6, 0.7, 1.0, None])


def test_the_best_set_is_the_one_that_a_policy_over_sets_recommends():
    """Where the assumption fails, the best arms one by one are another set."""
    world = sw.environments.PRESETS["broken-table"](margin=0.2, seed=5)
    names = [f"arm {number}" for number in range(world.n)]
    study, rng = sw.Study.memory(names, world.k, sw.SetThompson(), seed=0), np.random.default_rng(0)

    def play_rounds(rounds):
        played = Counter()
        for _ in range(rounds):
            decision, rewards = study.ask(), np.zeros(world.k)
            world.draw(np.array([names.index(arm) for arm in decision.arms]), rng, rewards)
            study.tell(decision, rewards.tolist())
            played[decision.arms] += 1
        return played.most_common(1)[0][0]

    assert study.best() == tuple(names[: world.k]), "nothing was shown: ties go to the arms added first"
    often = play_rounds(1500)
    assert often == tuple(names[arm] for arm in sorted(world.best()))
    assert study.best() == study.summary().best == often
    one_by_one = study._read(best_one_by_one)
    assert {names[arm] for arm in one_by_one} != set(often)
    study.retire_arm(often[0])
    assert often[0] not in study.best() and len(study.best()) == world.k
    for arm in names[1:5]:
        study.retire_arm(arm)
    assert set(study.best()) == set(names[5:]), "fewer arms than a set has"


@pytest.mark.parametrize("arms", [[0, 0, 1], [0, 1], [0, 1, 6], [0, 1, 5]])
def test_what_is_recommended_has_to_be_a_set_of_active_arms(monkeypatch, arms):
    study = sw.Study.memory(CAMERAS, 3, sw.SetThompson(), seed=0)
    study.retire_arm(CAMERAS[5])
    monkeypatch.setattr(sw.SetThompson, "recommend", lambda self, state, available: arms)
    with pytest.raises(
        sw.InputError, match=r"^SetThompson.recommend gave \[.*\], which is not a set of 3 active arms$"
    ):
        study.best()


def test_decisions_are_the_same_in_every_version():
    """A change of these sets changes the decisions of stored studies."""
    study = sw.Study.memory(CAMERAS, 3, sw.KLUCB(), 1000, seed=0)
    sets = ["".join(str(CAMERAS.index(arm)) for arm in arms) for arms in play(study, 12)]
    assert sets == ["023", "145", "245", "125", "023", "235", "234", "023", "123", "123", "125", "235"]
