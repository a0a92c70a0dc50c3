"""Laws of DataHub alone: bodies in three encodings, shards, and the way between Tuple and Blob."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.datahub.body import BodySettings, read_body, write_body
from cdcwire.datahub.carrying import headers_of
from cdcwire.datahub.mapping import Lost, Origin, blob_to_tuple, table_of_blob, tuple_to_blob
from cdcwire.datahub.message import Encoding
from cdcwire.datahub.sharding import (
    HASH_END,
    blob_text,
    check_shards,
    hash_key,
    key_of_image,
    merge_shards,
    shard_of,
    shard_ranges,
    value_text,
)
from cdcwire.datahub.streamx import BlobMessage
from cdcwire.datahub.tuple_topic import Topic, TupleRow
from cdcwire.format import Format
from cdcwire.formats import datahub_blob, datahub_tuple
from cdcwire.model.events import Event, Image, RowChange, Table
from cdcwire.model.kinds import TimestampType
from cdcwire.model.steps import join_halves
from cdcwire.registry import get_format
from cdcwire_generators.comparing import plainly, texts_of
from cdcwire_generators.domain import Domain, domain_of, source_domain_of, with_position_fields
from cdcwire_generators.formats import clauses_of
from cdcwire_generators.messages import decoded, encoded, expected_feed
from cdcwire_generators.round_trip import Options
from cdcwire_generators.strategies import (
    ChangeStream,
    change_streams,
    damaged_bytes,
    json_renderings,
    row_changes,
    tables,
)

TUPLE, BLOB = get_format("datahub-tuple"), get_format("datahub-blob")
NAMES = (TUPLE.name, BLOB.name)
POSITION = ("sequence_id", "commit_ms")
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
each_format = pytest.mark.parametrize("name", NAMES)
each_encoding = pytest.mark.parametrize("encoding", ENCODINGS)


def with_instants(domain: Domain) -> Domain:
    """Return a domain that has instants too, which come back in another form."""
    return replace(domain, kinds=domain.kinds | {"timestamp with zone"})


# What both kinds of topics carry, and what Tuple topics do.
OF_BOTH = with_instants(domain_of(TUPLE, BLOB))
OF_TUPLE = with_instants(domain_of(TUPLE))


def settings_of(options: Options) -> BodySettings:
    return datahub_tuple.read_settings(options).body


def bodies(
    name: str, stream: ChangeStream, options: Options
) -> tuple[list[KafkaMessage], tuple[Table, ...]]:
    """Return the bodies of a stream, and the definition of its topic, where that needs one."""
    found = encoded(stream.events, get_format(name), options, tables=stream.tables)
    messages = [message for message in found if isinstance(message, KafkaMessage)]
    return messages, stream.tables if name == TUPLE.name else ()


# ---- bytes -----------------------------------------------------------------------------------


@given(stream=change_streams(domain=source_domain_of(BLOB)))
def test_blob_records_come_back_byte_for_byte(stream: ChangeStream) -> None:
    """encode(decode(b)) == b."""
    for message in encoded(stream.events, BLOB):
        assert message.value is not None
        assert datahub_blob.encode(datahub_blob.decode(message.value)) == message.value


@given(change=row_changes(domain=source_domain_of(BLOB)), data=st.data())
def test_blob_every_rendering_means_the_same(change: RowChange, data: st.DataObject) -> None:
    """decode(r) == decode(b) for members in any order, with white space and other escapes."""
    for message in encoded([change], BLOB):
        assert message.value is not None
        rendering = data.draw(json_renderings(message.value))
        found = decoded([KafkaMessage(None, rendering)], BLOB)
        assert texts_of(found) == texts_of(decoded([message], BLOB))


@each_format
@each_encoding
@given(data=st.data())
def test_bodies_come_back_byte_for_byte(encoding: Encoding, name: str, data: st.DataObject) -> None:
    """write(read(b)) == b for every encoding, and compressed too."""
    options: Options = {
        "encoding": encoding,
        "compression": data.draw(st.sampled_from(("none", "deflate", "zlib"))),
        "content-encoding": data.draw(st.sampled_from(("none", "deflate"))),
    }
    through = get_format(name)
    stream = data.draw(change_streams(domain=source_domain_of(through), max_events=3))
    messages, topics = bodies(name, stream, options)
    columns = datahub_tuple.topic_of(topics[0]).fields if topics else None
    settings = settings_of(options)
    for message in messages:
        assert message.value is not None
        body = read_body(message.value, columns, settings, headers_of(message))
        raw, headers = write_body(body, columns, settings)
        assert raw == message.value
        assert headers == headers_of(message)


@each_format
@each_encoding
@given(data=st.data())
def test_bodies_are_as_full_as_allowed_and_part_no_update(
    encoding: Encoding, name: str, data: st.DataObject
) -> None:
    """No event is lost; a body has max-batch-size records, less where an update would part."""
    through = get_format(name)
    limit = data.draw(st.integers(1, 5))
    options: Options = {"encoding": encoding, "max-batch-size": limit}
    stream = data.draw(change_streams(domain=source_domain_of(through)))
    messages, topics = bodies(name, stream, options)
    found = [decoded([message], through, options, tables=topics) for message in messages]
    expected = expected_feed(stream.events, through, options)
    assert texts_of(event for events in found for event in events) == texts_of(expected)
    weights = [len(expected_feed([event], through)) for event in stream.events]
    for index, events in enumerate(found):
        assert len(events) <= limit or (len(events), limit) == (2, 1)
        list(join_halves(events))  # raises where an update is parted
        taken = 0
        while weights and taken < len(events):
            taken += weights.pop(0)
        assert taken == len(events)
        is_last = index == len(found) - 1
        assert is_last == (not weights)
        assert is_last or taken + weights[0] > limit


@each_format
@given(data=st.data())
def test_damaged_compressed_bodies_raise_decode_error_only(name: str, data: st.DataObject) -> None:
    """What is compressed has no place of its own: the error stands within the body all the same."""
    through = get_format(name)
    table = data.draw(tables(max_columns=2, domain=source_domain_of(through)))
    change = data.draw(row_changes(table, domain=source_domain_of(through)))
    options: Options = data.draw(
        st.sampled_from(
            (
                {"encoding": "batch", "compression": "zlib"},
                {"encoding": "json", "content-encoding": "deflate"},
            )
        )
    )
    stream = ChangeStream((table,), (change,) * 4)
    (message,), topics = bodies(name, stream, {**options, "max-batch-size": 1000})
    assert message.value is not None
    damaged = data.draw(damaged_bytes(message.value))
    error = failure_of(replace(message, value=damaged), through, Context(options, topics))
    if error is not None:
        assert 0 <= error.offset <= len(damaged)
        assert error.clause.startswith(clauses_of(name))


def failure_of(message: KafkaMessage, through: Format, context: Context) -> DecodeError | None:
    try:
        list(through.to_events(message, context=context))
    except DecodeError as error:
        return error
    return None


# ---- shards ----------------------------------------------------------------------------------


def tuple_shard(row: TupleRow, topic: Topic, count: int) -> int:
    """Return the shard of a row by its own key."""
    names = [topic.fields[index].name for index in topic.data]
    texts = dict(zip(names, map(value_text, row.values), strict=True))
    key = key_of_image(texts, topic.table.key, topic.table.name or "")
    return shard_of(hash_key(key), shard_ranges(count))


def blob_shard(message: BlobMessage, count: int) -> int:
    """Return the shard of a message by the key of its image, the one after if it has both."""
    types = {column.name: column.type for column in message.columns or ()}
    cells = message.after if message.after is not None else message.before
    texts = {name: blob_text(types[name], value) for name, value in cells or ()}
    assert message.source is not None
    key = key_of_image(texts, message.primary_key, message.source.table_name or "")
    return shard_of(hash_key(key), shard_ranges(count))


def key_in(event: Event) -> str:
    """Return what the key of a half is in the model."""
    assert isinstance(event, RowChange)
    image = event.after or event.before
    assert isinstance(image, Image)
    return repr((event.table.schema, event.table.name, [image[k] for k in event.table.key or ()]))


def sharded(stream: ChangeStream, name: str, count: int) -> list[list[Event]]:
    """Return the rows of a stream as the shards of a topic have them, by the reference rule."""
    shards: list[list[Event]] = [[] for _ in range(count)]
    rows = [event for event in stream.events if isinstance(event, RowChange)]
    if name == TUPLE.name:
        topic = datahub_tuple.topic_of(stream.tables[0])
        for event in rows:
            for row in datahub_tuple.from_event(event, topic):
                shards[tuple_shard(row, topic, count)].append(datahub_tuple.to_event(row, topic))
        return shards
    for event in rows:
        for message in datahub_blob.from_event(event):
            found = datahub_blob.to_event(message)
            assert found is not None
            shards[blob_shard(message, count)].append(found)
    return shards


def streams(name: str, *, with_key_changes: bool) -> st.SearchStrategy[ChangeStream]:
    domain = replace(domain_of(get_format(name)), progress=None, markers=())
    domain = with_position_fields(domain, POSITION)
    return change_streams(
        domain=domain, with_schema_changes=False, with_key_changes=with_key_changes
    )


@each_format
@given(data=st.data(), count=st.integers(1, 9))
def test_one_key_is_in_one_shard_in_order(name: str, data: st.DataObject, count: int) -> None:
    """Also where an update changes the key: each half goes by its own."""
    stream = data.draw(streams(name, with_key_changes=True))
    shards = sharded(stream, name, count)
    check_shards(shards)
    homes: dict[str, int] = {}
    for index, shard in enumerate(shards):
        for event in shard:
            assert homes.setdefault(key_in(event), index) == index
        sequence = [event.position.sequence_id or 0 for event in shard]
        assert sequence == sorted(sequence)


@each_format
@given(data=st.data(), count=st.integers(1, 9))
def test_shards_in_any_order_give_the_changes_back(
    name: str, data: st.DataObject, count: int
) -> None:
    """Merged by sequence id, halves meet across shards, and all is in the order of the source."""
    stream = data.draw(streams(name, with_key_changes=True))
    shards = data.draw(st.permutations(sharded(stream, name, count)))
    found = list(join_halves(merge_shards(shards)))
    assert [e.position.sequence_id for e in found] == [
        e.position.sequence_id for e in stream.events
    ]
    assert texts_of(plainly(found, POSITION)) == texts_of(plainly(stream.events, POSITION))


@given(stream=change_streams(domain=replace(OF_BOTH, progress=None), with_key_changes=True))
def test_both_kinds_of_topics_put_a_key_into_one_shard(stream: ChangeStream) -> None:
    """The key is in the texts of a Tuple topic, whatever the rows travel as."""
    for event in stream.events:
        assert isinstance(event, RowChange)
        (first, *_) = datahub_blob.from_event(event)
        topic = datahub_tuple.topic_of(table_of_blob(first))
        for message in datahub_blob.from_event(event):
            rows = blob_to_tuple(message, topic).value
            assert [tuple_shard(row, topic, 7) for row in rows] == [blob_shard(message, 7)]


@given(count=st.integers(1, 300), number=st.integers(0, HASH_END - 1))
def test_every_hash_key_has_one_shard(count: int, number: int) -> None:
    ranges = shard_ranges(count)
    home = shard_of(f"{number:032X}", ranges)
    assert [index for index, each in enumerate(ranges) if number in each] == [home]
    assert (ranges[0].begin, ranges[-1].end) == (0, HASH_END)
    assert {each.end - each.begin for each in ranges} <= {
        HASH_END // count,
        HASH_END // count + 1,
    }


# ---- Tuple and Blob --------------------------------------------------------------------------

MEMBERS: dict[str, Lost] = {
    "system_time": "systemTime",
    "checkpoint_time": "checkpointTime",
    "version": "version",
    "primary_key": "primaryKey",
}


def origin_of(message: BlobMessage) -> Origin:
    source = message.source
    assert source is not None
    assert source.db_name is not None
    assert source.db_type is not None
    return Origin(
        source.db_name,
        source.db_type,
        source.db_version,
        source.schema_name,
        message.primary_key,
        message.version,
    )


@given(change=row_changes(domain=OF_BOTH))
def test_blob_to_tuple_and_back_loses_what_is_listed(change: RowChange) -> None:
    """blob -> tuple -> blob gives the message again, but for members that its losses name."""
    for message in datahub_blob.from_event(change):
        topic = datahub_tuple.topic_of(table_of_blob(message))
        mapped = blob_to_tuple(message, topic)
        (row,) = mapped.value
        again = tuple_to_blob(row, topic, origin_of(message))
        assert again.losses == ()
        lost = {loss.what for loss in mapped.losses}
        for field in fields(BlobMessage):
            here, there = getattr(message, field.name), getattr(again.value, field.name)
            assert here == there or (there is None and MEMBERS[field.name] in lost)
        # The origin repeated what is listed, so the row itself has none of it.
        assert {"dbName", "dbType", "version"} <= lost
        assert ("primaryKey" in lost) == (message.primary_key is not None)


@given(change=row_changes(domain=OF_TUPLE), truncate=st.booleans())
def test_tuple_to_blob_and_back_loses_what_is_listed(change: RowChange, truncate: bool) -> None:
    """tuple -> blob -> tuple gives the values again, but for types and digits that are listed."""
    image = change.after or change.before
    assert image is not None
    table = Table(change.table.name, change.table.schema, columns=image.columns, key=())
    topic = datahub_tuple.topic_of(table)
    for row in datahub_tuple.from_event(change, topic):
        try:
            mapped = tuple_to_blob(row, topic, Origin("test", "MySQL"), truncate=truncate)
        except EncodeError:
            assert not truncate
            assert has_digits_below_ms(row, topic)
            continue
        (again,) = blob_to_tuple(
            mapped.value, datahub_tuple.topic_of(table_of_blob(mapped.value))
        ).value
        assert again[:-1] == row[:-1]
        cut = {loss.column: loss.value for loss in mapped.losses if loss.what == "digits below ms"}
        typed = {loss.column for loss in mapped.losses if loss.what == "column type"}
        for index, here, there in zip(topic.data, row.values, again.values, strict=True):
            field = topic.fields[index]
            is_typed = field.type not in ("BIGINT", "DOUBLE", "BOOLEAN", "STRING", "TIMESTAMP")
            assert (field.name in typed) == is_typed
            rest = int(cut.get(field.name, "0 us").removesuffix(" us"))
            if isinstance(here, int) and rest:
                assert isinstance(there, int)
                assert (here - rest, field.type) == (there, "TIMESTAMP")
            elif field.type == "DECIMAL" and here is not None:
                assert there == f"{here:f}"
            else:
                assert (type(there), repr(there)) == (type(here), repr(here))


def has_digits_below_ms(row: TupleRow, topic: Topic) -> bool:
    values: Sequence[object] = row.values
    return any(
        isinstance(column.type, TimestampType) and isinstance(value, int) and value % 1000
        for column, value in zip(topic.columns, values, strict=True)
    )
