"""Values of a feed in hours that the clocks of a zone skip or repeat.

A local time of a skipped hour does not exist, and one of a repeated hour means two instants. Both
are read as instants all the same, so a comparison reports how many there are. Offsets such as
``+08:00`` have no such hours. Only names of zones do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from cdcwire.model.instants import clock_change, fixed_offset
from cdcwire.model.kinds import Column, DatetimeType, TimestampType, Type
from cdcwire.model.temporal import extended_text
from cdcwire_conformance.arrow.batches import MessagePlace

_MAX_LAYOUTS = 1 << 12
_Layout: TypeAlias = tuple[Sequence[Column], "tuple[tuple[int, str], ...]"]
"""Columns, which are kept so that their identity holds, and the zones of those in a zone."""


@dataclass(frozen=True, slots=True)
class ClockFacts:
    """The values of one column. ``first``: the message of the first of them."""

    zone: str
    skipped: int
    repeated: int
    first: MessagePlace

    def joined(self, other: ClockFacts) -> ClockFacts:
        """Return the facts of both shares, this one being the first."""
        return ClockFacts(
            self.zone, self.skipped + other.skipped, self.repeated + other.repeated, self.first
        )


def zone_of(kind: Type, time_zone: str) -> str | None:
    """Return the named zone in which values of a kind are local times; None if there is none.

    ``time_zone``: of values whose zone is not known.
    """
    if isinstance(kind, TimestampType) and kind.form == "text":  # a count is of UTC
        zone = kind.zone or time_zone
    elif isinstance(kind, DatetimeType):
        zone = time_zone
    else:
        return None
    return zone if fixed_offset(zone) is None else None


class ClockTally:
    """Counts the values of a table, column by column."""

    __slots__ = ("_found", "_layouts", "_time_zone")

    def __init__(self, time_zone: str) -> None:
        self._time_zone = time_zone
        self._found: dict[str, ClockFacts] = {}
        self._layouts: dict[object, _Layout] = {}

    def add(
        self, layout: object, columns: Sequence[Column], values: Sequence[Any], place: MessagePlace
    ) -> None:
        """Take an image of a row. ``layout``: the identity of its columns."""
        known = self._layouts.get(layout)
        if known is None:
            if len(self._layouts) >= _MAX_LAYOUTS:
                self._layouts.clear()
            known = self._layouts[layout] = columns, tuple(self._zoned(columns))
        for index, zone in known[1]:
            value, column = values[index], columns[index]
            if type(value) is int and isinstance(column.type, DatetimeType):
                value = extended_text(column.type, value)
            change = clock_change(zone, value) if isinstance(value, str) else None
            if change is not None:
                facts = ClockFacts(zone, int(change == "skipped"), int(change == "repeated"), place)
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
