"""A workload as the messages of a format, and what arrived as changes again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from zlib import crc32

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.model.events import Event, RowChange
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
    """Encode so many changes of a workload as the format's producer sends them."""
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
