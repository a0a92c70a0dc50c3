"""The prediction of what comes back, where it needs no codec to be checked."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from cdcwire.core.options import OptionValue
from cdcwire.format import Format
from cdcwire.model.carries import NO, Carries
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import (
    UNAVAILABLE,
    BitType,
    BoolType,
    Column,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntervalType,
    IntType,
    Role,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    VectorType,
    YearType,
)
from cdcwire.registry import get_format
from cdcwire_generators.comparing import gathered
from cdcwire_generators.families.declared import schema_file_column
from cdcwire_generators.messages import expected_event, expected_events
from cdcwire_generators.round_trip import NotCarriedError

CRAFT = get_format("craft")
OPEN = get_format("open-protocol")
CSV = get_format("csv")
CANAL = get_format("canal-json")
TUPLE = get_format("datahub-tuple")
BLOB = get_format("datahub-blob")

ID = Column("id", IntType(64), "bigint", False, roles=frozenset({"primary", "handle"}))
NOTE = Column("note", TextType(20), "varchar(20)", True)
BEFORE = Image((NOTE, ID), ("old", 1))
AFTER = Image((NOTE, ID), ("new", 1))
UPDATE = RowChange(
    Table("t", "s", key=("id",)), "update", BEFORE, AFTER, Position(commit_ts=5, sequence_id=9)
)


def test_expected_leaves_out_positions_that_the_format_does_not_have() -> None:
    assert expected_event(UPDATE, CRAFT).position == Position(commit_ts=5)


def test_expected_columns_lose_what_the_wire_does_not_tell() -> None:
    found = expected_event(UPDATE, CRAFT)
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert [column.source for column in found.after.columns] == ["varchar", "bigint"]
    assert found.after.columns[0].type == TextType()


def test_expected_columns_are_sorted_by_the_older_producer_only() -> None:
    orders = []
    for dialect in ("tiflow", "ticdc"):
        found = expected_event(UPDATE, OPEN, {"dialect": dialect})
        assert isinstance(found, RowChange)
        assert found.after is not None
        orders.append(found.after.names)
    assert orders == [("id", "note"), ("note", "id")]


def test_expected_without_old_values_is_an_insert() -> None:
    found = expected_event(UPDATE, OPEN, {"output-old-value": False})
    assert isinstance(found, RowChange)
    assert (found.op, found.before) == ("insert", None)


def test_expected_with_updated_columns_only_has_those() -> None:
    found = expected_event(UPDATE, OPEN, {"only-output-updated-columns": True})
    assert isinstance(found, RowChange)
    assert found.before is not None
    assert (found.before.names, found.sent) == (("note",), "changed")


def test_expected_update_of_nothing_with_updated_columns_only_looks_like_an_insert() -> None:
    same = replace(UPDATE, before=AFTER)
    found = expected_event(same, OPEN, {"only-output-updated-columns": True})
    assert isinstance(found, RowChange)
    assert (found.op, found.before, found.sent) == ("insert", None, None)


def test_expected_delete_cut_to_a_key_that_is_not_there_is_refused() -> None:
    delete = replace(UPDATE, op="delete", after=None, table=Table("t", "s", key=()))
    with pytest.raises(NotCarriedError):
        expected_event(delete, CRAFT, {"delete-only-output-handle-key-columns": True})


@pytest.mark.parametrize(
    ("column", "value", "what"),
    [
        (Column("c", IntervalType()), "P1D", "interval"),
        (Column("c", IntType(8)), UNAVAILABLE, "unavailable"),
        (Column("c", EnumType(None, "label")), "a", "enum"),
    ],
    ids=["interval", "unavailable", "label-without-labels"],
)
def test_expected_value_that_the_format_refuses_is_refused(
    column: Column, value: object, what: str
) -> None:
    change = replace(UPDATE, op="insert", before=None, after=Image((column,), (value,)))
    with pytest.raises(NotCarriedError, match=what):
        expected_event(change, CRAFT)


def test_expected_bool_is_a_tinyint() -> None:
    image = Image((Column("c", BoolType()),), (True,))
    found = expected_event(replace(UPDATE, op="insert", before=None, after=image), CRAFT)
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert (found.after.columns[0].type, found.after.values) == (IntType(8), (1,))


def test_expected_marker_is_refused() -> None:
    with pytest.raises(NotCarriedError, match="markers"):
        expected_event(Marker("begin"), CRAFT)


def test_expected_schema_change_names_its_table_only() -> None:
    table = Table("t", "s", columns=(ID,), key=("id",))
    found = expected_event(
        SchemaChange("create", "CREATE …", 3, table, Position(commit_ts=1)), CRAFT
    )
    assert isinstance(found, SchemaChange)
    assert found.table == Table("t", "s")


def test_expected_follows_the_verdicts() -> None:
    """A format that says "no" to progress is taken at its word."""
    silent = replace(
        CRAFT, carries=Carries({**CRAFT.carries.fields, "progress": NO}, CRAFT.carries.kinds)
    )
    with pytest.raises(NotCarriedError, match="progress"):
        expected_event(Progress("resolved", Position(commit_ts=1)), silent)


def insert(column: Column, value: object) -> RowChange:
    image = Image((column,), (value,))
    return replace(UPDATE, op="insert", before=None, after=image, table=Table("t", "s", key=()))


def row(event: Event) -> RowChange:
    assert isinstance(event, RowChange)
    return event


def test_expected_of_csv_an_update_has_its_new_row_only() -> None:
    found = row(expected_event(UPDATE, CSV))
    assert (found.op, found.before, found.half, found.position) == (
        "update",
        None,
        None,
        Position(),
    )
    assert found.after is not None
    assert found.after.columns == (NOTE, ID)  # as the definition has them


def test_expected_of_csv_with_old_values_an_update_is_two_halves() -> None:
    halves = map(row, expected_events([UPDATE], CSV, {"output-old-value": True}))
    assert [(each.half, each.before, each.after) for each in halves] == [
        ("before", BEFORE, None),
        ("after", None, AFTER),
    ]


@pytest.mark.parametrize(
    ("kind", "value", "label"),
    [
        (EnumType(("a", "b")), 2, "b"),
        (SetType(("a", "b", "c")), 5, "a,c"),
        (SetType(("a", "b")), 0, ""),
    ],
)
def test_expected_of_csv_a_number_is_its_label(kind: Type, value: int, label: str) -> None:
    found = row(expected_event(insert(Column("c", kind), value), CSV))
    assert found.after is not None
    assert found.after.values == (label,)


@pytest.mark.parametrize(
    ("kind", "value"), [(EnumType(("a",)), 0), (EnumType(), 1), (SetType(("a",)), 2)]
)
def test_expected_of_csv_a_number_without_label_is_refused(kind: Type, value: int) -> None:
    with pytest.raises(NotCarriedError):
        expected_event(insert(Column("c", kind), value), CSV)


@pytest.mark.parametrize(
    ("options", "nullable", "value", "marks"),
    [
        ({"quote": "", "null": "NULL"}, True, None, "c"),
        ({"quote": "", "null": "NULL"}, False, "NULL", None),
        ({"quote": "", "null": "\\N"}, True, "NULL", None),
        ({"null": "NULL"}, True, "NULL", None),
    ],
    ids=["nullable", "not-null", "backslash", "quoted"],
)
def test_expected_of_csv_a_text_like_null_is_marked_where_it_may_be_null(
    options: dict[str, OptionValue], nullable: bool, value: str | None, marks: str | None
) -> None:
    column = Column("c", TextType(9), "varchar(9)", nullable)
    found = row(expected_event(insert(column, "NULL"), CSV, options))
    assert found.after is not None
    assert found.after.values == (value,)
    assert found.extra.get("ambiguous_null") == marks


@pytest.mark.parametrize(("value", "handle"), [(7, "7"), ((1 << 64) - 1, "-1")])
def test_expected_of_csv_a_handle_is_the_integer_key_as_a_signed_one(
    value: int, handle: str
) -> None:
    key = replace(ID, type=IntType(64, unsigned=True))
    change = replace(insert(key, value), table=Table("t", "s", key=("id",)))
    found = row(expected_event(change, CSV, {"output-handle-key": True}))
    assert found.extra == {"handle_key": handle}


def test_expected_of_canal_json_times_follow_from_the_commit() -> None:
    position = Position(commit_ts=5 << 18)
    found = expected_event(replace(UPDATE, position=position), CANAL, {"sent-time": "9"})
    assert found.position == Position(commit_ms=5, sent_ms=9)
    found = expected_event(
        replace(UPDATE, position=position), CANAL, {"enable-tidb-extension": True}
    )
    assert found.position == Position(commit_ts=5 << 18, commit_ms=5, sent_ms=5)


def test_expected_of_canal_json_columns_have_their_plain_types_but_in_full_ones() -> None:
    price = Column("price", DecimalType(10, 4), "decimal(10,4)")
    for options, expected in (
        ({}, (DecimalType(), "decimal")),
        ({"content-compatible": True}, (DecimalType(10, 4), "decimal(10,4)")),
    ):
        found = row(expected_event(insert(price, None), CANAL, options))
        assert found.after is not None
        (column,) = found.after.columns
        assert (column.type, column.source) == expected


def test_expected_of_canal_json_an_update_of_nothing_stays_an_update() -> None:
    same = replace(UPDATE, before=AFTER)
    found = row(expected_event(same, CANAL, {"only-output-updated-columns": True}))
    assert (found.op, found.before, found.sent) == ("update", Image((), ()), "changed")


def test_canal_json_unique_key_is_not_a_primary_key() -> None:
    roles: frozenset[Role] = frozenset({"unique", "handle"})
    unique = replace(ID, roles=roles)
    change = replace(insert(unique, 1), table=Table("t", "s", key=("id",)))
    assert row(expected_event(change, CANAL)).table.key == ()


def test_expected_of_canal_json_ill_formed_bytes_are_replaced_one_by_one() -> None:
    found = row(expected_event(insert(Column("c", TextType()), b"a\xff\xfe"), CANAL))
    assert found.after is not None
    assert found.after.values == ("a\ufffd\ufffd",)


AT = Position(commit_ts=5, sequence_id=9, commit_ms=7, sent_ms=8)


def test_expected_of_datahub_an_update_is_two_halves() -> None:
    for through, position in (
        (TUPLE, Position(sequence_id=9, commit_ms=7)),
        (BLOB, Position(sequence_id=9, commit_ms=7, sent_ms=8)),
    ):
        halves = list(map(row, expected_events([replace(UPDATE, position=AT)], through)))
        assert [each.half for each in halves] == ["before", "after"]
        assert [each.before and each.before.values for each in halves] == [("old", 1), None]
        assert [each.after and each.after.values for each in halves] == [None, ("new", 1)]
        assert {each.position for each in halves} == {position}


def test_expected_of_datahub_columns_are_those_of_the_definition_or_of_the_message() -> None:
    change = replace(insert(ID, 1), position=AT, table=Table("t", "s", key=("id",)))
    found = [row(expected_event(change, through)).after for through in (TUPLE, BLOB)]
    assert [image and image.columns for image in found] == [
        (Column("id", IntType(64), "BIGINT", False, roles=ID.roles),),
        (Column("id", IntType(64), "LONG", roles=frozenset({"primary"})),),
    ]


@pytest.mark.parametrize(
    ("kind", "value", "as_tuple", "as_blob"),
    [
        (IntType(24, unsigned=True), 5, ("int32", 5), ("int64", 5)),
        (IntType(64, unsigned=True), 1 << 63, ("text", str(1 << 63)), ("text", str(1 << 63))),
        (BitType(63), 5, ("int64", 5), ("int64", 5)),
        (BitType(64), 5, ("text", "5"), ("text", "5")),
        (YearType(), 2024, ("int32", 2024), ("int64", 2024)),
        (FloatType(32), 0.5, ("float32", 0.5), ("float64", 0.5)),
        (DecimalType(5, 2), Decimal("1.50"), ("decimal", Decimal("1.50")), ("text", "1.50")),
        (DateType("d"), 1, ("text", "1970-01-02"), ("text", "1970-01-02")),
        (EnumType(("a", "b")), 2, ("text", "b"), ("text", "b")),
        (EnumType(("a", "b")), 0, ("text", ""), ("text", "")),
        (SetType(("a", "b")), 3, ("text", "a,b"), ("text", "a,b")),
        (VectorType(), (1.0, -2.5), ("text", "[1,-2.5]"), ("text", "[1,-2.5]")),
        (
            TimestampType(6, "text", "+08:00"),
            "1970-01-01 08:00:00.5",
            ("timestamp", 500_000),
            ("text", "1970-01-01 00:00:00.5+00:00"),
        ),
        (
            TimestampType(3, "text", "+08:00"),
            "1970-01-01 08:00:00.5",
            ("timestamp", 500_000),
            ("timestamp", 500),
        ),
        (TimestampType(), "0000-00-00 00:00:00", *[("text", "0000-00-00 00:00:00")] * 2),
    ],
    ids=str,
)
def test_expected_of_datahub_a_value_has_the_narrowest_type(
    kind: Type, value: object, as_tuple: tuple[str, object], as_blob: tuple[str, object]
) -> None:
    change = replace(insert(Column("c", kind), value), position=AT)
    for through, expected in ((TUPLE, as_tuple), (BLOB, as_blob)):
        after = row(expected_event(change, through)).after
        assert after is not None
        assert (kind_text(after.columns[0].type), after.values[0]) == expected


@pytest.mark.parametrize(
    ("change", "through"),
    [
        (replace(insert(ID, 1), position=Position(commit_ts=5)), TUPLE),
        (replace(insert(ID, 1), position=AT, table=Table("t", None, key=())), BLOB),
        (replace(insert(ID, 1), position=AT, table=Table("t", "s", key=("k",))), BLOB),
        (replace(insert(ID, None), position=AT), TUPLE),
        (Marker("begin", "1", AT), BLOB),
        (Marker("tombstone", None, AT), BLOB),
        (SchemaChange("alter", "", 5, Table("t", "s"), AT), BLOB),
        (SchemaChange("alter", "ALTER", 5, Table("t", "s"), AT), TUPLE),
    ],
    ids=["position", "schema", "key", "null", "id", "marker", "statement", "ddl"],
)
def test_expected_of_datahub_what_has_no_place_is_refused(change: Event, through: Format) -> None:
    with pytest.raises(NotCarriedError):
        expected_event(change, through)


def test_expected_of_blob_an_event_says_its_version_and_source() -> None:
    extra = {"version": "1.0.0", "db_type": "mysql", "checkpoint_ms": "5", "row_id": "7"}
    expected = {"version": "1.0.0", "db_type": "mysql", "checkpoint_ms": "5"}
    assert expected_event(replace(insert(ID, 1), position=AT, extra=extra), BLOB).extra == expected
    assert expected_event(Marker("begin", None, AT), BLOB).extra == {"version": "0.0.1"}
    found = expected_event(
        SchemaChange("alter", "x", 5, Table("t", "s"), AT), BLOB, {"db-type": "Oracle"}
    )
    assert isinstance(found, SchemaChange)
    assert (found.code, found.extra) == (None, {"version": "0.0.1", "db_type": "Oracle"})


def test_expected_progress_of_another_kind_is_refused() -> None:
    for through in (CSV, CRAFT):
        with pytest.raises(NotCarriedError, match="progress"):
            expected_event(Progress("watermark", Position(commit_ts=1)), through)


def test_schema_file_column_has_every_number_and_no_index() -> None:
    roles: frozenset[Role] = frozenset({"unique", "generated"})
    expected = Column("c", DecimalType(), "decimal", None, roles=roles)
    generated: frozenset[Role] = frozenset({"generated"})
    assert schema_file_column(expected, "", None) == Column(
        "c", DecimalType(10, 0), "decimal(10,0)", True, roles=generated
    )
    assert schema_file_column(Column("c", TimeType()), "", None).type == TimeType(0)


def test_gathered_keeps_the_order_of_a_table_around_its_schema_changes() -> None:
    def change(table: str, number: int) -> RowChange:
        return replace(UPDATE, table=Table(table, "s"), position=Position(commit_ts=number))

    ddl = SchemaChange("alter", "ALTER …", 5, Table("b", "s"), Position(commit_ts=3))
    done = Progress("checkpoint", Position(commit_ts=9))
    events: list[Event] = [
        done,
        change("b", 1),
        change("a", 2),
        ddl,
        change("b", 4),
        change("a", 5),
    ]
    found = gathered(events)
    assert [event.position.commit_ts for event in found] == [1, 3, 2, 5, 4, 9]
    assert gathered(found) == found
