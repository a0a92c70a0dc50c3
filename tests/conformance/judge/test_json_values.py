"""JSON documents compared by what they say."""

from __future__ import annotations

import pytest

from cdcwire_conformance.judge.json_values import json_difference

DEEP = "[" * 5000 + "]" * 5000


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1", "1.0"),
        ("10e-1", "1"),
        ("-0", "0"),
        ("1e999999999", "10e999999998"),
        ('"\\u00e9"', '"é"'),
        ('{"a":1,"b":2}', '{ "b" : 2, "a" : 1 }'),
        ('{"a":1,"a":2}', '{"a":1, "a":2}'),
        ("not json", "not json"),
        (DEEP, DEEP),
    ],
)
def test_json_equal_has_no_difference(left: str, right: str) -> None:
    assert json_difference(left, right) is None


@pytest.mark.parametrize(
    ("left", "right", "where"),
    [
        ("18446744073709551615", "18446744073709551616", "at $"),
        ("0.1", "0.10000000000000001", "at $"),
        ("true", "1", "at $"),
        ("null", "false", "at $"),
        ('{"a":[1,{"b":2}]}', '{"a":[1,{"b":3}]}', "at $.a[1].b"),
        ('{"a":1,"a":2}', '{"a":2,"a":1}', "at $.a"),
        ('{"a":1,"a":2}', '{"a":2}', "at $.a"),
        ('{"a":1}', '{"a":1,"b":null}', "at $.b"),
        ("[1]", "[1,2]", "at $: 1, 2 items"),
        ("[1]", "NaN", "not JSON: NaN"),
        ("[1]", "[1", "not JSON"),
        ("not json", '"not json"', "only the same text"),
        (DEEP, DEEP + " ", "nested too deep|only the same text"),
    ],
)
def test_json_different_names_the_first_place(left: str, right: str, where: str) -> None:
    found = json_difference(left, right)
    assert found is not None
    assert any(part in found for part in where.split("|"))
