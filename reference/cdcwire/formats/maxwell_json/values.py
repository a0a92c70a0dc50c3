"""Values of columns: to and from the neutral model.

A row names no types. A table's definition gives them; without one the JSON value does. Then an
integer, with an exponent too, is an int64, another number a decimal, a string a text, and anything
else JSON.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from dataclasses import replace
from decimal import Decimal

from cdcwire.connect.scalars import java_float_text
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.json_strings import read_base64
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonRules, Number, read_json
from cdcwire.formats.maxwell_json.definitions import UTC
from cdcwire.formats.maxwell_json.message import (
    FORMS,
    RULES,
    Cell,
    ColumnValue,
    Inline,
    written_text,
    written_texts,
)
from cdcwire.model import kinds
from cdcwire.model.floats import is_float32, read_float32
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Column, Value
from cdcwire.model.temporal import temporal_text
from cdcwire.mysql.value_texts import integer_range, reader
from cdcwire.mysql.values import is_vector_text, read_vector, vector_text

NUMBERS = "maxwell-json: numbers"
TEXTS = "maxwell-json: texts"
BINARY = "maxwell-json: binary values"
TEMPORAL = "maxwell-json: temporal values"
LABELS = "maxwell-json: enum and set values"
JSON_VALUES = "maxwell-json: json values"
UNTYPED = "maxwell-json: columns without definition"


# Kinds of definitions that Maxwell has no values of: another producer's form of what it sends.
FOREIGN = (kinds.UnknownType, kinds.StructType, kinds.ArrayType, kinds.MapType)
INT64, UINT64 = kinds.IntType(64), kinds.IntType(64, True)
DECIMAL, TEXT, JSON, NULL = (
    kinds.DecimalType(),
    kinds.TextType(),
    kinds.JsonType(),
    kinds.UnknownType(),
)
YEAR_END = 2156
_EXPONENT = re.compile(r"[eE][+-]?0*([0-9]+)")
_MAX_EXPONENT_DIGITS = 3
SPACE = " \t\r\n"
_IN_COLUMN = 2  # levels around the value of a column
_JSON_RULES = JsonRules(
    JSON_VALUES, JSON_VALUES, RULES.limits_clause, max_depth=RULES.max_depth - _IN_COLUMN
)


def read_value(cell: Cell, column: Column | None) -> tuple[Column, Value]:
    """Return a column and its value. ``column``: its definition, if known. Raises: DecodeError."""
    if column is None:
        kind, value = _untyped(cell)
        return Column(cell.name, kind), value
    if isinstance(column.type, FOREIGN) or _is_any_long(column):
        kind, value = _untyped(cell)
        if kind == UINT64 or not _is_any_long(column):
            return replace(column, type=kind), value
    column = as_read(column)
    if cell.value is None:
        return column, None
    clause = value_clause(column.type)
    try:
        return column, _typed(column.type, cell, clause)
    except ValueError as error:
        if isinstance(error, DecodeError):
            error.path = (cell.name, *error.path)
            raise
        raise DecodeError(str(error), cell.offset, clause, (cell.name,)) from None


def _is_any_long(column: Column) -> bool:
    """Return whether a definition may be of a feed that has BIGINT UNSIGNED as a signed number."""
    is_declared = column.source is not None and column.source.lower().startswith("bigint")
    return column.type == INT64 and not is_declared


def as_read(column: Column) -> Column:
    """Return a definition's column with the type in the form in which Maxwell writes it.

    A BOOLEAN is a TINYINT(1), which has any number of its 8 bits.
    """
    match column.type:
        case kinds.BoolType():
            return replace(column, type=kinds.IntType(8))
        case kinds.EnumType() | kinds.SetType():
            return replace(column, type=replace(column.type, form="label"))
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType():
            return replace(column, type=replace(column.type, form="text"))
        case kinds.TimestampType():
            return replace(column, type=replace(column.type, form="text", zone=UTC))
        case _:
            return column


def value_clause(kind: kinds.Type) -> str:
    """Return the clause about the values of a kind."""
    match kind:
        case kinds.TextType():
            return TEXTS
        case kinds.BytesType():
            return BINARY
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return TEMPORAL
        case kinds.EnumType() | kinds.SetType():
            return LABELS
        case kinds.JsonType():
            return JSON_VALUES
        case (
            kinds.IntType()
            | kinds.BoolType()
            | kinds.FloatType()
            | kinds.DecimalType()
            | kinds.YearType()
            | kinds.BitType()
        ):
            return NUMBERS
        case kinds.VectorType():
            return NUMBERS
        case _:
            return UNTYPED


def _untyped(cell: Cell) -> tuple[kinds.Type, Value]:
    match cell.value:
        case None:
            return NULL, None
        case str(text):
            return TEXT, text
        case Inline(text):
            return JSON, text
        case Number() as number:
            found = read_decimal(FORMS.number_of(number, cell.offset, NUMBERS), cell)
            if found.as_tuple().exponent != 0:
                return DECIMAL, found
            value = int(found)
            if INT64_START <= value < INT64_END:
                return INT64, value
            if 0 < value < UINT64_END:
                return UINT64, value
            return DECIMAL, found


def _typed(kind: kinds.Type, cell: Cell, clause: str) -> Value:
    """Return a value of a known kind. Raises: ValueError, DecodeError."""
    value = cell.value
    match kind:
        case kinds.IntType() | kinds.BitType() | kinds.YearType():
            return _integer(kind, cell)
        case kinds.FloatType(bits):
            text = FORMS.number_of(_number(cell), cell.offset, clause).text
            number = read_float32(text) if bits == 32 else float(text)
            if math.isinf(number):
                raise ValueError(f"{text:.40} is too large for float{bits}")
            return number
        case kinds.DecimalType():
            return read_decimal(FORMS.number_of(_number(cell), cell.offset, clause), cell)
        case kinds.JsonType():
            return json_text(value)
        case kinds.VectorType():
            return _vector(value)
        case kinds.SetType():
            return ",".join(_labels(value))
        case kinds.BytesType():
            return read_base64(_string(value), cell.offset, clause)
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            # The fraction of a bootstrapped row may be shorter than that of its column.
            plain = kind if isinstance(kind, kinds.DateType) else replace(kind, fraction=None)
            return reader(plain)(_string(value))
        case kinds.TextType() | kinds.EnumType():
            return _string(value)
        case _:
            return _untyped(cell)[1]


def _number(cell: Cell) -> Number | str | None:
    if isinstance(cell.value, Inline):
        raise ValueError(f"{_shown(cell.value)} instead of a number")
    return cell.value


def _string(value: ColumnValue) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} instead of a string")
    return value


def _shown(value: ColumnValue) -> str:
    if not isinstance(value, Inline):
        return "a number"
    return {"[": "an array", "{": "an object"}.get(value.text[0], value.text)


def _integer(kind: kinds.IntType | kinds.BitType | kinds.YearType, cell: Cell) -> int:
    number = FORMS.integer_of(_number(cell), cell.offset, NUMBERS)
    if isinstance(kind, kinds.YearType):
        return _in_range(number, 0, YEAR_END)
    return _in_range(number, *integer_range(kind))


def _in_range(number: int, low: int, high: int) -> int:
    if not low <= number < high:
        raise ValueError(f"{number} is outside {low} to {high - 1}")
    return number


def _vector(value: ColumnValue) -> Value:
    text = value.text if isinstance(value, Inline) else ""
    if not is_vector_text(text):
        raise ValueError("the value is not an array of numbers")
    return read_vector(text)


def _labels(value: ColumnValue) -> list[str]:
    array = read_json(value.text.encode(), _JSON_RULES).value if isinstance(value, Inline) else None
    if not isinstance(array, JsonArray):
        raise ValueError("the value is not an array of labels")
    labels = [item for item in array.items if isinstance(item, str)]
    if len(labels) < len(array.items):
        raise ValueError("a label is not a string")
    return labels


def read_decimal(number: Number, cell: Cell) -> Decimal:
    """Return a number with all its digits, in plain notation. Raises: DecodeError."""
    found = _EXPONENT.search(number.text)
    if found is not None and len(found[1]) > _MAX_EXPONENT_DIGITS:
        problem = f"the exponent of {number.text:.40} has more than 3 digits"
        raise DecodeError(problem, cell.offset, RULES.limits_clause)
    value = Decimal(number.text)
    exponent = value.as_tuple().exponent
    return Decimal(f"{value:f}") if isinstance(exponent, int) and exponent > 0 else value


def digits_added(value: Decimal, sent: ColumnValue) -> int:
    """Return how many digits the exponent of a number adds to it, however it was sent.

    The exponent is that of the notation with one digit before the point. A number below 1 counts
    without an exponent too, because it may be written with one.
    """
    if not isinstance(sent, Number):
        return 0
    exponent = value.adjusted()
    return exponent if exponent < 0 or _EXPONENT.search(sent.text) is not None else 0


def json_text(value: ColumnValue) -> str:
    """Return the JSON text of a value that is not null."""
    match value:
        case Number(text) | Inline(text):
            return text
        case _:
            return written_text(str(value))


def written(column: Column, value: Value) -> ColumnValue:
    """Return a value as it is written. A JSON null is written like NULL.

    Raises: EncodeError if the value has no form.
    """
    is_json_null = isinstance(column.type, kinds.JsonType) and str(value).strip(SPACE) == "null"
    if value is None or is_json_null:
        return None
    clause = value_clause(column.type)
    if value is UNAVAILABLE:
        raise EncodeError("an unavailable value has no form", clause)
    try:
        found = _written(column.type, value)
    except ValueError as error:
        if isinstance(error, EncodeError):
            raise
        raise EncodeError(str(error), clause) from error
    if found is None:
        problem = f"{value!r:.80} has no form as a value of kind {kind_text(column.type):.80}"
        raise EncodeError(problem, clause)
    try:
        read_value(Cell(column.name, found), column)
    except DecodeError as error:
        raise EncodeError(error.problem, error.clause) from None
    return found


def _written(kind: kinds.Type, value: Value) -> ColumnValue:
    match kind:
        case kinds.BoolType() if isinstance(value, bool):
            return Number("1" if value else "0")
        case kinds.IntType() | kinds.BitType() | kinds.YearType() if isinstance(value, int):
            return Number(str(int(value)))
        case kinds.FloatType(bits) if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError(f"{value} has no form")
            return Number(java_float_text(value, bits))
        case kinds.DecimalType():
            return Number(_decimal_text(value))
        case kinds.TextType() if isinstance(value, str):
            return value
        case kinds.BytesType() if isinstance(value, bytes):
            return b64encode(value).decode("ascii")
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            zone = UTC if isinstance(kind, kinds.TimestampType) and kind.zone is not None else None
            return temporal_text(kind, value, zone)
        case kinds.EnumType():
            return _label(kind, value)
        case kinds.SetType():
            return Inline(written_texts(_set_labels(kind, value)))
        case kinds.VectorType() if isinstance(value, tuple):
            return Inline(_vector_text(value))
        case kinds.JsonType() if isinstance(value, str):
            return _json_value(value)
        case _:
            return None


def _decimal_text(value: Value) -> str:
    """Return a decimal as Java's BigDecimal writes it: ``0E-10`` is zero with ten digits."""
    if not isinstance(value, Decimal) or not value.is_finite():
        raise ValueError(f"{value!s:.40} is not a plain number")
    exponent = value.as_tuple().exponent
    return f"{value:f}" if isinstance(exponent, int) and exponent > 0 else str(value)


