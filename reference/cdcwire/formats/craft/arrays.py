"""Arrays of numbers and of strings, and the reversed uvarint: shared by both Craft formats.

No array stores its own length: the count always comes from elsewhere. It is compared with the bytes
that are left before anything is read, as each element takes at least a byte. ``ArrayPath`` says
where the elements belong, for the paths of errors and for spans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.core.reader import Reader, read_uvarint, read_varint, write_uvarint, write_varint
from cdcwire.formats.craft.profile import Profile
from cdcwire.model.events import Path

MAX_NAME_BYTES = 1024  # choice: TiDB ends at 64 characters; a shared huge name is a memory bomb

_MAX_VARINT_BYTES = 10
_MORE = 0x80

NumberCheck: TypeAlias = Callable[[int, int], "str | None"]
"""Takes index and value of an element, returns what is wrong with it."""
TextCheck: TypeAlias = Callable[[int, str], "str | None"]


@dataclass(frozen=True, slots=True)
class ArrayPath:
    """Where the elements of an array belong: path before the index, path after it, clause."""

    before: Path
    after: Path
    clause: str

    def at(self, index: int) -> Path:
        """Return the path of the element at an index."""
        return (*self.before, index, *self.after)


def check_count(reader: Reader, count: int, path: Path, clause: str) -> None:
    """Raise TruncatedError when ``count`` elements can't fit into the bytes that are left."""
    if count > reader.left:
        raise TruncatedError(
            f"{count} elements are announced, {reader.left} bytes are left",
            reader.end,
            clause,
            path,
        )


def read_uvarints(
    reader: Reader, count: int, place: ArrayPath, profile: Profile, check: NumberCheck | None = None
) -> list[int]:
    """Read ``count`` uvarints."""
    return _read_each(reader, count, place, profile, read_uvarint, check=check)


def write_uvarints(
    out: bytearray, values: Sequence[int], place: ArrayPath, profile: Profile
) -> None:
    """Append values as uvarints. Raises: EncodeError."""
    for index, value in enumerate(values):
        _write_one(out, value, write_uvarint, place.at(index), profile)


def read_varints(
    reader: Reader, count: int, place: ArrayPath, profile: Profile, check: NumberCheck | None = None
) -> list[int]:
    """Read ``count`` zigzag varints."""
    return _read_each(reader, count, place, profile, read_varint, check=check)


def write_varints(
    out: bytearray, values: Sequence[int], place: ArrayPath, profile: Profile
) -> None:
    """Append values as zigzag varints. Raises: EncodeError."""
    for index, value in enumerate(values):
        _write_one(out, value, write_varint, place.at(index), profile)


def read_delta_uvarints(
    reader: Reader, count: int, place: ArrayPath, profile: Profile, check: NumberCheck | None = None
) -> list[int]:
    """Read a base value and differences, each to the element before it, modulo 2**64."""
    return _read_each(
        reader, count, place, profile, read_uvarint, combine=_sum_unsigned, check=check
    )


def write_delta_uvarints(
    out: bytearray, values: Sequence[int], place: ArrayPath, profile: Profile
) -> None:
    """Append a base value and differences as uvarints, modulo 2**64. Raises: EncodeError."""
    previous = 0
    for index, value in enumerate(values):
        if not 0 <= value < UINT64_END:
            raise EncodeError(
                f"{value} is not an unsigned 64-bit integer", profile.integers, place.at(index)
            )
        write_uvarint(out, (value - previous) % UINT64_END, profile.integers)
        previous = value


def read_delta_varints(
    reader: Reader, count: int, place: ArrayPath, profile: Profile, check: NumberCheck | None = None
) -> list[int]:
    """Read a base value and differences as zigzag varints, wrapping at 64 bits."""
    return _read_each(reader, count, place, profile, read_varint, combine=_sum_signed, check=check)


def write_delta_varints(
    out: bytearray, values: Sequence[int], place: ArrayPath, profile: Profile
) -> None:
    """Append a base value and differences as zigzag varints, wrapping at 64 bits.

    Raises: EncodeError.
    """
    previous = 0
    for index, value in enumerate(values):
        if not INT64_START <= value < INT64_END:
            raise EncodeError(
                f"{value} is not a signed 64-bit integer", profile.integers, place.at(index)
            )
        write_varint(out, _sum_signed(value, -previous), profile.integers)
        previous = value


