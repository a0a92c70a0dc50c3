"""Facts about the row changes of a share of a feed: which orders and fields all of them have.

A comparison pairs rows by an order only if every row of both feeds has a place in it. Facts of two
shares join to those of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cdcwire.clock_changes import ClockFacts
from cdcwire_conformance.decode.old_rows import NO_OLD_ROWS, OldRows

FIELDS = ("tx_id", "commit_ms", "partition")
"""The fields of a position that are compared, where both feeds have them."""

KEY_ONLY = "delete-only-output-handle-key-columns"
"""The option with which deletes have the columns of their key only."""

Scope: TypeAlias = tuple[str, ...]
Range: TypeAlias = "tuple[int | str, int | str]"
"""The first and the last place of some rows in an order."""

ColumnSets: TypeAlias = "frozenset[frozenset[str]]"
"""The columns of some images, for each of them."""

SCOPES_KEPT = 4
SETS_KEPT = 64
PLACES_KEPT = 2  # enough to know that they are not all the same


@dataclass(frozen=True, slots=True)
class OrderFacts:
    """How many rows have a place in an order.

    ``changes``: without the rows of snapshots, which are ``reads``. ``places``: up to two different
    ones. ``scopes``: what the places hold within, up to four. ``problem``: the first member that
    can't be ordered. ``range``: of the places of all rows.
    """

    changes: int = 0
    reads: int = 0
    places: frozenset[int | str] = frozenset()
    scopes: frozenset[Scope] = frozenset()
    problem: str | None = None
    range: Range | None = None

    def joined(self, other: OrderFacts) -> OrderFacts:
        """Return the facts of both shares."""
        return OrderFacts(
            self.changes + other.changes,
            self.reads + other.reads,
            _first(self.places | other.places, PLACES_KEPT),
            frozenset(sorted(self.scopes | other.scopes)[:SCOPES_KEPT]),
            self.problem or other.problem,
            _joined_range(self.range, other.range),
        )


NO_PLACES = OrderFacts()


@dataclass(frozen=True, slots=True)
class RowFacts:
    """Facts about rows. Deletes of a format whose deletes may have no position do not count.

    ``changes``: how many there are, without the rows of snapshots, which are ``reads``. ``orders``:
    by name. ``fields``: how many changes have each of ``FIELDS``, and ``read_fields`` how many rows
    of snapshots. ``is_complete``: all rows were looked at. ``old_images``: how many updates have
    their before image. ``whole_deletes``: how many deletes have columns beyond the key; they are
    counted where an option denies that there are any. ``clocks``: values in hours that a zone skips
    or repeats, by column. ``old_rows``: which rows show that old rows are whole.
    ``placed_deletes``, ``bare_deletes``: how many deletes have a position and how many have none,
    of a format whose deletes may have none. ``lacked_by_deletes``: the fields that a placed one of
    them lacks. ``upserts``: how many rows do not say whether they are inserts.
    """

    changes: int = 0
    reads: int = 0
    orders: Mapping[str, OrderFacts] = field(default_factory=dict)
    fields: Mapping[str, int] = field(default_factory=dict)
    is_complete: bool = True
    old_images: int = 0
    whole_deletes: int = 0
    clocks: Mapping[str, ClockFacts] = field(default_factory=dict)
    old_rows: OldRows = NO_OLD_ROWS
    placed_deletes: int = 0
    bare_deletes: int = 0
    upserts: int = 0
    read_fields: Mapping[str, int] = field(default_factory=dict)
    lacked_by_deletes: frozenset[str] = frozenset()

    @property
    def shown(self) -> frozenset[str]:
        """The op and the members of positions that rows have, whatever their producer's options."""
        names = {name for name, number in self.fields.items() if number}
        names |= {name for name, each in self.orders.items() if each.changes}
        has_op = self.is_complete and self.changes + self.reads > self.upserts == 0
        return frozenset({*names, "op"} if has_op else names)

    def order(self, name: str) -> OrderFacts:
        """Return the facts of an order."""
        return self.orders.get(name, NO_PLACES)

    def joined(self, other: RowFacts) -> RowFacts:
        """Return the facts of both shares."""
        orders = dict(self.orders)
        for name, each in other.orders.items():
            orders[name] = orders[name].joined(each) if name in orders else each
        clocks = dict(self.clocks)
        for name, found in other.clocks.items():
            clocks[name] = clocks[name].joined(found) if name in clocks else found
        return RowFacts(
            self.changes + other.changes,
            self.reads + other.reads,
            orders,
            _added(self.fields, other.fields),
            self.is_complete and other.is_complete,
            self.old_images + other.old_images,
            self.whole_deletes + other.whole_deletes,
            clocks,
            self.old_rows.joined(other.old_rows),
            self.placed_deletes + other.placed_deletes,
            self.bare_deletes + other.bare_deletes,
            self.upserts + other.upserts,
            _added(self.read_fields, other.read_fields),
            self.lacked_by_deletes | other.lacked_by_deletes,
        )


def fewest(sets: ColumnSets) -> ColumnSets:
    """Return the sets of columns that contain no other one.

    If there are too many, the rest is replaced by the columns that all of the rest have.
    """
    found: list[frozenset[str]] = []
    for columns in sorted(sets, key=lambda each: (len(each), sorted(each))):
        if not any(each <= columns for each in found):
            found.append(columns)
    if len(found) > SETS_KEPT:
        rest = frozenset.intersection(*found[SETS_KEPT - 1 :])
        return fewest(frozenset({*found[: SETS_KEPT - 1], rest}))
    return frozenset(found)


UNKNOWN_ROWS = RowFacts(is_complete=False)


def joined_facts(facts: Iterable[RowFacts]) -> RowFacts:
    """Return the facts of all tables of a feed."""
    found = RowFacts()
    for each in facts:
        found = found.joined(each)
    return found


def _joined_range(ours: Any, theirs: Any) -> Range | None:
    """Return the range of both. All places of an order have one type."""
    if ours is None or theirs is None:
        found: Range | None = theirs if ours is None else ours
        return found
    return min(ours[0], theirs[0]), max(ours[1], theirs[1])


def _added(ours: Mapping[str, int], theirs: Mapping[str, int]) -> dict[str, int]:
    return {n: ours.get(n, 0) + theirs.get(n, 0) for n in dict.fromkeys((*ours, *theirs))}


def _first(places: frozenset[int | str], most: int) -> frozenset[int | str]:
    return frozenset(sorted(places, key=lambda place: (str(type(place)), place))[:most])
