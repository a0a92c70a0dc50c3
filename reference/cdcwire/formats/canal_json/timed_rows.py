"""Rows that tell when they were committed and sent: two values behind those of every ``Row``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from cdcwire.core.rows import Row
from cdcwire.model.events import Event, RowChange


class TimedRow(Row):
    """A row with its ``es`` and ``ts``. Without the extension ``commit_ts`` is None.

    It is a tuple of ten, of which ``Row`` knows the first eight.
    """

    __slots__ = ()

    @property
    def commit_ms(self) -> int:
        return _times_of(self)[0]

    @property
    def sent_ms(self) -> int:
        return _times_of(self)[1]

    def to_event(self) -> Event:
        """Return the neutral event of this row."""
        event = super().to_event()
        assert isinstance(event, RowChange)
        position = replace(event.position, commit_ms=self.commit_ms, sent_ms=self.sent_ms)
        return replace(event, position=position)

    def __reduce__(self) -> tuple[object, ...]:  # Row's own takes eight values
        return new_timed_row, (tuple(self),)


new_timed_row: Callable[[tuple[object, ...]], TimedRow] = partial(tuple.__new__, TimedRow)


def _times_of(row: tuple[Any, ...]) -> tuple[int, int]:
    commit_ms, sent_ms = row[8:]
    return commit_ms, sent_ms
