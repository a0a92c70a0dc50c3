"""The fast decoder: Maxwell JSON to typed rows, with the plain decoder as the fallback.

It accepts and rejects exactly what the plain decoder does, by construction. Unusual input, damaged
or just rare, is given to the plain decoder. Usual are changes of rows whose members are in the
producer's order and without white space. The text before ``ts`` identifies the table and the type,
and by these what was learned of their rows. See ``row_patterns`` for how the rest is read.

Rows with the id of a transaction come as neutral events, because a ``Row`` has no place for it.
Not read in the fast way:

- rows with ``query`` or with members that the format does not name;
- numbers with an exponent, except floats;
- JSON with escapes or of more than three levels, and vectors;
- Kafka keys with a ``_uuid``;
- schema changes, tombstones, and the start and end of a bootstrap.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire.connect.scalars import quoted
from cdcwire.core.caches import BoundedCache, Credit
from cdcwire.core.compiled import FastDecoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.json_strings import unescaped
from cdcwire.core.message import KafkaMessage, Message, expect_kafka
from cdcwire.core.rows import Row, new_row
from cdcwire.formats.maxwell_json.definitions import definitions_of
from cdcwire.formats.maxwell_json.events import OPS, events_of, key_names
from cdcwire.formats.maxwell_json.message import MS_PER_SECOND, RULES, RowMessage, decode_key
from cdcwire.formats.maxwell_json.row_patterns import (
    MEMBERS,
    ReadImages,
    RowReader,
    Shape,
    key_pattern,
    shape_of,
)
from cdcwire.formats.maxwell_json.settings import read_settings
from cdcwire.formats.maxwell_json.wire import decode
from cdcwire.model.events import Event, Op, Position, RowChange, Sent, Table

# Limits of what is kept, in characters of text that it was learned from. A column takes some two
# kilobytes with its pattern.
_MAX_WEIGHT = 1 << 20
_WEIGHT_OF_A_COLUMN = 1 << 7
_ENTRY = 64  # what a table weighs in addition to its text
_MAX_READERS = 8  # of one table and type; as many forms of Kafka keys
_MAX_TABLES = 16  # of one reader, with different keys
_MAX_COLUMNS = 512
_MAX_BYTES = 1 << 20  # of a message: matching takes some memory for each escape
_PRICE_OF_A_COLUMN = 1 << 10  # see ``Credit``

_TS = ',"ts":'
_COLON = '":'  # one for each column, and some more
_ANY_ROW = ',"ts":0,"data":{"a":0}}'
# The names of ``extra``, in the plain decoder's order, with their places in the groups from
# ``commit`` on.
_EXTRA = (
    *(("binlog_position", 1), ("gtid", 2), ("schema_id", 5), ("comment", 7)),
    *(("commit", 0), ("push_ts", 6), ("server_id", 3), ("thread_id", 4)),
)

_Names: TypeAlias = "tuple[str, ...] | None"


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of a table that have the same columns, and the table by what may name its key."""

    shape: Shape
    read: ReadImages
    tables: dict[tuple[str | None, _Names], Table] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Subject:
    """The head of a message, before ``ts``: the table and the type.

    ``misses``: messages from which nothing could be learned.
    """

    database: str
    table: str
    kind: str
    op: Op
    is_wanted: bool
    rows: list[_Rows] = field(default_factory=list)
    keys: list[tuple[re.Pattern[str], tuple[str, ...]]] = field(default_factory=list)
    misses: int = 0


