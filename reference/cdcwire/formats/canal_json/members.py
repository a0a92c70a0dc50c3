"""The forms of the members of JSON objects, and the clauses of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar

from cdcwire.core.errors import DecodeError
from cdcwire.core.json_record import Form, JsonForms, Quote, array_of, expect_object
from cdcwire.core.json_strings import read_base64
from cdcwire.core.limits import INT64_END, INT64_START, MAX_JSON_DEPTH, MAX_NAME_BYTES, UINT64_END
from cdcwire.core.strict_json import JsonRules, Member
from cdcwire.formats.canal_json.columns import NO_DEFINITION
from cdcwire.golang import easyjson_string, json_string
from cdcwire.model.instants import ms_of_tso

Dialect: TypeAlias = Literal["ticdc", "canal"]

RULES = JsonRules(
    text_clause="canal-json: json text",
    string_clause="canal-json: json strings",
    limits_clause="canal-json: limits",
    max_depth=MAX_JSON_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
)
MEMBERS = "canal-json: members"
TYPES = "canal-json: event types"
EXTENSION = "canal-json: tidb extension"
WATERMARKS = "canal-json: watermarks"
CLAIM_CHECK = "canal-json: claim check"
HANDLE_KEY_ONLY = "canal-json: handle key only"
KEY_NAMES = "canal-json: primary key names"
SQL_TYPE = "canal-json: sqlType"
MYSQL_TYPE = "canal-json: mysqlType"
ROWS = "canal-json: row events"
OLD = "canal-json: old"
OFFICIAL = "canal-json: official canal"
UNKNOWN = "canal-json: unknown members"

INT32_END = 1 << 31

_FORMS = JsonForms(RULES)
TEXT = _FORMS.text
NAME = _FORMS.name
INT64 = _FORMS.integer(INT64_START, INT64_END)
MILLISECONDS = _FORMS.integer(INT64_START, INT64_END, int)
TIMESTAMP = _FORMS.integer(0, UINT64_END)
TSO = _FORMS.integer(0, UINT64_END, ms_of_tso)
KEY = array_of(Form(TEXT.read, NAME.write), unique=True)


def _read_base64(given: Member, data: bytes, clause: str) -> str:
    text = TEXT.read(given, data, clause)
    read_base64(text, given.start, clause)
    return text


BASE64 = Form(_read_base64, TEXT.write)
T = TypeVar("T")
Pairs: TypeAlias = "tuple[tuple[str, T], ...]"


def _pairs_of(value: Form[T]) -> Form[Pairs[T]]:
    """Return the form of an object with a value for each column."""

    def read(given: Member, data: bytes, clause: str) -> Pairs[T]:
        members = expect_object(given, clause).members
        pairs, name = [], ""
        try:
            for each in members:
                name = each.name
                pairs.append((name, value.read(each, data, clause)))
        except DecodeError as error:
            error.path = (name, *error.path)
            raise
        return tuple(pairs)

    def write(pairs: Pairs[T], clause: str, quoted: Quote) -> str:
        texts = (
            f"{NAME.write(name, clause, quoted)}:{value.write(each, clause, quoted)}"
            for name, each in pairs
        )
        return f"{{{','.join(texts)}}}"

    return Form(read, write)


def _read_type(given: Member, data: bytes, clause: str) -> str:
    text = TEXT.read(given, data, clause)
    try:
        NO_DEFINITION.column(given.name, text)
    except ValueError as error:
        raise DecodeError(str(error), given.start, clause) from None
    return text


SQL_TYPES = _pairs_of(_FORMS.integer(-INT32_END, INT32_END))
MYSQL_TYPES = _pairs_of(Form(_read_type, TEXT.write))


def _plain_string(text: str) -> str:
    return json_string(text, escape_html=False)


# The official Canal leaves <, > and & as they are.
WRITE_STRING: dict[Dialect, Callable[[str], str]] = {
    "ticdc": easyjson_string,
    "canal": _plain_string,
}
