"""A change stream in topics with shards, each shard a file of messages.

There is a topic per table, ``orders.2.jsonl``, where the format's topics hold one table each.
Otherwise there is one topic for all, ``messages.2.jsonl``. Without shards there is no number. A row
goes to the shard of its key by the reference rule, so that a key's changes keep their order. An
update that changes its key is in two shards.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from cdcwire.core.context import Context
from cdcwire.datahub.sharding import hash_key, key_of_image, shard_of, shard_ranges
from cdcwire.files.messages_io import message_to_json
from cdcwire.format import Format, MessageEncoder
from cdcwire.model.events import Event, Image, RowChange, Table
from cdcwire.registry import get_format

_WAITING = 4096  # events of a shard that are encoded together


class TopicNameError(ValueError):
    """A table's name can't be the name of a file. The text is one line for the user."""


@dataclass(slots=True)
class _Shard:
    """A shard that is written: its file, its encoder, and what waits to be encoded."""

    path: Path
    encode: MessageEncoder
    waiting: list[Event] = field(default_factory=list)


def write_topics(
    folder: Path,
    format_name: str,
    events: Iterable[Event],
    context: Context,
    tables: Sequence[Table],
    shards: int | None = None,
) -> None:
    """Write the files of all topics, also those that stay empty; or none, after an error.

    ``shards``: None: one, unnumbered.

    Raises: TopicNameError; OSError; EncodeError for what a format can't carry.
    """
    format_ = get_format(format_name)
    known = _shards(folder, format_, context, tables, shards)
    files = list(chain.from_iterable(known.values()))
    try:
        for shard in files:
            shard.path.write_bytes(b"")
        _write_events(events, format_, known, shards or 1)
        for shard in files:
            _write(shard)
    except BaseException:  # a part of a feed would be taken for a feed
        for shard in files:
            shard.path.unlink(missing_ok=True)
        raise


_TopicKey = tuple[str | None, str | None] | None


def _write_events(
    events: Iterable[Event], format_: Format, known: dict[_TopicKey, list[_Shard]], shards: int
) -> None:
    ranges = shard_ranges(shards)
    for event in events:
        topic = known[None if format_.topic_tables is None else _topic_of(event)]
        for part in _parts(event, format_) if len(ranges) > 1 else (event,):
            number = shard_of(hash_key(_key_of(part, format_)), ranges)
            shard = topic[number]
            shard.waiting.append(part)
            if len(shard.waiting) >= _WAITING:
                _write(shard)


def _shards(
    folder: Path, format_: Format, context: Context, tables: Sequence[Table], shards: int | None
) -> dict[_TopicKey, list[_Shard]]:
    numbers = [""] if shards is None else [f".{number}" for number in range(shards)]
    if format_.topic_tables is None:
        return {
            None: [
                _Shard(folder / f"messages{number}.jsonl", format_.encoder(context))
                for number in numbers
            ]
        }
    counts = Counter(table.name for table in tables)
    found: dict[_TopicKey, list[_Shard]] = {}
    for table in tables:
        name = table.name or ""
        name = name if counts[table.name] == 1 else f"{table.schema}.{name}"
        if Path(name).name != name:
            raise TopicNameError(f"{name!r:.80}: a topic's file can't be called so")
        own = replace(context, tables=(table,))
        found[table.schema, table.name] = [
            _Shard(folder / f"{name}{number}.jsonl", format_.encoder(own)) for number in numbers
        ]
    return found


def _topic_of(event: Event) -> tuple[str | None, str | None]:
    assert isinstance(event, RowChange)  # a workload without schema changes
    return event.table.schema, event.table.name


def _parts(event: Event, format_: Format) -> Iterator[Event]:
    """Yield an event, or the before and after records of an update that changes the key."""
    if (
        isinstance(event, RowChange)
        and event.op == "update"
        and event.before is not None
        and event.after is not None
    ):
        before = replace(event, after=None, half="before")
        after = replace(event, before=None, half="after")
        if _key_of(before, format_) != _key_of(after, format_):
            yield before
            yield after
            return
    yield event


def _key_of(event: Event, format_: Format) -> str:
    if not isinstance(event, RowChange):
        return ""
    image = event.before if event.after is None else event.after
    key = event.table.key
    texts = {} if image is None or not key else _texts(image, key, format_)
    return key_of_image(texts, key, event.table.name or "")


def _texts(image: Image, key: Iterable[str], format_: Format) -> dict[str, str | None]:
    wanted, text = set(key), format_.shard_text
    return {
        column.name: text(column, value)
        for column, value in image.pairs
        if column.name in wanted and text is not None
    }


def _write(shard: _Shard) -> None:
    messages = shard.encode(shard.waiting)
    with shard.path.open("a", encoding="ascii", newline="\n") as file:
        for message in messages:
            file.write(json.dumps(message_to_json(message)) + "\n")
    shard.waiting.clear()
