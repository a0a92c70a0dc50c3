"""The TRUNCATE of two feeds whose changes are compared: one that a feed lacks is a difference.

A TRUNCATE deletes rows without a change of any row, so it counts as a change of the data. Two feeds
of one format have to have the same ones. A feed that has none at all may not send any, by its
format or by its producer's options. Then they are named as not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from cdcwire.arrow.schema import name_text
from cdcwire.core.orders import Order, Place
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.result import Comparison, DdlDifference, Shown, SideName
from cdcwire_conformance.compare.rules import CompareOptions, Side
from cdcwire_conformance.decode.other_events import MAX_STATEMENTS, PlacedStatement

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
        _counted(own, feed.side.format.comparing.orders, options, position)
        for feed, own in zip(feeds, statements, strict=True)
    )
    differences = [
        *(_difference("left", each, position) for each in sorted((ours - theirs).elements())),
        *(_difference("right", each, position) for each in sorted((theirs - ours).elements())),
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


def _counted(
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
            (_places(each, orders) or number, name)
            for number, (each, name) in enumerate(statements)
        }
        return Counter((0, name) for _, name in once)
    window = options.window
    found = {(getattr(each.position, position), name) for each, name in statements}
    return Counter(each for each in found if window is None or window.has(each[0]))


def _places(statement: PlacedStatement, orders: Iterable[Order]) -> tuple[Place, ...]:
    """Return the places of a statement in some orders; empty if it has none."""
    places = (order.place_or_none(statement.position) for order in orders)
    return tuple(place for place in places if place is not None)


def _difference(side: SideName, truncate: tuple[int, str], position: str | None) -> DdlDifference:
    place, table = truncate
    where = "" if position is None else f" at {position} {place}"
    return DdlDifference(side, f"{table}{where}", Shown("TRUNCATE"))
