"""Small tables of two feeds, many in one job: decoded together, grouped by table, then compared.

Spark takes seconds to plan and to compile the queries of one table, whatever its rows. So the rows
of small tables stay Arrow batches. One shuffle brings the batches of a table together, and a worker
compares them as the embedded engine does. Both engines give the same result.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import functions as F

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.difference_files import rows_of_differences
from cdcwire_conformance.compare.embedded.engine import job_for, sides_of
from cdcwire_conformance.compare.embedded.tables import compare_batches
from cdcwire_conformance.compare.feeds import TableTask
from cdcwire_conformance.compare.ill_formed import with_bytes
from cdcwire_conformance.compare.result import RowDifference, TableComparison
from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules
from cdcwire_conformance.spark.compare.differences import append_differences
from cdcwire_conformance.spark.reading.frames import decode_tables_frame
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SMALL_TABLE_ROWS = 500_000  # of both sides
ROWS_OF_A_JOB = 500_000
BYTES_OF_A_TABLE = 256 << 20  # decoded; a table with more is compared by itself
_FOUND = "number int, found binary, differences binary"

Group = Sequence[tuple[int, TableTask]]


def groups_of_small(tasks: Sequence[TableTask], options: CompareOptions) -> Iterator[Group]:
    """Yield the small tables with their numbers, in groups that are compared in one job each."""
    group: list[tuple[int, TableTask]] = []
    rows = 0
    for number, task in enumerate(tasks):
        is_small = task.rows <= SMALL_TABLE_ROWS and not task.has_statements
        if options.temporal != "text" or not is_small:
            continue
        if group and rows + task.rows > ROWS_OF_A_JOB:
            yield group
            group, rows = [], 0
        group.append((number, task))
        rows += task.rows
    if group:
        yield group


def compare_group(
    spark: SparkSession, group: Group, options: CompareOptions
) -> dict[int, TableComparison]:
    """Return the comparisons by their numbers, except of tables that take too much memory.

    Raises: what Spark raises.
    """
    tables = {number: _Table(each.table, each.replaced, each.rules) for number, each in group}
    worker = _Worker(tables, options, BYTES_OF_A_TABLE)
    found = _together(spark, group, options).mapInArrow(worker.results, _FOUND)
    if options.differences_to is None:
        results = _results(found)
    else:
        found = found.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            results = _results(found)
            if any(each is not None and each.patterns for each in results.values()):
                rows = found.where("differences IS NOT NULL").rdd.flatMap(_difference_rows)
                append_differences(spark, rows, options.differences_to)
        finally:
            found.unpersist()
    for number, _ in group:  # those without a row in either feed
        if number not in results:
            results[number] = worker.compared(number, [], [])[0]
    return {number: each for number, each in results.items() if each is not None}


def _together(spark: SparkSession, group: Group, options: CompareOptions) -> DataFrame:
    """Return the batches of both feeds, those of a table in one partition and in their order."""
    first = group[0][1]
    frames = []
    for is_left, feed in ((True, first.left), (False, first.right)):
        jobs = {
            number: job_for(feed, feed.own_table(with_bytes(each.table, each.replaced)), options)
            for number, each in group
        }
        frames.append(
            decode_tables_frame(spark, feed.opened, jobs).select(
                "number",
                F.lit(is_left).alias("is_left"),
                F.lit(feed.source.kind == "parquet").alias("has_file_topics"),
                F.monotonically_increasing_id().alias("place"),
                "rows",
            )
        )
    parts = min(len(group), SparkWorkers(spark).count)
    both = frames[0].unionByName(frames[1]).repartition(parts, "number")
    in_order = both.sortWithinPartitions("number", "is_left", "place")
    return in_order.drop("place")


def _results(found: DataFrame) -> dict[int, TableComparison | None]:
    rows = found.select("number", "found").where("found IS NOT NULL").collect()
    return {row["number"]: pickle.loads(row["found"]) for row in rows}


def _difference_rows(row: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = pickle.loads(row["differences"])
    return found


@dataclass(frozen=True, slots=True)
class _Table:
    table: CanonicalTable
    replaced: frozenset[str]
    rules: ComparisonRules


@dataclass(frozen=True, slots=True)
class _Worker:
    """Compares tables in a Spark worker, one after the other."""

    tables: Mapping[int, _Table]
    options: CompareOptions
    most_bytes: int

    def results(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a row for each table, after rows with its differences that have no ``found``.

        That is a pickled None for a table that is too large.
        """
        current: int | None = None
        sides: dict[bool, list[pa.RecordBatch]] = {}
        size = 0
        for batch in batches:
            for number, is_left, has_file_topics, rows in zip(*batch.columns, strict=True):
                if number.as_py() != current:
                    if current is not None:
                        yield from self._result(current, sides, size)
                    current, sides, size = number.as_py(), {True: [], False: []}, 0
                content = rows.as_buffer()
                size += content.size
                if size > self.most_bytes:
                    sides = {True: [], False: []}
                    continue
                with pa.ipc.open_stream(content) as stream:
                    for each in stream:
                        placed = _with_file_topics(each) if has_file_topics.as_py() else each
                        sides[is_left.as_py()].append(placed)
        if current is not None:
            yield from self._result(current, sides, size)

    def _result(
        self, number: int, sides: Mapping[bool, Sequence[pa.RecordBatch]], size: int
    ) -> Iterator[pa.RecordBatch]:
        found: TableComparison | None = None
        differences: list[bytes] = []
        if size <= self.most_bytes:
            found, differences = self.compared(number, sides[True], sides[False])
        rows = [*((None, each) for each in differences), (pickle.dumps(found), None)]
        for result, some in rows:
            columns = [
                pa.array([number], pa.int32()),
                pa.array([result], pa.binary()),
                pa.array([some], pa.binary()),
            ]
            yield pa.RecordBatch.from_arrays(columns, ["number", "found", "differences"])

    def compared(
        self, number: int, left: Sequence[pa.RecordBatch], right: Sequence[pa.RecordBatch]
    ) -> tuple[TableComparison, list[bytes]]:
        """Return the comparison of a table, and the pickled rows of the files of differences."""
        each, options = self.tables[number], self.options
        pickled: list[bytes] = []
        numbers = count()

        def write(differences: Iterable[RowDifference]) -> None:
            rows = rows_of_differences(differences, str(each.table), numbers, options.mask)
            pickled.append(pickle.dumps(rows))

        sides = sides_of(each.table, each.replaced, options, left, right)
        is_written = options.differences_to is not None
        found = compare_batches(sides, each.rules, options, write if is_written else None)
        return found, pickled


def _with_file_topics(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of Parquet files without the topic as if each file were a topic.

    See ``engine.placed``.
    """
    source = batch.column("source")
    topic, offset, file = (pc.struct_field(source, name) for name in ("topic", "offset", "file"))
    own = pc.if_else(pc.is_valid(offset), pc.coalesce(topic, file), topic)
    fields = list(source.type)
    arrays = [own, *(pc.struct_field(source, field.name) for field in fields[1:])]
    placed = pa.StructArray.from_arrays(arrays, fields=fields, mask=source.is_null())
    place = batch.schema.get_field_index("source")
    return batch.set_column(place, batch.schema.field(place), placed)
