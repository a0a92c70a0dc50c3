"""The line of progress on a terminal."""

from __future__ import annotations

import io

import pytest

from cdcwire_conformance.cli.progress import ProgressLine, Steps
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


def test_nothing_is_shown_where_there_is_no_terminal(now: list[float]) -> None:
    stream = io.StringIO()
    with ProgressLine(stream) as line:
        line.show("text", at_once=True)
        Steps(line)("text")
    assert stream.getvalue() == ""
