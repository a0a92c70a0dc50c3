"""Column values: the text of each kind, and what is no value of it."""

from __future__ import annotations

import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.formats.csv import Field, Settings
from cdcwire.formats.csv.values import ColumnCodec, column_codec, float_text
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import UNAVAILABLE, FloatType, Value

HEX = Settings(binary_encoding="hex")
NO_QUOTE = Settings(quote=b"")
NULL_WORD = Settings(quote=b"", null=b"NULL")
EMPTY_NULL = Settings(quote=b"", null=b"")


def codec(kind: str, settings: Settings | None = None, nullable: bool | None = None) -> ColumnCodec:
    return column_codec(parse_kind(kind), nullable, settings or Settings())


def bare(text: str) -> Field:
    return Field(text.encode(), False)


def quoted(text: str | bytes) -> Field:
    return Field(text.encode() if isinstance(text, str) else text, True)


SAME: list[tuple[str, Value, Field]] = [
    ("int8", -128, bare("-128")),
    ("int64 unsigned", 2**64 - 1, bare("18446744073709551615")),
    ("bool", -128, bare("-128")),
    ("bit(64)", 2**64 - 1, bare("18446744073709551615")),
    ("year", 0, bare("0")),
    ("float32", 0.10000000149011612, bare("0.1")),
    ("float64", 1e-05, bare("1e-05")),
    ("decimal(10,4)", Decimal("1.5000"), quoted("1.5000")),
    ("date", "0000-00-00", quoted("0000-00-00")),
    ("time(3)", "-838:59:59.000", quoted("-838:59:59.000")),
    ("datetime", "2022-01-02 03:04:05", quoted("2022-01-02 03:04:05")),
    ("timestamp(6)", "2022-01-02 03:04:05.000006", quoted("2022-01-02 03:04:05.000006")),
    ("text(5)", 'a"b', quoted('a""b')),
    ("text", b"\xff", quoted(b"\xff")),
    ("bytes(4)", b"\xff\0", quoted("/wA=")),
    ("json", '{"a": 1}', quoted('{""a"": 1}')),
    ("enum(a,b)", "b", quoted("b")),
    ("enum", "anything", quoted("anything")),
    ("set(a,b,c)", "a,c", quoted("a,c")),
    ("set(a,b,c)", "", quoted("")),
    ("set", "x", quoted("x")),
    ("vector", (1.0, -2.5), quoted("[1,-2.5]")),
    ("unknown", None, bare("\\N")),
]


@pytest.mark.parametrize(("kind", "value", "field"), SAME, ids=lambda each: f"{each!s:.30}")
def test_value_and_field_are_the_same_both_ways(kind: str, value: Value, field: Field) -> None:
    each = codec(kind)
    assert each.write(each.kind, value) == field
    found, is_ambiguous = each.read(field, 0)
    assert (type(found), found, is_ambiguous) == (type(value), value, False)
    assert each.read(each.write(each.kind, None), 0) == (None, False)


REFUSED: list[tuple[str, Field, str]] = [
    ("int8", bare("128"), "csv: integer values"),
    ("int32", bare("1\0"), "csv: integer values"),
    ("int32", bare("\u0661"), "csv: integer values"),
    ("int32", bare(""), "csv: integer values"),
    ("int32", quoted("1"), "csv: kinds of fields"),
    ("int32", Field(b"\xff", False), "csv: integer values"),
    ("bit(3)", bare("8"), "csv: bit and year values"),
    ("year", bare("1900"), "csv: bit and year values"),
    ("float64", bare("NaN"), "csv: float values"),
    ("float64", bare("1e400"), "csv: float values"),
    ("float32", bare("1e39"), "csv: float values"),
    ("float64", bare("1" * 600), "csv: float values"),
    ("float64", bare("0x1"), "csv: float values"),
    ("float64", bare("1_0"), "csv: float values"),
    ("decimal(5,2)", quoted("1000.00"), "csv: decimal values"),
    ("decimal(5,2)", quoted(b"1\xff"), "csv: decimal values"),
    ("decimal(5,2)", bare("1.00"), "csv: kinds of fields"),
    ("date", quoted("2022-13-01"), "csv: temporal values"),
    ("time(0)", quoted("839:00:00"), "csv: temporal values"),
    ("datetime(3)", quoted("2022-01-02 03:04:05"), "csv: temporal values"),
    ("text", bare("x"), "csv: kinds of fields"),
    ("text", bare("\\n"), "csv: kinds of fields"),
    ("json", quoted(""), "csv: json values"),
    ("json", quoted(b'"\xff"'), "csv: json values"),
    *(("bytes", quoted(text), "csv: binary values") for text in ("A", "QQ", "QQ=", "QR==", "Q Q=")),
    *(("bytes", quoted(text), "csv: binary values") for text in ("QQ==\n", "====", "_w==", "é")),
    ("enum(a,b)", quoted("c"), "csv: enum and set values"),
    ("enum(a,b)", quoted(""), "csv: enum and set values"),
    ("enum", quoted(b"\xff"), "csv: enum and set values"),
    ("set(a,b)", quoted("b,a"), "csv: enum and set values"),
    ("set(a,b)", quoted("a,a"), "csv: enum and set values"),
    ("set(a,b)", quoted("a,"), "csv: enum and set values"),
    ("vector", quoted("[1,]"), "csv: vector values"),
    ("vector", quoted("[1e400]"), "csv: vector values"),
    ("unknown", quoted("x"), "csv: schema"),
]


