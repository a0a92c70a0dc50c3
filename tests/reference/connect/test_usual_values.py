"""The fast encoder writes values as the plain encoder does, or leaves them to it."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from cdcwire.connect.columns import plan_column
from cdcwire.connect.style import Style
from cdcwire.connect.usual_values import string_text, usual_writer
from cdcwire.connect.values import write_value
from cdcwire.core.compiled import ENCODE_IRREGULARITIES, texts_of_values
from cdcwire.core.errors import EncodeError
from cdcwire.model import kinds
from cdcwire.model.kinds import UNAVAILABLE, Column

INTEGERS = [
    sign * (1 << bits) + offset
    for bits in (0, 7, 8, 15, 16, 23, 24, 31, 32, 63, 64)
    for sign in (1, -1)
    for offset in (-1, 0, 1)
]
TEXTS = [
    "",
    "plain",
    'quote " and \\ and \\u001f',
    "\b\t\n\f\r\x00\x1a\x1f\x7f",
    "\\\x1f\\\\\x0b",
    "äöü 日本 \u2028 \uffff",
    "🙂 \U0010ffff \U00010000",
    "\ud800",
    "% %s",
]
MOMENTS = [
    "2024-02-29 23:59:59",
    "2023-02-29 00:00:00",
    "2024-06-01T12:00:00",
    "2024-06-01 12:00:00Z",
    "2024-06-01 12:00:00.1",
    "2024-06-01 12:00:00.123456",
    "2024-06-01 12:00:00.000000",
    "2024-06-01 12:00:00.1234567",
    "2024-06-01 24:00:00",
    "2024-06-01 12:60:00",
    "1970-01-01 00:00:00",
    "1969-12-31 23:59:59",
    "0000-00-00 00:00:00",
    "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.999999",
    "２０２４-06-01 12:00:00",
]
DATES = [
    *("2024-02-29", "2023-02-29", "0000-00-00", "0001-01-01", "9999-12-31", "1970-01-01"),
    *("2024-06-01Z", "20240601", "2024-W01-1", "２０２４-06-01", "2024-6-01"),
]
CLOCKS = [
    *("00:00:00", "-00:00:00", "23:59:59", "24:00:00", "24:00:01", "-838:59:59", "9999:59:59"),
    *("12:00:00.5", "12:00:00.123456", "12:00:00Z", "12:60:00", "1:00:00", "１２:00:00"),
]
FLOATS = [
    *(0.0, -0.0, 1.0, 0.1, -1e-3, 1e7, 9999999.0, 16777216.0, 0.3, 5e-324, 1e22, 1e300),
    *(math.inf, -math.inf, math.nan, 0.10000000149011612, 346.27734375, 1.17549435e-38),
    *(0.001953125, 3.4028234663852886e38, -8192.0),
]
DECIMALS = [
    Decimal(text)
    for text in (
        *("0", "-0", "0.00", "-0.00", "1.5", "1.50", "-1.50", "127.00", "128.00", "-128.00"),
        *("-129.00", "1E+3", "1E-9", "NaN", "Infinity", "NaN12", "0.001", "1" * 70),
    )
]
WRONG: list[Any] = [True, 1, 1.5, "1", b"1", Decimal(1), (), UNAVAILABLE]
KINDS: list[tuple[kinds.Type, list[Any]]] = [
    *(
        (kinds.IntType(bits, unsigned), INTEGERS)
        for bits in (8, 16, 24, 32, 64)
        for unsigned in (False, True)
    ),
    (kinds.BoolType(), [True, False]),
    (kinds.YearType(), [0, 1901, 2155, 1 << 31, -(1 << 31)]),
    (kinds.BitType(10), [0, 1, 1023, 1024]),
    (kinds.FloatType(32), FLOATS),
    (kinds.FloatType(64), FLOATS),
    *((kinds.DecimalType(*size), DECIMALS) for size in ((10, 2), (5, 0), (None, None))),
    (kinds.TextType(), TEXTS),
    (kinds.JsonType(), TEXTS),
    (kinds.EnumType(("a", "b")), ["a", "b", "c", 0, 1, 2, 3]),
    (kinds.SetType(("a", "b")), ["a,b", "", 0, 3, 4]),
    (kinds.BytesType(), [b"", b"\x00", b"\xff" * 5]),
    (kinds.DateType(), DATES),
    *((kinds.TimeType(fraction), CLOCKS) for fraction in (None, 0, 3, 6)),
    *((kinds.DatetimeType(fraction), MOMENTS) for fraction in (None, 0, 3, 6)),
    *((kinds.TimestampType(3, zone=zone), MOMENTS) for zone in (None, "+00:00", "+02:00")),
    (kinds.DatetimeType(form="us"), [0, 1, -1]),
]
STYLES = [
    Style("cdl-1.0"),
    Style("cdl-2.0"),
    Style("debezium"),
    Style("debezium", placeholder="none"),
    Style("debezium", decimals="string", binary="hex"),
    Style("debezium", decimals="double", binary="base64"),
    *(
        Style("debezium", times=times)
        for times in ("connect", "isostring", "microseconds", "nanoseconds")
    ),
    Style("debezium", times="adaptive_time_microseconds"),
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("kind", "values"), KINDS, ids=lambda each: str(each)[:40])
def test_values_are_written_as_by_the_plain_encoder(
    style: Style, kind: kinds.Type, values: list[Any]
) -> None:
    column = Column("c", kind)
    plan = plan_column(column, style)
    write = texts_of_values([usual_writer(column, plan)], [0])
    for value in [*values, *WRONG, *values]:
        try:
            expected: str | None = write_value(plan.schema, plan.convert(value))
        except (EncodeError, TypeError):
            expected = None
        try:
            (found,) = write((value,))
        except ENCODE_IRREGULARITIES:
            continue
        assert found == expected, value


@pytest.mark.parametrize("text", TEXTS[:7])
def test_strings_have_the_escapes_of_java(text: str) -> None:
    assert string_text(text) == write_value(
        plan_column(Column("c", kinds.TextType()), STYLES[0]).schema, text
    )


def test_usual_values_are_not_left_to_the_plain_encoder() -> None:
    """Otherwise the other tests would compare nothing."""
    usual: list[tuple[kinds.Type, Any, str]] = [
        (kinds.IntType(64, True), 1 << 63, '"AIAAAAAAAAAA"'),
        (kinds.DecimalType(10, 2), Decimal("-1.29"), '"/38="'),
        (kinds.DatetimeType(0), "1970-01-02 00:00:01", "86401000"),
        (kinds.TimeType(0), "-00:00:01", "-1000000"),
        (kinds.DateType(), "1970-01-03", "2"),
        (kinds.FloatType(32), 346.27734375, "346.27734"),
    ]
    for kind, value, text in usual:
        column = Column("c", kind)
        writer = usual_writer(column, plan_column(column, Style("debezium")))
        assert texts_of_values([writer], [0])((value,)) == (text,)
