"""Column values, each a JSON string, or null for NULL; and rows, the members ``data`` and ``old``.

The meaning of the text depends on the kind of the column. Integers, decimals, dates, times and JSON
are TiDB's texts, the same as in CSV (``mysql.value_texts``). Floats, strings, bytes, enums and sets
are Canal-JSON's own, and are defined here.

A row is an object of texts by column. It is read with the kinds of its columns, so that an invalid
value is found at its byte.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_record import Form, Quote, expect_array, expect_object, items_of, wrong
from cdcwire.core.strict_json import Member
from cdcwire.formats.canal_json.columns import NO_DEFINITION, Definition
from cdcwire.formats.canal_json.members import MYSQL_TYPE, NAME, ROWS, RULES
from cdcwire.formats.canal_json.settings import Settings
from cdcwire.model import kinds
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Column, Value, index_of_label, mask_of_labels
from cdcwire.mysql.value_texts import float_text, read_double, read_float, reader, value_text
from cdcwire.mysql.values import is_vector_text, read_vector, vector_text

Read: TypeAlias = Callable[[str], Value]

MAX_INDEX = 65535  # elements of an ENUM
MAX_BITS = 64  # elements of a SET
YEAR_ZERO = "0000"  # of the official Canal

NUMBER_PATTERN = "(?:0|[1-9][0-9]{0,19})"
_NUMBER = re.compile(NUMBER_PATTERN)


def value_reader(kind: kinds.Type) -> Read:
    """Return the function that reads the texts of a kind. It raises ValueError with the problem."""
    match kind:
        case kinds.FloatType(bits):
            return read_float if bits == 32 else read_double
        case kinds.TextType():
            return _read_text
        case kinds.BytesType():
            return read_bytes
        case kinds.EnumType():
            return _read_index
        case kinds.SetType():
            return _read_mask
        case kinds.VectorType():
            return _read_vector
        case kinds.YearType():
            return _read_year
        case kinds.JsonType():
            return _read_text  # the official Canal writes a document of no bytes as ""
        case (
            kinds.UnknownType()
            | kinds.IntervalType()
            | kinds.ArrayType()
            | kinds.MapType()
            | kinds.StructType()
        ):
            return _read_text
        case _:
            return _text_reader(kind)


def value_clause(kind: kinds.Type) -> str:
    """Return the clause that speaks of the values of a kind."""
    match kind:
        case kinds.FloatType():
            return "canal-json: float values"
        case kinds.DecimalType():
            return "canal-json: decimal values"
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return "canal-json: temporal values"
        case kinds.BytesType():
            return "canal-json: binary values"
        case kinds.EnumType() | kinds.SetType():
            return "canal-json: enum and set values"
        case kinds.JsonType():
            return "canal-json: json values"
        case kinds.VectorType():
            return "canal-json: vector values"
        case kinds.IntType() | kinds.BoolType() | kinds.YearType() | kinds.BitType():
            return "canal-json: integer values"
        case _:
            return "canal-json: text values"


def write_value(column: Column, value: Value, settings: Settings) -> str | None:
    """Return the text of a value; bytes that are not UTF-8 are lone surrogates in it.

    Raises: EncodeError when it is not a value of the column's kind, or has no text.
    """
    if value is None:
        return None
    clause = value_clause(column.type)
    if value is UNAVAILABLE:
        raise EncodeError("an unavailable value has no form here", clause)
    try:
        if value == 0 and isinstance(column.type, kinds.YearType) and settings.dialect == "canal":
            return YEAR_ZERO
        text = _text(column.type, value, settings.time_zone)
    except ValueError as error:
        raise EncodeError(str(error), clause) from error
    if text is None:
        problem = f"{value!r:.80} is not a valid value of kind {kind_text(column.type):.80} here"
        raise EncodeError(problem, clause)
    return text


def same_value(kind: kinds.Type, left: Value, right: Value) -> bool:
    """Return whether an update leaves a value as it was. 0.0 and -0.0 are the same."""
    return type(left) is type(right) and bool(left == right)


def _read_text(text: str) -> Value:
    return text


def read_bytes(text: str) -> bytes:
    """Return the bytes of ISO-8859-1. Raises: ValueError for a character above U+00FF."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise ValueError(f"U+{code:04X} is not a byte: binary values end at U+00FF") from None


def _read_index(text: str) -> Value:
    return _number(text, MAX_INDEX)


def _read_mask(text: str) -> Value:
    return _number(text, (1 << MAX_BITS) - 1)


def _number(text: str, limit: int) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r:.40} is not a number of an element")
    number = int(text)
    if number > limit:
        raise ValueError(f"{text} is above {limit}")
    return number


def _read_year(text: str) -> Value:
    """Return a year. The official Canal writes 0 as 0000."""
    return 0 if text == YEAR_ZERO else _text_reader(kinds.YearType())(text)


