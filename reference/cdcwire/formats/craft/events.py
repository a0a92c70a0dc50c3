"""Craft messages to neutral events, and events to the messages that the producer would send."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import starmap
from typing import TypeVar

from cdcwire.core.errors import EncodeError, step
from cdcwire.formats.craft.images import (
    ColumnWriter,
    check_row,
    estimated_size,
    handle_key,
    read_image,
)
from cdcwire.formats.craft.message import (
    GROUP_NEW,
    GROUP_OLD,
    ColumnGroup,
    DDLEvent,
    Message,
    ResolvedEvent,
    RowEvent,
)
from cdcwire.formats.craft.message import Column as WireColumn
from cdcwire.formats.craft.message import Event as WireEvent
from cdcwire.formats.craft.profile import CRAFT, Profile
from cdcwire.formats.craft.settings import DEFAULT_SETTINGS, Settings
from cdcwire.model.events import (
    NO_EXTRA,
    Event,
    Extra,
    Marker,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.mysql.types import schema_change_kind

AnyInput = TypeVar("AnyInput")
AnyEvent = TypeVar("AnyEvent")


def events_of(message: Message, settings: Settings = DEFAULT_SETTINGS) -> list[Event]:
    """Return the neutral events of a message, in its order."""
    return [event_of(event, settings) for event in message.events]


def messages_of(
    events: Iterable[Event], settings: Settings = DEFAULT_SETTINGS, tables: Iterable[Table] = ()
) -> Iterator[Message]:
    """Give the messages that a producer with these settings sends.

    ``tables`` completes columns that come with their kind only. Raises: EncodeError; its path
    begins with the number of the event.
    """
    write = event_writer(settings, tables)
    for batch in batches(events, write, settings.max_message_bytes, settings.max_batch_size):
        yield Message(batch)


def event_writer(
    settings: Settings, tables: Iterable[Table]
) -> Callable[[Event], tuple[WireEvent, int | None]]:
    """Return what makes an event of the wire, and the estimated size of a row.

    ``tables`` completes columns that come with their kind only. The function raises EncodeError.
    """
    columns = ColumnWriter(settings, tables, CRAFT)

    def wire_event(event: Event) -> tuple[WireEvent, int | None]:
        if not isinstance(event, RowChange):
            return _single_event(event), None
        row = _row_event(event, columns)
        groups = (group.columns for group in row.groups)
        return row, estimated_size(row.schema, row.table, groups, CRAFT)

    return wire_event


def batches(
    events: Iterable[AnyInput],
    wire_event: Callable[[AnyInput], tuple[AnyEvent, int | None]],
    max_message_bytes: int,
    max_batch_size: int,
) -> Iterator[tuple[AnyEvent, ...]]:
    """Give what goes into each message, as events of the wire.

    ``wire_event`` returns an event and the estimated size of a row, None for other events. A batch
    ends once it is too large or has enough rows, never before a row: one row may exceed the limit.
    Any other event is alone in its batch, after the rows before it.
    """
    batch: list[AnyEvent] = []
    size = 0
    for index, event in enumerate(events):
        with step("events", index):
            found, row_size = wire_event(event)
        if row_size is None:
            if batch:
                yield tuple(batch)
            batch, size = [], 0
            yield (found,)
            continue
        batch.append(found)
        size += row_size
        if size > max_message_bytes or len(batch) >= max_batch_size:
            yield tuple(batch)
            batch, size = [], 0
    if batch:
        yield tuple(batch)


def commit_ts_of(position: Position, profile: Profile) -> int:
    """Return the timestamp that every event must have. Raises: EncodeError."""
    if position.commit_ts is None:
        raise EncodeError(
            "an event without commit_ts", profile.commit_ts, ("position", "commit_ts")
        )
    return position.commit_ts


def row_names(table: Table, profile: Profile) -> tuple[str, str]:
    """Return schema and table name of a row, which it must have. Raises: EncodeError."""
    if not table.schema or not table.name:
        raise EncodeError("a row without schema or table name", profile.row_events, ("table",))
    return table.schema, table.name


def ddl_names(table: Table | None) -> tuple[str | None, str | None]:
    """Return schema and table name of a DDL, as far as it has them."""
    return (None, None) if table is None else (table.schema, table.name)


def ddl_parts(event: SchemaChange, profile: Profile) -> tuple[int, str]:
    """Return the code and the query that a DDL must have. Raises: EncodeError."""
    if event.code is None:
        raise EncodeError("a DDL without its code", profile.ddl_events, ("code",))
    if event.query is None:
        raise EncodeError("a DDL without its query", profile.ddl_events, ("query",))
    return event.code, event.query


def ddl_table(schema: str | None, name: str | None) -> Table | None:
    """Return what a DDL is about: a table, or with the name None a schema; None for neither."""
    return None if schema is None and name is None else Table(name, schema)


def no_form(event: Event, profile: Profile) -> EncodeError:
    """Return the error for an event of a kind that has no form here."""
    what = event.what if isinstance(event, (Progress, Marker)) else type(event).__name__
    return EncodeError(f"{what!r} has no form here", profile.event_types, ("what",))


def event_of(event: WireEvent, settings: Settings) -> Event:
    """Return the neutral event of an event of the wire."""
    position = Position(commit_ts=event.commit_ts, partition=event.partition)
    match event:
        case RowEvent():
            groups = {group.type: group.columns for group in event.groups}
            table = Table(event.table, event.schema)
            new, old = groups.get(GROUP_NEW), groups.get(GROUP_OLD)
            return row_change(table, new, old, position, settings)
        case DDLEvent():
            about = ddl_table(event.schema, event.table)
            what = schema_change_kind(event.type)
            return SchemaChange(what, event.query, event.type, about, position)
        case ResolvedEvent():
            return Progress("resolved", position)


def row_change(
    table: Table,
    new: tuple[WireColumn, ...] | None,
    old: tuple[WireColumn, ...] | None,
    position: Position,
    settings: Settings,
    extra: Extra = NO_EXTRA,
) -> RowChange:
    """Return the change that the groups of a row make. ``table``: its names."""
    op: Op = "delete" if new is None else "insert" if old is None else "update"
    is_cut = op == "delete" and settings.delete_only_handle_key
    return RowChange(
        replace(table, key=handle_key(new or old or ())),
        op,
        None if old is None else read_image(old, settings.time_zone),
        None if new is None else read_image(new, settings.time_zone),
        position,
        sent="key" if is_cut else None,
        extra=extra,
    )


def row_groups(
    event: RowChange, columns: ColumnWriter, delete: int
) -> Iterator[tuple[int, tuple[WireColumn, ...]]]:
    """Yield type and columns of a row's groups. ``delete``: the type of a deleted row."""
    if event.after is not None:
        with step("after"):
            found = columns.columns(event.table, event.after)
        yield GROUP_NEW, found
    if event.before is not None:
        is_delete = event.op == "delete"
        with step("before"):
            choose = columns.deleted_columns if is_delete else columns.columns
            found = choose(event.table, event.before)
        yield delete if is_delete else GROUP_OLD, found


def _row_event(event: RowChange, columns: ColumnWriter) -> RowEvent:
    check_row(event, CRAFT)
    schema, table = row_names(event.table, CRAFT)
    groups = tuple(starmap(ColumnGroup, row_groups(event, columns, GROUP_OLD)))
    commit_ts = commit_ts_of(event.position, CRAFT)
    return RowEvent(commit_ts, schema, table, groups, event.position.partition)


def _single_event(event: Event) -> DDLEvent | ResolvedEvent:
    commit_ts = commit_ts_of(event.position, CRAFT)
    if isinstance(event, SchemaChange):
        code, query = ddl_parts(event, CRAFT)
        schema, table = ddl_names(event.table)
        return DDLEvent(commit_ts, code, query, schema, table, event.position.partition)
    if isinstance(event, Progress) and event.what == "resolved":
        return ResolvedEvent(commit_ts, partition=event.position.partition)
    raise no_form(event, CRAFT)
