"""Figure 2 of the paper: four sets of the camera example with their probabilities."""

from collections.abc import Sequence
from fractions import Fraction

from setwise.experiments.outcome import Order, Outcome
from setwise.paper.exhibits.exhibit import Exhibit, Scale
from setwise.paper.instances import CAMERAS, camera_probabilities
from setwise.report.parts import Bar, Bars, Details, Section, Text, TextTable

BEST = ("Nikon", "Canon", "Sony")
DIGITAL = "Digital Camera"
# The paper's text fixes set #1, and says that in #3 Digital Camera is ahead of an arm of the optimal set.
SHOWN = (
    BEST,
    (DIGITAL, "Keyboard", "Shoes"),
    ("Nikon", DIGITAL, "Shoes"),
    ("Sony", DIGITAL, "Keyboard"),
)


def leaders(arms: Sequence[str], probabilities: Sequence[Fraction]) -> tuple[str, ...]:
    """Return the arms of largest probability in a set.

    >>> leaders(("a", "b", "c"), (Fraction(1, 4), Fraction(1, 2), Fraction(1, 2)))
    ('b', 'c')
    """
    return tuple(arm for arm, p in zip(arms, probabilities, strict=True) if p == max(probabilities))


def places_of(arm: str) -> tuple[int, int, int]:
    """Count the sets with an arm in which it is ahead of the others, tied for the lead, and behind."""
    firsts = [leaders(arms, row) for arms, row in camera_probabilities().items() if arm in arms]
    alone = sum(first == (arm,) for first in firsts)
    level = sum(arm in first for first in firsts) - alone
    return alone, level, len(firsts) - alone - level


def comparisons(arm: str, other: str) -> tuple[int, int]:
    """Count the sets with both arms in which the first has more, and those in which it has less."""
    pairs = [
        (row[arms.index(arm)], row[arms.index(other)])
        for arms, row in camera_probabilities().items()
        if arm in arms and other in arms
    ]
    return sum(p > q for p, q in pairs), sum(p < q for p, q in pairs)


def orders(scale: Scale) -> list[Order]:
    """Return nothing: no runs are needed."""
    return []


def section(scale: Scale, outcome: Outcome) -> Section:
    """Return the picture, its description, and all sets."""
    return Section("figure-2", EXHIBIT.title, [bars(), Text(what_one_sees()), Details("All 20 sets", [all_sets()])])


def bars() -> Bars:
    """Plot the four sets."""
    table = camera_probabilities()
    groups = []
    for number, arms in enumerate(SHOWN, start=1):
        row = table[arms]
        own = [Bar(arm, float(p), _style(arm)) for arm, p in zip(arms, row, strict=True)]
        optimal = ", optimal" if arms == BEST else ""
        groups.append((f"#{number}{optimal}: sum {float(sum(row)):g}", own))
    return Bars(
        name="figure-2-sets",
        title="Four sets of the camera example",
        groups=groups,
        caption="P(a|s) of the three arms of a set. Set #1 is optimal; in the three others Digital Camera is ahead, in "
        "#3 and #4 of an arm of the optimal set. The paper's text gives set #1 and what #3 has to show; which sets "
        "stand for the others is chosen here.",
        value_label="probability P(a|s)",
    )


def _style(arm: str) -> str:
    if arm == DIGITAL:
        return f"arm {CAMERAS.index(DIGITAL)}"
    return "best" if arm in BEST else "other"


def what_one_sees() -> str:
    """Describe the picture, with counts from the probabilities."""
    table = camera_probabilities()
    ahead, level, behind = places_of(DIGITAL)
    contrary = [arm for arm in BEST if all(comparisons(arm, DIGITAL))]
    counts = ", ".join("{} {} and {}".format(arm, *comparisons(arm, DIGITAL)) for arm in contrary)
    drop = min(
        row[arms.index(arm)] - table[BEST][BEST.index(arm)]
        for arms, row in table.items()
        for arm in arms
        if arm in BEST
    )
    return (
        f"{DIGITAL} has the highest probability in {ahead} of the {ahead + level + behind} sets that contain it, "
        f"shares it in {level} and is behind in {behind}; yet no set with it has a sum above "
        f"{float(max(sum(row) for arms, row in table.items() if DIGITAL in arms)):g}, and the optimal one has "
        f"{float(sum(table[BEST])):g}. There is no total order: an arm is ahead of {DIGITAL} in some sets and behind "
        f"it in others ({counts} sets). Weak optimal set consistency holds all the same: in no set does an arm of the "
        f"optimal set have less than there, and the least difference is {float(drop):g}."
    )


def all_sets() -> TextTable:
    """Tabulate all sets by descending sum, with the arms that are ahead."""
    ranked = sorted(camera_probabilities().items(), key=lambda item: -sum(item[1]))
    top = sum(ranked[0][1])
    rows = []
    for arms, row in ranked:
        better = sum(sum(other) > sum(row) for _, other in ranked)
        rows.append(
            [
                str(better + 1),
                ", ".join(arms),
                ", ".join(f"{float(p):g}" for p in row),
                f"{float(sum(row)):g}",
                f"{float(top - sum(row)):g}",
                " and ".join(leaders(arms, row)),
            ]
        )
    return TextTable(
        name="figure-2-all-sets",
        caption="All sets of the camera example; sets of equal sum have the same rank.",
        head=["rank", "set", "P(a|s)", "sum", "gap", "ahead"],
        rows=rows,
    )


EXHIBIT = Exhibit("figure-2", "Figure 2: four sets of the camera example", orders, section)
