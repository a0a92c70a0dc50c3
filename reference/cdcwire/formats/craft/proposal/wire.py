"""Messages of the Craft proposal as bytes, and back.

Where the document is silent there is one reading, listed on the format's page. ``decode`` follows
the order in which a reader learns the offsets: version and number of pairs, tail, size tables,
keys, values. Inside a stated size, bytes after the known ones are kept and ignored, as the document
promises to old readers. The sizes themselves must add up exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from cdcwire.core.context import NO_CONTEXT, Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.reader import Reader
from cdcwire.formats.craft.columns import (
    read_columns,
    read_ddl_body,
    write_columns,
    write_ddl_body,
)
from cdcwire.formats.craft.message import (
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    GROUP_NEW,
    GROUP_OLD,
)
from cdcwire.formats.craft.profile import PROPOSAL, present
from cdcwire.formats.craft.proposal.keys import (
    Key,
    read_column_names,
    read_keys,
    read_surplus,
    write_column_names,
    write_keys,
)
from cdcwire.formats.craft.proposal.message import (
    GROUP_DELETE,
    KNOWN_EVENTS,
    KNOWN_GROUPS,
    ColumnGroup,
    DDLEvent,
    Event,
    Group,
    Message,
    ResolvedEvent,
    RowEvent,
    UnknownEvent,
    UnknownGroup,
)
from cdcwire.formats.craft.size_tables import (
    ReadPart,
    read_now,
    read_plain_table,
    split_at_tables,
    write_plain_table,
    write_tail,
)
from cdcwire.model.events import Path

VERSION = 1
MAX_PAIRS = 0xFFFF  # the number of pairs has two bytes

_MESSAGE = "craft-proposal: message"
_VERSION = "craft-proposal: version"
_PAIRS = "craft-proposal: number of pairs"
_SIZE_TABLES = "craft-proposal: size tables"
_UNKNOWN_BITS = "craft-proposal: unknown bits"
_ROW_GROUPS = ({GROUP_NEW}, {GROUP_NEW, GROUP_OLD}, {GROUP_DELETE})


@dataclass(frozen=True, slots=True)
class SizeTables:
    """The sizes of all parts, in bytes. ``groups`` has one table an event, be it empty."""

    keys: int
    values: list[int]
    groups: list[list[int]]
    surplus: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """All of a message except the values, which are read with it. ``values``: their bytes."""

    tables: SizeTables
    keys: list[Key]
    keys_surplus: bytes
    values: Reader


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> Message:
    """Return the message that a Kafka value holds.

    ``key`` is ignored: Craft leaves it null. Rows of tables that the context's selection leaves out
    are skipped by their size and are not in the message. Values of columns that it leaves out are
    ``SKIPPED``. A DDL belongs to its table too, as far as it names one; all other events are always
    kept.
    Raises: DecodeError.
    """
    return read_message(Reader(present(value, PROPOSAL)), context.selection)


def encode(message: Message, *, context: Context = NO_CONTEXT) -> bytes:
    """Return the bytes of a message, what no reader knows included. Raises: EncodeError.

    ``context`` is ignored: the values say all that the bytes depend on.
    """
    events = message.events
    if not 1 <= len(events) <= MAX_PAIRS:
        raise EncodeError(f"{len(events)} pairs; 1 to {MAX_PAIRS} fit", _PAIRS, ("events",))
    out = bytearray(VERSION.to_bytes(2, "big") + len(events).to_bytes(2, "big"))
    start = len(out)
    write_keys(out, events, [_event_type(index, event) for index, event in enumerate(events)])
    out += message.keys_surplus
    keys_size = len(out) - start
    value_sizes = []
    group_sizes = []
    for index, event in enumerate(events):
        start = len(out)
        group_sizes.append(_write_value(out, event, ("events", index)))
        value_sizes.append(len(out) - start)
    tables = bytearray()
    for sizes in ([keys_size], value_sizes, *group_sizes):
        write_plain_table(tables, sizes, PROPOSAL)
    tables += message.tables_surplus
    write_tail(out, bytes(tables), PROPOSAL)
    return bytes(out)


def read_message(reader: Reader, selection: Selection) -> Message:
    """Read the message that fills ``reader``."""
    head = read_head(reader)
    events = tuple(read_values(head.values, head, selection))
    return Message(events, head.keys_surplus, head.tables.surplus)


def read_head(reader: Reader, read_part: ReadPart = read_now) -> Head:
    """Read the message that fills ``reader``, except the values."""
    count = _read_start(reader)
    body, table_reader = split_at_tables(reader, PROPOSAL)
    tables = read_part(table_reader, partial(_read_size_tables, count=count))
    total = tables.keys + sum(tables.values)
    if total != body.left:
        raise DecodeError(
            f"the size tables give {total} bytes, found {body.left}",
            body.end,
            _SIZE_TABLES,
            ("size_tables",),
        )
    key_reader = body.region(tables.keys, _SIZE_TABLES)
    keys, keys_surplus = read_part(key_reader, partial(read_keys, count=count))
    return Head(tables, keys, keys_surplus, body)


def read_values(values: Reader, head: Head, selection: Selection) -> Iterator[Event]:
    """Yield the events of a message, each once its value is read."""
    for index, key in enumerate(head.keys):
        value = values.region(head.tables.values[index], _SIZE_TABLES)
        if _is_wanted(key, selection):
            yield _read_event(value, key, head.tables.groups[index], index, selection)


def _read_start(reader: Reader) -> int:
    """Read version and number of pairs, two bytes each."""
    # Source: choice; the document does not say the byte order. Big-endian makes the first byte 0,
    # which no message of the shipped format has.
    with step("version"):
        version = int.from_bytes(reader.take(2, _VERSION), "big")
        if version != VERSION:
            raise DecodeError(f"unsupported version {version}, {VERSION} is known", 0, _VERSION)
    reader.note(0, version, _VERSION, "version")
    start = reader.offset
    with step("number_of_pairs"):
        count = int.from_bytes(reader.take(2, _PAIRS), "big")
        if count == 0:
            raise DecodeError("a message without pairs", start, _PAIRS)
    reader.note(start, count, _PAIRS, "number_of_pairs")
    return count


def _read_size_tables(reader: Reader, count: int) -> SizeTables:
    keys_path: Path = ("size_tables", "keys")
    start = reader.offset
    keys = read_plain_table(reader, keys_path, PROPOSAL)
    if len(keys) != 1:
        problem = f"the first table has {len(keys)} elements, not 1"
        raise DecodeError(problem, start, _SIZE_TABLES, keys_path)
    values_path: Path = ("size_tables", "values")
    start = reader.offset
    values = read_plain_table(reader, values_path, PROPOSAL)
    if len(values) != count:
        problem = f"the second table has {len(values)} elements for {count} pairs"
        raise DecodeError(problem, start, _SIZE_TABLES, values_path)
    groups = [
        read_plain_table(reader, ("size_tables", "groups", index), PROPOSAL)
        for index in range(count)
    ]
    return SizeTables(keys[0], values, groups, read_surplus(reader, "size_tables"))


def _is_wanted(key: Key, selection: Selection) -> bool:
    if key.type not in (EVENT_ROW, EVENT_DDL) or key.table is None:
        return True
    return selection.wants(key.schema, key.table)


def _read_event(
    value: Reader, key: Key, sizes: list[int], index: int, selection: Selection
) -> Event:
    path: Path = ("events", index)
    common = (key.schema, key.table, key.row_id, key.partition)
    if key.type == EVENT_ROW:
        groups = _read_groups(value, sizes, path, selection)
        # The keys of rows all have both names; it was checked when they were read.
        assert key.schema is not None
        assert key.table is not None
        surplus = read_surplus(value, *path)
        return RowEvent(
            key.commit_ts, key.schema, key.table, groups, key.row_id, key.partition, surplus
        )
    if key.type not in KNOWN_EVENTS:
        start = value.offset
        content = value.take(value.left, _UNKNOWN_BITS)
        if content:
            note = f"event type {key.type} is not known"
            value.note(start, content, _UNKNOWN_BITS, *path, "value", note=note)
        return UnknownEvent(key.commit_ts, key.type, content, tuple(sizes), *common)
    if sizes:
        problem = f"sizes of {len(sizes)} column groups for an event that is not a row"
        raise DecodeError(problem, value.offset, _SIZE_TABLES, ("size_tables", "groups", index))
    if key.type == EVENT_RESOLVED:
        return ResolvedEvent(key.commit_ts, *common, read_surplus(value, *path))
    code, query = read_ddl_body(value, PROPOSAL, path)
    return DDLEvent(key.commit_ts, code, query, *common, read_surplus(value, *path))


def _read_groups(
    value: Reader, sizes: list[int], path: Path, selection: Selection
) -> tuple[Group, ...]:
    if sum(sizes) > value.left:
        raise DecodeError(
            f"column groups of {sum(sizes)} bytes in a value of {value.left}",
            value.offset,
            _SIZE_TABLES,
            ("size_tables", "groups", path[-1]),
        )
    groups: list[Group] = []
    kinds: set[int] = set()
    for number, size in enumerate(sizes):
        group = _read_group(
            value.region(size, PROPOSAL.column_groups), kinds, (*path, "groups", number), selection
        )
        if isinstance(group, ColumnGroup):
            kinds.add(group.type)
        groups.append(group)
    if not groups or (kinds and kinds not in _ROW_GROUPS):
        raise DecodeError(
            f"column groups of types {sorted(kinds)}; a row has 1, 1 and 2, or 3",
            value.offset,
            PROPOSAL.row_events,
            (*path, "groups"),
        )
    return tuple(groups)


def _read_group(reader: Reader, seen: set[int], path: Path, selection: Selection) -> Group:
    start = reader.offset
    with step(*path, "type"):
        kind = reader.byte(PROPOSAL.column_groups)
        if kind in seen:
            problem = f"column group type {kind} appears twice"
            raise DecodeError(problem, start, PROPOSAL.column_groups)
    reader.note(start, kind, PROPOSAL.column_groups, *path, "type")
    if kind not in KNOWN_GROUPS:
        start = reader.offset
        content = reader.take(reader.left, _UNKNOWN_BITS)
        if content:
            note = f"column group type {kind} is not known"
            reader.note(start, content, _UNKNOWN_BITS, *path, "content", note=note)
        return UnknownGroup(kind, content)
    columns = read_columns(reader, read_column_names, PROPOSAL, selection.columns, path)
    return ColumnGroup(kind, columns, read_surplus(reader, *path))


def _event_type(index: int, event: Event) -> int:
    match event:
        case RowEvent():
            return EVENT_ROW
        case DDLEvent():
            return EVENT_DDL
        case ResolvedEvent():
            return EVENT_RESOLVED
        case UnknownEvent():
            if event.type in KNOWN_EVENTS:
                problem = f"event type {event.type} is known, but not written as such"
                raise EncodeError(problem, PROPOSAL.event_types, ("events", index, "type"))
            return event.type


def _write_value(out: bytearray, event: Event, path: Path) -> list[int]:
    """Append the value of an event; return its table of column group sizes."""
    match event:
        case RowEvent():
            sizes = _write_groups(out, event, path)
            out += event.surplus
            return sizes
        case DDLEvent():
            write_ddl_body(out, event.type, event.query, PROPOSAL, path)
            out += event.surplus
        case ResolvedEvent():
            out += event.surplus
        case UnknownEvent():
            out += event.value
            return list(event.group_sizes)
    return []


def _write_groups(out: bytearray, event: RowEvent, path: Path) -> list[int]:
    kinds = [group.type for group in event.known_groups]
    is_row = set(kinds) in _ROW_GROUPS and len(set(kinds)) == len(kinds)
    if not event.groups or (kinds and not is_row):
        raise EncodeError(
            f"column groups of types {kinds}; a row has 1, 1 and 2, or 3",
            PROPOSAL.row_events,
            (*path, "groups"),
        )
    sizes = []
    for number, group in enumerate(event.groups):
        start = len(out)
        _write_group(out, group, (*path, "groups", number))
        sizes.append(len(out) - start)
    return sizes


def _write_group(out: bytearray, group: Group, path: Path) -> None:
    if isinstance(group, ColumnGroup):
        out.append(group.type)
        write_columns(out, group.columns, write_column_names, PROPOSAL, path)
        out += group.surplus
        return
    if group.type in KNOWN_GROUPS or not 0 <= group.type <= 0xFF:
        problem = f"column group type {group.type} is not one that is unknown"
        raise EncodeError(problem, PROPOSAL.column_groups, (*path, "type"))
    out.append(group.type)
    out += group.content
