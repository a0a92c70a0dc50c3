"""Changes of values by a release of a producer: one row reads otherwise before and after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cdcwire.model.kinds import Missing

Version: TypeAlias = tuple[int, ...]
Shown: TypeAlias = "str | Missing | None"
"""A value as text; None: NULL."""
Explains: TypeAlias = Callable[[str, Shown, Shown], bool]


def explains_nothing(kind: str, before: Shown, after: Shown) -> bool:
    """Return False: the change is not one of values."""
    return False


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """A change of one release.

    ``since``: the first version that has it. ``text``: what differs, in the words of a report.
    ``orders``: names of the orders of changes of the sources that it is about. ``explains``: given
    the kind of a column and its values before and after the release, returns whether the change
    made one of the other. ``sends_truncates``: no TRUNCATE was sent before.
    """

    since: Version
    text: str
    orders: frozenset[str]
    explains: Explains = explains_nothing
    sends_truncates: bool = False

    def is_between(self, older: Version, newer: Version) -> bool:
        """Return whether only the newer version has it; numbers that are left out may be any.

        Examples:
            >>> change = ReleaseChange((2, 5, 3), "", frozenset())
            >>> change.is_between((2, 5), (3, 6)), change.is_between((2, 6), (3, 6))
            (True, False)
            >>> change.is_between((1, 9), (2, 5))
            True

        """
        return older < self.since and self.since[: len(newer)] <= newer
