"""Declared MySQL types: spellings, defaults, and columns of the model to and from them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import EncodeError
from cdcwire.model.kinds import (
    ArrayType,
    BitType,
    BoolType,
    BytesType,
    Column,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntervalType,
    IntType,
    JsonType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    VectorType,
    YearType,
)
from cdcwire.mysql.declared import (
    DeclaredType,
    declared_text,
    declared_type,
    parse_declared,
    quoted_elements,
    type_of_declared,
)

CLAUSE = "test: clause"


def declared(
    base: str,
    flen: int | None = None,
    decimal: int | None = None,
    sign: str = "",
    elements: tuple[str, ...] | None = None,
) -> DeclaredType:
    return DeclaredType(base, flen, decimal, "u" in sign, "z" in sign, elements)


SPELLINGS = [
    ("int(10) unsigned zerofill", declared("int", 10, sign="uz")),
    ("int zerofill", declared("int", 10, sign="uz")),
    ("BIGINT UNSIGNED", declared("bigint", 20, sign="u")),
    ("Integer", declared("int", 11)),
    ("int signed", declared("int", 11)),
    ("INT1", declared("tinyint", 4)),
    ("int2", declared("smallint", 6)),
    ("middleint", declared("mediumint", 9)),
    ("int8", declared("bigint", 20)),
    ("serial", declared("bigint", 20, sign="u")),
    ("boolean", declared("tinyint", 1)),
    ("BOOL", declared("tinyint", 1)),
    ("tinyint(1)", declared("tinyint", 1)),
    ("bit", declared("bit", 1)),
    ("BIT UNSIGNED", declared("bit", 1)),
    ("YEAR UNSIGNED", declared("year", 4)),
    ("year(4) unsigned zerofill", declared("year", 4)),
    ("float", declared("float", 12)),
    ("float(7,3)", declared("float", 7, 3)),
    ("float ( 7 , 3 ) unsigned", declared("float", 7, 3, "u")),
    ("float(24)", declared("float", 12)),
    ("float(25)", declared("double", 22)),
    ("double precision", declared("double", 22)),
    ("REAL", declared("double", 22)),
    ("numeric", declared("decimal", 10, 0)),
    ("dec(6)", declared("decimal", 6, 0)),
    ("fixed(6,2)", declared("decimal", 6, 2)),
    ("date", declared("date")),
    ("time", declared("time")),
    ("datetime(0)", declared("datetime", None, 0)),
    ("TIMESTAMP(6)", declared("timestamp", None, 6)),
    ("char", declared("char", 1)),
    ("nchar varying(3)", declared("varchar", 3)),
    ("national\n character varying (3)", declared("varchar", 3)),
    ("varchar(64) character set utf8mb4 collate utf8mb4_bin", declared("varchar", 64)),
    ("varchar(64) binary", declared("varchar", 64)),
    ("varchar(64) CHARACTER SET = 'binary'", declared("varbinary", 64)),
    ("char(3) charset binary", declared("binary", 3)),
    ("char byte", declared("binary", 1)),
    ("text collate binary", declared("blob", 65535)),
    ("varchar", declared("varchar")),
    ("var_string binary", declared("varbinary")),
    ("long varbinary", declared("mediumblob", 16777215)),
    ("long", declared("mediumtext", 16777215)),
    ("text(63)", declared("tinytext", 255)),
    ("text(64)", declared("text", 65535)),
    ("blob(255)", declared("tinyblob", 255)),
    ("blob(65536)", declared("mediumblob", 16777215)),
    ("json", declared("json")),
    ("vector(3)", declared("vector", 3)),
    ("enum('a','it''s')", declared("enum", elements=("a", "it's"))),
    ('ENUM ( "a""b" , \'\' )', declared("enum", elements=('a"b', ""))),
    ("set('a\\','b)')", declared("set", elements=("a\\", "b)"))),
    ("enum('a') character set utf8", declared("enum", elements=("a",))),
    ("enum", declared("enum")),
    ("null", declared("null")),
    ("geometry", declared("geometry")),
]


@pytest.mark.parametrize(("text", "expected"), SPELLINGS)
def test_declared_spelling_is_read(text: str, expected: DeclaredType) -> None:
    assert parse_declared(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "3", "string", "LONG INT", "unsigned bigint", "int(", "int()", "int(x)"),
        *("int(1,2)", "bit(1,2)", "enum(1)", "enum()", "enum('a'", "enum('a'b)", "int('a')"),
        *("varchar(3) nonsense", "int not null", "datetime(7)", "blob(4294967296)", "int) "),
        "int" + " " * (1 << 20),
        "int " + "charset" * 1000 + "!",
        "int " + "charset " * 1000,
        "int " + "unsigned " * 1000,
        "bigint " * 10000,
        "enum(" + "'" * 100001,
    ],
    ids=lambda text: text[:20],
)
def test_declared_of_something_else_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"type|expected|parameters|number|digits|holds|attribute"):
        parse_declared(text)


@pytest.mark.parametrize(
    ("text", "expected", "kind"),
    [
        ("decimal", declared("decimal"), DecimalType()),
        ("bit", declared("bit"), BitType()),
        ("char", declared("char"), TextType()),
        ("int unsigned", declared("int", sign="u"), IntType(32, True)),
        ("boolean", declared("tinyint", 1), IntType(8)),
        ("decimal(6)", declared("decimal", 6), DecimalType(6, 0)),
    ],
)
def test_declared_without_defaults_leaves_unspecified_parts_open(
    text: str, expected: DeclaredType, kind: Type
) -> None:
    found = parse_declared(text, False)
    assert found == expected
    assert type_of_declared(found) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("tinyint unsigned", IntType(8, True)),
        ("mediumint", IntType(24)),
        ("float", FloatType(32)),
        ("double", FloatType(64)),
        ("decimal(6,3)", DecimalType(6, 3)),
        ("char(3)", TextType(3)),
        ("longtext", TextType()),
        ("binary(3)", BytesType(3)),
        ("longblob", BytesType()),
        ("bit(3)", BitType(3)),
        ("year", YearType()),
        ("date", DateType()),
        ("time(2)", TimeType(2)),
        ("datetime", DatetimeType()),
        ("timestamp(6)", TimestampType(6, zone="+01:00")),
        ("enum('a')", EnumType(("a",))),
        ("set('a')", SetType(("a",))),
        ("json", JsonType()),
        ("vector", VectorType()),
        ("geometry", UnknownType()),
    ],
)
def test_declared_kind(text: str, kind: Type) -> None:
    assert type_of_declared(parse_declared(text), "+01:00") == kind


@pytest.mark.parametrize(
    ("kind", "source", "expected"),
    [
        (IntType(32), None, declared("int", 11)),
        (IntType(32, True), "int", declared("int", 10, sign="u")),
        (IntType(32), "int unsigned", declared("int", 11)),
        (IntType(8), "INT", declared("tinyint", 4)),
        (IntType(64), "LONG", declared("bigint", 20)),
        (BoolType(), None, declared("tinyint", 1)),
        (BoolType(), "tinyint(1)", declared("tinyint", 1)),
        (BoolType(), "BOOLEAN", declared("tinyint", 1)),
        (FloatType(32), "double", declared("float", 12)),
        (FloatType(64), "double(7,2)", declared("double", 7, 2)),
        (DecimalType(6, 3), None, declared("decimal", 6, 3)),
        (DecimalType(6, 3), "decimal", declared("decimal", 6, 3)),
        (DecimalType(6, 3), "decimal(7,2)", declared("decimal", 7, 2)),
        (DecimalType(), "numeric", declared("decimal", 10, 0)),
        (TextType(3), None, declared("varchar", 3)),
        (TextType(3), "varchar", declared("varchar", 3)),
        (TextType(3), "text", declared("text", 65535)),
        (TextType(), "varbinary(3)", declared("varchar")),
        (TextType(), "enum('a')", declared("varchar")),
        (BytesType(3), "binary", declared("binary", 3)),
        (BytesType(), "binary", declared("binary", 1)),
        (BytesType(), None, declared("varbinary")),
        (BitType(3), "bit", declared("bit", 3)),
        (DatetimeType(3), "datetime", declared("datetime", None, 3)),
        (DatetimeType(3), "timestamp(6)", declared("datetime", None, 3)),
        (TimestampType(), "timestamp(6)", declared("timestamp", None, 6)),
        (TimeType(), None, declared("time")),
        (YearType(), None, declared("year", 4)),
        (DateType(), "date", declared("date")),
        (JsonType(), "io.debezium.data.Json", declared("json")),
        (VectorType(), None, declared("vector")),
        (EnumType(("a",)), "enum", declared("enum", elements=("a",))),
        (EnumType(("a",)), "enum('a','b')", declared("enum", elements=("a",))),
        (SetType(), None, declared("set")),
        (UnknownType(), "geometry", declared("geometry")),
        (UnknownType(), "type 99", declared("null")),
    ],
    ids=str,
)
def test_declared_of_a_column(kind: Type, source: str | None, expected: DeclaredType) -> None:
    assert declared_type(Column("c", kind, source), CLAUSE) == expected


@pytest.mark.parametrize("kind", [IntervalType(), ArrayType(IntType(8))], ids=str)
def test_declared_of_a_kind_that_mysql_has_not_is_refused(kind: Type) -> None:
    with pytest.raises(EncodeError) as caught:
        declared_type(Column("c", kind), CLAUSE)
    assert caught.value.clause == CLAUSE


ELEMENTS = st.text(max_size=5).filter(lambda text: not re.search(r"\\[nr0]", text))
LENGTHS = st.integers(1, 9999)
DECLARED = st.one_of(
    st.builds(
        DeclaredType,
        st.sampled_from(["tinyint", "int", "bigint", "double"]),
        LENGTHS,
        st.none(),
        st.booleans(),
    ),
    st.builds(DeclaredType, st.just("decimal"), LENGTHS, LENGTHS, st.booleans()),
    st.builds(DeclaredType, st.sampled_from(["float", "double"]), LENGTHS, LENGTHS),
    st.builds(DeclaredType, st.sampled_from(["char", "varbinary", "bit", "vector"]), LENGTHS),
    st.builds(DeclaredType, st.sampled_from(["time", "timestamp"]), st.none(), st.integers(1, 6)),
    st.sampled_from(["text", "blob", "json", "date", "year", "float"]).map(parse_declared),
    st.builds(
        lambda base, labels: DeclaredType(base, elements=tuple(labels)),
        st.sampled_from(["enum", "set"]),
        st.lists(ELEMENTS, min_size=1, max_size=4),
    ),
)


@given(DECLARED)
def test_declared_text_is_read_back(found: DeclaredType) -> None:
    """parse_declared(declared_text(d)) == d, whatever stands in elements."""
    assert parse_declared(declared_text(found)) == found


@pytest.mark.parametrize(
    ("text", "element"),
    [
        (r"enum('a\nb')", "a\nb"),
        (r"enum('\r')", "\r"),
        (r"enum('\0')", "\0"),
        (r"enum('a\b\t')", r"a\b\t"),
    ],
)
def test_escapes_of_elements_are_those_of_tidb(text: str, element: str) -> None:
    found = parse_declared(text)
    assert found.elements == (element,)
    assert declared_text(found) == text


def test_backslash_that_would_read_back_as_an_escape_is_refused() -> None:
    with pytest.raises(ValueError, match="backslash before n, r or 0"):
        quoted_elements(["a\\n"])


def test_source_of_such_an_element_is_written_as_it_is() -> None:
    """The labels of the kind count before it, so nothing reads it back as an escape."""
    assert declared_text(DeclaredType("enum", elements=("a\\n",))) == r"enum('a\n')"


@given(st.text("aeintum'\",() \\binary0", max_size=30))
def test_declared_of_any_text_is_read_or_a_value_error(text: str) -> None:
    for start in ("", "enum", "varchar(3) "):
        try:
            parse_declared(start + text)
        except ValueError:
            continue
