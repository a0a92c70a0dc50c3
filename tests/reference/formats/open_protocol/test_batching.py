"""Batches, large messages and claim-check files, with the sizes to the byte."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cdcwire.core.context import Compression
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.formats.open_protocol import Item, Key, Message, Settings, decode, encode, from_event
from cdcwire.formats.open_protocol import Row as WireRow
from cdcwire.formats.open_protocol.batching import messages_of
from cdcwire.formats.open_protocol.events import events_of
from cdcwire.formats.open_protocol.wire import read_file, read_message, write_file
from cdcwire.model.events import Event, Image, Path, Position, Progress, RowChange, Table
from cdcwire.mysql.types import column_of

COLUMNS = (column_of("id", 3, 11), column_of("note", 15, 64))
TABLE = Table("t", "s", key=("id",))

ZLIB = {"lz4": Compression(zlib.compress, zlib.decompress)}


def insert(number: int, note: str = "x") -> RowChange:
    return RowChange(TABLE, "insert", None, Image(COLUMNS, (number, note)), Position(1))


def sizes(row: RowChange) -> tuple[int, int]:
    """Return the lengths of a row's key and value item."""
    key, value = encode(Message((from_event(row),)))
    return len(key) - 16, len(value) - 8


def single_size(row: RowChange) -> int:
    return 8 + 16 + sum(sizes(row)) + 36


def counts(messages: Sequence[object]) -> list[int]:
    found = []
    for message in messages:
        assert isinstance(message, KafkaMessage)
        found.append(len(decode(message.value, key=message.key).items))
    return found


def test_batch_ends_at_max_batch_size() -> None:
    messages = list(messages_of(map(insert, range(9)), Settings(max_batch_size=4)))
    assert counts(messages) == [4, 4, 1]


@pytest.mark.parametrize(("spare", "expected"), [(0, [3, 1]), (-1, [2, 2])])
def test_batch_ends_before_max_message_bytes(spare: int, expected: list[int]) -> None:
    rows = [insert(number) for number in range(4)]
    limit = 8 + 3 * (16 + sum(sizes(rows[0]))) + 36 + spare
    messages = list(messages_of(rows, Settings(max_message_bytes=limit)))
    assert counts(messages) == expected
    assert len({single_size(row) for row in rows}) == 1


def test_other_events_end_the_batch_and_are_sent_alone() -> None:
    resolved = Progress("resolved", Position(2))
    events: list[Event] = [insert(1), insert(2), resolved, resolved, insert(3)]
    messages = list(messages_of(events))
    assert counts(messages) == [2, 1, 1, 1]
    found = [
        event
        for message in messages
        if isinstance(message, KafkaMessage)
        for event in events_of(decode(message.value, key=message.key))
    ]
    assert found == events


def test_messages_come_as_soon_as_they_are_full() -> None:
    def endless() -> object:
        number = 0
        while True:
            yield insert(number)
            number += 1

    stream = messages_of(endless())  # type: ignore[arg-type]  # a generator without end
    assert counts([next(stream), next(stream)]) == [16, 16]


LARGE = insert(1, "x" * 400)
LARGER = insert(1, "x" * 500)
LIMIT = single_size(LARGE)


def test_row_of_just_the_largest_size_is_sent() -> None:
    assert counts(list(messages_of([LARGE], Settings(max_message_bytes=LIMIT)))) == [1]


def test_row_that_is_too_large_is_not_encoded() -> None:
    with pytest.raises(EncodeError) as caught:
        list(messages_of([insert(1), LARGE], Settings(max_message_bytes=LIMIT - 1)))
    assert "message too large" in caught.value.problem
    assert (caught.value.path, caught.value.clause) == (("events", 1), "open-protocol: batching")


CUT = Settings(max_message_bytes=LIMIT - 1, large_message="handle-key-only")
CHECK = Settings(
    max_message_bytes=LIMIT - 1, large_message="claim-check", claim_check_storage_uri="file:///a/"
)
KEY_ONLY = Image(COLUMNS[:1], (1,))


def test_handle_key_only_cuts_the_row() -> None:
    (message,) = messages_of([insert(1), LARGE], CUT)
    assert isinstance(message, KafkaMessage)
    small, cut = decode(message.value, key=message.key).items
    assert (small.key.ohk, cut.key.ohk, cut.key.ccl) == (False, True, "")
    event = events_of(Message((cut,)))[0]
    assert event == replace(LARGE, after=KEY_ONLY, sent="key")


