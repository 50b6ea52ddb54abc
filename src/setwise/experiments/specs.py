"""Create objects from `name:parameter=value,...` as on the command line, or from a name and parameters."""

import dataclasses
import importlib
import inspect
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setwise.coercion import coerce, hints_of
from setwise.errors import InputError, SetwiseError
from setwise.validation import nearest, shown, suggestion

ANSWERS = {"true": True, "yes": True, "false": False, "no": False}
KINDS = {"policy": ("a policy", "select"), "environment": ("an environment", "means")}  # wording, required method


def policy_classes() -> Mapping[str, Any]:
    """Return the policies by name."""
    from setwise.policies import POLICIES

    return POLICIES


def environments() -> Mapping[str, Any]:
    """Return the factories of environments by name."""
    from setwise.environments import PRESETS
    from setwise.paper.instances import INSTANCES, LOWER_BOUNDS

    return {**INSTANCES, **LOWER_BOUNDS, **PRESETS}


def models() -> Mapping[str, Any]:
    """Return the reward models by class name."""
    from setwise.environments import MODELS

    return {cls.__name__: cls for cls in MODELS}


@dataclasses.dataclass(frozen=True, eq=False)
class ForWorld:
    """A policy that depends on its environment and is created for each: `for_world(world)`.

    name: as given
    maker: the class or function
    values: its parameters, which may be `ForWorld` themselves
    """

    name: str
    maker: Any
    values: Mapping[str, Any]

    def for_world(self, world: Any) -> Any:
        """Create the policy for this environment."""
        values = {key: v.for_world(world) if isinstance(v, ForWorld) else v for key, v in self.values.items()}
        if _asks_the_world(self.maker, values):
            return _made(self.name, "policy", lambda: self.maker.for_world(world)._replace(**values))
        return _made(self.name, "policy", lambda: self.maker(**values))

    def without_world(self) -> Any:
        """Create the policy where there is no environment, such as in a study; raise if it needs one."""
        if any(required and key not in self.values for key, required in (parameters(self.maker) or {}).items()):
            raise InputError(f"the policy {self.name!r} is made from a world, and a study has none; take another")
        values = {key: v.without_world() if isinstance(v, ForWorld) else v for key, v in self.values.items()}
        return _made(self.name, "policy", lambda: self.maker(**values))


def make_policy(text: str, world: Any) -> Any:
    """Create the policy that the text describes, for this environment if it depends on one."""
    return make(text, policy_classes(), "policy", world)


