"""Kafka's records in frames: the columns that decoding takes, whatever else a frame has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from cdcwire_conformance.spark.reading import KAFKA_COLUMNS
from cdcwire_conformance.spark.sources import Source, SourceError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def parquet_messages(spark: SparkSession, source: Source) -> DataFrame:
    """Return the messages of Parquet files. Raises: SourceError without Kafka's columns."""
    frame = spark.read.parquet(*source.files)
    return records_of(frame, F.col("_metadata.file_path"), source.folder)


def records_of(frame: DataFrame, file: Column, where: str) -> DataFrame:
    """Return Kafka's columns of a frame, and the file. Raises: SourceError."""
    kinds = dict(frame.dtypes)
    for name in ("key", "value"):
        if kinds.get(name) != "binary":
            found = f"column {name} is {kinds[name]}" if name in kinds else f"no column {name}"
            raise SourceError(f"{where}: {found}; Kafka's key and value are binary")
    casts = {"topic": "string", "partition": "int", "offset": "bigint"}
    columns = [F.col(name) for name in ("key", "value")]
    for name in KAFKA_COLUMNS[2:]:
        known = F.col(name) if name in kinds else F.lit(None)
        columns.append(known.cast(casts[name]).alias(name))
    return frame.select(*columns, file.alias("file"))
