"""Debezium's JSON and CDL's 2.0: rules, other messages, options and dialects."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats import debezium_json
from cdcwire.formats.debezium_json import Change
from cdcwire.formats.debezium_json.format import FORMAT
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
from cdcwire.model.kinds import (
    UNAVAILABLE,
    BitType,
    BytesType,
    Column,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    MapType,
    TextType,
    TimestampType,
    TimeType,
)

DIALECTS = ("cdl", "debezium-1.4", "debezium-2.7", "debezium-3.2")
DEBEZIUM = DIALECTS[1:]
COLUMNS = '{"type":"int64","optional":true,"field":"count1"},' + (
    '{"type":"int32","optional":false,"field":"id"},{"type":"string","optional":true,"name":'
    '"com.xxx.cdc.data.timestamp","field":"time1"},{"type":"string","optional":true,"name":'
    '"com.xxx.cdc.data.Decimal","field":"decimalNum"}'
)
POSITION = Position(lsn=7, tx_id="8", commit_ms=1700000000123, sent_ms=1700000000456)
KEYED = Table("t", "public", "db", key=("id",))
EXTRA = {
    "connector": "postgresql",
    "connector_version": "1.4.0.Final",
    "source_name": "cdl",
    "snapshot": "false",
}
ID = Column("id", IntType(32), "int32", False)


def image(*pairs: tuple[Column, Any]) -> Image:
    return Image(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))


def change(op: Any, before: Image | None, after: Image | None, **more: Any) -> RowChange:
    return RowChange(KEYED, op, before, after, POSITION, extra=EXTRA, **more)


def back(events: list[Any], **options: Any) -> list[Any]:
    context = Context(options={name.replace("_", "-"): value for name, value in options.items()})
    messages = list(FORMAT.from_events(events, context=context))
    return [event for message in messages for event in FORMAT.to_events(message, context=context)]


def plain(*payload: tuple[str, Any]) -> bytes:
    return json.dumps(dict(payload)).encode()


SOURCE = {
    "version": "2.7.4.Final",
    "connector": "postgresql",
    "name": "cdl",
    "ts_ms": 1,
    "snapshot": "false",
    "db": "d",
    "schema": "public",
    "table": "t",
    "txId": 5,
    "lsn": 6,
}


def message(op: str = "c", **members: Any) -> bytes:
    payload = {"before": None, "after": {"id": 1}, "source": SOURCE, "op": op, "ts_ms": 2}
    return json.dumps({**payload, **members}).encode()


REFUSED: dict[str, tuple[bytes, str, tuple[str, ...]]] = {
    "op": (message("x"), "debezium-json: operation", ("op",)),
    "insert-before": (message(before={"id": 1}), "debezium-json: images", ("before",)),
    "insert-no-after": (message(after=None), "debezium-json: images", ("after",)),
    "delete-after": (message("d", before={"id": 1}), "debezium-json: images", ("after",)),
    "delete-no-before": (message("d", after=None), "debezium-json: images", ("before",)),
    "truncate-after": (message("t"), "debezium-json: images", ("after",)),
    "source-missing": (message(source=None), "debezium-json: members", ("source",)),
    "source-lsn": (
        message(source={**SOURCE, "lsn": "6"}),
        "debezium-json: source",
        ("source", "lsn"),
    ),
    "version": (
        message(message_version="1.0"),
        "debezium-json: message version",
        ("message_version",),
    ),
    "transaction": (
        message(transaction={"id": "1"}),
        "debezium-json: transaction block",
        ("transaction", "total_order"),
    ),
    "status": (
        plain(("status", "MIDDLE"), ("id", "1"), ("event_count", None)),
        "debezium-json: transaction boundaries",
        ("status",),
    ),
    "nothing": (plain(("a", 1)), "debezium-json: members", ()),
}


@pytest.mark.parametrize("case", REFUSED)
def test_message_that_breaks_a_rule_is_refused(case: str) -> None:
    data, clause, path = REFUSED[case]
    with pytest.raises(DecodeError) as caught:
        debezium_json.decode(data)
    assert (caught.value.clause, caught.value.path) == (clause, ("value", *path))
    assert 0 <= caught.value.offset < len(data)


def test_sample_of_the_document_comes_back_both_ways() -> None:
    row = '{"type":"struct","fields":[' + COLUMNS + '],"optional":true,"name":"%s","field":"%s"}'
    string = '{"type":"string","optional":false,"field":"%s"}'
    optional = '{"type":"int64","optional":true,"field":"%s"}'
    source = ",".join(
        [
            *(string % name for name in ("version", "connector", "name")),
            '{"type":"int64","optional":false,"field":"ts_ms"}',
            '{"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,'
            '"parameters":{"allowed":"true,last,false"},"default":"false","field":"snapshot"}',
            *(string % name for name in ("db", "schema", "table")),
            *(optional % name for name in ("txId", "lsn")),
        ]
    )
    data = (
        '{"schema":{"type":"struct","fields":['
        + ",".join(
            [
                row % ("before", "before"),
                row % ("data", "after"),
                '{"type":"struct","fields":['
                + source
                + '],"optional":false,"name":"io.debezium.connector.postgresql.Source",'
                '"field":"source"}',
                string % "op",
                '{"type":"int64","optional":false,"field":"ts_ms"}',
                string % "message_version",
                string % "message_type",
                '{"type":"string","optional":true,"field":"LOB_COLUMNS"}',
                '{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],'
                '"optional":true,"name":"unique","field":"unique"}',
            ]
        )
        + '],"optional":false,"name":"public.ct_pg2hudi"},"payload":{"before":null,"after":'
        '{"count1":14,"id":35,"time1":null,"decimalNum":null},"source":{"version":"1.4.0.Final",'
        '"connector":"postgresql","name":"cdl","ts_ms":1707048891235,"snapshot":"false","db":"cdl",'
        '"schema":"public","table":"ct_pg2hudi","txId":57227663,"lsn":163955586912},"op":"c",'
        '"ts_ms":1707048984208,"message_version":"2.0","message_type":"0","LOB_COLUMNS":null,'
        '"unique":{"id":35}}}'
    ).encode()
    assert len(data) == 2299
    assert debezium_json.encode(debezium_json.decode(data)) == (None, data)
    context = Context(options={"dialect": "cdl"})
    (event,) = FORMAT.to_events(KafkaMessage(None, data), context=context)
    assert isinstance(event, RowChange)
    assert event.table == Table("ct_pg2hudi", "public", "cdl", key=("id",))
    assert event.position.sent_ms == 1707048984208
    assert event.after is not None
    assert event.after.columns[2].type == DatetimeType(form="text")
    assert list(FORMAT.from_events([event], context=context)) == [KafkaMessage(None, data)]


ROWS: dict[str, RowChange] = {
    "insert": change("insert", None, image((ID, 1))),
    "update": change("update", image((ID, 1)), image((ID, 1))),
    "update-no-before": change("update", None, image((ID, 1))),
    "delete": change("delete", image((ID, 1)), None),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", ROWS)
def test_row_comes_back_in_every_dialect(case: str, dialect: str) -> None:
    assert back([ROWS[case]], dialect=dialect, replica_identity="full") == [ROWS[case]]


@pytest.mark.parametrize("dialect", DEBEZIUM)
def test_snapshot_row_is_a_read(dialect: str) -> None:
    event = replace(ROWS["insert"], op="read", extra={**EXTRA, "snapshot": "true"})
    assert back([event], dialect=dialect) == [event]
    (decoded,) = back([event], dialect=dialect, read_r_as_c=True)
    assert decoded.op == "insert"


@pytest.mark.parametrize("dialect", DEBEZIUM)
def test_key_change_is_split(dialect: str) -> None:
    event = change("update", image((ID, 1)), image((ID, 2)))
    gone, tombstone, new = back([event], dialect=dialect, replica_identity="full")
    assert (gone.op, gone.before, new.op, new.after) == (
        "delete",
        event.before,
        "insert",
        event.after,
    )
    assert b'{"id":1}' in tombstone.extra["message_key"]


OTHERS: dict[str, Event] = {
    "truncate": SchemaChange(
        "truncate", None, table=replace(KEYED, key=None), position=POSITION, extra=EXTRA
    ),
    "heartbeat": Progress("heartbeat", Position(sent_ms=5), {"source_name": "cdl"}),
    "begin": Marker("begin", "12:34", Position(sent_ms=5)),
    "end": Marker(
        "end",
        "12:35",
        Position(sent_ms=5),
        {"event_count": "2", "data_collections": '[["public.t",2]]'},
    ),
    "logical-message": Marker("logical_message", "p", POSITION, {**EXTRA, "content": b"\x00\xff"}),
    "tombstone": Marker("tombstone", extra={"message_key": None}),
}


@pytest.mark.parametrize("dialect", DEBEZIUM)
@pytest.mark.parametrize("case", OTHERS)
def test_other_message_comes_back(case: str, dialect: str) -> None:
    event = OTHERS[case]
    if case in ("begin", "end") and dialect == "debezium-1.4":
        event = replace(event, position=Position())  # which tells no time there
    assert back([event], dialect=dialect) == [event]


@pytest.mark.parametrize("case", [name for name in OTHERS if name != "tombstone"])
def test_other_message_has_no_form_in_cdl(case: str) -> None:
    with pytest.raises(EncodeError) as caught:
        back([OTHERS[case]], dialect="cdl")
    assert caught.value.clause.startswith("debezium-json: ")


def test_transaction_block_comes_back() -> None:
    extra = {**EXTRA, "transaction_id": "8:9", "data_collection_order": "1"}
    event = replace(ROWS["insert"], position=replace(POSITION, tx_order=2), extra=extra)
    for dialect in DEBEZIUM:
        assert back([event], dialect=dialect) == [event]


def test_snapshot_outside_the_list_is_kept_with_a_warning() -> None:
    found = debezium_json.decode(message(source={**SOURCE, "snapshot": "maybe"}))
    assert isinstance(found, Change)
    assert len(found.warnings) == 1
    assert found.source.snapshot == "maybe"


def test_mysql_database_is_the_schema() -> None:
    source = {k: v for k, v in SOURCE.items() if k != "schema"} | {"connector": "mysql"}
    (event,) = FORMAT.to_events(KafkaMessage(None, message(source=source)), context=Context())
    assert isinstance(event, RowChange)
    assert (event.table.schema, event.table.database) == ("d", None)


def test_delete_takes_other_columns_from_the_definition() -> None:
    columns = (
        ID,
        Column("n", IntType(32), None, False),
        Column("s", TextType(), None, False),
        Column("x", TextType(), None, True),
    )
    table = replace(KEYED, columns=columns)
    event = change("delete", image((ID, 1)), None, sent="key")
    context = Context(tables=(table,))
    (written,) = FORMAT.from_events([event], context=context)
    assert isinstance(written, KafkaMessage)
    assert written.value is not None
    before = json.loads(written.value)["payload"]["before"]
    assert before == {"id": 1, "n": 0, "s": "", "x": None}
    assert list(FORMAT.to_events(written, context=Context())) == [event]


def test_message_without_schema_has_the_given_types() -> None:
    day = Column("d", DateType("d"), "io.debezium.time.Date", True)
    event = change("insert", None, image((ID, 1), (day, 19000)))
    options = {"schemas-enable": "false"}
    (written,) = FORMAT.from_events([event], context=Context(options=options))
    assert isinstance(written, KafkaMessage)
    assert written.value is not None
    assert written.value.startswith(b'{"before":null')
    table = replace(KEYED, columns=(ID, day))
    assert list(FORMAT.to_events(written, context=Context(options=options, tables=(table,)))) == [
        event
    ]


KINDS: dict[str, tuple[Column, Any, dict[str, Any]]] = {
    "decimal-string": (
        Column("a", DecimalType(5, 2)),
        Decimal("1.50"),
        {"decimal_handling_mode": "string"},
    ),
    "decimal-double": (
        Column("a", DecimalType(5, 2)),
        Decimal("1.50"),
        {"decimal_handling_mode": "double"},
    ),
    "decimal-precise": (Column("a", DecimalType(5, 2)), Decimal("1.50"), {}),
    "decimal-variable": (Column("a", DecimalType()), Decimal("-1.5"), {}),
    "bytes-hex": (Column("a", BytesType()), b"\x01", {"binary_handling_mode": "hex"}),
    "uint64": (Column("a", IntType(64, True)), 2**64 - 1, {}),
    "bit": (Column("a", BitType(10)), 682, {}),
    "bit-1": (Column("a", BitType(1), "bit(1)"), 1, {}),
    "bit-1-as-bits": (Column("a", BitType(1), "io.debezium.data.Bits"), 1, {}),
    "enum-index": (Column("a", EnumType(("x", "y"))), 2, {}),
    "date-text": (Column("a", DateType()), "1969-12-31", {}),
    "time-text": (Column("a", TimeType(6)), "-838:59:59.5", {}),
    "datetime-text": (Column("a", DatetimeType(6)), "2024-02-29 12:34:56.123456", {}),
    "datetime-connect": (
        Column("a", DatetimeType(3)),
        "2024-02-29 12:34:56.123",
        {"time_precision_mode": "connect"},
    ),
    "timestamp": (Column("a", TimestampType(zone="+00:00")), "2024-02-29 12:34:56", {}),
    "float-nan": (Column("a", FloatType(64)), float("inf"), {}),
    "map": (Column("a", MapType(TextType(), TextType())), (("k", None),), {}),
    "unavailable": (Column("a", TextType()), UNAVAILABLE, {}),
    "unavailable-bytes": (Column("a", BytesType()), UNAVAILABLE, {}),
}
EXPECTED: dict[str, Any] = {
    "decimal-string": "1.50",
    "decimal-double": 1.5,
    "bytes-hex": "01",
    "uint64": Decimal(2**64 - 1),
    "bit-1": True,
    "enum-index": "y",
    "date-text": -1,
    "time-text": -3020399500000,
    "datetime-text": 1709210096123456,
    "datetime-connect": 1709210096123,
}


@pytest.mark.parametrize("case", KINDS)
def test_value_of_another_format_gets_the_producers_form(case: str) -> None:
    column, value, options = KINDS[case]
    (event,) = back([change("insert", None, image((ID, 1), (column, value)))], **options)
    expected = EXPECTED.get(case, value)
    assert (event.after["a"], type(event.after["a"])) == (expected, type(expected))
    (again,) = back([event], **options)
    assert again == event


TEXTS_OF_MODES: dict[str, list[Any]] = {
    "adaptive": ["2024-02-29Z", "23:59:59.5Z", "+294247-01-10T04:00:25.2Z"],
    "isostring": ["2024-02-29Z", "23:59:59.5Z", "+294247-01-10T04:00:25.2Z"],
}
COUNTS_OF_MODES: dict[str, list[Any]] = {
    "connect": [19782, 86399500, 1709210096123],
    "microseconds": [19782, 86399500000, 1709210096123000],
    "nanoseconds": [19782, 86399500000000, 1709210096123000000],
}


def iso_row(moment: str) -> list[tuple[Column, Any]]:
    time = "io.debezium.time."
    return [
        (Column("d", DateType(), f"{time}IsoDate", True), "2024-02-29Z"),
        (Column("t", TimeType(), f"{time}IsoTime", True), "23:59:59.5Z"),
        (Column("m", DatetimeType(), f"{time}IsoTimestamp", True), moment),
    ]


@pytest.mark.parametrize("mode", [*TEXTS_OF_MODES, *COUNTS_OF_MODES])
def test_iso_text_stays_as_it_is_unless_the_mode_asks_for_counts(mode: str) -> None:
    is_text = mode in TEXTS_OF_MODES
    row = iso_row("+294247-01-10T04:00:25.2Z" if is_text else "2024-02-29T12:34:56.123Z")
    after = image((ID, 1), *row)
    (event,) = back([change("insert", None, after)], time_precision_mode=mode)
    found = [event.after[name] for name in ("d", "t", "m")]
    assert found == (TEXTS_OF_MODES if is_text else COUNTS_OF_MODES)[mode]
    if is_text:
        assert event.after.columns == after.columns


def test_delete_makes_up_iso_texts_with_their_zone() -> None:
    row = [(replace(column, nullable=False), value) for column, value in iso_row("")]
    table = replace(KEYED, columns=(ID, *(column for column, _ in row)))
    event = replace(change("delete", image((ID, 1)), None), sent="key")
    (message, *_) = FORMAT.from_events([event], context=Context(tables=(table,)))
    assert isinstance(message, KafkaMessage)
    before = json.loads(message.value or b"")["payload"]["before"]
    assert before == {"id": 1, "d": "1970-01-01Z", "t": "00:00:00Z", "m": "1970-01-01T00:00:00Z"}


def test_decimal_nan_as_text_is_what_the_producer_writes() -> None:
    column = Column("a", DecimalType(5, 2))
    row = change("insert", None, image((ID, 1), (column, Decimal("NaN"))))
    (event,) = back([row], decimal_handling_mode="string")
    assert event.after["a"] == "NAN"


REFUSED_VALUES: dict[str, tuple[Column, Any, dict[str, Any]]] = {
    "decimal-nan": (Column("a", DecimalType(5, 2)), Decimal("NaN"), {}),
    "decimal-scale": (Column("a", DecimalType(5, 2)), Decimal("1.234"), {}),
    "datetime-cut": (
        Column("a", DatetimeType(6)),
        "2024-02-29 12:34:56.123456",
        {"time_precision_mode": "connect"},
    ),
    "zero-date": (Column("a", DateType()), "0000-00-00", {}),
    "zero-date-iso": (
        Column("a", DateType()),
        "0000-00-00",
        {"time_precision_mode": "isostring"},
    ),
    "time-beyond-the-day-iso": (
        Column("a", TimeType()),
        "24:00:00",
        {"time_precision_mode": "isostring"},
    ),
    "datetime-beyond-the-calendar-iso": (
        Column("a", DatetimeType(form="us")),
        9223372036825200000,
        {"time_precision_mode": "isostring"},
    ),
    "datetime-beyond-nanoseconds": (
        Column("a", DatetimeType(form="us")),
        253402300799999999,
        {"time_precision_mode": "nanoseconds"},
    ),
    "time-cut-to-microseconds": (
        Column("a", TimeType(form="ns")),
        1,
        {"time_precision_mode": "microseconds"},
    ),
    "enum-label-unknown": (Column("a", EnumType()), 1, {}),
    "text-bytes": (Column("a", TextType()), b"\xff", {}),
    "int-range": (Column("a", IntType(8)), 128, {}),
    "unavailable-int": (Column("a", IntType(8)), UNAVAILABLE, {}),
}


@pytest.mark.parametrize("case", REFUSED_VALUES)
def test_value_without_form_is_refused_with_its_column(case: str) -> None:
    column, value, options = REFUSED_VALUES[case]
    with pytest.raises(EncodeError) as caught:
        back([change("insert", None, image((ID, 1), (column, value)))], **options)
    assert caught.value.path[:4] == ("events", 0, "after", "a")
    assert caught.value.clause.startswith("connect: ")


@given(st.data())
def test_broken_message_never_escapes_as_another_error(data: st.DataObject) -> None:
    """Any bytes give a message or a DecodeError that points into them."""
    (written,) = FORMAT.from_events([ROWS["update"]], context=Context())
    assert isinstance(written, KafkaMessage)
    value = bytearray(written.value or b"")
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(value) - 1))
        value[place] = data.draw(st.integers(0, 255))
    found: DecodeError | None = None
    try:
        list(FORMAT.to_events(KafkaMessage(written.key, bytes(value)), context=Context()))
    except DecodeError as error:
        found = error
    assert found is None or (0 <= found.offset <= len(value) and found.clause)


def test_text_that_is_not_a_timestamp_is_refused_at_its_place() -> None:
    column = Column("a", DatetimeType(), "com.xxx.cdc.data.timestamp")
    event = change("insert", None, image((ID, 1), (column, "2024-02-29 12:34:56")))
    (written,) = FORMAT.from_events([event], context=Context(options={"dialect": "cdl"}))
    assert isinstance(written, KafkaMessage)
    assert written.value is not None
    data = written.value.replace(b'"2024-02-29 12:34:56.000"', b'"soon"')
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(None, data), context=Context()))
    assert caught.value.offset == data.index(b'"soon"')
    assert caught.value.path == ("value", "payload", "after", "a")


def test_truncate_of_a_table_with_a_column_twice_is_not_encoded() -> None:
    column = Column("id", IntType(32))
    table = Table("t", "public", "app", columns=(column, column), key=("id",))
    image = Image((column, column), (1, 1))
    for event in (
        SchemaChange("truncate", None, table=table, position=Position(commit_ms=1)),
        RowChange(table, "insert", None, image, Position(commit_ms=1)),
    ):
        with pytest.raises(EncodeError, match="two columns have the same name") as caught:
            list(debezium_json.from_events([event]))
        assert caught.value.clause == "connect: struct values"


TRUNCATE = (
    b'{"before":null,"after":null,"source":{"version":"2.7.4.Final","connector":"postgresql",'
    b'"name":"s","ts_ms":1,"db":"d","schema":"p","table":"t"},"op":"t","ts_ms":2}'
)


def test_truncate_does_not_say_which_key_its_table_has() -> None:
    (found,) = FORMAT.to_events(KafkaMessage(None, TRUNCATE))
    assert isinstance(found, SchemaChange)
    assert found.table == Table("t", "p", "d", key=None)


def test_truncate_in_a_message_of_cdl_is_rejected() -> None:
    value = TRUNCATE[:-1] + b',"message_version":"2.0","message_type":"0","unique":null}'
    for decode in (FORMAT.to_events, FORMAT.decoder(Context())):
        with pytest.raises(DecodeError, match="op t in a message of CDL's") as caught:
            list(decode(KafkaMessage(None, value)))
        assert caught.value.clause == "debezium-json: operation"


@pytest.mark.parametrize(
    ("payload", "key"), [(b"1", None), (b'"a"', None), (b"null", ()), (b'{"id":1}', ("id",))]
)
def test_key_names_columns_only_as_a_struct(payload: bytes, key: Any) -> None:
    value = TRUNCATE.replace(b'"op":"t"', b'"op":"c"').replace(b'"after":null', b'"after":{"id":1}')
    wrapped = b'{"schema":null,"payload":%s}' % payload
    found = debezium_json.decode(value, key=wrapped)
    assert isinstance(found, Change)
    assert found.key == key


def test_members_of_a_notification_have_its_clause() -> None:
    names = "id", "type", "aggregate_type", "additional_data", "timestamp"
    value = json.dumps(dict.fromkeys(names)).encode()
    found = FORMAT.explain(KafkaMessage(None, value))
    clauses = {span.path[-1]: span.clause for span in found.spans if span.path[-1] in names}
    assert clauses == dict.fromkeys(names, "debezium-json: notifications")
