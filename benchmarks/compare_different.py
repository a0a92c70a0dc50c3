"""The cost of a comparison in which all rows differ by one cause, against one of equal feeds.

Run as ``python -m benchmarks.compare_different [--quick] [--json FILE]``. A table has 10 columns.
In the right feed the times are cut to seconds. The embedded engine compares the feeds in this
process; only the ratio of the processor times of both comparisons counts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.document import Result, arguments, finish
from cdcwire.core.context import NO_CONTEXT
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, DatetimeType, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.sources.source_urls import source_of_folder

FORMAT = "craft"
ROWS, ROWS_QUICK = 100_000, 10_000
MAX_RATIO = 2.0
TEXTS = 8
_FIRST_TS = 440_000_000_000_000_000


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure a comparison of rows that all differ.", argv)
    rows = ROWS_QUICK if given.quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        feeds = [
            feed_of(Path(folder, name), rows, digits)
            for name, digits in (("left", 6), ("equal", 6), ("different", 0))
        ]
        equal = seconds_of(feeds[0], feeds[1], 0)
        different = seconds_of(feeds[0], feeds[2], rows)
    results = [
        Result(
            "ratio",
            f"comparing {rows:,} rows that all differ, to equal ones",
            round(different / equal, 2),
            "times",
            MAX_RATIO,
            is_least=False,
            workload=FORMAT,
        )
    ]
    return finish("compare_different", results, given)


def feed_of(folder: Path, rows: int, digits: int) -> ComparedFeed:
    """Write a feed and return it. ``digits``: of a second's fraction."""
    folder.mkdir()
    messages = get_format(FORMAT).encoder(NO_CONTEXT)(changes(rows, digits))
    write_messages(str(folder / "messages.jsonl"), messages)
    return ComparedFeed(source_of_folder(FORMAT, folder))


def changes(rows: int, digits: int) -> Iterator[Event]:
    columns = (
        Column("id", IntType(32), "int", roles=frozenset({"primary", "handle"})),
        Column("made", DatetimeType(6), "datetime(6)"),
        *(Column(f"c{number}", TextType(), "varchar(20)") for number in range(TEXTS)),
    )
    table = Table("orders", "shop", columns=columns, key=("id",))
    for number in range(rows):
        fraction = f".{1 + number * 7 % 999_999:06}" if digits else ""
        made = f"2024-02-29 10:{number // 60 % 60:02}:{number % 60:02}{fraction}"
        texts = (f"v{number}-{place}" for place in range(TEXTS))
        image = Image(columns, (number, made, *texts))
        yield RowChange(table, "insert", None, image, Position(commit_ts=_FIRST_TS + number))


def seconds_of(left: ComparedFeed, right: ComparedFeed, changed: int) -> float:
    """Return the CPU seconds of a comparison, and check its result."""
    start = time.process_time()
    found = compare_feeds(left, right)
    seconds = time.process_time() - start
    (table,) = found.tables
    assert table.counts is not None
    assert table.counts.changed == changed
    assert [each.option for each in table.patterns] == ["--precision made=s"] * bool(changed)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
