"""Masked values of rows: another value of the same type, equal for equal values only."""

from __future__ import annotations

import json
import math
import re
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from cdcwire.model import kinds
from cdcwire.model.events import UNAVAILABLE, Column, Image, Position, RowChange, Table
from cdcwire_conformance.compare.value_masks import RowMask

MASK = RowMask(b"a key of sixteen bytes or more", "row 1")


TEXT = kinds.TextType()
EPOCH = datetime.fromisoformat("1970-01-01")


def masked(value: Any, kind: kinds.Type = TEXT, mask: RowMask = MASK) -> Any:
    return mask.value(Column("c", kind), value)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("4111 1111-1111", r"\d{4} \d{4}-\d{4}"),
        ("Alice.Smith@example.com ", r"[A-Z][a-z]{4}\.[A-Z][a-z]{4}@[a-z]{7}\.[a-z]{3} "),
        ("2024-02-29", r"[1-9]\d{3}-\d\d-\d\d"),
        ("2024-02-29 23:59:59.120", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.[1-9]{2}0"),
        ("2024-02-29T23:59:59Z", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
        ("-838:59:58.5", r"-[1-8]\d\d:\d\d:\d\d\.[1-9]"),
        ("-12.50", r"-[1-9]\d\.[1-9]0"),
        ("007", r"\d{3}"),
        ("2024-13-45", r"\d{4}-\d\d-\d\d"),
    ],
)
def test_text_keeps_its_form(value: str, form: str) -> None:
    found = masked(value)
    assert found != value
    assert len(found) == len(value)
    assert re.fullmatch(form, found)


@pytest.mark.parametrize("text", ["2024-02-29", "2037-12-31 23:59:59", "1000-01-01T00:00:00"])
def test_masked_times_are_in_the_calendar(text: str) -> None:
    for row in map(str, range(50)):
        found = masked(text, mask=RowMask(MASK.key, row))
        assert datetime.fromisoformat(found).year >= 1000


@pytest.mark.parametrize("sign", ["é", "ж", "語", "ß"])
def test_letters_stay_letters_of_as_many_bytes(sign: str) -> None:
    found = {masked(sign, mask=RowMask(MASK.key, str(row))) for row in range(30)}
    assert len(found) > 1
    assert all(each.isalpha() and len(each.encode()) == len(sign.encode()) for each in found)


@pytest.mark.parametrize("bits", [8, 16, 24, 32, 64])
@pytest.mark.parametrize("unsigned", [True, False])
def test_integers_keep_digits_and_fit_their_type(bits: Any, unsigned: bool) -> None:
    top = (1 << bits if unsigned else 1 << bits - 1) - 1
    least = 0 if unsigned else -top - 1
    for value in (least, *([] if unsigned else [-1, -10]), 1, 9, 10, 99, top - 1, top):
        found = masked(value, kinds.IntType(bits, unsigned))
        assert least <= found <= top
        assert len(str(found)) == len(str(value))


def test_different_values_stay_different() -> None:
    values = [str(number) for number in range(2000)]
    assert len({masked(value) for value in values}) == len(values)
    times = [f"2024-01-01 00:{n // 60:02}:{n % 60:02}" for n in range(3600)]
    assert len({masked(value) for value in times}) == len(times)


