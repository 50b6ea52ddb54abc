"""Connect to a Dask scheduler; fail within seconds, naming the address."""

import socket
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from setwise.types import InputError

SECONDS = 5.0  # timeout of a connection test
SCHEMES = ("", "tcp", "tls", "ws", "wss")


def check_listening(address: str) -> None:
    """Raise if the address is invalid, or no server is reachable there."""
    place = place_of(address)
    if place is None:
        raise InputError(
            f"the address {address!r} is not that of a Dask scheduler; write for example tcp://192.0.2.7:8786"
        )
    try:
        socket.create_connection(place, SECONDS).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(
            f"no Dask scheduler is reachable at {address} ({why}); start one there, or give another address"
        ) from None


def place_of(address: str) -> tuple[str, int] | None:
    """Return host and port of an address, or None if it lacks one.

    >>> place_of("tcp://192.0.2.7:8786"), place_of("192.0.2.7:8786"), place_of("here"), place_of("ftp://192.0.2.7:21")
    (('192.0.2.7', 8786), ('192.0.2.7', 8786), None, None)
    """
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return (host, port) if host and port and parts.scheme in SCHEMES else None


def connected(connect: Callable[[], Any], address: str, patience: float) -> Any:
    """Return the result of `connect`; raise if it fails, or takes longer than `patience` seconds.

    It runs in a thread of its own, which is abandoned on a timeout: there is no other way to stop it.
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
    raise InputError(f"the server at {address} does not answer as a Dask scheduler does{why}; give the address of one")
