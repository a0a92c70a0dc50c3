"""How fast Canal-JSON is decoded: the fast decoder against json.loads with a plan for the table.

Run as ``python -m benchmarks.canal_json_decode [--quick] [--json FILE]``. The peer is hand-written
for each table: the members of a message that it needs, and one conversion a column, in a generated
function. It trusts its input: it checks nothing and gets the table. Both give rows of the same
typed values, which is asserted first. TiCDC writes ``mysqlType`` in another order in each message,
our own encoder in that of the table; both are measured. Decoders learn the table from other rows
than those that are measured, and are new in each round. orjson is measured if it is installed. The
checked plan is as strict as the plain decoder.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

from benchmarks.checked.canal_json import PlanDecoder
from benchmarks.checked.strictness import assert_as_strict
from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED
from benchmarks.measure import Route, Work, best_times, learn
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Layout, Row, Values, new_row
from cdcwire.formats import canal_json
from cdcwire.formats.canal_json.fast import RowDecoder
from cdcwire.formats.canal_json.format import FORMAT
from cdcwire.formats.canal_json.images import ImageWriter
from cdcwire.formats.canal_json.settings import Settings
from cdcwire.model.events import Table
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kinds import (
    BitType,
    BytesType,
    Column,
    EnumType,
    FloatType,
    IntType,
    SetType,
    YearType,
)
from cdcwire_generators.workloads import workload, workload_tables

Loads: TypeAlias = Callable[[bytes], Any]

TABLES = {"10 columns": "orders-10", "29 columns": "proposal-29"}
SETTINGS = Settings(tidb_extension=True)
EXTENSION = "enable-tidb-extension"
JSON_BAR = 1.0
ORJSON_BAR = 1.0
CHECKED_BAR = 1.5  # below, the plan would replace the fast decoder
MAX_PLAIN = 12.0  # the plain decoder is also what verify and explain run
PLAIN_ROWS = 128  # the plain decoder is slow, and is measured with fewer rows


@dataclass(frozen=True)
class Feed:
    """Messages of one table, one row each."""

    table: Table
    values: list[bytes]


class JsonPeer:
    """Decodes the rows of one table. ``loads`` is that of the JSON library."""

    def __init__(self, table: Table, loads: Loads) -> None:
        self.loads = loads
        columns = table.columns or ()
        self.layout = Layout(columns)
        self.table = Table(table.name, table.schema, key=table.key)
        self.read = _make_row_function(columns)

    def decode(self, value: bytes) -> Row:
        message = self.loads(value)
        new, old = message["data"][0], message["old"]
        commit_ts = message["_tidb"]["commitTs"]
        images: tuple[Any, ...]
        if message["type"] == "DELETE":
            op, images = "delete", (None, None, self.layout, self.read(new), None)
        elif old is None:
            op, images = "insert", (self.layout, self.read(new), None, None, None)
        else:
            op, images = (
                "update",
                (self.layout, self.read(new), self.layout, self.read(old[0]), None),
            )
        times = (message["es"], message["ts"])
        return new_row((self.table, op, commit_ts, None, *images, None, *times, None, None))


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare the fast Canal-JSON decoder with others.", argv)
    rows, rounds = (256, 3) if given.quick else (2048, 9)
    kinds = (False,) if given.quick else (True, False)
    loads = orjson_loads()
    results: list[Result] = []
    for columns, name in TABLES.items():
        for inserts_only in kinds:
            for is_shuffled in (True,) if given.quick else (True, False):
                made = partial(feed, name, rows, inserts_only=inserts_only, shuffled=is_shuffled)
                order = "mysqlType in any order" if is_shuffled else "mysqlType in table order"
                what = f"{columns}, {'inserts' if inserts_only else 'mixed'}, {order}"
                results += compare(what, made(SEED), made(WARM_UP_SEED), loads, rounds)
    return finish("canal_json_decode", results, given)


def feed(name: str, rows: int, seed: int, *, inserts_only: bool, shuffled: bool) -> Feed:
    """Return a workload of one table; ``shuffled``: with ``mysqlType`` as the producer has it."""
    (table,) = workload_tables(name)
    images = ImageWriter(SETTINGS, (table,))
    chance = random.Random(seed)
    values = []
    for event in workload(name, rows, seed, inserts_only=inserts_only):
        message = canal_json.from_event(event, SETTINGS, images)
        if shuffled:
            types = list(message.mysql_type or ())
            chance.shuffle(types)
            message = replace(message, mysql_type=tuple(types))
        values.append(canal_json.encode(message))
    return Feed(table, values)


def compare(
    what: str, measured: Feed, warm_up: Feed, loads: Loads | None, rounds: int
) -> list[Result]:
    """Compare the fast decoder with the other routes on one feed."""
    few = min(PLAIN_ROWS, len(measured.values))
    routes: dict[str, Route] = {
        "fast": partial(fast_work, measured, warm_up, RowDecoder),
        "checked": partial(fast_work, measured, warm_up, PlanDecoder),
        "json": partial(peer_work, measured, json.loads),
        "plain": partial(plain_work, measured.values[:few]),
    }
    if loads is not None:
        routes["orjson"] = partial(peer_work, measured, loads)
    assert_equal_rows(measured, warm_up, loads)
    checked, context = PlanDecoder(settings=SETTINGS), Context(options={EXTENSION: True})
    assert_as_strict(
        lambda value: checked.decode_events(KafkaMessage(None, value)),
        lambda value: list(FORMAT.to_events(KafkaMessage(None, value), context=context)),
        measured.values,
    )
    found = best_times(routes, rounds)
    times = {
        name: time / (few if name == "plain" else len(measured.values))
        for name, time in found.items()
    }
    per_row = {f"{name} ns a row": round(time) for name, time in times.items()}
    comparisons = (
        ("json", "Canal-JSON, fast decoder against json and plan", JSON_BAR),
        ("checked", "Canal-JSON, fast decoder against json and a checked plan", CHECKED_BAR),
        ("orjson", "Canal-JSON, fast decoder against orjson and plan", ORJSON_BAR),
        ("plain", "Canal-JSON, fast against plain", MAX_PLAIN),
    )
    return [
        Result(
            f"{slower}/fast/{what}",
            title,
            round(times[slower] / times["fast"], 3),
            "x",
            bar,
            is_least=slower != "plain",
            workload=what,
            details=per_row,
        )
        for slower, title, bar in comparisons
        if slower in times
    ]


def fast_work(measured: Feed, warm_up: Feed, made: type[RowDecoder]) -> Work:
    decoder = made(settings=SETTINGS)
    learn(decoder, messages_of(warm_up))
    messages = messages_of(measured)
    return lambda: [decoder.decode(message) for message in messages]


def messages_of(feed: Feed) -> list[KafkaMessage]:
    return [KafkaMessage(None, value) for value in feed.values]


def peer_work(measured: Feed, loads: Loads) -> Work:
    peer = JsonPeer(measured.table, loads)
    return lambda: [peer.decode(value) for value in measured.values]


def plain_work(values: Sequence[bytes]) -> Work:
    return lambda: [canal_json.decode(value) for value in values]


def orjson_loads() -> Loads | None:
    """Return orjson's loads if it is installed."""
    if find_spec("orjson") is None:
        return None
    loads: Loads = import_module("orjson").loads
    return loads


