"""Records and their bodies in protobuf.

A tuple's fields are the texts that JSON has too. A field without a value is NULL; a value of no
bytes is the empty text. A blob is one field.
Source: datahub, "protobuf".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.reader import Reader
from cdcwire.datahub.fields import (
    CLAUSE_NULL,
    Field,
    FieldValue,
    clause_of,
    is_unicode,
    read_text,
    write_text,
)
from cdcwire.datahub.message import Attributes, Record
from cdcwire.datahub.protobuf import (
    CLAUSE,
    read_fields,
    write_bytes,
    write_integer,
)
from cdcwire.model.events import Path

CLAUSE_RECORDS = "datahub: records"
CLAUSE_ATTRIBUTES = "datahub: attributes"

# The numbers of RecordEntry's fields.
_SHARD, _HASH, _PARTITION, _CURSOR, _NEXT, _SEQUENCE, _TIME, _ATTRIBUTES, _DATA = range(1, 10)


def read_record(
    reader: Reader, fields: Sequence[Field] | None, path: Path, *, empty_is_null: bool = False
) -> Record:
    """Return a RecordEntry. ``fields``: of the topic; None is a blob. Raises: DecodeError."""
    start = reader.end
    texts: dict[str, str] = {}
    numbers: dict[str, int] = {}
    attributes: Attributes = ()
    data: tuple[FieldValue, ...] | bytes | None = None
    for field in read_fields(reader):
        match field.id:
            case 1 | 2 | 3 | 4 | 5:
                name = _TEXTS[field.id]
                texts[name] = field.text(*path, name)
            case 6 | 7:
                name = _NUMBERS[field.id]
                numbers[name] = field.integer(*path, name)
            case 8:
                if attributes:
                    raise _twice(field.start, path, "attributes")
                place = (*path, "attributes")
                attributes = _read_attributes(field.message(*place), place)
            case 9:
                if data is not None:
                    raise _twice(field.start, path, "data")
                start = field.start
                inside = field.message(*path, "data")
                data = _read_data(inside, fields, (*path, "data"), empty_is_null=empty_is_null)
            case _:
                field.skip(*path)
    if data is None:
        raise DecodeError("a record without data", reader.end, CLAUSE_RECORDS, path)
    return Record(data, attributes, **texts, **numbers, offset=start)  # type: ignore[arg-type]


_TEXTS = {
    _SHARD: "shard_id",
    _HASH: "hash_key",
    _PARTITION: "partition_key",
    _CURSOR: "cursor",
    _NEXT: "next_cursor",
}
_NUMBERS = {_SEQUENCE: "sequence", _TIME: "system_time"}


def _twice(offset: int, path: Path, name: str) -> DecodeError:
    return DecodeError(f"{name} is duplicated in a record", offset, CLAUSE_RECORDS, (*path, name))


def _read_attributes(reader: Reader, path: Path) -> Attributes:
    found: dict[str, str] = {}
    for field in read_fields(reader):
        if field.id != 1:
            field.skip(*path)
            continue
        place = (*path, len(found))
        key = value = ""
        for part in read_fields(field.message(*place)):
            if part.id == 1:
                key = part.text(*place, "key")
            elif part.id == 2:
                value = part.text(*place, "value")
            else:
                part.skip(*place)
        if key in found:
            problem = f"the attribute {key!r:.60} appears twice"
            raise DecodeError(problem, field.start, CLAUSE_ATTRIBUTES, place)
        found[key] = value
    return tuple(found.items())


def _read_data(
    reader: Reader, fields: Sequence[Field] | None, path: Path, *, empty_is_null: bool
) -> tuple[FieldValue, ...] | bytes:
    values: list[FieldValue | bytes] = []
    for field in read_fields(reader):
        if field.id != 1:
            field.skip(*path)
            continue
        index = len(values)
        if index >= (1 if fields is None else len(fields)):
            raise DecodeError(wrong_count(index + 1, fields), field.start, CLAUSE_RECORDS, path)
        place = (*path, index if fields is None else fields[index].name)
        raw: bytes | None = None
        at = field.start
        for part in read_fields(field.part(*place)):
            if part.id == 1:
                region = part.part(*place)
                at = region.offset
                raw = region.take(region.left, CLAUSE)
        if fields is None:
            if raw is None:
                raise DecodeError("a blob without bytes", at, CLAUSE_NULL, place)
            values.append(raw)
            field.reader.note(field.start, f"{len(raw)} bytes", CLAUSE_RECORDS, *place)
            continue
        with step(*place):
            value = field_value(fields[index], raw, at, empty_is_null=empty_is_null)
        values.append(value)
        field.reader.note(field.start, value, clause_of(fields[index].type), *place)
    if len(values) != 1 if fields is None else fields_sent(len(values), fields) is None:
        raise DecodeError(wrong_count(len(values), fields), reader.end, CLAUSE_RECORDS, path)
    if fields is None:
        return cast(bytes, values[0])
    return cast("tuple[FieldValue, ...]", tuple(values))


def fields_sent(count: int, fields: Sequence[Field]) -> Sequence[Field] | None:
    """Return the fields of a record with ``count`` values; None if it has another number."""
    if count == len(fields):
        return fields
    may_end = 0 < count < len(fields) and fields[count].may_be_absent
    return fields[:count] if may_end else None


def wrong_count(count: int, fields: Sequence[Field] | None) -> str:
    """Return the problem of a record that has another number of values than the topic."""
    if fields is None:
        return "a blob is one field; the record has another number"
    problem = f"a record with {count} values, of a topic with {len(fields)} fields"
    if count < len(fields) and fields[count].is_at_end:
        return f"{problem}: it may be older than a field; set short-records=absent"
    if count < len(fields):
        return f"{problem}: does another service, such as Alibaba DTS, write other columns to it?"
    return f"{problem}: the definition may be older than a field"


def field_value(
    field: Field, raw: bytes | None, offset: int, *, empty_is_null: bool = False
) -> FieldValue:
    """Return the value of a field's text, None for NULL. Raises: DecodeError."""
    if raw == b"" and empty_is_null and field.type != "STRING":
        raw = None
    if raw is None:
        if not field.nullable:
            raise DecodeError("NULL in a field that is not null", offset, CLAUSE_NULL)
        return None
    return read_text(field.type, raw, offset)