def make(text: str, known: Mapping[str, Any], kind: str, world: Any = None, folders: Sequence[str] = ()) -> Any:
    """Create the object that `name:parameter=value,...` describes.

    A name with a dot is a class, function or object of a module; one that ends in .soc is a file of rankings. Both are
    searched in the folders, then in the working directory. A class with a method `for_world` creates the object for the
    given environment; without one, return a `ForWorld`, which does so later.
    """
    name, _, parameters = text.partition(":")
    maker = find(name, known, kind, folders)
    values: dict[str, Any] = {}
    for part in filter(None, parameters.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{part!r} in {text!r} is not of the form parameter=value")
        values[key.strip()] = _value(value.strip(), text, known, kind, folders)
    made = build(name, maker, values, kind)
    return made.for_world(world) if isinstance(made, ForWorld) and world is not None else made


def _value(value: str, text: str, known: Mapping[str, Any], kind: str, folders: Sequence[str]) -> Any:
    """Parse the value after the equals sign: a number, yes or no, or another policy."""
    try:
        found = float(value)
        if not math.isnan(found):
            return found
    except ValueError:
        pass
    if value.lower() in ANSWERS:
        return ANSWERS[value.lower()]
    if kind == "policy" and (value.partition(":")[0] in known or is_dotted(value.partition(":")[0])):
        return make(value, known, kind, None, folders)
    near = nearest(value.partition(":")[0], known) if kind == "policy" else None
    wanted = "a number, yes or no, or a policy" if kind == "policy" else "a number, yes or no"
    raise InputError(f"{value!r} in {text!r} is not {wanted}" + (f"; did you mean {near!r}?" if near else ""))


def is_dotted(name: str) -> bool:
    """Whether a name is a dotted path into a module.

    >>> is_dotted("mine.MyPolicy"), is_dotted("ucb"), is_dotted("0.5"), is_dotted("../mine.py")
    (True, False, False, False)
    """
    return "." in name and all(word.isidentifier() for word in name.split("."))


def find(name: str, known: Mapping[str, Any], kind: str, folders: Sequence[str] = ()) -> Any:
    """Return the factory of that name: a known one, a file of rankings, or an attribute of a module."""
    if name.endswith(".soc") and kind == "environment":
        return _soc(name, folders)
    if "." in name:
        return _imported(name, kind, folders)
    if name not in known:
        raise InputError(f"there is no {kind} {name!r}; {_suggestion(name, known)}")
    return known[name]


def _suggestion(name: str, known: Mapping[str, Any]) -> str:
    """Suggest a name, ignoring case and hyphens: KLUCB in Python is kl-ucb here.

    >>> _suggestion("KLUCB", {"ucb": None, "kl-ucb": None}), _suggestion("mnl", {"MNL": None})
    ("did you mean 'kl-ucb'?", "did you mean 'MNL'?")
    """
    bare = {key.lower().replace("-", ""): key for key in known}
    near = nearest(name, known) or bare.get(nearest(name.lower().replace("-", "").replace("_", ""), bare) or "")
    return f"did you mean {near!r}?" if near else suggestion(name, known)


def build(name: str, maker: Any, values: Mapping[str, Any], kind: str) -> Any:
    """Create the object with these parameters, or a `ForWorld` if it depends on its environment."""
    if hasattr(maker, "_fields") and not isinstance(maker, type):
        if values:
            raise InputError(f"{name} is an object already, and takes no parameters")
        return maker
    if not callable(maker):
        raise InputError(f"{name} is not a class or function that makes {KINDS[kind][0]}")
    accepted = parameters(maker)
    for key in values:
        if accepted is not None and key not in accepted:
            raise InputError(f"{name} has no parameter {key!r}; {suggestion(key, accepted)}")
    owner, hints = f"{maker.__name__}: " if isinstance(maker, type) else "", hints_of(maker)
    given = {key: coerce(owner + key, value, hints.get(key)) for key, value in values.items()}
    if kind == "policy" and (_asks_the_world(maker, given) or any(isinstance(v, ForWorld) for v in given.values())):
        return ForWorld(name, maker, given)
    return _made(name, kind, lambda: maker(**given))


def parameters(maker: Any) -> dict[str, bool] | None:
    """Return the parameters of a class or function and whether each is required; None if any is accepted."""
    if hasattr(maker, "_fields"):
        derived = getattr(maker, "derived", ())
        return {field: field not in maker._field_defaults for field in maker._fields if field not in derived}
    try:
        known = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind == parameter.VAR_KEYWORD for parameter in known):
        return None
    by_name = [p for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return {parameter.name: parameter.default is parameter.empty for parameter in by_name}


def _asks_the_world(maker: Any, values: Mapping[str, Any]) -> bool:
    """Whether the object needs its environment: its class has `for_world`, and a value to take from it is missing.

    These values are the required ones, and the largest total of a policy over sets.
    """
    over_sets = getattr(maker, "over_sets", False)
    taken = [key for key, needed in (parameters(maker) or {}).items() if needed or (over_sets and key == "total")]
    return hasattr(maker, "for_world") and any(key not in values for key in taken)


def _made(name: str, kind: str, make: Callable[[], Any]) -> Any:
    """Create the object and check its kind; report errors of the user's code in one sentence."""
    try:
        made = make()
    except (SetwiseError, OSError):
        raise
    except Exception as error:
        raise InputError(f"{name} cannot be made: {_told(error)}") from error
    in_words, method = KINDS[kind]
    if not hasattr(made, method) or isinstance(made, type):
        raise InputError(f"{name} makes {shown(made)}, which is not {in_words}")
    return made


def _told(error: BaseException) -> str:
    """Describe an error; the type is omitted for TypeError and ImportError."""
    text = " ".join(str(error).split())
    return text if isinstance(error, TypeError | ImportError) and text else f"{type(error).__name__}: {text}"


def _soc(name: str, folders: Sequence[str]) -> Callable[..., Any]:
    """Return the factory of the environment that a file of strict orders describes."""
    from setwise.environments import Rankings

    places = [os.path.join(folder, name) for folder in folders]
    path = next((place for place in [*places, name] if os.path.exists(place)), [*places, name][0])

    def read(k: int = 0, outside: int = 0) -> Any:
        if not (k and outside):
            raise InputError(f"{name} needs k and outside, for example {name}:k=2,outside=1")
        return Rankings.read_soc(path, k, outside)

    return read


def _imported(name: str, kind: str, folders: Sequence[str]) -> Any:
    """Import an attribute of a module, from one of the folders or the working directory."""
    if not is_dotted(name):
        raise InputError(f"the {kind} {name!r} cannot be imported: write module.Name, the file's name without .py")
    module, _, attribute = name.rpartition(".")
    places = [os.path.realpath(folder) for folder in [*folders, os.getcwd()]]
    before = list(sys.path)
    sys.path[:0] = places
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        place = _line_in(places, error)
        raise InputError(f"the {kind} {name!r} cannot be imported: {_told(error)}{place}") from error
    finally:
        sys.path[:] = before
    _check_home(module.split(".")[0], places)
    if not hasattr(found, attribute):
        own = [key for key, value in vars(found).items() if getattr(value, "__module__", None) == found.__name__]
        hint = suggestion(attribute, [key for key in own if not key.startswith("_")])
        raise InputError(f"the {kind} {name!r} cannot be imported: {module} has no {attribute}; {hint}")
    return getattr(found, attribute)


def _check_home(module: str, places: Sequence[str]) -> None:
    """Raise if the module was loaded from elsewhere although the folders contain one of that name.

    Its folder stays at the end of `sys.path`, so that worker processes find the module too.
    """
    file = getattr(sys.modules[module], "__file__", None)
    where = "a part of Python" if file is None else os.path.realpath(file)
    for place in places:
        own = [os.path.join(place, f"{module}.py"), os.path.join(place, module, "__init__.py")]
        if where in own:
            sys.path += [place] if place not in sys.path else []
            return
        if any(map(os.path.exists, own)):
            raise InputError(
                f"{module} in {place} cannot be imported, because another module of that name is loaded already "
                f"({where}); give it another name"
            )


def _line_in(places: Sequence[str], error: BaseException) -> str:
    """Return the line of the user's own code that raised the error."""
    place, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if os.path.dirname(file) in places:
            place = f" ({os.path.basename(file)}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return place
