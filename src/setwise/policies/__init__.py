"""The policies, one algorithm to a file."""

from typing import Any

from setwise.policies.ucb import UCB

POLICIES: dict[str, Any] = {"ucb": UCB}

__all__ = ["POLICIES", "UCB"]
