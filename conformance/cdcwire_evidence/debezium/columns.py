"""The columns of one table, of all kinds, and the values of each, as SQL writes them.

The first row has the first value of each column, and so on; a column with fewer values than others
has NULL in the later rows.
"""

from __future__ import annotations

from dataclasses import dataclass

EXTENSIONS = ("hstore", "citext", "ltree")
TYPES = """\
CREATE TYPE mood AS ENUM ('sad', 'ok', 'hap,py');
CREATE DOMAIN price AS numeric(12,3) CHECK (VALUE > -1000);
CREATE DOMAIN short AS varchar(8);
"""


@dataclass(frozen=True, slots=True)
class FilledColumn:
    """``type``: as it is declared; ``values``: SQL expressions."""

    name: str
    type: str
    values: tuple[str, ...]


def _column(name: str, declared: str, *values: str) -> FilledColumn:
    return FilledColumn(name, declared, values)


COLUMNS: tuple[FilledColumn, ...] = (
    _column("c_bool", "boolean", "true", "false"),
    _column("c_int2", "smallint", "-32768", "32767", "0"),
    _column("c_int4", "integer", "-2147483648", "2147483647", "0", "-1"),
    _column(
        "c_int8", "bigint", "'-9223372036854775808'", "9223372036854775807", "0", "9007199254740993"
    ),
    _column("c_oid", "oid", "0", "4294967295", "12345"),
    _column(
        "c_float4",
        "real",
        "'3.4028235e38'",
        "'-1e-45'",
        "'-0.0'",
        "'NaN'",
        "'-Infinity'",
        "0.1",
        "16777216",
    ),
    _column(
        *(
            "c_float8",
            "double precision",
            "'1.7976931348623157e308'",
            "'5e-324'",
            "'-0.0'",
            "'NaN'",
            "'Infinity'",
        ),
        *("0.1", "9007199254740993", "1e-3", "1e7", "123456.789"),
    ),
    _column(
        "c_numeric",
        "numeric",
        "123456789012345678901234567890.123456789",
        "-0.00",
        "0",
        "1e30",
        "-1.5e-20",
        "100",
    ),
    _column("c_numeric_5_2", "numeric(5,2)", "-999.99", "999.99", "0", "-0.01", "1.1"),
    _column(
        "c_numeric_38_0",
        "numeric(38,0)",
        "99999999999999999999999999999999999999",
        "-128",
        "127",
        "128",
        "-129",
        "255",
        "256",
    ),
    _column(
        "c_numeric_38_10",
        "numeric(38,10)",
        "1234567890123456789012345678.0123456789",
        "-0.0000000001",
        "1",
    ),
    _column("c_numeric_minus", "numeric(5,-2)", "123456", "-49"),
    _column("c_money", "money", "'$1,234.56'", "'-$92,233,720,368,547,758.08'", "0"),
    _column("c_domain", "price", "-0.001", "123456789.123"),
    _column("c_domain_text", "short", "'ab'", "''"),
    _column("c_char", "char(5)", "'ab'", "''", "'é𝄞'"),
    _column("c_varchar", "varchar(40)", "E'quote '' \" back \\\\ slash'", "'äöü 名前 🎉'", "''"),
    _column(
        "c_text",
        "text",
        "E'line\\nbreak\\ttab\\rcr'",
        "''",
        "E'\\u0001\\u001F\\u007F\\u2028'",
        "'null'",
        "'NULL'",
        "repeat('x', 5000)",
    ),
    _column("c_citext", "citext", "'CiText'", "''"),
    _column(
        "c_bytea",
        "bytea",
        "'\\x00ff10e4bda0'",
        "''",
        "'\\xfffefd'",
        "decode(repeat('fb', 300), 'hex')",
    ),
    _column(
        "c_uuid",
        "uuid",
        "'123e4567-e89b-12d3-a456-426614174000'",
        "'00000000-0000-0000-0000-000000000000'",
    ),
    _column(
        "c_json",
        "json",
        '\'{"a": 1,  "b":[null,true], "a": 2}\'',
        "'null'",
        "'[]'",
        "'1.50'",
        "'\"text\"'",
    ),
    _column("c_jsonb", "jsonb", '\'{"b":[null,true],"a":1.50}\'', "'null'", "'1e400'", "'[]'"),
    _column("c_xml", "xml", "'<a x=\"1\">t &amp; u</a>'", "'<b/>'"),
    _column(
        *(
            "c_date",
            "date",
            "'2024-02-29'",
            "'1969-12-31'",
            "'9999-12-31'",
            "'0001-01-01'",
            "'0044-03-15 BC'",
        ),
        *("'infinity'", "'-infinity'", "'1582-10-04'", "'294276-12-31'"),
    ),
    _column("c_time", "time", "'23:59:59.999999'", "'00:00:00'", "'24:00:00'", "'12:34:56.7'"),
    _column("c_time_0", "time(0)", "'23:59:59'", "'00:00:00'", "'24:00:00'"),
    _column("c_time_3", "time(3)", "'23:59:59.999'", "'00:00:00'", "'24:00:00'"),
    _column("c_time_6", "time(6)", "'23:59:59.999999'", "'00:00:00.000001'"),
    _column(
        "c_timetz",
        "timetz",
        "'04:05:06.789012+02:30'",
        "'23:59:59-12:00'",
        "'00:00:00+00'",
        "'00:00:00+14'",
    ),
    _column(
        *(
            "c_timestamp",
            "timestamp",
            "'2024-02-29 12:34:56.123456'",
            "'1969-12-31 23:59:59.999999'",
        ),
        *(
            "'9999-12-31 23:59:59.999999'",
            "'0001-01-01 00:00:00'",
            "'0044-03-15 12:00:00 BC'",
            "'infinity'",
        ),
        *("'-infinity'", "'1582-10-10 00:00:00'", "'294276-12-31 23:59:59.999999'"),
    ),
    _column(
        "c_timestamp_0",
        "timestamp(0)",
        "'2024-02-29 12:34:56'",
        "'1969-12-31 23:59:59'",
        "'9999-12-31 23:59:59'",
    ),
    _column(
        "c_timestamp_3",
        "timestamp(3)",
        "'2024-02-29 12:34:56.789'",
        "'1969-12-31 23:59:59.999'",
        "'9999-12-31 23:59:59.999'",
    ),
    _column(
        "c_timestamp_6", "timestamp(6)", "'2024-02-29 12:34:56.000001'", "'1969-12-31 23:59:59.5'"
    ),
    _column(
        *(
            "c_timestamptz",
            "timestamptz",
            "'2024-02-29 12:34:56.123456+02'",
            "'1900-01-01 00:00:00+00'",
        ),
        *(
            "'9999-12-31 23:59:59.999999+00'",
            "'0001-01-01 00:00:00+00'",
            "'0044-03-15 12:00:00+00 BC'",
            "'infinity'",
        ),
        *("'-infinity'", "'1969-12-31 23:59:59.5-11:30'", "'294276-12-31 23:59:59.999999+00'"),
    ),
    _column(
        "c_timestamptz_0", "timestamptz(0)", "'2024-02-29 12:34:56+02'", "'1969-12-31 23:59:59+00'"
    ),
    _column(
        *(
            "c_interval",
            "interval",
            "'1 year 2 mons 3 days 04:05:06.789012'",
            "'-1 mons -3 days'",
            "'0'",
            "'-00:00:00.000001'",
        ),
        *("'100 years'", "'1 day -1 hour'"),
    ),
    _column("c_bit_1", "bit(1)", "B'1'", "B'0'"),
    _column("c_bit_10", "bit(10)", "B'1010101010'", "B'0000000001'", "B'0000000000'"),
    _column("c_bit_64", "bit(64)", "B'1' || repeat('0', 63)::bit(63)", "repeat('1', 64)::bit(64)"),
    _column("c_varbit", "varbit(12)", "B'10101'", "B''", "B'111111111111'"),
    _column("c_inet", "inet", "'192.168.1.5'", "'192.168.1.5/24'", "'::1'", "'2001:db8::/64'"),
    _column("c_cidr", "cidr", "'10.0.0.0/8'", "'2001:db8::/32'"),
    _column("c_macaddr", "macaddr", "'08:00:2b:01:02:03'"),
    _column("c_macaddr8", "macaddr8", "'08:00:2b:01:02:03:04:05'"),
    _column("c_point", "point", "'(1.5,-2)'", "'(0,0)'", "'(-0.1,1e300)'"),
    _column("c_enum", "mood", "'hap,py'", "'sad'", "'ok'"),
    _column("c_hstore", "hstore", "'k=>v, n=>NULL'", "''", '\'"a b"=>"c\\"d", "ä"=>""\''),
    _column("c_ltree", "ltree", "'Top.Science.Astronomy'", "''"),
    _column("c_int4range", "int4range", "'[1,10)'", "'empty'", "'(,5]'", "'(,)'"),
    _column("c_int8range", "int8range", "'[1,9223372036854775806)'"),
    _column("c_numrange", "numrange", "'[1.10,2.200)'", "'(,1.0]'"),
    _column(
        "c_tsrange",
        "tsrange",
        "'[2024-01-01,2024-01-02 00:00:00.000001)'",
        "'[2024-01-01,infinity)'",
    ),
    _column("c_tstzrange", "tstzrange", "'[2024-01-01 00:00:00+00,2024-01-02 00:00:00+02]'"),
    _column("c_daterange", "daterange", "'[2024-01-01,2024-01-31]'"),
    _column("a_int2", "smallint[]", "'{1,NULL,-32768}'", "'{}'"),
    _column("a_int4", "integer[]", "'{1,NULL,3}'", "'{}'", "'{{1,2},{3,4}}'"),
    _column("a_int8", "bigint[]", "'{9223372036854775807,NULL}'", "'{}'"),
    _column("a_bool", "boolean[]", "'{t,f,NULL}'", "'{}'"),
    _column("a_float8", "double precision[]", "'{1.5,NaN,NULL}'", "'{Infinity,-0}'"),
    _column("a_text", "text[]", "ARRAY['a', 'b,c', NULL, 'NULL', '', 'q\"\\']", "'{}'"),
    _column("a_varchar", "varchar(5)[]", "'{ab,NULL}'"),
    _column("a_numeric", "numeric(6,2)[]", "'{1.10,-2.25,NULL}'", "'{}'"),
    _column("a_date", "date[]", "'{2024-01-01,1969-12-31,NULL}'"),
    _column("a_timestamp", "timestamp[]", "'{\"2024-01-01 00:00:00.000001\",NULL}'"),
    _column("a_uuid", "uuid[]", "'{123e4567-e89b-12d3-a456-426614174000}'"),
    _column("a_enum", "mood[]", "ARRAY['sad', 'hap,py']::mood[]"),
)
ROWS = max(len(column.values) for column in COLUMNS)


