"""Decoders of DataHub's topics: a Tuple topic has one table, and only its place says which.

The name of a topic is that of Kafka's record, or the name of the file: ``orders.jsonl`` or
``shop.orders.jsonl``, and ``orders.2.jsonl`` for its shard 2. Where one table is defined, or the
option ``table`` chooses one, names do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import TypeAlias

from cdcwire.core.errors import DecodeError, step
from cdcwire.core.format import Context, OptionError, Selection
from cdcwire.core.message import Message
from cdcwire.datahub.carrying import queued, read_records, value_of
from cdcwire.formats.datahub_blob.batching import is_record
from cdcwire.formats.datahub_blob.fast import RowDecoder as BlobDecoder
from cdcwire.formats.datahub_blob.settings import read_settings as read_blob_settings
from cdcwire.formats.datahub_tuple.events import to_event, to_events
from cdcwire.formats.datahub_tuple.fast import RowDecoder as TupleDecoder
from cdcwire.formats.datahub_tuple.settings import Settings
from cdcwire.formats.datahub_tuple.settings import read_settings as read_tuple_settings
from cdcwire.formats.datahub_tuple.topic import find_table, topic_of
from cdcwire.model.events import Event, Table
from cdcwire_conformance.arrow.batches import Place

CLAUSE_TOPICS = "datahub: topics"

DecodeEvents: TypeAlias = Callable[[Message], Sequence[Event]]


def blob_decoder(context: Context) -> DecodeEvents:
    """Return what decodes Blob records, alone or in bodies. Keep one: it learns the tables."""
    settings = read_blob_settings(context.options, context.compressions)
    decoder = BlobDecoder(context.selection, settings)

    def decode(message: Message) -> list[Event]:
        carrier = queued(message)
        if is_record(carrier, settings):
            return _present([decoder.decode_event(value_of(carrier))])
        found: list[Event | None] = []
        for path, record in read_records(carrier, None, settings.body):
            assert isinstance(record.data, bytes)  # there are no fields
            with step(*path):
                try:
                    found.append(decoder.decode_event(record.data))
                except DecodeError as error:
                    error.offset = record.offset  # where the record's data stands
                    raise
        return _present(found)

    return decode


def _present(found: Iterable[Event | None]) -> list[Event]:
    return [event for event in found if event is not None]


class TupleTopics:
    """The Tuple topics of a feed. Keep one: a topic's decoder is made once.

    Raises: OptionError for definitions that make no topic, or if there is none.
    """

    def __init__(self, context: Context) -> None:
        self.settings = read_tuple_settings(context.options, context.compressions)
        self.selection = context.selection
        self.tables = tables_of(context.tables, self.settings)
        self._decoders: dict[int, DecodeEvents] = {}
        self._of_names: dict[str, DecodeEvents] = {}

    def at(self, place: Place) -> DecodeEvents:
        """Return what decodes the messages of a place; it raises DecodeError."""
        name = topic_name(place)
        found = self._of_names.get(name)
        if found is None:
            table = table_of_topic(name, self.tables)
            found = _undefined(name) if table is None else self._decoder(table)
            self._of_names[name] = found
        return found

    def _decoder(self, table: Table) -> DecodeEvents:
        if table.name and not self.selection.wants(table.schema, table.name):
            return lambda message: ()
        return self._decoders.setdefault(
            id(table), tuple_decoder(table, self.settings, self.selection)
        )


def tuple_decoder(table: Table, settings: Settings, selection: Selection) -> DecodeEvents:
    """Return what decodes the bodies of a table's topic. Raises: OptionError."""
    topic = topic_of(table, settings)
    decoder = TupleDecoder(topic, settings)

    def decode(message: Message) -> Sequence[Event]:
        carrier = queued(message)
        try:
            rows = decoder.decode(carrier)
            return [
                to_event(row, topic, selection)
                for row in rows
                if selection.wants(table.schema, row.table or table.name or "")
            ]
        except DecodeError:
            pass  # left behind here: the plain decoder knows the byte
        return to_events(carrier, topic, settings, selection)

    return decode


def tables_of(tables: Sequence[Table], settings: Settings) -> tuple[Table, ...]:
    """Return the definitions of topics. Raises: OptionError if there is none."""
    if settings.table:
        return (find_table(tables, settings),)
    if not tables:
        raise OptionError("a Tuple topic needs the definition of its table (--ddl or --tables)")
    return tuple(tables)


def topic_name(place: Place) -> str:
    """Return the topic's name: that of the record, else the file's without its ending."""
    if place.topic is not None or place.file is None:
        return place.topic or ""
    return PurePath(place.file).stem


def table_of_topic(name: str, tables: Sequence[Table]) -> Table | None:
    """Return the table of a topic, None if its name is no table's, or that of several."""
    if len(tables) == 1:
        return tables[0]
    stem, dot, shard = name.rpartition(".")
    names = {name, stem} if dot and shard.isascii() and shard.isdigit() else {name}
    found = [
        table for table in tables if names & {table.name, f"{table.schema}.{table.name}"} - {None}
    ]
    return found[0] if len(found) == 1 else None


def _undefined(name: str) -> DecodeEvents:
    def refuse(message: Message) -> Sequence[Event]:
        raise DecodeError(f"topic {name!r:.80} has no definition, or several", 0, CLAUSE_TOPICS)

    return refuse
