"""The signs of Maxwell's JSON: its types in small letters, and its members."""

from __future__ import annotations

from cdcwire.core.guess import Guess, JsonObject, OptionValues, json_object, offset_of
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.formats.maxwell_json.message import BOOTSTRAP_MARKS, ROW_TYPES, SCHEMA_CHANGES

_OTHER_FORMATS = {"isDdl", "es"}


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Maxwell's."""
    if not isinstance(message, KafkaMessage):
        return None
    hashed = _is_hash_key(message.key)
    array = (message.key or b"").startswith(b"[")
    key: OptionValues = {"kafka_key_format": "hash" if hashed else "array"}
    if message.value is None:
        if not (hashed or array):
            return None
        evidence = "a key with database and table, and no value"
        return Guess(evidence, "key", if_decoded="likely", options=key)
    found = json_object(message.value)
    if found is None or found.keys() & _OTHER_FORMATS:
        return None
    kind = found.get("type")
    if not {"database", "ts"} <= found.keys() or not isinstance(kind, str):
        return None
    if kind not in ROW_TYPES and kind not in SCHEMA_CHANGES:
        return None
    return Guess(
        f"the member type is {kind!r}, with database and ts",
        "value",
        offset_of(message.value, "type"),
        alone="likely",
        options={**_options(found, kind), **(key if hashed or array else {})},
    )


def _is_hash_key(key: bytes | None) -> bool:
    found = json_object(key)
    return found is not None and {"database", "table"} <= found.keys()


def _options(found: JsonObject, kind: str) -> OptionValues:
    options: dict[str, OptionValue] = {}
    if kind in SCHEMA_CHANGES or kind in BOOTSTRAP_MARKS:
        return options
    if "primary_key" in found:
        options["output_primary_keys"] = True
    if "primary_key_columns" in found:
        options["output_primary_key_columns"] = True
    return options
