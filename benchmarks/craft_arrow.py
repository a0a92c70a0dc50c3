"""How fast Craft becomes Arrow batches by columns: against Open Protocol by json, and by rows.

Run as ``python -m benchmarks.craft_arrow [--quick] [--json FILE]``; it needs the extra ``spark``.
All routes give the same batches of the canonical schema, which is asserted first. The peer parses
Open Protocol with json.loads and a generated function for the table. It trusts its input, and makes
its columns as the route by rows does. Decoders learn the table from other rows than those that are
measured, and are new in each round. Messages of 16 rows are joined, as they are in a Spark worker.
Last, the rows alone, without any Arrow.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa

from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED, Feed, feed
from benchmarks.json_peer import JsonPeer
from benchmarks.measure import Route, Work, best_times
from cdcwire.arrow.batches import BatchBuilder, MessagePlace, places_array
from cdcwire.arrow.schema import canonical_table
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.formats.craft.fast import RowDecoder
from cdcwire.formats.craft.settings import Settings
from cdcwire_conformance.formats.craft.arrow_batches import CraftBatchBuilder

Batches: TypeAlias = Callable[[Feed], pa.RecordBatch]
Rows: TypeAlias = Iterable[Sequence[Any]]

TABLES = {"10 columns": "orders-10", "29 columns": "proposal-29"}
LARGE, SMALL = 2048, 16  # rows of a message
JSON_BARS = {LARGE: 8.0}
ROWS_BARS = {SMALL: 1.5}


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare the columnar reading of Craft with others.", argv)
    rounds = 3 if given.quick else 11
    kinds = (True,) if given.quick else (True, False)
    results: list[Result] = []
    for columns, name in TABLES.items():
        for batch in (LARGE,) if given.quick else (LARGE, SMALL):
            for inserts_only in kinds:
                made = partial(feed, name, LARGE, batch, inserts_only=inserts_only)
                what = f"{columns}, {'inserts' if inserts_only else 'mixed'}, B={batch}"
                results += compare(what, batch, made(SEED), made(WARM_UP_SEED), rounds)
    return finish("craft_arrow", results, given)


def compare(what: str, batch: int, measured: Feed, warm_up: Feed, rounds: int) -> list[Result]:
    """Compare the ways to a batch on one feed."""
    makers: dict[str, Callable[[Feed], Batches]] = {
        "columns": by_columns,
        "rows": by_rows,
        "json": by_json,
    }
    expected, *others = (warm(make, warm_up)(measured) for make in makers.values())
    if any(not found.equals(expected) for found in others):
        raise AssertionError("two routes give different batches")
    routes: dict[str, Route] = {
        name: partial(batch_work, make, measured, warm_up) for name, make in makers.items()
    }
    routes["rows alone"] = partial(rows_work, measured, warm_up)
    times = {name: time / measured.rows for name, time in best_times(routes, rounds).items()}
    per_row = {f"{name} ns a row": round(time) for name, time in times.items()}
    comparisons = (
        ("json", "Craft against Open Protocol by json, both to batches", JSON_BARS.get(batch)),
        ("rows", "Craft to batches, by columns against by rows", ROWS_BARS.get(batch)),
        ("rows alone", "Craft, columns in batches against bare rows", None),
    )
    return [
        Result(
            f"{slower}/columns/{what}",
            title,
            round(times[slower] / times["columns"], 3),
            "x",
            bar,
            workload=what,
            details=per_row,
        )
        for slower, title, bar in comparisons
    ]


def warm(make: Callable[[Feed], Batches], warm_up: Feed) -> Batches:
    """Return a way to batches that has seen the table."""
    batches = make(warm_up)
    batches(warm_up)
    return batches


def batch_work(make: Callable[[Feed], Batches], measured: Feed, warm_up: Feed) -> Work:
    return partial(warm(make, warm_up), measured)


def rows_work(measured: Feed, warm_up: Feed) -> Work:
    decoder = RowDecoder()
    for value in warm_up.craft:
        decoder.decode(KafkaMessage(None, value))
    messages = [KafkaMessage(None, value) for value in measured.craft]
    return lambda: [decoder.decode(message) for message in messages]


def by_columns(known: Feed) -> Batches:
    columns = CraftBatchBuilder(BatchBuilder(canonical_table(known.table)), Settings())

    def batch(feed: Feed) -> pa.RecordBatch:
        for offset, value in enumerate(feed.craft):
            if not columns.add(KafkaMessage(None, value), MessagePlace(offset=offset)):
                raise AssertionError("a message is not read by columns")
        return columns.batch()

    return batch


def by_rows(known: Feed) -> Batches:
    decoder, builder = RowDecoder(), BatchBuilder(canonical_table(known.table))
    return lambda feed: batch_of_rows(
        builder, (list(decoder.decode(KafkaMessage(None, value))) for value in feed.craft)
    )


def by_json(known: Feed) -> Batches:
    builder = BatchBuilder(canonical_table(known.table))
    peer = JsonPeer(known.table, json.loads)
    return lambda feed: batch_of_rows(builder, (peer.decode(*message) for message in feed.json))


def batch_of_rows(builder: BatchBuilder, messages: Rows) -> pa.RecordBatch:
    rows: list[Row] = []
    counts = []
    for found in messages:
        rows += found
        counts.append(len(found))
    places = [MessagePlace(offset=offset) for offset in range(len(counts))]
    return builder.batch(rows, places_array(places, counts))


if __name__ == "__main__":
    sys.exit(main())
