"""Claim-check files through the command line: its own output, directories, and missing files."""

from __future__ import annotations

import io
import json
from base64 import b64decode
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

URI = "s3://bucket/some/prefix"
OPTIONS = {
    "open-protocol": {},
    "canal-json": {"enable-tidb-extension": "true"},
}
ROWS = [
    {
        "kind": "row",
        "op": "insert",
        "schema": "test",
        "table": "t",
        "key": ["id"],
        "position": {"commit_ts": "433305438660591626"},
        "before": None,
        "after": {
            "id": {"type": "int32", "value": str(number)},
            "v": {"type": "text", "value": "x" * length},
        },
    }
    for number, length in enumerate((1, 900, 1))
]

each_format = pytest.mark.parametrize("format_name", OPTIONS)


def arguments_of(format_name: str) -> list[str]:
    settings = {
        **OPTIONS[format_name],
        "large-message-handle-option": "claim-check",
        "claim-check-storage-uri": URI,
        "max-message-bytes": "700",
    }
    return [part for name, value in settings.items() for part in ("--option", f"{name}={value}")]


@pytest.fixture
def feed(tmp_path: Path, format_name: str, capsys: pytest.CaptureFixture[str]) -> str:
    events = tmp_path / "events.jsonl"
    events.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert main(["encode", format_name, str(events), *arguments_of(format_name)]) == 0
    return capsys.readouterr().out


def values_of(out: str) -> list[str | None]:
    rows = [json.loads(line)["after"] for line in out.splitlines()]
    return [row["v"]["value"] if "v" in row else None for row in rows]


def split(feed: str, folder: Path) -> Path:
    """Write the claim-check files into a directory. Returns: the file of the messages."""
    lines = feed.splitlines(keepends=True)
    messages = folder / "messages.jsonl"
    messages.write_text("".join(line for line in lines if "path" not in json.loads(line)))
    for line in lines:
        document = json.loads(line)
        if "path" in document:
            folder.joinpath("files").mkdir()
            folder.joinpath("files", document["path"]).write_bytes(b64decode(document["value"]))
    return messages


@each_format
@pytest.mark.parametrize("has_options", [True, False])
def test_decode_reads_what_encode_printed(
    feed: str,
    format_name: str,
    has_options: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    messages = tmp_path / "messages.jsonl"
    messages.write_text(feed)
    options = arguments_of(format_name) if has_options else []
    assert main(["decode", format_name, str(messages), *options]) == 0
    assert values_of(capsys.readouterr().out) == ["x", "x" * 900, "x"]


@each_format
def test_decode_reads_a_feed_from_standard_input(
    feed: str, format_name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(feed.encode())))
    assert main(["decode", format_name, "-"]) == 0
    assert values_of(capsys.readouterr().out) == ["x", "x" * 900, "x"]


@each_format
def test_blobs_finds_the_file_of_a_location_with_a_scheme(
    feed: str, format_name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = split(feed, tmp_path)
    for folder in (tmp_path / "files", tmp_path):
        found = main(["decode", format_name, str(messages), "--blobs", str(folder)])
        out = capsys.readouterr().out
        if folder.name == "files":
            assert (found, values_of(out)) == (0, ["x", "x" * 900, "x"])
        else:  # files/NAME is no end of s3://bucket/some/prefix/NAME
            assert (found, values_of(out)) == (1, ["x", None, "x"])


@each_format
@pytest.mark.parametrize("has_folder", [True, False])
def test_decode_reports_a_missing_claim_check_file(
    feed: str,
    format_name: str,
    has_folder: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    messages = split(feed, tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    blobs = ["--blobs", str(empty)] if has_folder else []
    assert main(["decode", format_name, str(messages), *blobs]) == 1
    out, err = capsys.readouterr()
    assert values_of(out) == ["x", None, "x"]
    (line,) = err.splitlines()
    assert f"the claim-check file {URI}/" in line
    assert "is missing" in line


@each_format
def test_explain_names_a_claim_check_file(
    feed: str, format_name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = tmp_path / "messages.jsonl"
    messages.write_text(feed)
    assert main(["explain", format_name, str(messages)]) == 0
    assert "claim-check file" in capsys.readouterr().out


@each_format
def test_testee_reads_a_feed_with_its_claim_check_file(
    feed: str, format_name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = [json.loads(line) for line in feed.splitlines()]
    request = {"cmd": "decode", "seq": 1, "format": format_name, "messages": messages}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(request).encode())))
    assert main(["testee"]) == 0
    (answer,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert len(answer["events"]) == 3


@pytest.mark.parametrize("format_name", ["canal-json"])
def test_raw_claim_check_files_need_their_option(
    tmp_path: Path, format_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    raw = ["--option", "claim-check-raw-value=true"]
    assert main(["encode", format_name, str(events), *arguments_of(format_name), *raw]) == 0
    messages = tmp_path / "messages.jsonl"
    messages.write_text(capsys.readouterr().out)
    assert main(["decode", format_name, str(messages), *arguments_of(format_name), *raw]) == 0
    assert values_of(capsys.readouterr().out) == ["x", "x" * 900, "x"]
    assert main(["decode", format_name, str(messages), *arguments_of(format_name)]) == 1
    assert "claim-check-raw-value" in capsys.readouterr().err
