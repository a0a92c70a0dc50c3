"""Known-wrong decoders that misread events, whatever the format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context, Format
from cdcwire.core.message import Message
from cdcwire.model.events import Event, Image, Progress, RowChange, SchemaChange
from cdcwire.model.tso import ms_of_tso
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    changing_events,
    changing_rows,
    mended,
    right,
)


def _delete_lost(row: RowChange) -> Event | None:
    return None if row.op == "delete" else row


def _delete_as_insert(row: RowChange) -> Event:
    return replace(row, op="insert", after=row.before, before=None) if row.op == "delete" else row


def _update_as_insert(row: RowChange) -> Event:
    return replace(row, op="insert", before=None) if row.op == "update" else row


def _images_swapped(row: RowChange) -> Event:
    if row.op != "update":
        return row
    return replace(row, before=row.after, after=row.before)


def _before_lost(row: RowChange) -> Event:
    return replace(row, before=None) if row.op == "update" else row


def _insert_with_null_before(row: RowChange) -> Event:
    if row.op != "insert" or row.after is None:
        return row
    return replace(row, before=Image(row.after.columns, (None,) * len(row.after.columns)))


def _absent_as_null(row: RowChange) -> Event:
    if row.before is None or row.after is None:
        return row
    absent = tuple(column for column in row.after.columns if column.name not in row.before)
    before = Image(row.before.columns + absent, row.before.values + (None,) * len(absent))
    return replace(row, before=before)


def _key_lost(row: RowChange) -> Event:
    return replace(row, table=replace(row.table, key=()))


def _partition_lost(row: RowChange) -> Event:
    return replace(row, position=replace(row.position, partition=None))


def _commit_ts_through_double(event: Event) -> Event:
    commit_ts = event.position.commit_ts
    if commit_ts is None:
        return event
    return replace(event, position=replace(event.position, commit_ts=int(float(commit_ts))))


def _commit_ts_in_milliseconds(event: Event) -> Event:
    commit_ts = event.position.commit_ts
    if commit_ts is None:
        return event
    return replace(event, position=replace(event.position, commit_ts=ms_of_tso(commit_ts)))


def _schema_change_lost(event: Event) -> Event | None:
    return None if isinstance(event, SchemaChange) else event


def _progress_lost(event: Event) -> Event | None:
    return None if isinstance(event, Progress) else event


def _query_cut(event: Event) -> Event:
    if isinstance(event, SchemaChange) and event.query:
        return replace(event, query=event.query.split("\n")[0][:64])
    return event


def _schema_as_table(event: Event) -> Event:
    if isinstance(event, SchemaChange) and event.table is not None and event.table.name is None:
        return replace(event, table=replace(event.table, name=""))
    return event


def _first_of_batch(format_: Format, message: Message, context: Context) -> list[Event]:
    return right(format_, message, context)[:1]


def _batch_reversed(format_: Format, message: Message, context: Context) -> list[Event]:
    return right(format_, message, context)[::-1]


def _one_commit_ts_a_message(format_: Format, message: Message, context: Context) -> list[Event]:
    events = right(format_, message, context)
    return [
        replace(event, position=replace(event.position, commit_ts=events[0].position.commit_ts))
        for event in events
    ]


def _one_table_a_message(format_: Format, message: Message, context: Context) -> list[Event]:
    events = right(format_, message, context)
    first = events[0] if events else None
    if not isinstance(first, RowChange):
        return events
    return [
        replace(event, table=first.table) if isinstance(event, RowChange) else event
        for event in events
    ]


def _errors_swallowed(format_: Format, message: Message, context: Context) -> list[Event]:
    try:
        return right(format_, message, context)
    except DecodeError:
        return []


def _without_end(message: Message) -> Iterable[Message]:
    value = message.value or b""
    for surplus in range(1, min(len(value), 16)):
        yield replace(message, value=value[:-surplus])


def _claim_check_ignored(format_: Format, message: Message, context: Context) -> list[Event]:
    return right(format_, message, replace(context, blobs={}))


def times_swapped(event: Event) -> Event:
    """Exchange the time of the commit and the time of the sending."""
    at = event.position
    return replace(event, position=replace(at, commit_ms=at.sent_ms, sent_ms=at.commit_ms))


def halves_as_changes(row: RowChange) -> RowChange:
    """Take each row of an update for a change by itself."""
    if row.half is None:
        return row
    op: Any = "delete" if row.half == "before" else "insert"
    return replace(row, op=op, half=None)


# Every format can show these.
EVENTS: tuple[KnownWrong, ...] = (
    KnownWrong(
        "insert-with-null-before",
        "an insert has an old row of NULLs",
        changing_rows(_insert_with_null_before),
        ("53",),
    ),
    KnownWrong("key-lost", "handle key flags are ignored", changing_rows(_key_lost)),
    KnownWrong(
        "errors-swallowed", "a broken message gives no events and no error", _errors_swallowed
    ),
)


# For formats whose deletes and updates have cases.
OPERATIONS: tuple[KnownWrong, ...] = (
    KnownWrong("delete-lost", "deletes never arrive", changing_rows(_delete_lost), ("63",)),
    KnownWrong(
        "delete-as-insert", "a delete inserts the row again", changing_rows(_delete_as_insert)
    ),
    KnownWrong(
        "update-as-insert",
        "an update is an insert of the new row",
        changing_rows(_update_as_insert),
    ),
    KnownWrong(
        "trailing-bytes-accepted", "what follows a message is ignored", mended(_without_end)
    ),
)


# For formats that send the old row of an update.
OLD_ROWS: tuple[KnownWrong, ...] = (
    KnownWrong(
        "images-swapped",
        "before and after of an update are swapped",
        changing_rows(_images_swapped),
        ("58",),
    ),
    KnownWrong("before-lost", "an update has no old row", changing_rows(_before_lost), ("61",)),
)


# For formats with several events in one message.
BATCHES: tuple[KnownWrong, ...] = (
    KnownWrong("first-of-batch", "one message is taken for one row", _first_of_batch),
    KnownWrong("batch-reversed", "the order within a message is lost", _batch_reversed),
)


# For formats with events that are not rows.
SCHEMA_CHANGES: tuple[KnownWrong, ...] = (
    KnownWrong(
        "schema-change-lost", "DDL is skipped", changing_events(_schema_change_lost), ("68",)
    ),
    KnownWrong("progress-lost", "resolved events are skipped", changing_events(_progress_lost)),
)


# For formats that send the statements of schema changes.
STATEMENTS: tuple[KnownWrong, ...] = (
    KnownWrong("query-cut", "only the first line of a DDL is kept", changing_events(_query_cut)),
    KnownWrong(
        "schema-as-table",
        "CREATE DATABASE is taken for a table without a name",
        changing_events(_schema_as_table),
    ),
)


# For formats whose position is a TSO.
COMMIT_TS: tuple[KnownWrong, ...] = (
    KnownWrong(
        "commit-ts-through-double",
        "a TSO loses its last digits",
        changing_events(_commit_ts_through_double),
        ("9",),
    ),
    KnownWrong(
        "commit-ts-in-milliseconds",
        "a TSO is cut to its physical part",
        changing_events(_commit_ts_in_milliseconds),
    ),
)


ABSENT_AS_NULL = KnownWrong(
    "absent-as-null",
    "columns that were not sent are NULL",
    changing_rows(_absent_as_null),
    ("51", "64"),
)
PARTITION_LOST = KnownWrong(
    "partition-lost", "the partition id is dropped", changing_rows(_partition_lost)
)
ONE_COMMIT_TS_A_MESSAGE = KnownWrong(
    "one-commit-ts-a-message", "the first commit ts is given to all rows", _one_commit_ts_a_message
)
ONE_TABLE_A_MESSAGE = KnownWrong(
    "one-table-a-message", "the first table is given to all rows", _one_table_a_message
)
CLAIM_CHECK_IGNORED = KnownWrong(
    "claim-check-ignored", "the reduced row is taken for the whole one", _claim_check_ignored
)
