"""The official Canal: several rows in a message, changed columns in old, members by alphabet."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.formats.canal_json import Settings, decode, from_event
from cdcwire.formats.canal_json.events import events_of
from cdcwire.formats.canal_json.wire import write_object
from cdcwire.model.events import Event, Extra, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType, TextType

CANAL = Settings(dialect="canal")
COLUMNS = (Column("id", IntType(32), "int"), Column("v", TextType(20), "varchar(20)"))
EVENT = RowChange(
    Table("t", "s", key=("id",)),
    "update",
    Image(COLUMNS, (1, "<a>")),
    Image(COLUMNS, (1, "b")),
    Position(commit_ms=5, sent_ms=6),
)


def message(**members: Any) -> bytes:
    found: dict[str, Any] = {
        "data": [{"id": "1", "v": "a"}, {"id": "2", "v": None}, {"id": "3", "v": "c"}],
        "database": "s",
        "es": 5,
        "gtid": "",
        "id": 12,
        "isDdl": False,
        "mysqlType": {"id": "int(11)", "v": "varchar(20)"},
        "old": None,
        "pkNames": ["id"],
        "sql": "",
        "sqlType": {"id": 4, "v": 12},
        "table": "t",
        "ts": 6,
        "type": "INSERT",
    }
    return json.dumps({**found, **members}).encode()


def rows_of(value: bytes, settings: Settings = CANAL) -> list[RowChange]:
    found = decode(value)
    assert found is not None
    events: list[Event] = events_of(found, settings)
    return [event for event in events if isinstance(event, RowChange)]


def values(image: Image | None) -> dict[str, object] | None:
    return None if image is None else dict(zip(image.names, image.values, strict=True))


def test_each_row_of_data_is_an_event_with_the_position_of_all() -> None:
    found = rows_of(message())
    assert [values(event.after) for event in found] == [
        {"id": 1, "v": "a"},
        {"id": 2, "v": None},
        {"id": 3, "v": "c"},
    ]
    assert {event.position for event in found} == {Position(commit_ms=5, sent_ms=6)}
    assert [dict(event.extra) for event in found] == [{"message_id": "12"}] * 3


def test_rows_of_a_delete_are_in_data() -> None:
    found = rows_of(message(type="DELETE"))
    assert [event.op for event in found] == ["delete"] * 3
    assert [event.after for event in found] == [None] * 3
    assert values(found[2].before) == {"id": 3, "v": "c"}


def test_old_pairs_with_data_by_its_place() -> None:
    old = [{"v": None}, {"v": "x"}, {"id": "9"}]
    found = rows_of(message(type="UPDATE", old=old))
    assert [values(event.before) for event in found] == [{"v": None}, {"v": "x"}, {"id": 9}]
    assert [event.sent for event in found] == ["changed"] * 3


def test_one_old_row_may_be_null_among_others() -> None:
    found = rows_of(message(type="UPDATE", old=[{"v": "x"}, None, {}]))
    assert [values(event.before) for event in found] == [{"v": "x"}, None, {}]


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_more_or_fewer_old_rows_are_rejected(count: int) -> None:
    value = message(type="UPDATE", old=[{"v": "x"}] * count)
    with pytest.raises(DecodeError) as caught:
        decode(value)
    assert caught.value.path == ("old",)
    assert caught.value.clause == "canal-json: old"
    assert value[caught.value.offset :].startswith(b"[")


def test_error_in_a_later_row_tells_which() -> None:
    value = message(data=[{"id": "1"}, {"id": "1"}, {"id": "x"}])
    with pytest.raises(DecodeError) as caught:
        decode(value)
    assert caught.value.path == ("data", 2, "id")
    assert caught.value.offset == value.index(b'"x"')


def test_message_is_written_as_canal_writes_it() -> None:
    found = write_object(from_event(EVENT, CANAL), "canal")
    assert found == (
        b'{"data":[{"id":"1","v":"b"}],"database":"s","es":5,"gtid":"","id":0,"isDdl":false,'
        b'"mysqlType":{"id":"int(11)","v":"varchar(20)"},"old":[{"v":"<a>"}],"pkNames":["id"],'
        b'"sql":"","sqlType":{"id":4,"v":12},"table":"t","ts":6,"type":"UPDATE"}'
    )


def test_table_without_primary_key_has_null_names() -> None:
    event = replace(EVENT, table=Table("t", "s", key=()))
    assert from_event(event, CANAL).pk_names is None
    assert from_event(event).pk_names == ()
    (found,) = rows_of(write_object(from_event(event, CANAL), "canal"))
    assert found.table.key == ()


def test_message_id_and_gtid_come_back() -> None:
    extra: Extra = {"message_id": "7", "gtid": "a-b:1-5"}
    (found,) = rows_of(write_object(from_event(replace(EVENT, extra=extra), CANAL), "canal"))
    assert dict(found.extra) == extra


def test_ddl_comes_back() -> None:
    event = SchemaChange("alter", "a < b", None, Table("t", "s"), Position(commit_ms=5))
    value = write_object(from_event(event, CANAL), "canal")
    assert b'"sql":"a < b"' in value
    found = decode(value)
    assert found is not None
    (again,) = events_of(found, CANAL)
    assert isinstance(again, SchemaChange)
    assert (again.what, again.query, again.table) == ("alter", "a < b", Table("t", "s"))


def test_reader_finds_the_dialect_itself() -> None:
    value = write_object(from_event(EVENT, CANAL), "canal")
    assert rows_of(value, Settings()) == rows_of(value)
