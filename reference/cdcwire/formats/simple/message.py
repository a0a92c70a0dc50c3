"""The values of a `simple` message, in JSON or in Avro, member by member.

Members keep the meaning of their names. In JSON they may come in any order, and other ones are
ignored. They are written in the order of the fields, which is that of the producer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire.core.json_record import FLAG, extra, member, nested, part, record_of
from cdcwire.core.strict_json import JsonObject
from cdcwire.formats.simple.members import (
    BOOTSTRAPS,
    CHECKSUM,
    CLAIM_CHECK,
    DDL,
    FIELDS,
    HANDLE_KEY_ONLY,
    INT64,
    MILLISECONDS,
    NAME,
    ROWS,
    SCHEMA_VERSIONS,
    SCHEMAS,
    TEXT,
    TSO,
    TYPES,
    UINT32,
    UINT64,
    UNKNOWN,
    WATERMARKS,
    only,
    word_of,
)
from cdcwire.formats.simple.rows import ROW, Row
from cdcwire.formats.simple.table_schemas import SCHEMA, TableSchema

INSERT, UPDATE, DELETE = "INSERT", "UPDATE", "DELETE"
WATERMARK, BOOTSTRAP = "WATERMARK", "BOOTSTRAP"
DML_TYPES = (INSERT, UPDATE, DELETE)
DDL_TYPES = ("CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY")
VERSION = 1
_KIND = part("kind", "op", "what")


@dataclass(frozen=True, slots=True)
class Checksum:
    """The checksums of the row after and of the row before."""

    version: int = member(UINT32, CHECKSUM, extra("checksum_version"))
    corrupted: bool = member(FLAG, CHECKSUM, extra("corrupted"))
    current: int = member(UINT32, CHECKSUM, extra("checksum"))
    previous: int = member(UINT32, CHECKSUM, extra("checksum_previous"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The members of every message: the type says which other ones there are."""

    version: int = member(only(VERSION), FIELDS, default=VERSION, required=True)
    type: str = member(word_of(*DML_TYPES, *DDL_TYPES, BOOTSTRAP, WATERMARK), TYPES, _KIND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dml:
    """A row. ``data``: the new row, ``old``: the old one. ``offset``: of the schema's version."""

    version: int = member(only(VERSION), FIELDS, default=VERSION, required=True)
    database: str = member(NAME, FIELDS, part("schema"), default="")
    table: str = member(NAME, FIELDS, part("table"), default="")
    table_id: int = member(INT64, FIELDS, extra("table_id"), name="tableID", default=0)
    type: str = member(word_of(*DML_TYPES), TYPES, _KIND)
    commit_ts: int = member(TSO, FIELDS, part("commit_ts"), name="commitTs")
    build_ts: int = member(MILLISECONDS, FIELDS, part("sent_ms"), name="buildTs")
    schema_version: int = member(UINT64, SCHEMA_VERSIONS, name="schemaVersion", default=0)
    claim_check_location: str | None = member(
        TEXT, CLAIM_CHECK, extra("claim_check"), name="claimCheckLocation", default=None
    )
    handle_key_only: bool | None = member(FLAG, HANDLE_KEY_ONLY, name="handleKeyOnly", default=None)
    checksum: Checksum | None = member(nested(Checksum), CHECKSUM, default=None)
    data: Row | None = member(ROW, ROWS, part("after"), default=None)
    old: Row | None = member(ROW, ROWS, part("before"), default=None)
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ddl:
    """A schema change."""

    version: int = member(only(VERSION), FIELDS, default=VERSION, required=True)
    type: str = member(word_of(*DDL_TYPES), TYPES, _KIND)
    sql: str = member(TEXT, DDL, part("query"))
    commit_ts: int = member(TSO, FIELDS, part("commit_ts"), name="commitTs")
    build_ts: int = member(MILLISECONDS, FIELDS, part("sent_ms"), name="buildTs")
    table_schema: TableSchema | None = member(
        SCHEMA, SCHEMAS, part("schema", "table", "key"), name="tableSchema", default=None
    )
    pre_table_schema: TableSchema | None = member(
        SCHEMA, SCHEMAS, extra("pre_table_schema"), name="preTableSchema", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """The definition of a table, sent before its rows and again from time to time. No event."""

    version: int = member(only(VERSION), FIELDS, default=VERSION, required=True)
    type: str = member(word_of(BOOTSTRAP), TYPES, default=BOOTSTRAP, required=True)
    commit_ts: int = member(only(0, TSO), BOOTSTRAPS, name="commitTs", default=0, required=True)
    build_ts: int = member(MILLISECONDS, FIELDS, name="buildTs")
    table_schema: TableSchema = member(SCHEMA, SCHEMAS, name="tableSchema")


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """All changes up to ``commit_ts`` were sent."""

    version: int = member(only(VERSION), FIELDS, default=VERSION, required=True)
    type: str = member(word_of(WATERMARK), TYPES, _KIND, default=WATERMARK, required=True)
    commit_ts: int = member(TSO, WATERMARKS, part("commit_ts"), name="commitTs")
    build_ts: int = member(MILLISECONDS, FIELDS, part("sent_ms"), name="buildTs")


Message: TypeAlias = "Dml | Ddl | Bootstrap | Watermark"
CLASSES: dict[str, type[Message]] = {
    **dict.fromkeys(DML_TYPES, Dml),
    **dict.fromkeys(DDL_TYPES, Ddl),
    BOOTSTRAP: Bootstrap,
    WATERMARK: Watermark,
}
RECORDS = {each: record_of(each, UNKNOWN) for each in (Dml, Ddl, Bootstrap, Watermark)}
HEAD = record_of(Head)


def class_of(found: JsonObject) -> type[Message] | None:
    """Return the class of the message that an object is; None for another type."""
    given = found.get("type")
    kind = None if given is None else given.value
    return CLASSES.get(kind) if isinstance(kind, str) else None
