"""Data files, to and from bytes: an optional header line, then records up to the end.

A file that does not end in the terminator was cut off, perhaps while it was written. That is an
error, raised after the whole records before it were returned.

The header line has the names of the fields, joined by the delimiter, never quoted or escaped. A
name may hold anything, a delimiter too, so the line is not split: it is compared with the one that
the table's columns give. Only if it differs it is split, to find which columns are not in the file.
Those are virtual generated columns, which are known from no other place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError, step
from cdcwire.formats.csv.message import File
from cdcwire.formats.csv.records import Located, read_record, write_record
from cdcwire.formats.csv.settings import Settings, read_settings

CLAUSE = "csv: header line"
MAX_HEADER = 1 << 21  # bytes; 4096 names of 64 characters are half of it
_PATH = ("header",)


def header_line(settings: Settings, columns: Sequence[str]) -> bytes:
    """Return the header line without terminator.

    Raises: EncodeError for a name that is not text.
    """
    try:
        return _line(settings, [name.encode() for name in columns])
    except UnicodeEncodeError as error:
        raise EncodeError("the name of a column is not UTF-8", CLAUSE, _PATH) from error


def read_header(
    value: bytes, settings: Settings, columns: Sequence[str] | None
) -> tuple[bytes | None, Sequence[str] | None, int]:
    """Return the header line, the names of the columns in the file, and where the records begin.

    Raises: DecodeError when the line has other columns than some of ``columns`` in their order.
    """
    if not settings.output_field_header or not value:
        return None, columns, 0
    if columns is not None:
        found_line = header_bytes(settings, columns)
        expected = found_line.removesuffix(settings.terminator)
        if value.startswith(found_line):
            return expected, columns, len(found_line)
    else:
        expected = _line(settings, ())
    stop = value.find(settings.terminator, 0, MAX_HEADER + len(settings.terminator))
    if stop < 0:
        if len(value) > MAX_HEADER:
            problem = f"a header line of more than {MAX_HEADER} bytes"
            raise DecodeError(problem, MAX_HEADER, "csv: limits", _PATH)
        problem = "the file ends inside the header line"
        raise TruncatedError(problem, len(value), CLAUSE, _PATH)
    line, end = value[:stop], stop + len(settings.terminator)
    meta = _line(settings, ()) + settings.delimiter
    if not line.startswith(meta):
        raise _differs(line, expected, f"it does not begin with {expected[:200]!r:.200}")
    if columns is None:
        return line, None, end
    # At most one name more than there are columns, so that a line of delimiters costs little.
    found = _in_order(line[len(meta) :].split(settings.delimiter, len(columns)), columns)
    if found is None:
        raise _differs(line, expected, f"the columns of the table give {expected[:200]!r:.200}")
    return line, found, end


def header_bytes(settings: Settings, columns: Sequence[str]) -> bytes:
    """Return the header line that a file with these columns has, with its terminator."""
    return _line(settings, [_encoded(name) for name in columns]) + settings.terminator


def _line(settings: Settings, columns: Iterable[bytes]) -> bytes:
    return settings.delimiter.join((*_meta_names(settings), *columns))


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")  # no file has such a name


def _meta_names(settings: Settings) -> list[bytes]:
    names = ["operation", "table", "schema"]
    if settings.include_commit_ts:
        names.append("commit-ts")
    if settings.output_old_value:
        names.append("is-update")
    return [b"ticdc-meta$" + name.encode() for name in names]


def _in_order(names: Sequence[bytes], columns: Sequence[str]) -> list[str] | None:
    """Return the columns with these names; None if they are not among them in this order."""
    found = []
    rest = iter(columns)
    for name in names:
        column = next((each for each in rest if _encoded(each) == name), None)
        if column is None:
            return None
        found.append(column)
    return found


def _differs(line: bytes, expected: bytes, problem: str) -> DecodeError:
    offset = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(line, expected, strict=False))
    )
    return DecodeError(f"header line {line[:200]!r:.200}: {problem}", offset, CLAUSE, _PATH)


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
        raise EncodeError(f"the file {word} header line", CLAUSE, ("header",))
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
