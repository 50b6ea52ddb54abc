"""Read an experiment from a TOML file; errors name the file, the full path of the key, and what would be valid.

    horizon = 1e5                                        # or a list
    runs = 20
    environments = ["camera", "random-weak:seed=3"]      # names as on the command line
    policies = ["ucb", "kl-ucb"]

or, instead of a list, a table with a label for each:

    [environments.shop]
    model = "MNL"                                        # a class of sw.environments and its parameters
    values = [0.9, 0.5, 0.2]
    k = 2

    [policies.careful]
    name = "ucb"
    alpha = 4.0
"""

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from setwise.coercion import hints_of
from setwise.declare import check_contract
from setwise.errors import InputError, StorageError
from setwise.experiments.experiment import Experiment
from setwise.experiments.specs import (
    ForWorld,
    build,
    environments,
    find,
    is_dotted,
    make,
    models,
    parameters,
    policy_classes,
)
from setwise.simulation.checks import LONGEST
from setwise.validation import nearest, shown, suggestion, whole_number

PLAIN = ("title", "spacing", "common", "certificate")  # keys that `Experiment` checks
KEYS = ("horizon", "runs", "seed", "checkpoints", *PLAIN, "environments", "policies")
KINDS = {"environments": "environment", "policies": "policy"}
EXAMPLES = {"environments": 'environments = ["camera"]', "policies": 'policies = ["ucb", "kl-ucb"]'}
MOST_CHECKPOINTS = 10**6
DEEPEST = 8


def read_experiment(path: "str | os.PathLike[str]") -> Experiment:
    """Read an experiment from a TOML file; modules and .soc files are searched in its folder first."""
    source = os.fspath(path)
    if os.path.isdir(source):
        raise InputError(f"{source} is a folder; give a TOML file, such as {os.path.join(source, 'experiment.toml')}")
    with open(source, "rb") as file:
        data = file.read()
    try:
        table = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{source} is not a text in UTF-8 (line {line}); save it as one") from None
    except RecursionError:
        raise InputError(f"{source} is not an experiment: it has lists or tables nested too deep") from None
    except ValueError as error:  # also from numbers with thousands of digits
        raise InputError(f"{source} is not valid TOML: {error}{_both_forms(str(error))}") from None
    return experiment_of(table, source)


def _both_forms(message: str) -> str:
    """Return a hint for a duplicate key: most likely a list, and tables of the same name below it."""
    if "overwrite" in message.lower() or "twice" in message.lower() or "mutate" in message.lower():
        return "; a key can be there once, and environments and policies are either a list or tables"
    return ""


def experiment_of(table: Mapping[str, Any], source: str = "experiment") -> Experiment:
    """Create an experiment from a parsed TOML table.

    source: the file, for messages and to find modules and .soc files beside it
    """
    try:
        return _experiment(table, [os.path.dirname(source)])
    except InputError as error:
        raise InputError(f"{source}: {error}") from error.__cause__


def _experiment(table: Any, folders: Sequence[str]) -> Experiment:
    if not isinstance(table, Mapping):
        raise InputError(f"an experiment is a table, not {shown(table)}")
    for key, value in table.items():
        if key not in KEYS:
            raise InputError(f"there is no key {_word(key)}; {suggestion(str(key), KEYS)}")
        _check_plain(str(key), value, 1)
    options: dict[str, Any] = {key: table[key] for key in PLAIN if key in table}
    if not isinstance(options.get("title", ""), str):
        raise InputError(f"title is {shown(table['title'])}; it has to be a text")
    if "horizon" in table:
        options["horizon"] = _one_or_several("horizon", table["horizon"], LONGEST)
    if "checkpoints" in table:
        several = isinstance(table["checkpoints"], list)
        options["checkpoints"] = _one_or_several(
            "checkpoints", table["checkpoints"], LONGEST if several else MOST_CHECKPOINTS
        )
    for key, least in (("runs", 1), ("seed", 0)):
        if key in table:
            options[key] = whole_number(key, table[key], least)
    worlds = _all_of("environments", table, folders)
    players = _all_of("policies", table, folders)
    try:
        return Experiment(
            {label: world for label, _, world in worlds}, {label: player for label, _, player in players}, **options
        )
    except InputError as error:
        named = next((path for label, path, _ in players if str(error).startswith(f"{label} can play")), None)
        raise InputError(f"{named}: {error}" if named else str(error)) from error.__cause__


