"""Rows of a message that has an unreadable value."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="needs the extra arrow")

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.model.events import Image, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire_conformance.decode.decoders import MOST_VALUES, partial_rows

COLUMNS = tuple(Column(name, IntType(32)) for name in ("id", "a", "b", "c", "d", "e"))


def decoded(message: Message) -> list[RowChange]:
    """Decode a flat object of numbers."""
    assert isinstance(message, KafkaMessage)
    values = json.loads(message.value or b"")
    for name, value in values["data"].items():
        if type(value) is not int:
            raise DecodeError("not a number", 0, "clause", ("value", "data", name))
    known = tuple(each for each in COLUMNS if each.name in values["data"])
    image = Image(known, tuple(values["data"][each.name] for each in known))
    return [RowChange(Table("t", "s"), "insert", None, image)]


def rows_of(data: Any, columns: str = "abcde") -> list[Any]:
    value = data if isinstance(data, bytes) else json.dumps({"data": data}).encode()
    message = KafkaMessage(None, value)
    with pytest.raises(DecodeError) as caught:
        decoded(message)
    found = partial_rows(message, caught.value, set(columns), decoded)
    return [each.after.values for each in found if isinstance(each, RowChange) and each.after]


def test_other_values_of_the_row_are_as_they_were() -> None:
    assert rows_of({"id": 7, "a": "x", "b": 2}) == [(7, 0, 2)]


def test_each_of_several_values_is_replaced_up_to_a_limit() -> None:
    bad = dict.fromkeys("abcde", "x")
    few = dict(list(bad.items())[:MOST_VALUES])
    assert rows_of({"id": 7, **few}) == [(7, 0, 0, 0, 0)]
    assert rows_of({"id": 7, **bad}) == []


def test_value_of_another_column_is_not_replaced() -> None:
    assert rows_of({"id": "x", "a": 1}) == []


@pytest.mark.parametrize("value", [b"\xff", b'{"data":', b"[" * 100_000, b"1" * 5000])
def test_message_that_is_not_json_has_no_rows(value: bytes) -> None:
    error = DecodeError("bad", 0, "clause", ("value", "data", "a"))
    assert list(partial_rows(KafkaMessage(None, value), error, {"a"}, decoded)) == []
    assert list(partial_rows(StoredFile("f", value), error, {"a"}, decoded)) == []


@pytest.mark.parametrize("depth", [500, 900, 2000])
def test_deep_message_has_no_rows(depth: int) -> None:
    value = b'{"data":{"a":"x","b":' + b"[" * depth + b"]" * depth + b"}}"
    error = DecodeError("bad", 0, "clause", ("value", "data", "a"))

    def refuse(message: Message) -> list[RowChange]:
        raise error

    assert list(partial_rows(KafkaMessage(None, value), error, {"a"}, refuse)) == []
