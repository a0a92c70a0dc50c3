"""Column values: golden bytes both ways, limits of each type, and what each type refuses."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.reader import Reader
from cdcwire.formats.craft.columns import (
    encode_value,
    narrow_to_float32,
    read_value,
    widen_float32,
)
from cdcwire.formats.craft.profile import CRAFT, PROPOSAL
from cdcwire.mysql.values import WireValue

UNSIGNED = 128

GOLDEN: list[tuple[str, int, int, WireValue, str]] = [
    ("int-zero", 3, 0, 0, "00"),
    ("int-minus-one", 3, 0, -1, "01"),
    ("bigint-min", 8, 0, -(2**63), "ffffffffffffffffff01"),
    ("bigint-unsigned-max", 8, UNSIGNED, 2**64 - 1, "ffffffffffffffffff01"),
    ("tinyint-wider-than-the-column", 1, 0, 70000, "e0c508"),
    ("int-unsigned-one", 3, UNSIGNED, 1, "01"),
    ("year-2021-is-zigzag-though-unsigned", 13, 193, 2021, "ca1f"),
    ("year-zero", 13, 193, 0, "00"),
    ("bit-64-all-ones", 16, 193, 2**64 - 1, "ffffffffffffffffff01"),
    ("bit-without-unsigned-flag", 16, 0, 3, "03"),
    ("enum-2", 247, 64, 2, "02"),
    ("set-member-64", 248, 64, 2**63, "80808080808080808001"),
    ("float-is-8-bytes", 4, 65, 1.5, "000000000000f83f"),
    ("double", 5, 65, -0.0, "0000000000000080"),
    ("double-infinite", 5, 65, math.inf, "000000000000f07f"),
    ("date", 10, 65, "0000-00-00", b"0000-00-00".hex()),
    ("newdate", 14, 65, "2021-04-06", b"2021-04-06".hex()),
    ("time", 11, 65, "-838:59:59", b"-838:59:59".hex()),
    ("timestamp", 7, 65, "2021-04-06 12:34:56", b"2021-04-06 12:34:56".hex()),
    ("datetime", 12, 65, "", ""),
    ("decimal-is-not-checked", 246, 65, "no number", b"no number".hex()),
    ("json", 245, 65, '{"é": 1}', '{"é": 1}'.encode().hex()),
    ("varchar-ill-formed", 15, 64, b"\xff", "ff"),
    ("char-empty", 254, 64, b"", ""),
    ("blob", 252, 65, b"\x00\xff", "00ff"),
    ("varstring", 253, 64, b"a", "61"),
    ("vector", 225, 65, "[1,-2.5,0.1]", b"[1,-2.5,0.1]".hex()),
    ("vector-empty", 225, 65, "[]", b"[]".hex()),
]
BROKEN = [
    ("int-empty", 3, 0, "", "craft: integers", 0),
    ("int-truncated", 3, 0, "80", "craft: integers", 1),
    ("int-over-64-bits", 8, UNSIGNED, "ffffffffffffffffff02", "craft: integers", 0),
    ("int-surplus", 3, 0, "0000", "craft: integer values", 1),
    ("year-surplus", 13, 193, "ca1f00", "craft: year values", 2),
    ("bit-surplus", 16, 193, "0100", "craft: bit, enum and set values", 1),
    ("float-4-bytes", 4, 65, "0000c03f", "craft: float values", 0),
    ("double-9-bytes", 5, 65, "00" * 9, "craft: float values", 0),
    ("date-not-utf8", 10, 65, "3030ff", "craft: text values", 2),
    ("json-surrogate", 245, 65, "eda080", "craft: text values", 0),
    ("vector-space", 225, 65, b"[1, 2]".hex(), "craft: vector values", 0),
    ("vector-exponent", 225, 65, b"[1e3]".hex(), "craft: vector values", 0),
    ("vector-leading-zero", 225, 65, b"[01]".hex(), "craft: vector values", 0),
    ("vector-overflow", 225, 65, (b"[1" + b"0" * 39 + b"]").hex(), "craft: vector values", 0),
    ("vector-not-utf8", 225, 65, "5bff5d", "craft: vector values", 1),
    ("null-type-with-value", 6, 0, "", "craft: types without values", 0),
    ("unspecified-with-value", 0, 0, "00", "craft: types without values", 0),
    ("geometry-with-value", 255, 0, "00", "craft: types without values", 0),
    ("unknown-code-with-value", 99, 0, "00", "craft: types without values", 0),
]


@pytest.mark.parametrize(
    ("code", "flags", "value", "hexed"), [c[1:] for c in GOLDEN], ids=[c[0] for c in GOLDEN]
)
def test_value_has_the_golden_bytes_both_ways(
    code: int, flags: int, value: WireValue, hexed: str
) -> None:
    raw = bytes.fromhex(hexed)
    assert encode_value(value, code, flags, CRAFT) == raw
    found = read_value(Reader(raw), code, flags, CRAFT)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("code", "flags", "hexed", "clause", "offset"),
    [c[1:] for c in BROKEN],
    ids=[c[0] for c in BROKEN],
)
def test_value_broken_is_rejected(
    code: int, flags: int, hexed: str, clause: str, offset: int
) -> None:
    with pytest.raises(DecodeError) as caught:
        read_value(Reader(bytes.fromhex(hexed)), code, flags, CRAFT)
    assert (caught.value.clause, caught.value.offset) == (clause, offset)


def test_integer_longer_than_needed_is_read() -> None:
    assert read_value(Reader(bytes.fromhex("848000")), 3, 0, CRAFT) == 2


@pytest.mark.parametrize(
    ("code", "flags", "value"),
    [
        (3, 0, True),
        (3, 0, 1.0),
        (3, 0, 2**63),
        (3, UNSIGNED, -1),
        (13, 193, "2021"),
        (16, 0, -1),
        (4, 65, 1),
        (5, 65, "1"),
        (246, 65, b"1"),
        (246, 65, "\udc00"),
        (15, 64, "text"),
        (225, 65, "[1, 2]"),
        (225, 65, "[1" + "0" * 39 + "]"),
        (6, 0, 0),
        (255, 0, b""),
    ],
)
def test_value_of_the_wrong_form_is_not_encoded(code: int, flags: int, value: WireValue) -> None:
    with pytest.raises(EncodeError):
        encode_value(value, code, flags, CRAFT)


@given(bits=st.integers(0, 2**64 - 1))
def test_craft_float_keeps_all_64_bits(bits: int) -> None:
    """encode(decode(b)) == b for every FLOAT, NaN payloads included."""
    raw = struct.pack("<Q", bits)
    assert encode_value(read_value(Reader(raw), 4, 65, CRAFT), 4, 65, CRAFT) == raw


@given(bits=st.integers(0, 2**32 - 1) | st.integers(0x7F800000, 0x7F800010))
def test_proposal_float_keeps_all_32_bits(bits: int) -> None:
    """encode(decode(b)) == b for every FLOAT, signalling NaN included."""
    raw = struct.pack("<I", bits)
    assert encode_value(read_value(Reader(raw), 4, 65, PROPOSAL), 4, 65, PROPOSAL) == raw


def test_proposal_signalling_nan_stays_signalling() -> None:
    raw = bytes.fromhex("0100807f")
    assert math.isnan(widen_float32(raw))
    assert narrow_to_float32(widen_float32(raw), "") == raw


@pytest.mark.parametrize(
    "value", [0.1, 1e39, struct.unpack("<d", bytes.fromhex("010000000000f87f"))[0]]
)
def test_proposal_float_that_needs_64_bits_is_not_encoded(value: float) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_value(value, 4, 65, PROPOSAL)
    assert caught.value.clause == "craft-proposal: float values"


@pytest.mark.parametrize(
    ("code", "size", "is_right"), [(4, 4, True), (4, 8, False), (5, 8, True), (5, 4, False)]
)
def test_proposal_float_has_4_bytes_and_double_8(code: int, size: int, is_right: bool) -> None:
    if is_right:
        assert read_value(Reader(bytes(size)), code, 65, PROPOSAL) == 0.0
        return
    with pytest.raises(DecodeError) as caught:
        read_value(Reader(bytes(size)), code, 65, PROPOSAL)
    assert caught.value.clause == "craft-proposal: float values"
