"""Batching: no message or file is too large, each is as full as it may be, nothing gets lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.formats import craft, open_protocol
from cdcwire.formats.craft import proposal as craft_proposal
from cdcwire.formats.craft.columns import encode_nullable
from cdcwire.formats.craft.profile import CRAFT, PROPOSAL
from cdcwire.model.events import RowChange
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators.comparing import texts_of
from cdcwire_generators.domain import fullest_options, source_domain_of
from cdcwire_generators.messages import decoded, definitions_of, encoded, expected_feed, round_trip
from cdcwire_generators.round_trip import Options
from cdcwire_generators.strategies import batches, change_streams, row_changes, tables

RECORD_OVERHEAD = 36  # what a Kafka record needs beside key and value, as Open Protocol counts

each_format = pytest.mark.parametrize("name", FORMAT_NAMES)
# Of these a message has up to max-batch-size rows. Of DataHub a body has so many records, of which
# an update has two: see test_datahub.
each_batched_format = pytest.mark.parametrize("name", ["craft", "craft-proposal", "open-protocol"])
each_file_format = pytest.mark.parametrize("name", ["csv", "canal-json"])
IN_FILES: dict[str, Options] = {"csv": {}, "canal-json": {"transport": "storage"}}


@each_batched_format
@given(data=st.data())
def test_batches_keep_order_and_lose_nothing(name: str, data: st.DataObject) -> None:
    """The events of all messages, one after the other, are the events that were encoded."""
    through = get_format(name)
    stream = data.draw(change_streams(max_events=20))
    options: Options = {"max-batch-size": data.draw(st.integers(1, 5))}
    found = decoded(encoded(stream.events, through, options), through, options)
    assert texts_of(found) == texts_of(expected_feed(stream.events, through, options))


@each_batched_format
@given(data=st.data())
def test_messages_have_as_many_rows_as_allowed(name: str, data: st.DataObject) -> None:
    """Each message but the last has max-batch-size rows, as long as size does not matter."""
    through = get_format(name)
    rows = data.draw(batches(max_size=12))
    limit = data.draw(st.integers(1, 5))
    messages = encoded(rows, through, {"max-batch-size": limit})
    sizes = [len(decoded([message], through)) for message in messages]
    full, rest = divmod(len(rows), limit)
    assert sizes == [limit] * full + [rest] * (rest > 0)


@each_format
@given(data=st.data())
def test_event_that_is_not_a_row_has_a_separate_message(name: str, data: st.DataObject) -> None:
    through = get_format(name)
    stream = data.draw(change_streams(domain=source_domain_of(through)))
    options, tables = fullest_options(through), stream.tables
    messages = encoded(stream.events, through, options, tables=tables)
    schema_files = [message for message in messages if _is_schema_file(message)]
    for message in messages:
        before = len(decoded(schema_files, through, options, tables=tables))
        events = decoded([*schema_files, message], through, options, tables=tables)[before:]
        assert len(events) == 1 or all(isinstance(event, RowChange) for event in events)


def _is_schema_file(message: Message) -> bool:
    if not isinstance(message, StoredFile):
        return False
    return "/meta/schema_" in message.path or message.path.startswith("schemas/")


@given(data=st.data())
def test_canal_json_messages_have_one_event_each_in_order(data: st.DataObject) -> None:
    """A queue has one message an event."""
    through = get_format("canal-json")
    stream = data.draw(change_streams(max_events=20, domain=source_domain_of(through)))
    options = fullest_options(through)
    messages = encoded(stream.events, through, options)
    found = [decoded([message], through, options) for message in messages]
    expected = expected_feed(stream.events, through, options)
    assert [texts_of(each) for each in found] == [texts_of([event]) for event in expected]


@each_file_format
@given(data=st.data())
def test_files_of_any_size_keep_the_order_of_a_table_and_lose_nothing(
    name: str, data: st.DataObject
) -> None:
    """Wherever files are cut, the rows of a table and partition stay in order, around its DDL."""
    through = get_format(name)
    domain = replace(source_domain_of(through), progress="checkpoint")
    stream = data.draw(change_streams(max_events=20, domain=domain))
    options: Options = {**IN_FILES[name], "file-size": data.draw(st.integers(1, 400))}
    found = round_trip(stream.events, through, options, tables=stream.tables)
    expected = expected_feed(stream.events, through, options, tables=stream.tables)
    assert texts_of(found) == texts_of(expected)


@each_file_format
@given(data=st.data())
def test_file_ends_with_the_row_that_fills_it(name: str, data: st.DataObject) -> None:
    """Each file but the last of a table has file-size bytes, and had fewer without its last row.

    Files are numbered from 1 on.
    """
    through = get_format(name)
    table = data.draw(tables(max_columns=3, domain=source_domain_of(through)))
    change = row_changes(table, domain=source_domain_of(through)).map(_without_partition)
    rows = data.draw(st.lists(change, min_size=1, max_size=12))
    options: Options = {**IN_FILES[name], "date-separator": "none"}
    known = definitions_of(rows)
    alone = [len(m.value or b"") for m in encoded(rows, through, {**options, "file-size": 1})]
    limit = data.draw(st.integers(1, 2 * max(alone)))
    files = encoded(rows, through, {**options, "file-size": limit}, tables=known)
    sizes = [len(file.value or b"") for file in files]
    assert sum(sizes) == sum(alone)
    first = 0
    for number, (file, size) in enumerate(zip(files, sizes, strict=True), start=1):
        count = len(decoded([file], through, options, tables=known))
        assert size == sum(alone[first : first + count])
        assert size - alone[first + count - 1] < limit
        assert size >= limit or number == len(files)
        assert isinstance(file, StoredFile)
        assert int(file.path.rpartition("CDC")[2].partition(".")[0]) == number
        first += count


def _without_partition(change: RowChange) -> RowChange:
    return replace(change, position=replace(change.position, partition=None))


def estimate_of(row: Any, profile: Any) -> int:
    """Return Craft's estimate of a row, from the values as they are coded."""
    size = 32 + len(row.schema.encode()) + len(row.table.encode())
    for group in row.groups:
        for column in group.columns:
            value = encode_nullable(column, profile)
            size += 16 + len(column.name.encode()) + len(value or b"")
    return size


