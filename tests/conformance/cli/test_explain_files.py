"""``cdcwire explain`` of files of a storage sink: what bytes say, and what stands beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire.storage import SchemaColumn, SchemaFile, schema_path_of, write_schema_file
from cdcwire_conformance.cli import main

VERSION = 441349361156227074
ROW = b'"I","t","shop",7,"tea"\r\n'
DDL = "CREATE TABLE shop.t (id INT PRIMARY KEY, name VARCHAR(5));"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """A prefix with one table, its schema file and one file of rows."""
    columns = (
        SchemaColumn("id", "INT", precision="11", is_nullable=False, is_primary_key=True),
        SchemaColumn("name", "VARCHAR", precision="5"),
    )
    schema = SchemaFile("t", "shop", 1, VERSION, "", 0, columns, 2)
    folder = tmp_path / "shop" / "t"
    (folder / "meta").mkdir(parents=True)
    place = schema_path_of(schema)
    (folder / "meta" / f"schema_{VERSION}_{place.checksum:010}.json").write_bytes(
        write_schema_file(schema)
    )
    (folder / f"{VERSION}" / "2023-05-09").mkdir(parents=True)
    (data_file(tmp_path)).write_bytes(ROW)
    return tmp_path


def data_file(prefix: Path) -> Path:
    return prefix / "shop" / "t" / f"{VERSION}" / "2023-05-09" / "CDC00000000000000000001.csv"


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the printed lines, with single spaces."""
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_columns_come_from_the_schema_file_of_the_prefix(
    prefix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "csv", str(data_file(prefix)), "--prefix", str(prefix)]) == 0
    lines = lines_of(capsys)
    assert "0015 37 2c records[0].columns.id '7' csv: integer values" in lines
    assert "0017 22 74 65 61 22 0d 0a records[0].columns.name 'tea' csv: text values" in lines


def test_columns_come_from_a_ddl(
    prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sqlglot")
    ddl = tmp_path / "shop.sql"
    ddl.write_text(DDL)
    assert main(["explain", "csv", str(data_file(prefix)), "--ddl", str(ddl)]) == 0
    assert "0015 37 2c records[0].columns.id '7' csv: integer values" in lines_of(capsys)


def test_file_without_definition_is_explained_as_far_as_it_goes(
    prefix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "csv", str(data_file(prefix))]) == 1
    lines = lines_of(capsys)
    assert "0015 37 2c records[0].columns[0] '7' csv: record" in lines
    assert any(line.startswith("^ byte 0: table shop.t") for line in lines)


def test_prefix_is_one_that_has_the_file(prefix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = prefix / "other.csv"
    other.write_bytes(ROW)
    assert main(["explain", "csv", str(other), "--prefix", str(prefix / "shop")]) == 2
    assert "other.csv is not in it" in capsys.readouterr().err


def test_prefix_of_messages_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = tmp_path / "message.bin"
    message.write_bytes(b"\x01")
    assert main(["explain", "craft", str(message), "--prefix", str(tmp_path)]) == 2
    assert "is not one file of a storage prefix" in capsys.readouterr().err
