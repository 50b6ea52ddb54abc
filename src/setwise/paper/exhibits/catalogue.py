"""The figures, tables and claims of the paper, in the order of the report."""

from collections.abc import Mapping, Sequence

from setwise.paper.exhibits import (
    claims,
    figure_1,
    figure_2,
    figure_3,
    regret_panels,
    sensitivity,
    table_1,
    violations,
)
from setwise.paper.exhibits.exhibit import Exhibit
from setwise.types import InputError
from setwise.validation import suggestion

EXHIBITS: Mapping[str, Exhibit] = {
    module.EXHIBIT.name: module.EXHIBIT
    for module in (figure_1, figure_2, figure_3, regret_panels, table_1, sensitivity, violations, claims)
}


def choose(names: Sequence[str]) -> list[Exhibit]:
    """Return the exhibits of these names, in the order of the report; all if no name is given."""
    for name in names:
        if name not in EXHIBITS:
            raise InputError(f"the report has no {name!r}; {suggestion(name, EXHIBITS)}")
    return [exhibit for name, exhibit in EXHIBITS.items() if not names or name in names]
