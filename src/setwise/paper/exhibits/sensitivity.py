"""Sensitivity of regret to alpha, to k and n, to epsilon, and to the largest reward B."""

from setwise.experiments.outcome import Order, Outcome
from setwise.paper.exhibits import sensitivity_alpha, sensitivity_bound, sensitivity_epsilon, sensitivity_sizes
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.report.parts import Section

SWEEPS = (sensitivity_alpha, sensitivity_sizes, sensitivity_epsilon, sensitivity_bound)


def orders(scale: Scale) -> list[Order]:
    """Return the runs of all four sweeps."""
    return [order for own in SWEEPS for sweep in own.sweeps(scale).values() for order in sweep.orders()]


def section(scale: Scale, outcome: Outcome) -> Section:
    """Return the four sweeps, one after the other."""
    return Section("sensitivity", EXHIBIT.title, [part for own in SWEEPS for part in own.parts(scale, outcome)])


EXHIBIT = Exhibit("sensitivity", "Sensitivity: alpha, k and n, epsilon, bounded rewards", orders, section)
