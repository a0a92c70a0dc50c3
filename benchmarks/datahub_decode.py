"""How fast DataHub is decoded: Blob records, and batches of a Tuple topic.

Run as ``python -m benchmarks.datahub_decode [--quick] [--json FILE]``. The peer of Blob is a JSON
library with a hand-written conversion for each table: the members that it needs, in a generated
function. It trusts its input, checks nothing, and gets the table. The peer of Tuple is pydatahub,
if it is installed in a separate environment. It gets the batches alone; the fast decoder gets whole
bodies with frame and both checksums. All routes give the same values, which is asserted first.
Decoders of Blob learn the table from rows that are not measured, and are new in each round. orjson
is measured if it is installed.
"""

from __future__ import annotations

import json
import sys
from binascii import a2b_base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED
from benchmarks.measure import Route, Work, best_times, learn
from cdcwire.core.context import NO_CONTEXT
from cdcwire.core.json_strings import write_base64
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row, new_row
from cdcwire.datahub.batch import write_batch
from cdcwire.datahub.body import write_body
from cdcwire.datahub.fields import Field
from cdcwire.datahub.message import Batch, Body, Record
from cdcwire.datahub.streamx import type_of
from cdcwire.formats import datahub_blob, datahub_tuple
from cdcwire.formats.datahub_blob.fast import RowDecoder
from cdcwire.formats.datahub_tuple.events import events_of as tuple_events
from cdcwire.formats.datahub_tuple.fast import RowDecoder as TupleDecoder
from cdcwire.formats.datahub_tuple.wire import read_rows
from cdcwire.model.events import RowChange, Table
from cdcwire.model.instants import ms_of_tso
from cdcwire_generators.workloads import workload, workload_tables

Loads: TypeAlias = Callable[[bytes], Any]

TABLES = {"10 columns": "orders-10", "29 columns": "proposal-29"}
JSON_BAR = 1.0
ORJSON_BAR = 1.0  # the fast decoder uses orjson too, and is a checked plan
MAX_PLAIN = 12.0  # the plain decoder is also what verify and explain run
SDK_BARS = {"10 columns": 3.5, "29 columns": 3.0}  # rows have bytes, where the SDK leaves base64
PLAIN_ROWS = 128  # the plain decoder is slow, and is measured with fewer rows
ROWS_PER_BATCH = 64


@dataclass(frozen=True)
class Blobs:
    """Records of one table."""

    table: Table
    values: list[bytes]


@dataclass(frozen=True)
class Tuples:
    """Bodies of one topic, and the batches in them."""

    topic: datahub_tuple.Topic
    bodies: list[KafkaMessage]
    batches: list[bytes]
    rows: int


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare the fast DataHub decoders with others.", argv)
    rows, rounds = (256, 3) if given.quick else (2048, 9)
    kinds = (False,) if given.quick else (True, False)
    loads = orjson_loads()
    results: list[Result] = []
    for columns, name in TABLES.items():
        for inserts_only in kinds:
            what = f"{columns}, {'inserts' if inserts_only else 'mixed'}"
            made = partial(blobs, name, rows, inserts_only=inserts_only)
            results += compare_blobs(what, made(SEED), made(WARM_UP_SEED), loads, rounds)
        results += compare_tuples(columns, tuples(name, rows, SEED), rounds)
    return finish("datahub_decode", results, given)


def events_of(name: str, rows: int, seed: int, *, inserts_only: bool) -> list[RowChange]:
    """Return a workload with the positions that DataHub has."""
    found = []
    for index, event in enumerate(workload(name, rows, seed, inserts_only=inserts_only)):
        assert isinstance(event, RowChange)
        time = ms_of_tso(event.position.commit_ts or 0)
        position = replace(
            event.position,
            sequence_id=1649991610688000000 + index,
            commit_ms=time,
            sent_ms=time + 736,
        )
        extra = {"checkpoint_ms": str(time), "version": "0.0.1", "db_type": "MySQL"}
        found.append(replace(event, position=position, extra=extra))
    return found


# ---- Blob ------------------------------------------------------------------------------------


def blobs(name: str, rows: int, seed: int, *, inserts_only: bool) -> Blobs:
    """Return a workload of one table; an update is two records."""
    (table,) = workload_tables(name)
    messages = datahub_blob.from_events(events_of(name, rows, seed, inserts_only=inserts_only))
    return Blobs(table, [message.value or b"" for message in messages])


