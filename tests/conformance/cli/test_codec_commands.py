"""``decode``, ``encode`` and ``generate`` as their users call them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

RESOLVED_1 = "010103010101020a09010005"  # worked example of the page on Craft
BROKEN = RESOLVED_1[:-2]

TABLES = [
    {
        "schema": "test",
        "table": "t",
        "key": ["id"],
        "columns": [
            {
                "name": "id",
                "type": "int64 unsigned",
                "source": "bigint unsigned",
                "nullable": False,
                "roles": ["primary", "handle"],
            },
            {"name": "note", "type": "text", "source": "varchar(20)", "nullable": True},
        ],
    }
]
ROW = {
    "kind": "row",
    "op": "insert",
    "schema": "test",
    "table": "t",
    "key": ["id"],
    "position": {"commit_ts": "433305438660591626"},
    "before": None,
    "after": {"id": {"type": "int64 unsigned", "value": str(2**64 - 1)}, "note": None},
}


@pytest.fixture
def tables(tmp_path: Path) -> str:
    file = tmp_path / "tables.json"
    file.write_text(json.dumps(TABLES))
    return str(file)


def test_decode_prints_events_as_json_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "message.hex"
    file.write_text(RESOLVED_1)
    assert main(["decode", "craft", "--hex", str(file)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "kind": "progress",
        "what": "resolved",
        "position": {"commit_ts": "1"},
    }


def test_decode_broken_message_is_one_line_with_byte_and_clause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "message.hex"
    file.write_text(BROKEN)
    assert main(["decode", "craft", "--hex", str(file)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "byte " in error
    assert "craft: " in error


def test_decode_keep_going_decodes_the_other_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, whole = tmp_path / "a.hex", tmp_path / "b.hex"
    broken.write_text(BROKEN)
    whole.write_text(RESOLVED_1)
    assert main(["decode", "craft", "--hex", "--keep-going", str(broken), str(whole)]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["craft", "no-such-file"], "no-such-file"),
        (["no-such-format", "-"], "no-such-format"),
        (["craft", "--option", "max-batch-size", "-"], "NAME=VALUE"),
        (["craft", "--include", "t", "-"], "SCHEMA.TABLE"),
        (["craft", "--columns", "a,,b", "-"], "--columns: a name of a column is empty"),
        (["craft", "--tables", "no-such-file", "-"], "no-such-file"),
        (["craft", "--blobs", "no-such-folder", "-"], "no-such-folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_decode_that_could_not_run_says_why_and_exits_with_2(
    arguments: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["decode", *arguments]) == 2
    error = capsys.readouterr().err
    assert word in error
    assert "Traceback" not in error


@pytest.mark.parametrize("format_name", ["craft", "craft-proposal", "open-protocol"])
def test_encode_and_decode_give_the_events_again(
    format_name: str, tables: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(json.dumps(ROW) + "\n")
    assert main(["encode", format_name, str(events), "--tables", tables]) == 0
    messages = tmp_path / "messages.jsonl"
    messages.write_text(capsys.readouterr().out)
    assert main(["decode", format_name, str(messages)]) == 0
    assert json.loads(capsys.readouterr().out) == ROW


def test_byte_order_mark_of_tables_and_events_is_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Editors of Windows write one."""
    tables, events = tmp_path / "tables.json", tmp_path / "events.jsonl"
    tables.write_text(json.dumps(TABLES), encoding="utf-8-sig")
    events.write_text(json.dumps(ROW), encoding="utf-8-sig")
    assert tables.read_bytes().startswith(b"\xef\xbb\xbf")
    assert main(["encode", "craft", "--tables", str(tables), str(events)]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_decode_selects_tables_and_columns(
    tables: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.jsonl"
    other = {**ROW, "table": "other"}
    events.write_text(f"{json.dumps(ROW)}\n{json.dumps(other)}\n")
    main(["encode", "craft", str(events), "--tables", tables])
    messages = tmp_path / "messages.jsonl"
    messages.write_text(capsys.readouterr().out)
    chosen = ["--include", "test.t", "--columns", "note"]
    assert main(["decode", "craft", str(messages), *chosen]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {**ROW, "after": {"note": None}}
    assert shown.err == ""
    misspelled = ["--include", "test.t", "--include", "test.tt", "--columns", "note,nte"]
    assert main(["decode", "craft", str(messages), *misspelled]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {**ROW, "after": {"note": None}}
    assert shown.err.splitlines() == [
        "cdcwire decode: note: --include: no event belongs to the table test.tt; did you mean "
        "'test.t'?",
        "cdcwire decode: note: --columns: no row has a column nte",
    ]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("{", "line 1"),
        ('{"kind": "row"}', "op"),
        ('{"kind": "progress", "what": "resolved", "position": {"commit_ts": "x"}}', "commit_ts"),
    ],
)
def test_encode_unreadable_event_names_its_line_and_member(
    line: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(line)
    assert main(["encode", "craft", str(events)]) == 2
    assert word in capsys.readouterr().err


def test_encode_what_the_format_can_not_carry_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text('{"kind": "marker", "what": "begin"}')
    assert main(["encode", "craft", str(events)]) == 1
    assert "craft: " in capsys.readouterr().err


def test_generate_gives_the_same_changes_in_every_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for format_name in ("craft", "open-protocol"):
        folder = tmp_path / format_name
        words = ["--rows", "60", "--seed", "7", "--to", str(folder), "--workload", "orders-10"]
        assert main(["generate", format_name, *words]) == 0
        assert json.loads((folder / "tables.json").read_text())[0]["columns"]
        capsys.readouterr()
        assert main(["decode", format_name, str(folder)]) == 0
        found.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert found[0] == found[1]
    assert len(found[0]) >= 60


@pytest.mark.parametrize("format_name", ["datahub-tuple", "datahub-blob"])
def test_generate_for_datahub_has_positions_and_one_table_a_topic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format_name: str
) -> None:
    """Of a workload of 48 tables a Tuple topic takes the one that an option names."""
    words = ["--rows", "200", "--workload", "many-tables", "--to", str(tmp_path)]
    tables = ["--tables", str(tmp_path / "tables.json")]
    if format_name == "datahub-tuple":
        words += ["--option", "table=tenant_0.table_00"]
    assert main(["generate", format_name, *words]) == 0
    assert main(["decode", format_name, str(tmp_path / "messages.jsonl"), *tables]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows
    assert all(row["position"].keys() >= {"sequence_id", "commit_ms"} for row in rows)
    if format_name == "datahub-tuple":
        assert {(row["schema"], row["table"]) for row in rows} == {("tenant_0", "table_00")}


def test_generate_into_a_file_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["generate", "craft", "--rows", "1", "--to", str(tmp_path / "file")]) == 2
    assert "file" in capsys.readouterr().err


def test_decode_says_what_it_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "message.hex"
    file.write_text("00010001010900010000010601000005")  # one event of type 9, with no value
    assert main(["decode", "craft-proposal", "--hex", str(file)]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "warning" in captured.err


def test_decode_joins_the_halves_of_an_update(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = tmp_path / "feed"
    words = ["generate", "datahub-blob", "--workload", "orders-10", "--rows", "60", "--seed", "3"]
    assert main([*words, "--to", str(feed)]) == 0
    assert main(["decode", "datahub-blob", "--join-halves", str(feed)]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    updates = [event for event in events if event["op"] == "update"]
    assert len(events) == 60
    assert updates
    assert all(event["before"] and event["after"] for event in updates)
    assert all("half" not in event for event in events)


def test_decode_half_alone_is_one_line_with_its_clause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = tmp_path / "feed"
    words = ["generate", "datahub-blob", "--workload", "orders-10", "--rows", "60", "--seed", "3"]
    assert main([*words, "--to", str(feed)]) == 0
    (file,) = feed.glob("*.jsonl")
    assert main(["decode", "datahub-blob", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    before = next(n for n, line in enumerate(lines) if json.loads(line).get("half") == "before")
    messages = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*messages[: before + 1], *messages[before + 2 :]]))
    assert main(["decode", "datahub-blob", "--join-halves", str(file)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "incomplete-update: only the before record of an update of shop.orders" in error
    assert "datahub-blob: updates" in error
