"""The decoder of messages to rows, by format and by topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from cdcwire.arrow.batches import MessagePlace
from cdcwire.compressions import with_compressions
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
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
