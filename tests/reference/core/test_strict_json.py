"""The strict JSON reader: what it gives, what it refuses and where."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdcwire.core import strict_json
from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.strict_json import (
    JsonArray,
    JsonObject,
    JsonRules,
    JsonValue,
    Number,
    json_kind,
    read_json,
)
from cdcwire.model.events import Path

RULES = JsonRules(
    "text", "strings", "limits", max_depth=3, max_name_bytes=8, may_repeat=frozenset("r")
)
LAZY = replace(RULES, lazy=frozenset("a"))
DEEP = JsonRules("text", "strings", "limits")
DOCUMENT = '{"a":[1,-2.5e-3,-0,"x\\n\\ud83d\\ude00é"],"b":{"c":true,"d":false,"e":null}}'.encode()


def plain(value: JsonValue) -> object:
    """Return a value as Python's own reader would, with numbers as their text."""
    match value:
        case JsonObject(members):
            return {member.name: plain(member.value) for member in members}
        case JsonArray(items):
            return [plain(item) for item in items]
        case Number(text):
            return ("number", text)
        case _:
            return value


def test_document_gives_every_kind_of_value() -> None:
    assert plain(read_json(DOCUMENT, RULES).value) == {
        "a": [("number", "1"), ("number", "-2.5e-3"), ("number", "-0"), "x\n😀é"],
        "b": {"c": True, "d": False, "e": None},
    }


@pytest.mark.parametrize("count", [1, 1000, 1001])
def test_string_with_escapes_is_read_whatever_their_number(count: int) -> None:
    escapes = "\\\\n \\/ \\u00e9 \\uD7ff \\ue000 é \\ud83d\\ude00"
    few = escapes.rsplit(" ", 1)[0]  # without a pair of surrogates
    for text, expected in (
        (few, "\\n / é \ud7ff \ue000 é"),
        (escapes, "\\n / é \ud7ff \ue000 é 😀"),
    ):
        data = f'"{text * count}"'.encode()
        assert read_json(data, RULES).value == expected * count


def test_places_are_offsets_in_the_whole_data() -> None:
    data = b'xx {"n" : [10, "s"]} yy'
    document = read_json(data, RULES, 2, 21)
    assert data[document.start : document.end] == b'{"n" : [10, "s"]}'
    assert isinstance(document.value, JsonObject)
    member = document.value.members[0]
    assert data[member.name_start : member.start] == b'"n" : '
    assert data[member.start : member.end] == b'[10, "s"]'
    assert isinstance(member.value, JsonArray)
    places = member.value.places
    assert [data[places[i] : places[i + 1]] for i in (0, 2)] == [b"10", b'"s"']


@pytest.mark.parametrize("cut", range(len(DOCUMENT)))
def test_document_every_truncation_is_rejected_at_its_end(cut: int) -> None:
    with pytest.raises(TruncatedError) as caught:
        read_json(DOCUMENT[:cut], RULES)
    assert caught.value.offset == cut


