"""Restarts and workers that take turns do not change decisions."""

import json
import os
import signal

import setwise as sw
from faults import Findings
from faults.crowd import Crowd
from faults.truth import check, new_study, rows_at
from faults.worker import play


def played(address, name):
    """Return the kinds and bodies of a journal, without ids and times."""
    return [(kind, json.loads(body)) for _, kind, _, _, body in rows_at(address, name)]


def run_and_kill(folder, policy, rounds, runs):
    """One run equals many killed runs, every other one killed between an ask and its tell."""
    found = Findings(f"restart, {type(policy).__name__}")
    address = f"sqlite:///{folder}/{type(policy).__name__}.db"
    with new_study(address, "whole", policy=policy) as study:
        play(study, rounds)
    new_study(address, "parts", policy=policy).close()
    for number in range(1, runs + 1):
        job = {"address": address, "name": "parts", "rounds": rounds * number // runs, "die": "ask"}
        if number % 2:
            job["die"] = "tell"
        if number == runs:
            job["die"] = ""
        with Crowd("run", [job], every=rounds // 20) as crowd:
            crowd.processes[0].wait()
            died = crowd.processes[0].returncode
            found.expect(died == (-signal.SIGKILL if job["die"] else 0), f"run {number} ended with {died}")
    whole, parts = played(address, "whole"), played(address, "parts")
    found.expect(len(whole) == 1 + 2 * rounds, f"one run has {len(whole)} rows")
    different = next((place for place, pair in enumerate(zip(whole, parts)) if pair[0] != pair[1]), None)
    found.expect(different is None and len(whole) == len(parts), f"they differ at row {different}")
    with sw.Study.open(address, "parts") as study:
        found.take(check(study, address))
        found.expect(study._snapshot() is not None, "there was no snapshot to restart from")
    return found.end(f"{rounds:,} rounds, {runs} runs")


def take_turns(folder, policy, rounds, workers=3):
    """Workers that take turns decide as one alone."""
    found = Findings(f"take turns, {type(policy).__name__}")
    address = f"sqlite:///{folder}/turns-{type(policy).__name__}.db"
    with new_study(address, "one", policy=policy) as study:
        play(study, rounds)
    new_study(address, "many", policy=policy).close()
    with Crowd("take_turns", [{"address": address, "name": "many"}] * workers) as crowd:
        found.expect(crowd.ready(), "not every process came to the start")
        for number in range(rounds):
            found.expect(crowd.turn(number % workers) == "done\n", f"round {number + 1} was not played")
        found.errors += crowd.wait()
    found.expect(played(address, "one") == played(address, "many"), "many workers decide otherwise than one")
    with sw.Study.open(address, "many") as study:
        found.take(check(study, address))
    os.remove(address.removeprefix("sqlite:///"))
    return found.end(f"{rounds:,} rounds, {workers} workers")
