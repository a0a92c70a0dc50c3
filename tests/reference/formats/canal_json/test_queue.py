"""Messages of a queue: rows too large and what becomes of them, claim-check files, compression."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cdcwire.core.context import Compression, Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionError, OptionValue
from cdcwire.formats.canal_json import FORMAT, Settings, decode, from_event
from cdcwire.formats.canal_json.batching import RECORD_OVERHEAD, messages_of
from cdcwire.formats.canal_json.events import events_of
from cdcwire.formats.canal_json.wire import read_message, write_object
from cdcwire.model.events import (
    Event,
    Image,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import Column, IntType, TextType

ID = Column("id", IntType(32), "int", roles=frozenset({"primary"}))
COLUMNS = (ID, Column("v", TextType(), "text"))
TABLE = Table("t", "s", key=("id",))


def _unzip(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(str(error)) from error


ZLIB = Compression(zlib.compress, _unzip)
CUT = Settings(tidb_extension=True, large_message="handle-key-only", max_message_bytes=500)
CLAIM = replace(CUT, large_message="claim-check", claim_check_storage_uri="file:///claims/")


def change(op: Op, size: int = 1000, **key: Sequence[str]) -> RowChange:
    image = Image(COLUMNS, (1, "x" * size))
    before = image if op != "insert" else None
    after = image if op != "delete" else None
    table = replace(TABLE, key=tuple(key["key"])) if key else TABLE
    return RowChange(table, op, before, after, Position(commit_ts=1 << 18))


def values_of(messages: Sequence[Message]) -> list[bytes]:
    found = [message.value for message in messages if isinstance(message, KafkaMessage)]
    return [value for value in found if value is not None]


each_op = pytest.mark.parametrize("op", ["insert", "update", "delete"])


def test_each_event_is_a_message_without_key() -> None:
    events: list[Event] = [change("insert", 1), change("update", 1), change("delete", 1)]
    events.append(SchemaChange("alter", "q", 5, TABLE, Position(commit_ts=1 << 18)))
    events.append(Progress("watermark", Position(commit_ts=1 << 18)))
    messages = list(messages_of(events, Settings(tidb_extension=True)))
    assert [message.key for message in messages if isinstance(message, KafkaMessage)] == [None] * 5
    types = [json.loads(value)["type"] for value in values_of(messages)]
    assert types == ["INSERT", "UPDATE", "DELETE", "ALTER", "TIDB_WATERMARK"]


def test_size_of_a_message_may_reach_the_limit_but_not_exceed_it() -> None:
    event = change("insert", 1)
    size = len(write_object(from_event(event))) + RECORD_OVERHEAD
    assert len(list(messages_of([event], Settings(max_message_bytes=size)))) == 1
    with pytest.raises(EncodeError) as caught:
        list(messages_of([change("insert", 0), event], Settings(max_message_bytes=size - 1)))
    assert caught.value.path == ("events", 1)
    assert caught.value.clause == "canal-json: limits"


@each_op
def test_large_row_is_cut_to_its_handle_key(op: Op) -> None:
    (message,) = messages_of([change(op)], CUT)
    found = json.loads(message.value or b"")
    assert found["_tidb"] == {"commitTs": 1 << 18, "onlyHandleKey": True}
    assert found["data"] == [{"id": "1"}]
    assert found["old"] == ([{"id": "1"}] if op == "update" else None)
    assert (found["sqlType"], found["mysqlType"]) == ({"id": 4}, {"id": "int"})
    assert found["pkNames"] == ["id"]
    (event,) = FORMAT.to_events(message, context=Context())
    assert isinstance(event, RowChange)
    assert event.sent == "key"


@each_op
def test_large_row_is_stored_outside_the_queue(op: Op) -> None:
    event = change(op)
    stored, message = messages_of([event], CLAIM)
    assert isinstance(stored, StoredFile)
    held = json.loads(stored.value)
    assert held == {"key": None, "value": held["value"]}
    assert base64.b64decode(held["value"]) == write_object(from_event(event, CLAIM))
    place = f"file:///claims/{stored.path}"
    found = json.loads(message.value or b"")
    assert found["_tidb"] == {"commitTs": 1 << 18, "claimCheckLocation": place}

    context = Context(blobs={place: stored.value})
    (whole,) = FORMAT.to_events(message, context=context)
    (cut,) = FORMAT.to_events(message, context=Context())
    assert isinstance(whole, RowChange)
    assert isinstance(cut, RowChange)
    side = "before" if op == "delete" else "after"
    assert getattr(whole, side).values == getattr(event, side).values
    assert (whole.sent, dict(whole.extra)) == (None, {})
    assert getattr(cut, side).values == (1,)
    assert (cut.sent, dict(cut.extra)) == ("key", {"claim_check": place})


def test_event_that_came_cut_is_written_as_it_came() -> None:
    event = replace(change("insert", 1), sent="key", extra={"claim_check": "file:///x"})
    (message,) = messages_of([event], Settings(tidb_extension=True))
    extension = json.loads(message.value or b"")["_tidb"]
    assert extension == {"commitTs": 1 << 18, "claimCheckLocation": "file:///x"}


LARGE = {
    "neither claim check nor keys only": (
        change("insert"),
        replace(CUT, large_message="none"),
        "limits",
    ),
    "no handle key": (change("insert", key=()), CUT, "handle key only"),
    "cut already": (replace(change("insert"), sent="key"), CUT, "limits"),
    "too large still": (change("insert"), replace(CUT, max_message_bytes=100), "handle key only"),
    "too large still, stored": (
        change("insert"),
        replace(CLAIM, max_message_bytes=100),
        "claim check",
    ),
}


@pytest.mark.parametrize(("event", "settings", "clause"), LARGE.values(), ids=LARGE)
def test_row_that_stays_too_large_is_refused(
    event: RowChange, settings: Settings, clause: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        list(messages_of([event], settings))
    assert caught.value.clause == f"canal-json: {clause}"
    assert caught.value.path[:2] == ("events", 0)


def _stored(value: bytes) -> bytes:
    return json.dumps({"key": None, "value": base64.b64encode(value).decode()}).encode()


ROW = write_object(from_event(change("insert"), CLAIM))
MESSAGE = values_of(list(messages_of([change("insert")], CLAIM)))[0]
PLACE = json.loads(MESSAGE)["_tidb"]["claimCheckLocation"]
DDL = write_object(from_event(SchemaChange("alter", "q", 5, TABLE, Position(commit_ts=1)), CLAIM))
BAD_FILES = {
    "not JSON": (b"x", ("claim_check",), 0),
    "an array": (b"[]", ("claim_check",), 0),
    "no value": (b'{"key":null}', ("claim_check",), 11),
    "no key": (b'{"value":""}', ("claim_check",), 11),
    "value is null": (b'{"key":null,"value":null}', ("claim_check", "value"), 20),
    "value is no base64": (b'{"key":null,"value":"*"}', ("claim_check", "value"), None),
    "value is empty": (_stored(b""), ("claim_check", "value"), 0),
    "a DDL": (_stored(DDL), ("claim_check", "value"), 0),
    "a row that is cut": (_stored(ROW[:-1]), ("claim_check", "value"), len(ROW) - 1),
    "a claim check": (_stored(MESSAGE), ("claim_check", "value"), 0),
    "another table": (_stored(ROW.replace(b'"t"', b'"u"')), ("claim_check", "value", "table"), 0),
    "another commit": (
        _stored(ROW.replace(b'"commitTs":262144', b'"commitTs":1')),
        ("claim_check", "value", "commitTs"),
        0,
    ),
    "another key": (
        _stored(ROW.replace(b'"id":"1"', b'"id":"2"')),
        ("claim_check", "value", "data", 0, "id"),
        0,
    ),
    "no key column": (
        _stored(ROW.replace(b'"id":"1",', b"")),
        ("claim_check", "value", "data", 0, "id"),
        0,
    ),
    "another operation": (
        _stored(ROW.replace(b"INSERT", b"DELETE")),
        ("claim_check", "value", "type"),
        0,
    ),
}


@pytest.mark.parametrize(("stored", "path", "offset"), BAD_FILES.values(), ids=BAD_FILES)
def test_claim_check_file_that_is_wrong_is_rejected(
    stored: bytes, path: tuple[str, ...], offset: int | None
) -> None:
    message = decode(MESSAGE)
    assert message is not None
    with pytest.raises(DecodeError) as caught:
        events_of(message, CLAIM, {PLACE: stored})
    assert caught.value.path == path
    assert caught.value.offset == 0  # of the message, which is right
    assert offset is None or f"(byte {offset} of the claim-check file)" in str(caught.value)


def test_message_is_compressed_as_a_whole() -> None:
    settings = Settings(tidb_extension=True, compression_name="lz4", compressions={"lz4": ZLIB})
    events: list[Event] = [change("insert", 5), Progress("watermark", Position(commit_ts=1))]
    for event, value in zip(events, values_of(list(messages_of(events, settings))), strict=True):
        plain = write_object(from_event(event, settings))
        assert zlib.decompress(value) == plain
        assert read_message(value, ZLIB) == decode(plain)


def test_size_counts_after_compression() -> None:
    settings = Settings(compression_name="lz4", compressions={"lz4": ZLIB}, max_message_bytes=500)
    assert len(list(messages_of([change("insert", 5000)], settings))) == 1


def test_claim_check_holds_a_compressed_message() -> None:
    noise = base64.b64encode(bytes(index * index % 251 for index in range(900))).decode()
    image = Image(COLUMNS, (1, noise))
    event = RowChange(TABLE, "insert", None, image, Position(commit_ts=1 << 18))
    settings = replace(CLAIM, compression_name="lz4", compressions={"lz4": ZLIB})
    stored, message = messages_of([event], settings)
    assert isinstance(stored, StoredFile)
    held = base64.b64decode(json.loads(stored.value)["value"])
    assert zlib.decompress(held) == write_object(from_event(event, settings))
    found = read_message(message.value, ZLIB)
    assert found is not None
    assert found.tidb is not None
    blobs = {found.tidb.claim_check_location: stored.value}
    (whole,) = events_of(found, settings, blobs)
    assert isinstance(whole, RowChange)
    assert whole.after is not None
    assert whole.after.values == image.values


@pytest.mark.parametrize(
    ("value", "clause"),
    [
        (b"not compressed", "canal-json: compression"),
        (zlib.compress(ROW)[:-5], "canal-json: compression"),
        (zlib.compress(ROW[:-1]), "canal-json: json text"),
        (zlib.compress(b""), "canal-json: json text"),
    ],
)
def test_error_in_a_compressed_message_is_at_its_first_byte(value: bytes, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_message(value, ZLIB)
    assert (caught.value.offset, caught.value.clause) == (0, clause)


@pytest.mark.parametrize("value", [None, b""])
def test_empty_message_says_nothing(value: bytes | None) -> None:
    assert list(FORMAT.to_events(KafkaMessage(None, value), context=Context())) == []


@pytest.mark.parametrize("end", [b"\r\n", b"\n", b" \t"])
def test_line_end_after_a_message_is_ignored(end: bytes) -> None:
    assert decode(ROW + end) == decode(ROW)


@pytest.mark.parametrize(
    "options",
    [
        {"large-message-handle-option": "handle-key-only"},
        {"large-message-handle-compression": "lz4"},
        {"sent-time": "soon"},
        {"sent-time": "9" * 30},
        {"terminator": "\ud800"},
        {"dialect": "debezium"},
        {"enable-tidb-extensions": True},
    ],
    ids=str,
)
def test_option_that_can_not_be_is_refused(options: dict[str, OptionValue]) -> None:
    with pytest.raises(OptionError):
        list(FORMAT.to_events(KafkaMessage(None, ROW), context=Context(options)))


def test_compression_is_taken_from_the_context() -> None:
    context = Context(
        {"large-message-handle-compression": "lz4", "sink.enable-tidb-extension": "true"},
        compressions={"lz4": ZLIB},
    )
    (message,) = FORMAT.from_events([change("insert", 1)], context=context)
    (event,) = FORMAT.to_events(message, context=context)
    assert isinstance(event, RowChange)
    assert event.position.commit_ts == 1 << 18
