"""One process of a crowd: `python -m faults.worker FUNCTION ARGUMENTS`, with the arguments as JSON."""

import importlib
import json
import os
import signal
import sys
import time

import setwise as sw
from faults.truth import ARMS, reward_of
from setwise.study import replica as replicas

LIMIT = 900  # seconds after which an abandoned worker ends


def together():
    """Wait for the common start."""
    print("ready", flush=True)
    at = sys.stdin.readline()
    if not at:
        sys.exit("the parent process has ended")
    time.sleep(max(0.0, float(at) - time.time()))


def log_to(path):
    """Return a function that logs an answer in one write."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return lambda *answer: os.write(file, (json.dumps(answer) + "\n").encode())


def decide(address, name, log, decisions=None, stop="", **options):
    """Ask and tell, a number of times or until the file `stop` exists."""
    note = log_to(log)
    study = sw.Study.open(address, name, **options)
    together()
    done = 0
    while done != decisions and not os.path.exists(stop):
        decision = study.ask()
        note("ask", decision.id, decision.arms)
        rewards = reward_of(decision.arms, decision.round)
        study.tell(decision, rewards)
        note("tell", decision.id, rewards)
        done += 1
    study.close()


def create(addresses, number):
    """In one fresh storage after another: create the common study and one of our own, and play a round in each."""
    failure = None
    for address in addresses:
        together()
        try:
            for name in ("common", f"own {number}"):
                with sw.Study.create(address, name, ARMS, 3, sw.UCB(), seed=7, exist_ok=True) as study:
                    decision = study.ask(id=f"by {number}")
                    study.tell(decision, reward_of(decision.arms, decision.round))
        except Exception as error:  # the other processes wait for this one at the next storage
            failure = error
    if failure is not None:
        raise failure


def play(study, rounds, die=""):
    """Play up to a round, open decisions first; die after its `ask` or after its `tell`."""
    opened = [decision for decision in study.decisions() if decision.status == "open"]
    played = study.summary().rounds
    while True:
        decision = opened.pop() if opened else None
        if decision is None:
            if played == rounds:
                break
            decision = study.ask()
            played = decision.round
            if played == rounds and die == "ask":
                os.kill(os.getpid(), signal.SIGKILL)
        study.tell(decision, reward_of(decision.arms, decision.round))
    if die:
        os.kill(os.getpid(), signal.SIGKILL)


def run(address, name, rounds, die=""):
    """Open a study and play up to a round."""
    with sw.Study.open(address, name) as study:
        play(study, rounds, die)


def take_turns(address, name):
    """Play a round for each line of input."""
    study = sw.Study.open(address, name)
    print("ready", flush=True)
    while sys.stdin.readline():
        decision = study.ask()
        study.tell(decision, reward_of(decision.arms, decision.round))
        print("done", flush=True)
    study.close()


def main():
    signal.alarm(LIMIT)
    if os.environ.get("SETWISE_FAULTS_EVERY"):
        replicas.SNAPSHOT_ROWS = int(os.environ["SETWISE_FAULTS_EVERY"])
    module, _, act = sys.argv[1].rpartition(".")
    acts = vars(importlib.import_module(f"faults.{module}")) if module else globals()
    acts[act](**json.loads(sys.argv[2]))


if __name__ == "__main__":
    main()
