"""How fast Avro rows are decoded and encoded, against fastavro and Apache avro in the same run.

Run as ``python -m benchmarks.avro_decode [--quick] [--json FILE]``; it needs fastavro and avro.
The bytes are those of our encoder, with the extension; decimals are measured in both modes.

Only the bytes after the envelope are compared. The peers give a dictionary for each record, and
ours a tuple; that the values and their types are the same is asserted first. Decimals of the
precise mode are ``Decimal`` everywhere. Some types do not exist in the peers: BIGINT UNSIGNED as a
long that wraps, ENUM, SET, temporal types and JSON as text. There they give the plain Avro value,
which is less work. In "whole messages" each route reads envelope, key and value, finds the schemas
by their ids and gives one tuple of values per row. The fast decoder checks everything that the
plain one checks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import Any, TypeAlias

from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED
from benchmarks.measure import Route, Work, best_times
from cdcwire.core.context import NO_CONTEXT
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.formats.avro import MemorySource, encode, read_settings
from cdcwire.formats.avro.events import events_of
from cdcwire.formats.avro.fast import RowDecoder, make_record_function
from cdcwire.formats.avro.plans import RecordPlan, plan_of_text
from cdcwire.formats.avro.settings import Settings
from cdcwire.formats.avro.wire import read_bytes
from cdcwire.formats.avro.writing import messages_of
from cdcwire.model.events import Event, Table
from cdcwire_generators.workloads import workload, workload_tables

TABLES = {"10 columns": "orders-10", "29 columns": "proposal-29"}
HEAD = 5
# Peer, name, bar.
BARS = {"fastavro pure": 2.5, "apache": 6.0, "fastavro compiled": 1.0}
MESSAGES_BAR = 2.7
MAX_PLAIN = 12.0  # the plain decoder is also what verify and explain run
PLAIN_ROWS = 256

Reader: TypeAlias = Callable[[bytes], dict[str, Any]]
Writer: TypeAlias = Callable[[dict[str, Any]], bytes]


@dataclass(frozen=True)
class Feed:
    """Messages of one table, all with one pair of schemas."""

    table: Table
    events: list[Event]
    messages: list[KafkaMessage]
    source: MemorySource
    settings: Settings

    @property
    def key_text(self) -> str:
        return self.source.texts["1"]

    @property
    def value_text(self) -> str:
        return self.source.texts["2"]


@dataclass(frozen=True)
class Peer:
    """How a library reads and writes the records of one schema."""

    reader: Callable[[str], Reader]
    writer: Callable[[str], Writer]


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare decoding and encoding Avro with other libraries.", argv)
    rows, rounds = (256, 3) if given.quick else (2048, 9)
    peers = installed_peers()
    results: list[Result] = []
    for columns, name in TABLES.items():
        for mode in ("precise",) if given.quick else ("precise", "string"):
            made = partial(feed, name, rows, mode)
            what = f"{columns}, decimals {mode}"
            measured, warm_up = made(SEED), made(WARM_UP_SEED)
            results += compare_records(what, measured, warm_up, peers, rounds)
            results += compare_messages(what, measured, warm_up, peers, rounds)
            results += compare_encoders(what, measured, peers, rounds)
    return finish("avro_decode", results, given)


def feed(name: str, rows: int, mode: str, seed: int) -> Feed:
    (table,) = workload_tables(name)
    settings = read_settings({"enable-tidb-extension": True, "avro-decimal-handling-mode": mode})
    source = MemorySource()
    events = list(workload(name, rows, seed, inserts_only=True))
    return Feed(
        table, events, list(messages_of(events, settings, (table,), source)), source, settings
    )


def installed_peers() -> dict[str, Peer]:
    """Return the peers; a library that is not installed ends the run with its name."""
    missing = [name for name in ("fastavro", "avro") if find_spec(name) is None]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}")
    return {
        "fastavro pure": fastavro_peer("py"),
        "fastavro compiled": fastavro_peer(""),
        "apache": apache_peer(),
    }


def fastavro_peer(suffix: str) -> Peer:
    parse = import_module(f"fastavro._schema{'_' + suffix if suffix else ''}").parse_schema
    read = import_module(f"fastavro._read{'_' + suffix if suffix else ''}").schemaless_reader
    write = import_module(f"fastavro._write{'_' + suffix if suffix else ''}").schemaless_writer
    loads = import_module("json").loads

    def reader(text: str) -> Reader:
        schema = parse(loads(text))
        return lambda data: read(BytesIO(data), schema, None)

    def writer(text: str) -> Writer:
        schema = parse(loads(text))

        def write_record(record: dict[str, Any]) -> bytes:
            out = BytesIO()
            write(out, schema, record)
            return out.getvalue()

        return write_record

    return Peer(reader, writer)


def apache_peer() -> Peer:
    schemas, io = import_module("avro.schema"), import_module("avro.io")

    def reader(text: str) -> Reader:
        datums = io.DatumReader(schemas.parse(text))
        return lambda data: datums.read(io.BinaryDecoder(BytesIO(data)))

    def writer(text: str) -> Writer:
        datums = io.DatumWriter(schemas.parse(text))

        def write_record(record: dict[str, Any]) -> bytes:
            out = BytesIO()
            datums.write(record, io.BinaryEncoder(out))
            return out.getvalue()

        return write_record

    return Peer(reader, writer)


def compare_records(
    what: str, measured: Feed, warm_up: Feed, peers: dict[str, Peer], rounds: int
) -> list[Result]:
    """Compare the reading of values after their envelopes."""
    values = [(message.value or b"")[HEAD:] for message in measured.messages]
    readers = {name: peer.reader(measured.value_text) for name, peer in peers.items()}
    plan = plan_of_text(measured.value_text)
    ours = make_record_function(plan, plan.columns, True)
    for data in values:
        found, extension = ours(data, 0)
        for name, read in readers.items():
            assert_equal(name, plan, (*found, *extension), tuple(read(data).values()))

    def generated() -> Work:
        function = make_record_function(plan, plan.columns, True)
        for message in warm_up.messages:
            function((message.value or b"")[HEAD:], 0)
        return lambda: [function(data, 0) for data in values]

    def peer_work(read: Reader) -> Work:
        return lambda: [read(data) for data in values]

    routes: dict[str, Route] = {"ours": generated}
    routes |= {name: partial(peer_work, read) for name, read in readers.items()}
    return judged("records", "values", what, routes, len(values), rounds, BARS)


def compare_messages(
    what: str, measured: Feed, warm_up: Feed, peers: dict[str, Peer], rounds: int
) -> list[Result]:
    """Compare whole messages: envelopes, key and value."""
    pairs = [(message.key or b"", message.value or b"") for message in measured.messages]
    few = pairs[:PLAIN_ROWS]

    def ours() -> Work:
        decoder = RowDecoder(NO_CONTEXT, measured.settings, measured.source)
        for message in warm_up.messages:
            decoder.decode(message)
        messages = [KafkaMessage(*pair) for pair in pairs]
        return lambda: [decoder.decode(message) for message in messages]

    def plain() -> Work:
        source, settings = measured.source, measured.settings
        return lambda: [
            events_of(read_bytes(key, value, source, settings), settings) for key, value in few
        ]

    def peer_work(peer: Peer) -> Work:
        by_id = {int(name): peer.reader(text) for name, text in measured.source.texts.items()}

        def read(key: bytes, value: bytes) -> tuple[Any, ...]:
            if key[0] or value[0]:
                raise ValueError("the magic byte")
            by_id[int.from_bytes(key[1:HEAD], "big")](key[HEAD:])
            record = by_id[int.from_bytes(value[1:HEAD], "big")](value[HEAD:])
            return tuple(record.values())

        return lambda: [read(key, value) for key, value in pairs]

    decoder = RowDecoder(NO_CONTEXT, measured.settings, measured.source)
    assert all(
        isinstance(row, Row) for pair in pairs for row in decoder.decode(KafkaMessage(*pair))
    )
    routes: dict[str, Route] = {"ours": ours, "plain": plain}
    routes |= {name: partial(peer_work, peer) for name, peer in peers.items()}
    share = {"plain": len(pairs) / len(few)}
    bars = {**BARS, "fastavro pure": MESSAGES_BAR, "plain": MAX_PLAIN}
    return judged("messages", "whole messages", what, routes, len(pairs), rounds, bars, share)


def compare_encoders(
    what: str, measured: Feed, peers: dict[str, Peer], rounds: int
) -> list[Result]:
    """Compare the writing of values: ours from events, and the wire layer's from its datums.

    The peers write dictionaries that are ready, in the types that they take.
    """
    events, settings, table = measured.events, measured.settings, measured.table
    messages = measured.messages
    decoded = [read_bytes(each.key, each.value, measured.source, settings) for each in messages]
    readers = peers["fastavro compiled"].reader(measured.value_text)
    key_reader = peers["fastavro compiled"].reader(measured.key_text)
    records = [
        (key_reader((each.key or b"")[HEAD:]), readers((each.value or b"")[HEAD:]))
        for each in messages
    ]

    def from_model() -> Work:
        source = MemorySource()
        return lambda: list(messages_of(events, settings, (table,), source))

    def wire() -> Work:
        return lambda: [encode(message) for message in decoded]

    def peer_work(peer: Peer) -> Work:
        write_key, write = peer.writer(measured.key_text), peer.writer(measured.value_text)
        return lambda: [(write_key(key), write(record)) for key, record in records]

    routes: dict[str, Route] = {"ours": wire, "events": from_model}
    routes |= {name: partial(peer_work, peer) for name, peer in peers.items()}
    no_bars: dict[str, float | None] = dict.fromkeys((*peers, "events"))
    return judged("encode", "encoding key and value", what, routes, len(events), rounds, no_bars)


def judged(
    id_: str,
    step: str,
    what: str,
    routes: dict[str, Route],
    rows: int,
    rounds: int,
    bars: dict[str, Any],
    share: dict[str, float] | None = None,
) -> list[Result]:
    """Return the ratio of every route to ours."""
    times = {
        name: found * (share or {}).get(name, 1.0) / rows
        for name, found in best_times(routes, rounds).items()
    }
    per_row = {f"{name} ns a row": round(found) for name, found in times.items()}
    return [
        Result(
            f"{id_}/{name}/{what}",
            f"Avro, {step}: {name} against ours",
            round(times[name] / times["ours"], 3),
            "x",
            bar,
            is_least=name != "plain",
            workload=what,
            details=per_row,
        )
        for name, bar in bars.items()
    ]


def assert_equal(
    name: str, plan: RecordPlan, ours: tuple[Any, ...], theirs: tuple[Any, ...]
) -> None:
    """Stop unless a peer gives the values that ours does, as far as it knows of their types."""
    assert len(ours) == len(theirs)
    for field, found, other in zip(plan.fields, ours, theirs, strict=True):
        if field.name == "_tidb_op":
            other = {"c": "insert", "u": "update"}[other]
        elif isinstance(other, int) and field.source == "BIGINT UNSIGNED" and other < 0:
            other += 1 << 64
        elif field.source == "DECIMAL" and isinstance(other, str):
            other = type(found)(other)
        if (type(found), found) != (type(other), other):
            raise AssertionError(f"{name}: {field.name} is {other!r}, not {found!r}")


if __name__ == "__main__":
    sys.exit(main())
