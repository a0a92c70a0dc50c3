"""Avro's binary encoding: reader and writer of every type, side by side.

Each value that is read costs a unit of a budget that grows with the bytes. So values without bytes
(arrays of NULL, records without fields) can't be announced without end. Nesting is limited.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from cdcwire.apache_avro import schema
from cdcwire.apache_avro.schema import Branch, Datum
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.limits import INT64_END, INT64_START
from cdcwire.core.reader import Reader, write_varint
from cdcwire.model.events import Path

CLAUSE = "avro: binary encoding"
VARINTS = "avro: varints"
LENGTHS = "avro: lengths"
LIMITS = "avro: limits"
UNION = "avro: union index"
TEXTS = "avro: text values"

MAX_DEPTH = 64
FREE_VALUES = 1 << 14
_FLOAT = struct.Struct("<f")
_DOUBLE = struct.Struct("<d")
_INT_BITS, _LONG_BITS = 32, 64
_VARINT_BYTES = {_INT_BITS: 5, _LONG_BITS: 10}


def read_int(reader: Reader) -> int:
    """Read an int: a zigzag varint of at most 5 bytes and 32 bits."""
    return _read_number(reader, _INT_BITS)


def read_long(reader: Reader) -> int:
    """Read a long: a zigzag varint of at most 10 bytes and 64 bits."""
    return _read_number(reader, _LONG_BITS)


def _read_number(reader: Reader, bits: int) -> int:
    start = reader.offset
    value = 0
    for shift in range(0, 7 * _VARINT_BYTES[bits], 7):
        byte = reader.byte(VARINTS)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> bits:
                raise DecodeError(f"the number exceeds {bits} bits", start, VARINTS)
            return (value >> 1) ^ -(value & 1)
    problem = f"the varint has more than {_VARINT_BYTES[bits]} bytes"
    raise DecodeError(problem, start, VARINTS)


def read_bytes(reader: Reader) -> bytes:
    """Read a length and as many bytes."""
    start = reader.offset
    size = read_long(reader)
    if size < 0:
        raise DecodeError(f"the length is {size}", start, LENGTHS)
    return reader.take(size, LENGTHS)


def read_string(reader: Reader, clause: str = TEXTS) -> str:
    """Read a length and as many bytes of UTF-8."""
    raw = read_bytes(reader)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        problem = f"the string is not UTF-8 from byte 0x{raw[error.start]:02x} on"
        offset = reader.offset - len(raw) + error.start
        raise DecodeError(problem, offset, clause) from None


def read_boolean(reader: Reader) -> bool:
    """Read a boolean: one byte, 0 or 1. Raises: TruncatedError, DecodeError."""
    start = reader.offset
    byte = reader.byte(CLAUSE)
    if byte > 1:
        raise DecodeError(f"the boolean is the byte 0x{byte:02x}", start, CLAUSE)
    return bool(byte)


def read_primitive(reader: Reader, name: schema.PrimitiveName, clause: str = TEXTS) -> Datum:
    """Read a value of a type without parts."""
    match name:
        case "null":
            return None
        case "boolean":
            return read_boolean(reader)
        case "int":
            return read_int(reader)
        case "long":
            return read_long(reader)
        case "float":
            return _FLOAT.unpack(reader.take(_FLOAT.size, CLAUSE))[0]
        case "double":
            return _DOUBLE.unpack(reader.take(_DOUBLE.size, CLAUSE))[0]
        case "bytes":
            return read_bytes(reader)
        case "string":
            return read_string(reader, clause)


def read_union_index(reader: Reader, branches: int) -> int:
    """Read which branch of a union follows."""
    start = reader.offset
    index = read_long(reader)
    if not 0 <= index < branches:
        problem = f"the union has {branches} branches, not a branch {index}"
        raise DecodeError(problem, start, UNION)
    return index


class DatumReader:
    """Reads values of any type, under a budget and a limit of nesting.

    ``keeps_bytes``: a string without attributes that is not UTF-8 is its bytes, not an error.
    """

    def __init__(self, reader: Reader, *, keeps_bytes: bool = False) -> None:
        self.reader = reader
        self.keeps_bytes = keeps_bytes
        self.budget = FREE_VALUES + 2 * reader.left
        self.depth = 0

    def read(self, kind: schema.AvroType, path: Path, clause: str = CLAUSE) -> Datum:
        """Return the next value. ``path`` and ``clause`` are for notes only."""
        reader = self.reader
        self._spend()
        if isinstance(kind, schema.Primitive):
            start = reader.offset
            if self.keeps_bytes and kind.name == "string" and not kind.attributes:
                value: Datum = _text_or_bytes(read_bytes(reader))
            else:
                value = read_primitive(reader, kind.name)
            if reader.offset > start:
                reader.note(start, value, clause, *path)
            return value
        self.depth += 1
        if self.depth > MAX_DEPTH:
            problem = f"values are nested deeper than {MAX_DEPTH}"
            raise DecodeError(problem, reader.offset, LIMITS)
        found = self._nested(kind, path, clause)
        self.depth -= 1
        return found

    def _nested(self, kind: schema.AvroType, path: Path, clause: str) -> Datum:
        reader, start = self.reader, self.reader.offset
        match kind:
            case schema.Union(branches):
                index = read_union_index(reader, len(branches))
                reader.note(start, index, UNION, *path, "branch")
                value = self.read(branches[index], path, clause)
                return value if kind.null_index is not None else Branch(index, value)
            case schema.Record(fields=fields):
                return tuple(self._step(each.name, each.type, path, clause) for each in fields)
            case schema.Array(items):
                return tuple(self._items(items, path, clause))
            case schema.Map(values):
                return tuple(self._pairs(values, path, clause))
            case schema.Fixed(_, size):
                raw = reader.take(size, LENGTHS)
                if size:
                    reader.note(start, raw, clause, *path)
                return raw
            case schema.Enumeration(_, symbols):
                index = read_int(reader)
                if not 0 <= index < len(symbols):
                    problem = f"there are {len(symbols)} symbols, not a symbol {index}"
                    raise DecodeError(problem, start, CLAUSE)
                reader.note(start, symbols[index], clause, *path)
                return symbols[index]
            case schema.Primitive():
                raise AssertionError("a type without parts is read before")

    def _step(self, name: str | int, kind: schema.AvroType, path: Path, clause: str) -> Datum:
        try:
            return self.read(kind, (*path, name), clause)
        except DecodeError as error:
            error.path = (name, *error.path)
            raise

    def _items(self, items: schema.AvroType, path: Path, clause: str) -> list[Datum]:
        found: list[Datum] = []
        for count, end in self._blocks(path):
            for _ in range(count):
                found.append(self._step(len(found), items, path, clause))
            self._check_block(end)
        return found

    def _pairs(self, values: schema.AvroType, path: Path, clause: str) -> list[tuple[str, Datum]]:
        found: list[tuple[str, Datum]] = []
        for count, end in self._blocks(path):
            for _ in range(count):
                start = self.reader.offset
                self._spend()
                name = read_string(self.reader, CLAUSE)
                self.reader.note(start, name, clause, *path, len(found), "key")
                found.append((name, self._step(len(found), values, path, clause)))
            self._check_block(end)
        return found

    def _blocks(self, path: Path) -> _Blocks:
        return _Blocks(self, path)

    def _check_block(self, end: int | None) -> None:
        if end is not None and end != self.reader.offset:
            problem = f"the block is announced to end at byte {end}"
            raise DecodeError(problem, self.reader.offset, LENGTHS)

    def _spend(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            problem = "there are more values than so few bytes may hold"
            raise DecodeError(problem, self.reader.offset, LIMITS)


def _text_or_bytes(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


class _Blocks:
    """The blocks of an array or map: how many items each has, and where it is said to end."""

    def __init__(self, datums: DatumReader, path: Path) -> None:
        self.datums = datums
        self.path = path

    def __iter__(self) -> _Blocks:
        return self

    def __next__(self) -> tuple[int, int | None]:
        reader = self.datums.reader
        start = reader.offset
        count = read_long(reader)
        end = None
        if count < 0:
            place = reader.offset
            size = read_long(reader)
            if not 0 <= size <= reader.left:
                problem = f"the block is said to have {size} bytes, {reader.left} are left"
                raise DecodeError(problem, place, LENGTHS)
            count, end = -count, reader.offset + size
        if count > self.datums.budget:
            problem = f"the block is said to have {count} items, {reader.left} bytes are left"
            raise DecodeError(problem, start, LENGTHS)
        reader.note(start, count, LENGTHS, *self.path, "block")
        if count == 0:
            raise StopIteration
        return count, end


def write_datum(out: bytearray, kind: schema.AvroType, value: Datum) -> None:
    """Append a value of a type. Raises: EncodeError when it is not a value of the type."""
    match kind:
        case schema.Primitive(name):
            write_primitive(out, name, value)
        case schema.Union(branches):
            _write_union(out, kind, branches, value)
        case schema.Record(fields=fields):
            _write_fields(out, fields, value)
        case schema.Array(items):
            values = _sized(value, None)
            if values:
                write_varint(out, len(values), VARINTS)
            for index, each in enumerate(values):
                with step(index):
                    write_datum(out, items, each)
            out.append(0)
        case schema.Map(items):
            values = _sized(value, None)
            if values:
                write_varint(out, len(values), VARINTS)
            for index, (key, each) in enumerate(values):
                with step(index):
                    write_primitive(out, "string", key)
                    write_datum(out, items, each)
            out.append(0)
        case schema.Fixed(_, size):
            if not isinstance(value, bytes) or len(value) != size:
                raise _wrong(value, f"{size} bytes")
            out += value
        case schema.Enumeration(_, symbols):
            if value not in symbols:
                raise _wrong(value, "a symbol of the enum")
            write_varint(out, symbols.index(value), VARINTS)


def _write_fields(out: bytearray, fields: tuple[schema.Field, ...], value: Datum) -> None:
    values = _sized(value, len(fields))
    for field, each in zip(fields, values, strict=True):
        kind = field.type
        try:
            if isinstance(kind, schema.Union) and kind.null_index is not None:
                if each is None:
                    out.append(2 * kind.null_index)
                    continue
                out.append(2 - 2 * kind.null_index)
                kind = kind.branches[1 - kind.null_index]
            if isinstance(kind, schema.Primitive):
                _WRITERS[kind.name](out, each)
            else:
                write_datum(out, kind, each)
        except EncodeError as error:
            error.path = (field.name, *error.path)
            raise


def _write_union(
    out: bytearray, kind: schema.Union, branches: tuple[schema.AvroType, ...], value: Datum
) -> None:
    null_index = kind.null_index
    if null_index is not None:
        index = null_index if value is None else 1 - null_index
    elif isinstance(value, Branch) and 0 <= value.index < len(branches):
        index, value = value.index, value.value
    else:
        raise _wrong(value, "a branch of the union")
    write_varint(out, index, VARINTS)
    write_datum(out, branches[index], value)


def write_primitive(out: bytearray, name: schema.PrimitiveName, value: Datum) -> None:
    """Append a value of a type without parts."""
    _WRITERS[name](out, value)


def _write_null(out: bytearray, value: Datum) -> None:
    if value is not None:
        raise _wrong(value, "NULL")


def _write_boolean(out: bytearray, value: Datum) -> None:
    if not isinstance(value, bool):
        raise _wrong(value, "a boolean")
    out.append(value)


def _write_int(out: bytearray, value: Datum) -> None:
    if not _is_int(value) or not -1 << 31 <= value < 1 << 31:
        raise _wrong(value, "an int of 32 bits")
    write_varint(out, value, VARINTS)


def _write_long(out: bytearray, value: Datum) -> None:
    if not _is_int(value) or not INT64_START <= value < INT64_END:
        raise _wrong(value, "a long of 64 bits")
    write_varint(out, value, VARINTS)


def _write_float(out: bytearray, value: Datum) -> None:
    if not isinstance(value, float):
        raise _wrong(value, "a float")
    try:
        out += _FLOAT.pack(value)
    except OverflowError:
        raise _wrong(value, "a float of 32 bits") from None


def _write_double(out: bytearray, value: Datum) -> None:
    if not isinstance(value, float):
        raise _wrong(value, "a double")
    out += _DOUBLE.pack(value)


def _write_bytes(out: bytearray, value: Datum) -> None:
    if not isinstance(value, bytes):
        raise _wrong(value, "bytes")
    write_varint(out, len(value), VARINTS)
    out += value


def _write_string(out: bytearray, value: Datum) -> None:
    if not isinstance(value, (str, bytes)):
        raise _wrong(value, "a string")
    raw = _utf8(value) if isinstance(value, str) else value
    write_varint(out, len(raw), VARINTS)
    out += raw


_WRITERS: dict[schema.PrimitiveName, Callable[[bytearray, Datum], None]] = {
    "null": _write_null,
    "boolean": _write_boolean,
    "int": _write_int,
    "long": _write_long,
    "float": _write_float,
    "double": _write_double,
    "bytes": _write_bytes,
    "string": _write_string,
}


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise EncodeError("the text has a lone surrogate", TEXTS) from None


def _is_int(value: Datum) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _sized(value: Datum, size: int | None) -> tuple[Datum, ...]:
    if not isinstance(value, tuple) or (size is not None and len(value) != size):
        raise _wrong(value, "a tuple" if size is None else f"a tuple of {size}")
    return value


def _wrong(value: Datum, expected: str) -> EncodeError:
    return EncodeError(f"{value!r:.80} is not {expected}", CLAUSE)
