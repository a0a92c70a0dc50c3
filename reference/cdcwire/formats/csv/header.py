"""The header line: the names of the fields, joined by the delimiter, never quoted or escaped.

A name may hold anything, a delimiter too, so the line is not split: it is compared with the one
that the table's columns give. Only if it differs it is split, to find which columns are not in the
file. Those are virtual generated columns, which are known from no other place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.formats.csv.settings import Settings

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
