"""Added fields and headers of ExtractNewRecordState, the field of a router, other producers."""

from __future__ import annotations

from decimal import Decimal

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.formats import debezium_json
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import Event, Image, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, DecimalType, IntType

KEY = b'{"id":1}'
NAMED = b'"__schema":"s","__table":"t"'
JSON_TEXT = b'{"schema":{"type":"string","optional":true},"payload":"%s"}'
JSON_NUMBER = b'{"schema":{"type":"int64","optional":true},"payload":%d}'


def context(**options: OptionValue) -> Context:
    return Context(options={name.replace("_", "-"): value for name, value in options.items()})


def event(message: KafkaMessage, within: Context) -> Event:
    (found,) = debezium_json.FORMAT.to_events(message, context=within)
    assert list(RowDecoder(within).decode(message)) == [found]
    assert debezium_json.explain(message, context=within).error is None
    return found


def row(value: bytes, *headers: tuple[str, bytes], **options: OptionValue) -> RowChange:
    message = KafkaMessage(KEY, value, headers)
    within = context(transforms="unwrap", connector="mysql", **options)
    found = event(message, within)
    assert FORMAT.warnings(message, within) == ()  # it reads the headers too
    assert isinstance(found, RowChange)
    return found


def columns(image: Image | None) -> dict[str, object]:
    assert image is not None
    return {column.name: value for column, value in image.pairs}


def test_column_that_begins_as_an_added_field_is_kept() -> None:
    found = row(b'{"id":1,"__v":6,"__":7,"__op":"c",' + NAMED + b"}")
    assert (found.op, columns(found.after)) == ("insert", {"id": 1, "__v": 6, "__": 7})


@pytest.mark.parametrize("prefix", ["x_", ""])
def test_deleted_has_one_name_whatever_the_prefix_is(prefix: str) -> None:
    value = b'{"id":1,"v":null,"__deleted":"true","%stable":"t"}' % prefix.encode()
    options: dict[str, OptionValue] = {"add_fields": "table", "add_fields_prefix": prefix}
    found = row(value, **options)
    assert (found.op, found.table.name) == ("delete", "t")
    assert columns(found.before) == {"id": 1, "v": None}


@pytest.mark.parametrize(
    ("op", "time"), [(JSON_TEXT % b"d", JSON_NUMBER % 7), (b"d", b"7"), (b'"d"', b"7")]
)
def test_headers_say_what_fields_say(op: bytes, time: bytes) -> None:
    headers = (
        ("__debezium.context.taskId", JSON_TEXT % b"0"),
        ("__op", op),
        ("__db", JSON_TEXT % b"shop"),
        ("__table", JSON_TEXT % b"t"),
        ("__source_ts_ms", time),
        ("__source_pos", time),
        ("__source_gtid", JSON_TEXT % b"0-1-2"),
    )
    found = row(b'{"id":1,"v":2}', *headers)
    assert (found.op, found.table.schema, found.table.name) == ("delete", "shop", "t")
    position = found.position
    assert (position.commit_ms, position.pos, position.gtid) == (7, 7, "0-1-2")
    assert columns(found.before) == {"id": 1, "v": 2}


def test_headers_have_the_names_of_the_settings() -> None:
    headers = (("h.kind", b"d"), ("__op", b"c"), ("h.table", b"t"))
    options: dict[str, OptionValue] = {
        "add_headers": "op:kind,table",
        "add_headers_prefix": "h.",
    }
    found = row(b'{"id":1}', *headers, **options)
    assert (found.op, found.table.name) == ("delete", "t")


def test_header_of_another_type_is_an_error() -> None:
    with pytest.raises(DecodeError, match="source_ts_ms is not an integer"):
        row(b'{"id":1,' + NAMED + b"}", ("__source_ts_ms", b"soon"))


def test_schema_of_a_row_names_the_schema_of_a_table_with_odd_characters() -> None:
    value = (
        b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},'
        b'{"type":"string","optional":true,"field":"__table"}],"optional":false,'
        b'"name":"srv.shop.Weird_Name-1.Value"},"payload":{"id":1,"__table":"Weird Name-1"}}'
    )
    found = row(value)
    assert (found.table.schema, found.table.name) == ("shop", "Weird Name-1")


def test_schema_of_a_row_names_the_database_of_sql_server() -> None:
    value = (
        b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],'
        b'"optional":false,"name":"srv.shop.dbo.t.Value"},"payload":{"id":1}}'
    )
    within = context(transforms="unwrap", connector="sqlserver")
    found = event(KafkaMessage(KEY, value), within)
    assert isinstance(found, RowChange)
    assert found.table == Table("t", "dbo", "shop", key=("id",))


