"""Blob messages as values: the six StreamX types, their JSON values, and the kinds of the model.

Numbers are read from their digits, so that a LONG keeps all 64 bits. A kind that has no StreamX
type travels as STRING, in its text. Source: datahub-blob, "long values" and the clauses next to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.json_strings import read_base64
from cdcwire.core.limits import INT64_END, INT64_START
from cdcwire.core.strict_json import JsonValue, Number, json_kind
from cdcwire.datahub.fields import is_unicode
from cdcwire.model import kinds
from cdcwire.model.floats import is_float32
from cdcwire.model.instants import INFINITIES, UTC, instant_count, utc_text
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Column, Value
from cdcwire.model.temporal import temporal_text
from cdcwire.mysql.values import vector_text

StreamXType: TypeAlias = Literal["BOOLEAN", "DOUBLE", "DATE", "BYTES", "LONG", "STRING"]
BlobValue: TypeAlias = "bool | int | float | str | bytes | None"

STREAMX_TYPES: tuple[StreamXType, ...] = get_args(StreamXType)
CLAUSES: Mapping[str, str] = MappingProxyType(
    {name: f"datahub-blob: {name.lower()} values" for name in STREAMX_TYPES}
)
CLAUSE_KINDS = "datahub-blob: other kinds"
CLAUSE_LIMITS = "datahub-blob: limits"

_INT64_DIGITS = 19
MAX_NUMBER = 1024
_MAX_BITS = 4096  # a number of more bits has no text here
_MS_DIGITS = 3

_KINDS: Mapping[str, kinds.Type] = MappingProxyType(
    {
        "BOOLEAN": kinds.BoolType(),
        "DOUBLE": kinds.FloatType(64),
        "DATE": kinds.TimestampType(form="ms", zone=UTC),
        "BYTES": kinds.BytesType(),
        "LONG": kinds.IntType(64),
        "STRING": kinds.TextType(),
    }
)


def streamx_type(name: str) -> StreamXType | None:
    """Return the type of this name; None if there is none."""
    return cast(StreamXType, name) if name in _KINDS else None


def kind_of(type_: StreamXType) -> kinds.Type:
    """Return the model's kind of a type. A DATE counts milliseconds in UTC."""
    return _KINDS[type_]


# ---- reading ---------------------------------------------------------------------------------


def read_value(type_: StreamXType, value: JsonValue, start: int, date_digits: int = 0) -> BlobValue:
    """Return the value of a column; None is NULL for every type.

    ``date_digits``: how many digits a DATE must have; 0 is any number. Raises: DecodeError.
    """
    if value is None:
        return None
    clause = CLAUSES[type_]
    match type_, value:
        case "BOOLEAN", bool():
            return value
        case "STRING", str():
            return value
        case "LONG", Number():
            return _integer(value, start, clause)
        case "DATE", Number():
            count = _integer(value, start, clause)
            if date_digits and (value.digits != date_digits or count < 0):
                problem = f"a DATE of {value.digits} digits; {date_digits} are asked for"
                raise DecodeError(problem, start, clause)
            return count
        case "DOUBLE", Number(text):
            if len(text) > MAX_NUMBER:
                raise DecodeError("a number of over 1,024 characters", start, CLAUSE_LIMITS)
            found = float(text)
            if math.isinf(found):
                raise DecodeError(f"{text:.40} is too large for a DOUBLE", start, clause)
            return found
        case "BYTES", str():
            return read_base64(value, start, clause)
        case _:
            raise DecodeError(f"{json_kind(value)} is not a valid {type_}", start, clause)


def _integer(number: Number, start: int, clause: str) -> int:
    if not number.is_integer:
        problem = f"{number.text:.40} has a fraction or an exponent"
        raise DecodeError(problem, start, clause)
    value = int(number.text) if number.digits <= _INT64_DIGITS else INT64_END
    if not INT64_START <= value < INT64_END:
        raise DecodeError(f"{number.text:.40} is not within 64 bits", start, clause)
    return value


