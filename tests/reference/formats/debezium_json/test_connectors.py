"""Messages of Debezium's connectors and of TiCDC: both decoders, warnings, the declarations."""

from __future__ import annotations

import pytest

from cdcwire import debezium_json
from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.connectors import CONNECTORS, LATEST, source_of, version_of
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.format import FORMAT
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
def test_schema_change_is_written_whole_as_a_message_and_refused_as_an_event(case: Case) -> None:
    """An event has no place for comments and character sets, so it can't make the message."""
    (message,) = case.messages
    assert isinstance(message, KafkaMessage)
    found = debezium_json.decode(message.value, key=message.key)
    assert debezium_json.encode(found) == (message.key, message.value)
    events = list(FORMAT.to_events(message, context=case.context()))
    with pytest.raises(EncodeError) as caught:
        list(FORMAT.from_events(events, context=Context()))
    assert caught.value.clause == "debezium-json: schema changes"
    assert caught.value.path == ("events", 0, "what")
