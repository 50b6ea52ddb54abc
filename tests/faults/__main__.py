"""Run all faults at full size: `make faults`, or `python -m faults --only NAME` in the folder tests."""

import argparse
import csv
import importlib
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import postgresql
import setwise as sw
from faults import Found, clock, damage, dropping, killing, load, narrow, restart, telling

MAX_ERRORS = 5  # printed per fault


def progress(text):
    print(f"    {text}", file=sys.stderr, flush=True)


class Places:
    """Create fresh storages: folders, files, and databases on a server that is started on first use."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="setwise-faults-")
        self.servers = []
        self._made = 0

    def file(self):
        self._made += 1
        return f"sqlite:///{self.folder}/{self._made}.db"

    def database(self, server=0):
        while len(self.servers) <= server:
            self.servers.append(postgresql.Server())
        self._made += 1
        return postgresql.new_database(self.servers[server], f"faults{self._made}")

    def of(self, kind):
        return {"memory": lambda: "memory", "sqlite": self.file, "postgresql": self.database}[kind]()

    def folder_within(self):
        return tempfile.mkdtemp(dir=self.folder)

    def end(self):
        for server in self.servers:
            server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def faults():
    """Return all full-size faults by name, as functions of the places."""
    found = {}
    crowds = {"sqlite": 32, "postgresql": 64}
    for kind, crowd in crowds.items():
        found[f"decide-{kind}"] = lambda at, kind=kind, crowd=crowd: load.decide_together(
            at.of(kind), at.folder_within(), crowd, 200
        )
        found[f"create-{kind}"] = lambda at, kind=kind: load.create_together([at.of(kind) for _ in range(50)], 32)
        found[f"kill-writers-{kind}"] = lambda at, kind=kind: killing.kill_writers(
            at.of(kind), at.folder_within(), 8, 100, under_load=(0.2, 1.2), timed=True, progress=progress
        )
        found[f"answers-{kind}"] = lambda at, kind=kind: killing.lose_answers(at.of(kind))
        found[f"lock-{kind}"] = lambda at, kind=kind: narrow.hold_lock(at.of(kind), 60.0)
        found[f"snapshots-{kind}"] = lambda at, kind=kind: damage.harm_snapshots(at.of(kind), 300, 100)
    found["kill-server"] = lambda at: killing.kill_server(
        at.database(1) and at.servers[1], at.database(1), at.folder_within(), 8, 20, progress=progress
    )
    for kind in ("memory", *crowds):
        found[f"tell-{kind}"] = lambda at, kind=kind: telling.tell_again(at.of(kind), 2000)
        found[f"contradict-{kind}"] = lambda at, kind=kind: telling.tell_at_once(at.of(kind), 200)
        found[f"odd-{kind}"] = lambda at, kind=kind: telling.tell_oddly(at.of(kind), 1000)
        found[f"clock-{kind}"] = lambda at, kind=kind: clock.set_clock(at.of(kind), 200)
    found["drop"] = lambda at: dropping.drop(at.folder_within())
    found["fail-to-open"] = lambda at: dropping.fail_to_open(at.folder_within())
    found["limit"] = lambda at: narrow.limit_files(at.folder_within())
    found["disk"] = lambda at: narrow.fill_disk()
    found["read-only"] = lambda at: narrow.forbid_writing()
    found["still"] = lambda at: narrow.stop_writer(at.folder_within(), 8.0)
    found["file"] = lambda at: damage.harm_file(at.folder_within(), 500, 100)
    found["wal"] = lambda at: damage.harm_wal(at.folder_within(), 200, 50)
    for policy in (sw.KLUCB(), sw.Thompson()):
        name = type(policy).__name__.lower()
        found[f"restart-{name}"] = lambda at, policy=policy: restart.run_and_kill(
            at.folder_within(), policy, 10_000, 10
        )
        found[f"turns-{name}"] = lambda at, policy=policy: restart.take_turns(at.folder_within(), policy, 3_000)
    return found


def run(name, fault, places):
    """Run a fault and return its outcome, also if it was skipped or raised."""
    begun = time.perf_counter()
    try:
        found = fault(places)
    except Exception as error:
        traceback.print_exc()
        return Found(name, "", time.perf_counter() - begun, errors=(f"{type(error).__name__}: {error}",))
    return found or Found(name, "skipped", 0.0, note="it is not permitted to mount a file system here")


def keep_all(rows):
    """Update docs/bench/faults.csv, keeping the rows of other faults."""
    sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
    measuring = importlib.import_module("measuring")
    path = measuring.KEPT / "faults.csv"
    kept = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))[1:] if path.exists() else []
    table = {row[0]: row for row in [*kept, *rows]}
    measuring.keep("faults", ["fault", "how many", "seconds", "lost", "doubled", "errors", "note"], table.values())


def main():
    parser = argparse.ArgumentParser(prog="faults", description="Run all faults at full size and print a table.")
    parser.add_argument("--only", action="append", metavar="NAME", help="a fault, or a prefix of names")
    names = faults()
    wanted = parser.parse_args().only
    chosen = [name for name in names if not wanted or name.startswith(tuple(wanted))]
    if not chosen:
        parser.error(f"there is no fault {wanted}; there are {', '.join(names)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # stops the servers, too
    places, failed, rows = Places(), False, []
    print(f"{'what':36} {'how many':28} {'seconds':>8} {'lost':>6} {'doubled':>8} {'errors':>7}  note", flush=True)
    try:
        for name in chosen:
            if postgresql.missing() and name.endswith(("postgresql", "server")):
                print(f"{name:36} skipped: {postgresql.missing()}", flush=True)
                continue
            progress(name)
            found = run(name, names[name], places)
            print(f"{found.what:36} {found.many:28} {found.seconds:8.1f} {found.lost:6} {found.doubled:8} "
                  f"{len(found.errors):7}  {found.note}", flush=True)  # fmt: skip
            for error in found.errors[:MAX_ERRORS]:
                print(f"    {error[:300]}", flush=True)
            failed = failed or not found.ok
            rows.append(
                [
                    found.what,
                    found.many,
                    f"{found.seconds:.1f}",
                    found.lost,
                    found.doubled,
                    len(found.errors),
                    found.note,
                ]
            )
    finally:
        places.end()
    keep_all(rows)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
