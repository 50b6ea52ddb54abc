"""One writer for each storage in a process, however many studies are opened in it."""

import atexit
import contextlib
import os
import threading
from collections import deque

from setwise.study.memory import Memory
from setwise.study.storage import FULL, Storage, check_durability, check_timeout, open_storage, scheme_of
from setwise.study.writer import Writer

_lock = threading.Lock()
_writers: dict[tuple[int, str, str], Writer] = {}
_dropped: deque[tuple[Writer, int]] = deque()  # of studies that were forgotten without being closed
_inherited: list[Writer] = []  # of the process that this one was forked off; kept, so that nothing of them is closed
_held: list[threading.Lock] = []  # while the process forks
attaching = threading.Lock()  # while a study connects after a fork


def _before_fork() -> None:
    """Let every writer finish, and let go of its connections: neither SQLite nor PostgreSQL survive a fork."""
    _lock.acquire()
    for writer in list(_writers.values()):
        if writer.turn.acquire(timeout=max(1.0, writer.timeout)):
            _held.append(writer.turn)
            writer.storage.close()


def _after_fork() -> None:
    while _held:
        _held.pop().release()
    _lock.release()


def _after_fork_in_child() -> None:
    global _lock, attaching
    while _held:
        _held.pop().release()
    _lock, attaching = threading.Lock(), threading.Lock()  # somebody may have held them
    _inherited.extend(_writers.values())
    _writers.clear()
    _dropped.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)


def connect(address: str | Storage, durability: str, timeout: float, create: bool) -> Writer:
    """The writer for a storage, or for the one at an address; each `connect` needs a `disconnect`."""
    check_durability(durability)
    timeout = check_timeout(timeout)
    _disconnect_dropped()
    place, file = f"object {id(address)}", None
    if isinstance(address, str) or not hasattr(address, "of_decision"):
        place = str(address)
        if scheme_of(address) == "sqlite":
            place = os.path.realpath(place.removeprefix("sqlite:///"))
            with contextlib.suppress(OSError):
                found = os.stat(place)
                file = (found.st_dev, found.st_ino)
    key = (os.getpid(), place, durability)
    with _lock:
        writer = _writers.get(key)
        if writer is not None and getattr(writer.storage, "file", None) == file:
            writer.clients += 1
            writer.timeout = max(writer.timeout, timeout)
            return writer
    # Opening takes long, so others are not kept waiting; of two that open the same at once, one is not needed.
    storage = open_storage(address, durability, timeout, create) if isinstance(address, str) else address
    mine = Writer(storage, timeout)
    with _lock:
        other = _writers.get(key)
        same = other is not None and getattr(other.storage, "file", None) == getattr(storage, "file", None)
        writer = other if other is not None and same else mine
        _writers[key] = writer
        writer.clients += 1
    if writer is not mine and storage is not writer.storage:
        mine.stop()
    return writer


def connect_memory() -> Writer:
    """A writer for a new memory of its own."""
    return connect(Memory(), FULL, 1.0, True)


def drop(writer: Writer, process: int) -> None:
    """Note that a study was forgotten without being closed: garbage is collected anywhere, so nothing else is safe."""
    _dropped.append((writer, process))


def disconnect(writer: Writer, process: int) -> None:
    """Let go of a writer; the last one to do so stops it. In another process than its own it is left alone."""
    if process != os.getpid():
        return
    with _lock:
        writer.clients -= 1
        if writer.clients > 0:
            return
        for key in [key for key, other in _writers.items() if other is writer]:
            del _writers[key]
    writer.stop()


@atexit.register
def _disconnect_dropped() -> None:
    with contextlib.suppress(IndexError):  # another thread may take the last one
        while _dropped:
            disconnect(*_dropped.popleft())


@atexit.register
def _stop_all() -> None:
    """At the end of the process, close what is still open."""
    for key, writer in list(_writers.items()):
        if key[0] == os.getpid():
            writer.stop()
