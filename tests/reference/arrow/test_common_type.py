"""The kind in which two kinds meet."""

from __future__ import annotations

import pytest

from cdcwire.arrow.common_type import (
    NoCommonType,
    common_type,
    kind_by_definition,
    types_differ,
)
from cdcwire.arrow.types import UTC
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import (
    DatetimeType,
    EnumType,
    IntervalType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
)

MEETINGS = [
    ("int8", "int8", "int8"),
    ("int8", "int64", "int64"),
    ("int8 unsigned", "int8", "int16"),
    ("int32 unsigned", "int8", "int64"),
    ("int64 unsigned", "int64", "decimal(20,0)"),
    ("int64 unsigned", "int8 unsigned", "int64 unsigned"),
    ("bool", "int8", "int8"),
    ("year", "int32", "int32"),
    ("float32", "float64", "float64"),
    ("int16", "float32", "float32"),
    ("int32", "float64", "float64"),
    ("decimal", "decimal(6,3)", "decimal(6,3)"),
    ("decimal", "int64", "decimal"),
    ("decimal", "int64 unsigned", "decimal"),
    ("decimal(6,3)", "decimal(10,2)", "decimal(11,3)"),
    ("decimal(6,3)", "int64 unsigned", "decimal(23,3)"),
    ("text(3)", "text(9)", "text(9)"),
    ("text(3)", "text", "text"),
    ("text", "bytes(4)", "bytes(4)"),
    ("text", "int32", "text"),
    ("text", "datetime", "datetime"),
    ("text", "json", "json"),
    ("bit", "bit(3)", "bit(3)"),
    ("bit(3)", "int8", "int64"),
    ("time(3)", "time(6)", "time(6)"),
    ("datetime", "timestamp", "datetime"),
    ("unknown", "vector", "vector"),
    ("enum", "enum(a,b)", "enum(a,b)"),
    ("set(a)", "set", "set(a)"),
    ("array<int8>", "array<int16>", "array<int16>"),
    ("map<text,int8>", "map<text,int32>", "map<text,int32>"),
    ("vector", "array<float32>", "vector"),
    ("array<unknown>", "array<text>", "array<text>"),
    ("struct<a:int64,b:unknown>", "struct<a:int64,b:text>", "struct<a:int64,b:text>"),
    ("struct<a:int64>", "struct<a:int64,b:unknown>", "json"),
    ("map<text,text>", "struct<a:text>", "json"),
    ("map<text,text>", "json", "json"),
]


DEFINED = [  # the kind of messages, of a definition, and of the column
    ("int16", "int8", "int8"),
    ("int16", "int8 unsigned", "int8 unsigned"),
    ("bool", "int8", "int8"),
    ("int64", "int64 unsigned", "int64 unsigned"),
    ("decimal(20,0)", "int64 unsigned", "int64 unsigned"),
    ("bool", "bit(1)", "bit(1)"),
    ("decimal", "decimal(10,2)", "decimal(10,2)"),
    ("decimal(10,2)", "decimal", "decimal(10,2)"),
    ("text", "decimal(10,2)", "decimal(10,2)"),
    ("float64", "decimal(10,2)", "float64"),
    ("float64", "float32", "float32"),
    ("int32", "year", "year"),
    ("text", "date", "date"),
    ("datetime(3)", "datetime(0)", "datetime(0)"),
    ("text", "json", "json"),
    ("json", "text", "json"),
    ("bytes", "text(5)", "bytes"),
    ("text", "bytes", "bytes"),
    ("enum", "enum(a,b)", "enum(a,b)"),
    ("enum(a,b)", "enum(a,b,c)", "enum(a,b,c)"),
    ("enum(a,b,c)", "enum(a,b)", "enum(a,b,c)"),
    ("enum(a,c)", "enum(a,b)", "text"),
    ("set(a)", "set(b)", "text"),
    ("array<decimal>", "array<decimal(10,2)>", "array<decimal(10,2)>"),
    ("struct<x:float64>", "unknown", "struct<x:float64>"),
    ("map<text,text>", "json", "json"),
    ("json", "map<text,text>", "json"),
    ("text", "struct<x:float64>", "text"),
    ("decimal(20,0)", "int64", "decimal(20,0)"),
    ("int64 unsigned", "int64", "int64 unsigned"),
]


@pytest.mark.parametrize(("sent", "declared", "expected"), DEFINED)
def test_definition_says_what_messages_leave_open(sent: str, declared: str, expected: str) -> None:
    assert kind_by_definition(parse_kind(sent), parse_kind(declared)) == parse_kind(expected)


def test_definition_of_another_column_is_refused() -> None:
    with pytest.raises(NoCommonType):
        kind_by_definition(parse_kind("date"), parse_kind("int8"))


