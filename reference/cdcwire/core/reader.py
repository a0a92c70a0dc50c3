"""A cursor over bytes that knows its bounds, and the same one that remembers what it read.

Decoders move the cursor with ``take`` and the ``read_x`` functions; every length is checked against
what is left before anything is cut. After a decoder has read a value, it calls ``note``. A plain
``Reader`` ignores the note; a ``RecordingReader`` keeps it as a ``Span`` for the annotated hexdump.

Varints, which Craft, Avro and protobuf share, have seven bits a byte, least significant group
first. Non-minimal forms (``80 00``) are read, never written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.model.events import Path, Step

_Field: TypeAlias = Literal[
    "kind", "op", "half", "what", "id", "code", "query", "database", "schema", "table", "key"
]
_SharedField: TypeAlias = Literal[
    "commit_ts", "sequence_id", "lsn", "tx_id", "tx_order", "partition", "commit_ms", "sent_ms"
]
_BinlogField: TypeAlias = Literal["file", "pos", "row", "gtid", "server_id"]
_LogField: TypeAlias = Literal["commit_lsn", "change_lsn", "event_serial_no"]
_ScnField: TypeAlias = Literal["commit_scn", "scn", "rs_id", "ssn"]
_PositionField: TypeAlias = Literal[_SharedField, _BinlogField, _LogField, _ScnField, "start_ts"]
EventPart: TypeAlias = Literal[_Field, _PositionField, "before", "after", "extra"]


@dataclass(frozen=True, slots=True)
class Subject:
    """The parts of an event that a span shows.

    ``event``: the event's index among those of its message; None: every event of the message.
    ``parts``: fields of the event or of its position; empty: the whole event, as one run of bytes.
    ``name``: the column of ``before`` or ``after``, the member of ``extra``; None: the whole part.
    """

    event: int | None = None
    parts: tuple[EventPart, ...] = ()
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A run of bytes and its meaning.

    ``path`` leads to the field. ``start`` and ``end`` are offsets in the whole key, value or file.
    ``text`` is the value for people. ``note`` says what is odd about it, for example a known fault.
    ``value`` is the value for programs, where the explanation has one. Bytes that belong to the
    format alone, such as lengths, have the ``subject`` None.
    """

    path: Path
    start: int
    end: int
    text: str
    clause: str
    part: str = "value"
    note: str = ""
    value: object = None
    subject: Subject | None = None


class Reader:
    """Bytes from ``offset`` up to ``end``. The offsets count from the start of ``data``.

    ``noted``: where values begin whose notes are kept; the other notes can be left out.
    """

    __slots__ = ("data", "end", "offset")
    noted = range(0)

    def __init__(self, data: bytes, offset: int = 0, end: int | None = None) -> None:
        self.data = data
        self.offset = offset
        self.end = len(data) if end is None else end

    @property
    def left(self) -> int:
        """The number of bytes that are not read yet."""
        return self.end - self.offset

    def take(self, size: int, clause: str) -> bytes:
        """Return the next ``size`` bytes and move past them. Raises: TruncatedError."""
        stop = self.offset + size
        if stop > self.end:
            raise TruncatedError(
                f"{size} bytes are announced, {self.left} are left", self.end, clause
            )
        taken = self.data[self.offset : stop]
        self.offset = stop
        return taken

    def byte(self, clause: str) -> int:
        """Return the next byte as a number and move past it. Raises: TruncatedError."""
        if self.offset >= self.end:
            raise TruncatedError("the bytes end here", self.end, clause)
        value = self.data[self.offset]
        self.offset += 1
        return value

    def region(self, size: int, clause: str) -> Reader:
        """Return a reader of the next ``size`` bytes and move past them. Raises: TruncatedError."""
        stop = self.offset + size
        if stop > self.end:
            raise TruncatedError(
                f"{size} bytes are announced, {self.left} are left", self.end, clause
            )
        region = self._part(self.offset, stop)
        self.offset = stop
        return region

    def expect_end(self, clause: str) -> None:
        """Raise DecodeError unless everything was read."""
        if self.left:
            raise DecodeError(f"{self.left} bytes are left over", self.offset, clause)

    def note(self, start: int, value: object, clause: str, *path: Step, note: str = "") -> None:
        """Say that the bytes from ``start`` to here hold ``value``. Ignored here."""

    def _part(self, start: int, end: int) -> Reader:
        return Reader(self.data, start, end)


class RecordingReader(Reader):
    """A reader that keeps every ``note`` in ``spans``, in the order of reading.

    ``noted``: where the values begin whose notes are kept; None: everywhere.
    """

    __slots__ = ("noted", "part", "spans")

    def __init__(
        self,
        data: bytes,
        offset: int = 0,
        end: int | None = None,
        spans: list[Span] | None = None,
        part: str = "value",
        noted: range | None = None,
    ) -> None:
        super().__init__(data, offset, end)
        self.spans: list[Span] = [] if spans is None else spans
        self.part = part
        self.noted = range(len(data) + 1) if noted is None else noted

    def note(self, start: int, value: object, clause: str, *path: Step, note: str = "") -> None:
        """Record a span: the bytes from ``start`` to the cursor hold ``value``."""
        if start not in self.noted:
            return
        self.spans.append(
            Span(tuple(path), start, self.offset, _text(value), clause, self.part, note, value)
        )

    def _part(self, start: int, end: int) -> Reader:
        return RecordingReader(self.data, start, end, self.spans, self.part, self.noted)


def _text(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return value.hex(" ")
    if isinstance(value, str):
        return repr(value)
    return str(value)


_MORE = 0x80


def read_uvarint(reader: Reader, clause: str) -> int:
    """Read one unsigned varint and move past it.

    Shape: 1 to 10 bytes, 7 bits each, least significant group first; the high bit says "more".
    Returns: an int in [0, 2**64).
    Raises: TruncatedError; DecodeError when the value needs more than 64 bits.
    """
    start = reader.offset
    if start < reader.end and (byte := reader.data[start]) < _MORE:  # most integers have one byte
        reader.offset = start + 1
        return byte
    value = 0
    for shift in range(0, 70, 7):
        byte = reader.byte(clause)
        value |= (byte & 0x7F) << shift
        if byte < _MORE:
            if value >= UINT64_END:
                break
            return value
    raise DecodeError("varint exceeds 64 bits", start, clause)


def read_varint(reader: Reader, clause: str) -> int:
    """Read one zigzag varint and move past it. Returns: an int in [-2**63, 2**63)."""
    start = reader.offset
    if start < reader.end and (byte := reader.data[start]) < _MORE:  # most integers have one byte
        reader.offset = start + 1
        return (byte >> 1) ^ -(byte & 1)
    value = read_uvarint(reader, clause)
    return (value >> 1) ^ -(value & 1)


def write_uvarint(out: bytearray, value: int, clause: str) -> None:
    """Append the shortest unsigned varint. Raises: EncodeError outside [0, 2**64)."""
    if not 0 <= value < UINT64_END:
        raise EncodeError(f"{value} is not an unsigned 64-bit integer", clause)
    while value >= _MORE:
        out.append(value & 0x7F | _MORE)
        value >>= 7
    out.append(value)


def write_varint(out: bytearray, value: int, clause: str) -> None:
    """Append the shortest zigzag varint. Raises: EncodeError outside [-2**63, 2**63)."""
    if not INT64_START <= value < INT64_END:
        raise EncodeError(f"{value} is not a signed 64-bit integer", clause)
    write_uvarint(out, value << 1 if value >= 0 else (~value << 1) | 1, clause)
