"""A writer of a whole prefix: schema files, rows in files, indexes and the checkpoint.

The rules are those of ``cdcwire.storage``; here are the buffers, the clock and the puts. ``kill``
leaves the state of a producer that ends in the middle: some files are put and others are not. The
checkpoint says from where to resume. ``restarted`` gives the writer that resumes; its caller sends
all that is not below its checkpoint again.

Not here: EXCHANGE PARTITION (its second schema file), dispatchers, table ids as paths.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Literal, TypeAlias

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import EncodeError
from cdcwire.files.prefix import stored_form
from cdcwire.files.stores import Store, StoreError
from cdcwire.model.events import Event, Progress, RowChange, SchemaChange
from cdcwire.model.instants import ms_of_tso
from cdcwire.registry import get_format
from cdcwire.storage import (
    Cut,
    CuttingSettings,
    DataPath,
    IndexPath,
    MetadataPath,
    OpenFile,
    Part,
    Put,
    add_part,
    advance,
    flush,
    flush_puts,
    path_text,
    read_index,
    read_metadata,
    resume,
    tick,
    write_metadata,
)
from cdcwire.storage.paths import date_directory
from cdcwire.storage.writing import DEFAULT_FLUSH_INTERVAL_MS, WriteOrder, move
from cdcwire_conformance.sources.storage.known_tables import KnownTable, KnownTables, commit_ts_of

Atomicity: TypeAlias = Literal["none", "table"]
Clock: TypeAlias = "Callable[[], int]"  # milliseconds since 1970

METADATA_INTERVAL_MS = 2_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """Settings of the producer, in addition to the options of the format.

    ``write_order``: ``data-first`` writes as the newer producer does, elements of ENUM and SET in
    schema files among it. ``transaction_atomicity``: with ``table`` the rows that a transaction has
    of one table stay in one file.
    """

    write_order: WriteOrder = "data-first"
    transaction_atomicity: Atomicity = "none"
    flush_interval_ms: int = DEFAULT_FLUSH_INTERVAL_MS
    metadata_interval_ms: int = METADATA_INTERVAL_MS


@dataclass(slots=True)
class _Stream:
    """The open file of a table, or of one of its partitions."""

    table: KnownTable
    directory: DataPath
    state: OpenFile
    buffered: list[bytes] = field(default_factory=list)
    part: list[bytes] = field(default_factory=list)  # rows of the transaction that goes on
    first_commit_ts: int | None = None  # of what is not put yet


class PrefixWriter:
    """Writes events into a prefix, as they come in the order of their commit-ts.

    ``context``: options of the format, and definitions of tables without a schema change.
    ``clock``: None follows the commit-ts of the events, so that one stream gives the same files
    always. ``zone``: of the dates. ``checkpoint``: where the events begin; None: what the prefix
    says.
    Raises: StoreError; OptionError.
    """

    def __init__(
        self,
        store: Store,
        format_name: str,
        context: Context = NO_CONTEXT,
        settings: WriterSettings = WriterSettings(),
        *,
        clock: Clock | None = None,
        zone: tzinfo = timezone.utc,
        checkpoint: int | None = None,
    ) -> None:
        self.store = store
        self.format_name = format_name
        self.context = context
        self.settings = settings
        self.clock = clock
        self.zone = zone
        form = stored_form(get_format(format_name))
        found = form.settings(context)
        self._layout = found.layout
        self._cutting = CuttingSettings(found.file_size, settings.flush_interval_ms)
        self._rows = form.encoder(context)
        order = settings.write_order
        self._tables = KnownTables(store, context, self._layout, order)
        self._streams: dict[tuple[str, str, int | None], _Stream] = {}
        self._next_numbers: dict[DataPath, int] = {}
        self._commit_ts: int | None = None
        self._largest = 0  # commit-ts; an encoder's events need not be in its order
        self._metadata_ms: int | None = None
        self._stored = self._read_checkpoint()
        self.checkpoint = self._stored if checkpoint is None else checkpoint
        self.unwritten_indexes = 0  # which a producer of the order index-first logs only

    def write(self, event: Event) -> None:
        """Take an event. Raises: EncodeError for what a prefix can't have; StoreError."""
        match event:
            case RowChange():
                self._go_to(commit_ts_of(event))
                self._add(event)
            case SchemaChange():
                self._go_to(commit_ts_of(event))
                self.flush()
                ended = self._tables.change(event, self._put_one)
                for key in [key for key in self._streams if key[:2] in ended]:
                    del self._streams[key]
                self._put_checkpoint()
            case Progress(what="checkpoint" | "resolved" as what):
                self._go_to(commit_ts_of(event))
                if what == "checkpoint":
                    self.flush()
                    self._put_checkpoint()
            case _:
                problem = f"a prefix has no place for {event.what!r}"
                raise EncodeError(problem, "storage: names", ("what",))

    def flush(self) -> None:
        """Put all rows that wait. Raises: StoreError."""
        date = self._date()
        for stream in self._streams.values():
            self._end_part(stream)
            self._move(stream, date)
            stream.state, cut = flush(stream.state, date)
            self._put(stream, cut)

    def close(self) -> None:
        """Put all rows that wait, and a checkpoint above them. Raises: StoreError."""
        self.flush()
        if self._commit_ts is not None:
            self._commit_ts = self._largest + 1
        self._put_checkpoint()

    def kill(self) -> None:
        """Leave the prefix as a producer does that is killed while it flushes.

        The first half of the waiting files is put, without a checkpoint above them. One more file
        has only the first of its two puts. The rest is lost. Raises: StoreError.
        """
        date = self._date()
        waiting = [stream for stream in self._streams.values() if stream.buffered]
        for number, stream in enumerate(waiting[: len(waiting) // 2 + 1]):
            self._move(stream, date)
            stream.state, cut = flush(stream.state, date)
            self._put(stream, cut, is_whole=number < len(waiting) // 2)

    def restarted(self) -> PrefixWriter:
        """Return the writer that goes on from the checkpoint after this one was killed.

        It knows the tables as they were, which is not in the prefix, and nothing else.
        """
        defined = {(table.schema, table.name): table for table in self.context.tables}
        for known in self._tables:
            table = replace(known.definition, version=None)
            defined[table.schema, table.name] = table
        context = replace(self.context, tables=tuple(defined.values()))
        return PrefixWriter(
            self.store,
            self.format_name,
            context,
            self.settings,
            clock=self.clock,
            zone=self.zone,
            checkpoint=self.checkpoint,
        )

    def _go_to(self, commit_ts: int) -> None:
        """End the transaction before this commit-ts, and let time pass."""
        if commit_ts == self._commit_ts:
            return
        for stream in self._streams.values():
            self._end_part(stream)
        self._commit_ts = commit_ts
        self._largest = max(self._largest, commit_ts)
        now, date = self._now(), self._date()
        for stream in self._streams.values():
            if stream.first_commit_ts is not None:
                self._move(stream, date)
                stream.state, cut = tick(stream.state, self._cutting, now, date)
                self._put(stream, cut)
        last = self._metadata_ms
        if last is None or now - last >= self.settings.metadata_interval_ms:
            self._put_checkpoint()

    def _add(self, event: RowChange) -> None:
        stream = self._stream(event)
        definition = stream.table.definition
        rows = self._rows.rows(event, definition)
        if stream.first_commit_ts is None:
            stream.first_commit_ts = event.position.commit_ts
            header = self._rows.header(event, definition)
            if header:
                stream.part.append(header)
        stream.part.append(rows)
        if self.settings.transaction_atomicity == "none":
            self._end_part(stream)

    def _end_part(self, stream: _Stream) -> None:
        """Buffer the rows that stay together; the file may be full then."""
        if not stream.part:
            return
        date = self._date()
        self._move(stream, date)
        part = Part(sum(map(len, stream.part)), len(stream.part))
        stream.buffered += stream.part
        stream.part = []
        stream.state, cut = add_part(stream.state, part, self._cutting, self._now(), date)
        self._put(stream, cut)

    def _move(self, stream: _Stream, date: str) -> None:
        """Go on in the directory of a date, with the number that comes next there."""
        if stream.state.date != date:
            stream.directory = replace(stream.directory, date=date)
            number = self._next_number(stream.directory)
            stream.state = move(stream.state, date, number)

    def _next_number(self, directory: DataPath) -> int:
        known = self._next_numbers.get(directory)
        if known is not None:
            return known
        index = IndexPath(
            directory.schema,
            directory.table,
            directory.version,
            directory.partition,
            directory.date,
        )
        try:
            number = read_index(self.store.read(path_text(index, self._layout)), self._layout)
        except FileNotFoundError:
            return resume(None, False)
        last = self.store.look(path_text(replace(directory, number=number), self._layout))
        return resume(number, last is not None and last.size > 0)

    def _put(self, stream: _Stream, cut: Cut | None, is_whole: bool = True) -> None:
        if cut is None:
            return
        path = replace(stream.directory, date=cut.date, number=cut.number)
        schema_file, stream.table.schema_file = stream.table.schema_file, None
        order = self.settings.write_order
        data = b"".join(stream.buffered)
        puts = list(flush_puts(path, data, self._layout, order, schema_file))
        for put in puts if is_whole else puts[:-1]:
            self._put_one(put)
        stream.buffered = []
        stream.first_commit_ts = None
        self._next_numbers[replace(path, number=1)] = cut.number + 1

    def _put_one(self, put: Put) -> None:
        try:
            self.store.put(put.path, put.value)
        except StoreError:
            if put.when_it_fails == "stop":
                raise
            self.unwritten_indexes += 1

    def _stream(self, event: RowChange) -> _Stream:
        partition = event.position.partition if self._layout.has_partitions else None
        schema, name = event.table.schema or "", event.table.name or ""
        stream = self._streams.get((schema, name, partition))
        if stream is None:
            table = self._tables.of(event, self.checkpoint)
            date = self._date()
            directory = DataPath(schema, name, table.version, partition, date, 1)
            state = OpenFile(date, self._next_number(directory))
            stream = _Stream(table, directory, state)
            self._streams[schema, name, partition] = stream
        return stream

    def _put_checkpoint(self) -> None:
        """Store what all rows below are put of. Source: storage, "metadata"."""
        waiting = [
            stream.first_commit_ts
            for stream in self._streams.values()
            if stream.first_commit_ts is not None
        ]
        reached = min(waiting) if waiting else self._commit_ts
        if reached is None:
            return
        self.checkpoint = advance(self.checkpoint, reached)
        stored = advance(self._stored, self.checkpoint)
        if stored != self._stored:
            self._put_one(Put(path_text(MetadataPath(), self._layout), write_metadata(stored)))
            self._stored = stored
        self._metadata_ms = self._now()

    def _read_checkpoint(self) -> int | None:
        try:
            return read_metadata(self.store.read(path_text(MetadataPath(), self._layout)))
        except FileNotFoundError:
            return None

    def _now(self) -> int:
        if self.clock is not None:
            return self.clock()
        return ms_of_tso(self._commit_ts or 0)

    def _date(self) -> str:
        now = self._now()
        if self.zone is not timezone.utc:
            local = (_EPOCH + timedelta(milliseconds=now)).astimezone(self.zone)
            now += (local.utcoffset() or timedelta()) // timedelta(milliseconds=1)
        return date_directory(now, self._layout.date_separator)


def restart_points(rows: int, restarts: int) -> list[int]:
    """Return after how many rows the writer is killed: evenly spread, never at the very end."""
    points = (rows * number // (restarts + 1) for number in range(1, restarts + 1))
    return sorted({point for point in points if 0 < point < rows})


def write_prefix(
    writer: PrefixWriter, events: Iterable[Event], killed_after: Sequence[int] = ()
) -> PrefixWriter:
    """Write a stream of events and close the writer. Returns: the writer that closed.

    ``killed_after``: counts of rows. The writer is killed there while it flushes, and the next one
    gets all again that is not below the checkpoint, so that rows repeat.
    Raises: EncodeError; StoreError.
    """
    points = list(killed_after)
    sent: deque[Event] = deque()  # what is not below the checkpoint
    rows = 0
    for event in events:
        writer.write(event)
        if not points:
            continue
        sent.append(event)
        while _is_below(sent[0], writer.checkpoint):
            sent.popleft()
        rows += isinstance(event, RowChange)
        if rows >= points[0]:
            points.pop(0)
            writer.kill()
            writer = writer.restarted()
            catch_up(writer, sent)
    writer.close()
    return writer


def catch_up(writer: PrefixWriter, events: Iterable[Event]) -> None:
    """Write what a restarted writer gets again: all that is not below its checkpoint.

    Raises: EncodeError; StoreError.
    """
    checkpoint = writer.checkpoint
    for event in events:
        if not _is_below(event, checkpoint) and not _is_done(event, checkpoint):
            writer.write(event)


def _is_below(event: Event, checkpoint: int | None) -> bool:
    commit_ts = event.position.commit_ts
    return commit_ts is not None and checkpoint is not None and commit_ts < checkpoint


def _is_done(event: Event, checkpoint: int | None) -> bool:
    """Return whether a schema change is the checkpoint itself, which means that it is stored."""
    return isinstance(event, SchemaChange) and event.position.commit_ts == checkpoint