def test_claim_check_stores_the_row_and_sends_its_key() -> None:
    stored, batch = messages_of([insert(1), LARGE, insert(3)], CHECK)
    assert isinstance(stored, StoredFile)
    assert counts([batch]) == [3]
    assert isinstance(batch, KafkaMessage)
    item = decode(batch.value, key=batch.key).items[1]
    assert item.key == Key(1, 1, "s", "t", ccl=f"file:///a/{stored.path}")
    content = json.loads(stored.value)
    assert stored.value == json.dumps(content, separators=(",", ":")).encode()
    assert list(content) == ["key", "value"]
    assert (b64decode(content["key"]), b64decode(content["value"])) == encode(
        Message((from_event(LARGE),))
    )


def test_claim_check_is_the_same_at_every_run() -> None:
    first, second = (list(messages_of([LARGE], CHECK)) for _ in range(2))
    assert first == second
    other = next(messages_of([insert(2, "x" * 400)], CHECK))
    assert isinstance(first[0], StoredFile)
    assert isinstance(other, StoredFile)
    assert first[0].path != other.path
    assert first[0].path.endswith(".json")


def test_claim_check_is_read_where_its_file_exists() -> None:
    stored, cut = messages_of([LARGE], CHECK)
    assert isinstance(stored, StoredFile)
    assert isinstance(cut, KafkaMessage)
    message = decode(cut.value, key=cut.key)
    location = message.items[0].key.ccl
    assert events_of(message, blobs={location: stored.value}) == [LARGE]
    reduced = events_of(message, blobs={"another": b""})
    assert reduced == [replace(LARGE, after=KEY_ONLY, sent="key", extra={"claim_check": location})]
    assert list(messages_of(reduced, CHECK)) == [cut]


def test_claim_check_without_a_storage_is_named_by_its_file() -> None:
    stored, cut = messages_of([LARGE], replace(CHECK, claim_check_storage_uri=""))
    assert isinstance(stored, StoredFile)
    assert isinstance(cut, KafkaMessage)
    assert decode(cut.value, key=cut.key).items[0].key.ccl == stored.path


@pytest.mark.parametrize(
    ("settings", "clause"),
    [(CUT, "open-protocol: handle key only"), (CHECK, "open-protocol: claim check")],
    ids=["handle-key-only", "claim-check"],
)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(replace(LARGER, table=replace(TABLE, key=())), id="no-handle-key"),
        pytest.param(replace(LARGER, table=replace(TABLE, key=("note",))), id="large-handle-key"),
    ],
)
def test_row_that_can_not_be_cut_is_not_encoded(
    settings: Settings, clause: str, row: RowChange
) -> None:
    with pytest.raises(EncodeError) as caught:
        list(messages_of([row], settings))
    assert (caught.value.path, caught.value.clause) == (("events", 0), clause)


def test_sizes_are_those_after_compression() -> None:
    settings = replace(
        CUT,
        compression_name="lz4",
        compressions=ZLIB,
    )
    (message,) = messages_of([LARGE], settings)
    assert isinstance(message, KafkaMessage)
    assert read_message(message.key, message.value, compression=settings.compression) == Message(
        (from_event(LARGE),)
    )


ITEM = from_event(insert(1))
MESSAGE_KEY, MESSAGE_VALUE = encode(Message((ITEM,)))


def content(key: bytes, value: bytes) -> bytes:
    from base64 import b64encode

    return b'{"key":"%s","value":"%s"}' % (b64encode(key), b64encode(value))


FILE = content(MESSAGE_KEY, MESSAGE_VALUE)


def test_file_both_ways() -> None:
    name, written = write_file(ITEM, "tiflow", None)
    assert written == FILE
    assert len(name) == 36 + len(".json")
    assert read_file(FILE) == ITEM
    assert read_file(b' {"x":1,"value":' + FILE[FILE.index(b'"value"') + 8 : -1] + b',"key":'
                     + FILE[7 : FILE.index(b',"value"')] + b"}\n") == ITEM  # fmt: skip


