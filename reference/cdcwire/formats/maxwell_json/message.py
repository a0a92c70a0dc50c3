"""The values of a Maxwell JSON message: a row, a change of a schema, and a Kafka key.

Members keep the names of the JSON. ``None`` means that the member is absent. The forms of the
members and the clauses of the page come first.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from cdcwire.connect.scalars import quoted
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_record import (
    FLAG,
    Form,
    JsonForms,
    Quote,
    Unknown,
    array_of,
    expect_array,
    expect_object,
    extra,
    items_of,
    member,
    nested,
    object_text,
    part,
    unknown_members,
    whole_of,
)
from cdcwire.core.limits import INT64_END, INT64_START
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonRules, Member, Number, read_json

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


KEYS = "maxwell-json: kafka keys"
KeyForm: TypeAlias = Literal["hash", "array"]
_PREFIX = "pk."


@dataclass(frozen=True, slots=True)
class Key:
    """A Kafka key. Its column names are in lower case. ``uuid`` replaces them without a key."""

    form: KeyForm
    database: str
    table: str | None
    columns: tuple[Cell, ...] = ()
    uuid: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(cell.name for cell in self.columns)


def decode_key(data: bytes) -> Key:
    """Return a Kafka key in either form. Paths begin with ``key``.

    Raises: TruncatedError, DecodeError.
    """
    with step("key"):
        document = read_json(data, RULES)
        whole = whole_of(document)
        if isinstance(document.value, JsonArray):
            return _array_key(whole, data)
        return _hash_key(expect_object(whole, KEYS), document.end, data)


def _hash_key(found: JsonObject, end: int, data: bytes) -> Key:
    texts: dict[str, str] = {}
    columns: list[Cell] = []
    for each, cell in zip(found.members, read_cells(found, data), strict=True):
        name = each.name
        with step(name):
            if name in ("database", "table", "_uuid"):
                texts[name] = TEXT.read(each, data, KEYS)
            elif name.startswith(_PREFIX):
                columns.append(Cell(name[len(_PREFIX) :], cell.value, cell.offset))
            else:
                problem = f"member {name!r:.40} does not begin with {_PREFIX!r}"
                raise DecodeError(problem, each.name_start, KEYS)
    if "database" not in texts:
        raise DecodeError("member 'database' is missing", end - 1, KEYS, ("database",))
    return Key("hash", texts["database"], texts.get("table"), tuple(columns), texts.get("_uuid"))


def _read_key_column(given: Member, data: bytes, clause: str) -> Cell:
    cells = read_cells(expect_object(given, clause), data)
    if len(cells) != 1:
        raise DecodeError(f"{len(cells)} columns instead of one", given.start, clause)
    return cells[0]


def _written_key_column(cell: Cell, clause: str, quote: Quote) -> str:
    return object_text({cell.name: written_value(cell.value)}, quote)


_KEY_COLUMNS = array_of(Form(_read_key_column, _written_key_column))
_KEY_ITEMS: tuple[Form[Any], ...] = (TEXT, TEXT, _KEY_COLUMNS)  # database, table, columns


def _array_key(whole: Member, data: bytes) -> Key:
    items = list(items_of(expect_array(whole, KEYS)))
    if len(items) != len(_KEY_ITEMS):
        raise DecodeError(f"{len(items)} items instead of {len(_KEY_ITEMS)}", whole.start, KEYS)
    values = []
    for index, form in enumerate(_KEY_ITEMS):
        with step(index):
            values.append(form.read(items[index], data, KEYS))
    return Key("array", *values)


def encode_key(key: Key) -> bytes:
    """Return the bytes of a Kafka key. Raises: EncodeError."""
    with step("key"):
        if key.form == "array":
            columns = _KEY_COLUMNS.write(key.columns, KEYS, written_text)
            names = ",".join(map(written_text, (key.database, key.table or "")))
            return f"[{names},{columns}]".encode()
        members = {"database": written_text(key.database)}
        if key.table is not None:
            members["table"] = written_text(key.table)
        if key.uuid is not None:
            members["_uuid"] = written_text(key.uuid)
        for cell in key.columns:
            members[f"{_PREFIX}{cell.name}"] = written_value(cell.value)
        return object_text(members, written_text).encode()


BOOTSTRAP_MARKS = ("bootstrap-start", "bootstrap-complete")
ROW_TYPES = ("insert", "update", "delete", "bootstrap-insert", *BOOTSTRAP_MARKS)
TABLE_CHANGES = ("table-create", "table-alter", "table-drop")
DATABASE_CHANGES = ("database-create", "database-alter", "database-drop")
SCHEMA_CHANGES = (*TABLE_CHANGES, *DATABASE_CHANGES)

_WITH_FRACTION = frozenset({"time", "datetime", "timestamp"})
_FRACTION_END = 7  # MySQL keeps up to 6 digits of a second


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMessage:
    """A row that changed, or the start or end of a bootstrap.

    ``ts``: seconds. ``old``: the previous values of changed columns. ``unknown``: members that the
    format does not name, as JSON text. ``gtid_is_null``: the member is present, as null.
    """

    database: str = member(TEXT, FIELDS, part("schema"))
    table: str = member(TEXT, FIELDS, part("table"))
    query: str | None = member(TEXT, QUERY, extra("query"), default=None)
    type: str = member(TEXT, TYPES, part("kind", "op", "what"))
    ts: int = member(SECONDS, TIMESTAMP, part("commit_ms"))
    xid: int | None = member(INT64, TRANSACTION, part("tx_id"), default=None)
    xoffset: int | None = member(INT64, TRANSACTION, part("tx_order"), default=None)
    commit: bool | None = member(FLAG, TRANSACTION, extra("commit"), default=None)
    position: str | None = member(TEXT, POSITION, extra("binlog_position"), default=None)
    gtid: str | None = member(TEXT, POSITION, extra("gtid"), default=None, null="gtid_is_null")
    gtid_is_null: bool = False
    server_id: int | None = member(INT64, POSITION, extra("server_id"), default=None)
    thread_id: int | None = member(INT64, POSITION, extra("thread_id"), default=None)
    schema_id: int | None = member(INT64, POSITION, extra("schema_id"), default=None)
    push_ts: Number | None = member(NUMBER, TIMESTAMP, extra("push_ts"), default=None)
    comment: str | None = member(TEXT, FIELDS, extra("comment"), default=None)
    unknown: Unknown = unknown_members(UNKNOWN)
    primary_key: tuple[ColumnValue, ...] | None = member(VALUES, PRIMARY_KEY, default=None)
    primary_key_columns: tuple[str, ...] | None = member(
        array_of(TEXT, unique=True), PRIMARY_KEY, part("key"), default=None
    )
    data: tuple[Cell, ...] = member(ROW, DATA)
    old: tuple[Cell, ...] | None = member(ROW, OLD, default=None)
    key: Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDefinition:
    """A column of a table's definition, by the name of its MySQL type."""

    type: str = member(TEXT, DEFINITION)
    name: str = member(TEXT, DEFINITION)
    signed: bool | None = member(FLAG, DEFINITION, default=None)
    charset: str | None = member(TEXT, DEFINITION, default=None, null="")
    enum_values: tuple[str, ...] | None = member(
        array_of(TEXT), DEFINITION, name="enum-values", default=None
    )
    column_length: int | None = member(
        FORMS.integer(0, INT64_END), DEFINITION, name="column-length", default=None
    )


