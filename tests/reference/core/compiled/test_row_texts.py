"""Generated functions for the values of rows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from cdcwire.core.compiled import Irregular, Usual, refuse, text_of_image, texts_of_values
from cdcwire.model import kinds
from cdcwire.mysql.usual_texts import base64_writer, float_writer, integer_writer, usual_text


class Seven(int):
    """A subclass that prints otherwise."""

    def __str__(self) -> str:
        return "seven"


def written(writer: Any, value: Any) -> str:
    (text,) = texts_of_values([writer], [0])((value,))
    return text


def test_values_are_put_between_the_pieces_in_their_order() -> None:
    number = integer_writer(0, 10)
    write = text_of_image(["{", ",", "}"], [number, number, str.upper], [2, 0])
    assert write((7, None, "a")) == "{A,7}"
    assert write((None, 5, None)) == "{null,null}"


def test_pieces_may_be_bytes() -> None:
    write = text_of_image([b"<", b">"], [bytes], [0], nulls={0: b"-"})
    assert (write((b"a",)), write((None,))) == (b"<a>", b"<->")


def test_another_text_stands_for_null() -> None:
    number = integer_writer(0, 10)
    assert texts_of_values([number, number], [0, 1], "N", {1: "M"})((None, None)) == ("N", "M")
    without: tuple[str | None, ...] = texts_of_values([number], [0], None)((None,))
    assert without == (None,)


def test_null_is_not_usual_where_it_is_refused() -> None:
    number = integer_writer(0, 10)
    with pytest.raises(Irregular):
        texts_of_values([number], [0], nulls={0: refuse})((None,))


def test_an_image_with_more_or_fewer_values_is_not_usual() -> None:
    write = texts_of_values([str, str], [0])
    for values in ((), ("a",), ("a", "b", "c")):
        with pytest.raises(ValueError, match="values to unpack"):
            write(values)
    assert texts_of_values([], [])(()) == ()


def test_unusual_values_are_written_plainly() -> None:
    writer = Usual("type($v) is str and ($t := $v.strip())", "$t + $end", repr, {"end": "!"})
    assert written(writer, " a ") == "a!"
    assert written(writer, " ") == "' '"
    assert written(writer, 3) == "3"


@pytest.mark.parametrize("value", [True, Seven(7), 7.0, "7", Decimal(7), 128, -129])
def test_only_integers_of_the_range_are_usual(value: object) -> None:
    with pytest.raises(Irregular):
        written(integer_writer(-128, 128), value)
    assert written(integer_writer(-128, 128, plainly=repr), value) == repr(value)


def test_usual_values_are_written() -> None:
    assert written(integer_writer(-128, 128, "'"), -128) == "'-128'"
    assert written(base64_writer(repr), b"\0\1\2\3") == '"AAECAw=="'
    assert written(float_writer(32, repr, lambda value: "other", '"'), 1.5) == '"1.5"'


@pytest.mark.parametrize("value", [0.1, float("inf"), float("nan"), 1, True])
def test_only_finite_floats_of_32_bits_are_usual(value: object) -> None:
    assert written(float_writer(32, repr, lambda value: "other"), value) == "other"


@pytest.mark.parametrize("text", ["0.000", "-0.000", "999.999", "-999.999", "12.340"])
def test_decimals_with_all_digits_of_the_scale_are_usual(text: str) -> None:
    assert written(usual_text(kinds.DecimalType(6, 3), None, '"'), Decimal(text)) == f'"{text}"'


@pytest.mark.parametrize(
    "value",
    [*map(Decimal, ("1000.000", "1.5", "7", "1.234E+9", "1E-9", "NaN", "sNaN123")), "1.234", 1.234],
    ids=str,
)
def test_other_decimals_are_not_usual(value: object) -> None:
    with pytest.raises((Irregular, LookupError)):
        written(usual_text(kinds.DecimalType(6, 3), None), value)
