"""The engine that compares on Spark: workers run what the embedded engine runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from cdcwire.arrow.batches import MessagePlace, RowProblem
from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.embedded.engine import compared_table, errors_in
from cdcwire_conformance.compare.embedded.passes import job_for
from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed
from cdcwire_conformance.compare.feeds import (
    UNREADABLE_SHOWN,
    Inspect,
    Report,
    no_inspection,
    no_report,
    unreadable_message,
)
from cdcwire_conformance.compare.feeds import compare_feeds as compare_on
from cdcwire_conformance.compare.plan import TableTask
from cdcwire_conformance.compare.result import Comparison, TableComparison, UnreadableMessage
from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS, CompareOptions
from cdcwire_conformance.compare.work import Work
from cdcwire_conformance.spark.compare.large_tables import compare_large
from cdcwire_conformance.spark.compare.shuffle import Side, begin_differences, sent_rows
from cdcwire_conformance.spark.compare.small_tables import compare_group, groups_of_small
from cdcwire_conformance.spark.reading.frames import decode_tables_frame
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ERRORS: dict[str, tuple[str, pa.DataType]] = {
    "topic": ("string", pa.string()),
    "partition": ("int", pa.int32()),
    "offset": ("bigint", pa.int64()),
    "file": ("string", pa.string()),
    "line": ("bigint", pa.int64()),
    "byte": ("bigint", pa.int64()),
    "path": ("string", pa.string()),
    "clause": ("string", pa.string()),
    "problem": ("string", pa.string()),
}
_ERROR_ORDER = ("topic", "partition", "file", "offset", "byte")


def compare_feeds(
    spark: SparkSession,
    left: ComparedFeed,
    right: ComparedFeed,
    options: CompareOptions = DEFAULT_OPTIONS,
    report: Report = no_report,
    inspect: Inspect = no_inspection,
) -> Comparison:
    """Compare two feeds on Spark. ``report`` is called with each step, ``inspect`` at the end.

    Raises: SchemaError when there is nothing to compare; FeedError at the first message that can't
    be read, if errors are to stop; what Spark raises.
    """
    return compare_on(SparkEngine(spark), left, right, options, report, inspect)


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """Compares in a Spark session, whatever the size of the feeds.

    ``joins_small_tables``: small tables are compared whole, many in one job. Otherwise each table
    is compared in buckets of its keys.
    """

    spark: SparkSession
    joins_small_tables: bool = True
    name: str = "spark"
    is_exact: bool = False

    @property
    def workers(self) -> SparkWorkers:
        """Return the workers of the session."""
        return SparkWorkers(self.spark)

    def begin(self, options: CompareOptions) -> None:
        """Prepare the place for all differences. Raises: SchemaError if it is not empty."""
        if options.differences_to is not None:
            begin_differences(self.spark, options.differences_to)

    def ahead(
        self, left: OpenedFeed, right: OpenedFeed, options: CompareOptions
    ) -> tuple[None, None]:
        """Return nobody: executors keep no rows between two jobs."""
        return None, None

    def compared(
        self, tasks: Sequence[TableTask], options: CompareOptions, report: Report
    ) -> Iterator[TableComparison]:
        """Yield the comparison of the rows of each table, in their order."""
        work = Work(total=sum(task.rows for task in tasks))
        tables = {
            number: compared_table(task.table, task.replaced, task.rules, options)
            for number, task in enumerate(tasks)
        }
        found: dict[int, TableComparison] = {}
        for group in groups_of_small(tasks) if self.joins_small_tables else ():
            rows = sum(task.rows for _, task in group)
            number, first = group[0]
            names = f"table {number + 1} of {len(tasks)}, {first.table}"
            names = names if len(group) == 1 else f"{len(group)} small tables of {len(tasks)}"
            report(f"{names}: comparing both sides", replace(work, rows=rows))
            found |= compare_group(self.spark, group, tables, options)
            work = replace(work, done=work.done + rows)
        for number, task in enumerate(tasks):
            if number in found:
                yield found.pop(number)
                continue
            work = replace(work, rows=task.rows)
            which = f"table {number + 1} of {len(tasks)}, {task.table}: "

            def report_table(text: str, work: Work = work, which: str = which) -> None:
                report(f"{which}{text}", work)

            sides = self.side(task.left, task, options), self.side(task.right, task, options)
            yield compare_large(self.spark, tables[number], sides, report_table, task.rows)
            work = replace(work, done=work.done + task.rows)

    def side(self, feed: OpenedFeed, task: TableTask, options: CompareOptions) -> Side:
        """Return the decoded rows of a table, to be sent."""
        return lambda send: sent_rows(self.spark, feed, {0: task}, options, send)

    def unreadable(
        self,
        feed: OpenedFeed,
        tables: Iterable[CanonicalTable],
        position: str | None,
        options: CompareOptions,
    ) -> tuple[int, list[UnreadableMessage]]:
        """Return how many messages or rows can't be read, and the first of them."""
        jobs = [job_for(feed, feed.own_table(table), options) for table in tables]
        window = options.window
        schema = ", ".join(f"{name} {kind}" for name, (kind, _) in _ERRORS.items())

        def send(found: Iterable[tuple[int, pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
            for _, batch in found:
                errors = [
                    (*place, *problem) for place, problem in errors_in(batch, position, window)
                ]
                if errors:
                    columns = zip(zip(*errors, strict=True), _ERRORS.values(), strict=True)
                    arrays = [pa.array(values, kind) for values, (_, kind) in columns]
                    yield pa.RecordBatch.from_arrays(arrays, list(_ERRORS))

        frame = decode_tables_frame(self.spark, feed.opened, jobs, send, schema)
        errors = frame.distinct().persist()
        try:
            total = errors.count()
            first = errors.orderBy(*_ERROR_ORDER).limit(UNREADABLE_SHOWN).collect() if total else []
        finally:
            errors.unpersist()
        size = len(MessagePlace._fields)
        return total, [
            unreadable_message(RowProblem(*row[size:]), MessagePlace(*row[:size])) for row in first
        ]
