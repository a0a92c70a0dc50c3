"""Data files of a storage prefix read by columns, where a format can: the interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from cdcwire.core.message import StoredFile
from cdcwire.storage.paths import DataPath
from cdcwire_conformance.arrow.batches import BatchBuilder

Numbers: TypeAlias = Any  # a numpy array
Takes: TypeAlias = "Callable[[Numbers | None, int], Numbers]"
"""Returns which rows are taken, by their commit-ts (None without any) and their count."""
Places: TypeAlias = Callable[[Numbers], pa.Array]
"""Returns the ``source`` of rows by their numbers in the file."""


class Irregular(Exception):
    """The rows of a file are to be decoded one by one: that gives them, or the error."""


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
