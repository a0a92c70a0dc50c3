"""Comparisons of feeds whose table schemas are among their messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

pytest.importorskip("pyarrow")

ROWS = ("--rows", "30", "--seed", "3")


def feed(folder: Path, name: str, *options: str) -> str:
    place = folder / f"{name}{len(options)}"
    given = [each for option in options for each in ("--option", option)]
    assert main(["generate", name, *given, *ROWS, "--to", str(place)]) == 0
    return f"{name}:file:{place}"


@pytest.mark.parametrize("encoding", ["json", "avro"])
def test_feed_equals_that_of_another_format_without_definitions(
    encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = feed(tmp_path, "simple", f"encoding-format={encoding}")
    right = feed(tmp_path, "open-protocol")
    assert main(["compare", left, right]) == 0
    assert "EQUAL: 30 changes of 1 table" in capsys.readouterr().out


def test_row_without_its_table_schema_is_an_error_that_names_the_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = feed(tmp_path, "simple"), feed(tmp_path, "open-protocol")
    messages = Path(left.rpartition(":")[2]) / "messages.jsonl"
    lines = messages.read_text(encoding="utf-8").splitlines(keepends=True)
    messages.write_text("".join(lines[1:]), encoding="utf-8")
    assert main(["compare", left, right]) == 2
    assert "has version 0; known: none" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["json", "avro"])
def test_partitions_have_their_table_schemas_again_late_or_not_at_all(
    encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = feed(tmp_path, "simple", f"encoding-format={encoding}")
    right = feed(tmp_path, "open-protocol")
    messages = Path(left.rpartition(":")[2]) / "messages.jsonl"
    schema, *rows = messages.read_text(encoding="utf-8").splitlines(keepends=True)
    partitions = ([schema, *rows[::3], schema], [*rows[1::3], schema], rows[2::3])
    for number, lines in enumerate(partitions):
        text = "".join(lines)
        messages.with_name(f"partition{number}.jsonl").write_text(text, encoding="utf-8")
    messages.unlink()
    assert main(["compare", left, right]) == 0
    assert "EQUAL: 30 changes of 1 table" in capsys.readouterr().out
