"""The signs of Debezium's Avro: the framing of a registry, and ``source`` after it."""

from __future__ import annotations

from cdcwire.apache_avro.envelope import MAGIC, Registry, read_envelope
from cdcwire.apache_avro.sources import schema_of
from cdcwire.core.errors import DecodeError
from cdcwire.core.guess import Guess, Sureness
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Reader
from cdcwire.debezium.shapes import dialect_of
from cdcwire.debezium.source import source_in
from cdcwire.formats.debezium_avro.framing import APICURIO_BYTES, HEAD_BYTES
from cdcwire.formats.debezium_avro.settings import Framing

_HEAD = 18
_ALONE: Sureness = "possible"
_BORDERS = (b"\x0aBEGIN", b"\x06END")
_LONG_HEAD = bytes(5)  # ids of 8 bytes are small


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Debezium's Avro."""
    if schema_of(message) is not None:
        return Guess("a schema of Avro in a file", "path", 0, "possible")
    if not isinstance(message, KafkaMessage):
        return None
    if message.value is None:
        if message.key is None:
            return Guess("neither key nor value, as after a delete", "key", if_decoded="possible")
        framing = _framing(message.key)
        if framing is None:
            return None
        evidence = "a key with the id of a schema, and no value: a tombstone"
        return Guess(evidence, "key", 0, "possible", options={"registry": framing})
    return _of_value(message.value)


def _of_value(value: bytes) -> Guess | None:
    framing, found = _framing(value), source_in(value)
    alone: Sureness
    options: dict[str, OptionValue]
    if found is None:
        if framing is None:
            return None
        evidence, alone = "the value begins with the id of a schema", _ALONE
        if value[HEAD_BYTES[framing] :].startswith(_BORDERS):
            evidence, alone = "the id of a schema, then BEGIN or END of a transaction", "likely"
        options = {"registry": framing}
        return Guess(evidence, "value", 0, "sure", alone, options)
    options = {"registry": framing or "apicurio-headers"}
    dialect = "ticdc" if found.connector == "TiCDC" else dialect_of(found.version)
    if dialect is not None:
        options["dialect"] = dialect
    return Guess(
        "the version and the connector of a source, as a change has them in Avro",
        "value",
        found.offset,
        alone="sure" if framing is not None else "likely",
        options=options,
        facts={"version": found.version, "connector": found.connector},
    )


def _framing(data: bytes) -> Framing | None:
    if data.startswith(_LONG_HEAD):
        return "apicurio" if len(data) >= APICURIO_BYTES else None
    framing: Registry = "confluent" if data[:1] == bytes((MAGIC,)) else "glue"
    try:
        read_envelope(Reader(data[:_HEAD]), framing)
    except DecodeError:
        return None
    return framing if len(data) >= HEAD_BYTES[framing] else None
