"""Schema changes: databases and tables that are created, altered or dropped."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import JsonObject, Member
from cdcwire.formats.maxwell_json.members import (
    INT64_END,
    POSITION,
    TIMESTAMP,
    Members,
    MemberTexts,
    array_of,
    expect_object,
    flag_of,
    integer_of,
    is_null,
    nullable_text,
    object_of,
    optional_integer,
    optional_text,
    required,
    text_of,
    texts_of,
    written_object,
)
from cdcwire.formats.maxwell_json.message import (
    TABLE_CHANGES,
    ColumnDefinition,
    SchemaMessage,
    TableDefinition,
)
from cdcwire.mysql.json_members import unknown_of

DDL = "maxwell-json: schema changes"
DEFINITION = "maxwell-json: definitions"
KNOWN = frozenset(
    {
        *("type", "database", "table", "charset", "old", "def", "ts", "sql"),
        *("position", "gtid", "schema_id"),
    }
)
_WITH_FRACTION = frozenset({"time", "datetime", "timestamp"})
_FRACTION_END = 7  # MySQL keeps up to 6 digits of a second
_DEFINED = {"table-create": ("def",), "table-alter": ("old", "def")}


def read_schema_change(
    kind: str, found: JsonObject, known: Members, data: bytes, end: int
) -> SchemaMessage:
    """Return the schema change in an object. Raises: DecodeError."""
    table = None
    if kind in TABLE_CHANGES:
        table = text_of(required(known, "table", end, DDL), DDL)
    for name in _DEFINED.get(kind, ()):
        required(known, name, end, DDL)
    ts = integer_of(required(known, "ts", end, TIMESTAMP), -INT64_END, INT64_END, TIMESTAMP)
    return SchemaMessage(
        type=kind,
        database=text_of(required(known, "database", end, DDL), DDL),
        ts=ts,
        sql=text_of(required(known, "sql", end, DDL), DDL),
        table=optional_text(known, "table", DDL) if table is None else table,
        charset=nullable_text(known, "charset", DDL),
        charset_is_null=is_null(known, "charset"),
        old=_definition(known, "old", data),
        definition=_definition(known, "def", data),
        position=optional_text(known, "position", POSITION),
        gtid=nullable_text(known, "gtid", POSITION),
        gtid_is_null=is_null(known, "gtid"),
        schema_id=optional_integer(known, "schema_id", POSITION),
        unknown=unknown_of(found, KNOWN, data),
    )


def _definition(known: Members, name: str, data: bytes) -> TableDefinition | None:
    member = known.get(name)
    if member is None:
        return None
    found = object_of(member, DEFINITION)
    with step(name):
        return read_definition(found, member, data)


def read_definition(found: JsonObject, member: Member, data: bytes) -> TableDefinition:
    """Return the definition of a table. Raises: DecodeError."""
    known = found.by_name
    columns_member = required(known, "columns", member.end, DEFINITION)
    key_member = required(known, "primary-key", member.end, DEFINITION)
    with step("columns"):
        array = array_of(columns_member.value, columns_member.start, DEFINITION)
        columns: list[ColumnDefinition] = []
        for index, item in enumerate(array.items):
            start, end = array.places[2 * index : 2 * index + 2]
            with step(index):
                columns.append(_column(expect_object(item, start, DEFINITION), end))
    names = {column.name for column in columns}
    if len(names) < len(columns):
        problem = "a column is duplicated"
        raise DecodeError(problem, columns_member.start, DEFINITION, ("columns",))
    return TableDefinition(
        text_of(required(known, "database", member.end, DEFINITION), DEFINITION),
        text_of(required(known, "table", member.end, DEFINITION), DEFINITION),
        nullable_text(known, "charset", DEFINITION),
        tuple(columns),
        texts_of(key_member, DEFINITION),
        data[member.start : member.end].decode(),
    )


def _column(found: JsonObject, end: int) -> ColumnDefinition:
    known = found.by_name
    labels = known.get("enum-values")
    length = known.get("column-length")
    type_ = text_of(required(known, "type", end, DEFINITION), DEFINITION)
    length_end = _FRACTION_END if type_ in _WITH_FRACTION else INT64_END
    return ColumnDefinition(
        type_,
        text_of(required(known, "name", end, DEFINITION), DEFINITION),
        flag_of(known["signed"], DEFINITION) if "signed" in known else None,
        nullable_text(known, "charset", DEFINITION),
        None if labels is None else texts_of(labels, DEFINITION),
        None if length is None else integer_of(length, 0, length_end, DEFINITION),
    )


def written_schema_change(message: SchemaMessage) -> str:
    """Return the object of a schema change. Raises: EncodeError."""
    given = {"old": message.old, "def": message.definition}
    for name in _DEFINED.get(message.type, ()):
        if given[name] is None:
            raise EncodeError(f"{message.type} needs {name!r}", DDL, (name,))
    if message.type in TABLE_CHANGES and message.table is None:
        raise EncodeError(f"{message.type} needs its table", DDL, ("table",))
    members = MemberTexts()
    members.text("type", message.type)
    members.text("database", message.database)
    members.text("table", message.table)
    members.nullable_text("charset", message.charset, is_null=message.charset_is_null)
    for name, definition in given.items():
        if definition is not None:
            members[name] = definition.text
    members.integer("ts", message.ts, INT64_END, TIMESTAMP)
    members.text("sql", message.sql)
    members.text("position", message.position)
    members.nullable_text("gtid", message.gtid, is_null=message.gtid_is_null)
    members.integer("schema_id", message.schema_id, INT64_END, POSITION)
    members.unknown(message.unknown, KNOWN)
    return written_object(members)