def field_text(field: Field, value: FieldValue) -> str | None:
    """Return the text of a field's value, None for NULL. Raises: EncodeError."""
    if value is None:
        if not field.nullable:
            raise EncodeError("NULL in a field that is not null", CLAUSE_NULL)
        return None
    return write_text(field.type, value)


def write_record(record: Record, fields: Sequence[Field] | None) -> bytes:
    """Return a record as RecordEntry. Raises: EncodeError."""
    check_record(record)
    out = bytearray()
    for id, name in _TEXTS.items():
        write_bytes(out, id, getattr(record, name))
    for id, name in _NUMBERS.items():
        write_integer(out, id, getattr(record, name))
    if record.attributes:
        write_bytes(out, _ATTRIBUTES, _write_attributes(record.attributes))
    write_bytes(out, _DATA, _write_data(record, fields))
    return bytes(out)


def _write_attributes(attributes: Attributes) -> bytearray:
    out = bytearray()
    for key, value in attributes:
        pair = bytearray()
        write_bytes(pair, 1, key)
        write_bytes(pair, 2, value)
        write_bytes(out, 1, pair)
    return out


def _write_data(record: Record, fields: Sequence[Field] | None) -> bytearray:
    out = bytearray()
    for value in texts_of(record, fields):
        inside = bytearray()
        write_bytes(inside, 1, value)
        write_bytes(out, 1, inside)
    return out


def check_record(record: Record) -> None:
    """Raise EncodeError for what no encoding has: repeated attributes, invalid Unicode."""
    known: set[str] = set()
    for key, value in record.attributes:
        if key in known:
            problem = f"the attribute {key!r:.60} appears twice"
            raise EncodeError(problem, CLAUSE_ATTRIBUTES, ("attributes",))
        known.add(key)
        if not (is_unicode(key) and is_unicode(value)):
            problem = "an unpaired surrogate in the text"
            raise EncodeError(problem, CLAUSE_ATTRIBUTES, ("attributes", key))
    for name in _TEXTS.values():
        if not is_unicode(getattr(record, name) or ""):
            raise EncodeError("the text has a lone surrogate", CLAUSE_RECORDS, (name,))


def texts_of(record: Record, fields: Sequence[Field] | None) -> list[bytes | str | None]:
    """Return what JSON and protobuf carry of a record: its texts, or the blob's bytes.

    Raises: EncodeError.
    """
    if fields is None:
        if not isinstance(record.data, bytes):
            raise EncodeError("a blob topic's record is bytes", CLAUSE_RECORDS)
        return [record.data]
    sent = None if isinstance(record.data, bytes) else fields_sent(len(record.data), fields)
    if sent is None:
        raise EncodeError(f"the topic has {len(fields)} fields", CLAUSE_RECORDS)
    texts: list[bytes | str | None] = []
    for field, value in zip(sent, cast("tuple[FieldValue, ...]", record.data), strict=True):
        with step(field.name):
            texts.append(field_text(field, value))
    return texts
