"""The cause of a difference, from two values by hand."""

from __future__ import annotations

import pytest

from cdcwire_conformance.compare.patterns import patterns_of
from cdcwire_conformance.compare.result import (
    ABSENT,
    NULL,
    ColumnDifference,
    RowDifference,
    Shown,
)
from cdcwire_conformance.compare.value_causes import cause_of

SAME_TIME = "same time, written differently"
HEX = "text of 日本".encode().hex()


def shown(value: str | Shown | None) -> Shown:
    return value if isinstance(value, Shown) else Shown(value)


@pytest.mark.parametrize(
    ("left", "right", "kind", "text"),
    [
        (NULL, ABSENT, "text", "NULL on the left, absent on the right"),
        ("x", NULL, "text", "NULL on the right, a value on the left"),
        (ABSENT, "x", "text", "absent on the left, a value on the right"),
        (NULL, "", "text", "NULL on the left, an empty value on the right"),
        ("0000-00-00 00:00:00", NULL, "datetime", "NULL on the right, zero on the left"),
        ("0.00", NULL, "decimal(10,2)", "NULL on the right, zero on the left"),
        ("1.0", "1.00", "decimal", "same number, more zeros at the end on the right"),
        ("1", "1.00", "text", "same number, more zeros at the end on the right"),
        ("-0.0", "0.0", "float64", "-0.0 on the left, 0.0 on the right"),
        ("1E3", "1000.0", "float64", "same number, written differently"),
        ("-5", "5", "int32", "opposite signs"),
        ("255", "-1", "int16", "unsigned 8-bit number read as signed on the right"),
        (
            "-1",
            "18446744073709551615",
            "decimal",
            "unsigned 64-bit number read as signed on the left",
        ),
        (
            "9223372036854775808",
            "-9223372036854775808",
            "decimal",
            "unsigned 64-bit number read as signed on the right",
        ),
        ("0.1", "0.10000000149011612", "float64", "passed through a 32-bit float on the right"),
        (
            "9007199254740993",
            "9007199254740992",
            "int64",
            "passed through a 64-bit float on the right",
        ),
        ("1.239", "1.23", "decimal", "cut to 2 decimals on the right"),
        ("1.24", "1.239", "decimal", "rounded to 2 decimals on the left"),
        ("1700000000", "1700000000000", "int64", "1,000 times as large on the right"),
        ("true", "1", "text", "true and false on the left, 1 and 0 on the right"),
        (
            "2024-02-29T10:00:00.5Z",
            "2024-02-29 10:00:00.500",
            "text",
            "same time, written differently",
        ),
        (
            "2024-02-29 12:00:00+02:00",
            "2024-02-29 10:00:00",
            "text",
            "same time, written differently",
        ),
        (
            "2024-02-29 10:00:00.123456",
            "2024-02-29 10:00:00.123",
            "datetime(6)",
            "cut to milliseconds on the right",
        ),
        (
            "2024-02-29 10:00:00.124",
            "2024-02-29 10:00:00.123999",
            "datetime(6)",
            "rounded to milliseconds on the left",
        ),
        ("10:00:00.7", "10:00:00", "time(3)", "cut to seconds on the right"),
        ("2024-02-28 20:00:00", "2024-02-29 04:00:00", "datetime", "later by 8 h on the right"),
        (
            "2024-02-29 04:00:00.1239",
            "2024-02-28 22:30:00.123",
            "datetime",
            "later by 5 h 30 min on the left",
        ),
        ("2024-02-28", "2024-02-29", "date", "later by 1 day on the right"),
        ("caf\u00e9", "cafe\u0301", "text", "same text, NFC on the left, NFD on the right"),
        ("a", "a  ", "text", "trailing spaces on the right"),
        ("\ta", "a", "text", "surrounding white space on the left"),
        ("a\nb", "a\r\nb", "text", "line ends CR LF on the right"),
        ("Ab", "aB", "text", "upper and lower case"),
        ("ab", '"ab"', "text", "in quotes on the right"),
        ("a<b", "a&lt;b", "text", "escaped as HTML on the right"),
        ('a"b', 'a\\"b', "text", "escaped as JSON on the right"),
        ("é日", "Ã©æ\u0097¥", "text", "UTF-8 read as Latin-1 on the right"),
        ("日本 x", "?? x", "text", "characters replaced by ? on the right"),
        ("0123456789abc", "0123456789", "text", "cut to 10 characters on the right"),
        ('{"a":1,"b":2}', '{"b": 2, "a": 1}', "json", "same JSON, written differently"),
        ('{"a":1}', '{"a":true}', "json", "different values"),
        ("00ff", "00ff0000", "bytes(4)", "zero bytes at the end on the right"),
        ("00ff", b"AP8=".hex(), "bytes", "base64 on the right"),
        ("00ff", b"00FF".hex(), "bytes", "hexadecimal on the right"),
        (HEX, HEX + "20", "bytes", "trailing spaces on the right"),
        ("80", "81", "bytes", "different values"),
        ("a", "b", "text", "different values"),
        ("1", "2", "int32", "different values"),
        ("12", "1", "text", "different values"),
        ("2024-02-30", "2024-02-31", "text", "different values"),
        ("inf", "nan", "float64", "different values"),
        ("1e999999999", "1", "text", "different values"),
    ],
)
def test_cause_of_two_values(left: str | Shown, right: str | Shown, kind: str, text: str) -> None:
    assert str(cause_of(shown(left), shown(right), kind)) == text
    swapped = text.replace("left", "LEFT").replace("right", "left").replace("LEFT", "right")
    swapped = swapped.replace(
        "NFC on the right, NFD on the left", "NFD on the left, NFC on the right"
    )
    assert str(cause_of(shown(right), shown(left), kind)) == swapped


