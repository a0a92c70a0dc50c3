"""How fast CSV files are decoded: the fast decoder against csv.DictReader with a plan.

Run as ``python -m benchmarks.csv_decode [--quick] [--json FILE]``. The peer is hand-written for
each table: csv.DictReader of the standard library, and one conversion a column in a generated
function. It trusts its input: it checks nothing, the quoted text ``\\N`` counts as NULL, and it
gets the table. Both give the same rows and events, which is asserted first. Rows have decimals as
text; images of the neutral model have them as Decimal. The checked plan is as strict as the plain
decoder.
"""

from __future__ import annotations

import csv
import io
import sys
from binascii import a2b_base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from benchmarks.checked.csv import PlanDecoder
from benchmarks.checked.strictness import assert_as_strict
from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED
from benchmarks.measure import Route, Work, best_times, learn
from cdcwire.core.context import Context
from cdcwire.core.message import StoredFile
from cdcwire.core.rows import NOTHING_ELSE, Layout, Row, Values, new_row
from cdcwire.formats.csv import Definitions, read_events, read_settings
from cdcwire.formats.csv.batching import messages_of
from cdcwire.formats.csv.fast import RowDecoder
from cdcwire.formats.csv.format import FORMAT
from cdcwire.model.events import Event, Image, Table
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kinds import (
    BitType,
    BytesType,
    Column,
    DecimalType,
    FloatType,
    IntType,
    YearType,
)
from cdcwire_generators.workloads import workload, workload_tables

TABLES = {"10 columns": "orders-10", "29 columns": "proposal-29"}
OPTIONS: dict[str, str | int | bool] = {"include-commit-ts": True, "date-separator": "none"}
SETTINGS = read_settings(OPTIONS)
CSV_BARS = {"10 columns": 1.0, "29 columns": 0.9}
CHECKED_BAR = 1.5  # below, the plan would replace the fast decoder
MAX_PLAIN = 12.0  # the plain decoder is also what verify and explain run
_OPS = {"I": "insert", "U": "update"}
PLAIN_ROWS = 128  # the plain decoder is slow, and is measured with fewer rows


@dataclass(frozen=True)
class Feed:
    """One file of one table."""

    table: Table
    file: StoredFile
    rows: int


class CsvPeer:
    """Decodes the files of one table. ``layout``: that of the decoder's rows."""

    def __init__(self, table: Table, layout: Layout) -> None:
        columns = table.columns or ()
        self.layout = layout
        self.table = Table(table.name, table.schema, key=table.key)
        self.names = ["op", "table", "schema", "commit_ts", *(column.name for column in columns)]
        self.read = _make_row_function(columns, with_decimals=False)
        self.read_decimals = _make_row_function(columns, with_decimals=True)

    def rows(self, value: bytes) -> list[Row | Event]:
        found: list[Row | Event] = []
        table, layout, read = self.table, self.layout, self.read
        for each in csv.DictReader(io.StringIO(value.decode(), newline=""), self.names):
            op, commit_ts = each["op"], int(each["commit_ts"])
            row: tuple[object, ...]
            if op == "D":
                row = (table, "delete", commit_ts, None, None, None, layout, read(each), None)
            else:
                row = (table, _OPS[op], commit_ts, None, layout, read(each), None, None, None)
            found.append(new_row(row + NOTHING_ELSE))
        return found

    def images(self, value: bytes) -> list[Image]:
        columns, read = self.layout.columns, self.read_decimals
        texts = csv.DictReader(io.StringIO(value.decode(), newline=""), self.names)
        return [Image(columns, read(each)) for each in texts]


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare the fast CSV decoder with others.", argv)
    rows, rounds = (256, 3) if given.quick else (2048, 9)
    kinds = (False,) if given.quick else (True, False)
    results: list[Result] = []
    for columns, name in TABLES.items():
        for inserts_only in kinds:
            measured, warm_up = (
                feed(name, rows, seed, inserts_only) for seed in (SEED, WARM_UP_SEED)
            )
            what = f"{columns}, {'inserts' if inserts_only else 'mixed'}"
            results += compare(what, measured, warm_up, CSV_BARS[columns], rounds)
    return finish("csv_decode", results, given)


def feed(name: str, rows: int, seed: int, inserts_only: bool) -> Feed:
    """Return a workload of one table as one file."""
    (table,) = workload_tables(name)
    events = workload(name, rows, seed, inserts_only=inserts_only)
    (file,) = messages_of(events, SETTINGS, (table,))
    return Feed(table, file, rows)


