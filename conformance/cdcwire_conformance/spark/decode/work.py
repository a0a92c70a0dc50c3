"""The split of a feed's files for workers: into shares. Each share is one piece of a job.

Workers open the files of a directory themselves. Of other places Spark reads each file whole, and
its bytes come to a worker with it. Without a session the same is done in this process.
"""

from __future__ import annotations

import heapq
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import pyarrow as pa

from cdcwire_conformance.sources.line_files import is_compressed
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.sources.stores import is_url, path_under
from cdcwire_conformance.spark.decode.stored_rows import StoredData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

T = TypeVar("T", Piece, StoredData)
Found = TypeVar("Found")

_FOUND = "found binary"
SHARE_BYTES = 128 << 20
_LEAST_SHARE_BYTES = 1 << 20

# Given the number of a share, and what is in it.
Run: TypeAlias = "Callable[[int, Sequence[T]], Iterator[pa.RecordBatch]]"


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """The files to read, in shares in the order of the feed.

    ``paths``: of the only file of each share, where Spark reads it; None: workers open files.
    ``empty``: the numbers of shares whose file is empty. Spark skips such files.
    """

    shares: Sequence[Sequence[T]]
    paths: tuple[str, ...] | None = None
    empty: tuple[int, ...] = ()

    def frame(self, spark: SparkSession, run: Run[T], schema: str | StructType) -> DataFrame:
        """Return what all shares give, each in a worker."""
        shares = self.shares

        def run_shares(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from run(number, shares[number])

        if not self.paths:
            return frame_of_shares(spark, shares).mapInArrow(run_shares, schema)
        numbers = {path: number for number, path in enumerate(self.paths)}

        def run_contents(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for path, content in zip(batch.column(0), batch.column(1), strict=True):
                    number = numbers[path.as_py()]
                    (file,) = shares[number]
                    yield from run(number, [file._replace(content=content.as_py())])

        # Names are taken as they are: no signs in them are patterns, and no folder is a column.
        reader = spark.read.format("binaryFile").option("__globPaths__", "false")
        files = reader.option("recursiveFileLookup", "true").load(list(self.paths))
        frame = files.select("path", "content").mapInArrow(run_contents, schema)
        if not self.empty:
            return frame
        empty = self.empty

        def run_empty(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in empty if batch.num_rows else ():
                    (file,) = shares[number]
                    yield from run(number, [file._replace(content=b"")])

        return frame.unionAll(spark.range(0, 1, 1, 1).mapInArrow(run_empty, schema))

    def found(
        self, spark: SparkSession | None, search: Callable[[int, Sequence[T]], list[Found]]
    ) -> list[Found]:
        """Return the few small values that a search of each share finds, in no order of shares."""
        if spark is None:
            shares = enumerate(self.shares)
            return [each for number, share in shares for each in search(number, share)]

        def run(number: int, share: Sequence[T]) -> Iterator[pa.RecordBatch]:
            yield _pickled(search(number, share))

        return _unpickled(self.frame(spark, run, _FOUND))


def found_in_frame(
    frame: DataFrame, search: Callable[[Iterable[pa.RecordBatch]], list[Found]]
) -> list[Found]:
    """Return the few small values that a search of each part of a frame finds."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield _pickled(search(batches))

    return _unpickled(frame.mapInArrow(run, _FOUND))


def _pickled(found: list[Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(found)], pa.binary())], ["found"])


def _unpickled(frame: DataFrame) -> list[Any]:
    """Return what our own workers pickled."""
    return [each for row in frame.collect() for each in pickle.loads(row["found"])]


def workers_of(spark: SparkSession | None) -> int:
    """Return how many tasks run at once."""
    return (os.cpu_count() or 1) if spark is None else spark.sparkContext.defaultParallelism


def frame_of_shares(spark: SparkSession, shares: Sequence[object]) -> DataFrame:
    """Return the numbers of shares, each in a separate partition."""
    return spark.range(0, len(shares), 1, max(1, len(shares)))


def work_of_lines(
    spark: SparkSession | None, source: Source, share_bytes: int | None = None
) -> Work[Piece]:
    """Return the work of JSON lines."""
    if is_url(source.folder):
        return Work([[Piece.whole(file)] for file in source.files], source.files)
    share_bytes = share_bytes or share_bytes_of(source.files, workers_of(spark))
    return Work(shares_of(source.files, share_bytes))


def shares_of(files: Iterable[str], share_bytes: int = SHARE_BYTES) -> list[tuple[Piece, ...]]:
    """Return pieces that cover JSON-lines files, in order, in shares of about ``share_bytes``."""
    shares: list[tuple[Piece, ...]] = []
    share: list[Piece] = []
    room = share_bytes
    for file in files:
        start, size = 0, Path(file).stat().st_size
        if is_compressed(file):
            shares += [tuple(share)] if share else []
            shares.append((Piece.whole(file),))
            share, room = [], share_bytes
            continue
        while start < size:
            end = min(size, start + room)
            share.append(Piece(file, start, end))
            room -= end - start
            start = end
            if room == 0:
                shares.append(tuple(share))
                share, room = [], share_bytes
    return [*shares, tuple(share)] if share else shares


def share_bytes_of(files: Iterable[str], workers: int) -> int:
    """Return how large shares are to be: one for each worker, but not beyond ``SHARE_BYTES``.

    A share costs a task, which takes Spark some tenth of a second.
    """
    total = sum(Path(file).stat().st_size for file in files)
    return max(_LEAST_SHARE_BYTES, min(SHARE_BYTES, -(-total // max(1, workers))))


def work_of_files(
    spark: SparkSession | None,
    folder: str,
    files: Iterable[StoredData],
    share_bytes: int | None = None,
) -> Work[StoredData]:
    """Return the work of a prefix's data files."""
    files = tuple(files)
    if is_url(folder):
        empty = tuple(number for number, file in enumerate(files) if not file.size)
        paths = tuple(path_under(folder, file.name) for file in files)
        return Work([[file] for file in files], paths, empty)
    return Work(shares_of_files(files, workers_of(spark), share_bytes))


def shares_of_files(
    files: Iterable[StoredData], workers: int, share_bytes: int | None = None
) -> list[tuple[StoredData, ...]]:
    """Return the files in shares of about the same size, in the order of replay inside of one.

    A share costs a task; a file is never cut.
    """
    files = list(files)
    total = sum(file.size for file in files)
    count = max(workers, -(-total // (share_bytes or SHARE_BYTES)))
    count = max(1, min(count, len(files)))
    shares: list[list[StoredData]] = [[] for _ in range(count)]
    room = [(0, number) for number in range(count)]
    for file in sorted(files, key=lambda file: file.size, reverse=True):
        size, number = heapq.heappop(room)
        shares[number].append(file)
        heapq.heappush(room, (size + file.size + 1, number))
    return [tuple(sorted(share, key=lambda file: file.order)) for share in shares]
