"""The signs of Debezium's ``source`` in Avro, whose texts are plain after their lengths."""

from __future__ import annotations

import re
from dataclasses import dataclass

_VERSION = rb"([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.(?:Final|Alpha[0-9]|Beta[0-9]|CR[0-9]))"
_CONNECTORS = rb"([A-Za-z][A-Za-z0-9_-]{2,30})"
_SOURCE = re.compile(rb"([\x10-\x3e])" + _VERSION + rb"([\x06-\x3e])" + _CONNECTORS)


@dataclass(frozen=True, slots=True)
class FoundSource:
    """A version and a connector in the bytes of a datum, and where the version begins."""

    version: str
    connector: str
    offset: int


def source_in(data: bytes) -> FoundSource | None:
    """Return the first source that a datum has: two texts with their lengths, one after another."""
    for found in _SOURCE.finditer(data):
        version, size = found.group(2), found.group(3)[0] // 2
        connector = found.group(4)[:size]
        if found.group(1)[0] == 2 * len(version) and len(connector) == size:
            return FoundSource(version.decode(), connector.decode(), found.start())
    return None