def test_values_that_differ_later_than_shown() -> None:
    cause = cause_of(Shown("x" * 10, length=11), Shown("x" * 10, length=12), "text")
    assert str(cause) == "different after the first 10 characters"


def changed(key: int, *columns: ColumnDifference) -> RowDifference:
    return RowDifference("changed", "update", (("id", Shown(str(key))),), (), 1, 1, columns)


def test_row_counts_once_in_a_pattern_of_both_images() -> None:
    pair = Shown("a "), Shown("a")
    columns = (ColumnDifference(image, "s", "text", *pair) for image in ("before", "after"))
    (found,) = patterns_of([changed(1, *columns)])
    assert (found.column, found.kind, found.count) == ("s", "trailing-space", 1)


def test_coarser_cut_belongs_to_the_finer_one() -> None:
    values = (("00.123456", "00.123"), ("00.120456", "00.120"), ("00.000456", "00.000"))
    rows = [
        changed(
            n,
            ColumnDifference(
                "after", "t", "time(6)", Shown(f"10:00:{left}"), Shown(f"10:00:{right}")
            ),
        )
        for n, (left, right) in enumerate(values)
    ]
    (found,) = patterns_of(rows)
    assert (found.text, found.count) == ("cut to milliseconds on the right", 3)


def options_of(kind: str, *pairs: tuple[str, str]) -> list[tuple[str, str | None]]:
    rows = [
        changed(n, ColumnDifference("after", "t", kind, Shown(left), Shown(right)))
        for n, (left, right) in enumerate(pairs)
    ]
    return [(each.text, each.option) for each in patterns_of(rows)]


def test_precision_is_proposed_that_makes_all_values_equal() -> None:
    # By itself the second pair looks like a cut to milliseconds. That would not accept the first.
    pairs = ("23:59:59", "23:59:59.999999"), ("00:00:00", "00:00:00.000001")
    expected = [("cut to seconds on the left", "--precision t=s")]
    assert options_of("time(6)", *pairs) == expected
    assert options_of("time(6)", *reversed(pairs)) == expected


def test_rounded_times_have_no_option() -> None:
    pair = "10:00:00.999999", "10:00:01.000"
    assert options_of("time(6)", pair) == [("rounded to milliseconds on the right", None)]


def test_same_numbers_of_another_scale_are_accepted_without_their_zeros() -> None:
    pairs = ("1.5", "1.50"), ("-2", "-2.00"), ("0.10", "0.1000"), ("10", "10.0")
    assert options_of("decimal", *pairs) == [
        ("same number, more zeros at the end on the right", "--ignore-scale t")
    ]
    assert options_of("int64", ("1", "1.0")) == [
        ("same number, more zeros at the end on the right", None)
    ]


def test_rows_of_one_side_are_patterns_by_their_op() -> None:
    rows = [RowDifference("only left", op, (), (), 1, 0) for op in ("insert", "delete", "delete")]
    found = patterns_of([*rows, RowDifference("repeated", "insert", (), (), 1, 4)])
    assert [(each.text, each.count, each.option) for each in found] == [
        ("repeated: insert", 3, "--allow-repeats"),
        ("only left: delete", 2, None),
        ("only left: insert", 1, None),
    ]


def test_before_images_are_left_out_of_updates_on_both_sides_only() -> None:
    """An update that the other side has as an insert differs with --no-before too."""
    image = ColumnDifference("before", None, "", Shown("sent"), ABSENT)
    op = ColumnDifference(None, "op", "field", Shown("update"), Shown("insert"))
    update = RowDifference("changed", "update", (("id", Shown("1")),), (), 1, 1, (image,))
    insert = RowDifference("changed", "update", (("id", Shown("2")),), (), 1, 1, (op, image))
    found = [each for each in patterns_of([update, insert]) if each.text.startswith("before image")]
    keys = [(each.option, each.examples[0].key[0][1].text) for each in found]
    assert sorted(keys, key=str) == [("--no-before", "1"), (None, "2")]


def test_forms_of_a_time_have_no_option() -> None:
    """No option reads them; Spark's types refuse such texts."""
    pair = "2024-02-29 10:00:00", "2024-02-29T10:00:00Z"
    assert options_of("datetime", pair) == [(SAME_TIME, None)]
