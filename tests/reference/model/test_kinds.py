"""The written form of types."""

from __future__ import annotations

import pytest

from cdcwire.model.kind_text import kind_text, parse_kind
from cdcwire.model.kinds import (
    ArrayType,
    BytesType,
    Column,
    DecimalType,
    EnumType,
    IntType,
    MapType,
    SetType,
    StructType,
    TextType,
    TimestampType,
    TimeType,
)

WRITTEN = [
    ("int64 unsigned", IntType(64, True)),
    ("int24", IntType(24)),
    ("decimal", DecimalType()),
    ("decimal(10,4)", DecimalType(10, 4)),
    ("decimal(6,0)", DecimalType(6, 0)),
    ("text(20)", TextType(20)),
    ("bytes", BytesType()),
    ("time(3)", TimeType(3)),
    ("timestamp(6)", TimestampType(6)),
    ("enum(a,b)", EnumType(("a", "b"))),
    ("enum", EnumType()),
    (r"set(a\,b,c\)\\,)", SetType(("a,b", "c)\\", ""))),
    ("array<map<text,int8>>", ArrayType(MapType(TextType(), IntType(8)))),
    (
        r"struct<a\:b:int8,c:text(3)>",
        StructType((Column("a:b", IntType(8)), Column("c", TextType(3)))),
    ),
]


@pytest.mark.parametrize(("text", "kind"), WRITTEN, ids=[text for text, _ in WRITTEN])
def test_kind_written_and_read_is_the_same(text: str, kind: object) -> None:
    assert parse_kind(text) == kind
    assert kind_text(parse_kind(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "int",
        "int65",
        "int8 signed",
        "decimal(10",
        "text(1,2)",
        "array<>",
        "enum(a",
        "INT8",
        "x",
    ],
)
def test_kind_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="type"):
        parse_kind(text)


def test_kind_nested_too_deep_is_refused() -> None:
    with pytest.raises(ValueError, match="nested deeper"):
        parse_kind("array<" * 5000 + "int8" + ">" * 5000)


def test_kind_with_one_number_for_decimal_has_scale_zero() -> None:
    assert parse_kind("decimal(6)") == DecimalType(6, 0)
