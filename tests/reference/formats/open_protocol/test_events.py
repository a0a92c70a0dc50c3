"""Messages to neutral events and back, option by option."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from cdcwire.core.context import Selection
from cdcwire.core.errors import EncodeError
from cdcwire.formats.open_protocol import Column, Ddl, Item, Key, Message, Row, Settings, from_event
from cdcwire.formats.open_protocol.events import ColumnWriter, events_of
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Path,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import (
    UNAVAILABLE,
    ArrayType,
    DatetimeType,
    EnumType,
    FloatType,
    IntType,
    TextType,
    TimestampType,
    Type,
    UnknownType,
)
from cdcwire.model.kinds import Column as ModelColumn
from cdcwire.mysql.types import column_of

ID = Column("id", 3, True, 11, 1)
NOTE = Column("note", 15, False, 64, b"x")
PRICE = Column("price", 246, False, 65, "1.50")
OLD_NOTE = NOTE._replace(value=None)
KEY = Key(5, 1, "s", "t")
TABLE = Table("t", "s", key=("id",))
COLUMNS = tuple(column_of(c.name, c.type, c.flag) for c in (ID, NOTE, PRICE))
FULL = Image(COLUMNS, (1, "x", Decimal("1.50")))
OLD = Image(COLUMNS, (1, None, Decimal("1.50")))
KEY_ONLY = Image(COLUMNS[:1], (1,))
AT = Position(commit_ts=5)

INSERT = RowChange(TABLE, "insert", None, FULL, AT)
UPDATE = RowChange(TABLE, "update", OLD, FULL, AT)
DELETE = RowChange(TABLE, "delete", FULL, None, AT)
ALL = (ID, NOTE, PRICE)
OLD_ALL = (ID, OLD_NOTE, PRICE)

DELETE_ONLY = Settings(delete_only_handle_key=True)
ONLY_UPDATED = Settings(only_updated_columns=True)
NO_OLD = Settings(output_old_value=False)


@pytest.mark.parametrize(
    ("item", "event", "settings"),
    [
        pytest.param(Item(KEY, Row(u=ALL)), INSERT, Settings(), id="insert"),
        pytest.param(Item(KEY, Row(u=ALL, p=OLD_ALL)), UPDATE, Settings(), id="update"),
        pytest.param(Item(KEY, Row(d=ALL)), DELETE, Settings(), id="delete"),
        pytest.param(
            Item(replace(KEY, ptn=82, rid=-7), Row(u=ALL)),
            replace(INSERT, position=replace(AT, partition=82), extra={"row_id": "-7"}),
            Settings(),
            id="partition-and-row-id",
        ),
        pytest.param(
            Item(KEY, Row(d=(ID,))),
            replace(DELETE, before=KEY_ONLY, sent="key"),
            DELETE_ONLY,
            id="delete-only-handle-key",
        ),
        pytest.param(
            Item(KEY, Row(u=ALL, p=(OLD_NOTE,))),
            replace(UPDATE, before=Image(COLUMNS[1:2], (None,)), sent="changed"),
            ONLY_UPDATED,
            id="only-updated-columns",
        ),
        pytest.param(
            Item(replace(KEY, ohk=True), Row(u=(ID,), p=(ID,))),
            replace(UPDATE, before=KEY_ONLY, after=KEY_ONLY, sent="key"),
            Settings(),
            id="handle-key-only",
        ),
        pytest.param(
            Item(replace(KEY, ccl="file:///x.json"), Row(d=(ID,))),
            replace(DELETE, before=KEY_ONLY, sent="key", extra={"claim_check": "file:///x.json"}),
            Settings(),
            id="claim-check-without-its-file",
        ),
        pytest.param(
            Item(Key(5, 2, "s", "t"), Ddl("ALTER TABLE t", 5)),
            SchemaChange("alter", "ALTER TABLE t", 5, Table("t", "s"), AT),
            Settings(),
            id="ddl",
        ),
        pytest.param(
            Item(Key(5, 2, "s"), Ddl("DROP DATABASE s", 2)),
            SchemaChange("query", "DROP DATABASE s", 2, Table(None, "s"), AT),
            Settings(),
            id="ddl-of-a-schema",
        ),
        pytest.param(
            Item(Key(5, 2), Ddl("", 200)),
            SchemaChange("query", "", 200, None, AT),
            Settings(),
            id="ddl-without-names",
        ),
        pytest.param(Item(Key(5, 3), None), Progress("resolved", AT), Settings(), id="resolved"),
    ],
)
def test_event_both_ways(item: Item, event: Event, settings: Settings) -> None:
    assert events_of(Message((item,)), settings) == [event]
    assert from_event(event, settings) == item


@pytest.mark.parametrize(
    ("event", "settings", "value"),
    [
        pytest.param(UPDATE, NO_OLD, Row(u=ALL), id="update-without-old-value"),
        pytest.param(replace(UPDATE, before=None), NO_OLD, Row(u=ALL), id="old-value-not-there"),
        pytest.param(DELETE, DELETE_ONLY, Row(d=(ID,)), id="delete-cut-to-its-key"),
        pytest.param(UPDATE, ONLY_UPDATED, Row(u=ALL, p=(OLD_NOTE,)), id="update-cut-to-changes"),
        pytest.param(
            replace(UPDATE, before=FULL), ONLY_UPDATED, Row(u=ALL, p=()), id="update-of-nothing"
        ),
    ],
)
def test_options_choose_what_is_sent(event: Event, settings: Settings, value: Row) -> None:
    assert from_event(event, settings).value == value


def test_empty_old_columns_make_an_insert() -> None:
    assert events_of(Message((Item(KEY, Row(u=ALL, p=())),))) == [INSERT]


def test_handle_key_of_old_producers_is_known_by_h_alone() -> None:
    event = events_of(Message((Item(KEY, Row(u=(ID._replace(flag=0), NOTE))),)))[0]
    assert isinstance(event, RowChange)
    assert event.table.key == ("id",)


def test_rows_of_one_layout_share_their_columns() -> None:
    first, second = events_of(Message((Item(KEY, Row(u=ALL)), Item(KEY, Row(u=OLD_ALL)))))
    assert isinstance(first, RowChange)
    assert isinstance(second, RowChange)
    assert first.after is not None
    assert second.after is not None
    assert first.after.columns is second.after.columns


def test_selection_of_columns_keeps_the_key_known() -> None:
    selection = Selection(columns=frozenset({"note"}))
    event = events_of(Message((Item(KEY, Row(u=ALL)),)), selection=selection)[0]
    assert event == replace(INSERT, after=Image(COLUMNS[1:2], ("x",)))


def test_time_zone_of_timestamps_is_given_by_the_option() -> None:
    column = Column("at", 7, False, 65, "2021-04-06 12:34:56")
    message = Message((Item(KEY, Row(u=(ID, column))),))
    event = events_of(message, Settings(time_zone="+08:00"))[0]
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after.columns[1].type == TimestampType(zone="+08:00")
    assert from_event(event, Settings(time_zone="+08:00")).value == Row(u=(ID, column))
    moved = from_event(event, Settings(time_zone="UTC")).value
    assert moved == Row(u=(ID, column._replace(value="2021-04-06 04:34:56")))


def _insert(kind: Type, value: object, source: str | None = None) -> RowChange:
    return replace(INSERT, after=Image((ModelColumn("v", kind, source),), (value,)))


@pytest.mark.parametrize(
    ("event", "settings", "path", "clause"),
    [
        pytest.param(
            Marker("begin", position=AT), Settings(), ("what",), "event types", id="marker"
        ),
        pytest.param(
            Progress("heartbeat", AT), Settings(), ("what",), "event types", id="heartbeat"
        ),
        pytest.param(replace(INSERT, op="upsert"), Settings(), ("op",), "event types", id="upsert"),
        pytest.param(replace(INSERT, op="read"), Settings(), ("op",), "event types", id="read"),
        pytest.param(
            replace(UPDATE, half="after"), Settings(), ("half",), "event types", id="half"
        ),
        pytest.param(
            replace(INSERT, position=Position()),
            Settings(),
            ("position", "commit_ts"),
            "key members",
            id="no-commit-ts",
        ),
        pytest.param(
            replace(INSERT, position=replace(AT, partition=0)),
            Settings(),
            ("position", "partition"),
            "partition",
            id="partition-0",
        ),
        pytest.param(
            replace(INSERT, table=Table("t")), Settings(), ("table",), "key members", id="no-schema"
        ),
        pytest.param(
            replace(INSERT, extra={"row_id": "x"}),
            Settings(),
            ("extra", "row_id"),
            "row id",
            id="row-id",
        ),
        pytest.param(
            replace(INSERT, extra={"claim_check": b"x"}),
            Settings(),
            ("extra", "claim_check"),
            "claim check",
            id="location-of-bytes",
        ),
        pytest.param(
            replace(INSERT, after=None), Settings(), ("after",), "row value", id="insert-of-nothing"
        ),
        pytest.param(
            replace(INSERT, before=FULL), Settings(), ("before",), "row value", id="insert-with-old"
        ),
        pytest.param(
            replace(DELETE, before=None),
            Settings(),
            ("before",),
            "row value",
            id="delete-of-nothing",
        ),
        pytest.param(
            replace(DELETE, after=FULL), Settings(), ("after",), "row value", id="delete-with-new"
        ),
        pytest.param(
            replace(UPDATE, before=None),
            Settings(),
            ("before",),
            "output old value",
            id="old-value-not-sent",
        ),
        pytest.param(
            replace(UPDATE, before=Image((), ())),
            Settings(),
            ("before",),
            "only updated columns",
            id="no-old-column",
        ),
        pytest.param(
            replace(UPDATE, sent="changed"),
            Settings(),
            ("sent",),
            "only updated columns",
            id="changed-without-option",
        ),
        pytest.param(
            replace(DELETE, table=replace(TABLE, key=())),
            DELETE_ONLY,
            (),
            "delete only handle key",
            id="no-handle-key",
        ),
        pytest.param(
            SchemaChange("alter", None, 5, None, AT),
            Settings(),
            ("query",),
            "ddl value",
            id="query",
        ),
        pytest.param(
            SchemaChange("alter", "q", None, None, AT),
            Settings(),
            ("code",),
            "ddl value",
            id="code",
        ),
        pytest.param(
            _insert(IntType(8), 128), Settings(), ("after", "v"), "integer values", id="too-wide"
        ),
        pytest.param(
            _insert(FloatType(32), 0.1),
            Settings(),
            ("after", "v"),
            "float values",
            id="not-float32",
        ),
        pytest.param(
            _insert(TextType(), "\ud800"),
            Settings(),
            ("after", "v"),
            "string values",
            id="lone-surrogate",
        ),
        pytest.param(
            _insert(TextType(), UNAVAILABLE),
            Settings(),
            ("after", "v"),
            "string values",
            id="unavailable",
        ),
        pytest.param(
            _insert(UnknownType(), 1),
            Settings(),
            ("after", "v"),
            "types without values",
            id="unknown",
        ),
        pytest.param(
            _insert(EnumType(form="label"), "a"),
            Settings(),
            ("after", "v"),
            "integer values",
            id="label-without-labels",
        ),
        pytest.param(
            _insert(TimestampType(zone="UTC"), "2021-04-06 12:34:56"),
            Settings(),
            ("after", "v"),
            "text values",
            id="zone-without-option",
        ),
        pytest.param(
            _insert(ArrayType(IntType(8)), (1,)),
            Settings(),
            ("after", "v"),
            "column members",
            id="array",
        ),
    ],
)
def test_event_that_has_no_form_is_not_encoded(
    event: Event, settings: Settings, path: Path, clause: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        from_event(event, settings)
    assert (caught.value.path, caught.value.clause) == (path, f"open-protocol: {clause}")


def test_key_decides_which_columns_are_flagged() -> None:
    event = replace(INSERT, table=replace(TABLE, key=("note",)))
    row = from_event(event).value
    assert isinstance(row, Row)
    assert [(c.name, c.h, c.flag & 2) for c in row.u or ()] == [
        ("id", False, 0),
        ("note", True, 2),
        ("price", False, 0),
    ]


def test_roles_decide_where_the_key_is_not_known() -> None:
    row = from_event(replace(INSERT, table=replace(TABLE, key=None))).value
    assert row == Row(u=ALL)


def test_table_definition_completes_columns_of_a_bare_kind() -> None:
    labels = ("a", "b")
    definition = Table(
        "t",
        "s",
        columns=(
            column_of("id", 3, 11),
            ModelColumn("kind", EnumType(labels), "enum('a','b')", True),
            column_of("none", 12, 65),
        ),
    )
    bare = Image(
        (
            ModelColumn("id", IntType(32)),
            ModelColumn("kind", EnumType(form="label")),
            ModelColumn("none", UnknownType()),
            ModelColumn("more", DatetimeType()),
        ),
        (1, "b", None, "2021-04-06 00:00:00"),
    )
    row = from_event(replace(INSERT, after=bare), columns=ColumnWriter(None, (definition,))).value
    assert row == Row(
        u=(
            ID,
            Column("kind", 247, False, 64, 2),
            Column("none", 12, False, 65, None),
            Column("more", 12, False, 65, "2021-04-06 00:00:00"),
        )
    )