def read_strings(
    reader: Reader, count: int, place: ArrayPath, profile: Profile, check: TextCheck | None = None
) -> list[str]:
    """Read ``count`` lengths as uvarints, then all bytes, as names in UTF-8.

    Equal names share one object. Raises: DecodeError for a name over 1024 bytes.
    """
    lengths_place = ArrayPath(place.before, (*place.after, "length"), profile.string_arrays)
    lengths = read_uvarints(reader, count, lengths_place, profile)
    known: dict[str, str] = {}
    names = []
    for index, length in enumerate(lengths):
        start = reader.offset
        try:
            if length > MAX_NAME_BYTES:
                raise DecodeError(
                    f"a name has {length} bytes, {MAX_NAME_BYTES} are allowed",
                    start,
                    profile.limits,
                )
            name = text_of(reader.take(length, profile.string_arrays), start, place.clause)
            problem = check(index, name) if check else None
            if problem:
                raise DecodeError(problem, start, place.clause)
        except DecodeError as error:
            error.path = (*place.at(index), *error.path)
            raise
        if length and start in reader.noted:
            reader.note(start, name, place.clause, *place.at(index))
        names.append(known.setdefault(name, name))
    return names


def write_strings(out: bytearray, names: Sequence[str], place: ArrayPath, profile: Profile) -> None:
    """Append the lengths, then the bytes of all. Raises: EncodeError for one over 1024 bytes."""
    coded = []
    for index, name in enumerate(names):
        raw = bytes_of(name, place.clause, place.at(index))
        if len(raw) > MAX_NAME_BYTES:
            raise EncodeError(
                f"a name has {len(raw)} bytes, {MAX_NAME_BYTES} are allowed",
                profile.limits,
                place.at(index),
            )
        coded.append(raw)
    write_uvarints(out, [len(raw) for raw in coded], place, profile)
    for raw in coded:
        out += raw


def read_reversed_uvarint(reader: Reader, profile: Profile) -> tuple[int, int]:
    """Return the uvarint written in reverse at the end of the bytes, and its size.

    Shape: the bytes of a uvarint in reverse order, so that the last byte of the message is the
    least significant group. The byte without the high bit is first and ends the reading. The cursor
    does not move.
    Raises: TruncatedError when the bytes begin before the integer does; DecodeError over 64 bits.
    """
    value = 0
    offset = reader.end
    for count in range(_MAX_VARINT_BYTES):
        offset = reader.end - count - 1
        if offset < reader.offset:
            raise TruncatedError(
                "the reversed uvarint has no first byte", reader.offset, profile.reversed_uvarint
            )
        byte = reader.data[offset]
        value |= (byte & 0x7F) << 7 * count
        if byte < _MORE:
            if value >= UINT64_END:
                break
            return value, count + 1
    raise DecodeError("reversed uvarint exceeds 64 bits", offset, profile.reversed_uvarint)


def write_reversed_uvarint(out: bytearray, value: int, profile: Profile) -> None:
    """Append the bytes of a uvarint in reverse order. Raises: EncodeError."""
    forward = bytearray()
    write_uvarint(forward, value, profile.reversed_uvarint)
    out += forward[::-1]


def text_of(raw: bytes, offset: int, clause: str) -> str:
    """Return bytes as text. Raises: DecodeError at the first byte that is not UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(
            f"byte 0x{raw[error.start]:02x} is not UTF-8 here", offset + error.start, clause
        ) from None


def bytes_of(text: str, clause: str, path: Path = ()) -> bytes:
    """Return text in UTF-8. Raises: EncodeError for a lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise EncodeError(
            f"character {error.start} of the text has no form in UTF-8", clause, path
        ) from None


def _read_each(
    reader: Reader,
    count: int,
    place: ArrayPath,
    profile: Profile,
    read_one: Callable[[Reader, str], int],
    *,
    combine: Callable[[int, int], int] | None = None,
    check: NumberCheck | None = None,
) -> list[int]:
    check_count(reader, count, place.before, place.clause)
    clause, noted = profile.integers, reader.noted
    values: list[int] = []
    value = 0
    try:
        for index in range(count):
            start = reader.offset
            read = read_one(reader, clause)
            value = combine(value, read) if combine else read
            if check and (problem := check(index, value)):
                raise DecodeError(problem, start, place.clause)
            if start in noted:
                reader.note(start, value, place.clause, *place.at(index))
            values.append(value)
    except DecodeError as error:
        error.path = (*place.at(len(values)), *error.path)
        raise
    return values


def _write_one(
    out: bytearray,
    value: int,
    write_one: Callable[[bytearray, int, str], None],
    path: Path,
    profile: Profile,
) -> None:
    try:
        write_one(out, value, profile.integers)
    except EncodeError as error:
        error.path = (*path, *error.path)
        raise


def _sum_unsigned(previous: int, difference: int) -> int:
    return (previous + difference) % UINT64_END


def _sum_signed(previous: int, difference: int) -> int:
    return (previous + difference + INT64_END) % UINT64_END - INT64_END
