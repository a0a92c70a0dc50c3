"""The kind in the model that a column of PostgreSQL has to have in a message."""

from __future__ import annotations

from cdcwire.model import kinds
from cdcwire.model.kinds import Column
from cdcwire_evidence.debezium.expected import Modes, declared_as

_UTC = "+00:00"
_PLAIN: dict[str, kinds.Type] = {
    "boolean": kinds.BoolType(),
    "smallint": kinds.IntType(16),
    "integer": kinds.IntType(32),
    "bigint": kinds.IntType(64),
    "oid": kinds.IntType(64),
    "real": kinds.FloatType(32),
    "double precision": kinds.FloatType(64),
    "json": kinds.JsonType(),
    "jsonb": kinds.JsonType(),
    "mood": kinds.EnumType(("sad", "ok", "hap", "py"), "label"),  # a comma in a label is ambiguous
    "timetz": kinds.TimeType(form="text", zone=_UTC),
    "timestamptz": kinds.TimestampType(form="text", zone=_UTC),
}
_ISO: dict[str, kinds.Type] = {
    "date": kinds.DateType(),
    "time": kinds.TimeType(),
    "timestamp": kinds.DatetimeType(),
}
_POINT = kinds.StructType(
    (
        Column("x", kinds.FloatType(64), "double", False),
        Column("y", kinds.FloatType(64), "double", False),
        Column("wkb", kinds.BytesType(), "bytes", True),
        Column("srid", kinds.IntType(32), "int32", True),
    )
)


def expected_kind(declared: str, modes: Modes) -> kinds.Type:
    """Return the kind of a column that was declared so."""
    if declared.endswith("[]"):
        return kinds.ArrayType(expected_kind(declared[:-2], modes))
    base, numbers = declared_as(declared)
    if modes.times == "isostring" and base in _ISO:
        return _ISO[base]
    if base in _PLAIN:
        return _PLAIN[base]
    match base:
        case "numeric" | "price" | "money":
            return _decimal(base, numbers, modes)
        case "bytea":
            return kinds.BytesType() if modes.binary == "bytes" else kinds.TextType()
        case "date":
            return kinds.DateType("d")
        case "time":
            return kinds.TimeType(form=_form(numbers, modes))
        case "timestamp":
            is_exact = modes.times == "adaptive_time_microseconds"
            adaptive = Modes(times="adaptive") if is_exact else modes
            return kinds.DatetimeType(form=_form(numbers, adaptive))
        case "interval":
            return kinds.IntervalType("us" if modes.intervals == "numeric" else "text")
        case "bit" if numbers == (1,):
            return kinds.BoolType()
        case "bit" | "varbit":
            return kinds.BitType(numbers[0])
        case "point":
            return _POINT
        case "hstore":
            return (
                kinds.MapType(kinds.TextType(), kinds.TextType())
                if modes.hstore == "map"
                else kinds.JsonType()
            )
        case _:
            return kinds.TextType()


def _decimal(base: str, numbers: tuple[int, ...], modes: Modes) -> kinds.Type:
    if modes.decimals == "string":
        return kinds.TextType()
    if modes.decimals == "double":
        return kinds.FloatType(64)
    if base == "price":
        return kinds.DecimalType(12, 3)
    if base == "money":
        return kinds.DecimalType(None, 2)
    if not numbers:
        return kinds.DecimalType()
    precision, scale = numbers
    return kinds.DecimalType(precision, scale if scale >= 0 else 2048 + scale)


def _form(numbers: tuple[int, ...], modes: Modes) -> kinds.TemporalForm:
    is_short = bool(numbers) and numbers[0] <= 3
    if modes.times == "connect" or (modes.times == "adaptive" and is_short):
        return "ms"
    return "ns" if modes.times == "nanoseconds" else "us"
