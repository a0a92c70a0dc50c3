"""Rules of the JSON and the forms of its members, with the clauses of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.explanation import json_text
from cdcwire.core.json_record import Form, JsonForms, Quote
from cdcwire.core.limits import INT64_END, INT64_START, MAX_JSON_DEPTH, MAX_NAME_BYTES, UINT64_END
from cdcwire.core.strict_json import JsonRules, JsonValue, Member, Number
from cdcwire.golang import json_string, jsoniter_string

Dialect: TypeAlias = Literal["tiflow", "ticdc"]

VALUE_RULES = JsonRules(
    text_clause="open-protocol: json text",
    string_clause="open-protocol: json strings",
    limits_clause="open-protocol: limits",
    max_depth=MAX_JSON_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
)
_RAW_RULES = replace(VALUE_RULES, replaces_ill_formed=True)
# The ticdc dialect writes ohk twice with a claim check.
KEY_RULES = replace(VALUE_RULES, may_repeat=frozenset({"ohk"}))
KEY_MEMBERS = "open-protocol: key members"
TYPES = "open-protocol: event types"
ROW_ID = "open-protocol: row id"
PARTITION = "open-protocol: partition"
HANDLE_KEY_ONLY = "open-protocol: handle key only"
CLAIM_CHECK = "open-protocol: claim check"
ROW_VALUE = "open-protocol: row value"
DDL_VALUE = "open-protocol: ddl value"
COLUMN_MEMBERS = "open-protocol: column members"
UNKNOWN = "open-protocol: unknown members"

EVENT_ROW = 1  # key member t
EVENT_DDL = 2
EVENT_RESOLVED = 3
EVENT_NAMES = {EVENT_ROW: "row", EVENT_DDL: "DDL", EVENT_RESOLVED: "resolved"}


def value_rules(dialect: Dialect) -> JsonRules:
    """Return the rules of values. The ticdc dialect sends bytes that are not UTF-8 as they are."""
    return _RAW_RULES if dialect == "ticdc" else VALUE_RULES


# A lone surrogate may stand for a bad byte. The ticdc dialect sends that byte, so it stays.
WRITE_STRING: dict[Dialect, Callable[[str], str]] = {
    "tiflow": json_string,
    "ticdc": partial(jsoniter_string, is_raw=True),
}

FORMS = JsonForms(VALUE_RULES)
TEXT, NAME = FORMS.text, FORMS.name
BYTE = FORMS.integer(0, 1 << 8)  # type codes and DDL types
INT64 = FORMS.integer(INT64_START, INT64_END)
UINT64 = FORMS.integer(0, UINT64_END)
_ANY = FORMS.integer(INT64_START, UINT64_END)


def write_name(name: str, dialect: Dialect) -> str:
    """Return a name as a JSON string. Raises: EncodeError, also when it is too long."""
    return NAME.write(name, COLUMN_MEMBERS, WRITE_STRING[dialect])


def _read_type(given: Member, data: bytes, clause: str) -> int:
    code = _ANY.read(given, data, clause)
    if code not in EVENT_NAMES:
        problem = f"event type {code} is not defined; there are 1, 2 and 3"
        raise DecodeError(problem, given.start, clause)
    return code


def _write_type(code: int, clause: str, quoted: Quote) -> str:
    if code not in EVENT_NAMES:
        raise EncodeError(f"event type {code!r:.40} is not 1, 2 or 3", clause)
    return str(code)


def event_type(value: JsonValue) -> int:
    """Return the event type that a value is; 0 for none."""
    text = value.text if isinstance(value, Number) else ""
    return next((code for code in EVENT_NAMES if text == str(code)), 0)


def _shown_type(value: JsonValue) -> str:
    if not isinstance(value, Number):
        return json_text(value)
    return f"{value.text} ({EVENT_NAMES.get(event_type(value), 'not defined')})"


TYPE = Form(_read_type, _write_type, _shown_type)
