"""The guarantees of a study: ask and tell in memory, in SQLite and in PostgreSQL."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setwise as sw
from studies import CAMERAS, Clock, counted, play


def test_a_study_asks_tells_and_reports(create):
    study = create(policy=sw.KLUCB(), horizon=1_000_000)
    decision = study.ask()
    assert len(set(decision.arms)) == 3 and set(decision.arms) <= set(CAMERAS)
    assert (decision.round, decision.rewards, decision.status) == (1, None, "open")
    told = study.tell(decision, {decision.arms[0]: 1})
    assert told.rewards == {decision.arms[0]: 1.0, decision.arms[1]: 0.0, decision.arms[2]: 0.0}
    second = study.ask(available=["Nikon", "Canon", "Sony", "Shoes"])
    assert set(second.arms) <= {"Nikon", "Canon", "Sony", "Shoes"}
    study.tell(second.id, winner=second.arms[1])
    third = study.ask()
    study.tell(third.id, [0, 1, 0])
    arms = {arm.name: arm for arm in study.arms()}
    assert sum(arm.pulls for arm in arms.values()) == 9
    assert sum(arm.reward for arm in arms.values()) == 3.0
    assert arms[third.arms[1]].status == "active" and arms[third.arms[1]].index > 0
    assert [d.id for d in study.decisions()] == [decision.id, second.id, third.id]
    assert study.decisions(last=1)[0].rewards == {third.arms[0]: 0.0, third.arms[1]: 1.0, third.arms[2]: 0.0}
    summary = study.summary()
    assert (summary.rounds, summary.told, summary.open, summary.reward) == (3, 3, 0, 3.0)
    assert "rounds: 3 of 1,000,000; told 3" in str(summary)
    assert len(study.best()) == 3
    assert study.verify().ok


def test_the_state_follows_from_the_policys_own_update(create):
    """Feedback is learned in the order of telling, whatever the order of asking."""
    policy = sw.KLUCB()
    study = create(policy=policy, horizon=500)
    waiting = [study.ask() for _ in range(40)]
    state = policy.init(6, 3, 500, np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(40)
    for number in order:
        decision = waiting[number]
        rewards = [1.0 if number % 3 == j else 0.0 for j in range(3)]
        study.tell(decision, rewards)
        policy.update(state, np.array([CAMERAS.index(arm) for arm in decision.arms]), np.array(rewards), None)
    found = study.arms()
    assert [arm.pulls for arm in found] == state.pulls.tolist()
    assert [arm.reward for arm in found] == state.reward.tolist()
    assert [arm.index for arm in found] == state.indices.tolist()


def test_repeated_feedback_counts_once(create):
    study = create()
    decision = study.ask()
    first = study.tell(decision, {decision.arms[0]: 1})
    assert study.tell(decision, {decision.arms[0]: 1}) == first
    assert study.tell(decision.id, [1, 0, 0]) == first
    assert study.tell(decision.id, winner=decision.arms[0]) == first
    assert create.again(study).tell(decision.id, [1.0, 0.0, 0.0]) == first


def test_contradicting_feedback_is_refused_with_both_contents(create):
    study = create()
    decision = study.ask()
    study.tell(decision, {decision.arms[0]: 1})
    with pytest.raises(sw.InputError, match="it counts once, and nothing was changed") as refused:
        study.tell(decision, {decision.arms[1]: 1})
    assert f"{{{decision.arms[0]!r}: 1" in str(refused.value)
    assert f"{{{decision.arms[1]!r}: 1" in str(refused.value)
    assert study.summary().reward == 1.0


def test_unknown_decisions_are_refused(create):
    study = create()
    for name, words in (
        ("nobody", "there is no decision 'nobody' in this study"),
        ("", "the id of the decision is '', which is empty"),
        ("x" * 10_000, "the id of the decision has 10,000 characters"),
        ("\0", "NUL character"),
        ("\ud800", "not valid Unicode"),
        (17, "the decision is 17; give what `ask` gave"),
        (None, "the decision is None; give what `ask` gave"),
    ):
        with pytest.raises(sw.InputError, match=words):
            study.tell(name, [0, 0, 0])
    assert study.summary().position == 1


def test_late_feedback_is_accepted_without_a_window(create):
    study = create()
    first = study.ask()
    play(study, 20)
    study = create.again(study)
    assert study.tell(first.id, {first.arms[2]: 1}).status == "told"
    assert study.summary().open == 0
    mine, recomputed = counted(study)
    assert mine == recomputed


def test_a_window_closes_with_zeros_and_stores_late_feedback(create, monkeypatch):
    study = create(window="30m")
    clock = Clock(monkeypatch, study)
    first, second = study.ask(), study.ask()
    clock.pass_(29 * 60)
    assert study.tell(second, {second.arms[0]: 1}).status == "told"
    clock.pass_(2 * 60)
    study.ask()
    closed = study.decisions()[0]
    assert (closed.status, set(closed.rewards.values()), closed.late) == ("closed", {0.0}, None)
    late = study.tell(first, {first.arms[1]: 1})
    assert late.status == "closed" and late.late[first.arms[1]] == 1.0
    assert study.tell(first, {first.arms[1]: 1}) == late
    with pytest.raises(sw.InputError, match="it counts once, and nothing was changed"):
        study.tell(first, {first.arms[0]: 1})
    summary = study.summary()
    assert (summary.told, summary.closed, summary.late, summary.open, summary.reward) == (1, 1, 1, 1, 1.0)
    assert study.verify().ok
    mine, recomputed = counted(study)
    assert mine == recomputed


def test_feedback_after_the_window_is_late_without_another_ask(create, monkeypatch):
    study = create(window=60)
    clock = Clock(monkeypatch, study)
    decision = study.ask()
    clock.pass_(61)
    assert study.tell(decision, {decision.arms[0]: 1}).status == "closed"


def test_a_clock_that_is_set_back_closes_nothing_and_times_never_go_back(create, monkeypatch):
    study = create(window="30m")
    clock = Clock(monkeypatch, study)
    study.ask()
    clock.pass_(-3600)
    study.ask()
    clock.pass_(3600 + 1700)
    study.ask()
    assert study.summary().closed == 0
    clock.pass_(200)
    study.ask()
    assert study.summary().closed == 2
    times = [row.time for page in study._rows() for row in page]
    assert times == sorted(times)


def test_asks_do_not_wait_for_feedback(create):
    study = create()
    decisions = [study.ask() for _ in range(50)]
    assert [decision.round for decision in decisions] == list(range(1, 51))
    assert [decision.position for decision in decisions] == list(range(2, 52))
    study.tell(decisions[30], {})
    assert study.ask().position == 53
    assert study.verify().recomputed == 51


def test_asking_is_idempotent_with_an_id(create):
    study = create()
    decision = study.ask(id="request 17")
    play(study, 10)
    assert study.ask(id="request 17") == decision
    study.tell("request 17", {})
    assert study.ask(id="request 17").status == "told"
    assert study.summary().rounds == 11


def test_a_new_arm_is_tried_first(create):
    study = create(policy=sw.UCB())
    play(study, 30)
    leica = study.add_arm("Leica")
    assert (leica.number, leica.status, leica.pulls, leica.index) == (6, "active", 0, np.inf)
    assert "Leica" in study.ask().arms
    assert "Leica" in create.again(study).ask().arms


def test_a_retired_arm_is_never_shown_and_can_come_back(create):
    study = create()
    play(study, 10)
    assert study.retire_arm("Shoes").status == "retired"
    assert not any("Shoes" in arms for arms in play(study, 40))
    study = create.again(study)
    assert not any("Shoes" in arms for arms in play(study, 10))
    with pytest.raises(sw.InputError, match="activate_arm"):
        study.add_arm("Shoes")
    study.activate_arm("Shoes")
    assert any("Shoes" in arms for arms in play(study, 40))
    assert study.retire_arm("Shoes").number == 5


def test_a_pending_arm_waits_to_be_activated(create):
    study = create()
    assert study.add_arm("Leica", active=False).status == "pending"
    assert not any("Leica" in arms for arms in play(study, 10))
    study.activate_arm("Leica")
    assert "Leica" in study.ask().arms


def test_a_decision_with_a_retired_arm_can_be_told(create):
    study = create(arms=CAMERAS[:3])
    decision = study.ask()
    study.retire_arm("Sony")
    study.tell(decision, {"Sony": 1})
    assert study.arms()[2].reward == 1.0
    with pytest.raises(sw.InputError, match="2 arms are active, which is less than k=3"):
        study.ask()


def test_fewer_available_arms_than_k_is_an_error(create):
    study = create()
    with pytest.raises(sw.InputError, match="2 arms are available and active, which is less than k=3"):
        study.ask(available=["Nikon", "Canon"])
    study.retire_arm("Sony")
    with pytest.raises(sw.InputError, match="less than k=3"):
        study.ask(available=["Nikon", "Canon", "Sony"])
    assert study.summary().rounds == 0


def test_a_policy_without_select_from_or_grow_refuses_changing_arms(create):
    study = create(policy=sw.RUCB(), k=2)
    for change in (
        lambda: study.add_arm("Leica"),
        lambda: study.retire_arm("Shoes"),
        lambda: study.ask(available=CAMERAS[:3]),
    ):
        with pytest.raises(sw.InputError, match=r"RUCB cannot .* has no method"):
            change()
    assert study.ask(available=CAMERAS).round == 1
    assert [arm.status for arm in study.arms()] == ["active"] * 6


def test_studies_in_one_storage_are_independent(create):
    one, two = create(name="one", seed=1), create(name="two", seed=2)
    decision = one.ask()
    with pytest.raises(sw.InputError, match="no decision"):
        two.tell(decision, {})
    play(two, 5)
    assert (one.summary().rounds, two.summary().rounds) == (1, 5)
    two.delete()
    assert one.ask().round == 2
    with pytest.raises(sw.InputError, match="the study 'two' was closed"):
        two.ask()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("aaattrwnx+-s"), st.integers(0, 10**6)), max_size=50), st.integers(0, 3))
def test_counters_match_the_journal_after_any_operations(steps, seed):
    """Asks, tells, repeated and invalid tells, new and retired arms, and snapshots, in any order."""
    study = sw.Study.memory(CAMERAS, 2, sw.UCB(), 100, seed=seed)
    asked, truth, arms, names = [], {}, list(CAMERAS), itertools.count()
    for step, number in steps:
        pick = asked[number % len(asked)] if asked else None
        if step == "a":
            asked.append(study.ask())
        elif step == "t" and pick and pick.id not in truth:
            truth[pick.id] = study.tell(pick, {pick.arms[number % 2]: number % 5 / 4}).rewards
        elif step == "r" and pick and pick.id in truth:
            assert study.tell(pick, truth[pick.id]).rewards == truth[pick.id]
        elif step == "w" and pick and pick.id in truth:
            with pytest.raises(sw.InputError, match="it counts once"):
                study.tell(pick, dict.fromkeys(pick.arms, 0.33))
        elif step == "n":
            with pytest.raises(sw.InputError, match="there is no decision 'nobody"):
                study.tell(f"nobody {number}", {})
        elif step == "x" and pick:
            with pytest.raises(sw.InputError, match="'Toaster' was not shown"):
                study.tell(pick, {"Toaster": 1})
        elif step == "+":
            arms.append(f"arm {next(names)}")
            study.add_arm(arms[-1])
        elif step == "-" and len(arms) > 4:
            study.retire_arm(arms.pop(number % len(arms)))
        elif step == "s":
            study._replica.save_snapshot()
            study._replica.discard()
    pulls, reward = {}, {}
    for rewards in truth.values():
        for arm, earned in rewards.items():
            pulls[arm] = pulls.get(arm, 0) + 1
            reward[arm] = reward.get(arm, 0.0) + earned
    for arm in study.arms():
        assert arm.pulls == pulls.get(arm.name, 0)
        assert arm.reward == pytest.approx(reward.get(arm.name, 0.0))
        assert arm.shown == sum(arm.name in decision.arms for decision in asked)
    assert len({decision.id for decision in asked}) == len(asked)
    assert study.verify().ok
