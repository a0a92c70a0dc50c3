"""The fast encoder: records of rows by one function for each column of a table."""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from sys import maxsize
from typing import Any, TypeAlias

from cdcwire.core.caches import Memo
from cdcwire.core.compiled import (
    ENCODE_IRREGULARITIES,
    FastEncoder,
    ImagePlans,
    Irregular,
    Usual,
    Writer,
    refuse,
    texts_of_values,
)
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.limits import UINT64_END
from cdcwire.core.message import Message
from cdcwire.formats.csv.batching import Rows, messages_of
from cdcwire.formats.csv.escapes import escape
from cdcwire.formats.csv.events import handle_key_of
from cdcwire.formats.csv.message import Operation
from cdcwire.formats.csv.records import write_field, write_handle, write_string
from cdcwire.formats.csv.settings import Settings, read_settings
from cdcwire.formats.csv.tables import write_plan
from cdcwire.formats.csv.values import ColumnCodec, file_kind, float_text
from cdcwire.golang import usual_text32
from cdcwire.model import kinds
from cdcwire.model.events import Event, Image, RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.usual_texts import float_writer, usual_text

_Start: TypeAlias = "tuple[Operation, str | None, str | None]"  # operation, schema, table
_Write: TypeAlias = "Callable[[tuple[Value, ...]], tuple[str, ...]]"

_MAX_LABELS = 256  # of one column
_UNDEFINED = Table(None)
# By the bits of a float. Most are written as ``float_text`` does it, without its call.
_USUAL_FLOATS = {
    32: "$usual($v) or $write($v)",
    64: "repr($v).removesuffix('.0') if 1e-3 <= $v < 1e6 or -1e6 < $v <= -1e-3 else $write($v)",
}
_PUNCTUATION = frozenset("\"'`|")  # no number, date or base64 has these


