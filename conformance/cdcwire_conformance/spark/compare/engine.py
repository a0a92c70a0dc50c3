"""The engine that compares on Spark: each table is a DataFrame on both sides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from cdcwire.arrow.batches import MessagePlace, RowProblem
from cdcwire.arrow.schema import CanonicalTable
from cdcwire.model.kinds import ArrayType
from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed
from cdcwire_conformance.compare.feeds import (
    UNREADABLE_SHOWN,
    Inspect,
    Report,
    TableTask,
    no_inspection,
    no_report,
    unreadable_message,
)
from cdcwire_conformance.compare.feeds import compare_feeds as compare_on
from cdcwire_conformance.compare.ill_formed import with_bytes
from cdcwire_conformance.compare.meaning import Encoding, Replacement
from cdcwire_conformance.compare.result import (
    Comparison,
    SideName,
    TableComparison,
    UnreadableMessage,
)
from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS, CompareOptions
from cdcwire_conformance.compare.work import Work
from cdcwire_conformance.spark.compare.changes import compare_frames
from cdcwire_conformance.spark.compare.differences import begin_differences
from cdcwire_conformance.spark.compare.images import column_name
from cdcwire_conformance.spark.compare.shares import rows_of_shares
from cdcwire_conformance.spark.compare.small_tables import compare_group, groups_of_small
from cdcwire_conformance.spark.compare.windows import in_window
from cdcwire_conformance.spark.reading.frames import errors_frame
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

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

    ``joins_small_tables``: small tables are compared by the workers, many in one job. Otherwise
    each table has its own queries.
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

    def compared(
        self, tasks: Sequence[TableTask], options: CompareOptions, report: Report
    ) -> Iterator[TableComparison]:
        """Yield the comparison of the rows of each table, in their order."""
        work = Work(total=sum(task.rows for task in tasks))
        found: dict[int, TableComparison] = {}
        for group in groups_of_small(tasks, options) if self.joins_small_tables else ():
            rows = sum(task.rows for _, task in group)
            number, first = group[0]
            names = f"table {number + 1} of {len(tasks)}, {first.table}"
            names = names if len(group) == 1 else f"{len(group)} small tables of {len(tasks)}"
            report(f"{names}: comparing both sides", replace(work, rows=rows))
            found |= compare_group(self.spark, group, options)
            work = replace(work, done=work.done + rows)
        for number, task in enumerate(tasks):
            if number in found:
                yield found.pop(number)
                continue
            work = replace(work, rows=task.rows)
            which = f"table {number + 1} of {len(tasks)}, "

            def report_table(text: str, work: Work = work, which: str = which) -> None:
                report(f"{which}{text}", work)

            yield self._compared(task, options, report_table)
            work = replace(work, done=work.done + task.rows)

    def _compared(
        self, task: TableTask, options: CompareOptions, report: Callable[[str], None]
    ) -> TableComparison:
        left, right = (self._rows(feed, task, options) for feed in (task.left, task.right))
        return compare_frames(
            left,
            right,
            task.table,
            task.rules,
            limit=options.limit,
            exact=options.exact,
            window=options.window,
            order=options.order,
            differences_to=options.differences_to,
            hidden=options.meaning.redacted_of(task.table),
            mask=options.mask,
            report=report,
        )

    def _rows(self, feed: OpenedFeed, task: TableTask, options: CompareOptions) -> DataFrame:
        """Return the rows of a table as they are compared."""
        table = with_bytes(task.table, task.replaced)
        rows = decoded(self.spark, feed, table, options, task.rules.position)
        frame = placed(rows, feed)
        side: SideName = "left" if feed is task.left else "right"
        readable = _with_readable_text(frame, task.replaced)
        return with_changed_values(readable, task.table, options, side)

    def unreadable(
        self,
        feed: OpenedFeed,
        tables: Iterable[CanonicalTable],
        position: str | None,
        options: CompareOptions,
    ) -> tuple[int, list[UnreadableMessage]]:
        """Return how many messages or rows can't be read, and the first of them."""
        frames = []
        for table in tables:
            frame = decoded(self.spark, feed, table, options, position)
            if position is not None:
                frame = in_window(frame, position, options.window)
            frames.append(errors_frame(frame))
        errors = reduce(DataFrame.unionByName, frames).distinct().persist()
        try:
            total = errors.count()
            first = errors.orderBy(*_ERROR_ORDER).limit(UNREADABLE_SHOWN).collect() if total else []
        finally:
            errors.unpersist()
        return total, [_unreadable(row.asDict()) for row in first]


