"""The plan of a comparison: which tables of two feeds meet, in which form, and by which rules.

The facts of both feeds suffice for it; no row is decoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.feed_terms import facts_of, feed_terms, rules_of_table
from cdcwire_conformance.compare.hints import column_hint
from cdcwire_conformance.compare.merging import (
    MergedTable,
    check_keys,
    filled_feeds,
    last_tables,
    merged_table,
    replaced_text,
    reshaped_of,
    tables_without_key,
    unknown_states,
    unknown_values,
    with_text,
    without_tables,
)
from cdcwire_conformance.compare.reshaping import NOT_RESHAPED, ReshapedTables
from cdcwire_conformance.compare.result import SideName
from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules, Terms


@dataclass(frozen=True, slots=True)
class TableTask:
    """A table to compare in two feeds.

    ``replaced``: columns of text that have U+FFFD in place of ill-formed bytes. ``rows``: how many
    both feeds have.
    """

    table: CanonicalTable
    left: OpenedFeed
    right: OpenedFeed
    rules: ComparisonRules
    replaced: frozenset[str]
    rows: int = 0

    @property
    def has_statements(self) -> bool:
        """Return whether statements of a feed emptied the table, or gave it rows of another."""
        name = self.table.schema, self.table.table
        return any(each.own_name(name) in each.state.shares for each in (self.left, self.right))


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """A table that both feeds have, and its own rules.

    ``left_out``: what these leave out, with why. ``reshaped``: the table after the statements that
    change its columns. ``is_compared``: its columns meet, or those that do not are left out.
    """

    merged: MergedTable
    rules: ComparisonRules
    left_out: Sequence[tuple[str, str]]
    replaced: frozenset[str]
    reshaped: ReshapedTables
    is_compared: bool

    @property
    def table(self) -> CanonicalTable:
        """The table in which both sides meet."""
        return self.merged.table

    @property
    def name(self) -> TableName:
        """The name of the table."""
        return self.table.schema, self.table.table


@dataclass(frozen=True, slots=True)
class Plan:
    """The tables and rules of a comparison of two feeds.

    ``ours``, ``theirs``: the tables of each. ``tables``: those of both. ``keyless``, ``unknown``:
    tables without last rows that can be compared; why, for the unknown ones. ``hints``: options for
    columns that do not meet.
    """

    left: OpenedFeed
    right: OpenedFeed
    ours: Mapping[TableName, CanonicalTable]
    theirs: Mapping[TableName, CanonicalTable]
    terms: Terms
    tables: Sequence[PlannedTable]
    hints: Sequence[str] = ()
    keyless: Sequence[str] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def feeds(self) -> tuple[OpenedFeed, OpenedFeed]:
        """Both feeds, the left one first."""
        return self.left, self.right

    @property
    def sides(self) -> tuple[tuple[SideName, OpenedFeed], ...]:
        """Both feeds with the names of their sides."""
        return ("left", self.left), ("right", self.right)

    def rows_of(self, table: PlannedTable) -> tuple[int, int]:
        """Return how many rows of a table each feed has."""
        return self.left.rows_of(table.name), self.right.rows_of(table.name)

    def tasks(self) -> list[TableTask]:
        """Return the tables whose rows are compared."""
        return [
            TableTask(each.table, *self.feeds, each.rules, each.replaced, sum(self.rows_of(each)))
            for each in self.tables
            if each.is_compared
        ]


def plan_of(
    left: OpenedFeed,
    right: OpenedFeed,
    ours: Mapping[TableName, CanonicalTable],
    theirs: Mapping[TableName, CanonicalTable],
    options: CompareOptions,
) -> Plan:
    """Return what is compared of two feeds, by the tables that each has: ``ours`` and ``theirs``.

    Raises: SchemaError where there is nothing to compare.
    """
    is_final = options.mode == "final"
    named = set(ours) | set(theirs) if is_final else set(ours) & set(theirs)
    terms = feed_terms(left.side, right.side, options, facts_of(left, right, named, options))
    left, right = (replace(feed, order=terms.order) for feed in (left, right))
    if is_final:
        left, ours = left.with_last_state(ours, terms.order, options)
        right, theirs = right.with_last_state(theirs, terms.order, options)
    tables: list[PlannedTable] = []
    hints: list[str] = []
    for name in sorted(set(ours) & set(theirs), key=str):
        replaced = replaced_text(name, left, right)
        own, other = (with_text(each[name], replaced) for each in (ours, theirs))
        reshaped = NOT_RESHAPED
        if is_final:
            own, other = last_tables(own, other, left.last_columns(own), right.last_columns(other))
            reshaped = reshaped_of(name, (own, other), left, right)
            own, other = reshaped.tables
        else:
            own, other = right.shown_columns(own, other), left.shown_columns(other, own)
        merged = merged_table(own, other, options)
        rules, left_out = rules_of_table(terms.rules, name, left, right)
        is_compared = options.common or not merged.merged.differences
        tables.append(PlannedTable(merged, rules, left_out, replaced, reshaped, is_compared))
        hints += column_hint(own, other, options, (left.side, right.side))
    found = Plan(left, right, ours, theirs, terms, tables, hints)
    return _of_last_rows(found, options) if is_final else found


def _of_last_rows(plan: Plan, options: CompareOptions) -> Plan:
    """Return a plan without the tables whose last rows are not known. Raises: SchemaError."""
    reshaped = {each.name: each.reshaped for each in plan.tables}
    feeds = filled_feeds(*plan.feeds, reshaped)
    every = [each.merged for each in plan.tables]
    unknown = unknown_values(every, reshaped, feeds, options.temporal)
    unknown |= unknown_states(*feeds, (*plan.ours, *plan.theirs))
    known = [each for each in every if str(each.table) not in unknown]
    keyless = tables_without_key(known)
    if known and len(keyless) == len(known) and not unknown:
        check_keys(known)
    left_out = {*unknown, *keyless}
    return replace(
        plan,
        left=feeds[0],
        right=feeds[1],
        ours=without_tables(plan.ours, unknown),
        theirs=without_tables(plan.theirs, unknown),
        tables=[each for each in plan.tables if str(each.table) not in left_out],
        keyless=keyless,
        unknown=unknown,
    )
