"""Facts about the row changes of a share of a feed. Facts of two shares join to those of both.

- ``Extent``: how much of a feed it is.
- ``RowFacts``: which orders and fields all rows have. A comparison pairs rows by an order only if
  every row of both feeds has a place in it.
- ``OldRows``: the deletes that have their whole row, where the database decides by a setting. The
  setting may alter within a feed. Three kinds of rows show what it was. A delete may have values
  that only a whole row has. An update has its old row, or does not have it. A delete that shows
  nothing has the kind of its neighbours. Between two kinds it may have its key only.
- ``KindWords``: the kinds that the values of each column have, as far as these meet only with loss.
  Without types in its messages, a column may have 1 in one row and "1" in another. Both are read as
  text then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from cdcwire.clock_changes import ClockFacts
from cdcwire.model import kinds
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column

POSITION = "lsn"
"""The member of a position that orders the rows of a database with such a setting."""
RUNS_KEPT = 64

Between: TypeAlias = "tuple[int | None, int | None]"
"""Two positions, neither of them included. None: without a bound."""


class Run(NamedTuple):
    """The first and the last position of rows that show one kind."""

    first: int
    last: int
    is_whole: bool


@dataclass(frozen=True, slots=True)
class OldRows:
    """Runs of rows of a table that show one kind, by their first position.

    ``is_complete``: false if rows without a position, or too many runs, are left out.
    """

    runs: tuple[Run, ...] = ()
    is_complete: bool = True

    def joined(self, other: OldRows) -> OldRows:
        """Return the runs of both shares."""
        if not other.runs or not self.runs:
            runs = self.runs or other.runs
        else:
            runs = _joined_runs(sorted((*self.runs, *other.runs)))
        is_complete = self.is_complete and other.is_complete and len(runs) <= RUNS_KEPT
        return OldRows(runs[:RUNS_KEPT], is_complete)

    def key_only(self) -> tuple[Between, ...] | None:
        """Return between which positions a delete may have its key only; None if not known.

        If no row shows that it is whole, there are no such positions: it is so everywhere.
        """
        if not self.is_complete:
            return None
        if not any(run.is_whole for run in self.runs):
            return ()
        whole = [place for run in self.runs if run.is_whole for place in (run.first, run.last)]
        found: list[Between] = []
        for run in self.runs:
            if not run.is_whole:
                before = max((place for place in whole if place < run.first), default=None)
                after = min((place for place in whole if place > run.last), default=None)
                if (before, after) not in found:
                    found.append((before, after))
        return tuple(found)


NO_OLD_ROWS = OldRows()


class OldRowsTally:
    """Gathers the runs of a table, in the order of a share."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._is_complete = True

    def add(self, position: int | None, *, is_whole: bool) -> None:
        """Take a row that shows its kind."""
        if position is None or len(self._runs) > RUNS_KEPT:
            self._is_complete = False
        elif self._runs and self._runs[-1].is_whole == is_whole:
            first, last, _ = self._runs[-1]
            self._runs[-1] = Run(min(first, position), max(last, position), is_whole)
        else:
            self._runs.append(Run(position, position, is_whole))

    @property
    def found(self) -> OldRows:
        """The runs so far."""
        return OldRows(tuple(sorted(self._runs)), self._is_complete).joined(NO_OLD_ROWS)


def _joined_runs(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return runs with neighbours of one kind as one."""
    found: list[Run] = []
    for run in runs:
        if found and found[-1].is_whole == run.is_whole:
            found[-1] = found[-1]._replace(last=max(found[-1].last, run.last))
        else:
            found.append(run)
    return tuple(found)


Bounds = Mapping[str, "tuple[int, int]"]


@dataclass(frozen=True, slots=True)
class Extent:
    """The extent of a share of a feed.

    ``messages``: all, also those that can't be read. ``bounds``: the lowest and the highest value
    of each member of a position.
    """

    messages: int = 0
    bounds: Bounds = field(default_factory=dict)

    def joined(self, other: Extent) -> Extent:
        """Return the extent of both shares."""
        bounds = dict(self.bounds)
        for name, (low, high) in other.bounds.items():
            own = bounds.get(name, (low, high))
            bounds[name] = min(own[0], low), max(own[1], high)
        return Extent(self.messages + other.messages, bounds)


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


KindWords: TypeAlias = Mapping[str, frozenset[str]]
"""The words for the kinds of each column. A part of a column is ``v.member`` or ``v[]``."""

_NUMBERS = (kinds.IntType, kinds.FloatType, kinds.DecimalType, kinds.BitType, kinds.YearType)
_TEXTS = (kinds.EnumType, kinds.SetType, kinds.TextType)


def kind_words(columns: Iterable[Column]) -> KindWords:
    """Return the words for the kinds of some columns, each met once."""
    return {path: frozenset({word}) for each in columns for path, word in _parts(each)}


def joined_words(first: KindWords, second: KindWords) -> KindWords:
    """Return the words of both."""
    paths = dict.fromkeys((*first, *second))
    return {each: first.get(each, frozenset()) | second.get(each, frozenset()) for each in paths}


def mixed_words(words: KindWords) -> KindWords:
    """Return the columns that have values of several kinds."""
    return {path: each for path, each in words.items() if len(each) > 1}


def _parts(column: Column) -> Iterator[tuple[str, str]]:
    """Yield a column and its parts, with a word for each. A NULL fits every kind."""
    kind, name = column.type, column.name
    if isinstance(kind, _NUMBERS):
        yield name, "number"
    elif isinstance(kind, _TEXTS):
        yield name, "text"
    elif isinstance(kind, kinds.StructType):
        yield name, "struct"
        for each in kind.columns:
            yield from _parts(Column(f"{name}.{each.name}", each.type))
    elif isinstance(kind, (kinds.ArrayType, kinds.MapType)):
        item = kind.item if isinstance(kind, kinds.ArrayType) else kind.value
        yield name, "array" if isinstance(kind, kinds.ArrayType) else "map"
        yield from _parts(Column(f"{name}[]", item))
    elif not isinstance(kind, kinds.UnknownType):
        yield name, kind_text(kind).partition("(")[0]
