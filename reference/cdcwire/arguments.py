"""The arguments that the functions for users have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias, runtime_checkable

from cdcwire.changes import OnError
from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.format import Format
from cdcwire.model.events import Table


@runtime_checkable
class PathLike(Protocol):
    """The path of a file, as ``pathlib.Path`` is one."""

    def __fspath__(self) -> str:
        """Return the path as text."""
        ...


Tables: TypeAlias = "Iterable[Table] | str | PathLike"
"""Definitions of tables: objects, the text of CREATE TABLE statements, or the file of either."""


def tables_of(tables: Tables) -> tuple[Table, ...]:
    """Return definitions of tables as objects.

    A text with spaces is DDL; any other is the name of a file, of SQL or as ``cdcwire tables``
    writes it.
    Raises: TypeError that names what they are instead; ValueError for DDL that can't be read;
    OSError; ModuleNotFoundError.
    """
    if isinstance(tables, (str, PathLike)):
        from cdcwire.ddl import read_definitions

        return read_definitions(tables)
    if not isinstance(tables, Iterable):
        tables = (tables,)
    given: tuple[object, ...] = tuple(tables)
    for table in given:
        if not isinstance(table, Table):
            raise TypeError(
                f"tables holds {table!r:.60}; it must be a sequence of cdcwire.Table, the text of "
                "CREATE TABLE statements, or a file"
            )
    return tuple(table for table in given if isinstance(table, Table))


def definitions_of(format_: Format, tables: Tables) -> tuple[Table, ...]:
    """Return definitions for a program that sees no feed, as ``tables_of`` does.

    Raises: ValueError for DDL without a schema, which would be that of no message.
    """
    found = tables_of(tables)
    unnamed = [each.name for each in found if each.schema is None]
    is_ddl = isinstance(tables, (str, PathLike))
    if unnamed and is_ddl and format_.topic_tables is None:
        raise ValueError(
            f"tables defines {unnamed[0]} without its schema; write CREATE TABLE SCHEMA."
            f"{unnamed[0]}, or USE SCHEMA; before it"
        )
    return found


def check_on_error(on_error: OnError) -> None:
    """Check the argument ``on_error``. Raises: ValueError."""
    if not callable(on_error) and on_error not in ("raise", "skip"):
        raise ValueError(f"on_error is {on_error!r:.80}; it must be 'raise', 'skip' or a function")


def expect_mappings(**arguments: object) -> None:
    """Raise TypeError for an argument that is not a mapping."""
    for name, value in arguments.items():
        if not isinstance(value, Mapping):
            reader = "; cdcwire.schema_registry.open_schemas reads a directory or a registry"
            raise TypeError(
                f"{name} is {value!r:.60}; it must be a mapping, such as a dict"
                f"{reader if name == 'schemas' else ''}"
            )


def selection_of(only: Iterable[str] | None) -> Selection:
    """Return the argument ``only``. Raises: TypeError."""
    if only is None:
        return EVERYTHING
    if isinstance(only, str):
        raise TypeError(f"only is the text {only!r:.60}; it must be a set of names of tables")
    parts = [name.rpartition(".") for name in only]
    return Selection(frozenset((schema or None, table) for schema, _, table in parts))
