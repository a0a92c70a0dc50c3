"""``compare`` with --mask, --redact and --mask-key: planted values are in no output."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")

import pyarrow.parquet as pq

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

SECRETS = ("4111111111111111", "alice@old.example", "alice@new.example", "lonely@one.example")
DDL = "ALTER TABLE people ALTER COLUMN email SET DEFAULT 'alice@new.example'"
REPORTS = ("json", "junit", *(["html"] if find_spec("jinja2") else []))
KEY = "a key of more than sixteen bytes"
PEOPLE = Table(
    "people",
    "shop",
    columns=(
        Column("card", TextType(), "varchar", roles=frozenset({"primary", "handle"})),
        Column("email", TextType(), "varchar"),
        Column("n", IntType(32), "int"),
    ),
    key=("card",),
)


def row(card: str, email: str, at: int, n: int = 1) -> RowChange:
    image = Image(PEOPLE.columns or (), (card, email, n))
    return RowChange(PEOPLE, "insert", None, image, Position(commit_ts=at, commit_ms=at >> 18))


def write(folder: Path, format_name: str, events: list[Event]) -> str:
    folder.mkdir()
    messages = get_format(format_name).from_events(events)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


@pytest.fixture
def feeds(tmp_path: Path) -> list[str]:
    """Two feeds with a changed row, a row of one side, a schema change and an equal row."""
    at = 1 << 60
    left: list[Event] = [row(SECRETS[0], SECRETS[1], at), row("2", SECRETS[3], at + 1)]
    right: list[Event] = [row(SECRETS[0], SECRETS[2], at)]
    change = SchemaChange("alter", DDL, 54, PEOPLE, Position(commit_ts=at + 2))
    both: list[Event] = [row("3", "equal@both.example", at + 3)]
    return [
        write(tmp_path / "a", "craft", [*left, change, *both]),
        write(tmp_path / "b", "open-protocol", [*right, *both]),
    ]


def outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each output."""
    for name in REPORTS:
        yield name, re.sub("</?mark>", "", (tmp_path / name).read_text())
    for file in (tmp_path / "found").rglob("*.parquet"):
        yield "differences", json.dumps(pq.read_table(file).to_pylist())
    out, err = capsys.readouterr()
    yield "text", out
    yield "errors", err


def words(tmp_path: Path, *feeds: str) -> list[str]:
    reports = [f"--{name}={tmp_path / name}" for name in REPORTS]
    return ["compare", *feeds, "--ddl-events", *reports, "--differences", str(tmp_path / "found")]


def test_without_an_option_the_outputs_have_the_values(
    feeds: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words(tmp_path, *feeds)) == 1
    found = dict(outputs(tmp_path, capsys))
    assert set(found) == {*REPORTS, "differences", "text", "errors"}
    for name in (*REPORTS, "differences", "text"):
        assert [each for each in SECRETS if each not in found[name]] in ([], [SECRETS[3]]), name


def test_mask_hides_all_values_in_all_outputs(
    feeds: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words(tmp_path, *feeds), "--mask"]) == 1
    for name, output in outputs(tmp_path, capsys):
        assert [each for each in (*SECRETS, "equal@both") if each in output] == [], name


def test_redact_hides_the_columns_and_shows_others(
    feeds: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = "email,shop.people.card"
    assert main([*words(tmp_path, *feeds), "--redact", columns]) == 1
    found = dict(outputs(tmp_path, capsys))
    for name, output in found.items():
        assert [each for each in SECRETS if each in output] == [], name
    assert "only left: shop.people at commit_ts " in found["text"]
    assert "they differ" in found["text"]
    rows = json.loads(found["differences"])
    assert {each["hidden"] for each in rows if each["column"] == "email"} == {"redacted"}
    assert {each["left"] for each in rows if each["column"] == "n"} == {"1"}


def test_a_redacted_column_that_no_table_has_is_an_error(
    feeds: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *feeds, "--redact", "e-mail"]) == 2
    assert "--redact: no table has a column e-mail" in capsys.readouterr().err


