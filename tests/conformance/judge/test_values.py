"""Column values: what passes for the expected one, what does not, and the hint that is given."""

from __future__ import annotations

import pytest

from cdcwire.model.text import Json
from cdcwire_conformance.judge.values import ValueRules, compare_columns, compare_values

RULES = ValueRules()


def typed(kind: str, text: str | None, **members: str) -> Json:
    return {"type": kind, **({} if text is None else {"value": text}), **members}


EQUAL: list[tuple[str, Json, Json]] = [
    ("null", None, None),
    ("null-with-type", None, {"type": "int32", "value": None}),
    ("int-short", typed("int64 unsigned", "18446744073709551615"), "18446744073709551615"),
    ("int-typed", typed("int8", "-1"), typed("int8", "-1")),
    ("int-leading-zeros", typed("int8", "7"), "007"),
    ("year", typed("year", "2024"), "2024"),
    ("bit-type-without-length", typed("bit(64)", "5"), typed("bit", "5")),
    ("float32-wider-text", typed("float32", "0.1"), "0.10000000149011612"),
    ("float32-shortest", typed("float32", "16777216.0"), "1.6777216e+07"),
    ("float64-exponent", typed("float64", "1e+22"), "10000000000000000000000"),
    ("float-minus-zero", typed("float64", "-0.0"), "-0"),
    ("float-nan", typed("float64", "nan"), "nan"),
    ("float-inf", typed("float32", "-inf"), "-inf"),
    ("decimal", typed("decimal", "-0.500"), "-0.500"),
    ("decimal-leading-zeros", typed("decimal", "0.50"), "00.50"),
    ("decimal-type-without-scale", typed("decimal(10,4)", "1.0000"), typed("decimal", "1.0000")),
    ("decimal-no-number", typed("decimal", "1.5.5"), "1.5.5"),
    ("decimal-sign-of-zero", typed("decimal", "-0.00"), "0.00"),
    ("bool", typed("bool", "true"), "true"),
    ("text", typed("text", "a\u2028b"), "a\u2028b"),
    ("text-length", typed("text(20)", "a"), typed("text", "a")),
    ("text-ill-formed", {"type": "text", "bytes": "gA=="}, {"bytes": "gA=="}),
    ("bytes", {"type": "bytes", "bytes": "AP8="}, {"bytes": "AP8="}),
    ("enum-index", typed("enum", None, index="3"), typed("enum", None, index="3")),
    ("enum-index-short", typed("enum", None, index="3"), "3"),
    ("enum-label-short", typed("enum", None, label="c"), "c"),
    ("enum-both", typed("enum", None, index="3", label="c"), typed("enum", None, label="c")),
    ("enum-by-labels", typed("enum(a,b,c)", None, index="3"), {"label": "c"}),
    ("enum-by-given-labels", typed("enum", None, index="2"), typed("enum(a,b)", None, label="b")),
    ("enum-number-as-label", typed("enum", None, label="1"), "1"),
    ("set-order", typed("set", None, label="a,b"), {"label": "b,a"}),
    ("set-by-labels", typed("set(a,b,c)", None, index="5"), {"label": "a,c"}),
    ("set-64", typed("set", None, index="9223372036854775808"), {"index": "9223372036854775808"}),
    ("json", typed("json", '{"a": 1.0, "b": [true, null]}'), '{"b":[true,null],"a":1}'),
    ("vector", typed("vector", "[1,-2.5]"), "[1.0, -2.50]"),
    ("vector-empty", typed("vector", "[]"), "[]"),
    ("unavailable", {"unavailable": True}, {"unavailable": True}),
    ("unknown", typed("unknown", "x"), "x"),
    (
        "array",
        {"type": "array<int32>", "items": ["1", None]},
        {"items": [{"type": "int32", "value": "1"}, None]},
    ),
    (
        "map-order",
        {"type": "map<text,int32>", "entries": [["a", "1"], ["b", "2"]]},
        {"entries": [["b", "2"], ["a", "1"]]},
    ),
    (
        "struct",
        {"type": "struct<x:int32>", "fields": {"x": typed("int32", "1")}},
        {"fields": {"x": "1"}},
    ),
]


@pytest.mark.parametrize(
    ("expected", "given"), [row[1:] for row in EQUAL], ids=[row[0] for row in EQUAL]
)
def test_value_equal_has_no_difference(expected: Json, given: Json) -> None:
    assert list(compare_values(expected, given, ("c",), RULES)) == []


