"""Write a study with many rounds to SQLite, open it in a new process, and print the cost.

python study_reopen.py ADDRESS NAME
"""

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ARMS, SIZE = 20, 3
PAGE = 50_000  # rounds written at a time
LAST = 1_000_000  # microseconds between two rounds


def journal(rounds: int, seed: int = 1) -> Iterator[list]:
    """Yield batches of rows of a study with random sets and feedback for every round."""
    import numpy as np

    import setwise as sw
    from setwise.study.definition import Definition
    from setwise.study.journal import first_row, new_id, new_row

    names = [f"arm {number}" for number in range(ARMS)]
    now = time.time_ns() // 1000 - LAST * rounds
    row = first_row(Definition.make(names, SIZE, sw.KLUCB(), rounds + 1000, seed, None).to_json(), now)
    yield [row]
    rng = np.random.default_rng(seed)
    for first in range(0, rounds, PAGE):
        played = min(PAGE, rounds - first)
        sets = rng.random((played, ARMS)).argsort(axis=1)[:, :SIZE].tolist()
        earned = (rng.random((played, SIZE)) < 1.0 / (2.0 + np.array(sets))).astype(int).tolist()
        rows = []
        for number, (arms, rewards) in enumerate(zip(sets, earned), start=first + 1):
            name, now = new_id(), now + LAST
            row = new_row(row.position, row.digest, "ask", name, now, {"round": number, "arms": arms})
            rows.append(row)
            row = new_row(row.position, row.digest, "tell", name, now, {"arms": arms, "rewards": rewards})
            rows.append(row)
        yield rows


def build(address: str, name: str, rounds: int, progress: Callable[[int], None]) -> None:
    """Write a study, without a snapshot."""
    from setwise.study.storage import NORMAL, open_storage

    storage = open_storage(address, NORMAL, 60.0, True)
    key = 0
    for rows in journal(rounds):
        with storage.transaction(True):
            if key:
                storage.append(key, rows)
            else:
                key = storage.create(name, rows)
        progress(rows[-1].position // 2)
    storage.close()


def change_snapshot(path: Path, change: Callable[[bytes], bytes | None]) -> None:
    """Replace the snapshot, or remove it."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for key, data in connection.execute("SELECT study, data FROM setwise_snapshots").fetchall():
            new = change(data)
            if new is None:
                connection.execute("DELETE FROM setwise_snapshots WHERE study = ?", (key,))
            else:
                connection.execute("UPDATE setwise_snapshots SET data = ? WHERE study = ?", (new, key))


def flipped(data: bytes) -> bytes:
    """Flip one bit in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def reopened(address: str, name: str) -> dict[str, float]:
    """Measure opening in a new process, including the process itself, and return the results."""
    start = time.perf_counter()
    command = [sys.executable, str(Path(__file__)), address, name]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return {**json.loads(done.stdout), "process": time.perf_counter() - start}


def main() -> None:
    address, name = sys.argv[1:]
    import setwise as sw

    start = time.perf_counter()
    study = sw.Study.open(address, name)
    study.ask()
    taken = time.perf_counter() - start
    print(json.dumps({"seconds": taken, "told": study._read(lambda replica: replica.told)}))
    study.close()


if __name__ == "__main__":
    main()
