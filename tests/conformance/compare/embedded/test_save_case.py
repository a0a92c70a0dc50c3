"""``compare --save-case``: each format's differing rows as cases that the reference reads."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, DatetimeType, TextType
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.cli import main

ROWS = 12
SECRETS = ("4111-1111", "alice@old.example", "alice@new.example")
PEOPLE = Table(
    "people",
    "shop",
    columns=(
        Column("card", TextType(), "varchar", roles=frozenset({"primary", "handle"})),
        Column("email", TextType(), "varchar"),
        Column("made", DatetimeType(6), "datetime"),
    ),
    key=("card",),
)


def row(card: str, email: str, made: str, at: int = 1 << 60) -> RowChange:
    image = Image(PEOPLE.columns or (), (card, email, made))
    return RowChange(PEOPLE, "insert", None, image, Position(commit_ts=at, commit_ms=at >> 18))


def write(folder: Path, format_name: str, events: Sequence[Event]) -> str:
    folder.mkdir()
    messages = get_format(format_name).from_events(events)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


def cases_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*/difference/*.json"))]


def assert_good(folder: Path, format_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that the corpus is right, and that the reference reads its bytes as it says."""
    capsys.readouterr()
    assert main(["corpus", "check", "--root", str(folder)]) == 0
    assert ", 0 problems" in capsys.readouterr().out
    words = ["verify", format_name, "--root", str(folder), "--no-derived", "--jobs", "1"]
    assert main(words) == 0


