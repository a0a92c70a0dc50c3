"""The columns of a Kafka key are the same the first time, by the plain reader, and later."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.apache_avro import schema as avro
from cdcwire.apache_avro.binary import write_datum
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.formats.debezium_avro import fast as fast_keys_module
from cdcwire.formats.debezium_avro.fast import KeyColumns
from cdcwire_generators.strategies import damaged_bytes

ROUTER = "__dbz__physicalTableIdentifier"
KEY = {
    "type": "record",
    "name": "Key",
    "fields": [
        {"name": "a", "type": {"type": "int", "connect.type": "int16"}},
        {"name": "b", "type": ["null", {"type": "bytes", "connect.name": "io.debezium.data.Bits"}]},
        {
            "name": "c",
            "type": {"type": "string", "connect.name": "io.debezium.time.ZonedTimestamp"},
        },
        {"name": ROUTER, "type": "string"},
    ],
}
TEXT = json.dumps(KEY)
HEADS: dict[str, bytes] = {
    "confluent": b"\x00\x00\x00\x00\x01",
    "apicurio": b"\x00" + bytes(7) + b"\x01",
    "apicurio-headers": b"",
}
HEADERS = (("apicurio.key.globalId", bytes(7) + b"\x01"),)
each_registry = pytest.mark.parametrize("registry", HEADS)


def context(registry: str) -> Context:
    options: dict[str, OptionValue] = {"registry": registry}
    return Context(options, schemas={"1": TEXT})


def key(values: tuple[object, ...], registry: str = "confluent") -> KafkaMessage:
    out = bytearray(HEADS[registry])
    write_datum(out, avro.parse_schema(TEXT), values)
    return KafkaMessage(bytes(out), b"", HEADERS)


def outcome(columns: KeyColumns, message: KafkaMessage) -> object:
    try:
        return repr(columns.content(message))
    except DecodeError as error:
        return type(error), error.args, error.path


GOOD = (7, b"\x05", "2024-02-29T01:02:03+01:00", "shop.orders_1")


@each_registry
def test_columns_have_the_values_of_the_model_without_the_router_s_field(registry: str) -> None:
    columns = KeyColumns(context(registry))
    for _ in range(2):
        found = columns.content(key(GOOD, registry))
        assert found is not None
        assert found.columns.names == ("a", "b", "c")
        assert found.columns.values == (7, 5, "2024-02-29 00:02:03")


def test_second_key_of_a_schema_is_read_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = KeyColumns(context("confluent"))
    expected = outcome(columns, key(GOOD))
    monkeypatch.setattr(fast_keys_module, "read_part", None)
    assert outcome(columns, key(GOOD)) == expected


def test_message_without_key_has_no_columns() -> None:
    assert KeyColumns(context("confluent")).content(KafkaMessage(None, b"")) is None


VALUES = st.tuples(
    st.integers(-(2**31), 2**31 - 1) | st.integers(-40000, 40000),
    st.none() | st.binary(max_size=9),
    st.sampled_from(["2024-02-29T01:02:03Z", "2024-02-30T01:02:03Z", "soon"]) | st.text(max_size=5),
    st.text(max_size=5),
)


@each_registry
@given(values=VALUES, data=st.data())
def test_key_is_read_as_the_plain_reader_reads_it(
    registry: str, values: tuple[object, ...], data: st.DataObject
) -> None:
    columns = KeyColumns(context(registry))
    columns.content(key(GOOD, registry))
    message = key(values, registry)
    assert message.key is not None
    damaged = KafkaMessage(data.draw(damaged_bytes(message.key)), b"", HEADERS)
    for each in (message, damaged):
        assert outcome(columns, each) == outcome(KeyColumns(context(registry)), each)
