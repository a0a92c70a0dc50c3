"""Messages to neutral events and back: what each operation says, and what options leave of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cdcwire.core.context import Selection
from cdcwire.core.errors import EncodeError
from cdcwire.formats.canal_json import Definitions, Extension, Message, Settings, from_event
from cdcwire.formats.canal_json.events import events_of
from cdcwire.formats.canal_json.images import ImageWriter
from cdcwire.formats.canal_json.wire import read_object, write_object
from cdcwire.model.events import (
    Event,
    Extra,
    Image,
    Marker,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.instants import ms_of_tso
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import Column, EnumType, IntType, TextType
from cdcwire.mysql.types import schema_change_kind

COMMIT_TS = 441349361156227075
ES = ms_of_tso(COMMIT_TS)
ID = Column("id", IntType(32), "int", roles=frozenset({"primary", "handle"}))
V = Column("v", TextType(20), "varchar(20)")
N = Column("n", IntType(8, True), "tinyint unsigned")
COLUMNS = (ID, V, N)
TABLE = Table("t", "s", key=("id",))
EXTENDED = Settings(tidb_extension=True)


def row(*values: object, columns: tuple[Column, ...] = COLUMNS) -> Image:
    return Image(columns, values)


def change(op: Op, before: Image | None, after: Image | None, **members: Any) -> RowChange:
    found = RowChange(TABLE, op, before, after, Position(commit_ts=COMMIT_TS))
    return replace(found, **members)


INSERT = change("insert", None, row(1, "x", 200))
UPDATE = change("update", row(1, None, 1), row(1, "y", 200))
DELETE = change("delete", row(1, "x", None), None)


def read(message: Message, settings: Settings = EXTENDED, **more: Any) -> Event:
    """Return the one event of a message after its way over the wire."""
    found = read_object(write_object(message, settings.dialect), **more)
    assert found is not None
    (event,) = events_of(found, settings)
    return event


def image_of(event: Event, side: str = "after") -> dict[str, object]:
    image = getattr(event, side)
    return dict(zip(image.names, image.values, strict=True))


@pytest.mark.parametrize("event", [INSERT, UPDATE, DELETE], ids=["insert", "update", "delete"])
def test_row_comes_back_with_its_times(event: RowChange) -> None:
    found = read(from_event(event, EXTENDED))
    assert isinstance(found, RowChange)
    assert (found.op, found.table, found.sent) == (event.op, TABLE, None)
    assert found.position == Position(commit_ts=COMMIT_TS, commit_ms=ES, sent_ms=ES)
    for side in ("before", "after"):
        if getattr(event, side) is not None:
            assert image_of(found, side) == image_of(event, side)
        else:
            assert getattr(found, side) is None


def test_message_of_each_operation_has_its_members() -> None:
    insert, update, delete = (from_event(event) for event in (INSERT, UPDATE, DELETE))
    assert (insert.type, insert.old) == ("INSERT", None)
    assert insert.data == ((("id", "1"), ("v", "x"), ("n", "200")),)
    assert update.old == ((("id", "1"), ("v", None), ("n", "1")),)
    assert (delete.type, delete.old) == ("DELETE", None)
    assert delete.data == ((("id", "1"), ("v", "x"), ("n", None)),)
    for message in (insert, update, delete):
        assert (message.id, message.is_ddl, message.sql) == (0, False, "")
        assert (message.es, message.ts, message.tidb) == (ES, ES, None)
        assert message.pk_names == ("id",)


def test_new_value_decides_the_sqltype_of_an_update() -> None:
    assert dict(from_event(UPDATE).sql_type or ())["n"] == 5
    falling = change("update", row(1, "x", 200), row(1, "x", 1))
    assert dict(from_event(falling).sql_type or ())["n"] == -6
    to_null = change("update", row(1, "x", 200), row(1, "x", None))
    assert dict(from_event(to_null).sql_type or ())["n"] == -6


@pytest.mark.parametrize(
    "settings",
    [Settings(only_updated_columns=True), Settings(content_compatible=True)],
    ids=["only-output-updated-columns", "content-compatible"],
)
def test_old_has_the_changed_columns_only_where_an_option_says_so(settings: Settings) -> None:
    message = from_event(UPDATE, settings)
    assert message.old == ((("v", None), ("n", "1")),)
    found = read(message, settings)
    assert isinstance(found, RowChange)
    assert (image_of(found, "before"), found.sent) == ({"v": None, "n": 1}, "changed")


def test_old_of_an_update_that_changed_nothing_is_an_empty_object() -> None:
    event = change("update", row(1, "x", 1), row(1, "x", 1))
    message = from_event(event, Settings(only_updated_columns=True))
    assert message.old == ((),)
    assert b'"old":[{}]' in write_object(message)


def test_absent_and_null_in_old_are_kept_apart() -> None:
    message = from_event(UPDATE)
    message = replace(message, old=((("v", None),),))
    found = read(message)
    assert isinstance(found, RowChange)
    assert found.before is not None
    assert found.before.names == ("v",)
    assert (found.before["v"], found.sent) == (None, "changed")


def test_update_without_old_has_no_row_before() -> None:
    message = replace(from_event(UPDATE), old=None)
    found = read(message)
    assert isinstance(found, RowChange)
    assert (found.op, found.before) == ("update", None)
    assert from_event(replace(UPDATE, before=None)).old is None


def test_insert_with_a_list_of_null_as_old_has_no_row_before() -> None:
    found = read(replace(from_event(INSERT), old=(None,)))
    assert isinstance(found, RowChange)
    assert found.before is None


def test_delete_whose_row_stands_in_old_is_read() -> None:
    message = from_event(DELETE)
    found = read(replace(message, data=None, old=message.data))
    assert image_of(found, "before") == {"id": 1, "v": "x", "n": None}


def test_delete_keeps_its_handle_key_only_where_the_option_says_so() -> None:
    settings = replace(EXTENDED, delete_only_handle_key=True)
    message = from_event(DELETE, settings)
    assert message.data == ((("id", "1"),),)
    assert (message.sql_type, message.mysql_type) == ((("id", 4),), (("id", "int"),))
    assert message.tidb == Extension(COMMIT_TS)
    found = read(message, settings)
    assert isinstance(found, RowChange)
    assert (image_of(found, "before"), found.sent) == ({"id": 1}, "key")


def test_delete_without_a_handle_key_tells_nothing() -> None:
    event = replace(DELETE, table=Table("t", "s", key=()))
    message = from_event(event, Settings(delete_only_handle_key=True))
    assert (message.sql_type, message.mysql_type, message.data) == (None, (), ((),))
    assert b'"sqlType":null,"mysqlType":{},"old":null,"data":[{}]' in write_object(message)


def test_unique_key_that_is_the_handle_is_no_primary_key() -> None:
    columns = (replace(ID, roles=frozenset({"handle", "unique"})), V, N)
    event = change("delete", row(1, "x", 1, columns=columns), None)
    message = from_event(event, Settings(delete_only_handle_key=True))
    assert (message.pk_names, message.data) == ((), ((("id", "1"),),))


def test_names_of_the_primary_key_are_in_the_order_of_the_table() -> None:
    event = replace(INSERT, table=Table("t", "s", key=("n", "id")))
    assert from_event(event).pk_names == ("id", "n")
    images = ImageWriter(Settings(), (Table("t", "s", columns=(N, V, ID), key=("id", "n")),))
    assert from_event(event, images=images).pk_names == ("n", "id")


@pytest.mark.parametrize("time_zone", [None, "+08:00"])
def test_zone_of_a_timestamp_is_what_the_option_says(time_zone: str | None) -> None:
    column = Column("c", parse_kind("timestamp"), "timestamp")
    event = change("insert", None, Image((column,), ("2024-01-01 00:00:00",)))
    found = events_of(from_event(event), Settings(time_zone=time_zone))[0]
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert getattr(found.after.columns[0].type, "zone", 0) == time_zone


def test_columns_of_the_primary_key_are_marked() -> None:
    found = read(from_event(INSERT))
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert [column.roles for column in found.after.columns] == [{"primary"}, set(), set()]


DEFINED = Table(
    "t",
    "s",
    columns=(
        replace(ID, nullable=False),
        replace(V, type=TextType(7)),
        Column("n", IntType(32)),
        Column("e", EnumType(("a", "b"), "label")),
    ),
    key=("id",),
)


def test_definition_adds_what_mysqltype_leaves_open() -> None:
    found = events_of(from_event(INSERT), definitions=Definitions((DEFINED,)))[0]
    assert isinstance(found, RowChange)
    assert found.after is not None
    number, text, small = found.after.columns
    assert number.nullable is False
    assert number.roles == {"primary", "handle"}
    assert text.type == TextType(7)
    assert small.type == IntType(8, True)  # the definition has another kind


def test_definition_tells_the_type_of_a_column_that_mysqltype_does_not_name() -> None:
    message = replace(
        from_event(INSERT), mysql_type=(("id", "int"),), data=((("id", "1"), ("e", "2")),)
    )
    definitions = Definitions((DEFINED,))
    found = read_object(write_object(message), definitions=definitions)
    assert found is not None
    (event,) = events_of(found, definitions=definitions)
    assert image_of(event) == {"id": 1, "e": 2}


@pytest.mark.parametrize(("version", "length"), [(5, 5), (6, 6), (7, None), (None, None)])
def test_definition_is_that_of_the_version(version: int | None, length: int | None) -> None:
    tables = tuple(
        replace(DEFINED, version=each, columns=(ID, replace(V, type=TextType(each))))
        for each in (5, 6)
    )
    definitions = Definitions(tables)
    message = replace(
        from_event(INSERT), mysql_type=(("id", "int"), ("v", "varchar"), ("n", "int"))
    )
    (event,) = events_of(message, definitions=definitions, version=version)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after.columns[1].type == TextType(length)


def test_watermark_needs_the_extension_and_comes_back() -> None:
    event = Progress("watermark", Position(commit_ts=COMMIT_TS))
    message = from_event(event, EXTENDED)
    assert message.tidb == Extension(watermark_ts=COMMIT_TS)
    found = read(message)
    assert isinstance(found, Progress)
    assert (found.what, found.position.commit_ts, found.position.commit_ms) == (
        "watermark",
        COMMIT_TS,
        ES,
    )
    with pytest.raises(EncodeError) as caught:
        from_event(event)
    assert caught.value.clause == "canal-json: watermarks"


@pytest.mark.parametrize("code", [1, 3, 4, 5, 7, 8, 11, 14, 42, 47, 72, 255])
def test_ddl_has_the_type_of_its_code(code: int) -> None:
    event = SchemaChange("query", "DDL <1>", code, Table("t", "s"), Position(commit_ts=COMMIT_TS))
    message = from_event(event, EXTENDED)
    assert (message.is_ddl, message.type) == (True, schema_change_kind(code).upper())
    assert (message.data, message.old, message.sql_type, message.pk_names) == (None,) * 4
    found = read(message)
    assert isinstance(found, SchemaChange)
    assert (found.what, found.query, found.code) == (schema_change_kind(code), "DDL <1>", None)
    assert (found.table, found.position.commit_ts) == (Table("t", "s"), COMMIT_TS)


def test_ddl_without_a_code_is_written_by_its_kind() -> None:
    event = SchemaChange("rename", "q", None, None, Position(commit_ts=COMMIT_TS))
    message = from_event(event)
    assert (message.type, message.database, message.table) == ("RENAME", "", "")
    found = read(message)
    assert isinstance(found, SchemaChange)
    assert found.table is None


def test_ddl_of_a_database_has_no_table() -> None:
    event = SchemaChange("query", "q", 1, Table(None, "s"), Position(commit_ts=COMMIT_TS))
    found = read(from_event(event))
    assert isinstance(found, SchemaChange)
    assert found.table == Table(None, "s")


@pytest.mark.parametrize(
    ("position", "times"),
    [
        (Position(commit_ts=COMMIT_TS), (ES, ES)),
        (Position(commit_ts=COMMIT_TS, commit_ms=5), (5, 5)),
        (Position(commit_ms=5, sent_ms=9), (5, 9)),
    ],
)
def test_times_are_the_events_own_first(position: Position, times: tuple[int, int]) -> None:
    message = from_event(replace(INSERT, position=position))
    assert (message.es, message.ts) == times


def test_time_of_sending_is_what_the_option_says_where_the_event_has_none() -> None:
    settings = Settings(sent_ms=77)
    assert from_event(INSERT, settings).ts == 77
    sent = replace(INSERT, position=Position(commit_ts=1, sent_ms=3))
    assert from_event(sent, settings).ts == 3


def test_extra_of_a_row_comes_back() -> None:
    extra: Extra = {"row_key": b"\x00\xff", "message_id": "-12", "gtid": "a:1"}
    found = read(from_event(replace(INSERT, extra=extra), EXTENDED))
    assert isinstance(found, RowChange)
    assert dict(found.extra) == extra


def test_a_row_with_origin_and_checksum_has_its_key_only_and_comes_back() -> None:
    extra: Extra = {"origin_ts": "18446744073709551615", "checksum": b"\x00\xff"}
    key = Image.of([pair for pair in INSERT.after.pairs if pair[0].name == "id"])  # type: ignore[union-attr]  # it has one
    event = replace(INSERT, after=key, sent="key", extra=extra)
    message = from_event(event, EXTENDED)
    assert message.tidb is not None
    assert not message.tidb.only_handle_key
    found = read(message)
    assert isinstance(found, RowChange)
    assert (found.sent, dict(found.extra)) == ("key", extra)


def test_columns_that_are_not_wanted_are_left_out() -> None:
    message = from_event(UPDATE)
    selection = Selection(columns=frozenset({"v"}))
    (event,) = events_of(message, selection=selection)
    assert (image_of(event, "before"), image_of(event)) == ({"v": None}, {"v": "y"})


def test_definition_in_the_writer_gives_parameters_and_labels() -> None:
    columns = (Column("e", EnumType(form="label")), Column("v", TextType()))
    images = ImageWriter(
        Settings(content_compatible=True),
        (
            Table(
                "t",
                "s",
                columns=(
                    Column("e", EnumType(("a", "b"), "label"), "enum('a','b')"),
                    Column("v", TextType(9), "char(9)"),
                ),
            ),
        ),
    )
    event = change("insert", None, Image(columns, ("b", "x")))
    message = from_event(event, Settings(content_compatible=True), images)
    assert message.data == ((("e", "2"), ("v", "x")),)
    assert message.mysql_type == (("e", "enum('a','b')"), ("v", "char(9)"))


REFUSED = {
    "upsert": (change("upsert", None, row(1, "x", 1)), EXTENDED, "event types", ("op",)),
    "half": (replace(UPDATE, half="before"), EXTENDED, "event types", ("half",)),
    "marker": (Marker("begin", "1", Position(commit_ts=1)), EXTENDED, "event types", ("what",)),
    "resolved": (
        Progress("resolved", Position(commit_ts=1)),
        EXTENDED,
        "event types",
        ("what",),
    ),
    "insert without row": (change("insert", None, None), EXTENDED, "row events", ("after",)),
    "delete without row": (change("delete", None, None), EXTENDED, "row events", ("before",)),
    "insert with two rows": (
        change("insert", row(1, "x", 1), row(1, "x", 1)),
        EXTENDED,
        "row events",
        ("before",),
    ),
    "no schema": (replace(INSERT, table=Table("t")), EXTENDED, "members", ("table",)),
    "old of another type": (
        change("update", Image((replace(ID, type=IntType(64)),), (1,)), row(1, "x", 1)),
        EXTENDED,
        "old",
        ("id",),
    ),
    "old of a column that is gone": (
        change("update", Image((replace(ID, name="z"),), (1,)), row(1, "x", 1)),
        EXTENDED,
        "old",
        ("z",),
    ),
    "value of no kind": (
        change("insert", None, row("x", "x", 1)),
        EXTENDED,
        "integer values",
        None,
    ),
    "no commit_ts": (
        replace(INSERT, position=Position(commit_ms=1)),
        EXTENDED,
        "tidb extension",
        ("position", "commit_ts"),
    ),
    "no time": (replace(INSERT, position=Position()), Settings(), "members", None),
    "ddl without query": (
        SchemaChange("query", None, 1, None, Position(commit_ts=1)),
        EXTENDED,
        "ddl events",
        ("query",),
    ),
    "message id": (
        replace(INSERT, extra={"message_id": "x"}),
        EXTENDED,
        "official canal",
        ("extra", "message_id"),
    ),
    "gtid of bytes": (
        replace(INSERT, extra={"gtid": b"x"}),
        EXTENDED,
        "official canal",
        ("extra", "gtid"),
    ),
    "origin timestamp of letters": (
        replace(INSERT, extra={"origin_ts": "x"}),
        EXTENDED,
        "tidb extension",
        ("extra", "origin_ts"),
    ),
    "checksum of text": (
        replace(INSERT, extra={"checksum": "x"}),
        EXTENDED,
        "tidb extension",
        ("extra", "checksum"),
    ),
    "row key of text": (
        replace(INSERT, extra={"row_key": "x"}),
        EXTENDED,
        "tidb extension",
        ("extra", "row_key"),
    ),
    "cut without extension": (
        replace(INSERT, sent="key"),
        Settings(),
        "handle key only",
        ("sent",),
    ),
    "claim check without extension": (
        replace(INSERT, sent="key", extra={"claim_check": "x"}),
        Settings(),
        "claim check",
        ("extra", "claim_check"),
    ),
}


@pytest.mark.parametrize(("event", "settings", "clause", "path"), REFUSED.values(), ids=REFUSED)
def test_event_that_has_no_message_is_refused(
    event: Event, settings: Settings, clause: str, path: tuple[str, ...] | None
) -> None:
    with pytest.raises(EncodeError) as caught:
        from_event(event, settings)
    assert caught.value.clause == f"canal-json: {clause}"
    if path is not None:
        assert caught.value.path[-len(path) :] == path
