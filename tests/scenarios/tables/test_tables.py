"""The last rows of a feed against real tables: Delta and Iceberg on disk, MariaDB and PostgreSQL.

Each table has three stale rows, lacks two, has one too many, and a column is cut to milliseconds.
The command finds each of these, and nothing else.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import (
    ArrayType,
    BitType,
    Column,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    JsonType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    YearType,
)
from cdcwire.model.text.tables import table_to_json
from cdcwire.registry import get_format
from cdcwire_conformance.sources.tables import PASSWORD_VARIABLE
from cdcwire_evidence import mariadb
from cdcwire_evidence.debezium import postgres
from cdcwire_evidence.registry.apicurio import UnavailableError

Rows: TypeAlias = "list[tuple[object, ...]]"
Found: TypeAlias = "tuple[str, str]"  # the URL of a table, and the password

COLUMNS = (
    Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("userName", TextType()),
    Column("price", DecimalType(10, 2)),
    Column("made", DatetimeType(6)),
    Column("doc", JsonType()),
)
ORDERS = Table("orders", "shop", columns=COLUMNS, key=("id",))
ROWS = 40
STALE, MISSING, LEFT_OVER = (3, 4, 5), (10, 11), 20
PASSWORD = "the password of a reader"


DEFINED = (
    "CREATE TABLE shop.defined (b BIGINT, a BIGINT, m {}, n VARCHAR(20) NOT NULL, d DECIMAL(12,3),"
    " PRIMARY KEY (a, b));"
)
MARIADB_TYPES = """CREATE TABLE shop.types (id BIGINT PRIMARY KEY, t TIME(6), y YEAR, b BIT(64),
  c BIT(10), dt DATETIME(3), ts TIMESTAMP(6) NULL, d DATE, n DECIMAL(65,30), u BIGINT UNSIGNED,
  f FLOAT, g DOUBLE, e ENUM('a','b'), s SET('x','y'), h CHAR(5), i INET6, j UUID);
SET time_zone = '+05:30';
INSERT INTO shop.types VALUES
 (1, '-838:59:58.123450', 2155, b'1111111111111111111111111111111111111111111111111111111111111111',
  b'1000000001', '1000-01-01 00:00:00.120', '2024-06-01 05:30:00.000001', '9999-12-31',
  12345678901234567890123456789012345.000000000000000000000000000001, 18446744073709551615,
  16777215, 0.1, 'b', 'x,y', 'é ', '::1', '6CCD780C-BABA-1026-9564-5B8C656024DB'),
 (2, '00:00:00', 1901, 0, 0, NULL, NULL, NULL, 1.5, 0, NULL, 1e300, NULL, '', '', NULL, NULL);
"""
MARIADB_COLUMNS = (
    Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("t", TimeType(6)),
    Column("y", YearType()),
    Column("b", BitType(64)),
    Column("c", BitType(10)),
    Column("dt", DatetimeType(3)),
    Column("ts", TimestampType(6, zone="+00:00")),
    Column("d", DateType()),
    Column("n", DecimalType(65, 30)),
    Column("u", IntType(64, True)),
    Column("f", FloatType(32)),
    Column("g", FloatType(64)),
    Column("e", EnumType(("a", "b"))),
    Column("s", SetType(("x", "y"))),
    Column("h", TextType(5)),
    Column("i", TextType()),
    Column("j", TextType()),
)
MARIADB_ROWS: Rows = [
    (
        *(1, "-838:59:58.123450", 2155, 2**64 - 1, 0b1000000001, "1000-01-01 00:00:00.120"),
        *("2024-06-01 00:00:00.000001", "9999-12-31"),
        Decimal("12345678901234567890123456789012345.000000000000000000000000000001"),
        *(2**64 - 1, 16777215.0, 0.1, 2, 3, "é", "::1", "6ccd780c-baba-1026-9564-5b8c656024db"),
    ),
    (
        *(2, "00:00:00.000000", 1901, 0, 0, None, None, None),
        *(Decimal("1.500000000000000000000000000000"), 0, None, 1e300, None, 0, "", None, None),
    ),
]
POSTGRESQL_TYPES = """CREATE TABLE shop.types (id BIGINT PRIMARY KEY, t TIME(6), b BIT(64),
  c BIT(10), dt TIMESTAMP(3), ts TIMESTAMPTZ, d DATE, n NUMERIC, m NUMERIC(50,2), f REAL,
  g DOUBLE PRECISION, w MONEY);
SET TIME ZONE '+05:30';
INSERT INTO shop.types VALUES
 (1, '23:59:59.123450', repeat('1', 64)::bit(64), B'1000000001', '1000-01-01 00:00:00.120',
  '2024-06-01 05:30:00.000001+05:30', '9999-12-31', 1.50,
  123456789012345678901234567890123456789012345678.25, 0.1, 0.1, -1234.5),
 (2, '00:00:00',
  repeat('0', 64)::bit(64), B'0000000000', NULL, NULL, NULL, 7, NULL, NULL, 1e300, NULL);
