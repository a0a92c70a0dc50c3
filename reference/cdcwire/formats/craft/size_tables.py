"""Size tables and the tail: the end of a message, which a reader must know first.

Every part of a message is as long as its entry in a size table says, so parts can be skipped
unread. The tables are at the end, after all that they measure, and the tail says how long they are.
Shared by both Craft formats; they differ in how a table codes its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from cdcwire.core.errors import DecodeError, step
from cdcwire.core.reader import Reader, read_uvarint, write_uvarint
from cdcwire.formats.craft.arrays import (
    ArrayPath,
    read_delta_varints,
    read_reversed_uvarint,
    read_uvarints,
    write_delta_varints,
    write_reversed_uvarint,
    write_uvarints,
)
from cdcwire.formats.craft.profile import Profile
from cdcwire.model.events import Path

T = TypeVar("T")


class ReadPart(Protocol):
    """A function that reads one part of a message's head: it calls ``read`` with ``part``."""

    def __call__(self, part: Reader, read: Callable[[Reader], T], /) -> T:
        """Return what ``read`` returns."""
        ...


def read_now(part: Reader, read: Callable[[Reader], T], /) -> T:
    """Read a part and keep nothing else of it."""
    return read(part)


def split_at_tables(reader: Reader, profile: Profile) -> tuple[Reader, Reader]:
    """Read the tail; return a reader of the part before the size tables, and one of these.

    Source: craft, "Size tables": the size of all tables, as a reversed uvarint.
    """
    with step("tail"):
        size, tail_size = read_reversed_uvarint(reader, profile)
        left = reader.left - tail_size
        if size > left:
            raise DecodeError(
                f"size tables need {size} bytes, found {left} bytes",
                reader.end - tail_size,
                profile.tail,
            )
    body = reader.region(left - size, profile.tail)
    tables = reader.region(size, profile.tail)
    start = reader.offset
    reader.take(tail_size, profile.tail)
    reader.note(start, size, profile.tail, "tail")
    return body, tables


def write_tail(out: bytearray, tables: bytes, profile: Profile) -> None:
    """Append the size tables and their size."""
    out += tables
    write_reversed_uvarint(out, len(tables), profile)


def read_delta_table(reader: Reader, path: Path, profile: Profile) -> list[int]:
    """Read one table of the shipped format: number of elements, at least one, and their sizes."""
    count = _read_count(reader, path, profile, least=1)
    place = ArrayPath(path, (), profile.size_tables)
    return read_delta_varints(reader, count, place, profile, _below_zero)


def write_delta_table(out: bytearray, sizes: Sequence[int], profile: Profile) -> None:
    """Append one table of the shipped format: number of elements, and their sizes."""
    write_uvarint(out, len(sizes), profile.size_tables)
    write_delta_varints(out, sizes, ArrayPath(("size_tables",), (), profile.size_tables), profile)


def read_plain_table(reader: Reader, path: Path, profile: Profile) -> list[int]:
    """Read one table of the proposal: number of elements, and their sizes."""
    count = _read_count(reader, path, profile, least=0)
    return read_uvarints(reader, count, ArrayPath(path, (), profile.size_tables), profile)


def write_plain_table(out: bytearray, sizes: Sequence[int], profile: Profile) -> None:
    """Append one table of the proposal: number of elements, and their sizes."""
    write_uvarint(out, len(sizes), profile.size_tables)
    write_uvarints(out, sizes, ArrayPath(("size_tables",), (), profile.size_tables), profile)


def _read_count(reader: Reader, path: Path, profile: Profile, least: int) -> int:
    start = reader.offset
    with step(*path, "count"):
        count = read_uvarint(reader, profile.integers)
        if count < least:
            raise DecodeError("a size table without elements", start, profile.size_tables)
    reader.note(start, count, profile.size_tables, *path, "count")
    return count


def _below_zero(index: int, size: int) -> str | None:
    return None if size >= 0 else f"size {size} is negative"
