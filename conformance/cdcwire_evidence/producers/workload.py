"""Statements on a MariaDB: rows of all types, and changes of all kinds.

``TABLES`` comes first, then ``ROWS``, which are read in a snapshot, then ``CHANGES``. The session
is not in UTC, and not strict, so that zero dates can be put in.
"""

from __future__ import annotations

from cdcwire_evidence.debezium.columns import FilledColumn, insert_row, update_row

SCHEMA = "shop"
# Its rows are the last that are read, and that are put in.
LAST = "zz_last"
LAST_READ, LAST_PUT_IN = 7_000_000, 7_000_001
_KEPT = (
    *("kinds", "labels", "bits", "durations", "zeros", "shapes", "defaults", "changes", "counted"),
    *("composite", "odd_keys", "no_key", "unique_key", "emptied", "changed", "Odd Name-1"),
)
# A bootstrap of Maxwell ends at a TIME beyond a day, at 1582-10-10, and at a name with a dash.
# It sends the bytes of BIT(12) in the wrong order.
NOT_BOOTSTRAPPED = ("durations", "zeros", "Odd Name-1", "bits")
BOOTSTRAPPED = (*(table for table in _KEPT if table not in NOT_BOOTSTRAPPED), LAST)
LAST_TABLES = (*_KEPT, "renamed")
STREAMED = 100  # is added to the keys of rows that are put in while the producers look
_SESSION = "SET NAMES utf8mb4; SET time_zone = '+05:30'; SET sql_mode = '';\n"


def _column(name: str, declared: str, *values: str) -> FilledColumn:
    return FilledColumn(name, declared, values)


KINDS: tuple[FilledColumn, ...] = (
    _column("c_tinyint", "tinyint", "-128", "127", "0"),
    _column("c_tinyint_u", "tinyint unsigned", "0", "255"),
    _column("c_bool", "tinyint(1)", "0", "1", "9"),
    _column("c_smallint", "smallint", "-32768", "32767"),
    _column("c_smallint_u", "smallint unsigned", "0", "65535"),
    _column("c_mediumint", "mediumint", "-8388608", "8388607"),
    _column("c_mediumint_u", "mediumint unsigned", "0", "16777215"),
    _column("c_int", "int", "-2147483648", "2147483647"),
    _column("c_int_u", "int unsigned", "0", "4294967295"),
    _column("c_bigint", "bigint", "-9223372036854775808", "9223372036854775807", "0"),
    _column(
        *("c_bigint_u", "bigint unsigned", "0", "18446744073709551615", "9223372036854775808"),
        "9223372036854775807",
    ),
    _column("c_float", "float", "0.1", "-1.5", "3.4028234e38", "16777216", "0", "1e-45"),
    _column(
        *("c_double", "double", "0.1", "-0.0", "1.7976931348623157e308", "5e-324", "1e7"),
        *("9007199254740993", "1e-3", "123456.789"),
    ),
    _column("c_decimal", "decimal(10,2)", "99999999.99", "-99999999.99", "0", "-0.01", "1.5"),
    _column(
        *("c_decimal_65", "decimal(65,0)", "9" * 65, "-" + "9" * 65, "0", "-128", "127", "128"),
        *("-129", "255", "256"),
    ),
    _column("c_decimal_30", "decimal(65,30)", "9" * 35 + "." + "9" * 30, "-1e-30", "0", "1"),
    _column("c_decimal_u", "decimal(5,3) unsigned", "99.999", "0.001"),
    _column("c_bit", "bit(1)", "b'1'", "b'0'"),
    _column("c_year", "year", "2155", "1901", "2024"),
    _column("c_enum", "enum('new','späte')", "'späte'", "'new'"),
    _column("c_set", "set('a','b','c')", "'a,c'", "'b'", "'a,b,c'", "''"),
    _column("c_date", "date", "'2024-02-29'", "'1969-12-31'", "'9999-12-31'", "'1900-01-01'"),
    _column("c_time", "time", "'23:59:59'", "'00:00:00'", "'12:34:56'"),
    _column("c_time_3", "time(3)", "'23:59:59.999'", "'00:00:00'", "'12:34:56.7'"),
    _column("c_time_6", "time(6)", "'23:59:59.999999'", "'00:00:00.000001'", "'12:34:56.7'"),
    _column(
        *("c_datetime", "datetime", "'2024-02-29 12:34:56'", "'1969-12-31 23:59:59'"),
        *("'9999-12-31 23:59:59'", "'1900-01-01 00:00:00'"),
    ),
    _column(
        *("c_datetime_3", "datetime(3)", "'2024-02-29 12:34:56.789'", "'1969-12-31 23:59:59.999'"),
        "'9999-12-31 23:59:59.999'",
    ),
    _column(
        *("c_datetime_6", "datetime(6)", "'2024-02-29 12:34:56.123456'"),
        *("'1969-12-31 23:59:59.999999'", "'9999-12-31 23:59:59.999999'"),
    ),
    _column(
        *("c_timestamp", "timestamp null", "'2024-02-29 12:34:56'", "'1970-01-01 05:30:01'"),
        "'2038-01-19 08:44:07'",
    ),
    _column(
        *("c_timestamp_6", "timestamp(6) null", "'2024-02-29 12:34:56.123456'"),
        *("'1970-01-01 05:30:01'", "'2038-01-19 08:44:07.999999'", "'2024-03-31 03:00:00.5'"),
    ),
    _column("c_char", "char(5)", "'ab  '", "''", "'é😀'"),
    _column(
        "c_varchar", "varchar(40)", "'quote '' \" back \\\\ slash'", "'äöü 名前 🎉'", "''", "'a '"
    ),
    _column(
        *("c_text", "text", "'line\\nbreak\\ttab\\rcr'", "''", "'null'", "repeat('x', 5000)"),
        "'\\0 \x01\x1f\x7f'",
    ),
    _column("c_longtext", "longtext", "'NULL'", "'</a> & \u2028'"),
    _column("c_latin1", "varchar(10) character set latin1", "'é'", "'ÿ'", "''"),
    _column("c_binary", "binary(4)", "x'fbff'", "'abcd'", "x'00000001'", "x'00000000'"),
    _column("c_varbinary", "varbinary(10)", "x'00ff10'", "''", "x'fffe00'"),
    _column("c_blob", "blob", "x'3e3f'", "''", "repeat(x'fb', 300)"),
    _column("c_json", "json", '\'{"b": [1, 2.50, null],  "a": "ü"}\'', "'null'", "'[]'", "'1.0'"),
)
ROWS_OF_KINDS = max(len(column.values) for column in KINDS)


