"""Messages of a schema change topic, and those that TiCDC sends among the rows.

``tableChanges`` gives the table after a statement. A rename is one change, with both names or the
new one. The kind of a change follows from the words of its statement, because the type of a change
only distinguishes CREATE, ALTER and DROP. Without a statement the type decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from cdcwire.connect.schema import RULES
from cdcwire.connect.schemaless import json_text
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Number, read_json
from cdcwire.debezium.connectors import SourceOf, source_of
from cdcwire.debezium.declared_types import declared_column, has_own_types
from cdcwire.debezium.message import Ddl, TableChange
from cdcwire.model.events import Extra, SchemaChangeKind, Table
from cdcwire.model.kinds import Column, EnumType, SetType, UnknownType
from cdcwire.mysql.declared import parse_declared, type_of_declared

MEMBERS = frozenset(("source", "ts_ms", "databaseName", "schemaName", "ddl", "tableChanges"))
_COMMENTS = re.compile(r"/\*.*?\*/|--[^\n]*(?:\n|$)", re.DOTALL)
_NAME = re.compile(r'"((?:[^"]|"")*)"')
_WORDS: dict[SchemaChangeKind, str] = {
    "rename": r"\s*(?:RENAME\s+TABLE|ALTER\s+TABLE\s+\S+\s+RENAME\s+(?:TO|AS)\s)",
    "cindex": r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:UNIQUE\s+|FULLTEXT\s+|SPATIAL\s+)?INDEX\b",
    "dindex": r"\s*DROP\s+INDEX\b",
    "truncate": r"\s*TRUNCATE\b",
    "create": r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMPORARY\s+)?(?:TABLE|DATABASE|SCHEMA)\b",
    "erase": r"\s*DROP\s+(?:TEMPORARY\s+)?(?:TABLE|DATABASE|SCHEMA)\b",
    "alter": r"\s*ALTER\s+TABLE\b",
}
_BY_WORDS: dict[SchemaChangeKind, re.Pattern[str]] = {
    what: re.compile(words, re.IGNORECASE) for what, words in _WORDS.items()
}
_BY_TYPE: dict[str, SchemaChangeKind] = {"CREATE": "create", "ALTER": "alter", "DROP": "erase"}


def kind_of(ddl: Ddl, change: TableChange | None) -> SchemaChangeKind:
    """Return what a statement does; without one, what its change of a table is."""
    if ddl.query is not None:
        words = _COMMENTS.sub(" ", ddl.query[:2000])
        for what, pattern in _BY_WORDS.items():
            if pattern.match(words):
                return what
        return "query"
    return "query" if change is None else _BY_TYPE.get(change.type, "query")


def table_of_change(ddl: Ddl, change: TableChange | None) -> Table | None:
    """Return the table of a change; of a whole database one without name."""
    source = ddl.source
    declared = source_of(source.connector)
    names = () if change is None else tuple(_NAME.findall(change.id))
    parts = tuple(name.replace('""', '"') for name in names)
    if change is None or not parts:
        schema = (ddl.database if declared.schema_member == "db" else ddl.schema) or None
        database = ddl.database if declared.has_database and schema else None
        if source.table:
            return Table(source.table, schema, database)
        return None if schema is None else Table(None, schema, database)
    depth = 3 if declared.has_database and len(parts) % 3 == 0 else 2
    *levels, name = parts[-depth:] if len(parts) >= depth else parts
    schema = levels[-1] if levels else ddl.schema or ddl.database
    database = None
    if declared.has_database:
        database = levels[0] if len(levels) > 1 else ddl.database or source.db or None
    return Table(name, schema, database, change.columns, change.key)


def table_changes(value: JsonValue, source: SourceOf) -> Iterator[TableChange]:
    """Yield the changes of ``tableChanges``; members of another form are left out."""
    if not isinstance(value, JsonArray):
        return
    for item in value.items:
        if not isinstance(item, JsonObject):
            continue
        kind, name, table = (_member(item, each) for each in ("type", "id", "table"))
        if not isinstance(kind, str) or not isinstance(name, str):
            continue
        columns: tuple[Column, ...] | None = None
        key: tuple[str, ...] | None = None
        if isinstance(table, JsonObject):
            listed = _member(table, "columns")
            names = _member(table, "primaryKeyColumnNames")
            key = ()
            if isinstance(names, JsonArray):
                key = tuple(each for each in names.items if isinstance(each, str))
            if isinstance(listed, JsonArray):
                found = [
                    _column(each, source) for each in listed.items if isinstance(each, JsonObject)
                ]
                columns = tuple(each for each in found if each is not None)
        yield TableChange(kind, name, columns, key, json_text(item))


def sent_table(what: SchemaChangeKind, table: Table | None) -> str | None:
    """Return the ``table`` that the source of a statement mostly has; that of an index is empty."""
    if what in ("cindex", "dindex"):
        return ""
    return None if table is None else table.name


def known_changes(extra: Extra, clause: str) -> JsonArray | None:
    """Return the ``tableChanges`` that an event was read with; None without them.

    Raises: EncodeError.
    """
    text = extra.get("table_changes")
    if text is None:
        return None
    try:
        changes = read_json(text.encode() if isinstance(text, str) else text, RULES).value
    except (DecodeError, UnicodeEncodeError):
        changes = None
    if not isinstance(changes, JsonArray):
        raise EncodeError("it is not a JSON list", clause, ("extra", "table_changes"))
    return changes


def _column(item: JsonObject, source: SourceOf) -> Column | None:
    name, type_name = _member(item, "name"), _member(item, "typeName")
    if not isinstance(name, str) or not isinstance(type_name, str):
        return None
    length, scale = (_number(_member(item, each)) for each in ("length", "scale"))
    optional = _member(item, "optional")
    nullable = optional if isinstance(optional, bool) else None
    if length is not None and length < 0:
        length = None
    if has_own_types(source):
        return replace(declared_column(source, name, type_name, length, scale), nullable=nullable)
    labels = _member(item, "enumValues")
    if labels is None and type_name.upper() in ("ENUM", "SET"):  # as before 2.0
        kind = EnumType() if type_name.upper() == "ENUM" else SetType()
        return Column(name, kind, type_name.lower(), nullable)
    text = _declared_text(type_name, length, scale, labels)
    try:
        declared = parse_declared(text)
    except ValueError:
        return Column(name, UnknownType(), type_name, nullable)
    return Column(name, type_of_declared(declared), text.lower(), nullable)


def _declared_text(type_name: str, length: int | None, scale: int | None, labels: JsonValue) -> str:
    """Return a type as MySQL declares it: the size comes before UNSIGNED."""
    base, _, rest = type_name.partition(" ")
    if isinstance(labels, JsonArray) and labels.items:
        size = ",".join(label for label in labels.items if isinstance(label, str))
        return f"{base}({size})"
    if length is None:
        return type_name
    size = f"{length}" if scale is None else f"{length},{scale}"
    return f"{base}({size}){' ' + rest if rest else ''}"


_is_size = re.compile(r"-?[0-9]{1,9}", re.ASCII).fullmatch


def _number(value: JsonValue) -> int | None:
    return int(value.text) if isinstance(value, Number) and _is_size(value.text) else None


def _member(item: JsonObject, name: str) -> JsonValue:
    member = item.get(name)
    return None if member is None else member.value