@pytest.mark.parametrize(("kind", "field", "clause"), REFUSED, ids=lambda each: f"{each!s:.40}")
def test_field_that_is_not_a_value_is_refused(kind: str, field: Field, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        codec(kind).read(field, 17)
    assert (caught.value.offset, caught.value.clause) == (17, clause)


@pytest.mark.parametrize("text", ["FF", "f", "fg", "f f", "0xff", "é"])
def test_hex_that_is_not_as_written_is_refused(text: str) -> None:
    assert codec("bytes", HEX).read(quoted("ff00"), 0) == (b"\xff\0", False)
    with pytest.raises(DecodeError):
        codec("bytes", HEX).read(quoted(text), 0)


def test_vector_may_be_bare() -> None:
    assert codec("vector").read(bare("[1.5]"), 0) == ((1.5,), False)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.10", 0.1), ("1E3", 1000.0), ("1e6", 1e6), ("100000000", 1e8), ("+1", 1.0), ("007", 7.0)],
)
def test_floats_of_other_forms_are_read(text: str, value: float) -> None:
    assert codec("float64").read(bare(text), 0) == (value, False)


@pytest.mark.parametrize(
    ("bits", "value", "text"),
    [
        (64, 0.0, "0"),
        (64, -0.0, "-0"),
        (64, 0.1, "0.1"),
        (64, 0.0001, "0.0001"),
        (64, -1e-05, "-1e-05"),
        (64, 123456.79, "123456.79"),
        (64, 999999.0, "999999"),
        (64, 1e6, "1e+06"),
        (64, 16777216.0, "1.6777216e+07"),
        (64, 1.2345678912345679e8, "1.2345678912345679e+08"),
        (64, 9.007199254740992e15, "9.007199254740992e+15"),
        (64, 1e20, "1e+20"),
        (64, 1e100, "1e+100"),
        (64, 5e-324, "5e-324"),
        (64, 1.7976931348623157e308, "1.7976931348623157e+308"),
        (32, 3.4028234663852886e38, "3.4028235e+38"),
        (32, 2.0**-149, "1e-45"),
        (32, 2.0**-12, "0.00024414063"),
        (32, 2.0**-96, "1.2621775e-29"),
        (32, 2.0**87, "1.5474251e+26"),
        (32, 2.0**90, "1.2379401e+27"),
        (32, 1209169.75, "1.2091698e+06"),
        (32, 0.10000000149011612, "0.1"),
    ],
)
def test_float_text(bits: int, value: float, text: str) -> None:
    kind = FloatType(64 if bits == 64 else 32)
    assert float_text(value, kind) == text
    assert codec(f"float{bits}").read(bare(text), 0) == (value, False)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float64_comes_back_to_the_bit(value: float) -> None:
    (found, _) = codec("float64").read(bare(float_text(value, FloatType(64))), 0)
    assert struct.pack("<d", found) == struct.pack("<d", value)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float32_comes_back_to_the_bit(value: float) -> None:
    (found, _) = codec("float32").read(bare(float_text(value, FloatType(32))), 0)
    assert struct.pack("<f", found) == struct.pack("<f", value)


@pytest.mark.parametrize(
    ("kind", "sent", "value", "field"),
    [
        ("enum(a,b)", "enum", 2, quoted("b")),
        ("set(a,b,c)", "set", 5, quoted("a,c")),
        ("set(a,b,c)", "set", 0, quoted("")),
        ("int8", "bool", True, bare("1")),
        ("bool", "int8", 2, bare("2")),
        ("bool", "bool", True, bare("1")),
        ("int64", "int8", 5, bare("5")),
        ("float32", "float64", 0.5, bare("0.5")),
        ("decimal(5,2)", "decimal", Decimal("1.50"), quoted("1.50")),
        ("text(3)", "text", "abcdef", quoted("abcdef")),
    ],
)
def test_value_of_another_form_fits(kind: str, sent: str, value: Value, field: Field) -> None:
    assert codec(kind).write(parse_kind(sent), value) == field


