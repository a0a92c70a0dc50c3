"""The prediction of what comes back from CDL and Debezium, where no codec is needed to check it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from cdcwire.model.events import Image, Marker, Position, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import (
    UNAVAILABLE,
    ArrayType,
    BytesType,
    Column,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    IntervalType,
    IntType,
    JsonType,
    MapType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    Value,
    VectorType,
)
from cdcwire.registry import get_format
from cdcwire_generators.connect.columns import conversion_of, sent_column
from cdcwire_generators.connect.times import Modes
from cdcwire_generators.messages import expected_events
from cdcwire_generators.round_trip import NotCarriedError, Options

CDL, DEBEZIUM = get_format("cdl-json"), get_format("debezium-json")
CONNECT = "org.apache.kafka.connect.data."
OF_CDL, OF_DEBEZIUM = Modes("cdl 1.0"), Modes("debezium", placeholder="?")

ID = Column("id", IntType(32), "int32", False)
NOTE = Column("note", TextType(), "string", True)
NAME = Column("name", TextType(), "string", False)
OLD, NEW = Image((ID, NOTE), (1, "old")), Image((ID, NOTE), (1, "new"))
AT = Position(lsn=5, tx_id="6", commit_ms=7, sent_ms=8)
UPDATE = RowChange(Table("t", "s", key=("id",)), "update", OLD, NEW, AT)
DELETE = replace(UPDATE, op="delete", after=None)


@pytest.mark.parametrize(
    ("kind", "modes", "declared", "source", "value", "found"),
    [
        (IntType(24), OF_CDL, IntType(32), "int32", -5, -5),
        (IntType(32, True), OF_DEBEZIUM, IntType(64), "int64", 5, 5),
        (IntType(64, True), OF_CDL, DecimalType(), "com.xxx.cdc.data.Decimal", 5, Decimal(5)),
        (IntType(64, True), OF_DEBEZIUM, DecimalType(None, 0), f"{CONNECT}Decimal", 5, Decimal(5)),
        (DateType(), OF_CDL, DateType("d"), f"{CONNECT}Date", "1970-01-02", 1),
        (DateType(), OF_DEBEZIUM, DateType("d"), "io.debezium.time.Date", "1969-12-31", -1),
        (
            TimeType(),
            OF_DEBEZIUM,
            TimeType(form="us"),
            "io.debezium.time.MicroTime",
            "-00:00:01.5",
            -1_500_000,
        ),
        (
            DatetimeType(3),
            OF_DEBEZIUM,
            DatetimeType(form="ms"),
            "io.debezium.time.Timestamp",
            "1970-01-01 00:00:01.250",
            1250,
        ),
        (
            DatetimeType(),
            OF_DEBEZIUM,
            DatetimeType(form="us"),
            "io.debezium.time.MicroTimestamp",
            "1970-01-01 00:00:01",
            1_000_000,
        ),
        (
            DatetimeType(),
            Modes("cdl 2.0"),
            DatetimeType(),
            "com.xxx.cdc.data.timestamp",
            "2024-01-01 00:00:00",
            "2024-01-01 00:00:00.000",
        ),
        (
            TimestampType(zone="+08:00"),
            OF_CDL,
            TimestampType(form="text", zone="+00:00"),
            "io.debezium.time.ZonedTimestamp",
            "2024-01-01 00:00:00",
            "2023-12-31 16:00:00",
        ),
        (
            EnumType(("a", "b")),
            OF_CDL,
            EnumType(("a", "b"), "label"),
            "io.debezium.data.Enum",
            2,
            "b",
        ),
        (VectorType(), OF_CDL, TextType(), "string", (1.0, -2.5), "[1,-2.5]"),
        (
            ArrayType(DateType()),
            OF_CDL,
            ArrayType(DateType("d")),
            f"array of {CONNECT}Date",
            (),
            (),
        ),
    ],
    ids=str,
)
def test_column_and_value_come_back_in_connects_types(
    kind: Type, modes: Modes, declared: Type, source: str, value: Value, found: Value
) -> None:
    here = conversion_of(kind, None, modes)
    assert (here.type, here.source, here.value(value)) == (declared, source, found)


@pytest.mark.parametrize(
    ("kind", "modes", "value", "found"),
    [
        (DecimalType(5, 2), Modes("debezium", decimals="string"), Decimal("1.50"), "1.50"),
        (DecimalType(5, 2), Modes("debezium", decimals="double"), Decimal("1.50"), 1.5),
        (DecimalType(5, 2), OF_DEBEZIUM, Decimal("1.5"), Decimal("1.50")),
        (DecimalType(), OF_DEBEZIUM, Decimal("-0.0"), Decimal("0.0")),
        (TimeType(form="us"), Modes("debezium", times="connect"), 5_000, 5),
        (TimeType(form="ms"), Modes("debezium", times="adaptive_time_microseconds"), 5, 5_000),
        (DatetimeType(form="ms"), Modes("debezium", times="microseconds"), 5, 5_000),
        (TimeType(form="us"), Modes("debezium", times="nanoseconds"), 5, 5_000),
        (DateType("d"), Modes("debezium", times="isostring"), 19782, "2024-02-29Z"),
        (TimeType(), Modes("debezium", times="isostring"), "01:02:03.50", "01:02:03.5Z"),
        (
            DatetimeType(form="us"),
            Modes("debezium", times="isostring"),
            1,
            "1970-01-01T00:00:00.000001Z",
        ),
        (BytesType(), Modes("debezium", binary="hex"), b"\x0f", "0f"),
        (
            IntervalType("us"),
            Modes("debezium", intervals="string"),
            -1_500_000,
            "P0Y0M0DT0H0M-1.5S",
        ),
        (
            MapType(TextType(), TextType()),
            Modes("debezium", maps="json"),
            (("k", "v"),),
            '{"k":"v"}',
        ),
    ],
    ids=str,
)
def test_modes_of_debezium_give_values_other_forms(
    kind: Type, modes: Modes, value: Value, found: Value
) -> None:
    assert repr(conversion_of(kind, None, modes).value(value)) == repr(found)


@pytest.mark.parametrize(
    ("kind", "modes", "value"),
    [
        (IntType(8), OF_CDL, 128),
        (DecimalType(5, 2), OF_DEBEZIUM, Decimal("1.005")),
        (DecimalType(), OF_DEBEZIUM, Decimal("NaN")),
        (DateType(), OF_CDL, "0000-00-00"),
        (DatetimeType(), OF_CDL, "2024-01-01 00:00:00.123456"),
        (DatetimeType(), OF_CDL, "2024-01-01 24:00:00"),
        (TimeType(form="ms"), OF_CDL, -1),
        (TimeType(form="ms"), OF_DEBEZIUM, 1 << 31),
        (EnumType(), OF_CDL, 1),
        (TextType(), OF_CDL, b"\xff"),
        (TextType(), OF_CDL, "\ud800"),
    ],
    ids=str,
)
def test_value_without_form_is_refused(kind: Type, modes: Modes, value: Value) -> None:
    with pytest.raises(NotCarriedError):
        conversion_of(kind, None, modes).value(value)


def test_column_keeps_the_name_of_its_type_but_not_its_roles() -> None:
    column = Column("c", TextType(9), "io.debezium.data.Uuid", None, roles=frozenset({"unique"}))
    assert sent_column(column, OF_DEBEZIUM) == Column(
        "c", TextType(), "io.debezium.data.Uuid", True
    )


@pytest.mark.parametrize(
    ("columns", "values", "is_whole"),
    [
        ((ID, NOTE), (1, "old"), True),
        ((ID, NOTE), (1, None), False),
        ((ID, NOTE), (1, "***"), False),
        ((ID, NAME), (1, "old"), True),
        ((ID, NAME), (0, "old"), False),
        ((ID, NAME), (1, "0"), False),
        ((ID, NAME, NOTE), (1, "old", None), False),
        ((ID,), (1,), False),
    ],
)
def test_deleted_row_shows_whether_it_is_whole(
    columns: tuple[Column, ...], values: tuple[Value, ...], is_whole: bool
) -> None:
    row = Image(columns, values)
    (found,) = expected_events([replace(DELETE, before=row)], DEBEZIUM)
    assert isinstance(found, RowChange)
    wanted = (row, None) if is_whole else (Image((ID,), values[:1]), "key")
    assert (found.before, found.sent) == wanted


def test_delete_of_debezium_has_what_the_replica_identity_says() -> None:
    (cut,) = expected_events([DELETE], DEBEZIUM, {"replica-identity": "index"})
    (whole,) = expected_events([DELETE], DEBEZIUM, {"replica-identity": "full"})
    assert isinstance(cut, RowChange)
    assert isinstance(whole, RowChange)
    assert cut.before == Image((ID,), (1,))
    assert cut.sent == "key"
    assert (whole.before, whole.sent) == (OLD, None)


def test_delete_of_a_table_without_key_is_whole() -> None:
    (found,) = expected_events([replace(DELETE, table=Table("t", "s", key=()))], DEBEZIUM)
    assert isinstance(found, RowChange)
    assert (found.before, found.sent) == (OLD, None)


def test_new_key_is_three_messages_in_debezium_and_one_in_cdl() -> None:
    moved = replace(UPDATE, after=Image((ID, NOTE), (2, "new")))
    found = expected_events([moved], DEBEZIUM)
    assert [getattr(event, "op", event.__class__) for event in found] == [
        "delete",
        Marker,
        "insert",
    ]
    for through, options in ((CDL, {}), (DEBEZIUM, {"dialect": "cdl"})):
        (event,) = expected_events([moved], through, options)
        assert isinstance(event, RowChange)
        assert (event.op, event.before) == ("update", OLD)


def test_snapshot_row_is_an_insert_in_cdl() -> None:
    read = replace(UPDATE, op="read", before=None)
    ops = [
        event.op
        for through, options in ((CDL, {}), (DEBEZIUM, {}), (DEBEZIUM, {"read-r-as-c": True}))
        for event in expected_events([read], through, options)
        if isinstance(event, RowChange)
    ]
    assert ops == ["insert", "read", "insert"]


def test_source_is_given_by_debezium() -> None:
    (found,) = expected_events([UPDATE], DEBEZIUM, {"topic-prefix": "p", "database": "d"})
    assert isinstance(found, RowChange)
    assert found.table == Table("t", "s", "d", key=("id",))
    assert found.position == AT
    assert found.extra == {
        "connector": "postgresql",
        "connector_version": "1.4.0.Final",
        "source_name": "p",
        "snapshot": "false",
    }


def test_time_of_the_commit_is_that_of_its_tso() -> None:
    position = Position(commit_ts=(9 << 18) + 5)
    (found,) = expected_events([replace(UPDATE, position=position)], CDL)
    assert found.position == Position(commit_ms=9)
    with pytest.raises(NotCarriedError, match="commit_ms"):
        expected_events([replace(UPDATE, position=Position())], CDL)


@pytest.mark.parametrize("tx_id", ["007", "-0", "x", "", "9" * 19, "9" * 20])
def test_transaction_id_that_is_not_a_number_is_refused(tx_id: str) -> None:
    with pytest.raises(NotCarriedError):
        expected_events([replace(UPDATE, position=replace(AT, tx_id=tx_id))], CDL)


@pytest.mark.parametrize(
    ("event", "options"),
    [
        (replace(UPDATE, op="insert"), {}),
        (replace(DELETE, after=NEW), {}),
        (replace(UPDATE, after=None), {}),
        (replace(UPDATE, half="after"), {}),
        (replace(UPDATE, before=Image((ID,), (1,))), {}),
        (replace(UPDATE, after=Image((ID, NOTE), (None, "x"))), {}),
        (SchemaChange("alter", "ALTER …", 5, Table("t", "s"), AT), {}),
        (SchemaChange("truncate", None, None, Table("t", "s"), AT), {"dialect": "cdl"}),
        (Progress("resolved", AT), {}),
        (Progress("heartbeat", Position(commit_ms=1)), {}),
        (Marker("gtid", "1", AT), {}),
        (Marker("begin", None, AT), {}),
    ],
)
def test_event_without_message_is_refused(
    event: RowChange | SchemaChange | Progress | Marker, options: Options
) -> None:
    with pytest.raises(NotCarriedError):
        expected_events([event], DEBEZIUM, options)


def test_truncate_comes_back_without_its_statement() -> None:
    truncate = SchemaChange("truncate", "TRUNCATE t", 11, Table("t", "s", key=("id",)), AT)
    (found,) = expected_events([truncate], DEBEZIUM)
    assert isinstance(found, SchemaChange)
    assert (found.query, found.code, found.table) == (None, None, Table("t", "s"))


def test_unavailable_value_has_a_form_in_texts_of_debezium() -> None:
    image = Image((ID, NOTE), (1, UNAVAILABLE))
    (found,) = expected_events([replace(UPDATE, after=image)], DEBEZIUM)
    assert isinstance(found, RowChange)
    assert found.after == image
    for options in ({"dialect": "cdl"}, {"unavailable-value-placeholder": ""}):
        with pytest.raises(NotCarriedError, match="unavailable"):
            expected_events([replace(UPDATE, after=image)], DEBEZIUM, options)


def test_json_and_texts_of_other_names_are_what_they_were() -> None:
    for kind, source in ((JsonType(), "io.debezium.data.Json"), (TextType(), "string")):
        assert conversion_of(kind, source, OF_DEBEZIUM).source == source
