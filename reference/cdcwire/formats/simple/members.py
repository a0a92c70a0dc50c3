"""Rules of the JSON and the forms of its members, with the clauses of the page."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.json_record import Form, JsonForms, Quote, array_of
from cdcwire.core.limits import INT64_END, INT64_START, MAX_JSON_DEPTH, MAX_NAME_BYTES, UINT64_END
from cdcwire.core.strict_json import JsonRules, Member, Number
from cdcwire.model.instants import ms_of_tso

RULES = JsonRules(
    text_clause="simple: json text",
    string_clause="simple: json strings",
    limits_clause="simple: limits",
    max_depth=MAX_JSON_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
)
FIELDS = "simple: fields"
UNKNOWN = "simple: unknown members"
TYPES = "simple: event types"
ROWS = "simple: rows"
VALUES = "simple: values"
TIMESTAMPS = "simple: timestamp values"
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

FORMS = JsonForms(RULES)
TEXT, NAME, TEXTS = FORMS.text, FORMS.name, array_of(FORMS.text)
UINT32 = FORMS.integer(0, 1 << 32)
UINT64 = FORMS.integer(0, UINT64_END)
INT64 = FORMS.integer(INT64_START, INT64_END)
MILLISECONDS = FORMS.integer(INT64_START, INT64_END, int)
TSO = FORMS.integer(0, UINT64_END, ms_of_tso)


def word_of(*allowed: str) -> Form[str]:
    """Return the form of a string that is one of some words."""

    def problem(word: str) -> str:
        return f"type {word!r:.40} is not one of {', '.join(allowed)}"

    def read(given: Member, data: bytes, clause: str) -> str:
        word = TEXT.read(given, data, clause)
        if word not in allowed:
            raise DecodeError(problem(word), given.start, clause)
        return word

    def write(word: str, clause: str, quoted: Quote) -> str:
        if word not in allowed:
            raise EncodeError(problem(word), clause)
        return quoted(word)

    return Form(read, write)


def only(number: int, shown: Form[int] = INT64) -> Form[int]:
    """Return the form of an integer that is always the same. ``shown``: one that shows it."""
    wanted = Number(str(number))

    def read(given: Member, data: bytes, clause: str) -> int:
        if given.value != wanted:
            found = INT64.read(given, data, clause)
            if found != number:  # -0 is 0
                raise DecodeError(f"it is {found}, and must be {number}", given.start, clause)
        return number

    return Form(read, FORMS.integer(number, number + 1).write, shown.shown)