class RowEncoder(FastEncoder[bytes]):
    """Encodes rows of tables whose columns it has seen; all else by the plain encoder."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = settings = read_settings(context)
        self._tables = context.tables
        self._rows = Rows(settings, context.tables)
        self._delimiter = settings.delimiter.decode()
        self._string = _string_writer(settings)
        self._plans: ImagePlans[_Write] = ImagePlans(self._plan)
        self._starts: Memo[_Start, str] = Memo(self._start)

    def _messages(self, events: Iterable[Event]) -> Iterator[Message]:
        return messages_of(events, self._settings, self._tables, self._usual_records)

    def _usual_records(self, change: RowChange, definition: Table | None) -> bytes | None:
        try:
            return self._records(change, definition)
        except ENCODE_IRREGULARITIES:
            return None

    def _piece(self, change: RowChange) -> bytes:
        return self._records(change, self._rows.definition(change)[1])

    def _records(self, change: RowChange, definition: Table | None) -> bytes:
        before, after = change.before, change.after
        if change.half or change.sent or (definition is not None and definition.columns is None):
            raise Irregular
        if change.op == "insert" and before is None and after is not None:
            return self._record("I", change, after, definition)
        if change.op == "delete" and before is not None and after is None:
            return self._record("D", change, before, definition)
        if change.op != "update" or before is None or after is None:
            raise Irregular
        if not self._settings.output_old_value:
            return self._record("U", change, after, definition)
        old = self._record("D", change, before, definition)
        return old + self._record("I", change, after, definition)

    def _record(
        self, op: Operation, change: RowChange, image: Image, definition: Table | None
    ) -> bytes:
        settings = self._settings
        write = self._plans.of(definition or _UNDEFINED, image.columns)
        fields = [self._starts[op, change.table.schema, change.table.name]]
        if settings.include_commit_ts:
            ts = change.position.commit_ts
            if type(ts) is not int or not 0 <= ts < UINT64_END:
                raise Irregular
            fields.append(str(ts))
        if settings.output_old_value:
            fields.append("true" if change.op == "update" else "false")
        if settings.output_handle_key:
            handle = handle_key_of(change, image, definition)
            fields.append(write_handle(handle, settings).decode())
        fields += write(image.values)
        return self._delimiter.join(fields).encode() + settings.terminator

    def _start(self, start: _Start) -> str:
        """Return the fields that begin a record."""
        op, schema, name = start
        if not schema or not name:
            raise Irregular
        fields = (write_string(text.encode(), self._settings) for text in (op, name, schema))
        return self._settings.delimiter.join(fields).decode()

    def _plan(self, table: Table, columns: tuple[Column, ...]) -> _Write:
        definition = None if table is _UNDEFINED else table
        fields = write_plan(columns, definition, self._settings).fields
        writers: list[Writer] = [refuse] * len(columns)
        for place, codec in fields:
            writers[place] = self._writer(columns[place], codec)
        return texts_of_values(
            writers,
            [place for place, _ in fields],
            self._settings.null.decode(),
            {place: refuse for place, codec in fields if codec.null_is_text},
        )

    def _writer(self, column: Column, codec: ColumnCodec) -> Writer:
        """Return what writes the fields of a column that are not NULL."""
        sent, kind, settings, string = column.type, codec.kind, self._settings, self._string

        def plainly(value: Any) -> str:
            return write_field(codec.write(sent, value), settings).decode()

        match sent, kind:
            case (
                (kinds.EnumType(), kinds.EnumType())
                | (kinds.SetType(), kinds.SetType())
                | (kinds.YearType(), kinds.YearType())
            ):
                return lru_cache(_MAX_LABELS, typed=True)(plainly)
            case kinds.TextType(), kinds.TextType():
                return string
            case kinds.JsonType(), kinds.JsonType():
                return replace(string, test=f"$v and {string.test}", plainly=plainly)
            case kinds.BytesType(), kinds.BytesType(length):
                return _bytes_writer(length, settings, string)
            case kinds.FloatType(), kinds.FloatType(bits):
                text = partial(float_text, kind=kinds.FloatType(bits))
                writer = float_writer(bits, text, plainly)
                names = {**writer.names, "usual": usual_text32}
                return replace(writer, text=_USUAL_FLOATS[bits], names=names)
            case _:
                pass
        quote = "" if codec.is_bare else settings.quote.decode()
        usual = usual_text(sent, settings.time_zone, quote)
        if usual is None or file_kind(sent, settings) != kind:
            return plainly
        return usual if codec.is_bare or quote in _PUNCTUATION else plainly


def _string_writer(settings: Settings) -> Usual:
    """Return what makes the field of a string of its text."""
    delimiter, quote = settings.delimiter, settings.quote.decode()
    if quote:
        text = "f'{$quote}{$v.replace($quote, $doubled)}{$quote}'"
        return Usual("type($v) is str", text, names={"quote": quote, "doubled": quote * 2})

    def escaped(text: str) -> str:
        return escape(text.encode(), delimiter).decode()

    special = re.compile(rf"[\n\r\\{re.escape(delimiter[:1].decode())}]")
    names = {"special": special.search, "escaped": escaped}
    return Usual("type($v) is str", "$escaped($v) if $special($v) else $v", names=names)


def _bytes_writer(length: int | None, settings: Settings, string: Usual) -> Usual:
    """Return what writes binary values; those too long for the column are not usual."""
    quote = settings.quote.decode()
    is_hex = settings.binary_encoding == "hex"
    encoded = "$v.hex()" if is_hex else "$base64($v, newline=False).decode()"
    names = {**string.names, "longest": maxsize if length is None else length}
    names["base64"] = b2a_base64
    if quote in _PUNCTUATION:
        text = f"f'{{$quote}}{{{encoded}}}{{$quote}}'"
    else:
        text = string.text.replace("$v", f"{encoded}")
    return Usual("type($v) is bytes and len($v) <= $longest", text, names=names)
