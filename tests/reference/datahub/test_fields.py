"""Texts of the ten field types: every spelling of the two SDKs, every limit."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.datahub.fields import (
    FIELD_TYPES,
    MAX_STRING_BYTES,
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    FieldType,
    FieldValue,
    clause_of,
    field_type,
    kind_of,
    read_text,
    write_text,
)
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kind_text import kind_text

READ: tuple[tuple[FieldType, str, FieldValue], ...] = (
    ("TINYINT", "-128", -128),
    ("TINYINT", "127", 127),
    ("SMALLINT", "-32768", -32768),
    ("INTEGER", "2147483647", 2147483647),
    ("BIGINT", "-9223372036854775808", -(1 << 63)),
    ("BIGINT", "9223372036854775807", (1 << 63) - 1),
    ("BIGINT", "007", 7),
    ("DOUBLE", "1.0000000000000001e-01", 0.1),
    ("DOUBLE", "1.e+02", 100.0),
    ("DOUBLE", "-0.e+00", -0.0),
    ("DOUBLE", "1e+300", 1e300),
    ("DOUBLE", "1.0E300", 1e300),
    ("DOUBLE", "100.0", 100.0),
    ("DOUBLE", ".5", 0.5),
    ("DOUBLE", "1", 1.0),
    ("DOUBLE", "Infinity", float("inf")),
    ("DOUBLE", "-inf", float("-inf")),
    ("DOUBLE", "-INF", float("-inf")),
    ("DOUBLE", "1e-999999999", 0.0),
    ("FLOAT", "0.1", narrow_float32(0.1)),
    ("FLOAT", "3.4028235e38", 3.4028234663852886e38),
    ("FLOAT", "7.038531e-26", 7.038530691851209e-26),
    ("BOOLEAN", "true", True),
    ("BOOLEAN", "false", False),
    ("TIMESTAMP", str(MIN_TIMESTAMP), MIN_TIMESTAMP),
    ("TIMESTAMP", str(MAX_TIMESTAMP), MAX_TIMESTAMP),
    ("STRING", "", ""),
    ("STRING", "héllo 😀\0", "héllo 😀\0"),
    ("DECIMAL", "1E+3", Decimal("1E+3")),
    ("DECIMAL", "1E-10", Decimal("1E-10")),
    ("DECIMAL", "0.0000000001", Decimal("1E-10")),
    ("DECIMAL", "-0.10", Decimal("-0.10")),
    (
        "DECIMAL",
        "12345678901234567890.123456789012345678",
        Decimal("12345678901234567890.123456789012345678"),
    ),
)
REFUSED: tuple[tuple[FieldType, bytes, str], ...] = (
    ("TINYINT", b"128", "datahub: integer fields"),
    ("TINYINT", b"-129", "datahub: integer fields"),
    ("SMALLINT", b"32768", "datahub: integer fields"),
    ("INTEGER", b"2147483648", "datahub: integer fields"),
    ("BIGINT", b"9223372036854775808", "datahub: integer fields"),
    ("BIGINT", b"", "datahub: integer fields"),
    ("BIGINT", b"1.0", "datahub: integer fields"),
    ("BIGINT", b"1e2", "datahub: integer fields"),
    ("BIGINT", b" 1", "datahub: integer fields"),
    ("BIGINT", b"1_0", "datahub: integer fields"),
    ("BIGINT", "١".encode(), "datahub: integer fields"),
    ("BIGINT", b"9" * 5000, "datahub: integer fields"),
    ("DOUBLE", b"1e400", "datahub: float fields"),
    ("DOUBLE", b"", "datahub: float fields"),
    ("DOUBLE", b"1_0", "datahub: float fields"),
    ("DOUBLE", b"0x1p3", "datahub: float fields"),
    ("DOUBLE", b"1e", "datahub: float fields"),
    ("DOUBLE", b"infinit", "datahub: float fields"),
    ("DOUBLE", b"1" * 1025, "datahub: limits"),
    ("FLOAT", b"3.5e38", "datahub: float fields"),
    ("FLOAT", b"nanx", "datahub: float fields"),
    ("BOOLEAN", b"True", "datahub: boolean fields"),
    ("BOOLEAN", b"1", "datahub: boolean fields"),
    ("BOOLEAN", b"", "datahub: boolean fields"),
    ("TIMESTAMP", str(MIN_TIMESTAMP - 1).encode(), "datahub: timestamp fields"),
    ("TIMESTAMP", str(MAX_TIMESTAMP + 1).encode(), "datahub: timestamp fields"),
    ("TIMESTAMP", b"9223372036854775808", "datahub: timestamp fields"),
    ("TIMESTAMP", b"2020-01-01", "datahub: timestamp fields"),
    ("STRING", b"\xff", "datahub: string fields"),
    ("STRING", b"\xed\xa0\x80", "datahub: string fields"),
    ("STRING", b"x" * (MAX_STRING_BYTES + 1), "datahub: limits"),
    ("DECIMAL", b"NaN", "datahub: decimal fields"),
    ("DECIMAL", b"", "datahub: decimal fields"),
    ("DECIMAL", b"1E+401", "datahub: limits"),
    ("DECIMAL", b"1E-999999999", "datahub: limits"),
    ("DECIMAL", b"1" * 1025, "datahub: limits"),
)
UNWRITTEN: tuple[tuple[FieldType, FieldValue, str], ...] = (
    ("TINYINT", 128, "datahub: integer fields"),
    ("BIGINT", True, "datahub: integer fields"),
    ("BIGINT", 1.0, "datahub: integer fields"),
    ("DOUBLE", float("nan"), "datahub: float fields"),
    ("DOUBLE", float("inf"), "datahub: float fields"),
    ("DOUBLE", 1, "datahub: float fields"),
    ("FLOAT", 0.1, "datahub: float fields"),
    ("FLOAT", 1e300, "datahub: float fields"),
    ("FLOAT", float("nan"), "datahub: float fields"),
    ("BOOLEAN", 1, "datahub: boolean fields"),
    ("TIMESTAMP", MAX_TIMESTAMP + 1, "datahub: timestamp fields"),
    ("TIMESTAMP", "0", "datahub: timestamp fields"),
    ("STRING", 1, "datahub: string fields"),
    ("STRING", "a\ud800", "datahub: string fields"),
    ("STRING", "x" * (MAX_STRING_BYTES + 1), "datahub: string fields"),
    ("DECIMAL", Decimal("NaN"), "datahub: decimal fields"),
    ("DECIMAL", 1, "datahub: decimal fields"),
    ("DECIMAL", Decimal("1E+1020"), "datahub: limits"),
    ("DECIMAL", Decimal("1E-1020"), "datahub: limits"),
)


@pytest.mark.parametrize(("type_", "text", "value"), READ)
def test_text_is_read(type_: FieldType, text: str, value: FieldValue) -> None:
    found = read_text(type_, text.encode(), 0)
    assert (type(found), repr(found)) == (type(value), repr(value))


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "NAN"])
def test_nan_is_read(text: str) -> None:
    for type_ in ("FLOAT", "DOUBLE"):
        found = read_text(field_type(type_) or "DOUBLE", text.encode(), 0)
        assert isinstance(found, float)
        assert isnan(found)


@pytest.mark.parametrize(("type_", "text", "clause"), REFUSED)
def test_text_that_is_not_a_value_is_rejected(type_: FieldType, text: bytes, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_text(type_, text, 7)
    assert (caught.value.offset, caught.value.clause) == (7, clause)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("type_", "value", "clause"), UNWRITTEN)
def test_value_that_has_no_text_is_refused(
    type_: FieldType, value: FieldValue, clause: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        write_text(type_, value)
    assert caught.value.clause == clause


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("DOUBLE", 0.1, "0.1"),
        ("DOUBLE", 100.0, "100.0"),
        ("DOUBLE", -0.0, "-0.0"),
        ("DOUBLE", 1e300, "1e+300"),
        ("FLOAT", narrow_float32(0.1), "0.1"),
        ("FLOAT", 1.401298464324817e-45, "1e-45"),
        ("FLOAT", 16777216.0, "16777216.0"),
        ("FLOAT", 3.4028234663852886e38, "3.4028235e+38"),
        # One digit less reads back by way of a double, and is the text of its neighbour.
        ("FLOAT", 7.038531308148791e-26, "7.0385313e-26"),
        ("FLOAT", 7.038530691851209e-26, "7.038531e-26"),
        ("BOOLEAN", True, "true"),
        ("DECIMAL", Decimal("1E+3"), "1000"),
        ("DECIMAL", Decimal("1E-10"), "0.0000000001"),
        ("DECIMAL", Decimal("-0.10"), "-0.10"),
        ("DECIMAL", Decimal("0E-3"), "0.000"),
    ],
)
def test_value_is_written(type_: FieldType, value: FieldValue, text: str) -> None:
    assert write_text(type_, value) == text


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float_comes_back_and_no_shorter_text_does(value: float) -> None:
    text = write_text("FLOAT", value)
    found = read_text("FLOAT", text.encode(), 0)
    assert repr(found) == repr(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_double_comes_back(value: float) -> None:
    assert repr(read_text("DOUBLE", write_text("DOUBLE", value).encode(), 0)) == repr(value)


@given(st.decimals(allow_nan=False, allow_infinity=False).filter(lambda d: abs(d.adjusted()) < 300))
def test_decimal_comes_back_as_number(value: Decimal) -> None:
    assert read_text("DECIMAL", write_text("DECIMAL", value).encode(), 0) == value


@given(st.sampled_from(FIELD_TYPES), st.binary(max_size=20))
def test_any_bytes_are_read_or_rejected(type_: FieldType, text: bytes) -> None:
    error = error_of(lambda: read_text(type_, text, 0))
    assert error is None or error.clause in (clause_of(type_), "datahub: limits")


def test_names_of_types_are_read_in_any_letter_case() -> None:
    assert [field_type(name.lower()) for name in FIELD_TYPES] == list(FIELD_TYPES)
    assert field_type("int") is None
    kinds = [kind_text(kind_of(type_)) for type_ in FIELD_TYPES]
    assert kinds == [
        "int8", "int16", "int32", "int64", "float32", "float64",
        "bool", "timestamp", "text", "decimal",
    ]  # fmt: skip


def error_of(read: Callable[[], object]) -> DecodeError | None:
    try:
        read()
    except DecodeError as error:
        return error
    return None
