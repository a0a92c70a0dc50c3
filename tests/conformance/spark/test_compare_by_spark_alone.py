"""Only Spark compares messages in Parquet, tables, and times as a type of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import read_messages, write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType, TextType, TimestampType
from cdcwire.registry import get_format

pytest.importorskip("pyspark", reason="needs the extra spark")
pytest.importorskip("sqlglot", reason="needs the extra ddl")

import pyarrow as pa
import pyarrow.parquet as pq

pytestmark = pytest.mark.usefixtures("spark")

Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"

ID = Column("id", IntType(64), roles=frozenset({"primary", "handle"}))
N, NOTE = Column("n", IntType(32)), Column("note", TextType())


def write(folder: Path, format_name: str, events: Iterable[Event]) -> str:
    """Write a feed and return its source."""
    folder.mkdir()
    messages = get_format(format_name).from_events(events, context=Context())
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


def insert(key: int, ts: int, note: str = "x") -> RowChange:
    table = Table("logs", "shop", columns=(ID, NOTE), key=("id",))
    position = Position(commit_ts=ts, lsn=ts, tx_id=str(ts), commit_ms=1_700_000_000_000)
    return RowChange(table, "insert", None, Image((ID, NOTE), (key, note)), position)


def put(ts: int, key: int, n: int) -> RowChange:
    table = Table("t", "s", columns=(ID, N), key=("id",))
    return RowChange(table, "insert", None, Image((ID, N), (key, n)), Position(commit_ts=ts))


def ddl(ts: int, query: str) -> SchemaChange:
    return SchemaChange("query", query, 5, Table("t", "s"), Position(commit_ts=ts))


@pytest.mark.long
@pytest.mark.parametrize("named", [("partition", "offset"), ("offset",), ("topic", "offset")])
def test_parquet_that_does_not_tell_all_of_a_place_has_no_more_order_than_it_tells(
    compare: Compare, tmp_path: Path, named: tuple[str, ...]
) -> None:
    event = insert(1, 5)
    # The second change of the key is in another partition, where it is the first record.
    events = [replace(event, position=replace(event.position, commit_ts=ts)) for ts in (5, 6)]
    places = ({"topic": "t", "partition": 1, "offset": 7}, {"topic": "t", "partition": 0})
    rows = []
    for each, place in zip(events, places, strict=True):
        (message,) = get_format("craft").from_events([each], context=Context())
        assert isinstance(message, KafkaMessage)
        known = {"key": b"", "value": message.value, "offset": 0, **place}
        rows.append({name: known[name] for name in ("key", "value", *named)})
    (tmp_path / "a").mkdir()
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    pq.write_table(pa.table(columns), tmp_path / "a" / "feed.parquet")
    left = f"craft:file:{tmp_path / 'a'}"
    code, out, _ = compare(left, write(tmp_path / "b", "craft", events))
    assert code == 0, out


def test_altered_rows_are_compared_with_those_of_a_table(compare: Compare, tmp_path: Path) -> None:
    types = pa.schema([("id", pa.int64()), ("n", pa.int32()), ("c", pa.int32())])
    kept = [{"id": 1, "n": 10, "c": 7}, {"id": 2, "n": 20, "c": 7}]
    for name, rows in (("kept", kept), ("other", [kept[0], {**kept[1], "c": 8}])):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "part 0.parquet"
        pq.write_table(pa.Table.from_pylist(rows, types), file)
    inserts = [put(1, 1, 10), put(2, 2, 20)]
    add = ddl(3, "ALTER TABLE t ADD c INT NOT NULL DEFAULT 7")
    left, table = write(tmp_path / "a", "craft", [*inserts, add]), f"parquet:file:{tmp_path}"
    code, out, document = compare(left, f"{table}/kept")
    assert code == 0, out
    content = (tmp_path / "kept" / "part 0.parquet").read_bytes()
    (record,) = document["record"]["right"]["files"]
    assert record["name"] == "part 0.parquet"
    assert record["size"] == len(content)
    assert record["sha256"] == sha256(content).hexdigest()
    assert document["record"]["right"]["sha256"] is not None
    assert compare(left, f"{table}/other")[0] == 1
    change = ddl(4, "ALTER TABLE t MODIFY n DECIMAL(9,2)")
    converted = write(tmp_path / "b", "craft", [*inserts, add, change])
    code, error, _ = compare(converted, f"{table}/kept")
    assert code == 2
    assert "the last rows of s.t are not known: left: ALTER TABLE t MODIFY n" in error


def test_parquet_with_keys_and_values_as_text_is_read(compare: Compare, tmp_path: Path) -> None:
    """As a sink of Kafka Connect writes them, whose converters are for text."""
    events = [insert(n, 10 + n, "é") for n in range(3)]
    right = write(tmp_path / "b", "debezium-json", events)
    messages = [message for _, message in read_messages(str(tmp_path / "b"))]
    columns = {
        name: [(getattr(each, name) or b"").decode() for each in messages]
        for name in ("key", "value")
    }
    (tmp_path / "a").mkdir()
    pq.write_table(pa.table(columns), tmp_path / "a" / "feed.parquet")
    code, text, _ = compare(f"debezium-json:file:{tmp_path / 'a'}", right)
    assert code == 0, text


def test_texts_of_one_instant_are_equal_as_native_times(compare: Compare, tmp_path: Path) -> None:
    columns = (
        Column("id", IntType(64), roles=frozenset({"primary"})),
        Column("at", TimestampType(zone="+00:00")),
    )
    table = Table("t", "s", columns=columns, key=("id",))
    image = Image(columns, (1, "1900-01-01 00:00:00"))
    event = RowChange(table, "insert", None, image, Position(lsn=5, commit_ms=1))
    left = write(tmp_path / "a", "debezium-json", [event])
    (message,) = get_format("debezium-json").from_events([event], context=Context())
    assert isinstance(message, KafkaMessage)
    assert message.value is not None
    sent = b"1900-01-01T00:00:00Z"
    assert sent in message.value
    for number, text in enumerate((b"1900-01-01T00:00:00.000000Z", b"1900-01-01T02:00:00+02:00")):
        folder = tmp_path / f"b{number}"
        folder.mkdir()
        other = replace(message, value=message.value.replace(sent, text))
        write_messages(str(folder / "messages.jsonl"), [other])
        code, out, _ = compare(left, f"debezium-json:file:{folder}", "--temporal", "native")
        assert code == 0, out
