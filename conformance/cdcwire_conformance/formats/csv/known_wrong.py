"""Known-wrong decoders of csv.

A reader of CSV has to find the ends of fields and to tell NULL from text. Types come from a
definition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from cdcwire.core.format import Context, Format
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.options import OptionValue, parse_options
from cdcwire.formats.csv.records import field_of
from cdcwire.formats.csv.settings import read_settings
from cdcwire.model.events import Column, Event, RowChange, Value
from cdcwire.model.kinds import EnumType, FloatType, JsonType, SetType, TextType
from cdcwire_conformance.families.mysql_known_wrong import (
    BATCHED_MYSQL_FAULTS,
    BIT_AS_TEXT,
    CUT_FILE_ACCEPTED,
    ILL_FORMED_TEXT_REPLACED,
    TIMESTAMP_IN_UTC,
)
from cdcwire_conformance.known_wrong.decoder import (
    Decode,
    KnownWrong,
    changing_columns,
    changing_rows,
    changing_values,
    right,
    under_options,
)
from cdcwire_conformance.known_wrong.events import PARTITION_LOST, halves_as_changes

_TEXTS = (TextType, EnumType, SetType)


def _options(of: Format, context: Context) -> Mapping[str, OptionValue]:
    return parse_options(of.options, context.options)


def _changing_by_options(
    change: Callable[[Column, Value, Mapping[str, OptionValue]], Value],
) -> Decode:
    """Return a decoder that changes each value, NULL too, with the options at hand."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        options = _options(format_, context)
        changed = changing_columns(lambda column, value: (column, change(column, value, options)))
        return changed(format_, message, context)

    return decode


def _quoted_null_is_null(column: Column, value: Value, options: Mapping[str, OptionValue]) -> Value:
    return None if isinstance(column.type, _TEXTS) and value == options["null"] else value


def _null_is_text(column: Column, value: Value, options: Mapping[str, OptionValue]) -> Value:
    return options["null"] if value is None and isinstance(column.type, _TEXTS) else value


def _empty_is_null(column: Column, value: Value, options: Mapping[str, OptionValue]) -> Value:
    return None if isinstance(column.type, _TEXTS) and not value else value


def _cut_at_delimiter(column: Column, value: Value, options: Mapping[str, OptionValue]) -> Value:
    if not isinstance(value, str) or not isinstance(column.type, _TEXTS):
        return value
    return value.partition(str(options["delimiter"]))[0]


_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


def _backslash_unescaped(column: Column, value: Value, options: Mapping[str, OptionValue]) -> Value:
    if not isinstance(value, str) or not isinstance(column.type, TextType) or not options["quote"]:
        return value
    return re.sub(r"\\(.)", lambda found: _LETTERS.get(found[1], found[1]), value)


def _lines_first(format_: Format, message: Message, context: Context) -> list[Event]:
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


def _escapes_kept(column: Column, value: Value, options: Mapping[str, OptionValue]) -> Value:
    if not isinstance(value, str) or not isinstance(column.type, (TextType, JsonType)):
        return value
    return field_of(value.encode(), read_settings(options)).raw.decode()


def _names_swapped(row: RowChange) -> Event:
    return replace(row, table=replace(row.table, name=row.table.schema, schema=row.table.name))


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


def _first_element(column: Column, value: Value) -> Value:
    return value.partition(",")[0] if isinstance(column.type, SetType) else value


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *BATCHED_MYSQL_FAULTS,
    PARTITION_LOST,
    ILL_FORMED_TEXT_REPLACED,
    CUT_FILE_ACCEPTED,
    BIT_AS_TEXT,
    TIMESTAMP_IN_UTC,
    KnownWrong(
        "quoted-null-as-null",
        "a text that is the text of NULL becomes NULL, quoted or not",
        _changing_by_options(_quoted_null_is_null),
    ),
    KnownWrong(
        "null-as-its-text",
        "a bare NULL is given as the text that stands for it",
        _changing_by_options(_null_is_text),
    ),
    KnownWrong(
        "empty-string-as-null",
        "empty strings, enums and sets become NULL",
        _changing_by_options(_empty_is_null),
    ),
    KnownWrong("lines-first", "a line break inside quotes ends the record", _lines_first),
    KnownWrong(
        "cut-at-delimiter",
        "a delimiter inside a value ends it",
        _changing_by_options(_cut_at_delimiter),
    ),
    KnownWrong(
        "backslashes-unescaped",
        "between quotes backslashes are taken for escapes",
        _changing_by_options(_backslash_unescaped),
    ),
    KnownWrong(
        "escapes-kept",
        "doubled quotes stay doubled, and escapes stay where there are no quotes",
        _changing_by_options(_escapes_kept),
    ),
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
    KnownWrong(
        "schema-before-table",
        "the second and third fields are read as schema and table",
        changing_rows(_names_swapped),
    ),
    KnownWrong(
        "halves-as-delete-and-insert",
        "the two records of an update are a delete and an insert",
        changing_rows(halves_as_changes),
    ),
    KnownWrong(
        "float-without-exponent",
        "a float ends before its exponent",
        changing_values(_without_exponent),
    ),
    KnownWrong(
        "newest-definition",
        "files of every version are read by the newest definition",
        _newest_definition,
    ),
    KnownWrong(
        "set-cut-at-comma",
        "of the elements of a SET only the first one is kept",
        changing_values(_first_element),
    ),
)
