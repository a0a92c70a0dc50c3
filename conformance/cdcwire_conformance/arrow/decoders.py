"""Messages to rows, by the fastest decoder that a format has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context, parse_options
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.registry import get_format
from cdcwire.core.rows import Row
from cdcwire.formats.avro.fast import RowDecoder as AvroDecoder
from cdcwire.formats.avro.format import SCHEMA_SUFFIX, SCHEMAS
from cdcwire.formats.avro.settings import read_settings as read_avro_settings
from cdcwire.formats.avro.sources import KnownSchemas
from cdcwire.formats.canal_json.fast import RowDecoder as CanalDecoder
from cdcwire.formats.canal_json.settings import read_settings as read_canal_settings
from cdcwire.formats.cdl_json.fast import RowDecoder as CdlDecoder
from cdcwire.formats.cdl_json.settings import read_settings as read_cdl_settings
from cdcwire.formats.craft.fast import RowDecoder as CraftDecoder
from cdcwire.formats.craft.format import value_of
from cdcwire.formats.craft.profile import CRAFT
from cdcwire.formats.craft.settings import settings_of
from cdcwire.formats.csv.fast import RowDecoder as CsvDecoder
from cdcwire.formats.csv.settings import read_settings as read_csv_settings
from cdcwire.formats.debezium_json.fast import RowDecoder as DebeziumDecoder
from cdcwire.formats.debezium_json.settings import read_settings as read_debezium_settings
from cdcwire.formats.open_protocol.fast import RowDecoder as OpenDecoder
from cdcwire.formats.open_protocol.settings import read_settings
from cdcwire.model.events import Event, RowChange
from cdcwire_conformance.arrow.batches import Place
from cdcwire_conformance.arrow.told_rows import told_rows
from cdcwire_conformance.compressions import known_compressions
from cdcwire_conformance.families.datahub_rows import TupleTopics, blob_decoder

# Formats whose decoder gives rows, and passes over what is not selected.
FAST_FORMATS = frozenset({"craft", "open-protocol", "csv", "canal-json", "avro"})

TUPLE = "datahub-tuple"  # whose messages are decoded by where they stand

DecodeMessage: TypeAlias = Callable[[Message], Iterable[Row | Event]]
DecoderAt: TypeAlias = "Callable[[Place], DecodeMessage]"
DecodeFile: TypeAlias = Callable[[StoredFile], Iterable[Row | Event]]


def message_decoder(format_name: str, context: Context) -> DecodeMessage:
    """Return what decodes the messages of a feed. Keep one: it learns the layouts of tables.

    Compressions that the context does not bring are those that are at hand here: functions do not
    travel to workers. The decoder raises DecodeError.
    Raises: ValueError for a format or an option that is not known.
    """
    context = replace(context, compressions=context.compressions or known_compressions())
    if format_name == "craft":
        craft = CraftDecoder(context.selection, settings_of(context.options))
        return lambda message: craft.decode(value_of(message, CRAFT))
    if format_name == "open-protocol" and not context.blobs:
        feed = OpenDecoder(context.selection, read_settings(context.options, context.compressions))
        return lambda message: feed.decode(*_key_and_value(message))
    if format_name == "csv":
        decode_file = file_decoder(format_name, context)
        return lambda message: decode_file(_stored(message))
    if format_name == "canal-json":
        canal = _canal_decoder(context)
        return lambda message: (
            canal.decode_file(message)
            if isinstance(message, StoredFile)
            else canal.decode(message.value)
        )
    if format_name == "avro":
        return _avro_decoder(context)
    if format_name in ("cdl-json", "debezium-json"):
        return _connect_decoder(format_name, context)
    if format_name == "datahub-blob":
        return blob_decoder(context)
    if format_name == TUPLE:
        return TupleTopics(context).at(Place())
    found = get_format(format_name)
    parse_options(found.options, context.options)
    return lambda message: found.decode(message, context)


def place_decoder(format_name: str, context: Context) -> DecoderAt:
    """Return what gives the decoder of a place's messages: of a Tuple topic its own, else one.

    Raises: ValueError as ``message_decoder`` does.
    """
    if format_name == TUPLE:
        compressions = context.compressions or known_compressions()
        return TupleTopics(replace(context, compressions=compressions)).at
    decode = message_decoder(format_name, context)
    return lambda place: decode


def file_decoder(format_name: str, context: Context) -> DecodeFile:
    """Return what decodes the files of a storage prefix, giving the rows before a fault first.

    Keep one: it learns the layouts of tables. Two records that are the halves of an update come as
    the one change that they are. The decoder raises DecodeError.
    Raises: ValueError for a format that has no files, or an option that is not known.
    """
    if format_name == "csv":
        settings = read_csv_settings(context.options)
        decode = CsvDecoder(context.tables, context.selection, settings).decode_file
        if not settings.output_old_value:
            return decode
        return lambda file: joined_neighbours(decode(file))
    if format_name == "canal-json":
        return _canal_decoder(context).decode_file
    raise ValueError(f"{format_name} is not stored in files of a prefix")


def joined_neighbours(changes: Iterable[Row | Event]) -> Iterator[Row | Event]:
    """Join each "before" half with the "after" half right behind it; one alone stays as it is.

    An error is raised behind the changes before it.
    """
    waiting: RowChange | None = None
    try:
        for change in changes:
            if waiting is not None:
                first, waiting = waiting, None
                if _is_other_half(first, change):
                    assert isinstance(change, RowChange)
                    yield replace(change, before=first.before, half=None)
                    continue
                yield first
            if isinstance(change, RowChange) and change.half == "before":
                waiting = change
            else:
                yield change
    except DecodeError:
        if waiting is not None:
            yield waiting
        raise
    if waiting is not None:
        yield waiting


def _is_other_half(first: RowChange, change: Row | Event) -> bool:
    if not isinstance(change, RowChange) or change.half != "after":
        return False
    return change.position == first.position and change.table == first.table


def is_joined(change: Row | Event) -> bool:
    """Return whether a change of a CSV file was two records of it."""
    if not isinstance(change, RowChange) or change.half is not None:
        return False
    return change.before is not None and change.after is not None


def _canal_decoder(context: Context) -> CanalDecoder:
    compressions = context.compressions or known_compressions()
    settings = read_canal_settings(context.options, compressions)
    return CanalDecoder(context.selection, settings, context.tables, context.blobs)


def _avro_decoder(context: Context) -> DecodeMessage:
    settings = read_avro_settings(context.options)
    source = KnownSchemas(context.schemas)
    avro = AvroDecoder(source, settings, context.selection, context.tables)

    def decode(message: Message) -> list[Row | Event]:
        if isinstance(message, KafkaMessage):
            return told_rows(avro.decode(message.key, message.value))
        if is_schema_file(message):
            return []
        raise DecodeError("it is a stored file, no Kafka message", 0, "avro: messages")

    return decode


def is_schema_file(message: Message) -> bool:
    """Return whether a message is a file that stands for a registry's schema."""
    if not isinstance(message, StoredFile):
        return False
    folder, _, name = message.path.rpartition("/")
    return folder == SCHEMAS and name.endswith(SCHEMA_SUFFIX)


def _stored(message: Message) -> StoredFile:
    if not isinstance(message, StoredFile):
        raise DecodeError("it is a Kafka message, no stored file", 0, "csv: files")
    return message


def _connect_decoder(format_name: str, context: Context) -> DecodeMessage:
    """Return the decoder of a format in Connect's JSON, which gives events."""
    options, selection, tables = context.options, context.selection, context.tables
    feed = (
        CdlDecoder(read_cdl_settings(options), selection, tables)
        if format_name == "cdl-json"
        else DebeziumDecoder(read_debezium_settings(options), selection, tables)
    )

    def decode(message: Message) -> list[Event]:
        if not isinstance(message, KafkaMessage):
            raise TypeError("a Kafka message is expected")
        return feed.decode(message)

    return decode


def _key_and_value(message: Message) -> tuple[bytes | None, bytes | None]:
    if not isinstance(message, KafkaMessage):
        raise DecodeError("it is a stored file, no Kafka message", 0, "open-protocol: framing")
    return message.key, message.value
