"""The certificate of a study is that of the feedback in its journal, whoever tells it, wherever it is stored."""

import concurrent.futures
import contextlib
import itertools
import os
import sqlite3
from unittest.mock import Mock

import numpy as np
import pytest

import setwise as sw
from setwise.kernels.certificate import REFUTED, ROUNDS, WAITING, new_watch, slot_of, watch_rounds
from setwise.simulation.certificate import Bound, read_certificate
from setwise.study import certificate as certificates
from setwise.study.certificate import Certifier, copy_watch
from setwise.study.journal import body_of
from shell import lines_of
from shell import study as call
from studies import Clock

ARMS = ["Nikon", "Canon", "Sony", "Shoes"]
PAIRS = list(itertools.combinations(range(len(ARMS)), 2))
GOOD_PAIR = ("Nikon", "Canon")


def pair_world(together=0.9, otherwise=0.05):
    """A world that breaks the assumption: the two arms of the best set earn nearly nothing in other company."""
    rows = {pair: (together, together) if pair == (0, 1) else (otherwise, otherwise) for pair in PAIRS}
    return sw.environments.Table(rows, feedback="independent", names=tuple(ARMS))


def feedback_of(world, decision, rng, scale=1.0):
    """Draw the rewards of a decision in a world with the names of the arms."""
    rewards = np.zeros(len(decision.arms))
    world.draw(np.array([world.names.index(arm) for arm in decision.arms]), rng, rewards)
    return [scale * reward for reward in rewards.tolist()]


