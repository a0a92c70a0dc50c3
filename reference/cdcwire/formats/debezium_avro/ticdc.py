"""Neutral events as the messages of TiCDC's ``debezium-avro`` protocol.

Statements and watermarks are made as JSON, as the producer does it, and then written as Avro. A row
goes from its columns to Avro at once: JSON does not have all of its values.

A registered schema has its members sorted by name, and written by Go's ``encoding/json``. The
second use of a record is its full name. Each field has its original name in ``connect.field``.

Source: debezium-avro, "ticdc"; pingcap/ticdc@b813e76.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from cdcwire.apache_avro.sources import SchemaSource
from cdcwire.connect import ConnectValue, Envelope, Field, Schema
from cdcwire.connect.envelope import parse
from cdcwire.connect.schema import INT_BITS, RULES, TIDB_TYPE
from cdcwire.connect.schema_json import read_schema
from cdcwire.connect.types import CONNECT_DECIMAL
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.message import KafkaMessage
from cdcwire.core.strict_json import read_json
from cdcwire.debezium.ticdc import (
    JsonParts,
    TicdcRow,
    check_written,
    cluster_of,
    commit_ts_of,
    safe_name,
    sent_ms_of,
    source_schema,
    source_values,
    statement_parts,
    watermark_parts,
)
from cdcwire.debezium.ticdc_columns import ColumnForm, declared_of, form_of, refused
from cdcwire.formats.debezium_avro.avro_schema import NAMES
from cdcwire.formats.debezium_avro.connect_schema import CONNECT_FIELD, plan_of_text
from cdcwire.formats.debezium_avro.framing import write_framing
from cdcwire.formats.debezium_avro.settings import Settings
from cdcwire.golang import SmallValue, compact_json
from cdcwire.model.events import Event, Image, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.declared import BINARY_NAMES

_PRIMITIVES = {
    **dict.fromkeys(INT_BITS, "int"),
    "int64": "long",
    **{name: name for name in ("boolean", "string", "bytes", "float", "double")},
}


@lru_cache(maxsize=256)
def ticdc_text(schema: Schema) -> str:
    """Return the text of the Avro schema. Raises: EncodeError for two fields of one name."""
    return compact_json(_of(schema, set()))


def _of(schema: Schema, written: set[str]) -> SmallValue:
    if schema.type == "struct":
        return _record(schema, written)
    if schema.type == "array" and schema.items is not None:
        return _sorted({"type": "array", "items": _of(schema.items, written), **_described(schema)})
    made: dict[str, SmallValue] = {"type": _PRIMITIVES[schema.type], **_described(schema)}
    if schema.name == CONNECT_DECIMAL:
        sizes = {name: int(text) for name, text in _parameters(schema)}
        made.update({"logicalType": "decimal", **sizes})
    elif schema.type in ("int8", "int16"):
        made["connect.type"] = schema.type
    return _sorted(made) if len(made) > 1 else made["type"]


def _record(schema: Schema, written: set[str]) -> SmallValue:
    full_name = ".".join(map(safe_name, (schema.name or "").split(".")))
    if full_name in written:
        return full_name
    written.add(full_name)
    namespace, _, name = full_name.rpartition(".")
    names: set[str] = set()
    fields: list[SmallValue] = []
    for each in schema.fields:
        field_name = safe_name(each.name)
        if field_name in names:
            problem = f"two columns have the name {field_name!r:.40}, and TiCDC sends no such row"
            raise EncodeError(problem, NAMES, (each.name,))
        names.add(field_name)
        with step(each.name):
            made = _of(each.schema, written)
        field: dict[str, SmallValue] = {CONNECT_FIELD: each.name, "name": field_name, "type": made}
        tidb_type = each.schema.parameter(TIDB_TYPE)
        if tidb_type is not None:
            field[TIDB_TYPE] = tidb_type
        if each.schema.optional:
            field.update({"type": ["null", made], "default": None})
        fields.append(_sorted(field))
    record: dict[str, SmallValue] = {"type": "record", "name": name, "namespace": namespace}
    return _sorted({**record, "fields": fields, **_described(schema)})


def _described(schema: Schema) -> dict[str, SmallValue]:
    found: dict[str, SmallValue] = {}
    if schema.name is not None:
        found["connect.name"] = schema.name
    if schema.version is not None:
        found["connect.version"] = schema.version
    parameters = _parameters(schema)
    if parameters:
        found["connect.parameters"] = dict(sorted(parameters))
    return found


def _parameters(schema: Schema) -> list[tuple[str, str]]:
    """Return the parameters of the type; the type in TiDB is one of the field."""
    return [each for each in schema.parameters or () if each[0] != TIDB_TYPE]


def _sorted(made: dict[str, SmallValue]) -> dict[str, SmallValue]:
    return dict(sorted(made.items()))


CLAUSE = "debezium-avro: ticdc"
_MAX_LONG = (1 << 63) - 1


def ticdc_messages(
    events: Iterable[Event], settings: Settings, tables: tuple[Table, ...], source: SchemaSource
) -> Iterator[KafkaMessage]:
    """Yield the message of each event; ``source`` takes the schemas.

    ``tables``: definitions of the tables of rows. Raises: EncodeError, OptionError.
    """
    check_written(settings)
    definitions = {(table.schema, table.name): table for table in tables}
    writer = _Writer(settings, source)
    for index, event in enumerate(events):
        with step("events", index):
            match event:
                case RowChange():
                    known = definitions.get((event.table.schema, event.table.name))
                    message = writer.row(event, TicdcRow(event, known, settings.time_zone))
                case Progress(what="watermark"):
                    writer.expect_sent()
                    message = writer.of_json(watermark_parts(event, settings, is_avro=True))
                case SchemaChange():
                    writer.expect_sent()
                    message = writer.of_json(statement_parts(event, settings, is_avro=True))
                case _:
                    what = type(event).__name__
                    raise EncodeError(f"a {what} of this kind has no form in TiCDC's", CLAUSE)
        yield message


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes keys and values, and registers their schemas."""

    settings: Settings
    source: SchemaSource

    def expect_sent(self) -> None:
        """Raise EncodeError where the settings send rows only."""
        if not (self.settings.tidb_extension and self.settings.has_watermark):
            problem = (
                "statements and watermarks are sent with enable-tidb-extension and "
                "avro-enable-watermark only"
            )
            raise EncodeError(problem, CLAUSE)

    def of_json(self, parts: JsonParts) -> KafkaMessage:
        key, value = (self.datum(parse(data, is_loose=True).envelope) for data in parts.texts())
        return KafkaMessage(key, value)

    def datum(self, envelope: Envelope) -> bytes:
        assert envelope.schema is not None
        text = ticdc_text(envelope.schema)
        out = bytearray()
        # Names are not part of a subject's rule here: each source of schemas ignores them.
        write_framing(out, self.settings.framing, self.source.register("", text))
        plan_of_text(text).write(out, envelope.payload)
        return bytes(out)

    def row(self, event: RowChange, row: TicdcRow) -> KafkaMessage:
        settings, table, position = self.settings, event.table, event.position
        cluster = cluster_of(event.extra.get("cluster_id"), settings)
        namespace = f"{safe_name(cluster)}.{safe_name(table.schema or '')}"
        name = f"{namespace}.{safe_name(table.name or '')}"
        fields = self._fields(row.listed)
        before, after = event.before, event.after
        if row.op == "u" and not settings.output_old_value:
            before = None
        payload = (
            self._image("before", row, before),
            self._image("after", row, after),
            source_values(table, commit_ts_of(position), cluster),
            row.op,
            sent_ms_of(position),
        )
        struct = Schema("struct", True, name, fields=fields)
        key_fields = self._fields([each for each in row.listed if each.name in row.key])
        key = Envelope(
            Schema("struct", name=f"{name}Key", fields=key_fields),
            self._values(row, row.image, only_key=True),
        )
        source = _schema_of(source_schema(settings, is_row=True, namespace=namespace))
        value = Envelope(_envelope_schema(name, struct, source), payload)
        return KafkaMessage(self.datum(key), self.datum(value))

    def _fields(self, columns: Iterable[Column]) -> tuple[Field, ...]:
        found = []
        for column in columns:
            with step(column.name):
                form = _avro_form(column, self.settings)
            parameters = form.parameters
            if self.settings.tidb_extension:
                parameters = (*(parameters or ()), (TIDB_TYPE, form.tidb_type))
            schema = Schema(form.type, True, form.name, form.version, parameters=parameters)
            found.append(Field(column.name, schema))
        return tuple(found)

    def _image(self, name: str, row: TicdcRow, image: Image | None) -> ConnectValue:
        if image is None:
            return None
        with step(name):
            return self._values(row, image)

    def _values(
        self, row: TicdcRow, image: Image, *, only_key: bool = False
    ) -> tuple[ConnectValue, ...]:
        values = []
        for column, value in row.pairs(image, only_key=only_key):
            with step(column.name):
                form = _avro_form(column, self.settings)
                values.append(None if value is None else form.convert(value))
        return tuple(values)


