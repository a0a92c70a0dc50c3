"""Claim-check files: a full message stored beside the queue, as one JSON object of base64.

    {"key":"<Kafka key>","value":"<Kafka value>"}

Both are those of a complete message of one row. Producers name a file by a random UUID; a codec has
neither a clock nor random numbers, so the name here is a UUID made from the content.
"""

from __future__ import annotations

from uuid import UUID, uuid5

from cdcwire.errors import DecodeError, EncodeError, step
from cdcwire.format import Compression
from cdcwire.open_protocol.members import VALUE_RULES, expect_object, required, text_of
from cdcwire.open_protocol.message import EVENT_ROW, Dialect, Item, Key, Message
from cdcwire.open_protocol.values import read_base64, write_base64
from cdcwire.open_protocol.wire import decode, encode
from cdcwire.strict_json import Rules, read_json

CLAUSE = "open-protocol: claim check"
_RULES = Rules(
    text_clause=CLAUSE,
    string_clause=CLAUSE,
    limits_clause=VALUE_RULES.limits_clause,
    max_depth=VALUE_RULES.max_depth,
    max_name_bytes=VALUE_RULES.max_name_bytes,
)
_NAMESPACE = UUID("6f6b9d1e-1f0c-5b0a-9d5e-0c3f5a7e2b61")


def read_file(data: bytes, compression: Compression | None = None) -> Item:
    """Return the one row of a claim-check file.

    Offsets of errors count in the file; under the paths ``key`` and ``value`` and the number of an
    item they count in the decoded bytes of that member.
    Raises: DecodeError.
    """
    document = read_json(data, _RULES)
    known = expect_object(document.value, document.start, CLAUSE).by_name()
    sides = []
    for name in ("key", "value"):
        member = required(known, name, document.end, CLAUSE)
        text = text_of(member, CLAUSE)
        with step(name):
            sides.append(read_base64(text, member.start, CLAUSE))
    message = decode(sides[0], sides[1], compression=compression)
    if len(message.items) != 1 or message.items[0].key.t != EVENT_ROW:
        raise DecodeError("the stored message is not one row", 0, CLAUSE)
    item = message.items[0]
    if item.key.ccl:
        raise DecodeError("the stored message has a claim check of its own", 0, CLAUSE, ("key", 0))
    return item


def check_belongs(stored: Key, sent: Key) -> None:
    """Raise DecodeError unless the stored row is of the event that points to it."""
    for name in ("ts", "scm", "tbl", "rid", "ptn"):
        if getattr(stored, name) != getattr(sent, name):
            problem = f"the stored row is another one: its {name} differs from the message's"
            raise DecodeError(problem, 0, CLAUSE, ("key", 0, name))


def write_file(item: Item, dialect: Dialect, compression: Compression | None) -> tuple[str, bytes]:
    """Return name and content of the file that stores a row. Raises: EncodeError."""
    if item.key.ohk or item.key.ccl:
        raise EncodeError("a stored row is a full one, without ohk and ccl", CLAUSE)
    key, value = encode(Message((item,)), dialect, compression)
    text = f'{{"key":"{write_base64(key)}","value":"{write_base64(value)}"}}'
    return f"{uuid5(_NAMESPACE, text)}.json", text.encode("ascii")


def location(storage_uri: str, name: str) -> str:
    """Return the location that the key tells: the file below the storage's URI."""
    return f"{storage_uri.rstrip('/')}/{name}" if storage_uri else name
