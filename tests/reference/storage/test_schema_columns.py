"""Columns of schema files by type, from declarations and back to kinds."""

from __future__ import annotations

from decimal import Decimal

import pytest

from cdcwire.core.errors import EncodeError
from cdcwire.core.strict_json import Number
from cdcwire.model.events import Expression
from cdcwire.model.kinds import (
    ABSENT,
    BitType,
    BoolType,
    BytesType,
    Column,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntervalType,
    IntType,
    JsonType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    Value,
    VectorType,
    YearType,
)
from cdcwire.storage.schema_columns import SchemaColumn, column_of, schema_column_of

# declared type, ColumnType, ColumnPrecision, ColumnScale, kind
TYPES: list[tuple[str, str, str | None, str | None, Type]] = [
    ("tinyint", "TINYINT", "4", None, IntType(8)),
    ("smallint", "SMALLINT", "6", None, IntType(16)),
    ("mediumint", "MEDIUMINT", "9", None, IntType(24)),
    ("int", "INT", "11", None, IntType(32)),
    ("bigint", "BIGINT", "20", None, IntType(64)),
    ("tinyint unsigned", "TINYINT UNSIGNED", "3", None, IntType(8, True)),
    ("smallint unsigned", "SMALLINT UNSIGNED", "5", None, IntType(16, True)),
    ("mediumint unsigned", "MEDIUMINT UNSIGNED", "8", None, IntType(24, True)),
    ("int unsigned", "INT UNSIGNED", "10", None, IntType(32, True)),
    ("bigint unsigned", "BIGINT UNSIGNED", "20", None, IntType(64, True)),
    ("int(8) unsigned zerofill", "INT UNSIGNED", "8", None, IntType(32, True)),
    ("boolean", "TINYINT", "1", None, IntType(8)),
    ("bit", "BIT UNSIGNED", "1", None, BitType(1)),
    ("bit(64)", "BIT UNSIGNED", "64", None, BitType(64)),
    ("year", "YEAR UNSIGNED", "4", None, YearType()),
    ("float", "FLOAT", "12", None, FloatType(32)),
    ("double", "DOUBLE", "22", None, FloatType(64)),
    ("float(7,3)", "FLOAT", "7", "3", FloatType(32)),
    ("float(10,0)", "FLOAT", "10", None, FloatType(32)),
    ("double(10,2) unsigned", "DOUBLE UNSIGNED", "10", "2", FloatType(64)),
    ("decimal", "DECIMAL", "10", "0", DecimalType(10, 0)),
    ("numeric(12,4)", "DECIMAL", "12", "4", DecimalType(12, 4)),
    ("decimal(6) unsigned", "DECIMAL UNSIGNED", "6", "0", DecimalType(6, 0)),
    ("date", "DATE", None, None, DateType()),
    ("time", "TIME", None, None, TimeType(0)),
    ("time(3)", "TIME", None, "3", TimeType(3)),
    ("datetime(0)", "DATETIME", None, None, DatetimeType(0)),
    ("datetime(6)", "DATETIME", None, "6", DatetimeType(6)),
    ("timestamp(2)", "TIMESTAMP", None, "2", TimestampType(2)),
    ("char", "CHAR", "1", None, TextType(1)),
    ("varchar(64)", "VARCHAR", "64", None, TextType(64)),
    ("binary(16)", "BINARY", "16", None, BytesType(16)),
    ("varbinary(16)", "VARBINARY", "16", None, BytesType(16)),
    ("tinytext", "TINYTEXT", "255", None, TextType()),
    ("text", "TEXT", "65535", None, TextType()),
    ("mediumtext", "MEDIUMTEXT", "16777215", None, TextType()),
    ("longtext", "LONGTEXT", "4294967295", None, TextType()),
    ("tinyblob", "TINYBLOB", "255", None, BytesType()),
    ("blob", "BLOB", "65535", None, BytesType()),
    ("mediumblob", "MEDIUMBLOB", "16777215", None, BytesType()),
    ("longblob", "LONGBLOB", "4294967295", None, BytesType()),
    ("json", "JSON", None, None, JsonType()),
    ("enum('a','b')", "ENUM", None, None, EnumType()),
    ("set('a','b')", "SET", None, None, SetType()),
    ("vector(3)", "VECTOR", None, None, VectorType()),
]