class JsonPeer:
    """Decodes the records of one table. ``loads`` is that of the JSON library."""

    def __init__(self, sample: Row, table: Table, loads: Loads) -> None:
        self.loads = loads
        self.table = sample.table
        self.layout = sample.new_layout or sample.old_layout
        self.constant = {**(sample.extra or {})}
        self.read = _make_row_function(table)
        self.ops: dict[str, tuple[Any, ...]] = {
            "INSERT": ("insert", None, False),
            "UPDATE_BEFOR": ("update", "before", True),
            "UPDATE_AFTER": ("update", "after", False),
            "DELETE": ("delete", None, True),
        }

    def decode(self, value: bytes) -> Row:
        payload = self.loads(value)["payload"]
        op, half, is_before = self.ops[payload["op"]]
        times = payload["timestamp"]
        extra = {**self.constant, "checkpoint_ms": str(times["checkpointTime"])}
        rest = times["eventTime"], times["systemTime"], int(payload["sequenceId"]), extra
        image = self.layout, self.read(payload["before" if is_before else "after"]["dataColumn"])
        images = (None, None, *image) if is_before else (*image, None, None)
        return new_row((self.table, op, None, None, *images, None, half, *rest))


def _make_row_function(table: Table) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """Return a function from the members of an image to its values, in the order of the table."""
    lines = ["def read_row(cells):"]
    columns = table.columns or ()
    for index, column in enumerate(columns):
        lines.append(f" v{index} = cells[{column.name!r}]")
        type_ = type_of(column.type)
        if type_ == "BYTES":
            lines.append(f" if v{index} is not None: v{index} = a2b_base64(v{index})")
        elif type_ == "DOUBLE":
            lines.append(f" if v{index} is not None: v{index} = float(v{index})")
    lines.append(f" return ({''.join(f'v{index},' for index in range(len(columns)))})")
    names: dict[str, Any] = {"a2b_base64": a2b_base64}
    exec("\n".join(lines), names)  # the columns of a benchmark's own table
    function: Callable[[dict[str, Any]], tuple[Any, ...]] = names["read_row"]
    return function


def compare_blobs(
    what: str, measured: Blobs, warm_up: Blobs, loads: Loads | None, rounds: int
) -> list[Result]:
    few = min(PLAIN_ROWS, len(measured.values))
    (sample,) = warm(warm_up).decode(KafkaMessage(None, measured.values[0]))
    assert isinstance(sample, Row)
    routes: dict[str, Route] = {
        "fast": partial(fast_work, measured, warm_up),
        "json": partial(peer_work, measured, sample, json.loads),
        "plain": partial(plain_work, measured.values[:few]),
    }
    if loads is not None:
        routes["orjson"] = partial(peer_work, measured, sample, loads)
    assert_equal_rows(measured, warm_up, sample, loads)
    found = best_times(routes, rounds)
    times = {
        name: time / (few if name == "plain" else len(measured.values))
        for name, time in found.items()
    }
    comparisons = (
        ("json", "Blob, fast decoder against json and plan", JSON_BAR),
        ("orjson", "Blob, fast decoder against orjson and plan", ORJSON_BAR),
        ("plain", "Blob, fast against plain", MAX_PLAIN),
    )
    return _results(comparisons, times, "fast", what)


def warm(warm_up: Blobs) -> RowDecoder:
    decoder = RowDecoder()
    learn(decoder, messages_of(warm_up))
    return decoder


def messages_of(blobs: Blobs) -> list[KafkaMessage]:
    return [KafkaMessage(None, value) for value in blobs.values]


def fast_work(measured: Blobs, warm_up: Blobs) -> Work:
    decoder = warm(warm_up)
    messages = messages_of(measured)
    return lambda: [decoder.decode(message) for message in messages]


def peer_work(measured: Blobs, sample: Row, loads: Loads) -> Work:
    peer = JsonPeer(sample, measured.table, loads)
    return lambda: [peer.decode(value) for value in measured.values]


def plain_work(values: Sequence[bytes]) -> Work:
    return lambda: [datahub_blob.decode(value) for value in values]


def orjson_loads() -> Loads | None:
    """Return orjson's loads if it is installed."""
    if find_spec("orjson") is None:
        return None
    loads: Loads = import_module("orjson").loads
    return loads


def assert_equal_rows(measured: Blobs, warm_up: Blobs, sample: Row, loads: Loads | None) -> None:
    """Stop unless all routes give the same rows of the same types.

    A few values leave the fast path, such as integers near the end of their range. More than one in
    a hundred would distort the figures.
    """
    decoder = warm(warm_up)
    found = [
        (each.value or b"", row) for each in messages_of(measured) for row in decoder.decode(each)
    ]
    expected = {value: described(row) for value, row in found if isinstance(row, Row)}
    if len(expected) < 0.99 * len(found):
        raise AssertionError("the fast way was left")
    for each in filter(None, (json.loads, loads)):
        peer = JsonPeer(sample, measured.table, each)
        if {value: described(peer.decode(value)) for value in expected} != expected:
            raise AssertionError("two routes give different rows")


