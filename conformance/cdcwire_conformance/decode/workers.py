"""Those who read the files of a feed: this process, with others or alone, or Spark's workers.

The files are split into shares. Other processes are started for the first feed that is worth it.
Rows come back as bytes of Arrow, so nothing is left in a directory after an end of any kind.
"""

from __future__ import annotations

import heapq
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import pyarrow as pa

from cdcwire.feed import FeedError
from cdcwire.files.line_files import UNPACKED, is_compressed
from cdcwire.files.stores import LocalStore, Store, is_url, path_under
from cdcwire_conformance.decode.stored_rows import StoredData
from cdcwire_conformance.processes import process_pool
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source, SourceError

T = TypeVar("T", Piece, StoredData)
Found = TypeVar("Found")

SHARE_BYTES = 128 << 20
IN_ORDER_BYTES = 4 << 20
"""The size of shares whose decoded rows come back to this process, some at a time."""

_LEAST_SHARE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """The files to read, in shares in the order of the feed.

    ``paths``: of the only file of each share, where Spark reads it; None: workers open files.
    ``empty``: the numbers of shares whose file is empty. Spark skips such files.
    """

    shares: Sequence[Sequence[T]]
    paths: tuple[str, ...] | None = None
    empty: tuple[int, ...] = ()


def work_of_lines(source: Source, workers: int, share_bytes: int | None = None) -> Work[Piece]:
    """Return the work of JSON lines, split for a number of workers."""
    if is_url(source.folder):
        return Work([[Piece.whole(file)] for file in source.files], source.files)
    share_bytes = share_bytes or share_bytes_of(source.files, workers)
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
    folder: str, files: Iterable[StoredData], workers: int, share_bytes: int | None = None
) -> Work[StoredData]:
    """Return the work of the data files of a prefix, split for a number of workers."""
    files = tuple(files)
    if is_url(folder):
        empty = tuple(number for number, file in enumerate(files) if not file.size)
        paths = tuple(path_under(folder, file.name) for file in files)
        return Work([[file] for file in files], paths, empty)
    return Work(shares_of_files(files, workers, share_bytes))


def work_in_order(files: Iterable[StoredData]) -> Work[StoredData]:
    """Return the work of the data files of a prefix in shares of about ``IN_ORDER_BYTES``."""
    shares: list[list[StoredData]] = []
    room = 0
    for file in files:
        if room <= 0:
            shares.append([])
            room = IN_ORDER_BYTES
        shares[-1].append(file)
        room -= file.size
    return Work(shares)


def bytes_of(share: Iterable[Piece | StoredData]) -> int:
    """Return how many bytes a share has. Those of compressed files are estimated."""
    return sum(each.size if isinstance(each, StoredData) else _bytes_of(each) for each in share)


def _bytes_of(piece: Piece) -> int:
    size = Path(piece.file).stat().st_size
    return size * UNPACKED if is_compressed(piece.file) else min(piece.end, size) - piece.start


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


Numbered: TypeAlias = "tuple[int, pa.RecordBatch]"
"""The number of a table, and a batch of its rows."""


class Workers(Protocol):
    """The workers that read a feed. All give the same results."""

    @property
    def count(self) -> int:
        """Return how many of them work at once."""
        ...

    def store_at(self, folder: str) -> Store:
        """Return the store of a directory. Raises: SourceError, StoreError."""
        ...

    def at_rest(self, source: Source) -> Source:
        """Return the source of a topic with the offsets that it has now. Raises: SourceError."""
        ...

    def found(
        self, work: Work[T], search: Callable[[int, Sequence[T]], list[Found]]
    ) -> list[Found]:
        """Return the few small values that a search of each share finds, in no order of shares."""
        ...

    def found_in_records(
        self, source: Source, search: Callable[[Iterable[pa.RecordBatch]], list[Found]]
    ) -> list[Found]:
        """Return the few small values that a search of each part of a topic or of Parquet finds.

        Raises: SourceError.
        """
        ...


