"""Names of tables and columns that differ between two feeds which mean the same.

A format that rewrites names writes ``unit-price`` as ``unit_price``, and the spelling is lost. If
the other feed has a name that would be rewritten to this one, both mean the same table or column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from cdcwire.arrow.schema import CanonicalTable, Rewrite, name_text, rewritten_name
from cdcwire.model.events import TableName

NameMap: TypeAlias = "Mapping[str, str]"
AnyName = TypeVar("AnyName", str, TableName)


@dataclass(frozen=True, slots=True)
class Alias:
    """The rewritten names of a table and its columns, where they differ from the other feed's.

    ``columns``: rewritten names by original names. ``format``: the name of the format, for notes.
    ``has_note``: False if the names differ by the database only.
    """

    format: str
    name: TableName
    columns: NameMap
    has_note: bool = True

    def own(self, table: CanonicalTable) -> CanonicalTable:
        """Return the table with its rewritten names."""
        return renamed_table(table, self.name, self.columns)

    def notes(self, table: CanonicalTable) -> list[str]:
        """Return a line for each rewritten name."""
        own = self.name
        is_same = own == (table.schema, table.table) or not self.has_note
        lines = [] if is_same else [f"{self.format}: {name_text(own)} is {table}"]
        return lines + [
            f"{self.format}: column {column} is {name}"
            for name, column in sorted(self.columns.items())
        ]


def named_like(
    tables: Mapping[TableName, CanonicalTable],
    others: Mapping[TableName, CanonicalTable],
    format_name: str,
    rewrite: Rewrite,
) -> tuple[dict[TableName, CanonicalTable], dict[TableName, Alias]]:
    """Return tables of a format that rewrites names by the other feed's names, and the aliases.

    A rewritten name stays if two names of the other feed would be rewritten to it.
    """
    theirs = _by_rewritten(set(others) - set(tables), lambda name: rewritten_name(name, rewrite))
    named: dict[TableName, CanonicalTable] = {}
    aliases: dict[TableName, Alias] = {}
    for own, table in tables.items():
        name = own if own in others else theirs.get(own, own)
        other = others.get(name)
        columns: dict[str, str] = {}
        if other is not None:
            known = set(table.column_names)
            lacking = _by_rewritten(set(other.column_names) - known, rewrite)
            spare = known - set(other.column_names)
            columns = {lacking[column]: column for column in spare if column in lacking}
        if name != own or columns:
            aliases[name] = Alias(format_name, own, columns)
            table = renamed_table(table, name, {column: new for new, column in columns.items()})
        named[name] = table
    return named, aliases


def _by_rewritten(
    names: Iterable[AnyName], rewrite: Callable[[AnyName], AnyName]
) -> dict[AnyName, AnyName]:
    """Return names by their rewritten form, except those that share one."""
    found: dict[AnyName, list[AnyName]] = {}
    for name in names:
        found.setdefault(rewrite(name), []).append(name)
    return {short: of[0] for short, of in found.items() if len(of) == 1}


def renamed_table(table: CanonicalTable, name: TableName, names: NameMap) -> CanonicalTable:
    """Return a table with this name, and other names of columns, by those that it has."""
    schema, own = name
    columns = tuple(replace(each, name=names.get(each.name, each.name)) for each in table.columns)
    key = None if table.key is None else tuple(names.get(each, each) for each in table.key)
    fills = tuple(each.renamed(names) for each in table.fills)
    return replace(table, schema=schema, table=own, columns=columns, key=key, fills=fills)
