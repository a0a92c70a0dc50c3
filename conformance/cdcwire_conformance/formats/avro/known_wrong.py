"""Known-wrong decoders of avro: of its envelope, its schemas, and what TiCDC puts into both.

Most read a changed schema: the wrong text, or the right one in the wrong way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange
from cdcwire.model.kinds import Column, EnumType, UnknownType, Value
from cdcwire_conformance.families import avro_known_wrong, mysql_known_wrong
from cdcwire_conformance.families.avro_known_wrong import id_of, wrong_by_schemas
from cdcwire_conformance.formats.avro.known_wrong_values import VALUE_FAULTS
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    changing_columns,
    right,
    wrong_columns,
    wrong_decoder,
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
    *mysql_known_wrong.MYSQL_FAULTS,
    mysql_known_wrong.ill_formed_text_replaced,
    mysql_known_wrong.vector_as_null,
    mysql_known_wrong.timestamp_in_utc,
    *VALUE_FAULTS,
    *avro_known_wrong.SCHEMA_FAULTS,
    null_first,
    one_schema_a_name,
    nulls_from_defaults,
    allowed_split,
    definitions_ignored,
    delete_with_row_as_insert,
    foreign_null_as_text,
)
