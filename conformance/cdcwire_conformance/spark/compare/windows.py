"""Windows: only the changes whose position is in a range, the same range on both sides.

A window is of the position by which rows pair (``Rules.position``: commit_ts, sequence_id or lsn),
from ``start`` to, not with, ``end``. So the windows ``[a, b)`` and ``[b, c)`` together are
``[a, c)``: no change is in two of them and none in no one, except these:

- a change without a position (NULL), though its format has one, is in every window;
- a delete of Avro, which never has one, is in none, and so the other side's deletes are not
  compared either. ``not compared:`` says so.

For a comparison of feeds that grow, ask for windows below the position that both have passed:
``compare_feeds(spark, left, right, Wishes(window=Window(a, b)))``, or with frames at hand
``compare_frames(left, right, table, rules, window=Window(a, b))``. ``in_window`` is what both use.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType

_POSITION = DecimalType(38, 0)  # holds each of the positions; no literal is rounded


@dataclass(frozen=True, slots=True)
class Window:
    """Positions from ``start`` to, not with, ``end``; None: no bound there.

    ``has_unplaced``: a change without a position is in it, and so is what can't be read.
    Raises: ValueError for a window that can't hold anything.
    """

    start: int | None = None
    end: int | None = None
    has_unplaced: bool = True

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError(f"a window from {self.start} to {self.end} holds nothing")

    def __str__(self) -> str:
        start = [] if self.start is None else [f"from {self.start}"]
        end = [] if self.end is None else [f"below {self.end}"]
        return " and ".join(start + end) or "all"

    def holds(self, position: Column) -> Column:
        """Return whether the window has a position."""
        bounds = []
        if self.start is not None:
            bounds.append(position >= F.lit(str(self.start)).cast(_POSITION))
        if self.end is not None:
            bounds.append(position < F.lit(str(self.end)).cast(_POSITION))
        return F.coalesce(reduce(and_, bounds, F.lit(True)), F.lit(self.has_unplaced))


def in_window(frame: DataFrame, position: str, window: Window | None) -> DataFrame:
    """Return the changes of a frame that a window has, and what could not be read of it.

    ``position``: the name of a column of the frame. None: all.
    """
    if window is None or (window.start is None and window.end is None):
        return frame
    return frame.where(window.holds(F.col(position)))
