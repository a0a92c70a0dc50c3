"""Two feeds, whatever their formats: which tables they have, where these meet, and what differs.

First the tables of both are found in a cheap pass. All differences of their schemas are reported
before a row is compared. Then an ``Engine`` decodes each table on both sides into the one form in
which the two meet, and compares the rows.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from cdcwire.arrow.batches import MessagePlace, RowProblem
from cdcwire.arrow.schema import CanonicalTable
from cdcwire.arrow.types import SchemaError
from cdcwire.ddl.schemas import schema_notes
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed
from cdcwire_conformance.compare.feed_terms import feed_terms
from cdcwire_conformance.compare.hints import hints_of, one_sided, with_proposals
from cdcwire_conformance.compare.kafka_keys import with_kafka_keys
from cdcwire_conformance.compare.merging import (
    NO_KEY,
    replaced_notes,
    undecided,
    unwanted_tables,
    without_doubtful,
)
from cdcwire_conformance.compare.names import (
    NamedFeeds,
    check_names,
    named_by_database,
    named_like_each_other,
    right_definitions,
    with_right_definitions,
)
from cdcwire_conformance.compare.notes import (
    check_all_read,
    checkpoint_notes,
    clock_notes,
    definition_notes,
    lost_parts,
    missing_tables,
    nothing_compared,
    unread_of,
    window_note,
    with_checked_orders,
)
from cdcwire_conformance.compare.other_events import with_other_events
from cdcwire_conformance.compare.plan import Plan, PlannedTable, TableTask, plan_of
from cdcwire_conformance.compare.result import (
    Comparison,
    Counts,
    RowDifference,
    SideName,
    TableComparison,
    UnreadableMessage,
)
from cdcwire_conformance.compare.rules import (
    DEFAULT_OPTIONS,
    CompareOptions,
)
from cdcwire_conformance.compare.shown_text import counted
from cdcwire_conformance.compare.work import Work
from cdcwire_conformance.decode.many_tables import Ahead
from cdcwire_conformance.decode.prefix import drop_lines
from cdcwire_conformance.decode.reading import error_place, error_text
from cdcwire_conformance.decode.workers import Workers

UNREADABLE_SHOWN = 5  # of each side


class Report(Protocol):
    """Takes the steps of a comparison. ``work``: how much of it is done at this step, if known."""

    def __call__(self, text: str, work: Work | None = None, /) -> None:
        """Take one step."""


def no_report(text: str, work: Work | None = None) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class ComparedFeeds:
    """Both feeds after a comparison. ``names``: of tables, by their text in the result."""

    left: OpenedFeed
    right: OpenedFeed
    names: Mapping[str, TableName]

    def of(self, side: SideName) -> OpenedFeed:
        """Return the feed of a side."""
        return self.left if side == "left" else self.right


Inspect = Callable[[ComparedFeeds], None]


def no_inspection(feeds: ComparedFeeds) -> None:
    """Look at nothing."""


class Engine(Protocol):
    """Decodes and compares rows. All engines give the same result."""

    @property
    def name(self) -> str:
        """The name of the engine, for users."""

    @property
    def workers(self) -> Workers:
        """Those who read the feeds, to open and to describe them."""

    @property
    def is_exact(self) -> bool:
        """Return whether rows are always compared by all columns, not by hashes."""

    def begin(self, options: CompareOptions) -> None:
        """Prepare the place for all differences. Raises: SchemaError if it is not empty."""

    def ahead(
        self, left: OpenedFeed, right: OpenedFeed, options: CompareOptions
    ) -> tuple[Ahead | None, Ahead | None]:
        """Return who takes rows of each feed in the first scan of it; None: nobody."""

    def compared(
        self, tasks: Sequence[TableTask], options: CompareOptions, report: Report
    ) -> Iterator[TableComparison]:
        """Yield the comparison of the rows of each table, in their order."""

    def unreadable(
        self,
        feed: OpenedFeed,
        tables: Iterable[CanonicalTable],
        position: str | None,
        options: CompareOptions,
    ) -> tuple[int, list[UnreadableMessage]]:
        """Return how many messages or rows can't be read, and the first of them."""


def unreadable_message(problem: RowProblem, place: MessagePlace) -> UnreadableMessage:
    """Return a message or row that can't be read, as reports show it."""
    return UnreadableMessage(error_place(problem, place), error_text(problem, place))


