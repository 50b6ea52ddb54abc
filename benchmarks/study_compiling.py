"""Compile a study in this process, and print the memory before and after, and the seconds.

python study_compiling.py
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def compiled_in_a_process(cache: str) -> dict[str, float]:
    """Measure a new process, with that cache folder for compiled code."""
    command = [sys.executable, str(Path(__file__))]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300, env=environment)
    return dict(json.loads(done.stdout))


def main() -> None:
    import setwise as sw
    from memory import peak
    from setwise.study import policy_runner

    study = sw.Study.memory([f"arm {number}" for number in range(100)], 10, sw.UCB(), 10**6, seed=1)
    study.tell(study.ask(), {})
    before = peak()
    policy_runner.MIN_CALL_SECONDS = policy_runner.COMPILE_AFTER_SECONDS = -1.0
    start = time.perf_counter()
    ready: list[str] = []
    while ready != ["select", "update"]:
        study.tell(study.ask(), {})
        ready = study._read(lambda replica: replica.runner.wait())
    print(json.dumps({"before": before, "after": peak(), "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
