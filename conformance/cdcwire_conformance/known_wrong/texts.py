"""Known-wrong decoders of the formats whose values are text: CSV and Canal-JSON.

A reader of CSV has to find the ends of fields and tell NULL from text, and knows no type but from a
definition; a reader of Canal-JSON meets strings, null, and members that are not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context, Format, OptionValue, parse_options
from cdcwire.core.message import Message, StoredFile
from cdcwire.model.events import Column, Event, Image, RowChange, Value
from cdcwire.model.kinds import (
    BitType,
    BytesType,
    EnumType,
    FloatType,
    SetType,
    TextType,
    TimestampType,
)
from cdcwire_conformance.known_wrong.decoder import (
    Decode,
    KnownWrong,
    changing_columns,
    changing_rows,
    changing_values,
    right,
)

_CSV = ("csv",)
_CANAL = ("canal-json",)
_BOTH = ("csv", "canal-json")
_TEXTS = (TextType, EnumType, SetType)


def _told(of: Format, context: Context) -> Mapping[str, OptionValue]:
    return parse_options(of.options, context.options)


def _changing_by_options(
    change: Callable[[Column, Value, Mapping[str, OptionValue]], Value],
) -> Decode:
    """Return a decoder that changes each value, NULL too, with the options at hand."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        told = _told(format_, context)
        changed = changing_columns(lambda column, value: (column, change(column, value, told)))
        return changed(format_, message, context)

    return decode


