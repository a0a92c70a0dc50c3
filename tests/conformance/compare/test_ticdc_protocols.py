"""One stream in the protocols of TiCDC: each pair of feeds is equal."""

from __future__ import annotations

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
    assert "EQUAL: 60 changes of 1 table, by 128 bits of hash per row" in capsys.readouterr().out
