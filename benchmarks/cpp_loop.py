"""Algorithm 1 on the paper's multinomial logit world as a plain C++ loop."""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("loop.cpp")
BUILD = SOURCE.parent / ".build"


def build() -> Path | None:
    """Return the compiled loop, rebuilt if its source is newer; None without g++."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    program = BUILD / "loop"
    if program.exists() and program.stat().st_mtime > SOURCE.stat().st_mtime:
        return program
    BUILD.mkdir(exist_ok=True)
    (BUILD / ".gitignore").write_text("*\n")
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        fresh = Path(folder) / "loop"
        subprocess.run([compiler, "-O3", "-o", str(fresh), str(SOURCE)], check=True)
        fresh.replace(program)
    return program


def run(horizon: int, runs: int = 1) -> tuple[float, float]:
    """Return the seconds per round and the mean regret of the runs."""
    program = build()
    if program is None:
        raise RuntimeError("the C++ loop needs g++, and there is none on the PATH")
    command = [str(program), str(horizon), str(runs)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, regret = map(float, output.split())
    return seconds / (horizon * runs), regret


def main() -> None:
    """Print nanoseconds per round and mean regret."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--horizon", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    seconds, regret = run(options.horizon, options.runs)
    print(f"{seconds * 1e9:.0f} ns/round, mean regret {regret:.2f} over {options.runs} runs")


if __name__ == "__main__":
    main()
