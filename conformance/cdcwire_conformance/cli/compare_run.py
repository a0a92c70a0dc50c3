"""Carries out ``cdcwire compare`` on feeds that are ready, in this process or on Spark.

An error of a side that was read as another format names the format that the feed looks like.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire.console.problems import UsageError
from cdcwire.console.visible import visible
from cdcwire.core.context import Context
from cdcwire.core.options import parse_options
from cdcwire.files.local_files import whole_folder
from cdcwire.files.messages_io import InputError
from cdcwire.files.stores import StoreError, is_url
from cdcwire.identify import Candidate
from cdcwire.identify.report import identify_place, option_text
from cdcwire_conformance.cli.compare_arguments import AUTO, CompareArguments
from cdcwire_conformance.cli.compare_engine import alternative, needs
from cdcwire_conformance.cli.compare_reports import (
    RunNotes,
    saved_lines,
    with_record,
    write_reports,
)
from cdcwire_conformance.cli.compare_rules import Masking
from cdcwire_conformance.cli.progress import ProgressLine, Steps, watched_jobs
from cdcwire_conformance.sources.source_urls import Source, SourceError
from cdcwire_conformance.sources.tables import CSV, TableUrl
from cdcwire_conformance.spark.jars import with_connectors
from cdcwire_conformance.spark.session import (
    JavaMissing,
    is_installed,
    readable_errors,
    spark_session,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed
    from cdcwire_conformance.compare.feeds import ComparedFeeds
    from cdcwire_conformance.compare.result import Comparison
    from cdcwire_conformance.compare.rules import CompareOptions


@dataclass(frozen=True, slots=True)
class Work:
    """Two feeds, or a feed and a ``table``, that are ready to be compared.

    ``settings``: of a session, which are not used by the embedded engine.
    """

    arguments: CompareArguments
    masking: Masking
    left: ComparedFeed
    right: ComparedFeed
    table: TableUrl | None
    options: CompareOptions
    settings: Mapping[str, str]
    is_embedded: bool
    notes: RunNotes


def compared(work: Work) -> tuple[Comparison, SparkSession | None]:
    """Compare, and write the reports. Returns: the result as it may be shown, and the session."""
    from cdcwire_conformance.compare.embedded.database import UnreadColumnError

    session = None
    opened: list[ComparedFeeds] = []
    if work.is_embedded:
        try:
            with ProgressLine() as line, _readable(work), _whole_differences(work.options) as own:
                found = _compared_here(replace(work, options=own), Steps(line), opened)
        except UnreadColumnError as error:
            if work.arguments.engine != AUTO or not is_installed():
                raise UsageError(f"{error}; --engine spark may read it") from error
            announced(f"{error}; comparing on Spark")
            return compared(replace(work, is_embedded=False))
    else:
        with on_spark(work) as (session, report, _):
            found = _compared_on_spark(work, session, report, opened)
    with _readable(work):
        saved = saved_lines(work.arguments.save_case, found, opened, work.masking)
    write_reports(work.arguments, found, work.masking)
    shown = work.masking.shown(found)
    return replace(shown, notes=(*shown.notes, *saved)), session


@contextmanager
def _whole_differences(options: CompareOptions) -> Iterator[CompareOptions]:
    """Yield the options with a new directory for all differences. It takes its place at the end."""
    from cdcwire_conformance.compare.difference_files import check_empty

    if options.differences_to is None:
        yield options
        return
    check_empty(options.differences_to)
    with whole_folder(Path(options.differences_to)) as folder:
        yield replace(options, differences_to=str(folder))


def _compared_here(work: Work, report: Steps, opened: list[ComparedFeeds]) -> Comparison:
    """Compare in this process. ``opened``: gets both feeds."""
    from cdcwire_conformance.compare.embedded.csv_table import CsvTable
    from cdcwire_conformance.compare.embedded.database import DatabaseTable
    from cdcwire_conformance.compare.embedded.engine import compare_feeds
    from cdcwire_conformance.compare.embedded.parquet import ParquetTable
    from cdcwire_conformance.compare.embedded.table_rows import TableHere
    from cdcwire_conformance.compare.table import compare_table
    from cdcwire_conformance.decode.workers import reading_processes

    left, right, options = work.left, work.right, work.options
    with reading_processes(work.arguments.jobs) as workers:
        if work.table is None:
            found = compare_feeds(left, right, options, report, opened.append, workers)
            return with_record(found, work.notes, opened)
        table: TableHere
        if work.table.kind == CSV:
            table = CsvTable.of(work.table, work.arguments.csv_null, workers)
        elif work.table.kind == "jdbc":
            table = DatabaseTable.of(work.table, workers)
        else:
            table = ParquetTable.of(work.table, workers)
        feeds: list[OpenedFeed] = []
        found = compare_table(table, left, options, report, feeds.append)
        return with_record(found, work.notes, feeds, files=table.files())


def _compared_on_spark(
    work: Work, session: SparkSession, report: Steps, opened: list[ComparedFeeds]
) -> Comparison:
    """Compare on Spark. ``opened``: gets both feeds."""
    from cdcwire_conformance.compare.table import compare_table
    from cdcwire_conformance.spark.compare.engine import compare_feeds
    from cdcwire_conformance.spark.compare.table import SparkTable, files_of_table

    if work.table is None:
        found = compare_feeds(session, work.left, work.right, work.options, report, opened.append)
        return with_record(found, work.notes, opened, session)
    table = SparkTable.of(session, work.table)
    feeds: list[OpenedFeed] = []
    found = compare_table(table, work.left, work.options, report, feeds.append)
    return with_record(found, work.notes, feeds, session, files_of_table(session, work.table))


@contextmanager
def _readable(work: Work) -> Iterator[None]:
    """Raise errors of the feeds with what they look like, and without hidden values."""
    read = [(each.source, each.context) for each in (work.left, work.right)]
    with work.masking.errors_without_values(), named_formats(read):
        yield


@contextmanager
def on_spark(
    work: Work,
) -> Iterator[tuple[SparkSession, Steps, ProgressLine]]:
    """Yield a session, the function that reports a step, and the line of progress."""
    with ProgressLine() as progress:
        progress.show("looking for Spark's connectors")
        schemes = [*(each.source.scheme for each in (work.left, work.right)), *needs(work.table)]
        settings = with_connectors(work.settings, schemes, report=announced)
        progress.show("starting Spark", at_once=True)
        try:
            spark = spark_session(work.arguments.master, settings, "cdcwire compare")
        except JavaMissing as error:
            sources = work.left.source, work.right.source
            hint = alternative(work.arguments, sources, work.table)
            raise JavaMissing(f"{error}{hint}") from error
        with _readable(work), readable_errors(), watched_jobs(spark, progress) as report:
            yield spark, report, progress


def announced(text: str) -> None:
    """Print a line on standard error, as Spark's connectors are fetched."""
    print(visible(f"cdcwire compare: {text}"), file=sys.stderr)