def decoded(
    spark: SparkSession,
    feed: OpenedFeed,
    table: CanonicalTable,
    options: CompareOptions,
    position: str | None = None,
) -> DataFrame:
    """Return the rows of a table by the names of the other feed.

    ``position``: by which last rows are replayed.
    """
    frame = rows_of_shares(spark, feed, table, options, position)
    return frame if feed.own_table(table) is table else _named(frame, table)


def _named(frame: DataFrame, table: CanonicalTable) -> DataFrame:
    """Return a frame with the table's names of columns."""
    image = frame.schema["after"].dataType
    assert isinstance(image, StructType)
    fields = zip(table.column_names, image.fields, strict=True)
    named = StructType([StructField(name, each.dataType) for name, each in fields])
    return frame.withColumns({side: F.col(side).cast(named) for side in ("before", "after")})


def placed(frame: DataFrame, feed: OpenedFeed) -> DataFrame:
    """Return rows of Parquet files without the topic as if each file were a topic.

    So their partitions are not taken for the numbers of files in a prefix.
    """
    if feed.source.kind != "parquet":
        return frame
    source = F.col("source")
    topic, offset, file = (source.getField(name) for name in ("topic", "offset", "file"))
    own = F.when(offset.isNotNull(), F.coalesce(topic, file)).otherwise(topic)
    return frame.withColumn("source", source.withField("topic", own))


def with_changed_values(
    frame: DataFrame, table: CanonicalTable, options: CompareOptions, side: SideName
) -> DataFrame:
    """Return the rows of a side with times cut to their precision, and bytes without text form."""
    cuts = options.meaning.cuts(table)
    encodings = options.meaning.encodings(table, side)
    kinds = {column.name: column.type for column in table.columns}
    return _with_values(
        frame,
        {
            **{name: _cutter(each) for name, each in cuts.items()},
            **{
                name: _of_items(_decoder(each))
                if isinstance(kinds[name], ArrayType)
                else _decoder(each)
                for name, each in encodings.items()
            },
        },
    )


def _of_items(change: Callable[[Column], Column]) -> Callable[[Column], Column]:
    return lambda value: F.transform(value, change)


def _decoder(encoding: Encoding) -> Callable[[Column], Column]:
    def decode(value: Column) -> Column:
        text = value.cast("string")
        if encoding.name == "hex":
            decoded = F.unhex(text)
        else:
            decoded = F.unbase64(F.translate(text, "-_", "+/"))
        return F.when(text.rlike(rf"\A(?:{encoding.pattern})\z"), decoded).otherwise(value)

    return decode


def _cutter(replacements: Sequence[Replacement]) -> Callable[[Column], Column]:
    def cut(value: Column) -> Column:
        for each in replacements:
            kept = "".join(f"${number}" for number in range(1, each.groups + 1))
            value = F.regexp_replace(value, each.pattern, kept)
        return value

    return cut


def _with_readable_text(frame: DataFrame, names: Collection[str]) -> DataFrame:
    """Return the rows with these columns of bytes as text, with U+FFFD for what is ill-formed."""
    return _with_values(frame, dict.fromkeys(sorted(names), _readable)) if names else frame


def _readable(value: Column) -> Column:
    text = F.make_valid_utf8(value.cast("string"))
    return F.regexp_replace(text, "\ufffd+", "\ufffd")


def _with_values(frame: DataFrame, changes: Mapping[str, Callable[[Column], Column]]) -> DataFrame:
    """Return the frame with other values of some columns, in both images."""
    for name, change in changes.items():
        frame = frame.withColumns(
            {
                side: F.col(side).withField(column_name(name), change(F.col(side).getField(name)))
                for side in ("before", "after")
            }
        )
    return frame


def _unreadable(error: dict[str, Any]) -> UnreadableMessage:
    problem = RowProblem(error["byte"], error["path"], error["clause"], error["problem"])
    names = ("topic", "partition", "offset", "file", "line")
    return unreadable_message(problem, MessagePlace(*(error[name] for name in names)))
