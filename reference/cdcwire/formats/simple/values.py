"""Values of columns: texts in JSON, branches of a union in Avro, both to the model and back."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from cdcwire.apache_avro.schema import Branch
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.json_strings import read_base64, write_base64
from cdcwire.core.limits import INT64_END, UINT64_END
from cdcwire.formats.simple.avro_wire import (
    BYTES,
    DOUBLE,
    FLOAT,
    LONG,
    STRING,
    UNSIGNED,
)
from cdcwire.formats.simple.message import BAD_BYTE, REPLACEMENT, TIMESTAMPS, CellValue, Timestamp
from cdcwire.formats.simple.settings import Settings
from cdcwire.model import kinds
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Column, Value, index_of_label, mask_of_labels
from cdcwire.model.temporal import temporal_text
from cdcwire.mysql.value_texts import (
    float_text,
    integer_range,
    read_double,
    read_float,
    reader,
    value_text,
)
from cdcwire.mysql.values import is_vector_text, read_vector, vector_text

_NUMBER = re.compile("0|[1-9][0-9]{0,19}")
_MAX_INDEX = 65535  # labels of an ENUM
_MAX_LABELS_OF_SET = 64
_TEMPORAL = (kinds.DateType, kinds.TimeType, kinds.DatetimeType, kinds.TimestampType)


def value_clause(kind: kinds.Type) -> str:
    """Return the clause that speaks of the values of a kind."""
    match kind:
        case kinds.FloatType():
            return "simple: float values"
        case kinds.DecimalType():
            return "simple: decimal values"
        case kinds.TimestampType():
            return TIMESTAMPS
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType():
            return "simple: temporal values"
        case kinds.BytesType():
            return "simple: binary values"
        case kinds.BitType():
            return "simple: bit values"
        case kinds.EnumType() | kinds.SetType():
            return "simple: enum and set values"
        case kinds.JsonType():
            return "simple: json columns"
        case kinds.VectorType():
            return "simple: vector values"
        case kinds.IntType() | kinds.BoolType() | kinds.YearType():
            return "simple: integer values"
        case _:
            return "simple: text values"


def read_value(column: Column, value: CellValue, offset: int) -> Value:
    """Return the model's value. Raises: DecodeError at ``offset``."""
    if value is None:
        return None
    kind = column.type
    try:
        if isinstance(value, Timestamp):
            if not isinstance(kind, kinds.TimestampType):
                raise ValueError(f"a TIMESTAMP is not a value of {kind_text(kind):.80}")
            return reader(kind)(value.value)
        if isinstance(value, Branch):
            return _of_branch(kind, value)
        if isinstance(kind, kinds.TimestampType):
            raise ValueError("it is a string, not an object with location and value")
        if isinstance(kind, kinds.BytesType):
            return read_base64(value, offset, value_clause(kind))
        return text_reader(kind)(value.replace(BAD_BYTE, REPLACEMENT))
    except ValueError as error:
        if isinstance(error, DecodeError):
            raise
        raise DecodeError(str(error), offset, value_clause(kind)) from None


def text_reader(kind: kinds.Type) -> Callable[[str], Value]:
    """Return what reads the text of a value in JSON; that of a TIMESTAMP is its ``value``."""
    match kind:
        case kinds.BytesType():
            return _read_bytes
        case kinds.FloatType(bits):
            return read_float if bits == 32 else read_double
        case kinds.EnumType() | kinds.SetType():
            return partial(_read_element, end=_element_end(kind))
        case kinds.VectorType():
            return _read_vector
        case kinds.TextType() | kinds.UnknownType():
            return str
        case _:
            return reader(kind)


def _read_bytes(text: str) -> Value:
    return read_base64(text, 0, "simple: binary values")


def _read_element(text: str, end: int) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r:.40} is not a number of an element")
    return _within(int(text), 0, end)


def _element_end(kind: kinds.EnumType | kinds.SetType) -> int:
    """Return what the index of an ENUM, or the mask of a SET, is below."""
    labels = len(kind.labels or ())
    if isinstance(kind, kinds.EnumType):
        return (labels or _MAX_INDEX) + 1
    return 1 << (labels or _MAX_LABELS_OF_SET)


def _read_vector(text: str) -> Value:
    if not is_vector_text(text):
        raise ValueError(f"{text!r:.40} is not the text of a vector")
    return read_vector(text)


def _within(number: int, low: int, end: int) -> int:
    if not low <= number < end:
        raise ValueError(f"{number} is not within {low} to {end - 1}")
    return number


