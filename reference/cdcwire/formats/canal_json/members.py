"""Members of the JSON objects: what they may hold, with the clause that says so.

A missing member is reported at the closing brace of its object, a wrong value where it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cdcwire.core.errors import DecodeError, EncodeError, Path, step
from cdcwire.core.strict_json import JsonObject, JsonRules, JsonValue, Member, Number, json_kind
from cdcwire.formats.canal_json.message import Dialect, Unknown
from cdcwire.golang.json_text import easyjson_string, json_string

INT32_END = 1 << 31
INT64_END = 1 << 63
UINT64_END = 1 << 64
MAX_DEPTH = 8
MAX_INTEGER_DIGITS = 20  # of 2**64 - 1
MAX_NAME_BYTES = 1024  # TiDB has 64 characters

RULES = JsonRules(
    text_clause="canal-json: json text",
    string_clause="canal-json: json strings",
    limits_clause="canal-json: limits",
    max_depth=MAX_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
)
CLAUSE_MEMBERS = "canal-json: members"

Members = Mapping[str, Member]


def expect_object(value: JsonValue, start: int, clause: str, path: Path = ()) -> JsonObject:
    """Return ``value`` if it is an object. Raises: DecodeError."""
    if not isinstance(value, JsonObject):
        raise DecodeError(f"it is {json_kind(value)}, not an object", start, clause, path)
    return value


def required(known: Members, name: str, end: int) -> Member:
    """Return a member. Raises: DecodeError at the object's closing brace when it is missing."""
    member = known.get(name)
    if member is None:
        raise DecodeError(f"member {name!r} is missing", end - 1, CLAUSE_MEMBERS)
    return member


def present(known: Members, name: str) -> Member | None:
    """Return a member, or None where it is null or not there."""
    member = known.get(name)
    return None if member is None or member.value is None else member


def read_integer(value: JsonValue, start: int, low: int, high: int, clause: str) -> int:
    """Return an integer from ``low`` up to, not with, ``high``. Raises: DecodeError."""
    if not isinstance(value, Number):
        raise DecodeError(f"it is {json_kind(value)}, not an integer", start, clause)
    if not value.is_integer:
        problem = f"the integer {value.text:.40} is written with a fraction or exponent"
        raise DecodeError(problem, start, clause)
    if value.digits > MAX_INTEGER_DIGITS:
        problem = f"an integer has {value.digits} digits, more than {MAX_INTEGER_DIGITS}"
        raise DecodeError(problem, start, RULES.limits_clause)
    number = int(value.text)
    if not low <= number < high:
        raise DecodeError(f"{number} is not in {low} to {high - 1}", start, clause)
    return number


def integer_of(member: Member, low: int, high: int, clause: str = CLAUSE_MEMBERS) -> int:
    """Return the integer that a member holds. Raises: DecodeError."""
    with step(member.name):
        return read_integer(member.value, member.start, low, high, clause)


def text_of(member: Member, clause: str = CLAUSE_MEMBERS) -> str:
    """Return the string that a member holds. Raises: DecodeError."""
    if not isinstance(member.value, str):
        problem = f"it is {json_kind(member.value)}, not a string"
        raise DecodeError(problem, member.start, clause, (member.name,))
    return member.value


def name_of(member: Member) -> str:
    """Return the name of a schema or table. Raises: DecodeError, also when it is too long."""
    name = text_of(member)
    if is_too_long(name):
        raise DecodeError(_TOO_LONG, member.start, RULES.limits_clause, (member.name,))
    return name


def flag_of(member: Member, clause: str = CLAUSE_MEMBERS) -> bool:
    """Return true or false. Raises: DecodeError."""
    if not isinstance(member.value, bool):
        problem = f"it is {json_kind(member.value)}, not true or false"
        raise DecodeError(problem, member.start, clause, (member.name,))
    return member.value


def unknown_of(found: JsonObject, known: frozenset[str], data: bytes) -> Unknown:
    """Return the members that the format does not name, as they stand there."""
    return tuple(
        (member.name, data[member.start : member.end].decode())
        for member in found.members
        if member.name not in known
    )


def is_too_long(name: str) -> bool:
    """Return whether a name has more than MAX_NAME_BYTES bytes in UTF-8."""
    return len(name) > MAX_NAME_BYTES or len(name.encode()) > MAX_NAME_BYTES


def write_text(text: str, dialect: Dialect) -> str:
    """Return text as a JSON string of the dialect. Raises: EncodeError for a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"U+{ord(text[error.start]):04X} is no character"
        raise EncodeError(problem, RULES.string_clause) from None
    return WRITE_STRING[dialect](text)


def write_name(name: str, dialect: Dialect) -> str:
    """Return a name as a JSON string. Raises: EncodeError, also when it is too long."""
    text = write_text(name, dialect)
    if is_too_long(name):
        raise EncodeError(_TOO_LONG, RULES.limits_clause)
    return text


def write_integer(number: int, low: int, high: int, clause: str = CLAUSE_MEMBERS) -> str:
    """Return the digits of an integer. Raises: EncodeError outside ``low`` up to ``high``."""
    if not isinstance(number, int) or isinstance(number, bool) or not low <= number < high:
        raise EncodeError(f"{number!r:.40} is no integer in {low} to {high - 1}", clause)
    return str(number)


def _plain_string(text: str) -> str:
    return json_string(text, escape_html=False)


# The official Canal leaves <, > and & as they are.
WRITE_STRING: dict[Dialect, Callable[[str], str]] = {
    "ticdc": easyjson_string,
    "canal": _plain_string,
}
_TOO_LONG = f"a name has more than {MAX_NAME_BYTES} bytes"
