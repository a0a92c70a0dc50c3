"""The limits of a testee that hold without options."""

from __future__ import annotations

MEBIBYTE = 1 << 20
LINE_LIMIT = 64 * MEBIBYTE  # of one answer
MEMORY_LIMIT = 2048 * MEBIBYTE
TIMEOUT = 10.0  # seconds for one answer
START_TIMEOUT = 60.0  # a virtual machine may need its time
