"""Connectors of Kafka Connect as formats and options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire.configuration import Configuration, ConfigurationError, read_connector

JSON = "org.apache.kafka.connect.json.JsonConverter"
AVRO = "io.confluent.connect.avro.AvroConverter"

# The example of Debezium's page about MySQL, without the server's address.
MYSQL: dict[str, object] = {
    "connector.class": "io.debezium.connector.mysql.MySqlConnector",
    "database.hostname": "mysql",
    "database.port": "3306",
    "database.user": "debezium-user",
    "database.password": "debezium-user-pw",
    "database.server.id": "184054",
    "topic.prefix": "fullfillment",
    "database.include.list": "inventory",
    "schema.history.internal.kafka.bootstrap.servers": "kafka:9092",
    "schema.history.internal.kafka.topic": "schemahistory.fullfillment",
    "include.schema.changes": "true",
}
POSTGRES: dict[str, object] = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "database.hostname": "postgres",
    "database.dbname": "shop",
    "database.server.name": "shop-server",
    "plugin.name": "pgoutput",
    "slot.name": "debezium",
    "table.include.list": "public.orders",
    "tombstones.on.delete": "false",
    "key.converter": JSON,
    "value.converter": JSON,
}
# The example of TiDB's page about Confluent Platform.
SINK: dict[str, object] = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
    "tasks.max": "1",
    "topics": "testdb_test",
    "connection.url": "sqlite:test.db",
    "connection.ds.pool.size": 5,
    "table.name.format": "test",
    "auto.create": True,
    "auto.evolve": True,
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "connector.json"


def read(file: Path, properties: object) -> Configuration:
    file.write_text(json.dumps(properties))
    return read_connector(str(file))


def use(file: Path, properties: object) -> None:
    found = read(file, properties)
    found.options_for(found.format_for(None))


def problem(file: Path, properties: object) -> str:
    with pytest.raises(ConfigurationError) as caught:
        use(file, properties)
    return str(caught.value).replace(str(file), "FILE")


def warnings(file: Path, properties: object) -> list[str]:
    return [each.replace(str(file), "FILE") for each in read(file, properties).warnings]


def test_a_source_with_an_avro_converter_is_debezium_avro(file: Path) -> None:
    found = read(file, {**MYSQL, "value.converter": AVRO})
    assert found.format_for(None) == "debezium-avro"
    options, _ = found.options_for("debezium-avro")
    assert options["connector"] == "mysql"


@pytest.mark.parametrize(
    ("setting", "value", "registry"),
    [
        ("as-confluent", "true", "confluent"),
        ("as-confluent", "false", "apicurio"),
        ("headers.enabled", "true", "apicurio-headers"),
        ("headers.enabled", "false", "apicurio"),
    ],
)
def test_settings_of_apicurios_converter_say_where_the_id_is(
    file: Path, setting: str, value: str, registry: str
) -> None:
    converter = "io.apicurio.registry.utils.converter.AvroConverter"
    name = f"value.converter.apicurio.registry.{setting}"
    found = read(file, {**MYSQL, "value.converter": converter, name: value})
    assert found.options_for("debezium-avro")[0]["registry"] == registry


def test_a_connector_with_its_name_around_it(file: Path) -> None:
    found = read(file, {"name": "inventory-connector", "config": MYSQL})
    assert found.format_for(None) == "debezium-json"
    assert found.options_for("debezium-json") == (
        {
            "dialect": "debezium-2.7",
            "connector": "mysql",
            "time-precision-mode": "adaptive_time_microseconds",
            "topic-prefix": "fullfillment",
        },
        [],
    )
    assert warnings(file, MYSQL) == [
        "FILE: value.converter is not set; the worker's is not known",
    ]


def test_defaults_are_those_of_the_connector_and_its_converter(file: Path) -> None:
    found = read(file, POSTGRES)
    assert found.warnings == ()
    assert found.options_for("debezium-json") == (
        {
            "schemas-enable": "true",
            "key-converter": "json",
            "connector": "postgresql",
            "hstore-handling-mode": "json",
            "topic-prefix": "shop-server",
            "database": "shop",
        },
        [],
    )


def test_modes_of_the_connector_give_options(file: Path) -> None:
    modes = {
        "decimal.handling.mode": "string",
        "time.precision.mode": "connect",
        "binary.handling.mode": "hex",
        "interval.handling.mode": "string",
        "hstore.handling.mode": "map",
        "unavailable.value.placeholder": "?",
        "provide.transaction.metadata": True,
        "key.converter.schemas.enable": False,
        "value.converter.schemas.enable": "false",
    }
    options, _ = read(file, {**POSTGRES, **modes}).options_for("debezium-json")
    assert options == {
        "schemas-enable": "false",
        "key-converter": "json",
        "connector": "postgresql",
        "decimal-handling-mode": "string",
        "time-precision-mode": "connect",
        "binary-handling-mode": "hex",
        "interval-handling-mode": "string",
        "hstore-handling-mode": "map",
        "unavailable-value-placeholder": "?",
        "provide-transaction-metadata": True,
        "topic-prefix": "shop-server",
        "database": "shop",
    }


def test_keys_and_values_that_differ_leave_the_option_open(file: Path) -> None:
    found = read(file, {**POSTGRES, "value.converter.schemas.enable": "false"})
    options, [warning] = found.options_for("debezium-json")
    assert "schemas-enable" not in options
    assert warning.endswith("differ; option schemas-enable keeps its default")


def test_a_property_that_is_null_is_not_set(file: Path) -> None:
    nulls = {"transforms": None, "decimal.handling.mode": None, "own.property": None}
    assert read(file, {**POSTGRES, **nulls}) == read(file, POSTGRES)


def test_converters_have_short_names(file: Path) -> None:
    short = {"connector.class": "PostgresConnector", "value.converter": "JsonConverter"}
    assert read(file, short).format_for(None) == "debezium-json"


def test_a_sink_names_its_format_by_its_converter(file: Path) -> None:
    registry = {"value.converter.schema.registry.url": "https://alice:secret@registry:8081"}
    found = read(file, {**SINK, "value.converter": AVRO, **registry})
    assert found.format_for(None) == "avro"
    assert found.options_for("avro") == ({}, [])
    assert found.registry == "https://registry:8081"
    glue = "com.amazonaws.services.schemaregistry.kafkaconnect.AWSKafkaAvroConverter"
    assert read(file, {**SINK, "value.converter": glue}).options_for("avro") == (
        {"registry": "glue"},
        [],
    )


def test_a_sink_without_a_converter_leaves_the_format_to_the_user(file: Path) -> None:
    found = read(file, SINK)
    assert found.format_for("cdl-json") == "cdl-json"
    with pytest.raises(ConfigurationError, match="debezium-json or avro or cdl-json; name one"):
        found.format_for(None)
    with pytest.raises(ConfigurationError, match="not craft"):
        found.format_for("craft")


def test_a_sink_may_transform_what_it_read(file: Path) -> None:
    unwrap = {
        "transforms": "unwrap",
        "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    }
    assert read(file, {**SINK, "value.converter": JSON, **unwrap}).warnings == ()


@pytest.mark.parametrize(
    ("class_name", "expected"),
    [
        ("io.debezium.transforms.outbox.EventRouter", "EventRouter changes the messages"),
        ("org.apache.kafka.connect.transforms.ReplaceField$Value", "ReplaceField changes the"),
    ],
)
def test_a_transform_that_changes_messages_is_an_error(
    class_name: str, expected: str, file: Path
) -> None:
    text = problem(file, {**POSTGRES, "transforms": "a", "transforms.a.type": class_name})
    assert text.startswith(f"FILE: transforms.a.type: {expected}")


def test_rows_by_themselves_and_keys_of_text_are_options(file: Path) -> None:
    unwrap = {
        "transforms": "unwrap",
        "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
        "transforms.unwrap.add.fields": "op,table",
        "key.converter": "StringConverter",
    }
    found = read(file, {**POSTGRES, **unwrap})
    options, _ = found.options_for(found.format_for(None))
    assert found.warnings == ()
    assert (options["transforms"], options["key-converter"]) == ("unwrap", "string")
    assert options["add-fields"] == "op,table"
    assert "add-fields-prefix" not in options
    prefix = {"transforms.unwrap.add.fields.prefix": "meta_"}
    options, _ = read(file, {**POSTGRES, **unwrap, **prefix}).options_for("debezium-json")
    assert options["add-fields-prefix"] == "meta_"


def test_settings_of_another_transform_are_not_those_of_unwrap(file: Path) -> None:
    route = {
        "transforms": "route",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.add.fields": "op",
    }
    options, _ = read(file, {**POSTGRES, **route}).options_for("debezium-json")
    assert "add-fields" not in options


@pytest.mark.parametrize(
    ("class_name", "expected"),
    [
        ("MySqlConnector", "mysql"),
        ("io.debezium.connector.mariadb.MariaDbConnector", "mariadb"),
        ("SqlServerConnector", "sqlserver"),
        ("OracleConnector", "oracle"),
        ("Db2Connector", "db2"),
    ],
)
def test_the_class_names_the_connector_of_rows_by_themselves(
    class_name: str, expected: str, file: Path
) -> None:
    found = read(file, {"connector.class": class_name, "value.converter": JSON})
    assert found.options_for("debezium-json")[0]["connector"] == expected


def test_transforms_of_topics_are_fine_and_unknown_ones_are_named(file: Path) -> None:
    transforms = {
        "transforms": "route, own",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.own.type": "com.example.Own",
    }
    assert warnings(file, {**POSTGRES, **transforms}) == [
        "FILE: transforms.own.type is not known; it may change the messages"
    ]


def test_unknown_properties_are_named_without_their_values(file: Path) -> None:
    given = {"decimal.handling.mod": "string", "converters": "isbn", "isbn.type": "com.example.I"}
    assert warnings(file, {**POSTGRES, **given}) == [
        "FILE: converters may change the form of columns",
        "FILE: ignored: unknown setting decimal.handling.mod",
    ]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ([], "FILE: it is not an object with the properties of a connector"),
        ({}, "FILE: connector.class is missing"),
        ({"connector.class": 1}, "FILE: connector.class: is not a text"),
        (
            {"connector.class": "io.debezium.connector.mongodb.MongoDbConnector"},
            "FILE: connector.class=io.debezium.connector.mongodb.MongoDbConnector: no format",
        ),
        (
            {**MYSQL, "value.converter": "org.example.OtherConverter"},
            "FILE: connector.class=io.debezium.connector.mysql.",
        ),
        (
            {**MYSQL, "decimal.handling.mode": "exact"},
            "FILE: decimal.handling.mode: 'exact' is not one of 'auto', 'precise'",
        ),
        ({**MYSQL, "topic.prefix": ["a"]}, "FILE: topic.prefix: is not a text"),
        (
            {**POSTGRES, "key.converter": AVRO},
            f"FILE: key.converter: '{AVRO}' is not one of '{JSON}', 'org.apache.kafka.connect.",
        ),
        (
            {**POSTGRES, "value.converter.decimal.format": "NUMERIC"},
            "FILE: value.converter.decimal.format: debezium-json is read with BASE64 only",
        ),
    ],
)
def test_a_connector_that_cannot_be_used_is_one_error(
    properties: object, expected: str, file: Path
) -> None:
    assert problem(file, properties).startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "not JSON at character 1"),
        ('{"a":', "not JSON at character 6"),
        ("[" * 90_000, "nested too deeply"),
        ("NaN", "not JSON: NaN"),
    ],
)
def test_a_file_that_is_not_json_is_one_error(text: str, expected: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        read_connector(str(file))
    assert str(caught.value).removeprefix(f"{file}: ").startswith(expected)