@pytest.mark.parametrize(
    ("text", "offset", "clause", "path"),
    [
        pytest.param(b"\xef\xbb\xbf1", 0, "text", (), id="byte-order-mark"),
        pytest.param("1".encode("utf-16-le"), 1, "text", (), id="utf-16"),
        pytest.param(b"\xff\xfe1\x00", 0, "text", (), id="utf-16-with-mark"),
        pytest.param(b'{"a":1,"a":1}', 7, "text", ("a",), id="member-twice"),
        pytest.param(b'{"a":1,"\\u0061":1}', 7, "text", ("a",), id="member-twice-escaped"),
        pytest.param(b'{"a":{"r":1,"r":1}}', 12, "text", ("a", "r"), id="inner-member-twice"),
        pytest.param(b"[[[[]]]]", 3, "limits", (0, 0, 0), id="too-deep-arrays"),
        pytest.param(b'{"":{"":{"":{}}}}', 12, "limits", ("", "", ""), id="too-deep-objects"),
        pytest.param(b'{"123456789":1}', 1, "limits", (), id="long-name"),
        pytest.param('{"ééééé":1}'.encode(), 1, "limits", (), id="long-name-in-bytes"),
        pytest.param(b"1 2", 2, "text", (), id="trailing-value"),
        pytest.param(b"{}}", 2, "text", (), id="trailing-brace"),
        pytest.param(b"1\x00", 1, "text", (), id="trailing-nul"),
        pytest.param(b"NaN", 0, "text", (), id="nan"),
        pytest.param(b"Infinity", 0, "text", (), id="infinity"),
        pytest.param(b"-Infinity", 1, "text", (), id="minus-infinity"),
        pytest.param(b"True", 0, "text", (), id="capital"),
        pytest.param(b"nul1", 0, "text", (), id="no-literal"),
        pytest.param(b"01", 1, "text", (), id="leading-zero"),
        pytest.param(b"+1", 0, "text", (), id="plus"),
        pytest.param(b".5", 0, "text", (), id="no-digit-before-point"),
        pytest.param(b"[1.]", 3, "text", (0,), id="no-digit-after-point"),
        pytest.param(b"[1e]", 3, "text", (0,), id="no-digit-after-e"),
        pytest.param(b"[1.5.5]", 4, "text", (), id="two-points"),
        pytest.param(b"[1e5e5]", 4, "text", (), id="two-exponents"),
        pytest.param(b"[-]", 2, "text", (0,), id="minus-alone"),
        pytest.param(b"0x10", 1, "text", (), id="hexadecimal"),
        pytest.param(b"[1,]", 3, "text", (1,), id="comma-at-end"),
        pytest.param(b"[1 2]", 3, "text", (), id="no-comma"),
        pytest.param(b'{"a":1,}', 7, "text", (), id="comma-at-end-of-object"),
        pytest.param(b'{"a" 1}', 5, "text", ("a",), id="no-colon"),
        pytest.param(b"{a:1}", 1, "text", (), id="name-without-quotes"),
        pytest.param(b"'a'", 0, "text", (), id="single-quotes"),
        pytest.param(b"/**/1", 0, "text", (), id="comment"),
        pytest.param(b"\x0b1", 0, "text", (), id="other-white-space"),
        pytest.param(b'"a\tb"', 2, "strings", (), id="raw-control-character"),
        pytest.param(b'"a\\qb"', 2, "strings", (), id="unknown-escape"),
        pytest.param(b'"a\\u12g4"', 2, "strings", (), id="bad-hex"),
        pytest.param(b'"a\\u+123"', 2, "strings", (), id="signed-hex"),
        pytest.param(b'"\\ud800"', 1, "strings", (), id="lone-high-surrogate"),
        pytest.param(b'"\\udc00\\ud800"', 1, "strings", (), id="surrogates-swapped"),
        pytest.param(b'"\\ud800\\u0041"', 1, "strings", (), id="high-surrogate-and-letter"),
        pytest.param(b'"\\ud800\\n"', 1, "strings", (), id="high-surrogate-and-escape"),
        pytest.param(b'"a\xffb"', 2, "strings", (), id="bad-byte"),
        pytest.param(b'"\\n\\u0041\\ud800"', 9, "strings", (), id="lone-surrogate-after-escapes"),
        pytest.param(b'"\\n\xe2\\n"', 3, "strings", (), id="cut-character-between-escapes"),
        pytest.param(b'"\xed\xa0\x80"', 1, "strings", (), id="surrogate-in-utf-8"),
        pytest.param(b'"\xc0\xaf"', 1, "strings", (), id="overlong-utf-8"),
        pytest.param(b'"\xf4\x90\x80\x80"', 1, "strings", (), id="above-unicode"),
        pytest.param(b'"\xe4\xbd"', 1, "strings", (), id="utf-8-cut-by-quote"),
        pytest.param(b'["a", {"k": "\xff"}]', 13, "strings", (1, "k"), id="nested-bad-byte"),
    ],
)
def test_text_that_is_not_strict_json_is_rejected(
    text: bytes, offset: int, clause: str, path: Path
) -> None:
    with pytest.raises(DecodeError) as caught:
        read_json(text, RULES)
    assert (caught.value.offset, caught.value.clause, caught.value.path) == (offset, clause, path)


def test_member_that_may_repeat_counts_by_its_last() -> None:
    found = read_json(b'{"r":1,"b":2,"r":3}', RULES).value
    assert isinstance(found, JsonObject)
    last = found.get("r")
    assert last is found.members[2]
    assert found.by_name["r"] is last
    assert found.get("x") is None


@pytest.mark.parametrize(
    ("text", "is_integer", "digits"),
    [("0", True, 1), ("-12", True, 2), ("1.0", False, 3), ("1e2", False, 3), ("1E2", False, 3)],
)
def test_number_tells_whether_it_is_an_integer(text: str, is_integer: bool, digits: int) -> None:
    assert Number(text).is_integer is is_integer
    assert Number(text).digits == digits


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"null", "null"),
        (b"true", "true"),
        (b"false", "false"),
        (b'""', "a string"),
        (b"1", "a number"),
        (b"[]", "an array"),
        (b"{}", "an object"),
    ],
)
def test_json_kind_names_every_kind(text: bytes, kind: str) -> None:
    assert json_kind(read_json(text, RULES).value) == kind


