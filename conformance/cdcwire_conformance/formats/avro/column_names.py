"""The names that Avro had to rewrite, met with those of a feed that has them as they were.

Avro writes ``unit-price`` as ``unit_price``, and the spelling is lost. Where the other feed, or a
definition, has a name that is rewritten to Avro's, both mean one table or column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from cdcwire.core.format import TableName
from cdcwire.formats.avro.names import sanitize
from cdcwire.model.events import Table
from cdcwire_conformance.arrow.schema import CanonicalTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NameMap: TypeAlias = "Mapping[str, str]"
AnyName = TypeVar("AnyName", str, TableName)


@dataclass(frozen=True, slots=True)
class Alias:
    """How an Avro feed names a table and its columns that the other feed names otherwise.

    ``columns``: Avro's names by the other's, only those that are not the same.
    """

    name: TableName
    columns: NameMap

    def own(self, table: CanonicalTable) -> CanonicalTable:
        """Return a table of the other's names with Avro's."""
        return _renamed(table, self.name, self.columns)

    def frame(self, frame: DataFrame, table: CanonicalTable) -> DataFrame:
        """Return a frame of Avro's table, decoded by ``own(table)``, with the table's names."""
        image = frame.schema["after"].dataType
        assert isinstance(image, StructType)
        fields = zip(table.column_names, image.fields, strict=True)
        named = StructType([StructField(name, each.dataType) for name, each in fields])
        return frame.withColumns({side: F.col(side).cast(named) for side in ("before", "after")})

    def notes(self, table: CanonicalTable) -> list[str]:
        """Return a line for each name of the table that is another in Avro."""
        own = self.name
        lines = [] if own == (table.schema, table.table) else [f"Avro's {_text(own)} is {table}"]
        return lines + [
            f"Avro's column {column} is {name}" for name, column in sorted(self.columns.items())
        ]


def sanitized_name(name: TableName) -> TableName:
    """Return the name that rows from Avro have."""
    schema, table = name
    return None if schema is None else sanitize(schema), sanitize(table)


def sanitized_table(table: Table) -> Table:
    """Return a definition with the names that rows from Avro have."""
    columns = None
    if table.columns is not None:
        columns = tuple(replace(each, name=sanitize(each.name)) for each in table.columns)
    key = None if table.key is None else tuple(map(sanitize, table.key))
    schema, name = sanitized_name((table.schema, table.name or ""))
    return replace(table, schema=schema, name=name, columns=columns, key=key)


def named_like(
    tables: Mapping[TableName, CanonicalTable], others: Mapping[TableName, CanonicalTable]
) -> tuple[dict[TableName, CanonicalTable], dict[TableName, Alias]]:
    """Return an Avro feed's tables under the names of the other feed's, and how they are renamed.

    A name that two of the other's would be rewritten to is nobody's, and stays.
    """
    theirs = _by_sanitized(set(others) - set(tables), sanitized_name)
    named: dict[TableName, CanonicalTable] = {}
    aliases: dict[TableName, Alias] = {}
    for own, table in tables.items():
        name = own if own in others else theirs.get(own, own)
        other = others.get(name)
        columns: dict[str, str] = {}
        if other is not None:
            known = set(table.column_names)
            lacking = _by_sanitized(set(other.column_names) - known, sanitize)
            spare = known - set(other.column_names)
            columns = {lacking[column]: column for column in spare if column in lacking}
        if name != own or columns:
            aliases[name] = Alias(own, columns)
            table = _renamed(table, name, {column: new for new, column in columns.items()})
        named[name] = table
    return named, aliases


def _by_sanitized(
    names: Iterable[AnyName], rewrite: Callable[[AnyName], AnyName]
) -> dict[AnyName, AnyName]:
    """Return names by what they are rewritten to, without those of which two become one."""
    found: dict[AnyName, list[AnyName]] = {}
    for name in names:
        found.setdefault(rewrite(name), []).append(name)
    return {short: of[0] for short, of in found.items() if len(of) == 1}


def _renamed(table: CanonicalTable, name: TableName, names: NameMap) -> CanonicalTable:
    schema, own = name
    columns = tuple(replace(each, name=names.get(each.name, each.name)) for each in table.columns)
    key = None if table.key is None else tuple(names.get(each, each) for each in table.key)
    return replace(table, schema=schema, table=own, columns=columns, key=key)


def _text(name: TableName) -> str:
    return ".".join(part for part in name if part is not None)
