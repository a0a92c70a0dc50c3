"""A message comes back as it was after its events were written as lines of JSON and read again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import RowChange, Table
from cdcwire.model.text import event_from_json, event_to_json, table_from_json, table_to_json
from cdcwire_conformance.corpus.store import load_cases

CASES = (
    "settings/money-read",
    "values/bits-unlimited",
    "values/decimal-negative-scale",
    "values/decimal-variable-negative-scale",
    "values/vectors",
    "values/point",
    "values/zoned-time",
)


def table_of(event: RowChange) -> Table:
    image = event.after or event.before
    assert image is not None
    document = json.dumps(table_to_json(replace(event.table, columns=image.columns)))
    return table_from_json(json.loads(document))


@pytest.mark.parametrize("name", CASES)
def test_message_survives_lines_of_json(name: str) -> None:
    (case,) = (
        case
        for case in load_cases(formats=("debezium-json",))
        if case.id == f"debezium-json/{name}"
    )
    context = case.context()
    (message,) = case.messages
    assert isinstance(message, KafkaMessage)
    (event,) = FORMAT.to_events(message, context=context)
    assert isinstance(event, RowChange)
    tables = (table_of(event),)
    read = event_from_json(json.loads(json.dumps(event_to_json(event))), tables)
    (found,) = FORMAT.from_events([read], context=replace(context, tables=tables))
    assert isinstance(found, KafkaMessage)
    assert json.loads(found.value or b"") == json.loads(message.value or b"")
    assert json.loads(found.key or b"") == json.loads(message.key or b"")
