"""How a format stores rows in the data files of a prefix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.message import StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.core.rows import Row
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.storage.paths import DataPath, PathLayout
from cdcwire.storage.sent_columns import ColumnSelector

FileDecoder: TypeAlias = "Callable[[StoredFile], Iterable[Row | Event]]"


@dataclass(frozen=True, slots=True)
class StoredSettings:
    """The options of a format that affect the names and the files of a prefix.

    ``has_commit_ts``: rows may have a commit-ts; without one no row is known to be a repeat.
    ``has_labels``: rows have the elements of ENUM and SET. ``has_header``: the first record of a
    file names the columns. ``has_rows_of_one_record``: each record is one row. ``quote``: a
    terminator between two of these signs ends no record; b"" for none. ``selectors``: the columns
    that rows have, where a format does not name them in its rows.
    """

    layout: PathLayout
    terminator: bytes
    file_size: int
    time_zone: str | None
    has_commit_ts: bool = True
    has_labels: bool = False
    has_header: bool = False
    has_rows_of_one_record: bool = True
    quote: bytes = b""
    selectors: tuple[ColumnSelector, ...] = ()


class RowEncoder(Protocol):
    """Encodes row changes as the records of data files."""

    def header(self, event: RowChange, definition: Table) -> bytes:
        """Return the first record of a file that begins with this row; b"" for none."""
        ...

    def rows(self, event: RowChange, definition: Table) -> bytes:
        """Return the records of a row change. Raises: EncodeError."""
        ...


@dataclass(frozen=True, slots=True)
class StoredForm:
    """A format as it is stored in a prefix.

    ``settings``: read from the options of a context. Raises: OptionError. ``encoder``: encodes rows
    of files. ``option``: the option, and its value, with which messages are files; None: they
    always are. ``decoder``: gives the before and after records of an update as two events, where
    the format's own decoder joins them; None: that one never does. ``definition_check``: for files
    that need the definition of their table's version: given the definitions, a function that raises
    DecodeError for a path without one. ``column_count``: of the first record of a data file's
    beginning; None where no complete record shows it, or rows name their columns.
    """

    settings: Callable[[Context], StoredSettings]
    encoder: Callable[[Context], RowEncoder]
    option: tuple[str, OptionValue] | None = None
    decoder: Callable[[Context], FileDecoder] | None = None
    definition_check: Callable[[Iterable[Table]], Callable[[DataPath], object]] | None = None
    column_count: Callable[[Context], Callable[[bytes], int | None]] | None = None
