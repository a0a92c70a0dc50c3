"""Kinds as Arrow types: the table of the page "DataFrames"."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cdcwire.arrow.types import (
    UTC,
    Profile,
    SchemaError,
    Temporal,
    arrow_type,
    canonical_column,
    canonical_kind,
    column_arrow_type,
)
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import (
    BoolType,
    Column,
    DatetimeType,
    DecimalType,
    EnumType,
    IntType,
    SetType,
    TimestampType,
    TimeType,
    Type,
)

WIDE = pa.decimal128(20, 0)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("bool", pa.bool_()),
        ("int8", pa.int8()),
        ("int16", pa.int16()),
        ("int24", pa.int32()),
        ("int32", pa.int32()),
        ("int64", pa.int64()),
        ("int8 unsigned", pa.int16()),
        ("int16 unsigned", pa.int32()),
        ("int24 unsigned", pa.int32()),
        ("int32 unsigned", pa.int64()),
        ("int64 unsigned", WIDE),
        ("float32", pa.float32()),
        ("float64", pa.float64()),
        ("decimal(6,3)", pa.decimal128(6, 3)),
        ("decimal(38,0)", pa.decimal128(38, 0)),
        ("decimal(39,0)", pa.string()),
        ("decimal(65,30)", pa.string()),
        ("decimal(5,38)", pa.decimal128(5, 38)),
        ("decimal(5,39)", pa.string()),
        ("decimal(5,-39)", pa.string()),
        ("decimal", pa.string()),
        ("text(3)", pa.string()),
        ("bytes(3)", pa.binary()),
        ("bit(1)", pa.int64()),
        ("bit(63)", pa.int64()),
        ("bit(64)", WIDE),
        ("bit", WIDE),
        ("bit(65)", pa.binary()),
        ("date", pa.string()),
        ("time(6)", pa.string()),
        ("datetime", pa.string()),
        ("timestamp(3)", pa.string()),
        ("year", pa.int32()),
        ("interval", pa.string()),
        ("enum", pa.int64()),
        ("enum(a,b)", pa.string()),
        ("set", WIDE),
        ("set(a,b)", pa.string()),
        ("json", pa.string()),
        ("vector", pa.list_(pa.float32())),
        ("array<int8 unsigned>", pa.list_(pa.int16())),
        ("map<text,decimal(4,2)>", pa.map_(pa.string(), pa.decimal128(4, 2))),
        ("struct<a:int8,b:date>", pa.struct({"a": pa.int8(), "b": pa.string()})),
        ("unknown", pa.binary()),
    ],
)
def test_kind_has_its_arrow_type(kind: str, expected: pa.DataType) -> None:
    assert arrow_type(parse_kind(kind)) == expected


@pytest.mark.parametrize(
    ("kind", "temporal", "profile", "expected"),
    [
        ("date", "native", None, pa.date32()),
        ("time", "native", None, pa.duration("us")),
        ("datetime(6)", "native", None, pa.timestamp("us")),
        ("timestamp", "native", None, pa.timestamp("us")),
        ("date", "text", "flink", pa.date32()),
        ("time", "text", "flink", pa.time64("ns")),
        ("datetime", "text", "flink", pa.timestamp("us")),
        ("timestamp", "text", "flink", pa.timestamp("us")),
        ("int24", "text", "flink", pa.int32()),
        ("year", "text", "flink", pa.int32()),
        ("enum(a)", "text", "flink", pa.int32()),
        ("set", "text", "flink", pa.int32()),
        ("json", "text", "flink", pa.string()),
        ("bytes", "text", "flink", pa.binary()),
    ],
)
def test_kind_in_other_forms_has_its_arrow_type(
    kind: str, temporal: Temporal, profile: Profile | None, expected: pa.DataType
) -> None:
    assert arrow_type(parse_kind(kind), temporal, profile) == expected


def test_instant_of_known_zone_is_native_in_utc() -> None:
    kind = TimestampType(zone="Asia/Tokyo")
    assert arrow_type(kind, "native") == pa.timestamp("us", "UTC")
    assert canonical_kind(kind) == TimestampType(zone=UTC)


def test_label_form_without_labels_is_text() -> None:
    assert arrow_type(EnumType(form="label")) == pa.string()
    assert arrow_type(SetType(form="label")) == pa.string()


@pytest.mark.parametrize("source", ["boolean", "bool", "tinyint(1)", "TINYINT(1)"])
def test_boolean_column_is_boolean_in_the_flink_profile(source: str) -> None:
    column = Column("c26", IntType(8), source)
    assert column_arrow_type(column, profile="flink") == pa.bool_()
    assert column_arrow_type(column) == pa.int8()


@pytest.mark.parametrize("kind", [DecimalType(), DecimalType(39, 2)])
def test_flink_profile_refuses_decimals_that_flink_lacks(kind: Type) -> None:
    with pytest.raises(SchemaError, match=r"^column c20: "):
        column_arrow_type(Column("c20", kind), profile="flink")


def test_tinyint_1_is_an_integer_and_a_boolean_of_other_databases_is_none() -> None:
    assert canonical_column(Column("c26", BoolType(), "tinyint(1)")).type == IntType(8)
    assert canonical_column(Column("c26", BoolType(), "BOOLEAN")).type == BoolType()


def test_canonical_kind_says_nothing_of_the_wire_form() -> None:
    assert canonical_kind(TimeType(3, "us")) == TimeType(3)
    assert canonical_kind(DatetimeType(None, "ms")) == DatetimeType()
    assert canonical_kind(EnumType(("a",), "label")) == EnumType(("a",))
    assert canonical_kind(EnumType(None, "label")) == EnumType(None, "label")
