"""Updates that a file has as two records: a "before" half and, right after it, an "after" half."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cdcwire.core.errors import DecodeError
from cdcwire.core.rows import Row
from cdcwire.model.events import Event, RowChange


def join_adjacent_halves(changes: Iterable[Row | Event]) -> Iterator[Row | Event]:
    """Join each "before" half with the "after" half right after it; keep a lone half as it is.

    An error of ``changes`` is raised after the changes before it.
    """
    waiting: RowChange | None = None
    try:
        for change in changes:
            if waiting is not None:
                first, waiting = waiting, None
                if _is_other_half(first, change):
                    assert isinstance(change, RowChange)
                    yield replace(change, before=first.before, half=None)
                    continue
                yield first
            if isinstance(change, RowChange) and change.half == "before":
                waiting = change
            else:
                yield change
    except DecodeError:
        if waiting is not None:
            yield waiting
        raise
    if waiting is not None:
        yield waiting


def _is_other_half(first: RowChange, change: Row | Event) -> bool:
    if not isinstance(change, RowChange) or change.half != "after":
        return False
    return change.position == first.position and change.table == first.table
