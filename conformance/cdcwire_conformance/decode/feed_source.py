"""The source of a feed that a program opens with ``cdcwire.open``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from cdcwire.arrow.batches import MessagePlace, RowProblem, problem_of
from cdcwire.changes import Bad
from cdcwire.console.problems import UsageError
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.feed import MessageEvents
from cdcwire.files.feed_file import read_feed_file
from cdcwire.files.prefix import list_prefix
from cdcwire.files.prefix_events import read_events
from cdcwire.files.stores import is_url, open_store
from cdcwire.identify.auto import AUTO_SOURCE, recorded_format, unclear, with_found
from cdcwire.identify.report import identify_place
from cdcwire.model.events import Table
from cdcwire.schema_registry import RegistryError, open_schemas
from cdcwire.storage import Fault
from cdcwire_conformance.decode.decoders import place_decoder
from cdcwire_conformance.decode.describe import survey_feed
from cdcwire_conformance.decode.opening import OpenedSource, open_source
from cdcwire_conformance.decode.reading import (
    locate_problem,
    messages_of_piece,
    place_text,
)
from cdcwire_conformance.decode.workers import HERE, work_of_lines
from cdcwire_conformance.sources.source_urls import Source, SourceError, parse_source


def open_source_of_feed(text: str, context: Context) -> FilesOfFeed:
    """Return the source of ``FORMAT:file:DIR``, of one file, or of a storage prefix.

    With ``auto`` as format, it is that of the directory's description, or the messages show it.
    Raises: ValueError that says what is wrong with the source, an option or a definition.
    """
    try:
        if text.startswith(f"{AUTO_SOURCE}kafka:"):
            raise SourceError(_records_problem(text))
        if text.startswith(AUTO_SOURCE):
            text, context = _identified(text.removeprefix(AUTO_SOURCE), context)
        source = parse_source(text)
        if source.has_records:
            raise SourceError(_records_problem(text))
        return FilesOfFeed(source, _described(source, context))
    except (UsageError, RegistryError) as error:
        raise ValueError(str(error)) from error


def _records_problem(text: str) -> str:
    return (
        f"{text}: read a topic with a client of Kafka, and give its records to cdcwire.Decoder; "
        "Spark reads topics and Parquet, with decode_frame"
    )


def _identified(place: str, context: Context) -> tuple[str, Context]:
    """Return a place with its format, and the context with the options that its messages show."""
    recorded = recorded_format(place)
    if recorded is not None:
        return f"{recorded}:{place}", context
    report = identify_place(place, context)
    if report.found is None:
        raise SourceError(unclear(place, report))
    context = replace(context, options=with_found(report.found, context.options))
    return f"{report.found.format}:{place}", context


def _described(source: Source, context: Context) -> Context:
    """Return the context with what the directory says of itself."""
    if not source.folder or is_url(source.folder):
        return context
    found = read_feed_file(source.folder)
    if found is not None and found.format == source.format.name:
        context = found.applied(context)
    schemas = Path(source.folder, "schemas")
    if source.format.schemas is not None and not context.schemas and schemas.is_dir():
        context = replace(context, schemas=open_schemas(str(schemas)))
    return context


class FilesOfFeed:
    """Messages in files, or the prefix of a storage sink. Both are read anew each time."""

    def __init__(self, source: Source, context: Context) -> None:
        self._source = source
        self._context = context
        self._opened: OpenedSource | None = None
        if source.kind == "jsonl":
            self._opened = self._open()

    @property
    def format(self) -> str:
        """The id of the format."""
        return self._source.format.name

    def events(self) -> Iterator[MessageEvents | Bad]:
        """Yield the events of each message, in order; ``Bad`` for one that can't be read."""
        yield from self._of_prefix() if self._opened is None else self._of_lines(self._opened)

    def tables(self) -> tuple[Table, ...]:
        """Return the tables that have rows, as the messages and definitions describe them."""
        opened = self._opened or self._open()
        include = self._context.selection.tables
        found = survey_feed(
            opened, include=include, definitions=self._context.tables, on_error="row"
        )
        tables = [each.table for each in found.tables]
        return tuple(Table(t.table, t.schema, columns=t.columns, key=t.key) for t in tables)

    def _open(self) -> OpenedSource:
        return open_source(self._source, self._context, "row", self._context.selection.tables)

    def _of_lines(self, opened: OpenedSource) -> Iterator[MessageEvents | Bad]:
        decoder_at = place_decoder(opened.source.format, opened.context, joins_halves=False)
        pieces = chain.from_iterable(work_of_lines(opened.source, HERE.count).shares)
        for place, message in chain.from_iterable(map(messages_of_piece, pieces)):
            if isinstance(message, RowProblem):
                error = DecodeError(message.problem, message.offset or 0, message.clause)
                yield _bad(None, error, place)
                continue
            try:
                events = list(decoder_at(place)(message))
            except DecodeError as error:
                yield _bad(message, error, place)
            else:
                yield events, place._asdict()

    def _of_prefix(self) -> Iterator[MessageEvents | Bad]:
        format_ = self._source.format
        store = open_store(self._source.folder)
        prefix = list_prefix(store, format_, self._context, write_order="data-first")
        faults: list[Fault] = []
        for event in read_events(store, prefix, self._context, faults.append):
            yield from _bad_files(faults)
            yield [event], {}
        yield from _bad_files(faults)


def _bad(message: Message | None, error: DecodeError, place: MessagePlace) -> Bad:
    place = locate_problem(problem_of(error), place, "row", has_lines=True)
    return Bad(message, error, place_text(place))


def _bad_files(faults: list[Fault]) -> Iterable[Bad]:
    """Return the files that can't be read, and empty the list."""
    found = [
        Bad(
            each.path,
            DecodeError(each.problem, each.offset or 0, each.clause, each.steps),
            each.path,
        )
        for each in faults
    ]
    faults.clear()
    return found
