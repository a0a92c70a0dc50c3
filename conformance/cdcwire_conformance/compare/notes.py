"""Lines about two feeds as a whole, which are true whatever the rows of their tables are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from cdcwire.arrow.schema import CanonicalTable, name_text
from cdcwire.arrow.types import SchemaError
from cdcwire.clock_changes import ClockFacts
from cdcwire.core.orders import shown_place
from cdcwire.model.events import TableName
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import TimestampType
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.result import Comparison, SideName, TableComparison
from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules, Window
from cdcwire_conformance.decode.other_events import declared_columns
from cdcwire_conformance.decode.row_facts import joined_words


def window_note(rules: ComparisonRules, window: Window) -> str:
    """Return the line that names a window."""
    return f"only changes with {rules.position} {window}"


def unread_of(sides: Iterable[tuple[SideName, OpenedFeed]]) -> Iterator[str]:
    """Yield a line for each feed whose directory has files that may have rows and are not read.

    Claim-check files are known by their names.
    """
    for side, feed in sides:
        unread = feed.source.unread.without(feed.opened.context.blobs)
        if unread:
            yield f"{side}: {unread}"


def check_all_read(found: Comparison) -> None:
    """Check that nothing that was not read decides. Raises: SchemaError.

    Files that are not read may hold the rows in which two feeds differ.
    """
    if found.unread and not found.is_different and not found.ignores_unread:
        raise SchemaError(
            "nothing was decided: files that may have rows are not read: "
            f"{'; '.join(found.unread)}; move them to another directory, or accept them with "
            "--ignore-unread"
        )


def nothing_compared(found: Comparison) -> str:
    """Return why a comparison without a difference is not EQUAL: a side had nothing to compare."""
    has_left, has_right = found.has_changes("left"), found.has_changes("right")
    who = "neither feed has a" if has_left is has_right else "the left feed has no"
    who = "the right feed has no" if has_left else who
    notes = [*found.notes, *("without deletes" for name, _ in found.left_out if name == "deletes")]
    return f"nothing was compared: {who} change" + (f" ({', '.join(notes)})" if notes else "")


def with_checked_orders(found: Comparison) -> Comparison:
    """Return the comparison with a note if positions do not order the changes of each key.

    Copies that were sent again do not matter, as their first copies came in time. Raises:
    SchemaError if nothing else differs.
    """
    if not found.goes_back:
        return found
    table = next(each for each in found.tables if each.doubts.backwards)
    total = sum(each.doubts.backwards for each in found.tables)
    more = f" ({total:,} such changes)" if total > 1 else ""
    position = table.doubts.position
    place = shown_place(table.doubts.first_back or "")
    where = "a feed" if table.is_final else "both feeds"
    problem = f"{position} goes back in {where}{more}"
    example = f"{table.table} at {position} {place} comes after a later change of its key"
    text = f"{problem}: {example}; --pair-by key compares in the feeds' order"
    if not found.is_different:
        raise SchemaError(f"nothing was decided: {text}")
    return replace(found, notes=(*found.notes, text))


def lost_parts(
    table: TableComparison,
    merged: CanonicalTable,
    feeds: Iterable[OpenedFeed],
    options: CompareOptions,
) -> Iterator[tuple[str, str]]:
    """Yield the orders and kinds of values of a table that are not compared, with the reasons."""
    yield from _unordered_parts(table, options)
    yield from _mixed_parts(feeds, merged)


def _unordered_parts(table: TableComparison, options: CompareOptions) -> Iterator[tuple[str, str]]:
    """Yield the parts of a table whose order is not compared, with the reasons."""
    if options.allow_repeats and table.counts is not None and table.counts.repeated:
        yield "order of changes that were sent again", "--allow-repeats"
    number = table.doubts.unordered
    if number:
        keys = "1 key" if number == 1 else f"{number:,} keys"
        yield (
            f"order of changes at one {table.paired_by[0]}",
            f"{keys}: a delete and an insert, or changes in several partitions or files",
        )


def checkpoint_notes(sides: Iterable[tuple[SideName, OpenedFeed]]) -> Iterator[str]:
    """Yield a line for each storage prefix that does not say how far it is complete.

    So does an index that names an older file than the last one.
    """
    for side, feed in sides:
        for index in () if feed.opened.prefix is None else feed.opened.prefix.stale:
            yield f"{side}: {index.path}: {index.problem}; all files are read"
        if feed.opened.prefix is not None and feed.opened.prefix.checkpoint is None:
            yield (
                f"{side}: the prefix has no file metadata, so its rows have no checkpoint: all are "
                "compared, also those of an unfinished write"
            )


def clock_notes(
    side: SideName, feed: OpenedFeed, table: CanonicalTable, options: CompareOptions
) -> Iterator[str]:
    """Yield a line for each column with values in hours that the clocks of a zone change.

    ``table``: as it is compared. Columns that are not compared as instants have no line. The hours
    of hidden columns are not named.
    """
    own = feed.own_table(table)
    names = {share.name for share in feed.state.of((own.schema, own.table))}
    facts = [
        feed.facts.of_rows[name] for name in sorted(names, key=str) if name in feed.facts.of_rows
    ]
    hidden = options.meaning.redacted_of(table)
    for column, shown in zip(own.columns, table.columns, strict=True):
        kind = shown.type
        if not isinstance(kind, TimestampType) or kind.zone is None:
            continue
        found = [each.clocks[column.name] for each in facts if column.name in each.clocks]
        if found:
            total = reduce(ClockFacts.joined, found)
            text = total.text(names_hours=options.mask is None and shown.name not in hidden)
            where = "" if total.first is None else f", first at {feed.place_text(total.first)}"
            yield f"{side}: {shown.name}: {text}{where}"


def _mixed_parts(feeds: Iterable[OpenedFeed], table: CanonicalTable) -> Iterator[tuple[str, str]]:
    """Yield the columns of a table in which feeds have values of several kinds, with the reason.

    ``table``: as it is compared. Such values meet as text: 1 equals "1" then.
    """
    found: dict[str, frozenset[str]] = {}
    for feed in feeds:
        own = feed.own_table(table)
        for share in feed.state.of((own.schema, own.table)):
            found = {**joined_words(found, feed.facts.mixed.get(share.name, {}))}
        names = tuple(f"{name}{end}" for name in own.column_names for end in (".", "["))
        known = {path for path in found if path in own.column_names or path.startswith(names)}
        found = {path: words for path, words in found.items() if path in known}
    for path, words in found.items():
        yield f"kinds of values in {path}", f"a feed has {' and '.join(sorted(words))} there"


def definition_notes(
    sides: Iterable[tuple[SideName, OpenedFeed]],
    tables: Iterable[Mapping[TableName, CanonicalTable]],
    options: CompareOptions,
) -> Iterator[str]:
    """Yield lines about definitions that do not fit the feeds. ``tables``: of each side."""
    sides, tables = tuple(sides), tuple(tables)
    known = {name for of_side in tables for name in of_side}
    known.update(name for _, feed in sides for name in feed.facts.names)
    yield from unused_definitions(options, known)
    of_both = (table for of_side in tables for table in of_side.values())
    yield from dict.fromkeys(_undefined_columns(options, of_both))
    for (side, feed), of_side in zip(sides, tables, strict=True):
        yield from _untyped_columns(side, feed, of_side.values())


def unused_definitions(options: CompareOptions, known: Collection[TableName]) -> Iterator[str]:
    """Yield a line if none of the user's definitions has a table of which a feed has rows."""
    defined = [(each.schema, each.name) for each in options.definitions if each.name is not None]
    if defined and not set(defined) & set(known):
        first = name_text(defined[0])
        names = first if len(defined) == 1 else f"any of {len(defined):,} tables, such as {first}"
        yield f"--ddl, --tables: no feed has rows of {names}"


