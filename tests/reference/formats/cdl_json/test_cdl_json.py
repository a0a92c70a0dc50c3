"""CDL JSON 1.0: the document's sample, the rules of each member, and the way back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import event_of
from cdcwire.formats import cdl_json
from cdcwire.formats.cdl_json import Change
from cdcwire.formats.cdl_json.format import FORMAT
from cdcwire.model.events import Image, Marker, Position, RowChange, Table
from cdcwire.model.kinds import Column, DatetimeType, DecimalType, IntType, TextType, TimestampType

STRING = '{"type":"string","optional":false,"field":"%s"}'
TEXT = '{"type":"string","optional":true,"field":"%s"}'
COLUMNS = (
    '{"type":"int64","optional":true,"field":"count1"},{"type":"int32","optional":false,'
    '"field":"id"},{"type":"int64","optional":true,"name":"org.apache.kafka.connect.data.Timestamp"'
    ',"version":1,"field":"time1"},{"type":"string","optional":true,"name":'
    '"com.xxx.cdc.data.Decimal","field":"decimalNum"}'
)
ROW = '{"type":"struct","fields":[' + COLUMNS + '],"optional":true,"name":"%s","field":"%s"}'
FIELDS = [
    STRING % "DATA_STORE",
    STRING % "SEG_OWNER",
    STRING % "TABLE_NAME",
    '{"type":"int64","optional":false,"name":"org.apache.kafka.connect.data.Timestamp","version":1'
    ',"field":"TIMESTAMP"}',
    STRING % "OPERATION",
    TEXT % "LOB_COLUMNS",
    '{"type":"struct","fields":[{"type":"array","items":{"type":"struct","fields":['
    + STRING % "name"
    + ',{"type":"int64","optional":false,"field":"value"}],"optional":false},"optional":false,'
    '"field":"properties"}],"optional":false,"name":"transaction","field":"transaction"}',
    '{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],"optional":true,'
    '"name":"unique","field":"unique"}',
    ROW % ("data", "data"),
    ROW % ("before", "before"),
    STRING % "message_version",
    STRING % "message_type",
    TEXT % "HEARTBEAT_IDENTIFIER",
]
SCHEMA = (
    '{"type":"struct","fields":[' + ",".join(FIELDS) + '],"optional":false,"name":'
    '"public.ct_pg2hudi"}'
)
PAYLOAD: dict[str, Any] = {
    "DATA_STORE": "POSTGRESQL",
    "SEG_OWNER": "public",
    "TABLE_NAME": "ct_pg2hudi",
    "TIMESTAMP": 1707047996013,
    "OPERATION": "INSERT",
    "LOB_COLUMNS": None,
    "transaction": {
        "properties": [
            {"name": "lsn", "value": 163955221008},
            {"name": "txId", "value": 57227595},
        ]
    },
    "unique": {"id": 34},
    "data": {"count1": 13, "id": 34, "time1": None, "decimalNum": None},
    "before": None,
    "message_version": "1.0",
    "message_type": "0",
    "HEARTBEAT_IDENTIFIER": "279fb050-0143-45c1-b184-50bc48c2461c",
}


def message(**members: Any) -> bytes:
    payload = json.dumps({**PAYLOAD, **members}, separators=(",", ":"))
    return f'{{"schema":{SCHEMA},"payload":{payload}}}'.encode()


def events(data: bytes | None, **options: Any) -> list[Any]:
    return list(FORMAT.to_events(KafkaMessage(None, data), context=Context(options=options)))


def test_sample_has_the_documents_size_and_comes_back() -> None:
    data = message()
    assert len(data) == 2276
    assert cdl_json.encode(cdl_json.decode(data)) == (None, data)


def test_sample_is_an_insert_with_its_position() -> None:
    (event,) = events(message())
    assert event.op == "insert"
    assert event.table == Table("ct_pg2hudi", "public", key=("id",))
    assert event.position == Position(lsn=163955221008, tx_id="57227595", commit_ms=1707047996013)
    assert [column.type for column in event.after.columns] == [
        IntType(64),
        IntType(32),
        DatetimeType(form="ms"),
        DecimalType(),
    ]
    assert event.after.values == (13, 34, None, None)
    assert event.before is None
    assert event.extra == {
        "connector": "POSTGRESQL",
        "heartbeat_identifier": "279fb050-0143-45c1-b184-50bc48c2461c",
    }


ROWS: dict[str, dict[str, Any]] = {
    "insert": {},
    "update": {"OPERATION": "UPDATE", "LOB_COLUMNS": "a,b"},
    "update-with-before": {
        "OPERATION": "UPDATE",
        "before": {"count1": 1, "id": 33, "time1": 5, "decimalNum": "-1.50"},
    },
    "delete": {"OPERATION": "DELETE", "data": None, "before": PAYLOAD["data"]},
    "other-properties": {
        "transaction": {
            "properties": [*PAYLOAD["transaction"]["properties"], {"name": "x", "value": -1}]
        }
    },
    "message-type": {"message_type": "7"},
    "no-heartbeat": {"HEARTBEAT_IDENTIFIER": None},
}


@pytest.mark.parametrize("case", ROWS)
def test_events_give_the_same_bytes(case: str) -> None:
    """encode(events(b)) == b for bytes as the producer writes them."""
    data = message(**ROWS[case])
    (written,) = FORMAT.from_events(events(data), context=Context())
    assert written == KafkaMessage(None, data)


REFUSED: dict[str, tuple[dict[str, Any], str, tuple[str | int, ...]]] = {
    "operation": ({"OPERATION": "insert"}, "cdl-json: operation", ("OPERATION",)),
    "version": ({"message_version": "2.0"}, "cdl-json: message version", ("message_version",)),
    "insert-before": ({"before": PAYLOAD["data"]}, "cdl-json: images", ("before",)),
    "insert-no-data": ({"data": None}, "cdl-json: images", ("data",)),
    "delete-data": (
        {"OPERATION": "DELETE", "before": PAYLOAD["data"]},
        "cdl-json: images",
        ("data",),
    ),
    "delete-no-before": (
        {"OPERATION": "DELETE", "data": None},
        "cdl-json: images",
        ("before",),
    ),
    "property-twice": (
        {"transaction": {"properties": [{"name": "lsn", "value": 1}] * 2}},
        "cdl-json: transaction",
        ("transaction", "properties", 1, "name"),
    ),
    "timestamp-text": ({"TIMESTAMP": "1"}, "connect: integer values", ("TIMESTAMP",)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_message_that_breaks_a_rule_is_refused(case: str) -> None:
    members, clause, path = REFUSED[case]
    data = message(**members)
    with pytest.raises(DecodeError) as caught:
        cdl_json.decode(data)
    assert caught.value.clause == clause
    assert caught.value.path == ("value", "payload", *path)
    name = str(path[-1]).encode()
    start = caught.value.offset
    assert data.rfind(b'"' + name + b'":', 0, start) + len(name) + 3 == start


def test_missing_member_is_refused() -> None:
    data = message().replace(b'"message_type":"0",', b"")
    with pytest.raises(DecodeError) as caught:
        cdl_json.decode(data)
    assert caught.value.clause == "connect: struct values"


def test_unknown_message_type_is_kept_with_a_warning() -> None:
    found = cdl_json.decode(message(message_type="9"))
    assert isinstance(found, Change)
    assert len(found.warnings) == 1
    with pytest.raises(DecodeError) as caught:
        cdl_json.decode(message(message_type="9"), context=Context({"lint": "strict"}))
    assert caught.value.clause == "cdl-json: lint"


def test_tombstone_is_a_marker_both_ways() -> None:
    key = b'{"schema":{"type":"int32","optional":false},"payload":7}'
    tombstone = KafkaMessage(key, None)
    (event,) = FORMAT.to_events(tombstone, context=Context())
    assert event == Marker("tombstone", extra={"message_key": key})
    assert list(FORMAT.from_events([event], context=Context())) == [tombstone]


def test_heartbeat_table_is_known_by_its_name() -> None:
    found = cdl_json.decode(message(SEG_OWNER="CDC_CDL", TABLE_NAME="cdc_heartbeat"))
    assert isinstance(found, Change)
    assert found.is_heartbeat
    assert events(message(SEG_OWNER="CDC_CDL", TABLE_NAME="cdc_heartbeat"))[0].op == "insert"


def test_lsn_beyond_doubles_keeps_all_bits() -> None:
    properties = [{"name": "txId", "value": 2**63 - 1}, {"name": "lsn", "value": 2**53 + 1}]
    (event,) = events(message(transaction={"properties": properties}))
    assert (event.position.lsn, event.position.tx_id) == (2**53 + 1, str(2**63 - 1))


def test_selection_leaves_out_tables_and_columns() -> None:
    kafka = KafkaMessage(None, message())
    none = Selection(tables=frozenset({("public", "other")}))
    assert list(FORMAT.to_events(kafka, context=Context(selection=none))) == []
    some = Selection(columns=frozenset({"id"}))
    (event,) = FORMAT.to_events(kafka, context=Context(selection=some))
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after.names == ("id",)


def test_message_without_schema_has_the_given_types() -> None:
    data = json.dumps(PAYLOAD, separators=(",", ":")).encode()
    kafka = KafkaMessage(None, data)
    (plain,) = FORMAT.to_events(kafka, context=Context())
    assert isinstance(plain, RowChange)
    assert plain.after is not None
    assert plain.after.columns[1].type == IntType(64)
    (full,) = events(message())
    table = Table("ct_pg2hudi", "public", columns=full.after.columns)
    (typed,) = FORMAT.to_events(kafka, context=Context(tables=(table,)))
    assert isinstance(typed, RowChange)
    assert typed.after == full.after
    assert cdl_json.encode(cdl_json.decode(data)) == (None, data)
    written = FORMAT.from_events([full], context=Context(options={"schemas-enable": "false"}))
    assert [found.value for found in written] == [data]


@given(st.data())
def test_explain_covers_every_byte(data: st.DataObject) -> None:
    """The spans run without gap from the first byte to the last, or to the error."""
    value = message(**ROWS[data.draw(st.sampled_from(sorted(ROWS)))])
    cut = data.draw(st.integers(0, len(value)))
    found = FORMAT.explain(KafkaMessage(None, value[:cut]), context=Context())
    end = 0
    for span in found.spans:
        assert span.start == end
        end = span.end
    assert end == (cut if found.error is None else found.error.offset)
    assert (found.error is None) == (cut == len(value))


def test_events_without_form_are_refused() -> None:
    table = Table("t", "s", key=())
    image = Image((Column("a", TextType()),), ("x",))
    unplaced = RowChange(table, "insert", None, image)
    for event in (unplaced, Marker("begin")):
        with pytest.raises(EncodeError) as caught:
            list(FORMAT.from_events([event], context=Context()))
        assert caught.value.clause.startswith("cdl-json: ")


def test_single_record_of_an_update_is_refused_by_name() -> None:
    image = Image((Column("a", TextType()),), ("x",))
    half = RowChange(Table("t", "s"), "update", None, image, Position(commit_ms=1), half="after")
    with pytest.raises(EncodeError, match="two records") as caught:
        list(FORMAT.from_events([half], context=Context()))
    assert (caught.value.clause, caught.value.path[-1]) == ("cdl-json: operation", "half")


def test_tso_gives_the_time_of_the_commit() -> None:
    table = Table("t", "s", key=())
    image = Image((Column("a", TextType()),), ("x",))
    event = RowChange(table, "insert", None, image, Position(commit_ts=(1700000000123 << 18) + 5))
    (written,) = FORMAT.from_events([event], context=Context())
    (back,) = events(written.value)
    assert back.position.commit_ms == 1700000000123
    assert back.table.key == ()


def test_null_next_to_a_value_is_not_another_column_without_schema() -> None:
    """Without a schema NULL shows no type: that data and before differ in it is not odd."""
    table = Table("t", "s", key=())
    column = Column("a", IntType(32))
    old, new = Image((column,), (None,)), Image((column,), (1,))
    event = RowChange(table, "update", old, new, Position(commit_ms=1))
    (written,) = FORMAT.from_events([event], context=Context({"schemas-enable": "false"}))
    (back,) = FORMAT.to_events(written, context=Context({"lint": "strict"}))
    assert isinstance(back, RowChange)
    assert (back.before and back.before.values, back.after and back.after.values) == ((None,), (1,))


OTHER_KEYS = [b"public.t", b"1", b"", b'"public.t"', b"\xff", b"null", b"[1]", b" {}"]


@pytest.mark.parametrize("key", OTHER_KEYS)
def test_kafka_key_that_is_not_an_object_is_kept(key: bytes) -> None:
    sent = KafkaMessage(key, message())
    (alone,) = FORMAT.to_events(KafkaMessage(None, message()))
    for _ in range(2):
        assert list(FORMAT.to_events(sent)) == [alone]
    assert [event_of(each) for each in FORMAT.decoder(Context())(sent)] == [alone]
    assert cdl_json.encode(cdl_json.decode(sent.value, key=key)) == (key, sent.value)
    explained = FORMAT.explain(sent)
    assert explained.error is None
    assert sum(span.end - span.start for span in explained.spans if span.part == "key") == len(key)
    tombstone = KafkaMessage(key, None)
    (event,) = FORMAT.to_events(tombstone)
    assert event == Marker("tombstone", extra={"message_key": key})
    assert list(FORMAT.from_events([event])) == [tombstone]


@pytest.mark.parametrize("key", [b"{", b'{"schema":null}', b'{"schema":{},"payload":1}'])
def test_kafka_key_that_is_a_broken_envelope_is_rejected(key: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(key, message())))
    assert caught.value.path[0] == "key"


@pytest.mark.parametrize("name", ["unique", "before", "LOB_COLUMNS", "HEARTBEAT_IDENTIFIER"])
def test_optional_member_may_be_missing_without_schema(name: str) -> None:
    payloads = {**PAYLOAD, name: None}, {k: v for k, v in PAYLOAD.items() if k != name}
    (expected,), (found,) = (
        FORMAT.to_events(KafkaMessage(None, json.dumps(payload).encode())) for payload in payloads
    )
    assert found == expected


def test_data_of_a_delete_may_be_missing_without_schema() -> None:
    payload = {**PAYLOAD, "OPERATION": "DELETE", "before": PAYLOAD["data"]}
    del payload["data"]
    (event,) = FORMAT.to_events(KafkaMessage(None, json.dumps(payload).encode()))
    assert isinstance(event, RowChange)
    assert event.after is None
    assert event.before is not None
    assert event.before["id"] == 34


@pytest.mark.parametrize("name", ["TIMESTAMP", "transaction", "message_type", "data"])
def test_required_member_may_not_be_missing_without_schema(name: str) -> None:
    payload = {k: v for k, v in PAYLOAD.items() if k != name}
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(None, json.dumps(payload).encode())))
    assert caught.value.path == ("value", name)


@pytest.mark.parametrize("before", ["null", "missing"])
def test_row_that_is_null_has_no_columns_to_compare_without_schema(before: str) -> None:
    """The definition has a column more than the row."""
    columns = Column("id", IntType(32)), Column("c", IntType(32)), Column("d", IntType(32))
    tables = (Table("ct_pg2hudi", "public", columns=columns, key=("id",)),)
    context = Context({"lint": "strict"}, tables)
    payload = {**PAYLOAD, "data": {"id": 34, "c": 1}, "before": None}
    if before == "missing":
        del payload["before"]
    message = KafkaMessage(None, json.dumps(payload).encode())
    (event,) = FORMAT.to_events(message, context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert (event.op, event.after.names, event.after.values) == ("insert", ("id", "c"), (34, 1))
    assert [event_of(each) for each in FORMAT.decoder(context)(message)] == [event]


@pytest.mark.parametrize(
    ("sent", "kind", "value"),
    [
        (1709210096500, DatetimeType(form="ms"), 1709210096500),
        ("2024-02-29T12:34:56.5Z", TimestampType(zone="+00:00"), "2024-02-29 12:34:56.5"),
        ("2024-02-29 12:34:56", TextType(), "2024-02-29 12:34:56"),
    ],
)
def test_timestamp_of_a_definition(sent: Any, kind: Any, value: Any) -> None:
    columns = Column("id", IntType(32)), Column("c", TimestampType(6), "timestamp(6)", True)
    context = Context(tables=(Table("ct_pg2hudi", "public", columns=columns, key=("id",)),))
    payload = {**PAYLOAD, "data": {"id": 34, "c": sent}}
    message = KafkaMessage(None, json.dumps(payload).encode())
    (event,) = FORMAT.to_events(message, context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert (event.after.columns[1].type, event.after["c"]) == (kind, value)
    assert [event_of(each) for each in FORMAT.decoder(context)(message)] == [event]
    options = {"schemas-enable": "false"}
    (written,) = FORMAT.from_events([event], context=Context(options=options))
    (again,) = FORMAT.to_events(written, context=context)
    assert again == event
