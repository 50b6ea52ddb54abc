"""Studies that are never closed or cannot be opened do not affect others in the process."""

import gc
import json
import sqlite3

import setwise as sw
from faults import Findings
from faults.crowd import alone
from faults.truth import check, new_study
from setwise.errors import DamagedFile
from setwise.study import connections


def collected(folder):
    """In its own process: collect an unclosed study while another is being opened."""
    gc.disable()
    study = new_study(f"sqlite:///{folder}/dropped.db", "dropped")
    cycle = [study]
    cycle.append(cycle)
    del study, cycle
    real = connections.open_storage

    def open_storage(*given):
        gc.collect()
        return real(*given)

    connections.open_storage = open_storage
    with new_study(f"sqlite:///{folder}/opened.db", "opened") as study:
        study.tell(study.ask(), {})
        print(json.dumps(check(study, f"sqlite:///{folder}/opened.db").problems))


def drop(folder):
    """The garbage collector may finalize a study at any time, even while another is being opened."""
    found = Findings("drop a study unclosed")
    said, error = alone("dropping.collected", folder=str(folder))
    found.expect(said == [], error or said)
    return found.end("1 study")


def fail_to_open(folder):
    """A study that cannot be opened does not affect others in the same file."""
    found = Findings("fail to open a study")
    address = f"sqlite:///{folder}/two.db"
    new_study(address, "damaged").close()
    study = new_study(address, "good")
    connection = sqlite3.connect(f"{folder}/two.db")
    with connection:
        connection.execute("UPDATE setwise_journal SET body = '{}' WHERE study = 1")
    connection.close()
    for _ in range(3):
        try:
            sw.Study.open(address, "damaged")
            found.errors.append("a damaged study was opened")
        except DamagedFile:
            pass
        gc.collect()
    try:
        study.tell(study.ask(), {})
        found.take(check(study, address))
    except Exception as error:
        found.errors.append(f"{type(error).__name__}: {error}")
    study.close()
    return found.end("3 times")
