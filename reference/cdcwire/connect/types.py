"""The logical names that a schema may have, and what each asks of its schema.

``com.xxx.cdc.data.…`` has its prefix blacked out in the only document: it is recognised by its end.
A name that is not known is kept, and the value is passed through as its base type. The structs that
Debezium's connectors make of spatial columns are here, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cdcwire.connect.schema import Field, Schema
from cdcwire.core.errors import DecodeError

CONNECT_DATE = "org.apache.kafka.connect.data.Date"
CONNECT_TIME = "org.apache.kafka.connect.data.Time"
CONNECT_TIMESTAMP = "org.apache.kafka.connect.data.Timestamp"
CONNECT_DECIMAL = "org.apache.kafka.connect.data.Decimal"

DATE = "io.debezium.time.Date"
TIME = "io.debezium.time.Time"
MICRO_TIME = "io.debezium.time.MicroTime"
NANO_TIME = "io.debezium.time.NanoTime"
TIMESTAMP = "io.debezium.time.Timestamp"
MICRO_TIMESTAMP = "io.debezium.time.MicroTimestamp"
NANO_TIMESTAMP = "io.debezium.time.NanoTimestamp"
ZONED_TIMESTAMP = "io.debezium.time.ZonedTimestamp"
ZONED_TIME = "io.debezium.time.ZonedTime"
MICRO_DURATION = "io.debezium.time.MicroDuration"
INTERVAL = "io.debezium.time.Interval"
ISO_DATE = "io.debezium.time.IsoDate"
ISO_TIME = "io.debezium.time.IsoTime"
ISO_TIMESTAMP = "io.debezium.time.IsoTimestamp"
YEAR = "io.debezium.time.Year"

ENUM = "io.debezium.data.Enum"
ENUM_SET = "io.debezium.data.EnumSet"
JSON = "io.debezium.data.Json"
FLOAT_VECTOR = "io.debezium.data.FloatVector"
TIDB_VECTOR = "io.debezium.data.TiDBVectorFloat32"  # TiCDC's: the text of a vector
OPEN_DOUBLE = "double, float or decimal"  # the source of a number that TiCDC sends for all three
BITS = "io.debezium.data.Bits"
UNLIMITED_BITS = 2147483647  # the length of a bit string without a limit
ONE_BIT = "bit(1)"  # on a boolean, where a definition says that it is a bit string
UNTOLD_TIME = "time of milliseconds or microseconds"  # where a definition does not tell which
TINY_BOOLEAN = "tinyint(1)"  # on a boolean, where a definition says that it holds any int8
UNSIGNED_64 = "int64 unsigned"  # on an int64 that a definition says to be unsigned: it wraps
DECIMAL_TEXT = "decimal"  # on the text of a decimal, where a definition says that it is one
INTEGER_TEXT = "integer as digits"  # on a text, where a definition says that it is an integer
BYTES_TEXT = "bytes as "  # with the mode, on the text of bytes, where a definition says so
# Parameters of schemas that definitions give. No message has them: JSON has no lone surrogate.
DEFINED = "\udfffdefined"  # the kind of a definition, which bounds the values
AMBIGUOUS = "\udfffambiguous"  # text of digits alone may be base64 or the number
UNTYPED = "unknown"  # on the string that a null without schema is read as
UUID_TEXT = "io.debezium.data.Uuid"
XML_TEXT = "io.debezium.data.Xml"
LTREE_TEXT = "io.debezium.data.Ltree"
VARIABLE_SCALE_DECIMAL = "io.debezium.data.VariableScaleDecimal"

# What Debezium says of them in its schemas.
DOCS: dict[str, str] = {
    VARIABLE_SCALE_DECIMAL: "Variable scaled decimal",
    "io.debezium.data.geometry.Point": "Geometry (POINT)",
    "io.debezium.data.geometry.Geometry": "Geometry",
    "io.debezium.data.geometry.Geography": "Geography",
    "io.debezium.data.SparseDoubleVector": "Sparse double vector",
}

SOURCE_NAME = "__debezium.source.column.name"  # a parameter: the column's original name
SOURCE_TYPE = "__debezium.source.column.type"  # a parameter: the column's type in the database
GEOMETRY = "io.debezium.data.geometry.Geometry"
POINT = "io.debezium.data.geometry.Point"

# The required fields of Debezium's structs, with the source of each, where a definition has none.
REQUIRED_FIELDS: dict[str, dict[str, str | None]] = {
    "io.debezium.data.geometry.Point": {"x": None, "y": None},
    "io.debezium.data.geometry.Geometry": {"wkb": None},
    "io.debezium.data.geometry.Geography": {"wkb": None},
    "io.debezium.data.SparseDoubleVector": {"dimensions": None, "vector": "map of required double"},
}

CDC_DECIMAL = ".cdc.data.Decimal"
CDC_TIMESTAMP = ".cdc.data.timestamp"

BASE_TYPES: dict[str, str] = {
    CONNECT_DATE: "int32",
    CONNECT_TIME: "int32",
    CONNECT_TIMESTAMP: "int64",
    CONNECT_DECIMAL: "bytes",
}

_CLAUSE = "connect: logical types"
_SCALE = re.compile(r"-?[0-9]{1,5}")
MAX_SCALE = 20000  # PostgreSQL stops at 16383 digits after the point
MONEY_SCALE = 2  # of PostgreSQL's money


def is_cdc_decimal(name: str | None) -> bool:
    """Return whether a schema's name is that of CDL's decimals, with any prefix."""
    return name is not None and name.endswith(CDC_DECIMAL)


def is_cdc_timestamp(name: str | None) -> bool:
    """Return whether a schema's name is that of CDL's timestamps, with any prefix."""
    return name is not None and name.endswith(CDC_TIMESTAMP)


def check_logical_name(schema: Schema, offset: int) -> None:
    """Raise DecodeError when one of Connect's own names is misplaced, or lacks its scale."""
    name = schema.name
    if name not in BASE_TYPES:
        return
    base = BASE_TYPES[name]
    if schema.type != base:
        problem = f"{name} has the type {schema.type}; expected {base}"
        raise DecodeError(problem, offset, _CLAUSE, ("name",))
    if name == CONNECT_DECIMAL and decimal_scale(schema) is None:
        problem = f"a Decimal has no parameter scale from -{MAX_SCALE} to {MAX_SCALE}"
        raise DecodeError(problem, offset, _CLAUSE, ("parameters",))


