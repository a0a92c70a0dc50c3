"""A source made ready: what decoding needs beside each message is known before any is decoded.

For formats with registered schemas, the schemas. For a topic, the range of records, so that all
passes read the same ones while others arrive. For a storage prefix, the order of replay, the
definitions in schema files, and for each data file the commit-ts below which its rows came before.
The last takes a pass over the data in which no column is decoded; one small record a file comes
back from it.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cdcwire.core.format import Context, Selection, TableName
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.options import OptionError, parse_options
from cdcwire.core.registry import get_format
from cdcwire_conformance.arrow.batches import MessagePlace
from cdcwire_conformance.arrow.decoders import table_of_topic, topic_name
from cdcwire_conformance.sources.hadoop import store_at
from cdcwire_conformance.sources.messages_io import message_from_json
from cdcwire_conformance.sources.pieces import Piece, read_lines
from cdcwire_conformance.sources.source_urls import Source, SourceError, source_in
from cdcwire_conformance.sources.storage.forms import is_stored
from cdcwire_conformance.sources.stores import OpenFile, Store, open_here, opener_in
from cdcwire_conformance.spark.decode.kafka import topic_at_rest
from cdcwire_conformance.spark.decode.prefix import (
    FileCounts,
    PrefixPlan,
    StoredData,
    read_prefix,
    stored_settings,
)
from cdcwire_conformance.spark.decode.reading import FeedError, OnError, error_text
from cdcwire_conformance.spark.decode.schemas_in_use import with_schemas
from cdcwire_conformance.spark.decode.stored_rows import count_files
from cdcwire_conformance.spark.decode.work import work_of_files, work_of_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# How a line begins to look like a schema file; what it is, the format's own rules say.
_SCHEMA_FILE = b"/meta/schema_"
_FOUND = "found binary"


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A source, what is known of it, and the context in which its messages are decoded.

    ``prefix``: of a storage sink, for sources of that kind. ``open_file``: how the driver opens the
    source's files.
    """

    source: Source
    context: Context
    prefix: PrefixPlan | None = field(default=None)
    open_file: OpenFile = field(default=open_here, compare=False)


def open_source(
    spark: SparkSession | None,
    source: Source,
    context: Context,
    on_error: OnError = "stop",
    include: Iterable[TableName] | None = None,
    *,
    counts: bool = True,
) -> OpenedSource:
    """Return a source made ready. ``include``: only these tables will be asked for.

    ``counts``: rows of a prefix are counted, also where no repeat can be known. ``spark``: None
    does all of it in this process, which reaches directories only.
    Raises: FeedError at what can't be read, if errors are to stop; SourceError; ValueError for an
    option that is not known.
    """
    parse_options(get_format(source.format).options, context.options)
    if source.topic is not None:
        if spark is None:
            raise SourceError(f"{source}: only a Spark session reads topics, as with decode_frame")
        source = replace(source, topic=topic_at_rest(spark, source.topic))
        return _opened(spark, source, None, context, on_error, include, counts=counts)
    store = store_at(spark, source.folder)
    if source.kind == "place":
        source = source_in(source.format, store)
    found = _opened(spark, source, store, context, on_error, include, counts=counts)
    return replace(found, open_file=opener_in(store))


def _opened(
    spark: SparkSession | None,
    source: Source,
    store: Store | None,
    context: Context,
    on_error: OnError,
    include: Iterable[TableName] | None,
    *,
    counts: bool,
) -> OpenedSource:
    schemas = get_format(source.format).schemas
    if schemas is not None:
        return OpenedSource(source, with_schemas(spark, source, context, schemas))
    _check_topics(source, context)
    context = replace(context, schemas={})  # of the other side; a registry can't travel
    if source.kind == "prefix" and store is not None:
        prefix = read_prefix(source, context, store)
        tables = None if include is None else frozenset(include)
        if on_error == "stop":
            for place, problem in prefix.problems_of(tables):
                raise FeedError(error_text(problem, place))
        if counts or stored_settings(source.format, context).has_commit_ts:
            prefix = _marked(spark, source, prefix, tables, on_error)
        return OpenedSource(source, prefix.context, prefix)
    if source.kind == "jsonl" and is_stored(source.format):
        messages = _schema_files(spark, source)
        context = get_format(source.format).prepared(messages, context)
    return OpenedSource(source, context)


def _check_topics(source: Source, context: Context) -> None:
    """Check that the name of each topic or file names its table, for a format that needs it.

    Raises: SourceError.
    """
    topic_tables = get_format(source.format).topic_tables
    if topic_tables is None:
        return
    try:
        tables = topic_tables(context)
    except OptionError as error:
        raise SourceError(f"{source}: {error}") from error
    for file in source.files if source.kind == "jsonl" else ():
        if table_of_topic(topic_name(MessagePlace(file=file)), tables) is None:
            known = ", ".join(sorted(f"{table.name}.jsonl" for table in tables))
            raise SourceError(
                f"{file}: the file's name does not name the table of its topic: use one of "
                f"{known}, or name the table of all files (option table)"
            )
    name = source.topic.topic if source.topic else None
    if name is not None and table_of_topic(name, tables) is None:
        raise SourceError(
            f"{source}: the topic's name is not a table's: name the table (option table)"
        )


def _marked(
    spark: SparkSession | None,
    source: Source,
    prefix: PrefixPlan,
    tables: frozenset[TableName] | None,
    on_error: OnError,
) -> PrefixPlan:
    """Return the prefix with the floors of its files, and what they hold from there on."""
    found = {mark.name: mark for mark in _marks(spark, source, prefix, tables, on_error)}
    prefix = prefix.with_counts(found.values())
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
        prefix = prefix.with_counts(found.values())
    return prefix


def _marks(
    spark: SparkSession | None,
    source: Source,
    prefix: PrefixPlan,
    tables: frozenset[TableName] | None,
    on_error: OnError,
) -> list[FileCounts]:
    context = replace(prefix.context, selection=Selection(tables, frozenset()))
    format_name, folder, checkpoint = source.format, prefix.folder, prefix.checkpoint

    def mark(number: int, files: Sequence[StoredData]) -> Iterator[pa.RecordBatch]:
        yield _pickled(list(count_files(format_name, context, on_error, folder, checkpoint, files)))

    work = work_of_files(spark, folder, prefix.files_of(tables))
    return _collected(work.rows(spark, mark, _FOUND))


def _schema_files(spark: SparkSession | None, source: Source) -> list[Message]:
    """Return the messages of JSON lines that may be schema files; broken lines are ignored."""

    def find(number: int, pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
        yield _pickled([each for piece in pieces for each in _found_in(piece)])

    return _collected(work_of_lines(spark, source).rows(spark, find, _FOUND))


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


def _collected(rows: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return what our own workers wrote."""
    return [each for row in rows for each in pickle.loads(row["found"])]
