"""Play ask-and-tell rounds of Optuna on SQLite, in the environment of Optuna, and print the time.

    python study_optuna.py FOLDER JOURNAL SYNCHRONOUS CLIENTS ROUNDS

JOURNAL is the journal mode of SQLite (delete, wal), or `default` for Optuna's own; SYNCHRONOUS is FULL or NORMAL. A
round asks for a trial, lets the random sampler, the cheapest one, suggest k arms, and tells one value. The database is
new and has few trials, which is fastest for Optuna. Each client has its own connection, which waits for locks up to
`PATIENCE`. A failed round is counted, and the client continues.
"""

import json
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

MARK = "ANSWER "
ARMS, SIZE = 20, 3
WARM = 5  # rounds of each client before the clock starts
PATIENCE = 300.0  # seconds to wait for a lock


def open_study(folder: Path, journal: str, synchronous: str, clients: int) -> tuple[Any, dict[str, Any]]:
    """Create a study, and read the settings of its connections."""
    import optuna
    import sqlalchemy

    def prepare(connection: Any, record: object) -> None:
        if journal != "default":
            connection.execute(f"PRAGMA journal_mode = {journal}").fetchall()
            connection.execute(f"PRAGMA synchronous = {synchronous}")

    sqlalchemy.event.listen(sqlalchemy.engine.Engine, "connect", prepare)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = optuna.storages.RDBStorage(
        f"sqlite:///{folder / 'optuna.db'}",
        engine_kwargs={"pool_size": clients + 1, "connect_args": {"timeout": PATIENCE}},
    )
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=1), direction="maximize")
    with storage.engine.connect() as connection:
        said = {
            name: connection.execute(sqlalchemy.text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous")
        }
    return study, {**said, "version": optuna.__version__}


def play_round(study: Any) -> None:
    trial = study.ask()
    chosen = [trial.suggest_int(f"arm {j}", 0, ARMS - 1) for j in range(SIZE)]
    study.tell(trial, float(chosen[0] % 2))


def play(study: Any, rounds: int, failed: Counter[str]) -> None:
    """Play some rounds; count failed rounds by message, and continue."""
    for _ in range(rounds):
        try:
            play_round(study)
        except Exception as error:
            failed[f"{type(error).__name__}: {error}".splitlines()[0][:100]] += 1


def play_all(study: Any, clients: int, rounds: int) -> Counter[str]:
    """Play this many rounds per client, each in its own thread."""
    failed: Counter[str] = Counter()
    threads = [threading.Thread(target=play, args=(study, rounds, failed)) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


def main() -> None:
    folder, journal, synchronous, clients, rounds = sys.argv[1:]
    study, said = open_study(Path(folder), journal, synchronous, int(clients))
    play_all(study, int(clients), WARM if clients == "1" else 1)
    each = max(1, int(rounds) // int(clients))
    start = time.perf_counter()
    failed = play_all(study, int(clients), each)
    taken = time.perf_counter() - start
    played = each * int(clients) - failed.total()
    print(f"\n{MARK}{json.dumps({**said, 'seconds': taken, 'played': played, 'failed': dict(failed)})}", flush=True)


if __name__ == "__main__":
    main()
