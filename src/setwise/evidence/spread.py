"""Calls of one function with many arguments, on all cores."""

from collections.abc import Callable, Iterable
from typing import Any

from setwise.evidence.store import Progress
from setwise.spread import Job
from setwise.spread import spread as spread_jobs


def spread(
    work: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    what: str,
    progress: Progress | None,
    processes: int | None,
) -> list[Any]:
    """Do all jobs; the answers in their order."""
    report = None if progress is None else (lambda label, share: progress(what, share))
    return spread_jobs([Job(work, job, what) for job in jobs], processes, report)
