"""A table in Parquet files that this process reads, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.arrow.types import UTC, SchemaError
from cdcwire.files.stores import SourceError
from cdcwire.model import kinds
from cdcwire.model.kinds import Column
from cdcwire_conformance.compare.embedded.table_rows import Columns, TableHere, as_in_feed
from cdcwire_conformance.compare.record import InputFile
from cdcwire_conformance.compare.recording import file_here
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.compare.table import TableRules
from cdcwire_conformance.decode.workers import HERE, ThisProcess
from cdcwire_conformance.sources.tables import TableUrl, files_here

_MAGIC = b"PAR1"
_FRACTION = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_KINDS: Mapping[pa.DataType, kinds.Type] = {
    pa.int8(): kinds.IntType(8),
    pa.int16(): kinds.IntType(16),
    pa.int32(): kinds.IntType(32),
    pa.int64(): kinds.IntType(64),
    pa.uint8(): kinds.IntType(8, unsigned=True),
    pa.uint16(): kinds.IntType(16, unsigned=True),
    pa.uint32(): kinds.IntType(32, unsigned=True),
    pa.uint64(): kinds.IntType(64, unsigned=True),
    pa.float32(): kinds.FloatType(32),
    pa.float64(): kinds.FloatType(64),
    pa.bool_(): kinds.BoolType(),
    pa.binary(): kinds.BytesType(),
    pa.large_binary(): kinds.BytesType(),
    pa.string(): kinds.TextType(),
    pa.large_string(): kinds.TextType(),
    pa.date32(): kinds.DateType(),
}


@dataclass(frozen=True, slots=True)
class ParquetTable(TableHere):
    """The Parquet files in a directory of this machine. All have one schema."""

    data: ds.Dataset
    instants: frozenset[str]  # columns of INT96, which are in UTC

    @classmethod
    def of(cls, url: TableUrl, workers: ThisProcess = HERE) -> ParquetTable:
        """Return a table, opened. Raises: SourceError."""
        files = files_here(url)
        if not files:
            raise SourceError(f"{url}: can't be read as a table: there is no *.parquet")
        # INT96 in nanoseconds would end in the year 2262.
        options = ds.ParquetReadOptions(coerce_int96_timestamp_unit="us")
        form = ds.ParquetFileFormat(read_options=options)
        schema: pa.Schema | None = None
        instants: frozenset[str] = frozenset()
        for file in files:
            try:
                (fragment,) = ds.dataset(str(file), format=form).get_fragments()
                own = fragment.physical_schema.remove_metadata()
                columns = fragment.metadata.schema
            except (pa.ArrowException, OSError) as error:
                is_one = _begins_with(file, _MAGIC)
                problem = _one_line(error) if is_one else "is not a Parquet file"
                raise SourceError(
                    f"{url}: can't be read as a table: {file.name}: {problem}"
                ) from error
            if schema is not None and not own.equals(schema):
                raise SourceError(
                    f"{url}: can't be read as a table: {file.name} has other columns or types than "
                    f"{files[0].name}; --engine spark may read it"
                )
            schema = own
            instants = frozenset(
                column.name
                for column in (columns.column(number) for number in range(len(columns)))
                if column.physical_type == "INT96"
            )
        data = ds.dataset(list(map(str, files)), schema=schema, format=form)
        return cls(url, workers, data, instants)

    def canonical(self, feed: CanonicalTable) -> CanonicalTable:
        """Return the columns of the table with their types, by the feed's name of it.

        Raises: SchemaError.
        """
        columns = tuple(
            Column(each.name, self._kind(each.type, each.name)) for each in self.data.schema
        )
        return CanonicalTable(feed.schema, feed.table, columns, None)

    def files(self) -> Iterator[InputFile]:
        """Yield the files, with their sums."""
        for file in map(Path, self.data.files):
            yield file_here(str(file), file.name)

    def columns_of(
        self, table: TableRules, row: pa.StructType, options: CompareOptions
    ) -> Iterator[Columns]:
        """Yield the columns of the table; see ``TableHere``."""
        columns = table.table.columns
        own = [table.names.get(each.name, each.name) for each in columns]
        for batch in self._batches(own):
            yield [
                as_in_feed(batch.column(name), field, column.type)
                for name, field, column in zip(own, row, columns, strict=True)
            ]

    def _batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        try:
            yield from self.data.to_batches(columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise SourceError(f"{self}: can't be read: {_one_line(error)}") from error

    def _kind(self, kind: pa.DataType, name: str) -> kinds.Type:
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_decimal(kind):
            return kinds.DecimalType(kind.precision, kind.scale)
        if pa.types.is_timestamp(kind):
            fraction = _FRACTION[kind.unit]
            if kind.tz is not None or name in self.instants:
                return kinds.TimestampType(fraction, zone=UTC)
            return kinds.DatetimeType(fraction)
        if pa.types.is_time(kind):
            return kinds.TimeType(_FRACTION[kind.unit])
        if pa.types.is_fixed_size_binary(kind):
            return kinds.BytesType()
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            return kinds.ArrayType(self._kind(kind.value_type, name))
        found = _KINDS.get(kind)
        if found is None:
            raise SchemaError(
                f"column {name} of the table is {kind}, which no column of a feed is; leave it out "
                "(--columns)"
            )
        return found


def _begins_with(file: Path, magic: bytes) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(magic)) == magic
    except OSError:
        return True  # the error that is there already says more


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
