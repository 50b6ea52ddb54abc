"""The connection pool: one writer per storage and process, shared by all its studies."""

import atexit
import contextlib
import os
import threading
from collections import deque

from setwise.study.storage import FULL, Memory, Storage, check_durability, check_timeout, open_storage, scheme_of
from setwise.study.writer import Writer

_lock = threading.Lock()
_writers: dict[tuple[int, str, str], Writer] = {}
_dropped: deque[tuple[Writer, int]] = deque()  # of studies garbage-collected without `close`
_inherited: list[Writer] = []  # of the parent process; kept alive so that they are never closed here
_held: list[threading.Lock] = []  # transaction locks held during a fork
attaching = threading.Lock()  # held while a study reconnects after a fork


def _before_fork() -> None:
    """Finish all transactions and close all connections: neither SQLite nor PostgreSQL survives a fork."""
    _lock.acquire()
    for writer in list(_writers.values()):
        if writer.transaction_lock.acquire(timeout=max(1.0, writer.timeout)):
            _held.append(writer.transaction_lock)
            writer.storage.close()


def _after_fork() -> None:
    while _held:
        _held.pop().release()
    _lock.release()


def _after_fork_in_child() -> None:
    global _lock, attaching
    while _held:
        _held.pop().release()
    _lock, attaching = threading.Lock(), threading.Lock()  # a thread of the parent may have held them
    _inherited.extend(_writers.values())
    _writers.clear()
    _dropped.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)


def connect(address: str | Storage, durability: str, timeout: float, create: bool) -> Writer:
    """Return the writer for a storage or an address, with one more client; call `disconnect` when done."""
    check_durability(durability)
    timeout = check_timeout(timeout)
    _disconnect_dropped()
    place, identity = f"object {id(address)}", None
    if isinstance(address, str) or not hasattr(address, "of_decision"):
        place = str(address)
        if scheme_of(address) == "sqlite":
            place = os.path.realpath(place.removeprefix("sqlite:///"))
            with contextlib.suppress(OSError):
                found = os.stat(place)
                identity = (found.st_dev, found.st_ino)
    key = (os.getpid(), place, durability)
    with _lock:
        writer = _writers.get(key)
        if writer is not None and writer.storage.identity == identity:
            writer.clients += 1
            writer.timeout = max(writer.timeout, timeout)
            return writer
    # Open outside the lock, since it may take long. If two threads open the same storage, the second closes its own.
    storage = open_storage(address, durability, timeout, create) if isinstance(address, str) else address
    mine = Writer(storage, timeout)
    with _lock:
        other = _writers.get(key)
        same = other is not None and other.storage.identity == storage.identity
        writer = other if other is not None and same else mine
        _writers[key] = writer
        writer.clients += 1
    if writer is not mine and storage is not writer.storage:
        mine.stop()
    return writer


def connect_memory() -> Writer:
    """Return a writer for a new storage in memory."""
    return connect(Memory(), FULL, 1.0, True)


def drop(writer: Writer, process: int) -> None:
    """Queue a disconnect from a finalizer, which may run at any point, so it must not take a lock."""
    _dropped.append((writer, process))


def disconnect(writer: Writer, process: int) -> None:
    """Release a writer; the last client stops it. Does nothing in a forked child."""
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
    with contextlib.suppress(IndexError):  # another thread may pop the last one
        while _dropped:
            disconnect(*_dropped.popleft())


@atexit.register
def _stop_all() -> None:
    """Stop all writers when the process ends."""
    for key, writer in list(_writers.items()):
        if key[0] == os.getpid():
            writer.stop()
