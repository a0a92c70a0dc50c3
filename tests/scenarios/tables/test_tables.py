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

from cdcwire.core.registry import get_format
from cdcwire.model.events import Column, Image, Position, RowChange, Table
from cdcwire.model.kinds import DatetimeType, DecimalType, IntType, JsonType, TextType
from cdcwire_conformance.sources.messages_io import write_messages
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
            "CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, userName TEXT, price DECIMAL(10,2),"
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
            "CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, userName TEXT, price DECIMAL(10,2),"
            " made TIMESTAMP(6), doc JSONB);" + inserts(table_rows())
        )
        where = f"127.0.0.1:{server.port}/{server.database}"
        yield f"jdbc:postgresql://{where}?table=shop.orders&user={server.user}", server.password


def compare(feed: str, table: str, password: str, file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cdcwire_conformance", "compare", feed, table]
    return subprocess.run(
        [*command, "--json", str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, PASSWORD_VARIABLE: password},
        timeout=600,
    )


def test_each_mistake_of_a_table_is_found(feed: str, table: Found, tmp_path: Path) -> None:
    url, password = table
    file = tmp_path / "found.json"
    done = compare(feed, url, password, file)
    assert done.returncode == 1, done.stderr
    (found,) = json.loads(file.read_text("utf-8"))["tables"]
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
def test_wrong_password_is_one_line_without_it(feed: str, table: Found, tmp_path: Path) -> None:
    url, _ = table
    done = compare(feed, url, "a wrong secret", tmp_path / "found.json")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "secret" not in done.stderr
    assert "the database refuses the user" in done.stderr


@pytest.mark.parametrize("database", ["mariadb", "postgresql"])
def test_database_that_is_down_is_one_line_that_names_it(
    feed: str, database: str, tmp_path: Path
) -> None:
    with socket.socket() as unused:  # bound, and nobody listens
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
        url = f"jdbc:{database}://{host}/shop?table=shop.orders&user=reader"
        done = compare(feed, url, PASSWORD, tmp_path / "found.json")
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert line.endswith(f": no database answers at {host}: Connection refused")
    assert PASSWORD not in line
