"""The schemas that an Avro feed needs, found before any message is decoded.

They stand among the messages as files ``schemas/ID.avsc``, or at a place that the user names: a
folder, or a registry. Workers get them as a plain mapping and never ask a registry. Which ids a
feed uses is told by the first bytes of its keys and values; only these are looked up.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.reader import Reader
from cdcwire.formats.avro.envelope import CONFLUENT_BYTES, GLUE_BYTES, read_envelope
from cdcwire.formats.avro.format import FORMAT, SCHEMA_SUFFIX, schema_of
from cdcwire.formats.avro.settings import Registry, read_settings
from cdcwire.formats.avro.sources import KnownSchemas
from cdcwire_conformance.registry import RegistryError
from cdcwire_conformance.sources.source_urls import (
    Piece,
    Source,
    SourceError,
    line_numbers,
    read_lines,
)
from cdcwire_conformance.spark.decode.reading import message_of_line
from cdcwire_conformance.spark.decode.records import messages_of_records
from cdcwire_conformance.spark.decode.work import work_of_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "avro"
MAX_IDS = 1 << 16  # of one feed; each may be a question to a registry
_SUFFIX = SCHEMA_SUFFIX.encode()


@dataclass(frozen=True, slots=True)
class _SchemaFile:
    """A schema among the messages, and where it stands."""

    message: StoredFile
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a share of a feed has: schemas, and the heads of its keys and values."""

    files: tuple[_SchemaFile, ...]
    heads: frozenset[bytes]


def with_schemas(spark: SparkSession | None, source: Source, context: Context) -> Context:
    """Return the context with the schemas of a feed as a plain mapping.

    Those among the messages go before those of the context, which may be asked one by one.
    Raises: SourceError; what a registry raises.
    """
    settings = read_settings(context)
    size = CONFLUENT_BYTES if settings.registry == "confluent" else GLUE_BYTES
    files: tuple[_SchemaFile, ...] = ()
    if source.has_records:
        if not context.schemas:
            where = source.topic or source.folder
            kind = "a topic" if source.topic else "Parquet"
            raise SourceError(
                f"{where}: Avro in {kind} needs its schemas: name a folder of files "
                "ID.avsc or a registry (--schema, or open_schemas in Python)"
            )
        if spark is None:
            raise SourceError(f"{source}: only a Spark session reads Parquet, as with decode_frame")
        heads = _heads_of_records(spark, source, size)
    else:
        files, heads = _seen_in_lines(spark, source, size if context.schemas else 0)
    found = _texts_of(files)
    known = KnownSchemas(context.schemas)
    for schema_id in _ids_of(source, heads, settings.registry):
        text = None if str(schema_id) in found else known.get(schema_id)
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


def _ids_of(source: Source, heads: frozenset[bytes], registry: Registry) -> Iterator[int | str]:
    """Yield the ids of heads; what is none is found when the message is decoded."""
    ids: set[int | str] = set()
    for head in heads:
        try:
            ids.add(read_envelope(Reader(head), registry))
        except DecodeError:
            continue
    if len(ids) > MAX_IDS:
        raise SourceError(f"{source}: it uses more than {MAX_IDS:,} schemas")
    yield from sorted(ids, key=str)


def _texts_of(files: Iterable[_SchemaFile]) -> dict[str, str]:
    """Return the texts by their ids. Raises: SourceError for an id with two meanings."""
    texts: dict[str, str] = {}
    told: dict[str, _SchemaFile] = {}
    for file in files:
        ((schema_id, text),) = FORMAT.prepared([file.message], NO_CONTEXT).schemas.items()
        before = told.setdefault(schema_id, file)
        if texts.setdefault(schema_id, text) != text:
            raise SourceError(
                f"{file}: schema {schema_id} is another one than in {before}; feeds of two "
                "registries do not belong into one folder"
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
    """Return what JSON lines have. ``size``: of heads; 0: none is wanted."""

    def look(number: int, pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
        seen = pickle.dumps(_seen_in(pieces, size))
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


def _seen_in(pieces: Iterable[Piece], size: int) -> _Seen:
    files: list[_SchemaFile] = []
    heads: set[bytes] = set()
    for piece in pieces:
        here: dict[int, StoredFile] = {}
        for offset, line in read_lines(piece):
            if not size and _SUFFIX not in line:
                continue
            message = message_of_line(line)
            if isinstance(message, KafkaMessage):
                if len(heads) < 2 * MAX_IDS:
                    heads |= {v[:size] for v in (message.key, message.value) if v is not None}
            elif isinstance(message, StoredFile) and schema_of(message) is not None:
                here[offset] = message
        if here:
            lines = line_numbers(piece.file, here, piece.opener)
            files += [_SchemaFile(each, piece.file, lines[at]) for at, each in here.items()]
    return _Seen(tuple(files), frozenset(heads))
