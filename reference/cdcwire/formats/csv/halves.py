"""Updates that a file has as two records: a "before" half and, right after it, an "after" half."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cdcwire.core.errors import DecodeError
from cdcwire.core.rows import Row
from cdcwire.model.events import NO_EXTRA, Event, RowChange
from cdcwire.model.steps import joined_extra


def join_adjacent_halves(changes: Iterable[Row | Event]) -> Iterator[Row | Event]:
    """Join each "before" half with the "after" half right after it; keep a lone half as it is.

    An error of ``changes`` is raised after the changes before it.
    """
    waiting: Row | RowChange | None = None
    try:
        for change in changes:
            if waiting is not None:
                first, waiting = waiting, None
                joined = _joined(first, change)
                if joined is not None:
                    yield joined
                    continue
                yield first
            if isinstance(change, (Row, RowChange)) and change.half == "before":
                waiting = change
            else:
                yield change
    except DecodeError:
        if waiting is not None:
            yield waiting
        raise
    if waiting is not None:
        yield waiting


def _joined(first: Row | RowChange, change: Row | Event) -> Row | RowChange | None:
    """Return the update of a before and an after record; None if they do not belong together."""
    if not isinstance(change, (Row, RowChange)) or change.half != "after":
        return None
    if first.table != change.table:
        return None
    if isinstance(first, Row) and isinstance(change, Row):
        if (first.commit_ts, first.partition) != (change.commit_ts, change.partition):
            return None
        joined = change._replace(old_layout=first.old_layout, old=first.old, half=None)
        if not first.extra:
            return joined
        return joined._replace(extra=joined_extra(first.extra, change.extra or NO_EXTRA) or None)
    before, after = (each.to_event() if isinstance(each, Row) else each for each in (first, change))
    if before.position != after.position:
        return None
    extra = joined_extra(before.extra, after.extra)
    return replace(after, before=before.before, half=None, extra=extra)
