"""Known-wrong decoders of debezium-json: of its messages, and of values.

Some repeat what Kafka's own JsonConverter does with a value that does not fit its schema.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import Event, Image, Progress, RowChange, SchemaChange
from cdcwire.model.kinds import UNAVAILABLE, Column, Value
from cdcwire_conformance.families.connect import CONNECT_FAULTS
from cdcwire_conformance.known_wrong.decoder import (
    Decode,
    KnownWrong,
    changing_rows,
    changing_values,
    refusing,
    right,
    under_options,
    wrong_columns,
    wrong_decoder,
    wrong_rows,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import (
    OLD_ROWS,
    OPERATIONS,
    SCHEMA_CHANGES,
    times_swapped,
)
from cdcwire_conformance.known_wrong.values import BINARY_AND_JSON, CUT_VALUES, NUMBERS_AND_TEXTS

_DECIMAL = "org.apache.kafka.connect.data.Decimal"


_VARIABLE = "io.debezium.data.VariableScaleDecimal"


def _unscaled(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # only numbers come so
    return int(value.scaleb(-exponent))


def _unscaled_bytes(value: Decimal) -> bytes:
    number = _unscaled(value)
    magnitude = number if number >= 0 else ~number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


@wrong_columns("a precise decimal is shown as the base64 text of its bytes", "6", "12")
def decimal_as_base64(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace a precise decimal with the base64 text of its unscaled bytes."""
    if column.source != _DECIMAL or not isinstance(value, Decimal):
        return column, value
    text = base64.b64encode(_unscaled_bytes(value)).decode()
    return replace(column, type=kinds.TextType()), text


@wrong_values("the scale, which is in the schema only, is ignored", "12")
def decimal_scale_unread(column: Column, value: Value) -> Value:
    """Replace a precise decimal with its unscaled number."""
    if column.source != _DECIMAL or not isinstance(value, Decimal):
        return value
    return Decimal(_unscaled(value))


@wrong_values("negative decimals become large positive ones", "14")
def decimal_sign_unread(column: Column, value: Value) -> Value:
    """Read the unscaled bytes of a negative decimal as unsigned."""
    is_bytes = column.source in (_DECIMAL, _VARIABLE) and isinstance(value, Decimal)
    if not is_bytes or value >= 0:
        return value
    unsigned = int.from_bytes(_unscaled_bytes(value), "big")
    return Decimal(unsigned).scaleb(value.as_tuple().exponent)


@wrong_values("an unsigned integer of 64 bits, which is a decimal, turns negative", "5", "7")
def decimal_in_64_bits(column: Column, value: Value) -> Value:
    """Wrap a whole decimal into a signed integer of 64 bits."""
    is_whole = isinstance(column.type, kinds.DecimalType) and column.type.scale == 0
    if not is_whole or not isinstance(value, Decimal):
        return value
    wrapped = int(value) % (1 << 64)
    return Decimal(wrapped - (wrapped >> 63 << 64))


_PARTS = kinds.StructType((Column("scale", kinds.IntType(32)), Column("value", kinds.BytesType())))