DIFFERENT: list[tuple[str, Json, Json, str]] = [
    ("null-for-value", typed("int32", "1"), None, ""),
    ("value-for-null", None, "", ""),
    ("number", typed("int32", "1"), 1, "never JSON numbers"),
    ("boolean", typed("bool", "true"), True, "never JSON numbers or booleans"),
    ("list", typed("vector", "[1]"), ["1"], "values are text"),
    ("sign", typed("int64 unsigned", "18446744073709551615"), "-1", "sign is misread"),
    ("zigzag", typed("year", "2024"), "4048", "zigzag"),
    ("rounded", typed("int64", "9007199254740993"), "9007199254740992", "64-bit float"),
    ("shortest", typed("int64", "-9223372036854775808"), "-9223372036854776000", "64-bit float"),
    ("int-exponent", typed("int64", "100"), "1e2", "decimal digits"),
    ("int-fraction", typed("int64", "1"), "1.0", "decimal digits"),
    ("other-width", typed("int32", "1"), typed("int64", "1"), "the type is int32"),
    ("unsigned", typed("int32 unsigned", "1"), typed("int32", "1"), "the type is int32 unsigned"),
    ("no-type", typed("int32", "1"), typed("integer", "1"), "not a type of the protocol"),
    ("type-no-text", typed("int32", "1"), {"type": 3, "value": "1"}, "not a type of the protocol"),
    ("scale-of-type", typed("decimal(10,4)", "1"), typed("decimal(9,4)", "1"), "decimal(10,4)"),
    ("float-zero-sign", typed("float64", "-0.0"), "0.0", "sign of zero"),
    ("float-java-nan", typed("float64", "nan"), "NaN", "written nan"),
    ("float-java-inf", typed("float32", "-inf"), "-Infinity", "written -inf"),
    ("float-nan-for-number", typed("float64", "1.0"), "nan", ""),
    ("float32-other", typed("float32", "0.1"), "0.1000001", ""),
    ("float64-narrowed", typed("float64", "0.1"), "0.10000000149011612", ""),
    ("float-word", typed("float64", "1.0"), "one", "not a number"),
    ("decimal-scale", typed("decimal", "12.10"), "12.1", "scale is kept"),
    ("decimal-exponent", typed("decimal", "100"), "1E+2", "without exponent"),
    ("text-replaced", typed("text", "é"), "\ufffd", "U+FFFD"),
    ("text-trimmed", typed("text", "a  "), "a", "the ends differ"),
    ("text-as-bytes", typed("text", "a"), {"bytes": "YQ=="}, "answered as text"),
    ("bytes-as-text", {"type": "bytes", "bytes": "YQ=="}, "a", '{"bytes": base64}'),
    ("bytes-typed-text", {"type": "bytes", "bytes": "YQ=="}, typed("text", "a"), "type is bytes"),
    ("bytes-other", {"type": "bytes", "bytes": "YQ=="}, {"bytes": "Yg=="}, ""),
    ("bool-word", typed("bool", "true"), "1", "'true' or 'false'"),
    ("no-value", typed("int32", "1"), {"type": "int32"}, "'value' is required"),
    ("enum-other", typed("enum", None, index="3"), {"index": "2"}, ""),
    ("enum-one-of-two", typed("enum", None, index="3", label="c"),
     {"index": "3", "label": "d"}, "the label differs"),
    ("enum-no-labels", typed("enum", None, index="3"), {"label": "c"}, "labels are not known"),
    ("enum-index-number", typed("enum", None, index="3"), {"index": 3}, "is text"),
    ("set-narrowed", typed("set", None, index="9223372036854775808"), {"index": "0"}, ""),
    ("json-number", typed("json", "[9007199254740993]"), "[9007199254740992]", "at $[0]"),
    ("json-text", typed("json", '{"a":{"b":1}}'), '{"a":{"b":"1"}}', "at $.a.b"),
    ("vector-length", typed("vector", "[1,2]"), "[1]", "2 items are expected"),
    ("vector-item", typed("vector", "[1,2]"), "[1,3]", "item 1"),
    ("vector-no-list", typed("vector", "[1]"), "1", "in [ ]"),
    ("unavailable-as-null", {"unavailable": True}, None, ""),
    ("unavailable-as-text", {"unavailable": True}, "__unavailable", ""),
    ("array-item", {"type": "array<int32>", "items": ["1"]}, {"items": ["2"]}, ""),
    ("array-length", {"type": "array<int32>", "items": ["1"]}, {"items": []}, ""),
    ("map-key", {"type": "map<text,int32>", "entries": [["a", "1"]]},
     {"entries": [["b", "1"]]}, ""),
    ("struct-missing", {"type": "struct<x:int32>", "fields": {"x": "1"}}, {"value": "1"},
     "'fields' is required"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "given", "hint"), [row[1:] for row in DIFFERENT], ids=[row[0] for row in DIFFERENT]
)
def test_value_different_is_one_difference_with_its_hint(
    expected: Json, given: Json, hint: str
) -> None:
    (difference,) = compare_values(expected, given, ("events", 0, "after", "c"), RULES)
    assert difference.where.startswith("events[0].after.c")
    assert hint in difference.hint
    assert difference.expected != difference.got or hint


def test_columns_absent_null_and_empty_are_three_things() -> None:
    expected = {"null": None, "empty": "", "here": "1"}
    given = {"null": "", "empty": None, "extra": None}
    found = {
        difference.path[-1]: (difference.expected, difference.got)
        for difference in compare_columns(expected, given, (), RULES)
    }
    assert found == {
        "null": ("NULL", '""'),
        "empty": ('""', "NULL"),
        "here": ('"1"', "absent"),
        "extra": ("absent", "NULL"),
    }


def test_columns_name_in_another_case_gives_a_hint() -> None:
    differences = list(compare_columns({"Id": "1"}, {"id": "1"}, (), RULES))
    assert "'id'" in differences[0].hint


def test_difference_shows_what_a_terminal_hides() -> None:
    (difference,) = compare_values(typed("text", "a\x1b[2J\u202e"), "a", ("c",), RULES)
    assert "\x1b" not in difference.expected
    assert "\\u202e" in difference.expected


def test_difference_of_long_values_is_cut() -> None:
    (difference,) = compare_values(typed("text", "a" * 10_000), "b" * 10_000, ("c",), RULES)
    assert len(difference.expected) < 250
