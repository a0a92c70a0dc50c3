"""The wire's own values of Open Protocol: what a Kafka message of it says, nothing less.

Members keep the names of the JSON; other ones are ignored. A member that the wire leaves out when
it is empty has that empty value here: ``""``, 0, False. A key is
``{"ts":424316594097225729,"scm":"test","tbl":"t","t":1}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.explanation import json_text
from cdcwire.core.json_record import FLAG, Form, expect_object, extra, member, part, record_of
from cdcwire.core.strict_json import JsonObject, JsonValue, Member, Number
from cdcwire.formats.open_protocol.members import (
    BYTE,
    CLAIM_CHECK,
    COLUMN_MEMBERS,
    DDL_VALUE,
    HANDLE_KEY_ONLY,
    INT64,
    KEY_MEMBERS,
    NAME,
    PARTITION,
    ROW_ID,
    ROW_VALUE,
    TEXT,
    TYPE,
    TYPES,
    UINT64,
    UNKNOWN,
    Dialect,
    write_name,
)
from cdcwire.formats.open_protocol.values import read_value, write_value
from cdcwire.mysql.values import WireValue


class Column(NamedTuple):
    """One column: type code ``type``, handle-key member ``h``, flag bits ``flag``."""

    name: str
    type: int
    h: bool
    flag: int
    value: WireValue


Columns: TypeAlias = "tuple[Column, ...]"


def _unread(given: Member, data: bytes, clause: str) -> Member:
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMembers:
    """The members of a column. ``v`` is read by type and flags."""

    t: int = member(BYTE, COLUMN_MEMBERS)
    h: bool = member(FLAG, COLUMN_MEMBERS, default=False)
    f: int = member(UINT64, COLUMN_MEMBERS, default=0)
    v: Member = member(Form(_unread), COLUMN_MEMBERS)


COLUMN = record_of(ColumnMembers, UNKNOWN)


def _read_columns(given: Member, data: bytes, clause: str) -> Columns:
    columns = []
    for column in expect_object(given, clause).members:
        try:
            columns.append(_read_column(column, data))
        except DecodeError as error:
            error.path = (column.name, *error.path)
            if given.name == "p" and (column.name, type(column.value)) == ("t", Number):
                error.add("; TiCDC leaves out the name of a column that became NULL")
            raise
    return tuple(columns)


def _read_column(column: Member, data: bytes) -> Column:
    values = COLUMN.read(expect_object(column, COLUMN_MEMBERS), column.end, data)
    code, flag, given = values["t"], values.get("f", 0), values["v"]
    try:
        value = read_value(given, code, flag)
    except DecodeError as error:
        error.path = (given.name, *error.path)
        raise
    return Column(column.name, code, values.get("h", False), flag, value)


def columns_form(what: str) -> Form[Columns]:
    """Return the form of the columns of one side. ``what``: how people call them."""

    def shown(value: JsonValue) -> str:
        return what if isinstance(value, JsonObject) else json_text(value)

    return Form(_read_columns, shown=shown)


def write_columns(columns: Columns, dialect: Dialect) -> str:
    """Return columns, by name in the tiflow dialect. Raises: EncodeError."""
    names: set[str] = set()
    written: list[tuple[bytes, str]] = []
    for column in columns:
        with step(column.name):
            if column.name in names:
                raise EncodeError("a column appears twice", COLUMN_MEMBERS)
            names.add(column.name)
            text = f"{write_name(column.name, dialect)}:{_write_column(column, dialect)}"
            written.append((column.name.encode(), text))
    if dialect == "tiflow":
        written.sort()
    return f"{{{','.join(text for _, text in written)}}}"


def _write_column(column: Column, dialect: Dialect) -> str:
    with step("t"):
        code = BYTE.write(column.type, COLUMN_MEMBERS, str)
    with step("f"):
        flag = UINT64.write(column.flag, COLUMN_MEMBERS, str)
    with step("v"):
        value = write_value(column.value, column.type, column.flag, dialect)
    handle = '"h":true,' if column.h else ""
    return f'{{"t":{code},{handle}"f":{flag},"v":{value}}}'


@dataclass(frozen=True, slots=True)
class Key:
    """One key item.

    ``ts``: commit ts, or the resolved ts. ``scm``, ``tbl``: schema and table. ``rid``: row id, 0 if
    there is none. ``ptn``: physical table id of a partition, 0 if there is none. ``t``: the kind of
    event. ``ohk``: the value has handle-key columns only. ``ccl``: where the full message is
    stored.
    """

    ts: int = member(UINT64, KEY_MEMBERS, part("commit_ts"))
    t: int = member(TYPE, TYPES, part("kind"))
    scm: str = member(NAME, KEY_MEMBERS, part("schema"), default="")
    tbl: str = member(NAME, KEY_MEMBERS, part("table"), default="")
    rid: int = member(INT64, ROW_ID, extra("row_id"), default=0)
    ptn: int = member(INT64, PARTITION, part("partition"), default=0)
    ohk: bool = member(FLAG, HANDLE_KEY_ONLY, default=False)
    ccl: str = member(TEXT, CLAIM_CHECK, extra("claim_check"), default="")


KEY_ORDERS: dict[Dialect, tuple[str, ...]] = {
    "tiflow": ("ts", "scm", "tbl", "rid", "ptn", "t", "ohk", "ccl"),
    "ticdc": ("ts", "scm", "tbl", "t", "ohk", "ccl", "ptn"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A row value: ``u`` new columns, ``p`` columns before an update, ``d`` deleted columns.

    None is a missing member. An empty ``p`` is kept apart from it, because one producer writes it;
    it means the same.
    """

    u: Columns | None = member(columns_form("new columns"), ROW_VALUE, part("after"), default=None)
    p: Columns | None = member(
        columns_form("columns before"), ROW_VALUE, part("before"), default=None
    )
    d: Columns | None = member(
        columns_form("deleted columns"), ROW_VALUE, part("before"), default=None
    )


@dataclass(frozen=True, slots=True)
class Ddl:
    """A DDL value: the query ``q`` and TiDB's number ``t`` for it."""

    q: str = member(TEXT, DDL_VALUE, part("query"))
    t: int = member(BYTE, DDL_VALUE, part("what", "code"))


KEY, ROW, DDL = (record_of(each, UNKNOWN) for each in (Key, Row, Ddl))


@dataclass(frozen=True, slots=True)
class Item:
    """One key with its value; a resolved event has no value."""

    key: Key
    value: Row | Ddl | None


@dataclass(frozen=True, slots=True)
class Message:
    """The items of one Kafka message."""

    items: tuple[Item, ...]
