"""Numbers of TiCDC beyond those of their schema: timestamps, defaults, a zero with a sign."""

from __future__ import annotations

from dataclasses import replace
from math import copysign

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.ddl import parse_ddl
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import Event, Position, Progress, RowChange, SchemaChange, Table

LAST = (1 << 64) - 1
POSITION = Position(commit_ts=LAST, start_ts=LAST - 1, sent_ms=1709210097123)
ROW = (
    '{"payload":{"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"c1",'
    '"ts_ms":1709210096000,"snapshot":"false","db":"shop","table":"t","server_id":0,"gtid":null,'
    '"file":"","pos":0,"row":0,"thread":0,"query":null,"commit_ts":%s,"cluster_id":"c1"},'
    '"ts_ms":1709210097123,"transaction":null,"op":"c","before":null,"after":%s}%s}'
)
# As the page of the format has it for ``bu BIGINT UNSIGNED DEFAULT 18446744073709551615``.
SCHEMA = (
    ',"schema":{"type":"struct","optional":false,"name":"c1.shop.t.Envelope","version":1,"fields":['
    '{"type":"struct","optional":true,"name":"c1.shop.t.Value","field":"after","fields":['
    '{"tidb_type":"int","type":"int32","optional":false,"field":"id"},'
    '{%s"type":"int64","optional":true,"field":"bu","default":18446744073709552000},'
    '{%s"type":"string","optional":true,"field":"bin","default":"ab\\u0000\\u0000"}]},'
    '{"type":"struct","optional":false,"name":"io.debezium.connector.mysql.Source",'
    '"field":"source","fields":['
    '{"type":"string","optional":false,"field":"version"},'
    '{"type":"string","optional":false,"field":"connector"},'
    '{"type":"string","optional":false,"field":"name"},'
    '{"type":"int64","optional":false,"field":"ts_ms"},'
    '{"type":"string","optional":false,"field":"db"},'
    '{"type":"string","optional":true,"field":"table"}]},'
    '{"type":"string","optional":false,"field":"op"}]}'
)


def message(commit_ts: object, after: str = '{"id":1}', schema: str = "") -> KafkaMessage:
    return KafkaMessage(b'{"payload":{"id":1}}', (ROW % (commit_ts, after, schema)).encode())


def read(sent: KafkaMessage, **options: bool) -> RowChange:
    (event,) = FORMAT.to_events(sent, context=Context(options=dict(options)))
    assert isinstance(event, RowChange)
    return event


def context(schemas: str, extension: str) -> Context:
    options = {
        "dialect": "ticdc",
        "schemas-enable": schemas,
        "enable-tidb-extension": extension,
        "debezium-include-start-ts": "true",
        "cluster-id": "c1",
    }
    return Context(options=options)


@pytest.mark.parametrize("schemas", ["true", "false"])
@pytest.mark.parametrize("extension", ["true", "false"])
@pytest.mark.parametrize("kind", ["row", "statement", "watermark"])
def test_timestamps_are_unsigned_with_and_without_schema(
    schemas: str, extension: str, kind: str
) -> None:
    event: Event = replace(read(message(LAST)), position=POSITION)
    if kind == "statement":
        event = SchemaChange("truncate", "TRUNCATE t", None, Table("t", "shop"), POSITION)
    elif kind == "watermark":
        event, extension = Progress("watermark", POSITION), "true"
    settings = context(schemas, extension)
    (sent,) = FORMAT.from_events([event], context=settings)
    assert isinstance(sent, KafkaMessage)
    assert b'"commit_ts":18446744073709551615' in (sent.value or b"")
    (found,) = FORMAT.to_events(sent, context=settings)
    assert not isinstance(found, tuple)
    assert found.position.commit_ts == LAST
    if kind == "row":
        assert found.position.start_ts == LAST - 1


@pytest.mark.parametrize("number", [str(LAST + 1), "-1", "1.5", '"1"', "1" * 30])
def test_timestamp_of_more_bits_is_refused(number: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read(message(number))
    assert caught.value.path == ("value", "payload", "source", "commit_ts")


@pytest.mark.parametrize("number", [-1, LAST + 1])
def test_timestamp_of_more_bits_is_not_written(number: int) -> None:
    event = Progress("watermark", replace(POSITION, commit_ts=number))
    with pytest.raises(EncodeError) as caught:
        list(FORMAT.from_events([event], context=context("false", "true")))
    assert caught.value.path == ("events", 0, "position", "commit_ts")


def test_zero_with_a_sign_is_a_double_without_schema() -> None:
    sent = message(448059171405824001, '{"id":1,"f":-0,"n":0}')
    event = read(sent)
    assert event.after is not None
    assert copysign(1.0, event.after.values[1]) == -1.0
    settings = Context(options={"dialect": "ticdc", "schemas-enable": "false"})
    assert list(FORMAT.from_events([event], context=settings)) == [sent]


@pytest.mark.parametrize("is_typed", [True, False])
def test_defaults_of_unsigned_and_binary_columns_are_kept(is_typed: bool) -> None:
    types = ('"tidb_type":"bigint unsigned",', '"tidb_type":"binary",') if is_typed else ("", "")
    sent = message(1, '{"id":1,"bu":0,"bin":"YWIAAA=="}', SCHEMA % types)
    event = read(sent)
    assert event.after is not None
    assert event.after.columns[1].default == LAST
    assert event.after.columns[2].default == (b"ab\0\0" if is_typed else "ab\0\0")
    settings = context("true", str(is_typed).lower())
    (back,) = FORMAT.from_events([replace(event, position=POSITION)], context=settings)
    assert isinstance(back, KafkaMessage)
    for column in ("bu", "bin"):
        default = b'"default":18446744073709552000' if column == "bu" else b'"default":"ab\\u0000'
        assert b'"field":"%s",%s' % (column.encode(), default) in (back.value or b"")
    (warning, *_) = FORMAT.warnings(sent, Context())
    assert "NULL: bu, bin (debezium-json: ticdc defaults)" in warning


def test_default_never_stands_for_a_null() -> None:
    sent = message(1, '{"id":1,"bu":null,"bin":null}', SCHEMA % ("", ""))
    event = read(sent, **{"replace-null-with-default": True})
    assert event.after is not None
    assert event.after.values == (1, None, None)


def test_definition_makes_a_beyond_default_of_its_type() -> None:
    tables = parse_ddl("CREATE TABLE t (id INT PRIMARY KEY, bu BIGINT UNSIGNED);", "shop")
    sent = message(1, '{"id":1,"bu":-1,"bin":null}', SCHEMA % ("", ""))
    (event,) = FORMAT.to_events(sent, context=Context(tables=tables))
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert (event.after.values[1], event.after.columns[1].default) == (LAST, LAST)


def test_both_rows_of_an_update_have_one_warning() -> None:
    sent = message(1, '{"id":1,"bu":-1}')
    value = (sent.value or b"").replace(b'"before":null', b'"before":{"id":1,"bu":-2}')
    update = KafkaMessage(sent.key, value.replace(b'"op":"c"', b'"op":"u"'))
    (warning,) = FORMAT.warnings(update, Context())
    assert warning.endswith("no type is given of bu (debezium-json: ticdc types)")
