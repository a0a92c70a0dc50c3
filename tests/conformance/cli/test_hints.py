"""Errors that name the option, or the message, which a reader most likely meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

DDL = "create table s.t (id int primary key); create table s.b (id int primary key, v binary(4));"
DEBEZIUM = {
    "heartbeat-like row": (
        b'{"id":1,"name":"x","ts_ms":5}',
        "ExtractNewRecordState with transforms=unwrap",
    ),
    "marker-like row": (
        b'{"id":"7","status":"BEGIN","customer":"x"}',
        "ExtractNewRecordState with transforms=unwrap",
    ),
    "unwrapped row": (
        b'{"id":1,"name":"x","__op":"c"}',
        "ExtractNewRecordState with transforms=unwrap",
    ),
    "CloudEvent": (
        b'{"id":"n","source":"/debezium/postgresql/s","specversion":"1.0",'
        b'"type":"io.debezium.postgresql.datachangeevent","data":{"after":{"id":1}}}',
        "a CloudEvent: set value.converter to JsonConverter",
    ),
}


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line of a command that fails."""
    assert main(["decode", *arguments]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    return line


@pytest.fixture
def ddl(tmp_path: Path) -> str:
    pytest.importorskip("sqlglot")
    file = tmp_path / "tables.sql"
    file.write_text(DDL)
    return str(file)


@pytest.mark.parametrize(
    ("record", "hint"),
    [
        (b'"I","t","s",1\n', "it ends in LF, so give the producer's option terminator"),
        (b'"I","t","s",433305438660591626,1\r\n', "the commit-ts of include-commit-ts"),
        (b'"I","b","s",1,"deadbeef"\r\n', "give the producer's option binary-encoding-method=hex"),
    ],
    ids=["line end", "commit-ts", "hex"],
)
def test_csv_error_names_the_missing_option(
    record: bytes, hint: str, ddl: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "data.csv"
    file.write_bytes(record)
    assert hint in error_of(capsys, "csv", str(file), "--ddl", ddl)


def test_canal_message_in_a_json_file_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        b'{"id":0,"database":"s","table":"t","pkNames":["id"],"isDdl":false,"type":"INSERT",'
        b'"es":1,"ts":1,"sql":"","sqlType":{"id":4},"mysqlType":{"id":"int"},'
        b'"old":null,"data":[{"id":"1"}]}'
    )
    (tmp_path / "m.json").write_bytes(text)
    (tmp_path / "m.bin").write_bytes(text)
    error = error_of(capsys, "canal-json", str(tmp_path / "m.json"))
    assert "a *.json is read as a file of a storage sink, not as a queue's message" in error
    assert main(["decode", "canal-json", str(tmp_path / "m.bin")]) == 0


@pytest.mark.parametrize(("value", "hint"), DEBEZIUM.values(), ids=DEBEZIUM)
def test_debezium_error_names_the_message(
    value: bytes, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "value.bin"
    file.write_bytes(value)
    assert hint in error_of(capsys, "debezium-json", str(file))
