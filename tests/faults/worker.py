"""What one process of a crowd does: `python -m faults.worker ACT ARGUMENTS`, with arguments as JSON."""

import importlib
import json
import os
import signal
import sys
import time

import setwise as sw
from faults.truth import ARMS, reward_of
from setwise.study import ledger

LIMIT = 900  # seconds after which a worker that nobody waits for ends


def together():
    """Wait for the instant at which all begin."""
    print("ready", flush=True)
    at = sys.stdin.readline()
    if not at:
        sys.exit("nobody waits for me any more")
    time.sleep(max(0.0, float(at) - time.time()))


def log_to(path):
    """A function that notes an answer, in one write."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return lambda *answer: os.write(file, (json.dumps(answer) + "\n").encode())


def decide(address, name, log, decisions=None, stop="", **options):
    """Ask and tell, so many times or until there is a file."""
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
    """In one fresh storage after the other: create the study that all create, and one of our own; play a round."""
    failure = None
    for address in addresses:
        together()
        try:
            for name in ("common", f"own {number}"):
                with sw.Study.create(address, name, ARMS, 3, sw.UCB(), seed=7, exist_ok=True) as study:
                    decision = study.ask(id=f"by {number}")
                    study.tell(decision, reward_of(decision.arms, decision.round))
        except Exception as error:  # the others wait for us in the next storage
            failure = error
    if failure is not None:
        raise failure


def play(study, rounds, die=""):
    """Go on to a round, first with what was left open; die after its `ask` or after its `tell`."""
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
    """Play a round whenever it is our turn."""
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
        ledger.EVERY = int(os.environ["SETWISE_FAULTS_EVERY"])
    module, _, act = sys.argv[1].rpartition(".")
    acts = vars(importlib.import_module(f"faults.{module}")) if module else globals()
    acts[act](**json.loads(sys.argv[2]))


if __name__ == "__main__":
    main()
