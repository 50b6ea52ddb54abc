"""Draw a figure in another process, which loads Matplotlib during the runs: loading takes as long as a short run."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from setwise.errors import WorkerLost


class FigureProcess:
    """The drawing process; it waits for an order, and exits if none comes."""

    def __enter__(self) -> "FigureProcess":
        command = [sys.executable, "-m", "setwise.simulation.figure_process"]
        # A session of its own, so that Ctrl-C stops only the runs, and the finished ones are still drawn.
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True, start_new_session=True)
        return self

    def __exit__(self, *reason: object) -> None:
        self.process.communicate()

    def start(self, results: Sequence[str], path: str, title: str, labels: Sequence[str]) -> None:
        """Draw the regret of saved results, as `plot_regret` does."""
        order = {"results": results, "path": path, "title": title, "labels": labels}
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # `finish` raises the error

    def finish(self, path: str) -> None:
        """Wait for the figure."""
        _, errors = self.process.communicate()
        if self.process.returncode != 0:
            raise WorkerLost(f"{path} could not be drawn: {(errors.strip().splitlines() or ['no reason given'])[-1]}")


def main() -> None:
    from io import BytesIO

    from setwise.simulation.plot import new_figure, plot_regret
    from setwise.simulation.result import Result

    figure, axes = new_figure()  # the first figure is slow, as fonts are loaded
    axes.plot([0, 1], label="round")
    axes.legend()
    figure.savefig(BytesIO())
    text = sys.stdin.readline()
    if text:
        order: Any = json.loads(text)
        results = [Result.load(os.fspath(path)) for path in order["results"]]
        plot_regret(results, order["path"], order["title"], order["labels"])


if __name__ == "__main__":
    main()
