"""The fast decoder: Blob records to typed rows, with the plain decoder behind it.

It accepts and rejects exactly what the plain decoder does, by construction: what is not as usual,
damaged or just rare, is given to the plain decoder. Usual are rows without white space whose schema
comes first; see ``row_patterns`` for how the rest is read. What was learned of a table is found by
the text of its schema.

Not read in the fast way: DDL, markers and heartbeats, members that are null though they may be left
out, and all rows under a selection of columns. They come as neutral events.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from cdcwire.core.compiled import IRREGULARITIES, BoundedCache, Credit, FastDecoder, Irregular
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.format import NO_CONTEXT, Context
from cdcwire.core.message import Message
from cdcwire.core.rows import Layout, Row, Values, new_row
from cdcwire.core.strict_json import JsonObject, read_json
from cdcwire.datahub.blob_message import BlobMessage
from cdcwire.datahub.carrying import queued, read_records, value_of
from cdcwire.datahub.ops import OPS
from cdcwire.datahub.streamx import StreamXType
from cdcwire.formats.datahub_blob.batching import is_record
from cdcwire.formats.datahub_blob.events import columns_of, extra_of, table_of, to_event
from cdcwire.formats.datahub_blob.members import RULES
from cdcwire.formats.datahub_blob.row_patterns import (
    Pattern,
    Read,
    pattern_of,
    readers_of,
)
from cdcwire.formats.datahub_blob.settings import Settings, read_settings
from cdcwire.formats.datahub_blob.wire import read_record
from cdcwire.model.events import Column, Event, Extra, Half, Op, Table

# Limits of what is kept: characters of schemas, and what a pattern weighs beside its text.
_MAX_CHARACTERS = 1 << 20
_WEIGHT_OF_A_COLUMN = 1 << 9
# Reading a message again and making its pattern takes as long as so many bytes a column and image.
_PRICE_OF_A_COLUMN = 1 << 8
_MAX_SHAPES = 8  # of one table and op
_MAX_OP = 64
_PAYLOAD = ',"payload":'
_OP = '"op":"'


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """An image: the indexes of its groups in the order of its columns, and what reads them.

    ``plain_cells``: for texts without any escape, None where the group is the value.
    """

    layout: Layout
    cells: tuple[tuple[int, Read], ...]
    plain_cells: tuple[tuple[int, Read | None], ...]

    def read(self, groups: tuple[str | None, ...], *, has_escapes: bool) -> Values:
        """Return the image's values, read from the groups of a match."""
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
class LearnedShapes:
    """What was learned of a schema, by the text up to the end of the op."""

    shapes: dict[str, list[Shape]] = field(default_factory=dict)


class RowDecoder(FastDecoder):
    """Decodes records, alone or in bodies.

    ``settings``: those of the context's options, unless given.
    """

    def __init__(self, context: Context = NO_CONTEXT, settings: Settings | None = None) -> None:
        if settings is None:
            settings = read_settings(context)
        self.selection = context.selection
        self.settings = settings
        self._subjects: BoundedCache[str, LearnedShapes] = BoundedCache(_MAX_CHARACTERS)
        self._credit = Credit()

    def _usual(self, message: Message) -> list[Row | Event]:
        carrier = queued(message)
        if not is_record(carrier, self.settings):
            raise Irregular
        return self._usual_record(value_of(carrier))

    def _usual_record(self, value: bytes) -> list[Row | Event]:
        if self.selection.columns is not None:
            raise Irregular
        row = self._usual_row(value)
        return [] if row is None else [row]

    def _plain(self, message: Message) -> list[Row | Event]:
        carrier = queued(message)
        if is_record(carrier, self.settings):
            return self._plain_record(value_of(carrier))
        found: list[Row | Event] = []
        for path, record in read_records(carrier, None, self.settings.body):
            assert isinstance(record.data, bytes)  # there are no fields
            with step(*path):
                try:
                    found += self._record(record.data)
                except DecodeError as error:
                    error.offset = record.offset  # where the record's data is in the body
                    raise
        return found

    def _record(self, value: bytes) -> list[Row | Event]:
        try:
            return self._usual_record(value)
        except IRREGULARITIES:
            pass  # see ``FastDecoder.decode``
        return self._plain_record(value)

    def _usual_row(self, value: bytes) -> Row | None:
        """Return the row of a regular record; None if it is not wanted.

        Raises: one of IRREGULARITIES.
        """
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

    def _plain_record(self, value: bytes) -> list[Row | Event]:
        message = read_record(value, self.settings)
        if self.selection.columns is None and OPS[message.op].group == "row":
            with suppress(*IRREGULARITIES):
                self._learn(value, message)
        event = to_event(message, self.selection)
        return [] if event is None else [event]

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
            subject = LearnedShapes()
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
        layout = Layout(known if len(columns) == len(known) else columns)
        return Part(layout, cells, plain_cells)


def _token(text: str, start: int) -> str:
    """Return the text from the payload to the end of its op, if that comes first."""
    end = text.find('"', text.find(_OP, start, start + _MAX_OP) + len(_OP))
    return text[start:end] if end - start < _MAX_OP else ""


def _row(shape: Shape, groups: tuple[str | None, ...], has_escapes: bool) -> Row | None:
    before, after = shape.before, shape.after
    extra = shape.constant
    if shape.checkpoint_time is not None:
        extra = {**extra, "checkpoint_ms": groups[shape.checkpoint_time]}
    row = new_row(
        (
            shape.table,
            shape.op,
            None,
            None,
            None if after is None else after.layout,
            None if after is None else after.read(groups, has_escapes=has_escapes),
            None if before is None else before.layout,
            None if before is None else before.read(groups, has_escapes=has_escapes),
            None,
            shape.half,
            _number(groups, shape.event_time),
            None if shape.system_time is None else _number(groups, shape.system_time),
            _number(groups, shape.sequence_id),
            extra,
        )
    )
    return row if shape.is_wanted else None


def _number(groups: tuple[str | None, ...], index: int) -> int:
    digits = groups[index]
    assert digits is not None  # the group is not optional
    return int(digits)
