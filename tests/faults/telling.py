"""Feedback that is repeated, concurrent, out of order, late, contradicting, or for unknown decisions."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

from faults import Findings, sentence
from faults.truth import check, new_study, reward_of
from setwise.types import InputError


def refused(act, *words):
    """Return None if an act is refused in one sentence; else say what is wrong."""
    try:
        act()
    except Exception as error:
        return sentence(error, *words)
    return "it was not refused"


def other_than(rewards):
    """Return contradicting feedback."""
    return {arm: 1 - amount for arm, amount in rewards.items()}


def tell_again(address, decisions, threads=8):
    """Tell every decision 1 to 5 times from many threads: it counts once, and all get the same answer."""
    found = Findings(f"tell again, {address.partition(':')[0]}")
    study = new_study(address, "again")
    rng = random.Random(3)
    asked = [study.ask() for _ in range(decisions)]
    rewards = {decision.id: reward_of(decision.arms, decision.round) for decision in asked}
    sent = [decision for decision in asked for _ in range(rng.randint(1, 5))]
    rng.shuffle(sent)
    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(lambda decision: study.tell(decision, rewards[decision.id]), sent))
    first = {}
    for answer in answers:
        same = first.setdefault(answer.id, answer)
        found.expect(answer == same, f"two answers: {answer} and {same}")
        found.expect(answer.rewards == rewards[answer.id], f"{answer.rewards} was answered")
    for decision in rng.sample(asked, min(20, decisions)):
        both = (rewards[decision.id], other_than(rewards[decision.id]))
        try:
            study.tell(decision, both[1])
        except InputError as error:
            said = str(error).replace("1.0", "1")
            contents = [str({arm: amount for arm, amount in content.items() if amount}) for content in both]
            found.expect(decision.id in said and all(content in said for content in contents), f"it only says: {error}")
        else:
            found.errors.append(f"{decision.id} was told otherwise before, and was accepted")
    truth = check(study, address, [("tell", name, told) for name, told in rewards.items()])
    found.take(truth)
    found.expect(len(truth.told) == decisions, f"{len(truth.told)} decisions were told")
    study.close()
    return found.end(f"{decisions} decisions, {len(sent)} tells")


def tell_at_once(address, decisions, threads=8):
    """Tell a decision from all threads at once, half of them contradicting: one content wins."""
    found = Findings(f"contradict at once, {address.partition(':')[0]}")
    study = new_study(address, "at once")
    barrier = threading.Barrier(threads)

    def tell(number, decision):
        rewards = reward_of(decision.arms, decision.round)
        barrier.wait()
        try:
            return study.tell(decision, rewards if number % 2 else other_than(rewards)).rewards
        except InputError as error:
            return error

    told = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(decisions):
            decision = study.ask()
            answers = list(pool.map(tell, range(threads), [decision] * threads))
            won = {tuple(answer.items()) for answer in answers if not isinstance(answer, Exception)}
            found.expect(len(won) == 1, f"{len(won)} contents were accepted")
            told.append(("tell", decision.id, dict(next(iter(won)))))
            losers = [answer for answer in answers if isinstance(answer, Exception)]
            found.expect(len(losers) == threads // 2, f"{len(losers)} of {threads} were refused")
    found.take(check(study, address, told))
    study.close()
    return found.end(f"{decisions} x {threads}")


def tell_oddly(address, opened):
    """Tell many open decisions in any order, some late, some unknown."""
    found = Findings(f"any order, late, unknown, {address.partition(':')[0]}")
    study = new_study(address, "odd", window="30m")
    storage = study._writer.storage
    real, ahead = storage.now, [0]
    storage.now = lambda: real() + ahead[0]
    rng = random.Random(4)
    with ThreadPoolExecutor(8) as pool:
        asked = list(pool.map(lambda _: study.ask(), range(opened)))
        summary = study.summary()
        found.expect((summary.open, summary.rounds) == (opened, opened), f"{summary.open} decisions were open")
        rng.shuffle(asked)
        early, late = asked[: 3 * opened // 4], asked[3 * opened // 4 :]
        told = list(pool.map(lambda one: study.tell(one, reward_of(one.arms, one.round)), early))
        found.expect(all(one.status == "told" for one in told), "a decision within its window is not told")
        ahead[0] = 31 * 60 * 1_000_000
        told = list(pool.map(lambda one: study.tell(one, reward_of(one.arms, one.round)), late))
        again = list(pool.map(lambda one: study.tell(one, reward_of(one.arms, one.round)), late))
    for one, answer, second in zip(late, told, again):
        found.expect((answer.status, answer.late) == ("closed", reward_of(one.arms, one.round)), f"late: {answer}")
        found.expect(set(answer.rewards.values()) == {0.0}, f"a late decision earned {answer.rewards}")
        found.expect(second == answer, f"late again: {second}")
    wrong = refused(lambda: study.tell(late[0], other_than(reward_of(late[0].arms, late[0].round))), late[0].id)
    found.expect(wrong is None, wrong)
    rows = study.summary().position
    for name in ("nobody", "0" * 32, late[0].id[:-1], "", "'; DROP TABLE setwise_journal; --", "\x00"):
        wrong = refused(lambda name=name: study.tell(name, [1, 0, 0]))
        found.expect(wrong is None, f"{name!r}: {wrong}")
    found.expect(study.summary().position == rows, "something was written for an unknown decision")
    answers = [("tell", one.id, reward_of(one.arms, one.round)) for one in asked]
    truth = check(study, address, [("ask", one.id, one.arms) for one in asked] + answers)
    found.take(truth)
    found.expect((len(truth.late), len(truth.told)) == (len(late), len(early)), "not all were counted")
    study.close()
    return found.end(f"{opened} open")
