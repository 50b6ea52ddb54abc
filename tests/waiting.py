"""Wait for a condition, however slow the machine is."""

import time

LIMIT = 60.0  # seconds after which it will never happen
STARTING = 5 * LIMIT  # for a large program to start, which on a busy machine waits for its turn many times


def wait_for(true, seconds=LIMIT):
    """Wait until a function says that it has happened; its answer."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, f"nothing happened for {seconds:g} s"
        time.sleep(0.02)
    return found


def alive(process):
    """Whether a process is at work, and not only waits to be buried."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