@pytest.mark.parametrize("cut", range(0, len(FILE), 5))
def test_file_every_truncation_is_rejected_at_its_end(cut: int) -> None:
    with pytest.raises(DecodeError) as caught:
        read_file(FILE[:cut])
    assert (caught.value.offset, caught.value.clause) == (cut, "open-protocol: claim check")


@pytest.mark.parametrize(
    ("data", "offset", "path", "clause"),
    [
        pytest.param(b"[]", 0, (), "claim check", id="no-object"),
        pytest.param(b'{"key":""}', 9, (), "claim check", id="no-value"),
        pytest.param(b'{"key":1,"value":""}', 7, ("key",), "claim check", id="no-string"),
        pytest.param(b'{"key":"x","value":""}', 7, ("key",), "claim check", id="no-base64"),
        pytest.param(
            b'{"key":"","key":"","value":""}', 10, ("key",), "claim check", id="member-twice"
        ),
        pytest.param(b'{"key":"","value":""}', 0, ("key",), "batch version", id="empty-message"),
        pytest.param(
            content(MESSAGE_KEY, MESSAGE_VALUE[:-1]),
            len(MESSAGE_VALUE) - 1,
            ("value", 0),
            "item lengths",
            id="broken-message",
        ),
        pytest.param(content(*encode(Message((ITEM, ITEM)))), 0, (), "claim check", id="two-rows"),
        pytest.param(
            content(*encode(Message((Item(Key(1, 3), None),)))), 0, (), "claim check", id="no-row"
        ),
        pytest.param(
            content(*encode(Message((replace(ITEM, key=replace(ITEM.key, ccl="x")),)))),
            0,
            ("key", 0),
            "claim check",
            id="claim-check-of-its-own",
        ),
    ],
)
def test_file_that_breaks_a_rule_is_rejected(
    data: bytes, offset: int, path: Path, clause: str
) -> None:
    message = Message((replace(ITEM, key=replace(ITEM.key, ccl="x")),))
    with pytest.raises(DecodeError) as caught:
        events_of(message, blobs={"x": data})
    assert caught.value.offset == 0  # of the message, which is right
    assert f"(byte {offset} of the claim-check file)" in str(caught.value)
    assert caught.value.path == ("claim_check", 0, *path)
    assert caught.value.clause == f"open-protocol: {clause}"


@pytest.mark.parametrize(("name", "value"), [("ts", 2), ("scm", "x"), ("tbl", "x"), ("ptn", 3)])
def test_file_of_another_row_is_rejected(name: str, value: int | str) -> None:
    key = replace(ITEM.key, ccl="x", **{name: value})  # type: ignore[arg-type]  # by name
    with pytest.raises(DecodeError) as caught:
        events_of(Message((replace(ITEM, key=key),)), blobs={"x": FILE})
    assert caught.value.path == ("claim_check", 0, "key", 0, name)
    assert caught.value.clause == "open-protocol: claim check"


@pytest.mark.parametrize(
    ("row", "group"),
    [
        pytest.param(insert(2), "u", id="another-key"),
        pytest.param(replace(insert(1), after=Image(COLUMNS[1:], ("x",))), "u", id="no-key-column"),
        pytest.param(RowChange(TABLE, "delete", KEY_ONLY, None, Position(1)), "u", id="delete"),
    ],
)
def test_file_without_the_values_of_the_reduced_row_is_rejected(row: RowChange, group: str) -> None:
    """The reduced row has the columns of the handle key."""
    assert isinstance(ITEM.value, WireRow)
    assert ITEM.value.u is not None
    reduced = Item(replace(ITEM.key, ccl="x"), WireRow(u=ITEM.value.u[:1]))
    stored = content(*encode(Message((from_event(row),))))
    with pytest.raises(DecodeError) as caught:
        events_of(Message((reduced,)), blobs={"x": stored})
    assert caught.value.path == ("claim_check", 0, "value", 0, group, "id")
    assert caught.value.clause == "open-protocol: claim check"


def test_row_that_is_cut_already_is_not_stored() -> None:
    with pytest.raises(EncodeError) as caught:
        write_file(replace(ITEM, key=replace(ITEM.key, ohk=True)), "tiflow", None)
    assert caught.value.clause == "open-protocol: claim check"
