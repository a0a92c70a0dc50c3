"""The tables of two feeds whose last rows can be compared, and why those of others can't."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from cdcwire.model.names import TableName
from cdcwire_conformance.arrow.schema import CanonicalTable, name_text
from cdcwire_conformance.arrow.types import SchemaError
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.last_state import reshaped_lines
from cdcwire_conformance.compare.merging import MergedTable
from cdcwire_conformance.compare.result import Comparison, SideName

NO_KEY = "without a key no row is the last; --ddl or --tables gives the key"


def last_tables(
    ours: CanonicalTable,
    theirs: CanonicalTable,
    left: Collection[str] | None,
    right: Collection[str] | None,
) -> tuple[CanonicalTable, CanonicalTable]:
    """Return two tables with the columns that their last rows may have, and their keys.

    A table whose rows are all deleted says nothing of its columns: it has those of the other side.
    ``left``, ``right``: columns of after images; None: any.
    """
    kept = _with_columns(ours, left), _with_columns(theirs, right)
    own = _filled(kept[0], kept[1]) if left is not None and not left else kept[0]
    other = _filled(kept[1], kept[0]) if right is not None and not right else kept[1]
    return own, other


def _with_columns(table: CanonicalTable, columns: Collection[str] | None) -> CanonicalTable:
    if columns is None or not table.key:
        return table
    return table.with_columns({*columns, *table.key} & set(table.column_names))


def _filled(table: CanonicalTable, other: CanonicalTable) -> CanonicalTable:
    added = (each for each in other.columns if each.name not in table.column_names)
    return replace(table, columns=(*table.columns, *added))


def check_keys(merged: Iterable[MergedTable]) -> None:
    """Check that each table has a key, by which its last rows are found. Raises: SchemaError."""
    lacking = tables_without_key(merged)
    if lacking:
        raise SchemaError(
            f"without a key no row is the last: {', '.join(lacking)}; give the key with --ddl or "
            "--tables, or leave them out (--exclude)"
        )


def tables_without_key(merged: Iterable[MergedTable]) -> list[str]:
    """Return the tables whose key is not known, or has columns that are not compared."""
    return [
        str(each.table)
        for each in merged
        if not each.table.key or not set(each.table.key) <= set(each.table.column_names)
    ]


def unknown_states(
    left: OpenedFeed, right: OpenedFeed, names: Iterable[TableName]
) -> dict[str, str]:
    """Return why the last rows of tables are not known, by the texts of their names."""
    found: dict[str, str] = {}
    for name in sorted(set(names), key=str):
        for side, feed in (("left", left), ("right", right)):
            why = feed.state.unknown.get(feed.own_name(name))
            if why is not None:
                found.setdefault(name_text(name), f"{side}: {why}")
    return found


def without_tables(
    tables: Mapping[TableName, CanonicalTable], names: Collection[str]
) -> dict[TableName, CanonicalTable]:
    """Return the tables except those of some names."""
    return {name: table for name, table in tables.items() if name_text(name) not in names}


def undecided(unknown: Mapping[str, str], found: Comparison) -> str:
    """Return the line about tables that can't be compared, where all other tables are equal."""
    name, why = next(iter(unknown.items()))
    more = len(unknown) - 1
    others = f" (and {more} more)" if more else ""
    rest = "; all other tables are equal" if found.is_equal else ""
    return f"the last rows of {name}{others} are not known: {why}{rest}; leave it out (--exclude)"


def reshaped_parts(
    name: TableName, left: OpenedFeed, right: OpenedFeed
) -> Iterator[tuple[str, str]]:
    """Yield the statements of one side that may have changed values of rows before them."""
    ours, theirs = (each.state.reshaped.get(each.own_name(name), ()) for each in (left, right))
    sides: Iterable[SideName] = ("left", "right")
    for side, own, others in zip(sides, (ours, theirs), (theirs, ours), strict=True):
        yield from reshaped_lines(own, others, f"only the {side} feed has it")