def play_in(study, world, rounds, seed=0, scale=1.0):
    """Ask and tell so many rounds."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        decision = study.ask()
        study.tell(decision, feedback_of(world, decision, rng, scale))


def fed_by_hand(rounds, names=ARMS, k=2, bound=1.0, most=None, confidence=0.95):
    """The certificate of rounds, each with names and rewards, that are given to the test one by one."""
    watch = new_watch(len(names), k, bound, k * bound if most is None else most, 1, 1.0 - confidence)
    for arms, rewards in rounds:
        chosen = np.array([names.index(arm) for arm in arms])
        watch_rounds(watch, chosen, np.array(rewards, float), 1)
    rounds, refuted = int(watch.counts[ROUNDS]), int(watch.counts[REFUTED])
    return read_certificate(confidence, rounds, refuted, watch.witness, list(names))


def told_in_order(study):
    """The rounds of a study in the order of the feedback."""
    names = [arm.name for arm in study.arms()]
    bodies = [body_of(row) for page in study._rows() for row in page if row.kind == "tell"]
    return [([names[arm] for arm in body["arms"]], body["rewards"]) for body in bodies]


def from_scratch(study, confidence=0.95):
    return Certifier().certify(study, confidence, None)


def test_feedback_in_any_order_counts_in_the_order_of_telling(create):
    study, world = create(arms=ARMS, k=2, policy=sw.Uniform()), pair_world()
    rng = np.random.default_rng(3)
    rounds, waiting = [], []
    for number in range(300):
        waiting.append(study.ask())
        if number % 3:
            decision = waiting.pop(int(rng.integers(len(waiting))))
            rewards = feedback_of(world, decision, rng)
            study.tell(decision, rewards)
            rounds.append((decision.arms, rewards))
    found = study.certificate()
    assert found == fed_by_hand(rounds)
    assert (found.rounds, found.refuted is not None, len(waiting)) == (200, True, 100)
    assert study.certificate(0.5).refuted < found.refuted, "less confidence needs less feedback"


def test_a_refutation_names_the_arms(create):
    study = create(arms=ARMS, k=2, policy=sw.SetThompson())
    assert study.certificate().rounds == 0
    play_in(study, pair_world(), 20)
    assert "was not refuted in 20 rounds" in str(study.certificate())
    for pair in PAIRS * 30:
        decision = study.ask(available=[ARMS[arm] for arm in pair])
        study.tell(decision, [0.9, 0.9] if pair == (0, 1) else [0, 0])
    found = study.certificate()
    assert set(found.better) == set(GOOD_PAIR)
    assert found.lower > sum(bound.value for bound in found.bounds)
    assert all(bound.arm in ARMS and set(bound.company or ()) <= set(ARMS) for bound in found.bounds)
    assert "but the set {Nikon, Canon} earns at least" in str(found)


def test_a_study_in_the_camera_world_is_not_refuted():
    """The assumption holds there: at most one of 20 seeds may fail, and the bounds are wide enough for all of them."""
    world = sw.paper.camera()
    study = sw.Study.memory(list(world.names), world.k, sw.KLUCB(), 2000, seed=0)
    play_in(study, world, 2000)
    assert study.certificate().refuted is None


def test_going_on_gives_the_same_as_starting_over_and_reads_only_new_rows(create, monkeypatch):
    study, world = create(arms=ARMS, k=2, policy=sw.Uniform()), pair_world()
    read = []
    page = study._page
    monkeypatch.setattr(study, "_page", lambda after, end: read.append(after) or page(after, end))
    for part in range(12):
        play_in(study, world, 25, seed=part)
        before = study.summary().position - 50
        read.clear()
        found = study.certificate()
        assert read == ([before - 1, before] if part else [0]), "the last row, which has to be the same, and new ones"
        assert found == from_scratch(study) == fed_by_hand(told_in_order(study))
    assert found.refuted is not None


def test_a_study_that_is_opened_again_has_the_same_certificate(create):
    study = create(arms=ARMS, k=2, policy=sw.Uniform())
    play_in(study, pair_world(), 300)
    found = study.certificate(0.9)
    assert found.refuted is not None
    assert create.again(study).certificate(0.9) == found


def test_workers_have_the_same_certificate(create):
    one = create(arms=ARMS, k=2, policy=sw.Uniform())
    other = sw.Study.open(create.address, one.name) if hasattr(create, "address") else one
    for part in range(6):
        play_in(one, pair_world(), 20, seed=part)
        play_in(other, pair_world(), 20, seed=100 + part)
        assert one.certificate() == other.certificate() == from_scratch(one)
    assert one.certificate().rounds == 240
    other.close()


def test_threads_may_ask_for_it_at_once(address):
    with sw.Study.create(address, "homepage", ARMS, 2, sw.Uniform(), 1000, seed=0) as study:
        play_in(study, pair_world(), 200)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: study.certificate(), range(8)))
        assert found == [from_scratch(study)] * 8


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_forked_while_it_is_computed_has_one_of_its_own(address):
    with sw.Study.create(address, "homepage", ARMS, 2, sw.Uniform(), 1000, seed=0) as study:
        play_in(study, pair_world(), 50)
        with study._certifier._lock:
            child = os.fork()
            if child == 0:
                os._exit(0 if study.certificate().rounds == 50 else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert study.certificate().rounds == 50


def test_a_new_arm_lifts_a_refutation_until_it_was_seen(create):
    """Nothing is known of a new arm, so it may belong to an optimal set that satisfies the assumption."""
    study = create(arms=ARMS, k=2, policy=sw.Uniform())
    names = [*ARMS, "Leica", "Minox"]

    def show(pairs):
        for pair in pairs:
            decision = study.ask(available=pair)
            study.tell(decision, [0.49, 0.49] if set(pair) == set(GOOD_PAIR) else [0, 0])

    show([(ARMS[a], ARMS[b]) for a, b in PAIRS] * 55)
    refuted = study.certificate()
    assert refuted.refuted is not None
    show([GOOD_PAIR] * 20)
    assert study.certificate().refuted == refuted.refuted
    assert study.certificate().withdrawn is None
    study.add_arm("Leica")
    assert study.certificate().refuted is None and study.certificate().rounds == 350
    assert str(study.certificate()) == (
        "Weak optimal set consistency is not refuted, in 350 rounds at confidence 0.95. With fewer arms it was, in "
        f"round {refuted.refuted}; that does not stand any more, because an arm was added, which may belong to the "
        "best set."
    )
    study.add_arm("Minox")
    show([GOOD_PAIR])
    assert study.certificate().refuted is None and study.certificate().withdrawn == refuted.refuted
    study.retire_arm("Shoes")
    show([(old, new) for old in ARMS[:3] for new in names[4:]] * 20)
    found = study.certificate()
    assert found.refuted > 351 and found.withdrawn == refuted.refuted
    assert found == from_scratch(study)
    # A test with all arms from the beginning is not refuted before they were seen, so that it saw the same.
    by_hand = fed_by_hand(told_in_order(study), names)
    assert (found.lower, found.bounds) == (by_hand.lower, by_hand.bounds), "what was seen before counts"
    assert create.again(study).certificate() == found


def test_a_refutation_comes_back_before_a_new_arm_was_shown_if_even_the_largest_rewards_of_it_do_not_help():
    study = sw.Study.memory(ARMS, 2, sw.Uniform(), 1000, seed=0)
    for pair in PAIRS * 100:
        study.tell(study.ask(available=[ARMS[arm] for arm in pair]), [1, 1] if pair == (0, 1) else [0, 0])
    first = study.certificate().refuted
    study.add_arm("Leica")
    assert (study.certificate().refuted, study.certificate().withdrawn) == (None, first)
    for _ in range(50):
        study.tell(study.ask(available=GOOD_PAIR), [1, 1])
    found = study.certificate()
    assert found.refuted > 600 and found.withdrawn == first
    assert found.bounds[0] == Bound("Leica", 1.0, None)


def test_a_larger_test_has_all_that_was_seen():
    rng = np.random.default_rng(0)
    small, large = new_watch(6, 3, 1.0, 3.0, 1, 0.05), new_watch(12, 3, 1.0, 3.0, 1, 0.05)
    reference = new_watch(12, 3, 1.0, 3.0, 1, 0.05)
    assert len(large.table.taken) > len(small.table.taken)
    for number in range(1200):
        chosen, rewards = rng.choice(6 if number < 900 else 12, 3, replace=False), rng.random(3)
        if number == 900:
            copy_watch(small, large)
        watch_rounds(small if number < 900 else large, chosen, rewards, 1)
        watch_rounds(reference, chosen, rewards, 1)
    assert np.array_equal(large.pulls, reference.pulls) and np.array_equal(large.counts, reference.counts)
    assert np.allclose(large.bounds, reference.bounds, rtol=1e-12)
    for chosen in map(np.array, itertools.combinations(range(12), 3)):
        mine, theirs = slot_of(large, chosen), slot_of(reference, chosen)
        assert large.number[mine] == reference.number[theirs]
        assert large.table.plays[mine] == reference.table.plays[theirs]
        assert large.table.totals[mine] == pytest.approx(reference.table.totals[theirs])
    assert large.counts[2] >= 20, "sets were admitted"


def test_a_set_without_a_place_in_the_larger_test_is_forgotten():
    small, large = new_watch(6, 3, 1.0, 3.0, 1, 0.05), new_watch(12, 3, 1.0, 3.0, 1, 0.05)
    chosen = np.array([0, 1, 2])
    for _ in range(WAITING + 5):
        watch_rounds(small, chosen, np.ones(3), 1)
    large.table.taken[:], large.number[:] = 1, 7
    copy_watch(small, large)
    assert (large.table.taken == 1).all() and large.pulls[:3].tolist() == [13.0] * 3


def test_sets_of_fewer_than_k_arms_do_not_count():
    study = sw.Study.memory(ARMS, 3, sw.SelfSparring(pad=False), 1000, seed=0)
    for _ in range(300):
        decision = study.ask()
        study.tell(decision, winner=decision.arms[0])
    rounds = told_in_order(study)
    whole = [played for played in rounds if len(played[0]) == 3]
    assert 0 < len(whole) < len(rounds)
    assert study.certificate(0.5) == fed_by_hand(whole, k=3, most=1.0, confidence=0.5)


def test_with_a_window_delays_may_depend_on_rewards(monkeypatch):
    """Clicks are told at once, and what was not clicked is closed by the window: first, all that is told is clicks."""
    study = sw.Study.memory(ARMS, 2, sw.Uniform(), 3000, seed=0, window="30m")
    clock = Clock(monkeypatch, study)
    rng = np.random.default_rng(0)

    def show(pair):
        return study.ask(available=[ARMS[arm] for arm in pair]), (rng.random(2) < 0.1).tolist()

    for pair in PAIRS[1:] * 100:
        study.tell(*show(pair))
    shown = [show(PAIRS[0]) for _ in range(400)]
    for decision, clicks in shown:
        if any(clicks):
            study.tell(decision, clicks)
    assert fed_by_hand(told_in_order(study)).refuted is not None, "clicks alone would refute what holds"
    first = next(number for number, (_, clicks) in enumerate(shown) if not any(clicks))
    assert (study.certificate().refuted, study.certificate().rounds) == (None, 500 + first)
    clock.pass_(3600)
    study.ask()
    found = study.certificate()
    rounds = [(d.arms, list(d.rewards.values())) for d in study.decisions() if d.rewards]
    assert found == from_scratch(study) == fed_by_hand(rounds), "in the order of asking, closed ones with zeros"
    assert (found.refuted, found.rounds) == (None, 900)
    decision = next(decision for decision, clicks in shown if not any(clicks))
    assert study.tell(decision, [1, 1]).late == dict.fromkeys(decision.arms, 1.0)
    assert study.certificate() == found, "late feedback does not count, as it is not learned"


def test_rewards_are_measured_by_the_bound_of_the_policy():
    found = []
    for scale in (1.0, 8.0):
        study = sw.Study.memory(ARMS, 2, sw.Thompson(bound=scale), 1000, seed=0)
        for pair in PAIRS * 50:
            decision = study.ask(available=[ARMS[arm] for arm in pair])
            study.tell(decision, [0.9 * scale] * 2 if pair == (0, 1) else [0, 0])
        assert study.certificate() == fed_by_hand(told_in_order(study), bound=scale)
        found.append(study.certificate())
    one, eight = found
    assert one.refuted == eight.refuted is not None
    assert eight.lower == pytest.approx(8.0 * one.lower)


@pytest.mark.parametrize(("policy", "most"), [(sw.MNLUCB(), 1.0), (sw.Uniform(), 2.0)])
def test_only_a_policy_that_learns_from_winners_says_that_at_most_one_arm_is_rewarded(policy, most):
    """Feedback in which nobody ever rewarded two arms does not say it; it would allow the sharper test."""
    study = sw.Study.memory(ARMS, 2, policy, 1000, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(400):
        decision = study.ask()
        wins = rng.random() < (0.9 if set(decision.arms) == set(GOOD_PAIR) else 0.02)
        study.tell(decision, {decision.arms[int(rng.integers(2))]: 1} if wins else {})
    found, rounds = study.certificate(), told_in_order(study)
    assert found == fed_by_hand(rounds, most=most)
    assert (found.refuted is None) == (most == 2.0)
    assert fed_by_hand(rounds, most=1.0).refuted is not None


@pytest.mark.parametrize("policy", [sw.SetUCB, sw.SetKLUCB])
def test_the_total_of_a_policy_over_sets_limits_totals_and_single_rewards(policy):
    study = sw.Study.memory(ARMS, 2, policy(total=300), 1000, seed=0)
    for number, pair in enumerate(PAIRS * 60):
        rewards = ([300, 0] if number % 2 else [0, 300]) if pair == (0, 1) else [0, 0]
        study.tell(study.ask(available=[ARMS[arm] for arm in pair]), rewards)
    found, rounds = study.certificate(), told_in_order(study)
    by_hand = fed_by_hand(rounds, bound=300, most=300)
    assert found.refuted == by_hand.refuted is not None
    assert found.lower == pytest.approx(by_hand.lower) and set(found.better) == set(GOOD_PAIR)
    assert fed_by_hand(rounds, bound=300, most=600).refuted != found.refuted, "with a total of 300 the test is sharper"


def test_a_total_that_is_larger_by_rounding_can_be_tested():
    study = sw.Study.memory(ARMS, 2, sw.SetUCB(total=0.3), 1000, seed=0)
    study.tell(study.ask(), [0.1 + 0.2, 0])
    assert study.certificate().rounds == 1
    with pytest.raises(sw.InputError, match=r"the rewards add up to 0\.31; SetUCB has total=0\.3"):
        study.tell(study.ask(), [0.31, 0])


def test_rewards_above_an_undeclared_bound_cannot_be_tested():
    study = sw.Study.memory(ARMS, 2, sw.Uniform(), seed=0)
    study.tell(study.ask(), [1, 0.5])
    assert study.certificate().rounds == 1
    study.tell(study.ask(), [3, 0])
    for _ in range(2):
        with pytest.raises(sw.InputError, match="Uniform names none, which is taken as 1, and a reward of 3 was told"):
            study.certificate()


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, float("nan"), "high", None, True])
def test_a_bad_confidence_is_refused_in_one_sentence(confidence):
    study = sw.Study.memory(ARMS, 2, seed=0)
    with pytest.raises(sw.InputError, match=r"^confidence is [^\n]*$"):
        study.certificate(confidence)


def test_compiled_and_interpreted_counts_have_the_same_bits(monkeypatch):
    study = sw.Study.memory(ARMS, 2, sw.Uniform(), seed=0)
    play_in(study, pair_world(), 400)
    tests = []
    for seconds in (float("inf"), 0.0):
        monkeypatch.setattr(certificates, "COMPILE_SECONDS", seconds)
        certifier = Certifier()
        assert certifier.certify(study, 0.95, None) == fed_by_hand(told_in_order(study))
        tests.append(certifier._tests[0.95])
    plain, fast = tests
    assert plain._count is certificates.count_rounds and fast._count is not certificates.count_rounds
    assert np.array_equal(plain._witness, fast._witness)
    for mine, theirs in zip(plain._watch, fast._watch, strict=True):
        assert np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else all(map(np.array_equal, mine, theirs))


def test_progress_is_reported_and_an_error_in_it_spoils_nothing(monkeypatch):
    monkeypatch.setattr("setwise.study.study.PAGE_ROWS", 50)
    study = sw.Study.memory(ARMS, 2, sw.Uniform(), seed=0)
    play_in(study, pair_world(), 100)

    def stop(done):
        if done > 0.5:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        study.certificate(progress=stop)
    told = []
    assert study.certificate(progress=told.append) == fed_by_hand(told_in_order(study))
    assert told == sorted(told) and len(told) == 5 and told[-1] == 1.0


def test_an_interrupt_in_the_middle_of_a_page_counts_nothing_twice(monkeypatch):
    study = sw.Study.memory(ARMS, 2, sw.Uniform(), seed=0)
    play_in(study, pair_world(), 30)
    assert study.certificate().rounds == 30
    play_in(study, pair_world(), 30, seed=1)
    study.add_arm("Leica")
    study.tell(study.ask(available=["Leica", "Sony"]), {"Leica": 1})
    with monkeypatch.context() as patched:
        patched.setattr(certificates, "copy_watch", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            study.certificate()
    assert study.certificate().rounds == 61


def test_a_journal_restored_from_a_backup_is_read_again(address):
    with sw.Study.create(address, "homepage", ARMS, 2, sw.Uniform(), 1000, seed=0) as study:
        play_in(study, pair_world(), 60)
        assert study.certificate().rounds == 60
        with contextlib.closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as connection, connection:
            connection.execute("DELETE FROM setwise_journal WHERE position > 41")
        assert study.certificate() == from_scratch(study)
        play_in(study, pair_world(), 60, seed=1)
        assert study.certificate().rounds == 80
        assert study.certificate() == from_scratch(study)


def test_the_command_prints_the_certificate_and_exits_with_1_if_refuted(address):
    with sw.Study.create(address, "cameras", ARMS, 2, sw.Uniform(), 1000, seed=0) as study:
        play_in(study, pair_world(), 20)
        (found,) = lines_of(call("certificate", address, "cameras"))
        empty = {"refuted": None, "better": None, "lower": None, "bounds": [], "withdrawn": None}
        assert found == {"confidence": 0.95, "rounds": 20, **empty}
        assert "was not refuted" in call("certificate", address, "cameras", "--table").stdout
        play_in(study, pair_world(), 280, seed=1)
        expected = study.certificate(0.9)
    (found,) = lines_of(call("certificate", address, "cameras", "--confidence", "0.9"), exit_code=1)
    assert (found["refuted"], set(found["better"])) == (expected.refuted, set(GOOD_PAIR))
    assert found["bounds"][0]["arm"] == expected.bounds[0].arm
    answer = call("certificate", address, "cameras", "--confidence", "0.9", "--table")
    assert (answer.exit_code, answer.stdout) == (1, f"{expected}\n")


def test_mistakes_and_trouble_with_the_command_have_their_exit_codes(address):
    sw.Study.create(address, "cameras", ARMS, 2).close()
    for words, sentence in (
        (("camera",), "did you mean 'cameras'?"),
        (("cameras", "--confidence", "95"), "confidence is 95; it is a probability above 0 and below 1"),
        (("cameras", "--confidence", "high"), "'high' is not a valid float"),
    ):
        answer = call("certificate", address, *words)
        assert (answer.exit_code, answer.stdout) == (2, "")
        assert sentence in " ".join(answer.output.split()) and "Traceback" not in answer.output
    with contextlib.closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute("UPDATE setwise_journal SET body = ?", ("{}",))
    assert call("certificate", address, "cameras").exit_code == 3
