"""Play many runs of a policy in an environment, and record the results."""

from setwise.simulation.result import Result
from setwise.simulation.simulate import Interrupted, simulate

__all__ = ["Interrupted", "Result", "simulate"]
