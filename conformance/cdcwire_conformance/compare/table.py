"""The last row of each key in a feed against a table, whichever engine reads the table.

The rows of the table are taken as inserts, without a position, of a side that knows nothing else.
So both sides have the form of last rows (see ``final_state``). A table has no absent columns: an
absent column of the feed counts as NULL.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from cdcwire.arrow.schema import CanonicalTable, name_text
from cdcwire.arrow.types import SchemaError
from cdcwire.console.problems import meant_or_met
from cdcwire.ddl.schemas import schema_notes
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.aliases import named_like
from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed
from cdcwire_conformance.compare.feed_terms import facts_of, written_alike
from cdcwire_conformance.compare.feeds import Report, no_report
from cdcwire_conformance.compare.hints import column_hint, tombstone_hint
from cdcwire_conformance.compare.kafka_keys import keys_against_table
from cdcwire_conformance.compare.merging import check_keys, lacks_key, last_tables, merged_table
from cdcwire_conformance.compare.notes import (
    check_all_read,
    checkpoint_notes,
    clock_notes,
    definition_notes,
    unread_of,
    window_note,
    with_checked_orders,
)
from cdcwire_conformance.compare.other_events import lone_tombstones
from cdcwire_conformance.compare.reshaping import ReshapedSide, reshaped_tables, unfillable
from cdcwire_conformance.compare.result import Comparison, TableComparison
from cdcwire_conformance.compare.rules import (
    DEFAULT_OPTIONS,
    CompareOptions,
    ComparisonRules,
    final_rules,
    terms_of,
)
from cdcwire_conformance.decode.describe import tables_met
from cdcwire_conformance.decode.workers import Workers
from cdcwire_conformance.sources.tables import TableUrl

_NOT_IN_A_TABLE = (
    ("NULL against absent", "a table has no absent columns"),
    ("positions and earlier changes", "a table has the last rows only"),
)


@dataclass(frozen=True, slots=True)
class TableRules:
    """How a table is compared. ``names``: its own names of columns, by the feed's, where other."""

    table: CanonicalTable
    rules: ComparisonRules
    names: Mapping[str, str]


class TableRows(Protocol):
    """The rows of a table, as an engine reads and compares them. Its text is for people."""

    @property
    def engine(self) -> str:
        """The name of the engine, for users."""

    @property
    def is_exact(self) -> bool:
        """Return whether rows are always compared by all columns, not by hashes."""

    @property
    def url(self) -> TableUrl | None:
        """Where the table is; None for one that a program gives."""

    @property
    def workers(self) -> Workers:
        """Those who read the feed."""

    def begin(self, options: CompareOptions) -> None:
        """Prepare the place for all differences. Raises: SchemaError if it is not empty."""

    def canonical(self, feed: CanonicalTable) -> CanonicalTable:
        """Return the columns of the table with their types. Raises: SchemaError.

        ``feed``: the feed's table, whose name it gets.
        """

    def compared(
        self, feed: OpenedFeed, table: TableRules, options: CompareOptions, report: Report
    ) -> TableComparison:
        """Compare the last rows of the feed with the rows of the table."""


