"""Events in the text form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

from cdcwire.model.events import (
    NO_EXTRA,
    POSITION_MEMBERS,
    Event,
    Extra,
    Half,
    Image,
    Marker,
    MarkerKind,
    Op,
    Path,
    Position,
    Progress,
    ProgressKind,
    RowChange,
    SchemaChange,
    SchemaChangeKind,
    Sent,
    Table,
)
from cdcwire.model.kinds import BytesType, UnknownType
from cdcwire.model.text.members import (
    Json,
    TextFormError,
    number_of,
    text_member,
    texts_member,
    word_member,
)
from cdcwire.model.text.tables import column_to_json, columns_from_json, table_members
from cdcwire.model.text.values import (
    image_from_json,
    image_to_json,
    typed_value,
    value_members,
)

_POSITION_TEXTS = (
    "tx_id",
    "file",
    "gtid",
    "commit_lsn",
    "change_lsn",
    "commit_scn",
    "scn",
    "rs_id",
)
_POSITION_NUMBERS = tuple(name for name in POSITION_MEMBERS if name not in _POSITION_TEXTS)


def event_to_json(event: Event) -> Json:
    """Return an event. Members that the event does not specify are left out."""
    match event:
        case RowChange():
            document: dict[str, Json] = {"kind": "row", "op": event.op}
            document.update(table_members(event.table))
            if event.table.key is not None:
                document["key"] = list(event.table.key)
            document.update(_position_members(event.position))
            for name in ("half", "sent"):
                if getattr(event, name) is not None:
                    document[name] = getattr(event, name)
            for name, image in (("before", event.before), ("after", event.after)):
                document[name] = None if image is None else image_to_json(image)
        case SchemaChange():
            document = {"kind": "ddl", "what": event.what}
            if event.code is not None:
                document["code"] = str(event.code)
            document.update(table_members(event.table))
            if event.table is not None and event.table.columns is not None:
                document["columns"] = [column_to_json(c) for c in event.table.columns]
            document.update(_position_members(event.position))
            if event.query is not None:
                document["query"] = event.query
        case Progress():
            document = {"kind": "progress", "what": event.what, **_position_members(event.position)}
        case Marker():
            document = {"kind": "marker", "what": event.what}
            if event.id is not None:
                document["id"] = event.id
            document.update(_position_members(event.position))
    if event.extra:
        document["extra"] = {
            name: value_members(BytesType(), value) if isinstance(value, bytes) else value
            for name, value in event.extra.items()
        }
    return document


def _position_members(position: Position) -> dict[str, Json]:
    members = {
        name: str(value)
        for name in POSITION_MEMBERS
        if (value := getattr(position, name)) is not None
    }
    return {"position": members} if members else {}


def event_from_json(document: Json, tables: Iterable[Table] = (), path: Path = ()) -> Event:
    """Return the event of a text form.

    ``tables`` complete what the event leaves out: types, sources, roles, the order of columns.
    Raises: TextFormError.
    """
    if not isinstance(document, Mapping):
        raise TextFormError("an event is an object", path)
    position = _position_from_json(document.get("position") or {}, (*path, "position"))
    extra = _extra_from_json(document.get("extra"), (*path, "extra"))
    match document.get("kind"):
        case "row":
            return _row_from_json(document, tables, position, extra, path)
        case "ddl":
            return _schema_change_from_json(document, position, extra, path)
        case "progress":
            what = word_member(document, "what", get_args(ProgressKind), path)
            return Progress(what, position, extra)
        case "marker":
            what = word_member(document, "what", get_args(MarkerKind), path)
            return Marker(what, text_member(document, "id", path), position, extra)
        case _:
            problem = "kind: expected row, ddl, progress or marker"
            raise TextFormError(problem, (*path, "kind"))


def _row_from_json(
    document: Mapping[str, Json],
    tables: Iterable[Table],
    position: Position,
    extra: Extra,
    path: Path,
) -> RowChange:
    op = word_member(document, "op", get_args(Op), path)
    named = Table(
        text_member(document, "table", path),
        text_member(document, "schema", path),
        text_member(document, "database", path),
    )
    known = _find(tables, named)
    key = texts_member(document, "key", path)
    names = key if key is not None else known.key if known else None
    columns = known.columns if known else None
    images = [
        None
        if document.get(side) is None
        else image_from_json(document[side], columns, (*path, side), names or ())
        for side in ("before", "after")
    ]
    before, after = images
    return RowChange(
        replace(named, key=names),
        op,
        _with_types_of(before, after),
        _with_types_of(after, before),
        position,
        word_member(document, "half", get_args(Half), path) if document.get("half") else None,
        word_member(document, "sent", get_args(Sent), path) if document.get("sent") else None,
        extra,
    )


def _with_types_of(image: Image | None, other: Image | None) -> Image | None:
    """Return an image whose NULLs of unknown type have the type that they have in the other one."""
    if image is None or other is None:
        return image
    if not any(isinstance(column.type, UnknownType) for column in image.columns):
        return image
    known = {column.name: column for column in other.columns}
    columns = tuple(
        known.get(column.name, column) if value is None and column.type == UnknownType() else column
        for column, value in zip(image.columns, image.values, strict=True)
    )
    return Image(columns, image.values)


def _find(tables: Iterable[Table], named: Table) -> Table | None:
    for table in tables:
        same_schema = table.schema == named.schema or table.schema is None
        if table.name == named.name and same_schema:
            return table
    return None


def _schema_change_from_json(
    document: Mapping[str, Json], position: Position, extra: Extra, path: Path
) -> SchemaChange:
    what: SchemaChangeKind = word_member(document, "what", get_args(SchemaChangeKind), path)
    code = document.get("code")
    table: Table | None = Table(
        text_member(document, "table", path),
        text_member(document, "schema", path),
        text_member(document, "database", path),
        columns_from_json(document["columns"], None, path) if "columns" in document else None,
    )
    return SchemaChange(
        what,
        text_member(document, "query", path),
        None if code is None else number_of(str(code), (*path, "code")),
        None if table == Table(None) else table,
        position,
        extra,
    )


def _position_from_json(document: Json, path: Path) -> Position:
    if not isinstance(document, Mapping):
        raise TextFormError("a position is an object", path)
    values: dict[str, Any] = {
        name: number_of(str(document[name]), (*path, name))
        for name in _POSITION_NUMBERS
        if document.get(name) is not None
    }
    values.update((name, text_member(document, name, path)) for name in _POSITION_TEXTS)
    return Position(**values)


def _extra_from_json(document: Json, path: Path) -> Extra:
    if not document:
        return NO_EXTRA
    if not isinstance(document, Mapping):
        raise TextFormError("extra is an object", path)
    extra: dict[str, str | bytes | None] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            extra[name] = typed_value(BytesType(), value, (*path, name))[1]
        elif value is None or isinstance(value, str):
            extra[name] = value
        else:
            raise TextFormError("it is text, null or bytes", (*path, name))
    return extra