def compare_feeds(
    engine: Engine,
    left: ComparedFeed,
    right: ComparedFeed,
    options: CompareOptions = DEFAULT_OPTIONS,
    report: Report = no_report,
    inspect: Inspect = no_inspection,
) -> Comparison:
    """Compare two feeds. ``report`` is called with each step, ``inspect`` at the end.

    Raises: SchemaError when there is nothing to compare; FeedError at the first message that can't
    be read, if errors are to stop; what Spark raises.
    """
    start = time.monotonic()
    feed_terms(left.side, right.side, options)  # what can't be compared, before anything is read
    engine.begin(options)
    report("looking for the tables of both feeds")
    workers = engine.workers
    right = with_right_definitions(right, options.meaning)
    ours, theirs = left.open(options, workers), right.open(options, workers)
    theirs = replace(theirs, renamed=options.meaning.renamed)
    notes = schema_notes(options.definitions, ours.opened.names | theirs.opened.names)
    options = options.defined_in(ours.opened.defined, theirs.opened.defined)
    named = both_described(ours, theirs, options, workers, engine.ahead(ours, theirs, options))
    (ours, own), (theirs, others) = named.left, named.right
    rows = ours.facts.names, theirs.facts.names
    check_names((own, others), options, (ours, theirs), workers)
    swapped = options.meaning.swapped(*rows)
    if swapped is not None:
        raise SchemaError(swapped)
    found = compare_tables(engine, ours, theirs, own, others, options, report=report)
    found = replace(
        found,
        left_out=(*found.left_out, *named.left_out),
        notes=(
            *found.notes,
            *notes,
            *options.meaning.without_rows(*rows, options.include),
            *definition_notes((("left", ours), ("right", theirs)), (own, others), options),
        ),
    )
    found = with_other_events(found, ours, theirs, options)
    check_all_read(found)
    found = with_checked_orders(found)
    if not found.is_different and not found.is_equal:
        raise SchemaError(nothing_compared(found))
    if not found.is_different and min(found.changes) < options.min_rows:
        counts = " and ".join(f"{number:,}" for number in found.changes)
        problem = f"the feeds have {counts} changes to compare, fewer than --min-rows"
        raise SchemaError(f"nothing was decided: {problem} {options.min_rows:,}")
    inspect(ComparedFeeds(ours, theirs, {str(own[name]): name for name in own if name in others}))
    return replace(found, seconds=time.monotonic() - start)


def both_described(
    left: OpenedFeed,
    right: OpenedFeed,
    options: CompareOptions,
    workers: Workers,
    ahead: tuple[Ahead | None, Ahead | None] = (None, None),
) -> NamedFeeds:
    """Return both feeds with their facts and tables. ``ahead``: takes rows. Raises: SchemaError."""
    left, ours = left.described(options, workers=workers, ahead=ahead[0])
    right, theirs = right.described(right_definitions(options), workers=workers, ahead=ahead[1])
    named = named_by_database(left, ours, right, theirs, options.meaning.databases)
    ours_and_theirs = named_like_each_other(*named.left, *named.right, options.meaning)
    return NamedFeeds(*ours_and_theirs, named.left_out)


def compare_tables(
    engine: Engine,
    left: OpenedFeed,
    right: OpenedFeed,
    ours: Mapping[TableName, CanonicalTable],
    theirs: Mapping[TableName, CanonicalTable],
    options: CompareOptions = DEFAULT_OPTIONS,
    *,
    report: Report = no_report,
) -> Comparison:
    """Compare two feeds that are opened, by the tables that each has: ``ours`` and ``theirs``.

    Raises: as ``compare_feeds``.
    """
    plan = plan_of(left, right, ours, theirs, options)
    comparing = _Comparing(engine, plan, options, report)
    found = replace(comparing.head(), tables=tuple(comparing.tables()))
    doubts = {str(each.table): each.reshaped.doubt for each in plan.tables}
    found, doubtful = without_doubtful(found, doubts)
    unknown = {**plan.unknown, **doubtful}
    if unknown and not found.is_different:
        raise SchemaError(undecided(unknown, found))
    one_sided_facts = one_sided(plan.ours, plan.theirs, options)
    hints = hints_of(found, plan.terms.rules, *plan.feeds, one_sided_facts)
    found = replace(found, hints=(*hints, *plan.hints))
    found = with_kafka_keys(found, *plan.feeds, options)
    return comparing.with_errors(found) if options.on_error == "row" else found


