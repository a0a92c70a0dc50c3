"""The fast decoder: Blob records to typed rows, with the plain decoder behind it.

It accepts and rejects exactly what the plain decoder does, by construction: what is not as usual,
damaged or just rare, is given to the plain decoder. Usual are rows without white space whose schema
comes first; see ``row_patterns`` for how the rest is read. What was learned of a table is found by
the text of its schema.

Not read in the fast way: DDL, markers and heartbeats, members that are null though they may be left
out, and all rows under a selection of columns. They come as neutral events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from cdcwire.core.compiled import IRREGULARITIES, BoundedCache, Credit, Irregular
from cdcwire.core.format import EVERYTHING, Selection
from cdcwire.core.strict_json import JsonObject, read_json
from cdcwire.datahub.blob_message import BlobMessage
from cdcwire.datahub.ops import OPS
from cdcwire.datahub.streamx import StreamXType
from cdcwire.formats.datahub_blob.events import columns_of, extra_of, table_of, to_event
from cdcwire.formats.datahub_blob.members import RULES
from cdcwire.formats.datahub_blob.row_patterns import (
    Pattern,
    Read,
    pattern_of,
    readers_of,
)
from cdcwire.formats.datahub_blob.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.datahub_blob.wire import read_record
from cdcwire.model.events import (
    Column,
    Event,
    Extra,
    Half,
    Image,
    Op,
    Position,
    RowChange,
    Table,
)

# Limits of what is kept: characters of schemas, and what a pattern weighs beside its text.
_MAX_CHARACTERS = 1 << 20
_WEIGHT_OF_A_COLUMN = 1 << 9
# Reading a message again and making its pattern takes as long as so many bytes a column and image.
_PRICE_OF_A_COLUMN = 1 << 8
_MAX_SHAPES = 8  # of one table and op
_MAX_OP = 64
_PAYLOAD = ',"payload":'
_OP = '"op":"'

Values: TypeAlias = "tuple[Any, ...]"


class BlobRow(NamedTuple):
    """One row. ``before`` and ``after`` are values in the order of their columns."""

    table: Table
    op: Op
    half: Half | None
    sequence_id: int
    commit_ms: int
    sent_ms: int | None
    checkpoint_ms: int | None
    before_columns: tuple[Column, ...] | None
    before: Values | None
    after_columns: tuple[Column, ...] | None
    after: Values | None
    constant: Extra  # what the messages of the table have in common

    def to_event(self) -> Event:
        """Return the neutral event of this row."""
        before = after = None
        if self.before_columns is not None:
            before = Image(self.before_columns, self.before or ())
        if self.after_columns is not None:
            after = Image(self.after_columns, self.after or ())
        extra = dict(self.constant)
        if self.checkpoint_ms is not None:
            extra["checkpoint_ms"] = str(self.checkpoint_ms)
        position = Position(
            sequence_id=self.sequence_id, commit_ms=self.commit_ms, sent_ms=self.sent_ms
        )
        return RowChange(self.table, self.op, before, after, position, self.half, extra=extra)


_new_row: Callable[[tuple[Any, ...]], BlobRow] = partial(tuple.__new__, BlobRow)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """An image: the indexes of its groups in the order of its columns, and what reads them.

    ``plain_cells``: for texts without any escape, None where the group is the value.
    """

    columns: tuple[Column, ...]
    cells: tuple[tuple[int, Read], ...]
    plain_cells: tuple[tuple[int, Read | None], ...]

    def read(self, groups: tuple[str | None, ...], *, has_escapes: bool) -> Values:
        cells = self.cells if has_escapes else self.plain_cells
        return tuple(
            [
                group if (group := groups[index]) is None or read is None else read(group)
                for index, read in cells
            ]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """How messages of one table and op are read."""

    pattern: Pattern
    table: Table
    op: Op
    half: Half | None
    is_wanted: bool
    before: Part | None
    after: Part | None
    sequence_id: int
    event_time: int
    system_time: int | None
    checkpoint_time: int | None
    constant: Extra


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What was learned of a schema, by the text up to the end of the op."""

    shapes: dict[str, list[Shape]] = field(default_factory=dict)


