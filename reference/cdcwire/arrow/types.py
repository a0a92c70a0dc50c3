"""Kinds of the neutral model as Arrow types, and where two kinds meet.

Nothing is lost on the way. Values without an Arrow type that Spark takes become text (decimals of
unknown scale or over 38 digits) or a wider number (``int64 unsigned`` is ``decimal(20,0)``). Dates
and times stay MySQL's text unless ``native`` is requested.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import pyarrow as pa

from cdcwire.model import kinds
from cdcwire.model.kinds import Column
from cdcwire.mysql.types import is_boolean_source

Temporal: TypeAlias = Literal["text", "native"]
Profile: TypeAlias = Literal["flink"]

MAX_DECIMAL_DIGITS = 38  # of Spark's decimals and of Arrow's decimal128
UNSIGNED_64 = pa.decimal128(20, 0)
UTC = "+00:00"
UTC_NAMES = frozenset({UTC, "-00:00", "UTC", "Z"})

_SIGNED = {8: pa.int8(), 16: pa.int16(), 24: pa.int32(), 32: pa.int32(), 64: pa.int64()}
_UNSIGNED = {8: pa.int16(), 16: pa.int32(), 24: pa.int32(), 32: pa.int64(), 64: UNSIGNED_64}


class SchemaError(ValueError):
    """A table can't be had in the form that was asked for. The text is one line for the user."""


def arrow_type(
    kind: kinds.Type, temporal: Temporal = "text", profile: Profile | None = None
) -> pa.DataType:
    """Return the Arrow type of a kind.

    ``profile`` "flink": the types of the Craft proposal's Flink table, dates and times native.
    Raises: SchemaError where the profile has no type for it.
    """
    if profile == "flink":
        found = _flink_type(kind)
        if found is not None:
            return found
        temporal = "native"
    match kind:
        case kinds.BoolType():
            return pa.bool_()
        case kinds.IntType(bits, unsigned):
            return (_UNSIGNED if unsigned else _SIGNED)[bits]
        case kinds.YearType():
            return pa.int32()
        case kinds.FloatType(bits):
            return pa.float32() if bits == 32 else pa.float64()
        case kinds.DecimalType(precision, scale):
            if precision is None or max(precision, abs(scale or 0)) > MAX_DECIMAL_DIGITS:
                return pa.string()
            return pa.decimal128(precision, scale or 0)
        case kinds.BytesType() | kinds.UnknownType():
            return pa.binary()
        case kinds.TextType() | kinds.JsonType():
            return pa.string()
        case kinds.BitType(length):
            if length is not None and length < 64:
                return pa.int64()
            return UNSIGNED_64 if length is None or length == 64 else pa.binary()
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return _native_type(kind) if temporal == "native" else pa.string()
        case kinds.IntervalType(form):
            return pa.int64() if form == "us" else pa.string()
        case kinds.EnumType() | kinds.SetType():
            if has_labels(kind):
                return pa.string()
            return pa.int64() if isinstance(kind, kinds.EnumType) else UNSIGNED_64
        case kinds.VectorType():
            return pa.list_(pa.float32())
        case kinds.ArrayType(item):
            return pa.list_(arrow_type(item, temporal, profile))
        case kinds.MapType(key, value):
            return pa.map_(arrow_type(key, temporal, profile), arrow_type(value, temporal, profile))
        case kinds.StructType(columns):
            return struct_type(columns, temporal, profile)


def column_arrow_type(
    column: Column, temporal: Temporal = "text", profile: Profile | None = None
) -> pa.DataType:
    """Return the Arrow type of a column. Raises: SchemaError that names the column."""
    if profile == "flink" and is_boolean_source(column.source):
        return pa.bool_()
    try:
        return arrow_type(column.type, temporal, profile)
    except SchemaError as error:
        raise SchemaError(f"column {column.name}: {error}") from None


def struct_type(
    columns: tuple[Column, ...], temporal: Temporal = "text", profile: Profile | None = None
) -> pa.DataType:
    """Return the struct of an image with these columns. Raises: SchemaError."""
    fields = [
        pa.field(column.name, column_arrow_type(column, temporal, profile)) for column in columns
    ]
    return pa.struct(fields)


def has_labels(kind: kinds.EnumType | kinds.SetType) -> bool:
    """Return whether values become labels: these are known, or nothing else was ever sent."""
    return kind.labels is not None or kind.form == "label"


def canonical_column(column: Column) -> Column:
    """Return a column as canonical tables hold it: its kind says nothing of the form on the wire.

    An instant of a known zone becomes an instant in UTC. TINYINT(1) is an integer: MySQL stores
    every number from -128 to 127 in it.
    """
    kind = canonical_kind(column.type)
    if isinstance(kind, kinds.BoolType) and (column.source or "").lower().startswith("tinyint"):
        kind = kinds.IntType(8)
    return replace(column, type=kind)


def canonical_kind(kind: kinds.Type) -> kinds.Type:
    """Return the kind that values of ``kind`` are converted to."""
    match kind:
        case kinds.DateType():
            return kinds.DateType()
        case kinds.TimeType(fraction, _, zone):
            return kinds.TimeType(fraction, zone=zone)
        case kinds.DatetimeType(fraction):
            return kinds.DatetimeType(fraction)
        case kinds.TimestampType(fraction, _, zone):
            return kinds.TimestampType(fraction, zone=None if zone is None else UTC)
        case kinds.EnumType(labels) | kinds.SetType(labels) if labels is not None:
            return type(kind)(labels)
        case kinds.ArrayType(item):
            return kinds.ArrayType(canonical_kind(item))
        case kinds.MapType(key, value):
            return kinds.MapType(canonical_kind(key), canonical_kind(value))
        case kinds.StructType(columns):
            return kinds.StructType(tuple(map(canonical_column, columns)))
        case _:
            return kind


def _native_type(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType,
) -> pa.DataType:
    match kind:
        case kinds.DateType():
            return pa.date32()
        case kinds.TimeType(zone=None):
            return pa.duration("us")  # 838:59:59 is no time of day
        case kinds.TimeType():
            return pa.string()  # no type has a time of day with its zone
        case kinds.DatetimeType():
            return pa.timestamp("us")
        case kinds.TimestampType(zone=zone):
            return pa.timestamp("us", None if zone is None else "UTC")


def _flink_type(kind: kinds.Type) -> pa.DataType | None:
    """Return where the profile differs from the native types. Source: the Craft proposal."""
    match kind:
        case kinds.TimeType():
            return pa.time64("ns")
        case kinds.DatetimeType() | kinds.TimestampType():
            return pa.timestamp("us")
        case kinds.EnumType() | kinds.SetType():
            return pa.int32()
        case kinds.DecimalType(None):
            raise SchemaError("the profile flink needs a decimal's precision and scale (--ddl)")
        case kinds.DecimalType(int(precision)) if precision > MAX_DECIMAL_DIGITS:
            raise SchemaError(f"Flink's decimals have {MAX_DECIMAL_DIGITS} digits, not {precision}")
        case _:
            return None
