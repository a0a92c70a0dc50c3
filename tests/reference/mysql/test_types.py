"""Type codes and flags to columns and back."""

from __future__ import annotations

import pytest

from cdcwire.core.errors import EncodeError
from cdcwire.model.kinds import (
    ArrayType,
    BoolType,
    BytesType,
    Column,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    TextType,
    TimestampType,
    Type,
    UnknownType,
    YearType,
)
from cdcwire.mysql.types import (
    FLAG_UNSIGNED,
    TYPE_DOUBLE,
    TYPE_MEDIUM_BLOB,
    TYPE_NEWDECIMAL,
    TYPE_STRING,
    TYPE_VARCHAR,
    code_and_flags,
    column_of,
)

# name, type code and flags of the Craft proposal's 29 columns: primary key c1, unique key c2
PROPOSAL_COLUMNS = [
    ("tinyint", 1, 11),
    ("smallint", 2, 81),
    ("mediumint", 9, 65),
    ("int", 3, 65),
    ("bigint", 8, 65),
    ("char", 254, 64),
    ("varchar", 15, 64),
    ("tinytext", 249, 64),
    ("mediumtext", 250, 64),
    ("text", 252, 64),
    ("longtext", 251, 64),
    ("binary", 254, 65),
    ("varbinary", 15, 65),
    ("tinyblob", 249, 65),
    ("mediumblob", 250, 65),
    ("blob", 252, 65),
    ("longblob", 251, 65),
    ("float", 4, 65),
    ("double", 5, 65),
    ("decimal", 246, 65),
    ("date", 10, 65),
    ("time", 11, 65),
    ("datetime", 12, 65),
    ("timestamp", 7, 65),
    ("year", 13, 193),
    ("tinyint", 1, 65),
    ("json", 245, 65),
    ("enum", 247, 64),
    ("set", 248, 64),
    ("bit", 16, 193),
    ("vector", 225, 65),
    ("bigint unsigned", 8, 193),
]


@pytest.mark.parametrize(("source", "code", "flags"), PROPOSAL_COLUMNS)
def test_column_of_code_and_flags_leads_back_to_them(source: str, code: int, flags: int) -> None:
    column = column_of("c", code, flags)
    assert column.source == source
    assert code_and_flags(column, "clause") == (code, flags)


@pytest.mark.parametrize("code", range(256))
@pytest.mark.parametrize("flags", [0, 1, 64, 65, 128, 193])
def test_every_code_has_a_column_that_keeps_it(code: int, flags: int) -> None:
    assert code_and_flags(column_of("c", code, flags), "clause")[0] == code


def test_flags_give_roles_and_kind() -> None:
    column = column_of("c", 8, 0b10111110)
    assert column.type == IntType(64, True)
    assert column.roles == {"handle", "generated", "primary", "unique", "multiple"}
    assert column.nullable is False
    assert column_of("c", 254, 1).type == BytesType()
    assert column_of("c", 254, 0).type == TextType()
    assert column_of("c", 7, 0, "+08:00").type == TimestampType(zone="+08:00")


SOURCES: list[tuple[str, Type, int]] = [
    ("TINYINT(4) UNSIGNED", IntType(8, True), 1),
    ("bool", BoolType(), 1),
    ("Integer", IntType(32), 3),
    ("double precision", FloatType(64), 5),
    ("numeric(10,2)", DecimalType(10, 2), 246),
    ("character varying(20)", TextType(20), 15),
    ("enum('a','b')", EnumType(("a", "b")), 247),
    ("varbinary(20)", BytesType(20), 15),
    ("year(4)", YearType(), 13),
    ("geometry", UnknownType(), 255),
    ("io.debezium.time.Date", TextType(), 15),  # not a MySQL type: the plainest of the kind
    ("LONG", IntType(64), 8),
    ("varchar", IntType(16), 2),  # a source that can't hold the kind does not count
]


@pytest.mark.parametrize(("source", "kind", "code"), SOURCES, ids=[row[0] for row in SOURCES])
def test_source_gives_the_code_where_it_can_hold_the_kind(
    source: str, kind: Type, code: int
) -> None:
    assert code_and_flags(Column("c", kind, source), "clause")[0] == code


def test_nullable_unknown_is_nullable_but_for_key_columns() -> None:
    assert code_and_flags(Column("c", IntType(32)), "clause")[1] == 65
    primary = Column("c", IntType(32), roles=frozenset({"primary", "handle"}))
    assert code_and_flags(primary, "clause")[1] == 11


def test_kind_that_mysql_lacks_is_refused() -> None:
    with pytest.raises(EncodeError, match="array<int8>") as caught:
        code_and_flags(Column("c", ArrayType(IntType(8))), "craft: column types")
    assert caught.value.clause == "craft: column types"


@pytest.mark.parametrize(
    ("source", "kind", "code"),
    [
        ("nchar(10)", TextType(10), TYPE_STRING),
        ("national character varying(10)", TextType(10), TYPE_VARCHAR),
        ("long varchar", TextType(), TYPE_MEDIUM_BLOB),
        ("long varbinary", BytesType(), TYPE_MEDIUM_BLOB),
        ("LONG", TextType(), TYPE_MEDIUM_BLOB),
        ("decimal(10,2) unsigned zerofill", DecimalType(10, 2), TYPE_NEWDECIMAL),
        ("double  precision unsigned", FloatType(64), TYPE_DOUBLE),
    ],
)
def test_every_spelling_of_a_source_has_its_code(source: str, kind: Type, code: int) -> None:
    found, flags = code_and_flags(Column("c", kind, source), "column types")
    assert found == code
    assert bool(flags & FLAG_UNSIGNED) == ("unsigned" in source)
