"""Rows that tell their operation: what Avro has beside the values of every ``Row``.

Other formats tell it by the images that a row has. Avro sends no old values, so that an update has
one image as an insert has, and an "upsert" is either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from cdcwire.core.rows import Row
from cdcwire.formats.avro.fast import Row as AvroRow
from cdcwire.model.events import Event, Op


class ToldRow(Row):
    """A row with its operation and its physical time, which deletes don't have.

    It is a tuple of ten, of which ``Row`` knows the first eight. ``commit_ts`` is None where the
    message has none.
    """

    __slots__ = ()

    @property
    def op(self) -> Op:
        return _told_by(self)[0]

    @property
    def commit_ms(self) -> int | None:
        return _told_by(self)[1]

    def __reduce__(self) -> tuple[object, ...]:  # Row's own takes eight values
        return _new_row, (tuple(self),)


_new_row: Callable[[tuple[object, ...]], ToldRow] = partial(tuple.__new__, ToldRow)


def _told_by(row: tuple[Any, ...]) -> tuple[Op, int | None]:
    op, commit_ms = row[8:]
    return op, commit_ms


def told_rows(found: Iterable[AvroRow | Event]) -> list[Row | Event]:
    """Return Avro's rows in the form of all other formats' rows; events as they are."""
    return [_told(each) if isinstance(each, AvroRow) else each for each in found]


def _told(row: AvroRow) -> ToldRow:
    table, op, commit_ts, commit_ms, layout, values, sent, _ = row
    if op == "delete":
        return _new_row((table, commit_ts, None, None, None, layout, values, sent, op, commit_ms))
    return _new_row((table, commit_ts, None, layout, values, None, None, sent, op, commit_ms))
