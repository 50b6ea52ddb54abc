"""SIGKILL the writers, and the server they write to."""

import os
import random
import time
from pathlib import Path

import setwise as sw
from faults import Findings
from faults.crowd import Crowd, answers_in
from faults.truth import ARMS, check, new_study, reward_of
from setwise.study.storage import LostError
from waiting import wait_for

MAX_OPEN_SECONDS = 1.0  # to open a study and ask after a crash


def kill_writers(address, folder, writers, rounds, every=40, under_load=(0.1, 0.4), timed=False, progress=None):
    """Kill all writers under load repeatedly, even during snapshots: no answer is lost."""
    found = Findings(f"kill the writers, {address.partition(':')[0]}")
    new_study(address, "killed").close()
    rng = random.Random(1)
    logs = [os.path.join(folder, f"killed {number}") for number in range(writers)]
    answers, slowest, snapshots = [], 0.0, set()
    for number in range(rounds):
        jobs = [{"address": address, "name": "killed", "log": log} for log in logs]
        with Crowd("decide", jobs, every) as crowd:
            before = _count(logs)
            found.expect(crowd.go(), "not every process came to the start")
            _wait_until(lambda before=before: _count(logs) > before + 2 * every, "there was no load", found)
            time.sleep(rng.uniform(*under_load))
            found.errors += crowd.kill()
        begun = time.perf_counter()
        study = sw.Study.open(address, "killed")
        decision = study.ask()
        slowest = max(slowest, time.perf_counter() - begun)
        answers.append(("ask", decision.id, decision.arms))
        told = answers_in(logs) + answers
        truth = check(study, address, told)
        snapshots.add(study._snapshot())
        found.take(truth)
        study.close()
        if progress:
            progress(f"round {number + 1} of {rounds}: {truth.rows:,} rows, slowest opening {slowest:.3f} s")
    found.expect(len(snapshots) > rounds // 2, "too few snapshots were taken to be interrupted")
    if timed:
        found.expect(slowest < MAX_OPEN_SECONDS, f"MISSED: an opening took {slowest:.2f} s")
    found.note = f"{len(told):,} answers, {truth.rows:,} rows, slowest opening {slowest:.3f} s"
    return found.end(f"{rounds} x {writers}")


def kill_server(server, address, folder, workers, kills, every=200, progress=None):
    """Kill PostgreSQL under load: workers reconnect, no answer is lost, and nothing is counted twice."""
    found = Findings("kill the server, postgresql")
    new_study(address, "ridden").close()
    rng = random.Random(2)
    logs = [os.path.join(folder, f"ridden {number}") for number in range(workers)]
    stop = os.path.join(folder, "stop")
    jobs = [{"address": address, "name": "ridden", "log": log, "stop": stop} for log in logs]
    with Crowd("decide", jobs, every) as crowd:
        found.expect(crowd.go(), "not every process came to the start")
        _wait_for_growth(logs, found, "a worker got no answer at first")
        for number in range(kills):
            time.sleep(rng.uniform(0.3, 0.9))
            server.kill()
            time.sleep(rng.uniform(0.0, 0.5))
            server.start()
            _wait_for_growth(logs, found, "a worker got no answer after the server restarted")
            if progress:
                progress(f"kill {number + 1} of {kills}: {len(answers_in(logs)):,} answers, {len(found.errors)} errors")
        open(stop, "x").close()
        found.errors += crowd.wait()
    with sw.Study.open(address, "ridden") as study:
        answers = answers_in(logs)
        truth = check(study, address, answers)
        found.take(truth)
        left = len(truth.asked) - len(truth.told)
        found.expect(left == 0, f"{left} decisions were made that no worker knows")
        found.note = f"{len(answers):,} answers"
    return found.end(f"{kills} x {workers}")


def _wait_for_growth(logs, found, problem):
    """Wait until every worker has logged another answer."""
    before = [os.path.getsize(log) for log in logs]
    _wait_until(lambda: all(os.path.getsize(log) > size for log, size in zip(logs, before)), problem, found)


def _wait_until(true, problem, found):
    """Wait for a condition; record a problem if it times out."""
    try:
        wait_for(true)
    except AssertionError:
        found.errors.append(problem)


def _count(logs):
    """Return the number of logged answers."""
    return sum(Path(log).read_bytes().count(b"\n") for log in logs if os.path.exists(log))


def lose_answers(address):
    """Every commit arrives but its answer is lost: retries have no further effect."""
    found = Findings(f"lose the answers, {address.partition(':')[0]}")
    study = new_study(address, "unheard")
    storage = study._writer.storage
    commit, lose = storage._commit, [False]

    def lost_commit():
        commit()
        if lose[0]:
            lose[0] = False
            raise LostError("the answer was lost")

    def do(what, act):
        lose[0] = True
        try:
            return act()
        except Exception as error:
            found.errors.append(f"{what}: {error}")
        finally:
            lose[0] = False

    storage._commit = lost_commit
    answers = []
    for _ in range(3):
        decision = do("ask", study.ask)
        answers.append(("ask", decision.id, decision.arms))
        rewards = reward_of(decision.arms, decision.round)
        do("tell", lambda decision=decision, rewards=rewards: study.tell(decision, rewards))
        answers.append(("tell", decision.id, rewards))
    do("add_arm", lambda: study.add_arm("arm 12"))
    do("retire_arm", lambda: study.retire_arm(ARMS[0]))
    do("activate_arm", lambda: study.activate_arm(ARMS[0]))
    truth = check(study, address, answers)
    found.take(truth)
    found.expect(truth.rows == 1 + 6 + 3, f"the journal has {truth.rows} rows")
    do("create", lambda: new_study(address, "another").close())
    do("delete", study.delete)
    del storage._commit
    study.close()
    return found.end("every act")
