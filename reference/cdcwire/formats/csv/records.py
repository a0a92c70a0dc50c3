"""One record of a data file, to and from bytes: the fields before the columns, and the columns.

A quoted field ends at the first quote that is not doubled, a bare one at the first delimiter or
terminator. Without a quote in the settings a backslash keeps the byte after it from being any of
these. Nothing is split into lines before: CR and LF may occur inside quotes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError, step
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.formats.csv.escapes import double, escape, undouble, unescape
from cdcwire.formats.csv.message import Field, Handle, Operation, Record
from cdcwire.formats.csv.settings import Settings
from cdcwire.model.events import Step

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


CLAUSE_RECORD = "csv: record"
CLAUSE_KINDS = "csv: kinds of fields"
CLAUSE_LIMITS = "csv: limits"
MAX_COLUMNS = 4096  # TiDB's limit

_INTEGER = re.compile(rb"0|-?[1-9][0-9]{0,19}")
_COMMIT_TS = re.compile(rb"[1-9][0-9]{16,19}")  # of this century
_MAY_BE_COMMIT_TS = "; the first may be the commit-ts of include-commit-ts"
_NO_HANDLE = "; TiCDC's new architecture writes no handle: set output-handle-key=false"
_WORDS = {b"true": True, b"false": False}


@dataclass(frozen=True, slots=True)
class Located:
    """A record with its place: where it starts, where each of its columns does, where it ends."""

    record: Record
    start: int
    columns: tuple[int, ...]
    end: int


def read_record(
    value: bytes,
    settings: Settings,
    columns: Sequence[str] | None,
    offset: int,
    count: int | None,
) -> Located:
    """Read the record at ``offset``, which must have ``count`` columns. Raises: DecodeError."""
    reader = FieldReader(value, settings, offset)
    meta = _Meta(reader, settings)
    op, table, schema = meta.names()
    commit_ts = is_update = handle_key = None
    if settings.include_commit_ts:
        with step("commit_ts"):
            commit_ts = meta.commit_ts()
    if settings.output_old_value:
        with step("is_update"):
            is_update = meta.is_update(op)
    if settings.output_handle_key:
        with step("handle_key"):
            handle_key = meta.handle_key()
    fields, starts = _fields(reader, columns, count, meta)
    record = Record(op, table, schema, commit_ts, is_update, handle_key, fields)
    return Located(record, offset, starts, reader.offset)


def read_names(value: bytes, settings: Settings, offset: int) -> tuple[str, str]:
    """Return schema and table of the record at ``offset``, and read no further.

    Raises: DecodeError.
    """
    _, table, schema = _Meta(FieldReader(value, settings, offset), settings).names()
    return schema, table


def _fields(
    reader: FieldReader, columns: Sequence[str] | None, count: int | None, meta: _Meta
) -> tuple[tuple[Field, ...], tuple[int, ...]]:
    fields: list[Field] = []
    starts: list[int] = []
    stop = reader.offset
    while not reader.is_end:
        index, stop = len(fields), reader.offset
        if count is not None and index == count:
            problem = (
                f"there are more fields than the {meta.count} of the record and {count} columns"
            )
            if not meta.settings.include_commit_ts:
                problem += commit_ts_hint(fields[0])
            raise DecodeError(problem, stop, CLAUSE_RECORD)
        if index == MAX_COLUMNS:
            raise DecodeError(f"more than {MAX_COLUMNS} columns", stop, CLAUSE_LIMITS)
        name: Step = index if columns is None else columns[index]
        with step("columns", name):
            fields.append(reader.field())
        starts.append(stop)
    if not fields:
        problem = f"a record of {meta.count} fields has no columns"
        raise DecodeError(problem, meta.end, CLAUSE_RECORD)
    if count is not None and len(fields) != count:
        hint = _NO_HANDLE if meta.settings.output_handle_key else ""
        problem = (
            f"{len(fields)} columns, where {count} are expected{hint}; the columns of a schema "
            "file include virtual generated ones and those that column-selectors leaves out. "
            "Give column-selectors or a definition of exactly the columns in the rows"
        )
        raise DecodeError(problem, _end(reader), CLAUSE_RECORD)
    return tuple(fields), tuple(starts)


def commit_ts_hint(first: Field) -> str:
    """Return what an error of a record's first column says in addition, without commit-ts."""
    return _MAY_BE_COMMIT_TS if _COMMIT_TS.fullmatch(first.raw) else ""


def _end(reader: FieldReader) -> int:
    return reader.offset - len(reader.terminator)


