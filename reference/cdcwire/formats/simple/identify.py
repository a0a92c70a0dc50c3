"""The signs of a `simple` message: the members of its JSON, or the first bytes of its datum."""

from __future__ import annotations

from cdcwire.core.guess import Guess, JsonObject, json_object, offset_of
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.formats.simple.avro_wire import FIRST_BYTE, MESSAGE_TYPES
from cdcwire.formats.simple.message import CLASSES, RECORDS, Watermark
from cdcwire.mysql.identify import compressions_of

_MEMBERS = RECORDS[Watermark].required  # a watermark has no other members
_AVRO_STARTS = {bytes((FIRST_BYTE, 2 * kind, 2 * kind, 2)) for kind in range(len(MESSAGE_TYPES))}


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is `simple`."""
    if not isinstance(message, KafkaMessage) or not message.value:
        return None
    value = message.value
    found = json_object(value)
    if found is not None:
        return _of_object(found, value)
    if value[:4] in _AVRO_STARTS:
        kind = MESSAGE_TYPES[value[1] // 2]
        return Guess(
            f"the first bytes are those of the record {kind} in the union of all records",
            alone="likely",
            options={"encoding-format": "avro"},
        )
    alternatives = compressions_of(value) if message.key is None else ()
    if not alternatives:
        return None
    avro = tuple({"encoding-format": "avro", **each} for each in alternatives)
    evidence = "bytes that begin as a compressed value does"
    return Guess(evidence, alternatives=(*alternatives, *avro))


def _of_object(found: JsonObject, value: bytes) -> Guess | None:
    if not found.keys() >= _MEMBERS or found["type"] not in CLASSES:
        return None
    options: dict[str, OptionValue] = {}
    if found.get("claimCheckLocation"):
        options["large-message-handle-option"] = "claim-check"
    elif found.get("handleKeyOnly") is True:
        options["large-message-handle-option"] = "handle-key-only"
    return Guess(
        "the members version, type, commitTs and buildTs",
        "value",
        offset_of(value, "buildTs"),
        alone="sure",
        options=options,
    )
