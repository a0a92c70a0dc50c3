"""Texts of MySQL values that the storage formats share."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import (
    BitType,
    BoolType,
    DatetimeType,
    DateType,
    DecimalType,
    IntType,
    JsonType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    Value,
    YearType,
)
from cdcwire.mysql.value_texts import pattern, read_value, value_text

I8, U8, I64, U64 = IntType(8), IntType(8, True), IntType(64), IntType(64, True)

SAME: list[tuple[Type, str, Value]] = [
    (BoolType(), "0", False),
    (BoolType(), "1", True),
    (I8, "-128", -128),
    (I8, "127", 127),
    (U8, "255", 255),
    (IntType(24), "-8388608", -8388608),
    (I64, "-9223372036854775808", -(2**63)),
    (U64, "18446744073709551615", 2**64 - 1),
    (YearType(), "0", 0),
    (YearType(), "1901", 1901),
    (YearType(), "2155", 2155),
    (BitType(1), "1", 1),
    (BitType(64), "18446744073709551615", 2**64 - 1),
    (BitType(), "18446744073709551615", 2**64 - 1),
    (DecimalType(10, 4), "129012.1230", Decimal("129012.1230")),
    (DecimalType(10, 4), "-0.0001", Decimal("-0.0001")),
    (DecimalType(10, 4), "1", Decimal(1)),
    (DecimalType(4, 4), "0.9999", Decimal("0.9999")),
    (DecimalType(65, 30), "9" * 35 + "." + "9" * 30, Decimal("9" * 35 + "." + "9" * 30)),
    (DecimalType(), "1" * 65, Decimal("1" * 65)),
    (DateType(), "0000-00-00", "0000-00-00"),
    (DateType(), "2022-02-31", "2022-02-31"),
    (DateType(), "9999-12-31", "9999-12-31"),
    (TimeType(0), "-838:59:59", "-838:59:59"),
    (TimeType(6), "838:59:59.000000", "838:59:59.000000"),
    (TimeType(), "00:00:00.5", "00:00:00.5"),
    (DatetimeType(3), "2022-01-02 23:59:59.999", "2022-01-02 23:59:59.999"),
    (DatetimeType(), "2022-01-02 23:59:59", "2022-01-02 23:59:59"),
    (TimestampType(6), "1970-01-01 00:00:01.000000", "1970-01-01 00:00:01.000000"),
    (JsonType(), '{"a": 1, "b": null}', '{"a": 1, "b": null}'),
]
REFUSED: list[tuple[Type, str]] = [
    (BoolType(), "2"),
    (BoolType(), "true"),
    *(
        (I64, text)
        for text in ("", "-", "+1", "01", "-0", " 1", "1 ", "1\n", "1.0", "1e3", "\u0661")
    ),
    *((I64, text) for text in ("0x1", "1_000", "9223372036854775808", "9" * 5000)),
    (I8, "128"),
    (I8, "-129"),
    (U8, "-1"),
    (U64, "18446744073709551616"),
    (YearType(), "1900"),
    (YearType(), "2156"),
    (YearType(), "0000"),
    (BitType(1), "2"),
    (BitType(64), "-1"),
    *((DecimalType(10, 4), text) for text in ("", ".5", "5.", "00.5", "+1", "1e3", "NaN", "-")),
    (DecimalType(10, 4), "1.00000"),
    (DecimalType(10, 4), "1000000"),
    (DecimalType(4, 4), "1.0"),
    (DecimalType(10, 0), "1.0"),
    (DecimalType(), "1" * 129),
    *((DateType(), text) for text in ("", "2022-1-02", "2022-13-01", "2022-01-32", "2022-01-02 ")),
    *(
        (TimeType(0), text)
        for text in ("1:00:00", "839:00:00", "00:60:00", "00:00:60", "00:00:00.0")
    ),
    (TimeType(6), "838:59:59.000001"),
    (TimeType(3), "00:00:00"),
    (TimeType(3), "00:00:00.12"),
    (TimeType(), "00:00:00."),
    (TimeType(), "00:00:00.1234567"),
    *((DatetimeType(0), text) for text in ("2022-01-02", "2022-01-02T00:00:00")),
    (DatetimeType(0), "2022-01-02 24:00:00"),
    (JsonType(), ""),
    (TextType(), "x"),
]


def _id(each: object) -> str:
    return "huge" if isinstance(each, int) and each > 2**64 else f"{each!s:.40}"


@pytest.mark.parametrize(("kind", "text", "value"), SAME, ids=_id)
def test_text_and_value_are_the_same_both_ways(kind: Type, text: str, value: Value) -> None:
    found = read_value(kind, text)
    assert (type(found), str(found)) == (type(value), str(value))
    assert value_text(kind, value) == text


@pytest.mark.parametrize(("kind", "text"), REFUSED, ids=_id)
def test_other_text_is_refused(kind: Type, text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_value(kind, text)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (I8, 128),
        (I8, True),
        (I8, 1.0),
        (U64, 10**5000),
        (BoolType(), 1),
        (YearType(), 1),
        (BitType(3), 8),
        (DecimalType(10, 4), Decimal("NaN")),
        (DecimalType(10, 4), Decimal("0.00001")),
        (DecimalType(10, 4), 1.5),
        (DecimalType(10, 4), "abc"),
        (DateType(), "tomorrow"),
        (DateType(), 5),
        (JsonType(), b"{}"),
        (TextType(), "x"),
    ],
    ids=_id,
)
def test_value_that_is_none_of_its_kind_is_refused(kind: Type, value: Value) -> None:
    with pytest.raises(ValueError, match=r"."):
        value_text(kind, value)


def test_counts_become_texts() -> None:
    assert value_text(DateType("d"), 1) == "1970-01-02"
    assert value_text(TimeType(3, "us"), -1_500_000) == "-00:00:01.500"
    assert (
        value_text(TimestampType(0, "ms", "+00:00"), 3_600_000, "+01:00") == "1970-01-01 02:00:00"
    )


@pytest.mark.parametrize(
    ("kind", "text"),
    [(kind, text) for kind, text, _ in SAME if kind != JsonType()]
    + [(kind, text) for kind, text in REFUSED if kind not in (JsonType(), TextType())],
    ids=_id,
)
def test_pattern_says_what_the_reader_says(kind: Type, text: str) -> None:
    try:
        read_value(kind, text)
        is_read = True
    except ValueError:
        is_read = False
    is_matched = re.compile(pattern(kind)).fullmatch(text) is not None
    if isinstance(kind, (IntType, BitType)):
        assert is_matched >= is_read
    else:
        assert is_matched == is_read, kind_text(kind)
