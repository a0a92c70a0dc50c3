"""Prefixes whose rows have fewer columns than their schema files, read by every verb."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, IntType, Role, TextType
from cdcwire.storage import PathLayout, schema_file_of, schema_put
from cdcwire_conformance.cli import main

T = 441349361156227074
ROLES: frozenset[Role] = frozenset({"primary", "handle"})
ID = Column("id", IntType(32), "int(11)", False, roles=ROLES)
OPTION = ["--option", "include-commit-ts=true"]
SELECTORS = """
[sink]
protocol = "csv"
column-selectors = [ { matcher = ['shop.*'], columns = ['id', 'c'] } ]
[sink.csv]
include-commit-ts = true
"""


def text_column(name: str) -> Column:
    return Column(name, TextType(10), "varchar(10)", True)


def prefix_of(folder: Path, columns: tuple[Column, ...], rows: str) -> Path:
    put = schema_put(schema_file_of(Table("t", "shop", columns=columns), None, T), PathLayout())
    directory = folder / "shop" / "t" / str(T) / "2026-05-09"
    for name, content in (
        (put.path, put.value),
        (f"shop/t/{T}/2026-05-09/CDC{1:020d}.csv", rows.encode()),
        (f"shop/t/{T}/2026-05-09/meta/CDC.index", f"CDC{1:020d}.csv\n".encode()),
        ("metadata", f'{{"checkpoint-ts":{T + 100}}}'.encode()),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    assert directory.is_dir()
    return folder


def after_of(folder: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> object:
    capsys.readouterr()
    assert main(["decode", "csv", str(folder), *words]) == 0
    event = json.loads(capsys.readouterr().out.splitlines()[0])
    return {name: each["value"] for name, each in event["after"].items()}


def check_every_verb(folder: Path, words: list[str], sides: list[str]) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra compare")
    assert main(["storage", "check", "csv", str(folder), *words]) == 0
    assert main(["compare", f"csv:file:{folder}", f"csv:file:{folder}", *sides]) == 0


@pytest.mark.skipif(sys.version_info < (3, 11), reason="it needs the extra toml")
def test_column_selectors_of_a_changefeed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = (ID, text_column("b"), text_column("c"))
    rows = f'"I","t","shop",{T + 1},1,"z"\r\n'
    folder = prefix_of(tmp_path / "prefix", columns, rows)
    file = tmp_path / "changefeed.toml"
    file.write_text(SELECTORS)
    words = ["--changefeed", str(file)]
    assert after_of(folder, words, capsys) == {"id": "1", "c": "z"}
    sides = ["--left-changefeed", str(file), "--right-changefeed", str(file)]
    check_every_verb(folder, words, sides)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="it needs the extra toml")
def test_column_selectors_of_routed_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = (ID, text_column("b"), text_column("c"))
    folder = prefix_of(tmp_path / "prefix", columns, f'"I","t","shop",{T + 1},1,"z"\r\n')
    file = tmp_path / "changefeed.toml"
    route = "dispatchers = [ { matcher = ['eu_*.*'], target-schema = 'shop' } ]\n[sink.csv]"
    text = SELECTORS.replace("shop.*", "*.t").replace("[sink.csv]", route)
    file.write_text(text)
    assert after_of(folder, ["--changefeed", str(file)], capsys) == {"id": "1", "c": "z"}
    file.write_text(text.replace("eu_*.*", "!a.*"))
    assert main(["decode", "csv", str(folder), "--changefeed", str(file)]) == 0
    assert "use the option column-selectors with these names" in capsys.readouterr().err


@pytest.mark.parametrize(("names", "rows"), [("id, c", '1,"z"'), ("id, b, c", '1,"y","z"')])
def test_definition_with_the_columns_of_the_rows(
    names: str, rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = (ID, text_column("b"), text_column("c"), text_column("d"))
    folder = prefix_of(tmp_path / "prefix", columns, f'"I","t","shop",{T + 1},{rows}\r\n')
    declared = names.replace("id", "id INT PRIMARY KEY").replace("b", "b VARCHAR(10)")
    ddl = tmp_path / "t.sql"
    ddl.write_text(f"CREATE TABLE shop.t ({declared.replace('c', 'c VARCHAR(10)')});")
    words = [*OPTION, "--ddl", str(ddl)]
    found = after_of(folder, words, capsys)
    assert isinstance(found, dict)
    assert list(found) == names.split(", ")
    assert found["c"] == "z"
    check_every_verb(folder, words, [*OPTION, "--ddl", str(ddl)])


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        ("id INT, b VARCHAR(9), c VARCHAR(9)", '1,"z"'),  # the whole table: b or c is missing
        ("id INT, b VARCHAR(9)", '1,"y","z"'),  # of another version than the rows
        ("c VARCHAR(9), id INT", '1,"z"'),  # in another order
    ],
)
def test_definition_that_does_not_decide_is_an_error_or_not_used(
    names: str, rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = (ID, text_column("b"), text_column("c"))
    folder = prefix_of(tmp_path / "prefix", columns, f'"I","t","shop",{T + 1},{rows}\r\n')
    ddl = tmp_path / "t.sql"
    ddl.write_text(f"CREATE TABLE shop.t ({names});")
    words = [*OPTION, "--ddl", str(ddl)]
    if rows.count(",") == 2:
        assert after_of(folder, words, capsys) == {"id": "1", "b": "y", "c": "z"}
        return
    assert main(["decode", "csv", str(folder), *words]) == 1
    assert "2 columns, where 3 are expected" in (error := capsys.readouterr().err)
    assert "Give column-selectors or a definition of exactly the columns" in error


def test_commit_ts_in_place_of_a_column_that_is_not_sent_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = (ID, text_column("b"), text_column("c"))
    folder = prefix_of(tmp_path / "prefix", columns, f'"I","t","shop",{T + 1},1,"z"\r\n')
    assert main(["decode", "csv", str(folder)]) == 1
    error = capsys.readouterr().err
    assert f"{T + 1} is not within -2147483648 to 2147483647" in error
    assert "the first may be the commit-ts of include-commit-ts (in records[0].columns.id" in error


@pytest.mark.parametrize("told", ["nothing", "ddl", "changefeed"])
def test_hidden_column_of_an_index_on_an_expression(
    told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = (ID, text_column("name"), text_column("_V$_k_0"))
    folder = prefix_of(tmp_path / "prefix", columns, f'"I","t","shop",{T + 1},1,"Ab"\r\n')
    words, sides = OPTION, OPTION
    file = str(tmp_path / "told")
    if told == "ddl":
        table = "id INT PRIMARY KEY, name VARCHAR(10), KEY k ((LOWER(name)))"
        Path(file).write_text(f"CREATE TABLE shop.t ({table});")
        words = sides = [*OPTION, "--ddl", file]
    if told == "changefeed":
        if sys.version_info < (3, 11):
            pytest.skip("it needs the extra toml")
        Path(file).write_text(SELECTORS.replace("column-selectors", "dispatchers"))
        words = ["--changefeed", file]
        sides = ["--left-changefeed", file, "--right-changefeed", file]
    assert after_of(folder, words, capsys) == {"id": "1", "name": "Ab"}
    check_every_verb(folder, words, sides)


@pytest.mark.parametrize("verb", ["decode", "storage", "compare"])
def test_layout_of_old_releases_is_one_line(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = prefix_of(tmp_path / "prefix", (ID,), f'"I","t","shop",{T + 1},1\r\n')
    (folder / "shop" / "t" / str(T) / "schema.json").write_text("{}")
    words = {
        "decode": ["decode", "csv", str(folder)],
        "storage": ["storage", "check", "csv", str(folder)],
        "compare": ["compare", f"csv:file:{folder}", f"csv:file:{folder}"],
    }[verb]
    assert main([*words, *OPTION]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"shop/t/{T}/schema.json has the layout of TiCDC before 6.5.3" in line
