"""The cost of comparing two equal feeds without Spark, against reading both into Arrow.

Run as ``python -m benchmarks.compare_here [--quick] [--json FILE]``. The feeds are files of
messages, Craft against Open Protocol, with 2,000 to 1,000,000 changes of the 10-column table
(``--quick``: 50,000). Each step is a process. Its processor time counts, and its largest memory.
Ratios are measured from 50,000 changes on, as a process takes a second to start.
Reading is what ``cdcwire.open(URL).batches()`` does. Then a process per core reads: its time on the
clock counts, against that of one process, so the machine must do nothing else.

The changes are 100,000 different ones, repeated at later positions.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.commands import Cost, command, cost_of
from benchmarks.document import Result, arguments, finish
from benchmarks.large_feeds import FORMATS, ROWS_PER_MESSAGE, Plan, make
from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import write_messages

ROWS, ROWS_QUICK = (2_000, 20_000, 100_000, 1_000_000), (50_000,)
LEAST_OF_RATIOS = 50_000
DISTINCT = 100_000
MAX_RATIO = 1.2
MAX_TOGETHER = 0.7
MAX_SECONDS = 60.0
MAX_MIB = 700.0
_READ = """
import sys, cdcwire
for url in sys.argv[1:]:
    for batch in cdcwire.open(url).batches():
        pass
"""


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure a comparison in one process.", argv)
    results = [
        result for rows in (ROWS_QUICK if given.quick else ROWS) for result in measured(rows)
    ]
    return finish("compare_here", results, given)


def measured(rows: int) -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        urls = feeds(Path(folder), rows)
        words = "compare", "--engine", "embedded", *urls
        compared = command(*words, "--jobs", "1")
        if rows >= LEAST_OF_RATIOS:
            yield from ratios(rows, compared, cost_of("-c", _READ, *urls), command(*words))
    for name, what, found, unit, most in (
        ("seconds", "CPU", compared.processor, "s", MAX_SECONDS),
        ("memory", "peak memory", compared.peak_mib, "MiB", MAX_MIB),
    ):
        yield Result(
            f"{name}-{rows}",
            f"comparing equal feeds in one process, {what}",
            found,
            unit,
            most,
            is_least=False,
            workload=f"{rows:,} changes",
        )


def ratios(rows: int, compared: Cost, read: Cost, together: Cost) -> Iterator[Result]:
    """Yield what a comparison in one process takes over reading, and several processes over it."""
    details = {"comparing, CPU s": compared.processor, "reading, CPU s": read.processor}
    yield Result(
        f"ratio-{rows}",
        "comparing equal feeds in one process, to reading both into Arrow",
        round(compared.processor / read.processor, 2),
        "times",
        MAX_RATIO,
        is_least=False,
        workload=f"{rows:,} changes",
        details=details,
    )
    yield Result(
        f"together-{rows}",
        "comparing equal feeds with a process per core, to one process, elapsed",
        round(together.elapsed / compared.elapsed, 2),
        "times",
        MAX_TOGETHER,
        is_least=False,
        workload=f"{rows:,} changes",
        details={"together, s": together.elapsed, "one process, s": compared.elapsed},
    )


def feeds(folder: Path, rows: int) -> list[str]:
    """Write both feeds and return their URLs."""
    plan = Plan(rows, folder / "parquet", DISTINCT)
    plan.folder.mkdir()
    make(plan)
    urls = []
    for name in FORMATS:
        target = folder / name
        target.mkdir()
        first = islice(messages(plan.folder / name), rows // ROWS_PER_MESSAGE)
        write_messages(str(target / "messages.jsonl"), first)
        urls.append(f"{name}:file:{target}")
    return urls


def messages(folder: Path) -> Iterator[KafkaMessage]:
    for file in sorted(folder.iterdir()):
        for row in pq.read_table(file, columns=["key", "value"]).to_pylist():
            yield KafkaMessage(row["key"], row["value"])


if __name__ == "__main__":
    sys.exit(main())
