"""The payload of a message in Kafka Connect's JSON, and the signs of a tombstone."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.core.guess import Guess, JsonObject, json_object
from cdcwire.core.message import KafkaMessage, Message

WITH_SCHEMA = "schema and payload"
_NOTHING: JsonObject = {"schema": None, "payload": None}


@dataclass(frozen=True, slots=True)
class Part:
    """A payload, and whether it is in an envelope, with a schema. ``start``: where it begins."""

    payload: JsonObject
    start: int
    envelope: str


def part_of(value: bytes | None) -> Part | None:
    """Return the payload that is an object; None for other bytes."""
    found = json_object(value)
    if found is None or value is None:
        return None
    payload = found.get("payload")
    if found.keys() == {"payload"} and isinstance(payload, dict):
        return Part(payload, max(value.rfind(b'"payload"'), 0), "payload alone in an envelope")
    if found.keys() != {"schema", "payload"}:
        return Part(found, 0, "payload alone")
    schema = found["schema"]
    is_schema = schema is None or (isinstance(schema, dict) and "type" in schema)
    if not isinstance(payload, dict) or not is_schema:
        return None
    envelope = "payload with null as schema" if schema is None else WITH_SCHEMA
    return Part(payload, max(value.rfind(b'"payload"'), 0), envelope)


def lacks_schema(message: Message) -> bool:
    """Return whether the value of a message has a payload without its schema."""
    part = part_of(message.value) if isinstance(message, KafkaMessage) else None
    return part is not None and part.envelope != WITH_SCHEMA


def tombstone_guess(message: Message) -> Guess | None:
    """Return a guess for a message without value, whose key is JSON or missing."""
    if isinstance(message, KafkaMessage) and json_object(message.value) == _NOTHING:
        return Guess("an envelope of nothing, as after a delete", "value", if_decoded="possible")
    if not isinstance(message, KafkaMessage) or message.value is not None:
        return None
    if message.key is not None and json_object(message.key) is None:
        return None
    return Guess("a message without value, as after a delete", "key", if_decoded="possible")