def _vector_text(items: tuple[Value, ...]) -> str:
    for item in items:
        if not isinstance(item, float) or not math.isfinite(item) or not is_float32(item):
            raise ValueError("a vector holds finite 32-bit floats only")
    return vector_text(items)


def _label(kind: kinds.EnumType, value: Value) -> str:
    if isinstance(value, str):
        return value
    if value == 0:
        return ""
    if kind.labels is None or not 1 <= value <= len(kind.labels):
        raise ValueError(f"index {value} has no label")
    return str(kind.labels[value - 1])


def _set_labels(kind: kinds.SetType, value: Value) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split(",")) if value else ()
    labels = kind.labels or ()
    if value < 0 or value >> len(labels):
        raise ValueError(f"mask {value} has a bit without a label")
    return tuple(label for bit, label in enumerate(labels) if value >> bit & 1)


def _json_value(text: str) -> ColumnValue:
    """Return a JSON text as it is put into the row."""
    try:
        found = read_json(text.encode(), _JSON_RULES).value
    except (DecodeError, UnicodeEncodeError) as error:
        problem = error.problem if isinstance(error, DecodeError) else "a lone surrogate"
        raise ValueError(f"the JSON text is not valid: {problem}") from None
    if isinstance(found, (JsonArray, JsonObject, bool)):
        return Inline(text.strip(SPACE))
    return found
