"""Threads of this process: nothing has to be sent anywhere, so that any class will do.

Compiled code runs side by side. Compiling itself goes on one thing at a time, so jobs that share compiled code follow
each other on one thread, and others play meanwhile.
"""

import os
import threading
import time
from collections.abc import Sequence
from typing import Any

from setwise.engines.jobs import Engine, Forecast, Job, Queue, Report, Take, one_by_one


class Threads(Engine):
    """Jobs in this process, on several threads."""

    def __init__(self, at_once: int | None = None) -> None:
        self.at_once = at_once or os.cpu_count() or 1

    def do(self, jobs: Sequence[Job], take: Take, report: Report | None = None) -> None:
        from concurrent.futures import ThreadPoolExecutor, wait

        count = min(self.at_once, len(jobs))
        if count <= 1:
            one_by_one(jobs, take, report)
            return
        queue, forecast, stop = Queue(jobs), Forecast(jobs), threading.Event()

        def one(number: int) -> tuple[Any, float]:
            def progress(share: float) -> None:
                if stop.is_set():
                    raise KeyboardInterrupt  # what is played on a thread takes this as it takes one from the keyboard
                forecast.pending[number] = share

            started = time.monotonic()
            return jobs[number].run(progress), time.monotonic() - started

        busy: dict[Any, tuple[int, set[str]]] = {}
        idle: list[set[str]] = [set() for _ in range(count)]  # what each thread has compiled
        with ThreadPoolExecutor(count) as pool:
            try:
                while queue or busy:
                    while queue and idle:
                        compiled = idle.pop()
                        number = queue.next(compiled)
                        compiled.add(jobs[number].group)
                        busy[pool.submit(one, number)] = number, compiled
                    done, _ = wait(busy, timeout=0.2, return_when="FIRST_COMPLETED")
                    for task in done:
                        number, compiled = busy.pop(task)
                        answer, seconds = task.result()
                        forecast.note(number, seconds)
                        idle.append(compiled)
                        take(number, answer)
                    if report:
                        label = jobs[next(iter(busy.values()))[0] if busy else -1].label
                        report(label, forecast.share())
            except BaseException:
                stop.set()
                raise
