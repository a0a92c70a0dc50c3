"""The events of two feeds that are not row changes: counted, and statements compared if wanted.

A TRUNCATE deletes rows without a change of any row, so it counts as a change of the data. Two feeds
of one format have to have the same ones. A feed that has none at all may not send any, by its
format or by its producer's options. Then they are named as not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from cdcwire.arrow.schema import name_text
from cdcwire.core.orders import Order, Place
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.result import (
    REDACTED,
    Comparison,
    DdlDifference,
    Shown,
    SideName,
    beginning_of,
)
from cdcwire_conformance.compare.rules import CompareOptions, Side, Window
from cdcwire_conformance.decode.other_events import (
    MAX_DDL_EVENTS,
    MAX_STATEMENTS,
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


_Truncates: TypeAlias = "Counter[tuple[int, str]]"
"""How often each table is truncated at a position; a table that is missing counts as 0."""


def with_truncates(
    found: Comparison,
    left: OpenedFeed,
    right: OpenedFeed,
    options: CompareOptions,
    position: str | None,
) -> Comparison:
    """Return the comparison with the TRUNCATE of one side.

    ``position``: one that all of them have; None: they are only counted.
    """
    statements = [list(_truncates(feed, options)) for feed in (left, right)]
    if not any(statements):
        return found
    why = _why_lacking((left.side, right.side), statements, options)
    if why is not None:
        tables = sorted({name for own in statements for _, name in own})
        left_out = (*found.left_out, (f"TRUNCATE of {', '.join(tables)}", why))
        return replace(found, left_out=left_out)
    if any(len(feed.facts.others.statements) >= MAX_STATEMENTS for feed in (left, right)):
        left_out = (*found.left_out, ("TRUNCATE", f"a feed has {MAX_STATEMENTS:,} DDL events"))
        return replace(found, left_out=left_out)
    feeds = left, right
    ours, theirs = (
        _counted_truncates(own, feed.side.format.comparing.orders, options, position)
        for feed, own in zip(feeds, statements, strict=True)
    )
    differences = [
        *(
            _truncate_difference("left", each, position)
            for each in sorted((ours - theirs).elements())
        ),
        *(
            _truncate_difference("right", each, position)
            for each in sorted((theirs - ours).elements())
        ),
    ]
    return replace(
        found,
        ddl_differences=(*found.ddl_differences, *differences),
        compared=(*found.compared, "TRUNCATE"),
    )


def _truncates(feed: OpenedFeed, options: CompareOptions) -> Iterator[tuple[PlacedStatement, str]]:
    """Yield the TRUNCATE of tables that are compared, each with the name of its table."""
    shown = {own: name for name, own in feed.renamed.items()}
    shown |= {alias.name: name for name, alias in feed.aliases.items()}
    included = feed.included(options)
    for each in feed.facts.others.statements:
        if each.what != "truncate" or each.table is None:
            continue
        own = each.named_schema, each.table
        name = shown.get(own, own)
        if included is not None and own not in included:
            continue
        rewrite = feed.source.format.comparing.rewrite_name
        if not any(options.meaning.excludes(each_name, rewrite) for each_name in (own, name)):
            yield each, name_text(name)


def _why_lacking(
    sides: tuple[Side, Side],
    statements: Sequence[Sequence[tuple[PlacedStatement, str]]],
    options: CompareOptions,
) -> str | None:
    """Return why the feed of a side has no TRUNCATE that it had to send; None if it had to."""
    lacking = [index for index, own in enumerate(statements) if not own]
    if not lacking:
        return None
    own = sides[lacking[0]]
    if unsent_ddl(own) is not None:
        return unsent_ddl(own)
    if sides[0].format.name != sides[1].format.name:
        return f"{own.format.name} has none in this feed"
    positions = [each.position for own in statements for each, _ in own]
    upgrade = options.meaning.upgrade
    side: SideName = "left" if lacking[0] == 0 else "right"
    return upgrade.reason_for_no_truncate(side, positions, own.format.comparing.orders)


def unsent_ddl(side: Side) -> str | None:
    """Return why the options of a producer send no DDL events; None if options do not decide."""
    is_by_option = side.carries.fields["schema change"].verdict == "option"
    return side.lacks("schema change") if is_by_option else None


def _counted_truncates(
    statements: list[tuple[PlacedStatement, str]],
    orders: tuple[Order, ...],
    options: CompareOptions,
    position: str | None,
) -> _Truncates:
    """Return how often each table is truncated. A feed may repeat a statement at its position.

    Debezium sends a row event of a TRUNCATE and, in some versions, its DDL too.
    """
    if position is None:
        once = {
            (_places_of(each, orders) or number, name)
            for number, (each, name) in enumerate(statements)
        }
        return Counter((0, name) for _, name in once)
    window = options.window
    found = {(getattr(each.position, position), name) for each, name in statements}
    return Counter(each for each in found if window is None or window.has(each[0]))


def _places_of(statement: PlacedStatement, orders: Iterable[Order]) -> tuple[Place, ...]:
    """Return the places of a statement in some orders; empty if it has none."""
    places = (order.place_or_none(statement.position) for order in orders)
    return tuple(place for place in places if place is not None)


def _truncate_difference(
    side: SideName, truncate: tuple[int, str], position: str | None
) -> DdlDifference:
    place, table = truncate
    where = "" if position is None else f" at {position} {place}"
    return DdlDifference(side, f"{table}{where}", Shown("TRUNCATE"))
