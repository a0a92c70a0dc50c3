"""The JSON Schemas, and that requests, answers and the documented conversation keep to them."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdcwire.model.events import POSITION_MEMBERS
from cdcwire.model.text import Json, event_from_json, event_to_json
from cdcwire_conformance.corpus import load_cases
from cdcwire_conformance.protocol.answers import ProtocolError
from cdcwire_conformance.protocol.check import (
    SCHEMA_NAMES,
    CheckerMissingError,
    ProtocolChecker,
    _validator,
    schema,
)
from cdcwire_conformance.run.selection import tasks_of
from cdcwire_conformance.testees import reference

PAGE = Path(__file__).resolve().parents[3] / "docs" / "testee-protocol.md"


@pytest.fixture(scope="module")
def checker() -> ProtocolChecker:
    pytest.importorskip("jsonschema")
    return ProtocolChecker()


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_schema_is_one(name: str, checker: ProtocolChecker) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(schema(name))


def test_requests_of_the_corpus_and_answers_of_the_reference_fit(
    checker: ProtocolChecker,
) -> None:
    for case in load_cases()[::7]:
        for task in tasks_of(case):
            request = task.request.document(1)
            checker.check(f"{task.cmd}-request", request)
            for table in request.get("tables", []):
                checker.check("table", table)


def test_answers_of_the_reference_fit(checker: ProtocolChecker) -> None:
    for case in load_cases()[::7]:
        if "compression" in case.features:
            continue
        for task in tasks_of(case):
            answer = reference.answer(task.request.document(1))
            checker.check_answer({"seq": 1, **answer}, task.cmd)


ROW: dict[str, Json] = {"kind": "row", "op": "insert", "table": "t"}


def test_position_of_every_source_fits(checker: ProtocolChecker) -> None:
    position: dict[str, Json] = dict.fromkeys(POSITION_MEMBERS, "1")
    position |= {"file": "binlog.000001", "gtid": "0-1-7", "rs_id": "0x000002.00000001.0010"}
    position |= {"scn": "18446744073709551615", "commit_scn": "7,8", "change_lsn": "0027:0a:01"}
    checker.check("event", {**ROW, "before": None, "after": {}, "position": position})
    event = event_from_json({**ROW, "position": position})
    assert event_to_json(event)["position"] == position


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "row", "op": "insert"},
        {**ROW, "op": "upsurt"},
        {**ROW, "after": {"a": 1}},
        {**ROW, "after": {"a": {"value": 1}}},
        {**ROW, "after": {"a": {"type": "int32"}}},
        {**ROW, "after": {"a": {"bytes": "no base64!"}}},
        {**ROW, "after": {"a": {"value": "1", "unit": "s"}}},
        {**ROW, "position": {"commit_ts": 1}},
        {**ROW, "position": {"pos": "x"}},
        {**ROW, "position": {"scn": 1}},
        {**ROW, "position": {"offset": "1"}},
        {**ROW, "colour": "red"},
        {"kind": "ddl", "query": "x"},
        {"kind": "progress", "what": "much"},
        {"kind": "rows"},
        {},
    ],
)
def test_check_answer_event_that_breaks_the_schema_is_refused(
    event: Json, checker: ProtocolChecker
) -> None:
    with pytest.raises(ProtocolError, match=r"schema\.json at"):
        checker.check_answer({"seq": 1, "events": [event]}, "decode")


def test_check_answer_one_shot_needs_no_seq(checker: ProtocolChecker) -> None:
    checker.check_answer({"events": [ROW]}, "decode", needs_seq=False)
    with pytest.raises(ProtocolError, match="seq"):
        checker.check_answer({"events": [ROW]}, "decode")


def test_checker_without_the_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real: Callable[..., Any] = builtins.__import__

    def without_jsonschema(name: str, *arguments: Any, **members: Any) -> Any:
        if name == "jsonschema":
            raise ImportError(name)
        return real(name, *arguments, **members)

    _validator.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without_jsonschema)
    with pytest.raises(CheckerMissingError, match=r"pip install 'jsonschema"):
        ProtocolChecker()
    _validator.cache_clear()


def documented_conversation() -> list[tuple[Json, Json | None]]:
    lines = re.findall(r"^([<>]) (\{.*\})$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    conversation: list[tuple[Json, Json | None]] = []
    for side, line in lines:
        if side == ">":
            conversation.append((json.loads(line), None))
        else:
            conversation[-1] = (conversation[-1][0], json.loads(line))
    return conversation


@pytest.mark.skipif(not PAGE.exists(), reason="the page is in the checkout only")
def test_documented_conversation_keeps_to_the_schemas_and_is_true(
    checker: ProtocolChecker,
) -> None:
    """Each line fits its schema, and the reference answers the same, types aside."""
    conversation = documented_conversation()
    assert [request["cmd"] for request, _ in conversation] == [
        *("start", "decode", "decode", "decode", "encode", "stop")
    ]
    checker.check("start", conversation[0][0])
    checker.check_start(conversation[0][1])
    for request, shown in conversation[1:-1]:
        assert shown is not None
        checker.check(f"{request['cmd']}-request", request)
        checker.check_answer(shown, request["cmd"])
        answer = {"seq": request["seq"], **reference.answer(request)}
        assert answer.keys() == shown.keys()
        if "messages" in shown:
            assert answer == shown
        if "events" in shown:
            assert [event["kind"] for event in answer["events"]] == [
                event["kind"] for event in shown["events"]
            ]
            assert answer["events"][0]["position"] == shown["events"][0]["position"]


@pytest.mark.skipif(not PAGE.exists(), reason="the page is in the checkout only")
def test_documented_events_fit_their_schema(checker: ProtocolChecker) -> None:
    (block,) = re.findall(
        r"```json\n(\{\"kind\".*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    decoder = json.JSONDecoder()
    text, events = block.strip(), []
    while text:
        event, end = decoder.raw_decode(text)
        events.append(event)
        text = text[end:].strip()
    assert [event["kind"] for event in events] == ["row", "ddl", "progress", "marker"]
    checker.check_answer({"seq": 1, "events": events}, "decode")
