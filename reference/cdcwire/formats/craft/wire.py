"""Craft messages as bytes, and back: version, headers, bodies, dictionary, size tables, tail.

``decode`` follows the order in which a reader learns the offsets: version, tail, size tables,
dictionary, headers, bodies. Integers may be written longer than they need; the encoder never does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from cdcwire.core.context import NO_CONTEXT, Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.reader import Reader, read_uvarint, write_uvarint
from cdcwire.formats.craft.columns import (
    NameReader,
    read_columns,
    read_ddl_body,
    write_columns,
    write_ddl_body,
)
from cdcwire.formats.craft.headers import (
    Header,
    Terms,
    name_reader,
    read_dictionary,
    read_headers,
    write_headers,
)
from cdcwire.formats.craft.message import (
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    GROUP_NEW,
    GROUP_OLD,
    ColumnGroup,
    DDLEvent,
    Event,
    Message,
    ResolvedEvent,
    RowEvent,
)
from cdcwire.formats.craft.profile import CRAFT, present
from cdcwire.formats.craft.size_tables import (
    ReadPart,
    read_delta_table,
    read_now,
    split_at_tables,
    write_delta_table,
    write_tail,
)

VERSION = 1

_MESSAGE = "craft: message"
_VERSION = "craft: version"
_SIZE_TABLES = "craft: size tables"


@dataclass(frozen=True, slots=True)
class SizeTables:
    """The sizes of all parts, in bytes. ``groups`` has one table an event of a row message."""

    headers: int
    dictionary: int
    bodies: list[int]
    groups: list[list[int]]


@dataclass(frozen=True, slots=True)
class Head:
    """All of a message except the bodies, which are read with it. ``bodies``: their bytes."""

    tables: SizeTables
    dictionary: list[str]
    headers: list[Header]
    bodies: Reader


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> Message:
    """Return the message that a Kafka value holds.

    ``key`` is ignored: Craft leaves it null. Rows of tables that the context's selection leaves out
    are skipped by their size and are not in the message. Values of columns that it leaves out are
    ``SKIPPED``. A DDL belongs to its table too, as far as it names one; resolved events are always
    kept.
    Raises: DecodeError.

    Examples:
        >>> from cdcwire import craft
        >>> craft.decode(bytes.fromhex("010003010101020a09010005")).events
        (ResolvedEvent(commit_ts=0, schema=None, table=None, partition=None),)

    """
    return read_message(Reader(present(value, CRAFT)), context.selection)


def encode(message: Message, *, context: Context = NO_CONTEXT) -> bytes:
    """Return the one canonical form of a message. Raises: EncodeError.

    ``context`` is ignored: the values say all that the bytes depend on.

    Examples:
        >>> from cdcwire import craft
        >>> message = craft.Message((craft.ResolvedEvent(commit_ts=1),))
        >>> craft.encode(message).hex()
        '010103010101020a09010005'

    """
    events = message.events
    types = _event_types(events)
    out = bytearray()
    write_uvarint(out, VERSION, _VERSION)
    start = len(out)
    terms = Terms()
    write_headers(out, events, types, terms)
    headers_size = len(out) - start
    body_sizes = []
    group_sizes = []
    for index, event in enumerate(events):
        start = len(out)
        sizes = _write_body(out, index, event, terms)
        body_sizes.append(len(out) - start)
        if sizes:
            group_sizes.append(sizes)
    start = len(out)
    terms.write(out)
    tables = bytearray()
    for sizes in ([headers_size, len(out) - start], body_sizes, *group_sizes):
        write_delta_table(tables, sizes, CRAFT)
    write_tail(out, bytes(tables), CRAFT)
    return bytes(out)


def read_message(
    reader: Reader,
    selection: Selection,
    names_by: Callable[[list[str]], NameReader] = name_reader,
) -> Message:
    """Read the message that fills ``reader``.

    ``names_by``: returns what reads the column names of a group, given the dictionary.
    """
    head = read_head(reader)
    return Message(tuple(read_bodies(head.bodies, head, selection, names_by)))


def read_head(reader: Reader, read_part: ReadPart = read_now) -> Head:
    """Read the message that fills ``reader``, except the bodies."""
    _read_version(reader)
    body, table_reader = split_at_tables(reader, CRAFT)
    tables = read_part(table_reader, _read_size_tables)
    _check_sizes(tables, body)
    header_reader = body.region(tables.headers, _SIZE_TABLES)
    bodies = body.region(sum(tables.bodies), _SIZE_TABLES)
    dictionary = read_part(body, read_dictionary)
    count = len(tables.bodies)
    headers = read_part(header_reader, partial(read_headers, count=count, dictionary=dictionary))
    rows = sum(header.type == EVENT_ROW for header in headers)
    if len(tables.groups) != rows:
        raise DecodeError(
            f"{len(tables.groups)} tables of column group sizes for {rows} rows",
            table_reader.end,
            _SIZE_TABLES,
            ("size_tables", "groups"),
        )
    return Head(tables, dictionary, headers, bodies)


def read_bodies(
    bodies: Reader,
    head: Head,
    selection: Selection,
    names_by: Callable[[list[str]], NameReader] = name_reader,
) -> Iterator[Event]:
    """Yield the events of a message, each once its body is read."""
    if head.tables.groups:
        read_names = names_by(head.dictionary)
        yield from _read_rows(bodies, head.headers, head.tables, read_names, selection)
        return
    event = _read_single(bodies, head.headers[0])
    if event.table is None or selection.wants(event.schema, event.table):
        yield event


def _read_version(reader: Reader) -> None:
    start = reader.offset
    with step("version"):
        version = read_uvarint(reader, CRAFT.integers)
        if version != VERSION:
            raise DecodeError(f"unsupported version {version}, {VERSION} is known", start, _VERSION)
    reader.note(start, version, _VERSION, "version")


def _read_size_tables(reader: Reader) -> SizeTables:
    meta_start = reader.offset
    meta = read_delta_table(reader, ("size_tables", "meta"), CRAFT)
    if len(meta) != 2:
        raise DecodeError(
            f"the first table has {len(meta)} elements, not 2",
            meta_start,
            _SIZE_TABLES,
            ("size_tables", "meta"),
        )
    bodies = read_delta_table(reader, ("size_tables", "bodies"), CRAFT)
    groups: list[list[int]] = []
    while reader.left:
        groups.append(read_delta_table(reader, ("size_tables", "groups", len(groups)), CRAFT))
    headers, dictionary = meta
    return SizeTables(headers, dictionary, bodies, groups)


def _check_sizes(tables: SizeTables, body: Reader) -> None:
    total = tables.headers + sum(tables.bodies) + tables.dictionary
    if total != body.left:
        raise DecodeError(
            f"the size tables give {total} bytes, found {body.left}",
            body.end,
            _SIZE_TABLES,
            ("size_tables",),
        )


def _read_rows(
    bodies: Reader,
    headers: list[Header],
    tables: SizeTables,
    read_names: NameReader,
    selection: Selection,
) -> Iterator[RowEvent]:
    for index, (header, size, group_sizes) in enumerate(
        zip(headers, tables.bodies, tables.groups, strict=True)
    ):
        if sum(group_sizes) != size:
            raise DecodeError(
                f"column groups of {sum(group_sizes)} bytes in a body of {size}",
                bodies.offset,
                _SIZE_TABLES,
                ("size_tables", "groups", index),
            )
        body = bodies.region(size, _SIZE_TABLES)
        # The headers of a row message all have both names; it was checked when they were read.
        assert header.schema is not None
        assert header.table is not None
        if selection.wants(header.schema, header.table):
            groups = _read_groups(body, index, group_sizes, read_names, selection)
            yield RowEvent(header.commit_ts, header.schema, header.table, groups, header.partition)


def _read_groups(
    body: Reader, index: int, sizes: list[int], read_names: NameReader, selection: Selection
) -> tuple[ColumnGroup, ...]:
    groups: list[ColumnGroup] = []
    for number, size in enumerate(sizes):
        path = ("events", index, "groups", number)
        group = body.region(size, CRAFT.column_groups)
        start = group.offset
        with step(*path, "type"):
            kind = group.byte(CRAFT.column_groups)
            if kind not in (GROUP_NEW, GROUP_OLD):
                raise DecodeError(
                    f"column group type {kind} is not defined", start, CRAFT.column_groups
                )
            if any(kind == other.type for other in groups):
                raise DecodeError(
                    f"column group type {kind} is duplicated", start, CRAFT.column_groups
                )
        group.note(start, kind, CRAFT.column_groups, *path, "type")
        columns = read_columns(group, read_names, CRAFT, selection.columns, path)
        with step(*path):
            group.expect_end(CRAFT.column_groups)
        groups.append(ColumnGroup(kind, columns))
    return tuple(groups)


def _read_single(body: Reader, header: Header) -> DDLEvent | ResolvedEvent:
    names = (header.schema, header.table, header.partition)
    path = ("events", 0)
    if header.type == EVENT_DDL:
        code, query = read_ddl_body(body, CRAFT, path)
        event: DDLEvent | ResolvedEvent = DDLEvent(header.commit_ts, code, query, *names)
        clause = CRAFT.ddl_events
    else:
        event = ResolvedEvent(header.commit_ts, *names)
        clause = CRAFT.resolved_events
    with step(*path):
        body.expect_end(clause)
    return event


def _event_types(events: tuple[Event, ...]) -> list[int]:
    if not events:
        raise EncodeError("a message without events", _MESSAGE, ("events",))
    types = []
    for index, event in enumerate(events):
        match event:
            case RowEvent():
                types.append(EVENT_ROW)
            case DDLEvent():
                types.append(EVENT_DDL)
            case ResolvedEvent():
                types.append(EVENT_RESOLVED)
        if types[-1] != EVENT_ROW and len(events) > 1:
            raise EncodeError(
                "a DDL or resolved event must be alone in its message",
                CRAFT.event_types,
                ("events", index),
            )
    return types


def _write_body(out: bytearray, index: int, event: Event, terms: Terms) -> list[int]:
    """Append the body of an event; return the sizes of its column groups, if it has any."""
    path = ("events", index)
    match event:
        case RowEvent():
            return _write_groups(out, event, terms, index)
        case DDLEvent():
            write_ddl_body(out, event.type, event.query, CRAFT, path)
        case ResolvedEvent():
            pass  # its body has no bytes
    return []


def _write_groups(out: bytearray, event: RowEvent, terms: Terms, index: int) -> list[int]:
    kinds = [group.type for group in event.groups]
    if not kinds or not set(kinds) <= {GROUP_NEW, GROUP_OLD} or len(set(kinds)) != len(kinds):
        raise EncodeError(
            f"column groups of types {kinds}; a row has 1, 2 or both",
            CRAFT.row_events,
            ("events", index, "groups"),
        )
    sizes = []
    for number, group in enumerate(event.groups):
        start = len(out)
        out.append(group.type)
        path = ("events", index, "groups", number)
        write_columns(out, group.columns, terms.write_names, CRAFT, path)
        sizes.append(len(out) - start)
    return sizes
