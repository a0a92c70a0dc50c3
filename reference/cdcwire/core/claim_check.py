"""Claim-check files: a full message stored beside the queue, as one JSON object of base64.

    {"key":"<Kafka key>","value":"<Kafka value>"}

A message without a key has the member ``null``. Producers name a file by a random UUID; a codec has
neither a clock nor random numbers, so the name here is a UUID made from the content.
"""

from __future__ import annotations

from uuid import UUID, uuid5

from cdcwire.core.base64_text import read_base64, write_base64
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.strict_json import JsonObject, JsonRules, json_kind, read_json

_NAMESPACE = UUID("6f6b9d1e-1f0c-5b0a-9d5e-0c3f5a7e2b61")


def read_claim_check(data: bytes, clause: str, rules: JsonRules) -> tuple[bytes | None, bytes]:
    """Return the Kafka key and value that a file holds. The key may be null.

    ``clause``: the one of the format that speaks of claim checks; ``rules``: its limits.
    Raises: DecodeError, with offsets in the file.
    """
    own_rules = JsonRules(
        clause, clause, rules.limits_clause, rules.max_depth, rules.max_name_bytes
    )
    document = read_json(data, own_rules)
    if not isinstance(document.value, JsonObject):
        problem = f"it is {json_kind(document.value)}, not an object"
        raise DecodeError(problem, document.start, clause)
    known = document.value.by_name()
    sides: list[bytes | None] = []
    for name in ("key", "value"):
        member = known.get(name)
        if member is None:
            raise DecodeError(f"member {name!r} is missing", document.end - 1, clause)
        with step(name):
            if member.value is None and name == "key":
                sides.append(None)
            elif isinstance(member.value, str):
                sides.append(read_base64(member.value, member.start, clause))
            else:
                problem = f"it is {json_kind(member.value)}, not a string"
                raise DecodeError(problem, member.start, clause)
    key, value = sides
    return key, value or b""


def write_claim_check(key: bytes | None, value: bytes) -> tuple[str, bytes]:
    """Return name and content of the file that stores a message."""
    key_text = "null" if key is None else f'"{write_base64(key)}"'
    text = f'{{"key":{key_text},"value":"{write_base64(value)}"}}'
    return f"{uuid5(_NAMESPACE, text)}.json", text.encode("ascii")


def location(storage_uri: str, name: str) -> str:
    """Return the location that a message tells: the file below the storage's URI."""
    return f"{storage_uri.rstrip('/')}/{name}" if storage_uri else name