def test_reports_and_differences_have_the_same_hashes(
    feeds: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    assert main([*words(tmp_path, *feeds), "--mask-key", str(tmp_path / "key")]) == 1
    found = dict(outputs(tmp_path, capsys))
    tables = json.loads(found["json"])["tables"]
    changed = next(each for each in tables[0]["differences"] if each["verdict"] == "changed")
    (email,) = [each for each in changed["columns"] if each["column"] == "email"]
    assert email["left"]["masked"] != email["right"]["masked"]
    for value in (email["left"], email["right"]):
        assert f"<masked {value['masked']}, 17 characters>" in found["text"]
        assert f"<masked {value['masked']}, 17 characters>" in found["differences"]
    assert f'{{\\"masked\\": \\"{changed["key"][0]["masked"]}\\"}}' in json.dumps(
        found["differences"]
    ).replace("\\\\\\", "\\")


def test_one_key_gives_the_same_hashes_in_two_runs_and_a_random_one_does_not(
    feeds: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDCWIRE_MASK_KEY", KEY)
    texts = []
    for arguments in (["--mask-key", "env"], ["--mask-key", "env"], ["--mask"], ["--mask"]):
        assert main(["compare", *feeds, *arguments]) == 1
        texts.append(capsys.readouterr().out.replace("a random key of this run", "KEY"))
    assert texts[0] == texts[1]
    assert texts[2] != texts[3]


@pytest.mark.parametrize("on_error", ["stop", "row"])
@pytest.mark.parametrize("arguments", [["--mask"], ["--redact", "email"]])
def test_errors_of_messages_quote_nothing(
    arguments: list[str],
    on_error: str,
    feeds: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "c" / "messages.jsonl"
    feed = write(file.parent, "canal-json", [row("1", "x", 1 << 60)])
    line = json.loads(file.read_text().splitlines()[0])
    value = base64.b64decode(line["value"]).replace(b'"n":"1"', f'"n":"{SECRETS[0]}z"'.encode())
    assert SECRETS[0].encode() in value
    line["value"] = base64.b64encode(value).decode()
    file.write_text(file.read_text() + json.dumps(line) + "\n")
    assert main(["compare", feed, feed, "--on-error", on_error]) == (2 if on_error == "stop" else 1)
    out, err = capsys.readouterr()
    assert SECRETS[0] in out + err
    code = main(["compare", feed, feed, "--on-error", on_error, *arguments])
    assert code == (2 if on_error == "stop" else 1)
    out, err = capsys.readouterr()
    assert SECRETS[0] not in out + err
    assert f"{file}:2: " in out + err
    assert "can't be read" in out + err


def test_reports_at_a_url_are_masked_and_the_text_is_not(
    feeds: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fsspec = pytest.importorskip("fsspec", reason="needs the extra storage")
    target = "memory://masking/found.json"
    assert main(["compare", *feeds, "--json", target, "--junit", f"{target}.xml"]) == 1
    assert SECRETS[1] in capsys.readouterr().out
    for name in (target, f"{target}.xml"):
        with fsspec.open(name, "r") as file:
            written = file.read()
        assert [each for each in SECRETS if each in written] == []
        assert "masked" in written
    assert main(["compare", *feeds, "--json", target, "--no-mask"]) == 1
    with fsspec.open(target, "r") as file:
        assert SECRETS[1] in file.read()


def test_a_file_url_stays_on_this_machine(feeds: list[str], tmp_path: Path) -> None:
    assert main(["compare", *feeds, "--json", f"file://{tmp_path / 'json'}"]) == 1
    assert SECRETS[1] in (tmp_path / "json").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mask-key", "nowhere"], "--mask-key: nowhere: No such file or directory"),
        (["--mask-key", "env"], "the variable CDCWIRE_MASK_KEY is not set"),
        (["--mask-key", "short"], "the key has 5 bytes; it needs 16 or more"),
        (["--mask-key", "short", "--no-mask"], "--mask-key does not go with --no-mask"),
        (["--redact", "a,,b"], "a name of a column is empty"),
        (["--html", "memory://masking/"], "the name of a file is missing"),
        (["--json", "memory://x/y", "--follow"], "it needs a file, not a URL"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "--html" in arguments:
        pytest.importorskip("jinja2", reason="needs the extra html")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CDCWIRE_MASK_KEY", raising=False)
    Path("short").write_text("short")
    assert main(["compare", "craft:file:a", "craft:file:b", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
