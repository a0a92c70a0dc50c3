"""Data files, to and from bytes: an optional header line, then records up to the end.

A file that does not end in the terminator was cut off, perhaps while it was written. That is an
error, raised after the whole records before it were returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import EncodeError, step
from cdcwire.formats.csv.header import CLAUSE as CLAUSE_HEADER
from cdcwire.formats.csv.header import read_header
from cdcwire.formats.csv.message import File
from cdcwire.formats.csv.records import Located, read_record, write_record
from cdcwire.formats.csv.settings import Settings, read_settings


def decode(
    value: bytes | None,
    *,
    key: bytes | None = None,
    context: Context = NO_CONTEXT,
    columns: Sequence[str] | None = None,
) -> File:
    """Return what a data file says. ``key`` is ignored: files have none.

    ``columns``: the names of the table's columns. Without them any number of columns is taken, all
    records must agree on it, and the header line is taken up to its first terminator.
    Raises: DecodeError. ``read_records`` gives the records before it.
    """
    return read_file(value or b"", read_settings(context), columns)


def read_file(value: bytes, settings: Settings, columns: Sequence[str] | None = None) -> File:
    """Return what a data file says. See ``decode``."""
    header, names, offset = read_header(value, settings, columns)
    records = tuple(found.record for found in read_records(value, settings, names, offset))
    return File(records, header)


def encode(file: File, *, context: Context = NO_CONTEXT) -> bytes:
    """Return the bytes of a data file. Raises: EncodeError for what the options lack."""
    return write_file(file, read_settings(context))


def write_file(file: File, settings: Settings) -> bytes:
    """Return the bytes of a data file. Raises: EncodeError for what the settings lack."""
    parts: list[bytes] = []
    is_empty = file.header is None and not file.records
    if (file.header is not None) != settings.output_field_header and not is_empty:
        word = "has no" if file.header is None else "has a"
        raise EncodeError(f"the file {word} header line", CLAUSE_HEADER, ("header",))
    if file.header is not None:
        parts += (file.header, settings.terminator)
    for index, record in enumerate(file.records):
        with step("records", index):
            parts.append(write_record(record, settings))
    return b"".join(parts)


def read_records(
    value: bytes, settings: Settings, columns: Sequence[str] | None = None, offset: int = 0
) -> Iterator[Located]:
    """Yield the records from ``offset`` on; see ``decode``.

    Raises: DecodeError, after the records before it were given.
    """
    index = 0
    count = None if columns is None else len(columns)
    while offset < len(value):
        with step("records", index):
            found = read_record(value, settings, columns, offset, count)
        yield found
        count, offset, index = len(found.columns), found.end, index + 1
