"""Values of a feed in hours that the clocks of a zone skip or repeat.

A local time of a skipped hour does not exist, and one of a repeated hour means two instants. Both
are read as instants all the same, so a comparison reports how many there are. Offsets such as
``+08:00`` have no such hours. Only names of zones do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from cdcwire.model.events import Event, RowChange, TableName, full_name
from cdcwire.model.instants import UTC, clock_change, fixed_offset
from cdcwire.model.kinds import Column, DatetimeType, TimestampType, Type
from cdcwire.model.temporal import extended_text

if TYPE_CHECKING:  # verbs that need no Arrow count values too
    from cdcwire.arrow.batches import MessagePlace

_MAX_LAYOUTS = 1 << 12
_HOURS_NAMED = 3
_Layout: TypeAlias = tuple[Sequence[Column], "tuple[tuple[int, str], ...]"]
"""Columns, which are kept so that their identity holds, and the zones of those in a zone."""


@dataclass(frozen=True, slots=True)
class ChangedHours:
    """Values in hours that clocks change. ``hours``: the first of these, and one more if any."""

    count: int = 0
    hours: tuple[str, ...] = ()

    def joined(self, other: ChangedHours) -> ChangedHours:
        """Return the values of both."""
        hours = sorted({*self.hours, *other.hours})[: _HOURS_NAMED + 1]
        return ChangedHours(self.count + other.count, tuple(hours))

    def names(self) -> str:
        """Return the names of the hours, as far as they are kept."""
        more = ", …" if len(self.hours) > _HOURS_NAMED else ""
        return ", ".join(self.hours[:_HOURS_NAMED]) + more


@dataclass(frozen=True, slots=True)
class ClockFacts:
    """The values of one column. ``first``: the message of the first of them, where it is known."""

    zone: str
    skipped: ChangedHours
    repeated: ChangedHours
    first: MessagePlace | None = None

    def joined(self, other: ClockFacts) -> ClockFacts:
        """Return the facts of both shares, this one being the first."""
        return ClockFacts(
            self.zone,
            self.skipped.joined(other.skipped),
            self.repeated.joined(other.repeated),
            self.first,
        )

    def text(self, *, names_hours: bool = True) -> str:
        """Return the facts in words. ``names_hours``: False where values are hidden."""
        parts = []
        for verb, found, reading in (
            ("repeats", self.repeated, "as the first time"),
            ("skips", self.skipped, "with the offset before the change"),
        ):
            if found.count:
                number = f"{found.count:,} value{'' if found.count == 1 else 's'}"
                hours = f"{found.names()}; " if names_hours else ""
                where = f"an hour that zone {self.zone} {verb}"
                parts.append(f"{number} of {where} ({hours}read {reading})")
        return "; ".join(parts)


def zone_of(kind: Type, time_zone: str) -> str | None:
    """Return the named zone in which values of a kind are local times, or None.

    ``time_zone``: of values whose zone is not known.
    """
    if isinstance(kind, TimestampType) and kind.form == "text":  # a count is of UTC
        zone = kind.zone or time_zone
    elif isinstance(kind, DatetimeType):
        zone = time_zone
    else:
        return None
    return zone if fixed_offset(zone) is None else None


_NONE = ChangedHours()


class ClockTally:
    """Counts the values of a table, column by column."""

    __slots__ = ("_found", "_layouts", "_time_zone")

    def __init__(self, time_zone: str) -> None:
        self._time_zone = time_zone
        self._found: dict[str, ClockFacts] = {}
        self._layouts: dict[object, _Layout] = {}

    def add(
        self,
        layout: object,
        columns: Sequence[Column],
        values: Sequence[Any],
        place: MessagePlace | None = None,
    ) -> None:
        """Take an image of a row. ``layout``: the identity of its columns."""
        known = self._layouts.get(layout)
        if known is None:
            if len(self._layouts) >= _MAX_LAYOUTS:
                self._layouts.clear()
            known = self._layouts[layout] = columns, tuple(self._zoned(columns))
        for index, zone in known[1]:
            value: object = values[index]
            column = columns[index]
            if type(value) is int and isinstance(column.type, DatetimeType):
                value = extended_text(column.type, value)
            if not isinstance(value, str):
                continue
            change = clock_change(zone, value)
            if change is not None:
                hour = ChangedHours(1, (f"{value[:10]} {value[11:13]}:00",))
                is_skipped = change == "skipped"
                skipped, repeated = (hour, _NONE) if is_skipped else (_NONE, hour)
                facts = ClockFacts(zone, skipped, repeated, place)
                found = self._found.get(column.name)
                self._found[column.name] = facts if found is None else found.joined(facts)

    @property
    def facts(self) -> Mapping[str, ClockFacts]:
        """The facts of all rows so far, by column."""
        return dict(self._found)

    def _zoned(self, columns: Sequence[Column]) -> Iterator[tuple[int, str]]:
        for index, column in enumerate(columns):
            zone = zone_of(column.type, self._time_zone)
            if zone is not None:
                yield index, zone


class ClockNotes:
    """The local times of events whose zone is known, in hours that its clocks change."""

    def __init__(self) -> None:
        self._tallies: dict[TableName, ClockTally] = {}

    def of(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events, and count their values."""
        for event in events:
            if isinstance(event, RowChange):
                self._add(event)
            yield event

    def lines(self) -> Iterator[str]:
        """Yield a line for each column with such values."""
        for (schema, name), tally in sorted(self._tallies.items(), key=str):
            table = name if schema is None else f"{schema}.{name}"
            for column, facts in sorted(tally.facts.items()):
                yield f"{table}: {column}: {facts.text()}"

    def _add(self, change: RowChange) -> None:
        name = full_name(change.table)
        tally = self._tallies.get(name)
        if tally is None:
            self._tallies[name] = tally = ClockTally(UTC)
        for image in (change.before, change.after):
            if image is not None:
                tally.add(tuple(map(id, image.columns)), image.columns, image.values)
