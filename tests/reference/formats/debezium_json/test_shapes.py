"""The members, and the names and versions of schemas, of each version of a connector."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from cdcwire import debezium_json
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.debezium_json.fast_encoder import RowEncoder
from cdcwire.model.events import Image, Marker, Position, RowChange, Table
from cdcwire.model.kinds import (
    BitType,
    Column,
    DecimalType,
    EnumType,
    IntType,
    TextType,
    TimestampType,
)

OLD = ["before", "after", "source", "op", "ts_ms", "transaction"]
NEW = ["before", "after", "source", "op", "ts_ms", "ts_us", "ts_ns", "transaction"]
BLOCK_FIRST = ["before", "after", "source", "transaction", "op", "ts_ms", "ts_us", "ts_ns"]
COMMON = ["version", "connector", "name", "ts_ms", "snapshot", "db"]
SOURCES = {
    "mysql": ["table", "server_id", "gtid", "file", "pos", "row", "thread", "query"],
    "mariadb": ["table", "server_id", "gtid", "file", "pos", "row", "thread", "query"],
    "sqlserver": ["schema", "table", "change_lsn", "commit_lsn", "event_serial_no"],
    "db2": ["schema", "table", "change_lsn", "commit_lsn"],
    "informix": ["schema", "table", "commit_lsn", "change_lsn", "txId", "begin_lsn"],
    "vitess": ["keyspace", "table", "shard", "vgtid"],
    "postgresql": ["schema", "table", "txId", "lsn", "xmin", "origin", "origin_lsn"],
}
SINCE_3_5 = ["origin", "origin_lsn"]
VITESS = {  # as the source makers of the connector's tags have them
    "1.7.2.Final": ["schema", "table", "vgtid"],
    "1.8.0.Final": ["keyspace", "table", "vgtid"],
    "2.3.4.Final": ["keyspace", "table", "vgtid"],
    "2.4.0.Final": ["keyspace", "table", "shard", "vgtid"],
}
ORACLE = ["schema", "table", "txId", "scn"]
ORACLE_1_5 = [*ORACLE, "commit_scn", "lcr_position"]
ORACLE_2_0 = [*ORACLE_1_5, "rs_id", "ssn", "redo_thread", "user_name"]
ORACLE_2_7 = [*ORACLE_2_0, "redo_sql", "row_id"]
ORACLE_3_6 = [*ORACLE_2_7, "commit_ts_ms", "start_scn", "start_ts_ms", "txSeq"]
POSITION = Position(commit_ms=1, file="binlog.000002", pos=4)
COLUMNS = (Column("id", IntType(32), "int32", False), Column("v", TextType(), "string", True))
TABLE = Table("t", "s", "d", key=("id",))


def change(connector: str | None, version: str = "3.6.1.Final", **extra: str) -> RowChange:
    named = {} if connector is None else {"connector": connector, "connector_version": version}
    return RowChange(
        TABLE, "insert", None, Image(COLUMNS, (1, "x")), POSITION, extra={**named, **extra}
    )


def written(event: RowChange, **options: str) -> dict[str, Any]:
    context = Context(options={name.replace("_", "-"): value for name, value in options.items()})
    (message,) = debezium_json.from_events([event], context=context)
    assert list(RowEncoder(context).encode([event])) == [message]
    found: dict[str, Any] = json.loads(message.value or b"")
    return found


def names(schema: dict[str, Any]) -> list[str]:
    return [field["field"] for field in schema["fields"]]


def source_of(message: dict[str, Any]) -> dict[str, Any]:
    (found,) = (f for f in message["schema"]["fields"] if f["field"] == "source")
    assert names(found) == list(message["payload"]["source"])
    return dict(found)


@pytest.mark.parametrize(
    ("version", "members", "envelope", "block", "source"),
    [
        ("1.4.0.Final", OLD, None, None, None),
        ("1.9.8.Final", OLD, None, None, None),
        ("2.0.0.Final", OLD, 1, "event.block", None),
        ("2.5.4.Final", OLD, 1, "event.block", None),
        ("2.6.0.Final", NEW, 2, "event.block", None),
        ("2.7.4.Final", BLOCK_FIRST, 2, "event.block", None),
        ("3.0.8.Final", BLOCK_FIRST, 2, "event.block", None),
        ("3.1.0.Final", BLOCK_FIRST, 2, "event.block", 1),
        ("3.6.1.Final", BLOCK_FIRST, 2, "event.block", 1),
    ],
)
def test_envelopes_of_each_version(
    version: str, members: list[str], envelope: int | None, block: str | None, source: int | None
) -> None:
    message = written(change("mysql", version))
    assert names(message["schema"]) == members == list(message["payload"])
    assert message["schema"].get("version") == envelope
    (found,) = (f for f in message["schema"]["fields"] if f["field"] == "transaction")
    assert (found.get("name"), found.get("version")) == (block, 1 if block else None)
    assert source_of(message).get("version") == source


@pytest.mark.parametrize("connector", SOURCES)
def test_source_of_each_connector(connector: str) -> None:
    extra = {"shard": "-80", "vgtid": "[]"} if connector == "vitess" else {}
    schema = source_of(written(change(connector, **extra)))
    assert names(schema) == [*COMMON, "sequence", "ts_us", "ts_ns", *SOURCES[connector]]
    assert schema["name"] == f"io.debezium.connector.{connector}.Source"
    old = [name for name in SOURCES[connector] if name not in SINCE_3_5]
    old = VITESS["1.7.2.Final"] if connector == "vitess" else old
    assert names(source_of(written(change(connector, "1.4.0.Final", **extra)))) == [*COMMON, *old]


def test_source_of_postgresql_has_the_origin_since_3_5() -> None:
    """As the connectors 3.4.0, 3.5.0 and 3.6.1 have it."""
    older, newer = (source_of(written(change("postgresql", v))) for v in ("3.4.0", "3.5.0"))
    assert names(newer) == [*names(older), *SINCE_3_5]
    fields = [field for field in newer["fields"] if field["field"] in SINCE_3_5]
    assert [(each["type"], each["optional"]) for each in fields] == [
        ("string", True),
        ("int64", True),
    ]
    message = written(change("postgresql", origin="node", origin_lsn="7"))
    source = message["payload"]["source"]
    assert (source["origin"], source["origin_lsn"]) == ("node", 7)


@pytest.mark.parametrize("version", VITESS)
def test_source_of_vitess_by_version_is_read_again(version: str) -> None:
    event = change("vitess", version, shard="-80", vgtid="[]")
    members = [each for each in names(source_of(written(event))) if each not in COMMON]
    assert [each for each in members if each not in ("sequence", "ts_us", "ts_ns")] == VITESS[
        version
    ]
    (message,) = debezium_json.from_events([event])
    (read,) = debezium_json.to_events(message)
    assert isinstance(read, RowChange)
    assert read.table == Table("t", "s", key=("id",))


@pytest.mark.parametrize("mode", ["precise", "string", "double"])
@pytest.mark.parametrize(("connector", "precision"), [("vitess", None), ("mysql", 20)])
def test_an_unsigned_integer_that_came_as_a_decimal_is_one_in_every_mode(
    connector: str, precision: int | None, mode: str
) -> None:
    """bigint.unsigned.handling.mode=precise decides, not that of decimals."""
    kind = DecimalType(precision, 0)
    column = Column("u", kind, source="org.apache.kafka.connect.data.Decimal")
    image = Image((*COLUMNS, column), (1, "x", Decimal(7)))
    event = replace(change(connector, shard="-80", vgtid="[]"), after=image)
    options = {"decimal_handling_mode": mode, "bigint_unsigned_handling_mode": "precise"}
    assert written(event, **options)["payload"]["after"]["u"] == "Bw=="


@pytest.mark.parametrize("mode", ["precise", "double"])
def test_a_decimal_of_vitess_is_a_text_in_every_mode(mode: str) -> None:
    """Its VStream types make DECIMAL a VARCHAR."""
    image = Image((*COLUMNS, Column("d", DecimalType(8, 0))), (1, "x", Decimal(12345678)))
    event = replace(change("vitess", shard="-80", vgtid="[]"), after=image)
    options = {"decimal_handling_mode": mode}
    assert written(event, **options)["payload"]["after"]["d"] == "12345678"
    table = Table("t", "s", key=("id",), columns=image.columns)
    context = Context(options={"schemas-enable": "false"}, tables=(table,))
    (message,) = debezium_json.from_events([event], context=context)
    (read,) = debezium_json.to_events(message, context=context)
    assert isinstance(read, RowChange)
    assert read.after is not None
    assert read.after["d"] == Decimal(12345678)


@pytest.mark.parametrize(
    ("connector", "mode", "sent"),
    [
        ("vitess", "auto", "12345678"),
        ("vitess", "long", 12345678),
        ("vitess", "precise", "ALxhTg=="),
        ("mysql", "string", "12345678"),
        ("mysql", "auto", "ALxhTg=="),
    ],
)
def test_an_unsigned_integer_of_vitess_is_a_text_by_default(
    connector: str, mode: str, sent: object
) -> None:
    """Each form is read again by the definition; eight digits are valid base64, too."""
    image = Image((*COLUMNS, Column("u", IntType(64, True))), (1, "x", 12345678))
    event = replace(change(connector, shard="-80", vgtid="[]"), after=image)
    event = replace(event, table=replace(event.table, database=None))
    options = {"bigint-unsigned-handling-mode": mode, "schemas-enable": "false"}
    table = Table("t", "s", key=("id",), columns=image.columns)
    context = Context(options=options, tables=(table,))
    (message,) = debezium_json.from_events([event], context=context)
    assert json.loads(message.value or b"")["after"]["u"] == sent
    (read,) = debezium_json.to_events(message, context=context)
    assert isinstance(read, RowChange)
    assert read.after is not None
    assert (read.after["u"], read.after.columns[2].type) == (12345678, IntType(64, True))


def test_ssn_of_oracle_is_0_where_an_event_has_none() -> None:
    """The connector keeps it in a number that is never null."""
    source = written(change("oracle"))["payload"]["source"]
    assert (source["ssn"], source["rs_id"]) == (0, None)


def test_a_source_of_vitess_has_a_keyspace_and_no_database() -> None:
    event = change("vitess", shard="-80", vgtid="[]")
    source = written(replace(event, table=replace(event.table, database="d")))["payload"]["source"]
    assert (source["db"], source["keyspace"]) == ("", event.table.schema)


@pytest.mark.parametrize(
    ("version", "members"),
    [
        ("1.4.2.Final", ORACLE),
        ("1.9.8.Final", ORACLE_1_5),
        ("2.0.1.Final", ORACLE_2_0),
        ("2.7.4.Final", ORACLE_2_7),
        ("3.6.1.Final", ORACLE_3_6),
    ],
)
def test_source_of_oracle_grows(version: str, members: list[str]) -> None:
    found = names(source_of(written(change("oracle", version))))
    if version.startswith("1.4"):
        members = [*members, "lcr_position"]
    assert [name for name in found if name in ORACLE_3_6] == members


@pytest.mark.parametrize(
    ("version", "allowed"),
    [
        ("1.5.4.Final", "true,last,false"),
        ("1.6.0.Final", "true,last,false,incremental"),
        ("3.0.8.Final", "true,last,false,incremental"),
        (
            "3.1.0.Final",
            "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental",
        ),
    ],
)
def test_allowed_snapshots(version: str, allowed: str) -> None:
    (found,) = (
        f for f in source_of(written(change("db2", version)))["fields"] if f["field"] == "snapshot"
    )
    assert found["parameters"] == {"allowed": allowed}


@pytest.mark.parametrize(
    ("connector", "version", "name", "db"),
    [
        ("mysql", "3.6.1.Final", "cdl.s.t.Envelope", "s"),
        ("sqlserver", "3.6.1.Final", "cdl.d.s.t.Envelope", "d"),
        ("sqlserver", "1.9.8.Final", "cdl.s.t.Envelope", "d"),
        ("oracle", "3.6.1.Final", "cdl.s.t.Envelope", "d"),
        ("db2", "3.6.1.Final", "cdl.s.t.Envelope", "d"),
    ],
)
def test_names_of_schemas(connector: str, version: str, name: str, db: str) -> None:
    message = written(change(connector, version))
    assert message["schema"]["name"] == name
    assert message["payload"]["source"]["db"] == db


def test_option_decides_for_events_that_name_no_connector_or_version() -> None:
    message = written(change(None), connector="mysql", dialect="debezium-3.5")
    source = message["payload"]["source"]
    assert (source["connector"], source["version"]) == ("mysql", "3.5.0.Final")
    assert (source["file"], source["pos"], source["row"], source["server_id"]) == (
        "binlog.000002",
        4,
        0,
        0,
    )
    assert "lsn" not in source


@pytest.mark.parametrize("connector", ["ticdc", "newdb", "mongodb"])
def test_other_connectors_are_not_written(connector: str) -> None:
    with pytest.raises(EncodeError, match=f"{connector}.* are read, not written"):
        written(change(connector))


@pytest.mark.parametrize("connector", ["oracle", "informix", "vitess"])
def test_source_of_cdl_is_not_written_for_connectors_that_read_it_otherwise(connector: str) -> None:
    with pytest.raises(EncodeError, match=f"CDL has no messages of the connector '{connector}'"):
        written(change(None), connector=connector, dialect="cdl")


@pytest.mark.parametrize("database", [None, "above"])
def test_table_of_a_binlog_connector_comes_back_from_the_source_of_cdl(
    database: str | None,
) -> None:
    event = change(None)
    event = replace(event, table=replace(event.table, schema="shop", database=database))
    (message,) = debezium_json.from_events(
        [event], context=Context(options={"connector": "mysql", "dialect": "cdl"})
    )
    (found,) = debezium_json.to_events(message)
    assert isinstance(found, RowChange)
    assert (found.table.database, found.table.schema) == (database, "shop")


@pytest.mark.parametrize("connector", ["mysql", "sqlserver", "db2"])
def test_strict_reader_refuses_cdl_s_message_of_a_connector_that_cdl_lacks(connector: str) -> None:
    options = {"connector": connector, "dialect": "cdl", "lint": "strict"}
    (message,) = debezium_json.from_events([change(None)], context=Context(options=options))
    with pytest.raises(DecodeError, match=f"connector '{connector}' is not CDL's"):
        list(debezium_json.to_events(message, context=Context(options=options)))


def test_missing_place_in_the_binlog_is_refused() -> None:
    event = RowChange(TABLE, "insert", None, Image(COLUMNS, (1, "x")), Position(commit_ms=1))
    with pytest.raises(EncodeError, match="the source needs file"):
        written(event, connector="mysql")


def test_logical_messages_are_postgresql_s_alone() -> None:
    marker = Marker("logical_message", "p", Position(commit_ms=1), {"content": b"x"})
    with pytest.raises(EncodeError, match="mysql has no logical messages"):
        list(debezium_json.from_events([marker], context=Context(options={"connector": "mysql"})))


def test_rows_of_a_binlog_have_whole_bits_and_escaped_labels() -> None:
    columns = (
        Column("b", BitType(12), None, True),
        Column("e", EnumType(("a,b", "e\\f"), "label"), None, True),
    )
    image = Image(columns, (0, "a,b"))
    event = RowChange(
        Table("t", "s"), "insert", None, image, POSITION, extra={"connector": "mysql"}
    )
    assert written(event)["payload"]["after"] == {"b": "AAA=", "e": "a\\,b"}
    snapshot = RowChange(
        Table("t", "s"), "read", None, image, POSITION, extra={"connector": "mysql"}
    )
    assert written(snapshot)["payload"]["after"]["e"] == "a,b"
    (field,) = (f for f in written(event)["schema"]["fields"][1]["fields"] if f["field"] == "e")
    assert field["parameters"]["allowed"] == "a\\,b,e\\\\f"


@pytest.mark.parametrize(
    ("version", "digits", "sent"),
    [
        # 1.9.8 and 3.5.0 were measured with these two columns.
        ("1.9.8.Final", 3, "2024-06-30T23:59:59.12Z"),
        ("1.9.8.Final", 0, "2024-06-30T23:59:59.12Z"),
        ("3.5.0.Final", 3, "2024-06-30T23:59:59.120Z"),
        ("3.5.0.Final", 6, "2024-06-30T23:59:59.120000Z"),
        ("2.5.0.Final", 3, "2024-06-30T23:59:59.1200Z"),  # not known: as it came
    ],
)
def test_instant_of_a_binlog_has_the_digits_of_the_version(
    version: str, digits: int, sent: str
) -> None:
    columns = (Column("t", TimestampType(digits, "text", "+00:00"), None, True),)
    image = Image(columns, ("2024-06-30 23:59:59.1200",))
    extra = {"connector": "mysql", "connector_version": version}
    event = RowChange(Table("t", "s"), "insert", None, image, POSITION, extra=extra)
    assert written(event)["payload"]["after"] == {"t": sent}
    encode = debezium_json.FORMAT.encoder(Context())
    (message,) = encode([event])
    assert isinstance(message, KafkaMessage)
    assert json.loads(message.value or b"")["payload"]["after"] == {"t": sent}


def test_transactions_of_a_binlog_are_named_by_gtid() -> None:
    events = [
        RowChange(
            Table("t", "s"),
            "insert",
            None,
            Image(COLUMNS, (number, None)),
            Position(commit_ms=1, file="b.1", pos=number, gtid="0-1-7"),
            extra={"connector": "mariadb", "connector_version": "3.5.0.Final"},
        )
        for number in (1, 2)
    ]
    context = Context(options={"provide-transaction-metadata": True, "dialect": "debezium-3.5"})
    messages = list(debezium_json.from_events(events, context=context))
    payloads = [json.loads(message.value or b"")["payload"] for message in messages]
    assert [payload.get("status") for payload in payloads] == ["BEGIN", None, None, "END"]
    assert payloads[2]["transaction"] == {
        "id": "0-1-7",
        "total_order": 2,
        "data_collection_order": 2,
    }
    assert payloads[3]["data_collections"] == [{"data_collection": "s.t", "event_count": 2}]


@pytest.mark.parametrize(
    ("mode", "parameters", "value"),
    [
        ("long", None, -1),
        ("precise", {"scale": "0", "connect.decimal.precision": "20"}, "AP//////////"),
        ("auto", {"scale": "0"}, "AP//////////"),
    ],
)
def test_unsigned_integers_of_64_bits_have_the_form_of_the_mode(
    mode: str, parameters: dict[str, str] | None, value: int | str
) -> None:
    columns = (Column("v", IntType(64, unsigned=True), None, True),)
    image = Image(columns, ((1 << 64) - 1,))
    extra = {"connector": "mysql"}
    event = RowChange(Table("t", "s"), "insert", None, image, POSITION, extra=extra)
    message = written(event, bigint_unsigned_handling_mode=mode)
    assert message["payload"]["after"] == {"v": value}
    (field,) = message["schema"]["fields"][1]["fields"]
    assert field.get("parameters") == parameters
