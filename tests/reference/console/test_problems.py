"""Messages about a text that a library refuses never contain the library's words."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

from cdcwire.console.problems import (
    integer_argument,
    json_problem,
    no_constant,
    number_argument,
)
from cdcwire_conformance.cli import main

PYTHON_WORDS = re.compile(
    r"codec|Errno|Expecting|literal|fromhex|padding of|unpack|decimal\.[A-Z]|base64 data|int value|"
    r"float value|string argument|Traceback"
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"a":', "not JSON at character 6"),
        (b'{"a":\n', "not JSON at character 6"),
        (b"[1,\n2", "not JSON at line 2, column 2"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        (b"[" * 200_000, "nested too deeply"),
        (b"9" * 5000, "not usable: a number has too many digits"),
        (b"[NaN]", "not JSON: NaN"),
    ],
    ids=["cut", "cut-line", "second-line", "not-utf-8", "deep", "long-number", "nan"],
)
def test_refused_json_is_described_with_its_place(text: bytes, problem: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as caught:
        json.loads(text, parse_constant=no_constant)
    assert isinstance(caught.value, ValueError | RecursionError)
    assert json_problem(caught.value) == problem


def test_number_arguments_are_refused_in_plain_words() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"^'1\.5' is not an integer$"):
        integer_argument("1.5")
    with pytest.raises(argparse.ArgumentTypeError, match=r"^'x' is not a number$"):
        number_argument("x")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["encode", "craft", "latin.txt"], "latin.txt: line 2: not UTF-8 at byte 0"),
        (["encode", "craft", "cut.json"], "cut.json: line 1: not JSON at character 6"),
        (["encode", "craft", "base64.json"], "not standard base64 with padding"),
        (["encode", "craft", "map.json"], "an entry of a map is a list of key and value"),
        (["decode", "craft", "--hex", "cut.json"], "cut.json: is not hexadecimal"),
        (["decode", "craft", "--tables", "latin.txt", "cut.json"], "byte 1 is not UTF-8"),
        (["decode", "craft", "--tables", "none", "cut.json"], "can't be read: No such file"),
        (["decode", "craft", "--tables", "cut.json", "cut.json"], "not JSON at character 6"),
        (["explain", "craft", "cut.json", "--message", "x"], "'x' is not an integer"),
    ],
    ids=[
        "events-not-utf-8",
        "events-not-json",
        "bytes-not-base64",
        "map-entry-without-value",
        "not-hexadecimal",
        "tables-not-utf-8",
        "tables-missing",
        "tables-not-json",
        "number-of-a-message",
    ],
)
def test_commands_report_unreadable_files_in_plain_words(
    arguments: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    row = {"kind": "row", "op": "insert", "schema": "s", "table": "t", "commit_ts": "1"}
    values = {
        "base64": {"type": "bytes", "bytes": "abc"},
        "map": {"type": "map<text,text>", "entries": [["key"]]},
    }
    for name, value in values.items():
        document = {**row, "after": {"c": value}}
        Path(f"{name}.json").write_text(json.dumps(document) + "\n", encoding="utf-8")
    Path("latin.txt").write_bytes(b"\n\xe9\n")
    Path("cut.json").write_bytes(b'{"a":\n')

    assert main(arguments) == 2
    shown = capsys.readouterr().err
    assert problem in shown
    assert not PYTHON_WORDS.search(shown)
