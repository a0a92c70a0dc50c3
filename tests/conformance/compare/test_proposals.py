"""Options that a report proposes, accepted: exactly the differences of their pattern are gone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

DDL = "".join(
    f"create table shop.{name} (id int primary key, at datetime(6), note varchar(9));"
    for name in ("orders", "refunds")
)


def write(folder: Path, times: Iterable[tuple[str, str]]) -> str:
    """Write a feed of Maxwell with a row for each table and time. Returns: its source."""
    folder.mkdir()
    lines = []
    for number, (table, at) in enumerate(times):
        row = {"id": number, "at": at, "note": "x"}
        members = {"database": "shop", "table": table, "type": "insert", "ts": 1}
        lines.append(json.dumps({**members, "data": row}) + "\n")
    (folder / "messages.jsonl").write_text("".join(lines))
    return f"maxwell-json:file:{folder}"


def test_option_for_one_table_accepts_no_difference_of_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sqlglot")
    (tmp_path / "tables.sql").write_text(DDL)
    at = "2024-05-05 10:00:00"
    left = write(tmp_path / "a", [*[("orders", f"{at}.123456")] * 2, ("refunds", f"{at}.111111")])
    right = write(tmp_path / "b", [*[("orders", at)] * 2, ("refunds", f"{at}.999999")])
    words = ["compare", left, right, "--ddl", str(tmp_path / "tables.sql"), "--engine", "embedded"]
    assert main(words) == 1
    (option,) = re.findall("accepted with (.*)", capsys.readouterr().out)
    assert option == "--precision shop.orders.at=s"
    assert main([*words, *option.split()]) == 1
    text = capsys.readouterr().out
    assert "shop.orders: equal" in text
    assert "shop.refunds: different" in text
