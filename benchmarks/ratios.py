"""Table of the benchmark: name, ours, yardstick, ratio, and target."""

from measuring import nanoseconds

HEAD = ("what", "ours", "yardstick", "ratio", "target")


class Ratios:
    """Rows, printed as they arrive."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, ...]] = []

    def add(
        self, what: str, mine: str, yardstick: str, ratio: float, target: float | None = None, at_most: bool = False
    ) -> None:
        """Add a row; without a target it is information only."""
        wanted = ""
        if target is not None:
            met = ratio <= target if at_most else ratio >= target
            wanted = f"{'at most' if at_most else 'at least'} {target:g}{'' if met else '  MISSED'}"
        self.rows.append((what, mine, yardstick, f"{ratio:,.2f}", wanted))
        print("  " + "  ".join(self.rows[-1]), flush=True)

    def compare_rounds(self, what: str, mine: float, yardstick: float, target: float | None = None) -> None:
        """Add a row with the speed-up of a round."""
        self.add(what, nanoseconds(mine), nanoseconds(yardstick), yardstick / mine, target)

    def text(self) -> str:
        """Format all rows in columns."""
        lines = [HEAD, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
