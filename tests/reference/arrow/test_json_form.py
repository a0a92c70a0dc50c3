"""The one form of a JSON text: equal documents have it in common, others do not."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdcwire.arrow.json_columns import MAX_KNOWN, JsonNormaliser
from cdcwire.arrow.json_form import normal_json_array, normal_json_text
from cdcwire_conformance.judge.json_values import json_difference

FORMS = [
    ('{"b": 1, "a": [1, 2]}', '{"a":[1,2],"b":1}'),
    ("1.0", "1"),
    ("10e-1", "1"),
    ("-0", "0"),
    ("-0.00", "0"),
    ("1.50", "1.5"),
    ("0.1", "0.1"),
    ("1e-7", "0.0000001"),
    ("1.5e-8", "1.5e-8"),
    ("1e20", "100000000000000000000"),
    ("100000000000000000000", "100000000000000000000"),
    ("1e21", "1e21"),
    ("1000000000000000000000", "1e21"),
    ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
    ("9007199254740993", "9007199254740993"),
    ("18446744073709551615", "18446744073709551615"),
    ('"\\u00e9\\/"', '"é/"'),
    ('"\\ud83d\\ude00"', '"😀"'),
    ('"\\ud83d"', '"\\ud83d"'),
    ('"\\u0001"', '"\\u0001"'),
    ('{"a":2,"a":1}', '{"a":2,"a":1}'),
    ("[ null , true,\tfalse ]", "[null,true,false]"),
    ("{}", "{}"),
    ("no json", "no json"),
    ("", ""),
    ("NaN", "NaN"),
    ("1,2", "1,2"),
    ("[1", "[1"),
    ("[" * 100_000, "[" * 100_000),
    ("1e999999999999999999999", "1e999999999999999999999"),
]


@pytest.mark.parametrize(("text", "expected"), FORMS)
def test_text_has_its_form_alone_and_among_others(text: str, expected: str) -> None:
    assert normal_json_text(text) == expected
    among = pa.array(['{"x": 1}', text, None, "[2 ]"])
    assert normal_json_array(among).to_pylist() == ['{"x":1}', expected, None, "[2]"]


def test_texts_that_would_be_documents_only_together_stay_as_they_are() -> None:
    texts = ["1,2", "[3", "4]", '"a', 'b"']
    assert normal_json_array(pa.array(texts)).to_pylist() == texts


def test_normaliser_forgets_and_stays_right() -> None:
    normaliser = JsonNormaliser()
    for start in (0, MAX_KNOWN, 0):
        texts = pa.array([f"[ {number} ]" for number in range(start, start + MAX_KNOWN)])
        found = normaliser.array(texts)
        assert found[0].as_py() == f"[{start}]"
        assert len(set(found.to_pylist())) == MAX_KNOWN


SHAPED = [
    '{"a": 1, "b": "x"}',
    '{"b": 1, "a": 2}',
    '{"a" : 1}',
    '{"b" : 1, "a" : 2}',
    '{"a b": [12, -3, "5, 6: 7"], "c": null}',
    '{"a":2,"a":1}',
    "[1.50, 2]",
    "[1.5, 2]",
    "[10e-1]",
    "[-0, 1]",
    "[01, 2]",
    "[-01, 2]",
    "[- 1]",
    "[1 2]",
    "[1  , 2]",
    "[NaN, 1]",
    "[-Infinity, 1]",
    "[tr ue]",
    "[1,  2]",
    " [1]",
    "[1] ",
    "[ ]",
    "1",
    "12",
    "-",
    "0",
    ",",
    ": 1",
    '"x"',
    '"x":',
    '{"a","b"}',
    '{"a""b":1}',
    '["a": 1]',
    "[100000000000000000000, 1]",
    "[1000000000000000000000, 1]",
    '{"\u00e9": "\u00fc", "\U0001f600": 1}',
    '["\x7f", 1]',
    '{"a": "\\"", "b": 1}',
    "[1,\t2]",
    '["a\tb", 1]',
    "[" * 5000 + "]" * 5000,
    "",
]


@pytest.mark.parametrize("text", [*SHAPED, *(text for text, _ in FORMS)])
def test_text_has_its_form_in_a_long_column(text: str) -> None:
    expected = normal_json_text(text)
    for others in (["[1, 2]"] * 70, [None, '{"a": "b", "c": 1}', "5"] * 30):
        column = pa.array(['["b", 2]', text, *others, text])[1:]
        normal = [None if other is None else normal_json_text(other) for other in others]
        assert JsonNormaliser().array(column).to_pylist() == [expected, *normal, expected]


def test_string_without_end_moves_nothing_in_other_documents() -> None:
    texts = ['"', '"p, q"', '"', '{"b": 1, "a": 2}'] * 30
    expected = list(map(normal_json_text, texts))
    assert JsonNormaliser().array(pa.array(texts)).to_pylist() == expected


def test_usual_documents_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(texts: pa.Array) -> pa.Array:
        raise AssertionError(texts)

    monkeypatch.setattr("cdcwire.arrow.json_columns.normal_json_array", refuse)
    texts = [f'{{"id": {n}, "name": "n {n}", "tags": [{-n - 1}, null, true]}}' for n in range(100)]
    expected = [text.replace(": ", ":").replace(", ", ",") for text in texts]
    assert JsonNormaliser().array(pa.array(texts)).to_pylist() == expected


def test_very_long_column_has_the_same_forms() -> None:
    texts = [f'{{"a": {number}, "b": "{number}"}}' for number in range(5000)]
    texts[2047:2049] = ['{"b": 1, "a": 2}', '"\\""']
    expected = list(map(normal_json_text, texts))
    assert JsonNormaliser().array(pa.array(texts)).to_pylist() == expected


def test_column_of_many_shapes_is_parsed() -> None:
    texts = [f'{{"k{number}": 1, "a": {number}}}' for number in range(200)]
    expected = [f'{{"a":{number},"k{number}":1}}' for number in range(200)]
    normaliser = JsonNormaliser()
    for _ in range(2):
        assert normaliser.array(pa.array(texts)).to_pylist() == expected


DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)
TEXTS = st.builds(
    json.dumps, DOCUMENTS, ensure_ascii=st.booleans(), indent=st.sampled_from([None, 1])
) | st.text(alphabet='{}[],:"01.e-\\u nul', max_size=8)


@settings(max_examples=300, deadline=None)
@given(texts=st.lists(TEXTS | st.sampled_from(SHAPED), min_size=1, max_size=4))
def test_long_columns_have_the_same_forms(texts: list[str]) -> None:
    column = pa.array([*texts, None] * 64, pa.string())
    expected = [*map(normal_json_text, texts), None] * 64
    assert JsonNormaliser().array(column).to_pylist() == expected


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_forms_are_equal_where_the_judge_sees_no_difference(texts: list[str]) -> None:
    """normal(a) == normal(b) if and only if a and b say the same, as the judge compares them."""
    forms = normal_json_array(pa.array(texts, pa.string())).to_pylist()
    assert forms == [normal_json_text(text) for text in texts]
    for text, form in zip(texts, forms, strict=True):
        assert normal_json_text(form) == form
        for other, other_form in zip(texts, forms, strict=True):
            assert (form == other_form) == (json_difference(text, other) is None)
