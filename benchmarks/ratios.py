"""The table that the benchmark prints: what, ours, the yardstick, their ratio, and what it should be."""

from measuring import nanoseconds

HEAD = ("what", "ours", "yardstick", "ratio", "target")


class Ratios:
    """Rows, printed as they come."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, ...]] = []

    def add(
        self, what: str, mine: str, yardstick: str, ratio: float, target: float | None = None, at_most: bool = False
    ) -> None:
        """A row; one without a target tells a fact."""
        wanted = ""
        if target is not None:
            met = ratio <= target if at_most else ratio >= target
            wanted = f"{'at most' if at_most else 'at least'} {target:g}{'' if met else '  MISSED'}"
        self.rows.append((what, mine, yardstick, f"{ratio:,.2f}", wanted))
        print("  " + "  ".join(self.rows[-1]), flush=True)

    def compare_rounds(self, what: str, mine: float, yardstick: float, target: float | None = None) -> None:
        """A row of how many times faster a round is."""
        self.add(what, nanoseconds(mine), nanoseconds(yardstick), yardstick / mine, target)

    def text(self) -> str:
        """All rows in columns."""
        lines = [HEAD, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
