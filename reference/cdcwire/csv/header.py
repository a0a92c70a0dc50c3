"""The header line: the names of the fields, joined by the delimiter, never quoted or escaped.

A name may hold anything, a delimiter too, so the line is not split: it is compared with the one
that the table's columns give. Only if it differs it is split, to find which columns are not in the
file; those are virtual generated columns, which no other place tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from cdcwire.csv.settings import Settings
from cdcwire.errors import DecodeError, EncodeError, TruncatedError

CLAUSE = "csv: header line"
_PATH = ("header",)


def header_line(settings: Settings, columns: Sequence[str]) -> bytes:
    """Return the header line without terminator. Raises: EncodeError for a name that is no text."""
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
        expected = _line(settings, [_encoded(name) for name in columns])
        if value.startswith(expected + settings.terminator):
            return expected, columns, len(expected) + len(settings.terminator)
    else:
        expected = _line(settings, ())
    stop = value.find(settings.terminator)
    if stop < 0:
        problem = "the file ends inside the header line"
        raise TruncatedError(problem, len(value), CLAUSE, _PATH)
    line = value[:stop]
    names = line.split(settings.delimiter)
    meta = _meta_names(settings)
    if names[: len(meta)] != meta or len(names) == len(meta):
        raise _differs(line, expected, f"it does not begin with {expected!r:.200}")
    if columns is None:
        return line, None, stop + len(settings.terminator)
    found = _in_order(names[len(meta) :], columns)
    if found is None:
        raise _differs(line, expected, f"the columns of the table give {expected!r:.200}")
    return line, found, stop + len(settings.terminator)


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
    return DecodeError(f"header line {line!r:.200}: {problem}", offset, CLAUSE, _PATH)