def _create(name: str, columns: tuple[FilledColumn, ...]) -> str:
    lines = "".join(f",\n  {column.name} {column.type}" for column in columns)
    return f"CREATE TABLE {name} (\n  id int NOT NULL PRIMARY KEY{lines}\n);\n"


TABLES = f"""{_SESSION}
CREATE DATABASE {SCHEMA} CHARACTER SET utf8mb4; USE {SCHEMA};
{_create("kinds", KINDS)}
CREATE TABLE labels (id int NOT NULL PRIMARY KEY, e enum('it''s','x,y'));
CREATE TABLE bits (id int NOT NULL PRIMARY KEY, b12 bit(12), b64 bit(64));
CREATE TABLE durations (id int NOT NULL PRIMARY KEY, t time, t3 time(3), t6 time(6));
CREATE TABLE zeros (id int NOT NULL PRIMARY KEY, d date, dt datetime, dt6 datetime(6),
  ts timestamp NULL, n timestamp NOT NULL DEFAULT '2000-01-01 00:00:00', y year,
  e enum('a','b'), s set('a','b') NOT NULL);
CREATE TABLE shapes (id int NOT NULL PRIMARY KEY, g geometry, p point, l linestring);
CREATE TABLE defaults (id int NOT NULL PRIMARY KEY, i int NOT NULL DEFAULT 5,
  v varchar(5) DEFAULT 'x', n decimal(5,2) DEFAULT 1.50, b bit(3) DEFAULT b'101',
  dt datetime DEFAULT '2020-01-02 03:04:05');
CREATE TABLE changes (id int NOT NULL PRIMARY KEY, v varchar(10), n decimal(6,2));
CREATE TABLE counted (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, v varchar(10));
CREATE TABLE composite (k2 varchar(5) NOT NULL, v int, k1 int NOT NULL, PRIMARY KEY (k1, k2));
CREATE TABLE odd_keys (k decimal(5,2) NOT NULL, t time(6) NOT NULL, b binary(2) NOT NULL,
  u bigint unsigned NOT NULL, v int, PRIMARY KEY (k, t, b, u));
CREATE TABLE no_key (a int, v varchar(5));
CREATE TABLE unique_key (code varchar(10) NOT NULL, v int, UNIQUE KEY (code));
CREATE TABLE emptied (id int NOT NULL PRIMARY KEY, v varchar(10));
CREATE TABLE changed (id int NOT NULL PRIMARY KEY, v varchar(10));
CREATE TABLE `Odd Name-1` (id int NOT NULL PRIMARY KEY, `größe` int, `a b` int, `1x` int);
CREATE TABLE {LAST} (id int NOT NULL PRIMARY KEY);
"""


def _rows(first_key: int) -> str:
    numbers = range(ROWS_OF_KINDS)
    return "".join(insert_row("kinds", first_key + number, number, KINDS) for number in numbers)


