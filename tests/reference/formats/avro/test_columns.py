"""Fields of columns: types, NULL, defaults, modes and dialects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cdcwire.apache_avro.schema import Record
from cdcwire.apache_avro.schema_json import schema_text
from cdcwire.core.errors import EncodeError
from cdcwire.core.options import OptionError, OptionValue
from cdcwire.formats.avro import MemorySource, read_settings, sanitize
from cdcwire.formats.avro.columns import field_of
from cdcwire.formats.avro.plans import split_allowed
from cdcwire.formats.avro.writing import messages_of
from cdcwire.model.events import Expression, Image, Position, RowChange, Table
from cdcwire.model.kinds import ABSENT, Column, UnknownType, Value
from cdcwire.mysql.declared import parse_declared, type_of_declared


def column(source: str, nullable: bool = False, default: Value = ABSENT) -> Column:
    return Column("c", type_of_declared(parse_declared(source)), source, nullable, default)


def field(column: Column, **options: OptionValue) -> str:
    settings = read_settings({name.replace("_", "-"): value for name, value in options.items()})
    made = field_of(column, settings, bool(column.nullable))
    text = schema_text(Record("t", "n", (made,)))
    return text.partition('"fields":[')[2].removesuffix("]}")


def plain(tidb_type: str, avro: str) -> str:
    return f'{{"type":"{avro}","connect.parameters":{{"tidb_type":"{tidb_type}"}}}}'


TYPES = {
    "boolean": ("INT", "int"),
    "tinyint": ("INT", "int"),
    "tinyint unsigned": ("INT UNSIGNED", "int"),
    "smallint": ("INT", "int"),
    "mediumint unsigned": ("INT UNSIGNED", "int"),
    "int": ("INT", "int"),
    "int(10) unsigned zerofill": ("INT UNSIGNED", "long"),
    "bigint": ("BIGINT", "long"),
    "bigint unsigned": ("BIGINT UNSIGNED", "long"),
    "float": ("FLOAT", "float"),
    "float unsigned": ("FLOAT", "float"),
    "double": ("DOUBLE", "double"),
    "char(3)": ("TEXT", "string"),
    "varchar(3)": ("TEXT", "string"),
    "longtext": ("TEXT", "string"),
    "text character set binary": ("BLOB", "bytes"),
    "binary(3)": ("BLOB", "bytes"),
    "varbinary(3)": ("BLOB", "bytes"),
    "tinyblob": ("BLOB", "bytes"),
    "json": ("JSON", "string"),
    "date": ("DATE", "string"),
    "datetime(6)": ("DATETIME", "string"),
    "timestamp(3)": ("TIMESTAMP", "string"),
    "time": ("TIME", "string"),
    "year": ("YEAR", "int"),
    "vector(3)": ("TiDBVECTORFloat32", "string"),
}


@pytest.mark.parametrize(("source", "names"), TYPES.items(), ids=TYPES)
def test_type_has_its_field(source: str, names: tuple[str, str]) -> None:
    assert field(column(source)) == f'{{"name":"c","type":{plain(*names)}}}'


def test_modes_and_dialects_change_the_type() -> None:
    number = column("bigint unsigned")
    mode: dict[str, OptionValue] = {"avro_bigint_unsigned_handling_mode": "string"}
    assert plain("BIGINT UNSIGNED", "string") in field(number, **mode)
    decimal = column("decimal(6,3)")
    assert '"logicalType":"decimal","precision":6,"scale":3}' in field(decimal)
    assert plain("DECIMAL", "string") in field(decimal, avro_decimal_handling_mode="string")
    assert plain("FLOAT", "double") in field(column("float"), dialect="float-as-double")


def test_decimal_without_size_has_ten_digits() -> None:
    assert '"precision":10,"scale":0}' in field(column("decimal"))


def test_bit_tells_its_length() -> None:
    assert '"connect.parameters":{"length":"1","tidb_type":"BIT"}' in field(column("bit"))
    assert '"connect.parameters":{"length":"10","tidb_type":"BIT"}' in field(column("bit(10)"))


ROWS: dict[str, tuple[bool, Value, str]] = {
    "NOT NULL, no default": (False, ABSENT, '{"name":"c","type":%s}'),
    "NOT NULL, default": (False, "7", '{"default":7,"name":"c","type":%s}'),
    "nullable": (True, ABSENT, '{"default":null,"name":"c","type":["null",%s]}'),
    "nullable, default NULL": (True, None, '{"default":null,"name":"c","type":["null",%s]}'),
    "nullable, default": (True, "7", '{"default":7,"name":"c","type":[%s,"null"]}'),
}


@pytest.mark.parametrize(("nullable", "default", "expected"), ROWS.values(), ids=ROWS)
def test_null_and_default_make_the_union(nullable: bool, default: Value, expected: str) -> None:
    made = field(column("int", nullable, default))
    assert made == expected % plain("INT", "int")


@pytest.mark.parametrize("default", [ABSENT, None, "1.5"])
def test_decimal_as_bytes_never_has_a_default(default: Value) -> None:
    made = field(column("decimal(6,3)", False, default))
    assert "default" not in made
    nullable = field(column("decimal(6,3)", True, default))
    assert nullable.startswith('{"default":null,"name":"c","type":["null",')


DEFAULTS: dict[str, tuple[str, Value, Any]] = {
    "int": ("int", "-5", -5),
    "int of the model": ("int", -5, -5),
    "boolean": ("boolean", "1", 1),
    "year": ("year", "2024", 2024),
    "wrapped": ("bigint unsigned", "18446744073709551615", -1),
    "float": ("float", "3.14", 3.140000104904175),
    "float of the model": ("float", 0.5, 0.5),
    "double": ("double", "3.14", 3.14),
    "text": ("varchar(9)", "a<b", "a<b"),
    "empty text": ("varchar(9)", "", ""),
    "the word null": ("varchar(9)", "null", "null"),
    "enum": ("enum('a','b')", "b", "b"),
    "enum by index": ("enum('a','b')", 2, "b"),
    "set": ("set('a','b')", "a,b", "a,b"),
    "set by mask": ("set('a','b')", 3, "a,b"),
    "date": ("date", "2024-01-01", "2024-01-01"),
    "now": ("timestamp", "CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP"),
    "now with fraction": ("timestamp(6)", Expression("CURRENT_TIMESTAMP(6)"), "CURRENT_TIMESTAMP"),
    "now()": ("datetime", Expression("now()"), "CURRENT_TIMESTAMP"),
    "expression": ("varchar(40)", Expression("(uuid())"), "uuid()"),
    "date expression": ("date", Expression("CURRENT_DATE"), "CURRENT_DATE"),
    "bytes": ("varbinary(4)", "ab", "ab"),
    "any bytes": ("varbinary(4)", b"\x00\xff", "\x00\xff"),
    "padded": ("binary(4)", "ab", "ab\0\0"),
    "bit": ("bit(10)", 261, "\x01\x05"),
    "bit text": ("bit(10)", "\x05", "\x05"),
    "constant beyond a boolean": ("boolean", Expression("2"), 2),
    "year 0": ("year", Expression("0"), 0),
    "rounded constant": ("int", Expression("'-3.5'"), -4),
    "constant in parentheses": ("bigint unsigned", Expression("(7)"), 7),
    "constant of a float": ("float", Expression("25e-2"), 0.25),
}


@pytest.mark.parametrize(("source", "given", "expected"), DEFAULTS.values(), ids=DEFAULTS)
def test_default_is_converted(source: str, given: Value, expected: Any) -> None:
    found = json.loads(field(column(source, False, given)))["default"]
    assert (type(found), found) == (type(expected), expected)


def test_default_of_text_modes_is_text() -> None:
    number = column("bigint unsigned", False, "18446744073709551615")
    mode: dict[str, OptionValue] = {"avro_bigint_unsigned_handling_mode": "string"}
    assert '"default":"18446744073709551615"' in field(number, **mode)
    decimal = column("decimal(12,6)", False, "179394.2333")
    assert '"default":"179394.2333"' in field(decimal, avro_decimal_handling_mode="string")


def test_shipped_dialect_writes_bytes_as_base64() -> None:
    assert '"default":"YWIAAA=="' in field(column("binary(4)", False, "ab"), dialect="shipped")
    assert '"default":"BQ=="' in field(column("bit(10)", False, 5), dialect="shipped")


@pytest.mark.parametrize(
    ("source", "sql"),
    [("double", "(rand())"), ("double", "3+4"), ("int", "1e30"), ("int", "'"), ("bigint", "''")],
)
def test_expression_on_a_number_is_not_a_default(source: str, sql: str) -> None:
    given = Expression(sql)
    assert "default" not in field(column(source, False, given))
    assert field(column(source, True, given)).startswith('{"default":null,"name":"c","type":["n')
    with pytest.raises(EncodeError) as caught:
        field(column(source, True, given), dialect="shipped")
    assert caught.value.clause == "avro: default conversion"


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("int", "99999999999"),
        ("bigint unsigned", "-1"),
        ("float", "1e99"),
        ("enum('a')", 5),
    ],
)
def test_default_beyond_the_column_is_refused(source: str, given: Value) -> None:
    with pytest.raises(EncodeError) as caught:
        field(column(source, False, given))
    assert caught.value.clause == "avro: default conversion"


def test_allowed_escapes_commas_and_folds_quotes() -> None:
    made = json.loads(field(column("enum('a,b','c''''d','e')")))
    allowed = made["type"]["connect.parameters"]["allowed"]
    assert allowed == "a\\,b,c'd,e"
    assert split_allowed(allowed) == ("a,b", "c'd", "e")


def test_unknown_options_and_types_are_refused() -> None:
    for source in ("geometry", "enum"):
        with pytest.raises((EncodeError, ValueError)):
            field(column(source))
    with pytest.raises(EncodeError):
        field(Column("c", UnknownType()))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", ""),
        ("a", "a"),
        ("_1", "_1"),
        ("1a", "_1a"),
        ("-a", "_a"),
        ("a.b", "a_b"),
        ("a-b$c", "a_b_c"),
        ("表a", "_a"),
        ("a表格", "a__"),
        ("é", "_"),
        ("٣", "_"),
        ("A0_z", "A0_z"),
    ],
)
def test_name_is_sanitized_character_by_character(name: str, expected: str) -> None:
    assert sanitize(name) == expected
    assert sanitize(expected) == expected


def rows(*columns: Column, **options: OptionValue) -> list[Any]:
    settings = read_settings({name.replace("_", "-"): value for name, value in options.items()})
    table = Table("t", "s", key=(columns[0].name,))
    image = Image(columns, (1,) * len(columns))
    event = RowChange(table, "insert", None, image, Position(commit_ts=1))
    source = MemorySource()
    list(messages_of([event], settings, (), source))
    return [json.loads(text) for text in source.texts.values()]


def named(name: str, number: int | None = None) -> Column:
    kind = type_of_declared(parse_declared("int"))
    return Column(name, kind, "int", False, roles=frozenset(), id=number)


@pytest.mark.parametrize("names", [("a.b", "a-b"), ("a", "_tidb_op")])
def test_two_fields_of_one_name_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(EncodeError) as caught:
        rows(*map(named, names), enable_tidb_extension=True)
    assert caught.value.clause == "avro: names"


def test_column_of_an_extension_name_is_legal_without_the_extension() -> None:
    assert rows(named("a"), named("_tidb_op"))


def test_checksum_sorts_the_value_by_column_id_but_not_the_key() -> None:
    options: dict[str, OptionValue] = {
        "integrity": True,
        "enable_tidb_extension": True,
        "avro_decimal_handling_mode": "string",
        "avro_bigint_unsigned_handling_mode": "string",
    }
    _, value = rows(named("b", 2), named("a", 1), **options)
    assert [each["name"] for each in value["fields"]] == [
        *("a", "b", "_tidb_op", "_tidb_commit_ts", "_tidb_commit_physical_time"),
        *("_tidb_row_level_checksum", "_tidb_corrupted", "_tidb_checksum_version"),
    ]
    with pytest.raises(EncodeError) as caught:
        rows(named("b", 2), named("a"), **options)
    assert caught.value.clause == "avro: field order"


@pytest.mark.parametrize(
    "options",
    [
        {"integrity": True},
        {"integrity": True, "enable-tidb-extension": True},
        {"dialect": "padded"},
        {"registry": "other"},
        {"avro-decimal-handling-mode": "double"},
        {"topic": "{table}"},
    ],
    ids=lambda options: next(reversed(options)),
)
def test_option_that_is_not_allowed_is_refused(options: dict[str, OptionValue]) -> None:
    def use() -> None:
        list(messages_of([], read_settings(options)))

    with pytest.raises(OptionError):
        use()
