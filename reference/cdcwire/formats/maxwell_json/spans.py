"""Maxwell JSON bytes explained: every byte with its field, its value and its clause.

Punctuation and white space belong to the member that follows them; the closing sign of an object or
array has its own span.
"""

from __future__ import annotations

from collections.abc import Iterator

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import Spans, json_text
from cdcwire.core.json_record import add_parts, expect_object
from cdcwire.core.message import Message, expect_kafka
from cdcwire.core.reader import EventPart, Span, Subject
from cdcwire.core.strict_json import Document, JsonObject, Member, read_json
from cdcwire.formats.maxwell_json.definitions import (
    ColumnsByName,
    Definitions,
    definitions_of,
)
from cdcwire.formats.maxwell_json.message import (
    DEFINITION,
    KEYS,
    PRIMARY_KEY,
    ROW,
    RULES,
    SCHEMA_CHANGES,
)
from cdcwire.formats.maxwell_json.values import UNTYPED, as_read, value_clause
from cdcwire.formats.maxwell_json.wire import ENCRYPTION, ROW_MESSAGE, SCHEMA_MESSAGE

_TOMBSTONE = Subject(0, ("kind", "what", "extra"), "message_key")
_KEY_NOTE = "random, ignored"


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of key and value; none for a part that is not JSON."""
    kafka = expect_kafka(message, RULES.text_clause)
    if kafka.key is not None:
        subject = _TOMBSTONE if kafka.value is None else Subject(0, ("key",))
        key = _Spans(kafka.key, "key")
        yield from key.each(key.of_key(subject))
    if kafka.value is not None:
        value = _Spans(kafka.value, "value")
        yield from value.each(value.of_value(definitions_of(context.tables)))


class _Spans(Spans):
    """The spans of a key or a value."""

    def of_key(self, subject: Subject) -> Iterator[None]:
        try:
            document = read_json(self.data, RULES)
        except DecodeError:  # of a schema change, or an error that decoding reports
            self.add(len(self.data), ("key",), f"{len(self.data)} bytes", KEYS, _KEY_NOTE)
            return
        key = Member("key", document.value, document.start, document.start, document.end)
        add_parts(self, key, ("key",), KEYS, subject)
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
        kind, database, table = (
            member.value if member is not None and isinstance(member.value, str) else ""
            for member in map(found.get, ("type", "database", "table"))
        )
        declared = SCHEMA_MESSAGE if kind in SCHEMA_CHANGES else ROW_MESSAGE
        columns = definitions.columns(database, table)
        self.add(document.start + 1, (), "message", RULES.text_clause, subject=Subject(0))
        for member in found.members:
            known = declared.by_name.get(member.name)
            if member.name == "encrypted":
                self.add(member.end, (member.name,), json_text(member.value), ENCRYPTION)
            elif known is not None and known.form is ROW and isinstance(member.value, JsonObject):
                is_before = member.name == "old" or kind == "delete"
                self._row(member, known.clause, "before" if is_before else "after", columns)
            elif known is not None and known.clause in (DEFINITION, PRIMARY_KEY):
                add_parts(self, member, (member.name,), known.clause, known.subject)
            else:
                declared.add(self, member)
        self.add(document.end, (), "end", RULES.text_clause)

    def _row(self, member: Member, clause: str, side: EventPart, columns: ColumnsByName) -> None:
        row, path = expect_object(member, clause), (member.name,)
        text = f"a row of {len(row.members)}"
        self.add(member.start + 1, path, text, clause, subject=Subject(0, (side,)))
        for each in row.members:
            column = columns.get(each.name)
            own = UNTYPED if column is None else value_clause(as_read(column).type)
            subject = Subject(0, (side,), each.name)
            self.add(each.end, (*path, each.name), json_text(each.value), own, subject=subject)
        self.add(member.end, path, "end", clause)
