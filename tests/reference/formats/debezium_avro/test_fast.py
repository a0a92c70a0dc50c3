"""The fast decoder gives what the plain one gives, and refuses the same in the same words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from itertools import count
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cdcwire
from cdcwire.apache_avro import schema as avro
from cdcwire.apache_avro.binary import write_datum
from cdcwire.apache_avro.schema import Branch
from cdcwire.core.context import EVERYTHING, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.ddl import parse_ddl
from cdcwire.formats.debezium_avro import fast as fast_module
from cdcwire.formats.debezium_avro import wire
from cdcwire.formats.debezium_avro.fast import RowDecoder
from cdcwire.formats.debezium_avro.format import FORMAT
from cdcwire.model.events import Event, Image, Position, RowChange
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_generators.strategies import damaged_bytes
from cdcwire_generators.workloads import workload, workload_tables

Options: TypeAlias = "dict[str, OptionValue]"

NAMES = ("orders-10", "proposal-29", "updates", "mostly-null", "large-values", "tiny")
PRODUCERS: dict[str, Options] = {
    "postgresql": {"dialect": "debezium-2.7"},
    "mysql": {"dialect": "debezium-3.6", "connector": "mysql"},
    "old": {"dialect": "debezium-1.4", "registry": "apicurio"},
    "glue": {"registry": "glue", "provide-transaction-metadata": True},
    "unwrapped": {
        "transforms": "unwrap",
        "dialect": "debezium-3.6",
        "connector": "mysql",
        "add-fields": "op,db,table,source.ts_ms,file,pos",
        "delete-tombstone-handling-mode": "rewrite",
    },
}
READERS: dict[str, Options] = {
    "default": {},
    "full": {"replica-identity": "full"},
    "strict": {"lint": "strict"},
    "reads": {"read-r-as-c": True},
    "any": {"producer": "any"},
    "rows": {"transforms": "unwrap"},
}
SELECTIONS = {
    "all": EVERYTHING,
    "no table": Selection(tables=frozenset({("no", "table")})),
    "columns": Selection(columns=frozenset({"id", "price", "c1", "c20"})),
}
ROWS = 32
each_name = pytest.mark.parametrize("name", NAMES)
each_producer = pytest.mark.parametrize("producer", PRODUCERS)


@dataclass(frozen=True)
class Feed:
    """Messages with their schemas; ``options``: those of their producer."""

    messages: tuple[KafkaMessage, ...]
    schemas: Mapping[str, str]
    options: Options

    def context(self, reader: str = "default", selection: str = "all") -> Context:
        options = {**self.options, **READERS[reader]}
        return Context(options, schemas=self.schemas, selection=SELECTIONS[selection])


@cache
def feed(name: str, producer: str) -> Feed:
    """Return the changes of a workload, without tombstones and borders of transactions."""
    options = PRODUCERS[producer]
    context = Context(options, tables=tuple(workload_tables(name)))
    events = map(placed, count(1), workload(name, ROWS, 1, inserts_only=False))
    messages = list(FORMAT.from_events(events, context=context))
    schemas = FORMAT.prepared(messages, context).schemas
    found = Feed((), schemas, options)
    decode = plain(found.context())
    changes = [
        message
        for message in messages
        if isinstance(message, KafkaMessage)
        and all(isinstance(event, RowChange) for event in decode(message))
    ]
    return replace(found, messages=tuple(changes))


def placed(number: int, event: Event) -> Event:
    """Return a change with all that the connectors of PostgreSQL and MySQL say of its place."""
    if not isinstance(event, RowChange):
        return event
    position = Position(
        lsn=2**60 + number,
        tx_id=str(number // 4),
        tx_order=number % 4 + 1,
        commit_ms=1_700_000_000_000 + number,
        sent_ms=1_700_000_000_123,
        file="binlog.000012",
        pos=4711 + number,
        row=0,
        server_id=223344,
    )
    return replace(event, position=position)


def outcome(decode: Callable[[KafkaMessage], Iterable[object]], message: KafkaMessage) -> object:
    """Return all that events or an error say; an empty ``extra`` may be of two classes."""
    try:
        return repr(list(decode(message))).replace("mappingproxy({})", "{}")
    except DecodeError as error:
        return type(error), error.args, error.path


def plain(context: Context) -> Callable[[KafkaMessage], Iterable[Event]]:
    return lambda message: FORMAT.to_events(message, context=context)


def taught(found: Feed, context: Context) -> RowDecoder:
    """Return a decoder that has seen the messages of a feed."""
    decoder = RowDecoder(context)
    for message in found.messages:
        outcome(decoder.decode, message)
    return decoder


def refuse(*arguments: object) -> None:
    raise AssertionError("the plain decoder was asked")


@each_producer
@each_name
def test_workload_is_read_as_the_plain_decoder_reads_it(name: str, producer: str) -> None:
    found = feed(name, producer)
    context = found.context()
    decoder = taught(found, context)
    for message in found.messages:
        assert outcome(decoder.decode, message) == outcome(plain(context), message)


TICDC_TABLES = parse_ddl(
    """
    CREATE TABLE t (
      id BIGINT UNSIGNED PRIMARY KEY, d DECIMAL(10,2), u BIGINT UNSIGNED, b BIT(12), bin BINARY(2),
      dt DATETIME(6), e ENUM('a','b'), t TEXT, j JSON
    );
    """,
    "shop",
)
TICDC_ROW = (7, Decimal("-1.50"), 2**64 - 1, 5, b"\x00\xff", "2024-02-29 12:34:56", "b", "é", "[1]")
TICDC: dict[str, Options] = {
    "plain": {},
    "texts": {
        "avro-bigint-unsigned-handling-mode": "string",
        "avro-decimal-handling-mode": "string",
    },
    "types": {
        "avro-bigint-unsigned-handling-mode": "string",
        "avro-decimal-handling-mode": "string",
        "enable-tidb-extension": True,
    },
}


def ticdc_feed(mode: str) -> Feed:
    """Return an insert, updates and a delete as TiCDC sends them."""
    options: Options = {"dialect": "ticdc", **TICDC[mode]}
    (table,) = TICDC_TABLES
    columns = table.columns or ()
    row = TICDC_ROW if "avro-bigint-unsigned-handling-mode" in options else (7, *TICDC_ROW[1:2], 9)
    new = Image(columns, (*row, *TICDC_ROW[len(row) :]))
    empty = Image(columns, (7, *[None] * (len(columns) - 1)))
    position = Position(commit_ts=448059171405824001, sent_ms=1709210097123)
    events: list[Event] = [
        RowChange(table, "insert", None, new, position),
        RowChange(table, "update", new, empty, position),
        RowChange(table, "update", empty, new, position),
        RowChange(table, "delete", new, None, position),
    ]
    context = Context(options, tables=TICDC_TABLES)
    messages = list(FORMAT.from_events(events, context=context))
    schemas = FORMAT.prepared(messages, context).schemas
    return Feed(tuple(m for m in messages if isinstance(m, KafkaMessage)), schemas, options)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("has_definition", [False, True])
@pytest.mark.parametrize("mode", TICDC)
def test_changes_of_ticdc_are_read_as_the_plain_decoder_reads_them(
    mode: str, has_definition: bool, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ticdc_feed(mode)
    context = replace(found.context(reader), tables=TICDC_TABLES if has_definition else ())
    decoder = taught(found, context)
    expected = [outcome(plain(context), message) for message in found.messages]
    if reader not in ("strict", "rows"):  # the plain decoder reads those
        monkeypatch.setattr(fast_module, "read_message", refuse)
    assert [outcome(decoder.decode, message) for message in found.messages] == expected


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("reader", READERS)
@each_producer
def test_every_option_and_selection_gives_what_the_plain_decoder_gives(
    producer: str, reader: str, selection: str
) -> None:
    found = feed("orders-10", producer)
    context = found.context(reader, selection)
    decoder = taught(found, context)
    for message in found.messages:
        for each in (
            message,
            replace(message, key=None),
            replace(message, key=None, has_key=False),
            replace(message, has_key=False),
        ):
            for _ in range(2):
                assert outcome(decoder.decode, each) == outcome(plain(context), each)


@each_producer
@each_name
def test_workload_never_needs_the_plain_decoder(
    name: str, producer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = feed(name, producer)
    decoder = taught(found, found.context())
    monkeypatch.setattr(fast_module, "read_message", refuse)
    assert sum(len(decoder.decode_events(message)) for message in found.messages) == len(
        found.messages
    )


@each_producer
@given(data=st.data())
def test_damaged_message_is_read_as_the_plain_decoder_reads_it(
    producer: str, data: st.DataObject
) -> None:
    found = feed("orders-10", producer)
    context = found.context()
    message = data.draw(st.sampled_from(found.messages))
    name = data.draw(st.sampled_from(["key", "value"]))
    raw = message.key if name == "key" else message.value
    assert raw is not None
    damaged = data.draw(damaged_bytes(raw))
    broken = replace(message, key=damaged) if name == "key" else replace(message, value=damaged)
    decoder = taught(found, context)
    assert outcome(decoder.decode, broken) == outcome(plain(context), broken)


@pytest.mark.parametrize(
    "case", load_cases(formats=(FORMAT.name,)), ids=lambda case: case.id.partition("/")[2]
)
def test_case_is_read_as_the_plain_decoder_reads_it(case: Case) -> None:
    context = case.context()
    decoder = RowDecoder(context)
    for message in (each for each in case.messages * 3 if isinstance(each, KafkaMessage)):
        assert outcome(decoder.decode, message) == outcome(plain(context), message)


@pytest.mark.parametrize("name", ["globalId", "contentId"])
def test_ids_in_headers_lead_to_the_fast_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = feed("orders-10", "postgresql")
    moved = []
    for message in found.messages:
        assert message.key is not None
        assert message.value is not None
        headers = tuple(
            (f"apicurio.{part}.{name}", bytes(4) + raw[1:5])
            for part, raw in (("key", message.key), ("value", message.value))
        )
        moved.append(KafkaMessage(message.key[5:], message.value[5:], headers))
    options: Options = {**found.options, "registry": "apicurio-headers"}
    context = Context(options, schemas=found.schemas)
    decoder = RowDecoder(context)
    expected = [outcome(plain(found.context()), message) for message in found.messages]
    assert [outcome(decoder.decode, message) for message in moved] == expected
    without = KafkaMessage(moved[0].key, moved[0].value)
    assert outcome(decoder.decode, without) == outcome(plain(context), without)
    monkeypatch.setattr(fast_module, "read_message", refuse)
    assert [outcome(decoder.decode, message) for message in moved] == expected


def test_arrow_reads_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """``to_arrow`` calls the plain decoder once for each pair of schemas."""
    pytest.importorskip("pyarrow")
    found = feed("orders-10", "postgresql")
    asked = []

    def counted(*arguments: Any) -> object:
        asked.append(arguments[0])
        return read(*arguments)

    read = wire.read_message
    monkeypatch.setattr(fast_module, "read_message", counted)
    tables = cdcwire.to_arrow(
        FORMAT.name, found.messages, schemas=found.schemas, options=found.options
    )
    assert [table.num_rows for table in tables.values()] == [len(found.messages)]
    assert len(asked) == 1


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
SCALED: dict[str, Any] = {
    "type": "record",
    "name": "VariableScaleDecimal",
    "namespace": "io.debezium.data",
    "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
    "connect.name": "io.debezium.data.VariableScaleDecimal",
}


def named(kind: str, name: str) -> dict[str, str]:
    return {"type": kind, "connect.name": name}


TYPES: dict[str, object] = {
    "tiny": {"type": "int", "connect.type": "int8"},
    "small": {"type": "int", "connect.type": "int16"},
    "int": "int",
    "long": "long",
    "unsigned": {
        "type": "long",
        "connect.parameters": {"__debezium.source.column.type": "BIGINT UNSIGNED"},
    },
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "text": "string",
    "text_with_name": named("string", "io.debezium.data.Json"),
    "instant": named("string", "io.debezium.time.ZonedTimestamp"),
    "bytes": "bytes",
    "bits": named("bytes", "io.debezium.data.Bits"),
    "decimal": DECIMAL,
    "time": {"type": "int", "logicalType": "time-millis"},
    "date": {"type": "int", "logicalType": "date"},
    "scaled": SCALED,
    "loosely scaled": {
        **SCALED,
        "fields": [{"name": "scale", "type": ["null", "int"]}, SCALED["fields"][1]],
    },
    "fixed": {"type": "fixed", "name": "F", "size": 3},
    "enum": {"type": "enum", "name": "E", "symbols": ["a", "b"]},
    "array": {"type": "array", "items": ["null", "string"]},
    "nulls": {"type": "array", "items": ["null", "int"]},
    "map": {"type": "map", "values": DECIMAL},
    "union": ["null", "string", "int"],
}
SOURCE = {
    "type": "record",
    "name": "Source",
    "fields": [
        {"name": name, "type": "long" if name == "ts_ms" else "string"}
        for name in ("version", "connector", "name", "ts_ms", "db", "schema", "table")
    ],
}


def envelope_of(kind: object) -> str:
    """Return the text of an envelope whose row has a column of a type, and one that is optional."""
    fields: list[dict[str, object]] = [{"name": "id", "type": "int"}, {"name": "a", "type": kind}]
    if not isinstance(kind, list):
        # A type with a name is spelled once.
        fields = [{"name": "id", "type": "int"}, {"name": "a", "type": ["null", kind]}]
    row = {"type": "record", "name": "Value", "fields": fields}
    members = [
        {"name": "before", "type": ["null", row]},
        {"name": "after", "type": ["null", "Value"]},
        {"name": "source", "type": SOURCE},
        {"name": "op", "type": "string"},
    ]
    return json.dumps({"type": "record", "name": "Envelope", "fields": members})


def datums(kind: avro.AvroType) -> st.SearchStrategy[Any]:
    """Return values of a type, also those that its logical type does not have."""
    match kind:
        case avro.Union(branches) if kind.null_index is not None:
            return st.none() | datums(branches[1 - kind.null_index])
        case avro.Union(branches):
            return st.one_of(
                *(st.builds(Branch, st.just(i), datums(each)) for i, each in enumerate(branches))
            )
        case avro.Record(fields=fields):
            return st.tuples(*(datums(each.type) for each in fields))
        case avro.Array(items):
            return st.lists(datums(items), max_size=5).map(tuple)
        case avro.Map(values):
            return st.lists(st.tuples(st.text(max_size=3), datums(values)), max_size=3).map(tuple)
        case avro.Fixed(size=size):
            return st.binary(min_size=size, max_size=size)
        case avro.Enumeration(symbols=symbols):
            return st.sampled_from(symbols)
        case avro.Primitive(name):
            return PRIMITIVES[name]


PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "int": st.integers(-(2**31), 2**31 - 1) | st.integers(-129, 128),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32),
    "double": st.floats(),
    "boolean": st.booleans(),
    "string": st.text(max_size=200)
    | st.binary(max_size=4)
    | st.sampled_from(["2024-02-30T00:00:00Z", "2024-02-29T01:02:03+01:00"])
    | st.just("__debezium_unavailable_value"),
    "bytes": st.binary(max_size=200) | st.just(b"__debezium_unavailable_value"),
}
USUAL = ("3.5.0.Final", "postgresql", "s", 5, "d", "public", "t")


@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
def test_value_of_each_type_is_read_as_the_plain_decoder_reads_it(
    name: str, data: st.DataObject
) -> None:
    text = envelope_of(TYPES[name])
    kind = avro.parse_schema(text)
    row = kind.fields[0].type
    assert isinstance(row, avro.Union)
    context = Context(schemas={"1": text})
    decoder = RowDecoder(context)
    sources = st.just(USUAL) | datums(kind.fields[2].type)
    for _ in range(3):
        old, new = data.draw(datums(row)), data.draw(datums(row))
        op = data.draw(st.sampled_from(["c", "u", "d", "r", "t", "x"]))
        out = bytearray(b"\0\0\0\0\1")
        write_datum(out, kind, (old, new, data.draw(sources), op))
        message = KafkaMessage(None, bytes(out))
        for _ in range(2):
            assert outcome(decoder.decode, message) == outcome(plain(context), message)


@pytest.mark.parametrize("name", TYPES)
def test_column_of_each_type_is_read_the_fast_way(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = envelope_of(TYPES[name])
    kind = avro.parse_schema(text)
    out = bytearray(b"\0\0\0\0\1")
    a = Branch(0, None) if isinstance(TYPES[name], list) else None
    write_datum(out, kind, (None, (7, a), USUAL, "c"))
    message = KafkaMessage(None, bytes(out))
    decoder = RowDecoder(Context(schemas={"1": text}))
    expected = outcome(decoder.decode, message)
    monkeypatch.setattr(fast_module, "read_message", refuse)
    assert outcome(decoder.decode, message) == expected


@pytest.mark.parametrize("size", [10, 10_000, 20_000, 100_000])
def test_array_of_nulls_has_the_limit_of_the_plain_decoder(size: int) -> None:
    """A few bytes may announce many items that have no bytes."""
    text = envelope_of({"type": "array", "items": {"type": "record", "name": "N", "fields": []}})
    kind = avro.parse_schema(text)
    context = Context(schemas={"1": text})
    decoder = RowDecoder(context)
    for items in ((), ((),) * size):
        out = bytearray(b"\0\0\0\0\1")
        write_datum(out, kind, (None, (7, items), USUAL, "c"))
        message = KafkaMessage(None, bytes(out))
        for _ in range(2):
            assert outcome(decoder.decode, message) == outcome(plain(context), message)
