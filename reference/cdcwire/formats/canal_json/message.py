"""The wire's own values of Canal-JSON: one message, member by member.

Members keep the names of the JSON. ``None`` is null, and also a missing member: no reader
distinguishes the two. Members that the format does not name are kept as the text that they had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Dialect: TypeAlias = Literal["ticdc", "canal"]

INSERT = "INSERT"
UPDATE = "UPDATE"
DELETE = "DELETE"
WATERMARK = "TIDB_WATERMARK"

ROW_TYPES = frozenset({INSERT, UPDATE, DELETE})
QUERY = "QUERY"  # a DDL, or where ``is_ddl`` is false the statement of rows that follow
DDL_TYPES = frozenset(
    {"CREATE", "ALTER", "ERASE", "TRUNCATE", "RENAME", "CINDEX", "DINDEX", "QUERY"}
)

# Columns of one row with their texts, in the order of the message.
Row: TypeAlias = "tuple[tuple[str, str | None], ...]"
Rows: TypeAlias = "tuple[Row | None, ...]"
Unknown: TypeAlias = "tuple[tuple[str, str], ...]"  # name, JSON text


@dataclass(frozen=True, slots=True)
class Extension:
    """The member ``_tidb``, which TiCDC adds.

    ``only_handle_key``: the row was cut to its handle key. ``rowkey``: base64.
    ``origin_ts`` and ``checksum``: those of a row whose other columns are never sent; the latter is
    base64.
    """

    commit_ts: int | None = None
    watermark_ts: int | None = None
    only_handle_key: bool = False
    claim_check_location: str = ""
    rowkey: str | None = None
    origin_ts: int | None = None
    checksum: str | None = None
    unknown: Unknown = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One message: rows of one table, a DDL, or a watermark.

    ``es``: when it was committed, ``ts``: when the message was built, both in milliseconds.
    ``sql_type`` and ``mysql_type`` by column, in the order of the message.
    """

    type: str
    database: str = ""
    table: str = ""
    es: int = 0
    ts: int = 0
    is_ddl: bool = False
    id: int = 0
    pk_names: tuple[str, ...] | None = None
    sql: str = ""
    sql_type: tuple[tuple[str, int], ...] | None = None
    mysql_type: tuple[tuple[str, str], ...] | None = None
    data: Rows | None = None
    old: Rows | None = None
    tidb: Extension | None = None
    gtid: str | None = None
    unknown: Unknown = ()