@pytest.mark.parametrize(
    ("kind", "sent", "value"),
    [
        ("int8", "int16", 300),
        ("int8", "text", "1"),
        ("bool", "int16", 128),
        ("float32", "float64", 0.1),
        ("float64", "float64", float("nan")),
        ("float64", "float64", float("inf")),
        ("decimal(5,2)", "decimal", Decimal("1.555")),
        ("decimal", "decimal", Decimal("NaN")),
        ("enum", "enum", 1),
        ("enum(a,b)", "enum", 0),
        ("enum(a,b)", "enum", 3),
        ("enum(a,b)", "enum", "c"),
        ("set(a,b)", "set", 4),
        ("set", "set", 1),
        ("text", "bytes", b"x"),
        ("bytes", "text", "x"),
        ("bytes", "bytes", "x"),
        ("text", "text", "\ud800"),
        ("json", "json", "\udcff"),
        ("json", "json", ""),
        ("date", "date", "today"),
        ("vector", "vector", (0.1,)),
        ("vector", "vector", (float("inf"),)),
        ("unknown", "unknown", "x"),
        ("int8", "int8", UNAVAILABLE),
    ],
    ids=lambda each: f"{each!r:.30}",
)
def test_value_that_does_not_fit_is_refused(kind: str, sent: str, value: Value) -> None:
    with pytest.raises(EncodeError) as caught:
        codec(kind).write(parse_kind(sent), value)
    assert caught.value.clause.startswith("csv: ")


@pytest.mark.parametrize("kind", ["interval", "array<int8>", "map<text,int8>", "struct<a:int8>"])
def test_kind_that_mysql_does_not_have_is_refused(kind: str) -> None:
    with pytest.raises(EncodeError) as caught:
        codec(kind)
    assert caught.value.clause == "csv: schema"


NUMBERS = ["int8", "bit", "year", "float32", "float64", "bool"]
STRICT = ["decimal", "date", "time", "datetime", "timestamp", "vector", "unknown"]
LOOSE = ["text", "bytes", "enum(a)", "enum", "set(a)", "set"]


@pytest.mark.parametrize("kind", [*NUMBERS, *STRICT])
@pytest.mark.parametrize("settings", [NULL_WORD, EMPTY_NULL], ids=["word", "empty"])
def test_null_is_certain_where_its_text_is_not_a_value(kind: str, settings: Settings) -> None:
    for nullable in (True, False, None):
        field = Field(settings.null, False)
        assert codec(kind, settings, nullable).read(field, 0) == (None, False)


@pytest.mark.parametrize("kind", LOOSE)
@pytest.mark.parametrize("settings", [NULL_WORD, EMPTY_NULL], ids=["word", "empty"])
def test_null_of_a_string_is_marked(kind: str, settings: Settings) -> None:
    for nullable in (True, None):
        assert codec(kind, settings, nullable).read(Field(settings.null, False), 0) == (None, True)


def test_null_of_json_is_certain_only_if_it_is_empty() -> None:
    assert codec("json", EMPTY_NULL).read(bare(""), 0) == (None, False)
    assert codec("json", NULL_WORD).read(bare("NULL"), 0) == (None, True)


def test_null_text_is_text_where_null_is_not_allowed() -> None:
    assert codec("text", NULL_WORD, False).read(bare("NULL"), 0) == ("NULL", False)
    assert codec("text", EMPTY_NULL, False).read(bare(""), 0) == ("", False)
    assert codec("bytes", EMPTY_NULL, False).read(bare(""), 0) == (b"", False)
    with pytest.raises(EncodeError) as caught:
        codec("text", EMPTY_NULL, False).write(parse_kind("text"), None)
    assert caught.value.clause == "csv: ambiguous null"


def test_date_that_is_the_null_text_is_marked() -> None:
    settings = Settings(quote=b"", null=b"0000-00-00")
    assert codec("date", settings).read(bare("0000-00-00"), 0) == (None, True)
    assert codec("datetime", settings).read(bare("0000-00-00"), 0) == (None, False)


def test_null_is_compared_before_escapes_are_undone() -> None:
    each = codec("text", NO_QUOTE)
    assert each.read(bare("\\N"), 0) == (None, False)
    assert each.read(bare("\\\\N"), 0) == ("\\N", False)
    assert each.write(each.kind, "\\N") == bare("\\\\N")


def test_quoted_null_text_is_text() -> None:
    assert codec("text").read(quoted("\\N"), 0) == ("\\N", False)
    assert codec("text").read(bare("\\N"), 0) == (None, False)
    assert codec("text", Settings(null=b"")).read(quoted(""), 0) == ("", False)
