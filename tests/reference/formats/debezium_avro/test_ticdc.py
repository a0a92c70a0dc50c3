"""The dialect ticdc: TiCDC's messages are written again, with the schemas that it registers."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionError, OptionValue
from cdcwire.ddl import parse_ddl
from cdcwire.formats.debezium_avro import FORMAT
from cdcwire.model.events import Event, Image, Position, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases

CASES = [case for case in load_cases() if case.id.startswith("debezium-avro/ticdc/")]
INTS = parse_ddl(
    """
    CREATE TABLE ints (
      id INT PRIMARY KEY, ti TINYINT, tu TINYINT UNSIGNED, bo BOOLEAN, si SMALLINT,
      su SMALLINT UNSIGNED, mi MEDIUMINT, mu MEDIUMINT UNSIGNED, i INT, iu INT UNSIGNED, bi BIGINT,
      bu BIGINT UNSIGNED, z INT(8) ZEROFILL, bz BIGINT ZEROFILL, y YEAR
    );
    """,
    "test",
)
DDL = """
CREATE TABLE n (
  id BIGINT PRIMARY KEY, d DECIMAL(10,2), u BIGINT UNSIGNED, f FLOAT(7,3), b BIT(12), b1 BIT(1),
  bin BINARY(2), e ENUM('<','b,c')
);
"""
TABLES = parse_ddl(DDL, "1shop")
POSITION = Position(commit_ts=448059171405824001, sent_ms=1709210097123)
TEXT = Image((Column("id", IntType(32)), Column("s", TextType())), (1, "a"))
OLD = Image(TEXT.columns, (1, "b"))


def options(**more: OptionValue) -> dict[str, OptionValue]:
    return {"dialect": "ticdc", **{name.replace("_", "-"): value for name, value in more.items()}}


def written(events: list[Event], context: Context) -> tuple[dict[str, str], list[KafkaMessage]]:
    """Return the schemas that are new, and the messages."""
    found: list[Message] = list(FORMAT.from_events(events, context=context))
    schemas = {
        message.path.removeprefix("schemas/").removesuffix(".avsc"): message.value.decode()
        for message in found
        if isinstance(message, StoredFile)
    }
    return schemas, [message for message in found if isinstance(message, KafkaMessage)]


def insert(image: Image, table: Table) -> RowChange:
    return RowChange(table, "insert", None, image, POSITION)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_message_of_the_producer_is_written_again(case: Case) -> None:
    is_ints = "tidb_type" in "".join(case.schemas.values())
    mode = "string" if is_ints else "precise"
    context = Context(
        options=options(
            enable_tidb_extension=is_ints
            or "1" not in case.schemas
            or "SchemaChange" in case.schemas["1"],
            avro_enable_watermark=True,
            avro_decimal_handling_mode=mode,
            avro_bigint_unsigned_handling_mode="string" if is_ints else "long",
        ),
        tables=INTS if is_ints else (),
        schemas=case.schemas,
    )
    messages = [each for each in case.messages if isinstance(each, KafkaMessage)]
    events = [event for each in messages for event in FORMAT.to_events(each, context=context)]
    assert written(events, context) == ({}, messages)


def test_type_in_tidb_is_of_the_field_also_of_a_decimal() -> None:
    (table,) = parse_ddl("CREATE TABLE t (id INT PRIMARY KEY, d DECIMAL(10,2));", "shop")
    image = Image(table.columns or (), (1, Decimal("1.50")))
    context = Context(options=options(enable_tidb_extension=True), tables=(table,))
    schemas, _ = written([insert(image, Table("t", "shop", key=("id",)))], context)
    columns = json.loads(schemas["2"])["fields"][0]["type"][1]["fields"]
    assert columns[1] == {
        "connect.field": "d",
        "default": None,
        "name": "d",
        "tidb_type": "decimal",
        "type": [
            "null",
            {
                "connect.name": "org.apache.kafka.connect.data.Decimal",
                "connect.parameters": {"precision": "10", "scale": "2"},
                "logicalType": "decimal",
                "precision": 10,
                "scale": 2,
                "type": "bytes",
            },
        ],
    }


def numbers(mode: str = "precise") -> tuple[dict[str, str], list[KafkaMessage], Context]:
    (table,) = TABLES
    values = (7, Decimal("-1.50"), 5, 0.1, 0x801, 1, b"\x00\xff", "b,c")
    image = Image(table.columns or (), values)
    context = Context(
        options=options(
            avro_decimal_handling_mode=mode,
            avro_bigint_unsigned_handling_mode="long" if mode == "precise" else "string",
        ),
        tables=TABLES,
    )
    event = insert(image, Table("n", "1shop", key=("id",)))
    return *written([event], context), context


def test_values_that_json_has_otherwise() -> None:
    schemas, (message,), _ = numbers()
    # id 7, the branch of each column, DECIMAL -150 in one byte more, 0.1 as the double of a float
    row = (
        bytes.fromhex("020e" "02" "04ff6a" "020a" "02000000a09999b93f")
        + bytes.fromhex("02" "040108" "0201" "02" "0400ff" "02" "06") + b"b,c"
    )  # fmt: skip
    assert message.key == bytes.fromhex("0000000001020e")
    assert message.value is not None
    assert message.value.startswith(bytes.fromhex("00000000020002") + row)
    fields = json.loads(schemas["2"])["fields"]
    columns = fields[0]["type"][1]["fields"]
    assert [field["type"][1] for field in columns] == [
        "long",
        {
            "connect.name": "org.apache.kafka.connect.data.Decimal",
            "connect.parameters": {"precision": "10", "scale": "2"},
            "logicalType": "decimal",
            "precision": 10,
            "scale": 2,
            "type": "bytes",
        },
        "long",
        "double",
        {
            "connect.name": "io.debezium.data.Bits",
            "connect.parameters": {"length": "12"},
            "connect.version": 1,
            "type": "bytes",
        },
        "boolean",
        "bytes",
        {
            "connect.name": "io.debezium.data.Enum",
            "connect.parameters": {"allowed": "<,b\\,c"},
            "connect.version": 1,
            "type": "string",
        },
    ]
    assert r'"allowed":"\u003c,b\\,c"' in schemas["2"]


def test_names_of_records_have_an_underscore_before_a_digit() -> None:
    schemas, _, _ = numbers()
    assert schemas["1"] == (
        '{"connect.name":"default._1shop.nKey","fields":[{"connect.field":"id","default":null,'
        '"name":"id","type":["null","long"]}],"name":"nKey","namespace":"default._1shop",'
        '"type":"record"}'
    )


def test_text_mode_sends_digits() -> None:
    _, (message,), _ = numbers("string")
    assert message.value is not None
    assert message.value.startswith(bytes.fromhex("00000000020002020e020a") + b"-1.50\x02\x025\x02")


@pytest.mark.parametrize("mode", ["precise", "string"])
def test_row_is_read_back_with_its_definition(mode: str) -> None:
    schemas, (message,), context = numbers(mode)
    (event,) = FORMAT.to_events(message, context=replace(context, schemas=schemas))
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after["d"] == Decimal("-1.50")
    assert event.after["u"] == 5
    assert event.after["bin"] == b"\x00\xff"
    assert written([event], replace(context, schemas=schemas)) == ({}, [message])


@pytest.mark.parametrize("text", ["x", "-1", "18446744073709551616", "1.5"])
def test_text_that_is_no_unsigned_number_is_refused(text: str) -> None:
    schemas, (message,), context = numbers("string")
    assert message.value is not None
    at = message.value.index(b"\x02\x025\x02")
    sent, known = text.encode(), replace(context, schemas=schemas)
    value = message.value[:at] + bytes((2, 2 * len(sent))) + sent + message.value[at + 3 :]
    with pytest.raises(ValueError, match="as defined"):
        list(FORMAT.to_events(KafkaMessage(message.key, value), context=known))


def test_unsigned_number_over_a_long_is_refused() -> None:
    (table,) = TABLES
    columns = tuple(column for column in table.columns or () if column.name in ("id", "u"))
    event = insert(Image(columns, (1, 1 << 63)), Table("n", "1shop", key=("id",)))
    with pytest.raises(EncodeError) as caught:
        written([event], Context(options=options(), tables=TABLES))
    assert caught.value.path == ("events", 0, "after", "u")
    assert caught.value.clause == "debezium-avro: ticdc"


def test_update_without_old_value_has_no_before() -> None:
    event = RowChange(Table("t", "shop", key=("id",)), "update", OLD, TEXT, POSITION)
    _, (message,) = written([event], Context(options=options()))
    assert (message.value or b"")[5:12] == bytes.fromhex("02020202026202")  # 1, "b", then after
    _, (message,) = written([event], Context(options=options(output_old_value=False)))
    assert (message.value or b"")[5:11] == bytes.fromhex("000202020261")[:5] + b"\x02"


def test_table_without_key_has_a_key_without_fields() -> None:
    schemas, (message,) = written(
        [insert(TEXT, Table("t", "shop", key=()))], Context(options=options())
    )
    assert message.key == bytes.fromhex("0000000001")
    assert json.loads(schemas["1"])["fields"] == []


def test_virtual_column_is_refused_as_the_producer_fails() -> None:
    tables = parse_ddl(
        "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(9), g INT AS (id) VIRTUAL);", "shop"
    )
    event = insert(TEXT, Table("t", "shop", key=("id",)))
    with pytest.raises(EncodeError) as caught:
        written([event], Context(options=options(), tables=tables))
    assert caught.value.path[-1] == "g"


@pytest.mark.parametrize(
    "event",
    [
        Progress("watermark", POSITION),
        SchemaChange("truncate", "TRUNCATE TABLE t", None, Table("t", "shop"), POSITION),
    ],
    ids=["watermark", "statement"],
)
@pytest.mark.parametrize("name", ["enable_tidb_extension", "avro_enable_watermark"])
def test_other_events_need_both_options(event: Event, name: str) -> None:
    with pytest.raises(EncodeError, match="avro-enable-watermark") as caught:
        written([event], Context(options=options(**{name: True})))
    assert caught.value.clause == "debezium-avro: ticdc"


def test_tidb_type_is_on_the_field() -> None:
    event = insert(TEXT, Table("t", "shop", key=("id",)))
    schemas, _ = written([event], Context(options=options(enable_tidb_extension=True)))
    assert '"name":"id","tidb_type":"int","type":["null","int"]' in schemas["1"]


def test_start_ts_is_never_sent() -> None:
    assert "debezium-include-start-ts" not in {option.name for option in FORMAT.options}


def test_identify_names_the_dialect() -> None:
    settings = Context(options=options(enable_tidb_extension=True, avro_enable_watermark=True))
    _, (message,) = written([Progress("watermark", POSITION)], settings)
    guess = FORMAT.identify(message)
    assert guess is not None
    assert guess.options == {"registry": "confluent", "dialect": "ticdc"}
    assert guess.facts == {"version": "2.4.0.Final", "connector": "TiCDC"}


def test_rows_by_themselves_are_not_written() -> None:
    """TiCDC sends changes: with the transform they would be read as rows."""
    with pytest.raises(OptionError, match="transforms=unwrap is for reading"):
        list(FORMAT.from_events([], context=Context({"dialect": "ticdc", "transforms": "unwrap"})))
