"""Names of tables and columns as a format that rewrites names has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from cdcwire.core.format import TableName
from cdcwire.model.events import Table

Rewrite: TypeAlias = Callable[[str], str]


def rewritten_name(name: TableName, rewrite: Rewrite) -> TableName:
    """Return the name that a table's rows have."""
    schema, table = name
    return None if schema is None else rewrite(schema), rewrite(table)


def rewritten_table(table: Table, rewrite: Rewrite) -> Table:
    """Return a definition with the names that its rows have."""
    columns = None
    if table.columns is not None:
        columns = tuple(replace(each, name=rewrite(each.name)) for each in table.columns)
    key = None if table.key is None else tuple(map(rewrite, table.key))
    schema, name = rewritten_name((table.schema, table.name or ""), rewrite)
    return replace(table, schema=schema, name=name, columns=columns, key=key)
