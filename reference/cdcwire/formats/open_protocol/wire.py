"""Kafka key and value to the wire's values, and back.

Paths begin with ``key`` or ``value`` and the number of the item; offsets count from the start of
that side. Where value items are compressed, the offset is that of the compressed item.

The frames around the JSON are lists of items, each with its length:

    key   = u64 1, then for each item u64 length, key JSON
    value =        for each item u64 length, value JSON

All numbers are 8 bytes, big-endian. Both lists have the same number of items. A claim-check file
has the complete message of one row.

An item of the value is a row (``u``, ``p``, ``d`` with their columns) or a DDL (``q``, ``t``). The
functions for items know what one member says about another, and the order of each producer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from cdcwire.core.claim_check import read_claim_check, write_claim_check
from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Compression, Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError, step
from cdcwire.core.json_record import expect_object, object_text, whole_of
from cdcwire.core.limits import JsonValues, SizeLimitError
from cdcwire.core.reader import Reader
from cdcwire.core.strict_json import JsonRules, read_json
from cdcwire.formats.open_protocol.members import (
    DDL_VALUE,
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    KEY_MEMBERS,
    KEY_RULES,
    ROW_ID,
    ROW_VALUE,
    VALUE_RULES,
    WRITE_STRING,
    Dialect,
    value_rules,
)
from cdcwire.formats.open_protocol.message import (
    DDL,
    KEY,
    KEY_ORDERS,
    ROW,
    Ddl,
    Item,
    Key,
    Message,
    Row,
    write_columns,
)
from cdcwire.formats.open_protocol.settings import read_settings
from cdcwire.model.events import Path


def read_key(data: bytes, start: int, end: int) -> Key:
    """Return the key in ``data[start:end]``. Raises: DecodeError."""
    document = read_json(data, KEY_RULES, start, end)
    found = expect_object(whole_of(document), KEY_MEMBERS)
    key = Key(**KEY.read(found, document.end, data))
    name = _missing_name(key)
    if name:
        given = found.get(name)
        offset = document.end - 1 if given is None else given.start
        raise DecodeError(f"a row has no {name!r}", offset, KEY_MEMBERS, (name,))
    return key


def _missing_name(key: Key) -> str:
    """Return the name that the key of a row lacks; "" if it has both."""
    if key.t != EVENT_ROW:
        return ""
    return "" if key.scm and key.tbl else "tbl" if key.scm else "scm"


def write_key(key: Key, dialect: Dialect) -> bytes:
    """Return a key item as the dialect orders and omits its members. Raises: EncodeError."""
    quoted = WRITE_STRING[dialect]
    texts = KEY.write(key, quoted)
    name = _missing_name(key)
    if name:
        raise EncodeError("a row needs schema and table", KEY_MEMBERS, (name,))
    if dialect == "ticdc":
        if "rid" in texts:
            raise EncodeError("the ticdc dialect has no row id", ROW_ID, ("rid",))
        if key.t != EVENT_RESOLVED:
            texts = {"scm": '""', "tbl": '""', **texts}
        if "ccl" in texts:
            if "ohk" in texts:
                problem = "the ticdc dialect takes ohk back where it writes ccl"
                raise EncodeError(problem, "open-protocol: dialects", ("ohk",))
            # This producer writes the reduced row's flag, and takes it back in a second member.
            texts["ohk"] = 'true,"ohk":false'
    ordered = {name: texts[name] for name in KEY_ORDERS[dialect] if name in texts}
    return object_text(ordered, quoted).encode()


def read_row(data: bytes, start: int, end: int, rules: JsonRules = VALUE_RULES) -> Row:
    """Return the row in ``data[start:end]``. Raises: DecodeError."""
    document = read_json(data, rules, start, end)
    found = expect_object(whole_of(document), ROW_VALUE)
    groups = ROW.read(found, document.end, data)
    filled = [name for name in ROW.by_name if groups.get(name)]
    if not filled:
        raise DecodeError("none of u, p and d has a column", document.end - 1, ROW_VALUE)
    if filled not in (["u"], ["u", "p"], ["d"]):
        names = " and ".join(filled)
        place = max(found.by_name[name].name_start for name in filled)
        problem = f"columns in {names}; a row has them in u, in u and p, or in d"
        raise DecodeError(problem, place, ROW_VALUE)
    return Row(groups.get("u") or None, groups.get("p"), groups.get("d") or None)


def write_row(row: Row, dialect: Dialect) -> bytes:
    """Return a row. The tiflow dialect sorts columns by name, the ticdc dialect does not.

    Raises: EncodeError when the groups are not those of an insert, update or delete.
    """
    has_new, has_old, is_delete = bool(row.u), bool(row.p), bool(row.d)
    if not (has_new or is_delete):
        raise EncodeError("a row needs a column in u or d", ROW_VALUE)
    if is_delete and (has_new or has_old):
        raise EncodeError("a row can't have d together with u or p", ROW_VALUE)
    texts = {}
    for name in ROW.by_name:
        group = getattr(row, name)
        # The ticdc dialect writes an update without any changed column with an empty p.
        if group or (dialect == "ticdc" and name == "p" and group is not None and has_new):
            with step(name):
                texts[name] = write_columns(group, dialect)
    return object_text(texts, WRITE_STRING[dialect]).encode("utf-8", "surrogateescape")


def read_ddl(data: bytes, start: int, end: int, rules: JsonRules = VALUE_RULES) -> Ddl:
    """Return the DDL in ``data[start:end]``. Raises: DecodeError."""
    document = read_json(data, rules, start, end)
    found = expect_object(whole_of(document), DDL_VALUE)
    return Ddl(**DDL.read(found, document.end, data))


def write_ddl(ddl: Ddl, dialect: Dialect) -> bytes:
    """Return a DDL. Raises: EncodeError."""
    quoted = WRITE_STRING[dialect]
    return object_text(DDL.write(ddl, quoted), quoted).encode()


ItemBounds: TypeAlias = "tuple[int, int]"  # of an item: start, end
BATCH_VERSION = 1
NUMBER_BYTES = 8
ITEM_OVERHEAD = 2 * NUMBER_BYTES  # the two lengths of an item
CLAUSE = "open-protocol: claim check"


def read_key_frame(key: bytes | None) -> list[ItemBounds]:
    """Return the places of the key items.

    Raises: TruncatedError; DecodeError for another batch version, or without any item.
    """
    with step("key"):
        if key is None:
            raise TruncatedError("there is no Kafka key", 0, "open-protocol: framing")
        reader = Reader(key)
        version = int.from_bytes(reader.take(NUMBER_BYTES, "open-protocol: batch version"), "big")
        if version != BATCH_VERSION:
            problem = f"the batch version is {version}; only {BATCH_VERSION} is defined"
            raise DecodeError(problem, 0, "open-protocol: batch version")
        if not reader.left:
            raise DecodeError("the key has no item", reader.offset, "open-protocol: item counts")
        return _read_items(reader)


def read_value_frame(value: bytes) -> list[ItemBounds]:
    """Return the places of the value items. Raises: TruncatedError."""
    with step("value"):
        return _read_items(Reader(value))


def _read_items(reader: Reader) -> list[ItemBounds]:
    places: list[ItemBounds] = []
    try:
        while reader.left:
            length_bytes = reader.take(NUMBER_BYTES, "open-protocol: item lengths")
            length = int.from_bytes(length_bytes, "big")
            # Python's integers do not wrap, so start + length is safe to compare.
            start = reader.offset
            if length > reader.left:
                problem = f"an item of {length} bytes is announced, {reader.left} are left"
                raise TruncatedError(problem, reader.end, "open-protocol: item lengths")
            reader.offset = start + length
            places.append((start, reader.offset))
    except DecodeError as error:
        error.path = (len(places), *error.path)
        raise
    return places


def check_item_counts(
    keys: Sequence[ItemBounds], values: Sequence[ItemBounds], value_end: int
) -> None:
    """Raise DecodeError unless there are as many values as keys."""
    if len(keys) == len(values):
        return
    problem = f"{len(keys)} key items, but {len(values)} value items"
    more_values = len(values) > len(keys)
    offset = values[len(keys)][0] - NUMBER_BYTES if more_values else value_end
    path = ("value", len(keys) if more_values else len(values))
    raise DecodeError(problem, offset, "open-protocol: item counts", path)


def write_key_frame(items: Sequence[bytes]) -> bytes:
    """Return items as a Kafka key: the version, then each item after its length."""
    return BATCH_VERSION.to_bytes(NUMBER_BYTES, "big") + write_value_frame(items)


def write_value_frame(items: Sequence[bytes]) -> bytes:
    """Return items as a Kafka value: each item after its length."""
    return b"".join(len(item).to_bytes(NUMBER_BYTES, "big") + item for item in items)


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


def read_file(data: bytes, compression: Compression | None = None) -> Item:
    """Return the one row of a claim-check file.

    Offsets of errors count in the file. Under the paths ``key`` and ``value`` and the number of an
    item they count in the decoded bytes of that member.
    Raises: DecodeError.
    """
    key, value = read_claim_check(data, CLAUSE, VALUE_RULES)
    message = read_message(key, value, compression=compression)
    if len(message.items) != 1 or message.items[0].key.t != EVENT_ROW:
        raise DecodeError("the stored message is not one row", 0, CLAUSE)
    item = message.items[0]
    if item.key.ccl:
        raise DecodeError("the stored message itself has a claim check", 0, CLAUSE, ("key", 0))
    return item


def check_belongs(stored: Item, sent: Item) -> None:
    """Raise DecodeError unless the stored row is the one whose reduced row points to it."""
    for name in KEY.by_name:
        if name not in ("ohk", "ccl") and getattr(stored.key, name) != getattr(sent.key, name):
            raise _is_another(name, ("key", 0, name))
    for group in ROW.by_name:
        known = {column.name: column for column in getattr(stored.value, group) or ()}
        for column in getattr(sent.value, group) or ():
            if column.name not in known or known[column.name].value != column.value:
                raise _is_another(f"{group}.{column.name}", ("value", 0, group, column.name))


def _is_another(name: str, path: Path) -> DecodeError:
    problem = f"the stored row is another one: its {name} differs from the message's"
    return DecodeError(problem, 0, CLAUSE, path)


def write_file(item: Item, dialect: Dialect, compression: Compression | None) -> tuple[str, bytes]:
    """Return name and content of the file that stores a row. Raises: EncodeError."""
    if item.key.ohk or item.key.ccl:
        raise EncodeError("a stored row is a full one, without ohk and ccl", CLAUSE)
    key, value = write_message(Message((item,)), dialect, compression)
    return write_claim_check(key, value)