def test_equal_values_are_equal_in_each_form_that_a_format_may_have() -> None:
    assert masked(1234, kinds.IntType(32)) == int(masked("1234"))
    assert masked(Decimal("12.50"), kinds.DecimalType(9, 2)) == Decimal(masked("12.50"))
    assert masked(12.5, kinds.FloatType(64)) == float(masked("12.5"))
    assert masked("paid", kinds.TextType()).encode() == masked(b"paid", kinds.BytesType())
    text = masked("2024-02-29 10:20:30.123", kinds.DatetimeType(3))
    since = datetime.fromisoformat("2024-02-29 10:20:30.123") - EPOCH
    count = masked(since // timedelta(milliseconds=1), kinds.DatetimeType(3, "ms"))
    assert EPOCH + timedelta(milliseconds=count) == datetime.fromisoformat(text)
    days = masked((datetime.fromisoformat("2024-02-29") - EPOCH).days, kinds.DateType("d"))
    date = masked("2024-02-29", kinds.DateType())
    assert EPOCH + timedelta(days=days) == datetime.fromisoformat(date)


@pytest.mark.parametrize(
    ("one", "other"),
    [("paid", "paid  "), ("12:30:00.123456", "12:30:00.123"), ("1.5", "1.500")],
)
def test_what_is_cut_or_padded_stays_so(one: str, other: str) -> None:
    short, long = sorted(map(masked, (one, other)), key=len)
    assert long.startswith(short)


def test_case_stays_the_only_difference() -> None:
    assert masked("Berlin").lower() == masked("BERLIN").lower()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, kinds.TextType()),
        (UNAVAILABLE, kinds.TextType()),
        (True, kinds.BoolType()),
        (0, kinds.IntType(32)),
        (float("inf"), kinds.FloatType(64)),
        ("0000-00-00", kinds.DateType()),
        ("NaN", kinds.DecimalType()),
        (2, kinds.EnumType()),
        (0, kinds.YearType()),
    ],
)
def test_values_that_say_nothing_are_kept(value: Any, kind: kinds.Type) -> None:
    assert masked(value, kind) == value


def test_other_types_keep_their_domain() -> None:
    labels = ("new", "paid", "sent")
    assert masked("paid", kinds.EnumType(labels, "label")) in labels
    assert masked(3, kinds.EnumType(labels)) in (1, 2, 3)
    assert set(masked("new,sent", kinds.SetType(labels, "label")).split(",")) < set(labels)
    assert masked(5, kinds.SetType(labels)).bit_count() == 2
    assert 1901 <= masked(1999, kinds.YearType()) <= 2155
    assert masked(0b1011, kinds.BitType(4)).bit_length() == 4
    assert masked("P1Y12M", kinds.IntervalType())[0::2][0] == "P"
    vector = masked((1.5, -2.25), kinds.VectorType())
    assert [math.isfinite(each) for each in vector] == [True, True]
    assert len(masked(b"\xff\x00\x01", kinds.BytesType())) == 3
    assert masked(b"\xff\x00\x01", kinds.BytesType())[1] == 0
    array = masked(("ab", None), kinds.ArrayType(kinds.TextType()))
    assert (len(array[0]), array[1]) == (2, None)
    ((key, value),) = masked((("a", 12),), kinds.MapType(kinds.TextType(), kinds.IntType(32)))
    assert (len(key), len(str(value))) == (1, 2)


def test_json_keeps_names_form_and_escapes() -> None:
    text = '{"name": "Alice\\n\\u00e9", "n" :[1,  -2.50, true, null]}'
    found = masked(text, kinds.JsonType())
    assert len(found) == len(text)
    document = json.loads(found)
    assert list(document) == ["name", "n"]
    assert document["name"].endswith("\né")
    assert "Alice" not in found
    assert document["n"][2:] == [True, None]
    assert [index for index, sign in enumerate(found) if sign == " "] == [
        index for index, sign in enumerate(text) if sign == " "
    ]


def test_only_chosen_columns_of_an_event_are_masked_under_their_common_names() -> None:
    columns = (Column("id", kinds.TextType()), Column("unit_price", kinds.TextType()))
    table = Table("t", "shop")
    image = Image(columns, ("a1", "b2"))
    event = RowChange(table, "update", image, image, Position(commit_ts=7), extra={"sql": "b2"})
    mask = RowMask(MASK.key, "r", frozenset({"unit-price"}), {"unit_price": "unit-price"})
    found = mask.event(event)
    assert found.after is not None
    assert found.before == found.after
    assert found.after["id"] == "a1"
    other = RowMask(MASK.key, "r").value(Column("unit-price", kinds.TextType()), "b2")
    assert found.after["unit_price"] == other != "b2"
    assert not found.extra
    assert found.position == event.position


def test_key_is_never_printed() -> None:
    assert "sixteen" not in repr(MASK)
