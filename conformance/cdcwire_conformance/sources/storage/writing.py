"""A writer of a whole prefix: schema files, rows in files, indexes and the checkpoint.

The rules are those of ``cdcwire.storage``; here are the buffers, the clock and the puts. ``kill``
leaves what a producer leaves that ends in the middle: some files are put and others are not, and
the checkpoint says from where on. ``restarted`` gives the writer that goes on then; who feeds it
sends all that is not below its checkpoint again.

Not here: EXCHANGE PARTITION (its second schema file), dispatchers, table ids as paths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Literal, TypeAlias

from cdcwire.core.errors import EncodeError
from cdcwire.core.format import NO_CONTEXT, Context
from cdcwire.model.events import Column, Event, Progress, RowChange, SchemaChange, Table
from cdcwire.model.tso import ms_of_tso
from cdcwire.storage import (
    Cut,
    CuttingSettings,
    DataPath,
    IndexPath,
    MetadataPath,
    OpenFile,
    Part,
    Put,
    SchemaFile,
    SchemaPath,
    add_part,
    advance,
    choose_version,
    flush,
    flush_puts,
    parse_path,
    path_text,
    read_index,
    read_metadata,
    resume,
    schema_checksum,
    schema_file_of,
    schema_put,
    tick,
    write_metadata,
)
from cdcwire.storage.cutting import DEFAULT_FLUSH_INTERVAL_MS, move
from cdcwire.storage.dates import date_directory
from cdcwire.storage.renames import RENAME_TABLE, RENAME_TABLES, renamed_from
from cdcwire.storage.writing import WriteOrder
from cdcwire_conformance.sources.storage.forms import stored_form
from cdcwire_conformance.sources.stores import Store, StoreError

Atomicity: TypeAlias = Literal["none", "table"]
Clock: TypeAlias = "Callable[[], int]"  # milliseconds since 1970

METADATA_INTERVAL_MS = 2_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_DROP_TABLE = 4


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """What the producer is set to, beside the options of the format.

    ``write_order``: ``data-first`` writes as the newer producer does, elements of ENUM and SET in
    schema files among it. ``transaction_atomicity``: with ``table`` the rows that a transaction has
    of one table stay in one file.
    """

    write_order: WriteOrder = "data-first"
    transaction_atomicity: Atomicity = "none"
    flush_interval_ms: int = DEFAULT_FLUSH_INTERVAL_MS
    metadata_interval_ms: int = METADATA_INTERVAL_MS


@dataclass(slots=True)
class _KnownTable:
    """A table as it is now. ``schema_file``: to be put before its first rows."""

    definition: Table
    version: int
    schema_file: SchemaFile | None = None


@dataclass(slots=True)
class _Stream:
    """The open file of a table, or of one of its partitions."""

    table: _KnownTable
    directory: DataPath
    state: OpenFile
    buffered: list[bytes] = field(default_factory=list)
    part: list[bytes] = field(default_factory=list)  # rows of the transaction that goes on
    first_commit_ts: int | None = None  # of what is not put yet


class PrefixWriter:
    """Writes events into a prefix, as they come in the order of their commit-ts.

    ``context``: options of the format, and definitions of tables that no schema change tells.
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
        form = stored_form(format_name)
        found = form.settings(context)
        self._layout = found.layout
        self._cutting = CuttingSettings(found.file_size, settings.flush_interval_ms)
        self._rows = form.encoder(context)
        self._tables: dict[tuple[str, str], _KnownTable] = {}
        self._streams: dict[tuple[str, str, int | None], _Stream] = {}
        self._next_numbers: dict[DataPath, int] = {}
        self._commit_ts: int | None = None
        self._metadata_ms: int | None = None
        self._stored = self._read_checkpoint()
        self.checkpoint = self._stored if checkpoint is None else checkpoint
        self.unwritten_indexes = 0  # which a producer of the order index-first logs only

    def write(self, event: Event) -> None:
        """Take an event. Raises: EncodeError for what a prefix can't have; StoreError."""
        match event:
            case RowChange():
                self._go_to(_commit_ts_of(event))
                self._add(event)
            case SchemaChange():
                self._go_to(_commit_ts_of(event))
                self.flush()
                self._change(event)
            case Progress(what="checkpoint" | "resolved" as what):
                self._go_to(_commit_ts_of(event))
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
            self._commit_ts += 1
        self._put_checkpoint()

    def kill(self) -> None:
        """Leave the prefix as a producer does that is killed while it flushes.

        Of the files that wait the first half are put, without a checkpoint above them, and one more
        has the first of its two puts only. The rest is lost. Raises: StoreError.
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
        told = {(table.schema, table.name): table for table in self.context.tables}
        for known in self._tables.values():
            table = replace(known.definition, version=None)
            told[table.schema, table.name] = table
        context = replace(self.context, tables=tuple(told.values()))
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
            table = self._tables.get((schema, name))
            if table is None:
                table = self._tables[schema, name] = self._resolve(event)
            date = self._date()
            directory = DataPath(schema, name, table.version, partition, date, 1)
            state = OpenFile(date, self._next_number(directory))
            stream = _Stream(table, directory, state)
            self._streams[schema, name, partition] = stream
        return stream

    def _resolve(self, event: RowChange) -> _KnownTable:
        """Return a table that no schema change told: its version follows from what is there."""
        definition = self._definition(event)
        version = definition.version
        if version is None:
            version = _commit_ts_of(event) if self.checkpoint is None else self.checkpoint
        file = self._schema_file(definition, None, version)
        listed = self._schema_paths(definition)
        choice = choose_version(version, schema_checksum(file), listed)
        needed = file if choice.action == "write" else None
        return _KnownTable(definition, choice.version, needed)

    def _definition(self, event: RowChange) -> Table:
        name = (event.table.schema, event.table.name)
        told = [t for t in self.context.tables if (t.schema, t.name) == name and t.columns]
        image = event.after or event.before
        if image is not None and len(told) != 1:
            names = {column.name for column in image.columns}
            told = [t for t in told if {c.name for c in t.columns or ()} == names] or told
            if not told:
                return replace(event.table, columns=image.columns)
        return max(told, key=lambda table: table.version or 0)

    def _schema_paths(self, table: Table) -> list[SchemaPath]:
        found = []
        for listed in self.store.list(f"{table.schema}/{table.name}/meta"):
            path = parse_path(listed.path, self._layout)
            if isinstance(path, SchemaPath):
                found.append(path)
        return found

    def _change(self, event: SchemaChange) -> None:
        table, version = event.table, _commit_ts_of(event)
        if table is None:
            raise EncodeError("a schema file needs the table", "storage: schema files", ("table",))
        gone = []
        if event.code in (RENAME_TABLE, RENAME_TABLES):
            gone = renamed_from(event.query or "", table.schema or "")
        if table.name is not None and table.columns is None:
            table = replace(table, columns=self._columns_now(table, version, gone))
        if table.name is not None:
            table = replace(table, version=version)
        put = schema_put(self._schema_file(table, event, version), self._layout)
        self._put_one(put)
        names = [name for name in gone if name != (table.schema, table.name)]
        if table.name is None:
            names += [name for name in self._tables if name[0] == table.schema]
        else:
            names.append((table.schema or "", table.name))
        for name in names:
            self._tables.pop(name, None)
            for key in [key for key in self._streams if key[:2] == name]:
                del self._streams[key]
        if table.name is not None and event.code != _DROP_TABLE:
            self._tables[table.schema or "", table.name] = _KnownTable(table, version)
        self._put_checkpoint()

    def _columns_now(
        self, table: Table, version: int, old_names: list[tuple[str, str]]
    ) -> tuple[Column, ...] | None:
        """Return the columns of a table whose change does not tell them."""
        name = (table.schema or "", table.name or "")
        told = [t for t in self.context.tables if (t.schema, t.name) == name and t.columns]
        for each in told:
            if each.version == version:
                return each.columns
        for known in (name, *old_names):
            if known in self._tables:
                return self._tables[known].definition.columns
        return told[0].columns if len(told) == 1 else None

    def _schema_file(self, table: Table, event: SchemaChange | None, version: int) -> SchemaFile:
        with_elements = self.settings.write_order == "data-first"
        return schema_file_of(table, event, version, with_elements=with_elements)

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


def _commit_ts_of(event: Event) -> int:
    commit_ts = event.position.commit_ts
    if commit_ts is None:
        problem = "a prefix needs the commit_ts of what is written"
        raise EncodeError(problem, "storage: versions", ("position", "commit_ts"))
    return commit_ts