def test_zone_of_messages_counts_where_the_definition_has_none() -> None:
    instant = TimestampType(6, zone=UTC)
    assert kind_by_definition(instant, TimestampType(3)) == TimestampType(3, zone=UTC)
    assert kind_by_definition(instant, DatetimeType(6)) == instant
    assert kind_by_definition(TimeType(6), TimeType(6, zone=UTC)) == TimeType(6)


@pytest.mark.parametrize(("left", "right", "expected"), MEETINGS)
def test_kinds_meet_in_both_orders(left: str, right: str, expected: str) -> None:
    ours, theirs = parse_kind(left), parse_kind(right)
    assert common_type(ours, theirs) == parse_kind(expected)
    assert common_type(theirs, ours) == parse_kind(expected)


def test_period_meets_count_as_count() -> None:
    period, count = IntervalType(), IntervalType("us")
    assert common_type(period, count) == common_type(count, period) == count


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("int64", "float64"),
        ("int32", "float32"),
        ("decimal(6,3)", "float64"),
        ("date", "datetime"),
        ("time", "datetime"),
        ("bytes", "int8"),
        ("enum(a,b)", "enum(b,a)"),
        ("text", "array<text>"),
        ("json", "int8"),
        ("bit(65)", "int8"),
        ("interval", "int64"),
    ],
)
def test_kinds_without_an_exact_common_kind_do_not_meet(left: str, right: str) -> None:
    ours, theirs = parse_kind(left), parse_kind(right)
    for pair in ((ours, theirs), (theirs, ours)):
        with pytest.raises(NoCommonType):
            common_type(*pair)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (TimestampType(), TimestampType(zone="Asia/Tokyo")),
        (DatetimeType(), TimestampType(zone=UTC)),
        (TimestampType(zone="Asia/Tokyo"), TimestampType(zone=UTC)),
    ],
)
def test_instants_meet_in_utc_once_a_zone_is_known(left: Type, right: Type) -> None:
    assert common_type(left, right) == TimestampType(zone=UTC)


def test_times_of_different_zones_do_not_meet() -> None:
    with pytest.raises(NoCommonType):
        common_type(TimeType(zone=UTC), TimeType())


@pytest.mark.parametrize("kind", [EnumType, SetType])
def test_index_meets_label_only_with_labels(kind: type[EnumType | SetType]) -> None:
    with pytest.raises(NoCommonType, match="--ddl"):
        common_type(kind(), kind(form="label"))
    assert common_type(kind(), kind(("a",), "label")) == kind(("a",))


@pytest.mark.parametrize(
    ("left", "right", "is_different"),
    [
        ("int32", "int32", False),
        ("int32", "int64", True),
        ("int32", "int32 unsigned", True),
        ("float32", "float64", True),
        ("text", "bytes", True),
        ("text(3)", "text(4)", True),
        ("text(3)", "text", False),
        ("decimal(10,2)", "decimal", False),
        ("decimal(10,2)", "decimal(10,3)", True),
        ("datetime(3)", "datetime", False),
        ("datetime(3)", "datetime(6)", True),
        ("enum(a,b)", "enum", False),
        ("enum(a,b)", r"enum(a\,b)", False),
        ("enum(a,b)", "enum(b,a)", True),
        ("array<int32>", "array<int64>", True),
        ("unknown", "int32", False),
    ],
)
def test_types_that_say_different_things_differ(left: str, right: str, is_different: bool) -> None:
    ours, theirs = parse_kind(left), parse_kind(right)
    assert types_differ(ours, theirs) is types_differ(theirs, ours) is is_different


@pytest.mark.parametrize("kind", ["enum", "set"])
def test_labels_in_text_meet_numbers_only_with_a_definition(kind: str) -> None:
    with pytest.raises(NoCommonType, match=f"{kind} values by number meet labels only if .*--ddl"):
        common_type(parse_kind("text"), parse_kind(kind))
    labelled = parse_kind(f"{kind}(a,b)")
    assert common_type(parse_kind("text"), labelled) == TextType()


def test_lists_of_labels_with_one_text_meet_as_text() -> None:
    """A producer that joins labels by commas may have meant either."""
    split, declared = EnumType(("a", "b", "c"), "label"), EnumType(("a,b", "c"))
    assert common_type(split, declared) == common_type(declared, split) == TextType()
    assert kind_by_definition(split, declared) == declared
    with pytest.raises(NoCommonType, match="labels differ"):
        common_type(split, EnumType(("a,c", "b")))


def test_structs_meet_by_the_names_of_their_members() -> None:
    left, right = parse_kind("struct<a:int8,b:unknown>"), parse_kind("struct<b:text,a:int64>")
    assert common_type(left, right) == parse_kind("struct<a:int64,b:text>")
