"""Small tables of two feeds, many in one job: each is compared whole, by one worker.

Spark takes seconds to plan and to start a job, whatever its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from cdcwire_conformance.compare.embedded.kept_rows import KeptBatches
from cdcwire_conformance.compare.embedded.tables import ComparedTable, PartResult
from cdcwire_conformance.compare.plan import TableTask
from cdcwire_conformance.compare.result import TableComparison
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.spark.compare.shuffle import (
    WrittenRows,
    brought_together,
    results_of,
    sent_rows,
)
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL_TABLE_ROWS = 500_000  # of both sides
ROWS_OF_A_JOB = 500_000

Group: TypeAlias = "Sequence[tuple[int, TableTask]]"


def groups_of_small(tasks: Sequence[TableTask]) -> Iterator[Group]:
    """Yield the small tables with their numbers, in groups that are compared in one job each."""
    group: list[tuple[int, TableTask]] = []
    rows = 0
    for number, task in enumerate(tasks):
        if task.rows > SMALL_TABLE_ROWS:
            continue
        if group and rows + task.rows > ROWS_OF_A_JOB:
            yield group
            group, rows = [], 0
        group.append((number, task))
        rows += task.rows
    if group:
        yield group


def compare_group(
    spark: SparkSession,
    group: Group,
    tables: Mapping[int, ComparedTable],
    options: CompareOptions,
) -> dict[int, TableComparison]:
    """Return the comparisons of tables by their numbers. Raises: what Spark raises."""

    def send(number: int, batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
        yield 0, batch

    def run(
        number: int, bucket: int, left: KeptBatches, right: KeptBatches
    ) -> tuple[PartResult, list[bytes]]:
        written = WrittenRows(tables[number])
        return tables[number].part(left, right, write=written.write), written.pickled

    tasks = dict(group)
    _, first = group[0]
    sides = [sent_rows(spark, each, tasks, options, send) for each in (first.left, first.right)]
    parts = min(len(group), SparkWorkers(spark).count)
    found = brought_together(sides[0], sides[1], parts, run)
    results = dict(results_of(found, options.differences_to))
    for number in tasks:  # those without a row in either feed
        results.setdefault(number, tables[number].part([], []))
    return {number: tables[number].merged([each]) for number, each in results.items()}
