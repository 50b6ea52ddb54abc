"""Snapshots: the state of a study at a position, as bytes, so that opening does not replay the whole journal.

    SETWISE SNAPSHOT 1 and a line feed
    8 bytes         length of the header, little-endian
    header          JSON in UTF-8; "arrays" lists name, dtype and shape of every array
    arrays          one after the other, little-endian, in C order
    32 bytes        SHA-256 of everything before

Nothing in a snapshot is executed, and it is only a cache: one that is damaged, of another format, taken with other code
(the policy's source files changed) or that does not fit the journal is ignored, and the journal is replayed.
"""

import hashlib
import json
from typing import Any

import numpy as np

from setwise.digests import reachable
from setwise.study.definition import Definition
from setwise.study.policy_runner import restore_stream, stream_state
from setwise.study.replica import Open, Replica

MAGIC = b"SETWISE SNAPSHOT 1\n"
COUNTERS = ("status", "pulls", "reward", "shown")
NUMBERS = ("position", "time", "created", "rounds", "told", "closed", "late", "earned")


def take_snapshot(replica: Replica) -> bytes | None:
    """Serialize the state; return None if the policy's state holds more than arrays and numbers."""
    arrays = {f"counters.{name}": getattr(replica, name) for name in COUNTERS}
    values: dict[str, Any] = {}
    for path, leaf in leaves(replica.state):
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biuf":
            arrays[f"state.{path}"] = leaf
        elif isinstance(leaf, bool | int | float):
            values[path] = leaf
        else:
            return None
    kept = {name: array.astype(array.dtype.newbyteorder("<"), order="C") for name, array in arrays.items()}
    header = {
        **{name: getattr(replica, name) for name in NUMBERS},
        "digest": replica.digest.hex(),
        "code": source_digest(type(replica.policy)),
        "added": replica.names[len(replica.definition.arms) :],
        "learning": stream_state(replica.learning),
        "open": [[name, *one] for name, one in replica.open.items()] if replica.definition.window is not None else [],
        "values": values,
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in kept.items()],
    }
    text = json.dumps(header).encode()
    parts = [MAGIC, len(text).to_bytes(8, "little"), text, *(array.tobytes() for array in kept.values())]
    data = b"".join(parts)
    return data + hashlib.sha256(data).digest()


def read_header(data: bytes) -> dict[str, Any] | None:
    """Return the header of a snapshot, or None if it is damaged or of another format."""
    if not data.startswith(MAGIC) or hashlib.sha256(data[:-32]).digest() != data[-32:]:
        return None
    start = len(MAGIC) + 8
    try:
        header: dict[str, Any] = json.loads(data[start : start + int.from_bytes(data[len(MAGIC) : start], "little")])
    except ValueError:
        return None
    return header


def restore(replica: Replica, definition: Definition, data: bytes) -> bool:
    """Restore a replica from a snapshot; return False, with the replica undefined, if that is not possible."""
    header = read_header(data)
    try:
        return header is not None and _fill(replica, definition, header, data)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):  # another format
        return False


def _fill(replica: Replica, definition: Definition, header: dict[str, Any], data: bytes) -> bool:
    replica.start(definition)
    if header["code"] != source_digest(type(replica.policy)):
        return False
    if header["added"]:
        replica.names += header["added"]
        replica.numbers = {name: number for number, name in enumerate(replica.names)}
        replica.state = replica.policy.grow(replica.state, replica.n, replica.learning)
    arrays = _read_arrays(header, data)
    found = {**header["values"], **{name[6:]: array for name, array in arrays.items() if name.startswith("state.")}}
    replica.state = _filled(replica.state, found)
    for name in COUNTERS:
        counter = arrays[f"counters.{name}"]
        if len(counter) != replica.n or counter.dtype != getattr(replica, name).dtype:
            return False
        setattr(replica, name, counter)
    for name in NUMBERS:
        setattr(replica, name, type(getattr(replica, name))(header[name]))
    replica.digest = bytes.fromhex(header["digest"])
    replica.active = int((replica.status == 1).sum())
    replica.open = {name: Open(round, tuple(arms), *rest) for name, round, arms, *rest in header["open"]}
    restore_stream(replica.learning, header["learning"])
    return True


def _read_arrays(header: dict[str, Any], data: bytes) -> dict[str, Any]:
    start = len(MAGIC) + 8 + int.from_bytes(data[len(MAGIC) : len(MAGIC) + 8], "little")
    arrays = {}
    for name, dtype, shape in header["arrays"]:
        kind = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        flat = np.frombuffer(data, kind, count, start)
        arrays[name] = flat.astype(kind.newbyteorder("=")).reshape(shape)  # a writable copy
        start += count * kind.itemsize
    return arrays


def leaves(state: Any, path: str = "") -> list[tuple[str, Any]]:
    """Return the arrays and numbers in a state with their paths."""
    if not isinstance(state, tuple):
        return [(path, state)]
    names = getattr(state, "_fields", range(len(state)))
    return [
        found
        for name, part in zip(names, state, strict=True)
        for found in leaves(part, f"{path}.{name}" if path else f"{name}")
    ]


def _filled(template: Any, found: dict[str, Any], path: str = "") -> Any:
    """Return a state like the template with the stored leaves; raise KeyError if they do not fit."""
    if isinstance(template, tuple):
        names = getattr(template, "_fields", range(len(template)))
        parts = [
            _filled(part, found, f"{path}.{name}" if path else f"{name}")
            for name, part in zip(names, template, strict=True)
        ]
        return tuple.__new__(type(template), parts)
    leaf = found[path]
    if isinstance(template, np.ndarray) and (leaf.shape != template.shape or leaf.dtype != template.dtype):
        raise KeyError(path)
    return leaf


def source_digest(cls: type) -> str:
    """Return a digest of the source files of all code that a policy can run; the same in every Python version."""
    digest = hashlib.sha256()
    for file in sorted({function.__code__.co_filename for function in reachable(cls)}):
        try:
            with open(file, "rb") as source:
                digest.update(source.read())
        except OSError:  # entered interactively
            digest.update(file.encode())
    return digest.hexdigest()
