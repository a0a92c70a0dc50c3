"""Programs that end with the one that started them, however that ends (Linux)."""

from __future__ import annotations

import ctypes
import signal

_SET_PARENT_DEATH_SIGNAL = 1
_library = ctypes.CDLL(None)  # looked up here: between fork and exec nothing may be imported


def end_with_parent() -> None:
    """Let this process be ended when its parent has; ``preexec_fn`` of a subprocess."""
    _library.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
