"""Calls of one function with many arguments, on all cores."""

from collections.abc import Callable, Iterable
from typing import Any

from setwise.engines import Job, answers
from setwise.evidence.store import Progress


def spread(
    work: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    what: str,
    progress: Progress | None,
    processes: int | None,
) -> list[Any]:
    """Do all jobs; the answers in their order."""
    report = None if progress is None else (lambda label, share: progress(what, share))
    return answers([Job(work, job, what) for job in jobs], processes, report)