def _read_vector(text: str) -> Value:
    if not is_vector_text(text):
        raise ValueError(f"{text!r:.40} is not the text of a vector")
    return read_vector(text)


@lru_cache(maxsize=1024)
def _text_reader(kind: kinds.Type) -> Read:
    match kind:
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return reader(replace(kind, form="text"))
        case _:
            return reader(kind)


def _text(kind: kinds.Type, value: Value, time_zone: str | None) -> str | None:
    match kind:
        case kinds.FloatType(bits):
            return float_text(value, bits) if isinstance(value, float) else None
        case kinds.TextType() if isinstance(value, bytes):
            return value.decode("utf-8", "surrogateescape")
        case kinds.TextType():
            return value if isinstance(value, str) else None
        case kinds.BytesType():
            return value.decode("latin-1") if isinstance(value, bytes) else None
        case kinds.EnumType():
            return _checked(index_of_label(kind, value), MAX_INDEX)
        case kinds.SetType():
            return _checked(mask_of_labels(kind, value), (1 << MAX_BITS) - 1)
        case kinds.VectorType():
            return _vector_text(value)
        case (
            kinds.UnknownType()
            | kinds.IntervalType()
            | kinds.ArrayType()
            | kinds.MapType()
            | kinds.StructType()
        ):
            return None
        case _:
            return value_text(kind, value, time_zone)


def _checked(number: int | None, limit: int) -> str | None:
    return None if number is None or not 0 <= number <= limit else str(number)


def _vector_text(value: Value) -> str | None:
    if not isinstance(value, tuple):
        return None
    for item in value:
        if not isinstance(item, float) or not math.isfinite(item) or narrow_float32(item) != item:
            raise ValueError("a vector holds finite 32-bit floats only")
    return vector_text(value)


# Columns of one row with their texts, in the order of the message.
Row: TypeAlias = "tuple[tuple[str, str | None], ...]"
Rows: TypeAlias = "tuple[Row | None, ...]"
Types: TypeAlias = "Mapping[str, str]"  # mysqlType by column


class RowReader:
    """The common parts of the rows of one message: how the values of a column are read."""

    def __init__(self, types: Types, definition: Definition = NO_DEFINITION) -> None:
        self._types = types
        self._definition = definition
        self._known: dict[str, tuple[Read, str]] = {}

    def value(self, member: Member) -> str | None:
        """Return the text of a value, or None for NULL. Raises: DecodeError."""
        name, text = member.name, member.value
        read, clause = self._known.get(name) or self._learn(member)
        if text is None:
            return None
        if not isinstance(text, str):
            error = wrong(text, "a string", member.start, clause)
            error.path = (name,)
            raise error
        try:
            read(text)
        except ValueError as error:
            raise DecodeError(str(error), member.start, clause, (name,)) from None
        return text

    def _learn(self, member: Member) -> tuple[Read, str]:
        name = member.name
        try:
            kind = self._definition.column(name, self._types.get(name)).type
        except ValueError as error:
            raise DecodeError(str(error), member.name_start, MYSQL_TYPE, (name,)) from None
        self._known[name] = found = (value_reader(kind), value_clause(kind))
        return found


def read_rows(given: Member | None, clause: str, reader: RowReader) -> Rows | None:
    """Return the rows of ``data`` or ``old``; None where there are none. Raises: DecodeError."""
    if given is None:
        return None
    rows = []
    with step(given.name):
        for index, item in enumerate(items_of(expect_array(given, clause))):
            with step(index):
                rows.append(None if item.value is None else _read_row(item, clause, reader))
    return tuple(rows)


def _read_row(item: Member, clause: str, reader: RowReader) -> Row:
    return tuple((each.name, reader.value(each)) for each in expect_object(item, clause).members)


def _unread(given: Member, data: bytes, clause: str) -> Any:
    return given


def _write_rows(rows: Rows, clause: str, quoted: Quote) -> str:
    texts = []
    for index, row in enumerate(rows):
        with step(index):
            texts.append("null" if row is None else _write_row(row, quoted))
    return f"[{','.join(texts)}]"


def _write_row(row: Row, quoted: Quote) -> str:
    names: set[str] = set()
    members = []
    for name, text in row:
        with step(name):
            if name in names:
                raise EncodeError("a column is duplicated", ROWS)
            names.add(name)
            written = "null" if text is None else write_value_text(text, quoted)
            members.append(f"{NAME.write(name, ROWS, quoted)}:{written}")
    return f"{{{','.join(members)}}}"


def write_value_text(text: str, quoted: Quote) -> str:
    """Return the JSON of a value. Lone surrogates of bad bytes become escapes of U+FFFD.

    Raises: EncodeError.
    """
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        problem = f"U+{ord(text[error.start]):04X} is not a character"
        raise EncodeError(problem, RULES.string_clause) from None
    return quoted(text)


# A row is read by ``RowReader``, which needs the types of all columns.
ROWS_FORM: Form[Rows] = Form(_unread, _write_rows)
