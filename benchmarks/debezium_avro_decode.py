"""How fast Debezium's Avro is decoded: the fast decoder against fastavro and a checked plan.

Run as ``python -m benchmarks.debezium_avro_decode [--quick] [--json FILE]``; it needs fastavro. The
messages are changes of rows, with key, whole source and both rows of an update. All routes give the
same events, which is asserted first. The checked plan converts each column of fastavro's records
and makes the event. It is measured on fastavro's pure reader, and on its compiled one without a
goal. "Records alone" is the pure reader without a plan: dictionaries of key and value. The fast
decoder learns the schemas from other messages than those that are measured.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import count

from benchmarks.checked.debezium_avro import CompiledPlanDecoder, PlanDecoder, Read
from benchmarks.checked.strictness import assert_as_strict
from benchmarks.decoder import of_mysql
from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, WARM_UP_SEED
from benchmarks.measure import Route, Work, best_times, learn
from cdcwire.apache_avro.binary import CLAUSE as BOOLEANS
from cdcwire.apache_avro.binary import VARINTS
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.formats.debezium_avro.connect_schema import plan_of_text
from cdcwire.formats.debezium_avro.fast import RowDecoder
from cdcwire.formats.debezium_avro.format import FORMAT
from cdcwire.model.events import Event, Position
from cdcwire_generators.workloads import workload, workload_tables

TABLES = {"10 columns": "orders-10", "29 columns": "proposal-29"}
PRODUCERS: dict[str, dict[str, OptionValue]] = {
    "PostgreSQL": {"dialect": "debezium-3.6", "replica-identity": "full"},
    "MySQL": {"dialect": "debezium-3.6", "connector": "mysql"},
}
CHECKED_BAR = 1.5  # below, the plan would replace the fast decoder
MAX_PLAIN = 16.0  # the plain decoder is also what verify and explain run
PLAIN_ROWS = 128  # the plain decoder is slow, and is measured with fewer rows
HEAD = 5


@dataclass(frozen=True)
class Feed:
    """Changes of one table, all with one pair of schemas."""

    messages: list[KafkaMessage]
    context: Context


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Compare the fast decoder of Debezium's Avro with others.", argv)
    if find_spec("fastavro") is None:
        sys.exit("not installed: fastavro")
    rows, rounds = (256, 3) if given.quick else (2048, 9)
    results: list[Result] = []
    for columns, name in TABLES.items():
        for producer in PRODUCERS:
            made = partial(feed, name, rows, producer)
            what = f"{columns}, mixed, {producer}"
            results += compare(what, made(SEED), made(WARM_UP_SEED), rounds)
    return finish("debezium_avro_decode", results, given)


def feed(name: str, rows: int, producer: str, seed: int) -> Feed:
    """Return the changes of a workload; tombstones are left out."""
    options = PRODUCERS[producer]
    context = Context(options, tables=tuple(workload_tables(name)))
    changes = workload(name, rows, seed, inserts_only=False)
    place = of_mysql if producer == "MySQL" else of_postgresql
    messages = list(FORMAT.from_events(map(place, count(), changes), context=context))
    schemas = FORMAT.prepared(messages, context).schemas
    sent = [m for m in messages if isinstance(m, KafkaMessage) and m.value is not None]
    return Feed(sent, Context(options, schemas=schemas))


def compare(what: str, measured: Feed, warm_up: Feed, rounds: int) -> list[Result]:
    """Compare the fast decoder with the other routes on one feed."""
    for made in (PlanDecoder, CompiledPlanDecoder):
        assert_equal(measured, warm_up, made)
    assert_checked(measured)
    few = measured.messages[:PLAIN_ROWS]
    routes: dict[str, Route] = {
        "fast": partial(work, measured, warm_up, RowDecoder),
        "checked": partial(work, measured, warm_up, PlanDecoder),
        "checked compiled": partial(work, measured, warm_up, CompiledPlanDecoder),
        "records": partial(records_work, measured),
        "plain": partial(plain_work, few, measured.context),
    }
    times = {
        name: time / (len(few) if name == "plain" else len(measured.messages))
        for name, time in best_times(routes, rounds).items()
    }
    per_message = {f"{name} ns a message": round(time) for name, time in times.items()}
    comparisons = (
        ("checked", "fast decoder against fastavro pure and a checked plan", CHECKED_BAR),
        ("checked compiled", "fast decoder against fastavro compiled and a checked plan", None),
        ("records", "fast decoder against fastavro pure, records alone", None),
        ("plain", "fast against plain", MAX_PLAIN),
    )
    return [
        Result(
            f"{slower}/fast/{what}",
            f"Debezium Avro, {title}",
            round(times[slower] / times["fast"], 3),
            "x",
            bar,
            is_least=slower != "plain",
            workload=what,
            details=per_message,
        )
        for slower, title, bar in comparisons
    ]


def work(measured: Feed, warm_up: Feed, made: type[RowDecoder]) -> Work:
    decoder = made(measured.context)
    learn(decoder, warm_up.messages)
    return lambda: [decoder.decode(message) for message in measured.messages]


def records_work(measured: Feed) -> Work:
    schemas = measured.context.schemas
    reads = {int(name): Read(plan_of_text(text)).read for name, text in schemas.items()}

    def read(data: bytes) -> object:
        return reads[int.from_bytes(data[1:HEAD], "big")](data[HEAD:])

    pairs = [(message.key or b"", message.value or b"") for message in measured.messages]
    return lambda: [(read(key), read(value)) for key, value in pairs]


def plain_work(messages: Sequence[KafkaMessage], context: Context) -> Work:
    return lambda: [list(FORMAT.to_events(message, context=context)) for message in messages]


def assert_equal(measured: Feed, warm_up: Feed, made: type[RowDecoder]) -> None:
    """Stop unless both decoders give the events of the plain one, without asking it."""
    for each in (RowDecoder, made):
        decoder = each(measured.context)
        learn(decoder, warm_up.messages)
        for message in measured.messages:
            expected = list(FORMAT.to_events(message, context=measured.context))
            if repr(decoder._usual(message)) != repr(expected):
                raise AssertionError(f"{each.__name__} gives another event")


def assert_checked(measured: Feed) -> None:
    """Stop unless the checked plan is as strict as the plain decoder, as far as fastavro lets it.

    fastavro reads varints and booleans that the plain decoder refuses.
    """
    key = measured.messages[0].key
    decoder = PlanDecoder(measured.context)

    def planned(value: bytes) -> object:
        found = repr(decoder.decode(KafkaMessage(key, value)))
        try:
            plain(value)
        except DecodeError as error:
            if error.clause in (VARINTS, BOOLEANS):
                raise
        return found

    def plain(value: bytes) -> object:
        return repr(list(FORMAT.to_events(KafkaMessage(key, value), context=measured.context)))

    assert_as_strict(planned, plain, [message.value or b"" for message in measured.messages])


def of_postgresql(number: int, event: Event) -> Event:
    """Return a change with a place in the log of PostgreSQL."""
    position = Position(
        lsn=24_023_128 + 97 * number,
        tx_id=str(571 + number // 4),
        commit_ms=1700000000000 + number,
        sent_ms=1700000000123 + number,
    )
    return replace(event, position=position)


if __name__ == "__main__":
    sys.exit(main())
