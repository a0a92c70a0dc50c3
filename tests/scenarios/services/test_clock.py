"""Clocks that are off or go back: a producer's, a sink's, a store's client's, a database's.

Order is by offset and by commit ts, never by a clock. The machine's clock stays as it is: only the
processes under test see a moved clock.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.files.prefix import list_prefix
from cdcwire.files.prefix_events import read_events
from cdcwire.files.stores import StoreError, open_store
from cdcwire.model.events import Event, RowChange
from cdcwire.model.steps import drop_repeats
from cdcwire.registry import get_format
from cdcwire.storage import Fault, RowGate
from cdcwire_conformance.sources.storage.checking import check_prefix
from cdcwire_conformance.sources.storage.writing import PrefixWriter
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.everywhere import keys, name_of, s3_client
from cdcwire_evidence.scenarios.feeds import QueueFeed, events_of, make_feed
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.prefixes import (
    OPTIONS,
    events_of_sink,
    go_on,
    replayed,
    rows_of,
    undisturbed,
    write_all,
)
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import consume, make_topic, offset_at, produce
from cdcwire_generators.workloads import workload, workload_tables

HOUR_MS, HOUR = 3_600_000, timedelta(hours=1)
ROWS = 400
TIMED: dict[str, dict[str, OptionValue]] = {
    "canal-json": {"enable-tidb-extension": True},
    "cdl-json": {},
    "debezium-json": {},
}
# Hours that a sink's clock is off, by the number of the event; and whether the order of dates is
# that of writing all the same.
CLOCKS: dict[str, tuple[Callable[[int], int], bool]] = {
    "ahead": (lambda number: 1, True),
    "behind": (lambda number: -1, True),
    "back-an-hour": (lambda number: -(number >= ROWS // 2), True),
    "to-and-fro-a-day": (lambda number: -24 * (number // 20 % 2), False),
    "ahead-and-right-again": (lambda number: 30 * (ROWS // 3 < number < ROWS // 2), False),
}


@pytest.mark.quick
def test_order_is_by_offset_whatever_the_producers_clock_says(
    kafka: Kafka, new_name: NewName
) -> None:
    with recorded(
        "clock/producer",
        "a producer whose clock goes back an hour, and ahead again",
        "The records' timestamps fall and rise. All messages arrive once, in the order of their "
        "offsets; where a reader begins at a time, nothing of that time or later stands before. A "
        "producer whose clock is two hours ahead gets an error for each: the broker takes none.",
    ) as result:
        feed = make_feed("canal-json", 600, options=TIMED["canal-json"])
        topic, now = new_name("clock"), int(time.time() * 1000)
        make_topic(kafka, topic)
        moved = [now - HOUR_MS * (number // 100 % 2) + number for number in range(600)]
        assert produce(kafka, topic, feed.messages, clock=moved.__getitem__) == []
        got = list(consume(kafka, topic))
        result.counts = count({0: feed.messages}, {0: [each.message for each in got]})
        assert result.counts.is_exact
        assert [each.timestamp_ms for each in got] == moved
        for asked in (now - HOUR_MS + 150, now + 250, now + HOUR_MS):
            begin = offset_at(kafka, topic, asked)
            assert all(stamp < asked for stamp in moved[:begin])
            assert begin == next((n for n, stamp in enumerate(moved) if stamp >= asked), 600)
        far = produce(kafka, topic, feed.messages[:20], clock=lambda _: now + 2 * HOUR_MS)
        result.figures = {"two hours ahead, refused aloud": len(far)}
        assert [each.number for each in far] == list(range(20))
        assert len(list(consume(kafka, topic))) == len(feed.messages)


@pytest.mark.parametrize("format_name", TIMED)
def test_times_in_the_messages_order_nothing(
    kafka: Kafka, new_name: NewName, format_name: str
) -> None:
    with recorded(
        f"clock/messages-{format_name}",
        f"{format_name} of a database and a producer whose clocks go back",
        "The times of commit and of sending that stand in the messages fall by an hour, twice. A "
        "feed of which a part comes again gives each change once, in the order of its offsets, "
        "with the times as they were.",
    ) as result:
        feed, events = feed_with_moved_clock(format_name, 300)
        topic = new_name("clock")
        make_topic(kafka, topic)
        third = len(feed.messages) // 3
        sent = [*feed.messages[: 2 * third], *feed.messages[third:]]  # a third comes again
        assert produce(kafka, topic, sent) == []
        arrived = events_of(feed, [each.message for each in consume(kafka, topic)])
        got = [timed(event) for event in drop_repeats(arrived)]
        wanted = [timed(event) for event in events]
        result.counts = count({0: wanted}, {0: got})
        result.figures = {"repeats dropped": len(arrived) - len(got)}
        assert result.counts.is_exact
        times = itertools.pairwise(commit_ms for _, commit_ms in got)
        assert sum(later < earlier for earlier, later in times) == 2


@pytest.mark.parametrize("moved", CLOCKS)
@pytest.mark.parametrize("format_name", ["csv", "canal-json"])
def test_dates_of_a_moved_clock_hide_nothing(tmp_path: Path, format_name: str, moved: str) -> None:
    with recorded(
        f"clock/sink-{format_name}-{moved}",
        f"{format_name} by a sink whose clock is moved: {moved}",
        "Folders of dates are of the sink's clock. As long as dates come in the order of writing "
        "every change is read once. Where they do not, the layout's own rule takes changes of a "
        "later folder for repeats: the reader counts each of them, and the check names the files.",
    ) as result:
        hours, is_in_order = CLOCKS[moved]
        context, place, now = Context(OPTIONS[format_name]), open_store(str(tmp_path / "x")), [0]
        writer = PrefixWriter(place, format_name, context, clock=lambda: now[0])
        for number, event in enumerate(events_of_sink(ROWS)):
            now[0] = (commit_ts_of(event) >> 18) + HOUR_MS * hours(number)
            writer.write(event)
        writer.close()
        wanted = undisturbed(tmp_path / "right", format_name, ROWS)
        prefix = list_prefix(place, get_format(format_name), context)
        gate = RowGate(prefix.checkpoint)
        faults: list[Fault] = []
        got = rows_of(read_events(place, prefix, context, faults.append, gate))
        taken_for_repeats = gate.repeats
        found = check_prefix(place, format_name, context).faults
        # Files of several dates stand in another order than in the other prefix.
        counts = count({0: sorted(wanted)}, {0: sorted(got)})
        if is_in_order:
            result.counts = counts
        else:
            result.figures = {
                "sent": counts.sent,
                "read": counts.received,
                "counted as repeats": taken_for_repeats,
                "files named": len(found),
            }
        assert faults == []
        assert counts.invented == counts.repeated == 0
        assert counts.lost == taken_for_repeats
        assert (taken_for_repeats == 0) is is_in_order
        assert {fault.kind for fault in found} == (set() if is_in_order else {"commit-ts-falls"})


def test_commit_ts_that_goes_back_is_named(tmp_path: Path) -> None:
    with recorded(
        "clock/commit-ts-back",
        "a database whose commit ts falls by an hour",
        "That breaks what the format rests on. The check names the files; a reader gets what its "
        "rules let through and counts all others, as repeats or as not below the checkpoint.",
    ) as result:
        context, place = Context(OPTIONS["csv"]), open_store(str(tmp_path))
        rows = [event for event in workload("orders-10", ROWS, 1) if isinstance(event, RowChange)]
        fallen = [
            replace(row, position=replace(row.position, commit_ts=commit_ts_of(row) - lag))
            for number, row in enumerate(rows)
            for lag in [(HOUR_MS << 18) * (number >= ROWS // 2)]
        ]
        context = replace(context, tables=workload_tables("orders-10"))
        writer = PrefixWriter(place, "csv", context, checkpoint=commit_ts_of(fallen[ROWS // 2]))
        write_all(writer, fallen)
        writer.close()
        prefix = list_prefix(place, get_format("csv"), context)
        gate = RowGate(prefix.checkpoint)
        got = list(read_events(place, prefix, context, lambda _: None, gate))
        found = check_prefix(place, "csv", context).faults
        result.figures = {
            "sent": len(fallen),
            "read": len(rows_of(got)),
            "counted as repeats": gate.repeats,
            "counted as not below the checkpoint": gate.beyond,
            "files named": len(found),
        }
        held_back = gate.repeats + gate.beyond
        assert len(rows_of(got)) + held_back == len(fallen)
        assert held_back > 0
        assert "commit-ts-falls" in {fault.kind for fault in found}


def test_store_refuses_a_client_whose_clock_is_an_hour_off(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recorded(
        "clock/store",
        "a sink whose clock is an hour behind the object store's",
        "The store refuses every request that is signed with such a time. The sink fails with one "
        "line and puts nothing; with the right time it goes on from its checkpoint.",
    ) as result:
        context, events = Context(OPTIONS["csv"]), events_of_sink(ROWS)
        writer = PrefixWriter(open_store(bucket), "csv", context)
        half = len(events) // 2
        write_all(writer, events[:half])
        before = list(keys(s3_client(), name_of(bucket)))
        with monkeypatch.context() as moved:
            an_hour_ago(moved)
            with pytest.raises(StoreError) as failure:
                write_all(writer, events[half:])
        assert "\n" not in str(failure.value)
        assert list(keys(s3_client(), name_of(bucket))) == before
        go_on(writer, events)
        got = rows_of(replayed(open_store(bucket), "csv", context))
        result.counts = count({0: undisturbed(tmp_path, "csv", ROWS)}, {0: got})
        result.figures = {"said": str(failure.value)}
        assert result.counts.is_exact


def feed_with_moved_clock(format_name: str, rows: int) -> tuple[QueueFeed, list[Event]]:
    """Return a feed whose times fall twice, one change a message, and what it has to give."""
    fields = ("commit_ts", "lsn", "tx_id", "commit_ms")
    changes = []
    for number, event in enumerate(workload("orders-10", rows, 1, position_fields=fields)):
        assert isinstance(event, RowChange)
        moved = 1_704_067_200_000 + number
        moved -= HOUR_MS * (rows // 3 <= number < rows // 2 or number >= rows * 2 // 3)
        position = replace(event.position, commit_ms=moved, sent_ms=moved + 5)
        changes.append(replace(event, position=position))
    format_ = get_format(format_name)
    context = Context(TIMED[format_name], tables=workload_tables("orders-10"))
    made = list(format_.from_events(changes, context=context))
    messages = tuple(each for each in made if isinstance(each, KafkaMessage))
    assert len(messages) == rows
    feed = QueueFeed(format_name, messages, format_.prepared(made, context))
    return feed, events_of(feed, messages)


def timed(event: Event) -> tuple[str, int]:
    """A change as it compares, and its time of commit."""
    commit_ms = event.position.commit_ms
    assert commit_ms is not None
    return repr(event), commit_ms


def commit_ts_of(event: Event) -> int:
    """The commit ts of a change that has one."""
    commit_ts = event.position.commit_ts
    assert commit_ts is not None
    return commit_ts


def an_hour_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let requests to a store be signed with the time of an hour ago."""
    signing = load_requirement("botocore.auth", "S3")
    now: Callable[..., datetime] = signing.get_current_datetime
    monkeypatch.setattr(
        signing, "get_current_datetime", lambda *said, **named: now(*said, **named) - HOUR
    )
