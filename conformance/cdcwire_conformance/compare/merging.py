"""The table in which two feeds' tables meet, and what that leaves out by the user's wish.

It decides also whether last rows can be compared, and on the form of text that is not UTF-8, where
a format can't carry it. Producers replace each ill-formed byte, or each longest ill-formed
sequence. So on both sides a run of U+FFFD counts as one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cdcwire.arrow.schema import CanonicalTable, Fill, Merged, merge_tables, name_text
from cdcwire.arrow.types import SchemaError, Temporal
from cdcwire.model.events import TableName
from cdcwire.model.kinds import BytesType, JsonType, TextType
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.meaning import is_named
from cdcwire_conformance.compare.reshaping import (
    ReshapedSide,
    ReshapedTables,
    reshaped_tables,
    unfillable,
)
from cdcwire_conformance.compare.result import Comparison, SideName
from cdcwire_conformance.compare.rules import CompareOptions

_KEY_ROLES = frozenset({"primary", "handle", "unique"})
JSON_RULE = "order of members, white space, 1.0 = 1"
TYPES_DIFFER = "column types differ"


@dataclass(frozen=True, slots=True)
class MergedTable:
    """A table of both feeds. ``unwanted``: what the options leave out of it, a part each."""

    merged: Merged
    unwanted: tuple[str, ...] = ()

    @property
    def table(self) -> CanonicalTable:
        """The table in which both sides meet."""
        return self.merged.table


def merged_table(
    ours: CanonicalTable, theirs: CanonicalTable, options: CompareOptions
) -> MergedTable:
    """Return the table in which two meet, of the columns that are wanted. Raises: SchemaError.

    The columns of keys are always wanted: rows pair by them, and updates are split by them.
    """
    notes: list[str] = []
    unwanted: list[str] = []
    meaning = options.meaning
    names = dict.fromkeys((*ours.column_names, *theirs.column_names))
    ignored = [name for name in names if is_named(name, ours, meaning.ignored)]
    if ignored:
        key = {*(ours.key or ()), *(theirs.key or ())} & set(ignored)
        if key:
            raise SchemaError(
                f"--ignore-column: rows of {ours} pair by {', '.join(sorted(key))}; "
                "a column of the key can't be ignored"
            )
        unwanted.append(f"{', '.join(ignored)} of {ours} (--ignore-column)")
    texts = [n for n in names if n not in ignored and is_named(n, ours, meaning.as_text)]
    if texts:
        unwanted.append(f"the types of {', '.join(texts)} of {ours} (--as-text)")
    ours, theirs = meaning.applied(ours), meaning.applied(theirs)
    if options.columns is not None:
        every = len({*ours.column_names, *theirs.column_names})
        ours, theirs = _chosen(ours, theirs, options.columns)
        added = [name for name in ours.column_names if name not in options.columns]
        if added:
            notes.append(f"key columns are compared too: {', '.join(added)}")
        left = every - len({*ours.column_names, *theirs.column_names})
        if left:
            unwanted.append(f"{left} of {every} columns of {ours} (--columns)")
    merged = merge_tables(ours, theirs, time_zone=options.time_zone)
    if merged.left_out and options.common:
        unwanted.append(f"{', '.join(name for name, _ in merged.left_out)} of {ours} (--common)")
    cut = meaning.units(merged.table)
    unwanted += [f"{name} of {ours} below {unit} (--precision)" for name, unit in cut.items()]
    for side in ("left", "right"):
        unwanted += [
            f"the {each.name} text of {name} of {ours} (--{side}-binary)"
            for name, each in meaning.encodings(merged.table, side).items()
        ]
    unscaled = meaning.without_scale(merged.table)
    if unscaled:
        unwanted.append(f"zeros at the end of {', '.join(unscaled)} of {ours} (--ignore-scale)")
    differences = merged.differences
    if merged.met and options.strict_types:
        differences = (*differences, *(f"column {each} (--strict-types)" for each in merged.met))
    elif merged.met:
        notes.append(f"{TYPES_DIFFER}, compared: {'; '.join(merged.met)}")
    documents = [c.name for c in merged.table.columns if isinstance(c.type, JsonType)]
    if documents:
        notes.append(f"JSON compared by its content: {', '.join(documents)} ({JSON_RULE})")
    merged = replace(merged, differences=differences, notes=(*merged.notes, *notes))
    return MergedTable(merged, tuple(unwanted))


def _chosen(
    ours: CanonicalTable, theirs: CanonicalTable, columns: frozenset[str]
) -> tuple[CanonicalTable, CanonicalTable]:
    wanted = set(columns)
    for table in (ours, theirs):
        wanted |= {c.name for c in table.columns if c.roles & _KEY_ROLES}
        wanted |= set(table.key or ())
    for table in (ours, theirs):
        if not wanted & set(table.column_names):
            raise SchemaError(f"table {table} has none of the columns that are wanted")
    left, right = (table.with_columns(wanted & set(table.column_names)) for table in (ours, theirs))
    return left, right


def unwanted_tables(
    options: CompareOptions, known: Collection[TableName], reads: int = 0
) -> list[str]:
    """Return which tables and rows the options leave out.

    ``known``: tables that a feed has rows of. ``reads``: how many rows of snapshots are left out.
    """
    parts = []
    if options.include is not None:
        parts.append("tables other than " + ", ".join(sorted({*map(name_text, options.include)})))
        parts[-1] += " (--include)"
    excluded = options.meaning.excluded & set(known)
    if excluded:
        parts.append(f"{', '.join(sorted(map(name_text, excluded)))} (--exclude)")
    if reads:
        rows = "1 row of a snapshot" if reads == 1 else f"{reads:,} rows of snapshots"
        parts.append(f"{rows} (--without-snapshots)")
    return parts


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
            return f"some rows do not have {column}, a column of the key"
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


_VERDICT = "text ill-formed"


def replaced_text(name: TableName, left: OpenedFeed, right: OpenedFeed) -> frozenset[str]:
    """Return the columns of a table whose ill-formed text only one of the formats can carry."""
    ours, theirs = (
        feed.facts.ill_formed.get(feed.own_name(name), frozenset()) for feed in (left, right)
    )
    found: set[str] = set()
    for own, other in ((ours, right), (theirs, left)):
        if other.side.carries.kinds[_VERDICT].verdict != "exact":
            found |= own
    return frozenset(found)


def with_text(table: CanonicalTable, names: Collection[str]) -> CanonicalTable:
    """Return the table with these columns of bytes as text."""
    columns = tuple(
        replace(each, type=TextType(each.type.length))
        if each.name in names and isinstance(each.type, BytesType)
        else each
        for each in table.columns
    )
    return replace(table, columns=columns)


def with_bytes(table: CanonicalTable, names: Collection[str]) -> CanonicalTable:
    """Return the table with these columns of text as bytes, as they are decoded."""
    return table.with_binary_text(set(names) & _texts(table)) if names else table


def _texts(table: CanonicalTable) -> set[str]:
    return {each.name for each in table.columns if isinstance(each.type, TextType)}


def replaced_notes(names: Collection[str]) -> Iterator[str]:
    """Yield a line that says so, if there are such columns."""
    if names:
        yield (
            f"text that is not UTF-8 is compared as U+FFFD ({', '.join(sorted(names))}): only one "
            "of the formats can carry it"
        )
