"""The cost of comparing two equal DataFrames, against one scan of both, and the driver's memory.

Run as ``python -m benchmarks.spark_compare [--quick] [--json FILE]``; needs the extra ``spark``.
Both frames are Parquet of the 29-column table with changes mixed, in files that are cut
differently. They hold 1,000,000 equal changes (``--quick``: 100,000). A scan reads all columns of
both to nowhere. To compare exactly and to name differences takes Python objects, so that is
measured with a tenth of the rows. Handing all columns to Python, which does nothing with them, is
what no comparison in Python can save. All processor time counts: the driver's, Java's and the
Python workers'. Routes take turns, and the best of each counts, after a first turn that warms Java
up.

The changes are 100,000 different ones, repeated at later positions: making a million takes too
long.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from benchmarks.document import Result, arguments, finish
from benchmarks.spark_decode import driver_mib, processor_seconds
from cdcwire.arrow.batches import BatchBuilder, MessagePlace, places_array
from cdcwire.arrow.schema import CanonicalTable, canonical_table
from cdcwire.model.events import RowChange
from cdcwire_conformance.compare.result import TableComparison
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.spark import spark_session
from cdcwire_conformance.spark.compare.frames import compare_frames
from cdcwire_generators.workloads import workload, workload_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WORKLOAD = "proposal-29"
SEED = 20
DISTINCT = 100_000
COPIES = 10
ROUNDS = 3
MAX_RATIO = 2.0
MAX_GROWTH_MIB = 32.0
MASTER = "local[2]"
Routes: TypeAlias = "dict[str, Callable[[], None]]"
_FILES = {"left": 4, "right": 5}
_BATCH = 4096
_DRAW = "pmod(xxhash64(commit_ts), 4001)"
_LATER = 1 << 58  # between the positions of one copy and of the next


@dataclass(frozen=True)
class Frames:
    """Two equal frames, and how many changes each has."""

    left: DataFrame
    right: DataFrame
    rows: int

    @classmethod
    def read(cls, spark: SparkSession, folder: Path, rows: int) -> Frames:
        left, right = (spark.read.parquet(str(folder / name)) for name in _FILES)
        return cls(left, right, rows)

    @property
    def both(self) -> DataFrame:
        """All rows of the two."""
        return self.left.unionByName(self.right)


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure comparing two DataFrames against one scan of both.", argv)
    distinct = DISTINCT // 10 if given.quick else DISTINCT
    table = canonical_table(workload_tables(WORKLOAD)[0])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In another process, so that this one's peak of memory is the driver's own.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            pool.submit(write_all, table, distinct, folder).result()
        conf = {"spark.driver.memory": "3g", "spark.sql.shuffle.partitions": "4"}
        spark = spark_session(MASTER, conf)
        few = Frames.read(spark, folder / "few", distinct)
        many = Frames.read(spark, folder / "many", distinct * COPIES)
        results = [*measure_memory(spark, few, many, table)]
        results += measure_equal(many, table, has_bar=not given.quick)
        results += measure_objects(few, table)
        spark.stop()
    return finish("spark_compare", results, given)


def changes_of(table: CanonicalTable, rows: int) -> pa.Table:
    """Return the changes of a seeded stream in their canonical form."""
    builder = BatchBuilder(table)
    events = (event for event in workload(WORKLOAD, rows, SEED) if isinstance(event, RowChange))
    batches = []
    while part := list(islice(events, _BATCH)):
        batches.append(builder.batch(part, places_array([MessagePlace(file="feed")], [len(part)])))
    return pa.Table.from_batches(batches)


def write_all(table: CanonicalTable, rows: int, folder: Path) -> None:
    changes = changes_of(table, rows)
    write_frames(changes, 1, folder / "few")
    write_frames(changes, COPIES, folder / "many")


def write_frames(changes: pa.Table, copies: int, folder: Path) -> None:
    """Write N copies twice, the second time in another order and other files."""
    index = changes.schema.get_field_index("commit_ts")
    field = changes.schema.field(index)
    parts = []
    for number in range(copies):
        later = pa.scalar(Decimal(number * _LATER), field.type)
        positions = pc.add(changes.column(index), later).cast(field.type)
        parts.append(changes.set_column(index, field, positions))
    whole = pa.concat_tables(parts)
    backwards = pa.concat_tables(list(reversed(parts)))
    for (name, files), rows in zip(_FILES.items(), (whole, backwards), strict=True):
        target = folder / name
        target.mkdir(parents=True)
        size = -(-rows.num_rows // files)
        for number in range(files):
            # Values differ in a feed, so a dictionary of ten-fold copies would flatter the scan.
            piece = rows.slice(number * size, size)
            pq.write_table(piece, target / f"{number}.parquet", use_dictionary=False)


def measure_memory(
    spark: SparkSession, few: Frames, many: Frames, table: CanonicalTable
) -> list[Result]:
    """Measure what the driver holds after ten times as many rows."""
    found = []
    for frames in (few, few, many):  # the first warms up
        check(compare_frames(frames.left, frames.right, table), frames.rows)
        found.append((driver_mib(), java_mib(spark)))
    (_, (few_python, few_java), (many_python, many_java)) = found
    sizes = f"{many.rows:,} rows less {few.rows:,}"
    return [
        Result(
            "driver",
            f"the driver's peak memory in Python, {sizes}",
            round(many_python - few_python, 2),
            "MiB",
            MAX_GROWTH_MIB,
            is_least=False,
        ),
        Result(
            "java",
            f"what Java keeps afterwards (driver and workers in one), {sizes}",
            round(many_java - few_java, 2),
            "MiB",
            MAX_GROWTH_MIB,
            is_least=False,
        ),
    ]


def measure_equal(frames: Frames, table: CanonicalTable, *, has_bar: bool) -> list[Result]:
    """Measure comparing two equal frames.

    Few rows have no bar: what a query costs to plan and to compile is most of it then.
    """
    routes: Routes = {
        "scan": lambda: scan(frames.both),
        "to Python": lambda: scan(frames.both.mapInArrow(_counted, "rows long")),
        "compare": lambda: check(compare_frames(frames.left, frames.right, table), frames.rows),
    }
    titles = {"to Python": "handing equal frames to Python", "compare": "comparing equal frames"}
    return over_a_scan(routes, frames.rows, titles, MAX_RATIO if has_bar else None)


def measure_objects(frames: Frames, table: CanonicalTable) -> list[Result]:
    """Measure comparing two equal frames exactly, and two with differences."""
    left, right = frames.left, frames.right
    changed = right.withColumn("after", with_changes(table)).where(f"{_DRAW} <> 7")
    exact = CompareOptions(exact=True)

    def differing() -> None:
        found = compare_frames(left, changed, table)
        assert found.counts is not None
        assert found.counts.changed
        assert found.counts.only_left

    routes: Routes = {
        "scan": lambda: scan(frames.both),
        "exact": lambda: check(compare_frames(left, right, table, options=exact), frames.rows),
        "differing": differing,
    }
    titles = {
        "exact": "comparing equal frames by all columns",
        "differing": "comparing and naming differences",
    }
    return over_a_scan(routes, frames.rows, titles)


def over_a_scan(
    routes: Routes, rows: int, titles: Mapping[str, str], bar: float | None = None
) -> list[Result]:
    """Measure routes by turns. ``bar``: of the route that compares."""
    times: dict[str, list[float]] = {name: [] for name in routes}
    for _ in range(ROUNDS):
        for name, route in routes.items():
            before = processor_seconds()
            route()
            times[name].append(processor_seconds() - before)
    best = {name: min(found[1:]) for name, found in times.items()}
    details: dict[str, Any] = {f"{name}, CPU s": round(time, 2) for name, time in best.items()}
    return [
        Result(
            name.replace(" ", "-"),
            f"CPU of {title} over one scan of both, {rows:,} rows",
            round(best[name] / best["scan"], 3),
            "x",
            bar if name == "compare" else None,
            is_least=False,
            details=details,
        )
        for name, title in titles.items()
    ]


def scan(frame: DataFrame) -> None:
    """Read all columns of a frame to nowhere."""
    frame.write.format("noop").mode("overwrite").save()


def _counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_arrays([pa.array([rows], pa.int64())], ["rows"])


def with_changes(table: CanonicalTable) -> Any:
    """Return the after image with another value in some rows."""
    after = F.col("after")
    name = table.columns[4].name
    changed = after.withField(name, F.lit(7).cast("bigint"))
    return F.when(F.expr(f"{_DRAW} = 5"), changed).otherwise(after)


def check(found: TableComparison, rows: int) -> None:
    assert found.is_equal
    assert found.counts is not None
    assert found.counts.left_rows == rows


def java_mib(spark: SparkSession) -> float:
    """Return what Java's heap holds once garbage is collected."""
    java: Any = spark.sparkContext._jvm
    java.System.gc()
    runtime = java.Runtime.getRuntime()
    return float((runtime.totalMemory() - runtime.freeMemory()) / (1 << 20))


if __name__ == "__main__":
    sys.exit(main())
