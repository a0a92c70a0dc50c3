"""Arrow batches of both sides, brought together by table and bucket in one shuffle of Spark.

A batch travels as bytes, so batches of all tables are in one DataFrame.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import count, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from cdcwire_conformance.compare.difference_files import COLUMNS, check_empty, rows_of_differences
from cdcwire_conformance.compare.embedded.kept_rows import KeptBatches, Room
from cdcwire_conformance.compare.embedded.passes import SharePass, job_for, passes_of
from cdcwire_conformance.compare.embedded.tables import ComparedTable, Write
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.plan import TableTask
from cdcwire_conformance.compare.result import RowDifference
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.spark.reading.frames import decode_tables_frame

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

Send: TypeAlias = "Callable[[int, pa.RecordBatch], Iterable[tuple[int, pa.RecordBatch]]]"
"""Given rows of a table and its number: rows for a bucket, after the number of the bucket."""
Side: TypeAlias = "Callable[[Send], DataFrame]"
"""What a side sends. The columns are those of ``_SENT``."""
Run: TypeAlias = "Callable[[int, int, KeptBatches, KeptBatches], tuple[Any, Sequence[bytes]]]"
"""Given numbers of a table and a bucket, and both sides: a result, and ``WrittenRows.pickled``."""

_SENT = "number int, bucket int, rows binary"
_FOUND = "number int, result binary, differences binary"


def sent_rows(
    spark: SparkSession,
    feed: OpenedFeed,
    tasks: Mapping[int, TableTask],
    options: CompareOptions,
    send: Send,
) -> DataFrame:
    """Return what is sent of the decoded rows of a feed. ``tasks``: tables by their number."""
    has_file_topics = feed.source.kind == "parquet"
    numbers, frames = list(tasks), []
    for parts in passes_of(feed, list(tasks.values())):
        jobs = [job_for(feed, part.own, options) for part in parts]

        def send_all(
            found: Iterable[tuple[int, pa.RecordBatch]], parts: Sequence[SharePass] = parts
        ) -> Iterator[pa.RecordBatch]:
            for place, batch in found:
                for rows in parts[place].rows_in(batch):
                    own = _with_file_topics(rows) if has_file_topics else rows
                    yield from packed(numbers[parts[place].number], own, send)

        frames.append(decode_tables_frame(spark, feed.opened, jobs, send_all, _SENT))
    return reduce(DataFrame.unionAll, frames)


def sent_frame(frame: DataFrame, send: Send) -> DataFrame:
    """Return what is sent of the rows of a frame."""

    def send_all(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from packed(0, batch, send)

    return frame.mapInArrow(send_all, _SENT)


def packed(number: int, batch: pa.RecordBatch, send: Send) -> Iterator[pa.RecordBatch]:
    """Yield what is sent of a batch, as rows of ``_SENT``."""
    for bucket, rows in send(number, batch):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_batch(rows)
        columns = [
            pa.array([number], pa.int32()),
            pa.array([bucket], pa.int32()),
            pa.array([sink.getvalue().to_pybytes()], pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["number", "bucket", "rows"])


def brought_together(left: DataFrame, right: DataFrame, parts: int, run: Run) -> DataFrame:
    """Return what a function finds in each bucket of a table. Batches are in their feed's order."""
    sides = [
        frame.select(
            "number",
            "bucket",
            F.lit(side).alias("side"),
            F.monotonically_increasing_id().alias("place"),
            "rows",
        )
        for side, frame in enumerate((left, right))
    ]
    both = sides[0].unionAll(sides[1]).repartition(parts, "number", "bucket")

    def run_all(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (number, bucket), found in groupby(_rows_of(batches), itemgetter(0, 1)):
            with Room() as room:
                kept = KeptBatches(room), KeptBatches(room)
                for _, _, side, content in found:
                    with pa.ipc.open_stream(content) as stream:
                        for batch in stream:
                            kept[side].append(batch)
                result, differences = run(number, bucket, *kept)
            for rows in (*((None, each) for each in differences), (pickle.dumps(result), None)):
                arrays = [pa.array([each], pa.binary()) for each in rows]
                columns = [pa.array([number], pa.int32()), *arrays]
                yield pa.RecordBatch.from_arrays(columns, ["number", "result", "differences"])

    in_order = both.sortWithinPartitions("number", "bucket", "side", "place")
    return in_order.drop("place").mapInArrow(run_all, _FOUND)


def results_of(found: DataFrame, differences_to: str | None = None) -> list[tuple[int, Any]]:
    """Return the results with the numbers of their tables. Raises: what Spark raises.

    ``differences_to``: where the rows of differences go, unless a result ``lacks_eras``.
    """
    if differences_to is None:
        return _unpickled(found)
    found = found.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        results = _unpickled(found)
        if not any(each.lacks_eras for _, each in results):
            written = found.where("differences IS NOT NULL")
            if any(each.patterns for _, each in results):
                rows = written.rdd.flatMap(_difference_rows)
                append_differences(found.sparkSession, rows, differences_to)
        return results
    finally:
        found.unpersist()


def _unpickled(found: DataFrame) -> list[tuple[int, Any]]:
    rows = found.select("number", "result").where("result IS NOT NULL").collect()
    return [(row["number"], pickle.loads(row["result"])) for row in rows]


class WrittenRows:
    """The rows of difference files that a comparison of a table writes.

    ``start``: the number of the first difference. ``pickled``: lists of rows.
    """

    def __init__(self, table: ComparedTable, start: int = 0) -> None:
        self.pickled: list[bytes] = []
        self._name, self._options = str(table.table), table.options
        self._numbers = count(start)

    @property
    def write(self) -> Write | None:
        """Return what is called with the differences; None if none are written."""
        return None if self._options.differences_to is None else self._write

    def _write(self, differences: Iterable[RowDifference]) -> None:
        rows = rows_of_differences(differences, self._name, self._numbers, self._options.mask)
        self.pickled.append(pickle.dumps(rows))


def _difference_rows(row: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = pickle.loads(row["differences"])
    return found


def _rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, int, pa.Buffer]]:
    for batch in batches:
        numbers, buckets, sides, rows = batch.columns
        keys = zip(*(each.to_pylist() for each in (numbers, buckets, sides)), strict=True)
        yield from ((*key, content.as_buffer()) for key, content in zip(keys, rows, strict=True))


def _with_file_topics(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of Parquet files without the topic as if each file were a topic.

    So their partitions are not taken for the numbers of files in a prefix.
    """
    source = batch.column("source")
    topic, offset, file = (pc.struct_field(source, name) for name in ("topic", "offset", "file"))
    own = pc.if_else(pc.is_valid(offset), pc.coalesce(topic, file), topic)
    fields = list(source.type)
    arrays = [own, *(pc.struct_field(source, field.name) for field in fields[1:])]
    placed = pa.StructArray.from_arrays(arrays, fields=fields, mask=source.is_null())
    place = batch.schema.get_field_index("source")
    return batch.set_column(place, batch.schema.field(place), placed)


_SCHEMA = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())


def begin_differences(spark: SparkSession, folder: str) -> None:
    """Write no difference, so that the folder can be read if none comes.

    Raises: SchemaError for a folder that has anything.
    """
    check_empty(folder)
    spark.createDataFrame([], _SCHEMA).coalesce(1).write.mode("append").parquet(folder)


def append_differences(spark: SparkSession, rows: RDD[tuple[Any, ...]], folder: str) -> None:
    """Add rows of ``rows_of_difference`` to the folder."""
    frame = spark.createDataFrame(rows, _SCHEMA, verifySchema=False)
    frame.write.mode("append").parquet(folder)
