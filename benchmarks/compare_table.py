"""The cost of comparing a feed with a table, against comparing it with another feed.

Run as ``python -m benchmarks.compare_table [--quick] [--json FILE]``; needs the extra ``spark``.
The feed has 1,000,000 inserts (``--quick``: 100,000) of the 10-column table, as Craft in JSON
lines. It is compared with its own last rows as Parquet, and with itself in ``--mode final``. Craft
has the cheapest decoder, so with any other feed in place of the table the ratio is smaller. All
processor time counts: the driver's, Java's and the Python workers'. Routes take turns, and the best
of each counts, after a first turn that warms Java up.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.document import Result, arguments, finish
from benchmarks.spark_decode import processor_seconds
from cdcwire.arrow.schema import canonical_table
from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.registry import get_format
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.compare.table import compare_table
from cdcwire_conformance.sources.source_urls import source_of_folder
from cdcwire_conformance.sources.tables import TableUrl
from cdcwire_conformance.spark import decode_frame, spark_session
from cdcwire_conformance.spark.compare.engine import compare_feeds
from cdcwire_conformance.spark.compare.table import SparkTable
from cdcwire_generators.workloads import workload, workload_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOAD = "orders-10"
FORMAT = "craft"
SEED = 23
ROWS, ROWS_QUICK = 1_000_000, 100_000
ROUNDS = 2
MAX_RATIO = 1.5
MASTER = "local[2]"


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure comparing a feed with a table.", argv)
    rows = ROWS_QUICK if given.quick else ROWS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_feed(rows, folder / "feed")
        spark = spark_session(MASTER, {"spark.driver.memory": "3g"})
        write_table(spark, folder)
        taken = measure(spark, folder, rows)
        spark.stop()
    details = {f"{name}, CPU s": round(seconds, 2) for name, seconds in taken.items()}
    result = Result(
        "table",
        f"CPU of comparing a feed with a table over comparing two feeds, {rows:,} last rows",
        round(taken["table"] / taken["feed"], 3),
        "x",
        MAX_RATIO,
        is_least=False,
        details=details,
    )
    return finish("compare_table", [result], given)


def write_feed(rows: int, folder: Path) -> None:
    folder.mkdir()
    tables = workload_tables(WORKLOAD)
    encode = get_format(FORMAT).encoder(Context(tables=tables))
    events = workload(WORKLOAD, rows, SEED, inserts_only=True)
    write_messages(str(folder / "messages.jsonl"), encode(events))


def write_table(spark: SparkSession, folder: Path) -> None:
    table = canonical_table(workload_tables(WORKLOAD)[0])
    frame = decode_frame(spark, source_of_folder(FORMAT, folder / "feed"), table)
    frame.select("after.*").write.parquet(str(folder / "table"))


def measure(spark: SparkSession, folder: Path, rows: int) -> dict[str, float]:
    """Return the CPU seconds of each route."""
    feed = ComparedFeed(source_of_folder(FORMAT, folder / "feed"))
    table = TableUrl("parquet", str(folder / "table"), (None, "table"))
    final = CompareOptions(mode="final")
    routes: dict[str, Callable[[], Comparison]] = {
        "feed": lambda: compare_feeds(spark, feed, feed, final),
        "table": lambda: compare_table(SparkTable.of(spark, table), feed),
    }
    taken: dict[str, list[float]] = {name: [] for name in routes}
    for _ in range(1 + ROUNDS):
        for name, route in routes.items():
            before = processor_seconds()
            check(route(), rows)
            taken[name].append(processor_seconds() - before)
    return {name: min(found[1:]) for name, found in taken.items()}


def check(found: Comparison, rows: int) -> None:
    assert found.is_equal
    (table,) = found.tables
    assert table.counts is not None
    assert table.counts.same == rows


if __name__ == "__main__":
    sys.exit(main())
