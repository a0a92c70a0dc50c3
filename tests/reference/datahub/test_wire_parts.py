"""Checksums, frames, protobuf and compression: both directions, truncation, bad lengths."""

from __future__ import annotations

import random
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Compression
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.options import OptionError
from cdcwire.core.reader import Reader, RecordingReader
from cdcwire.datahub import compression
from cdcwire.datahub.compression import LZ4, deflate, inflate, open_lz4, write_lz4
from cdcwire.datahub.frame import crc32c, joined_crc32c, read_frame, write_frame
from cdcwire.datahub.protobuf import read_fields, write_bytes, write_integer

FRAME = write_frame(b"123456789")


def bit_by_bit(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    ("data", "wanted"),
    [(b"123456789", 0xE3069283), (b"", 0), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43)],
)
def test_crc32c_of_known_bytes(data: bytes, wanted: int) -> None:
    assert crc32c(data) == wanted


@given(st.binary(max_size=64))
def test_crc32c_is_the_sum_of_the_definition(data: bytes) -> None:
    assert crc32c(data) == bit_by_bit(data) == crc32c(memoryview(data))


@pytest.mark.parametrize("size", [255, 256, 1000, 1023, 1024, 1025, 4096, 5001, 20000])
def test_crc32c_of_long_bytes_is_the_sum_of_the_definition(size: int) -> None:
    data = random.Random(size).randbytes(size)
    assert crc32c(data) == bit_by_bit(data)
    assert crc32c(bytes(7) + data) == bit_by_bit(bytes(7) + data)


def test_frame_comes_back() -> None:
    region = read_frame(Reader(FRAME))
    assert region.take(region.left, "") == b"123456789"
    assert FRAME[4:12].hex() == "e306928300000009"


@pytest.mark.parametrize("cut", range(len(FRAME)))
def test_frame_every_truncation_is_rejected_at_its_end(cut: int) -> None:
    with pytest.raises(TruncatedError) as caught:
        read_frame(Reader(FRAME[:cut]))
    assert (caught.value.offset, caught.value.clause) == (cut, "datahub: frame")


@pytest.mark.parametrize(
    ("data", "offset", "clause"),
    [
        (b"DHUC" + FRAME[4:], 0, "datahub: frame"),
        (FRAME + b"x", 8, "datahub: frame"),
        (FRAME[:4] + b"\0" + FRAME[5:], 4, "datahub: checksums"),
        (FRAME[:-1] + b"8", 4, "datahub: checksums"),
    ],
)
def test_frame_that_is_damaged_is_rejected(data: bytes, offset: int, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_frame(Reader(data))
    assert (caught.value.offset, caught.value.clause) == (offset, clause)


def protobuf(*fields: tuple[int, int | bytes | str]) -> bytes:
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            write_integer(out, number, value)
        else:
            write_bytes(out, number, value)
    return bytes(out)


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.binary(max_size=300))
def test_protobuf_fields_come_back(number: int, raw: bytes) -> None:
    first, second = read_fields(Reader(protobuf((6, number), (9, raw))))
    assert (first.id, first.integer()) == (6, number)
    part = second.part()
    assert (second.id, part.take(part.left, "")) == (9, raw)


