"""The newer producer differs in updates without a change, and in ill-formed text."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.open_protocol.fast import RowDecoder
from cdcwire.formats.open_protocol.format import FORMAT
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import BytesType, Column, TextType


def framed(text: bytes) -> bytes:
    return struct.pack(">Q", len(text)) + text


KEY = struct.pack(">Q", 1) + framed(b'{"ts":5,"scm":"test","tbl":"t","t":1}')
VALUE = framed(b'{"u":{"a":{"t":3,"f":65,"v":1},"b":{"t":15,"f":64,"v":"x"}},"p":{}}')
MESSAGE = KafkaMessage(KEY, VALUE)
NEWER: Mapping[str, str | bool] = {"dialect": "ticdc", "only-output-updated-columns": True}


def read(options: Mapping[str, str | bool]) -> RowChange:
    (event,) = FORMAT.to_events(MESSAGE, context=Context(options=options))
    assert isinstance(event, RowChange)
    return event


@pytest.mark.parametrize("options", [NEWER, {"dialect": "ticdc"}])
def test_empty_old_row_of_the_newer_producer_is_an_update(
    options: Mapping[str, str | bool],
) -> None:
    event = read(options)
    assert (event.op, event.sent) == ("update", "changed")
    assert event.before is not None
    assert event.before.columns == ()


def test_empty_old_row_means_nothing_elsewhere() -> None:
    assert read({"dialect": "tiflow"}).op == "insert"


def test_update_without_change_comes_back_in_its_bytes() -> None:
    context = Context(options=NEWER)
    assert list(FORMAT.from_events([read(NEWER)], context=context)) == [MESSAGE]


def test_fast_decoder_reads_the_same_update() -> None:
    context = Context(options=NEWER)
    assert RowDecoder(context).decode_events(MESSAGE) == [read(NEWER)]


@pytest.mark.parametrize("dialect", ["ticdc", "tiflow"])
def test_ill_formed_text_of_a_varchar_is_sent_as_it_is_by_the_newer_producer(dialect: str) -> None:
    columns = (
        Column("v", TextType(), "varchar(40)"),
        Column("b", BytesType(), "varbinary(40)"),
        Column("t", TextType(), "text"),
    )
    row = RowChange(
        Table("t", "s", key=()),
        "insert",
        None,
        Image(columns, (b"<\xff", b"\xff", b"\xff")),
        Position(commit_ts=5),
    )
    context = Context(options={"dialect": dialect})
    (message,) = FORMAT.from_events([row], context=context)
    bad = {"ticdc": b"<\xff", "tiflow": rb"\u003c\ufffd"}[dialect]
    quoted = rb"\\xff"
    columns_in_order = [
        b'"v":{"t":15,"f":64,"v":"' + bad + b'"}',
        b'"b":{"t":15,"f":65,"v":"' + quoted + b'"}',
        b'"t":{"t":252,"f":64,"v":"/w=="}',
    ]
    if dialect == "tiflow":
        columns_in_order.sort()
    assert isinstance(message, KafkaMessage)
    assert message.value == framed(b'{"u":{' + b",".join(columns_in_order) + b"}}")
    assert list(FORMAT.encoder(context)([row])) == [message]
    (read_back,) = FORMAT.to_events(message, context=context)
    assert isinstance(read_back, RowChange)
    assert read_back.after is not None
    assert read_back.after["v"] == "<\ufffd"


def test_column_that_became_null_has_no_name_and_the_error_says_so() -> None:
    value = framed(b'{"u":{"a":{"t":3,"f":65,"v":null}},"p":{"t":3,"f":65,"v":1}}')
    message = KafkaMessage(KEY, value)
    for read_it in (
        lambda: list(FORMAT.to_events(message, context=Context(options=NEWER))),
        lambda: list(RowDecoder(Context(options=NEWER)).decode(message)),
    ):
        with pytest.raises(DecodeError, match="TiCDC leaves out the name of a column") as caught:
            read_it()
        assert caught.value.path == ("value", 0, "p", "t")


def test_member_of_the_newer_producer_tells_its_dialect() -> None:
    key = struct.pack(">Q", 1) + framed(
        b'{"ts":5,"scm":"test","tbl":"t","t":1,"ohk":true,"ohk":false,"ccl":"s3://b/x.json"}'
    )
    guess = FORMAT.identify(KafkaMessage(key, framed(b'{"d":{"a":{"t":3,"f":65,"v":1}}}')))
    assert guess is not None
    assert guess.options == {
        "dialect": "ticdc",
        "large-message-handle-option": "claim-check",
    }
