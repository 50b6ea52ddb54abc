"""The policies as they are measured: a label, as on the command line, and how to make it for a world."""

from collections.abc import Callable
from typing import Any

from setwise.policies import POLICIES

VARIANTS: dict[str, dict[str, Any]] = {
    "doubling:restart=yes": {"restart": True},
    "cucb:clip=yes": {"clip": True},
    "mnl-ucb:cap=no": {"cap": False},
    "mnl-thompson:gaussian=yes": {"gaussian": True},
    "stagewise-elimination:bernstein=yes": {"bernstein": True},
    "stagewise-elimination:cumulative=yes": {"cumulative": True},
    "stagewise-elimination:cumulative=yes,bernstein=yes": {"cumulative": True, "bernstein": True},
    "max-min-ucb:pad=no": {"pad": False},
    "winner-beats-all:pad=no": {"pad": False},
    "multi-dueling:pad=no": {"pad": False},
}


def _maker(name: str, parameters: dict[str, Any]) -> Callable[[Any], Any]:
    def make(world: Any) -> Any:
        cls = POLICIES[name]
        return cls.for_world(world) if hasattr(cls, "for_world") else cls(**parameters)

    return make


PLAYERS: dict[str, Callable[[Any], Any]] = {
    label: _maker(label.partition(":")[0], VARIANTS.get(label, {})) for label in [*POLICIES, *VARIANTS]
}
