"""JSON text as Go's encoding/json writes it."""

from __future__ import annotations

import hashlib
import json
import math
import struct
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.golang import (
    QuoteError,
    SmallValue,
    compact_json,
    float_text,
    is_printable,
    json_string,
    quote,
    unquote,
    usual_text32,
)
from cdcwire.model.floats import is_float32, narrow_float32, read_float32

ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\x00": "\\u0000",
    "\x0b": "\\u000b",
    "\x1f": "\\u001f",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
PLAIN = ["a", "/", "'", "\x7f", "\x80", "\u00a0", "\u2027", "\ufffd", "\ufeff", "é", "😀"]


@pytest.mark.parametrize("escape_html", [True, False])
@pytest.mark.parametrize(("char", "written"), ESCAPES.items(), ids=lambda text: text.encode().hex())
def test_json_string_escapes(char: str, written: str, escape_html: bool) -> None:
    assert json_string(f"a{char}b", escape_html=escape_html) == f'"a{written}b"'


@pytest.mark.parametrize("char", PLAIN, ids=lambda text: text.encode().hex())
def test_json_string_leaves_all_else(char: str) -> None:
    assert json_string(char) == f'"{char}"'


@pytest.mark.parametrize(
    ("escape_html", "written"), [(True, '"\\u003ca\\u003e\\u0026"'), (False, '"<a>&"')]
)
def test_json_string_escapes_html_when_asked(escape_html: bool, written: str) -> None:
    assert json_string("<a>&", escape_html=escape_html) == written


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        (b"a\xffb", r'"a\ufffdb"'),
        (b"\xe4\xbd", r'"\ufffd\ufffd"'),
        (b"\xed\xa0\x80", r'"\ufffd\ufffd\ufffd"'),
        (b"\xf0\x9f\x98", r'"\ufffd\ufffd\ufffd"'),
        (b"\xc0\xaf", r'"\ufffd\ufffd"'),
    ],
    ids=lambda value: value.hex() if isinstance(value, bytes) else "",
)
def test_json_string_writes_one_replacement_for_each_bad_byte(raw: bytes, written: str) -> None:
    assert json_string(raw.decode("utf-8", "surrogateescape")) == written


@given(st.text(), st.booleans())
def test_json_string_reads_back(text: str, escape_html: bool) -> None:
    """json.loads(json_string(text)) == text"""
    assert json.loads(json_string(text, escape_html=escape_html)) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (-5, "-5"),
        ("<", '"\\u003c"'),
        ([1, "a", []], '[1,"a",[]]'),
        ((1, None), "[1,null]"),
        ({"b": 1, "a": {"<": 2}}, '{"b":1,"a":{"\\u003c":2}}'),
    ],
)
def test_compact_json_has_no_white_space(value: SmallValue, written: str) -> None:
    assert compact_json(value) == written


@pytest.mark.parametrize("value", [1.5, b"x", {1, 2}], ids=["float", "bytes", "set"])
def test_compact_json_refuses_other_types(value: object) -> None:
    with pytest.raises(TypeError):
        compact_json(value)  # type: ignore[arg-type]  # the wrong type is the point


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


# Of the text of "0" and "1" for every code point, by Unicode 15.0.0.
PRINTABLE_SHA256 = "0326b64c15e91a0583a1d9f8bc53f4bb534adc91a5ae096b55adaf19525ed98d"

QUOTED = [
    (b"abc 'x'", "abc 'x'"),
    (b'"\\', '\\"\\\\'),
    (b"\x07\x08\x0c\n\r\t\x0b", "\\a\\b\\f\\n\\r\\t\\v"),
    (b"\x00\x1f\x7f", "\\x00\\x1f\\x7f"),
    (b"\x89P", "\\x89P"),
    (b"\xe4\xbd", "\\xe4\\xbd"),
    (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
    (b"\xc0\xaf", "\\xc0\\xaf"),
    (b"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"),
    ("é主😀\ufffd".encode(), "é主😀\ufffd"),
    ("\u00a0\u00ad\u2028\ufeff".encode(), "\\u00a0\\u00ad\\u2028\\ufeff"),
    ("\U000e0001\U0010ffff".encode(), "\\U000e0001\\U0010ffff"),
    ("\u0378".encode(), "\\u0378"),  # not assigned
]


def test_printable_characters_are_those_of_unicode_15() -> None:
    bits = "".join("01"[is_printable(code)] for code in range(0x110000))
    assert bits.count("1") == 148998
    assert hashlib.sha256(bits.encode()).hexdigest() == PRINTABLE_SHA256


@pytest.mark.skipif(unicodedata.unidata_version != "15.0.0", reason="another Unicode version")
def test_printable_characters_are_pythons_on_the_same_unicode() -> None:
    assert all(chr(code).isprintable() == is_printable(code) for code in range(0x110000))


@pytest.mark.parametrize(("raw", "text"), QUOTED, ids=[raw.hex() for raw, _ in QUOTED])
def test_quote_both_ways(raw: bytes, text: str) -> None:
    assert quote(raw) == text
    assert unquote(text) == raw


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("\\101\\377\\000", b"A\xff\x00"),
        ("\\xAb", b"\xab"),
        ("\\u00E9\\U0001F600", "é😀".encode()),
        ("\\xc3\\xa9", "é".encode()),
        ("\t\x00\x7f\u2028", "\t\x00\x7f\u2028".encode()),
        ("\\x418", b"A8"),
    ],
)
def test_unquote_reads_more_than_quote_writes(text: str, raw: bytes) -> None:
    assert unquote(text) == raw


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("a\\'", 1),
        ("a\\q", 1),
        ("a\\", 1),
        ('a"b', 1),
        ("a\nb", 1),
        ("\\x4", 0),
        ("\\xg1", 0),
        ("\\u12", 0),
        ("\\U0001f60", 0),
        ("\\ud800", 0),
        ("\\U0000dfff", 0),
        ("\\U00110000", 0),
        ("\\400", 0),
        ("\\08", 0),
        ("\\n\\x", 2),
    ],
)
def test_unquote_rejects_what_go_rejects(text: str, index: int) -> None:
    with pytest.raises(QuoteError) as caught:
        unquote(text)
    assert caught.value.index == index


@given(st.binary() | st.text().map(str.encode))
def test_quote_reads_back(raw: bytes) -> None:
    """unquote(quote(raw)) == raw, and the text is printable."""
    text = quote(raw)
    assert all(is_printable(ord(char)) for char in text)
    assert unquote(text) == raw
