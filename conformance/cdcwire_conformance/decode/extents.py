"""How much of a feed there is: its messages, and the first and the last of its positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
