"""Bad input of TiCDC's protocols through the command line: one line with byte, path and clause.

Faults of a producer that no reader can repair are read as they were sent, with a warning.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest

from cdcwire import KafkaMessage
from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.store import load_case

TS = 448059171405824001
COLUMN = (
    '{"name":"%s","dataType":{"mysqlType":"int","charset":"binary","collate":"binary",'
    '"length":11},"nullable":false,"default":null}'
)
BOOTSTRAP = (
    '{"version":1,"type":"BOOTSTRAP","commitTs":0,"buildTs":1,"tableSchema":{"schema":"s",'
    '"table":"t","tableID":1,"version":%d,"columns":['
    + ",".join(COLUMN % name for name in "ab")
    + '],"indexes":[]}}'
)
ROW = (
    '{"version":1,"database":"s","table":"t","tableID":1,"type":"INSERT","commitTs":9,'
    '"buildTs":1,"schemaVersion":%d,"data":{"a":"1","b":"2"}}'
)


def feed(folder: Path, *values: bytes, key: bytes | None = None) -> str:
    """Write messages as JSON lines. Returns: the path of the file."""
    path = folder / "feed.jsonl"
    sent = None if key is None else b64encode(key).decode()
    lines = [json.dumps({"key": sent, "value": b64encode(each).decode()}) for each in values]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def decode(
    capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0
) -> tuple[list[str], list[str]]:
    capsys.readouterr()
    assert main(["decode", *arguments]) == code
    captured = capsys.readouterr()
    return captured.out.splitlines(), captured.err.splitlines()


@pytest.mark.parametrize(
    ("versions", "known"), [((), "none"), ((7,), "7"), ((7, 8), "7, 8")], ids=str
)
def test_row_whose_schema_is_missing_names_its_version(
    versions: tuple[int, ...], known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [*(BOOTSTRAP % version for version in versions), ROW % 5]
    path = feed(tmp_path, *(text.encode() for text in texts))
    _, (error,) = decode(capsys, "simple", path, code=1)
    place = (ROW % 5).index("5,")
    assert (
        f":{len(texts)}: byte {place}: no table schema of s.t has version 5; known: {known}"
        in error
    )
    assert error.endswith("(in schemaVersion; simple: schema versions)")


def test_version_that_goes_back_is_read_by_its_own_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = (BOOTSTRAP % 7, ROW % 7, BOOTSTRAP.replace('"name":"b"', '"name":"x"') % 5, ROW % 7)
    out, err = decode(capsys, "simple", feed(tmp_path, *(text.encode() for text in texts)))
    assert (len(out), err) == (2, [])
    old = (BOOTSTRAP % 7, BOOTSTRAP.replace('"name":"b"', '"name":"x"') % 5, ROW % 5)
    _, (error,) = decode(capsys, "simple", feed(tmp_path, *map(str.encode, old)), code=1)
    assert "the table schema of s.t has no column 'b' in version 5" in error


def test_map_of_avro_in_another_order_is_the_same_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def text(value: str) -> bytes:
        return bytes((2 * len(value),)) + value.encode()

    # a definition of the columns a and b, then the row with its map in both orders
    head = b"\x16\x06\x06\x02" + text("s") + text("t") + b"\x02\x00\x12\x02\x02\x00\x00\x00"
    cells = (text("a") + b"\x02\x02", text("b") + b"\x02\x04")
    rows = [head + b"\x02\x04" + b"".join(each) + b"\x00\x00" for each in (cells, cells[::-1])]
    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE s.t (a INT NOT NULL, b INT NOT NULL);", encoding="utf-8")
    options = ("--option", "encoding-format=avro", "--ddl", str(ddl))
    (one, other), err = decode(capsys, "simple", feed(tmp_path, *rows), *options)
    assert (one == other, err) == (True, [])
    assert json.loads(one)["after"] == {
        "a": {"type": "int32", "value": "1"},
        "b": {"type": "int32", "value": "2"},
    }


def test_claim_check_file_of_another_row_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = load_case("simple/reject-claims/another-row")
    ((location, claimed),) = case.blobs.items()
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    name = location.rpartition("/")[2]
    (blobs / name).write_bytes(claimed)
    [message] = case.messages
    assert isinstance(message, KafkaMessage)
    value = message.value or b""
    schema = BOOTSTRAP.replace('"s"', '"d"').replace('"name":"a"', '"name":"id"') % 9
    path = feed(tmp_path, schema.encode(), value)
    _, (error,) = decode(capsys, "simple", path, "--blobs", str(blobs), code=1)
    assert ":2: byte " in error
    assert "simple: claim check" in error


def test_rows_that_no_rule_makes_fit_their_schema_file_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE s.t (a INT PRIMARY KEY, b INT, c INT);", encoding="utf-8")
    prefix = tmp_path / "prefix"
    source = ["--ddl", str(ddl), "--rows", "3", "--to", str(prefix)]
    assert main(["generate", "csv", *source]) == 0
    (data,) = prefix.rglob("*.csv")
    data.write_bytes(data.read_bytes().replace(b"\r\n", b",9\r\n"))
    _, (error,) = decode(capsys, "csv", str(prefix), code=1)
    assert "csv: byte " in error
    assert error.endswith("(in records[0]; csv: record)")


MEMBERS = (
    '{"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"c","ts_ms":1709210096000,'
    '"snapshot":"false","db":"s","table":"t","server_id":0,"gtid":null,"file":"","pos":0,"row":0,'
    f'"thread":0,"query":null,"commit_ts":{TS},"cluster_id":"c"}},"ts_ms":1,"transaction":null,'
    '"op":"c","before":null,"after":{"a":%s}}'
)


@pytest.mark.parametrize(
    ("field", "sent", "read", "warning"),
    [
        (
            '"type":"int32","optional":true,"default":5',
            "5",
            {"type": "int32", "value": "5"},
            "TiCDC sends the default of a column for NULL: a (debezium-json: ticdc defaults)",
        ),
        (
            '"type":"int64","optional":true,"name":"io.debezium.time.MicroTime","version":1,'
            '"default":3723000000',
            "0",
            {"type": "time", "value": "0", "unit": "us"},
            "TiCDC sends the default of a column for NULL: a (debezium-json: ticdc defaults)",
        ),
        (
            '"type":"int64","optional":true',
            "-1",
            {"type": "int64", "value": "-1"},
            "TiCDC sends BIGINT UNSIGNED as a signed number, and no type is given of a "
            "(debezium-json: ticdc types)",
        ),
        (
            '"tidb_type":"bigint unsigned","type":"int64","optional":true',
            "-1",
            {"type": "int64 unsigned", "value": "18446744073709551615"},
            None,
        ),
        (
            '"tidb_type":"bigint","type":"int64","optional":true',
            "-1",
            {"type": "int64", "value": "-1"},
            None,
        ),
    ],
    ids=["default", "time", "wrapped", "unsigned", "signed"],
)
def test_fault_of_the_producer_is_read_as_sent_with_a_warning(
    field: str,
    sent: str,
    read: dict[str, str],
    warning: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = f'{{"type":"struct","optional":true,"field":"%s","fields":[{{{field},"field":"a"}}]}}'
    source = [f'{{"type":"string","optional":false,"field":"{name}"}}' for name in SOURCE_TEXTS]
    source.append('{"type":"int64","optional":false,"field":"ts_ms"}')
    head = '"type":"struct","optional":false'
    of_source = f'{{{head},"field":"source","fields":[{",".join(source)}]}}'
    fields = (row % "before", row % "after", of_source, OP)
    schema = f'{{{head},"fields":[{",".join(fields)}]}}'
    value = f'{{"payload":{MEMBERS % sent},"schema":{schema}}}'
    path = feed(tmp_path, value.encode(), key=b'{"payload":{}}')
    (line,), err = decode(capsys, "debezium-json", path)
    assert json.loads(line)["after"]["a"] == read
    assert [text.partition("warning: ")[2] for text in err] == (
        [] if warning is None else [warning]
    )


SOURCE_TEXTS = ("version", "connector", "name", "db", "table")
OP = '{"type":"string","optional":false,"field":"op"}'
