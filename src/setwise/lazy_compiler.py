"""Load the compiler when something is first compiled, and notice a fork that happens meanwhile.

Loading LLVM takes a tenth of a second. A child that is forked while a thread of its parent loads it inherits the lock
of a half-imported module, and would wait for it for ever.
"""

from typing import Any

from setwise.forks import ForkedLock

_loading = ForkedLock("loading the compiler")


def load_compiler() -> Any:
    """Return the module `setwise.compiled`."""
    with _loading:
        from setwise import compiled

        return compiled