@pytest.mark.parametrize(("source", "name", "precision", "scale", "kind"), TYPES)
def test_column_of_every_type_is_written_and_read(
    source: str, name: str, precision: str | None, scale: str | None, kind: Type
) -> None:
    labelled: Type = kind
    if isinstance(kind, (EnumType, SetType)):
        labelled = type(kind)(("a", "b"))
    written = schema_column_of(Column("c", labelled, source, True))
    assert written == SchemaColumn("c", name, None, precision, scale)
    read = column_of(written)
    assert read.type == kind
    assert schema_column_of(read) == written


@pytest.mark.parametrize("name", ["BIT", "BIT UNSIGNED", "YEAR", "YEAR UNSIGNED"])
def test_column_bit_and_year_read_with_and_without_the_sign(name: str) -> None:
    kind = column_of(SchemaColumn("c", name, precision="4")).type
    assert kind == (BitType(4) if name.startswith("BIT") else YearType())


def test_column_type_null_is_binary_without_precision() -> None:
    written = schema_column_of(Column("c", UnknownType(), "null", True))
    assert written == SchemaColumn("c", "BINARY")


def test_column_type_not_known_is_kept_by_name() -> None:
    read = column_of(SchemaColumn("c", "FUTURE TYPE", precision="3"))
    assert (read.type, read.source) == (UnknownType(), "FUTURE TYPE")


def test_column_timestamp_gets_the_callers_zone() -> None:
    assert column_of(SchemaColumn("c", "TIMESTAMP"), "+01:00").type == TimestampType(
        0, zone="+01:00"
    )


def test_column_primary_key_is_not_null_by_default() -> None:
    key = schema_column_of(Column("c", IntType(32), roles=frozenset({"primary", "handle"})))
    assert (key.is_primary_key, key.is_nullable) == (True, False)
    read = column_of(key)
    assert read.roles == {"primary", "handle"}
    assert read.nullable is False
    assert schema_column_of(Column("c", IntType(32))).is_nullable


@pytest.mark.parametrize(
    ("kind", "value", "default"),
    [
        (IntType(32), ABSENT, None),
        (IntType(32), None, None),
        (IntType(32), 10, "10"),
        (IntType(32), "10", "10"),
        (TextType(), "", ""),
        (BoolType(), True, "1"),
        (DecimalType(6, 3), Decimal("1.500"), "1.500"),
        (DatetimeType(), Expression("CURRENT_TIMESTAMP"), "CURRENT_TIMESTAMP"),
        (BitType(8), 255, "\udcff"),
        (BitType(9), 1, "\0\x01"),
        (BytesType(2), b"a\xff", "a\udcff"),
        (TextType(), b"\xc3\xa9\x80", "é\udcff"),
    ],
)
def test_column_default_is_text(kind: Type, value: Value, default: str | None) -> None:
    assert schema_column_of(Column("c", kind, default=value)).default == default


def test_column_default_number_stays_a_number_where_the_kind_is_one() -> None:
    assert column_of(SchemaColumn("c", "INT", Number("10"), "11")).default == 10
    assert column_of(SchemaColumn("c", "DATETIME", Number("12345678"))).default == "12345678"
    assert column_of(SchemaColumn("c", "INT", Number("1" * 5000), "11")).default == "1" * 5000
    assert column_of(SchemaColumn("c", "INT", "10", "11")).default == "10"


@pytest.mark.parametrize(
    "column", [Column("c", IntervalType()), Column("c", BitType(4), default=256)]
)
def test_column_that_mysql_cannot_have_is_refused(column: Column) -> None:
    with pytest.raises(EncodeError) as caught:
        schema_column_of(column)
    assert caught.value.clause == "storage: schema columns"
