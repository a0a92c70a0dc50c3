"""A table in MariaDB, MySQL or PostgreSQL that this process reads, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.arrow.types import SchemaError, arrow_type
from cdcwire.files.stores import SourceError
from cdcwire.model import kinds
from cdcwire.model.kinds import Column
from cdcwire_conformance.compare.database_columns import (
    WITH_FRACTION,
    CatalogueColumn,
    SentColumn,
    as_text,
    catalogue_query,
    select,
)
from cdcwire_conformance.compare.embedded.table_rows import Columns, TableHere, as_in_feed
from cdcwire_conformance.compare.record import InputFile
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.compare.table import TableRules
from cdcwire_conformance.decode.workers import ThisProcess
from cdcwire_conformance.sources.databases import Row, Value, rows_of
from cdcwire_conformance.sources.tables import TableUrl

_ZEROS = r"(\.\d*[1-9])0+$|\.0+$"  # at the end of a fraction


class UnreadColumnError(SchemaError):
    """A column that this process does not read, while Spark may. Its text is the reason."""


@dataclass(frozen=True, slots=True)
class DatabaseTable(TableHere):
    """A table of a database. ``columns``: how the database gives each."""

    columns: Mapping[str, SentColumn]

    @classmethod
    def of(cls, url: TableUrl, workers: ThisProcess) -> DatabaseTable:
        """Return a table by its catalogue. Raises: SourceError, UnreadColumnError."""
        found = [_column(row) for part in rows_of(url, catalogue_query(url)) for row in part]
        if not found:
            raise SourceError(f"{url}: the database has no such table, or the user may not see it")
        columns = {}
        for column in found:
            sent = as_text(url, column)
            if sent is None:
                raise UnreadColumnError(
                    f"{url}: this process does not read the type of column {column.name}, "
                    f"{column.written}"
                )
            columns[column.name] = sent
        return cls(url, workers, columns)

    def canonical(self, feed: CanonicalTable) -> CanonicalTable:
        """Return the columns of the table with their types, by the feed's name of it."""
        columns = tuple(Column(name, each.kind) for name, each in self.columns.items())
        return CanonicalTable(feed.schema, feed.table, columns, None)

    def files(self) -> Iterator[InputFile]:
        """Yield nothing: a database does not show its files."""
        yield from ()

    def columns_of(
        self, table: TableRules, row: pa.StructType, options: CompareOptions
    ) -> Iterator[Columns]:
        """Yield the columns of the table; see ``TableHere``."""
        columns = table.table.columns
        names = [table.names.get(each.name, each.name) for each in columns]
        sent = {name: self.columns[name] for name in names}
        for rows in rows_of(self.url, select(self.url, sent)):
            yield [
                as_in_feed(_array(values, sent[name].kind, name), field, column.type)
                for values, name, field, column in zip(
                    zip(*rows, strict=True), names, row, columns, strict=True
                )
            ]


def _column(row: Row) -> CatalogueColumn:
    name, kind, written, *numbers = row
    fraction, digits, scale, length = (None if each is None else int(str(each)) for each in numbers)
    return CatalogueColumn(str(name), str(kind), str(written), fraction, digits, scale, length)


def _array(values: Sequence[Value], kind: kinds.Type, name: str) -> pa.Array:
    """Return values of a column in the type of its kind. Raises: SchemaError."""
    if isinstance(kind, kinds.BytesType):
        return pa.array(values, pa.binary())
    try:
        if isinstance(kind, kinds.ArrayType):
            return pa.array(values, pa.list_(pa.string())).cast(arrow_type(kind))
        texts = pa.array(values, pa.string())
        if isinstance(kind, WITH_FRACTION):
            texts = pc.replace_substring_regex(texts, _ZEROS, r"\1")
        return texts.cast(arrow_type(kind))
    except pa.ArrowException as error:
        problem = " ".join(str(error).split())[:300]
        raise SchemaError(f"column {name} of the table: {problem}") from error
