"""The rows that are measured: of a named workload, of a user's own table, or of a feed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeGuard

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.ddl import sent_columns
from cdcwire.files.messages_io import read_messages
from cdcwire.files.prefix import StoragePrefix, is_prefix, list_prefix
from cdcwire.files.stores import SourceError, is_url, open_store
from cdcwire.format import Format
from cdcwire.model.events import Event, Position, RowChange, Table
from cdcwire.model.instants import ms_of_tso, tso_of_ms
from cdcwire.model.kinds import Value
from cdcwire.model.steps import IncompleteUpdateError, join_halves
from cdcwire.registry import get_format
from cdcwire_conformance.sources.source_urls import parse_source_url
from cdcwire_generators.positions import position_at
from cdcwire_generators.workloads import WORKLOAD_NAMES, table_workload, workload, workload_title

DEFAULT_ROWS = 20_480
_BYTES_PER_ROW = 200  # wider rows are taken in smaller numbers
_TRIED_ROWS = 64
_WHOLE = 1024  # rows come in multiples of it, or of the next one, so that batches come out even
_SMALL = 16
_FEED_BYTES = 64 << 20
_BYTES_OF_A_COLUMN = 28  # type, flags and signs around it


TableName: TypeAlias = "tuple[str | None, str | None]"


class SizeError(ValueError):
    """The measurement is impossible. The text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Input:
    """Rows with a name. ``received``: the messages that they came in, and how many rows in all."""

    name: str
    title: str
    rows: tuple[RowChange, ...]
    tables: tuple[Table, ...] = ()
    received: tuple[str, tuple[bytes, ...], int] | None = None
    notes: tuple[str, ...] = ()


def named_input(name: str, rows: int, seed: int) -> Input:
    """Return rows of a named workload. Raises: ValueError for a name that is not known."""
    wanted = _scaled(rows, lambda number: _rows(workload(name, number, seed)))
    return Input(name, workload_title(name), tuple(_rows(workload(name, wanted, seed))))


def named_inputs(
    names: Sequence[str] = WORKLOAD_NAMES, rows: int = DEFAULT_ROWS, seed: int = 1
) -> list[Callable[[], Input]]:
    """Return what makes the rows of named workloads, for ``measure``."""
    return [partial(named_input, name, rows, seed) for name in names]


def table_input(table: Table, rows: int, seed: int) -> Input:
    """Return rows of a table that a DDL defines, without its virtual columns."""
    sent = sent_columns(table)
    name = f"{table.schema}.{table.name}"
    if not sent.columns:
        raise SizeError(f"table {name}: messages have none of its columns")
    try:
        wanted = _scaled(rows, lambda number: _rows(table_workload(sent, number, seed)))
        found = tuple(_rows(table_workload(sent, wanted, seed)))
    except ValueError as error:
        raise SizeError(f"table {name}: {error}") from error
    return Input(name, f"{len(sent.columns)} columns, from its CREATE TABLE", found)


def feed_input(source: str, sample: int, context: Context) -> Input:
    """Return up to ``sample`` rows of a feed, ``FORMAT:file:DIR``.

    DIR may be a storage prefix, whose files are read in the order of replay.
    Raises: SizeError if there are none, or a message breaks its format; InputError of the files.
    """
    format_name, place = parse_source(source)
    format_ = get_format(format_name)
    rows: list[RowChange] = []
    raw: list[bytes] = []
    size = others = 0
    is_cut = False
    messages = read_messages(place)
    if is_prefix(format_name, place):
        prefix = _listed(place, format_name, context)
        messages = _files(place, prefix)
        context = replace(context, tables=(*prefix.tables, *context.tables))
    half: list[RowChange] = []  # of an update whose other half is in the next message
    for where, message in messages:
        if not half and (len(rows) >= sample or size > _FEED_BYTES):
            is_cut = True
            break
        if not is_counted(message, format_):
            context = format_.prepared((message,), context)
            continue
        try:
            events: list[Event] = [*half, *format_.to_events(message, context=context)]
            last = events[-1] if events else None
            half = [last] if _is_first_half(last) else []
            events = events[:-1] if half else events
            events = list(join_halves(events))
        except (DecodeError, IncompleteUpdateError) as error:
            raise SizeError(f"{where}: {error}") from error
        found = [event for event in events if isinstance(event, RowChange)]
        others += len(events) - len(found)
        if found or half:
            rows += found
            raw.append(payload_of(message))
            size += len(raw[-1])
    if half:
        raise SizeError(f"{source}: {IncompleteUpdateError(half[0])}")
    if not rows:
        raise SizeError(f"{source}: there are no rows")
    notes = []
    if is_cut:
        notes.append(f"the first {len(rows):,} rows of the feed")
    if others:
        notes.append(f"{others:,} events without rows are left out")
    title = f"a feed in {format_name}"
    return Input(
        source,
        title,
        tuple(rows),
        context.tables,
        (format_name, tuple(raw), len(rows)),
        tuple(notes),
    )


