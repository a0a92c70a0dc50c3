"""The binary batch: a header, and records of a bitmap, slots of 8 bytes and a variable area.

All numbers are little-endian. Source: datahub, "batch", "batch records", "batch slots".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from math import isfinite
from struct import Struct
from typing import cast

from cdcwire.core.context import Compression
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.reader import Reader
from cdcwire.datahub.compression import (
    MAX_RAW_BYTES,
    deflate,
    inflate,
    open_lz4,
    write_lz4,
)
from cdcwire.datahub.fields import (
    CLAUSE_BOOLEANS,
    CLAUSE_FLOATS,
    CLAUSE_LIMITS,
    CLAUSE_NULL,
    Field,
    FieldType,
    FieldValue,
    check_value,
    clause_of,
    decimal_text,
    read_text,
)
from cdcwire.datahub.frame import crc32c
from cdcwire.datahub.message import Attributes, Batch, BatchCompression, Record
from cdcwire.datahub.records import (
    CLAUSE_ATTRIBUTES,
    CLAUSE_RECORDS,
    check_record,
    fields_sent,
    wrong_count,
)
from cdcwire.model.events import Path

CLAUSE = "datahub: batch"
CLAUSE_RECORD = "datahub: batch records"
CLAUSE_SLOTS = "datahub: batch slots"
CLAUSE_CHECKSUM = "datahub: checksums"
CLAUSE_COMPRESSION = "datahub: compression"

MAGIC = b"DHUB"
_HEADER = Struct("<4siIIIHI")
_RECORD = Struct("<iiii")
_NUMBER = Struct("<i")
_SLOT = 8
_INLINE = 7  # bytes of a text that fit into its slot
_INLINE_MARK = 0x80
_ALWAYS = 8  # the bit of a batch's attributes that is always set
_COMPRESSIONS: tuple[BatchCompression, ...] = ("none", "deflate", "lz4", "zlib")
_FLOAT = Struct("<f4x")
_DOUBLE = Struct("<d")
_LONG = Struct("<q")
_PLACE = Struct("<ii")
_BLOB_VERSION = -1
_BLOB: tuple[Field, ...] = (Field("data", "STRING", nullable=False),)


def batch_parts(
    reader: Reader,
    fields: Sequence[Field] | None,
    path: Path = (),
    compressions: Mapping[str, Compression] | None = None,
    limit: int = MAX_RAW_BYTES,
) -> Iterator[Record | Batch]:
    """Yield the records of the batch that fills the reader, then the batch without them.

    ``fields``: of the topic; None for a blob topic. ``limit``: of bytes before compression. An
    error inside compressed bytes is reported at their first byte. Raises: DecodeError.
    """
    start = reader.offset
    header = reader.take(_HEADER.size, CLAUSE)
    magic, version, total, raw_size, checksum, bits, count = _HEADER.unpack(header)
    if magic != MAGIC:
        raise DecodeError("a batch begins with DHUB", start, CLAUSE, (*path, "magic"))
    if version != 0:
        raise DecodeError(f"version {version} is not 0", start + 4, CLAUSE, (*path, "version"))
    if total != reader.end - start:
        problem = f"the length says {total} bytes, the batch has {reader.end - start}"
        raise DecodeError(problem, start + 8, CLAUSE, (*path, "length"))
    if bits & ~3 != _ALWAYS:
        raise DecodeError(f"attributes {bits:#x}", start + 20, CLAUSE, (*path, "attributes"))
    compression = _COMPRESSIONS[bits & 3]
    _note_header(reader, start, header, path)
    packed = reader.take(reader.left, CLAUSE)
    packed_at = start + _HEADER.size
    found = crc32c(packed)
    if found != checksum:
        problem = f"the checksum of the records is {found:08x}, not {checksum:08x}"
        raise DecodeError(problem, start + 16, CLAUSE_CHECKSUM, (*path, "crc"))
    if compression == "none":
        if len(packed) != raw_size:
            problem = f"the raw size says {raw_size} bytes, {len(packed)} follow"
            raise DecodeError(problem, start + 12, CLAUSE, (*path, "raw_size"))
        reader.offset = packed_at
        yield from _read_records(reader, count, fields, path)
    else:
        with step(*path):
            if compression == "lz4":
                raw = open_lz4(packed, raw_size, packed_at, compressions or {}, limit)
            else:
                raw = inflate(packed, raw_size, packed_at, limit)
        reader.note(packed_at, f"{raw_size} bytes, {compression}", CLAUSE_COMPRESSION, *path)
        try:
            for record in _read_records(Reader(raw), count, fields, path):
                yield replace(record, offset=packed_at)
        except DecodeError as error:
            error.offset = packed_at
            raise
    yield Batch((), compression, raw_size=raw_size)


def _note_header(reader: Reader, start: int, header: bytes, path: Path) -> None:
    names = ("magic", "version", "length", "raw_size", "crc", "attributes", "count")
    sizes = (4, 4, 4, 4, 4, 2, 4)
    reader.offset = start
    for name, size, value in zip(names, sizes, _HEADER.unpack(header), strict=True):
        at = reader.offset
        reader.offset += size
        shown = f"{value:08x}" if name == "crc" else value
        clause = CLAUSE_CHECKSUM if name == "crc" else CLAUSE
        reader.note(at, shown, clause, *path, name)


def _read_records(
    reader: Reader, count: int, fields: Sequence[Field] | None, path: Path
) -> Iterator[Record]:
    if count * (_RECORD.size + _NUMBER.size) > reader.left:
        problem = f"{count} records do not fit into {reader.left} bytes"
        raise DecodeError(problem, reader.offset, CLAUSE, (*path, "count"))
    for index in range(count):
        yield _read_record(reader, fields, (*path, "records", index))
    with step(*path):
        reader.expect_end(CLAUSE)


def _read_record(reader: Reader, fields: Sequence[Field] | None, path: Path) -> Record:
    start = reader.offset
    with step(*path):
        header = reader.take(_RECORD.size, CLAUSE_RECORD)
        encoding, version, total, attributes_at = _RECORD.unpack(header)
        if encoding != 0:
            raise DecodeError(f"encode type {encoding} is not 0", start, CLAUSE_RECORD)
        reader.note(start, f"version {version}, {total} bytes", CLAUSE_RECORD, *path, "header")
        if total < _RECORD.size or total - _RECORD.size > reader.left:
            problem = f"a record of {total} bytes does not fit into the batch"
            raise DecodeError(problem, start + 8, CLAUSE_RECORD, ("length",))
        body = reader.region(total - _RECORD.size, CLAUSE_RECORD)
    known = _BLOB if fields is None else fields
    data = _read_slots(body, start, attributes_at, known, path, is_blob=fields is None)
    attributes = _read_attributes(body, (*path, "attributes"))
    return Record(data, attributes, offset=start)


def _read_slots(
    body: Reader,
    start: int,
    attributes_at: int,
    fields: Sequence[Field],
    path: Path,
    *,
    is_blob: bool,
) -> tuple[FieldValue, ...] | bytes:
    base = body.offset
    with step(*path):
        (count,) = _NUMBER.unpack(body.take(_NUMBER.size, CLAUSE_RECORD))
        body.note(base, count, CLAUSE_RECORD, *path, "count")
        # The Java SDK writes 0 here: the topic specifies how many there are.
        sent = fields_sent(count, fields) if count else fields
        if sent is None:
            raise DecodeError(wrong_count(count, fields), base, CLAUSE_RECORD, ("count",))
        fields = sent
        bitmap_at = body.offset
        bitmap = int.from_bytes(body.take(-(-len(fields) // 64) * 8, CLAUSE_RECORD), "little")
        body.note(bitmap_at, f"{bitmap:b}", CLAUSE_RECORD, *path, "bitmap")
        slots = body.region(len(fields) * _SLOT, CLAUSE_RECORD)
        if not body.offset - start <= attributes_at <= body.end - start:
            problem = f"attributes at byte {attributes_at} of the record"
            raise DecodeError(problem, start + 12, CLAUSE_RECORD, ("attribute_offset",))
    area = Reader(body.data, body.offset, start + attributes_at)
    values: list[FieldValue | bytes] = []
    for index, field in enumerate(fields):
        at = slots.offset
        place = (*path, field.name)
        slot = slots.take(_SLOT, CLAUSE_SLOTS)
        with step(*place):
            if not bitmap >> index & 1:
                if not field.nullable:
                    problem = "NULL in a field that is not null"
                    raise DecodeError(problem, at, CLAUSE_NULL)
                values.append(None)
            else:
                values.append(_read_slot(field.type, slot, at, base, area, is_blob=is_blob))
        clause = clause_of(field.type)
        shown = f"{len(cast(bytes, values[-1]))} bytes" if is_blob else values[-1]
        slots.note(at, shown, clause, *place)
    if area.left:
        body.take(area.left, CLAUSE_RECORD)
        body.note(area.offset, "long values", CLAUSE_SLOTS, *path, "variable area")
    return cast(bytes, values[0]) if is_blob else cast("tuple[FieldValue, ...]", tuple(values))


def _read_slot(
    type_: FieldType, slot: bytes, at: int, base: int, area: Reader, *, is_blob: bool
) -> FieldValue | bytes:
    value: FieldValue
    match type_:
        case "STRING" | "DECIMAL":
            raw, at = _read_long(slot, at, base, area)
            return raw if is_blob else read_text(type_, raw, at)
        case "BOOLEAN":
            if slot[0] > 1:
                raise DecodeError(f"{slot[0]} is neither 0 nor 1", at, CLAUSE_BOOLEANS)
            return slot[0] == 1
        case "FLOAT":
            (value,) = _FLOAT.unpack(slot)
            return value
        case "DOUBLE":
            (value,) = _DOUBLE.unpack(slot)
            return value
        case _:
            (value,) = _LONG.unpack(slot)
            problem = check_value(type_, value)
            if problem:
                raise DecodeError(problem, at, clause_of(type_))
            return value


def _read_long(slot: bytes, at: int, base: int, area: Reader) -> tuple[bytes, int]:
    """Return the bytes of a STRING, DECIMAL or blob, and where they are."""
    if slot[_INLINE] & _INLINE_MARK:
        size = slot[_INLINE] & ~_INLINE_MARK
        if size > _INLINE:
            raise DecodeError(f"{size} bytes in a slot", at + _INLINE, CLAUSE_SLOTS)
        return slot[:size], at
    size, offset = _PLACE.unpack(slot)
    start = base + offset
    if size < 0 or not area.offset <= start <= start + size <= area.end:
        problem = f"{size} bytes at {offset} are outside the record's variable area"
        raise DecodeError(problem, at, CLAUSE_SLOTS)
    return area.data[start : start + size], start


def _read_attributes(body: Reader, path: Path) -> Attributes:
    found: dict[str, str] = {}
    at = body.offset
    with step(*path):
        (count,) = _NUMBER.unpack(body.take(_NUMBER.size, CLAUSE_ATTRIBUTES))
        body.note(at, count, CLAUSE_ATTRIBUTES, *path, "count")
        if not 0 <= count <= body.left // (2 * _NUMBER.size):
            problem = f"{count} attributes do not fit into {body.left} bytes"
            raise DecodeError(problem, at, CLAUSE_ATTRIBUTES, ("count",))
        for index in range(count):
            at = body.offset
            with step(index):
                key = _read_attribute_text(body)
                value = _read_attribute_text(body)
                if key in found:
                    problem = f"the attribute {key!r:.60} appears twice"
                    raise DecodeError(problem, at, CLAUSE_ATTRIBUTES)
            found[key] = value
            body.note(at, f"{key}={value}", CLAUSE_ATTRIBUTES, *path, index)
        body.expect_end(CLAUSE_ATTRIBUTES)
    return tuple(found.items())


def _read_attribute_text(body: Reader) -> str:
    at = body.offset
    (size,) = _NUMBER.unpack(body.take(_NUMBER.size, CLAUSE_ATTRIBUTES))
    if size < 0:
        raise DecodeError(f"a text of {size} bytes", at, CLAUSE_ATTRIBUTES)
    try:
        return body.take(size, CLAUSE_ATTRIBUTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecodeError("not UTF-8", at + _NUMBER.size, CLAUSE_ATTRIBUTES) from error


# ---- writing ---------------------------------------------------------------------------------


def write_batch(
    batch: Batch,
    fields: Sequence[Field] | None,
    compressions: Mapping[str, Compression] | None = None,
) -> bytes:
    """Return a batch. It is compressed only where that makes it shorter. Raises: EncodeError."""
    parts = []
    for index, record in enumerate(batch.records):
        with step("records", index):
            parts.append(_write_record(record, fields))
    raw = b"".join(parts)
    if len(raw) > MAX_RAW_BYTES:
        raise EncodeError(f"a batch of {len(raw)} bytes", CLAUSE_LIMITS)
    kind = batch.compression
    packed = raw
    if kind != "none":
        packed = write_lz4(raw, compressions or {}) if kind == "lz4" else deflate(raw)
        if len(packed) >= len(raw):
            kind, packed = "none", raw
    bits = _COMPRESSIONS.index(kind) | _ALWAYS
    header = _HEADER.pack(
        MAGIC, 0, _HEADER.size + len(packed), len(raw), crc32c(packed), bits, len(parts)
    )
    return header + packed


def _write_record(record: Record, fields: Sequence[Field] | None) -> bytes:
    check_record(record)
    is_blob = fields is None
    known = _BLOB if fields is None else fields
    if is_blob != isinstance(record.data, bytes):
        raise EncodeError("a blob topic has bytes, a tuple topic values", CLAUSE_RECORDS)
    values: tuple[FieldValue | bytes, ...]
    values = (record.data,) if isinstance(record.data, bytes) else record.data
    sent = fields_sent(len(values), known)
    if sent is None:
        raise EncodeError(f"the topic has {len(known)} fields", CLAUSE_RECORDS)
    known = tuple(sent)
    bitmap = 0
    slots = bytearray()
    area = bytearray()
    bitmap_size = -(-len(known) // 64) * 8
    area_at = _NUMBER.size + bitmap_size + len(known) * _SLOT
    for index, (field, value) in enumerate(zip(known, values, strict=True)):
        with step(field.name):
            if value is None:
                if not field.nullable:
                    raise EncodeError("NULL in a field that is not null", CLAUSE_NULL)
                slots += bytes(_SLOT)
                continue
            bitmap |= 1 << index
            slots += _write_slot(field.type, value, area, area_at)
    attributes = bytearray(_NUMBER.pack(len(record.attributes)))
    for pair in record.attributes:
        for text in pair:
            raw = text.encode("utf-8")
            attributes += _NUMBER.pack(len(raw)) + raw
    attributes_at = _RECORD.size + area_at + len(area)
    version = _BLOB_VERSION if is_blob else 0
    return b"".join(
        (
            _RECORD.pack(0, version, attributes_at + len(attributes), attributes_at),
            _NUMBER.pack(len(known)),
            bitmap.to_bytes(bitmap_size, "little"),
            slots,
            area,
            attributes,
        )
    )


def _write_slot(
    type_: FieldType, value: FieldValue | bytes, area: bytearray, area_at: int
) -> bytes:
    if isinstance(value, bytes):
        return _write_long(value, area, area_at)
    problem = check_value(type_, value)
    if problem:
        raise EncodeError(problem, clause_of(type_))
    match value:
        case bool():
            return bytes([value]).ljust(_SLOT, b"\x00")
        case float():
            if not isfinite(value):
                raise EncodeError(f"{value} is not written", CLAUSE_FLOATS)
            return (_FLOAT if type_ == "FLOAT" else _DOUBLE).pack(value)
        case int():
            return _LONG.pack(value)
        case Decimal():
            return _write_long(decimal_text(value).encode("ascii"), area, area_at)
        case _:
            return _write_long(str(value).encode("utf-8"), area, area_at)


def _write_long(raw: bytes, area: bytearray, area_at: int) -> bytes:
    if len(raw) <= _INLINE:
        return raw.ljust(_INLINE, b"\x00") + bytes([_INLINE_MARK | len(raw)])
    place = _PLACE.pack(len(raw), area_at + len(area))
    area += raw + bytes(-len(raw) % _SLOT)
    return place
