"""A topic as a stream: decoded while it grows, and written to Parquet, each record once.

A stream goes on where its checkpoint says. A batch's files count only when the sink's own list in
the folder names them. So a job that was killed leaves nothing out and nothing twice for those who
read the folder with Spark.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.arrow.types import Profile, Temporal
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire_conformance.decode.reading import OnError
from cdcwire_conformance.sources.source_urls import Source, SourceError
from cdcwire_conformance.spark.reading.frames import OtherColumns, decode_kafka_frame
from cdcwire_conformance.spark.reading.kafka import starting_offsets, topic_at_rest, with_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

CHECKPOINT = "_checkpoint"  # Spark passes over names that begin so


def decode_stream(
    spark: SparkSession,
    source: Source,
    table: CanonicalTable,
    on_error: OnError = "stop",
    *,
    context: Context = NO_CONTEXT,
    temporal: Temporal = "text",
    profile: Profile | None = None,
    time_zone: str = "UTC",
    other_columns: OtherColumns = "error",
    records_of_batch: int | None = None,
) -> DataFrame:
    """Return the row changes of one table of a topic as a streaming DataFrame.

    ``source``: a topic without an end; where it begins counts for the first start only.
    ``records_of_batch``: the maximum number of records at a time. All else as in ``decode_frame``.
    Raises: SourceError, SchemaError, ValueError for an option that is not known.
    """
    topic = source.topic
    if topic is None:
        raise SourceError(f"{source}: only topics are streams")
    if topic.end != "latest":
        raise SourceError(f"{source}: a stream has no end; decode_frame reads a part of a topic")
    # What a stream has read may be gone when it starts again. At a first start Spark looks itself.
    known = topic_at_rest(spark, topic, must_have=False)
    # Partitions that are added later are read from their beginning.
    by, names = (
        ("subscribePattern", topic.pattern) if "*" in topic.topic else ("subscribe", topic.topic)
    )
    reader = with_options(spark.readStream.format("kafka"), topic).option(by, names)
    reader = reader.option("startingOffsets", starting_offsets(known))
    if records_of_batch is not None:
        reader = reader.option("maxOffsetsPerTrigger", records_of_batch)
    return decode_kafka_frame(
        reader.load(),
        source.format.name,
        table,
        on_error,
        context=context,
        temporal=temporal,
        profile=profile,
        time_zone=time_zone,
        other_columns=other_columns,
    )


def stream_to_parquet(
    frame: DataFrame,
    folder: str | Path,
    checkpoint: str | Path | None = None,
    *,
    seconds: float | None = None,
) -> StreamingQuery:
    """Start to write a streaming DataFrame to Parquet, and return Spark's query.

    ``checkpoint``: a folder of this stream alone; by default one inside of ``folder``. A stream
    that finds one goes on there. ``seconds``: look for new records every N seconds, until it is
    stopped; None: take the records that exist when it starts, in as many batches as it needs, and
    end. ``query.awaitTermination()`` waits, and raises what the job failed with.
    """
    place = f"{folder}/{CHECKPOINT}" if checkpoint is None else str(checkpoint)
    writer = frame.writeStream.format("parquet").option("checkpointLocation", place)
    if seconds is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{round(seconds * 1000)} milliseconds")
    return writer.start(str(folder))
