r"""The statements of an SQL text or of a dump, one at a time, without the rows.

A dump may have gigabytes of rows, in bytes that are not UTF-8: INSERT, REPLACE and COPY are skipped
without being kept or tokenised. Lines are read one at a time. The commands of clients (DELIMITER,
``\connect``) are carried out or skipped.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from errno import EFBIG
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from cdcwire.ddl.tokens import DdlError

Dialect: TypeAlias = Literal["mysql", "postgresql"]

MAX_LINE = 128 << 20  # characters, of which a row of a dump may have many
_LOOKED_AT = 1 << 16  # characters that may show which dialect a text has
_MYSQL = re.compile(r"`|/\*[!MT]|^-- (?:MySQL|MariaDB) dump|\bENGINE\s*=|\bAUTO_INCREMENT\b", re.I)
_POSTGRESQL = re.compile(
    r"^-- PostgreSQL database|^\\(?:un)?(?:restrict|connect)\b|\bpg_catalog\."
    r"|^\s*SET\s+(?:standard_conforming_strings|search_path|default_table_access_method)\b"
    r"|\bALTER\s+TABLE\s+ONLY\b|^\s*CREATE\s+(?:TYPE|DOMAIN|EXTENSION)\b|'?::[a-z]"
    r"|\bwith(?:out)?\s+time\s+zone\b|\b(?:big|small)serial\b|\bjsonb\b|\bbytea\b|\btimestamptz\b"
    r"|\bGENERATED\s+(?:ALWAYS|BY\s+DEFAULT)\s+AS\s+IDENTITY\b|\$\w*\$",
    re.IGNORECASE,
)
_CUSTOM_FORMAT = "PGDMP"
_UTF16 = ("\udcff\udcfe", "\udcfe\udcff")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # as "surrogateescape" reads a byte
_ROWS = frozenset({"INSERT", "REPLACE", "COPY"})
# A part of the rows of MySQL without an end of the statement; many a piece at once.
_OF_ROWS = re.compile(
    r"""(?:[^'"`;#/\-]+|'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'(?!')){1,1000}""", re.DOTALL
)
_WORD = re.compile(r"[A-Za-z_]+|.", re.DOTALL)
_DELIMITER = re.compile(r"\s*DELIMITER\s+(\S+)\s*$", re.IGNORECASE)
_COPY_OF_LINES = re.compile(r"\bFROM\s+stdin\b", re.IGNORECASE)
_ROUTINE = re.compile(r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE)\b", re.IGNORECASE)
_ATOMIC = re.compile(r"\bBEGIN\s+ATOMIC\b", re.IGNORECASE)
_LAST_END = re.compile(r"\bEND\s*$", re.IGNORECASE)
# What closes a quote or a comment that is open at the end of a line.
_ENDS = {
    "'": re.compile(r"[^'\\]*(?:(?:\\.|'')[^'\\]*)*'(?!')", re.DOTALL),
    '"': re.compile(r'[^"\\]*(?:(?:\\.|"")[^"\\]*)*"(?!")', re.DOTALL),
    "`": re.compile(r"[^`]*(?:``[^`]*)*`(?!`)"),
    "/*": re.compile(r".*?\*/", re.DOTALL),
}
_STANDARD_ENDS = {  # of PostgreSQL, where a backslash is itself but in E'…'
    "E'": _ENDS["'"],
    "'": re.compile(r"[^']*(?:''[^']*)*'(?!')"),
    '"': re.compile(r'[^"]*(?:""[^"]*)*"(?!")'),
    "/*": _ENDS["/*"],
}


@dataclass(frozen=True, slots=True)
class SqlText:
    """A statement as written, with the white space and the comments before it.

    ``line`` and ``column``: where the text begins, from 1. ``start``: where the statement begins in
    the text.
    """

    text: str
    line: int
    column: int
    start: int

    @property
    def first_line(self) -> int:
        """The line in which the statement itself begins."""
        return self.line + self.text.count("\n", 0, self.start)

    def located(self, error: DdlError) -> DdlError:
        """Return an error of this text with its place in the whole text."""
        shift = self.column - 1 if error.line == 1 else 0
        return DdlError(error.problem, self.line + error.line - 1, error.column + shift, error.file)

    def check_encoding(self) -> None:
        """Check that the statement is UTF-8. Raises: DdlError."""
        found = _NOT_UTF8.search(self.text)
        if found is not None:
            before = self.text[: found.start()]
            column = found.start() - before.rfind("\n")
            raise DdlError("this byte is not UTF-8", before.count("\n") + 1, column)


def lines_of_text(text: str) -> Iterator[str]:
    """Return the lines of a text, each with its end."""
    return iter(io.StringIO(text, newline="\n"))


def lines_of_file(path: str | Path) -> Iterator[str]:
    """Yield the lines of a file. A byte that is not UTF-8 becomes a lone surrogate.

    Raises: OSError, also for a line of more than ``MAX_LINE``; DdlError for a file that is not SQL
    text.
    """
    most = MAX_LINE
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
        for number, line in enumerate(iter(lambda: file.readline(most + 1), "")):
            if len(line) > most:
                problem = f"a line of more than {most} characters; dump no rows (--no-data)"
                raise OSError(EFBIG, problem, str(path))
            if number == 0 and line.startswith(_CUSTOM_FORMAT):
                problem = "this is pg_dump's custom format; write it as SQL: pg_restore -f FILE"
                raise DdlError(problem, 1, 1)
            if number == 0 and line.startswith(_UTF16):
                raise DdlError("the file is UTF-16; write it as UTF-8", 1, 1)
            yield line


def with_dialect(lines: Iterable[str]) -> tuple[Dialect, Iterator[str]]:
    """Return the dialect that the first line with a sign of one shows, and all lines."""
    lines = iter(lines)
    first: list[str] = []
    dialect: Dialect = "mysql"
    size = 0
    for line in lines:
        first.append(line)
        size += len(line)
        if _MYSQL.search(line) or size > _LOOKED_AT:
            break
        if _POSTGRESQL.search(line):
            dialect = "postgresql"
            break
    return dialect, chain(first, lines)


def statements_of(lines: Iterable[str], dialect: Dialect) -> Iterator[SqlText]:
    """Yield the statements of a text except those of rows.

    Raises: DdlError for rows that do not end, as in a file that was cut.
    """
    return _Splitter(dialect).statements(lines)


class _Splitter:
    """Reads lines; keeps what is open at the end of a line."""

    def __init__(self, dialect: Dialect) -> None:
        self.is_mysql = dialect == "mysql"
        self.ends = _ENDS if self.is_mysql else _STANDARD_ENDS
        self.delimiter = ";"
        self.special = self._special()
        self.closing: re.Pattern[str] | None = None
        self.has_rows_below = False
        self.copy_place = 1, 1
        self._begin(1, 1)

    def _begin(self, line: int, column: int) -> None:
        """Begin a statement at a place."""
        self.parts: list[str] = []
        self.size = 0  # characters in the parts
        self.place = line, column
        self.start: int | None = None
        self.first = ""
        self.row_place = line, column

    def _special(self) -> re.Pattern[str]:
        """Return what is more than a part of the statement."""
        opening = r"""'|"|`|/\*|(?:--(?=\s|$)|\#)[^\n]*"""
        if not self.is_mysql:
            opening = r"""(?:\b[eE])?'|"|/\*|--[^\n]*|\$(?:[A-Za-z_]\w*)?\$"""
        return re.compile(f"{re.escape(self.delimiter)}|{opening}")

    def statements(self, lines: Iterable[str]) -> Iterator[SqlText]:
        number = 0
        for number, line in enumerate(lines, 1):
            if self.has_rows_below:
                self.has_rows_below = line.rstrip("\r\n") != "\\."
                self._begin(number + 1, 1)
            elif not self._is_of_a_client(line):
                yield from self._split(number, line)
        if self.has_rows_below:
            raise DdlError("the rows of a COPY do not end", *self.copy_place)
        if self.start is None and self.closing is None:
            return
        if self.first in _ROWS and self.closing is not None:
            raise DdlError(f"this {self.first} does not end: the file is cut", *self.row_place)
        if self.first not in _ROWS:
            yield self._statement()

    def _is_of_a_client(self, line: str) -> bool:
        if self.start is not None or self.closing is not None:
            return False
        found = _DELIMITER.match(line) if self.is_mysql else None
        if found is not None:
            self.delimiter = found[1]
            self.special = self._special()
        if found is None and not line.startswith("\\"):
            return False
        self._keep("\n" if line.endswith("\n") else "")
        return True

    def _split(self, number: int, line: str) -> Iterator[SqlText]:
        """Yield the statements that end in a line."""
        place, size = 0, len(line)
        while place < size:
            if self.closing is not None:
                end = self.closing.match(line, place)
                if end is None:
                    self._keep(line[place:])
                    return
                self._keep(line[place : end.end()])
                place, self.closing = end.end(), None
                continue
            if self.is_mysql and self.delimiter == ";" and self.first in _ROWS:
                rows = _OF_ROWS.match(line, place)
                if rows is not None:
                    place = rows.end()
                    continue
            found = self.special.search(line, place)
            self._plain(line, place, size if found is None else found.start(), number)
            if found is None:
                return
            place = found.end()
            if found[0] == self.delimiter:
                yield from self._end(number, place)
                continue
            self._open(line, found, number)

    def _open(self, line: str, found: re.Match[str], number: int) -> None:
        """Take the beginning of a quote or a comment; what closes it is looked for next."""
        opening = found[0]
        is_comment = opening.startswith(("--", "#", "/*"))
        if not is_comment:
            self._plain(line, found.start(), found.end(), number)
        else:
            self._keep(opening)
        if opening.startswith(("--", "#")):
            return
        if opening.startswith("$"):
            self.closing = re.compile(f".*?{re.escape(opening)}", re.DOTALL)
        else:
            self.closing = self.ends[opening.upper()]

    def _plain(self, line: str, begin: int, end: int, number: int) -> None:
        """Take a part of the statement itself, which may be its beginning."""
        text = line[begin:end]
        if self.start is None and text.strip():
            shift = len(text) - len(text.lstrip())
            self.start = self.size + shift
            word = _WORD.match(text, shift)
            self.first = "" if word is None else word[0].upper()
            self.row_place = number, begin + shift + 1
        self._keep(text)

    def _keep(self, text: str) -> None:
        if self.first not in _ROWS or self.first == "COPY":
            self.parts.append(text)
            self.size += len(text)

    def _end(self, number: int, place: int) -> Iterator[SqlText]:
        """Yield the statement that a delimiter ends, if there is one."""
        text = "".join(self.parts)
        if not self.is_mysql and _is_open_routine(text, self.start or 0):
            self._keep(self.delimiter)
            return
        if self.first == "COPY":
            self.has_rows_below = _COPY_OF_LINES.search(text) is not None
            self.copy_place = self.row_place
        elif self.start is not None and self.first not in _ROWS:
            yield self._statement()
        if not self.has_rows_below:
            self._begin(number, place + 1)

    def _statement(self) -> SqlText:
        start = self.size if self.start is None else self.start
        return SqlText("".join(self.parts), *self.place, start)


def _is_open_routine(text: str, start: int) -> bool:
    """Return whether a text ends within the statements of a routine, BEGIN ATOMIC … END."""
    if _ROUTINE.match(text, start) is None or _ATOMIC.search(text) is None:
        return False
    return _LAST_END.search(text) is None
