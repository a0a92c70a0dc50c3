"""What PostgreSQL's tables hold, in the types by which Debezium and CDL describe them.

Both follow Kafka Connect: a type, and a logical name where it means more. What a column is when it
comes back depends on the settings of the producer, so that these families describe columns as they
are; what they tell comes back as it is under the default settings.
"""

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
    TextType,
    TimestampType,
    TimeType,
    Type,
)
from cdcwire_generators.families.family import ColumnType, Family, SchemaChangeType

_CONNECT = "org.apache.kafka.connect.data."
_TIME = "io.debezium.time."
_DATA = "io.debezium.data."
_UTC = "+00:00"
_LABELS = ("a", "b", "it's", 'quote"', "back\\slash", "é", "c c", "NULL")
_POINT = StructType(
    (
        Column("x", FloatType(64), "double", False),
        Column("y", FloatType(64), "double", False),
        Column("wkb", BytesType(), "bytes", True),
        Column("srid", IntType(32), "int32", True),
    )
)

# Simplest first: a failing example shrinks towards the front.
_SHARED: tuple[tuple[str, Type], ...] = (
    ("int32", IntType(32)),
    ("string", TextType()),
    ("int64", IntType(64)),
    ("int16", IntType(16)),
    ("boolean", BoolType()),
    ("float", FloatType(32)),
    ("double", FloatType(64)),
    ("bytes", BytesType()),
    (f"{_DATA}Uuid", TextType()),
    (f"{_DATA}Json", JsonType()),
    (f"{_DATA}Bits", BitType(10)),
    (f"{_TIME}ZonedTimestamp", TimestampType(form="text", zone=_UTC)),
    ("array", ArrayType(IntType(32))),
    ("array", ArrayType(TextType())),
)
_OF_DEBEZIUM: tuple[tuple[str, Type], ...] = (
    (f"{_CONNECT}Decimal", DecimalType(10, 4)),
    (f"{_CONNECT}Decimal", DecimalType(38, 0)),
    (f"{_DATA}VariableScaleDecimal", DecimalType()),
    (f"{_TIME}Date", DateType("d")),
    (f"{_TIME}Time", TimeType(form="ms")),
    (f"{_TIME}MicroTime", TimeType(form="us")),
    (f"{_TIME}Timestamp", DatetimeType(form="ms")),
    (f"{_TIME}MicroTimestamp", DatetimeType(form="us")),
    (f"{_TIME}ZonedTime", TimeType(form="text", zone=_UTC)),
    (f"{_TIME}IsoDate", DateType()),
    (f"{_TIME}IsoTime", TimeType()),
    (f"{_TIME}IsoTimestamp", DatetimeType()),
    (f"{_TIME}MicroDuration", IntervalType("us")),
    (f"{_TIME}Interval", IntervalType("text")),
    (f"{_DATA}Bits", BitType(64)),
    (f"{_DATA}Enum", EnumType(_LABELS, "label")),
    (f"{_DATA}Xml", TextType()),
    (f"{_DATA}geometry.Point", _POINT),
    ("map", MapType(TextType(), TextType())),
)
_OF_CDL: tuple[tuple[str, Type], ...] = (
    ("com.xxx.cdc.data.Decimal", DecimalType()),
    (f"{_CONNECT}Date", DateType("d")),
    (f"{_CONNECT}Time", TimeType(form="ms")),
    (f"{_CONNECT}Timestamp", DatetimeType(form="ms")),
)
_NO_KEY = (FloatType, JsonType, ArrayType, MapType, StructType)
_TRUNCATE = SchemaChangeType(11, "truncate", "TRUNCATE TABLE {schema}.{table}")


def _as_it_is(column: Column, clause: str, time_zone: str | None) -> Column:
    return column


def _family(name: str, types: tuple[tuple[str, Type], ...]) -> Family:
    return Family(
        name=name,
        column_types=tuple(
            ColumnType(source, kind, not isinstance(kind, _NO_KEY)) for source, kind in types
        ),
        # Of all DDL it is the only one that is told.
        schema_changes=(_TRUNCATE,),
        as_read=_as_it_is,
        has_iso_times=True,
    )


POSTGRESQL = _family("postgresql", (*_SHARED, *_OF_DEBEZIUM))

# The same in CDL's own types, which keep milliseconds.
CDL = _family("postgresql by cdl", (*_SHARED, *_OF_CDL))