def _check_plain(path: str, value: Any, depth: int) -> None:
    """Raise unless the value is a string, number, bool, or list or table of these, not nested too deep."""
    if depth > DEEPEST:
        raise InputError(f"{path} is nested too deep")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _check_plain(f"{path}.{_word(key)}", inner, depth + 1)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            _check_plain(f"{path}[{place}]", inner, depth + 1)
    elif not isinstance(value, str | bool | int | float):
        raise InputError(f"{path} is {shown(value)}; a value is a text, a number, true or false, or a list of them")
    elif isinstance(value, int) and abs(value) > 10**300:
        raise InputError(f"{path} is larger than any number can be")


def _one_or_several(path: str, value: Any, most: int) -> int | list[int]:
    """Return a whole number, or a list of them."""
    if isinstance(value, list):
        if not value:
            raise InputError(f"{path} is empty; give a number, or a list of at least one")
        return [_whole(f"{path}[{place}]", one, most) for place, one in enumerate(value)]
    return _whole(path, value, most)


def _whole(path: str, value: Any, most: int) -> int:
    found = whole_number(path, value, 1)
    if found > most:
        raise InputError(f"{path} is {found}; it can be at most {most}")
    return found


Labelled = tuple[str, str, Any]  # label, path of the key, and the policy or environment


def _all_of(key: str, table: Mapping[str, Any], folders: Sequence[str]) -> list[Labelled]:
    """Create the environments or policies from a list of names, or from a table with a label for each."""
    given, kind = table.get(key), KINDS[key]
    if given is None:
        raise InputError(f"there are no {key}; give some, for example {EXAMPLES[key]}")
    if not isinstance(given, list | Mapping):
        raise InputError(f"{key} is {shown(given)}; give a list, for example {EXAMPLES[key]}")
    if not given:
        raise InputError(f"{key} is empty; give at least one, for example {EXAMPLES[key]}")
    found: list[Labelled] = []
    if isinstance(given, Mapping):
        for label, value in given.items():
            path = f"{key}.{_word(label)}"
            if not isinstance(label, str) or not label.strip():
                raise InputError(f"{path} has no label; write [{key}.LABEL]")
            if not isinstance(value, str | Mapping):
                raise InputError(f"{path} is {shown(value)}; {_wanted(key, path)}")
            found.append((label, path, _object(path, value, kind, folders)))
        return found
    for place, text in enumerate(given):
        path = f"{key}[{place}]"
        if not isinstance(text, str):
            raise InputError(
                f"{path} is {shown(text)}; a list has names, for example {EXAMPLES[key]}; parameters that do not fit "
                f"into a name need a table [{key}.LABEL]"
            )
        if text.strip() in [label for label, *_ in found]:
            raise InputError(f"{path} is {text.strip()!r} again; each is to be there once")
        found.append((text.strip(), path, _object(path, text.strip(), kind, folders)))
    return found


def _wanted(key: str, path: str) -> str:
    """Describe a valid entry."""
    label = path.removeprefix(f"{key}.")
    example = "camera" if key == "environments" else "ucb"
    return f'write {label} = "{example}", or a table [{path}] with name = "{example}"'


def _object(path: str, value: Any, kind: str, folders: Sequence[str]) -> Any:
    """Create the policy or environment that a name or a table describes."""
    if isinstance(value, Mapping):
        made = _from_table(path, value, kind, folders)
    else:
        made = _from_name(path, value, kind, folders)
    cls = made.maker if isinstance(made, ForWorld) else type(made)
    if isinstance(cls, type):
        try:
            check_contract(cls, kind)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
    return made


def _known(kind: str) -> Mapping[str, Any]:
    return policy_classes() if kind == "policy" else environments()


def _from_name(path: str, text: str, kind: str, folders: Sequence[str]) -> Any:
    """Create an object from `name:parameter=value,...`."""
    name = text.partition(":")[0]
    if kind == "environment" and name in models():
        raise InputError(
            f"{path}: {name} is a reward model, whose parameters need a table: [environments.LABEL] with "
            f'model = "{name}"'
        )
    try:
        return make(text, _known(kind), kind, None, folders)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error.__cause__
    except StorageError:
        raise
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: {error.filename}") from None


