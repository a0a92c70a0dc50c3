"""How fast consumers decode: ``Decoder.decode`` of one record after the other.

Run as ``python -m benchmarks.decoder [--quick] [--json FILE]``. Each record of a queue has one row
of a table of 10 columns; the file of CSV has all. The plain decoder gives the same events, which is
asserted first. The peer is what people write for a JSON format: ``json.loads``, and one conversion
by hand for each column that needs one, to a dict. It checks nothing and knows the table. Its rows
are asserted to be those of ``Decoder(rows=dict)``, which is measured against it. Decoders learn the
table from other rows than those that are measured, and are new in each round.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from itertools import count
from typing import Any, TypeAlias

from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED
from benchmarks.measure import Route, Work, best_times
from cdcwire import Change, Decoder, StoredFile, get_format
from cdcwire.core.context import Context
from cdcwire.core.message import Message
from cdcwire.core.options import OptionValue
from cdcwire.model.events import Event, Position
from cdcwire_generators.workloads import workload, workload_tables

TABLE = "orders-10"
PEER_BAR = 1.0
PLAIN_ROWS = 128  # the plain decoder is slow, and is measured with fewer rows

PeerRow: TypeAlias = "tuple[Any, ...]"  # the rows before and after
Peer: TypeAlias = Callable[[bytes], PeerRow]


@dataclass(frozen=True, slots=True)
class Kind:
    """A format with its goal against the plain decoder. ``peer``: what people write for it.

    ``title``: the messages of a format that is measured more than once. ``is_mysql``: they are of
    MySQL's connector.
    """

    format: str
    bar: float
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    peer: Peer | None = None
    title: str = ""
    is_mysql: bool = False

    @property
    def name(self) -> str:
        """The format, and what its messages are."""
        return f"{self.format} {self.title}".strip()


@dataclass(frozen=True, slots=True)
class Feed:
    """Records of one table. ``rows``: their number in all."""

    records: list[Message]
    context: Context
    rows: int


def canal_peer(value: bytes) -> PeerRow:
    message = json.loads(value)
    row = _of_texts(message["data"][0])
    if message["type"] == "DELETE":
        return row, None
    old = message["old"]
    return None if old is None else _of_texts(old[0]), row


_TEXT_READERS: tuple[tuple[str, Callable[[str], object]], ...] = (
    *((name, int) for name in ("id", "trace_id", "status", "quantity")),
    ("price", Decimal),
    ("weight", float),
)


def _of_texts(row: dict[str, Any]) -> dict[str, Any]:
    for name, read in _TEXT_READERS:
        text = row[name]
        if text is not None:
            row[name] = read(text)
    return row


def maxwell_peer(value: bytes) -> PeerRow:
    message = json.loads(value, parse_float=str)
    row, old = _of_numbers(message["data"]), message.get("old")
    if message["type"] == "delete":
        return row, None
    return None if old is None else _of_numbers(old), row


def _of_numbers(row: dict[str, Any]) -> dict[str, Any]:
    for name, read in (("price", Decimal), ("weight", float)):
        text = row.get(name)
        if text is not None:
            row[name] = read(text)
    return row


def debezium_peer(value: bytes) -> PeerRow:
    payload = json.loads(value)
    payload = payload.get("payload", payload)
    return _of_payload(payload["before"]), _of_payload(payload["after"])


def _of_payload(row: dict[str, Any] | None) -> dict[str, Any] | None:
    if row is not None:
        for name, scale in (("trace_id", 0), ("price", -2)):
            text = row[name]
            if text is not None:
                row[name] = Decimal(int.from_bytes(b64decode(text), "big", signed=True)).scaleb(
                    scale
                )
    return row


TIDB = {"enable-tidb-extension": True}
MYSQL = {"connector": "mysql", "dialect": "debezium-3.6"}
OFF = {"replica-identity": "full", "schemas-enable": "false"}
KINDS = (
    Kind("canal-json", 15.0, TIDB, canal_peer),
    Kind("open-protocol", 12.0, {"max-batch-size": 1}),
    Kind("craft", 10.0, {"max-batch-size": 1}),
    Kind("csv", 10.0, {"include-commit-ts": True}),
    Kind("avro", 6.0, TIDB),
    Kind("debezium-json", 14.0, {"replica-identity": "full"}, debezium_peer),
    Kind("debezium-json", 14.0, MYSQL, debezium_peer, "of MySQL", is_mysql=True),
    Kind("debezium-json", 14.0, OFF, debezium_peer, "without schema"),
    Kind("debezium-json", 14.0, {**MYSQL, **OFF}, debezium_peer, "of MySQL without schema", True),
    Kind("debezium-avro", 10.0, {"replica-identity": "full"}),
    Kind("debezium-avro", 7.5, MYSQL, None, "of MySQL", is_mysql=True),
    Kind("maxwell-json", 9.0, {}, maxwell_peer),
    Kind("simple", 5.0),
)


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare Decoder.decode with the plain decoder and json.loads.", argv)
    rows, rounds = (256, 3) if given.quick else (2048, 9)
    results = [each for kind in KINDS for each in compare(kind, rows, rounds)]
    return finish("decoder", results, given)


def feed(kind: Kind, rows: int, seed: int) -> Feed:
    """Return a workload as records, with what a decoder needs to know; no tombstones."""
    format_ = get_format(kind.format)
    context = Context(options=kind.options, tables=tuple(workload_tables(TABLE)))
    events: Iterable[Event] = workload(TABLE, rows, seed, inserts_only=False)
    if kind.is_mysql:
        events = map(of_mysql, count(), events)
    messages = list(format_.from_events(events, context=context))
    records = [
        each
        for each in messages
        if each.value is not None
        and isinstance(each, StoredFile) == (format_.carriers == ("storage",))
    ]
    return Feed(records, format_.prepared(messages, context), rows)


def of_mysql(number: int, event: Event) -> Event:
    """Return a change with a place in a binlog."""
    moments = {"ts_us": "1700000000123456", "ts_ns": "1700000000123456789"}
    extra = {**event.extra, **moments, "connector": "mysql", "thread": "7"}
    extra |= {f"source_{name}": text for name, text in moments.items()}
    position = Position(
        commit_ms=1700000000000 + number,
        sent_ms=1700000000123 + number,
        file="binlog.000012",
        pos=4711 + 97 * number,
        row=0,
        gtid=f"3e11fa47-71ca-11e1-9e33-c80aa9429562:{number}",
        server_id=223344,
    )
    return replace(event, position=position, extra=extra)


def compare(kind: Kind, rows: int, rounds: int) -> list[Result]:
    """Compare the routes on a workload of a format."""
    measured, warm_up = feed(kind, rows, SEED), feed(kind, rows, WARM_UP_SEED)
    is_file = isinstance(measured.records[0], StoredFile)
    few = feed(kind, min(PLAIN_ROWS, rows), SEED) if is_file else measured
    assert_equal(kind, measured, warm_up)
    values = [each.value or b"" for each in measured.records]
    slow = few.records[:PLAIN_ROWS]
    routes: dict[str, Route] = {
        "decoder": partial(work, kind, measured, warm_up),
        "dicts": partial(work, kind, measured, warm_up, rows=dict),
        "plain": lambda: partial(decode_each, decoder_of(kind, measured, engine="plain"), slow),
    }
    peer = kind.peer
    if peer is not None:
        routes["json"] = lambda: lambda: [peer(value) for value in values]
    counts = dict.fromkeys(routes, rows) | {"plain": few.rows if is_file else len(slow)}
    times = {name: each / counts[name] for name, each in best_times(routes, rounds).items()}
    per_row = {f"{name} ns a row": round(time) for name, time in times.items()}
    found = [("plain", "decoder", "Decoder.decode against the plain decoder", kind.bar)]
    if peer is not None:
        found.append(("json", "dicts", "Decoder.decode to dicts against json.loads", PEER_BAR))
    return [
        Result(
            f"{slower}/{faster}/{kind.name}",
            f"{kind.name}, {title}",
            round(times[slower] / times[faster], 3),
            "x",
            bar,
            workload="10 columns, mixed",
            details=per_row,
        )
        for slower, faster, title, bar in found
    ]


def decoder_of(kind: Kind, feed: Feed, **more: Any) -> Decoder[Any]:
    found: Decoder[Any] = Decoder(
        kind.format,
        options=kind.options,
        tables=feed.context.tables,
        schemas=feed.context.schemas,
        **more,
    )
    return found


def work(kind: Kind, measured: Feed, warm_up: Feed, **more: Any) -> Work:
    decoder = decoder_of(kind, measured, **more)
    decode_each(decoder, warm_up.records)
    return partial(decode_each, decoder, measured.records)


def decode_each(decoder: Decoder[Any], records: Sequence[Message]) -> None:
    decode = decoder.decode
    for record in records:
        decode(record)


def assert_equal(kind: Kind, measured: Feed, warm_up: Feed) -> None:
    """Stop unless all routes give the same."""
    decoder, plain = decoder_of(kind, measured), decoder_of(kind, measured, engine="plain")
    decode_each(decoder, warm_up.records)
    for record in measured.records:
        if decoder.decode(record) != plain.decode(record):
            raise AssertionError(f"{kind.name}: the decoders give different events")
    if kind.peer is None:
        return
    rows = decoder_of(kind, measured, rows=dict)
    for record in measured.records:
        [change] = rows.decode(record)
        assert isinstance(change, Change)
        if (change.before, change.after) != kind.peer(record.value or b""):
            raise AssertionError(f"{kind.name}: the peer gives another row")


if __name__ == "__main__":
    sys.exit(main())