def _envelope_schema(name: str, row: Schema, source: Schema) -> Schema:
    fields = (
        Field("before", row),
        Field("after", row),
        Field("source", source),
        Field("op", Schema("string")),
        Field("ts_ms", Schema("int64")),
    )
    return Schema("struct", name=f"{name}Envelope", version=1, fields=fields)


@lru_cache(maxsize=64)
def _schema_of(text: str) -> Schema:
    """Return a schema that is JSON text."""
    return read_schema(read_json(text.encode(), RULES).value, 0, len(text))


def _avro_form(column: Column, settings: Settings) -> ColumnForm:
    """Return how a column is written. Raises: EncodeError."""
    form = form_of(column)
    base = form.tidb_type
    if base in BINARY_NAMES:
        return replace(form, type="bytes", convert=_bytes)
    if base == "bigint unsigned":
        if settings.bigint_unsigned_mode == "string":
            return replace(form, type="string", convert=_digits)
        return replace(form, convert=_long)
    if base != "decimal":
        return form
    declared = declared_of(column)
    precision, scale = declared.flen or 0, declared.decimal or 0
    if settings.decimal_mode == "string":
        return replace(form, type="string", convert=lambda value: _decimal_text(value, scale))
    parameters = (("precision", str(precision)), ("scale", str(scale)))
    return replace(
        form, type="bytes", name=CONNECT_DECIMAL, parameters=parameters, convert=_decimal
    )


def _bytes(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise refused(value, "bytes")
    return value


def _digits(value: Value) -> str:
    if not isinstance(value, int):
        raise refused(value, "an integer")
    return str(int(value))


def _long(value: Value) -> int:
    if not isinstance(value, int):
        raise refused(value, "an integer")
    if value > _MAX_LONG:
        problem = f"{value} is over {_MAX_LONG}: avro-bigint-unsigned-handling-mode=string sends it"
        raise EncodeError(problem, CLAUSE)
    return int(value)


def _decimal(value: Value) -> Decimal:
    if not isinstance(value, Decimal):
        raise refused(value, "a decimal")
    return value


def _decimal_text(value: Value, scale: int) -> str:
    text = f"{_decimal(value):f}"
    digits = len(text.partition(".")[2])
    if digits >= scale:
        return text
    return f"{text}{'' if digits else '.'}{'0' * (scale - digits)}"
