"""``cdcwire avro``: what it prints and how it ends."""

from __future__ import annotations

import io
import json
import textwrap
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.formats.avro.command import EVOLVE_EXAMPLES

DDL = "CREATE TABLE orders (id INT PRIMARY KEY);\nALTER TABLE orders ADD n INT NOT NULL;\n"


@pytest.fixture
def ddl(tmp_path: Path) -> str:
    file = tmp_path / "shop.sql"
    file.write_text(DDL, encoding="utf-8")
    return str(file)


def test_example_of_the_help_is_what_is_printed(
    ddl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["avro", "evolve", "--ddl", ddl, "--database", "shop"]) == 1
    shown = textwrap.dedent("\n".join(EVOLVE_EXAMPLES.splitlines()[2:]))
    assert capsys.readouterr().out == shown + "\n"


def test_page_shows_what_the_help_shows() -> None:
    page = Path(__file__).parents[4] / "docs" / "registry.md"
    assert textwrap.dedent("\n".join(EVOLVE_EXAMPLES.splitlines()[1:])) in page.read_text("utf-8")


def test_accepted_chain_ends_with_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(DDL.replace(" NOT NULL", "")))
    assert main(["avro", "evolve", "--ddl", "-", "--schemas"]) == 0
    out = capsys.readouterr().out
    assert "accepted: version 2" in out
    assert '{"type":"record","name":"orders","namespace":"default.test","fields":[' in out
    assert out.endswith("2 statements, all accepted\n")


def test_json_is_one_object_a_step(ddl: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["avro", "evolve", "--ddl", ddl, "--json"]) == 1
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["line"], first["stops"], second["stops"]) == (1, False, True)
    key, value = second["verdicts"]
    assert (key["outcome"], value["outcome"]) == ("same", "refused")
    assert value["changes"][0]["path"] == ["n"]


def test_empty_topic_is_that_of_the_sink(ddl: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--option", "topic=", "--default-topic", "all.rows"]
    assert main(["avro", "evolve", "--ddl", ddl, *words]) == 1
    assert "key    all_rows-key: version 1\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--option", "avro-decimal-handling-mode=maybe"], "option avro-decimal-handling-mode"),
        (["--option", "no=1"], "'no'"),
        (["--option", "topic={schema}"], "invalid topic expression"),
        (["--ddl", "missing.sql"], "missing.sql: No such file"),
    ],
)
def test_command_that_cannot_run_exits_with_2_and_one_line(
    ddl: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["avro", "evolve", "--ddl", ddl, *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_broken_ddl_is_placed(ddl: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(ddl).write_text("CREATE TABLE t (a INT);\nALTER TABLE t DROP x", encoding="utf-8")
    assert main(["avro", "evolve", "--ddl", ddl]) == 2
    assert "shop.sql: line 2, column 20: there is no column 'x'" in capsys.readouterr().err


def test_topics_of_tables(ddl: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["avro", "topics", "x.{schema}.{table}", "--table", "a.b", "--ddl", ddl]
    assert main([*words[:3], "--table", "a.b"]) == 0
    assert capsys.readouterr().out == (
        "a.b  topic x.a.b  subjects x_a_b-key x_a_b-value\n"
        "'x.{schema}.{table}' is a template topic rule; no tables collide\n"
    )


def test_tables_that_share_a_subject_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["avro", "topics", "{schema}_{table}", "--table", "a_b.c", "--table", "a.b_c"]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "collision: a_b.c, a.b_c share the subjects a_b_c-key and a_b_c-value\n" in out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["{schema}"], 1, "invalid topic expression: '{schema}'"),
        (["all"], 1, "invalid topic expression: 'all'"),
        (["all", "--level", "shipped"], 0, "'all' is a fixed topic rule"),
        (["", "--level", "shipped", "--table", "a.b"], 0, "a.b  topic (that of the sink URI)"),
        (["", "--level", "shipped", "--table", "a.b", "--default-topic", "t"], 0, "topic t "),
        (["{schema}{table}", "--table", "a"], 2, ""),
    ],
)
def test_topic_rules(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["avro", "topics", *words]) == code
    assert said in capsys.readouterr().out
