"""A feed against a table: parts of keys, renamed tables, bytes as text, deletes as tombstones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import BytesType, Column, IntType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ID = Column("id", IntType(64), roles=frozenset({"primary", "handle"}))


def table(folder: Path, **columns: object) -> str:
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "part-0.parquet")
    return f"parquet:file:{folder}"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["compare", *words, "--engine", "embedded"])
    out, err = capsys.readouterr()
    return code, out + err


def maxwell(folder: Path, *rows: Mapping[str, object]) -> str:
    folder.mkdir()
    known = {"database": "shop", "table": "lines", "ts": 1, "xid": 7, "commit": True}
    lines = "".join(json.dumps({**known, **row}) + "\n" for row in rows)
    (folder / "messages.jsonl").write_text(lines)
    return f"maxwell-json:file:{folder}"


def test_old_key_of_several_columns_is_filled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``old`` has the changed columns only: the row with the old key is gone."""
    pytest.importorskip("sqlglot", reason="needs the extra ddl")
    (tmp_path / "t.sql").write_text(
        "CREATE TABLE shop.lines (a INT, b INT, v INT, PRIMARY KEY (a, b));\n"
    )
    feed = maxwell(
        tmp_path / "feed",
        {"type": "insert", "data": {"a": 1, "b": 2, "v": 3}},
        {"type": "update", "data": {"a": 9, "b": 2, "v": 3}, "old": {"a": 1}},
    )
    words = ("--ddl", str(tmp_path / "t.sql"))
    code, text = run(capsys, feed, table(tmp_path / "new", a=[9], b=[2], v=[3]), *words)
    assert code == 0, text
    both = table(tmp_path / "both", a=[1, 9], b=[2, 2], v=[3, 3])
    code, text = run(capsys, feed, both, *words)
    assert code == 1
    assert "left over: row a=1, b=2" in text


def test_renamed_table_is_compared_with_its_earlier_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def row(name: str, key: int) -> RowChange:
        own = Table(name, "shop", columns=(ID,), key=("id",))
        return RowChange(own, "insert", None, Image((ID,), (key,)), Position(commit_ts=key))

    renamed = SchemaChange(
        "query", "RENAME TABLE old TO new", 14, Table("new", "shop"), Position(commit_ts=2)
    )
    changes: list[Event] = [row("old", 1), renamed, row("new", 3)]
    (tmp_path / "feed").mkdir()
    messages = get_format("open-protocol").from_events(changes)
    write_messages(str(tmp_path / "feed" / "messages.jsonl"), messages)
    feed = f"open-protocol:file:{tmp_path / 'feed'}"
    rows = table(tmp_path / "new", id=[1, 3])
    code, text = run(capsys, feed, rows, "--include", "shop.new")
    assert (code, "shop.old was not read; include it too" in text) == (2, True)
    code, text = run(capsys, feed, rows, "--include", "shop.new", "--include", "shop.old")
    assert code == 0, text
    assert "shop.new: equal, 2 last rows" in text
    code, text = run(capsys, feed, rows, "--include", "shop.new", "--include", "shop.oldest")
    assert (code, text.rpartition(": ")[2]) == (
        2,
        "the feed has no rows of shop.oldest; did you mean 'shop.old'?\n",
    )


@pytest.mark.parametrize(
    ("stored", "option", "code"),
    [
        (b"\xab", "--left-binary", 0),
        (b"ab", "--left-binary", 1),
        (b"ab", "", 0),
    ],
    ids=["bytes", "hex", "as sent"],
)
def test_text_form_of_bytes_is_that_of_one_side(
    stored: bytes, option: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table that keeps the text of the bytes is not what the feed says."""
    columns = ID, Column("v", BytesType())
    own = Table("t", "shop", columns=columns, key=("id",))
    change = RowChange(own, "insert", None, Image(columns, (1, b"ab")), Position(commit_ts=1))
    (tmp_path / "feed").mkdir()
    messages = get_format("craft").from_events([change])
    write_messages(str(tmp_path / "feed" / "messages.jsonl"), messages)
    rows = table(tmp_path / "t", id=[1], v=[stored])
    words = (f"craft:file:{tmp_path / 'feed'}", rows, *((option, "v=hex") if option else ()))
    found, text = run(capsys, *words)
    assert found == code, text
    assert ("accepted with --right-binary v=hex\n" in text) is bool(code)
    if code:
        assert run(capsys, *words, "--right-binary", "v=hex")[0] == 0


def test_text_form_of_a_tables_bytes_is_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = maxwell(tmp_path / "feed", {"type": "insert", "data": {"id": 1, "v": "qw=="}})
    (tmp_path / "t.sql").write_text("CREATE TABLE shop.lines (id INT PRIMARY KEY, v BLOB);\n")
    pytest.importorskip("sqlglot", reason="needs the extra ddl")
    rows = table(tmp_path / "t", id=[1], v=[b"ab"])
    words = ("--ddl", str(tmp_path / "t.sql"))
    assert run(capsys, feed, rows, *words)[0] == 1
    code, text = run(capsys, feed, rows, *words, "--right-binary", "v=hex")
    assert code == 0, text
    assert "the hex text of v of shop.lines (--right-binary)" in text


def unwrapped(folder: Path, *, deletes: bool) -> str:
    """Two rows of ExtractNewRecordState; the delete of one is Kafka's null."""
    folder.mkdir()
    messages = [
        KafkaMessage(b'{"id":%d}' % key, b'{"id":%d,"__table":"t"}' % key) for key in (1, 2)
    ]
    tombstones = [KafkaMessage(b'{"id":2}', None)] if deletes else []
    write_messages(str(folder / "messages.jsonl"), [*messages, *tombstones])
    return f"debezium-json:file:{folder}"


def test_deletes_that_are_only_tombstones_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No row says what was deleted, so last rows stay: that is not equal without a line."""
    feeds = unwrapped(tmp_path / "a", deletes=True), unwrapped(tmp_path / "b", deletes=False)
    line = "tombstones of the left feed (1; a delete that is only a tombstone leaves its last row)"
    code, text = run(capsys, *feeds, "--mode", "final", "--option", "transforms=unwrap")
    assert (code, line in text, "of the right feed (1;" in text) == (0, True, False), text
    rows = table(tmp_path / "t", id=[1, 2])
    code, text = run(capsys, feeds[0], rows, "--option", "transforms=unwrap")
    assert (code, line in text) == (0, True), text
    code, text = run(capsys, feeds[1], rows, "--option", "transforms=unwrap")
    assert (code, "tombstones" in text) == (0, False), text


def test_kafka_keys_are_named_and_those_that_contradict_their_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = unwrapped(tmp_path / "a", deletes=False)
    file = tmp_path / "a" / "messages.jsonl"
    rows = table(tmp_path / "t", id=[1, 2])
    words = ("--option", "transforms=unwrap")
    code, text = run(capsys, feed, rows, *words)
    assert (code, "warning: Kafka keys" in text) == (0, False), text
    assert "not compared: Kafka keys (a table has none)\n" in text
    wrong = KafkaMessage(b'{"id":777}', b'{"id":1,"__table":"t"}')
    right = KafkaMessage(b'{"id":2}', b'{"id":2,"__table":"t"}')
    write_messages(str(file), [wrong, right])
    code, text = run(capsys, feed, rows, *words)
    assert (code, "t: id is 777 in the key, 1 in the row" in text) == (0, True), text