def compare_table(
    table: TableRows,
    feed: ComparedFeed,
    options: CompareOptions = DEFAULT_OPTIONS,
    report: Report = no_report,
    inspect: Callable[[OpenedFeed], None] = lambda feed: None,
) -> Comparison:
    """Compare the last row of each key in a feed with the rows of a table.

    ``options.include`` names the table of the feed if it has several, unless the table has the same
    name. With ``options.window`` only the changes in it are replayed; if it has a start, rows that
    only the table has are not compared. ``inspect`` is called with the feed at the end. Raises:
    SchemaError when there is nothing to compare; as ``compare_feeds``.
    """
    start = time.monotonic()
    table.begin(options)
    report("looking for the tables of the feed")
    workers = table.workers
    opened = feed.open(options, workers)
    notes = list(schema_notes(options.definitions, opened.opened.names))
    options = options.defined_in(opened.opened.defined)
    opened, own = opened.described(options, workers=workers)
    terms = terms_of(
        opened.side,
        opened.side,
        is_windowed=options.window is not None,
        meaning=options.meaning,
        facts=facts_of(opened, opened, list(own), options),
    )
    known = frozenset(own)
    opened = replace(opened, order=terms.order)
    opened, own = opened.with_last_state(own, terms.order, options)
    name = _table_name(own, known, table.url, options, lambda: tables_met(opened.opened, workers))
    why = opened.state.unknown.get(opened.own_name(name))
    if why is not None:
        raise SchemaError(f"the last rows of {name_text(name)} are not known: {why}")
    named, aliases = named_like(
        {name: table.canonical(own[name])}, {name: own[name]}, "table", str.lower
    )
    last = last_tables(own[name], named[name], opened.last_columns(own[name]), None)
    reshapings = opened.state.reshaped.get(opened.own_name(name), ())
    reshaped = reshaped_tables(
        ReshapedSide("left", last[0], reshapings), ReshapedSide("right", last[1])
    )
    last = reshaped.tables[0], reshaped.tables[1]
    unknown = options.meaning.unknown([*own.values(), *named.values()])
    if unknown:
        raise SchemaError(unknown[0])
    met = merged_table(*last, options)
    check_keys([met])
    merged = met.merged
    side = reshaped.sides[0]
    why = reshaped.unknown or unfillable(met.table, side, options.temporal)
    why = why or lacks_key(opened, side.table, side.fills)
    if why is not None:
        raise SchemaError(f"the last rows of {name_text(name)} are not known: {why}")
    opened = replace(opened, fills={name: side.fills})
    if options.window is not None and terms.rules.position is None:
        raise SchemaError(f"{opened.side.format.name} has no position here, so it has no window")
    if terms.rules.leaves_deletes:
        raise SchemaError(
            f"deletes of {opened.side.format.name} have no position, so a window has no last rows"
        )
    has_start = options.window is not None and options.window.start is not None
    rules = replace(final_rules(terms.rules), against_table=True, leaves_left_over=has_start)
    left_out = [*_NOT_IN_A_TABLE, *lone_tombstones("left", opened), *written_alike(opened.side)]
    if has_start:
        reason = "the feed is read from a position on, so it need not have their keys"
        left_out.append(("rows that only the table has", reason))
    notes += [] if options.window is None else [window_note(rules, options.window)]
    rows = opened.facts.rows
    notes += checkpoint_notes([("left", opened)])
    notes += options.meaning.without_rows(rows, rows, options.include)
    notes += definition_notes([("left", opened)], [{name: own[name]}], options)
    own_name = opened.own_name(name)
    notes += opened.state.notes.get(own_name, ())
    notes += reshaped.notes
    left_out += reshaped.left_out
    found = Comparison(
        str(feed.source),
        str(table),
        (),
        compared=("last rows",),
        left_out=tuple(left_out),
        notes=tuple(notes),
        is_exact=options.exact or table.is_exact,
        engine=table.engine,
        unread=tuple(unread_of([("left", opened)])),
        ignores_unread=options.meaning.ignores_unread,
        unwanted=met.unwanted,
        hints=(
            *tombstone_hint("left", opened),
            *column_hint(*last, options, (opened.side, None)),
        ),
    )
    if merged.differences and not options.common:
        compared = TableComparison(
            str(merged.table), None, schema_differences=merged.differences, notes=merged.notes
        )
    else:
        alias = aliases.get(name)
        names = {} if alias is None else alias.columns
        compared = table.compared(opened, TableRules(merged.table, rules, names), options, report)
        places = opened.with_lines(each.left_place for each in compared.differences)
        due = opened.with_lines(each.due_place for each in compared.differences)
        compared = replace(
            compared,
            differences=tuple(
                replace(each, left_place=place, due_place=due_place)
                for each, place, due_place in zip(compared.differences, places, due, strict=True)
            ),
            schema_differences=merged.differences,
            left_out=merged.left_out,
            notes=(
                *merged.notes,
                *(alias.notes(merged.table) if alias else ()),
                *clock_notes("left", opened, merged.table, options),
            ),
        )
    found = replace(found, tables=(compared,), seconds=time.monotonic() - start)
    found = keys_against_table(found, opened, options.meaning)
    check_all_read(found)
    found = with_checked_orders(found)
    if not found.is_different and not found.is_equal:
        raise SchemaError("nothing was compared: the feed or the table has no row")
    if not found.is_different and min(found.changes) < options.min_rows:
        raise SchemaError(f"nothing was decided: a side has fewer rows than {options.min_rows:,}")
    inspect(opened)
    return found


def _table_name(
    tables: Mapping[TableName, CanonicalTable],
    known: frozenset[TableName],
    url: TableUrl | None,
    options: CompareOptions,
    met: Callable[[], Collection[TableName]],
) -> TableName:
    """Return which table of a feed is compared. Raises: SchemaError if that is not known.

    ``tables``: those at the end of the feed. ``known``: all chosen ones that it has rows of.
    ``met``: gives all that it has rows of.
    """
    if options.include is not None:
        missing = sorted(map(name_text, options.include - known))
        if missing:
            meant = meant_or_met(missing[0], map(name_text, met()))
            raise SchemaError(f"the feed has no rows of {', '.join(missing)}{meant}")
        tables = {name: each for name, each in tables.items() if name in options.include}
    if not tables:
        raise SchemaError("the feed has no row change, so there is nothing to compare")
    if len(tables) == 1:
        return next(iter(tables))
    if url is not None:
        schema, wanted = (part if part is None else part.lower() for part in url.name)
        same = [
            name
            for name in tables
            if name[1].lower() == wanted and schema in (None, (name[0] or "").lower())
        ]
        if len(same) == 1:
            return same[0]
    names = ", ".join(sorted(map(name_text, tables)))
    raise SchemaError(f"the feed has several tables; --include names one of {names}")
