"""The placeholder of unavailable values, which no value may look like when it is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import event_of
from cdcwire.model import parse_kind
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import UNAVAILABLE, Column, Value
from cdcwire.registry import get_format

FORMAT = get_format("debezium-json")
WORD = "__debezium_unavailable_value"


def change(kind: str, value: Value, source: str | None = None) -> RowChange:
    columns = (Column("id", parse_kind("int32")), Column("c", parse_kind(kind), source))
    image = Image(columns, (1, value))
    position = Position(lsn=1, commit_ms=1, sent_ms=2)
    return RowChange(Table("t", "s", key=("id",)), "insert", None, image, position)


def written(event: RowChange, **options: str) -> list[Any]:
    """Return the messages of the plain encoder and of the fast one, which are the same."""
    context = Context(options=options)
    plain = list(FORMAT.from_events([event], context=context))
    assert list(FORMAT.encoder(context)([event])) == plain
    return plain


@pytest.mark.parametrize(
    ("kind", "value", "source"),
    [
        ("text", WORD, None),
        ("bytes", WORD.encode(), None),
        ("json", WORD, None),
        ("json", f'{{"{WORD}":"{WORD}"}}', None),
        ("text", WORD, "io.debezium.data.Xml"),
        ("array<text>", (WORD,), None),
        ("array<int32>", tuple(WORD.encode()), None),
        ("map<text,text>", ((WORD, WORD),), None),
    ],
)
def test_value_that_looks_like_the_placeholder_is_not_written(
    kind: str, value: Value, source: str | None
) -> None:
    event = change(kind, value, source)
    with pytest.raises(EncodeError) as caught:
        list(FORMAT.from_events([event]))
    assert caught.value.path[-2:] == ("after", "c")
    with pytest.raises(EncodeError):
        list(FORMAT.encoder(Context())([event]))
    (message,) = written(event, **{"unavailable-value-placeholder": "none"})
    (again,) = FORMAT.to_events(
        message, context=Context(options={"unavailable-value-placeholder": "none"})
    )
    assert isinstance(again, RowChange)
    assert again.after is not None
    assert again.after["c"] == value


@pytest.mark.parametrize(("kind", "value"), [("text", f"{WORD} "), ("array<text>", (WORD, "a"))])
def test_value_that_only_contains_the_placeholder_is_written(kind: str, value: Value) -> None:
    (message,) = written(change(kind, value))
    (again,) = FORMAT.to_events(message)
    assert isinstance(again, RowChange)
    assert again.after is not None
    assert again.after["c"] == value


@pytest.mark.parametrize(
    ("connector", "expected"),
    [("mysql", WORD), ("mariadb", WORD), ("postgresql", UNAVAILABLE), ("oracle", UNAVAILABLE)],
)
def test_binlogs_have_no_unavailable_values(connector: str, expected: Value) -> None:
    source: dict[str, Any] = {
        "version": "3.2.0.Final",
        "connector": connector,
        "name": "n",
        "ts_ms": 1,
    }
    source |= {"db": "d", "schema": "s", "table": "t"}
    payload = {"before": None, "after": {"id": 1, "c": WORD}, "source": source, "op": "c"}
    message = KafkaMessage(b'{"id":1}', json.dumps({**payload, "ts_ms": 2}).encode())
    (event,) = FORMAT.to_events(message)
    assert [event_of(row) for row in FORMAT.decoder(Context())(message)] == [event]
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after["c"] == expected
