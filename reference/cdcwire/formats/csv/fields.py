"""One field and what ends it: the exact delimiter, quote and terminator, byte by byte.

A quoted field ends at the first quote that is not doubled, a bare one at the first delimiter or
terminator. Without a quote in the settings a backslash keeps the byte after it from being any of
these. Nothing is split into lines before: CR and LF may occur inside quotes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.formats.csv.message import Field
from cdcwire.formats.csv.settings import Settings

CLAUSE_QUOTED = "csv: quoted fields"
CLAUSE_BARE = "csv: bare fields"
CLAUSE_END = "csv: terminator"


class FieldReader:
    """Reads field by field. ``is_end``: the last field was that of its record."""

    __slots__ = ("_delimiter", "_ends", "_quote", "data", "is_end", "offset", "terminator")

    def __init__(self, data: bytes, settings: Settings, offset: int = 0) -> None:
        self.data = data
        self.offset = offset
        self.is_end = False
        self._quote = settings.quote
        self._delimiter = settings.delimiter
        self.terminator = settings.terminator
        self._ends = _ends(settings.delimiter, settings.terminator, bool(settings.quote))

    def field(self) -> Field:
        """Read a field, and the delimiter or terminator after it.

        Raises: TruncatedError; DecodeError for bytes after a closing quote, and for a bare field
        with a CR, LF or backslash that no escaping writes.
        """
        start = self.offset
        if not self._quote:
            stop = self._end_of_escaped(start)
        elif self.data.startswith(self._quote, start):
            start += 1
            stop = self._closing_quote(start)
            self._pass_end(stop + 1)
            return Field(self.data[start:stop], True)
        else:
            found = self._ends.search(self.data, start)
            if found is None:
                raise self._cut()
            stop = found.start()
        self._pass_end(stop)
        return Field(self.data[start:stop], False)

    def _closing_quote(self, start: int) -> int:
        while True:
            stop = self.data.find(self._quote, start)
            if stop < 0:
                raise self._cut()
            if not self.data.startswith(self._quote, stop + 1):
                return stop
            start = stop + 2

    def _end_of_escaped(self, start: int) -> int:
        while True:
            found = self._ends.search(self.data, start)
            if found is None:
                raise self._cut()
            stop = found.start()
            if found[0] == b"\\":
                if stop + 1 == len(self.data):
                    raise self._cut()
                if self.data[stop + 1] in b"\r\n":
                    problem = "a lone backslash at the end of the field"
                    raise DecodeError(problem, stop, CLAUSE_BARE)
                start = stop + 2
            elif found[0] in (self._delimiter, self.terminator):
                return stop
            elif self.terminator.startswith(self.data[stop:]):
                raise self._cut()  # the file ends inside the terminator
            else:
                raise DecodeError(f"{found[0]!r} is not escaped", stop, CLAUSE_BARE)

    def _pass_end(self, stop: int) -> None:
        """Move past the delimiter or terminator at ``stop``."""
        # A terminator may be the beginning of the delimiter (";" and ";;"), never the reverse.
        if self.data.startswith(self._delimiter, stop):
            self.offset, self.is_end = stop + len(self._delimiter), False
        elif self.data.startswith(self.terminator, stop):
            self.offset, self.is_end = stop + len(self.terminator), True
        else:
            rest = self.data[stop : stop + max(len(self._delimiter), len(self.terminator))]
            if self._delimiter.startswith(rest) or self.terminator.startswith(rest):
                raise self._cut()
            problem = f"{rest[:1]!r} after the closing quote"
            raise DecodeError(problem, stop, CLAUSE_QUOTED)

    def _cut(self) -> TruncatedError:
        problem = "the file ends inside a record"
        if self.data.endswith(b"\n") and not self.data.endswith(self.terminator):
            problem += "; it ends in LF, so give the producer's option terminator"
        return TruncatedError(problem, len(self.data), CLAUSE_END)


def write_field(field: Field, settings: Settings) -> bytes:
    """Return the bytes of a field, without what ends it."""
    return settings.quote + field.raw + settings.quote if field.is_quoted else field.raw


@lru_cache(maxsize=64)
def _ends(delimiter: bytes, terminator: bytes, has_quote: bool) -> re.Pattern[bytes]:
    """Return the pattern that a bare field has to be searched for."""
    ends = re.escape(delimiter) + b"|" + re.escape(terminator)
    return re.compile(ends if has_quote else ends + rb"|[\\\r\n]")
