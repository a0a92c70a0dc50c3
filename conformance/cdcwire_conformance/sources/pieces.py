"""Pieces of JSON-lines files, which workers read, and the numbers of lines.

A piece begins at the first line that begins in it, so that many workers read a large file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from cdcwire.files.line_files import BlankLines, lines_in
from cdcwire.files.stores import OpenFile, open_here, opener_of
from cdcwire.storage.form import StoredSettings

_COUNTED_AT_ONCE = 1 << 20
LINE_ENDS = frozenset({b"\n", b"\r\n"})


class Piece(NamedTuple):
    """The lines of a file that begin in ``start`` up to, not with, ``end``.

    ``content``: all bytes of the file, where a worker can't open it.
    """

    file: str
    start: int
    end: int
    content: bytes | None = None

    @classmethod
    def whole(cls, file: str) -> Piece:
        """Return the piece that is a whole file."""
        return cls(file, 0, sys.maxsize)

    @property
    def opener(self) -> OpenFile:
        """The function that opens the file."""
        return opener_of(self.content)

    def open(self) -> BinaryIO:
        """Open the file."""
        return self.opener(self.file)


def read_lines(piece: Piece) -> Iterator[tuple[int, bytes]]:
    """Yield each line of a piece with the byte of the file where it begins."""
    with piece.open() as file:
        offset = piece.start
        if offset:
            # The line that reaches into the piece belongs to the piece before.
            file.seek(offset - 1)
            offset += len(file.readline()) - 1
        blank = BlankLines(piece.file)
        for line in lines_in(file, piece.file):
            if offset >= piece.end:
                return
            if line.isspace():
                blank.add()
            else:
                yield offset, line
            offset += len(line)


def line_number(file: str, offset: int, open_file: OpenFile = open_here) -> int:
    """Return the number, from 1, of the line that begins at a byte: for errors and shown rows."""
    count = 1
    with open_file(file) as lines:
        left = offset
        while left and (chunk := lines.read(min(left, _COUNTED_AT_ONCE))):
            count += chunk.count(b"\n")
            left -= len(chunk)
    return count


def line_numbers(
    file: str, offsets: Iterable[int], open_file: OpenFile = open_here
) -> dict[int, int]:
    """Return the numbers of the lines that begin at these bytes, given in order, in one pass."""
    found: dict[int, int] = {}
    count, at = 1, 0
    with open_file(file) as lines:
        for offset in offsets:
            while at < offset and (chunk := lines.read(min(offset - at, _COUNTED_AT_ONCE))):
                count += chunk.count(b"\n")
                at += len(chunk)
            found[offset] = count
    return found


def lines_of_rows(
    settings: StoredSettings,
    path: str,
    numbers: Iterable[int],
    open_file: OpenFile = open_here,
) -> dict[int, int]:
    """Return the lines, from 1, at which rows of a data file begin, by their numbers from 0.

    A row is missing where its line is unknown: with a terminator that ends no line, or where
    one record may hold several rows.
    """
    wanted = set(numbers)
    if settings.terminator not in LINE_ENDS or not settings.has_rows_of_one_record:
        return {}
    starts = _record_lines(open_file(path), settings.quote, settings.terminator)
    if settings.has_header:
        next(starts, None)
    found: dict[int, int] = {}
    for number, line in enumerate(starts):
        if number in wanted:
            found[number] = line
            if len(found) == len(wanted):
                break
    return found


def _record_lines(opened: BinaryIO, quote: bytes, terminator: bytes) -> Iterator[int]:
    """Yield the line at which each record begins: inside of quotes a line end ends no record."""
    line = 1
    for record in records_in(opened, quote, terminator):
        yield line
        line += record.count(b"\n")


def records_in(opened: BinaryIO, quote: bytes, terminator: bytes) -> Iterator[bytes]:
    """Yield the records of a file whose terminator ends a line."""
    record = b""
    with opened as file:
        for text in file:
            record += text
            if text.endswith(terminator) and not (quote and record.count(quote) % 2):
                yield record
                record = b""
