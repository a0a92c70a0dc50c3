"""The wire's own values of Open Protocol: what a Kafka message of it says, nothing less.

Members keep the names of the JSON. A member that the wire leaves out when it is empty has that
empty value here: ``""``, 0, False.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from cdcwire.mysql.values import WireValue

Dialect: TypeAlias = Literal["tiflow", "ticdc"]

EVENT_ROW = 1  # key member t
EVENT_DDL = 2
EVENT_RESOLVED = 3


@dataclass(frozen=True, slots=True)
class Key:
    """One key item.

    ``ts``: commit ts, or the resolved ts. ``scm``, ``tbl``: schema and table. ``rid``: row id, 0 if
    there is none. ``ptn``: physical table id of a partition, 0 if there is none. ``t``: the kind of
    event. ``ohk``: the value has handle-key columns only. ``ccl``: where the full message is
    stored.
    """

    ts: int
    t: int
    scm: str = ""
    tbl: str = ""
    rid: int = 0
    ptn: int = 0
    ohk: bool = False
    ccl: str = ""


class Column(NamedTuple):
    """One column: type code ``type``, handle-key member ``h``, flag bits ``flag``."""

    name: str
    type: int
    h: bool
    flag: int
    value: WireValue


Columns: TypeAlias = "tuple[Column, ...]"


@dataclass(frozen=True, slots=True)
class Row:
    """A row value: ``u`` new columns, ``p`` columns before an update, ``d`` deleted columns.

    None is a missing member. An empty ``p`` is kept apart from it, because one producer writes it;
    it means the same.
    """

    u: Columns | None = None
    p: Columns | None = None
    d: Columns | None = None


@dataclass(frozen=True, slots=True)
class Ddl:
    """A DDL value: the query ``q`` and TiDB's number ``t`` for it."""

    q: str
    t: int


@dataclass(frozen=True, slots=True)
class Item:
    """One key with its value; a resolved event has no value."""

    key: Key
    value: Row | Ddl | None


@dataclass(frozen=True, slots=True)
class Message:
    """The items of one Kafka message."""

    items: tuple[Item, ...]
