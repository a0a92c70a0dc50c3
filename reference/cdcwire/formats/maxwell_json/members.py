"""The forms of the members of JSON objects, and the clauses of the page."""

from __future__ import annotations

from cdcwire.connect.strings import quoted
from cdcwire.core.errors import EncodeError
from cdcwire.core.json_record import JsonForms
from cdcwire.core.limits import INT64_END
from cdcwire.core.strict_json import JsonRules

RULES = JsonRules(
    text_clause="maxwell-json: json text",
    string_clause="maxwell-json: json strings",
    limits_clause="maxwell-json: limits",
    max_depth=128,  # a JSON column of MySQL has at most 100 levels
)
FIELDS = "maxwell-json: fields"
TYPES = "maxwell-json: event types"
TIMESTAMP = "maxwell-json: timestamp"
POSITION = "maxwell-json: position"
QUERY = "maxwell-json: query"
TRANSACTION = "maxwell-json: transactions"
DATA = "maxwell-json: data"
OLD = "maxwell-json: old"
PRIMARY_KEY = "maxwell-json: primary key"
DDL = "maxwell-json: schema changes"
DEFINITION = "maxwell-json: definitions"
UNKNOWN = "maxwell-json: unknown members"

MS_PER_SECOND = 1000
SECONDS_END = INT64_END // MS_PER_SECOND

FORMS = JsonForms(RULES, max_digits=400)  # MySQL's longest number is a double in plain digits
TEXT = FORMS.text
NUMBER = FORMS.number
INT64 = FORMS.integer(-INT64_END, INT64_END)
SECONDS = FORMS.integer(-SECONDS_END, SECONDS_END, lambda number: number * MS_PER_SECOND)
MILLISECONDS = FORMS.integer(-INT64_END, INT64_END, int)


def written_text(text: str) -> str:
    """Return a string in quotes as Jackson writes it. Raises: EncodeError."""
    try:
        return quoted(text)
    except EncodeError as error:
        error.clause = RULES.string_clause
        raise


def written_texts(texts: tuple[str, ...]) -> str:
    """Return an array of strings. Raises: EncodeError."""
    return f"[{','.join(map(written_text, texts))}]"
