"""Read what the environment variables say about compiling."""

import os
import sys
from pathlib import Path

from setwise.errors import InputError

FOLDER = "SETWISE_CACHE_DIR"
COMPILER = "SETWISE_COMPILER"
SECONDS = 0.8  # to compile a loop
NUMBA_SECONDS = 8.0  # the same, with Numba
DISABLED = "NUMBA_DISABLE_JIT"  # Numba's own, which means all compiling here


def cache_folder() -> Path:
    """Return the folder for machine code: of the environment variable, or the user's cache folder."""
    chosen = os.environ.get(FOLDER)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "setwise"


def only_numba() -> bool:
    """Whether to compile with Numba alone."""
    chosen = os.environ.get(COMPILER, "") or "setwise"
    if chosen not in ("setwise", "numba"):
        raise InputError(f"{COMPILER}={chosen} is neither setwise nor numba: use one of these")
    return chosen == "numba"


def only_interpreted() -> bool:
    """Whether to compile nothing."""
    return os.environ.get(DISABLED, "0") not in ("", "0")
