"""Maxwell JSON bytes explained: every byte with its field, its value and its clause.

Punctuation and white space belong to the member that follows them; the closing sign of an object or
array has its own span.
"""

from __future__ import annotations

from collections.abc import Iterator

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message, expect_kafka
from cdcwire.core.reader import EventPart, Span, Subject
from cdcwire.core.spans import Spans, json_text, with_instant
from cdcwire.core.strict_json import (
    Document,
    JsonArray,
    JsonObject,
    JsonValue,
    Member,
    Number,
    read_json,
)
from cdcwire.formats.maxwell_json.ddl import DDL, DEFINITION
from cdcwire.formats.maxwell_json.definitions import (
    NO_COLUMNS,
    ColumnsByName,
    Definitions,
    definitions_of,
)
from cdcwire.formats.maxwell_json.members import (
    FIELDS,
    MS_PER_SECOND,
    POSITION,
    RULES,
    TIMESTAMP,
    TYPES,
)
from cdcwire.formats.maxwell_json.message import SCHEMA_CHANGES
from cdcwire.formats.maxwell_json.rows import DATA, KEYS, OLD, PRIMARY_KEY
from cdcwire.formats.maxwell_json.values import UNTYPED, as_read, value_clause
from cdcwire.formats.maxwell_json.wire import ENCRYPTION, QUERY, TRANSACTION
from cdcwire.model.paths import Path