def _from_table(path: str, table: Mapping[str, Any], kind: str, folders: Sequence[str]) -> Any:
    """Create an object from a table with `name` or `model`, and its parameters."""
    name, maker = _maker(path, table, kind, folders)
    given = {key: value for key, value in table.items() if key not in ("name", "model")}
    hints = hints_of(maker)
    _check_keys(path, name, maker, given)
    texts = [key for key, default in getattr(maker, "_field_defaults", {}).items() if isinstance(default, str)]
    values = {
        key: value if key in texts else _parameter(f"{path}.{key}", value, kind, hints.get(key, Any), folders)
        for key, value in given.items()
    }
    try:
        return build(name, maker, values, kind)
    except InputError as error:
        text = str(error).removeprefix(f"{getattr(maker, '__name__', name)}: ")
        raise InputError(_located(path, text, values, kind)) from error.__cause__
    except StorageError:
        raise
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: {error.filename}") from None


def _located(path: str, text: str, values: Mapping[str, Any], kind: str) -> str:
    """Prefix a class's error message with the path of the parameter it begins with."""
    first = re.match(r"\w+", text)
    if first is None or first[0] not in values:
        return f"{path}: {text}"
    value = values[first[0]]
    near = nearest(value.partition(":")[0], _known(kind), 0.7) if isinstance(value, str) else None
    return f"{path}.{text}" + (f"; did you mean {near!r}?" if near else "")


def _maker(path: str, table: Mapping[str, Any], kind: str, folders: Sequence[str]) -> tuple[str, Any]:
    """Return the name and the factory: a known one, or a reward model."""
    shelves = {"name": _known(kind)} if kind == "policy" else {"name": environments(), "model": models()}
    if kind == "policy" and "model" in table:
        raise InputError(f'{path}.model: models are for environments; a policy has a name, for example name = "ucb"')
    present = [key for key in shelves if key in table]
    if len(present) > 1:
        raise InputError(f"{path} has both name and model; leave one of them out")
    if not present:
        example = 'name = "ucb"' if kind == "policy" else 'name = "camera" or model = "MNL"'
        raise InputError(f"{path} has no {' and no '.join(shelves)}; write, for example, {example}")
    key = present[0]
    name = table[key]
    if not isinstance(name, str):
        raise InputError(f"{path}.{key} is {shown(name)}; it has to be a text")
    if ":" in name:
        raise InputError(f"{path}.{key} is {name!r}; in a table the parameters are keys of their own")
    for other, shelf in shelves.items():
        if name in shelf and name not in shelves[key]:
            alike = [f'{key} = "{one}" or ' for one in shelves[key] if one.lower() == name.lower()]
            raise InputError(f'{path}.{key}: {name!r} is not a {key}; write {"".join(alike)}{other} = "{name}"')
    try:
        return name, find(name, shelves[key], kind if key == "name" else key, folders)
    except InputError as error:
        raise InputError(f"{path}.{key}: {error}") from error.__cause__


def _check_keys(path: str, name: str, maker: Any, given: Mapping[str, Any]) -> None:
    """Raise for unknown and for missing parameters."""
    accepted = parameters(maker) if callable(maker) else None
    if accepted is None:
        return
    for key in given:
        if key in accepted:
            continue
        where = f"{path}.{_word(key)}"
        if key in getattr(maker, "derived", ()):
            raise InputError(f"{where}: {name} works that out from its other parameters; leave it out")
        if key in KEYS:
            raise InputError(f"{where}: {key} is of the whole experiment; write it above the first [table]")
        raise InputError(f"{where}: {name} has no parameter {key!r}; {suggestion(str(key), accepted)}")
    missing = [key for key, required in accepted.items() if required and key not in given]
    if missing and not hasattr(maker, "for_world"):
        raise InputError(f"{path}.{missing[0]} is missing; {name} needs {' and '.join(missing)}")


def _parameter(path: str, value: Any, kind: str, hint: Any, folders: Sequence[str]) -> Any:
    """Return a parameter's value; if it is annotated Any or a protocol, the policy or environment it describes."""
    if hint is not Any and not (isinstance(hint, type) and hasattr(hint, "_is_protocol")):
        return value
    if isinstance(value, Mapping):
        return _object(path, value, kind, folders)
    if isinstance(value, str):
        name = value.partition(":")[0]
        if name in _known(kind) or is_dotted(name):
            return _object(path, value, kind, folders)
    return value


def _word(key: Any) -> str:
    """Return a key as written in TOML."""
    text = str(key)
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else json.dumps(text, ensure_ascii=False)
