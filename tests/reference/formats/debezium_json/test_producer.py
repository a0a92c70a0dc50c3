"""Messages that Debezium 1.4.0.Final sent for PostgreSQL 15, in its default modes."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

import pytest

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage
from cdcwire.formats import debezium_json
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import Event, Marker, RowChange
from cdcwire.model.kinds import UNAVAILABLE

FEED = Path(__file__).with_name("debezium-1.4-default.jsonl")
FULL = Context(options={"replica-identity": "full"})
COUNT = 51


@lru_cache(maxsize=1)
def feed() -> list[tuple[str, KafkaMessage]]:
    found = []
    for line in FEED.read_text().splitlines():
        entry = json.loads(line)
        key, value = (None if entry[n] is None else entry[n].encode() for n in ("key", "value"))
        found.append((entry["topic"], KafkaMessage(key, value)))
    return found


def rows(topic: str, context: Context = NO_CONTEXT) -> list[Event]:
    return [
        event
        for name, message in feed()
        if name == topic
        for event in FORMAT.to_events(message, context=context)
    ]


@pytest.mark.parametrize("index", range(COUNT))
def test_message_of_the_producer_comes_back(index: int) -> None:
    """encode(decode(b)) == b, and the spans of explain cover every byte."""
    _, message = feed()[index]
    found = debezium_json.decode(message.value, key=message.key)
    assert debezium_json.encode(found) == (message.key, message.value)
    spans = FORMAT.explain(message, context=Context()).spans
    assert sum(span.end - span.start for span in spans) == sum(
        len(part) for part in (message.key, message.value) if part is not None
    )


@pytest.mark.parametrize("index", range(COUNT))
def test_events_of_the_producer_give_its_bytes(index: int) -> None:
    _, message = feed()[index]
    events = list(FORMAT.to_events(message, context=FULL))
    assert list(FORMAT.from_events(events, context=FULL)) == [message]


def test_feed_has_the_operations_that_were_done() -> None:
    events = [
        event for _, message in feed() for event in FORMAT.to_events(message, context=Context())
    ]
    ops = Counter(event.op if isinstance(event, RowChange) else "other" for event in events)
    assert sum(ops.values()) == COUNT
    assert ops["read"] == 3
    assert ops["other"] == sum(isinstance(event, Marker) for event in events) == ops["delete"]


def test_key_change_is_delete_tombstone_and_insert() -> None:
    events = rows("cdl.public.ct_pg2hudi", FULL)
    kinds = [event.op if isinstance(event, RowChange) else "tombstone" for event in events]
    start = kinds.index("delete")
    assert kinds[start : start + 3] == ["delete", "tombstone", "insert"]


def test_delete_gives_only_its_key_by_default() -> None:
    deletes = [e for e in rows("cdl.public.t_types") if isinstance(e, RowChange)]
    (cut,) = [event for event in deletes if event.op == "delete"]
    assert cut.sent == "key"
    assert cut.before is not None
    assert cut.before.names == ("id",)
    (full,) = [
        event
        for event in rows("cdl.public.t_types", FULL)
        if isinstance(event, RowChange) and event.op == "delete"
    ]
    assert full.sent is None
    assert full.before is not None
    assert len(full.before.columns) == 51


def test_delete_without_key_gives_all_columns() -> None:
    deletes = [
        event
        for event in rows("cdl.public.t_nopk_full")
        if isinstance(event, RowChange) and event.op == "delete"
    ]
    assert len(deletes) == 2
    for event in deletes:
        assert event.table.key == ()
        assert event.before is not None
        assert event.before.names == ("a", "v")


def test_unchanged_large_value_is_unavailable() -> None:
    update = rows("cdl.public.t_toast_def")[-1]
    assert isinstance(update, RowChange)
    assert update.after is not None
    assert update.after["big"] is UNAVAILABLE
    assert update.before is None


def test_types_have_the_values_that_were_put_in() -> None:
    insert = rows("cdl.public.t_types")[0]
    assert isinstance(insert, RowChange)
    assert insert.after is not None
    expected = {
        "c_i8": -(2**63),
        "c_num": Decimal("123456789012345678901234567890.123456789"),
        "c_num3810": Decimal("1234567890123456789012345678.0123456789"),
        "c_money": Decimal("1234.56"),
        "c_bytea": bytes.fromhex("00ff10e4bda0"),
        "c_bit10": 0b1010101010,
        "c_enum": "happy",
        "c_at": ("a", "b,c", None),
        "c_tstz": "2024-02-29 10:34:56.123456",
        "c_intv": 37091106789000,
    }
    assert {name: insert.after[name] for name in expected} == expected
