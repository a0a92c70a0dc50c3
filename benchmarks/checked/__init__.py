"""Checked plans: the simplest decoders that are as strict as the plain ones.

The standard library parses a message, and a plan checks and converts its columns one by one. A
message that is not regular goes to the plain decoder. The benchmarks compare the generated decoders
with them. A generated decoder stays in the package only where it is at least 1.5 times as fast.
DataHub's Blob was not, so its fast decoder is such a plan. ``strictness`` holds each plan to the
plain decoder.
"""

from __future__ import annotations

from typing import Any

from cdcwire.core.compiled import Irregular


def irregular() -> Any:
    """Raise Irregular, within an expression."""
    raise Irregular
