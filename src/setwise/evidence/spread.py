"""Independent pieces of work on all cores: in processes, so that policies are compiled side by side."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from setwise.evidence.store import Progress


def spread(
    work: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    what: str,
    progress: Progress | None,
    processes: int | None,
) -> list[Any]:
    """Do all jobs on all cores; the answers in the order of the jobs."""
    jobs = list(jobs)
    cores = processes or os.cpu_count() or 1
    answers: list[Any] = []

    def told(answer: Any) -> None:
        answers.append(answer)
        if progress:
            progress(what, len(answers) / len(jobs))

    if cores == 1 or len(jobs) == 1:
        for job in jobs:
            told(work(*job))
        return answers
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(min(cores, len(jobs)), mp_context=multiprocessing.get_context("spawn")) as pool:
        for task in [pool.submit(work, *job) for job in jobs]:
            told(task.result())
    return answers
