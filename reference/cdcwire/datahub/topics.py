"""The limits of a topic: one table per Tuple topic, one database per Blob topic, ordered shards.

Checks over events, which pass them on as they are.
Source: datahub, "topics", "order across shards".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cdcwire.datahub.sharding import key_text
from cdcwire.model.events import Event, Image, Marker, Progress, RowChange, Table

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