UNKNOWN = "maxwell-json: unknown members"
_CLAUSES = {
    **dict.fromkeys(("database", "table", "comment"), FIELDS),
    **dict.fromkeys(("xid", "xoffset", "commit"), TRANSACTION),
    **dict.fromkeys(("position", "gtid", "server_id", "thread_id", "schema_id"), POSITION),
    **dict.fromkeys(("ts", "push_ts"), TIMESTAMP),
    **dict.fromkeys(("primary_key", "primary_key_columns"), PRIMARY_KEY),
    "type": TYPES,
    "query": QUERY,
    "data": DATA,
    "old": OLD,
    "encrypted": ENCRYPTION,
}
_DDL_CLAUSES = {
    **_CLAUSES,
    **dict.fromkeys(("database", "table", "charset", "sql"), DDL),
    **dict.fromkeys(("old", "def"), DEFINITION),
}
_WHOLE = Subject(0)
_SUBJECTS = {
    "database": Subject(0, ("schema",)),
    "table": Subject(0, ("table",)),
    "type": Subject(0, ("kind", "op", "what")),
    "ts": Subject(0, ("commit_ms",)),
    "xid": Subject(0, ("tx_id",)),
    "xoffset": Subject(0, ("tx_order",)),
    "sql": Subject(0, ("query",)),
    "position": Subject(0, ("extra",), "binlog_position"),
    "primary_key_columns": Subject(0, ("key",)),
    **{
        name: Subject(0, ("extra",), name)
        for name in ("comment", "commit", "gtid", "push_ts", "query", "schema_id")
    },
    **{name: Subject(0, ("extra",), name) for name in ("server_id", "thread_id")},
}
_TOMBSTONE = Subject(0, ("kind", "what", "extra"), "message_key")
_UNKNOWN_NOTE = "unknown, ignored"
_KEY_NOTE = "random, ignored"
_MAX_TIME_DIGITS = 20


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of key and value; none for a part that is not JSON."""
    kafka = expect_kafka(message, "maxwell-json: json text")
    if kafka.key is not None:
        subject = _TOMBSTONE if kafka.value is None else Subject(0, ("key",))
        key = _Spans(kafka.key, "key")
        yield from key.each(key.of_key(subject))
    if kafka.value is not None:
        value = _Spans(kafka.value, "value")
        yield from value.each(value.of_value(definitions_of(context.tables)))


class _Spans(Spans):
    """The spans of a key or a value."""

    def __init__(self, data: bytes, part: str) -> None:
        super().__init__(data, part)
        self.clauses = _CLAUSES
        self.columns: ColumnsByName = NO_COLUMNS
        self.is_delete = False

    def of_key(self, subject: Subject) -> Iterator[None]:
        try:
            document = read_json(self.data, RULES)
        except DecodeError:  # of a schema change, or an error that decoding reports
            self.add(len(self.data), ("key",), f"{len(self.data)} bytes", KEYS, _KEY_NOTE)
            return
        if isinstance(document.value, JsonObject):
            self._object(document.value, ("key",), document.start, document.end, KEYS, subject)
        else:
            self._items(document.value, ("key",), document.start, document.end, KEYS, subject)
        yield
        self._end()

    def of_value(self, definitions: Definitions) -> Iterator[None]:
        document = read_json(self.data, RULES)
        if isinstance(document.value, JsonObject):
            self._message(document.value, document, definitions)
        else:
            self.add(document.end, (), json_text(document.value), RULES.text_clause)
        yield
        self._end()

    def _end(self) -> None:
        if self.offset < len(self.data):
            self.add(len(self.data), (), "white space", RULES.text_clause)

    def _message(self, found: JsonObject, document: Document, definitions: Definitions) -> None:
        known = found.by_name
        texts = [
            member.value if member is not None and isinstance(member.value, str) else ""
            for member in map(known.get, ("type", "database", "table"))
        ]
        is_ddl = texts[0] in SCHEMA_CHANGES
        self.clauses = _DDL_CLAUSES if is_ddl else _CLAUSES
        self.columns = definitions.columns(texts[1], texts[2])
        self.is_delete = texts[0] == "delete"
        self.add(document.start + 1, (), "message", RULES.text_clause, subject=_WHOLE)
        for member in found.members:
            clause = self.clauses.get(member.name, UNKNOWN)
            path, value = (member.name,), member.value
            if clause in (DATA, OLD) and isinstance(value, JsonObject):
                self._row(value, path, member, clause)
            elif clause == DEFINITION and isinstance(value, JsonObject):
                self._object(value, path, member.start, member.end, clause)
            elif clause == PRIMARY_KEY:
                subject = _SUBJECTS.get(member.name)
                self._items(value, path, member.start, member.end, clause, subject)
            else:
                note = _UNKNOWN_NOTE if clause == UNKNOWN else ""
                text = _member_text(member, is_ddl=is_ddl)
                kind = value if member.name == "type" else None
                subject = _SUBJECTS.get(member.name)
                self.add(member.end, path, text, clause, note, value=kind, subject=subject)
        self.add(document.end, (), "end", RULES.text_clause)

    def _row(self, row: JsonObject, path: Path, member: Member, clause: str) -> None:
        side: EventPart = "before" if clause == OLD or self.is_delete else "after"
        text = f"a row of {len(row.members)}"
        self.add(member.start + 1, path, text, clause, subject=Subject(0, (side,)))
        for each in row.members:
            column = self.columns.get(each.name)
            own = UNTYPED if column is None else value_clause(as_read(column).type)
            subject = Subject(0, (side,), each.name)
            self.add(each.end, (*path, each.name), json_text(each.value), own, subject=subject)
        self.add(member.end, path, "end", clause)

    def _object(
        self,
        found: JsonObject,
        path: Path,
        start: int,
        end: int,
        clause: str,
        subject: Subject | None = None,
    ) -> None:
        self.add(start + 1, path, f"{len(found.members)} members", clause, subject=subject)
        for each in found.members:
            inner = (*path, each.name)
            if isinstance(each.value, JsonArray) and clause == DEFINITION:
                self._items(each.value, inner, each.start, each.end, clause)
            else:
                self.add(each.end, inner, json_text(each.value), clause)
        self.add(end, path, "end", clause)

    def _items(
        self,
        value: JsonValue,
        path: Path,
        start: int,
        end: int,
        clause: str,
        subject: Subject | None = None,
    ) -> None:
        if not isinstance(value, JsonArray):
            self.add(end, path, json_text(value), clause, subject=subject)
            return
        self.add(start + 1, path, f"{len(value.items)} items", clause, subject=subject)
        for index, item in enumerate(value.items):
            first, last = value.places[2 * index : 2 * index + 2]
            if isinstance(item, JsonObject):
                self._object(item, (*path, index), first, last, clause)
            else:
                self.add(last, (*path, index), json_text(item), clause)
        self.add(end, path, "end", clause)


def _member_text(member: Member, *, is_ddl: bool) -> str:
    """Return a member's value, with the instant that ``ts`` means."""
    number = member.value
    is_time = member.name == "ts" and isinstance(number, Number) and number.is_integer
    if not is_time or not isinstance(number, Number) or number.digits > _MAX_TIME_DIGITS:
        return json_text(member.value)
    ms = int(number.text) * (1 if is_ddl else MS_PER_SECOND)
    return with_instant(number.text, ms)
