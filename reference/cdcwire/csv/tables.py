"""Table definitions: which one a file needs, and what it says about the fields of its records.

The bytes name no types and, without a header line, no columns. Both come from the definition of the
version that stands in the file's path. Virtual generated columns are defined and not in files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cdcwire.csv.settings import Settings
from cdcwire.csv.values import CLAUSE_SCHEMA, ColumnCodec, column_codec
from cdcwire.errors import DecodeError, EncodeError, step
from cdcwire.format import Selection, TableName
from cdcwire.model.events import Column, Table
from cdcwire.model.kinds import EnumType, SetType


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
        self._known: dict[TableName, list[Table]] = {}
        for table in tables:
            if table.name is not None and table.columns is not None:
                same = self._known.setdefault((table.schema, table.name), [])
                if table not in same:
                    same.append(table)

    def of(self, schema: str, name: str) -> list[Table]:
        return self._known.get((schema, name), [])

    def names(self) -> list[TableName]:
        return list(self._known)

    def choose(self, schema: str, name: str, version: int | None) -> Table:
        """Return the definition of a version, or the only one there is.

        Raises: DecodeError at offset 0, naming the versions there are.
        """
        found = self.of(schema, name)
        chosen = next((each for each in found if each.version == version), None)
        if chosen is None and len(found) == 1:
            chosen = found[0]
        if chosen is None:
            versions = ", ".join("none" if t.version is None else str(t.version) for t in found)
            there = f"versions of it: {versions}" if found else "there is none of this table"
            wanted = "the table's" if version is None else f"version {version}"
            problem = f"the definition of {schema}.{name}, {wanted}, is needed; {there}"
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


def completed(table: Table, told: Iterable[Table]) -> Table:
    """Return a table from a schema file with what the caller knows of it besides.

    That is which columns are virtual, and the elements of ENUM and SET.
    """
    known = {
        column.name: column
        for each in told
        if (each.schema, each.name) == (table.schema, table.name)
        and each.version in (None, table.version)
        for column in each.columns or ()
    }
    columns = tuple(_completed(column, known.get(column.name)) for column in table.columns or ())
    return replace(table, columns=columns)


def _completed(column: Column, told: Column | None) -> Column:
    if told is None or type(told.type) is not type(column.type):
        return column
    kind = column.type
    if isinstance(kind, (EnumType, SetType)) and isinstance(told.type, (EnumType, SetType)):
        kind = replace(kind, labels=kind.labels if kind.labels is not None else told.type.labels)
    return replace(column, type=kind, roles=column.roles | (told.roles & {"virtual", "generated"}))


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
