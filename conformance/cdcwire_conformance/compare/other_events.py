"""The events of two feeds that are not row changes: counted, and statements compared if wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from cdcwire.arrow.schema import name_text
from cdcwire.core.orders import Order
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.result import (
    REDACTED,
    Comparison,
    DdlDifference,
    Shown,
    SideName,
    beginning_of,
)
from cdcwire_conformance.compare.rules import CompareOptions, Window
from cdcwire_conformance.compare.truncates import unsent_ddl, with_truncates
from cdcwire_conformance.decode.other_events import (
    MAX_DDL_EVENTS,
    DdlEvent,
    OtherEvents,
    PlacedStatement,
)

_Placed: TypeAlias = "DdlEvent | PlacedStatement"

_LONGEST = 200  # characters of a statement in a line


def in_window(feed: OpenedFeed, position: str, window: Window) -> OpenedFeed:
    """Return a feed with the DDL events of a window only, and without its progress events."""
    ddl = (
        each
        for each in feed.facts.others.ddl
        if (at := getattr(each.position, position)) is not None and window.has(at)
    )
    statements = (
        each
        for each in feed.facts.others.statements
        if (at := getattr(each.position, position)) is not None and window.has(at)
    )
    reads = feed.facts.others.reads
    others = OtherEvents(frozenset(ddl), statements=tuple(statements), reads=reads)
    return replace(feed, facts=replace(feed.facts, others=others))


def with_other_events(
    found: Comparison, left: OpenedFeed, right: OpenedFeed, options: CompareOptions
) -> Comparison:
    """Return the comparison with the numbers of other events, and their differences if wanted."""
    ours, theirs = left.facts.others, right.facts.others
    found = replace(
        found,
        ddl=(len(ours.ddl), len(theirs.ddl)),
        progress=(ours.progress, theirs.progress),
    )
    left_out = (*found.left_out, *_left_out_reads(left, right, options))
    found = replace(found, left_out=left_out)
    orders = [
        each
        for each in left.side.format.comparing.orders
        if each in right.side.format.comparing.orders
    ]
    orders = [] if options.meaning.pairs_by_key else orders
    if options.mode == "events":
        found = replace(found, left_out=(*found.left_out, *_markers(left, right)))
    else:
        tombstones = *lone_tombstones("left", left), *lone_tombstones("right", right)
        found = replace(found, left_out=(*found.left_out, *tombstones))
    if not options.ddl_events and not any(found.ddl):
        found = replace(found, left_out=(*found.left_out, *_ddl_of_one_side(left, right)))
    if not options.ddl_events and options.mode == "events":
        position = _shared_position(orders, (*_truncating(ours), *_truncating(theirs)))
        return with_truncates(found, left, right, options, position)
    if not options.ddl_events:
        return found
    reasons = [reason for feed in (left, right) if (reason := feed.side.lacks("schema change"))]
    if max(found.ddl) >= MAX_DDL_EVENTS:
        reasons.append(f"a feed has more than {MAX_DDL_EVENTS:,}")
    if reasons:
        left_out = (*found.left_out, ("DDL events", reasons[0]))
        return replace(found, left_out=left_out)
    position = _shared_position(orders, (*ours.ddl, *theirs.ddl))
    counted = [_counted(each.ddl, position, options.window) for each in (ours, theirs)]
    redacted = options.meaning.redacted
    differences = [
        *(_difference("left", each, position, redacted) for each in _surplus(*counted)),
        *(_difference("right", each, position, redacted) for each in _surplus(*reversed(counted))),
    ]
    return replace(found, ddl_differences=tuple(differences), compared=(*found.compared, "DDL"))


def _left_out_reads(
    left: OpenedFeed, right: OpenedFeed, options: CompareOptions
) -> Iterator[tuple[str, str]]:
    """Yield how many rows of snapshots are left out, and the tables that have no other rows."""
    if options.meaning.has_snapshots:
        return
    ours, theirs = (sum(feed.facts.others.reads.values()) for feed in (left, right))
    reason = f"--without-snapshots: {ours:,} on the left, {theirs:,} on the right"
    yield "rows of snapshots", reason
    for side, feed in (("left", left), ("right", right)):
        tables = {feed.facts.bare.get(name, name) for name in feed.facts.rows}
        bare = sorted(map(name_text, feed.facts.others.reads.keys() - tables))
        if bare:
            yield ", ".join(bare), f"the {side} feed has nothing but rows of snapshots"


def _markers(left: OpenedFeed, right: OpenedFeed) -> Iterator[tuple[str, str]]:
    """Yield a line for each kind of marker that a feed has."""
    ours, theirs = left.facts.others.markers, right.facts.others.markers
    for what in sorted({*ours, *theirs}):
        counts = f"{ours.get(what, 0):,} on the left, {theirs.get(what, 0):,} on the right"
        yield f"{what.replace('_', ' ')} events", counts


def lone_tombstones(side: SideName, feed: OpenedFeed) -> Iterator[tuple[str, str]]:
    """Yield a line for a feed of upserts, whose tombstones may be deletes without a row."""
    number = feed.facts.others.markers.get("tombstone", 0)
    if number and any(each.upserts for each in feed.facts.of_rows.values()):
        reason = f"{number:,}; a delete that is only a tombstone leaves its last row"
        yield f"tombstones of the {side} feed", reason


def _ddl_of_one_side(left: OpenedFeed, right: OpenedFeed) -> list[tuple[str, str]]:
    """Return a line about DDL events if one producer does not send any, by its options.

    Then a feed without DDL events does not show that the other one has lost none.
    """
    reasons = [why for feed in (left, right) if (why := unsent_ddl(feed.side)) is not None]
    return [("DDL events", reasons[0])] if len(reasons) == 1 else []


def _truncating(events: OtherEvents) -> list[PlacedStatement]:
    return [each for each in events.statements if each.what == "truncate"]


_Statement = tuple[int, str, str]  # position, table and text


def _shared_position(orders: Iterable[Order], events: Collection[_Placed]) -> str | None:
    """Return the first position that all statements of both feeds have."""
    names = (order.number for order in orders if order.number is not None)
    return next(
        (n for n in names if all(getattr(each.position, n) is not None for each in events)), None
    )


def _counted(
    events: Iterable[DdlEvent], position: str | None, window: Window | None
) -> Counter[_Statement]:
    """Return how often each statement occurs. A feed may send one to each of its partitions."""
    found: Counter[_Statement] = Counter()
    for each in events:
        place = 0 if position is None else getattr(each.position, position)
        if position is None or window is None or window.has(place):
            found[(place, each.table, each.text)] += 1
    return found


def _surplus(own: Counter[_Statement], others: Counter[_Statement]) -> list[_Statement]:
    return sorted((own - others).elements())


def _difference(
    side: SideName,
    statement: _Statement,
    position: str | None,
    redacted: frozenset[str],
) -> DdlDifference:
    place, table, text = statement
    where = "" if position is None else f" at {position} {place}"
    names = {name.rpartition(".")[2].lower() for name in redacted}
    shown = Shown(text) if not any(name in text.lower() for name in names) else REDACTED
    return DdlDifference(side, f"{table or 'a schema'}{where}", beginning_of(shown, _LONGEST))