# ---- writing ---------------------------------------------------------------------------------


def check_value(type_: StreamXType, value: BlobValue) -> None:
    """Raise EncodeError for a value that does not fit a type. None is NULL."""
    if value is None:
        return
    is_int = isinstance(value, int) and not isinstance(value, bool)
    is_right = {
        "BOOLEAN": isinstance(value, bool),
        "LONG": is_int and INT64_START <= cast(int, value) < INT64_END,
        "DATE": is_int and INT64_START <= cast(int, value) < INT64_END,
        "DOUBLE": isinstance(value, float) and math.isfinite(value),
        "BYTES": isinstance(value, bytes),
        "STRING": isinstance(value, str) and is_unicode(value),
    }
    if not is_right[type_]:
        raise EncodeError(f"{value!r:.60} is not a valid {type_}", CLAUSES[type_])


def type_of(kind: kinds.Type) -> StreamXType | None:
    """Return the type that carries a kind; None if none does."""
    match kind:
        case kinds.BoolType():
            return "BOOLEAN"
        case kinds.IntType(bits, unsigned):
            return "STRING" if unsigned and bits == 64 else "LONG"
        case kinds.YearType():
            return "LONG"
        case kinds.BitType(length):
            return "LONG" if length is not None and length < 64 else "STRING"
        case kinds.FloatType():
            return "DOUBLE"
        case kinds.BytesType():
            return "BYTES"
        case kinds.TimestampType() if _is_date(kind):
            return "DATE"
        case (
            kinds.TextType()
            | kinds.DecimalType()
            | kinds.DateType()
            | kinds.TimeType()
            | kinds.DatetimeType()
            | kinds.TimestampType()
            | kinds.IntervalType()
            | kinds.EnumType()
            | kinds.SetType()
            | kinds.JsonType()
            | kinds.VectorType()
        ):
            return "STRING"
        case _:
            return None


def _is_date(kind: kinds.TimestampType) -> bool:
    """Return whether a DATE holds every value: the zone is known, and no digit is finer than ms."""
    if kind.zone is None:
        return False
    return kind.form == "ms" or (kind.fraction is not None and kind.fraction <= _MS_DIGITS)


def to_blob(column: Column, value: Value) -> BlobValue:
    """Return the value in the form of its column's type. Raises: EncodeError."""
    type_ = type_of(column.type)
    if type_ is None:
        problem = f"there is no type for {kind_text(column.type):.60}"
        raise EncodeError(problem, CLAUSE_KINDS)
    if value is None:
        return None
    if value is UNAVAILABLE:
        raise EncodeError("an unavailable value has no form here", CLAUSE_KINDS)
    found: BlobValue = value
    if type_ == "STRING" and not isinstance(column.type, kinds.TextType):
        found = text_of(column.type, value)
    elif type_ == "DATE":
        found = _milliseconds(cast(kinds.TimestampType, column.type), value)
    elif isinstance(column.type, kinds.FloatType) and isinstance(value, float):
        if column.type.bits == 32 and not is_float32(value):
            raise EncodeError(f"{value!r} is not a 32-bit float", CLAUSES["DOUBLE"])
    elif isinstance(column.type, (kinds.IntType, kinds.BitType)):
        _check_range(column.type, value)
    check_value(type_, found)
    return found


def _check_range(kind: kinds.IntType | kinds.BitType, value: Value) -> None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if isinstance(kind, kinds.BitType):
        length = 64 if kind.length is None else min(kind.length, _MAX_BITS)
        low, high = 0, 1 << length
    elif kind.unsigned:
        low, high = 0, 1 << kind.bits
    else:
        low, high = -1 << kind.bits - 1, 1 << kind.bits - 1
    if not is_number or not low <= value < high:
        raise EncodeError(f"{value!r:.60} is not a valid {kind_text(kind)}", CLAUSES["LONG"])