def assert_equal_rows(measured: Feed, warm_up: Feed, loads: Loads | None) -> None:
    """Stop unless all routes give the same rows of the same types."""
    decoder = RowDecoder(settings=SETTINGS)
    learn(decoder, messages_of(warm_up))
    expected = [described(row) for each in messages_of(measured) for row in decoder.decode(each)]
    for each in filter(None, (json.loads, loads)):
        peer = JsonPeer(measured.table, each)
        if [described(peer.decode(value)) for value in measured.values] != expected:
            raise AssertionError("two routes give different rows")


def described(row: object) -> object:
    """Return a row with the types of its values. An event would mean that the fast way was left."""
    if not isinstance(row, Row):
        raise AssertionError("the fast way was left")
    images = [[(type(value), value) for value in image or ()] for image in (row.new, row.old)]
    return row[:3], images, row[7:]


def _make_row_function(columns: tuple[Column, ...]) -> Callable[[dict[str, Any]], Values]:
    """Return a function from the texts of a row to its values, in the order of the table."""
    lines = ["def read_row(texts):"]
    for index, column in enumerate(columns):
        lines.append(f" v{index} = texts[{column.name!r}]")
        conversion = _conversion(column)
        if conversion:
            lines.append(f" if v{index} is not None: v{index} = {conversion}")
            lines[-1] = lines[-1].replace("(VALUE", f"(v{index}").replace("VALUE.", f"v{index}.")
    lines.append(f" return ({''.join(f'v{index},' for index in range(len(columns)))})")
    names: dict[str, Any] = {"narrow_float32": narrow_float32}
    exec("\n".join(lines), names)  # the columns of a benchmark's own table
    function: Callable[[dict[str, Any]], Values] = names["read_row"]
    return function


def _conversion(column: Column) -> str:
    match column.type:
        case IntType() | YearType() | BitType() | EnumType() | SetType():
            return "int(VALUE)"
        case FloatType(32):
            return "narrow_float32(float(VALUE))"
        case FloatType():
            return "float(VALUE)"
        case BytesType():
            return "VALUE.encode('latin-1')"
        case _:
            return ""


if __name__ == "__main__":
    sys.exit(main())
