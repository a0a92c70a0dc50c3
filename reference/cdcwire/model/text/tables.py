"""Table and column definitions in the text form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import get_args

from cdcwire.model.events import Expression, Path, Table
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import ABSENT, Column, Role, Type, Value
from cdcwire.model.text.members import (
    Json,
    TextFormError,
    number_of,
    text_member,
    texts_member,
)
from cdcwire.model.text.values import kind_of, value_from_json, value_to_json


def table_to_json(table: Table) -> Json:
    """Return a table's definition."""
    document = table_members(table)
    if table.version is not None:
        document["version"] = str(table.version)
    if table.key is not None:
        document["key"] = list(table.key)
    if table.columns is not None:
        document["columns"] = [column_to_json(column) for column in table.columns]
    return document


def table_members(table: Table | None) -> dict[str, Json]:
    """Return the members that name a table, without absent ones."""
    if table is None:
        return {}
    names = {"database": table.database, "schema": table.schema, "table": table.name}
    return {name: value for name, value in names.items() if value is not None}


def column_to_json(column: Column) -> Json:
    """Return a column's definition."""
    document: dict[str, Json] = {"name": column.name, "type": kind_text(column.type)}
    form = getattr(column.type, "form", None)
    if form is not None and form not in ("text", "index"):
        document["form"] = form
    zone = getattr(column.type, "zone", None)
    if zone is not None:
        document["zone"] = zone
    if column.source is not None:
        document["source"] = column.source
    if column.nullable is not None:
        document["nullable"] = column.nullable
    if column.roles:
        document["roles"] = sorted(column.roles)
    if isinstance(column.default, Expression):
        document["default"] = {"expression": column.default.sql}
    elif column.default is not ABSENT:
        plain = column.default is None or isinstance(column.default, str)
        document["default"] = (
            column.default if plain else value_to_json(column.type, column.default)
        )
    if column.id is not None:
        document["id"] = str(column.id)
    return document


def table_from_json(document: Json, path: Path = ()) -> Table:
    """Return the table of a definition. Raises: TextFormError."""
    if not isinstance(document, Mapping):
        raise TextFormError("a table is an object", path)
    key = texts_member(document, "key", path)
    columns = document.get("columns")
    version = document.get("version")
    return Table(
        text_member(document, "table", path),
        text_member(document, "schema", path),
        text_member(document, "database", path),
        None if columns is None else columns_from_json(columns, key, path),
        key,
        None if version is None else number_of(str(version), (*path, "version")),
    )


def columns_from_json(
    documents: Json, key: Collection[str] | None, path: Path
) -> tuple[Column, ...]:
    """Return the columns of a table's definition.

    If no column has the role ``handle``, the columns named in ``key`` get it.
    Raises: TextFormError.
    """
    if not isinstance(documents, list):
        raise TextFormError("the columns are a list", (*path, "columns"))
    columns = [
        _column_from_json(document, (*path, "columns", index))
        for index, document in enumerate(documents)
    ]
    if key and not any("handle" in column.roles for column in columns):
        columns = [_with_handle(column) if column.name in key else column for column in columns]
    return tuple(columns)


def _with_handle(column: Column) -> Column:
    return replace(column, roles=column.roles | {"handle"})


def _column_from_json(document: Json, path: Path) -> Column:
    name = document.get("name") if isinstance(document, Mapping) else None
    if not isinstance(name, str):
        raise TextFormError("a column has a name", path)
    kind = kind_of(document.get("type", "unknown"), path)
    for member in ("form", "zone"):
        if member in document:
            if not hasattr(kind, member):
                raise TextFormError(f"{kind_text(kind)} has no {member}", (*path, member))
            kind = replace(kind, **{member: text_member(document, member, path)})  # type: ignore[arg-type]  # hasattr was asked
    nullable = document.get("nullable")
    if nullable is not None and not isinstance(nullable, bool):
        raise TextFormError("nullable is true or false", (*path, "nullable"))
    roles = texts_member(document, "roles", path) or ()
    if not set(roles) <= set(get_args(Role)):
        raise TextFormError(f"a role is one of {', '.join(get_args(Role))}", (*path, "roles"))
    number = document.get("id")
    return Column(
        name,
        kind,
        text_member(document, "source", path),
        nullable,
        _default_from_json(document, kind, (*path, "default")),
        frozenset(role for role in get_args(Role) if role in roles),
        None if number is None else number_of(str(number), (*path, "id")),
    )


def _default_from_json(document: Mapping[str, Json], kind: Type, path: Path) -> Value:
    if "default" not in document:
        return ABSENT
    default = document["default"]
    if isinstance(default, Mapping) and "expression" in default:
        return Expression(str(default["expression"]))
    if default is None or isinstance(default, str):
        return default
    return value_from_json(default, kind, path)[1]
