"""What a study is: its arms, the size of its sets, its policy, horizon, seed and window. It never changes."""

import dataclasses
import inspect
import secrets
from typing import Any

from setwise.declare import check_contract, check_sizes, shown, whole_number
from setwise.digests import value_digest
from setwise.policies.doubling import NEEDED, Doubling
from setwise.policies.ucb import UCB
from setwise.study.names import check_arms, check_window
from setwise.study.policy_json import policy_from_json, policy_to_json
from setwise.study.streams import learning_stream
from setwise.types import InputError

VERSION = 1  # of what is stored; a journal of a newer one is refused
LARGEST_SEED = 1 << 63


@dataclasses.dataclass(frozen=True)
class Definition:
    """What a study is.

    arms: the names of the arms there were at first
    k: how many arms a set has
    policy: as it was given
    horizon: how many rounds are planned; None if that is not known
    seed: equal seeds and equal feedback give equal decisions
    window: after how many microseconds a decision without feedback is closed; None for never
    """

    arms: tuple[str, ...]
    k: int
    policy: Any
    horizon: int | None
    seed: int
    window: int | None

    @classmethod
    def make(cls, arms: Any, k: Any, policy: Any, horizon: Any, seed: Any, window: Any) -> "Definition":
        """The definition, with all that was given checked."""
        names = check_arms(arms)
        _, k = check_sizes(len(names), k)
        policy = UCB() if policy is None else policy
        if isinstance(policy, type):
            raise InputError(f"policy is the class {policy.__name__}; give an object of it, {policy.__name__}()")
        check_contract(type(policy), "policy")
        horizon = None if horizon is None else whole_number("horizon", horizon, 1)
        seed = secrets.randbits(32) if seed is None else whole_number("seed", seed, 0)
        if seed >= LARGEST_SEED:
            raise InputError(f"seed is {seed}, which is too large; it has to be below 2^63")
        made = cls(names, k, policy, horizon, seed, check_window(window))
        made.first_state()  # a policy that cannot play here refuses, with its reason
        policy_to_json(policy)
        return made

    @property
    def player(self) -> Any:
        """The policy that plays: without a horizon, the one given with a horizon that doubles, if it matters to it."""
        if self.horizon is not None or not self._asks_for_horizon():
            return self.policy
        lacking = [name for name in NEEDED if not hasattr(self.policy, name)]
        if lacking:
            raise InputError(
                f"{type(self.policy).__name__} has to know how many rounds there will be, and cannot change that "
                "later: give horizon=, or take a policy that does without, such as UCB() or Thompson()"
            )
        return Doubling(base=self.policy)

    def first_state(self) -> Any:
        """The state of the player before the first round."""
        return self.player.init(len(self.arms), self.k, self.horizon or 1, learning_stream(self.seed))

    def _asks_for_horizon(self) -> bool:
        """Whether the horizon changes anything: then the first states for two horizons differ."""
        init = inspect.unwrap(type(self.policy).init)
        first, second = (
            init(self.policy, len(self.arms), self.k, horizon, learning_stream(0)) for horizon in (10, 10_000)
        )
        return value_digest(first) != value_digest(second)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "arms": list(self.arms),
            "k": self.k,
            "policy": policy_to_json(self.policy),
            "horizon": self.horizon,
            "seed": self.seed,
            "window": self.window,
        }

    @classmethod
    def from_json(cls, kept: dict[str, Any], policy: Any = None) -> "Definition":
        if kept["version"] > VERSION:
            raise InputError(
                f"the study was created by a newer version of Setwise (its format is {kept['version']}, "
                f"known here is {VERSION}): upgrade Setwise"
            )
        return cls(
            tuple(kept["arms"]),
            kept["k"],
            policy_from_json(kept["policy"], policy),
            kept["horizon"],
            kept["seed"],
            kept["window"],
        )

    def differs_from(self, other: "Definition") -> str | None:
        """In which part two definitions differ, in words; None if in none."""
        for field in dataclasses.fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if value_digest(mine) != value_digest(theirs):
                return f"{field.name} is {shown(theirs)} there and {shown(mine)} here"
        return None
