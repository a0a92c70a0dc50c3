"""Known-wrong decoders of Avro: of its envelope, its schemas, and what TiCDC puts into both.

A schema that is changed on the way to the reference is how most of them come about: a reader that
takes the wrong text, or the right one in the wrong way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from decimal import Decimal
from typing import Any
from unittest.mock import patch

from cdcwire.core.format import Context, Format
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.formats.avro.plans import RecordPlan, plan_of
from cdcwire.formats.avro.schema import parse_schema
from cdcwire.model.events import Column, Event, Image, RowChange, Value
from cdcwire.model.kinds import BitType, DecimalType, EnumType, IntType, TextType, UnknownType
from cdcwire.model.tso import ms_of_tso
from cdcwire_conformance.known_wrong.decoder import (
    Decode,
    KnownWrong,
    changing_columns,
    changing_rows,
    changing_values,
    right,
)
from cdcwire_conformance.known_wrong.structure import mended

_AVRO = ("avro",)
_EXTENSION = ("_tidb_op", "_tidb_commit_ts", "_tidb_commit_physical_time")
_LETTERS = {"insert": "c", "update": "u"}


def _by_other_schemas(
    change: Callable[[Mapping[str, str], Message], Mapping[str, str]],
) -> Decode:
    """Return a decoder that takes other texts for the ids of schemas."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        schemas = change(context.schemas, message)
        return right(format_, message, replace(context, schemas=schemas))

    return decode


def _null_first(schemas: Mapping[str, str], message: Message) -> Mapping[str, str]:
    found = {}
    for name, text in schemas.items():
        document = _document(text)
        for field in document.get("fields", ()):
            if isinstance(field.get("type"), list) and "null" in field["type"][1:]:
                field["type"] = ["null", *(kind for kind in field["type"] if kind != "null")]
                field.pop("default", None)
        found[name] = json.dumps(document) if document else text
    return found


def _one_schema_a_name(schemas: Mapping[str, str], message: Message) -> Mapping[str, str]:
    first: dict[tuple[object, object], str] = {}
    for text in schemas.values():
        document = _document(text)
        first.setdefault((document.get("namespace"), document.get("name")), text)
    return {
        name: first[_document(text).get("namespace"), _document(text).get("name")]
        for name, text in schemas.items()
    }


def _newest_schema(schemas: Mapping[str, str], message: Message) -> Mapping[str, str]:
    """Give the newest text for that of a value, but not the key's."""
    assert isinstance(message, KafkaMessage)
    key = _id_of(message.key)
    others = [name for name in schemas if name != key and name.isdigit()]
    if not others or _id_of(message.value) not in others:
        return schemas
    newest = schemas[max(others, key=int)]
    return {name: newest if name in others else text for name, text in schemas.items()}


