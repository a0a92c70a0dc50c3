"""As much of protobuf's binary form as the service's few messages need.

Fields of unknown numbers are ignored, as protobuf asks of every reader; groups are refused. If a
number or text that is not a list is repeated, the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.limits import INT64_END, INT64_START
from cdcwire.core.reader import Reader, read_uvarint, write_uvarint
from cdcwire.model.events import Step

CLAUSE = "datahub: protobuf"

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES = {_FIXED64: 8, _FIXED32: 4}
_MAX_FIELD = 1 << 29


@dataclass(frozen=True, slots=True)
class WireField:
    """A field as it is read: ``number`` for a varint, ``region`` for bytes, neither for others."""

    reader: Reader
    id: int
    start: int
    end: int
    number: int | None = None
    region: Reader | None = None

    def integer(self, *path: Step) -> int:
        """Return the signed number of 64 bits. Raises: DecodeError."""
        if self.number is None:
            raise DecodeError(f"field {self.id} is a number", self.start, CLAUSE, path)
        value = self.number - (1 << 64) if self.number >> 63 else self.number
        self._note(value, self.end, *path)
        return value

    def text(self, *path: Step) -> str:
        """Return the bytes as text. Raises: DecodeError."""
        region = self.part(*path)
        start = region.offset
        try:
            text = region.take(region.left, CLAUSE).decode("utf-8")
        except UnicodeDecodeError as error:
            raise DecodeError("not UTF-8", start + error.start, CLAUSE, path) from error
        self._note(text, self.end, *path)
        return text

    def message(self, *path: Step) -> Reader:
        """Return a reader of the message in it. Raises: DecodeError."""
        region = self.part(*path)
        # What is noted here is number and length alone.
        self._note(f"{region.left} bytes", region.offset, *path)
        return region

    def part(self, *path: Step) -> Reader:
        """Return a reader of the bytes. Raises: DecodeError."""
        if self.region is None:
            raise DecodeError(f"field {self.id} is a run of bytes", self.start, CLAUSE, path)
        return self.region

    def skip(self, *path: Step) -> None:
        """Skip an unknown field."""
        self._note(f"field {self.id}", self.end, *path, "unknown", note="not known, ignored")

    def _note(self, value: object, end: int, *path: Step, note: str = "") -> None:
        behind = self.reader.offset  # others may have been read since
        self.reader.offset = end
        self.reader.note(self.start, value, CLAUSE, *path, note=note)
        self.reader.offset = behind


def read_fields(reader: Reader) -> Iterator[WireField]:
    """Yield the fields of a message, up to the end of the reader. Raises: DecodeError."""
    while reader.left:
        start = reader.offset
        key = read_uvarint(reader, CLAUSE)
        number, kind = key >> 3, key & 7
        if not 0 < number < _MAX_FIELD:
            raise DecodeError(f"{number} is not a number of a field", start, CLAUSE)
        if kind == _VARINT:
            value = read_uvarint(reader, CLAUSE)
            yield WireField(reader, number, start, reader.offset, number=value)
        elif kind == _BYTES:
            size = read_uvarint(reader, CLAUSE)
            region = reader.region(size, CLAUSE)
            yield WireField(reader, number, start, reader.offset, region=region)
        elif kind in _SIZES:
            reader.take(_SIZES[kind], CLAUSE)
            yield WireField(reader, number, start, reader.offset)
        else:
            raise DecodeError(f"wire type {kind} is not read", start, CLAUSE)


def write_integer(out: bytearray, id: int, value: int | None) -> None:
    """Append a signed number of 64 bits; nothing for None. Raises: EncodeError."""
    if value is not None:
        if not INT64_START <= value < INT64_END:
            raise EncodeError(f"{value} is not a signed number of 64 bits", CLAUSE)
        write_uvarint(out, id << 3 | _VARINT, CLAUSE)
        write_uvarint(out, value & (1 << 64) - 1, CLAUSE)


def write_bytes(out: bytearray, id: int, value: bytes | bytearray | str | None) -> None:
    """Append a run of bytes, or text in UTF-8; nothing for None. Raises: EncodeError."""
    if value is not None:
        raw = _utf8(value) if isinstance(value, str) else value
        write_uvarint(out, id << 3 | _BYTES, CLAUSE)
        write_uvarint(out, len(raw), CLAUSE)
        out += raw


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise EncodeError("the text has a lone surrogate", CLAUSE) from error
