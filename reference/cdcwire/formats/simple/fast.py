"""The fast decoder: rows in JSON to neutral events, with the plain decoder as the fallback.

It accepts and rejects exactly what the plain decoder does, by construction. Unusual input, damaged
or just rare, is given to the plain decoder. Usual are rows whose members are in the producer's
order and without white space. Table, type and version identify what was learned of their rows. That
is one pattern for their columns, and how each value is read by the table schema.

Not read in the fast way: Avro, compressed messages, rows that are cut to their key, table schemas,
statements, watermarks, and texts that had ill-formed UTF-8.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire.core.caches import BoundedCache, Credit
from cdcwire.core.compiled import IRREGULARITIES, FastDecoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.formats.simple.definitions import Definition, definition_of_row, definitions_of
from cdcwire.formats.simple.events import OPS, events_of
from cdcwire.formats.simple.message import REPLACEMENT, Cell, Dml, Row, Timestamp
from cdcwire.formats.simple.settings import read_settings
from cdcwire.formats.simple.values import as_sent, text_reader
from cdcwire.formats.simple.wire import read_message
from cdcwire.golang import json_string
from cdcwire.model.events import NO_EXTRA, Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, TimestampType, Value

_MAX_WEIGHT = 1 << 20  # of what is kept; a column takes some two kilobytes with its pattern
_WEIGHT_OF_A_COLUMN = 1 << 7
_MAX_READERS = 8  # of the rows of one table, type and version
_MAX_COLUMNS = 512
_MAX_BYTES = 1 << 20  # of a message
_PRICE_OF_A_COLUMN = 1 << 10  # see ``Credit``
_UINT32_END = 1 << 32
_NUMBER = r"(0|[1-9][0-9]{0,17})"
_NAME = r'"([^"\\\x00-\x1f]*)"'
_HEAD = re.compile(
    rf'\{{"version":1,"database":{_NAME},"table":{_NAME}(?:,"tableID":([1-9][0-9]{{0,17}}))?'
    rf',"type":"(INSERT|UPDATE|DELETE)","commitTs":(0|[1-9][0-9]{{0,18}}),"buildTs":{_NUMBER}'
    rf'(?:,"schemaVersion":([1-9][0-9]{{0,18}}))?'
    rf'(?:,"checksum":\{{"version":{_NUMBER},"corrupted":(true|false),"current":{_NUMBER}'
    rf',"previous":{_NUMBER}\}})?,'
)
_PLAIN = r'[^"\\\x00-\x1f]*'
# Escapes of JSON, but no surrogates, which need a second look.
_ESCAPE = r'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})'
_TEXT = rf'(?:null|"({_PLAIN}(?:{_ESCAPE}{_PLAIN})*)")'

_Subject: TypeAlias = "tuple[str, str, str, str | None]"  # database, table, type, version
_Read: TypeAlias = Callable[[str], Value]


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """The columns of one side in the order of the table, and the groups that have their values.

    ``zoned``: places of TIMESTAMP columns. Their zone is sent with a value, but not with NULL, so
    ``columns`` is by which of them are NULL.
    """

    cells: tuple[tuple[Column, Column], ...]
    readers: tuple[tuple[int, _Read], ...]
    zoned: tuple[int, ...]
    columns: dict[tuple[bool, ...], tuple[Column, ...]] = field(default_factory=dict)

    def image(self, groups: tuple[str | None, ...]) -> Image:
        """Return the image of a row. Raises: one of IRREGULARITIES."""
        values: list[Value] = []
        for group, read in self.readers:
            text = groups[group]
            if text is None:
                values.append(None)
                continue
            if "\\" in text:
                text = _unescaped(text)
            values.append(read(text))
        nulls = tuple(values[place] is None for place in self.zoned)
        columns = self.columns.get(nulls)
        if columns is None:
            columns = tuple(
                defined if values[place] is None else sent
                for place, (defined, sent) in enumerate(self.cells)
            )
            if len(self.columns) < _MAX_READERS:
                self.columns[nulls] = columns
        return Image(columns, tuple(values))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of a table that have the same columns. They may lack a side."""

    match: Callable[[str, int], re.Match[str] | None]
    table: Table
    data: _Side | None
    old: _Side | None


