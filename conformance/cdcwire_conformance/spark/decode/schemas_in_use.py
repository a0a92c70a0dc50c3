"""The schemas that a feed needs, found before any message is decoded.

They are files among the messages, or at a place that the user names: a directory or a registry.
Workers get them as a plain mapping and never ask a registry. The first bytes of keys and values
name the ids that a feed uses; only these are looked up.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.registry import get_format
from cdcwire.core.schemas import SchemaId, SchemaUse
from cdcwire_conformance.registry import RegistryError
from cdcwire_conformance.sources.pieces import Piece, line_numbers, read_lines
from cdcwire_conformance.sources.source_urls import Source, SourceError
from cdcwire_conformance.spark.decode.kafka import messages_of_records
from cdcwire_conformance.spark.decode.reading import message_of_line
from cdcwire_conformance.spark.decode.work import work_of_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_IDS = 1 << 16  # of one feed; each may be a question to a registry


@dataclass(frozen=True, slots=True)
class _SchemaFile:
    """A schema among the messages, and its place."""

    schema_id: str
    text: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a share of a feed has: schemas, and the heads of its keys and values."""

    files: tuple[_SchemaFile, ...]
    heads: frozenset[bytes]


def with_schemas(
    spark: SparkSession | None, source: Source, context: Context, use: SchemaUse
) -> Context:
    """Return the context with the schemas of a feed as a plain mapping.

    Schemas among the messages take precedence over those of the context, which are looked up one
    by one.
    Raises: SourceError; what a registry raises.
    """
    size = use.head_bytes(context)
    files: tuple[_SchemaFile, ...] = ()
    if source.has_records:
        if not context.schemas:
            where = source.topic or source.folder
            kind = "a topic" if source.topic else "Parquet"
            raise SourceError(
                f"{where}: {source.format} in {kind} needs its schemas: name a directory of files "
                f"ID{use.file_suffix} or a registry (--schema, or open_schemas in Python)"
            )
        if spark is None:
            raise SourceError(f"{source}: only a Spark session reads Parquet, as with decode_frame")
        heads = _heads_of_records(spark, source, size)
    else:
        files, heads = _seen_in_lines(spark, source, size if context.schemas else 0)
    found = _texts_of(files)
    for schema_id in _ids_of(source, heads, context, use):
        text = None if str(schema_id) in found else use.find(context.schemas, schema_id)
        if text is not None:
            found[str(schema_id)] = text
    return replace(context, schemas=found)


def plain_schemas(schemas: Mapping[str, str]) -> dict[str, str]:
    """Return a mapping that workers can be sent. Raises: SourceError for a registry."""
    try:
        return dict(schemas)
    except RegistryError as error:
        problem = "the schemas of a frame are a mapping of texts by id: workers ask no registry"
        raise SourceError(problem) from error


def _ids_of(
    source: Source, heads: frozenset[bytes], context: Context, use: SchemaUse
) -> Iterator[SchemaId]:
    """Yield the ids of heads; decoding a message reports a head without an id."""
    ids: set[SchemaId] = set()
    for head in heads:
        try:
            ids.add(use.schema_id(head, context))
        except DecodeError:
            continue
    if len(ids) > MAX_IDS:
        raise SourceError(f"{source}: the messages use more than {MAX_IDS:,} schemas")
    yield from sorted(ids, key=str)


def _texts_of(files: Iterable[_SchemaFile]) -> dict[str, str]:
    """Return the texts by their ids. Raises: SourceError for an id with two meanings."""
    texts: dict[str, str] = {}
    first: dict[str, _SchemaFile] = {}
    for file in files:
        before = first.setdefault(file.schema_id, file)
        if texts.setdefault(file.schema_id, file.text) != file.text:
            raise SourceError(
                f"{file}: schema {file.schema_id} differs from the one in {before}; put feeds of "
                "two registries into two directories"
            )
    return texts


def _heads_of_records(spark: SparkSession, source: Source, size: int) -> frozenset[bytes]:
    records = messages_of_records(spark, source)
    keys, values = (
        records.select(F.substring(F.col(name), 1, size).alias("head")) for name in ("key", "value")
    )
    heads = keys.union(values).where("head IS NOT NULL").distinct()
    return frozenset(bytes(row["head"]) for row in heads.limit(2 * MAX_IDS).collect())


def _seen_in_lines(
    spark: SparkSession | None, source: Source, size: int
) -> tuple[tuple[_SchemaFile, ...], frozenset[bytes]]:
    """Return what JSON lines have. ``size``: of heads; 0: leave them out."""
    format_name = source.format

    def look(number: int, pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
        seen = pickle.dumps(_seen_in(format_name, pieces, size))
        yield pa.RecordBatch.from_arrays(
            [pa.array([number], pa.int64()), pa.array([seen], pa.binary())], ["share", "seen"]
        )

    rows = work_of_lines(spark, source).rows(spark, look, "share long, seen binary")
    files: list[_SchemaFile] = []
    heads: set[bytes] = set()
    for row in sorted(rows, key=lambda row: row["share"]):
        seen: _Seen = pickle.loads(row["seen"])  # what our own workers wrote
        files += seen.files
        heads |= seen.heads
    return tuple(files), frozenset(heads)


def _seen_in(format_name: str, pieces: Iterable[Piece], size: int) -> _Seen:
    use = get_format(format_name).schemas  # found here: functions do not travel to workers
    assert use is not None
    suffix = use.file_suffix.encode()
    files: list[_SchemaFile] = []
    heads: set[bytes] = set()
    for piece in pieces:
        here: dict[int, tuple[str, str]] = {}
        for offset, line in read_lines(piece):
            if not size and suffix not in line:
                continue
            message = message_of_line(line)
            if isinstance(message, KafkaMessage):
                if len(heads) < 2 * MAX_IDS:
                    heads |= {v[:size] for v in (message.key, message.value) if v is not None}
            elif isinstance(message, StoredFile):
                schema = use.schema_file(message)
                if schema is not None:
                    here[offset] = schema
        if here:
            lines = line_numbers(piece.file, here, piece.opener)
            files += [_SchemaFile(*each, piece.file, lines[at]) for at, each in here.items()]
    return _Seen(tuple(files), frozenset(heads))
