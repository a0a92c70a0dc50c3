"""Deletes of the new architecture in a table without primary key, which name no row."""

from __future__ import annotations

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.ddl import parse_ddl
from cdcwire.formats.avro import FORMAT
from cdcwire.formats.avro.fast import RowDecoder
from cdcwire.model.events import NOWHERE, Image, Marker, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType

TICDC = Context(options={"dialect": "ticdc"})
WATERMARKS = Context(
    options={"dialect": "ticdc", "enable-tidb-extension": True, "avro-enable-watermark": True}
)
NOTHING = KafkaMessage(None, None)
# 03 and a timestamp of 8 bytes, as the page has it
DELETED_AT = KafkaMessage(None, bytes.fromhex("030000000000000007"))


@pytest.mark.parametrize(
    ("message", "position"), [(NOTHING, NOWHERE), (DELETED_AT, Position(commit_ts=7))]
)
def test_delete_of_an_unknown_row_is_a_tombstone_both_ways(
    message: KafkaMessage, position: Position
) -> None:
    events = list(FORMAT.to_events(message, context=WATERMARKS))
    assert events == [Marker("tombstone", None, position, {"message_key": None})]
    assert list(RowDecoder(WATERMARKS).decode(message)) == events
    assert list(FORMAT.from_events(events, context=WATERMARKS)) == [message]


def test_tombstone_has_a_warning() -> None:
    (warning,) = FORMAT.warnings(NOTHING, TICDC)
    assert "unknown row (avro: key record)" in warning


def test_other_dialects_refuse_it_and_name_the_option() -> None:
    with pytest.raises(DecodeError, match="dialect=ticdc") as caught:
        list(FORMAT.to_events(NOTHING, context=Context()))
    assert caught.value.clause == "avro: messages"


def test_tombstone_with_a_key_is_refused() -> None:
    with pytest.raises(EncodeError) as caught:
        list(FORMAT.from_events([Marker("tombstone", extra={"message_key": b"k"})], context=TICDC))
    assert caught.value.path == ("events", 0, "what")


def test_unique_key_is_the_key_of_the_classic_architecture_only() -> None:
    (table,) = parse_ddl("CREATE TABLE t (a INT NOT NULL, b INT, UNIQUE KEY (a));", "s")
    image = Image(table.columns or (), (1, 2))
    event = RowChange(Table("t", "s", key=table.key), "insert", None, image, Position(commit_ts=7))
    assert table.key == ("a",)
    for dialect, key in (("ticdc", None), ("shipped", bytes.fromhex("000000000102"))):
        context = Context(options={"dialect": dialect}, tables=(table,))
        written = list(FORMAT.from_events([event], context=context))
        assert isinstance(written[-1], KafkaMessage)
        assert written[-1].key == key
        encoder = FORMAT.encoder(context)
        assert list(encoder([event])) == written


def test_delete_without_primary_key_is_refused_as_its_row_would_be_lost() -> None:
    image = Image((Column("a", IntType(32)),), (1,))
    event = RowChange(Table("t", "s", key=()), "delete", image, None, Position(commit_ts=7))
    with pytest.raises(EncodeError, match="avro-include-before-value") as caught:
        list(FORMAT.from_events([event], context=TICDC))
    assert caught.value.clause == "avro: key record"
