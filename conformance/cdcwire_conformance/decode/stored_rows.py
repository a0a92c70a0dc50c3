"""Data files of a prefix, decoded one by one to Arrow batches in a Spark worker.

A file whose end is broken gives the rows before the fault, then the fault. Rows that replay leaves
out are decoded and dropped. The file's floor and, from there on, the largest commit-ts in the file
say which rows came before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cdcwire.arrow.batches import (
    Change,
    MessagePlace,
    RowProblem,
    problem_of,
)
from cdcwire.arrow.column_decoders import Irregular, StoredColumns
from cdcwire.compressions import with_compressions
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import StoredFile
from cdcwire.core.rows import Row
from cdcwire.files.local_files import read_whole
from cdcwire.files.stores import OpenFile, opener_of, path_under
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange
from cdcwire.storage.form import StoredSettings
from cdcwire.storage.paths import DataPath
from cdcwire.storage.replay import StreamGate
from cdcwire_conformance.decode.decoders import message_decoder
from cdcwire_conformance.decode.reading import (
    ROWS_OF_A_BATCH,
    FeedError,
    Job,
    OnError,
    change_filter,
    feed_error,
    few_collections,
    locate_problem,
)
from cdcwire_conformance.sources.pieces import lines_of_rows
from cdcwire_conformance.suite import get_suite


class StoredData(NamedTuple):
    """A data file of a prefix.

    ``path``: the parts of its name. ``order``: its number in the order of replay, from 0.
    ``floor``: the largest commit-ts of the rows before it in its table or partition; rows below it
    are repeats. ``content``: its bytes, where a worker can't open it.
    """

    name: str
    path: DataPath
    order: int
    size: int
    floor: int = 0
    content: bytes | None = None

    @property
    def opener(self) -> OpenFile:
        """The function that opens the file."""
        return opener_of(self.content)


class FileCounts(NamedTuple):
    """The rows that a first pass found in a data file, whose rows were taken from ``floor`` on.

    ``rows`` were taken, ``repeats`` are below the largest commit-ts before them, ``beyond`` are
    not below the checkpoint. ``smallest`` and ``largest``: of the rows below it; None without any.
    """

    name: str
    rows: int
    repeats: int
    beyond: int
    smallest: int | None
    largest: int | None


class FileGate(StreamGate):
    """The gate of a file's rows, also for many rows at once; ``largest`` begins as its floor."""

    __slots__ = ()

    def takes_each(self, commit_ts: Any, count: int) -> Any:
        """Return which of many rows are taken, as a mask, and count them. ``commit_ts``: or None.

        The same as ``judge`` of each.
        """
        if commit_ts is None:
            self.taken += count
            return np.ones(count, np.bool_)
        is_complete = np.ones(count, np.bool_)
        if self.checkpoint is not None:
            is_complete = commit_ts < np.uint64(self.checkpoint)
        beyond = count - int(is_complete.sum())
        self.beyond += beyond
        if beyond == count:
            return is_complete
        known = commit_ts[is_complete] if beyond else commit_ts
        least = int(known.min())
        self.smallest = least if self.smallest is None else min(self.smallest, least)
        behind = np.maximum.accumulate(np.concatenate([[np.uint64(self.largest)], known]))
        is_new = known >= behind[:-1]
        self.largest = int(behind[-1])
        rows = int(is_new.sum())
        self.taken += rows
        self.repeats += len(known) - rows
        is_complete[is_complete] = is_new
        return is_complete

    def mark(self, name: str) -> FileCounts:
        """Return the counts of the file under its name."""
        largest = None if self.smallest is None else self.largest
        return FileCounts(name, self.taken, self.repeats, self.beyond, self.smallest, largest)


def decode_files(
    job: Job, folder: str, checkpoint: int | None, files: Iterable[StoredData]
) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of a table's rows in data files.

    Raises: FeedError if errors are to stop, and for a file that can't be opened.
    """
    rows = _Rows(job, folder, checkpoint)
    with few_collections():
        for file in files:
            yield from rows.batches(file)


def problem_batches(
    job: Job, problems: Iterable[tuple[MessagePlace, RowProblem]]
) -> Iterator[pa.RecordBatch]:
    """Yield a row for each file that can't be had. Raises: FeedError if errors are to stop."""
    builder = job.builder
    for place, problem in problems:
        if job.on_error != "row":
            raise feed_error(problem, place, job.on_error) from None
        yield builder.problem_batch(problem, place)


def count_files(
    format_: Format,
    context: Context,
    on_error: OnError,
    folder: str,
    checkpoint: int | None,
    files: Iterable[StoredData],
) -> Iterator[FileCounts]:
    """Yield what data files hold, by a pass in which no column is decoded.

    Raises: FeedError if errors are to stop, and for a file that can't be opened.
    """
    decode = message_decoder(format_, context)
    columns = _stored_columns(format_, context)
    with few_collections():
        for file in files:
            stored = read_file(folder, file)
            gate = FileGate(checkpoint, file.floor)
            try:
                if columns is not None:
                    for commit_ts, count in columns.commit_ts(stored, file.path):
                        gate.takes_each(commit_ts, count)
                    yield gate.mark(file.name)
                    continue
            except Irregular:
                gate = FileGate(checkpoint, file.floor)
            judge = gate.judge
            try:
                for change in decode(stored):
                    judge(_commit_ts_of(change))
            except DecodeError as error:
                place = MessagePlace(None, file.order, None, path_in(folder, file), None)
                locate_problem(problem_of(error), place, on_error, True, file.opener)
            yield gate.mark(file.name)


