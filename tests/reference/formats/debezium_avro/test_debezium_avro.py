"""The format against real producers: rows, bytes and schemas, and what the page promises."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

import cdcwire.formats.debezium_avro
from cdcwire.apache_avro.sources import KnownSchemas
from cdcwire.connect import Field, Schema
from cdcwire.connect.types import DEFINED
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import Reader
from cdcwire.ddl import parse_ddl
from cdcwire.formats.debezium_avro import FORMAT, OPTIONS, avro_text, plan_of_text, wire
from cdcwire.formats.debezium_avro.fast import RowDecoder
from cdcwire.model.events import Position, RowChange, SchemaChange, Table
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases

ROOT = Path(__file__).resolve().parents[4]
CASES = [case for case in load_cases() if case.format == FORMAT.name]
WRITTEN = [
    case for case in CASES if case.id.partition("/")[2].startswith(("producer/", "as-json/"))
]
TWO_BLOCKS = "debezium-avro/values/array-blocks"  # they are written as one
ACCEPTED = [case for case in CASES if case.expect == "accept" and case.id != TWO_BLOCKS]


def kafka_messages(case: Case) -> list[KafkaMessage]:
    return [each for each in case.messages if isinstance(each, KafkaMessage)]


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.id)
def test_wire_encode_gives_the_bytes_that_were_decoded(case: Case) -> None:
    for message in kafka_messages(case):
        found = wire.read_message(message, KnownSchemas(case.schemas), _settings(case))
        assert wire.encode(found) == (message.key, message.value)


def _settings(case: Case) -> cdcwire.formats.debezium_avro.Settings:
    return cdcwire.formats.debezium_avro.read_settings(case.context())


@pytest.mark.parametrize("case", WRITTEN, ids=lambda case: case.id)
def test_text_of_a_schema_is_the_one_that_was_registered(case: Case) -> None:
    for text in case.schemas.values():
        assert avro_text(plan_of_text(text).schema) == text


def test_struct_without_name_is_numbered() -> None:
    inner = Schema("struct", fields=(Field("a", Schema("int32")),))
    other = Schema("struct", fields=(Field("b", Schema("int32")),))
    schema = Schema("struct", fields=(Field("x", inner), Field("y", other), Field("z", inner)))
    made = json.loads(avro_text(schema))
    assert made["name"] == "ConnectDefault"
    assert made["namespace"] == "io.confluent.connect.avro"
    types = [field["type"] for field in made["fields"]]
    assert [each["name"] for each in types[:2]] == ["ConnectDefault2", "ConnectDefault3"]
    assert types[2] == "ConnectDefault2"


def test_default_of_bytes_has_a_character_for_each_byte() -> None:
    schema = Schema("bytes", default=b"\x00\x96")
    text = avro_text(Schema("struct", name="a.B", fields=(Field("x", schema),)))
    assert json.loads(text)["fields"][0]["default"] == "\x00\x96"
    assert plan_of_text(text).schema.fields[0].schema.default == b"\x00\x96"


def test_decimal_whose_scale_avro_does_not_allow_keeps_its_scale() -> None:
    parameters = (("scale", "-2"),)
    decimal = Schema("bytes", False, "org.apache.kafka.connect.data.Decimal", 1, None, parameters)
    plan = plan_of_text(avro_text(Schema("struct", name="a.B", fields=(Field("x", decimal),))))
    assert plan.schema.fields[0].schema == decimal
    out = bytearray()
    plan.write(out, (Decimal("1200"),))
    assert out == b"\x02\x0c"
    assert plan.read(Reader(bytes(out))) == (Decimal("1.2E+3"),)


def test_name_that_avro_does_not_have_is_refused_with_its_clause() -> None:
    with pytest.raises(EncodeError) as caught:
        avro_text(Schema("struct", name="a.B", fields=(Field("größe", Schema("int32")),)))
    assert (caught.value.clause, caught.value.path) == ("debezium-avro: names", ("größe",))


def test_two_records_of_one_name_are_refused() -> None:
    one = Schema("struct", name="a.B", fields=(Field("x", Schema("int32")),))
    other = Schema("struct", name="a.B", fields=(Field("x", Schema("int64")),))
    with pytest.raises(EncodeError) as caught:
        avro_text(Schema("struct", name="a.C", fields=(Field("p", one), Field("q", other))))
    assert caught.value.clause == "debezium-avro: names"


@pytest.mark.parametrize("name", ["globalId", "contentId"])
def test_id_in_a_header_finds_the_schema(name: str) -> None:
    case = next(case for case in CASES if case.id == "debezium-avro/producer/mariadb-3.5-update")
    (message,) = kafka_messages(case)
    assert message.key is not None
    assert message.value is not None
    headers = tuple(
        (f"apicurio.{part}.{name}", int.from_bytes(raw[1:5], "big").to_bytes(8, "big"))
        for part, raw in (("key", message.key), ("value", message.value))
    )
    moved = KafkaMessage(message.key[5:], message.value[5:], headers)
    options = {"registry": "apicurio-headers"}
    context = Context(options, schemas=case.schemas)
    expected = list(FORMAT.to_events(message, context=Context(schemas=case.schemas)))
    assert list(FORMAT.to_events(moved, context=context)) == expected


def test_header_of_another_size_is_refused() -> None:
    message = KafkaMessage(b"\x02", None, (("apicurio.key.globalId", b"\x01"),))
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(message, context=Context({"registry": "apicurio-headers"})))
    assert caught.value.clause == "debezium-avro: framing"


@pytest.mark.parametrize(
    ("value", "expected"), [(b"\x00\x02\x01", None), (b"\x02\x04\x02\x01", "0.01")]
)
def test_decimal_whose_scale_is_null_is_null(value: bytes, expected: str | None) -> None:
    """A union is not what Debezium writes there, but a schema may have it."""
    scaled = {
        "type": "record",
        "name": "io.debezium.data.VariableScaleDecimal",
        "fields": [{"name": "scale", "type": ["null", "int"]}, {"name": "value", "type": "bytes"}],
    }
    found = row_of(scaled, value)
    assert found == (None if expected is None else Decimal(expected))


def test_parameter_of_a_schema_never_acts_as_a_definition() -> None:
    for name in (DEFINED, DEFINED.removeprefix("\udfff"), "cdcwire.defined"):
        kind = {"type": "int", "connect.parameters": {name: "nothing("}}
        if name == DEFINED:
            with pytest.raises(DecodeError) as caught:
                row_of(kind, b"\x0a")
            assert caught.value.clause == "avro: schema text"
        else:
            assert row_of(kind, b"\x0a") == 5


def row_of(kind: object, value: bytes) -> object:
    """Return the value of the column ``a`` of an insert."""
    columns = [{"name": "a", "type": kind}]
    row = {"type": "record", "name": "Value", "fields": columns}
    texts = ("version", "connector", "name", "db", "table")
    members = [{"name": name, "type": "string"} for name in texts]
    source = {
        "type": "record",
        "name": "Source",
        "fields": [*members, {"name": "ts_ms", "type": "long"}],
    }
    fields = [
        {"name": "after", "type": row},
        {"name": "source", "type": source},
        {"name": "op", "type": "string"},
    ]
    text = json.dumps({"type": "record", "name": "Envelope", "fields": fields})
    sent = b"\x00\x00\x00\x00\x01" + value + b"\x061.4\x14postgresql\x02s\x02d\x02t\x00\x02c"
    (event,) = FORMAT.to_events(KafkaMessage(None, sent), context=Context(schemas={"1": text}))
    assert isinstance(event, RowChange)
    assert event.after is not None
    return event.after.values[0]


def test_scales_of_a_schema_are_counted_as_digits() -> None:
    text = (
        '{"type":"record","name":"Key","fields":[{"name":"x","type":{"type":"array","items":'
        '{"type":"bytes","connect.parameters":{"scale":"20000"},"logicalType":"decimal"}}}]}'
    )
    value = b"\x00\x00\x00\x00\x01" + b"\xe8\x07" + b"\x02\x01" * 500 + b"\x00"
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(value, None), context=Context(schemas={"1": text})))
    assert caught.value.clause == "avro: limits"


def test_page_has_every_clause_that_the_code_names() -> None:
    page = (ROOT / FORMAT.page).read_text(encoding="utf-8")
    headings = set(re.findall(r"^### (debezium-avro: .+)$", page, re.MULTILINE))
    folder = Path(cdcwire.formats.debezium_avro.__path__[0])
    named = {
        clause
        for module in folder.glob("*.py")
        for clause in re.findall(r'"(debezium-avro: [a-z0-9 ]+)"', module.read_text("utf-8"))
    }
    assert named == headings


def test_page_names_the_options_that_debezium_json_does_not_have() -> None:
    page = (ROOT / FORMAT.page).read_text(encoding="utf-8")
    own = {"registry", "schema-name-adjustment-mode", "field-name-adjustment-mode"}
    assert own <= {option.name for option in OPTIONS}
    assert all(f"`{name}`" in page for name in own)


def test_truncate_that_the_transform_drops_registers_no_schema() -> None:
    table = Table("t", "s", "d", key=("id",))
    event = SchemaChange("truncate", None, None, table, Position(commit_ms=9))
    assert list(FORMAT.from_events([event]))
    assert not list(FORMAT.from_events([event], context=Context({"transforms": "unwrap"})))


STATEMENT = """CREATE TABLE shop.orders (id int PRIMARY KEY, u bigint unsigned, ti tinyint,
    dt datetime(6), da date, tm time(6), ts timestamp(3), e enum('a','b'), b bit(12), j json)"""
SENT = {
    "u": ("long", None, -1, 2**64 - 1),
    "ti": ("int", None, 5, 5),
    "dt": ("long", "io.debezium.time.MicroTimestamp", 1709210096123456, 1709210096123456),
    "da": ("int", "io.debezium.time.Date", 19782, 19782),
    "tm": ("long", "io.debezium.time.MicroTime", -1, -1),
    "ts": ("string", "io.debezium.time.ZonedTimestamp", "2024-02-29T12:34:56Z", None),
    "e": ("string", "io.debezium.data.Enum", "a", "a"),
    "b": ("bytes", "io.debezium.data.Bits", b"\xaa\x0a", 2730),
    "j": ("string", "io.debezium.data.Json", "{}", "{}"),
    "other": ("long", None, -1, -1),
}


def record(namespace: str, name: str, /, **fields: object) -> dict[str, object]:
    """Return a record of Avro without the members that only Connect has."""
    listed = [{"name": field, "type": kind} for field, kind in fields.items()]
    return {"type": "record", "name": name, "namespace": namespace, "fields": listed}


@pytest.mark.parametrize("transforms", ["none", "unwrap"])
def test_definition_types_columns_without_metadata(transforms: str) -> None:
    (table,) = parse_ddl(STATEMENT, "shop")
    row = record("n.shop.orders", "Value", id="int", **{n: each[0] for n, each in SENT.items()})
    texts = dict.fromkeys(("version", "connector", "name", "db", "table"), "string")
    source = record("n", "Source", **texts, ts_ms="long")
    images = {"before": ["null", row], "after": ["null", "Value"]}
    change = record("n.shop.orders", "Envelope", **images, source=source, op="string")
    values = (1, *(sent for _, _, sent, _ in SENT.values()))
    whole = (None, values, ("3.6.1.Final", "mysql", "n", "shop", "orders", 1), "c")
    plan = plan_of_text(json.dumps(row if transforms == "unwrap" else change))
    out = bytearray(b"\x00\x00\x00\x00\x01")
    plan.write(out, values if transforms == "unwrap" else whole)
    options = {"transforms": transforms, "connector": "mysql"}
    context = Context(options, tables=(table,), schemas={"1": plan.text})
    decoder = RowDecoder(context)
    message = KafkaMessage(None, bytes(out), has_key=False)
    for _ in range(3):
        (event,) = decoder.decode_events(message)
        assert isinstance(event, RowChange)
        assert event.after is not None
        found = dict(zip(event.after.names, event.after.values, strict=True))
        assert found.pop("ts") == "2024-02-29 12:34:56"
        expected = {name: read for name, (_, _, _, read) in SENT.items() if name != "ts"}
        assert found == {"id": 1, **expected}
        sources = {column.name: column.source for column in event.after.columns}
        assert all(sources[name] == known for name, (_, known, _, _) in SENT.items() if known)
