"""How fast Connect's JSON is decoded: the fast decoder against json.loads with a plan.

Run as ``python -m benchmarks.connect_decode [--quick] [--json FILE]``. The messages are Debezium's,
with and without their schema. The peer parses all of a message, the schema too, and takes the
values by a generated function for the table. It trusts its input: it checks nothing and gets the
schema. Both give the same payload of the same typed values, which is asserted first. The fast
decoder learns the schema from other messages than those that are measured. orjson is measured if it
is installed. The checked plan is as strict as the plain decoder, and knows a schema by its bytes,
as the fast decoder does. Last, what the events of these messages cost the fast and the plain
decoder.
"""

from __future__ import annotations

import json
import sys
from binascii import a2b_base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

from benchmarks.checked.connect import PlanEnvelopeDecoder
from benchmarks.checked.strictness import assert_as_strict
from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED
from benchmarks.measure import Route, Work, best_times
from cdcwire import connect
from cdcwire.connect import EnvelopeDecoder, PayloadReader, Schema, payload_reader
from cdcwire.connect.scalars import decimal_of
from cdcwire.connect.types import CONNECT_DECIMAL, decimal_scale
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.floats import narrow_float32
from cdcwire_generators.workloads import workload, workload_tables

Loads: TypeAlias = Callable[[bytes], Any]
Read: TypeAlias = Callable[[Any], Any]

TABLES = {"10 columns": "orders-10", "29 columns": "proposal-29"}
ORJSON_BAR = 1.0
MAX_PLAIN = 12.0  # the plain decoder is also what verify and explain run
SCHEMA_BAR = 1.5
CHECKED_BAR = 1.5  # below, the plan would replace the fast decoder
PAYLOAD_BAR = 1.0
PLAIN_ROWS = 128  # the plain decoder is slow, and is measured with fewer rows


@dataclass(frozen=True)
class Feed:
    """Messages of one table, and their payloads alone."""

    schema: Schema
    messages: list[bytes]
    payloads: list[bytes]


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare the fast decoder of Connect's JSON with others.", argv)
    rows, rounds = (256, 3) if given.quick else (2048, 9)
    kinds = (False,) if given.quick else (True, False)
    loads = orjson_loads()
    results: list[Result] = []
    for columns, name in TABLES.items():
        for inserts_only in kinds:
            what = f"{columns}, {'inserts' if inserts_only else 'mixed'}"
            made, warm_up = (feed(name, rows, seed, inserts_only) for seed in (SEED, WARM_UP_SEED))
            results += compare(what, made, warm_up, loads, rounds)
    return finish("connect_decode", results, given)


def feed(name: str, rows: int, seed: int, inserts_only: bool) -> Feed:
    """Return a workload of one table as Debezium's messages; tombstones are left out."""
    tables = tuple(workload_tables(name))
    events = workload(name, rows, seed, inserts_only=inserts_only)
    messages = [
        message.value
        for message in FORMAT.from_events(events, context=Context(tables=tables))
        if isinstance(message, KafkaMessage) and message.value is not None
    ]
    schema = connect.decode(messages[0]).schema
    assert schema is not None  # they are written with it
    return Feed(schema, messages, [one[one.index(b'},"payload":') + 12 : -1] for one in messages])


def compare(
    what: str, measured: Feed, warm_up: Feed, loads: Loads | None, rounds: int
) -> list[Result]:
    """Compare the fast decoder with the other routes on one feed."""
    few = min(PLAIN_ROWS, len(measured.messages))
    read = read_function(measured.schema)
    assert_equal_payloads(measured, warm_up, read, loads)
    assert_checked(measured)
    libraries: dict[str, Loads] = {"json": json.loads}
    if loads is not None:
        libraries["orjson"] = loads
    routes: dict[str, Route] = {
        "fast": partial(fast_work, measured, warm_up, EnvelopeDecoder),
        "checked": partial(fast_work, measured, warm_up, PlanEnvelopeDecoder),
        "payload fast": partial(payload_work, measured, warm_up),
        "plain": partial(plain_work, measured.messages[:few]),
        "events fast": partial(events_work, measured, warm_up),
        "events plain": partial(plain_events_work, measured.messages[:few]),
    }
    for name, library in libraries.items():
        routes[name] = partial(peer_work, measured.messages, library, read, has_schema=True)
        routes[f"payload {name}"] = partial(
            peer_work, measured.payloads, library, read, has_schema=False
        )
    found = best_times(routes, rounds)
    times = {
        name: time / (few if name.endswith("plain") else len(measured.messages))
        for name, time in found.items()
    }
    per_message = {f"{name} ns a message": round(time) for name, time in times.items()}
    comparisons = (
        ("json", "fast", "with schema, fast decoder against json and plan", SCHEMA_BAR),
        (
            "checked",
            "fast",
            "with schema, fast decoder against json and a checked plan",
            CHECKED_BAR,
        ),
        ("orjson", "fast", "with schema, fast decoder against orjson and plan", ORJSON_BAR),
        ("plain", "fast", "with schema, fast against plain", MAX_PLAIN),
        ("payload json", "payload fast", "payload, fast reader against json and plan", PAYLOAD_BAR),
        (
            "payload orjson",
            "payload fast",
            "payload, fast reader against orjson, plan",
            ORJSON_BAR,
        ),
        ("events plain", "events fast", "with schema to events, fast against plain", MAX_PLAIN),
    )
    return [
        Result(
            f"{slower}/{faster}/{what}",
            f"Connect {title}",
            round(times[slower] / times[faster], 3),
            "x",
            bar,
            is_least="plain" not in slower,
            workload=what,
            details=per_message,
        )
        for slower, faster, title, bar in comparisons
        if slower in times
    ]


