"""Offsets of instants: SQL Server and Oracle send them, and they come back.

The producers' messages are golden cases of the group ``connectors``.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cdcwire.core.context import NO_CONTEXT, Context, Selection
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TimestampType
from cdcwire_conformance.corpus import load_cases
from cdcwire_conformance.corpus.case import Case

OF_PRODUCERS = [
    case
    for case in load_cases()
    if case.id.startswith(
        ("debezium-json/connectors/sqlserver-types", "debezium-json/connectors/oracle-types")
    )
]
SCHEMA = (
    '{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},{"type":"string",'
    '"optional":true,"name":"io.debezium.time.ZonedTimestamp","version":1,"field":"t"}],'
    '"optional":false,"name":"n.k.t.Value"}'
)


def changed(text: str, connector: str = "sqlserver") -> RowChange:
    """Return the event of a row by itself whose column has the text."""
    row = f'{{"schema":{SCHEMA},"payload":{{"id":1,"t":"{text}"}}}}'
    options = {"transforms": "unwrap", "connector": connector}
    message = KafkaMessage(b'{"id":1}', row.encode())
    (event,) = FORMAT.to_events(message, context=Context(options=options))
    assert isinstance(event, RowChange)
    return event


@pytest.mark.parametrize("case", OF_PRODUCERS, ids=[case.id for case in OF_PRODUCERS])
def test_message_of_a_producer_comes_back_byte_for_byte(case: Case) -> None:
    for message in case.messages:
        events = list(FORMAT.to_events(message, context=NO_CONTEXT))
        (written,) = FORMAT.from_events(events, context=NO_CONTEXT)
        assert isinstance(message, KafkaMessage)
        assert isinstance(written, KafkaMessage)
        assert (written.key, written.value) == (message.key, message.value)
        encode = FORMAT.encoder(NO_CONTEXT)
        assert list(encode(events)) == [written]


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("2021-10-01T16:00:01.604805+03:00", '{"after":{"t":"+03:00"}}'),
        ("2021-10-01T16:00:01+00:00", '{"after":{"t":"+00:00"}}'),
        ("2021-10-01T16:00:01Z", None),
        ("-infinity", None),
    ],
)
def test_offset_of_a_row_by_itself_is_kept(text: str, offsets: str | None) -> None:
    event = changed(text)
    assert event.extra.get("offsets") == offsets


def test_offset_of_a_column_that_is_not_selected_is_not_kept() -> None:
    (case, *_) = (case for case in OF_PRODUCERS if "types" in case.id)
    context = Context(selection=Selection(columns=frozenset({"id", "ID"})))
    for message in case.messages:
        (event,) = FORMAT.to_events(message, context=context)
        assert "offsets" not in event.extra


def test_text_of_vitess_is_in_utc_and_comes_back() -> None:
    columns = (
        Column("id", IntType(32), None, False),
        Column("t", TimestampType(form="text", zone="+00:00"), None, True),
    )
    text = "2024-06-30 23:59:59.5"
    event = RowChange(
        Table("t", "k", key=("id",)),
        "insert",
        None,
        Image(columns, (1, text)),
        Position(commit_ms=1, sent_ms=2),
        extra={
            "connector": "vitess",
            "connector_version": "2.7.4.Final",
            "shard": "-80",
            "vgtid": "[]",
            "offsets": '{"after":{"t":""}}',
        },
    )
    (message,) = FORMAT.from_events([event], context=NO_CONTEXT)
    assert isinstance(message, KafkaMessage)
    assert message.value is not None
    assert json.loads(message.value)["payload"]["after"] == {"id": 1, "t": text}
    (back,) = FORMAT.to_events(message, context=NO_CONTEXT)
    assert isinstance(back, RowChange)
    assert back.after is not None
    assert back.after["t"] == text
    assert back.extra["offsets"] == '{"after":{"t":""}}'


def test_text_without_offset_is_no_instant_of_another_connector() -> None:
    with pytest.raises(ValueError, match="the zone of"):
        changed("2024-06-30 23:59:59", "mysql")


@pytest.mark.parametrize("text", ["[]", "{", '{"after":{"t":"+99:00"}}', '{"after":1}'])
def test_offsets_of_another_form_are_refused(text: str) -> None:
    event = changed("2021-10-01T16:00:01Z")
    event = replace(event, position=Position(commit_ms=1), extra={"offsets": text})
    event = replace(event, op="insert")
    with pytest.raises(EncodeError) as caught:
        list(FORMAT.from_events([event], context=NO_CONTEXT))
    assert caught.value.path == ("events", 0, "extra", "offsets")