class RowDecoder(FastDecoder):
    """Decodes the messages of a feed; see the module."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = settings = read_settings(context)
        self._blobs = context.blobs
        self._selection = context.selection
        self._definitions = definitions_of(context.tables)
        self._known: BoundedCache[_Subject, list[_Rows]] = BoundedCache(_MAX_WEIGHT)
        self._credit = Credit()
        self._is_json = settings.encoding_format == "json" and settings.compression is None

    def _usual(self, message: Message) -> Iterable[Event]:
        if not self._is_json or not isinstance(message, KafkaMessage) or not message.value:
            raise Irregular
        if len(message.value) > _MAX_BYTES:
            raise Irregular
        text = message.value.decode()
        head = _HEAD.match(text)
        if head is None:
            raise Irregular
        database, table, table_id, kind, commit_ts, build_ts, version, *sums = head.groups()
        end = head.end()
        for rows in self._known[database, table, kind, version]:
            found = rows.match(text, end)
            if found is not None:
                break
        else:
            raise Irregular
        if not self._selection.wants(database or None, table):
            return ()
        extra: dict[str, str | bytes | None] = {}
        if table_id is not None:
            extra["table_id"] = table_id
        if sums[0] is not None:
            _add_checksum(extra, sums)
        groups = found.groups()
        before = None if rows.old is None else rows.old.image(groups)
        after = None if rows.data is None else rows.data.image(groups)
        position = Position(commit_ts=int(commit_ts), sent_ms=int(build_ts))
        op = OPS[kind]
        change = RowChange(rows.table, op, before, after, position, None, None, extra or NO_EXTRA)
        return (change,)

    def _plain(self, message: Message) -> Iterable[Event]:
        if isinstance(message, StoredFile):
            return []  # a claim-check file: the message that names it has its row
        found = read_message(message.value, self._settings)
        definitions, wanted = self._definitions, self._selection
        events = events_of(found, self._settings, self._blobs, wanted, definitions)
        self._credit.earn(len(message.value or b""))
        if self._is_json and isinstance(found, Dml):
            with suppress(*IRREGULARITIES):
                self._learn(found)
        return events

    def _learn(self, row: Dml) -> None:
        """Learn the columns of a good row, if that pays."""
        if row.handle_key_only or row.claim_check_location:
            return
        sides = tuple(side for side in (row.data, row.old) if side is not None)
        names = tuple(tuple(cell.name for cell in side) for side in sides)
        size = sum(map(len, names))
        number = str(row.schema_version) if row.schema_version else None
        subject = (row.database, row.table, row.type, number)
        known = self._known.get(subject, [])
        if not 0 < size <= _MAX_COLUMNS or len(known) >= _MAX_READERS:
            return
        if not self._credit.spend(size * _PRICE_OF_A_COLUMN):
            return
        known.insert(0, self._rows(row, {name for side in names for name in side}))
        self._known.keep(subject, known, _WEIGHT_OF_A_COLUMN * size)

    def _rows(self, row: Dml, names: set[str]) -> _Rows:
        """Return how rows like a good one are read. Raises: DecodeError."""
        place, version = (row.database, row.table), (row.schema_version, row.offset)
        definition = definition_of_row(self._definitions, place, version, names)
        patterns: list[str] = []
        sides: list[_Side | None] = []
        first = 0
        for name, cells in (("data", row.data), ("old", row.old)):
            if cells is None:
                sides.append(None)
                continue
            patterns.append(rf'"{name}":\{{{",".join(map(_cell_pattern, cells))}\}}')
            sides.append(_side(cells, definition, first, self._selection.columns))
            first += len(cells)
        match = re.compile(rf"{','.join(patterns)}\}}").fullmatch
        key = definition.table.key
        table = Table(row.table, row.database or None, key=key, version=row.schema_version or None)
        return _Rows(match, table, *sides)


def _cell_pattern(cell: Cell) -> str:
    name = re.escape(json_string(cell.name))
    if not isinstance(cell.value, Timestamp):
        return f"{name}:{_TEXT}"
    location = re.escape(json_string(cell.value.location))
    return rf'{name}:(?:null|\{{"location":{location},"value":"({_PLAIN})"\}})'


def _side(cells: Row, definition: Definition, first: int, wanted: frozenset[str] | None) -> _Side:
    """Return how the cells of a side are read; ``first``: the group of the first one."""
    numbered = enumerate(cells, first)
    chosen = [each for each in numbered if wanted is None or each[1].name in wanted]
    chosen.sort(key=lambda each: definition.places[each[1].name])
    columns = [definition.columns[cell.name] for _, cell in chosen]
    both = [
        (column, as_sent(column, cell.value))
        for column, (_, cell) in zip(columns, chosen, strict=True)
    ]
    pairs = zip(columns, chosen, strict=True)
    readers = [(group, _reader(column, cell)) for column, (group, cell) in pairs]
    zoned = [place for place, (defined, sent) in enumerate(both) if defined != sent]
    return _Side(tuple(both), tuple(readers), tuple(zoned))


def _reader(column: Column, cell: Cell) -> _Read:
    """Return what reads the text of a value. A NULL does not show the zone of a TIMESTAMP."""
    if isinstance(column.type, TimestampType) and not isinstance(cell.value, Timestamp):
        return _refuse
    return text_reader(column.type)


def _refuse(text: str) -> Value:
    raise Irregular


def _unescaped(text: str) -> str:
    found: str = json.loads(f'"{text}"')
    if REPLACEMENT in found:
        raise Irregular  # it may stand for a byte that was not UTF-8
    return found


def _add_checksum(extra: dict[str, str | bytes | None], sums: list[str]) -> None:
    version, corrupted, current, previous = sums
    if max(map(int, (version, current, previous))) >= _UINT32_END:
        raise Irregular
    extra["checksum"] = current
    extra["checksum_previous"] = previous
    extra["checksum_version"] = version
    extra["corrupted"] = corrupted
