"""Messages that Debezium 1.4.0, 2.7.4 and 3.2.0 sent for PostgreSQL 15, under their settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats import debezium_json
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import Event, Marker, RowChange
from cdcwire.model.kinds import UNAVAILABLE

FEED = Path(__file__).with_name("debezium-modes.jsonl")
COUNT = 62
# Truncated tables do not tell their columns to the event.
LOST = ("t_trunc",)
VERSIONS = ("debezium-1.4", "debezium-2.7", "debezium-3.2")


@dataclass(frozen=True)
class Sent:
    """One message, and the settings that the producer had."""

    dialect: str
    topic: str
    options: dict[str, str]
    message: KafkaMessage

    @property
    def context(self) -> Context:
        options: dict[str, str | int | bool] = dict(self.options)
        # What is in the messages is written as it is; only a message without rows needs the word.
        options.pop("provide-transaction-metadata", None)
        return Context(
            options={**options, "dialect": self.dialect, "replica-identity": "full"},
        )


@lru_cache(maxsize=1)
def feed() -> list[Sent]:
    found = []
    for line in FEED.read_text().splitlines():
        entry: dict[str, Any] = json.loads(line)
        key, value = (None if entry[n] is None else entry[n].encode() for n in ("key", "value"))
        message = KafkaMessage(key, value)
        found.append(Sent(entry["dialect"], entry["topic"], entry["options"], message))
    return found


def rows(topic: str, dialect: str, **options: str) -> list[RowChange]:
    """Return the rows of a table under settings, by the name of its topic."""
    return [
        event
        for sent in feed()
        if sent.topic.endswith(topic) and sent.dialect == dialect
        if sent.options.items() >= {n.replace("_", "-"): v for n, v in options.items()}.items()
        for event in FORMAT.to_events(sent.message, context=sent.context)
        if isinstance(event, RowChange)
    ]


@pytest.mark.parametrize("index", range(COUNT))
def test_message_of_the_producer_comes_back(index: int) -> None:
    """encode(decode(b)) == b, and the spans of explain cover every byte."""
    message = feed()[index].message
    found = debezium_json.decode(message.value, key=message.key)
    assert debezium_json.encode(found) == (message.key, message.value)
    spans = FORMAT.explain(message, context=Context()).spans
    assert sum(span.end - span.start for span in spans) == sum(
        len(part) for part in (message.key, message.value) if part is not None
    )


@pytest.mark.parametrize("index", range(COUNT))
def test_events_of_the_producer_give_its_bytes(index: int) -> None:
    sent = feed()[index]
    if sent.topic.endswith(LOST):
        return
    events = list(FORMAT.to_events(sent.message, context=sent.context))
    assert list(FORMAT.from_events(events, context=sent.context)) == [sent.message]


def test_fast_decoder_gives_what_the_plain_one_does() -> None:
    for sent in feed():
        decoder = RowDecoder(sent.context)
        plain = list(FORMAT.to_events(sent.message, context=sent.context))
        for _ in range(4):  # the second message of a schema makes its pattern
            assert repr(decoder.decode(sent.message)) == repr(plain)


EXPECTED = {
    "c_i8": -(2**63),
    "c_f8": -2.5e-300,
    "c_char": "ab   ",
    "c_text": "text\nline2\ttab \U0001f389 ",
    "c_json": '{"a": 1,  "b":[null,true]}',
    "c_jsonb": '{"a": 1.50, "b": [null, true]}',
    "c_date": 19782,
    "c_enum": "happy",
    "c_bit10": 0b1010101010,
    "c_varbit": 0b10101,
    "c_ai": (1, None, 3),
    "c_at": ("a", "b,c", None),
    "c_i4r": "[1,10)",
}


@pytest.mark.parametrize("dialect", VERSIONS)
def test_row_without_schema_has_its_values_as_sent(dialect: str) -> None:
    (row,) = rows("t_types", dialect, binary_handling_mode="hex", schemas_enable="false")
    assert row.after is not None
    sent = {name: row.after[name] for name in EXPECTED}
    assert sent == {**EXPECTED, "c_bit10": "qgI=", "c_varbit": "FQ=="}
    assert row.after["c_bytea"] == "00ff10e4bda0"
    assert row.after["c_num3810"] == "1234567890123456789012345678.0123456789"


@pytest.mark.parametrize("dialect", VERSIONS[1:])
def test_floats_come_back_in_the_digits_of_java_17(dialect: str) -> None:
    small, odd = rows("t_types", dialect)[:2]
    assert small.after is not None
    assert odd.after is not None
    assert small.after["c_f4"] == 2.0**-126
    assert odd.after["c_f4"] != odd.after["c_f4"]
    assert odd.after["c_f8"] == float("-inf")
    assert (odd.after["c_num"], odd.after["c_date"]) == (None, -735160)
    assert odd.after["c_tstz"] == "-0043-03-15 12:00:00.000000"


def test_key_has_the_types_of_its_mode() -> None:
    precise, text = rows("t_keys", "debezium-2.7")
    assert precise.after is not None
    assert text.after is not None
    assert precise.after["k5"] == Decimal("1.50")
    assert text.after["k5"] == "1.50"
    assert precise.after["k3"] == b"\x00\x01"
    assert text.after["k3"] == "AAE="
    assert precise.table.key == ("k1", "k2", "k3", "k4", "k5")


TEXTS = {"big", "js", "jb", "vc", "xm", "ci", "nn"}
OTHERS = {"by", "at", "ai", "ai8", "ad", "au", "hs"}


@pytest.mark.parametrize("dialect", VERSIONS)
def test_placeholder_of_every_type_is_unavailable(dialect: str) -> None:
    """Some types have a value for "unavailable"; other types come as null."""
    row = rows("t_toast", dialect)[0]
    assert row.after is not None
    unavailable = {name for name in row.after.names if row.after[name] is UNAVAILABLE}
    assert unavailable == TEXTS | ({"by", "hs"} if dialect == "debezium-1.4" else OTHERS)
    assert row.after["af"] is row.after["nu"] is None


@pytest.mark.parametrize("dialect", VERSIONS[1:])
def test_placeholder_without_schema_is_unavailable_where_it_shows(dialect: str) -> None:
    row = rows("t_toast", dialect, schemas_enable="false")[0]
    assert row.after is not None
    unavailable = {name for name in row.after.names if row.after[name] is UNAVAILABLE}
    assert unavailable == TEXTS | OTHERS - {"au", "hs"} | {"nu"}


@pytest.mark.parametrize("dialect", VERSIONS)
def test_transaction_tells_its_end(dialect: str) -> None:
    events: list[Event] = [
        event
        for sent in feed()
        if sent.dialect == dialect and sent.topic == "cdl.transaction"
        for event in FORMAT.to_events(sent.message, context=sent.context)
    ]
    markers = [event for event in events if isinstance(event, Marker)]
    assert [event.what for event in markers] == ["begin", "end", "end"]
    assert markers[1].extra["data_collections"] == '[["public.ct_pg2hudi",1]]'
    assert (markers[1].position.sent_ms is None) == (dialect == "debezium-1.4")


@pytest.mark.parametrize("index", range(0, COUNT, 6))
def test_cut_message_is_refused(index: int) -> None:
    sent = feed()[index]
    value = sent.message.value
    assert value is not None
    for end in range(1, len(value), max(len(value) // 40, 1)):
        cut = KafkaMessage(sent.message.key, value[:end])
        with pytest.raises(DecodeError) as caught:
            list(FORMAT.to_events(cut, context=sent.context))
        assert caught.value.offset <= end
