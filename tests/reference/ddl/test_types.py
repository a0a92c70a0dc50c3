"""Column types: MySQL's own names, and the kinds of the model."""

from __future__ import annotations

import pytest

from cdcwire.ddl import DdlError, parse_ddl
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column

pytest.importorskip("sqlglot", reason="the extra [ddl] is not installed")


def column_of(definition: str, options: str = "") -> Column:
    (table,) = parse_ddl(f"CREATE TABLE t (a {definition}) {options}")
    assert table.columns is not None
    return table.columns[0]


@pytest.mark.parametrize(
    ("written", "source", "kind"),
    [
        ("tinyint", "tinyint", "int8"),
        ("TINYINT(1)", "tinyint(1)", "bool"),
        ("boolean", "tinyint(1)", "bool"),
        ("BOOL", "tinyint(1)", "bool"),
        ("tinyint(1) unsigned", "tinyint(1) unsigned", "int8 unsigned"),
        ("tinyint(4)", "tinyint(4)", "int8"),
        ("smallint signed", "smallint", "int16"),
        ("mediumint unsigned", "mediumint unsigned", "int24 unsigned"),
        ("int(11)", "int(11)", "int32"),
        ("integer zerofill", "int unsigned zerofill", "int32 unsigned"),
        ("bigint(20) unsigned", "bigint(20) unsigned", "int64 unsigned"),
        ("INT8", "bigint", "int64"),
        ("serial", "bigint unsigned", "int64 unsigned"),
        ("float", "float", "float32"),
        ("float unsigned", "float unsigned", "float32"),
        ("float(7,3)", "float(7,3)", "float32"),
        ("float(24)", "float", "float32"),
        ("float(25)", "double", "float64"),
        ("real", "double", "float64"),
        ("double precision", "double", "float64"),
        ("decimal", "decimal(10,0)", "decimal(10,0)"),
        ("dec(5)", "decimal(5,0)", "decimal(5,0)"),
        ("numeric(65,30) unsigned", "decimal(65,30) unsigned", "decimal(65,30)"),
        ("char", "char(1)", "text(1)"),
        ("national character varying(9)", "varchar(9)", "text(9)"),
        ("nchar(3)", "char(3)", "text(3)"),
        ("varchar(20) character set utf8mb4 collate utf8mb4_bin", "varchar(20)", "text(20)"),
        ("varchar(20) binary", "varchar(20)", "text(20)"),
        ("varchar(20) charset binary", "varbinary(20)", "bytes(20)"),
        ("char byte", "binary(1)", "bytes(1)"),
        ("tinytext", "tinytext", "text"),
        ("text(100)", "text", "text"),
        ("text(100) charset latin1", "tinytext", "text"),
        ("text(20000000)", "longtext", "text"),
        ("long", "mediumtext", "text"),
        ("long varbinary", "mediumblob", "bytes"),
        ("longtext character set binary", "longblob", "bytes"),
        ("binary(16)", "binary(16)", "bytes(16)"),
        ("varbinary(16)", "varbinary(16)", "bytes(16)"),
        ("blob(10)", "tinyblob", "bytes"),
        ("mediumblob", "mediumblob", "bytes"),
        ("bit", "bit(1)", "bit(1)"),
        ("bit(64)", "bit(64)", "bit(64)"),
        ("date", "date", "date"),
        ("time(6)", "time(6)", "time(6)"),
        ("datetime", "datetime", "datetime(0)"),
        ("timestamp(3)", "timestamp(3)", "timestamp(3)"),
        ("year(4)", "year", "year"),
        ("json", "json", "json"),
        ("vector(3)", "vector(3)", "vector"),
        ("vector<float>(3)", "vector(3)", "vector"),
        ("point srid 4326", "point", "unknown"),
        ("enum('a','b,c')", "enum('a','b,c')", r"enum(a,b\,c)"),
        ("set('x', 'y')", "set('x','y')", "set(x,y)"),
    ],
)
def test_type_is_read_as_mysql_has_it(written: str, source: str, kind: str) -> None:
    column = column_of(written)
    assert (column.source, kind_text(column.type)) == (source, kind)


def test_labels_lose_their_quotes_and_nothing_else() -> None:
    column = column_of("""enum('it''s', "d""q", 'b\\\\s', 'x\\'y', '', ' in ', '日本')""")
    labels = getattr(column.type, "labels", None)
    assert labels == ("it's", 'd"q', "b\\s", "x'y", "", " in", "日本")


def test_character_set_binary_of_the_table_makes_texts_bytes() -> None:
    assert column_of("varchar(5)", "DEFAULT CHARSET=binary").source == "varbinary(5)"
    assert column_of("varchar(5) charset utf8", "CHARACTER SET binary").source == "varchar(5)"


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("inet9", "'inet9' is not a type of MySQL"),
        ("array<int>", "'array' is not a type of MySQL"),
        ("varchar", "a varchar needs its length"),
        ("char(256)", "a char can't have 256 characters"),
        ("decimal(66,2)", "a decimal can't have (66,2)"),
        ("decimal(5,6)", "a decimal can't have (5,6)"),
        ("float(54)", "a float has up to 53 bits, not 54"),
        ("bit(65)", "a bit column has 1 to 64 bits, not 65"),
        ("time(7)", "a time has up to 6 digits of a second, not 7"),
        ("year(2)", "a year has 4 digits"),
        ("blob(4294967296)", "a blob can't have 4294967296 bytes"),
        ("vector(0)", "a vector has 1 to 16383 numbers, not 0"),
        ("set(" + ",".join(f"'{n}'" for n in range(65)) + ")", "a set has up to 64 labels, not 65"),
    ],
)
def test_type_out_of_range_is_refused_at_its_place(written: str, problem: str) -> None:
    with pytest.raises(DdlError) as caught:
        column_of(written)
    assert (caught.value.problem, caught.value.line, caught.value.column) == (problem, 1, 19)


def test_duplicate_label_is_refused_at_its_place() -> None:
    with pytest.raises(DdlError, match="duplicated") as caught:
        column_of("enum('a',\n 'a ')")
    assert (caught.value.line, caught.value.column) == (2, 2)


def test_set_label_with_comma_is_refused() -> None:
    with pytest.raises(DdlError, match="comma"):
        column_of("set('a,b')")
