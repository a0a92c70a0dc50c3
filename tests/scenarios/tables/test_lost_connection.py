"""The connection to a database is lost while the rows of a table are read."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.sources.tables import PASSWORD_VARIABLE
from cdcwire_evidence import mariadb
from cdcwire_evidence.debezium import postgres
from cdcwire_evidence.registry.apicurio import UnavailableError

COLUMNS = (Column("id", IntType(64), nullable=False), Column("t", TextType()))
TABLE = Table("many", "shop", columns=COLUMNS, key=("id",))
MANY = "CREATE TABLE shop.many (id BIGINT, t TEXT); INSERT INTO shop.many SELECT {}, '{}' FROM {};"
TEXT = "a text of some length"
ROWS = 20_000
BYTES = 200_000  # the rows have twice as many, and the catalogue some thousand
PASSWORD = "the password of a reader"


@pytest.fixture(scope="module", params=["mariadb", "postgresql"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, str, str]]:
    """Start a database. Its port, the URL with another port to put in, and the password."""
    try:
        if request.param == "mariadb":
            with mariadb.running(tmp_path_factory.mktemp("mariadb")) as found:
                found.run(
                    f"CREATE DATABASE shop; "
                    f"USE shop; {MANY.format('seq', TEXT, f'seq_1_to_{ROWS}')}"
                    f"CREATE USER reader@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';"
                    "GRANT SELECT ON shop.* TO reader@'127.0.0.1';"
                )
                url = "jdbc:mariadb://127.0.0.1:{}/shop?table=many&user=reader"
                yield found.port, url, PASSWORD
        else:
            with postgres.running() as found_too:
                rows = MANY.format("id", TEXT, f"generate_series(1, {ROWS}) AS id")
                found_too.run(f"CREATE SCHEMA shop; {rows}")
                place = "jdbc:postgresql://127.0.0.1:{}/"
                url = f"{place}{found_too.database}?table=shop.many&user={found_too.user}"
                yield found_too.port, url, found_too.password
    except UnavailableError as error:
        if os.environ.get("CDCWIRE_SCENARIOS") == "required":
            raise
        pytest.skip(str(error))


@contextmanager
def proxy_that_ends(port: int) -> Iterator[tuple[int, list[int]]]:
    """Give the port of a proxy that ends a connection after some bytes, and what it has ended."""
    ended: list[int] = []

    def send_on(source: socket.socket, target: socket.socket, most: int | None) -> None:
        sent = 0
        with suppress(OSError):
            while part := source.recv(16_384):
                target.sendall(part)
                sent += len(part)
                if most is not None and sent > most:
                    ended.append(sent)
                    break
        for each in (source, target):  # which ends the other thread
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def accept(listener: socket.socket) -> None:
        with ExitStack() as opened, suppress(OSError):
            while True:
                client = opened.enter_context(listener.accept()[0])
                upstream = opened.enter_context(socket.create_connection(("127.0.0.1", port)))
                for given in ((client, upstream, None), (upstream, client, BYTES)):
                    thread = threading.Thread(target=send_on, args=given)
                    thread.start()
                    opened.callback(thread.join)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        accepting = threading.Thread(target=accept, args=(listener,))
        accepting.start()
        yield listener.getsockname()[1], ended
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()


@pytest.mark.parametrize("engine", ["embedded", "spark"])
def test_lost_connection_is_one_line_and_never_equal(
    server: tuple[int, str, str], engine: str, tmp_path: Path
) -> None:
    port, url, password = server
    inserts = (
        RowChange(TABLE, "insert", None, Image(COLUMNS, (key, TEXT)), Position(commit_ts=key))
        for key in range(1, ROWS + 1)
    )
    write_messages(str(tmp_path / "messages.jsonl"), get_format("craft").from_events(inserts))
    with proxy_that_ends(port) as (own_port, ended):
        command = [sys.executable, "-m", "cdcwire_conformance", "compare"]
        table = url.format(own_port)
        done = subprocess.run(
            [*command, f"craft:file:{tmp_path}", table, "--engine", engine],
            capture_output=True,
            text=True,
            env={**os.environ, PASSWORD_VARIABLE: password},
            timeout=600,
        )
    assert ended
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    said = f"no database answers at 127.0.0.1:{own_port}: "
    assert (said if engine == "embedded" else "Spark's job failed: ") in line
    assert password not in line
