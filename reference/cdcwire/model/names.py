"""Names of tables, which differ where tables differ."""

from __future__ import annotations

from typing import TypeAlias

from cdcwire.model.events import Table

TableName: TypeAlias = "tuple[str | None, str]"
"""Schema and table. With a database the schema is ``DATABASE.SCHEMA``, see ``full_schema``."""


def full_schema(database: str | None, schema: str | None) -> str | None:
    """Return a schema with its database before it, where there is one above the schema.

    Examples:
        >>> full_schema("crm", "public"), full_schema(None, "public"), full_schema("a.b", "public")
        ('crm.public', 'public', '"a.b".public')

    """
    if database is None or schema is None:
        return schema
    parts = (f'"{part}"' if "." in part or '"' in part else part for part in (database, schema))
    return ".".join(parts)


def full_name(table: Table) -> TableName:
    """Return the name of a table by which no two tables of a feed are the same."""
    return full_schema(table.database, table.schema), table.name or ""