def text_of(kind: kinds.Type, value: Value) -> str:
    """Return the text of a kind that has no StreamX type. Raises: EncodeError."""
    try:
        text = _text(kind, value)
    except ValueError as error:
        raise EncodeError(str(error), CLAUSE_KINDS) from error
    if text is None:
        raise EncodeError(f"{value!r:.60} is not a valid {kind_text(kind):.60}", CLAUSE_KINDS)
    return text


def _text(kind: kinds.Type, value: Value) -> str | None:
    is_int = isinstance(value, int) and not isinstance(value, bool)
    match kind:
        case kinds.IntType() | kinds.BitType():
            if is_int:
                _check_range(kind, value)
                return str(value)
        case kinds.DecimalType() if isinstance(value, Decimal):
            if value.is_finite() and abs(value.adjusted()) > MAX_NUMBER:
                raise ValueError("a DECIMAL of over 1,024 digits")
            return f"{value:f}"
        case kinds.TimestampType() if kind.zone is not None:
            text = utc_text(kind, value)
            # Without the zone, the text would not say which instant it is; an infinity has none.
            return text if text in INFINITIES else text + UTC
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return temporal_text(kind, value, None)
        case kinds.EnumType() | kinds.SetType():
            return _label(kind, value)
        case kinds.VectorType() if isinstance(value, tuple):
            if not all(isinstance(item, float) and is_float32(item) for item in value):
                raise ValueError("a vector holds 32-bit floats only")
            return vector_text(value)
        case kinds.IntervalType() if is_int:
            return str(value)
        case kinds.DecimalType() | kinds.IntervalType() | kinds.JsonType():
            return value if isinstance(value, str) else None
        case _:
            pass
    return None


def _label(kind: kinds.EnumType | kinds.SetType, value: Value) -> str | None:
    """Return the label of an ENUM or SET, its number where the labels are not known."""
    if isinstance(value, str):
        return value
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    if kind.labels is None:
        return str(value)
    if isinstance(kind, kinds.EnumType):
        if value > len(kind.labels):
            raise ValueError(f"ENUM index {value} is beyond the labels")
        return kind.labels[value - 1] if value else ""
    if value >> len(kind.labels):
        raise ValueError(f"SET mask {value} is beyond the labels")
    return ",".join(label for bit, label in enumerate(kind.labels) if value >> bit & 1)


def _milliseconds(kind: kinds.TimestampType, value: Value) -> int:
    try:
        return instant_count(kind, value, "ms")
    except ValueError as error:
        raise EncodeError(str(error), CLAUSES["DATE"]) from error


# Names and values in the order of the text. A name that is missing is not NULL: it was not sent.
Cells: TypeAlias = "tuple[tuple[str, BlobValue], ...]"

DEFAULT_VERSION = "0.0.1"


class BlobColumn(NamedTuple):
    """A column that the message declares."""

    name: str
    type: StreamXType


@dataclass(frozen=True, slots=True)
class Source:
    """Where a change comes from. None is a missing member."""

    db_name: str | None = None
    db_type: str | None = None
    db_version: str | None = None
    schema_name: str | None = None
    table_name: str | None = None


@dataclass(frozen=True, slots=True)
class Ddl:
    """A statement, and the serialised Java object of it, which nothing here opens."""

    text: str
    meta: bytes | None = None


@dataclass(frozen=True, slots=True)
class BlobMessage:
    """One message. ``sequence_id``: digits as written; times are milliseconds since 1970."""

    op: str
    event_time: int
    sequence_id: str | None = None
    columns: tuple[BlobColumn, ...] | None = None
    source: Source | None = None
    primary_key: tuple[str, ...] | None = None
    before: Cells | None = None
    after: Cells | None = None
    ddl: Ddl | None = None
    system_time: int | None = None
    checkpoint_time: int | None = None
    version: str = DEFAULT_VERSION
