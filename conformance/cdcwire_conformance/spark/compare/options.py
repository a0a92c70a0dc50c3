"""The options of a comparison, and the window of positions that it may be limited to.

A window has the changes from position ``start`` up to, but not including, ``end``. The position is
the one by which rows pair (``ComparisonRules.position``). The windows ``[a, b)`` and ``[b, c)``
together have each change of ``[a, c)`` exactly once, with two exceptions:

- a change without a position (NULL), though its format has one, is in every window;
- a delete of a format whose deletes have no position is in no window. The deletes of the other side
  are then not compared either, and ``not compared:`` says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Literal, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType

from cdcwire.core.format import TableName
from cdcwire.model.events import Table
from cdcwire_conformance.arrow.types import Temporal
from cdcwire_conformance.spark.decode.reading import OnError

Mode: TypeAlias = Literal["events", "final"]

DEFAULT_LIMIT = 20

_POSITION = DecimalType(38, 0)  # holds each of the positions; no literal is rounded


@dataclass(frozen=True, slots=True)
class Window:
    """Positions from ``start`` up to, but not including, ``end``; None: no bound.

    ``has_unplaced``: it has changes without a position, and what can't be read.
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
    """Return the changes of a frame that are in a window, and its unreadable rows.

    ``position``: the name of a column of the frame. ``window``: None: all changes.
    """
    if window is None or (window.start is None and window.end is None):
        return frame
    return frame.where(window.holds(F.col(position)))


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """The options of a comparison.

    ``definitions``: tables as a DDL defines them. ``include`` and ``columns``: compare only these;
    None: all. ``common``: compare the common columns if schemas differ. ``look_into_text``: find
    the columns that hold ill-formed text, in a pass that decodes everything. ``window``: compare
    only changes in it. ``mode``: compare all changes, or the last row of each key. ``order``: find
    changes that come too late among those of their key. ``allow_repeats``: a row that is sent again
    later is not a difference. ``differences_to``: a directory to which all differences are written
    as Parquet.
    """

    definitions: tuple[Table, ...] = ()
    include: frozenset[TableName] | None = None
    columns: frozenset[str] | None = None
    limit: int = DEFAULT_LIMIT
    exact: bool = False
    split_keys: bool = True
    common: bool = False
    on_error: OnError = "stop"
    temporal: Temporal = "text"
    time_zone: str = "UTC"
    look_into_text: bool = False
    window: Window | None = None
    mode: Mode = "events"
    order: bool = True
    allow_repeats: bool = False
    differences_to: str | None = None


DEFAULT_OPTIONS = CompareOptions()
