"""The decoder of messages to rows, by format and by topic, and the rows of messages it refuses.

A JSON message with one unreadable value still says which rows it changes. So the value is replaced
by one that can be read, and the message is decoded again. A comparison takes operation, position
and key of these rows, and no value: so it knows which rows of the other feed it can't judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from cdcwire.arrow.batches import MessagePlace
from cdcwire.compressions import with_compressions
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.rows import Row
from cdcwire.files.line_files import stem_of
from cdcwire.format import Format, MessageDecoder
from cdcwire.model.events import Event, Table

DecoderAt: TypeAlias = "Callable[[MessagePlace], MessageDecoder]"

CLAUSE_TOPICS = "datahub: topics"


def message_decoder(format_: Format, context: Context) -> MessageDecoder:
    """Return the decoder of a feed whose messages name their table, or that has one table.

    Keep it: it remembers the layouts of tables. It raises DecodeError.
    Raises: ValueError for an unknown option.
    """
    return place_decoder(format_, context)(MessagePlace())


def place_decoder(format_: Format, context: Context, *, joins_halves: bool = True) -> DecoderAt:
    """Return a function from a message's place to its decoder.

    A format whose topics hold one table each has one decoder per topic, any other has one decoder.
    Functions do not travel to workers: without compressions the context gets those of this process.
    Raises: ValueError for an unknown option.
    """
    context = with_compressions(context)
    if format_.topic_tables is not None:
        tables = format_.topic_tables(context)
        return _TopicDecoders(format_, context, tables, joins_halves=joins_halves).at
    decode = format_.decoder(context, joins_halves=joins_halves)
    return lambda place: decode


class _TopicDecoders:
    """One decoder per topic, each made at the topic's first message."""

    def __init__(
        self,
        format_: Format,
        context: Context,
        tables: tuple[Table, ...],
        *,
        joins_halves: bool,
    ) -> None:
        self.format = format_
        self.context = context
        self.tables = tables
        self.joins_halves = joins_halves
        self._decoders: dict[int, MessageDecoder] = {}
        self._of_names: dict[str, MessageDecoder] = {}

    def at(self, place: MessagePlace) -> MessageDecoder:
        """Return the decoder of a place's topic; for an undefined topic it raises DecodeError."""
        name = topic_name(place)
        found = self._of_names.get(name)
        if found is None:
            table = table_of_topic(name, self.tables)
            found = _undefined(name) if table is None else self._decoder(table)
            self._of_names[name] = found
        return found

    def _decoder(self, table: Table) -> MessageDecoder:
        found = self._decoders.get(id(table))
        if found is None:
            context = replace(self.context, tables=(table,))
            found = self.format.decoder(context, joins_halves=self.joins_halves)
            self._decoders[id(table)] = found
        return found


def topic_name(place: MessagePlace) -> str:
    """Return the topic of Kafka's record, else the file's name without its suffixes."""
    if place.topic is not None or place.file is None:
        return place.topic or ""
    return stem_of(place.file)


def table_of_topic(name: str, tables: Sequence[Table]) -> Table | None:
    """Return the table of the rows in a topic; None if the name matches no table, or several.

    The name is ``orders`` or ``shop.orders``, and ``orders.2`` for shard 2. It does not count if
    one table is defined.
    """
    if len(tables) == 1:
        return tables[0]
    stem, dot, shard = name.rpartition(".")
    names = {name, stem} if dot and shard.isascii() and shard.isdigit() else {name}
    found = [
        table for table in tables if names & {table.name, f"{table.schema}.{table.name}"} - {None}
    ]
    return found[0] if len(found) == 1 else None


def _undefined(name: str) -> MessageDecoder:
    def refuse(message: Message) -> Sequence[Event]:
        raise DecodeError(f"topic {name!r:.80} has no definition, or several", 0, CLAUSE_TOPICS)

    return refuse


MOST_VALUES = 4  # of a message that are replaced
_STAND_INS: tuple[Any, ...] = (None, 0, "", "0", False, [], {})


def partial_rows(
    message: Message, error: DecodeError, columns: Collection[str], decode: MessageDecoder
) -> Sequence[Row | Event]:
    """Return the changes of a message that ``decode`` refuses with ``error``.

    ``columns``: those whose values may be replaced.
    Returns: nothing if the error is not in such a value, or no other value can be read either.
    """
    if not isinstance(message, KafkaMessage):
        return ()
    try:
        document = json.loads(message.value or b"")
    except (ValueError, RecursionError):
        return ()
    for _ in range(MOST_VALUES):
        place = _place_of(document, error, columns)
        if place is None:
            return ()
        container, step = place
        refused = error
        for stand_in in _STAND_INS:
            container[step] = stand_in
            try:
                value = json.dumps(document).encode()
                return list(decode(replace(message, value=value)))
            except DecodeError as other:
                if other.path != error.path:
                    refused = other
                    break
            except RecursionError:
                return ()
        if refused is error:
            return ()
        error = refused
    return ()


def _place_of(
    document: Any, error: DecodeError, columns: Collection[str]
) -> tuple[Any, Any] | None:
    """Return the container of the innermost column with the error, and its name there."""
    path = error.path[1:] if error.path[:1] == ("value",) else error.path
    found = None
    for step in path:
        if isinstance(document, dict):
            is_there = step in document
        else:
            is_there = isinstance(document, list) and isinstance(step, int) and step < len(document)
        if not is_there:
            break
        if step in columns:
            found = document, step
        document = document[step]
    return found
