"""The table of conversions: exact, or refused."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from cdcwire.arrow.building import (
    CLAUSE_LABELS,
    CLAUSE_TEXT,
    CLAUSE_TYPES,
    ConversionError,
)
from cdcwire.arrow.types import SchemaError, arrow_type
from cdcwire.arrow.values import column_builder
from cdcwire.model.events import Image
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import (
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
    StructType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    VectorType,
    YearType,
)

MAX = 2**64 - 1
WIDEST = "9" * 35 + "." + "9" * 30
LABELS = ("a", "b", "c")
NARROW = 0.10000000149011612  # what a float32 holds for 0.1

INNER = Image((Column("t", TextType()),), ("é",))
NESTED_COLUMNS = (
    Column("w", DecimalType(None, 0)),
    Column("n", FloatType(64)),
    Column("o", StructType(INNER.columns)),
)
NESTED = Column("nested", StructType(NESTED_COLUMNS))
NESTED_VALUE = Image(NESTED_COLUMNS, (Decimal("99999999999999999999"), 1.0, INNER))

EXACT: list[tuple[Type, Type, Any, Any]] = [
    (IntervalType(), IntervalType("us"), "P0Y0M-1DT-2H-3M-4.56S", -93_784_560_000),
    (IntType(64, True), IntType(64, True), MAX, Decimal(MAX)),
    (IntType(64, True), DecimalType(20, 0), MAX, Decimal(MAX)),
    (IntType(64), IntType(64, True), -1, Decimal(MAX)),
    (IntType(64), IntType(64, True), 2**63 - 1, Decimal(2**63 - 1)),
    (IntType(64), DecimalType(20, 0), -(2**63), Decimal(-(2**63))),
    (IntType(8), IntType(64), -128, -128),
    (IntType(8), BoolType(), 1, True),
    (BoolType(), IntType(8), -128, -128),
    (BoolType(), IntType(8), True, 1),
    (IntType(8), DecimalType(6, 3), 7, Decimal("7.000")),
    (IntType(32), FloatType(64), 7, 7.0),
    (YearType(), IntType(32), 1999, 1999),
    (BitType(3), BitType(3), 5, 5),
    (BitType(), BitType(64), MAX, Decimal(MAX)),
    (BitType(70), BitType(70), 2**69, b"\x20" + bytes(8)),
    (FloatType(32), FloatType(64), NARROW, NARROW),
    (FloatType(64), FloatType(32), 0.5, 0.5),
    (FloatType(64), DecimalType(6, 3), 0.5, Decimal("0.500")),
    (FloatType(64), DecimalType(), 0.1, "0.1"),
    (FloatType(64), FloatType(32), 0.1, NARROW),  # the digits name that float32
    (FloatType(64), DecimalType(), 2.0**63, "9223372036854775808"),
    (FloatType(64), DecimalType(), math.nan, "NaN"),
    (DecimalType(), DecimalType(), "1.10", "1.10"),
    (DecimalType(), DecimalType(), Decimal("1E+2"), "100"),
    (DecimalType(), DecimalType(), "not a number", "not a number"),
    (DecimalType(), DecimalType(6, 3), "-0.1", Decimal("-0.100")),
    (DecimalType(), DecimalType(6, 3), Decimal("1.1"), Decimal("1.100")),
    (
        DecimalType(65, 30),
        DecimalType(65, 30),
        "9" * 35 + "." + "9" * 30,
        "9" * 35 + "." + "9" * 30,
    ),
    (DatetimeType(form="us"), DatetimeType(), 9223372036825200000, "infinity"),
    (DatetimeType(form="us"), DatetimeType(), -9223372036832400000, "-infinity"),
    (DatetimeType(form="ms"), DatetimeType(), 9223372036825200, "infinity"),
    (DatetimeType(form="us"), TimestampType(zone="+00:00"), 9223372036825200000, "infinity"),
    (DatetimeType(form="ms"), DatetimeType(), 253402300800500, "+10000-01-01 00:00:00.5"),
    (DateType("d"), DateType(), -2147472692, "infinity"),
    (DateType("d"), DateType(), -2147472691, "-infinity"),
    (DateType("d"), DateType(), -622191234, "infinity"),
    (DateType("d"), DateType(), -625821272, "-infinity"),
    (DateType("d"), DateType(), 2932897, "+10000-01-01"),
    (DateType("d"), DateType(), -719529, "-0001-12-31"),
    (TextType(), DateType(), "infinity", "infinity"),
    (TextType(), TextType(), "é", "é"),
    (TextType(), BytesType(), "é", b"\xc3\xa9"),
    (TextType(), BytesType(), b"\xff", b"\xff"),
    (BytesType(), BytesType(), b"\x00\xff", b"\x00\xff"),
    (EnumType(), EnumType(), 2, 2),
    (EnumType(), EnumType(LABELS), 2, "b"),
    (EnumType(), EnumType(LABELS), 0, ""),
    (EnumType(LABELS, "label"), EnumType(LABELS), "c", "c"),
    (EnumType(("a,b",), "label"), EnumType(("a,b",)), r"a\,b", "a,b"),  # as Debezium sends it
    (EnumType(None, "label"), EnumType(None, "label"), "z", "z"),
    (SetType(), SetType(), 2**63, Decimal(2**63)),
    (SetType(), SetType(LABELS), 5, "a,c"),
    (SetType(), SetType(LABELS), 0, ""),
    (SetType(LABELS, "label"), SetType(LABELS), "c,a", "a,c"),
    (JsonType(), JsonType(), '{"b": 1.0, "a": 1}', '{"a":1,"b":1}'),
    (TextType(), JsonType(), "[1, 2]", "[1,2]"),
    (VectorType(), VectorType(), "[1,-2.5]", [1.0, -2.5]),
    (VectorType(), VectorType(), (), []),
    (UnknownType(), IntType(8), None, None),
    (UnknownType(), UnknownType(), b"x", b"x"),
    (IntType(64), TextType(), -7, "-7"),
    (DecimalType(6, 3), TextType(), Decimal("1.100"), "1.100"),
    (BoolType(), TextType(), True, "true"),
    (FloatType(64), TextType(), -0.0, "-0.0"),
    (VectorType(), TextType(), (1.0, -2.5), "[1.0,-2.5]"),
    (EnumType(LABELS), TextType(), 2, "b"),
    (TextType(), IntType(64), "-7", -7),
    (TextType(), DecimalType(6, 3), "1.1", Decimal("1.100")),
    (TextType(), BoolType(), "true", True),
    (parse_kind("array<int8>"), parse_kind("array<int16>"), (1, None, -1), [1, None, -1]),
    (parse_kind("map<text,int8>"), parse_kind("map<text,int8>"), (("a", 1),), [("a", 1)]),
    (parse_kind("array<unknown>"), parse_kind("array<text>"), (None, None), [None, None]),
    (parse_kind("array<unknown>"), parse_kind("array<struct<a:int8>>"), (), []),
    (UnknownType(), parse_kind("struct<a:int8>"), None, None),
    (parse_kind("map<text,text>"), JsonType(), (("b", "1"), ("a", None)), '{"a":null,"b":"1"}'),
    (NESTED.type, JsonType(), NESTED_VALUE, '{"n":1,"o":{"t":"é"},"w":99999999999999999999}'),
]


@pytest.mark.parametrize(("wire", "canonical", "value", "expected"), EXACT)
def test_value_has_its_exact_form(wire: Type, canonical: Type, value: Any, expected: Any) -> None:
    build = column_builder(wire, canonical, arrow_type(canonical)).build
    assert build([value, None]).to_pylist() == [expected, None]


POINT = StructType((Column("x", FloatType(64)), Column("y", FloatType(64))))
REFUSED: list[tuple[Type, Type, Any, str]] = [
    (IntType(8), BoolType(), 2, CLAUSE_TYPES),
    (IntType(16), IntType(8), 200, CLAUSE_TYPES),
    (IntType(64, True), IntType(64), MAX, CLAUSE_TYPES),
    (FloatType(64), FloatType(32), 0.1000000001, CLAUSE_TYPES),
    (FloatType(64), IntType(64), 0.5, CLAUSE_TYPES),
    (FloatType(64), DecimalType(6, 3), math.inf, CLAUSE_TYPES),
    (IntType(64), FloatType(64), 2**53 + 1, CLAUSE_TYPES),
    (DecimalType(), DecimalType(6, 3), "1.0001", CLAUSE_TYPES),
    (DecimalType(), DecimalType(6, 3), "1000", CLAUSE_TYPES),
    (DecimalType(), DecimalType(6, 3), "not a number", CLAUSE_TYPES),
    (TextType(), TextType(), b"\xff", CLAUSE_TEXT),
    (EnumType(), EnumType(LABELS), 4, CLAUSE_LABELS),
    (EnumType(LABELS, "label"), EnumType(LABELS), "z", CLAUSE_LABELS),
    (SetType(), SetType(LABELS), 8, CLAUSE_LABELS),
    (UnknownType(), IntType(8), b"x", CLAUSE_TYPES),
    (TextType(), IntType(64), "seven", CLAUSE_TYPES),
    (POINT, POINT, "POINT (1 2)", CLAUSE_TYPES),
]


@pytest.mark.parametrize(("wire", "canonical", "value", "clause"), REFUSED)
def test_value_without_exact_form_is_refused(
    wire: Type, canonical: Type, value: Any, clause: str
) -> None:
    build = column_builder(wire, canonical, arrow_type(canonical)).build
    with pytest.raises(ConversionError) as caught:
        build([value])
    assert caught.value.clause == clause


@pytest.mark.parametrize(
    ("wire", "canonical"),
    [
        ("json", "int8"),
        ("bytes", "int8"),
        ("date", "datetime"),
        ("array<int8>", "int8"),
        ("struct<a:int8>", "struct<b:int8>"),
    ],
)
def test_pair_without_conversion_is_refused_before_any_value(wire: str, canonical: str) -> None:
    kind = parse_kind(canonical)
    with pytest.raises(SchemaError):
        column_builder(parse_kind(wire), kind, arrow_type(kind))


@pytest.mark.parametrize(
    ("labels", "sent", "expected"),
    [
        (("a,b", "c"), "a,b", "a,b"),
        (("a,b", "c"), r"a\,b", "a,b"),
        (("a", "b", "c"), "a,b", "a,b"),  # the commas of the list were not escaped
        (("a,b",), "a\\", "a\\"),  # of the labels "a\" and "b", joined without escapes
    ],
)
def test_label_with_a_comma_is_built(labels: tuple[str, ...], sent: str, expected: str) -> None:
    kind = EnumType(labels, "label")
    assert column_builder(kind, kind, pa.string()).build([sent]).to_pylist() == [expected]


@pytest.mark.parametrize("sent", ["a,c", ",", "b,", "a,b,c,d", "x"])
def test_text_that_is_not_a_part_of_the_list_of_labels_is_refused(sent: str) -> None:
    kind = EnumType(("a", "b", "c"), "label")
    with pytest.raises(ConversionError, match="labels"):
        column_builder(kind, kind, pa.string()).build([sent])


def test_label_without_labels_can_not_be_a_number() -> None:
    with pytest.raises(SchemaError):
        column_builder(EnumType(None, "label"), EnumType(), pa.int64())


@pytest.mark.parametrize("value", [-0.0, math.inf, -math.inf, 5e-324])
def test_float_keeps_its_bits(value: float) -> None:
    found = column_builder(FloatType(64), FloatType(64), pa.float64()).build([value])
    assert repr(found[0].as_py()) == repr(value)


def test_float_that_is_not_a_number_is_not_null() -> None:
    found = column_builder(FloatType(64), FloatType(64), pa.float64()).build([math.nan, None])
    assert found.null_count == 1
    assert math.isnan(found[0].as_py())


def test_struct_takes_columns_by_name_and_leaves_missing_ones_null() -> None:
    wire = StructType((Column("b", IntType(8)),))
    canonical = StructType((Column("a", TextType()), Column("b", IntType(16))))
    build = column_builder(wire, canonical, arrow_type(canonical)).build
    assert build([Image(wire.columns, (7,)), None]).to_pylist() == [{"a": None, "b": 7}, None]


@pytest.mark.parametrize(
    ("wire", "canonical", "array", "expected"),
    [
        (IntType(8), IntType(8), pa.array([1, None], pa.int64()), [1, None]),
        (IntType(64, True), IntType(64, True), pa.array([MAX], pa.uint64()), [Decimal(MAX)]),
        (DecimalType(), DecimalType(4, 2), pa.array(["1.5", None]), [Decimal("1.50"), None]),
        (
            EnumType(),
            EnumType(LABELS),
            pa.array([3, 1, None, 3], pa.uint64()),
            ["c", "a", None, "c"],
        ),
        (SetType(), SetType(LABELS), pa.array([3, None], pa.uint64()), ["a,b", None]),
        (TextType(), TextType(), pa.array([b"x", None]), ["x", None]),
        (TextType(), IntType(8), pa.array([b"7"]), [7]),
        (JsonType(), JsonType(), pa.array(["[ 1 ]", None]), ["[1]", None]),
        (BitType(), BitType(), pa.array([MAX], pa.uint64()), [Decimal(MAX)]),
    ],
)
def test_array_of_the_wire_is_converted_as_its_values_are(
    wire: Type, canonical: Type, array: pa.Array, expected: list[Any]
) -> None:
    builder = column_builder(wire, canonical, arrow_type(canonical))
    assert builder.finish(array).to_pylist() == expected


def test_array_with_a_value_that_does_not_fit_is_refused() -> None:
    builder = column_builder(IntType(8), IntType(8), pa.int8())
    with pytest.raises(ConversionError):
        builder.finish(pa.array([300], pa.int64()))


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (DatetimeType(3), "2024-01-01 10:00:00.500", "2024-01-01 10:00:00.5"),
        (DatetimeType(3), "soon", "soon"),
        (TimeType(3), "10:00:00.000", "10:00:00"),
        (TimestampType(None), "2024-01-01 10:00:00.50", "2024-01-01 10:00:00.5"),
        (TimestampType(None), "2024-01-01T10:00:00Z", "2024-01-01 10:00:00"),
        (TimestampType(zone="+00:00"), "2024-01-01T10:00:00.000+02:00", "2024-01-01 08:00:00"),
        (TimestampType(zone="+00:00"), "2024-01-01 10:00:00.5", "2024-01-01 02:00:00.5"),
        (TimestampType(zone="+00:00"), "soon", "soon"),
        (DateType(), "2024-01-01", "2024-01-01"),
    ],
)
def test_text_becomes_the_one_text_of_a_date_or_time(kind: Type, value: str, expected: str) -> None:
    builder = column_builder(TextType(), kind, pa.string(), "+08:00")
    assert builder.build([value, None]).to_pylist() == [expected, None]
    assert builder.finish(pa.array([value, None])).to_pylist() == [expected, None]
