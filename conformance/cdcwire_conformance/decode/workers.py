"""Those who read the files of a feed: this process, with others or alone, or Spark's workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, TypeVar

import pyarrow as pa

from cdcwire.files.stores import LocalStore, Store, is_url
from cdcwire_conformance.decode.stored_rows import StoredData
from cdcwire_conformance.decode.work import Work
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source, SourceError

T = TypeVar("T", Piece, StoredData)
Found = TypeVar("Found")

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