def test_number_of_a_million_digits_is_not_converted() -> None:
    digits = "9" * 1_000_000
    assert read_json(digits.encode(), RULES).value == Number(digits)


def test_nesting_of_a_million_is_rejected_without_recursion() -> None:
    with pytest.raises(DecodeError) as caught:
        read_json(b"[" * 1_000_000, DEEP)
    assert (caught.value.offset, caught.value.clause) == (64, "limits")


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=100)
@given(JSON_VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_reader_agrees_with_pythons_own_on_what_both_accept(
    value: object, ascii_only: bool, indent: int | None
) -> None:
    """strict_json and the json module give the same values, however the text is spelled."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()

    def number(text: str) -> tuple[str, str]:
        return ("number", text)

    expected = json.loads(text, parse_int=number, parse_float=number)
    assert plain(read_json(text, DEEP).value) == expected


@settings(max_examples=200)
@given(st.binary(max_size=40) | st.text('{}[]",:\\u0d8e1-.tnf ', max_size=30).map(str.encode))
def test_bytes_of_any_kind_give_a_value_or_a_decode_error(data: bytes) -> None:
    try:
        end = read_json(data, RULES).end
    except DecodeError as error:
        end = error.offset
    assert 0 <= end <= len(data)


def outcome_of(text: bytes, read: type[strict_json._Parser], rules: JsonRules) -> object:
    try:
        return read(text, rules, 0, len(text)).document()
    except DecodeError as error:
        return type(error), str(error), error.offset


class ByteByByte(strict_json._Parser):
    """Reads no scalar in one step."""

    __slots__ = ()

    def plain_member(self, seen: set[str]) -> None:
        return None

    def plain_item(self) -> None:
        return None


pieces = st.sampled_from(
    [*'{}[]",:\\/ \t\n01-.eEu', "true", "null", '"a"', '"a":', '{"b":', "12", '"é"', "\x00", "[1,"]
)
names = st.text(max_size=2)
inner = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda each: (
        st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=2), each, max_size=3)
    ),
    max_leaves=8,
)


@given(inner, st.lists(st.tuples(st.integers(0, 60), pieces), max_size=3), st.integers(0, 99))
def test_scalars_read_in_one_step_are_read_the_same_byte_by_byte(
    value: object, inserted: list[tuple[int, str]], cut: int
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    for offset, piece in inserted:
        text = text[:offset] + piece + text[offset:]
    data = text.encode("utf-8", "surrogatepass")[: cut or None]
    rules = JsonRules("t", "s", "l", 3, 2, frozenset({"a"}))
    found = outcome_of(data, strict_json._Parser, rules)
    assert found == outcome_of(data, ByteByByte, rules)


def read_outcome(data: bytes, rules: JsonRules) -> object:
    """Return the value and the places of its items, or all that an error says."""

    def with_places(value: JsonValue) -> object:
        match value:
            case JsonObject(members):
                return [(*member[2:], member.name, with_places(member.value)) for member in members]
            case JsonArray(items, places):
                return list(places), [with_places(item) for item in items]
            case _:
                return value

    try:
        return with_places(read_json(data, rules).value)
    except DecodeError as error:
        return type(error), error.problem, error.offset, error.path, error.clause


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                b'{"r":1,"r":2}',
                b'{"a":[1]}',
                b'{"a":1}',
                b'["x",null]',
                b"[[]]",
                b"[]",
                b"0.5",
                b'""',
            ]
        )
    ),
    st.sampled_from([b"", b" ", b',"b":[2]', b',"a":[]', b',"r":[],"r":[3]']),
    st.none() | st.tuples(st.integers(0, 60), st.sampled_from([b"", b" ", b"]", b"}", b"\xff"])),
)
def test_lazy_array_is_read_as_any_other(
    items: list[bytes], rest: bytes, damage: tuple[int, bytes] | None
) -> None:
    data = b'{"a" : [ ' + b" ,".join(items) + b"]" + rest + b"}"
    if damage is not None:
        place, piece = damage
        data = data[:place] + piece + data[place + 1 :]
    assert read_outcome(data, LAZY) == read_outcome(data, RULES)


def test_lazy_array_keeps_no_item() -> None:
    value = read_json(b'{"a":[[1],[2],[3]]}', LAZY).value
    assert isinstance(value, JsonObject)
    array = value.by_name["a"].value
    assert isinstance(array, JsonArray)
    assert array.items[-1] == array.items[2]
    assert array.items[-1] is not array.items[2]
    assert list(array.items[:2]) == [array.items[0], array.items[1]]
    with pytest.raises(IndexError):
        array.items[3]
