"""Names that Debezium adjusts for Avro, in both of its formats."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.debezium.names import adjusted_name, original_name
from cdcwire.format import Format
from cdcwire.formats.debezium_avro.format import FORMAT as AVRO
from cdcwire.formats.debezium_json.format import FORMAT as JSON
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType

TABLE = Table("Odd-Name", "shop", key=("größe",))
COLUMNS = (Column("größe", IntType(32), nullable=False), Column("a_b", TextType(), nullable=True))
PLACE = Position(commit_ms=5, sent_ms=6, file="binlog.000001", pos=4, row=0, server_id=1)


def change(columns: tuple[Column, ...] = COLUMNS) -> RowChange:
    image = Image(columns, (1, "x"))
    return RowChange(TABLE, "insert", None, image, PLACE, extra={"connector": "mysql"})


def options(mode: str) -> dict[str, OptionValue]:
    names: dict[str, OptionValue] = {
        f"{what}-name-adjustment-mode": mode for what in ("schema", "field")
    }
    return {"dialect": "debezium-2.7", "topic-prefix": "srv", **names}


def rows(messages: Iterable[Message], context: Context, codec: Format) -> list[RowChange]:
    found = [event for each in messages for event in codec.to_events(each, context=context)]
    return [event for event in found if isinstance(event, RowChange)]


def written(mode: str) -> tuple[Any, Any]:
    (message,) = JSON.from_events([change()], context=Context(options(mode)))
    assert isinstance(message, KafkaMessage)
    return json.loads(message.key or b""), json.loads(message.value or b"")


@pytest.mark.parametrize(
    ("name", "avro", "avro_unicode"),
    [
        ("größe", "gr__e", "gr_u00f6_u00dfe"),
        ("列", "_", "_u5217"),
        ("1x", "_1x", "_u0031x"),
        ("a_b", "a_b", "a_u005fb"),
        ("A-B", "A_B", "A_u002dB"),
        ("a.b", "a_b", "a_u002eb"),
        ("Žl", "_l", "_u17dl"),
        ("😀", "__", "_ud83d_ude00"),
        ("", "", ""),
    ],
)
def test_names_are_adjusted_and_undone_as_the_mode_says(
    name: str, avro: str, avro_unicode: str
) -> None:
    assert adjusted_name(name, "avro") == avro
    assert adjusted_name(name, "avro_unicode") == avro_unicode
    assert adjusted_name(name, "none") == name
    assert original_name(avro_unicode, "avro_unicode") == name
    assert original_name(avro, "avro") == avro


@pytest.mark.parametrize("name", ["a_b", "_u00g0", "_", "__dbz__x", "_U00f6"])
def test_name_that_avro_unicode_does_not_make_stays_as_sent(name: str) -> None:
    assert original_name(name, "avro_unicode") == name


def test_four_digits_from_u0100_on_are_read_although_the_producer_writes_three() -> None:
    assert original_name("_u017dl", "avro_unicode") == "Žl"


@pytest.mark.parametrize(
    ("mode", "name", "field"),
    [
        ("none", "srv.shop.Odd-Name.Key", "größe"),
        ("avro", "srv.shop.Odd_Name.Key", "gr__e"),
        ("avro_unicode", "srv.shop.Odd_u002dName.Key", "gr_u00f6_u00dfe"),
    ],
)
def test_key_has_adjusted_names_of_schema_and_column(mode: str, name: str, field: str) -> None:
    key, _ = written(mode)
    assert key["schema"] == {
        "type": "struct",
        "fields": [{"type": "int32", "optional": False, "field": field}],
        "optional": False,
        "name": name,
    }


def test_members_of_the_envelope_are_not_adjusted() -> None:
    _, value = written("avro_unicode")
    assert value["payload"]["ts_ms"] == 6
    assert value["payload"]["source"]["server_id"] == 1


@pytest.mark.parametrize("codec", [JSON, AVRO], ids=["json", "avro"])
def test_column_comes_back_with_its_original_name(codec: Format) -> None:
    context = Context(options("avro_unicode"))
    messages = list(codec.from_events([change()], context=context))
    if codec.prepared is not None:
        context = codec.prepared(messages, context)
    (event,) = rows(messages, context, codec)
    assert event.after is not None
    assert event.after.names == ("größe", "a_b")
    assert event.table.key == TABLE.key


@pytest.mark.parametrize("codec", [JSON, AVRO], ids=["json", "avro"])
@pytest.mark.parametrize("mode", ["avro", "avro_unicode"])
def test_adjusted_name_of_a_schema_is_no_routed_one(mode: str, codec: Format) -> None:
    """``schema_name`` is for names that a router chose."""
    context = Context(options(mode))
    messages = list(codec.from_events([change()], context=context))
    if codec.prepared is not None:
        context = codec.prepared(messages, context)
    (event,) = rows(messages, context, codec)
    assert "schema_name" not in event.extra


def test_wanted_columns_are_named_by_their_original_names() -> None:
    context = Context(options("avro_unicode"))
    messages = list(JSON.from_events([change()], context=context))
    wanted = Context(context.options, selection=Selection(columns=frozenset({"a_b"})))
    (event,) = rows(messages, wanted, JSON)
    assert event.after is not None
    assert event.after.names == ("a_b",)


def test_two_columns_that_become_one_name_are_refused() -> None:
    columns = (COLUMNS[0], Column("gr--e", TextType()))
    with pytest.raises(EncodeError) as caught:
        list(JSON.from_events([change(columns)], context=Context(options("avro"))))
    assert caught.value.clause == "debezium-json: names"
    assert caught.value.path[-1] == "größe"
