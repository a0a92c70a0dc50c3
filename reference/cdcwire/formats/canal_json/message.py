"""The wire's own values of Canal-JSON: one message, member by member.

Members keep the names of the JSON. ``None`` is null, and also a missing member: no reader
distinguishes the two. Members that the format does not name are kept as the text that they had.
"""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.core.json_record import (
    FLAG,
    Form,
    Quote,
    Record,
    Unknown,
    expect_object,
    extra,
    member,
    object_text,
    part,
    record_of,
    unknown_members,
)
from cdcwire.core.reader import Subject
from cdcwire.core.strict_json import JsonObject, Member
from cdcwire.formats.canal_json.members import (
    BASE64,
    CLAIM_CHECK,
    EXTENSION,
    HANDLE_KEY_ONLY,
    INT64,
    KEY,
    KEY_NAMES,
    MEMBERS,
    MILLISECONDS,
    MYSQL_TYPE,
    MYSQL_TYPES,
    NAME,
    OFFICIAL,
    OLD,
    ROWS,
    SQL_TYPE,
    SQL_TYPES,
    TEXT,
    TIMESTAMP,
    TSO,
    TYPES,
    UNKNOWN,
    WATERMARKS,
)
from cdcwire.formats.canal_json.values import ROWS_FORM, Rows

INSERT = "INSERT"
UPDATE = "UPDATE"
DELETE = "DELETE"
WATERMARK = "TIDB_WATERMARK"

ROW_TYPES = frozenset({INSERT, UPDATE, DELETE})
QUERY = "QUERY"  # a DDL, or where ``is_ddl`` is false the statement of rows that follow
DDL_TYPES = frozenset(
    {"CREATE", "ALTER", "ERASE", "TRUNCATE", "RENAME", "CINDEX", "DINDEX", "QUERY"}
)


@dataclass(frozen=True, slots=True)
class Extension:
    """The member ``_tidb``, which TiCDC adds.

    ``only_handle_key``: the row was cut to its handle key. ``rowkey``: base64.
    ``origin_ts`` and ``checksum``: those of a row whose other columns are never sent; the latter is
    base64.
    """

    commit_ts: int | None = member(TSO, EXTENSION, part("commit_ts"), name="commitTs", default=None)
    watermark_ts: int | None = member(
        TSO, WATERMARKS, part("commit_ts"), name="watermarkTs", default=None
    )
    only_handle_key: bool = member(FLAG, HANDLE_KEY_ONLY, name="onlyHandleKey", default=False)
    claim_check_location: str = member(
        TEXT, CLAIM_CHECK, extra("claim_check"), name="claimCheckLocation", default=""
    )
    rowkey: str | None = member(BASE64, EXTENSION, extra("row_key"), default=None)
    origin_ts: int | None = member(
        TIMESTAMP, EXTENSION, extra("origin_ts"), name="originTs", default=None
    )
    checksum: str | None = member(BASE64, EXTENSION, extra("checksum"), default=None)
    unknown: Unknown = unknown_members(UNKNOWN)


_ID = Subject(0, ("extra", "id"), "message_id")
_EXTENSION = record_of(Extension)
_EXTENSION_WITHOUT_ORIGIN = _EXTENSION.without("checksum")


def extension_of(found: JsonObject) -> Record:
    """Return the members that have a meaning in ``_tidb``: a checksum needs an origin."""
    return _EXTENSION_WITHOUT_ORIGIN if found.get("originTs") is None else _EXTENSION


def _read_extension(given: Member, data: bytes, clause: str) -> Extension:
    found = expect_object(given, clause)
    return Extension(**extension_of(found).read(found, given.end, data))


def _written_extension(extension: Extension, clause: str, quoted: Quote) -> str:
    has_origin = extension.origin_ts is not None or extension.checksum is not None
    declared = _EXTENSION if has_origin else _EXTENSION_WITHOUT_ORIGIN
    return object_text(declared.write(extension, quoted), quoted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message: rows of one table, a DDL, or a watermark.

    ``es``: when it was committed, ``ts``: when the message was built, both in milliseconds.
    ``sql_type`` and ``mysql_type`` by column, in the order of the message.
    """

    id: int = member(INT64, MEMBERS, _ID, default=0, always=True)
    database: str = member(NAME, MEMBERS, part("schema", "database"))
    table: str = member(NAME, MEMBERS, part("table"))
    pk_names: tuple[str, ...] | None = member(
        KEY, KEY_NAMES, part("key"), name="pkNames", default=None, null="", always=True
    )
    is_ddl: bool = member(FLAG, MEMBERS, name="isDdl")
    type: str = member(TEXT, TYPES, part("kind", "op", "what", "code"))
    es: int = member(MILLISECONDS, MEMBERS, part("commit_ms"))
    ts: int = member(MILLISECONDS, MEMBERS, part("sent_ms"))
    sql: str = member(TEXT, MEMBERS, part("query"), default="", null="", always=True)
    sql_type: tuple[tuple[str, int], ...] | None = member(
        SQL_TYPES, SQL_TYPE, name="sqlType", default=None, null="", always=True
    )
    mysql_type: tuple[tuple[str, str], ...] | None = member(
        MYSQL_TYPES, MYSQL_TYPE, name="mysqlType", default=None, null="", always=True
    )
    data: Rows | None = member(ROWS_FORM, ROWS, default=None, null="", always=True)
    old: Rows | None = member(ROWS_FORM, OLD, default=None, null="", always=True)
    tidb: Extension | None = member(
        Form(_read_extension, _written_extension), EXTENSION, name="_tidb", default=None, null=""
    )
    gtid: str | None = member(TEXT, OFFICIAL, extra("gtid"), default=None, null="")
    unknown: Unknown = unknown_members(UNKNOWN)
