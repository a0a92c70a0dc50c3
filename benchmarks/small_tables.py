"""The cost of comparing one row, and many small tables, on both engines.

Run as ``python -m benchmarks.small_tables [--quick] [--json FILE]``; needs the extra ``spark``. The
tables have 10 columns and 50 changes each. Craft is compared with Open Protocol: one row; 20 tables
with one difference each; 300 tables (``--quick``: 30) that are equal. These 300 are compared again
with a difference in one table, and with one in each. Each run is a process. All of its processor
time counts, also that of Java and of the workers. So Spark's figures have the start of Java.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from benchmarks.document import Result, arguments, finish
from benchmarks.spark_decode import processor_seconds
from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, RowChange, Table
from cdcwire.registry import get_format
from cdcwire_conformance.compare.embedded.engine import compare_feeds as compare_here
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.sources.source_urls import source_of_folder
from cdcwire_conformance.spark import spark_session
from cdcwire_conformance.spark.compare.engine import compare_feeds
from cdcwire_generators.workloads import workload_tables
from cdcwire_generators.workloads.stream import Mix, stream

WORKLOAD = "orders-10"
FORMATS = ("craft", "open-protocol")
ENGINES = ("embedded", "spark")
SEED = 22
ROWS = 50
TABLES, TABLES_QUICK = 300, 30
MASTER = "local[2]"
MAX_ONE_ROW_S = 15.0
MAX_TABLES_S = 120.0
MAX_DIFFERENT_S = 1.0
_CHANGED = "customer"


@dataclass(frozen=True, slots=True)
class Plan:
    """Two feeds to compare. ``different``: the tables of the right feed with a difference."""

    tables: int
    rows: int
    different: int = 0


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure comparisons of many small tables.", argv)
    many = TABLES_QUICK if given.quick else TABLES
    plans = {
        "one row": Plan(1, 1),
        "20 tables": Plan(20, 20 * ROWS, 20),
        "equal": Plan(many, many * ROWS),
        "one different": Plan(many, many * ROWS, 1),
        "all different": Plan(many, many * ROWS, many),
    }
    results = []
    for engine in ENGINES:
        taken = {name: seconds_of(engine, plan) for name, plan in plans.items()}
        one = taken["one different"] - taken["equal"]
        each = (taken["all different"] - taken["equal"]) / many
        goals = (
            ("comparing one row, CPU", taken["one row"], MAX_ONE_ROW_S),
            ("comparing 20 tables with one difference each, CPU", taken["20 tables"], None),
            (f"comparing {many} equal tables of {ROWS} rows, CPU", taken["equal"], MAX_TABLES_S),
            ("one table with a difference takes more CPU", one, MAX_DIFFERENT_S),
            ("each of all tables with a difference takes more CPU", each, MAX_DIFFERENT_S),
        )
        results += [
            Result(
                f"{engine} {number}",
                title,
                round(value, 2),
                "s",
                bar,
                is_least=False,
                workload=engine,
            )
            for number, (title, value, bar) in enumerate(goals)
        ]
    return finish("small_tables", results, given)


def seconds_of(engine: str, plan: Plan) -> float:
    """Return the CPU seconds of a comparison in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        write_feeds(plan, Path(folder))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(compare, engine, plan, Path(folder)).result()


def write_feeds(plan: Plan, folder: Path) -> None:
    (table,) = workload_tables(WORKLOAD)
    tables = tuple(replace(table, name=f"orders_{number}") for number in range(plan.tables))
    for name, different in zip(FORMATS, (0, plan.different), strict=True):
        (folder / name).mkdir()
        events = changes(tables, plan.rows, different)
        messages = get_format(name).from_events(events, context=Context(tables=tables))
        write_messages(str(folder / name / "messages.jsonl"), messages)


def changes(tables: tuple[Table, ...], rows: int, different: int) -> Iterator[Event]:
    """Yield the changes of all tables; the first insert of some has another value."""
    wanted = {table.name for table in tables[:different]}
    for event in stream(tables, rows, SEED, Mix()):
        if isinstance(event, RowChange) and event.op == "insert" and event.table.name in wanted:
            wanted.remove(event.table.name)
            assert event.after is not None
            place = event.after.names.index(_CHANGED)
            values = [*event.after.values]
            values[place] = "somebody else"
            event = replace(event, after=Image(event.after.columns, tuple(values)))
        yield event
    assert not wanted


def compare(engine: str, plan: Plan, folder: Path) -> float:
    """Compare both feeds and check the result. Returns: the CPU seconds of this process so far."""
    left, right = (ComparedFeed(source_of_folder(name, folder / name)) for name in FORMATS)
    if engine == "embedded":
        found = compare_here(left, right)
    else:
        found = compare_feeds(spark_session(MASTER), left, right)
    assert len(found.tables) == plan.tables
    assert sum(not each.is_equal for each in found.tables) == plan.different
    assert sum(len(each.differences) for each in found.tables) == plan.different
    return processor_seconds()


if __name__ == "__main__":
    sys.exit(main())