class RowDecoder(FastDecoder):
    """Decodes the messages of a feed; see the module."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = read_settings(context)
        self._selection = context.selection
        self._definitions = definitions_of(context.tables)
        self._subjects: BoundedCache[str, _Subject] = BoundedCache(_MAX_WEIGHT)
        self._credit = Credit()
        self._seen = 0  # bytes that the credit does not know of yet
        self._sent: Sent | None = "changed" if self._settings.output_nulls else None

    def _plain(self, message: Message) -> list[Row | Event]:
        kafka = expect_kafka(message, RULES.text_clause)
        decoded = decode(kafka.value, key=kafka.key)
        return list(events_of(decoded, self._settings, self._selection, self._definitions))

    def _usual(self, message: Message) -> Iterable[Row | Event]:
        if not isinstance(message, KafkaMessage):
            raise Irregular
        value = message.value
        if not value or len(value) > _MAX_BYTES:
            raise Irregular
        self._seen += len(value)
        text = value.decode()
        start = text.index(_TS)
        head = text[:start]
        subject = self._subjects.get(head) or self._new_subject(head)
        members = MEMBERS.match(text, start)
        if members is None:
            raise Irregular
        in_key = None if message.key is None else self._names_in_key(subject, message.key)
        end = members.end()
        for rows in subject.rows:
            images = rows.read(text, end)
            if images is not None:
                break
        else:
            rows = self._learn(subject, text, value)
            images = rows.read(text, end)
            if images is None:
                raise Irregular
        if members.lastindex == 1:  # the time is the only member
            ts, xid, xoffset, named, extra = members[1], None, None, None, None
        else:
            ts, xid, xoffset, *others, named = members.groups()
            extra = {name: _text(others[at]) for name, at in _EXTRA if others[at] is not None}
        table = rows.tables.get((named, in_key)) or self._table(subject, rows, named, in_key)
        if not subject.is_wanted:
            return ()
        layout, values, old_layout, old = images
        op, sent, ms = subject.op, None if old is None else self._sent, int(ts) * MS_PER_SECOND
        if xid is not None or xoffset is not None:
            position = Position(
                tx_id=xid, tx_order=None if xoffset is None else int(xoffset), commit_ms=ms
            )
            image = layout.image(values)
            before = None if old_layout is None or old is None else old_layout.image(old)
            before, after = (image, None) if op == "delete" else (before, image)
            return (RowChange(table, op, before, after, position, None, sent, extra or {}),)
        row: tuple[object, ...]
        rest = None, ms, None, None, extra
        if op == "delete":
            row = (table, op, None, None, None, None, layout, values, sent, *rest)
        else:
            row = (table, op, None, None, layout, values, old_layout, old, sent, *rest)
        return (new_row(row),)

    def _new_subject(self, head: str) -> _Subject:
        """Learn the text before ``ts``; it means the same before all others."""
        message = decode((head + _ANY_ROW).encode())
        if not isinstance(message, RowMessage) or message.type not in OPS:
            raise Irregular
        database, table = message.database, message.table
        names = f'"database":{quoted(database)},"table":{quoted(table)}'
        if head != f'{{{names},"type":"{message.type}"':
            raise Irregular
        is_wanted = self._selection.wants(database, table)
        subject = _Subject(database, table, message.type, OPS[message.type], is_wanted)
        self._subjects.keep(head, subject, len(head) + _ENTRY)
        return subject

    def _learn(self, subject: _Subject, text: str, value: bytes) -> _Rows:
        """Return a reader of rows like the one in a message. Raises: DecodeError, Irregular."""
        price = text.count(_COLON) * _PRICE_OF_A_COLUMN
        self._try_to_learn(subject, price)
        message = decode(value)
        if not isinstance(message, RowMessage) or not 0 < len(message.data) <= _MAX_COLUMNS:
            raise Irregular
        shape = shape_of(message.data)
        if any(rows.shape == shape for rows in subject.rows):
            raise Irregular  # it is known, and this message differs in something else
        known = self._definitions.columns(subject.database, subject.table)
        wanted = self._selection.columns
        has_old = subject.op == "update"
        rows = _Rows(shape, RowReader(message.data, known, wanted, has_old=has_old).read)
        self._learned(subject, price)
        subject.rows.insert(0, rows)
        del subject.rows[_MAX_READERS:]
        size = len(shape) * (2 if has_old else 1)
        self._subjects.grow(_ENTRY + len(text) + size * _WEIGHT_OF_A_COLUMN)
        return rows

    def _try_to_learn(self, subject: _Subject, price: int) -> None:
        """Count a miss, and try at the first, second, fourth, eighth one. Raises: Irregular."""
        self._credit.earn(self._seen)
        self._seen = 0
        if price > self._credit.left:
            raise Irregular
        subject.misses += 1
        if subject.misses & (subject.misses - 1):
            raise Irregular

    def _learned(self, subject: _Subject, price: int) -> None:
        self._credit.spend(price)
        subject.misses = 0

    def _table(self, subject: _Subject, rows: _Rows, named: str | None, in_key: _Names) -> Table:
        """Return the table with the key that a row, its definition or its Kafka key names."""
        names = None if named is None else tuple(json.loads(named))
        if names is not None:
            "".join(names).encode()  # no lone surrogates
            if len(set(names)) < len(names):
                raise Irregular
        definition = self._definitions.table(subject.database, subject.table)
        defined = None if definition is None else definition.key
        columns = (name for name, _ in rows.shape)
        table = Table(
            subject.table, subject.database, key=key_names(names, defined, in_key, columns)
        )
        if len(rows.tables) >= _MAX_TABLES:
            rows.tables.clear()
        rows.tables[named, in_key] = table
        self._subjects.grow(_ENTRY + len(named or ""))
        return table

    def _names_in_key(self, subject: _Subject, data: bytes) -> tuple[str, ...]:
        """Return the names of the columns in a Kafka key. Raises: one of IRREGULARITIES."""
        text = data.decode()
        for pattern, names in subject.keys:
            if pattern.fullmatch(text):
                return names
        price = len(data) + _PRICE_OF_A_COLUMN
        self._try_to_learn(subject, price)
        key = decode_key(data)
        pattern = key_pattern(key)
        if not pattern.fullmatch(text):
            raise Irregular
        self._learned(subject, price)
        subject.keys.insert(0, (pattern, key.names))
        del subject.keys[_MAX_READERS:]
        self._subjects.grow(_ENTRY + len(text))
        return key.names


def _text(inside: str) -> str:
    return unescaped(inside) if "\\" in inside else inside
