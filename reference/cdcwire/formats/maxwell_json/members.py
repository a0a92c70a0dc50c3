"""The forms of the members of JSON objects, those of rows too, and the clauses of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire.connect.strings import quoted
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.json_record import Form, JsonForms, Quote, array_of, expect_object, object_text
from cdcwire.core.limits import INT64_END, INT64_START
from cdcwire.core.strict_json import JsonObject, JsonRules, Member, Number

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
INT64 = FORMS.integer(INT64_START, INT64_END)
SECONDS = FORMS.integer(-SECONDS_END, SECONDS_END, lambda number: number * MS_PER_SECOND)
MILLISECONDS = FORMS.integer(INT64_START, INT64_END, int)


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


@dataclass(frozen=True, slots=True)
class Inline:
    """A value that is neither a number nor a string: its JSON text."""

    text: str


ColumnValue: TypeAlias = "Number | str | Inline | None"


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a row. ``offset`` is the byte where the value begins."""

    name: str
    value: ColumnValue
    offset: int = field(default=-1, compare=False)


def read_cells(found: JsonObject, data: bytes) -> tuple[Cell, ...]:
    """Return each member of an object as a column."""
    return tuple(
        Cell(member.name, _read_value(member, data), member.start) for member in found.members
    )


def _read_row(given: Member, data: bytes, clause: str) -> tuple[Cell, ...]:
    return read_cells(expect_object(given, clause), data)


def _written_row(cells: tuple[Cell, ...], clause: str, quote: Quote) -> str:
    members: dict[str, str] = {}
    for cell in cells:
        with step(cell.name):
            if cell.name in members:
                raise EncodeError("the column is duplicated", clause)
            members[cell.name] = written_value(cell.value)
    return object_text(members, quote)


def _read_value(given: Member, data: bytes, clause: str = "") -> ColumnValue:
    if given.value is None or isinstance(given.value, (Number, str)):
        return given.value
    return Inline(data[given.start : given.end].decode())


def written_value(value: ColumnValue, clause: str = "", quote: Quote = written_text) -> str:
    """Return the JSON text of a value. Raises: EncodeError."""
    match value:
        case None:
            return "null"
        case str():
            return quote(value)
        case Number(text):
            if value.digits > FORMS.max_digits:
                problem = f"a number has {value.digits} characters; the limit is {FORMS.max_digits}"
                raise EncodeError(problem, RULES.limits_clause)
            return text
        case Inline(text):
            return text


ROW = Form(_read_row, _written_row)
VALUES = array_of(Form(_read_value, written_value))
