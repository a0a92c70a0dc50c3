"""The fast encoder: one generated function for each record of a table.

A row becomes the bytes of its records without their envelopes. The plain encoder registers the
schemas, and puts the envelopes before the records.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from cdcwire.apache_avro.binary import write_datum
from cdcwire.apache_avro.sources import MemorySource, with_schema_files
from cdcwire.core.compiled import (
    FastEncoder,
    ImagePlans,
    Irregular,
    Usual,
    Writer,
    refuse,
    text_of_image,
)
from cdcwire.core.compiled.varint_bytes import LENGTHS, varint_bytes
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.limits import INT64_END
from cdcwire.core.message import Message
from cdcwire.formats.avro.definitions import Definitions
from cdcwire.formats.avro.extension import extension_values
from cdcwire.formats.avro.plans import Form
from cdcwire.formats.avro.settings import read_settings
from cdcwire.formats.avro.values import ValueWriter
from cdcwire.formats.avro.writing import NO_VALUE, Body, Layout, MessageWriter, Piece, Side
from cdcwire.model import kinds
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.usual_texts import unscaled_bytes, usual_text
from cdcwire.mysql.value_texts import integer_range

_MAX_LABELS = 256  # of one column
_INTEGER_FORMS = (Form.INT, Form.LONG, Form.UINT32_INT, Form.UINT32_LONG, Form.INT32_LONG)
_TEXT = "$branch + $lengths[len($t := $v.encode())] + $t"


@dataclass(frozen=True, slots=True)
class _Record:
    """A record, and the function that makes its bytes of the values of an image."""

    side: Side
    body: Callable[[tuple[Value, ...]], bytes]


@dataclass(frozen=True, slots=True)
class _Plan:
    """The records of an image. ``key_places``: columns whose change makes two messages."""

    key: _Record | None
    value: _Record
    key_places: tuple[int, ...]


class RowEncoder(FastEncoder[Piece]):
    """Encodes rows whose columns it has seen. The plain encoder makes everything else."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = read_settings(context)
        self._context = context
        self._definitions = Definitions(context.tables)
        self._plans: ImagePlans[_Plan] = ImagePlans(self._plan)

    def _messages(self, events: Iterable[Event]) -> Iterator[Message]:
        source = MemorySource(self._context.schemas, self._settings.registry)
        writer = MessageWriter(self._settings, self._context.tables, source, self.piece)
        yield from with_schema_files(writer.all_messages(events), source)

    def _piece(self, change: RowChange) -> Piece:
        table, op, before, after = change.table, change.op, change.before, change.after
        if change.half or change.sent or not table.name:
            raise Irregular
        if self._settings.integrity or self._settings.include_before_value:
            raise Irregular
        if op == "delete" and self._settings.is_ticdc and self._settings.has_watermark:
            raise Irregular
        if op == "delete":
            if before is None or after is not None:
                raise Irregular
            plan = self._plans.of(table, before.columns)
            if plan.key is None:
                raise Irregular
            return Piece(Body(plan.key.side, plan.key.body(before.values)), None)
        if op not in ("insert", "update") or after is None or (before is None) != (op == "insert"):
            raise Irregular
        plan = self._plans.of(table, after.columns)
        if before is not None:
            if before.columns != after.columns:
                raise Irregular
            old, new = before.values, after.values
            for place in plan.key_places:
                if type(old[place]) is not type(new[place]) or old[place] != new[place]:
                    raise Irregular
        key = None if plan.key is None else Body(plan.key.side, plan.key.body(after.values))
        body = plan.value.body(after.values) + self._extension(change)
        return Piece(key, Body(plan.value.side, body))

    def _extension(self, change: RowChange) -> bytes:
        """Return the bytes of the fields that follow the columns."""
        values = extension_values(change.op, change.position, change.extra, None, self._settings)
        if not values:
            return b""
        letter, commit_ts, physical = values
        if type(commit_ts) is not int or type(physical) is not int:
            raise Irregular
        return _sized(letter.encode()) + varint_bytes(commit_ts) + varint_bytes(physical)

    def _plan(self, table: Table, columns: tuple[Column, ...]) -> _Plan:
        definition = self._definitions.of(table, columns)
        layout = Layout(table, columns, definition, self._settings)
        return _Plan(
            _record(layout.key_side(), len(columns)) if layout.key else None,
            _record(layout.value_side(), len(columns)),
            layout.key_places,
        )