@contextmanager
def named_formats(sides: Sequence[tuple[Source, Context]]) -> Iterator[None]:
    """Add to an error what the messages of its directory look like, if that is something else.

    Raises: what is raised here.
    """
    from cdcwire_conformance.decode.reading import FeedError

    try:
        yield
    except FeedError as error:
        for source, context in sides:
            if not is_url(source.folder) and source.folder and source.folder in str(error):
                found = _looks_like(source, context)
                raise FeedError(f"{error}{found}") from error
        raise


def _looks_like(source: Source, context: Context) -> str:
    """Return the end of an error's line; empty if the feed is what it was read as."""
    try:
        result = identify_place(source.path, Context(tables=context.tables)).result
    except (InputError, SourceError, StoreError, ValueError, OSError):
        return ""
    found = result.found
    if found is not None and found.format != source.format.name:
        if any(each.format == source.format.name and each.decoded for each in result.candidates):
            return f"; {source.path} has messages of {source.format.name} and {found.format}"
        return f"; {source.path} looks like {found.format}, not {source.format.name}"
    lacking = [] if found is None else list(_lacking(source, context, found))
    if found is not None and lacking and found.decoded > _decoded(source, context):
        return f"; {source.path} looks like {source.format.name} with {' '.join(lacking)}"
    if context.tables:
        return "; do the definitions of --ddl or --tables fit this feed?"
    return ""


def _decoded(source: Source, context: Context) -> int:
    """Return how many of the first messages decode with the options that they were read with."""
    format_ = source.format
    given = parse_options(format_.options, context.options)
    result = identify_place(source.path, Context(given, tables=context.tables)).result
    return max(
        (each.decoded for each in result.candidates if each.format == format_.name), default=0
    )


def _lacking(source: Source, context: Context, found: Candidate) -> Iterator[str]:
    """Yield the options that the messages show and that have another value here.

    A switch that was given and that they do not show counts too.
    """
    given = parse_options(source.format.options, context.options)
    for name, value in parse_options(source.format.options, found.options).items():
        if (name in found.options or isinstance(value, bool)) and given.get(name) != value:
            yield f"--option {option_text(name, value)}"
