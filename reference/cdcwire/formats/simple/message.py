"""The values of a `simple` message, in JSON or in Avro.

Members keep the meaning of their names. A value of a row is as its encoding has it: in JSON a text,
in Avro a ``Branch`` of the union of values; ``Timestamp`` is both encodings' TIMESTAMP.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire.apache_avro.datum import Branch
from cdcwire.core.strict_json import Number

INSERT, UPDATE, DELETE = "INSERT", "UPDATE", "DELETE"
WATERMARK, BOOTSTRAP = "WATERMARK", "BOOTSTRAP"
DML_TYPES = (INSERT, UPDATE, DELETE)
DDL_TYPES = ("CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY")
VERSION = 1


@dataclass(frozen=True, slots=True)
class DataType:
    """The declared type of a column. None: the member is absent, or null in Avro."""

    mysql_type: str
    charset: str
    collate: str
    length: int
    decimal: int | None = None
    elements: tuple[str, ...] | None = None
    unsigned: bool | None = None
    zerofill: bool | None = None


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """A column of a table. A default that is not UTF-8, of a BIT in Avro, is bytes."""

    name: str
    data_type: DataType
    nullable: bool
    default: str | bytes | Number | None = None


@dataclass(frozen=True, slots=True)
class IndexSchema:
    """An index of a table."""

    name: str
    unique: bool
    primary: bool
    nullable: bool
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The definition of a table. ``version``: the timestamp since when it is so."""

    schema: str
    table: str
    table_id: int
    version: int
    columns: tuple[ColumnSchema, ...]
    indexes: tuple[IndexSchema, ...]


@dataclass(frozen=True, slots=True)
class Checksum:
    """The checksums of the row after and of the row before."""

    version: int
    corrupted: bool
    current: int
    previous: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A TIMESTAMP: its local text, and the zone that it is local to."""

    location: str
    value: str


CellValue: TypeAlias = "str | Timestamp | Branch | None"


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a row. ``offset``: the byte where its value begins."""

    name: str
    value: CellValue
    offset: int = field(default=0, compare=False)


Row: TypeAlias = "tuple[Cell, ...]"


@dataclass(frozen=True, slots=True)
class Dml:
    """A row. ``data``: the new row, ``old``: the old one. ``offset``: of the schema's version."""

    type: str
    commit_ts: int
    build_ts: int
    database: str = ""
    table: str = ""
    table_id: int = 0
    schema_version: int = 0
    claim_check_location: str | None = None
    handle_key_only: bool | None = None
    checksum: Checksum | None = None
    data: Row | None = None
    old: Row | None = None
    version: int = VERSION
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Ddl:
    """A schema change."""

    type: str
    sql: str
    commit_ts: int
    build_ts: int
    table_schema: TableSchema | None = None
    pre_table_schema: TableSchema | None = None
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The definition of a table, sent before its rows and again from time to time."""

    build_ts: int
    table_schema: TableSchema
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Watermark:
    """All changes up to ``commit_ts`` were sent."""

    commit_ts: int
    build_ts: int
    version: int = VERSION


Message: TypeAlias = "Dml | Ddl | Bootstrap | Watermark"
