"""Hidden values in what Spark itself writes and reports; other outputs do not depend on it."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_conformance.compare.shown_rows import LONGEST_TEXT

pytestmark = pytest.mark.usefixtures("spark")

KEY = "a key of more than sixteen bytes"
LONG = "long-secret" * (LONGEST_TEXT // 11 + 1)
VALUES = {"1": ("old-secret", "new-secret"), "2": (f"{LONG}1", f"{LONG}2")}
PEOPLE = Table(
    "people",
    "shop",
    columns=(
        Column("id", TextType(), "varchar", roles=frozenset({"primary", "handle"})),
        Column("email", TextType(), "longtext"),
        Column("n", IntType(32), "int"),
    ),
    key=("id",),
)


def write(folder: Path, format_name: str, side: int) -> str:
    folder.mkdir()
    rows = [
        RowChange(
            PEOPLE,
            "insert",
            None,
            Image(PEOPLE.columns or (), (key, values[side], 1)),
            Position(commit_ts=1 << 60, commit_ms=1 << 42),
        )
        for key, values in VALUES.items()
    ]
    write_messages(str(folder / "messages.jsonl"), get_format(format_name).from_events(rows))
    return f"{format_name}:file:{folder}"


@pytest.fixture
def feeds(tmp_path: Path) -> list[str]:
    return [write(tmp_path / "a", "craft", 0), write(tmp_path / "b", "open-protocol", 1)]


def run(tmp_path: Path, engine: str, feeds: Sequence[str], *arguments: str) -> tuple[str, str]:
    """Return the JSON document, and all differences as one text."""
    folder = tmp_path / engine
    target = ["--json", f"{folder}.json", "--differences", str(folder), "--engine", engine]
    assert main(["compare", *feeds, *target, *arguments]) == 1
    rows = sorted(map(json.dumps, pq.read_table(folder).to_pylist()))
    document = json.loads(Path(f"{folder}.json").read_text())
    return json.dumps(document["tables"]), "\n".join(rows)


def test_both_engines_write_the_same_hashes(
    feeds: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CDCWIRE_MASK_KEY", KEY)
    found = [run(tmp_path, engine, feeds, "--mask-key", "env") for engine in ("spark", "embedded")]
    assert found[0][0] == found[1][0]
    hidden = [{each["left"] for each in map(json.loads, rows.splitlines())} for _, rows in found]
    assert hidden[0] == hidden[1]
    assert len(hidden[0]) == len(VALUES)
    assert "secret" not in capsys.readouterr().out + "".join(map("".join, found))


def test_redacted_columns_are_not_written(
    feeds: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(tmp_path, "spark", feeds, "--redact", "email", "--limit", "1")
    assert "secret" not in capsys.readouterr().out + "".join(found)
    assert [json.loads(line)["hidden"] for line in found[1].splitlines()] == ["redacted"] * 2


@pytest.mark.parametrize(("on_error", "code"), [("stop", 2), ("row", 1)])
def test_errors_quote_nothing(
    on_error: str, code: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    feed = write(tmp_path / "a", "canal-json", 0)
    file = tmp_path / "a" / "messages.jsonl"
    message = json.loads(file.read_text().splitlines()[0])
    value = base64.b64decode(message["value"]).replace(b'"n":"1"', b'"n":"1secret"')
    message["value"] = base64.b64encode(value).decode()
    file.write_text(f"{file.read_text()}{json.dumps(message)}\n")
    words = ["compare", feed, feed, "--on-error", on_error, "--engine", "spark"]
    assert main([*words, "--mask"]) == code
    shown = capfd.readouterr()
    assert "secret" not in shown.out + shown.err
    assert f"{file}:3: " in shown.out + shown.err
    assert "can't be read" in shown.out + shown.err
    assert not any("1secret" in each.read_text("utf-8", "replace") for each in own_logs(file))
    assert main(words) == code
    assert "1secret" in "".join(capfd.readouterr())
    found = any("1secret" in each.read_text("utf-8", "replace") for each in own_logs(file))
    assert found is (code == 2)


def own_logs(file: Path) -> list[Path]:
    """Return the logs of Spark's processes on this machine that name a file."""
    logs = Path(tempfile.gettempdir()).glob("cdcwire-spark-*/spark.log")
    return [each for each in logs if str(file) in each.read_text("utf-8", "replace")]
