"""Known-wrong decoders of avro: of its envelope, its schemas, and what TiCDC puts into both.

Most read a changed schema: the wrong text, or the right one in the wrong way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.format import Format
from cdcwire.model.events import Event, Image, RowChange
from cdcwire.model.instants import ms_of_tso
from cdcwire.model.kinds import (
    BitType,
    Column,
    DecimalType,
    EnumType,
    IntType,
    TextType,
    UnknownType,
    Value,
)
from cdcwire_conformance.families import avro as avro_family
from cdcwire_conformance.families import mysql
from cdcwire_conformance.families.avro import id_of, wrong_by_schemas
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    changing_columns,
    right,
    wrong_columns,
    wrong_decoder,
    wrong_rows,
    wrong_values,
)

_EXTENSION = ("_tidb_op", "_tidb_commit_ts", "_tidb_commit_physical_time")


_LETTERS = {"insert": "c", "update": "u"}


@wrong_values("a DECIMAL is given as its unscaled number")
def decimal_without_scale(column: Column, value: Value) -> Value:
    """Replace a DECIMAL with its unscaled number."""
    kind = column.type
    if not isinstance(kind, DecimalType) or not kind.scale or not isinstance(value, Decimal):
        return value
    return Decimal(int(value.scaleb(kind.scale)))


@wrong_values("the bytes of a DECIMAL are read as unsigned", "14")
def decimal_without_sign(column: Column, value: Value) -> Value:
    """Read the two's complement of a negative DECIMAL as unsigned."""
    kind = column.type
    if not isinstance(kind, DecimalType) or kind.precision is None or value >= 0:
        return value
    unscaled = int(value.scaleb(kind.scale or 0))
    size = 8 * ((~unscaled).bit_length() // 8 + 1)
    return Decimal(unscaled + (1 << size)).scaleb(-(kind.scale or 0))


@wrong_rows("all DECIMALs of a row have the scale of the first", "10")
def scale_of_first_decimal(row: RowChange) -> Event:
    """Apply the scale of the first DECIMAL to all DECIMALs of the row."""
    return replace(row, before=_with_one_scale(row.before), after=_with_one_scale(row.after))


def _with_one_scale(image: Image | None) -> Image | None:
    if image is None:
        return None
    kinds = (c.type for c in image.columns if isinstance(c.type, DecimalType) and c.type.precision)
    first = next(kinds, DecimalType())

    def with_first(column: Column, value: Value) -> Value:
        kind = column.type
        if not isinstance(kind, DecimalType) or not kind.precision or value is None:
            return value
        return value.scaleb((kind.scale or 0) - (first.scale or 0))

    values = map(with_first, image.columns, image.values)
    return Image(image.columns, tuple(values))


@wrong_values("the last byte of a BIT counts most")
def bit_backwards(column: Column, value: Value) -> Value:
    """Reverse the order of the bytes of a BIT."""
    if not isinstance(column.type, BitType):
        return value
    raw = value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")
    return int.from_bytes(raw, "little")


@wrong_values("only the last byte of a BIT is read", "bit/multi-byte")
def last_byte_of_bit(column: Column, value: Value) -> Value:
    """Keep only the last byte of a BIT."""
    return value & 0xFF if isinstance(column.type, BitType) else value


@wrong_values("INT UNSIGNED from 2^31 turns negative")
def unsigned_in_31_bits(column: Column, value: Value) -> Value:
    """Read an unsigned integer of 32 bits as signed."""
    is_int = column.type == IntType(32, unsigned=True)
    return value - (1 << 32) if is_int and value >> 31 else value


@wrong_columns("a column of a type that is not known is left out")
def unknown_types_dropped(column: Column, value: Value) -> tuple[Column, Value] | None:
    """Drop a column of an unknown type."""
    return None if isinstance(column.type, UnknownType) else (column, value)


@wrong_columns("a column with the name of an extension field is taken for one")
def names_of_extension(column: Column, value: Value) -> tuple[Column, Value] | None:
    """Drop a column that has the name of an extension field."""
    return None if column.name in _EXTENSION else (column, value)


@wrong_rows("the fields of the extension are given as columns")
def extension_as_columns(row: RowChange) -> Event:
    """Append the fields of the extension to the columns of the new row."""
    if row.op not in _LETTERS or row.after is None:
        return row
    position = row.position
    texts = (_LETTERS[row.op], str(position.commit_ts), str(position.commit_ms))
    columns = tuple(Column(name, TextType()) for name in _EXTENSION)
    after = Image((*row.after.columns, *columns), (*row.after.values, *texts))
    return replace(row, after=after)


@wrong_rows("the time is worked out of the commit timestamp")
def physical_time_from_commit_ts(row: RowChange) -> Event:
    """Compute the commit time from the commit timestamp."""
    position = row.position
    if position.commit_ts is None:
        return row
    return replace(row, position=replace(position, commit_ms=ms_of_tso(position.commit_ts)))


@wrong_rows("a row that does not say so is taken for an insert")
def upsert_as_insert(row: RowChange) -> Event:
    """Turn an upsert into an insert."""
    return replace(row, op="insert") if row.op == "upsert" else row


@wrong_rows("the whole namespace is taken for the schema")
def namespace_as_schema(row: RowChange) -> Event:
    """Put the start of the namespace, ``default.``, before the schema's name."""
    return replace(row, table=replace(row.table, schema=f"default.{row.table.schema}"))


VALUE_FAULTS: tuple[KnownWrong, ...] = (
    decimal_without_scale,
    decimal_without_sign,
    scale_of_first_decimal,
    bit_backwards,
    last_byte_of_bit,
    unsigned_in_31_bits,
    unknown_types_dropped,
    names_of_extension,
    extension_as_columns,
    physical_time_from_commit_ts,
    upsert_as_insert,
    namespace_as_schema,
)


@wrong_by_schemas("the first branch of every union is taken for NULL", "null/nullable-with-default")
def null_first(schemas: Mapping[str, str], message: Message) -> Mapping[str, str]:
    """Move NULL to the front of each union and drop the default of its field."""
    found = {}
    for name, text in schemas.items():
        document = _document(text)
        for field in document.get("fields", ()):
            if isinstance(field.get("type"), list) and "null" in field["type"][1:]:
                field["type"] = ["null", *(kind for kind in field["type"] if kind != "null")]
                field.pop("default", None)
        found[name] = json.dumps(document) if document else text
    return found


@wrong_by_schemas("key and value, having one full name, are read by one schema")
def one_schema_a_name(schemas: Mapping[str, str], message: Message) -> Mapping[str, str]:
    """Give each id the first schema text with the same full name."""
    first: dict[tuple[object, object], str] = {}
    for text in schemas.values():
        document = _document(text)
        first.setdefault((document.get("namespace"), document.get("name")), text)
    return {
        name: first[_document(text).get("namespace"), _document(text).get("name")]
        for name, text in schemas.items()
    }


def _document(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@wrong_decoder("NULL becomes the default of its field", "null/nullable-with-default")
def nulls_from_defaults(format_: Format, message: Message, context: Context) -> list[Event]:
    """Replace NULL with the default of its field in the value's schema."""
    assert isinstance(message, KafkaMessage)
    document = _document(context.schemas.get(id_of(message.value), ""))
    defaults = {
        field.get("name"): field["default"]
        for field in document.get("fields", ())
        if isinstance(field, dict) and field.get("default") is not None
    }

    def filled(column: Column, value: Value) -> tuple[Column, Value]:
        return column, defaults.get(column.name) if value is None else value

    return changing_columns(filled)(format_, message, context)


@wrong_decoder("an ENUM's option is counted in allowed, split at every comma")
def allowed_split(format_: Format, message: Message, context: Context) -> list[Event]:
    """Count an ENUM's option in ``allowed`` as if every comma split it, escaped or not."""
    schemas = {name: text.replace(r"\\,", ",") for name, text in context.schemas.items()}
    return definitions_ignored.decode(format_, message, replace(context, schemas=schemas))


@wrong_decoder("an ENUM's option is counted in allowed, whatever its table says")
def definitions_ignored(format_: Format, message: Message, context: Context) -> list[Event]:
    """Decode without table definitions and give an ENUM as the place of its label."""
    return changing_columns(_by_place)(format_, message, replace(context, tables=()))


def _by_place(column: Column, value: Value) -> tuple[Column, Value]:
    """Give an ENUM as the place of its label among the options, from 1; 0 for another label."""
    kind = column.type
    if not isinstance(kind, EnumType) or kind.labels is None or value is None:
        return column, value
    place = kind.labels.index(value) + 1 if value in kind.labels else 0
    return replace(column, type=EnumType(kind.labels, "index")), place


@wrong_decoder("a delete that has its row is read as an insert")
def delete_with_row_as_insert(format_: Format, message: Message, context: Context) -> list[Event]:
    """Give a delete whose message has a value as the insert of its row."""
    assert isinstance(message, KafkaMessage)
    return [
        replace(event, op="insert", before=None, after=event.before)
        if isinstance(event, RowChange) and event.op == "delete" and message.value
        else event
        for event in right(format_, message, context)
    ]


@wrong_columns("NULL of a union of several types is the text of the branch that it is in")
def foreign_null_as_text(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace NULL in a column of a foreign type with text."""
    is_null = value is None and isinstance(column.type, UnknownType)
    return column, "null" if is_null else value


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *mysql.MYSQL_FAULTS,
    mysql.ill_formed_text_replaced,
    mysql.vector_as_null,
    mysql.timestamp_in_utc,
    *VALUE_FAULTS,
    *avro_family.SCHEMA_FAULTS,
    null_first,
    one_schema_a_name,
    nulls_from_defaults,
    allowed_split,
    definitions_ignored,
    delete_with_row_as_insert,
    foreign_null_as_text,
)
