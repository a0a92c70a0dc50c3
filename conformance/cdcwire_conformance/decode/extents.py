"""How much of a feed there is: its messages, and the first and the last of its positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from cdcwire.core.rows import Row
from cdcwire.model.events import RowChange

_NAMES = ("commit_ts", "sequence_id", "lsn", "commit_ms")  # the members that are whole numbers
_OF_ROWS = tuple(name for name in _NAMES if name in Row._fields)

Bounds = Mapping[str, "tuple[int, int]"]


@dataclass(frozen=True, slots=True)
class Extent:
    """The extent of a share of a feed.

    ``messages``: all, also those that can't be read. ``bounds``: the lowest and the highest value
    of each member of a position.
    """

    messages: int = 0
    bounds: Bounds = field(default_factory=lambda: MappingProxyType({}))

    def joined(self, other: Extent) -> Extent:
        """Return the extent of both shares."""
        bounds = dict(self.bounds)
        for name, (low, high) in other.bounds.items():
            own = bounds.get(name, (low, high))
            bounds[name] = min(own[0], low), max(own[1], high)
        return Extent(self.messages + other.messages, bounds)


class ExtentCounting:
    """Counts messages, and keeps the lowest and the highest positions of rows."""

    def __init__(self) -> None:
        self.messages = 0
        self._bounds: dict[str, tuple[int, int]] = {}

    def add(self, change: Row | RowChange) -> None:
        """Count the position of a row change."""
        names = _OF_ROWS if isinstance(change, Row) else _NAMES
        source = change if isinstance(change, Row) else change.position
        for name in names:
            value = getattr(source, name)
            if value is None:
                continue
            known = self._bounds.get(name)
            if known is None:
                self._bounds[name] = value, value
            elif value > known[1]:
                self._bounds[name] = known[0], value
            elif value < known[0]:
                self._bounds[name] = value, known[1]

    def found(self) -> Extent:
        """Return the extent so far."""
        return Extent(self.messages, dict(self._bounds))
