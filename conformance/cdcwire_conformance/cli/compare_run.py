"""Carries out ``cdcwire compare`` on feeds that are ready, in this process or on Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire_conformance.cli.compare_arguments import CompareArguments
from cdcwire_conformance.cli.compare_engine import alternative, needs
from cdcwire_conformance.cli.compare_masking import Masking
from cdcwire_conformance.cli.compare_record import RunNotes, with_record
from cdcwire_conformance.cli.compare_reports import saved_lines, write_reports
from cdcwire_conformance.cli.looks_like import named_formats
from cdcwire_conformance.cli.progress import ProgressLine, Steps, watched_jobs
from cdcwire_conformance.sources.tables import CSV, TableUrl
from cdcwire_conformance.spark.jars import with_connectors
from cdcwire_conformance.spark.session import JavaMissing, readable_errors, spark_session
from cdcwire_conformance.visible import visible
from cdcwire_conformance.whole_files import whole_folder

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
    session = None
    opened: list[ComparedFeeds] = []
    if work.is_embedded:
        with ProgressLine() as progress, _readable(work), _whole_differences(work.options) as own:
            found = _compared_here(replace(work, options=own), Steps(progress), opened)
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
    from cdcwire_conformance.compare.embedded.engine import compare_feeds
    from cdcwire_conformance.compare.embedded.parquet import ParquetTable
    from cdcwire_conformance.compare.table import compare_table
    from cdcwire_conformance.decode.processes import reading_processes

    left, right, options = work.left, work.right, work.options
    with reading_processes(work.arguments.jobs) as workers:
        if work.table is None:
            found = compare_feeds(left, right, options, report, opened.append, workers)
            return with_record(found, work.notes, opened)
        table: CsvTable | ParquetTable
        if work.table.kind == CSV:
            table = CsvTable.of(work.table, work.arguments.csv_null, workers)
        else:
            table = replace(ParquetTable.of(work.table), workers=workers)
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
