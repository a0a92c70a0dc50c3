"""Bodies in all encodings: round trips, damaged bytes with their place, lengths that lie."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from struct import pack
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdcwire.core.context import Compression
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.reader import Reader
from cdcwire.datahub.batch import batch_parts, write_batch
from cdcwire.datahub.body import (
    BodySettings,
    encoding_of,
    read_body,
    write_body,
)
from cdcwire.datahub.compression import LZ4
from cdcwire.datahub.fields import (
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    Field,
    FieldType,
    FieldValue,
    read_text,
)
from cdcwire.datahub.frame import crc32c, write_frame
from cdcwire.datahub.message import Batch, BatchCompression, Body, Encoding, Record
from cdcwire.datahub.protobuf import write_bytes

ENCODINGS: tuple[Encoding, ...] = ("json", "protobuf", "batch")
FIELDS = (Field("a", "BIGINT"), Field("b", "STRING"), Field("c", "STRING"))
# Columns BIGINT, STRING, STRING; one row 1, scooter8, NULL; the attribute k=v.
EXAMPLE = bytes.fromhex(
    "44485542 00000000 64000000 4a000000 96e4b8c9 0800 01000000 00000000 00000000 4a000000 3c000000"
    "03000000 0300000000000000 0100000000000000 0800000024000000 0000000000000000 73636f6f74657238"
    "01000000 01000000 6b 01000000 76"
)
ROW = Record((1, "scooter8", None), (("k", "v"),))


def values_of(type_: FieldType) -> st.SearchStrategy[FieldValue]:
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "TINYINT": st.integers(-128, 127),
        "SMALLINT": st.integers(-32768, 32767),
        "INTEGER": st.integers(-(1 << 31), (1 << 31) - 1),
        "BIGINT": st.integers(-(1 << 63), (1 << 63) - 1),
        "FLOAT": st.floats(width=32, allow_nan=False, allow_infinity=False),
        "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
        "BOOLEAN": st.booleans(),
        "TIMESTAMP": st.integers(MIN_TIMESTAMP, MAX_TIMESTAMP),
        "STRING": st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
        "DECIMAL": st.decimals(-(10**9), 10**9, allow_nan=False, places=4),
    }
    return st.none() | strategies[type_]


TYPES: tuple[FieldType, ...] = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE",
    "BOOLEAN", "TIMESTAMP", "STRING", "DECIMAL",
)  # fmt: skip
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
ATTRIBUTES = st.dictionaries(TEXTS, TEXTS, max_size=2).map(lambda found: tuple(found.items()))


@st.composite
def tuples(draw: st.DrawFn) -> tuple[tuple[Field, ...], tuple[Record, ...]]:
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=70))
    fields = tuple(Field(f"c{index}", type_) for index, type_ in enumerate(types))
    rows = st.tuples(*(values_of(type_) for type_ in types))
    records = draw(st.lists(st.builds(Record, rows, ATTRIBUTES), max_size=3))
    return fields, tuple(records)


def body_of(
    encoding: Encoding, records: tuple[Record, ...], compression: BatchCompression = "none"
) -> Body:
    if encoding == "batch":
        return Body(encoding, (Batch(records, compression),))
    return Body(encoding, records)


@pytest.mark.parametrize("compression", ["none", "deflate", "zlib"])
@pytest.mark.parametrize("content", ["none", "deflate"])
@pytest.mark.parametrize("encoding", ENCODINGS)
@given(found=tuples())
@settings(max_examples=8)
def test_tuples_come_back(
    encoding: Encoding,
    content: Any,
    compression: BatchCompression,
    found: tuple[tuple[Field, ...], tuple[Record, ...]],
) -> None:
    """read(write(body)) == body, and written again it is the same bytes."""
    fields, records = found
    body = body_of(encoding, records, compression)
    chosen = BodySettings(content_encoding=content)
    raw, headers = write_body(body, fields, chosen)
    again = read_body(raw, fields, BodySettings(), headers)
    assert [repr(r.data) for r in again.records()] == [repr(r.data) for r in records]
    assert again.records() == records
    assert write_body(again, fields, chosen)[0] == raw


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(records=st.lists(st.builds(Record, st.binary(max_size=40), ATTRIBUTES), min_size=1))
@settings(max_examples=8)
def test_blobs_come_back(encoding: Encoding, records: list[Record]) -> None:
    body = body_of(encoding, tuple(records))
    raw, _ = write_body(body, None)
    assert encoding_of(raw, BodySettings(), {}) == encoding
    again = read_body(raw, None)
    assert again.records() == tuple(records)
    assert write_body(again, None)[0] == raw


def test_batch_of_the_example_both_ways() -> None:
    row, batch = batch_parts(Reader(EXAMPLE), FIELDS)
    assert (row, batch) == (ROW, Batch(()))
    assert write_batch(Batch((ROW,)), FIELDS) == EXAMPLE


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_answers_come_back(encoding: Encoding) -> None:
    record = Record((1, "s", None), next_cursor="n", sequence=7, system_time=8)
    batch = Batch((ROW, ROW), "none", "c", "n", 5, 6, 7)
    entry = batch if encoding == "batch" else record
    body = Body(encoding, (entry,), True, "next", 1, 42)
    raw, _ = write_body(body, FIELDS)
    assert read_body(raw, FIELDS) == body


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_records_keep_where_they_go(encoding: Encoding) -> None:
    if encoding != "batch":
        record = Record((1, "s", None), (), "3", "F" * 32, "pk")
        raw, _ = write_body(Body(encoding, (record,)), FIELDS)
        assert read_body(raw, FIELDS).records() == (record,)


def framed(batch: bytes) -> bytes:
    inner, out = bytearray(), bytearray()
    write_bytes(inner, 6, batch)
    write_bytes(out, 1, inner)
    return write_frame(bytes(out))


def test_batch_with_field_count_0_is_read() -> None:
    """The Java SDK writes 0: the topic tells the number."""
    changed = bytearray(EXAMPLE)
    changed[42:46] = bytes(4)
    assert [*batch_parts(Reader(resealed(changed)), FIELDS)] == [ROW, Batch(())]


def test_batch_with_needless_padding_is_read() -> None:
    """pydatahub pads a length that is divisible by 8 with 8 zero bytes."""
    head, tail = EXAMPLE[26:86], EXAMPLE[86:]
    record = bytearray(head + bytes(8) + tail)
    record[8:16] = pack("<ii", len(record), 0x3C + 8)
    raw = header(len(record)) + bytes(record)
    assert [*batch_parts(Reader(resealed(bytearray(raw))), FIELDS)] == [ROW, Batch(())]


def header(size: int, *, count: int = 1, bits: int = 8, version: int = 0) -> bytes:
    return pack("<4siIIIHI", b"DHUB", version, 26 + size, size, 0, bits, count)


def resealed(batch: bytearray | bytes) -> bytes:
    """Return a batch with the checksum of its records."""
    changed = bytearray(batch)
    changed[16:20] = pack("<I", crc32c(bytes(changed[26:])))
    return bytes(changed)


@pytest.mark.parametrize("cut", range(len(EXAMPLE)))
def test_batch_every_truncation_is_rejected(cut: int) -> None:
    with pytest.raises(DecodeError) as caught:
        list(batch_parts(Reader(EXAMPLE[:cut]), FIELDS))
    assert caught.value.clause == "datahub: batch"


def patched(offset: int, raw: bytes) -> bytes:
    changed = bytearray(EXAMPLE)
    changed[offset : offset + len(raw)] = raw
    return resealed(changed) if offset >= 26 else bytes(changed)


NUMBER = "<i"
DAMAGES: dict[str, tuple[bytes, int, str, tuple[str | int, ...]]] = {
    "magic": (patched(0, b"X"), 0, "datahub: batch", ("magic",)),
    "version": (patched(4, b"\1"), 4, "datahub: batch", ("version",)),
    "length": (patched(8, b"\x63"), 8, "datahub: batch", ("length",)),
    "raw size": (patched(12, b"\x4b"), 12, "datahub: batch", ("raw_size",)),
    "checksum": (patched(16, b"\0"), 16, "datahub: checksums", ("crc",)),
    "attributes": (patched(20, b"\0"), 20, "datahub: batch", ("attributes",)),
    "attributes high": (patched(20, b"\x18"), 20, "datahub: batch", ("attributes",)),
    "count 0": (patched(22, b"\0"), 26, "datahub: batch", ()),
    "count 2": (patched(22, b"\2"), 100, "datahub: batch records", ("records", 1)),
    "count large": (patched(22, b"\xff\xff\xff\xff"), 26, "datahub: batch", ("count",)),
    "encode type": (patched(26, b"\1"), 26, "datahub: batch records", ("records", 0)),
    "size short": (patched(34, b"\x0f"), 34, "datahub: batch records", ("records", 0, "length")),
    "size long": (patched(34, b"\x4b"), 34, "datahub: batch records", ("records", 0, "length")),
    "size negative": (
        patched(34, pack(NUMBER, -1)),
        34,
        "datahub: batch records",
        ("records", 0, "length"),
    ),
    "attribute offset": (
        patched(38, b"\x20"),
        38,
        "datahub: batch records",
        ("records", 0, "attribute_offset"),
    ),
    "attribute offset negative": (
        patched(38, pack(NUMBER, -1)),
        38,
        "datahub: batch records",
        ("records", 0, "attribute_offset"),
    ),
    "field count": (patched(42, b"\2"), 42, "datahub: batch records", ("records", 0, "count")),
    "inline size": (
        patched(62, b"1234567\x88"),
        69,
        "datahub: batch slots",
        ("records", 0, "b"),
    ),
    "value size": (patched(62, b"\x09"), 62, "datahub: batch slots", ("records", 0, "b")),
    "value size negative": (
        patched(62, pack(NUMBER, -1)),
        62,
        "datahub: batch slots",
        ("records", 0, "b"),
    ),
    "value offset": (patched(66, b"\x23"), 62, "datahub: batch slots", ("records", 0, "b")),
    "value offset far": (
        patched(66, pack(NUMBER, (1 << 31) - 1)),
        62,
        "datahub: batch slots",
        ("records", 0, "b"),
    ),
    "value text": (patched(80, b"\xff"), 80, "datahub: string fields", ("records", 0, "b")),
    "attribute count": (
        patched(86, b"\2"),
        86,
        "datahub: attributes",
        ("records", 0, "attributes", "count"),
    ),
    "attribute count negative": (
        patched(86, pack(NUMBER, -1)),
        86,
        "datahub: attributes",
        ("records", 0, "attributes", "count"),
    ),
    "attribute size": (
        patched(90, b"\x40"),
        100,
        "datahub: attributes",
        ("records", 0, "attributes", 0),
    ),
    "attribute size negative": (
        patched(90, pack(NUMBER, -1)),
        90,
        "datahub: attributes",
        ("records", 0, "attributes", 0),
    ),
    "attribute left over": (
        patched(86, b"\0"),
        90,
        "datahub: attributes",
        ("records", 0, "attributes"),
    ),
}


@pytest.mark.parametrize(("raw", "offset", "clause", "path"), DAMAGES.values(), ids=DAMAGES)
def test_batch_that_is_damaged_is_rejected_at_its_place(
    raw: bytes, offset: int, clause: str, path: tuple[str | int, ...]
) -> None:
    with pytest.raises(DecodeError) as caught:
        list(batch_parts(Reader(raw), FIELDS))
    assert (caught.value.offset, caught.value.clause, caught.value.path) == (offset, clause, path)


def test_null_in_a_field_that_is_not_null_is_rejected_in_all_encodings() -> None:
    strict = (FIELDS[0], FIELDS[1], Field("c", "STRING", nullable=False))
    for encoding in ENCODINGS:
        raw, _ = write_body(body_of(encoding, (ROW,)), FIELDS)
        with pytest.raises(DecodeError) as caught:
            read_body(raw, strict)
        assert (caught.value.clause, caught.value.path[-1]) == ("datahub: null fields", "c")
        with pytest.raises(EncodeError) as refused:
            write_body(body_of(encoding, (ROW,)), strict)
        assert (refused.value.clause, refused.value.path[-1]) == ("datahub: null fields", "c")


@given(st.integers(0, len(framed(EXAMPLE)) - 1), st.integers(1, 255))
def test_body_with_a_changed_byte_is_rejected(place: int, change: int) -> None:
    """Both checksums hold every byte of a framed batch."""
    changed = bytearray(framed(EXAMPLE))
    changed[place] ^= change
    with pytest.raises(DecodeError):
        read_body(bytes(changed), FIELDS)


@given(st.binary(max_size=40), st.sampled_from(["json", "protobuf", "batch", None]))
def test_any_bytes_are_read_or_rejected(raw: bytes, encoding: Any) -> None:
    for each in (raw, write_frame(raw), framed(header(len(raw)) + raw)):
        error = error_of(partial(read_body, each, FIELDS, BodySettings(encoding=encoding)))
        assert error is None or error.clause.startswith("datahub: ")


@given(st.integers(26, len(EXAMPLE) - 1), st.integers(0, 255))
def test_batch_with_a_changed_and_sealed_byte_is_read_or_rejected(place: int, byte: int) -> None:
    changed = bytearray(EXAMPLE)
    changed[place] = byte
    error = error_of(lambda: list(batch_parts(Reader(resealed(changed)), FIELDS)))
    assert error is None or error.path[:2] == ("records", 0) or error.clause == "datahub: batch"


def test_batches_of_a_body_share_one_limit() -> None:
    raw = write_batch(Batch((Record(bytes(1 << 20)),), "zlib"), None)
    out = bytearray()
    for _ in range(17):
        inner = bytearray()
        write_bytes(inner, 6, raw)
        write_bytes(out, 1, inner)
    with pytest.raises(DecodeError) as caught:
        read_body(write_frame(bytes(out)), None)
    assert (caught.value.clause, caught.value.path) == ("datahub: limits", ("batches", 15))


def test_empty_text_of_a_number_is_null_only_if_specified() -> None:
    raw = b'{"Action":"pub","Records":[{"Data":["","",null]}]}'
    with pytest.raises(DecodeError):
        read_body(raw, FIELDS)
    (record,) = read_body(raw, FIELDS, BodySettings(empty_is_null=True)).records()
    assert record.data == (None, "", None)


@pytest.mark.parametrize(
    "headers",
    [
        {"content-encoding": "gzip"},
        {"content-encoding": "deflate", "x-datahub-content-raw-size": "x"},
        {"content-encoding": "deflate", "x-datahub-content-raw-size": "9" * 30},
    ],
)
def test_content_encoding_that_is_unknown_is_rejected(headers: dict[str, str]) -> None:
    with pytest.raises(DecodeError) as caught:
        read_body(b"", FIELDS, BodySettings(), headers)
    assert (caught.value.offset, caught.value.clause) == (0, "datahub: content encoding")


def test_error_in_a_compressed_body_has_the_offset_of_its_beginning() -> None:
    raw, headers = write_body(
        Body("json", (ROW,) * 9), FIELDS, BodySettings(content_encoding="deflate")
    )
    assert headers["content-encoding"] == "deflate"
    with pytest.raises(DecodeError) as caught:
        read_body(raw, FIELDS[:2], BodySettings(), headers)
    assert (caught.value.offset, caught.value.path) == (0, ("Records", 0, "Data"))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "record",
    [
        Record((1, "s"), ()),
        Record(b"blob"),
        Record((1, "\ud800", None)),
        Record((1, "s", None), (("k", "v"), ("k", "w"))),
        Record((1, "s", None), (("k", "\udfff"),)),
        Record((1, "s", None), shard_id="\ud800"),
    ],
)
def test_record_that_has_no_form_is_refused(encoding: Encoding, record: Record) -> None:
    with pytest.raises(EncodeError):
        write_body(body_of(encoding, (record,)), FIELDS)


def lz4() -> dict[str, Compression]:
    library = pytest.importorskip("cramjam")
    return {
        LZ4: Compression(
            lambda raw: bytes(library.lz4.compress_block(raw)),
            lambda packed: bytes(library.lz4.decompress_block(packed)),
        )
    }


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("content", ["none", "lz4"])
def test_lz4_bodies_are_read_with_and_without_functions(encoding: Encoding, content: Any) -> None:
    records = (ROW,) * 20
    chosen = BodySettings(content_encoding=content, compressions=lz4())
    raw, headers = write_body(body_of(encoding, records, "lz4"), FIELDS, chosen)
    assert len(raw) < 2000
    for settings_ in (chosen, BodySettings()):
        assert read_body(raw, FIELDS, settings_, headers).records() == records
    coding: Any = headers.get("content-encoding", "none")
    settings = BodySettings(encoding=encoding, content_encoding=coding)
    assert read_body(raw, FIELDS, settings).records() == records


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_time_is_linear_in_repeated_parts(encoding: Encoding) -> None:
    """Attributes by the thousand, numbers that nearly are some: no step over all of them each."""
    attributes = tuple((f"key {index}", "") for index in range(20_000))
    raw, _ = write_body(body_of(encoding, (Record((1, "", None), attributes),)), FIELDS)
    start = process_time()
    (record,) = read_body(raw, FIELDS).records()
    assert len(record.attributes) == 20_000
    for _ in range(100):
        error = error_of(partial(read_text, "DOUBLE", b"1" * 1000 + b"x", 0))
        assert error is not None
    assert process_time() - start < 5


def test_decimal_of_a_batch_is_a_text() -> None:
    fields = (Field("d", "DECIMAL"), Field("f", "FLOAT"))
    record = Record((Decimal("-12345678.90"), 1.5))
    raw = write_batch(Batch((record,)), fields)
    assert b"-12345678.90" in raw
    assert [*batch_parts(Reader(raw), fields)] == [record, Batch(())]


def error_of(read: Callable[[], object]) -> DecodeError | None:
    try:
        read()
    except DecodeError as error:
        return error
    return None
