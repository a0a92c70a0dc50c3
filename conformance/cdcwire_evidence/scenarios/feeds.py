"""A workload as the messages of a format, and what arrived as changes again.

Avro feeds have schemas that a registry has numbered, and a part of a change that Avro carries.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias
from zlib import crc32

from cdcwire.apache_avro.sources import SchemaSource
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.ddl import read_chain
from cdcwire.formats.avro import FORMAT, MessageWriter, Settings
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.instants import tso_of_ms
from cdcwire.model.text import event_to_json
from cdcwire.registry import get_format
from cdcwire_evidence.scenarios.topics import Received
from cdcwire_generators.workloads import workload, workload_tables

Dispatch: TypeAlias = Literal["key", "table", "commit-ts"]
_SEED = 1
_POSITION = ("commit_ts", "sequence_id", "lsn", "tx_id", "commit_ms")  # each format takes its own


@dataclass(frozen=True, slots=True)
class QueueFeed:
    """The messages of a queue, and what decoding them needs beside their bytes."""

    format: str
    messages: tuple[KafkaMessage, ...]
    context: Context


def make_feed(
    format_name: str,
    rows: int,
    *,
    workload_name: str = "orders-10",
    options: Mapping[str, OptionValue] | None = None,
) -> QueueFeed:
    """Encode a number of changes of a workload as the format's producer sends them."""
    (feed,) = make_partitions(format_name, rows, 1, workload_name=workload_name, options=options)
    return feed


def make_partitions(
    format_name: str,
    rows: int,
    partitions: int,
    dispatch: Dispatch = "key",
    *,
    workload_name: str = "orders-10",
    options: Mapping[str, OptionValue] | None = None,
) -> list[QueueFeed]:
    """Encode a workload for several partitions: each change goes to one, and each has its batches.

    ``dispatch``: all changes of a row, of a table or of a commit ts to one partition.
    """
    context = Context(options or {}, tables=workload_tables(workload_name))
    changes = workload(workload_name, rows, _SEED, position_fields=_POSITION)
    return partitions_of(format_name, changes, context, partitions, dispatch)


def partitions_of(
    format_name: str,
    changes: Iterable[Event],
    context: Context,
    partitions: int,
    dispatch: Dispatch = "key",
) -> list[QueueFeed]:
    """Encode row changes for several partitions, as ``make_partitions`` does with a workload's."""
    format_ = get_format(format_name)
    shared: list[list[Event]] = [[] for _ in range(partitions)]
    for event in changes:
        shared[crc32(repr(_partition_key(event, dispatch)).encode()) % partitions].append(event)
    made = [list(format_.from_events(each, context=context)) for each in shared]
    context = format_.prepared([message for partition in made for message in partition], context)
    return [
        QueueFeed(
            format_name,
            tuple(each for each in partition if isinstance(each, KafkaMessage)),
            context,
        )
        for partition in made
    ]


def _partition_key(event: Event, dispatch: Dispatch) -> Hashable:
    assert isinstance(event, RowChange)
    if dispatch == "commit-ts":
        return event.position.commit_ts
    return row_of(event) if dispatch == "key" else event.table.name


@dataclass(frozen=True, slots=True)
class Poisoned:
    """A message that can't be read, where the broker keeps it."""

    partition: int
    offset: int
    error: DecodeError


def changes_by_key(
    feed: QueueFeed, messages: Sequence[Received]
) -> tuple[dict[Hashable, list[str]], list[Poisoned]]:
    """Decode what arrived: the changes of each row in their order, and what can't be read."""
    to_events = get_format(feed.format).to_events
    partitions: dict[Hashable, list[str]] = {}
    bad: list[Poisoned] = []
    for each in messages:
        try:
            events = list(to_events(each.message, context=feed.context))
        except DecodeError as error:
            bad.append(Poisoned(each.partition, each.offset, error))
            continue
        for event in events:
            if isinstance(event, RowChange):
                partitions.setdefault(row_of(event), []).append(repr(event_to_json(event)))
    return partitions, bad


def events_of(feed: QueueFeed, messages: Sequence[KafkaMessage]) -> list[Event]:
    """Decode messages that are all good."""
    to_events = get_format(feed.format).to_events
    return [event for message in messages for event in to_events(message, context=feed.context)]


def row_of(change: RowChange) -> Hashable:
    """Return what tells a row from all others: its table and the values of its key."""
    image = change.after or change.before
    assert image is not None
    names = change.table.key or [column.name for column in image.columns]
    values = {column.name: value for column, value in image.pairs}
    return (change.table.schema, change.table.name, *(str(values.get(name)) for name in names))


OPTIONS: Mapping[str, OptionValue] = {"enable-tidb-extension": True}
WORKLOAD = "orders-10"


def make_changes(rows: int, partitions: int = 1) -> list[list[RowChange]]:
    """Return ``rows`` changes of a table of orders, all changes of a row in one partition."""
    found: list[list[RowChange]] = [[] for _ in range(partitions)]
    for event in workload(WORKLOAD, rows, 1, position_fields=("commit_ts",)):
        assert isinstance(event, RowChange)
        found[crc32(repr(row_of(event)).encode()) % partitions].append(event)
    return found


def make_altered_changes(ddl: str, rows: int) -> list[RowChange]:
    """Return so many inserts into a table after each statement of a chain of DDL.

    The values of a column follow from the number of the row.
    """
    found: list[RowChange] = []
    for statement in read_chain(ddl, "shop"):
        table = statement.changes[0].after
        assert table is not None
        for number in range(len(found), len(found) + rows):
            position = Position(commit_ts=tso_of_ms(number + 1))
            found.append(RowChange(table, "insert", None, _image(table, number), position))
    return found


def _image(table: Table, number: int) -> Image:
    columns = table.columns or ()
    made: Mapping[str, object] = {
        "note": f"note {number}",
        "total": Decimal(number).scaleb(-2),
    }
    return Image(columns, tuple(made.get(column.name, number) for column in columns))


def messages_of(
    changes: Iterable[Event], topic: str, source: SchemaSource
) -> Iterator[KafkaMessage]:
    """Yield the messages of changes; each schema is registered when its first row comes.

    Raises: what the source raises.
    """
    settings = Settings(enable_tidb_extension=True, topic=topic)
    writer = MessageWriter(settings, workload_tables(WORKLOAD), source)
    for change in changes:
        yield from writer.messages(change)


def context_of(schemas: Mapping[str, str]) -> Context:
    """Return what reading such a feed needs."""
    return Context(options=OPTIONS, schemas=schemas)


def changes_of(message: KafkaMessage, context: Context) -> list[Hashable]:
    """Return the changes of a message. Raises: DecodeError; RegistryError."""
    found = FORMAT.to_events(message, context=context)
    return [carried_by_avro(event) for event in found if isinstance(event, RowChange)]


def carried_by_avro(change: RowChange) -> Hashable:
    """Return the part of a change that Avro carries: no old values; for a delete, only its key."""
    is_delete = change.op == "delete"
    image = change.before if is_delete else change.after
    assert image is not None
    values = {column.name: value for column, value in image.pairs}
    names: Sequence[str] = (change.table.key or ()) if is_delete else sorted(values)
    position = None if is_delete else change.position.commit_ts
    return change.table.name, change.op, position, *((name, values[name]) for name in names)
