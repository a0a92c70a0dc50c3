"""Tables of databases without a server: which URLs drivers read, and lines of errors."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.sources import databases
from cdcwire_conformance.sources.databases import is_readable
from cdcwire_conformance.sources.tables import PASSWORD_VARIABLE, parse_table_url

DATABASES = ["mariadb", "postgresql"]


@pytest.mark.parametrize(
    ("place", "readable"),
    [
        ("jdbc:mariadb://db/shop", True),
        ("jdbc:mysql://db:3306/shop", True),
        ("jdbc:postgresql://[::1]:5432/shop", True),
        ("jdbc:mariadb://a:3306,b:3306/shop", False),
        ("jdbc:mariadb://a,b/shop", False),
        ("jdbc:postgresql://db:port/shop", False),
        ("jdbc:postgresql://db:70000/shop", False),
        ("jdbc:postgresql://db/a%20b", False),
        ("jdbc:postgresql://reader@db/shop", False),
        ("jdbc:postgresql://db/shop/more", False),
    ],
)
def test_url_of_one_host_and_database_is_read_without_spark(place: str, readable: bool) -> None:
    table = parse_table_url(f"{place}?table=t")
    assert table is not None
    assert is_readable(table) is readable


@pytest.mark.parametrize(
    ("database", "library", "origin"),
    [("mariadb", "pymysql", " (extra tables)"), ("postgresql", "psycopg", "")],
)
def test_driver_that_is_missing_is_one_line_that_says_how_to_get_it(
    database: str,
    library: str,
    origin: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setitem(databases.LIBRARIES, database, f"no_{library}")
    main(["generate", "craft", "--rows", "3", "--to", str(tmp_path / "feed")])
    capsys.readouterr()
    url = f"jdbc:{database}://127.0.0.1/shop?table=t"
    words = ["compare", f"craft:file:{tmp_path / 'feed'}", url, "--engine", "embedded"]
    assert main(words) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert f"needs the package no_{library}{origin}: pip install " in line


@pytest.mark.parametrize("database", DATABASES)
def test_database_that_is_down_is_one_line_without_the_password(
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip(databases.LIBRARIES[database])
    monkeypatch.setenv(PASSWORD_VARIABLE, "a secret")
    main(["generate", "craft", "--rows", "3", "--to", str(tmp_path / "feed")])
    capsys.readouterr()
    with socket.socket() as unused:  # bound, and nobody listens
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
        url = f"jdbc:{database}://{host}/shop?table=shop.t&user=reader"
        assert main(["compare", f"craft:file:{tmp_path / 'feed'}", url]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.endswith(f": no database answers at {host}: Connection refused")
    assert "secret" not in line
