"""``ValueDeserializer``: called as each Kafka client calls a deserializer."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from cdcwire import Change, DecodeError, Decoder, KafkaMessage, Marker, RowChange
from cdcwire.kafka import ValueDeserializer
from cdcwire_conformance.corpus.store import load_case

ROW = b'{"id":1,"v":2}'
HEADERS: list[tuple[str, bytes | None]] = [("__op", b"d"), ("__table", b"t"), ("empty", None)]


@dataclass
class SerializationContext:
    """The context that confluent-kafka passes with a value."""

    topic: str
    headers: list[tuple[str, bytes | None]] | None


def deserializer(**options: str) -> ValueDeserializer[RowChange]:
    return ValueDeserializer(Decoder("debezium-json", options={"transforms": "unwrap", **options}))


def test_value_alone_is_decoded() -> None:
    """aiokafka calls it so, and kafka-python before version 3."""
    [change] = ValueDeserializer(Decoder("maxwell-json", rows=dict))(
        b'{"database":"shop","table":"t","type":"insert","ts":1,"data":{"id":7}}'
    )
    assert isinstance(change, Change)
    assert change.after == {"id": 7}


def test_headers_of_confluent_count() -> None:
    [change] = deserializer()(ROW, SerializationContext("orders", HEADERS))
    assert isinstance(change, RowChange)
    assert (change.op, change.table.name) == ("delete", "t")


def test_headers_of_confluent_may_be_none() -> None:
    with pytest.raises(DecodeError, match="the table of this row is not known"):
        deserializer()(ROW, SerializationContext("orders", None))


def test_headers_of_kafka_python_count() -> None:
    [change] = deserializer().deserialize("orders", HEADERS, ROW)
    assert isinstance(change, RowChange)
    assert (change.op, change.table.name) == ("delete", "t")


def test_null_value_is_a_tombstone() -> None:
    [marker] = ValueDeserializer(Decoder("debezium-json"))(None)
    assert isinstance(marker, Marker)
    assert marker.what == "tombstone"


def test_key_is_unknown_and_not_none() -> None:
    value = load_case("debezium-json/connectors/db2-1.9-delete").messages[0].value
    decoder = Decoder("debezium-json")
    [change] = ValueDeserializer(decoder)(value)
    [without_key] = decoder.decode(KafkaMessage(None, value))
    assert isinstance(change, RowChange)
    assert isinstance(without_key, RowChange)
    assert (change.table.key, without_key.table.key) == (None, ())


def test_format_that_needs_the_key_refuses_the_value() -> None:
    [message] = load_case("open-protocol/rows/update").messages
    with pytest.raises(DecodeError, match="no Kafka key"):
        ValueDeserializer(Decoder("open-protocol"))(message.value)


def test_value_of_another_type_is_named() -> None:
    with pytest.raises(TypeError, match="the value is of type str; it must be bytes or None"):
        deserializer()("{}")  # type: ignore[arg-type]  # as after another deserializer


def test_argument_of_another_type_is_named() -> None:
    with pytest.raises(TypeError, match="the argument is 'maxwell-json'; it must be a Decoder"):
        ValueDeserializer("maxwell-json")  # type: ignore[arg-type]  # the name alone


def test_kafka_python_takes_it_for_its_own() -> None:
    """Otherwise kafka-python warns, and leaves out the headers."""
    client = pytest.importorskip("kafka.serializer", reason="kafka-python is not installed")
    if not hasattr(client.Deserializer, "register"):
        pytest.skip("kafka-python before version 3 calls any function")
    assert isinstance(deserializer(), client.Deserializer)