def decimal_scale(schema: Schema) -> int | None:
    """Return the scale that the parameters specify; None where they don't."""
    text = schema.parameter("scale")
    if text is None or _SCALE.fullmatch(text) is None:
        return None
    scale = int(text)
    return scale if abs(scale) <= MAX_SCALE else None


def is_variable_scale(schema: Schema) -> bool:
    """Return whether a schema is Debezium's VariableScaleDecimal: a scale and a value."""
    names = {field.name: field.schema.type for field in schema.fields}
    return schema.name == VARIABLE_SCALE_DECIMAL and names == {
        "scale": "int32",
        "value": "bytes",
    }


_OPTIONAL_BYTES = Schema("bytes", optional=True)
_SRID = Field("srid", Schema("int32", optional=True))
_FIELDS = {
    GEOMETRY: (Field("wkb", Schema("bytes")), _SRID),
    POINT: (
        Field("x", Schema("double")),
        Field("y", Schema("double")),
        Field("wkb", _OPTIONAL_BYTES),
        _SRID,
    ),
}
SPATIAL = {
    name: Schema("struct", True, name, 1, doc=DOCS[name], fields=fields)
    for name, fields in _FIELDS.items()
}
"""The schemas of spatial columns that may be NULL, by their names."""
_BY_MEMBERS = {
    frozenset(field.name for field in schema.fields): schema for schema in SPATIAL.values()
}
_BY_TYPE = {
    "point": SPATIAL[POINT],
    **dict.fromkeys(
        (
            *("geometry", "linestring", "polygon", "geometrycollection", "geomcollection"),
            *("multipoint", "multilinestring", "multipolygon"),
        ),
        SPATIAL[GEOMETRY],
    ),
}


def declared_spatial(type_name: str | None) -> Schema | None:
    """Return the schema of a column by its type in the database; None for other types."""
    return _BY_TYPE.get((type_name or "").lower())


def sent_spatial(members: Iterable[str]) -> Schema | None:
    """Return the schema of an object by the names of its members; None for other objects."""
    return _BY_MEMBERS.get(frozenset(members))