class ThisProcess:
    """The reader of directories of JSON lines and of storage prefixes, without others."""

    @property
    def count(self) -> int:
        """Return how many processors there are."""
        return os.cpu_count() or 1

    def in_order(
        self, work: Work[T], read: Callable[[Sequence[T]], Iterator[tuple[int, Found]]]
    ) -> Iterator[tuple[int, Found]]:
        """Yield what reading the shares of a feed gives, in their order."""
        yield from read([each for share in work.shares for each in share])

    def store_at(self, folder: str) -> Store:
        """Return the store of a directory. Raises: SourceError for a URL, StoreError."""
        if is_url(folder):
            raise SourceError(f"{folder}: only a Spark session reaches it, as with decode_frame")
        return LocalStore(folder)

    def at_rest(self, source: Source) -> Source:
        """Raise SourceError: topics are read by Spark."""
        raise SourceError(f"{source}: only a Spark session reads topics, as with decode_frame")

    def found(
        self, work: Work[T], search: Callable[[int, Sequence[T]], list[Found]]
    ) -> list[Found]:
        """Return the values that a search of each share finds."""
        shares = enumerate(work.shares)
        return [each for number, share in shares for each in search(number, share)]

    def found_in_records(
        self, source: Source, search: Callable[[Iterable[pa.RecordBatch]], list[Found]]
    ) -> list[Found]:
        """Raise SourceError: topics and Parquet are read by Spark."""
        raise SourceError(f"{source}: only a Spark session reads Parquet, as with decode_frame")


HERE = ThisProcess()


LEAST_BYTES = 16 << 20
"""The size of a feed from which on starting processes takes less time than it saves."""

_AHEAD = 2  # shares of each process that are read before they are wanted


@contextmanager
def reading_processes(count: int) -> Iterator[ThisProcess]:
    """Give up to ``count`` processes that read directories. They have ended afterwards.

    With 1, this process reads. All give the same rows, in the same order.
    Raises: FeedError if one of them is killed.
    """
    if count < 2:
        yield HERE
        return
    with ExitStack() as end:
        try:
            yield _Processes(count, end)
        except BrokenProcessPool as error:
            raise FeedError(
                "a process that read a feed has ended too soon, perhaps for lack of memory; "
                "--jobs 1 needs no others"
            ) from error


class _Processes(ThisProcess):
    def __init__(self, count: int, end: ExitStack) -> None:
        self._count = count
        self._end = end
        self._started: ProcessPoolExecutor | None = None

    @property
    def count(self) -> int:
        """Return how many processes there are."""
        return self._count

    @property
    def _pool(self) -> ProcessPoolExecutor:
        if self._started is None:
            self._started = self._end.enter_context(process_pool(self._count))
        return self._started

    def found(
        self, work: Work[T], search: Callable[[int, Sequence[T]], list[Found]]
    ) -> list[Found]:
        """Return the values that a search of each share finds. It is sent to the processes."""
        if _is_small(work):
            return super().found(work, search)
        numbers = range(len(work.shares))
        return list(chain.from_iterable(self._pool.map(search, numbers, work.shares)))

    def in_order(
        self, work: Work[T], read: Callable[[Sequence[T]], Iterator[tuple[int, Found]]]
    ) -> Iterator[tuple[int, Found]]:
        """Yield what reading the shares of a feed gives, in their order.

        A large share, as a compressed file is, is read here: all its rows would come at once.
        """
        if _is_small(work):
            yield from super().in_order(work, read)
            return
        waiting: deque[Future[list[tuple[int, Any]]] | Sequence[T]] = deque()
        shares = iter(work.shares)
        while True:
            while len(waiting) < self._count * _AHEAD and (share := next(shares, None)) is not None:
                is_large = bytes_of(share) > 2 * IN_ORDER_BYTES
                waiting.append(
                    share if is_large else self._pool.submit(_rows_as_bytes, read, share)
                )
            if not waiting:
                return
            first = waiting.popleft()
            if isinstance(first, Future):
                yield from _rows_of_bytes(first.result())
            else:
                yield from read(first)


def _is_small(work: Work[T]) -> bool:
    return len(work.shares) < 2 or sum(map(bytes_of, work.shares)) < LEAST_BYTES


def _rows_as_bytes(
    read: Callable[[Sequence[T]], Iterator[tuple[int, Any]]], share: Sequence[T]
) -> list[tuple[int, Any]]:
    """Return the rows of a share as Arrow streams, one for each table, then all other values.

    Runs in another process.
    """
    others: list[tuple[int, Any]] = []
    sinks: dict[int, pa.BufferOutputStream] = {}
    writers: dict[int, pa.RecordBatchStreamWriter] = {}
    for number, batch in read(share):
        if not isinstance(batch, pa.RecordBatch):
            others.append((number, batch))
            continue
        if number not in writers:
            sinks[number] = pa.BufferOutputStream()
            writers[number] = pa.ipc.new_stream(sinks[number], batch.schema)
        writers[number].write_batch(batch)
    for writer in writers.values():
        writer.close()
    found: list[tuple[int, Any]] = [
        (number, sink.getvalue().to_pybytes()) for number, sink in sinks.items()
    ]
    return found + others


def _rows_of_bytes(sent: list[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    for number, each in sent:
        if isinstance(each, bytes):
            yield from ((number, batch) for batch in pa.ipc.open_stream(each))
        else:
            yield number, each
