"""Kafka key and value to Debezium's messages, and back.

A key or value is the id of a schema and a datum. The schema becomes Connect's, and the datum its
payload; ``cdcwire.debezium`` says what that means. Paths begin with ``key`` or ``value``; offsets
count from the start of that side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from cdcwire.apache_avro.sources import KnownSchemas, SchemaSource, plan_of_id
from cdcwire.connect import Envelope, Field, Parsed, Schema
from cdcwire.connect.bounds import ConversionError
from cdcwire.connect.cdl import Row
from cdcwire.connect.definitions import defined_struct
from cdcwire.connect.fields import Fields, Origin
from cdcwire.connect.schema import PRIMITIVES
from cdcwire.connect.types import UNTYPED
from cdcwire.core.context import NO_CONTEXT, Context, SchemaId
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import Reader, RecordingReader
from cdcwire.debezium.connectors import SourceOf, source_of
from cdcwire.debezium.message import Change, KeyPart, Message, TextKey, Tombstone
from cdcwire.debezium.names import sent_tables, with_names
from cdcwire.debezium.reading import MEMBERS, checked, key_names_of, message_in
from cdcwire.debezium.source import table_named
from cdcwire.debezium.ticdc_types import with_types
from cdcwire.debezium.unwrapped import RowSettings, is_unwrapped, tombstone_of, unwrapped_of
from cdcwire.formats.debezium_avro.connect_schema import DatumPlan, plan_of_text
from cdcwire.formats.debezium_avro.conversions import count_digits
from cdcwire.formats.debezium_avro.framing import ID_OFFSET, read_framing, write_framing
from cdcwire.formats.debezium_avro.settings import (
    DEFAULT_SETTINGS,
    Framing,
    Settings,
    read_settings,
)
from cdcwire.model.events import Path, Table
from cdcwire.model.slotted import slotted


@slotted(frozen=True, slots=True)
class Datum(Envelope):
    """A key or value: schema and payload as Connect has them, and how its bytes are written.

    ``framing``: of the id of its schema, ``schema_id``.
    """

    framing: Framing = "confluent"
    schema_id: SchemaId = 0
    plan: DatumPlan | None = field(default=None, repr=False, compare=False)


TRAILING = "avro: trailing bytes"
MESSAGES = "debezium-avro: messages"


@slotted(frozen=True, slots=True)
class ParsedDatum(Parsed):
    """A datum with its bytes, so that the place of a value can be found."""

    data: bytes = field(default=b"", repr=False)
    plan: DatumPlan | None = field(default=None, repr=False)

    @property
    def lacks_metadata(self) -> bool:
        """True if the converter wrote no members ``connect.*`` (``connect.meta.data=false``)."""
        return self.plan is not None and not self.plan.has_metadata

    def locate(self, path: Path) -> int:
        """Return where the payload's value at ``path`` begins; the nearest place that there is."""
        return self.start if self.plan is None else _place(self.data, self.start, self.plan, path)


def decode(
    value: bytes | None,
    *,
    key: bytes | None = None,
    context: Context = NO_CONTEXT,
    source: SchemaSource | None = None,
) -> Message:
    """Return what a message says; without a value it is a tombstone.

    ``source``: a registry in place of the context's schemas.
    Raises: TruncatedError, DecodeError, OptionError.
    """
    schemas = KnownSchemas(context.schemas) if source is None else source
    return read_message(KafkaMessage(key, value), schemas, read_settings(context), context.tables)


def _reader(data: bytes, part: str) -> Reader:
    return Reader(data)


def read_message(
    message: KafkaMessage,
    schemas: SchemaSource,
    settings: Settings = DEFAULT_SETTINGS,
    tables: tuple[Table, ...] = (),
    reader: Callable[[bytes, str], Reader] = _reader,
) -> Message:
    """Return what a message says; without a value it is a tombstone. See ``decode``.

    ``reader``: makes the reader of a key or value, given its bytes and its part.
    """
    sent = sent_tables(tables, settings.field_names)
    return with_names(
        _message(message, schemas, settings, sent, reader), settings.field_names, tables
    )