@pytest.mark.long
@pytest.mark.parametrize("arguments", [[], ["--mask"]], ids=["as sent", "masked"])
@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_differing_rows_of_each_format_become_cases(
    format_name: str, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = []
    for seed in (7, 8):
        folder = tmp_path / str(seed)
        words = ["--rows", str(ROWS), "--seed", str(seed), "--to", str(folder)]
        assert main(["generate", format_name, *words]) == 0
        sides.append(f"auto:file:{folder}")
    root = tmp_path / "found"
    saving = ["--save-case", str(root), "--limit", "2", "--pair-by", "key"]
    assert main(["compare", *sides, *saving, *arguments]) == 1
    out = capsys.readouterr().out
    assert "is not saved" not in out
    saved = re.findall(r"^note: saved (.*)$", out, re.MULTILINE)
    assert sorted(saved) == sorted(map(str, root.glob("*/*/*.json")))
    assert {Path(each).name.partition("-")[0] for each in saved} == {"left", "right"}
    assert_good(root, format_name, capsys)
    if arguments:
        rows = [[e for e in each["events"] if e["kind"] == "row"] for each in cases_in(root)]
        assert {len(each) for each in rows} == {1}


def test_cases_have_the_readings_of_both_sides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = row(SECRETS[0], SECRETS[1], "2024-01-02 03:04:05.123456")
    right = row(SECRETS[0], SECRETS[2], "2024-01-02 03:04:05.123000")
    feeds = write(tmp_path / "a", "craft", [left]), write(tmp_path / "b", "canal-json", [right])
    root = tmp_path / "found"
    assert main(["compare", *feeds, "--save-case", str(root), "--pair-by", "key"]) == 1
    ours, theirs = sorted(cases_in(root), key=lambda each: str(each["id"]), reverse=True)
    assert (ours["id"].split("/")[:2], theirs["id"].split("/")[:2]) == (
        ["craft", "difference"],
        ["canal-json", "difference"],
    )
    for case, value, other in ((ours, SECRETS[1], theirs), (theirs, SECRETS[2], ours)):
        assert case["events"][0]["after"]["email"]["value"] == value
        assert f"See {other['id']}." in case["note"]
        assert all(f'"value": "{each}"' in case["note"] for each in SECRETS[1:])
        assert "after.made: " in case["note"]


def test_masked_cases_have_no_value_and_differ_as_the_row_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = [row(str(number), SECRETS[1], "2024-01-01 00:00:00.000000") for number in range(5)]
    left = row(SECRETS[0], SECRETS[1], "2024-01-02 03:04:05.123456")
    right = row(SECRETS[0], SECRETS[2], "2024-01-02 03:04:05.123000")
    feeds = [
        write(tmp_path / "a", "craft", [*others, left]),
        write(tmp_path / "b", "open-protocol", [*others, right]),
    ]
    root = tmp_path / "found"
    assert main(["compare", *feeds, "--save-case", str(root), "--mask"]) == 1
    files = [file for file in root.rglob("*") if file.is_file()]
    for file in files:
        content = file.read_bytes()
        assert [each for each in SECRETS if each.encode() in content] == [], file
    ours, theirs = (case["events"][0]["after"] for case in cases_in(root))
    assert len(cases_in(root)) == 2
    assert ours["card"] == theirs["card"]
    emails = [each["email"]["value"] for each in (ours, theirs)]
    assert emails[0] != emails[1]
    assert emails[0].partition("@")[0] == emails[1].partition("@")[0]  # alice, on both sides
    made = [each["made"]["value"] for each in (ours, theirs)]
    assert made[0][:-3] == made[1][:-3]
    assert made[1].endswith("000")
    assert_good(root, "craft", capsys)


def test_redacted_columns_are_masked_and_others_are_as_sent(tmp_path: Path) -> None:
    left, right = (row("1", each, "2024-01-02 03:04:05.000000") for each in SECRETS[1:])
    feeds = write(tmp_path / "a", "craft", [left]), write(tmp_path / "b", "open-protocol", [right])
    root = tmp_path / "found"
    assert main(["compare", *feeds, "--save-case", str(root), "--redact", "shop.people.email"]) == 1
    for case in cases_in(root):
        after = case["events"][0]["after"]
        assert after["card"]["value"] == "1"
        assert after["made"]["value"] == "2024-01-02 03:04:05.000000"
        assert not any(each in json.dumps(case) for each in SECRETS)


def test_a_batch_is_saved_whole_and_the_output_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row(str(number), "x", "2024-01-01 00:00:00.000000") for number in range(3)]
    feeds = write(tmp_path / "a", "craft", rows), write(tmp_path / "b", "canal-json", rows[:2])
    root = tmp_path / "found"
    assert main(["compare", *feeds, "--save-case", str(root), "--pair-by", "key"]) == 1
    (case,) = cases_in(root)
    assert len(case["events"]) == len(rows)
    assert case["note"].endswith("The other feed does not have the row.")
    line = f"note: {case['id']}: the whole message with 3 rows, as craft can't be cut"
    assert line in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--save-case", "memory://x/y"], "to a directory of this machine"),
        (["--save-case", "file"], "file already exists"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    feed = write(tmp_path / "a", "craft", [row("1", "x", "2024-01-01 00:00:00.000000")])
    assert main(["compare", feed, feed, "--save-case", "found", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("file", ["index.json", "craft/difference/left-1.json"])
def test_directory_with_files_is_refused_and_stays_as_it_is(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A masked case must not come to lie with unmasked cases of an earlier run."""
    left, right = (row("1", each, "2024-01-02 03:04:05.000000") for each in SECRETS[1:])
    feeds = write(tmp_path / "a", "craft", [left]), write(tmp_path / "b", "craft", [right])
    root = tmp_path / "found"
    (root / file).parent.mkdir(parents=True)
    (root / file).write_text("mine", "utf-8")
    assert main(["compare", *feeds, "--save-case", str(root), "--mask"]) == 2
    err = capsys.readouterr().err
    problem = "already exists; name a new or an empty directory"
    assert err == f"cdcwire compare: --save-case: {root} {problem}\n"
    files = [each for each in root.rglob("*") if each.is_file()]
    assert [each.read_text("utf-8") for each in files] == ["mine"]


def test_cases_are_saved_in_an_empty_directory(tmp_path: Path) -> None:
    left, right = (row("1", each, "2024-01-02 03:04:05.000000") for each in SECRETS[1:])
    feeds = write(tmp_path / "a", "craft", [left]), write(tmp_path / "b", "craft", [right])
    root = tmp_path / "found"
    root.mkdir()
    assert main(["compare", *feeds, "--save-case", str(root), "--pair-by", "key"]) == 1
    assert len(cases_in(root)) == 2


def test_a_row_of_a_table_is_not_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed = write(tmp_path / "a", "craft", [row("1", "x", "2024-01-01 00:00:00.000000")])
    table = f"parquet:{tmp_path}"
    assert main(["compare", feed, table, "--save-case", str(tmp_path / "found")]) == 2
    assert "--save-case: a table has no messages; compare two feeds" in capsys.readouterr().err
