"""The kind in the model that a column of PostgreSQL has to have in a message."""

from __future__ import annotations

from cdcwire.model.events import Column
from cdcwire.model.kinds import (
    ArrayType,
    BitType,
    BoolType,
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntervalType,
    IntType,
    JsonType,
    MapType,
    StructType,
    TemporalForm,
    TextType,
    TimestampType,
    TimeType,
    Type,
)
from cdcwire_evidence.debezium.expected import Modes, declared_as

_UTC = "+00:00"
_PLAIN: dict[str, Type] = {
    "boolean": BoolType(),
    "smallint": IntType(16),
    "integer": IntType(32),
    "bigint": IntType(64),
    "oid": IntType(64),
    "real": FloatType(32),
    "double precision": FloatType(64),
    "json": JsonType(),
    "jsonb": JsonType(),
    "mood": EnumType(("sad", "ok", "hap", "py"), "label"),  # a comma in a label can't be told
    "timetz": TimeType(form="text", zone=_UTC),
    "timestamptz": TimestampType(form="text", zone=_UTC),
}
_ISO: dict[str, Type] = {"date": DateType(), "time": TimeType(), "timestamp": DatetimeType()}
_POINT = StructType(
    (
        Column("x", FloatType(64), "double", False),
        Column("y", FloatType(64), "double", False),
        Column("wkb", BytesType(), "bytes", True),
        Column("srid", IntType(32), "int32", True),
    )
)


def expected_kind(declared: str, modes: Modes) -> Type:
    """Return the kind of a column that was declared so."""
    if declared.endswith("[]"):
        return ArrayType(expected_kind(declared[:-2], modes))
    base, numbers = declared_as(declared)
    if modes.times == "isostring" and base in _ISO:
        return _ISO[base]
    if base in _PLAIN:
        return _PLAIN[base]
    match base:
        case "numeric" | "price" | "money":
            return _decimal(base, numbers, modes)
        case "bytea":
            return BytesType() if modes.binary == "bytes" else TextType()
        case "date":
            return DateType("d")
        case "time":
            return TimeType(form=_form(numbers, modes))
        case "timestamp":
            is_exact = modes.times == "adaptive_time_microseconds"
            adaptive = Modes(times="adaptive") if is_exact else modes
            return DatetimeType(form=_form(numbers, adaptive))
        case "interval":
            return IntervalType("us" if modes.intervals == "numeric" else "text")
        case "bit" if numbers == (1,):
            return BoolType()
        case "bit" | "varbit":
            return BitType(numbers[0])
        case "point":
            return _POINT
        case "hstore":
            return MapType(TextType(), TextType()) if modes.hstore == "map" else JsonType()
        case _:
            return TextType()


def _decimal(base: str, numbers: tuple[int, ...], modes: Modes) -> Type:
    if modes.decimals == "string":
        return TextType()
    if modes.decimals == "double":
        return FloatType(64)
    if base == "price":
        return DecimalType(12, 3)
    if base == "money":
        return DecimalType(None, 2)
    if not numbers:
        return DecimalType()
    precision, scale = numbers
    return DecimalType(precision, scale if scale >= 0 else 2048 + scale)


def _form(numbers: tuple[int, ...], modes: Modes) -> TemporalForm:
    is_short = bool(numbers) and numbers[0] <= 3
    if modes.times == "connect" or (modes.times == "adaptive" and is_short):
        return "ms"
    return "ns" if modes.times == "nanoseconds" else "us"
