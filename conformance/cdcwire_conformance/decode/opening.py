"""A source made ready: the context that decoding needs, known before any message is decoded.

- A topic has its range of records, so that all passes read the same ones while others arrive.
- A storage prefix has its order of replay and the definitions in schema files. For each data file
  it has the commit-ts below which its rows came before.
- A format with registered schemas has these as a plain mapping: workers never ask a registry. They
  are files among the messages, or at a place that the user names. The first bytes of keys and
  values name the ids that a feed uses; only these are looked up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.batches import MessagePlace, RowProblem
from cdcwire.compressions import with_compressions
from cdcwire.core.context import Context, SchemaId, SchemaUse, with_sent_tables
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionError, parse_options
from cdcwire.ddl.schemas import lack_schemas, names_of, with_schemas
from cdcwire.files.messages_io import line_message
from cdcwire.files.stores import OpenFile, Store, open_here, opener_in
from cdcwire.format import Format
from cdcwire.model.events import Table, TableName
from cdcwire.schema_registry import RegistryError
from cdcwire_conformance.decode.decoders import table_of_topic, topic_name
from cdcwire_conformance.decode.prefix import PrefixPlan, counted, read_prefix
from cdcwire_conformance.decode.reading import (
    Job,
    Located,
    OnError,
    feed_error,
    message_of_line,
    messages_of_batches,
    messages_of_piece,
)
from cdcwire_conformance.decode.workers import HERE, Found, Workers, work_of_lines
from cdcwire_conformance.sources.pieces import Piece, line_numbers, read_lines
from cdcwire_conformance.sources.source_urls import Source, SourceError, source_in

MAX_IDS = 1 << 16  # of one feed; each may be a question to a registry
# How a line begins to look like a schema file; what it is, the format's own rules say.
_SCHEMA_FILE = b"/meta/schema_"


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A source, what is known of it, and the context in which its messages are decoded.

    ``prefix``: of a storage sink, for sources of that kind. ``open_file``: how the driver opens the
    source's files. ``names``: the tables of the feed, if a definition names no schema. ``store``:
    where the files are; None for a topic.
    """

    source: Source
    context: Context
    prefix: PrefixPlan | None = field(default=None)
    open_file: OpenFile = field(default=open_here, compare=False)
    names: frozenset[TableName] = frozenset()
    store: Store | None = field(default=None, compare=False)

    def defined(self, tables: Iterable[Table]) -> tuple[Table, ...]:
        """Return definitions with the schemas of the feed. Raises: UsageError."""
        return with_schemas(tables, self.names)


def open_source(
    source: Source | OpenedSource,
    context: Context,
    on_error: OnError = "stop",
    include: Iterable[TableName] | None = None,
    *,
    counts: bool = True,
    workers: Workers = HERE,
) -> OpenedSource:
    """Return a source made ready; one that is opened already stays as it is.

    ``include``: only these tables will be asked for. ``counts``: rows of a prefix are counted, also
    where no repeat can be known. ``workers``: those who read it.
    Raises: FeedError at what can't be read, if errors are to stop; SourceError; ValueError for an
    option that is not known.
    """
    if isinstance(source, OpenedSource):
        return source
    format_ = source.format
    parse_options(format_.options, context.options)
    store: Store | None = None
    if source.topic is None:
        store = workers.store_at(source.folder)
        if source.kind == "place":
            source = source_in(format_, store)
    else:
        source = workers.at_rest(source)
    open_file = open_here if store is None else opener_in(store)
    if format_.schemas is not None:
        context = _with_schemas(workers, source, context, format_.schemas)
    else:
        _check_topics(source, context)
        context = replace(context, schemas={})  # of the other side; a registry can't travel
    if format_.tables_in is not None:
        context = _with_sent_tables(workers, source, context)
    names: frozenset[TableName] = frozenset()
    if lack_schemas(context.tables):
        names = _names_of(workers, source, context, store)
        context = replace(context, tables=with_schemas(context.tables, names))
    if format_.schemas is not None:
        return OpenedSource(source, context, None, open_file, names, store)
    if source.kind == "prefix" and store is not None:
        prefix = read_prefix(source, context, store)
        tables = None if include is None else frozenset(include)
        if on_error != "row":
            for place, problem in prefix.problems_of(tables):
                raise feed_error(problem, place, on_error)
        if counts or prefix.settings.has_commit_ts:
            prefix = counted(workers, format_, prefix, tables, on_error)
        return OpenedSource(source, prefix.context, prefix, open_file, names, store)
    if source.kind == "jsonl" and format_.stored is not None:
        context = format_.prepared(_schema_files(workers, source), context)
    return OpenedSource(source, context, None, open_file, names, store)


def _with_sent_tables(workers: Workers, source: Source, context: Context) -> Context:
    """Return the context with the definitions that the messages of a feed have."""
    look = partial(_tables_in, source.format, context)
    return with_sent_tables(context, _looked(workers, source, look))


def _tables_in(format_: Format, context: Context, located: Iterable[Located]) -> list[Table]:
    tables_in, known = format_.tables_in, with_compressions(context)
    assert tables_in is not None
    messages = (each for _, each in located if isinstance(each, KafkaMessage))
    return list({each: None for message in messages for each in tables_in(message, known)})


