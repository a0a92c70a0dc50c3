"""The changes of a DataFrame that are in a window of positions."""

from __future__ import annotations

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType

from cdcwire_conformance.compare.rules import Window

_POSITION = DecimalType(38, 0)  # holds each of the positions; no literal is rounded


def in_window(frame: DataFrame, position: str, window: Window | None) -> DataFrame:
    """Return the changes of a frame that are in a window, and its unreadable rows.

    ``position``: the name of a column of the frame. ``window``: None: all changes.
    """
    if window is None or not window.is_bounded:
        return frame
    return frame.where(_holds(window, F.col(position)))


def _holds(window: Window, position: Column) -> Column:
    bounds = []
    if window.start is not None:
        bounds.append(position >= F.lit(str(window.start)).cast(_POSITION))
    if window.end is not None:
        bounds.append(position < F.lit(str(window.end)).cast(_POSITION))
    return F.coalesce(reduce(and_, bounds, F.lit(True)), F.lit(window.has_unplaced))