def _undefined_columns(options: CompareOptions, tables: Iterable[CanonicalTable]) -> Iterator[str]:
    """Yield a line for each table with columns that its definition by the user does not have."""
    defined: dict[TableName, set[str]] = {}
    for each in options.definitions:
        if each.name is not None and each.columns is not None:
            names = {column.name for column in each.columns}
            defined.setdefault((each.schema, each.name), set()).update(names)
    for table in tables:
        known = defined.get((table.schema, table.table))
        missing = [name for name in table.column_names if known and name not in known]
        if missing:
            yield (
                f"--ddl, --tables: {table} has no column {_first_of(missing)}: only the feed says "
                "its type"
            )


def _untyped_columns(
    side: SideName, feed: OpenedFeed, tables: Iterable[CanonicalTable]
) -> Iterator[str]:
    """Yield a line for each table whose rows are read otherwise than its statements declare."""
    statements = feed.facts.others.statements
    for table in tables:
        own = feed.own_table(table)
        declared = declared_columns(statements, (own.schema, own.table), own.columns)
        if not declared:
            continue
        kinds = {column.name: column.type for column in own.columns}
        name, column = next(iter(declared.items()))
        more = _more(len(declared))
        yield (
            f"{side}: {table}: {name} is read as {kind_text(kinds[name])}, and declared as "
            f"{kind_text(column.type)}{more}: cdcwire tables {feed.source} --to tables.json, then "
            "--tables tables.json"
        )


def _first_of(names: Sequence[str]) -> str:
    return f"{names[0]}{_more(len(names))}"


def _more(total: int) -> str:
    return f" (and {total - 1:,} more)" if total > 1 else ""


def missing_tables(ours: Iterable[TableName], theirs: Iterable[TableName]) -> list[str]:
    """Return a line for each table that only one side has."""
    ours, theirs = set(ours), set(theirs)
    lines = [f"table {name_text(name)}: only on the left" for name in ours - theirs]
    lines += [f"table {name_text(name)}: only on the right" for name in theirs - ours]
    return sorted(lines)
