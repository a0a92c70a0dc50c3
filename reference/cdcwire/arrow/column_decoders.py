"""Interfaces of decoders from messages or files straight to Arrow columns, without rows between.

Few formats have one. Irregular bytes are decoded row by row instead, which gives the rows or the
error with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

import pyarrow as pa

from cdcwire.arrow.batches import BatchBuilder, MessagePlace
from cdcwire.arrow.building import Numbers
from cdcwire.core.message import Message, StoredFile
from cdcwire.storage.paths import DataPath

Takes: TypeAlias = "Callable[[Numbers | None, int], Numbers]"
"""Says which rows are taken, by their commit-ts (None without any) and their count."""
Places: TypeAlias = Callable[[Numbers], pa.Array]
"""Gives the ``source`` of rows by their numbers in the file."""


class Irregular(Exception):
    """The bytes are to be decoded row by row; they may be good or bad."""


class MessageColumns(Protocol):
    """Gathers messages and makes a batch of all their rows of one table.

    ``rows`` and ``size``: the rows and bytes gathered.
    """

    rows: int
    size: int

    def add(self, message: Message, place: MessagePlace) -> bool:
        """Take a message; return False, and take nothing, if it is to be decoded row by row."""

    def batch(self) -> pa.RecordBatch:
        """Return the batch of the rows taken, and begin anew.

        Raises: Irregular or ConversionError if the rows are to be decoded one by one.
        """


class StoredColumns(Protocol):
    """Reads data files by columns. Keep one: it remembers the versions of tables."""

    def commit_ts(self, file: StoredFile, path: DataPath) -> Iterator[tuple[Numbers | None, int]]:
        """Yield the commit-ts of a file's rows, and their number. Raises: Irregular."""

    def batches(
        self,
        builder: BatchBuilder,
        file: StoredFile,
        path: DataPath,
        takes: Takes,
        places: Places,
    ) -> Iterator[tuple[pa.RecordBatch | None, int]]:
        """Yield batches of a file, each with the number of records that were read up to its end.

        Raises: Irregular, after the batches before the irregular record.
        """