def _one_lacking(
    own: Mapping[TableName, CanonicalTable], everything: Mapping[TableName, CanonicalTable]
) -> CanonicalTable:
    """Return a table that a side seems not to have, or any if it has all."""
    return next((t for n, t in everything.items() if n not in own), next(iter(everything.values())))


def _without_rows(planned: PlannedTable, rows: tuple[int, int]) -> TableComparison:
    merged = planned.merged.merged
    notes = (*merged.notes, f"{rows[0]:,} and {rows[1]:,} rows were not compared")
    return TableComparison(
        str(merged.table), None, schema_differences=merged.differences, notes=notes
    )


@dataclass(frozen=True, slots=True)
class _Comparing:
    """Compares two feeds by a plan."""

    engine: Engine
    plan: Plan
    options: CompareOptions
    report: Report

    def head(self) -> Comparison:
        """Return what is known before any row is compared."""
        plan, options = self.plan, self.options
        rules = plan.terms.rules
        left_out = {**dict.fromkeys(plan.keyless, NO_KEY), **plan.unknown}
        reads = sum(number for feed in plan.feeds for number in feed.facts.others.reads.values())
        known = {*plan.left.facts.rows, *plan.right.facts.rows}
        window = () if options.window is None else (window_note(rules, options.window),)
        return Comparison(
            str(plan.left.source),
            str(plan.right.source),
            (),
            tuple(missing_tables(plan.ours, plan.theirs)),
            ("last rows",) if rules.is_final else rules.compared,
            (
                *plan.terms.left_out,
                *((f"last rows of {name}", why) for name, why in left_out.items()),
            ),
            notes=(*window, *checkpoint_notes(plan.sides)),
            is_exact=options.exact or self.engine.is_exact,
            engine=self.engine.name,
            unread=tuple(unread_of(plan.sides)),
            ignores_unread=options.meaning.ignores_unread,
            unwanted=(
                *unwanted_tables(options, known, reads),
                *(f"{name} (it has no key)" for name in plan.keyless),
                *plan.unknown,
                *(part for each in plan.tables for part in each.merged.unwanted),
            ),
        )

    def tables(self) -> Iterator[TableComparison]:
        """Yield the comparison of each table. Columns that don't meet are left out."""
        plan = self.plan
        compared = self.engine.compared(plan.tasks(), self.options, self.report)
        columns = Counter(name for each in plan.tables for name in each.table.column_names)
        shared = {name for name, number in columns.items() if number > 1}
        for each in plan.tables:
            if each.is_compared:
                done = self._complete(next(compared), each)
                merged = each.merged.merged
                yield with_proposals(done, merged, plan.feeds, self.options, shared)
            else:
                yield _without_rows(each, plan.rows_of(each))

    def _complete(self, found: TableComparison, planned: PlannedTable) -> TableComparison:
        """Return the comparison of a table's rows with what is known of the table."""
        name, merged = planned.name, planned.merged.merged
        notes = [*merged.notes, *replaced_notes(planned.replaced), *planned.reshaped.notes]
        key = set(merged.table.key or ())
        has_key = bool(key) and key <= set(merged.table.column_names)
        found = without_unsure(found, has_key=has_key)
        notes += unreadable_notes(found.counts)
        if key and not has_key:
            notes.append("not all key columns are on both sides: rows do not pair by key")
        for side, feed in self.plan.sides:
            notes += [f"{side}: {line}" for line in feed.state.notes.get(feed.own_name(name), ())]
            if name in feed.aliases:
                notes += feed.aliases[name].notes(merged.table)
            if feed.opened.prefix is not None:
                notes += [f"{side}: {line}" for line in drop_lines(feed.opened.prefix, name)]
            notes += clock_notes(side, feed, merged.table, self.options)
        left_out = [
            *merged.left_out,
            *planned.left_out,
            *planned.reshaped.left_out,
            *lost_parts(found, merged.table, self.plan.feeds, self.options),
            *found.left_out,
        ]
        return replace(
            found,
            differences=self._located(found.differences),
            schema_differences=(*merged.differences, *found.schema_differences),
            left_out=tuple(left_out),
            notes=tuple(notes),
            allows_repeats=self.options.allow_repeats,
        )

    def with_errors(self, found: Comparison) -> Comparison:
        """Return the comparison with what can't be read of both feeds, in whatever table."""
        plan = self.plan
        everything = {**plan.ours, **plan.theirs}
        tables = {str(each.table): each.table for each in plan.tables}
        counted = {each.table: each.counts for each in found.tables if each.counts is not None}
        totals, lines = [], []
        for (side, feed), own in zip(plan.sides, (plan.ours, plan.theirs), strict=True):
            missed = [n for n, counts in counted.items() if getattr(counts, f"unreadable_{side}")]
            lacked = _one_lacking(own, everything)  # decodes the feed where no rows were compared
            searched = [tables[name] for name in missed] if counted else [lacked]
            searched += self._not_compared(feed, lacked, set(counted))
            total, first = self._errors(feed, searched)
            totals.append(total)
            lines += first
        return replace(
            found, errors_left=totals[0], errors_right=totals[1], unreadable=tuple(lines)
        )

    def _not_compared(
        self, feed: OpenedFeed, like: CanonicalTable, compared: Collection[str]
    ) -> Iterator[CanonicalTable]:
        """Yield a prefix's other tables; all of their files may be unreadable.

        ``like``: has columns to decode them by.
        """
        if feed.opened.prefix is None:
            return
        included = feed.included(self.options)
        for schema, name in sorted(feed.opened.prefix.tables, key=str):
            table = replace(like, schema=schema, table=name)
            is_wanted = included is None or (schema, name) in included
            if is_wanted and str(table) not in compared:
                yield table

    def _errors(
        self, feed: OpenedFeed, tables: Sequence[CanonicalTable]
    ) -> tuple[int, list[UnreadableMessage]]:
        """Return how many messages or rows can't be read, and the first of them."""
        if not tables:
            return 0, []
        self.report(f"{feed.source}: looking for what can't be read")
        return self.engine.unreadable(feed, tables, self.plan.terms.rules.position, self.options)

    def _located(self, differences: tuple[RowDifference, ...]) -> tuple[RowDifference, ...]:
        own, other = self.plan.feeds
        left = own.with_lines(each.left_place for each in differences)
        right = other.with_lines(each.right_place for each in differences)
        located = [
            replace(each, left_place=ours, right_place=theirs)
            for each, ours, theirs in zip(differences, left, right, strict=True)
        ]
        for number, each in enumerate(located):
            if each.due_place is not None:
                feed = other if each.verdict == "only left" else own
                located[number] = replace(each, due_place=feed.with_lines([each.due_place])[0])
        return tuple(located)


