"""Rows that carry their operation and commit time, in addition to the values of every ``Row``.

Other formats imply the operation by the images of a row. Avro sends no old values: an update has
one image, as an insert has, and an "upsert" is either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from cdcwire.core.rows import Row
from cdcwire.formats.avro.fast import Row as AvroRow
from cdcwire.model.events import Event, Op


class OpRow(Row):
    """A row with its operation and its physical time, which deletes lack.

    It is a tuple of ten; ``Row`` names the first eight. ``commit_ts`` is None where the message has
    none.
    """

    __slots__ = ()

    @property
    def op(self) -> Op:
        return _extra_of(self)[0]

    @property
    def commit_ms(self) -> int | None:
        return _extra_of(self)[1]

    def __reduce__(self) -> tuple[object, ...]:  # Row's own takes eight values
        return _new_row, (tuple(self),)


_new_row: Callable[[tuple[object, ...]], OpRow] = partial(tuple.__new__, OpRow)


def _extra_of(row: tuple[Any, ...]) -> tuple[Op, int | None]:
    op, commit_ms = row[8:]
    return op, commit_ms


def to_op_rows(found: Iterable[AvroRow | Event]) -> list[Row | Event]:
    """Return Avro's rows as ``OpRow``, which every reader of rows knows, and events as they are."""
    return [_to_op_row(each) if isinstance(each, AvroRow) else each for each in found]


def _to_op_row(row: AvroRow) -> OpRow:
    table, op, commit_ts, commit_ms, layout, values, sent, _ = row
    if op == "delete":
        return _new_row((table, commit_ts, None, None, None, layout, values, sent, op, commit_ms))
    return _new_row((table, commit_ts, None, layout, values, None, None, sent, op, commit_ms))
