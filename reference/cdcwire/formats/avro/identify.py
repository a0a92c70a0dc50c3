"""The signs of Avro: the envelope of a registry before a key or value, and the internal values."""

from __future__ import annotations

from cdcwire.apache_avro.envelope import Registry, read_envelope
from cdcwire.apache_avro.sources import schema_of
from cdcwire.core.errors import DecodeError
from cdcwire.core.guess import Guess, json_object
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Reader
from cdcwire.core.schemas import SchemaId
from cdcwire.debezium.source import source_in
from cdcwire.formats.avro.internal import CHECKPOINT_BYTE, DDL_BYTE, DELETE_BYTE, TS_BYTES

_HEAD = 18
_USUAL_IDS = 1 << 24  # registries count from 1
_DDL_MEMBERS = {"query", "type", "commitTs"}
_FRAME = bytes(7)  # of lengths and versions of 8 bytes, as another format has them


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Avro: an envelope, or a value of TiCDC's own."""
    if schema_of(message) is not None:
        return Guess("a schema of Avro in a file", "path", 0, "possible")
    if not isinstance(message, KafkaMessage) or (message.key or b"").startswith(_FRAME):
        return None
    value = message.value
    if not value:
        return _of_delete(message.key) if value is None else None
    if value[0] == DDL_BYTE and set(json_object(value[1:]) or ()) >= _DDL_MEMBERS:
        return Guess("the byte of a DDL, then JSON with query and commitTs", alone="sure",
                     options=_WATERMARK)  # fmt: skip
    if value[0] == CHECKPOINT_BYTE and len(value) == 1 + TS_BYTES:
        return Guess("the byte of a checkpoint, then 8 bytes", if_decoded="likely",
                     options=_WATERMARK)  # fmt: skip
    if value[0] == DELETE_BYTE and len(value) == 1 + TS_BYTES:
        in_key = None if message.key is None else _schema(message.key)
        if in_key is not None:
            return Guess("the byte of a delete with its timestamp, and a key with an envelope",
                         options={"enable-tidb-extension": True, "registry": in_key[0]},
                         facts=_facts(in_key[1]))  # fmt: skip
    return _of_row(message.key, value)


_WATERMARK = {"enable-tidb-extension": True, "avro-enable-watermark": True}


def _of_delete(key: bytes | None) -> Guess | None:
    found = None if key is None else _schema(key)
    if found is None:
        return None
    registry, schema = found
    evidence = "a key with the envelope of a registry, and no value: a delete"
    return Guess(
        evidence, "key", 0, "likely", "possible", {"registry": registry}, facts=_facts(schema)
    )


def _of_row(key: bytes | None, value: bytes) -> Guess | None:
    found = _schema(value)
    if found is None:
        return None
    registry, schema = found
    in_key = None if key is None else _schema(key)
    is_usual = isinstance(schema, str) or 0 < schema < _USUAL_IDS
    both = in_key is not None and in_key[0] == registry
    magic = "00" if registry == "confluent" else "03 00"
    where = "key and value begin" if both else "the value begins"
    if source_in(value) is not None:  # a change in an envelope, which TiCDC's rows are not
        evidence = f"{where} with {magic} and the id of a schema"
        return Guess(evidence, "value", 0, "possible", options={"registry": registry})
    return Guess(
        f"{where} with {magic} and the id of a schema",
        "value",
        0,
        alone="likely" if both or (is_usual and not value.startswith(_FRAME)) else "possible",
        options={"registry": registry},
        facts=_facts(schema if not both or in_key is None else f"{in_key[1]}, {schema}"),
    )


def _facts(schema: SchemaId) -> dict[str, str]:
    return {"schemas": str(schema)}


def _schema(data: bytes) -> tuple[Registry, SchemaId] | None:
    registries: tuple[Registry, ...] = ("confluent", "glue")
    for registry in registries:
        try:
            found = read_envelope(Reader(data[:_HEAD]), registry)
        except DecodeError:
            continue
        if isinstance(found, int) and found < 0:
            continue
        return registry, found
    return None
