"""One stream in the protocols of TiCDC: each pair of feeds is equal."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

pytest.importorskip("pyarrow", reason="needs the extra compare")

DDL = """
CREATE TABLE shop.t (
  id BIGINT PRIMARY KEY, u BIGINT UNSIGNED, n INT, s VARCHAR(20), vb VARBINARY(10), d DATE,
  dt DATETIME(3), ts TIMESTAMP(3) NULL, ti TIME, y YEAR, e ENUM('a','b'), f DOUBLE, j JSON,
  bt BIT(5), b1 BIT(1), p DECIMAL(12,2), m FLOAT(7,3)
);
"""
ZONE = "time-zone=+08:00"
FEEDS = {
    "canal-json": ("enable-tidb-extension=true", "content-compatible=true"),
    "open-protocol": ("dialect=ticdc",),
    "avro": ("enable-tidb-extension=true", "dialect=ticdc"),
    "simple": (),
    "simple-avro": ("encoding-format=avro",),
    "debezium-json": ("dialect=ticdc", "enable-tidb-extension=true"),
    "debezium-json-alone": ("dialect=ticdc", "schemas-enable=false"),
    "debezium-avro": (
        "dialect=ticdc",
        "enable-tidb-extension=true",
        "avro-bigint-unsigned-handling-mode=string",
    ),
}


FORMATS = {"simple-avro": "simple", "debezium-json-alone": "debezium-json"}


def format_of(name: str) -> str:
    return FORMATS.get(name, name)


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("feeds")
    (folder / "t.sql").write_text(DDL, encoding="utf-8")
    for name, options in FEEDS.items():
        words = [word for option in (*options, ZONE) for word in ("--option", option)]
        source = ["--rows", "60", "--ddl", str(folder / "t.sql"), "--to", str(folder / name)]
        assert main(["generate", format_of(name), *source, *words]) == 0
    return folder


@pytest.mark.parametrize(("left", "right"), list(combinations(FEEDS, 2)))
def test_the_same_changes_are_equal_in_each_pair_of_protocols(
    left: str, right: str, feeds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    sides = [f"{format_of(name)}:file:{feeds / name}" for name in (left, right)]
    is_typed = "debezium-json-alone" not in (left, right)
    definitions = [] if is_typed else ["--ddl", str(feeds / "t.sql")]
    assert main(["compare", *sides, *definitions]) == 0
    printed = capsys.readouterr().out
    assert "EQUAL: 60 changes of 1 table, by 128 bits of hash per row" in printed
    assert "hint:" not in printed


BOOTSTRAP = (
    '{"version":1,"type":"BOOTSTRAP","commitTs":0,"buildTs":1,"tableSchema":{"schema":"s",'
    '"table":"t","tableID":1,"version":7,"columns":[%s],"indexes":[{"name":"primary","unique":true,'
    '"primary":true,"nullable":false,"columns":["id"]}]}}'
)
COLUMN = (
    '{"name":"%s","dataType":{"mysqlType":"int","charset":"binary","collate":"binary",'
    '"length":11},"nullable":%s,"default":%s}'
)
ROW = (
    '{"version":1,"database":"s","table":"t","tableID":1,"type":"INSERT","commitTs":9,"buildTs":1,'
    '"schemaVersion":7,"data":{"id":"1","v":null}}'
)
DEBEZIUM_ROW = (
    '{"payload":{"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"c","ts_ms":0,'
    '"snapshot":"false","db":"s","table":"t","server_id":0,"gtid":null,"file":"","pos":0,"row":0,'
    '"thread":0,"query":null,"commit_ts":9,"cluster_id":"c"},"ts_ms":1,"transaction":null,'
    '"op":"c","before":null,"after":{"id":1,"v":%s}}}'
)


@pytest.mark.parametrize("sent", ["5", "null"])
def test_values_that_a_producer_changes_are_named_where_rows_differ(
    sent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    id_, value = COLUMN % ("id", "false", "null"), COLUMN % ("v", "true", '"5"')
    sent_feeds: dict[str, list[tuple[str | None, str]]] = {
        "simple": [(None, BOOTSTRAP % f"{id_},{value}"), (None, ROW)],
        "debezium-json": [('{"payload":{"id":1}}', DEBEZIUM_ROW % sent)],
    }
    for name, messages in sent_feeds.items():
        lines = [
            json.dumps({"topic": "t", "partition": 0, "offset": at, "key": key, "payload": value})
            for at, (key, value) in enumerate(messages)
        ]
        (tmp_path / name).mkdir()
        text = "\n".join(lines) + "\n"
        (tmp_path / name / "messages.jsonl").write_text(text, encoding="utf-8")
    sides = [f"{name}:file:{tmp_path / name}" for name in sent_feeds]
    code = main(["compare", *sides, "--right-option", "dialect=ticdc"])
    hint = "hint: the producer of the right feed changes values: NULL in a column with a default is"
    assert (code, hint in capsys.readouterr().out) == ((1, True) if sent == "5" else (0, False))
