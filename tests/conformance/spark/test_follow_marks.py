"""Feeds that can be followed, and the positions in their messages. No Kafka here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra spark is not installed")

from cdcwire.arrow.batches import MessagePlace
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.model.events import Event, Position, Progress, RowChange
from cdcwire.registry import get_format
from cdcwire_conformance.cli import compare as compare_command
from cdcwire_conformance.cli import compare_run, main
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.rules import (
    DEFAULT_OPTIONS,
)
from cdcwire_conformance.decode.decoders import message_decoder
from cdcwire_conformance.sources.source_urls import SourceError, parse_source
from cdcwire_conformance.spark.follow.following import (
    followed_pair,
)
from cdcwire_conformance.spark.follow.scanning import ScanJob, scan
from cdcwire_conformance.spark.follow.watermarks import (
    ScannedRun,
)
from cdcwire_evidence.scenarios.feeds import make_feed
from cdcwire_generators.workloads import workload, workload_tables

WHOLE: dict[str, Any] = {"records_of_block": 10**6}  # one block for all records


def test_only_topics_with_a_shared_position_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    url = "kafka://127.0.0.1:9/t"
    for left, right, problem in (
        (f"craft:file:{tmp_path}", f"craft:{url}", "only topics are followed"),
        (f"craft:{url}?to=7", f"craft:{url}", "has no end"),
        (f"craft:{url}*", f"craft:{url}", "one topic per side is followed, not several"),
        (f"craft:{url}", f"canal-json:{url}", "share no position"),
        (f"craft:{url}", f"cdl-json:{url}", "share no position"),
        (f"avro:{url}", f"craft:{url}", "deletes of avro have no position"),
    ):
        context = Context({"enable-tidb-extension": True}) if "avro" in left else Context()
        feeds = ComparedFeed(parse_source(left), context), ComparedFeed(parse_source(right))
        with pytest.raises(SourceError, match=problem):
            followed_pair(*feeds, DEFAULT_OPTIONS)
    asked = followed_pair(
        ComparedFeed(parse_source(f"craft:{url}")),
        ComparedFeed(parse_source(f"canal-json:{url}"), Context({"enable-tidb-extension": True})),
        DEFAULT_OPTIONS,
    )
    assert (asked.position, asked.rules) == ("commit_ts", ("progress", "progress"))
    halves = [ComparedFeed(parse_source(f"datahub-{kind}:{url}")) for kind in ("tuple", "blob")]
    asked = followed_pair(halves[0], halves[1], DEFAULT_OPTIONS)
    assert (asked.position, asked.rules) == ("sequence_id", ("rows", "rows"))


@pytest.mark.parametrize("format_name", ["craft", "open-protocol", "canal-json"])
def test_marks_are_those_of_resolved_events(format_name: str) -> None:
    rows = [
        each
        for each in workload("orders-10", 30, 1, position_fields=("commit_ts",))
        if isinstance(each, RowChange)
    ]
    positions = [each.position.commit_ts or 0 for each in rows]
    resolved = Progress(
        "watermark" if format_name == "canal-json" else "resolved",
        Position(commit_ts=max(positions) + 1),
    )
    events: list[Event] = [*rows, resolved]
    context = Context(
        {"enable-tidb-extension": True} if format_name == "canal-json" else {},
        tables=workload_tables("orders-10"),
    )
    messages = [
        (MessagePlace("t", 0, offset), message)
        for offset, message in enumerate(
            get_format(format_name).from_events(events, context=context)
        )
        if isinstance(message, KafkaMessage)
    ]
    middle = sorted(positions)[10]
    look = ScanJob(
        get_format(format_name), context, "commit_ts", "progress", "row", records_of_block=10**6
    )
    (seen,) = scan(look, messages)
    assert seen == ScannedRun(
        0, 0, len(messages), min(positions), max(positions), max(positions) + 1
    )
    (seen,) = scan(replace(look, reported_to=middle, rule="rows"), messages)
    kept = [each for each in positions if each >= middle]
    assert (seen.least, seen.largest, seen.watermark) == (min(kept), max(kept), max(positions))
    assert seen.late == len(positions) - len(kept) > 0
    assert seen.lines[0].startswith("t[0]@0: a row of ")
    (seen,) = scan(replace(look, since=middle, until=max(positions)), messages)
    asked = [each for each in positions if middle <= each < max(positions)]
    assert (seen.least, seen.largest, seen.late) == (min(asked), max(asked), 0)
    cut = [(MessagePlace("t", 0, len(messages)), KafkaMessage(None, b"\xff"))]
    (seen,) = scan(look, messages + cut)
    assert seen.unreadable == 1
    place = f"t[0]@{len(messages)}: "
    assert seen.lines[0].startswith(place)
    (hidden,) = scan(replace(look, hides_values=True), messages + cut)
    assert hidden.lines[0].startswith(place)
    assert "can't be read (" in hidden.lines[0]
    assert "can't be read (" not in seen.lines[0]


@pytest.mark.parametrize(
    ("format_name", "position"),
    [
        ("datahub-tuple", "sequence_id"),
        ("datahub-blob", "sequence_id"),
        ("cdl-json", "lsn"),
        ("debezium-json", "lsn"),
    ],
)
def test_marks_of_formats_without_progress_are_those_of_rows(
    format_name: str, position: str
) -> None:
    places = [
        getattr(each.position, position)
        for each in workload("orders-10", 30, 1, position_fields=(position,))
        if isinstance(each, RowChange)
    ]
    feed = make_feed(format_name, 30)
    messages = [(MessagePlace("orders", 0, n), message) for n, message in enumerate(feed.messages)]
    look = ScanJob(
        get_format(format_name), feed.context, position, "rows", "stop", records_of_block=10**6
    )
    (seen,) = scan(look, messages)
    assert seen == ScannedRun(0, 0, len(messages), min(places), max(places), max(places))


def test_every_damage_is_seen_where_errors_are_rows() -> None:
    """Decoding errors are reported with the window, as their rows have no position."""
    feed = make_feed("craft", 4)
    value = feed.messages[0].value
    assert value is not None
    decode = message_decoder(get_format("craft"), feed.context)
    look = ScanJob(
        get_format("craft"), feed.context, "commit_ts", "progress", "row", records_of_block=10
    )
    damaged = 0
    for index in range(len(value)):
        byte = bytes([value[index] ^ 0xFF])
        flipped = KafkaMessage(None, value[:index] + byte + value[index + 1 :])
        try:
            list(decode(flipped))
        except DecodeError:
            damaged += 1
            (seen,) = scan(look, [(MessagePlace("t", 0, 0), flipped)])
            assert (index, seen.unreadable) == (index, 1)
    assert damaged > len(value) // 4


@pytest.mark.parametrize(
    ("format_name", "position"), [("debezium-json", "lsn"), ("craft", "commit_ts")]
)
def test_rows_of_other_tables_are_marks_too(format_name: str, position: str) -> None:
    feed = make_feed(format_name, 30)
    messages = [(MessagePlace("orders", 0, n), message) for n, message in enumerate(feed.messages)]
    other = frozenset({("shop", "other")})
    look = ScanJob(
        get_format(format_name),
        feed.context,
        position,
        "rows",
        "stop",
        include=other,
        records_of_block=10**6,
    )
    (seen,) = scan(look, messages)
    assert (seen.least, seen.largest) == (None, None)
    assert seen.watermark == max(
        getattr(each.position, position)
        for message in feed.messages
        for each in get_format(format_name).to_events(message, context=feed.context)
        if isinstance(each, RowChange)
    )


def test_feeds_that_cannot_be_followed_are_refused_before_spark_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(*_: object) -> None:
        raise AssertionError("Spark was started")

    for module in (compare_command, compare_run):
        monkeypatch.setattr(module, "spark_session", start)
        monkeypatch.setattr(module, "with_connectors", start)
    sources = "craft:kafka://127.0.0.1:1/shop.*", "craft:kafka://127.0.0.1:1/shop"
    assert main(["compare", *sources, "--follow"]) == 2
    problem = "kafka://127.0.0.1:1/shop.*: one topic per side is followed, not several"
    assert capsys.readouterr().err == f"cdcwire compare: craft:{problem}\n"
