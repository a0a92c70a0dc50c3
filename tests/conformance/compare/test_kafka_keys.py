"""Kafka keys that contradict the row of their message: within one feed, and between two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, DecimalType, IntType, Role, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.masking import Mask
from cdcwire_conformance.compare.meaning import Meaning
from cdcwire_conformance.compare.report import text, verdict_line
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS, CompareOptions, Window
from cdcwire_conformance.sources.source_urls import parse_source

KEYED: Mapping[str, Mapping[str, OptionValue]] = {
    "debezium-json": {},
    "maxwell-json": {"kafka_key_format": "hash"},
    "avro": {"enable-tidb-extension": True},
}
PRIMARY: frozenset[Role] = frozenset({"primary", "handle"})


def rows(*keys: tuple[int, str]) -> list[RowChange]:
    """Return an insert for each key of two columns."""
    columns = (
        Column("id", IntType(32), "int", roles=PRIMARY),
        Column("Name", TextType(), "varchar(20)", roles=PRIMARY),
        Column("v", IntType(32), "int"),
    )
    table = Table("t", "shop", columns=columns, key=("id", "Name"))
    return [
        RowChange(
            table,
            "insert",
            None,
            Image(columns, (number, name, 5)),
            Position(commit_ts=440000000000000000 + at, sequence_id=at, lsn=at, tx_id=str(at)),
        )
        for at, (number, name) in enumerate(keys)
    ]


def messages_of(name: str, changes: list[RowChange]) -> list[Message]:
    context = Context(options=KEYED.get(name, {}), tables=(changes[0].table,))
    return list(get_format(name).from_events(changes, context=context))


def kafka(messages: list[Message]) -> list[KafkaMessage]:
    return [each for each in messages if isinstance(each, KafkaMessage)]


def feed_of(folder: Path, name: str, messages: Sequence[Message]) -> ComparedFeed:
    folder.mkdir()
    write_messages(str(folder / "messages.jsonl"), messages)
    source = parse_source(f"{name}:file:{folder}")
    prepared = get_format(name).prepared(messages, Context(options=KEYED.get(name, {})))
    return ComparedFeed(source, prepared)


def swapped(messages: list[Message], others: list[Message], number: int) -> list[Message]:
    """Return messages with the key of one row taken from another feed."""
    kept = [n for n, each in enumerate(messages) if isinstance(each, KafkaMessage)]
    own, other = messages[kept[number]], others[kept[number]]
    assert isinstance(own, KafkaMessage)
    assert isinstance(other, KafkaMessage)
    assert other.key is not None
    assert own.key != other.key
    found = list(messages)
    found[kept[number]] = replace(own, key=other.key)
    return found


def compared(tmp_path: Path, name: str, options: CompareOptions = DEFAULT_OPTIONS) -> Comparison:
    """Return the comparison of a feed with one whose third key is that of the row 777."""
    good = messages_of(name, rows((1, "a"), (2, "b"), (3, "c"), (4, "d")))
    others = messages_of(name, rows((1, "a"), (2, "b"), (777, "c"), (4, "d")))
    bad = swapped(good, others, 2)
    return compare_feeds(
        feed_of(tmp_path / "a", name, good), feed_of(tmp_path / "b", name, bad), options
    )


@pytest.mark.parametrize("name", KEYED)
def test_a_key_of_another_row_is_a_difference(tmp_path: Path, name: str) -> None:
    found = compared(tmp_path, name)
    assert found.tables[0].is_equal
    assert found.is_different
    assert found.keys.keyed == (4, 4)
    assert found.keys.contradicting == (0, 1)
    first = found.keys.first[0]
    assert (first.side, first.table, first.column) == ("right", "shop.t", "id")
    assert (first.in_key.text, first.in_row.text) == ("777", "3")
    assert first.place is not None
    assert verdict_line(found) == "DIFFERENT: the Kafka keys differ"
    where = f"right {tmp_path}/b/messages.jsonl:{first.place.line}"
    assert f"{where}: shop.t: id is 777 in the key, 3 in the row" in text(found)


@pytest.mark.parametrize("name", KEYED)
def test_keys_of_their_rows_are_equal(tmp_path: Path, name: str) -> None:
    good = messages_of(name, rows((1, "a"), (2, "b "), (3, 'c"\u00fc'), (-4, ""), (11, "1")))
    feeds = feed_of(tmp_path / "a", name, good), feed_of(tmp_path / "b", name, good)
    found = compare_feeds(*feeds)
    assert found.is_equal
    assert "Kafka keys" in found.compared
    assert found.keys.contradicting == (0, 0)


@pytest.mark.parametrize("name", KEYED)
def test_a_contradiction_in_both_feeds_is_a_warning(tmp_path: Path, name: str) -> None:
    good = messages_of(name, rows((1, "a"), (2, "b"), (3, "c")))
    bad = swapped(good, messages_of(name, rows((1, "a"), (2, "b"), (3, "x"))), 2)
    found = compare_feeds(feed_of(tmp_path / "a", name, bad), feed_of(tmp_path / "b", name, bad))
    assert found.is_equal
    assert found.keys.contradicting == (1, 1)
    assert "warning: Kafka keys: 1 on the left and 1 on the right contradict" in text(found)


def test_maxwell_key_of_another_table_is_a_difference(tmp_path: Path) -> None:
    good = messages_of("maxwell-json", rows((1, "a"), (2, "b")))
    bad = [
        replace(each, key=each.key.replace(b'"t"', b'"u"'))
        for each in good
        if isinstance(each, KafkaMessage) and each.key is not None
    ]
    feeds = (
        feed_of(tmp_path / "a", "maxwell-json", good),
        feed_of(tmp_path / "b", "maxwell-json", bad),
    )
    found = compare_feeds(*feeds)
    assert found.keys.contradicting == (0, 2)
    assert found.keys.first[0].column is None
    assert "table is shop.u in the key, shop.t in the row" in text(found)


def test_keys_of_two_formats_are_not_compared(tmp_path: Path) -> None:
    keys = [(1, "a"), (2, "b")]
    feeds = [
        feed_of(tmp_path / name, name, messages_of(name, rows(*keys)))
        for name in ("debezium-json", "maxwell-json")
    ]
    found = compare_feeds(feeds[0], feeds[1])
    assert ("Kafka keys", "the formats differ") in found.left_out
    assert "Kafka keys" not in found.compared


def test_feeds_without_keys_say_nothing_of_them(tmp_path: Path) -> None:
    messages = messages_of("canal-json", rows((1, "a")))
    feeds = [feed_of(tmp_path / name, "canal-json", messages) for name in "ab"]
    found = compare_feeds(feeds[0], feeds[1])
    assert not any(name == "Kafka keys" for name, _ in found.left_out)


def test_a_side_without_keys_is_named(tmp_path: Path) -> None:
    good = messages_of("maxwell-json", rows((1, "a"), (2, "b")))
    bare = [replace(each, key=None) for each in good if isinstance(each, KafkaMessage)]
    feeds = [feed_of(tmp_path / n, "maxwell-json", each) for n, each in (("a", good), ("b", bare))]
    options = CompareOptions(definitions=(rows((1, "a"))[0].table,))
    found = compare_feeds(feeds[0], feeds[1], options)
    assert ("Kafka keys", "the right feed has none") in found.left_out


def test_rows_of_a_table_without_a_key_leave_the_keys_of_other_tables_compared(
    tmp_path: Path,
) -> None:
    changes = rows((1, "a"), (2, "b"))
    bare = replace(changes[0], table=replace(changes[0].table, name="log", key=()))
    name = "debezium-json"
    good = [*messages_of(name, changes), *messages_of(name, [bare])]
    assert [each.key is None for each in kafka(good)] == [False, False, True]
    bad = swapped(good, messages_of(name, rows((1, "a"), (777, "b"))), 1)
    feeds = feed_of(tmp_path / "a", name, good), feed_of(tmp_path / "b", name, bad)
    found = compare_feeds(*feeds)
    assert found.keys.differ
    assert all(each.is_equal for each in found.tables)


def test_a_row_without_the_key_that_its_table_has_is_named(tmp_path: Path) -> None:
    good = kafka(messages_of("debezium-json", rows((1, "a"), (2, "b"))))
    bare = [good[0], replace(good[1], key=None)]
    feeds = (
        feed_of(tmp_path / "a", "debezium-json", good),
        feed_of(tmp_path / "b", "debezium-json", bare),
    )
    options = CompareOptions(definitions=(rows((1, "a"))[0].table,))
    found = compare_feeds(*feeds, options)
    assert ("Kafka keys", "1 messages of the right feed have none") in found.left_out


@pytest.mark.parametrize(("number", "said"), [(1, "absent"), (0, "absent earlier")])
def test_a_key_that_lacks_a_column_of_the_other_keys_is_a_difference(
    tmp_path: Path, number: int, said: str
) -> None:
    options: dict[str, OptionValue] = {"schemas-enable": "false"}
    changes = rows((1, "a"), (2, "b"), (3, "c"))
    context = Context(options=options, tables=(changes[0].table,))
    good = kafka(list(get_format("debezium-json").from_events(changes, context=context)))
    bad = list(good)
    bad[number] = replace(good[number], key=b'{"id":%d}' % (number + 1))
    feeds = [
        feed_of(tmp_path / name, "debezium-json", each) for name, each in (("a", good), ("b", bad))
    ]
    found = compare_feeds(feeds[0], feeds[1])
    assert found.keys.differ
    assert found.keys.contradicting == (0, 1)
    assert (found.keys.first[0].column, found.keys.first[0].in_key.text) == ("Name", said)
    both = compare_feeds(feeds[1], feeds[1])
    assert both.is_equal
    assert both.keys.contradicting == (1, 1)


def test_keys_are_not_compared_in_a_window(tmp_path: Path) -> None:
    options = CompareOptions(window=Window(0, 1))
    found = compared(tmp_path, "debezium-json", options)
    assert not found.keys.differ
    assert any(name == "Kafka keys" for name, _ in found.left_out)


def test_a_decimal_in_a_key_without_schema_is_not_judged(tmp_path: Path) -> None:
    columns = (
        Column("id", DecimalType(5, 2), "decimal(5,2)", roles=PRIMARY),
        Column("v", IntType(32), "int"),
    )
    table = Table("t", "shop", columns=columns, key=("id",))
    change = RowChange(
        table, "insert", None, Image(columns, (Decimal("1.50"), 1)), Position(lsn=1, commit_ms=0)
    )
    context = Context(options={"schemas-enable": "false"}, tables=(table,))
    messages = list(get_format("debezium-json").from_events([change], context=context))
    feeds = []
    for name in "ab":
        feed = feed_of(tmp_path / name, "debezium-json", messages)
        feeds.append(replace(feed, context=context))
    found = compare_feeds(feeds[0], feeds[1], CompareOptions(definitions=(table,)))
    assert found.is_equal
    assert found.keys.contradicting == (0, 0)
    assert any(name == "Kafka keys" for name, _ in found.left_out)


def test_masked_and_redacted_keys_show_no_value(tmp_path: Path) -> None:
    options = CompareOptions(meaning=Meaning(redacted=frozenset({"id"})))
    found = compared(tmp_path, "debezium-json", options)
    assert "777" not in text(found)
    assert "id is <redacted> in the key, <redacted> in the row" in text(found)
    (tmp_path / "masked").mkdir()
    shown = text(
        Mask(b"0123456789abcdef").comparison(compared(tmp_path / "masked", "debezium-json"))
    )
    assert "777" not in shown
    assert "<masked " in shown


@pytest.mark.parametrize(("sent", "is_other"), [("-1", False), ("-2", True)])
def test_key_has_the_bits_of_an_unsigned_integer_of_its_row(
    tmp_path: Path, sent: str, is_other: bool
) -> None:
    column = Column("id", IntType(64, True), "bigint unsigned", roles=PRIMARY)
    table = Table("t", "d", columns=(column,), key=("id",))
    source = (
        '{"version":"3.2.0.Final","connector":"mysql","name":"n","ts_ms":1,"db":"d","table":"t"}'
    )
    value = f'{{"before":null,"after":{{"id":-1}},"source":{source},"op":"c","ts_ms":2}}'
    message = KafkaMessage(f'{{"id":{sent}}}'.encode(), value.encode())
    feed = feed_of(tmp_path / "a", "debezium-json", [message])
    defined = replace(feed, context=replace(feed.context, tables=(table,)))
    found = compare_feeds(defined, defined, DEFAULT_OPTIONS)
    assert found.is_equal
    assert found.keys.contradicting == ((1, 1) if is_other else (0, 0))
