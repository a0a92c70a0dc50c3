"""JSON text as Go's encoding/json writes it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.golang.json_text import SmallValue, compact_json, json_string

ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\x00": "\\u0000",
    "\x0b": "\\u000b",
    "\x1f": "\\u001f",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
PLAIN = ["a", "/", "'", "\x7f", "\x80", "\u00a0", "\u2027", "\ufffd", "\ufeff", "é", "😀"]


@pytest.mark.parametrize("escape_html", [True, False])
@pytest.mark.parametrize(("char", "written"), ESCAPES.items(), ids=lambda text: text.encode().hex())
def test_json_string_escapes(char: str, written: str, escape_html: bool) -> None:
    assert json_string(f"a{char}b", escape_html=escape_html) == f'"a{written}b"'


@pytest.mark.parametrize("char", PLAIN, ids=lambda text: text.encode().hex())
def test_json_string_leaves_all_else(char: str) -> None:
    assert json_string(char) == f'"{char}"'


@pytest.mark.parametrize(
    ("escape_html", "written"), [(True, '"\\u003ca\\u003e\\u0026"'), (False, '"<a>&"')]
)
def test_json_string_escapes_html_when_asked(escape_html: bool, written: str) -> None:
    assert json_string("<a>&", escape_html=escape_html) == written


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        (b"a\xffb", r'"a\ufffdb"'),
        (b"\xe4\xbd", r'"\ufffd\ufffd"'),
        (b"\xed\xa0\x80", r'"\ufffd\ufffd\ufffd"'),
        (b"\xf0\x9f\x98", r'"\ufffd\ufffd\ufffd"'),
        (b"\xc0\xaf", r'"\ufffd\ufffd"'),
    ],
    ids=lambda value: value.hex() if isinstance(value, bytes) else "",
)
def test_json_string_writes_one_replacement_for_each_bad_byte(raw: bytes, written: str) -> None:
    assert json_string(raw.decode("utf-8", "surrogateescape")) == written


@given(st.text(), st.booleans())
def test_json_string_reads_back(text: str, escape_html: bool) -> None:
    """json.loads(json_string(text)) == text"""
    assert json.loads(json_string(text, escape_html=escape_html)) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (-5, "-5"),
        ("<", '"\\u003c"'),
        ([1, "a", []], '[1,"a",[]]'),
        ((1, None), "[1,null]"),
        ({"b": 1, "a": {"<": 2}}, '{"b":1,"a":{"\\u003c":2}}'),
    ],
)
def test_compact_json_has_no_white_space(value: SmallValue, written: str) -> None:
    assert compact_json(value) == written


@pytest.mark.parametrize("value", [1.5, b"x", {1, 2}], ids=["float", "bytes", "set"])
def test_compact_json_refuses_other_types(value: object) -> None:
    with pytest.raises(TypeError):
        compact_json(value)  # type: ignore[arg-type]  # the wrong type is the point
