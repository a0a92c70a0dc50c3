"""The deletes of a table that have their whole row, where the database decides by a setting.

The setting may alter within a feed. Three kinds of rows show what it was. A delete may have values
that only a whole row has. An update has its old row, or does not have it. A delete that shows
nothing is of the kind of its neighbours. Between neighbours of two kinds it may have its key only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

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