def _document(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _id_of(raw: bytes | None) -> str:
    return str(int.from_bytes((raw or b"")[1:5], "big"))


def _nulls_from_defaults(format_: Format, message: Message, context: Context) -> list[Event]:
    assert isinstance(message, KafkaMessage)
    document = _document(context.schemas.get(_id_of(message.value), ""))
    defaults = {
        field.get("name"): field["default"]
        for field in document.get("fields", ())
        if isinstance(field, dict) and field.get("default") is not None
    }

    def filled(column: Column, value: Value) -> tuple[Column, Value]:
        return column, defaults.get(column.name) if value is None else value

    return changing_columns(filled)(format_, message, context)


def _allowed_split(format_: Format, message: Message, context: Context) -> list[Event]:
    with ExitStack() as stack:
        # Plans are kept by their texts, and these are others.
        stack.enter_context(patch("cdcwire.formats.avro.wire.plan_of_text", _plan_anew))
        stack.enter_context(patch("cdcwire.formats.avro.plans.split_allowed", _split_everywhere))
        return _definitions_ignored(format_, message, context)


def _definitions_ignored(format_: Format, message: Message, context: Context) -> list[Event]:
    return changing_columns(_by_place)(format_, message, replace(context, tables=()))


def _by_place(column: Column, value: Value) -> tuple[Column, Value]:
    """Give an ENUM as the place of its label among the options, from 1; 0 where it is none."""
    kind = column.type
    if not isinstance(kind, EnumType) or kind.labels is None or value is None:
        return column, value
    place = kind.labels.index(value) + 1 if value in kind.labels else 0
    return replace(column, type=EnumType(kind.labels, "index")), place


def _plan_anew(text: str) -> RecordPlan:
    return plan_of(parse_schema(text))


def _split_everywhere(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _with_good_header(message: Message) -> Iterable[Message]:
    """Give a message whose headers have the bytes that they should have, of either registry."""
    assert isinstance(message, KafkaMessage)
    for head in (b"\0", b"\3\0"):
        parts = [raw and head + raw[len(head) :] for raw in (message.key, message.value)]
        yield replace(message, key=parts[0], value=parts[1])
        yield replace(message, key=parts[0])
        yield replace(message, value=parts[1])


def _without_value(message: Message) -> Iterable[Message]:
    if isinstance(message, KafkaMessage) and message.value == b"":
        yield replace(message, value=None)


def _without_end_of_key(message: Message) -> Iterable[Message]:
    assert isinstance(message, KafkaMessage)
    key = message.key or b""
    for surplus in range(1, min(len(key), 16)):
        yield replace(message, key=key[:-surplus])


def _unscaled(column: Column, value: Value) -> Value:
    kind = column.type
    if not isinstance(kind, DecimalType) or not kind.scale or not isinstance(value, Decimal):
        return value
    return Decimal(int(value.scaleb(kind.scale)))


def _decimal_without_sign(column: Column, value: Value) -> Value:
    kind = column.type
    if not isinstance(kind, DecimalType) or kind.precision is None or value >= 0:
        return value
    unscaled = int(value.scaleb(kind.scale or 0))
    size = 8 * ((~unscaled).bit_length() // 8 + 1)
    return Decimal(unscaled + (1 << size)).scaleb(-(kind.scale or 0))


def _scale_of_first_decimal(row: RowChange) -> Event:
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


def _bit_backwards(column: Column, value: Value) -> Value:
    if not isinstance(column.type, BitType):
        return value
    raw = value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")
    return int.from_bytes(raw, "little")


def _last_byte_of_bit(column: Column, value: Value) -> Value:
    return value & 0xFF if isinstance(column.type, BitType) else value


def _unsigned_in_31_bits(column: Column, value: Value) -> Value:
    is_int = column.type == IntType(32, unsigned=True)
    return value - (1 << 32) if is_int and value >> 31 else value


def _unknown_dropped(column: Column, value: Value) -> tuple[Column, Value] | None:
    return None if isinstance(column.type, UnknownType) else (column, value)


def _like_extension_dropped(column: Column, value: Value) -> tuple[Column, Value] | None:
    return None if column.name in _EXTENSION else (column, value)


def _extension_as_columns(row: RowChange) -> Event:
    if row.op not in _LETTERS or row.after is None:
        return row
    position = row.position
    texts = (_LETTERS[row.op], str(position.commit_ts), str(position.commit_ms))
    columns = tuple(Column(name, TextType()) for name in _EXTENSION)
    after = Image((*row.after.columns, *columns), (*row.after.values, *texts))
    return replace(row, after=after)


def _physical_time_from_commit_ts(row: RowChange) -> Event:
    position = row.position
    if position.commit_ts is None:
        return row
    return replace(row, position=replace(position, commit_ms=ms_of_tso(position.commit_ts)))


def _upsert_as_insert(row: RowChange) -> Event:
    return replace(row, op="insert") if row.op == "upsert" else row


def _namespace_as_schema(row: RowChange) -> Event:
    return replace(row, table=replace(row.table, schema=f"default.{row.table.schema}"))


AVRO: tuple[KnownWrong, ...] = (
    KnownWrong(
        "header-ignored",
        "whatever the first bytes are, they are taken for a header",
        mended(_with_good_header),
        _AVRO,
        ("avro/magic-and-id",),
    ),
    KnownWrong(
        "empty-value-as-delete",
        "a value of no bytes is taken for null",
        mended(_without_value),
        _AVRO,
    ),
    KnownWrong(
        "end-of-key-ignored", "what follows a key is ignored", mended(_without_end_of_key), _AVRO
    ),
    KnownWrong(
        "null-first",
        "the first branch of every union is taken for NULL",
        _by_other_schemas(_null_first),
        _AVRO,
        ("null/nullable-with-default",),
    ),
    KnownWrong(
        "one-schema-a-name",
        "key and value, having one full name, are read by one schema",
        _by_other_schemas(_one_schema_a_name),
        _AVRO,
    ),
    KnownWrong(
        "newest-schema",
        "rows are read by the newest schema, not by the one of their id",
        _by_other_schemas(_newest_schema),
        _AVRO,
    ),
    KnownWrong(
        "nulls-from-defaults",
        "NULL becomes the default of its field",
        _nulls_from_defaults,
        _AVRO,
        ("null/nullable-with-default",),
    ),
    KnownWrong(
        "decimal-without-scale",
        "a DECIMAL is given as its unscaled number",
        changing_values(_unscaled),
        _AVRO,
    ),
    KnownWrong(
        "decimal-without-sign",
        "the bytes of a DECIMAL are read as unsigned",
        changing_values(_decimal_without_sign),
        _AVRO,
        ("14",),
    ),
    KnownWrong(
        "scale-of-first-decimal",
        "all DECIMALs of a row have the scale of the first",
        changing_rows(_scale_of_first_decimal),
        _AVRO,
        ("10",),
    ),
    KnownWrong(
        "bit-backwards",
        "the last byte of a BIT counts most",
        changing_values(_bit_backwards),
        _AVRO,
    ),
    KnownWrong(
        "last-byte-of-bit",
        "of a BIT only the last byte is read",
        changing_values(_last_byte_of_bit),
        _AVRO,
        ("bit/multi-byte",),
    ),
    KnownWrong(
        "unsigned-in-31-bits",
        "INT UNSIGNED from 2^31 turns negative",
        changing_values(_unsigned_in_31_bits),
        _AVRO,
    ),
    KnownWrong(
        "allowed-split",
        "an ENUM's option is counted in allowed, split at every comma",
        _allowed_split,
        _AVRO,
    ),
    KnownWrong(
        "definitions-ignored",
        "an ENUM's option is counted in allowed, whatever its table says",
        _definitions_ignored,
        _AVRO,
    ),
    KnownWrong(
        "unknown-types-dropped",
        "a column of a type that is not known is left out",
        changing_columns(_unknown_dropped),
        _AVRO,
    ),
    KnownWrong(
        "names-of-extension",
        "a column with the name of an extension field is taken for one",
        changing_columns(_like_extension_dropped),
        _AVRO,
    ),
    KnownWrong(
        "extension-as-columns",
        "the fields of the extension are given as columns",
        changing_rows(_extension_as_columns),
        _AVRO,
    ),
    KnownWrong(
        "physical-time-from-commit-ts",
        "the time is worked out of the commit timestamp",
        changing_rows(_physical_time_from_commit_ts),
        _AVRO,
    ),
    KnownWrong(
        "upsert-as-insert",
        "a row that does not say so is taken for an insert",
        changing_rows(_upsert_as_insert),
        _AVRO,
    ),
    KnownWrong(
        "namespace-as-schema",
        "the whole namespace is taken for the schema",
        changing_rows(_namespace_as_schema),
        _AVRO,
    ),
)
