"""Reading answers: what is taken, and what is said about the rest."""

from __future__ import annotations

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.model.text import Json
from cdcwire_conformance.protocol.answers import (
    Answer,
    Events,
    Messages,
    ProtocolError,
    Rejected,
    parse_answer,
    parse_description,
    parse_line,
)

START: dict[str, Json] = {"protocol": 1, "name": "n", "formats": {"craft": {}}}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"[1]", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b'{"a":NaN}', "floats travel as text"),
        (b'{"a":-Infinity}', "floats travel as text"),
        (b'{"a":"\xff"}', "is not UTF-8 at byte 6"),
        (b'{"a":' + b"[" * 100_000, "nested too deep"),
        (b"x" * 10_000, "logs to standard error"),
    ],
)
def test_line_that_is_not_an_object_is_refused(line: bytes, problem: str) -> None:
    with pytest.raises(ProtocolError, match=problem) as caught:
        parse_line(line)
    assert len(str(caught.value)) < 500


def test_line_with_mark_and_line_end_is_read() -> None:
    assert parse_line(b'\xef\xbb\xbf{"seq":1}\r\n') == {"seq": 1}


def test_description_of_the_least_that_is_needed() -> None:
    description = parse_description(START)
    claim = description.claim("craft")
    assert claim is not None
    assert not claim.encode
    assert claim.without == frozenset()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"protocol": None}, "says protocol None"),
        ({"protocol": "1"}, "says protocol '1'"),
        ({"formats": None}, "formats"),
        ({"formats": ["craft"]}, "formats"),
        ({"formats": {"craft": None}}, "formats.craft"),
        ({"formats": {"craft": {"encode": "yes"}}}, "formats.craft.encode"),
        ({"formats": {"craft": {"without": "vector"}}}, "formats.craft.without"),
        ({"formats": {"craft": {"choices": {"a": 1}}}}, "formats.craft.choices"),
        ({"name": 3}, "name is text"),
    ],
)
def test_description_that_is_wrong_is_refused(changes: dict[str, Json], problem: str) -> None:
    with pytest.raises(ProtocolError, match=problem):
        parse_description({**START, **changes})


ANSWERS: list[tuple[str, dict[str, Json], Answer]] = [
    ("decode", {"seq": 1, "events": []}, Events([])),
    ("decode", {"seq": 1, "rejected": {}}, Rejected()),
    ("decode", {"seq": 1, "rejected": None}, Rejected()),
    ("decode", {"seq": 1, "rejected": "why"}, Rejected("why")),
    (
        "decode",
        {"seq": 1, "rejected": {"problem": "p", "message": 1, "offset": 0, "path": ["a", 0]}},
        Rejected("p", 1, 0, ("a", 0)),
    ),
    ("decode", {"seq": 1, "rejected": {"offset": None}}, Rejected()),
    ("encode", {"seq": 1, "messages": [{"value": ""}]}, Messages((KafkaMessage(None, b""),))),
    ("encode", {"seq": 1, "rejected": {}}, Rejected()),
]


@pytest.mark.parametrize(("cmd", "document", "answer"), ANSWERS)
def test_answer_is_read(cmd: str, document: dict[str, Json], answer: Answer) -> None:
    assert parse_answer(document, 1, cmd) == answer


@pytest.mark.parametrize(
    ("cmd", "document", "problem"),
    [
        ("decode", {"events": []}, "seq None"),
        ("decode", {"seq": 2, "events": []}, "seq 2"),
        ("decode", {"seq": "1", "events": []}, "seq '1'"),
        ("decode", {"seq": 1}, "none of them"),
        ("decode", {"seq": 1, "messages": []}, "found 'messages'"),
        ("decode", {"seq": 1, "events": [], "rejected": {}}, "'events' and 'rejected'"),
        ("decode", {"seq": 1, "events": {}}, "'events' has to be a list"),
        ("decode", {"seq": 1, "events": [1]}, r"events\[0\] has to be an object"),
        ("encode", {"seq": 1, "messages": [{"value": 1}]}, r"messages\[0\]: value is base64"),
        ("decode", {"seq": 1, "rejected": []}, "'rejected' is an object"),
        ("decode", {"seq": 1, "rejected": {"offset": -1}}, "offset is a number"),
        ("decode", {"seq": 1, "rejected": {"offset": True}}, "offset is a number"),
        ("decode", {"seq": 1, "rejected": {"message": "0"}}, "message is a number"),
        ("decode", {"seq": 1, "rejected": {"path": "a"}}, "path is a list"),
        ("decode", {"seq": 1, "rejected": {"path": [None]}}, "path is a list"),
        ("decode", {"seq": 1, "rejected": {"problem": 1}}, "problem is text"),
    ],
)
def test_answer_that_is_none_is_refused(cmd: str, document: dict[str, Json], problem: str) -> None:
    with pytest.raises(ProtocolError, match=problem):
        parse_answer(document, 1, cmd)


@pytest.mark.parametrize(
    "line",
    [
        b'{"seq":1,"events":[{}],"events":[]}',
        b'{"seq":1,"events":[{"kind":"row","kind":"ddl"}]}',
    ],
)
def test_repeated_member_is_no_answer(line: bytes) -> None:
    with pytest.raises(ProtocolError, match="is repeated"):
        parse_line(line)


@pytest.mark.parametrize("seq", [1.0, True, "1", None])
def test_seq_of_another_type_is_refused(seq: Json) -> None:
    with pytest.raises(ProtocolError, match="the answer has seq"):
        parse_answer({"seq": seq, "events": []}, 1, "decode")


@pytest.mark.parametrize("protocol", [True, 1.0])
def test_protocol_of_another_type_is_refused(protocol: Json) -> None:
    with pytest.raises(ProtocolError, match="says protocol"):
        parse_description({"protocol": protocol, "formats": {}})
