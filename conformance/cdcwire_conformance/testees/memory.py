"""The memory that a process and its children hold, measured while they run.

The limit is on resident memory. A limit on address space would stop Go and Java, which reserve far
more than they use. The numbers come from ``/proc``; where there is none, nothing is measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MEBIBYTE = 1 << 20
DEFAULT_LIMIT = 2048 * MEBIBYTE
_PROC = Path("/proc")
_SHARE = 0.75  # of the machine's memory, for all testees together


def over_limit_text(limit: int | None) -> str:
    """Return what is said of a process that used more memory than its limit."""
    return f"it used more than {(limit or 0) // MEBIBYTE} MiB of memory (--memory)"


def can_measure() -> bool:
    """Return whether this platform shows the memory of processes."""
    return (_PROC / "self" / "statm").exists()


def default_limit(jobs: int) -> int | None:
    """Return the limit for each of ``jobs`` testees; None where nothing can be measured."""
    if not can_measure():
        return None
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(DEFAULT_LIMIT, int(total * _SHARE / max(1, jobs)))


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process and all that it has started, directly or through others."""
    waiting = [pid]
    seen: set[int] = set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        yield current
        waiting.extend(_children(current))


def _children(pid: int) -> Iterator[int]:
    try:
        for task in os.listdir(_PROC / str(pid) / "task"):
            text = (_PROC / str(pid) / "task" / task / "children").read_text(encoding="ascii")
            yield from map(int, text.split())
    except (OSError, ValueError):  # it ended meanwhile
        return


def resident_memory(pid: int) -> int:
    """Return the resident bytes of a process and its children; 0 where none is left."""
    page = os.sysconf("SC_PAGE_SIZE")
    return page * sum(map(_resident_pages, process_tree(pid)))


def _resident_pages(pid: int) -> int:
    try:
        return int((_PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