def _looked(
    workers: Workers, source: Source, look: Callable[[Iterable[Located]], list[Found]]
) -> list[Found]:
    """Return what workers find who look at the messages of a feed."""
    if source.has_records:
        return workers.found_in_records(source, partial(_in_batches, look))
    return workers.found(work_of_lines(source, workers.count), partial(_in_pieces, look))


def _in_batches(
    look: Callable[[Iterable[Located]], list[Found]], batches: Iterable[pa.RecordBatch]
) -> list[Found]:
    return look(messages_of_batches(batches))


def _in_pieces(
    look: Callable[[Iterable[Located]], list[Found]], number: int, pieces: Sequence[Piece]
) -> list[Found]:
    return look(chain.from_iterable(map(messages_of_piece, pieces)))


def _names_of(
    workers: Workers, source: Source, context: Context, store: Store | None
) -> frozenset[TableName]:
    """Return the tables that a feed has rows of, as far as that shows without definitions."""
    format_ = source.format
    if source.kind == "prefix" and store is not None:
        files = read_prefix(source, context, store).files
        return frozenset((file.path.schema, file.path.table) for file in files)
    if format_.topic_tables is not None:
        return frozenset()  # only definitions name the tables

    look = partial(_names_in, format_, context)
    return frozenset().union(*_looked(workers, source, look))


def _names_in(
    format_: Format, context: Context, located: Iterable[Located]
) -> list[frozenset[TableName]]:
    messages = (each for _, each in located if not isinstance(each, RowProblem))
    return [frozenset(names_of(format_, with_compressions(context), messages))]


def _check_topics(source: Source, context: Context) -> None:
    """Check that the name of each topic or file names its table, for a format that needs it.

    Raises: SourceError.
    """
    topic_tables = source.format.topic_tables
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
    for name in source.topic.names if source.topic else ():
        if table_of_topic(name, tables) is None:
            raise SourceError(
                f"{source}: topic {name} is not named like a table: name the table (option table)"
            )


def _schema_files(workers: Workers, source: Source) -> list[Message]:
    """Return the messages of JSON lines that may be schema files; broken lines are ignored."""
    return workers.found(work_of_lines(source, workers.count), _stored_files)


def _stored_files(number: int, pieces: Sequence[Piece]) -> list[Message]:
    found: list[Message] = []
    for _, line in chain.from_iterable(map(read_lines, pieces)):
        if _SCHEMA_FILE in line:
            try:
                message = line_message(json.loads(line))
            except (ValueError, RecursionError):
                continue
            if isinstance(message, StoredFile):
                found.append(message)
    return found


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
    """The context of a share of a feed: schemas, and the heads of its keys and values."""

    files: tuple[_SchemaFile, ...]
    heads: frozenset[bytes]


def _with_schemas(workers: Workers, source: Source, context: Context, use: SchemaUse) -> Context:
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
                f"{where}: {source.format.name} in {kind} needs its schemas: name a directory of "
                f"files ID{use.file_suffix} or a registry (--schema, or open_schemas in Python)"
            )
        heads = _heads_of_records(workers, source, size)
    else:
        files, heads = _seen_in_lines(workers, source, size if context.schemas else 0)
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


def ready_job(job: Job, *, skips_others: bool) -> Job:
    """Return the settings as workers take them: one table selected, schemas as a plain mapping.

    ``skips_others``: columns that the table does not have are ignored.
    Raises: SourceError, ValueError for an unknown option.
    """
    parse_options(job.format.options, job.context.options)
    columns = job.table.sent_names if skips_others else None
    tables = frozenset({(job.table.schema, job.table.table)})
    selection = replace(job.context.selection, tables=tables, columns=columns)
    schemas = {} if job.format.schemas is None else plain_schemas(job.context.schemas)
    return replace(job, context=replace(job.context, selection=selection, schemas=schemas))


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


def _heads_of_records(workers: Workers, source: Source, size: int) -> frozenset[bytes]:
    def look(batches: Iterable[pa.RecordBatch]) -> list[frozenset[bytes]]:
        heads: set[bytes] = set()
        for batch in batches:
            for name in ("key", "value"):
                if len(heads) < 2 * MAX_IDS:
                    cut = pc.binary_slice(batch.column(name), 0, size)
                    heads.update(pc.unique(cut.drop_null()).to_pylist())
        return [frozenset(heads)]

    return frozenset().union(*workers.found_in_records(source, look))


def _seen_in_lines(
    workers: Workers, source: Source, size: int
) -> tuple[tuple[_SchemaFile, ...], frozenset[bytes]]:
    """Return what JSON lines have. ``size``: of heads; 0: leave them out."""
    look = partial(_seen_in, source.format, size)
    files: list[_SchemaFile] = []
    heads: set[bytes] = set()
    for seen in workers.found(work_of_lines(source, workers.count), look):
        files += seen.files
        heads |= seen.heads
    return tuple(sorted(files, key=lambda each: (each.file, each.line))), frozenset(heads)


def _seen_in(format_: Format, size: int, number: int, pieces: Iterable[Piece]) -> list[_Seen]:
    use = format_.schemas
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
    return [_Seen(tuple(files), frozenset(heads))]
