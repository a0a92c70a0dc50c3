"""The types in PostgreSQL's tables, as Debezium and CDL describe them.

Both follow Kafka Connect: a type, and a logical name where it means more. The form of a column
after a round trip depends on the settings of the producer, so these families describe columns as
they are. Under the default settings the described types come back as they are.
"""

from __future__ import annotations

from cdcwire.model import kinds
from cdcwire.model.kinds import Column
from cdcwire_generators.families.family import ColumnType, Family, SchemaChangeType

_CONNECT = "org.apache.kafka.connect.data."
_TIME = "io.debezium.time."
_DATA = "io.debezium.data."
_UTC = "+00:00"
_LABELS = ("a", "b", "it's", 'quote"', "back\\slash", "é", "c c", "NULL")
_POINT = kinds.StructType(
    (
        Column("x", kinds.FloatType(64), "double", False),
        Column("y", kinds.FloatType(64), "double", False),
        Column("wkb", kinds.BytesType(), "bytes", True),
        Column("srid", kinds.IntType(32), "int32", True),
    )
)

_GEOMETRY = kinds.StructType(
    (
        Column("wkb", kinds.BytesType(), "bytes", False),
        Column("srid", kinds.IntType(32), "int32", True),
    )
)
_SPARSE = kinds.StructType(
    (
        Column("dimensions", kinds.IntType(16), "int16", False),
        Column(
            "vector",
            kinds.MapType(kinds.IntType(16), kinds.FloatType(64)),
            "map of required double",
            False,
        ),
    )
)

# Simplest first: a failing example shrinks towards the front.
_SHARED: tuple[tuple[str, kinds.Type], ...] = (
    ("int32", kinds.IntType(32)),
    ("string", kinds.TextType()),
    ("int64", kinds.IntType(64)),
    ("int16", kinds.IntType(16)),
    ("boolean", kinds.BoolType()),
    ("float", kinds.FloatType(32)),
    ("double", kinds.FloatType(64)),
    ("bytes", kinds.BytesType()),
    (f"{_DATA}Uuid", kinds.TextType()),
    (f"{_DATA}Json", kinds.JsonType()),
    (f"{_DATA}Bits", kinds.BitType(10)),
    (f"{_TIME}ZonedTimestamp", kinds.TimestampType(form="text", zone=_UTC)),
    ("array", kinds.ArrayType(kinds.IntType(32))),
    ("array", kinds.ArrayType(kinds.TextType())),
)
_OF_DEBEZIUM: tuple[tuple[str, kinds.Type], ...] = (
    (f"{_CONNECT}Decimal", kinds.DecimalType(10, 4)),
    (f"{_CONNECT}Decimal", kinds.DecimalType(38, 0)),
    (f"{_DATA}VariableScaleDecimal", kinds.DecimalType()),
    (f"{_TIME}Date", kinds.DateType("d")),
    (f"{_TIME}Time", kinds.TimeType(form="ms")),
    (f"{_TIME}MicroTime", kinds.TimeType(form="us")),
    (f"{_TIME}Timestamp", kinds.DatetimeType(form="ms")),
    (f"{_TIME}MicroTimestamp", kinds.DatetimeType(form="us")),
    (f"{_TIME}ZonedTime", kinds.TimeType(form="text", zone=_UTC)),
    (f"{_TIME}IsoDate", kinds.DateType()),
    (f"{_TIME}IsoTime", kinds.TimeType()),
    (f"{_TIME}IsoTimestamp", kinds.DatetimeType()),
    (f"{_TIME}MicroDuration", kinds.IntervalType("us")),
    (f"{_TIME}Interval", kinds.IntervalType("text")),
    (f"{_DATA}Bits", kinds.BitType(64)),
    (f"{_DATA}Enum", kinds.EnumType(_LABELS, "label")),
    (f"{_DATA}Xml", kinds.TextType()),
    (f"{_DATA}geometry.Point", _POINT),
    (f"{_DATA}geometry.Geometry", _GEOMETRY),
    (f"{_DATA}DoubleVector", kinds.ArrayType(kinds.FloatType(64))),
    (f"{_DATA}FloatVector", kinds.ArrayType(kinds.FloatType(32))),
    (f"{_DATA}SparseDoubleVector", _SPARSE),
    (f"{_DATA}Bits", kinds.BitType(2147483647)),
    (f"{_CONNECT}Decimal", kinds.DecimalType(None, 2)),
    ("map", kinds.MapType(kinds.TextType(), kinds.TextType())),
)
_OF_CDL: tuple[tuple[str, kinds.Type], ...] = (
    ("com.xxx.cdc.data.Decimal", kinds.DecimalType()),
    (f"{_CONNECT}Date", kinds.DateType("d")),
    (f"{_CONNECT}Time", kinds.TimeType(form="ms")),
    (f"{_CONNECT}Timestamp", kinds.DatetimeType(form="ms")),
)
_NO_KEY = (kinds.FloatType, kinds.JsonType, kinds.ArrayType, kinds.MapType, kinds.StructType)
_TRUNCATE = SchemaChangeType(11, "truncate", "TRUNCATE TABLE {schema}.{table}")


def _as_it_is(column: Column, clause: str, time_zone: str | None) -> Column:
    return column


def _family(name: str, types: tuple[tuple[str, kinds.Type], ...]) -> Family:
    return Family(
        name=name,
        column_types=tuple(
            ColumnType(source, kind, not isinstance(kind, _NO_KEY)) for source, kind in types
        ),
        # Producers report no other DDL.
        schema_changes=(_TRUNCATE,),
        as_read=_as_it_is,
        has_iso_times=True,
        vectors=frozenset({f"{_DATA}DoubleVector", f"{_DATA}FloatVector"}),
    )


POSTGRESQL = _family("postgresql", (*_SHARED, *_OF_DEBEZIUM))

# The same in CDL's own types, which keep milliseconds.
CDL = _family("postgresql by cdl", (*_SHARED, *_OF_CDL))