def compare(what: str, measured: Feed, warm_up: Feed, bar: float, rounds: int) -> list[Result]:
    """Compare the fast decoder with the other routes on one file."""
    lines = measured.file.value.split(SETTINGS.terminator)  # no text of the workloads has CRLF
    few = min(PLAIN_ROWS, measured.rows)
    part = SETTINGS.terminator.join(lines[:few]) + SETTINGS.terminator
    layout = assert_equal_rows(measured, warm_up)
    assert_checked(measured, warm_up)
    peer = CsvPeer(measured.table, layout)
    routes: dict[str, Route] = {
        "fast": partial(fast_work, measured, warm_up, RowDecoder),
        "checked": partial(fast_work, measured, warm_up, PlanDecoder),
        "csv": lambda: partial(peer.rows, measured.file.value),
        "plain": lambda: partial(plain_rows, measured.table, part),
    }
    has_images = b'"U"' not in measured.file.value and b'"D"' not in measured.file.value
    if has_images:
        routes["fast images"] = partial(fast_images_work, measured, warm_up)
        routes["csv images"] = lambda: partial(peer.images, measured.file.value)
    found = best_times(routes, rounds)
    times = {
        name: time / (few if name == "plain" else measured.rows) for name, time in found.items()
    }
    per_row = {f"{name} ns a row": round(time) for name, time in times.items()}
    comparisons = (
        ("csv", "fast", "CSV, fast decoder against csv.DictReader and plan", bar),
        ("checked", "fast", "CSV, fast decoder against a checked plan", CHECKED_BAR),
        ("csv images", "fast images", "CSV, the same with Decimal, as images", None),
        ("plain", "fast", "CSV, fast against plain", MAX_PLAIN),
    )
    return [
        Result(
            f"{slower}/{faster}/{what}",
            title,
            round(times[slower] / times[faster], 3),
            "x",
            least,
            is_least=slower != "plain",
            workload=what,
            details=per_row,
        )
        for slower, faster, title, least in comparisons
        if slower in times
    ]


def fast_work(measured: Feed, warm_up: Feed, made: type[RowDecoder]) -> Work:
    decoder = made(Context(tables=(measured.table,)), SETTINGS)
    learn(decoder, [warm_up.file])
    return lambda: list(decoder.decode(measured.file))


def fast_images_work(measured: Feed, warm_up: Feed) -> Work:
    decoder = RowDecoder(Context(tables=(measured.table,)), SETTINGS)
    learn(decoder, [warm_up.file])
    return lambda: images_of(list(decoder.decode(measured.file)))


def images_of(rows: Sequence[Row | Event]) -> list[Image]:
    return [
        row.new_layout.image(row.new)
        for row in rows
        if isinstance(row, Row) and row.new_layout is not None and row.new is not None
    ]


def plain_rows(table: Table, value: bytes) -> list[Event]:
    return list(read_events(value, SETTINGS, Definitions([table]), None))


def assert_equal_rows(measured: Feed, warm_up: Feed) -> Layout:
    """Stop unless both routes give the same. Return the layout of the rows."""
    decoder = RowDecoder(Context(tables=(measured.table,)), SETTINGS)
    learn(decoder, [warm_up.file])
    found = list(decoder.decode(measured.file))
    layout = next(
        layout
        for row in found
        if isinstance(row, Row) and (layout := row.new_layout or row.old_layout) is not None
    )
    peer = CsvPeer(measured.table, layout)
    value = measured.file.value
    if list(map(described, peer.rows(value))) != list(map(described, found)):
        raise AssertionError("two routes give different rows")
    images = images_of(found)
    if len(images) == len(found) and peer.images(value) != images:
        raise AssertionError("two routes give different images")
    return layout


def assert_checked(measured: Feed, warm_up: Feed) -> None:
    """Stop unless the checked plan is as strict as the plain decoder."""
    decoder = PlanDecoder(Context(tables=(measured.table,)), SETTINGS)
    learn(decoder, [warm_up.file])
    end = SETTINGS.terminator

    def planned(value: bytes) -> object:
        return decoder.decode_events(StoredFile(measured.file.path, value))

    def plain(value: bytes) -> object:
        file, context = StoredFile(measured.file.path, value), Context(OPTIONS, (measured.table,))
        return list(FORMAT.to_events(file, context=context))

    values = [line + end for line in measured.file.value.split(end)[:-1]]
    assert_as_strict(planned, plain, values)


def described(row: Row | Event) -> object:
    """Return a row with the types of its values."""
    if not isinstance(row, Row):
        return row
    images = [[(type(value), value) for value in image or ()] for image in (row.new, row.old)]
    return row[:3], images, row[7:]


def _make_row_function(
    columns: tuple[Column, ...], *, with_decimals: bool
) -> Callable[[dict[str, Any]], Values]:
    """Return a function from the texts of a row to its values, in the order of the table."""
    lines = ["def read_row(texts):"]
    for index, column in enumerate(columns):
        lines.append(f" v{index} = texts[{column.name!r}]")
        lines.append(f" if v{index} == NULL: v{index} = None")
        conversion = _conversion(column, with_decimals)
        if conversion:
            lines.append(f" else: v{index} = {conversion.replace('VALUE', f'v{index}')}")
    lines.append(f" return ({''.join(f'v{index},' for index in range(len(columns)))})")
    names: dict[str, Any] = {
        "narrow_float32": narrow_float32,
        "a2b_base64": a2b_base64,
        "Decimal": Decimal,
        "NULL": SETTINGS.null.decode(),
    }
    exec("\n".join(lines), names)  # the columns of a benchmark's own table
    function: Callable[[dict[str, Any]], Values] = names["read_row"]
    return function


def _conversion(column: Column, with_decimals: bool) -> str:
    match column.type:
        case IntType() | YearType() | BitType():
            return "int(VALUE)"
        case FloatType(32):
            return "narrow_float32(float(VALUE))"
        case FloatType():
            return "float(VALUE)"
        case BytesType():
            return "a2b_base64(VALUE)"
        case DecimalType() if with_decimals:
            return "Decimal(VALUE)"
        case _:
            return ""


if __name__ == "__main__":
    sys.exit(main())
