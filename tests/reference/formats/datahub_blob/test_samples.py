"""The messages that the document shows, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.datahub_blob import FORMAT, Ddl, decode, encode, to_event
from cdcwire.model.events import Position, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kind_text import kind_text
from cdcwire.model.steps import join_halves

DATA = Path(__file__).parent / "data"
NAMES = ("insert", "update-before", "update-after", "delete", "heartbeat", "alter")


def sample(name: str) -> bytes:
    return (DATA / f"{name}.json").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_sample_is_the_same_json_when_written(name: str) -> None:
    written = encode(decode(sample(name)))
    assert json.loads(written) == json.loads(sample(name))
    assert encode(decode(written)) == written


@pytest.mark.parametrize("name", NAMES)
def test_sample_comes_back_from_its_event(name: str) -> None:
    (event,) = FORMAT.to_events(KafkaMessage(None, sample(name)), context=Context())
    (message,) = FORMAT.from_events([event], context=Context())
    assert isinstance(message, KafkaMessage)
    assert message.value is not None
    assert json.loads(message.value) == json.loads(sample(name))


def test_insert_is_a_row() -> None:
    event = to_event(decode(sample("insert")))
    assert isinstance(event, RowChange)
    assert (event.op, event.half, event.before) == ("insert", None, None)
    assert event.table == Table("t_shiyu_pk", "yunshi_db", key=("id", "name"))
    assert event.position == Position(
        sequence_id=1605339516000000004, commit_ms=1605339932000, sent_ms=1605339932736
    )
    assert event.after is not None
    assert event.after.names == ("id", "name", "comment")
    assert event.after.values == (1, "joe", "comment")
    assert [kind_text(column.type) for column in event.after.columns] == ["int64", "text", "text"]
    assert [column.source for column in event.after.columns] == ["LONG", "STRING", "STRING"]
    assert dict(event.extra) == {
        "version": "0.0.1",
        "db_type": "MySQL",
        "checkpoint_ms": "1605339932000",
    }


def test_halves_are_one_update() -> None:
    halves = [to_event(decode(sample(name))) for name in ("update-before", "update-after")]
    (event,) = join_halves(half for half in halves if half is not None)
    assert isinstance(event, RowChange)
    assert (event.op, event.half) == ("update", None)
    assert event.before is not None
    assert event.after is not None
    assert (event.before["comment"], event.after["comment"]) == ("comment", "com1")


def test_heartbeat_has_a_time_only() -> None:
    event = to_event(decode(sample("heartbeat")))
    assert event == Progress(
        "heartbeat",
        Position(commit_ms=1605339953629),
        {"version": "0.0.1", "checkpoint_ms": "1605339953629"},
    )


def test_ddl_keeps_its_statement_object_as_bytes() -> None:
    message = decode(sample("alter"))
    assert isinstance(message.ddl, Ddl)
    assert message.ddl.meta is not None
    assert len(message.ddl.meta) == 3580
    event = to_event(message)
    assert isinstance(event, SchemaChange)
    assert (event.what, event.code, event.query) == (
        "alter",
        None,
        "alter table t_shiyu_nopk add column holo text",
    )
    assert event.table == Table("t_shiyu_nopk", "yunshi_db")
    assert event.extra["ddl_meta"] == message.ddl.meta
