"""Known-wrong decoders that misread events."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.format import Context, Format
from cdcwire.core.message import Message
from cdcwire.model.events import Event, Image, Progress, RowChange, SchemaChange
from cdcwire.model.tso import ms_of_tso
from cdcwire_conformance.known_wrong.decoder import (
    ALL_BUT_CDL,
    FILES,
    IN_BATCHES,
    MESSAGES,
    MYSQL,
    OF_DDL,
    KnownWrong,
    changing_events,
    changing_rows,
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


EVENTS: tuple[KnownWrong, ...] = (
    KnownWrong(
        "delete-lost", "deletes never arrive", changing_rows(_delete_lost), ALL_BUT_CDL, ("63",)
    ),
    KnownWrong(
        "delete-as-insert",
        "a delete inserts the row again",
        changing_rows(_delete_as_insert),
        ALL_BUT_CDL,
    ),
    KnownWrong(
        "update-as-insert",
        "an update is an insert of the new row",
        changing_rows(_update_as_insert),
        ALL_BUT_CDL,
    ),
    KnownWrong(
        "images-swapped",
        "before and after of an update are swapped",
        changing_rows(_images_swapped),
        (*IN_BATCHES, "debezium-json"),
        ("58",),
    ),
    KnownWrong(
        "before-lost",
        "an update has no old row",
        changing_rows(_before_lost),
        (*IN_BATCHES, "debezium-json"),
        ("61",),
    ),
    KnownWrong(
        "insert-with-null-before",
        "an insert has an old row of NULLs",
        changing_rows(_insert_with_null_before),
        seen=("53",),
    ),
    KnownWrong(
        "absent-as-null",
        "columns that were not sent are NULL",
        changing_rows(_absent_as_null),
        ("open-protocol", "canal-json"),
        ("51", "64"),
    ),
    KnownWrong("key-lost", "handle key flags are ignored", changing_rows(_key_lost)),
    KnownWrong(
        "partition-lost",
        "the partition id is dropped",
        changing_rows(_partition_lost),
        (*MESSAGES, "csv"),
    ),
    KnownWrong(
        "commit-ts-through-double",
        "a TSO loses its last digits",
        changing_events(_commit_ts_through_double),
        MYSQL,
        ("9",),
    ),
    KnownWrong(
        "commit-ts-in-milliseconds",
        "a TSO is cut to its physical part",
        changing_events(_commit_ts_in_milliseconds),
        MYSQL,
    ),
    KnownWrong(
        "schema-change-lost",
        "DDL is skipped",
        changing_events(_schema_change_lost),
        (*OF_DDL, "debezium-json"),
        ("68",),
    ),
    KnownWrong(
        "progress-lost",
        "resolved events are skipped",
        changing_events(_progress_lost),
        (*OF_DDL, "debezium-json"),
    ),
    KnownWrong(
        "query-cut", "only the first line of a DDL is kept", changing_events(_query_cut), OF_DDL
    ),
    KnownWrong(
        "schema-as-table",
        "CREATE DATABASE is taken for a table without a name",
        changing_events(_schema_as_table),
        OF_DDL,
    ),
    KnownWrong("first-of-batch", "one message is taken for one row", _first_of_batch, IN_BATCHES),
    KnownWrong("batch-reversed", "the order within a message is lost", _batch_reversed, IN_BATCHES),
    KnownWrong(
        "one-commit-ts-a-message",
        "the first commit ts is given to all rows",
        _one_commit_ts_a_message,
        (*MESSAGES, *FILES),
    ),
    KnownWrong(
        "one-table-a-message",
        "the first table is given to all rows",
        _one_table_a_message,
        (*MESSAGES, "datahub-blob"),  # a file has one table, and so has a Tuple topic
    ),
)
