"""A file without end is one line and exit code 2, before it is whole in memory."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from cdcwire_conformance import whole_files
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
        ["decode", "craft", "--tables", ENDLESS, "VALUE"],
        ["decode", "craft", "--ddl", ENDLESS, "VALUE"],
        ["decode", "craft", "--changefeed", ENDLESS, "VALUE"],
    ],
    ids=" ".join,
)
def test_endless_file_is_one_line(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(whole_files, "MAX_BYTES", 1 << 20)
    value = tmp_path / "value"
    value.write_bytes(b"\0")
    assert main([str(value) if word == "VALUE" else word for word in command]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{ENDLESS}: " in error
    assert "more than 1048576 bytes" in error


def test_endless_standard_input_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(whole_files, "MAX_BYTES", 1 << 20)
    with Path(ENDLESS).open("rb") as stream:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        assert main(["decode", "craft", "-"]) == 2
    assert capsys.readouterr().err == (
        "cdcwire decode: standard input: can't be read: more than 1048576 bytes\n"
    )
