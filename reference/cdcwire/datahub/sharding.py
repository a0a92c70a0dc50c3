"""Choosing the shard of a record by its key, and merging shards in a reader.

The service does the choosing, and neither SDK holds its rule; this is the reference rule that the
page states. What is worth testing of a feed is the property: one key, one shard, order kept.
Checks of a topic pass its events on as they are: one table per Tuple topic, one database per Blob
topic, ordered shards.
Source: datahub, "sharding", "ranges of shards", "topics", "order across shards".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5
from heapq import merge

from cdcwire.core.errors import EncodeError
from cdcwire.core.json_strings import write_base64
from cdcwire.datahub.fields import FieldValue, decimal_text
from cdcwire.datahub.streamx import BlobValue, StreamXType
from cdcwire.model.events import Event, Image, Marker, Position, Progress, RowChange, Table

CLAUSE = "datahub: sharding"
HASH_END = 1 << 128
SEPARATOR = "\x01"
_US_OF_MS = 1000


@dataclass(frozen=True, slots=True)
class ShardRange:
    """The hash keys of a shard, from ``begin`` up to but not including ``end``."""

    begin: int
    end: int

    def __contains__(self, hash_number: object) -> bool:
        return isinstance(hash_number, int) and self.begin <= hash_number < self.end


def key_text(texts: Iterable[str | None]) -> str:
    """Return the key of a row: its key values in their wire texts, NULL empty, joined by 0x01."""
    return SEPARATOR.join("" if text is None else text for text in texts)


def value_text(value: FieldValue) -> str | None:
    """Return the wire text of a Tuple value, None for NULL."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case int() | str():
            return str(value)
        case _:
            return decimal_text(value)


def blob_text(type_: StreamXType, value: BlobValue) -> str | None:
    """Return the wire text that a Blob value would have in a Tuple topic, None for NULL."""
    if isinstance(value, bytes):
        return write_base64(value)
    if type_ == "DATE" and isinstance(value, int):
        return str(value * _US_OF_MS)
    return value_text(value)


def key_of_image(
    values: Mapping[str, str | None], primary_key: Sequence[str] | None, table: str
) -> str:
    """Return the key of an image. ``values``: wire texts by column; without a key it is the table.

    Raises: EncodeError where a key column is not in the image.
    """
    if not primary_key:
        return table
    for name in primary_key:
        if name not in values:
            problem = f"key column {name!r:.60} is not in the image"
            raise EncodeError(problem, CLAUSE, ("primaryKey",))
    return key_text(values[name] for name in primary_key)


def hash_key(key: str) -> str:
    """Return the 32 upper-case hex digits of a key's hash. Raises: EncodeError for no Unicode."""
    try:
        raw = key.encode("utf-8")
    except UnicodeEncodeError as error:
        raise EncodeError("the key has a lone surrogate", CLAUSE) from error
    return md5(raw, usedforsecurity=False).hexdigest().upper()


def shard_ranges(count: int) -> tuple[ShardRange, ...]:
    """Return ``count`` ranges that share all hash keys out. Raises: ValueError below 1."""
    if count < 1:
        raise ValueError(f"a topic has one shard at least, not {count}")
    begins = [index * HASH_END // count for index in range(count)] + [HASH_END]
    return tuple(map(ShardRange, begins, begins[1:]))


def shard_of(hash_text: str, ranges: Sequence[ShardRange]) -> int:
    """Return the index of the range that holds a hash key; ``ranges`` are in their order.

    Raises: ValueError where it is not a hash key, or no range holds it.
    """
    if len(hash_text) != 32 or not set(hash_text) <= set("0123456789abcdefABCDEF"):
        raise ValueError(f"{hash_text!r:.60} is not 32 hex digits")
    number = int(hash_text, 16)
    index = bisect_right([each.begin for each in ranges], number) - 1
    if index < 0 or number not in ranges[index]:
        raise ValueError(f"no shard holds {hash_text}")
    return index


def merge_shards(shards: Iterable[Iterable[Event]]) -> Iterator[Event]:
    """Yield the events of shards in the order of their sequence ids, in bounded memory.

    The two records of an update that changes its key are in two shards: here the before record
    comes first. An event without a sequence id stays after the event that it followed. Each shard
    must be in order itself, as its writer keeps it.
    """
    feeds = [_ordered(shard) for shard in shards]
    for _, event in merge(*feeds, key=lambda pair: pair[0]):
        yield event


def _ordered(shard: Iterable[Event]) -> Iterator[tuple[tuple[int, int], Event]]:
    last = (-1, 0)
    for event in shard:
        position: Position = event.position
        if position.sequence_id is not None:
            is_after = isinstance(event, RowChange) and event.half == "after"
            last = (position.sequence_id, int(is_after))
        yield last, event


_TableName = tuple[str | None, str | None, str | None]


class TopicError(ValueError):
    """Events break a rule about topics or shards; ``event`` is the one that does."""

    def __init__(self, problem: str, event: Event) -> None:
        super().__init__(problem, event)
        self.problem = problem
        self.event = event

    def __str__(self) -> str:
        return self.problem


def check_tuple_topic(events: Iterable[Event]) -> Iterator[Event]:
    """Pass on rows of one table. Raises: TopicError for a second table, and for other events."""
    first: _TableName | None = None
    for event in events:
        if not isinstance(event, RowChange):
            raise TopicError(f"a Tuple topic has rows only, no {event.what!r}", event)
        name = _name(event.table)
        if first is None:
            first = name
        if name != first:
            problem = f"a Tuple topic has one table: {_shown(first)}, then {_shown(name)}"
            raise TopicError(problem, event)
        yield event


def check_blob_topic(events: Iterable[Event]) -> Iterator[Event]:
    """Pass on events of one database. Raises: TopicError for a second one."""
    first: str | None = None
    for event in events:
        table = None if isinstance(event, (Marker, Progress)) else event.table
        if table is not None:
            database = table.schema if table.database is None else table.database
            if first is None:
                first = database
            if database not in (None, first):
                problem = f"a Blob topic has one database: {first!r}, then {database!r}"
                raise TopicError(problem, event)
        yield event


def check_shards(shards: Sequence[Iterable[Event]]) -> None:
    """Raise TopicError unless each key has one shard, and its sequence ids never go back.

    ``shards`` are those of one topic of rows with a key; rows of keyless tables are ignored, as
    nothing is promised about them.
    """
    homes: dict[tuple[_TableName, str], int] = {}
    latest: dict[tuple[_TableName, str], int] = {}
    for index, shard in enumerate(shards):
        for event in shard:
            if not isinstance(event, RowChange) or not event.table.key:
                continue
            image = event.before if event.after is None else event.after
            assert image is not None  # a row has an image
            place = (_name(event.table), _key(image, event.table.key))
            if homes.setdefault(place, index) != index:
                problem = f"a key of {_shown(place[0])} is in shards {homes[place]} and {index}"
                raise TopicError(problem, event)
            sequence_id = event.position.sequence_id
            if sequence_id is not None:
                if sequence_id < latest.get(place, sequence_id):
                    problem = f"shard {index} goes back to sequence id {sequence_id}"
                    raise TopicError(problem, event)
                latest[place] = sequence_id


def _key(image: Image, names: Sequence[str]) -> str:
    values = dict(zip(image.names, image.values, strict=True))
    return key_text(None if values.get(name) is None else repr(values[name]) for name in names)


def _name(table: Table) -> _TableName:
    return table.database, table.schema, table.name


def _shown(name: _TableName) -> str:
    return ".".join(part for part in name if part)
