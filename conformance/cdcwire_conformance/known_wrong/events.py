"""Known-wrong decoders that misread events, whatever the format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.format import Format
from cdcwire.model.events import Event, Image, Progress, RowChange, SchemaChange
from cdcwire.model.instants import ms_of_tso
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    right,
    wrong_decoder,
    wrong_events,
    wrong_rows,
)


@wrong_rows("deletes never arrive", "63")
def delete_lost(row: RowChange) -> Event | None:
    """Drop deletes."""
    return None if row.op == "delete" else row


@wrong_rows("a delete inserts the row again")
def delete_as_insert(row: RowChange) -> Event:
    """Turn a delete into an insert of the old row."""
    return replace(row, op="insert", after=row.before, before=None) if row.op == "delete" else row


@wrong_rows("an update is an insert of the new row")
def update_as_insert(row: RowChange) -> Event:
    """Turn an update into an insert of the new row."""
    return replace(row, op="insert", before=None) if row.op == "update" else row


@wrong_rows("before and after of an update are swapped", "58")
def images_swapped(row: RowChange) -> Event:
    """Swap the old and the new row of an update."""
    if row.op != "update":
        return row
    return replace(row, before=row.after, after=row.before)


@wrong_rows("an update has no old row", "61")
def before_lost(row: RowChange) -> Event:
    """Drop the old row of an update."""
    return replace(row, before=None) if row.op == "update" else row


@wrong_rows("an insert has an old row of NULLs", "53")
def insert_with_null_before(row: RowChange) -> Event:
    """Add an old row of NULLs to an insert."""
    if row.op != "insert" or row.after is None:
        return row
    return replace(row, before=Image(row.after.columns, (None,) * len(row.after.columns)))


@wrong_rows("columns that were not sent are NULL", "51", "64")
def absent_as_null(row: RowChange) -> Event:
    """Fill the old row with NULL for the columns that only the new row has."""
    if row.before is None or row.after is None:
        return row
    absent = tuple(column for column in row.after.columns if column.name not in row.before)
    before = Image(row.before.columns + absent, row.before.values + (None,) * len(absent))
    return replace(row, before=before)


@wrong_rows("NULL in old is taken for a column that did not change", "51")
def old_null_as_absent(row: RowChange) -> Event:
    """Drop the NULL columns of an update's old row."""
    if row.op != "update" or row.before is None:
        return row
    kept = Image.of(pair for pair in row.before.pairs if pair[1] is not None)
    return replace(row, before=kept)


@wrong_rows("handle key flags are ignored")
def key_lost(row: RowChange) -> Event:
    """Drop the key columns."""
    return replace(row, table=replace(row.table, key=()))


@wrong_rows("the partition id is dropped")
def partition_lost(row: RowChange) -> Event:
    """Drop the partition id."""
    return replace(row, position=replace(row.position, partition=None))


@wrong_events("a TSO loses its last digits", "9")
def commit_ts_through_double(event: Event) -> Event:
    """Round a commit timestamp to the nearest double."""
    commit_ts = event.position.commit_ts
    if commit_ts is None:
        return event
    return replace(event, position=replace(event.position, commit_ts=int(float(commit_ts))))


@wrong_events("a TSO is cut to its physical part")
def commit_ts_in_milliseconds(event: Event) -> Event:
    """Replace a commit timestamp with its milliseconds."""
    commit_ts = event.position.commit_ts
    if commit_ts is None:
        return event
    return replace(event, position=replace(event.position, commit_ts=ms_of_tso(commit_ts)))


@wrong_events("DDL is skipped", "68")
def schema_change_lost(event: Event) -> Event | None:
    """Drop schema changes."""
    return None if isinstance(event, SchemaChange) else event


@wrong_events("resolved events are skipped")
def progress_lost(event: Event) -> Event | None:
    """Drop progress events."""
    return None if isinstance(event, Progress) else event


@wrong_events("only the first line of a DDL is kept")
def query_cut(event: Event) -> Event:
    """Cut a DDL query to its first line, at most 64 characters."""
    if isinstance(event, SchemaChange) and event.query:
        return replace(event, query=event.query.split("\n")[0][:64])
    return event


