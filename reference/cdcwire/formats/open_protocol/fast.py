"""The fast decoder: Open Protocol messages to typed rows, with the plain decoder as the fallback.

It accepts and rejects exactly what ``decode`` does, by construction: what is
not as usual, damaged or just rare, is given to the plain decoder. Usual are rows written without
white space, whose columns have ``t`` and ``f``; see ``row_patterns`` for how they are read.

Not read in the fast way: compressed items, DDL and resolved events, row ids and claim checks. With
``only-output-updated-columns`` old columns come in too many sets to be remembered.

``RawRowDecoder`` is for readers that convert a column at once. It checks the message as well, but
not the values. A value is the text of a number or the inside of a string. The reader has to check
and convert it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from cdcwire.core.caches import BoundedCache, Credit
from cdcwire.core.compiled import IRREGULARITIES, FastDecoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.limits import INT64_END, INT64_START, MAX_FAST_JSON_BYTES, UINT64_END, JsonValues
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.message import Message as AnyMessage
from cdcwire.core.rows import NOTHING_ELSE, Layout, Row, Values, new_row
from cdcwire.formats.open_protocol.events import events_of, handle_key_names, is_unchanged
from cdcwire.formats.open_protocol.members import EVENT_ROW, VALUE_RULES, value_rules
from cdcwire.formats.open_protocol.message import Column, Columns, Key, Message
from cdcwire.formats.open_protocol.message import Row as RowItem
from cdcwire.formats.open_protocol.row_patterns import (
    VECTOR,
    Groups,
    RowFunction,
    form_of,
    known_integers,
    make_row_function,
    pattern_of,
)
from cdcwire.formats.open_protocol.settings import Settings, read_settings
from cdcwire.formats.open_protocol.wire import read_key, read_message, read_row
from cdcwire.model.events import Event, Sent, Table
from cdcwire.mysql.layouts import Described, Layouts, row_value
from cdcwire.mysql.types import FLAG_HANDLE_KEY

# Limits of what is kept. A column takes some two kilobytes with its pattern and its code.
_MAX_GROUP_COLUMNS = 1 << 13
_MAX_SUBJECT_BYTES = 1 << 18
_ENTRY = 64  # what a table weighs in addition to its bytes
_MAX_GROUPS = 8  # of one table
_MAX_COLUMNS = 512
# Making a pattern takes about as long as the plain decoder takes for this many bytes per column.
_PRICE_OF_A_COLUMN = 1 << 8
_KEY_START = b"\0\0\0\0\0\0\0\1"
_TS = b'{"ts":'
_NEW = b'{"u":{'
_OLD = b',"p":{'
_DELETED = b'{"d":{'
_MAX_DIGITS = 20
_read_u64: Callable[[bytes, int], tuple[int]] = struct.Struct(">Q").unpack_from
_MAX_LAYOUTS = 256  # whose forms are remembered


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """How the columns of one layout are read."""

    match: Callable[[bytes, int, int], re.Match[bytes] | None]
    read: RowFunction
    layout: Layout
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RowKey:
    """The part of a key after its timestamp: the table, and whether rows are cut to its key."""

    schema: str
    name: str
    partition: int | None
    is_wanted: bool
    sent: Sent | None
    groups: list[tuple[Group, Table]] = field(default_factory=list)


class RowDecoder(FastDecoder):
    """Decodes Kafka messages. Tables that are not selected are skipped, undecoded.

    ``settings``: those of the context's options, unless given.
    """

    def __init__(self, context: Context = NO_CONTEXT, settings: Settings | None = None) -> None:
        if settings is None:
            settings = read_settings(context)
        self.selection = context.selection
        self.settings = settings
        self.blobs = context.blobs
        self.layouts = Layouts(settings.time_zone)
        self._signed = known_integers(INT64_START, INT64_END)
        self._unsigned = known_integers(0, UINT64_END)
        self._subjects: BoundedCache[bytes, RowKey] = BoundedCache(_MAX_SUBJECT_BYTES)
        self._groups: BoundedCache[tuple[tuple[str, int, bool, int], ...], Group] = BoundedCache(
            _MAX_GROUP_COLUMNS
        )
        self._credit = Credit()
        self._sent_of_delete: Sent | None = "key" if settings.delete_only_handle_key else None
        self._sent_of_update: Sent | None = "changed" if settings.only_updated_columns else None

    def _usual(self, message: AnyMessage) -> list[Row | Event]:
        if not isinstance(message, KafkaMessage) or self.settings.compression is not None:
            raise Irregular
        key, value = message.key, message.value
        if key is None or value is None:
            raise Irregular
        return self._usual_rows(key, value)

    def _usual_rows(self, key: bytes, value: bytes) -> list[Row | Event]:
        """Return the rows of a regular message. Raises: one of IRREGULARITIES."""
        self._credit.earn(len(value))
        if not key.startswith(_KEY_START) or len(key) == len(_KEY_START):
            raise Irregular
        size = len(key) + len(value)
        is_small = size <= MAX_FAST_JSON_BYTES
        counter = None if is_small else JsonValues(VALUE_RULES.limits_clause, size)
        rows: list[Row | Event] = []
        key_end, value_end = len(_KEY_START), 0
        while key_end < len(key):
            key_start, value_start = key_end + 8, value_end + 8
            key_end = key_start + _read_u64(key, key_start - 8)[0]
            value_end = value_start + _read_u64(value, value_start - 8)[0]
            if key_end > len(key) or value_end > len(value):
                raise Irregular
            if counter is not None:
                counter.add(key, key_start, key_end)
                counter.add(value, value_start, value_end)
            digits_start = key_start + len(_TS)
            comma = key.find(b",", digits_start, key_end)
            digits = key[digits_start:comma]
            if comma < 0 or not _is_timestamp(digits) or not key.startswith(_TS, key_start):
                raise Irregular
            subject = self._subjects.get(key[comma:key_end])
            if subject is None:
                subject = self._new_subject(key, key_start, comma, key_end)
            if subject.is_wanted:
                rows.append(self._row(subject, int(digits), value, value_start, value_end))
        if value_end != len(value):
            raise Irregular
        return rows

    def _new_subject(self, key: bytes, start: int, comma: int, end: int) -> RowKey:
        """Learn the text after the timestamp; it means the same after every other one."""
        found = read_key(key, start, end)
        if found.t != EVENT_ROW or found.rid or found.ccl:
            raise Irregular
        subject = RowKey(
            found.scm,
            found.tbl,
            found.ptn or None,
            self.selection.wants(found.scm, found.tbl),
            "key" if found.ohk else None,
        )
        self._subjects.keep(key[comma:end], subject, end - comma + _ENTRY)
        return subject

    def _row(self, subject: RowKey, commit_ts: int, value: bytes, start: int, end: int) -> Row:
        is_new = value.startswith(_NEW, start)
        if not is_new and not value.startswith(_DELETED, start):
            raise Irregular
        group, table, found = self._match(subject, value, start + len(_NEW), start, end)
        values = group.read(found.groups())
        stop = found.end()
        where = commit_ts, subject.partition
        row: tuple[object, ...]
        if not is_new:
            sent = subject.sent or self._sent_of_delete
            row = (table, "delete", *where, None, None, group.layout, values, sent)
        elif value.startswith(_OLD, stop):
            old, _, found = self._match(subject, value, stop + len(_OLD), start, end)
            images = (group.layout, values, old.layout, old.read(found.groups()))
            row = (table, "update", *where, *images, subject.sent or self._sent_of_update)
            stop = found.end()
        else:
            row = (table, "insert", *where, group.layout, values, None, None, subject.sent)
        if not value.startswith(b"}", stop) or stop + 1 != end:
            raise Irregular
        return new_row(row + NOTHING_ELSE)

    def _match(
        self, subject: RowKey, value: bytes, position: int, start: int, end: int
    ) -> tuple[Group, Table, re.Match[bytes]]:
        """Match the columns at ``position``; the item goes from ``start`` to ``end``."""
        for group, table in subject.groups:
            found = group.match(value, position, end)
            if found is not None:
                return group, table, found
        self._learn(subject, read_row(value, start, end))
        for group, table in subject.groups:
            found = group.match(value, position, end)
            if found is not None:
                return group, table, found
        raise Irregular

    def _learn(self, subject: RowKey, row: RowItem) -> None:
        known = [group for group, _ in subject.groups]
        for columns in (row.u, row.p, row.d):
            if columns:
                group = self._group(columns)
                if group not in known:
                    table = Table(subject.name, subject.schema, key=group.key)
                    subject.groups.insert(0, (group, table))
        del subject.groups[_MAX_GROUPS:]

    def _group(self, columns: Columns) -> Group:
        described = tuple((each.name, each.type, each.h, each.flag) for each in columns)
        group = self._groups.get(described)
        if group is None:
            size = len(columns)
            if size > _MAX_COLUMNS or not self._credit.spend(size * _PRICE_OF_A_COLUMN):
                raise Irregular
            forms = bytes(form_of(each.type, each.flag) for each in columns)
            wanted = tuple(index for index, each in enumerate(columns) if self._wants(each))
            layout = self.layouts.of(tuple(_described(columns[index]) for index in wanted))
            group = Group(
                pattern_of(columns).match,
                self._row_function(forms, wanted, layout),
                layout,
                handle_key_names(columns),
            )
            self._groups.keep(described, group, size)
        return group

    def _row_function(self, forms: bytes, wanted: tuple[int, ...], layout: Layout) -> RowFunction:
        return make_row_function(forms, wanted, self._signed, self._unsigned)

    def _wants(self, column: Column) -> bool:
        return self.selection.columns is None or column.name in self.selection.columns

    def _plain(self, message: AnyMessage) -> list[Row | Event]:
        if isinstance(message, StoredFile):
            return []
        found: list[Row | Event] = []
        key, value, compression = message.key, message.value, self.settings.compression
        rules = value_rules(self.settings.dialect)
        for item in read_message(key, value, self.selection, compression, rules).items:
            row = item.value if isinstance(item.value, RowItem) else None
            is_plain = row is not None and not is_unchanged(row, self.settings)
            if row is not None and is_plain and not item.key.rid and not item.key.ccl:
                found.append(self._plain_row(item.key, row))
            else:
                found += events_of(Message((item,)), self.settings, self.blobs, self.selection)
        return found

    def _plain_row(self, key: Key, row: RowItem) -> Row:
        sent = self._sent_of_delete if row.d else self._sent_of_update if row.p else None
        return Row(
            Table(key.tbl, key.scm, key=handle_key_names(row.u or row.d or ())),
            "delete" if row.d else "update" if row.p else "insert",
            key.ts,
            key.ptn or None,
            *self._image(row.u),
            *self._image(row.d or row.p),
            "key" if key.ohk else sent,
        )

    def _image(self, columns: Columns | None) -> tuple[Layout | None, Values | None]:
        if not columns:
            return None, None
        read = [column for column in columns if self._wants(column)]
        layout = self.layouts.of(tuple(map(_described, read)))
        return layout, tuple(row_value(each.value, each.type, each.flag) for each in read)


def _is_timestamp(digits: bytes) -> bool:
    """Return whether these are the digits of an unsigned 64-bit integer, as JSON has them."""
    return (
        digits.isdigit()
        and (len(digits) < _MAX_DIGITS or (len(digits) == _MAX_DIGITS and int(digits) < UINT64_END))
        and (digits == b"0" or not digits.startswith(b"0"))
    )


def _described(column: Column) -> Described:
    """Return a column for its layout; ``h`` says the same as the flag."""
    flags = column.flag | FLAG_HANDLE_KEY if column.h else column.flag
    return column.name, column.type, flags


class RawRowDecoder(RowDecoder):
    """Reads messages up to the values of their rows. It takes no selection of columns."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._forms: dict[Layout, bytes] = {}

    def raw_rows(self, message: KafkaMessage) -> list[Row] | None:
        """Return the rows of a message; None if it is to be decoded value by value."""
        try:
            found = self._usual(message)
        except IRREGULARITIES:
            return None
        return [row for row in found if isinstance(row, Row)]

    def forms_of(self, layout: Layout) -> bytes:
        """Return the form of each column's values. Raises: KeyError for a forgotten layout."""
        return self._forms[layout]

    def _row_function(self, forms: bytes, wanted: tuple[int, ...], layout: Layout) -> RowFunction:
        if VECTOR in forms:
            raise Irregular
        if len(self._forms) >= _MAX_LAYOUTS:
            self._forms.clear()
        self._forms[layout] = forms
        return _as_they_are


def _as_they_are(groups: Groups) -> Groups:
    return groups
