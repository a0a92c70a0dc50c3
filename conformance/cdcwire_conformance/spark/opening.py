"""A source made ready: what some of its messages tell about others is known before any is decoded.

Of an Avro feed that is its schemas. Of a topic it is which records are meant, so that all passes
read the same ones while others come. Of a storage sink's prefix it is the order of replay, the
definitions in schema files, and for each data file the commit-ts below which its rows came before.
The last takes a pass over the data in which no column is decoded; one small record a file comes
back from it.
"""

from __future__ import annotations

import heapq
import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cdcwire.datahub_tuple.settings import read_settings as read_tuple_settings
from cdcwire.datahub_tuple.topic import topic_of
from cdcwire.format import Context, OptionError, Selection, TableName, parse_options
from cdcwire.formats import get_format
from cdcwire.message import Message, StoredFile
from cdcwire_conformance.arrow.batches import Place
from cdcwire_conformance.arrow.decoders import TUPLE
from cdcwire_conformance.arrow.topics import table_of_topic, tables_of, topic_name
from cdcwire_conformance.messages_io import message_from_json
from cdcwire_conformance.spark.kafka import topic_at_rest
from cdcwire_conformance.spark.prefix import (
    FileMark,
    Prefix,
    StoredData,
    has_commit_ts,
    read_prefix,
)
from cdcwire_conformance.spark.reading import FeedError, OnError, error_text
from cdcwire_conformance.spark.schemas_in_use import NAME as AVRO
from cdcwire_conformance.spark.schemas_in_use import with_schemas
from cdcwire_conformance.spark.sources import (
    SHARE_BYTES,
    STORED_FORMATS,
    Piece,
    Source,
    SourceError,
    read_lines,
    share_bytes_of,
    shares_of,
)
from cdcwire_conformance.spark.stored_rows import mark_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# How a line begins to look like a schema file; what it is, the format's own rules say.
_SCHEMA_FILE = b"/meta/schema_"


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A source, what is known of it, and the context in which its messages are decoded.

    ``prefix``: of a storage sink, for sources of that kind.
    """

    source: Source
    context: Context
    prefix: Prefix | None = field(default=None)


def open_source(
    spark: SparkSession,
    source: Source,
    context: Context,
    on_error: OnError = "stop",
    include: Iterable[TableName] | None = None,
    *,
    counts: bool = True,
) -> OpenedSource:
    """Return a source made ready. ``include``: only these tables will be asked for.

    ``counts``: rows of a prefix are counted, also where no repeat can be known.
    Raises: FeedError at what can't be read, if errors are to stop; SourceError; ValueError for an
    option that is not known.
    """
    parse_options(get_format(source.format).options, context.options)
    if source.topic is not None:
        source = replace(source, topic=topic_at_rest(spark, source.topic))
    if source.format == AVRO:
        return OpenedSource(source, with_schemas(spark, source, context))
    if source.format == TUPLE:
        _check_topics(source, context)
    context = replace(context, schemas={})  # of the other side; a registry can't travel
    if source.kind == "prefix":
        prefix = read_prefix(source, context)
        tables = None if include is None else frozenset(include)
        if on_error == "stop":
            for place, problem in prefix.problems_of(tables):
                raise FeedError(error_text(problem, place))
        if counts or has_commit_ts(source.format, context):
            prefix = _marked(spark, source, prefix, tables, on_error)
        return OpenedSource(source, prefix.context, prefix)
    if source.kind == "jsonl" and source.format in STORED_FORMATS:
        messages = _schema_files(spark, source)
        context = get_format(source.format).prepared(messages, context)
    return OpenedSource(source, context)


def _check_topics(source: Source, context: Context) -> None:
    """Raises: SourceError for a file of a Tuple topic whose table nobody defines."""
    settings = read_tuple_settings(context.options)
    try:
        tables = tables_of(context.tables, settings)
        for table in tables:
            topic_of(table, settings)
    except OptionError as error:
        raise SourceError(f"{source}: {error}") from error
    for file in source.files if source.kind == "jsonl" else ():
        if table_of_topic(topic_name(Place(file=file)), tables) is None:
            known = ", ".join(sorted(f"{table.name}.jsonl" for table in tables))
            raise SourceError(
                f"{file}: a file of a Tuple topic is called by its table, one of {known}; "
                "or name the table of all (option table)"
            )
    name = source.topic.topic if source.topic else None
    if name is not None and table_of_topic(name, tables) is None:
        raise SourceError(f"{source}: no table is called so; name it (option table)")


def shares_of_files(
    files: Iterable[StoredData], workers: int, share_bytes: int | None = None
) -> list[tuple[StoredData, ...]]:
    """Return the files in shares of about the same size, in the order of replay inside of one.

    A share costs a task; a file is never cut.
    """
    files = list(files)
    total = sum(file.size for file in files)
    count = max(workers, -(-total // (share_bytes or SHARE_BYTES)))
    count = max(1, min(count, len(files)))
    shares: list[list[StoredData]] = [[] for _ in range(count)]
    room = [(0, number) for number in range(count)]
    for file in sorted(files, key=lambda file: file.size, reverse=True):
        size, number = heapq.heappop(room)
        shares[number].append(file)
        heapq.heappush(room, (size + file.size + 1, number))
    return [tuple(sorted(share, key=lambda file: file.order)) for share in shares]


def frame_of_shares(spark: SparkSession, shares: Sequence[object]) -> DataFrame:
    """Return the numbers of shares, each in a partition of its own."""
    return spark.range(0, len(shares), 1, max(1, len(shares)))


def _marked(
    spark: SparkSession,
    source: Source,
    prefix: Prefix,
    tables: frozenset[TableName] | None,
    on_error: OnError,
) -> Prefix:
    """Return the prefix with the floors of its files, and what they hold from there on."""
    found = {mark.name: mark for mark in _marks(spark, source, prefix, tables, on_error)}
    prefix = prefix.with_marks(found.values())
    # Where a file begins before its floor, its rows are counted again, from there.
    late = [
        file
        for file in prefix.files_of(tables)
        if (smallest := found[file.name].smallest) is not None and smallest < file.floor
    ]
    if late:
        again = replace(prefix, files=tuple(late))
        for mark in _marks(spark, source, again, tables, on_error):
            found[mark.name] = mark._replace(largest=found[mark.name].largest)
        prefix = prefix.with_marks(found.values())
    return prefix


def _marks(
    spark: SparkSession,
    source: Source,
    prefix: Prefix,
    tables: frozenset[TableName] | None,
    on_error: OnError,
) -> list[FileMark]:
    shares = shares_of_files(prefix.files_of(tables), spark.sparkContext.defaultParallelism)
    context = replace(prefix.context, selection=Selection(tables, frozenset()))
    format_name, folder, checkpoint = source.format, prefix.folder, prefix.checkpoint

    def mark(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                marks = list(
                    mark_files(format_name, context, on_error, folder, checkpoint, shares[number])
                )
                yield _pickled(marks)

    return _collected(frame_of_shares(spark, shares).mapInArrow(mark, "found binary"))


def _schema_files(spark: SparkSession, source: Source) -> list[Message]:
    """Return the messages of JSON lines that may be schema files; broken lines are passed over."""
    share_bytes = share_bytes_of(source, spark.sparkContext.defaultParallelism)
    shares = shares_of(source.files, share_bytes)

    def find(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _pickled([each for piece in shares[number] for each in _found_in(piece)])

    return _collected(frame_of_shares(spark, shares).mapInArrow(find, "found binary"))


def _found_in(piece: Piece) -> Iterator[StoredFile]:
    for _, line in read_lines(piece):
        if _SCHEMA_FILE in line:
            try:
                message = message_from_json(json.loads(line))
            except (ValueError, RecursionError):
                continue
            if isinstance(message, StoredFile):
                yield message


def _pickled(found: Sequence[object]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(found)], pa.binary())], ["found"])


def _collected(frame: DataFrame) -> list[Any]:
    """Return what our own workers wrote."""
    return [each for row in frame.collect() for each in pickle.loads(row["found"])]