def fast_work(measured: Feed, warm_up: Feed, made: type[EnvelopeDecoder]) -> Work:
    decoder = made()
    for message in warm_up.messages[:8]:
        decoder.decode(message)
    return lambda: [decoder.decode(message) for message in measured.messages]


def payload_work(measured: Feed, warm_up: Feed) -> Work:
    reader = learned_reader(warm_up)
    return lambda: [reader.read(payload) for payload in measured.payloads]


def events_work(measured: Feed, warm_up: Feed) -> Work:
    decoder = RowDecoder()
    for message in warm_up.messages[:8]:
        decoder.decode(KafkaMessage(None, message))
    messages = [KafkaMessage(None, message) for message in measured.messages]
    return lambda: [decoder.decode(message) for message in messages]


def plain_events_work(values: Sequence[bytes]) -> Work:
    messages = [KafkaMessage(None, value) for value in values]
    return lambda: [list(FORMAT.to_events(message, context=NO_CONTEXT)) for message in messages]


def learned_reader(warm_up: Feed) -> PayloadReader:
    """Return a reader that has seen one payload of another feed."""
    reader = payload_reader(warm_up.schema, connect.decode(warm_up.messages[0]).payload)
    assert reader is not None  # the tables have a pattern
    return reader


def peer_work(values: list[bytes], loads: Loads, read: Read, *, has_schema: bool) -> Work:
    if has_schema:
        return lambda: [read(loads(value)["payload"]) for value in values]
    return lambda: [read(loads(value)) for value in values]


def plain_work(values: Sequence[bytes]) -> Work:
    return lambda: [connect.decode(value) for value in values]


def orjson_loads() -> Loads | None:
    """Return orjson's loads if it is installed."""
    if find_spec("orjson") is None:
        return None
    loads: Loads = import_module("orjson").loads
    return loads


def assert_checked(measured: Feed) -> None:
    """Stop unless the checked plan is as strict as the plain decoder."""
    decoder = PlanEnvelopeDecoder()
    for message in measured.messages[:8]:
        decoder.decode(message)
    head = measured.messages[0][: -len(measured.payloads[0]) - 1]
    assert_as_strict(
        lambda message: repr(decoder.decode(message)),
        lambda message: repr(connect.decode(message)),
        measured.messages,
    )
    assert_as_strict(
        lambda payload: repr(decoder.decode(head + payload + b"}")),
        lambda payload: repr(connect.decode(head + payload + b"}")),
        measured.payloads,
    )


def assert_equal_payloads(measured: Feed, warm_up: Feed, read: Read, loads: Loads | None) -> None:
    """Stop unless all routes give the same payloads of the same types."""
    decoder = EnvelopeDecoder()
    for message in warm_up.messages[:8]:
        decoder.decode(message)
    reader = learned_reader(warm_up)
    expected = [repr(decoder.decode(message).payload) for message in measured.messages]
    others = [[repr(reader.read(payload)) for payload in measured.payloads]]
    others += [
        [repr(read(each(message)["payload"])) for message in measured.messages]
        for each in filter(None, (json.loads, loads))
    ]
    if any(other != expected for other in others):
        raise AssertionError("two routes give different payloads")


def read_function(schema: Schema) -> Read:
    """Return a function from the parsed JSON of a payload to its values."""
    names: dict[str, Any] = {"a2b": a2b_base64, "narrow": narrow_float32, "decimal": decimal_of}
    lines = ["def read(m0):"]
    names_made = _lines(schema, "m0", lines, " ")
    lines.append(f" return {names_made}")
    exec("\n".join(lines), names)  # the columns of a benchmark's own table
    function: Read = names["read"]
    return function


def _lines(schema: Schema, target: str, lines: list[str], indent: str) -> str:
    """Add lines that read the struct in ``target``; return the expression of its values."""
    values = []
    for index, field in enumerate(schema.fields):
        name = f"{target}_{index}"
        values.append(name)
        lines.append(f"{indent}{name} = {target}[{field.name!r}]")
        if field.schema.type == "struct":
            lines.append(f"{indent}if {name} is not None:")
            inner = _lines(field.schema, name, lines, indent + " ")
            lines.append(f"{indent} {name} = {inner}")
            continue
        conversion = _conversion(field.schema, name)
        if conversion:
            lines.append(f"{indent}if {name} is not None: {name} = {conversion}")
    return f"({''.join(f'{name},' for name in values)})"


def _conversion(schema: Schema, name: str) -> str:
    if schema.type == "bytes" and schema.name == CONNECT_DECIMAL:
        return f"decimal(a2b({name}), {decimal_scale(schema)})"
    conversions: dict[str, str] = {
        "bytes": f"a2b({name})",
        "float": f"narrow({name})",
        "double": f"float({name})",
    }
    return conversions.get(schema.type, "")


if __name__ == "__main__":
    sys.exit(main())
