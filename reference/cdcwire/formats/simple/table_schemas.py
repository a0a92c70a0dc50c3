"""Table schemas: the members ``tableSchema`` and ``preTableSchema``, and the fields in Avro."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from cdcwire.core.json_record import FLAG, Form, Quote, array_of, member, nested
from cdcwire.core.strict_json import Member, Number
from cdcwire.formats.simple.members import FORMS, INT64, NAME, SCHEMAS, TEXT, TEXTS, UINT64

Default: TypeAlias = "str | bytes | Number | None"


def _read_default(given: Member, data: bytes, clause: str) -> Default:
    if isinstance(given.value, Number):
        FORMS.integer_of(given.value, given.start, clause)
        return given.value
    return TEXT.read(given, data, clause)


def _write_default(default: Default, clause: str, quoted: Quote) -> str:
    if isinstance(default, Number):
        return default.text
    if isinstance(default, bytes):
        return quoted(default.decode("utf-8", "surrogateescape"))
    return TEXT.write(default or "", clause, quoted)


@dataclass(frozen=True, slots=True)
class DataType:
    """The declared type of a column. None: the member is absent, or null in Avro."""

    mysql_type: str = member(TEXT, SCHEMAS, name="mysqlType")
    charset: str = member(TEXT, SCHEMAS)
    collate: str = member(TEXT, SCHEMAS)
    length: int = member(INT64, SCHEMAS, default=0)
    decimal: int | None = member(INT64, SCHEMAS, default=None)
    elements: tuple[str, ...] | None = member(TEXTS, SCHEMAS, default=None)
    unsigned: bool | None = member(FLAG, SCHEMAS, default=None)
    zerofill: bool | None = member(FLAG, SCHEMAS, default=None)


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """A column of a table. A default that is not UTF-8, of a BIT in Avro, is bytes."""

    name: str = member(NAME, SCHEMAS)
    data_type: DataType = member(nested(DataType), SCHEMAS, name="dataType")
    nullable: bool = member(FLAG, SCHEMAS)
    default: Default = member(
        Form(_read_default, _write_default), SCHEMAS, default=None, null="", always=True
    )


@dataclass(frozen=True, slots=True)
class IndexSchema:
    """An index of a table."""

    name: str = member(TEXT, SCHEMAS)
    unique: bool = member(FLAG, SCHEMAS)
    primary: bool = member(FLAG, SCHEMAS)
    nullable: bool = member(FLAG, SCHEMAS)
    columns: tuple[str, ...] = member(TEXTS, SCHEMAS)


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The definition of a table. ``version``: the timestamp since when it is so."""

    schema: str = member(NAME, SCHEMAS)
    table: str = member(NAME, SCHEMAS)
    table_id: int = member(INT64, SCHEMAS, name="tableID")
    version: int = member(UINT64, SCHEMAS)
    columns: tuple[ColumnSchema, ...] = member(array_of(nested(ColumnSchema)), SCHEMAS)
    indexes: tuple[IndexSchema, ...] = member(array_of(nested(IndexSchema)), SCHEMAS)


SCHEMA = nested(TableSchema)
