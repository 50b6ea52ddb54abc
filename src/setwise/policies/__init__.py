"""The policies, one algorithm per file; a file is loaded when its class is first used.

The list of them is `__init__.pyi` beside this file. To add a policy, add its file and one line there.
"""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

_LISTED = re.findall(
    r"^from setwise\.policies\.(\w+) import (\w+)", Path(__file__).with_suffix(".pyi").read_text("utf-8"), re.MULTILINE
)
NAMES = {module.replace("_", "-"): cls for module, cls in _LISTED}  # the classes by their names on the command line
_MODULES = {cls: f"setwise.policies.{module}" for module, cls in _LISTED}

__all__ = ["NAMES", "POLICIES", *sorted(_MODULES)]


class Policies(Mapping[str, Any]):
    """The policy classes by their command-line names."""

    def __getitem__(self, name: str) -> Any:
        return __getattr__(NAMES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


POLICIES = Policies()


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'setwise.policies' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """All policies, loaded or not."""
    return sorted({*globals(), *__all__})
