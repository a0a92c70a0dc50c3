"""Spark's workers as those who read a feed.

Workers open the files of a directory themselves. Of other places Spark reads each file whole, and
its bytes come to a worker with it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from cdcwire.files.stores import Store, StoreError, is_url
from cdcwire_conformance.decode.stored_rows import StoredData
from cdcwire_conformance.decode.workers import HERE, Work, Workers
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.spark.hadoop import HadoopStore
from cdcwire_conformance.spark.reading.kafka import messages_of_records, topic_at_rest

T = TypeVar("T", Piece, StoredData)
Found = TypeVar("Found")

_FOUND = "found binary"

# Given the number of a share, and what is in it.
Run: TypeAlias = "Callable[[int, Sequence[T]], Iterator[pa.RecordBatch]]"


@dataclass(frozen=True, slots=True)
class SparkWorkers:
    """The workers of a session."""

    spark: SparkSession

    @property
    def count(self) -> int:
        """Return how many tasks run at once."""
        return int(self.spark.sparkContext.defaultParallelism)

    def store_at(self, folder: str) -> Store:
        """Return the store of a directory; one that only Java reaches has to answer soon.

        Raises: StoreError in one line: no such path, no rights, no answer, or no jars.
        """
        if not is_url(folder):
            return HERE.store_at(folder)
        store = HadoopStore(self.spark, folder)
        store.connect()
        return store

    def at_rest(self, source: Source) -> Source:
        """Return the source of a topic with the offsets that it has now. Raises: SourceError."""
        assert source.topic is not None
        return replace(source, topic=topic_at_rest(self.spark, source.topic))

    def found(
        self, work: Work[T], search: Callable[[int, Sequence[T]], list[Found]]
    ) -> list[Found]:
        """Return the values that a search of each share finds, in no order of shares."""

        def run(number: int, share: Sequence[T]) -> Iterator[pa.RecordBatch]:
            yield _pickled(search(number, share))

        return _unpickled(self.frame(work, run, _FOUND))

    def found_in_records(
        self, source: Source, search: Callable[[Iterable[pa.RecordBatch]], list[Found]]
    ) -> list[Found]:
        """Return the values that a search of each part finds. Raises: SourceError."""

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield _pickled(search(batches))

        return _unpickled(messages_of_records(self.spark, source).mapInArrow(run, _FOUND))

    def frame(self, work: Work[T], run: Run[T], schema: str | StructType) -> DataFrame:
        """Return the rows that all shares give, each in a worker."""
        shares = work.shares

        def run_shares(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from run(number, shares[number])

        if not work.paths:
            in_partitions = self.spark.range(0, len(shares), 1, max(1, len(shares)))
            return in_partitions.mapInArrow(run_shares, schema)
        numbers = {path: number for number, path in enumerate(work.paths)}

        def run_contents(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for path, content, length in zip(*batch.columns, strict=True):
                    number = numbers[path.as_py()]
                    (file,) = shares[number]
                    whole = _whole(path.as_py(), content.as_py(), length.as_py())
                    yield from run(number, [file._replace(content=whole)])

        # Names are taken as they are: no signs in them are patterns, and no folder is a column.
        reader = self.spark.read.format("binaryFile").option("__globPaths__", "false")
        files = reader.option("recursiveFileLookup", "true").load(list(work.paths))
        frame = files.select("path", "content", "length").mapInArrow(run_contents, schema)
        if not work.empty:
            return frame
        empty = work.empty

        def run_empty(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in empty if batch.num_rows else ():
                    (file,) = shares[number]
                    yield from run(number, [file._replace(content=b"")])

        return frame.unionAll(self.spark.range(0, 1, 1, 1).mapInArrow(run_empty, schema))


def workers_of(spark: SparkSession | None) -> Workers:
    """Return the workers of a session; without one, this process."""
    return HERE if spark is None else SparkWorkers(spark)


def _whole(path: str, content: bytes, length: int) -> bytes:
    """Return the content of a file. Raises: StoreError if some of its bytes did not come.

    A store's answer may end early without an error, and Spark takes its end for that of the file.
    """
    if len(content) < length:
        problem = f"{len(content):,} of its {length:,} bytes came; try again"
        raise StoreError(f"{path}: can't be read: {problem}")
    return content


def _pickled(found: list[Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(found)], pa.binary())], ["found"])


def _unpickled(frame: DataFrame) -> list[Any]:
    """Return the values that our own workers pickled."""
    return [each for row in frame.collect() for each in pickle.loads(row["found"])]