def _stored_columns(format_: Format, context: Context) -> StoredColumns | None:
    make = get_suite(format_.name).stored_columns
    return None if make is None else make(context)


def read_file(folder: str, file: StoredData) -> StoredFile:
    """Return a data file. Raises: FeedError."""
    if file.content is not None:
        return StoredFile(file.name, file.content)
    path = path_in(folder, file)
    try:
        return StoredFile(file.name, read_whole(path))
    except OSError as error:
        raise FeedError(f"{path}: can't be read: {error.strerror}") from error


def path_in(folder: str, file: StoredData) -> str:
    """Return the full path of a data file."""
    return path_under(folder, file.name)


def places_of_rows(kind: pa.StructType, path: str, order: int, numbers: Any) -> pa.Array:
    """Return the ``source`` of rows of one file, by their numbers in it."""
    count = len(numbers)
    values = {
        "topic": pa.nulls(count, pa.string()),
        "partition": pa.repeat(pa.scalar(order, pa.int32()), count),
        "offset": pa.array(numbers, pa.int64()),
        "file": pa.repeat(pa.scalar(path, pa.string()), count),
    }
    fields = list(kind)
    arrays = [values.get(each.name, pa.nulls(count, each.type)) for each in fields]
    return pa.StructArray.from_arrays(arrays, fields=fields)


def _has_both_images(change: Row | Event) -> bool:
    if not isinstance(change, (Row, RowChange)) or change.half is not None:
        return False
    if isinstance(change, Row):
        return change.old is not None and change.new is not None
    return change.before is not None and change.after is not None


def _commit_ts_of(change: Any) -> int | None:
    if isinstance(change, Row):
        return change.commit_ts
    return change.position.commit_ts if isinstance(change, RowChange) else None


class _Rows:
    """Decodes data files to batches. Keep one for a job."""

    def __init__(self, job: Job, folder: str, checkpoint: int | None) -> None:
        self.job = job
        self.folder = folder
        self.checkpoint = checkpoint
        self.builder = job.builder
        self._kind = self.builder.schema.field("source").type
        self._decode = message_decoder(job.format, job.context)
        self._is_wanted = change_filter(job.table)
        self._joins = job.format.joins_halves
        self._columns = _stored_columns(job.format, job.context)
        self._changes: list[Change] = []
        self._numbers: list[int] = []

    def batches(self, file: StoredData) -> Iterator[pa.RecordBatch]:
        """Yield the batches of a file's rows; a fault comes after the rows before it."""
        place = MessagePlace(None, file.order, None, path_in(self.folder, file), None)
        stored = read_file(self.folder, file)
        read = 0
        if self._columns is not None:
            gate = FileGate(self.checkpoint, file.floor)
            path = file.path
            if (path.schema, path.table) == (self.job.table.schema, self.job.table.table):
                places = partial(places_of_rows, self._kind, place.file or "", file.order)
                try:
                    takes = gate.takes_each
                    found = self._columns.batches(self.builder, stored, path, takes, places)
                    for batch, records in found:
                        read = records
                        if batch is not None:
                            yield batch
                    return
                except Irregular:
                    pass  # left here, so that the decoder's error has no context
        yield from self._by_rows(stored, file, place, read)

    def _by_rows(
        self, stored: StoredFile, file: StoredData, place: MessagePlace, read: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the batches of a file's rows, without those of the first ``read`` records."""
        judge = FileGate(self.checkpoint, file.floor).judge
        is_wanted = self._is_wanted
        changes, numbers = self._changes, self._numbers
        problem: RowProblem | None = None
        number = -1
        behind = 1
        try:
            for change in self._decode(stored):
                number += behind
                behind = 2 if self._joins and _has_both_images(change) else 1
                if is_wanted(change) and judge(_commit_ts_of(change)) == "take" and number >= read:
                    changes.append(change)  # type: ignore[arg-type]  # the filter leaves rows only
                    numbers.append(number)
                    if len(changes) >= ROWS_OF_A_BATCH:
                        yield from self._waiting(place, file.opener)
        except DecodeError as error:
            problem = problem_of(error)
        if changes:
            yield from self._waiting(place, file.opener)
        if problem is not None:
            where = locate_problem(problem, place, self.job.on_error, True, file.opener)
            yield self.builder.problem_batch(problem, where)

    def _waiting(self, place: MessagePlace, open_file: OpenFile) -> Iterator[pa.RecordBatch]:
        changes, numbers = list(self._changes), list(self._numbers)
        self._changes.clear()
        self._numbers.clear()
        path, order = place.file or "", place.partition or 0
        places = places_of_rows(self._kind, path, order, np.array(numbers, np.int64))
        for found in self.builder.good_batches(changes, places):
            if isinstance(found, pa.RecordBatch):
                yield found
                continue
            index, error = found
            problem = problem_of(error)
            number = numbers[index]
            lines = lines_of_rows(self._settings(), path, [number], open_file)
            where = place._replace(offset=number, line=lines.get(number))
            if self.job.on_error != "row":
                raise feed_error(problem, where, self.job.on_error) from None
            yield self.builder.problem_batch(problem, where, changes[index])

    def _settings(self) -> StoredSettings:
        stored = self.job.format.stored
        assert stored is not None  # the format of data files
        return stored.settings(with_compressions(self.job.context))
