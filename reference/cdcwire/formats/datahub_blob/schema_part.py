"""The member ``schema``: columns, primary key and source.

The op decides which of them are required. Source: datahub-blob, "columns", "primary key", "source".
"""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import JsonValue, json_kind
from cdcwire.datahub.fields import is_unicode
from cdcwire.datahub.ops import QUERY, Op
from cdcwire.datahub.streamx import STREAMX_TYPES, BlobColumn, BlobMessage, Source, streamx_type
from cdcwire.formats.datahub_blob.members import Members, inner, items_of, members_of, text_of

CLAUSE_COLUMNS = "datahub-blob: columns"
CLAUSE_KEY = "datahub-blob: primary key"
CLAUSE_SOURCE = "datahub-blob: source"

# Members of source, the fields of ``Source`` for them, in the order of writing.
SOURCE_MEMBERS = (
    ("dbName", "db_name"),
    ("dbType", "db_type"),
    ("dbVersion", "db_version"),
    ("schemaName", "schema_name"),
    ("tableName", "table_name"),
)
_NEEDED = ("dbType", "dbName", "tableName")


def read_columns(schema: Members, op: Op) -> tuple[BlobColumn, ...] | None:
    """Return the declared columns, None if there are none. Raises: DecodeError."""
    if op.group in ("marker", "heartbeat"):
        schema.refuse("dataColumn", CLAUSE_COLUMNS, f"{op.name} has no columns")
        return None
    member = schema.get("dataColumn")
    if member is None:
        if op.group == "row":
            schema.need("dataColumn", CLAUSE_COLUMNS)
        return None
    listed = items_of(member, CLAUSE_COLUMNS)
    if not listed.items:
        raise DecodeError("no column is declared", member.start, CLAUSE_COLUMNS, ("dataColumn",))
    columns: list[BlobColumn] = []
    known: set[str] = set()
    for index, item in enumerate(listed.items):
        start, end = listed.places[2 * index : 2 * index + 2]
        try:
            column = _read_column(item, start, end)
            if column.name in known:
                problem = f"column {column.name!r:.60} is declared twice"
                raise DecodeError(problem, start, CLAUSE_COLUMNS)
        except DecodeError as error:
            error.path = ("dataColumn", index, *error.path)
            raise
        known.add(column.name)
        columns.append(column)
    return tuple(columns)


def _read_column(item: JsonValue, start: int, end: int) -> BlobColumn:
    members = members_of(item, start, end, CLAUSE_COLUMNS)
    name = text_of(members.need("name", CLAUSE_COLUMNS), CLAUSE_COLUMNS)
    if not name:
        at = members.found["name"].start
        raise DecodeError("a column without a name", at, CLAUSE_COLUMNS, ("name",))
    member = members.need("type", CLAUSE_COLUMNS)
    written = text_of(member, CLAUSE_COLUMNS)
    type_ = streamx_type(written)
    if type_ is None:
        problem = f"type {written!r:.40} is not one of {', '.join(STREAMX_TYPES)}"
        raise DecodeError(problem, member.start, CLAUSE_COLUMNS, ("type",))
    return BlobColumn(name, type_)


def read_primary_key(
    schema: Members, columns: tuple[BlobColumn, ...] | None
) -> tuple[str, ...] | None:
    """Return the names of the key, None if the member is missing. Raises: DecodeError."""
    member = schema.get("primaryKey")
    if member is None:
        return None
    listed = items_of(member, CLAUSE_KEY)
    declared = None if columns is None else {column.name for column in columns}
    names: dict[str, None] = {}
    for index, item in enumerate(listed.items):
        at = listed.places[2 * index]
        path = ("primaryKey", index)
        if not isinstance(item, str) or not item:
            shown = "empty" if item == "" else json_kind(item)
            raise DecodeError(f"a name is expected, not {shown}", at, CLAUSE_KEY, path)
        if item in names:
            raise DecodeError(f"{item!r:.60} is duplicated", at, CLAUSE_KEY, path)
        if declared is not None and item not in declared:
            raise DecodeError(f"{item!r:.60} is not declared", at, CLAUSE_KEY, path)
        names[item] = None
    return tuple(names)


def read_source(schema: Members, op: Op) -> Source | None:
    """Return the source, None if it is missing. Raises: DecodeError."""
    is_needed = op.group in ("row", "ddl")
    member = schema.need("source", CLAUSE_SOURCE) if is_needed else schema.get("source")
    if member is None:
        return None
    members = inner(member, CLAUSE_SOURCE)
    with step("source"):
        if is_needed and op.name != QUERY:
            for name in _NEEDED:
                members.need(name, CLAUSE_SOURCE)
        return Source(*(members.text(name, CLAUSE_SOURCE) for name, _ in SOURCE_MEMBERS))


# ---- writing ---------------------------------------------------------------------------------


def schema_of(message: BlobMessage, op: Op) -> dict[str, object]:
    """Return the member as it is written. Raises: EncodeError."""
    found: dict[str, object] = {}
    if message.columns is not None:
        found["dataColumn"] = _columns(message.columns, op)
    elif op.group == "row":
        raise EncodeError("a row declares its columns", CLAUSE_COLUMNS, ("dataColumn",))
    source = _source(message.source, op)
    if source is not None:
        found["source"] = source
    if message.primary_key is not None:
        found["primaryKey"] = _primary_key(message, op)
    return found


def _columns(columns: tuple[BlobColumn, ...], op: Op) -> list[dict[str, str]]:
    path = ("dataColumn",)
    if op.group in ("marker", "heartbeat"):
        raise EncodeError(f"{op.name} has no columns", CLAUSE_COLUMNS, path)
    names = [column.name for column in columns]
    if not names or not all(names) or len(set(names)) < len(names):
        problem = "columns need names, each its own, and one column at least"
        raise EncodeError(problem, CLAUSE_COLUMNS, path)
    if not all(map(is_unicode, names)):
        raise EncodeError("a name has a lone surrogate", CLAUSE_COLUMNS, path)
    return [{"name": column.name, "type": column.type} for column in columns]


def _source(source: Source | None, op: Op) -> dict[str, str] | None:
    is_needed = op.group in ("row", "ddl")
    if source is None:
        if is_needed:
            raise EncodeError(f"{op.name} needs its source", CLAUSE_SOURCE, ("source",))
        return None
    found: dict[str, str] = {}
    for name, field in SOURCE_MEMBERS:
        value: str | None = getattr(source, field)
        if value is not None:
            if not is_unicode(value):
                problem = "an unpaired surrogate in the text"
                raise EncodeError(problem, CLAUSE_SOURCE, ("source", name))
            found[name] = value
        elif is_needed and name in _NEEDED and op.name != QUERY:
            raise EncodeError(f"{op.name} needs {name}", CLAUSE_SOURCE, ("source", name))
    return found


def _primary_key(message: BlobMessage, op: Op) -> list[str]:
    names = list(message.primary_key or ())
    path = ("primaryKey",)
    if op.group in ("marker", "heartbeat"):
        raise EncodeError(f"{op.name} has no primary key", CLAUSE_KEY, path)
    if not all(names) or len(set(names)) < len(names) or not all(map(is_unicode, names)):
        raise EncodeError("the names of a key are texts, each once", CLAUSE_KEY, path)
    declared = {column.name for column in message.columns or ()}
    for name in names:
        if message.columns is not None and name not in declared:
            raise EncodeError(f"{name!r:.60} is not declared", CLAUSE_KEY, path)
    return names