def create_table(name: str, columns: tuple[FilledColumn, ...] = COLUMNS) -> str:
    """Return the statement that makes the table; all of a row that went is sent."""
    lines = "".join(f",\n  {column.name} {column.type}" for column in columns)
    create = f"CREATE TABLE {name} (\n  id integer PRIMARY KEY{lines}\n);\n"
    return f"{create}ALTER TABLE {name} REPLICA IDENTITY FULL;\n"


def insert_row(
    name: str, key: int, number: int, columns: tuple[FilledColumn, ...] = COLUMNS
) -> str:
    """Return the statement that puts the values of one number into a row."""
    values = ", ".join(value_of(column, number) for column in columns)
    return f"INSERT INTO {name} VALUES ({key}, {values});\n"


def update_row(
    name: str, key: int, number: int, columns: tuple[FilledColumn, ...] = COLUMNS
) -> str:
    """Return the statement that puts the values of another number into a row."""
    pairs = ", ".join(f"{column.name} = {value_of(column, number)}" for column in columns)
    return f"UPDATE {name} SET {pairs} WHERE id = {key};\n"


def value_of(column: FilledColumn, number: int) -> str:
    """Return a column's value by its number, as SQL; NULL after the last value."""
    return column.values[number] if number < len(column.values) else "NULL"
