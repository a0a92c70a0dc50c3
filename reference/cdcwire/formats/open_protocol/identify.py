"""The signs of an Open Protocol message: the frames of key and value, and their members."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError
from cdcwire.core.guess import Guess, OptionValues, json_object
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.formats.open_protocol.message import DDL, KEY
from cdcwire.formats.open_protocol.wire import ItemBounds, read_key_frame, read_value_frame
from cdcwire.mysql.identify import compressions_of

_VALUE_MEMBERS = ({"u"}, {"d"}, {"u", "p"}, DDL.required)
_SEEN = 8  # items that are looked into


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Open Protocol: its key, or the frame of its value."""
    if not isinstance(message, KafkaMessage):
        return None
    return _of_value(message.value or b"") if message.key is None else _of_key(message)


def _of_key(message: KafkaMessage) -> Guess | None:
    key, value = message.key or b"", message.value or b""
    try:
        places = read_key_frame(key)
    except DecodeError:
        return None
    first = json_object(_item(key, places[0]))
    if first is None or not KEY.required <= first.keys():
        return None
    values = _places(value)
    alternatives = _compressions(value, values) if values else ()
    return Guess(
        "the key has batch version 1, and an item with the members ts and t",
        "key",
        0,
        alone="sure",
        options=_options(key, places, value, values),
        alternatives=({}, *alternatives, {"dialect": "ticdc"}),
        facts={"version": "1", "batch": "one item" if len(places) == 1 else "several items"},
    )


def _of_value(value: bytes) -> Guess | None:
    """Return what a value alone shows: its key is missing, so it cannot be decoded."""
    places = _places(value)
    first = json_object(_item(value, places[0])) if places else None
    if first is None or set(first) not in _VALUE_MEMBERS:
        return None
    members = ", ".join(sorted(first))
    evidence = (
        f"a length of 8 bytes, then JSON with the members {members}; the Kafka key is missing"
    )
    return Guess(evidence, alone="likely", facts={"batch version": "unknown: no key"})


def _places(value: bytes) -> list[ItemBounds]:
    try:
        return read_value_frame(value)
    except DecodeError:
        return []


def _item(data: bytes, place: ItemBounds) -> bytes:
    return data[place[0] : place[1]]


def _compressions(value: bytes, places: list[ItemBounds]) -> tuple[OptionValues, ...]:
    for place in places[:_SEEN]:
        item = _item(value, place)
        if item and not item.startswith(b"{"):
            return compressions_of(item)
    return ()


def _options(
    key: bytes, keys: list[ItemBounds], value: bytes, values: list[ItemBounds]
) -> OptionValues:
    """Return the settings that items show."""
    found: dict[str, OptionValue] = {}
    for place in keys[:_SEEN]:
        item = _item(key, place)
        members = json_object(item) or {}
        if item.count(b'"ohk":') > 1:  # as the newer producer has it with a claim check
            found["dialect"] = "ticdc"
        if members.get("ccl"):
            found["large-message-handle-option"] = "claim-check"
        elif members.get("ohk") is True:
            found["large-message-handle-option"] = "handle-key-only"
    for place in values[:_SEEN]:
        row = json_object(_item(value, place)) or {}
        new, old = row.get("u"), row.get("p")
        if isinstance(new, dict) and isinstance(old, dict) and old and old.keys() < new.keys():
            found["only-output-updated-columns"] = True
    return found
