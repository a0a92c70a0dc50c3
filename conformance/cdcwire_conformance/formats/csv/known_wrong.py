"""Known-wrong decoders of csv.

A reader of CSV has to find the ends of fields and to distinguish NULL from text. Types come from a
definition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.options import OptionValue, parse_options
from cdcwire.format import Format
from cdcwire.formats.csv.records import field_of
from cdcwire.formats.csv.settings import read_settings
from cdcwire.model.events import Event, RowChange
from cdcwire.model.kinds import Column, EnumType, FloatType, JsonType, SetType, TextType, Value
from cdcwire_conformance.families import mysql
from cdcwire_conformance.known_wrong.decoder import (
    Decode,
    KnownWrong,
    changing_columns,
    decorator,
    right,
    under_options,
    wrong_decoder,
    wrong_rows,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import halves_as_changes, partition_lost

_Options: TypeAlias = Mapping[str, OptionValue]

_TEXTS = (TextType, EnumType, SetType)


def _options(of: Format, context: Context) -> _Options:
    return parse_options(of.options, context.options)


def _changing_by_options(
    change: Callable[[Column, Value, _Options], Value],
) -> Decode:
    """Return a decoder that changes each value, NULL too, with the options at hand."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        options = _options(format_, context)
        changed = changing_columns(lambda column, value: (column, change(column, value, options)))
        return changed(format_, message, context)

    return decode


_wrong_by_options = decorator(_changing_by_options)


@_wrong_by_options("a text that is the text of NULL becomes NULL, quoted or not")
def quoted_null_as_null(column: Column, value: Value, options: _Options) -> Value:
    """Replace a text, ENUM or SET that equals the configured NULL text with NULL."""
    return None if isinstance(column.type, _TEXTS) and value == options["null"] else value


@_wrong_by_options("a bare NULL is given as its text")
def null_as_its_text(column: Column, value: Value, options: _Options) -> Value:
    """Replace NULL in a text, ENUM or SET column with the configured NULL text."""
    return options["null"] if value is None and isinstance(column.type, _TEXTS) else value


@_wrong_by_options("empty strings, enums and sets become NULL")
def empty_string_as_null(column: Column, value: Value, options: _Options) -> Value:
    """Replace an empty text, ENUM or SET with NULL."""
    return None if isinstance(column.type, _TEXTS) and not value else value


@_wrong_by_options("a delimiter inside a value ends it")
def cut_at_delimiter(column: Column, value: Value, options: _Options) -> Value:
    """Cut a value at its first delimiter."""
    if not isinstance(value, str) or not isinstance(column.type, _TEXTS):
        return value
    return value.partition(str(options["delimiter"]))[0]


_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


@_wrong_by_options("between quotes backslashes are taken for escapes")
def backslashes_unescaped(column: Column, value: Value, options: _Options) -> Value:
    """Decode backslash escapes in a text that is written between quotes."""
    if not isinstance(value, str) or not isinstance(column.type, TextType) or not options["quote"]:
        return value
    return re.sub(r"\\(.)", lambda found: _LETTERS.get(found[1], found[1]), value)


@wrong_decoder("a line break inside quotes ends the record")
def lines_first(format_: Format, message: Message, context: Context) -> list[Event]:
    """Read a file line by line, as if no value had a line break."""
    options = _options(format_, context)
    is_rows = isinstance(message, StoredFile) and message.path.endswith(".csv")
    terminator = str(options["terminator"]).encode()
    if (
        not is_rows
        or options["output-field-header"]
        or not (message.value or b"").endswith(terminator)
    ):
        return right(format_, message, context)
    assert isinstance(message, StoredFile)
    events: list[Event] = []
    for line in re.split(b"\r?\n", message.value.removesuffix(terminator)):
        part = replace(message, value=line + terminator)
        events += right(format_, part, context)
    return events


@_wrong_by_options("doubled quotes stay doubled, and escapes stay where there are no quotes")
def escapes_kept(column: Column, value: Value, options: _Options) -> Value:
    """Return a text or JSON value as it is written in the file, with its escapes."""
    if not isinstance(value, str) or not isinstance(column.type, (TextType, JsonType)):
        return value
    return field_of(value.encode(), read_settings(options)).raw.decode()


@wrong_rows("the second and third fields are read as schema and table")
def schema_before_table(row: RowChange) -> Event:
    """Swap the names of the table and its schema."""
    return replace(row, table=replace(row.table, name=row.table.schema, schema=row.table.name))


@wrong_values("a float ends before its exponent")
def float_without_exponent(column: Column, value: Value) -> Value:
    """Drop the exponent of a float that is written with one."""
    if not isinstance(column.type, FloatType):
        return value
    mantissa, _, exponent = f"{value:e}".partition("e")
    return float(mantissa) if not -4 <= int(exponent) < 6 else value


@wrong_decoder("files of every version are read by the newest definition")
def newest_definition(format_: Format, message: Message, context: Context) -> list[Event]:
    """Decode with only the newest definition of each table."""
    newest = {
        (table.schema, table.name): table
        for table in sorted(context.tables, key=lambda table: table.version or 0)
    }
    return right(format_, message, replace(context, tables=tuple(newest.values())))


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *mysql.BATCHED_MYSQL_FAULTS,
    partition_lost,
    mysql.ill_formed_text_replaced,
    mysql.cut_file_accepted,
    mysql.bit_as_text,
    mysql.timestamp_in_utc,
    quoted_null_as_null,
    null_as_its_text,
    empty_string_as_null,
    lines_first,
    cut_at_delimiter,
    backslashes_unescaped,
    escapes_kept,
    KnownWrong(
        "header-line-as-row",
        "the header line is read as a record",
        under_options(output_field_header=False),
        ("81",),
    ),
    KnownWrong(
        "hex-as-base64",
        "binary strings are always read as base64",
        under_options(binary_encoding_method="base64"),
    ),
    KnownWrong(
        "commit-ts-as-column",
        "the optional commit-ts is not expected, and columns move by one place",
        under_options(include_commit_ts=False),
        ("82",),
    ),
    KnownWrong(
        "is-update-as-column",
        "the optional is-update is not expected, and columns move by one place",
        under_options(output_old_value=False),
        ("82",),
    ),
    schema_before_table,
    halves_as_changes,
    float_without_exponent,
    newest_definition,
    mysql.set_cut_at_comma,
)