@wrong_columns("a decimal without declared scale is given as a struct of two members", "13")
def variable_scale_as_struct(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace a decimal of variable scale with a struct of scale and unscaled bytes."""
    if column.source != _VARIABLE or not isinstance(value, Decimal):
        return column, value
    scale = -int(value.as_tuple().exponent)
    parts = Image(_PARTS.columns, (scale, _unscaled_bytes(value)))
    return replace(column, type=_PARTS), parts


_LONGEST_BITS = 1 << 16  # beyond, the length is that of "no limit"


@wrong_values("the first byte of a bit string is taken for its highest", "46")
def bits_reversed(column: Column, value: Value) -> Value:
    """Reverse the order of the bytes of a bit string."""
    if not isinstance(column.type, kinds.BitType) or value is UNAVAILABLE:
        return value
    length = column.type.length or 1
    declared = 0 if length > _LONGEST_BITS else (length + 7) // 8
    size = max((value.bit_length() + 7) // 8, declared)
    return int.from_bytes(value.to_bytes(size, "little"), "big")


@wrong_columns("columns of bit strings are missing", "47")
def bits_left_out(column: Column, value: Value) -> tuple[Column, Value] | None:
    """Drop a column of bit strings."""
    return None if isinstance(column.type, kinds.BitType) else (column, value)


@wrong_columns("microseconds and nanoseconds are taken for milliseconds", "31")
def all_in_milliseconds(column: Column, value: Value) -> tuple[Column, Value]:
    """Take microseconds and nanoseconds for milliseconds."""
    kind = column.type
    if isinstance(kind, (kinds.TimeType, kinds.DatetimeType)) and kind.form in ("us", "ns"):
        return replace(column, type=replace(kind, form="ms")), value
    return column, value


@wrong_columns("the zone of an instant is cut off its text", "21", "25")
def instant_without_zone(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace a timestamp with the local date and time of its text."""
    if not isinstance(column.type, kinds.TimestampType):
        return column, value
    return replace(column, type=kinds.DatetimeType()), value


_OFFSET = re.compile(rb'(T[0-9]{2}:[0-9]{2}:[0-9]{2}[.0-9]*)[+-][0-9]{2}:[0-9]{2}"')


@wrong_decoder("the offset of an instant is taken for UTC", "25", "time/timestamp-ltz")
def instant_offset_ignored(format_: Format, message: Message, context: Context) -> list[Event]:
    """Read the local time before an offset as a time in UTC."""
    if message.value is None:
        return right(format_, message, context)
    bent = replace(message, value=_OFFSET.sub(rb'\1Z"', message.value))
    return right(format_, bent, context)


@wrong_columns("the placeholder of an unchanged large value overwrites it", "56")
def placeholder_as_text(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace an unavailable value with Debezium's placeholder."""
    if value is not UNAVAILABLE:
        return column, value
    text = "__debezium_unavailable_value"
    if isinstance(column.type, kinds.BytesType):
        return column, text.encode()
    return column, (text,) if isinstance(column.type, kinds.ArrayType) else text


@wrong_columns("an unchanged large value becomes NULL", "56")
def unavailable_as_null(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace an unavailable value with NULL."""
    return column, None if value is UNAVAILABLE else value


@wrong_columns("an enum's label is given as its number, counted from 0", "42")
def label_as_index(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace an enum's label with its index, counted from 0."""
    kind = column.type
    if not isinstance(kind, kinds.EnumType) or not kind.labels or value not in kind.labels:
        return column, value
    return replace(column, type=kinds.EnumType()), kind.labels.index(value)


_WIDTHS = (64, 32, 16, 8)


def _with_bent_number(bend: Callable[[Any], Iterable[str]], clause: str) -> Decode:
    """Return a decoder that bends each JSON value that the reference refuses by this clause.

    ``bend`` gives the JSON texts to try in place of a value.
    """

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        try:
            return right(format_, message, context)
        except DecodeError as error:
            if error.clause != clause or error.path[:1] == ("key",):
                raise
            raw = message.value or b""
            head, rest = raw[: error.offset], raw[error.offset :].decode("utf-8", "replace")
            found, end = json.JSONDecoder(parse_float=Decimal).raw_decode(rest)
            for text in bend(found):
                other = head + text.encode() + rest[end:].encode()
                try:
                    return decode(format_, replace(message, value=other), context)
                except DecodeError:
                    continue
            raise

    return decode


def _bent_integer(value: Any) -> Iterator[str]:
    """Give an integer as JsonConverter reads it: cut, wrapped, or 0 for what is not a number."""
    is_number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
    number = int(value) if is_number else 0
    for bits in _WIDTHS:
        wrapped = number % (1 << bits)
        yield str(wrapped - (wrapped >> bits - 1 << bits))


def _bent_float(value: Any) -> Iterator[str]:
    """Give a number as JsonConverter reads it: infinite where too large, 0 for a text."""
    is_number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
    yield ('"-Infinity"' if value < 0 else '"Infinity"') if is_number else "0.0"


@wrong_decoder("numbers too large become infinite, NaN and texts 0, as by JsonConverter", "19")
def floats_bent(format_: Format, message: Message, context: Context) -> list[Event]:
    """Read NaN and the infinities, which travel as texts, as 0, and zero without its sign."""

    def bent(column: Column, value: Value) -> Value:
        if not isinstance(column.type, kinds.FloatType) or not isinstance(value, float):
            return value
        return value + 0.0 if math.isfinite(value) else 0.0

    try:
        return changing_values(bent)(format_, message, context)
    except DecodeError:
        return _with_bent_number(_bent_float, "connect: float values")(format_, message, context)


VALUE_FAULTS: tuple[KnownWrong, ...] = (
    decimal_as_base64,
    decimal_scale_unread,
    decimal_sign_unread,
    decimal_in_64_bits,
    variable_scale_as_struct,
    bits_reversed,
    bits_left_out,
    all_in_milliseconds,
    instant_without_zone,
    instant_offset_ignored,
    placeholder_as_text,
    unavailable_as_null,
    label_as_index,
    KnownWrong(
        "integers-bent",
        "integers that do not fit are wrapped or cut, and texts are 0, as by JsonConverter",
        _with_bent_number(_bent_integer, "connect: integer values"),
        ("7", "8"),
    ),
    floats_bent,
)

_FIRST_CONNECTORS = ("postgresql", "mysql", "mariadb")
_PER_DAY = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


@wrong_rows("a delete of any connector has its key only, as PostgreSQL's does")
def delete_cut_to_key(row: RowChange) -> Event:
    """Drop the columns of a deleted row beyond its key."""
    if row.op != "delete" or row.before is None or not row.table.key:
        return row
    return replace(row, before=row.before.only(row.table.key))


@refusing("a connector of another database than PostgreSQL, MySQL and MariaDB is refused")
def connectors_refused(message: Message, events: list[Event]) -> bool:
    """Return whether a change comes from SQL Server, Oracle or others."""
    rows = (event for event in events if isinstance(event, (RowChange, SchemaChange)))
    return any(row.extra.get("connector", "mysql") not in _FIRST_CONNECTORS for row in rows)


@refusing("the members of PostgreSQL's source are demanded of every connector")
def lsn_needed(message: Message, events: list[Event]) -> bool:
    """Return whether a change has no place in PostgreSQL's log."""
    rows = (event for event in events if isinstance(event, (RowChange, SchemaChange)))
    return any("connector" in row.extra and row.position.lsn is None for row in rows)


@refusing("the id of a transaction must be a number")
def transaction_number_needed(message: Message, events: list[Event]) -> bool:
    """Return whether a change has a transaction id that is not a number."""
    found = (event.position.tx_id for event in events)
    return any(each is not None and not each.isdecimal() for each in found)


@refusing("parameters of a column's schema that it does not know are refused")
def parameters_refused(message: Message, events: list[Event]) -> bool:
    """Return whether a schema has the type of a column in the database."""
    return b'"__debezium.source.column.' in (message.value or b"")


@wrong_values("a time outside the day is wrapped into it")
def time_wrapped(column: Column, value: Value) -> Value:
    """Take the rest of a division by a day."""
    if not isinstance(column.type, kinds.TimeType) or not isinstance(value, int):
        return value
    return value % _PER_DAY[column.type.form]


@wrong_values("a label with a comma keeps the backslash that escapes it")
def label_escaped(column: Column, value: Value) -> Value:
    """Put a backslash before each comma and backslash of a label."""
    if not isinstance(column.type, kinds.EnumType) or not isinstance(value, str):
        return value
    return value.replace("\\", "\\\\").replace(",", "\\,")


@wrong_columns("columns that begin with two underscores are dropped")
def underscores_dropped(column: Column, value: Value) -> tuple[Column, Value] | None:
    """Drop a column whose name begins as those of added fields."""
    return None if column.name.startswith("__") else (column, value)


@wrong_columns("a text that says the placeholder is unavailable with every connector")
def word_as_unavailable(column: Column, value: Value) -> tuple[Column, Value]:
    """Take the placeholder's word in a binlog for an unavailable value."""
    return column, UNAVAILABLE if value == "__debezium_unavailable_value" else value


CONNECTOR_FAULTS: tuple[KnownWrong, ...] = (
    delete_cut_to_key,
    connectors_refused,
    lsn_needed,
    transaction_number_needed,
    parameters_refused,
    time_wrapped,
    label_escaped,
    underscores_dropped,
    word_as_unavailable,
)


@refusing("a message without value breaks it", "66")
def tombstone_crash(message: Message, events: list[Event]) -> bool:
    """Return whether the message has no value."""
    return message.value is None


@refusing("an update without its old row is refused", "65")
def before_needed(message: Message, events: list[Event]) -> bool:
    """Return whether an update has no old row."""
    return any(
        isinstance(event, RowChange) and event.op == "update" and event.before is None
        for event in events
    )


_LISTED = ("true", "last", "false", "incremental", None)  # by the schema of 2.7


@refusing("states of a snapshot that the schema does not list are refused")
def snapshot_by_list(message: Message, events: list[Event]) -> bool:
    """Return whether an event has a snapshot state that the schema does not list."""
    return any(event.extra.get("snapshot") not in _LISTED for event in events)


@refusing("a payload before its schema is refused")
def schema_first(message: Message, events: list[Event]) -> bool:
    """Return whether the payload is the first member of the message."""
    return (message.value or b"").lstrip().startswith(b'{"payload"')


@wrong_rows("rows of a snapshot are inserts, without the option")
def read_as_insert(row: RowChange) -> Event:
    """Turn a row of a snapshot into an insert."""
    return replace(row, op="insert") if row.op == "read" else row


@wrong_rows("rows of a snapshot are skipped")
def snapshot_rows_lost(row: RowChange) -> Event | None:
    """Drop rows of a snapshot."""
    return None if row.op == "read" else row


@wrong_decoder("a column that the definition has and the row lacks arrives as NULL")
def absent_as_null(format_: Format, message: Message, context: Context) -> list[Event]:
    """Fill rows without schema with NULLs for the other columns of their definition."""
    columns = {(t.schema, t.name): t.columns or () for t in context.tables}

    def filled(image: Image | None, known: tuple[Column, ...]) -> Image | None:
        if image is None:
            return None
        missing = [(column, None) for column in known if column.name not in image.names]
        return Image.of((*image.pairs, *missing))

    def change(row: RowChange) -> Event:
        known = columns.get((row.table.schema, row.table.name), ())
        return replace(row, before=filled(row.before, known), after=filled(row.after, known))

    return changing_rows(change)(format_, message, context)


@wrong_decoder("a row by itself with a column ts_ms is taken for a heartbeat")
def row_as_heartbeat(format_: Format, message: Message, context: Context) -> list[Event]:
    """Take whatever has ts_ms and no operation for a heartbeat."""
    try:
        return right(format_, message, context)
    except DecodeError as error:
        if error.clause != "debezium-json: members" or b'"ts_ms":5' not in (message.value or b""):
            raise
        return [Progress("heartbeat")]


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *CONNECT_FAULTS,
    *CUT_VALUES,
    *NUMBERS_AND_TEXTS,
    *BINARY_AND_JSON,
    *OPERATIONS,
    *OLD_ROWS,
    *SCHEMA_CHANGES,
    *VALUE_FAULTS,
    *CONNECTOR_FAULTS,
    KnownWrong(
        "null-as-default",
        "NULL arrives as the column's default",
        under_options(replace_null_with_default=True),
        ("50",),
    ),
    KnownWrong(
        "made-up-columns-trusted",
        "the filler values of a delete are taken for the old row",
        under_options(replica_identity="full"),
    ),
    KnownWrong(
        "warnings-as-errors",
        "members and values that a reader must ignore are refused",
        under_options(lint="strict"),
    ),
    tombstone_crash,
    before_needed,
    snapshot_by_list,
    schema_first,
    read_as_insert,
    snapshot_rows_lost,
    absent_as_null,
    row_as_heartbeat,
    times_swapped,
)