class RowDecoder:
    """Decodes the records of a feed. Keep one: it learns the tables that it meets.

    What is remembered is bounded, whatever the records hold. Not to be shared between threads.
    """

    def __init__(
        self, selection: Selection = EVERYTHING, settings: Settings = DEFAULT_SETTINGS
    ) -> None:
        self.selection = selection
        self.settings = settings
        self._subjects: BoundedCache[str, Subject] = BoundedCache(_MAX_CHARACTERS)
        self._credit = Credit()

    def decode(self, value: bytes) -> BlobRow | Event | None:
        """Return the row or event of a record; None for a row of a table that is not wanted.

        Raises: DecodeError, the same as ``cdcwire.formats.datahub_blob.decode``.
        """
        if self.selection.columns is None:
            try:
                return self._usual_row(value)
            except IRREGULARITIES:
                pass  # left behind here, so that an error of the plain decoder stands alone
        return self._plain_row(value)

    def decode_event(self, value: bytes) -> Event | None:
        """Return the neutral event of a record. Raises: DecodeError."""
        found = self.decode(value)
        return found.to_event() if isinstance(found, BlobRow) else found

    def _usual_row(self, value: bytes) -> BlobRow | None:
        """Raises: one of IRREGULARITIES."""
        self._credit.earn(len(value))
        text = value.decode()
        start = text.find(_PAYLOAD)
        subject = self._subjects.get(text[:start])
        if subject is None:
            raise Irregular
        for shape in subject.shapes.get(_token(text, start), ()):
            found = shape.pattern.match(text, start)
            if found is not None:
                return _row(shape, found.groups(), "\\" in text)
        raise Irregular

    def _plain_row(self, value: bytes) -> BlobRow | Event | None:
        message = read_record(value, self.settings)
        if self.selection.columns is None and OPS[message.op].group == "row":
            with suppress(*IRREGULARITIES):
                self._learn(value, message)
        return to_event(message, self.selection)

    def _learn(self, value: bytes, message: BlobMessage) -> None:
        """Remember how a message is written. Raises: Irregular where that is not as usual."""
        columns = message.columns or ()
        if not self._credit.spend(_PRICE_OF_A_COLUMN * 2 * len(columns)):
            raise Irregular
        text = value.decode()
        found = read_json(value, RULES).value
        start = text.find(_PAYLOAD)
        assert isinstance(found, JsonObject)  # it was read
        names = [member.name for member in found.members]
        if names != ["schema", "payload", "version"] or found.members[0].end != value.find(
            _PAYLOAD.encode()
        ):
            raise Irregular
        types: dict[str, StreamXType] = {column.name: column.type for column in columns}
        digits = self.settings.date_digits
        pattern = pattern_of(value, found.members[1], types, digits)
        shape = self._shape(pattern, message)
        subject = self._subjects.get(text[:start])
        if subject is None:
            subject = Subject()
            self._subjects.keep(text[:start], subject, start)
        weight = len(value) + _WEIGHT_OF_A_COLUMN * len(pattern.places)
        self._subjects.grow(weight)
        shapes = subject.shapes.setdefault(_token(text, start), [])
        if len(shapes) < _MAX_SHAPES:
            shapes.append(shape)

    def _shape(self, pattern: Pattern, message: BlobMessage) -> Shape:
        table = table_of(message)
        assert table is not None  # a row has its source
        op = OPS[message.op]
        assert op.row_op is not None
        places = {place: index for index, place in enumerate(pattern.places)}
        constant = extra_of(message)
        constant.pop("checkpoint_ms", None)
        return Shape(
            pattern,
            table,
            op.row_op,
            op.half,
            self.selection.wants(table.schema, table.name or ""),
            self._part("before", places, message) if op.has_before else None,
            self._part("after", places, message) if op.has_after else None,
            places["sequenceId",],
            places["eventTime",],
            places.get(("systemTime",)),
            places.get(("checkpointTime",)),
            constant,
        )

    def _part(self, side: str, places: Mapping[tuple[str, ...], int], message: BlobMessage) -> Part:
        declared = message.columns or ()
        known = columns_of(declared, message.primary_key or ())
        chosen: list[tuple[Column, StreamXType, int]] = [
            (column, blob_column.type, places[side, column.name])
            for column, blob_column in zip(known, declared, strict=True)
            if (side, column.name) in places
        ]
        columns = tuple(column for column, _, _ in chosen)
        readers = readers_of([type_ for _, type_, _ in chosen])
        cells = tuple(
            (index, reader) for (_, _, index), reader in zip(chosen, readers, strict=True)
        )
        plain_cells = tuple(
            (index, None if type_ == "STRING" else reader)
            for (_, type_, index), reader in zip(chosen, readers, strict=True)
        )
        return Part(known if len(columns) == len(known) else columns, cells, plain_cells)


def _token(text: str, start: int) -> str:
    """Return the text from the payload to the end of its op, if that comes first."""
    end = text.find('"', text.find(_OP, start, start + _MAX_OP) + len(_OP))
    return text[start:end] if end - start < _MAX_OP else ""


def _row(shape: Shape, groups: tuple[str | None, ...], has_escapes: bool) -> BlobRow | None:
    before, after = shape.before, shape.after
    row = _new_row(
        (
            shape.table,
            shape.op,
            shape.half,
            _number(groups, shape.sequence_id),
            _number(groups, shape.event_time),
            None if shape.system_time is None else _number(groups, shape.system_time),
            None if shape.checkpoint_time is None else _number(groups, shape.checkpoint_time),
            None if before is None else before.columns,
            None if before is None else before.read(groups, has_escapes=has_escapes),
            None if after is None else after.columns,
            None if after is None else after.read(groups, has_escapes=has_escapes),
            shape.constant,
        )
    )
    return row if shape.is_wanted else None


def _number(groups: tuple[str | None, ...], index: int) -> int:
    digits = groups[index]
    assert digits is not None  # the group is not optional
    return int(digits)
