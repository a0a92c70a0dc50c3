"""Progress: a line that is rewritten on a terminal, and a line every 10 seconds anywhere else."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from cdcwire.console.visible import unfiltered, visible, without_secrets
from cdcwire_conformance.compare.work import Pace, Work, duration_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS_VARIABLE = "CDCWIRE_PROGRESS_SECONDS"
_SECONDS_BETWEEN = 0.1
_SECONDS_BETWEEN_LINES = 10.0  # in a file
_SECONDS_BETWEEN_SHOWS = 0.5
_SECONDS_BETWEEN_LOOKS = 0.25
_SECONDS_BETWEEN_FILE_LOOKS = 2.0


class ProgressLine:
    """Shows how far the work has come: on a terminal one line, elsewhere a line every 10 seconds.

    Use it as a context: the line of a terminal is gone at the end. ``seconds``: between the lines
    elsewhere; 0 means no lines.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        clock: Callable[[], float] | None = None,
        seconds: float | None = None,
    ) -> None:
        self._stream = unfiltered(sys.stderr if stream is None else stream)
        self._clock = time.monotonic if clock is None else clock
        self.is_terminal = self._stream.isatty()
        self._seconds = _seconds_between_lines() if seconds is None else seconds
        self._began = self._clock()
        self._next_time = 0.0 if self.is_terminal else self._began + self._seconds
        self._width = 0
        self._text = ""
        self._lock = threading.Lock()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    @property
    def is_shown(self) -> bool:
        """False if nothing is ever shown."""
        return self.is_terminal or self._seconds > 0

    def clear(self) -> None:
        """Take the line away, for a moment, as something else is written."""
        with self._lock:
            if self._width:
                self._next_time = self._clock() + _SECONDS_BETWEEN
                self._write("\r" + " " * self._width + "\r")
                self._width = 0

    def show(self, text: str, *, at_once: bool = False) -> None:
        """Show a text in place of the last one, at most ten times per second unless ``at_once``."""
        if not self.is_shown:
            return
        with self._lock:
            self._text = text
            now = self._clock()
            if now < self._next_time and not (at_once and self.is_terminal):
                return
            shown = visible(text)
            if self.is_terminal:
                self._next_time = now + _SECONDS_BETWEEN
                self._write(f"\r{shown.ljust(self._width)}")
                self._width = len(shown)
            else:
                self._next_time = now + self._seconds
                with suppress(OSError):  # a full disk ends no run
                    elapsed = duration_text(now - self._began)
                    self._write(f"cdcwire: {without_secrets(shown)} ({elapsed})\n")

    def show_again(self) -> None:
        """Show the newest text, which may have come too soon after another one."""
        self.show(self._text)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _seconds_between_lines() -> float:
    """Return the seconds that the environment sets; 10 if it sets none."""
    try:
        return float(os.environ.get(SECONDS_VARIABLE, _SECONDS_BETWEEN_LINES))
    except ValueError:
        return _SECONDS_BETWEEN_LINES


@contextmanager
def lasting_line(text: str, stream: TextIO | None = None) -> Iterator[ProgressLine]:
    """Yield a line that shows a text at once, and its newest text again while nothing new comes.

    So a program that does not answer is seen to be waited for.
    """
    with ProgressLine(stream) as line, _called(line.show_again, _SECONDS_BETWEEN_SHOWS):
        line.show(text)
        yield line


@contextmanager
def _called(function: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call a function in a thread, at intervals of ``seconds``."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(seconds):
            function()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def without_logs() -> Iterator[None]:
    """Keep what libraries log out of standard error, unless the program has a handler for it.

    py4j logs each interrupt with its traceback.
    """
    nothing = logging.NullHandler()
    logging.getLogger().addHandler(nothing)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(nothing)


class Steps:
    """Shows the steps of a comparison on a line, with rows, rate and the time that is left."""

    def __init__(self, line: ProgressLine, pace: Pace | None = None) -> None:
        self._line = line
        self._pace = Pace() if pace is None else pace
        self._step: tuple[str, Work | None] = ("starting", None)

    def __call__(self, text: str, work: Work | None = None) -> None:
        """Begin a step, and show it."""
        self._step = text, work
        self.show_tasks(0, 0)

    def show_tasks(self, done: int, tasks: int) -> None:
        """Show the step again with its progress: ``done`` of ``tasks`` tasks."""
        text, work = self._step
        if work is not None and work.total:
            rows = work.after(done / tasks if tasks else 0)
            text = f"{text}: {self._pace.text(rows, work.total)}"
        elif tasks:
            text = f"{text}: {done} of {tasks} tasks"
        self._line.show(text)


@contextmanager
def watched_jobs(spark: SparkSession, progress: ProgressLine) -> Iterator[Steps]:
    """Yield the function that reports a step, and count the tasks of Spark's jobs meanwhile."""
    steps = Steps(progress)
    if not progress.is_shown:
        yield steps
        return
    seconds = _SECONDS_BETWEEN_LOOKS if progress.is_terminal else _SECONDS_BETWEEN_FILE_LOOKS
    tracker = spark.sparkContext.statusTracker()

    def watch() -> None:
        stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
        tasks = sum(stage.numTasks for stage in stages if stage is not None)
        done = sum(stage.numCompletedTasks for stage in stages if stage is not None)
        steps.show_tasks(done, tasks)

    with _called(watch, seconds):
        yield steps
