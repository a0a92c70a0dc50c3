"""A change stream as DataHub keeps it: a topic a table (Tuple) or one for all (Blob), in shards.

A topic's shard is a file of messages, ``orders.2.jsonl``, and without shards ``orders.jsonl``; a
Blob topic's begins with ``messages``. A row goes to the shard of its key by the reference rule, so
that a key's changes keep their order, and an update that changes its key is in two shards.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cdcwire.core.format import Context
from cdcwire.core.registry import get_format
from cdcwire.datahub.fields import Field
from cdcwire.datahub.sharding import (
    blob_text,
    hash_key,
    key_of_image,
    shard_of,
    shard_ranges,
    value_text,
)
from cdcwire.datahub.streamx import to_blob, type_of
from cdcwire.formats.datahub_tuple.topic import field_type_of
from cdcwire.formats.datahub_tuple.values import to_field
from cdcwire.model.events import Column, Event, Image, RowChange, Table, Value
from cdcwire_conformance.sources.messages_io import message_to_json

TUPLE, BLOB = "datahub-tuple", "datahub-blob"
FORMATS = frozenset({TUPLE, BLOB})
_WAITING = 4096  # events of a shard that are encoded together


class TopicNameError(ValueError):
    """A table's name is none of a file. The text is one line for the user."""


@dataclass(slots=True)
class _Shard:
    """A shard that is written: its file, and what waits to be encoded."""

    path: Path
    context: Context
    waiting: list[Event] = field(default_factory=list)


def write_topics(
    folder: Path,
    format_name: str,
    events: Iterable[Event],
    context: Context,
    tables: Sequence[Table],
    shards: int | None = None,
) -> None:
    """Write the files of all topics, also those that stay empty. ``shards``: None: one, unnumbered.

    Raises: TopicNameError; OSError; EncodeError for what a format can't carry.
    """
    known = _shards(folder, format_name, context, tables, shards)
    for topic in known.values():
        for shard in topic:
            shard.path.write_bytes(b"")
    ranges = shard_ranges(shards or 1)
    for event in events:
        topic = known[_topic_of(event) if format_name == TUPLE else None]
        for part in _parts(event, format_name) if len(ranges) > 1 else (event,):
            number = shard_of(hash_key(_key_of(part, format_name)), ranges)
            shard = topic[number]
            shard.waiting.append(part)
            if len(shard.waiting) >= _WAITING:
                _write(shard, format_name)
    for topic in known.values():
        for shard in topic:
            _write(shard, format_name)


_TopicKey = tuple[str | None, str | None] | None


def _shards(
    folder: Path, format_name: str, context: Context, tables: Sequence[Table], shards: int | None
) -> dict[_TopicKey, list[_Shard]]:
    numbers = [""] if shards is None else [f".{number}" for number in range(shards)]
    if format_name != TUPLE:
        return {None: [_Shard(folder / f"messages{number}.jsonl", context) for number in numbers]}
    counts = Counter(table.name for table in tables)
    found: dict[_TopicKey, list[_Shard]] = {}
    for table in tables:
        name = table.name or ""
        name = name if counts[table.name] == 1 else f"{table.schema}.{name}"
        if Path(name).name != name:
            raise TopicNameError(f"{name!r:.80}: a topic's file can't be called so")
        own = replace(context, tables=(table,))
        found[table.schema, table.name] = [
            _Shard(folder / f"{name}{number}.jsonl", own) for number in numbers
        ]
    return found


def _topic_of(event: Event) -> tuple[str | None, str | None]:
    assert isinstance(event, RowChange)  # a workload without schema changes
    return event.table.schema, event.table.name


def _parts(event: Event, format_name: str) -> Iterator[Event]:
    """Yield an event, or the halves of an update whose key changes."""
    if (
        isinstance(event, RowChange)
        and event.op == "update"
        and event.before is not None
        and event.after is not None
    ):
        before = replace(event, after=None, half="before")
        after = replace(event, before=None, half="after")
        if _key_of(before, format_name) != _key_of(after, format_name):
            yield before
            yield after
            return
    yield event


def _key_of(event: Event, format_name: str) -> str:
    if not isinstance(event, RowChange):
        return ""
    image = event.before if event.after is None else event.after
    key = event.table.key
    texts = {} if image is None or not key else _texts(image, key, format_name)
    return key_of_image(texts, key, event.table.name or "")


def _texts(image: Image, key: Iterable[str], format_name: str) -> dict[str, str | None]:
    cells: dict[str, tuple[Column, Value]] = {
        column.name: (column, value) for column, value in image.pairs
    }
    return {name: _text(*cells[name], format_name) for name in key if name in cells}


def _text(column: Column, value: Value, format_name: str) -> str | None:
    kind = type_of(column.type)
    if format_name == BLOB and kind is not None:
        return blob_text(kind, to_blob(column, value))
    return value_text(to_field(Field(column.name, field_type_of(column)), column, value))


def _write(shard: _Shard, format_name: str) -> None:
    messages = get_format(format_name).encode(shard.waiting, shard.context)
    with shard.path.open("a", encoding="ascii", newline="\n") as file:
        for message in messages:
            file.write(json.dumps(message_to_json(message)) + "\n")
    shard.waiting.clear()
