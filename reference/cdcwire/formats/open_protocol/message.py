"""The wire's own values of Open Protocol: what a Kafka message of it says, nothing less.

Members keep the names of the JSON; other ones are ignored. A member that the wire leaves out when
it is empty has that empty value here: ``""``, 0, False. A key is
``{"ts":424316594097225729,"scm":"test","tbl":"t","t":1}``.
"""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.core.json_record import FLAG, extra, member, part, record_of
from cdcwire.formats.open_protocol.columns import Columns, columns_form
from cdcwire.formats.open_protocol.members import (
    BYTE,
    CLAIM_CHECK,
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
)


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
