"""Messages of the Craft proposal to neutral events, and events to messages.

The encoder keeps kinds apart as the shipped one does: a DDL or resolved event has its own message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import starmap

from cdcwire.core.errors import EncodeError
from cdcwire.formats.craft.events import (
    batches,
    commit_ts_of,
    ddl_names,
    ddl_parts,
    ddl_table,
    no_form,
    row_change,
    row_groups,
    row_names,
)
from cdcwire.formats.craft.images import (
    ColumnWriter,
    check_row,
    estimated_size,
)
from cdcwire.formats.craft.message import GROUP_NEW, GROUP_OLD
from cdcwire.formats.craft.profile import PROPOSAL
from cdcwire.formats.craft.proposal.message import (
    GROUP_DELETE,
    ColumnGroup,
    DDLEvent,
    Message,
    ResolvedEvent,
    RowEvent,
    UnknownEvent,
)
from cdcwire.formats.craft.proposal.message import Event as WireEvent
from cdcwire.formats.craft.proposal.wire import MAX_PAIRS
from cdcwire.formats.craft.settings import DEFAULT_SETTINGS, Settings
from cdcwire.model.events import (
    NO_EXTRA,
    Event,
    Extra,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.mysql.types import schema_change_kind

ROW_ID = "row_id"  # the name of the row id in an event's ``extra``

_ROW_ID_CLAUSE = "craft-proposal: row id"
_DIGITS = re.compile(r"-?[1-9][0-9]{0,18}")


def events_of(message: Message, settings: Settings = DEFAULT_SETTINGS) -> list[Event]:
    """Return the neutral events of a message, in its order, without what is not known."""
    found = (event_of(event, settings) for event in message.events)
    return [event for event in found if event is not None]


def messages_of(
    events: Iterable[Event], settings: Settings = DEFAULT_SETTINGS, tables: Iterable[Table] = ()
) -> Iterator[Message]:
    """Give the messages that a producer with these settings sends.

    ``tables`` completes columns that come with their kind only. Raises: EncodeError; its path
    begins with the number of the event.
    """
    settings = batch_settings(settings)
    write = event_writer(settings, tables)
    for batch in batches(events, write, settings.max_message_bytes, settings.max_batch_size):
        yield Message(batch)


def batch_settings(settings: Settings) -> Settings:
    """Return the settings with no more rows in a message than its number of pairs can say."""
    return replace(settings, max_batch_size=min(settings.max_batch_size, MAX_PAIRS))


def event_writer(
    settings: Settings, tables: Iterable[Table]
) -> Callable[[Event], tuple[WireEvent, int | None]]:
    """Return what makes an event of the wire, and the estimated size of a row.

    ``tables`` completes columns that come with their kind only. The function raises EncodeError.
    """
    columns = ColumnWriter(settings, tables, PROPOSAL)

    def wire_event(event: Event) -> tuple[WireEvent, int | None]:
        if not isinstance(event, RowChange):
            return _single_event(event), None
        row = _row_event(event, columns)
        groups = (group.columns for group in row.known_groups)
        return row, estimated_size(row.schema, row.table, groups, PROPOSAL)

    return wire_event


def event_of(event: WireEvent, settings: Settings) -> Event | None:
    """Return the neutral event of an event of the wire; None for one that is not known."""
    if isinstance(event, UnknownEvent):
        return None
    position = Position(commit_ts=event.commit_ts, partition=event.partition)
    extra: Extra = {ROW_ID: str(event.row_id)} if event.row_id else NO_EXTRA
    match event:
        case RowEvent():
            return _row_change(event, position, extra, settings)
        case DDLEvent():
            table = ddl_table(event.schema, event.table)
            what = schema_change_kind(event.type)
            return SchemaChange(what, event.query, event.type, table, position, extra)
        case ResolvedEvent():
            return Progress("resolved", position, extra)


def _row_change(
    event: RowEvent, position: Position, extra: Extra, settings: Settings
) -> RowChange | None:
    groups = {group.type: group.columns for group in event.known_groups}
    if not groups:
        return None
    old = groups.get(GROUP_DELETE, groups.get(GROUP_OLD))
    table = Table(event.table, event.schema)
    return row_change(table, groups.get(GROUP_NEW), old, position, settings, extra)


def _row_event(event: RowChange, columns: ColumnWriter) -> RowEvent:
    check_row(event, PROPOSAL)
    schema, table = row_names(event.table, PROPOSAL)
    groups = tuple(starmap(ColumnGroup, row_groups(event, columns, GROUP_DELETE)))
    commit_ts, row_id = commit_ts_of(event.position, PROPOSAL), _row_id(event.extra)
    return RowEvent(commit_ts, schema, table, groups, row_id, event.position.partition)


def _single_event(event: Event) -> DDLEvent | ResolvedEvent:
    commit_ts = commit_ts_of(event.position, PROPOSAL)
    row_id = _row_id(event.extra)
    partition = event.position.partition
    if isinstance(event, SchemaChange):
        code, query = ddl_parts(event, PROPOSAL)
        schema, table = ddl_names(event.table)
        return DDLEvent(commit_ts, code, query, schema, table, row_id, partition)
    if isinstance(event, Progress) and event.what == "resolved":
        return ResolvedEvent(commit_ts, None, None, row_id, partition)
    raise no_form(event, PROPOSAL)


def _row_id(extra: Extra) -> int:
    text = extra.get(ROW_ID)
    if text is None:
        return 0
    if not isinstance(text, str) or _DIGITS.fullmatch(text) is None:
        raise EncodeError(
            f"{text!r:.80} is not a row id; 0 means none", _ROW_ID_CLAUSE, ("extra", ROW_ID)
        )
    return int(text)
