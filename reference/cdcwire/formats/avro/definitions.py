"""Table definitions next to events: which one belongs to a row, and what it adds to its columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cdcwire.formats.avro.names import sanitize
from cdcwire.model.events import Table
from cdcwire.model.kinds import ABSENT, Column, EnumType, SetType, UnknownType
from cdcwire.mysql.declared import declared_type

_CLAUSE = "avro: column types"


class Definitions:
    """The definitions of tables, several for one table where it changed.

    Names are found as they are, and as the schema has them: rows of Avro have lost the others.
    """

    def __init__(self, tables: Iterable[Table]) -> None:
        self._tables: dict[tuple[str | None, str | None], list[Table]] = {}
        self._sanitized: dict[tuple[str, str], list[Table]] = {}
        for table in tables:
            if table.columns is not None:
                self._tables.setdefault((table.schema, table.name), []).append(table)
                self._sanitized.setdefault(_sanitized(table), []).append(table)

    def of(self, table: Table, columns: tuple[Column, ...]) -> Table | None:
        """Return the definition that fits a row's columns best.

        It is one with exactly these columns, virtual ones left out; else one that has them all;
        else the last one. Of equally good ones the last counts.
        """
        found = self._tables.get((table.schema, table.name))
        if not found:
            found = self._sanitized.get((table.schema or "", table.name or ""))
            if not found or len({(each.schema, each.name) for each in found}) > 1:
                return None
        names = {sanitize(column.name) for column in columns}

        def fitness(candidate: Table) -> int:
            known = (c for c in candidate.columns or () if "virtual" not in c.roles)
            all_names = {sanitize(column.name) for column in known}
            return 2 if all_names == names else 1 if names <= all_names else 0

        return max(reversed(found), key=fitness)


def _sanitized(table: Table) -> tuple[str, str]:
    return sanitize(table.schema or ""), sanitize(table.name or "")


def columns_by_name(definition: Table | None) -> dict[str, tuple[int, Column]]:
    """Return place and column by name, and by sanitised name where that is one column's alone."""
    columns = tuple(enumerate((definition and definition.columns) or ()))
    found: dict[str, tuple[int, Column]] = {}
    twice = set()
    for pair in columns:
        name = sanitize(pair[1].name)
        if name in found:
            twice.add(name)
        found[name] = pair
    for name in twice:
        del found[name]
    return {**found, **{pair[1].name: pair for pair in columns}}


def completed(column: Column, definition: Column | None) -> Column:
    """Return a row's column with what its definition says; the kind stays the row's.

    ``source`` is the definition's, so that the field is the table's whatever format the row is of.
    """
    if definition is None:
        return column
    kind = column.type
    if isinstance(kind, UnknownType):
        kind = definition.type
    elif isinstance(kind, (EnumType, SetType)) and isinstance(definition.type, type(kind)):
        kind = replace(kind, labels=definition.type.labels or kind.labels)
    return replace(
        column,
        type=kind,
        source=definition.source or column.source,
        nullable=column.nullable if definition.nullable is None else definition.nullable,
        default=column.default if definition.default is ABSENT else definition.default,
        roles=definition.roles or column.roles,
        id=column.id if definition.id is None else definition.id,
    )


class Labels:
    """The options of ENUM and SET columns by the names that the schema has for them.

    ``allowed`` does not always lead back to the options, so that a definition is preferred. A name
    that two tables or columns share after sanitising is left out.
    """

    def __init__(self, tables: Iterable[Table]) -> None:
        self._options: dict[tuple[str, str, str], tuple[str, ...] | None] = {}
        for table in tables:
            for column in table.columns or ():
                options = _options_of(column)
                if options is not None and table.name is not None:
                    place = tuple(map(sanitize, (table.schema or "", table.name, column.name)))
                    known = self._options.setdefault((place[0], place[1], place[2]), options)
                    if known != options:
                        self._options[place[0], place[1], place[2]] = None

    def __bool__(self) -> bool:
        return bool(self._options)

    def of(self, schema: str | None, table: str, column: str) -> tuple[str, ...] | None:
        """Return the options of a column; None if they are unknown or ambiguous."""
        return self._options.get((schema or "", table, column))


def _options_of(column: Column) -> tuple[str, ...] | None:
    if not isinstance(column.type, (EnumType, SetType)):
        return None
    return column.type.labels or declared_type(column, _CLAUSE).elements
