"""A feed to a DataFrame of one table's row changes, decoded in Spark's workers.

JSON lines are read and decoded in one step, in Python; Parquet and topics are read by Spark, and
their messages are decoded in ``mapInArrow``. Nothing but counts and errors ever comes to the
driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from cdcwire.arrow.batches import MessagePlace
from cdcwire.arrow.schema import CanonicalTable
from cdcwire.arrow.types import Profile, Temporal
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.orders import Order
from cdcwire.files.stores import open_here
from cdcwire.registry import get_format
from cdcwire_conformance.decode.many_tables import decode_tables
from cdcwire_conformance.decode.opening import OpenedSource, open_source, ready_job
from cdcwire_conformance.decode.prefix import PrefixPlan
from cdcwire_conformance.decode.reading import (
    Job,
    OnError,
    decode_messages,
    decode_pieces,
    messages_of_batches,
    messages_of_piece,
)
from cdcwire_conformance.decode.stored_rows import StoredData, decode_files, problem_batches
from cdcwire_conformance.decode.workers import Numbered, work_of_files, work_of_lines
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.spark.reading.kafka import messages_of_records, records_of
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FLAT_COLUMNS = ("op", "commit_ts", "sequence_id", "lsn")

OtherColumns: TypeAlias = Literal["error", "skip"]


def decode_frame(
    spark: SparkSession,
    source: Source | OpenedSource,
    table: CanonicalTable,
    on_error: OnError = "stop",
    *,
    context: Context = NO_CONTEXT,
    temporal: Temporal = "text",
    profile: Profile | None = None,
    time_zone: str = "UTC",
    other_columns: OtherColumns = "error",
    share_bytes: int | None = None,
    pairs_rows: bool = False,
    order: Order | None = None,
) -> DataFrame:
    """Return the row changes of one table, as ``event_schema(table)`` says.

    ``source``: one that ``open_source`` made ready has its own context, and is not opened again.

    ``on_error``: "stop" fails the job at the first message that breaks its format or value that
    does not fit, with a FeedError's line; "row" gives a row whose ``error`` says it.
    ``context``: the producer's options, table definitions, claim-check files.
    ``other_columns``: what becomes of columns that ``table`` does not have: an error, or skipped,
    undecoded where the format can. ``time_zone``: where texts of unknown zone are read, if the
    table has the instant in UTC. ``share_bytes``: how much of JSON lines a task reads.
    ``pairs_rows``: ``source.row`` is the number of a row in its message, if that has several, and a
    row that can't be read keeps its key.
    ``order``: a column of its name has the places of rows.
    Raises: SchemaError, SourceError, ValueError for an option that is not known.
    """
    names = [(table.schema, table.table)]
    workers = SparkWorkers(spark)
    opened = open_source(source, context, on_error, names, counts=False, workers=workers)
    source = opened.source
    job = Job(
        source.format,
        opened.context,
        table,
        temporal,
        profile,
        time_zone,
        on_error,
        has_lines=source.kind == "jsonl",
        pairs_rows=pairs_rows,
        order=order,
    )
    job = ready_job(job, skips_others=other_columns == "skip")
    if source.has_records:
        return _decoded_records(messages_of_records(spark, source), job)
    if opened.prefix is not None:
        return _decoded_files(spark, opened.prefix, job, share_bytes)

    def decode_share(number: int, pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
        yield from decode_pieces(job, pieces)

    work = work_of_lines(source, workers.count, share_bytes)
    return workers.frame(work, decode_share, spark_schema(job))


def decode_tables_frame(
    spark: SparkSession,
    opened: OpenedSource,
    jobs: Sequence[Job],
    send: Callable[[Iterable[Numbered]], Iterator[pa.RecordBatch]],
    schema: str,
) -> DataFrame:
    """Return what is sent of the rows of several tables, which are decoded in one pass.

    ``send`` makes rows of ``schema`` of decoded batches with the number of their job. The batches
    of a job are in the order of the feed. The jobs differ in their tables only.
    """

    def decode_records(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from send(decode_tables(jobs, messages_of_batches(batches)))

    def decode_lines(share: int, pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
        open_file = pieces[0].opener if len(pieces) == 1 else open_here
        messages = chain.from_iterable(map(messages_of_piece, pieces))
        yield from send(decode_tables(jobs, messages, open_file))

    source, prefix, workers = opened.source, opened.prefix, SparkWorkers(spark)
    if source.has_records:
        return messages_of_records(spark, source).mapInArrow(decode_records, schema)
    if prefix is None:
        return workers.frame(work_of_lines(source, workers.count), decode_lines, schema)
    tables = [[(job.table.schema, job.table.table)] for job in jobs]
    names = [frozenset(file.name for file in prefix.files_of(each)) for each in tables]
    problems = [prefix.problems_of(each) for each in tables]
    folder, checkpoint = prefix.folder, prefix.checkpoint

    def decode_stored(share: int, files: Sequence[StoredData]) -> Iterator[pa.RecordBatch]:
        for number, job in enumerate(jobs):
            own = [file for file in files if file.name in names[number]]
            found = decode_files(job, folder, checkpoint, own)
            yield from send((number, batch) for batch in found)

    def decode_problems() -> Iterator[pa.RecordBatch]:
        for number, job in enumerate(jobs):
            found = problem_batches(job, problems[number])
            yield from send((number, batch) for batch in found)

    files = prefix.files_of(each for (each,) in tables)
    frame = workers.frame(work_of_files(folder, files, workers.count), decode_stored, schema)
    return _before(spark, frame, decode_problems, schema) if any(problems) else frame


def _decoded_files(
    spark: SparkSession, prefix: PrefixPlan, job: Job, share_bytes: int | None
) -> DataFrame:
    tables = [(job.table.schema, job.table.table)]
    problems = prefix.problems_of(tables)
    folder, checkpoint = prefix.folder, prefix.checkpoint

    def decode_share(number: int, files: Sequence[StoredData]) -> Iterator[pa.RecordBatch]:
        yield from decode_files(job, folder, checkpoint, files)

    def decode_problems() -> Iterator[pa.RecordBatch]:
        return problem_batches(job, problems)

    schema = spark_schema(job)
    workers = SparkWorkers(spark)
    work = work_of_files(folder, prefix.files_of(tables), workers.count, share_bytes)
    frame = workers.frame(work, decode_share, schema)
    return _before(spark, frame, decode_problems, schema) if problems else frame


def _before(
    spark: SparkSession,
    frame: DataFrame,
    rows: Callable[[], Iterator[pa.RecordBatch]],
    schema: StructType | str,
) -> DataFrame:
    """Return a frame with the rows that one task makes before its own."""

    def once(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield from rows()

    return spark.range(0, 1, 1, 1).mapInArrow(once, schema).unionAll(frame)


def decode_kafka_frame(
    frame: DataFrame,
    format_name: str,
    table: CanonicalTable,
    on_error: OnError = "stop",
    *,
    context: Context = NO_CONTEXT,
    temporal: Temporal = "text",
    profile: Profile | None = None,
    time_zone: str = "UTC",
    other_columns: OtherColumns = "error",
) -> DataFrame:
    """Return the row changes of one table in a frame of Kafka's records, at rest or streaming.

    ``frame``: ``key`` and ``value`` as binary, and ``topic``, ``partition``, ``offset`` and
    ``headers`` where it has them. All else as in ``decode_frame``.
    Raises: SchemaError, SourceError, ValueError for a format or an option that is not known.
    """
    format_ = get_format(format_name)
    job = Job(format_, context, table, temporal, profile, time_zone, on_error)
    job = ready_job(job, skips_others=other_columns == "skip")
    return _decoded_records(records_of(frame, F.lit(None).cast("string"), "the frame"), job)


def spark_schema(job: Job) -> StructType:
    """Return the schema of the frame that a job makes."""
    schema = job.builder.schema
    fields = [_with_metadata(each) for each in schema]
    return from_arrow_schema(pa.schema(fields), prefer_timestamp_ntz=True)


def _with_metadata(field: pa.Field) -> pa.Field:
    """Return a field in which every member of a struct has metadata.

    PySpark looks for its own entries in the metadata of members named ``wkb`` or ``metadata``, and
    fails where a member has no metadata.
    """
    kind = field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([_with_metadata(each) for each in kind])
    elif pa.types.is_map(kind):
        kind = pa.map_(_with_metadata(kind.key_field), _with_metadata(kind.item_field))
    elif pa.types.is_list(kind):
        kind = pa.list_(_with_metadata(kind.value_field))
    return field.with_type(kind).with_metadata({})


def _decoded_records(records: DataFrame, job: Job) -> DataFrame:
    def decode_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from decode_messages(job, messages_of_batches(batches))

    return records.mapInArrow(decode_batches, spark_schema(job))


def good_rows(frame: DataFrame) -> DataFrame:
    """Return the rows of a decoded frame that are not errors."""
    return frame.where(F.col("error").isNull())


def errors_frame(frame: DataFrame) -> DataFrame:
    """Return the errors of a decoded frame: where each message is, and what is wrong with it."""
    bad = frame.where(F.col("error").isNotNull())
    return bad.select(
        *(f"source.{name}" for name in MessagePlace._fields),
        F.col("error.offset").alias("byte"),
        "error.path",
        "error.clause",
        "error.problem",
    )


def flat(frame: DataFrame) -> DataFrame:
    """Return op, position and the row's columns: as it is after the change, or was when deleted.

    Absent columns are NULL here. A column that is named like one of the first four keeps its name,
    and the other gets ``_`` before its own.
    """
    image = frame.schema["after"].dataType
    assert isinstance(image, StructType)
    columns = []
    for name in FLAT_COLUMNS:
        alias = name
        while alias in image.names:
            alias = f"_{alias}"
        columns.append(F.col(name).alias(alias))
    row = F.coalesce(F.col("after"), F.col("before"))
    columns += [row.getField(name).alias(name) for name in image.names]
    return good_rows(frame).select(*columns)
