"""The figures, tables and claims of the paper, in the order of the report."""

from collections.abc import Mapping, Sequence

from setwise.declare import suggestion
from setwise.paper.exhibits import claims, figure_1, figure_2, figure_3, panels, sensitivity, table_1
from setwise.paper.exhibits.exhibit import Exhibit
from setwise.types import InputError

EXHIBITS: Mapping[str, Exhibit] = {
    module.EXHIBIT.name: module.EXHIBIT
    for module in (figure_1, figure_2, figure_3, panels, table_1, sensitivity, claims)
}


def choose(names: Sequence[str]) -> list[Exhibit]:
    """The exhibits of these names, in the order of the report; all, if there are none."""
    for name in names:
        if name not in EXHIBITS:
            raise InputError(f"the report has no {name!r}; {suggestion(name, EXHIBITS)}")
    return [exhibit for name, exhibit in EXHIBITS.items() if not names or name in names]
