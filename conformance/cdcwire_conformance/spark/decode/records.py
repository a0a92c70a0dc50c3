"""Kafka's records in frames: the columns that decoding takes, whatever else a frame has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from cdcwire_conformance.sources.source_urls import Source, SourceError
from cdcwire_conformance.spark.decode.kafka import topic_frame
from cdcwire_conformance.spark.decode.reading import HEADERS, KAFKA_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


_HEADERS_TYPE = "array<struct<key:string,value:binary>>"


def messages_of_records(spark: SparkSession, source: Source) -> DataFrame:
    """Return the messages of a topic, or of Parquet files.

    Raises: SourceError without Kafka's columns, and where a topic can't be read.
    """
    if source.topic is not None:
        frame = topic_frame(spark, source.topic)
        return records_of(frame, F.lit(None).cast("string"), str(source))
    frame = spark.read.parquet(*source.files)
    return records_of(frame, F.col("_metadata.file_path"), source.folder)


def records_of(frame: DataFrame, file: Column, where: str) -> DataFrame:
    """Return Kafka's columns of a frame, headers if it has them, and the file.

    Raises: SourceError.
    """
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
    if kinds.get(HEADERS) == _HEADERS_TYPE:
        columns.append(F.col(HEADERS))
    return frame.select(*columns, file.alias("file"))
