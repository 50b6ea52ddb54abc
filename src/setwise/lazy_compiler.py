"""Load the compiler when something is first compiled, and notice a fork that happens meanwhile.

Loading LLVM takes a tenth of a second. A child that is forked while a thread of its parent loads it inherits the lock
of a half-imported module, and would wait for it for ever.
"""

import os
import threading
from typing import Any

from setwise.errors import WorkerLost

_loading = threading.RLock()
_forked_while_loading = False


def _after_fork() -> None:
    global _forked_while_loading
    if _loading.acquire(blocking=False):
        _loading.release()
    else:
        _forked_while_loading = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def load_compiler() -> Any:
    """Return the module `setwise.compiled`."""
    if _forked_while_loading:
        raise WorkerLost(
            "this process was forked while a thread of its parent was loading the compiler, so that it cannot compile; "
            "start it by another method, such as spawn"
        )
    with _loading:
        from setwise import compiled

        return compiled
