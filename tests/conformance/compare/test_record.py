"""The record of a comparison: date, command line, versions, options, and inputs with their sums."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cdcwire import __version__
from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.store import corpus_version

ROWS = 40


@pytest.fixture
def feeds(tmp_path: Path) -> list[str]:
    """Return the sources of two equal feeds, as generate writes them."""
    found = []
    for name in ("craft", "open-protocol"):
        folder = tmp_path / name
        assert (
            main(["generate", name, "--rows", str(ROWS), "--seed", "3", "--to", str(folder)]) == 0
        )
        found.append(f"{name}:file:{folder}")
    return found


def document_of(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    jsonschema = pytest.importorskip("jsonschema", reason="needs the extra check")
    from cdcwire_conformance.compare.document import schema

    file = tmp_path / "found.json"
    main(["compare", *arguments, "--json", str(file)])
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    jsonschema.validate(document, schema())
    return document


def test_record_has_date_command_and_versions(tmp_path: Path, feeds: list[str]) -> None:
    document = document_of(tmp_path, *feeds, "--limit", "3")
    record = document["record"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record["date"])
    assert record["command"].startswith(f"cdcwire compare {feeds[0]} {feeds[1]} --limit 3 --json ")
    assert record["versions"]["cdcwire"] == __version__
    assert record["versions"]["corpus"] == corpus_version()
    assert document["signature"] == {"name": None, "date": None, "decision": None}


def test_record_has_the_sums_of_all_files(tmp_path: Path, feeds: list[str]) -> None:
    record = document_of(tmp_path, *feeds)["record"]
    for side, name in (("left", "craft"), ("right", "open-protocol")):
        (file,) = record[side]["files"]
        content = (tmp_path / name / "messages.jsonl").read_bytes()
        expected = hashlib.sha256(content).hexdigest()
        assert file == {"name": "messages.jsonl", "size": len(content), "sha256": expected}
        lines = f"{expected}  messages.jsonl\n".encode()
        assert record[side]["sha256"] == hashlib.sha256(lines).hexdigest()
        assert record[side]["size"] == len(content)
        assert record[side]["messages"] == len(content.splitlines())
        assert record[side]["rows"] == ROWS


def test_record_has_the_first_and_the_last_position(tmp_path: Path, feeds: list[str]) -> None:
    record = document_of(tmp_path, *feeds)["record"]
    for side in ("left", "right"):
        bounds = {each["name"]: each for each in record[side]["bounds"]}
        first, last = (int(bounds["commit_ts"][name]) for name in ("first", "last"))
        assert first < last
        assert bounds["time"]["first"] <= bounds["time"]["last"]
    assert record["left"]["bounds"][0] == record["right"]["bounds"][0]


def test_options_name_where_they_were_found(tmp_path: Path, feeds: list[str]) -> None:
    feed_file = tmp_path / "open-protocol" / "feed.json"
    described = json.loads(feed_file.read_text("utf-8"))
    described["options"] = {"max-batch-size": 7}
    feed_file.write_text(json.dumps(described), "utf-8")
    record = document_of(tmp_path, *feeds, "--left-option", "max-batch-size=9")["record"]
    options = {
        side: {each["name"]: each for each in record[side]["options"]} for side in ("left", "right")
    }
    assert options["left"]["max-batch-size"]["origin"] == "command line"
    assert options["left"]["max-batch-size"]["value"] == "9"
    assert options["right"]["max-batch-size"]["origin"] == "feed.json"
    assert options["right"]["output-old-value"]["origin"] == "default"


def test_command_line_has_no_secrets(tmp_path: Path, feeds: list[str]) -> None:
    record = document_of(
        tmp_path,
        *feeds,
        "--left-sink-uri",
        "kafka://anna:hunter2@broker:9092/orders?protocol=craft&max-batch-size=8",
    )["record"]
    assert "hunter2" not in json.dumps(record)
    assert "kafka://***@broker:9092/orders" in record["command"]
    option = next(each for each in record["left"]["options"] if each["name"] == "max-batch-size")
    assert option["value"] == "8"
    assert option["origin"].startswith("sink uri kafka://***@broker:9092/orders")


def test_page_has_inputs_and_a_place_to_sign(tmp_path: Path, feeds: list[str]) -> None:
    pytest.importorskip("jinja2", reason="needs the extra html")
    file = tmp_path / "found.html"
    assert main(["compare", *feeds, "--html", str(file)]) == 0
    page = file.read_text("utf-8")
    content = (tmp_path / "craft" / "messages.jsonl").read_bytes()
    assert hashlib.sha256(content).hexdigest() in page
    for word in (
        "<h2>Inputs</h2>",
        "<h2>Decision</h2>",
        "Signature",
        "cdcwire compare ",
        "Versions",
    ):
        assert word in page


def test_record_has_the_first_and_the_last_place_in_a_binlog(tmp_path: Path) -> None:
    folder = tmp_path / "feed"
    folder.mkdir()
    lines = [
        f'{{"before":null,"after":{{"id":{pos}}},"source":{{"version":"3.2.0.Final",'
        f'"connector":"mysql","name":"s","ts_ms":1,"db":"shop","table":"t","server_id":1,'
        f'"file":"binlog.000003","pos":{pos},"row":0}},"op":"c","ts_ms":1}}\n'
        for pos in (900, 1200)
    ]
    (folder / "messages.jsonl").write_text("".join(lines))
    record = document_of(tmp_path, *[f"debezium-json:file:{folder}"] * 2)["record"]
    bounds = {each["name"]: (each["first"], each["last"]) for each in record["left"]["bounds"]}
    assert bounds["binlog"] == ("3:900:0", "3:1200:0")


def test_record_has_the_files_of_definitions(tmp_path: Path, feeds: list[str]) -> None:
    ddl = tmp_path / "shop.sql"
    ddl.write_text("CREATE TABLE shop.nothing (id INT PRIMARY KEY);")
    content = ddl.read_bytes()
    html = tmp_path / "found.html"
    document = document_of(tmp_path, *feeds, "--ddl", str(ddl))
    digest = hashlib.sha256(content).hexdigest()
    wanted = {"name": str(ddl), "size": len(content), "sha256": digest}
    assert document["record"]["definitions"] == [wanted]
    pytest.importorskip("jinja2", reason="needs the extra html")
    assert main(["compare", *feeds, "--ddl", str(ddl), "--html", str(html)]) == 0
    assert f"{len(content)} bytes, SHA-256 {digest}" in html.read_text("utf-8")
    assert document_of(tmp_path, *feeds)["record"]["definitions"] == []
