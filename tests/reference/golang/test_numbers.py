"""Float text as Go writes it, and float32 values read with one rounding."""

from __future__ import annotations

import math
import struct
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.golang.numbers import float_text, usual_text32
from cdcwire.model.floats import is_float32, narrow_float32, read_float32


def from_bits(bits: int) -> float:
    value: float = struct.unpack(">f", bits.to_bytes(4, "big"))[0]
    return value


def to_bits(value: float) -> int:
    return int.from_bytes(struct.pack(">f", value), "big")


# The six values where Go's digits are not the first that read back in C's %e.
ODD = [
    (0x0F800000, "1.2621775e-29"),
    (0x15AE43FD, "7.038531e-26"),
    (0x15AE43FE, "7.0385313e-26"),
    (0x39800000, "0.00024414063"),
    (0x6B000000, "1.5474251e+26"),
    (0x6C800000, "1.2379401e+27"),
]


@pytest.mark.parametrize(("bits", "text"), ODD, ids=[f"{bits:08x}" for bits, _ in ODD])
def test_odd_float32_both_ways(bits: int, text: str) -> None:
    assert float_text(from_bits(bits), 32) == text
    assert float_text(-from_bits(bits), 32) == f"-{text}"
    assert to_bits(read_float32(text)) == bits


@pytest.mark.parametrize(
    ("value", "bits", "text"),
    [
        (0.0, 64, "0"),
        (-0.0, 64, "-0"),
        (-0.0, 32, "-0"),
        (1.0, 64, "1"),
        (-2.5, 64, "-2.5"),
        (0.1, 64, "0.1"),
        (from_bits(0x3DCCCCCD), 32, "0.1"),
        (1e20, 64, "100000000000000000000"),
        (1e21, 64, "1e+21"),
        (1.5e300, 64, "1.5e+300"),
        (1e-6, 64, "0.000001"),
        (9.9e-7, 64, "9.9e-7"),
        (1e-10, 64, "1e-10"),
        (5e-324, 64, "5e-324"),
        (1.7976931348623157e308, 64, "1.7976931348623157e+308"),
        (narrow_float32(1e-6), 32, "0.000001"),
        (narrow_float32(9.9e-7), 32, "9.9e-7"),
        (narrow_float32(1e21), 32, "1e+21"),
        (from_bits(0x7F7FFFFF), 32, "3.4028235e+38"),
        (from_bits(1), 32, "1e-45"),
        (16777216.0, 32, "16777216"),
        (123456789.0, 64, "123456789"),
    ],
)
def test_float_text_is_what_go_writes(value: float, bits: Literal[32, 64], text: str) -> None:
    assert float_text(value, bits) == text


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("1.000000059604644775390625", 0x3F800000),  # a tie goes to the even one
        ("1.0000000596046447753906250000000001", 0x3F800001),
        ("1.000000178813934326171875", 0x3F800002),
        ("1.00000017881393432617187499999999999", 0x3F800001),
        ("3.4028235677973366e38", 0x7F7FFFFF),
        ("340282356779733661637539395458142568448", 0x7F800000),  # half of the gap to 2**128
        ("3.4028235677973367e38", 0x7F800000),
        ("1e400", 0x7F800000),
        ("-1e400", 0xFF800000),
        ("1e-400", 0),
        ("-0", 0x80000000),
        ("7e-46", 0),
        ("7.1e-46", 1),
    ],
)
def test_read_float32_rounds_once(text: str, bits: int) -> None:
    assert to_bits(read_float32(text)) == bits


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float32_text_reads_back(value: float) -> None:
    """read_float32(float_text(x, 32)) is x, with the sign of zero."""
    found = read_float32(float_text(value, 32))
    assert (found, math.copysign(1, found)) == (value, math.copysign(1, value))
    assert is_float32(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float64_text_reads_back(value: float) -> None:
    """float(float_text(x, 64)) is x, with the sign of zero."""
    found = float(float_text(value, 64))
    assert (found, math.copysign(1, found)) == (value, math.copysign(1, value))


@given(st.floats(-2e6, 2e6, width=32))
def test_usual_float32_has_the_fewest_digits_that_read_back(value: float) -> None:
    found = usual_text32(value)
    assert not found or found == _fewest_digits(value)
    assert found == "" or 1e-3 <= abs(value) < 1e6


def test_float32_of_the_workloads_are_usual() -> None:
    """Otherwise the digits above would be tried for nothing. Powers of two are all tried."""
    for power in range(-9, 19):
        assert usual_text32(2.0**power) == _fewest_digits(2.0**power)
        assert usual_text32(-(2.0**power)) == _fewest_digits(-(2.0**power))
    assert usual_text32(29919.78515625) == "29919.785"
    assert usual_text32(0.10000000149011612) == "0.1"
    assert usual_text32(999999.9375) == "999999.94"
    assert usual_text32(0.008999999612569809) == "0.009"


def _fewest_digits(value: float) -> str:
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    shortest = next(text for text in texts if read_float32(text) == value)
    return repr(float(shortest)).removesuffix(".0")
