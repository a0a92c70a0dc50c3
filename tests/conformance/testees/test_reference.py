"""The reference as a testee."""

from __future__ import annotations

import base64
import io
import json

import pytest

from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.corpus import load_cases
from cdcwire_conformance.testees import reference

RESOLVED = bytes.fromhex("010103010101020a09010005")  # Craft: one resolved timestamp, 1
EVENT = {"kind": "progress", "what": "resolved", "position": {"commit_ts": "1"}}


def conversation(*requests: Json) -> list[Json]:
    stdin = io.BytesIO(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
    stdout = io.BytesIO()
    assert reference.serve(stdin, stdout) == 0
    return [json.loads(line) for line in stdout.getvalue().splitlines()]


def decode_request(value: bytes, seq: int = 1) -> Json:
    message = {"key": None, "value": base64.b64encode(value).decode()}
    return {"cmd": "decode", "seq": seq, "format": "craft", "messages": [message]}


def decode_line(format_name: str, message: Json, key: Json = None, roles: Json = None) -> bytes:
    """Return a request with one message and the definition of a table with one column."""
    table = {"table": "t", "key": key, "columns": [{"name": "id", "roles": roles}]}
    request = {"cmd": "decode", "seq": 3, "format": format_name, "tables": [table]}
    return json.dumps({**request, "messages": [message] if message else []}).encode()


_ODD: tuple[Json, ...] = ("id", 7, 1.5, [7], [[]], {})
NO_LISTS = (
    *(decode_line("craft", {}, key=each) for each in _ODD),
    *(decode_line("csv", {}, roles=each) for each in _ODD),
)


def test_serve_start_claims_every_format_with_encoding() -> None:
    (answer,) = conversation({"cmd": "start", "protocol": 1})
    assert answer["protocol"] == 1
    assert set(answer["formats"]) == set(FORMAT_NAMES)
    assert all(claim["encode"] for claim in answer["formats"].values())


def test_serve_decode_gives_events() -> None:
    assert conversation(decode_request(RESOLVED, 7)) == [{"seq": 7, "events": [EVENT]}]


def test_serve_broken_bytes_are_rejected_with_their_place() -> None:
    (answer,) = conversation(decode_request(RESOLVED[:3]))
    assert answer["rejected"]["message"] == 0
    assert answer["rejected"]["offset"] <= 3
    assert "craft: " in answer["rejected"]["problem"]


def test_serve_each_request_has_its_own_options() -> None:
    """``True`` equals ``1`` in Python; as a number of messages it is refused."""
    options: tuple[Json, ...] = ({"max-batch-size": 1}, {"max-batch-size": True}, {})
    answers = conversation(*({**decode_request(RESOLVED), "options": each} for each in options))
    assert [list(answer) for answer in answers] == [
        ["seq", "events"],
        ["seq", "rejected"],
        ["seq", "events"],
    ]


def test_serve_encode_gives_the_bytes() -> None:
    request = {"cmd": "encode", "seq": 1, "format": "craft", "events": [EVENT]}
    message = {"key": None, "value": base64.b64encode(RESOLVED).decode()}
    assert conversation(request) == [{"seq": 1, "messages": [message]}]


@pytest.mark.parametrize(
    "event", [{**EVENT, "what": "watermark"}, {"kind": "row", "op": "insert"}, {"kind": "odd"}]
)
def test_serve_events_that_it_can_not_write_are_rejected(event: Json) -> None:
    (answer,) = conversation({"cmd": "encode", "seq": 1, "format": "craft", "events": [event]})
    assert answer["rejected"]["problem"]


def test_serve_message_of_the_other_carrier_is_rejected() -> None:
    line = decode_line("csv", {"key": None, "value": ""})
    (answer,) = conversation(json.loads(line))
    assert "not a file" in answer["rejected"]["problem"]


def test_serve_stop_ends_and_what_follows_is_not_read() -> None:
    assert conversation({"cmd": "stop"}, decode_request(RESOLVED)) == []


@pytest.mark.parametrize(("cut", "code"), [(12, 0), (3, 1)])
def test_answer_once_exit_code_tells_accepted_from_rejected(cut: int, code: int) -> None:
    stdout = io.BytesIO()
    stdin = io.BytesIO(RESOLVED[:cut])
    assert reference.answer_once("decode", "craft", stdin, stdout, raw=True) == code
    assert ("rejected" in json.loads(stdout.getvalue())) == (code == 1)


@pytest.mark.parametrize(
    ("line", "seq", "problem"),
    [
        (b"this is no request", None, "not JSON"),
        (b"[1]", None, "is an object"),
        (b"7", None, "is an object"),
        (b'{"cmd":"decode"}', None, "seq is an integer"),
        (b'{"cmd":"decode","seq":true}', None, "seq is an integer"),
        (b'{"cmd":"decod","seq":3}', 3, "cmd is one of"),
        (b'{"cmd":"decode","seq":3,"format":"crafty","messages":[]}', 3, "format is one of"),
        (b'{"cmd":"decode","seq":3,"format":["craft"],"messages":[]}', 3, "format is one of"),
        (b'{"cmd":"decode","seq":3,"format":"craft"}', 3, "messages is a list"),
        (b'{"cmd":"decode","seq":3,"format":"craft","messages":[7]}', 3, "a message is an object"),
        (b'{"cmd":"decode","seq":3,"format":"craft","messages":[{"value":"?"}]}', 3, "base64"),
        (b'{"cmd":"decode","seq":3,"format":"craft","messages":[],"options":[]}', 3, "options"),
        (b'{"cmd":"decode","seq":3,"format":"craft","messages":[],"tables":[1]}', 3, "tables"),
        *((line, 3, "a list of texts") for line in NO_LISTS),
        (b"[" * 200_000, None, "nested too deeply"),
        (
            b'{"cmd":"decode","seq":' + b"9" * 5_000 + b"}",
            None,
            "not usable: a number has too many digits",
        ),
        (b'{"cmd":"decode","seq":NaN}', None, "not JSON: NaN"),
        (b'{"cmd":"\xff"}', None, "not UTF-8 at byte 8"),
    ],
)
def test_serve_line_that_is_not_a_request_is_answered_with_an_error(
    line: bytes, seq: int | None, problem: str
) -> None:
    stdout = io.BytesIO()
    follows = json.dumps(decode_request(RESOLVED, 9)).encode()
    assert reference.serve(io.BytesIO(line + b"\n" + follows + b"\n"), stdout) == 0
    first, second = map(json.loads, stdout.getvalue().splitlines())
    assert first["seq"] == seq
    assert problem in first["error"]["problem"]
    assert len(first["error"]["problem"]) < 400
    assert second == {"seq": 9, "events": [EVENT]}


def test_answer_once_request_that_is_not_one_is_an_error() -> None:
    stdout = io.BytesIO()
    code = reference.answer_once("decode", "craft", io.BytesIO(b"[["), stdout, raw=False)
    assert code == reference.CRASHED
    assert "not JSON" in json.loads(stdout.getvalue())["error"]["problem"]


def test_main_crash_shows_the_traceback_and_its_own_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Input:
        buffer = io.BytesIO(b'{"cmd":"start"}\n')

    def broken() -> Json:
        raise LookupError("a bug of ours")

    monkeypatch.setattr("sys.stdin", Input)
    monkeypatch.setattr(reference, "describe", broken)
    assert reference.main([]) == reference.CRASHED
    assert "Traceback" in capsys.readouterr().err


def test_choices_are_those_of_the_corpus() -> None:
    """The reference states a choice wherever the corpus knows one, and one that the corpus has."""
    (description,) = conversation({"cmd": "start", "protocol": 1})
    stated = {
        (name, f"{subject}: {choice}")
        for name, claim in description["formats"].items()
        for subject, choice in claim["choices"].items()
    }
    known = {(case.format, case.choice) for case in load_cases() if case.level == "may"}
    assert stated <= known
    subjects = [
        {(name, str(choice).partition(":")[0]) for name, choice in side} for side in (stated, known)
    ]
    assert subjects[0] == subjects[1]
