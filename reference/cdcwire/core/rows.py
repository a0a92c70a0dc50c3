"""Typed rows: what the fast decoders give, with as few Python objects as possible.

A ``Row`` is a plain tuple. Its columns are described once by a layout that all rows of that shape
share, so that a reader may compare layouts by identity. ``Row.to_event`` gives the neutral event.

Values are those of the wire: int, float (FLOAT narrowed to float32), bytes for binary columns, and
str for text (bytes if ill-formed UTF-8). Decimals, temporal types, JSON and vectors keep their
text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

from cdcwire.model.events import (
    NO_EXTRA,
    Event,
    Extra,
    Half,
    Image,
    Op,
    Position,
    RowChange,
    Sent,
    Table,
)
from cdcwire.model.kinds import Column

RowValue: TypeAlias = "int | float | str | bytes | None"
Values: TypeAlias = tuple[Any, ...]  # of RowValue
Conversion: TypeAlias = tuple[int, Callable[[Any], Any]]  # index of a column, to its model value


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The columns of one row image. ``conversions`` lead from row values to the model's."""

    columns: tuple[Column, ...]
    conversions: tuple[Conversion, ...] = field(default=())

    def image(self, values: Values) -> Image:
        """Return the neutral image of row values, converted where the model needs it."""
        if not self.conversions:
            return Image(self.columns, values)
        return Image(self.columns, self.model_values(values))

    def model_values(self, values: Values) -> Values:
        """Return row values as the model has them."""
        if not self.conversions:
            return values
        converted = list(values)
        for index, convert in self.conversions:
            if converted[index] is not None:
                converted[index] = convert(converted[index])
        return tuple(converted)


class Row(NamedTuple):
    """One row change.

    ``new`` and ``old``: None for an image that the message does not have. ``half`` says which of
    the two records of a split update this is. None also stands for a field of the position that the
    format does not have.
    """

    table: Table
    op: Op
    commit_ts: int | None
    partition: int | None
    new_layout: Layout | None
    new: Values | None
    old_layout: Layout | None
    old: Values | None
    sent: Sent | None = None
    half: Half | None = None
    commit_ms: int | None = None
    sent_ms: int | None = None
    sequence_id: int | None = None
    extra: Extra | None = None

    @property
    def position(self) -> Position:
        """The place of the change in the stream."""
        return Position(
            commit_ts=self.commit_ts,
            sequence_id=self.sequence_id,
            partition=self.partition,
            commit_ms=self.commit_ms,
            sent_ms=self.sent_ms,
        )

    def to_event(self) -> RowChange:
        """Return the neutral event of this row."""
        (table, op, commit_ts, partition, new_layout, new, old_layout, old) = self[:8]
        sent, half, commit_ms, sent_ms, sequence_id, extra = self[8:]
        before = None if old_layout is None else old_layout.image(old or ())
        after = None if new_layout is None else new_layout.image(new or ())
        # As ``position``, which takes twice the time.
        position = Position(commit_ts, sequence_id, None, None, None, partition, commit_ms, sent_ms)
        return RowChange(table, op, before, after, position, half, sent, extra or NO_EXTRA)


def event_of(row: Row | Event) -> Event:
    """Return the neutral event of a row; any other event as it is."""
    return row.to_event() if isinstance(row, Row) else row


new_row: Callable[[tuple[object, ...]], Row] = partial(tuple.__new__, Row)
"""Makes a row of a tuple of all its fields: half the time of ``Row``, which binds arguments."""


def new_rows(rows: Iterable[tuple[object, ...]]) -> list[Row]:
    """Return rows made of tuples of all their fields, without a call in Python for each."""
    return list(map(tuple.__new__, repeat(Row), rows))


NOTHING_ELSE = (None,) * 5
"""What a row has after ``sent`` where it has nothing else."""