_SIDES: tuple[tuple[SideName, SideName], ...] = (("left", "right"), ("right", "left"))
_MORE = ("only", "repeated", "doubled")  # rows that a side has more than the other


def without_unsure(found: TableComparison, *, has_key: bool) -> TableComparison:
    """Return the comparison of a table without differences, if unreadable rows may be all of them.

    ``has_key``: rows pair by a key. Then the pairs say which rows have a partner.
    """
    counts = found.counts
    if has_key or found.is_final or counts is None or not counts.unreadable:
        return found
    for side, other in _SIDES:
        numbers = {f"{name}_{side}": 0 for name in _MORE}
        more = sum(getattr(counts, name) for name in numbers)
        if more <= getattr(counts, f"unreadable_{other}"):
            counts = replace(counts, **numbers, **{f"unsure_{side}": more})
    if counts.differing:
        return found
    return replace(found, counts=counts, differences=(), patterns=())


def unreadable_notes(counts: Counts | None) -> Iterator[str]:
    """Yield which rows of one side may not be alone, because the other side has unreadable ones."""
    if counts is None:
        return
    for side, other in _SIDES:
        alone, unsure = (getattr(counts, f"{name}_{side}") for name in ("only", "unsure"))
        number = getattr(counts, f"unreadable_{other}")
        which = "row or message" if number == 1 else "rows or messages"
        may_be = f"may belong to {number:,} unreadable {which} on the {other}"
        if unsure:
            yield f"{counted(unsure, 'row')} more on the {side} {may_be}"
        elif alone and number:
            yield f"{counted(alone, 'row')} only on the {side} {may_be}"
