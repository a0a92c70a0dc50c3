"""``cdcwire generate --jobs``: several processes write the same feed as one."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.cli.generate_parts import PART_ROWS


def generate(folder: Path, name: str, *words: str) -> bytes:
    rows = ("--rows", str(PART_ROWS + 100), "--workload", "tiny")
    assert main(["generate", name, *rows, "--to", str(folder), *words]) == 0
    assert not any("messages" in path.name for path in folder.glob(".*"))
    return (folder / "messages.jsonl").read_bytes()


def test_processes_write_the_feed_of_one(tmp_path: Path) -> None:
    alone = generate(tmp_path / "1", "craft")
    assert generate(tmp_path / "2", "craft", "--jobs", "2") == alone


@pytest.mark.long
def test_more_processes_than_parts_write_the_same_messages(tmp_path: Path) -> None:
    """With batches of another size, a message ends with each part, for any number of processes."""
    batch = ("--option", "max-batch-size=1000")
    two = generate(tmp_path / "2", "open-protocol", "--jobs", "2", *batch)
    assert generate(tmp_path / "9", "open-protocol", "--jobs", "9", *batch) == two


def test_error_of_a_process_names_the_event_of_the_whole_feed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--rows", str(PART_ROWS + 9), "--option", "max-message-bytes=1", "--jobs", "2")
    assert main(["generate", "open-protocol", *words, "--to", str(tmp_path)]) == 2
    assert "message too large" in capsys.readouterr().err
    assert not any("messages" in path.name for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["avro", "--rows", "10", "--jobs", "2"],
        ["csv", "--rows", "10", "--jobs", "2"],
        ["datahub-blob", "--rows", "10", "--shards", "2", "--jobs", "2"],
        ["craft", "--rows", "10", "--jobs", "0"],
    ],
    ids=["avro", "csv", "datahub-blob", "zero"],
)
def test_feeds_that_one_process_writes_are_refused(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", *words, "--to", str(tmp_path / "feed")]) == 2
    assert "--jobs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.jsonl": "{}"}, "has messages of another program; name a new directory"),
        (
            {"feed.json": '{"feed":1,"format":"csv","options":{}}', "messages.jsonl": ""},
            "has a feed of csv; name a new directory",
        ),
    ],
    ids=["other program", "other format"],
)
def test_directory_of_something_else_is_kept(
    files: dict[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert main(["generate", "craft", "--rows", "1", "--to", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == files


def test_feed_of_the_same_format_is_written_again(tmp_path: Path) -> None:
    for rows in ("1", "2"):
        assert main(["generate", "craft", "--rows", rows, "--to", str(tmp_path)]) == 0
    assert len((tmp_path / "messages.jsonl").read_bytes().splitlines()) == 1


@pytest.mark.parametrize(
    ("connector", "members"),
    [
        ("postgresql", {"lsn", "txId"}),
        ("mysql", {"file", "pos", "gtid"}),
        ("mariadb", {"file", "pos", "gtid"}),
        ("sqlserver", {"change_lsn", "commit_lsn", "event_serial_no"}),
        ("oracle", {"scn", "txId"}),
        ("db2", {"change_lsn", "commit_lsn"}),
    ],
)
def test_rows_have_the_position_of_the_connector(
    connector: str, members: set[str], tmp_path: Path
) -> None:
    words = ["generate", "debezium-json", "--rows", "1", "--option", f"connector={connector}"]
    assert main([*words, "--to", str(tmp_path)]) == 0
    [line] = (tmp_path / "messages.jsonl").read_text().splitlines()
    source = json.loads(b64decode(json.loads(line)["value"]))["payload"]["source"]
    assert source["connector"] == connector
    assert all(source[name] is not None for name in members)


@pytest.mark.parametrize(
    ("connector", "form"),
    [
        ("mysql", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[1-9][0-9]*"),
        ("mariadb", r"[0-9]+-[0-9]+-[1-9][0-9]*"),
    ],
)
def test_gtids_have_the_form_of_the_connector(connector: str, form: str, tmp_path: Path) -> None:
    words = ["generate", "debezium-json", "--rows", "20", "--option", f"connector={connector}"]
    assert main([*words, "--to", str(tmp_path)]) == 0
    lines = (tmp_path / "messages.jsonl").read_text().splitlines()
    values = [json.loads(line)["value"] for line in lines]
    sources = [json.loads(b64decode(each))["payload"]["source"] for each in values if each]
    gtids = [each["gtid"] for each in sources]
    assert len(set(gtids)) > 1
    assert all(re.fullmatch(form, gtid) for gtid in gtids)


@pytest.mark.parametrize(
    ("connector", "unit", "is_of_a_day"),
    [("postgresql", 1000, True), ("sqlserver", 1000, True), ("mysql", 1_000_000, False)],
)
def test_times_without_schema_are_those_of_the_connector(
    connector: str, unit: int, is_of_a_day: bool, tmp_path: Path
) -> None:
    """The workload has a ``TIME`` of MySQL, which PostgreSQL can only have up to a day."""
    options = ["--option", f"connector={connector}", "--option", "schemas-enable=false"]
    words = ["generate", "debezium-json", "--rows", "20", *options, "--to", str(tmp_path)]
    assert main(words) == 0
    lines = (tmp_path / "messages.jsonl").read_text().splitlines()
    values = [json.loads(line)["value"] for line in lines]
    rows = [json.loads(b64decode(each))["after"] for each in values if each]
    times = [row["c22"] for row in rows if row and row["c22"] is not None]
    assert times
    assert all(time % unit == 0 for time in times)
    assert all(0 <= time < 86_400 * unit for time in times) is is_of_a_day
