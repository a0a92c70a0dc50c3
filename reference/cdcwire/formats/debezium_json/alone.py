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
from cdcwire.core.strict_json import JsonObject
from cdcwire.formats.debezium_json.schemas import block_schema

_MAX_TABLES = 16
_MAX_LEARNED = 256  # a pattern takes some time to be made
_ROWS = ("before", "after")
_TEXTS = ("version", "connector", "name", "snapshot", "db", "sequence", "schema", "table", "op")
_NUMBERS = ("ts_ms", "ts_us", "ts_ns", "txId", "lsn", "xmin")
_KNOWN: dict[str, Schema] = {
    **dict.fromkeys(_TEXTS, OPTIONAL_STRING),
    **dict.fromkeys(_NUMBERS, OPTIONAL_INT64),
    "transaction": block_schema("debezium-1.4"),
}


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A reader for the payloads of one table, which may have the same columns as another."""

    reader: PayloadReader
    schema: ConnectValue
    name: ConnectValue
    places: tuple[int, int, int]  # of source, and of schema and table in it


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
            source_at, schema_at, name_at = table.places
            source = payload[source_at]
            if (source[schema_at], source[name_at]) == (table.schema, table.name):
                return Envelope(table.reader.schema, payload, False)
        return None

    def learn(self, payload: JsonObject, rows: dict[str, Schema]) -> None:
        """Remember the members of a good payload; ``rows``: what definitions say of its rows."""
        schema = _schema_of(payload, rows) if rows.keys() == set(_ROWS) else None
        source = payload.get("source")
        if schema is None or source is None or not isinstance(source.value, JsonObject):
            return
        inside = [member.name for member in source.value.members]
        if not {"schema", "table"}.issubset(inside):
            return
        names = [source.value.members[inside.index(name)].value for name in ("schema", "table")]
        for table in self._tables:
            if [table.schema, table.name] == names and table.reader.schema == schema:
                return  # it was learned, and this payload differs in something else
        reader = payload_reader(schema) if self._left > 0 else None
        source_at = schema.index("source")
        if reader is None or source_at is None:
            return
        self._left -= 1
        places = source_at, inside.index("schema"), inside.index("table")
        self._tables.insert(0, _Table(reader, names[0], names[1], places))
        del self._tables[_MAX_TABLES:]


def _schema_of(payload: JsonObject, rows: dict[str, Schema]) -> Schema | None:
    """Return the schema of a payload; None if it has members that are not known.

    None too if a definition has a column twice, because JSON has each member once.
    """
    fields = []
    for member in payload.members:
        schema = rows.get(member.name) if member.name in _ROWS else _KNOWN.get(member.name)
        if member.name == "source" and isinstance(member.value, JsonObject):
            inner = [(part.name, _KNOWN.get(part.name)) for part in member.value.members]
            parts = tuple(Field(name, known) for name, known in inner if known is not None)
            schema = Schema("struct", fields=parts) if len(parts) == len(inner) else None
        if schema is None or len({each.name for each in schema.fields}) < len(schema.fields):
            return None
        fields.append(Field(member.name, schema))
    return Schema("struct", fields=tuple(fields))
