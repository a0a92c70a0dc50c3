"""Payloads without their schema, read by the pattern of the schema that they would have.

The types of a table's columns come from its definition; those of the other members are the same in
all messages. A payload with other members, or with another order, has no pattern.
"""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.connect import (
    ConnectValue,
    Envelope,
    Field,
    PayloadReader,
    Schema,
    payload_reader,
)
from cdcwire.connect.cdl import OPTIONAL_INT64, OPTIONAL_STRING
from cdcwire.core.compiled import IRREGULARITIES
from cdcwire.core.strict_json import JsonObject, Member
from cdcwire.debezium.connectors import GENERAL
from cdcwire.debezium.schemas import block_schema
from cdcwire.debezium.shapes import OLDEST_SHAPE

_MAX_TABLES = 16
_MAX_LEARNED = 256  # a pattern takes some time to be made
_ROWS = ("before", "after")
_NAMES = ("connector", "db", "schema", "keyspace", "table")  # they choose the definition
_MOMENTS = ("ts_ms", "ts_us", "ts_ns")
_TEXTS = ("version", "connector", "name", "snapshot", "db", "sequence")
_KNOWN: dict[str, Schema] = {
    "op": OPTIONAL_STRING,
    **dict.fromkeys(_MOMENTS, OPTIONAL_INT64),
    "transaction": block_schema(OLDEST_SHAPE),
}
_OF_SOURCE = {*_TEXTS, *_MOMENTS, *(member.name for member in GENERAL.members)}
_NUMBERS = {*_MOMENTS, *(m.name for m in GENERAL.members if m.type != "string")}


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A reader for the payloads of one table, which may have the same columns as another."""

    reader: PayloadReader
    names: tuple[ConnectValue, ...]  # of database, schema and table
    source_at: int
    names_at: tuple[int, ...]  # in the source


class PayloadsAlone:
    """Reads payloads of changes. It learns the tables that it meets; the oldest are forgotten."""

    def __init__(self) -> None:
        self._tables: list[_Table] = []
        self._left = _MAX_LEARNED

    def read(self, data: bytes) -> Envelope | None:
        """Return a payload with its schema; None if its form was not learned."""
        for table in self._tables:
            try:
                payload = table.reader.read(data)
            except IRREGULARITIES:
                continue
            source = payload[table.source_at]
            if tuple([source[at] for at in table.names_at]) == table.names:
                return Envelope(table.reader.schema, payload, False)
        return None

    def learn(self, payload: JsonObject, rows: dict[str, Schema]) -> None:
        """Remember the members of a good payload; ``rows``: what definitions say of its rows."""
        schema = _schema_of(payload, rows) if rows.keys() == set(_ROWS) else None
        source = payload.get("source")
        if schema is None or source is None or not isinstance(source.value, JsonObject):
            return
        inside = [member.name for member in source.value.members]
        names_at = tuple(inside.index(name) for name in _NAMES if name in inside)
        names = tuple(source.value.members[at].value for at in names_at)
        for table in self._tables:
            if table.names == names and table.reader.schema == schema:
                return  # it was learned, and this payload differs in something else
        reader = payload_reader(schema) if self._left > 0 else None
        source_at = schema.index("source")
        if reader is None or source_at is None:
            return
        self._left -= 1
        self._tables.insert(0, _Table(reader, names, source_at, names_at))
        del self._tables[_MAX_TABLES:]


def _schema_of(payload: JsonObject, rows: dict[str, Schema]) -> Schema | None:
    """Return the schema of a payload; None if it has members that are not known.

    None too if a definition has a column twice, because JSON has each member once.
    """
    fields = []
    for member in payload.members:
        schema = rows.get(member.name) if member.name in _ROWS else _KNOWN.get(member.name)
        if member.name == "source" and isinstance(member.value, JsonObject):
            inner = [(part.name, _of_source(part)) for part in member.value.members]
            parts = tuple(Field(name, known) for name, known in inner if known is not None)
            schema = Schema("struct", fields=parts) if len(parts) == len(inner) else None
        if schema is None or len({each.name for each in schema.fields}) < len(schema.fields):
            return None
        fields.append(Field(member.name, schema))
    return Schema("struct", fields=tuple(fields))


def _of_source(member: Member) -> Schema | None:
    """Return the schema of a member of ``source``; None if no connector has it."""
    if member.name not in _OF_SOURCE:
        return None
    if member.value is None:
        return OPTIONAL_INT64 if member.name in _NUMBERS else OPTIONAL_STRING
    # Some members are text with one connector, and a number with another.
    return OPTIONAL_STRING if isinstance(member.value, str) else OPTIONAL_INT64
