"""Members of the JSON objects: what they may hold, with the clause that says so."""

from __future__ import annotations

from collections.abc import Callable

from cdcwire.core.strict_json import JsonRules, Member
from cdcwire.formats.canal_json.message import Dialect
from cdcwire.golang.json_text import easyjson_string, json_string
from cdcwire.mysql import json_members
from cdcwire.mysql.json_members import MAX_DEPTH, MAX_NAME_BYTES, JsonMembers, Members

INT32_END = 1 << 31

RULES = JsonRules(
    text_clause="canal-json: json text",
    string_clause="canal-json: json strings",
    limits_clause="canal-json: limits",
    max_depth=MAX_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
)
CLAUSE_MEMBERS = "canal-json: members"

_MEMBERS = JsonMembers(RULES, CLAUSE_MEMBERS)
required = _MEMBERS.required
read_integer = _MEMBERS.read_integer
integer_of = _MEMBERS.integer_of
text_of = _MEMBERS.text_of
name_of = _MEMBERS.name_of
flag_of = _MEMBERS.flag_of


def present(known: Members, name: str) -> Member | None:
    """Return a member, or None where it is null or not there."""
    member = known.get(name)
    return None if member is None or member.value is None else member


def write_text(text: str, dialect: Dialect) -> str:
    """Return text as a JSON string of the dialect. Raises: EncodeError for a lone surrogate."""
    _MEMBERS.check_text(text)
    return WRITE_STRING[dialect](text)


def write_name(name: str, dialect: Dialect) -> str:
    """Return a name as a JSON string. Raises: EncodeError, also when it is too long."""
    _MEMBERS.check_name(name)
    return WRITE_STRING[dialect](name)


def write_integer(number: int, low: int, high: int, clause: str = CLAUSE_MEMBERS) -> str:
    """Return the digits of an integer. Raises: EncodeError outside ``low`` up to ``high``."""
    return json_members.write_integer(number, low, high, clause)


def _plain_string(text: str) -> str:
    return json_string(text, escape_html=False)


# The official Canal leaves <, > and & as they are.
WRITE_STRING: dict[Dialect, Callable[[str], str]] = {
    "ticdc": easyjson_string,
    "canal": _plain_string,
}
