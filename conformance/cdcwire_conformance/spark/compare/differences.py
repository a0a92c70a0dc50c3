"""All differences of a comparison as Parquet, a row for each column that differs.

What a row says is what the report says of the same difference, and is made of it by the same code,
in the workers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from cdcwire_conformance.arrow.schema import CanonicalTable
from cdcwire_conformance.arrow.types import SchemaError
from cdcwire_conformance.spark.compare.pairing import Layout
from cdcwire_conformance.spark.compare.result import Place, RowDifference, Shown
from cdcwire_conformance.spark.compare.showing import difference_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The columns of the files.
COLUMNS = """
  `table` STRING, `difference` BIGINT, `kind` STRING, `op` STRING, `position` STRING, `key` STRING,
  `left_copies` BIGINT, `right_copies` BIGINT, `left_place` STRING, `right_place` STRING,
  `image` STRING, `column` STRING, `type` STRING, `left` STRING, `right` STRING,
  `left_absent` BOOLEAN, `right_absent` BOOLEAN
"""
_SHARE = 40  # bits of a difference's number below that of the task that numbers it


def begin_differences(spark: SparkSession, folder: str) -> None:
    """Write no difference, so that the folder can be read if none comes.

    Raises: SchemaError for a folder that has anything.
    """
    path = Path(folder)
    if "://" not in folder and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise SchemaError(f"{folder}: differences are written to a new or an empty folder")
    spark.createDataFrame([], COLUMNS).coalesce(1).write.mode("append").parquet(folder)


def write_differences(texts: DataFrame, table: CanonicalTable, layout: Layout, folder: str) -> None:
    """Add the differences of a table to the folder. ``texts``: as ``showing.texts_of`` gives."""

    def rows_of(share: int, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        for number, row in enumerate(rows):
            difference = difference_of(row, table, layout)
            yield from rows_of_difference(difference, str(table), (share << _SHARE) + number)

    found = texts.rdd.mapPartitionsWithIndex(rows_of)
    frame = texts.sparkSession.createDataFrame(found, COLUMNS, verifySchema=False)
    frame.write.mode("append").parquet(folder)


def rows_of_difference(found: RowDifference, table: str, number: int) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each column that differs, or one where the row is told as a whole."""
    start = (
        table,
        number,
        found.verdict,
        found.op,
        ", ".join(f"{name} {value}" for name, value in found.position) or None,
        json.dumps({name: shown.text for name, shown in found.key}, ensure_ascii=False),
        found.left_count,
        found.right_count,
        _text_of(found.left_place),
        _text_of(found.right_place),
    )
    for each in found.columns:
        sides = (each.left, each.right)
        values = (side.text for side in sides)
        yield (*start, each.image, each.column, each.kind, *values, *map(_is_absent, sides))
    if not found.columns:
        yield (*start, *(None,) * 7)


def _text_of(place: Place | None) -> str | None:
    return None if place is None else str(place)


def _is_absent(shown: Shown) -> bool:
    return shown.is_absent
