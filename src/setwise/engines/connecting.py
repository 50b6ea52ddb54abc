"""Connections to clusters that fail within seconds, and say at which address."""

import socket
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from setwise.types import InputError

SECONDS = 5.0  # to find out whether anybody listens


def check_listening(address: str, what: str, example: str, schemes: tuple[str, ...]) -> None:
    """Refuse an address that is none, or at which nobody listens.

    what, example: what should listen there, and how an address of it looks
    schemes: what may stand before `://`; "" if nothing has to
    """
    place = place_of(address, schemes)
    if place is None:
        raise InputError(f"the address {address!r} is not that of {what}; write for example {example}")
    try:
        socket.create_connection(place, SECONDS).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"nobody listens at {address} ({why}); start {what} there, or give another address") from None


def place_of(address: str, schemes: tuple[str, ...]) -> tuple[str, int] | None:
    """The host and the port of an address, if it has both.

    >>> place_of("ray://192.0.2.7:10001", ("", "ray")), place_of("192.0.2.7:6379", ("",)), place_of("here", ("",))
    (('192.0.2.7', 10001), ('192.0.2.7', 6379), None)
    """
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return (host, port) if host and port and parts.scheme in schemes else None


def listens(place: tuple[str, int]) -> bool:
    """Whether anybody listens there."""
    try:
        socket.create_connection(place, SECONDS).close()
    except OSError:
        return False
    return True


class Caller:
    """Makes calls, one after the other, in a thread that can be left to itself if one of them never returns."""

    def __init__(self) -> None:
        import queue

        self.calls: queue.SimpleQueue[tuple[Any, Callable[[], Any]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def begin(self, call: Callable[[], Any]) -> Any:
        """A future, with what the call will return or raise."""
        from concurrent.futures import Future

        future: Future[Any] = Future()
        self.calls.put((future, call))
        return future

    def close(self) -> None:
        self.calls.put(None)

    def _work(self) -> None:
        while (given := self.calls.get()) is not None:
            future, call = given
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)
            del given, future, call


def connected(connect: Callable[[], Any], address: str, what: str, patience: float) -> Any:
    """What `connect` returns; a sentence, if it fails, or if nobody answers for so many seconds.

    It waits in a thread of its own, which is left to itself then: there is no other way to stop it.
    """
    answer: list[Any] = []
    wrong: list[BaseException] = []

    def attempt() -> None:
        try:
            answer.append(connect())
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(patience)
    if answer:
        return answer[0]
    why = f" ({' '.join(str(wrong[0]).split())[:200] or type(wrong[0]).__name__})" if wrong else ""
    raise InputError(f"who listens at {address} does not answer as {what} does{why}; give the address of one")
