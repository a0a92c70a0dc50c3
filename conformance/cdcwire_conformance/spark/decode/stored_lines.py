"""The line of a data file at which a row begins, for the few rows that are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from cdcwire.core.format import Context
from cdcwire_conformance.sources.stores import OpenFile, open_here
from cdcwire_conformance.spark.decode.prefix import stored_settings

_LINE_ENDS = frozenset({b"\n", b"\r\n"})


def lines_of_rows(
    format_name: str,
    context: Context,
    path: str,
    numbers: Iterable[int],
    open_file: OpenFile = open_here,
) -> dict[int, int]:
    """Return the lines, from 1, at which rows of a data file begin, by their numbers from 0.

    A row is missing where its line is unknown: with a terminator that ends no line, or where
    one record may hold several rows.
    """
    wanted = set(numbers)
    settings = stored_settings(format_name, context)
    if settings.terminator not in _LINE_ENDS or not settings.has_rows_of_one_record:
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
    begin = 1
    quotes = 0
    with opened as file:
        for text in file:
            if quote:
                quotes += text.count(quote)
            line += 1
            if quotes % 2 == 0 and text.endswith(terminator):
                yield begin
                begin = line