_COLUMN = nested(ColumnDefinition)


def _read_column(given: Member, data: bytes, clause: str) -> ColumnDefinition:
    column = _COLUMN.read(given, data, clause)
    length = column.column_length or 0
    if column.type in _WITH_FRACTION and length >= _FRACTION_END:
        assert isinstance(given.value, JsonObject)
        place = given.value.by_name["column-length"].start
        problem = f"{length} is outside 0 to {_FRACTION_END - 1}"
        raise DecodeError(problem, place, clause, ("column-length",))
    return column


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefinition:
    """A table's definition. ``text`` is its JSON."""

    database: str = member(TEXT, DEFINITION)
    table: str = member(TEXT, DEFINITION)
    charset: str | None = member(TEXT, DEFINITION, default=None, null="")
    columns: tuple[ColumnDefinition, ...] = member(
        array_of(Form(_read_column, _COLUMN.write)), DEFINITION
    )
    primary_key: tuple[str, ...] = member(array_of(TEXT), DEFINITION, name="primary-key")
    text: str = ""


_TABLE = nested(TableDefinition)


def read_definition(given: Member, data: bytes, clause: str = DEFINITION) -> TableDefinition:
    """Return the definition of a table. Raises: DecodeError."""
    table = _TABLE.read(given, data, clause)
    if len({column.name for column in table.columns}) < len(table.columns):
        assert isinstance(given.value, JsonObject)
        place = given.value.by_name["columns"].start
        raise DecodeError("a column is duplicated", place, clause, ("columns",))
    return replace(table, text=data[given.start : given.end].decode())


def _written_definition(table: TableDefinition, clause: str, quote: Quote) -> str:
    return table.text


_DEFINITION = Form(read_definition, _written_definition)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaMessage:
    """A schema change. ``ts``: milliseconds. ``definition``: the member ``def``.

    ``charset_is_null``: the member is present, as null. ``key``: the bytes of the Kafka key.
    """

    type: str = member(TEXT, TYPES, part("kind", "op", "what"))
    database: str = member(TEXT, DDL, part("schema"))
    table: str | None = member(TEXT, DDL, part("table"), default=None)
    charset: str | None = member(TEXT, DDL, default=None, null="charset_is_null")
    charset_is_null: bool = False
    old: TableDefinition | None = member(_DEFINITION, DEFINITION, default=None)
    definition: TableDefinition | None = member(_DEFINITION, DEFINITION, name="def", default=None)
    ts: int = member(MILLISECONDS, TIMESTAMP, part("commit_ms"))
    sql: str = member(TEXT, DDL, part("query"))
    position: str | None = member(TEXT, POSITION, extra("binlog_position"), default=None)
    gtid: str | None = member(TEXT, POSITION, extra("gtid"), default=None, null="gtid_is_null")
    gtid_is_null: bool = False
    schema_id: int | None = member(INT64, POSITION, extra("schema_id"), default=None)
    unknown: Unknown = unknown_members(UNKNOWN)
    key: bytes | None = None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A message without value. ``key``: the bytes of its Kafka key."""

    key: bytes | None


Message: TypeAlias = "RowMessage | SchemaMessage | Tombstone"
