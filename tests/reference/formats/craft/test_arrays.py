"""Arrays and the reversed uvarint: golden bytes both ways, laws, and every way to be too short."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.reader import Reader, write_uvarint
from cdcwire.formats.craft.arrays import (
    ArrayPath,
    read_delta_uvarints,
    read_delta_varints,
    read_reversed_uvarint,
    read_strings,
    read_uvarints,
    read_varints,
    write_delta_uvarints,
    write_delta_varints,
    write_reversed_uvarint,
    write_strings,
    write_uvarints,
    write_varints,
)
from cdcwire.formats.craft.profile import CRAFT, PROPOSAL, Profile

PLACE = ArrayPath(("array",), ("field",), "craft: delta arrays")
UINT64 = st.integers(0, 2**64 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)

ARRAYS: list[tuple[str, Callable[..., list[int]], Callable[..., None], st.SearchStrategy[int]]] = [
    ("uvarints", read_uvarints, write_uvarints, UINT64),
    ("varints", read_varints, write_varints, INT64),
    ("delta uvarints", read_delta_uvarints, write_delta_uvarints, UINT64),
    ("delta varints", read_delta_varints, write_delta_varints, INT64),
]
GOLDEN = [
    ("uvarints", [0, 127, 128, 2**64 - 1], "00 7f 8001 ffffffffffffffffff01"),
    ("varints", [0, -1, 1, -2, -(2**63)], "00 01 02 03 ffffffffffffffffff01"),
    ("delta uvarints", [5, 5, 300, 0], "05 00 a702 d4fdffffffffffffff01"),
    ("delta uvarints", [2**64 - 1, 0], "ffffffffffffffffff01 01"),
    ("delta varints", [-1, 0, 3, 1], "01 02 06 03"),
    ("delta varints", [2**63 - 1, -(2**63)], "feffffffffffffffff01 02"),
]


@pytest.mark.parametrize(("name", "values", "hexed"), GOLDEN)
def test_array_has_the_golden_bytes_both_ways(name: str, values: list[int], hexed: str) -> None:
    read, write = next((entry[1], entry[2]) for entry in ARRAYS if entry[0] == name)
    out = bytearray()
    write(out, values, PLACE, CRAFT)
    assert out == bytes.fromhex(hexed)
    assert read(Reader(bytes(out)), len(values), PLACE, CRAFT) == values


@pytest.mark.parametrize(("name", "read", "write", "elements"), ARRAYS, ids=[a[0] for a in ARRAYS])
@given(data=st.data())
def test_array_written_and_read_is_the_same(
    name: str,
    read: Callable[..., list[int]],
    write: Callable[..., None],
    elements: st.SearchStrategy[int],
    data: st.DataObject,
) -> None:
    """read(write(x)) == x, and nothing is left over."""
    values = data.draw(st.lists(elements, max_size=20))
    out = bytearray()
    write(out, values, PLACE, CRAFT)
    reader = Reader(bytes(out))
    assert read(reader, len(values), PLACE, CRAFT) == values
    assert reader.left == 0


@pytest.mark.parametrize("name", ["uvarints", "varints", "delta uvarints", "delta varints"])
def test_array_truncated_says_which_element(name: str) -> None:
    read = next(entry[1] for entry in ARRAYS if entry[0] == name)
    with pytest.raises(TruncatedError) as caught:
        read(Reader(bytes.fromhex("0001 80")), 3, PLACE, CRAFT)
    assert (caught.value.offset, caught.value.path) == (3, ("array", 2, "field"))
    assert caught.value.clause == "craft: integers"


def test_array_count_beyond_the_bytes_is_rejected_before_reading() -> None:
    with pytest.raises(TruncatedError) as caught:
        read_uvarints(Reader(bytes(5)), 2**62, PLACE, CRAFT)
    assert (caught.value.offset, caught.value.clause) == (5, "craft: delta arrays")


@pytest.mark.parametrize("value", [-1, 2**64])
def test_delta_uvarint_out_of_range_is_not_encoded(value: int) -> None:
    with pytest.raises(EncodeError) as caught:
        write_delta_uvarints(bytearray(), [0, value], PLACE, CRAFT)
    assert caught.value.path == ("array", 1, "field")


@pytest.mark.parametrize("value", [-(2**63) - 1, 2**63])
def test_delta_varint_out_of_range_is_not_encoded(value: int) -> None:
    with pytest.raises(EncodeError) as caught:
        write_delta_varints(bytearray(), [0, value], PLACE, CRAFT)
    assert caught.value.path == ("array", 1, "field")


@pytest.mark.parametrize(("profile", "name"), [(CRAFT, "craft"), (PROPOSAL, "craft-proposal")])
def test_integer_error_names_the_clause_of_its_format(profile: Profile, name: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_uvarints(Reader(b"\xff" * 11), 1, PLACE, profile)
    assert caught.value.clause == f"{name}: integers"


@pytest.mark.parametrize(
    ("value", "hexed"),
    [(0, "00"), (127, "7f"), (128, "01 80"), (300, "02 ac"), (2**64 - 1, "01 ffffffffffffffffff")],
)
def test_reversed_uvarint_has_the_golden_bytes_both_ways(value: int, hexed: str) -> None:
    out = bytearray()
    write_reversed_uvarint(out, value, CRAFT)
    assert out == bytes.fromhex(hexed)
    reader = Reader(b"before" + out)
    assert read_reversed_uvarint(reader, CRAFT) == (value, len(out))


@given(value=UINT64, before=st.binary(max_size=4))
def test_reversed_uvarint_is_the_uvarint_backwards(value: int, before: bytes) -> None:
    """It has the bytes of the uvarint in reverse, whatever stands before it."""
    forward = bytearray()
    write_uvarint(forward, value, "")
    assert read_reversed_uvarint(Reader(before + forward[::-1]), CRAFT) == (value, len(forward))


def test_reversed_uvarint_longer_than_needed_is_read() -> None:
    assert read_reversed_uvarint(Reader(bytes.fromhex("00 80 85")), CRAFT) == (5, 3)


@pytest.mark.parametrize("hexed", ["", "80", "ffff"])
def test_reversed_uvarint_without_first_byte_is_truncated(hexed: str) -> None:
    data = b"\x01" + bytes.fromhex(hexed)
    with pytest.raises(TruncatedError) as caught:
        read_reversed_uvarint(Reader(data, 1), CRAFT)
    assert (caught.value.offset, caught.value.clause) == (1, "craft: reversed uvarint")


@pytest.mark.parametrize("first", ["02", "ff", "0180"])
def test_reversed_uvarint_over_64_bits_is_rejected(first: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_reversed_uvarint(Reader(bytes.fromhex(first) + b"\xff" * 9), CRAFT)
    assert caught.value.clause == "craft: reversed uvarint"


def test_strings_have_the_golden_bytes_both_ways() -> None:
    out = bytearray()
    write_strings(out, ["id", "", "é"], PLACE, CRAFT)
    assert out == bytes.fromhex("02 00 02 6964 c3a9")
    assert read_strings(Reader(bytes(out)), 3, PLACE, CRAFT) == ["id", "", "é"]


def test_strings_that_are_equal_share_one_object() -> None:
    first, second = read_strings(Reader(b"\x04\x04namename"), 2, PLACE, CRAFT)
    assert first is second


def test_strings_name_of_1024_bytes_is_the_longest() -> None:
    out = bytearray()
    write_strings(out, ["n" * 1024], PLACE, CRAFT)
    assert read_strings(Reader(bytes(out)), 1, PLACE, CRAFT) == ["n" * 1024]
    with pytest.raises(EncodeError) as caught:
        write_strings(out, ["n" * 1025], PLACE, CRAFT)
    assert caught.value.clause == "craft: limits"
    with pytest.raises(DecodeError) as found:
        read_strings(Reader(bytes.fromhex("8108") + b"n" * 1025), 1, PLACE, CRAFT)
    assert (found.value.offset, found.value.clause) == (2, "craft: limits")


def test_strings_not_utf8_is_rejected_at_the_byte() -> None:
    with pytest.raises(DecodeError) as caught:
        read_strings(Reader(b"\x01\x03aab\xff"), 2, PLACE, CRAFT)
    assert (caught.value.offset, caught.value.path) == (5, ("array", 1, "field"))


def test_strings_lone_surrogate_is_not_encoded() -> None:
    with pytest.raises(EncodeError):
        write_strings(bytearray(), ["\ud800"], PLACE, CRAFT)
