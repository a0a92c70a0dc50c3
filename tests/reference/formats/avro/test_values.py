"""Column values: exact both ways, and what a column can't have."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.formats.avro.values import (
    bit_bytes,
    decimal_bytes,
    decimal_of_bytes,
    decimal_text,
    unwrapped,
)

DECIMALS = {
    "0": "00",
    "1": "01",
    "127": "7f",
    "128": "0080",
    "-1": "ff",
    "-128": "80",
    "-129": "ff7f",
    "255": "00ff",
    "1.500": "05dc",
}


@pytest.mark.parametrize(("text", "raw"), DECIMALS.items(), ids=DECIMALS)
def test_decimal_has_the_fewest_bytes(text: str, raw: str) -> None:
    scale = 3 if "." in text else 0
    assert decimal_bytes(Decimal(text), scale).hex() == raw
    assert str(decimal_of_bytes(bytes.fromhex(raw), scale)) == text


@given(
    st.integers(-(10**65) + 1, 10**65 - 1),
    st.integers(0, 30),
    st.integers(0, 5),
)
def test_decimal_is_exact_whatever_its_sign_extension(
    unscaled: int, scale: int, longer: int
) -> None:
    value = Decimal(f"{unscaled}E-{scale}")
    raw = decimal_bytes(value, scale)
    extension = (b"\xff" if unscaled < 0 else b"\0") * longer
    found = decimal_of_bytes(extension + raw, scale)
    assert (found, found.as_tuple().exponent) == (value, -scale)
    assert f"{found:f}" == decimal_text(value, scale)


@pytest.mark.parametrize("text", ["1.2345", "nan", "inf", "1e-30", "1e999999", "1e2000"])
def test_decimal_that_the_column_can_not_have_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"DECIMAL|digits"):
        decimal_bytes(Decimal(text), 3)


def test_decimal_of_no_bytes_or_too_many_is_refused() -> None:
    for raw in (b"", b"\x01" + b"\0" * 1000):
        with pytest.raises(ValueError, match="DECIMAL"):
            decimal_of_bytes(raw, 0)
    assert decimal_of_bytes(b"\0" * 100000 + b"\x01", 0) == 1


def test_decimal_text_has_all_its_digits() -> None:
    assert decimal_text(Decimal("1.5"), 3) == "1.500"
    assert decimal_text(Decimal("-0.05"), 2) == "-0.05"
    assert decimal_text(Decimal("15"), 0) == "15"
    assert decimal_text(Decimal("1.5"), None) == "1.5"
    assert decimal_text(Decimal("1E+3"), 1) == "1000.0"


def test_bit_is_trimmed_or_padded() -> None:
    assert [bit_bytes(n).hex() for n in (0, 5, 256)] == ["00", "05", "0100"]
    assert bit_bytes(5, 2).hex() == "0005"


def test_unsigned_is_unwrapped() -> None:
    assert [unwrapped(n) for n in (-1, 0, -(1 << 63))] == [2**64 - 1, 0, 2**63]
