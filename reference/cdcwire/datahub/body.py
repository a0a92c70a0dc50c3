"""A body in any of the three encodings, known from its headers, an option, or its bytes.

Source: datahub, "bodies", "content encoding".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from cdcwire.core.context import Compression
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.reader import Reader
from cdcwire.datahub.batch import batch_parts, write_batch
from cdcwire.datahub.compression import MAX_RAW_BYTES, deflate, inflate, open_lz4, write_lz4
from cdcwire.datahub.fields import Field
from cdcwire.datahub.frame import MAGIC, read_frame, write_frame
from cdcwire.datahub.json_records import json_parts, write_json_body
from cdcwire.datahub.message import Batch, BatchCompression, Body, Encoding, Record
from cdcwire.datahub.protobuf import read_fields, write_bytes, write_integer
from cdcwire.datahub.records import read_record, write_record
from cdcwire.model.events import Path

CLAUSE = "datahub: bodies"
CLAUSE_CONTENT = "datahub: content encoding"

Part: TypeAlias = "Record | Batch | Body"
ContentEncoding: TypeAlias = Literal["none", "deflate", "lz4"]
CONTENT_TYPES: Mapping[str, Encoding] = MappingProxyType(
    {
        "application/json": "json",
        "application/x-protobuf": "protobuf",
        "application/x-binary": "batch",
    }
)
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_NO_COMPRESSIONS: Mapping[str, Compression] = MappingProxyType({})
# The numbers of fields: of a put request, of an answer, of an entry with a batch.
_PUT_ENTRIES = 1
_NEXT_CURSOR, _COUNT, _START, _ANSWER_ENTRIES = range(1, 5)
_OF_ANSWERS = (_COUNT, _START, _ANSWER_ENTRIES)
_BATCH = 6
_FRAME_BYTES = 12


@dataclass(frozen=True, slots=True)
class BodySettings:
    """How a body is written, and what its bytes don't say.

    ``encoding``: with None the headers decide, else the bytes. ``content_encoding``: where no
    header says it. ``compressions``: functions for LZ4. ``max_decompressed_bytes``: of a body, or
    of all its batches.
    """

    encoding: Encoding | None = None
    content_encoding: ContentEncoding = "none"
    compression: BatchCompression = "none"
    empty_is_null: bool = False
    compressions: Mapping[str, Compression] = field(default_factory=lambda: _NO_COMPRESSIONS)
    max_decompressed_bytes: int = MAX_RAW_BYTES


DEFAULT_SETTINGS = BodySettings()


def read_body(
    data: bytes,
    fields: Sequence[Field] | None,
    settings: BodySettings = DEFAULT_SETTINGS,
    headers: Mapping[str, str] = _NO_HEADERS,
) -> Body:
    """Return a put request or a get answer, as ``body_parts`` reads it. Raises: DecodeError."""
    entries: list[Record | Batch] = []
    of_batch: list[Record] = []
    *parts, body = (part for _, part in body_parts(data, fields, settings, headers))
    assert isinstance(body, Body)
    for part in parts:
        if isinstance(part, Batch):
            entries.append(replace(part, records=tuple(of_batch)))
            of_batch = []
        elif isinstance(part, Record):
            (of_batch if body.encoding == "batch" else entries).append(part)
    return replace(body, entries=tuple(entries))


def body_parts(
    data: bytes,
    fields: Sequence[Field] | None,
    settings: BodySettings = DEFAULT_SETTINGS,
    headers: Mapping[str, str] = _NO_HEADERS,
) -> Iterator[tuple[Path, Part]]:
    """Yield the records of a put request or a get answer, with the paths to their data.

    After the records of a batch comes the batch without them, and at the end the body without its
    entries. ``fields``: of the topic; None is a blob topic. ``headers``: those of HTTP, names in
    lower case. What is in a compressed body has the offset 0. Raises: DecodeError.
    """
    opened = open_content(data, settings, headers)
    try:
        for path, part in _parts(Reader(opened), fields, settings, headers):
            if isinstance(part, Record) and opened is not data:
                part = replace(part, offset=0)
            yield path, part
    except DecodeError as error:
        if opened is not data:
            error.offset = 0
        raise


def open_content(data: bytes, settings: BodySettings, headers: Mapping[str, str]) -> bytes:
    """Return the body without its content encoding. Raises: DecodeError.

    The headers specify it, the settings only where there are none: a body that would not become
    shorter is written without.
    """
    default = "none" if "content-type" in headers else settings.content_encoding
    coding = headers.get("content-encoding") or default
    if coding in ("none", "identity"):
        return data
    stated = headers.get("x-datahub-content-raw-size")
    if coding not in ("deflate", "lz4"):
        raise DecodeError(f"the content encoding {coding!r:.40} is not known", 0, CLAUSE_CONTENT)
    if stated is not None and not (stated.isascii() and stated.isdigit() and len(stated) < 20):
        problem = f"x-datahub-content-raw-size is {stated!r:.40}, no number of bytes"
        raise DecodeError(problem, 0, CLAUSE_CONTENT)
    raw_size, limit = None if stated is None else int(stated), settings.max_decompressed_bytes
    if coding == "lz4":
        return open_lz4(data, raw_size, 0, settings.compressions, limit)
    return inflate(data, raw_size, 0, limit)


def encoding_of(data: bytes, settings: BodySettings, headers: Mapping[str, str]) -> Encoding:
    """Return the encoding of a body without content encoding. Raises: DecodeError.

    A body that begins with the magic is a frame; one whose entries hold a batch is of batches.
    """
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type in CONTENT_TYPES:
        return CONTENT_TYPES[content_type]
    if settings.encoding is not None:
        return settings.encoding
    if not data.startswith(MAGIC):
        return "json"
    return "batch" if _has_batches(data) else "protobuf"


def _has_batches(data: bytes) -> bool:
    with suppress(DecodeError):  # reading the body says what is wrong
        for item in read_fields(Reader(data, min(_FRAME_BYTES, len(data)))):
            if item.id in (_PUT_ENTRIES, _ANSWER_ENTRIES) and item.region is not None:
                with suppress(DecodeError):
                    return any(
                        part.id == _BATCH
                        and part.region is not None
                        and data.startswith(MAGIC, part.region.offset)
                        for part in read_fields(item.region)
                    )
    return False


def _parts(
    reader: Reader,
    fields: Sequence[Field] | None,
    settings: BodySettings,
    headers: Mapping[str, str],
) -> Iterator[tuple[Path, Part]]:
    encoding = encoding_of(reader.data, settings, headers)
    if encoding == "json":
        return json_parts(reader.data, fields, empty_is_null=settings.empty_is_null)
    action = headers.get("x-datahub-request-action")
    is_answer = {"pub": False, "sub": True}.get(action or "")
    return framed_parts(reader, encoding, fields, settings, is_answer=is_answer)


def framed_parts(
    reader: Reader,
    encoding: Encoding,
    fields: Sequence[Field] | None,
    settings: BodySettings,
    *,
    is_answer: bool | None = None,
) -> Iterator[tuple[Path, Part]]:
    """Yield the parts of a body of protobuf or of batches, as ``body_parts`` does.

    A put request has field 1 alone, its entries; an answer has its entries in field 4.
    ``is_answer``: with None the fields of the body decide. Raises: DecodeError.
    """
    frame = read_frame(reader)
    known = {item.id for item in read_fields(Reader(frame.data, frame.offset, frame.end))}
    if is_answer is None:
        is_answer = not known.isdisjoint(_OF_ANSWERS)
    list_field = _ANSWER_ENTRIES if is_answer else _PUT_ENTRIES
    entries = 0
    numbers: dict[int, int] = {}
    next_cursor: str | None = None
    raw_left = settings.max_decompressed_bytes
    for item in read_fields(frame):
        if item.id == list_field:
            path: Path = ("records" if encoding == "protobuf" else "batches", entries)
            region = item.message(*path)
            if encoding == "protobuf":
                record = read_record(region, fields, path, empty_is_null=settings.empty_is_null)
                yield (*path, "data"), record
            else:
                for index, part in enumerate(
                    _entry_parts(region, fields, path, settings, raw_left)
                ):
                    if isinstance(part, Batch):
                        raw_left -= part.raw_size
                    yield (*path, "records", index), part
            entries += 1
        elif is_answer and item.id == _NEXT_CURSOR:
            next_cursor = item.text("next_cursor")
        elif is_answer and item.id == _COUNT:
            numbers[_COUNT] = item.integer("record_count")
        elif is_answer and item.id == _START:
            numbers[_START] = item.integer("start_sequence")
        else:
            item.skip()
    count = numbers.get(_COUNT)
    if count is not None and count != entries:
        problem = f"the answer announces {count} records and has {entries}"
        raise DecodeError(problem, reader.end, CLAUSE, ("record_count",))
    yield (), Body(encoding, (), is_answer, next_cursor, count, numbers.get(_START))


def _entry_parts(
    reader: Reader,
    fields: Sequence[Field] | None,
    path: Path,
    settings: BodySettings,
    raw_left: int,
) -> Iterator[Record | Batch]:
    """Yield the records of an entry, then its batch, with what an answer says of it."""
    texts: dict[str, str] = {}
    numbers: dict[str, int] = {}
    batch: Batch | None = None
    for item in read_fields(reader):
        match item.id:
            case 1 | 2:
                name = "cursor" if item.id == 1 else "next_cursor"
                texts[name] = item.text(*path, name)
            case 3 | 4 | 5:
                name = ("sequence", "system_time", "serial")[item.id - 3]
                numbers[name] = item.integer(*path, name)
            case 6:
                if batch is not None:
                    raise DecodeError("a second batch in an entry", item.start, CLAUSE, path)
                region = item.message(*path, "batch")
                left = max(raw_left, 0)
                for part in batch_parts(region, fields, path, settings.compressions, left):
                    if isinstance(part, Batch):
                        batch = part
                    else:
                        yield part
            case _:
                item.skip(*path)
    if batch is None:
        raise DecodeError("an entry without a batch", reader.end, CLAUSE, path)
    yield replace(
        batch,
        cursor=texts.get("cursor"),
        next_cursor=texts.get("next_cursor"),
        sequence=numbers.get("sequence"),
        system_time=numbers.get("system_time"),
        serial=numbers.get("serial"),
    )


# ---- writing ---------------------------------------------------------------------------------


def write_body(
    body: Body, fields: Sequence[Field] | None, settings: BodySettings = DEFAULT_SETTINGS
) -> tuple[bytes, dict[str, str]]:
    """Return a body, and the HTTP headers that say how it is encoded. Raises: EncodeError."""
    if body.encoding == "json":
        raw = write_json_body(body, fields)
    else:
        raw = write_frame(_message(body, fields, settings))
    types = {encoding: name for name, encoding in CONTENT_TYPES.items()}
    headers = {"content-type": types[body.encoding]}
    if body.encoding != "json" and not body.is_answer:
        headers["x-datahub-request-action"] = "pub"
    if settings.content_encoding == "none":
        return raw, headers
    is_lz4 = settings.content_encoding == "lz4"
    packed = write_lz4(raw, settings.compressions) if is_lz4 else deflate(raw)
    if len(packed) >= len(raw):
        return raw, headers
    headers["content-encoding"] = settings.content_encoding
    headers["x-datahub-content-raw-size"] = str(len(raw))
    return packed, headers


def _message(body: Body, fields: Sequence[Field] | None, settings: BodySettings) -> bytes:
    out = bytearray()
    if body.is_answer:
        write_bytes(out, _NEXT_CURSOR, body.next_cursor)
        write_integer(out, _COUNT, len(body.entries))
        write_integer(out, _START, body.start_sequence)
    for index, entry in enumerate(body.entries):
        with step("records" if body.encoding == "protobuf" else "batches", index):
            if isinstance(entry, Batch) != (body.encoding == "batch"):
                raise EncodeError(f"no entry of a body in {body.encoding}", CLAUSE)
            if isinstance(entry, Batch):
                raw = _write_entry(entry, fields, settings)
            else:
                raw = write_record(entry, fields)
        write_bytes(out, _ANSWER_ENTRIES if body.is_answer else _PUT_ENTRIES, raw)
    return bytes(out)


def _write_entry(batch: Batch, fields: Sequence[Field] | None, settings: BodySettings) -> bytes:
    out = bytearray()
    write_bytes(out, 1, batch.cursor)
    write_bytes(out, 2, batch.next_cursor)
    write_integer(out, 3, batch.sequence)
    write_integer(out, 4, batch.system_time)
    write_integer(out, 5, batch.serial)
    write_bytes(out, _BATCH, write_batch(batch, fields, settings.compressions))
    return bytes(out)
