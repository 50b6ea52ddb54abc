"""How regret depends on alpha, on k and n, on epsilon, and on the largest reward B."""

from setwise.experiments.outcome import Order, Outcome
from setwise.paper.exhibits import sensitivity_alpha, sensitivity_bound, sensitivity_epsilon, sensitivity_sizes
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.report.parts import Section

STUDIES = (sensitivity_alpha, sensitivity_sizes, sensitivity_epsilon, sensitivity_bound)


def orders(scale: Scale) -> list[Order]:
    """What all four studies play."""
    return [order for study in STUDIES for sweep in study.sweeps(scale).values() for order in sweep.orders()]


def section(scale: Scale, outcome: Outcome) -> Section:
    """The four studies, one after the other."""
    return Section("sensitivity", EXHIBIT.title, [part for study in STUDIES for part in study.parts(scale, outcome)])


EXHIBIT = Exhibit("sensitivity", "Sensitivity: alpha, k and n, epsilon, bounded rewards", orders, section)
