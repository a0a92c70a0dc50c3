"""Facts about the row changes of a share of a feed: which orders and fields all of them have.

A comparison pairs rows by an order only if every row of both feeds has a place in it. Facts of two
shares join to those of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cdcwire.core.orders import NoPlace, Order
from cdcwire.core.rows import Row
from cdcwire.format import Format
from cdcwire.model.events import RowChange
from cdcwire_conformance.decode.clock_changes import ClockFacts

FIELDS = ("tx_id", "commit_ms", "partition")
"""The fields of a position that are compared, where both feeds have them."""

KEY_ONLY = "delete-only-output-handle-key-columns"
"""The option with which deletes have the columns of their key only."""

Scope: TypeAlias = tuple[str, ...]
Range: TypeAlias = "tuple[int | str, int | str]"
"""The first and the last place of some rows in an order."""

_SCOPES_KEPT = 4
_PLACES_KEPT = 2  # enough to know that they are not all the same


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
            _first(self.places | other.places, _PLACES_KEPT),
            frozenset(sorted(self.scopes | other.scopes)[:_SCOPES_KEPT]),
            self.problem or other.problem,
            _joined_range(self.range, other.range),
        )


NO_PLACES = OrderFacts()


@dataclass(frozen=True, slots=True)
class RowFacts:
    """Facts about rows. Deletes of a format whose deletes have no position do not count.

    ``changes``: how many there are, without the rows of snapshots, which are ``reads``. ``orders``:
    by name. ``fields``: how many changes have each of ``FIELDS``. ``is_complete``: all rows were
    looked at. ``old_images``: how many updates have their before image. ``whole_deletes``: how many
    deletes have columns beyond the key; they are counted where an option denies that there are any.
    ``clocks``: values in hours that a zone skips or repeats, by column.
    """

    changes: int = 0
    reads: int = 0
    orders: Mapping[str, OrderFacts] = field(default_factory=dict)
    fields: Mapping[str, int] = field(default_factory=dict)
    is_complete: bool = True
    old_images: int = 0
    whole_deletes: int = 0
    clocks: Mapping[str, ClockFacts] = field(default_factory=dict)

    def order(self, name: str) -> OrderFacts:
        """Return the facts of an order."""
        return self.orders.get(name, NO_PLACES)

    def joined(self, other: RowFacts) -> RowFacts:
        """Return the facts of both shares."""
        orders = dict(self.orders)
        for name, each in other.orders.items():
            orders[name] = orders[name].joined(each) if name in orders else each
        names = dict.fromkeys((*self.fields, *other.fields))
        clocks = dict(self.clocks)
        for name, found in other.clocks.items():
            clocks[name] = clocks[name].joined(found) if name in clocks else found
        return RowFacts(
            self.changes + other.changes,
            self.reads + other.reads,
            orders,
            {name: self.fields.get(name, 0) + other.fields.get(name, 0) for name in names},
            self.is_complete and other.is_complete,
            self.old_images + other.old_images,
            self.whole_deletes + other.whole_deletes,
            clocks,
        )


UNKNOWN_ROWS = RowFacts(is_complete=False)


def joined_facts(facts: Iterable[RowFacts]) -> RowFacts:
    """Return the facts of all tables of a feed."""
    found = RowFacts()
    for each in facts:
        found = found.joined(each)
    return found


def has_more_than_key(delete: Row | RowChange) -> bool:
    """Return whether a delete has columns beyond its key, as far as columns are decoded."""
    image = delete.old_layout if isinstance(delete, Row) else delete.before
    names = set() if image is None else {column.name for column in image.columns}
    return not names <= {*(delete.table.key or ())}


class RowTally:
    """Gathers the facts of rows, one by one."""

    __slots__ = (
        *("_changes", "_deletes", "_fields", "_old_images", "_orders", "_reads", "_skips_deletes"),
    )

    def __init__(self, format_: Format) -> None:
        self._skips_deletes = not format_.comparing.deletes_have_position
        self._orders = [_OrderTally(order) for order in format_.comparing.orders]
        self._fields = dict.fromkeys(FIELDS, 0)
        self._changes = 0
        self._reads = 0
        self._old_images = 0
        self._deletes = 0

    def add(self, change: Row | RowChange) -> None:
        """Take one row."""
        op = change.op
        if op == "update" and change.half is None:
            old = change.old if isinstance(change, Row) else change.before
            self._old_images += old is not None
        elif op == "delete":
            self._deletes += has_more_than_key(change)
        if op == "delete" and self._skips_deletes:
            return
        position = change if isinstance(change, Row) else change.position
        is_read = op == "read"
        if is_read:
            self._reads += 1
        else:
            self._changes += 1
            for name in FIELDS:
                if getattr(position, name, None) is not None:
                    self._fields[name] += 1
        for order in self._orders:
            order.add(position, is_read=is_read)

    @property
    def facts(self) -> RowFacts:
        """The facts of all rows so far."""
        orders = {each.order.name: each.facts for each in self._orders}
        return RowFacts(
            self._changes,
            self._reads,
            orders,
            dict(self._fields),
            old_images=self._old_images,
            whole_deletes=self._deletes,
        )


class _OrderTally:
    __slots__ = (
        *("_changes", "_number", "_places", "_problem", "_range", "_reads", "_scopes", "order"),
    )

    def __init__(self, order: Order) -> None:
        self.order = order
        self._number = order.number
        self._changes = 0
        self._reads = 0
        self._places: set[int | str] = set()
        self._scopes: set[Scope] = set()
        self._problem: str | None = None
        self._range: Any = None

    def add(self, position: object, *, is_read: bool) -> None:
        value: int | str | None
        if self._number is not None:
            value = getattr(position, self._number, None)
        else:
            try:
                place = self.order.place(position)
            except NoPlace as error:
                self._problem = self._problem or str(error)
                return
            value = None if place is None else place.value
            # Rows of a snapshot have no server of their own, and do not pair by their position.
            if place is not None and not is_read and len(self._scopes) < _SCOPES_KEPT:
                self._scopes.add(place.scope)
        if value is None:
            return
        known = self._range
        if known is None:
            self._range = value, value
        elif value < known[0]:
            self._range = value, known[1]
        elif value > known[1]:
            self._range = known[0], value
        if is_read:
            self._reads += 1
            return
        self._changes += 1
        if len(self._places) < _PLACES_KEPT:
            self._places.add(value)

    @property
    def facts(self) -> OrderFacts:
        return OrderFacts(
            self._changes,
            self._reads,
            frozenset(self._places),
            frozenset(self._scopes),
            self._problem,
            self._range,
        )


def _joined_range(ours: Any, theirs: Any) -> Range | None:
    """Return the range of both. All places of an order have one type."""
    if ours is None or theirs is None:
        found: Range | None = theirs if ours is None else ours
        return found
    return min(ours[0], theirs[0]), max(ours[1], theirs[1])


def _first(places: frozenset[int | str], most: int) -> frozenset[int | str]:
    return frozenset(sorted(places, key=lambda place: (str(type(place)), place))[:most])
