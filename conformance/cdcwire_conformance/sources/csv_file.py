"""A CSV file of a table, read strictly: RFC 4180 with a header, in UTF-8.

A field in quotes is a value, also an empty one. A field without quotes is NULL if it is the text
that the user gives for NULL. Without that text, an empty field is refused: exporters write both
NULL and the empty text so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cdcwire.files.stores import SourceError

_FIELD = re.compile(r'"((?:[^"]|"")*)"|([^",]*)')
_BOM = b"\xef\xbb\xbf"

Field: TypeAlias = tuple[str, bool]  # its text, and whether it is in quotes


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A file whose header is read. ``null``: the text of NULL; None if the user does not say it."""

    path: Path
    names: tuple[str, ...]
    null: str | None

    @classmethod
    def of(cls, path: Path, null: str | None) -> CsvFile:
        """Return a file by its header. Raises: SourceError."""
        header = next(_records(path), None)
        if header is None:
            raise SourceError(f"{path}: the file is empty; it begins with a line of column names")
        names = tuple(text for text, _ in header[1])
        for name in names:
            if not name or names.count(name) > 1:
                problem = f"names column {name!r} twice" if name else "has an empty name"
                raise SourceError(f"{path}:1: the header {problem}")
        return cls(path, names, null)

    def rows(self) -> Iterator[tuple[int, list[str | None]]]:
        """Yield the line at which each row begins, and its values. Raises: SourceError."""
        records = _records(self.path)
        next(records)
        for line, fields in records:
            if len(fields) != len(self.names):
                count = f"{len(fields)} {'field' if len(fields) == 1 else 'fields'}"
                raise SourceError(f"{self.path}:{line}: {count}, the header has {len(self.names)}")
            if self.null is None and ("", False) in fields:
                name = self.names[fields.index(("", False))]
                raise SourceError(
                    f"{self.path}:{line}: column {name} is empty: NULL or an empty text? Give the "
                    "text of NULL: --csv-null '' or --csv-null '\\N'"
                )
            unset = self.null, False
            yield line, [None if each == unset else each[0] for each in fields]


def _records(path: Path) -> Iterator[tuple[int, Sequence[Field]]]:
    """Yield the fields of each record, with its first line. A line break may be in quotes."""
    lines: list[bytes] = []
    first = quotes = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if number == 1:
                    line = line.removeprefix(_BOM)
                if not lines:
                    first = number
                lines.append(line)
                quotes += line.count(b'"')
                if quotes % 2 == 0:
                    yield first, _fields(b"".join(lines), f"{path}:{first}")
                    lines.clear()
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    if lines:
        raise SourceError(f"{path}:{first}: a quote is not closed")


def _fields(record: bytes, place: str) -> Sequence[Field]:
    try:
        text = record.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise SourceError(f"{place}: the text is not UTF-8") from error
    if '"' not in text:
        return [(each, False) for each in text.split(",")]
    fields: list[Field] = []
    start = 0
    while True:
        found = _FIELD.match(text, start)
        assert found is not None  # it may be empty
        quoted, plain = found.groups()
        fields.append((plain, False) if quoted is None else (quoted.replace('""', '"'), True))
        if found.end() == len(text):
            return fields
        if text[found.end()] != ",":
            raise SourceError(f"{place}: a quote in field {len(fields)} does not enclose all of it")
        start = found.end() + 1
