"""One-shot mode: exit codes, answers, and what ``--raw`` sends."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from cdcwire_conformance.protocol import Events, Messages, Rejected, Request
from cdcwire_conformance.testees import NoAnswer, OneShotTestee
from cdcwire_conformance.testees.one_shot import raw_bytes
from cdcwire_conformance.testees.pipes import run_once
from cdcwire_conformance.testees.processes import Limits, labelled_processes

FAKE = str(Path(__file__).with_name("fake_one_shot.py"))
MESSAGE = {"key": None, "value": "AAH/"}
DECODE = Request("decode", "toy", {"messages": [MESSAGE]})
ENCODE = Request("encode", "toy", {"events": []})


def opened(mode: str, *, raw: bool = False, timeout: float = 20.0) -> OneShotTestee:
    command = [sys.executable, FAKE, mode]
    return OneShotTestee(command, Limits(timeout, line=100_000), raw=raw)


def test_ask_exit_0_is_accepted() -> None:
    assert opened("accept").ask(DECODE).answer == Events([])
    assert opened("accept").ask(ENCODE).answer == Messages(())


def test_ask_unread_input_is_not_a_crash() -> None:
    large = Request("decode", "toy", {"messages": [{"value": "A" * 4_000_000}]})
    assert opened("unread").ask(large).answer == Events([])


def test_ask_exit_1_with_an_answer_is_rejected() -> None:
    assert opened("reject").ask(DECODE).answer == Rejected(offset=2)


@pytest.mark.parametrize(
    ("mode", "kind", "problem"),
    [
        ("accept-with-1", "crashed", "the answer accepts, but the exit code is 1"),
        ("reject-with-0", "crashed", "the answer rejects, but the exit code is 0"),
        ("bare-1", "crashed", "exit code 1 without an answer"),
        ("uncaught", "crashed", "exit code 1 without an answer"),
        ("silent-0", "crashed", "exit code 0 without an answer"),
        ("exit-9", "crashed", "exit code 9"),
        ("hang", "timed out", r"no end within 1 s"),
        ("hang-after-answer", "timed out", r"no end within 1 s"),
        ("too-much", "crashed", "longer than 100000 bytes"),
        ("orphan", "timed out", r"no end within 1 s"),
    ],
)
def test_ask_anything_else_is_a_failure(mode: str, kind: str, problem: str) -> None:
    testee = opened(mode, timeout=1.0 if kind == "timed out" else 60.0)
    with pytest.raises(NoAnswer, match=problem) as caught:
        testee.ask(DECODE)
    assert caught.value.kind == kind
    assert list(labelled_processes()) == []


def test_ask_raw_bare_exit_1_is_rejected() -> None:
    assert opened("bare-1", raw=True).ask(DECODE).answer == Rejected("this is no data")


def test_ask_raw_uncaught_error_is_a_crash() -> None:
    with pytest.raises(NoAnswer, match="uncaught error"):
        opened("uncaught", raw=True).ask(DECODE)


def test_ask_says_verb_and_format_and_sends_the_request() -> None:
    answer = opened("echo").ask(DECODE).answer
    assert isinstance(answer, Events)
    cmd, format_name, data = answer.events[0]["id"].split()
    assert (cmd, format_name) == ("decode", "toy")
    request = json.loads(bytes.fromhex(data))
    assert request["messages"] == [MESSAGE]
    assert request["cmd"] == "decode"


def test_ask_raw_sends_the_value_alone() -> None:
    answer = opened("echo", raw=True).ask(DECODE).answer
    assert isinstance(answer, Events)
    assert answer.events[0]["id"] == "decode toy 0001ff"


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [MESSAGE, MESSAGE]},
        {"messages": [{"key": "AA==", "value": "AA=="}]},
        {"messages": [{"key": None, "value": None}]},
        {"messages": [{"path": "a/b", "value": "AA=="}]},
        {"messages": [MESSAGE], "options": {"a": 1}},
        {"messages": [MESSAGE], "tables": [{}]},
    ],
)
def test_raw_bytes_more_than_a_value_is_none(body: dict[str, object]) -> None:
    assert raw_bytes(Request("decode", "toy", body)) is None


def test_raw_bytes_encode_is_none() -> None:
    assert raw_bytes(ENCODE) is None


def test_lines_that_are_all_read_have_the_limit_together() -> None:
    program = (
        "import os, time\n"
        "for number in range(40):\n"
        "    os.write(1, b'x' * 50_000 + b'\\n')\n"
        "    time.sleep(0.05)\n"
    )
    result = run_once([sys.executable, "-c", program], b"", time.monotonic() + 30, limit=500_000)
    assert result.too_much
    assert len(result.stdout) < 600_000
