"""Masked values of rows: another value of the same type, equal for equal values only."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.model import kinds
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import UNAVAILABLE, Column
from cdcwire.model.text import event_from_json
from cdcwire_conformance.compare.value_masks import RowMask
from cdcwire_conformance.corpus import load_cases
from cdcwire_generators.strategies.values import values

MASK = RowMask(b"a key of sixteen bytes or more", "row 1")


TEXT = kinds.TextType()
KINDS: tuple[kinds.Type, ...] = (
    *(kinds.IntType(bits, unsigned) for bits in (8, 16, 24, 32, 64) for unsigned in (True, False)),
    *(kinds.FloatType(32), kinds.FloatType(64), kinds.DecimalType(65, 30), kinds.DecimalType(9, 0)),
    *(TEXT, kinds.BytesType(), kinds.BitType(64), kinds.BitType(), kinds.YearType()),
    *(kinds.JsonType(), kinds.IntervalType(), kinds.DecimalType(), kinds.VectorType()),
    *(kinds.DateType(), kinds.TimeType(6), kinds.DatetimeType(6), kinds.TimestampType(6)),
    *(kinds.EnumType(), kinds.SetType()),
)
WORDS = ("nan", "infinity")
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
    clock = masked("10:20:30.123", kinds.TimeType(3))
    parts = masked(((10 * 60 + 20) * 60 + 30) * 1000 + 123, kinds.TimeType(3, "ms"))
    assert (EPOCH + timedelta(milliseconds=parts)).time() == time.fromisoformat(clock)
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
        (0, kinds.BitType()),
        (1, kinds.BitType(1)),
        (0, kinds.IntType(32)),
        (float("inf"), kinds.FloatType(64)),
        ("0000-00-00", kinds.DateType()),
        ("NaN", kinds.DecimalType()),
        ("infinity", kinds.TimestampType()),
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


def test_json_keeps_its_form_and_escapes() -> None:
    text = '{"name": "Alice\\n\\u00e9", "n" :[1,  -2.50, true, null, 1e100]}'
    found = masked(text, kinds.JsonType())
    assert len(found) == len(text)
    name, number = json.loads(found).items()
    assert len(name[0]) == 4
    assert re.fullmatch(r"[A-Z][a-z]{4}\n[^\W\dé]", name[1])
    assert not {"name", "Alice"} & set(re.findall("[A-Za-z]+", found))
    assert number[1][2:4] == [True, None]
    assert math.isfinite(number[1][4])
    assert [index for index, sign in enumerate(found) if sign == " "] == [
        index for index, sign in enumerate(text) if sign == " "
    ]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("۰۹۱۲۳۴۵۶۷۸۹", TEXT),
        ("ＴＡＲＯ", TEXT),
        ("👩🏽‍💻🎉🎂", TEXT),
        ("ⅧⅨⅩ", TEXT),
        ("\ue000\ue001\ue002", TEXT),
        ('{"alice@example.org": true}', kinds.JsonType()),
        ("1987-06-00", kinds.DateType()),
        ("0987-06-15", kinds.DateType()),
        ("1987-06-15 24:00:00", kinds.DatetimeType()),
        ("12024-06-15", TEXT),
        ("9.82451653E8", kinds.DecimalType()),
        ("1" * 65, kinds.DecimalType()),
        (Decimal(f"-{'123456789' * 40}.5"), kinds.DecimalType()),
        ("7" * 5000, TEXT),
        ("NaN123456", kinds.DecimalType()),
        ("1970-01-02 00:00:01", kinds.TimestampType()),
        ("15 March 1987", kinds.DateType()),
        ("two hours", kinds.IntervalType()),
        ((1 << 128) - 1, kinds.BitType()),
        ("1E+400", kinds.DecimalType()),
        (2147483648, kinds.IntType(32, unsigned=True)),
        (-(2**31), kinds.IntType(32)),
        (253402300799999999, kinds.TimestampType(form="us")),
        (12345, kinds.YearType()),
        (54321, kinds.EnumType()),
        ("unknown", kinds.EnumType(("a", "b"), "label")),
        ("a,unknown", kinds.SetType(("a", "b"), "label")),
        (1.7976931348623157e308, kinds.FloatType(64)),
        (3.4028234663852886e38, kinds.FloatType(32)),
        (b"abc\xff\xfe\xfd", TEXT),
    ],
)
def test_no_form_of_a_value_is_left(value: Any, kind: kinds.Type) -> None:
    for row in map(str, range(40)):
        found = masked(value, kind, RowMask(MASK.key, row))
        assert not runs_left(value, found), found
        if isinstance(value, str):
            assert len(found.encode()) == len(value.encode())


def test_values_of_the_corpus_are_masked_in_all_formats() -> None:
    """Each value of each golden case: none is refused, and none leaves three characters."""
    known = {
        (column.type, value)
        for case in load_cases()
        for event in map(event_from_json, case.events or ())
        if isinstance(event, RowChange)
        for image in (event.before, event.after)
        if image is not None
        for column, value in image.pairs
    }
    assert {type(kind) for kind, _ in known} >= {type(kind) for kind in KINDS}
    left = []
    for kind, value in known:
        pair = (readable(kind, value), readable(kind, masked(value, kind)))
        if not isinstance(kind, (kinds.EnumType, kinds.SetType)):  # labels of a definition
            left += [(kind, value, run) for run in runs_left(*pair)]
    assert not left


def readable(kind: kinds.Type, value: Any) -> Any:
    """Return a value as people read it: bytes as text if they are one, a time without its zone."""
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
    if isinstance(value, (float, tuple, Image)):  # these are drawn, and of the kinds above
        return ""
    if value in (None, UNAVAILABLE, True, False) or str(value).strip("+-").lower() in WORDS:
        return ""
    is_time = isinstance(kind, (kinds.TimeType, kinds.DatetimeType, kinds.TimestampType))
    return str(value).replace("Z", " ") if is_time else value


def test_escaped_characters_of_json_are_masked() -> None:
    text = r'{"\u0061": "\u0416\u0430\u043d\u043d\u0430 \ud83d\ude00\u0041\ud800\n"}'
    for row in map(str, range(40)):
        found = masked(text, kinds.JsonType(), RowMask(MASK.key, row))
        assert len(found) == len(text)
        assert len(re.findall(r"\\u[0-9a-f]{4}", found)) == 10
        ((name, value),) = json.loads(found).items()
        assert name != "a"
        assert len(value) == len("Жанна 😀A\ud800\n")
        assert not [
            a for a, b in zip(value, "Жанна 😀A\ud800\n", strict=True) if a == b and a > " "
        ]


def test_ill_formed_text_stays_ill_formed() -> None:
    for text in (
        b"a\xff",
        b"\xe2\x82",
        b"\xe0\x80\x80",
        b"\xc3",
        b"\xf0\x8f\xbf\xbf",
        b"\xed\xa0\x80",
    ):
        for row in map(str, range(40)):
            found = masked(text, mask=RowMask(MASK.key, row))
            assert len(found) == len(text)
            with pytest.raises(UnicodeDecodeError):
                found.decode()


def runs_left(value: Any, found: Any) -> list[str]:
    """Return what three characters in a row a masked value still has in their place."""
    one, other = (each.hex() if isinstance(each, bytes) else str(each) for each in (value, found))
    same = "".join(
        a if a == b and a.isalnum() and a != "0" else " " for a, b in zip(one, other, strict=False)
    )
    width = 6 if isinstance(value, bytes) else 3
    words = ("true", "false", "null")  # of JSON
    return [run for run in same.split() if len(run) >= width and run not in words]


@given(st.data())
def test_no_three_characters_of_any_value_are_left(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    value = data.draw(values(kind))
    found = masked(value, kind, RowMask(MASK.key, data.draw(st.text(max_size=3))))
    if not isinstance(value, float):  # the exponent of another float may be longer
        assert not runs_left(value, found)


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


def test_value_of_no_known_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="a value of text can't be masked"):
        masked(object())


def test_key_is_never_printed() -> None:
    assert "sixteen" not in repr(MASK)
