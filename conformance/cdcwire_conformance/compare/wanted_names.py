"""The names of tables and columns that a user gives, checked against the feeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cdcwire.arrow.schema import CanonicalTable, name_text
from cdcwire.arrow.types import SchemaError
from cdcwire.console.usage import meant_or_met
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.decode.describe import tables_met
from cdcwire_conformance.decode.workers import Workers


def check_names(
    both: tuple[Mapping[TableName, CanonicalTable], Mapping[TableName, CanonicalTable]],
    options: CompareOptions,
    feeds: tuple[OpenedFeed, OpenedFeed],
    workers: Workers,
) -> None:
    """Check the chosen names of tables and columns against the feeds.

    ``both``: the chosen tables of both. Raises: SchemaError for a table or column that no feed has,
    or if there is no table.
    """
    included = set(map(name_text, options.include or ()))
    known = (name for feed in feeds for name in feed.facts.names)
    has_rows = set(map(name_text, (*both[0], *both[1], *known)))
    missing = sorted(included - has_rows)
    tables = [table for each in both for table in each.values()]
    if missing:
        met = {name for feed in feeds for name in tables_met(feed.opened, workers)}
        meant = meant_or_met(missing[0], map(name_text, met))
        raise SchemaError(f"neither feed has rows of {', '.join(missing)}{meant}")
    if not tables:
        raise SchemaError("neither feed has a row change, so there is nothing to compare")
    strange = strange_columns(tables, options)
    if strange:
        columns = {name for table in tables for name in table.column_names}
        meant = meant_or_met(strange[0], columns)
        raise SchemaError(f"no table has a column {', '.join(strange)}{meant}")
    unknown = options.meaning.unknown(tables)
    if unknown:
        raise SchemaError(unknown[0])


def strange_columns(tables: Iterable[CanonicalTable], options: CompareOptions) -> list[str]:
    """Return the wanted columns that none of the tables has."""
    known = {name for table in tables for name in table.column_names}
    return sorted((options.columns or frozenset()) - known)
