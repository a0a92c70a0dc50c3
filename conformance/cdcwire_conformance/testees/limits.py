"""The limits of a testee, and those that hold without options."""

from __future__ import annotations

from dataclasses import dataclass

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
