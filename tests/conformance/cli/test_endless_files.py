"""A file without end is one line and exit code 2, before it is whole in memory."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from cdcwire.ddl import statements
from cdcwire.files import local_files
from cdcwire_conformance.cli import main

ENDLESS = "/dev/zero"

if not Path(ENDLESS).exists():
    pytest.skip(f"this system has no {ENDLESS}", allow_module_level=True)


@pytest.mark.parametrize(
    "command",
    [
        ["decode", "craft", ENDLESS],
        ["explain", "craft", ENDLESS],
        ["decode", "craft", "--key", ENDLESS, "VALUE"],
        ["decode", "craft", "LINES"],
        ["encode", "craft", ENDLESS],
        ["decode", "craft", "--tables", ENDLESS, "VALUE"],
        ["decode", "craft", "--ddl", ENDLESS, "VALUE"],
        ["decode", "craft", "--changefeed", ENDLESS, "VALUE"],
        ["decode", "debezium-json", "--connector", ENDLESS, "VALUE"],
        ["verify", "craft", "--expected-failures", ENDLESS],
        ["compare", "craft:file:.", "craft:file:.", "--mask-key", ENDLESS],
    ],
    ids=" ".join,
)
def test_endless_file_is_one_line(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(local_files, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(local_files, "MAX_TEXT_BYTES", 1 << 18)
    monkeypatch.setattr(statements, "MAX_LINE", 1 << 18)
    value, lines = tmp_path / "value", tmp_path / "lines.jsonl"
    value.write_bytes(b"\0")
    lines.symlink_to(ENDLESS)
    paths = {"VALUE": str(value), "LINES": str(lines)}
    assert main([paths.get(word, word) for word in command]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert (paths["LINES"] if "LINES" in command else ENDLESS) in error
    of_feed = ENDLESS in command[2:3] or "LINES" in command or "--key" in command
    assert f"more than {1048576 if of_feed else 262144} " in error


def test_endless_standard_input_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(local_files, "MAX_BYTES", 1 << 20)
    with Path(ENDLESS).open("rb") as stream:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        assert main(["decode", "craft", "-"]) == 2
    assert capsys.readouterr().err == (
        "cdcwire decode: standard input: can't be read: more than 1048576 bytes\n"
    )
