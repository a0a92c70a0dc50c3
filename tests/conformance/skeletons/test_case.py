"""``cdcwire new case``: the JSON of a case from its bytes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from cdcwire_conformance.cli import main

# docs/formats/craft.md: a resolved event with commit timestamp 1
RESOLVED = bytes.fromhex("010103010101020a09010005")
CANAL = (
    b'{"id":0,"database":"shop","table":"orders","pkNames":["id"],"isDdl":false,"type":"INSERT",'
    b'"es":1,"ts":2,"sql":"","sqlType":{"id":4},"mysqlType":{"id":"int"},"old":null,'
    b'"data":[{"id":"7"}]}'
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A golden folder without cases."""
    folder = tmp_path / "golden"
    folder.mkdir()
    (folder / "VERSION").write_text("0.1.0\n")
    return folder


def new(root: Path, *words: str, code: int = 0) -> None:
    assert main(["new", "case", *words, "--root", str(root)]) == code


def read(root: Path, case_id: str) -> Any:
    return json.loads((root / f"{case_id}.json").read_text())


def put(root: Path, name: str, content: bytes) -> str:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return str(file)


def test_id_and_format_follow_from_the_place(root: Path) -> None:
    new(root, put(root, "craft/events/first-one.bin", RESOLVED))
    assert read(root, "craft/events/first-one") == {
        "id": "craft/events/first-one",
        "title": "first one",
        "level": "should",
        "expect": "accept",
        "clause": [],
        "origin": "",
        "since": "0.1.0",
        "features": ["resolved"],
        "messages": [{"key": None, "value": "first-one.bin"}],
        "events": [{"kind": "progress", "what": "resolved", "position": {"commit_ts": {}}}],
    }


def test_values_of_columns_are_left_to_the_author(root: Path, tmp_path: Path) -> None:
    new(root, put(tmp_path, "Two Keys.bin", CANAL), "--group", "rows")
    document = read(root, "canal-json/rows/two-keys")
    [event] = document["events"]
    assert (event["op"], event["table"], event["after"]) == (
        "insert",
        "orders",
        {"id": {"type": "int32"}},
    )
    assert (root / "canal-json/rows/two-keys.bin").read_bytes() == CANAL


@pytest.mark.parametrize(
    ("words", "features"),
    [([], ["text"]), (["--tables"], ["definitions", "text"])],
    ids=["without", "with"],
)
def test_case_needs_definitions_only_if_it_has_some(
    root: Path, tmp_path: Path, words: list[str], features: list[str]
) -> None:
    value = b'{"database":"d","table":"t","type":"insert","ts":1,"data":{"note":"tea"}}'
    table = {"schema": "d", "table": "t", "columns": [{"name": "note", "type": "text"}]}
    if words:
        words = [*words, put(tmp_path, "tables.json", json.dumps([table]).encode())]
    new(root, put(tmp_path, "one.bin", value), "--group", "rows", *words)
    assert read(root, "maxwell-json/rows/one")["features"] == features