def _record(side: Side, count: int) -> _Record:
    """Return the record of a side for images of ``count`` values. Raises: Irregular."""
    if any(place == NO_VALUE for place, _, _ in side.writers):
        raise Irregular
    writers: list[Writer] = [refuse] * count
    nulls: dict[int, object] = {}
    for place, _, writer in side.writers:
        # A field that can be NULL begins with the number of a branch.
        null_index = writer.plan.null_index
        branch = b"" if null_index is None else bytes((2 - 2 * null_index,))
        nulls[place] = refuse if null_index is None else bytes((2 * null_index,))
        writers[place] = _writer(writer, branch)
    order = [place for place, _, _ in side.writers]
    pieces = [b""] * (len(order) + 1)
    return _Record(side, text_of_image(pieces, writers, order, nulls=nulls))


def _writer(field: ValueWriter, branch: bytes) -> Writer:
    """Return what writes the values of a column that are not NULL, after their branch."""
    kind, form, plan = field.column.type, field.plan.form, field.plan

    def plainly(value: Any) -> bytes:
        out = bytearray(branch)
        write_datum(out, plan.type, field.write(value))
        return bytes(out)

    def decimal(value: Any) -> bytes:
        raw = unscaled_bytes(value, plan.scale)
        return plainly(value) if raw is None else branch + LENGTHS[len(raw)] + raw

    names = {"branch": branch, "lengths": LENGTHS, "narrow": narrow_float32}
    text = Usual("type($v) is str", _TEXT, plainly, names)

    def floats(test: str, layout: str) -> Usual:
        pack = struct.Struct(f"<{len(branch)}s{layout}").pack
        return Usual(
            f"type($v) is float{test}", "$pack($branch, $v)", plainly, {**names, "pack": pack}
        )

    match kind, form:
        case kinds.IntType(), Form.UINT64_LONG:
            return _integer_writer(0, INT64_END, branch, plainly)
        case kinds.IntType(), _ if form in _INTEGER_FORMS:
            low, high = integer_range(kind)
            end = 1 << 31 if form in (Form.INT, Form.UINT32_INT) else INT64_END
            return _integer_writer(max(low, -end), min(high, end), branch, plainly)
        case kinds.TextType(), Form.TEXT | Form.STRING:
            return text
        case kinds.JsonType(), Form.STRING:
            return text
        case kinds.BytesType(), Form.BYTES:
            return Usual("type($v) is bytes", "$branch + $lengths[len($v)] + $v", plainly, names)
        case kinds.FloatType(32), Form.FLOAT:
            return floats(" and $narrow($v) == $v", "f")
        case kinds.FloatType(32), Form.FLOAT_DOUBLE | Form.DOUBLE:
            return floats(" and $narrow($v) == $v", "d")
        case kinds.FloatType(64), Form.DOUBLE:
            return floats("", "d")
        case kinds.DecimalType(), Form.DECIMAL_BYTES:
            return decimal
        case kinds.EnumType() | kinds.SetType() | kinds.YearType(), _:
            return lru_cache(_MAX_LABELS, typed=True)(plainly)
        case (
            kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType(),
            Form.STRING,
        ):
            usual = usual_text(kind, field.time_zone)
            if not isinstance(usual, Usual):
                return plainly
            return replace(usual, text=_TEXT, names={**names, **usual.names})
        case _:
            return plainly


def _integer_writer(low: int, high: int, branch: bytes, plainly: Callable[[Any], bytes]) -> Usual:
    names = {"low": low, "high": high, "branch": branch, "varint": varint_bytes}
    return Usual("type($v) is int and $low <= $v < $high", "$branch + $varint($v)", plainly, names)


def _sized(raw: bytes) -> bytes:
    return LENGTHS[len(raw)] + raw