@wrong_events("CREATE DATABASE is taken for a table without a name")
def schema_as_table(event: Event) -> Event:
    """Give an empty table name to a schema change that has none."""
    if isinstance(event, SchemaChange) and event.table is not None and event.table.name is None:
        return replace(event, table=replace(event.table, name=""))
    return event


@wrong_decoder("one message is taken for one row")
def first_of_batch(format_: Format, message: Message, context: Context) -> list[Event]:
    """Return only the first event of the message."""
    return right(format_, message, context)[:1]


@wrong_decoder("the order within a message is lost")
def batch_reversed(format_: Format, message: Message, context: Context) -> list[Event]:
    """Return the events of the message in reverse order."""
    return right(format_, message, context)[::-1]


@wrong_decoder("the first commit ts is given to all rows")
def one_commit_ts_a_message(format_: Format, message: Message, context: Context) -> list[Event]:
    """Give each event the commit timestamp of the first event."""
    events = right(format_, message, context)
    return [
        replace(event, position=replace(event.position, commit_ts=events[0].position.commit_ts))
        for event in events
    ]


@wrong_decoder("the first table is given to all rows")
def one_table_a_message(format_: Format, message: Message, context: Context) -> list[Event]:
    """Give each row change the table of the first row change."""
    events = right(format_, message, context)
    first = events[0] if events else None
    if not isinstance(first, RowChange):
        return events
    return [
        replace(event, table=first.table) if isinstance(event, RowChange) else event
        for event in events
    ]


@wrong_decoder("a broken message gives no events and no error")
def errors_swallowed(format_: Format, message: Message, context: Context) -> list[Event]:
    """Return no events for a message that cannot be decoded."""
    try:
        return right(format_, message, context)
    except DecodeError:
        return []


@mending("what follows a message is ignored")
def trailing_bytes_accepted(message: Message) -> Iterable[Message]:
    """Yield the message with its value shortened by 1 to 15 bytes."""
    value = message.value or b""
    for surplus in range(1, min(len(value), 16)):
        yield replace(message, value=value[:-surplus])


@wrong_decoder("the reduced row is taken for the whole one")
def claim_check_ignored(format_: Format, message: Message, context: Context) -> list[Event]:
    """Decode without the claim-check files."""
    return right(format_, message, replace(context, blobs={}))


@wrong_events("the time of the commit and the time of the sending change places")
def times_swapped(event: Event) -> Event:
    """Swap the commit time and the time of sending."""
    at = event.position
    return replace(event, position=replace(at, commit_ms=at.sent_ms, sent_ms=at.commit_ms))


@wrong_rows("the two rows of an update are a delete and an insert")
def halves_as_changes(row: RowChange) -> RowChange:
    """Turn a before record into a delete and an after record into an insert."""
    if row.half is None:
        return row
    op: Any = "delete" if row.half == "before" else "insert"
    return replace(row, op=op, half=None)


# Every format can show these.
EVENTS: tuple[KnownWrong, ...] = (
    insert_with_null_before,
    key_lost,
    errors_swallowed,
)


# For formats whose deletes and updates have cases.
OPERATIONS: tuple[KnownWrong, ...] = (
    delete_lost,
    delete_as_insert,
    update_as_insert,
    trailing_bytes_accepted,
)


# For formats that send the old row of an update.
OLD_ROWS: tuple[KnownWrong, ...] = (
    images_swapped,
    before_lost,
)


# For formats with several events in one message.
BATCHES: tuple[KnownWrong, ...] = (
    first_of_batch,
    batch_reversed,
)


# For formats with events that are not rows.
SCHEMA_CHANGES: tuple[KnownWrong, ...] = (
    schema_change_lost,
    progress_lost,
)


# For formats that send the statements of schema changes.
STATEMENTS: tuple[KnownWrong, ...] = (
    query_cut,
    schema_as_table,
)


# For formats whose position is a TSO.
COMMIT_TS: tuple[KnownWrong, ...] = (
    commit_ts_through_double,
    commit_ts_in_milliseconds,
)
