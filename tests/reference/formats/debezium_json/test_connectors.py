"""Messages of Debezium's connectors and of TiCDC: both decoders, warnings, the declarations."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from cdcwire import debezium_json
from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.connectors import CONNECTORS, LATEST, source_of, version_of
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import BoolType, BytesType, Column, FloatType, IntType, JsonType
from cdcwire.model.text import table_from_json
from cdcwire_conformance.corpus import load_cases
from cdcwire_conformance.corpus.case import Case

GROUPS = ("connectors", "ticdc", "schema-changes", "messages", "unwrapped")
CASES = [
    case
    for case in load_cases()
    if case.format == "debezium-json"
    and case.id.split("/")[1] in GROUPS
    and case.expect == "accept"
]
ROW = (
    b'{"before":null,"after":{"id":1},"op":"c","ts_ms":1,"source":{"version":"1.0",'
    b'"connector":"%s","name":"n","ts_ms":1,"snapshot":"false","db":"d","table":"t"%s}}'
)


def warnings(value: bytes) -> tuple[str, ...]:
    return FORMAT.warnings(KafkaMessage(b'{"id":1}', value), Context())


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_fast_decoder_gives_the_same_events_each_time(case: Case) -> None:
    context = Context(options=case.options, tables=tuple(map(table_from_json, case.tables)))
    decoder = RowDecoder(context)
    for message in case.messages:
        expected = list(debezium_json.FORMAT.to_events(message, context=context))
        for _ in range(3):
            assert list(decoder.decode(message)) == expected


def test_unknown_connector_has_one_warning_that_names_it() -> None:
    (found,) = warnings(ROW % (b"newdb", b""))
    assert "'newdb'" in found
    assert "debezium-json: connectors" in found


@pytest.mark.parametrize("connector", sorted(set(CONNECTORS) - {"vitess"}))
def test_no_connector_is_asked_for_the_members_of_another(connector: str) -> None:
    assert warnings(ROW % (connector.encode(), b"")) == ()


def test_postgresql_alone_has_deletes_by_replica_identity() -> None:
    assert [name for name, each in CONNECTORS.items() if not each.whole_rows] == ["postgresql"]


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("1.4.2.Final", ["txId", "scn", "lcr_position"]),
        ("1.9.8.Final", ["txId", "scn", "commit_scn", "lcr_position"]),
        ("2.1.0.Final", ["rs_id", "ssn", "redo_thread", "user_name"]),
        ("3.2.0.Final", ["start_scn", "start_ts_ms", "txSeq"]),
    ],
)
def test_members_of_oracle_depend_on_the_version(version: str, names: list[str]) -> None:
    members = [each.name for each in source_of("oracle").members_of(version_of(version))]
    assert [name for name in members if name in names] == names
    assert len(set(members)) == len(members)


def test_text_without_a_version_is_the_latest() -> None:
    assert version_of("snapshot") == LATEST


DDL = [case for case in CASES if case.id.split("/")[1] == "schema-changes"]


@pytest.mark.parametrize("case", DDL, ids=[case.id for case in DDL])
def test_schema_change_comes_back_as_a_message_and_as_an_event(case: Case) -> None:
    (message,) = case.messages
    assert isinstance(message, KafkaMessage)
    found = debezium_json.decode(message.value, key=message.key)
    assert debezium_json.encode(found) == (message.key, message.value)
    events = list(FORMAT.to_events(message, context=case.context()))
    assert message.value is not None
    has_schema = message.value.startswith(b'{"schema"')
    context = Context(options={"schemas-enable": "true" if has_schema else "false"})
    assert list(FORMAT.from_events(events, context=context)) == [message]


MOMENT = Position(commit_ms=1, sent_ms=2, file="binlog.000001", pos=4, gtid="0-1-2")
SCALAR = {"connector": "mysql", "connector_version": "2.7.4.Final", "source_name": "srv"}


def written(change: SchemaChange, **options: str) -> dict[str, Any]:
    context = Context(options={"schemas-enable": "false", **options})
    (message,) = FORMAT.from_events([change], context=context)
    assert isinstance(message, KafkaMessage)
    assert message.value is not None
    found: dict[str, Any] = json.loads(message.value)
    return found


def test_statement_of_an_event_that_was_not_read_says_no_columns() -> None:
    table = Table("orders", "shop")
    drop = SchemaChange("erase", "DROP TABLE orders", None, table, MOMENT, SCALAR)
    found = written(drop)
    assert found["tableChanges"] == [{"type": "DROP", "id": '"shop"."orders"', "table": None}]
    assert (found["ts_ms"], found["databaseName"], found["schemaName"]) == (2, "shop", None)
    index = SchemaChange("cindex", "CREATE INDEX i ON orders (a)", None, table, MOMENT, SCALAR)
    found = written(index)
    assert (found["tableChanges"], found["source"]["table"]) == ([], "")
    database = SchemaChange("create", "CREATE DATABASE shop", None, Table(None, "shop"), MOMENT)
    found = written(replace(database, extra=SCALAR))
    assert (found["source"]["db"], found["source"]["table"]) == ("shop", None)


def test_statement_before_2_0_has_no_time_and_a_drop_no_table() -> None:
    old = {**SCALAR, "connector_version": "1.9.8.Final"}
    drop = SchemaChange("erase", "DROP TABLE t", None, Table("t", "shop"), MOMENT, old)
    found = written(drop)
    assert list(found) == ["source", "databaseName", "schemaName", "ddl", "tableChanges"]
    assert found["tableChanges"] == []


def test_levels_of_a_table_are_those_of_its_connector() -> None:
    extra = {**SCALAR, "connector": "sqlserver"}
    table = Table("orders", "dbo", "shop")
    found = written(SchemaChange("erase", None, None, table, replace(MOMENT, gtid=None), extra))
    assert found["tableChanges"][0]["id"] == '"shop"."dbo"."orders"'
    assert (found["databaseName"], found["schemaName"], found["ddl"]) == ("shop", "dbo", None)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (SchemaChange("alter", "ALTER TABLE t ADD c INT", None, Table("t", "s")), ("what",)),
        (SchemaChange("rename", None, None, Table("t", "s")), ("query",)),
        (SchemaChange("erase", "DROP TABLE t", None, Table("t", "s")), ("position", "sent_ms")),
        (
            SchemaChange("alter", "ALTER", extra={"table_changes": '[{"type":1}]'}),
            ("extra", "table_changes", 0, "type"),
        ),
        (
            SchemaChange("alter", "ALTER", extra={"connector": "postgresql"}),
            ("what",),
        ),
    ],
)
def test_statement_that_has_no_form_is_refused(change: SchemaChange, path: tuple[str, ...]) -> None:
    position = replace(MOMENT, sent_ms=None) if path[-1] == "sent_ms" else MOMENT
    with pytest.raises(EncodeError) as caught:
        written(replace(change, position=position, extra={**SCALAR, **change.extra}))
    assert caught.value.clause == "debezium-json: schema changes"
    assert caught.value.path == ("events", 0, *path)


TYPES = (
    (Column("ti", IntType(8), "tinyint(4)"), -5),
    (Column("b", BoolType(), "tinyint(1)"), True),
    (Column("f", FloatType(32), "float"), 0.10000000149011612),
    (Column("js", JsonType(), "json"), "{}"),
)


@pytest.mark.parametrize(
    ("connector", "version", "forms", "sent"),
    [
        ("mysql", "1.9.8.Final", ["int16", "int16", "double"], [-5, 1, 0.10000000149011612]),
        ("mysql", "2.0.0.Final", ["int16", "int16", "float"], [-5, 1, 0.1]),
        ("mariadb", "3.6.1.Final", ["int16", "int16", "float"], [-5, 1, 0.1]),
        ("mysql", "3.7.0.Alpha2", ["int8", "int8", "float"], [-5, 1, 0.1]),
        ("postgresql", "1.9.8.Final", ["int8", "boolean", "float"], [-5, True, 0.1]),
    ],
)
def test_numbers_have_the_types_of_the_connector_and_version(
    connector: str, version: str, forms: list[str], sent: list[object]
) -> None:
    extra = {**SCALAR, "connector": connector, "connector_version": version}
    row = Image.of(TYPES)
    change = RowChange(Table("t", "s", key=()), "insert", None, row, MOMENT, extra=extra)
    (message,) = FORMAT.from_events([change], context=Context())
    assert isinstance(message, KafkaMessage)
    assert message.value is not None
    found = json.loads(message.value)
    fields = found["schema"]["fields"][1]["fields"]
    assert [field["type"] for field in fields] == [*forms, "string"]
    names = {"mariadb": None}
    assert fields[3].get("name") == names.get(connector, "io.debezium.data.Json")
    assert list(found["payload"]["after"].values()) == [*sent, "{}"]
    assert list(FORMAT.encoder(Context())([change])) == [message]
    (back,) = FORMAT.to_events(message, context=Context())
    assert list(FORMAT.from_events([back], context=Context())) == [message]


def test_default_of_a_binary_column_may_be_longer_than_the_column() -> None:
    definition = Table("t", "d", columns=(Column("b", BytesType(3), "binary(3)"),), key=())
    value = ROW.replace(b'{"id":1}', b'{"b":"YWJcMA=="}') % (b"mysql", b"")
    context = Context(tables=(definition,))
    (event,) = FORMAT.to_events(KafkaMessage(None, value), context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after["b"] == b"ab\\0"


def test_true_in_a_column_of_tinyint_1_comes_back_as_true() -> None:
    """TinyIntOneToBooleanConverter sends it so, in a column that is a number otherwise."""
    columns = (Column("id", IntType(32)), Column("b", BoolType(), "boolean"))
    place = b',"server_id":1,"gtid":null,"file":"f","pos":4,"row":0,"thread":null,"query":null'
    value = ROW.replace(b'{"id":1}', b'{"id":1,"b":%s}')
    context = Context(
        tables=(Table("t", "d", columns=columns, key=("id",)),),
        options={"schemas-enable": "false"},
    )
    decoder = RowDecoder(context)
    for _ in range(3):
        for text in (b"true", b"1", b"null", b"false", b"0", b"2"):
            sent = KafkaMessage(b'{"id":1}', value % (text, b"mysql", place))
            events = list(FORMAT.to_events(sent, context=context))
            assert list(decoder.decode(sent)) == events
            (written,) = FORMAT.from_events(events, context=context)
            assert isinstance(written, KafkaMessage)
            assert b'"after":{"id":1,"b":%s}' % text in (written.value or b"")
