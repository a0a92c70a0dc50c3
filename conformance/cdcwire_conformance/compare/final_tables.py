"""The tables of two feeds whose last rows can be compared, and why those of others can't."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from cdcwire.arrow.schema import CanonicalTable, Fill, name_text
from cdcwire.arrow.types import SchemaError, Temporal
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.merging import MergedTable
from cdcwire_conformance.compare.reshaping import (
    ReshapedSide,
    ReshapedTables,
    reshaped_tables,
    unfillable,
)
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
    merged = list(merged)
    lacking = tables_without_key(merged)
    if lacking:
        differences = [line for each in merged for line in each.merged.differences]
        why = f" ({'; '.join(differences)})" if differences else ""
        raise SchemaError(
            f"without a key no row is the last: {', '.join(lacking)}{why}; give the key with "
            "--ddl or --tables, or leave them out (--exclude)"
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


def reshaped_of(
    name: TableName,
    tables: tuple[CanonicalTable, CanonicalTable],
    left: OpenedFeed,
    right: OpenedFeed,
) -> ReshapedTables:
    """Return a table of both feeds after the statements that change its columns."""
    sides: Iterable[tuple[SideName, OpenedFeed]] = (("left", left), ("right", right))
    ours, theirs = (
        ReshapedSide(
            side,
            table,
            feed.state.reshaped.get(feed.own_name(name), ()),
            bool(feed.facts.others.statements),
        )
        for (side, feed), table in zip(sides, tables, strict=True)
    )
    return reshaped_tables(ours, theirs)


def filled_feeds(
    left: OpenedFeed, right: OpenedFeed, reshaped: Mapping[TableName, ReshapedTables]
) -> tuple[OpenedFeed, OpenedFeed]:
    """Return the feeds with the values of columns that their last rows do not have."""
    ours, theirs = (
        {name: each.sides[number].fills for name, each in reshaped.items()} for number in (0, 1)
    )
    return replace(left, fills=ours), replace(right, fills=theirs)


def lacks_key(feed: OpenedFeed, table: CanonicalTable, fills: Iterable[Fill]) -> str | None:
    """Return why rows of a feed's table can't be placed: they do not have a column of its key.

    ``fills``: earlier names of columns, and values of new ones.
    """
    name = table.schema, table.table
    own_names = feed.aliases[name].columns if name in feed.aliases else {}
    shares = {share.name for share in feed.state.of(feed.own_name(name))}
    sets = [each for own in shares for each in feed.facts.fewest_columns.get(own, ())]
    earlier = {(fill.column, fill.source) for fill in fills}
    for column in table.key or ():
        if (column, None) in earlier:
            continue  # rows without it have the default
        names = {column, *(old for new, old in earlier if new == column and old)}
        known = {own_names.get(each, each) for each in names}
        if not all(known & each for each in sets):
            return f"some rows do not have {column}, which is of the key"
    return None


def unknown_values(
    merged: Iterable[MergedTable],
    reshaped: Mapping[TableName, ReshapedTables],
    feeds: tuple[OpenedFeed, OpenedFeed],
    temporal: Temporal,
) -> dict[str, str]:
    """Return why values of last rows are not known, by the texts of the names of their tables."""
    found: dict[str, str] = {}
    for each in merged:
        known = reshaped[each.table.schema, each.table.table]
        why = known.unknown
        for side, feed in zip(known.sides, feeds, strict=True):
            why = why or unfillable(each.table, side, temporal)
            lacking = lacks_key(feed, side.table, side.fills)
            why = why or (lacking and f"{side.name}: {lacking}")
        if why is not None:
            found[str(each.table)] = why
    return found


def without_doubtful(
    found: Comparison, doubts: Mapping[str, str | None]
) -> tuple[Comparison, dict[str, str]]:
    """Return the comparison without tables whose rows may differ only as they are not known.

    ``doubts``: why, by the texts of the names of tables. Those that are left out come with it.
    """
    doubtful = {
        each.table: why
        for each in found.tables
        if (why := doubts.get(each.table)) and (each.differing or each.schema_differences)
    }
    if not doubtful:
        return found, {}
    kept = replace(
        found,
        tables=tuple(each for each in found.tables if each.table not in doubtful),
        left_out=(*found.left_out, *((f"last rows of {n}", why) for n, why in doubtful.items())),
        unwanted=(*found.unwanted, *doubtful),
    )
    return kept, doubtful
