"""Other processes of this machine that read a large feed together with this one.

They are started for the first feed that is worth it. Rows come back as bytes of Arrow, so nothing
is left in a directory after an end of any kind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Any, TypeVar

import pyarrow as pa

from cdcwire.feed import FeedError
from cdcwire_conformance.decode.stored_rows import StoredData
from cdcwire_conformance.decode.work import IN_ORDER_BYTES, Work, bytes_of
from cdcwire_conformance.decode.workers import HERE, Found, ThisProcess
from cdcwire_conformance.processes import process_pool
from cdcwire_conformance.sources.pieces import Piece

T = TypeVar("T", Piece, StoredData)

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
