"""Decoded batches that are read again: in memory up to a limit, then in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO

import pyarrow as pa

MAX_BYTES = 64 << 20
"""How much of all tables of a comparison stays in memory."""

_COMPRESSION = "lz4"


@dataclass(slots=True)
class Room:
    """The memory that batches may still take, in bytes, and the files of other batches.

    Its end closes the files. They have no names in their directory (``TMPDIR``), so nothing is
    left after an end of any kind.
    """

    left: int = field(default_factory=lambda: MAX_BYTES)
    files: list[IO[bytes]] = field(default_factory=list)

    def __enter__(self) -> Room:
        """Return this object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the files."""
        for file in self.files:
            file.close()

    def has_taken(self, batch: pa.RecordBatch) -> bool:
        """Take the place of a batch. Return whether there was enough."""
        size = batch.nbytes
        if size > self.left:
            return False
        self.left -= size
        return True


class KeptBatches:
    """The batches of one side of a table. Iterate over them as often as needed.

    Raises: OSError if the disk is full.
    """

    def __init__(self, room: Room, batches: Iterable[pa.RecordBatch] = ()) -> None:
        self.schema: pa.Schema | None = None  # until there is a batch
        self.rows = 0
        self._room = room
        self._in_memory: list[pa.RecordBatch] = []
        self._file: IO[bytes] | None = None
        self._writer: pa.RecordBatchStreamWriter | None = None
        for batch in batches:
            self.append(batch)

    def append(self, batch: pa.RecordBatch) -> None:
        """Add a batch. All have one schema."""
        self.schema = batch.schema
        self.rows += batch.num_rows
        if self._writer is None and self._room.has_taken(batch):
            self._in_memory.append(batch)
            return
        if self._writer is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (the room closes it)
            self._room.files.append(self._file)
            options = pa.ipc.IpcWriteOptions(
                compression=_COMPRESSION if pa.Codec.is_available(_COMPRESSION) else None
            )
            self._writer = pa.ipc.new_stream(self._file, batch.schema, options=options)
        self._writer.write_batch(batch)

    def drop(self) -> None:
        """Forget all batches. Others may take their memory."""
        self._room.left += sum(batch.nbytes for batch in self._in_memory)
        self._in_memory = []
        if self._file is not None:
            self._file.close()
            self._file = self._writer = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield all batches, in their order. None is added afterwards."""
        yield from self._in_memory
        if self._writer is not None and self._file is not None:
            self._writer.close()
            self._file.seek(0)
            yield from pa.ipc.open_stream(self._file)
