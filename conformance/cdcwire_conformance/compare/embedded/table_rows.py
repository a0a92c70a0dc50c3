"""The last rows of a feed against the rows of a table, which are taken as inserts."""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import pyarrow as pa

from cdcwire.arrow.json_form import normal_json_array
from cdcwire.arrow.types import SchemaError
from cdcwire.model import kinds
from cdcwire_conformance.compare.embedded.engine import EmbeddedEngine, compared_table, writer_of
from cdcwire_conformance.compare.embedded.kept_rows import KeptBatches, Room
from cdcwire_conformance.compare.embedded.passes import batches_of, job_for
from cdcwire_conformance.compare.embedded.values import time_texts
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.feeds import Report
from cdcwire_conformance.compare.plan import TableTask
from cdcwire_conformance.compare.result import TableComparison
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.compare.table import TableRules
from cdcwire_conformance.decode.workers import ThisProcess
from cdcwire_conformance.sources.tables import TableUrl

Columns: TypeAlias = "list[pa.Array]"


@dataclass(frozen=True, slots=True)
class TableHere(ABC):
    """A table that this process reads, as ``TableRows``. ``workers``: read the feed."""

    url: TableUrl
    workers: ThisProcess

    engine: ClassVar[str] = "embedded"
    is_exact: ClassVar[bool] = False

    def __str__(self) -> str:
        return str(self.url)

    def begin(self, options: CompareOptions) -> None:
        """Prepare the place for all differences. Raises: SchemaError if it is not empty."""
        EmbeddedEngine().begin(options)

    @abstractmethod
    def columns_of(
        self, table: TableRules, row: pa.StructType, options: CompareOptions
    ) -> Iterable[Columns]:
        """Yield the columns of the table, some rows at a time, in the types of a row of the feed.

        Raises: SourceError, SchemaError.
        """

    def compared(
        self, feed: OpenedFeed, table: TableRules, options: CompareOptions, report: Report
    ) -> TableComparison:
        """Compare the last rows of the feed with the rows of the table."""
        own = table.table
        report(f"{own}: decoding the feed and comparing last rows with {self}")
        task = TableTask(own, feed, feed, table.rules, frozenset())
        with Room() as room:
            found = batches_of(feed, [task], options, self.workers)
            left = KeptBatches(room, (without_presence(batch) for _, batch in found))
            schema = left.schema or job_for(feed, own, options).builder.schema
            rows = self.columns_of(table, schema.field("after").type, options)
            right = KeptBatches(room, _inserts(rows, schema))
            both = compared_table(own, frozenset(), table.rules, options)
            try:
                return both.compared(left, right, writer_of(own, 0, options))
            finally:
                gc.unfreeze()  # decoding freezes all objects, which suits a worker, not a program


def _inserts(rows: Iterable[Columns], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield rows as inserts, in the form of the feed's batches."""
    image = schema.field("after").type
    for columns in rows:
        after = pa.StructArray.from_arrays(columns, fields=list(image))
        known = {"op": pa.repeat(pa.scalar("insert"), len(after)), "after": after}
        yield pa.record_batch(
            [known.get(each.name, pa.nulls(len(after), each.type)) for each in schema],
            schema=schema,
        )


def without_presence(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows whose absent columns are NULL: a table has no absent ones.

    Those of old values stay absent: their keys are filled from the new values.
    """
    place = batch.schema.get_field_index("after_has")
    field = batch.schema.field(place)
    return batch.set_column(place, field, pa.nulls(len(batch), field.type))


def as_in_feed(values: pa.Array, wanted: pa.Field, kind: kinds.Type) -> pa.Array:
    """Return a column of a table in the type that the feed's image has. Raises: SchemaError."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    try:
        if pa.types.is_string(wanted.type):
            values = _as_text(values)
        values = values.cast(wanted.type)
    except pa.ArrowException as error:
        problem = " ".join(str(error).split())[:300]
        raise SchemaError(f"column {wanted.name} of the table: {problem}") from error
    return normal_json_array(values) if isinstance(kind, kinds.JsonType) else values


def _as_text(values: pa.Array) -> pa.Array:
    """Return times without zeros at the end of the fraction, and decimals without exponent."""
    kind = values.type
    if pa.types.is_decimal(kind):
        plain = [None if each is None else f"{each:f}" for each in values.to_pylist()]
        return pa.array(plain, pa.string())
    return time_texts(values) if pa.types.is_temporal(kind) else values
