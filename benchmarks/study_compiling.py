"""What it takes a process to have a study compile, printed by that process: memory before and after, and seconds.

python study_compiling.py
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def compiled_in_a_process(cache: str) -> dict[str, float]:
    """What a new process takes, with that folder for compiled code."""
    command = [sys.executable, str(Path(__file__))]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300, env=environment)
    return dict(json.loads(done.stdout))


def main() -> None:
    import setwise as sw
    from memory import peak
    from setwise.study import methods

    study = sw.Study.memory([f"arm {number}" for number in range(100)], 10, sw.UCB(), 10**6, seed=1)
    study.tell(study.ask(), {})
    before = peak()
    methods.CALL = methods.PATIENCE = -1.0
    start = time.perf_counter()
    ready: list[str] = []
    while ready != ["select", "update"]:
        study.tell(study.ask(), {})
        ready = study.read(lambda fold: fold.methods.wait())
    print(json.dumps({"before": before, "after": peak(), "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
