"""How fast CSV files become Arrow batches: against pyarrow.csv alone, and against the way by rows.

Run as ``python -m benchmarks.csv_arrow [--quick] [--json FILE]``; it needs the extra ``spark``. All
routes read the same file in one thread. pyarrow.csv gets the separators and the null text, but no
types. It gives a table with the types that it infers, and checks none of the format's rules. The
other two give the batches of the neutral form, with each value checked and in its canonical type.
They also give operations, images and places of rows. The benchmark first asserts that they are
equal.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as pa_csv

from benchmarks.csv_decode import SETTINGS, TABLES, Feed, feed
from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED
from benchmarks.measure import best_times
from cdcwire.arrow.batches import BatchBuilder, MessagePlace, places_array
from cdcwire.arrow.schema import canonical_table
from cdcwire.core.context import Context
from cdcwire.formats.csv import Definitions
from cdcwire.formats.csv.fast import RowDecoder
from cdcwire.storage.paths import DataPath, parse_path
from cdcwire_conformance.formats.csv.arrow_batches import CsvColumns

BAR = 2.0
BAR_OF_ROWS = 1.5


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare the columnar reading of CSV with others.", argv)
    rows, rounds = (4096, 3) if given.quick else (16384, 9)
    kinds = (False,) if given.quick else (True, False)
    results: list[Result] = []
    for columns, name in TABLES.items():
        for inserts_only in kinds:
            what = f"{columns}, {'inserts' if inserts_only else 'mixed'}"
            results += compare(what, feed(name, rows, SEED, inserts_only), rounds)
    return finish("csv_arrow", results, given)


def compare(what: str, measured: Feed, rounds: int) -> list[Result]:
    """Compare the three routes on one file."""
    by_blocks, by_rows = _by_blocks(measured), _by_rows(measured)
    if not pa.Table.from_batches(by_blocks()).equals(pa.Table.from_batches(by_rows())):
        raise AssertionError("two routes give different batches")
    found = best_times(
        {
            "pyarrow.csv": lambda: partial(_bare, measured),
            "by blocks": lambda: by_blocks,
            "by rows": lambda: by_rows,
        },
        rounds,
    )
    details: dict[str, Any] = {
        f"{name} ns a row": round(time / measured.rows) for name, time in found.items()
    }
    details["bytes"] = len(measured.file.value)
    return [
        Result(
            f"blocks/pyarrow/{what}",
            "CSV to batches, time against pyarrow.csv alone",
            round(found["by blocks"] / found["pyarrow.csv"], 3),
            "x",
            BAR,
            is_least=False,
            workload=what,
            details=details,
        ),
        Result(
            f"rows/blocks/{what}",
            "CSV to batches, by blocks against by rows",
            round(found["by rows"] / found["by blocks"], 3),
            "x",
            BAR_OF_ROWS,
            workload=what,
            details=details,
        ),
    ]


def _bare(measured: Feed) -> object:
    count = 4 + len(measured.table.columns or ())  # operation, table, schema, commit-ts
    return pa_csv.read_csv(
        pa.BufferReader(measured.file.value),
        pa_csv.ReadOptions(use_threads=False, column_names=[f"f{n}" for n in range(count)]),
        pa_csv.ParseOptions(newlines_in_values=True),
        pa_csv.ConvertOptions(
            null_values=["\\N"], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def _by_blocks(measured: Feed) -> Any:
    builder = BatchBuilder(canonical_table(measured.table))
    made = CsvColumns(Definitions([measured.table]), SETTINGS)
    place = parse_path(measured.file.path, SETTINGS.layout)
    assert isinstance(place, DataPath)

    def takes(commit_ts: Any, count: int) -> Any:
        return np.ones(count, np.bool_)

    def work() -> list[pa.RecordBatch]:
        found = made.batches(builder, measured.file, place, takes, _places)
        return [batch for batch, _ in found if batch is not None]

    return work


def _by_rows(measured: Feed) -> Any:
    builder = BatchBuilder(canonical_table(measured.table))
    decoder = RowDecoder(Context(tables=(measured.table,)), SETTINGS)

    def work() -> list[pa.RecordBatch]:
        changes: Any = list(decoder.decode(measured.file))
        return [builder.batch(changes, _places(changes))]

    return work


def _places(rows: Any) -> pa.Array:
    return places_array([MessagePlace(file="data.csv")], [len(rows)])


if __name__ == "__main__":
    sys.exit(main())
