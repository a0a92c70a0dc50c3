"""Progress: a line on a terminal, and lines in a file."""

from __future__ import annotations

import io
import threading

import pytest

from cdcwire_conformance.cli.progress import ProgressLine, Steps, lasting_line
from cdcwire_conformance.compare.work import Pace, Work


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def last(self) -> str:
        """The text that the line shows."""
        return self.getvalue().rpartition("\r")[2].rstrip()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the line's clock."""
    times = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: times[0])
    return times


def test_a_step_shows_its_tasks_or_its_rows(now: list[float]) -> None:
    terminal = Terminal()
    steps = Steps(ProgressLine(terminal), Pace(lambda: now[0]))
    steps("looking for tables")
    assert terminal.last == "looking for tables"
    now[0] += 1
    steps.show_tasks(1, 4)
    assert terminal.last == "looking for tables: 1 of 4 tasks"
    now[0] += 1
    steps("comparing", Work(done=100, rows=200, total=1000))
    now[0] += 1
    steps.show_tasks(2, 4)
    assert terminal.last == "comparing: 200 of 1,000 rows"
    now[0] += 1
    steps.show_tasks(4, 4)
    assert terminal.last == "comparing: 300 of 1,000 rows, 100 rows/s, about 7 s left"


def test_a_step_of_unknown_size_shows_tasks(now: list[float]) -> None:
    terminal = Terminal()
    steps = Steps(ProgressLine(terminal))
    steps("comparing", Work())
    now[0] += 1
    steps.show_tasks(1, 2)
    assert terminal.last == "comparing: 1 of 2 tasks"


def test_texts_that_follow_too_soon_are_left_out_unless_at_once(now: list[float]) -> None:
    terminal = Terminal()
    line = ProgressLine(terminal)
    line.show("first")
    line.show("second")
    assert terminal.last == "first"
    line.show("third", at_once=True)
    assert terminal.last == "third"
    line.clear()
    assert terminal.last == ""


def test_newest_text_is_shown_again(now: list[float]) -> None:
    terminal = Terminal()
    line = ProgressLine(terminal)
    line.show("first")
    line.show("second")
    now[0] += 1
    line.show_again()
    assert terminal.last == "second"


class Awaited(Terminal):
    """A stream that says when a text is on it."""

    def __init__(self, text: str, *, is_terminal: bool = True) -> None:
        super().__init__()
        self._awaited = text
        self._is_terminal = is_terminal
        self.is_there = threading.Event()

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> int:
        if self._awaited in text:
            self.is_there.set()
        return super().write(text)


def test_lasting_line_shows_a_text_that_nothing_follows() -> None:
    terminal = Awaited("second")
    with lasting_line("first", terminal) as line:
        assert terminal.last == "first"
        line.show("second")
        assert terminal.is_there.wait(10)
    assert terminal.last == ""


def test_lasting_line_writes_to_a_file_while_nothing_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDCWIRE_PROGRESS_SECONDS", "0.01")
    stream = Awaited("waiting", is_terminal=False)
    with lasting_line("waiting", stream):
        assert stream.is_there.wait(10)
    assert stream.getvalue().startswith("cdcwire: waiting (")


@pytest.mark.parametrize("at_once", [False, True])
def test_file_gets_a_line_every_ten_seconds(now: list[float], *, at_once: bool) -> None:
    stream = io.StringIO()
    with ProgressLine(stream, clock=lambda: now[0], seconds=10) as line:
        for done in range(0, 250, 5):  # a case every half a second
            line.show(f"{done} cases", at_once=at_once)
            now[0] += 0.5
    assert stream.getvalue() == "cdcwire: 100 cases (10 s)\ncdcwire: 200 cases (20 s)\n"


def test_file_gets_no_line_of_short_work(now: list[float]) -> None:
    stream = io.StringIO()
    with ProgressLine(stream, clock=lambda: now[0], seconds=10) as line:
        now[0] += 9.9
        line.show("text", at_once=True)
    assert stream.getvalue() == ""


def test_line_in_a_file_has_no_secrets_and_no_control_characters(now: list[float]) -> None:
    stream = io.StringIO()
    line = ProgressLine(stream, clock=lambda: now[0], seconds=10)
    now[0] += 10
    line.show("reading kafka://user:secret@host/t\x1b[2J")
    assert "secret" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_full_disk_does_not_end_the_work(now: list[float]) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    line = ProgressLine(Full(), clock=lambda: now[0], seconds=10)
    now[0] += 10
    line.show("text")
    now[0] += 10
    line.show("text")


@pytest.mark.parametrize(
    ("setting", "lines"), [(None, 1), ("0", 0), ("5", 3), ("20", 0), ("nan", 0), ("often", 1)]
)
def test_environment_sets_the_seconds_between_lines(
    now: list[float], monkeypatch: pytest.MonkeyPatch, setting: str | None, lines: int
) -> None:
    if setting is None:
        monkeypatch.delenv("CDCWIRE_PROGRESS_SECONDS")
    else:
        monkeypatch.setenv("CDCWIRE_PROGRESS_SECONDS", setting)
    stream = io.StringIO()
    line = ProgressLine(stream)
    for _ in range(3):
        now[0] += 5
        line.show("text")
    assert stream.getvalue().count("text") == lines
