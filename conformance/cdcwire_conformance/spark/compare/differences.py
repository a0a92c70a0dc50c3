"""The files of all differences: Parquet that Spark writes, a row for each column that differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cdcwire_conformance.compare.difference_files import COLUMNS, check_empty

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

_SCHEMA = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())


def begin_differences(spark: SparkSession, folder: str) -> None:
    """Write no difference, so that the folder can be read if none comes.

    Raises: SchemaError for a folder that has anything.
    """
    check_empty(folder)
    spark.createDataFrame([], _SCHEMA).coalesce(1).write.mode("append").parquet(folder)


def append_differences(spark: SparkSession, rows: RDD[tuple[Any, ...]], folder: str) -> None:
    """Add rows of ``rows_of_difference`` to the folder."""
    frame = spark.createDataFrame(rows, _SCHEMA, verifySchema=False)
    frame.write.mode("append").parquet(folder)
