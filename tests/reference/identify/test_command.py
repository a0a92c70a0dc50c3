"""``cdcwire identify`` on files, lines, directories and standard input."""

from __future__ import annotations

import base64
import io
import json
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.store import load_case

CRAFT = bytes.fromhex("010103010101020a09010005")


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _identified(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main(["identify", *arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def _error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["identify", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize("text", [CRAFT.hex(), base64.b64encode(CRAFT).decode(), CRAFT])
def test_bytes_hex_and_base64_are_identified(
    text: str | bytes, in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("message").write_bytes(text.encode() if isinstance(text, str) else text)
    found = _identified(capsys, "message")
    assert found["format"] == "craft"
    assert found["encoding"] == (
        "bytes" if text == CRAFT else "hex" if text == CRAFT.hex() else "base64"
    )


def test_evidence_names_message_part_and_byte(
    in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("m.bin").write_bytes(CRAFT)
    assert main(["identify", "m.bin"]) == 0
    assert "because: the version of Craft is 1 (m.bin, value byte 0)" in capsys.readouterr().out


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("facts", ["", "CreateTime:1700000000000\tPartition:0\tOffset:7\t"])
@pytest.mark.parametrize("key", ["null", '{"id":1}'])
def test_lines_of_the_console_consumer_are_identified_in_a_file_of_any_name(
    key: str, facts: str, count: int, in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = '{"database":"d","table":"t","type":"insert","ts":1,"xid":2,"data":{"a":1}}'
    Path("dump.txt").write_text(f"{facts}{key}\t{value}\n" * count, encoding="utf-8")
    found = _identified(capsys, "dump.txt")
    assert found["format"] == "maxwell-json"
    assert found["container"] == "messages"


def test_lines_of_values_are_identified(
    in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = load_case("maxwell-json/document/update").messages[0].value
    line = json.dumps(json.loads(value or b"")).encode()
    Path("dump").write_bytes(line + b"\n" + line + b"\n")
    found = _identified(capsys, "dump")
    assert (found["format"], found["container"], found["messages"]) == ("maxwell-json", "lines", 2)


def test_a_generated_prefix_gives_the_settings_of_its_paths_and_files(
    in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {
        "delimiter": "|+|",
        "null": "NULL",
        "include-commit-ts": "true",
        "output-old-value": "true",
        "date-separator": "month",
        "file-index-digit": "6",
    }
    arguments = [f"--option={name}={value}" for name, value in options.items()]
    assert main(["generate", "csv", "--rows", "20", "--seed", "3", "--to", "feed", *arguments]) == 0
    capsys.readouterr()
    found = _identified(capsys, "feed")
    candidates = found["candidates"]
    assert isinstance(candidates, list)
    best = candidates[0]
    assert (best["format"], best["sureness"]) == ("csv", "sure")
    shown = {name: str(value).lower() for name, value in best["options"].items()}
    expected = {name: value.lower() for name, value in options.items()}
    assert {**shown, "null": expected["null"]} == expected


def test_a_key_makes_open_protocol_sure(
    in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = load_case("open-protocol/dialects/ticdc-insert").messages[0]
    Path("value").write_bytes(message.value or b"")
    Path("key").write_bytes(getattr(message, "key", None) or b"")
    candidates = _identified(capsys, "value")["candidates"]
    assert isinstance(candidates, list)
    assert candidates[0]["sureness"] == "likely"
    candidates = _identified(capsys, "value", "--key", "key")["candidates"]
    assert isinstance(candidates, list)
    assert candidates[0]["sureness"] == "sure"


def test_a_tombstone_lists_all_candidates(
    in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("t.jsonl").write_text('{"key": null, "value": null}\n')
    assert main(["identify", "t.jsonl"]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert (
        first
        == "t.jsonl: not identified; possible: debezium-json, debezium-avro, canal-json, cdl-json"
    )


def test_unknown_bytes_are_not_identified(
    in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("x").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert main(["identify", "x"]) == 1
    assert capsys.readouterr().out.startswith("x: not identified; no format shows its signs")


def test_bad_input_is_one_line(in_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    Path("empty.jsonl").touch()
    assert "missing: can't be read: No such file" in _error(capsys, "missing")
    assert _error(capsys, "010103010101020a09010005").endswith("is given by standard input (-)\n")
    assert "empty: the directory has no files" in _error(capsys, "empty")
    assert "empty.jsonl: there are no messages in it" in _error(capsys, "empty.jsonl")
    assert "--messages is a number from 1" in _error(capsys, "empty", "--messages", "0")


def test_empty_standard_input_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert "there are no messages in it" in _error(capsys, "-")


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: b"[" * 2_000_000, id="nested"),
        pytest.param(lambda: b'{"a":' * 1_000_000, id="nested objects"),
        pytest.param(lambda: b'{"ts":' + b"9" * 5_000_000 + b"}", id="long number"),
        pytest.param(lambda: zlib.compress(bytes(500_000_000)), id="zlib bomb"),
        pytest.param(lambda: b"I" + b"," * 4_000_000, id="delimiters"),
        pytest.param(lambda: b"\x04\x22\x4d\x18" + bytes(1 << 20), id="lz4"),
        pytest.param(lambda: bytes(20 << 20), id="large"),
        pytest.param(lambda: b"ticdc-meta$operation" * 200_000, id="headers"),
    ],
)
def test_hostile_bytes_take_little_time(make: Callable[[], bytes], in_folder: Path) -> None:
    Path("hostile").write_bytes(make())
    before = time.process_time()
    assert main(["identify", "hostile"]) in (0, 1)
    assert time.process_time() - before < 20