@pytest.mark.parametrize(
    ("name", "decode", "profile"),
    [("craft", craft.decode, CRAFT), ("craft-proposal", craft_proposal.decode, PROPOSAL)],
    ids=["craft", "craft-proposal"],
)
@given(data=st.data())
def test_craft_batch_ends_with_the_row_that_is_beyond_the_limit(
    name: str, decode: Any, profile: Any, data: st.DataObject
) -> None:
    """The estimate without the last row is within max-message-bytes; with it, it is beyond."""
    rows = data.draw(batches(max_size=12))
    limit = data.draw(st.integers(1, 1500))
    messages = encoded(rows, get_format(name), {"max-message-bytes": limit, "max-batch-size": 100})
    for index, message in enumerate(messages):
        assert message.value is not None
        estimates = [estimate_of(row, profile) for row in decode(message.value).events]
        assert sum(estimates[:-1]) <= limit
        if index < len(messages) - 1:
            assert sum(estimates) > limit


@given(data=st.data())
def test_open_protocol_batch_ends_before_the_row_that_is_beyond_the_limit(
    data: st.DataObject,
) -> None:
    """No message is larger than max-message-bytes, and none could take the next row too."""
    through = get_format("open-protocol")
    rows = data.draw(batches(max_size=12))
    alone = [_size(message) for message in encoded(rows, through, {"max-batch-size": 1})]
    limit = max(alone) + data.draw(st.integers(0, 500))
    options: Options = {"max-message-bytes": limit, "max-batch-size": 100}
    messages = encoded(rows, through, options)
    first = 0
    for message in messages:
        count = len(decoded([message], through))
        assert _size(message) == sum(alone[first : first + count]) - 44 * (count - 1)
        assert _size(message) <= limit
        first += count
        if first < len(rows):
            assert _size(message) + alone[first] - 44 > limit


def _size(message: Any) -> int:
    return RECORD_OVERHEAD + len(message.key) + len(message.value)


@given(data=st.data())
def test_open_protocol_row_that_is_too_large_is_refused(data: st.DataObject) -> None:
    change = data.draw(row_changes())
    through = get_format("open-protocol")
    (message,) = encoded([change], through)
    with pytest.raises(EncodeError) as caught:
        encoded([change], through, {"max-message-bytes": _size(message) - 1})
    assert caught.value.clause == "open-protocol: batching"


@pytest.mark.parametrize("way", ["handle-key-only", "claim-check"])
@given(data=st.data())
def test_open_protocol_row_that_is_too_large_is_cut_to_its_handle_key(
    way: str, data: st.DataObject
) -> None:
    """A cut row has its handle key only; with the stored file at hand it is whole again."""
    table = data.draw(tables(key="primary", min_columns=3))
    change = data.draw(row_changes(table))
    through = get_format("open-protocol")
    (whole,) = encoded([change], through)
    options: Options = {
        "max-message-bytes": _size(whole) - 1,
        "large-message-handle-option": way,
        "claim-check-storage-uri": "s3://bucket/prefix",
    }
    try:
        messages = encoded([change], through, options)
    except EncodeError as error:
        is_still_too_large = error.clause in (f"open-protocol: {way.replace('-', ' ')}",)
        if not is_still_too_large:
            raise
        return
    files = [message for message in messages if isinstance(message, StoredFile)]
    kafka = [message for message in messages if isinstance(message, KafkaMessage)]
    assert len(files) == (way == "claim-check")
    (cut,) = decoded(kafka, through, options)
    assert isinstance(cut, RowChange)
    assert cut.sent == "key"
    for image in (cut.before, cut.after):
        assert image is None or image.names == table.key
    if files:
        location = f"s3://bucket/prefix/{files[0].path}"
        assert cut.extra["claim_check"] == location
        context = Context(options, blobs={location: files[0].value})
        found = list(through.to_events(kafka[0], context=context))
        assert texts_of(found) == texts_of(expected_feed([change], through))
        key, value = open_protocol.encode(open_protocol.decode(kafka[0].value, key=kafka[0].key))
        assert (key, value) == (kafka[0].key, kafka[0].value)
