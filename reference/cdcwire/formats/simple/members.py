"""Rules of the JSON, and its members, with the clauses of the page."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError
from cdcwire.core.strict_json import JsonArray, JsonRules, Member, json_kind
from cdcwire.mysql.json_members import INT64_END, MAX_DEPTH, MAX_NAME_BYTES, JsonMembers

RULES = JsonRules(
    text_clause="simple: json text",
    string_clause="simple: json strings",
    limits_clause="simple: limits",
    max_depth=MAX_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
)
FIELDS = "simple: fields"
UNKNOWN = "simple: unknown members"
TYPES = "simple: event types"
ROWS = "simple: rows"
SCHEMAS = "simple: table schemas"
SCHEMA_VERSIONS = "simple: schema versions"
DDL = "simple: ddl events"
BOOTSTRAPS = "simple: bootstrap"
WATERMARKS = "simple: watermarks"
CHECKSUM = "simple: checksum"
HANDLE_KEY_ONLY = "simple: handle key only"
CLAIM_CHECK = "simple: claim check"
COMPRESSION = "simple: compression"
AVRO = "simple: avro"

MEMBERS = JsonMembers(RULES, FIELDS)


def signed(member: Member, clause: str = FIELDS) -> int:
    """Return a 64-bit integer. Raises: DecodeError."""
    return MEMBERS.integer_of(member, -INT64_END, INT64_END, clause)


def texts_of(member: Member, clause: str) -> tuple[str, ...]:
    """Return the strings of an array. Raises: DecodeError."""
    array = array_of(member, clause)
    for index, item in enumerate(array.items):
        if not isinstance(item, str):
            problem = f"it is {json_kind(item)}, not a string"
            raise DecodeError(problem, array.places[2 * index], clause, (member.name, index))
    return tuple(item for item in array.items if isinstance(item, str))


def array_of(member: Member, clause: str) -> JsonArray:
    """Return the array that a member holds. Raises: DecodeError."""
    if not isinstance(member.value, JsonArray):
        problem = f"it is {json_kind(member.value)}, not an array"
        raise DecodeError(problem, member.start, clause, (member.name,))
    return member.value