def test_finished_skeleton_is_a_case_that_passes(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--origin", "derived: by hand", "--clause", "craft: resolved events")
    new(root, put(root, "craft/events/one.bin", RESOLVED), *words)
    assert "still missing: 1 blank value in events[0].position\n" in capsys.readouterr().out
    file = root / "craft/events/one.json"
    file.write_text(file.read_text().replace('"commit_ts": {}', '"commit_ts": "1"'))
    for verb in (["corpus", "rebuild"], ["corpus", "check"], ["verify", "craft", "--jobs", "1"]):
        assert main([*verb, "--root", str(root)]) == 0


def test_refused_bytes_are_a_reject_case(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new(root, put(root, "craft/events/cut.bin", RESOLVED[:4]), "--clause", "craft: version")
    document = read(root, "craft/events/cut")
    assert (document["expect"], document["error"]) == ("reject", {"clause": "craft: version"})
    assert "events" not in document
    assert "the reference refuses the bytes: byte " in capsys.readouterr().out


def test_bytes_that_the_reference_wrongly_refuses_may_be_an_accept_case(root: Path) -> None:
    new(root, put(root, "craft/events/cut.bin", RESOLVED[:4]), "--expect", "accept")
    document = read(root, "craft/events/cut")
    assert (document["expect"], document["events"]) == ("accept", None)


def test_messages_with_keys_have_a_file_each(root: Path, tmp_path: Path) -> None:
    def text(raw: bytes) -> str:
        return base64.b64encode(raw).decode()

    line = json.dumps({"key": text(b"k"), "value": text(RESOLVED)})
    feed = put(tmp_path, "feed.jsonl", f"{line}\n{line}\n".encode())
    new(root, feed, "--format", "craft", "--group", "events")
    folder = root / "craft" / "events"
    assert (folder / "feed.1.key.bin").read_bytes() == b"k"
    assert read(root, "craft/events/feed")["messages"] == [
        {"key": "feed.0.key.bin", "value": "feed.0.value.bin"},
        {"key": "feed.1.key.bin", "value": "feed.1.value.bin"},
    ]


def test_file_of_a_storage_prefix_has_its_path(root: Path, tmp_path: Path) -> None:
    file = put(tmp_path, "rows.csv", b'"I","t","s",7\n')
    ddl = put(tmp_path, "t.sql", b"CREATE TABLE s.t (id int);")
    words = ("--format", "csv", "--group", "rows", "--path", "s/t/1/CDC000001.csv", "--ddl", ddl)
    new(root, file, *words)
    document = read(root, "csv/rows/rows")
    assert document["messages"] == [{"path": "s/t/1/CDC000001.csv", "value": "rows.bin"}]
    assert document["tables"][0]["columns"] == [
        {"name": "id", "type": "int32", "source": "int", "nullable": True}
    ]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["{file}"], "--group is missing"),
        (["{file}", "--group", "A b"], "--group: 'A b' is not lower-case words with hyphens"),
        (["{file}", "--group", "g", "--name", "../x"], "--name: '../x' is not lower-case words"),
        (["{root}/craft/x.bin"], "its place is not {root}/FORMAT/GROUP/NAME.bin"),
        (["{root}/craft/events/none.bin"], "{root}/craft/events/none.bin: no such file"),
        (["{root}/kraft/events/x.bin"], "unknown format 'kraft'; did you mean 'craft'?"),
        (["{root}/craft/events/a.bin", "--name", "b"], "--name: the place of {root}/craft"),
        (["{file}", "--group", "g", "--clause", "craft: versoin"], "mean 'craft: version'?"),
        (["{file}", "--group", "g", "--format", "avro"], "give --schema, or --expect reject"),
        (["{file}", "--group", "events", "--name", "old"], "retired and never used again: wrong"),
        (["{file}", "--group", "events", "--name", "there"], "there.json: already exists"),
    ],
)
def test_wrong_place_or_name_is_one_line(
    words: list[str],
    problem: str,
    root: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = put(tmp_path, "x.bin", RESOLVED if "avro" not in words else b"\0\0\0\0\1x")
    (root / "retired.json").write_text('{"craft/events/old": "wrong"}')
    put(root, "craft/events/there.json", b"{}")
    filled = [word.format(file=file, root=root) for word in words]
    chosen = [] if "--format" in words or "{file}" not in words else ["--format", "craft"]
    new(root, *filled, *chosen, code=2)
    shown = capsys.readouterr()
    assert problem.format(root=root) in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out


def test_feed_of_many_messages_is_refused(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = json.dumps({"key": None, "value": base64.b64encode(RESOLVED).decode()})
    feed = put(tmp_path, "feed.jsonl", f"{line}\n".encode() * 51)
    new(root, feed, "--format", "craft", "--group", "g", code=2)
    assert "a case has at most 50 messages" in capsys.readouterr().err
