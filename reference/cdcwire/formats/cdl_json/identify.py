"""The signs of CDL's JSON, message version 1.0."""

from __future__ import annotations

import re

from cdcwire.connect.identify import part_of, tombstone_guess
from cdcwire.core.guess import Guess, OptionValues, offset_of
from cdcwire.core.message import KafkaMessage, Message

_MEMBERS = {"DATA_STORE", "OPERATION", "TABLE_NAME"}
_PREFIX = re.compile(rb'"name":"([A-Za-z0-9_.]{1,200})\.cdc\.data\.')
_USUAL_PREFIX = "com.xxx"


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is CDL's: the members of its payload."""
    if not isinstance(message, KafkaMessage):
        return None
    part = part_of(message.value)
    if part is None or message.value is None:
        return tombstone_guess(message)
    if not part.payload.keys() >= _MEMBERS:
        return None
    facts = {"envelope": part.envelope}
    version = part.payload.get("message_version")
    if isinstance(version, str):
        facts["version"] = version
    return Guess(
        "the members DATA_STORE, OPERATION and TABLE_NAME",
        "value",
        offset_of(message.value, "DATA_STORE"),
        alone="sure",
        options=_options(message.value),
        facts=facts,
    )


def _options(value: bytes) -> OptionValues:
    found = _PREFIX.search(value)
    if found is None or found[1].decode() == _USUAL_PREFIX:
        return {}
    return {"name-prefix": found[1].decode()}
