"""Members of the JSON objects: what they may hold, with the clause that says so.

A missing member is reported at the closing brace of its object, a wrong value where it begins.
Members that the format does not name are ignored.
"""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError, Path
from cdcwire.core.strict_json import JsonObject, JsonRules, JsonValue, Member, Number, json_kind
from cdcwire.formats.open_protocol.message import Dialect
from cdcwire.golang.json_text import json_string

UINT64_END = 1 << 64
INT64_END = 1 << 63
MAX_DEPTH = 8
MAX_INTEGER_DIGITS = 20  # of 2**64 - 1
MAX_NAME_BYTES = 1024  # TiDB has 64 characters

VALUE_RULES = JsonRules(
    text_clause="open-protocol: json text",
    string_clause="open-protocol: json strings",
    limits_clause="open-protocol: limits",
    max_depth=MAX_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
)
KEY_RULES = JsonRules(
    text_clause=VALUE_RULES.text_clause,
    string_clause=VALUE_RULES.string_clause,
    limits_clause=VALUE_RULES.limits_clause,
    max_depth=MAX_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
    may_repeat=frozenset({"ohk"}),  # the ticdc dialect writes it twice with a claim check
)


def expect_object(value: JsonValue, start: int, clause: str, path: Path = ()) -> JsonObject:
    """Return ``value`` if it is an object. Raises: DecodeError."""
    if not isinstance(value, JsonObject):
        raise DecodeError(f"it is {json_kind(value)}, not an object", start, clause, path)
    return value


def required(known: dict[str, Member], name: str, end: int, clause: str) -> Member:
    """Return a member. Raises: DecodeError at the object's closing brace when it is missing."""
    member = known.get(name)
    if member is None:
        raise DecodeError(f"member {name!r} is missing", end - 1, clause)
    return member


def integer_of(member: Member, low: int, high: int, clause: str) -> int:
    """Return an integer from ``low`` up to, not with, ``high``. Raises: DecodeError."""
    return read_integer(member.value, member.start, low, high, clause, (member.name,))


def read_integer(
    value: JsonValue, start: int, low: int, high: int, clause: str, path: Path = ()
) -> int:
    """Return ``value`` as an integer; its length is checked before it is converted."""
    if not isinstance(value, Number):
        raise DecodeError(f"it is {json_kind(value)}, not an integer", start, clause, path)
    if not value.is_integer:
        problem = f"the integer {value.text:.40} is written with a fraction or exponent"
        raise DecodeError(problem, start, clause, path)
    if value.digits > MAX_INTEGER_DIGITS:
        problem = f"an integer has {value.digits} digits, more than {MAX_INTEGER_DIGITS}"
        raise DecodeError(problem, start, "open-protocol: limits", path)
    number = int(value.text)
    if not low <= number < high:
        problem = f"{number} is not in {low} to {high - 1}"
        raise DecodeError(problem, start, clause, path)
    return number


def text_of(member: Member, clause: str) -> str:
    """Return a string. Raises: DecodeError."""
    if not isinstance(member.value, str):
        problem = f"it is {json_kind(member.value)}, not a string"
        raise DecodeError(problem, member.start, clause, (member.name,))
    return member.value


def flag_of(member: Member, clause: str) -> bool:
    """Return true or false. Raises: DecodeError."""
    if not isinstance(member.value, bool):
        problem = f"it is {json_kind(member.value)}, not true or false"
        raise DecodeError(problem, member.start, clause, (member.name,))
    return member.value


def name_of(member: Member, clause: str) -> str:
    """Return the name of a schema or table. Raises: DecodeError, also when it is too long."""
    name = text_of(member, clause)
    if is_too_long(name):
        problem = f"a name has more than {MAX_NAME_BYTES} bytes"
        raise DecodeError(problem, member.start, "open-protocol: limits", (member.name,))
    return name


def is_too_long(name: str) -> bool:
    """Return whether a name has more than MAX_NAME_BYTES bytes in UTF-8."""
    return len(name) > MAX_NAME_BYTES or len(name.encode()) > MAX_NAME_BYTES


def write_text(text: str, dialect: Dialect) -> str:
    """Return text as a JSON string of the dialect. Raises: EncodeError for a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"U+{ord(text[error.start]):04X} is no character"
        raise EncodeError(problem, "open-protocol: json strings") from None
    return write_escaped(text, dialect)


def write_name(name: str, dialect: Dialect) -> str:
    """Return a name as a JSON string. Raises: EncodeError, also when it is too long."""
    text = write_text(name, dialect)
    if is_too_long(name):
        problem = f"a name has more than {MAX_NAME_BYTES} bytes"
        raise EncodeError(problem, "open-protocol: limits")
    return text


def write_escaped(text: str, dialect: Dialect) -> str:
    """Return text, in which lone surrogates may stand for bad bytes, as a JSON string."""
    return json_string(text, escape_html=dialect == "tiflow")


def write_integer(number: int, low: int, high: int, clause: str) -> str:
    """Return the digits of an integer. Raises: EncodeError outside ``low`` up to ``high``."""
    if not isinstance(number, int) or isinstance(number, bool) or not low <= number < high:
        raise EncodeError(f"{number!r:.40} is no integer in {low} to {high - 1}", clause)
    return str(number)
