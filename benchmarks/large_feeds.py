"""Two feeds of one stream with up to tens of millions of changes, as Parquet with Kafka's columns.

Run as ``python -m benchmarks.large_feeds --rows 10000000 --to DIR``; needs the extra ``spark``. The
stream of the 10-column table goes into DIR/craft and DIR/open-protocol in parts of 50,000 changes,
each a file compressed with zstd. Each part has a separate seed, separate keys, and positions after
those of the previous part. So the first parts of a large feed are a smaller feed. Every message is
what the format's encoder makes of the events, up to 16 rows as TiCDC sends them.

Encoding takes some 250 us per row, so by default the encoders make only the first 2,000,000
changes. These messages are repeated at later positions, with the same keys and values; in both
formats nothing but the commit_ts differs then. ``--distinct`` says how many are made. ``--hot 0.3``
gives one key so large a share of the changes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.model.events import Image, RowChange
from cdcwire.registry import get_format
from cdcwire_conformance.sources.source_urls import Source, source_of_folder
from cdcwire_generators.workloads import workload, workload_tables

WORKLOAD = "orders-10"
KEY = 0  # the place of its only key column, BIGINT
FORMATS = ("craft", "open-protocol")
PART_ROWS = 50_000
DISTINCT = 2_000_000
ROWS_PER_MESSAGE = 16
SEED = 100
_LATER = 1 << 37  # between the positions of two parts: 524,288 transactions of a millisecond
_KEYS_OF_PART = 1 << 20
_HOT_KEY = -1
_GROUP = 512  # messages of a row group
_SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
    ]
)
_JSON_POSITION = re.compile(rb'(?<="ts":)\d+')


class Record(NamedTuple):
    key: bytes | None
    value: bytes
    first: int  # the commit_ts of its first row


@dataclass(frozen=True, slots=True)
class Plan:
    """A feed that is to be made: ``rows`` in total, ``distinct`` encoded, in ``folder``."""

    rows: int
    folder: Path
    distinct: int = DISTINCT
    hot: float = 0.0

    @property
    def parts(self) -> int:
        return -(-self.rows // PART_ROWS)

    @property
    def made_parts(self) -> int:
        return min(self.parts, max(1, self.distinct // PART_ROWS))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make two large feeds of one stream.")
    parser.add_argument("--rows", type=int, required=True, metavar="N", help="row changes")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR")
    parser.add_argument("--distinct", type=int, default=DISTINCT, metavar="N")
    parser.add_argument("--hot", type=float, default=0.0, metavar="SHARE", help="of one key")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), metavar="N")
    given = parser.parse_args(argv)
    start = time.monotonic()
    plan = Plan(given.rows, given.to, given.distinct, given.hot)
    seconds = make(plan, given.processes)
    found = {
        "rows": plan.parts * PART_ROWS,
        "distinct": plan.made_parts * PART_ROWS,
        "CPU s": round(seconds, 1),
        "s": round(time.monotonic() - start, 1),
        "MiB": {
            name: round(mib_of(source_of_folder(name, plan.folder / name))) for name in FORMATS
        },
    }
    print(json.dumps(found))
    return 0


def make(plan: Plan, processes: int | None = None) -> float:
    """Make both feeds, and return the CPU seconds that it took."""
    for name in FORMATS:
        (plan.folder / name).mkdir(parents=True)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return sum(pool.map(make_part, [plan] * plan.made_parts, range(plan.made_parts)))


def make_part(plan: Plan, number: int) -> float:
    """Write one part, and at later positions the parts that repeat it; return the CPU seconds."""
    start = time.process_time()
    tables = workload_tables(WORKLOAD)
    events = list(events_of(number, plan.hot))
    firsts = [event.position.commit_ts or 0 for event in events[::ROWS_PER_MESSAGE]]
    for name in FORMATS:
        options = {"max-batch-size": ROWS_PER_MESSAGE}
        messages = get_format(name).from_events(
            events, context=Context(tables=tables, options=options)
        )
        records = [
            Record(message.key, message.value or b"", first)
            for message, first in zip(messages, firsts, strict=True)
            if isinstance(message, KafkaMessage)
        ]
        for again in range(number, plan.parts, plan.made_parts):
            moved = shifted(name, records, (again - number) * _LATER)
            write_part(plan.folder / name / f"{again:05}.parquet", again, moved)
    return time.process_time() - start


def events_of(number: int, hot: float = 0.0) -> Iterator[RowChange]:
    """Yield the changes of one part, in the order of their positions."""
    rng, hot_row = Random(number), None
    for event in workload(WORKLOAD, PART_ROWS, SEED + number):
        assert isinstance(event, RowChange)
        assert event.position.commit_ts is not None
        position = replace(event.position, commit_ts=event.position.commit_ts + number * _LATER)
        image = event.after or event.before
        if hot and rng.random() < hot and image is not None:
            row = with_key(image, _HOT_KEY)
            yield replace(event, op="update", before=hot_row or row, after=row, position=position)
            hot_row = row
            continue
        first = number * _KEYS_OF_PART
        before, after = (
            None if each is None else with_key(each, each.values[KEY] + first)
            for each in (event.before, event.after)
        )
        yield replace(event, before=before, after=after, position=position)


def with_key(image: Image, value: int) -> Image:
    return replace(image, values=(*image.values[:KEY], value, *image.values[KEY + 1 :]))


def shifted(name: str, records: Sequence[Record], later: int) -> Iterator[Record]:
    """Yield the same messages at positions that are later by a constant.

    Craft has the first commit_ts of a message as a varint, and of others the distance to the one
    before. Both notations keep their lengths, on which others depend.
    """
    for record in records:
        if not later:
            yield record
        elif name == "craft":
            old, new = uvarint(record.first), uvarint(record.first + later)
            assert len(old) == len(new)
            assert record.value.count(old, 0, 16) == 1
            yield record._replace(value=record.value.replace(old, new, 1))
        else:
            assert record.key is not None
            yield record._replace(key=_JSON_POSITION.sub(lambda m: _moved(m, later), record.key))


def _moved(found: re.Match[bytes], later: int) -> bytes:
    old = found.group()
    new = b"%d" % (int(old) + later)
    assert len(old) == len(new)
    return new


def uvarint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def write_part(path: Path, number: int, records: Iterator[Record]) -> None:
    rows = list(records)
    columns = [
        pa.array([row.key for row in rows], pa.binary()),
        pa.array([row.value for row in rows], pa.binary()),
        pa.array(["orders"] * len(rows), pa.string()),
        pa.array([0] * len(rows), pa.int32()),
        pa.array(range(number * PART_ROWS, number * PART_ROWS + len(rows)), pa.int64()),
    ]
    part = pa.Table.from_arrays(columns, schema=_SCHEMA)
    pq.write_table(part, path, compression="zstd", row_group_size=_GROUP, use_dictionary=False)


def first_parts(source: Source, rows: int) -> Source:
    """Return the first N changes of a feed. Raises: ValueError where it has fewer."""
    parts = -(-rows // PART_ROWS)
    if parts > len(source.files):
        raise ValueError(
            f"{source.folder} has {len(source.files) * PART_ROWS:,} rows, not {rows:,}"
        )
    return replace(source, files=source.files[:parts])


def mib_of(source: Source) -> float:
    return sum(Path(file).stat().st_size for file in source.files) / (1 << 20)


if __name__ == "__main__":
    sys.exit(main())
