"""Kafka key and value to the wire's values, and back.

Paths begin with ``key`` or ``value`` and the number of the item; offsets count from the start of
that side. Where value items are compressed, the offset is that of the compressed item.
"""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Compression, Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.limits import JsonValues, SizeLimitError
from cdcwire.core.strict_json import JsonRules
from cdcwire.formats.open_protocol.framing import (
    ItemBounds,
    check_item_counts,
    read_key_frame,
    read_value_frame,
    write_key_frame,
    write_value_frame,
)
from cdcwire.formats.open_protocol.keys import read_key, write_key
from cdcwire.formats.open_protocol.members import VALUE_RULES, value_rules
from cdcwire.formats.open_protocol.message import (
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    Ddl,
    Dialect,
    Item,
    Key,
    Message,
    Row,
)
from cdcwire.formats.open_protocol.rows import read_ddl, read_row, write_ddl, write_row
from cdcwire.formats.open_protocol.settings import read_settings


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> Message:
    """Return the items of a Kafka message; those of tables that are not wanted are left out.

    Raises: TruncatedError, DecodeError, OptionError.
    """
    settings = read_settings(context)
    rules = value_rules(settings.dialect)
    return read_message(key, value, context.selection, settings.compression, rules)


def read_message(
    key: bytes | None,
    value: bytes | None,
    selection: Selection = EVERYTHING,
    compression: Compression | None = None,
    rules: JsonRules = VALUE_RULES,
) -> Message:
    """Return the items of a Kafka message; those of tables that are not wanted are left out.

    Raises: TruncatedError, DecodeError.
    """
    places = read_key_frame(key)
    values = JsonValues(VALUE_RULES.limits_clause, len(key or b"") + len(value or b""))
    keys = [_read_key_item(key or b"", place, index, values) for index, place in enumerate(places)]
    value = value or b""
    if not value and all(item.t == EVENT_RESOLVED for item in keys):
        return Message(tuple(Item(item, None) for item in keys))
    value_places = read_value_frame(value)
    check_item_counts(places, value_places, len(value))
    items = []
    opened = None if compression is None else DecompressedItems(value, compression)
    for index, (item_key, place) in enumerate(zip(keys, value_places, strict=True)):
        # A DDL is a matter of its table too, as far as it names one.
        names_table = item_key.t != EVENT_RESOLVED and bool(item_key.tbl)
        if names_table and not selection.wants(item_key.scm or None, item_key.tbl):
            continue
        with step("value", index):
            found = _read_value_item(item_key, value, place, opened, values, rules)
            items.append(Item(item_key, found))
    return Message(tuple(items))


def _read_key_item(key: bytes, place: ItemBounds, index: int, values: JsonValues) -> Key:
    with step("key", index):
        values.add(key, *place)
        return read_key(key, *place)


def _read_value_item(
    key: Key,
    value: bytes,
    place: ItemBounds,
    opened: DecompressedItems | None,
    values: JsonValues,
    rules: JsonRules,
) -> Row | Ddl | None:
    start, end = place
    if key.t == EVENT_RESOLVED:
        if start != end:
            problem = f"a resolved event has a value of {end - start} bytes"
            raise DecodeError(problem, start, "open-protocol: resolved value")
        return None
    read = read_row if key.t == EVENT_ROW else read_ddl
    if opened is None:
        values.add(value, start, end)
        return read(value, start, end, rules)
    item = opened.read(place)
    try:
        values.add(item, 0, len(item))
        return read(item, 0, len(item), rules)
    except DecodeError as error:
        raise error.outside(start, "decompressed item") from error


class DecompressedItems:
    """The value items of one message without their compression. They share its limit."""

    def __init__(self, value: bytes, compression: Compression) -> None:
        self._value = value
        self._compression = compression
        self._limit = compression.limit

    def read(self, place: ItemBounds) -> bytes:
        """Return the item at a place. Raises: DecodeError."""
        start, end = place
        try:
            item = self._compression.open(self._value[start:end])
        except SizeLimitError as error:
            problem = str(SizeLimitError(self._limit))
            raise DecodeError(problem, start, VALUE_RULES.limits_clause) from error
        except ValueError as error:
            problem = f"the item can't be decompressed: {error}"
            raise DecodeError(problem, start, "open-protocol: compression") from error
        left = self._compression.limit - len(item)
        self._compression = replace(self._compression, limit=left)
        return item


def encode(message: Message, *, context: Context = NO_CONTEXT) -> tuple[bytes, bytes]:
    """Return Kafka key and value of the items. Raises: EncodeError, OptionError."""
    settings = read_settings(context)
    return write_message(message, settings.dialect, settings.compression)


def write_message(
    message: Message, dialect: Dialect, compression: Compression | None = None
) -> tuple[bytes, bytes]:
    """Return Kafka key and value of the items, in the way of one producer. Raises: EncodeError."""
    if not message.items:
        raise EncodeError("a message has at least one item", "open-protocol: item counts")
    pairs = []
    for index, item in enumerate(message.items):
        pairs.append(encode_item(item, dialect, compression, index))
    return frame(pairs)


def encode_item(
    item: Item, dialect: Dialect, compression: Compression | None = None, index: int = 0
) -> tuple[bytes, bytes]:
    """Return key JSON and value JSON of one item, the value compressed. Raises: EncodeError."""
    with step("key", index):
        key = write_key(item.key, dialect)
    with step("value", index):
        if item.key.t == EVENT_RESOLVED and item.value is None:
            return key, b""
        if item.key.t == EVENT_ROW and isinstance(item.value, Row):
            value = write_row(item.value, dialect)
        elif item.key.t == EVENT_DDL and isinstance(item.value, Ddl):
            value = write_ddl(item.value, dialect)
        else:
            problem = f"event type {item.key.t} has another kind of value"
            raise EncodeError(problem, "open-protocol: event types")
    return key, compression.compress(value) if compression else value


def frame(pairs: list[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    """Return Kafka key and value of finished items."""
    return write_key_frame([key for key, _ in pairs]), write_value_frame([v for _, v in pairs])
