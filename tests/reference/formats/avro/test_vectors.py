"""What a real producer wrote: keys, values, schema texts and registrations, both ways."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from cdcwire.apache_avro.registries import registration
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.avro import (
    MemorySource,
    Settings,
    decode,
    encode,
    explain,
    parse_schema,
    read_settings,
    schema_text,
)
from cdcwire.formats.avro.events import events_of
from cdcwire.formats.avro.fast import RowDecoder
from cdcwire.formats.avro.names import subject_of
from cdcwire.formats.avro.wire import read_bytes
from cdcwire.formats.avro.writing import messages_of
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import ABSENT, Column, DecimalType, TextType, Value
from cdcwire.mysql.declared import parse_declared, type_of_declared

RUNS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "data" / "producer.json").read_text("utf-8")
)
OPS: dict[str, Any] = {"c": "insert", "u": "update", "d": "delete"}


def _runs() -> Iterator[Any]:
    for name, runs in RUNS.items():
        for number, run in enumerate(runs):
            yield pytest.param(run, id=f"{name}-{number}")


each_run = pytest.mark.parametrize("run", list(_runs()))


def settings_of(run: dict[str, Any]) -> Settings:
    return read_settings({**run["options"], "topic": "tidb_{schema}_{table}"})


def column_of(row: list[Any]) -> Column:
    name, source, nullable, default, roles, number = row
    kind = type_of_declared(parse_declared(source))
    plain = ABSENT if default is None else default
    return Column(name, kind, source, nullable, plain, frozenset(roles), number)


def value_of(column: Column, given: Any) -> Value:
    if isinstance(given, dict):
        raw = bytes.fromhex(given["hex"])
        return raw.decode() if isinstance(column.type, TextType) else raw
    if given is None:
        return None
    if isinstance(column.type, DecimalType):
        return Decimal(given)
    is_text = column.type.__class__.__name__ in (
        *("DateType", "TimeType", "DatetimeType", "TimestampType", "JsonType"),
    )
    return given if is_text else int(given)


def sent_events(run: dict[str, Any]) -> list[RowChange]:
    layouts = [tuple(map(column_of, layout)) for layout in run["layouts"]]
    found = []
    for event in run["events"]:
        columns = layouts[event["layout"]]
        values = tuple(map(value_of, columns, event["values"]))
        image, op = Image(columns, values), OPS[event["op"]]
        before, after = (image, None) if op == "delete" else (None, image)
        table = Table(event["table"], event["schema"])
        position = Position(commit_ts=int(event["commit_ts"]))
        found.append(RowChange(table, op, before, after, position))
    return found


def sent_messages(run: dict[str, Any]) -> list[KafkaMessage]:
    return [
        KafkaMessage(
            bytes.fromhex(event["key"]),
            None if event["value"] is None else bytes.fromhex(event["value"]),
        )
        for event in run["events"]
    ]


@each_run
def test_events_are_encoded_to_the_producer_s_bytes_and_schemas(run: dict[str, Any]) -> None:
    source = MemorySource()
    assert list(messages_of(sent_events(run), settings_of(run), (), source)) == sent_messages(run)
    assert source.texts == run["schemas"]


@each_run
def test_wire_layer_gives_the_same_bytes_again(run: dict[str, Any]) -> None:
    source = MemorySource(run["schemas"])
    for message in sent_messages(run):
        decoded = read_bytes(message.key, message.value, source, settings_of(run))
        assert encode(decoded) == (message.key, message.value)


@each_run
def test_schema_texts_are_read_and_written_again(run: dict[str, Any]) -> None:
    for text in run["schemas"].values():
        assert schema_text(parse_schema(text)) == text


@each_run
def test_messages_are_decoded_to_the_rows(run: dict[str, Any]) -> None:
    settings, source = settings_of(run), MemorySource(run["schemas"])
    for message, sent, expected in zip(
        sent_messages(run), sent_events(run), run["events"], strict=True
    ):
        (event,) = events_of(read_bytes(message.key, message.value, source, settings), settings)
        assert isinstance(event, RowChange)
        assert (event.op, event.table.name, event.table.schema) == (sent.op, *_names(sent))
        image, original = event.before or event.after, sent.before or sent.after
        assert image is not None
        assert original is not None
        labels = (
            {"a": "enum", "b": "set", "c": "enum", "d": "set"} if "t_es" in _names(sent) else {}
        )
        for name, value in zip(image.names, image.values, strict=True):
            if name not in labels:
                assert value == original[name]
        keys = {column.name for column in original.columns if "handle" in column.roles}
        assert set(event.table.key or ()) == keys
        if sent.op == "delete":
            assert (set(image.names), event.sent) == (keys, "key")
            assert event.position.commit_ts is None
        else:
            assert event.position.commit_ts == int(expected["commit_ts"])
            assert event.position.commit_ms == expected["commit_ms"]


def _names(event: RowChange) -> tuple[str | None, str | None]:
    return event.table.name, event.table.schema


@each_run
def test_decoded_rows_are_encoded_to_the_same_bytes(run: dict[str, Any]) -> None:
    settings, source = settings_of(run), MemorySource(run["schemas"])
    tables = [Table(e.table.name, e.table.schema, columns=_columns(e)) for e in sent_events(run)]
    for message in sent_messages(run):
        events = events_of(read_bytes(message.key, message.value, source, settings), settings)
        assert list(messages_of(events, settings, tables, source)) == [message]


def _columns(event: RowChange) -> tuple[Column, ...]:
    image = event.after or event.before
    assert image is not None
    return image.columns


@each_run
def test_every_byte_is_explained_once(run: dict[str, Any]) -> None:
    for message in sent_messages(run):
        found = explain(message, context=Context(run["options"], schemas=run["schemas"]))
        assert (found.error, found.warnings) == (None, ())
        for part, data in (("key", message.key or b""), ("value", message.value or b"")):
            spans = [span for span in found.spans if span.part == part]
            ends = [0, *(span.end for span in spans)]
            assert [span.start for span in spans] == ends[:-1]
            assert ends[-1] == len(data)


@each_run
def test_fast_decoder_gives_the_same_rows(run: dict[str, Any]) -> None:
    settings, source = settings_of(run), MemorySource(run["schemas"])
    decoder = RowDecoder(NO_CONTEXT, settings, source)
    for message in sent_messages(run):
        plain = events_of(read_bytes(message.key, message.value, source, settings), settings)
        assert decoder.decode_events(message) == plain


@each_run
def test_registrations_are_those_of_the_producer(run: dict[str, Any]) -> None:
    topic = f"tidb_{run['events'][0]['schema']}_{run['events'][0]['table']}"
    found = [
        registration(subject_of(topic, "key" if number == "1" else "value"), text)
        for number, text in run["schemas"].items()
    ]
    assert [[each.path, each.body.decode()] for each in found] == run["registrations"]


def test_enum_and_set_give_labels_and_their_options() -> None:
    (run,) = RUNS["enum_set"]
    message = sent_messages(run)[0]
    decoded = decode(message.value, key=message.key, source=MemorySource(run["schemas"]))
    (event,) = events_of(decoded)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after.values == (1, "a,b", "x,w'v", "only", "p")
    kinds = {column.name: column.type for column in event.after.columns}
    assert getattr(kinds["a"], "labels", None) == ("a,b", "c'd", "<e>&", "f")
