"""Snapshots: what a study knows at a position, as bytes, so that opening it need not go through the whole journal.

    SETWISE SNAPSHOT 1 and a line feed
    8 bytes         length of the header, little-endian
    header          JSON in UTF-8; "arrays" lists name, dtype and shape of every array
    arrays          one after the other, little-endian, in C order
    32 bytes        SHA-256 of all before

Nothing in it is executed, and nothing in it is needed: a snapshot that is damaged, of another format, of other code
(the policy's source files have changed) or that does not fit the journal is thrown away, and the journal is read.
"""

import hashlib
import json
from typing import Any

import numpy as np

from setwise.digests import reachable
from setwise.study.definition import Definition
from setwise.study.fold import Fold, Open
from setwise.study.streams import place_of, put_at

MAGIC = b"SETWISE SNAPSHOT 1\n"
COUNTERS = ("status", "pulls", "reward", "shown")
NUMBERS = ("position", "time", "created", "rounds", "told", "closed", "late", "earned")


def take_snapshot(fold: Fold) -> bytes | None:
    """What is known, as bytes; None if the policy's state is not made of arrays and numbers."""
    arrays = {f"counters.{name}": getattr(fold, name) for name in COUNTERS}
    values: dict[str, Any] = {}
    for path, leaf in leaves(fold.state):
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biuf":
            arrays[f"state.{path}"] = leaf
        elif isinstance(leaf, bool | int | float):
            values[path] = leaf
        else:
            return None
    kept = {name: array.astype(array.dtype.newbyteorder("<"), order="C") for name, array in arrays.items()}
    header = {
        **{name: getattr(fold, name) for name in NUMBERS},
        "digest": fold.digest.hex(),
        "code": source_digest(type(fold.policy)),
        "added": fold.names[len(fold.definition.arms) :],
        "learning": place_of(fold.learning),
        "open": [[name, *one] for name, one in fold.open.items()] if fold.definition.window is not None else [],
        "values": values,
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in kept.items()],
    }
    text = json.dumps(header).encode()
    parts = [MAGIC, len(text).to_bytes(8, "little"), text, *(array.tobytes() for array in kept.values())]
    data = b"".join(parts)
    return data + hashlib.sha256(data).digest()


def read_header(data: bytes) -> dict[str, Any] | None:
    """The header of a snapshot; None if the snapshot is damaged or of another format."""
    if not data.startswith(MAGIC) or hashlib.sha256(data[:-32]).digest() != data[-32:]:
        return None
    start = len(MAGIC) + 8
    try:
        header: dict[str, Any] = json.loads(data[start : start + int.from_bytes(data[len(MAGIC) : start], "little")])
    except ValueError:
        return None
    return header


def restore(definition: Definition, data: bytes) -> Fold | None:
    """What was known when the snapshot was taken; None if it is of no use."""
    header = read_header(data)
    try:
        return None if header is None else _restored(definition, header, data)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):  # of another format
        return None


def _restored(definition: Definition, header: dict[str, Any], data: bytes) -> Fold | None:
    fold = Fold(definition)
    if header["code"] != source_digest(type(fold.policy)):
        return None
    if header["added"]:
        fold.names += header["added"]
        fold.numbers = {name: number for number, name in enumerate(fold.names)}
        fold.state = fold.policy.grow(fold.state, fold.n, fold.learning)
    arrays = _read_arrays(header, data)
    found = {**header["values"], **{name[6:]: array for name, array in arrays.items() if name.startswith("state.")}}
    fold.state = _filled(fold.state, found)
    for name in COUNTERS:
        counter = arrays[f"counters.{name}"]
        if len(counter) != fold.n or counter.dtype != getattr(fold, name).dtype:
            return None
        setattr(fold, name, counter)
    for name in NUMBERS:
        setattr(fold, name, type(getattr(fold, name))(header[name]))
    fold.digest = bytes.fromhex(header["digest"])
    fold.active = int((fold.status == 1).sum())
    fold.open = {name: Open(round, tuple(arms), *rest) for name, round, arms, *rest in header["open"]}
    put_at(fold.learning, header["learning"])
    return fold


def _read_arrays(header: dict[str, Any], data: bytes) -> dict[str, Any]:
    start = len(MAGIC) + 8 + int.from_bytes(data[len(MAGIC) : len(MAGIC) + 8], "little")
    arrays = {}
    for name, dtype, shape in header["arrays"]:
        kind = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        flat = np.frombuffer(data, kind, count, start)
        arrays[name] = flat.astype(kind.newbyteorder("=")).reshape(shape)  # a copy, which can be written to
        start += count * kind.itemsize
    return arrays


def leaves(state: Any, path: str = "") -> list[tuple[str, Any]]:
    """The arrays and numbers in a state, each with its path."""
    if not isinstance(state, tuple):
        return [(path, state)]
    names = getattr(state, "_fields", range(len(state)))
    return [
        found
        for name, part in zip(names, state, strict=True)
        for found in leaves(part, f"{path}.{name}" if path else f"{name}")
    ]


def _filled(template: Any, found: dict[str, Any], path: str = "") -> Any:
    """A state like the template, with what was found in it; a KeyError if it does not fit."""
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
    """A name for the source files of all code that a policy can run; the same with every version of Python."""
    digest = hashlib.sha256()
    for file in sorted({function.__code__.co_filename for function in reachable(cls)}):
        try:
            with open(file, "rb") as source:
                digest.update(source.read())
        except OSError:  # typed in, not in a file
            digest.update(file.encode())
    return digest.hexdigest()
