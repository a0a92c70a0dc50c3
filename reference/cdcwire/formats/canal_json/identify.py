"""The signs of Canal-JSON: the members of its objects, in a queue or in files."""

from __future__ import annotations

from cdcwire.core.guess import (
    Guess,
    JsonObject,
    OptionValues,
    first_json_object,
    json_object,
    offset_of,
)
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.formats.canal_json.settings import EXTENSION
from cdcwire.formats.canal_json.wire import MESSAGE
from cdcwire.mysql.settings import compressions_of
from cdcwire.storage.identify import identify_other_file, place_of

_MEMBERS = MESSAGE.required
_EXTENSION = {"enable-tidb-extension": True}


def identify(message: Message) -> Guess | None:
    """Return what shows that a message or a file is Canal-JSON."""
    if isinstance(message, StoredFile):
        return _of_file(message)
    return _of_message(message)


def _of_message(message: KafkaMessage) -> Guess | None:
    value = message.value or b""
    found = json_object(value)
    if found is not None:
        return _of_object(found, value)
    if message.key is None and not value:
        return Guess("no bytes, which a consumer skips", if_decoded="possible")
    alternatives = compressions_of(value) if message.key is None else ()
    if not alternatives:
        return None
    return Guess(
        "bytes that begin as a compressed value does",
        options=_EXTENSION,
        alternatives=alternatives,
    )


def _of_object(found: JsonObject, value: bytes) -> Guess | None:
    if not found.keys() >= _MEMBERS:
        return None
    return Guess(
        "the members isDdl, es and type",
        "value",
        offset_of(value, "isDdl"),
        alone="sure",
        options=_options(found),
    )


def _options(found: JsonObject) -> OptionValues:
    options: dict[str, OptionValue] = {}
    tidb = found.get("_tidb")
    if "gtid" in found:
        options["dialect"] = "canal"
    if isinstance(tidb, dict):
        options["enable-tidb-extension"] = True
        if tidb.get("claimCheckLocation"):
            options["large-message-handle-option"] = "claim-check"
        elif tidb.get("onlyHandleKey"):
            options["large-message-handle-option"] = "handle-key-only"
        types = found.get("mysqlType")
        if isinstance(types, dict) and any("(" in str(text) for text in types.values()):
            options["content-compatible"] = True
    return options


def _of_file(file: StoredFile) -> Guess | None:
    other = identify_other_file(file, EXTENSION)
    if other is not None:
        return other
    place = place_of(file, EXTENSION)
    if place is None:
        return None
    storage: OptionValues = {"transport": "storage", **place.options}
    if not file.value:
        evidence = f"a path of a storage sink with {EXTENSION}, without bytes"
        return None if place.path is None else Guess(
            evidence, "path", if_decoded="likely", options=storage, alternatives=place.alternatives
        )  # fmt: skip
    first = first_json_object(file.value)
    if first is None or not first[0].keys() >= _MEMBERS:
        return None
    terminator = _terminator(file.value, first[1])
    return Guess(
        "the members isDdl, es and type, and a path of a storage sink"
        if place.path
        else "the members isDdl, es and type",
        "value",
        offset_of(file.value, "isDdl"),
        if_decoded="sure" if place.path else "likely",
        alone="sure" if place.path else "likely",
        options={**storage, **_options(first[0]), "terminator": terminator},
        alternatives=place.alternatives,
    )


def _terminator(value: bytes, end: int) -> str:
    """Return the text between two objects, or after the only one."""
    rest = value[end:]
    next_object = rest.find(b'{"')
    text = rest if next_object < 0 else rest[:next_object]
    return text[:16].decode("utf-8", "replace") or "\r\n"