def _of_branch(kind: kinds.Type, branch: Branch) -> Value:
    """Return the value of a branch. Raises: ValueError for another branch than the kind's."""
    index, value = branch.index, branch.value
    match kind, index:
        case (kinds.IntType(64, True), 7):
            return value[0] % UINT64_END
        case (kinds.IntType(bits, unsigned), 1) if not (unsigned and bits == 64):
            return _within(value, *integer_range(kinds.IntType(bits, unsigned)))
        case (kinds.YearType(), 1):
            return reader(kind)(str(value))
        case (kinds.FloatType(32), 2) | (kinds.FloatType(64), 3):
            if not math.isfinite(value):
                raise ValueError(f"{value} is not a number")
            return value
        case (kinds.BitType(), 1):
            return _within(value % UINT64_END, *integer_range(kind))
        case (kinds.EnumType(), 1):
            return _within(value, 0, _element_end(kind))
        case (kinds.SetType(), 1):
            return _within(value % UINT64_END, 0, _element_end(kind))
        case (kinds.BytesType(), 5) | (kinds.TextType() | kinds.UnknownType(), 4):
            return value
        case (
            kinds.DecimalType()
            | kinds.DateType()
            | kinds.DatetimeType()
            | kinds.TimeType()
            | kinds.JsonType()
            | kinds.VectorType()
            | kinds.BitType(),
            4,
        ):
            if isinstance(value, bytes):
                raise ValueError("the string is not UTF-8")
            return text_reader(kind)(value)
        case _:
            raise ValueError(f"branch {index} of the union is not one of {kind_text(kind):.80}")


def as_sent(column: Column, value: CellValue) -> Column:
    """Return the column of a value: a TIMESTAMP is in the zone that is sent with it."""
    if isinstance(value, Timestamp) and isinstance(column.type, kinds.TimestampType):
        return replace(column, type=replace(column.type, zone=value.location or None))
    return column


def write_value(column: Column, value: Value, settings: Settings) -> CellValue:
    """Return the wire's value. Raises: EncodeError."""
    if value is None:
        return None
    kind = column.type
    clause = value_clause(kind)
    if value is UNAVAILABLE:
        raise EncodeError("an unavailable value has no form here", clause)
    try:
        found = _written(kind, value, settings)
    except ValueError as error:
        raise EncodeError(str(error), clause) from error
    if found is None:
        problem = f"{value!r:.80} is not a value of kind {kind_text(kind):.80} here"
        raise EncodeError(problem, clause)
    return found


def _written(kind: kinds.Type, value: Value, settings: Settings) -> CellValue:
    is_avro = settings.encoding_format == "avro"
    match kind:
        case kinds.TimestampType():
            zone = settings.time_zone or kind.zone
            text = temporal_text(kind, value, zone)
            if text is None:
                return None
            reader(replace(kind, form="text"))(text)
            return Timestamp(zone or "", text)
        case kinds.BytesType():
            if not isinstance(value, bytes):
                return None
            return Branch(BYTES, value) if is_avro else write_base64(value)
        case kinds.TextType():
            return _written_text(value, is_avro=is_avro)
        case kinds.FloatType(bits):
            if not isinstance(value, float):
                return None
            text = float_text(value, bits)
            return Branch(FLOAT if bits == 32 else DOUBLE, value) if is_avro else text
        case kinds.EnumType() | kinds.SetType():
            number = _element(kind, value)
            if number is None:
                return None
            return _long(number) if is_avro else str(number)
        case kinds.VectorType():
            vector = _vector(value)
            return Branch(STRING, vector) if is_avro and vector is not None else vector
        case kinds.UnknownType():
            return None
        case _:
            as_text = replace(kind, form="text") if isinstance(kind, _TEMPORAL) else kind
            converted: Any = value
            if isinstance(kind, _TEMPORAL):
                converted = temporal_text(kind, value, None)
            text = value_text(as_text, converted)
            return _branch_of_text(kind, text, settings) if is_avro else text


def _written_text(value: Value, *, is_avro: bool) -> CellValue:
    if not isinstance(value, (str, bytes)):
        return None
    if is_avro:
        return Branch(STRING, value)
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def _branch_of_text(kind: kinds.Type, text: str, settings: Settings) -> Branch:
    """Return the branch of a value whose text in JSON is known."""
    match kind:
        case kinds.IntType(64, True):
            return Branch(UNSIGNED, (_wrapped(int(text)),))
        case kinds.IntType() | kinds.YearType() | kinds.BoolType():
            return Branch(LONG, int(text))
        case kinds.BitType() if settings.dialect == "tiflow":
            return _long(int(text))
        case _:
            return Branch(STRING, text)


def _long(number: int) -> Branch:
    return Branch(LONG, _wrapped(number))


def _wrapped(number: int) -> int:
    return number - UINT64_END if number >= INT64_END else number


def _element(kind: kinds.EnumType | kinds.SetType, value: Value) -> int | None:
    if isinstance(kind, kinds.EnumType):
        number = index_of_label(kind, value)
    else:
        number = mask_of_labels(kind, value)
    return None if number is None or not 0 <= number < _element_end(kind) else number


def _vector(value: Value) -> str | None:
    if not isinstance(value, tuple):
        return None
    for item in value:
        if not isinstance(item, float) or not math.isfinite(item) or narrow_float32(item) != item:
            raise ValueError("a vector holds finite 32-bit floats only")
    return vector_text(value)
