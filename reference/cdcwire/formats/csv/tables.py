"""Table definitions: the one that a file needs, and what it says about the fields of its records.

The bytes name no types and, without a header line, no columns. Both come from the definition of the
version in the file's path. Virtual generated columns are defined and not in files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cdcwire.core.context import Selection
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.formats.csv.settings import Settings
from cdcwire.formats.csv.values import CLAUSE_SCHEMA, ColumnCodec, column_codec
from cdcwire.model.events import Table, TableName
from cdcwire.model.kinds import Column


@dataclass(frozen=True, slots=True, eq=False)
class FilePlan:
    """How the records of one file are read.

    ``table``: as events have it. ``names``: of the columns in the file. ``codecs``: None for a
    column that is not wanted. ``columns``: those that are, as events have them.
    """

    table: Table
    names: tuple[str, ...]
    codecs: tuple[ColumnCodec | None, ...]
    columns: tuple[Column, ...]


class Definitions:
    """Definitions of tables by name and version."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self._known: dict[TableName, dict[int | None, list[Table]]] = {}
        for table in tables:
            if table.name is not None and table.columns is not None:
                same = self._known.setdefault((table.schema, table.name), {})
                others = same.setdefault(table.version, [])
                # Two definitions of one version are one too many; more of them say no more.
                is_full = table.version is not None and len(others) > 1
                if not is_full and table not in others:
                    others.append(table)
        self._all = {
            name: [table for tables in same.values() for table in tables]
            for name, same in self._known.items()
        }

    def of(self, schema: str | None, name: str) -> Sequence[Table]:
        """Return all definitions of a table, of every version."""
        return self._all.get((schema, name), ())

    def names(self) -> list[TableName]:
        """Return the names of the tables that have a definition."""
        return list(self._known)

    def choose(self, schema: str | None, name: str, version: int | None) -> Table:
        """Return the definition of a version, or the only one there is.

        Raises: DecodeError at offset 0, naming the versions there are.
        """
        exact = self._known.get((schema, name), {}).get(version)
        if exact:
            return exact[0]
        found = self.of(schema, name)
        chosen = found[0] if len(found) == 1 else None
        if chosen is None:
            shown = ("none" if each.version is None else str(each.version) for each in found[:20])
            versions = ", ".join((*shown, "...") if len(found) > 20 else shown)
            wanted = "single definition" if version is None else f"definition of version {version}"
            known = f"its versions are {versions}" if found else "pass it, or its schema file"
            problem = f"table {schema!s:.80}.{name:.80} does not have a {wanted}; {known}"
            raise DecodeError(problem, 0, CLAUSE_SCHEMA)
        return chosen


def stored_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns that records have: all but virtual generated ones."""
    return tuple(column for column in table.columns or () if "virtual" not in column.roles)


def key_of(table: Table) -> tuple[str, ...]:
    """Return the names of the primary key's columns, ``()`` if there is none."""
    if table.key is not None:
        return table.key
    return tuple(column.name for column in table.columns or () if "primary" in column.roles)


def file_plan(
    table: Table, names: Sequence[str], settings: Settings, selection: Selection
) -> FilePlan:
    """Return how records with the columns ``names`` are read. Raises: DecodeError."""
    by_name = {column.name: column for column in stored_columns(table)}
    codecs: list[ColumnCodec | None] = []
    columns: list[Column] = []
    for name in names:
        if selection.columns is not None and name not in selection.columns:
            codecs.append(None)
            continue
        column = by_name[name]
        try:
            codec = column_codec(column.type, column.nullable, settings)
        except EncodeError as error:
            raise DecodeError(error.problem, 0, error.clause, ("columns", name)) from error
        codecs.append(codec)
        columns.append(replace(column, type=codec.kind))
    event_table = Table(table.name, table.schema, table.database, None, key_of(table))
    return FilePlan(event_table, tuple(names), tuple(codecs), tuple(columns))


@dataclass(frozen=True, slots=True, eq=False)
class WritePlan:
    """How the images of one layout are written: for each field the value's place and its codec."""

    columns: tuple[Column, ...]  # of the image; kept so that its id stays its own
    names: tuple[str, ...]
    fields: tuple[tuple[int, ColumnCodec], ...]


def write_plan(
    columns: tuple[Column, ...], definition: Table | None, settings: Settings
) -> WritePlan:
    """Return how images with these columns are written, in the order of the table.

    Raises: EncodeError when the definition has other columns than the image.
    """
    clause = "csv: virtual columns"
    places = {column.name: index for index, column in enumerate(columns)}
    if definition is None:
        defined = tuple(column for column in columns if "virtual" not in column.roles)
    else:
        defined = stored_columns(definition)
        odd = places.keys() - {column.name for column in definition.columns or ()}
        if odd:
            problem = f"the table's definition has no column {min(odd)!r:.80}"
            raise EncodeError(problem, CLAUSE_SCHEMA, (min(odd),))
    if not defined:
        raise EncodeError("a row without columns has no record", "csv: record")
    fields = []
    for column in defined:
        with step(column.name):
            if column.name not in places:
                problem = "every column has its field, and this one has no value"
                raise EncodeError(
                    problem, clause if column.roles & {"generated"} else "csv: record"
                )
            codec = column_codec(column.type, column.nullable, settings)
        fields.append((places[column.name], codec))
    return WritePlan(columns, tuple(column.name for column in defined), tuple(fields))
