"""A table of any size: its keys are compared in buckets, by all workers (``embedded.parts``).

The rows of a key are together in one worker: as numbers, and if they may differ, also whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cdcwire_conformance.compare.embedded import parts
from cdcwire_conformance.compare.embedded.kept_rows import KeptBatches
from cdcwire_conformance.compare.embedded.parts import Sent
from cdcwire_conformance.compare.embedded.tables import (
    ROWS_TOGETHER,
    ComparedTable,
    PartResult,
    WholeSides,
)
from cdcwire_conformance.compare.narrow.places import Eras
from cdcwire_conformance.compare.result import TableComparison
from cdcwire_conformance.spark.compare.shuffle import (
    Run,
    Side,
    WrittenRows,
    brought_together,
    results_of,
)
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROWS_OF_A_BUCKET = 1_000_000  # as numbers, some 100 bytes each
_BITS_OF_DIFFERENCE = 40  # of the number of a difference, below that of its bucket


def compare_large(
    spark: SparkSession,
    table: ComparedTable,
    sides: tuple[Side, Side],
    report: Callable[[str], None],
    rows: int = 0,
) -> TableComparison:
    """Compare a table. ``report`` is called with each step. Raises: what Spark raises.

    ``rows``: of both sides, as far as they are known. There are at least as many buckets as
    ``spark.sql.shuffle.partitions`` says.
    """
    return _Large(spark, table, sides, report, rows).result()


@dataclass(frozen=True, slots=True)
class _Large:
    spark: SparkSession
    table: ComparedTable
    sides: tuple[Side, Side]
    report: Callable[[str], None]
    rows: int

    def result(self) -> TableComparison:
        table = self.table
        self.report("comparing both sides")
        settled = self._settled()
        if not settled.open_rows:
            return table.merged(settled.results)
        self.report(f"comparing {settled.open_rows:,} rows that may differ")
        known = WholeSides(self._key_changes())
        found = self._compared(settled, known)
        if any(each.lacks_eras for each in found):
            self.report("telling what was sent again from doubles")
            found = self._compared(settled, replace(known, eras=self._eras()))
        return table.merged([*settled.results, *found])

    def _settled(self) -> parts.Settled:
        table, count = self.table, self._buckets

        def run(
            number: int, bucket: int, left: KeptBatches, right: KeptBatches
        ) -> tuple[parts.Settled, list[bytes]]:
            return parts.settled(table, left, right), []

        def send(side: int, batch: pa.RecordBatch) -> Iterator[Sent]:
            return parts.narrow_parts(table, batch, side, count)

        return parts.joined(self._found(send, run, count))

    def _compared(self, settled: parts.Settled, known: WholeSides) -> list[PartResult]:
        table, count = self.table, -(-settled.open_rows // ROWS_TOGETHER)
        ids = self.spark.sparkContext.broadcast(settled.ids)

        def send(side: int, batch: pa.RecordBatch) -> Iterator[Sent]:
            return parts.open_parts(table, batch, side, ids.value, count)

        def run(
            number: int, bucket: int, left: KeptBatches, right: KeptBatches
        ) -> tuple[PartResult, list[bytes]]:
            written = WrittenRows(table, bucket << _BITS_OF_DIFFERENCE)
            found = table.part(left, right, (bucket, count), known, write=written.write)
            return found, written.pickled

        try:
            return self._found(send, run, count, table.options.differences_to)
        finally:
            ids.unpersist()

    def _key_changes(self) -> tuple[Set[int], Set[int]]:
        table, count = self.table, self._buckets
        if not table.rules.joins_halves:
            return frozenset(), frozenset()

        def send(side: int, batch: pa.RecordBatch) -> Iterator[Sent]:
            return parts.half_parts(batch, count)

        def run(
            number: int, bucket: int, left: KeptBatches, right: KeptBatches
        ) -> tuple[tuple[Set[int], Set[int]], list[bytes]]:
            return (table.key_changes(left, 0), table.key_changes(right, 1)), []

        found = self._found(send, run, count)
        return (
            frozenset().union(*(left for left, _ in found)),
            frozenset().union(*(right for _, right in found)),
        )

    def _eras(self) -> tuple[Eras, Eras]:
        table, count = self.table, self._buckets

        def send(side: int, batch: pa.RecordBatch) -> Iterator[Sent]:
            return parts.era_parts(table, batch, side, count)

        def run(
            number: int, bucket: int, left: KeptBatches, right: KeptBatches
        ) -> tuple[tuple[Eras, Eras], list[bytes]]:
            return (parts.eras(left), parts.eras(right)), []

        left, right = Eras({}), Eras({})
        for ours, theirs in self._found(send, run, count):
            left, right = left.with_parts(ours), right.with_parts(theirs)
        return left, right

    @property
    def _partitions(self) -> int:
        number = self.spark.conf.get("spark.sql.shuffle.partitions") or ""
        return int(number) if number.isdigit() else SparkWorkers(self.spark).count

    @property
    def _buckets(self) -> int:
        return max(self._partitions, self.rows // _ROWS_OF_A_BUCKET)

    def _found(
        self,
        send: Callable[[int, pa.RecordBatch], Iterator[Sent]],
        run: Run,
        count: int,
        differences_to: str | None = None,
    ) -> list[Any]:
        """Return what is found in each bucket. ``send``: given number of a side."""
        left, right = (
            side(lambda _, batch, number=number: send(number, batch))  # type: ignore[misc]
            for number, side in enumerate(self.sides)
        )
        found = brought_together(left, right, min(count, self._partitions), run)
        return [each for _, each in results_of(found, differences_to)]