def _is_first_half(event: Event | None) -> TypeGuard[RowChange]:
    return isinstance(event, RowChange) and event.half == "before"


def _listed(place: str, format_name: str, context: Context) -> StoragePrefix:
    prefix = list_prefix(open_store(place), get_format(format_name), context)
    if prefix.faults:
        raise SizeError(f"{place}: {prefix.faults[0]}")
    return prefix


def _files(place: str, prefix: StoragePrefix) -> Iterator[tuple[str, Message]]:
    """Yield the data files of a prefix in the order of replay, each with its path."""
    where = open_store(place)
    for file in prefix.files:
        yield file.path, StoredFile(file.path, where.read(file.path))


def parse_source(source: str) -> tuple[str, str]:
    """Return format and directory of ``FORMAT:file:DIR``. Raises: SizeError."""
    try:
        found = parse_source_url(source)
    except SourceError as error:
        raise SizeError(str(error)) from error
    if found.topic is not None or is_url(found.location):
        raise SizeError(f"{source!r:.200}: only files are measured, as in FORMAT:file:DIR")
    return found.format, found.location


def is_counted(message: Message, format_: Format) -> bool:
    """Return whether a message is counted. A schema file is not: a registry has it."""
    return format_.schemas is None or format_.schemas.schema_file(message) is None


def payload_of(message: Message) -> bytes:
    """Return what of a message is counted: key and value; of a file its bytes."""
    if isinstance(message, KafkaMessage):
        return (message.key or b"") + (message.value or b"")
    return message.value


def with_whole_positions(rows: Sequence[RowChange]) -> tuple[RowChange, ...]:
    """Return rows that say where they are in every format's way, so that each can be measured.

    A missing value, such as the sequence id of a row of TiCDC, is filled in by counting. The commit
    timestamp and the time of a change are derived from each other. A row without any of these
    values is left as it is.
    """
    return tuple(
        row if row.position == _NOWHERE else replace(row, position=_whole(row.position, number))
        for number, row in enumerate(rows, start=1)
    )


_NOWHERE = Position()
_COUNTED = ("sequence_id", "lsn", "tx_id")


def _whole(position: Position, number: int) -> Position:
    counted = position_at(number, number, _COUNTED)
    missing = {name: getattr(counted, name) for name in _COUNTED if getattr(position, name) is None}
    commit_ts, commit_ms = position.commit_ts, position.commit_ms
    if commit_ms is None and commit_ts is not None:
        commit_ms = ms_of_tso(commit_ts)
    if commit_ts is None and commit_ms is not None:
        commit_ts = tso_of_ms(commit_ms)
    return replace(position, **missing, commit_ts=commit_ts, commit_ms=commit_ms)


def topics_of(rows: Sequence[RowChange], tables: Sequence[Table]) -> dict[TableName, Table]:
    """Return the definitions of the rows' tables: as given, otherwise by the first row of each."""
    found = {(table.schema, table.name): table for table in tables if table.columns}
    for row in sorted(rows, key=lambda row: row.op == "delete"):  # a delete may have its key only
        image = row.after or row.before
        name = (row.table.schema, row.table.name)
        if name not in found and image is not None:
            # The name of a type is that of another format here; the kind says it all.
            once = {column.name: replace(column, source=None) for column in image.columns}
            found[name] = replace(row.table, columns=tuple(once.values()))
    return found


def _rows(events: Iterator[Event]) -> Iterator[RowChange]:
    return (event for event in events if isinstance(event, RowChange))


def _scaled(rows: int, sample: Callable[[int], Iterator[RowChange]]) -> int:
    """Return the number of rows to take: fewer wide ones, for about as many bytes everywhere."""
    if rows <= _TRIED_ROWS:
        return rows
    tried = list(sample(_TRIED_ROWS))
    per_row = max(1, sum(map(_weight, tried)) // len(tried))
    wanted = min(rows, max(rows, DEFAULT_ROWS) * _BYTES_PER_ROW // per_row)
    even = next((size for size in (_WHOLE, _SMALL) if wanted >= size), 1)
    return rows if wanted == rows else max(_TRIED_ROWS, wanted // even * even)


def _weight(row: RowChange) -> int:
    """Return the approximate number of bytes of a row as JSON."""
    images = [image for image in (row.before, row.after) if image is not None]
    return sum(
        _BYTES_OF_A_COLUMN + len(column.name) + _length(value)
        for image in images
        for column, value in image.pairs
    )


def _length(value: Value) -> int:
    return len(value) * 4 // 3 if isinstance(value, (str, bytes)) else 8