CREATE TABLE shop.days (id BIGINT PRIMARY KEY, a DATE[]);
INSERT INTO shop.days VALUES (1, '{2024-02-29}'), (2, NULL);
CREATE TABLE shop.lists (id BIGINT PRIMARY KEY, a NUMERIC[]);
INSERT INTO shop.lists VALUES
 (1, '{1.50,NULL,123456789012345678901234567890.123456789012345678901}'), (2, NULL);
"""
POSTGRESQL_COLUMNS = (
    *(each for each in MARIADB_COLUMNS if each.name in ("id", "t", "b", "c", "dt", "ts", "d")),
    Column("n", DecimalType(None, None)),
    Column("m", DecimalType(50, 2)),
    Column("f", FloatType(32)),
    Column("g", FloatType(64)),
    Column("w", DecimalType(19, 2)),
)
POSTGRESQL_ROWS: Rows = [
    (
        *(1, "23:59:59.123450", 2**64 - 1, 0b1000000001, "1000-01-01 00:00:00.120"),
        *("2024-06-01 00:00:00.000001", "9999-12-31", Decimal("1.50")),
        *(Decimal("123456789012345678901234567890123456789012345678.25"), 0.10000000149011612, 0.1),
        Decimal("-1234.50"),
    ),
    (2, "00:00:00.000000", 0, 0, None, None, None, Decimal(7), None, None, 1e300, None),
]
# With the last digit of a number.
LISTS = {
    digit: (
        Decimal("1.50"),
        None,
        Decimal(f"123456789012345678901234567890.12345678901234567890{digit}"),
    )
    for digit in (1, 2)
}


def values(key: int, name: str) -> tuple[object, ...]:
    made = f"2024-02-29 10:00:{key:02}.{key:03}456"
    return key, name, Decimal(key) / 4, made, '{"a": null, "b": [1, 2]}'


def changes() -> Iterator[RowChange]:
    """Yield an insert of each key, an update of each, and the delete of one."""
    old, new = ([Image(COLUMNS, values(key, n)) for key in range(ROWS)] for n in ("old", "new"))
    made = [RowChange(ORDERS, "insert", None, image) for image in old]
    made += [RowChange(ORDERS, "update", *pair) for pair in zip(old, new, strict=True)]
    made.append(RowChange(ORDERS, "delete", new[LEFT_OVER], None))
    for number, change in enumerate(made):
        yield replace(change, position=Position(commit_ts=1000 + number))


def table_rows() -> Rows:
    found: Rows = []
    for key in range(ROWS):
        if key not in MISSING:
            number, name, price, made, doc = values(key, "old" if key in STALE else "new")
            found.append((number, name, str(price), str(made)[:-3], doc))
    return found


def inserts(rows: Rows) -> str:
    """Return statements that insert rows, for both databases."""
    return "".join(
        f"INSERT INTO shop.orders VALUES ({key}, '{name}', {price}, '{made}', '{doc}');\n"
        for key, name, price, made, doc in rows
    )


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("feed")
    write_messages(str(folder / "messages.jsonl"), get_format("craft").from_events(changes()))
    return f"craft:file:{folder}"


@pytest.fixture(scope="module", params=["delta", "iceberg", "mariadb", "postgresql"])
def table(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Found]:
    kind = str(request.param)
    folder = tmp_path_factory.mktemp(kind)
    try:
        if kind == "mariadb":
            yield from in_mariadb(folder)
        elif kind == "postgresql":
            yield from in_postgresql()
        else:
            yield from on_disk(kind, folder / "shop" / "orders")
    except UnavailableError as error:
        if os.environ.get("CDCWIRE_SCENARIOS") == "required":
            raise
        pytest.skip(str(error))


def on_disk(kind: str, folder: Path) -> Iterator[Found]:
    script = Path(__file__).with_name("write_table.py")
    command = [sys.executable, str(script), kind, str(folder)]
    rows = json.dumps(table_rows())
    subprocess.run(command, input=rows, text=True, check=True, timeout=600)
    yield f"{kind}:file:{folder}", ""


def in_mariadb(folder: Path) -> Iterator[Found]:
    with mariadb.running(folder) as server:
        server.run(
            "CREATE DATABASE shop;"
            + MARIADB_TYPES
            + DEFINED.format("ENUM('active','b')")
            + "CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, userName TEXT, price DECIMAL(10,2),"
            " made DATETIME(6), doc JSON);"
            f"CREATE USER reader@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';"
            "GRANT SELECT ON shop.* TO reader@'127.0.0.1';" + inserts(table_rows())
        )
        where = f"127.0.0.1:{server.port}/shop"
        yield f"jdbc:mariadb://{where}?table=orders&user=reader", PASSWORD


def in_postgresql() -> Iterator[Found]:
    with postgres.running() as server:
        server.run(
            "CREATE SCHEMA shop;"
            + POSTGRESQL_TYPES
            + "CREATE TYPE shop.mood AS ENUM ('active','b');"
            + DEFINED.format("shop.mood")
            + "CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, userName TEXT, price DECIMAL(10,2),"
            " made TIMESTAMP(6), doc JSONB);" + inserts(table_rows())
        )
        where = f"127.0.0.1:{server.port}/{server.database}"
        yield f"jdbc:postgresql://{where}?table=shop.orders&user={server.user}", server.password


@pytest.fixture(params=["auto", "spark"])
def engine(request: pytest.FixtureRequest, table: Found) -> str:
    """Return an engine: a database is read without Spark, unless that is asked for."""
    if request.param == "auto" and not table[0].startswith("jdbc:"):
        pytest.skip("only Spark reads it")
    return str(request.param)


def compare(
    feed: str | list[str], table: str, password: str, file: Path, engine: str = "auto"
) -> subprocess.CompletedProcess[str]:
    source, *options = [feed] if isinstance(feed, str) else feed
    options += ["--engine", engine]
    command = [sys.executable, "-m", "cdcwire_conformance", "compare", source, table, *options]
    return subprocess.run(
        [*command, "--json", str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, PASSWORD_VARIABLE: password},
        timeout=600,
    )


def test_each_mistake_of_a_table_is_found(
    feed: str, table: Found, engine: str, tmp_path: Path
) -> None:
    url, password = table
    file = tmp_path / "found.json"
    done = compare(feed, url, password, file, engine)
    assert done.returncode == 1, done.stderr
    whole = json.loads(file.read_text("utf-8"))
    assert whole["engine"] == ("spark" if engine == "spark" else "embedded")
    (found,) = whole["tables"]
    patterns = [(each["column"], each["text"], each["count"]) for each in found["patterns"]]
    cut = ROWS - len(MISSING) - 1  # the row that is left over is compared with nothing
    assert patterns == [
        ("made", "cut to milliseconds on the right", cut),
        (None, "stale: row", len(STALE)),
        (None, "missing: row", len(MISSING)),
        (None, "left over: row", 1),
    ]
    counts = {"changed": cut, "stale": len(STALE), "only_left": len(MISSING), "only_right": 1}
    assert counts.items() <= found["counts"].items()
    if password:
        assert password not in done.stdout + done.stderr


@pytest.mark.parametrize("table", ["mariadb", "postgresql"], indirect=True)
def test_wrong_password_is_one_line_without_it(
    feed: str, table: Found, engine: str, tmp_path: Path
) -> None:
    url, _ = table
    done = compare(feed, url, "a wrong secret", tmp_path / "found.json", engine)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "secret" not in done.stderr
    assert "the database refuses the user" in done.stderr


@pytest.mark.parametrize("table", ["postgresql"], indirect=True)
def test_missing_database_is_not_a_refused_user(feed: str, table: Found, tmp_path: Path) -> None:
    url, password = table
    done = compare(feed, url.replace("/cdcwire?", "/nothing?"), password, tmp_path / "found.json")
    assert done.returncode == 2
    assert done.stderr.strip().endswith('shop.orders: FATAL: database "nothing" does not exist')


@pytest.mark.parametrize("engine", ["auto", "spark"])
@pytest.mark.parametrize("database", ["mariadb", "postgresql"])
def test_database_that_is_down_is_one_line_that_names_it(
    feed: str, database: str, engine: str, tmp_path: Path
) -> None:
    with socket.socket() as unused:  # bound, and nobody listens
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
        url = f"jdbc:{database}://{host}/shop?table=shop.orders&user=reader"
        done = compare(feed, url, PASSWORD, tmp_path / "found.json", engine)
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert line.endswith(f": no database answers at {host}: Connection refused")
    assert PASSWORD not in line


@pytest.mark.parametrize("table", ["mariadb", "postgresql"], indirect=True)
def test_types_of_a_database_equal_those_of_a_feed(
    table: Found, engine: str, tmp_path: Path
) -> None:
    url, password = table
    is_mariadb = "mariadb" in url
    columns = MARIADB_COLUMNS if is_mariadb else POSTGRESQL_COLUMNS
    defined = Table("types", "shop", columns=columns, key=("id",))
    rows = MARIADB_ROWS if is_mariadb else POSTGRESQL_ROWS
    changes = [
        RowChange(defined, "insert", None, Image(columns, row), Position(commit_ts=number))
        for number, row in enumerate(rows, 1000)
    ]
    context = Context({"time-zone": "UTC"})
    messages = get_format("craft").from_events(changes, context=context)
    folder = tmp_path / "feed"
    folder.mkdir()
    write_messages(str(folder / "messages.jsonl"), messages)
    definitions = tmp_path / "types.json"
    definitions.write_text(json.dumps([table_to_json(defined)]))
    options = ["--option", "time-zone=UTC", "--tables", str(definitions)]
    source = [f"craft:file:{folder}", *options]
    file = tmp_path / "found.json"
    done = compare(source, url.replace("orders", "types"), password, file, engine)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("mode", ["precise", "string"])
@pytest.mark.parametrize("table", ["postgresql"], indirect=True)
def test_decimals_in_a_list_keep_all_digits(
    table: Found, engine: str, mode: str, tmp_path: Path
) -> None:
    url, password = table
    columns = (Column("id", IntType(64), nullable=False), Column("a", ArrayType(DecimalType())))
    lists = Table("lists", "shop", columns=columns, key=("id",))
    context = Context({"decimal-handling-mode": mode})
    for digit, code in ((1, 0), (2, 1)):
        rows = [
            RowChange(lists, "insert", None, Image(columns, row), Position(lsn=row[0], commit_ms=0))
            for row in ((1, LISTS[digit]), (2, None))
        ]
        folder = tmp_path / str(digit)
        folder.mkdir()
        messages = get_format("debezium-json").from_events(rows, context=context)
        write_messages(str(folder / "messages.jsonl"), messages)
        source = f"debezium-json:file:{folder}"
        file = tmp_path / "found.json"
        done = compare(source, url.replace("orders", "lists"), password, file, engine)
        assert done.returncode == code, done.stdout + done.stderr


@pytest.mark.parametrize("table", ["postgresql"], indirect=True)
def test_column_that_only_spark_reads_is_compared_on_spark(table: Found, tmp_path: Path) -> None:
    url, password = table
    columns = (Column("id", IntType(64), nullable=False), Column("a", ArrayType(DateType())))
    days = Table("days", "shop", columns=columns, key=("id",))
    rows = [
        RowChange(days, "insert", None, Image(columns, row), Position(lsn=row[0], commit_ms=0))
        for row in ((1, ("2024-02-29",)), (2, None))
    ]
    messages = get_format("debezium-json").from_events(rows)
    write_messages(str(tmp_path / "messages.jsonl"), messages)
    file = tmp_path / "found.json"
    url = url.replace("orders", "days")
    done = compare(f"debezium-json:file:{tmp_path}", url, password, file)
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.endswith("not read the type of column a, _date; comparing on Spark")
    assert json.loads(file.read_text("utf-8"))["engine"] == "spark"
    done = compare(f"debezium-json:file:{tmp_path}", url, password, file, "embedded")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("column a, _date; --engine spark may read it")


@pytest.mark.parametrize("table", ["mariadb", "postgresql"], indirect=True)
def test_definition_of_a_table_comes_from_the_catalogue(table: Found, tmp_path: Path) -> None:
    url, password = table
    file = tmp_path / "tables.json"
    command = [sys.executable, "-m", "cdcwire_conformance", "tables"]
    done = subprocess.run(
        [*command, url.replace("orders", "defined"), "--to", str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, PASSWORD_VARIABLE: password},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(file.read_text("utf-8"))
    assert (found["schema"], found["table"]) == ("shop", "defined")
    assert set(found["key"]) == {"a", "b"}  # definitions have it in the order of the columns
    assert [(each["name"], each["type"], each["nullable"]) for each in found["columns"]] == [
        ("b", "int64", False),
        ("a", "int64", False),
        ("m", "enum(active,b)", True),
        ("n", "text(20)", False),
        ("d", "decimal(12,3)", True),
    ]


@pytest.mark.parametrize("table", ["mariadb"], indirect=True)
def test_table_that_a_database_lacks_is_one_line(table: Found, tmp_path: Path) -> None:
    url, password = table
    command = [sys.executable, "-m", "cdcwire_conformance", "tables"]
    done = subprocess.run(
        [*command, url.replace("orders", "nothing")],
        capture_output=True,
        text=True,
        env={**os.environ, PASSWORD_VARIABLE: password},
        timeout=600,
    )
    assert done.returncode == 2
    assert done.stderr.strip().endswith("has no such table, or the user may not see it")


@pytest.mark.parametrize("table", ["mariadb", "postgresql"], indirect=True)
def test_both_engines_write_one_report(feed: str, table: Found, tmp_path: Path) -> None:
    url, password = table
    found = []
    for engine in ("auto", "spark"):
        file = tmp_path / engine
        compare(feed, url, password, file, engine)
        result = json.loads(file.read_text("utf-8"))
        own = ("engine", "seconds", "record", "signature")
        found.append({name: value for name, value in result.items() if name not in own})
    assert found[0] == found[1]
    assert found[0]["tables"][0]["differences"]
