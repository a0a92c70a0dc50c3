"""Column values of Open Protocol by type code: both directions, and what is no value of a type."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.strict_json import JsonRules, Member, read_json
from cdcwire.formats.open_protocol.members import Dialect
from cdcwire.formats.open_protocol.values import read_value, value_clause, write_value
from cdcwire.mysql.values import WireValue

RULES = JsonRules("text", "strings", "limits")
INT64 = ("-9223372036854775808", "9223372036854775807")


def read(text: str, code: int, flags: int = 0) -> WireValue:
    return read_value(Member("v", read_json(text.encode(), RULES).value, 7, 7, 7), code, flags)


def float32(bits: int) -> float:
    value: float = struct.unpack(">f", bits.to_bytes(4, "big"))[0]
    return value


CANONICAL: list[tuple[int, int, WireValue, str]] = [
    *((code, 0, int(text), text) for code in (1, 2, 3, 8, 9, 13) for text in INT64),
    *((code, 128, 18446744073709551615, "18446744073709551615") for code in (1, 2, 3, 8, 9)),
    *((code, 0, 18446744073709551615, "18446744073709551615") for code in (16, 247, 248)),
    (13, 193, 2155, "2155"),
    (13, 193, -1, "-1"),
    (16, 193, 2**63, "9223372036854775808"),
    (247, 64, 0, "0"),
    (4, 65, float32(0x3DCCCCCD), "0.1"),
    (4, 65, float32(0x0F800000), "1.2621775e-29"),
    (4, 65, float32(0x15AE43FD), "7.038531e-26"),
    (4, 65, float32(0x15AE43FE), "7.0385313e-26"),
    (4, 65, float32(0x39800000), "0.00024414063"),
    (4, 65, float32(0x6B000000), "1.5474251e+26"),
    (4, 65, float32(0x6C800000), "1.2379401e+27"),
    (4, 65, float32(0x7F7FFFFF), "3.4028235e+38"),
    (4, 65, float32(0x358637BD), "0.000001"),
    (5, 65, 0.1, "0.1"),
    (5, 65, 1e20, "100000000000000000000"),
    (5, 65, 1e21, "1e+21"),
    (5, 65, 9.9e-7, "9.9e-7"),
    (5, 65, 1.7976931348623157e308, "1.7976931348623157e+308"),
    *((code, 65, "any text <", '"any text \\u003c"') for code in (7, 10, 11, 12, 14, 245, 246)),
    (246, 65, "", '""'),
    *((code, 64, "é主\x00\n".encode(), '"é主\\u0000\\n"') for code in (15, 253, 254)),
    *((code, 65, b'\x89P"\\\n\xc2\xa0', '"\\\\x89P\\\\\\"\\\\\\\\\\\\n\\\\u00a0"')
      for code in (15, 253, 254)),
    *((code, flags, b"\xff\x00a", '"/wBh"') for code in (249, 250, 251, 252) for flags in (64, 65)),
    (252, 64, b"", '""'),
    (252, 64, b"a", '"YQ=="'),
    (252, 64, b"ab", '"YWI="'),
    (225, 65, "[1,-2.5,0.1]", '"[1,-2.5,0.1]"'),
    (225, 65, "[]", '"[]"'),
    *((code, 65, None, "null") for code in (0, 1, 4, 6, 15, 100, 225, 245, 252, 255)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "flags", "value", "text"), CANONICAL, ids=[f"{c[0]}-{c[1]}-{c[3]}" for c in CANONICAL]
)
def test_value_both_ways(code: int, flags: int, value: WireValue, text: str) -> None:
    found = read(text, code, flags)
    assert (found, type(found)) == (value, type(value))
    assert write_value(value, code, flags, "tiflow") == text


@pytest.mark.parametrize("code", [4, 5])
def test_negative_zero_both_ways(code: int) -> None:
    found = read("-0", code)
    assert isinstance(found, float)
    assert math.copysign(1, found) == -1
    assert write_value(found, code, 0, "tiflow") == "-0"


@pytest.mark.parametrize(
    ("text", "code", "flags", "value"),
    [
        ("-0", 3, 0, 0),
        ("1.0", 5, 0, 1.0),
        ("1E2", 5, 0, 100.0),
        ("1e-400", 5, 0, 0.0),
        ("0.1000000000000000000000000001", 5, 0, 0.1),
        ("1.00000017881393432617187499999999999", 4, 0, float32(0x3F800001)),
        ("3.40282356e38", 4, 0, float32(0x7F7FFFFF)),
        ('"\\u00e9\\ufffd"', 15, 64, "é\ufffd".encode()),
        ('"\\\\303\\\\251\\\\xE9\\\\u00E9"', 15, 65, b"\xc3\xa9\xe9\xc3\xa9"),
        ('"\\/\\u002b8="', 252, 64, b"\xff\xef"),
    ],
)
def test_value_in_another_form_is_read(text: str, code: int, flags: int, value: WireValue) -> None:
    assert read(text, code, flags) == value


INTEGER, FLOAT, TEXT = "integer values", "float values", "text values"
STRING, QUOTING, BASE64 = "string values", "binary quoting", "base64 values"
VECTOR, NOTHING = "vector values", "types without values"


@pytest.mark.parametrize(
    ("text", "code", "flags", "clause"),
    [
        ("9223372036854775808", 8, 0, INTEGER),
        ("-9223372036854775809", 8, 0, INTEGER),
        ("18446744073709551616", 8, 128, INTEGER),
        ("-1", 8, 128, INTEGER),
        ("-1", 16, 0, INTEGER),
        ("-1", 247, 0, INTEGER),
        ("18446744073709551616", 248, 0, INTEGER),
        ("9223372036854775808", 13, 128, INTEGER),
        ("1.0", 3, 0, INTEGER),
        ("1e2", 3, 0, INTEGER),
        ("true", 1, 0, INTEGER),
        ('"1"', 3, 0, INTEGER),
        ('"a"', 247, 0, INTEGER),
        ("[]", 3, 0, INTEGER),
        ("1" * 21, 8, 128, "limits"),
        ("9" * 100_000, 3, 0, "limits"),
        ('"1.5"', 4, 0, FLOAT),
        ("true", 5, 0, FLOAT),
        ("1e309", 5, 0, FLOAT),
        ("-1e309", 5, 0, FLOAT),
        ("3.4028236e38", 4, 0, FLOAT),
        ("1.5", 246, 0, TEXT),
        ("20210101", 10, 0, TEXT),
        ("{}", 245, 0, TEXT),
        ("1", 15, 64, STRING),
        ("{}", 254, 65, STRING),
        ('"\\\\x8"', 15, 65, QUOTING),
        ("\"\\\\'\"", 15, 65, QUOTING),
        ('"\\""', 15, 65, QUOTING),
        ('"\\n"', 15, 65, QUOTING),
        ('"\\\\ud800"', 253, 65, QUOTING),
        ('"\\\\U00110000"', 254, 65, QUOTING),
        ('"\\\\400"', 254, 65, QUOTING),
        ("1", 252, 0, BASE64),
        ('"YQ"', 252, 0, BASE64),
        ('"YQ="', 252, 0, BASE64),
        ('"YQ==="', 252, 0, BASE64),
        ('"Y==="', 252, 0, BASE64),
        ('"===="', 252, 0, BASE64),
        ('"YQ==YQ=="', 252, 0, BASE64),
        ('"YR=="', 252, 0, BASE64),
        ('"YWJ="', 252, 0, BASE64),
        ('"YW\\nJj"', 252, 0, BASE64),
        ('" YWI="', 252, 0, BASE64),
        ('"_w=="', 252, 0, BASE64),
        ('"YWé="', 252, 0, BASE64),
        ("[1]", 225, 0, VECTOR),
        ('"1"', 225, 0, VECTOR),
        ('"["', 225, 0, VECTOR),
        ('"[1, 2]"', 225, 0, VECTOR),
        ('"[1,]"', 225, 0, VECTOR),
        ('"[1e5]"', 225, 0, VECTOR),
        ('"[01]"', 225, 0, VECTOR),
        (f'"[{"9" * 40}]"', 225, 0, VECTOR),
        ("1", 0, 0, NOTHING),
        ("false", 6, 0, NOTHING),
        ('""', 255, 0, NOTHING),
        ("1", 100, 0, NOTHING),
    ],
)  # fmt: skip
def test_value_that_its_type_does_not_have_is_rejected(
    text: str, code: int, flags: int, clause: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        read(text, code, flags)
    assert (caught.value.offset, caught.value.clause) == (7, f"open-protocol: {clause}")


@pytest.mark.parametrize(
    ("value", "code", "flags", "clause"),
    [
        (2**63, 8, 0, INTEGER),
        (-1, 8, 128, INTEGER),
        (2**64, 16, 0, INTEGER),
        (2**63, 13, 128, INTEGER),
        (True, 1, 0, INTEGER),
        (1.0, 3, 0, INTEGER),
        ("1", 3, 0, INTEGER),
        (math.nan, 5, 0, FLOAT),
        (math.inf, 4, 0, FLOAT),
        (-math.inf, 5, 0, FLOAT),
        (0.1, 4, 0, FLOAT),
        (1, 5, 0, FLOAT),
        (b"1", 246, 0, TEXT),
        ("\ud800", 245, 0, "json strings"),
        ("a", 15, 0, STRING),
        ("a", 252, 0, BASE64),
        ("[1,", 225, 0, VECTOR),
        (b"[1]", 225, 0, VECTOR),
        (0, 6, 0, NOTHING),
        (b"", 255, 0, NOTHING),
    ],
)
def test_value_that_its_type_does_not_have_is_not_encoded(
    value: WireValue, code: int, flags: int, clause: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        write_value(value, code, flags, "tiflow")
    assert caught.value.clause == f"open-protocol: {clause}"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [("tiflow", '"\\u003c\\u003e\\u0026\\u2028/\'"'), ("ticdc", '"<>&\u2028/\'"')],
)
def test_html_is_escaped_in_one_dialect(dialect: Dialect, text: str) -> None:
    assert write_value("<>&\u2028/'".encode(), 15, 64, dialect) == text
    assert write_value("<>&\u2028/'", 245, 65, dialect) == text


@pytest.mark.parametrize(
    ("dialect", "text", "number"),
    [("tiflow", r'"\b\f\u000b"', "1e-7"), ("ticdc", r'"\u0008\u000c\u000b"', "1e-07")],
)
def test_each_dialect_has_the_escapes_and_exponents_of_its_library(
    dialect: Dialect, text: str, number: str
) -> None:
    assert write_value(b"\b\f\v", 15, 64, dialect) == text
    assert write_value(1e-7, 5, 65, dialect) == number


def test_ill_formed_text_is_replaced_byte_by_byte() -> None:
    assert write_value(b"a\xe4\xbd\xff", 15, 64, "tiflow") == '"a\\ufffd\\ufffd\\ufffd"'


@pytest.mark.parametrize(
    ("code", "flags", "clause"),
    [
        (1, 0, INTEGER),
        (13, 0, INTEGER),
        (5, 0, FLOAT),
        (246, 0, TEXT),
        (15, 64, STRING),
        (15, 65, QUOTING),
        (252, 65, BASE64),
        (225, 65, VECTOR),
        (255, 65, NOTHING),
    ],
)
def test_value_clause_names_the_clause_of_the_type(code: int, flags: int, clause: str) -> None:
    assert value_clause(code, flags) == f"open-protocol: {clause}"


@given(st.binary(), st.sampled_from([(15, 65), (254, 65), (252, 64), (249, 65)]))
def test_bytes_read_back(raw: bytes, column: tuple[int, int]) -> None:
    """read(write(bytes)) is the same for binary strings and for everything in base64."""
    assert read(write_value(raw, *column, "tiflow"), *column) == raw


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_double_reads_back(value: float) -> None:
    """read(write(x)) == x"""
    assert read(write_value(value, 5, 65, "tiflow"), 5, 65) == value


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float_reads_back(value: float) -> None:
    """read(write(x)) == x for 32-bit floats"""
    assert read(write_value(value, 4, 65, "tiflow"), 4, 65) == value
