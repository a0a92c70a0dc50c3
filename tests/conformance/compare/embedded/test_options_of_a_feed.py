"""Options of a feed say what its rows may lack. Values that rows contain are always compared."""

from __future__ import annotations

import base64
import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdcwire_conformance.cli import main

pytest.importorskip("pyarrow", reason="needs the extra compare")

Row = dict[str, Any]
FEED = '{"feed": 1, "format": "open-protocol", "options": {"%s": %s}}'


def rewritten(file: Path, change: Callable[[Row], bool]) -> int:
    """Change rows of an Open Protocol feed. Returns how many rows ``change`` changed."""
    count = 0
    lines = []
    for line in file.read_text().splitlines():
        message = json.loads(line)
        value, out = base64.b64decode(message["value"] or ""), b""
        while value:
            (size,) = struct.unpack(">Q", value[:8])
            item, value = value[8 : 8 + size], value[8 + size :]
            row = json.loads(item) if item else {}
            if change(row):
                count += 1
                item = json.dumps(row, separators=(",", ":")).encode()
            out += struct.pack(">Q", len(item)) + item
        lines.append(json.dumps({**message, "value": base64.b64encode(out).decode()}))
    file.write_text("\n".join(lines) + "\n")
    return count


def other_old_value(row: Row) -> bool:
    return "u" in row and _one_more(row.get("p", {}))


def other_deleted_value(row: Row) -> bool:
    return _one_more(row.get("d", {}))


def _one_more(columns: Row) -> bool:
    for column in columns.values():
        if not column.get("h") and column["t"] == 3 and isinstance(column["v"], int):
            column["v"] += 1 if column["v"] < 100 else -1
            return True
    return False


def without_old_values(row: Row) -> bool:
    return row.pop("p", None) is not None


def compared(left: Path, right: Path, *words: str) -> int:
    return main(["compare", f"open-protocol:file:{left}", f"open-protocol:file:{right}", *words])


@pytest.fixture
def feeds(tmp_path: Path) -> tuple[Path, Path]:
    left, right = tmp_path / "left", tmp_path / "right"
    words = ["--rows", "60", "--seed", "3", "--to", str(left)]
    assert main(["generate", "open-protocol", *words]) == 0
    shutil.copytree(left, right)
    return left, right


@pytest.mark.parametrize(
    ("change", "option", "value"),
    [
        (other_old_value, "output-old-value", "false"),
        (other_deleted_value, "delete-only-output-handle-key-columns", "true"),
    ],
)
def test_option_does_not_switch_off_what_the_rows_have(
    feeds: tuple[Path, Path],
    change: Callable[[Row], bool],
    option: str,
    value: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    left, right = feeds
    (right / "feed.json").write_text(FEED % (option, value))
    assert compared(left, right) == 0
    assert rewritten(right / "messages.jsonl", change) > 0
    assert compared(left, right) == 1
    assert f"--option {option}={value}" in capsys.readouterr().err


def test_option_explains_what_the_rows_lack(
    feeds: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = feeds
    assert rewritten(right / "messages.jsonl", without_old_values) > 0
    (right / "feed.json").write_text(FEED % ("output-old-value", "false"))
    capsys.readouterr()
    assert compared(left, right) == 0
    assert "not compared: before images of updates" in capsys.readouterr().out
