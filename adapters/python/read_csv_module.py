"""Python's csv module as a testee.

    cdcwire verify csv -- python adapters/python/read_csv_module.py

It does not distinguish a quoted field from a bare one, with one exception. From Python 3.13 on, a
bare empty field can be None, which an empty null text needs. A column that can't be NULL keeps its
text. Delimiters have one character; line ends are any of CR, LF and CR LF, whatever is set.
"""

from __future__ import annotations

import csv
import io
import platform
import sys
from collections.abc import Iterator, Sequence
from typing import Literal

from testee import serve
from ticdc_csv import WITHOUT_LAYOUT, Field, Row, Settings, decoder

csv.field_size_limit(1 << 30)  # its own limit is 131,072


def read(value: bytes, settings: Settings, fields: Sequence[Field]) -> Iterator[Row]:
    """Yield the records of a file."""
    stream = io.StringIO(value.decode("utf-8", "surrogateescape"), newline="")
    if settings.has_header:
        stream.readline()  # its names are never quoted
    tells_null = bool(settings.quote) and settings.null == "" and sys.version_info >= (3, 13)
    rows = csv.reader(
        stream,
        delimiter=settings.delimiter,
        quotechar=settings.quote or None,
        escapechar=settings.escape,
        quoting=_quoting(settings, tells_null),
        strict=True,
    )
    for row in rows:
        if tells_null:
            yield row
        else:
            yield [
                None if field.nullable and cell == settings.null else cell
                for field, cell in zip(fields, row, strict=True)
            ]


def _quoting(settings: Settings, tells_null: bool) -> Literal[0, 3, 5]:
    if not settings.quote:
        return csv.QUOTE_NONE
    if tells_null and sys.version_info >= (3, 13):  # said again for type checkers
        return csv.QUOTE_NOTNULL
    return csv.QUOTE_MINIMAL


if __name__ == "__main__":
    serve(
        "Python csv",
        platform.python_version(),
        "csv",
        decoder(read),
        rejections=(csv.Error, ValueError, TypeError, ArithmeticError),
        without=WITHOUT_LAYOUT,
    )