@pytest.mark.parametrize("data", [b"\x0d\1\2\3\4", b"\x09\1\2\3\4\5\6\7\x08"])
def test_protobuf_fixed_numbers_are_passed_over(data: bytes) -> None:
    reader = RecordingReader(data)
    (field,) = read_fields(reader)
    field.skip()
    assert reader.spans[0].end == len(data)
    for read in (field.integer, field.text):
        with pytest.raises(DecodeError) as caught:
            read("name")
        assert (caught.value.clause, caught.value.path) == ("datahub: protobuf", ("name",))


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"\x0b", 0),  # a group
        (b"\x07", 0),
        (b"\x00\x01", 0),  # field 0
        (b"\x80\x80\x80\x80\x10\x01", 0),  # field 2**29
        (b"\x0a\x05abc", 5),  # longer than what is left
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),
        (b"\x08", 1),
        (b"\x08" + b"\xff" * 10, 1),
        (b"\x0d\1\2\3", 4),
    ],
)
def test_protobuf_that_is_damaged_is_rejected(data: bytes, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        list(read_fields(Reader(data)))
    assert (caught.value.offset, caught.value.clause) == (offset, "datahub: protobuf")


def test_protobuf_ill_formed_text_is_rejected_at_its_byte() -> None:
    (field,) = read_fields(Reader(b"\x0a\x03a\xffb"))
    with pytest.raises(DecodeError) as caught:
        field.text("shard_id")
    assert (caught.value.offset, caught.value.path) == (3, ("shard_id",))


@pytest.mark.parametrize("value", [1 << 63, -(1 << 63) - 1, "\ud800"])
def test_protobuf_value_without_form_is_refused(value: int | str) -> None:
    with pytest.raises(EncodeError):
        protobuf((1, value))


# ---- compression -----------------------------------------------------------------------------

RAW = b"abcabcabcabcabcabc" * 9 + b"tail"


@given(st.binary(max_size=400))
def test_zlib_comes_back_with_and_without_its_size(raw: bytes) -> None:
    packed = deflate(raw)
    assert inflate(packed, len(raw), 0) == raw == inflate(packed, None, 0)


@pytest.mark.parametrize(
    ("packed", "raw_size"),
    [
        (deflate(RAW), len(RAW) - 1),
        (deflate(RAW), len(RAW) + 1),
        (deflate(RAW)[:-1], len(RAW)),
        (deflate(RAW)[:-1], None),
        (deflate(RAW) + b"x", len(RAW)),
        (deflate(RAW)[:-4] + b"\0\0\0\0", len(RAW)),
        (b"", 0),
        (b"", None),
        (zlib.compress(RAW)[2:-4], len(RAW)),  # raw deflate has no header
        (deflate(RAW)[:9], len(RAW)),
        (deflate(b"x"), 0),
    ],
)
def test_zlib_that_is_damaged_is_rejected(packed: bytes, raw_size: int | None) -> None:
    with pytest.raises(DecodeError) as caught:
        inflate(packed, raw_size, 7)
    assert (caught.value.offset, caught.value.clause) == (7, "datahub: compression")


@pytest.mark.parametrize("raw_size", [None, 1 << 24, 1 << 31, 100_001])
def test_bombs_are_rejected_before_they_are_opened(raw_size: int | None) -> None:
    bomb = deflate(bytes(1 << 21))
    with pytest.raises(DecodeError) as caught:
        inflate(bomb, raw_size, 7, 100_000)
    assert (caught.value.offset, caught.value.clause) == (7, "datahub: limits")


@pytest.mark.parametrize("raw_size", [1 << 25, 0xFFFFFFFF])
def test_lz4_of_a_size_beyond_the_limit_is_rejected(raw_size: int) -> None:
    with pytest.raises(DecodeError) as caught:
        open_lz4(b"\x00", raw_size, 7, {})
    assert caught.value.clause == "datahub: limits"


LZ4_BLOCKS = {
    "no bytes": (b"\x00", b""),
    "literals": (b"\x30abc", b"abc"),
    "fifteen literals": (b"\xf0\x00" + b"x" * 15, b"x" * 15),
    "many literals": (b"\xf0\xff\x01" + b"x" * 271, b"x" * 271),
    "overlapping copy": (b"\x1fa\x01\x00\x02\x10b", b"a" * (1 + 4 + 15 + 2) + b"b"),
    "copy of two": (b"\x22ab\x02\x00\x10c", b"abababab" + b"c"),
}


@pytest.mark.parametrize(("packed", "raw"), LZ4_BLOCKS.values(), ids=LZ4_BLOCKS)
def test_lz4_block_is_read(packed: bytes, raw: bytes) -> None:
    assert open_lz4(packed, len(raw), 0, {}) == raw == open_lz4(packed, None, 0, {})


@pytest.mark.parametrize(
    ("packed", "raw_size"),
    [
        (b"", 0),
        (b"\x30ab", 3),
        (b"\x30abc", 2),
        (b"\x30abc", 4),
        (b"\x10a\x00\x00\x00", 6),  # distance 0
        (b"\x10a\x02\x00\x00", 6),  # from before the beginning
        (b"\x10a\x01", 6),
        (b"\xf0", 15),
        (b"\xf0\xff\xff", 600),
        (b"\x1fa\x01\x00\xff\xff\x00\x00", 100),  # longer than announced
        (b"\x10a\x01\x00", 5),  # ends in a copy
    ],
)
def test_lz4_block_that_is_damaged_is_rejected(packed: bytes, raw_size: int) -> None:
    with pytest.raises(DecodeError) as caught:
        open_lz4(packed, raw_size, 7, {})
    assert (caught.value.offset, caught.value.clause) == (7, "datahub: compression")


@given(st.binary(max_size=80))
def test_lz4_of_any_bytes_is_read_or_rejected(packed: bytes) -> None:
    with suppress(DecodeError):
        assert len(open_lz4(packed, None, 0, {}, 1000)) <= 1000


def cramjam() -> Compression:
    library = pytest.importorskip("cramjam")
    return Compression(
        lambda raw: bytes(library.lz4.compress_block(raw)),
        lambda packed: _decompressed(library, packed),
    )


def _decompressed(library: object, packed: bytes) -> bytes:
    try:
        return bytes(library.lz4.decompress_block(packed))  # type: ignore[attr-defined]
    except Exception as error:  # the library's own, which it does not export
        raise ValueError(str(error)) from error


@given(st.lists(st.sampled_from([b"abc", b"ab", bytes(20), b"xyz1234"]), max_size=90))
def test_lz4_of_a_library_is_read_without_it(parts: list[bytes]) -> None:
    known = cramjam()
    raw = b"".join(parts)
    packed = write_lz4(raw, {LZ4: known})
    assert open_lz4(packed, len(raw), 0, {}) == raw
    assert open_lz4(packed, None, 0, {LZ4: known}) == raw
    assert open_lz4(packed, len(raw), 0, {LZ4: known}) == raw


def test_lz4_of_a_library_that_is_damaged_is_rejected() -> None:
    known = cramjam()
    with pytest.raises(DecodeError) as caught:
        open_lz4(b"\x10a\x02\x00\x00", 6, 7, {LZ4: known})
    assert (caught.value.offset, caught.value.clause) == (7, "datahub: compression")


def test_lz4_is_not_written_without_functions() -> None:
    with pytest.raises(OptionError):
        write_lz4(b"raw", {})


def test_limit_is_that_of_the_page() -> None:
    assert compression.MAX_RAW_BYTES == 16 * 1024 * 1024


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(0, 300))
def test_joined_crc32c_is_the_sum_of_both_parts(first: bytes, second: bytes, times: int) -> None:
    second *= times
    assert joined_crc32c(crc32c(first), crc32c(second), len(second)) == crc32c(first + second)
