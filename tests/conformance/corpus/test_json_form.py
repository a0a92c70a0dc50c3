"""The written form of the corpus' JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cdcwire_conformance.corpus.rebuild import LINE_LENGTH, json_text


def test_short_document_is_on_one_line() -> None:
    assert json_text({"a": [1, {"b": None}]}) == '{"a": [1, {"b": null}]}\n'


def test_long_document_has_a_member_a_line() -> None:
    text = json_text({"a": "x" * 60, "b": {"c": "y" * 60}})
    assert text == f'{{\n  "a": "{"x" * 60}",\n  "b": {{"c": "{"y" * 60}"}}\n}}\n'


def test_text_is_written_as_it_is() -> None:
    assert json_text("é主") == '"é主"\n'


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        [[], {}],
        [list(range(60)), {"n": list(range(60))}],
        {"k" * 90: ["v" * 90, "w" * 90]},
    ],
)
def test_form_is_stable_and_reads_back(document: Any) -> None:
    text = json_text(document)
    assert json.loads(text) == document
    assert json_text(json.loads(text)) == text


def test_lines_are_short_where_values_allow() -> None:
    text = json_text({"rows": [{"id": str(n), "name": "n" * 30} for n in range(40)]})
    assert max(map(len, text.splitlines())) <= LINE_LENGTH