class _Meta:
    """The fields before the columns."""

    def __init__(self, reader: FieldReader, settings: Settings) -> None:
        self.reader = reader
        self.settings = settings
        self.start = reader.offset
        self.count = 0

    @property
    def end(self) -> int:
        return _end(self.reader)

    def _field(self) -> Field:
        if self.reader.is_end:
            problem = f"a record of {self.count} fields ends before its columns"
            raise DecodeError(problem, self.end, CLAUSE_RECORD)
        self.start = self.reader.offset
        self.count += 1
        return self.reader.field()

    def _string(self, clause: str, hint: str = "") -> bytes:
        field = self._field()
        if self.settings.quote and not field.is_quoted:
            raise DecodeError(f"{field.raw[:80]!r:.80} is not quoted{hint}", self.start, clause)
        return text_of(field, self.settings)

    def names(self) -> tuple[Operation, str, str]:
        """Read operation, table and schema."""
        with step("op"):
            op = self.string()
            if op not in ("I", "U", "D"):
                problem = f"{op[:80]!r:.80} is not an operation: I, U or D"
                raise DecodeError(problem, self.start, "csv: operations")
        with step("table"):
            table = self.string()
        with step("schema"):
            schema = self.string()
        return cast(Operation, op), table, schema

    def string(self, kind_clause: str = CLAUSE_KINDS, clause: str = CLAUSE_RECORD) -> str:
        """Read a string, which is quoted if anything is."""
        raw = self._string(kind_clause)
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise DecodeError("it is not UTF-8", self.start, clause) from error

    def _bare(self, clause: str) -> bytes:
        field = self._field()
        if field.is_quoted:
            raise DecodeError(f"{field.raw[:80]!r:.80} is quoted", self.start, clause)
        return field.raw

    def commit_ts(self) -> int:
        clause = "csv: commit-ts"
        return self._integer(self._bare(clause), 0, UINT64_END, clause)

    def is_update(self, op: str) -> bool:
        clause = "csv: old value"
        raw = self._bare(clause)
        if raw not in _WORDS:
            problem = f"{raw[:80]!r:.80} is not true or false"
            raise DecodeError(problem, self.start, clause)
        if op == "U":
            problem = "with old values an update is the records D and I, never U"
            raise DecodeError(problem, self.start, clause)
        return _WORDS[raw]

    def handle_key(self) -> Handle:
        clause = "csv: handle key"
        raw = self._string(clause, _NO_HANDLE)
        if not is_clustered(raw):
            return self._integer(raw, INT64_START, INT64_END, clause, _NO_HANDLE)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return raw

    def _integer(self, digits: bytes, low: int, high: int, clause: str, hint: str = "") -> int:
        if not _INTEGER.fullmatch(digits) or not low <= int(digits) < high:
            problem = f"{digits[:80]!r:.80} is not an integer of {low} to {high - 1}{hint}"
            raise DecodeError(problem, self.start, clause)
        return int(digits)


def write_record(record: Record, settings: Settings) -> bytes:
    """Return the bytes of a record with its terminator.

    Raises: EncodeError when a field is missing, or there and the settings don't have it.
    """
    parts = [
        write_string(text.encode(), settings) for text in (record.op, record.table, record.schema)
    ]
    for name, value, is_set, clause in (
        ("commit_ts", record.commit_ts, settings.include_commit_ts, "csv: commit-ts"),
        ("is_update", record.is_update, settings.output_old_value, "csv: old value"),
        ("handle_key", record.handle_key, settings.output_handle_key, "csv: handle key"),
    ):
        if (value is not None) != is_set:
            raise EncodeError(
                "missing" if is_set else "the settings don't have it", clause, (name,)
            )
    if record.commit_ts is not None:
        parts.append(b"%d" % record.commit_ts)
    if record.is_update is not None:
        parts.append(b"true" if record.is_update else b"false")
    if record.handle_key is not None:
        parts.append(write_handle(record.handle_key, settings))
    parts += (write_field(field, settings) for field in record.fields)
    return settings.delimiter.join(parts) + settings.terminator


def is_clustered(handle: bytes) -> bool:
    """Return whether a handle is the text of a clustered key that is not one integer."""
    return handle.startswith(b"{") and handle.endswith(b"}")


def write_handle(handle: Handle, settings: Settings) -> bytes:
    """Return the bytes of a handle. Raises: EncodeError."""
    raw = handle if isinstance(handle, bytes) else str(handle).encode()
    if not isinstance(handle, int) and not is_clustered(raw):
        raise EncodeError(f"{handle!r:.80} is not in braces", "csv: handle key", ("handle_key",))
    return write_string(raw, settings)


def text_of(field: Field, settings: Settings) -> bytes:
    """Return the bytes that a field stands for."""
    if field.is_quoted:
        return undouble(field.raw, settings.quote)
    return field.raw if settings.quote else unescape(field.raw)


def field_of(text: bytes, settings: Settings) -> Field:
    """Return the field of a string."""
    if settings.quote:
        return Field(double(text, settings.quote), True)
    return Field(escape(text, settings.delimiter), False)


def write_string(text: bytes, settings: Settings) -> bytes:
    """Return the bytes of a string field, quoted or escaped."""
    return write_field(field_of(text, settings), settings)
