"""The fast encoder: one generated function for each row image.

It puts the values between pieces of JSON, which have all that follows from table and columns, in
the order of the dialect. Strings are escaped in two steps: by Python's ``json``,
and once for the whole row as Go does in addition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from cdcwire.core.caches import Memo
from cdcwire.core.compiled import FastEncoder, ImagePlans, Irregular, Usual, Writer, text_of_image
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.limits import UINT64_END
from cdcwire.core.message import Message
from cdcwire.formats.open_protocol.batching import Pair, messages_of
from cdcwire.formats.open_protocol.events import ColumnWriter
from cdcwire.formats.open_protocol.members import EVENT_ROW, write_name
from cdcwire.formats.open_protocol.message import Key
from cdcwire.formats.open_protocol.settings import Settings, read_settings
from cdcwire.formats.open_protocol.values import float_text_of, write_value
from cdcwire.formats.open_protocol.wire import write_key
from cdcwire.golang import finished_json, finished_jsoniter, quote
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.images import Prepared
from cdcwire.mysql.types import FLAG_HANDLE_KEY, LARGE_STRING_TYPES
from cdcwire.mysql.usual import decimal_text, integer_range, number_of_label, usual_form
from cdcwire.mysql.usual_texts import base64_writer, digits_writer, float_writer, integer_writer
from cdcwire.mysql.values import wire_value

_Write: TypeAlias = "Callable[[tuple[Value, ...]], str]"
_Keyed: TypeAlias = "tuple[str, str, int | None]"  # schema, table, partition

_MAX_LABELS = 256  # of one column
_TS = 1 << 63  # the place of the timestamp in a key; it comes before all names


class RowEncoder(FastEncoder[Pair]):
    """Encodes rows of tables whose columns it has seen; all else by the plain encoder."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = read_settings(context)
        self._tables = context.tables
        self._columns = ColumnWriter(self._settings.time_zone, context.tables)
        self._plans: ImagePlans[_Write] = ImagePlans(self._plan)
        self._keys: Memo[_Keyed, tuple[str, str]] = Memo(self._key)

    def _messages(self, events: Iterable[Event]) -> Iterator[Message]:
        return messages_of(events, self._settings, self._tables, self.piece)

    def _piece(self, change: RowChange) -> Pair:
        settings, table, position = self._settings, change.table, change.position
        if change.extra or change.sent or change.half or not table.schema or not table.name:
            raise Irregular
        before, after = change.before, change.after
        if change.op == "insert" and before is None and after is not None:
            value = f'{{"u":{self._plans.of(table, after.columns)(after.values)}}}'
        elif change.op == "update" and before is not None and after is not None:
            new = self._plans.of(table, after.columns)(after.values)
            old = self._plans.of(table, before.columns)(before.values)
            if settings.only_updated_columns:
                raise Irregular
            value = f'{{"u":{new},"p":{old}}}' if settings.output_old_value else f'{{"u":{new}}}'
        elif change.op == "delete" and before is not None and after is None:
            if settings.delete_only_handle_key:
                raise Irregular
            value = f'{{"d":{self._plans.of(table, before.columns)(before.values)}}}'
        else:
            raise Irregular
        ts, partition = position.commit_ts, position.partition
        if type(ts) is not int or not 0 <= ts < UINT64_END:
            raise Irregular
        if partition is not None and type(partition) is not int:
            raise Irregular
        start, end = self._keys[table.schema, table.name, partition]
        key = f"{start}{ts}{end}".encode()
        finished = finished_json if settings.dialect == "tiflow" else finished_jsoniter
        raw = finished(value).encode()
        compression = settings.compression
        return key, compression.compress(raw) if compression else raw

    def _key(self, place: _Keyed) -> tuple[str, str]:
        """Return what is around the ts in the keys of a table and partition."""
        schema, name, partition = place
        if partition == 0:
            raise Irregular
        row_key = Key(_TS, EVENT_ROW, schema, name, ptn=partition or 0)
        start, _, end = write_key(row_key, self._settings.dialect).decode().partition(str(_TS))
        return start, end

    def _plan(self, table: Table, columns: tuple[Column, ...]) -> _Write:
        prepared = self._columns.prepared(table, columns)
        dialect = self._settings.dialect
        names = [column.name for column, _, _, _ in prepared]
        order = list(range(len(columns)))
        if dialect == "tiflow":
            order.sort(key=lambda index: names[index].encode())
        if not order or len(set(names)) != len(names):
            raise Irregular
        pieces, end = [], "{"
        for index in order:
            column, code, flags, _ = prepared[index]
            handle = '"h":true,' if flags & FLAG_HANDLE_KEY else ""
            name = write_name(column.name, dialect)
            pieces.append(f'{end}{name}:{{"t":{code},{handle}"f":{flags},"v":')
            end = "},"
        writers = [_writer(each, self._settings) for each in prepared]
        return text_of_image([*pieces, "}}"], writers, order)


def _writer(prepared: Prepared, settings: Settings) -> Writer:
    """Return what writes the values of a column that are not NULL."""
    column, code, flags, clause = prepared
    dialect = settings.dialect

    def plainly(value: Any) -> str:
        found = wire_value(column, value, settings.time_zone, clause)
        return write_value(found, code, flags, dialect)

    form = usual_form(column, code, flags)
    ends = integer_range(column, code, flags)
    is_large = code in LARGE_STRING_TYPES
    number = number_of_label(column)
    labels: Memo[str, str] = Memo(lambda label: str(number(label)), _MAX_LABELS)

    def label(value: Any) -> str:
        return labels[value] if type(value) is str else plainly(value)

    def decimal(value: Any) -> str:
        return f'"{decimal_text(value)}"' if type(value) is Decimal else plainly(value)

    quoted_bytes = Usual(
        "type($v) is bytes",
        "$encoded($quote($v))",
        plainly,
        {"encoded": encode_basestring, "quote": quote},
    )
    writers: dict[str, Writer] = {
        "integer": integer_writer(*ends, plainly=plainly),
        "label": integer_writer(*ends, plainly=label),
        "float": float_writer(32, float_text_of(dialect, 32), plainly),
        "double": float_writer(64, float_text_of(dialect, 64), plainly),
        "decimal": digits_writer(decimal, '"'),
        "text": base64_writer(plainly, of_text=True) if is_large else encode_basestring,
        "bytes": base64_writer(plainly) if is_large else quoted_bytes,
        "characters": encode_basestring,
    }
    return writers.get(form, plainly)