def test_field_of_a_router_has_the_name_of_the_settings() -> None:
    value = (
        b'{"before":null,"after":{"id":1},"op":"c","ts_ms":1,"source":{"version":"3.5.0.Final",'
        b'"connector":"mariadb","name":"n","ts_ms":1,"snapshot":"false","db":"d","table":"t"}}'
    )
    key = (
        b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},'
        b'{"type":"string","optional":false,"field":"from"}],"optional":false,"name":"k"},'
        b'"payload":{"id":1,"from":"n.d.t"}}'
    )
    message, within = KafkaMessage(key, value), context(key_field_name="from")
    found = event(message, within)
    assert isinstance(found, RowChange)
    assert (found.table.key, found.extra["physical_table"]) == (("id",), "n.d.t")
    assert FORMAT.warnings(message, within) == ()
    assert FORMAT.comparing.key_reader is not None
    content = FORMAT.comparing.key_reader(within)(message)
    assert content is not None
    assert content.columns.names == ("id",)


@pytest.mark.parametrize(
    ("source", "table", "commit_ms"),
    [
        (b"", Table("known", "s", key=("id",)), None),
        (b',"source":{"db":"shop","table":"t"}', Table("t", "shop", key=("id",)), None),
        (b',"source":{"db":null,"table":"t"}', Table("t", key=("id",)), None),
        (
            b',"source":{"db":"d","schema":"s","table":"t","ts_ms":5}',
            Table("t", "s", "d", key=("id",)),
            5,
        ),
    ],
)
def test_any_producer_needs_an_operation_and_a_row(
    source: bytes, table: Table, commit_ms: int | None
) -> None:
    definition = Table("known", "s", columns=(Column("id", IntType(32)),), key=("id",))
    within = Context(options={"producer": "any"}, tables=(definition,))
    message = KafkaMessage(KEY, b'{"before":{"id":1,"v":2},"after":null,"op":"d"' + source + b"}")
    found = event(message, within)
    assert isinstance(found, RowChange)
    assert (found.op, found.table, found.extra) == ("delete", table, {})
    assert found.position.commit_ms == commit_ms
    assert columns(found.before) == {"id": 1, "v": 2}


def test_without_source_and_key_the_definition_gives_both_types_and_key() -> None:
    column = Column("id", DecimalType(10, 2))
    definition = Table("known", "s", columns=(column,), key=("id",))
    within = Context(options={"producer": "any"}, tables=(definition,))
    found = event(KafkaMessage(None, b'{"before":null,"after":{"id":"AJY="},"op":"c"}'), within)
    assert isinstance(found, RowChange)
    assert (found.table.key, columns(found.after)) == (("id",), {"id": Decimal("1.50")})


def test_change_without_source_is_refused_with_the_option() -> None:
    message = KafkaMessage(KEY, b'{"before":null,"after":{"id":1},"op":"c"}')
    with pytest.raises(DecodeError, match="a change without source: producer=any"):
        list(debezium_json.FORMAT.to_events(message))
    with pytest.raises(DecodeError, match="the table of this change is not known"):
        list(debezium_json.FORMAT.to_events(message, context=context(producer="any")))


def test_change_of_mongodb_is_another_format() -> None:
    value = (
        b'{"before":null,"after":"{}","updateDescription":null,"op":"c","ts_ms":1,"source":'
        b'{"version":"3.5.0.Final","connector":"mongodb","name":"n","ts_ms":1,"snapshot":"false",'
        b'"db":"d","collection":"c"}}'
    )
    with pytest.raises(DecodeError, match="MongoDB's connector, which has documents, not rows"):
        list(debezium_json.FORMAT.to_events(KafkaMessage(KEY, value)))


def test_statement_about_no_table_may_have_none() -> None:
    value = (
        b'{"source":{"version":"1.9.8.Final","connector":"mysql","name":"n","ts_ms":1,'
        b'"snapshot":"true","db":"","table":null,"server_id":0,"file":"b.1","pos":4,"row":0},'
        b'"databaseName":"","schemaName":null,"ddl":"SET character_set_server=utf8mb4",'
        b'"tableChanges":[]}'
    )
    found = event(KafkaMessage(b'{"databaseName":""}', value), context())
    assert isinstance(found, SchemaChange)
    assert (found.what, found.table) == ("query", None)