def _message(
    message: KafkaMessage,
    schemas: SchemaSource,
    settings: Settings,
    tables: tuple[Table, ...],
    reader: Callable[[bytes, str], Reader],
) -> Message:
    headers = dict(message.headers)
    key = None
    if message.key is not None:
        key = read_part(reader(message.key, "key"), "key", schemas, settings, headers)
    row_settings = RowSettings(settings, tables, message.headers)
    if message.value is None:
        return tombstone_of(key, row_settings)
    parsed = read_part(reader(message.value, "value"), "value", schemas, settings, headers)
    origin = Origin("value", parsed)
    names = key_names_of(key, None, settings.key_field_name) if message.has_key else None
    if settings.transforms == "unwrap" and is_unwrapped(parsed, names):
        row = unwrapped_of(parsed, names, None if key is None else key.envelope, row_settings)
        if parsed.lacks_metadata:
            struct = _defined(row.table, source_of(row.connector), settings, tables)
            row = replace(row, row=_with_types(row.row, struct))
        return checked(row, settings, origin)
    fields = Fields(parsed.envelope.schema, parsed.envelope.payload, MEMBERS, origin)
    found = message_in(fields, key, settings, tables, has_key=message.has_key)
    if isinstance(found, Change) and source_of(found.source.connector).has_undeclared:
        return checked(with_types(found, tables), settings, origin)
    if isinstance(found, Change) and parsed.lacks_metadata:
        declared = source_of(found.source.connector)
        struct = _defined(table_named(found.source), declared, settings, tables)
        before, after = (_with_types(row, struct) for row in (found.before, found.after))
        found = replace(found, before=before, after=after)
    return found


def _defined(
    table: Table, connector: SourceOf, settings: Settings, tables: tuple[Table, ...]
) -> Schema | None:
    """Return the struct of a table's definition; None if it has none."""
    known = next((t for t in tables if (t.schema, t.name) == (table.schema, table.name)), None)
    if known is None or known.columns is None:
        return None
    return defined_struct(known.columns, settings.style_without_schema(connector))


def _with_types(row: Row, defined: Schema | None) -> Row:
    """Return a row without metadata whose columns have the types of the definition."""
    if defined is None:
        return row
    fields = (
        Field(each.name, _typed(each, defined.field(each.name))) for each in row.schema.fields
    )
    return replace(row, schema=replace(row.schema, fields=tuple(fields)))


def _typed(field: Field, defined: Schema | None) -> Schema:
    """Return the schema of a column: the defined one, if its values have the same Avro type."""
    sent = field.schema
    if defined is None or sent.name is not None or sent.type not in PRIMITIVES:
        return sent
    is_int = sent.type == "int32" and defined.type in ("int8", "int16", "int32")
    if defined.name == UNTYPED or not (is_int or sent.type == defined.type):
        return sent
    return replace(defined, optional=sent.optional, default=sent.default)


def read_part(
    reader: Reader,
    part: str,
    schemas: SchemaSource,
    settings: Settings,
    headers: Mapping[str, bytes],
) -> ParsedDatum:
    """Return the datum of a key or value, which has all its bytes. Raises: DecodeError."""
    framing = settings.framing
    with step(part):
        schema_id = read_framing(reader, framing, headers, part)
        place = min(ID_OFFSET[framing], reader.end)
        plan = plan_of_id(schemas, schema_id, place, plan_of_text)
        start = reader.offset
        try:
            payload = plan.read(reader)
        except ConversionError as error:
            where = _place(reader.data, start, plan, error.path)
            raise DecodeError(error.problem, where, error.clause, error.path) from error
        reader.expect_end(TRAILING)
        if plan.has_long_scales:
            count_digits(plan.schema, payload, settings.max_decimal_digits, start)
    envelope = Datum(plan.schema, payload, False, framing, schema_id, plan)
    return ParsedDatum(envelope, None, start, reader.end, (), reader.data, plan)


def _place(data: bytes, start: int, plan: DatumPlan, path: Path) -> int:
    """Return where the value at ``path`` begins; the nearest place that there is."""
    reader = RecordingReader(data, start)
    plan.read_datum(reader)
    for size in range(len(path), 0, -1):
        for span in reader.spans:
            if span.path[:size] == path[:size]:
                return span.start
    return start


def encode(message: Message, *, context: Context = NO_CONTEXT) -> tuple[bytes | None, bytes | None]:
    """Return Kafka key and value of a message that was decoded. Raises: EncodeError.

    ``context`` is ignored: the values say all that the bytes depend on. A message with another
    envelope has no schema id; ``from_events`` registers its schemas.
    """
    with step("key"):
        key = key_bytes(message.key_envelope)
    if isinstance(message, Tombstone):
        return key, None
    with step("value"):
        return key, datum_bytes(message.envelope)


def key_bytes(key: KeyPart) -> bytes | None:
    """Return a Kafka key as it is written. Raises: EncodeError."""
    if isinstance(key, TextKey):
        raise EncodeError("a key of StringConverter is not Avro", MESSAGES)
    return None if key is None else datum_bytes(key)


def datum_bytes(envelope: Envelope) -> bytes:
    """Return the id of a schema and the datum after it. Raises: EncodeError."""
    if not isinstance(envelope, Datum) or envelope.plan is None:
        raise EncodeError("the id of the schema is not known", MESSAGES)
    out = bytearray()
    write_framing(out, envelope.framing, envelope.schema_id)
    envelope.plan.write(out, envelope.payload)
    return bytes(out)
