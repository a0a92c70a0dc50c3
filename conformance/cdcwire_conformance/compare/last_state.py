"""The rows of a feed that count for the last rows of a table, after TRUNCATE, DROP and RENAME.

A statement that empties or drops a table ends the rows before it. One that renames a table gives
its rows to another name. So the last rows of a table come from one or more *shares* of the feed.
A share has the rows of one name, from one statement up to another. Engines decode shares; they
decide nothing.

Rows are before or after a statement by the position by which they are replayed. A statement without
position counts by its place, as far as that has an order. One partition of a topic, one file and
a storage prefix have an order. If the order or the effect of a statement is not known, the table is
not compared. The reason names the statement and its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cdcwire.arrow.batches import MessagePlace
from cdcwire.arrow.schema import name_text
from cdcwire.core.orders import NoPlace, Order
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.rules import Window
from cdcwire_conformance.compare.statements import ColumnChange, Effect, effects_of
from cdcwire_conformance.decode.other_events import (
    MAX_STATEMENTS,
    PlacedStatement,
    RowSpan,
    part_of,
)
from cdcwire_conformance.decode.row_facts import Range

_KEEPING = ("creates", "reshapes")  # all rows stay, of the table that they are of
_LONGEST = 120  # characters of a statement in a line


@dataclass(frozen=True, slots=True)
class Moment:
    """A statement among the rows of a feed, by exactly one of its fields.

    Rows up to ``position``, of an offset below ``offset``, or in files whose number is below
    ``file`` are before it.
    """

    position: int | str | None = None
    offset: int | None = None
    file: int | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """Rows of a feed that count for a table: those of ``name`` after ``since``, up to ``until``.

    ``since``, ``until``: None: from the beginning, to the end. ``keeps_emptied``: the rows before
    ``since`` stay as deletes of their keys, so that they are counted.
    """

    name: TableName
    since: Moment | None = None
    until: Moment | None = None
    keeps_emptied: bool = False


@dataclass(frozen=True, slots=True)
class Reshaping:
    """An ALTER TABLE that may change values of rows before it. ``line``: with its place.

    ``columns``: what becomes of columns. ``is_last``: no row of the table is after it.
    """

    text: str
    line: str
    columns: tuple[ColumnChange, ...] = ()
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class LastState:
    """The effects of statements on the tables of a feed, by the feed's own names.

    ``shares``: of each table that statements touch; none of a table that has another name now.
    ``unknown``: why the last rows of a table are not known. ``notes``: what was applied to a table.
    ``reshaped``: statements that may change values of rows before them.
    """

    shares: Mapping[TableName, tuple[Share, ...]] = field(default_factory=dict)
    unknown: Mapping[TableName, str] = field(default_factory=dict)
    notes: Mapping[TableName, tuple[str, ...]] = field(default_factory=dict)
    reshaped: Mapping[TableName, tuple[Reshaping, ...]] = field(default_factory=dict)

    def of(self, name: TableName) -> tuple[Share, ...]:
        """Return the shares of a table."""
        return self.shares.get(name, (Share(name),))


@dataclass(frozen=True, slots=True)
class StatedFeed:
    """Facts about a feed: its statements, and where the rows of its tables are.

    ``order``: by which rows are replayed. ``ranges``: of the rows in it. ``is_prefix``: the files
    have one order. ``window``: of the rows that are compared. ``included``: the tables that were
    read; None: all. ``locate``: returns a place for people. ``hides_text``: of statements.
    """

    statements: Sequence[PlacedStatement]
    spans: Mapping[TableName, RowSpan]
    order: Order | None
    ranges: Mapping[TableName, Range]
    is_prefix: bool
    window: Window | None
    included: Collection[TableName] | None
    locate: Callable[[MessagePlace], str]
    hides_text: bool = False

    def named(self, statement: PlacedStatement) -> str:
        """Return a statement and its place for people."""
        words = " ".join((statement.query or "").split())
        if self.hides_text or not words:
            words = statement.what.upper()
        elif len(words) > _LONGEST:
            words = f"{words[:_LONGEST]}…"
        where = self.locate(statement.place)
        return f"{words} ({where})" if where else words


def last_state(feed: StatedFeed) -> LastState:
    """Return what the statements of a feed make of its tables."""
    if len(feed.statements) >= MAX_STATEMENTS:
        why = f"the feed has {MAX_STATEMENTS:,} DDL events or more"
        return LastState({}, dict.fromkeys(feed.spans, why), {})
    shares: dict[TableName, tuple[Share, ...]] = {}
    unknown: dict[TableName, str] = {}
    notes: dict[TableName, tuple[str, ...]] = {}
    reshaped: dict[TableName, tuple[Reshaping, ...]] = {}
    for steps in _connected(list(_steps(feed))):
        found = _Replay(feed, steps).run()
        shares.update(found.shares)
        unknown.update(found.unknown)
        notes.update(found.notes)
        reshaped.update(found.reshaped)
    return LastState(shares, unknown, notes, reshaped)


@dataclass(frozen=True, slots=True)
class _Step:
    """An effect on one table, and the statement that has it."""

    statement: PlacedStatement
    kind: str
    name: TableName
    to: TableName | None
    why: str
    columns: tuple[ColumnChange, ...] = ()

    @property
    def names(self) -> tuple[TableName, ...]:
        return (self.name,) if self.to is None else (self.name, self.to)


def _steps(feed: StatedFeed) -> Iterator[_Step]:
    """Yield the effects of the statements on tables."""
    names = _Names(feed.spans)
    for statement in feed.statements:
        for effect in effects_of(statement):
            to = None if effect.to is None else names.resolved(effect.to)
            for name in names.of(effect):
                yield _Step(statement, effect.kind, name, to, effect.why, effect.columns)


class _Names:
    """The names of the tables of a feed, which statements may spell in another case."""

    def __init__(self, known: Collection[TableName]) -> None:
        self._known = frozenset(known)
        self._folded: dict[TableName, set[TableName]] = {}
        for schema, table in known:
            for folded in {*_spelled(schema), ""}:
                self._folded.setdefault((folded, table.casefold()), set()).add((schema, table))

    def of(self, effect: Effect) -> list[TableName]:
        """Return the tables that an effect is about."""
        if effect.table is not None:
            return [self.resolved((effect.schema, effect.table))]
        if effect.schema is None:
            return list(self._known)
        schema = effect.schema.casefold()
        return [name for name in self._known if schema in _spelled(name[0])]

    def resolved(self, name: TableName) -> TableName:
        """Return the table that a name means; the name itself if the feed has no such table."""
        if name in self._known:
            return name
        found = self._folded.get(((name[0] or "").casefold(), name[1].casefold()), set())
        return next(iter(found)) if len(found) == 1 else name


def _spelled(schema: str | None) -> set[str]:
    """Return a schema as a statement may name it: alone, with its database, or by that."""
    whole = (schema or "").casefold()
    return {whole, whole.partition(".")[0], whole.rpartition(".")[2]}


def _connected(steps: Sequence[_Step]) -> list[list[_Step]]:
    """Return the steps in groups whose tables have nothing to do with each other."""
    group_of: dict[TableName, frozenset[TableName]] = {}
    for step in steps:
        joined = frozenset(step.names).union(*(group_of.get(name, ()) for name in step.names))
        group_of.update(dict.fromkeys(joined, joined))
    groups: dict[frozenset[TableName], list[_Step]] = {}
    for step in steps:
        groups.setdefault(group_of[step.name], []).append(step)
    return [group for group in groups.values() if any(each.kind != "creates" for each in group)]


class _Replay:
    """Carries out the statements of tables that have to do with each other."""

    def __init__(self, feed: StatedFeed, steps: Sequence[_Step]) -> None:
        self.feed = feed
        self.steps = steps
        self.names = tuple(dict.fromkeys(name for step in steps for name in step.names))
        self.shares: dict[TableName, tuple[Share, ...]] = {n: (Share(n),) for n in self.names}
        self.created: set[TableName] = set()
        self.unknown: dict[TableName, str] = {}
        self.notes: dict[TableName, list[str]] = {}
        self.reshaped: dict[TableName, list[Reshaping]] = {}

    def run(self) -> LastState:
        """Return what becomes of the tables."""
        placed = self._placed()
        if placed is None:
            return self._without_order()
        for moment, step in placed:
            if step.kind == "creates":
                self.created.add(step.name)
            elif step.kind == "empties":
                self._empty(step, moment)
            elif step.kind == "moves" and step.to is not None:
                self._move(step, step.to, moment)
            elif step.kind == "reshapes":
                self._reshape(step, moment)
            elif self._has_rows(step.name, moment):
                self.unknown[step.name] = self._reason(step, step.why)
        shares = {
            name: self._known(name, own)
            for name, own in self.shares.items()
            if own != (Share(name),)
        }
        notes = {name: tuple(lines) for name, lines in self.notes.items()}
        reshaped = {name: tuple(each) for name, each in self.reshaped.items()}
        return LastState(shares, self.unknown, notes, reshaped)

    def _reshape(self, step: _Step, moment: Moment | None) -> None:
        if moment is None or self._has_rows(step.name, moment):
            text = " ".join((step.statement.query or "").split())
            line = self.feed.named(step.statement)
            is_last = moment is not None and not self._has_rows(step.name, moment, after=True)
            found = Reshaping(text, line, step.columns, is_last)
            self.reshaped.setdefault(step.name, []).append(found)

    def _without_order(self) -> LastState:
        steps = [step for step in self.steps if step.kind not in _KEEPING]
        if steps:
            why = self._reason(steps[0], "the feed does not say which rows came before it")
            return LastState({}, dict.fromkeys(self.names, why))
        for step in self.steps:
            if step.kind == "reshapes":
                self._reshape(step, None)
        return LastState(reshaped={name: tuple(each) for name, each in self.reshaped.items()})

    def _empty(self, step: _Step, moment: Moment) -> None:
        name = step.name
        if self._has_rows(name, moment):
            self._note(name, f"{self.feed.named(step.statement)}: no row before it is left")
        self.shares[name] = (Share(name, since=moment),)
        self.unknown.pop(name, None)
        self.reshaped.pop(name, None)
        self.created.discard(name)

    def _move(self, step: _Step, to: TableName, moment: Moment) -> None:
        name = step.name
        if to == name:
            return
        is_untouched = self.shares[to] == (Share(to),)
        if to in self.created or (is_untouched and self._has_rows(to, moment)):
            why = f"the table {name_text(to)} exists before it"
            self.unknown |= dict.fromkeys((name, to), self._reason(step, why))
            return
        if self._has_rows(name, moment):
            line = f"{self.feed.named(step.statement)}: the rows of {name_text(name)} before it "
            self._note(to, f"{line}count as its rows")
        included = self.feed.included
        if included is not None and name not in included:
            why = f"{name_text(name)} was not read; include it too"
            self.unknown[to] = self._reason(step, why)
        elif name in self.unknown:
            self.unknown[to] = self.unknown.pop(name)
        moved = (each if each.until else replace(each, until=moment) for each in self.shares[name])
        self.shares[to] = (*moved, Share(to, since=moment))
        self.shares[name] = (Share(name, since=moment),)
        self.notes.setdefault(to, []).extend(self.notes.pop(name, []))
        self.reshaped.setdefault(to, []).extend(self.reshaped.pop(name, []))
        self.created.discard(name)
        self.created.add(to)

    def _known(self, name: TableName, shares: Sequence[Share]) -> tuple[Share, ...]:
        """Return the shares that have rows; a table whose rows all went keeps them as deletes."""
        if len(shares) == 1 and name not in self._moved_away():
            return (replace(shares[0], keeps_emptied=True),)
        return tuple(
            each
            for each in shares
            if each.name in self.feed.spans
            and (each.since is None or self._has_rows(each.name, each.since, after=True))
        )

    def _moved_away(self) -> set[TableName]:
        return {step.name for step in self.steps if step.kind == "moves"}

    def _note(self, name: TableName, line: str) -> None:
        self.notes.setdefault(name, []).append(line)

    def _reason(self, step: _Step, why: str) -> str:
        return f"{self.feed.named(step.statement)} can't be applied: {why}"

    def _has_rows(self, name: TableName, moment: Moment, *, after: bool = False) -> bool:
        """Return whether a table has rows before a moment, or after it, as far as that is known."""
        span = self.feed.spans.get(name)
        if span is None:
            return False
        known: Any = span.offsets
        limit: Any = moment.offset if moment.file is None else moment.file
        if moment.position is not None:
            known, limit = self.feed.ranges.get(name), moment.position
            return known is None or (known[1] > limit if after else known[0] <= limit)
        return known is None or (known[1] >= limit if after else known[0] < limit)

    def _placed(self) -> list[tuple[Moment, _Step]] | None:
        """Return the steps in their order, each with its moment; None if that is not known."""
        feed = self.feed
        if feed.is_prefix:
            return [(Moment(file=step.statement.place.partition), step) for step in self.steps]
        by_position = self._by_position()
        if by_position is not None or (feed.window is not None and feed.window.is_bounded):
            return by_position
        parts = {part_of(step.statement.place) for step in self.steps}
        for name in self.names:
            parts |= feed.spans[name].parts if name in feed.spans else set()
        statements = [step.statement for step in self.steps]
        if len(parts) != 1 or not all(each.is_alone for each in statements):
            return None
        if any(each.place.offset is None for each in statements):
            return None
        in_order = sorted(
            self.steps, key=lambda s: (s.statement.place.offset or 0, s.statement.number)
        )
        return [(Moment(offset=step.statement.place.offset), step) for step in in_order]

    def _by_position(self) -> list[tuple[Moment, _Step]] | None:
        """Return the steps in the order of their positions; a feed may send one several times."""
        order, window = self.feed.order, self.feed.window
        found: dict[tuple[object, ...], tuple[Any, int, _Step]] = {}
        for number, step in enumerate(self.steps):
            try:
                place = None if order is None else order.place(step.statement.position)
            except NoPlace:
                return None
            if place is None:
                return None
            end = None if window is None else window.end
            if end is not None and isinstance(place.value, int) and place.value >= end:
                continue
            same = place.value, step.kind, step.name, step.to
            found.setdefault(same, (place.value, number, step))
        in_order = sorted(found.values(), key=lambda each: each[:2])
        return [(Moment(position=value), step) for value, _, step in in_order]