# A YEAR of 0 stops the snapshot of MariaDB's connector.
_OF_OTHERS = """
INSERT INTO durations VALUES ({0}1, '-838:59:59', '-00:00:00.001', '838:59:59.999999'),
  ({0}2, '24:00:00', '-01:02:03.004', '-100:00:00.5'), ({0}3, NULL, '838:59:59.999', '00:00:00');
INSERT INTO zeros VALUES ({0}1, '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00',
  '0000-00-00 00:00:00', '0000-00-00 00:00:00', {1}, 'bogus', ''),
  ({0}2, '1000-01-01', '1582-10-10 00:00:00', '0001-01-01 00:00:00.000001',
  NULL, '2024-01-01 00:00:00', NULL, NULL, 'a,b');
INSERT INTO shapes VALUES ({0}1, ST_GeomFromText('POLYGON((0 0,1 0,1 1.5,0 0))'),
  ST_GeomFromText('POINT(10 20.25)', 4326), ST_GeomFromText('LINESTRING(0 0,1 1)')),
  ({0}2, NULL, NULL, NULL);
INSERT INTO labels VALUES ({0}1, 'it''s'), ({0}2, 'x,y');
INSERT INTO bits VALUES ({0}1, b'101010101010', 18446744073709551615), ({0}2, 1, 1);
INSERT INTO defaults (id) VALUES ({0}1);
INSERT INTO defaults VALUES ({0}2, 0, NULL, NULL, NULL, NULL);
"""
ROWS = f"""{_SESSION}USE {SCHEMA};
{_rows(0)}{_OF_OTHERS.format("", "NULL")}
INSERT INTO changes VALUES (1, 'one', 1.50), (2, NULL, 0), (3, 'three', -5);
INSERT INTO counted (v) VALUES ('a'), ('b');
INSERT INTO composite VALUES ('x', 1, 1), ('y', 2, 1);
INSERT INTO odd_keys VALUES (-1.50, '10:00:00.000001', x'00ff', 18446744073709551615, 1);
INSERT INTO no_key VALUES (1, 'x'), (1, 'x');
INSERT INTO emptied VALUES (1, 'a');
INSERT INTO changed VALUES (1, 'old');
INSERT INTO `Odd Name-1` VALUES (1, 2, 3, 4);
INSERT INTO {LAST} VALUES ({LAST_READ});
"""
CHANGES = f"""{_SESSION}USE {SCHEMA};
{_rows(STREAMED)}{_OF_OTHERS.format("1", "0")}
{"".join(update_row("kinds", key, key + 1, KINDS) for key in range(3))}
DELETE FROM kinds WHERE id = {STREAMED};
UPDATE changes SET v = 'uno' WHERE id = 1;
UPDATE changes SET id = 20, n = NULL WHERE id = 2;
DELETE FROM changes WHERE id = 3;
INSERT INTO changes VALUES (3, 'again', 7.25);
BEGIN;
INSERT INTO changes VALUES (30, 'in', 1), (31, 'two', 2);
UPDATE changes SET v = 'tx' WHERE id = 30;
UPDATE changes SET v = 'tx2' WHERE id = 30;
DELETE FROM changes WHERE id = 31;
COMMIT;
BEGIN; INSERT INTO changes VALUES (99, 'never', 0); ROLLBACK;
REPLACE INTO changes VALUES (1, 'again', 8);
INSERT INTO counted (v) VALUES ('c');
INSERT INTO counted VALUES (18446744073709551614, 'last');
UPDATE counted SET v = 'b2' WHERE id = 2;
UPDATE composite SET v = NULL WHERE k2 = 'x';
UPDATE composite SET k2 = 'z' WHERE k2 = 'x';
DELETE FROM composite WHERE k2 = 'y';
UPDATE odd_keys SET v = 2;
INSERT INTO odd_keys VALUES (0, '00:00:00', '', 0, NULL);
INSERT INTO no_key VALUES (2, 'y'), (NULL, NULL);
UPDATE no_key SET v = 'z' WHERE a = 1;
DELETE FROM no_key WHERE a = 2;
INSERT INTO unique_key VALUES ('a', 1), ('b', 2);
UPDATE unique_key SET code = 'c' WHERE code = 'a';
DELETE FROM unique_key WHERE code = 'b';
INSERT INTO emptied VALUES (2, 'b');
TRUNCATE TABLE emptied;
INSERT INTO emptied VALUES (3, 'c');
ALTER TABLE changed ADD COLUMN n bigint unsigned COMMENT 'new', MODIFY v varchar(30);
INSERT INTO changed VALUES (2, 'two', 18446744073709551615);
ALTER TABLE changed RENAME COLUMN n TO m;
UPDATE changed SET v = 'new' WHERE id = 1;
ALTER TABLE changed DROP COLUMN m;
INSERT INTO changed VALUES (3, 'three');
INSERT INTO `Odd Name-1` VALUES (2, 3, 4, 5);
UPDATE `Odd Name-1` SET `größe` = 9 WHERE id = 2;
CREATE TABLE made (id bigint NOT NULL PRIMARY KEY, p decimal(8,3) DEFAULT 1.5) COMMENT = 'late';
INSERT INTO made (id) VALUES (1);
RENAME TABLE made TO renamed;
INSERT INTO renamed VALUES (2, NULL);
CREATE TABLE dropped (id int NOT NULL PRIMARY KEY);
INSERT INTO dropped VALUES (1);
DROP TABLE dropped;
INSERT INTO {LAST} VALUES ({LAST_PUT_IN});
"""
