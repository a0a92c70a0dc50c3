"""Keys, ranges and the order of shards: the properties that hold of every feed."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import EncodeError
from cdcwire.datahub.sharding import (
    HASH_END,
    TopicError,
    blob_text,
    check_blob_topic,
    check_shards,
    check_tuple_topic,
    hash_key,
    key_of_image,
    key_text,
    merge_shards,
    shard_of,
    shard_ranges,
    value_text,
)
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import Column, IntType

COUNTS = st.integers(1, 40)


def test_hash_key_is_md5_in_upper_case() -> None:
    assert hash_key("") == "D41D8CD98F00B204E9800998ECF8427E"
    assert hash_key(key_text(["1", None, "é"])) == hash_key("1\x01\x01é")


@given(COUNTS)
def test_ranges_share_all_hash_keys_out(count: int) -> None:
    ranges = shard_ranges(count)
    assert (ranges[0].begin, ranges[-1].end) == (0, HASH_END)
    for left, right in pairwise(ranges):
        assert left.end == right.begin
    sizes = [each.end - each.begin for each in ranges]
    assert max(sizes) - min(sizes) <= 1


@given(COUNTS, st.text())
def test_key_has_the_shard_whose_range_holds_its_hash(count: int, key: str) -> None:
    ranges = shard_ranges(count)
    index = shard_of(hash_key(key), ranges)
    assert int(hash_key(key), 16) in ranges[index]
    assert shard_of(hash_key(key).lower(), ranges) == index


@given(COUNTS)
def test_borders_belong_to_the_range_that_they_begin(count: int) -> None:
    ranges = shard_ranges(count)
    for index, each in enumerate(ranges):
        assert shard_of(f"{each.begin:032X}", ranges) == index
        assert shard_of(f"{each.end - 1:032X}", ranges) == index


@pytest.mark.parametrize("text", ["", "0" * 31, "g" * 32, "0" * 33, "é" * 32])
def test_hash_key_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="32 hex digits"):
        shard_of(text, shard_ranges(2))


def test_hash_key_that_no_shard_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="no shard"):
        shard_of("F" * 32, shard_ranges(2)[:1])
    with pytest.raises(ValueError, match="one shard"):
        shard_ranges(0)


def test_keys_are_wire_texts_and_keyless_rows_have_the_table() -> None:
    texts = {"a": value_text(1), "b": value_text(None), "c": value_text(Decimal("1.10"))}
    assert key_of_image(texts, ("c", "b", "a"), "t") == "1.10\x01\x011"
    assert key_of_image(texts, (), "t") == key_of_image(texts, None, "t") == "t"
    assert (value_text(True), value_text(0.5), value_text("x")) == ("true", "0.5", "x")
    assert blob_text("DATE", 5) == "5000"
    assert blob_text("BYTES", b"a") == "YQ=="
    assert blob_text("LONG", None) is None
    with pytest.raises(EncodeError):
        key_of_image(texts, ("x",), "t")
    with pytest.raises(EncodeError):
        hash_key("\ud800")


ID = Column("id", IntType(64))


def change(key: int, sequence_id: int, half: str | None = None, table: str = "t") -> RowChange:
    image = Image((ID,), (key,))
    is_before = half == "before"
    return RowChange(
        Table(table, "d", key=("id",)),
        "insert" if half is None else "update",
        image if is_before else None,
        None if is_before else image,
        Position(sequence_id=sequence_id),
        half,  # type: ignore[arg-type]
    )


@given(st.lists(st.integers(0, 20), min_size=1, max_size=40), st.integers(1, 5))
def test_shards_by_key_pass_the_check_and_merge_to_their_order(keys: list[int], count: int) -> None:
    ranges = shard_ranges(count)
    shards: list[list[Event]] = [[] for _ in ranges]
    events = [change(key, index) for index, key in enumerate(keys)]
    for event in events:
        assert event.after is not None
        shards[shard_of(hash_key(str(event.after["id"])), ranges)].append(event)
    check_shards(shards)
    assert list(merge_shards(shards)) == events


def test_halves_in_two_shards_meet_before_first() -> None:
    before, after = change(1, 5, "before"), change(2, 5, "after")
    later, beat = change(3, 6), Progress("heartbeat", Position(commit_ms=1))
    assert list(merge_shards([[after, beat], [before, later]])) == [before, after, beat, later]


@pytest.mark.parametrize(
    "shards",
    [
        [[change(1, 1)], [change(1, 2)]],
        [[change(1, 2), change(1, 1)]],
    ],
)
def test_shards_that_mix_keys_or_go_back_are_refused(shards: list[list[Event]]) -> None:
    with pytest.raises(TopicError):
        check_shards(shards)
    check_shards([[change(2, 2), change(1, 1)]])


def test_tuple_topic_has_rows_of_one_table() -> None:
    good = [change(1, 1), change(2, 2)]
    assert list(check_tuple_topic(good)) == good
    for other in (change(1, 3, table="u"), Progress("heartbeat")):
        with pytest.raises(TopicError) as caught:
            list(check_tuple_topic([*good, other]))
        assert caught.value.event == other


def test_blob_topic_has_one_database() -> None:
    ddl = SchemaChange("create", "x", None, Table("u", "s", "d"))
    good: list[Event] = [change(1, 1), Marker("begin"), ddl, change(1, 2, table="u")]
    assert list(check_blob_topic(good)) == good
    other = SchemaChange("create", "x", None, Table("u", "other"))
    with pytest.raises(TopicError) as caught:
        list(check_blob_topic([*good, other]))
    assert caught.value.event == other


def test_merging_is_lazy() -> None:
    def endless(step: int) -> Iterator[Event]:
        index = 0
        while True:
            index += step
            yield change(index, index)

    merged = merge_shards([endless(2), endless(3)])
    assert [next(merged).position.sequence_id for _ in range(5)] == [2, 3, 4, 6, 6]
