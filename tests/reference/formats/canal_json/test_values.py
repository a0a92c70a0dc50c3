"""Values of every MySQL type: their text, their ``sqlType``, and ``mysqlType`` in both forms."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.formats.canal_json import Settings, decode, from_event
from cdcwire.formats.canal_json.events import events_of
from cdcwire.formats.canal_json.wire import write_object
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import (
    UNAVAILABLE,
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
    Type,
    Value,
    VectorType,
    YearType,
)
from cdcwire.mysql.declared import parse_declared, type_of_declared

ALL_BYTES = bytes(range(256))

# declared type, value, text, sqlType, short mysqlType, full mysqlType
COLUMNS: tuple[tuple[str, Value, str, int, str, str], ...] = (
    ("tinyint", -128, "-128", -6, "tinyint", "tinyint(4)"),
    ("boolean", 1, "1", -6, "tinyint", "tinyint(1)"),
    ("smallint", -32768, "-32768", 5, "smallint", "smallint(6)"),
    ("mediumint", 8388607, "8388607", 4, "mediumint", "mediumint(9)"),
    ("int", -2147483648, "-2147483648", 4, "int", "int(11)"),
    ("bigint", -(1 << 63), "-9223372036854775808", -5, "bigint", "bigint(20)"),
    ("tinyint unsigned", 127, "127", -6, "tinyint unsigned", "tinyint(3) unsigned"),
    ("tinyint unsigned", 128, "128", 5, "tinyint unsigned", "tinyint(3) unsigned"),
    ("smallint unsigned", 32767, "32767", 5, "smallint unsigned", "smallint(5) unsigned"),
    ("smallint unsigned", 32768, "32768", 4, "smallint unsigned", "smallint(5) unsigned"),
    ("mediumint unsigned", 16777215, "16777215", 4, "mediumint unsigned", "mediumint(8) unsigned"),
    ("int unsigned", 2147483647, "2147483647", 4, "int unsigned", "int(10) unsigned"),
    ("int unsigned", 2147483648, "2147483648", -5, "int unsigned", "int(10) unsigned"),
    (
        "bigint unsigned",
        (1 << 63) - 1,
        str((1 << 63) - 1),
        -5,
        "bigint unsigned",
        "bigint(20) unsigned",
    ),
    (
        "bigint unsigned",
        (1 << 64) - 1,
        str((1 << 64) - 1),
        3,
        "bigint unsigned",
        "bigint(20) unsigned",
    ),
    (
        "int(8) unsigned zerofill",
        7,
        "7",
        4,
        "int unsigned zerofill",
        "int(8) unsigned zerofill",
    ),
    ("float", 1.5, "1.5", 7, "float", "float"),
    ("float(7,3)", 3.4028234663852886e38, "34028235" + "0" * 31, 7, "float", "float(7,3)"),
    ("float unsigned", 0.25, "0.25", 7, "float unsigned", "float unsigned"),
    ("double", 1e21, "1000000000000000000000", 8, "double", "double"),
    ("double", -0.0, "-0", 8, "double", "double"),
    ("double(10,2)", 1e-7, "0.0000001", 8, "double", "double(10,2)"),
    ("decimal", Decimal(7), "7", 3, "decimal", "decimal(10,0)"),
    ("decimal(10,4)", Decimal("-0.0100"), "-0.0100", 3, "decimal", "decimal(10,4)"),
    ("bit(1)", 1, "1", -7, "bit", "bit(1)"),
    ("bit(64)", (1 << 64) - 1, str((1 << 64) - 1), -7, "bit", "bit(64)"),
    ("year", 2024, "2024", 12, "year", "year(4)"),
    ("date", "0000-00-00", "0000-00-00", 91, "date", "date"),
    ("time", "-838:59:59", "-838:59:59", 92, "time", "time"),
    ("time(3)", "01:02:03.400", "01:02:03.400", 92, "time", "time(3)"),
    ("datetime", "2024-01-02 03:04:05", "2024-01-02 03:04:05", 93, "datetime", "datetime"),
    (
        "timestamp(6)",
        "2024-01-02 03:04:05.000001",
        "2024-01-02 03:04:05.000001",
        93,
        "timestamp",
        "timestamp(6)",
    ),
    ("char(5)", "<é>", "<é>", 1, "char", "char(5)"),
    ("varchar(20)", "", "", 12, "varchar", "varchar(20)"),
    ("tinytext", "null", "null", 2005, "tinytext", "tinytext"),
    ("text", "\u2028\ufffd\x7f", "\u2028\ufffd\x7f", 2005, "text", "text"),
    ("mediumtext", '"\\\b\f\n\r\t\x00', '"\\\b\f\n\r\t\x00', 2005, "mediumtext", "mediumtext"),
    ("longtext", "😀", "😀", 2005, "longtext", "longtext"),
    ("binary(256)", ALL_BYTES, ALL_BYTES.decode("latin-1"), 2004, "binary", "binary(256)"),
    ("varbinary(9)", b"\xff", "ÿ", 2004, "varbinary", "varbinary(9)"),
    ("tinyblob", b"", "", 2004, "tinyblob", "tinyblob"),
    ("blob", b'"', '"', 2004, "blob", "blob"),
    ("mediumblob", b"\x00", "\x00", 2004, "mediumblob", "mediumblob"),
    ("longblob", b"\xc3\xa9", "Ã©", 2004, "longblob", "longblob"),
    ("enum('a,b','it''s','')", 2, "2", 4, "enum", "enum('a,b','it''s','')"),
    ("set('a','b')", 3, "3", -7, "set", "set('a','b')"),
    ("json", '{"a": 1}', '{"a": 1}', 12, "json", "json"),
    ("vector", (1.0, -2.5), "[1,-2.5]", 12, "vector", "vector"),
)
IDS = [f"{declared} {str(text)[:12]}" for declared, _, text, *_ in COLUMNS]
each_column = pytest.mark.parametrize(
    ("declared", "value", "text", "code", "short", "full"), COLUMNS, ids=IDS
)


def column_of(declared: str, name: str = "c") -> Column:
    return Column(name, type_of_declared(parse_declared(declared)), declared)


def insert(column: Column, value: Value) -> RowChange:
    image = Image((column,), (value,))
    return RowChange(Table("t", "s", key=()), "insert", None, image, Position(commit_ts=1 << 18))


def read_value(mysql_type: str, text: str) -> Value:
    from json import dumps

    value = (
        '{"database":"s","table":"t","isDdl":false,"type":"INSERT","es":1,"ts":1,'
        f'"mysqlType":{{"c":{dumps(mysql_type)}}},"data":[{{"c":{dumps(text)}}}]}}'
    )
    message = decode(value.encode())
    assert message is not None
    (event,) = events_of(message)
    assert isinstance(event, RowChange)
    assert event.after is not None
    return event.after["c"]


@each_column
def test_value_is_written_with_its_types(
    declared: str, value: Value, text: str, code: int, short: str, full: str
) -> None:
    for settings, mysql_type in ((Settings(), short), (Settings(content_compatible=True), full)):
        message = from_event(insert(column_of(declared), value), settings)
        assert message.data == ((("c", text),),)
        assert message.sql_type == (("c", code),)
        assert message.mysql_type == (("c", mysql_type),)
        assert decode(write_object(message)) == message


@each_column
def test_value_is_read_by_either_form_of_its_type(
    declared: str, value: Value, text: str, code: int, short: str, full: str
) -> None:
    for mysql_type in (short, full):
        found = read_value(mysql_type, text)
        assert (type(found), found) == (type(value), value)
        assert math.copysign(1, found) < 0 if text == "-0" else True


@each_column
def test_null_has_the_base_code_of_its_type(
    declared: str, value: Value, text: str, code: int, short: str, full: str
) -> None:
    message = from_event(insert(column_of(declared), None))
    base = from_event(insert(column_of(declared.replace(" unsigned", "")), None))
    assert message.data == ((("c", None),),)
    assert message.sql_type == base.sql_type


KINDS = {
    "int unsigned": "int32 unsigned",
    "decimal": "decimal",
    "decimal(10,4)": "decimal(10,4)",
    "varchar": "text",
    "varchar(20)": "text(20)",
    "datetime": "datetime",
    "datetime(3)": "datetime(3)",
    "bit": "bit",
    "bit(3)": "bit(3)",
    "enum": "enum",
    "enum('a','b')": "enum(a,b)",
    "tinyint(1)": "int8",
    "BIGINT(20) UNSIGNED": "int64 unsigned",
}


@pytest.mark.parametrize(("mysql_type", "kind"), KINDS.items(), ids=KINDS)
def test_kind_says_what_mysqltype_says_and_no_more(mysql_type: str, kind: str) -> None:
    value = (
        '{"database":"s","table":"t","isDdl":false,"type":"INSERT","es":1,"ts":1,"mysqlType":'
        f'{{"c":"{mysql_type}"}},"data":[{{"c":null}}]}}'
    )
    message = decode(value.encode())
    assert message is not None
    (event,) = events_of(message)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert kind_text(event.after.columns[0].type) == kind


@pytest.mark.parametrize(
    ("mysql_type", "text", "clause"),
    [
        ("tinyint", "128", "integer values"),
        ("tinyint unsigned", "-1", "integer values"),
        ("int", "", "integer values"),
        ("int", "+1", "integer values"),
        ("int", "01", "integer values"),
        ("int", "1.0", "integer values"),
        ("int", "٣", "integer values"),
        ("int", " 1", "integer values"),
        ("bigint", "9" * 5000, "integer values"),
        ("bit(2)", "4", "integer values"),
        ("year", "1900", "integer values"),
        ("float", "NaN", "float values"),
        ("float", "1e39", "float values"),
        ("double", "1e999", "float values"),
        ("double", "0x1", "float values"),
        ("double", "1_0", "float values"),
        ("decimal", "1e5", "decimal values"),
        ("decimal", "", "decimal values"),
        ("date", "2024-1-1", "temporal values"),
        ("datetime", "2024-01-01T00:00:00", "temporal values"),
        ("time", "839:00:00", "temporal values"),
        ("blob", "\u0100", "binary values"),
        ("enum('a')", "a", "enum and set values"),
        ("enum", "65536", "enum and set values"),
        ("set", "-1", "enum and set values"),
        ("vector", "[1,]", "vector values"),
    ],
)
def test_text_that_is_not_a_value_is_rejected(mysql_type: str, text: str, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_value(mysql_type, text)
    assert caught.value.path == ("data", 0, "c")
    assert caught.value.clause == f"canal-json: {clause}"


def test_float_is_rounded_once_from_its_digits() -> None:
    assert read_value("float", "0.00000000000000000000000007038531") == 7.038530691851209e-26


def test_float_with_an_exponent_is_read() -> None:
    assert read_value("double", "1.5E+10") == 1.5e10


def test_ill_formed_text_is_written_as_escapes_of_the_replacement_character() -> None:
    message = from_event(insert(column_of("varchar(9)"), b"a\xff\xe2\x82"))
    assert b'{"c":"a\\ufffd\\ufffd\\ufffd"}' in write_object(message)


def test_control_characters_have_the_escapes_of_the_producer() -> None:
    message = from_event(insert(column_of("varchar(9)"), "\b\f\n\r\t\x01\x7f<>&\u2028/"))
    expected = '"\\u0008\\u000c\\n\\r\\t\\u0001\x7f\\u003c\\u003e\\u0026\\u2028/"'
    assert expected.encode() in write_object(message)


def test_label_of_a_known_enum_is_written_as_its_number() -> None:
    column = Column("c", EnumType(("a", "b"), "label"))
    assert from_event(insert(column, "b")).data == ((("c", "2"),),)


@pytest.mark.parametrize(
    ("kind", "value", "clause"),
    [
        (IntType(8), 128, "integer values"),
        (IntType(8), "1", "integer values"),
        (YearType(), 1, "integer values"),
        (FloatType(64), math.inf, "float values"),
        (FloatType(32), 0.1, "float values"),
        (FloatType(64), 1, "float values"),
        (DecimalType(), Decimal("NaN"), "decimal values"),
        (DecimalType(3, 1), Decimal("1.25"), "decimal values"),
        (DateType(), "today", "temporal values"),
        (DatetimeType(form="us"), 1 << 62, "temporal values"),
        (TimestampType(zone="+08:00"), "2024-01-01 00:00:00", "temporal values"),
        (TextType(), 1, "text values"),
        (BytesType(), "a", "binary values"),
        (EnumType(form="label"), "a", "enum and set values"),
        (EnumType(("a",), "label"), "b", "enum and set values"),
        (SetType(), -1, "enum and set values"),
        (JsonType(), "", "json values"),
        (VectorType(), (math.nan,), "vector values"),
        (IntType(8), UNAVAILABLE, "integer values"),
    ],
)
def test_value_that_has_no_text_is_refused(kind: Type, value: Value, clause: str) -> None:
    with pytest.raises(EncodeError) as caught:
        from_event(insert(Column("c", kind), value))
    assert caught.value.path == ("after", "c")
    assert caught.value.clause == f"canal-json: {clause}"


def test_kind_that_mysql_does_not_have_is_refused() -> None:
    with pytest.raises(EncodeError) as caught:
        from_event(insert(Column("c", IntervalType()), None))
    assert caught.value.clause == "canal-json: mysqlType"


def test_boolean_is_a_tinyint() -> None:
    message = from_event(insert(Column("c", BoolType()), True))
    assert (message.data, message.mysql_type) == (((("c", "1"),),), (("c", "tinyint"),))


def test_unspecified_parameters_are_left_out() -> None:
    kinds: tuple[Type, ...] = (DecimalType(), TextType(), BytesType(), EnumType(), IntType(32))
    columns = tuple(Column(f"c{index}", kind) for index, kind in enumerate(kinds))
    event = RowChange(
        Table("t", "s", key=()),
        "insert",
        None,
        Image(columns, (None,) * len(columns)),
        Position(commit_ts=1),
    )
    types = dict(from_event(event, Settings(content_compatible=True)).mysql_type or ())
    assert list(types.values()) == ["decimal", "varchar", "varbinary", "enum", "int(11)"]
