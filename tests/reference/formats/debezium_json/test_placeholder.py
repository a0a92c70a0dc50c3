"""The placeholder of unavailable values, which no value may look like when it is written."""

from __future__ import annotations

import json
from dataclasses import replace
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


def payload(connector: str, text: str) -> KafkaMessage:
    """Return a message whose column has a text."""
    known = {"version": "3.6.1.Final", "connector": connector, "name": "n", "ts_ms": 1}
    source: dict[str, Any] = {
        **known,
        "snapshot": "false",
        "db": "d",
        "sequence": None,
        "ts_us": None,
    }
    source |= {"ts_ns": None, "schema": "s", "table": "t"}
    own = {
        "sqlserver": {"change_lsn": None, "commit_lsn": None, "event_serial_no": None},
        "postgresql": dict.fromkeys(("txId", "lsn", "xmin", "origin", "origin_lsn")),
    }
    value: dict[str, Any] = {
        "before": None,
        "after": {"id": 1, "c": text},
        "source": {**source, **own[connector]},
    }
    value |= {"transaction": None, "op": "c", "ts_ms": 2, "ts_us": None, "ts_ns": None}
    sent = json.dumps(value, separators=(",", ":"))
    return KafkaMessage(b'{"id":1}', sent.encode())


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        (WORD, False),
        (WORD.encode().hex(), True),
        ("X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==", True),
    ],
)
def test_placeholder_of_bytes_as_text_comes_back_in_its_form(text: str, is_kept: bool) -> None:
    message, context = payload("sqlserver", text), Context(options={"schemas-enable": "false"})
    decode = FORMAT.decoder(context)
    kept = f'{{"after":{{"c":"{text}"}}}}' if is_kept else None
    for _ in range(3):
        (row,) = decode(message)
        event = event_of(row)
        assert isinstance(event, RowChange)
        assert event.after is not None
        assert event.after["c"] is UNAVAILABLE
        assert event.extra.get("placeholders") == kept
        assert list(FORMAT.from_events([event], context=context)) == [message]
        assert list(FORMAT.encoder(context)([event])) == [message]


def test_placeholder_of_an_hstore_comes_back_in_its_form() -> None:
    column = Column("c", parse_kind("json"), "hstore")
    table = Table("t", "s", "d", columns=(Column("id", parse_kind("int32")), column), key=("id",))
    context = Context(options={"schemas-enable": "false"}, tables=(table,))
    message = payload("postgresql", f'{{"{WORD}":"{WORD}"}}')
    (event,) = FORMAT.to_events(message, context=context)
    assert list(FORMAT.from_events([event], context=context)) == [message]


@pytest.mark.parametrize("text", ["[]", "{", '{"after":{"c":"another"}}', '{"after":1}'])
def test_placeholders_of_another_form_are_refused(text: str) -> None:
    event = replace(change("text", UNAVAILABLE), extra={"placeholders": text})
    with pytest.raises(EncodeError) as caught:
        list(FORMAT.from_events([event]))
    assert caught.value.path == ("events", 0, "extra", "placeholders")