def _without_option(name: str, value: OptionValue) -> Decode:
    """Return a decoder that believes an option to have another value."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        options = {
            key: told for key, told in context.options.items() if key.rpartition(".")[2] != name
        }
        return right(format_, message, replace(context, options={**options, name: value}))

    return decode


def _quoted_null_is_null(column: Column, value: Value, told: Mapping[str, OptionValue]) -> Value:
    return None if isinstance(column.type, _TEXTS) and value == told["null"] else value


def _null_is_text(column: Column, value: Value, told: Mapping[str, OptionValue]) -> Value:
    return told["null"] if value is None and isinstance(column.type, _TEXTS) else value


def _empty_is_null(column: Column, value: Value, told: Mapping[str, OptionValue]) -> Value:
    return None if isinstance(column.type, _TEXTS) and not value else value


def _cut_at_delimiter(column: Column, value: Value, told: Mapping[str, OptionValue]) -> Value:
    if not isinstance(value, str) or not isinstance(column.type, _TEXTS):
        return value
    return value.partition(str(told["delimiter"]))[0]


_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


def _backslash_unescaped(column: Column, value: Value, told: Mapping[str, OptionValue]) -> Value:
    if not isinstance(value, str) or not isinstance(column.type, TextType) or not told["quote"]:
        return value
    return re.sub(r"\\(.)", lambda found: _LETTERS.get(found[1], found[1]), value)


def _lines_first(format_: Format, message: Message, context: Context) -> list[Event]:
    """Read a file line by line, as if no value had a line break."""
    told = _told(format_, context)
    is_rows = isinstance(message, StoredFile) and message.path.endswith(".csv")
    terminator = str(told["terminator"]).encode()
    if (
        not is_rows
        or told["output-field-header"]
        or not (message.value or b"").endswith(terminator)
    ):
        return right(format_, message, context)
    assert isinstance(message, StoredFile)
    events: list[Event] = []
    for line in re.split(b"\r?\n", message.value.removesuffix(terminator)):
        part = replace(message, value=line + terminator)
        events += right(format_, part, context)
    return events


def _text_as_it_stands(field: Any, settings: Any) -> bytes:
    raw: bytes = field.raw
    return raw


def _patched_text(format_: Format, message: Message, context: Context) -> list[Event]:
    with patch("cdcwire.formats.csv.values.text_of", _text_as_it_stands):
        return right(format_, message, context)


def _names_swapped(row: RowChange) -> Event:
    return replace(row, table=replace(row.table, name=row.table.schema, schema=row.table.name))


def _halves_for_themselves(row: RowChange) -> Event:
    if row.half is None:
        return row
    return replace(row, op="delete" if row.half == "before" else "insert", half=None)


def _without_exponent(column: Column, value: Value) -> Value:
    if not isinstance(column.type, FloatType):
        return value
    mantissa, _, exponent = f"{value:e}".partition("e")
    return float(mantissa) if not -4 <= int(exponent) < 6 else value


def _newest_definition(format_: Format, message: Message, context: Context) -> list[Event]:
    newest = {
        (table.schema, table.name): table
        for table in sorted(context.tables, key=lambda table: table.version or 0)
    }
    return right(format_, message, replace(context, tables=tuple(newest.values())))


def _set_backwards(column: Column, value: Value) -> Value:
    if not isinstance(column.type, SetType):
        return value
    return int(f"{value:b}"[::-1], 2)


def _first_element(column: Column, value: Value) -> Value:
    return value.partition(",")[0] if isinstance(column.type, SetType) else value


def _bit_as_text(column: Column, value: Value) -> tuple[Column, Value]:
    if not isinstance(column.type, BitType) or value is None:
        return column, value
    return replace(column, type=TextType()), str(value)


def _timestamp_in_utc(column: Column, value: Value) -> tuple[Column, Value]:
    if not isinstance(column.type, TimestampType):
        return column, value
    return replace(column, type=replace(column.type, zone="+00:00")), value


def _binary_as_utf_8(column: Column, value: Value) -> Value:
    return value.decode("latin-1").encode() if isinstance(column.type, BytesType) else value


def _null_as_word(column: Column, value: Value) -> tuple[Column, Value]:
    if value is None and isinstance(column.type, TextType):
        return column, "null"
    return column, value


def _old_null_as_absent(row: RowChange) -> Event:
    if row.op != "update" or row.before is None:
        return row
    kept = [
        (column, value)
        for column, value in zip(row.before.columns, row.before.values, strict=True)
        if value is not None
    ]
    return replace(row, before=Image(tuple(c for c, _ in kept), tuple(v for _, v in kept)))


def _times_swapped(format_: Format, message: Message, context: Context) -> list[Event]:
    return [_with_times_swapped(event) for event in right(format_, message, context)]


def _with_times_swapped(event: Event) -> Event:
    position = event.position
    swapped = replace(position, commit_ms=position.sent_ms, sent_ms=position.commit_ms)
    return replace(event, position=swapped)


def _lone_surrogates(text: str) -> Iterator[str]:
    """Give the characters of UTF-16, each surrogate for itself."""
    for char in text:
        if ord(char) > 0xFFFF:
            yield "\ufffd\ufffd"
        else:
            yield char


def _surrogates_replaced(column: Column, value: Value) -> Value:
    return "".join(_lone_surrogates(value)) if isinstance(value, str) else value


def _cut_file_accepted(format_: Format, message: Message, context: Context) -> list[Event]:
    events: list[Event] = []
    try:
        for event in format_.decode(message, context):
            events.append(event)
    except DecodeError:
        if not events:
            raise
    return events


TEXTS: tuple[KnownWrong, ...] = (
    KnownWrong(
        "quoted-null-as-null",
        "a text that is the text of NULL becomes NULL, quoted or not",
        _changing_by_options(_quoted_null_is_null),
        _CSV,
    ),
    KnownWrong(
        "null-as-its-text",
        "a bare NULL is given as the text that stands for it",
        _changing_by_options(_null_is_text),
        _CSV,
    ),
    KnownWrong(
        "empty-string-as-null",
        "empty strings, enums and sets become NULL",
        _changing_by_options(_empty_is_null),
        _CSV,
    ),
    KnownWrong("lines-first", "a line break inside quotes ends the record", _lines_first, _CSV),
    KnownWrong(
        "cut-at-delimiter",
        "a delimiter inside a value ends it",
        _changing_by_options(_cut_at_delimiter),
        _CSV,
    ),
    KnownWrong(
        "backslashes-unescaped",
        "between quotes backslashes are taken for escapes",
        _changing_by_options(_backslash_unescaped),
        _CSV,
    ),
    KnownWrong(
        "escapes-kept",
        "doubled quotes stay doubled, and escapes stay where there are no quotes",
        _patched_text,
        _CSV,
    ),
    KnownWrong(
        "header-line-as-row",
        "the header line is read as a record",
        _without_option("output-field-header", False),
        _CSV,
        ("81",),
    ),
    KnownWrong(
        "hex-as-base64",
        "binary strings are always read as base64",
        _without_option("binary-encoding-method", "base64"),
        _CSV,
    ),
    KnownWrong(
        "commit-ts-as-column",
        "the optional commit-ts is not expected, and columns move by one place",
        _without_option("include-commit-ts", False),
        _CSV,
        ("82",),
    ),
    KnownWrong(
        "is-update-as-column",
        "the optional is-update is not expected, and columns move by one place",
        _without_option("output-old-value", False),
        _CSV,
        ("82",),
    ),
    KnownWrong(
        "schema-before-table",
        "the second and third fields are read as schema and table",
        changing_rows(_names_swapped),
        _CSV,
    ),
    KnownWrong(
        "halves-as-delete-and-insert",
        "the two records of an update are a delete and an insert",
        changing_rows(_halves_for_themselves),
        _CSV,
    ),
    KnownWrong(
        "float-without-exponent",
        "a float ends before its exponent",
        changing_values(_without_exponent),
        _CSV,
    ),
    KnownWrong(
        "newest-definition",
        "files of every version are read by the newest definition",
        _newest_definition,
        _CSV,
    ),
    KnownWrong(
        "cut-file-accepted",
        "a file that was cut off gives its whole rows and no error",
        _cut_file_accepted,
        _BOTH,
    ),
    KnownWrong(
        "set-backwards",
        "the first element of a SET is its highest bit",
        changing_values(_set_backwards),
        _CANAL,
    ),
    KnownWrong(
        "set-cut-at-comma",
        "of the elements of a SET only the first one is kept",
        changing_values(_first_element),
        _CSV,
    ),
    KnownWrong("bit-as-text", "a BIT is given as text", changing_columns(_bit_as_text), _BOTH),
    KnownWrong(
        "timestamp-in-utc",
        "a TIMESTAMP is taken for UTC, though nobody says so",
        changing_columns(_timestamp_in_utc),
        (*_BOTH, "avro"),
        ("20",),
    ),
    KnownWrong(
        "binary-as-utf-8",
        "the characters of a binary string are written as UTF-8",
        changing_values(_binary_as_utf_8),
        _CANAL,
        ("33",),
    ),
    KnownWrong(
        "null-as-word", "null becomes the text 'null'", changing_columns(_null_as_word), _CANAL
    ),
    KnownWrong(
        "old-null-as-absent",
        "NULL in old is taken for a column that did not change",
        changing_rows(_old_null_as_absent),
        _CANAL,
        ("51",),
    ),
    KnownWrong("times-swapped", "es and ts change places", _times_swapped, _CANAL),
    KnownWrong(
        "surrogates-replaced",
        "the two halves of a surrogate pair become U+FFFD",
        changing_values(_surrogates_replaced),
        _CANAL,
    ),
)
