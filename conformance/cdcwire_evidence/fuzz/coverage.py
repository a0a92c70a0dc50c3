"""Reports lines of the codecs that run for the first time: one event for each line, then none.

``sys.monitoring`` (Python 3.12) stops watching a line once it ran, so this costs nothing later.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

_PACKAGE = "/cdcwire/"
_TOOL = 4  # a number that coverage.py and debuggers leave free


@contextmanager
def new_lines() -> Iterator[Callable[[], int]]:
    """Give a function that returns how many lines of the codecs ran for the first time so far.

    It always returns 0 before Python 3.12.
    """
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None:
        yield lambda: 0
        return
    count = 0

    def see(code: CodeType, line: int) -> object:
        nonlocal count
        count += _PACKAGE in code.co_filename
        return monitoring.DISABLE

    event = monitoring.events.LINE
    monitoring.use_tool_id(_TOOL, "cdcwire fuzz")
    monitoring.register_callback(_TOOL, event, see)
    monitoring.set_events(_TOOL, event)
    monitoring.restart_events()
    try:
        yield lambda: count
    finally:
        monitoring.set_events(_TOOL, 0)
        monitoring.register_callback(_TOOL, event, None)
        monitoring.free_tool_id(_TOOL)
