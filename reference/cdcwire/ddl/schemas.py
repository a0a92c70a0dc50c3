"""Definitions that name no schema, as those of a dump of one database: the schema of the feed.

A feed of one schema gives it to all of them. In a feed of several, the name of a table decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from cdcwire.console.problems import DEFAULT_SCHEMA, UsageError
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.rows import Row
from cdcwire.format import Format
from cdcwire.model.events import RowChange, Table, TableName


def lack_schemas(tables: Iterable[Table]) -> bool:
    """Return whether a definition names no schema."""
    return any(table.schema is None and table.name is not None for table in tables)


def names_of(format_: Format, context: Context, messages: Iterable[Message]) -> set[TableName]:
    """Return the tables that messages have rows of, as far as that shows without definitions."""
    if format_.topic_tables is not None:  # only definitions name the tables
        return set()
    named = tuple(table for table in context.tables if table.schema is not None)
    selection = Selection(None, frozenset() if format_.skips_columns else None)
    decode = format_.decoder(replace(context, tables=named, selection=selection))
    found: set[TableName] = set()
    for message in messages:
        try:
            for event in decode(message):
                if isinstance(event, (Row, RowChange)) and event.table.name is not None:
                    found.add((event.table.schema, event.table.name))
        except DecodeError:
            continue
    return found


def with_schemas(tables: Iterable[Table], names: Collection[TableName]) -> tuple[Table, ...]:
    """Return definitions with the schemas that the tables of a feed have.

    Raises: UsageError where several schemas of the feed have a table of this name.
    """
    schemas = _schemas_of(names)
    every = sorted({schema for schema, _ in names}, key=str)
    only = every[0] if len(every) == 1 else DEFAULT_SCHEMA
    return tuple(_with_schema(table, schemas, only) for table in tables)


def _with_schema(table: Table, schemas: Mapping[str, list[str | None]], only: str | None) -> Table:
    if table.schema is not None or table.name is None:
        return table
    own = schemas.get(table.name, [only])
    if len(own) > 1:
        known = ", ".join(str(schema) for schema in own)
        raise UsageError(
            f"--ddl, --tables: the definition of {table.name} names no schema, and the feed has "
            f"{table.name} in {known}; put USE {own[0]}; before it"
        )
    return replace(table, schema=own[0])


def schema_notes(tables: Iterable[Table], names: Collection[TableName]) -> Iterator[str]:
    """Yield a line for each schema that definitions without one have taken from a feed."""
    schemas = _schemas_of(names)
    taken = {
        schema
        for table in tables
        if table.schema is None
        for schema in schemas.get(table.name or "", ())
    }
    for schema in sorted(taken - {None}, key=str):
        yield f"--ddl, --tables: definitions without a schema are those of {schema}, as in the feed"


def _schemas_of(names: Iterable[TableName]) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for schema, name in sorted(names, key=str):
        found.setdefault(name, []).append(schema)
    return found
