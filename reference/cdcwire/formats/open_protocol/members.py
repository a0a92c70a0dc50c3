"""Members of the JSON objects: what they may hold, with the clause that says so.

Members that the format does not name are ignored.
"""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.strict_json import JsonRules
from cdcwire.formats.open_protocol.message import Dialect
from cdcwire.golang.json_text import json_string, jsoniter_string
from cdcwire.mysql.json_members import MAX_DEPTH, MAX_NAME_BYTES, JsonMembers

VALUE_RULES = JsonRules(
    text_clause="open-protocol: json text",
    string_clause="open-protocol: json strings",
    limits_clause="open-protocol: limits",
    max_depth=MAX_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
)
_RAW_RULES = replace(VALUE_RULES, replaces_ill_formed=True)
KEY_RULES = JsonRules(
    text_clause=VALUE_RULES.text_clause,
    string_clause=VALUE_RULES.string_clause,
    limits_clause=VALUE_RULES.limits_clause,
    max_depth=MAX_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
    may_repeat=frozenset({"ohk"}),  # the ticdc dialect writes it twice with a claim check
)


def value_rules(dialect: Dialect) -> JsonRules:
    """Return the rules of values. The ticdc dialect sends bytes that are not UTF-8 as they are."""
    return _RAW_RULES if dialect == "ticdc" else VALUE_RULES


_MEMBERS = JsonMembers(VALUE_RULES, VALUE_RULES.text_clause)
required = _MEMBERS.required
read_integer = _MEMBERS.read_integer
integer_of = _MEMBERS.integer_of
text_of = _MEMBERS.text_of
flag_of = _MEMBERS.flag_of
name_of = _MEMBERS.name_of


def write_text(text: str, dialect: Dialect) -> str:
    """Return text as a JSON string of the dialect. Raises: EncodeError for a lone surrogate."""
    _MEMBERS.check_text(text)
    return write_escaped(text, dialect)


def write_name(name: str, dialect: Dialect) -> str:
    """Return a name as a JSON string. Raises: EncodeError, also when it is too long."""
    _MEMBERS.check_name(name)
    return write_escaped(name, dialect)


def write_escaped(text: str, dialect: Dialect) -> str:
    """Return text, in which lone surrogates may stand for bad bytes, as a JSON string.

    The ticdc dialect sends these bytes: the lone surrogates stay.
    """
    return json_string(text) if dialect == "tiflow" else jsoniter_string(text, is_raw=True)
