"""The common part of the rules of formats that are stored in files."""

from __future__ import annotations

from collections.abc import Sequence

from cdcwire.core.reader import Span


def is_read(spans: Sequence[Span]) -> bool:
    """Return whether a reader of rows looks into a file: not into an index file."""
    return not all(span.clause == "storage: index files" for span in spans)
