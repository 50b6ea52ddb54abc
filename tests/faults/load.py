"""Many processes at the same instant, on one study and on a storage that does not exist yet."""

import os

import setwise as sw
from faults import Findings
from faults.crowd import Crowd, answers_in
from faults.truth import check, new_study


def decide_together(address, folder, processes, decisions):
    """Many processes ask and tell in one study: nothing is lost, ids are unique, no position is missing."""
    found = Findings(f"decide together, {address.partition(':')[0]}")
    study = new_study(address, "together")
    logs = [os.path.join(folder, f"together {number}") for number in range(processes)]
    jobs = [{"address": address, "name": "together", "log": log, "decisions": decisions} for log in logs]
    with Crowd("decide", jobs) as crowd:
        found.expect(crowd.go(), "not every process came to the start")
        found.errors += crowd.wait()
    answers = answers_in(logs)
    found.lost += 2 * processes * decisions - len(answers)
    truth = check(study, address, answers)
    found.take(truth)
    found.expect(truth.rows == 1 + 2 * processes * decisions, f"the journal has {truth.rows} rows")
    study.close()
    return found.end(f"{processes} x {decisions}")


def create_together(addresses, processes):
    """Many processes create the tables, a common study and their own, in one fresh storage after another."""
    found = Findings(f"create together, {addresses[0].partition(':')[0]}")
    jobs = [{"addresses": addresses, "number": number} for number in range(processes)]
    with Crowd("create", jobs) as crowd:
        for _ in addresses:
            found.expect(crowd.go(), "not every process came to the start")
        found.errors += crowd.wait()
    names = sorted(["common", *(f"own {number}" for number in range(processes))])
    for address in addresses:
        there = sorted(sw.Study.names(address))
        found.expect(there == names, f"the studies are {there}")
        for name in there:
            with sw.Study.open(address, name) as study:
                truth = check(study, address)
                rounds = processes if name == "common" else 1
                found.take(truth)
                found.lost += rounds - len(truth.told)
    return found.end(f"{len(addresses)} x {processes}")
