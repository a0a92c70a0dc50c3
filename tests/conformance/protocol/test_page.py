"""docs/testee-protocol.md: its conversation is the reference's, its examples are valid."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdcwire.model.kind_text import parse_kind
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.features import HEADING, features_of
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.judge.events import compare_events, rules_of
from cdcwire_conformance.judge.values import ValueRules, compare_values
from cdcwire_conformance.testees import reference

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "testee-protocol.md").read_text(encoding="utf-8")


def conversation() -> list[tuple[Json, Json | None]]:
    """Return the requests of the page, each with its answer."""
    lines = re.findall(r"^([<>]) (\{.*\})$", PAGE, re.MULTILINE)
    pairs: list[tuple[Json, Json | None]] = []
    for sign, text in lines:
        if sign == ">":
            pairs.append((json.loads(text), None))
        else:
            pairs[-1] = (pairs[-1][0], json.loads(text))
    return pairs


def test_conversation_of_the_page_is_what_the_reference_answers() -> None:
    pairs = conversation()
    stdin = io.BytesIO(b"".join(json.dumps(request).encode() + b"\n" for request, _ in pairs))
    stdout = io.BytesIO()
    assert reference.serve(stdin, stdout) == 0
    answers = list(map(json.loads, stdout.getvalue().splitlines()))
    assert [request["cmd"] for request, _ in pairs] == [
        *("start", "decode", "decode", "decode", "encode", "stop"),
    ]
    shown = [answer for _, answer in pairs if answer is not None]
    assert len(shown) == len(answers) == 5
    rules = rules_of(get_format("craft"))
    for wanted, found in zip(shown[1:], answers[1:], strict=True):
        assert wanted["seq"] == found["seq"]
        if "events" in wanted:
            assert compare_events(found["events"], wanted["events"], rules) == []
        elif "rejected" in wanted:
            assert wanted["rejected"]["offset"] == found["rejected"]["offset"]
        else:
            assert wanted["messages"] == found["messages"]


def examples() -> Iterator[tuple[str, Json]]:
    """Yield the types of the table with the answer that is shown for each."""
    table = PAGE.partition("One answer for each type:")[2].partition("### Rejections")[0]
    for line in table.splitlines():
        found = re.match(r"\| (?:`(\w+)`|the same).* \| `(\{.*\})` \| ", line)
        if found is not None:
            yield found[1] or "unsigned", json.loads(found[2])


@pytest.mark.parametrize(("name", "answer"), list(examples()))
def test_example_of_a_type_is_read_as_that_type(name: str, answer: Json) -> None:
    expected = answer
    if "type" not in answer:
        text = {"array": "array<int8>", "map": "map<text,int8>", "struct": "struct<a:int8>"}[name]
        expected = {"type": text, **answer}
    parse_kind(expected["type"])
    rules = ValueRules(zone_needed=True)
    assert list(compare_values(expected, answer, (), rules)) == []


def test_examples_name_every_type() -> None:
    assert len(dict(examples())) == 22


def test_page_says_how_a_python_decoder_is_called() -> None:
    assert "`my_decode(message, context=context)`" in PAGE


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_page_of_a_format_lists_its_features(format_name: str) -> None:
    text = (DOCS / "formats" / f"{format_name}.md").read_text(encoding="utf-8")
    section = text.partition(f"\n{HEADING}\n")[2]
    for feature in features_of(format_name, load_cases([format_name])):
        assert f"| `{feature.name}` |" in section
        assert feature.description, feature.name
