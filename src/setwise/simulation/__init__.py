"""Play a policy in an environment, many times, and keep what happened."""

from setwise.simulation.result import Result
from setwise.simulation.simulate import Interrupted, simulate

__all__ = ["Interrupted", "Result", "simulate"]