def described(row: Row) -> object:
    """Return a row with the types of its values."""
    images = [[(type(value), value) for value in image or ()] for image in (row.old, row.new)]
    return row.op, row[9:], images


# ---- Tuple -----------------------------------------------------------------------------------


def tuples(name: str, rows: int, seed: int) -> Tuples:
    """Return the rows of a table in batches."""
    (table,) = workload_tables(name)
    topic = datahub_tuple.topic_of(table)
    records: list[Record] = []
    for event in events_of(name, rows, seed, inserts_only=False):
        records += [
            datahub_tuple.record_of(row, topic) for row in datahub_tuple.from_event(event, topic)
        ]
    groups = [
        tuple(records[start : start + ROWS_PER_BATCH])
        for start in range(0, len(records), ROWS_PER_BATCH)
    ]
    bodies, batches = [], []
    for group in groups:
        raw, headers = write_body(Body("batch", (Batch(group),)), topic.fields)
        named = tuple((header, text.encode()) for header, text in headers.items())
        bodies.append(KafkaMessage(None, raw, named))
        batches.append(write_batch(Batch(group), topic.fields))
    return Tuples(topic, bodies, batches, len(records))


def compare_tuples(what: str, measured: Tuples, rounds: int) -> list[Result]:
    decoder = TupleDecoder(NO_CONTEXT, datahub_tuple.Settings(), measured.topic)
    few = measured.bodies[:2]
    routes: dict[str, Route] = {
        "fast": lambda: lambda: [decoder.decode(body) for body in measured.bodies],
        "plain": lambda: lambda: [read_rows(body, measured.topic) for body in few],
    }
    for body in measured.bodies:
        if decoder.decode_events(body) != list(tuple_events(body, measured.topic)):
            raise AssertionError("two routes give different rows")
    sdk = pydatahub_reader(measured.topic.fields)
    if sdk is not None:
        routes["pydatahub"] = lambda: lambda: [sdk(batch) for batch in measured.batches]
        assert_equal_values(measured, sdk)
    found = best_times(routes, rounds)
    rows_of_few = sum(len(list(decoder.decode(body))) for body in few)
    times = {
        name: time / (rows_of_few if name == "plain" else measured.rows)
        for name, time in found.items()
    }
    comparisons = (
        ("pydatahub", "Tuple batches, fast decoder against pydatahub", SDK_BARS[what]),
        ("plain", "Tuple batches, fast against plain", MAX_PLAIN),
    )
    return _results(comparisons, times, "fast", what)


def pydatahub_reader(fields: Sequence[Field]) -> Callable[[bytes], list[Any]] | None:
    """Return pydatahub's reader of a topic's batches, None where it is not installed."""
    if find_spec("datahub") is None:
        return None
    models: Any = import_module("datahub.models")
    serializer: Any = import_module("datahub.batch.batch_serializer").BatchSerializer
    schema = models.RecordSchema.from_lists(
        [field.name for field in fields],
        [models.FieldType(field.type.lower()) for field in fields],
    )

    class NoRegistry:
        schema_register = None

    return lambda batch: list(serializer.deserialize(schema, NoRegistry, batch))


def assert_equal_values(measured: Tuples, sdk: Callable[[bytes], list[Any]]) -> None:
    """Stop unless pydatahub gives the same values."""
    decoder = TupleDecoder(NO_CONTEXT, datahub_tuple.Settings(), measured.topic)
    data = measured.topic.data
    for body, batch in zip(measured.bodies, measured.batches, strict=True):
        for row, record in zip(decoder.decode(body), sdk(batch), strict=True):
            assert isinstance(row, Row)
            values = tuple(record.values[index] for index in data)
            if tuple(map(_comparable, row.new or row.old or ())) != tuple(map(_comparable, values)):
                raise AssertionError(f"two routes give different values: {row} {values}")


def _comparable(value: object) -> object:
    if isinstance(value, bytes):
        return write_base64(value)  # as the SDK leaves it
    return str(value) if isinstance(value, Decimal) else value


def _results(
    comparisons: Sequence[tuple[str, str, float | None]],
    times: dict[str, float],
    fast: str,
    what: str,
) -> list[Result]:
    per_row = {f"{name} ns a row": round(time) for name, time in times.items()}
    return [
        Result(
            f"{slower}/{fast}/{title.partition(',')[0]}/{what}",
            title,
            round(times[slower] / times[fast], 3),
            "x",
            bar,
            is_least=slower != "plain",
            workload=what,
            details=per_row,
        )
        for slower, title, bar in comparisons
        if slower in times
    ]


if __name__ == "__main__":
    sys.exit(main())
