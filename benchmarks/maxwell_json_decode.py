"""How fast Maxwell JSON is decoded: the fast decoder against json.loads with a plan for the table.

Run as ``python -m benchmarks.maxwell_json_decode [--quick] [--json FILE]``. The peer has one
conversion for each column. It trusts its input: it checks nothing and gets the table. The checked
plan is as strict as the plain decoder. All give the same rows of typed values, which is asserted
first. Decoders learn the table from other rows than those that are measured, and are new in each
round. The plain decoder is measured with a definition of the table, without one, and with the
members of a real feed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.checked.maxwell_json import PlanDecoder
from benchmarks.checked.strictness import assert_as_strict
from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED
from benchmarks.measure import Route, Work, best_times, learn
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Layout, Row, new_row
from cdcwire.formats.maxwell_json.events import OPS
from cdcwire.formats.maxwell_json.fast import RowDecoder
from cdcwire.formats.maxwell_json.format import FORMAT
from cdcwire.model.events import Table
from cdcwire.model.kinds import FloatType
from cdcwire_generators.workloads import workload, workload_tables

TABLE = "orders-10"
JSON_BAR = 1.0
CHECKED_BAR = 1.5  # below, the plan would replace the fast decoder
MAX_PLAIN = 30.0  # the plain decoder is also what verify and explain run
PLAIN_ROWS = 128  # the plain decoder is slow, and is measured with fewer rows


class JsonPeer:
    """Decodes the rows of one table. Fractions are text, so that decimals keep their digits."""

    def __init__(self, table: Table) -> None:
        self.columns = table.columns or ()
        self.table = Table(table.name, table.schema, key=table.key)
        doubles = {c.name for c in self.columns if isinstance(c.type, FloatType)}
        self.reads: dict[str, Callable[[Any], Any]] = dict.fromkeys(doubles, float)
        self.layout = Layout(self.columns)

    def decode(self, value: bytes) -> Row:
        message = json.loads(value, parse_float=str)
        op, old = OPS[message["type"]], message.get("old")
        values = self.row(message["data"])
        images: tuple[object, ...] = (self.layout, values, None, None, None)
        if op == "delete":
            images = (None, None, self.layout, values, None)
        elif old is not None:
            images = (self.layout, values, self.layout, self.row(old), "changed")
        ms = message["ts"] * 1000
        return new_row((self.table, op, None, None, *images, None, ms, None, None, None))

    def row(self, members: dict[str, Any]) -> tuple[Any, ...]:
        reads = self.reads
        return tuple(
            [
                value if name not in reads or value is None else reads[name](value)
                for name, value in members.items()
            ]
        )


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare the fast Maxwell JSON decoder with others.", argv)
    rows, rounds = (256, 3) if given.quick else (2048, 9)
    results: list[Result] = []
    for inserts_only in (False,) if given.quick else (True, False):
        made, warm_up = (feed(rows, seed, inserts_only) for seed in (SEED, WARM_UP_SEED))
        results += compare(
            f"10 columns, {'inserts' if inserts_only else 'mixed'}", made, warm_up, rounds
        )
    return finish("maxwell_json_decode", results, given)


def feed(rows: int, seed: int, inserts_only: bool) -> list[bytes]:
    """Return the messages of a workload."""
    events = workload(TABLE, rows, seed, inserts_only=inserts_only)
    messages = FORMAT.from_events(events, context=Context(tables=tuple(workload_tables(TABLE))))
    return [each.value for each in messages if isinstance(each, KafkaMessage) and each.value]


def with_members(values: Sequence[bytes]) -> list[bytes]:
    """Return messages with the members of a real feed."""
    found = []
    for index, value in enumerate(values):
        at = value.index(b',"data":')
        added = b',"xid":%d,"commit":true,"position":"master.000006:%d","server_id":23042'
        added += b',"thread_id":108'
        found.append(value[:at] + added % (90_000 + index, 800_911 + index) + value[at:])
    return found


def compare(
    what: str, measured: Sequence[bytes], warm_up: Sequence[bytes], rounds: int
) -> list[Result]:
    """Compare the fast decoder with the other routes on one feed."""
    (table,) = workload_tables(TABLE)
    context, alone = Context(tables=(table,)), Context()
    real, real_warm_up = with_members(measured), with_members(warm_up)
    assert_equal_rows(context, table, measured, warm_up)
    few = min(PLAIN_ROWS, len(measured))
    fast = partial(fast_work, measured, warm_up)
    routes: dict[str, Route] = {
        "fast": partial(fast, RowDecoder, context),
        "checked": partial(fast, PlanDecoder, context),
        "json": partial(peer_work, measured, table),
        "plain": partial(plain_work, measured[:few], context),
        "events fast": partial(fast, RowDecoder, context, events=True),
        "undefined fast": partial(fast, RowDecoder, alone),
        "undefined plain": partial(plain_work, measured[:few], alone),
        "real fast": partial(fast_work, real, real_warm_up, RowDecoder, context, events=True),
        "real plain": partial(plain_work, real[:few], context),
    }
    times = {
        name: time / (few if name.endswith("plain") else len(measured))
        for name, time in best_times(routes, rounds).items()
    }
    per_row = {f"{name} ns a row": round(time) for name, time in times.items()}
    comparisons = (
        ("json", "fast", "fast decoder against json and plan", JSON_BAR),
        ("checked", "fast", "fast decoder against json and a checked plan", CHECKED_BAR),
        ("plain", "fast", "fast against plain", MAX_PLAIN),
        ("plain", "events fast", "to events, fast against plain", MAX_PLAIN),
        ("undefined plain", "undefined fast", "without definition, fast against plain", MAX_PLAIN),
        ("real plain", "real fast", "with ids of transactions, fast against plain", MAX_PLAIN),
    )
    return [
        Result(
            f"{slower}/{faster}/{what}",
            f"Maxwell JSON, {title}",
            round(times[slower] / times[faster], 3),
            "x",
            bar,
            is_least=not slower.endswith("plain"),
            workload=what,
            details=per_row,
        )
        for slower, faster, title, bar in comparisons
    ]


def messages_of(values: Sequence[bytes]) -> list[KafkaMessage]:
    return [KafkaMessage(None, value) for value in values]


def fast_work(
    measured: Sequence[bytes],
    warm_up: Sequence[bytes],
    made: type[RowDecoder],
    context: Context,
    *,
    events: bool = False,
) -> Work:
    decoder = made(context)
    learn(decoder, messages_of(warm_up))
    messages = messages_of(measured)
    decode = decoder.decode_events if events else decoder.decode
    return lambda: [decode(message) for message in messages]


def peer_work(measured: Sequence[bytes], table: Table) -> Work:
    peer = JsonPeer(table)
    return lambda: [peer.decode(value) for value in measured]


def plain_work(values: Sequence[bytes], context: Context) -> Work:
    messages = messages_of(values)
    return lambda: [list(FORMAT.to_events(message, context=context)) for message in messages]


def assert_equal_rows(
    context: Context, table: Table, measured: Sequence[bytes], warm_up: Sequence[bytes]
) -> None:
    """Stop unless all routes give the same rows of the same types."""
    peer, found = JsonPeer(table), []
    for made in (RowDecoder, PlanDecoder):
        decoder = made(context)
        learn(decoder, messages_of(warm_up))
        rows = [row for each in messages_of(measured) for row in decoder.decode(each)]
        found.append([described(row) for row in rows])
    found.append([described(peer.decode(value)) for value in measured])
    if found[0] != found[1] or found[0] != found[2]:
        raise AssertionError("two routes give different rows")
    checked = PlanDecoder(context)
    assert_as_strict(
        lambda value: checked.decode_events(KafkaMessage(None, value)),
        lambda value: list(FORMAT.to_events(KafkaMessage(None, value), context=context)),
        measured,
    )


def described(row: object) -> object:
    """Return a row with the types of its values. An event would mean that the fast way was left."""
    if not isinstance(row, Row):
        raise AssertionError("the fast way was left")
    images = [[(type(value), value) for value in image or ()] for image in (row.new, row.old)]
    return row.table, row.op, images, row.sent, row.commit_ms


if __name__ == "__main__":
    sys.exit(main())
