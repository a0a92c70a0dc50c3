"""Feeds of one value per line: of Maxwell's file producer, kcat and the console consumer.

The key of such a message is unknown. Nothing else of a change may be lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import event_of
from cdcwire.files.messages_io import read_messages
from cdcwire.model.events import Event, RowChange
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

TEXT_FORMATS = ("canal-json", "cdl-json", "debezium-json", "maxwell-json")
OPTIONS = {"canal-json": {"enable-tidb-extension": "true"}}


def words_of(format_name: str) -> list[str]:
    options = OPTIONS.get(format_name, {})
    return [word for name, value in options.items() for word in ("--option", f"{name}={value}")]


@pytest.fixture
def feeds(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, Path, Path]:
    """A format, a feed of messages, and the same feed as values, in two directories."""
    name = str(request.param)
    whole, values = tmp_path / "whole", tmp_path / "values"
    assert main(["generate", name, "--rows", "40", "--to", str(whole), *words_of(name)]) == 0
    values.mkdir()
    messages = [message for _, message in read_messages(str(whole))]
    lines = [message.value for message in messages if message.value is not None]
    assert lines
    assert not any(b"\n" in line for line in lines)
    (values / "messages.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    for name in ("feed.json", "tables.json"):
        if (whole / name).exists():
            (values / name).write_bytes((whole / name).read_bytes())
    return str(request.param), whole, values


def rows_of(format_name: str, folder: Path) -> Iterator[RowChange]:
    """The row changes of a feed, without what the Kafka key says: the key and its roles."""
    format_ = get_format(format_name)
    context = Context(options=OPTIONS.get(format_name, {}))
    for _, message in read_messages(str(folder)):
        events: list[Event] = list(format_.to_events(message, context=context))
        for event in events:
            if isinstance(event, RowChange):
                yield event


def values_of(event: RowChange) -> dict[str, object]:
    images = {"before": event.before, "after": event.after}
    return {
        f"{side}.{column.name}": value
        for side, image in images.items()
        if image is not None
        for column, value in image.pairs
    }


@pytest.mark.parametrize("feeds", TEXT_FORMATS, indirect=True)
def test_values_have_all_that_the_messages_have(feeds: tuple[str, Path, Path]) -> None:
    name, whole, values = feeds
    expected, found = list(rows_of(name, whole)), list(rows_of(name, values))
    assert [each.op for each in found] == [each.op for each in expected]
    assert {"insert", "update", "delete"} <= {each.op for each in found}
    for one, other in zip(found, expected, strict=True):
        assert values_of(other).items() <= values_of(one).items()
        assert one.position == other.position
        assert one.table.key in (None, other.table.key)


@pytest.mark.parametrize("feeds", TEXT_FORMATS, indirect=True)
def test_every_verb_reads_values(
    feeds: tuple[str, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra compare")
    name, _, values = feeds
    count = len((values / "messages.jsonl").read_bytes().splitlines())
    words = words_of(name)
    assert main(["compare", f"{name}:file:{values}", f"{name}:file:{values}"]) == 0
    capsys.readouterr()
    for format_name in (name, "auto"):
        assert main(["decode", format_name, str(values), *words]) == 0
        assert len(capsys.readouterr().out.splitlines()) >= count
    assert main(["explain", name, str(values), *words]) == 0
    assert f"message {count - 1} " in capsys.readouterr().out
    assert main(["identify", str(values), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["format"] == name


@pytest.mark.parametrize("feeds", TEXT_FORMATS, indirect=True)
def test_a_file_of_any_name_has_values_if_its_first_lines_are_objects(
    feeds: tuple[str, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    name, _, values = feeds
    file = values / "output.txt"
    (values / "messages.jsonl").rename(file)
    count = len(file.read_bytes().splitlines())
    capsys.readouterr()
    assert main(["decode", name, str(file), *words_of(name)]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= count


DELETE = {
    "op": "d",
    "before": {"id": 5, "v": "a"},
    "after": None,
    "source": {
        "version": "3.2.0.Final",
        "connector": "postgresql",
        "name": "s",
        "ts_ms": 1,
        "db": "d",
        "schema": "public",
        "table": "t",
        "txId": 1,
        "lsn": 2,
    },
    "ts_ms": 1,
}


def test_debezium_delete_without_its_key_keeps_all_columns() -> None:
    message = KafkaMessage(None, json.dumps(DELETE).encode(), has_key=False)
    (event,) = get_format("debezium-json").to_events(message)
    assert isinstance(event, RowChange)
    assert event.table.key is None
    assert values_of(event) == {"before.id": 5, "before.v": "a"}
    assert list(map(event_of, get_format("debezium-json").decoder(Context())(message))) == [event]


def test_debezium_message_with_a_null_key_has_no_key() -> None:
    message = KafkaMessage(None, json.dumps(DELETE).encode())
    (event,) = get_format("debezium-json").to_events(message)
    assert isinstance(event, RowChange)
    assert event.table.key == ()


def test_unwrapped_delete_without_its_key_keeps_all_columns() -> None:
    row = {"id": 5, "v": "a", "__op": "d", "__table": "t", "__schema": "public"}
    message = KafkaMessage(None, json.dumps(row).encode(), has_key=False)
    context = Context(options={"transforms": "unwrap"})
    (event,) = get_format("debezium-json").to_events(message, context=context)
    assert isinstance(event, RowChange)
    assert event.table.key is None
    assert values_of(event) == {"before.id": 5, "before.v": "a"}
