"""The limits of a testee, and the memory that its processes hold, measured while they run.

The limit of memory is on resident memory. A limit on address space would stop Go and Java, which
reserve far more than they use. The numbers come from ``/proc``; where there is none, nothing is
measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from cdcwire_conformance.testees.processes import PROC

MEBIBYTE = 1 << 20
LINE_LIMIT = 64 * MEBIBYTE  # of one answer
MEMORY_LIMIT = 2048 * MEBIBYTE
TIMEOUT = 10.0  # seconds for one answer
START_TIMEOUT = 60.0  # a virtual machine may need its time


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for an answer and for the start, bytes of an answer and of memory (None: any)."""

    timeout: float = TIMEOUT
    start_timeout: float = START_TIMEOUT
    line: int = LINE_LIMIT
    memory: int | None = None


USUAL_LIMITS = Limits()


_SHARE = 0.75  # of the machine's memory, for all testees together


def over_limit_text(limit: int | None) -> str:
    """Return what is said of a process that used more memory than its limit."""
    return f"it used more than {(limit or 0) // MEBIBYTE} MiB of memory (--memory)"


def can_measure() -> bool:
    """Return whether this platform shows the memory of processes."""
    return (PROC / "self" / "statm").exists()


def default_limit(jobs: int) -> int | None:
    """Return the limit for each of ``jobs`` testees; None where nothing can be measured."""
    if not can_measure():
        return None
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(MEMORY_LIMIT, int(total * _SHARE / max(1, jobs)))


def resident_memory(pids: Iterable[int]) -> int:
    """Return the resident bytes of processes; 0 for those that have ended."""
    page = os.sysconf("SC_PAGE_SIZE")
    return page * sum(map(_resident_pages, pids))


def _resident_pages(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
