"""Kept-alive testees that misbehave in every way we know."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire_conformance.protocol import Description, Events, Rejected, Request
from cdcwire_conformance.testees import (
    CannotStartError,
    KeptAliveTestee,
    NoAnswer,
    kept_alive,
)
from cdcwire_conformance.testees.pipes import STDERR_LIMIT, LineProcess
from cdcwire_conformance.testees.processes import (
    LINE_LIMIT,
    MEBIBYTE,
    Limits,
    can_measure,
    labelled_processes,
)

FAKE = str(Path(__file__).with_name("fake_testee.py"))
GOOD = Request("decode", "toy", {"messages": [{"key": None, "value": "Z29vZA=="}]})
BAD = Request("decode", "toy", {"messages": [{"key": None, "value": "YmFk"}]})


class Opened:
    """Opens fakes, and ends them all."""

    def __init__(self) -> None:
        self.testees: list[KeptAliveTestee] = []

    def __call__(
        self,
        mode: str,
        *,
        timeout: float = 10.0,
        line_limit: int = LINE_LIMIT,
        memory_limit: int | None = None,
    ) -> KeptAliveTestee:
        command = [sys.executable, FAKE, mode]
        limits = Limits(timeout, line=line_limit, memory=memory_limit)
        testee = KeptAliveTestee(command, limits)
        self.testees.append(testee)
        return testee


@pytest.fixture
def opened() -> Iterator[Opened]:
    """A function that opens fakes; after the test nothing of them may be left."""
    threads, descriptors = set(threading.enumerate()), open_descriptors()
    fakes = Opened()
    yield fakes
    for testee in fakes.testees:
        testee.close()
    assert list(labelled_processes()) == []
    assert set(threading.enumerate()) <= threads
    assert open_descriptors() <= descriptors


def open_descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_start_gives_the_description(opened: Opened) -> None:
    description = opened("good").start()
    assert (description.name, description.version) == ("fake", "1")
    claim = description.claim("toy")
    assert claim is not None
    assert claim.encode
    assert description.claim("another") is None


def test_ask_gives_answers_in_turn(opened: Opened) -> None:
    testee = opened("good")
    testee.start()
    first = testee.ask(GOOD)
    assert first.answer == Events([])
    assert first.size == len(b'{"seq": 1, "events": []}')
    assert testee.ask(BAD).answer == Rejected(offset=0)
    assert testee.ask(GOOD).answer == Events([])


@pytest.mark.parametrize(
    ("mode", "kind", "problem"),
    [
        ("garbage", "crashed", "is not JSON"),
        ("array", "crashed", "not a JSON object"),
        ("nan", "crashed", "floats travel as text"),
        ("wrong-seq", "crashed", "seq 999, the request had 1"),
        ("messages", "crashed", "'events' or 'rejected'; found 'messages'"),
        ("exit", "crashed", "exit code 3"),
        ("half", "crashed", "is not JSON"),
        ("too-much", "timed out", "no answer within"),
        ("deep", "crashed", "nested too deep"),
        ("hang", "timed out", "no answer within"),
        ("grandchild", "timed out", "no answer within"),
        ("late", "timed out", "no answer within"),
        ("error", "crashed", "the testee reports an error: what is this"),
    ],
)
def test_ask_misbehaviour_is_a_failure_of_that_case_only(
    opened: Opened, mode: str, kind: str, problem: str
) -> None:
    timeout = 1.5 if kind == "timed out" else 60.0  # the next request has to be answered in time
    testee = opened(mode, timeout=timeout)
    testee.start()
    with pytest.raises(NoAnswer) as caught:
        testee.ask(BAD)
    assert caught.value.kind == kind
    assert problem in caught.value.problem
    assert caught.value.stderr == f"about to misbehave: {mode}"
    assert testee.ask(GOOD).answer == Events([])


@pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX")
def test_ask_killed_by_a_signal_is_named(opened: Opened) -> None:
    with pytest.raises(NoAnswer, match="killed by signal SIGKILL"):
        opened("signal").ask(BAD)


def test_ask_answer_longer_than_the_limit_is_a_crash(opened: Opened) -> None:
    testee = opened("too-much", line_limit=100_000)
    testee.start()
    with pytest.raises(NoAnswer, match="more than 100000 bytes") as caught:
        testee.ask(BAD)
    assert caught.value.kind == "crashed"


def test_ask_answers_nobody_asked_for_are_a_crash_of_the_next_case(opened: Opened) -> None:
    testee = opened("flood", line_limit=100_000)
    testee.start()
    testee.ask(BAD)
    with pytest.raises(NoAnswer, match=r"has seq 1, the request had 2|more than 100000 bytes"):
        testee.ask(BAD)
    assert testee.ask(GOOD).answer == Events([])


@pytest.mark.skipif(not can_measure(), reason="the process is found in /proc")
def test_ask_testee_that_ended_because_it_wrote_too_much_is_told_so(opened: Opened) -> None:
    testee = opened("flood", line_limit=100_000)
    testee.start()
    [pid] = labelled_processes()
    testee.ask(BAD)
    # Nobody reads its output any more, which ends it. Waited for, it has closed its input too.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(NoAnswer, match="more than 100000 bytes"):
        testee.ask(BAD)


def test_ask_stderr_is_kept_bounded(opened: Opened) -> None:
    testee = opened("loud")
    testee.start()
    with_stderr = testee.ask(BAD)
    assert with_stderr.answer == Rejected()
    assert len(with_stderr.stderr) <= STDERR_LIMIT + 100
    assert "bytes left out" in with_stderr.stderr


def test_ask_stderr_keeps_its_head_and_its_tail(opened: Opened) -> None:
    """Go and Java print the reason of a crash first."""
    with pytest.raises(NoAnswer, match="exit code 2") as caught:
        opened("head-and-tail").ask(BAD)
    assert "panic: the reason" in caught.value.stderr
    assert caught.value.stderr.endswith("the last word")


@pytest.mark.skipif(not can_measure(), reason="memory is measured in /proc")
@pytest.mark.parametrize("mode", ["memory", "memory-of-a-child"])
def test_ask_memory_above_the_limit_is_a_crash_of_that_case_only(opened: Opened, mode: str) -> None:
    testee = opened(mode, timeout=60, memory_limit=300 * MEBIBYTE)
    testee.start()
    with pytest.raises(NoAnswer, match="more than 300 MiB of memory") as caught:
        testee.ask(BAD)
    assert caught.value.kind == "crashed"
    assert testee.ask(GOOD).answer == Events([])


def test_ask_fresh_replaces_a_process_that_has_answered(opened: Opened) -> None:
    testee = opened("good")
    assert testee.ask(GOOD).is_fresh
    assert not testee.ask(GOOD).is_fresh
    assert testee.ask(GOOD, fresh=True).is_fresh
    assert not testee.ask(GOOD).is_fresh


def test_ask_blank_lines_and_missing_line_end_are_forgiven(opened: Opened) -> None:
    assert opened("blank-lines").ask(BAD).answer == Rejected()
    assert opened("no-line-end").ask(BAD).answer == Events([])


def test_ask_large_request_nobody_reads_times_out(opened: Opened) -> None:
    testee = opened("deaf", timeout=0.3)
    testee.start()
    large = Request("decode", "toy", {"messages": [{"value": "A" * 4_000_000}]})
    with pytest.raises(NoAnswer) as caught:
        testee.ask(large)
    assert caught.value.kind == "timed out"  # not crashed: it would end after a minute


def test_ask_large_request_is_read_whole(opened: Opened) -> None:
    large = Request("decode", "toy", {"messages": [{"value": "A" * 4_000_000}]})
    assert opened("good").ask(large).answer == Events([])


@pytest.mark.parametrize(
    ("mode", "problem"), [("no-start", "exit code 5"), ("protocol-2", "says protocol 2")]
)
def test_start_that_fails_says_why(opened: Opened, mode: str, problem: str) -> None:
    with pytest.raises(CannotStartError, match=problem) as caught:
        opened(mode).start()
    assert ("cannot find my library" in caught.value.stderr) == (mode == "no-start")


def test_start_without_answer_times_out() -> None:
    testee = KeptAliveTestee([sys.executable, FAKE, "silent-start"], Limits(start_timeout=0.3))
    with pytest.raises(CannotStartError, match=r"no answer within 0\.3 s"):
        testee.start()


def test_start_unknown_command_says_so() -> None:
    with pytest.raises(
        CannotStartError, match=r"'/no/such/decoder' can't be started: No such file"
    ):
        KeptAliveTestee(["/no/such/decoder"]).start()


def test_close_tells_an_odd_end() -> None:
    good = KeptAliveTestee([sys.executable, FAKE, "good"])
    good.start()
    assert good.close() is None
    bad = KeptAliveTestee([sys.executable, FAKE, "bad-end"])
    bad.start()
    assert "exit code 4" in str(bad.close())


def test_grandchild_in_another_session_ends_with_the_testee(opened: Opened) -> None:
    testee = opened("orphan", timeout=1.0)
    testee.start()
    testee.ask(BAD)
    with pytest.raises(NoAnswer, match=r"no answer within 1 s|exit code 3"):
        testee.ask(GOOD)
    assert list(labelled_processes()) == []


def test_close_kills_a_testee_that_ignores_stop_and_signals(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_alive, "_STOP_PATIENCE", 0.2)
    testee = opened("stubborn")
    testee.start()
    assert testee.ask(GOOD).answer == Events([])
    assert "did not end by itself" in str(testee.close())


def test_close_before_start_is_nothing() -> None:
    assert KeptAliveTestee([sys.executable]).close() is None


def test_description_of_no_formats_claims_all() -> None:
    assert Description("one-shot").claim("anything") is not None


def asked_by_name(testee: KeptAliveTestee, requests: list[Request]) -> list[str]:
    """Announce requests and ask them. Returns: the verdict of each."""
    testee.announce(requests)
    found = []
    for request in requests:
        try:
            found.append(type(testee.ask(request).answer).__name__)
        except NoAnswer as error:
            found.append(error.kind)
    return found


def test_announced_requests_are_sent_before_the_first_answer(opened: Opened) -> None:
    """The fake answers none of them until it has read three."""
    testee = opened("ahead-three")
    testee.start()
    assert asked_by_name(testee, [GOOD, BAD, replace(GOOD)]) == ["Events", "Rejected", "Events"]


def test_announced_requests_wait_where_the_testee_does_not_say_ahead(opened: Opened) -> None:
    testee = opened("good")
    testee.start()
    announced = iter([GOOD, BAD])
    testee.announce(announced)
    testee.ask(GOOD)
    assert list(announced) == [GOOD, BAD]


def test_announced_requests_after_a_crash_are_sent_again(opened: Opened) -> None:
    testee = opened("ahead-exit")
    testee.start()
    requests = [GOOD, replace(GOOD), BAD, replace(GOOD), replace(GOOD)]
    expected = ["Events", "Events", "crashed", "Events", "Events"]
    assert asked_by_name(testee, requests) == expected


def test_announced_request_that_is_left_out_does_not_mix_up_answers(opened: Opened) -> None:
    testee = opened("ahead-good")
    testee.start()
    first, left_out, last = GOOD, BAD, replace(GOOD)
    testee.announce([first, left_out, last])
    assert testee.ask(first).answer == Events([])
    assert testee.ask(last).answer == Events([])
    assert testee.ask(BAD).answer == Rejected(offset=0)


def test_announced_request_asked_again_in_a_fresh_process_keeps_the_others(opened: Opened) -> None:
    testee = opened("ahead-good")
    testee.start()
    first, second, third = GOOD, BAD, replace(GOOD)
    testee.announce([first, second, third])
    testee.ask(first)
    assert testee.ask(second).answer == Rejected(offset=0)
    again = testee.ask(second, fresh=True)
    assert (again.answer, again.is_fresh) == (Rejected(offset=0), True)
    assert testee.ask(third).answer == Events([])


def test_announced_requests_larger_than_the_pipe_are_sent_one_by_one(opened: Opened) -> None:
    testee = opened("ahead-good")
    testee.start()
    large = [Request("decode", "toy", {"messages": [{"value": "A" * 100_000}]}) for _ in range(3)]
    assert asked_by_name(testee, large) == ["Events"] * 3


def test_answers_ahead_are_not_read_beyond_the_limit_until_one_is_taken(tmp_path: Path) -> None:
    """64 answers of 100 KB each wait in the pipe, not in memory."""
    written = tmp_path / "written"
    program = (
        "import os, sys\n"
        "sys.stdin.readline()\n"
        "for number in range(64):\n"
        "    os.write(1, b'x' * 100_000 + b'\\n')\n"
        "    with open(sys.argv[1], 'ab') as file: file.write(b'.')\n"
    )
    process = LineProcess([sys.executable, "-c", program, str(written)], line_limit=200_000)
    process.asked = 64
    try:
        process.write(b"64 requests\n", time.monotonic() + 60)
        process.read_line(time.monotonic() + 60)
        until, size = time.monotonic() + 0.5, 0
        while time.monotonic() < until:  # it writes as long as somebody reads
            if written.exists() and written.stat().st_size > size:
                until, size = time.monotonic() + 0.5, written.stat().st_size
            time.sleep(0.01)
        assert size < 8
        for _ in range(63):
            assert len(process.read_line(time.monotonic() + 60)) == 100_000
        assert not process.is_over_line_limit
    finally:
        process.end(0)


def test_stop_of_a_process_whose_input_is_closed_is_no_error() -> None:
    """An interrupt ends a process while another thread is about to say stop."""
    testee = KeptAliveTestee([sys.executable, FAKE, "good"], Limits(10.0))
    assert testee.ask(GOOD)
    process = testee._process
    assert process is not None
    process.close_input()
    assert "had ended before stop" in (testee.close() or "")
