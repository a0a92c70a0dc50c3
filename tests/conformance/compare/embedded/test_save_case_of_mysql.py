"""``compare --save-case`` of rows of MySQL without schema: the case keeps the connector."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

DDL = """CREATE TABLE shop.t (
  id int NOT NULL, flag tinyint(1), bits bit(1), at timestamp(6) NULL, PRIMARY KEY (id)
);"""
SOURCE = {
    "version": "3.6.1.Final", "connector": "mariadb", "name": "p", "ts_ms": 9, "snapshot": "false",
    "db": "shop", "table": "t", "server_id": 1, "file": "b.000001", "pos": 4, "row": 0,
}  # fmt: skip
MAXWELL = {
    "database": "shop",
    "table": "t",
    "type": "insert",
    "ts": 9,
    "primary_key_columns": ["id"],
}
ROWS = [(1, True, "2038-01-19T03:14:07Z"), (2, False, "1986-02-21T06:02:36.9Z")]


def lines(*messages: tuple[object, object]) -> str:
    """Return messages, a key and a value, as lines of a feed."""
    texts = [[json.dumps(part).encode() for part in pair] for pair in messages]
    parts = ([base64.b64encode(part).decode() for part in pair] for pair in texts)
    return "".join(json.dumps({"key": key, "value": value}) + "\n" for key, value in parts)


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """Return the words that compare rows of Debezium and of Maxwell, whose times are cut."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "t.sql").write_text(DDL)
    rows = [{"id": id_, "flag": int(flag), "bits": flag, "at": at} for id_, flag, at in ROWS]
    changes = [
        {"before": None, "after": row, "source": SOURCE, "op": "c", "ts_ms": 9} for row in rows
    ]
    keyed = [({"id": row["id"]}, change) for row, change in zip(rows, changes, strict=True)]
    (tmp_path / "a" / "messages.jsonl").write_text(lines(*keyed))
    data = [{**row, "bits": int(bool(row["bits"])), "at": "2000-01-01 00:00:00"} for row in rows]
    others = [
        ({"database": "shop", "table": "t", "pk.id": row["id"]}, {**MAXWELL, "data": row})
        for row in data
    ]
    (tmp_path / "b" / "messages.jsonl").write_text(lines(*others))
    feeds = [f"debezium-json:file:{tmp_path / 'a'}", f"maxwell-json:file:{tmp_path / 'b'}"]
    return ["compare", *feeds, "--ddl", str(tmp_path / "t.sql"), "--engine", "embedded"]


@pytest.mark.parametrize("masking", [[], ["--mask"], ["--redact", "at"]])
def test_each_row_has_its_case(
    words: list[str], masking: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tmp_path / "found"
    assert main([*words, *masking, "--save-case", str(found)]) == 1
    out, err = capsys.readouterr()
    assert "not saved" not in out + err
    cases = [json.loads(file.read_text()) for file in found.glob("*/difference/*.json")]
    assert len(cases) == 2 * len(ROWS)
    assert main(["corpus", "check", "--root", str(found)]) == 0
    of_debezium = [case for case in cases if case["id"].startswith("debezium-json/")]
    for case in of_debezium:
        (event,) = case["events"]
        assert event["extra"]["connector"] == "mariadb"
        assert event["position"]["file"] == "b.000001"
        assert case.get("options", {}) == ({"connector": "mariadb"} if masking else {})
