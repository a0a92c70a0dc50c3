"""A table in a CSV file. The feed gives the types of its columns; no type is guessed.

A value is read as the kind of the feed's column. A text that is not a value of this kind is an
error with its line, as are kinds whose text differs between databases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.arrow.types import SchemaError, has_labels
from cdcwire.arrow.values import column_builder
from cdcwire.files.stores import SourceError
from cdcwire.model import kinds
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column
from cdcwire_conformance.compare.embedded.table_rows import Columns, TableHere
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.feeds import Report
from cdcwire_conformance.compare.record import InputFile
from cdcwire_conformance.compare.recording import file_here
from cdcwire_conformance.compare.result import TableComparison
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.compare.table import TableRules
from cdcwire_conformance.decode.workers import ThisProcess
from cdcwire_conformance.sources.csv_file import CsvFile
from cdcwire_conformance.sources.tables import TableUrl

_ROWS_AT_ONCE = 1 << 14
_DATE = r"\d{4,}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(\.\d+)?"
_FORMS: Mapping[type[kinds.Type], re.Pattern[str]] = {
    kinds.DecimalType: re.compile(r"-?\d+(\.\d+)?", re.ASCII),
    kinds.DateType: re.compile(_DATE, re.ASCII),
    kinds.TimeType: re.compile(rf"-?\d?{_CLOCK}", re.ASCII),
    kinds.DatetimeType: re.compile(rf"{_DATE}[ T]{_CLOCK}", re.ASCII),
    kinds.TimestampType: re.compile(rf"{_DATE}[ T]{_CLOCK}(Z|[+-]\d\d(:\d\d)?)?", re.ASCII),
}
_HOURS = re.compile(r"[+-]\d\d$")
_BOOLEANS = {"t": "true", "true": "true", "1": "true", "f": "false", "false": "false", "0": "false"}
_OTHER_KINDS = (
    *(kinds.BitType, kinds.IntervalType, kinds.UnknownType, kinds.VectorType),
    *(kinds.ArrayType, kinds.MapType, kinds.StructType),
)

Row: TypeAlias = tuple[int, Sequence[str | None]]  # the line at which it begins, and its values


@dataclass(frozen=True, slots=True)
class CsvTable(TableHere):
    """A CSV file of this machine as a table."""

    file: CsvFile

    @classmethod
    def of(cls, url: TableUrl, null: str | None, workers: ThisProcess) -> CsvTable:
        """Return a table by the header of its file. Raises: SourceError."""
        return cls(url, workers, CsvFile.of(Path(url.place), null))

    def canonical(self, feed: CanonicalTable) -> CanonicalTable:
        """Return the columns of the header, with the types that those of the feed have."""
        types = {column.name: column.type for column in feed.columns}
        types = {**{name.lower(): kind for name, kind in types.items()}, **types}
        columns = (Column(name, types.get(name, kinds.TextType())) for name in self.file.names)
        return CanonicalTable(feed.schema, feed.table, tuple(columns), None)

    def compared(
        self, feed: OpenedFeed, table: TableRules, options: CompareOptions, report: Report
    ) -> TableComparison:
        """Compare the last rows of the feed with the rows of the table. Raises: SchemaError."""
        own = table.table
        inferred = feed.facts.inferred.get(feed.own_name((own.schema, own.table)), frozenset())
        guessed = [name for name in own.column_names if name in inferred]
        if guessed:
            raise SchemaError(
                f"{self}: a CSV file has no types, and the messages of {own} have none for "
                f"{', '.join(guessed)}; give definitions with --ddl or --tables"
            )
        encoded = options.meaning.encodings(own, "right")
        for column in own.columns:
            if isinstance(column.type, kinds.BytesType) and column.name not in encoded:
                raise SchemaError(
                    f"column {column.name} is bytes, and a CSV file has their text; give its form, "
                    f"such as --right-binary {column.name}=hex"
                )
            if not _has_one_text(column.type):
                raise SchemaError(
                    f"column {column.name} is {kind_text(column.type)}, which databases write in "
                    f"several ways; leave it out: --ignore-column {column.name}"
                )
        return TableHere.compared(self, feed, table, options, report)

    def files(self) -> Iterator[InputFile]:
        """Yield the file, with its sum."""
        yield file_here(self.url.place, self.file.path.name)

    def columns_of(
        self, table: TableRules, row: pa.StructType, options: CompareOptions
    ) -> Iterator[Columns]:
        """Yield the columns of the table; see ``TableHere``."""
        columns = table.table.columns
        names = [table.names.get(each.name, each.name) for each in columns]
        places = [self.file.names.index(name) for name in names]
        readers = [_Reader(c, f.type, options.time_zone) for c, f in zip(columns, row, strict=True)]
        rows = self.file.rows()
        while part := list(islice(rows, _ROWS_AT_ONCE)):
            yield [
                self._column(part, place, reader)
                for place, reader in zip(places, readers, strict=True)
            ]

    def _column(self, rows: Sequence[Row], place: int, reader: _Reader) -> pa.Array:
        """Return a column of some rows. Raises: SourceError at the first wrong value."""
        try:
            return reader.array([values[place] for _, values in rows])
        except ValueError:
            line = next(line for line, values in rows if not reader.takes(values[place]))
            raise SourceError(
                f"{self.url.place}:{line}: column {self.file.names[place]}: the value is not "
                f"{kind_text(reader.kind)}"
            ) from None


class _Reader:
    """Reads the texts of a column as values of its kind."""

    def __init__(self, column: Column, target: pa.DataType, time_zone: str) -> None:
        self.kind = column.type
        self._prepare = _preparation(self.kind)
        self._build = column_builder(kinds.TextType(), self.kind, target, time_zone).build

    def array(self, values: Sequence[str | None]) -> pa.Array:
        """Return values of the column. Raises: ValueError."""
        return self._build([None if each is None else self._prepare(each) for each in values])

    def takes(self, value: str | None) -> bool:
        """Return whether a text is a value of the column."""
        try:
            self.array([value])
        except ValueError:
            return False
        return True


def _has_one_text(kind: kinds.Type) -> bool:
    """Return whether all databases write values of a kind as one text, or almost."""
    if isinstance(kind, (kinds.EnumType, kinds.SetType)):
        return has_labels(kind)
    if isinstance(kind, kinds.TimeType):
        return kind.zone is None
    return not isinstance(kind, _OTHER_KINDS)


def _preparation(kind: kinds.Type) -> Callable[[str], str]:
    """Return what gives the text in the model's form. It raises ValueError for another text."""
    if isinstance(kind, kinds.BoolType):
        return _boolean
    if isinstance(kind, kinds.FloatType):
        return lambda text: text.lower().replace("infinity", "inf")
    if isinstance(kind, kinds.JsonType):
        return _document
    is_local = isinstance(kind, kinds.TimestampType) and kind.zone is None
    form = _FORMS.get(kinds.DatetimeType if is_local else type(kind))
    if form is None:
        return str

    def prepared(text: str) -> str:
        if form.fullmatch(text) is None:
            raise ValueError("another form")
        if isinstance(kind, (kinds.DatetimeType, kinds.TimestampType)):
            text = text.replace("T", " ")
            text = f"{text}:00" if _HOURS.search(text, 19) else text
        return text

    return prepared


def _boolean(text: str) -> str:
    try:
        return _BOOLEANS[text.lower()]
    except KeyError:
        raise ValueError("no boolean") from None


def _document(text: str) -> str:
    json.loads(text)
    return text
