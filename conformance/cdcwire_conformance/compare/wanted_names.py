"""The names of tables and columns that a user gives, checked against the feeds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from cdcwire.arrow.schema import CanonicalTable, name_text
from cdcwire.arrow.types import SchemaError
from cdcwire.core.nearest import did_you_mean
from cdcwire.model.names import TableName
from cdcwire_conformance.compare.rules import CompareOptions


def check_names(
    both: tuple[Mapping[TableName, CanonicalTable], Mapping[TableName, CanonicalTable]],
    options: CompareOptions,
    known: Collection[TableName],
) -> None:
    """Check the chosen names of tables and columns against the feeds.

    ``known``: names of their tables, as a user may give them.
    Raises: SchemaError for a table or column that no feed has, or if there is no table.
    """
    included = set(map(name_text, options.include or ()))
    has_rows = set(map(name_text, (*both[0], *both[1], *known)))
    missing = sorted(included - has_rows)
    tables = [table for each in both for table in each.values()]
    if missing:
        meant = did_you_mean(missing[0], has_rows)
        raise SchemaError(f"neither feed has rows of {', '.join(missing)}{meant}")
    if not tables:
        raise SchemaError("neither feed has a row change, so there is nothing to compare")
    strange = strange_columns(tables, options)
    if strange:
        columns = {name for table in tables for name in table.column_names}
        meant = did_you_mean(strange[0], columns)
        raise SchemaError(f"no table has a column {', '.join(strange)}{meant}")
    unknown = options.meaning.unknown(tables)
    if unknown:
        raise SchemaError(unknown[0])


def strange_columns(tables: Iterable[CanonicalTable], options: CompareOptions) -> list[str]:
    """Return the wanted columns that none of the tables has."""
    known = {name for table in tables for name in table.column_names}
    return sorted((options.columns or frozenset()) - known)
