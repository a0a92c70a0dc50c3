"""JSON by orjson, where it loses nothing, and by the standard library otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.compiled import Irregular, json_objects
from cdcwire.core.compiled.json_objects import Real, read_again_written, read_objects

LOSSES = [
    b'{"a":123456789012345678901234567890}',
    b'{"a":1,"a":2}',
    b'{"a":{"b":1,"b":1}}',
    b'{"a":1.10}',
    b'{"a":-0}',
    b'{"a": 1}',
    b'{"a":"\\u00e9"}',
    b'{"a":"\\ud800"}',
    b'{"a":1e400}',
    b"[" * 500 + b"]" * 500,
    b'{"a":NaN}',
    b'{"a":1}}',
    b"{",
]


@pytest.mark.parametrize("text", LOSSES)
def test_orjson_is_not_used_where_it_may_lose_something(text: bytes) -> None:
    orjson = pytest.importorskip("orjson")
    assert read_again_written(text, orjson.loads, orjson.dumps) is None


@pytest.mark.parametrize("text", [b'{"a":1,"a":1}', b'{"a":NaN}', b'{"a":-Infinity}'])
def test_repeated_members_and_literals_of_no_number_are_irregular(text: bytes) -> None:
    with pytest.raises(Irregular):
        read_objects(text)


def exact(value: Any) -> Any:
    """Return a value with floats for numbers with a fraction."""
    if isinstance(value, dict):
        return {name: exact(each) for name, each in value.items()}
    if isinstance(value, list):
        return [exact(each) for each in value]
    return repr(float(value)) if type(value) in (Real, float) else (type(value), value)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=2), each),
    max_leaves=8,
)


@given(values, st.booleans(), st.booleans())
def test_both_libraries_give_the_same(value: object, ascii: bool, compact: bool) -> None:
    separators = (",", ":") if compact else None
    text = json.dumps({"v": value}, ensure_ascii=ascii, separators=separators, allow_nan=False)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return
    assert exact(read_objects(data)) == exact(json_objects._read(text))
